// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of all operations of an endpoint: when it is closed, and before, if the client
 * asks for that with fi_ep_drain().
 *
 * verbs_ep_drain_qp() is what both have in common.  It is called when nobody posts any
 * more, and on return every done function of the endpoint has run.  How a queue is
 * drained is drain.c's, and srx.c's for shared receives.
 *
 * fi_ep_drain()
 *
 *	1. under the handler lock: the connection ends, if there is one, and the state is
 *	   DOWN, so posters turn away.  As in a close, the client is told nothing from
 *	   now on, and rw operations get no further batch: whatever the device has not ended by
 *	   the end of the drain, the drain ends
 *	2. in a worker: waits for posters that have seen another state (RCU), rings the
 *	   doorbell for what they have left there, and drains
 *	3. unmaps what has succeeded without a completion, so that all of the memory is
 *	   the client's again.  The slots stay, and so does the room in the completion
 *	   queues, as the client still reads there
 *
 * A drain waits for the device, for the client's callbacks and, with shared receives, for
 * an event that may be late, so the caller's patience may end first.  The worker goes on
 * then, and whoever needs its end waits for it: the next call, a region that is closed
 * while the device has it, and the close of the endpoint, which then drains no more.
 *
 * The worker has a workqueue of its own: it waits for the endpoint's other work, and for
 * want of memory a workqueue may be down to one thread.  It has entered the device, so a
 * removal waits for its end.  Once that has begun, a drain that has not is the
 * removal's: what it strips is drained.
 *
 * Locking: begun under the handler lock.  lock is held while markers are posted, as a
 * queue pair has room for one of each queue, and regions are closed at any time.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include "ep.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

/**
 * verbs_ep_drain_qp() - Wait for all done functions of an endpoint
 * @ep: the endpoint, with a queue pair; nobody posts any more, and it is closing
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
	verbs_cq_quiesce(verbs_queue_cq(&ep->tx));
	verbs_cq_quiesce(verbs_queue_cq(&ep->rx));
	verbs_batch_end_partial(ep, true);
	flush_work(&ep->broken);
	verbs_rws_abandon(ep);
}

/* Returns whether the device has let go of what it cannot transfer any more */
static int verbs_drain_break(struct verbs_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	rdma_lock_handler(ep->id);
	ret = ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
	verbs_ring_last(ep);
	rdma_unlock_handler(ep->id);
	return ret;
}

/* Of all operations no one is under way; those that had no completion are mapped */
static void verbs_drain_release(struct verbs_ep *ep)
{
	size_t i;

	verbs_queue_unmap(&ep->tx);
	verbs_queue_unmap(&ep->rx);
	/* Whoever waits for that waits for the worker */
	for (i = 0; i < ep->tx.size; i++)
		WRITE_ONCE(ep->tx.slots[i].region, NULL);
}

/* Storage may wait for it */
static void verbs_drain_work(struct work_struct *work)
{
	struct verbs_ep *ep = container_of(work, struct verbs_ep, drain.work);
	unsigned int noio = memalloc_noio_save();

	synchronize_rcu();
	ep->drain.err = verbs_drain_break(ep);
	if (!ep->drain.err) {
		verbs_ep_drain_qp(ep);
		/* What was refused or ended without the device is reported by the core */
		kofi_cq_flush(ep->kep.tx.cq);
		kofi_cq_flush(ep->kep.rx.cq);
		verbs_drain_release(ep);
	}
	complete_all(&ep->drain.done);
	verbs_ep_leave(ep);
	memalloc_noio_restore(noio);
}

/* The device has been entered, and is left by the worker */
static void verbs_drain_start(struct verbs_ep *ep)
{
	ep->drain.begun = true;
	if (ep->kep.conn.state == KOFI_CONN_CONNECTING ||
	    ep->kep.conn.state == KOFI_CONN_CONNECTED)
		verbs_ep_disconnected(ep);
	verbs_ep_stop(ep);
	queue_work(verbs_drain_wq, &ep->drain.work);
}

static int verbs_drain_begin(struct verbs_ep *ep)
{
	int ret = verbs_ep_lock(ep);

	if (ret)
		return ret;
	if (!ep->qp)
		ret = -FI_EOPBADSTATE;
	if (!ret && !ep->drain.begun) {
		verbs_drain_start(ep);
		rdma_unlock_handler(ep->id);
		return 0;
	}
	verbs_ep_unlock(ep);
	return ret;
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

/* The device goes, or has gone, and takes the queue pair along */
static int verbs_drain_removed(struct verbs_ep *ep, int timeout)
{
	if (!READ_ONCE(ep->tx.slots))
		return -FI_EOPBADSTATE;
	return verbs_drain_await(&ep->domain->dev->stripped, timeout) ? 0 :
								       -ENODEV;
}

/* .drain of struct fi_ops_ep */
int verbs_ep_drain(struct fid_ep *fid_ep, int timeout)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	int ret = verbs_drain_begin(ep);

	if (ret == -ENODEV)
		return verbs_drain_removed(ep, timeout);
	if (ret)
		return ret;
	return verbs_drain_await(&ep->drain.done, timeout) ? ep->drain.err :
							     -ETIMEDOUT;
}

/**
 * verbs_ep_drained() - Wait for the end of a drain, if one has begun
 * @ep: the endpoint
 *
 * Context: may sleep.
 * Return: true: there was one, and nothing is in flight; false: there was none, or the
 * device has refused it.
 */
bool verbs_ep_drained(struct verbs_ep *ep)
{
	bool begun;

	rdma_lock_handler(ep->id);
	begun = ep->drain.begun;
	rdma_unlock_handler(ep->id);
	if (!begun)
		return false;
	flush_work(&ep->drain.work);
	return !ep->drain.err;
}

void verbs_drain_init(struct verbs_drain_job *drain)
{
	INIT_WORK(&drain->work, verbs_drain_work);
	init_completion(&drain->done);
	mutex_init(&drain->lock);
}
