// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The measured values: a line for each run,
 *
 *	case side unit round value operations
 *
 * value is nanoseconds or bytes for all operations together; scripts/figures/ratios
 * computes ratios of the values.
 *
 * Locking: commands come one at a time, and no reader runs meanwhile: main.c holds
 * perf_lock for both.
 */
#include <linux/module.h>
#include <linux/seq_file.h>

#include "perf.h"

#define PERF_SAMPLES	1024

struct perf_line {
	char		key[40];
	const char	*side;
	const char	*unit;
	unsigned int	round;
	u64		value;
	u64		ops;
};

static struct perf_line perf_lines[PERF_SAMPLES];
static unsigned int perf_nr_lines;

void perf_samples_clear(void)
{
	perf_nr_lines = 0;
}

void perf_sample(const struct perf_cmd *cmd, const char *side, const char *unit,
		 unsigned int round, u64 value, u64 ops)
{
	struct perf_line *line;

	if (WARN_ON_ONCE(perf_nr_lines == PERF_SAMPLES))
		return;
	line = &perf_lines[perf_nr_lines++];
	*line = (struct perf_line) {
		.side = side, .unit = unit, .round = round,
		.value = value, .ops = ops,
	};
	strscpy(line->key, cmd->key, sizeof(line->key));
}

void perf_samples_show(struct seq_file *m)
{
	const struct perf_line *line;

	for (line = perf_lines; line < perf_lines + perf_nr_lines; line++)
		seq_printf(m, "%s %s %s %u %llu %llu\n", line->key, line->side,
			   line->unit, line->round, line->value, line->ops);
}
