// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A command is a line of words: the key of the case, the test, and NAME=VALUE for
 * each parameter that differs from perf_defaults:
 *
 *	lat.64 pingpong size=64 count=200 rounds=20
 *	rate.64.d128 stream op=send depth=128 links=1 count=2000
 *
 * Both sides are opened, then run in turn.  The side that runs first changes with
 * each round, so that a drift of the machine affects both sides.  The first run of
 * each side is not counted.  With side=kofi or side=raw only that side runs.
 *
 * kOFI's side runs on the provider prov= (verbs by default).  With ep=rdm it has endpoints
 * without connections.  With ctx=process all operations are posted in process context, and may
 * sleep.  base= selects the baseline: map or inline, on ib_core (raw.c); sock, on kernel sockets
 * (sock.c); msg, kOFI with connections on the same provider, or on the lower one of a provider
 * on another ("verbs;ofi_rxm"); tcp, on kofi_tcp.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "perf.h"
#include "raw.h"

#define PERF_MAX_ROUNDS	400

/* The first code that only fi_errno.h has; read() and write() may not return it */
#define PERF_ERRNO_END	256

static const struct perf_cmd perf_defaults = {
	.node = "10.77.0.1", .op = "send", .size = 64, .count = 200,
	.depth = 16, .links = 1, .rounds = 10, .base = "map", .way.prov = "verbs",
};

static const struct perf_test *const perf_tests[] = {
	&perf_pingpong, &perf_stream, &perf_perio, &perf_setup, &perf_match, &perf_meet,
};

int perf_refuse(const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	pr_err("command refused: %pV\n", &vaf);
	va_end(args);
	return -EINVAL;
}

/**
 * struct perf_text - A parameter that is a text
 * @name: of the parameter
 * @offset: of its value in &struct perf_cmd
 * @size: of its value
 * @allowed: its values, separated by commas; NULL: any
 */
struct perf_text {
	const char	*name;
	size_t		offset;
	size_t		size;
	const char	*allowed;
};

static const struct perf_text perf_texts[] = {
	{ "op", offsetof(struct perf_cmd, op), sizeof_field(struct perf_cmd, op),
	  "send, more, write, read, ep, ep-rma, cq, mr, conn, peer, met" },
	{ "side", offsetof(struct perf_cmd, side), sizeof_field(struct perf_cmd, side),
	  "kofi, raw" },
	{ "base", offsetof(struct perf_cmd, base), sizeof_field(struct perf_cmd, base),
	  "map, inline, sock, msg, tcp" },
	{ "prov", offsetof(struct perf_cmd, way.prov), sizeof_field(struct perf_cmd, way.prov) },
	{ "node", offsetof(struct perf_cmd, node), sizeof_field(struct perf_cmd, node) },
};

/* Where the value of a number is, and the most; the least is 1 */
static const struct {
	const char	*name;
	size_t		offset;
	unsigned int	max;
} perf_numbers[] = {
	{ "size", offsetof(struct perf_cmd, size), SZ_4M },
	{ "count", offsetof(struct perf_cmd, count), 10000000 },
	{ "depth", offsetof(struct perf_cmd, depth), SZ_64K },
	{ "links", offsetof(struct perf_cmd, links), SZ_16K },
	{ "rounds", offsetof(struct perf_cmd, rounds), PERF_MAX_ROUNDS },
};

/* Is @word one of @list, in which commas separate words? */
static bool perf_is_listed(const char *word, const char *list)
{
	size_t len = strlen(word);

	while (strncmp(list, word, len) || (list[len] && list[len] != ',')) {
		list = strstr(list, ", ");
		if (!list)
			return false;
		list += 2;
	}
	return len;
}

static int perf_copy(const char *name, char *to, size_t size, const char *text)
{
	if (strscpy(to, text, size) >= 0)
		return 0;
	return perf_refuse("%s: %s has more than %zu bytes", name, text, size - 1);
}

static int perf_check(const char *name, const char *word, const char *allowed)
{
	if (perf_is_listed(word, allowed))
		return 0;
	return perf_refuse("%s=%s; allowed are %s", name, word, allowed);
}

static int perf_set_text(struct perf_cmd *cmd, const struct perf_text *text, const char *word)
{
	int ret = text->allowed ? perf_check(text->name, word, text->allowed) : 0;

	return ret ? : perf_copy(text->name, (char *)cmd + text->offset, text->size, word);
}

static int perf_set_number(struct perf_cmd *cmd, const char *name, const char *word)
{
	unsigned int value;
	int i;

	for (i = 0; i < ARRAY_SIZE(perf_numbers); i++)
		if (!strcmp(name, perf_numbers[i].name))
			break;
	if (i == ARRAY_SIZE(perf_numbers))
		return perf_refuse("%s=%s: there is no %s", name, word, name);
	if (kstrtouint(word, 0, &value) || !value || value > perf_numbers[i].max)
		return perf_refuse("%s=%s; allowed are 1 to %u", name, word, perf_numbers[i].max);
	*(unsigned int *)((char *)cmd + perf_numbers[i].offset) = value;
	return 0;
}

static int perf_set(struct perf_cmd *cmd, char *word)
{
	char *name = strsep(&word, "=");
	int i;

	if (!word)
		return perf_refuse("%s is no NAME=VALUE", name);
	if (!strcmp(name, "ep")) {
		cmd->way.rdm = !strcmp(word, "rdm");
		return perf_check(name, word, "msg, rdm");
	}
	if (!strcmp(name, "ctx")) {
		cmd->way.process = !strcmp(word, "process");
		return perf_check(name, word, "softirq, process");
	}
	for (i = 0; i < ARRAY_SIZE(perf_texts); i++)
		if (!strcmp(name, perf_texts[i].name))
			return perf_set_text(cmd, &perf_texts[i], word);
	return perf_set_number(cmd, name, word);
}

static int perf_parse(struct perf_cmd *cmd, char *text)
{
	char *word;
	int ret = 0, nth;

	*cmd = perf_defaults;
	for (nth = 0; !ret && (word = strsep(&text, " ")); nth++) {
		if (nth == 0)
			ret = perf_copy("the key", cmd->key, sizeof(cmd->key), word);
		else if (nth == 1)
			ret = perf_copy("the test", cmd->test, sizeof(cmd->test), word);
		else
			ret = perf_set(cmd, word);
	}
	return ret;
}

static const struct perf_test *perf_find_test(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(perf_tests); i++)
		if (!strcmp(name, perf_tests[i]->name))
			return perf_tests[i];
	return NULL;
}

static int perf_run_one(const struct perf_test *test, const struct perf_cmd *cmd,
			const struct perf_side *side, void *state, int round)
{
	s64 value = test->run(state, cmd);

	if (value < 0) {
		pr_err("%s, %s: error %lld\n", cmd->key, side->name, value);
		return value;
	}
	if (round)
		perf_sample(cmd, side->name, test->unit, round, value,
			    cmd->count);
	return 0;
}

static int perf_rounds(const struct perf_test *test, const struct perf_cmd *cmd,
		       const struct perf_side *const sides[2], void *states[2])
{
	int round, turn, who, ret;

	for (round = 0; round <= cmd->rounds; round++) {
		for (turn = 0; turn < 2; turn++) {
			who = (round + turn) & 1;
			if (!states[who])
				continue;
			ret = perf_run_one(test, cmd, sides[who], states[who],
					   round);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static const struct perf_side *perf_baseline(const struct perf_cmd *cmd)
{
	if (!strcmp(cmd->base, "map"))
		return &perf_raw_side;
	if (!strcmp(cmd->base, "sock"))
		return &perf_sock_side;
	if (!strcmp(cmd->base, "msg"))
		return &perf_msg_side;
	if (!strcmp(cmd->base, "tcp"))
		return &perf_tcp_side;
	return !strcmp(cmd->base, "inline") && cmd->size <= RAW_INLINE ?
	       &perf_raw_inline_side : NULL;
}

static int perf_measure(const struct perf_test *test, const struct perf_cmd *cmd)
{
	const struct perf_side *sides[2] = { &perf_kofi_side };
	void *states[2] = { };
	int i, ret = 0;

	sides[1] = perf_baseline(cmd);
	if (!sides[1])
		return perf_refuse("size=%u; base=inline has %u at most", cmd->size, RAW_INLINE);
	for (i = 0; i < 2 && !ret; i++) {
		if (*cmd->side && strcmp(cmd->side, sides[i]->name))
			continue;
		states[i] = test->open(sides[i], cmd);
		ret = PTR_ERR_OR_ZERO(states[i]);
		if (ret) {
			states[i] = NULL;
			pr_err("%s: cannot open %s: %d\n", cmd->key,
			       sides[i]->name, ret);
		}
	}
	if (!ret)
		ret = perf_rounds(test, cmd, sides, states);
	for (i = 0; i < 2; i++)
		if (states[i])
			test->close(states[i]);
	return ret;
}

static int perf_do(const struct perf_cmd *cmd)
{
	const struct perf_test *test = perf_find_test(cmd->test);
	const struct perf_side *base = perf_baseline(cmd);

	if (test)
		return perf_measure(test, cmd);
	if (!strcmp(cmd->test, "release")) {
		perf_release();
		return 0;
	}
	if (strcmp(cmd->test, "hold"))
		return perf_refuse("there is no test %s; there are pingpong, stream, perio, setup, match, meet, hold, release",
				   cmd->test);
	if (!strcmp(cmd->side, perf_kofi_side.name))
		return perf_hold(&perf_kofi_side, cmd);
	if (!base || strcmp(cmd->side, base->name))
		return perf_refuse("hold needs side=kofi or side=raw, with a base= that has size=%u",
				   cmd->size);
	return perf_hold(base, cmd);
}

int perf_command(char *text)
{
	struct perf_cmd cmd;
	int ret;

	ret = perf_parse(&cmd, text);
	if (!ret)
		ret = perf_do(&cmd);
	return ret <= -PERF_ERRNO_END ? -EIO : ret;
}
