// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The corpus of the fuzzer, replayed: under KASAN, the parsers read no byte that is not
 * there, and each message is parsed alike wherever it is split.
 */
#include <linux/slab.h>
#include "replay.h"
#include "tcp.h"

u8 *replay_copy(const u8 *data, size_t len)
{
	u8 *copy = kmalloc(len, GFP_KERNEL | __GFP_NOFAIL);

	return memcpy(copy, data, len);
}

void replay_free(u8 *copy)
{
	kfree(copy);
}

static void corpus_is_parsed_alike_wherever_it_is_split(struct kunit *test)
{
	const struct replay_input *row = replay_corpus;
	size_t i, at = 0, split = 0;
	const char *why;

	for (i = 0; i < replay_corpus_count; i++, row++) {
		why = replay(row->data, row->len, &at, &split);
		KUNIT_EXPECT_NULL_MSG(test, why,
				      "%s: %s, in the message at byte %zu, split at %zu",
				      row->name, why, at, split);
	}
	kunit_info(test, "%zu inputs\n", replay_corpus_count);
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(corpus_is_parsed_alike_wherever_it_is_split),
	{}
};

static struct kunit_suite parse_suite = {
	.name		= "kofi_tcp_corpus",
	.test_cases	= parse_cases,
};

kunit_test_suite(parse_suite);
