// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages with a pattern: each byte follows from its position and a seed.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "node.h"

static u8 bulk_byte(size_t pos, u8 seed)
{
	return pos * 7 + pos / 251 + seed;
}

void bulk_fill(u8 *buf, size_t len, size_t pos, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = bulk_byte(pos + i, seed);
}

bool bulk_filled(const u8 *buf, size_t len, size_t pos, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != bulk_byte(pos + i, seed))
			return false;
	return true;
}

void bulk_mem_free(struct bulk_mem *mem)
{
	if (!mem)
		return;
	while (mem->count)
		__free_page(mem->page[--mem->count]);
	kfree(mem);
}

struct bulk_mem *bulk_mem_new(size_t offset, size_t len)
{
	struct bulk_mem *mem;
	size_t part;

	if (offset >= PAGE_SIZE || !len || len > BULK_PAGES * PAGE_SIZE - offset)
		return NULL;
	mem = kzalloc(sizeof(*mem), GFP_NOFS);
	for (; mem && len; offset = 0, len -= part) {
		part = min_t(size_t, len, PAGE_SIZE - offset);
		mem->page[mem->count] = alloc_page(GFP_NOFS);
		if (!mem->page[mem->count]) {
			bulk_mem_free(mem);
			return NULL;
		}
		bvec_set_page(&mem->list[mem->count], mem->page[mem->count], part, offset);
		mem->count++;
	}
	return mem;
}

static u8 *bulk_mem_part(const struct bulk_mem *mem, int i)
{
	return page_address(mem->page[i]) + mem->list[i].bv_offset;
}

void bulk_mem_fill(struct bulk_mem *mem, u8 seed)
{
	size_t pos = 0;
	int i;

	for (i = 0; i < mem->count; pos += mem->list[i++].bv_len)
		bulk_fill(bulk_mem_part(mem, i), mem->list[i].bv_len, pos, seed);
}

bool bulk_mem_is(const struct bulk_mem *mem, u8 seed)
{
	size_t pos = 0;
	int i;

	for (i = 0; i < mem->count; pos += mem->list[i++].bv_len)
		if (!bulk_filled(bulk_mem_part(mem, i), mem->list[i].bv_len, pos, seed))
			return false;
	return true;
}
