// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The messages.  For each size the client sends a message and waits for the
 * server's answer of the same size, iters= times.  At the end each side sends
 * "fin\0" and waits until its own "fin" has reached the peer and the peer's
 * "fin" has arrived.
 *
 * Each side keeps one receive posted.  It posts the next receive before it
 * answers a message, so the peer's next message always finds a receive.  The
 * receive has room for the longest message that may come next: one of this
 * size, the first of the next size, or "fin".
 *
 * As in fi_pingpong, messages shorter than inject_size are injected.  An inject
 * has no completion, so nothing reports when a full queue has room again.
 * pp_await_room() therefore reads the queue, which lets the provider make
 * progress, and the caller tries the send again.
 *
 * Locking: none; see pingpong.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "pingpong.h"

static const u32 pp_default_sizes[] = { 64, 256, 1024, 4096, 65536, 1048576 };
static const char pp_fin[] = "fin";

static const char pp_same_sizes[] = "do both sides run the same sizes?";
static const char pp_peer_error[] =
	"look for an error at the peer, and do both sides run the same sizes?";

/* The longest message that endpoint and buffers allow. */
static size_t pp_limit(struct pp_role *r)
{
	const struct fi_info *info = r->info;
	size_t pages = min(info->tx_attr->iov_limit, info->rx_attr->iov_limit);
	size_t limit = min_t(size_t, info->ep_attr->max_msg_size, PP_SIZE_MAX);

	/* A vmalloc area begins at a page boundary and takes one list element for each page */
	if (pp_params.vmalloc && pages < limit / PAGE_SIZE)
		limit = pages * PAGE_SIZE;
	return limit;
}

static int pp_plan_list(struct pp_role *r, size_t limit)
{
	unsigned int i;

	for (i = 0; i < pp_params.nr_sizes; i++) {
		if (pp_params.sizes[i] > limit)
			return pp_fail(r, -EMSGSIZE,
				       pp_params.vmalloc ?
				       "use sizes= of fewer pages or vmalloc=0" :
				       "use smaller sizes=",
				       "send %u bytes, the limit is %zu",
				       pp_params.sizes[i], limit);
		r->sizes[r->nr_sizes++] = pp_params.sizes[i];
	}
	return 0;
}

static void pp_plan_default(struct pp_role *r, size_t limit)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pp_default_sizes); i++)
		if (pp_default_sizes[i] <= limit)
			r->sizes[r->nr_sizes++] = pp_default_sizes[i];
}

/* 0, 1, then each power of two and the size halfway to the next one */
static void pp_plan_all(struct pp_role *r, size_t limit)
{
	u32 power;

	r->sizes[r->nr_sizes++] = 0;
	r->sizes[r->nr_sizes++] = 1;
	for (power = 2; power <= limit; power *= 2) {
		r->sizes[r->nr_sizes++] = power;
		if (power + power / 2 <= limit)
			r->sizes[r->nr_sizes++] = power + power / 2;
	}
}

/* Room for the longest message that may arrive during run @run. */
static u32 pp_room(struct pp_role *r, unsigned int run)
{
	u32 room = max_t(u32, r->sizes[run], PP_RECV_MIN);

	if (run + 1 < r->nr_sizes)
		room = max(room, r->sizes[run + 1]);
	return room;
}

/* Plan the sizes within the limits of r->info and allocate the buffers. */
int pp_plan(struct pp_role *r)
{
	size_t limit = pp_limit(r), longest = PP_RECV_MIN;
	unsigned int i;
	int ret = 0;

	if (pp_params.size_set == PP_SIZES_LIST)
		ret = pp_plan_list(r, limit);
	else if (pp_params.size_set == PP_SIZES_ALL)
		pp_plan_all(r, limit);
	else
		pp_plan_default(r, limit);
	if (ret)
		return ret;
	for (i = 0; i < r->nr_sizes; i++)
		longest = max_t(size_t, longest, r->sizes[i]);
	ret = pp_buf_alloc(&r->tx_buf, longest, r->info->tx_attr->iov_limit,
			   pp_params.vmalloc);
	if (!ret)
		ret = pp_buf_alloc(&r->rx_buf, longest,
				   r->info->rx_attr->iov_limit,
				   pp_params.vmalloc);
	if (ret)
		return pp_fail(r, ret, "use smaller sizes=",
			       "get two buffers of %zu bytes", longest);
	r->rx_len = pp_room(r, 0);
	return 0;
}

static int pp_cq_error(struct pp_role *r, struct pp_queue *q)
{
	struct fi_cq_err_entry entry = { };
	ssize_t ret = fi_cq_readerr(q->cq, &entry, 0);

	if (ret < 0)
		return pp_fail(r, ret, NULL, "%s: read the error", q->what);
	/* A peer that has sent "fin" may close the connection before our "fin" is acknowledged */
	if (r->finished && entry.err == FI_ECANCELED)
		return 0;
	return pp_fail(r, -entry.err, pp_peer_error, "%s a message (%s)", q->what,
		       fi_cq_strerror(q->cq, entry.prov_errno, entry.err_data,
				      NULL, 0));
}

static ssize_t pp_poll(struct pp_queue *q, struct fi_cq_msg_entry *entry)
{
	unsigned long end = jiffies + msecs_to_jiffies(PP_TIMEOUT_MS);
	ssize_t ret;

	while ((ret = fi_cq_read(q->cq, entry, 1)) == -EAGAIN) {
		if (signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -EAGAIN;
		cond_resched();
		cpu_relax();
	}
	return ret;
}

/*
 * A read that finds the queue empty arms the handler for the next completion, so no completion
 * is missed.
 */
static ssize_t pp_await_callback(struct pp_queue *q,
				 struct fi_cq_msg_entry *entry)
{
	unsigned long timeout = msecs_to_jiffies(PP_TIMEOUT_MS);
	ssize_t ret;

	while ((ret = fi_cq_read(q->cq, entry, 1)) == -EAGAIN) {
		long left = wait_for_completion_interruptible_timeout(&q->event,
								      timeout);

		if (left <= 0)
			return left ? -EINTR : -EAGAIN;
		timeout = left;
	}
	return ret;
}

/* Wait for one completion, in the way that cq= asks for. */
static int pp_wait(struct pp_role *r, struct pp_queue *q,
		   struct fi_cq_msg_entry *entry)
{
	ssize_t ret;

	switch (pp_params.cq) {
	case PP_CQ_POLL:
		ret = pp_poll(q, entry);
		break;
	case PP_CQ_CALLBACK:
		ret = pp_await_callback(q, entry);
		break;
	default:
		ret = fi_cq_sread(q->cq, entry, 1, NULL, PP_TIMEOUT_MS);
		break;
	}
	if (ret == 1)
		return 0;
	if (ret == -FI_EAVAIL)
		return pp_cq_error(r, q);
	return pp_fail(r, ret == -EAGAIN ? -ETIMEDOUT : ret, pp_peer_error,
		       "%s a message", q->what);
}

int pp_post_recv(struct pp_role *r)
{
	unsigned long end = jiffies + msecs_to_jiffies(PP_TIMEOUT_MS);
	struct kvec vec[PP_CHUNKS_MAX];
	unsigned int nr = pp_buf_slice(&r->rx_buf, r->rx_len, vec);
	ssize_t ret;

	for (;;) {
		if (nr == 1)
			ret = fi_recv(r->ep, vec->iov_base, vec->iov_len, NULL,
				      0, r);
		else
			ret = fi_recvv(r->ep, vec, NULL, nr, 0, r);
		if (ret != -EAGAIN || signal_pending(current) ||
		    time_after(jiffies, end))
			break;
		/* Let the provider make progress; with count 0 its completions stay in the queue */
		fi_cq_read(r->rx.cq, NULL, 0);
		cond_resched();
	}
	if (ret)
		return pp_fail(r, ret, NULL, "post a receive of %u bytes",
			       r->rx_len);
	return 0;
}

static ssize_t pp_post_send(struct pp_role *r, size_t size)
{
	struct kvec vec[PP_CHUNKS_MAX];
	unsigned int nr = pp_buf_slice(&r->tx_buf, size, vec);

	if (size < r->info->tx_attr->inject_size)
		return fi_inject(r->ep, vec->iov_base, size, 0);
	if (nr == 1)
		return fi_send(r->ep, vec->iov_base, size, NULL, 0, r);
	return fi_sendv(r->ep, vec, NULL, nr, 0, r);
}

/* A send answered -EAGAIN.  Returns 0 if the caller may try again, until @end (jiffies) */
static int pp_await_room(struct pp_role *r, unsigned long end)
{
	struct fi_cq_msg_entry entry;

	/* pp_send() reads the completion of each send, so only an error can be here */
	if (fi_cq_read(r->tx.cq, &entry, 1) == -FI_EAVAIL)
		return pp_cq_error(r, &r->tx);
	if (signal_pending(current) || time_after(jiffies, end))
		return pp_fail(r, READ_ONCE(r->stop) ? -EINTR : -ETIMEDOUT, pp_peer_error,
			       "send into a full queue");
	cond_resched();
	return 0;
}

static int pp_post_until_room(struct pp_role *r, size_t size)
{
	unsigned long end = jiffies + msecs_to_jiffies(PP_TIMEOUT_MS);
	ssize_t ret;
	int err;

	while ((ret = pp_post_send(r, size)) == -EAGAIN) {
		err = pp_await_room(r, end);
		if (err)
			return err;
	}
	if (ret)
		return pp_fail(r, ret, pp_peer_error, "send %zu bytes", size);
	return 0;
}

static int pp_send(struct pp_role *r, u32 size)
{
	struct fi_cq_msg_entry entry;
	int ret;

	if (pp_params.check)
		pp_buf_fill(&r->tx_buf, size, r->filled++);
	ret = pp_post_until_room(r, size);
	if (ret || size < r->info->tx_attr->inject_size)
		return ret;
	return pp_wait(r, &r->tx, &entry);
}

static int pp_check(struct pp_role *r, u32 size, size_t len)
{
	size_t good;

	WRITE_ONCE(r->received, r->received + 1);
	if (len != size)
		return pp_fail(r, -EPROTO, pp_same_sizes,
			       "message %u of size %u: got %zu bytes",
			       r->acked + 1, size, len);
	if (pp_params.check) {
		good = pp_buf_check(&r->rx_buf, size, r->checked++);
		if (good != size)
			return pp_fail(r, -EPROTO,
				       "does the peer fill messages (fi_pingpong -c, check=1)?",
				       "message %u of size %u: byte %zu is wrong",
				       r->acked + 1, size, good);
	}
	WRITE_ONCE(r->intact, r->intact + 1);
	return 0;
}

static int pp_recv(struct pp_role *r, u32 size)
{
	struct fi_cq_msg_entry entry;
	int ret;

	ret = pp_wait(r, &r->rx, &entry);
	if (!ret)
		ret = pp_check(r, size, entry.len);
	if (!ret)
		ret = pp_post_recv(r);
	if (!ret)
		r->acked++;
	return ret;
}

static int pp_exchange(struct pp_role *r, u32 size)
{
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < pp_params.iters; i++) {
		WRITE_ONCE(r->iter, i);
		if (!r->server)
			ret = pp_send(r, size);
		if (!ret)
			ret = pp_recv(r, size);
		if (!ret && r->server)
			ret = pp_send(r, size);
		cond_resched();
	}
	return ret;
}

static int pp_run_size(struct pp_role *r, unsigned int run)
{
	struct pp_row row = { .size = r->sizes[run], .sent = pp_params.iters };
	u64 start;
	int ret;

	WRITE_ONCE(r->run, run);
	r->acked = 0;
	r->rx_len = pp_room(r, run);
	ret = pp_ctrl_sync(r);
	if (ret)
		return ret;
	start = ktime_get_ns();
	ret = pp_exchange(r, row.size);
	if (ret)
		return ret;
	row.ns = ktime_get_ns() - start;
	ret = pp_ctrl_count(r);
	if (ret)
		return ret;
	row.acked = r->acked;
	pp_results_add(r, &row);
	return 0;
}

static int pp_send_fin(struct pp_role *r)
{
	struct kvec vec = {
		.iov_base = r->tx_buf.vec[0].iov_base,
		.iov_len = sizeof(pp_fin),
	};
	struct fi_msg msg = { .msg_iov = &vec, .iov_count = 1, .context = r };
	unsigned long end = jiffies + msecs_to_jiffies(PP_TIMEOUT_MS);
	u64 flags = FI_COMPLETION | FI_TRANSMIT_COMPLETE;
	ssize_t ret;
	int err;

	memcpy(vec.iov_base, pp_fin, sizeof(pp_fin));
	for (;;) {
		ret = fi_sendmsg(r->ep, &msg, flags);
		if (ret == -FI_EBADFLAGS && flags & FI_TRANSMIT_COMPLETE) {
			/* iWARP cannot report the arrival; pp_ctrl_finish() waits for the peer */
			flags = FI_COMPLETION;
			continue;
		}
		if (ret != -EAGAIN)
			break;
		err = pp_await_room(r, end);
		if (err)
			return err;
	}
	if (ret)
		return pp_fail(r, ret, pp_peer_error, "send \"fin\"");
	return 0;
}

static int pp_finish(struct pp_role *r)
{
	struct fi_cq_msg_entry entry;
	int ret;

	ret = pp_send_fin(r);
	if (!ret)
		ret = pp_wait(r, &r->rx, &entry);
	if (ret)
		return ret;
	if (entry.len != sizeof(pp_fin) ||
	    memcmp(r->rx_buf.vec[0].iov_base, pp_fin, sizeof(pp_fin)))
		return pp_fail(r, -EPROTO, pp_same_sizes,
			       "receive \"fin\": got %zu bytes of something else",
			       entry.len);
	r->finished = true;
	ret = pp_wait(r, &r->tx, &entry);
	if (ret)
		return ret;
	return pp_ctrl_finish(r);
}

/* Run all sizes over an established connection. */
int pp_run(struct pp_role *r)
{
	unsigned int i;
	int ret = 0;

	/* Publishes the planned sizes; pairs with progress_role() */
	smp_store_release(&r->running, true);
	for (i = 0; !ret && i < r->nr_sizes; i++)
		ret = pp_run_size(r, i);
	if (!ret)
		ret = pp_finish(r);
	pp_results_log_intact(r);
	return ret;
}
