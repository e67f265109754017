// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The life of struct fi_info: make, copy, free.
 *
 * A fi_info owns everything it points to, except handle, fabric_attr->fabric,
 * fabric_attr->net and domain_attr->domain: fi_dupinfo() copies these pointers as they
 * are.  Each piece is an allocation of its own, so a client may
 * replace any of them in its hints with memory from kmalloc() and still free
 * the whole with fi_freeinfo().
 *
 * Copying goes on to the end even when memory is short.  A piece that could not be
 * allocated is NULL in the copy, so fi_freeinfo() can free the copy: no other undo is
 * needed, and one check at the end suffices.
 *
 * No function here shares data between threads, so there are no locks: the holder of a
 * fi_info keeps it unchanged during the call.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kofi/provider.h>

/* What fi_allocinfo() copies */
static const struct fi_info empty_info = {
	.tx_attr	= &(struct fi_tx_attr) {},
	.rx_attr	= &(struct fi_rx_attr) {},
	.ep_attr	= &(struct fi_ep_attr) {},
	.domain_attr	= &(struct fi_domain_attr) {},
	.fabric_attr	= &(struct fi_fabric_attr) {},
};

/* __GFP_NOWARN: @len may come from a careless client, and any length may simply fail */
static void *dup_bytes(const void *from, size_t len, bool *short_of_memory)
{
	void *to;

	if (!from || !len)
		return NULL;

	to = kmemdup(from, len, GFP_KERNEL | __GFP_NOWARN);
	if (!to)
		*short_of_memory = true;
	return to;
}

static char *dup_string(const char *from, bool *short_of_memory)
{
	return from ? dup_bytes(from, strlen(from) + 1, short_of_memory) : NULL;
}

static struct fi_ep_attr *dup_ep_attr(const struct fi_ep_attr *from,
				      bool *short_of_memory)
{
	struct fi_ep_attr *to;

	to = dup_bytes(from, sizeof(*from), short_of_memory);
	if (to)
		to->auth_key = dup_bytes(from->auth_key, from->auth_key_size,
					 short_of_memory);
	return to;
}

static struct fi_domain_attr *dup_domain_attr(const struct fi_domain_attr *from,
					      bool *short_of_memory)
{
	struct fi_domain_attr *to;

	to = dup_bytes(from, sizeof(*from), short_of_memory);
	if (to) {
		to->name = dup_string(from->name, short_of_memory);
		to->auth_key = dup_bytes(from->auth_key, from->auth_key_size,
					 short_of_memory);
	}
	return to;
}

static struct fi_fabric_attr *dup_fabric_attr(const struct fi_fabric_attr *from,
					      bool *short_of_memory)
{
	struct fi_fabric_attr *to;

	to = dup_bytes(from, sizeof(*from), short_of_memory);
	if (to) {
		to->name = dup_string(from->name, short_of_memory);
		to->prov_name = dup_string(from->prov_name, short_of_memory);
	}
	return to;
}

static struct fi_device_attr *dup_device_attr(const struct fi_device_attr *from,
					      bool *short_of_memory)
{
	struct fi_device_attr *to;

	to = dup_bytes(from, sizeof(*from), short_of_memory);
	if (to) {
		to->name = dup_string(from->name, short_of_memory);
		to->device_id = dup_string(from->device_id, short_of_memory);
		to->device_version = dup_string(from->device_version,
						short_of_memory);
		to->vendor_id = dup_string(from->vendor_id, short_of_memory);
		to->driver = dup_string(from->driver, short_of_memory);
		to->firmware = dup_string(from->firmware, short_of_memory);
	}
	return to;
}

static struct fi_link_attr *dup_link_attr(const struct fi_link_attr *from,
					  bool *short_of_memory)
{
	struct fi_link_attr *to;

	to = dup_bytes(from, sizeof(*from), short_of_memory);
	if (to) {
		to->address = dup_string(from->address, short_of_memory);
		to->network_type = dup_string(from->network_type,
					      short_of_memory);
	}
	return to;
}

/*
 * A copied nic is a description and no object: all of its calls are fillers.  Only the
 * provider knows the size of prov_attr, so prov_attr is not copied.
 */
static struct fid_nic *dup_nic(const struct fid_nic *from,
			       bool *short_of_memory)
{
	struct fid_nic *to;

	to = dup_bytes(from, sizeof(*from), short_of_memory);
	if (!to)
		return NULL;

	to->fid = (struct fid) {
		.fclass	= FI_CLASS_NIC,
		.ops	= &kofi_no_ops,
	};
	to->device_attr = dup_device_attr(from->device_attr, short_of_memory);
	to->bus_attr = dup_bytes(from->bus_attr, sizeof(*from->bus_attr),
				 short_of_memory);
	to->link_attr = dup_link_attr(from->link_attr, short_of_memory);
	to->prov_attr = NULL;
	return to;
}

static void dup_pieces(struct fi_info *to, const struct fi_info *from,
		       bool *short_of_memory)
{
	to->src_addr = dup_bytes(from->src_addr, from->src_addrlen,
				 short_of_memory);
	to->dest_addr = dup_bytes(from->dest_addr, from->dest_addrlen,
				  short_of_memory);
	to->tx_attr = dup_bytes(from->tx_attr, sizeof(*from->tx_attr),
				short_of_memory);
	to->rx_attr = dup_bytes(from->rx_attr, sizeof(*from->rx_attr),
				short_of_memory);
	to->ep_attr = dup_ep_attr(from->ep_attr, short_of_memory);
	to->domain_attr = dup_domain_attr(from->domain_attr, short_of_memory);
	to->fabric_attr = dup_fabric_attr(from->fabric_attr, short_of_memory);
	to->nic = dup_nic(from->nic, short_of_memory);
	to->next = NULL;
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
	bool short_of_memory = false;
	struct fi_info *dup;

	might_sleep();
	if (!info)
		info = &empty_info;

	dup = dup_bytes(info, sizeof(*info), &short_of_memory);
	if (!dup)
		return NULL;

	dup_pieces(dup, info, &short_of_memory);
	if (short_of_memory) {
		fi_freeinfo(dup);
		return NULL;
	}
	return dup;
}
EXPORT_SYMBOL_GPL(fi_dupinfo);

static void free_nic(struct fid_nic *nic)
{
	if (!nic)
		return;

	if (nic->device_attr) {
		kfree(nic->device_attr->name);
		kfree(nic->device_attr->device_id);
		kfree(nic->device_attr->device_version);
		kfree(nic->device_attr->vendor_id);
		kfree(nic->device_attr->driver);
		kfree(nic->device_attr->firmware);
		kfree(nic->device_attr);
	}
	if (nic->link_attr) {
		kfree(nic->link_attr->address);
		kfree(nic->link_attr->network_type);
		kfree(nic->link_attr);
	}
	kfree(nic->bus_attr);
	kfree(nic);
}

/* One fi_info; keys may be secrets */
static void free_one(struct fi_info *info)
{
	if (info->ep_attr)
		kfree_sensitive(info->ep_attr->auth_key);
	if (info->domain_attr) {
		kfree(info->domain_attr->name);
		kfree_sensitive(info->domain_attr->auth_key);
	}
	if (info->fabric_attr) {
		kfree(info->fabric_attr->name);
		kfree(info->fabric_attr->prov_name);
	}
	free_nic(info->nic);
	kfree(info->fabric_attr);
	kfree(info->domain_attr);
	kfree(info->ep_attr);
	kfree(info->rx_attr);
	kfree(info->tx_attr);
	kfree(info->dest_addr);
	kfree(info->src_addr);
	kfree(info);
}

void fi_freeinfo(struct fi_info *info)
{
	struct fi_info *next;

	for (; info; info = next) {
		next = info->next;
		free_one(info);
	}
}
EXPORT_SYMBOL_GPL(fi_freeinfo);
