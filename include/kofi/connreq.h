/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection requests that wait for the client's answer, for any provider that has
 * connections.
 *
 * A provider embeds a struct kofi_connreq in its own request and has one registry,
 * struct kofi_connreqs.  The life of a request:
 *
 *	kofi_connreq_add()	it has a handle, which the client does not know yet
 *	   (provider)		fills in @event: info, connection data
 *	kofi_connreq_post()	FI_CONNREQ is queued, and the handle finds the request
 *	kofi_connreq_take()	called by fi_endpoint() or fi_reject() with the handle
 *	kofi_connreqs_drop()	called when the passive endpoint or the device goes
 *
 * One of the last two takes the request out of the registry, and then it belongs to the
 * caller.  So when fi_endpoint(), fi_reject(), the close of the passive endpoint and the
 * removal of a device come at the same time, exactly one of them gets the request.
 *
 * A handle (fi_info.handle) is an id in the form of a pointer that points nowhere
 * (xa_mk_value()).  An id is not given out again, so a handle that has been used finds
 * nothing, even if the memory of its request belongs to another one now.
 *
 * A registry must be empty before its module goes, which ends it by kofi_connreqs_destroy(): each
 * passive endpoint drops its requests when it is closed.
 */
#ifndef _KOFI_CONNREQ_H
#define _KOFI_CONNREQ_H

#include <linux/list.h>
#include <linux/xarray.h>
#include <kofi/eq.h>

/**
 * struct kofi_connreqs - The requests of a provider that the client has not taken
 * @requests: &struct kofi_connreq by id; reserved places are those of requests that have
 *	not been posted
 */
struct kofi_connreqs {
	struct xarray	requests;
};

/* Static initializer of the registry @name */
#define KOFI_CONNREQS_INIT(name) \
	{ .requests = XARRAY_INIT((name).requests, XA_FLAGS_LOCK_IRQ) }

/**
 * struct kofi_connreq - A connection request; the provider embeds it in its own
 * @event: FI_CONNREQ; once posted, its fid is the passive endpoint, and its info is the
 *	request's until the client has read it
 * @eq: event queue of the passive endpoint, once posted
 * @id: what the handle stands for
 * @entry: in the list that kofi_connreqs_drop() fills; the caller's afterwards
 */
struct kofi_connreq {
	struct kofi_event	event;
	struct kofi_eq		*eq;
	unsigned long		id;
	struct list_head	entry;
};

/*
 * Is this the request that the caller wants?  0, or negative errno: it is not, and stays
 * in the registry.  Called with the registry's lock held and interrupts off.
 */
typedef int (*kofi_connreq_check_fn)(const struct kofi_connreq *req,
				     const void *context);

/**
 * kofi_connreq_handle() - Get the handle of a request
 * @req: a request that has been added
 *
 * kofi_connreq_post() puts it into the request's fi_info.
 *
 * Context: any.
 * Return: the handle, which is not a pointer to anything.
 */
static inline fid_t kofi_connreq_handle(const struct kofi_connreq *req)
{
	return xa_mk_value(req->id);
}

/**
 * kofi_connreq_add() - Give a request its handle
 * @reqs: the registry
 * @req: the request, not initialised
 * @gfp: how to allocate memory
 *
 * The caller has to call kofi_connreq_post() or kofi_connreq_cancel() afterwards.
 *
 * Context: interrupts are on; may sleep if @gfp says so.
 * Return: 0; -ENOMEM.
 */
int kofi_connreq_add(struct kofi_connreqs *reqs, struct kofi_connreq *req,
		     gfp_t gfp);

/**
 * kofi_connreq_cancel() - Forget a request that was never posted
 * @reqs: the registry
 * @req: the request; it and its info are the caller's again
 *
 * Context: any.
 */
void kofi_connreq_cancel(struct kofi_connreqs *reqs, struct kofi_connreq *req);

/**
 * kofi_connreq_post() - Report a request to the client
 * @reqs: the registry
 * @req: a request that has been added; info, cm_data and cm_len of its event are set
 * @pep: the passive endpoint it came to
 * @eq: the event queue of @pep; stays until the request has left the registry
 *
 * When this has succeeded, the request is the registry's, and may be gone already: the
 * caller must not access it any more.  After an error it is still the caller's.
 *
 * Context: any.
 * Return: 0; -ENOSPC: as many requests as the queue's size wait.
 */
int kofi_connreq_post(struct kofi_connreqs *reqs, struct kofi_connreq *req,
		      struct fid *pep, struct kofi_eq *eq);

/**
 * kofi_connreq_take() - Take the request of a handle out of the registry
 * @reqs: the registry
 * @handle: the handle from the client, of any value
 * @check: decides whether the caller may have the request; NULL: it may
 * @context: for @check
 *
 * An event that the client has not read is withdrawn, and its info freed.
 *
 * Context: any.
 * Return: the request, the caller's; ERR_PTR(-EINVAL): there is no request of that
 * handle, or not any more; an error of @check.
 */
struct kofi_connreq *kofi_connreq_take(struct kofi_connreqs *reqs, fid_t handle,
				       kofi_connreq_check_fn check,
				       const void *context);

/**
 * kofi_connreqs_drop() - Take requests out of the registry
 * @reqs: the registry
 * @check: returns 0 for a request that is to be taken
 * @context: for @check
 * @dropped: the caller's list, to whose end the requests are added, oldest first
 *
 * Events that the client has not read are withdrawn, and their infos freed.
 *
 * Context: any.
 */
void kofi_connreqs_drop(struct kofi_connreqs *reqs, kofi_connreq_check_fn check,
			const void *context, struct list_head *dropped);

/**
 * kofi_connreqs_destroy() - Give back the memory of a registry that has no requests
 * @reqs: the registry, which could be used again
 *
 * For the end of a module, when nothing can add requests any more.  Warns of those that are
 * left.
 *
 * Context: any.
 */
void kofi_connreqs_destroy(struct kofi_connreqs *reqs);

/**
 * kofi_connreq_is_of() - Ready-made check: did a request come to a passive endpoint?
 * @req: a request in the registry
 * @pep: the passive endpoint's fid
 *
 * Context: any.
 * Return: 0; -EINVAL: it did not.
 */
int kofi_connreq_is_of(const struct kofi_connreq *req, const void *pep);

#endif /* _KOFI_CONNREQ_H */
