/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event queues (control events), completion queues (data transfers) and
 * counters.  Names and values: libfabric 2.6, fi_eq.h.
 *
 * A completion queue serves one of these kinds of client, chosen by the wait
 * object at fi_cq_open():
 *
 *	FI_WAIT_NONE		the caller polls with fi_cq_read(); no interrupt
 *	FI_WAIT_UNSPEC		the caller sleeps in fi_cq_sread()
 *	FI_WAIT_CALLBACK	a handler runs when the queue is not empty
 *	FI_WAIT_DONE		each operation has a callback of its own
 *
 * The handler of FI_WAIT_CALLBACK runs in softirq or workqueue context, never
 * twice at the same time for one queue.  It is called when the first entry
 * arrives after a read found the queue empty (and for the very first entry), so the
 * handler, or the thread that it wakes, reads until -EAGAIN.  An event queue knows the
 * first three kinds; its handler runs in process context.
 *
 * With FI_WAIT_DONE the context of every operation is NULL or points to a struct
 * fi_done, which the client embeds in its own request; its function is called
 * with the completion, and there is nothing to read.  By then the operation's queue
 * slot is free.  The completion of an operation without a context goes to the endpoint's
 * default callback (&struct fi_ep_callbacks).
 *
 * All calls that one queue makes run in the context that the client asked for
 * (fi_cq_attr.comp_ctx), whether an operation succeeds, fails, is flushed or ends with
 * its device; and no two of them run at the same time.
 */
#ifndef _RDMA_FI_EQ_H
#define _RDMA_FI_EQ_H

#include <rdma/fabric.h>

enum fi_wait_obj {
	FI_WAIT_NONE,
	FI_WAIT_UNSPEC,		/* kernel: a wait queue */
	FI_WAIT_SET,		/* kernel: not supported, nor are those up to FI_WAIT_POLLFD */
	FI_WAIT_FD,
	FI_WAIT_MUTEX_COND,
	FI_WAIT_YIELD,
	FI_WAIT_POLLFD,
	FI_WAIT_CALLBACK = 0x100, /* kernel: a handler */
	FI_WAIT_DONE = 0x101,	/* kernel: a callback per operation */
};

/**
 * enum fi_comp_ctx - kernel: where a completion queue calls its client
 * @FI_COMP_SOFTIRQ: softirq; lowest latency, must not sleep
 * @FI_COMP_WORKQUEUE: a kernel worker; may sleep
 * @FI_COMP_DIRECT: only in fi_cq_read(), with FI_WAIT_DONE: for poll queues, as those of
 *	block devices.  Callbacks that fi_ep_drain() or fi_close() of an endpoint waits
 *	for run there or in a worker, because no reader may come any more.  A queue with
 *	FI_WAIT_NONE is always direct.
 */
enum fi_comp_ctx {
	FI_COMP_SOFTIRQ,
	FI_COMP_WORKQUEUE,
	FI_COMP_DIRECT,
};

/**
 * struct fi_eq_attr - An event queue
 * @size: connection requests that may wait to be read, 0 for a default; more
 *	are rejected: ECONNREFUSED for the peer.  Events of open endpoints always have room.
 * @flags: FI_WRITE: fi_eq_write() will be used
 * @wait_obj: FI_WAIT_NONE, FI_WAIT_UNSPEC or FI_WAIT_CALLBACK
 * @signaling_vector: ignored
 * @handler: kernel: for FI_WAIT_CALLBACK; fi_close() of the queue returns -EDEADLK from
 *	the handler
 */
struct fi_eq_attr {
	size_t			size;
	u64			flags;
	enum fi_wait_obj	wait_obj;
	int			signaling_vector;
	void			(*handler)(struct fid_eq *eq, void *context);
};

enum {
	FI_NOTIFY,
	FI_CONNREQ,
	FI_CONNECTED,
	FI_SHUTDOWN,
	FI_MR_COMPLETE,
	FI_AV_COMPLETE,
	FI_JOIN_COMPLETE,
	/* kernel: few receives are left, see FI_OPT_SRX_LIMIT; an fi_eq_entry */
	FI_SRX_LIMIT = 0x1000,
};

struct fi_eq_entry {
	fid_t			fid;
	void			*context;
	u64			data;
};

/**
 * struct fi_eq_err_entry - An event that failed
 * @fid: endpoint or passive endpoint that it concerns
 * @context: its context
 * @data: event specific
 * @err: positive error code
 * @prov_errno: the provider's own code, for fi_eq_strerror(); @err where it has none
 * @err_data: in: a buffer, or NULL; out: data of the error (those of a
 *	rejected connection).  Without a buffer it points into the queue and is
 *	good until the queue is read again.
 * @err_data_size: in: bytes of the buffer; out: bytes of data
 */
struct fi_eq_err_entry {
	fid_t			fid;
	void			*context;
	u64			data;
	int			err;
	int			prov_errno;
	void			*err_data;
	size_t			err_data_size;
};

/**
 * struct fi_eq_cm_entry - FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN
 * @fid: passive endpoint (FI_CONNREQ) or endpoint
 * @info: FI_CONNREQ: what to open the endpoint with; the reader frees it with
 *	fi_freeinfo().  NULL if the event was read with FI_PEEK.  A request that is
 *	neither given to fi_endpoint() nor to fi_reject() stays until its passive endpoint
 *	is closed.
 * @data: the peer's connection data, as much as fits
 */
struct fi_eq_cm_entry {
	fid_t			fid;
	struct fi_info		*info;
	u8			data[];
};

struct fi_ops_eq {
	size_t	size;
	ssize_t	(*read)(struct fid_eq *eq, u32 *event, void *buf, size_t len,
			u64 flags);
	ssize_t	(*readerr)(struct fid_eq *eq, struct fi_eq_err_entry *buf,
			   u64 flags);
	ssize_t	(*write)(struct fid_eq *eq, u32 event, const void *buf,
			 size_t len, u64 flags);
	ssize_t	(*sread)(struct fid_eq *eq, u32 *event, void *buf, size_t len,
			 int timeout, u64 flags);
	const char *(*strerror)(struct fid_eq *eq, int prov_errno,
				const void *err_data, char *buf, size_t len);
};

struct fid_eq {
	struct fid			fid;
	const struct fi_ops_eq		*ops;
};

enum fi_cq_format {
	FI_CQ_FORMAT_UNSPEC,
	FI_CQ_FORMAT_CONTEXT,
	FI_CQ_FORMAT_MSG,
	FI_CQ_FORMAT_DATA,
	FI_CQ_FORMAT_TAGGED,
};

struct fi_cq_entry {
	void			*op_context;
};

struct fi_cq_msg_entry {
	void			*op_context;
	u64			flags;
	size_t			len;
};

struct fi_cq_data_entry {
	void			*op_context;
	u64			flags;
	size_t			len;
	void			*buf;
	u64			data;
};

struct fi_cq_tagged_entry {
	void			*op_context;
	u64			flags;
	size_t			len;
	void			*buf;
	u64			data;
	u64			tag;
};

/**
 * struct fi_cq_err_entry - An operation that failed
 * @op_context: context of the operation
 * @flags: what the operation was (FI_MSG | FI_SEND, ...)
 * @len: bytes received before the error
 * @buf: buffer of a receive
 * @data: remote CQ data
 * @tag: tag of a tagged receive
 * @olen: with FI_ETRUNC: bytes of the message that did not fit; 0: unknown
 * @err: positive error code
 * @prov_errno: the provider's own code, for fi_cq_strerror()
 * @err_data: in: a buffer, or NULL: the data are not wanted; out: what the provider
 *	knows of the error beside @prov_errno, cut if need be
 * @err_data_size: in: bytes of the buffer; out: bytes of data in it, at most
 *	fi_domain_attr.max_err_data; 0: there are none
 * @src_addr: the peer of the operation, or FI_ADDR_NOTAVAIL if it is unknown.  For an
 *	operation that sends, reads or writes: the address that its call had.  With
 *	FI_SOURCE_ERR, for a message whose sender is in no address vector, @err is
 *	EADDRNOTAVAIL and @err_data is the sender's address, for fi_av_insert(); the
 *	message itself has arrived
 */
struct fi_cq_err_entry {
	void			*op_context;
	u64			flags;
	size_t			len;
	void			*buf;
	u64			data;
	u64			tag;
	size_t			olen;
	int			err;
	int			prov_errno;
	void			*err_data;
	size_t			err_data_size;
	fi_addr_t		src_addr;
};

/**
 * struct fi_done_msg - kernel: what only some completions have
 * @tag: tag of a tagged message
 * @src_addr: sender, or for an error the peer; FI_ADDR_NOTAVAIL: unknown
 * @olen: bytes of the message that did not fit
 * @err_data: data of the error
 * @err_data_size: bytes of @err_data
 */
struct fi_done_msg {
	u64			tag;
	fi_addr_t		src_addr;
	size_t			olen;
	const void		*err_data;
	size_t			err_data_size;
};

/**
 * struct fi_done_entry - kernel: a completion, with FI_WAIT_DONE
 * @flags: what the operation was (FI_MSG | FI_RECV, ...) and what came with it
 * @len: bytes received
 * @buf: buffer of a receive
 * @data: remote CQ data, or with FI_REMOTE_INV the key
 * @err: positive error code; 0: success
 * @prov_errno: the provider's own code, for fi_cq_strerror()
 * @msg: tag, sender and the like; NULL: the provider reports none of them
 */
struct fi_done_entry {
	u64				flags;
	size_t				len;
	void				*buf;
	u64				data;
	int				err;
	int				prov_errno;
	const struct fi_done_msg	*msg;
};

/**
 * struct fi_done - kernel: what a context points to, with FI_WAIT_DONE
 * @done: called once; @entry is good until @done returns.  @done may post.  fi_close() of
 *	the queue, or of an endpoint bound to it, returns -EDEADLK from @done.  NULL: the
 *	operation completes, and nothing is called.
 */
struct fi_done {
	void	(*done)(struct fi_done *done, const struct fi_done_entry *entry);
};

enum fi_cq_wait_cond {
	FI_CQ_COND_NONE,
	FI_CQ_COND_THRESHOLD,	/* fi_cq_sread()'s cond is a size_t * */
};

/**
 * struct fi_cq_attr - A completion queue
 * @size: operations it must have room for: the sum of the queue depths of all
 *	endpoints that will be bound; 0 for a default
 * @flags: FI_AFFINITY: @signaling_vector is valid
 * @format: layout of the entries; FI_CQ_FORMAT_UNSPEC means CONTEXT
 * @wait_obj: FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_CALLBACK or FI_WAIT_DONE
 * @signaling_vector: kernel: completion vector of the device; if the provider has no
 *	device, the number of the processor on which the queue calls its client
 * @wait_cond: FI_CQ_COND_THRESHOLD: fi_cq_sread() takes a threshold
 * @comp_ctx: kernel: where the queue calls its client
 * @handler: kernel: for FI_WAIT_CALLBACK; fi_close() of the queue, or of an endpoint
 *	bound to it, returns -EDEADLK from the handler
 */
struct fi_cq_attr {
	size_t			size;
	u64			flags;
	enum fi_cq_format	format;
	enum fi_wait_obj	wait_obj;
	int			signaling_vector;
	enum fi_cq_wait_cond	wait_cond;
	enum fi_comp_ctx	comp_ctx;
	void			(*handler)(struct fid_cq *cq, void *context);
};

struct fi_ops_cq {
	size_t	size;
	ssize_t	(*read)(struct fid_cq *cq, void *buf, size_t count);
	ssize_t	(*readfrom)(struct fid_cq *cq, void *buf, size_t count,
			    fi_addr_t *src_addr);
	ssize_t	(*readerr)(struct fid_cq *cq, struct fi_cq_err_entry *buf,
			   u64 flags);
	ssize_t	(*sread)(struct fid_cq *cq, void *buf, size_t count,
			 const void *cond, int timeout);
	ssize_t	(*sreadfrom)(struct fid_cq *cq, void *buf, size_t count,
			     fi_addr_t *src_addr, const void *cond,
			     int timeout);
	int	(*signal)(struct fid_cq *cq);
	const char *(*strerror)(struct fid_cq *cq, int prov_errno,
				const void *err_data, char *buf, size_t len);
};

struct fid_cq {
	struct fid			fid;
	const struct fi_ops_cq		*ops;
};

/**
 * enum fi_cntr_events - What a counter counts
 * @FI_CNTR_EVENTS_COMP: operations that succeed, also those that are not
 *	reported to a completion queue
 * @FI_CNTR_EVENTS_BYTES: bytes of these operations, without remote CQ data
 */
enum fi_cntr_events {
	FI_CNTR_EVENTS_COMP,
	FI_CNTR_EVENTS_BYTES,
};

/**
 * struct fi_cntr_attr - A counter
 * @events: what it counts; failures are counted apart, one for each operation
 * @wait_obj: FI_WAIT_NONE, or FI_WAIT_UNSPEC for fi_cntr_wait()
 * @flags: 0
 */
struct fi_cntr_attr {
	enum fi_cntr_events	events;
	enum fi_wait_obj	wait_obj;
	u64			flags;
};

struct fi_ops_cntr {
	size_t	size;
	u64	(*read)(struct fid_cntr *cntr);
	u64	(*readerr)(struct fid_cntr *cntr);
	int	(*add)(struct fid_cntr *cntr, u64 value);
	int	(*set)(struct fid_cntr *cntr, u64 value);
	int	(*wait)(struct fid_cntr *cntr, u64 threshold, int timeout);
	int	(*adderr)(struct fid_cntr *cntr, u64 value);
	int	(*seterr)(struct fid_cntr *cntr, u64 value);
};

struct fid_cntr {
	struct fid			fid;
	const struct fi_ops_cntr	*ops;
};

/**
 * fi_eq_open() - Open an event queue
 * @fabric: where
 * @attr: what kind, or NULL for a queue with FI_WAIT_UNSPEC
 * @eq: the queue
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: bad argument, or a handler without FI_WAIT_CALLBACK or
 * the reverse; -FI_EBADFLAGS; -ENOSYS: no such kind of wait object; -EBUSY: @fabric is
 * being closed; -ENOMEM.
 */
int fi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
	       struct fid_eq **eq, void *context);

/**
 * fi_eq_read() - Take the next event, if there is one
 * @eq: the queue
 * @event: FI_CONNREQ, FI_CONNECTED, ...
 * @buf: a &struct fi_eq_cm_entry or &struct fi_eq_entry and room for data
 * @len: bytes of @buf
 * @flags: FI_PEEK: leave the event in the queue
 *
 * An FI_CONNREQ that is read with FI_PEEK shows everything but its fi_info: info is NULL,
 * as the fi_info belongs to the read that takes the event.
 *
 * Context: any.
 * Return: bytes written to @buf; -EAGAIN: none there; -FI_EAVAIL: an error is
 * next, read it with fi_eq_readerr(); -FI_ETOOSMALL: @len does not hold the
 * entry (connection data that does not fit is cut); -FI_EBADFLAGS; -EINVAL.
 */
ssize_t fi_eq_read(struct fid_eq *eq, u32 *event, void *buf, size_t len,
		   u64 flags);

/**
 * fi_eq_sread() - Take the next event, wait for one if need be
 * @eq: a queue with FI_WAIT_UNSPEC
 * @event: as fi_eq_read()
 * @buf: as fi_eq_read()
 * @len: as fi_eq_read()
 * @timeout: milliseconds; negative: no limit
 * @flags: as fi_eq_read()
 *
 * Context: may sleep.
 * Return: as fi_eq_read(), -EAGAIN: nothing came in time; -EINTR: a signal.
 */
ssize_t fi_eq_sread(struct fid_eq *eq, u32 *event, void *buf, size_t len,
		    int timeout, u64 flags);

/**
 * fi_eq_readerr() - Take the error at the head of the queue
 * @eq: the queue
 * @buf: where it goes; set err_data and err_data_size before
 * @flags: 0
 *
 * Context: any.
 * Return: sizeof(*@buf); -EAGAIN: the head is not an error; -EINVAL.
 */
ssize_t fi_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf,
		      u64 flags);

/**
 * fi_eq_write() - Put an event of the client's own into the queue
 * @eq: a queue opened with FI_WRITE
 * @event: event number
 * @buf: a &struct fi_eq_entry
 * @len: bytes of @buf
 * @flags: 0
 *
 * Context: may sleep.
 * Return: @len; -EINVAL; -ENOSYS: opened without FI_WRITE; -EAGAIN: as many
 * events as the queue's size wait already; -ENOMEM.
 */
ssize_t fi_eq_write(struct fid_eq *eq, u32 event, const void *buf, size_t len,
		    u64 flags);

/**
 * fi_eq_strerror() - Text of a provider's error code
 * @eq: the queue it came from
 * @prov_errno: fi_eq_err_entry.prov_errno
 * @err_data: fi_eq_err_entry.err_data
 * @buf: gets a copy if not NULL
 * @len: bytes of @buf
 *
 * Context: any.
 * Return: the text, never NULL.
 */
const char *fi_eq_strerror(struct fid_eq *eq, int prov_errno,
			   const void *err_data, char *buf, size_t len);

/**
 * fi_cq_open() - Open a completion queue
 * @domain: where
 * @attr: what kind, or NULL for a queue with FI_WAIT_UNSPEC
 * @cq: the queue
 * @context: the client's pointer, also given to the handler
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: bad argument, larger than the device allows, or a handler
 * without FI_WAIT_CALLBACK or the reverse; -FI_EBADFLAGS; -ENOSYS: no such kind of wait
 * object; -EBUSY: @domain is being closed; -ENOMEM.
 */
int fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
	       struct fid_cq **cq, void *context);

/**
 * fi_cq_read() - Take completions
 * @cq: the queue
 * @buf: array of entries in the queue's format
 * @count: most entries to take; with 0 the call returns -EAGAIN even if there are some
 *
 * An operation's queue slot is free again once its completion has been read.
 *
 * kernel: with FI_WAIT_DONE and FI_COMP_DIRECT, calls the callbacks of at most @count
 * operations that have completed; @buf is not used.  The call also returns -EAGAIN while
 * another task calls them.
 *
 * Context: any.
 * Return: number of entries or callbacks; -EAGAIN: none there; -FI_EAVAIL: an error is next,
 * read it with fi_cq_readerr(); -ENODEV: none there, and none will come, as the
 * device has gone; -EINVAL: the queue has FI_WAIT_DONE and is not direct.
 */
static inline ssize_t fi_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return cq->ops->read(cq, buf, count);
}

/**
 * fi_cq_readfrom() - Take completions and the senders of the messages
 * @cq: the queue
 * @buf: array of entries in the queue's format
 * @count: most entries to take
 * @src_addr: array of @count: the sender of each message, as fi_av_insert() has named
 *	it, or by its id (FI_AV_USER_ID)
 *
 * A sender is known to an endpoint with FI_SOURCE if it is in the endpoint's address
 * vector.  For other senders, and for operations that receive nothing, the address is
 * FI_ADDR_NOTAVAIL.  With FI_SOURCE_ERR a message whose sender is not in the vector is
 * reported as an error entry, see &struct fi_cq_err_entry.
 *
 * Context: any.
 * Return: as fi_cq_read().
 */
static inline ssize_t fi_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
				     fi_addr_t *src_addr)
{
	return cq->ops->readfrom(cq, buf, count, src_addr);
}

/**
 * fi_cq_readerr() - Take the error at the head of the queue
 * @cq: the queue
 * @buf: where it goes; set err_data and err_data_size before
 * @flags: 0
 *
 * Context: any.
 * Return: 1; -EAGAIN: the head is not an error; -ENODEV: as fi_cq_read(); -EINVAL: no @buf;
 * -FI_EBADFLAGS.
 */
static inline ssize_t fi_cq_readerr(struct fid_cq *cq,
				    struct fi_cq_err_entry *buf, u64 flags)
{
	return cq->ops->readerr(cq, buf, flags);
}

/**
 * fi_cq_sread() - Take completions, wait for them if need be
 * @cq: a queue with FI_WAIT_UNSPEC
 * @buf: array of entries in the queue's format
 * @count: most entries to take
 * @cond: with FI_CQ_COND_THRESHOLD: points to a size_t, wait until that many are there
 * @timeout: milliseconds; negative: no limit
 *
 * An error at the head ends the wait whatever the threshold, and so does
 * fi_cq_signal().
 *
 * Context: may sleep.
 * Return: as fi_cq_read(), -EAGAIN: the condition did not come true in time and
 * nothing is there, or fi_cq_signal() was called; -EINTR: a signal; -EINVAL:
 * the queue has no wait object.
 */
static inline ssize_t fi_cq_sread(struct fid_cq *cq, void *buf, size_t count,
				  const void *cond, int timeout)
{
	return cq->ops->sread(cq, buf, count, cond, timeout);
}

/**
 * fi_cq_sreadfrom() - fi_cq_sread() and fi_cq_readfrom() in one
 * @cq: as fi_cq_sread()
 * @buf: as fi_cq_sread()
 * @count: as fi_cq_sread()
 * @src_addr: as fi_cq_readfrom()
 * @cond: as fi_cq_sread()
 * @timeout: as fi_cq_sread()
 *
 * Context: may sleep.
 * Return: as fi_cq_sread().
 */
static inline ssize_t fi_cq_sreadfrom(struct fid_cq *cq, void *buf,
				      size_t count, fi_addr_t *src_addr,
				      const void *cond, int timeout)
{
	return cq->ops->sreadfrom(cq, buf, count, src_addr, cond, timeout);
}

/**
 * fi_cq_signal() - Wake the callers of fi_cq_sread(), or the next caller if none sleeps
 * @cq: the queue
 *
 * Context: any.
 * Return: 0; -EINVAL: the queue has no wait object.
 */
static inline int fi_cq_signal(struct fid_cq *cq)
{
	return cq->ops->signal(cq);
}

/**
 * fi_cq_strerror() - Text of a provider's error code
 * @cq: the queue it came from
 * @prov_errno: fi_cq_err_entry.prov_errno
 * @err_data: fi_cq_err_entry.err_data
 * @buf: gets a copy if not NULL
 * @len: bytes of @buf
 *
 * Context: any.
 * Return: the text, never NULL.
 */
static inline const char *fi_cq_strerror(struct fid_cq *cq, int prov_errno,
					 const void *err_data, char *buf,
					 size_t len)
{
	return cq->ops->strerror(cq, prov_errno, err_data, buf, len);
}

/**
 * fi_cntr_open() - Open a counter
 * @domain: where
 * @attr: what kind
 * @cntr: the counter; both its numbers are 0
 * @context: the client's pointer
 *
 * fi_ep_bind() with FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ or
 * FI_REMOTE_WRITE makes the counter count operations of that kind, as far as the provider
 * can distinguish them.  Several endpoints may share a counter.
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no counters, or not that kind of wait object;
 * -EINVAL: bad argument; -FI_EBADFLAGS; -EBUSY: @domain is being closed; -ENOMEM.
 */
int fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		 struct fid_cntr **cntr, void *context);

/**
 * fi_cntr_read() - How much has succeeded
 * @cntr: the counter
 *
 * When the counter has counted an operation, the completion of the operation, if there is
 * one, is in its queue.
 *
 * Context: any.
 * Return: the number.
 */
static inline u64 fi_cntr_read(struct fid_cntr *cntr)
{
	return cntr->ops->read(cntr);
}

/**
 * fi_cntr_readerr() - How many operations have failed
 * @cntr: the counter
 *
 * Afterwards fi_cntr_wait() sleeps again until another operation fails.
 *
 * Context: any.
 * Return: the number.
 */
static inline u64 fi_cntr_readerr(struct fid_cntr *cntr)
{
	return cntr->ops->readerr(cntr);
}

/**
 * fi_cntr_add() - Count something of the client's own
 * @cntr: the counter
 * @value: how much
 *
 * Context: any.
 * Return: 0.
 */
static inline int fi_cntr_add(struct fid_cntr *cntr, u64 value)
{
	return cntr->ops->add(cntr, value);
}

/**
 * fi_cntr_adderr() - Count failures of the client's own
 * @cntr: the counter
 * @value: how many
 *
 * Context: any.
 * Return: 0.
 */
static inline int fi_cntr_adderr(struct fid_cntr *cntr, u64 value)
{
	return cntr->ops->adderr(cntr, value);
}

/**
 * fi_cntr_set() - Set the number of what has succeeded
 * @cntr: the counter
 * @value: the number
 *
 * Operations that are counted at the same time may be lost.
 *
 * Context: any.
 * Return: 0.
 */
static inline int fi_cntr_set(struct fid_cntr *cntr, u64 value)
{
	return cntr->ops->set(cntr, value);
}

/**
 * fi_cntr_seterr() - Set the number of failures
 * @cntr: the counter
 * @value: the number
 *
 * Operations that fail at the same time may be lost.  fi_cntr_seterr() also has the
 * effect of fi_cntr_readerr().  If it changes the number, it wakes the callers of
 * fi_cntr_wait().
 *
 * Context: any.
 * Return: 0.
 */
static inline int fi_cntr_seterr(struct fid_cntr *cntr, u64 value)
{
	return cntr->ops->seterr(cntr, value);
}

/**
 * fi_cntr_wait() - Sleep until enough has succeeded
 * @cntr: a counter with FI_WAIT_UNSPEC
 * @threshold: how much is enough
 * @timeout: milliseconds; negative: no limit
 *
 * Context: may sleep.
 * Return: 0: the number is @threshold or more; -FI_EAVAIL: it is less, and the
 * number of failures has changed since fi_cntr_readerr() was last called or
 * since this call began; -ETIMEDOUT; -EINTR: a signal; -EINVAL: the counter has
 * no wait object.
 */
static inline int fi_cntr_wait(struct fid_cntr *cntr, u64 threshold,
			       int timeout)
{
	return cntr->ops->wait(cntr, threshold, timeout);
}

#endif /* _RDMA_FI_EQ_H */
