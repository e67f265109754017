/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints and messages.  Names and values: libfabric 2.6, fi_endpoint.h.
 *
 * Control calls are functions of kofi.ko and check their arguments.  Data
 * transfers go straight through the endpoint's table: one indirect call, no
 * check in between, any context, no wait for memory.
 *
 * Buffers belong to the provider from a call that returned 0 until the
 * operation's completion has been read; those of fi_inject() and fi_injectdata()
 * are free when the call returns.  A kernel address from kmalloc(), a page or vmalloc()
 * will do; only inject calls may take a buffer on the stack.  A list of buffers is free when
 * the call returns, unless the mode of the endpoint has FI_ASYNC_IOV: then it belongs to the
 * provider as long as the buffers do.
 *
 * Every data transfer call returns 0 or
 *
 *	-EAGAIN		the queue is full, or the device busy; read completions and
 *			call again, or wait for the ready callback (&struct
 *			fi_ep_callbacks)
 *	-EINVAL		list too long, or a buffer the device cannot reach
 *	-EMSGSIZE	longer than max_msg_size (or inject_size)
 *	-FI_EBADFLAGS	a flag the call does not know
 *	-FI_EOPBADSTATE	the endpoint is not enabled
 *	-FI_ENOCQ	no completion queue is bound for this direction
 *	-ENOTCONN	a send before the connection stands
 *	-ESHUTDOWN	the connection is over
 *	-ENODEV		the device has gone
 *	-ENOSYS		the endpoint has no such operation
 *	another errno	the device refused the operation (-EIO, ...)
 *
 * In all these cases nothing was posted and no completion will come.
 */
#ifndef _RDMA_FI_ENDPOINT_H
#define _RDMA_FI_ENDPOINT_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

/**
 * struct fi_msg - A message, for fi_sendmsg() and fi_recvmsg()
 * @type: kernel: what the list consists of; 0 is FI_BUF_KVEC
 * @msg_iov: the list, if @type is FI_BUF_KVEC
 * @msg_bvec: the list, if @type is FI_BUF_BVEC
 * @msg_sgl: the list, if @type is FI_BUF_SGL
 * @desc: one fi_mr_desc() per element, or NULL
 * @iov_count: elements of the list
 * @addr: peer, for connectionless endpoints
 * @context: comes back with the completion
 * @data: remote CQ data, with FI_REMOTE_CQ_DATA
 */
struct fi_msg {
	enum fi_buf_type	type;
	union {
		const struct kvec	*msg_iov;
		const struct bio_vec	*msg_bvec;
		struct scatterlist	*msg_sgl;
	};
	void			**desc;
	size_t			iov_count;
	fi_addr_t		addr;
	void			*context;
	u64			data;
};

/* Levels of fi_getopt() and fi_setopt() */
enum {
	FI_OPT_ENDPOINT,
};

/* Options of FI_OPT_ENDPOINT */
enum {
	/*
	 * size_t: a receive with FI_MULTI_RECV ends when fewer bytes than this are left
	 * of its buffer; applies to receives that are posted afterwards
	 */
	FI_OPT_MIN_MULTI_RECV,
	FI_OPT_CM_DATA_SIZE,		/* size_t, most bytes of connection data */
	FI_OPT_SEND_BUF_SIZE	= 4,
	FI_OPT_RECV_BUF_SIZE	= 5,
	FI_OPT_TX_SIZE		= 6,
	FI_OPT_RX_SIZE		= 7,
	FI_OPT_FI_HMEM_P2P	= 8,	/* int, FI_HMEM_P2P_* */
	/*
	 * size_t, read only: most bytes of one operation of a kind, and most bytes
	 * that may be injected
	 */
	FI_OPT_MAX_MSG_SIZE	= 12,
	FI_OPT_MAX_TAGGED_SIZE,
	FI_OPT_MAX_RMA_SIZE,
	FI_OPT_MAX_ATOMIC_SIZE,
	FI_OPT_INJECT_MSG_SIZE,
	FI_OPT_INJECT_TAGGED_SIZE,
	FI_OPT_INJECT_RMA_SIZE,
	FI_OPT_INJECT_ATOMIC_SIZE,
	FI_OPT_FIREWALL_ADDR,		/* bool: peers cannot connect to this endpoint */
	/*
	 * kernel: int, before fi_connect() or fi_listen(): connection data as they are,
	 * without the framing of the provider, for peers that are not libfabric.
	 * Connection data of the peer then are as long as the transport's field.
	 */
	FI_OPT_CM_DATA_RAW = 0x1000,
	/*
	 * kernel: size_t, of a shared receive context that is bound to an event
	 * queue: the event FI_SRX_LIMIT comes once, when fewer receives than this are
	 * posted.  Then the option is 0 until the client sets it again.  If so few are
	 * posted already, the event comes at the latest when a message takes one of them.
	 * 0 cancels the event.
	 */
	FI_OPT_SRX_LIMIT,
	/*
	 * kernel: size_t, read only: elements that the local list of a read and of a
	 * write may have; a kvec of vmalloc memory counts once for each page.
	 * fi_tx_attr has a limit for each of the two.
	 */
	FI_OPT_MAX_RMA_IOV = 0x1010,
	/*
	 * kernel: size_t, before fi_enable(): most operations of fi_readsgl() and
	 * fi_writesgl() in flight; 0, the default: none.
	 */
	FI_OPT_MAX_RW_OPS,
	/*
	 * kernel: size_t, milliseconds, before fi_connect() or fi_accept(): if
	 * FI_CONNECTED has not come within this time, the endpoint fails with ETIMEDOUT.
	 * 0: it fails when the transport gives up; a peer can delay that.
	 */
	FI_OPT_CONNECT_TIMEOUT,
	/*
	 * kernel: struct fi_ep_callbacks, before fi_enable(); of a shared receive
	 * context before the first receive.
	 */
	FI_OPT_CALLBACKS,
	/*
	 * kernel: int, of an endpoint, before fi_enable(): not 0: the client posts to it
	 * in process context only, where it may sleep.  A provider that sends by software
	 * may then send within the call, without a switch to a worker; other providers
	 * ignore the option.  0, the default: operations are posted in any context.
	 */
	FI_OPT_MAY_SLEEP,
	/*
	 * kernel: int, of an endpoint, before fi_enable(): not 0: memory is freed by what is
	 * transferred here (swap, writeback).  The sockets of the endpoint then use the
	 * emergency reserves of memory, for what they send and for what comes: those that it
	 * has accepted or dialled; without connections, those with peers of its address
	 * vector.  All operations and receives of the endpoint are allocated then, so the
	 * call may answer -ENOMEM.  0, the default: what comes while memory is short may be
	 * dropped, and is sent again later.  -ENOPROTOOPT: transfers of this provider use no
	 * sockets of their own, and the client need not ask.
	 */
	FI_OPT_MEM_RESERVES,
};

/**
 * struct fi_ep_callbacks - kernel: calls of an endpoint to its client
 * @done: with FI_WAIT_DONE, an operation without a context has completed: one whose
 *	context is NULL, a write of the peer's with remote CQ data, or an inject that has
 *	failed; NULL: such completions are not reported
 * @ready: a call that returned -EAGAIN is worth trying again; @flags is the direction of
 *	that call, FI_TRANSMIT or FI_RECV.  @ready comes once after one or more -EAGAIN,
 *	even if nothing of the endpoint is in flight.  NULL: the client finds out by
 *	itself.
 *
 * Both are called in the context of the completion queue of that direction, never at the
 * same time as another callback of that queue.  The callbacks of a shared receive context
 * are called in a worker.  Callbacks may post.  fi_close() of the endpoint returns
 * -EDEADLK from a callback; a shared receive context can be closed in its own.
 */
struct fi_ep_callbacks {
	void	(*done)(struct fid_ep *ep, const struct fi_done_entry *entry);
	void	(*ready)(struct fid_ep *ep, u64 flags);
};

/**
 * enum fi_hmem_p2p - Values of FI_OPT_FI_HMEM_P2P
 * @FI_HMEM_P2P_ENABLED: the provider decides for each transfer of peer memory whether
 *	its device accesses it; the default
 * @FI_HMEM_P2P_REQUIRED: the device accesses it, or the transfer fails
 * @FI_HMEM_P2P_PREFERRED: the device accesses it where it can, otherwise it is copied
 * @FI_HMEM_P2P_DISABLED: it is copied
 *
 * Only an endpoint with FI_HMEM has the option (-ENOPROTOOPT).  fi_setopt() returns
 * -EOPNOTSUPP for a value that the endpoint cannot satisfy: FI_HMEM_P2P_REQUIRED where the
 * processor copies, FI_HMEM_P2P_DISABLED where the device accesses the memory.  fi_getopt()
 * reports what the endpoint does, whatever was set: FI_HMEM_P2P_DISABLED or
 * FI_HMEM_P2P_REQUIRED.
 */
enum fi_hmem_p2p {
	FI_HMEM_P2P_ENABLED,
	FI_HMEM_P2P_REQUIRED,
	FI_HMEM_P2P_PREFERRED,
	FI_HMEM_P2P_DISABLED,
};

struct fi_ops_ep {
	size_t	size;
	ssize_t	(*cancel)(fid_t fid, void *context);
	int	(*getopt)(fid_t fid, int level, int optname, void *optval,
			  size_t *optlen);
	int	(*setopt)(fid_t fid, int level, int optname,
			  const void *optval, size_t optlen);
	int	(*tx_ctx)(struct fid_ep *sep, int index,
			  struct fi_tx_attr *attr, struct fid_ep **tx_ep,
			  void *context);
	int	(*rx_ctx)(struct fid_ep *sep, int index,
			  struct fi_rx_attr *attr, struct fid_ep **rx_ep,
			  void *context);
	ssize_t	(*rx_size_left)(struct fid_ep *ep);
	ssize_t	(*tx_size_left)(struct fid_ep *ep);
	int	(*drain)(struct fid_ep *ep, int timeout);
};

/**
 * enum fi_op_type - Kinds of data transfers, with libfabric's values
 * @FI_OP_RECV: receive a message
 * @FI_OP_SEND: send a message
 * @FI_OP_TRECV: receive a tagged message; a &struct fi_tagged_xfer describes it
 * @FI_OP_TSEND: send a tagged message; a &struct fi_tagged_xfer describes it
 * @FI_OP_READ: read remote memory; a &struct fi_rma_xfer describes it
 * @FI_OP_WRITE: write remote memory; a &struct fi_rma_xfer describes it
 * @FI_OP_ATOMIC: change remote memory; a &struct fi_atomic_xfer describes it
 * @FI_OP_FETCH_ATOMIC: as @FI_OP_ATOMIC, and fetch the old values
 * @FI_OP_COMPARE_ATOMIC: as @FI_OP_FETCH_ATOMIC, if the old values are as expected
 */
enum fi_op_type {
	FI_OP_RECV,
	FI_OP_SEND,
	FI_OP_TRECV,
	FI_OP_TSEND,
	FI_OP_READ,
	FI_OP_WRITE,
	FI_OP_ATOMIC,
	FI_OP_FETCH_ATOMIC,
	FI_OP_COMPARE_ATOMIC,
};

/**
 * struct fi_xfer - kernel: a data transfer, as its call describes it to the provider
 * @type: &enum fi_op_type; all but messages are embedded in the structure that belongs to it
 * @defaults: the call takes no flags: the default flags of the endpoint apply, and @flags are
 *	those that the name of the call implies
 * @buf_type: what @list consists of; an atomic operation has FI_BUF_KVEC and a list of
 *	&struct fi_ioc
 * @list: local buffers: to be sent or written, to receive or read into; operands of an
 *	atomic operation
 * @count: elements of @list
 * @desc: descriptors of the elements, or NULL
 * @flags: of the call
 * @addr: peer: of a receive the only sender, or FI_ADDR_UNSPEC
 * @context: the client's
 * @data: remote CQ data, or with FI_REMOTE_INV the key
 *
 * The call fills each field, on its stack.  The description and everything that it points to,
 * except the buffers, and @list with FI_ASYNC_IOV, are the caller's again when the call returns.
 */
struct fi_xfer {
	u8				type;
	bool				defaults;
	enum fi_buf_type		buf_type;
	const void			*list;
	size_t				count;
	void				**desc;
	u64				flags;
	fi_addr_t			addr;
	void				*context;
	u64				data;
};

/* A message touches one cache line here, and its list */
static_assert(sizeof(struct fi_xfer) <= 64);

/**
 * struct fi_ops_xfer - kernel: data transfers of an endpoint
 * @size: bytes of the table
 * @send: fi_send()
 * @recv: fi_recv()
 * @read: fi_read()
 * @write: fi_write()
 * @post: every other call that transfers data.  Any context
 * @atomicvalid: fi_atomicvalid(), or with FI_FETCH_ATOMIC or FI_COMPARE_ATOMIC the call about
 *	that form
 */
struct fi_ops_xfer {
	size_t	size;
	ssize_t	(*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, void *context);
	ssize_t	(*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context);
	ssize_t	(*read)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, u64 addr, u64 key, void *context);
	ssize_t	(*write)(struct fid_ep *ep, const void *buf, size_t len,
			 void *desc, fi_addr_t dest_addr, u64 addr, u64 key,
			 void *context);
	ssize_t	(*post)(struct fid_ep *ep, const struct fi_xfer *xfer);
	int	(*atomicvalid)(struct fid_ep *ep, enum fi_datatype datatype,
			       enum fi_op op, u64 form, size_t *count);
};

struct fi_ops_cm;

struct fid_ep {
	struct fid			fid;
	const struct fi_ops_ep		*ops;
	const struct fi_ops_cm		*cm;
	const struct fi_ops_xfer	*xfer;
};

struct fid_pep {
	struct fid			fid;
	const struct fi_ops_ep		*ops;
	const struct fi_ops_cm		*cm;
};

struct fid_stx {
	struct fid			fid;
	const struct fi_ops_ep		*ops;
};

/**
 * fi_passive_ep() - Open an endpoint that listens
 * @fabric: where
 * @info: a result of fi_getinfo(); its src_addr is where to listen
 * @pep: the passive endpoint
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL; -ENODEV: the device has gone; -EBUSY: @fabric is being
 * closed; -ENOMEM; or an error of the provider.
 */
int fi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		  struct fid_pep **pep, void *context);

/**
 * fi_endpoint() - Open an endpoint
 * @domain: where
 * @info: a result of fi_getinfo(), or the one of an FI_CONNREQ event.  In the
 *	latter case the endpoint owns the request from success on.
 * @ep: the endpoint
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: bad or contradictory attributes, or a request that is
 * used up; -FI_EDOMAIN: the request came in through another device;
 * -ECONNABORTED: the peer of the request has gone; -EBUSY: @domain is being
 * closed; -ENOMEM; or an error of the provider.
 */
int fi_endpoint(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context);

/**
 * fi_srx_context() - Open a receive queue that several endpoints share
 * @domain: where
 * @attr: its size, iov_limit and op_flags, each 0 for a default; the rx_attr of
 *	a result that was asked for with FI_SHARED_CONTEXT will do
 * @rx_ep: the shared receive context
 * @context: the client's pointer
 *
 * fi_recv(), fi_recvv() and fi_recvmsg() post to it from now on; there is no
 * fi_enable().  An endpoint takes part if it was opened with ep_attr->rx_ctx_cnt
 * FI_SHARED_CONTEXT and is bound to the shared receive context before its fi_enable().
 * Such an endpoint has no receives of its own (-ENOSYS).  A message takes the oldest
 * receive, whichever endpoint the message is for.  The completion comes to the completion
 * queue and the counter of that endpoint.
 *
 * When an endpoint is closed, receives that no message has taken stay for the other
 * endpoints.  fi_close() of the shared receive context gives the buffers of posted
 * receives back to the client without a completion.  It returns -EBUSY while an endpoint
 * is bound to the context.
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider, or the device, has no shared receive contexts;
 * -EINVAL: @attr asks for more than there is; -ENODEV: the device has gone; -EBUSY:
 * @domain is being closed; -ENOMEM; or an error of the provider.
 */
int fi_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		   struct fid_ep **rx_ep, void *context);

/**
 * fi_stx_context() - Open a transmit queue that several endpoints share
 * @domain: where
 * @attr: its attributes; those of the endpoints must not ask for more
 * @stx: the shared transmit context
 * @context: the client's pointer
 *
 * An endpoint takes part if it was opened with ep_attr->tx_ctx_cnt FI_SHARED_CONTEXT
 * and is bound to @stx before its fi_enable().  Operations are posted to the endpoints,
 * and complete in the queues of the endpoints.
 *
 * Context: may sleep.
 * Return: as fi_srx_context().
 */
int fi_stx_context(struct fid_domain *domain, struct fi_tx_attr *attr,
		   struct fid_stx **stx, void *context);

/**
 * fi_scalable_ep() - Open an endpoint of several transmit and receive queues
 * @domain: where
 * @info: as fi_endpoint(); ep_attr->tx_ctx_cnt and rx_ctx_cnt say how many queues
 * @sep: the scalable endpoint
 * @context: the client's pointer
 *
 * A scalable endpoint has one address.  The client posts nothing to the endpoint itself,
 * but to its contexts, which fi_tx_context() and fi_rx_context() open.  Each context is a
 * queue with an order, a completion queue and counters of its own.  The contexts are
 * children of the endpoint: its fi_close() returns -EBUSY while one is open.
 *
 *	fi_scalable_ep_bind()		its address vector, which all contexts use
 *	fi_tx_context(), fi_rx_context()
 *	fi_ep_bind()			each context to its queue
 *	fi_enable()			each context, and the scalable endpoint
 *
 * With FI_NAMED_RX_CTX peers choose one of its receive contexts by fi_rx_addr();
 * otherwise the provider chooses.
 *
 * Context: may sleep.
 * Return: as fi_endpoint(); -ENOSYS: the provider has none.
 */
int fi_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		   struct fid_ep **sep, void *context);

/**
 * fi_tx_context() - Open one of the transmit queues of a scalable endpoint
 * @sep: the scalable endpoint
 * @index: which one, from 0 on
 * @attr: in: what the context shall have, not more than the endpoint; out: what it has;
 *	or NULL
 * @tx_ep: the transmit context: an endpoint that only sends
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: there is no such context, or bad attributes; -EBUSY: it is open,
 * or @sep is being closed; -ENOSYS: the provider has none; -ENOMEM; or an error of
 * the provider.
 */
int fi_tx_context(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		  struct fid_ep **tx_ep, void *context);

/**
 * fi_rx_context() - Open one of the receive queues of a scalable endpoint
 * @sep: the scalable endpoint
 * @index: which one, from 0 on; peers name it by this
 * @attr: as fi_tx_context()
 * @rx_ep: the receive context: an endpoint that only receives
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_tx_context().
 */
int fi_rx_context(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context);

/**
 * fi_ep_bind() - Bind a queue, counter or address vector to an endpoint
 * @ep: an endpoint, scalable endpoint, transmit or receive context that is not enabled
 *	yet, or a shared receive context
 * @bfid: event queue, completion queue, shared context, ...; for a shared receive context
 *	an event queue, which gets the events of its limit and its end; for a scalable
 *	endpoint an address vector or an event queue; for one of its contexts a completion
 *	queue or counters
 * @flags: for a completion queue FI_TRANSMIT, FI_RECV or both, as far as the endpoint
 *	has these directions, and FI_SELECTIVE_COMPLETION; for a counter FI_SEND,
 *	FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE; for others 0
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: wrong kind of object, or bound before; -FI_EBADFLAGS; -FI_EDOMAIN:
 * @ep and @bfid belong to different domains or fabrics; -FI_EOPBADSTATE: @ep is enabled
 * already; -EBUSY: @bfid is being closed; -ENOMEM.
 */
int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, u64 flags);

/**
 * fi_scalable_ep_bind() - Bind an address vector to a scalable endpoint
 * @sep: a scalable endpoint none of whose contexts is enabled
 * @bfid: address vector or event queue
 * @flags: 0
 *
 * Context: may sleep.
 * Return: as fi_ep_bind().
 */
int fi_scalable_ep_bind(struct fid_ep *sep, struct fid *bfid, u64 flags);

/**
 * fi_pep_bind() - Bind an event queue to a passive endpoint
 * @pep: a passive endpoint that does not listen yet
 * @bfid: event queue
 * @flags: 0
 *
 * Context: may sleep.
 * Return: as fi_ep_bind().
 */
int fi_pep_bind(struct fid_pep *pep, struct fid *bfid, u64 flags);

/**
 * fi_enable() - Make an endpoint ready for receives and a connection
 * @ep: the endpoint, or one context of a scalable endpoint, with its queues bound; or
 *	a scalable endpoint, with its address vector bound
 *
 * A context of a scalable endpoint can be used when the context and the endpoint have
 * been enabled, in any order.
 *
 * Context: may sleep.
 * Return: 0; -FI_ENOEQ, -FI_ENOCQ: no such queue is bound; -FI_ENORX: @ep was opened with
 * FI_SHARED_CONTEXT, and no shared receive context is bound; -FI_EOPBADSTATE: @ep is
 * enabled already; -ENOSPC: a completion queue has no room left for the endpoint's
 * operations; -ECONNABORTED: the peer of the request has gone; -ENOMEM; or an error of
 * the provider.
 */
int fi_enable(struct fid_ep *ep);

/**
 * fi_ep_alias() - Open a second view of an endpoint, with default flags of its own
 * @ep: the endpoint, or transmit or receive context
 * @alias_ep: the alias, a child of @ep, for the caller to close; untouched on error
 * @flags: FI_TRANSMIT or FI_RECV, and default flags of its operations
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no aliases (verbs has none; use the calls that
 * take flags, or FI_SETOPSFLAG); -EINVAL: no endpoint; -EBUSY: @ep is being closed;
 * -ENOMEM; or an error of the provider.
 */
int fi_ep_alias(struct fid_ep *ep, struct fid_ep **alias_ep, u64 flags);

/**
 * fi_cancel() - Take back a receive
 * @fid: the endpoint, transmit or receive context, or shared receive context
 * @context: context of the receive
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider cannot; -ENOENT: no such receive; -EINVAL.
 */
ssize_t fi_cancel(fid_t fid, void *context);

/**
 * fi_setopt() - Set an option of an endpoint
 * @fid: endpoint of any kind, or shared context
 * @level: FI_OPT_ENDPOINT
 * @optname: FI_OPT_*
 * @optval: the value
 * @optlen: bytes of @optval
 *
 * Context: may sleep.
 * Return: 0; -ENOPROTOOPT: unknown level or option; -EINVAL; -FI_ENOEQ:
 * FI_OPT_SRX_LIMIT, and no event queue is bound; -ENOMEM: FI_OPT_MAX_RW_OPS; or an error
 * of the provider.
 */
int fi_setopt(fid_t fid, int level, int optname, const void *optval,
	      size_t optlen);

/**
 * fi_getopt() - Read an option of an endpoint
 * @fid: endpoint of any kind, or shared context
 * @level: FI_OPT_ENDPOINT
 * @optname: FI_OPT_*
 * @optval: where the value goes
 * @optlen: in: bytes of @optval; out: bytes of the value
 *
 * Context: may sleep.
 * Return: 0; -FI_ETOOSMALL: @optlen says how much is needed; -ENOPROTOOPT;
 * -EINVAL.
 */
int fi_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen);

/**
 * fi_ep_drain() - kernel: Wait until everything posted has been reported
 * @ep: an enabled endpoint, or transmit or receive context
 * @timeout: milliseconds; negative: no limit; 0: begin, and do not wait
 *
 * fi_ep_drain() ends the connection, if there is one, as fi_shutdown() does.  As soon as
 * it begins, every call that posts to @ep returns -ESHUTDOWN, in other threads, too; the
 * caller need not stop them.  Operations in flight end, most of them with ECANCELED.
 *
 * After 0 the completion of every operation that was posted is in its queue or has been
 * read, all callbacks of operations have returned, all counters have counted, and nothing
 * more comes.  The buffers of unsignaled operations (FI_SELECTIVE_COMPLETION, inject) are
 * the client's again, too.  Regions are still bound to @ep and can be closed at any time.
 * @ep itself can only be closed.  Receives of a shared receive context that no message
 * for @ep has taken stay posted.
 *
 * After -ETIMEDOUT the drain goes on.  Another call waits for the same drain, and
 * fi_close() waits for its end.
 *
 * Context: may sleep.
 * Return: 0; -FI_EOPBADSTATE: not enabled; -ETIMEDOUT; -ENODEV: the device has gone
 * and has not ended all operations in time; -EDEADLK: the caller is inside a callback of a
 * queue that @ep is bound to, and nothing has changed; -ENOSYS: the provider has no drain;
 * -EINVAL: no endpoint.
 */
int fi_ep_drain(struct fid_ep *ep, int timeout);

/**
 * fi_rx_size_left() - Receives that can be posted without -EAGAIN, at least
 * @ep: the endpoint, receive context or shared receive context
 *
 * libfabric deprecates fi_rx_size_left() and fi_tx_size_left(): -EAGAIN reports a full
 * queue.
 *
 * Context: any.
 * Return: the number; -ENOSYS: the provider does not count.
 */
static inline ssize_t fi_rx_size_left(struct fid_ep *ep)
{
	return ep->ops->rx_size_left(ep);
}

/**
 * fi_tx_size_left() - Sends that can be posted without -EAGAIN, at least
 * @ep: the endpoint or transmit context
 *
 * Context: any.
 * Return: the number; -ENOSYS: the provider does not count.
 */
static inline ssize_t fi_tx_size_left(struct fid_ep *ep)
{
	return ep->ops->tx_size_left(ep);
}

/* Describe a call.  @defaults: as in &struct fi_xfer */
static __always_inline struct fi_xfer
__fi_xfer(enum fi_op_type type, bool defaults, enum fi_buf_type buf_type, const void *list,
	  void **desc, size_t count, u64 flags, fi_addr_t addr, void *context, u64 data)
{
	return (struct fi_xfer) {
		.type		= type,
		.defaults	= defaults,
		.buf_type	= buf_type,
		.list		= list,
		.count		= count,
		.desc		= desc,
		.flags		= flags,
		.addr		= addr,
		.context	= context,
		.data		= data,
	};
}

/* Describe a call that takes no flags.  @flags: those that its name implies */
static __always_inline struct fi_xfer
__fi_xfer_defaults(enum fi_op_type type, const void *list, void **desc, size_t count, u64 flags,
		   fi_addr_t addr, void *context, u64 data)
{
	return __fi_xfer(type, true, FI_BUF_KVEC, list, desc, count, flags, addr, context, data);
}

static __always_inline ssize_t
__fi_post_list(struct fid_ep *ep, enum fi_op_type type, const struct kvec *iov, void **desc,
	       size_t count, u64 flags, fi_addr_t addr, void *context, u64 data)
{
	const struct fi_xfer xfer = __fi_xfer_defaults(type, iov, desc, count, flags, addr,
						       context, data);

	return ep->xfer->post(ep, &xfer);
}

static __always_inline ssize_t
__fi_post_buf(struct fid_ep *ep, enum fi_op_type type, const void *buf, size_t len, void *desc,
	      u64 flags, fi_addr_t addr, void *context, u64 data)
{
	const struct kvec iov = { (void *)buf, len };

	return __fi_post_list(ep, type, &iov, &desc, 1, flags, addr, context, data);
}

static __always_inline ssize_t
__fi_post_msg(struct fid_ep *ep, enum fi_op_type type, const struct fi_msg *msg, u64 flags)
{
	const struct fi_xfer xfer = __fi_xfer(type, false, msg->type, msg->msg_iov, msg->desc,
					      msg->iov_count, flags, msg->addr, msg->context,
					      msg->data);

	return ep->xfer->post(ep, &xfer);
}

/**
 * fi_recv() - Post a buffer for one message
 * @ep: an enabled endpoint, it need not be connected; or a shared receive
 *	context
 * @buf: where the message goes
 * @len: bytes of @buf; a longer message completes with FI_ETRUNC
 * @desc: fi_mr_desc() of @buf, or NULL
 * @src_addr: ignored by connected endpoints.  With FI_DIRECTED_RECV: the only peer whose
 *	messages may take the buffer, FI_ADDR_UNSPEC for any; without it, ignored, too
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_recv(struct fid_ep *ep, void *buf, size_t len,
			      void *desc, fi_addr_t src_addr, void *context)
{
	return ep->xfer->recv(ep, buf, len, desc, src_addr, context);
}

/**
 * fi_recvv() - Post a list of buffers for one message
 * @ep: as fi_recv()
 * @iov: the buffers; the array itself is free when the call returns
 * @desc: one fi_mr_desc() per element, or NULL
 * @count: elements of @iov
 * @src_addr: as fi_recv()
 * @context: as fi_recv()
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_recvv(struct fid_ep *ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t src_addr,
			       void *context)
{
	return __fi_post_list(ep, FI_OP_RECV, iov, desc, count, 0, src_addr, context, 0);
}

/**
 * fi_recvmsg() - Post buffers of any kind for one message
 * @ep: as fi_recv()
 * @msg: the buffers
 * @flags: FI_COMPLETION, FI_MORE, FI_MULTI_RECV, FI_AUTH_KEY; they replace op_flags
 *
 * FI_MULTI_RECV (capability FI_MULTI_RECV): the buffer, one element, takes one message
 * behind the other.  Each has a completion, with the context of the receive and buf
 * where it begins.  When less than FI_OPT_MIN_MULTI_RECV bytes are left, the buffer is
 * the client's again.  The completion of the last message then has FI_MULTI_RECV.  If
 * that message is not reported, a separate completion of length 0 has FI_MULTI_RECV, and
 * comes even where FI_SELECTIVE_COMPLETION suppresses others.  A message that is longer
 * than the bytes left gives the buffer back, too, and takes the next receive.  A message
 * that is longer than the whole buffer is cut (FI_ETRUNC).
 *
 * FI_AUTH_KEY: @msg->addr is an authorization key; messages of any peer that has the key
 * may take the buffer.
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
				 u64 flags)
{
	return __fi_post_msg(ep, FI_OP_RECV, msg, flags);
}

/**
 * fi_send() - Send one message
 * @ep: a connected endpoint
 * @buf: the message
 * @len: bytes of @buf; 0 is a message
 * @desc: fi_mr_desc() of @buf, or NULL
 * @dest_addr: ignored by connected endpoints
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_send(struct fid_ep *ep, const void *buf, size_t len,
			      void *desc, fi_addr_t dest_addr, void *context)
{
	return ep->xfer->send(ep, buf, len, desc, dest_addr, context);
}

/**
 * fi_sendv() - Send one message gathered from a list of buffers
 * @ep: as fi_send()
 * @iov: the buffers; the array itself is free when the call returns
 * @desc: one fi_mr_desc() per element, or NULL
 * @count: elements of @iov
 * @dest_addr: as fi_send()
 * @context: as fi_send()
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_sendv(struct fid_ep *ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t dest_addr,
			       void *context)
{
	return __fi_post_list(ep, FI_OP_SEND, iov, desc, count, 0, dest_addr, context, 0);
}

/**
 * fi_sendmsg() - Send one message with flags of its own
 * @ep: as fi_send()
 * @msg: the message
 * @flags: FI_COMPLETION, FI_REMOTE_CQ_DATA, FI_INJECT, FI_FENCE,
 *	FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, ...; they replace op_flags
 *
 * FI_MORE: another operation follows at once; the provider may hold this one back until
 * then.
 *
 * FI_REMOTE_INV (kernel): the message invalidates the key of the receiver that is in
 * @msg->data, before it is delivered.  The receiver's completion has the flag, too, and
 * the key in its data.  FI_REMOTE_INV excludes FI_REMOTE_CQ_DATA.  The key has to be that of a
 * region that is bound to the receiver's endpoint (FI_MR_ENDPOINT); for any other key the message
 * fails with EACCES and is not delivered, or ends the connection.
 *
 * FI_SAVE (kernel): the call sends nothing, and @msg has no list.  The operation completes
 * when all messages to the peer that calls of this kind have posted before are in their
 * receives, or have failed.  An endpoint with the capability FI_RMA_PMEM knows the flag;
 * -EOPNOTSUPP: the peer of the connection does not.  FI_SAVE excludes FI_REMOTE_CQ_DATA and
 * FI_COMMIT_COMPLETE.
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
				 u64 flags)
{
	return __fi_post_msg(ep, FI_OP_SEND, msg, flags);
}

/**
 * fi_inject() - Send a short message whose buffer is free at once
 * @ep: as fi_send()
 * @buf: the message; any kernel address
 * @len: bytes of @buf, at most inject_size
 * @dest_addr: as fi_send()
 *
 * There is no completion for it, unless it fails.
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_inject(struct fid_ep *ep, const void *buf, size_t len,
				fi_addr_t dest_addr)
{
	return __fi_post_buf(ep, FI_OP_SEND, buf, len, NULL, FI_INJECT, dest_addr, NULL, 0);
}

/**
 * fi_senddata() - Send one message with remote CQ data
 * @ep: as fi_send()
 * @buf: as fi_send()
 * @len: as fi_send()
 * @desc: as fi_send()
 * @data: arrives in the peer's completion, cq_data_size bytes of it
 * @dest_addr: as fi_send()
 * @context: as fi_send()
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_senddata(struct fid_ep *ep, const void *buf,
				  size_t len, void *desc, u64 data,
				  fi_addr_t dest_addr, void *context)
{
	return __fi_post_buf(ep, FI_OP_SEND, buf, len, desc, FI_REMOTE_CQ_DATA, dest_addr,
			     context, data);
}

/**
 * fi_injectdata() - fi_inject() with remote CQ data
 * @ep: as fi_inject()
 * @buf: as fi_inject()
 * @len: as fi_inject()
 * @data: as fi_senddata()
 * @dest_addr: as fi_inject()
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_injectdata(struct fid_ep *ep, const void *buf,
				    size_t len, u64 data, fi_addr_t dest_addr)
{
	return __fi_post_buf(ep, FI_OP_SEND, buf, len, NULL, FI_INJECT | FI_REMOTE_CQ_DATA,
			     dest_addr, NULL, data);
}

#endif /* _RDMA_FI_ENDPOINT_H */
