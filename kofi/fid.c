// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that any object has: control and provider specific tables of calls.
 * fi_close() is in object.c.
 *
 * As in all files of control calls, a call checks what any provider
 * would have to check, goes through the object's table and leaves a trace of
 * the result.  No lock is needed: the client must not close the object during the
 * call, and an open object keeps its provider.
 */
#include <linux/module.h>
#include "kofi.h"

static bool kofi_control_needs_arg(int command)
{
	switch (command) {
	case FI_GETFIDFLAG:
	case FI_SETFIDFLAG:
	case FI_GETOPSFLAG:
	case FI_SETOPSFLAG:
	case FI_ALIAS:
	case FI_GETWAIT:
	case FI_BACKLOG:
	case FI_GET_RAW_MR:
	case FI_MAP_RAW_MR:
	case FI_UNMAP_KEY:
	case FI_DUP:
	case FI_GETWAITOBJ:
	case FI_GET_VAL:
	case FI_SET_VAL:
		return true;
	default:
		return false;
	}
}

int fi_control(struct fid *fid, int command, void *arg)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("control", "fid", fid, KOFI_ANY_CLASS);
	if (!ret && !arg && kofi_control_needs_arg(command))
		ret = kofi_refuse("control", -EINVAL, "arg is NULL, but command %d needs it",
				  command);
	if (ret)
		return ret;
	return kofi_call(command == FI_ENABLE ? "enable" : "control", fid,
			 fid->ops->control(fid, command, arg));
}
EXPORT_SYMBOL_GPL(fi_control);

int fi_open_ops(struct fid *fid, const char *name, u64 flags, void **ops,
		void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("open_ops", "fid", fid, KOFI_ANY_CLASS) ? :
	      kofi_check_ptr("open_ops", name) ? :
	      kofi_check_ptr("open_ops", ops);
	if (ret)
		return ret;
	return kofi_call("open_ops", fid,
			 fid->ops->ops_open(fid, name, flags, ops, context));
}
EXPORT_SYMBOL_GPL(fi_open_ops);

int fi_set_ops(struct fid *fid, const char *name, u64 flags, void *ops,
	       void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("set_ops", "fid", fid, KOFI_ANY_CLASS) ? :
	      kofi_check_ptr("set_ops", name) ? :
	      kofi_check_ptr("set_ops", ops);
	if (ret)
		return ret;
	return kofi_call("set_ops", fid,
			 fid->ops->ops_set(fid, name, flags, ops, context));
}
EXPORT_SYMBOL_GPL(fi_set_ops);
