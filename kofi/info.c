// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The life of struct fi_info: make, copy, free.
 *
 * A fi_info owns everything it points to, except handle, fabric_attr->fabric,
 * fabric_attr->net and domain_attr->domain: fi_dupinfo() copies these pointers as they
 * are.  Attributes and the nic lie in one block with their fi_info, which has its end for
 * that.  Names, addresses and keys are allocations of their own: a client frees and replaces
 * them.  It may replace any other piece, too: what is not in the block is freed by itself.
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

/**
 * struct kofi_nic_block - A nic in the block of its fi_info
 * @nic: what the client has
 * @device: its device_attr
 * @bus: its bus_attr
 * @link: its link_attr
 * @strings: theirs, one behind the other
 */
struct kofi_nic_block {
	struct fid_nic		nic;
	struct fi_device_attr	device;
	struct fi_bus_attr	bus;
	struct fi_link_attr	link;
	char			strings[];
};

/**
 * struct kofi_info_block - What fi_dupinfo() allocates
 * @info: what the client has
 * @end: the byte behind the block
 * @tx: its tx_attr
 * @rx: its rx_attr
 * @ep: its ep_attr
 * @domain: its domain_attr
 * @fabric: its fabric_attr
 * @nic: its nic, if there is one
 */
struct kofi_info_block {
	struct fi_info		info;
	void			*end;
	struct fi_tx_attr	tx;
	struct fi_rx_attr	rx;
	struct fi_ep_attr	ep;
	struct fi_domain_attr	domain;
	struct fi_fabric_attr	fabric;
	struct kofi_nic_block	nic;
};

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

/* Copies a piece to its place in the block, if there is one; returns the copy */
static void *put_piece(void *to, const void *from, size_t size)
{
	return from ? memcpy(to, from, size) : NULL;
}

static size_t string_size(const char *string)
{
	return string ? strlen(string) + 1 : 0;
}

static size_t nic_strings_size(const struct fid_nic *nic)
{
	const struct fi_device_attr *device = nic->device_attr;
	const struct fi_link_attr *link = nic->link_attr;
	size_t size = 0;

	if (device)
		size += string_size(device->name) + string_size(device->device_id) +
			string_size(device->device_version) + string_size(device->vendor_id) +
			string_size(device->driver) + string_size(device->firmware);
	if (link)
		size += string_size(link->address) + string_size(link->network_type);
	return size;
}

static size_t block_size(const struct fi_info *info)
{
	if (!info->nic)
		return offsetof(struct kofi_info_block, nic);
	return sizeof(struct kofi_info_block) + nic_strings_size(info->nic);
}

/* Moves *@at behind the copy of *@string, which then is the copy */
static void put_string(char **string, char **at)
{
	size_t size = string_size(*string);

	if (!size)
		return;
	*string = memcpy(*at, *string, size);
	*at += size;
}

/*
 * A copied nic is a description and no object: all of its calls are fillers.  Only the
 * provider knows the size of prov_attr, so prov_attr is not copied.
 */
static struct fid_nic *put_nic(struct kofi_nic_block *to, const struct fid_nic *from)
{
	char *at = to->strings;

	to->nic = (struct fid_nic) {
		.fid.fclass	= FI_CLASS_NIC,
		.fid.ops	= &kofi_no_ops,
		.device_attr	= put_piece(&to->device, from->device_attr, sizeof(to->device)),
		.bus_attr	= put_piece(&to->bus, from->bus_attr, sizeof(to->bus)),
		.link_attr	= put_piece(&to->link, from->link_attr, sizeof(to->link)),
	};
	if (from->device_attr) {
		put_string(&to->device.name, &at);
		put_string(&to->device.device_id, &at);
		put_string(&to->device.device_version, &at);
		put_string(&to->device.vendor_id, &at);
		put_string(&to->device.driver, &at);
		put_string(&to->device.firmware, &at);
	}
	if (from->link_attr) {
		put_string(&to->link.address, &at);
		put_string(&to->link.network_type, &at);
	}
	return &to->nic;
}

static void put_pieces(struct kofi_info_block *block)
{
	struct fi_info *info = &block->info;

	info->tx_attr = put_piece(&block->tx, info->tx_attr, sizeof(block->tx));
	info->rx_attr = put_piece(&block->rx, info->rx_attr, sizeof(block->rx));
	info->ep_attr = put_piece(&block->ep, info->ep_attr, sizeof(block->ep));
	info->domain_attr = put_piece(&block->domain, info->domain_attr, sizeof(block->domain));
	info->fabric_attr = put_piece(&block->fabric, info->fabric_attr, sizeof(block->fabric));
	if (info->nic)
		info->nic = put_nic(&block->nic, info->nic);
	info->next = NULL;
}

/* Replaces names, addresses and keys, which are still those of the original */
static void dup_pieces(struct fi_info *info, bool *short_of_memory)
{
	info->src_addr = dup_bytes(info->src_addr, info->src_addrlen, short_of_memory);
	info->dest_addr = dup_bytes(info->dest_addr, info->dest_addrlen, short_of_memory);
	if (info->ep_attr)
		info->ep_attr->auth_key = dup_bytes(info->ep_attr->auth_key,
						    info->ep_attr->auth_key_size,
						    short_of_memory);
	if (info->domain_attr) {
		info->domain_attr->name = dup_string(info->domain_attr->name, short_of_memory);
		info->domain_attr->auth_key = dup_bytes(info->domain_attr->auth_key,
							info->domain_attr->auth_key_size,
							short_of_memory);
	}
	if (info->fabric_attr) {
		info->fabric_attr->name = dup_string(info->fabric_attr->name, short_of_memory);
		info->fabric_attr->prov_name = dup_string(info->fabric_attr->prov_name,
							  short_of_memory);
	}
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
	struct kofi_info_block *block;
	bool short_of_memory = false;
	size_t size;

	might_sleep();
	if (!info)
		info = &empty_info;

	size = block_size(info);
	block = kmalloc(size, GFP_KERNEL);
	if (!block)
		return NULL;

	block->info = *info;
	block->end = (void *)block + size;
	put_pieces(block);
	dup_pieces(&block->info, &short_of_memory);
	if (short_of_memory) {
		fi_freeinfo(&block->info);
		return NULL;
	}
	return &block->info;
}
EXPORT_SYMBOL_GPL(fi_dupinfo);

/* Frees what is not in the block */
static void free_piece(const struct kofi_info_block *block, void *piece)
{
	if (piece < (void *)block || piece >= block->end)
		kfree(piece);
}

static void free_nic(const struct kofi_info_block *block, struct fid_nic *nic)
{
	if (!nic)
		return;

	if (nic->device_attr) {
		free_piece(block, nic->device_attr->name);
		free_piece(block, nic->device_attr->device_id);
		free_piece(block, nic->device_attr->device_version);
		free_piece(block, nic->device_attr->vendor_id);
		free_piece(block, nic->device_attr->driver);
		free_piece(block, nic->device_attr->firmware);
		free_piece(block, nic->device_attr);
	}
	if (nic->link_attr) {
		free_piece(block, nic->link_attr->address);
		free_piece(block, nic->link_attr->network_type);
		free_piece(block, nic->link_attr);
	}
	free_piece(block, nic->bus_attr);
	free_piece(block, nic);
}

/* One fi_info; keys may be secrets */
static void free_one(struct fi_info *info)
{
	struct kofi_info_block *block = container_of(info, struct kofi_info_block, info);

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
	free_nic(block, info->nic);
	free_piece(block, info->fabric_attr);
	free_piece(block, info->domain_attr);
	free_piece(block, info->ep_attr);
	free_piece(block, info->rx_attr);
	free_piece(block, info->tx_attr);
	kfree(info->dest_addr);
	kfree(info->src_addr);
	kfree(block);
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
