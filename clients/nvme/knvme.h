/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An NVMe over Fabrics host on kOFI: what its files share.
 *
 *	main.c	the transport: options, the list of controllers
 *	ctrl.c	a controller: set-up, reset, recovery, reconnect, end
 *	queue.c	a queue: endpoint, connection, regions, drain
 *	io.c	a request: command capsule, data, response
 *
 * nvme-core and nvme-fabrics do what is not about a fabric.  Their headers are not
 * installed; scripts/nvme-headers fetches those of the running kernel.  The module is
 * GPL-2.0, as they are.
 */
#ifndef _KNVME_H
#define _KNVME_H

#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "nvme.h"
#include "fabrics.h"

/* Pages of one request, if the device registers so many: 1 MiB, as nvme-rdma has */
#define KNVME_MAX_PAGES		257

/* Elements of data behind a command in its capsule */
#define KNVME_MAX_CAPSULE_VECS	4

struct knvme_ctrl;
struct knvme_queue;

/* Bits of knvme_request.flags */
enum knvme_request_flags {
	KNVME_R_WAITS,		/* for a response */
	KNVME_R_TABLE,		/* has a scatterlist */
	KNVME_R_MAPPED,		/* its region has the memory of the data */
};

/**
 * struct knvme_request - What a block request carries for this transport
 * @req: what nvme-core keeps; first
 * @queue: where it is sent
 * @flags: &enum knvme_request_flags
 * @ref: send and response; the request ends with the last one
 * @status: of the response
 * @result: of the response
 * @sent: completion of the send
 * @ended: completion of fi_mr_disable()
 * @table: the data, lent to the region while the key is good
 * @cmd: the command
 * @inline_sg: first entries of @table
 */
struct knvme_request {
	struct nvme_request	req;
	struct knvme_queue	*queue;
	unsigned long		flags;
	refcount_t		ref;
	__le16			status;
	union nvme_result	result;
	struct fi_done		sent;
	struct fi_done		ended;
	struct sg_table		table;
	struct nvme_command	cmd;
	struct scatterlist	inline_sg[NVME_INLINE_SG_CNT];
};

/**
 * struct knvme_response - A receive, which is posted again and again
 * @done: its completion
 * @queue: where it is posted
 * @cqe: what the target sends
 */
struct knvme_response {
	struct fi_done		done;
	struct knvme_queue	*queue;
	struct nvme_completion	cqe;
};

/* Bits of knvme_queue.flags */
enum knvme_queue_flags {
	KNVME_Q_OPEN,		/* has an endpoint */
	KNVME_Q_LIVE,		/* takes requests */
};

/**
 * struct knvme_queue - A queue of the controller: one connection
 * @ctrl: whose it is
 * @flags: &enum knvme_queue_flags
 * @depth: commands in flight, at most
 * @capsule_len: bytes of a command capsule
 * @capsule_vecs: elements of data that a capsule may have
 * @lock: protects @drained, and the regions from being closed twice
 * @started: a response may name a request
 * @drained: nothing is in flight, and nothing can be posted any more
 * @eq: events of the connection
 * @cq: completions
 * @ep: the endpoint
 * @regions: @depth of them, by the tag of the request that uses it; NULL: closed
 * @responses: @depth of them
 * @connected: the attempt to connect has ended
 * @conn_error: how; 0 or a negative error code
 */
struct knvme_queue {
	struct knvme_ctrl	*ctrl;
	unsigned long		flags;
	unsigned int		depth;
	size_t			capsule_len;
	unsigned int		capsule_vecs;
	struct mutex		lock;
	bool			started;
	bool			drained;
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fid_mr		**regions;
	struct knvme_response	*responses;
	struct completion	connected;
	int			conn_error;
};

/**
 * struct knvme_ctrl - A controller
 * @ctrl: nvme-core's part
 * @info: how to reach the target
 * @fabric: as long as the admin queue
 * @domain: as long as the admin queue
 * @queues: the admin queue and the I/O queues
 * @admin_tag_set: tags of the admin queue
 * @tag_set: tags of the I/O queues
 * @err_work: error recovery
 * @reconnect_work: the next attempt
 * @aen: the asynchronous event command, which has no request
 * @aen_sent: its completion
 * @node: of knvme_ctrls
 * @io_queues: I/O queues of each kind
 * @max_pages: pages of one request
 * @capsule_data: the target takes data in capsules
 */
struct knvme_ctrl {
	struct nvme_ctrl	ctrl;
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct knvme_queue	*queues;
	struct blk_mq_tag_set	admin_tag_set;
	struct blk_mq_tag_set	tag_set;
	struct work_struct	err_work;
	struct delayed_work	reconnect_work;
	struct nvme_command	aen;
	struct fi_done		aen_sent;
	struct list_head	node;
	u32			io_queues[HCTX_MAX_TYPES];
	unsigned int		max_pages;
	bool			capsule_data;
};

static inline struct knvme_ctrl *to_knvme_ctrl(struct nvme_ctrl *ctrl)
{
	return container_of(ctrl, struct knvme_ctrl, ctrl);
}

static inline int knvme_queue_index(const struct knvme_queue *queue)
{
	return queue - queue->ctrl->queues;
}

static inline bool knvme_queue_polls(const struct knvme_queue *queue)
{
	const u32 *count = queue->ctrl->io_queues;

	return knvme_queue_index(queue) >
	       count[HCTX_TYPE_DEFAULT] + count[HCTX_TYPE_READ];
}

/* ctrl.c */
extern const struct nvme_ctrl_ops knvme_ctrl_ops;
void knvme_ctrl_init(struct knvme_ctrl *ctrl);
int knvme_ctrl_setup(struct knvme_ctrl *ctrl, bool new);
void knvme_ctrl_recover(struct knvme_ctrl *ctrl);

/* main.c */
void knvme_ctrl_forget(struct knvme_ctrl *ctrl);

/* queue.c */
int knvme_port_open(struct knvme_ctrl *ctrl);
void knvme_port_close(struct knvme_ctrl *ctrl);
int knvme_queue_open(struct knvme_queue *queue, unsigned int depth);
int knvme_queue_start(struct knvme_queue *queue);
void knvme_queue_stop(struct knvme_queue *queue);
int knvme_queue_give_up(struct knvme_queue *queue, unsigned int tag);
void knvme_queue_close(struct knvme_queue *queue);

/* io.c */
extern const struct blk_mq_ops knvme_admin_mq_ops;
extern const struct blk_mq_ops knvme_mq_ops;
int knvme_post_response(struct knvme_response *response);
void knvme_submit_async_event(struct nvme_ctrl *ctrl);

#endif /* _KNVME_H */
