// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA devices, and the objects that use them.
 *
 * verbs_client keeps a list of the devices.  A device can be removed at any time, and the
 * removal waits for no client of ours.  So code uses an ib_device only within
 *
 *	verbs_device_enter()	around each control call, a percpu_ref; it fails once a
 *				removal has begun
 *	verbs_device_hold()	around posting, from the check of the endpoint's state
 *				to the doorbell, and around the steps of a region for
 *				single operations (mr_ep.c)
 *	poll_lock		around polling (cq.c)
 *
 * Every object that uses a device has a struct verbs_res in a list of the device.
 * verbs_device_remove()
 *
 *	1. takes the device off the list, and makes verbs_device_enter() fail
 *	2. has each object report -ENODEV to its client's event queue.  When all have reported,
 *	   queue pairs go to the error state, and everything posted completes.  (Otherwise an
 *	   endpoint with a peer on the same device might report the peer's end, not -ENODEV)
 *	3. waits for the calls in progress, which return because of step 2
 *	4. does step 2 for objects that were opened meanwhile, drops unanswered connection
 *	   requests, and waits until no call is posting (RCU)
 *	5. strips the objects, those that use others first: queue pairs are drained and
 *	   destroyed, memory unmapped, and so on, until nothing of ours is left
 *
 * All queue pairs are in the error state before the first is drained, and they share one time
 * limit in step 5 (drain_until), so the time of a removal does not grow with their number.  The
 * client keeps shells: calls answer -ENODEV, completions can be read, fi_close() frees the memory.
 *
 * An object is stripped once, by the task that takes it (verbs_res_take()): its close, or the
 * removal.  A close does not wait for its turn in a removal, because it may be called in a callback
 * that the poller of a completion queue is in, and the removal waits for the poller.  A close takes
 * its object and strips it, while the removal waits with the objects of the next kind.  If the
 * removal has taken the object, the close waits for the end of that.
 *
 * verbs_devices_lock is held for look-ups only.  verbs_device.lock guards the lists of objects and
 * is held while they report.  It is taken outside of the handler locks of connections, so no
 * handler adds a verbs_res.  Nothing is stripped under it.
 */
#include <linux/slab.h>
#include "../cm.h"
#include "../ep.h"
#include "../mr.h"
#include "../verbs.h"

/* Drops connection requests that came in on a device, and that no object has taken */
static void (*verbs_device_drop)(const struct ib_device *ibdev);

static LIST_HEAD(verbs_devices);
static DEFINE_MUTEX(verbs_devices_lock);

static int verbs_device_add(struct ib_device *ibdev);
static void verbs_device_remove(struct ib_device *ibdev, void *client_data);

static struct ib_client verbs_client = {
	.name	= "kofi_verbs",
	.add	= verbs_device_add,
	.remove	= verbs_device_remove,
};

/* Reads the limits that hold for every port, once, as ib_query_port() may take the RTNL */
static int verbs_device_query(struct verbs_device *dev)
{
	struct ib_port_attr attr;
	u32 port;
	int ret;

	dev->max_msg_size = U32_MAX;
	rdma_for_each_port(dev->ibdev, port) {
		ret = ib_query_port(dev->ibdev, port, &attr);
		if (ret)
			return ret;
		dev->max_msg_size = min(dev->max_msg_size, attr.max_msg_sz);
	}
	/* fi_info has no separate limit for reads */
	if (verbs_is_iwarp(dev->ibdev))
		dev->max_msg_size = min(dev->max_msg_size,
					verbs_read_mrs_max_len(dev->ibdev));
	return 0;
}

static void verbs_device_idle(struct percpu_ref *calls)
{
	struct verbs_device *dev = container_of(calls, struct verbs_device,
						calls);

	complete(&dev->idle);
}

static struct verbs_device *verbs_device_alloc(struct ib_device *ibdev)
{
	struct verbs_device *dev;
	int i;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return NULL;
	if (percpu_ref_init(&dev->calls, verbs_device_idle, 0, GFP_KERNEL)) {
		kfree(dev);
		return NULL;
	}
	dev->ibdev = ibdev;
	refcount_set(&dev->refs, 1);
	init_completion(&dev->idle);
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->shells);
	init_waitqueue_head(&dev->strip_wait);
	for (i = 0; i < VERBS_NR_RES; i++)
		INIT_LIST_HEAD(&dev->resources[i]);
	return dev;
}

/* Keeps the structure, not the device, which may be removed at any time */
void verbs_device_get(struct verbs_device *dev)
{
	refcount_inc(&dev->refs);
}

void verbs_device_put(struct verbs_device *dev)
{
	if (!refcount_dec_and_test(&dev->refs))
		return;
	percpu_ref_exit(&dev->calls);
	mutex_destroy(&dev->lock);
	kfree(dev);
}

static int verbs_device_add(struct ib_device *ibdev)
{
	struct verbs_device *dev;
	int ret;

	/* Without fast registration there is no safe way to expose memory */
	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;

	dev = verbs_device_alloc(ibdev);
	if (!dev)
		return -ENOMEM;
	ret = verbs_device_query(dev);
	if (ret) {
		verbs_device_put(dev);
		return ret;
	}
	verbs_probe(dev);
	ib_set_client_data(ibdev, &verbs_client, dev);

	mutex_lock(&verbs_devices_lock);
	list_add_tail(&dev->entry, &verbs_devices);
	mutex_unlock(&verbs_devices_lock);
	return 0;
}

static void verbs_device_halt(struct verbs_device *dev)
{
	struct verbs_res *res;
	int kind;

	mutex_lock(&dev->lock);
	for (kind = 0; kind < VERBS_NR_RES; kind++)
		list_for_each_entry(res, &dev->resources[kind], entry)
			if (res->ops->report)
				res->ops->report(res);
	for (kind = 0; kind < VERBS_NR_RES; kind++)
		list_for_each_entry(res, &dev->resources[kind], entry)
			if (res->ops->halt)
				res->ops->halt(res);
	mutex_unlock(&dev->lock);
}

static void verbs_res_set_taken(struct verbs_device *dev, struct verbs_res *res)
{
	lockdep_assert_held(&dev->lock);
	res->taken = true;
	list_move_tail(&res->entry, &dev->shells);
	dev->stripping++;
}

/* Takes the next object; NULL: there is none left, and no close strips one */
static struct verbs_res *verbs_device_take(struct verbs_device *dev, int kind)
{
	struct verbs_res *res;

	mutex_lock(&dev->lock);
	while (!(res = list_first_entry_or_null(&dev->resources[kind], struct verbs_res, entry)) &&
	       dev->stripping) {
		mutex_unlock(&dev->lock);
		wait_event(dev->strip_wait, !READ_ONCE(dev->stripping));
		mutex_lock(&dev->lock);
	}
	if (res)
		verbs_res_set_taken(dev, res);
	mutex_unlock(&dev->lock);
	return res;
}

/* Returns the next shell to call ->end for, which no close frees meanwhile; or NULL */
static struct verbs_res *verbs_device_next_end(struct verbs_device *dev)
{
	struct verbs_res *res;

	mutex_lock(&dev->lock);
	res = list_first_entry_or_null(&dev->shells, struct verbs_res, entry);
	if (res && res->ended)
		res = NULL;
	if (res) {
		res->ended = true;
		res->stripped = false;
		verbs_res_set_taken(dev, res);
	}
	mutex_unlock(&dev->lock);
	return res;
}

static void verbs_device_strip(struct verbs_device *dev)
{
	struct verbs_res *res;
	int kind;

	for (kind = 0; kind < VERBS_NR_RES; kind++) {
		while ((res = verbs_device_take(dev, kind))) {
			res->ops->strip(res);
			verbs_res_done(dev, res);
		}
	}
	while ((res = verbs_device_next_end(dev))) {
		if (res->ops->end)
			res->ops->end(res);
		verbs_res_done(dev, res);
	}
}

/* The end, in jiffies, of a wait for IB_EVENT_QP_LAST_WQE_REACHED that begins now */
unsigned long verbs_last_wqe_until(const struct verbs_device *dev)
{
	bool brief = READ_ONCE(dev->last_wqe) == VERBS_LAST_WQE_MISSED;

	return jiffies + msecs_to_jiffies(brief ? VERBS_LAST_WQE_BRIEF_MS :
					  VERBS_LAST_WQE_MS);
}

static void verbs_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct verbs_device *dev = client_data;

	mutex_lock(&verbs_devices_lock);
	list_del(&dev->entry);
	mutex_unlock(&verbs_devices_lock);

	percpu_ref_kill(&dev->calls);
	/* For a close that is in progress when the removal begins */
	WRITE_ONCE(dev->drain_until, verbs_last_wqe_until(dev));
	verbs_device_halt(dev);
	wait_for_completion(&dev->idle);
	verbs_device_halt(dev);
	verbs_device_drop(ibdev);
	synchronize_rcu();
	WRITE_ONCE(dev->drain_until, verbs_last_wqe_until(dev));
	/* No call adds an object any more */
	verbs_device_strip(dev);
	verbs_device_put(dev);
}

/**
 * verbs_device_enter() - Begin a call that uses a device
 * @dev: the device; the caller has a reference
 *
 * Context: any.
 * Return: 0, and verbs_device_leave() is due; -ENODEV: it is being removed, or has been.
 */
int verbs_device_enter(struct verbs_device *dev)
{
	return percpu_ref_tryget_live(&dev->calls) ? 0 : -ENODEV;
}

void verbs_device_leave(struct verbs_device *dev)
{
	percpu_ref_put(&dev->calls);
}

/* Enters the device that it finds; NULL: there is none, or it is being removed */
struct verbs_device *verbs_device_find(const struct ib_device *ibdev)
{
	struct verbs_device *dev, *found = NULL;

	mutex_lock(&verbs_devices_lock);
	list_for_each_entry(dev, &verbs_devices, entry) {
		if (dev->ibdev == ibdev && !verbs_device_enter(dev)) {
			found = dev;
			break;
		}
	}
	mutex_unlock(&verbs_devices_lock);
	return found;
}

struct verbs_device *verbs_device_find_by_name(const char *name)
{
	struct verbs_device *dev, *found = NULL;

	mutex_lock(&verbs_devices_lock);
	list_for_each_entry(dev, &verbs_devices, entry) {
		if (!strcmp(dev_name(&dev->ibdev->dev), name) && !verbs_device_enter(dev)) {
			found = dev;
			break;
		}
	}
	mutex_unlock(&verbs_devices_lock);
	return found;
}

/* The caller has entered @dev */
void verbs_res_add(struct verbs_device *dev, struct verbs_res *res,
		   const struct verbs_res_ops *ops)
{
	res->ops = ops;
	mutex_lock(&dev->lock);
	list_add_tail(&res->entry, &dev->resources[ops->kind]);
	mutex_unlock(&dev->lock);
}

/**
 * verbs_res_take() - Become the task that strips an object
 * @dev: its device
 * @res: the object's
 *
 * Context: may sleep.
 * Return: true: the device stays until verbs_res_done() or verbs_res_give_back(); false: another
 * task strips it, or has done so, see verbs_res_await().
 */
bool verbs_res_take(struct verbs_device *dev, struct verbs_res *res)
{
	bool taken;

	mutex_lock(&dev->lock);
	taken = res->taken;
	if (!taken)
		verbs_res_set_taken(dev, res);
	mutex_unlock(&dev->lock);
	return !taken;
}

static void verbs_res_leave(struct verbs_device *dev)
{
	lockdep_assert_held(&dev->lock);
	WRITE_ONCE(dev->stripping, dev->stripping - 1);
	wake_up_all(&dev->strip_wait);
}

/* Undoes verbs_res_take(), as the device has refused to release the object */
void verbs_res_give_back(struct verbs_device *dev, struct verbs_res *res)
{
	mutex_lock(&dev->lock);
	res->taken = false;
	list_move_tail(&res->entry, &dev->resources[res->ops->kind]);
	verbs_res_leave(dev);
	mutex_unlock(&dev->lock);
}

/* The object is stripped; a task that waits for that may free it */
void verbs_res_done(struct verbs_device *dev, struct verbs_res *res)
{
	mutex_lock(&dev->lock);
	/* Pairs with verbs_res_await() */
	smp_store_release(&res->stripped, true);
	verbs_res_leave(dev);
	mutex_unlock(&dev->lock);
}

/**
 * verbs_res_await() - Wait until an object is stripped
 * @dev: its device
 * @res: the object's
 * @timeout: in jiffies
 *
 * Context: may sleep.
 * Return: 0: it is not stripped in time.
 */
long verbs_res_await(struct verbs_device *dev, struct verbs_res *res, long timeout)
{
	/* Pairs with verbs_res_done() */
	return wait_event_timeout(dev->strip_wait, smp_load_acquire(&res->stripped), timeout);
}

/**
 * verbs_res_strip() - Strip an object, or wait until the task that has taken it has done so
 * @dev: its device
 * @res: the object's
 *
 * Context: may sleep.
 */
void verbs_res_strip(struct verbs_device *dev, struct verbs_res *res)
{
	if (!verbs_res_take(dev, res)) {
		verbs_res_await(dev, res, MAX_SCHEDULE_TIMEOUT);
		return;
	}
	res->ops->strip(res);
	verbs_res_done(dev, res);
}

/**
 * verbs_res_strip_in_use() - As verbs_res_strip(), for an object that other calls use meanwhile
 * @dev: its device, which is being removed
 * @res: the object's; it has ->report
 *
 * Context: may sleep.
 */
void verbs_res_strip_in_use(struct verbs_device *dev, struct verbs_res *res)
{
	/* Ends posting; then calls that post come to an end, as in verbs_device_remove() */
	mutex_lock(&dev->lock);
	if (!res->taken)
		res->ops->report(res);
	mutex_unlock(&dev->lock);
	synchronize_rcu();
	verbs_res_strip(dev, res);
}

/* A stripped object is closed */
void verbs_res_del(struct verbs_device *dev, struct verbs_res *res)
{
	mutex_lock(&dev->lock);
	while (!res->stripped) {
		/* The removal calls ->end */
		mutex_unlock(&dev->lock);
		verbs_res_await(dev, res, MAX_SCHEDULE_TIMEOUT);
		mutex_lock(&dev->lock);
	}
	list_del(&res->entry);
	mutex_unlock(&dev->lock);
}

/* @drop: drops the connection requests of a device */
int verbs_devices_init(void (*drop)(const struct ib_device *ibdev))
{
	verbs_device_drop = drop;
	return ib_register_client(&verbs_client);
}

void verbs_devices_exit(void)
{
	ib_unregister_client(&verbs_client);
}
