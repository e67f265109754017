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
 * @name: its name; NULL: behind the last
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
 * The value of "FI_MSG|FI_RMA", by a table.  False: @bad, which has @size bytes, is the name
 * that is in no line of it.
 */
bool names_find(const struct name *names, const char *text, uint64_t *value, char *bad,
		int size);

#endif /* _KOFI_INFO_NAMES_H */
