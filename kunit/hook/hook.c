// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider ofi_hook_count: a complete hook, on any provider.  It counts the
 * messages that are sent through it, by any of the calls that send, and forwards
 * everything.
 *
 * A counter is all it has, and an answer to the next close, so calls from any context need no lock.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <kofi/hook.h>
#include "hook.h"

static atomic_long_t sent;

unsigned long hook_sent(void)
{
	return atomic_long_read(&sent);
}
EXPORT_SYMBOL_GPL(hook_sent);

static int refusal;

void hook_refuse_close(int err)
{
	WRITE_ONCE(refusal, err);
}
EXPORT_SYMBOL_GPL(hook_refuse_close);

static int count_stop(struct kofi_hook_obj *obj)
{
	return xchg(&refusal, 0);
}

static ssize_t counted(ssize_t ret)
{
	if (!ret)
		atomic_long_inc(&sent);
	return ret;
}

static ssize_t count_send(struct fid_ep *ep, const void *buf, size_t len,
			  void *desc, fi_addr_t dest_addr, void *context)
{
	return counted(kofi_hook_xfer.send(ep, buf, len, desc, dest_addr, context));
}

static ssize_t count_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	ssize_t ret = kofi_hook_xfer.post(ep, xfer);

	return xfer->type == FI_OP_SEND ? counted(ret) : ret;
}

static struct kofi_provider count_provider;
static struct fi_ops_xfer count_xfer;

static const struct kofi_hook count_hook = {
	.provider	= &count_provider,
	.xfer		= &count_xfer,
	.stop		= count_stop,
};

static int count_getinfo(u32 version, const char *node, const int service, u64 flags,
			 struct fi_info *hints, struct fi_info **info)
{
	return kofi_hook_getinfo(&count_hook, version, node, service, flags, hints, info);
}

static int count_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&count_hook, attr, fabric, context);
}

static struct kofi_provider count_provider = {
	.name		= HOOK_NAME,
	.version	= FI_VERSION(1, 0),
	.getinfo	= count_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= count_fabric,
	.owner		= THIS_MODULE,
};

static int __init count_init(void)
{
	count_xfer = kofi_hook_xfer;
	count_xfer.send = count_send;
	count_xfer.post = count_post;
	return kofi_provider_register(KOFI_PROVIDER_VERSION, &count_provider);
}

static void __exit count_exit(void)
{
	kofi_provider_deregister(&count_provider);
}

module_init(count_init);
module_exit(count_exit);
MODULE_ALIAS_KOFI(HOOK_NAME);
MODULE_DESCRIPTION("kOFI hook that counts, for tests");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
