/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What holds for the checks of providers/rxm/wire.c whatever a peer sends.
 *
 * An input is what one connection brings: the connection data of its request, then packets.  Each
 * of them has its length in front, two bytes, the low one first.  KUnit replays the corpus
 * (corpus.c) under KASAN; in user space libFuzzer makes inputs of its own from it (scripts/fuzz).
 */
#ifndef _KUNIT_RXM_REPLAY_H
#define _KUNIT_RXM_REPLAY_H

#include <linux/types.h>

/*
 * struct replay_input - A row of the corpus; @good: all that it has keeps to the rules; @bad: all
 * but the last packet
 */
struct replay_input {
	const char	*name;
	const u8	*data;
	size_t		len;
	bool		good;
	bool		bad;
};

extern const struct replay_input replay_corpus[];
extern const size_t replay_corpus_count;

/*
 * Checks an input up to the first packet that breaks the rules.  Returns NULL, or what does not
 * hold; @at is the byte of the input where checking has ended: the end, or that packet.  @split is
 * for the streams of kofi_tcp, and 0 here.
 */
const char *replay(const u8 *input, size_t len, size_t *at, size_t *split);

/*
 * A copy of exactly so many bytes, or (NULL) as many zeroes, behind which the sanitizer lets
 * nobody read or write.  It does not fail.
 */
u8 *replay_copy(const u8 *data, size_t len);
void replay_free(u8 *copy);

#endif /* _KUNIT_RXM_REPLAY_H */
