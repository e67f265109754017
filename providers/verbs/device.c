// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA devices that are there.
 *
 * An ib_client keeps a list of them.  Whoever looks at a device holds a
 * reference; domains hold one as long as they are open.  When a device is
 * removed, it leaves the list at once, its endpoints are told (-ENODEV on their
 * event queues, every posted operation completes with an error), so are its shared
 * receive contexts, and the removal waits until the last domain on it is closed.
 *
 * The list's mutex is held for look-ups only; a device's own mutex guards its
 * lists and is held while those in them are told.
 */
#include <linux/module.h>
#include <linux/slab.h>
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
					verbs_sinks_max_len(dev->ibdev));
	return 0;
}

static int verbs_device_add(struct ib_device *ibdev)
{
	struct verbs_device *dev;
	int ret;

	/* Without fast registration there is no safe way to expose memory */
	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;

	dev->ibdev = ibdev;
	refcount_set(&dev->users, 1);
	init_completion(&dev->idle);
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->eps);
	INIT_LIST_HEAD(&dev->srxs);
	ret = verbs_device_query(dev);
	if (ret) {
		kfree(dev);
		return ret;
	}
	verbs_probe(dev);
	ib_set_client_data(ibdev, &verbs_client, dev);

	mutex_lock(&verbs_devices_lock);
	list_add_tail(&dev->entry, &verbs_devices);
	mutex_unlock(&verbs_devices_lock);
	return 0;
}

static void verbs_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct verbs_device *dev = client_data;
	struct verbs_srx *srx;
	struct verbs_ep *ep;

	mutex_lock(&verbs_devices_lock);
	list_del(&dev->entry);
	mutex_unlock(&verbs_devices_lock);

	mutex_lock(&dev->lock);
	dev->gone = true;
	list_for_each_entry(ep, &dev->eps, dev_entry)
		verbs_cm_device_gone(ep);
	list_for_each_entry(srx, &dev->srxs, dev_entry)
		verbs_srx_device_gone(srx);
	mutex_unlock(&dev->lock);

	verbs_device_put(dev);
	wait_for_completion(&dev->idle);
	kfree(dev);
}

struct verbs_device *verbs_device_get(const struct ib_device *ibdev)
{
	struct verbs_device *dev, *found = NULL;

	mutex_lock(&verbs_devices_lock);
	list_for_each_entry(dev, &verbs_devices, entry) {
		if (dev->ibdev == ibdev) {
			refcount_inc(&dev->users);
			found = dev;
			break;
		}
	}
	mutex_unlock(&verbs_devices_lock);
	return found;
}

struct verbs_device *verbs_device_get_by_name(const char *name)
{
	struct verbs_device *dev, *found = NULL;

	mutex_lock(&verbs_devices_lock);
	list_for_each_entry(dev, &verbs_devices, entry) {
		if (!strcmp(dev_name(&dev->ibdev->dev), name)) {
			refcount_inc(&dev->users);
			found = dev;
			break;
		}
	}
	mutex_unlock(&verbs_devices_lock);
	return found;
}

void verbs_device_put(struct verbs_device *dev)
{
	if (refcount_dec_and_test(&dev->users))
		complete(&dev->idle);
}

int verbs_device_add_ep(struct verbs_device *dev, struct verbs_ep *ep)
{
	int ret = -ENODEV;

	mutex_lock(&dev->lock);
	if (!dev->gone) {
		list_add_tail(&ep->dev_entry, &dev->eps);
		ret = 0;
	}
	mutex_unlock(&dev->lock);
	return ret;
}

void verbs_device_del_ep(struct verbs_device *dev, struct verbs_ep *ep)
{
	mutex_lock(&dev->lock);
	list_del(&ep->dev_entry);
	mutex_unlock(&dev->lock);
}

int verbs_device_add_srx(struct verbs_device *dev, struct verbs_srx *srx)
{
	int ret = -ENODEV;

	mutex_lock(&dev->lock);
	if (!dev->gone) {
		list_add_tail(&srx->dev_entry, &dev->srxs);
		ret = 0;
	}
	mutex_unlock(&dev->lock);
	return ret;
}

void verbs_device_del_srx(struct verbs_device *dev, struct verbs_srx *srx)
{
	mutex_lock(&dev->lock);
	list_del(&srx->dev_entry);
	mutex_unlock(&dev->lock);
}

int verbs_devices_init(void)
{
	return ib_register_client(&verbs_client);
}

void verbs_devices_exit(void)
{
	ib_unregister_client(&verbs_client);
}
