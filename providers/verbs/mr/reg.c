// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The registration connection of a domain.
 *
 * A device registers memory by a work request (IB_WR_REG_MR), and work requests need a queue pair
 * that is connected, though this one never sends a packet.  A domain has no queue pair, its
 * endpoints may come later, and their send queues belong to the client.  So the first registration
 * connects the device with itself, by rdma_cm, as that works alike on InfiniBand, RoCE and iWARP,
 * where a queue pair needs a TCP connection.
 *
 *	listener	on the domain's address and any port; destroyed as soon
 *			as the connection is established
 *	active		connects to the listener, with a random number as its proof
 *	passive		the request with that number; the listener rejects all others
 *
 * The connection stays until the domain is closed.  If it breaks, the next registration makes
 * another.  A registration whose work request was flushed, and so has not been executed, tries
 * once more with a new connection.
 *
 * Locking: the domain's reg_lock, a mutex, guards registrations and the connection.  rdma_cm
 * calls verbs_reg_handler() under locks of its own.  The handler takes no lock, writes to the
 * verbs_reg and wakes the holder of the mutex up.  The listener's handler sets ->passive, which
 * the holder reads when ->passive is set or the listener is destroyed.  A removal of the device
 * wakes the holder up, too.
 */
#include <kofi/refuse.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "../cm.h"
#include "../mr.h"
#include "../verbs.h"

/* One work request and the markers of ib_drain_qp(), on each of two queue pairs */
#define VERBS_REG_SEND_WR	2
#define VERBS_REG_RECV_WR	1
#define VERBS_REG_CQE		(2 * (VERBS_REG_SEND_WR + VERBS_REG_RECV_WR))

#define VERBS_REG_BACKLOG	16
/* Limit of one step of connecting; rdma_cm's own may be minutes */
#define VERBS_REG_MS		30000

/**
 * struct verbs_reg_end - An end of the connection
 * @id: its rdma_cm_id, with a queue pair from the time it connects
 * @done: its current step of connecting is done
 */
struct verbs_reg_end {
	struct rdma_cm_id	*id;
	bool			done;
};

/**
 * struct verbs_reg - A registration connection
 * @domain: the domain
 * @cq: for both queue pairs
 * @listener: there only while connecting
 * @active: the end that registers
 * @passive: the end that accepts
 * @proof: number that the connection request must carry
 * @error: negative errno that has broken the connection, or 0
 */
struct verbs_reg {
	struct verbs_domain	*domain;
	struct ib_cq		*cq;
	struct rdma_cm_id	*listener;
	struct verbs_reg_end	active;
	struct verbs_reg_end	passive;
	u64			proof;
	int			error;
};

/**
 * struct verbs_reg_op - A work request that verbs_reg_post() waits for
 * @cqe: entry point of its completion
 * @done: completed by verbs_reg_done()
 * @status: status of the work request
 */
struct verbs_reg_op {
	struct ib_cqe		cqe;
	struct completion	done;
	enum ib_wc_status	status;
};

static void verbs_reg_fail(struct verbs_reg *reg, int error)
{
	/* Later errors follow from the first */
	cmpxchg(&reg->error, 0, error);
	wake_up(&reg->domain->reg_wait);
}

static void verbs_reg_step_done(struct verbs_reg *reg,
				struct verbs_reg_end *end)
{
	/* verbs_reg_await() acquires what the step has left in @end */
	smp_store_release(&end->done, true);
	wake_up(&reg->domain->reg_wait);
}

static int verbs_reg_await(struct verbs_reg *reg, struct verbs_reg_end *end)
{
	int error;
	long left;

	left = wait_event_timeout(reg->domain->reg_wait,
				  /* Pairs with verbs_reg_step_done() */
				  smp_load_acquire(&end->done) || READ_ONCE(reg->error) ||
				  verbs_device_going(reg->domain->dev),
				  msecs_to_jiffies(VERBS_REG_MS));
	error = READ_ONCE(reg->error);
	if (error)
		return error;
	if (verbs_device_going(reg->domain->dev))
		return -ENODEV;
	if (!left)
		return -ETIMEDOUT;
	end->done = false;
	return 0;
}

/* Returning an error rejects the request and destroys its id */
static int verbs_reg_request(struct verbs_reg *reg, struct rdma_cm_id *id,
			     const struct rdma_conn_param *conn)
{
	/* Some transports pad the data */
	if (reg->passive.id || !conn->private_data ||
	    conn->private_data_len < sizeof(reg->proof) ||
	    memcmp(conn->private_data, &reg->proof, sizeof(reg->proof)))
		return -ECONNREFUSED;

	reg->passive.id = id;
	verbs_reg_step_done(reg, &reg->passive);
	return 0;
}

static int verbs_reg_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_reg *reg = id->context;
	struct verbs_reg_end *end = id == reg->active.id ? &reg->active :
							   &reg->passive;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return verbs_reg_request(reg, id, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		verbs_reg_step_done(reg, end);
		break;
	case RDMA_CM_EVENT_REJECTED:
		verbs_reg_fail(reg, -ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		verbs_reg_fail(reg, -ECONNABORTED);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		verbs_reg_fail(reg, -ENODEV);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		verbs_reg_fail(reg, event->status < 0 ? event->status :
							-ENETUNREACH);
		break;
	default:
		break;
	}
	return 0;
}

static struct rdma_cm_id *verbs_reg_create_id(struct verbs_reg *reg)
{
	return verbs_create_id(reg->domain->fabric, verbs_reg_handler, reg);
}

/* -EADDRNOTAVAIL: the address is not, or no longer, one of the device's */
static int verbs_reg_listen_at(struct verbs_reg *reg,
			       const struct sockaddr_storage *addr)
{
	struct sockaddr_storage any_port = *addr;
	struct rdma_cm_id *id;
	int ret;

	id = verbs_reg_create_id(reg);
	if (IS_ERR(id))
		return PTR_ERR(id);

	kofi_addr_set_port(&any_port, 0);
	if (rdma_bind_addr(id, (struct sockaddr *)&any_port) ||
	    id->device != reg->domain->dev->ibdev)
		ret = -EADDRNOTAVAIL;
	else
		ret = rdma_listen(id, VERBS_REG_BACKLOG);
	if (ret)
		rdma_destroy_id(id);
	else
		reg->listener = id;
	return ret;
}

/* Listens at the address that the client has chosen or, if that has gone, at any other */
static int verbs_reg_listen(struct verbs_reg *reg)
{
	struct verbs_domain *domain = reg->domain;
	struct sockaddr_storage *addrs;
	int ret = -EADDRNOTAVAIL;
	struct net *net;
	int i, count;

	if (domain->src.ss_family && !kofi_addr_any(&domain->src))
		ret = verbs_reg_listen_at(reg, &domain->src);
	if (ret != -EADDRNOTAVAIL)
		return ret;

	net = verbs_get_net(domain->fabric);
	if (!net)
		return -ENODEV;
	count = kofi_addr_list(net, &addrs);
	put_net(net);
	if (count < 0)
		return count;
	for (i = 0; i < count && ret == -EADDRNOTAVAIL; i++)
		ret = verbs_reg_listen_at(reg, &addrs[i]);
	kvfree(addrs);
	return ret;
}

static int verbs_reg_resolve(struct verbs_reg *reg)
{
	struct sockaddr_storage to = reg->listener->route.addr.src_addr;
	struct sockaddr_storage from = to;
	struct rdma_cm_id *id = reg->active.id;
	int ret;

	kofi_addr_set_port(&from, 0);
	ret = rdma_resolve_addr(id, (struct sockaddr *)&from,
				(struct sockaddr *)&to, VERBS_RESOLVE_MS);
	if (!ret)
		ret = verbs_reg_await(reg, &reg->active);
	if (ret)
		return ret;
	if (id->device != reg->domain->dev->ibdev)
		return -EADDRNOTAVAIL;

	ret = rdma_resolve_route(id, VERBS_RESOLVE_MS);
	return ret ? : verbs_reg_await(reg, &reg->active);
}

static int verbs_reg_create_qp(struct verbs_reg *reg, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= reg->cq,
		.recv_cq	= reg->cq,
		.cap = {
			.max_send_wr	= VERBS_REG_SEND_WR,
			.max_recv_wr	= VERBS_REG_RECV_WR,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int ret;

	ret = rdma_create_qp(id, reg->domain->pd, &attr);
	if (!ret)
		verbs_qp_name(id->qp);
	return ret;
}

/* Allows one read each way, as some devices do not connect without */
static int verbs_reg_join(struct verbs_reg *reg)
{
	struct rdma_conn_param conn = {
		.private_data		= &reg->proof,
		.private_data_len	= sizeof(reg->proof),
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= 7,
		.rnr_retry_count	= 7,
	};
	int ret;

	ret = verbs_reg_create_qp(reg, reg->active.id);
	if (!ret)
		ret = rdma_connect(reg->active.id, &conn);
	if (!ret)
		ret = verbs_reg_await(reg, &reg->passive);
	if (ret)
		return ret;

	conn.private_data = NULL;
	conn.private_data_len = 0;
	ret = verbs_reg_create_qp(reg, reg->passive.id);
	if (ret)
		return ret;
	rdma_lock_handler(reg->passive.id);
	ret = rdma_accept(reg->passive.id, &conn);
	rdma_unlock_handler(reg->passive.id);
	if (!ret)
		ret = verbs_reg_await(reg, &reg->active);
	if (!ret)
		ret = verbs_reg_await(reg, &reg->passive);
	return ret;
}

static int verbs_reg_connect(struct verbs_reg *reg)
{
	struct rdma_cm_id *id;
	int ret;

	ret = verbs_reg_listen(reg);
	if (ret)
		return ret;
	id = verbs_reg_create_id(reg);
	if (IS_ERR(id))
		return PTR_ERR(id);
	reg->active.id = id;
	ret = verbs_reg_resolve(reg);
	if (!ret)
		ret = verbs_reg_join(reg);
	if (ret)
		return ret;

	rdma_destroy_id(reg->listener);
	reg->listener = NULL;
	return 0;
}

/*
 * Disconnects and drains, so that iWARP devices release the queue pair.  @connecting: there may be
 * no answer yet, for which the iWARP connection manager would wait.  The error state of the queue
 * pair ends the attempt first.
 */
static void verbs_reg_destroy_end(struct verbs_reg_end *end, bool connecting)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!end->id)
		return;
	if (end->id->qp) {
		if (connecting)
			ib_modify_qp(end->id->qp, &attr, IB_QP_STATE);
		rdma_disconnect(end->id);
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	rdma_destroy_id(end->id);
}

static void verbs_reg_destroy(struct verbs_reg *reg)
{
	bool connecting = reg->listener;

	/* The listener goes first, so no request comes any more */
	if (connecting)
		rdma_destroy_id(reg->listener);
	/* Over iWARP the active end cannot go before the passive end has answered */
	verbs_reg_destroy_end(&reg->passive, connecting);
	verbs_reg_destroy_end(&reg->active, connecting);
	ib_free_cq(reg->cq);
	kfree(reg);
}

static struct verbs_reg *verbs_reg_create(struct verbs_domain *domain)
{
	struct verbs_reg *reg;
	int ret;

	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return ERR_PTR(-ENOMEM);

	reg->domain = domain;
	get_random_bytes(&reg->proof, sizeof(reg->proof));
	reg->cq = ib_alloc_cq(domain->dev->ibdev, reg, VERBS_REG_CQE, 0,
			      IB_POLL_WORKQUEUE);
	if (IS_ERR(reg->cq)) {
		ret = PTR_ERR(reg->cq);
		kfree(reg);
		return ERR_PTR(ret);
	}

	ret = verbs_reg_connect(reg);
	if (ret) {
		verbs_reg_destroy(reg);
		return ERR_PTR(ret);
	}
	return reg;
}

static void verbs_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_reg_op *op = container_of(wc->wr_cqe, struct verbs_reg_op,
					       cqe);

	op->status = wc->status;
	complete(&op->done);
}

/* -ECANCELED: the work request has not been executed */
static int verbs_reg_post(struct verbs_reg *reg, struct ib_mr *ibmr, int access)
{
	struct verbs_reg_op op = { .cqe.done = verbs_reg_done };
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe		= &op.cqe,
			.opcode		= IB_WR_REG_MR,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.mr	= ibmr,
		.key	= ibmr->rkey,
		.access	= access,
	};
	int ret;

	init_completion(&op.done);
	ret = ib_post_send(reg->active.id->qp, &wr.wr, NULL);
	if (ret) {
		verbs_reg_fail(reg, ret);
		return -ECANCELED;
	}

	/* The work request also completes if the queue pair fails */
	wait_for_completion(&op.done);
	ret = verbs_wc_errno(op.status, false);
	if (ret)
		verbs_reg_fail(reg, ret);
	return ret;
}

/* On success there is a connection without a known error */
static int verbs_reg_get(struct verbs_domain *domain)
{
	struct verbs_reg *reg;

	if (domain->reg && READ_ONCE(domain->reg->error))
		verbs_reg_close(domain);
	if (domain->reg)
		return 0;

	reg = verbs_reg_create(domain);
	if (IS_ERR(reg))
		return PTR_ERR(reg);
	domain->reg = reg;
	return 0;
}

static int verbs_reg_try(struct verbs_domain *domain, struct ib_mr *ibmr,
			 int access)
{
	int ret = verbs_reg_get(domain);

	return ret ? : verbs_reg_post(domain->reg, ibmr, access);
}

/*
 * Registers what ib_map_mr_sg() has put into @ibmr, under a new key.  May sleep.  Returns 0;
 * -EADDRNOTAVAIL: the device has no address to connect to; -EIO: the device has refused; or the
 * errno of connecting the device with itself.
 */
int verbs_reg_mr(struct verbs_domain *domain, struct ib_mr *ibmr, int access)
{
	int ret;

	ib_update_fast_reg_key(ibmr, atomic_inc_return(&domain->next_key));
	mutex_lock(&domain->reg_lock);
	ret = verbs_reg_try(domain, ibmr, access);
	/* The connection may have broken unnoticed, long ago */
	if (ret == -ECANCELED)
		ret = verbs_reg_try(domain, ibmr, access);
	mutex_unlock(&domain->reg_lock);
	if (ret == -EADDRNOTAVAIL)
		return kofi_refuse("mr_reg", ret, "the device has no address, by which kOFI would connect it with itself");
	if (ret == -ECANCELED)
		return kofi_refuse("mr_reg", -EIO, "the device has refused the registration twice");
	if (ret)
		kofi_refuse("mr_reg", ret, "the device could not be connected with itself, to register");
	return ret;
}

/* The caller holds reg_lock, or is the last user */
void verbs_reg_close(struct verbs_domain *domain)
{
	if (domain->reg)
		verbs_reg_destroy(domain->reg);
	domain->reg = NULL;
}
