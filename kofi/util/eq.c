// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The event queue of include/kofi/eq.h.
 *
 * The queue is one list of events, oldest first, with errors among the other events.
 * The lock guards the list and all counters.  Entries are copied to the reader under
 * the lock, because an embedded event may be withdrawn and its memory freed as soon
 * as the lock is dropped.  Client handlers and release functions are called without
 * the lock.
 *
 * A handler is armed at the start and whenever a reader finds the queue empty; the
 * next post disarms it and queues the work that calls it.  A connection manager posts
 * with its own locks held, and a handler calls fi_accept() and the like, so the
 * handler runs in a worker, which holds no lock.  One work item per queue also means
 * that a handler never runs twice at the same time.
 *
 * The queue limits only the events that peers and the client can multiply: connection
 * requests, and events from fi_eq_write().  All others are embedded in open
 * endpoints, so their number is bounded, and none is ever lost.
 *
 * A hook opens this queue below its own, and its client must read the hook's objects in events.
 * The hook's tap puts them in under the lock, while the event is still in the queue: until then
 * the close of the object waits in kofi_eq_withdraw().  After the unlock, the object and the hook's
 * may be gone, and their addresses may be those of others.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <kofi/eq.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>
#include "../kofi.h"

#define KOFI_EQ_DEF_SIZE	256
#define KOFI_EQ_MAX_SIZE	65536

/* Memory reclaim may depend on a handler: storage clients connect in theirs */
static struct workqueue_struct *kofi_eq_wq;

struct kofi_eq_written {
	struct kofi_event	event;
	struct fi_eq_entry	entry;
};

static struct kofi_eq *to_eq(struct fid_eq *eq)
{
	return container_of(eq, struct kofi_eq, eq);
}

static bool kofi_eq_limited(const struct kofi_event *event)
{
	return !event->err && (event->event == FI_CONNREQ || event->written);
}

static bool kofi_eq_is_cm(const struct kofi_event *event)
{
	return event->event == FI_CONNREQ || event->event == FI_CONNECTED ||
	       event->event == FI_SHUTDOWN;
}

/* Caller holds the lock */
static void kofi_eq_unlink(struct kofi_eq *eq, struct kofi_event *event)
{
	list_del_init(&event->entry);
	if (kofi_eq_limited(event))
		eq->nr_limited--;
}

int kofi_eq_post(struct kofi_eq *eq, struct kofi_event *event)
{
	bool limited = kofi_eq_limited(event);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&eq->lock, flags);
	if (!list_empty(&event->entry)) {
		ret = -EALREADY;
	} else if (limited && eq->nr_limited >= eq->size) {
		ret = -ENOSPC;
	} else {
		eq->nr_limited += limited;
		list_add_tail(&event->entry, &eq->events);
		if (eq->armed)
			queue_work(kofi_eq_wq, &eq->work);
		eq->armed = false;
		if (eq->wait_obj == FI_WAIT_UNSPEC)
			wake_up(&eq->wait);
	}
	spin_unlock_irqrestore(&eq->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_eq_post);

/* I/O may need the connection that the handler makes, so its allocations start no I/O */
static void kofi_eq_work(struct work_struct *work)
{
	struct kofi_eq *eq = container_of(work, struct kofi_eq, work);
	unsigned int noio = memalloc_noio_save();

	eq->handler(&eq->eq, eq->eq.fid.context);
	memalloc_noio_restore(noio);
}

bool kofi_eq_withdraw(struct kofi_eq *eq, struct kofi_event *event)
{
	unsigned long flags;
	bool queued;

	spin_lock_irqsave(&eq->lock, flags);
	queued = !list_empty(&event->entry);
	if (queued)
		kofi_eq_unlink(eq, event);
	spin_unlock_irqrestore(&eq->lock, flags);
	return queued;
}
EXPORT_SYMBOL_GPL(kofi_eq_withdraw);

/* What the reader gets: objects of the uppermost hook, if there are hooks */
static struct kofi_eq_seen kofi_eq_see(struct kofi_eq *eq, const struct kofi_event *event,
				       bool peek)
{
	struct kofi_eq_seen seen = {
		.fid		= event->fid,
		.context	= event->fid ? event->fid->context : NULL,
		.info		= peek ? NULL : event->info,
	};
	struct kofi_eq_tap *tap;

	lockdep_assert_held(&eq->lock);
	for (tap = eq->taps; tap; tap = tap->next)
		tap->map(tap, &seen);
	return seen;
}

/* Only the reader that takes the event out of the queue gets its info, and owns it */
static ssize_t kofi_eq_copy_cm(struct kofi_eq *eq, const struct kofi_event *event, void *buf,
			       size_t len, bool peek)
{
	struct fi_eq_cm_entry *cm = buf;
	struct kofi_eq_seen seen;
	size_t data_len;

	if (len < sizeof(*cm))
		return -FI_ETOOSMALL;

	data_len = min(len - sizeof(*cm), event->cm_len);
	seen = kofi_eq_see(eq, event, peek);
	cm->fid = seen.fid;
	cm->info = seen.info;
	if (data_len)
		memcpy(cm->data, event->cm_data, data_len);
	return sizeof(*cm) + data_len;
}

static ssize_t kofi_eq_copy_entry(struct kofi_eq *eq, const struct kofi_event *event, void *buf,
				  size_t len, bool peek)
{
	struct fi_eq_entry *entry = buf;
	struct kofi_eq_seen seen;

	if (len < sizeof(*entry))
		return -FI_ETOOSMALL;

	/* The client's, context included; its fid may be any pointer, or have been closed */
	if (event->written) {
		*entry = container_of(event, struct kofi_eq_written,
				      event)->entry;
		return sizeof(*entry);
	}
	seen = kofi_eq_see(eq, event, peek);
	entry->fid = seen.fid;
	entry->context = seen.context;
	entry->data = event->data;
	return sizeof(*entry);
}

static ssize_t kofi_eq_copy(struct kofi_eq *eq, const struct kofi_event *event, void *buf,
			    size_t len, bool peek)
{
	if (!event->written && kofi_eq_is_cm(event))
		return kofi_eq_copy_cm(eq, event, buf, len, peek);
	return kofi_eq_copy_entry(eq, event, buf, len, peek);
}

static ssize_t kofi_eq_read(struct fid_eq *fid_eq, u32 *event_type, void *buf,
			    size_t len, u64 flags)
{
	struct kofi_eq *eq = to_eq(fid_eq);
	void (*release)(struct kofi_event *event) = NULL;
	struct kofi_event *event;
	unsigned long irq;
	ssize_t ret;

	if (flags & ~FI_PEEK)
		return -FI_EBADFLAGS;

	spin_lock_irqsave(&eq->lock, irq);
	event = list_first_entry_or_null(&eq->events, struct kofi_event, entry);
	if (!event) {
		eq->armed = eq->wait_obj == FI_WAIT_CALLBACK;
		ret = -EAGAIN;
	} else if (event->err) {
		ret = -FI_EAVAIL;
	} else {
		ret = kofi_eq_copy(eq, event, buf, len, flags & FI_PEEK);
	}
	if (ret > 0) {
		*event_type = event->event;
		if (!(flags & FI_PEEK)) {
			kofi_eq_unlink(eq, event);
			event->info = NULL;
			release = event->release;
		}
	}
	spin_unlock_irqrestore(&eq->lock, irq);

	if (release)
		release(event);
	return ret;
}

/* Caller holds the lock */
static void kofi_eq_copy_err(struct kofi_eq *eq, const struct kofi_event *event,
			     struct fi_eq_err_entry *buf)
{
	struct kofi_eq_seen seen = kofi_eq_see(eq, event, true);

	buf->fid = seen.fid;
	buf->context = seen.context;
	buf->data = event->data;
	buf->err = event->err;
	/* A provider that knows no more than @err leaves its own code 0, which is "Success" */
	buf->prov_errno = event->prov_errno ?: event->err;

	eq->err_len = min_t(size_t, event->cm_len, sizeof(eq->err_data));
	if (eq->err_len)
		memcpy(eq->err_data, event->cm_data, eq->err_len);

	if (buf->err_data && buf->err_data_size) {
		buf->err_data_size = min(buf->err_data_size, eq->err_len);
		memcpy(buf->err_data, eq->err_data, buf->err_data_size);
	} else {
		buf->err_data = eq->err_len ? eq->err_data : NULL;
		buf->err_data_size = eq->err_len;
	}
}

static ssize_t kofi_eq_readerr(struct fid_eq *fid_eq,
			       struct fi_eq_err_entry *buf, u64 flags)
{
	struct kofi_eq *eq = to_eq(fid_eq);
	void (*release)(struct kofi_event *event) = NULL;
	struct kofi_event *event;
	ssize_t ret = -EAGAIN;
	unsigned long irq;

	if (flags)
		return -FI_EBADFLAGS;

	spin_lock_irqsave(&eq->lock, irq);
	event = list_first_entry_or_null(&eq->events, struct kofi_event, entry);
	if (event && event->err) {
		kofi_eq_copy_err(eq, event, buf);
		kofi_eq_unlink(eq, event);
		/* Without release, the event may be gone after the unlock */
		release = event->release;
		ret = sizeof(*buf);
	}
	spin_unlock_irqrestore(&eq->lock, irq);

	if (release)
		release(event);
	return ret;
}

static ssize_t kofi_eq_sread(struct fid_eq *fid_eq, u32 *event, void *buf,
			     size_t len, int timeout, u64 flags)
{
	struct kofi_eq *eq = to_eq(fid_eq);
	struct kofi_deadline deadline;
	ssize_t ret;
	long left;

	if (eq->wait_obj != FI_WAIT_UNSPEC)
		return -EINVAL;

	/* If another reader takes the event, this one waits for the rest of the time */
	deadline = kofi_deadline_in(timeout);
	for (;;) {
		ret = kofi_eq_read(fid_eq, event, buf, len, flags);
		left = kofi_deadline_left(&deadline);
		if (ret != -EAGAIN || !left)
			return ret;
		if (wait_event_interruptible_timeout(eq->wait,
						     !list_empty(&eq->events),
						     left) < 0)
			return -EINTR;
	}
}

static void kofi_eq_release_written(struct kofi_event *event)
{
	kfree(container_of(event, struct kofi_eq_written, event));
}

static ssize_t kofi_eq_write(struct fid_eq *fid_eq, u32 event, const void *buf,
			     size_t len, u64 flags)
{
	struct kofi_eq *eq = to_eq(fid_eq);
	struct kofi_eq_written *written;
	int ret;

	if (!eq->writable)
		return kofi_refuse("eq_write", -ENOSYS, "the queue was opened without FI_WRITE");
	ret = kofi_check_flags("eq_write", flags, 0);
	if (ret)
		return ret;
	if (len != sizeof(written->entry))
		return kofi_refuse("eq_write", -EINVAL, "len is %zu; a struct fi_eq_entry has %zu",
				   len, sizeof(written->entry));

	written = kzalloc(sizeof(*written), GFP_KERNEL);
	if (!written)
		return -ENOMEM;
	memcpy(&written->entry, buf, len);
	kofi_event_init(&written->event, written->entry.fid);
	written->event.event = event;
	written->event.written = true;
	written->event.release = kofi_eq_release_written;

	ret = kofi_eq_post(eq, &written->event);
	if (!ret)
		return len;
	kfree(written);
	return ret == -ENOSPC ? -EAGAIN : ret;
}

static const char *kofi_eq_strerror(struct fid_eq *fid_eq, int prov_errno,
				    const void *err_data, char *buf, size_t len)
{
	struct kofi_eq *eq = to_eq(fid_eq);
	const char *text = eq->strerror ? eq->strerror(prov_errno) :
					  fi_strerror(prov_errno);

	if (buf && len)
		strscpy(buf, text, len);
	return text;
}

static int kofi_eq_close(struct fid *fid)
{
	struct kofi_eq *eq = to_kofi_eq(fid);
	struct kofi_event *event, *next;

	/* The caller is inside the handler */
	if (current_work() == &eq->work)
		return kofi_refuse("close", -EDEADLK, "called in the handler of the event queue; call it elsewhere");
	cancel_work_sync(&eq->work);
	list_for_each_entry_safe(event, next, &eq->events, entry) {
		list_del_init(&event->entry);
		if (event->release)
			event->release(event);
	}
	kfree(eq);
	return 0;
}

static int kofi_eq_control(struct fid *fid, int command, void *arg)
{
	struct kofi_eq *eq = to_kofi_eq(fid);

	if (command == KOFI_GETSTAT) {
		kofi_stat_add(arg, "size", eq->size);
		kofi_stat_add(arg, "unread_limited", READ_ONCE(eq->nr_limited));
		return 0;
	}
	if (command != FI_GETWAITOBJ && command != KOFI_GETEQ)
		return kofi_refuse("control", -ENOSYS, "an event queue has no command %d", command);
	if (command == KOFI_GETEQ)
		*(struct kofi_eq **)arg = eq;
	else
		*(enum fi_wait_obj *)arg = eq->wait_obj;
	return 0;
}

static const struct fi_ops kofi_eq_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_eq_close,
	.bind		= fi_no_bind,
	.control	= kofi_eq_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_eq kofi_eq_ops = {
	.size		= sizeof(struct fi_ops_eq),
	.read		= kofi_eq_read,
	.readerr	= kofi_eq_readerr,
	.write		= kofi_eq_write,
	.sread		= kofi_eq_sread,
	.strerror	= kofi_eq_strerror,
};

static int kofi_eq_check(const struct fi_eq_attr *attr)
{
	int ret = kofi_check_flags("eq_open", attr->flags, FI_WRITE);

	if (ret)
		return ret;
	if (attr->size > KOFI_EQ_MAX_SIZE)
		return kofi_refuse("eq_open", -EINVAL, "attr->size is %zu; the most is %d",
				   attr->size, KOFI_EQ_MAX_SIZE);
	if (attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_obj != FI_WAIT_UNSPEC &&
	    attr->wait_obj != FI_WAIT_CALLBACK)
		return kofi_refuse("eq_open", -ENOSYS, "attr->wait_obj is %d; there are FI_WAIT_NONE, FI_WAIT_UNSPEC and FI_WAIT_CALLBACK",
				   attr->wait_obj);
	if (attr->wait_obj == FI_WAIT_CALLBACK && !attr->handler)
		return kofi_refuse("eq_open", -EINVAL, "attr->handler is NULL; FI_WAIT_CALLBACK needs one");
	if (attr->wait_obj != FI_WAIT_CALLBACK && attr->handler)
		return kofi_refuse("eq_open", -EINVAL, "attr->handler is given; it needs attr->wait_obj FI_WAIT_CALLBACK");
	return 0;
}

int kofi_eq_open(const struct fi_eq_attr *attr,
		 const char *(*strerror)(int prov_errno), struct fid_eq **fid_eq,
		 void *context)
{
	static const struct fi_eq_attr defaults = { .wait_obj = FI_WAIT_UNSPEC };
	struct kofi_eq *eq;
	int ret;

	if (!attr)
		attr = &defaults;
	ret = kofi_eq_check(attr);
	if (ret)
		return ret;

	eq = kzalloc(sizeof(*eq), GFP_KERNEL);
	if (!eq)
		return -ENOMEM;

	eq->eq.fid.fclass = FI_CLASS_EQ;
	eq->eq.fid.context = context;
	eq->eq.fid.ops = &kofi_eq_fid_ops;
	eq->eq.ops = &kofi_eq_ops;
	spin_lock_init(&eq->lock);
	INIT_LIST_HEAD(&eq->events);
	init_waitqueue_head(&eq->wait);
	INIT_WORK(&eq->work, kofi_eq_work);
	eq->wait_obj = attr->wait_obj;
	eq->armed = attr->wait_obj == FI_WAIT_CALLBACK;
	eq->size = attr->size ? : KOFI_EQ_DEF_SIZE;
	eq->writable = attr->flags & FI_WRITE;
	eq->handler = attr->handler;
	eq->strerror = strerror;

	*fid_eq = &eq->eq;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_eq_open);

void kofi_eq_add_tap(struct kofi_eq *eq, struct kofi_eq_tap *tap)
{
	struct kofi_eq_tap **end = &eq->taps;
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	while (*end)
		end = &(*end)->next;
	tap->next = NULL;
	*end = tap;
	spin_unlock_irqrestore(&eq->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_eq_add_tap);

int __init kofi_eq_init(void)
{
	kofi_eq_wq = alloc_workqueue("kofi_eq", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return kofi_eq_wq ? 0 : -ENOMEM;
}

void kofi_eq_exit(void)
{
	destroy_workqueue(kofi_eq_wq);
}
