// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions as a peer sees them: the bytes, the bytes around them, what it
 * may do with them, and what becomes of a key.
 *
 * An access that is refused ends the connection, so each case that provokes one
 * has a peer for it.
 */
#include <linux/workqueue.h>
#include "../lib/dmabuf.h"
#include "../lib/memory.h"
#include "verbs.h"
#include "peer.h"

#define MR_LEN		(VT_AREA - 2 * PAGE_SIZE)
#define MR_KEYS		40
#define MR_ALL		(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)
#define MR_LOCAL	(FI_SEND | FI_RECV | FI_READ | FI_WRITE)

static struct fid_mr *mr_reg(struct kunit *test, void *buf, size_t len, u64 access)
{
	struct fid_mr *mr = NULL;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, len, access,
					0, 0, 0, &mr, NULL), 0);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	vt_adopt(test, &mr->fid);
	return mr;
}

static struct fid_mr *mr_reg_list(struct kunit *test, const struct vt_memory *memory, void *buf,
				  size_t len)
{
	struct vt_list *list = vt_buf(test, sizeof(*list));
	struct fi_mr_attr attr = {
		.type		= memory->type,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.context	= test,
	};
	struct fid_mr *mr = NULL;

	vt_make_list(list, memory, buf, len);
	attr.mr_iov = list->msg.msg_iov;
	attr.iov_count = list->msg.iov_count;
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, 0, &mr), 0);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_PTR_EQ(test, mr->fid.context, test);
	/* The list is the caller's again, the memory is not */
	kunit_kfree(test, list);
	return mr;
}

static u64 mr_addr(const void *buf)
{
	return (uintptr_t)buf;
}

static void reach(struct kunit *test, struct vt_peer *peer,
		  const struct vt_memory *memory, u8 *buf, size_t len)
{
	struct fid_mr *mr = mr_reg_list(test, memory, buf, len);
	u64 key = fi_mr_key(mr);

	vt_fill(buf, len, len);
	buf[len] = 0x5a;
	KUNIT_ASSERT_EQ(test, vt_peer_read(peer, mr_addr(buf), key, len), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(peer->buf, len, len), "read of %zu bytes", len);

	vt_fill(peer->buf, len, len + 1);
	KUNIT_ASSERT_EQ(test, vt_peer_write(peer, mr_addr(buf), key, len), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(buf, len, len + 1), "write of %zu bytes", len);
	KUNIT_EXPECT_EQ(test, buf[len], 0x5a);
	vt_close(test, &mr->fid);
}

static void memory_of_every_kind_can_be_reached(struct kunit *test)
{
	static const size_t sizes[] = { 1, 255, 4096, 4097, MR_LEN };
	const struct vt_memory *param = test->param_value;
	struct vt_peer *peer;
	void *buf;
	int i;

	vt_serve(test, AF_INET, NULL);
	peer = vt_peer(test);
	buf = param->alloc(test) + param->offset;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		reach(test, peer, param, buf, sizes[i]);
}

/* From the middle of the memory, so that there is something around it */
static void bytes_around_are_refused(struct kunit *test)
{
	const struct vt_memory *param = test->param_value;
	size_t len = MR_LEN / 2;
	struct vt_peer *peer;
	struct fid_mr *mr;
	u8 *buf;

	vt_serve(test, AF_INET, NULL);
	buf = (u8 *)param->alloc(test) + param->offset + 100;
	memset(buf - 1, 0x5a, len + 2);
	mr = mr_reg_list(test, param, buf, len);

	peer = vt_peer(test);
	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, mr_addr(buf), fi_mr_key(mr), len), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, mr_addr(buf) - 1, fi_mr_key(mr), 1),
			IB_WC_REM_ACCESS_ERR);
	vt_peer_close(peer);

	peer = vt_peer(test);
	KUNIT_EXPECT_EQ(test, vt_peer_write(peer, mr_addr(buf) + 1, fi_mr_key(mr), len),
			IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, buf[-1], 0x5a);
	KUNIT_EXPECT_EQ(test, buf[len], 0x5a);
}

/* Across the end, before the start, and where numbers wrap */
struct mr_range {
	const char	*name;
	s64		offset;
	size_t		len;
	bool		write;
};

#define RANGE_LEN	5000

static const struct mr_range mr_ranges[] = {
	{ "read across the start", -1, 2, false },
	{ "read across the end", RANGE_LEN - 1, 2, false },
	{ "read behind the end", RANGE_LEN, 1, false },
	{ "read of one byte too many", 0, RANGE_LEN + 1, false },
	{ "write before the start", -1, 1, true },
	{ "write across the start", -1, 2, true },
	{ "write across the end", RANGE_LEN - 1, 2, true },
	{ "write behind the end", RANGE_LEN, 1, true },
	{ "write of several packets too many", 0, VT_PEER_BUF, true },
	{ "write in the same page", RANGE_LEN + 50, 1, true },
	{ "write far away", S64_MIN, 1, true },
};

KUNIT_ARRAY_PARAM_DESC(mr_range, mr_ranges, name);

static void range_is_exact(struct kunit *test)
{
	const struct mr_range *param = test->param_value;
	u8 *area = vt_buf(test, VT_AREA), *buf = area + PAGE_SIZE + 77;
	struct vt_peer *peer;
	struct fid_mr *mr;
	u64 addr;

	vt_serve(test, AF_INET, NULL);
	peer = vt_peer(test);
	mr = mr_reg(test, buf, RANGE_LEN, FI_REMOTE_READ | FI_REMOTE_WRITE);
	memset(peer->buf, 0xee, VT_PEER_BUF);
	addr = mr_addr(buf) + param->offset;

	if (param->write)
		KUNIT_EXPECT_EQ(test, vt_peer_write(peer, addr, fi_mr_key(mr), param->len),
				IB_WC_REM_ACCESS_ERR);
	else
		KUNIT_EXPECT_EQ(test, vt_peer_read(peer, addr, fi_mr_key(mr), param->len),
				IB_WC_REM_ACCESS_ERR);

	KUNIT_EXPECT_NULL(test, memchr_inv(area, 0, buf - area));
	KUNIT_EXPECT_NULL(test, memchr_inv(buf + RANGE_LEN, 0, area + VT_AREA - buf - RANGE_LEN));
	KUNIT_EXPECT_NULL(test, memchr_inv(peer->buf, 0xee, VT_PEER_BUF));
}

struct mr_access {
	const char	*name;
	u64		access;
	enum ib_wc_status read;
	enum ib_wc_status write;
	enum ib_wc_status atomic;
};

#define OK	IB_WC_SUCCESS
#define NO	IB_WC_REM_ACCESS_ERR

static const struct mr_access mr_accesses[] = {
	{ "none", 0, NO, NO, NO },
	{ "FI_SEND", FI_SEND, NO, NO, NO },
	{ "FI_RECV", FI_RECV, NO, NO, NO },
	{ "FI_READ", FI_READ, NO, NO, NO },
	{ "FI_WRITE", FI_WRITE, NO, NO, NO },
	{ "all local", MR_LOCAL, NO, NO, NO },
	{ "FI_REMOTE_READ", FI_REMOTE_READ, OK, NO, NO },
	{ "all but FI_REMOTE_WRITE", MR_ALL & ~FI_REMOTE_WRITE, OK, NO, NO },
	{ "FI_REMOTE_WRITE", FI_REMOTE_WRITE, NO, OK, OK },
	{ "all but FI_REMOTE_READ", MR_ALL & ~FI_REMOTE_READ, NO, OK, OK },
	{ "all", MR_ALL, OK, OK, OK },
};

KUNIT_ARRAY_PARAM_DESC(mr_access, mr_accesses, name);

static void each_access_needs_its_bit(struct kunit *test)
{
	const struct mr_access *param = test->param_value;
	u64 *buf = vt_buf(test, 64), addr = mr_addr(buf);
	enum ib_wc_status status, write = param->write;
	struct vt_peer *peer;
	struct fid_mr *mr;

	vt_serve(test, AF_INET, NULL);
	mr = mr_reg(test, buf, 64, param->access);
	/* There the answer to a read is a write by the peer */
	if (vt_is_iwarp(test) && param->access & FI_READ)
		write = OK;

	peer = vt_peer(test);
	status = vt_peer_read(peer, addr, fi_mr_key(mr), 64);
	/* siw does not look at this right; no attribute says so (devices.rst) */
	if (param->read == OK || !vt_is_iwarp(test))
		KUNIT_EXPECT_EQ(test, status, param->read);
	vt_peer_close(peer);
	peer = vt_peer(test);
	KUNIT_EXPECT_EQ(test, vt_peer_write(peer, addr, fi_mr_key(mr), 64), write);
	vt_peer_close(peer);
	peer = vt_peer(test);
	if (peer->id->device->attrs.atomic_cap == IB_ATOMIC_NONE)
		return;
	KUNIT_EXPECT_EQ(test, vt_peer_fetch_add(peer, addr, fi_mr_key(mr)), param->atomic);
	KUNIT_EXPECT_EQ(test, *buf, param->atomic == OK ? 1 : 0);
}

static void a_region_of_another_domain_is_refused(struct kunit *test)
{
	struct fid_domain *other = NULL;
	struct fid_mr *mr = NULL;
	struct vt_peer *peer;
	void *buf = vt_buf(test, 64);

	vt_serve(test, AF_INET, NULL);
	KUNIT_ASSERT_EQ(test, fi_domain(vt_of(test)->fabric, vt_of(test)->info, &other, NULL), 0);
	vt_adopt(test, &other->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(other, buf, 64, MR_ALL, 0, 0, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	peer = vt_peer(test);

	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, mr_addr(buf), fi_mr_key(mr),
					   64), IB_WC_REM_ACCESS_ERR);
}

static void keys_of_a_buffer_are_all_different(struct kunit *test)
{
	u64 *keys = vt_buf(test, MR_KEYS * sizeof(*keys));
	u8 *buf = vt_buf(test, 64);
	struct fid_mr *mr;
	int i, j;

	vt_open(test, AF_INET, NULL);
	for (i = 0; i < MR_KEYS; i++) {
		mr = mr_reg(test, buf, 64, FI_REMOTE_READ);
		keys[i] = fi_mr_key(mr);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, keys[i], keys[j]);
		/* Half of them stay open */
		if (i % 2)
			vt_close(test, &mr->fid);
	}
}

static void requested_keys_are_ignored(struct kunit *test)
{
	struct fid_mr *a = NULL, *b = NULL;
	u8 *buf = vt_buf(test, 64);

	vt_open(test, AF_INET, NULL);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, 64,
					FI_REMOTE_READ, 0, 77, 0, &a, NULL), 0);
	vt_adopt(test, &a->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, 64,
					FI_REMOTE_READ, 0, 77, 0, &b, NULL), 0);
	vt_adopt(test, &b->fid);
	KUNIT_EXPECT_NE(test, fi_mr_key(a), fi_mr_key(b));
}

static void a_key_is_dead_after_close_and_others_go_on(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64), *other = vt_buf(test, 64);
	struct vt_peer *peer, *bystander;
	struct fid_mr *mr, *mr2;
	u64 key;

	vt_serve(test, AF_INET, NULL);
	mr = mr_reg(test, buf, 64, FI_REMOTE_READ | FI_REMOTE_WRITE);
	mr2 = mr_reg(test, other, 64, FI_REMOTE_READ);
	key = fi_mr_key(mr);
	bystander = vt_peer(test);
	peer = vt_peer(test);
	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, mr_addr(buf), key, 64), IB_WC_SUCCESS);
	vt_close(test, &mr->fid);
	/* Whoever gets its number next does not get its key */
	mr = mr_reg(test, buf, 64, FI_REMOTE_READ | FI_REMOTE_WRITE);

	KUNIT_EXPECT_EQ(test, vt_peer_write(peer, mr_addr(buf), key, 64), IB_WC_REM_ACCESS_ERR);

	KUNIT_EXPECT_EQ(test, vt_peer_read(bystander, mr_addr(other),
					   fi_mr_key(mr2), 64), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, vt_peer_read(bystander, mr_addr(buf),
					   fi_mr_key(mr), 64), IB_WC_SUCCESS);
	vt_no_event(test, bystander->end.eq);
}

/* Closes a region in the middle of things */
struct mr_closer {
	struct work_struct	work;
	struct fid_mr		*mr;
	u8			*buf;
	int			ret;
};

static void close_and_wipe(struct work_struct *work)
{
	struct mr_closer *closer = container_of(work, struct mr_closer, work);

	closer->ret = fi_close(&closer->mr->fid);
	/* From now on the memory is the client's again */
	memset(closer->buf, 0xcc, VT_AREA);
}

static void a_peer_that_writes_on_gets_a_clean_error(struct kunit *test)
{
	struct mr_closer *closer = vt_buf(test, sizeof(*closer));
	u8 *buf = vt_buf(test, VT_AREA);
	enum ib_wc_status status;
	struct vt_peer *peer;
	u64 key;

	vt_serve(test, AF_INET, NULL);
	peer = vt_peer(test);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, VT_AREA, FI_REMOTE_WRITE, 0, 0, 0,
					&closer->mr, NULL), 0);
	key = fi_mr_key(closer->mr);
	closer->buf = buf;
	INIT_WORK(&closer->work, close_and_wipe);
	memset(peer->buf, 0xee, VT_PEER_BUF);
	KUNIT_EXPECT_EQ(test, vt_peer_write(peer, mr_addr(buf), key, VT_AREA), IB_WC_SUCCESS);

	queue_work(system_unbound_wq, &closer->work);
	do {
		status = vt_peer_write(peer, mr_addr(buf), key, VT_AREA);
	} while (status == IB_WC_SUCCESS);
	flush_work(&closer->work);

	KUNIT_EXPECT_EQ(test, closer->ret, 0);
	KUNIT_EXPECT_EQ(test, status, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf, 0xcc, VT_AREA));
}

static int mr_reg_dmabuf(struct kunit *test, struct dma_buf *dmabuf, unsigned long base,
			 struct fid_mr **mr)
{
	const struct fi_mr_dmabuf piece = {
		.dmabuf		= dmabuf,
		.offset		= 100,
		.len		= PAGE_SIZE,
		.base_addr	= (void *)base,
	};
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};

	return fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, mr);
}

/* The last addresses are two pages below the end of all, as the piece goes from one into another */
static void peers_have_addresses_of_their_own_for_a_dmabuf(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, 2 * PAGE_SIZE);
	struct fi_info *hints = vt_rma_hints(test);
	struct fid_mr *mr;

	hints->caps |= FI_HMEM;
	vt_open(test, AF_INET, hints);
	KUNIT_EXPECT_EQ(test, mr_reg_dmabuf(test, db->dmabuf, -PAGE_SIZE, &mr), -EINVAL);
	vt_dmabuf_expect_unused(test, db);
	KUNIT_ASSERT_EQ(test, mr_reg_dmabuf(test, db->dmabuf, -2 * PAGE_SIZE, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, fi_mr_addr(mr), 100 - 2 * PAGE_SIZE);
	/* No local operation has it as its buffer */
	KUNIT_EXPECT_NULL(test, fi_mr_desc(mr));
	vt_close(test, &mr->fid);
}

KUNIT_ARRAY_PARAM_DESC(vt_memory, vt_memories, name);

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(memory_of_every_kind_can_be_reached, vt_memory_gen_params),
	KUNIT_CASE_PARAM(bytes_around_are_refused, vt_memory_gen_params),
	KUNIT_CASE_PARAM(range_is_exact, mr_range_gen_params),
	KUNIT_CASE_PARAM(each_access_needs_its_bit, mr_access_gen_params),
	KUNIT_CASE(a_region_of_another_domain_is_refused),
	KUNIT_CASE(keys_of_a_buffer_are_all_different),
	KUNIT_CASE(requested_keys_are_ignored),
	KUNIT_CASE(a_key_is_dead_after_close_and_others_go_on),
	KUNIT_CASE(a_peer_that_writes_on_gets_a_clean_error),
	KUNIT_CASE(peers_have_addresses_of_their_own_for_a_dmabuf),
	{}
};

struct kunit_suite kofi_verbs_mr_suite = {
	.name		= "kofi_verbs_mr",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= mr_cases,
};
