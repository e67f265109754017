/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel logs, for cases about messages.  In kofi_client.ko.
 */
#ifndef _KUNIT_LOG_H
#define _KUNIT_LOG_H

#include <linux/kmsg_dump.h>

/**
 * vt_log_clear() - Begin to look at the log
 * @log: what has been seen; the case's
 *
 * Context: may sleep.
 */
void vt_log_clear(struct kmsg_dump_iter *log);

/**
 * vt_log_count() - How many lines have come since vt_log_clear() with a text?
 * @log: as vt_log_clear() left it
 * @text: the text
 *
 * Context: may sleep.
 * Return: the number.
 */
int vt_log_count(const struct kmsg_dump_iter *log, const char *text);

#endif /* _KUNIT_LOG_H */
