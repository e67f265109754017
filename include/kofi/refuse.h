/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Refusals with a reason.
 *
 * An errno says little: a call can be wrong in ten ways that are all -EINVAL.  Each check of a
 * control call, in the core, in kofi/util and in providers, returns its errno by kofi_refuse(),
 * which says call, field and remedy in the trace event kofi_refused and in dynamic debug.
 * scripts/checks/refusals finds a check that does not.
 *
 * The name of a call is that of its function without fi_: "mr_reg".
 */
#ifndef _KOFI_REFUSE_H
#define _KOFI_REFUSE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <rdma/fabric.h>

/**
 * kofi_refuse() - Say why a call is refused
 * @call: the call
 * @err: negative errno
 * @fmt: the reason: which field, its value, what it has to be; no dot and no newline at the end
 *
 * Context: any.
 * Return: @err.
 */
__printf(3, 4) int kofi_refuse(const char *call, int err, const char *fmt, ...);

/**
 * kofi_refuse_flags() - Refuse a call because of its flags
 * @call: the call
 * @flags: its flags
 * @known: the flags that it may have
 *
 * Context: any.
 * Return: -FI_EBADFLAGS.
 */
int kofi_refuse_flags(const char *call, u64 flags, u64 known);

/**
 * kofi_check_flags() - Refuse flags that are not known
 * @call: the call
 * @flags: its flags
 * @known: the flags that it may have
 *
 * Context: any.
 * Return: 0 or -FI_EBADFLAGS.
 */
static inline int kofi_check_flags(const char *call, u64 flags, u64 known)
{
	return unlikely(flags & ~known) ? kofi_refuse_flags(call, flags, known) : 0;
}

/**
 * kofi_check_fid() - Refuse what is no open object of the right class
 * @call: the call
 * @arg: name of the argument
 * @fid: the object, or NULL
 * @classes: bit FI_CLASS_* of each class that it may have
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int kofi_check_fid(const char *call, const char *arg, const struct fid *fid, u32 classes);

/* Refuses a pointer that is NULL; 0 or -EINVAL */
#define kofi_check_ptr(call, ptr)	\
	((ptr) ? 0 : kofi_refuse(call, -EINVAL, "%s is NULL", #ptr))

static inline int __kofi_check_list(const char *call, const char *arg, const void *ptr,
				    const char *counter, size_t count)
{
	if (ptr || !count)
		return 0;
	return kofi_refuse(call, -EINVAL, "%s is NULL, but %s is %zu", arg, counter, count);
}

/* Refuses a pointer that is NULL though there are bytes or elements; 0 or -EINVAL */
#define kofi_check_list(call, ptr, count)	\
	__kofi_check_list(call, #ptr, ptr, #count, count)

#endif /* _KOFI_REFUSE_H */
