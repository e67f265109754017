// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations on regions: every operation on every type with values at the
 * edges, against definitions in the types of C; what is refused; and threads that
 * change one element at the same time.
 *
 * The definitions are in atomic_model.h.
 */
#include <linux/err.h>
#include <kofi/atomic.h>
#include <kofi/iov.h>
#include "atomic_model.h"
#include "mr/mr.h"

#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define KEY		7
#define GUARD		0xa5
#define NR_THREADS	3
#define NR_ROUNDS	200
#define NR_SAME		256

/**
 * struct atomic_test - A region, and lists of the initiator
 * @ud: the region's domain
 * @ep: the endpoint that accesses come through
 * @mr: the region, which is closed after the case
 * @mem: its memory, a page
 * @operand: the initiator's lists, of one buffer each
 * @compare: as @operand
 * @result: as @operand
 * @buf: the buffers of the three
 */
struct atomic_test {
	struct ut_domain	*ud;
	struct fid_ep		ep;
	struct kofi_mr		*mr;
	u8			*mem;
	struct kofi_iov		*operand;
	struct kofi_iov		*compare;
	struct kofi_iov		*result;
	u8			*buf[3];
};

static void close_mr(void *data)
{
	struct atomic_test *at = data;

	if (at->mr)
		at->mr->mr.fid.ops->close(&at->mr->mr.fid);
}

static struct atomic_test *new_test(struct kunit *test, u64 access)
{
	struct atomic_test *at = vt_buf(test, sizeof(*at));
	int i;

	at->ud = ut_domain(test, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_mr, at), 0);
	at->mem = ut_pages(test, 0);
	memset(at->mem, GUARD, PAGE_SIZE);
	at->mr = ut_mr(test, at->ud, at->mem, PAGE_SIZE, access, KEY);
	for (i = 0; i < 3; i++)
		at->buf[i] = vt_buf(test, PAGE_SIZE);
	at->operand = vt_buf(test, KOFI_IOV_SIZE(4));
	at->compare = vt_buf(test, KOFI_IOV_SIZE(4));
	at->result = vt_buf(test, KOFI_IOV_SIZE(4));
	kofi_iov_set_buf(at->operand, at->buf[0], PAGE_SIZE);
	kofi_iov_set_buf(at->compare, at->buf[1], PAGE_SIZE);
	kofi_iov_set_buf(at->result, at->buf[2], PAGE_SIZE);
	return at;
}

static void set_iters(struct atomic_test *at, struct kofi_atomic *atomic, size_t len)
{
	kofi_iov_iter(at->operand, ITER_SOURCE, 0, len, &atomic->operand);
	kofi_iov_iter(at->compare, ITER_SOURCE, 0, len, &atomic->compare);
	kofi_iov_iter(at->result, ITER_DEST, 0, len, &atomic->result);
}

static int get(struct atomic_test *at, struct kofi_rma *rma, const struct fi_rma_ioc *ioc,
	       size_t count, const struct kofi_atomic *atomic)
{
	return kofi_atomic_get(rma, &at->ud->dom.map, &at->ep, ioc, count, atomic);
}

/* Executes an operation on one range; 0, or the error */
static int run(struct atomic_test *at, u64 addr, size_t count, struct kofi_atomic *atomic)
{
	const struct fi_rma_ioc ioc = { .addr = addr, .count = count,
					.key = KEY };
	struct kofi_rma rma = {};
	int ret;

	ret = get(at, &rma, &ioc, 1, atomic);
	if (ret)
		return ret;
	set_iters(at, atomic, rma.len);
	ret = kofi_atomic_run(&rma, atomic);
	kofi_rma_done(&rma, ret);
	return ret;
}

#define NR_VALUES	10

/* Values at the edges of a type: little endian or big, they are cut in C */
static void edge_values(const struct type *type, u64 *value)
{
	u64 top = BIT_ULL(8 * type->size - 1);
	const u64 edges[NR_VALUES] = { 0, 1, 2, 3, top - 1, top, top + 1,
				       2 * top - 1, 2 * top - 2,
				       0x5a3c96e1f00dULL };
	int i;

	for (i = 0; i < NR_VALUES; i++) {
		if (type->size == 1)
			*(u8 *)&value[i] = edges[i];
		else if (type->size == 2)
			*(u16 *)&value[i] = edges[i];
		else if (type->size == 4)
			*(u32 *)&value[i] = edges[i];
		else
			value[i] = edges[i];
	}
}

/* One element: what is in memory, what comes back, and what stays as it was */
static void expect_one(struct kunit *test, struct atomic_test *at, struct kofi_atomic *atomic,
		       const struct type *type, const u64 *mem, const u64 *buf, const u64 *cmp)
{
	size_t size = type->size, addr = 64 + size;
	u8 expect[8];

	memset(at->mem + 64, GUARD, 32);
	memset(at->buf[2], GUARD, 16);
	memcpy(at->mem + addr, mem, size);
	memcpy(at->buf[0], buf, size);
	memcpy(at->buf[1], cmp, size);
	memcpy(expect, mem, size);
	type->model(atomic->op, expect, buf, cmp);

	KUNIT_ASSERT_EQ(test, run(at, addr, 1, atomic), 0);
	if (memcmp(at->mem + addr, expect, size))
		KUNIT_FAIL(test, "op %d of form %llx: %*ph and %*ph (%*ph) give %*ph, not %*ph",
			   atomic->op, atomic->form, (int)size, mem, (int)size, buf, (int)size, cmp,
			   (int)size, at->mem + addr, (int)size, expect);
	if (atomic->form)
		KUNIT_EXPECT_MEMEQ(test, at->buf[2], mem, size);
	else
		KUNIT_EXPECT_EQ(test, at->buf[2][0], GUARD);
	KUNIT_EXPECT_EQ(test, at->mem[addr - 1], GUARD);
	KUNIT_EXPECT_EQ(test, at->mem[addr + size], GUARD);
	KUNIT_EXPECT_EQ(test, at->buf[2][size], GUARD);
}

static void expect_op(struct kunit *test, struct atomic_test *at,
		      const struct type *type, enum fi_op op, u64 form)
{
	struct kofi_atomic atomic = { .datatype = type->datatype, .op = op,
				      .form = form };
	int a, b, c, compares = form == FI_COMPARE_ATOMIC ? NR_VALUES : 1;
	u64 value[NR_VALUES];

	edge_values(type, value);
	for (a = 0; a < NR_VALUES; a++)
		for (b = 0; b < NR_VALUES; b++)
			for (c = 0; c < compares; c++)
				expect_one(test, at, &atomic, type, &value[a],
					   &value[b], &value[c]);
}

static const enum fi_op plain_ops[] = {
	FI_MIN, FI_MAX, FI_SUM, FI_PROD, FI_LOR, FI_LAND, FI_BOR, FI_BAND,
	FI_LXOR, FI_BXOR, FI_ATOMIC_WRITE, FI_DIFF,
};

static const enum fi_op compare_ops[] = {
	FI_CSWAP, FI_CSWAP_NE, FI_CSWAP_LE, FI_CSWAP_LT, FI_CSWAP_GE,
	FI_CSWAP_GT, FI_MSWAP,
};

static void each_operation_does_what_it_is_defined_as(struct kunit *test)
{
	struct atomic_test *at = new_test(test, BOTH);
	const struct type *type = test->param_value;
	int i;

	for (i = 0; i < ARRAY_SIZE(plain_ops); i++) {
		expect_op(test, at, type, plain_ops[i], 0);
		expect_op(test, at, type, plain_ops[i], FI_FETCH_ATOMIC);
	}
	expect_op(test, at, type, FI_ATOMIC_READ, FI_FETCH_ATOMIC);
	for (i = 0; i < ARRAY_SIZE(compare_ops); i++)
		expect_op(test, at, type, compare_ops[i], FI_COMPARE_ATOMIC);
}

static bool among(const enum fi_op *ops, size_t count, enum fi_op op)
{
	while (count--)
		if (ops[count] == op)
			return true;
	return false;
}

static bool has_op(enum fi_op op, u64 form)
{
	if (form == FI_COMPARE_ATOMIC)
		return among(compare_ops, ARRAY_SIZE(compare_ops), op);
	if (form == FI_FETCH_ATOMIC && op == FI_ATOMIC_READ)
		return true;
	return among(plain_ops, ARRAY_SIZE(plain_ops), op);
}

static void what_there_is_is_known(struct kunit *test)
{
	static const u64 forms[] = { 0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC };
	size_t size;
	int i, op, type, ret;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		for (op = -1; op <= FI_DIFF + 1; op++) {
			for (type = -1; type <= FI_UINT128 + 1; type++) {
				size = 0;
				ret = kofi_atomic_valid(type, op, forms[i], &size);
				if (!has_op(op, forms[i]))
					KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
				else if (type < 0 || type > FI_UINT64)
					KUNIT_EXPECT_EQ(test, ret, -EINVAL);
				else
					KUNIT_EXPECT_EQ(test, ret, 0);
				KUNIT_EXPECT_EQ(test, size, ret ? 0 : types[type].size);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, kofi_atomic_valid(FI_INT8, FI_SUM, FI_FETCH_ATOMIC |
						FI_COMPARE_ATOMIC, &size), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, kofi_atomic_valid(FI_INT8, FI_SUM, FI_TAGGED, &size), -FI_EBADFLAGS);
}

static void what_there_is_not_is_not_resolved(struct kunit *test)
{
	struct atomic_test *at = new_test(test, BOTH);
	struct kofi_atomic atomic = { .datatype = FI_DOUBLE, .op = FI_SUM };

	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), -EINVAL);
	atomic.datatype = FI_INT8;
	atomic.op = FI_CSWAP;
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), -ENOSYS);
	KUNIT_EXPECT_EQ(test, atomic_read(&at->mr->refs), 1);
}

static void elements_have_to_be_aligned(struct kunit *test)
{
	struct atomic_test *at = new_test(test, BOTH);
	const struct type *type = test->param_value;
	struct kofi_atomic atomic = { .datatype = type->datatype, .op = FI_BXOR };
	size_t addr, i;
	bool aligned;

	memset(at->buf[0], 0xff, 16);
	for (addr = 0; addr < 8; addr++) {
		aligned = !(addr % type->size);
		memset(at->mem, GUARD, 16);
		KUNIT_EXPECT_EQ(test, run(at, addr, 1, &atomic), aligned ? 0 : -EINVAL);
		for (i = addr; i < addr + type->size; i++)
			KUNIT_EXPECT_EQ(test, at->mem[i], aligned ? GUARD ^ 0xff : GUARD);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&at->mr->refs), 1);
}

/* Addresses in the region are aligned, the memory is not */
static void alignment_is_that_of_the_memory(struct kunit *test)
{
	struct atomic_test *at = new_test(test, BOTH);
	struct kofi_atomic atomic = { .datatype = FI_UINT32, .op = FI_SUM };

	ut_mr_close(test, at->mr);
	at->mr = ut_mr(test, at->ud, at->mem + 2, 64, BOTH, KEY);
	at->buf[0][0] = 1;

	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), -EINVAL);
	KUNIT_EXPECT_EQ(test, run(at, 2, 1, &atomic), 0);
	KUNIT_EXPECT_EQ(test, at->mem[4], GUARD + 1);
}

static void no_element_crosses_the_end_of_a_piece(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	struct atomic_test *at = new_test(test, BOTH);
	struct kofi_atomic atomic = { .datatype = FI_UINT32, .op = FI_SUM };

	ut_mr_close(test, at->mr);
	ut_list_add(test, list, at->mem, 10);
	ut_list_add(test, list, at->mem + 100, 10);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(at->ud, list, BOTH, KEY, 0, &at->mr), 0);
	at->buf[0][0] = 1;

	/* The elements in front of it are not changed either */
	KUNIT_EXPECT_EQ(test, run(at, 0, 3, &atomic), -EINVAL);
	KUNIT_EXPECT_EQ(test, at->mem[0], GUARD);
	KUNIT_EXPECT_EQ(test, run(at, 0, 2, &atomic), 0);
	KUNIT_EXPECT_EQ(test, at->mem[0], GUARD + 1);
}

static void a_read_needs_the_right_to_read_and_the_rest_to_write(struct kunit *test)
{
	struct kofi_atomic atomic = { .datatype = FI_UINT64 };
	struct atomic_test *at = new_test(test, FI_REMOTE_READ);

	atomic.op = FI_ATOMIC_READ;
	atomic.form = FI_FETCH_ATOMIC;
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), 0);
	atomic.op = FI_SUM;
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), -EACCES);
	atomic.form = 0;
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), -EACCES);

	at = new_test(test, FI_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), 0);
	atomic.form = FI_FETCH_ATOMIC;
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), 0);
	atomic.op = FI_ATOMIC_READ;
	KUNIT_EXPECT_EQ(test, run(at, 0, 1, &atomic), -EACCES);
}

static void bounds_are_those_of_the_region(struct kunit *test)
{
	struct kofi_atomic atomic = { .datatype = FI_UINT64, .op = FI_SUM };
	struct atomic_test *at = new_test(test, BOTH);
	size_t all = PAGE_SIZE / 8;

	KUNIT_EXPECT_EQ(test, run(at, 0, all, &atomic), 0);
	KUNIT_EXPECT_EQ(test, run(at, 0, 0, &atomic), 0);
	KUNIT_EXPECT_EQ(test, run(at, 0, all + 1, &atomic), -EACCES);
	KUNIT_EXPECT_EQ(test, run(at, 8, all, &atomic), -EACCES);
	/* A product that wraps around */
	KUNIT_EXPECT_EQ(test, run(at, 0, SIZE_MAX / 8 + 2, &atomic), -EACCES);
}

static void several_ranges_take_their_operands_in_order(struct kunit *test)
{
	struct kofi_atomic atomic = { .datatype = FI_UINT16, .op = FI_SUM,
				      .form = FI_FETCH_ATOMIC };
	const struct fi_rma_ioc ioc[] = { { .addr = 10, .count = 2, .key = KEY },
					  { .addr = 100, .count = 0, .key = KEY },
					  { .addr = 50, .count = 3, .key = KEY } };
	struct atomic_test *at = new_test(test, BOTH);
	u16 *mem = (u16 *)at->mem, *result = (u16 *)at->buf[2];
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_rma rma;
	int i;

	for (i = 0; i < 100; i++)
		mem[i] = i;
	for (i = 0; i < 5; i++)
		((u16 *)at->buf[0])[i] = 1000 * (i + 1);
	/* Elements of the local list end in the middle of operands */
	ut_list_add(test, list, at->buf[0], 3);
	ut_list_add(test, list, at->buf[0] + 3, 7);
	KUNIT_ASSERT_EQ(test, kofi_iov_set(at->operand, 4, FI_BUF_KVEC,
					   list->kvec, 2, SIZE_MAX, false), 0);
	KUNIT_ASSERT_EQ(test, get(at, &rma, ioc, 3, &atomic), 0);
	set_iters(at, &atomic, rma.len);
	KUNIT_EXPECT_EQ(test, kofi_atomic_run(&rma, &atomic), 0);
	kofi_rma_done(&rma, 0);

	KUNIT_EXPECT_EQ(test, mem[5], 5 + 1000);
	KUNIT_EXPECT_EQ(test, mem[6], 6 + 2000);
	KUNIT_EXPECT_EQ(test, mem[7], 7);
	KUNIT_EXPECT_EQ(test, mem[25], 25 + 3000);
	KUNIT_EXPECT_EQ(test, mem[27], 27 + 5000);
	KUNIT_EXPECT_EQ(test, mem[28], 28);
	KUNIT_EXPECT_EQ(test, result[0], 5);
	KUNIT_EXPECT_EQ(test, result[1], 6);
	KUNIT_EXPECT_EQ(test, result[2], 25);
	KUNIT_EXPECT_EQ(test, result[4], 27);
}

static void ranges_that_make_no_sense_are_refused(struct kunit *test)
{
	struct kofi_atomic atomic = { .datatype = FI_UINT16, .op = FI_SUM };
	struct fi_rma_ioc ioc[KOFI_RMA_MAX_IOV + 1];
	struct atomic_test *at = new_test(test, BOTH);
	struct kofi_rma rma;
	int i;

	for (i = 0; i < ARRAY_SIZE(ioc); i++)
		ioc[i] = (struct fi_rma_ioc) { .count = 1, .key = KEY };
	KUNIT_EXPECT_EQ(test, get(at, &rma, ioc, ARRAY_SIZE(ioc), &atomic), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(at, &rma, ioc, 0, &atomic), -EINVAL);
	ioc[1].key = KEY + 1;
	KUNIT_EXPECT_EQ(test, get(at, &rma, ioc, 2, &atomic), -EACCES);
	ioc[1].key = KEY;
	ioc[1].addr = 1;
	KUNIT_EXPECT_EQ(test, get(at, &rma, ioc, 2, &atomic), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&at->mr->refs), 1);
}

static void nothing_is_done_with_too_few_values(struct kunit *test)
{
	struct kofi_atomic atomic = { .datatype = FI_UINT64, .op = FI_CSWAP_NE,
				      .form = FI_COMPARE_ATOMIC };
	const struct fi_rma_ioc ioc = { .count = 2, .key = KEY };
	struct atomic_test *at = new_test(test, BOTH);
	struct iov_iter *iters[] = { &atomic.operand, &atomic.compare,
				     &atomic.result };
	struct kofi_rma rma;
	int i;

	KUNIT_ASSERT_EQ(test, get(at, &rma, &ioc, 1, &atomic), 0);
	for (i = 0; i < 3; i++) {
		set_iters(at, &atomic, rma.len);
		iov_iter_truncate(iters[i], rma.len - 1);
		KUNIT_EXPECT_EQ(test, kofi_atomic_run(&rma, &atomic), -EINVAL);
		KUNIT_EXPECT_EQ(test, at->mem[0], GUARD);
	}
	kofi_rma_put(&rma);
}

/* A read has no operands, and a plain operation no results */
static void values_that_are_not_used_need_not_be_there(struct kunit *test)
{
	const struct fi_rma_ioc ioc = { .count = 1, .key = KEY };
	struct kofi_atomic atomic = { .datatype = FI_UINT64,
				      .op = FI_ATOMIC_READ,
				      .form = FI_FETCH_ATOMIC };
	struct atomic_test *at = new_test(test, BOTH);
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(at, &rma, &ioc, 1, &atomic), 0);
	kofi_iov_iter(at->result, ITER_DEST, 0, 8, &atomic.result);
	KUNIT_EXPECT_EQ(test, kofi_atomic_run(&rma, &atomic), 0);
	KUNIT_EXPECT_MEMEQ(test, at->buf[2], at->mem, 8);
	kofi_rma_done(&rma, 0);

	atomic = (struct kofi_atomic) { .datatype = FI_UINT64,
					.op = FI_ATOMIC_WRITE };
	KUNIT_ASSERT_EQ(test, get(at, &rma, &ioc, 1, &atomic), 0);
	kofi_iov_iter(at->operand, ITER_SOURCE, 0, 8, &atomic.operand);
	KUNIT_EXPECT_EQ(test, kofi_atomic_run(&rma, &atomic), 0);
	KUNIT_EXPECT_MEMEQ(test, at->mem, at->buf[0], 8);
	kofi_rma_done(&rma, 0);
}

/**
 * struct adder - A thread that changes one element
 * @at: the region, whose list names that element NR_SAME times
 * @datatype: its type
 * @operand: what the thread adds, NR_SAME times in each operation
 */
struct adder {
	struct atomic_test	*at;
	enum fi_datatype	datatype;
	void			*operand;
};

static int add_all_the_time(void *data)
{
	const struct fi_rma_ioc ioc = { .count = NR_SAME, .key = KEY };
	struct kofi_atomic atomic = { .op = FI_SUM };
	struct adder *adder = data;
	struct kvec kvec = { adder->operand, PAGE_SIZE };
	struct kofi_rma rma;
	int i, ret;

	atomic.datatype = adder->datatype;
	for (i = 0; i < NR_ROUNDS; i++) {
		ret = get(adder->at, &rma, &ioc, 1, &atomic);
		if (ret)
			return ret;
		iov_iter_kvec(&atomic.operand, ITER_SOURCE, &kvec, 1, PAGE_SIZE);
		ret = kofi_atomic_run(&rma, &atomic);
		kofi_rma_done(&rma, ret);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

static void no_addition_is_lost(struct kunit *test)
{
	struct kvec *same = vt_buf(test, NR_SAME * sizeof(*same));
	const struct type *type = test->param_value;
	struct atomic_test *at = new_test(test, BOTH);
	const struct fi_ops_mr *ops = at->ud->dom.domain.mr;
	struct vt_async *thread[NR_THREADS];
	struct adder adder[NR_THREADS];
	u64 sum = 0, value, expect = 0;
	struct fid_mr *mr;
	int i;

	ut_mr_close(test, at->mr);
	for (i = 0; i < NR_SAME; i++)
		same[i] = (struct kvec) { at->mem, type->size };
	KUNIT_ASSERT_EQ(test, ops->regv(&at->ud->dom.domain.fid, same, NR_SAME,
					BOTH, 0, KEY, 0, &mr, NULL), 0);
	at->mr = to_kofi_mr(&mr->fid);
	memset(at->mem, 0, 16);
	for (i = 0; i < NR_THREADS; i++) {
		adder[i] = (struct adder) { at, type->datatype,
					    vt_buf(test, PAGE_SIZE) };
		memset(adder[i].operand, i + 1, PAGE_SIZE);
		value = 0;
		memcpy(&value, adder[i].operand, type->size);
		expect += value * NR_ROUNDS * NR_SAME;
	}
	for (i = 0; i < NR_THREADS; i++)
		thread[i] = vt_async_start(test, add_all_the_time, &adder[i]);
	for (i = 0; i < NR_THREADS; i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, thread[i]), 0);

	memcpy(&sum, at->mem, type->size);
	KUNIT_EXPECT_EQ(test, sum, expect & GENMASK_ULL(8 * type->size - 1, 0));
	KUNIT_EXPECT_EQ(test, at->mem[type->size], 0);
}

KUNIT_ARRAY_PARAM_DESC(type, types, name);
KUNIT_ARRAY_PARAM_DESC(ut_type, ut_types, name);

static struct kunit_case atomic_cases[] = {
	KUNIT_CASE_PARAM(each_operation_does_what_it_is_defined_as, type_gen_params),
	KUNIT_CASE(what_there_is_is_known),
	KUNIT_CASE(what_there_is_not_is_not_resolved),
	KUNIT_CASE_PARAM(elements_have_to_be_aligned, type_gen_params),
	KUNIT_CASE(alignment_is_that_of_the_memory),
	KUNIT_CASE_PARAM(no_element_crosses_the_end_of_a_piece, ut_type_gen_params),
	KUNIT_CASE(a_read_needs_the_right_to_read_and_the_rest_to_write),
	KUNIT_CASE(bounds_are_those_of_the_region),
	KUNIT_CASE(several_ranges_take_their_operands_in_order),
	KUNIT_CASE(ranges_that_make_no_sense_are_refused),
	KUNIT_CASE(nothing_is_done_with_too_few_values),
	KUNIT_CASE(values_that_are_not_used_need_not_be_there),
	KUNIT_CASE_PARAM(no_addition_is_lost, type_gen_params),
	{}
};

static struct kunit_suite atomic_suite = {
	.name		= "kofi_util_atomic",
	.test_cases	= atomic_cases,
};

kunit_test_suite(atomic_suite);
