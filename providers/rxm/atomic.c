// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations: a request, which the target executes by kofi/atomic.h, and a response.
 *
 * Life of an operation at its initiator
 *
 *	requested	RXM_WIRE_ATOMIC has been posted; the operation is in rxm_conn.atomics
 *	answered	RXM_WIRE_ATOMIC_RESP names it: old values are in their buffers
 *	over		its request has completed at the lower endpoint, too
 *
 * The target writes the response into the buffer of the request, which is received into again when
 * the response has been sent.  So a response lacks no memory, and a peer that takes none has the
 * receives of its own connection only.  As both ends may do this, each has RXM_ATOMICS operations
 * under way, and receives are left for all other packets.
 *
 * Reads and writes of the peer do not wait for requests that came before them.
 */
#include <linux/module.h>
#include <linux/overflow.h>
#include <kofi/atomic.h>
#include "rxm.h"

/* The initiator */

static u8 rxm_atomic_op(const struct kofi_kept_op *kept)
{
	switch (kept->type) {
	case FI_OP_FETCH_ATOMIC:
		return RXM_WIRE_FETCH_ATOMIC;
	case FI_OP_COMPARE_ATOMIC:
		return RXM_WIRE_COMPARE_ATOMIC;
	default:
		return RXM_WIRE_BASE_ATOMIC;
	}
}

/* Bytes of the old values that the initiator wants back */
static size_t rxm_atomic_result(const struct kofi_kept_op *kept)
{
	return kept->type == FI_OP_ATOMIC ? 0 : kept->len;
}

/**
 * rxm_atomic_fill() - Write the request of an atomic operation
 * @conn: the connection
 * @op: the operation
 * @hdr: where it goes; what all packets have is there
 *
 * Context: any.
 * Return: its bytes of payload.
 */
size_t rxm_atomic_fill(struct rxm_conn *conn, struct rxm_op *op, struct rxm_wire_hdr *hdr)
{
	const struct kofi_kept_op *kept = &op->soft.kept;
	struct rxm_wire_atomic *wire = (void *)(hdr + 1);
	u8 *data = (u8 *)(wire + 1);
	u32 i;

	op->msg_id = ++conn->msg_id;
	hdr->ctrl.type = RXM_WIRE_ATOMIC;
	hdr->ctrl.msg_id = op->msg_id;
	hdr->op.op = rxm_atomic_op(kept);
	hdr->op.atomic.datatype = kept->datatype;
	hdr->op.atomic.op = kept->op;
	hdr->op.atomic.ioc_count = kept->remote_count;
	memset(wire, 0, sizeof(*wire));
	for (i = 0; i < kept->remote_count; i++) {
		wire->ioc[i].addr = kept->ioc[i].addr;
		wire->ioc[i].count = kept->ioc[i].count;
		wire->ioc[i].key = kept->ioc[i].key;
	}
	if (kept->op != FI_ATOMIC_READ) {
		kofi_iov_gather(data, &kept->local, 0, kept->len);
		data += kept->len;
	}
	if (kept->type == FI_OP_COMPARE_ATOMIC) {
		kofi_iov_gather(data, &kept->compare, 0, kept->len);
		data += kept->len;
	}
	hdr->op.size = data - (u8 *)wire;
	return hdr->op.size;
}

/* Takes the operation that a response names out of the list; NULL: there is none */
static struct rxm_op *rxm_atomic_take(struct rxm_conn *conn, u64 msg_id)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_op *found = NULL;
	struct kofi_soft_op *op;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_for_each_entry(op, &conn->atomics, entry) {
		if (to_rxm_op(op)->msg_id != msg_id)
			continue;
		found = to_rxm_op(op);
		list_del_init(&op->entry);
		conn->natomics--;
		/* The next one may wait for the place of this one */
		rxm_conn_ready(conn);
		if (!list_empty(&conn->ready))
			kofi_soft_kick(&ep->soft);
		break;
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return found;
}

/**
 * rxm_atomic_answered() - Take the response to an atomic operation
 * @conn: the connection, in use or in a callback of its lower queue
 * @buf: the response, checked by rxm_wire_check()
 *
 * Context: any.
 * Return: 0; -EPROTO: it breaks the rules.
 */
int rxm_atomic_answered(struct rxm_conn *conn, const struct rxm_buf *buf)
{
	const struct rxm_wire_resp *wire = (const void *)(buf->hdr + 1);
	size_t len = rxm_payload(buf), result;
	struct rxm_op *op;
	s64 status;

	op = rxm_atomic_take(conn, buf->hdr->ctrl.msg_id);
	if (!op)
		return -EPROTO;
	status = (s32)be32_to_cpu(wire->status);
	result = rxm_atomic_result(&op->soft.kept);
	if (!status && len - sizeof(*wire) == result) {
		if (result)
			kofi_iov_scatter(&op->soft.kept.result, 0, wire + 1, result);
		rxm_op_put(conn, op, 0);
		return 0;
	}
	rxm_op_put(conn, op, status && abs(status) < MAX_ERRNO ? abs(status) : EIO);
	return status ? 0 : -EPROTO;
}

/**
 * rxm_atomic_end() - End the atomic operations that have not been answered
 * @conn: a connection without users, whose lower endpoint has been closed
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_atomic_end(struct rxm_conn *conn)
{
	struct rxm_op *op;
	int err;

	spin_lock_irq(&conn->ep->soft.lock);
	err = rxm_op_err(conn);
	spin_unlock_irq(&conn->ep->soft.lock);
	while (!list_empty(&conn->atomics)) {
		op = to_rxm_op(list_first_entry(&conn->atomics, struct kofi_soft_op, entry));
		list_del(&op->soft.entry);
		rxm_op_put(conn, op, err);
	}
}

/* The target */

/**
 * struct rxm_request - A request of the peer
 * @atomic: the operation
 * @ioc: its target
 * @count: elements of @ioc
 * @operand: bytes of operands in front of those to compare with
 */
struct rxm_request {
	struct kofi_atomic	atomic;
	struct fi_rma_ioc	ioc[RXM_WIRE_IOV];
	u32			count;
	size_t			operand;
};

/* Reads a request; 0; -EPROTO: it breaks the rules; another errno is the response */
static int rxm_request_read(const struct rxm_buf *buf, struct rxm_request *request)
{
	const struct rxm_wire_op *wire_op = &buf->hdr->op;
	const struct rxm_wire_atomic *wire = (const void *)(buf->hdr + 1);
	struct kofi_atomic *atomic = &request->atomic;
	size_t size, len = 0, data = rxm_payload(buf) - sizeof(*wire);
	u32 i;
	int ret;

	*atomic = (struct kofi_atomic) {
		.datatype	= wire_op->atomic.datatype,
		.op		= wire_op->atomic.op,
		.form		= wire_op->op == RXM_WIRE_FETCH_ATOMIC ? FI_FETCH_ATOMIC :
				  wire_op->op == RXM_WIRE_COMPARE_ATOMIC ? FI_COMPARE_ATOMIC : 0,
	};
	ret = kofi_atomic_valid(atomic->datatype, atomic->op, atomic->form, &size);
	if (ret)
		return ret;
	request->count = wire_op->atomic.ioc_count;
	for (i = 0; i < request->count; i++) {
		request->ioc[i].addr = wire->ioc[i].addr;
		request->ioc[i].count = wire->ioc[i].count;
		request->ioc[i].key = wire->ioc[i].key;
		len = size_add(len, size_mul(wire->ioc[i].count, size));
	}
	request->operand = atomic->op == FI_ATOMIC_READ ? 0 : len;
	if (len > rxm_eager() - sizeof(struct rxm_wire_resp))
		return -EPROTO;
	if (data != request->operand + (atomic->form == FI_COMPARE_ATOMIC ? len : 0))
		return -EPROTO;
	return 0;
}

/* The result of an element ends in front of its operand */
static_assert(sizeof(struct rxm_wire_atomic) >= sizeof(struct rxm_wire_resp) + sizeof(u64));

/* Executes a request, with the result in the response; returns its bytes or a negative errno */
static ssize_t rxm_request_run(struct rxm_conn *conn, struct rxm_buf *buf,
			       struct rxm_request *request)
{
	struct kofi_soft_ep *soft = &conn->ep->soft;
	struct kofi_atomic *atomic = &request->atomic;
	u8 *operand = (u8 *)(buf->hdr + 1) + sizeof(struct rxm_wire_atomic);
	struct kvec values[] = {
		{ operand, request->operand },
		{ operand + request->operand, request->operand },
		{ (u8 *)(buf->hdr + 1) + sizeof(struct rxm_wire_resp),
		  rxm_eager() - sizeof(struct rxm_wire_resp) },
	};
	struct kofi_rma rma;
	ssize_t ret;

	if (!(soft->kep.caps & FI_ATOMIC))
		return -EACCES;
	ret = kofi_atomic_get(&rma, &soft->domain->mrs.map, &soft->kep.ep, request->ioc,
			      request->count, atomic);
	if (ret)
		return ret;
	/* Each result overwrites what has been used, as it is in front of its operands */
	iov_iter_kvec(&atomic->operand, ITER_SOURCE, &values[0], 1, values[0].iov_len);
	iov_iter_kvec(&atomic->compare, ITER_SOURCE, &values[1], 1, values[1].iov_len);
	iov_iter_kvec(&atomic->result, ITER_DEST, &values[2], 1, values[2].iov_len);
	ret = kofi_atomic_run(&rma, atomic);
	kofi_rma_done(&rma, -ret);
	if (ret)
		return ret;
	return atomic->form ? rma.len : 0;
}

/**
 * rxm_atomic() - Execute an atomic operation of the peer, and have its response sent
 * @conn: the connection, in use or in a callback of its lower queue
 * @buf: the request; the response afterwards, until it has been sent
 * @operand: bytes of operands that have been used; or a negative errno: it has been refused
 *
 * Context: any.
 * Return: 1: the buffer is in use; -EPROTO: the request breaks the rules.
 */
int rxm_atomic(struct rxm_conn *conn, struct rxm_buf *buf, ssize_t *operand)
{
	struct rxm_wire_resp *wire = (void *)(buf->hdr + 1);
	struct rxm_wire_hdr *hdr = buf->hdr;
	struct rxm_ep *ep = conn->ep;
	struct rxm_request request;
	unsigned long flags;
	ssize_t ret;

	ret = rxm_request_read(buf, &request);
	if (ret == -EPROTO)
		return ret;
	if (!ret)
		ret = rxm_request_run(conn, buf, &request);
	*operand = ret < 0 ? ret : (ssize_t)request.operand;
	*hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.type	= RXM_WIRE_ATOMIC_RESP,
		.ctrl.msg_id	= hdr->ctrl.msg_id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
		.op.op		= hdr->op.op,
		.op.size	= sizeof(*wire) + max_t(ssize_t, ret, 0),
	};
	wire->status = cpu_to_be32(min_t(ssize_t, ret, 0));
	wire->result_len = cpu_to_be32(max_t(ssize_t, ret, 0));
	buf->len = sizeof(*hdr) + hdr->op.size;
	spin_lock_irqsave(&ep->soft.lock, flags);
	list_add_tail(&buf->entry, &conn->responses);
	rxm_conn_ready(conn);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return 1;
}

/**
 * rxm_respond() - Send the responses that are due
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 * Return: 0; a negative errno: the connection is over.
 */
int rxm_respond(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_buf *buf;
	ssize_t ret;

	for (;;) {
		spin_lock_irq(&ep->soft.lock);
		buf = list_first_entry_or_null(&conn->responses, struct rxm_buf, entry);
		if (buf && !rxm_credit_get(conn))
			buf = NULL;
		if (buf)
			list_del_init(&buf->entry);
		spin_unlock_irq(&ep->soft.lock);
		if (!buf)
			return 0;
		/* The request may have come before the answer that tells it */
		buf->hdr->ctrl.conn_id = conn->peer_id;
		ret = fi_send(conn->lower, buf->hdr, buf->len, NULL, FI_ADDR_UNSPEC, &buf->done);
		/* There is a slot for each receive */
		if (ret)
			return ret;
		conn->sent++;
	}
}
