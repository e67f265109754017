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
 * or, if the peer wants the message written rather than read it:
 *
 *	asked		RXM_WIRE_RNDV_WRITE_DATA names it, and where it is to go: it is in
 *			rxm_conn.asked
 *	posted		kofi_soft_ep.work has posted all writes (rma.c): it is in rxm_conn.writing
 *	wrote		all of them have completed, and kofi_soft_ep.work has closed the regions: it
 *			is in rxm_conn.wrote
 *	over		RXM_WIRE_RNDV_WRITE_DONE has completed
 *
 * What is sent behind a write comes behind it (FI_ORDER_SAW).  The end of the writes waits for
 * their completions nevertheless: libfabric does not know a message yet, and loses it, if the end
 * comes before its own completion of RXM_WIRE_RNDV_WRITE_DATA.
 *
 * Messages above RXM_SAR_MAX are offered, and those that are to have been delivered when they
 * complete (FI_DELIVERY_COMPLETE), as the peer answers when the message is in its receive.  A
 * message without bytes is never offered: libfabric reads nothing of it, and never answers.
 *
 * If the buffers of a message cannot be registered (regs.c), it goes in segments; or, if it is to
 * be delivered, it is copied and the copy is offered.
 */
#include <linux/module.h>
#include "rxm.h"

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

/* Registers the buffers of a message where they are */
static int rxm_offer_reg_in_place(struct rxm_domain *domain, struct rxm_op *op)
{
	const struct kofi_iov *iov = &op->soft.kept.local;
	struct fi_mr_attr list = { .iov_count = iov->count };

	if (iov->pages) {
		list.type = FI_BUF_BVEC;
		list.mr_bvec = iov->bvec;
	} else {
		list.type = FI_BUF_KVEC;
		list.mr_iov = iov->kvec;
	}
	return rxm_regs_open(domain, &op->regs, FI_REMOTE_READ, &list);
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
	return rxm_regs_open_copy(domain, &op->regs, FI_REMOTE_READ, kept->len, &kept->local);
}

/**
 * rxm_offer_unreg() - Close the regions of a message
 * @op: the message
 *
 * Context: may sleep.
 */
void rxm_offer_unreg(struct rxm_op *op)
{
	rxm_regs_close(&op->regs);
	rxm_regs_free(&op->regs);
}

/* Finds a message on offer, or NULL */
static struct rxm_op *rxm_offer_find(struct rxm_conn *conn, u64 msg_id)
{
	struct kofi_soft_op *op;

	lockdep_assert_held(&conn->ep->soft.lock);
	list_for_each_entry(op, &conn->offered, entry)
		if (to_rxm_op(op)->msg_id == msg_id)
			return to_rxm_op(op);
	return NULL;
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
	unsigned long flags;
	struct rxm_op *op;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op = rxm_offer_find(conn, msg_id);
	if (op) {
		list_move_tail(&op->soft.entry, &conn->read);
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return op ? 0 : -EPROTO;
}

/* Notes where a message is to go, as far as it fits there */
static void rxm_offer_set_target(struct rxm_op *op, const struct rxm_wire_rndv *wire)
{
	struct kofi_kept_op *kept = &op->soft.kept;
	u64 left = kept->len;
	u32 i;

	static_assert(RXM_WIRE_IOV <= KOFI_RMA_MAX_IOV);
	for (i = 0; i < wire->count && left; i++) {
		kept->rma[i].addr = wire->iov[i].addr;
		kept->rma[i].len = min(wire->iov[i].len, left);
		kept->rma[i].key = wire->iov[i].key;
		left -= kept->rma[i].len;
	}
	kept->remote_count = i;
	op->asked = kept->len - left;
}

/**
 * rxm_offer_asked() - The peer wants a message written
 * @conn: the connection, in use or in a callback of its lower queue
 * @msg_id: what the peer says
 * @wire: where the message is to go; valid
 *
 * Context: any.
 * Return: 0; -EPROTO: no such message has been offered.
 */
int rxm_offer_asked(struct rxm_conn *conn, u64 msg_id, const struct rxm_wire_rndv *wire)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;
	struct rxm_op *op;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op = rxm_offer_find(conn, msg_id);
	if (op) {
		rxm_offer_set_target(op, wire);
		list_move_tail(&op->soft.entry, &conn->asked);
		op->is_asked = true;
		conn->to_write++;
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return op ? 0 : -EPROTO;
}

/* Posts writes of a message; 0: all of them; -EAGAIN: the rest has to wait; else: none any more */
static ssize_t rxm_offer_write(struct rxm_conn *conn, struct rxm_op *op)
{
	ssize_t ret = 0;

	/* Until now the whole message counted as sent: its offer was */
	if (!op->soft.kept.done) {
		rxm_rma_begin(op);
		op->sent = 0;
	}
	while (op->sent < op->asked && !ret)
		ret = rxm_rma_post(conn, op);
	return ret ? : -READ_ONCE(op->err);
}

/* Posts the writes of the messages that the peer wants written */
static void rxm_offers_post(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct kofi_soft_op *op;
	ssize_t ret = 0;

	spin_lock_irq(&ep->soft.lock);
	while (!ret && !conn->err) {
		op = list_first_entry_or_null(&conn->asked, struct kofi_soft_op, entry);
		if (!op)
			break;
		spin_unlock_irq(&ep->soft.lock);
		ret = rxm_offer_write(conn, to_rxm_op(op));
		spin_lock_irq(&ep->soft.lock);
		if (!ret)
			list_move_tail(&op->entry, &conn->writing);
		else if (ret != -EAGAIN)
			rxm_conn_fail(conn, ECONNRESET);
	}
	spin_unlock_irq(&ep->soft.lock);
}

/* Takes a message of which all writes have completed, and the offer: the peer is to know */
static struct rxm_op *rxm_offer_take_written(struct rxm_conn *conn)
{
	struct kofi_soft_op *op;

	lockdep_assert_held(&conn->ep->soft.lock);
	list_for_each_entry(op, &conn->writing, entry) {
		if (to_rxm_op(op)->packets > 1)
			continue;
		list_del_init(&op->entry);
		return to_rxm_op(op);
	}
	return NULL;
}

/**
 * rxm_offers_write() - Write the messages that the peer wants written
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_offers_write(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_op *op;

	rxm_offers_post(conn);
	spin_lock_irq(&ep->soft.lock);
	while ((op = rxm_offer_take_written(conn))) {
		spin_unlock_irq(&ep->soft.lock);
		rxm_offer_unreg(op);
		spin_lock_irq(&ep->soft.lock);
		list_add_tail(&op->soft.entry, &conn->wrote);
	}
	spin_unlock_irq(&ep->soft.lock);
}

/**
 * rxm_offer_wrote() - Write RXM_WIRE_RNDV_WRITE_DONE, if one is due
 * @conn: the connection
 * @buf: where it goes; the message is over when it has completed
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: whether one is.
 */
bool rxm_offer_wrote(struct rxm_conn *conn, struct rxm_buf *buf)
{
	struct kofi_soft_op *op;

	lockdep_assert_held(&conn->ep->soft.lock);
	op = list_first_entry_or_null(&conn->wrote, struct kofi_soft_op, entry);
	if (!op)
		return false;
	list_del_init(&op->entry);
	conn->to_write--;
	/* The packet is what the message has waited for */
	buf->op = to_rxm_op(op);
	*buf->hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.type	= RXM_WIRE_RNDV_WRITE_DONE,
		.ctrl.conn_id	= conn->peer_id,
		.ctrl.msg_id	= buf->op->msg_id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
	};
	return true;
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
	rxm_offers_end(conn, &conn->wrote, err);
	rxm_offers_end(conn, &conn->writing, err);
	rxm_offers_end(conn, &conn->asked, err);
	rxm_offers_end(conn, &conn->offered, err);
}
