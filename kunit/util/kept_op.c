// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that are kept, include/kofi/kept_op.h: what a copy refuses, what stays when
 * the client's lists have gone, and what its execution does to a region.
 */
#include <linux/sizes.h>
#include <kofi/kept_op.h>
#include "mr/mr.h"

#define MAX_MSG		(2 * PAGE_SIZE)
#define INJECT		64
#define MAX_ATOMIC	128
#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define KEY		1
#define SGL_ELEMS	40
#define SGL_LEN		100

/**
 * struct kept_test - An endpoint that is both ends, with one region
 * @ud: the domain
 * @ep: the endpoint
 * @kept: the operation
 * @buf: memory of the region, MAX_MSG bytes
 * @mem: local memory, MAX_MSG bytes
 * @mr: the region
 */
struct kept_test {
	struct ut_domain	*ud;
	struct kofi_ep		ep;
	struct kofi_kept_op	kept;
	u8			*buf;
	u8			*mem;
	struct kofi_mr		*mr;
};

static const struct kofi_ep_limits limits = {
	.max_atomic_size = MAX_ATOMIC,
};

static void close_region(void *data)
{
	struct kofi_mr *mr = data;

	mr->mr.fid.ops->close(&mr->mr.fid);
}

static struct kept_test *new_test(struct kunit *test)
{
	struct kept_test *kt = vt_buf(test, sizeof(*kt));

	memset(kt, 0, sizeof(*kt));
	kt->ep.limits = &limits;
	kt->ep.max_msg_size = MAX_MSG;
	kt->ep.inject_size = INJECT;
	kt->ud = ut_domain(test, 0);
	kt->buf = ut_pages(test, 1);
	kt->mem = ut_pages(test, 1);
	memset(kt->buf, 0, MAX_MSG);
	vt_fill(kt->mem, MAX_MSG, 1);
	kt->mr = ut_mr(test, kt->ud, kt->buf, MAX_MSG, BOTH, KEY);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_region, kt->mr), 0);
	return kt;
}

static int keep(struct kept_test *kt, const struct fi_xfer *xfer)
{
	memset(&kt->kept, 0xa5, sizeof(kt->kept));
	return kofi_keep_op(&kt->kept, &kt->ep, xfer, xfer->flags);
}

static int execute(struct kept_test *kt)
{
	return kofi_execute(&kt->kept, &kt->ep, &kt->ud->dom.map);
}

/* A read or a write of @len bytes; the lists are gone when it returns */
static int keep_rma(struct kept_test *kt, enum fi_op_type kind, size_t len,
		    size_t remote_len, u64 flags)
{
	struct kvec kvec[2] = { { kt->mem, len / 2 },
				{ kt->mem + len / 2, len - len / 2 } };
	struct fi_rma_iov rma[2] = { { 0, 10, KEY },
				     { 10, remote_len - 10, KEY } };
	const struct fi_rma_xfer op = {
		.xfer.type	= kind,
		.xfer.buf_type	= FI_BUF_KVEC,
		.xfer.list	= kvec,
		.xfer.count	= 2,
		.xfer.flags	= flags,
		.rma		= rma,
		.rma_count	= 2,
	};
	int ret = keep(kt, &op.xfer);

	memset(kvec, 0, sizeof(kvec));
	memset(rma, 0, sizeof(rma));
	return ret;
}

static int keep_send(struct kept_test *kt, void *buf, size_t len, u64 flags)
{
	const struct kvec kvec = { buf, len };
	const struct fi_tagged_xfer op = {
		.xfer.type	= FI_OP_TSEND,
		.xfer.buf_type	= FI_BUF_KVEC,
		.xfer.list	= &kvec,
		.xfer.count	= 1,
		.xfer.flags	= flags,
		.xfer.addr	= 3,
		.xfer.data	= 4,
		.tag		= 5,
	};

	return keep(kt, &op.xfer);
}

static void a_message_is_kept_with_all_that_was_said(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u8 copy[16];

	KUNIT_ASSERT_EQ(test, keep_send(kt, kt->mem, 16, FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, kt->kept.type, FI_OP_TSEND);
	KUNIT_EXPECT_EQ(test, kt->kept.flags, FI_COMPLETION);
	KUNIT_EXPECT_EQ(test, kt->kept.addr, 3);
	KUNIT_EXPECT_EQ(test, kt->kept.data, 4);
	KUNIT_EXPECT_EQ(test, kt->kept.tag, 5);
	KUNIT_EXPECT_EQ(test, kt->kept.len, 16);
	KUNIT_EXPECT_FALSE(test, kt->kept.ended);
	KUNIT_EXPECT_NULL(test, kt->kept.sgl);
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(copy, &kt->kept.local, 0, 16), 16);
	KUNIT_EXPECT_TRUE(test, vt_filled(copy, 16, 1));
}

static void injected_data_are_copied(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u8 stack[INJECT + 1], copy[INJECT];

	vt_fill(stack, sizeof(stack), 7);
	KUNIT_ASSERT_EQ(test, keep_send(kt, stack, INJECT, FI_INJECT), 0);
	memset(stack, 0, sizeof(stack));
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(copy, &kt->kept.local, 0, INJECT), INJECT);
	KUNIT_EXPECT_TRUE(test, vt_filled(copy, INJECT, 7));
	KUNIT_EXPECT_EQ(test, keep_send(kt, stack, INJECT + 1, FI_INJECT), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, keep_send(kt, stack, 0, FI_INJECT), 0);
	KUNIT_EXPECT_EQ(test, kt->kept.len, 0);
}

static void a_save_is_kept_without_data(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	const struct fi_xfer op = { .type = FI_OP_SEND, .flags = FI_SAVE };

	KUNIT_EXPECT_EQ(test, keep(kt, &op), 0);
	KUNIT_EXPECT_EQ(test, kt->kept.len, 0);
	KUNIT_EXPECT_EQ(test, kt->kept.local.len, 0);
	KUNIT_EXPECT_EQ(test, keep_send(kt, kt->mem, 16, FI_SAVE), -EINVAL);
}

static void inject_is_bounded_by_the_room_for_it(struct kunit *test)
{
	struct kept_test *kt = new_test(test);

	kt->ep.inject_size = MAX_MSG;
	KUNIT_EXPECT_EQ(test, keep_send(kt, kt->mem, KOFI_OP_INJECT, FI_INJECT), 0);
	KUNIT_EXPECT_EQ(test, keep_send(kt, kt->mem, KOFI_OP_INJECT + 1, FI_INJECT), -EMSGSIZE);
}

static void messages_are_bounded(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	struct kvec kvec[KOFI_OP_IOV + 1];
	struct fi_xfer op = {
		.type = FI_OP_SEND, .buf_type = FI_BUF_KVEC, .list = kvec,
	};
	int i;

	kt->ep.max_msg_size = 100;
	KUNIT_EXPECT_EQ(test, keep_send(kt, kt->mem, 100, 0), 0);
	KUNIT_EXPECT_EQ(test, keep_send(kt, kt->mem, 101, 0), -EMSGSIZE);
	for (i = 0; i < ARRAY_SIZE(kvec); i++)
		kvec[i] = (struct kvec) { kt->mem, 1 };
	op.count = KOFI_OP_IOV;
	KUNIT_EXPECT_EQ(test, keep(kt, &op), 0);
	KUNIT_EXPECT_EQ(test, kt->kept.len, KOFI_OP_IOV);
	KUNIT_EXPECT_EQ(test, kt->kept.tag, 0);
	op.count++;
	KUNIT_EXPECT_EQ(test, keep(kt, &op), -EINVAL);
	KUNIT_EXPECT_EQ(test, keep_send(kt, kt->mem, 16, FI_REMOTE_INV | FI_REMOTE_CQ_DATA),
			-EINVAL);
}

static void a_write_reaches_its_ranges(struct kunit *test)
{
	struct kept_test *kt = new_test(test);

	KUNIT_ASSERT_EQ(test, keep_rma(kt, FI_OP_WRITE, 5000, 5000, 0), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(kt->buf, 5000, 1));
	KUNIT_EXPECT_EQ(test, kt->buf[5000], 0);
}

static void a_read_fills_its_buffers(struct kunit *test)
{
	struct kept_test *kt = new_test(test);

	vt_fill(kt->buf, MAX_MSG, 9);
	memset(kt->mem, 0, MAX_MSG);
	KUNIT_ASSERT_EQ(test, keep_rma(kt, FI_OP_READ, 5000, 5000, 0), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(kt->mem, 5000, 9));
	KUNIT_EXPECT_EQ(test, kt->mem[5000], 0);
}

static void lengths_have_to_agree(struct kunit *test)
{
	struct kept_test *kt = new_test(test);

	KUNIT_EXPECT_EQ(test, keep_rma(kt, FI_OP_WRITE, 100, 99, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, keep_rma(kt, FI_OP_READ, 100, 101, 0), -EINVAL);
	/* The sum does not fit */
	KUNIT_EXPECT_EQ(test, keep_rma(kt, FI_OP_READ, 9, 9, 0), -EINVAL);
}

static void remote_ranges_are_bounded(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	const struct fi_rma_iov rma[KOFI_RMA_MAX_IOV + 1] = {};
	const struct fi_rma_ioc ioc[KOFI_RMA_MAX_IOV + 1] = {};
	struct fi_rma_xfer op = { .xfer.type = FI_OP_WRITE, .rma = rma };
	struct fi_atomic_xfer atomic = {
		.xfer.type = FI_OP_ATOMIC, .ioc = ioc, .ioc_count = KOFI_RMA_MAX_IOV + 1,
		.datatype = FI_UINT32, .op = FI_SUM,
	};

	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	op.rma_count = KOFI_RMA_MAX_IOV;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), 0);
	op.rma_count++;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	KUNIT_EXPECT_EQ(test, keep(kt, &atomic.xfer), -EINVAL);
	atomic.ioc_count = 0;
	KUNIT_EXPECT_EQ(test, keep(kt, &atomic.xfer), -EINVAL);
}

static void what_a_region_refuses_is_not_executed(struct kunit *test)
{
	struct kept_test *kt = new_test(test);

	KUNIT_ASSERT_EQ(test, keep_rma(kt, FI_OP_WRITE, 100, 100, 0), 0);
	kt->kept.rma[1].key = KEY + 1;
	KUNIT_EXPECT_EQ(test, execute(kt), -EACCES);
	KUNIT_EXPECT_EQ(test, kt->buf[0], 0);
	/* As if the target went in the middle */
	KUNIT_ASSERT_EQ(test, keep_rma(kt, FI_OP_WRITE, 100, 100, 0), 0);
	kt->kept.rma[1].len = 1;
	KUNIT_EXPECT_EQ(test, execute(kt), -EACCES);
}

static void a_tag_names_one_range_from_its_start(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	const struct kvec kvec = { kt->mem, 16 };
	struct fi_rma_iov rma[2] = { { .len = 16, .key = 5 } };
	struct fi_rma_xfer op = {
		.xfer.type	= FI_OP_WRITE,
		.xfer.buf_type	= FI_BUF_KVEC,
		.xfer.list	= &kvec,
		.xfer.count	= 1,
		.xfer.flags	= FI_TAGGED,
		.rma		= rma,
		.rma_count	= 1,
	};

	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), 0);
	KUNIT_EXPECT_EQ(test, kt->kept.tag, 5);
	rma->addr = 1;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	rma->addr = 0;
	op.rma_count = 2;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
}

static void an_operation_without_bytes_is_executed(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	const struct fi_rma_iov rma = { .key = KEY };
	struct fi_rma_xfer op = {
		.xfer.type = FI_OP_READ, .rma = &rma, .rma_count = 1,
	};

	KUNIT_ASSERT_EQ(test, keep(kt, &op.xfer), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
}

static const struct sgl_case {
	const char	*name;
	size_t		skip;
	size_t		len;
	int		ret;
} sgl_cases[] = {
	{ "all", 0, SGL_ELEMS * SGL_LEN, 0 },
	{ "from the middle of an element", 150, 3000, 0 },
	{ "from an element's end", 200, SGL_ELEMS * SGL_LEN - 200, 0 },
	{ "nothing", 0, 0, 0 },
	{ "nothing, at the end", SGL_ELEMS * SGL_LEN, 0, 0 },
	{ "one byte too many", 1, SGL_ELEMS * SGL_LEN, -EINVAL },
	{ "from behind the end", SGL_ELEMS * SGL_LEN, 1, -EINVAL },
	{ "more than a message", 0, MAX_MSG + 1, -EMSGSIZE },
	{ "more than can be counted", 100, SIZE_MAX, -EMSGSIZE },
};

KUNIT_ARRAY_PARAM_DESC(sgl, sgl_cases, name);

static void a_list_of_any_length_is_executed(struct kunit *test)
{
	const struct sgl_case *row = test->param_value;
	struct kept_test *kt = new_test(test);
	struct scatterlist *sgl = vt_buf(test, SGL_ELEMS * sizeof(*sgl));
	const struct fi_rma_iov rma = { .len = row->len, .key = KEY };
	const struct fi_rma_xfer op = {
		.xfer.type	= FI_OP_WRITE,
		.xfer.buf_type	= FI_BUF_SGL,
		.xfer.list	= sgl,
		.xfer.count	= SGL_ELEMS,
		.any_length	= true,
		.offset		= row->skip,
		.rma		= &rma,
		.rma_count	= 1,
	};
	int i;

	sg_init_table(sgl, SGL_ELEMS);
	for (i = 0; i < SGL_ELEMS; i++)
		sg_set_buf(&sgl[i], kt->mem + i * SGL_LEN, SGL_LEN);
	KUNIT_ASSERT_EQ(test, keep(kt, &op.xfer), row->ret);
	if (row->ret)
		return;
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_MEMEQ(test, kt->buf, kt->mem + row->skip, row->len);
	KUNIT_EXPECT_EQ(test, kt->buf[row->len], 0);
	if (row->len)
		KUNIT_EXPECT_NOT_NULL(test, kt->kept.sgl);
}

/* Only what the operation needs is looked at, and empty elements have no bytes */
static void a_list_may_have_more_elements_than_are_needed(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	struct scatterlist *sgl = vt_buf(test, SGL_ELEMS * sizeof(*sgl));
	struct fi_rma_iov *rma = vt_buf(test, sizeof(*rma));
	struct fi_rma_xfer op = {
		.xfer.type	= FI_OP_WRITE,
		.xfer.buf_type	= FI_BUF_SGL,
		.xfer.list	= sgl,
		.xfer.count	= 2,
		.any_length	= true,
		.rma		= rma,
		.rma_count	= 1,
	};

	rma->len = 2 * SGL_LEN;
	rma->key = KEY;
	/* Another that has a length and no memory */
	sg_init_table(sgl, SGL_ELEMS);
	sg_set_buf(&sgl[0], kt->mem, 2 * SGL_LEN);
	sgl[1].length = SGL_LEN;
	KUNIT_ASSERT_EQ(test, keep(kt, &op.xfer), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_MEMEQ(test, kt->buf, kt->mem, 2 * SGL_LEN);
	rma->len = 3 * SGL_LEN;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	rma->len = 2 * SGL_LEN;

	/* The list is shorter than its count */
	memset(kt->buf, 0, 2 * SGL_LEN);
	sg_init_table(sgl, 1);
	sg_set_buf(&sgl[0], kt->mem, 2 * SGL_LEN);
	KUNIT_ASSERT_EQ(test, keep(kt, &op.xfer), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_MEMEQ(test, kt->buf, kt->mem, 2 * SGL_LEN);

	/* All in between are empty */
	memset(kt->buf, 0, 2 * SGL_LEN);
	sg_init_table(sgl, SGL_ELEMS);
	sg_set_buf(&sgl[0], kt->mem, SGL_LEN);
	sg_set_buf(&sgl[SGL_ELEMS - 1], kt->mem + SGL_LEN, SGL_LEN);
	op.xfer.count = SGL_ELEMS;
	KUNIT_ASSERT_EQ(test, keep(kt, &op.xfer), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_MEMEQ(test, kt->buf, kt->mem, 2 * SGL_LEN);

	/* Elements that are passed over count, too */
	sg_set_buf(&sgl[1], kt->mem, SGL_LEN);
	sg_set_buf(&sgl[2], kt->mem, SGL_LEN);
	op.xfer.count = 2;
	op.offset = SGL_LEN + 1;
	rma->len = SGL_LEN;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
}

/* Adds up to @count numbers of @operand to the region, in two lists */
static int keep_sum(struct kept_test *kt, enum fi_op_type kind, u32 *operand,
		    u32 *result, u32 *compare, size_t count, u64 flags)
{
	const struct fi_ioc ioc[] = { { operand, 1 }, { operand + 1, count - 1 } };
	const struct fi_ioc res = { result, count }, cmp = { compare, count };
	const struct fi_rma_ioc rma = { .count = count, .key = KEY };
	const struct fi_atomic_xfer op = {
		.xfer.type	= kind,
		.xfer.list	= ioc,
		.xfer.count	= 2,
		.xfer.flags	= flags,
		.result.ioc	= &res,
		.result.count	= 1,
		.compare.ioc	= &cmp,
		.compare.count	= 1,
		.ioc		= &rma,
		.ioc_count	= 1,
		.datatype	= FI_UINT32,
		.op		= kind == FI_OP_COMPARE_ATOMIC ? FI_CSWAP : FI_SUM,
	};

	return keep(kt, &op.xfer);
}

static void an_atomic_operation_changes_the_region(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 *operand = (u32 *)kt->mem, *target = (u32 *)kt->buf;

	operand[0] = 3;
	operand[1] = 4;
	target[0] = 10;
	KUNIT_ASSERT_EQ(test, keep_sum(kt, FI_OP_ATOMIC, operand, NULL, NULL, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_EQ(test, target[0], 13);
	KUNIT_EXPECT_EQ(test, target[1], 4);
	KUNIT_EXPECT_EQ(test, target[2], 0);
}

static void operands_may_be_injected(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 stack[] = { 3, 4 }, *target = (u32 *)kt->buf;

	KUNIT_ASSERT_EQ(test, keep_sum(kt, FI_OP_ATOMIC, stack, NULL, NULL, 2, FI_INJECT), 0);
	stack[0] = 0;
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_EQ(test, target[0], 3);
	KUNIT_EXPECT_EQ(test, target[1], 4);
	KUNIT_EXPECT_EQ(test, keep_sum(kt, FI_OP_ATOMIC, (u32 *)kt->mem, NULL, NULL, INJECT / 4 + 1,
				       FI_INJECT), -EMSGSIZE);
}

static void a_fetch_brings_the_old_values(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 *operand = (u32 *)kt->mem, *result = operand + 8;
	u32 *target = (u32 *)kt->buf;

	operand[0] = 1;
	operand[1] = 1;
	target[0] = 10;
	target[1] = 20;
	KUNIT_ASSERT_EQ(test, keep_sum(kt, FI_OP_FETCH_ATOMIC, operand, result, NULL, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_EQ(test, result[0], 10);
	KUNIT_EXPECT_EQ(test, result[1], 20);
	KUNIT_EXPECT_EQ(test, target[0], 11);
	KUNIT_EXPECT_EQ(test, target[1], 21);
}

static void a_compare_changes_what_is_equal(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 *operand = (u32 *)kt->mem, *result = operand + 8;
	u32 *compare = operand + 16, *target = (u32 *)kt->buf;

	operand[0] = 1;
	operand[1] = 2;
	compare[0] = 10;
	compare[1] = 10;
	target[0] = 10;
	target[1] = 20;
	KUNIT_ASSERT_EQ(test, keep_sum(kt, FI_OP_COMPARE_ATOMIC, operand, result,
				       compare, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_EQ(test, target[0], 1);
	KUNIT_EXPECT_EQ(test, target[1], 20);
	KUNIT_EXPECT_EQ(test, result[1], 20);
}

static void malformed_atomic_operations_are_refused(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 *mem = (u32 *)kt->mem;
	const struct fi_ioc ioc = { mem, 2 }, other = { mem, 3 };
	const struct fi_rma_ioc rma = { .count = 2, .key = KEY };
	const struct fi_atomic_xfer good = {
		.xfer.type	= FI_OP_COMPARE_ATOMIC,
		.xfer.list	= &ioc,
		.xfer.count	= 1,
		.result.ioc	= &ioc,
		.result.count	= 1,
		.compare.ioc	= &ioc,
		.compare.count	= 1,
		.ioc		= &rma,
		.ioc_count	= 1,
		.datatype	= FI_UINT32,
		.op		= FI_CSWAP,
	};
	struct fi_atomic_xfer op = good;

	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), 0);
	op.xfer.list = &other;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	op = good;
	op.result.ioc = &other;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	op = good;
	op.compare.ioc = &other;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	op = good;
	op.xfer.list = NULL;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	op = good;
	op.xfer.count = KOFI_OP_ATOMIC_IOV + 1;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -EINVAL);
	op = good;
	op.op = FI_SUM;
	KUNIT_EXPECT_EQ(test, keep(kt, &op.xfer), -ENOSYS);
	KUNIT_EXPECT_EQ(test, keep_sum(kt, FI_OP_ATOMIC, mem, NULL, NULL,
				       MAX_ATOMIC / 4 + 1, 0), -E2BIG);
}

static void a_read_without_operands_is_executed(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 *result = (u32 *)kt->mem;
	const struct fi_ioc res = { result, 1 };
	const struct fi_rma_ioc rma = { .count = 1, .key = KEY };
	const struct fi_atomic_xfer op = {
		.xfer.type	= FI_OP_FETCH_ATOMIC,
		.result.ioc	= &res,
		.result.count	= 1,
		.ioc		= &rma,
		.ioc_count	= 1,
		.datatype	= FI_UINT32,
		.op		= FI_ATOMIC_READ,
	};

	*(u32 *)kt->buf = 77;
	KUNIT_ASSERT_EQ(test, keep(kt, &op.xfer), 0);
	KUNIT_EXPECT_EQ(test, kt->kept.local.len, 0);
	KUNIT_EXPECT_EQ(test, execute(kt), 0);
	KUNIT_EXPECT_EQ(test, *result, 77);
}

static void an_atomic_operation_that_is_refused_changes_nothing(struct kunit *test)
{
	struct kept_test *kt = new_test(test);
	u32 *operand = (u32 *)kt->mem;

	operand[0] = 1;
	operand[1] = 1;
	KUNIT_ASSERT_EQ(test, keep_sum(kt, FI_OP_ATOMIC, operand, NULL, NULL, 2, 0), 0);
	kt->kept.ioc[0].addr = MAX_MSG - 4;
	KUNIT_EXPECT_EQ(test, execute(kt), -EACCES);
	KUNIT_EXPECT_EQ(test, *(u32 *)(kt->buf + MAX_MSG - 4), 0);
}

static struct kunit_case kept_op_cases[] = {
	KUNIT_CASE(a_message_is_kept_with_all_that_was_said),
	KUNIT_CASE(injected_data_are_copied),
	KUNIT_CASE(a_save_is_kept_without_data),
	KUNIT_CASE(inject_is_bounded_by_the_room_for_it),
	KUNIT_CASE(messages_are_bounded),
	KUNIT_CASE(a_write_reaches_its_ranges),
	KUNIT_CASE(a_read_fills_its_buffers),
	KUNIT_CASE(lengths_have_to_agree),
	KUNIT_CASE(remote_ranges_are_bounded),
	KUNIT_CASE(what_a_region_refuses_is_not_executed),
	KUNIT_CASE(a_tag_names_one_range_from_its_start),
	KUNIT_CASE(an_operation_without_bytes_is_executed),
	KUNIT_CASE_PARAM(a_list_of_any_length_is_executed, sgl_gen_params),
	KUNIT_CASE(a_list_may_have_more_elements_than_are_needed),
	KUNIT_CASE(an_atomic_operation_changes_the_region),
	KUNIT_CASE(operands_may_be_injected),
	KUNIT_CASE(a_fetch_brings_the_old_values),
	KUNIT_CASE(a_compare_changes_what_is_equal),
	KUNIT_CASE(malformed_atomic_operations_are_refused),
	KUNIT_CASE(a_read_without_operands_is_executed),
	KUNIT_CASE(an_atomic_operation_that_is_refused_changes_nothing),
	{}
};

static struct kunit_suite kept_op_suite = {
	.name		= "kofi_util_kept_op",
	.test_cases	= kept_op_cases,
};

kunit_test_suite(kept_op_suite);
