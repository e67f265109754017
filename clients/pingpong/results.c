// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The table, in the columns and units of fi_pingpong:
 *
 *	bytes		size of one message; k, m, g are powers of 1024
 *	#sent		messages this side sent; k, m, b are powers of 1000
 *	#ack		=N: the client received as many, N; -N or +N: more or fewer by N
 *	total		bytes both ways
 *	time		seconds for all messages of this size
 *	MB/sec		total / time, in 10^6 bytes per second
 *	usec/xfer	time / messages both ways, in microseconds
 *	Mxfers/sec	messages both ways / time, in 10^6 per second
 *
 * The kernel does without floating point: time is taken in nanoseconds and each
 * figure is computed in hundredths of its unit, rounded to the nearest.
 *
 * The line below the table counts messages: "N of N messages intact".  The
 * length of each message is always compared, its contents with check=1 only.
 * fi_pingpong fills and checks its messages, both ways, only with -c.  Without -c
 * its messages hold nothing to compare, and check=1 fails at the first one.
 *
 * Locking: the role's thread appends rows and publishes their number; readers
 * load the number first.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "pingpong.h"

#define PP_STR_LEN	24
#define PP_LINE_LEN	128

static const char *pp_size_str(char *str, u64 size)
{
	static const char units[] = { '\0', 'k', 'm', 'g' };
	unsigned int unit = 0;
	u64 tenths = 0;

	while (unit < ARRAY_SIZE(units) - 1 && size >> 10 * (unit + 1))
		unit++;
	if (size >> 10 * unit < 10)
		tenths = (size & (BIT_ULL(10 * unit) - 1)) * 10 >> 10 * unit;
	if (tenths)
		scnprintf(str, PP_STR_LEN, "%llu.%llu%c", size >> 10 * unit,
			  tenths, units[unit]);
	else
		scnprintf(str, PP_STR_LEN, "%llu%c", size >> 10 * unit,
			  units[unit]);
	return str;
}

static const char *pp_count_str(char *str, u32 count)
{
	if (count >= 1000000000)
		scnprintf(str, PP_STR_LEN, "%ub", count / 1000000000);
	else if (count >= 1000000)
		scnprintf(str, PP_STR_LEN, "%um", count / 1000000);
	else if (count >= 1000)
		scnprintf(str, PP_STR_LEN, "%uk", count / 1000);
	else
		scnprintf(str, PP_STR_LEN, "%u", count);
	return str;
}

/* A figure in hundredths, printed as "units.hundredths" */
struct pp_hundredths {
	u64	units;
	u32	rest;
};

/* a * scale / b in hundredths, rounded; @b is not 0. */
static struct pp_hundredths pp_ratio(u64 a, u64 scale, u64 b)
{
	struct pp_hundredths h;
	u64 thousandths = mul_u64_u64_div_u64(a, scale * 1000, b);

	h.units = div_u64_rem(div_u64(thousandths + 5, 10), 100, &h.rest);
	return h;
}

static void pp_header(char *line)
{
	scnprintf(line, PP_LINE_LEN, "%-8s%-8s%-9s%-8s%8s %10s%13s%13s",
		  "bytes", "#sent", "#ack", "total", "time", "MB/sec",
		  "usec/xfer", "Mxfers/sec");
}

static void pp_format(char *line, const struct pp_row *row)
{
	char size[PP_STR_LEN], sent[PP_STR_LEN], ack[PP_STR_LEN];
	char total[PP_STR_LEN], sign = '=';
	u64 xfers = 2ULL * row->sent, bytes = xfers * row->size;
	u64 ns = max(row->ns, 1ULL);
	struct pp_hundredths sec = pp_ratio(ns, 1, NSEC_PER_SEC);
	struct pp_hundredths mb = pp_ratio(bytes, 1000, ns);
	struct pp_hundredths usec = pp_ratio(ns, 1, xfers * NSEC_PER_USEC);
	struct pp_hundredths rate = pp_ratio(xfers, NSEC_PER_USEC, ns);
	u32 other = row->acked;

	if (row->sent < row->acked) {
		sign = '-';
		other = row->acked - row->sent;
	} else if (row->sent > row->acked) {
		sign = '+';
		other = row->sent - row->acked;
	}
	scnprintf(line, PP_LINE_LEN,
		  "%-8s%-8s%c%-8s%-8s%5llu.%02us%7llu.%02u%8llu.%02u%8llu.%02u",
		  pp_size_str(size, row->size), pp_count_str(sent, row->sent),
		  sign, pp_count_str(ack, other), pp_size_str(total, bytes),
		  sec.units, sec.rest, mb.units, mb.rest,
		  usec.units, usec.rest, rate.units, rate.rest);
}

/* Append a row; the table goes to the log as it grows. */
void pp_results_add(struct pp_role *r, const struct pp_row *row)
{
	char line[PP_LINE_LEN];

	if (!r->nr_rows) {
		pp_header(line);
		pr_info("%s: %s\n", r->name, line);
	}
	pp_format(line, row);
	pr_info("%s: %s\n", r->name, line);
	r->rows[r->nr_rows] = *row;
	/* Publishes the row before the count; pairs with pp_results_show() */
	smp_store_release(&r->nr_rows, r->nr_rows + 1);
}

static const char *pp_intact_note(void)
{
	return pp_params.check ? "" : " (lengths only; check=1 compares contents)";
}

void pp_results_log_intact(struct pp_role *r)
{
	pr_info("%s: %llu of %llu messages intact%s\n", r->name, r->intact,
		r->received, pp_intact_note());
}

void pp_results_show(struct seq_file *m, struct pp_role *r)
{
	char line[PP_LINE_LEN];
	unsigned int i, nr;

	/* Pairs with pp_results_add() */
	nr = smp_load_acquire(&r->nr_rows);
	seq_printf(m, "%s\n", r->name);
	if (nr) {
		pp_header(line);
		seq_printf(m, "%s\n", line);
	}
	for (i = 0; i < nr; i++) {
		pp_format(line, &r->rows[i]);
		seq_printf(m, "%s\n", line);
	}
	seq_printf(m, "%llu of %llu messages intact%s\n",
		   READ_ONCE(r->intact), READ_ONCE(r->received),
		   pp_intact_note());
}
