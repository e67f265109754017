// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_rule: which rules there may be, what their keys mean, and that a seed makes
 * the same calls go wrong each time.
 */
#include "../lib/log.h"
#include "bed.h"

#define SENDS	64
#define RULES	"/sys/kernel/debug/kofi_hook_fault/rules"
#define INVALID	"Invalid argument"

static const char *const bad_rules[] = {
	"send",				/* nothing goes wrong */
	"send explode",
	"nowhere again",
	"send,nowhere again",
	"send error",			/* with what? */
	"send error 0",
	"send error 4096",
	"send error EIO",
	"send delay 60001",
	"send again 5",			/* -EAGAIN has no number */
	"send again every=0",
	"send again chance=1001",
	"send again often=3",
	"send again every",
	"mr again",			/* no call-back is promised for a region */
	"connect fail 5",
	"recv fail 5",
	"inject fail 5",		/* it does not complete */
	"inject delay 5",
	"compare_atomic delay 5",	/* its completion is one of fetch_atomic */
	"send,send,send,send,send,send,send,send,send,send,send,send,send,send,send,send error 5",
};

static void a_rule_that_makes_no_sense_is_refused(struct kunit *test)
{
	size_t i;

	bed_rules(test, "clear");
	for (i = 0; i < ARRAY_SIZE(bad_rules); i++)
		KUNIT_EXPECT_TRUE_MSG(test, bed_refuses(bad_rules[i], INVALID), "%s", bad_rules[i]);
	KUNIT_EXPECT_EQ(test, vt_shell("! grep -q . " RULES), 0);
	/* More than 1024 characters at once */
	KUNIT_EXPECT_EQ(test, vt_shell("head -c 1025 /dev/zero | cat 2>&1 >" RULES
				       " | grep -q '" INVALID "'"), 0);
}

/* The log has the rule, the word, and what may stand there */
static void a_refused_rule_is_explained(struct kunit *test)
{
	static const struct {
		const char *rule, *log;
	} rows[] = {
		{ "nowhere again", "\"nowhere\" is none of: recv, send, inject," },
		{ "send explode", "\"explode\" is none of: again, error, fail, shutdown, delay" },
		{ "send error 4096", "\"4096\" is none of: an errno, 1 to 4095" },
		{ "send delay 60001", "\"60001\" is none of: 1 to 60000 milliseconds" },
		{ "send again often=3", "\"often\" is none of: after=N, every=N, times=N" },
		{ "mr again", "\"again\" is none of: what is possible at this place" },
	};
	struct kmsg_dump_iter log;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		vt_log_clear(&log);
		KUNIT_EXPECT_TRUE(test, bed_refuses(rows[i].rule, INVALID));
		KUNIT_EXPECT_EQ_MSG(test, vt_log_count(&log, rows[i].log), 1, "%s", rows[i].rule);
	}
}

static void there_is_room_for_sixteen_rules(struct kunit *test)
{
	int i;

	bed_rules(test, "clear");
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, bed_write("rules", "mr error 5"), 0);
	KUNIT_EXPECT_TRUE(test, bed_refuses("mr error 5", "No space left on device"));
}

static void rules_come_with_the_module(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vt_shell("rmmod kofi_hook_fault"), 0);
	KUNIT_EXPECT_NE(test, vt_shell("modprobe kofi_hook_fault rules=nowhere"), 0);
	KUNIT_EXPECT_NE(test, vt_shell("modprobe kofi_hook_fault 'rules=mr error 5;open again'"),
			0);
	KUNIT_EXPECT_EQ(test, vt_shell("modprobe kofi_hook_fault 'rules=mr error 5;open error 6'"),
			0);
	KUNIT_EXPECT_TRUE(test, bed_rule_fired("open error 6", 0, 0));
	KUNIT_EXPECT_EQ(test, vt_shell("rmmod kofi_hook_fault && modprobe kofi_hook_fault"), 0);
}

/* Bit by bit: which of the sends were refused? */
static u64 pattern(struct kunit *test)
{
	u8 *byte = vt_buf(test, 1);
	struct vt_pair pair = {};
	u64 refused = 0;
	int i;

	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, byte, 1, vt_ctx(1));
	for (i = 0; i < SENDS; i++) {
		if (fi_inject(pair.a.ep, byte, 1, 0)) {
			refused |= BIT_ULL(i);
			continue;
		}
		vt_done(test, pair.b.rx, vt_ctx(1));
		vt_recv(test, &pair.b, byte, 1, vt_ctx(1));
	}
	vt_pair_close(test, &pair);
	return refused;
}

static void keys_say_which_calls(struct kunit *test)
{
	bed_open(test, BED_FAULT, FI_MSG);
	bed_rules(test, "inject error 5 after=3 every=4 times=2");
	KUNIT_EXPECT_EQ(test, pattern(test), BIT_ULL(6) | BIT_ULL(10));
	bed_rules(test, "inject error 5 after=62");
	KUNIT_EXPECT_EQ(test, pattern(test), BIT_ULL(62) | BIT_ULL(63));
	bed_rules(test, "inject error 5 chance=1000 times=1");
	KUNIT_EXPECT_EQ(test, pattern(test), BIT_ULL(0));
}

static void a_seed_repeats_itself(struct kunit *test)
{
	u64 first, again, other;

	bed_open(test, BED_FAULT, FI_MSG);
	bed_rules(test, "inject error 5 chance=300");
	KUNIT_ASSERT_EQ(test, bed_write("seed", "7"), 0);
	first = pattern(test);
	KUNIT_EXPECT_TRUE(test, bed_rule_fired("inject error 5 chance=300", hweight64(first),
					       SENDS));
	KUNIT_ASSERT_EQ(test, bed_write("seed", "7"), 0);
	again = pattern(test);
	KUNIT_EXPECT_TRUE(test, bed_rule_fired("inject error 5 chance=300", hweight64(again),
					       SENDS));
	KUNIT_EXPECT_EQ(test, vt_shell("grep -qx 7 /sys/kernel/debug/kofi_hook_fault/seed"), 0);
	KUNIT_ASSERT_EQ(test, bed_write("seed", "8"), 0);
	other = pattern(test);
	KUNIT_EXPECT_EQ(test, first, again);
	KUNIT_EXPECT_NE(test, first, other);
	KUNIT_EXPECT_GT(test, hweight64(first), 5);
	KUNIT_EXPECT_LT(test, hweight64(first), 40);
}

static struct kunit_case rule_cases[] = {
	KUNIT_CASE(a_rule_that_makes_no_sense_is_refused),
	KUNIT_CASE(a_refused_rule_is_explained),
	KUNIT_CASE(there_is_room_for_sixteen_rules),
	KUNIT_CASE(rules_come_with_the_module),
	KUNIT_CASE(keys_say_which_calls),
	KUNIT_CASE(a_seed_repeats_itself),
	{}
};

static int rule_init(struct kunit *test)
{
	/* The folder is there when the module is */
	return vt_shell("modprobe kofi_hook_fault") ? -ENODEV : vt_init(test);
}

static struct kunit_suite rule_suite = {
	.name		= "kofi_hook_rule",
	.init		= rule_init,
	.exit		= vt_exit,
	.test_cases	= rule_cases,
};

kunit_test_suite(rule_suite);
