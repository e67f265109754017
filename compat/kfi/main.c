// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_kfi.ko: what the kfi_* names mean beyond those of kOFI.
 *
 * The clients of these names know a network interface, a net number and, of a peer, a number of 32
 * bits.  kOFI's providers know IPv4 addresses and ports.  The parameters say which provider it is
 * and where the ports begin; both ends of a net need the same.  They hold for what is opened
 * afterwards.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <kofi/param.h>
#include <kofi/refuse.h>
#include "kfi.h"

static DEFINE_MUTEX(kfi_param_lock);	/* guards kfi_provider_name */
static char kfi_provider_name[FI_NAME_MAX] = "tcp";

static int kfi_provider_set(const char *text, const struct kernel_param *kp)
{
	size_t len = strcspn(text, "\n");

	if (!len || len >= FI_NAME_MAX || strcspn(text, " \t") < len) {
		pr_err("parameter %s: \"%*pE\" refused; it is the name of a provider, of at most %d characters\n",
		       kp->name, (int)len, text, FI_NAME_MAX - 1);
		return -EINVAL;
	}
	mutex_lock(&kfi_param_lock);
	memcpy(kfi_provider_name, text, len);
	kfi_provider_name[len] = '\0';
	mutex_unlock(&kfi_param_lock);
	return 0;
}

static int kfi_provider_get(char *text, const struct kernel_param *kp)
{
	char name[FI_NAME_MAX];

	kfi_provider(name);
	return sysfs_emit(text, "%s\n", name);
}

static const struct kernel_param_ops kfi_provider_ops = {
	.set	= kfi_provider_set,
	.get	= kfi_provider_get,
};
module_param_cb(provider, &kfi_provider_ops, NULL, 0644);
__MODULE_PARM_TYPE(provider, "string");
MODULE_PARM_DESC(provider, "provider of what is opened from now on; it needs FI_TAGGED_RMA");

static struct kofi_param port_base = { .value = 20000, .min = 1, .max = U16_MAX };
module_param_cb(port_base, &kofi_param_ops, &port_base, 0644);
__MODULE_PARM_TYPE(port_base, "uint");
MODULE_PARM_DESC(port_base, "port of net 0; net n has the port n above");

void kfi_provider(char *name)
{
	mutex_lock(&kfi_param_lock);
	memcpy(name, kfi_provider_name, FI_NAME_MAX);
	mutex_unlock(&kfi_param_lock);
}

int kfi_port(const char *call, const char *service, u16 *net, int *port)
{
	unsigned int base = READ_ONCE(port_base.value);

	if (kstrtou16(service ? : "0", 0, net))
		return kofi_refuse(call, -EINVAL, "service is \"%s\"; it is a net number, 0 to %d",
				   service, U16_MAX);
	*port = base + *net;
	if (*port <= U16_MAX)
		return 0;
	pr_err_ratelimited("net %u has no port: the parameter port_base is %u, and ports end at %d\n",
			   *net, base, U16_MAX);
	return -EINVAL;
}

MODULE_DESCRIPTION("The kfi_* names on kOFI");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
