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
 *	poll_lock		around direct polling (cq.c)
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
 * A close that enters the device strips its object by itself, and the removal waits for it in
 * step 3; a later close waits for step 5.
 *
 * verbs_devices_lock is held for look-ups only.  verbs_device.lock guards the lists of objects and
 * is held while they report.  It is taken outside of the handler locks of connections, so no
 * handler adds a verbs_res.
 */
#include <linux/slab.h>
#include "cm.h"
#include "ep.h"
#include "mr.h"
#include "verbs.h"

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
	init_completion(&dev->stripped);
	mutex_init(&dev->lock);
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

static void verbs_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct verbs_device *dev = client_data;
	struct verbs_res *res;
	int kind;

	mutex_lock(&verbs_devices_lock);
	list_del(&dev->entry);
	mutex_unlock(&verbs_devices_lock);

	percpu_ref_kill(&dev->calls);
	/* For a close that is in progress when the removal begins */
	WRITE_ONCE(dev->drain_until, verbs_last_wqe_until(dev));
	verbs_device_halt(dev);
	wait_for_completion(&dev->idle);
	verbs_device_halt(dev);
	verbs_connreqs_drop_device(ibdev);
	synchronize_rcu();
	WRITE_ONCE(dev->drain_until, verbs_last_wqe_until(dev));
	/* No call adds or deletes an object any more */
	for (kind = 0; kind < VERBS_NR_RES; kind++)
		list_for_each_entry(res, &dev->resources[kind], entry)
			res->ops->strip(res);
	for (kind = 0; kind < VERBS_NR_RES; kind++)
		list_for_each_entry(res, &dev->resources[kind], entry)
			if (res->ops->end)
				res->ops->end(res);
	complete_all(&dev->stripped);
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

/* The caller has entered @dev */
void verbs_res_del(struct verbs_device *dev, struct verbs_res *res)
{
	mutex_lock(&dev->lock);
	list_del(&res->entry);
	mutex_unlock(&dev->lock);
}

/**
 * verbs_res_enter() - Begin to close an object
 * @dev: its device
 *
 * Context: may sleep.
 * Return: true: the device has been entered, and the caller strips the object; false: the
 * removal has stripped it.
 */
bool verbs_res_enter(struct verbs_device *dev)
{
	if (!verbs_device_enter(dev))
		return true;
	wait_for_completion(&dev->stripped);
	return false;
}

/**
 * verbs_res_strip() - Strip an object that is being closed, unless the removal has done so
 * @dev: its device
 * @res: the object's
 *
 * Context: may sleep.
 */
void verbs_res_strip(struct verbs_device *dev, struct verbs_res *res)
{
	if (!verbs_res_enter(dev))
		return;
	verbs_res_del(dev, res);
	res->ops->strip(res);
	verbs_device_leave(dev);
}

int verbs_devices_init(void)
{
	return ib_register_client(&verbs_client);
}

void verbs_devices_exit(void)
{
	ib_unregister_client(&verbs_client);
}
