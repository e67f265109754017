// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What all parts of the provider ask of an endpoint: to enter its device, its handler lock, its
 * end, and the report that an operation has failed.
 *
 * A call that uses the device or the rdma_cm_id enters the device for the endpoint.  A removal
 * waits for the calls on every endpoint; a drain during the removal waits for those on its own.
 */
#include <linux/wait_bit.h>
#include "../cm.h"
#include "../ep.h"
#include "../verbs.h"

/* Only the removal of the device waits for calls */
static void verbs_ep_called(struct verbs_ep *ep)
{
	struct verbs_device *dev = ep->domain->dev;

	/* A full barrier: either verbs_ep_await_calls() sees 0, or this sees the removal */
	if (atomic_dec_and_test(&ep->calls) && verbs_device_going(dev))
		wake_up_var(&ep->calls);
}

int verbs_ep_enter(struct verbs_ep *ep)
{
	int ret;

	atomic_inc(&ep->calls);
	/* verbs_ep_await_calls() sees this call, or this call sees that the device is going */
	smp_mb__after_atomic();
	ret = verbs_device_enter(ep->domain->dev);
	if (ret)
		verbs_ep_called(ep);
	return ret;
}

void verbs_ep_leave(struct verbs_ep *ep)
{
	struct verbs_device *dev = ep->domain->dev;

	verbs_ep_called(ep);
	verbs_device_leave(dev);
}

/* The device is being removed: waits for calls that have entered it before, for this endpoint */
void verbs_ep_await_calls(struct verbs_ep *ep)
{
	/* Pairs with verbs_ep_enter() */
	smp_mb();
	wait_var_event(&ep->calls, !atomic_read_acquire(&ep->calls));
}

/* Enters the device and takes the handler lock; on success the state is not GONE */
int verbs_ep_lock(struct verbs_ep *ep)
{
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	rdma_lock_handler(ep->id);
	if (ep->kep.conn.state != KOFI_CONN_GONE)
		return 0;
	/* A removal has begun meanwhile */
	verbs_ep_unlock(ep);
	return -ENODEV;
}

void verbs_ep_unlock(struct verbs_ep *ep)
{
	rdma_unlock_handler(ep->id);
	verbs_ep_leave(ep);
}

/* From now on no event is reported, and nothing is posted; the caller holds the handler lock */
void verbs_ep_stop(struct verbs_ep *ep)
{
	/* No peer could send to the endpoint, so it has taken no shared receive */
	if (ep->kep.conn.state <= KOFI_CONN_ENABLED)
		complete_all(&ep->last_wqe);
	kofi_conn_close(&ep->kep.conn);
}

/**
 * verbs_ep_drained() - Wait until a drain, if one has begun, is done with the queue pair
 * @ep: the endpoint
 *
 * Does not wait for callbacks of the client.
 *
 * Context: may sleep.
 * Return: true: there was one, and nothing is in flight; false: there was none, or it failed.
 */
bool verbs_ep_drained(struct verbs_ep *ep)
{
	/* While a region is being closed, or the endpoint, the client does not begin a drain */
	if (!READ_ONCE(ep->drain.begun))
		return false;
	wait_for_completion(&ep->drain.quiet);
	return !ep->drain.err;
}

/* An operation of this side has failed.  Context: any. */
void verbs_ep_broken(struct verbs_ep *ep)
{
	WRITE_ONCE(ep->broken_queued, true);
	mod_delayed_work(verbs_wq, &ep->broken, 0);
}

/*
 * The device refuses an operation of the peer, and may not have told the peer why yet: rxe sends
 * that after it has told us, and not at all if the queue pair is in the error state by then.  Nor
 * is there an order between that answer and a message that ends the connection.  A peer that
 * hangs up has had the answer; one that does not gets a limited time.  Context: any.
 */
void verbs_ep_refusing(struct verbs_ep *ep)
{
	WRITE_ONCE(ep->broken_queued, true);
	queue_delayed_work(verbs_wq, &ep->broken, msecs_to_jiffies(VERBS_REFUSAL_MS));
}
