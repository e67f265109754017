// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the bad peer does, one connection at a time.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "hostile.h"

/* The length byte, and what follows it */
const struct hostile_kind hostile_kinds[] = {
	{ "none", { }, 0 },
	{ "empty", { 0 }, 1 },
	{ "right", { 2, 'o', 'k' }, 3 },
	{ "trailing", { 2, 'o', 'k', 'x', 'x', 'x', 'x' }, 56 },
	{ "longest", { 55, 1, 2, 3 }, 56 },
	{ "short", { 5, 1 }, 2 },
	{ "lie-56", { 56, 1, 2, 3 }, 56 },
	{ "lie-255", { 255 }, 1 },
	{ "garbage", { 0xde, 0xad, 0xbe, 0xef, 0xf0, 0x0d }, 56 },
	{ "beyond", { 200, 1, 2, 3 }, 201 },
	{ }
};

static struct hostile_conn *hostile_peer;

const struct hostile_kind *hostile_kind(const char *name)
{
	const struct hostile_kind *kind;

	for (kind = hostile_kinds; kind->name; kind++)
		if (!strcmp(kind->name, name))
			return kind;
	return NULL;
}

/* A connection as any peer would make it; the event that says how it went */
static const struct hostile_news *
hostile_peer_join(struct hostile_conn *conn, int offset, const u8 *data, u8 len, int *ret)
{
	*ret = hostile_conn_resolve(conn, offset);
	if (!*ret)
		*ret = hostile_conn_open_qp(conn, conn->id);
	if (!*ret)
		*ret = hostile_conn_ask(conn, data, len);
	return *ret ? NULL : hostile_conn_next(conn);
}

static int hostile_peer_request(int offset, const struct hostile_kind *kind)
{
	struct hostile_conn *conn = hostile_conn();
	const struct hostile_news *event;
	int ret;

	if (!conn)
		return -ENOMEM;
	event = hostile_peer_join(conn, offset, kind->data, kind->len, &ret);
	if (event)
		hostile_say("%s: %s", kind->name, rdma_event_msg(event->event));
	else if (ret == -EINVAL)
		hostile_say("%s: cannot be sent", kind->name);
	else
		hostile_say("%s: no answer, %d", kind->name, ret);
	hostile_conn_close(conn);
	return ret == -EINVAL ? 0 : ret;
}

int hostile_peer_requests(const struct hostile_args *args)
{
	const struct hostile_kind *kind;
	int ret = 0;

	for (kind = hostile_kinds; kind->name && !ret; kind++)
		ret = hostile_peer_request(hostile_number(args, 1, 0), kind);
	return ret;
}

void hostile_peer_end(void)
{
	hostile_conn_close(hostile_peer);
	hostile_peer = NULL;
}

int hostile_peer_leave(const struct hostile_args *args)
{
	hostile_peer_end();
	return 0;
}

static int hostile_peer_begin(void)
{
	if (hostile_peer)
		return -EBUSY;
	hostile_peer = hostile_conn();
	return hostile_peer ? 0 : -ENOMEM;
}

int hostile_peer_answer(const struct hostile_args *args)
{
	const struct hostile_kind *kind = hostile_kind(hostile_word(args, 2));
	int ret;

	if (!kind)
		return -EINVAL;
	ret = hostile_peer_begin();
	if (ret)
		return ret;
	hostile_peer->answer = (struct hostile_answer) {
		.accept		= !strcmp(hostile_word(args, 1), "accept"),
		.hold		= !strcmp(hostile_word(args, 1), "hold"),
		.with_qp	= hostile_number(args, 3, 0),
		.recv_len	= hostile_number(args, 4, -1),
		.rnr_retry	= hostile_number(args, 5, 7),
		.data		= kind->data,
		.len		= kind->len,
	};
	return hostile_conn_listen(hostile_peer, HOSTILE_PEER);
}

int hostile_peer_seen(const struct hostile_args *args)
{
	const struct hostile_news *event;
	int i, logged;

	if (!hostile_peer)
		return -EINVAL;
	logged = READ_ONCE(hostile_peer->logged);
	for (i = 0; i < logged; i++) {
		event = &hostile_peer->log[i];
		hostile_say("%s, status %d", rdma_event_msg(event->event), event->status);
	}
	if (completion_done(&hostile_peer->recv_done))
		hostile_say("receive: %s, %u bytes", ib_wc_status_msg(hostile_peer->recv_status),
			    hostile_peer->recv_len);
	return 0;
}

/* Without a queue pair rdma_cm leaves the confirmation to us */
int hostile_peer_half(const struct hostile_args *args)
{
	int ret;

	ret = hostile_peer_begin();
	if (!ret)
		ret = hostile_conn_resolve(hostile_peer, hostile_number(args, 1, 0));
	if (!ret)
		ret = hostile_conn_ask(hostile_peer, NULL, 0);
	if (ret)
		return ret;
	if (!hostile_conn_await(hostile_peer, RDMA_CM_EVENT_CONNECT_RESPONSE))
		return -EPROTO;
	hostile_say("accepted; nothing is confirmed");
	return 0;
}

enum hostile_key {
	HOSTILE_KEY,
	HOSTILE_KEY_WRONG,
	HOSTILE_KEY_STALE,
	HOSTILE_KEY_READ_ONLY,
};

/* Offsets are from the begin of the region */
static const struct hostile_deed {
	const char		*name;
	enum ib_wr_opcode	opcode;
	enum hostile_key	key;
	int			offset;
	u32			len;
} hostile_deeds[] = {
	{ "read inside", IB_WR_RDMA_READ, HOSTILE_KEY, 0, HOSTILE_REGION },
	{ "read before", IB_WR_RDMA_READ, HOSTILE_KEY, -8, 16 },
	{ "read beyond", IB_WR_RDMA_READ, HOSTILE_KEY, HOSTILE_REGION - 8, 16 },
	{ "read with a wrong key", IB_WR_RDMA_READ, HOSTILE_KEY_WRONG, 0, 64 },
	{ "read with a stale key", IB_WR_RDMA_READ, HOSTILE_KEY_STALE, 0, 64 },
	{ "write beyond", IB_WR_RDMA_WRITE, HOSTILE_KEY, HOSTILE_REGION - 8, 16 },
	{ "write with a wrong key", IB_WR_RDMA_WRITE, HOSTILE_KEY_WRONG, 0, 64 },
	{ "write with a stale key", IB_WR_RDMA_WRITE, HOSTILE_KEY_STALE, 0, 64 },
	{ "write what is for reading", IB_WR_RDMA_WRITE, HOSTILE_KEY_READ_ONLY,
	  0, 64 },
};

static u64 hostile_deed_key(const struct hostile_offer *offer, enum hostile_key key)
{
	switch (key) {
	case HOSTILE_KEY_WRONG:
		/* The part of it that is the registration's */
		return be64_to_cpu(offer->key) ^ 0x55;
	case HOSTILE_KEY_STALE:
		return be64_to_cpu(offer->stale_key);
	case HOSTILE_KEY_READ_ONLY:
		return be64_to_cpu(offer->read_only_key);
	default:
		return be64_to_cpu(offer->key);
	}
}

/* Does a message that goes after it come back? */
static bool hostile_deed_echoed(struct hostile_conn *conn)
{
	unsigned long patience = msecs_to_jiffies(HOSTILE_PATIENCE_MS);

	return !hostile_conn_recv(conn, HOSTILE_MSG) &&
	       hostile_conn_send(conn, 0) == IB_WC_SUCCESS &&
	       wait_for_completion_timeout(&conn->recv_done, patience) &&
	       conn->recv_status == IB_WC_SUCCESS;
}

/*
 * How it ended.  Over iWARP a write is done when it is sent, and of a refusal nobody
 * hears but by the end of the connection.
 */
static const char *hostile_deed_verdict(struct hostile_conn *conn, enum ib_wc_status status)
{
	const struct hostile_news *event;

	if (!hostile_is_iwarp(conn->id) || (status == IB_WC_SUCCESS && hostile_deed_echoed(conn)))
		return ib_wc_status_msg(status);
	event = hostile_conn_next(conn);
	return event ? rdma_event_msg(event->event) : "nothing";
}

static int hostile_peer_deed(int offset, const struct hostile_deed *deed)
{
	struct hostile_conn *conn = hostile_conn();
	const struct hostile_news *event;
	struct hostile_offer offer;
	enum ib_wc_status status;
	u64 addr;
	int ret;

	if (!conn)
		return -ENOMEM;
	event = hostile_peer_join(conn, offset, NULL, 0, &ret);
	if (!event || event->event != RDMA_CM_EVENT_ESTABLISHED ||
	    event->len <= sizeof(offer)) {
		hostile_say("%s: no connection", deed->name);
		ret = ret ?: -ECONNREFUSED;
		goto close;
	}
	memcpy(&offer, event->data + 1, sizeof(offer));
	addr = be64_to_cpu(deed->key == HOSTILE_KEY_READ_ONLY ? offer.read_only_addr : offer.addr);
	status = hostile_conn_rma(conn, deed->opcode, addr + deed->offset,
				  hostile_deed_key(&offer, deed->key), deed->len);
	hostile_say("%s: %s", deed->name, hostile_deed_verdict(conn, status));
	if (status == IB_WC_SUCCESS && deed->opcode == IB_WR_RDMA_READ &&
	    memchr_inv(conn->buf, HOSTILE_FILL, deed->len))
		hostile_say("%s: other bytes than there are", deed->name);
close:
	hostile_conn_close(conn);
	return ret;
}

int hostile_peer_access(const struct hostile_args *args)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(hostile_deeds) && !ret; i++)
		ret = hostile_peer_deed(hostile_number(args, 1, 0), &hostile_deeds[i]);
	return ret;
}

/* A message of so many bytes, and what comes back */
static void hostile_peer_size(struct hostile_conn *conn, u32 len)
{
	unsigned long patience = msecs_to_jiffies(HOSTILE_PATIENCE_MS);
	enum ib_wc_status status;
	int ret;

	ret = hostile_conn_recv(conn, HOSTILE_MSG);
	status = ret ? IB_WC_FATAL_ERR : hostile_conn_send(conn, len);
	if (!ret && !wait_for_completion_timeout(&conn->recv_done, patience))
		hostile_say("%u bytes: no echo", len);
	else if (conn->recv_status == IB_WC_SUCCESS)
		hostile_say("%u bytes: %s, %u bytes back", len,
			    ib_wc_status_msg(status), conn->recv_len);
	else
		hostile_say("%u bytes: %s, nothing back", len, ib_wc_status_msg(status));
}

int hostile_peer_sizes(const struct hostile_args *args)
{
	struct hostile_conn *conn = hostile_conn();
	const struct hostile_news *event;
	int ret;

	if (!conn)
		return -ENOMEM;
	event = hostile_peer_join(conn, hostile_number(args, 1, 0), NULL, 0, &ret);
	if (event && event->event == RDMA_CM_EVENT_ESTABLISHED) {
		hostile_peer_size(conn, 0);
		hostile_peer_size(conn, HOSTILE_MSG);
		hostile_peer_size(conn, HOSTILE_MSG + 1);
	} else {
		ret = ret ?: -ECONNREFUSED;
	}
	hostile_conn_close(conn);
	return ret;
}
