// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rw operations that are refused: for good, or for now.
 */
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include "rw.h"

ssize_t rw_post(struct vt_far *far, bool read, struct scatterlist *sgl, unsigned int nents,
		size_t offset, size_t len, u64 at, void *context, u64 flags)
{
	u64 addr = vt_far_addr(far) + at, key = fi_mr_key(far->mr);

	if (read)
		return fi_readsgl(far->pair.a.ep, sgl, nents, offset, len, 0,
				  addr, key, context, flags);
	return fi_writesgl(far->pair.a.ep, sgl, nents, offset, len, 0, addr, key, context, flags);
}

static void rw_free_table(void *sgt)
{
	sg_free_table(sgt);
}

struct rw_mem *rw_mem(struct kunit *test, size_t len)
{
	struct rw_mem *mem = vt_buf(test, sizeof(*mem));
	struct scatterlist *sg;
	int i;

	mem->len = PAGE_ALIGN(len);
	mem->mem = vt_vmalloc(test, mem->len);
	KUNIT_ASSERT_EQ(test, sg_alloc_table(&mem->sgt, mem->len / PAGE_SIZE, GFP_KERNEL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rw_free_table, &mem->sgt), 0);
	for_each_sg(mem->sgt.sgl, sg, mem->sgt.orig_nents, i)
		sg_set_page(sg, vmalloc_to_page(mem->mem + i * PAGE_SIZE), PAGE_SIZE, 0);
	return mem;
}

/* What is not read takes a slot, so six of eight are taken */
static void a_queue_without_room_is_not_waited_for(struct kunit *test)
{
	struct rw_mem *mem = rw_mem(test, VT_LONG);
	struct vt_far far = { .rw_ops = 1, .size = 8 };
	int i;

	vt_far_open(test, &far, VT_LONG);
	for (i = 0; i < 6; i++)
		KUNIT_ASSERT_EQ(test, fi_write(far.pair.a.ep, mem->mem, 1, NULL, 0,
					       vt_far_addr(&far), fi_mr_key(far.mr), vt_ctx(i)), 0);
	KUNIT_EXPECT_EQ(test, rw_post(&far, false, mem->sgt.sgl, mem->sgt.nents, 0, mem->len, 0,
				      NULL, FI_COMPLETION), -EAGAIN);
	KUNIT_ASSERT_EQ(test, rw_post(&far, false, mem->sgt.sgl, mem->sgt.nents, 0, 1, 0, vt_ctx(6),
				      FI_COMPLETION), 0);
	for (i = 0; i < 7; i++)
		vt_done(test, far.pair.a.tx, vt_ctx(i));
	KUNIT_ASSERT_EQ(test, rw_post(&far, false, mem->sgt.sgl, mem->sgt.nents, 0, mem->len, 0,
				      vt_ctx(7), FI_COMPLETION), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(7));
	vt_none(test, far.pair.a.tx);
}

static void bad_moves_are_refused(struct kunit *test)
{
	struct rw_mem *mem = rw_mem(test, 2 * PAGE_SIZE);
	struct scatterlist *sgl = mem->sgt.sgl;
	struct vt_far far = { .rw_ops = 1 };
	struct fid_ep *ep;
	u64 key;

	vt_far_open(test, &far, 2 * PAGE_SIZE);
	ep = far.pair.a.ep;
	key = fi_mr_key(far.mr);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, sgl, 2, 1, 2 * PAGE_SIZE, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, sgl, 1, 0, PAGE_SIZE + 1, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, sgl, 3, 0, 2 * PAGE_SIZE + 1, 0, NULL, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, sgl, 2, SIZE_MAX, 2, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, NULL, 0, 0, 1, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, sgl, 1, 0, 1, 0, 0,
					 key | BIT_ULL(32), NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rw_post(&far, false, sgl, 2, 0, 1, 0, NULL, FI_MORE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, rw_post(&far, false, sgl, 2, 0, 1, 0, NULL,
				      FI_INJECT), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, rw_post(&far, false, sgl, 2, 0, 1, 0, NULL,
				      FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, sgl, 2, 0, 1, 0, vt_ctx(1),
				      FI_COMPLETION | FI_FENCE),
			vt_is_iwarp(test) ? -FI_EBADFLAGS : 0);
	if (!vt_is_iwarp(test))
		vt_done(test, far.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_shutdown(ep, 0), 0);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, sgl, 2, 0, 1, 0, NULL, 0), -ESHUTDOWN);
	vt_none(test, far.pair.a.tx);
}

/* An endpoint without FI_OPT_MAX_RW_OPS pays nothing for rw operations */
static void an_endpoint_has_no_moves_by_default(struct kunit *test)
{
	struct rw_mem *mem = rw_mem(test, PAGE_SIZE);
	size_t rw_ops = 7, len = sizeof(rw_ops);
	struct vt_far far = {};

	vt_far_open(test, &far, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, fi_getopt(&far.pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RW_OPS, &rw_ops, &len), 0);
	KUNIT_EXPECT_EQ(test, rw_ops, 0);
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, mem->sgt.sgl, 1, 0, 1, 0, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, rw_post(&far, false, mem->sgt.sgl, 1, 0, 1, 0, NULL, 0), -ENOSYS);
	vt_none(test, far.pair.a.tx);
}

static int set_rw_ops(struct fid_ep *ep, size_t rw_ops)
{
	return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &rw_ops, sizeof(rw_ops));
}

static void the_number_of_moves_is_checked(struct kunit *test)
{
	struct rw_mem *mem = rw_mem(test, PAGE_SIZE);
	size_t rw_ops = 0, len = sizeof(rw_ops);
	struct fid_ep *ep, *shallow;
	struct vt_end end = {};
	struct fi_info *info;

	vt_serve(test, AF_INET, vt_hints(test));
	info = vt_of(test)->info;
	info->caps |= FI_RMA;
	ep = vt_ep(test, info);
	KUNIT_EXPECT_EQ(test, fi_setopt(&ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RW_OPS, &rw_ops, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_rw_ops(ep, info->tx_attr->size + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_rw_ops(ep, info->tx_attr->size), 0);
	KUNIT_EXPECT_EQ(test, set_rw_ops(ep, 2), 0);
	KUNIT_EXPECT_EQ(test, fi_getopt(&ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RW_OPS, &rw_ops, &len), 0);
	KUNIT_EXPECT_EQ(test, rw_ops, 2);
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, mem->sgt.sgl, 1, 0, 1, 0, 0, 0,
					 NULL, 0), -FI_EOPBADSTATE);

	info->tx_attr->size = 2;
	shallow = vt_ep(test, info);
	KUNIT_EXPECT_EQ(test, set_rw_ops(shallow, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_rw_ops(shallow, 0), 0);

	vt_end_open(test, &end, info, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, set_rw_ops(end.ep, 1), -FI_EOPBADSTATE);
}

/*
 * How memory is made short: kunit/core/nomem.c.  What counts allocations, where the kernel
 * has it, makes some itself, and warns when one of these fails; so it rests meanwhile.
 */
#define FAILSLAB	"cd /sys/kernel/debug/failslab && "
#define MIN_ORDER	"/sys/kernel/debug/fail_page_alloc/min-order"
#define COUNTS		"/proc/sys/vm/mem_profiling"
#define COUNTED		"/run/mem_profiling"

static int rw_suite_init(struct kunit_suite *suite)
{
	int ret;

	if (!IS_ENABLED(CONFIG_FAULT_INJECTION))
		return 0;
	ret = vt_shell("[ ! -e " COUNTS " ] || cat " COUNTS " >" COUNTED);
	if (!ret)
		ret = vt_shell("[ ! -e " COUNTS " ] || echo 0 >" COUNTS);
	if (!ret)
		ret = vt_shell(FAILSLAB "echo N >ignore-gfp-wait && echo 0 >verbose");
	if (!ret)
		ret = vt_shell("[ ! -e " MIN_ORDER " ] || echo 99 >" MIN_ORDER);
	return ret;
}

static void rw_suite_exit(struct kunit_suite *suite)
{
	if (!IS_ENABLED(CONFIG_FAULT_INJECTION))
		return;
	vt_shell("[ ! -e " MIN_ORDER " ] || echo 1 >" MIN_ORDER);
	vt_shell(FAILSLAB "echo Y >ignore-gfp-wait && echo 2 >verbose");
	vt_shell("[ ! -e " COUNTED " ] || cat " COUNTED " >" COUNTS);
}

#ifdef CONFIG_FAULT_INJECTION
static void rw_fail_nth(unsigned int n)
{
	WRITE_ONCE(current->fail_nth, n);
}

/* How many more allocations there would have to be */
static unsigned int rw_fail_left(void)
{
	return READ_ONCE(current->fail_nth);
}
#else
static void rw_fail_nth(unsigned int n)
{
}

static unsigned int rw_fail_left(void)
{
	return 1;
}
#endif

/* Each allocation of the call fails once, until it has no more */
static void a_move_short_of_memory_says_so(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, 8);
	struct vt_far far = { .rw_ops = 1 };
	unsigned int n, left = 0;
	ssize_t ret = 0;
	bool read;

	vt_far_open_for(test, &far, pieces);
	for (n = 1; !left; n++) {
		read = n % 2;
		rw_fail_nth(n);
		ret = rw_post(&far, read, pieces->sgl, pieces->count,
			      0, pieces->len, 0, vt_ctx(n), FI_COMPLETION);
		left = rw_fail_left();
		rw_fail_nth(0);
		if (ret)
			KUNIT_ASSERT_EQ_MSG(test, ret, -ENOMEM, "allocation %u", n);
		else
			vt_done(test, far.pair.a.tx, vt_ctx(n));
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	vt_none(test, far.pair.a.tx);
}

static struct kunit_case rw_refuse_cases[] = {
	KUNIT_CASE(a_queue_without_room_is_not_waited_for),
	KUNIT_CASE(bad_moves_are_refused),
	KUNIT_CASE(an_endpoint_has_no_moves_by_default),
	KUNIT_CASE(the_number_of_moves_is_checked),
	KUNIT_CASE(a_move_short_of_memory_says_so),
	{}
};

struct kunit_suite kofi_verbs_rw_refuse_suite = {
	.name		= "kofi_verbs_rw_refuse",
	.suite_init	= rw_suite_init,
	.suite_exit	= rw_suite_exit,
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= rw_refuse_cases,
};
