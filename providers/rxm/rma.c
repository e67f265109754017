// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes: they are those of the lower endpoint, in their order among the packets.
 *
 * A message that its receiver wants written (offer.c) is posted as a write is.
 *
 * An operation is posted in pieces.  A piece has one range of remote memory, and as much of the
 * local buffers as an operation of the lower endpoint may have.  Most operations are one piece.
 * Remote CQ data go with the last one.
 *
 * An access that the target refuses ends a connection over reliable queue pairs, at both ends.
 * Then the connection is ended before the operation is reported, so that what the client posts next
 * goes by the next connection.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <rdma/fi_rma.h>
#include <kofi/compat.h>
#include "rxm.h"

/* Flags of operations that the lower endpoint is given */
#define RXM_RMA_FLAGS	(FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

/* Adds what an iterator points at to a list, as far as there is room; returns its bytes */
static size_t rxm_list_add(struct rxm_list *list, const struct iov_iter *at, size_t len,
			   size_t *room)
{
	struct bio_vec *bvec = &list->bvec[list->count];
	struct kvec *kvec = &list->kvec[list->count];
	size_t units = 1;

	len = min(len, iov_iter_single_seg_count(at));
	if (list->pages) {
		*bvec = *at->bvec;
		bvec->bv_offset += at->iov_offset;
		bvec->bv_len = len;
	} else {
		kvec->iov_base = at->kvec->iov_base + at->iov_offset;
		if (is_vmalloc_or_module_addr(kvec->iov_base)) {
			len = min(len, *room * PAGE_SIZE - offset_in_page(kvec->iov_base));
			units = DIV_ROUND_UP(offset_in_page(kvec->iov_base) + len, PAGE_SIZE);
		}
		kvec->iov_len = len;
	}
	list->count++;
	list->len += len;
	*room -= units;
	return len;
}

/**
 * rxm_list_set() - List the next bytes of local buffers, or the first of them
 * @list: the list
 * @iter: the buffers
 * @len: bytes
 * @room: elements, or pages of vmalloc memory, that the list may have
 *
 * Context: any.
 */
void rxm_list_set(struct rxm_list *list, const struct iov_iter *iter, size_t len, size_t room)
{
	struct iov_iter at = *iter;

	list->count = 0;
	list->len = 0;
	list->pages = iov_iter_is_bvec(iter);
	while (len && room && list->count < KOFI_OP_IOV && iov_iter_count(&at)) {
		size_t part = rxm_list_add(list, &at, min(len, iov_iter_count(&at)), &room);

		iov_iter_advance(&at, part);
		len -= part;
	}
}

/* Does the target report the next @len bytes of an operation? */
static bool rxm_rma_is_reported(const struct rxm_op *op, size_t len)
{
	const struct kofi_kept_op *kept = &op->soft.kept;

	return kept->type == FI_OP_WRITE && kept->flags & FI_REMOTE_CQ_DATA &&
	       op->sent + len == kept->len;
}

/* Posts the next piece of an operation; returns its bytes, or a negative errno */
static ssize_t rxm_rma_post_piece(struct rxm_conn *conn, struct rxm_op *op, struct rxm_rma *rma)
{
	struct kofi_kept_op *kept = &op->soft.kept;
	bool write = kept->type != FI_OP_READ;
	u64 flags = FI_COMPLETION;
	size_t offset = op->sent, len;
	struct rxm_list list;
	struct fi_rma_iov remote;
	struct fi_msg_rma msg = {
		.addr		= FI_ADDR_UNSPEC,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= &rma->done,
	};
	u32 i = 0;

	/* Else the piece is one of a message, and something comes behind it */
	if (kept->type == FI_OP_READ || kept->type == FI_OP_WRITE)
		flags |= kept->flags & RXM_RMA_FLAGS;
	if (!iov_iter_count(&op->iter))
		kofi_kept_next(kept, write ? ITER_SOURCE : ITER_DEST, &op->iter);
	while (i + 1 < kept->remote_count && offset >= kept->rma[i].len)
		offset -= kept->rma[i++].len;
	len = min(kept->rma[i].len - offset, conn->ep->info->ep_attr->max_msg_size);
	rxm_list_set(&list, &op->iter, len, conn->page_iov);
	remote.addr = kept->rma[i].addr + offset;
	remote.key = kept->rma[i].key;
	remote.len = list.len;
	msg.type = list.pages ? FI_BUF_BVEC : FI_BUF_KVEC;
	msg.iov_count = list.count;
	if (list.pages)
		msg.msg_bvec = list.bvec;
	else
		msg.msg_iov = list.kvec;
	if (!write)
		return fi_readmsg(conn->lower, &msg, flags) ? : list.len;
	if (rxm_rma_is_reported(op, list.len)) {
		flags |= FI_REMOTE_CQ_DATA;
		msg.data = kept->data;
	}
	return fi_writemsg(conn->lower, &msg, flags) ? : list.len;
}

/* Does an error of a call say that the connection is over, and not that the operation is wrong? */
static bool rxm_is_conn_err(int err)
{
	return err == ESHUTDOWN || err == ENOTCONN || err == ENODEV || err == FI_EOPBADSTATE;
}

/**
 * rxm_rma_begin() - Note that nothing of an operation has been posted
 * @op: a read, a write, or a message that is to be written
 *
 * Context: any.
 */
void rxm_rma_begin(struct rxm_op *op)
{
	/* Else the operation has come back from a connection that has posted nothing of it */
	if (!op->soft.kept.done)
		iov_iter_kvec(&op->iter, ITER_SOURCE, NULL, 0, 0);
}

/**
 * rxm_rma_post() - Post the next piece of an operation
 * @conn: a connection in use
 * @op: a read, a write, or a message that is to be written
 *
 * Context: any; the task that sends by the connection.
 * Return: 0; -EAGAIN: when a piece has completed, or the lower endpoint has room; another negative
 * errno: the connection is over.
 */
ssize_t rxm_rma_post(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_rma *rma;
	unsigned long flags;
	ssize_t ret;

	spin_lock_irqsave(&ep->soft.lock, flags);
	rma = list_first_entry_or_null(&conn->rmas_free, struct rxm_rma, entry);
	if (rma) {
		list_del_init(&rma->entry);
		rma->op = op;
		op->packets++;
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (!rma)
		return -EAGAIN;
	ret = rxm_rma_post_piece(conn, op, rma);
	if (ret >= 0) {
		conn->moved++;
		conn->sent += rxm_rma_is_reported(op, ret);
		/* The piece may have completed, but the operation has not: it counts one more */
		op->begun = true;
		op->sent += ret;
		iov_iter_advance(&op->iter, ret);
		return 0;
	}
	spin_lock_irqsave(&ep->soft.lock, flags);
	op->packets--;
	list_add(&rma->entry, &conn->rmas_free);
	if (ret != -EAGAIN && !rxm_is_conn_err(-ret)) {
		/* The lower endpoint does not have such an operation */
		op->err = op->err ? : -ret;
		op->sent = op->soft.kept.len;
		ret = 0;
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return ret;
}
