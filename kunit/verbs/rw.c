// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_readsgl() and fi_writesgl(), the rw operations: lists of any length to and from a region
 * at the other end.  For the client each is one operation, whatever becomes of it.
 *
 * siw completes writes when TCP has them, and says nothing of what the peer thinks:
 * where that matters, iWARP is asked for less.
 */
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "rw.h"

#define VT_RW_OPS	4
#define VT_CHUNK	SZ_64K
#define VT_BIG		SZ_2M

struct rw_dir {
	const char	*name;
	bool		read;
};

static const struct rw_dir rw_dirs[] = {
	{ "read", true },
	{ "write", false },
};

KUNIT_ARRAY_PARAM_DESC(rw_dir, rw_dirs, name);

static u64 rw_flags(bool read)
{
	return FI_RMA | (read ? FI_READ : FI_WRITE);
}

/* No two places alike, also over large distances */
static void rw_fill(void *buf, size_t len, u32 seed)
{
	u32 *words = buf;
	size_t i;

	for (i = 0; i < len / sizeof(*words); i++)
		words[i] = (seed + i) * 2654435761U;
}

/* @len bytes from @offset of the list, to or from @at of the region */
static void rw_one(struct kunit *test, struct vt_far *far, bool read,
		   struct rw_mem *mem, size_t offset, size_t len, u64 at)
{
	u8 *local = mem->mem + offset, *remote = far->target + at;
	struct vt_comp comp;

	rw_fill(read ? far->target : mem->mem, read ? far->len : mem->len, len);
	memset(read ? mem->mem : far->target, 0x5a, read ? mem->len : far->len);
	KUNIT_ASSERT_EQ(test, rw_post(far, read, mem->sgt.sgl, mem->sgt.nents, offset, len, at,
				      vt_ctx(7), FI_COMPLETION), 0);
	comp = vt_done(test, far->pair.a.tx, vt_ctx(7));
	KUNIT_EXPECT_EQ(test, comp.flags, rw_flags(read));
	if (!read)
		vt_ping(test, &far->pair.a, &far->pair.b);
	KUNIT_EXPECT_TRUE_MSG(test, !memcmp(local, remote, len), "%zu bytes from %zu", len, offset);
	if (read) {
		KUNIT_EXPECT_EQ(test, local[-1], 0x5a);
		KUNIT_EXPECT_EQ(test, local[len], 0x5a);
	} else {
		KUNIT_EXPECT_EQ(test, remote[-1], 0x5a);
		KUNIT_EXPECT_EQ(test, remote[len], 0x5a);
	}
	vt_none(test, far->pair.a.tx);
}

static void every_size_is_moved(struct kunit *test)
{
	static const size_t sizes[] = {
		1, 63, 4095, 4096, 4097, 65536, 131077, 524287, VT_LONG - 4500,
	};
	const struct rw_dir *param = test->param_value;
	struct vt_far far = { .rw_ops = 1 };
	struct rw_mem *mem = rw_mem(test, VT_LONG);
	size_t i;

	vt_far_open(test, &far, VT_LONG);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		rw_one(test, &far, param->read, mem, 1 + i * 511, sizes[i], 5 + i);
}

static void rw_free_chunk(void *chunk)
{
	free_pages((unsigned long)chunk, get_order(VT_CHUNK));
}

/* A region in chunks, which devices with larger pages can register */
static struct kvec *rw_chunks(struct kunit *test, struct vt_far *far, size_t count)
{
	struct kvec *chunks = kunit_kcalloc(test, count, sizeof(*chunks), GFP_KERNEL);
	void *chunk;
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, chunks);
	for (i = 0; i < count; i++) {
		chunk = (void *)__get_free_pages(GFP_KERNEL, get_order(VT_CHUNK));
		KUNIT_ASSERT_NOT_NULL(test, chunk);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rw_free_chunk, chunk), 0);
		chunks[i] = (struct kvec) { chunk, VT_CHUNK };
	}
	vt_close(test, &far->mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_regv(vt_of(test)->domain, chunks, count,
					 FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0,
					 0, &far->mr, NULL), 0);
	vt_adopt(test, &far->mr->fid);
	far->target = chunks[0].iov_base;
	return chunks;
}

/* Many rounds; what one region has over iWARP.  More takes emulators too long */
static void a_big_list_is_moved_in_one_call(struct kunit *test)
{
	const struct rw_dir *param = test->param_value;
	struct vt_far far = { .rw_ops = 1 };
	struct kvec *chunks;
	struct rw_mem *mem;
	size_t count, i;

	vt_far_open(test, &far, SZ_4K);
	count = (vt_is_iwarp(test) ? VT_LONG : VT_BIG) / VT_CHUNK;
	chunks = rw_chunks(test, &far, count);
	mem = rw_mem(test, count * VT_CHUNK);
	rw_fill(mem->mem, mem->len, 1);
	for (i = 0; param->read && i < count; i++)
		memcpy(chunks[i].iov_base, mem->mem + i * VT_CHUNK, VT_CHUNK);
	if (param->read)
		memset(mem->mem, 0, mem->len);
	KUNIT_ASSERT_EQ(test, rw_post(&far, param->read, mem->sgt.sgl, mem->sgt.nents, 0, mem->len,
				      0, vt_ctx(1), FI_COMPLETION), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	if (!param->read)
		vt_ping(test, &far.pair.a, &far.pair.b);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_TRUE_MSG(test, !memcmp(chunks[i].iov_base, mem->mem + i * VT_CHUNK,
						    VT_CHUNK), "chunk %zu", i);
	KUNIT_EXPECT_EQ(test, *(u32 *)mem->mem, 2654435761U);
	vt_close(test, &far.mr->fid);
}

/* Elements that begin and end anywhere: a registration takes none of that */
static void a_list_with_gaps_is_moved(struct kunit *test)
{
	const struct rw_dir *param = test->param_value;
	struct vt_pieces *pieces = vt_pieces(test, VT_FAR_PIECES);
	struct vt_far far = { .rw_ops = 1 };

	vt_far_open_for(test, &far, pieces);
	vt_pieces_fill(pieces, param->read ? 0 : 5);
	vt_fill(far.target, pieces->len, param->read ? 5 : 0);
	KUNIT_ASSERT_EQ(test, rw_post(&far, param->read, pieces->sgl, VT_FAR_PIECES, 0, pieces->len,
				      0, vt_ctx(1), FI_COMPLETION), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	vt_ping(test, &far.pair.a, &far.pair.b);
	KUNIT_EXPECT_TRUE(test, vt_pieces_filled(pieces, 5));
	KUNIT_EXPECT_TRUE(test, vt_filled(far.target, pieces->len, 5));
}

static void a_move_of_nothing_completes(struct kunit *test)
{
	const struct rw_dir *param = test->param_value;
	struct rw_mem *mem = rw_mem(test, PAGE_SIZE);
	struct vt_far far = { .rw_ops = 1 };
	struct vt_comp comp;

	vt_far_open(test, &far, SZ_4K);
	KUNIT_ASSERT_EQ(test, rw_post(&far, param->read, mem->sgt.sgl, 1, 9,
				      0, 0, vt_ctx(1), FI_COMPLETION), 0);
	comp = vt_done(test, far.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, rw_flags(param->read));
	vt_none(test, far.pair.a.tx);
}

/* Many rounds each, and the client looks only when all are done */
static void several_moves_share_a_shallow_queue(struct kunit *test)
{
	const struct rw_dir *param = test->param_value;
	struct vt_far far = { .rw_ops = VT_RW_OPS, .size = 3 * VT_RW_OPS };
	size_t len = VT_LONG / VT_RW_OPS - 100;
	struct rw_mem *mem[VT_RW_OPS];
	unsigned long seen = 0;
	struct vt_comp comp;
	ssize_t ret;
	int i;

	vt_far_open(test, &far, VT_LONG);
	for (i = 0; i < VT_RW_OPS; i++) {
		mem[i] = rw_mem(test, len);
		rw_fill(mem[i]->mem, mem[i]->len, param->read ? 0 : i);
	}
	rw_fill(far.target, far.len, 99);
	for (i = 0; i < VT_RW_OPS; i++) {
		while ((ret = rw_post(&far, param->read, mem[i]->sgt.sgl, mem[i]->sgt.nents, 0, len,
				      i * len, vt_ctx(i), FI_COMPLETION)) == -EAGAIN) {
			KUNIT_ASSERT_EQ(test, vt_wait(far.pair.a.tx, &comp), 1);
			KUNIT_ASSERT_EQ(test, comp.err, 0);
			seen |= BIT((unsigned long)comp.context);
		}
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	while (seen != GENMASK(VT_RW_OPS - 1, 0)) {
		KUNIT_ASSERT_EQ(test, vt_wait(far.pair.a.tx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		KUNIT_ASSERT_FALSE(test, seen & BIT((unsigned long)comp.context));
		seen |= BIT((unsigned long)comp.context);
	}
	vt_ping(test, &far.pair.a, &far.pair.b);
	for (i = 0; i < VT_RW_OPS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, !memcmp(mem[i]->mem, far.target + i * len, len),
				      "move %d", i);
	vt_none(test, far.pair.a.tx);
}

struct rw_fault {
	const char	*name;
	bool		read;
	size_t		bytes;	/* of the region */
};

static const struct rw_fault rw_faults[] = {
	{ "read, first round", true, 1 },
	{ "read, a later round", true, VT_LONG - PAGE_SIZE },
	{ "write, first round", false, 1 },
	{ "write, a later round", false, VT_LONG - PAGE_SIZE },
};

KUNIT_ARRAY_PARAM_DESC(rw_fault, rw_faults, name);

static void what_the_peer_refuses_fails_once(struct kunit *test)
{
	const struct rw_fault *param = test->param_value;
	struct rw_mem *mem = rw_mem(test, VT_LONG);
	struct vt_far far = { .rw_ops = 1, .size = 16 };
	struct vt_comp comp;

	vt_far_open(test, &far, param->bytes);
	KUNIT_ASSERT_EQ(test, rw_post(&far, param->read, mem->sgt.sgl, mem->sgt.nents, 0, VT_LONG,
				      0, vt_ctx(6), FI_COMPLETION), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(far.pair.a.tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, comp.flags, rw_flags(param->read));
	if (!vt_is_iwarp(test))
		KUNIT_EXPECT_EQ(test, comp.err, EACCES);
	else if (param->read)
		KUNIT_EXPECT_NE(test, comp.err, 0);
	vt_event(test, far.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, far.pair.b.eq, FI_SHUTDOWN, NULL);
	vt_none(test, far.pair.a.tx);
	KUNIT_EXPECT_EQ(test, rw_post(&far, param->read, mem->sgt.sgl, mem->sgt.nents, 0, 1, 0,
				      NULL, 0), -ESHUTDOWN);
}

static void post_all(struct kunit *test, struct vt_far *far, bool read)
{
	struct rw_mem *mem;
	int i;

	for (i = 0; i < VT_RW_OPS; i++) {
		mem = rw_mem(test, VT_LONG);
		KUNIT_ASSERT_EQ(test, rw_post(far, read, mem->sgt.sgl, mem->sgt.nents, 0, VT_LONG,
					      0, vt_ctx(i), FI_COMPLETION), 0);
	}
}

static void a_connection_that_ends_ends_each_move_once(struct kunit *test)
{
	const struct rw_dir *param = test->param_value;
	struct vt_far far = { .rw_ops = VT_RW_OPS, .size = 32 * VT_RW_OPS };
	unsigned long seen = 0;
	struct vt_comp comp;
	int i;

	vt_far_open(test, &far, VT_LONG);
	post_all(test, &far, param->read);
	KUNIT_ASSERT_EQ(test, fi_shutdown(far.pair.b.ep, 0), 0);
	for (i = 0; i < VT_RW_OPS; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(far.pair.a.tx, &comp), 1);
		KUNIT_ASSERT_FALSE(test, seen & BIT((unsigned long)comp.context));
		seen |= BIT((unsigned long)comp.context);
	}
	KUNIT_EXPECT_EQ(test, seen, GENMASK(VT_RW_OPS - 1, 0));
	vt_close(test, &far.pair.a.ep->fid);
	vt_none(test, far.pair.a.tx);
}

static void an_endpoint_closes_with_moves_in_flight(struct kunit *test)
{
	const struct rw_dir *param = test->param_value;
	struct vt_far far = { .rw_ops = VT_RW_OPS, .size = 32 * VT_RW_OPS };

	vt_far_open(test, &far, VT_LONG);
	post_all(test, &far, param->read);
	vt_close(test, &far.pair.a.ep->fid);
	vt_none(test, far.pair.a.tx);
}

static void a_move_counts_as_one(struct kunit *test)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct vt_far far = {
		.rw_ops = 1, .size = 8, .cntr_dirs = FI_READ | FI_WRITE,
	};
	struct rw_mem *mem = rw_mem(test, VT_CHUNK);
	int i;

	vt_far_serve(test, &far);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &far.cntr, NULL), 0);
	vt_adopt(test, &far.cntr->fid);
	vt_far_join(test, &far, VT_CHUNK);
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, rw_post(&far, i % 2, mem->sgt.sgl, mem->sgt.nents, 0,
					      VT_CHUNK, 0, vt_ctx(i), FI_COMPLETION), 0);
		KUNIT_EXPECT_EQ(test, vt_cntr_wait(far.cntr, i + 1), 0);
		vt_done(test, far.pair.a.tx, vt_ctx(i));
	}
	vt_close(test, &far.pair.a.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(far.cntr), 4);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(far.cntr), 0);
}

/* A move, and how often its callback was called */
struct rw_request {
	struct fi_done		done;
	struct fi_done_entry	entry;
	atomic_t		calls;
	struct completion	finished;
};

static void rw_request_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rw_request *request =
		container_of(done, struct rw_request, done);

	request->entry = *entry;
	atomic_inc(&request->calls);
	complete(&request->finished);
}

static const struct vt_kind rw_done_kinds[] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ },
	{ "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE },
};

KUNIT_ARRAY_PARAM_DESC(rw_done_kind, rw_done_kinds, name);

static void a_callback_is_called_once(struct kunit *test)
{
	struct rw_request *request = vt_buf(test, sizeof(*request));
	struct rw_mem *mem = rw_mem(test, VT_CHUNK);
	struct vt_far far = {
		.rw_ops = 1, .size = 8, .kind = test->param_value,
	};

	vt_far_open(test, &far, VT_CHUNK);
	rw_fill(far.target, far.len, 3);
	request->done.done = rw_request_done;
	init_completion(&request->finished);
	KUNIT_ASSERT_EQ(test, rw_post(&far, true, mem->sgt.sgl, mem->sgt.nents, 0, VT_CHUNK, 0,
				      &request->done, FI_COMPLETION), 0);
	KUNIT_ASSERT_TRUE(test, vt_completed(&request->finished));
	vt_close(test, &far.pair.a.ep->fid);
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
	KUNIT_EXPECT_EQ(test, request->entry.err, 0);
	KUNIT_EXPECT_EQ(test, request->entry.flags, FI_RMA | FI_READ);
	KUNIT_EXPECT_TRUE(test, !memcmp(mem->mem, far.target, VT_CHUNK));
}

/* Only who reads polls; a worker posts the rounds nevertheless */
static void a_polled_queue_moves_too(struct kunit *test)
{
	static const struct vt_kind kind = {
		.name		= "polled",
		.wait_obj	= FI_WAIT_NONE,
		.format		= FI_CQ_FORMAT_DATA,
	};
	struct vt_far far = { .rw_ops = 1, .size = 8, .kind = &kind };
	struct rw_mem *mem = rw_mem(test, VT_CHUNK);

	vt_far_open(test, &far, VT_CHUNK);
	rw_fill(far.target, far.len, 3);
	KUNIT_ASSERT_EQ(test, rw_post(&far, true, mem->sgt.sgl, mem->sgt.nents, 0, VT_CHUNK, 0,
				      vt_ctx(1), FI_COMPLETION), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, !memcmp(mem->mem, far.target, VT_CHUNK));
}

static void a_silent_move_says_nothing(struct kunit *test)
{
	struct vt_far far = {
		.rw_ops = 1, .size = 8,
		.pair.a.bind_flags = FI_SELECTIVE_COMPLETION,
	};
	struct rw_mem *mem = rw_mem(test, VT_CHUNK);
	ssize_t ret;
	int i;

	vt_far_open(test, &far, VT_CHUNK);
	for (i = 0; i < 8; i++) {
		while ((ret = rw_post(&far, false, mem->sgt.sgl, mem->sgt.nents, 0, VT_CHUNK, 0,
				      vt_ctx(1), i == 7 ? FI_COMPLETION : 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	vt_none(test, far.pair.a.tx);
}

static struct kunit_case rw_cases[] = {
	KUNIT_CASE_PARAM(every_size_is_moved, rw_dir_gen_params),
	KUNIT_CASE_PARAM(a_big_list_is_moved_in_one_call, rw_dir_gen_params),
	KUNIT_CASE_PARAM(a_list_with_gaps_is_moved, rw_dir_gen_params),
	KUNIT_CASE_PARAM(a_move_of_nothing_completes, rw_dir_gen_params),
	KUNIT_CASE_PARAM(several_moves_share_a_shallow_queue, rw_dir_gen_params),
	KUNIT_CASE_PARAM(what_the_peer_refuses_fails_once, rw_fault_gen_params),
	KUNIT_CASE_PARAM(a_connection_that_ends_ends_each_move_once, rw_dir_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_closes_with_moves_in_flight, rw_dir_gen_params),
	KUNIT_CASE(a_move_counts_as_one),
	KUNIT_CASE_PARAM(a_callback_is_called_once, rw_done_kind_gen_params),
	KUNIT_CASE(a_polled_queue_moves_too),
	KUNIT_CASE(a_silent_move_says_nothing),
	{}
};

struct kunit_suite kofi_verbs_rw_suite = {
	.name		= "kofi_verbs_rw",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= rw_cases,
};
