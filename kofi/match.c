// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Does an info satisfy the hints?  kofi_info_match() applies the rules of all fields, in
 * order (rules.c).
 *
 * pr_debug() prints the name and both values of a field that does not fit.  If the query
 * collects reasons (why.c), all rules are applied, and each field that does not fit becomes
 * a reason, with the number of misfits.  Otherwise the first misfit ends the comparison.
 *
 * Works on its arguments only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/provider.h>
#include "rules.h"
#include "tostr.h"
#include "why.h"

/* Compares by one rule; leaves the two values in @pair */
static bool rule_fits(const struct kofi_rule *rule, struct kofi_pair *pair)
{
	const void *wish = kofi_part_of(pair->hints, rule->part);
	const void *offer = kofi_part_of(pair->info, rule->part);

	pair->verbs = NULL;
	pair->is_set = false;
	if (!wish)
		return true;
	/* A part that is missing is one misfit, not one for each of its fields */
	if (!rule->fits)
		return offer || (rule->part > PART_NIC && !pair->info->nic);
	if (!offer)
		return true;

	pair->wish_at = wish + rule->offset;
	pair->offer_at = offer + rule->offset;
	pair->wish = kofi_value(pair->wish_at, rule->type);
	pair->offer = kofi_value(pair->offer_at, rule->type);
	return rule->fits(pair);
}

static const char *side_tostr(const struct kofi_rule *rule,
			      const struct fi_info *info, const void *at,
			      u64 value, char *buf, size_t len)
{
	if (!rule->fits)
		strscpy(buf, kofi_part_of(info, rule->part) ? "some" : "none",
			len);
	else if (rule->tostr)
		rule->tostr(info, buf, len);
	else if (rule->type == TYPE_STRING)
		strscpy(buf, *(const char *const *)at ?: "none", len);
	else if (rule->type == TYPE_BUS_ATTR)
		kofi_tostr(at, rule->type, buf, len);
	else
		kofi_value_tostr(value, rule->type, buf, len);
	/* No flag is set */
	if (!*buf)
		strscpy(buf, "none", len);
	return buf;
}

/* Fills the part of a reason that is about the two values */
static const char *misfit_describe(const struct kofi_rule *rule,
				   const struct kofi_pair *pair,
				   struct fi_reason *reason)
{
	static const char *const usual[] = { "wanted", "offered" };
	const char *const *verbs = pair->verbs ?: usual;

	strscpy(reason->field, rule->field, sizeof(reason->field));
	side_tostr(rule, pair->hints, pair->wish_at, pair->wish, reason->wanted,
		   sizeof(reason->wanted));
	side_tostr(rule, pair->info, pair->offer_at, pair->offer,
		   reason->offered, sizeof(reason->offered));
	/* Of a set the wish is what is missing, so what is offered says nothing of it */
	if (pair->is_set)
		snprintf(reason->text, sizeof(reason->text), "%s: %s wanted, not offered",
			 reason->field, reason->wanted);
	else
		snprintf(reason->text, sizeof(reason->text), "%s: %s %s, %s %s",
			 reason->field, reason->wanted, verbs[0], reason->offered,
			 verbs[1]);
	return reason->text;
}

/* Not inline: the reason is large, and pr_debug() uses it only where dynamic debug is on */
static noinline_for_stack void debug_misfit(const struct kofi_rule *rule,
					    const struct kofi_pair *pair)
{
	struct fi_reason reason;

	pr_debug("getinfo: %s: %s\n",
		 pair->info->domain_attr ? pair->info->domain_attr->name : NULL,
		 misfit_describe(rule, pair, &reason));
}

static void report_misfit(struct kofi_why *why, const struct kofi_rule *rule,
			  const struct kofi_pair *pair, u32 misfits)
{
	const struct fi_domain_attr *domain = pair->info->domain_attr;
	struct fi_reason *reason = &why->next;

	memset(reason, 0, sizeof(*reason));
	reason->kind = FI_REASON_FIELD;
	reason->misfits = misfits;
	if (domain && domain->name)
		strscpy(reason->domain_name, domain->name,
			sizeof(reason->domain_name));
	misfit_describe(rule, pair, reason);
	kofi_why_add(why);
}

bool kofi_info_match(const struct fi_info *info, const struct fi_info *hints)
{
	struct kofi_pair pair = { .hints = hints, .info = info };
	struct kofi_why *why = kofi_why_current();
	const struct kofi_rule *rule;
	u32 misfits = 0;

	if (!hints)
		return true;

	for (rule = kofi_rules; rule->field; rule++) {
		if (rule_fits(rule, &pair))
			continue;
		debug_misfit(rule, &pair);
		if (!why)
			return false;
		misfits++;
	}
	for (rule = kofi_rules; misfits && rule->field; rule++)
		if (!rule_fits(rule, &pair))
			report_misfit(why, rule, &pair, misfits);
	return !misfits;
}
EXPORT_SYMBOL_GPL(kofi_info_match);
