/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_kfi_test.ko share: two nets on the loopback interface, and what comes
 * out of their completion queues.
 *
 * A case runs with each provider of bed_gen().  bed_open() opens both nets by clients/bulk, as
 * kfilnd does.
 */
#ifndef _KUNIT_KFI_H
#define _KUNIT_KFI_H

#include <linux/atomic.h>
#include <linux/bvec.h>
#include <kunit/test.h>
#include "../../clients/bulk/bulk.h"
#include "../lib/client.h"

#define BED_NODE	"lo"
#define BED_CTXS	2
#define BED_TAG		0x10001
/* Within VT_PATIENCE_MS, but long enough for what must not come */
#define BED_QUIET_MS	20

/* Flags of completions */
#define BED_SENT	(KFI_MSG | KFI_SEND)
#define BED_RECEIVED	(KFI_MSG | KFI_RECV)
#define BED_LAST	(KFI_MSG | KFI_RECV | KFI_MULTI_RECV)
#define BED_TOLD	(KFI_TAGGED | KFI_SEND)
#define BED_HEARD	(KFI_TAGGED | KFI_RECV | KFI_REMOTE_CQ_DATA)
#define BED_READ	(KFI_TAGGED | KFI_RMA | KFI_READ | KFI_SEND)
#define BED_WAS_READ	(KFI_TAGGED | KFI_RMA | KFI_READ | KFI_RECV)
#define BED_WROTE	(KFI_TAGGED | KFI_RMA | KFI_WRITE | KFI_SEND)
#define BED_WAS_WRITTEN	(KFI_TAGGED | KFI_RMA | KFI_WRITE | KFI_RECV)
#define BED_UNUSED	(KFI_TAGGED | KFI_RECV)	/* of an error only */

/**
 * struct bed_calls - How often the handlers of a context's queues were called
 * @rx: of the receive context
 * @tx: of the transmit context
 */
struct bed_calls {
	atomic_t	rx;
	atomic_t	tx;
};

/**
 * struct bed_side - A net
 * @ni: its objects
 * @peer: the other one
 * @calls: of each context
 */
struct bed_side {
	struct bulk_ni		ni;
	kfi_addr_t		peer;
	struct bed_calls	calls[BED_CTXS];
};

struct bed {
	struct bed_side	a;
	struct bed_side	b;
};

/**
 * struct bed_event - What came out of a queue
 * @context: of the operation
 * @flags: of it
 * @err: 0, or the error
 * @len: as in &struct kfi_cq_data_entry
 * @buf: the same
 * @data: the same
 */
struct bed_event {
	void	*context;
	u64	flags;
	int	err;
	size_t	len;
	void	*buf;
	u64	data;
};

/**
 * struct bed_mem - Pages, with a pattern that begins anywhere in the first
 * @count: pages
 * @len: bytes
 * @pages: they
 * @list: all bytes
 */
struct bed_mem {
	int		count;
	size_t		len;
	struct page	*pages[BULK_PAGES];
	struct bio_vec	list[BULK_PAGES];
};

extern struct kunit_suite kfi_flags_suite;
extern struct kunit_suite kfi_tags_suite;
extern struct kunit_suite kfi_multi_suite;
extern struct kunit_suite kfi_cancel_suite;
extern struct kunit_suite kfi_objects_suite;
extern struct kunit_suite kfi_bulk_suite;

/* bed.c */
const void *bed_gen(const void *prev, char *desc);
int bed_provider(const char *name);
const char *bed_provider_of(struct kunit *test);
struct bed *bed_open(struct kunit *test);
/* Before the end of the case; each close has to succeed */
void bed_close(struct kunit *test, struct bed *bed);
/* Contexts of operations are told apart by number */
void *bed_ctx(int nr);
/* 1: a completion; -ETIMEDOUT: none came in @ms */
int bed_wait(struct bulk_cq *cq, struct bed_event *event, int ms);
/* The next completion, which has to be this one */
struct bed_event bed_expect(struct kunit *test, struct bulk_cq *cq, void *context, u64 flags,
			    int err);
/* There is none, and none comes soon */
void bed_none(struct kunit *test, struct bulk_cq *cq);
struct bed_mem *bed_mem(struct kunit *test, int count, size_t offset, size_t len);
void bed_fill(struct bed_mem *mem, u8 seed);
bool bed_filled(const struct bed_mem *mem, size_t len, u8 seed);
/* A tagged receive for one sender */
ssize_t bed_trecv(struct bulk_ep *ep, const struct bed_mem *mem, kfi_addr_t from, u64 tag,
		  void *context);
/* A tagged read or write by @mem of a receive of @to */
ssize_t bed_rma(struct bulk_ep *ep, bool read, const struct bed_mem *mem, kfi_addr_t to, u64 tag,
		void *context);

/* The name of a peer's receive context */
static inline kfi_addr_t bed_at(kfi_addr_t peer, int index)
{
	return kfi_rx_addr(peer, index, BULK_RX_BITS);
}

#endif /* _KUNIT_KFI_H */
