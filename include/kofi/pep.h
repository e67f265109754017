/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Passive endpoints of providers that address by socket addresses.
 *
 * The provider embeds a struct kofi_pep in its listener, and its struct kofi_pep_ops takes
 * addresses and refuses requests.  All calls of the client are
 * ready-made: names, the event queue, options, FI_BACKLOG, fi_listen(), fi_reject() and
 * fi_close(); once the device or the namespace has gone they answer -ENODEV.  Requests are
 * those of include/kofi/connreq.h, in a registry of the provider's.
 *
 * The provider has a mutex under which its connections are made and end.  All functions
 * of struct kofi_pep_ops are called with it held, but for ->free().
 */
#ifndef _KOFI_PEP_H
#define _KOFI_PEP_H

#include <linux/mutex.h>
#include <linux/socket.h>
#include <kofi/connreq.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

struct kofi_pep;

/**
 * struct kofi_pep_ops - What a provider does for its passive endpoints
 * @claim: take @addr, or any address if its family is 0; sets &struct kofi_pep.addr to the
 *	address that was taken; returns 0 or the error of fi_setname(), fi_listen() and
 *	fi_passive_ep(): -EADDRINUSE, -EADDRNOTAVAIL, -ENODEV and the like
 * @listen: from now on requests may come; 0 or negative errno
 * @stop: called once; afterwards no request comes, and the address, if there was one, is free
 * @refuse: reject the peer's request, with @err and connection data, and
 *	free the request; returns -ECONNABORTED if the peer has given up, or 0
 * @free: free the object, which is in use no more
 *
 * All of them may sleep.
 */
struct kofi_pep_ops {
	int	(*claim)(struct kofi_pep *pep,
			 const struct sockaddr_storage *addr);
	int	(*listen)(struct kofi_pep *pep);
	void	(*stop)(struct kofi_pep *pep);
	int	(*refuse)(struct kofi_connreq *req, int err, const void *data,
			  size_t len);
	void	(*free)(struct kofi_pep *pep);
};

/**
 * struct kofi_pep_type - What all passive endpoints of a provider have in common
 * @ops: the provider's functions
 * @reqs: its registry
 * @lock: its mutex
 * @cm_data_size: most bytes of connection data
 * @reject_data_size: most bytes of connection data of fi_reject()
 */
struct kofi_pep_type {
	struct kofi_pep_ops	ops;
	struct kofi_connreqs	*reqs;
	struct mutex		*lock;		/* see above */
	size_t			cm_data_size;
	size_t			reject_data_size;
};

/**
 * struct kofi_pep - The common part of a passive endpoint; the provider embeds it
 * @pep: what the client sees
 * @type: the provider's
 * @info: what it was opened with
 * @eq: event queue, or NULL; @eq to @gone are guarded by the provider's mutex
 * @ended: reports that the device or the namespace has gone
 * @cm_data_size: that of @type, unless an option has changed it
 * @reject_data_size: that of @type, unless an option has changed it
 * @addr: the address that it has
 * @backlog: FI_BACKLOG; 0: the client has not said
 * @named: it has an address
 * @listening: requests may come
 * @gone: the device or the namespace has gone, or it is being closed
 */
struct kofi_pep {
	struct fid_pep			pep;
	const struct kofi_pep_type	*type;
	struct fi_info			*info;
	struct kofi_eq			*eq;
	struct kofi_event		ended;
	size_t				cm_data_size;
	size_t				reject_data_size;
	struct sockaddr_storage		addr;
	int				backlog;
	bool				named;
	bool				listening;
	bool				gone;
};

static inline struct kofi_pep *to_kofi_pep(struct fid *fid)
{
	return container_of(fid, struct kofi_pep, pep.fid);
}

/**
 * kofi_pep_init() - Set a new passive endpoint up
 * @pep: zeroed; what ->claim() needs is set
 * @type: the provider's; it stays
 * @info: what the client opens it with; its source address, if any, is taken
 * @context: the client's pointer
 *
 * Context: may sleep, without the provider's mutex.
 * Return: 0, and fi_close() is due, which calls ->free(); -EINVAL: a malformed address;
 * -ENOMEM; an error of ->claim().  After an error the caller frees the object.
 */
int kofi_pep_init(struct kofi_pep *pep, const struct kofi_pep_type *type,
		  const struct fi_info *info, void *context);

/**
 * kofi_pep_getopt() - The options that passive endpoints of all providers have
 * @fid: of a &struct kofi_pep
 * @level: as fi_getopt()
 * @optname: FI_OPT_CM_DATA_SIZE
 * @optval: as fi_getopt()
 * @optlen: as fi_getopt()
 *
 * Context: may sleep.
 * Return: 0; -FI_ETOOSMALL; -ENOPROTOOPT: another option.
 */
int kofi_pep_getopt(struct fid *fid, int level, int optname, void *optval,
		    size_t *optlen);

/**
 * kofi_pep_gone() - The device or the namespace of a passive endpoint goes
 * @pep: the passive endpoint, which reports ENODEV and is left as a shell
 *
 * Context: may sleep, with the provider's mutex held.
 */
void kofi_pep_gone(struct kofi_pep *pep);

#endif /* _KOFI_PEP_H */
