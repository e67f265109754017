// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that are offered to the peer, which reads them from the memory of their sender.
 *
 * Life of such a message
 *
 *	registered	kofi_soft_ep.work registers the buffers with the lower domain, before it
 *			sends the offer
 *	offered		RXM_WIRE_RNDV_REQ has been posted; the message is in rxm_conn.offered
 *	read		RXM_WIRE_RNDV_READ_DONE names it: it is in rxm_conn.read
 *	over		kofi_soft_ep.work has closed its regions, and its packet has completed
 *
 * Messages above RXM_SAR_MAX are offered, and those that are to have been delivered when they
 * complete (FI_DELIVERY_COMPLETE), as the peer answers when the message is in its receive.  A
 * message without bytes is never offered: libfabric reads nothing of it, and never answers.
 *
 * Not every list can be registered as a whole, because of gaps between its buffers or its length.
 * Then each buffer has a region of its own, as far as an offer has room for them.  If that cannot
 * be either, the message goes in segments; or, if it is to be delivered, it is copied and the copy
 * is offered.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "rxm.h"

/* Keys of regions of the provider's own, where it has to choose them */
#define RXM_OWN_KEY	BIT_ULL(63)
#define RXM_KEY_TRIES	8

/**
 * rxm_is_offered() - Is a message to be offered?
 * @op: the message, of which nothing has been sent
 *
 * Context: any.
 * Return: whether it is, if its buffers can be registered.
 */
bool rxm_is_offered(const struct rxm_op *op)
{
	const struct kofi_kept_op *kept = &op->soft.kept;

	if (!kept->len)
		return false;
	return kept->flags & FI_DELIVERY_COMPLETE || kept->len > RXM_SAR_MAX * rxm_eager();
}

/* Registers a list as the next region of a message */
static int rxm_offer_reg(struct rxm_domain *domain, struct rxm_op *op, struct fi_mr_attr *attr)
{
	int i, ret = -FI_ENOKEY;

	attr->access = FI_REMOTE_READ;
	attr->context = op;
	/* Nobody guesses it from another one, and the client may have requested it */
	for (i = 0; i < RXM_KEY_TRIES && ret == -FI_ENOKEY; i++) {
		attr->requested_key = RXM_OWN_KEY | get_random_u64();
		ret = fi_mr_regattr(domain->lower, attr, 0, &op->mrs[op->nmrs]);
	}
	if (!ret)
		op->nmrs++;
	return ret;
}

/* Registers each buffer of a message */
static int rxm_offer_reg_each(struct rxm_domain *domain, struct rxm_op *op)
{
	const struct kofi_iov *iov = &op->soft.kept.local;
	int ret = 0;
	u32 i;

	if (iov->count > RXM_WIRE_IOV)
		return -EINVAL;
	for (i = 0; i < iov->count && !ret; i++) {
		struct fi_mr_attr attr = { .iov_count = 1 };

		if (iov->pages) {
			attr.type = FI_BUF_BVEC;
			attr.mr_bvec = &iov->bvec[i];
		} else {
			attr.type = FI_BUF_KVEC;
			attr.mr_iov = &iov->kvec[i];
		}
		ret = rxm_offer_reg(domain, op, &attr);
	}
	if (ret)
		rxm_offer_unreg(op);
	return ret;
}

/* Registers the buffers of a message where they are */
static int rxm_offer_reg_in_place(struct rxm_domain *domain, struct rxm_op *op)
{
	const struct kofi_iov *iov = &op->soft.kept.local;
	struct fi_mr_attr attr = { .iov_count = iov->count };
	int ret;

	if (iov->pages) {
		attr.type = FI_BUF_BVEC;
		attr.mr_bvec = iov->bvec;
	} else {
		attr.type = FI_BUF_KVEC;
		attr.mr_iov = iov->kvec;
	}
	ret = rxm_offer_reg(domain, op, &attr);
	if (ret && iov->count > 1)
		ret = rxm_offer_reg_each(domain, op);
	return ret;
}

/* Registers a copy of a message */
static int rxm_offer_reg_copy(struct rxm_domain *domain, struct rxm_op *op)
{
	const struct kofi_kept_op *kept = &op->soft.kept;
	struct kvec kvec = { .iov_len = kept->len };
	struct fi_mr_attr attr = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= &kvec,
		.iov_count	= 1,
	};
	int ret;

	op->copy = kvzalloc(kvec.iov_len, GFP_KERNEL | __GFP_NOWARN);
	if (!op->copy)
		return -ENOMEM;
	kofi_iov_gather(op->copy, &kept->local, 0, kept->len);
	kvec.iov_base = op->copy;
	ret = rxm_offer_reg(domain, op, &attr);
	if (ret)
		rxm_offer_unreg(op);
	return ret;
}

/**
 * rxm_offer_prepare() - Register the buffers of a message that is to be offered
 * @conn: the connection
 * @op: the message; if it cannot be offered, and need not be, it has no regions afterwards
 *
 * Context: may sleep; kofi_soft_ep.work.
 * Return: 0; a negative errno: it has to be offered, and cannot be.
 */
int rxm_offer_prepare(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_domain *domain = container_of(conn->ep->soft.domain, struct rxm_domain, soft);
	const struct kofi_kept_op *kept = &op->soft.kept;
	int ret = rxm_offer_reg_in_place(domain, op);

	if (!ret || !(kept->flags & FI_DELIVERY_COMPLETE))
		return 0;
	return rxm_offer_reg_copy(domain, op);
}

/**
 * rxm_offer_unreg() - Close the regions of a message
 * @op: the message
 *
 * Context: may sleep.
 */
void rxm_offer_unreg(struct rxm_op *op)
{
	while (op->nmrs)
		kofi_lower_close(&op->mrs[--op->nmrs]->fid);
	kvfree(op->copy);
	op->copy = NULL;
}

/**
 * rxm_offer_fill() - Write the offer of a message
 * @op: the message, with regions
 * @wire: where it goes
 *
 * Context: any.
 */
void rxm_offer_fill(const struct rxm_op *op, struct rxm_wire_rndv *wire)
{
	const struct kofi_iov *iov = &op->soft.kept.local;
	int i;

	*wire = (struct rxm_wire_rndv) { .count = op->nmrs };
	for (i = 0; i < op->nmrs; i++) {
		wire->iov[i].addr = fi_mr_addr(op->mrs[i]);
		wire->iov[i].key = fi_mr_key(op->mrs[i]);
		if (op->nmrs == 1)
			wire->iov[i].len = op->soft.kept.len;
		else
			wire->iov[i].len = iov->pages ? iov->bvec[i].bv_len : iov->kvec[i].iov_len;
	}
}

/**
 * rxm_offer_read() - The peer has read a message
 * @conn: the connection, in use or in a callback of its lower queue
 * @msg_id: what the peer says
 *
 * Context: any.
 * Return: 0; -EPROTO: no such message has been offered.
 */
int rxm_offer_read(struct rxm_conn *conn, u64 msg_id)
{
	struct rxm_ep *ep = conn->ep;
	struct kofi_soft_op *op;
	unsigned long flags;
	int ret = -EPROTO;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_for_each_entry(op, &conn->offered, entry) {
		if (to_rxm_op(op)->msg_id != msg_id)
			continue;
		list_move_tail(&op->entry, &conn->read);
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
		ret = 0;
		break;
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return ret;
}

/* Ends the messages of a list, with an error or (0) without */
static void rxm_offers_end(struct rxm_conn *conn, struct list_head *list, int err)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_op *op;

	spin_lock_irq(&ep->soft.lock);
	while (!list_empty(list)) {
		op = to_rxm_op(list_first_entry(list, struct kofi_soft_op, entry));
		list_del(&op->soft.entry);
		spin_unlock_irq(&ep->soft.lock);
		rxm_offer_unreg(op);
		rxm_op_put(conn, op, err);
		spin_lock_irq(&ep->soft.lock);
	}
	spin_unlock_irq(&ep->soft.lock);
}

/**
 * rxm_offers_done() - End the messages that the peer has read
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_offers_done(struct rxm_conn *conn)
{
	rxm_offers_end(conn, &conn->read, 0);
}

/**
 * rxm_offer_end() - End the messages that have been offered
 * @conn: a connection without users, whose lower endpoint has been closed
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_offer_end(struct rxm_conn *conn)
{
	int err;

	rxm_offers_end(conn, &conn->read, 0);
	spin_lock_irq(&conn->ep->soft.lock);
	err = rxm_op_err(conn);
	spin_unlock_irq(&conn->ep->soft.lock);
	rxm_offers_end(conn, &conn->offered, err);
}
