// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Dynamic moderation of interrupts: what a device that asks for it is set to, as the pace of its
 * completions changes.
 *
 * lib/dim compares 64 interrupts with the 64 before them.  It counts in whole completions per
 * millisecond, rounded up, so it takes all paces below one for equal.
 */
#include <linux/delay.h>
#include "hca.h"

#define DIM_SLOW_MS	2	/* between messages, of which each has two completions */
#define DIM_BURST	16	/* messages, with fewer interrupts than are compared */
#define DIM_BURSTS	160	/* more interrupts than are compared */
#define DIM_WINDOWS	8	/* as often, where a machine that stalls may hide the pace */

static void dim_open(struct kunit *test, const struct fakehca_attr *attr, struct vt_pair *pair)
{
	ht_serve(test, attr);
	/* Of both ends, as each queue is moderated for itself */
	pair->a.tx = vt_cq(test, &vt_default_kind, 1024);
	pair->b.tx = pair->a.tx;
	ht_join(test, pair);
}

/* As many messages, as fast as they go */
static void dim_burst(struct kunit *test, struct vt_pair *pair, int count)
{
	struct vt_comp comp;
	int i;

	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < count; i++) {
		vt_recv(test, &pair->b, NULL, 0, vt_ctx(1));
		vt_send(test, &pair->a, NULL, 0, vt_ctx(2));
	}
	fakehca_release(ht_of(test)->hca);
	for (i = 0; i < 2 * count; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair->a.tx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
	}
}

/*
 * Bursts of @count messages until the device is moderated, or would have been @windows times; a
 * single one is slow.  Returns how often it was.
 */
static unsigned int dim_moderated(struct kunit *test, struct vt_pair *pair, int count, int windows)
{
	unsigned int before = ht_stats(test).moderations;
	int i;

	for (i = 0; i < windows * DIM_BURSTS && ht_stats(test).moderations == before; i++) {
		dim_burst(test, pair, count);
		if (count == 1)
			msleep(DIM_SLOW_MS);
	}
	return ht_stats(test).moderations - before;
}

/* More completions in a millisecond are waited for longer, and fewer for the shortest time */
static void a_change_of_pace_changes_the_moderation(struct kunit *test)
{
	const struct fakehca_attr attr = { .cq_dim = true };
	struct vt_pair pair = {};

	dim_open(test, &attr, &pair);
	KUNIT_EXPECT_EQ(test, dim_moderated(test, &pair, 1, 1), 0);
	KUNIT_ASSERT_EQ(test, dim_moderated(test, &pair, DIM_BURST, DIM_WINDOWS), 1);
	KUNIT_EXPECT_EQ(test, ht_stats(test).moderate_comps, 4);
	KUNIT_EXPECT_EQ(test, ht_stats(test).moderate_usec, 1);
	KUNIT_ASSERT_EQ(test, dim_moderated(test, &pair, 1, DIM_WINDOWS), 1);
	KUNIT_EXPECT_EQ(test, ht_stats(test).moderate_comps, 1);
	KUNIT_EXPECT_EQ(test, ht_stats(test).moderate_usec, 1);
}

static void a_device_that_does_not_ask_is_not_moderated(struct kunit *test)
{
	struct vt_pair pair = {};

	dim_open(test, NULL, &pair);
	KUNIT_EXPECT_EQ(test, dim_moderated(test, &pair, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, dim_moderated(test, &pair, DIM_BURST, 1), 0);
}

static struct kunit_case dim_cases[] = {
	KUNIT_CASE(a_change_of_pace_changes_the_moderation),
	KUNIT_CASE(a_device_that_does_not_ask_is_not_moderated),
	{}
};

struct kunit_suite kofi_hca_dim_suite = {
	.name		= "kofi_hca_dim",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= dim_cases,
};
