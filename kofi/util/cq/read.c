// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading a completion queue: struct fi_ops_cq for all providers.
 *
 * A reader takes completions out of the list under the queue's lock, KOFI_CQ_BATCH at
 * a time, then copies them into the client's entries and gives them back to the
 * provider, without the lock.  From taking to giving back it is under rcu_read_lock(),
 * for which kofi_cq_purge() waits (cq.c).
 *
 * If the list of a direct queue is empty, its reader polls the device itself, and copies the batch
 * without the list (run.c).
 *
 * An unread error stops a reader in front of it (-FI_EAVAIL); only fi_cq_readerr()
 * takes it.
 *
 * A queue with FI_WAIT_DONE has nothing to read.  With FI_COMP_DIRECT its client
 * makes the callbacks run by fi_cq_read() (run.c).
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include "../../kofi.h"
#include "cq.h"

static struct kofi_cq *to_cq(struct fid_cq *cq)
{
	return container_of(cq, struct kofi_cq, cq);
}

/* Takes marks at the head out of a reader's way */
static void kofi_cq_pop_marks(struct kofi_cq *cq)
{
	struct kofi_comp *comp;

	lockdep_assert_held(&cq->lock);
	while ((comp = cq->head) && kofi_comp_is_mark(comp)) {
		kofi_cq_cut(cq, &comp->next, 0);
		to_kofi_cq_mark(comp)->popped = true;
	}
}

/*
 * From before a reader takes completions until it has given them back.  The lock under which it
 * takes them shows the count to kofi_cq_purge_unread(), which waits for a reader.
 */
static void kofi_cq_read_begin(struct kofi_cq *cq) __acquires(RCU)
{
	rcu_read_lock();
	atomic_inc(&cq->readers);
}

static void kofi_cq_read_end(struct kofi_cq *cq) __releases(RCU)
{
	atomic_dec_return_release(&cq->readers);
	rcu_read_unlock();
}

/* Cuts @chain off the list; returns its length, or why there is nothing */
static ssize_t kofi_cq_take(struct kofi_cq *cq, size_t count,
			    struct kofi_comp **chain)
{
	struct kofi_comp **end = &cq->head;
	ssize_t taken = 0;

	lockdep_assert_held(&cq->lock);
	if (unlikely(*end && kofi_comp_is_mark(*end)))
		kofi_cq_pop_marks(cq);
	while (taken < count && *end && !(*end)->err) {
		end = &(*end)->next;
		taken++;
	}
	if (taken) {
		*chain = cq->head;
		kofi_cq_cut(cq, end, taken);
		return taken;
	}
	if (cq->head)
		return count ? -FI_EAVAIL : -EAGAIN;
	if (cq->ended)
		return cq->ended;
	cq->armed = cq->wait_obj == FI_WAIT_CALLBACK;
	return -EAGAIN;
}

static const struct fi_done_msg kofi_no_msg = { .src_addr = FI_ADDR_NOTAVAIL };

static const struct fi_done_msg *kofi_comp_msg(const struct kofi_comp *comp)
{
	if (!(comp->flags & KOFI_COMP_MSG))
		return &kofi_no_msg;
	return &container_of(comp, const struct kofi_msg_comp, comp)->msg;
}

static void *kofi_cq_put_msg(struct fi_cq_msg_entry *entry,
			     const struct kofi_comp *comp)
{
	entry->op_context = comp->op_context;
	entry->flags = comp->flags & ~KOFI_COMP_MSG;
	entry->len = comp->len;
	return entry + 1;
}

static void *kofi_cq_put_data(struct fi_cq_data_entry *entry,
			      const struct kofi_comp *comp)
{
	kofi_cq_put_msg((struct fi_cq_msg_entry *)entry, comp);
	entry->buf = comp->buf;
	entry->data = comp->data;
	return entry + 1;
}

/* Copies a completion into an entry of the client's; returns the next entry */
static void *kofi_cq_put(enum fi_cq_format format, void *buf,
			 const struct kofi_comp *comp)
{
	struct fi_cq_tagged_entry *tagged = buf;
	struct fi_cq_entry *entry = buf;

	switch (format) {
	case FI_CQ_FORMAT_MSG:
		return kofi_cq_put_msg(buf, comp);
	case FI_CQ_FORMAT_DATA:
		return kofi_cq_put_data(buf, comp);
	case FI_CQ_FORMAT_TAGGED:
		kofi_cq_put_data(buf, comp);
		tagged->tag = kofi_comp_msg(comp)->tag;
		return tagged + 1;
	default:
		entry->op_context = comp->op_context;
		return entry + 1;
	}
}

/* Copies a chain, and gives it back; advances *@buf and, unless it is NULL, *@src_addr */
static void kofi_cq_put_chain(struct kofi_cq *cq, struct kofi_comp *chain,
			      void **buf, fi_addr_t **src_addr)
{
	struct kofi_comp *comp;

	for (comp = chain; comp; comp = comp->next) {
		*buf = kofi_cq_put(cq->format, *buf, comp);
		if (*src_addr)
			*(*src_addr)++ = kofi_comp_msg(comp)->src_addr;
	}
	cq->ops->release(chain);
}

/* Reads one batch */
static ssize_t kofi_cq_read_batch(struct kofi_cq *cq, void **buf, size_t count,
				  fi_addr_t **src_addr)
{
	struct kofi_comp *chain = NULL;
	unsigned long flags;
	ssize_t ret;

	kofi_cq_read_begin(cq);
	spin_lock_irqsave(&cq->lock, flags);
	ret = kofi_cq_take(cq, count, &chain);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (chain)
		kofi_cq_put_chain(cq, chain, buf, src_addr);
	kofi_cq_read_end(cq);
	return ret;
}

/* Reads what the device has; 0: the list may have something */
static size_t kofi_cq_read_device(struct kofi_cq *cq, void *buf, size_t count,
				  fi_addr_t *src_addr)
{
	struct kofi_comp *chain;
	size_t n = 0;

	kofi_cq_read_begin(cq);
	chain = kofi_cq_poll_reader(cq, min_t(size_t, count, KOFI_CQ_BATCH), &n);
	if (chain)
		kofi_cq_put_chain(cq, chain, &buf, &src_addr);
	kofi_cq_read_end(cq);
	return chain ? n : 0;
}

static ssize_t kofi_cq_take_all(struct kofi_cq *cq, void *buf, size_t count,
				fi_addr_t *src_addr)
{
	size_t done = 0, batch;
	ssize_t ret;

	do {
		batch = min_t(size_t, count - done, KOFI_CQ_BATCH);
		ret = kofi_cq_read_batch(cq, &buf, batch, &src_addr);
		if (ret > 0)
			done += ret;
	} while (ret == KOFI_CQ_BATCH && done < count);
	return done ? : ret;
}

static ssize_t kofi_cq_readfrom(struct fid_cq *fid_cq, void *buf, size_t count,
				fi_addr_t *src_addr)
{
	struct kofi_cq *cq = to_cq(fid_cq);
	size_t n;

	if (cq->comp_ctx == FI_COMP_DIRECT) {
		if (unlikely(READ_ONCE(cq->pending)))
			kofi_cq_run(cq);
		n = kofi_cq_read_device(cq, buf, count, src_addr);
		if (likely(n))
			return n;
	}
	return kofi_cq_take_all(cq, buf, count, src_addr);
}

static ssize_t kofi_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return kofi_cq_readfrom(cq, buf, count, NULL);
}

/* The error data go into the client's buffer as far as they fit */
static void kofi_cq_put_error(struct fi_cq_err_entry *buf,
			      const struct kofi_comp *comp)
{
	const struct fi_done_msg *msg = kofi_comp_msg(comp);
	size_t size = buf->err_data ? min(buf->err_data_size,
					  msg->err_data_size) : 0;

	*buf = (struct fi_cq_err_entry) {
		.op_context	= comp->op_context,
		.flags		= comp->flags & ~KOFI_COMP_MSG,
		.len		= comp->len,
		.buf		= comp->buf,
		.data		= comp->data,
		.tag		= msg->tag,
		.olen		= msg->olen,
		.err		= comp->err,
		.prov_errno	= comp->prov_errno,
		.err_data	= buf->err_data,
		.err_data_size	= size,
		.src_addr	= msg->src_addr,
	};
	if (size)
		memcpy(buf->err_data, msg->err_data, size);
}

static ssize_t kofi_cq_readerr(struct fid_cq *fid_cq,
			       struct fi_cq_err_entry *buf, u64 flags)
{
	struct kofi_cq *cq = to_cq(fid_cq);
	struct kofi_comp *comp;
	ssize_t ret = -EAGAIN;
	unsigned long irq;

	if (!buf)
		return -EINVAL;
	if (flags)
		return -FI_EBADFLAGS;

	kofi_cq_read_begin(cq);
	spin_lock_irqsave(&cq->lock, irq);
	kofi_cq_pop_marks(cq);
	comp = cq->head;
	if (comp && comp->err) {
		kofi_cq_cut(cq, &comp->next, 1);
		cq->errors--;
		ret = 1;
	} else if (!comp && cq->ended) {
		ret = cq->ended;
	}
	spin_unlock_irqrestore(&cq->lock, irq);
	if (ret == 1) {
		kofi_cq_put_error(buf, comp);
		cq->ops->release(comp);
	}
	kofi_cq_read_end(cq);
	return ret;
}

static bool kofi_cq_ready(struct kofi_cq *cq, size_t threshold)
{
	unsigned long flags;
	bool ready;

	spin_lock_irqsave(&cq->lock, flags);
	ready = cq->signalled || cq->errors || cq->ended ||
		cq->count >= threshold;
	spin_unlock_irqrestore(&cq->lock, flags);
	return ready;
}

/* Did fi_cq_signal() alone end the wait?  The signal is used up in any case */
static bool kofi_cq_take_signal(struct kofi_cq *cq)
{
	unsigned long flags;
	bool alone;

	spin_lock_irqsave(&cq->lock, flags);
	alone = cq->signalled && !cq->head && !cq->ended;
	cq->signalled = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	return alone;
}

/* 0: read now, also if the time is over; -EAGAIN: signalled, nothing to read; -EINTR */
static int kofi_cq_wait(struct kofi_cq *cq, size_t threshold,
			const struct kofi_deadline *deadline)
{
	long left;

	do {
		left = kofi_deadline_left(deadline);
		left = wait_event_interruptible_timeout(cq->wait,
							kofi_cq_ready(cq,
								      threshold),
							left);
	} while (!left && kofi_deadline_left(deadline));
	if (left < 0)
		return -EINTR;
	return kofi_cq_take_signal(cq) ? -EAGAIN : 0;
}

/* One completion wakes all sleepers; those that come too late sleep again */
static ssize_t kofi_cq_sreadfrom(struct fid_cq *fid_cq, void *buf, size_t count,
				 fi_addr_t *src_addr, const void *cond,
				 int timeout)
{
	struct kofi_cq *cq = to_cq(fid_cq);
	struct kofi_deadline deadline = kofi_deadline_in(timeout);
	size_t threshold = 1;
	ssize_t ret;

	if (cq->wait_obj != FI_WAIT_UNSPEC)
		return -EINVAL;
	if (cq->wait_cond == FI_CQ_COND_THRESHOLD && cond)
		threshold = max_t(size_t, *(const size_t *)cond, 1);
	do {
		ret = kofi_cq_wait(cq, threshold, &deadline);
		if (ret)
			return ret;
		ret = kofi_cq_take_all(cq, buf, count, src_addr);
		/* A reader with @count 0 would wait for ever */
	} while (ret == -EAGAIN && count && kofi_deadline_left(&deadline));
	return ret;
}

static ssize_t kofi_cq_sread(struct fid_cq *cq, void *buf, size_t count,
			     const void *cond, int timeout)
{
	return kofi_cq_sreadfrom(cq, buf, count, NULL, cond, timeout);
}

static int kofi_cq_signal(struct fid_cq *fid_cq)
{
	struct kofi_cq *cq = to_cq(fid_cq);
	unsigned long flags;

	if (cq->wait_obj != FI_WAIT_UNSPEC)
		return -EINVAL;

	spin_lock_irqsave(&cq->lock, flags);
	cq->signalled = true;
	wake_up_all(&cq->wait);
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

static const char *kofi_cq_strerror(struct fid_cq *fid_cq, int prov_errno,
				    const void *err_data, char *buf, size_t len)
{
	struct kofi_cq *cq = to_cq(fid_cq);
	const char *text;

	text = cq->ops->strerror ? cq->ops->strerror(prov_errno) :
				   fi_strerror(prov_errno);
	if (buf && len)
		strscpy(buf, text, len);
	return text;
}

const struct fi_ops_cq kofi_cq_ops = {
	.size		= sizeof(struct fi_ops_cq),
	.read		= kofi_cq_read,
	.readfrom	= kofi_cq_readfrom,
	.readerr	= kofi_cq_readerr,
	.sread		= kofi_cq_sread,
	.sreadfrom	= kofi_cq_sreadfrom,
	.signal		= kofi_cq_signal,
	.strerror	= kofi_cq_strerror,
};

/* FI_WAIT_DONE: the reader polls for callbacks */
static ssize_t kofi_cq_done_read(struct fid_cq *fid_cq, void *buf, size_t count)
{
	struct kofi_cq *cq = to_cq(fid_cq);
	ssize_t ret;

	if (cq->comp_ctx != FI_COMP_DIRECT)
		return -EINVAL;
	ret = kofi_cq_run_reader(cq, count);
	return ret ? : READ_ONCE(cq->ended) ? : -EAGAIN;
}

static ssize_t kofi_cq_done_readfrom(struct fid_cq *cq, void *buf, size_t count,
				     fi_addr_t *src_addr)
{
	return kofi_cq_done_read(cq, buf, count);
}

static ssize_t kofi_cq_done_readerr(struct fid_cq *cq,
				    struct fi_cq_err_entry *buf, u64 flags)
{
	/* Errors are for the callbacks, too */
	return -EAGAIN;
}

const struct fi_ops_cq kofi_cq_done_ops = {
	.size		= sizeof(struct fi_ops_cq),
	.read		= kofi_cq_done_read,
	.readfrom	= kofi_cq_done_readfrom,
	.readerr	= kofi_cq_done_readerr,
	.sread		= kofi_cq_sread,
	.sreadfrom	= kofi_cq_sreadfrom,
	.signal		= kofi_cq_signal,
	.strerror	= kofi_cq_strerror,
};
