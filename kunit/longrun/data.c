// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The plan of a round and the bytes of everything.
 *
 * A word of eight bytes depends on its place, so that bytes which come from another
 * place of the same message show, too.
 */
#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include "longrun.h"

#define LR_GOLDEN	0x9e3779b97f4a7c15ULL	/* 2^64 divided by the golden ratio */

static u64 lr_mix(u64 value)
{
	value ^= value >> 31;
	value *= LR_GOLDEN;
	return value ^ (value >> 29);
}

static u64 lr_key(const struct lr_link *link, u64 stuff, u64 number)
{
	return lr_mix(lr_mix(lr_mix(link->hello.seed + stuff) + link->hello.conn) + number);
}

void lr_fill(const struct lr_link *link, enum lr_stuff stuff, u64 number, u8 *buf, size_t len)
{
	u64 word = lr_key(link, stuff, number);
	size_t at;

	for (at = 0; at < len; at += sizeof(word)) {
		memcpy(buf + at, &word, min(sizeof(word), len - at));
		word += LR_GOLDEN;
	}
}

/* Returns how many bytes are as lr_fill() would make them, in words */
size_t lr_intact(const struct lr_link *link, enum lr_stuff stuff, u64 number,
		 const u8 *buf, size_t len)
{
	u64 word = lr_key(link, stuff, number);
	size_t at;

	for (at = 0; at < len; at += sizeof(word)) {
		if (memcmp(buf + at, &word, min(sizeof(word), len - at)))
			return at;
		word += LR_GOLDEN;
	}
	return len;
}

/* Half of all lengths are small, a quarter medium */
static u32 lr_draw_len(struct rnd_state *rnd, u32 min, u32 max)
{
	u32 shift = prandom_u32_state(rnd) % 4;
	u32 ceil = shift > 1 ? min_t(u32, max, 256) :
		   shift ? min_t(u32, max, 2048) : max;

	return min + prandom_u32_state(rnd) % (ceil - min + 1);
}

/* A kind that the connection has, with a place left */
static enum lr_kind lr_draw_kind(struct rnd_state *rnd, u32 caps, u32 writes, u32 reads)
{
	enum lr_kind kind = prandom_u32_state(rnd) % LR_KINDS;

	if (kind == LR_WRITEDATA && !(caps & LR_DATA))
		kind = LR_WRITE;
	if ((kind == LR_WRITE || kind == LR_WRITEDATA) && writes == LR_SLOTS)
		return LR_SEND;
	if (kind == LR_READ_SLOT && reads == LR_SLOTS)
		return LR_SEND;
	if (kind == LR_ADD && !(caps & LR_ATOMIC))
		return LR_SEND;
	return kind;
}

static void lr_draw_step(struct rnd_state *rnd, const struct lr_link *link,
			 struct lr_step *step, u32 *writes, u32 *reads)
{
	step->kind = lr_draw_kind(rnd, link->welcome.caps, *writes, *reads);
	switch (step->kind) {
	case LR_WRITE:
	case LR_WRITEDATA:
		step->slot = (*writes)++;
		step->len = lr_draw_len(rnd, 1, LR_SLOT);
		break;
	case LR_READ_SLOT:
		step->slot = (*reads)++;
		step->len = lr_draw_len(rnd, 1, LR_SLOT);
		break;
	case LR_ADD:
		step->len = prandom_u32_state(rnd) % 1000;
		break;
	default:
		step->len = lr_draw_len(rnd, sizeof(struct lr_msg), link->hello.size);
	}
}

/* What both sides do in round link->round */
void lr_plan(const struct lr_link *link, struct lr_plan *plan)
{
	u32 i, writes = 0, reads = 0;
	struct rnd_state rnd;

	*plan = (struct lr_plan) {};
	prandom_seed_state(&rnd, lr_key(link, ~0ULL, link->round));
	plan->nr = 1 + prandom_u32_state(&rnd) % LR_STEPS;
	for (i = 0; i < plan->nr; i++)
		lr_draw_step(&rnd, link, &plan->steps[i], &writes, &reads);
	plan->nr_answers = 1 + prandom_u32_state(&rnd) % LR_ANSWERS;
	for (i = 0; i < plan->nr_answers; i++)
		plan->answers[i] = lr_draw_len(&rnd, sizeof(struct lr_msg), link->hello.size);
}
