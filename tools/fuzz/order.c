// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The parsers of providers/tcp/wire.c on a machine of either byte order.
 *
 * scripts/fuzz compiles this for a little-endian and for a big-endian machine.  Both machines
 * read each stream of kunit/tcp/corpus.c in network byte order, which two ends of different
 * orders speak, and print the parsed messages and the headers that they build from them.
 * scripts/fuzz compares the output of the two machines.
 *
 * In addition each machine reads and builds the same messages in its own byte order, and
 * replays the corpus as it is (kunit/tcp/replay.h).  The program exits 0 only when nothing was
 * wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../../kunit/tcp/replay.h"
#include "../../providers/tcp/wire.h"

#define BIG	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static int wrong;

u8 *replay_copy(const u8 *data, size_t len)
{
	u8 *copy = malloc(len);

	if (!copy && len)
		abort();
	return len ? memcpy(copy, data, len) : copy;
}

void replay_free(u8 *copy)
{
	free(copy);
}

static void complain(const char *name, const char *why)
{
	fprintf(stderr, "%s: %s\n", name, why);
	wrong++;
}

static void print_bytes(const char *what, const u8 *bytes, size_t len)
{
	printf(" %s ", what);
	while (len--)
		printf("%02x", *bytes++);
}

static void reverse(u8 *bytes, size_t len)
{
	size_t i;
	u8 byte;

	for (i = 0; i < len / 2; i++) {
		byte = bytes[i];
		bytes[i] = bytes[len - 1 - i];
		bytes[len - 1 - i] = byte;
	}
}

/*
 * Convert a header from little-endian to network byte order or back, by moving bytes: the flags,
 * the size, and all that follows are integers.  Bytes that are no header are converted, too.
 */
static void convert(u8 *bytes, size_t len)
{
	size_t at;

	if (len >= 4)
		reverse(bytes + 2, 2);
	for (at = 8; at + 8 <= len; at += 8)
		reverse(bytes + at, 8);
}

static void print_hdr(const struct ktcp_hdr *hdr)
{
	u32 i;

	printf(" op %d flags %#x ack %d len %zu data %#llx tag %#llx number %u msg_len %zu",
	       hdr->op, hdr->flags, hdr->ack, hdr->len, (unsigned long long)hdr->data,
	       (unsigned long long)hdr->tag, hdr->number, hdr->msg_len);
	for (i = 0; i < hdr->count; i++)
		printf(" range %#llx %llu %#llx", (unsigned long long)hdr->rma[i].addr,
		       (unsigned long long)hdr->rma[i].len,
		       (unsigned long long)hdr->rma[i].key);
}

/* Check that @net, converted to this machine's byte order, is parsed and built in the same way */
static void check_own(const char *name, const u8 *net, size_t have, int ret,
		      const struct ktcp_hdr *hdr, size_t hdr_len)
{
	u8 own[TCP_WIRE_MAX_HDR], built[TCP_WIRE_MAX_HDR], wanted[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr mine = {};

	memcpy(own, net, have);
	if (!BIG)
		convert(own, have);
	if (ktcp_hdr_parse(&mine, own, have, false) != ret)
		complain(name, "is parsed in one byte order only");
	if (ret)
		return;
	ktcp_hdr_build(wanted, hdr, 7, true);
	if (!BIG)
		convert(wanted, hdr_len);
	if (ktcp_hdr_build(built, &mine, 7, false) != hdr_len || memcmp(built, wanted, hdr_len))
		complain(name, "is built otherwise in this machine's byte order");
}

/* Show the message at @bytes, in network byte order; returns the bytes that it takes */
static size_t show_msg(const char *name, const u8 *bytes, size_t avail)
{
	size_t have = min_t(size_t, avail, TCP_WIRE_MAX_HDR), len;
	struct ktcp_hdr hdr = {};
	u8 built[TCP_WIRE_MAX_HDR];
	int ret;

	ret = ktcp_hdr_parse(&hdr, bytes, have, true);
	printf("%s: %d", name, ret);
	len = 0;
	if (!ret) {
		print_hdr(&hdr);
		len = ktcp_hdr_build(built, &hdr, bytes[7], true);
		print_bytes("built", built, len);
	}
	putchar('\n');
	check_own(name, bytes, have, ret, &hdr, len);
	if (ret)
		return avail;
	/* bytes[6] is the length of the header */
	return bytes[6] + min_t(size_t, hdr.len, avail - bytes[6]);
}

/*
 * Show the request or answer at @bytes; returns the bytes that it takes.  @foreign: is its sender
 * big-endian?
 */
static size_t show_cm(const char *name, const u8 *bytes, size_t avail, bool *foreign)
{
	struct ktcp_wire_cm cm;
	bool other = false;
	size_t len = 0;
	int type;

	if (avail < sizeof(cm))
		return avail;
	memcpy(&cm, bytes, sizeof(cm));
	type = ktcp_cm_parse(&cm, &len, &other);
	printf("%s: type %d", name, type);
	if (type >= 0)
		printf(" len %zu save %d leave %d", len, ktcp_cm_can(&cm, TCP_WIRE_CAN_SAVE),
		       ktcp_cm_can(&cm, TCP_WIRE_CAN_LEAVE));
	if (type >= 0 && type != TCP_WIRE_NACK) {
		*foreign = other != BIG;
		printf(" %s-endian", *foreign ? "big" : "little");
	}
	putchar('\n');
	return type < 0 ? avail : sizeof(cm) + min_t(size_t, len, avail - sizeof(cm));
}

/*
 * Show a row of the corpus.  Its integers are those of a little-endian peer, or of a big-endian
 * peer that sends network byte order.
 */
static void show_row(const struct replay_input *row)
{
	bool foreign = row->data[0] & REPLAY_FOREIGN;
	size_t at = 1, hdr_len, need, split;
	u8 bytes[TCP_WIRE_MAX_HDR];
	const char *why;
	int count = 0;
	char name[256];

	why = replay(row->data, row->len, &need, &split);
	if (why)
		complain(row->name, why);
	if (row->data[0] & REPLAY_CM)
		at += show_cm(row->name, row->data + 1, row->len - 1, &foreign);
	while (at < row->len) {
		snprintf(name, sizeof(name), "%s, message %d", row->name, ++count);
		hdr_len = min_t(size_t, row->len - at, TCP_WIRE_MAX_HDR);
		memcpy(bytes, row->data + at, hdr_len);
		if (!foreign)
			convert(bytes, hdr_len);
		at += show_msg(name, bytes, row->len - at);
	}
}

/* Build and show requests, answers and refusals; the word in the sender's order is converted */
static void show_built_cm(void)
{
	static const enum ktcp_wire_cm_type types[] = {
		TCP_WIRE_CONNREQ, TCP_WIRE_CONNRESP, TCP_WIRE_NACK
	};
	struct ktcp_wire_cm cm;
	u8 bytes[sizeof(cm)];
	size_t i, len;
	bool other;
	u64 can;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (can = 0; can < (types[i] == TCP_WIRE_NACK ? 1 : 4); can++) {
			ktcp_cm_build(&cm, types[i], can, TCP_WIRE_CM_DATA - can);
			if (ktcp_cm_parse(&cm, &len, &other) != (int)types[i] || other)
				complain("a message to connect", "is not understood by its sender");
			memcpy(bytes, &cm, sizeof(cm));
			if (!BIG)
				reverse(bytes + sizeof(cm) - 8, 8);
			printf("type %d can %llu:", types[i], (unsigned long long)can);
			print_bytes("built", bytes, sizeof(cm));
			putchar('\n');
		}
}

int main(void)
{
	size_t i;

	for (i = 0; i < replay_corpus_count; i++)
		show_row(&replay_corpus[i]);
	show_built_cm();
	return wrong != 0;
}
