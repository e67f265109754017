// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions that have their key from the registration to the close: which keys, which
 * accesses are let through, and what the close waits for.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <kofi/cntr.h>
#include <kofi/iov.h>
#include "../../lib/client.h"
#include "../../lib/refusal.h"
#include "mr.h"

#define LEN		9000
#define KEY		0x1122334455667788ULL
#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define NR_REUSED	200
#define NR_LONG		1000
#define NR_ROUNDS	100
#define NR_READERS	3

/* A peer that has no endpoint to speak of */
static const struct fid_ep peer;

static const struct key_mode {
	const char	*name;
	int		mr_mode;
} key_modes[] = {
	{ "requested keys", 0 },
	{ "chosen keys", FI_MR_PROV_KEY },
};

/* A list of three elements over @buf */
static struct ut_list *three(struct kunit *test, enum fi_buf_type type, void *buf)
{
	struct ut_list *list = ut_list(test, type);

	ut_list_add(test, list, buf, 5);
	ut_list_add(test, list, buf + 5, 5000);
	ut_list_add(test, list, buf + 5005, LEN - 5005);
	return list;
}

/* Reads as a peer does; 0, or the error */
static int fetch(struct ut_domain *ud, u64 key, u64 addr, void *to, size_t len)
{
	struct iov_iter iter;
	struct kofi_mr *mr;
	size_t offset;

	mr = kofi_mr_get(&ud->dom.map, &peer, key, addr, len, FI_REMOTE_READ, &offset);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	kofi_mr_iter(mr, ITER_SOURCE, offset, len, &iter);
	if (iov_iter_count(&iter) != len || _copy_from_iter(to, len, &iter) != len)
		len = 0;
	kofi_mr_put(mr);
	return len ? 0 : -EIO;
}

static void a_byte_is_named_by_its_offset(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	u8 *buf = ut_pages(test, 2), *to = vt_buf(test, LEN);
	struct kofi_mr *mr;

	vt_fill(buf, LEN, 1);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, three(test, ut_type(test), buf), BOTH, KEY, 0, &mr), 0);

	KUNIT_EXPECT_EQ(test, mr->mr.key, KEY);
	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, 0, to, LEN), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(to, LEN, 1));
	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, 4999, to, 100), 0);
	KUNIT_EXPECT_MEMEQ(test, to, buf + 4999, 100);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, (uintptr_t)buf, 1,
					FI_REMOTE_READ), -EACCES);
	ut_mr_close(test, mr);
}

static void a_byte_is_named_by_its_kernel_address(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_VIRT_ADDR);
	u8 *buf = ut_pages(test, 2), *to = vt_buf(test, LEN);
	u64 first = (uintptr_t)buf;
	struct kofi_mr *mr;

	vt_fill(buf, LEN, 2);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, three(test, ut_type(test), buf), BOTH, KEY, 0, &mr), 0);

	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, first, to, LEN), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(to, LEN, 2));
	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, first + 4999, to, 100), 0);
	KUNIT_EXPECT_MEMEQ(test, to, buf + 4999, 100);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, 0, 1, FI_REMOTE_READ), -EACCES);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, first - 1, 1, FI_REMOTE_READ), -EACCES);
	ut_mr_close(test, mr);
}

/**
 * struct bounds - An access to a region of 100 bytes
 * @name: what it is
 * @addr: where it begins
 * @len: its bytes
 * @ret: what it answers
 */
struct bounds {
	const char	*name;
	u64		addr;
	size_t		len;
	int		ret;
};

static const struct bounds accesses[] = {
	{ "all of it", 0, 100, 0 },
	{ "the last byte", 99, 1, 0 },
	{ "one byte more", 0, 101, -EACCES },
	{ "one byte behind", 100, 1, -EACCES },
	{ "a length that wraps", 1, SIZE_MAX, -EACCES },
	{ "an end at 0", 50, SIZE_MAX - 49, -EACCES },
	{ "an address that wraps", U64_MAX, 2, -EACCES },
	{ "an address far away", BIT_ULL(63), 1, -EACCES },
	{ "no bytes at its begin", 0, 0, 0 },
	{ "no bytes in it", 50, 0, 0 },
	{ "no bytes right behind it", 100, 0, 0 },
	{ "no bytes farther behind it", 101, 0, -EACCES },
	{ "no bytes in front of it", U64_MAX, 0, -EACCES },
};

static void bounds_are_exact(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	const struct bounds *access = test->param_value;
	struct kofi_mr *mr = ut_mr(test, ud, vt_buf(test, 100), 100, BOTH, KEY);

	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, access->addr,
					access->len, BOTH), access->ret);
	ut_mr_close(test, mr);
}

static void no_bytes_can_be_copied_anywhere(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	struct kofi_mr *one, *list;
	struct iov_iter iter;
	u8 *buf = ut_pages(test, 2);
	size_t at;

	one = ut_mr(test, ud, buf, 100, BOTH, 1);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, three(test, FI_BUF_BVEC, buf), BOTH, 2, 0, &list), 0);
	for (at = 0; at <= 100; at += 50) {
		kofi_mr_iter(one, ITER_SOURCE, at, 0, &iter);
		KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	}
	for (at = 0; at <= LEN; at += LEN / 2) {
		kofi_mr_iter(list, ITER_SOURCE, at, 0, &iter);
		KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	}
	ut_mr_close(test, one);
	ut_mr_close(test, list);
}

static void rights_are_as_they_were_given(struct kunit *test)
{
	static const u64 rights[] = { FI_REMOTE_READ, FI_REMOTE_WRITE, BOTH,
				      FI_REMOTE_READ | FI_WRITE | FI_RECV };
	struct ut_domain *ud = ut_domain(test, 0);
	void *buf = vt_buf(test, 8);
	struct kofi_mr *mr;
	u64 want;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		mr = ut_mr(test, ud, buf, 8, rights[i], KEY);
		for (k = 0; k < 3; k++) {
			want = rights[k];
			KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, 0, 8, want),
					want & ~rights[i] ? -EACCES : 0);
			KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, 0, 0, want),
					want & ~rights[i] ? -EACCES : 0);
		}
		ut_mr_close(test, mr);
	}
}

static void a_requested_key_is_had_once(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_mr *mr, *other;
	void *buf = vt_buf(test, 8);

	ut_list_add(test, list, buf, 8);
	mr = ut_mr(test, ud, buf, 8, BOTH, KEY);
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &other), -FI_ENOKEY);
	/* What differs in the upper half only is another key */
	other = ut_mr(test, ud, buf, 8, BOTH, KEY ^ BIT_ULL(63));
	ut_mr_close(test, other);
	ut_mr_close(test, mr);

	/* It can be had again */
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &mr), 0);
	ut_mr_close(test, mr);
}

static void the_key_that_says_there_is_none_cannot_be_had(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_mr *mr;

	ut_list_add(test, list, vt_buf(test, 8), 8);

	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, FI_KEY_NOTAVAIL, 0, &mr), -FI_EKEYREJECTED);
}

static void the_map_chooses_keys_of_its_own(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_PROV_KEY);
	void *buf = vt_buf(test, 8);
	struct kofi_mr *a = ut_mr(test, ud, buf, 8, BOTH, KEY);
	struct kofi_mr *b = ut_mr(test, ud, buf, 8, BOTH, KEY);

	KUNIT_EXPECT_NE(test, a->mr.key, b->mr.key);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, a->mr.key, 0, 8, BOTH), 0);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, b->mr.key, 0, 8, BOTH), 0);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, 0, 8, BOTH), -EACCES);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, FI_KEY_NOTAVAIL, 0, 8, BOTH), -EACCES);
	ut_mr_close(test, a);
	ut_mr_close(test, b);
}

static void a_key_that_is_over_reaches_no_new_region(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_PROV_KEY);
	void *buf = vt_buf(test, 8);
	u64 *old = vt_buf(test, NR_REUSED * sizeof(*old));
	struct kofi_mr *mr;
	int i, k;

	for (i = 0; i < NR_REUSED; i++) {
		/* Each region takes the place of the one before */
		ud->dom.map.next = 1;
		mr = ut_mr(test, ud, buf, 8, BOTH, 0);
		old[i] = mr->mr.key;
		KUNIT_ASSERT_EQ(test, ut_access(ud, &peer, old[i], 0, 8, BOTH), 0);
		for (k = 0; k < i; k++)
			KUNIT_ASSERT_EQ(test, ut_access(ud, &peer, old[k], 0, 8, BOTH), -EACCES);
		ut_mr_close(test, mr);
	}
}

static void places_of_regions_are_used_in_turn(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_PROV_KEY);
	void *buf = vt_buf(test, 8);
	struct kofi_mr *mr = ut_mr(test, ud, buf, 8, BOTH, 0);
	u32 index = mr->index;

	ut_mr_close(test, mr);
	mr = ut_mr(test, ud, buf, 8, BOTH, 0);
	KUNIT_EXPECT_NE(test, mr->index, index);
	ut_mr_close(test, mr);
}

static void more_regions_than_there_are_places_are_refused(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_PROV_KEY);
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_mr *a, *b, *c;

	ut_list_add(test, list, vt_buf(test, 8), 8);
	ud->dom.map.max = 2;
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, list, BOTH, 0, 0, &a), 0);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, list, BOTH, 0, 0, &b), 0);

	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, 0, 0, &c), -FI_ENOMR);
	ut_mr_close(test, a);
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, 0, 0, &c), 0);
	ut_mr_close(test, b);
	ut_mr_close(test, c);
}

/* An xarray keeps a node that it has made for an entry if there is no memory for the next one */
static void a_place_without_memory_leaves_nothing_behind(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_PROV_KEY);
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_mr *mrs[XA_CHUNK_SIZE], *mr;
	void *buf = vt_buf(test, 8);
	int i, ret;

	if (!ut_fail_second_node(test))
		return;
	ut_list_add(test, list, buf, 8);
	/* All places of the first node.  The next one needs a second node, and one above both */
	for (i = 1; i < XA_CHUNK_SIZE; i++)
		mrs[i] = ut_mr(test, ud, buf, 8, BOTH, 0);
	ut_task_fails(true);
	ret = ut_mr_reg(ud, list, BOTH, 0, 0, &mr);
	ut_task_fails(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	for (i = 1; i < XA_CHUNK_SIZE; i++)
		ut_mr_close(test, mrs[i]);
	KUNIT_EXPECT_FALSE(test, xa_empty(&ud->dom.map.chosen));
}

static void a_region_that_no_peer_may_reach_has_no_key(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	void *buf = vt_buf(test, 8);
	struct kofi_mr *local = ut_mr(test, ud, buf, 8, FI_SEND | FI_RECV, KEY);
	struct kofi_mr *mr;

	KUNIT_EXPECT_EQ(test, local->mr.key, FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, 0, 0, 0), -EACCES);
	/* The key that it was to have is free */
	mr = ut_mr(test, ud, buf, 8, BOTH, KEY);
	ut_mr_close(test, local);
	KUNIT_EXPECT_EQ(test, ut_access(ud, &peer, KEY, 0, 8, BOTH), 0);
	ut_mr_close(test, mr);
}

static void three_calls_make_one_kind_of_region(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	const struct fi_ops_mr *ops = ud->dom.domain.mr;
	struct fid *fid = &ud->dom.domain.fid;
	u8 *buf = vt_buf(test, 64), to[64];
	struct kvec iov[2] = { { buf, 24 }, { buf + 24, 40 } };
	struct fid_mr *mr;

	vt_fill(buf, 64, 3);
	KUNIT_ASSERT_EQ(test, ops->reg(fid, buf, 64, BOTH, 0, KEY, 0, &mr, ud), 0);
	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, 0, to, 64), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(to, 64, 3));
	KUNIT_EXPECT_PTR_EQ(test, mr->fid.context, (void *)ud);
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);

	KUNIT_ASSERT_EQ(test, ops->regv(fid, iov, 2, BOTH, 0, KEY, 0, &mr, ud), 0);
	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, 0, to, 64), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(to, 64, 3));
	KUNIT_EXPECT_PTR_EQ(test, mr->fid.context, (void *)ud);
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);
}

/* The bytes at the ends of elements, and what lies between */
static void any_part_of_a_long_list_is_found(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	u8 *buf = vt_buf(test, NR_LONG * 8), to[24];
	struct kvec *iov = ut_vmalloc(test, NR_LONG * sizeof(*iov));
	struct fid_mr *mr;
	size_t i, total = 0, len;

	for (i = 0; i < NR_LONG; i++) {
		len = i % 8; /* some are empty */
		iov[i] = (struct kvec) { buf + total, len };
		total += len;
	}
	vt_fill(buf, total, 9);
	KUNIT_ASSERT_EQ(test, ud->dom.domain.mr->regv(&ud->dom.domain.fid, iov, NR_LONG, BOTH, 0,
						      KEY, 0, &mr, NULL), 0);
	for (i = 0; i < total; i++) {
		len = min(total - i, sizeof(to));
		KUNIT_ASSERT_EQ(test, fetch(ud, KEY, i, to, len), 0);
		KUNIT_ASSERT_FALSE(test, memcmp(to, buf + i, len));
	}
	KUNIT_EXPECT_EQ(test, fetch(ud, KEY, total, to, 1), -EACCES);
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);
}

static void what_is_no_region_is_refused(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	u8 on_stack[8], *buf = vt_buf(test, 8);
	struct kofi_mr *mr;

	ut_list_add(test, list, buf, 0);
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &mr), -EINVAL);
	ut_list_add(test, list, on_stack, 8);
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &mr), -EINVAL);
	list->kvec[0] = (struct kvec) { buf, 8 };
	list->kvec[1] = (struct kvec) { buf, SIZE_MAX / 4 - 7 };
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &mr), -EMSGSIZE);
	vt_refused(test, "mr_reg", -EMSGSIZE, "the list has more than");
	list->count = 1;
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, FI_MR_SINGLE_USE, &mr), -FI_EBADFLAGS);
	/* None of these has taken the key */
	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &mr), 0);
	ut_mr_close(test, mr);
}

static void a_list_without_memory_is_refused(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_mr *mr;

	ut_list_add(test, list, vt_buf(test, 8), 8);
	list->count = SIZE_MAX / 8;

	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, KEY, 0, &mr), -ENOMEM);
}

static void single_operations_need_another_kind_of_region(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	struct fid_ep ep = { .fid.fclass = FI_CLASS_EP };
	struct kofi_mr *mr = ut_mr(test, ud, vt_buf(test, 8), 8, BOTH, KEY);
	const struct fi_ops *ops = mr->mr.fid.ops;

	KUNIT_EXPECT_EQ(test, fi_mr_enable(&mr->mr), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&mr->mr, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(&mr->mr, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, ops->bind(&mr->mr.fid, &ep.fid, 0), -ENOSYS);
	ut_mr_close(test, mr);
}

static int close_region(void *data)
{
	struct kofi_mr *mr = data;

	return mr->mr.fid.ops->close(&mr->mr.fid);
}

static void the_close_waits_for_accesses(struct kunit *test)
{
	const struct key_mode *mode = test->param_value;
	struct ut_domain *ud = ut_domain(test, mode->mr_mode);
	struct kofi_mr *mr = ut_mr(test, ud, vt_buf(test, 8), 8, BOTH, KEY);
	struct vt_async *thread;
	u64 key = mr->mr.key;
	size_t offset;

	KUNIT_ASSERT_PTR_EQ(test, kofi_mr_get(&ud->dom.map, &peer, key, 0, 8, BOTH, &offset), mr);
	KUNIT_ASSERT_PTR_EQ(test, kofi_mr_get(&ud->dom.map, &peer, key, 0, 8, BOTH, &offset), mr);
	thread = vt_async_start(test, close_region, mr);
	/* The key ends at once */
	KUNIT_EXPECT_TRUE(test, vt_until(ut_access(ud, &peer, key, 0, 8, BOTH) == -EACCES));
	kofi_mr_put(mr);
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(thread->task->__state) & TASK_UNINTERRUPTIBLE));
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));

	kofi_mr_put(mr);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
}

/**
 * struct race - Regions that are closed while peers use them
 * @ud: their domain
 * @buf: the buffer of the region that is open
 * @key: its key
 * @reads: reads of peers that went through
 * @done: there will be no more
 * @freed: a peer has read of a region that had been closed
 */
struct race {
	struct ut_domain	*ud;
	u8			*buf;
	u64			key;
	atomic_t		reads;
	bool			done;
	bool			freed;
};

static int read_all_the_time(void *data)
{
	struct race *race = data;
	u8 byte;

	while (!READ_ONCE(race->done)) {
		if (!fetch(race->ud, READ_ONCE(race->key), 0, &byte, 1)) {
			if (byte != 1)
				race->freed = true;
			atomic_inc(&race->reads);
		}
		cond_resched();
	}
	return 0;
}

static void nothing_is_read_after_the_close(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, FI_MR_PROV_KEY);
	struct vt_async *reader[NR_READERS];
	struct race race = { .ud = ud };
	struct kofi_mr *mr;
	int i, reads;

	race.buf = vt_buf(test, 8);
	for (i = 0; i < NR_READERS; i++)
		reader[i] = vt_async_start(test, read_all_the_time, &race);
	for (i = 0; i < NR_ROUNDS; i++) {
		reads = atomic_read(&race.reads);
		race.buf[0] = 1;
		mr = ut_mr(test, ud, race.buf, 8, BOTH, 0);
		WRITE_ONCE(race.key, mr->mr.key);
		/* Each region is read before it is closed */
		KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&race.reads) != reads));
		ut_mr_close(test, mr);
		WRITE_ONCE(race.buf[0], 2);
		cond_resched();
	}
	WRITE_ONCE(race.done, true);
	for (i = 0; i < NR_READERS; i++)
		vt_async_join(test, reader[i]);

	KUNIT_EXPECT_FALSE(test, race.freed);
}

static void accesses_are_counted_as_the_counter_was_bound(struct kunit *test)
{
	static const u64 flags[] = { 0, FI_REMOTE_WRITE, FI_REMOTE_READ, BOTH };
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct ut_domain *ud = ut_domain(test, 0);
	void *buf = vt_buf(test, 8);
	struct kofi_cntr cntr;
	struct kofi_mr *mr;
	u64 counted;
	int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		counted = flags[i] ? : BOTH;
		KUNIT_ASSERT_EQ(test, kofi_cntr_init(&cntr, &attr, NULL), 0);
		mr = ut_mr(test, ud, buf, 8, BOTH, KEY);
		kofi_mr_count(mr, BOTH, 0, 8);
		KUNIT_EXPECT_EQ(test, mr->mr.fid.ops->bind(&mr->mr.fid, &cntr.cntr.fid, flags[i]),
				0);
		KUNIT_EXPECT_EQ(test, atomic64_read(&cntr.value), 0);

		kofi_mr_count(mr, FI_REMOTE_WRITE, 0, 8);
		KUNIT_EXPECT_EQ(test, atomic64_read(&cntr.value), !!(counted & FI_REMOTE_WRITE));
		kofi_mr_count(mr, FI_REMOTE_READ, 0, 8);
		KUNIT_EXPECT_EQ(test, atomic64_read(&cntr.value), hweight64(counted));
		KUNIT_EXPECT_EQ(test, atomic64_read(&cntr.errors), 0);
		kofi_mr_count(mr, BOTH, -EIO, 8);
		KUNIT_EXPECT_EQ(test, atomic64_read(&cntr.errors), 1);
		ut_mr_close(test, mr);
	}
}

static void a_counter_is_not_bound_for_anything_else(struct kunit *test)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct ut_domain *ud = ut_domain(test, 0);
	struct kofi_mr *mr = ut_mr(test, ud, vt_buf(test, 8), 8, BOTH, KEY);
	struct fid other = { .fclass = FI_CLASS_CQ };
	struct kofi_cntr cntr;

	KUNIT_ASSERT_EQ(test, kofi_cntr_init(&cntr, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, mr->mr.fid.ops->bind(&mr->mr.fid, &cntr.cntr.fid, FI_REMOTE_WRITE |
						   FI_SEND), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, mr->mr.fid.ops->bind(&mr->mr.fid, &other, 0), -ENOSYS);
	kofi_mr_count(mr, BOTH, 0, 8);
	KUNIT_EXPECT_EQ(test, atomic64_read(&cntr.value), 0);
	ut_mr_close(test, mr);
}

KUNIT_ARRAY_PARAM_DESC(ut_type, ut_types, name);
KUNIT_ARRAY_PARAM_DESC(bounds, accesses, name);
KUNIT_ARRAY_PARAM_DESC(key_mode, key_modes, name);

static struct kunit_case mr_map_cases[] = {
	KUNIT_CASE_PARAM(a_byte_is_named_by_its_offset, ut_type_gen_params),
	KUNIT_CASE_PARAM(a_byte_is_named_by_its_kernel_address, ut_type_gen_params),
	KUNIT_CASE_PARAM(bounds_are_exact, bounds_gen_params),
	KUNIT_CASE(no_bytes_can_be_copied_anywhere),
	KUNIT_CASE(rights_are_as_they_were_given),
	KUNIT_CASE(a_requested_key_is_had_once),
	KUNIT_CASE(the_key_that_says_there_is_none_cannot_be_had),
	KUNIT_CASE(the_map_chooses_keys_of_its_own),
	KUNIT_CASE(a_key_that_is_over_reaches_no_new_region),
	KUNIT_CASE(places_of_regions_are_used_in_turn),
	KUNIT_CASE(more_regions_than_there_are_places_are_refused),
	KUNIT_CASE(a_place_without_memory_leaves_nothing_behind),
	KUNIT_CASE(a_region_that_no_peer_may_reach_has_no_key),
	KUNIT_CASE(three_calls_make_one_kind_of_region),
	KUNIT_CASE(any_part_of_a_long_list_is_found),
	KUNIT_CASE(what_is_no_region_is_refused),
	KUNIT_CASE(a_list_without_memory_is_refused),
	KUNIT_CASE(single_operations_need_another_kind_of_region),
	KUNIT_CASE_PARAM(the_close_waits_for_accesses, key_mode_gen_params),
	KUNIT_CASE(nothing_is_read_after_the_close),
	KUNIT_CASE(accesses_are_counted_as_the_counter_was_bound),
	KUNIT_CASE(a_counter_is_not_bound_for_anything_else),
	{}
};

static struct kunit_suite mr_map_suite = {
	.name		= "kofi_util_mr_map",
	.test_cases	= mr_map_cases,
};

kunit_test_suite(mr_map_suite);
