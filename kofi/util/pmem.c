// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory at the target; see include/kofi/pmem.h.
 *
 * Life of a region
 *
 *	fi_mr_regattr()		kofi_pmem_init() asks the current &struct kofi_pmem_ops whether
 *				each byte is persistent, and keeps its module loaded
 *	a write of a peer	kofi_pmem_written(), after the copy
 *	FI_COMMIT_COMPLETE	kofi_pmem_write_back() of the write's own ranges, and the fence;
 *				the write does not enter the record
 *	FI_SAVE			kofi_pmem_save()
 *	fi_close()		kofi_pmem_free(); what was not saved may be lost
 *
 * kofi_pmem_arch_ops relies on two facts: the processor writes cache lines back
 * (arch_wb_cache_pmem()), and the platform's power-fail domain begins at the memory controller
 * (ADR).  Memory that needs a call to its device, as virtio-pmem does, has no resource of
 * IORES_DESC_PERSISTENT_MEMORY, and is refused.
 */
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <kofi/iov.h>
#include <kofi/mr_map.h>
#include <kofi/pmem.h>
#include <kofi/refuse.h>

/* Bytes written back between two calls of cond_resched() */
#define KOFI_PMEM_STEP	SZ_1M

/* Has a driver added the page (ZONE_DEVICE)?  Otherwise it is ordinary memory */
static bool kofi_pmem_is_device(const void *addr)
{
	return virt_addr_valid(addr) && is_zone_device_page(virt_to_page(addr));
}

static bool kofi_pmem_arch_is_persistent(const void *addr, size_t len)
{
	/* The resource also covers what is between the two ends */
	return IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) && kofi_pmem_is_device(addr) &&
	       kofi_pmem_is_device(addr + len - 1) &&
	       region_intersects(virt_to_phys((void *)addr), len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY) == REGION_INTERSECTS;
}

static void kofi_pmem_arch_fence(void)
{
	/* The processor orders later accesses behind what arch_wb_cache_pmem() has begun */
	wmb();
}

static const struct kofi_pmem_ops kofi_pmem_arch_ops = {
	.is_persistent	= kofi_pmem_arch_is_persistent,
	.write_back	= arch_wb_cache_pmem,
	.fence		= kofi_pmem_arch_fence,
	.owner		= THIS_MODULE,
};

static const struct kofi_pmem_ops *kofi_pmem_ops = &kofi_pmem_arch_ops;

void kofi_pmem_set_ops(const struct kofi_pmem_ops *ops)
{
	WRITE_ONCE(kofi_pmem_ops, ops ? : &kofi_pmem_arch_ops);
}
EXPORT_SYMBOL_GPL(kofi_pmem_set_ops);

static bool kofi_pmem_is_persistent(const struct kofi_mr *mr,
				    const struct kofi_pmem_ops *ops)
{
	const struct kofi_iov *iov = mr->iov;
	const void *addr;
	size_t len;
	u32 i;

	for (i = 0; i < iov->count; i++) {
		len = iov->pages ? iov->bvec[i].bv_len : iov->kvec[i].iov_len;
		addr = iov->pages ? page_address(iov->bvec[i].bv_page) : iov->kvec[i].iov_base;
		if (iov->pages && addr)
			addr += iov->bvec[i].bv_offset;
		if (len && (!addr || !ops->is_persistent(addr, len)))
			return false;
	}
	return true;
}

/* The ops, with a reference to their module; NULL: it is being removed */
static const struct kofi_pmem_ops *kofi_pmem_get_ops(void)
{
	const struct kofi_pmem_ops *ops;

	/* A module is freed after a grace period */
	rcu_read_lock();
	ops = READ_ONCE(kofi_pmem_ops);
	if (!try_module_get(ops->owner))
		ops = NULL;
	rcu_read_unlock();
	return ops;
}

int kofi_pmem_init(struct kofi_mr *mr)
{
	const struct kofi_pmem_ops *ops = kofi_pmem_get_ops();
	int ret = -ENOMEM;

	if (!ops)
		return kofi_refuse("mr_regattr", -ENODEV, "FI_RMA_PMEM: nothing on this machine makes writes durable");
	if (!kofi_pmem_is_persistent(mr, ops)) {
		ret = kofi_refuse("mr_regattr", -EINVAL, "FI_RMA_PMEM: the memory is not persistent");
		goto put_module;
	}
	mr->pmem = kzalloc(sizeof(*mr->pmem), GFP_KERNEL);
	if (!mr->pmem)
		goto put_module;
	mr->pmem->ops = ops;
	mutex_init(&mr->pmem->save);
	spin_lock_init(&mr->pmem->lock);
	return 0;

put_module:
	module_put(ops->owner);
	return ret;
}

void kofi_pmem_free(struct kofi_mr *mr)
{
	if (!mr->pmem)
		return;
	module_put(mr->pmem->ops->owner);
	mutex_destroy(&mr->pmem->save);
	kfree(mr->pmem);
}

/* Joins the bytes with a range that they touch; false: there is none */
static bool kofi_pmem_join(struct kofi_pmem_record *record, size_t begin, size_t end)
{
	struct kofi_pmem_range *range = record->range;

	for (; range < record->range + record->count; range++) {
		if (begin > range->end || end < range->begin)
			continue;
		range->begin = min(begin, range->begin);
		range->end = max(end, range->end);
		return true;
	}
	return false;
}

void kofi_pmem_written(struct kofi_mr *mr, size_t offset, size_t len)
{
	struct kofi_pmem *pmem = mr->pmem;
	struct kofi_pmem_record *record = &pmem->record;
	unsigned long flags;

	if (!len)
		return;
	spin_lock_irqsave(&pmem->lock, flags);
	if (!record->all && !kofi_pmem_join(record, offset, offset + len)) {
		if (record->count < KOFI_PMEM_RANGES)
			record->range[record->count++] = (struct kofi_pmem_range) {
				.begin	= offset,
				.end	= offset + len,
			};
		else
			record->all = true;
	}
	spin_unlock_irqrestore(&pmem->lock, flags);
}

void kofi_pmem_write_back(struct kofi_mr *mr, size_t offset, size_t len)
{
	struct iov_iter iter;
	size_t part;
	void *addr;

	if (!len)
		return;
	kofi_mr_iter(mr, ITER_SOURCE, offset, len, &iter);
	while (iov_iter_count(&iter)) {
		part = min_t(size_t, iov_iter_count(&iter), KOFI_PMEM_STEP);
		addr = kofi_iter_map(&iter, &part);
		mr->pmem->ops->write_back(addr, part);
		kofi_iter_unmap(&iter, addr);
		iov_iter_advance(&iter, part);
		cond_resched();
	}
}

void kofi_pmem_save(struct kofi_mr *mr)
{
	struct kofi_pmem *pmem = mr->pmem;
	struct kofi_pmem_record record;
	u32 i;

	mutex_lock(&pmem->save);
	spin_lock_irq(&pmem->lock);
	record = pmem->record;
	pmem->record.count = 0;
	pmem->record.all = false;
	spin_unlock_irq(&pmem->lock);

	if (record.all)
		kofi_pmem_write_back(mr, 0, mr->iov->len);
	for (i = 0; i < record.count && !record.all; i++)
		kofi_pmem_write_back(mr, record.range[i].begin,
				     record.range[i].end - record.range[i].begin);
	pmem->ops->fence();
	mutex_unlock(&pmem->save);
}
