/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kernel: Why fi_getinfo() finds nothing, or less than expected.
 *
 *	struct fi_reason reasons[4];
 *	int i, count;
 *
 *	count = fi_getinfo_why(version, node, service, flags, hints, reasons,
 *			       ARRAY_SIZE(reasons));
 *	for (i = 0; i < count; i++)
 *		pr_info("%s %s: %s\n", reasons[i].prov_name,
 *			reasons[i].domain_name, reasons[i].text);
 *
 * libfabric has no such call; it logs.
 */
#ifndef _RDMA_FI_REASON_H
#define _RDMA_FI_REASON_H

#include <rdma/fabric.h>

enum {
	FI_REASON_FIELD_MAX	= 40,
	FI_REASON_VALUE_MAX	= 96,
	FI_REASON_TEXT_MAX	= 256,
};

/**
 * enum fi_reason_kind - What kind of reason it is
 * @FI_REASON_CALL: fi_getinfo() refuses its arguments with @err
 * @FI_REASON_ABSENT: the provider that the hints name is not there
 * @FI_REASON_FIELD: a result, or a whole provider, does not satisfy one of the hints
 * @FI_REASON_PROVIDER: a reason that the provider reports by itself
 * @FI_REASON_ERROR: the provider fails with @err
 * @FI_REASON_MALFORMED: the provider's result is incomplete: a bug of the provider
 * @FI_REASON_SKIPPED: the hints exclude the provider or the result
 */
enum fi_reason_kind {
	FI_REASON_CALL,
	FI_REASON_ABSENT,
	FI_REASON_FIELD,
	FI_REASON_PROVIDER,
	FI_REASON_ERROR,
	FI_REASON_MALFORMED,
	FI_REASON_SKIPPED,
};

/**
 * struct fi_reason - Why one thing is not among the results of fi_getinfo()
 * @kind: what kind of reason it is
 * @err: negative error code of FI_REASON_CALL and FI_REASON_ERROR
 * @misfits: FI_REASON_FIELD: how many fields of that result do not fit, this one
 *	included; 1: all others do
 * @prov_name: the provider, or an empty string
 * @domain_name: the domain of the result, or an empty string
 * @field: the hint as a client writes it, e.g. "domain_attr->mr_mode"; or the
 *	argument of fi_getinfo(), e.g. "version"; or an empty string
 * @wanted: FI_REASON_FIELD: the value of the hint; for a set of capabilities or flags
 *	only those that are missing
 * @offered: FI_REASON_FIELD: the value of the result; for a set of modes only those that
 *	the hint does not have
 * @text: one sentence that says all this but for the provider and the domain
 *
 * All strings are terminated.  A list of names that is too long is cut between two of them, and
 * a @text behind a word; "..." shows it.
 */
struct fi_reason {
	enum fi_reason_kind	kind;
	int			err;
	u32			misfits;
	char			prov_name[FI_NAME_MAX];
	char			domain_name[FI_NAME_MAX];
	char			field[FI_REASON_FIELD_MAX];
	char			wanted[FI_REASON_VALUE_MAX];
	char			offered[FI_REASON_VALUE_MAX];
	char			text[FI_REASON_TEXT_MAX];
};

/**
 * fi_getinfo_why() - Report what fi_getinfo() leaves out, and why
 * @version: as fi_getinfo()
 * @node: as fi_getinfo()
 * @service: as fi_getinfo()
 * @flags: as fi_getinfo()
 * @hints: as fi_getinfo()
 * @reasons: where the reasons go
 * @count: room in @reasons
 *
 * The call asks the providers, and loads modules, as fi_getinfo() does.  The reasons come
 * nearest first: refused arguments and an absent provider, results that fail by one
 * field, what providers report, results that fail by more.  Equal reasons come once.
 * Reasons that do not fit into @reasons are left out.
 *
 * Context: may sleep, as fi_getinfo().
 * Return: how many reasons there are, 0: nothing is left out; -EINVAL: no room for
 * reasons; -ENOMEM.
 */
int fi_getinfo_why(u32 version, const char *node, int service, u64 flags,
		   const struct fi_info *hints, struct fi_reason *reasons,
		   size_t count);

#endif /* _RDMA_FI_REASON_H */
