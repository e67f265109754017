// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that is persistent for the length of a case.
 */
#include <linux/align.h>
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/pmem.h>
#include "pmem.h"

static struct vt_pmem *vt_pmem_now;

static bool vt_pmem_is_persistent(const void *addr, size_t len)
{
	const struct vt_pmem *pmem = vt_pmem_now;

	return addr >= (void *)pmem->mem && addr + len <= (void *)pmem->mem + pmem->len;
}

static void vt_pmem_write_back(void *addr, size_t len)
{
	struct vt_pmem *pmem = vt_pmem_now;
	size_t offset = (u8 *)addr - pmem->mem;
	size_t begin = ALIGN_DOWN(offset, VT_PMEM_LINE);
	size_t end = ALIGN(offset + len, VT_PMEM_LINE);
	unsigned long flags;

	spin_lock_irqsave(&pmem->lock, flags);
	memcpy(pmem->handed + begin, pmem->mem + begin, end - begin);
	bitmap_set(pmem->due, begin / VT_PMEM_LINE, (end - begin) / VT_PMEM_LINE);
	pmem->lines += (end - begin) / VT_PMEM_LINE;
	spin_unlock_irqrestore(&pmem->lock, flags);
}

static void vt_pmem_fence(void)
{
	struct vt_pmem *pmem = vt_pmem_now;
	unsigned long flags, line;

	spin_lock_irqsave(&pmem->lock, flags);
	for_each_set_bit(line, pmem->due, pmem->len / VT_PMEM_LINE)
		memcpy(pmem->media + line * VT_PMEM_LINE, pmem->handed + line * VT_PMEM_LINE,
		       VT_PMEM_LINE);
	bitmap_zero(pmem->due, pmem->len / VT_PMEM_LINE);
	pmem->fences++;
	spin_unlock_irqrestore(&pmem->lock, flags);
}

static const struct kofi_pmem_ops vt_pmem_ops = {
	.is_persistent	= vt_pmem_is_persistent,
	.write_back	= vt_pmem_write_back,
	.fence		= vt_pmem_fence,
	.owner		= THIS_MODULE,
};

static void vt_pmem_end(void *data)
{
	kofi_pmem_set_ops(NULL);
}

struct vt_pmem *vt_pmem(struct kunit *test, size_t len)
{
	struct vt_pmem *pmem = vt_buf(test, sizeof(*pmem));

	pmem->len = len;
	pmem->mem = PTR_ALIGN((u8 *)vt_buf(test, len + VT_PMEM_LINE), VT_PMEM_LINE);
	pmem->media = vt_buf(test, len);
	pmem->handed = vt_buf(test, len);
	pmem->due = vt_buf(test, BITS_TO_LONGS(len / VT_PMEM_LINE) * sizeof(long));
	spin_lock_init(&pmem->lock);
	vt_pmem_now = pmem;
	kofi_pmem_set_ops(&vt_pmem_ops);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_pmem_end, NULL), 0);
	return pmem;
}
EXPORT_SYMBOL_GPL(vt_pmem);
