/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An NVMe over Fabrics host on kOFI: declarations that its files share.
 *
 *	main.c	the transport: options, the list of controllers
 *	ctrl.c	a controller: set-up, reset, recovery, reconnect, end
 *	queue.c	a queue: endpoint, connection, regions, drain
 *	io.c	a request: command capsule, data, response
 *
 * nvme-core and nvme-fabrics do all that does not depend on the fabric.  Their headers are
 * not installed; scripts/build/nvme-headers fetches those of the running kernel.  The module
 * is GPL-2.0, as nvme-core and nvme-fabrics are.
 */
#ifndef _KNVME_H
#define _KNVME_H

#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/llist.h>
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

/* Pages of one request, if the device registers so many: for 1 MiB, as in nvme-rdma */
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

/* This transport's part of a block request */
struct knvme_request {
	struct nvme_request	req;		/* nvme-core's part; first */
	struct knvme_queue	*queue;
	unsigned long		flags;		/* enum knvme_request_flags */
	refcount_t		ref;		/* send and response */
	__le16			status;		/* of the response */
	union nvme_result	result;
	struct fi_done		sent;		/* completion of the send */
	struct fi_done		ended;		/* of fi_mr_disable() */
	struct sg_table		table;		/* lent to the region */
	struct nvme_command	cmd;
	struct scatterlist	inline_sg[NVME_INLINE_SG_CNT];
};

/* A receive; knvme_response() posts it again after each response */
struct knvme_response {
	struct fi_done		done;
	struct llist_node	refused;	/* in refused of the queue */
	struct knvme_queue	*queue;
	struct nvme_completion	cqe;		/* what the target sends */
};

/* Bits of knvme_queue.flags */
enum knvme_queue_flags {
	KNVME_Q_OPEN,		/* has an endpoint */
	KNVME_Q_LIVE,		/* takes requests */
	KNVME_Q_EVENT,		/* an asynchronous event may come */
	KNVME_Q_EVENT_DUE,	/* the event's command was refused and is to be sent */
	KNVME_Q_TX_READY,	/* knvme_ready() has been called for transmits */
	KNVME_Q_RX_READY,	/* knvme_ready() has been called for receives */
};

/* A queue of the controller: one connection */
struct knvme_queue {
	struct knvme_ctrl	*ctrl;
	unsigned long		flags;		/* enum knvme_queue_flags */
	unsigned int		depth;		/* commands in flight, at most */
	size_t			capsule_len;	/* bytes of a command capsule */
	unsigned int		capsule_vecs;	/* its elements of data */
	/* Protects @drained, and each of @regions from being closed twice */
	struct mutex		lock;
	bool			started;	/* a response may name a request */
	bool			drained;	/* nothing is in flight, nor will be */
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fid_mr		**regions;	/* by tag; NULL: closed */
	struct knvme_response	*responses;
	struct llist_head	refused;	/* responses that are to be posted */
	struct completion	connected;	/* the connection attempt has ended */
	int			conn_error;	/* of the attempt: 0 or a negative code */
};

/* A controller */
struct knvme_ctrl {
	struct nvme_ctrl	ctrl;		/* nvme-core's part */
	struct fi_info		*info;		/* how to reach the target */
	struct fid_fabric	*fabric;	/* see knvme_port_open() */
	struct fid_domain	*domain;	/* see knvme_port_open() */
	struct blk_mq_tag_set	admin_tag_set;
	struct blk_mq_tag_set	tag_set;	/* of the I/O queues */
	struct work_struct	err_work;	/* error recovery */
	struct delayed_work	reconnect_work;	/* the next attempt */
	struct nvme_command	aen;		/* asynchronous event: has no request */
	struct fi_done		aen_sent;
	struct list_head	node;		/* in knvme_ctrls */
	u32			io_queues[HCTX_MAX_TYPES];
	unsigned int		max_pages;	/* of one request */
	bool			capsule_data;	/* the target takes data in capsules */
	bool			failed;		/* an error since the set-up began */
	struct knvme_queue	queues[];	/* the admin queue first */
};

static inline struct knvme_ctrl *to_knvme_ctrl(struct nvme_ctrl *ctrl)
{
	return container_of(ctrl, struct knvme_ctrl, ctrl);
}

static inline int knvme_queue_index(const struct knvme_queue *queue)
{
	return queue - queue->ctrl->queues;
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
void knvme_ready(struct fid_ep *ep, u64 flags);
void knvme_submit_async_event(struct nvme_ctrl *ctrl);

#endif /* _KNVME_H */
