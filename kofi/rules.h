/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules of the attributes: how each field of the hints is compared with that
 * of a result, match.c, and what the result shows of it, apply_hints.c.  One table, a
 * line for each field: a new field is a new line.
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
	PART_NIC,		/* what follows are parts of it */
	PART_DEVICE,
	PART_BUS,
	PART_LINK,
};

/* What a result shows of a field of its provider's info */
enum kofi_apply {
	KEEP,			/* what the provider has, or apply_hints.c knows better */
	TAKE,			/* what the hint asks for, if it does */
	ONLY,			/* what the hint asks for, even if that is nothing */
};

/**
 * struct kofi_pair - A field of the hints beside that of a result
 * @hints: all hints
 * @info: the whole result
 * @wish_at: where the field is in @hints
 * @offer_at: where it is in @info
 * @wish: its value in @hints, if it is a number; a comparison may leave here what
 *	it has compared, which a reason then shows
 * @offer: its value in @info
 * @verbs: words for what the two are to each other; NULL: "wanted", "offered"
 */
struct kofi_pair {
	const struct fi_info	*hints;
	const struct fi_info	*info;
	const void		*wish_at;
	const void		*offer_at;
	u64			wish;
	u64			offer;
	const char *const	*verbs;
};

/**
 * struct kofi_rule - A field
 * @field: its name, as a client writes it; NULL ends the table
 * @fits: whether the offer satisfies the wish; NULL: the field is the whole part,
 *	and has to be there
 * @tostr: puts the field into words; NULL: @type does
 * @offset: where it is in its part
 * @part: PART_*
 * @type: FI_TYPE_* or TYPE_*: how it is read and put into words
 * @apply: what a result shows of it
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
