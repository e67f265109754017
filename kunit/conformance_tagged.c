// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tagged messages: a receive takes the message whose tag fits, or, where FI_TAGGED
 * is not claimed, every call refuses.
 */
#include <rdma/fi_tagged.h>
#include "conformance.h"

static void tagged_calls_are_refused_unless_claimed(struct kunit *test)
{
	struct fi_msg_tagged msg = {};
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fid_ep *ep;

	conf_join(test, &pair);
	if (conf_has(test, FI_TAGGED))
		return;
	ep = pair.a.ep;
	KUNIT_EXPECT_EQ(test, fi_trecv(ep, buf, 8, NULL, 0, 1, 0, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_trecvv(ep, &iov, NULL, 1, 0, 1, 0, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_trecvmsg(ep, &msg, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tsend(ep, buf, 8, NULL, 0, 1, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tsendv(ep, &iov, NULL, 1, 0, 1, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tsendmsg(ep, &msg, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tinject(ep, buf, 8, 0, 1), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tsenddata(ep, buf, 8, NULL, 0, 0, 1, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tinjectdata(ep, buf, 8, 0, 0, 1), -ENOSYS);
}

static void messages_go_where_their_tags_fit(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 24);
	struct vt_comp comp;
	int i, first;

	conf_join(test, &pair);
	if (!conf_has(test, FI_TAGGED))
		return;
	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, buf, 8, NULL, 0, 0x10, 0xf,
				       vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, buf + 8, 8, NULL, 0, 0x20, 0,
				       vt_ctx(2)), 0);
	buf[16] = 0x20;
	buf[17] = 0x15;
	KUNIT_ASSERT_EQ(test, fi_tinject(pair.a.ep, buf + 16, 1, 0, 0x20), 0);
	KUNIT_ASSERT_EQ(test, fi_tinject(pair.a.ep, buf + 17, 1, 0, 0x15), 0);
	for (i = 0, first = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
		KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV);
		first += comp.context == vt_ctx(1);
	}
	KUNIT_EXPECT_EQ(test, first, 1);
	KUNIT_EXPECT_EQ(test, buf[0], 0x15);
	KUNIT_EXPECT_EQ(test, buf[8], 0x20);
}

static struct kunit_case tagged_cases[] = {
	KUNIT_CASE_PARAM(tagged_calls_are_refused_unless_claimed,
			 conf_gen_params),
	KUNIT_CASE_PARAM(messages_go_where_their_tags_fit, conf_gen_params),
	{}
};

struct kunit_suite conf_tagged_suite = {
	.name		= "kofi_conformance_tagged",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= tagged_cases,
};
