// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The corpus of the fuzzer, replayed: under KASAN, no check reads a byte that is not there.
 *
 * providers/rxm/wire.c is compiled into this module, as it keeps no state.
 */
#include <linux/slab.h>
#include <kunit/test.h>
#include "replay.h"
#include "rxm.h"
#include "../../providers/rxm/wire.c"

u8 *replay_copy(const u8 *data, size_t len)
{
	u8 *copy = kzalloc(len, GFP_KERNEL | __GFP_NOFAIL);

	return data ? memcpy(copy, data, len) : copy;
}

void replay_free(u8 *copy)
{
	kfree(copy);
}

/* Where the last packet of a row begins */
static size_t last_packet(const struct replay_input *row)
{
	size_t at = 0, next = 0;

	while (next < row->len) {
		at = next;
		next += 2 + (row->data[at] | row->data[at + 1] << 8);
	}
	return at;
}

static void corpus_is_checked_to_the_first_packet_that_breaks_the_rules(struct kunit *test)
{
	const struct replay_input *row = replay_corpus;
	size_t i, at = 0, split;
	const char *why;

	for (i = 0; i < replay_corpus_count; i++, row++) {
		why = replay(row->data, row->len, &at, &split);
		KUNIT_EXPECT_NULL_MSG(test, why, "%s: %s, in the packet at byte %zu", row->name,
				      why, at);
		if (row->good)
			KUNIT_EXPECT_EQ_MSG(test, at, row->len, "%s: refused", row->name);
		if (row->bad)
			KUNIT_EXPECT_EQ_MSG(test, at, last_packet(row), "%s: taken", row->name);
	}
	kunit_info(test, "%zu inputs\n", replay_corpus_count);
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(corpus_is_checked_to_the_first_packet_that_breaks_the_rules),
	{}
};

struct kunit_suite rxm_corpus_suite = {
	.name		= "kofi_rxm_corpus",
	.test_cases	= parse_cases,
};
