// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages with a pattern: each byte follows from its position and a seed.
 *
 * The pattern repeats after a prime number of bytes, so no two pages have one, and each span of a
 * page is a span of one table.  Copying and comparing that costs an emulated machine a hundredth
 * of what computing each byte does.
 */
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "node.h"

#define BULK_PERIOD	4093
#define BULK_SHIFT	97	/* positions by which a seed moves the pattern */

static u8 bulk_pattern[BULK_PERIOD + PAGE_SIZE] __read_mostly;

/* Before anything else here is called */
void __init bulk_pattern_init(void)
{
	u32 i;

	for (i = 0; i < sizeof(bulk_pattern); i++)
		bulk_pattern[i] = (i % BULK_PERIOD + 1) * 2654435761U >> 24;
}

/* The pattern from a position on, which goes on for PAGE_SIZE bytes */
static const u8 *bulk_pattern_at(size_t pos, u8 seed)
{
	return bulk_pattern + (pos + seed * BULK_SHIFT) % BULK_PERIOD;
}

void bulk_fill(u8 *buf, size_t len, size_t pos, u8 seed)
{
	size_t part;

	for (; len; len -= part, buf += part, pos += part) {
		part = min_t(size_t, len, PAGE_SIZE);
		memcpy(buf, bulk_pattern_at(pos, seed), part);
	}
}

bool bulk_filled(const u8 *buf, size_t len, size_t pos, u8 seed)
{
	size_t part;

	for (; len; len -= part, buf += part, pos += part) {
		part = min_t(size_t, len, PAGE_SIZE);
		if (memcmp(buf, bulk_pattern_at(pos, seed), part))
			return false;
	}
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
