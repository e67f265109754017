// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What holds for the parsers of providers/tcp/wire.c whatever a peer sends; see replay.h.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "../../providers/tcp/wire.h"
#include "replay.h"

static bool replay_same(const struct ktcp_hdr *a, const struct ktcp_hdr *b)
{
	return a->op == b->op && a->flags == b->flags && a->ack == b->ack &&
	       a->len == b->len && a->data == b->data && a->tag == b->tag &&
	       a->number == b->number && a->msg_len == b->msg_len && a->count == b->count &&
	       !memcmp(a->rma, b->rma, a->count * sizeof(a->rma[0]));
}

/* The parser sees @have bytes, and no byte behind them */
static int replay_parse(struct ktcp_hdr *hdr, const u8 *buf, size_t have, bool foreign)
{
	u8 *copy = replay_copy(buf, have);
	int ret = ktcp_hdr_parse(hdr, copy, have, foreign);

	replay_free(copy);
	return ret;
}

/* What the receiving half relies on */
static const char *replay_check_hdr(const struct ktcp_hdr *hdr)
{
	size_t sum = 0;
	u32 i;

	if (hdr->count > KOFI_RMA_MAX_IOV)
		return "a header has too many ranges";
	for (i = 0; i < hdr->count; i++) {
		if (hdr->rma[i].len > SIZE_MAX - sum)
			return "the lengths of the ranges cannot be added";
		sum += hdr->rma[i].len;
	}
	switch (hdr->op) {
	case TCP_WIRE_WRITE:
		/* A save has the ranges of what was written before */
		if (hdr->flags & TCP_WIRE_SAVE)
			return hdr->count && !hdr->len ? NULL : "a save has a payload, or no range";
		return hdr->count && sum == hdr->len ?
		       NULL : "a write has another length than its ranges";
	case TCP_WIRE_READ_REQ:
		return hdr->count && !hdr->len ?
		       NULL : "a read request has a payload, or no range";
	default:
		return hdr->count || (hdr->ack && hdr->len) ?
		       "a message has ranges, or an acknowledgment a payload" : NULL;
	}
}

/* A header that was built is parsed to what it was built from */
static const char *replay_build(const struct ktcp_hdr *hdr, bool foreign)
{
	struct ktcp_hdr mine = *hdr, again;
	u8 buf[TCP_WIRE_MAX_HDR];
	size_t len;

	/* We repeat no flags in a response */
	if (mine.op == TCP_WIRE_READ_RSP)
		mine.flags = 0;
	len = ktcp_hdr_build(buf, &mine, 0, foreign);
	if (len > sizeof(buf))
		return "a header is built longer than the longest";
	if (replay_parse(&again, buf, len, foreign) || !replay_same(&mine, &again))
		return "a header that was built is parsed to another one";
	return NULL;
}

/* The message at @buf, of which @avail bytes are there; @used are those that it takes */
static const char *replay_msg(const u8 *buf, size_t avail, bool foreign, size_t *used,
			      size_t *split)
{
	size_t most = min_t(size_t, avail, TCP_WIRE_MAX_HDR), need = 0;
	struct ktcp_hdr all = {}, hdr = {};
	int whole, ret;

	*used = avail;
	whole = replay_parse(&all, buf, most, foreign);
	for (*split = 0; *split <= most; ++*split) {
		ret = replay_parse(&hdr, buf, *split, foreign);
		if (ret > 0) {
			if (ret <= *split || ret > TCP_WIRE_MAX_HDR || ret < need)
				return "a header asks for bytes that it has, or for too many";
			need = ret;
		} else if (ret) {
			if (ret != -EPROTO || whole != ret)
				return "a part of a header is refused and the whole is not";
		} else if (*split < need || whole || !replay_same(&hdr, &all)) {
			return "a part of a header is another header than the whole";
		}
	}
	if (whole > 0 && whole <= most)
		return "a header that is there is not parsed";
	if (whole)
		return NULL;
	if (all.len > U64_MAX - need)
		return "a message is shorter than its header";
	*used = need + min_t(size_t, all.len, avail - need);
	return replay_check_hdr(&all) ? : replay_build(&all, foreign);
}

static const char *replay_cm(const u8 *buf, size_t avail, bool *foreign, size_t *used)
{
	struct ktcp_wire_cm cm, mine;
	size_t len, again;
	bool other;
	int type;

	*used = avail;
	if (avail < sizeof(cm))
		return NULL;
	memcpy(&cm, buf, sizeof(cm));
	type = ktcp_cm_parse(&cm, &len, foreign);
	if (type == -EPROTO || type == -ENOPROTOOPT)
		return NULL;
	if (type < 0 || len > TCP_WIRE_CM_DATA)
		return "a message of connection management has too many bytes";
	*used = sizeof(cm) + min_t(size_t, len, avail - sizeof(cm));
	ktcp_cm_build(&mine, type, 0, len);
	if (ktcp_cm_parse(&mine, &again, &other) != type || again != len || other)
		return "a message that was built is parsed to another one";
	return NULL;
}

const char *replay(const u8 *input, size_t len, size_t *at, size_t *split)
{
	const char *why = NULL;
	bool foreign;
	size_t used;

	if (!len)
		return NULL;
	*at = 1;
	*split = 0;
	foreign = input[0] & REPLAY_FOREIGN;
	if (input[0] & REPLAY_CM) {
		why = replay_cm(input + 1, len - 1, &foreign, &used);
		*at += used;
	}
	while (!why && *at < len) {
		why = replay_msg(input + *at, len - *at, foreign, &used, split);
		if (!why)
			*at += used;
	}
	return why;
}
