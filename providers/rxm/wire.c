// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is checked of a packet and of connection data before anything of them is used.
 *
 * These are pure functions, which need nothing of the kernel: scripts/fuzz compiles them for user
 * space, too.  They check what does not depend on what the connection has seen before, and that a
 * segment follows those before it.  Identities of messages, keys and addresses are looked up where
 * they are used.
 */
#include <linux/errno.h>
#include <linux/overflow.h>
#include <asm/byteorder.h>
#include "wire.h"

static bool rxm_wire_is_atomic(const struct rxm_wire_op *op)
{
	return op->op >= RXM_WIRE_BASE_ATOMIC && op->op <= RXM_WIRE_COMPARE_ATOMIC;
}

static bool rxm_wire_is_message(const struct rxm_wire_op *op)
{
	return op->op == RXM_WIRE_MSG || op->op == RXM_WIRE_TAGGED;
}

static bool rxm_wire_seg_is_valid(const struct rxm_wire_hdr *hdr, size_t len)
{
	u8 type = hdr->ctrl.seg_type & RXM_WIRE_SEG_MASK;

	return len && hdr->ctrl.seg_size == len && len < hdr->op.size && type &&
	       (type != RXM_WIRE_SEG_FIRST || !hdr->ctrl.seg_no);
}

static bool rxm_wire_rndv_is_valid(const struct rxm_wire_rndv *wire, u64 size)
{
	u64 sum = 0;
	int i;

	if (!wire->count || wire->count > RXM_WIRE_IOV)
		return false;
	for (i = 0; i < wire->count; i++)
		if (check_add_overflow(sum, wire->iov[i].len, &sum))
			return false;
	return sum == size;
}

static bool rxm_wire_target_is_valid(const struct rxm_wire_rndv *wire)
{
	return wire->count && wire->count <= RXM_WIRE_IOV;
}

static bool rxm_wire_request_is_valid(const struct rxm_wire_op *op, size_t len)
{
	return len >= sizeof(struct rxm_wire_atomic) && op->size == len &&
	       op->atomic.ioc_count && op->atomic.ioc_count <= RXM_WIRE_IOV;
}

static bool rxm_wire_resp_is_valid(const struct rxm_wire_resp *wire, size_t len)
{
	return len >= sizeof(*wire) && be32_to_cpu(wire->result_len) == len - sizeof(*wire);
}

/**
 * rxm_wire_check() - Check what a packet says by itself
 * @hdr: the packet
 * @len: its bytes
 * @conn_id: what it has to name
 *
 * Context: any.
 * Return: 0: there is a whole header, its kind is one that is taken, and the payload is as this
 * kind has it; -EPROTO: the packet breaks the rules.
 */
int rxm_wire_check(const struct rxm_wire_hdr *hdr, size_t len, u32 conn_id)
{
	bool message, atomic, valid = false;
	const void *payload = hdr + 1;

	if (len < sizeof(*hdr) || hdr->ctrl.version != RXM_WIRE_CTRL_VERSION ||
	    (u32)hdr->ctrl.conn_id != conn_id || hdr->op.version != RXM_WIRE_OP_HDR_VERSION)
		return -EPROTO;
	len -= sizeof(*hdr);
	message = rxm_wire_is_message(&hdr->op);
	atomic = rxm_wire_is_atomic(&hdr->op);
	switch (hdr->ctrl.type) {
	case RXM_WIRE_EAGER:
		valid = message && hdr->op.size == len;
		break;
	case RXM_WIRE_SEG:
		valid = message && rxm_wire_seg_is_valid(hdr, len);
		break;
	case RXM_WIRE_RNDV_REQ:
		valid = message && len == sizeof(struct rxm_wire_rndv) &&
			rxm_wire_rndv_is_valid(payload, hdr->op.size);
		break;
	case RXM_WIRE_RNDV_READ_DONE:
		/* libfabric leaves the operation of an earlier packet there, which may be any */
		valid = true;
		break;
	case RXM_WIRE_RNDV_WRITE_DATA:
		valid = len == sizeof(struct rxm_wire_rndv) && rxm_wire_target_is_valid(payload);
		break;
	case RXM_WIRE_RNDV_WRITE_DONE:
		valid = !len;
		break;
	case RXM_WIRE_ATOMIC:
		valid = atomic && rxm_wire_request_is_valid(&hdr->op, len);
		break;
	case RXM_WIRE_CREDIT:
		valid = !len && hdr->ctrl.credits;
		break;
	case RXM_WIRE_LEAVE:
	case RXM_WIRE_STAY:
		valid = message && !len;
		break;
	case RXM_WIRE_ATOMIC_RESP:
		valid = atomic && rxm_wire_resp_is_valid(payload, len);
		break;
	}
	return valid ? 0 : -EPROTO;
}

/**
 * rxm_wire_seg_check() - Check that a segment follows those that have come
 * @hdr: the segment, which is not the first and has passed rxm_wire_check()
 * @size: bytes of its message
 * @have: of these, bytes that have come
 * @next: number of the next segment
 *
 * Context: any.
 * Return: 0; -EPROTO: a segment is missing, or the lengths do not fit.
 */
int rxm_wire_seg_check(const struct rxm_wire_hdr *hdr, u64 size, u64 have, u32 next)
{
	u8 type = hdr->ctrl.seg_type & RXM_WIRE_SEG_MASK;
	u64 left = size - have;

	if (hdr->ctrl.seg_no != next || hdr->op.size != size || hdr->ctrl.seg_size > left)
		return -EPROTO;
	if (type != (hdr->ctrl.seg_size == left ? RXM_WIRE_SEG_LAST : RXM_WIRE_SEG_MIDDLE))
		return -EPROTO;
	return 0;
}

/**
 * rxm_wire_request_check() - Check the connection data of a request
 * @msg: the data
 * @len: bytes that have come
 * @eager_limit: of this end
 *
 * Context: any.
 * Return: 0; -EPROTO: the two ends do not fit.
 */
int rxm_wire_request_check(const struct rxm_wire_request *msg, size_t len, u32 eager_limit)
{
	if (len < sizeof(*msg) || msg->version != RXM_WIRE_CM_VERSION ||
	    msg->endian != RXM_WIRE_ENDIAN || msg->ctrl_version != RXM_WIRE_CTRL_VERSION ||
	    msg->op_version != RXM_WIRE_OP_VERSION || msg->ep_idx ||
	    msg->eager_limit != eager_limit || !msg->port)
		return -EPROTO;
	return 0;
}
