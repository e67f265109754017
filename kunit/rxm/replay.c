// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What holds for the checks of providers/rxm/wire.c whatever a peer sends; see replay.h.
 *
 * A message in segments is put together as providers/rxm/rx.c and unexp.c do, in memory of exactly
 * its size, so that the sanitizer sees a segment that goes beyond it.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "../../providers/rxm/wire.h"
#include "replay.h"

#define REPLAY_SARS	4	/* messages in segments at a time */
#define REPLAY_MAX	65536	/* bytes of a message that are put together */

/**
 * struct replay_sar - A message of which segments are to come
 * @data: what has come; NULL: there is no such message
 * @msg_id: its identity
 * @size: its bytes
 * @have: of these, bytes that have come
 * @next: number of the next segment
 */
struct replay_sar {
	u8	*data;
	u64	msg_id;
	u64	size;
	u64	have;
	u32	next;
};

/**
 * struct replay_conn - A connection
 * @sars: its messages in segments
 * @id: what its packets name: what the first one does
 * @packets: packets that have kept to the rules
 */
struct replay_conn {
	struct replay_sar	sars[REPLAY_SARS];
	u32			id;
	unsigned int		packets;
};

static struct replay_sar *replay_sar_find(struct replay_conn *conn, u64 msg_id, bool used)
{
	int i;

	for (i = 0; i < REPLAY_SARS; i++)
		if (used ? conn->sars[i].data && conn->sars[i].msg_id == msg_id :
			   !conn->sars[i].data)
			return &conn->sars[i];
	return NULL;
}

static void replay_sar_end(struct replay_sar *sar)
{
	replay_free(sar->data);
	memset(sar, 0, sizeof(*sar));
}

static const char *replay_sar_add(struct replay_sar *sar, const struct rxm_wire_hdr *hdr,
				  size_t len)
{
	if (len > sar->size - sar->have)
		return "segments have more bytes than their message";
	memcpy(sar->data + sar->have, hdr + 1, len);
	sar->have += len;
	sar->next++;
	if ((hdr->ctrl.seg_type & RXM_WIRE_SEG_MASK) == RXM_WIRE_SEG_LAST &&
	    sar->have != sar->size)
		return "the last segment does not end its message";
	if (sar->have == sar->size)
		replay_sar_end(sar);
	return NULL;
}

/* Return true if a check has refused its input; *why is set if its error is not the one it has */
static bool replay_refused(int ret, const char **why)
{
	if (ret && ret != -EPROTO)
		*why = "a check has refused its input with an error other than -EPROTO";
	return ret;
}

/* Returns NULL, also if the connection is over: *over */
static const char *replay_seg(struct replay_conn *conn, const struct rxm_wire_hdr *hdr, size_t len,
			      bool *over)
{
	bool first = (hdr->ctrl.seg_type & RXM_WIRE_SEG_MASK) == RXM_WIRE_SEG_FIRST;
	struct replay_sar *sar = replay_sar_find(conn, hdr->ctrl.msg_id, true);
	const char *why = NULL;
	u8 *data;

	if (!len || len >= hdr->op.size)
		return "a segment is empty, or all of its message";
	if (!first) {
		*over = !sar || replay_refused(rxm_wire_seg_check(hdr, sar->size, sar->have,
								  sar->next), &why);
		return *over ? why : replay_sar_add(sar, hdr, len);
	}
	*over = sar || hdr->op.size > REPLAY_MAX;
	sar = replay_sar_find(conn, 0, false);
	if (*over || !sar) {
		*over = true;
		return NULL;
	}
	if (hdr->ctrl.seg_no)
		return "the first segment is not the first";
	/* The bytes behind the segment have not come yet; any will do */
	data = replay_copy(NULL, hdr->op.size);
	*sar = (struct replay_sar) {
		.data = data, .msg_id = hdr->ctrl.msg_id, .size = hdr->op.size,
	};
	return replay_sar_add(sar, hdr, len);
}

static const char *replay_rndv(const struct rxm_wire_rndv *wire, size_t len, u64 size)
{
	u64 left = size;
	int i;

	if (len != sizeof(*wire) || !wire->count || wire->count > RXM_WIRE_IOV)
		return "an offer has no range, or too many";
	for (i = 0; i < wire->count; i++) {
		if (wire->iov[i].len > left)
			return "the ranges of an offer are longer than the message";
		left -= wire->iov[i].len;
	}
	return left ? "the ranges of an offer are shorter than the message" : NULL;
}

/* What the receiving half relies on */
static const char *replay_valid(struct replay_conn *conn, const struct rxm_wire_hdr *hdr,
				size_t len, bool *over)
{
	const struct rxm_wire_rndv *target = (const void *)(hdr + 1);
	const struct rxm_wire_resp *resp = (const void *)(hdr + 1);

	switch (hdr->ctrl.type) {
	case RXM_WIRE_EAGER:
		return hdr->op.size == len ? NULL : "a message has another length than its packet";
	case RXM_WIRE_SEG:
		return replay_seg(conn, hdr, len, over);
	case RXM_WIRE_RNDV_REQ:
		return replay_rndv((const void *)(hdr + 1), len, hdr->op.size);
	case RXM_WIRE_RNDV_READ_DONE:
		return NULL;
	case RXM_WIRE_RNDV_WRITE_DATA:
		return len == sizeof(*target) && target->count && target->count <= RXM_WIRE_IOV ?
		       NULL : "an answer that asks for a write has no range, or too many";
	case RXM_WIRE_RNDV_WRITE_DONE:
		return len ? "the end of a write has a payload" : NULL;
	case RXM_WIRE_ATOMIC:
		return len >= sizeof(struct rxm_wire_atomic) && hdr->op.atomic.ioc_count &&
		       hdr->op.atomic.ioc_count <= RXM_WIRE_IOV && hdr->op.size == len ?
		       NULL : "an atomic operation has no target, or no operands";
	case RXM_WIRE_ATOMIC_RESP:
		return len >= sizeof(*resp) &&
		       be32_to_cpu(resp->result_len) + sizeof(*resp) == len ?
		       NULL : "a response has another length than its packet";
	case RXM_WIRE_CREDIT:
		return len || !hdr->ctrl.credits ? "a grant of nothing, or with a payload" : NULL;
	case RXM_WIRE_LEAVE:
	case RXM_WIRE_STAY:
		return len ? "a packet of an idle connection has a payload" : NULL;
	default:
		return "an unknown kind of packet is taken";
	}
}

static const char *replay_packet(struct replay_conn *conn, const u8 *bytes, size_t len, bool *over)
{
	u8 *copy = replay_copy(bytes, len);
	const struct rxm_wire_hdr *hdr = (const void *)copy;
	const char *why = NULL;

	if (!conn->packets && len >= sizeof(*hdr))
		conn->id = hdr->ctrl.conn_id;
	*over = replay_refused(rxm_wire_check(hdr, len, conn->id), &why);
	if (!*over && len < sizeof(*hdr))
		why = "a packet without a header is taken";
	else if (!*over)
		why = replay_valid(conn, hdr, len - sizeof(*hdr), over);
	conn->packets += !*over;
	replay_free(copy);
	return why;
}

static const char *replay_request(const u8 *bytes, size_t len, bool *over)
{
	u8 *copy = replay_copy(bytes, len);
	struct rxm_wire_request msg = {};
	const char *why = NULL;

	memcpy(&msg, copy, min_t(size_t, len, sizeof(msg)));
	*over = replay_refused(rxm_wire_request_check(&msg, len, msg.eager_limit), &why);
	replay_free(copy);
	if (!rxm_wire_request_check(&msg, len, msg.eager_limit + 1))
		return "a request with another eager limit is taken";
	if (!*over && (len < sizeof(msg) || !msg.port || msg.ep_idx))
		return "a request that cannot be answered is taken";
	return why;
}

/* Takes the next piece of an input, without the length in front; returns its bytes, or -1 */
static int replay_piece(const u8 *input, size_t len, size_t at)
{
	size_t piece;

	if (len - at < 2)
		return -1;
	piece = input[at] | input[at + 1] << 8;
	return piece <= len - at - 2 ? (int)piece : -1;
}

static const char *replay_all(struct replay_conn *conn, const u8 *input, size_t len, size_t *at)
{
	bool request = true, over = false;
	const char *why = NULL;
	int piece, i;

	*at = 0;
	while (!why && !over && (piece = replay_piece(input, len, *at)) >= 0) {
		if (request)
			why = replay_request(input + *at + 2, piece, &over);
		else
			why = replay_packet(conn, input + *at + 2, piece, &over);
		request = false;
		if (!why && !over)
			*at += 2 + piece;
	}
	for (i = 0; i < REPLAY_SARS; i++)
		if (conn->sars[i].data)
			replay_sar_end(&conn->sars[i]);
	return why;
}

const char *replay(const u8 *input, size_t len, size_t *at, size_t *split)
{
	struct replay_conn conn = {};

	*split = 0;
	return replay_all(&conn, input, len, at);
}
