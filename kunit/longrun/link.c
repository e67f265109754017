// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One connection at a time: everything that belongs to it is opened anew and closed
 * afterwards, so that whatever stays behind adds up.  Only buffers stay.
 *
 * The kind of completion queue changes from connection to connection, and so does who
 * ends it and how: with fi_shutdown(), after which every receive that is posted has to
 * complete, or with fi_close() alone.  InfiniBand's connection manager tells the peer
 * once of a connection that is closed; when that message gets lost the peer does not
 * hear of it, which is counted (LR_UNTOLD) and no failure.
 *
 * Endpoints without connections come and go in the same way (rdm.c).
 *
 * Waits end early when the module goes.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "longrun.h"

#define LR_POLL_US	200
#define LR_HANG_UP_MS	15000	/* as long as three tries of the connection manager */
#define LR_DRAIN_MS	10000

/* Ways to end a connection, by its number */
#define LR_ENDS			4
#define LR_SERVER_ENDS(end)	((end) & 2)
#define LR_WITH_SHUTDOWN(end)	(!((end) & 1))

static u32 lr_end(const struct lr_link *link)
{
	return link->hello.conn % LR_ENDS;
}

unsigned long lr_until(void)
{
	return jiffies + msecs_to_jiffies(lr_patience_ms);
}

static int lr_alloc_ops(struct lr_op *ops)
{
	size_t size = max_t(size_t, lr_size, LR_SLOT);
	int i;

	for (i = 0; i < LR_DEPTH; i++) {
		ops[i].buf = kvzalloc(size, GFP_KERNEL);
		if (!ops[i].buf)
			return -ENOMEM;
	}
	return 0;
}

int lr_link_alloc(struct lr_link *link)
{
	init_waitqueue_head(&link->wait);
	link->memory = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO,
						get_order(sizeof(*link->memory)));
	link->results = kcalloc(LR_STEPS, 2 * sizeof(*link->results), GFP_KERNEL);
	link->reads = kvcalloc(LR_SLOTS, LR_SLOT, GFP_KERNEL);
	if (!link->memory || !link->results || !link->reads)
		return -ENOMEM;
	return lr_alloc_ops(link->rx) ? : lr_alloc_ops(link->tx);
}

void lr_link_free(struct lr_link *link)
{
	int i;

	for (i = 0; i < LR_DEPTH; i++) {
		kvfree(link->rx[i].buf);
		kvfree(link->tx[i].buf);
	}
	kfree(link->results);
	kvfree(link->reads);
	free_pages((unsigned long)link->memory, get_order(sizeof(*link->memory)));
}

static void lr_handler(struct fid_cq *cq, void *context)
{
	struct lr_link *link = context;

	atomic_set(&link->ready, 1);
	wake_up(&link->wait);
}

static int lr_open_cq(struct lr_link *link)
{
	static const enum fi_wait_obj kinds[] = {
		FI_WAIT_UNSPEC, FI_WAIT_CALLBACK, FI_WAIT_NONE,
	};
	struct fi_cq_attr attr = {
		.size		= 2 * LR_DEPTH,
		.format		= FI_CQ_FORMAT_DATA,
	};

	link->kind = kinds[link->hello.conn % ARRAY_SIZE(kinds)];
	attr.wait_obj = link->kind;
	if (link->kind == FI_WAIT_CALLBACK)
		attr.handler = lr_handler;
	return fi_cq_open(lr_bed.domain, &attr, &link->cq, link);
}

int lr_link_open(struct lr_link *link, struct fi_info *info)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct tb_end end = {};
	int ret;

	if (lr_rdm)
		ret = fi_av_open(lr_bed.domain, &av_attr, &link->av, NULL);
	else
		ret = fi_eq_open(lr_bed.fabric, &attr, &link->eq, NULL);
	if (!ret)
		ret = lr_open_cq(link);
	end.eq = link->eq;
	end.av = link->av;
	end.tx = link->cq;
	if (!ret)
		ret = tb_end_open(&end, lr_bed.domain, info);
	link->ep = end.ep;
	return ret ? lr_trouble(link, "open an endpoint", ret, 0) : 0;
}

void lr_posted(struct lr_link *link, struct lr_op *op)
{
	op->out = true;
	link->nr_out++;
}

int lr_recv(struct lr_link *link, struct lr_op *op)
{
	int ret;

	memset(op->buf, 0, sizeof(struct lr_msg));
	ret = fi_recv(link->ep, op->buf, lr_size, NULL, FI_ADDR_UNSPEC, op);
	if (ret == -ESHUTDOWN && link->last)
		return 0;
	if (ret)
		return lr_trouble(link, "post a receive", ret, 0);
	lr_posted(link, op);
	return 0;
}

int lr_recv_all(struct lr_link *link)
{
	int i, ret = 0;

	for (i = 0; i < LR_DEPTH && !ret; i++)
		ret = lr_recv(link, &link->rx[i]);
	return ret;
}

/* Waits for an event; its data go to @data, which may be NULL */
static int lr_event(struct lr_link *link, u32 want, unsigned int ms, void *data, size_t len)
{
	unsigned long until = jiffies + msecs_to_jiffies(ms);
	struct fi_eq_err_entry error = {};
	union lr_event event = {};
	ssize_t ret;
	u32 got;

	do {
		if (lr_stopped())
			return -EINTR;
		ret = fi_eq_sread(link->eq, &got, &event, sizeof(event), LR_NAP_MS, 0);
	} while (ret == -EAGAIN && time_before(jiffies, until));
	if (ret == -EAGAIN)
		return -ETIMEDOUT;
	if (ret == -FI_EAVAIL && fi_eq_readerr(link->eq, &error, 0) > 0)
		return lr_trouble(link, "see the event", -error.err, error.prov_errno);
	if (ret < 0 || got != want)
		return lr_trouble(link, "read the right event", ret, got);
	if (data)
		memcpy(data, event.cm.data, len);
	return 0;
}

void lr_stands(struct lr_link *link)
{
	link->stood = true;
	lr_count(LR_CONNECTS);
}

u32 lr_link_caps(void)
{
	u32 caps = 0;

	if (lr_info->caps & FI_ATOMIC)
		caps |= LR_ATOMIC;
	if (lr_info->domain_attr->cq_data_size >= sizeof(u32))
		caps |= LR_DATA;
	return caps;
}

int lr_link_connect(struct lr_link *link)
{
	int ret;

	if (lr_rdm)
		return lr_rdm_connect(link);
	ret = lr_link_open(link, lr_info) ? : lr_recv_all(link);
	if (ret)
		return ret;
	ret = fi_connect(link->ep, NULL, &link->hello, sizeof(link->hello));
	if (ret)
		return lr_trouble(link, "connect", ret, 0);
	ret = lr_event(link, FI_CONNECTED, lr_patience_ms, &link->welcome, sizeof(link->welcome));
	if (ret)
		return lr_trouble(link, "wait for the connection", ret, 0);
	lr_stands(link);
	return 0;
}

int lr_expose(struct lr_link *link)
{
	int ret;

	memset(link->memory, 0, sizeof(*link->memory));
	ret = fi_mr_reg(lr_bed.domain, link->memory, sizeof(*link->memory), FI_REMOTE_READ |
			FI_REMOTE_WRITE, 0, 0, 0, &link->mr, NULL);
	if (ret)
		return lr_trouble(link, "register memory", ret, 0);
	link->welcome = (struct lr_welcome) {
		.addr	= fi_mr_addr(link->mr),
		.key	= fi_mr_key(link->mr),
		.caps	= link->hello.caps & lr_link_caps(),
	};
	return 0;
}

int lr_link_accept(struct lr_link *link, struct fi_info *info)
{
	int ret;

	ret = lr_link_open(link, info) ? : lr_recv_all(link) ? : lr_expose(link);
	if (ret)
		return ret;
	lr_server_prepare(link);
	if (lr_rdm)
		return lr_rdm_accept(link);
	ret = fi_accept(link->ep, &link->welcome, sizeof(link->welcome));
	if (ret)
		return lr_trouble(link, "accept", ret, 0);
	ret = lr_event(link, FI_CONNECTED, lr_patience_ms, NULL, 0);
	if (ret)
		return lr_trouble(link, "wait for the connection", ret, 0);
	lr_stands(link);
	return 0;
}

static bool lr_is_rx(const struct lr_link *link, const struct lr_op *op)
{
	return op >= link->rx && op < link->rx + LR_DEPTH;
}

/* An operation has ended; what has arrived waits until it is looked at */
static void lr_ended(struct lr_link *link, const struct fi_cq_data_entry *entry, bool well)
{
	struct lr_op *op = entry->op_context;
	struct lr_arrival *arrival;
	bool known;

	/* What was injected has no context, and tells only of its failure */
	if (!op && !well)
		return;
	/* Nor has the data of a write, where that takes no receive */
	if (op)
		known = op->out;
	else
		known = entry->flags & FI_REMOTE_CQ_DATA && link->nr_arrivals < LR_DEPTH;
	if (!known) {
		lr_count(LR_TWICE);
		return;
	}
	if (op) {
		op->out = false;
		link->nr_out--;
		if (!well || !lr_is_rx(link, op))
			return;
	}
	/* Without connections a long message may be complete behind one that came later */
	if (op && lr_rdm) {
		op->arrived = true;
		arrival = &op->arrival;
	} else {
		arrival = &link->arrivals[(link->first + link->nr_arrivals++) % LR_DEPTH];
	}
	*arrival = (struct lr_arrival) {
		.op	= op,
		.flags	= entry->flags,
		.data	= entry->data,
		.len	= entry->len,
	};
}

static ssize_t lr_read_cq(struct lr_link *link, struct fi_cq_data_entry *entry)
{
	ssize_t ret;

	if (link->kind == FI_WAIT_UNSPEC)
		return fi_cq_sread(link->cq, entry, 1, NULL, LR_NAP_MS);
	ret = fi_cq_read(link->cq, entry, 1);
	if (ret != -EAGAIN)
		return ret;
	if (link->kind == FI_WAIT_CALLBACK)
		wait_event_timeout(link->wait, atomic_xchg(&link->ready, 0),
				   msecs_to_jiffies(LR_NAP_MS));
	else
		usleep_range(LR_POLL_US, 2 * LR_POLL_US);
	return fi_cq_read(link->cq, entry, 1);
}

/*
 * Takes one completion, or waits a moment.  Returns 0, -EAGAIN, or what an operation
 * or the queue has failed with; *@prov_errno is the device's word for that.
 */
int lr_take_any(struct lr_link *link, int *prov_errno)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	ssize_t ret = lr_read_cq(link, &entry);

	if (ret == 1) {
		lr_ended(link, &entry, true);
		return 0;
	}
	if (ret != -FI_EAVAIL)
		return ret;
	ret = fi_cq_readerr(link->cq, &error, 0);
	if (ret != 1)
		return ret;
	entry = (struct fi_cq_data_entry) { .op_context = error.op_context };
	lr_ended(link, &entry, false);
	*prov_errno = error.prov_errno;
	return -error.err;
}

int lr_take(struct lr_link *link)
{
	int prov_errno = 0;
	int ret = lr_take_any(link, &prov_errno);

	if (ret && ret != -EAGAIN)
		return lr_trouble(link, "complete an operation", ret, prov_errno);
	return ret;
}

/* As lr_take(), but a wait that lasts too long is an error, too */
int lr_again(struct lr_link *link, unsigned long until)
{
	int ret = lr_take(link);

	if (ret != -EAGAIN)
		return ret;
	if (lr_stopped())
		return -EINTR;
	if (time_after(jiffies, until))
		return lr_trouble(link, "wait any longer", -ETIMEDOUT, 0);
	return 0;
}

/* An operation that may be posted, or NULL after an error */
struct lr_op *lr_tx(struct lr_link *link)
{
	unsigned long until = lr_until();
	int i;

	do {
		for (i = 0; i < LR_DEPTH; i++)
			if (!link->tx[i].out)
				return &link->tx[i];
	} while (!lr_again(link, until));
	return NULL;
}

/* Operations in flight that are not receives */
unsigned int lr_sending(const struct lr_link *link)
{
	unsigned int i, sending = 0;

	for (i = 0; i < LR_DEPTH; i++)
		sending += link->tx[i].out;
	return sending;
}

/* Waits until all but receives has completed */
int lr_settle(struct lr_link *link)
{
	unsigned long until = lr_until();
	int ret = 0;

	while (!ret && lr_sending(link))
		ret = lr_again(link, until);
	return ret;
}

/*
 * The same in the last round.  If the peer ends the connection it does so when it has
 * everything, but the acknowledgment of that may have got lost: then what was sent
 * last is canceled, or tried again in vain.  The peer has checked that it is there.
 */
int lr_settle_last(struct lr_link *link, bool server)
{
	unsigned long until = lr_until();
	int prov_errno = 0, ret = 0;

	if (!!LR_SERVER_ENDS(lr_end(link)) == server)
		return lr_settle(link);
	while (lr_sending(link)) {
		ret = lr_take_any(link, &prov_errno);
		if (ret == -ECANCELED || ret == -ETIMEDOUT ||
		    (lr_rdm && (ret == -ECONNRESET || ret == -ECONNREFUSED)))
			link->cut = true;
		else if (ret && (ret != -EAGAIN || lr_stopped() || time_after(jiffies, until)))
			return lr_trouble(link, "complete the last operation", ret, prov_errno);
	}
	return 0;
}

/* Messages take receives in the order in which these were posted */
static bool lr_has_arrival(const struct lr_link *link, bool data)
{
	return lr_rdm && !data ? link->rx[link->next_rx].arrived : link->nr_arrivals;
}

/*
 * The oldest message that has not been looked at, or data of a write, which is waited for.  With
 * connections these come in one order.
 */
int lr_next(struct lr_link *link, bool data, struct lr_arrival *arrival)
{
	unsigned long until = lr_until();
	struct lr_op *op;
	int ret;

	while (!lr_has_arrival(link, data)) {
		ret = lr_again(link, until);
		if (ret)
			return ret;
	}
	if (lr_rdm && !data) {
		op = &link->rx[link->next_rx];
		*arrival = op->arrival;
		op->arrived = false;
		link->next_rx = (link->next_rx + 1) % LR_DEPTH;
	} else {
		*arrival = link->arrivals[link->first];
		link->first = (link->first + 1) % LR_DEPTH;
		link->nr_arrivals--;
	}
	return 0;
}

/* The connection has ended, and with it every receive */
void lr_drain(struct lr_link *link)
{
	unsigned long until = jiffies + msecs_to_jiffies(LR_DRAIN_MS);
	int prov_errno, ret;

	while (link->nr_out) {
		ret = lr_take_any(link, &prov_errno);
		if (ret == -ENODEV || (ret == -EAGAIN &&
				       (lr_stopped() || time_after(jiffies, until))))
			break;
	}
	lr_add(LR_ENDLESS, link->nr_out);
}

/* A connection that is known to be over may have no event of its end any more */
static void lr_await_end(struct lr_link *link)
{
	int ret;

	if (link->cut)
		return;
	ret = lr_event(link, FI_SHUTDOWN, LR_HANG_UP_MS, NULL, 0);
	if (ret == -ETIMEDOUT)
		lr_count(LR_UNTOLD);
	else if (!ret)
		lr_drain(link);
}

/* All is done: one side ends the connection, the other one hears of it */
void lr_link_hang_up(struct lr_link *link, bool server)
{
	u32 end = lr_end(link);
	int ret;

	if (lr_rdm) {
		lr_rdm_hang_up(link, !!LR_SERVER_ENDS(end) == server);
		if (LR_WITH_SHUTDOWN(end))
			lr_rdm_take_back(link);
		return;
	}
	if (!!LR_SERVER_ENDS(end) != server) {
		lr_await_end(link);
		return;
	}
	if (!LR_WITH_SHUTDOWN(end))
		return;
	ret = fi_shutdown(link->ep, 0);
	if (ret)
		lr_trouble(link, "shut down", ret, 0);
	else
		lr_drain(link);
}

static void lr_close(struct lr_link *link, struct fid *fid)
{
	int ret = fi_close(fid);

	if (ret)
		lr_trouble(link, "close an object", ret, 0);
}

static void lr_forget(struct lr_link *link)
{
	int i;

	for (i = 0; i < LR_DEPTH; i++) {
		link->rx[i].out = false;
		link->rx[i].arrived = false;
		link->tx[i].out = false;
	}
	link->nr_out = 0;
	link->next_rx = 0;
	link->nr_arrivals = 0;
	link->peer = 0;
	link->round = 0;
	link->sent = 0;
	link->received = 0;
	link->sum = 0;
	link->last = false;
	link->cut = false;
}

void lr_link_close(struct lr_link *link)
{
	if (link->ep)
		lr_close(link, &link->ep->fid);
	if (link->mr)
		lr_close(link, &link->mr->fid);
	if (link->cq)
		lr_close(link, &link->cq->fid);
	if (link->eq)
		lr_close(link, &link->eq->fid);
	if (link->av)
		lr_close(link, &link->av->fid);
	if (link->stood)
		lr_count(LR_CLOSES);
	link->ep = NULL;
	link->mr = NULL;
	link->cq = NULL;
	link->eq = NULL;
	link->av = NULL;
	link->stood = false;
	lr_forget(link);
}
