// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What was done and what was wrong.
 */
#include "interop.h"

#ifdef __KERNEL__
#include <linux/stdarg.h>
#else
#include <stdarg.h>
#endif

static const char *const interop_names[INTEROP_CASES] = {
	[INTEROP_REQUEST]	= "request",
	[INTEROP_ACCEPT]	= "accept",
	[INTEROP_REJECT]	= "reject",
	[INTEROP_WRITE]		= "write",
	[INTEROP_READ]		= "read",
	[INTEROP_WRITEDATA]	= "writedata",
	[INTEROP_FETCH_ADD]	= "fetch-add",
	[INTEROP_CSWAP]		= "compare-swap",
	[INTEROP_SENDDATA]	= "senddata",
	[INTEROP_DELIVERY]	= "delivery",
	[INTEROP_COMMIT]	= "commit",
	[INTEROP_MESSAGE]	= "message",
	[INTEROP_TAGGED]	= "tagged",
	[INTEROP_LATE]		= "late",
	[INTEROP_TAGGED_LATE]	= "tagged-late",
	[INTEROP_CANCEL]	= "cancel",
	[INTEROP_CUT]		= "cut",
	[INTEROP_MEET]		= "meet",
	[INTEROP_AV]		= "av",
};

/* @me: I am the initiator, or who sends the data, of this case */
void interop_count(struct interop_end *end, bool me, enum interop_case which,
		   unsigned int ops, __u64 bytes)
{
	end->result[me][which].ops += ops;
	end->result[me][which].bytes += bytes;
}

void interop_bad(struct interop_end *end, bool me, enum interop_case which, const char *fmt, ...)
{
	struct interop_result *result = &end->result[me][which];
	va_list args;

	if (result->bad++)
		return;
	va_start(args, fmt);
	vsnprintf(result->why, sizeof(result->why), fmt, args);
	va_end(args);
	interop_say("%s by %s: %s", interop_names[which],
		    me ? INTEROP_ME : INTEROP_PEER, result->why);
}

/* by, case, operations, bytes, errors, the first error */
int interop_line(const struct interop_end *end, unsigned int nr, char *buf, size_t len)
{
	bool me = nr / INTEROP_CASES;
	const struct interop_result *result;

	if (nr >= 2 * INTEROP_CASES)
		return 0;
	result = &end->result[me][nr % INTEROP_CASES];
	return snprintf(buf, len, "%s %s %u %llu %u %s\n", me ? INTEROP_ME : INTEROP_PEER,
			interop_names[nr % INTEROP_CASES], result->ops,
			(unsigned long long)result->bytes, result->bad,
			result->bad ? result->why : "-");
}

bool interop_good(const struct interop_end *end)
{
	unsigned int me, which;

	for (me = 0; me < 2; me++)
		for (which = 0; which < INTEROP_CASES; which++)
			if (end->result[me][which].bad)
				return false;
	return true;
}
