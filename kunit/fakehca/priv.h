/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_fakehca.ko share.
 *
 *	fakehca.c	life of a device, attributes, failures on demand, events
 *	fakehca_net.c	the network interface under the port
 *	fakehca_dma.c	which memory is mapped for the device
 *	fakehca_mr.c	protection domains and memory regions
 *	fakehca_cq.c	completion queues
 *	fakehca_qp.c	queue pairs, posting
 *	fakehca_srq.c	shared receive queues
 *	fakehca_engine.c execution of work requests
 *	fakehca_cm.c	the iWARP connection manager's calls
 *
 * Locks, outer before inner: struct fakehca.lock, struct fakehca_cq.lock, the
 * lock of the table of mappings.  All are taken with interrupts off.  No lock is
 * held when the connection manager or an event handler is called; a CQ's
 * completion handler is called with the first two held and interrupts off, which
 * ib_core has to bear from other drivers too.
 */
#ifndef _KUNIT_FAKEHCA_PRIV_H
#define _KUNIT_FAKEHCA_PRIV_H

#include <linux/completion.h>
#include <linux/dma-direction.h>
#include <linux/platform_device.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <kofi/compat.h>
#include "fakehca.h"

#define FAKEHCA_PORT	1

/**
 * struct fakehca_dma - The memory mapped for a device
 * @entry: in the list of all devices
 * @dev: the device
 * @maps: struct fakehca_map
 * @stats: the part of the statistics about memory
 */
struct fakehca_dma {
	struct list_head	entry;
	struct device		*dev;
	struct list_head	maps;
	struct fakehca_stats	stats;
};

/* Counts calls of a point; fails when @countdown comes to 0, and @again times */
struct fakehca_failure {
	unsigned int	countdown;
	unsigned int	again;
	unsigned int	calls;
	int		value;
};

/**
 * struct fakehca - A device, its knobs and what outlives its removal
 * @attr: what it says of itself, without zeros
 * @name: of the ib_device
 * @pdev: what DMA is mapped for, unless @attr names another device
 * @dev: the ib_device and a pointer back; NULL before and after
 * @lock: guards all that follows but the objects' own fields
 * @points: failures
 * @stats: objects
 * @dma: mapped memory
 * @held: no work request is executed
 * @flush_late: queues flush when one more work request is posted
 * @flush_twice: reads that are flushed are completed twice
 * @no_last_wqe: no IB_EVENT_QP_LAST_WQE_REACHED is sent
 * @quick: work requests are noted and not executed, see fakehca_quick.c
 * @port_up: state of the port
 * @youngest_cq: the completion queue that was made last, unless it has gone
 * @next_qpn: number of the next queue pair
 * @qps: struct fakehca_qp
 * @srqs: struct fakehca_srq
 * @qpns: the same by number
 * @mrs: struct fakehca_mr by key >> 8
 * @listens: struct fakehca_listen
 * @conns: struct fakehca_conn
 * @on_connect: whom to ask when the next connection is requested
 * @on_connect_context: for that
 * @lose_request: the next connection request gets lost
 * @on_query_port: whom to call when @querier asks for the port next
 * @on_query_port_context: for that
 * @querier: the task, of use for comparing only
 * @on_map_mr: called by the next ib_map_mr_sg()
 * @on_map_mr_context: for that
 * @on_listen: called by the next listen
 * @on_listen_context: for that
 * @buf: the engine's, for the longest message; a device does not allocate
 * @wq: runs the engine and tells the connection manager
 * @engine: executes
 * @remove: removes
 * @removed: done with that
 * @removing: @remove has been scheduled
 */
struct fakehca {
	struct fakehca_attr	attr;
	char			name[IB_DEVICE_NAME_MAX];
	struct platform_device	*pdev;
	struct fakehca_dev	*dev;
	spinlock_t		lock;		/* see above */
	struct fakehca_failure	points[FAKEHCA_POINTS];
	struct fakehca_stats	stats;
	struct fakehca_dma	dma;
	bool			held;
	bool			flush_late;
	bool			flush_twice;
	bool			no_last_wqe;
	bool			quick;
	bool			port_up;
	struct fakehca_cq	*youngest_cq;
	u32			next_qpn;
	struct list_head	qps;
	struct list_head	srqs;
	struct xarray		qpns;
	struct xarray		mrs;
	struct list_head	listens;
	struct list_head	conns;
	void			(*on_connect)(void *context, const struct sockaddr_storage *to);
	void			*on_connect_context;
	bool			lose_request;
	void			(*on_query_port)(void *context);
	void			*on_query_port_context;
	const struct task_struct *querier;
	void			(*on_map_mr)(void *context);
	void			*on_map_mr_context;
	void			(*on_listen)(void *context);
	void			*on_listen_context;
	void			*buf;
	struct workqueue_struct	*wq;
	struct work_struct	engine;
	struct work_struct	remove;
	struct completion	removed;
	bool			removing;
};

struct fakehca_dev {
	struct ib_device	ibdev;
	struct fakehca		*hca;
};

struct fakehca_pd {
	struct ib_pd		ibpd;
};

/**
 * struct fakehca_mr - A memory region
 * @ibmr: the core's part
 * @hca: the device
 * @whole: all of memory, by DMA address
 * @gaps: @segs are of any length, not pages
 * @valid: registered
 * @key: the key it was registered with
 * @access: IB_ACCESS_*
 * @iova: where it begins
 * @length: bytes
 * @page_size: bytes of each of @segs
 * @max: entries there may be
 * @count: entries there are
 * @segs: DMA addresses and lengths
 */
struct fakehca_mr {
	struct ib_mr		ibmr;
	struct fakehca		*hca;
	bool			whole;
	bool			gaps;
	bool			valid;
	u32			key;
	int			access;
	u64			iova;
	u64			length;
	u32			page_size;
	u32			max;
	u32			count;
	struct fakehca_seg {
		u64	addr;
		u64	len;
	} *segs;
};

struct fakehca_cq {
	struct ib_cq		ibcq;
	struct fakehca		*hca;
	spinlock_t		lock;		/* of what follows */
	struct ib_wc		*wc;
	u32			size;
	u32			head;
	u32			tail;
	bool			armed;
};

/**
 * struct fakehca_wqe - A posted work request
 * @cqe: the poster's
 * @opcode: of sends
 * @flags: IB_SEND_*
 * @imm: immediate data
 * @inv: key to invalidate
 * @remote: address at the peer
 * @rkey: key at the peer
 * @key: key to register
 * @access: of the registration
 * @compare_add: what an atomic compares with or adds
 * @swap: what it puts in
 * @num_sge: entries of @sge
 * @sge: the buffers
 * @inline_len: bytes of @data
 * @data: inline data
 */
struct fakehca_wqe {
	struct ib_cqe		*cqe;
	enum ib_wr_opcode	opcode;
	int			flags;
	__be32			imm;
	u32			inv;
	u64			remote;
	u32			rkey;
	u32			key;
	int			access;
	u64			compare_add;
	u64			swap;
	int			num_sge;
	struct ib_sge		sge[FAKEHCA_MAX_SGE];
	u32			inline_len;
	u8			*data;
};

/* Posted at @head, executed at @tail; both count on.  @late: no flush yet */
struct fakehca_ring {
	struct fakehca_wqe	*wqe;
	u32			size;
	u32			max_sge;
	u32			head;
	u32			tail;
	bool			late;
};

/* @limit: IB_EVENT_SRQ_LIMIT_REACHED is due when fewer are left; 0: it is not */
struct fakehca_srq {
	struct ib_srq		ibsrq;
	struct fakehca		*hca;
	struct list_head	entry;
	struct fakehca_ring	ring;
	u32			limit;
};

/*
 * @rx: where receives come from, @rq or the ring of an SRQ.  @last_told:
 * IB_EVENT_QP_LAST_WQE_REACHED has been sent.
 */
struct fakehca_qp {
	struct ib_qp		ibqp;
	struct fakehca		*hca;
	struct list_head	entry;
	refcount_t		ref;
	struct completion	released;
	enum ib_qp_state	state;
	struct fakehca_qp	*peer;
	struct fakehca_conn	*conn;
	struct fakehca_ring	sq;
	struct fakehca_ring	rq;
	struct fakehca_ring	*rx;
	bool			last_told;
	u8			*inline_data;
	u32			max_inline;
	bool			signal_all;
};

extern struct net_device *fakehca_netdev;

/* fakehca.c */
int fakehca_should_fail(struct fakehca *hca, enum fakehca_point point);
void fakehca_count(struct fakehca *hca, unsigned int *counter, int by);
void fakehca_tell_qp(struct fakehca_qp *qp, enum ib_event_type type);

/* fakehca_net.c */
int fakehca_net_init(void);
void fakehca_net_exit(void);

/* fakehca_dma.c */
int fakehca_dma_init(void);
void fakehca_dma_exit(void);
void fakehca_dma_add(struct fakehca_dma *dma, struct device *dev);
void fakehca_dma_del(struct fakehca_dma *dma);
void fakehca_dma_stats(struct fakehca_dma *dma, struct fakehca_stats *stats);
bool fakehca_dma_read(struct fakehca_dma *dma, u64 addr, void *to, size_t len);
bool fakehca_dma_write(struct fakehca_dma *dma, u64 addr, const void *from, size_t len);

/* fakehca_mr.c */
int fakehca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int fakehca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *fakehca_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *fakehca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				  KOFI_IB_DMAH_PARAM struct ib_udata *udata);
struct ib_mr *fakehca_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg);
int fakehca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		      unsigned int *sg_offset);
int fakehca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
bool fakehca_mr_register(struct fakehca_qp *qp, const struct fakehca_wqe *wqe);
bool fakehca_mr_invalidate(struct fakehca_qp *qp, u32 key, bool remote);
bool fakehca_mr_access(struct fakehca_qp *qp, u32 key, u64 addr, void *buf,
		       size_t len, int access, bool write);

/* fakehca_cq.c */
int fakehca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      KOFI_IB_CQ_UDATA *udata);
int fakehca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int fakehca_modify_cq(struct ib_cq *ibcq, u16 comps, u16 usec);
int fakehca_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int fakehca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void fakehca_cq_push(struct ib_cq *ibcq, const struct ib_wc *wc);

/* fakehca_drain.c */
void fakehca_drain_sq(struct ib_qp *ibqp);
void fakehca_drain_rq(struct ib_qp *ibqp);

/* fakehca_qp.c */
int fakehca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int fakehca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata);
int fakehca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init_attr);
int fakehca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int fakehca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad_wr);
int fakehca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);
struct ib_qp *fakehca_get_qp(struct ib_device *ibdev, int qpn);
void fakehca_qp_add_ref(struct ib_qp *ibqp);
void fakehca_qp_rem_ref(struct ib_qp *ibqp);
void fakehca_qp_link(struct fakehca_qp *a, struct fakehca_qp *b);
void fakehca_qp_error(struct fakehca_qp *qp);
void fakehca_qp_fail(struct fakehca_qp *qp);

/* fakehca_srq.c */
int fakehca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int fakehca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		       enum ib_srq_attr_mask mask, struct ib_udata *udata);
int fakehca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int fakehca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr);
bool fakehca_srq_is_low(struct fakehca_srq *srq);
void fakehca_tell_srq(struct fakehca_srq *srq, enum ib_event_type type);

/* fakehca_qp.c, too */
int fakehca_ring_init(struct fakehca_ring *ring, u32 size, u32 max_sge);
int fakehca_ring_post_recv(struct fakehca_ring *ring, const struct ib_recv_wr *wr);

/* fakehca_quick.c */
int fakehca_quick_post_send(struct fakehca_qp *qp, const struct ib_send_wr *wr);
int fakehca_quick_post_recv(struct fakehca_qp *qp, const struct ib_recv_wr *wr);

/* fakehca_engine.c */
enum ib_wc_opcode fakehca_wc_opcode(enum ib_wr_opcode opcode);
void fakehca_engine(struct work_struct *work);

/* fakehca_cm.c */
int fakehca_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int fakehca_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int fakehca_cm_reject(struct iw_cm_id *id, const void *data, u8 len);
int fakehca_cm_create_listen(struct iw_cm_id *id, int backlog);
int fakehca_cm_destroy_listen(struct iw_cm_id *id);
bool fakehca_cm_requested(const struct fakehca_conn *conn);
void fakehca_cm_broken(struct fakehca_conn *conn);
void fakehca_cm_cleanup(struct fakehca *hca);

static inline struct fakehca *to_fakehca(struct ib_device *ibdev)
{
	return container_of(ibdev, struct fakehca_dev, ibdev)->hca;
}

static inline struct fakehca_mr *to_fakehca_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct fakehca_mr, ibmr);
}

static inline struct fakehca_cq *to_fakehca_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct fakehca_cq, ibcq);
}

static inline struct fakehca_qp *to_fakehca_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct fakehca_qp, ibqp);
}

static inline struct fakehca_srq *to_fakehca_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct fakehca_srq, ibsrq);
}

static inline bool fakehca_ring_empty(const struct fakehca_ring *ring)
{
	return ring->head == ring->tail;
}

static inline struct fakehca_wqe *
fakehca_ring_first(const struct fakehca_ring *ring)
{
	return &ring->wqe[ring->tail % ring->size];
}

static inline bool fakehca_is_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       opcode == IB_WR_ATOMIC_CMP_AND_SWP;
}

#endif /* _KUNIT_FAKEHCA_PRIV_H */
