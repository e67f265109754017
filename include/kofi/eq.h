/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An event queue that any provider may use as its own.
 *
 * An event is a struct kofi_event that the provider embeds in the object that the event
 * is about, so that reporting never needs memory.  An endpoint has one event for "connected"
 * and one for the end, which is "shutdown" or an error.  A connection request has its own.
 * The queue links events and owns none.
 */
#ifndef _KOFI_EQ_H
#define _KOFI_EQ_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/fi_eq.h>

/* Most bytes of connection data any provider carries (libfabric's tcp: 256) */
#define KOFI_CM_DATA_MAX	256

/* ->control of an event queue: struct kofi_eq **, for hooks on top of the queue's provider */
#define KOFI_GETEQ		0x1002

/**
 * struct kofi_event - One event, embedded in its object
 * @entry: place in the queue; empty while not queued
 * @event: FI_CONNECTED, ...; ignored for errors
 * @err: positive error code; 0: not an error
 * @prov_errno: provider's code of the error; 0: the client reads @err
 * @written: came from fi_eq_write(); the queue's own
 * @fid: the object that it concerns
 * @info: FI_CONNREQ: passes to the client when read
 * @data: the data field of fi_eq_entry and fi_eq_err_entry
 * @cm_data: connection data, or NULL
 * @cm_len: bytes of @cm_data
 * @release: called without locks when the event has been read; may be NULL.
 *	An event that has one must not be withdrawn at the same time.
 */
struct kofi_event {
	struct list_head	entry;
	u32			event;
	int			err;
	int			prov_errno;
	bool			written;
	struct fid		*fid;
	struct fi_info		*info;
	u64			data;
	const void		*cm_data;
	size_t			cm_len;
	void			(*release)(struct kofi_event *event);
};

static inline void kofi_event_init(struct kofi_event *event, struct fid *fid)
{
	*event = (struct kofi_event) { .fid = fid };
	INIT_LIST_HEAD(&event->entry);
}

/**
 * struct kofi_eq_seen - What a reader gets of an event, but for its data
 * @fid: the object that the event concerns
 * @context: of that object; a connection event has none
 * @info: of a connection request that the reader takes; else NULL
 */
struct kofi_eq_seen {
	struct fid	*fid;
	void		*context;
	struct fi_info	*info;
};

/**
 * struct kofi_eq_tap - Puts an object of a hook in the place of the one below it
 * @next: the tap that sees the event next
 * @map: an event is being read that no client has written.  The queue's lock is held, so the
 *	object below is still open: its close withdraws its events
 */
struct kofi_eq_tap {
	struct kofi_eq_tap	*next;
	void			(*map)(struct kofi_eq_tap *tap, struct kofi_eq_seen *seen);
};

/**
 * struct kofi_eq - The queue; the provider embeds it in its own, or uses it as is
 * @eq: what the client sees
 * @lock: guards the rest; taken with interrupts off
 * @events: struct kofi_event, oldest first
 * @wait: sleepers in fi_eq_sread()
 * @wait_obj: kind of queue
 * @work: calls the handler
 * @armed: the handler is due at the next event
 * @size: most FI_CONNREQ and written events that may wait
 * @nr_limited: how many of these wait
 * @writable: opened with FI_WRITE
 * @taps: of hooks, the lowest first
 * @handler: client's handler
 * @strerror: text of a prov_errno
 * @err_len: bytes of @err_data
 * @err_data: data of the error read last
 */
struct kofi_eq {
	struct fid_eq		eq;
	spinlock_t		lock;		/* see above */
	struct list_head	events;
	wait_queue_head_t	wait;
	enum fi_wait_obj	wait_obj;
	struct work_struct	work;
	bool			armed;
	size_t			size;
	size_t			nr_limited;
	bool			writable;
	struct kofi_eq_tap	*taps;
	void			(*handler)(struct fid_eq *eq, void *context);
	const char		*(*strerror)(int prov_errno);
	size_t			err_len;
	u8			err_data[KOFI_CM_DATA_MAX];
};

/**
 * kofi_eq_open() - Ready-made ->eq_open of struct fi_ops_fabric
 * @attr: the client's wishes, may be NULL
 * @strerror: text of the provider's prov_errno; NULL: none
 * @eq: the queue, allocated; its ->close frees it
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_eq_open().
 */
int kofi_eq_open(const struct fi_eq_attr *attr,
		 const char *(*strerror)(int prov_errno), struct fid_eq **eq,
		 void *context);

static inline struct kofi_eq *to_kofi_eq(struct fid *fid)
{
	return container_of(fid, struct kofi_eq, eq.fid);
}

/**
 * kofi_eq_post() - Queue an event and wake the client
 * @eq: the queue
 * @event: filled; not queued at the moment
 *
 * Context: any; the handler runs in a worker of its own, so locks may be held.
 * Return: 0; -ENOSPC: an FI_CONNREQ, and as many as the queue's size wait;
 * -EALREADY: @event is queued.
 */
int kofi_eq_post(struct kofi_eq *eq, struct kofi_event *event);

/**
 * kofi_eq_withdraw() - Take an event out of the queue, if it is in
 * @eq: the queue
 * @event: the event
 *
 * Afterwards no reader looks at @event.  @release is not called.
 *
 * Context: any.
 * Return: true if it was queued.
 */
bool kofi_eq_withdraw(struct kofi_eq *eq, struct kofi_event *event);

/**
 * kofi_eq_add_tap() - Add a tap to a queue
 * @eq: the queue, to which no object is bound yet
 * @tap: sees an event after those that were added before; stays as long as the queue
 *
 * Context: any.
 */
void kofi_eq_add_tap(struct kofi_eq *eq, struct kofi_eq_tap *tap);

#endif /* _KOFI_EQ_H */
