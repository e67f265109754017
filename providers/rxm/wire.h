/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The wire of libfabric's rxm: what it sends by endpoints with connections.
 *
 * All fields are in the byte order of the sender.  The connection data name that order, and both
 * ends refuse a peer of another one.  No version is negotiated: each has to be equal.
 *
 *	connection data		rxm_wire_request, answered by rxm_wire_accept or rxm_wire_reject
 *	a packet		rxm_wire_hdr, then payload; one message of the lower endpoint
 *
 * A message of up to the eager limit is one packet (RXM_WIRE_EAGER).  A longer one is a sequence of
 * segments (RXM_WIRE_SEG): all of them have the header of the message and its identity, and all
 * but the last have as much payload as the eager limit.  Or its sender registers the message, and
 * sends an rxm_wire_rndv in place of the payload (RXM_WIRE_RNDV_REQ): the receiver reads the
 * message, and says so (RXM_WIRE_RNDV_READ_DONE).  Or it answers by an rxm_wire_rndv of its own
 * memory (RXM_WIRE_RNDV_WRITE_DATA): the sender writes the message there, and says so
 * (RXM_WIRE_RNDV_WRITE_DONE).  Nothing in the offer says which answer its sender understands.
 *
 * If both ends count credits, a packet is sent only if the receiver has granted it
 * (RXM_WIRE_CREDIT); each end begins with one.
 *
 * An atomic operation is a packet, too (RXM_WIRE_ATOMIC): an rxm_wire_atomic, the operands, and the
 * values to compare with.  It is answered (RXM_WIRE_ATOMIC_RESP) by an rxm_wire_resp, and the old
 * values if they are wanted.
 */
#ifndef _KOFI_RXM_WIRE_H
#define _KOFI_RXM_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#define RXM_WIRE_CM_VERSION	1
#define RXM_WIRE_CTRL_VERSION	4
#define RXM_WIRE_OP_VERSION	3	/* in connection data */
#define RXM_WIRE_OP_HDR_VERSION	2	/* in packets */

#ifdef __LITTLE_ENDIAN
#define RXM_WIRE_ENDIAN		2
#else
#define RXM_WIRE_ENDIAN		1
#endif

/* rxm_wire_request.flow_ctrl */
#define RXM_WIRE_FLOW_ON	1
#define RXM_WIRE_FLOW_OFF	2

/* rxm_wire_reject.reason */
#define RXM_WIRE_UNSPEC		0
#define RXM_WIRE_REFUSED	1	/* the two ends do not fit */
#define RXM_WIRE_ALREADY	2	/* there is a connection, or the peer makes one */

/* rxm_wire_ctrl.type */
enum rxm_wire_type {
	RXM_WIRE_EAGER,
	RXM_WIRE_SEG,
	RXM_WIRE_RNDV_REQ,
	RXM_WIRE_RNDV_READ_DONE,
	RXM_WIRE_ATOMIC,
	RXM_WIRE_ATOMIC_RESP,
	RXM_WIRE_CREDIT,
	RXM_WIRE_RNDV_WRITE_DATA,
	RXM_WIRE_RNDV_WRITE_DONE,
	RXM_WIRE_LEAVE		= 0x40,	/* kOFI: the dialling end wants the connection closed */
	RXM_WIRE_STAY,			/* kOFI: the answer, if it is not */
};

/* rxm_wire_accept.kofi: the sender answers RXM_WIRE_LEAVE */
#define RXM_WIRE_KOFI		{ 0x6b, 0x4f, 1 }

/* rxm_wire_ctrl.seg_type, of RXM_WIRE_SEG; other bits and other packets have stale values */
#define RXM_WIRE_SEG_MASK	3
#define RXM_WIRE_SEG_FIRST	1
#define RXM_WIRE_SEG_MIDDLE	2
#define RXM_WIRE_SEG_LAST	3

/* rxm_wire_op.op */
#define RXM_WIRE_MSG		0
#define RXM_WIRE_TAGGED		1
#define RXM_WIRE_BASE_ATOMIC	6
#define RXM_WIRE_FETCH_ATOMIC	7
#define RXM_WIRE_COMPARE_ATOMIC	8

/* rxm_wire_op.flags */
#define RXM_WIRE_CQ_DATA	BIT(17)

/**
 * struct rxm_wire_request - Connection data of a request
 * @version: RXM_WIRE_CM_VERSION
 * @endian: RXM_WIRE_ENDIAN
 * @ctrl_version: RXM_WIRE_CTRL_VERSION
 * @op_version: RXM_WIRE_OP_VERSION
 * @port: where the sender listens
 * @flow_ctrl: RXM_WIRE_FLOW_ON: the sender counts credits; RXM_WIRE_FLOW_OFF: it does not
 * @ep_idx: 0: the one connection of two endpoints
 * @eager_limit: most payload of a packet
 * @rx_size: receives of the sender; nothing is sized by it, and it grants no more
 * @conn_id: the low half goes into each packet to the sender; the high half is the incarnation
 *	of the sender
 */
struct rxm_wire_request {
	u8	version;
	u8	endian;
	u8	ctrl_version;
	u8	op_version;
	u16	port;
	u8	flow_ctrl;
	u8	ep_idx;
	u32	eager_limit;
	u32	rx_size;
	u64	conn_id;
};

/**
 * struct rxm_wire_accept - Connection data of the answer
 * @conn_id: as in the request
 * @rx_size: as in the request
 * @flow_ctrl: as in the request
 * @kofi: RXM_WIRE_KOFI; 0 of libfabric, which does not look at it
 */
struct rxm_wire_accept {
	u64	conn_id;
	u32	rx_size;
	u8	flow_ctrl;
	u8	kofi[3];
};

/**
 * struct rxm_wire_reject - Connection data of a refusal
 * @version: RXM_WIRE_CM_VERSION
 * @reason: RXM_WIRE_REFUSED and the like
 */
struct rxm_wire_reject {
	u8	version;
	u8	reason;
};

/**
 * struct rxm_wire_ctrl - Header of a packet
 * @version: RXM_WIRE_CTRL_VERSION
 * @type: &enum rxm_wire_type
 * @seg_size: payload of a segment
 * @seg_no: number of a segment, from 0 on
 * @conn_id: what the receiver has named in its connection data
 * @msg_id: identity of the message that a segment belongs to, among those of the connection; of
 *	RXM_WIRE_LEAVE: packets, and writes with remote CQ data, that have come to its sender
 * @seg_type: RXM_WIRE_SEG_FIRST and the like
 * @pad: stale
 * @credits: of RXM_WIRE_CREDIT: packets that the receiver may send, beyond those before
 */
struct rxm_wire_ctrl {
	u8	version;
	u8	type;
	u16	seg_size;
	u32	seg_no;
	u64	conn_id;
	u64	msg_id;
	union {
		struct {
			u8	seg_type;
			u8	pad[7];
		};
		u64	credits;
	};
};

/**
 * struct rxm_wire_op - Header of a message
 * @version: RXM_WIRE_OP_HDR_VERSION
 * @rx_index: 0
 * @op: RXM_WIRE_MSG and the like
 * @op_data: 0
 * @flags: RXM_WIRE_CQ_DATA: @data is valid
 * @size: bytes of the message, in all of its packets; of an atomic operation those of the payload
 * @data: remote CQ data
 * @tag: of a tagged message
 * @atomic: of an atomic operation: its type and operation, as libfabric numbers them, and how
 *	many ranges of remote memory it has
 */
struct rxm_wire_op {
	u8	version;
	u8	rx_index;
	u8	op;
	u8	op_data;
	u32	flags;
	u64	size;
	u64	data;
	union {
		u64	tag;
		struct {
			u8	datatype;
			u8	op;
			u8	ioc_count;
		} atomic;
	};
};

/**
 * struct rxm_wire_hdr - In front of the payload of each packet
 * @ctrl: header of the packet
 * @op: header of the message
 */
struct rxm_wire_hdr {
	struct rxm_wire_ctrl	ctrl;
	struct rxm_wire_op	op;
};

#define RXM_WIRE_IOV	4	/* ranges of remote memory that a packet names */

/**
 * struct rxm_wire_rndv - Payload of RXM_WIRE_RNDV_REQ and RXM_WIRE_RNDV_WRITE_DATA
 * @iov: where the message is, or is to go; libfabric has old values behind the elements that the
 *	message fills
 * @count: elements of @iov, 1 to RXM_WIRE_IOV
 * @pad: stale
 */
struct rxm_wire_rndv {
	struct {
		u64	addr;
		u64	len;
		u64	key;
	}	iov[RXM_WIRE_IOV];
	u8	count;
	u8	pad[7];
};

/**
 * struct rxm_wire_atomic - In front of the values of RXM_WIRE_ATOMIC
 * @ioc: the target; there is room for all ranges
 */
struct rxm_wire_atomic {
	struct {
		u64	addr;
		u64	count;
		u64	key;
	}	ioc[RXM_WIRE_IOV];
};

/**
 * struct rxm_wire_resp - In front of the old values of RXM_WIRE_ATOMIC_RESP
 * @status: 0, or a negative error; in network byte order, as the next one
 * @result_len: bytes of old values
 */
struct rxm_wire_resp {
	__be32	status;
	__be32	result_len;
};

int rxm_wire_check(const struct rxm_wire_hdr *hdr, size_t len, u32 conn_id);
int rxm_wire_seg_check(const struct rxm_wire_hdr *hdr, u64 size, u64 have, u32 next);
int rxm_wire_request_check(const struct rxm_wire_request *msg, size_t len, u32 eager_limit);

static_assert(sizeof(struct rxm_wire_rndv) == 104);
static_assert(sizeof(struct rxm_wire_atomic) == 96);
static_assert(sizeof(struct rxm_wire_resp) == 8);
static_assert(sizeof(struct rxm_wire_request) == 24);
static_assert(sizeof(struct rxm_wire_accept) == 16);
static_assert(sizeof(struct rxm_wire_reject) == 2);
static_assert(sizeof(struct rxm_wire_ctrl) == 32);
static_assert(sizeof(struct rxm_wire_op) == 32);
static_assert(sizeof(struct rxm_wire_hdr) == 64);

#endif /* _KOFI_RXM_WIRE_H */
