// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_delay: completions that come late, in their order, and what does not wait for
 * them: an endpoint that closes or drains.
 */
#include <linux/jiffies.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "bed.h"

#define LEN	8
#define LATE_MS	100

/* Twice, as slots are used again whose completions have been kept before */
static void a_completion_comes_later_and_what_follows_behind_it(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	unsigned long since;
	int i, round;
	ssize_t ret;

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	for (round = 0; round < 2; round++) {
		bed_rules(test, "send delay " __stringify(LATE_MS) " times=1");
		for (i = 0; i < 4; i++)
			vt_recv(test, &pair.b, buf, LEN, vt_ctx(i));
		since = jiffies;
		for (i = 0; i < 4; i++)
			KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(10 + i)),
					0);
		for (i = 0; i < 4; i++)
			vt_done(test, pair.b.rx, vt_ctx(i));
		ret = fi_cq_read(pair.a.tx->cq, &entry, 1);
		if (time_before(jiffies, since + msecs_to_jiffies(LATE_MS)))
			KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
		for (i = ret == 1 ? 1 : 0; i < 4; i++)
			vt_done(test, pair.a.tx, vt_ctx(10 + i));
		KUNIT_EXPECT_GE(test, jiffies - since, msecs_to_jiffies(LATE_MS));
		KUNIT_EXPECT_TRUE(test, bed_rule_fired("send delay " __stringify(LATE_MS)
						       " times=1", 1, 1));
	}
}

static void a_callback_comes_later(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	unsigned long since;
	struct bed_ep *ep;
	int i;

	bed_open(test, BED_FAULT, FI_MSG);
	for (i = 0; i < BED_KINDS; i++) {
		ep = bed_join(test, &pair, &bed_kinds[i]);
		bed_rules(test, "send delay " __stringify(LATE_MS) " times=1");
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
		since = jiffies;
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
		bed_completed(test, &pair, ep, 1);
		KUNIT_EXPECT_GE(test, jiffies - since, msecs_to_jiffies(LATE_MS));
		vt_pair_close(test, &pair);
	}
}

/* A minute is more than a case may take */
static void an_endpoint_closes_while_completions_are_kept(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	unsigned long since;
	struct bed_ep *ep;
	int i;

	bed_open(test, BED_FAULT, FI_MSG);
	bed_rules(test, "send delay 60000");
	for (i = 0; i < BED_KINDS; i++) {
		ep = bed_join(test, &pair, &bed_kinds[i]);
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
		vt_done(test, pair.b.rx, vt_ctx(1));
		since = jiffies;
		vt_close(test, &pair.a.ep->fid);
		KUNIT_EXPECT_LT(test, jiffies - since, msecs_to_jiffies(30000));
		KUNIT_EXPECT_EQ(test, atomic_read(&ep->completed), 1);
		vt_close(test, &pair.b.ep->fid);
	}
	pair = (struct vt_pair) {};
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, pair.b.rx, vt_ctx(1));
	since = jiffies;
	vt_close(test, &pair.a.ep->fid);
	KUNIT_EXPECT_LT(test, jiffies - since, msecs_to_jiffies(30000));
	vt_none(test, pair.a.tx);
}

/* Only what the sender reports is late */
static void a_peers_write_is_no_operation_of_the_sender(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * LEN);
	struct vt_pair pair = {};
	struct vt_comp comp;
	struct fid_mr *mr;

	bed_open(test, BED_FAULT, FI_MSG | FI_RMA);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, LEN, FI_REMOTE_WRITE, 0, 0, 0,
					&mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "tx delay 60000");
	KUNIT_ASSERT_EQ(test, fi_writedata(pair.a.ep, buf + LEN, LEN, NULL, 7, 0,
					   fi_mr_addr(mr), fi_mr_key(mr), vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.data, 7);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
}

/* The completion of each kind of operation counts for the rule that names the kind */
static void a_rule_delays_the_operations_that_it_names(struct kunit *test)
{
	static const char *const rules[] = {
		"send delay 1", "recv delay 1", "tsend delay 1", "trecv delay 1",
		"read delay 1", "write delay 1", "atomic delay 1", "fetch_atomic delay 1",
	};
	u64 *val = vt_buf(test, 4 * sizeof(*val));
	struct vt_pair pair = {};
	struct fid_mr *mr;
	ssize_t ret = 0;
	u64 at, key;
	int i;

	bed_open(test, BED_FAULT, FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, val, sizeof(*val), FI_REMOTE_READ |
					FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	at = fi_mr_addr(mr);
	key = fi_mr_key(mr);
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		bed_rules(test, rules[i]);
		switch (i / 2) {
		case 0:
			vt_recv(test, &pair.b, val + 1, 8, vt_ctx(1));
			ret = fi_send(pair.a.ep, val + 2, 8, NULL, 0, vt_ctx(2));
			break;
		case 1:
			KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, val + 1, 8, NULL, 0, 5, 0,
						       vt_ctx(1)), 0);
			ret = fi_tsend(pair.a.ep, val + 2, 8, NULL, 0, 5, vt_ctx(2));
			break;
		case 2:
			ret = i % 2 ? fi_write(pair.a.ep, val + 2, 8, NULL, 0, at, key, vt_ctx(2)) :
				      fi_read(pair.a.ep, val + 2, 8, NULL, 0, at, key, vt_ctx(2));
			break;
		case 3:
			ret = i % 2 ? fi_fetch_atomic(pair.a.ep, val + 2, 1, NULL, val + 3, NULL, 0,
						      at, key, FI_UINT64, FI_SUM, vt_ctx(2)) :
				      fi_atomic(pair.a.ep, val + 2, 1, NULL, 0, at, key, FI_UINT64,
						FI_SUM, vt_ctx(2));
			break;
		}
		KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s", rules[i]);
		vt_done(test, pair.a.tx, vt_ctx(2));
		if (i < 4)
			vt_done(test, pair.b.rx, vt_ctx(1));
		KUNIT_EXPECT_TRUE_MSG(test, bed_rule_fired(rules[i], 1, 1), "%s", rules[i]);
	}
}

static void a_drain_has_what_is_kept_come_at_once(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	unsigned long since = jiffies;

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "send delay 60000");
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_LT(test, jiffies - since, msecs_to_jiffies(30000));
}

static struct kunit_case delay_cases[] = {
	KUNIT_CASE(a_completion_comes_later_and_what_follows_behind_it),
	KUNIT_CASE(a_callback_comes_later),
	KUNIT_CASE(an_endpoint_closes_while_completions_are_kept),
	KUNIT_CASE(a_drain_has_what_is_kept_come_at_once),
	KUNIT_CASE(a_rule_delays_the_operations_that_it_names),
	KUNIT_CASE(a_peers_write_is_no_operation_of_the_sender),
	{}
};

static struct kunit_suite delay_suite = {
	.name		= "kofi_hook_delay",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= delay_cases,
};

kunit_test_suite(delay_suite);
