// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rma_bw.
 *
 * Each end has a region of two halves: peers write to the first and read from the second.  Both
 * ends compute the size of a half from the longest size and the window, and send each other
 * the address and key of the region.
 *
 *	write, read	both ends, at the same time; an end's window is over when its own
 *			operations are complete
 *	writedata	the client only; the server counts the writes by their data and
 *			acknowledges each window as in msg_bw
 *
 * Since fabtests 1.19 operation n of a window has a place of its own, FT_ACK_BYTES and n times
 * the size from the begin of the half, and verify=1 covers all operations:
 *
 *	write		fill, sync, write, sync, and the window must have the peer's contents
 *	read		fill, sync, read, and the window must have the peer's contents
 *	writedata	the server checks the window after its last write
 *
 * Before each window the target is filled with contents one byte off, so that the check fails on
 * bytes that were not written.  Versions before 1.19 use the begin of the region for all
 * operations and check writedata only.
 *
 * Since 2.4 the warm-up ends with an acknowledgment of its own, and with writedata the server
 * also sends four bytes for each write of the warm-up.
 *
 * Messages have buffers outside of the region here, so RMA never overwrites a message.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/align.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "fabtests.h"

/* Halves are multiples of this */
#define FT_HALF_ALIGN	64

/* The key that fabtests requests, for providers that do not choose keys */
#define FT_MR_KEY	0xC0DE

/* The message in which an end describes its region to the peer */
struct ft_where {
	u64	addr;
	u64	len;
	u64	key;
};

static bool ft_in_windows(void)
{
	return ft_params.script >= FT_SCRIPT_WINDOWS;
}

/* Register a region for the peer, and for this end's own operations */
int ft_expose(struct ft_end *e)
{
	u64 access = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
	int ret;

	e->half = ALIGN(e->room * ft_params.window + FT_ACK_BYTES, FT_HALF_ALIGN);
	e->region = kvzalloc(2 * e->half, GFP_KERNEL | __GFP_NOWARN);
	if (!e->region)
		return ft_fail(e, -ENOMEM, "use smaller sizes= or window=",
			       "get a region of %zu bytes", 2 * e->half);
	ret = fi_mr_reg(e->domain, e->region, 2 * e->half, access, 0, FT_MR_KEY, 0, &e->mr, e);
	if (ret)
		return ft_fail(e, ret, ret == -EMSGSIZE ? "use smaller sizes= or window=" : NULL,
			       "register %zu bytes", 2 * e->half);
	e->desc = fi_mr_desc(e->mr);
	return 0;
}

int ft_exchange_keys(struct ft_end *e)
{
	struct fi_cq_data_entry entry;
	struct ft_where *mine, theirs;
	int ret = ft_expose(e);

	if (ret)
		return ret;
	mine = ft_tx_buf(e);
	*mine = (struct ft_where) {
		.addr = fi_mr_addr(e->mr),
		.len = 2 * e->half,
		.key = fi_mr_key(e->mr),
	};
	ret = ft_tx(e, sizeof(*mine), 0);
	if (!ret)
		ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
	if (ret)
		return ret;
	if (entry.len != sizeof(theirs))
		return ft_fail(e, -EPROTO, "is the peer the same test?",
			       "receive the peer's key: got %zu bytes", entry.len);
	memcpy(&theirs, entry.op_context, sizeof(theirs));
	e->remote_addr = theirs.addr;
	e->remote_key = theirs.key;
	ret = ft_post_rx(e);
	return ret ?: ft_sync(e);
}

static ssize_t ft_post_once(struct ft_end *e, size_t offset, size_t len)
{
	u64 read_from = e->remote_addr + (ft_in_windows() ? e->half : 0) + offset;
	u64 write_to = e->remote_addr + offset;
	u8 *target = e->region + offset;
	u8 *source = target + e->half;

	switch (ft_params.op) {
	case FT_READ:
		return fi_read(e->ep, target, len, e->desc, e->peer, read_from, e->remote_key,
			       source);
	case FT_WRITEDATA:
		return fi_writedata(e->ep, source, len, e->desc, ft_cq_data_value(e), e->peer,
				    write_to, e->remote_key, source);
	default:
		return fi_write(e->ep, source, len, e->desc, e->peer, write_to, e->remote_key,
				source);
	}
}

static int ft_post_op(struct ft_end *e, size_t offset, size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(FT_TIMEOUT_MS);
	ssize_t ret;
	int err;

	while ((ret = ft_post_once(e, offset, len))) {
		err = ft_again(e, ret, end, "read or write");
		if (err)
			return err;
	}
	e->tx_seq++;
	return 0;
}

/* cq_data's write: at @offset of the peer's region */
int ft_writedata(struct ft_end *e, size_t offset, size_t len)
{
	int ret = ft_post_op(e, offset, len);

	return ret ?: ft_await_tx(e);
}

/* The server of writedata: wait for the writes of a window */
static int ft_take_writes(struct ft_end *e, u32 size)
{
	struct fi_cq_data_entry entry;
	int ret;

	while (e->rx_done < e->rx_seq - 1) {
		ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
		if (ret)
			return ret;
		if (!(entry.flags & FI_REMOTE_CQ_DATA) || entry.data != ft_cq_data_value(e) ||
		    entry.len != size)
			return ft_fail(e, -EPROTO, "do both ends run the same sizes?",
				       "await a write of %u bytes: got %zu with data %#llx, flags %#llx",
				       size, entry.len, entry.data, entry.flags);
	}
	return 0;
}

/* Check the contents that the peer has written, or this end has read, in @nr operations */
static int ft_check_window(struct ft_end *e, u32 size, u32 nr)
{
	if (!ft_params.verify || !nr)
		return 0;
	if (ft_in_windows())
		return ft_check(e, e->region + FT_ACK_BYTES, (size_t)size * nr, "window");
	return ft_params.op == FT_WRITEDATA ? ft_check(e, e->region, size, "window") : 0;
}

/* End a window of @nr operations */
static int ft_rma_ack(struct ft_end *e, u32 size, u32 nr)
{
	int ret;

	if (ft_params.op == FT_WRITEDATA) {
		if (e->client)
			return ft_bw_client_ack(e);
		ret = ft_take_writes(e, size);
		if (!ret)
			ret = ft_check_window(e, size, nr);
		return ret ?: ft_tx(e, FT_ACK_BYTES, 0);
	}
	ret = ft_await_tx(e);
	if (!ret && ft_params.verify && ft_in_windows() && ft_params.op == FT_WRITE)
		ret = ft_sync(e);
	return ret ?: ft_check_window(e, size, nr);
}

/* Begin a window: fill the source, fill the target with contents one byte off, and sync */
static int ft_prepare_window(struct ft_end *e, u32 size)
{
	size_t len = (size_t)size * ft_params.window;
	u8 *target = e->region + FT_ACK_BYTES;

	if (!ft_params.verify || !size)
		return 0;
	if (!ft_in_windows()) {
		ft_fill(e->region + e->half, size);
		return 0;
	}
	ft_fill(target + e->half, len);
	ft_fill(target + 1, len - 1);
	return ft_sync(e);
}

/* The server of writedata: expect one write; @warm: also send the four bytes of a warm-up */
static int ft_expect_write(struct ft_end *e, bool warm)
{
	int ret = 0;

	if (e->info->rx_attr->mode & FI_RX_CQ_DATA)
		ret = ft_post_rx(e);
	else
		e->rx_seq++;
	if (!ret && warm)
		ret = ft_post_tx(e, FT_ACK_BYTES, 0);
	return ret;
}

static int ft_rma_post(struct ft_end *e, u32 size, u32 nth, bool warm)
{
	size_t offset = ft_in_windows() ? FT_ACK_BYTES + (size_t)size * nth : 0;
	bool extra = warm && ft_params.script >= FT_SCRIPT_DRAIN &&
		     ft_params.op == FT_WRITEDATA;
	int ret;

	if (ft_params.op == FT_WRITEDATA && !e->client)
		return ft_expect_write(e, extra);
	ret = ft_post_op(e, offset, size);
	if (!ret && extra)
		ret = ft_post_rx(e);
	return ret;
}

int ft_rma_bw(struct ft_end *e, u32 size)
{
	u32 i, count = ft_params.warmup + ft_iterations(size), posted = 0;
	int ret = ft_sync(e);

	for (i = 0; !ret && i < count; i++) {
		if (i == ft_params.warmup) {
			if (ft_params.script >= FT_SCRIPT_DRAIN) {
				ret = ft_rma_ack(e, size, posted);
				posted = 0;
			}
			ft_begin(e);
		}
		if (!ret && !posted)
			ret = ft_prepare_window(e, size);
		if (!ret)
			ret = ft_rma_post(e, size, posted, i < ft_params.warmup);
		if (!ret && ++posted == ft_params.window) {
			ret = ft_rma_ack(e, size, posted);
			posted = 0;
		}
		cond_resched();
	}
	if (!ret)
		ret = ft_rma_ack(e, size, posted);
	if (!ret)
		ft_results_add(e, size, 1, ft_stop_clock(e));
	return ret;
}
