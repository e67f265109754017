// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the kernel logs.  Nothing is taken out of the log: others may read it, too.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "log.h"

#define LINE_MAX	512

/* Steps over lines without @text to the end, or to one with it */
static bool log_next(struct kmsg_dump_iter *log, const char *text)
{
	char line[LINE_MAX];
	size_t len;

	while (kmsg_dump_get_line(log, false, line, sizeof(line) - 1, &len)) {
		line[len] = 0;
		if (text && strstr(line, text))
			return true;
	}
	return false;
}

void vt_log_clear(struct kmsg_dump_iter *log)
{
	kmsg_dump_rewind(log);
	log_next(log, NULL);
}
EXPORT_SYMBOL_GPL(vt_log_clear);

int vt_log_count(const struct kmsg_dump_iter *log, const char *text)
{
	struct kmsg_dump_iter at = *log;
	int count = 0;

	while (log_next(&at, text))
		count++;
	return count;
}
EXPORT_SYMBOL_GPL(vt_log_count);
