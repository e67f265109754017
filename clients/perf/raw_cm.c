// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The baseline: connections with rdma_cm.
 *
 * The parameters are those of providers/verbs, so that both sides have the same
 * queue pairs: depths, elements, timers, retries.
 */
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "raw_cm.h"

#define RAW_BACKLOG	16
#define RAW_RESOLVE_MS	2000
#define RAW_RETRY	6
#define RAW_RNR_RETRY	7
#define RAW_RNR_TIMER	12
#define RAW_SGES	4

static int raw_end_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct perf_raw_end *end = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		complete(&end->event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		end->err = event->status ? : -ECONNREFUSED;
		complete(&end->event);
		break;
	default:
		break;
	}
	return 0;
}

static int raw_listener_handler(struct rdma_cm_id *id,
				struct rdma_cm_event *event)
{
	struct perf_raw_cm *cm = id->context;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	cm->request = id;
	complete(&cm->arrived);
	return 0;
}

static int raw_wait(struct completion *event)
{
	unsigned long patience = msecs_to_jiffies(PERF_PATIENCE_MS);

	return wait_for_completion_timeout(event, patience) ? 0 : -ETIMEDOUT;
}

static int raw_end_wait(struct perf_raw_end *end)
{
	int ret = raw_wait(&end->event);

	return ret ? : end->err;
}

static int raw_listen(struct perf_raw_cm *cm)
{
	int ret;

	ret = rdma_bind_addr(cm->listener, (struct sockaddr *)&cm->addr);
	if (!ret && !cm->listener->device)
		ret = -ENODEV;
	if (!ret)
		ret = rdma_listen(cm->listener, RAW_BACKLOG);
	if (ret)
		return ret;
	cm->addr = cm->listener->route.addr.src_addr;
	cm->pd = ib_alloc_pd(cm->listener->device, 0);
	if (!IS_ERR(cm->pd))
		return 0;
	ret = PTR_ERR(cm->pd);
	cm->pd = NULL;
	return ret;
}

int perf_raw_cm_open(struct perf_raw_cm *cm, const char *node,
		     struct perf_depth depth, u32 inline_size)
{
	struct net *net = current->nsproxy->net_ns;
	struct rdma_cm_id *id;
	int ret;

	*cm = (struct perf_raw_cm) {
		.depth		= depth,
		.sges		= RAW_SGES,
		.inline_size	= inline_size,
	};
	init_completion(&cm->arrived);
	ret = inet_pton_with_scope(net, AF_INET, node, NULL, &cm->addr);
	if (ret)
		return ret;
	id = rdma_create_id(net, raw_listener_handler, cm, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	cm->listener = id;
	ret = raw_listen(cm);
	if (ret)
		perf_raw_cm_close(cm);
	return ret;
}
EXPORT_SYMBOL_GPL(perf_raw_cm_open);

void perf_raw_cm_close(struct perf_raw_cm *cm)
{
	if (cm->listener)
		rdma_destroy_id(cm->listener);
	if (cm->pd)
		ib_dealloc_pd(cm->pd);
	cm->listener = NULL;
	cm->pd = NULL;
}
EXPORT_SYMBOL_GPL(perf_raw_cm_close);

/* One work request more in each queue, for ib_drain_qp() */
static int raw_create_qp(struct perf_raw_cm *cm, struct perf_raw_end *end,
			 struct ib_cq *cq)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= cq,
		.recv_cq	= cq,
		.cap = {
			.max_send_wr	= cm->depth.tx + 1,
			.max_recv_wr	= cm->depth.rx + 1,
			.max_send_sge	= cm->sges,
			.max_recv_sge	= cm->sges,
			.max_inline_data = cm->inline_size,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int ret;

	ret = rdma_create_qp(end->id, cm->pd, &attr);
	if (ret)
		return ret;
	end->qp = end->id->qp;
	return rdma_set_min_rnr_timer(end->id, RAW_RNR_TIMER);
}

static struct rdma_conn_param raw_conn_param(const struct rdma_cm_id *id)
{
	const struct ib_device_attr *attrs = &id->device->attrs;

	return (struct rdma_conn_param) {
		.responder_resources	= min(attrs->max_qp_rd_atom, U8_MAX),
		.initiator_depth	= min(attrs->max_qp_init_rd_atom,
					      U8_MAX),
		.flow_control		= 1,
		.retry_count		= RAW_RETRY,
		.rnr_retry_count	= RAW_RNR_RETRY,
	};
}

int perf_raw_end_open(struct perf_raw_cm *cm, struct perf_raw_end *end,
		      struct ib_cq *cq)
{
	struct sockaddr_storage src = cm->addr;
	struct rdma_cm_id *id;
	int ret;

	/* Any port */
	((struct sockaddr_in *)&src)->sin_port = 0;
	*end = (struct perf_raw_end) { };
	init_completion(&end->event);
	id = rdma_create_id(current->nsproxy->net_ns, raw_end_handler, end,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	end->id = id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&src);
	if (!ret)
		ret = raw_create_qp(cm, end, cq);
	if (ret)
		perf_raw_end_close(end);
	return ret;
}
EXPORT_SYMBOL_GPL(perf_raw_end_open);

static int raw_end_connect(struct perf_raw_cm *cm, struct perf_raw_end *end)
{
	struct rdma_conn_param param = raw_conn_param(end->id);
	int ret;

	ret = rdma_resolve_addr(end->id, NULL, (struct sockaddr *)&cm->addr,
				RAW_RESOLVE_MS);
	if (!ret)
		ret = raw_end_wait(end);
	if (!ret)
		ret = rdma_resolve_route(end->id, RAW_RESOLVE_MS);
	if (!ret)
		ret = raw_end_wait(end);
	if (!ret)
		ret = rdma_connect(end->id, &param);
	return ret;
}

static int raw_end_accept(struct perf_raw_cm *cm, struct perf_raw_end *end,
			  struct ib_cq *cq)
{
	struct rdma_conn_param param;
	int ret;

	*end = (struct perf_raw_end) { };
	init_completion(&end->event);
	ret = raw_wait(&cm->arrived);
	if (ret)
		return ret;
	end->id = cm->request;
	rdma_lock_handler(end->id);
	end->id->context = end;
	end->id->event_handler = raw_end_handler;
	rdma_unlock_handler(end->id);
	ret = raw_create_qp(cm, end, cq);
	if (ret)
		return ret;
	param = raw_conn_param(end->id);
	rdma_lock_handler(end->id);
	ret = rdma_accept(end->id, &param);
	rdma_unlock_handler(end->id);
	return ret;
}

int perf_raw_connect(struct perf_raw_cm *cm, struct perf_raw_link *link,
		     struct ib_cq *cq_a, struct ib_cq *cq_b)
{
	int ret;

	*link = (struct perf_raw_link) { };
	ret = perf_raw_end_open(cm, &link->a, cq_a);
	if (!ret)
		ret = raw_end_connect(cm, &link->a);
	if (!ret)
		ret = raw_end_accept(cm, &link->b, cq_b);
	if (!ret)
		ret = raw_end_wait(&link->a);
	if (!ret)
		ret = raw_end_wait(&link->b);
	if (ret)
		perf_raw_disconnect(link);
	return ret;
}
EXPORT_SYMBOL_GPL(perf_raw_connect);

/* All posted work requests are flushed before this returns */
void perf_raw_end_close(struct perf_raw_end *end)
{
	if (!end->id)
		return;
	if (end->qp) {
		rdma_disconnect(end->id);
		ib_drain_qp(end->qp);
		rdma_destroy_qp(end->id);
	}
	rdma_destroy_id(end->id);
	end->id = NULL;
	end->qp = NULL;
}
EXPORT_SYMBOL_GPL(perf_raw_end_close);

void perf_raw_disconnect(struct perf_raw_link *link)
{
	perf_raw_end_close(&link->a);
	perf_raw_end_close(&link->b);
}
EXPORT_SYMBOL_GPL(perf_raw_disconnect);
