/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An emulated NVDIMM, and what a crash may make of it.
 *
 * The medium is a file of the host's: in User-Mode Linux this kernel has mapped it (iomem.c),
 * elsewhere QEMU makes an NVDIMM of it (dax.c).  If the host kills the machine, the file keeps
 * what is in it.
 *
 * The target's region is ordinary memory.  The write-back hook copies the lines that it is
 * handed, and nothing else, into the medium, as stores to the medium itself would survive
 * without any write-back.  Or the region is the medium, which shows the way through the kernel's
 * own check and write-back, and no more.
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

/* iomem.c, dax.c: the file, of @len bytes at least; ERR_PTR(-ENODEV): the machine has none */
void *crash_medium_open(size_t len);
void crash_medium_close(void);

/**
 * struct crash_media - The NVDIMM
 * @note: the first page of the file
 * @data: the medium, CRASH_LEN bytes
 * @mem: memory in front of it, which a region may be made of; or @data
 */
struct crash_media {
	struct crash_note	*note;
	u8			*data;
	u8			*mem;
};

/*
 * @direct: the region is to be the medium.  -ENODEV: the machine was started without the file,
 * or it is too short; -ENOMEM
 */
int crash_media_open(struct crash_media *media, bool direct);
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
