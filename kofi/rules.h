/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules of the attributes, one table with a line for each field.  match.c takes from
 * it how a field of the hints is compared with that of a result, apply_hints.c which value
 * of the field the result shows.
 */
#ifndef _KOFI_RULES_H
#define _KOFI_RULES_H

#include <linux/types.h>
#include <rdma/fabric.h>

/* The structures that make up an fi_info */
enum kofi_part {
	PART_INFO,
	PART_TX,
	PART_RX,
	PART_EP,
	PART_DOMAIN,
	PART_FABRIC,
	PART_NIC,		/* the parts below are parts of the NIC */
	PART_DEVICE,
	PART_BUS,
	PART_LINK,
};

/* Which value of a field a result shows */
enum kofi_apply {
	KEEP,			/* the provider's, unless code in apply_hints.c changes it */
	TAKE,			/* the hint's, or the provider's if the hint is 0 */
	ONLY,			/* the hint's, even if that is 0 */
};

/**
 * struct kofi_pair - A field of the hints beside that of a result
 * @hints: all hints
 * @info: the whole result
 * @wish_at: where the field is in @hints
 * @offer_at: where it is in @info
 * @wish: its value in @hints, if it is a number; a comparison may replace it by the value
 *	that it has compared, and a reason shows that value
 * @offer: its value in @info, as @wish
 * @verbs: words that a reason has for @wish and @offer; NULL: "wanted", "offered"
 * @is_set: @wish is what a set lacks
 */
struct kofi_pair {
	const struct fi_info	*hints;
	const struct fi_info	*info;
	const void		*wish_at;
	const void		*offer_at;
	u64			wish;
	u64			offer;
	const char *const	*verbs;
	bool			is_set;
};

/**
 * struct kofi_rule - A field
 * @field: its name, as a client writes it; NULL ends the table
 * @fits: whether the offer satisfies the wish; NULL: the field is the whole part,
 *	and has to be there
 * @tostr: prints the field; NULL: @type says how
 * @offset: where it is in its part
 * @part: PART_*
 * @type: FI_TYPE_* or TYPE_*: how it is read and printed
 * @apply: which value a result shows
 */
struct kofi_rule {
	const char	*field;
	bool		(*fits)(struct kofi_pair *pair);
	void		(*tostr)(const struct fi_info *info, char *buf,
				 size_t len);
	u16		offset;
	u8		part;
	u8		type;
	u8		apply;
};

extern const struct kofi_rule kofi_rules[];

/* Where a part of an info is; NULL: there is none */
const void *kofi_part_of(const struct fi_info *info, enum kofi_part part);

#endif /* _KOFI_RULES_H */
