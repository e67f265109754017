// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The home of the trace events of trace.h.
 */
#include <kofi/refuse.h>
#define CREATE_TRACE_POINTS
#include "trace.h"

/* The reason of an errno that has one meaning in all providers, which need not say it */
static void refuse_known(const char *call, const struct kofi_obj *obj, long ret)
{
	if (ret == -ENODEV)
		kofi_refuse(call, ret, "the device, the interface or the namespace of the %s has gone",
			    kofi_class_name(obj->fclass));
	if (ret == -ENOPROTOOPT)
		kofi_refuse(call, ret, "level or optname: the %s has no such option",
			    kofi_class_name(obj->fclass));
}

long kofi_call(const char *call, const struct fid *fid, long ret)
{
	trace_kofi_call(call, fid, ret);
	refuse_known(call, fid->obj, ret);
	return ret;
}

void kofi_open_call(const struct kofi_obj *obj, const struct fid *fid, int ret)
{
	trace_kofi_open(obj, fid, ret);
	refuse_known("open", obj, ret);
}
