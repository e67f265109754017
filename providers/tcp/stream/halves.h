/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The two halves of a connection: what is being sent, and what is being received.
 *
 *	ktcp_tx		the sending half (tx.c)
 *	ktcp_gather	messages that go to the socket with one call
 *	ktcp_op		an operation, and its pages while TCP has them (zerocopy.c)
 *	ktcp_response	the response to a read by the peer (response.c)
 *	ktcp_rx		the receiving half (rx.c), from a header to its payload (start.c)
 *
 * All of it is guarded by ktcp_conn.token, but what TCP counts in ktcp_zc, see zerocopy.c.
 */
#ifndef _KOFI_TCP_HALVES_H
#define _KOFI_TCP_HALVES_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/skbuff.h>
#include <linux/uio.h>
#include <kofi/soft.h>
#include <kofi/srx.h>
#include "../wire.h"

#define KTCP_GATHER		16	/* most messages that one call of sendmsg() takes */
#define KTCP_GATHER_HDRS	640	/* bytes of their headers */

struct ktcp_conn;
struct ktcp_unexp;

/**
 * enum ktcp_tx_kind - What is being sent
 * @KTCP_TX_IDLE: nothing
 * @KTCP_TX_ACK: a header alone: an acknowledgment, TCP_WIRE_CTS, TCP_WIRE_REFUSAL or
 *	TCP_WIRE_LEAVE
 * @KTCP_TX_RESPONSE: the response to a read
 * @KTCP_TX_OP: an operation
 */
enum ktcp_tx_kind {
	KTCP_TX_IDLE,
	KTCP_TX_ACK,
	KTCP_TX_RESPONSE,
	KTCP_TX_OP,
};

/**
 * struct ktcp_zc - A message that is sent without a copy; see zerocopy.c
 * @ubuf: counts the references to its pages
 * @entry: in &ktcp_conn.zc_done, when that count is 0
 * @conn: its connection
 * @kind: KTCP_TX_RESPONSE or KTCP_TX_OP
 * @sent: the socket has all of it
 * @lent: some of its pages went to TCP without a copy
 * @copied: the network stack has copied some of those pages
 * @end_seq: TCP sequence number behind its last page that was not copied
 */
struct ktcp_zc {
	struct ubuf_info	ubuf;
	struct llist_node	entry;
	struct ktcp_conn	*conn;
	enum ktcp_tx_kind	kind;
	bool			sent;
	bool			lent;
	bool			copied;
	u32			end_seq;
};

/**
 * struct ktcp_op - An operation
 * @soft: the common part
 * @zc: its payload
 * @waits: how many things it waits for: one is that it is sent, acknowledged or responded to, the
 *	second that TCP lets go of its pages
 * @err: positive error code, if one of these has failed
 * @number: number of its RTS (rts.c); 0: its payload is sent at once
 * @wanted: the CTS has come, so the payload is to be sent
 * @refused: the peer has refused it, and the acknowledgment is to come
 */
struct ktcp_op {
	struct kofi_soft_op	soft;
	struct ktcp_zc		zc;
	unsigned int		waits;
	int			err;
	u8			number;
	bool			wanted;
	bool			refused;
};

/**
 * struct ktcp_response - The response to a read or a tagged write by the peer, or a refusal
 * @entry: in ktcp_tx.responses, in ktcp_tx.unacked, or in ktcp_tx.refusals
 * @zc: its payload
 * @flags: TCP_WIRE_SAVE and TCP_WIRE_COMMIT of the request
 * @reason: enum ktcp_wire_reason: the operation is refused, and there is no target; or 0
 * @tagged: the operation concerns a tagged receive, and @rma has no regions
 * @number: which write is refused, see ktcp_rx.wanted
 * @rx: receive whose bytes the peer reads, or NULL
 * @rma: regions that the peer reads, or saves
 * @loan: TCP has pages of @rma, if the payload is sent without a copy
 */
struct ktcp_response {
	struct list_head	entry;
	struct ktcp_zc		zc;
	u16			flags;
	u8			reason;
	bool			tagged;
	u32			number;
	struct kofi_rx		*rx;
	struct kofi_rma		rma;
	struct kofi_rma_loan	loan;
};

/**
 * struct ktcp_gather - Messages that go to the socket with one call
 * @count: elements of @msg
 * @first: first element of @msg of which the socket does not have all
 * @plain: how many elements of @msg, the first, have completed when the socket has them, and are
 *	operations of one endpoint
 * @msg: messages of which all is in @kvec, oldest first
 * @msg.op: the operation; NULL: a header alone
 * @msg.end: bytes of @kvec up to its end
 * @waits: one of them has not completed when the socket has it
 * @last: there was no other message when they were gathered
 * @kvecs: elements of @kvec
 * @kvec: headers and payloads
 * @bytes: bytes of @kvec
 * @sent: bytes of @kvec that the socket has
 * @hdrs: the headers
 * @hdrs_len: bytes of @hdrs
 */
struct ktcp_gather {
	unsigned int		count;
	unsigned int		first;
	unsigned int		plain;
	struct {
		struct kofi_soft_op	*op;
		size_t			end;
	} msg[KTCP_GATHER];
	bool			waits;
	bool			last;
	unsigned int		kvecs;
	struct kvec		kvec[2 * KTCP_GATHER];
	size_t			bytes;
	size_t			sent;
	u8			hdrs[KTCP_GATHER_HDRS];
	size_t			hdrs_len;
};

/**
 * struct ktcp_tx - The sending half of a connection; guarded by ktcp_conn.token
 * @gather: short messages, and the header of the message that @kind describes
 * @kind: what is being sent behind @gather
 * @op: the operation, if @kind is KTCP_TX_OP
 * @zc: the message, if it is sent without a copy, or NULL
 * @iter: part of the payload that is being sent
 * @left: bytes of the payload that the socket has not taken
 * @id: number of the next header
 * @count: messages that have begun; TCP_WIRE_LEAVE does not count
 * @begun: an operation has begun to be sent
 * @refusals: struct ktcp_response: refusals of writes, which go before their acknowledgments
 * @acks: acknowledgments that are due
 * @responses: struct ktcp_response, oldest first
 * @unacked: struct ktcp_response whose pages TCP has not let go of, and that the socket has
 * @responded: the last response was sent behind the last operation
 * @reads: struct kofi_soft_op that wait for a response, oldest first: reads and tagged writes
 * @asked: number of operations that have begun, and that have no response yet
 * @acked: struct kofi_soft_op that wait for an acknowledgment, oldest first
 * @acknowledged: acknowledgments that have come: the number of the first of @acked
 * @responses_seen: responses that have come: the number of the first of @reads
 * @await_cts: struct kofi_soft_op whose RTS was sent, and whose CTS has not come, oldest first
 * @wanted: struct kofi_soft_op whose payload the peer has asked for
 * @lent: number of operations whose pages TCP may have
 * @zcs: number of struct ktcp_zc that TCP has not let go of
 * @more: operations were posted behind the last one that was taken
 * @held: the last bytes went with MSG_MORE: TCP keeps what does not fill a segment
 * @defers: callbacks that do not sleep, and may post, follow this turn, and then another turn
 */
struct ktcp_tx {
	struct ktcp_gather	gather;
	enum ktcp_tx_kind	kind;
	struct kofi_soft_op	*op;
	struct ktcp_zc		*zc;
	struct iov_iter		iter;
	size_t			left;
	u8			id;
	u64			count;
	bool			begun;
	u32			acks;
	u32			acknowledged;
	u32			responses_seen;
	struct list_head	refusals;
	struct list_head	responses;
	struct list_head	unacked;
	bool			responded;
	struct list_head	reads;
	unsigned int		asked;
	struct list_head	acked;
	struct list_head	await_cts;
	struct list_head	wanted;
	unsigned int		lent;
	unsigned int		zcs;
	bool			more;
	bool			held;
	bool			defers;
};

/**
 * enum ktcp_rx_state - Where the receiving half of a connection is
 * @KTCP_RX_HEADER: a header is to come
 * @KTCP_RX_START: a header is there; what it needs may not be (a receive, an event)
 * @KTCP_RX_MSG: the payload of a message goes to its receive
 * @KTCP_RX_WRITE: the payload of a write goes to its regions
 * @KTCP_RX_READ: the payload of a response goes to its operation
 * @KTCP_RX_DROP: what a receive has no room for, or nobody wants, is dropped
 * @KTCP_RX_UNEXP: the payload of a message is kept for its receive, which is to come
 * @KTCP_RX_PARKED: the payload of a message stays in the socket until its receive has come
 */
enum ktcp_rx_state {
	KTCP_RX_HEADER,
	KTCP_RX_START,
	KTCP_RX_MSG,
	KTCP_RX_WRITE,
	KTCP_RX_READ,
	KTCP_RX_DROP,
	KTCP_RX_UNEXP,
	KTCP_RX_PARKED,
};

/**
 * struct ktcp_block - Bytes that TCP has received
 * @skb: the packet
 * @offset: where they begin
 * @len: how many; 0: there are none, or the socket is not being read
 * @data: the address of the first
 * @near: how many are there in one piece, see ktcp_block_near()
 */
struct ktcp_block {
	struct sk_buff		*skb;
	unsigned int		offset;
	size_t			len;
	const u8		*data;
	size_t			near;
};

/**
 * struct ktcp_rx - The receiving half of a connection; guarded by ktcp_conn.token
 * @state: see &enum ktcp_rx_state
 * @block: what is being read
 * @buf: header that comes piece by piece
 * @have: bytes of the header that are there, in @buf unless it is there as a whole
 * @hdr: the header, parsed
 * @count: headers that have come; TCP_WIRE_LEAVE does not count
 * @begun: headers of any kind that have come
 * @wanted: messages that wanted an acknowledgment, modulo 2^32
 * @ended: @begun of the last message whose key has ended (TCP_WIRE_END_KEY)
 * @done: bytes of the payload that are there
 * @iter: part of the target that is being filled
 * @rx: receive that the message goes to; NULL: it is dropped
 * @unexp: message that waits for its receive
 * @kvec: where the payload of @unexp goes
 * @rma: target of a write
 * @refusal: of the write, or the message, whose payload is being dropped, or NULL
 * @response: to the tagged write whose payload comes, or is being dropped, or NULL
 * @event: completion of a write with remote CQ data, or NULL
 */
struct ktcp_rx {
	enum ktcp_rx_state	state;
	struct ktcp_block	block;
	u8			buf[TCP_WIRE_MAX_HDR];
	size_t			have;
	struct ktcp_hdr		hdr;
	u64			count;
	u32			begun;
	u32			wanted;
	u32			ended;
	size_t			done;
	struct iov_iter		iter;
	struct kofi_rx		*rx;
	struct ktcp_unexp	*unexp;
	struct kvec		kvec;
	struct kofi_rma		rma;
	struct ktcp_response	*refusal;
	struct ktcp_response	*response;
	struct kofi_soft_event	*event;
};

static inline struct ktcp_op *to_ktcp_op(struct kofi_soft_op *soft)
{
	return container_of(soft, struct ktcp_op, soft);
}

static inline struct ktcp_response *ktcp_first_response(struct ktcp_tx *tx)
{
	return list_first_entry(&tx->responses, struct ktcp_response, entry);
}

static inline size_t ktcp_response_len(const struct ktcp_response *response)
{
	return response->rx ? kofi_rx_len(response->rx) : response->rma.len;
}

/**
 * ktcp_op_put() - One of the things that an operation waits for is over
 * @soft: the operation, in no list; it is over if that was the last
 * @err: positive error code; 0: that went well
 *
 * Context: with ktcp_conn.token held, or when the connection is over, by its worker.
 */
static inline void ktcp_op_put(struct kofi_soft_op *soft, int err)
{
	struct ktcp_op *op = to_ktcp_op(soft);

	if (err)
		op->err = err;
	if (!--op->waits)
		kofi_soft_op_done(soft, op->err);
}

/* Is a message acknowledged?  Of a rendezvous it is the payload */
static inline bool ktcp_hdr_wants_ack(const struct ktcp_hdr *hdr)
{
	return hdr->flags & (TCP_WIRE_ACK_WANTED | TCP_WIRE_COMMIT) && !hdr->ack &&
	       hdr->op != TCP_WIRE_READ_REQ && hdr->op != TCP_WIRE_READ_RSP &&
	       hdr->op != TCP_WIRE_CTS;
}

/* Is it a read or a write of a tagged receive? */
static inline bool ktcp_op_is_access(const struct kofi_kept_op *kept)
{
	return kept->flags & FI_TAGGED;
}

/* Does the peer respond to it, in the order of requests? */
static inline bool ktcp_op_has_response(const struct kofi_kept_op *kept)
{
	return kept->type == FI_OP_READ || ktcp_op_is_access(kept);
}

/* Has the socket taken all of what has begun to be sent? */
static inline bool ktcp_tx_is_idle(const struct ktcp_tx *tx)
{
	return tx->kind == KTCP_TX_IDLE && tx->gather.sent == tx->gather.bytes;
}

#endif /* _KOFI_TCP_HALVES_H */
