/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of constants that hints are made of.
 */
#ifndef _KOFI_INFO_NAMES_H
#define _KOFI_INFO_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct name - A constant
 * @name: its name; NULL: the end of the table
 * @value: its value
 */
struct name {
	const char	*name;
	uint64_t	value;
};

extern const struct name names_caps[];
extern const struct name names_mode[];
extern const struct name names_mr_mode[];
extern const struct name names_ep_type[];
extern const struct name names_addr_format[];

/*
 * Find the value of a text like "FI_MSG|FI_RMA" in a table.  Returns false if a name is not in
 * the table; @bad, which has @size bytes, is that name then.
 */
bool names_find(const struct name *names, const char *text, uint64_t *value, char *bad,
		int size);

#endif /* _KOFI_INFO_NAMES_H */
