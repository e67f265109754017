// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Why a call is refused, include/kofi/refuse.h.
 *
 * Everything here runs after a check has failed, so nobody minds what it takes.  It may run in any
 * context, also with locks of providers held; it takes none itself.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>
#include <kofi/refuse.h>
#include "kofi.h"
#include "trace.h"
#include "why.h"

#define REASON_MAX	192
#define FLAGS_MAX	64
#define CLASSES_MAX	32

EXPORT_TRACEPOINT_SYMBOL_GPL(kofi_refused);

int kofi_refuse(const char *call, int err, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	char text[REASON_MAX];
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	kofi_why_format(text, sizeof(text), &vaf);
	va_end(args);
	trace_kofi_refused(call, err, text);
	pr_debug("fi_%s() refused, %s: %s\n", call, fi_strerror(-err), text);
	return err;
}
EXPORT_SYMBOL_GPL(kofi_refuse);

int kofi_refuse_flags(const char *call, u64 flags, u64 known)
{
	char wrong[FLAGS_MAX], right[FLAGS_MAX];

	flags &= ~known;
	fi_tostr(&flags, FI_TYPE_OP_FLAGS, wrong, sizeof(wrong));
	if (!known)
		return kofi_refuse(call, -FI_EBADFLAGS, "flags: %s given, none allowed", wrong);
	fi_tostr(&known, FI_TYPE_OP_FLAGS, right, sizeof(right));
	return kofi_refuse(call, -FI_EBADFLAGS, "flags: %s given, %s allowed", wrong, right);
}
EXPORT_SYMBOL_GPL(kofi_refuse_flags);

int kofi_check_fid(const char *call, const char *arg, const struct fid *fid, u32 classes)
{
	const char *wanted = hweight32(classes) == 1 ? kofi_class_name(__ffs(classes)) :
						       "object of a class with this call";

	if (!fid)
		return kofi_refuse(call, -EINVAL, "%s is NULL", arg);
	if (fid->fclass >= CLASSES_MAX || !(classes & BIT(fid->fclass)))
		return kofi_refuse(call, -EINVAL, "%s is of the class %s, not %s", arg,
				   kofi_class_name(fid->fclass), wanted);
	if (!fid->obj)
		return kofi_refuse(call, -EINVAL, "%s is not open, or not any more", arg);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_check_fid);
