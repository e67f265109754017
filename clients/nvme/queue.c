// SPDX-License-Identifier: GPL-2.0
/*
 * Queues: an endpoint each, with a completion queue and an event queue of its own.
 *
 * A queue is opened (connected, with its regions and receives), started (the connect
 * command of NVMe over Fabrics, which travels as a request), stopped and closed.
 *
 * Stopping a queue calls fi_ep_drain(): when it returns, no callback of the queue runs or
 * will run, and each post returns -ESHUTDOWN.  A region whose key the target knows still has
 * the memory of its request then.  Only fi_close() gives that memory back, so the regions are
 * closed before nvme-core may end the requests.  No request is posted meanwhile: the callers
 * have quiesced the block queues.
 *
 * knvme_timeout() ends a request that times out while its controller is not live, after
 * knvme_queue_give_up().  Other requests of the queue may be on their way into queue_rq()
 * then, so knvme_queue_give_up() closes only the request's own region, which no other request
 * uses.
 *
 * Each queue has an event queue of its own: the handler gets the queue as context, and
 * fi_close() of the event queue returns when no handler runs.
 */
#include <linux/inet.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include "knvme.h"

/* A connection attempt fails if the target does not answer within this time */
#define KNVME_CONNECT_MS	3000

/*
 * Hints for NVMe/RDMA: messages, and a peer that reads and writes memory.  Each request gets
 * a key of its own, and a response may end that key.
 */
static int knvme_hint(struct fi_info *hints,
		      const struct nvmf_ctrl_options *opts)
{
	struct sockaddr_storage addr = {};
	bool v4;
	int ret;

	hints->caps = FI_MSG | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	hints->fabric_attr->net = &init_net;
	if (opts->mask & NVMF_OPT_TOS && opts->tos >= 0)
		hints->tx_attr->tclass = fi_tc_dscp_set(opts->tos >> 2);
	/* The address to connect from, if the user gives one */
	if (!(opts->mask & NVMF_OPT_HOST_TRADDR))
		return 0;
	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, opts->host_traddr, NULL,
				   &addr);
	if (ret)
		return ret;
	v4 = addr.ss_family == AF_INET;
	hints->addr_format = v4 ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
	hints->src_addrlen = v4 ? sizeof(struct sockaddr_in) :
				  sizeof(struct sockaddr_in6);
	hints->src_addr = kmemdup(&addr, hints->src_addrlen, GFP_KERNEL);
	return hints->src_addr ? 0 : -ENOMEM;
}

/* The target speaks the wire protocol of an RDMA transport; any provider of that protocol fits */
static bool knvme_wire_fits(const struct fi_info *info)
{
	return info->ep_attr->protocol == FI_PROTO_RDMA_CM_IB_RC ||
	       info->ep_attr->protocol == FI_PROTO_IWARP;
}

static int knvme_find(struct knvme_ctrl *ctrl)
{
	const struct nvmf_ctrl_options *opts = ctrl->ctrl.opts;
	struct fi_info *hints, *found = NULL, *info;
	u16 port;
	int ret;

	ret = kstrtou16(opts->trsvcid, 10, &port);
	if (ret)
		return ret;
	hints = fi_allocinfo();
	if (!hints)
		return -ENOMEM;
	ret = knvme_hint(hints, opts);
	if (!ret)
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), opts->traddr,
				 port, 0, hints, &found);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	for (info = found; info && !knvme_wire_fits(info); info = info->next)
		;
	if (info)
		ctrl->info = fi_dupinfo(info);
	fi_freeinfo(found);
	if (!info)
		return -ENODATA;
	return ctrl->info ? 0 : -ENOMEM;
}

/*
 * Open the fabric and the domain that lead to the target, unless they are open; they stay open
 * until an attempt to connect fails.
 */
int knvme_port_open(struct knvme_ctrl *ctrl)
{
	const struct fi_domain_attr *attr;
	int ret;

	if (ctrl->domain)
		return 0;
	ret = knvme_find(ctrl);
	if (ret == -ENODATA)
		dev_err(ctrl->ctrl.device,
			"no RDMA device reaches %s; the trace event kofi_getinfo says why\n",
			ctrl->ctrl.opts->traddr);
	if (ret)
		return ret == -ENODATA ? -EADDRNOTAVAIL : ret;
	attr = ctrl->info->domain_attr;
	ctrl->max_pages = min_t(size_t, KNVME_MAX_PAGES, attr->mr_iov_limit);
	if (ctrl->max_pages < 2) {
		ret = -EOPNOTSUPP;
		goto close;
	}
	ctrl->ctrl.numa_node = attr->numa_node;
	ret = fi_fabric(ctrl->info->fabric_attr, &ctrl->fabric, NULL);
	if (!ret)
		ret = fi_domain(ctrl->fabric, ctrl->info, &ctrl->domain, NULL);
	if (!ret)
		return 0;
close:
	knvme_port_close(ctrl);
	return ret;
}

void knvme_port_close(struct knvme_ctrl *ctrl)
{
	if (ctrl->domain)
		fi_close(&ctrl->domain->fid);
	if (ctrl->fabric)
		fi_close(&ctrl->fabric->fid);
	fi_freeinfo(ctrl->info);
	ctrl->domain = NULL;
	ctrl->fabric = NULL;
	ctrl->info = NULL;
}

static void knvme_conn_ended(struct knvme_queue *queue, int error)
{
	queue->conn_error = error;
	complete(&queue->connected);
}

/* The attempt, or the connection, has failed; the data of a refusal holds the reason */
static void knvme_conn_failed(struct knvme_queue *queue)
{
	struct device *dev = queue->ctrl->ctrl.device;
	const struct nvme_rdma_cm_rej *rej;
	struct fi_eq_err_entry error = {};

	if (fi_eq_readerr(queue->eq, &error, 0) < 0)
		return;
	rej = error.err_data;
	if (rej && error.err_data_size >= sizeof(*rej)) {
		u16 status = le16_to_cpu(rej->sts);

		dev_err(dev, "queue %d: connection refused: NVMe status %u (%s)\n",
			knvme_queue_index(queue), status,
			nvme_rdma_cm_msg(status));
	} else {
		dev_info(dev, "queue %d: connection failed: %s\n",
			 knvme_queue_index(queue), fi_strerror(error.err));
	}
	knvme_conn_ended(queue, -error.err);
	knvme_ctrl_recover(queue->ctrl);
}

static void knvme_conn_events(struct fid_eq *eq, void *context)
{
	struct {
		struct fi_eq_cm_entry	entry;
		u8			data[sizeof(struct nvme_rdma_cm_rep)];
	} event;
	struct knvme_queue *queue = context;
	ssize_t ret;
	u32 kind;

	for (;;) {
		ret = fi_eq_read(eq, &kind, &event, sizeof(event), 0);
		if (ret == -FI_EAVAIL) {
			knvme_conn_failed(queue);
			continue;
		}
		if (ret < 0)
			return;
		if (kind == FI_CONNECTED)
			knvme_conn_ended(queue, 0);
		else if (kind == FI_SHUTDOWN)
			knvme_ctrl_recover(queue->ctrl);
	}
}

static int knvme_open_queues(struct knvme_queue *queue)
{
	int index = knvme_queue_index(queue);
	const u32 *count = queue->ctrl->io_queues;
	bool polls = index > count[HCTX_TYPE_DEFAULT] + count[HCTX_TYPE_READ];
	struct fi_eq_attr eq_attr = {
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= knvme_conn_events,
	};
	struct fi_cq_attr cq_attr = {
		.size		= 4 * queue->depth + 1,
		.flags		= FI_AFFINITY,
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= polls ? FI_COMP_DIRECT : FI_COMP_SOFTIRQ,
		.signaling_vector = index ? index - 1 : 0,
	};
	int ret;

	ret = fi_eq_open(queue->ctrl->fabric, &eq_attr, &queue->eq, queue);
	if (ret)
		return ret;
	return fi_cq_open(queue->ctrl->domain, &cq_attr, &queue->cq, NULL);
}

/* Room to transmit registration, send and end of key of each command, and the event's send */
static int knvme_open_ep(struct knvme_queue *queue)
{
	static const struct fi_ep_callbacks callbacks = { .ready = knvme_ready };
	struct fi_info *info = fi_dupinfo(queue->ctrl->info);
	size_t timeout = KNVME_CONNECT_MS;
	int ret, raw = 1;

	if (!info)
		return -ENOMEM;
	info->tx_attr->size = 3 * queue->depth + 1;
	info->rx_attr->size = queue->depth;
	queue->capsule_vecs = min_t(size_t, KNVME_MAX_CAPSULE_VECS,
				    info->tx_attr->iov_limit - 1);
	ret = fi_endpoint(queue->ctrl->domain, info, &queue->ep, queue);
	fi_freeinfo(info);
	if (ret)
		return ret;
	ret = fi_setopt(&queue->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW,
			&raw, sizeof(raw));
	if (!ret)
		ret = fi_setopt(&queue->ep->fid, FI_OPT_ENDPOINT,
				FI_OPT_CONNECT_TIMEOUT, &timeout,
				sizeof(timeout));
	if (!ret)
		ret = fi_setopt(&queue->ep->fid, FI_OPT_ENDPOINT,
				FI_OPT_CALLBACKS, &callbacks, sizeof(callbacks));
	if (!ret)
		ret = fi_ep_bind(queue->ep, &queue->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(queue->ep, &queue->cq->fid,
				 FI_TRANSMIT | FI_RECV);
	return ret ?: fi_enable(queue->ep);
}

/* A region and a receive for each command; receives are posted before the target can send */
static int knvme_open_slots(struct knvme_queue *queue)
{
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_SGL,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.page_limit	= queue->ctrl->max_pages,
	};
	int i, ret = 0;

	queue->regions = kvcalloc(queue->depth, sizeof(*queue->regions),
				  GFP_KERNEL);
	queue->responses = kvcalloc(queue->depth, sizeof(*queue->responses),
				    GFP_KERNEL);
	if (!queue->regions || !queue->responses)
		return -ENOMEM;
	for (i = 0; i < queue->depth && !ret; i++) {
		ret = fi_mr_regattr(queue->ctrl->domain, &attr,
				    FI_MR_ENDPOINT | FI_MR_LEND,
				    &queue->regions[i]);
		if (!ret)
			ret = fi_mr_bind(queue->regions[i], &queue->ep->fid, 0);
		queue->responses[i].queue = queue;
		if (!ret)
			ret = knvme_post_response(&queue->responses[i]);
	}
	return ret;
}

/* The connection of NVMe/RDMA, 7.2 of the transport's specification */
static int knvme_connect(struct knvme_queue *queue)
{
	struct knvme_ctrl *ctrl = queue->ctrl;
	int index = knvme_queue_index(queue);
	struct nvme_rdma_cm_req req = {
		.recfmt		= cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.qid		= cpu_to_le16(index),
		.hrqsize	= cpu_to_le16(queue->depth),
		.hsqsize	= cpu_to_le16(queue->depth - 1),
		.cntlid		= index ? cpu_to_le16(ctrl->ctrl.cntlid) : 0,
	};
	int ret;

	queue->conn_error = -ETIMEDOUT;
	ret = fi_connect(queue->ep, NULL, &req, sizeof(req));
	if (ret)
		return ret;
	/* FI_OPT_CONNECT_TIMEOUT guarantees that an event comes */
	wait_for_completion(&queue->connected);
	return queue->conn_error;
}

static void knvme_close_region(struct knvme_queue *queue, unsigned int tag)
{
	lockdep_assert_held(&queue->lock);
	if (!queue->regions || !queue->regions[tag])
		return;
	fi_close(&queue->regions[tag]->fid);
	queue->regions[tag] = NULL;
}

static void knvme_queue_free(struct knvme_queue *queue)
{
	unsigned int i;

	scoped_guard(mutex, &queue->lock) {
		for (i = 0; i < queue->depth; i++)
			knvme_close_region(queue, i);
	}
	if (queue->ep)
		fi_close(&queue->ep->fid);
	if (queue->cq)
		fi_close(&queue->cq->fid);
	if (queue->eq)
		fi_close(&queue->eq->fid);
	kvfree(queue->regions);
	kvfree(queue->responses);
	mutex_destroy(&queue->lock);
}

/* Connects a queue that is not open, for @depth commands in flight */
int knvme_queue_open(struct knvme_queue *queue, unsigned int depth)
{
	struct knvme_ctrl *ctrl = queue->ctrl;
	int ret;

	*queue = (struct knvme_queue) { .ctrl = ctrl, .depth = depth };
	queue->capsule_len = knvme_queue_index(queue) ? ctrl->ctrl.ioccsz * 16 :
			     sizeof(struct nvme_command);
	mutex_init(&queue->lock);
	init_completion(&queue->connected);
	ret = knvme_open_queues(queue);
	if (!ret)
		ret = knvme_open_ep(queue);
	if (!ret)
		ret = knvme_open_slots(queue);
	if (!ret)
		ret = knvme_connect(queue);
	if (ret) {
		knvme_queue_free(queue);
		return ret;
	}
	set_bit(KNVME_Q_OPEN, &queue->flags);
	return 0;
}

/*
 * Sends the connect command of an open queue.  Returns 0, a negative error code, or a
 * positive status of NVMe.
 */
int knvme_queue_start(struct knvme_queue *queue)
{
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;
	int index = knvme_queue_index(queue);
	int ret;

	/* Publishes the tags of the queue; pairs with knvme_take_response() */
	smp_store_release(&queue->started, true);
	ret = index ? nvmf_connect_io_queue(ctrl, index) :
		      nvmf_connect_admin_queue(ctrl);
	if (!ret) {
		set_bit(KNVME_Q_LIVE, &queue->flags);
		return 0;
	}
	dev_info(ctrl->device, "queue %d: connect command failed: %d\n", index,
		 ret);
	knvme_queue_stop(queue);
	return ret;
}

/* If fi_ep_drain() fails, the device has gone and ends posted operations in its own time */
static int knvme_drain(struct knvme_queue *queue)
{
	int ret;

	lockdep_assert_held(&queue->lock);
	clear_bit(KNVME_Q_LIVE, &queue->flags);
	if (queue->drained)
		return 0;
	ret = fi_ep_drain(queue->ep, -1);
	queue->drained = !ret;
	return ret;
}

/*
 * Ends all operations and gives all memory back, so that the requests may be ended.  The
 * caller has stopped posts to the queue.  The queue need not be open.
 */
void knvme_queue_stop(struct knvme_queue *queue)
{
	unsigned int i;

	if (!test_bit(KNVME_Q_OPEN, &queue->flags))
		return;
	guard(mutex)(&queue->lock);
	knvme_drain(queue);
	for (i = 0; i < queue->depth; i++)
		knvme_close_region(queue, i);
	if (queue->drained)
		return;
	/* fi_close() waits until the device is done with everything */
	fi_close(&queue->ep->fid);
	queue->ep = NULL;
	queue->drained = true;
}

/*
 * Drains the queue and closes the region of one request, which the caller may end if this
 * succeeds.  After an error the device may still use the request's memory.
 */
int knvme_queue_give_up(struct knvme_queue *queue, unsigned int tag)
{
	int ret;

	guard(mutex)(&queue->lock);
	ret = knvme_drain(queue);
	if (!ret)
		knvme_close_region(queue, tag);
	return ret;
}

/* Closes a queue that has been stopped, or not been started; it need not be open */
void knvme_queue_close(struct knvme_queue *queue)
{
	if (test_and_clear_bit(KNVME_Q_OPEN, &queue->flags))
		knvme_queue_free(queue);
}
