// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A peer that reads and writes the memory of a case.
 *
 * It does one thing at a time and waits for its end, so there is nothing to lock:
 * handlers write, then complete, and the thread of the case reads after that.
 */
#include <net/net_namespace.h>
#include "peer.h"

#define PEER_STEP_MS	5000

static int peer_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct vt_peer *peer = id->context;

	/* The end of the connection is no step of what is under way */
	if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		complete(&peer->gone);
	if (event->event == RDMA_CM_EVENT_DISCONNECTED ||
	    event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return 0;
	if (event->event == RDMA_CM_EVENT_ESTABLISHED && event->param.conn.private_data)
		memcpy(peer->answer, event->param.conn.private_data,
		       min_t(size_t, event->param.conn.private_data_len, sizeof(peer->answer)));
	peer->last = event->event;
	complete(&peer->event);
	return 0;
}

static void peer_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vt_peer *peer = container_of(wc->wr_cqe, struct vt_peer, cqe);

	peer->status = wc->status;
	complete(&peer->done);
}

static void peer_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vt_peer *peer = container_of(wc->wr_cqe, struct vt_peer, in_cqe);

	if (wc->status == IB_WC_SUCCESS)
		complete(&peer->received);
}

static void peer_wait(struct vt_peer *peer, enum rdma_cm_event_type want)
{
	struct kunit *test = peer->test;

	KUNIT_ASSERT_TRUE_MSG(test, vt_completed(&peer->event),
			      "no event, waited for %s", rdma_event_msg(want));
	KUNIT_ASSERT_EQ_MSG(test, peer->last, want, "%s", rdma_event_msg(peer->last));
}

static void peer_release(void *ptr)
{
	struct vt_peer *peer = ptr;

	/* No request comes any more */
	if (!IS_ERR_OR_NULL(peer->listener))
		rdma_destroy_id(peer->listener);
	peer->listener = NULL;
	if (!IS_ERR_OR_NULL(peer->id)) {
		if (peer->id->qp) {
			rdma_disconnect(peer->id);
			ib_drain_qp(peer->id->qp);
			rdma_destroy_qp(peer->id);
		}
		rdma_destroy_id(peer->id);
	}
	peer->id = NULL;
	if (peer->dma)
		ib_dma_unmap_single(peer->pd->device, peer->dma, VT_PEER_BUF, DMA_BIDIRECTIONAL);
	peer->dma = 0;
	if (!IS_ERR_OR_NULL(peer->cq))
		ib_free_cq(peer->cq);
	peer->cq = NULL;
	if (!IS_ERR_OR_NULL(peer->pd))
		ib_dealloc_pd(peer->pd);
	peer->pd = NULL;
}

static void peer_resolve(struct vt_peer *peer, struct sockaddr_storage *to)
{
	struct kunit *test = peer->test;
	struct vt *vt = vt_of(test);

	peer->id = rdma_create_id(&init_net, peer_handler, peer, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->id));
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(peer->id, vt->info->src_addr, (struct sockaddr *)to,
						PEER_STEP_MS), 0);
	peer_wait(peer, RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(peer->id, PEER_STEP_MS), 0);
	peer_wait(peer, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void peer_open(struct vt_peer *peer)
{
	struct ib_device *ibdev = peer->id->device;
	struct kunit *test = peer->test;
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr	= 4,
			.max_recv_wr	= 4,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};

	peer->pd = ib_alloc_pd(ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->pd));
	peer->cq = ib_alloc_cq(ibdev, peer, 16, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->cq));
	peer->dma = ib_dma_map_single(ibdev, peer->buf, VT_PEER_BUF, DMA_BIDIRECTIONAL);
	attr.send_cq = peer->cq;
	attr.recv_cq = peer->cq;
	KUNIT_ASSERT_EQ(test, rdma_create_qp(peer->id, peer->pd, &attr), 0);
}

static void peer_connect(struct vt_peer *peer, u8 reads)
{
	struct rdma_conn_param param = {
		.private_data		= peer->said,
		.private_data_len	= peer->said_len,
		.responder_resources	= reads,
		.initiator_depth	= 4,
		.retry_count		= 7,
		.rnr_retry_count	= 7,
	};

	KUNIT_ASSERT_EQ(peer->test, rdma_connect(peer->id, &param), 0);
}

/* The case accepts */
static void peer_join(struct vt_peer *peer, u8 reads)
{
	struct kunit *test = peer->test;

	peer_connect(peer, reads);
	peer->end.rw_ops = 1;
	vt_end_open(test, &peer->end, vt_connreq(test, NULL), &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_accept(peer->end.ep, NULL, 0), 0);
	peer_wait(peer, RDMA_CM_EVENT_ESTABLISHED);
	vt_event(test, peer->end.eq, FI_CONNECTED, NULL);
}

static struct vt_peer *peer_alloc(struct kunit *test)
{
	struct vt_peer *peer = vt_buf(test, sizeof(*peer));

	peer->test = test;
	peer->buf = vt_buf(test, VT_PEER_BUF);
	init_completion(&peer->event);
	init_completion(&peer->done);
	init_completion(&peer->received);
	init_completion(&peer->gone);
	peer->cqe.done = peer_done;
	peer->in_cqe.done = peer_received;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, peer_release, peer), 0);
	return peer;
}

/* On its way to @to, with a queue pair */
static struct vt_peer *peer_new(struct kunit *test, struct sockaddr_storage *to)
{
	struct vt_peer *peer = peer_alloc(test);

	peer_resolve(peer, to);
	peer_open(peer);
	return peer;
}

static int listen_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct vt_peer *peer = id->context;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	if (peer->id)
		return -ECONNREFUSED;
	id->event_handler = peer_handler;
	peer->id = id;
	peer->last = event->event;
	complete(&peer->event);
	return 0;
}

struct vt_peer *vt_peer_listen(struct kunit *test, int *port)
{
	struct sockaddr_storage at = vt_of(test)->name;
	struct vt_peer *peer = peer_alloc(test);

	((struct sockaddr_in *)&at)->sin_port = 0;
	peer->listener = rdma_create_id(&init_net, listen_handler, peer, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->listener));
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(peer->listener, (struct sockaddr *)&at), 0);
	KUNIT_ASSERT_EQ(test, rdma_listen(peer->listener, 1), 0);
	*port = ntohs(((struct sockaddr_in *)&peer->listener->route.addr.src_addr)->sin_port);
	return peer;
}

void vt_peer_accept(struct vt_peer *peer, int count, size_t len)
{
	struct rdma_conn_param param = {
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.rnr_retry_count	= 7,
	};
	struct kunit *test = peer->test;
	int ret;

	peer_wait(peer, RDMA_CM_EVENT_CONNECT_REQUEST);
	peer_open(peer);
	while (count--)
		vt_peer_post(peer, len);
	rdma_lock_handler(peer->id);
	ret = rdma_accept(peer->id, &param);
	rdma_unlock_handler(peer->id);
	KUNIT_ASSERT_EQ(test, ret, 0);
	peer_wait(peer, RDMA_CM_EVENT_ESTABLISHED);
}

struct vt_peer *vt_peer_granting(struct kunit *test, u8 reads)
{
	struct vt_peer *peer = peer_new(test, &vt_of(test)->name);

	peer_join(peer, reads);
	return peer;
}

struct vt_peer *vt_peer_saying(struct kunit *test, const void *data, u8 len, u8 reads)
{
	struct vt_peer *peer = peer_new(test, &vt_of(test)->name);

	peer->said = data;
	peer->said_len = len;
	peer_join(peer, reads);
	return peer;
}

struct vt_peer *vt_peer_dial(struct kunit *test, int port, const void *data, u8 len)
{
	struct sockaddr_storage to = vt_of(test)->name;
	struct vt_peer *peer;

	((struct sockaddr_in *)&to)->sin_port = htons(port);
	peer = peer_new(test, &to);
	peer->said = data;
	peer->said_len = len;
	peer_connect(peer, 4);
	KUNIT_ASSERT_TRUE(test, vt_completed(&peer->event));
	return peer;
}

struct vt_peer *vt_peer(struct kunit *test)
{
	return vt_peer_granting(test, 4);
}

void vt_peer_close(struct vt_peer *peer)
{
	struct kunit *test = peer->test;

	kunit_release_action(test, peer_release, peer);
	if (peer->end.ep)
		vt_end_close(test, &peer->end);
	kunit_kfree(test, peer->buf);
	kunit_kfree(test, peer);
}

/* Who is refused over iWARP hears of it by the end of the connection, as we do */
static enum ib_wc_status peer_verdict(struct vt_peer *peer, enum ib_wc_status status)
{
	if (status == IB_WC_SUCCESS || !vt_is_iwarp(peer->test))
		return status;
	vt_event(peer->test, peer->end.eq, FI_SHUTDOWN, NULL);
	return IB_WC_REM_ACCESS_ERR;
}

static enum ib_wc_status peer_do(struct vt_peer *peer, struct ib_send_wr *wr, size_t len)
{
	struct kunit *test = peer->test;
	int ret;

	KUNIT_ASSERT_LE(test, len, VT_PEER_BUF);
	peer->sge = (struct ib_sge) {
		.addr	= peer->dma,
		.length	= len,
		.lkey	= peer->pd->local_dma_lkey,
	};
	wr->wr_cqe = &peer->cqe;
	wr->sg_list = &peer->sge;
	wr->num_sge = 1;
	wr->send_flags = IB_SEND_SIGNALED;
	ret = ib_post_send(peer->id->qp, wr, NULL);
	/* The end of the connection may already be on its way */
	if (ret == -ENOTCONN && vt_is_iwarp(test))
		return IB_WC_WR_FLUSH_ERR;
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_TRUE(test, vt_completed(&peer->done));
	return peer->status;
}

/*
 * Over iWARP a write is done when it is sent.  A message comes after it, if nothing
 * has ended the connection.
 */
static enum ib_wc_status peer_arrived(struct vt_peer *peer)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct kunit *test = peer->test;
	struct vt_comp comp;

	if (fi_recv(peer->end.ep, vt_buf(test, 8), 8, NULL, 0, NULL))
		return IB_WC_WR_FLUSH_ERR;
	peer_do(peer, &wr, 8);
	KUNIT_ASSERT_EQ(test, vt_wait(peer->end.rx, &comp), 1);
	return comp.err ? IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS;
}

void vt_peer_post(struct vt_peer *peer, size_t len)
{
	struct ib_sge sge = {
		.addr	= peer->dma + VT_PEER_IN,
		.length	= len,
		.lkey	= peer->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &peer->in_cqe, .sg_list = &sge, .num_sge = 1 };

	KUNIT_ASSERT_EQ(peer->test, ib_post_recv(peer->id->qp, &wr, NULL), 0);
}

void vt_peer_begin_send(struct vt_peer *peer, size_t len)
{
	struct ib_sge sge = {
		.addr	= peer->dma,
		.length	= len,
		.lkey	= peer->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe		= &peer->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};

	KUNIT_ASSERT_EQ(peer->test, ib_post_send(peer->id->qp, &wr, NULL), 0);
}

enum ib_wc_status vt_peer_send(struct vt_peer *peer, size_t len)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };

	return peer_do(peer, &wr, len);
}

enum ib_wc_status vt_peer_read(struct vt_peer *peer, u64 addr, u64 key, size_t len)
{
	struct ib_rdma_wr wr = {
		.wr.opcode	= IB_WR_RDMA_READ,
		.remote_addr	= addr,
		.rkey		= key,
	};

	return peer_verdict(peer, peer_do(peer, &wr.wr, len));
}

enum ib_wc_status vt_peer_write(struct vt_peer *peer, u64 addr, u64 key, size_t len)
{
	struct ib_rdma_wr wr = {
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.remote_addr	= addr,
		.rkey		= key,
	};
	enum ib_wc_status status = peer_do(peer, &wr.wr, len);

	if (status == IB_WC_SUCCESS && vt_is_iwarp(peer->test))
		status = peer_arrived(peer);
	return peer_verdict(peer, status);
}

enum ib_wc_status vt_peer_fetch_add(struct vt_peer *peer, u64 addr, u64 key)
{
	struct ib_atomic_wr wr = {
		.wr.opcode	= IB_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr	= addr,
		.compare_add	= 1,
		.rkey		= key,
	};

	return peer_do(peer, &wr.wr, sizeof(u64));
}
