/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fake HCA: an RDMA device that does what a test tells it to.
 *
 * fakehca_create() brings up a device and fakehca_destroy() takes it away.  In
 * between it behaves as a device should, except for what the knobs below ask
 * for.  Only one device at a time owns the address FAKEHCA_ADDR, so create no
 * second one.
 *
 * All calls may sleep unless they say otherwise.
 */
#ifndef _KUNIT_FAKEHCA_H
#define _KUNIT_FAKEHCA_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct device;
struct fakehca;
struct ib_cq;
struct ib_device;
struct ib_qp;
struct sockaddr_storage;

/* The address of the device's port; nothing else has it */
#define FAKEHCA_ADDR		"10.78.0.1"

/* Upper limits of what struct fakehca_attr may ask for */
#define FAKEHCA_MAX_SGE		16
#define FAKEHCA_MAX_INLINE	1024

/**
 * enum fakehca_atomics - What the device makes of atomics
 * @FAKEHCA_NO_ATOMICS: it says that it has none
 * @FAKEHCA_ATOMICS: it has fetch and add, and compare and swap
 * @FAKEHCA_ATOMICS_NOT_POSTED: it says so, but refuses each, -EOPNOTSUPP
 * @FAKEHCA_ATOMICS_NOT_REGISTERED: it says so, but refuses to register memory for
 *	them, -EINVAL
 */
enum fakehca_atomics {
	FAKEHCA_NO_ATOMICS,
	FAKEHCA_ATOMICS,
	FAKEHCA_ATOMICS_NOT_POSTED,
	FAKEHCA_ATOMICS_NOT_REGISTERED,
};

/**
 * enum fakehca_point - Where the device may fail
 * @FAKEHCA_ALLOC_PD: ib_alloc_pd()
 * @FAKEHCA_GET_DMA_MR: the second half of ib_alloc_pd()
 * @FAKEHCA_CREATE_CQ: ib_alloc_cq()
 * @FAKEHCA_REQ_NOTIFY_CQ: arming of a CQ; ib_core ignores what it answers
 * @FAKEHCA_CREATE_QP: ib_create_qp()
 * @FAKEHCA_MODIFY_QP: ib_modify_qp()
 * @FAKEHCA_POST_SEND: a work request; bad_wr points to it
 * @FAKEHCA_POST_RECV: a work request; bad_wr points to it
 * @FAKEHCA_CREATE_SRQ: ib_create_srq()
 * @FAKEHCA_MODIFY_SRQ: ib_modify_srq()
 * @FAKEHCA_POST_SRQ_RECV: a work request; bad_wr points to it
 * @FAKEHCA_ALLOC_MR: ib_alloc_mr()
 * @FAKEHCA_DEREG_MR: ib_dereg_mr(), also of the second half of ib_alloc_pd()
 * @FAKEHCA_MAP_MR_SG: ib_map_mr_sg()
 * @FAKEHCA_REG_USER_MR: registration for user space, which always fails
 * @FAKEHCA_QUERY_PORT: ib_query_port()
 * @FAKEHCA_LISTEN: the connection manager's listen
 * @FAKEHCA_CONNECT: the connection manager's connect
 * @FAKEHCA_ACCEPT: the connection manager's accept
 * @FAKEHCA_REPLY: what the connection manager reports to the end whose request was refused
 * @FAKEHCA_SEND_WC: a send completes with the given enum ib_wc_status
 * @FAKEHCA_RECV_WC: a receive completes with the given enum ib_wc_status
 * @FAKEHCA_POINTS: how many there are
 */
enum fakehca_point {
	FAKEHCA_ALLOC_PD,
	FAKEHCA_GET_DMA_MR,
	FAKEHCA_CREATE_CQ,
	FAKEHCA_REQ_NOTIFY_CQ,
	FAKEHCA_CREATE_QP,
	FAKEHCA_MODIFY_QP,
	FAKEHCA_POST_SEND,
	FAKEHCA_POST_RECV,
	FAKEHCA_CREATE_SRQ,
	FAKEHCA_MODIFY_SRQ,
	FAKEHCA_POST_SRQ_RECV,
	FAKEHCA_ALLOC_MR,
	FAKEHCA_DEREG_MR,
	FAKEHCA_MAP_MR_SG,
	FAKEHCA_REG_USER_MR,
	FAKEHCA_QUERY_PORT,
	FAKEHCA_LISTEN,
	FAKEHCA_CONNECT,
	FAKEHCA_ACCEPT,
	FAKEHCA_REPLY,
	FAKEHCA_SEND_WC,
	FAKEHCA_RECV_WC,
	FAKEHCA_POINTS,
};

/**
 * struct fakehca_attr - What the device says of itself; 0 is a default
 * @roce: the port is RoCE and takes immediate data; false: iWARP, none.
 *	Connections are made by the iWARP connection manager in both cases, so
 *	what is particular to InfiniBand's cannot be shown.
 * @max_send_sge: SGEs of a send (4)
 * @max_recv_sge: SGEs of a receive (4)
 * @max_inline: bytes of inline data (0: none)
 * @max_qp_wr: work requests of a queue (1024)
 * @max_cqe: entries of a completion queue (8192)
 * @max_msg_size: bytes of a message (1 MiB)
 * @fast_reg_pages: pages of a fast registration (16)
 * @sg_gaps: registrations may have gaps
 * @no_reg: there are neither registrations of lists nor invalidation by the peer
 * @atomics: what it makes of atomics (none)
 * @fail: where it fails once, -EIO, while its users get to know it
 * @fail_nth: at which call; 0: it does not
 * @drains: the driver drains queue pairs itself
 * @no_srq: there are no shared receive queues
 * @max_srq_wr: work requests of a shared receive queue (1024)
 * @max_srq_sge: SGEs of its receives (4)
 * @cq_dim: it asks for dynamic moderation of interrupts
 * @dma_device: the device that DMA is mapped for, such as a PCI device that nothing else uses;
 *	it stays until the fake HCA is destroyed (a platform device of the fake HCA's own)
 */
struct fakehca_attr {
	bool	roce;
	u32	max_send_sge;
	u32	max_recv_sge;
	u32	max_inline;
	u32	max_qp_wr;
	u32	max_cqe;
	u32	max_msg_size;
	u32	fast_reg_pages;
	bool	sg_gaps;
	bool	no_reg;
	enum fakehca_atomics atomics;
	enum fakehca_point fail;
	unsigned int fail_nth;
	bool	drains;
	bool	no_srq;
	u32	max_srq_wr;
	u32	max_srq_sge;
	bool	cq_dim;
	struct device *dma_device;
};

/**
 * struct fakehca_stats - What the device has seen
 * @maps: DMA mappings made for the device
 * @unmaps: DMA mappings undone
 * @mapped: mappings that exist
 * @mapped_dir: those by their direction
 * @bad_unmaps: unmaps of what was not mapped so: address, length or direction
 * @syncs: single mappings handed over to the device
 * @cpu_syncs: single mappings handed over to the processor
 * @faults: accesses of the device to memory not mapped for it in that direction
 * @pds: protection domains that exist
 * @cqs: completion queues that exist
 * @qps: queue pairs that exist
 * @srqs: shared receive queues that exist
 * @mrs: memory regions that exist, without those of protection domains
 * @conns: connections, and requests for one, that exist
 * @listens: listeners that exist
 * @overruns: completions lost because a queue was full
 * @doorbells: calls that posted to a send queue
 * @fences: work requests with IB_SEND_FENCE
 * @unsaid: work requests to send a page or more without a completion
 * @drains: calls of the driver's drain functions
 * @moderations: calls that moderated a completion queue
 * @moderate_comps: completions per interrupt, of the last of these
 * @moderate_usec: microseconds before an interrupt, of that
 */
struct fakehca_stats {
	unsigned int	maps;
	unsigned int	unmaps;
	unsigned int	mapped;
	unsigned int	mapped_dir[DMA_NONE];
	unsigned int	bad_unmaps;
	unsigned int	syncs;
	unsigned int	cpu_syncs;
	unsigned int	faults;
	unsigned int	pds;
	unsigned int	cqs;
	unsigned int	qps;
	unsigned int	srqs;
	unsigned int	mrs;
	unsigned int	conns;
	unsigned int	listens;
	unsigned int	overruns;
	unsigned int	doorbells;
	unsigned int	fences;
	unsigned int	unsaid;
	unsigned int	drains;
	unsigned int	moderations;
	unsigned int	moderate_comps;
	unsigned int	moderate_usec;
};

/**
 * fakehca_create() - Bring up a device
 * @attr: what it is like; NULL: all defaults
 *
 * Return: the device, the caller's to destroy; or ERR_PTR(-ENOMEM),
 * ERR_PTR(-EINVAL): more than the upper limits; or an error of ib_core.
 */
struct fakehca *fakehca_create(const struct fakehca_attr *attr);

/**
 * fakehca_destroy() - Remove a device if it is there, and free it
 * @hca: the device
 *
 * As any removal it waits for the device's users.
 */
void fakehca_destroy(struct fakehca *hca);

/**
 * fakehca_remove_begin() - Begin to remove a device, as hot unplug does
 * @hca: the device; fakehca_destroy() is still to be called
 */
void fakehca_remove_begin(struct fakehca *hca);

/**
 * fakehca_remove_wait() - Wait until the removal is over
 * @hca: a device that is being removed
 * @timeout_ms: how long to wait
 *
 * Return: true if it is over.
 */
bool fakehca_remove_wait(struct fakehca *hca, unsigned int timeout_ms);

/**
 * fakehca_ibdev() - The ib_device
 * @hca: a device that has not been removed
 *
 * Context: any.
 * Return: the device as ib_core knows it.
 */
struct ib_device *fakehca_ibdev(struct fakehca *hca);

/**
 * fakehca_name() - Name of the ib_device, also after removal
 * @hca: the device
 *
 * Context: any.
 * Return: the name, as long as the device is not destroyed.
 */
const char *fakehca_name(const struct fakehca *hca);

/**
 * fakehca_fail() - Let the device fail once
 * @hca: the device
 * @point: where
 * @nth: at the nth call from now on; 0: never
 * @value: negative errno; for FAKEHCA_*_WC an enum ib_wc_status
 *
 * Of a chain of work requests each one counts as a call.
 *
 * Context: any.
 */
void fakehca_fail(struct fakehca *hca, enum fakehca_point point, unsigned int nth, int value);

/**
 * fakehca_fail_again() - Let the device fail several times
 * @hca: the device
 * @point: as fakehca_fail()
 * @nth: as fakehca_fail(); not 0
 * @value: as fakehca_fail()
 * @times: how many calls fail, from the nth on
 *
 * Context: any.
 */
void fakehca_fail_again(struct fakehca *hca, enum fakehca_point point,
			unsigned int nth, int value, unsigned int times);

/**
 * fakehca_calls() - How often a point has been passed, failures included
 * @hca: the device
 * @point: which
 *
 * Context: any.
 * Return: how often, since the device was created.
 */
unsigned int fakehca_calls(struct fakehca *hca, enum fakehca_point point);

/**
 * fakehca_hold() - Execute no work request until fakehca_release()
 * @hca: the device
 *
 * Queue pairs in the error state flush nevertheless.  On return nothing is
 * being executed.
 */
void fakehca_hold(struct fakehca *hca);

/**
 * fakehca_release() - Go on after fakehca_hold()
 * @hca: the device
 *
 * Context: any.
 */
void fakehca_release(struct fakehca *hca);

/**
 * fakehca_on_connect() - Be asked when the next connection is requested
 * @hca: the device
 * @fn: called once with the address that it goes to, before its listener hears
 *	of it; may sleep and connect to it, too
 * @context: for @fn
 */
void fakehca_on_connect(struct fakehca *hca,
			void (*fn)(void *context, const struct sockaddr_storage *to),
			void *context);

/**
 * fakehca_lose_request() - Lose the next connection request
 * @hca: the device
 *
 * No listener gets it, and the end that has sent it gets no answer: until its queue pair enters the
 * error state it waits.
 *
 * Context: any.
 */
void fakehca_lose_request(struct fakehca *hca);

/**
 * fakehca_on_query_port() - Be called when this task asks for the port next
 * @hca: the device
 * @fn: called once, by the task that has made this call, before it gets the
 *	attributes of the port; may sleep
 * @context: for @fn
 */
void fakehca_on_query_port(struct fakehca *hca, void (*fn)(void *context), void *context);

/**
 * fakehca_on_map_mr() - Be called when memory is registered next
 * @hca: the device
 * @fn: called once, by ib_map_mr_sg(); may sleep if the caller of that may
 * @context: for @fn
 */
void fakehca_on_map_mr(struct fakehca *hca, void (*fn)(void *context), void *context);

/**
 * fakehca_on_listen() - Be called when a listener is made next
 * @hca: the device
 * @fn: called once, by the task that listens, in locks of rdma_cm; may sleep
 * @context: for @fn
 */
void fakehca_on_listen(struct fakehca *hca, void (*fn)(void *context), void *context);

/**
 * fakehca_fail_over() - The port's interface gets another hardware address, and back
 *
 * As a bond does it when it fails over: each rdma_cm_id that is bound to the port will
 * have RDMA_CM_EVENT_ADDR_CHANGE, in the order in which they were bound.
 */
void fakehca_fail_over(void);

/**
 * fakehca_flush_late() - Flush as late as a device may
 * @hca: the device
 *
 * A queue that comes to the error state from now on flushes only when one more
 * work request has been posted to it, for which it has to have room.
 *
 * Context: any.
 */
void fakehca_flush_late(struct fakehca *hca);

/**
 * fakehca_flush_twice() - Flush reads as siw does
 * @hca: the device
 *
 * Each read that is flushed from now on has two completions.  siw does so with the one
 * that it was about to begin.
 *
 * Context: any.
 */
void fakehca_flush_twice(struct fakehca *hca);

/**
 * fakehca_event_without_completion() - Raise an event of the youngest completion queue
 * @hca: the device, with a completion queue
 *
 * Context: any.
 */
void fakehca_event_without_completion(struct fakehca *hca);

/**
 * fakehca_idle() - Wait until the device has nothing left that it could do
 * @hca: the device
 */
void fakehca_idle(struct fakehca *hca);

/**
 * fakehca_last_qp() - Number of the queue pair created last
 * @hca: the device
 *
 * Context: any.
 * Return: the number; of no meaning before the first.
 */
u32 fakehca_last_qp(struct fakehca *hca);

/**
 * fakehca_qp_fatal() - A queue pair fails: error state, IB_EVENT_QP_FATAL
 * @hca: the device
 * @qpn: number of the queue pair
 *
 * If its connection is being requested, that goes on: it ends when the consumer sets
 * the error state, or by an answer.
 *
 * Context: any.
 * Return: 0; -ENOENT: no such queue pair.
 */
int fakehca_qp_fatal(struct fakehca *hca, u32 qpn);

/**
 * fakehca_qp_access_err() - A queue pair reports that it refuses what its peer asks for
 * @hca: the device
 * @qpn: number of the queue pair
 *
 * IB_EVENT_QP_ACCESS_ERR, and nothing else: rxe, too, reports it before the queue pair has
 * answered the peer and enters the error state.
 *
 * Context: any.
 * Return: 0; -ENOENT: no such queue pair.
 */
int fakehca_qp_access_err(struct fakehca *hca, u32 qpn);

/**
 * fakehca_cq_error() - The CQ of a queue pair's sends reports an error
 * @hca: the device
 * @qpn: number of the queue pair
 *
 * IB_EVENT_CQ_ERR for who listens to it (ib_core's own CQs have nobody), then
 * all queue pairs on that CQ fail as in fakehca_qp_fatal().  The CQ goes on to
 * take completions, because ib_drain_qp() would wait for ever otherwise.
 *
 * Return: 0; -ENOENT: no such queue pair.
 */
int fakehca_cq_error(struct fakehca *hca, u32 qpn);

/**
 * fakehca_srq_error() - All shared receive queues fail: IB_EVENT_SRQ_ERR
 * @hca: the device
 *
 * The queues go on to work, and must not be destroyed meanwhile.
 *
 * Context: any.
 */
void fakehca_srq_error(struct fakehca *hca);

/**
 * fakehca_last_wqe() - Do queue pairs report when they take no more?
 * @hca: the device
 * @on: whether they do, as at first; false: no IB_EVENT_QP_LAST_WQE_REACHED from now
 *	on, as with siw
 *
 * Context: any.
 */
void fakehca_last_wqe(struct fakehca *hca, bool on);

/**
 * fakehca_port() - Let the port go down or up, with its event
 * @hca: the device
 * @up: which
 */
void fakehca_port(struct fakehca *hca, bool up);

/**
 * fakehca_join() - Connect two queue pairs without a connection manager
 * @a: a queue pair of a fake HCA
 * @b: another one of the same device
 *
 * Context: any.
 * Return: 0; -EISCONN: one of them is connected; -EINVAL: in the error state.
 */
int fakehca_join(struct ib_qp *a, struct ib_qp *b);

/**
 * fakehca_quick() - Note what is posted, and execute nothing
 * @hca: the device
 * @on: from now on; false: no longer, and nothing noted may be left
 *
 * A mode for counting instructions: the device then costs a few, and of posted
 * work requests only wr_cqe, opcode and flags are looked at.  The queues are one
 * thread's, which posts no more than fits.  Queue pairs are created, connected and
 * destroyed while it is off.
 */
void fakehca_quick(struct fakehca *hca, bool on);

/**
 * fakehca_quick_end() - What a queue pair has noted succeeds
 * @qp: the queue pair
 *
 * Nobody is told.  Each receive is filled with 64 bytes.
 *
 * Context: any.
 */
void fakehca_quick_end(struct ib_qp *qp);

/**
 * fakehca_quick_tell() - Tell the user of a completion queue, if it is armed
 * @cq: the queue
 *
 * Context: any.
 */
void fakehca_quick_tell(struct ib_cq *cq);

/**
 * fakehca_qp() - A queue pair by its number
 * @hca: the device
 * @qpn: number, as of fakehca_last_qp()
 *
 * Context: any.
 * Return: the queue pair, good as long as its owner keeps it; NULL: there is none.
 */
struct ib_qp *fakehca_qp(struct fakehca *hca, u32 qpn);

/**
 * fakehca_get_stats() - What the device has seen so far
 * @hca: the device, also after removal
 * @stats: filled
 *
 * Context: any.
 */
void fakehca_get_stats(struct fakehca *hca, struct fakehca_stats *stats);

#endif /* _KUNIT_FAKEHCA_H */
