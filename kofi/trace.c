// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The home of the trace events of trace.h.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"

long kofi_call(const char *call, const struct fid *fid, long ret)
{
	trace_kofi_call(call, fid, ret);
	return ret;
}
