/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Persistent memory at the target: regions with FI_RMA_PMEM.
 *
 * A region has a record of the bytes that peers have written and not saved yet.
 * kofi_rma_done() adds the ranges of a write after the copy, so a range is in the record only
 * when its bytes are in the memory.  Two functions of kofi/rma.h make bytes durable:
 *
 *	kofi_rma_commit()	the ranges of one write (FI_COMMIT_COMPLETE)
 *	kofi_rma_save()		the ranges in the record of each region (FI_SAVE)
 *
 * Both pass cache lines to kofi_pmem_ops.write_back and call kofi_pmem_ops.fence at their end;
 * nothing else in kOFI makes memory durable.
 *
 * The record is bounded: KOFI_PMEM_RANGES ranges, and a write that touches a range extends it.
 * If there are more ranges, the next save writes the whole region back.
 *
 * Locks: kofi_pmem.save is held while a save runs.  So a save that finds the record empty has
 * waited for the save that has emptied it, and all bytes are durable when it returns.
 * kofi_pmem.lock guards the record and is held for a bounded time.
 */
#ifndef _KOFI_PMEM_H
#define _KOFI_PMEM_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct kofi_mr;
struct module;

#define KOFI_PMEM_RANGES	16

/**
 * struct kofi_pmem_ops - How memory is made durable
 * @is_persistent: may these bytes, in the kernel's own map, be part of a region with
 *	FI_RMA_PMEM?  May sleep
 * @write_back: begin to write the cache lines of these bytes back.  Must not sleep
 * @fence: when this returns, all bytes that this task has passed to @write_back are durable.
 *	Must not sleep
 * @owner: stays while a region uses the table
 */
struct kofi_pmem_ops {
	bool		(*is_persistent)(const void *addr, size_t len);
	void		(*write_back)(void *addr, size_t len);
	void		(*fence)(void);
	struct module	*owner;
};

/**
 * struct kofi_pmem_range - Bytes of a region
 * @begin: offset of the first one
 * @end: offset behind the last one
 */
struct kofi_pmem_range {
	size_t	begin;
	size_t	end;
};

/**
 * struct kofi_pmem_record - What has been written and not been saved
 * @count: elements of @range
 * @all: there were too many ranges, so the record stands for the whole region
 * @range: the ranges
 */
struct kofi_pmem_record {
	u32			count;
	bool			all;
	struct kofi_pmem_range	range[KOFI_PMEM_RANGES];
};

/**
 * struct kofi_pmem - Additional fields of a region with FI_RMA_PMEM
 * @ops: how its memory is made durable; chosen when it is registered
 * @save: held while a save runs
 * @lock: guards @record; taken with interrupts off
 * @record: what the next save has to write back
 */
struct kofi_pmem {
	const struct kofi_pmem_ops	*ops;
	struct mutex			save;		/* see the top */
	spinlock_t			lock;		/* of record */
	struct kofi_pmem_record		record;
};

/**
 * kofi_pmem_set_ops() - Replace how memory is made durable, for tests
 * @ops: for regions that are registered from now on; NULL: the architecture's
 *
 * Regions that are there keep what they have.
 *
 * Context: any.
 */
void kofi_pmem_set_ops(const struct kofi_pmem_ops *ops);

/**
 * kofi_pmem_init() - Make a region one of persistent memory
 * @mr: a region that has its memory and no key yet
 *
 * The architecture's check requires three things.  ACPI describes the memory as persistent; a
 * driver of libnvdimm has put it into the kernel's map with pages (a DAX device); and the
 * processor can write cache lines back.
 *
 * Context: may sleep.
 * Return: 0, and kofi_pmem_free() is due; -EINVAL: some of the memory is not persistent;
 * -ENODEV: the module that is to make it durable is being unloaded; -ENOMEM.
 */
int kofi_pmem_init(struct kofi_mr *mr);

/**
 * kofi_pmem_free() - Undo kofi_pmem_init()
 * @mr: a region without accesses under way; of persistent memory or not
 *
 * Context: may sleep.
 */
void kofi_pmem_free(struct kofi_mr *mr);

/**
 * kofi_pmem_written() - Add bytes to the record
 * @mr: a region of persistent memory, with a reference
 * @offset: of the first byte, which is in the memory already
 * @len: bytes
 *
 * Context: any.
 */
void kofi_pmem_written(struct kofi_mr *mr, size_t offset, size_t len);

/**
 * kofi_pmem_write_back() - Make bytes durable, whether the record has them or not
 * @mr: a region of persistent memory, with a reference
 * @offset: of the first byte
 * @len: bytes
 *
 * They are durable after the next kofi_pmem_ops.fence.
 *
 * Context: may sleep.
 */
void kofi_pmem_write_back(struct kofi_mr *mr, size_t offset, size_t len);

/**
 * kofi_pmem_save() - Make the bytes in the record durable, and empty the record
 * @mr: a region of persistent memory, with a reference
 *
 * Context: may sleep.
 */
void kofi_pmem_save(struct kofi_mr *mr);

#endif /* _KOFI_PMEM_H */
