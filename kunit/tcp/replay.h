/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What holds for the parsers of providers/tcp/wire.c whatever a peer sends.
 *
 * An input is a byte of REPLAY_* and then the stream of a peer. KUnit replays the corpus
 * (corpus.c) under KASAN; in user space libFuzzer makes inputs of its own from it
 * (scripts/fuzz). Both compile replay.c, which needs nothing of the kernel but
 * replay_copy() and replay_free().
 */
#ifndef _KUNIT_TCP_REPLAY_H
#define _KUNIT_TCP_REPLAY_H

#include <linux/types.h>

#define REPLAY_FOREIGN	1	/* the peer's byte order is not ours */
#define REPLAY_CM	2	/* the stream begins with a message of connection management */

/* struct replay_input - A row of the corpus */
struct replay_input {
	const char	*name;
	const u8	*data;
	size_t		len;
};

extern const struct replay_input replay_corpus[];
extern const size_t replay_corpus_count;

/*
 * Parses an input, each message of it split at each byte. Returns NULL, or what does not
 * hold; @at is then the byte of the input where that message begins, and @split the bytes
 * of it that were there.
 */
const char *replay(const u8 *input, size_t len, size_t *at, size_t *split);

/*
 * A copy of exactly so many bytes, behind which the sanitizer lets nobody read. It does not
 * fail.
 */
u8 *replay_copy(const u8 *data, size_t len);
void replay_free(u8 *copy);

#endif /* _KUNIT_TCP_REPLAY_H */
