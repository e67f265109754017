// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A connection of the bad peer's: rdma_cm and verbs as they are.
 *
 * rdma_cm calls the handler of one id at a time, and a listener's child has it
 * called after the listener's, so the log has one writer; who waits takes an entry
 * only after the completion that follows it.  There is one operation at a time and
 * one receive, so completions of work requests need no lock either.
 */
#include <linux/atomic.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include "hostile.h"

#define HOSTILE_RESOLVE_MS	5000

bool hostile_is_iwarp(const struct rdma_cm_id *id)
{
	return id->device && rdma_protocol_iwarp(id->device, rdma_start_port(id->device));
}

static void hostile_conn_log(struct hostile_conn *conn, struct rdma_cm_id *id,
			     struct rdma_cm_event *event)
{
	const void *data = event->param.conn.private_data;
	u8 len = event->param.conn.private_data_len;
	struct hostile_news *log;

	if (conn->logged == HOSTILE_LOG)
		return;
	/* siw does not say that it was the consumer */
	if (event->event == RDMA_CM_EVENT_REJECTED && !hostile_is_iwarp(id))
		data = rdma_consumer_reject_data(id, event, &len);
	log = &conn->log[conn->logged];
	log->event = event->event;
	log->status = event->status;
	log->len = data ? min_t(u8, len, HOSTILE_DATA) : 0;
	if (log->len)
		memcpy(log->data, data, log->len);
	conn->logged++;
	complete(&conn->more);
}

/*
 * A queue pair that is not there.  A number that was there a moment ago is a stale
 * connection to ib_cm, which rejects it without asking anybody.
 */
u32 hostile_conn_no_qp(void)
{
	static atomic_t next = ATOMIC_INIT(0);

	if (!atomic_read(&next))
		atomic_cmpxchg(&next, 0, get_random_u32() & 0x3fffff);
	return 0x800000 | (atomic_inc_return(&next) & 0x3fffff);
}

static void hostile_conn_param(struct rdma_conn_param *param, const u8 *data, u8 len)
{
	*param = (struct rdma_conn_param) {
		.private_data		= data,
		.private_data_len	= len,
		.responder_resources	= 4,
		.initiator_depth	= 4,
		.retry_count		= 6,
		.rnr_retry_count	= 7,
		.qp_num			= hostile_conn_no_qp(),
	};
}

/* An error has rdma_cm destroy @id: there is one already, or it is rejected */
static int hostile_conn_answer(struct hostile_conn *conn, struct rdma_cm_id *id)
{
	const struct hostile_answer *answer = &conn->answer;
	struct rdma_conn_param param;
	int ret;

	if (conn->child)
		return -EBUSY;
	if (answer->hold) {
		conn->child = id;
		return 0;
	}
	if (!answer->accept) {
		rdma_reject(id, answer->data, answer->len, IB_CM_REJ_CONSUMER_DEFINED);
		return -ECONNREFUSED;
	}
	if (answer->with_qp || hostile_is_iwarp(id)) {
		ret = hostile_conn_open_qp(conn, id);
		if (!ret && answer->recv_len >= 0)
			ret = hostile_conn_recv(conn, answer->recv_len);
		if (ret)
			return ret;
	}
	conn->child = id;
	hostile_conn_param(&param, answer->data, answer->len);
	param.rnr_retry_count = answer->rnr_retry;
	rdma_accept(id, &param);
	return 0;
}

static int hostile_conn_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct hostile_conn *conn = id->context;

	hostile_conn_log(conn, id, event);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return hostile_conn_answer(conn, id);
	/* Ends what is posted, which otherwise would be sent again for seconds */
	if (event->event == RDMA_CM_EVENT_DISCONNECTED && id->qp)
		rdma_disconnect(id);
	return 0;
}

struct hostile_conn *hostile_conn(void)
{
	struct hostile_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	init_completion(&conn->more);
	init_completion(&conn->done);
	init_completion(&conn->recv_done);
	conn->buf = kzalloc(HOSTILE_BUF, GFP_KERNEL);
	conn->id = rdma_create_id(&init_net, hostile_conn_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (conn->buf && !IS_ERR(conn->id))
		return conn;
	if (!IS_ERR(conn->id))
		rdma_destroy_id(conn->id);
	kfree(conn->buf);
	kfree(conn);
	return NULL;
}

static void hostile_conn_end_id(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp) {
		rdma_disconnect(id);
		ib_drain_qp(id->qp);
		rdma_destroy_qp(id);
	}
	rdma_destroy_id(id);
}

void hostile_conn_close(struct hostile_conn *conn)
{
	if (!conn)
		return;
	/* The listener first: no more children */
	hostile_conn_end_id(conn->id);
	hostile_conn_end_id(conn->child);
	if (conn->dma)
		ib_dma_unmap_single(conn->pd->device, conn->dma, HOSTILE_BUF, DMA_BIDIRECTIONAL);
	if (!IS_ERR_OR_NULL(conn->cq))
		ib_free_cq(conn->cq);
	if (!IS_ERR_OR_NULL(conn->pd))
		ib_dealloc_pd(conn->pd);
	kfree(conn->buf);
	kfree(conn);
}

int hostile_conn_sockaddr(struct sockaddr_storage *addr, int offset)
{
	char port[8];

	snprintf(port, sizeof(port), "%d", hostile_service(offset));
	return inet_pton_with_scope(&init_net, AF_UNSPEC, hostile_node(offset), port, addr);
}

const struct hostile_news *hostile_conn_next(struct hostile_conn *conn)
{
	unsigned long patience = msecs_to_jiffies(HOSTILE_PATIENCE_MS);

	if (!wait_for_completion_timeout(&conn->more, patience))
		return NULL;
	return &conn->log[conn->taken++];
}

const struct hostile_news *
hostile_conn_await(struct hostile_conn *conn, enum rdma_cm_event_type want)
{
	const struct hostile_news *event = hostile_conn_next(conn);

	if (event && event->event == want)
		return event;
	hostile_say("no event, waited for \"%s\"%s%s", rdma_event_msg(want), event ? ", got " : "",
		    event ? rdma_event_msg(event->event) : "");
	return NULL;
}

int hostile_conn_resolve(struct hostile_conn *conn, int offset)
{
	struct sockaddr_storage to;
	int ret;

	ret = hostile_conn_sockaddr(&to, offset);
	if (!ret)
		ret = rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&to, HOSTILE_RESOLVE_MS);
	if (ret)
		return ret;
	if (!hostile_conn_await(conn, RDMA_CM_EVENT_ADDR_RESOLVED))
		return -ETIMEDOUT;
	ret = rdma_resolve_route(conn->id, HOSTILE_RESOLVE_MS);
	if (ret)
		return ret;
	return hostile_conn_await(conn, RDMA_CM_EVENT_ROUTE_RESOLVED) ?
	       0 : -ETIMEDOUT;
}

int hostile_conn_open_qp(struct hostile_conn *conn, struct rdma_cm_id *id)
{
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
	int ret;

	conn->pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(conn->pd))
		return PTR_ERR(conn->pd);
	conn->cq = ib_alloc_cq(id->device, conn, 16, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->cq))
		return PTR_ERR(conn->cq);
	conn->dma = ib_dma_map_single(id->device, conn->buf, HOSTILE_BUF, DMA_BIDIRECTIONAL);
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	ret = rdma_create_qp(id, conn->pd, &attr);
	if (!ret)
		conn->qp = id->qp;
	return ret;
}

/* Send the request, with a queue pair if one has been opened */
int hostile_conn_ask(struct hostile_conn *conn, const u8 *data, u8 len)
{
	struct rdma_conn_param param;

	hostile_conn_param(&param, data, len);
	return rdma_connect(conn->id, &param);
}

int hostile_conn_listen(struct hostile_conn *conn, int offset)
{
	struct sockaddr_storage at;
	int ret;

	ret = hostile_conn_sockaddr(&at, offset);
	if (!ret)
		ret = rdma_bind_addr(conn->id, (struct sockaddr *)&at);
	if (!ret)
		ret = rdma_listen(conn->id, 8);
	return ret;
}

static void hostile_conn_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hostile_conn *conn = container_of(wc->wr_cqe, struct hostile_conn, cqe);

	conn->status = wc->status;
	complete(&conn->done);
}

static void hostile_conn_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hostile_conn *conn = container_of(wc->wr_cqe, struct hostile_conn, recv_cqe);

	conn->recv_status = wc->status;
	conn->recv_len = wc->byte_len;
	complete(&conn->recv_done);
}

/* The second half of the buffer is for what comes */
int hostile_conn_recv(struct hostile_conn *conn, u32 len)
{
	struct ib_sge sge = {
		.addr	= conn->dma + HOSTILE_BUF / 2,
		.length	= len,
		.lkey	= conn->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &conn->recv_cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	conn->recv_cqe.done = hostile_conn_recv_done;
	return ib_post_recv(conn->qp, &wr, NULL);
}

/* Post and wait; who may not post is in the state that flushes */
static enum ib_wc_status hostile_conn_do(struct hostile_conn *conn, struct ib_send_wr *wr, u32 len)
{
	unsigned long patience = msecs_to_jiffies(HOSTILE_PATIENCE_MS);

	conn->sge = (struct ib_sge) {
		.addr	= conn->dma,
		.length	= len,
		.lkey	= conn->pd->local_dma_lkey,
	};
	conn->cqe.done = hostile_conn_done;
	wr->wr_cqe = &conn->cqe;
	wr->sg_list = &conn->sge;
	wr->num_sge = 1;
	wr->send_flags = IB_SEND_SIGNALED;
	if (ib_post_send(conn->qp, wr, NULL))
		return IB_WC_WR_FLUSH_ERR;
	if (!wait_for_completion_timeout(&conn->done, patience))
		return IB_WC_FATAL_ERR;
	return conn->status;
}

enum ib_wc_status hostile_conn_send(struct hostile_conn *conn, u32 len)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };

	return hostile_conn_do(conn, &wr, len);
}

enum ib_wc_status hostile_conn_rma(struct hostile_conn *conn, enum ib_wr_opcode opcode, u64 addr,
				   u64 key, u32 len)
{
	struct ib_rdma_wr wr = {
		.wr.opcode	= opcode,
		.remote_addr	= addr,
		.rkey		= key,
	};

	return hostile_conn_do(conn, &wr.wr, len);
}
