/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Collecting the reasons why something is not among the results of
 * fi_getinfo(), why.c.
 */
#ifndef _KOFI_WHY_H
#define _KOFI_WHY_H

#include <linux/list.h>
#include <linux/printk.h>
#include <rdma/fi_reason.h>

/**
 * struct kofi_why - Collects the reasons of one query
 * @entry: in the list of all struct kofi_why whose queries run
 * @task: runs the query
 * @may_not_load: the query must not load a module
 * @prov_name: provider that is being asked, or NULL
 * @reasons: the nearest reasons so far, nearest first
 * @room: room in @reasons
 * @count: how many there are
 * @next: the reason that is being written
 */
struct kofi_why {
	struct list_head	entry;
	struct task_struct	*task;
	bool			may_not_load;
	const char		*prov_name;
	struct fi_reason	*reasons;
	size_t			room;
	size_t			count;
	struct fi_reason	next;
};

/* @why has @reasons and @room, and may have @may_not_load; the rest is 0 */
void kofi_why_listen(struct kofi_why *why);
void kofi_why_unlisten(struct kofi_why *why);

/* The list of reasons of the query that runs in this task; NULL: there is none */
struct kofi_why *kofi_why_current(void);

/* Adds @why->next, which is complete but for the provider's name */
void kofi_why_add(struct kofi_why *why);

/* Writes a text; one that is too long ends behind a word */
void kofi_why_format(char *text, size_t size, struct va_format *vaf);

/* Adds a reason, as a text, to dynamic debug and to the list of reasons, if there is one */
__printf(5, 6) void kofi_why_say(enum fi_reason_kind kind, int err,
				 const char *domain_name, const char *field,
				 const char *fmt, ...);

/* Adds the reason that a field has to be @wanted and is @offered */
void kofi_why_differ(enum fi_reason_kind kind, const char *domain_name,
		     const char *field, const char *wanted, const char *offered);

#endif /* _KOFI_WHY_H */
