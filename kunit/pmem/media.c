// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An emulated NVDIMM; see crash.h.
 */
#include <linux/align.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <kofi/pmem.h>
#include "crash.h"

static struct crash_media *crash_media;

u32 crash_batch(u64 seed, u64 batch, struct crash_write *writes)
{
	struct rnd_state rnd;
	u32 i, count;

	prandom_seed_state(&rnd, seed ^ (batch << 20));
	count = 1 + prandom_u32_state(&rnd) % CRASH_WRITES;
	for (i = 0; i < count; i++) {
		writes[i].offset = prandom_u32_state(&rnd) % (CRASH_LEN - CRASH_MAX);
		writes[i].len = 1 + prandom_u32_state(&rnd) % CRASH_MAX;
		writes[i].byte = 1 + prandom_u32_state(&rnd) % 255;
	}
	return count;
}

static bool crash_is_persistent(const void *addr, size_t len)
{
	return addr >= (void *)crash_media->mem &&
	       addr + len <= (void *)crash_media->mem + CRASH_LEN;
}

static void crash_write_back(void *addr, size_t len)
{
	size_t begin = ALIGN_DOWN((u8 *)addr - crash_media->mem, CRASH_LINE);
	size_t end = ALIGN((u8 *)addr + len - crash_media->mem, CRASH_LINE);

	memcpy(crash_media->data + begin, crash_media->mem + begin, end - begin);
}

/* A line is durable when it is in the file */
static void crash_fence(void)
{
	barrier();
}

static const struct kofi_pmem_ops crash_ops = {
	.is_persistent	= crash_is_persistent,
	.write_back	= crash_write_back,
	.fence		= crash_fence,
	.owner		= THIS_MODULE,
};

int crash_media_open(struct crash_media *media, bool direct)
{
	void *addr = crash_medium_open(PAGE_SIZE + CRASH_LEN);

	if (IS_ERR(addr))
		return PTR_ERR(addr);
	media->note = addr;
	media->data = addr + PAGE_SIZE;
	media->mem = media->data;
	if (direct)
		return 0;
	media->mem = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(CRASH_LEN));
	if (!media->mem) {
		crash_medium_close();
		return -ENOMEM;
	}
	crash_media = media;
	kofi_pmem_set_ops(&crash_ops);
	return 0;
}

void crash_media_close(struct crash_media *media)
{
	if (media->mem != media->data) {
		kofi_pmem_set_ops(NULL);
		free_pages((unsigned long)media->mem, get_order(CRASH_LEN));
	}
	crash_medium_close();
}

/* Which bytes of the medium are those of some write of this batch? */
static void crash_mark(const struct crash_media *media, u64 batch, u8 *marks)
{
	struct crash_write writes[CRASH_WRITES];
	u32 i, count = crash_batch(media->note->seed, batch, writes);
	size_t at;

	for (i = 0; i < count; i++)
		for (at = writes[i].offset; at < writes[i].offset + writes[i].len; at++)
			marks[at] |= media->data[at] == writes[i].byte;
}

static void crash_replay(const struct crash_note *note, u8 *state)
{
	struct crash_write writes[CRASH_WRITES];
	u32 i, count;
	u64 batch;

	for (batch = 1; batch <= note->saved; batch++) {
		count = crash_batch(note->seed, batch, writes);
		for (i = 0; i < count; i++)
			memset(state + writes[i].offset, writes[i].byte, writes[i].len);
	}
}

int crash_check(const struct crash_media *media, size_t *bad, size_t *unsaved)
{
	u8 *state = kvzalloc(CRASH_LEN, GFP_KERNEL), *marks = kvzalloc(CRASH_LEN, GFP_KERNEL);
	int ret = state && marks ? 0 : -ENOMEM;
	size_t at;

	*unsaved = 0;
	if (!ret && media->note->durable) {
		crash_replay(media->note, state);
		crash_mark(media, media->note->saved + 1, marks);
	}
	for (at = 0; !ret && at < CRASH_LEN; at++) {
		if (media->data[at] == state[at])
			continue;
		if (marks[at]) {
			++*unsaved;
			continue;
		}
		*bad = at;
		ret = -EIO;
	}
	kvfree(marks);
	kvfree(state);
	return ret;
}
