// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The common part of endpoints, include/kofi/ep.h.
 *
 * kofi_ep_add_cntr(), kofi_ep_call_ready(), kofi_ep_want_later() and kofi_trace_post() are called
 * on the data path.  Everything else belongs to control calls.
 *
 * The waiter of a resource (kofi/waiter.h) makes the ready callback due.  If it is due already,
 * the client is called once.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <kofi/ep.h>
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>
#include "../kofi.h"
#include "../trace.h"

/* Milliseconds until the ready callback is due if no event announces room */
#define KOFI_LATER_MS		2

static struct workqueue_struct *kofi_ready_wq;

static void kofi_ep_run_ready(struct kofi_ep_side *side)
{
	struct kofi_ep *ep = side->ep;

	if (ep->callbacks.ready)
		ep->callbacks.ready(&ep->ep, side->dir);
}

static void kofi_ep_ready_call(struct kofi_cq_call *call)
{
	kofi_ep_run_ready(container_of(call, struct kofi_ep_side, call));
}

void kofi_ep_call_ready(struct kofi_ep_side *side)
{
	if (side->cq) {
		kofi_cq_call(side->cq, &side->call);
	} else {
		WRITE_ONCE(side->due, true);
		WRITE_ONCE(side->queued, true);
		mod_delayed_work(kofi_ready_wq, &side->later, 0);
	}
}
EXPORT_SYMBOL_GPL(kofi_ep_call_ready);

/*
 * Calls the client without a queue.  In the callback the client may close the shared receive
 * context, after which @side is gone.
 */
static void kofi_ep_run_without_cq(struct kofi_ep_side *side)
{
	bool closed = false;

	side->closed = &closed;
	WRITE_ONCE(side->caller, current);
	kofi_ep_run_ready(side);
	if (!closed)
		WRITE_ONCE(side->caller, NULL);
}

/* What the client posts again may be writeback, so its allocations start no I/O */
static void kofi_ep_later(struct work_struct *work)
{
	struct kofi_ep_side *side = container_of(to_delayed_work(work),
						 struct kofi_ep_side, later);
	unsigned int noio = memalloc_noio_save();

	if (side->cq)
		kofi_waiter_wake(&side->room);
	else if (xchg(&side->due, false) | kofi_waiter_forget(&side->room))
		kofi_ep_run_without_cq(side);
	memalloc_noio_restore(noio);
}

void kofi_ep_want_later(struct kofi_ep_side *side)
{
	if (!side->ep->callbacks.ready)
		return;
	kofi_waiter_note(&side->room);
	WRITE_ONCE(side->queued, true);
	queue_delayed_work(kofi_ready_wq, &side->later, msecs_to_jiffies(KOFI_LATER_MS));
}
EXPORT_SYMBOL_GPL(kofi_ep_want_later);

static void kofi_ep_no_context_done(struct fi_done *done,
				    const struct fi_done_entry *entry)
{
	struct kofi_ep *ep = container_of(done, struct kofi_ep, no_context);

	if (ep->callbacks.done)
		ep->callbacks.done(&ep->ep, entry);
}

static void kofi_ep_side_init(struct kofi_ep *ep, struct kofi_ep_side *side,
			      u64 dir)
{
	side->ep = ep;
	side->dir = dir;
	side->implied = FI_COMPLETION;
	kofi_waiter_init(&side->room, side);
	side->call.fn = kofi_ep_ready_call;
	INIT_LIST_HEAD(&side->call.entry);
	INIT_DELAYED_WORK(&side->later, kofi_ep_later);
}

static int kofi_ep_setup(struct kofi_ep *ep, u32 fclass,
			 const struct kofi_ep_limits *limits, void *context)
{
	ep->stat = alloc_percpu(struct kofi_ep_stat);
	if (!ep->stat)
		return -ENOMEM;
	ep->ep.fid.fclass = fclass;
	ep->ep.fid.context = context;
	ep->limits = limits;
	ep->no_context.done = kofi_ep_no_context_done;
	INIT_LIST_HEAD(&ep->rx_msgs);
	kofi_conn_init(&ep->conn, &ep->ep.fid);
	kofi_ep_side_init(ep, &ep->tx, FI_TRANSMIT);
	kofi_ep_side_init(ep, &ep->rx, FI_RECV);
	return 0;
}

int kofi_ep_init(struct kofi_ep *ep, const struct fi_info *info,
		 const struct kofi_ep_limits *limits, void *context)
{
	int ret;

	if (info->tx_attr->op_flags & ~limits->tx_op_flags ||
	    info->rx_attr->op_flags & ~limits->rx_op_flags)
		return kofi_refuse("endpoint", -EINVAL, "tx_attr->op_flags %#llx or rx_attr->op_flags %#llx: only %#llx and %#llx can be a default",
				   info->tx_attr->op_flags, info->rx_attr->op_flags,
				   limits->tx_op_flags, limits->rx_op_flags);

	ret = kofi_ep_setup(ep, FI_CLASS_EP, limits, context);
	if (ret)
		return ret;
	ep->shared = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	ep->no_rx = ep->shared;
	ep->caps = info->caps;
	ep->lent_iov = info->mode & FI_ASYNC_IOV ? limits->lent_iov : 0;
	ep->max_msg_size = info->ep_attr->max_msg_size;
	ep->inject_size = info->tx_attr->inject_size;
	ep->conn.connless = info->ep_attr->type != FI_EP_MSG;
	ep->tx.op_flags = info->tx_attr->op_flags;
	ep->rx.op_flags = info->rx_attr->op_flags;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_ep_init);

int kofi_ep_init_srx(struct kofi_ep *ep, const struct fi_rx_attr *attr,
		     const struct kofi_ep_limits *limits, void *context)
{
	int ret;

	if (attr->op_flags & ~limits->rx_op_flags)
		return kofi_refuse("srx_context", -EINVAL, "attr->op_flags %#llx: only %#llx can be a default",
				   attr->op_flags, limits->rx_op_flags);
	ret = kofi_ep_setup(ep, FI_CLASS_SRX_CTX, limits, context);
	if (ret)
		return ret;
	ep->conn.connless = true;
	ep->no_tx = true;
	ep->caps = attr->caps & FI_HMEM;
	ep->lent_iov = attr->mode & FI_ASYNC_IOV ? limits->lent_iov : 0;
	ep->rx.op_flags = attr->op_flags;
	ep->rx.implied = 0;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_ep_init_srx);

void kofi_ep_set_class(struct kofi_ep *ep, u32 fclass)
{
	ep->ep.fid.fclass = fclass;
	ep->no_tx = fclass != FI_CLASS_TX_CTX;
	ep->no_rx = fclass != FI_CLASS_RX_CTX;
}
EXPORT_SYMBOL_GPL(kofi_ep_set_class);

int kofi_ep_may_close(const struct kofi_ep *ep)
{
	int ret = 0;

	if (ep->tx.cq)
		ret = kofi_cq_may_close(ep->tx.cq);
	if (!ret && ep->rx.cq)
		ret = kofi_cq_may_close(ep->rx.cq);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_ep_may_close);

static void kofi_ep_side_fini(struct kofi_ep_side *side)
{
	if (READ_ONCE(side->caller) == current) {
		/* This is the work, which does not touch @side any more */
		cancel_delayed_work(&side->later);
		*side->closed = true;
	} else if (READ_ONCE(side->queued)) {
		cancel_delayed_work_sync(&side->later);
	}
	if (side->cq)
		kofi_cq_cancel_call(side->cq, &side->call);
}

void kofi_ep_fini(struct kofi_ep *ep)
{
	kofi_ep_side_fini(&ep->tx);
	kofi_ep_side_fini(&ep->rx);
	kofi_conn_fini(&ep->conn);
	free_percpu(ep->stat);
	ep->stat = NULL;
}
EXPORT_SYMBOL_GPL(kofi_ep_fini);

static const struct {
	u64			dir;
	enum kofi_ep_cntr	cntr;
} kofi_ep_cntrs[] = {
	{ FI_SEND, KOFI_CNTR_SEND },
	{ FI_RECV, KOFI_CNTR_RECV },
	{ FI_READ, KOFI_CNTR_READ },
	{ FI_WRITE, KOFI_CNTR_WRITE },
	{ FI_REMOTE_READ, KOFI_CNTR_REMOTE_READ },
	{ FI_REMOTE_WRITE, KOFI_CNTR_REMOTE_WRITE },
};

static int kofi_ep_bind_cntr(struct kofi_ep *ep, struct kofi_cntr *cntr,
			     u64 flags)
{
	int i;

	if (flags & ~ep->limits->cntr_dirs)
		return kofi_refuse("ep_bind", -ENOSYS, "flags %#llx: of counters the provider has only the directions %#llx",
				   flags, ep->limits->cntr_dirs);
	for (i = 0; i < ARRAY_SIZE(kofi_ep_cntrs); i++)
		if (flags & kofi_ep_cntrs[i].dir)
			ep->cntrs[kofi_ep_cntrs[i].cntr] = cntr;
	ep->has_cntrs = true;
	return 0;
}

static void kofi_ep_bind_cq(struct kofi_ep_side *side, struct kofi_cq *cq,
			    u64 flags)
{
	if (!(flags & side->dir))
		return;
	side->cq = cq;
	side->implied = flags & FI_SELECTIVE_COMPLETION ? 0 : FI_COMPLETION;
}

int kofi_ep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct kofi_ep *ep = to_kofi_ep(fid);

	if (ep->conn.state == KOFI_CONN_GONE)
		return -ENODEV;
	/* If the peer of its connection request has gone meanwhile, fi_enable() reports that */
	if (ep->conn.state != KOFI_CONN_OPEN && ep->conn.state != KOFI_CONN_DOWN)
		return kofi_conn_refuse("ep_bind", &ep->conn, -FI_EOPBADSTATE,
					"open: bind before fi_enable()");

	switch (bfid->fclass) {
	case FI_CLASS_CQ:
		kofi_ep_bind_cq(&ep->tx, to_kofi_cq(bfid), flags);
		kofi_ep_bind_cq(&ep->rx, to_kofi_cq(bfid), flags);
		return 0;
	case FI_CLASS_EQ:
		ep->conn.eq = to_kofi_eq(bfid);
		return 0;
	case FI_CLASS_CNTR:
		return kofi_ep_bind_cntr(ep, to_kofi_cntr(bfid), flags);
	case FI_CLASS_AV:
		if (!ep->limits->av)
			return kofi_refuse("ep_bind", -EINVAL, "an address vector: the endpoint is of the type FI_EP_MSG, or a context");
		ep->av = container_of(bfid, struct fid_av, fid);
		return 0;
	case FI_CLASS_SRX_CTX:
		if (!ep->shared)
			return kofi_refuse("ep_bind", -EINVAL, "a shared receive context: the endpoint was opened without ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT");
		ep->srx = container_of(bfid, struct fid_ep, fid);
		return 0;
	default:
		return kofi_refuse("ep_bind", -EINVAL, "the provider's endpoints use no object of class %zu",
				   bfid->fclass);
	}
}
EXPORT_SYMBOL_GPL(kofi_ep_bind);

/* May a client sleep on @cntr, whose operations complete to @cq? */
static bool kofi_cntr_fits(const struct kofi_cntr *cntr, const struct kofi_cq *cq)
{
	return !cntr || cntr->wait_obj == FI_WAIT_NONE ||
	       cq->comp_ctx != FI_COMP_DIRECT;
}

static bool kofi_ep_cntrs_fit(const struct kofi_ep *ep)
{
	return kofi_cntr_fits(ep->cntrs[KOFI_CNTR_SEND], ep->tx.cq) &&
	       kofi_cntr_fits(ep->cntrs[KOFI_CNTR_READ], ep->tx.cq) &&
	       kofi_cntr_fits(ep->cntrs[KOFI_CNTR_WRITE], ep->tx.cq) &&
	       kofi_cntr_fits(ep->cntrs[KOFI_CNTR_RECV], ep->rx.cq);
}

int kofi_ep_may_enable(const struct kofi_ep *ep)
{
	u32 fclass = ep->ep.fid.fclass;
	bool whole = fclass == FI_CLASS_EP;

	if (!ep->conn.eq && !ep->conn.connless)
		return kofi_refuse("enable", -FI_ENOEQ, "no event queue is bound");
	if ((!ep->tx.cq && (whole || fclass == FI_CLASS_TX_CTX)) ||
	    (!ep->rx.cq && (whole || fclass == FI_CLASS_RX_CTX)))
		return kofi_refuse("enable", -FI_ENOCQ, "no completion queue is bound for %s",
				   ep->tx.cq ? "FI_RECV" : "FI_TRANSMIT");
	if (!ep->av && ep->limits->av && (whole || fclass == FI_CLASS_SEP))
		return kofi_refuse("enable", -FI_ENOAV, "no address vector is bound");
	if (ep->shared && !ep->srx)
		return kofi_refuse("enable", -FI_ENORX, "no shared receive context is bound");
	if (!kofi_ep_cntrs_fit(ep))
		return kofi_refuse("enable", -EINVAL, "a counter can be slept on, but its completion queue has FI_COMP_DIRECT, so nothing would wake the sleeper");
	return kofi_conn_may_enable(&ep->conn);
}
EXPORT_SYMBOL_GPL(kofi_ep_may_enable);

static struct kofi_ep_side *kofi_ep_find_side(struct kofi_ep *ep, u64 flags)
{
	switch (flags & (FI_TRANSMIT | FI_RECV)) {
	case FI_TRANSMIT:
		return &ep->tx;
	case FI_RECV:
		return &ep->rx;
	default:
		return NULL;
	}
}

EXPORT_TRACEPOINT_SYMBOL_GPL(kofi_post);

/* The event shows the context that kofi_done will show; a shared receive has no queue yet */
void kofi_trace_post(struct kofi_ep *ep, u64 flags, void *context, size_t len)
{
	const struct kofi_ep_side *side = flags & FI_RECV ? &ep->rx : &ep->tx;

	if (side->cq)
		context = kofi_ep_context(ep, side, context);
	trace_kofi_post(&ep->ep.fid, flags, context, len);
}
EXPORT_SYMBOL_GPL(kofi_trace_post);

/* The sum of all processors */
static struct kofi_ep_stat kofi_ep_sum(const struct kofi_ep *ep)
{
	struct kofi_ep_stat sum = {};
	const struct kofi_ep_stat *of;
	int cpu;

	for_each_possible_cpu(cpu) {
		of = per_cpu_ptr(ep->stat, cpu);
		sum.tx_ops += READ_ONCE(of->tx_ops);
		sum.tx_bytes += READ_ONCE(of->tx_bytes);
		sum.tx_errors += READ_ONCE(of->tx_errors);
		sum.rx_ops += READ_ONCE(of->rx_ops);
		sum.rx_bytes += READ_ONCE(of->rx_bytes);
		sum.rx_errors += READ_ONCE(of->rx_errors);
		sum.connects += READ_ONCE(of->connects);
	}
	return sum;
}

static void kofi_ep_stat(const struct kofi_ep *ep, struct kofi_stat *stat)
{
	struct kofi_ep_stat sum = kofi_ep_sum(ep);

	stat->state = kofi_conn_state_name(&ep->conn);
	stat->no_peer = ep->conn.state != KOFI_CONN_CONNECTED;
	kofi_stat_add(stat, "max_msg_size", ep->max_msg_size);
	kofi_stat_add(stat, "tx_ops", sum.tx_ops);
	kofi_stat_add(stat, "tx_bytes", sum.tx_bytes);
	kofi_stat_add(stat, "tx_errors", sum.tx_errors);
	kofi_stat_add(stat, "tx_again", atomic_long_read(&ep->tx.again));
	kofi_stat_add(stat, "rx_ops", sum.rx_ops);
	kofi_stat_add(stat, "rx_bytes", sum.rx_bytes);
	kofi_stat_add(stat, "rx_errors", sum.rx_errors);
	kofi_stat_add(stat, "rx_again", atomic_long_read(&ep->rx.again));
	if (ep->conn.connless)
		kofi_stat_add(stat, "connects", sum.connects);
}

int kofi_ep_control(struct fid *fid, int command, void *arg)
{
	struct kofi_ep *ep = to_kofi_ep(fid);
	struct kofi_ep_side *side;
	u64 flags, allowed;
	int ret;

	if (command == KOFI_GETSTAT) {
		kofi_ep_stat(ep, arg);
		return 0;
	}
	if (command != FI_GETOPSFLAG && command != FI_SETOPSFLAG)
		return kofi_refuse("control", -ENOSYS, "an endpoint has no command %d", command);
	side = arg ? kofi_ep_find_side(ep, *(u64 *)arg) : NULL;
	if (!side)
		return kofi_refuse("control", -EINVAL, "*arg has to have one of FI_TRANSMIT and FI_RECV");
	if (command == FI_GETOPSFLAG) {
		*(u64 *)arg = READ_ONCE(side->op_flags);
		return 0;
	}
	flags = *(u64 *)arg & ~(FI_TRANSMIT | FI_RECV);
	allowed = side == &ep->tx ? ep->limits->tx_op_flags :
				    ep->limits->rx_op_flags;
	ret = kofi_check_flags("control", flags, allowed);
	if (!ret)
		WRITE_ONCE(side->op_flags, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_ep_control);

static int kofi_ep_set_timeout(struct kofi_ep *ep, const void *optval,
			       size_t optlen)
{
	struct kofi_conn *conn = &ep->conn;
	size_t timeout;
	int ret;

	/* If the peer of its request has gone, fi_enable() or fi_accept() reports that */
	if (conn->state > KOFI_CONN_ENABLED &&
	    !(conn->passive && conn->state == KOFI_CONN_DOWN))
		return kofi_conn_refuse("setopt", conn, -FI_EOPBADSTATE,
					"open or enabled for FI_OPT_CONNECT_TIMEOUT");
	ret = kofi_opt_get_size(&timeout, INT_MAX, optval, optlen);
	if (!ret)
		conn->timeout = timeout;
	return ret;
}

static int kofi_ep_set_may_sleep(struct kofi_ep *ep, const void *optval, size_t optlen)
{
	int value, ret;

	if (ep->conn.state != KOFI_CONN_OPEN)
		return kofi_conn_refuse("setopt", &ep->conn, -FI_EOPBADSTATE,
					"open for FI_OPT_MAY_SLEEP");
	ret = kofi_opt_get(&value, sizeof(value), optval, optlen);
	if (!ret)
		ep->may_sleep = value;
	return ret;
}

static bool kofi_ep_has_p2p(const struct kofi_ep *ep)
{
	return ep->caps & FI_HMEM && ep->ep.fid.fclass != FI_CLASS_SRX_CTX;
}

int kofi_ep_setopt(struct kofi_ep *ep, int optname, const void *optval,
		   size_t optlen)
{
	if (optname == FI_OPT_FI_HMEM_P2P && kofi_ep_has_p2p(ep))
		return kofi_opt_check_p2p(ep->device_p2p, optval, optlen);
	if (optname == FI_OPT_MAY_SLEEP && !ep->no_tx)
		return kofi_ep_set_may_sleep(ep, optval, optlen);
	if (optname == FI_OPT_CONNECT_TIMEOUT && ep->conn.late.work.func)
		return kofi_ep_set_timeout(ep, optval, optlen);
	if (optname != FI_OPT_CALLBACKS)
		return -ENOPROTOOPT;
	if (ep->conn.state != KOFI_CONN_OPEN)
		return kofi_conn_refuse("setopt", &ep->conn, -FI_EOPBADSTATE,
					"open for FI_OPT_CALLBACKS");
	return kofi_opt_get(&ep->callbacks, sizeof(ep->callbacks), optval,
			    optlen);
}
EXPORT_SYMBOL_GPL(kofi_ep_setopt);

/* The value of a size option; 0: another option, or the endpoint lacks the capability for it */
static size_t kofi_ep_size(const struct kofi_ep *ep, int optname)
{
	size_t max = ep->max_msg_size, inject = ep->inject_size;

	switch (optname) {
	case FI_OPT_CM_DATA_SIZE:
		return ep->conn.connless ? 0 : ep->limits->cm_data_size;
	case FI_OPT_MAX_MSG_SIZE:
		return ep->caps & FI_MSG ? max : 0;
	case FI_OPT_MAX_TAGGED_SIZE:
		return ep->caps & FI_TAGGED ? max : 0;
	case FI_OPT_MAX_RMA_SIZE:
		return ep->caps & FI_RMA ? max : 0;
	case FI_OPT_MAX_ATOMIC_SIZE:
		return ep->caps & FI_ATOMIC ? ep->limits->max_atomic_size : 0;
	case FI_OPT_INJECT_MSG_SIZE:
		return ep->caps & FI_MSG ? inject : 0;
	case FI_OPT_INJECT_TAGGED_SIZE:
		return ep->caps & FI_TAGGED ? inject : 0;
	case FI_OPT_INJECT_RMA_SIZE:
		return ep->caps & FI_RMA ? inject : 0;
	case FI_OPT_INJECT_ATOMIC_SIZE:
		return ep->caps & FI_ATOMIC ?
		       min(inject, ep->limits->max_atomic_size) : 0;
	default:
		return 0;
	}
}

int kofi_ep_getopt(struct kofi_ep *ep, int optname, void *optval, size_t *optlen)
{
	int may_sleep = ep->may_sleep;
	size_t size;

	if (optname == FI_OPT_FI_HMEM_P2P && kofi_ep_has_p2p(ep))
		return kofi_opt_put_p2p(ep->device_p2p, optval, optlen);
	if (optname == FI_OPT_MAY_SLEEP && !ep->no_tx)
		return kofi_opt_put(&may_sleep, sizeof(may_sleep), optval, optlen);
	if (optname == FI_OPT_CALLBACKS)
		return kofi_opt_put(&ep->callbacks, sizeof(ep->callbacks),
				    optval, optlen);
	if (optname == FI_OPT_CONNECT_TIMEOUT && ep->conn.late.work.func)
		return kofi_opt_put_size(ep->conn.timeout, optval, optlen);
	size = kofi_ep_size(ep, optname);
	return size ? kofi_opt_put_size(size, optval, optlen) : -ENOPROTOOPT;
}
EXPORT_SYMBOL_GPL(kofi_ep_getopt);

/* The counter for an operation whose completion has these flags */
static struct kofi_cntr *kofi_ep_find_cntr(struct kofi_ep *ep, u64 flags)
{
	if (flags & FI_REMOTE_WRITE)
		return ep->cntrs[KOFI_CNTR_REMOTE_WRITE];
	if (flags & FI_REMOTE_READ)
		return ep->cntrs[KOFI_CNTR_REMOTE_READ];
	if (flags & FI_SEND)
		return ep->cntrs[KOFI_CNTR_SEND];
	if (flags & FI_RECV)
		return ep->cntrs[KOFI_CNTR_RECV];
	if (flags & FI_READ)
		return ep->cntrs[KOFI_CNTR_READ];
	if (flags & FI_WRITE)
		return ep->cntrs[KOFI_CNTR_WRITE];
	return NULL;
}

/* For kofi_ep_count(), if a counter is bound */
void kofi_ep_add_cntr(struct kofi_ep *ep, u64 flags, int err, size_t len)
{
	kofi_cntr_done(kofi_ep_find_cntr(ep, flags), err, len);
}
EXPORT_SYMBOL_GPL(kofi_ep_add_cntr);

int __init kofi_ep_ready_init(void)
{
	kofi_ready_wq = alloc_workqueue("kofi_ready", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return kofi_ready_wq ? 0 : -ENOMEM;
}

void kofi_ep_ready_exit(void)
{
	destroy_workqueue(kofi_ready_wq);
}
