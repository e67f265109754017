/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The wire of libfabric's tcp provider, protocol version 3 (prov/tcp/src/xnet_proto.h of
 * libfabric 2.x; unchanged since 1.11).
 *
 * A connection is one TCP stream.  It begins with a message of connection management in
 * each direction, and goes on with data messages:
 *
 *	connection management	struct ktcp_wire_cm, then seg_size bytes of the client's
 *	data			struct ktcp_wire_base, then, in this order, where the operation
 *				and its flags have them:
 *				u64 remote CQ data, u64 tag, u64 length of what is announced,
 *				struct fi_rma_iov[rma_iov_cnt], and the payload
 *
 * Integers are in the sender's byte order; conn_data of the first message is 1, and shows
 * which order that is.  If the two ends differ, flags and all 64-bit integers of data messages
 * are in network byte order.  Payload and connection data are the client's, and stay as
 * they are.
 *
 * Nothing here sleeps, allocates or keeps state: bytes go in, a header comes out.
 */
#ifndef _KOFI_TCP_WIRE_H
#define _KOFI_TCP_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>
#include <kofi/rma.h>

#define TCP_WIRE_VERSION	3
#define TCP_WIRE_PROBE		1ULL	/* conn_data, in the sender's byte order */
#define TCP_WIRE_CM_DATA	256	/* most bytes of the client's in a CM message */

/* msg_id of kOFI: "kOFI", then what the sender understands; other peers send 0 and ignore it */
#define TCP_WIRE_KOFI		(0x6b4f4649ULL << 32)
#define TCP_WIRE_KOFI_MASK	(0xffffffffULL << 32)
#define TCP_WIRE_CAN_SAVE	BIT_ULL(0)	/* the sender understands TCP_WIRE_SAVE */
#define TCP_WIRE_CAN_LEAVE	BIT_ULL(1)	/* the sender understands TCP_WIRE_LEAVE */
#define TCP_WIRE_CAN_CTX	BIT_ULL(2)	/* the sender understands TCP_WIRE_CTXREQ */
#define TCP_WIRE_CAN_REFUSE	BIT_ULL(3)	/* the sender understands TCP_WIRE_REFUSAL */
#define TCP_WIRE_CAN_TAGGED	BIT_ULL(4)	/* and TCP_WIRE_TAGGED_READ and _WRITE */
#define TCP_WIRE_CAN_END_KEY	BIT_ULL(5)	/* the sender understands TCP_WIRE_END_KEY */
#define TCP_WIRE_CAN_DECLINE	BIT_ULL(6)	/* the sender understands TCP_WIRE_OF_RTS */

enum ktcp_wire_cm_type {
	TCP_WIRE_CONNREQ	= 0,
	TCP_WIRE_CONNRESP	= 1,
	TCP_WIRE_NACK		= 6,
	TCP_WIRE_CTXREQ		= 0x80,	/* kOFI: a request to a receive context */
};

/**
 * struct ktcp_wire_cm - Message of connection management
 * @version: TCP_WIRE_VERSION
 * @type: enum ktcp_wire_cm_type
 * @seg_size: bytes that follow
 * @seg_no: 0
 * @conn_id: 0
 * @msg_id: 0; of kOFI TCP_WIRE_KOFI and TCP_WIRE_CAN_*, but 0 in a NACK
 * @conn_data: TCP_WIRE_PROBE; 0 in a NACK
 */
struct ktcp_wire_cm {
	u8	version;
	u8	type;
	__be16	seg_size;
	u32	seg_no;
	u64	conn_id;
	__be64	msg_id;
	u64	conn_data;
} __packed;
static_assert(sizeof(struct ktcp_wire_cm) == 32);

/**
 * struct ktcp_wire_rdm - Connection data of endpoints without connections
 * @version: version of what may be sent; in a response no larger than in its request, and with
 *	TCP_WIRE_RDM_CHECKED unless that of the request was 0
 * @features: TCP_WIRE_RDM_FIREWALL
 * @port: where the sender of the request listens; the response repeats it
 * @pid: incarnation of the endpoint, not 0
 */
struct ktcp_wire_rdm {
	u8	version;
	u8	features;
	__be16	port;
	__be32	pid;
} __packed;
static_assert(sizeof(struct ktcp_wire_rdm) == 8);

/**
 * struct ktcp_wire_ctx - Connection data of TCP_WIRE_CTXREQ, and of its refusal
 * @rdm: as in TCP_WIRE_CONNREQ
 * @index: of the receive context, not 0; in network byte order
 * @reason: of a refusal, TCP_WIRE_CTX_*; else 0; in network byte order
 */
struct ktcp_wire_ctx {
	struct ktcp_wire_rdm	rdm;
	__be16			index;
	__be16			reason;
} __packed;
static_assert(sizeof(struct ktcp_wire_ctx) == 12);

#define TCP_WIRE_CTX_LATER	0	/* a request may be accepted another time */
#define TCP_WIRE_CTX_NONE	1	/* there is no such context */

#define TCP_WIRE_RDM_VERSION	1	/* 0: without TCP_WIRE_RTS, _CTS and _DATA */
#define TCP_WIRE_RDM_CHECKED	0x80
#define TCP_WIRE_RDM_FIREWALL	0x1	/* nobody can connect to its sender */

enum ktcp_wire_op {
	TCP_WIRE_MSG		= 0,
	TCP_WIRE_TAGGED		= 1,
	TCP_WIRE_READ_REQ	= 2,
	TCP_WIRE_READ_RSP	= 3,
	TCP_WIRE_WRITE		= 4,
	TCP_WIRE_RTS		= 5,	/* announces a tagged message, by a number */
	TCP_WIRE_CTS		= 6,	/* clear to send: asks for the payload of an RTS */
	TCP_WIRE_DATA		= 7,	/* the payload that a CTS asked for */
	TCP_WIRE_REFUSAL	= 8,	/* kOFI: a read, or a write, has failed at its target */
	TCP_WIRE_TAGGED_READ	= 9,	/* kOFI: asks for the bytes of a tagged receive */
	TCP_WIRE_TAGGED_WRITE	= 10,	/* kOFI: goes to a tagged receive, and has a response */
};

/**
 * enum ktcp_wire_reason - Why an operation was refused: op_data of TCP_WIRE_REFUSAL
 * @TCP_WIRE_REFUSED_ACCESS: its key or its range is none, or not for that; nothing was accessed
 * @TCP_WIRE_REFUSED_ENDED: its target ended while the data came
 * @TCP_WIRE_REFUSED_NONE: of a tagged read or write, or an RTS: there is no such receive
 * @TCP_WIRE_REFUSED_SIZE: of a tagged read or write: the receive is shorter
 */
enum ktcp_wire_reason {
	TCP_WIRE_REFUSED_ACCESS	= 1,
	TCP_WIRE_REFUSED_ENDED	= 2,
	TCP_WIRE_REFUSED_NONE	= 3,
	TCP_WIRE_REFUSED_SIZE	= 4,
};

#define TCP_WIRE_CQ_DATA	0x1	/* u64 of remote CQ data follows */
#define TCP_WIRE_OF_RTS		0x2	/* kOFI: of TCP_WIRE_REFUSAL: the CQ data name an RTS */
#define TCP_WIRE_ACK_WANTED	0x4	/* respond when the data are placed */
#define TCP_WIRE_COMMIT		0x8	/* make the data durable, then respond */
#define TCP_WIRE_SAVE		0x10	/* kOFI: has no data; concerns data sent before */
#define TCP_WIRE_LEAVE		0x20	/* kOFI: may be closed; CQ data: messages received */
#define TCP_WIRE_END_KEY	0x40	/* kOFI: the CQ data are a key, which ends */
#define TCP_WIRE_HAS_TAG	0x80	/* of TCP_WIRE_MSG, by ofi_rxm until 1.17: a tag follows */

#define TCP_WIRE_OP_ACK		2	/* op_data of TCP_WIRE_MSG: an acknowledgment */

/**
 * struct ktcp_wire_base - What each data message begins with
 * @version: TCP_WIRE_VERSION; receivers do not look at it
 * @op: enum ktcp_wire_op
 * @flags: TCP_WIRE_*
 * @op_data: 0, or TCP_WIRE_OP_ACK; of TCP_WIRE_RTS, _CTS and _DATA: the number of the RTS; of
 *	TCP_WIRE_REFUSAL: enum ktcp_wire_reason
 * @rma_iov_cnt: ranges of a read request or a write; any value in other messages
 * @hdr_size: bytes of the header, this included
 * @id: number of the header, modulo 256; debug builds of receivers check it
 * @size: bytes of the message, header included
 */
struct ktcp_wire_base {
	u8	version;
	u8	op;
	u16	flags;
	u8	op_data;
	u8	rma_iov_cnt;
	u8	hdr_size;
	u8	id;
	u64	size;
} __packed;
static_assert(sizeof(struct ktcp_wire_base) == 16);

/* The longest header: base, CQ data and four ranges */
#define TCP_WIRE_MAX_HDR	\
	(sizeof(struct ktcp_wire_base) + sizeof(u64) + \
	 KOFI_RMA_MAX_IOV * sizeof(struct fi_rma_iov))

/**
 * struct ktcp_hdr - A header of a data message, in the form of the processor
 * @op: enum ktcp_wire_op
 * @flags: TCP_WIRE_*
 * @ack: it is an acknowledgment
 * @len: bytes of payload
 * @data: remote CQ data, if the flags say so; of TCP_WIRE_REFUSAL: which write, or which RTS
 * @tag: of TCP_WIRE_TAGGED, TCP_WIRE_RTS, TCP_WIRE_TAGGED_READ and TCP_WIRE_TAGGED_WRITE, and with
 *	TCP_WIRE_HAS_TAG
 * @number: of TCP_WIRE_RTS, TCP_WIRE_CTS and TCP_WIRE_DATA; of TCP_WIRE_REFUSAL the reason
 * @msg_len: of TCP_WIRE_RTS: bytes that are announced; of TCP_WIRE_TAGGED_READ: that are to be read
 * @count: number of ranges
 * @rma: the ranges
 */
struct ktcp_hdr {
	enum ktcp_wire_op	op;
	u16			flags;
	bool			ack;
	size_t			len;
	u64			data;
	u64			tag;
	u8			number;
	size_t			msg_len;
	u32			count;
	struct fi_rma_iov	rma[KOFI_RMA_MAX_IOV];
};

/**
 * enum ktcp_violation - What a peer has done that the wire does not allow
 * @KTCP_BAD_REQUEST: what came to a listener is no request, so there is no connection yet
 * @KTCP_BAD_RESPONSE: what came upon a request is no response
 * @KTCP_BAD_HEADER: what came is no message
 * @KTCP_BAD_TAGGED: a tagged message came to an endpoint that takes none
 * @KTCP_BAD_ACK: an acknowledgment of nothing
 * @KTCP_BAD_READ_RSP: a response to nothing, or of another length than was asked for
 * @KTCP_BAD_ACCESS: a read or a write with a key or a range that no region has, or whose
 *	memory was taken back
 * @KTCP_BAD_RENDEZVOUS: TCP_WIRE_RTS, _CTS or _DATA that the state of its number forbids
 */
enum ktcp_violation {
	KTCP_BAD_REQUEST,
	KTCP_BAD_RESPONSE,
	KTCP_BAD_HEADER,
	KTCP_BAD_TAGGED,
	KTCP_BAD_ACK,
	KTCP_BAD_READ_RSP,
	KTCP_BAD_ACCESS,
	KTCP_BAD_RENDEZVOUS,
};

/**
 * ktcp_hdr_parse() - Parse the header of a data message
 * @hdr: the header, if all of it is there
 * @buf: bytes from the peer
 * @have: how many
 * @net_order: the peer's byte order is not ours
 *
 * Context: any.
 * Return: 0: @hdr is filled in; > 0: @have must be that many before the next call; -EPROTO:
 * these bytes are no header of a message.
 */
int ktcp_hdr_parse(struct ktcp_hdr *hdr, const u8 *buf, size_t have, bool net_order);

/**
 * ktcp_hdr_size() - How long is a header?
 * @buf: a header that ktcp_hdr_parse() has accepted
 *
 * Context: any.
 * Return: bytes.
 */
size_t ktcp_hdr_size(const u8 *buf);

/**
 * ktcp_hdr_build_msg() - Build the header of an untagged message without flags
 * @buf: sizeof(struct ktcp_wire_base) bytes
 * @len: bytes of payload
 * @id: its number
 * @net_order: the peer's byte order is not ours
 *
 * Context: any.
 */
void ktcp_hdr_build_msg(u8 *buf, size_t len, u8 id, bool net_order);

/**
 * ktcp_hdr_build() - Build the header of a data message
 * @buf: TCP_WIRE_MAX_HDR bytes
 * @hdr: the header
 * @id: its number
 * @net_order: the peer's byte order is not ours
 *
 * Context: any.
 * Return: bytes of the header.
 */
size_t ktcp_hdr_build(u8 *buf, const struct ktcp_hdr *hdr, u8 id, bool net_order);

/**
 * ktcp_cm_parse() - Parse the header of a message of connection management
 * @cm: the header, sizeof(*cm) bytes from the peer
 * @len: bytes that follow
 * @net_order: the peer's byte order is not ours; a refusal does not show it
 *
 * Context: any.
 * Return: the type; -ENOPROTOOPT: another version; -EPROTO: too many bytes, or nothing that
 * shows the byte order.
 */
int ktcp_cm_parse(const struct ktcp_wire_cm *cm, size_t *len, bool *net_order);

/**
 * ktcp_cm_can() - Does the peer understand what only kOFI knows?
 * @cm: its request or response
 * @what: one of TCP_WIRE_CAN_*
 *
 * Context: any.
 * Return: whether it says so.
 */
bool ktcp_cm_can(const struct ktcp_wire_cm *cm, u64 what);

/**
 * ktcp_cm_build() - Build a message of connection management
 * @cm: the header
 * @type: what it is
 * @can: TCP_WIRE_CAN_*; 0 in a NACK, or if the sender understands nothing that only kOFI knows
 * @len: bytes that follow
 *
 * Context: any.
 */
void ktcp_cm_build(struct ktcp_wire_cm *cm, enum ktcp_wire_cm_type type, u64 can, size_t len);

#endif /* _KOFI_TCP_WIRE_H */
