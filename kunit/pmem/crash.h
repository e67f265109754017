/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An emulated NVDIMM, and what a crash may make of it.
 *
 * The target's region is ordinary memory.  The write-back hook copies the lines that it is
 * handed, and nothing else, into the medium: a file of the host's which this kernel has mapped
 * (iomem= of User-Mode Linux).  If the host kills the machine, the file keeps what is in it.
 *
 * Beside the medium the file has a page in which the initiator notes how far its saves have
 * come: &struct crash_note.
 */
#ifndef _KUNIT_PMEM_CRASH_H
#define _KUNIT_PMEM_CRASH_H

#include <linux/sizes.h>
#include <linux/types.h>

#define CRASH_LEN	SZ_64K		/* bytes of the region */
#define CRASH_LINE	64
#define CRASH_WRITES	8		/* of a batch, at most */
#define CRASH_MAX	2000		/* bytes of a write, at most */
#define CRASH_MAGIC	0x6b4f464970635258ULL

/**
 * struct crash_note - How far the initiator has come; in the first page of the file
 * @magic: CRASH_MAGIC: there is something to be checked
 * @seed: what the batches of writes are made from
 * @durable: saves were to make batches durable (FI_COMMIT_COMPLETE); 0: they were not
 * @saved: batches whose save has completed
 */
struct crash_note {
	u64	magic;
	u64	seed;
	u64	durable;
	u64	saved;
};

/**
 * struct crash_write - A write of a batch
 * @offset: in the region
 * @len: bytes
 * @byte: all of them are this
 */
struct crash_write {
	size_t	offset;
	size_t	len;
	u8	byte;
};

/* The writes of a batch, always the same; returns how many */
u32 crash_batch(u64 seed, u64 batch, struct crash_write *writes);

/**
 * struct crash_media - The NVDIMM
 * @note: the first page of the file
 * @data: the medium, CRASH_LEN bytes
 * @mem: memory in front of it, which a region may be made of
 */
struct crash_media {
	struct crash_note	*note;
	u8			*data;
	u8			*mem;
};

/* -ENODEV: the machine was started without the file, or it is too short; -ENOMEM */
int crash_media_open(struct crash_media *media);
void crash_media_close(struct crash_media *media);

/**
 * crash_check() - Is the medium as a crash may leave it?
 * @media: the NVDIMM, with a note
 * @bad: the first byte that is not
 * @unsaved: bytes that are there without having been saved, which is no mistake
 *
 * Every byte is that of the batches that were saved, or of a write of the batch that was
 * under way.  If saves were not to make anything durable, every byte is 0.
 *
 * Return: 0; -EIO: byte @bad is another; -ENOMEM.
 */
int crash_check(const struct crash_media *media, size_t *bad, size_t *unsaved);

#endif /* _KUNIT_PMEM_CRASH_H */
