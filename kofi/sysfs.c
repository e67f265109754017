// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * /sys/class/kofi: a stable interface, described in
 * Documentation/ABI/testing/sysfs-class-kofi.
 *
 * Each registered provider is a device of the class.  The device has the provider's name; for
 * a second version of a provider the version follows the name, "verbs-1.1".  This is a class
 * and not attributes of the module, because providers come and go while kofi.ko stays, a
 * program that waits for a provider gets a uevent, and a provider's files are in a directory
 * of their own.  Open objects are not here: they are many, short-lived, and belong to a
 * network namespace; kofi-info asks for them by netlink.
 *
 * The directory is there from the end of kofi_provider_register() until
 * kofi_provider_deregister() begins.  While a file is being read, neither its device nor the
 * struct kofi_prov can go.  The files about devices ask fi_getinfo(), in the network namespace
 * of the reader; no lock is held then, and no module is loaded.
 */
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "kofi.h"
#include "query.h"

static struct kofi_prov *to_kofi_prov(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = to_kofi_prov(dev)->provider->version;

	return sysfs_emit(buf, "%u.%u\n", FI_MAJOR(version), FI_MINOR(version));
}
static DEVICE_ATTR_RO(version);

static ssize_t api_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = to_kofi_prov(dev)->version;

	return sysfs_emit(buf, "%u.%u\n", FI_MAJOR(version), FI_MINOR(version));
}
static DEVICE_ATTR_RO(api_version);

static ssize_t module_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct module *owner = to_kofi_prov(dev)->provider->owner;

	return sysfs_emit(buf, "%s\n", owner ? owner->name : "");
}
static DEVICE_ATTR_RO(module);

static ssize_t references_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", refcount_read(&to_kofi_prov(dev)->refs));
}
static DEVICE_ATTR_RO(references);

/* New calls go to another version of the name */
static bool is_shadowed(const struct kofi_prov *prov)
{
	struct kofi_prov *seen = kofi_prov_get(prov->provider->name, 0);

	if (seen)
		kofi_prov_put(seen);
	return seen != prov;
}

/* The results of fi_getinfo() for the provider's name; NULL: there are none */
static struct fi_info *find_infos(const struct kofi_prov *prov)
{
	struct fi_fabric_attr fabric = { .prov_name = (char *)prov->provider->name };
	/* Any mode can be followed */
	const struct fi_info hints = { .mode = U64_MAX, .fabric_attr = &fabric };
	struct kofi_query query = {
		.version	= KOFI_API_VERSION,
		.may_not_load	= true,
	};
	int count;

	if (is_shadowed(prov) || kofi_getinfo(&query, &hints, NULL, 0, &count))
		return NULL;
	return query.results;
}

/* Is the domain of @info that of an earlier result? */
static bool is_known(const struct fi_info *list, const struct fi_info *info)
{
	for (; list != info; list = list->next)
		if (!strcmp(list->domain_attr->name, info->domain_attr->name))
			return true;
	return false;
}

/* A file of sysfs has a page: a list that is longer ends with "..." in place of a name */
static ssize_t domains_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char more[] = "...\n";
	struct fi_info *list = find_infos(to_kofi_prov(dev)), *info;
	int len = 0;

	for (info = list; info; info = info->next) {
		if (is_known(list, info))
			continue;
		if (len + strlen(info->domain_attr->name) + 1 + strlen(more) >= PAGE_SIZE) {
			len += sysfs_emit_at(buf, len, "%s", more);
			break;
		}
		len += sysfs_emit_at(buf, len, "%s\n", info->domain_attr->name);
	}
	fi_freeinfo(list);
	return len;
}
static DEVICE_ATTR_RO(domains);

static struct attribute *kofi_attrs[] = {
	&dev_attr_version.attr,
	&dev_attr_api_version.attr,
	&dev_attr_module.attr,
	&dev_attr_references.attr,
	&dev_attr_domains.attr,
	NULL
};

static const struct attribute_group kofi_group = { .attrs = kofi_attrs };

/**
 * struct kofi_limit - A file of limits/
 * @attr: the file
 * @of: returns the limit of a result
 */
struct kofi_limit {
	struct device_attribute	attr;
	size_t			(*of)(const struct fi_info *info);
};

/* The highest of all results */
static ssize_t limit_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct kofi_limit *limit = container_of(attr, struct kofi_limit, attr);
	struct fi_info *list = find_infos(to_kofi_prov(dev)), *info;
	size_t most = 0;

	for (info = list; info; info = info->next)
		most = max(most, limit->of(info));
	fi_freeinfo(list);
	return sysfs_emit(buf, "%zu\n", most);
}

#define LIMIT(name, limit)						\
	static size_t name##_of(const struct fi_info *info)		\
	{								\
		return limit;						\
	}								\
	static struct kofi_limit limit_##name = {			\
		.attr = __ATTR(name, 0444, limit_show, NULL),		\
		.of = name##_of,					\
	}

LIMIT(max_msg_size, info->ep_attr->max_msg_size);
LIMIT(inject_size, info->tx_attr->inject_size);
LIMIT(tx_size, info->tx_attr->size);
LIMIT(rx_size, info->rx_attr->size);
LIMIT(iov_limit, info->tx_attr->iov_limit);
LIMIT(rma_iov_limit, info->tx_attr->rma_iov_limit);
LIMIT(cq_data_size, info->domain_attr->cq_data_size);

static struct attribute *limit_attrs[] = {
	&limit_max_msg_size.attr.attr,
	&limit_inject_size.attr.attr,
	&limit_tx_size.attr.attr,
	&limit_rx_size.attr.attr,
	&limit_iov_limit.attr.attr,
	&limit_rma_iov_limit.attr.attr,
	&limit_cq_data_size.attr.attr,
	NULL
};

static const struct attribute_group limit_group = {
	.name	= "limits",
	.attrs	= limit_attrs,
};

static const struct attribute_group *kofi_groups[] = { &kofi_group, &limit_group, NULL };

static struct class kofi_class = {
	.name		= "kofi",
	.dev_groups	= kofi_groups,
};

static int kofi_sysfs_add(struct kofi_prov *prov, bool beside)
{
	const struct kofi_provider *provider = prov->provider;
	char version[16] = "";

	if (beside)
		snprintf(version, sizeof(version), "-%u.%u", FI_MAJOR(provider->version),
			 FI_MINOR(provider->version));
	prov->dev = device_create(&kofi_class, NULL, MKDEV(0, 0), prov, "%s%s", provider->name,
				  version);
	return PTR_ERR_OR_ZERO(prov->dev);
}

static void kofi_sysfs_remove(struct kofi_prov *prov)
{
	device_unregister(prov->dev);
}

static const struct kofi_prov_ops kofi_sysfs_ops = {
	.added		= kofi_sysfs_add,
	.removed	= kofi_sysfs_remove,
};

int kofi_sysfs_init(void)
{
	kofi_prov_set_ops(&kofi_sysfs_ops);
	return class_register(&kofi_class);
}

void kofi_sysfs_exit(void)
{
	class_unregister(&kofi_class);
}
