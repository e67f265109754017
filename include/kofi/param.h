/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parameters of modules that are numbers in a range.
 *
 *	static struct kofi_param peer_timeout = { .value = 10, .min = 5, .max = 3600 };
 *	module_param_cb(peer_timeout, &kofi_param_ops, &peer_timeout, 0644);
 *	__MODULE_PARM_TYPE(peer_timeout, "uint");
 *
 * A value out of range is refused when it is written, and the log has the values that are allowed:
 * nobody finds a value that is cut silently.
 */
#ifndef _KOFI_PARAM_H
#define _KOFI_PARAM_H

#include <linux/moduleparam.h>

/**
 * struct kofi_param - A parameter
 * @value: its value, to be read with READ_ONCE()
 * @min: the least
 * @max: the most
 */
struct kofi_param {
	unsigned int	value;
	unsigned int	min;
	unsigned int	max;
};

/* For module_param_cb() of a &struct kofi_param */
extern const struct kernel_param_ops kofi_param_ops;

#endif /* _KOFI_PARAM_H */
