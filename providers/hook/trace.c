// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider ofi_hook_trace: each data transfer call and each completion of the provider
 * below is a trace event (trace.h), with its time.  Control calls are trace events of the core
 * already.
 *
 * The hook has no state, so calls from any context need no lock.  A call that begins while the
 * event is off is not traced, as its start time is not known.
 */
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <kofi/hook.h>
#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(kofi_hook_call);
EXPORT_TRACEPOINT_SYMBOL_GPL(kofi_hook_done);

static ssize_t htrace_begin(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 *start)
{
	if (trace_kofi_hook_call_enabled())
		*start = ktime_get_ns();
	return 0;
}

static ssize_t htrace_end(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 start,
			  ssize_t ret)
{
	if (start)
		trace_kofi_hook_call(&ep->fid, xfer, ret, ktime_get_ns() - start);
	return ret;
}

static bool htrace_complete(struct kofi_hook_obj *cq, struct kofi_comp *comp)
{
	trace_kofi_hook_done(&cq->fid, comp);
	return false;
}

static struct kofi_provider htrace_provider;

static const struct kofi_hook htrace_hook = {
	.provider	= &htrace_provider,
	.begin		= htrace_begin,
	.end		= htrace_end,
	.complete	= htrace_complete,
};

static int htrace_getinfo(u32 version, const char *node, const int service, u64 flags,
			  struct fi_info *hints, struct fi_info **info)
{
	return kofi_hook_getinfo(&htrace_hook, version, node, service, flags, hints, info);
}

static int htrace_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&htrace_hook, attr, fabric, context);
}

static struct kofi_provider htrace_provider = {
	.name		= "ofi_hook_trace",
	.version	= FI_VERSION(1, 0),
	.getinfo	= htrace_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= htrace_fabric,
	.owner		= THIS_MODULE,
};

static int __init htrace_init(void)
{
	return kofi_provider_register(KOFI_PROVIDER_VERSION, &htrace_provider);
}
module_init(htrace_init);

static void __exit htrace_exit(void)
{
	kofi_provider_deregister(&htrace_provider);
}
module_exit(htrace_exit);

MODULE_DESCRIPTION("kOFI hook that traces data transfers of any provider");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI("ofi_hook_trace");
