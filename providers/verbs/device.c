// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA devices that are there, and what stands on them.
 *
 * An ib_client keeps a list of them.  A device can go at any time and waits for no
 * client of ours, so nobody looks at an ib_device without having said so:
 *
 *	verbs_device_enter()	around each control call, percpu_ref; from the moment
 *				when a removal begins nobody enters any more
 *	verbs_device_hold()	around posting, from the look at the endpoint's state
 *				to the doorbell, and around the steps of a region for
 *				single operations (mr_ep.c)
 *	poll_lock		around direct polling (cq.c)
 *
 * Every object with something of the device's has a struct verbs_res in a list here.
 * A removal
 *
 *	1. takes the device off the list, and lets nobody enter any more
 *	2. tells the resources: clients get -ENODEV from their event queues.  When all have been
 *	   told, so that none takes another's end for its peer's, queue pairs go to the
 *	   error state, and everything posted completes
 *	3. waits for the calls under way, which that brings to an end
 *	4. tells those that came meanwhile, drops unanswered connection requests, and
 *	   waits until nobody is posting (RCU)
 *	5. strips the resources, those that use others first: queue pairs are drained and
 *	   destroyed, memory unmapped, and so on, until nothing of ours is left
 *
 * and returns.  All queue pairs are in the error state before the first is drained, and
 * what one waits for the device in step 5 counts for the others, too (drain_until), so
 * the time does not grow with their number.
 *  What the client still has are shells: calls answer -ENODEV, what has
 * completed can be read, fi_close() frees the memory.  A close is either in time, and
 * strips its object itself, which the removal waits for in step 3, or too late, and
 * waits for step 5.
 *
 * The list's mutex is held for look-ups only.  A device's own mutex guards its lists
 * and is held while those in them are told; it is taken outside of the handler locks
 * of connections, so no handler adds a res.
 */
#include <linux/module.h>
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

/* What every port of the device takes; asked once, as drivers may take the RTNL */
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
	/* Nothing else tells how long a read may be */
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

/* Whoever points to the structure; says nothing about the device */
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

static void verbs_device_tell(struct verbs_device *dev)
{
	struct verbs_res *res;
	int i;

	mutex_lock(&dev->lock);
	for (i = 0; i < VERBS_NR_RES; i++)
		list_for_each_entry(res, &dev->resources[i], entry)
			if (res->ops->tell)
				res->ops->tell(res);
	for (i = 0; i < VERBS_NR_RES; i++)
		list_for_each_entry(res, &dev->resources[i], entry)
			if (res->ops->halt)
				res->ops->halt(res);
	mutex_unlock(&dev->lock);
}

/* Nobody adds or deletes a res any more */
static void verbs_device_strip(struct verbs_device *dev)
{
	struct verbs_res *res;
	int i;

	for (i = 0; i < VERBS_NR_RES; i++)
		list_for_each_entry(res, &dev->resources[i], entry)
			res->ops->strip(res);
}

static void verbs_device_end(struct verbs_device *dev)
{
	struct verbs_res *res;
	int i;

	for (i = 0; i < VERBS_NR_RES; i++)
		list_for_each_entry(res, &dev->resources[i], entry)
			if (res->ops->end)
				res->ops->end(res);
}

static void verbs_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct verbs_device *dev = client_data;

	mutex_lock(&verbs_devices_lock);
	list_del(&dev->entry);
	mutex_unlock(&verbs_devices_lock);

	percpu_ref_kill(&dev->calls);
	/* For a close that is under way and sees that the device goes */
	WRITE_ONCE(dev->drain_until, verbs_last_wqe_until(dev));
	verbs_device_tell(dev);
	wait_for_completion(&dev->idle);
	verbs_device_tell(dev);
	verbs_connreqs_drop_device(ibdev);
	synchronize_rcu();
	WRITE_ONCE(dev->drain_until, verbs_last_wqe_until(dev));
	verbs_device_strip(dev);
	verbs_device_end(dev);
	complete_all(&dev->stripped);
	verbs_device_put(dev);
}

/**
 * verbs_device_enter() - Begin a call that uses a device
 * @dev: the device; the caller has a reference
 *
 * Context: any.
 * Return: 0, and verbs_device_leave() is due; -ENODEV: it is being removed, or has
 * been.
 */
int verbs_device_enter(struct verbs_device *dev)
{
	return percpu_ref_tryget_live(&dev->calls) ? 0 : -ENODEV;
}

void verbs_device_leave(struct verbs_device *dev)
{
	percpu_ref_put(&dev->calls);
}

/* Found devices have been entered */
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
		if (!strcmp(dev_name(&dev->ibdev->dev), name) &&
		    !verbs_device_enter(dev)) {
			found = dev;
			break;
		}
	}
	mutex_unlock(&verbs_devices_lock);
	return found;
}

/* The caller has entered */
void verbs_res_add(struct verbs_device *dev, struct verbs_res *res,
		   const struct verbs_res_ops *ops)
{
	res->ops = ops;
	mutex_lock(&dev->lock);
	list_add_tail(&res->entry, &dev->resources[ops->kind]);
	mutex_unlock(&dev->lock);
}

/* The same */
void verbs_res_del(struct verbs_device *dev, struct verbs_res *res)
{
	mutex_lock(&dev->lock);
	list_del(&res->entry);
	mutex_unlock(&dev->lock);
}

/**
 * verbs_res_enter() - Begin to close an object
 * @dev: the device it stands on
 *
 * Context: may sleep.
 * Return: true: the device has been entered, and the object is the caller's to strip;
 * false: the removal has done so.
 */
bool verbs_res_enter(struct verbs_device *dev)
{
	if (!verbs_device_enter(dev))
		return true;
	wait_for_completion(&dev->stripped);
	return false;
}

/**
 * verbs_res_strip() - See to it that an object has nothing of its device any more
 * @dev: the device it stands on
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
