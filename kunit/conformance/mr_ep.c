// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions for single operations (FI_MR_ENDPOINT): a key for each operation, which
 * ends by the owner's word or by the peer's.  A provider without them says so when
 * one is registered.
 */
#include <linux/delay.h>
#include <linux/scatterlist.h>
#include "conformance.h"

#define LEN	4096
#define ROUNDS	10
#define LENT	8	/* elements of a list that is lent */

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

/* For conf_gen_msg: a pair of connected ends, and a region of the second; false: there is none */
static bool bound_open(struct kunit *test, struct bound *bound)
{
	int ret;

	if (!conf_is_msg(test) || !conf_has(test, FI_RMA | FI_READ | FI_REMOTE_READ))
		return false;
	conf_join(test, &bound->pair);
	bound->iov = (struct kvec) { vt_buf(test, LEN), LEN };
	bound->attr = (struct fi_mr_attr) {
		.mr_iov		= &bound->iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
		.requested_key	= 1,
	};
	ret = fi_mr_regattr(vt_of(test)->domain, &bound->attr, FI_MR_ENDPOINT, &bound->mr);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
		return false;
	}
	vt_adopt(test, &bound->mr->fid);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(bound->mr), -FI_EOPBADSTATE);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(bound->mr, &bound->pair.b.ep->fid, 0), 0);
	return true;
}

/* Another region in place of the one that is bound */
static void bound_again(struct kunit *test, struct bound *bound, const struct fi_mr_attr *attr,
			u64 flags)
{
	vt_close(test, &bound->mr->fid);
	KUNIT_ASSERT_EQ_MSG(test, fi_mr_regattr(vt_of(test)->domain, attr, FI_MR_ENDPOINT | flags,
						&bound->mr), 0, "type %d", attr->type);
	vt_adopt(test, &bound->mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(bound->mr, &bound->pair.b.ep->fid, 0), 0);
}

/* The owner ends the key, and returns which it was */
static u64 end_own(struct kunit *test, struct bound *bound)
{
	KUNIT_ASSERT_EQ(test, fi_mr_disable(bound->mr, 0, vt_ctx(3)), 0);
	return vt_done(test, bound->pair.b.tx, vt_ctx(3)).data;
}

/* The owner enables the key and tells the peer, who reads with it */
static u64 read_once(struct kunit *test, struct bound *bound, int round)
{
	struct vt_pair *pair = &bound->pair;
	u64 *told = vt_buf(test, sizeof(*told)), key;
	u8 *mine = vt_buf(test, LEN);

	vt_fill(bound->iov.iov_base, LEN, round);
	vt_recv(test, &pair->a, told, sizeof(*told), vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(bound->mr), 0);
	key = fi_mr_key(bound->mr);
	KUNIT_ASSERT_EQ(test, fi_inject(pair->b.ep, &key, sizeof(key), 0), 0);
	vt_done(test, pair->a.rx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_read(pair->a.ep, mine, LEN, NULL, 0, fi_mr_addr(bound->mr), *told,
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
		KUNIT_EXPECT_EQ(test, end_own(test, &bound), key);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0), 0);
	}
	vt_none(test, bound.pair.b.tx);
}

/* A list of @count pieces of a buffer, which belongs to the client */
static void lent_list(struct scatterlist *sgl, u8 *buf, size_t count)
{
	size_t i, len = LEN / count;

	sg_init_table(sgl, count);
	for (i = 0; i < count; i++)
		sg_set_buf(&sgl[i], buf + i * len, len);
}

static void a_list_that_is_lent_is_registered_again_and_again(struct kunit *test)
{
	struct scatterlist *sgl = vt_buf(test, 2 * LENT * sizeof(*sgl));
	struct bound bound = {};
	struct fi_mr_attr attr;
	u64 key;
	int i;

	if (!bound_open(test, &bound))
		return;
	lent_list(sgl, bound.iov.iov_base, LENT);
	attr = (struct fi_mr_attr) {
		.type		= FI_BUF_SGL,
		.mr_sgl		= sgl,
		.iov_count	= LENT,
		.access		= FI_REMOTE_READ,
		.requested_key	= 1,
		.page_limit	= 2 * LENT,
	};
	bound_again(test, &bound, &attr, FI_MR_LEND);
	for (i = 0; i < ROUNDS; i++) {
		key = read_once(test, &bound, i);
		KUNIT_EXPECT_EQ(test, end_own(test, &bound), key);
		/* Another list, also of one element, and other memory */
		bound.iov.iov_base = vt_buf(test, LEN);
		attr.mr_sgl = sgl + (i & 1 ? 0 : LENT);
		attr.iov_count = i % 3 ? LENT : 1;
		lent_list(attr.mr_sgl, bound.iov.iov_base, attr.iov_count);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &attr, 0), 0);
	}
	/* Nothing else can be lent */
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0), -EINVAL);
}

static void other_lists_are_not_lent(struct kunit *test)
{
	struct fid_domain *domain;
	struct bound bound = {};
	struct fid_mr *mr = NULL;

	if (!bound_open(test, &bound))
		return;
	domain = vt_of(test)->domain;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &bound.attr, FI_MR_ENDPOINT | FI_MR_LEND, &mr),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &bound.attr, FI_MR_LEND, &mr), -FI_EBADFLAGS);
}

static void an_empty_list_of_any_type_begins_a_lending_region(struct kunit *test)
{
	static const enum fi_buf_type types[] = { FI_BUF_KVEC, FI_BUF_BVEC, FI_BUF_SGL };
	struct scatterlist *sgl = vt_buf(test, LENT * sizeof(*sgl));
	struct bound bound = {};
	struct fi_mr_attr empty, list;
	size_t i;

	if (!bound_open(test, &bound))
		return;
	lent_list(sgl, bound.iov.iov_base, LENT);
	list = (struct fi_mr_attr) {
		.type		= FI_BUF_SGL,
		.mr_sgl		= sgl,
		.iov_count	= LENT,
		.access		= FI_REMOTE_READ,
	};
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		empty = (struct fi_mr_attr) {
			.type		= types[i],
			.access		= FI_REMOTE_READ,
			.requested_key	= 1,
			.page_limit	= LENT,
		};
		bound_again(test, &bound, &empty, FI_MR_LEND);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &list, 0), 0);
		read_once(test, &bound, i);
		end_own(test, &bound);
	}
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
	bool late;
	u64 key;
	int i;

	if (!bound_open(test, &bound))
		return;
	if (!conf_has(test, FI_REMOTE_INV)) {
		KUNIT_EXPECT_EQ(test, end_key(bound.pair.a.ep, buf, 1), -FI_EBADFLAGS);
		return;
	}
	for (i = 0; i < ROUNDS; i++) {
		/* It may come before its receive where it is not lost then */
		late = i % 2 && vt_of(test)->info->domain_attr->resource_mgmt == FI_RM_ENABLED;
		key = read_once(test, &bound, i);
		if (!late)
			vt_recv(test, &bound.pair.b, buf, 8, vt_ctx(5));
		KUNIT_ASSERT_EQ(test, end_key(bound.pair.a.ep, buf + 8, key), 0);
		if (late) {
			usleep_range(1000, 2000);
			vt_recv(test, &bound.pair.b, buf, 8, vt_ctx(5));
		}
		comp = vt_done(test, bound.pair.b.rx, vt_ctx(5));
		KUNIT_ASSERT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
		KUNIT_EXPECT_EQ(test, comp.data, key);
		vt_done(test, bound.pair.a.tx, vt_ctx(4));
		KUNIT_ASSERT_EQ(test, fi_mr_disable(bound.mr, FI_REMOTE_INV, NULL), 0);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0), 0);
	}
	vt_none(test, bound.pair.b.tx);
}

/* And the region serves the operations that follow */
static void a_registration_is_taken_back_before_a_send(struct kunit *test)
{
	struct bound bound = {};
	int i;

	if (!bound_open(test, &bound))
		return;
	for (i = 0; i < ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, fi_mr_enable(bound.mr), 0);
		KUNIT_EXPECT_EQ(test, fi_mr_disable(bound.mr, FI_REMOTE_INV,
						    NULL), -FI_EOPBADSTATE);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(bound.mr, FI_DISCARD, NULL), 0);
		KUNIT_EXPECT_EQ(test, fi_mr_key(bound.mr), FI_KEY_NOTAVAIL);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0), 0);
	}
	vt_none(test, bound.pair.b.tx);
	read_once(test, &bound, 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(bound.mr, FI_DISCARD, NULL), -EALREADY);
	end_own(test, &bound);
}

/* It waits for its memory, and gives it back unused */
static void a_region_begins_without_memory(struct kunit *test)
{
	struct fi_mr_attr empty = { .access = FI_REMOTE_READ, .page_limit = 2 };
	struct fid_mr *mr = NULL;
	struct bound bound = {};
	int i;

	if (!bound_open(test, &bound))
		return;
	bound_again(test, &bound, &empty, 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, &bound.mr->fid, "size"), 0);
	for (i = 0; i < ROUNDS; i++) {
		KUNIT_EXPECT_EQ(test, fi_mr_enable(bound.mr), -FI_EOPBADSTATE);
		KUNIT_EXPECT_EQ(test, fi_mr_disable(bound.mr, FI_DISCARD, NULL), -FI_EOPBADSTATE);
		KUNIT_EXPECT_EQ(test, fi_mr_refresh(bound.mr, &empty, 0), -EINVAL);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(bound.mr, &bound.attr, 0), 0);
		if (i % 2)
			read_once(test, &bound, i);
		KUNIT_EXPECT_EQ(test, fi_mr_disable(bound.mr, FI_DISCARD, NULL),
				i % 2 ? -EALREADY : 0);
		if (i % 2)
			end_own(test, &bound);
	}

	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &empty, 0, &mr), -EINVAL);
	empty.page_limit = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &empty,
					    FI_MR_ENDPOINT, &mr), -EINVAL);
}

static struct kunit_case mr_ep_cases[] = {
	KUNIT_CASE_PARAM(an_owner_ends_a_key_and_has_a_new_one, conf_gen_msg),
	KUNIT_CASE_PARAM(a_list_that_is_lent_is_registered_again_and_again, conf_gen_msg),
	KUNIT_CASE_PARAM(other_lists_are_not_lent, conf_gen_msg),
	KUNIT_CASE_PARAM(an_empty_list_of_any_type_begins_a_lending_region, conf_gen_msg),
	KUNIT_CASE_PARAM(a_region_begins_without_memory, conf_gen_msg),
	KUNIT_CASE_PARAM(a_peer_ends_a_key_with_its_answer, conf_gen_msg),
	KUNIT_CASE_PARAM(a_registration_is_taken_back_before_a_send, conf_gen_msg),
	{}
};

struct kunit_suite conf_mr_ep_suite = {
	.name		= "kofi_conformance_mr_ep",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= mr_ep_cases,
};
