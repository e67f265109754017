// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peer memory: a dma-buf that peers read and write, until its exporter takes it back.
 * Where FI_HMEM is not claimed, dma-bufs are refused.
 */
#include "../lib/dmabuf.h"
#include "conformance.h"

#define SIZE	(8 * PAGE_SIZE)
/* Odd, and not at a page */
#define BEGIN	4097
#define LEN	(6 * PAGE_SIZE)
#define BOTH	(FI_REMOTE_READ | FI_REMOTE_WRITE)

/**
 * struct peer_memory - A region of a dma-buf
 * @db: the dma-buf
 * @mr: the region, of LEN bytes from BEGIN on
 * @pair: a connection, or two endpoints without
 * @mine: a buffer of the initiator's, as long as the region
 */
struct peer_memory {
	struct vt_dmabuf	*db;
	struct fid_mr		*mr;
	struct vt_pair		pair;
	u8			*mine;
};

static int reg(struct kunit *test, struct vt_dmabuf *db, struct fid_mr **mr)
{
	const struct fi_mr_dmabuf piece = {
		.dmabuf	= db->dmabuf,
		.offset	= BEGIN,
		.len	= LEN,
	};
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= BOTH,
		.requested_key	= 4711,
	};
	int ret;

	ret = fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, mr);
	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

/*
 * false: the result does not claim it, and refuses; or the memory may move, and the provider
 * could not stop then
 */
static bool peer_memory(struct kunit *test, struct peer_memory *pm, enum vt_dmabuf_kind kind)
{
	int ret;

	pm->db = vt_dmabuf(test, kind, SIZE);
	pm->mine = vt_buf(test, LEN);
	conf_join(test, &pm->pair);
	if (!conf_has(test, FI_HMEM | FI_RMA)) {
		KUNIT_EXPECT_EQ(test, reg(test, pm->db, &pm->mr), -FI_EBADFLAGS);
		return false;
	}
	ret = reg(test, pm->db, &pm->mr);
	if (kind == VT_DMABUF_MOVES && ret == -EOPNOTSUPP) {
		vt_dmabuf_expect_unused(test, pm->db);
		return false;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	return true;
}

static ssize_t post_read(struct peer_memory *pm, size_t len)
{
	return fi_read(pm->pair.a.ep, pm->mine, len, NULL, 0, fi_mr_addr(pm->mr),
		       fi_mr_key(pm->mr), vt_ctx(1));
}

static ssize_t post_write(struct peer_memory *pm, size_t len)
{
	return fi_write(pm->pair.a.ep, pm->mine, len, NULL, 0, fi_mr_addr(pm->mr),
			fi_mr_key(pm->mr), vt_ctx(2));
}

static void peers_read_and_write(struct kunit *test, enum vt_dmabuf_kind kind)
{
	struct peer_memory pm = {};
	u8 *mem;

	if (!peer_memory(test, &pm, kind))
		return;
	mem = pm.db->mem;
	/* The owner says that there is something to read: a provider may have to copy it */
	vt_fill(mem + BEGIN, LEN, 1);
	vt_ping(test, &pm.pair.b, &pm.pair.a);
	KUNIT_ASSERT_EQ(test, post_read(&pm, LEN), 0);
	vt_done(test, pm.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(pm.mine, LEN, 1));

	vt_fill(pm.mine, LEN, 2);
	KUNIT_ASSERT_EQ(test, post_write(&pm, LEN), 0);
	vt_done(test, pm.pair.a.tx, vt_ctx(2));
	vt_ping(test, &pm.pair.a, &pm.pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem + BEGIN, LEN, 2));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem, 0, BEGIN));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem + BEGIN + LEN, 0, SIZE - BEGIN - LEN));
	vt_close(test, &pm.mr->fid);
	vt_dmabuf_expect_unused(test, pm.db);
}

static void peers_reach_a_dma_buf_that_stays(struct kunit *test)
{
	peers_read_and_write(test, VT_DMABUF_FIXED);
}

static void peers_reach_a_dma_buf_that_may_move(struct kunit *test)
{
	peers_read_and_write(test, VT_DMABUF_MOVES);
}

/* The connection may end, as with every refusal; a new one has a new region */
static void after_a_move(struct kunit *test, bool read)
{
	struct peer_memory pm = {};
	struct vt_comp comp;

	if (!peer_memory(test, &pm, VT_DMABUF_MOVES))
		return;
	vt_fill(pm.mine, LEN, 3);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(pm.db), 0);
	KUNIT_EXPECT_FALSE(test, pm.db->mapped_at_move);
	KUNIT_ASSERT_EQ(test, read ? post_read(&pm, LEN) : post_write(&pm, LEN), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(pm.pair.a.tx, &comp), 1);
	if (read)
		KUNIT_EXPECT_NE(test, comp.err, 0);
	if (!vt_is_rdm(vt_of(test)->info)) {
		if (comp.err)
			fi_shutdown(pm.pair.a.ep, 0);
		vt_event(test, pm.pair.a.eq, FI_SHUTDOWN, NULL);
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(pm.mine, LEN, 3));
	KUNIT_EXPECT_NULL(test, memchr_inv(pm.db->mem, 0, SIZE));
	vt_close(test, &pm.mr->fid);
	vt_dmabuf_expect_unused(test, pm.db);
}

static void peers_read_nothing_that_has_moved(struct kunit *test)
{
	after_a_move(test, true);
}

static void peers_write_nothing_that_has_moved(struct kunit *test)
{
	after_a_move(test, false);
}

static void a_dma_buf_is_no_local_buffer(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	const struct fi_mr_dmabuf piece = { .dmabuf = db->dmabuf, .len = SIZE };
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= FI_SEND,
	};
	struct fid_mr *mr;

	vt_open_info(test, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, &mr),
			conf_has(test, FI_HMEM) ? -EOPNOTSUPP : -FI_EBADFLAGS);
	vt_dmabuf_expect_unused(test, db);
}

static void what_the_processor_cannot_map_is_refused(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_UNMAPPED, SIZE);
	struct fid_mr *mr;

	vt_open_info(test, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, reg(test, db, &mr),
			conf_has(test, FI_HMEM) ? -EOPNOTSUPP : -FI_EBADFLAGS);
	vt_dmabuf_expect_unused(test, db);
}

static int set_p2p(struct fid_ep *ep, int p2p, size_t len)
{
	return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, len);
}

static int get_p2p(struct fid_ep *ep, int *p2p, size_t *len)
{
	return fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, p2p, len);
}

/* No device accesses peer memory in any provider that there is */
static void endpoints_tell_who_accesses_peer_memory(struct kunit *test)
{
	size_t len = sizeof(int);
	struct fid_ep *ep;
	int p2p = -1;

	vt_open_info(test, vt_of(test)->info);
	ep = vt_ep(test, vt_of(test)->info);
	if (!conf_has(test, FI_HMEM)) {
		KUNIT_EXPECT_EQ(test, get_p2p(ep, &p2p, &len), -ENOPROTOOPT);
		KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_ENABLED, sizeof(int)), -ENOPROTOOPT);
		return;
	}
	KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_REQUIRED, sizeof(int)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_PREFERRED, sizeof(int)), 0);
	KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_ENABLED, sizeof(int)), 0);
	KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_DISABLED, sizeof(int)), 0);
	KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_DISABLED + 1, sizeof(int)), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_p2p(ep, -1, sizeof(int)), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_p2p(ep, FI_HMEM_P2P_DISABLED, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, get_p2p(ep, &p2p, &len), 0);
	KUNIT_EXPECT_EQ(test, p2p, FI_HMEM_P2P_DISABLED);
	KUNIT_EXPECT_EQ(test, len, sizeof(int));
	len = 1;
	KUNIT_EXPECT_EQ(test, get_p2p(ep, &p2p, &len), -FI_ETOOSMALL);
}

/* A client that does not ask for the capability has none of it */
static void peer_memory_is_for_those_who_ask(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	struct fi_info *hints = conf_ask(test), *info;
	size_t len = sizeof(int);
	struct fid_mr *mr;
	int p2p;

	hints->caps &= ~FI_HMEM;
	hints->tx_attr->caps &= ~FI_HMEM;
	hints->rx_attr->caps &= ~FI_HMEM;
	KUNIT_ASSERT_EQ(test, conf_getinfo(test, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->caps & FI_HMEM, 0);
	vt_open_info(test, info);
	KUNIT_EXPECT_EQ(test, reg(test, db, &mr), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, get_p2p(vt_ep(test, info), &p2p, &len), -ENOPROTOOPT);
}

static struct kunit_case peer_memory_cases[] = {
	KUNIT_CASE_PARAM(peers_reach_a_dma_buf_that_stays, conf_gen_params),
	KUNIT_CASE_PARAM(peers_reach_a_dma_buf_that_may_move, conf_gen_params),
	KUNIT_CASE_PARAM(peers_read_nothing_that_has_moved, conf_gen_params),
	KUNIT_CASE_PARAM(peers_write_nothing_that_has_moved, conf_gen_params),
	KUNIT_CASE_PARAM(a_dma_buf_is_no_local_buffer, conf_gen_params),
	KUNIT_CASE_PARAM(what_the_processor_cannot_map_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(endpoints_tell_who_accesses_peer_memory, conf_gen_params),
	KUNIT_CASE_PARAM(peer_memory_is_for_those_who_ask, conf_gen_params),
	{}
};

struct kunit_suite conf_peer_memory_suite = {
	.name		= "kofi_conformance_peer_memory",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= peer_memory_cases,
};
