// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An end of a control connection, and how the initiator connects and sends requests; see save.h.
 *
 * Only the worker of save.c, which may sleep, uses the initiator's end.  Handlers of rdma_cm and of
 * completions write to the end and wake the worker up.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "save.h"

/* A message and ib_drain_qp()'s marker, in each direction */
#define VERBS_SAVE_WR	2

void verbs_save_end_fail(struct verbs_save_end *end, int error)
{
	/* Later errors follow from the first */
	cmpxchg(&end->error, 0, error);
	wake_up(&end->saves->wait);
}

static void verbs_save_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		verbs_save_end_fail(container_of(wc->wr_cqe, struct verbs_save_end, sent),
				    -ECONNABORTED);
}

static int verbs_save_end_create_qp(struct verbs_save_end *end)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= end->cq,
		.recv_cq	= end->cq,
		.cap = {
			.max_send_wr	= VERBS_SAVE_WR,
			.max_recv_wr	= VERBS_SAVE_WR,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};

	return rdma_create_qp(end->id, end->saves->ep->domain->pd, &attr);
}

/* @id: bound to a device; after an error still the caller's */
struct verbs_save_end *verbs_save_end_new(struct verbs_saves *saves, struct rdma_cm_id *id,
					  void (*received)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *ibdev = saves->ep->domain->dev->ibdev;
	struct verbs_save_end *end;
	int ret = -ENOMEM;

	end = kzalloc(sizeof(*end), GFP_KERNEL);
	if (!end)
		return ERR_PTR(-ENOMEM);
	end->saves = saves;
	end->id = id;
	end->sent.done = verbs_save_sent;
	end->received.done = received;
	end->msg = kzalloc(sizeof(*end->msg), GFP_KERNEL);
	if (!end->msg)
		goto free_end;
	end->dma = ib_dma_map_single(ibdev, end->msg, sizeof(*end->msg), DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(ibdev, end->dma))
		goto free_msg;
	end->cq = ib_alloc_cq(ibdev, end, 2 * VERBS_SAVE_WR, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(end->cq)) {
		ret = PTR_ERR(end->cq);
		goto unmap;
	}
	ret = verbs_save_end_create_qp(end);
	if (!ret)
		return end;

	ib_free_cq(end->cq);
unmap:
	ib_dma_unmap_single(ibdev, end->dma, sizeof(*end->msg), DMA_BIDIRECTIONAL);
free_msg:
	kfree(end->msg);
free_end:
	kfree(end);
	return ERR_PTR(ret);
}

static void verbs_save_end_stop(struct verbs_save_end *end)
{
	rdma_disconnect(end->id);
	ib_drain_qp(end->id->qp);
	rdma_destroy_qp(end->id);
}

static void verbs_save_end_release(struct verbs_save_end *end)
{
	struct ib_device *ibdev = end->saves->ep->domain->dev->ibdev;

	ib_free_cq(end->cq);
	ib_dma_unmap_single(ibdev, end->dma, sizeof(*end->msg), DMA_BIDIRECTIONAL);
	kfree(end->msg);
	kfree(end);
}

/* For the handler of a request, after whose error rdma_cm destroys the id */
void verbs_save_end_free(struct verbs_save_end *end)
{
	verbs_save_end_stop(end);
	verbs_save_end_release(end);
}

/* Destroys the id before it frees @end, as handlers of the id use @end */
void verbs_save_end_destroy(struct verbs_save_end *end)
{
	verbs_save_end_stop(end);
	rdma_destroy_id(end->id);
	verbs_save_end_release(end);
}

static void verbs_save_end_sge(const struct verbs_save_end *end, const void *msg, size_t len,
			       struct ib_sge *sge)
{
	sge->addr = end->dma + (msg - (const void *)end->msg);
	sge->length = len;
	sge->lkey = end->saves->ep->domain->pd->local_dma_lkey;
}

/* @msg: a part of the end's buffers */
int verbs_save_end_send(struct verbs_save_end *end, const void *msg, size_t len)
{
	struct ib_sge sge;
	struct ib_send_wr wr = {
		.wr_cqe		= &end->sent,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};

	verbs_save_end_sge(end, msg, len, &sge);
	ib_dma_sync_single_for_device(end->id->device, sge.addr, len, DMA_BIDIRECTIONAL);
	return ib_post_send(end->id->qp, &wr, NULL);
}

int verbs_save_end_recv(struct verbs_save_end *end, const void *msg, size_t len)
{
	struct ib_sge sge;
	struct ib_recv_wr wr = { .wr_cqe = &end->received, .sg_list = &sge, .num_sge = 1 };

	verbs_save_end_sge(end, msg, len, &sge);
	return ib_post_recv(end->id->qp, &wr, NULL);
}

/* The initiator's end */

/* Is the endpoint itself connected? */
bool verbs_saves_alive(const struct verbs_saves *saves)
{
	const struct kofi_conn *conn = &saves->ep->kep.conn;

	return !READ_ONCE(conn->closing) && READ_ONCE(conn->state) == KOFI_CONN_CONNECTED;
}

static void verbs_save_step_done(struct verbs_save_end *end)
{
	/* verbs_save_await() acquires what the step has left */
	smp_store_release(&end->done, true);
	wake_up(&end->saves->wait);
}

static int verbs_save_await(struct verbs_save_end *end)
{
	struct verbs_saves *saves = end->saves;
	long left;
	int error;

	left = wait_event_timeout(saves->wait,
				  /* Pairs with verbs_save_step_done() */
				  smp_load_acquire(&end->done) || READ_ONCE(end->error) ||
				  !verbs_saves_alive(saves),
				  msecs_to_jiffies(VERBS_SAVE_MS));
	error = READ_ONCE(end->error);
	if (!error && !verbs_saves_alive(saves))
		error = -ECANCELED;
	if (!error && !left)
		error = -ETIMEDOUT;
	end->done = false;
	/* What comes now belongs to a step that has failed */
	if (error)
		verbs_save_end_fail(end, error);
	return error;
}

static int verbs_save_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_save_end *end = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		verbs_save_step_done(end);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		verbs_save_end_fail(end, -ECONNABORTED);
		break;
	}
	return 0;
}

static void verbs_save_answered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_save_end *end = container_of(wc->wr_cqe, struct verbs_save_end, received);

	if (wc->status != IB_WC_SUCCESS) {
		verbs_save_end_fail(end, -ECONNABORTED);
		return;
	}
	ib_dma_sync_single_for_cpu(cq->device, end->dma, sizeof(*end->msg), DMA_BIDIRECTIONAL);
	if (wc->byte_len != sizeof(end->msg->answer) ||
	    be32_to_cpu(end->msg->answer.number) != end->number)
		verbs_save_end_fail(end, -EPROTO);
	else
		verbs_save_step_done(end);
}

/* Resolves the listener of the peer, from the address of the endpoint */
static int verbs_save_resolve(struct verbs_save_end *end)
{
	const struct verbs_ep *ep = end->saves->ep;
	struct sockaddr_storage to = verbs_id_dest(ep->id);
	struct sockaddr_storage from = verbs_id_src(ep->id);
	int ret;

	kofi_addr_set_port(&to, ep->frame.offer_port);
	kofi_addr_set_port(&from, 0);
	ret = rdma_resolve_addr(end->id, (struct sockaddr *)&from, (struct sockaddr *)&to,
				VERBS_RESOLVE_MS);
	if (!ret)
		ret = verbs_save_await(end);
	if (!ret)
		ret = rdma_resolve_route(end->id, VERBS_RESOLVE_MS);
	return ret ? : verbs_save_await(end);
}

static int verbs_save_join_peer(struct verbs_save_end *end)
{
	struct verbs_save_offer offer = {
		.magic		= cpu_to_be32(VERBS_SAVE_MAGIC),
		.version	= cpu_to_be16(VERBS_SAVE_VERSION),
		.token		= cpu_to_be64(end->saves->ep->frame.offer_token),
	};
	struct rdma_conn_param param = {
		.private_data		= &offer,
		.private_data_len	= sizeof(offer),
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= 6,
		.rnr_retry_count	= 7,
	};
	int ret = rdma_connect(end->id, &param);

	return ret ? : verbs_save_await(end);
}

/**
 * verbs_save_connect() - Connect to the peer's listener, unless that is done
 * @saves: of the endpoint; only its worker calls
 *
 * Resolves the address with an end without a queue pair, as the device is not known before.
 *
 * Context: may sleep.
 * Return: 0, and saves->link is there; or a negative errno, also of what has broken the link.
 */
int verbs_save_connect(struct verbs_saves *saves)
{
	struct verbs_save_end resolving = { .saves = saves }, *end;
	int ret;

	if (saves->link)
		return READ_ONCE(saves->link->error);
	resolving.id = verbs_create_id(saves->ep->domain->fabric, verbs_save_handler, &resolving);
	if (IS_ERR(resolving.id))
		return PTR_ERR(resolving.id);
	ret = verbs_save_resolve(&resolving);
	if (!ret && resolving.id->device != saves->ep->domain->dev->ibdev)
		ret = -EADDRNOTAVAIL;
	if (ret)
		goto destroy_id;
	end = verbs_save_end_new(saves, resolving.id, verbs_save_answered);
	if (IS_ERR(end)) {
		ret = PTR_ERR(end);
		goto destroy_id;
	}
	rdma_lock_handler(end->id);
	end->id->context = end;
	end->error = resolving.error;
	rdma_unlock_handler(end->id);
	ret = verbs_save_join_peer(end);
	if (ret)
		verbs_save_end_destroy(end);
	else
		saves->link = end;
	return ret;

destroy_id:
	rdma_destroy_id(resolving.id);
	return ret;
}

static void verbs_save_request_fill(struct verbs_save_request *request,
				    const struct verbs_save *save, u32 number)
{
	u32 i;

	*request = (struct verbs_save_request) {
		.key	= cpu_to_be32(save->key),
		.whole	= cpu_to_be32(save->whole),
		.count	= cpu_to_be32(save->count),
		.number	= cpu_to_be32(number),
		.addr	= cpu_to_be64(save->addr),
	};
	for (i = 0; i < save->count; i++) {
		request->range[i].addr = cpu_to_be64(save->range[i].begin);
		request->range[i].len = cpu_to_be64(save->range[i].end - save->range[i].begin);
	}
}

/**
 * verbs_save_ask() - Have the peer make durable what was written
 * @saves: of the endpoint, with a link; only its worker calls
 * @save: the operation; all of its writes are in the peer's memory
 *
 * Context: may sleep.
 * Return: 0; -EACCES: the peer refuses; or the error of the control connection, or of the
 * endpoint's own.
 */
int verbs_save_ask(struct verbs_saves *saves, const struct verbs_save *save)
{
	struct verbs_save_end *end = saves->link;
	int ret;

	end->number++;
	ret = verbs_save_end_recv(end, &end->msg->answer, sizeof(end->msg->answer));
	if (ret)
		goto fail;
	verbs_save_request_fill(&end->msg->request, save, end->number);
	ret = verbs_save_end_send(end, &end->msg->request, sizeof(end->msg->request));
	if (ret)
		goto fail;
	ret = verbs_save_await(end);
	if (ret)
		return ret;
	return end->msg->answer.refused ? -EACCES : 0;

fail:
	verbs_save_end_fail(end, ret);
	return ret;
}
