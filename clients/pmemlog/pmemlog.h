/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A log that is only appended to, in the persistent memory of other machines.
 *
 *	pmemlog_append()	writes a record to each replica, and waits for nothing
 *	pmemlog_save()		returns when all records before it are durable at each replica
 *	pmemlog_recover()	finds the records in the memory of a replica, after a crash
 *
 * The log writes to regions that their owners have registered with FI_RMA_PMEM, through
 * endpoints that the caller has connected.  The replicas run no code of the log: a region is
 * memory, and its contents alone show where the log ends.
 *
 * A record is a header, the data, and zeros up to a multiple of 8.  The header has the number of
 * the record, the identity of the log and a checksum.  A crash may leave any part of the records
 * that were not saved, so recovery stops at the first record that is not whole.  All saved
 * records are in front of that record.
 */
#ifndef _PMEMLOG_H
#define _PMEMLOG_H

#include <linux/types.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#define PMEMLOG_REPLICAS	2
#define PMEMLOG_TIMEOUT_MS	30000

/**
 * struct pmemlog_replica - A place where the log is kept
 * @ep: a connected endpoint with FI_RMA and FI_RMA_PMEM
 * @cq: completion queue of the operations of @ep, and of no others; fi_cq_sread() works on it,
 *	and it has any format
 * @peer: the replica, for an endpoint without connections
 * @addr: address of the replica's region, for a peer
 * @key: key of the replica's region
 * @posted: operations that have not completed; only the log uses it
 */
struct pmemlog_replica {
	struct fid_ep	*ep;
	struct fid_cq	*cq;
	fi_addr_t	peer;
	u64		addr;
	u64		key;
	unsigned int	posted;
};

/**
 * struct pmemlog - A log
 * @replica: where the log is kept
 * @size: bytes of each region
 * @mem: local copy of a region, with the appended records, which may be in flight
 * @end: end of the last record
 * @id: distinguishes the log's records from those of an earlier log in the regions
 * @count: records
 * @err: the negative error after which the log cannot go on, or 0
 *
 * One caller at a time.
 */
struct pmemlog {
	struct pmemlog_replica	replica[PMEMLOG_REPLICAS];
	size_t			size;
	u8			*mem;
	size_t			end;
	u64			id;
	u64			count;
	int			err;
};

/**
 * pmemlog_open() - Begin a log
 * @log: the log, with @replica filled in
 * @size: bytes of the smallest region
 * @id: a number that no log in these regions had before
 *
 * Context: may sleep.
 * Return: 0, and pmemlog_close() is due; -ENOMEM.
 */
int pmemlog_open(struct pmemlog *log, size_t size, u64 id);

/**
 * pmemlog_append() - Append a record
 * @log: the log
 * @data: the record, the caller's again when this returns
 * @len: bytes
 *
 * Context: may sleep.
 * Return: 0; -ENOSPC: the log is full; -ETIMEDOUT, -EIO or the error of a replica's operation:
 * the log cannot go on.
 */
int pmemlog_append(struct pmemlog *log, const void *data, u32 len);

/**
 * pmemlog_save() - Make all records durable
 * @log: the log
 *
 * Context: may sleep.
 * Return: 0: all records are durable at each replica; or as pmemlog_append(), and then each
 * record that was not saved before may be there or not.
 */
int pmemlog_save(struct pmemlog *log);

/**
 * pmemlog_close() - End a log; its records stay in the regions
 * @log: a log whose endpoints have been closed, or that has been saved
 *
 * Context: may sleep.
 */
void pmemlog_close(struct pmemlog *log);

/**
 * pmemlog_recover() - Find the records of a log
 * @mem: the memory of a replica
 * @size: its bytes
 * @id: of the log
 * @record: called for each record in order, or NULL; returns nonzero to stop
 * @arg: for @record
 *
 * Context: any.
 * Return: how many records there are.
 */
u64 pmemlog_recover(const void *mem, size_t size, u64 id,
		    int (*record)(void *arg, const void *data, u32 len), void *arg);

#endif /* _PMEMLOG_H */
