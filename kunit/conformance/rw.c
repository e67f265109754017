// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_readsgl() and fi_writesgl(): lists of any length between here and the peer's memory.
 * A provider without them does not know the option that asks for them.
 */
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include "conformance.h"

#define ELEMS	96
#define ELEM	512
/* An element leaves something out in front and at the end of its place */
#define GAP	8
#define LEN	(ELEMS * (ELEM - 2 * GAP))

/**
 * struct moved - A list, and a region at the other end
 * @pair: the list is at the first end
 * @region: at the second
 * @buf: memory of the list
 * @sgl: the list
 */
struct moved {
	struct vt_pair		pair;
	struct conf_region	region;
	u8			*buf;
	struct scatterlist	sgl[ELEMS];
};

static void moved_list(struct kunit *test, struct moved *moved)
{
	int i;

	moved->buf = vt_buf(test, ELEMS * ELEM);
	sg_init_table(moved->sgl, ELEMS);
	for (i = 0; i < ELEMS; i++)
		sg_set_buf(&moved->sgl[i], moved->buf + i * ELEM + GAP, ELEM - 2 * GAP);
}

/* The answer of the option; on success the pair is connected */
static int moved_join(struct kunit *test, struct moved *moved, size_t rw_ops)
{
	struct fid_ep *ep;
	int ret;

	conf_serve(test);
	ep = vt_ep(test, vt_of(test)->info);
	ret = fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &rw_ops, sizeof(rw_ops));
	vt_close(test, &ep->fid);
	if (ret)
		return ret;
	moved->pair.a.rw_ops = rw_ops;
	vt_join(test, &moved->pair, &vt_default_kind);
	return 0;
}

static bool list_is_region(const struct moved *moved)
{
	const u8 *remote = moved->region.buf;
	int i;

	for (i = 0; i < ELEMS; i++, remote += ELEM - 2 * GAP)
		if (memcmp(moved->buf + i * ELEM + GAP, remote, ELEM - 2 * GAP))
			return false;
	return true;
}

static void lists_of_any_length_are_moved(struct kunit *test)
{
	struct moved *moved = vt_buf(test, sizeof(*moved));
	struct fid_ep *ep;
	int ret;

	if (!conf_has(test, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE))
		return;
	moved_list(test, moved);
	ret = moved_join(test, moved, 1);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOPROTOOPT);
		return;
	}
	conf_region(test, &moved->region, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE);
	ep = moved->pair.a.ep;
	vt_fill(moved->region.buf, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_readsgl(ep, moved->sgl, ELEMS, 0, LEN, 0, moved->region.addr,
					 moved->region.key, vt_ctx(1), FI_COMPLETION), 0);
	vt_done(test, moved->pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, list_is_region(moved));

	vt_fill(moved->buf, ELEMS * ELEM, 2);
	KUNIT_ASSERT_EQ(test, fi_writesgl(ep, moved->sgl, ELEMS, 0, LEN, 0, moved->region.addr,
					  moved->region.key, vt_ctx(2), FI_COMPLETION), 0);
	vt_done(test, moved->pair.a.tx, vt_ctx(2));
	vt_ping(test, &moved->pair.a, &moved->pair.b);
	KUNIT_EXPECT_TRUE(test, list_is_region(moved));
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, moved->sgl, ELEMS, 1, LEN, 0, moved->region.addr,
					 moved->region.key, NULL, 0), -EINVAL);
	/* An element without memory */
	sg_assign_page(&moved->sgl[ELEMS - 1], NULL);
	KUNIT_EXPECT_EQ(test, fi_writesgl(ep, moved->sgl, ELEMS, 0, LEN, 0, moved->region.addr,
					  moved->region.key, NULL, 0), -EINVAL);
	vt_none(test, moved->pair.a.tx);
}

static void nobody_moves_who_has_not_asked_for_it(struct kunit *test)
{
	struct moved *moved = vt_buf(test, sizeof(*moved));

	moved_list(test, moved);
	conf_join(test, &moved->pair);
	KUNIT_EXPECT_EQ(test, fi_readsgl(moved->pair.a.ep, moved->sgl, ELEMS,
					 0, LEN, 0, 0, 0, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_writesgl(moved->pair.a.ep, moved->sgl, ELEMS,
					  0, LEN, 0, 0, 0, NULL, 0), -ENOSYS);
	vt_none(test, moved->pair.a.tx);
	vt_ping(test, &moved->pair.a, &moved->pair.b);
}

static struct kunit_case rw_cases[] = {
	KUNIT_CASE_PARAM(lists_of_any_length_are_moved, conf_gen_params),
	KUNIT_CASE_PARAM(nobody_moves_who_has_not_asked_for_it, conf_gen_params),
	{}
};

struct kunit_suite conf_rw_suite = {
	.name		= "kofi_conformance_rw",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= rw_cases,
};
