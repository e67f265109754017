// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One set of calls for both kinds of output, out.h.
 *
 * JSON is one object, in which a comma stands before each member but the first of its level.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"

static bool is_json;
/* The current level already has a member */
static bool has_before;

void out_begin(bool json)
{
	is_json = json;
	if (json)
		putchar('{');
}

void out_end(void)
{
	if (is_json)
		puts("}");
}

static void quote(const char *text, size_t len)
{
	size_t i;

	putchar('"');
	for (i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			printf("\\%c", text[i]);
		else if ((unsigned char)text[i] < ' ')
			printf("\\u%04x", text[i]);
		else
			putchar(text[i]);
	}
	putchar('"');
}

/* The name of a member, or nothing in a list */
static void member(const char *name, size_t len)
{
	if (has_before)
		putchar(',');
	if (name) {
		quote(name, len);
		putchar(':');
	}
	has_before = true;
}

static void open_level(const char *name, size_t len, char bracket)
{
	member(name, len);
	putchar(bracket);
	has_before = false;
}

static void close_level(char bracket)
{
	putchar(bracket);
	has_before = true;
}

void out_list(const char *name)
{
	if (is_json)
		open_level(name, strlen(name), '[');
}

void out_list_end(void)
{
	if (is_json)
		close_level(']');
}

void out_item(const char *title)
{
	if (is_json)
		open_level(NULL, 0, '{');
	else if (title)
		puts(title);
}

void out_item_end(void)
{
	if (is_json)
		close_level('}');
}

void out_string(const char *name, const char *value)
{
	if (!is_json) {
		printf("    %s: %s\n", name, value);
		return;
	}
	member(name, strlen(name));
	quote(value, strlen(value));
}

/* A value that JSON, too, prints without quotes */
static void number(const char *name, const char *value)
{
	if (!is_json) {
		printf("    %s: %s\n", name, value);
		return;
	}
	member(name, strlen(name));
	fputs(value, stdout);
}

void out_number(const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	number(name, text);
}

void out_signed(const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	number(name, text);
}

void out_hex(const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%#llx", (unsigned long long)value);
	out_string(name, text);
}

void out_true(const char *name)
{
	number(name, "true");
}

/* A pointer is not a number: no JSON number of several digits begins with 0 */
static bool is_number(const char *text, size_t len)
{
	return len && strspn(text, "0123456789") >= len && (len == 1 || *text != '0');
}

/* "[ FI_MSG, FI_RMA ]" as a list of strings */
static void flags(const char *text, size_t len)
{
	const char *end = text + len - 1;
	size_t step;

	putchar('[');
	has_before = false;
	for (text++; text < end; text += step) {
		step = strspn(text, " ,");
		if (!step) {
			step = strcspn(text, ", ");
			member(NULL, 0);
			quote(text, step);
		}
	}
	close_level(']');
}

static void json_value(const char *text, size_t len)
{
	if (len > 1 && *text == '[' && text[len - 1] == ']')
		flags(text, len);
	else if (is_number(text, len))
		printf("%.*s", (int)len, text);
	else if (!strncmp(text, "(null)", len) || !strncmp(text, "(nil)", len))
		fputs("null", stdout);
	else
		quote(text, len);
}

/* A line "name: value" is a member, and "name:" begins an object of the lines indented more */
static void json_line(const char *line, size_t len, int *depth)
{
	size_t indent = strspn(line, " ") / 4;
	const char *name = line + 4 * indent;
	size_t name_len = strcspn(name, ":");
	const char *value = name + name_len + 1;

	for (; *depth > (int)indent; --*depth)
		close_level('}');
	if (value >= line + len) {
		open_level(name, name_len, '{');
		++*depth;
		return;
	}
	value += strspn(value, " ");
	member(name, name_len);
	json_value(value, line + len - value);
}

void out_lines(const char *lines)
{
	int depth = 0;
	size_t len;

	if (!is_json) {
		fputs(lines, stdout);
		return;
	}
	for (; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		json_line(lines, len, &depth);
	}
	for (; depth > 0; depth--)
		close_level('}');
}
