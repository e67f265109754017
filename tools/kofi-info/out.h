/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Output, as lines "name: value" that are indented by four blanks, or as JSON.
 */
#ifndef _KOFI_INFO_OUT_H
#define _KOFI_INFO_OUT_H

#include <stdbool.h>
#include <stdint.h>

/* JSON from now on, until the program ends */
void out_begin(bool json);
void out_end(void);

/* A list of items or of values; outside of JSON only its items are printed */
void out_list(const char *name);
void out_list_end(void);

/* An item; @title is its first line outside of JSON, or NULL: there is no such line */
void out_item(const char *title);
void out_item_end(void);

void out_string(const char *name, const char *value);
void out_number(const char *name, uint64_t value);
void out_signed(const char *name, int64_t value);
void out_hex(const char *name, uint64_t value);
void out_true(const char *name);

/* The lines of fi_tostr(), as they are, or as JSON */
void out_lines(const char *lines);

#endif /* _KOFI_INFO_OUT_H */
