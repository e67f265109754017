// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two nets on the loopback interface.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/wait.h>
#include "kfi.h"

static const char *const bed_providers[] = { "loop", "tcp" };

static DECLARE_WAIT_QUEUE_HEAD(bed_calls);

const void *bed_gen(const void *prev, char *desc)
{
	const char *const *next = prev ? (const char *const *)prev + 1 : bed_providers;

	if (next == bed_providers + ARRAY_SIZE(bed_providers))
		return NULL;
	strscpy(desc, *next, KUNIT_PARAM_DESC_SIZE);
	return next;
}

const char *bed_provider_of(struct kunit *test)
{
	return *(const char *const *)test->param_value;
}

/* What opens nets from now on */
int bed_provider(const char *name)
{
	char command[96];

	snprintf(command, sizeof(command),
		 "echo '%s' >/sys/module/kofi_kfi/parameters/provider", name);
	return vt_shell(command);
}

static void bed_handler(struct kfid_cq *cq, void *context)
{
	struct bulk_cq *bulk_cq = context;
	struct bed_calls *calls = bulk_cq->ep->user;

	/* As one of a client may */
	might_sleep();
	atomic_inc(bulk_cq->tx ? &calls->tx : &calls->rx);
	wake_up_all(&bed_calls);
}

static atomic_t *bed_calls_of(struct bulk_cq *cq)
{
	struct bed_calls *calls = cq->ep->user;

	return cq->tx ? &calls->tx : &calls->rx;
}

static void bed_end(void *data)
{
	struct bed *bed = data;

	if (bed->b.ni.domain)
		WARN_ON_ONCE(bulk_ni_close(&bed->b.ni));
	if (bed->a.ni.domain)
		WARN_ON_ONCE(bulk_ni_close(&bed->a.ni));
}

void bed_close(struct kunit *test, struct bed *bed)
{
	KUNIT_EXPECT_EQ(test, bulk_ni_close(&bed->b.ni), 0);
	KUNIT_EXPECT_EQ(test, bulk_ni_close(&bed->a.ni), 0);
}

static int bed_side_open(struct bed_side *side, u16 net)
{
	int i, ret;

	ret = bulk_ni_open(&side->ni, BED_NODE, net, BED_CTXS, bed_handler);
	for (i = 0; i < side->ni.count; i++)
		side->ni.ep[i].user = &side->calls[i];
	return ret;
}

struct bed *bed_open(struct kunit *test)
{
	struct bed *bed = kunit_kzalloc(test, sizeof(*bed), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bed);
	KUNIT_ASSERT_EQ(test, bed_provider(bed_provider_of(test)), 0);
	KUNIT_ASSERT_EQ(test, bed_side_open(&bed->a, 1), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, bed_end, bed), 0);
	KUNIT_ASSERT_EQ(test, bed_side_open(&bed->b, 2), 0);
	KUNIT_ASSERT_EQ(test, bulk_know(&bed->a.ni, bed->b.ni.addr, 2, &bed->a.peer), 0);
	KUNIT_ASSERT_EQ(test, bulk_know(&bed->b.ni, bed->a.ni.addr, 1, &bed->b.peer), 0);
	return bed;
}

void *bed_ctx(int nr)
{
	static u64 contexts[64];

	return &contexts[nr];
}

/* As the reader of kfilnd does; 1 or -EAGAIN */
static int bed_read(struct bulk_cq *cq, struct bed_event *event)
{
	struct kfi_cq_data_entry entry;
	struct kfi_cq_err_entry error;
	ssize_t ret;

	ret = kfi_cq_read(cq->cq, &entry, 1);
	if (ret == 1) {
		*event = (struct bed_event) {
			.context = entry.op_context, .flags = entry.flags, .len = entry.len,
			.buf = entry.buf, .data = entry.data,
		};
		return 1;
	}
	if (ret != -KFI_EAVAIL)
		return ret;
	/* Not even a pointer for data of the error may be looked at */
	memset(&error, 0xa5, sizeof(error));
	ret = kfi_cq_readerr(cq->cq, &error, 0);
	WARN_ON_ONCE(ret == 1 && error.err_data);
	if (ret == 1)
		*event = (struct bed_event) {
			.context = error.op_context, .flags = error.flags, .err = error.err,
			.len = error.len, .buf = error.buf, .data = error.data,
		};
	return ret;
}

int bed_wait(struct bulk_cq *cq, struct bed_event *event, int ms)
{
	atomic_t *calls = bed_calls_of(cq);
	int seen, ret;

	do {
		seen = atomic_read(calls);
		ret = bed_read(cq, event);
		if (ret != -EAGAIN)
			return ret;
	} while (wait_event_timeout(bed_calls, atomic_read(calls) != seen, msecs_to_jiffies(ms)));
	return -ETIMEDOUT;
}

struct bed_event bed_expect(struct kunit *test, struct bulk_cq *cq, void *context, u64 flags,
			    int err)
{
	struct bed_event event = {};

	KUNIT_ASSERT_EQ(test, bed_wait(cq, &event, VT_PATIENCE_MS), 1);
	KUNIT_EXPECT_EQ(test, event.err, err);
	KUNIT_EXPECT_EQ(test, event.flags, flags);
	KUNIT_EXPECT_PTR_EQ(test, event.context, context);
	return event;
}

void bed_none(struct kunit *test, struct bulk_cq *cq)
{
	struct bed_event event = {};

	KUNIT_EXPECT_EQ(test, bed_wait(cq, &event, BED_QUIET_MS), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, event.flags, 0);
}

static void bed_mem_free(void *data)
{
	struct bed_mem *mem = data;
	int i;

	for (i = 0; i < mem->count; i++)
		__free_page(mem->pages[i]);
}

struct bed_mem *bed_mem(struct kunit *test, int count, size_t offset, size_t len)
{
	struct bed_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	size_t left = len, part;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, bed_mem_free, mem), 0);
	for (mem->len = len; mem->count < count; mem->count++) {
		mem->pages[mem->count] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, mem->pages[mem->count]);
		part = min_t(size_t, left, PAGE_SIZE - offset);
		bvec_set_page(&mem->list[mem->count], mem->pages[mem->count], part, offset);
		left -= part;
		offset = 0;
	}
	KUNIT_ASSERT_EQ(test, left, 0);
	return mem;
}

static u8 *bed_part(const struct bed_mem *mem, int i)
{
	return page_address(mem->list[i].bv_page) + mem->list[i].bv_offset;
}

static u8 bed_byte(size_t pos, u8 seed)
{
	return pos * 7 + pos / 251 + seed;
}

void bed_fill(struct bed_mem *mem, u8 seed)
{
	size_t pos = 0, j;
	int i;

	for (i = 0; i < mem->count; i++)
		for (j = 0; j < mem->list[i].bv_len; j++)
			bed_part(mem, i)[j] = bed_byte(pos++, seed);
}

bool bed_filled(const struct bed_mem *mem, size_t len, u8 seed)
{
	size_t pos = 0, j;
	int i;

	for (i = 0; i < mem->count; i++)
		for (j = 0; j < mem->list[i].bv_len && pos < len; j++, pos++)
			if (bed_part(mem, i)[j] != bed_byte(pos, seed))
				return false;
	return pos == len;
}

ssize_t bed_trecv(struct bulk_ep *ep, const struct bed_mem *mem, kfi_addr_t from, u64 tag,
		  void *context)
{
	const struct kfi_msg_tagged msg = {
		.type = KFI_BVEC, .msg_biov = mem->list, .iov_count = mem->count,
		.addr = from, .tag = tag, .context = context,
	};

	return kfi_trecvmsg(ep->rx, &msg, KFI_COMPLETION);
}

ssize_t bed_rma(struct bulk_ep *ep, bool read, const struct bed_mem *mem, kfi_addr_t to, u64 tag,
		void *context)
{
	const struct kfi_rma_iov rma = { .len = mem->len, .key = tag };
	const struct kfi_msg_rma msg = {
		.type = KFI_BVEC, .msg_biov = mem->list, .iov_count = mem->count,
		.addr = to, .rma_iov = &rma, .rma_iov_count = 1, .context = context,
	};

	if (read)
		return kfi_readmsg(ep->tx, &msg, KFI_TAGGED | KFI_COMPLETION);
	return kfi_writemsg(ep->tx, &msg, KFI_TAGGED | KFI_COMPLETION);
}
