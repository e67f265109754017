// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The bad peer in great numbers: connection requests that are never taken back, and
 * TCP connections that do not speak iWARP.
 *
 * Each request goes its way from the handler of its id.  The counters are atomic,
 * whoever changes one wakes the step that waits.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "hostile.h"

#define HOSTILE_FLOOD_MAX	4096
/* Requests without an answer, beyond those that are not to have one */
#define HOSTILE_FLOOD_WINDOW	32
#define HOSTILE_FLOOD_MS	60000
#define HOSTILE_SILENT_MAX	64

static struct {
	struct rdma_cm_id	**id;
	int			nr_ids;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	atomic_t		unsent;
	atomic_t		rejected;
	atomic_t		accepted;
	atomic_t		unreachable;
	struct socket		*silent[HOSTILE_SILENT_MAX];
	int			nr_silent;
} flood;

static DECLARE_WAIT_QUEUE_HEAD(flood_wait);

/* Who has waited in vain until his device gave up has no answer */
static int flood_answered(void)
{
	return atomic_read(&flood.unsent) + atomic_read(&flood.rejected) +
	       atomic_read(&flood.accepted);
}

/* iWARP does without no queue pair */
static int flood_open_qp(struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr	= 1,
			.max_recv_wr	= 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.send_cq	= flood.cq,
		.recv_cq	= flood.cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};

	return hostile_is_iwarp(id) ? rdma_create_qp(id, flood.pd, &attr) : 0;
}

static int flood_ask(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= 6,
		.rnr_retry_count	= 7,
		.qp_num			= hostile_conn_no_qp(),
	};
	int ret;

	ret = flood_open_qp(id);
	return ret ?: rdma_connect_locked(id, &param);
}

static int flood_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, HOSTILE_PATIENCE_MS))
			atomic_inc(&flood.unsent);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (flood_ask(id))
			atomic_inc(&flood.unsent);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		atomic_inc(&flood.unsent);
		break;
	case RDMA_CM_EVENT_REJECTED:
		atomic_inc(&flood.rejected);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		atomic_inc(&flood.accepted);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		atomic_inc(&flood.unreachable);
		break;
	default:
		break;
	}
	wake_up(&flood_wait);
	return 0;
}

static int flood_open_queues(struct ib_device *ibdev)
{
	flood.pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(flood.pd))
		return PTR_ERR(flood.pd);
	flood.cq = ib_alloc_cq(ibdev, NULL, 16, 0, IB_POLL_WORKQUEUE);
	return PTR_ERR_OR_ZERO(flood.cq);
}

/*
 * More at a time would overrun the queue in which the other side's connection manager
 * receives, and then the flood is one of retransmissions.
 */
static int flood_one(struct sockaddr_storage *to, int want)
{
	struct sockaddr_storage any = { .ss_family = to->ss_family };
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, flood_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	flood.id[flood.nr_ids++] = id;
	ret = rdma_resolve_addr(id, (struct sockaddr *)&any,
				(struct sockaddr *)to, HOSTILE_PATIENCE_MS);
	if (ret)
		return ret;
	return wait_event_timeout(flood_wait, flood.nr_ids - flood_answered() <
				  want + HOSTILE_FLOOD_WINDOW,
				  msecs_to_jiffies(HOSTILE_FLOOD_MS)) ?
	       0 : -ETIMEDOUT;
}

/* The device is known from a connection that is not made */
static int flood_begin(int offset)
{
	struct hostile_conn *conn;
	int ret;

	flood.id = kvcalloc(HOSTILE_FLOOD_MAX, sizeof(*flood.id), GFP_KERNEL);
	if (!flood.id)
		return -ENOMEM;
	conn = hostile_conn();
	ret = conn ? hostile_conn_resolve(conn, offset) : -ENOMEM;
	if (!ret)
		ret = flood_open_queues(conn->id->device);
	hostile_conn_close(conn);
	if (ret)
		hostile_flood_end();
	return ret;
}

int hostile_flood(const struct hostile_args *args)
{
	int offset = hostile_number(args, 1, 0);
	int count = hostile_number(args, 2, 1000);
	int want = hostile_number(args, 3, 0);
	struct sockaddr_storage to;
	ktime_t start = ktime_get();
	int ret = 0;

	if (count < 1 || count > HOSTILE_FLOOD_MAX)
		return -EINVAL;
	if (!flood.id)
		ret = flood_begin(offset);
	if (!ret)
		ret = hostile_conn_sockaddr(&to, offset);
	while (!ret && flood.nr_ids < count)
		ret = flood_one(&to, want);
	if (ret)
		return ret;
	if (!wait_event_timeout(flood_wait, flood_answered() >= count - want,
				msecs_to_jiffies(HOSTILE_FLOOD_MS)))
		ret = -ETIMEDOUT;
	hostile_say("requests %d", count);
	hostile_say("unsent %d", atomic_read(&flood.unsent));
	hostile_say("rejected %d", atomic_read(&flood.rejected));
	hostile_say("accepted %d", atomic_read(&flood.accepted));
	hostile_say("unreachable %d", atomic_read(&flood.unreachable));
	hostile_say("unanswered %d", count - flood_answered());
	hostile_say("ms %lld", ktime_ms_delta(ktime_get(), start));
	return ret;
}

static void flood_close_silent(void)
{
	while (flood.nr_silent)
		sock_release(flood.silent[--flood.nr_silent]);
}

void hostile_flood_end(void)
{
	int i;

	for (i = 0; i < flood.nr_ids; i++) {
		if (flood.id[i]->qp)
			rdma_destroy_qp(flood.id[i]);
		rdma_destroy_id(flood.id[i]);
	}
	kvfree(flood.id);
	if (!IS_ERR_OR_NULL(flood.cq))
		ib_free_cq(flood.cq);
	if (!IS_ERR_OR_NULL(flood.pd))
		ib_dealloc_pd(flood.pd);
	flood_close_silent();
	memset(&flood, 0, sizeof(flood));
}

int hostile_flood_leave(const struct hostile_args *args)
{
	ktime_t start = ktime_get();

	hostile_flood_end();
	hostile_say("ms %lld", ktime_ms_delta(ktime_get(), start));
	return 0;
}

static int flood_silent_one(struct sockaddr_storage *to, int junk)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct socket *sock;
	struct kvec vec;
	u8 bytes[64];
	int ret;

	ret = sock_create_kern(&init_net, to->ss_family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (ret)
		return ret;
	flood.silent[flood.nr_silent++] = sock;
	/* void *: the type of a socket address differs between kernels */
	ret = kernel_connect(sock, (void *)to, sizeof(*to), 0);
	if (ret || !junk)
		return ret;
	memset(bytes, 0xdb, sizeof(bytes));
	vec = (struct kvec) { .iov_base = bytes, .iov_len = junk };
	ret = kernel_sendmsg(sock, &msg, &vec, 1, junk);
	return ret < 0 ? ret : 0;
}

int hostile_silent(const struct hostile_args *args)
{
	int count = hostile_number(args, 2, 1);
	int junk = hostile_number(args, 3, 0);
	struct sockaddr_storage to;
	int i, ret;

	if (count > HOSTILE_SILENT_MAX - flood.nr_silent || junk > 64)
		return -EINVAL;
	ret = hostile_conn_sockaddr(&to, hostile_number(args, 1, 0));
	for (i = 0; i < count && !ret; i++)
		ret = flood_silent_one(&to, junk);
	hostile_say("silent %d", i);
	return ret;
}
