/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections.  Names: libfabric 2.6, fi_cm.h.
 *
 * Active side: fi_connect(), then FI_CONNECTED or an error on the endpoint's
 * event queue.  Passive side: fi_listen(), FI_CONNREQ on the event queue, then
 * fi_endpoint() with the event's fi_info, fi_enable(), post receives,
 * fi_accept(), FI_CONNECTED; or fi_reject().
 *
 * Each of these calls returns -ENODEV when the device has gone.
 */
#ifndef _RDMA_FI_CM_H
#define _RDMA_FI_CM_H

#include <rdma/fi_endpoint.h>

/**
 * struct fid_mc - A multicast group that an endpoint has joined
 * @fid: what it has in common with other objects
 * @fi_addr: see fi_mc_addr()
 */
struct fid_mc {
	struct fid			fid;
	fi_addr_t			fi_addr;
};

struct fi_ops_cm {
	size_t	size;
	int	(*setname)(fid_t fid, void *addr, size_t addrlen);
	int	(*getname)(fid_t fid, void *addr, size_t *addrlen);
	int	(*getpeer)(struct fid_ep *ep, void *addr, size_t *addrlen);
	int	(*connect)(struct fid_ep *ep, const void *addr,
			   const void *param, size_t paramlen);
	int	(*listen)(struct fid_pep *pep);
	int	(*accept)(struct fid_ep *ep, const void *param,
			  size_t paramlen);
	int	(*reject)(struct fid_pep *pep, fid_t handle, const void *param,
			  size_t paramlen);
	int	(*shutdown)(struct fid_ep *ep, u64 flags);
	int	(*join)(struct fid_ep *ep, const void *addr, u64 flags,
			struct fid_mc **mc, void *context);
};

/**
 * fi_setname() - Set the local address before listen or connect
 * @fid: endpoint, scalable endpoint or passive endpoint
 * @addr: address in the format of its fi_info
 * @addrlen: bytes of @addr
 *
 * Context: may sleep.
 * Return: 0; -EINVAL; -FI_EOPBADSTATE: too late; -ENOSYS; -EADDRINUSE;
 * -EADDRNOTAVAIL.
 */
int fi_setname(fid_t fid, void *addr, size_t addrlen);

/**
 * fi_getname() - Local address
 * @fid: endpoint, scalable endpoint or passive endpoint
 * @addr: where the address goes
 * @addrlen: in: bytes of @addr; out: bytes of the address
 *
 * Context: may sleep.
 * Return: 0; -FI_ETOOSMALL: @addrlen says how much is needed; -EINVAL;
 * -EADDRNOTAVAIL: there is no address yet.
 */
int fi_getname(fid_t fid, void *addr, size_t *addrlen);

/**
 * fi_getpeer() - Address of the peer
 * @ep: a connected endpoint
 * @addr: where the address goes
 * @addrlen: in: bytes of @addr; out: bytes of the address
 *
 * Context: may sleep.
 * Return: 0; -FI_ETOOSMALL; -ENOTCONN; -EINVAL.
 */
int fi_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);

/**
 * fi_listen() - Wait for connection requests
 * @pep: passive endpoint, bound to an event queue
 *
 * Context: may sleep.
 * Return: 0; -FI_ENOEQ: no event queue; -FI_EOPBADSTATE: listens already;
 * -EADDRINUSE; -EADDRNOTAVAIL; -EINVAL.
 */
int fi_listen(struct fid_pep *pep);

/**
 * fi_connect() - Ask a peer for a connection
 * @ep: an enabled endpoint
 * @addr: the peer, in the format of its fi_info; NULL: fi_info.dest_addr
 * @param: connection data for the peer, copied before return
 * @paramlen: bytes of @param, at most what FI_OPT_CM_DATA_SIZE says
 *
 * If the peer has not accepted within FI_OPT_CONNECT_TIMEOUT, the endpoint fails: an
 * error event with ETIMEDOUT.
 *
 * Context: may sleep.
 * Return: 0: the outcome comes as an event; -FI_EOPBADSTATE: not enabled, or opened to
 * accept a request; -EISCONN: connected; -EALREADY: connecting already; -ESHUTDOWN: was
 * connected; -EINVAL: bad address or @paramlen; -EADDRNOTAVAIL: no peer address.
 */
int fi_connect(struct fid_ep *ep, const void *addr, const void *param,
	       size_t paramlen);

/**
 * fi_accept() - Accept the connection request the endpoint was opened with
 * @ep: an enabled endpoint
 * @param: connection data for the peer, copied before return
 * @paramlen: bytes of @param
 *
 * If the peer has not confirmed within FI_OPT_CONNECT_TIMEOUT, the endpoint fails: an
 * error event with ETIMEDOUT.
 *
 * Context: may sleep.
 * Return: 0: FI_CONNECTED, or an error event, follows; -FI_EOPBADSTATE: not enabled or
 * not opened from a request; -EALREADY, -EISCONN: accepted before; -ECONNABORTED: the
 * peer has gone; -EINVAL: bad @paramlen.
 */
int fi_accept(struct fid_ep *ep, const void *param, size_t paramlen);

/**
 * fi_reject() - Refuse a connection request
 * @pep: the passive endpoint it came to
 * @handle: fi_info.handle of the request; the call uses it up, unless it returns -EINVAL
 * @param: connection data for the peer, copied before return
 * @paramlen: bytes of @param
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: @handle is no request of this @pep, used up or made up, or bad
 * @paramlen; -ECONNABORTED: the peer has gone already.
 */
int fi_reject(struct fid_pep *pep, fid_t handle, const void *param,
	      size_t paramlen);

/**
 * fi_shutdown() - End a connection
 * @ep: the endpoint
 * @flags: 0
 *
 * Operations that are still posted complete with ECANCELED.  The peer gets
 * FI_SHUTDOWN.
 *
 * Context: may sleep.
 * Return: 0; -ENOTCONN: was never connected; -FI_EBADFLAGS; -EINVAL.
 */
int fi_shutdown(struct fid_ep *ep, u64 flags);

/**
 * fi_join() - Join a multicast group
 * @ep: an enabled endpoint with FI_MULTICAST, bound to an event queue
 * @addr: the group, in the format of its fi_info
 * @flags: 0, FI_SEND: to send only, or FI_RECV: to receive only
 * @mc: the membership, a child of @ep; fi_close() it to leave
 * @context: the client's pointer
 *
 * FI_JOIN_COMPLETE, or an error, comes on the event queue.  Afterwards operations with
 * FI_MULTICAST go to the address fi_mc_addr().
 *
 * Context: may sleep.
 * Return: 0: the outcome comes as an event; -FI_EBADFLAGS; -FI_ENOEQ; -FI_EOPBADSTATE:
 * not enabled; -EINVAL; -ENOSYS: the provider has no groups; -EBUSY: @ep is being
 * closed; -ENOMEM.
 */
int fi_join(struct fid_ep *ep, const void *addr, u64 flags, struct fid_mc **mc,
	    void *context);

/**
 * fi_mc_addr() - The address of a multicast group, for operations
 * @mc: a group whose FI_JOIN_COMPLETE has come
 *
 * Context: any.
 * Return: the address.
 */
static inline fi_addr_t fi_mc_addr(struct fid_mc *mc)
{
	return mc->fi_addr;
}

#endif /* _RDMA_FI_CM_H */
