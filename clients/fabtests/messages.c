// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of a few messages.
 *
 *	msg, rdm	the client sends a greeting
 *	cq_data		the client sends, or writes, 1000 bytes with CQ data
 *	unexpected_msg	both ends send messages= tagged messages, sync, and then receive them,
 *			the last one first; iterations= times
 *
 * Since fabtests 1.19 unexpected_msg begins with two messages from a client that is not in the
 * server's address vector.  The first message matches a receive from any source.  Then the server
 * inserts the client, and the second message matches a receive directed to the client.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "fabtests.h"

#define FT_CQ_DATA	0x0123456789abcdefULL
#define FT_CQ_DATA_LEN	1000

/* Of unexpected_msg */
#define FT_FIRST_TAG	0x1234
#define FT_ITERATIONS	600

static const char ft_hello[] = "Hello from Client!";

int ft_greeting(struct ft_end *e)
{
	struct fi_cq_data_entry entry;
	int ret;

	if (e->client) {
		memcpy(ft_tx_buf(e), ft_hello, sizeof(ft_hello));
		return ft_tx(e, sizeof(ft_hello), 0);
	}
	ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
	if (ret)
		return ret;
	if (entry.len != sizeof(ft_hello) ||
	    memcmp(entry.op_context, ft_hello, sizeof(ft_hello)))
		return ft_fail(e, -EBADMSG, "is the peer the same test?",
			       "receive the greeting: got %zu bytes of something else", entry.len);
	WRITE_ONCE(e->checked, e->checked + 1);
	return ft_await_hangup(e);
}

/* FT_CQ_DATA, cut to the bytes of CQ data that the provider carries */
u64 ft_cq_data_value(struct ft_end *e)
{
	size_t size = e->info->domain_attr->cq_data_size;

	return size < sizeof(u64) ? FT_CQ_DATA & (BIT_ULL(8 * size) - 1) : FT_CQ_DATA;
}

static int ft_cq_data_take(struct ft_end *e)
{
	u64 want = ft_params.op == FT_WRITEDATA ? FI_REMOTE_WRITE : FI_RECV;
	struct fi_cq_data_entry entry;
	int ret;

	ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
	if (ret)
		return ret;
	if (!(entry.flags & FI_REMOTE_CQ_DATA) || !(entry.flags & want))
		return ft_fail(e, -EPROTO, "is the peer the same test, with the same -o?",
			       "receive CQ data: got flags %#llx", entry.flags);
	if (entry.data != ft_cq_data_value(e) || entry.len != FT_CQ_DATA_LEN)
		return ft_fail(e, -EBADMSG, NULL, "receive CQ data: got %#llx with %zu bytes",
			       entry.data, entry.len);
	WRITE_ONCE(e->checked, e->checked + 1);
	return ft_await_hangup(e);
}

int ft_cq_data(struct ft_end *e)
{
	int ret = 0;

	if (ft_params.op == FT_WRITEDATA)
		ret = ft_exchange_keys(e);
	if (ret)
		return ret;
	if (!e->client)
		return ft_cq_data_take(e);
	if (ft_params.op == FT_WRITEDATA)
		return ft_writedata(e, 0, FT_CQ_DATA_LEN);
	return ft_tx(e, FT_CQ_DATA_LEN, FI_REMOTE_CQ_DATA);
}

/* Receive the next message, of @len bytes; @len 0: of any length */
static int ft_take_next(struct ft_end *e, size_t len)
{
	struct fi_cq_data_entry entry;
	int ret = ft_post_rx(e);

	if (!ret)
		ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
	if (!ret && len && entry.len != len)
		ret = ft_fail(e, -EPROTO, "is the peer the same test?",
			      "receive %zu bytes: got %zu", len, entry.len);
	return ret;
}

static int ft_call_stranger(struct ft_end *e, const void *name)
{
	size_t len = sizeof(struct sockaddr_in6);
	int ret;

	ret = ft_know_peer(e, name, FT_CTRL_BYTES);
	if (!ret)
		ret = ft_post_tx(e, len, 0);
	if (!ret)
		ret = ft_post_tx(e, len, 0);
	if (!ret)
		ret = ft_sync(e);
	if (!ret)
		ret = ft_await_tx(e);
	return ret ?: ft_take_next(e, 1);
}

static int ft_hear_stranger(struct ft_end *e, const void *name)
{
	int ret;

	ret = ft_sync(e);
	if (!ret)
		ret = ft_take_next(e, 0);
	if (!ret)
		ret = ft_know_peer(e, name, FT_CTRL_BYTES);
	if (!ret)
		ret = ft_take_next(e, 0);
	return ret ?: ft_tx(e, 1, 0);
}

static int ft_strangers(struct ft_end *e)
{
	/* The last buffer is not the next one to be sent */
	void *name = e->tx[e->depth - 1];
	int ret;

	if (ft_params.script < FT_SCRIPT_UNKNOWN)
		return 0;
	ret = ft_exchange_names(e, name);
	if (ret)
		return ret;
	return e->client ? ft_call_stranger(e, name) : ft_hear_stranger(e, name);
}

static int ft_unexpected_send(struct ft_end *e, u32 size)
{
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < ft_params.messages; i++) {
		if (ft_params.verify)
			ft_fill(e->tx[i], size);
		ret = ft_post_tag(e, e->tx[i], size, 0, FT_FIRST_TAG + i);
	}
	return ret;
}

static int ft_unexpected_take(struct ft_end *e, u32 size)
{
	struct fi_cq_data_entry entry;
	u32 i = ft_params.messages;
	int ret = 0;

	while (!ret && i--) {
		memset(e->rx[i], 0, size);
		ret = ft_post_rx_tag(e, e->rx[i], e->room, FT_FIRST_TAG + i);
		if (!ret)
			ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
		if (ret)
			return ret;
		if (entry.len != size || entry.op_context != e->rx[i])
			return ft_fail(e, -EPROTO, "do both ends run the same sizes?",
				       "receive message %u of %u bytes: got %zu", i, size,
				       entry.len);
		if (ft_params.verify)
			ret = ft_check(e, e->rx[i], size, "message");
	}
	return ret;
}

int ft_unexpected(struct ft_end *e)
{
	u32 i, count = ft_params.iterations ?: FT_ITERATIONS, size = ft_params.sizes[0];
	int ret = ft_strangers(e);

	for (i = 0; !ret && i < count; i++) {
		ret = ft_unexpected_send(e, size);
		if (!ret)
			ret = ft_sync(e);
		if (!ret)
			ret = ft_unexpected_take(e, size);
		if (!ret)
			ret = ft_await_tx(e);
	}
	return ret ?: ft_sync(e);
}
