// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Why something is not among the results of fi_getinfo().
 *
 * A reason is found deep inside a query: in a comparison of match.c, in a check of
 * the hints, in the ->getinfo of a provider.  It always goes to dynamic debug.  If
 * fi_getinfo_why() or the trace event kofi_getinfo asks for reasons, there is also a
 * struct kofi_why, from kofi_why_listen() to kofi_why_unlisten().  It keeps the
 * nearest reasons in order.
 *
 * ->getinfo has no argument that would carry a struct kofi_why.  But a query runs in one
 * task from its beginning to its end, so kofi_why_current() finds the struct kofi_why by
 * its task in the list of all of them.  The list is nearly always empty, and
 * then the look-up is one load.
 *
 * Locking: whys_lock guards the list.  A struct kofi_why itself belongs to its task
 * alone, so nothing guards its contents; kofi_why_current() returns NULL in an interrupt.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <kofi/provider.h>
#include "why.h"

static LIST_HEAD(whys);
static DEFINE_SPINLOCK(whys_lock);

void kofi_why_listen(struct kofi_why *why)
{
	why->task = current;
	scoped_guard(spinlock, &whys_lock)
		list_add(&why->entry, &whys);
}

void kofi_why_unlisten(struct kofi_why *why)
{
	scoped_guard(spinlock, &whys_lock)
		list_del(&why->entry);
}

struct kofi_why *kofi_why_current(void)
{
	struct kofi_why *why, *found = NULL;

	/* Without the lock, this task sees at least the entry that it has added itself */
	if (list_empty(&whys) || !in_task())
		return NULL;

	spin_lock(&whys_lock);
	list_for_each_entry(why, &whys, entry) {
		if (why->task == current) {
			found = why;
			break;
		}
	}
	spin_unlock(&whys_lock);
	return found;
}

/* How far a reason is from a result; the nearest reason has the smallest distance */
static u64 distance(const struct fi_reason *reason)
{
	switch (reason->kind) {
	case FI_REASON_CALL:
	case FI_REASON_ABSENT:
		return 0;
	case FI_REASON_FIELD:
		return reason->misfits > 1 ? reason->misfits + 1ULL : 1;
	case FI_REASON_SKIPPED:
		return U64_MAX;
	default:
		return 2;
	}
}

static bool is_equal(const struct fi_reason *a, const struct fi_reason *b)
{
	return a->kind == b->kind && a->misfits == b->misfits &&
	       !strcmp(a->prov_name, b->prov_name) &&
	       !strcmp(a->domain_name, b->domain_name) &&
	       !strcmp(a->text, b->text);
}

void kofi_why_add(struct kofi_why *why)
{
	struct fi_reason *next = &why->next;
	size_t i, at = why->count;

	strscpy(next->prov_name, why->prov_name ?: "", sizeof(next->prov_name));
	for (i = 0; i < why->count; i++)
		if (is_equal(&why->reasons[i], next))
			return;

	while (at && distance(next) < distance(&why->reasons[at - 1]))
		at--;
	if (at == why->room)
		return;
	if (why->count < why->room)
		why->count++;
	memmove(&why->reasons[at + 1], &why->reasons[at],
		(why->count - 1 - at) * sizeof(*next));
	why->reasons[at] = *next;
}

/* Clears why->next for the reason that kofi_why_add() adds */
static struct fi_reason *why_begin(struct kofi_why *why,
				   enum fi_reason_kind kind,
				   const char *domain_name, const char *field)
{
	struct fi_reason *next = &why->next;

	memset(next, 0, sizeof(*next));
	next->kind = kind;
	if (domain_name)
		strscpy(next->domain_name, domain_name,
			sizeof(next->domain_name));
	if (field)
		strscpy(next->field, field, sizeof(next->field));
	return next;
}

void kofi_why_format(char *text, size_t size, struct va_format *vaf)
{
	static const char more[] = " ...";
	char *end;

	if (snprintf(text, size, "%pV", vaf) < size)
		return;
	text[size - sizeof(more)] = 0;
	end = strrchr(text, ' ');
	strscpy(end ?: text + size - sizeof(more), more, sizeof(more));
}

static void why_vsay(enum fi_reason_kind kind, int err, const char *domain_name,
		     const char *field, struct va_format *vaf)
{
	struct kofi_why *why = kofi_why_current();
	struct fi_reason *next;

	pr_debug("getinfo: %s: %pV\n", domain_name ?: "-", vaf);
	if (!why)
		return;

	next = why_begin(why, kind, domain_name, field);
	next->err = err;
	kofi_why_format(next->text, sizeof(next->text), vaf);
	kofi_why_add(why);
}

void kofi_why_say(enum fi_reason_kind kind, int err, const char *domain_name,
		  const char *field, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	why_vsay(kind, err, domain_name, field, &vaf);
	va_end(args);
}

void kofi_getinfo_reason(const char *domain_name, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	why_vsay(FI_REASON_PROVIDER, 0, domain_name, NULL, &vaf);
	va_end(args);
}
EXPORT_SYMBOL_GPL(kofi_getinfo_reason);

void kofi_why_differ(enum fi_reason_kind kind, const char *domain_name,
		     const char *field, const char *wanted, const char *offered)
{
	struct kofi_why *why = kofi_why_current();
	struct fi_reason *next;

	pr_debug("getinfo: %s: %s: %s wanted, %s offered\n",
		 domain_name ?: "-", field, wanted, offered);
	if (!why)
		return;

	next = why_begin(why, kind, domain_name, field);
	next->misfits = kind == FI_REASON_FIELD;
	strscpy(next->wanted, wanted, sizeof(next->wanted));
	strscpy(next->offered, offered, sizeof(next->offered));
	snprintf(next->text, sizeof(next->text), "%s: %s wanted, %s offered",
		 field, wanted, offered);
	kofi_why_add(why);
}
