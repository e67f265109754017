// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Parameters of modules that are numbers in a range.
 */
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/param.h>

static int kofi_param_set(const char *text, const struct kernel_param *kp)
{
	struct kofi_param *param = kp->arg;
	unsigned int value;

	if (!kstrtouint(text, 0, &value) && value >= param->min && value <= param->max) {
		WRITE_ONCE(param->value, value);
		return 0;
	}
	pr_err("%s: parameter %s: \"%*pE\" refused; allowed are %u to %u\n", kp->mod->name,
	       kp->name, (int)strcspn(text, "\n"), text, param->min, param->max);
	return -EINVAL;
}

static int kofi_param_get(char *text, const struct kernel_param *kp)
{
	const struct kofi_param *param = kp->arg;

	return sysfs_emit(text, "%u\n", READ_ONCE(param->value));
}

const struct kernel_param_ops kofi_param_ops = {
	.set	= kofi_param_set,
	.get	= kofi_param_get,
};
EXPORT_SYMBOL_GPL(kofi_param_ops);
