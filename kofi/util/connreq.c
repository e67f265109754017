// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The registry of include/kofi/connreq.h.
 *
 * Requests are in an xarray, indexed by id.  One counter gives the ids of all registries, so a
 * handle of one provider is never valid for another.  An id has all bits of a pointer but the one
 * that xa_mk_value() needs.  On 64-bit machines no id is given out twice.  On other machines an
 * id is not given out again before 2^31 requests, and never while it is in use.
 *
 * kofi_connreq_add() reserves the id before the request is posted, because the reservation may
 * need memory, and a provider that posts may hold locks.  A reserved place reads as empty, so the
 * handle finds nothing until the request and its event are in their places.
 *
 * Locking: the lock of the xarray, taken with interrupts off, is held while a request and
 * its event come in or leave, so that both are there or neither is.  The event queue's lock
 * is taken inside.  A reader of the event queue sets the event's info to NULL under the
 * event queue's lock.  Afterwards only the request's owner looks at the event.  So an info
 * that is still there after the event has left the queue is the owner's.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <kofi/connreq.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>

static atomic_long_t kofi_connreq_ids = ATOMIC_LONG_INIT(0);

int kofi_connreq_add(struct kofi_connreqs *reqs, struct kofi_connreq *req,
		     gfp_t gfp)
{
	int ret;

	kofi_event_init(&req->event, NULL);
	req->event.event = FI_CONNREQ;
	req->eq = NULL;
	INIT_LIST_HEAD(&req->entry);
	do {
		req->id = atomic_long_inc_return(&kofi_connreq_ids) & LONG_MAX;
		ret = xa_insert_irq(&reqs->requests, req->id, NULL, gfp);
	} while (ret == -EBUSY);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_connreq_add);

void kofi_connreq_cancel(struct kofi_connreqs *reqs, struct kofi_connreq *req)
{
	unsigned long flags;

	xa_lock_irqsave(&reqs->requests, flags);
	__xa_erase(&reqs->requests, req->id);
	xa_unlock_irqrestore(&reqs->requests, flags);
}
EXPORT_SYMBOL_GPL(kofi_connreq_cancel);

int kofi_connreq_post(struct kofi_connreqs *reqs, struct kofi_connreq *req,
		      struct fid *pep, struct kofi_eq *eq)
{
	unsigned long flags;
	int ret;

	req->eq = eq;
	req->event.fid = pep;
	req->event.info->handle = kofi_connreq_handle(req);
	xa_lock_irqsave(&reqs->requests, flags);
	ret = kofi_eq_post(eq, &req->event);
	/* The place is reserved, so this needs no memory */
	if (!ret)
		__xa_store(&reqs->requests, req->id, req, 0);
	xa_unlock_irqrestore(&reqs->requests, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_connreq_post);

static void kofi_connreq_unlist(struct kofi_connreqs *reqs,
				struct kofi_connreq *req)
{
	lockdep_assert_held(&reqs->requests.xa_lock);
	__xa_erase(&reqs->requests, req->id);
	kofi_eq_withdraw(req->eq, &req->event);
}

static void kofi_connreq_free_info(struct kofi_connreq *req)
{
	fi_freeinfo(req->event.info);
	req->event.info = NULL;
}

struct kofi_connreq *kofi_connreq_take(struct kofi_connreqs *reqs, fid_t handle,
				       kofi_connreq_check_fn check,
				       const void *context)
{
	struct kofi_connreq *req;
	unsigned long flags;
	int ret = 0;

	if (!xa_is_value(handle))
		goto unknown;

	xa_lock_irqsave(&reqs->requests, flags);
	req = xa_load(&reqs->requests, xa_to_value(handle));
	if (req && check)
		ret = check(req, context);
	if (req && !ret)
		kofi_connreq_unlist(reqs, req);
	xa_unlock_irqrestore(&reqs->requests, flags);
	if (!req)
		goto unknown;
	if (ret)
		return ERR_PTR(ret);

	kofi_connreq_free_info(req);
	return req;

unknown:
	ret = kofi_refuse("endpoint or reject", -EINVAL,
			  "handle: of no connection request, or of one that was taken already");
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(kofi_connreq_take);

void kofi_connreqs_drop(struct kofi_connreqs *reqs, kofi_connreq_check_fn check,
			const void *context, struct list_head *dropped)
{
	struct kofi_connreq *req;
	unsigned long id, flags;
	LIST_HEAD(found);

	xa_lock_irqsave(&reqs->requests, flags);
	xa_for_each(&reqs->requests, id, req) {
		if (check(req, context))
			continue;
		kofi_connreq_unlist(reqs, req);
		list_add_tail(&req->entry, &found);
	}
	xa_unlock_irqrestore(&reqs->requests, flags);

	list_for_each_entry(req, &found, entry)
		kofi_connreq_free_info(req);
	list_splice_tail(&found, dropped);
}
EXPORT_SYMBOL_GPL(kofi_connreqs_drop);

void kofi_connreqs_destroy(struct kofi_connreqs *reqs)
{
	XA_STATE(xas, &reqs->requests, 0);

	rcu_read_lock();
	/* xas_find() finds places that are reserved, too */
	WARN_ON_ONCE(xas_find(&xas, ULONG_MAX));
	rcu_read_unlock();
	/* A place for which there was no memory may have left a node of the xarray */
	xa_destroy(&reqs->requests);
}
EXPORT_SYMBOL_GPL(kofi_connreqs_destroy);

int kofi_connreq_is_of(const struct kofi_connreq *req, const void *pep)
{
	return req->event.fid == pep ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(kofi_connreq_is_of);
