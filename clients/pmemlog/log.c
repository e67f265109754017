// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The log of pmemlog.h.
 *
 * A record is built in pmemlog.mem, at the offset that it gets in each region, and stays there.
 * So the buffer of a write that is in flight does not change.  Completions are read when the
 * transmit queue is full, and by pmemlog_save().
 *
 * A save posts one operation for each replica; these operations run at the same time.
 */
#include <linux/align.h>
#include <linux/crc32.h>
#include <linux/mm.h>
#include <linux/export.h>
#include <linux/string.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "pmemlog.h"

/**
 * struct pmemlog_header - What a record begins with
 * @id: of the log
 * @number: of the record, from 1 on
 * @len: bytes of data
 * @crc: of the header with 0 here, and of the data
 *
 * Fields are in the byte order of the machine that appends.
 */
struct pmemlog_header {
	u64	id;
	u64	number;
	u32	len;
	u32	crc;
};

static size_t pmemlog_bytes(u32 len)
{
	return sizeof(struct pmemlog_header) + ALIGN((size_t)len, sizeof(u64));
}

static u32 pmemlog_crc(const struct pmemlog_header *header, const void *data)
{
	struct pmemlog_header copy = *header;

	copy.crc = 0;
	return crc32_le(crc32_le(~0, (u8 *)&copy, sizeof(copy)), data, header->len);
}

int pmemlog_open(struct pmemlog *log, size_t size, u64 id)
{
	int i;

	log->mem = kvzalloc(size, GFP_KERNEL);
	if (!log->mem)
		return -ENOMEM;
	log->size = size;
	log->end = 0;
	log->id = id;
	log->count = 0;
	log->err = 0;
	for (i = 0; i < PMEMLOG_REPLICAS; i++)
		log->replica[i].posted = 0;
	return 0;
}
EXPORT_SYMBOL_GPL(pmemlog_open);

/* Reads one completion; returns 0, or the error of the operation */
static int pmemlog_wait(struct pmemlog_replica *replica)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_tagged_entry entry; /* No format has a larger one */
	ssize_t ret;

	ret = fi_cq_sread(replica->cq, &entry, 1, NULL, PMEMLOG_TIMEOUT_MS);
	if (ret == 1) {
		replica->posted--;
		return 0;
	}
	if (ret == -FI_EAVAIL && fi_cq_readerr(replica->cq, &error, 0) == 1) {
		replica->posted--;
		return -error.err;
	}
	return ret == -EAGAIN ? -ETIMEDOUT : ret < 0 ? ret : -EIO;
}

/* Writes the bytes from @begin to the end of the log, or saves if there are none */
static int pmemlog_post(struct pmemlog *log, struct pmemlog_replica *replica, size_t begin)
{
	const size_t len = log->end - begin;
	const struct kvec iov = { log->mem + begin, len };
	const struct fi_rma_iov remote = { replica->addr + begin, len, replica->key };
	const struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= len ? 1 : 0,
		.addr		= replica->peer,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
	};
	const u64 flags = FI_COMPLETION | (len ? 0 : FI_SAVE | FI_COMMIT_COMPLETE);
	ssize_t ret;

	while ((ret = fi_writemsg(replica->ep, &msg, flags)) == -EAGAIN && replica->posted) {
		ret = pmemlog_wait(replica);
		if (ret)
			return ret;
	}
	if (!ret)
		replica->posted++;
	return ret;
}

/* After any error the log no longer knows what the replicas have, so log->err stays set */
static int pmemlog_post_all(struct pmemlog *log, size_t begin)
{
	int i;

	for (i = 0; !log->err && i < PMEMLOG_REPLICAS; i++)
		log->err = pmemlog_post(log, &log->replica[i], begin);
	return log->err;
}

int pmemlog_append(struct pmemlog *log, const void *data, u32 len)
{
	struct pmemlog_header *header = (void *)(log->mem + log->end);
	size_t begin = log->end;

	if (log->err)
		return log->err;
	if (pmemlog_bytes(len) > log->size - begin)
		return -ENOSPC;
	*header = (struct pmemlog_header) {
		.id	= log->id,
		.number	= ++log->count,
		.len	= len,
	};
	memcpy(header + 1, data, len);
	header->crc = pmemlog_crc(header, data);
	log->end += pmemlog_bytes(len);
	return pmemlog_post_all(log, begin);
}
EXPORT_SYMBOL_GPL(pmemlog_append);

int pmemlog_save(struct pmemlog *log)
{
	struct pmemlog_replica *replica;
	int i;

	/* The save is posted behind the writes, so it completes behind them */
	pmemlog_post_all(log, log->end);
	for (i = 0; i < PMEMLOG_REPLICAS; i++) {
		replica = &log->replica[i];
		while (!log->err && replica->posted)
			log->err = pmemlog_wait(replica);
	}
	return log->err;
}
EXPORT_SYMBOL_GPL(pmemlog_save);

void pmemlog_close(struct pmemlog *log)
{
	kvfree(log->mem);
	log->mem = NULL;
}
EXPORT_SYMBOL_GPL(pmemlog_close);

/* Is there a whole record at @header? */
static bool pmemlog_is_record(const struct pmemlog_header *header, size_t room, u64 id,
			      u64 number)
{
	return room >= sizeof(*header) && header->id == id && header->number == number &&
	       header->len <= room - sizeof(*header) &&
	       header->crc == pmemlog_crc(header, header + 1);
}

u64 pmemlog_recover(const void *mem, size_t size, u64 id,
		    int (*record)(void *arg, const void *data, u32 len), void *arg)
{
	const struct pmemlog_header *header;
	size_t at = 0;
	u64 count = 0;

	while (at < size) {
		header = mem + at;
		if (!pmemlog_is_record(header, size - at, id, count + 1))
			break;
		count++;
		if (record && record(arg, header + 1, header->len))
			break;
		at += pmemlog_bytes(header->len);
	}
	return count;
}
EXPORT_SYMBOL_GPL(pmemlog_recover);
