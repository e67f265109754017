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
 * (sock.c); msg, kOFI with connections on the same provider.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
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

static int perf_set_number(struct perf_cmd *cmd, const char *name,
			   const char *value)
{
	const struct {
		const char	*name;
		unsigned int	*to;
	} numbers[] = {
		{ "size", &cmd->size }, { "count", &cmd->count },
		{ "depth", &cmd->depth }, { "links", &cmd->links },
		{ "rounds", &cmd->rounds },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return kstrtouint(value, 0, numbers[i].to);
	return -EINVAL;
}

static int perf_set(struct perf_cmd *cmd, char *word)
{
	char *name = strsep(&word, "=");

	if (!word)
		return -EINVAL;
	if (!strcmp(name, "op"))
		return strscpy(cmd->op, word, sizeof(cmd->op)) < 0 ? -EINVAL : 0;
	if (!strcmp(name, "side"))
		return strscpy(cmd->side, word, sizeof(cmd->side)) < 0 ?
		       -EINVAL : 0;
	if (!strcmp(name, "base"))
		return strscpy(cmd->base, word, sizeof(cmd->base)) < 0 ?
		       -EINVAL : 0;
	if (!strcmp(name, "prov"))
		return strscpy(cmd->way.prov, word, sizeof(cmd->way.prov)) < 0 ?
		       -EINVAL : 0;
	if (!strcmp(name, "ep")) {
		cmd->way.rdm = !strcmp(word, "rdm");
		return cmd->way.rdm || !strcmp(word, "msg") ? 0 : -EINVAL;
	}
	if (!strcmp(name, "ctx")) {
		cmd->way.process = !strcmp(word, "process");
		return cmd->way.process || !strcmp(word, "softirq") ? 0 : -EINVAL;
	}
	if (!strcmp(name, "node"))
		return strscpy(cmd->node, word, sizeof(cmd->node)) < 0 ?
		       -EINVAL : 0;
	return perf_set_number(cmd, name, word);
}

static int perf_parse(struct perf_cmd *cmd, char *text)
{
	char *word;
	int ret = 0, nth = 0;

	*cmd = perf_defaults;
	while (!ret && (word = strsep(&text, " "))) {
		if (nth == 0)
			ret = strscpy(cmd->key, word, sizeof(cmd->key));
		else if (nth == 1)
			ret = strscpy(cmd->test, word, sizeof(cmd->test));
		else
			ret = perf_set(cmd, word);
		nth++;
		ret = min(ret, 0);
	}
	if (ret || !cmd->count || !cmd->size || !cmd->depth || !cmd->links ||
	    !cmd->rounds || cmd->rounds > PERF_MAX_ROUNDS)
		return -EINVAL;
	return 0;
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
		return -EINVAL;
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
		return -EINVAL;
	if (!strcmp(cmd->side, perf_kofi_side.name))
		return perf_hold(&perf_kofi_side, cmd);
	return base && !strcmp(cmd->side, base->name) ? perf_hold(base, cmd) : -EINVAL;
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
