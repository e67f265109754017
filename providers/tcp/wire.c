// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The wire of wire.h: from bytes to headers and back.
 *
 * The bytes come from a peer and may have any value.  Each length is compared with all other
 * lengths before it is used.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/swab.h>
#include <asm/byteorder.h>
#include "wire.h"

/* Integers of data messages, to the peer's order or from it */

static u16 ktcp_order16(u16 value, bool net_order)
{
	return net_order ? be16_to_cpu((__force __be16)value) : value;
}

static u64 ktcp_order64(u64 value, bool net_order)
{
	return net_order ? be64_to_cpu((__force __be64)value) : value;
}

static void ktcp_order_rma(struct fi_rma_iov *rma, u32 count, bool net_order)
{
	u32 i;

	for (i = 0; i < count; i++) {
		rma[i].addr = ktcp_order64(rma[i].addr, net_order);
		rma[i].len = ktcp_order64(rma[i].len, net_order);
		rma[i].key = ktcp_order64(rma[i].key, net_order);
	}
}

/* Which operations have ranges */
static bool ktcp_op_has_rma(u8 op)
{
	return op == TCP_WIRE_READ_REQ || op == TCP_WIRE_WRITE;
}

/* Is it a message for an untagged receive, with a tag in its header? */
static bool ktcp_has_tag_flag(u8 op, u16 flags)
{
	return op == TCP_WIRE_MSG && flags & TCP_WIRE_HAS_TAG;
}

/* Bytes of the header that the base announces; negative errno */
static int ktcp_hdr_len(const struct ktcp_wire_base *base)
{
	size_t len = sizeof(*base);

	switch (base->op) {
	case TCP_WIRE_RTS:
	case TCP_WIRE_TAGGED_READ:
		len += sizeof(u64);
		fallthrough;
	case TCP_WIRE_TAGGED:
	case TCP_WIRE_TAGGED_WRITE:
		len += sizeof(u64);
		fallthrough;
	case TCP_WIRE_MSG:
	case TCP_WIRE_READ_REQ:
	case TCP_WIRE_WRITE:
	case TCP_WIRE_REFUSAL:
		if (base->flags & TCP_WIRE_CQ_DATA)
			len += sizeof(u64);
		break;
	case TCP_WIRE_READ_RSP:
	case TCP_WIRE_CTS:
	case TCP_WIRE_DATA:
		/* These may repeat the flags of their request or RTS, but have no CQ data */
		break;
	default:
		return -EPROTO;
	}
	if (ktcp_has_tag_flag(base->op, base->flags))
		len += sizeof(u64);
	if (ktcp_op_has_rma(base->op)) {
		if (!base->rma_iov_cnt || base->rma_iov_cnt > KOFI_RMA_MAX_IOV)
			return -EPROTO;
		len += base->rma_iov_cnt * sizeof(struct fi_rma_iov);
	}
	return len;
}

/* Return true if TCP_WIRE_CQ_DATA of this message means that its header has remote CQ data */
static bool ktcp_op_has_data(u8 op)
{
	return op != TCP_WIRE_READ_RSP && op != TCP_WIRE_CTS && op != TCP_WIRE_DATA;
}

static bool ktcp_op_has_tag(u8 op, u16 flags)
{
	return op == TCP_WIRE_TAGGED || op == TCP_WIRE_RTS || op == TCP_WIRE_TAGGED_READ ||
	       op == TCP_WIRE_TAGGED_WRITE || ktcp_has_tag_flag(op, flags);
}

/* Has the header the bytes of what is to come after it? */
static bool ktcp_op_has_msg_len(u8 op)
{
	return op == TCP_WIRE_RTS || op == TCP_WIRE_TAGGED_READ;
}

/* Is it part of a rendezvous, with a number, or a refusal, with a reason? */
static bool ktcp_op_has_number(u8 op)
{
	return op >= TCP_WIRE_RTS && op <= TCP_WIRE_REFUSAL;
}

/* May the message have TCP_WIRE_COMMIT or _SAVE?  Both concern regions, or messages before it */
static bool ktcp_hdr_may_save(const struct ktcp_hdr *hdr)
{
	bool save = hdr->flags & TCP_WIRE_SAVE;

	switch (hdr->op) {
	case TCP_WIRE_MSG:
		return !(hdr->flags & TCP_WIRE_COMMIT) && !hdr->ack;
	case TCP_WIRE_READ_REQ:
		return save;
	case TCP_WIRE_WRITE:
		return true;
	default:
		return false;
	}
}

/* A refusal has no payload, a reason that suits it, and the number of a write, an RTS or none */
static bool ktcp_refusal_is_valid(const struct ktcp_hdr *hdr)
{
	if (hdr->len)
		return false;
	switch (hdr->flags) {
	case 0:
		return hdr->number >= TCP_WIRE_REFUSED_ACCESS &&
		       hdr->number <= TCP_WIRE_REFUSED_SIZE;
	case TCP_WIRE_CQ_DATA:
		return hdr->number >= TCP_WIRE_REFUSED_ACCESS &&
		       hdr->number <= TCP_WIRE_REFUSED_ENDED;
	case TCP_WIRE_CQ_DATA | TCP_WIRE_OF_RTS:
		return hdr->number == TCP_WIRE_REFUSED_NONE && hdr->data && hdr->data <= U8_MAX;
	default:
		return false;
	}
}

/* A read of a tagged receive is a header alone, a write may have remote CQ data */
static bool ktcp_tagged_is_valid(const struct ktcp_hdr *hdr)
{
	if (hdr->op == TCP_WIRE_TAGGED_READ)
		return !hdr->len && !hdr->flags;
	return !(hdr->flags & ~TCP_WIRE_CQ_DATA);
}

/* Only an untagged message ends a key, and has the key in the place of remote CQ data */
static bool ktcp_end_key_is_valid(const struct ktcp_hdr *hdr)
{
	return hdr->op == TCP_WIRE_MSG && !hdr->ack && hdr->flags & TCP_WIRE_CQ_DATA &&
	       !(hdr->flags & TCP_WIRE_SAVE);
}

/* Such a message may have remote CQ data, and may be acknowledged */
static bool ktcp_tag_flag_is_valid(const struct ktcp_hdr *hdr)
{
	return !hdr->ack && !(hdr->flags & ~(TCP_WIRE_HAS_TAG | TCP_WIRE_CQ_DATA |
					     TCP_WIRE_ACK_WANTED));
}

/* Do the flags, the ranges and the length of the payload agree? */
static int ktcp_hdr_check(const struct ktcp_hdr *hdr)
{
	bool save = hdr->flags & TCP_WIRE_SAVE;
	size_t len = 0;
	u32 i;

	if (hdr->op == TCP_WIRE_REFUSAL && !ktcp_refusal_is_valid(hdr))
		return -EPROTO;
	if ((hdr->op == TCP_WIRE_TAGGED_READ || hdr->op == TCP_WIRE_TAGGED_WRITE) &&
	    !ktcp_tagged_is_valid(hdr))
		return -EPROTO;
	if (ktcp_has_tag_flag(hdr->op, hdr->flags) && !ktcp_tag_flag_is_valid(hdr))
		return -EPROTO;
	if (hdr->flags & (TCP_WIRE_COMMIT | TCP_WIRE_SAVE) && !ktcp_hdr_may_save(hdr))
		return -EPROTO;
	if (save && hdr->len)
		return -EPROTO;
	if (hdr->flags & TCP_WIRE_LEAVE &&
	    (hdr->op != TCP_WIRE_MSG || hdr->ack || hdr->len ||
	     hdr->flags != (TCP_WIRE_LEAVE | TCP_WIRE_CQ_DATA)))
		return -EPROTO;
	if (hdr->flags & TCP_WIRE_END_KEY && !ktcp_end_key_is_valid(hdr))
		return -EPROTO;
	for (i = 0; i < hdr->count; i++)
		if (check_add_overflow(len, (size_t)hdr->rma[i].len, &len))
			return -EPROTO;
	if (hdr->op == TCP_WIRE_WRITE && !save && len != hdr->len)
		return -EPROTO;
	if ((hdr->op == TCP_WIRE_READ_REQ || hdr->op == TCP_WIRE_RTS ||
	     hdr->op == TCP_WIRE_CTS || hdr->ack) && hdr->len)
		return -EPROTO;
	return 0;
}

size_t ktcp_hdr_size(const u8 *buf)
{
	return ((const struct ktcp_wire_base *)buf)->hdr_size;
}

/* May memory have so many bytes?  Those of 32 bits have a short size_t */
static bool ktcp_len_fits(u64 len)
{
	return len <= SIZE_MAX;
}

/* Is it the header of an untagged message, and nothing more? */
static bool ktcp_base_is_plain(const struct ktcp_wire_base *base)
{
	return base->op == TCP_WIRE_MSG && !base->flags && base->op_data != TCP_WIRE_OP_ACK &&
	       base->hdr_size == sizeof(*base) && base->size >= sizeof(*base) &&
	       ktcp_len_fits(base->size - sizeof(*base));
}

static void ktcp_hdr_set_plain(struct ktcp_hdr *hdr, size_t len)
{
	hdr->op = TCP_WIRE_MSG;
	hdr->flags = 0;
	hdr->ack = false;
	hdr->number = 0;
	hdr->len = len;
	hdr->msg_len = 0;
	hdr->data = 0;
	hdr->tag = 0;
	hdr->count = 0;
}

int ktcp_hdr_parse(struct ktcp_hdr *hdr, const u8 *buf, size_t have, bool net_order)
{
	struct ktcp_wire_base base;
	const u8 *next;
	u64 msg_len;
	int len;

	if (have < sizeof(base))
		return sizeof(base);
	memcpy(&base, buf, sizeof(base));
	if (!net_order && ktcp_base_is_plain(&base)) {
		ktcp_hdr_set_plain(hdr, base.size - sizeof(base));
		return 0;
	}
	base.flags = ktcp_order16(base.flags, net_order);
	base.size = ktcp_order64(base.size, net_order);
	len = ktcp_hdr_len(&base);
	if (len < 0 || base.hdr_size != len || base.size < len ||
	    !ktcp_len_fits(base.size - len))
		return -EPROTO;
	if (have < len)
		return len;

	*hdr = (struct ktcp_hdr) {
		.op	= base.op,
		.flags	= base.flags,
		.ack	= base.op == TCP_WIRE_MSG &&
			  base.op_data == TCP_WIRE_OP_ACK,
		.len	= base.size - len,
	};
	next = buf + sizeof(base);
	if (ktcp_op_has_number(base.op))
		hdr->number = base.op_data;
	if (ktcp_op_has_data(base.op) && base.flags & TCP_WIRE_CQ_DATA) {
		memcpy(&hdr->data, next, sizeof(hdr->data));
		hdr->data = ktcp_order64(hdr->data, net_order);
		next += sizeof(hdr->data);
	}
	if (ktcp_op_has_tag(base.op, base.flags)) {
		memcpy(&hdr->tag, next, sizeof(hdr->tag));
		hdr->tag = ktcp_order64(hdr->tag, net_order);
		next += sizeof(hdr->tag);
	}
	if (ktcp_op_has_msg_len(base.op)) {
		memcpy(&msg_len, next, sizeof(msg_len));
		msg_len = ktcp_order64(msg_len, net_order);
		if (!ktcp_len_fits(msg_len))
			return -EPROTO;
		hdr->msg_len = msg_len;
	}
	if (ktcp_op_has_rma(base.op)) {
		hdr->count = base.rma_iov_cnt;
		memcpy(hdr->rma, next, hdr->count * sizeof(*hdr->rma));
		ktcp_order_rma(hdr->rma, hdr->count, net_order);
	}
	return ktcp_hdr_check(hdr);
}

void ktcp_hdr_build_msg(u8 *buf, size_t len, u8 id, bool net_order)
{
	const struct ktcp_wire_base base = {
		.version	= TCP_WIRE_VERSION,
		.op		= TCP_WIRE_MSG,
		.hdr_size	= sizeof(base),
		.id		= id,
		.size		= ktcp_order64(sizeof(base) + len, net_order),
	};

	memcpy(buf, &base, sizeof(base));
}

size_t ktcp_hdr_build(u8 *buf, const struct ktcp_hdr *hdr, u8 id, bool net_order)
{
	struct fi_rma_iov rma[KOFI_RMA_MAX_IOV];
	struct ktcp_wire_base base = {
		.version	= TCP_WIRE_VERSION,
		.op		= hdr->op,
		.flags		= ktcp_order16(hdr->flags, net_order),
		.op_data	= hdr->ack ? TCP_WIRE_OP_ACK : hdr->number,
		.rma_iov_cnt	= hdr->count,
		.id		= id,
	};
	size_t len = sizeof(base);
	u64 data, tag, msg_len;

	if (ktcp_op_has_data(hdr->op) && hdr->flags & TCP_WIRE_CQ_DATA) {
		data = ktcp_order64(hdr->data, net_order);
		memcpy(buf + len, &data, sizeof(data));
		len += sizeof(data);
	}
	if (ktcp_op_has_tag(hdr->op, hdr->flags)) {
		tag = ktcp_order64(hdr->tag, net_order);
		memcpy(buf + len, &tag, sizeof(tag));
		len += sizeof(tag);
	}
	if (ktcp_op_has_msg_len(hdr->op)) {
		msg_len = ktcp_order64(hdr->msg_len, net_order);
		memcpy(buf + len, &msg_len, sizeof(msg_len));
		len += sizeof(msg_len);
	}
	memcpy(rma, hdr->rma, hdr->count * sizeof(*rma));
	ktcp_order_rma(rma, hdr->count, net_order);
	memcpy(buf + len, rma, hdr->count * sizeof(*rma));
	len += hdr->count * sizeof(*rma);
	base.hdr_size = len;
	base.size = ktcp_order64(len + hdr->len, net_order);
	memcpy(buf, &base, sizeof(base));
	return len;
}

int ktcp_cm_parse(const struct ktcp_wire_cm *cm, size_t *len, bool *net_order)
{
	if (cm->version != TCP_WIRE_VERSION)
		return -ENOPROTOOPT;
	*len = be16_to_cpu(cm->seg_size);
	if (*len > TCP_WIRE_CM_DATA)
		return -EPROTO;
	*net_order = cm->conn_data == swab64(TCP_WIRE_PROBE);
	if (cm->type != TCP_WIRE_NACK && cm->conn_data != TCP_WIRE_PROBE &&
	    !*net_order)
		return -EPROTO;
	return cm->type;
}

bool ktcp_cm_can(const struct ktcp_wire_cm *cm, u64 what)
{
	u64 id = be64_to_cpu(cm->msg_id);

	return (id & TCP_WIRE_KOFI_MASK) == TCP_WIRE_KOFI && id & what;
}

void ktcp_cm_build(struct ktcp_wire_cm *cm, enum ktcp_wire_cm_type type, u64 can, size_t len)
{
	*cm = (struct ktcp_wire_cm) {
		.version	= TCP_WIRE_VERSION,
		.type		= type,
		.seg_size	= cpu_to_be16(len),
		.msg_id		= can ? cpu_to_be64(TCP_WIRE_KOFI | can) : 0,
		.conn_data	= type == TCP_WIRE_NACK ? 0 : TCP_WIRE_PROBE,
	};
}
