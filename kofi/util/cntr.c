// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The counter of include/kofi/cntr.h.
 *
 * The numbers are atomic and no lock guards them.  A thread that changes one looks
 * for sleepers afterwards; a sleeper enters the wait queue before it looks at the
 * numbers.  With a full barrier on each side one of the two sees the other, so no
 * wake-up is lost.  A sleeper's entry in the wait queue has its threshold, so the
 * sleeper is woken when its threshold is reached, not for each operation that
 * counts.  Time is measured by the clock and not in jiffies, which may lag behind
 * and then catch up: a wait is never shorter than the client asked for.
 *
 * An error ends two kinds of waits with -FI_EAVAIL: those that sleep when it is counted,
 * and each wait that begins before the client has looked at the number of errors.  So an
 * operation that fails between its post and fi_cntr_wait() does not leave its client
 * asleep.  @changes and @seen record this.  A comparison of error counts would miss a
 * count that is set back while a sleeper wakes up.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/cntr.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>

/* Nanoseconds that a wait may end late, so that the kernel can coalesce timers */
#define KOFI_CNTR_SLACK		(NSEC_PER_MSEC / 2)

/**
 * struct kofi_cntr_waiter - A sleeper
 * @entry: in the wait queue
 * @cntr: the counter
 * @threshold: value that it waits for
 * @changes: kofi_cntr.changes when the wait began
 */
struct kofi_cntr_waiter {
	struct wait_queue_entry	entry;
	struct kofi_cntr	*cntr;
	u64			threshold;
	int			changes;
};

static struct kofi_cntr *to_cntr(struct fid_cntr *cntr)
{
	return container_of(cntr, struct kofi_cntr, cntr);
}

/* The result of a wait; -EAGAIN: the wait goes on */
static int kofi_cntr_look(const struct kofi_cntr_waiter *waiter)
{
	struct kofi_cntr *cntr = waiter->cntr;
	int changes;

	if ((u64)atomic64_read(&cntr->value) >= waiter->threshold)
		return 0;
	changes = atomic_read(&cntr->changes);
	if (changes != waiter->changes || changes != atomic_read(&cntr->seen))
		return -FI_EAVAIL;
	return -EAGAIN;
}

static int kofi_cntr_wake(struct wait_queue_entry *entry, unsigned int mode,
			  int sync, void *key)
{
	if (kofi_cntr_look(container_of(entry, struct kofi_cntr_waiter,
					entry)) == -EAGAIN)
		return 0;
	return autoremove_wake_function(entry, mode, sync, key);
}

/* Wakes sleepers, after an atomic operation on a field that kofi_cntr_look() reads */
static void kofi_cntr_changed(struct kofi_cntr *cntr)
{
	/* Pairs with the barrier of prepare_to_wait_event() */
	smp_mb__after_atomic();
	/* A sleeper that enters the queue after this look sees the new numbers */
	if (waitqueue_active(&cntr->wait))
		wake_up(&cntr->wait);
}

void kofi_cntr_add(struct kofi_cntr *cntr, u64 value)
{
	atomic64_add(value, &cntr->value);
	kofi_cntr_changed(cntr);
}
EXPORT_SYMBOL_GPL(kofi_cntr_add);

void kofi_cntr_adderr(struct kofi_cntr *cntr, u64 value)
{
	if (!value)
		return;
	atomic64_add(value, &cntr->errors);
	/* A reader of the new @changes reads the new @errors; pairs with kofi_cntr_readerr() */
	smp_mb__before_atomic();
	atomic_inc(&cntr->changes);
	kofi_cntr_changed(cntr);
}
EXPORT_SYMBOL_GPL(kofi_cntr_adderr);

static u64 kofi_cntr_read(struct fid_cntr *cntr)
{
	return atomic64_read(&to_cntr(cntr)->value);
}

/* At worst an error counted meanwhile is in the number, and ends a wait once more */
static u64 kofi_cntr_readerr(struct fid_cntr *fid_cntr)
{
	struct kofi_cntr *cntr = to_cntr(fid_cntr);
	/* Pairs with kofi_cntr_adderr() */
	int changes = atomic_read_acquire(&cntr->changes);
	u64 errors = atomic64_read(&cntr->errors);

	atomic_set(&cntr->seen, changes);
	return errors;
}

static int kofi_cntr_client_add(struct fid_cntr *cntr, u64 value)
{
	kofi_cntr_add(to_cntr(cntr), value);
	return 0;
}

static int kofi_cntr_set(struct fid_cntr *fid_cntr, u64 value)
{
	struct kofi_cntr *cntr = to_cntr(fid_cntr);

	atomic64_xchg(&cntr->value, value);
	kofi_cntr_changed(cntr);
	return 0;
}

static int kofi_cntr_client_adderr(struct fid_cntr *cntr, u64 value)
{
	kofi_cntr_adderr(to_cntr(cntr), value);
	return 0;
}

/* The client knows the number that it sets, so @seen follows @changes; sleepers wake up */
static int kofi_cntr_seterr(struct fid_cntr *fid_cntr, u64 value)
{
	struct kofi_cntr *cntr = to_cntr(fid_cntr);

	if (atomic64_xchg(&cntr->errors, value) == value) {
		kofi_cntr_readerr(fid_cntr);
		return 0;
	}
	atomic_set(&cntr->seen, atomic_inc_return(&cntr->changes));
	kofi_cntr_changed(cntr);
	return 0;
}

/* Enters the queue, looks, sleeps; -EAGAIN: look again */
static int kofi_cntr_sleep(struct kofi_cntr_waiter *waiter, ktime_t *until)
{
	int interrupted, ret;

	interrupted = prepare_to_wait_event(&waiter->cntr->wait, &waiter->entry,
					    TASK_INTERRUPTIBLE);
	ret = kofi_cntr_look(waiter);
	if (ret != -EAGAIN)
		return ret;
	if (interrupted)
		return -EINTR;
	if (until && !ktime_before(ktime_get(), *until))
		return -ETIMEDOUT;
	schedule_hrtimeout_range(until, KOFI_CNTR_SLACK, HRTIMER_MODE_ABS);
	return -EAGAIN;
}

static int kofi_cntr_wait(struct fid_cntr *fid_cntr, u64 threshold, int timeout)
{
	struct kofi_cntr *cntr = to_cntr(fid_cntr);
	struct kofi_cntr_waiter waiter = {
		.entry.private	= current,
		.entry.func	= kofi_cntr_wake,
		.cntr		= cntr,
		.threshold	= threshold,
		.changes	= atomic_read(&cntr->changes),
	};
	ktime_t until = ktime_add_ms(ktime_get(), timeout);
	int ret;

	might_sleep();
	if (cntr->wait_obj != FI_WAIT_UNSPEC)
		return kofi_refuse("cntr_wait", -EINVAL, "the counter was opened with FI_WAIT_NONE");

	INIT_LIST_HEAD(&waiter.entry.entry);
	do {
		ret = kofi_cntr_sleep(&waiter, timeout < 0 ? NULL : &until);
	} while (ret == -EAGAIN);
	finish_wait(&cntr->wait, &waiter.entry);
	return ret;
}

int kofi_cntr_control(struct fid *fid, int command, void *arg)
{
	if (command != FI_GETWAITOBJ)
		return kofi_refuse("control", -ENOSYS, "a counter has no command %d", command);
	*(enum fi_wait_obj *)arg = to_kofi_cntr(fid)->wait_obj;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cntr_control);

/* The core has made sure that nothing counts here any more */
static int kofi_cntr_close(struct fid *fid)
{
	kfree(to_kofi_cntr(fid));
	return 0;
}

static const struct fi_ops kofi_cntr_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_cntr_close,
	.bind		= fi_no_bind,
	.control	= kofi_cntr_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_cntr kofi_cntr_ops = {
	.size		= sizeof(struct fi_ops_cntr),
	.read		= kofi_cntr_read,
	.readerr	= kofi_cntr_readerr,
	.add		= kofi_cntr_client_add,
	.set		= kofi_cntr_set,
	.wait		= kofi_cntr_wait,
	.adderr		= kofi_cntr_client_adderr,
	.seterr		= kofi_cntr_seterr,
};

static int kofi_cntr_check(const struct fi_cntr_attr *attr)
{
	int ret = kofi_check_ptr("cntr_open", attr);

	if (ret)
		return ret;
	if (attr->events > FI_CNTR_EVENTS_BYTES)
		return kofi_refuse("cntr_open", -EINVAL, "attr->events is %d; there are FI_CNTR_EVENTS_COMP and FI_CNTR_EVENTS_BYTES",
				   attr->events);
	if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
		return kofi_refuse("cntr_open", -ENOSYS, "attr->wait_obj is %d; counters have FI_WAIT_NONE and FI_WAIT_UNSPEC",
				   attr->wait_obj);
	return kofi_check_flags("cntr_open", attr->flags, 0);
}

int kofi_cntr_init(struct kofi_cntr *cntr, const struct fi_cntr_attr *attr,
		   void *context)
{
	int ret = kofi_cntr_check(attr);

	if (ret)
		return ret;

	cntr->cntr.fid.fclass = FI_CLASS_CNTR;
	cntr->cntr.fid.context = context;
	cntr->cntr.fid.ops = &kofi_cntr_fid_ops;
	cntr->cntr.ops = &kofi_cntr_ops;
	atomic64_set(&cntr->value, 0);
	atomic64_set(&cntr->errors, 0);
	atomic_set(&cntr->changes, 0);
	atomic_set(&cntr->seen, 0);
	cntr->events = attr->events;
	cntr->wait_obj = attr->wait_obj;
	init_waitqueue_head(&cntr->wait);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cntr_init);

int kofi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		   struct fid_cntr **fid_cntr, void *context)
{
	struct kofi_cntr *cntr = kzalloc(sizeof(*cntr), GFP_KERNEL);
	int ret;

	if (!cntr)
		return -ENOMEM;

	ret = kofi_cntr_init(cntr, attr, context);
	if (ret) {
		kfree(cntr);
		return ret;
	}
	*fid_cntr = &cntr->cntr;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cntr_open);
