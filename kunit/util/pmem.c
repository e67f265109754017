// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory at the target, include/kofi/pmem.h: which memory is, what the record of a
 * region keeps, and what exactly is written back when.
 */
#include <linux/module.h>
#include <kofi/iov.h>
#include <kofi/kept_op.h>
#include <kofi/pmem.h>
#include "mr/mr.h"

#define KEY		1
#define LEN		(2 * PAGE_SIZE)
#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define MAX_CALLS	64

/**
 * struct pmem_test - A region, and what was done to it
 * @ud: the domain
 * @ep: where accesses come through
 * @mem: LEN bytes, which are persistent
 * @mr: of @mem
 * @calls: ranges that were written back, as offsets in @mem
 * @count: how many
 * @fenced: @count at the last fence
 * @hold: a write back waits for @leave
 * @entered: it is there
 * @leave: it may go on
 */
static struct pmem_test {
	struct ut_domain	*ud;
	struct kofi_ep		ep;
	u8			*mem;
	struct kofi_mr		*mr;
	struct kofi_pmem_range	calls[MAX_CALLS];
	u32			count;
	u32			fenced;
	bool			hold;
	struct completion	entered;
	struct completion	leave;
} pt;

static bool is_persistent(const void *addr, size_t len)
{
	return addr >= (void *)pt.mem && addr + len <= (void *)pt.mem + LEN;
}

static void write_back(void *addr, size_t len)
{
	size_t at = (u8 *)addr - pt.mem;

	if (pt.hold) {
		complete(&pt.entered);
		wait_for_completion(&pt.leave);
	}
	if (pt.count < MAX_CALLS)
		pt.calls[pt.count] = (struct kofi_pmem_range) { at, at + len };
	pt.count++;
}

static void fence(void)
{
	pt.fenced = pt.count;
}

static const struct kofi_pmem_ops ops = {
	.is_persistent	= is_persistent,
	.write_back	= write_back,
	.fence		= fence,
	.owner		= THIS_MODULE,
};

static const struct kofi_ep_limits limits = { .max_atomic_size = 64 };

static void end(void *data)
{
	if (pt.mr)
		pt.mr->mr.fid.ops->close(&pt.mr->mr.fid);
	kofi_pmem_set_ops(NULL);
}

static int reg(struct kunit *test, enum fi_buf_type type, void *first, void *second, u64 flags,
	       struct kofi_mr **mr)
{
	static u64 key = KEY + 1;
	struct ut_list *list = ut_list(test, type);

	ut_list_add(test, list, first, PAGE_SIZE);
	ut_list_add(test, list, second, PAGE_SIZE);
	return ut_mr_reg(pt.ud, list, BOTH, key++, flags, mr);
}

static void begin(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);

	memset(&pt, 0, sizeof(pt));
	init_completion(&pt.entered);
	init_completion(&pt.leave);
	pt.ep.limits = &limits;
	pt.ep.max_msg_size = LEN;
	pt.ud = ut_domain(test, 0);
	pt.mem = ut_pages(test, 1);
	kofi_pmem_set_ops(&ops);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end, NULL), 0);
	ut_list_add(test, list, pt.mem, LEN);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(pt.ud, list, BOTH, KEY, FI_RMA_PMEM, &pt.mr), 0);
}

static int get(struct kofi_rma *rma, size_t offset, size_t len, u64 access)
{
	struct fi_rma_iov iov = { offset, len, KEY };

	memset(rma, 0xa5, sizeof(*rma));
	return kofi_rma_get(rma, &pt.ud->dom.map, &pt.ep.ep, &iov, 1, access);
}

/* What a provider does for a write, but for the copy */
static void write_ends(struct kunit *test, size_t offset, size_t len, int err)
{
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(&rma, offset, len, FI_REMOTE_WRITE), 0);
	kofi_rma_done(&rma, err);
}

static int save(void *data)
{
	struct kofi_rma rma;
	int ret = get(&rma, 0, 0, FI_REMOTE_WRITE);

	if (ret)
		return ret;
	kofi_rma_save(&rma, true);
	ret = rma.len;
	kofi_rma_done(&rma, 0);
	return ret;
}

static void expect_calls(struct kunit *test, const struct kofi_pmem_range *want, u32 count)
{
	KUNIT_ASSERT_EQ(test, pt.count, count);
	KUNIT_EXPECT_EQ(test, pt.fenced, count);
	if (count)
		KUNIT_EXPECT_MEMEQ(test, (u8 *)pt.calls, (u8 *)want, count * sizeof(*want));
	pt.count = 0;
	pt.fenced = 0;
}

static void the_memory_of_the_machine_is_not_persistent(struct kunit *test)
{
	struct kofi_mr *mr;

	begin(test);
	kofi_pmem_set_ops(NULL);
	KUNIT_EXPECT_EQ(test, reg(test, ut_type(test), pt.mem, pt.mem + PAGE_SIZE, FI_RMA_PMEM,
				  &mr), -EINVAL);
}

static void vmalloc_memory_is_not_persistent(struct kunit *test)
{
	u8 *mem = ut_vmalloc(test, LEN);
	struct kofi_mr *mr;

	begin(test);
	kofi_pmem_set_ops(NULL);
	KUNIT_EXPECT_EQ(test, reg(test, FI_BUF_KVEC, mem, mem + PAGE_SIZE, FI_RMA_PMEM, &mr),
			-EINVAL);
}

static void all_of_a_region_has_to_be_persistent(struct kunit *test)
{
	u8 *other = ut_pages(test, 0);
	struct kofi_mr *mr;

	begin(test);
	KUNIT_EXPECT_EQ(test, reg(test, ut_type(test), pt.mem, other, FI_RMA_PMEM, &mr), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg(test, ut_type(test), other, pt.mem, FI_RMA_PMEM, &mr), -EINVAL);
	KUNIT_ASSERT_EQ(test, reg(test, ut_type(test), pt.mem + PAGE_SIZE, pt.mem, FI_RMA_PMEM,
				  &mr), 0);
	KUNIT_EXPECT_NOT_NULL(test, mr->pmem);
	mr->mr.fid.ops->close(&mr->mr.fid);
	KUNIT_ASSERT_EQ(test, reg(test, ut_type(test), pt.mem, other, 0, &mr), 0);
	KUNIT_EXPECT_NULL(test, mr->pmem);
	mr->mr.fid.ops->close(&mr->mr.fid);
}

static void regions_for_single_operations_are_refused(struct kunit *test)
{
	struct kofi_mr *mr;

	begin(test);
	KUNIT_EXPECT_EQ(test, reg(test, FI_BUF_KVEC, pt.mem, pt.mem + PAGE_SIZE,
				  FI_RMA_PMEM | FI_MR_ENDPOINT, &mr), -FI_EBADFLAGS);
}

static void a_region_pins_the_module_of_its_table(struct kunit *test)
{
	static struct module going = { .state = MODULE_STATE_GOING };
	static const struct kofi_pmem_ops going_ops = {
		.is_persistent	= is_persistent,
		.write_back	= write_back,
		.fence		= fence,
		.owner		= &going,
	};
	int before = module_refcount(THIS_MODULE);
	struct kofi_mr *mr;

	begin(test);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), before + 1);
	kofi_pmem_set_ops(&going_ops);
	KUNIT_EXPECT_EQ(test, reg(test, FI_BUF_KVEC, pt.mem, pt.mem + PAGE_SIZE, FI_RMA_PMEM,
				  &mr), -ENODEV);
	end(NULL);
	pt.mr = NULL;
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), before);
}

static void a_save_writes_back_what_was_written_once(struct kunit *test)
{
	static const struct kofi_pmem_range want[] = { { 100, 300 }, { 1000, 1001 } };

	begin(test);
	write_ends(test, 100, 100, 0);
	write_ends(test, 1000, 1, 0);
	write_ends(test, 200, 100, 0);
	write_ends(test, 150, 10, 0);
	write_ends(test, 2000, 0, 0);
	KUNIT_EXPECT_EQ(test, save(NULL), 0);
	expect_calls(test, want, 2);
	KUNIT_EXPECT_EQ(test, save(NULL), 0);
	expect_calls(test, want, 0);
}

static void ranges_grow_to_both_sides(struct kunit *test)
{
	static const struct kofi_pmem_range want[] = { { 50, 400 } };

	begin(test);
	write_ends(test, 100, 100, 0);
	write_ends(test, 50, 50, 0);
	write_ends(test, 150, 250, 0);
	save(NULL);
	expect_calls(test, want, 1);
}

static void too_many_ranges_are_the_whole_region(struct kunit *test)
{
	static const struct kofi_pmem_range all[] = { { 0, LEN } }, one[] = { { 7, 8 } };
	int i;

	begin(test);
	for (i = 0; i < KOFI_PMEM_RANGES; i++)
		write_ends(test, 100 * i, 10, 0);
	save(NULL);
	KUNIT_EXPECT_EQ(test, pt.count, KOFI_PMEM_RANGES);
	pt.count = 0;
	for (i = 0; i <= KOFI_PMEM_RANGES; i++)
		write_ends(test, 100 * i, 10, 0);
	/* It joins nothing any more */
	write_ends(test, 5, 10, 0);
	save(NULL);
	expect_calls(test, all, 1);
	write_ends(test, 7, 1, 0);
	save(NULL);
	expect_calls(test, one, 1);
}

static void a_commit_writes_back_its_own_ranges(struct kunit *test)
{
	static const struct kofi_pmem_range own[] = { { 500, 600 } }, rest[] = { { 0, 10 } };
	struct kofi_rma rma;

	begin(test);
	write_ends(test, 0, 10, 0);
	KUNIT_ASSERT_EQ(test, get(&rma, 500, 100, FI_REMOTE_WRITE), 0);
	KUNIT_EXPECT_TRUE(test, kofi_rma_is_persistent(&rma));
	kofi_rma_commit(&rma);
	kofi_rma_done(&rma, 0);
	expect_calls(test, own, 1);
	save(NULL);
	expect_calls(test, rest, 1);
}

static void a_write_that_failed_half_way_is_saved(struct kunit *test)
{
	static const struct kofi_pmem_range want[] = { { 10, 20 } };

	begin(test);
	write_ends(test, 10, 10, ECANCELED);
	save(NULL);
	expect_calls(test, want, 1);
}

static void what_changed_nothing_is_not_saved(struct kunit *test)
{
	struct kofi_rma rma;

	begin(test);
	KUNIT_ASSERT_EQ(test, get(&rma, 0, 100, FI_REMOTE_READ), 0);
	kofi_rma_done(&rma, 0);
	KUNIT_ASSERT_EQ(test, get(&rma, 0, 100, FI_REMOTE_WRITE), 0);
	kofi_rma_put(&rma);
	save(NULL);
	expect_calls(test, NULL, 0);
}

static void a_save_without_commit_writes_nothing_back(struct kunit *test)
{
	static const struct kofi_pmem_range want[] = { { 0, 10 } };
	struct kofi_rma rma;

	begin(test);
	write_ends(test, 0, 10, 0);
	KUNIT_ASSERT_EQ(test, get(&rma, 0, 100, FI_REMOTE_WRITE), 0);
	kofi_rma_save(&rma, false);
	KUNIT_EXPECT_EQ(test, rma.len, 0);
	kofi_rma_done(&rma, 0);
	expect_calls(test, NULL, 0);
	save(NULL);
	expect_calls(test, want, 1);
}

/* One that finds the record empty answers for the same bytes */
static void a_save_waits_for_the_one_before(struct kunit *test)
{
	struct vt_async *first, *second;

	begin(test);
	write_ends(test, 0, 10, 0);
	pt.hold = true;
	first = vt_async_start(test, save, NULL);
	wait_for_completion(&pt.entered);
	pt.hold = false;
	second = vt_async_start(test, save, NULL);
	/* It has emptied the record, or would have by then */
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&second->done, msecs_to_jiffies(50)));
	complete(&pt.leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, first), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, second), 0);
	KUNIT_EXPECT_EQ(test, pt.count, 1);
}

/* Operations that are kept and executed */

static int execute(enum fi_op_type type, u64 flags, u64 key, size_t local, size_t remote)
{
	static u8 buf[16];
	const struct kvec kvec = { buf, local };
	const struct fi_ioc operand = { buf, local / 8 };
	const struct fi_rma_iov range = { 64, remote, key };
	const struct fi_rma_ioc values = { 64, remote / 8, key };
	const struct fi_rma_xfer rma = {
		.xfer.type	= FI_OP_WRITE,
		.xfer.list	= &kvec,
		.xfer.count	= local ? 1 : 0,
		.rma		= &range,
		.rma_count	= 1,
	};
	const struct fi_atomic_xfer atomic = {
		.xfer.type	= FI_OP_ATOMIC,
		.xfer.list	= &operand,
		.xfer.count	= local ? 1 : 0,
		.ioc		= &values,
		.ioc_count	= 1,
		.datatype	= FI_UINT64,
		.op		= FI_ATOMIC_WRITE,
	};
	static struct kofi_kept_op kept;
	int ret;

	ret = kofi_keep_op(&kept, &pt.ep, type == FI_OP_ATOMIC ? &atomic.xfer : &rma.xfer, flags);
	return ret ? : kofi_execute(&kept, &pt.ep, &pt.ud->dom.map);
}

static const struct kind {
	const char		*name;
	enum fi_op_type		kind;
} kinds[] = {
	{ "write", FI_OP_WRITE },
	{ "atomic", FI_OP_ATOMIC },
};

KUNIT_ARRAY_PARAM_DESC(ut_type, ut_types, name);
KUNIT_ARRAY_PARAM_DESC(kind, kinds, name);

static void an_operation_is_committed_or_saved(struct kunit *test)
{
	static const struct kofi_pmem_range want[] = { { 64, 72 } };
	const struct kind *kind = test->param_value;

	begin(test);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_COMMIT_COMPLETE, KEY, 8, 8), 0);
	expect_calls(test, want, 1);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, 0, KEY, 8, 8), 0);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_SAVE, KEY, 0, 8), 0);
	expect_calls(test, NULL, 0);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_SAVE | FI_COMMIT_COMPLETE, KEY, 0, 8), 0);
	expect_calls(test, want, 1);
}

static void an_operation_on_other_memory_is_not_committed(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	u8 *other = ut_pages(test, 1);
	struct kofi_mr *mr;

	begin(test);
	mr = ut_mr(test, pt.ud, other, LEN, BOTH, 77);
	memset(other, 1, LEN);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_COMMIT_COMPLETE, 77, 8, 8), -EACCES);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_SAVE | FI_COMMIT_COMPLETE, 77, 0, 8), -EACCES);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_SAVE, 77, 0, 8), 0);
	KUNIT_EXPECT_EQ(test, other[64], 1);
	expect_calls(test, NULL, 0);
	ut_mr_close(test, mr);
}

static void a_save_has_no_local_list(struct kunit *test)
{
	const struct kind *kind = test->param_value;

	begin(test);
	KUNIT_EXPECT_EQ(test, execute(kind->kind, FI_SAVE, KEY, 8, 8), -EINVAL);
}

static struct kunit_case pmem_cases[] = {
	KUNIT_CASE_PARAM(the_memory_of_the_machine_is_not_persistent, ut_type_gen_params),
	KUNIT_CASE(vmalloc_memory_is_not_persistent),
	KUNIT_CASE_PARAM(all_of_a_region_has_to_be_persistent, ut_type_gen_params),
	KUNIT_CASE(regions_for_single_operations_are_refused),
	KUNIT_CASE(a_region_pins_the_module_of_its_table),
	KUNIT_CASE(a_save_writes_back_what_was_written_once),
	KUNIT_CASE(ranges_grow_to_both_sides),
	KUNIT_CASE(too_many_ranges_are_the_whole_region),
	KUNIT_CASE(a_commit_writes_back_its_own_ranges),
	KUNIT_CASE(a_write_that_failed_half_way_is_saved),
	KUNIT_CASE(what_changed_nothing_is_not_saved),
	KUNIT_CASE(a_save_without_commit_writes_nothing_back),
	KUNIT_CASE(a_save_waits_for_the_one_before),
	KUNIT_CASE_PARAM(an_operation_is_committed_or_saved, kind_gen_params),
	KUNIT_CASE_PARAM(an_operation_on_other_memory_is_not_committed, kind_gen_params),
	KUNIT_CASE_PARAM(a_save_has_no_local_list, kind_gen_params),
	{}
};

static struct kunit_suite pmem_suite = {
	.name		= "kofi_util_pmem",
	.test_cases	= pmem_cases,
};

kunit_test_suite(pmem_suite);
