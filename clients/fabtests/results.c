// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The table, in the columns and units of fabtests:
 *
 *	bytes		size of one message; k, m, g are powers of 1024
 *	iters		iterations; k, m, b are powers of 1000
 *	total		bytes of all iterations
 *	time		seconds for all iterations
 *	MB/sec		total / time, in 10^6 bytes per second
 *	usec/xfer	time / messages, in microseconds
 *	Mxfers/sec	messages / time, in 10^6 per second
 *
 * The kernel does without floating point: time is taken in nanoseconds and each figure is
 * computed in hundredths of its unit, rounded to the nearest.
 *
 * Locking: the end's thread appends rows and publishes their number; readers load the number
 * first.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "fabtests.h"

#define FT_STR_LEN	24
#define FT_LINE_LEN	128

/* iterations=, or the number that fabtests takes without -I */
u32 ft_iterations(u32 size)
{
	u32 twice = ft_params.test->windowed ? 2 : 1;

	if (ft_params.iterations)
		return ft_params.iterations;
	if (size >= SZ_1M)
		return 100 * twice;
	return (size >= SZ_64K ? 1000 : 10000) * twice;
}

static const char *ft_size_str(char *str, u64 size)
{
	static const char units[] = { '\0', 'k', 'm', 'g' };
	unsigned int unit = 0;
	u64 tenths = 0;

	while (unit < ARRAY_SIZE(units) - 1 && size >> 10 * (unit + 1))
		unit++;
	if (size >> 10 * unit < 10)
		tenths = (size & (BIT_ULL(10 * unit) - 1)) * 10 >> 10 * unit;
	if (tenths)
		scnprintf(str, FT_STR_LEN, "%llu.%llu%c", size >> 10 * unit, tenths, units[unit]);
	else
		scnprintf(str, FT_STR_LEN, "%llu%c", size >> 10 * unit, units[unit]);
	return str;
}

static const char *ft_count_str(char *str, u32 count)
{
	if (count >= 1000000000)
		scnprintf(str, FT_STR_LEN, "%ub", count / 1000000000);
	else if (count >= 1000000)
		scnprintf(str, FT_STR_LEN, "%um", count / 1000000);
	else if (count >= 1000)
		scnprintf(str, FT_STR_LEN, "%uk", count / 1000);
	else
		scnprintf(str, FT_STR_LEN, "%u", count);
	return str;
}

struct ft_hundredths {
	u64	units;
	u32	rest;
};

/* a * scale / b in hundredths, rounded; @b is not 0. */
static struct ft_hundredths ft_ratio(u64 a, u64 scale, u64 b)
{
	struct ft_hundredths h;
	u64 thousandths = mul_u64_u64_div_u64(a, scale * 1000, b);

	h.units = div_u64_rem(div_u64(thousandths + 5, 10), 100, &h.rest);
	return h;
}

static void ft_header(char *line)
{
	scnprintf(line, FT_LINE_LEN, "%-8s%-8s%-8s%8s %10s%13s%13s", "bytes", "iters", "total",
		  "time", "MB/sec", "usec/xfer", "Mxfers/sec");
}

static void ft_format(char *line, const struct ft_row *row)
{
	char size[FT_STR_LEN], iterations[FT_STR_LEN], total[FT_STR_LEN];
	u64 xfers = (u64)row->iterations * row->xfers, bytes = xfers * row->size;
	u64 ns = max(row->ns, 1ULL);
	struct ft_hundredths sec = ft_ratio(ns, 1, NSEC_PER_SEC);
	struct ft_hundredths mb = ft_ratio(bytes, 1000, ns);
	struct ft_hundredths usec = ft_ratio(ns, 1, xfers * NSEC_PER_USEC);
	struct ft_hundredths rate = ft_ratio(xfers, NSEC_PER_USEC, ns);

	scnprintf(line, FT_LINE_LEN, "%-8s%-8s%-8s%5llu.%02us%7llu.%02u%8llu.%02u%8llu.%02u",
		  ft_size_str(size, row->size), ft_count_str(iterations, row->iterations),
		  ft_size_str(total, bytes), sec.units, sec.rest, mb.units, mb.rest, usec.units,
		  usec.rest, rate.units, rate.rest);
}

/* Append a row; the table goes to the log as it grows. */
void ft_results_add(struct ft_end *e, u32 size, u32 xfers, u64 ns)
{
	struct ft_row *row = &e->rows[e->nr_rows];
	char line[FT_LINE_LEN];

	if (!e->nr_rows) {
		ft_header(line);
		pr_info("%s: %s\n", e->name, line);
	}
	*row = (struct ft_row) {
		.size = size,
		.iterations = ft_iterations(size),
		.xfers = xfers,
		.ns = ns,
	};
	ft_format(line, row);
	pr_info("%s: %s\n", e->name, line);
	/* Publishes the row before the count; pairs with ft_results_show() */
	smp_store_release(&e->nr_rows, e->nr_rows + 1);
}

void ft_results_show(struct seq_file *m, struct ft_end *e)
{
	char line[FT_LINE_LEN];
	unsigned int i, nr;

	/* Pairs with ft_results_add() */
	nr = smp_load_acquire(&e->nr_rows);
	seq_printf(m, "%s: %s, %llu contents checked\n", e->name, ft_params.test->name,
		   READ_ONCE(e->checked));
	if (!nr)
		return;
	ft_header(line);
	seq_printf(m, "%s\n", line);
	for (i = 0; i < nr; i++) {
		ft_format(line, &e->rows[i]);
		seq_printf(m, "%s\n", line);
	}
}
