// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: each completion has the flags that kfi_eq.h names, whatever a peer sends.
 *
 * Most completions only get other flags.  Two kinds become errors: a tagged message without data,
 * and a buffer that is given back because the next message does not fit.  fi_cq_read() has taken
 * them by then, so they are kept in struct kfi_cq until kfi_cq_readerr() comes for them, and no
 * success is read before them.  A reader reserves the place where it may have to keep one before
 * it reads.  If there is none, as many threads as there are places are reading, or have kept
 * errors: the reader is told -EAGAIN or -FI_EAVAIL, and nothing is lost, as the threads that read
 * go on until -EAGAIN.
 *
 * A completion of a peer's write to a region is dropped: clients of these names have no regions.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <kofi/refuse.h>
#include "kfi.h"

#define KFI_CQ_PLACES	16

/**
 * struct kfi_cq - What a queue has beside that of kOFI
 * @handler: the client's
 * @context: the client's
 * @places: entries of @errors that are neither used nor reserved
 * @lock: guards what follows
 * @errors: completions that became errors, a ring
 * @first: the oldest of them
 * @count: how many there are
 */
struct kfi_cq {
	kfi_comp_handler	handler;
	void			*context;
	atomic_t		places;
	spinlock_t		lock;	/* guards the rest */
	struct fi_cq_err_entry	errors[KFI_CQ_PLACES];
	unsigned int		first;
	unsigned int		count;
};

static struct kfi_cq *to_kfi_cq(struct fid_cq *cq)
{
	return cq->fid.context;
}

static void kfi_cq_handler(struct fid_cq *cq, void *context)
{
	struct kfi_cq *own = context;

	own->handler(cq, own->context);
}

/**
 * kofi_kfi_cq_open() - kfi_cq_open()
 * @domain: as kfi_cq_open()
 * @attr: as kfi_cq_open()
 * @cq: as kfi_cq_open()
 * @handler: as kfi_cq_open()
 * @context: as kfi_cq_open()
 *
 * Context: may sleep.
 * Return: as kfi_cq_open().
 */
int kofi_kfi_cq_open(struct fid_domain *domain, const struct fi_cq_attr *attr,
		     struct fid_cq **cq, kfi_comp_handler handler, void *context)
{
	struct fi_cq_attr native;
	struct kfi_cq *own;
	unsigned int nofs;
	int ret;

	might_sleep();
	if (!attr || attr->format != FI_CQ_FORMAT_DATA || attr->wait_obj != FI_WAIT_NONE ||
	    !handler)
		return kofi_refuse("kfi_cq_open", -EINVAL, "KFI_CQ_FORMAT_DATA, KFI_WAIT_NONE and a handler are needed");
	nofs = memalloc_nofs_save();
	own = kzalloc(sizeof(*own), GFP_KERNEL);
	ret = own ? 0 : -ENOMEM;
	if (ret)
		goto out;
	own->handler = handler;
	own->context = context;
	atomic_set(&own->places, KFI_CQ_PLACES);
	spin_lock_init(&own->lock);
	native = *attr;
	native.wait_obj = FI_WAIT_CALLBACK;
	native.comp_ctx = FI_COMP_WORKQUEUE;
	native.handler = kfi_cq_handler;
	ret = fi_cq_open(domain, &native, cq, own);
	if (ret)
		kfree(own);
out:
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_cq_open);

/**
 * kofi_kfi_close() - kfi_close()
 * @fid: as kfi_close()
 *
 * Context: may sleep.
 * Return: as kfi_close().
 */
int kofi_kfi_close(struct fid *fid)
{
	void *own = fid->fclass == FI_CLASS_CQ ? fid->context : NULL;
	unsigned int nofs;
	int ret;

	might_sleep();
	nofs = memalloc_nofs_save();
	ret = fi_close(fid);
	memalloc_nofs_restore(nofs);
	if (!ret)
		kfree(own);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_close);

/* The flags of a receive's completion by the rules of these names */
static u64 kfi_recv_flags(u64 flags)
{
	if (!(flags & FI_RMA))
		return flags & FI_TAGGED ? flags : flags & ~FI_REMOTE_CQ_DATA;
	if (flags & FI_WRITE && flags & FI_REMOTE_CQ_DATA)
		return FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA;
	return flags & ~FI_REMOTE_CQ_DATA;
}

/* The flags of a completion by the rules of these names; *@context loses KFI_TSENDDATA */
static u64 kfi_cq_flags(u64 flags, void **context)
{
	unsigned long ctx = (unsigned long)*context;

	if (flags & FI_RECV)
		return kfi_recv_flags(flags);
	if (!(flags & FI_RMA))
		return flags;
	if (!(ctx & KFI_TSENDDATA))
		return flags | FI_SEND;
	*context = (void *)(ctx & ~KFI_TSENDDATA);
	return FI_TAGGED | FI_SEND;
}

/* Why a completion has to be an error, which gets flags of its own; or 0 */
static int kfi_cq_check(struct fi_cq_data_entry *entry)
{
	if (entry->flags == FI_MULTI_RECV) {
		entry->flags = FI_MSG | FI_RECV | FI_MULTI_RECV;
		return -ENOBUFS;
	}
	return entry->flags == (FI_TAGGED | FI_RECV) ? -EPROTO : 0;
}

/* Keep an error in the place that the caller has reserved */
static void kfi_cq_keep(struct kfi_cq *own, const struct fi_cq_data_entry *entry, int err)
{
	unsigned long flags;

	spin_lock_irqsave(&own->lock, flags);
	own->errors[(own->first + own->count) % KFI_CQ_PLACES] = (struct fi_cq_err_entry) {
		.op_context	= entry->op_context,
		.flags		= entry->flags,
		.len		= entry->len,
		.buf		= entry->buf,
		.data		= entry->data,
		.err		= err,
		.prov_errno	= err,
		.src_addr	= FI_ADDR_NOTAVAIL,
	};
	WRITE_ONCE(own->count, own->count + 1);
	spin_unlock_irqrestore(&own->lock, flags);
}

static bool kfi_cq_take_kept(struct kfi_cq *own, struct fi_cq_err_entry *entry)
{
	unsigned long flags;
	bool found;

	if (likely(!READ_ONCE(own->count)))
		return false;
	spin_lock_irqsave(&own->lock, flags);
	found = own->count;
	if (found) {
		*entry = own->errors[own->first];
		own->first = (own->first + 1) % KFI_CQ_PLACES;
		WRITE_ONCE(own->count, own->count - 1);
	}
	spin_unlock_irqrestore(&own->lock, flags);
	if (found)
		atomic_inc(&own->places);
	return found;
}

/**
 * kofi_kfi_cq_read() - kfi_cq_read()
 * @cq: as kfi_cq_read()
 * @entries: as kfi_cq_read()
 * @count: as kfi_cq_read()
 *
 * Context: any.
 * Return: as kfi_cq_read().
 */
ssize_t kofi_kfi_cq_read(struct fid_cq *cq, struct fi_cq_data_entry *entries, size_t count)
{
	struct kfi_cq *own = to_kfi_cq(cq);
	struct fi_cq_data_entry *entry = entries;
	ssize_t ret = -EAGAIN;
	int err = 0;

	if (READ_ONCE(own->count))
		return -FI_EAVAIL;
	if (atomic_dec_if_positive(&own->places) < 0)
		return -EAGAIN;
	while (entry < entries + count && !err) {
		ret = fi_cq_read(cq, entry, 1);
		if (ret != 1)
			break;
		if (entry->flags & (FI_REMOTE_READ | FI_REMOTE_WRITE))
			continue;
		entry->flags = kfi_cq_flags(entry->flags, &entry->op_context);
		err = kfi_cq_check(entry);
		if (likely(!err))
			entry++;
	}
	if (unlikely(err)) {
		kfi_cq_keep(own, entry, -err);
		ret = -FI_EAVAIL;
	} else {
		atomic_inc(&own->places);
	}
	return entry - entries ? : ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_cq_read);

/**
 * struct kfi_errno - An error as the clients know it
 * @native: of kOFI
 * @err: theirs
 */
struct kfi_errno {
	int	native;
	int	err;
};

/* Clients know errors of the kernel only, and tell by EHOSTUNREACH that a peer is not there */
static const struct kfi_errno kfi_errnos[] = {
	{ FI_ETRUNC,	EMSGSIZE },
	{ ECONNREFUSED,	EHOSTUNREACH },
	{ EHOSTDOWN,	EHOSTUNREACH },
	{ ENETUNREACH,	EHOSTUNREACH },
};

static int kfi_errno(int native)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kfi_errnos); i++)
		if (native == kfi_errnos[i].native)
			return kfi_errnos[i].err;
	return native > FI_ERRNO_OFFSET ? EREMOTEIO : native;
}

/**
 * kofi_kfi_cq_readerr() - kfi_cq_readerr()
 * @cq: as kfi_cq_readerr()
 * @entry: as kfi_cq_readerr()
 * @flags: as kfi_cq_readerr()
 *
 * Context: any.
 * Return: as kfi_cq_readerr().
 */
ssize_t kofi_kfi_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry, u64 flags)
{
	ssize_t ret;

	if (kfi_cq_take_kept(to_kfi_cq(cq), entry))
		return 1;
	entry->err_data = NULL;
	entry->err_data_size = 0;
	ret = fi_cq_readerr(cq, entry, flags);
	if (ret != 1)
		return ret;
	entry->flags = kfi_cq_flags(entry->flags, &entry->op_context);
	entry->err = kfi_errno(entry->err);
	return 1;
}
EXPORT_SYMBOL_GPL(kofi_kfi_cq_readerr);
