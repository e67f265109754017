// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that a peer offers, and that are read from its memory.  offer.c has those that this end
 * offers, writes.c those that the peer writes in place of having them read.
 *
 * Life of such a message
 *
 *	begun		it has a receive: rxm_rndv_begin()
 *	read		kofi_soft_ep.work reads it into the buffers of the receive, with
 *			RXM_READS reads of the connection in flight
 *	over		all reads have ended
 *	answered	kofi_soft_ep.work sends RXM_WIRE_RNDV_READ_DONE, and completes the receive.
 *			Every message is answered, also one that nobody wants, as the sender
 *			keeps its buffer until then
 *
 * So each of them has a receive, whose number is bounded, but for those that nobody wants.
 *
 * A read that fails ends the connection: the wire has no answer for that.  So does a peer that lets
 * no read complete for long, or has a message read too slowly (watch.c): a receive waits for it.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <rdma/fi_rma.h>
#include <kofi/compat.h>
#include "rxm.h"

/**
 * rxm_rndv_begin() - Read a message, and answer
 * @conn: the connection, in use or in a callback of its lower queue
 * @rx: the receive; NULL: nobody wants the message
 * @msg_id: its identity
 * @wire: where it is; valid
 *
 * Context: any.
 */
void rxm_rndv_begin(struct rxm_conn *conn, struct kofi_rx *rx, u64 msg_id,
		    const struct rxm_wire_rndv *wire)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_rndv *rndv = kofi_bufpool_get(&ep->rndv);
	unsigned long flags;

	if (!rndv) {
		/* Offers that nobody wants have no receive, which would bound them */
		if (rx)
			kofi_rx_fail(rx, 0, ECONNRESET, ECONNRESET);
		spin_lock_irqsave(&ep->soft.lock, flags);
		rxm_conn_fail(conn, ECONNRESET);
		spin_unlock_irqrestore(&ep->soft.lock, flags);
		return;
	}
	*rndv = (struct rxm_rndv) {
		.rx	= rx,
		.msg_id	= msg_id,
		.wire	= *wire,
		.size	= rx ? kofi_rx_len(rx) : 0,
	};
	spin_lock_irqsave(&ep->soft.lock, flags);
	if (rxm_writes_rndv()) {
		list_add_tail(&rndv->entry, &conn->writes);
		conn->to_write++;
	} else {
		list_add_tail(&rndv->entry, rndv->size ? &conn->rndvs : &conn->answers);
	}
	rxm_conn_ready(conn);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* One read less is in flight: the message may be over */
static void rxm_rndv_unread(struct rxm_conn *conn, struct rxm_rndv *rndv)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (!--rndv->reads && rndv->issued == rndv->size && !rndv->failed)
		list_move_tail(&rndv->entry, &conn->answers);
}

/* fi_done.done of a read */
void rxm_read_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rxm_read *read = container_of(done, struct rxm_read, done);
	struct rxm_conn *conn = read->conn;
	struct rxm_rndv *rndv = read->rndv;
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	read->rndv = NULL;
	conn->nreads--;
	conn->read_since = jiffies;
	conn->read_bytes += read->len;
	if (entry->err || rxm_is_read_slow(conn, rndv)) {
		rndv->failed = true;
		rxm_conn_fail(conn, ECONNRESET);
	}
	rxm_rndv_unread(conn, rndv);
	rxm_conn_ready(conn);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* Takes a slot for the next read; NULL: nothing is to be read, or enough is in flight */
static struct rxm_read *rxm_read_get(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_read *read = NULL;
	struct rxm_rndv *rndv;
	int i;

	spin_lock_irq(&ep->soft.lock);
	for (i = 0; i < RXM_READS && !conn->err; i++)
		if (!conn->reads[i].rndv)
			read = &conn->reads[i];
	if (!read)
		goto unlock;
	list_for_each_entry(rndv, &conn->rndvs, entry) {
		if (rndv->issued == rndv->size || rndv->failed)
			continue;
		read->rndv = rndv;
		if (!rndv->reads++ && !rndv->issued) {
			rndv->since = jiffies;
			rndv->before = conn->read_bytes;
		}
		break;
	}
	if (!read->rndv) {
		read = NULL;
		goto unlock;
	}
	if (!conn->nreads++)
		conn->read_since = jiffies;
	rxm_watch_begin(ep);
unlock:
	spin_unlock_irq(&ep->soft.lock);
	return read;
}

/* Posts the next read of a message; returns its bytes, or a negative errno */
static ssize_t rxm_read_post(struct rxm_conn *conn, struct rxm_read *read)
{
	struct rxm_rndv *rndv = read->rndv;
	size_t offset = rndv->issued, left = rndv->size - offset;
	struct fi_rma_iov rma = {};
	struct fi_msg_rma msg = {
		.iov_count	= 1,
		.addr		= FI_ADDR_UNSPEC,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= &read->done,
	};
	struct iov_iter iter;
	struct bio_vec bvec;
	struct kvec kvec;
	int i = 0;

	while (offset >= rndv->wire.iov[i].len)
		offset -= rndv->wire.iov[i++].len;
	rma.addr = rndv->wire.iov[i].addr + offset;
	rma.key = rndv->wire.iov[i].key;
	left = min_t(u64, left, rndv->wire.iov[i].len - offset);
	kofi_rx_iter(rndv->rx, rndv->issued, &iter);
	rma.len = min3(left, iov_iter_single_seg_count(&iter), (size_t)RXM_READ_MAX);
	if (iov_iter_is_bvec(&iter)) {
		bvec = *iter.bvec;
		bvec.bv_offset += iter.iov_offset;
		bvec.bv_len = rma.len;
		msg.type = FI_BUF_BVEC;
		msg.msg_bvec = &bvec;
	} else {
		kvec.iov_base = iter.kvec->iov_base + iter.iov_offset;
		if (is_vmalloc_or_module_addr(kvec.iov_base))
			rma.len = min_t(size_t, rma.len, conn->page_iov * PAGE_SIZE -
					offset_in_page(kvec.iov_base));
		kvec.iov_len = rma.len;
		msg.type = FI_BUF_KVEC;
		msg.msg_iov = &kvec;
	}
	read->len = rma.len;
	return fi_readmsg(conn->lower, &msg, FI_COMPLETION) ? : rma.len;
}

/**
 * rxm_rndv_read() - Post the reads that may be posted
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_rndv_read(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_read *read;
	struct rxm_rndv *rndv;
	ssize_t ret;

	while ((read = rxm_read_get(conn))) {
		rndv = read->rndv;
		/* One more, so that the message is not over before its issued bytes are counted */
		spin_lock_irq(&ep->soft.lock);
		rndv->reads++;
		spin_unlock_irq(&ep->soft.lock);
		ret = rxm_read_post(conn, read);
		spin_lock_irq(&ep->soft.lock);
		if (ret > 0) {
			rndv->issued += ret;
		} else {
			read->rndv = NULL;
			rndv->reads--;
			conn->nreads--;
			if (ret != -EAGAIN)
				rxm_conn_fail(conn, ECONNRESET);
		}
		rxm_rndv_unread(conn, rndv);
		spin_unlock_irq(&ep->soft.lock);
		if (ret <= 0)
			return;
	}
}

/**
 * rxm_rndv_answer() - Write the answer to a message that has been read
 * @conn: the connection
 * @buf: where it goes
 * @rx: the receive, for kofi_rx_complete(); or NULL: nobody wants the message
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: whether there is one.
 */
bool rxm_rndv_answer(struct rxm_conn *conn, struct rxm_buf *buf, struct kofi_rx **rx)
{
	struct rxm_rndv *rndv;

	lockdep_assert_held(&conn->ep->soft.lock);
	rndv = list_first_entry_or_null(&conn->answers, struct rxm_rndv, entry);
	if (!rndv)
		return false;
	*buf->hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.type	= RXM_WIRE_RNDV_READ_DONE,
		.ctrl.conn_id	= conn->peer_id,
		.ctrl.msg_id	= rndv->msg_id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
	};
	*rx = rndv->rx;
	list_del(&rndv->entry);
	kofi_bufpool_put(&conn->ep->rndv, rndv);
	return true;
}

/**
 * rxm_rndv_end() - End the messages that have not been read to their end
 * @conn: a connection without users, whose lower endpoint has been closed
 * @err: why, positive
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_rndv_end(struct rxm_conn *conn, int err)
{
	struct rxm_rndv *rndv, *next;
	struct kofi_rx *rx;

	/* A receive that is posted in a callback finds the object of this one free */
	list_for_each_entry_safe(rndv, next, &conn->answers, entry) {
		rx = rndv->rx;
		kofi_bufpool_put(&conn->ep->rndv, rndv);
		if (rx)
			kofi_rx_complete(rx);
	}
	list_for_each_entry_safe(rndv, next, &conn->rndvs, entry) {
		rx = rndv->rx;
		kofi_bufpool_put(&conn->ep->rndv, rndv);
		kofi_rx_fail(rx, 0, err, err);
	}
}
