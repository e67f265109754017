// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Bandwidth of messages: a sync, then the client sends warmup= and iterations= messages.  The
 * server acknowledges each full window with four bytes, and once more at the end, also if
 * nothing has come since the last acknowledgment.
 *
 * The server does not post its receives beforehand, so the provider must keep the client from
 * sending more than the server has room for.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/sched.h>

#include "fabtests.h"

/* The client ends a window: wait for all sends, then for the server's acknowledgment */
int ft_bw_client_ack(struct ft_end *e)
{
	int ret = ft_await_tx(e);

	return ret ?: ft_rx(e, FT_ACK_BYTES, e->active);
}

/* The server ends a window: wait for all receives but the one posted ahead, then acknowledge */
static int ft_bw_server_ack(struct ft_end *e, u32 size)
{
	struct fi_cq_data_entry entry;
	int ret;

	while (e->rx_done < e->rx_seq - 1) {
		ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
		if (ret)
			return ret;
		if (entry.len != size)
			return ft_fail(e, -EPROTO, "do both ends run the same sizes?",
				       "receive %u bytes: got %zu", size, entry.len);
		if (ft_params.verify)
			ret = ft_check(e, entry.op_context, size, "message");
		if (ret)
			return ret;
	}
	return ft_tx(e, FT_ACK_BYTES, 0);
}

static int ft_bw_post(struct ft_end *e, u32 size)
{
	if (!e->client)
		return ft_post_rx(e);
	if (ft_params.verify)
		ft_fill(ft_tx_buf(e), size);
	return ft_post_tx(e, size, 0);
}

static int ft_bw_ack(struct ft_end *e, u32 size)
{
	return e->client ? ft_bw_client_ack(e) : ft_bw_server_ack(e, size);
}

int ft_bw(struct ft_end *e, u32 size)
{
	u32 i, count = ft_params.warmup + ft_iterations(size), posted = 0;
	int ret = ft_sync(e);

	for (i = 0; !ret && i < count; i++) {
		if (i == ft_params.warmup)
			ft_begin(e);
		ret = ft_bw_post(e, size);
		if (!ret && ++posted == ft_params.window) {
			ret = ft_bw_ack(e, size);
			posted = 0;
		}
		cond_resched();
	}
	if (!ret)
		ret = ft_bw_ack(e, size);
	if (!ret)
		ft_results_add(e, size, 1, ft_stop_clock(e));
	return ret;
}
