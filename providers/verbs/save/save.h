/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Persistent memory of peers: FI_COMMIT_COMPLETE and FI_SAVE.
 *
 * A device places what a peer writes, but does not make it durable, and the kernel has no work
 * request for InfiniBand's FLUSH.  So the target's processor has to write back its cache lines.
 * Between two kOFI peers the initiator requests that over a control connection:
 *
 *	save.c		the initiator's operations, and the ranges it has written
 *	save_end.c	an end of a control connection, and how the initiator connects
 *	save_serve.c	the target: the listener, requests, and regions of persistent memory
 *
 * Two endpoints with FI_RMA_PMEM offer each other their listeners in the connection data, behind
 * the client's (struct verbs_save_offer), where other peers do not look.  Each endpoint connects
 * when it has something to save for the first time.
 *
 * The initiator sends one request at a time (struct verbs_save_request), and the target answers
 * with struct verbs_save_answer, each in one SEND.  All integers are in network byte order.  A
 * connection that had an error, or an answer that came too late, is not used again, and an answer
 * has the number of its request: no save succeeds by the answer to another.
 */
#ifndef _KOFI_VERBS_SAVE_H
#define _KOFI_VERBS_SAVE_H

#include <linux/list.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <kofi/credit.h>
#include "../ep.h"

#define VERBS_SAVE_MAGIC	0x6b4f4649	/* "kOFI" */
#define VERBS_SAVE_VERSION	2
#define VERBS_SAVE_RANGES	32	/* most ranges of a request, and that an endpoint notes */
#define VERBS_SAVES		16	/* most operations of an endpoint in flight */
#define VERBS_SAVE_MS		30000	/* limit of a step of connecting, and of an answer */

/**
 * struct verbs_save_range - Bytes that were written
 * @addr: address of the first byte
 * @len: how many
 */
struct verbs_save_range {
	__be64	addr;
	__be64	len;
};

/**
 * struct verbs_save_request - Make durable what was written to a region
 * @key: of the region
 * @whole: not 0: all of the region, and @range does not count
 * @count: entries of @range
 * @number: of the request
 * @addr: an address in the region
 * @range: the ranges that were written
 */
struct verbs_save_request {
	__be32			key;
	__be32			whole;
	__be32			count;
	__be32			number;
	__be64			addr;
	struct verbs_save_range	range[VERBS_SAVE_RANGES];
};

/**
 * struct verbs_save_answer - The end of a request
 * @refused: 0: it is durable; else the initiator has no right, or the memory is not persistent
 * @number: of the request
 */
struct verbs_save_answer {
	__be32	refused;
	__be32	number;
};

/**
 * struct verbs_save_msg - The buffers of an end
 * @request: sent or received
 * @answer: received or sent
 * @read: the initiator reads a byte of the region to here
 */
struct verbs_save_msg {
	struct verbs_save_request	request;
	struct verbs_save_answer	answer;
	u8				read;
};

/**
 * struct verbs_save_end - An end of a control connection
 * @saves: of the endpoint that it belongs to
 * @id: its rdma_cm_id
 * @cq: its completion queue; ib_core polls it in a worker
 * @msg: its buffers
 * @dma: DMA address of @msg
 * @sent: entry point of the completion of a send
 * @received: entry point of the completion of a receive
 * @done: the initiator's last step of connecting, or its request, is done
 * @number: of the initiator's last request
 * @error: negative errno that has broken the connection, or 0
 */
struct verbs_save_end {
	struct verbs_saves	*saves;
	struct rdma_cm_id	*id;
	struct ib_cq		*cq;
	struct verbs_save_msg	*msg;
	u64			dma;
	struct ib_cqe		sent;
	struct ib_cqe		received;
	bool			done;
	u32			number;
	int			error;
};

/**
 * struct verbs_unsaved - A range that was written and not saved
 * @begin: address of the first byte
 * @end: address behind the last byte
 * @key: of their region
 */
struct verbs_unsaved {
	u64	begin;
	u64	end;
	u32	key;
};

/**
 * struct verbs_save - An operation with FI_SAVE or FI_COMMIT_COMPLETE
 * @entry: in one of the lists free, posted and written of &struct verbs_saves
 * @slot: its slot; NULL: its call has not posted yet
 * @commit: @range is to be durable
 * @tell: the peer gets @data in the end
 * @whole: as in &struct verbs_save_request
 * @data: remote CQ data
 * @addr: an address in the region
 * @key: of the region
 * @rws: the number (verbs_rw.place) of the last rw operation that began before it
 * @count: entries of @range
 * @range: the ranges to make durable
 */
struct verbs_save {
	struct list_head	entry;
	struct verbs_slot	*slot;
	bool			commit;
	bool			tell;
	bool			whole;
	u32			data;
	u64			addr;
	u32			key;
	u64			rws;
	u32			count;
	struct verbs_unsaved	range[VERBS_SAVE_RANGES];
};

/**
 * struct verbs_saves - What an endpoint with FI_RMA_PMEM has in addition
 * @ep: the endpoint
 * @wait: the worker waits here for a step of @link, a read, rw operations, or the end of the
 *	connection
 *
 * As the initiator; the lock of the transmit side guards the lists and @unsaved:
 * @free: operations that are not in use
 * @posted: operations whose writes have not completed
 * @written: operations that the worker has to finish
 * @credit: operations that are not in use
 * @work: the worker, which owns @link and the operation that it has taken
 * @link: the control connection to the peer; NULL: none was needed yet
 * @read: entry point of the completion of the worker's read
 * @read_done: the read has completed
 * @read_status: with this status
 * @nr_unsaved: entries of @unsaved
 * @forgotten: there were more regions than @unsaved has room for
 * @unsaved: the ranges that were written and not saved
 * @op: the operations
 *
 * As the target; domain->save_lock guards these:
 * @entry: in the list of the domain
 * @token: names the endpoint in the peer's connection request
 * @session: the control connection from the peer, or NULL
 */
struct verbs_saves {
	struct verbs_ep		*ep;
	wait_queue_head_t	wait;

	struct list_head	free;
	struct list_head	posted;
	struct list_head	written;
	struct kofi_credit	credit;
	struct work_struct	work;
	struct verbs_save_end	*link;
	struct ib_cqe		read;
	bool			read_done;
	enum ib_wc_status	read_status;
	u32			nr_unsaved;
	bool			forgotten;
	struct verbs_unsaved	unsaved[VERBS_SAVE_RANGES];
	struct verbs_save	op[VERBS_SAVES];

	struct list_head	entry;
	u64			token;
	struct verbs_save_end	*session;
};

/* save.c */
int verbs_saves_init(struct verbs_ep *ep);
void verbs_saves_abandon(struct verbs_ep *ep);
void verbs_saves_close(struct verbs_ep *ep);
void verbs_saves_free(struct verbs_ep *ep);

/* save_end.c */
void verbs_save_end_fail(struct verbs_save_end *end, int error);
struct verbs_save_end *verbs_save_end_new(struct verbs_saves *saves, struct rdma_cm_id *id,
					  void (*received)(struct ib_cq *cq, struct ib_wc *wc));
void verbs_save_end_free(struct verbs_save_end *end);
void verbs_save_end_destroy(struct verbs_save_end *end);
int verbs_save_end_send(struct verbs_save_end *end, const void *msg, size_t len);
int verbs_save_end_recv(struct verbs_save_end *end, const void *msg, size_t len);
int verbs_save_connect(struct verbs_saves *saves);
int verbs_save_ask(struct verbs_saves *saves, const struct verbs_save *save);
bool verbs_saves_alive(const struct verbs_saves *saves);

/* save_serve.c */
extern const struct kofi_mr_ops verbs_save_mr_ops;
int verbs_save_join(struct verbs_saves *saves);
void verbs_save_make_offer(const struct verbs_saves *saves, struct verbs_save_offer *offer);
void verbs_save_leave(struct verbs_saves *saves);

#endif /* _KOFI_VERBS_SAVE_H */
