// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions for single operations (FI_MR_ENDPOINT): a key for each operation, which
 * ends by the owner's word or by the peer's.  A provider without them says so when
 * one is registered.
 */
#include "conformance.h"

#define LEN	4096
#define ROUNDS	10

/**
 * struct bound - A region bound to the second end of a pair
 * @pair: the first end is the peer
 * @mr: the region
 * @iov: its memory
 * @attr: how it was registered
 */
struct bound {
	struct vt_pair		pair;
	struct fid_mr		*mr;
	struct kvec		iov;
	struct fi_mr_attr	attr;
};

/* false: the provider has none */
static bool bound_open(struct kunit *test, struct bound *bound)
{
	int ret;

	if (!conf_has(test, FI_RMA | FI_READ | FI_REMOTE_READ))
		return false;
	conf_join(test, &bound->pair);
	bound->iov = (struct kvec) { vt_buf(test, LEN), LEN };
	bound->attr = (struct fi_mr_attr) {
		.mr_iov		= &bound->iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
		.requested_key	= 1,
	};
	ret = fi_mr_regattr(vt_of(test)->domain, &bound->attr, FI_MR_ENDPOINT,
			    &bound->mr);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		return false;
	}
	vt_adopt(test, &bound->mr->fid);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(bound->mr), -FI_EOPBADSTATE);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(bound->mr, &bound->pair.b.ep->fid, 0),
			0);
	return true;
}

/* The owner enables the key and tells the peer, who reads with it */
static u64 read_once(struct kunit *test, struct bound *bound, int round)
{
	bool virt_addr = vt_of(test)->info->domain_attr->mr_mode &
			 FI_MR_VIRT_ADDR;
	struct vt_pair *pair = &bound->pair;
	u64 *told = vt_buf(test, sizeof(*told)), key;
	u8 *mine = vt_buf(test, LEN);

	vt_fill(bound->iov.iov_base, LEN, round);
	vt_recv(test, &pair->a, told, sizeof(*told), vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(bound->mr), 0);
	key = fi_mr_key(bound->mr);
	KUNIT_ASSERT_EQ(test, fi_inject(pair->b.ep, &key, sizeof(key), 0), 0);
	vt_done(test, pair->a.rx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_read(pair->a.ep, mine, LEN, NULL, 0, virt_addr ?
				      (uintptr_t)bound->iov.iov_base : 0, *told,
				      vt_ctx(2)), 0);
	vt_done(test, pair->a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(mine, LEN, round));
	return key;
}

static void an_owner_ends_a_key_and_has_a_new_one(struct kunit *test)
{
	struct bound bound = {};
	u64 key, last = FI_KEY_NOTAVAIL;
	int i;

	if (!bound_open(test, &bound))
		return;
	for (i = 0; i < ROUNDS; i++) {
		key = read_once(test, &bound, i);
		KUNIT_EXPECT_NE(test, key, last);
		last = key;
		KUNIT_ASSERT_EQ(test, fi_mr_disable(bound.mr, 0, vt_ctx(3)), 0);
		KUNIT_EXPECT_EQ(test, vt_done(test, bound.pair.b.tx,
					      vt_ctx(3)).data, key);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0),
				0);
	}
	vt_none(test, bound.pair.b.tx);
}

static ssize_t end_key(struct fid_ep *ep, void *buf, u64 key)
{
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= vt_ctx(4),
		.data		= key,
	};

	return fi_sendmsg(ep, &msg, FI_REMOTE_INV | FI_COMPLETION);
}

static void a_peer_ends_a_key_with_its_answer(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct bound bound = {};
	struct vt_comp comp;
	u64 key;
	int i;

	if (!bound_open(test, &bound))
		return;
	for (i = 0; i < ROUNDS; i++) {
		key = read_once(test, &bound, i);
		vt_recv(test, &bound.pair.b, buf, 8, vt_ctx(5));
		KUNIT_ASSERT_EQ(test, end_key(bound.pair.a.ep, buf + 8, key),
				0);
		comp = vt_done(test, bound.pair.b.rx, vt_ctx(5));
		KUNIT_ASSERT_EQ(test, comp.flags, FI_MSG | FI_RECV |
						  FI_REMOTE_INV);
		KUNIT_EXPECT_EQ(test, comp.data, key);
		vt_done(test, bound.pair.a.tx, vt_ctx(4));
		KUNIT_ASSERT_EQ(test, fi_mr_disable(bound.mr, FI_REMOTE_INV,
						    NULL), 0);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0),
				0);
	}
	vt_none(test, bound.pair.b.tx);
}

static struct kunit_case mr_ep_cases[] = {
	KUNIT_CASE_PARAM(an_owner_ends_a_key_and_has_a_new_one,
			 conf_gen_params),
	KUNIT_CASE_PARAM(a_peer_ends_a_key_with_its_answer, conf_gen_params),
	{}
};

struct kunit_suite conf_mr_ep_suite = {
	.name		= "kofi_conformance_mr_ep",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= mr_ep_cases,
};
