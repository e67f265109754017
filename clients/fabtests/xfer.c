// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages.
 *
 * Each direction counts its messages from 0; with tagged messages the number is the tag.  One
 * receive is posted ahead of what a test waits for, so that the first message of the next step
 * always finds room.  Message n uses buffer n modulo e->depth of its direction.  The depth
 * exceeds the number of messages in flight, so no buffer is in use twice.
 *
 * With verify=1 the contents are the 62 digits and letters in turn, from the first byte on.
 * Messages of bandwidth tests always have these contents.  Acknowledgments and messages of
 * ping-pong have them only from the end of the warm-up to the end of the measurement (e->active).
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fabtests.h"

/* Levels of completion that a provider may not have */
#define FT_LEVELS	(FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

#define FT_FINAL_BYTES	4

static const char ft_letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

#define FT_LETTERS	(sizeof(ft_letters) - 1)

static const char ft_same_todo[] =
	"do both ends run the same test and counts, and is script= the peer's version?";

/* @nr buffers of @size bytes */
static void **ft_alloc_ring(unsigned int nr, size_t size)
{
	void **ring = kcalloc(nr + 1, sizeof(*ring), GFP_KERNEL);
	unsigned int i;

	for (i = 0; ring && i < nr; i++) {
		ring[i] = kzalloc(size, GFP_KERNEL | __GFP_NOWARN);
		if (ring[i])
			continue;
		while (i)
			kfree(ring[--i]);
		kfree(ring);
		return NULL;
	}
	return ring;
}

static void ft_free_ring(void ***ring)
{
	void **buf;

	for (buf = *ring; buf && *buf; buf++)
		kfree(*buf);
	kfree(*ring);
	*ring = NULL;
}

int ft_alloc_buffers(struct ft_end *e)
{
	const struct ft_test *test = ft_params.test;

	/* What a window has in flight, its acknowledgment, and the receive posted ahead */
	e->depth = 3;
	if (test->windowed)
		e->depth += ft_params.window;
	else if (test->run == ft_unexpected)
		e->depth += ft_params.messages;
	e->room = max_t(size_t, ft_params.size_max, FT_CTRL_BYTES);
	e->tx = ft_alloc_ring(e->depth, e->room);
	e->rx = ft_alloc_ring(e->depth, e->room);
	if (!e->tx || !e->rx)
		return ft_fail(e, -ENOMEM, "use smaller sizes= or window=",
			       "get buffers for %u messages of %zu bytes", 2 * e->depth, e->room);
	return 0;
}

void ft_free_buffers(struct ft_end *e)
{
	ft_free_ring(&e->tx);
	ft_free_ring(&e->rx);
	kvfree(e->region);
	e->region = NULL;
}

void ft_fill(void *buf, size_t len)
{
	size_t done, n;

	for (done = 0; done < len; done += n) {
		n = min(len - done, FT_LETTERS);
		memcpy(buf + done, ft_letters, n);
	}
}

int ft_check(struct ft_end *e, const void *buf, size_t len, const char *what)
{
	size_t done, n;

	for (done = 0; done < len; done += n) {
		n = min(len - done, FT_LETTERS);
		if (!memcmp(buf + done, ft_letters, n))
			continue;
		for (n = 0; ((const char *)buf)[done + n] == ft_letters[n]; n++)
			;
		return ft_fail(e, -EBADMSG, "does the peer have -v, or verify=1?",
			       "%s of %zu bytes: byte %zu is wrong", what, len, done + n);
	}
	WRITE_ONCE(e->checked, e->checked + 1);
	return 0;
}

/* Start the measurement after the warm-up */
void ft_begin(struct ft_end *e)
{
	e->active = true;
	e->start = ktime_get_ns();
}

u64 ft_stop_clock(struct ft_end *e)
{
	e->active = false;
	return ktime_get_ns() - e->start;
}

static int ft_cq_error(struct ft_end *e, struct fid_cq *cq, const char *what)
{
	struct fi_cq_err_entry entry = { };
	ssize_t ret = fi_cq_readerr(cq, &entry, 0);

	if (ret < 0)
		return ft_fail(e, ret, NULL, "%s: read the error", what);
	return ft_fail(e, -entry.err, ft_same_todo, "%s (%s)", what,
		       fi_cq_strerror(cq, entry.prov_errno, entry.err_data, NULL, 0));
}

static int ft_wait(struct ft_end *e, struct fid_cq *cq, struct fi_cq_data_entry *entry,
		   int timeout, const char *what)
{
	ssize_t ret = fi_cq_sread(cq, entry, 1, NULL, timeout);

	if (ret == 1)
		return 0;
	if (ret == -FI_EAVAIL)
		return ft_cq_error(e, cq, what);
	return ft_fail(e, ret == -EAGAIN ? -ETIMEDOUT : ret, ft_same_todo, "%s", what);
}

/* The buffer of the next message to send */
void *ft_tx_buf(struct ft_end *e)
{
	return e->tx[e->tx_seq % e->depth];
}

/*
 * Handle a post that has returned the error @ret.  Returns 0 if the caller may try again, until
 * @end (jiffies).  Reading the completion queues lets the provider make progress.
 */
int ft_again(struct ft_end *e, ssize_t ret, unsigned long end, const char *what)
{
	struct fi_cq_data_entry entry;

	if (ret != -EAGAIN)
		return ft_fail(e, ret, ft_same_todo, "%s", what);
	ret = fi_cq_read(e->txq, &entry, 1);
	if (ret == 1)
		e->tx_done++;
	else if (ret == -FI_EAVAIL)
		return ft_cq_error(e, e->txq, what);
	fi_cq_read(e->rxq, NULL, 0);
	if (signal_pending(current) || time_after(jiffies, end))
		return ft_fail(e, READ_ONCE(e->stop) ? -EINTR : -ETIMEDOUT, ft_same_todo,
			       "%s, into a full queue", what);
	cond_resched();
	return 0;
}

static ssize_t ft_send_once(struct ft_end *e, const void *buf, size_t len, u64 flags, u64 tag)
{
	u64 data = flags & FI_REMOTE_CQ_DATA ? ft_cq_data_value(e) : 0;
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct fi_msg msg = {
		.msg_iov = &vec,
		.iov_count = 1,
		.addr = e->peer,
		.context = (void *)buf,
		.data = data,
	};
	struct fi_msg_tagged tagged = {
		.msg_iov = &vec,
		.iov_count = 1,
		.addr = e->peer,
		.tag = tag,
		.context = (void *)buf,
		.data = data,
	};

	if (!flags && len <= e->info->tx_attr->inject_size)
		flags = FI_INJECT;
	if (ft_params.test->caps & FI_TAGGED)
		return fi_tsendmsg(e->ep, &tagged, flags);
	return fi_sendmsg(e->ep, &msg, flags);
}

/* Send @buf, without the completion levels of @flags that the provider does not have */
int ft_post_tag(struct ft_end *e, const void *buf, size_t len, u64 flags, u64 tag)
{
	unsigned long end = jiffies + msecs_to_jiffies(FT_TIMEOUT_MS);
	ssize_t ret;
	int err;

	while ((ret = ft_send_once(e, buf, len, flags, tag))) {
		if (ret == -FI_EBADFLAGS && flags & FT_LEVELS) {
			flags &= ~FT_LEVELS;
			continue;
		}
		err = ft_again(e, ret, end, "send a message");
		if (err)
			return err;
	}
	e->tx_seq++;
	return 0;
}

/* Send the contents of ft_tx_buf() */
int ft_post_tx(struct ft_end *e, size_t len, u64 flags)
{
	return ft_post_tag(e, ft_tx_buf(e), len, flags, e->tx_seq);
}

int ft_await_tx(struct ft_end *e)
{
	struct fi_cq_data_entry entry;
	int ret;

	while (e->tx_done < e->tx_seq) {
		ret = ft_wait(e, e->txq, &entry, FT_TIMEOUT_MS, "complete what was sent");
		if (ret)
			return ret;
		e->tx_done++;
	}
	return 0;
}

/* Send a message, filled if its contents are to be checked, and wait until all sends complete */
int ft_tx(struct ft_end *e, size_t len, u64 flags)
{
	int ret;

	if (ft_params.verify && e->active)
		ft_fill(ft_tx_buf(e), len);
	ret = ft_post_tx(e, len, flags);
	return ret ?: ft_await_tx(e);
}

int ft_post_rx_tag(struct ft_end *e, void *buf, size_t len, u64 tag)
{
	unsigned long end = jiffies + msecs_to_jiffies(FT_TIMEOUT_MS);
	bool tagged = ft_params.test->caps & FI_TAGGED;
	ssize_t ret;
	int err;

	for (;;) {
		if (tagged)
			ret = fi_trecv(e->ep, buf, len, NULL, e->peer, tag, 0, buf);
		else
			ret = fi_recv(e->ep, buf, len, NULL, e->peer, buf);
		if (!ret)
			break;
		err = ft_again(e, ret, end, "post a receive");
		if (err)
			return err;
	}
	e->rx_seq++;
	return 0;
}

int ft_post_rx(struct ft_end *e)
{
	return ft_post_rx_tag(e, e->rx[e->rx_seq % e->depth], e->room, e->rx_seq);
}

/* Wait for one message, or one of the peer's writes with data, without posting a new receive */
int ft_await_rx(struct ft_end *e, struct fi_cq_data_entry *entry, int timeout)
{
	int ret = ft_wait(e, e->rxq, entry, timeout, "receive a message");

	if (!ret)
		e->rx_done++;
	return ret;
}

/*
 * Wait for all messages for which receives are posted, each of @len bytes, and check the last
 * one's contents with @check; then post one receive.
 */
int ft_rx(struct ft_end *e, size_t len, bool check)
{
	struct fi_cq_data_entry entry = { };
	int ret = 0;

	while (e->rx_done < e->rx_seq) {
		ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
		if (ret)
			return ret;
		if (entry.flags & FI_REMOTE_WRITE || entry.len != len)
			return ft_fail(e, -EPROTO, ft_same_todo,
				       "receive a message of %zu bytes: got one of %zu", len,
				       entry.len);
	}
	if (check && ft_params.verify)
		ret = ft_check(e, entry.op_context, len, "message");
	return ret ?: ft_post_rx(e);
}

/* Both ends are at the same point of the script when this has returned. */
int ft_sync(struct ft_end *e)
{
	bool empty = ft_params.script >= FT_SCRIPT_EMPTY_SYNC;
	size_t len = empty ? 0 : 1;
	int ret = 0;

	if (ft_params.oob == FT_OOB_SYNC)
		return ft_oob_sync(e);
	if (e->client)
		ret = ft_tx(e, len, empty ? FI_DELIVERY_COMPLETE : 0);
	if (!ret)
		ret = ft_rx(e, len, false);
	if (!ret && !e->client)
		ret = ft_tx(e, len, empty ? FI_DELIVERY_COMPLETE : 0);
	return ret;
}

/*
 * Wait until the last message has left.  A failed send counts, too: a peer that has received all
 * its messages may close the connection before it acknowledges the last one.
 */
static int ft_await_last(struct ft_end *e)
{
	struct fi_cq_data_entry entry;
	ssize_t ret = fi_cq_sread(e->txq, &entry, 1, NULL, FT_TIMEOUT_MS);

	if (ret == 1 || ret == -FI_EAVAIL)
		return 0;
	return ft_fail(e, ret == -EAGAIN ? -ETIMEDOUT : ret, ft_same_todo, "send the last message");
}

/*
 * Exchange the last messages.  Since 2.4 the server answers the client's last message, so the
 * answer shows that the client's message has arrived.  Before 2.4 a server sends without waiting
 * for the client.  A client that closed when it had the server's message might drop its own
 * message, so the client waits for its own completion, too.
 */
int ft_finalize(struct ft_end *e)
{
	bool answered = ft_params.script >= FT_SCRIPT_DRAIN;
	struct fi_cq_data_entry entry;
	int ret = 0;

	if (ft_params.oob == FT_OOB_SYNC && answered)
		return ft_oob_status(e);
	if (e->client)
		ret = ft_post_tx(e, FT_FINAL_BYTES, FI_TRANSMIT_COMPLETE);
	if (!ret)
		ret = ft_await_rx(e, &entry, FT_TIMEOUT_MS);
	if (ret)
		return ret;
	if (entry.len != FT_FINAL_BYTES)
		return ft_fail(e, -EPROTO, ft_same_todo, "receive the last message: got %zu bytes",
			       entry.len);
	if (e->client)
		return answered ? 0 : ft_await_last(e);
	ret = ft_post_tx(e, FT_FINAL_BYTES, FI_TRANSMIT_COMPLETE);
	return ret ?: ft_await_last(e);
}
