// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions of a dma-buf: what peers reach of it, what is refused, and what happens when
 * its exporter takes the memory back.
 */
#include <linux/err.h>
#include <kofi/atomic.h>
#include <kofi/dmabuf.h>
#include <kofi/iov.h>
#include <kofi/rma.h>
#include "../lib/dmabuf.h"
#include "mr/mr.h"

#define BOTH	(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define SIZE	(4 * PAGE_SIZE)
#define BEGIN	100
#define LEN	(2 * PAGE_SIZE)
#define KEY	77
#define GUARD	0xa5

/**
 * struct db_test - A region in the middle of a dma-buf
 * @ud: its domain
 * @ep: the endpoint that accesses come through
 * @db: the dma-buf
 * @mr: the region, of LEN bytes from BEGIN on
 * @mem: a buffer of the initiator's, as long
 */
struct db_test {
	struct ut_domain	*ud;
	struct fid_ep		ep;
	struct vt_dmabuf	*db;
	struct kofi_mr		*mr;
	u8			*mem;
};

static int reg_flags(struct db_test *dt, const struct fi_mr_dmabuf *piece, u64 access,
		     u64 flags, struct kofi_mr **mr)
{
	const struct fi_mr_attr attr = {
		.dmabuf		= piece,
		.iov_count	= 1,
		.access		= access,
		.requested_key	= KEY,
	};
	struct fid_mr *fid_mr;
	int ret;

	ret = dt->ud->dom.domain.mr->regattr(&dt->ud->dom.domain.fid, &attr,
					     FI_MR_DMABUF | flags, &fid_mr);
	if (!ret)
		*mr = to_kofi_mr(&fid_mr->fid);
	return ret;
}

static int reg(struct db_test *dt)
{
	const struct fi_mr_dmabuf piece = {
		.dmabuf		= dt->db->dmabuf,
		.offset		= BEGIN,
		.len		= LEN,
		.base_addr	= (void *)0x1000,
	};

	return reg_flags(dt, &piece, BOTH, 0, &dt->mr);
}

static void close_region(void *data)
{
	struct db_test *dt = data;

	if (dt->mr)
		dt->mr->mr.fid.ops->close(&dt->mr->mr.fid);
}

/* With an exporter; the region is for the case to make */
static struct db_test *new_exporter(struct kunit *test, enum vt_dmabuf_kind kind, int mr_mode)
{
	struct db_test *dt = vt_buf(test, sizeof(*dt));

	dt->ud = ut_domain(test, mr_mode);
	dt->db = vt_dmabuf(test, kind, SIZE);
	memset(dt->db->mem, GUARD, SIZE);
	dt->mem = vt_buf(test, LEN);
	return dt;
}

static struct db_test *new_test(struct kunit *test, enum vt_dmabuf_kind kind, int mr_mode)
{
	struct db_test *dt = new_exporter(test, kind, mr_mode);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_region, dt), 0);
	KUNIT_ASSERT_EQ(test, reg(dt), 0);
	return dt;
}

static void close_now(struct kunit *test, struct db_test *dt)
{
	ut_mr_close(test, dt->mr);
	dt->mr = NULL;
}

static int get(struct db_test *dt, struct kofi_rma *rma, u64 addr, size_t len, u64 access)
{
	const struct fi_rma_iov iov = { .addr = addr, .len = len, .key = KEY };

	memset(rma, 0xa5, sizeof(*rma));
	return kofi_rma_get(rma, &dt->ud->dom.map, &dt->ep, &iov, 1, access);
}

/* Bytes that went from @dt->mem to the target, from @offset on */
static size_t write_part(struct db_test *dt, const struct kofi_rma *rma, size_t offset, size_t len)
{
	struct kvec kvec = { dt->mem + offset, len };
	struct iov_iter from;

	iov_iter_kvec(&from, ITER_SOURCE, &kvec, 1, len);
	return kofi_rma_write(rma, offset, &from, len);
}

static size_t read_part(struct db_test *dt, const struct kofi_rma *rma, size_t offset, size_t len)
{
	struct kvec kvec = { dt->mem + offset, len };
	struct iov_iter to;

	iov_iter_kvec(&to, ITER_DEST, &kvec, 1, len);
	return kofi_rma_read(rma, offset, &to, len);
}

static const struct db_kind {
	const char		*name;
	enum vt_dmabuf_kind	kind;
} db_kinds[] = {
	{ "that stays", VT_DMABUF_FIXED },
	{ "that may move", VT_DMABUF_MOVES },
};

KUNIT_ARRAY_PARAM_DESC(db_kind, db_kinds, name);

static enum vt_dmabuf_kind kind_of(const struct kunit *test)
{
	const struct db_kind *param = test->param_value;

	return param->kind;
}

static void peers_write_a_piece_of_a_dma_buf(struct kunit *test)
{
	struct db_test *dt = new_test(test, kind_of(test), 0);
	u8 *target = dt->db->mem;
	struct kofi_rma rma;

	vt_fill(dt->mem, LEN, 1);
	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0, LEN, FI_REMOTE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, write_part(dt, &rma, 0, LEN), LEN);
	kofi_rma_done(&rma, 0);

	KUNIT_EXPECT_TRUE(test, vt_filled(target + BEGIN, LEN, 1));
	KUNIT_EXPECT_NULL(test, memchr_inv(target, GUARD, BEGIN));
	KUNIT_EXPECT_NULL(test, memchr_inv(target + BEGIN + LEN, GUARD, SIZE - BEGIN - LEN));
}

static void peers_read_a_piece_of_a_dma_buf(struct kunit *test)
{
	struct db_test *dt = new_test(test, kind_of(test), 0);
	struct kofi_rma rma;

	vt_fill(dt->db->mem + BEGIN, LEN, 2);
	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0, LEN, FI_REMOTE_READ), 0);
	KUNIT_EXPECT_EQ(test, read_part(dt, &rma, 0, LEN), LEN);
	kofi_rma_done(&rma, 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(dt->mem, LEN, 2));
}

static void peers_reach_no_byte_around_the_piece(struct kunit *test)
{
	struct db_test *dt = new_test(test, kind_of(test), 0);
	struct kofi_rma rma;

	KUNIT_EXPECT_EQ(test, get(dt, &rma, LEN - 7, 8, FI_REMOTE_READ), -EACCES);
	KUNIT_EXPECT_EQ(test, get(dt, &rma, U64_MAX, 1, FI_REMOTE_READ), -EACCES);
}

static void addresses_of_peers_begin_where_the_client_says(struct kunit *test)
{
	struct db_test *dt = new_test(test, VT_DMABUF_FIXED, FI_MR_VIRT_ADDR);
	struct kofi_rma rma;

	KUNIT_EXPECT_EQ(test, dt->mr->mr.addr, 0x1000 + BEGIN);
	KUNIT_EXPECT_EQ(test, get(dt, &rma, 0x1000 + BEGIN - 1, 1, FI_REMOTE_READ), -EACCES);
	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0x1000 + BEGIN, LEN, FI_REMOTE_READ), 0);
	kofi_rma_put(&rma);
}

static void a_close_gives_everything_back(struct kunit *test)
{
	struct db_test *dt = new_test(test, kind_of(test), 0);

	KUNIT_EXPECT_TRUE(test, dt->db->mapped);
	KUNIT_EXPECT_EQ(test, dt->db->attached, kind_of(test) == VT_DMABUF_MOVES);
	KUNIT_EXPECT_EQ(test, dt->db->accesses, 1);
	close_now(test, dt);
	vt_dmabuf_expect_unused(test, dt->db);
}

/**
 * struct refusal - Why a region of a dma-buf is refused
 * @name: why
 * @kind: of the exporter
 * @access: of the region
 * @flags: of the registration
 * @len: bytes
 * @iomem: as &struct vt_dmabuf.iomem
 * @attach_ret: the same
 * @access_ret: the same
 * @ret: the answer
 */
struct refusal {
	const char		*name;
	enum vt_dmabuf_kind	kind;
	u64			access;
	u64			flags;
	size_t			len;
	bool			iomem;
	int			attach_ret;
	int			access_ret;
	int			ret;
};

static const struct refusal refusals[] = {
	{ "a local buffer", VT_DMABUF_FIXED, BOTH | FI_SEND, .ret = -EOPNOTSUPP },
	{ "a region of an endpoint", VT_DMABUF_FIXED, BOTH, FI_MR_ENDPOINT,
	  .ret = -FI_EBADFLAGS },
	{ "memory that is lent", VT_DMABUF_FIXED, BOTH, FI_MR_LEND, .ret = -FI_EBADFLAGS },
	{ "too long", VT_DMABUF_FIXED, BOTH, .len = SIZE_MAX, .ret = -EMSGSIZE },
	{ "no mapping", VT_DMABUF_UNMAPPED, BOTH, .ret = -EOPNOTSUPP },
	{ "memory of a device", VT_DMABUF_FIXED, BOTH, .iomem = true, .ret = -EOPNOTSUPP },
	{ "memory of a device that may move", VT_DMABUF_MOVES, BOTH, .iomem = true,
	  .ret = -EOPNOTSUPP },
	{ "no attachment", VT_DMABUF_MOVES, BOTH, .attach_ret = -EBUSY, .ret = -EBUSY },
	{ "no access", VT_DMABUF_FIXED, BOTH, .access_ret = -EIO, .ret = -EIO },
	{ "no access to what may move", VT_DMABUF_MOVES, BOTH, .access_ret = -EIO,
	  .ret = -EIO },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, name);

static void a_refusal_gives_everything_back(struct kunit *test)
{
	const struct refusal *why = test->param_value;
	struct db_test *dt = new_exporter(test, why->kind, 0);
	const struct fi_mr_dmabuf piece = {
		.dmabuf	= dt->db->dmabuf,
		.len	= why->len ? : LEN,
	};
	struct kofi_mr *mr;

	dt->db->iomem = why->iomem;
	dt->db->attach_ret = why->attach_ret;
	dt->db->access_ret = why->access_ret;
	KUNIT_EXPECT_EQ(test, reg_flags(dt, &piece, why->access, why->flags, &mr), why->ret);
	vt_dmabuf_expect_unused(test, dt->db);
	/* The key is free */
	KUNIT_EXPECT_EQ(test, ut_access(dt->ud, &dt->ep, KEY, 0, 0, FI_REMOTE_READ), -EACCES);
}

static void what_has_moved_is_out_of_reach(struct kunit *test)
{
	struct db_test *dt = new_test(test, VT_DMABUF_MOVES, 0);
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(dt->db), 0);
	KUNIT_EXPECT_FALSE(test, dt->db->mapped_at_move);
	KUNIT_EXPECT_EQ(test, get(dt, &rma, 0, 1, FI_REMOTE_READ), -EACCES);
	KUNIT_EXPECT_EQ(test, get(dt, &rma, 0, 0, FI_REMOTE_WRITE), -EACCES);
	/* It may move again, and then the device goes */
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(dt->db), 0);
	close_now(test, dt);
	vt_dmabuf_expect_unused(test, dt->db);
}

static void what_has_moved_can_be_registered_anew(struct kunit *test)
{
	struct db_test *dt = new_test(test, VT_DMABUF_MOVES, 0);
	struct kofi_rma rma;

	vt_fill(dt->db->mem + BEGIN, LEN, 3);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(dt->db), 0);
	close_now(test, dt);
	KUNIT_ASSERT_EQ(test, reg(dt), 0);
	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0, LEN, FI_REMOTE_READ), 0);
	KUNIT_EXPECT_EQ(test, read_part(dt, &rma, 0, LEN), LEN);
	kofi_rma_done(&rma, 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(dt->mem, LEN, 3));
}

static void accesses_under_way_end_with_a_move(struct kunit *test)
{
	struct db_test *dt = new_test(test, VT_DMABUF_MOVES, 0);
	struct kofi_rma rma;

	vt_fill(dt->mem, LEN, 4);
	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0, LEN, BOTH), 0);
	KUNIT_EXPECT_EQ(test, write_part(dt, &rma, 0, 1000), 1000);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(dt->db), 0);
	KUNIT_EXPECT_FALSE(test, dt->db->mapped_at_move);
	KUNIT_EXPECT_EQ(test, write_part(dt, &rma, 1000, 1000), 0);
	KUNIT_EXPECT_EQ(test, read_part(dt, &rma, 1000, 1000), 0);
	KUNIT_EXPECT_EQ(test, kofi_rma_enter(&rma), -EACCES);
	kofi_rma_done(&rma, EACCES);

	KUNIT_EXPECT_MEMEQ(test, dt->db->mem + BEGIN, dt->mem, 1000);
	KUNIT_EXPECT_NULL(test, memchr_inv(dt->db->mem + BEGIN + 1000, GUARD, 1000));
}

static void atomic_operations_end_with_a_move(struct kunit *test)
{
	struct fi_rma_ioc ioc = { .addr = 4, .count = 1, .key = KEY };
	struct db_test *dt = new_test(test, VT_DMABUF_MOVES, 0);
	struct kofi_atomic atomic = {
		.datatype	= FI_UINT32,
		.op		= FI_SUM,
	};
	u32 one = 1, *target = dt->db->mem + BEGIN + 4, before = *target;
	struct kvec kvec = { &one, sizeof(one) };
	struct kofi_rma rma;

	iov_iter_kvec(&atomic.operand, ITER_SOURCE, &kvec, 1, sizeof(one));
	KUNIT_ASSERT_EQ(test, kofi_atomic_get(&rma, &dt->ud->dom.map, &dt->ep, &ioc, 1,
					      &atomic), 0);
	KUNIT_EXPECT_EQ(test, kofi_atomic_run(&rma, &atomic), 0);
	KUNIT_EXPECT_EQ(test, *target, before + 1);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(dt->db), 0);
	iov_iter_kvec(&atomic.operand, ITER_SOURCE, &kvec, 1, sizeof(one));
	KUNIT_EXPECT_EQ(test, kofi_atomic_run(&rma, &atomic), -EACCES);
	kofi_rma_done(&rma, EACCES);
	target = dt->db->mem + BEGIN + 4;
	KUNIT_EXPECT_EQ(test, *target, before + 1);
}

static int move(void *db)
{
	return vt_dmabuf_move(db);
}

static void a_move_waits_for_the_processor(struct kunit *test)
{
	struct db_test *dt = new_test(test, VT_DMABUF_MOVES, 0);
	void *mem = dt->db->mem;
	struct vt_async *thread;
	struct kofi_rma rma;
	int idx;

	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0, LEN, BOTH), 0);
	idx = kofi_rma_enter(&rma);
	KUNIT_ASSERT_GE(test, idx, 0);
	thread = vt_async_start(test, move, dt->db);
	KUNIT_EXPECT_TRUE(test, vt_until(!kofi_dmabuf_is_there(dt->mr->dmabuf)));
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&thread->done, HZ / 10), 0);
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(dt->db->mem), mem);
	kofi_rma_leave(&rma, idx);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_FALSE(test, dt->db->mapped_at_move);
	kofi_rma_put(&rma);
}

static void a_move_ends_all_regions_of_a_dma_buf(struct kunit *test)
{
	struct db_test *dt = new_test(test, VT_DMABUF_MOVES, 0);
	const struct fi_mr_dmabuf piece = { .dmabuf = dt->db->dmabuf, .len = SIZE };
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= BOTH,
		.requested_key	= KEY + 1,
	};
	struct fid_mr *other;

	KUNIT_ASSERT_EQ(test, kofi_mr_regattr(&dt->ud->dom.map, &attr, FI_MR_DMABUF, &other), 0);
	KUNIT_EXPECT_EQ(test, ut_access(dt->ud, &dt->ep, KEY + 1, 0, SIZE, BOTH), 0);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(dt->db), 0);
	KUNIT_EXPECT_FALSE(test, dt->db->mapped_at_move);
	KUNIT_EXPECT_EQ(test, ut_access(dt->ud, &dt->ep, KEY, 0, 1, BOTH), -EACCES);
	KUNIT_EXPECT_EQ(test, ut_access(dt->ud, &dt->ep, KEY + 1, 0, 1, BOTH), -EACCES);
	KUNIT_EXPECT_EQ(test, other->fid.ops->close(&other->fid), 0);
}

static void other_regions_are_held_by_nothing(struct kunit *test)
{
	struct db_test *dt = new_exporter(test, VT_DMABUF_FIXED, 0);
	struct kofi_rma rma;

	dt->mr = ut_mr(test, dt->ud, dt->mem, LEN, BOTH, KEY);
	KUNIT_ASSERT_EQ(test, get(dt, &rma, 0, LEN, BOTH), 0);
	KUNIT_EXPECT_FALSE(test, rma.revocable);
	KUNIT_EXPECT_EQ(test, kofi_rma_enter(&rma), 0);
	kofi_rma_leave(&rma, 0);
	kofi_rma_put(&rma);
	close_now(test, dt);
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE_PARAM(peers_write_a_piece_of_a_dma_buf, db_kind_gen_params),
	KUNIT_CASE_PARAM(peers_read_a_piece_of_a_dma_buf, db_kind_gen_params),
	KUNIT_CASE_PARAM(peers_reach_no_byte_around_the_piece, db_kind_gen_params),
	KUNIT_CASE(addresses_of_peers_begin_where_the_client_says),
	KUNIT_CASE_PARAM(a_close_gives_everything_back, db_kind_gen_params),
	KUNIT_CASE_PARAM(a_refusal_gives_everything_back, refusal_gen_params),
	KUNIT_CASE(what_has_moved_is_out_of_reach),
	KUNIT_CASE(what_has_moved_can_be_registered_anew),
	KUNIT_CASE(accesses_under_way_end_with_a_move),
	KUNIT_CASE(atomic_operations_end_with_a_move),
	KUNIT_CASE(a_move_waits_for_the_processor),
	KUNIT_CASE(a_move_ends_all_regions_of_a_dma_buf),
	KUNIT_CASE(other_regions_are_held_by_nothing),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name		= "kofi_util_dmabuf",
	.test_cases	= dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);
