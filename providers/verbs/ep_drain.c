// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Draining an endpoint, so that all its operations end: at its close, or before that by
 * fi_ep_drain().
 *
 * Both call verbs_ep_drain_qp() when no call posts any more; on return every done function of the
 * endpoint has run.  cq.c drains the queues, and srx.c the shared receives.
 *
 * fi_ep_drain()
 *
 *	1. under the handler lock: ends the connection, if there is one, which rings the last
 *	   doorbell, and sets the state DOWN, so no call posts.  As in a close, the client gets
 *	   no more events, and rw operations get no further batch: the drain ends those that the
 *	   device has not
 *	2. in a worker: waits for posters that have seen another state (RCU), and drains
 *	3. unmaps operations that have succeeded without a completion, so all of the memory is
 *	   the client's again.  The slots stay, and so does the room in the completion queues,
 *	   as the client still reads there
 *
 *	4. waits for the client's callbacks
 *
 * A drain waits for the device, for the client's callbacks and, with shared receives, for an event
 * that may be late, so the caller's timeout may expire first.  Then the worker continues.  The
 * next fi_ep_drain() and the close of the endpoint wait for the worker; that close drains no more.
 * The close of a region that the device has may be called in a callback, so it waits for step 3.
 *
 * The worker has a workqueue of its own: it waits for other work of the endpoint, and when memory
 * is short a workqueue may be down to one thread.  The worker has entered the device until step 4,
 * so a removal waits for the first three.  A fi_ep_drain() during a removal strips the endpoint, or
 * waits until the removal has done so, which drains the queue pair.  Before the removal strips
 * anything it waits for all calls on the device.  The drain waits for those on its endpoint only:
 * calls on others may wait for a poller, and the drain may be called in a callback of that.
 *
 * Locking: a drain begins under the handler lock.  drain.lock is held while markers are posted, as
 * a queue pair has room for one marker in each queue, and regions are closed at any time.  The
 * queue pair is destroyed under it, too: while its holder finds a queue pair, the device is there.
 */
#include <kofi/refuse.h>
#include <linux/sched/mm.h>
#include "ep.h"
#include "op.h"
#include "queue.h"
#include "save/save.h"
#include "verbs.h"

/**
 * verbs_ep_drain_qp() - Wait for all done functions of an endpoint
 * @ep: the endpoint, with a queue pair; no call posts any more, and it is closing
 *
 * Context: may sleep.
 */
void verbs_ep_drain_qp(struct verbs_ep *ep)
{
	mutex_lock(&ep->drain.lock);
	if (verbs_ep_srx(ep)) {
		verbs_srx_drain(ep);
	} else {
		verbs_drain_sq(ep->qp, verbs_queue_cq(&ep->tx));
		verbs_drain_rq(ep->qp, verbs_queue_cq(&ep->rx));
	}
	mutex_unlock(&ep->drain.lock);
	verbs_batch_end_partial(ep, true);
	if (READ_ONCE(ep->broken_queued))
		flush_delayed_work(&ep->broken);
	verbs_end_refused(ep);
	verbs_rws_abandon(ep);
	verbs_saves_abandon(ep);
}

static int verbs_drain_break(struct verbs_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	rdma_lock_handler(ep->id);
	ret = ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
	rdma_unlock_handler(ep->id);
	return ret;
}

/* End all operations on the device, and leave it */
static void verbs_drain_device(struct verbs_ep *ep)
{
	size_t i;

	synchronize_rcu();
	ep->drain.err = verbs_drain_break(ep);
	if (!ep->drain.err) {
		verbs_ep_drain_qp(ep);
		/* Operations that had no completion are still mapped; every receive has had one */
		verbs_queue_unmap(&ep->tx);
		/* The close of a region waits for @quiet before it looks */
		for (i = atomic_read(&ep->tx.fresh); i < ep->tx.size; i++)
			if (ep->tx.slots[i].regional)
				WRITE_ONCE(ep->tx.slots[i].region, NULL);
	}
	complete_all(&ep->drain.quiet);
	verbs_ep_leave(ep);
}

/*
 * Work: storage may wait for it, so allocations of drivers must not wait for I/O.  A removal waits
 * for no client, so the device has been left when this waits for callbacks.
 */
static void verbs_drain_work(struct work_struct *work)
{
	struct verbs_ep *ep = container_of(work, struct verbs_ep, drain.work);
	unsigned int noio = memalloc_noio_save();

	if (!ep->drain.gone)
		verbs_drain_device(ep);
	kofi_cq_flush(ep->kep.tx.cq);
	kofi_cq_flush(ep->kep.rx.cq);
	complete_all(&ep->drain.done);
	memalloc_noio_restore(noio);
}

static int verbs_drain_refuse(void)
{
	return kofi_refuse("ep_drain", -FI_EOPBADSTATE, "the endpoint has not been enabled");
}

static int verbs_drain_begin(struct verbs_ep *ep)
{
	int ret = verbs_ep_lock(ep);

	if (ret)
		return ret;
	if (!ep->qp || ep->drain.begun) {
		ret = ep->qp ? 0 : verbs_drain_refuse();
		verbs_ep_unlock(ep);
		return ret;
	}
	WRITE_ONCE(ep->drain.begun, true);
	if (ep->kep.conn.state == KOFI_CONN_CONNECTING ||
	    ep->kep.conn.state == KOFI_CONN_CONNECTED)
		verbs_ep_disconnected(ep);
	verbs_ep_stop(ep);
	/* The worker leaves the device */
	queue_work(verbs_drain_wq, &ep->drain.work);
	rdma_unlock_handler(ep->id);
	return 0;
}

static bool verbs_drain_await(struct completion *done, int timeout)
{
	if (timeout < 0) {
		wait_for_completion(done);
		return true;
	}
	return try_wait_for_completion(done) ||
	       wait_for_completion_timeout(done, msecs_to_jiffies(timeout));
}

/* The device is being removed.  Stripping the endpoint drains its queue pair */
static int verbs_drain_gone(struct verbs_ep *ep, int timeout)
{
	struct verbs_device *dev = ep->domain->dev;
	long left = MAX_SCHEDULE_TIMEOUT;

	if (!READ_ONCE(ep->tx.slots))
		return verbs_drain_refuse();
	/* Does not wait for its turn: in a callback, the removal may wait for the caller */
	if (timeout < 0) {
		verbs_ep_await_calls(ep);
		verbs_res_strip_in_use(dev, &ep->res);
	} else {
		left = verbs_res_await(dev, &ep->res, msecs_to_jiffies(timeout));
	}
	if (!left)
		return -ENODEV;
	/* If no drain has begun, the worker waits for the callbacks that are left */
	if (!xchg(&ep->drain.begun, true)) {
		ep->drain.gone = true;
		complete_all(&ep->drain.quiet);
		queue_work(verbs_drain_wq, &ep->drain.work);
	}
	return wait_for_completion_timeout(&ep->drain.done, left) ? 0 : -ENODEV;
}

int verbs_ep_drain(struct fid_ep *fid_ep, int timeout)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	int ret = kofi_ep_may_close(&ep->kep);

	if (ret)
		return ret;
	ret = verbs_drain_begin(ep);
	if (ret == -ENODEV)
		return verbs_drain_gone(ep, timeout);
	if (ret)
		return ret;
	if (verbs_drain_await(&ep->drain.done, timeout))
		return ep->drain.err;
	return kofi_refuse("ep_drain", -ETIMEDOUT, "after %d ms the endpoint still has operations under way",
			   timeout);
}

void verbs_drain_init(struct verbs_drain_job *drain)
{
	INIT_WORK(&drain->work, verbs_drain_work);
	init_completion(&drain->quiet);
	init_completion(&drain->done);
	mutex_init(&drain->lock);
}
