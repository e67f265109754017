// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions for single operations (FI_MR_ENDPOINT).
 *
 * A client that exposes other memory with each request has one region for each request it may
 * have in flight, and uses these regions over and over:
 *
 *	EMPTY --fi_mr_refresh()--> READY --fi_mr_enable()--> ENABLED
 *	READY --fi_mr_disable(FI_DISCARD)--> EMPTY
 *	ENABLED --fi_mr_disable(), the peer has ended the key--> EMPTY
 *	ENABLED --fi_mr_disable(FI_DISCARD), it waits for the doorbell--> EMPTY
 *	ENABLED --fi_mr_disable()--> ENDING --its completion--> EMPTY
 *
 * The steps allocate nothing: the scatterlist that is mapped was allocated with the region, or the
 * client lends it (FI_MR_LEND).  The registration's work request is part of the region.  It waits
 * in the endpoint and goes in front of the endpoint's next operation, so both share a doorbell.
 * The key counts up each time.  A work request of its own ends a key, unless the peer's last
 * message has ended it.
 *
 * The memory must not change while a registration of it may be in use, so every call checks the
 * state.  The client guarantees that the peer has ended a key (FI_REMOTE_INV), and that the client
 * has waited for a completion.  While the registration waits for the doorbell, no device knows the
 * key and no peer can have ended it, so fi_mr_disable() refuses FI_REMOTE_INV.  FI_DISCARD takes
 * the registration back; fi_mr_disable() refuses it when the registration does not wait any more.
 *
 * Locking: the client makes one call on a region at a time.  The done function of fi_mr_disable()
 * sets EMPTY before it reports the completion.
 *
 * The region is bound to its endpoint, so the client closes the region first.  The close takes
 * back a registration that still waits for the doorbell.  A work request in flight needs the
 * region: the close answers -EBUSY while the endpoint is connected, and otherwise waits until
 * everything in flight has completed.  In a callback that the poller of the completion queue is in,
 * it would wait for itself, and answers -EDEADLK (kofi_cq_may_wait()).  No poller is in a callback
 * of an operation that has failed.
 */
#include <kofi/refuse.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "../ep.h"
#include "../mr.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

/* Has the device gone?  The caller holds the device */
static bool verbs_mr_ep_gone(const struct verbs_mr *mr)
{
	/* A removal sets the state of all endpoints before it waits for holders of the device */
	return mr->ep ? READ_ONCE(mr->ep->kep.conn.state) == KOFI_CONN_GONE :
			verbs_device_going(mr->domain->dev);
}

/* May the region take @len bytes, @offset into a page, by verbs_mr_ep_take_one()? */
static __always_inline bool verbs_mr_ep_fits(const struct verbs_mr *mr, size_t offset, size_t len)
{
	return len && offset % VERBS_MR_MIN_PAGE + len <= mr->one_limit;
}

/* Is @attr one buffer, with the access of the buffer before?  That is the common case */
static __always_inline bool verbs_mr_ep_is_one(struct verbs_mr *mr,
					       const struct fi_mr_attr *attr)
{
	const struct kvec *kvec = attr->mr_iov;
	struct scatterlist *sg = attr->mr_sgl;

	if (unlikely(attr->access != mr->asked || attr->iov_count != 1 || !kvec ||
		     attr->offset | attr->iface | attr->auth_key_size))
		return false;
	if (mr->segs)
		return attr->type == FI_BUF_KVEC && kofi_is_ram(kvec->iov_base, kvec->iov_len) &&
		       verbs_mr_ep_fits(mr, (uintptr_t)kvec->iov_base, kvec->iov_len);
	return attr->type == FI_BUF_SGL && kofi_page_is_memory(sg_page(sg), mr->domain->hmem) &&
	       verbs_mr_ep_fits(mr, sg->offset, sg->length);
}

/* Make a table of one entry, in memory of the region's own or the client's */
static __always_inline void verbs_mr_ep_table_of_one(struct verbs_mr *mr,
						     const struct fi_mr_attr *attr)
{
	const struct kvec *kvec = attr->mr_iov;

	if (!mr->segs) {
		mr->sgt.sgl = attr->mr_sgl;
		mr->sgt.orig_nents = 1;
		mr->len = attr->mr_sgl->length;
		return;
	}
	if (unlikely(mr->sgt.orig_nents != 1))
		verbs_mr_single_table(mr);
	sg_set_page(mr->segs, virt_to_page(kvec->iov_base), kvec->iov_len,
		    offset_in_page(kvec->iov_base));
	mr->len = kvec->iov_len;
	mr->linear = true;
}

/* Takes one segment, without a walk and without a choice of the page size */
static __always_inline int verbs_mr_ep_take_one(struct verbs_mr *mr,
						const struct fi_mr_attr *attr)
{
	int ret;

	verbs_mr_ep_table_of_one(mr, attr);
	ret = ib_dma_map_sgtable_attrs(mr->ibmr->device, &mr->sgt, mr->dir, 0);
	if (unlikely(ret))
		return verbs_peer_errno(mr->domain->dev, ret);
	mr->mapped = true;
	ret = verbs_mr_fill(mr, sg_dma_address(mr->sgt.sgl) & (VERBS_MR_MIN_PAGE - 1),
			    VERBS_MR_MIN_PAGE);
	if (unlikely(ret))
		verbs_mr_unmap(mr);
	return ret;
}

/* Refuses a call because of the region's state */
static noinline int verbs_mr_refuse(const char *call, const struct verbs_mr *mr,
				    const char *wanted)
{
	return kofi_refuse(call, -FI_EOPBADSTATE, "the region is %s, and has to be %s",
			   verbs_mr_state_name(mr), wanted);
}

static __always_inline int verbs_mr_ep_take(struct verbs_mr *mr,
					    const struct fi_mr_attr *attr, bool one)
{
	enum verbs_mr_state state = READ_ONCE(mr->state);
	int ret;

	if (unlikely(state == VERBS_MR_READY))
		verbs_mr_unmap(mr);
	else if (unlikely(state != VERBS_MR_EMPTY))
		return verbs_mr_refuse("mr_refresh", mr, "empty or ready: disable it, and wait for the completion");
	ret = one ? verbs_mr_ep_take_one(mr, attr) : verbs_mr_map(mr, attr);
	mr->state = ret ? VERBS_MR_EMPTY : VERBS_MR_READY;
	if (unlikely(ret == -ENOMEM))
		ret = mr->ep ? verbs_try_later(&mr->ep->tx, -EAGAIN) : -EAGAIN;
	return ret;
}

/* Clients call this for each request; it does not sleep */
static int verbs_mr_ep_refresh(struct fid_mr *fid_mr,
			       const struct fi_mr_attr *attr, u64 flags)
{
	struct verbs_mr *mr = to_verbs_mr(&fid_mr->fid);
	int ret = -ENODEV;
	bool one;

	if (unlikely(flags))
		return kofi_refuse_flags("mr_refresh", flags, 0);
	if (unlikely(!attr))
		return kofi_refuse("mr_refresh", -EINVAL, "attr is NULL");
	one = verbs_mr_ep_is_one(mr, attr);
	if (unlikely(!one && !kofi_mr_attr_is_valid(attr)))
		return kofi_refuse("mr_refresh", -EINVAL, "attr->type %d, attr->iov_count %zu: no list",
				   attr->type, attr->iov_count);
	verbs_device_hold();
	if (likely(!verbs_mr_ep_gone(mr)))
		ret = verbs_mr_ep_take(mr, attr, one);
	verbs_device_release();
	return ret;
}

/* What stays of the work request; verbs_mr_set_access() sets the access */
void verbs_mr_init_reg(struct verbs_mr *mr)
{
	mr->reg.wr.opcode = IB_WR_REG_MR;
	mr->reg.mr = mr->ibmr;
}

void verbs_mr_prepare_reg(struct verbs_mr *mr)
{
	ib_update_fast_reg_key(mr->ibmr, ib_inc_rkey(mr->ibmr->rkey));
	mr->reg.key = mr->ibmr->rkey;
}

/* An endpoint that is not connected has no slots, or has no use for this one */
static noinline struct verbs_slot *verbs_mr_ep_await_slot(struct verbs_ep *ep)
{
	int ret = kofi_conn_check(&ep->kep.conn, true);

	return ret ? ERR_PTR(ret) : verbs_slot_await(ep) ? : ERR_PTR(-EAGAIN);
}

/*
 * Puts the registration in front of the endpoint's next operation.  Checks the state of the
 * endpoint before that: when its device has gone, the region has no registration.
 */
static __always_inline int verbs_mr_ep_post(struct verbs_mr *mr)
{
	struct verbs_ep *ep = mr->ep;
	struct verbs_slot *slot;
	unsigned long flags;
	int ret;

	slot = verbs_slot_take(&ep->tx);
	if (unlikely(!slot)) {
		slot = verbs_mr_ep_await_slot(ep);
		if (IS_ERR(slot))
			return PTR_ERR(slot);
	}
	spin_lock_irqsave(&ep->tx.lock, flags);
	/* Behind the end of the connection verbs_ring_last() has rung the last doorbell */
	if (unlikely(READ_ONCE(ep->kep.conn.state) != KOFI_CONN_CONNECTED)) {
		ret = kofi_conn_check(&ep->kep.conn, true);
		if (ret) {
			spin_unlock_irqrestore(&ep->tx.lock, flags);
			verbs_slot_put(slot);
			return ret;
		}
	}
	verbs_mr_prepare_reg(mr);
	slot->comp.flags = 0;
	slot->comp.error = 0;
	slot->unreported = true;
	slot->regional = true;
	slot->due = true;
	slot->region = mr;
	slot->cqe.done = ep->tx.done;
	mr->reg.wr.wr_cqe = &slot->cqe;
	/* Not earlier: the poster of fi_mr_disable() may still be in the lock */
	mr->slot = slot;
	verbs_reg_wait(ep, mr);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return 0;
}

static int verbs_mr_ep_enable(struct fid_mr *fid_mr)
{
	struct verbs_mr *mr = to_verbs_mr(&fid_mr->fid);
	int ret;

	verbs_device_hold();
	if (likely(mr->ep && mr->state == VERBS_MR_READY))
		ret = verbs_mr_ep_post(mr);
	else
		ret = verbs_mr_ep_gone(mr) ? -ENODEV : -FI_EOPBADSTATE;
	if (likely(!ret)) {
		mr->mr.key = mr->reg.key;
		mr->mr.addr = mr->ibmr->iova;
		mr->state = VERBS_MR_ENABLED;
	} else if (ret != -EAGAIN) {
		kofi_refuse("mr_enable", ret, "the region is %s, and its endpoint is %s",
			    verbs_mr_state_name(mr),
			    mr->ep ? kofi_conn_state_name(&mr->ep->kep.conn) : "none");
	}
	verbs_device_release();
	return ret;
}

/* The key has ended: by our own work request, or by the peer */
static void verbs_mr_ep_ended(struct verbs_mr *mr)
{
	verbs_mr_unmap(mr);
	mr->mr.key = FI_KEY_NOTAVAIL;
	WRITE_ONCE(mr->state, VERBS_MR_EMPTY);
}

static noinline int verbs_mr_ep_invalidate(struct verbs_mr *mr, void *context)
{
	union verbs_any_wr any = {
		.wr.opcode		= IB_WR_LOCAL_INV,
		.wr.ex.invalidate_rkey	= mr->ibmr->rkey,
	};
	const struct verbs_call call = {
		.context	= context,
		.flags		= FI_COMPLETION,
		.comp_flags	= FI_RMA,
		.region		= mr,
	};
	struct kofi_list_iter nothing = {};
	int ret;

	/* The work request may complete before the call returns */
	mr->state = VERBS_MR_ENDING;
	ret = verbs_submit_any(mr->ep, &any, &call, &nothing);
	if (ret)
		mr->state = VERBS_MR_ENABLED;
	return ret;
}

static noinline int verbs_mr_ep_discard(struct verbs_mr *mr)
{
	if (mr->state == VERBS_MR_ENABLED && !verbs_reg_take_back(mr))
		return kofi_refuse("mr_disable", -EALREADY, "FI_DISCARD: a peer may have used the key; disable without the flag");
	verbs_mr_ep_ended(mr);
	return 0;
}

static int verbs_mr_ep_disable(struct fid_mr *fid_mr, u64 flags, void *context)
{
	struct verbs_mr *mr = to_verbs_mr(&fid_mr->fid);
	int ret = 0;

	if (unlikely(flags & ~FI_REMOTE_INV && flags != FI_DISCARD))
		return kofi_refuse_flags("mr_disable", flags, 0);
	verbs_device_hold();
	if (unlikely(verbs_mr_ep_gone(mr)))
		ret = -ENODEV;
	else if (unlikely(mr->state != VERBS_MR_ENABLED &&
			  !(mr->state == VERBS_MR_READY && flags == FI_DISCARD)))
		ret = verbs_mr_refuse("mr_disable", mr, "enabled");
	else if (!flags)
		ret = verbs_mr_ep_invalidate(mr, context);
	else if (unlikely(flags == FI_DISCARD))
		ret = verbs_mr_ep_discard(mr);
	else if (unlikely(verbs_reg_waits(mr)))
		ret = verbs_mr_refuse("mr_disable", mr, "invalidated by its peer, which cannot know the key yet");
	else
		verbs_mr_ep_ended(mr);
	verbs_device_release();
	return ret;
}

static int verbs_mr_ep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct verbs_mr *mr = to_verbs_mr(fid);

	if (bfid->fclass != FI_CLASS_EP)
		return kofi_refuse("mr_bind", -ENOSYS, "a region can be bound to an endpoint");
	if (flags)
		return kofi_refuse_flags("mr_bind", flags, 0);
	mr->ep = to_verbs_ep(bfid);
	return 0;
}

/* May the caller wait until everything in flight has completed?  It may be in a callback */
static int verbs_mr_ep_may_drain(const struct verbs_ep *ep)
{
	int ret = kofi_cq_may_wait(ep->kep.tx.cq, KOFI_CQ_WAIT_POLLER);

	/* The holder of drain.lock may wait for receives, too: fi_ep_drain(), or a removal */
	if (!ret)
		ret = kofi_cq_may_wait(ep->kep.rx.cq, KOFI_CQ_WAIT_POLLER);
	return ret;
}

/* The connection has ended: waits until everything in flight has completed */
static void verbs_mr_ep_drain(struct verbs_mr *mr)
{
	struct verbs_ep *ep = mr->ep;
	unsigned long flags;

	if (verbs_ep_drained(ep))
		return;
	mutex_lock(&ep->drain.lock);
	/* Without a queue pair the device has gone, and no work request is in flight */
	if (ep->qp) {
		rdma_lock_handler(ep->id);
		verbs_ep_flush(ep);
		rdma_unlock_handler(ep->id);
		verbs_drain_sq(ep->qp, verbs_queue_cq(&ep->tx));
	}
	mutex_unlock(&ep->drain.lock);

	/* An unsignaled operation that has succeeded may keep its slot until the close */
	spin_lock_irqsave(&ep->tx.lock, flags);
	if (mr->slot->region == mr)
		mr->slot->region = NULL;
	spin_unlock_irqrestore(&ep->tx.lock, flags);
}

/* Some devices use the region when they execute its work request, so none may be in flight */
static int verbs_mr_ep_quiesce(struct verbs_mr *mr)
{
	int ret;

	if (!mr->ep)
		return 0;
	if (mr->state != VERBS_MR_ENABLED && mr->state != VERBS_MR_ENDING)
		return 0;
	if (mr->state == VERBS_MR_ENABLED && verbs_reg_take_back(mr))
		return 0;
	/*
	 * If the work request has completed, its slot has another region or none.  Pairs with
	 * verbs_slot_finish(): done.c has finished with the region then.
	 */
	if (smp_load_acquire(&mr->slot->region) != mr)
		return 0;
	if (!kofi_conn_check(&mr->ep->kep.conn, true))
		return kofi_refuse("close", -EBUSY, "the key may be in use: fi_mr_disable() the region, and wait for the completion");
	ret = verbs_mr_ep_may_drain(mr->ep);
	if (!ret)
		verbs_mr_ep_drain(mr);
	return ret;
}

static int verbs_mr_ep_close(struct fid *fid)
{
	int ret = verbs_mr_ep_quiesce(to_verbs_mr(fid));

	return ret ? : verbs_mr_close(fid);
}

static const struct fi_ops verbs_mr_ep_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_mr_ep_close,
	.bind		= verbs_mr_ep_bind,
	.control	= verbs_mr_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_mr_ep verbs_mr_ep_ops = {
	.size		= sizeof(struct fi_ops_mr_ep),
	.refresh	= verbs_mr_ep_refresh,
	.enable		= verbs_mr_ep_enable,
	.disable	= verbs_mr_ep_disable,
};

static int verbs_mr_ep_limit(struct verbs_mr *mr, const struct fi_mr_attr *attr)
{
	ssize_t pages = 0;

	if (!kofi_mr_attr_is_empty(attr))
		pages = kofi_list_pages(attr->type, attr->mr_iov, attr->iov_count);
	if (pages < 0)
		return pages;
	mr->page_limit = max_t(size_t, pages, attr->page_limit);
	if (mr->page_limit >
	    mr->domain->dev->ibdev->attrs.max_fast_reg_page_list_len)
		return kofi_refuse("mr_regattr", -EMSGSIZE, "FI_MR_ENDPOINT: %zu pages; the most on this device is %u",
				   mr->page_limit,
				   mr->domain->dev->ibdev->attrs.max_fast_reg_page_list_len);
	if (mr->page_limit)
		return 0;
	return kofi_refuse("mr_regattr", -EINVAL, "FI_MR_ENDPOINT: the list is empty, and attr->page_limit is 0");
}

/* Makes a new region one for single operations, with its first memory or none */
int verbs_mr_ep_init(struct verbs_mr *mr, const struct fi_mr_attr *attr,
		     bool lent)
{
	const struct ib_device_attr *attrs = &mr->domain->dev->ibdev->attrs;
	int ret;

	ret = verbs_mr_ep_limit(mr, attr);
	if (ret)
		return ret;
	mr->seg_limit = mr->page_limit;
	/* verbs_mr_ep_take_one() needs the smallest pages */
	if (attrs->page_size_cap & VERBS_MR_MIN_PAGE)
		mr->one_limit = min3((u64)mr->page_limit * VERBS_MR_MIN_PAGE,
				     attrs->max_mr_size, (u64)verbs_mr_max_seg(mr));
	if (!lent) {
		mr->segs = kvcalloc(mr->seg_limit, sizeof(*mr->segs), GFP_KERNEL);
		if (!mr->segs)
			return -ENOMEM;
	}
	ret = kofi_mr_attr_is_empty(attr) ? verbs_mr_reserve(mr, attr->access) :
					    verbs_mr_map(mr, attr);
	if (ret)
		return ret;
	verbs_mr_init_reg(mr);
	mr->mr.fid.ops = &verbs_mr_ep_fid_ops;
	mr->mr.ops = &verbs_mr_ep_ops;
	mr->ended = verbs_mr_ep_ended;
	mr->mr.key = FI_KEY_NOTAVAIL;
	/* Local operations do not use a key that comes and goes */
	mr->mr.mem_desc = NULL;
	mr->state = mr->mapped ? VERBS_MR_READY : VERBS_MR_EMPTY;
	return 0;
}
