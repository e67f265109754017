// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider ofi_hook_p2p: peer memory over a provider that cannot reach it, by a copy in
 * ordinary memory (p2p_mr.c).
 *
 * Nothing reports a peer's access to the hook.  So the hook compares the memory and the copy
 * whenever the owner of the memory can learn of new data from peers, or peers from the owner:
 *
 *	- before a call that sends to a peer, or changes its memory or its connection, is
 *	  forwarded: peers that learn of the call see what was in the memory at its time
 *	- before a completion that a peer has a part in comes to its queue, and after the client
 *	  has read a counter or an event: what peers wrote before is in the memory
 *	- when the region is closed
 *
 * The data of a receive, or a remote write, that only a counter reports are in the memory when
 * the client has read the counter.  Data that nothing reports are there after the next
 * comparison.
 */
#include <linux/module.h>
#include <kofi/opt.h>
#include <kofi/xfer.h>
#include "p2p.h"

static void p2p_sync_of(struct fid *fid)
{
	p2p_sync(to_kofi_hook_obj(fid)->root);
}

/* A peer learns nothing from a read or a receive */
static ssize_t p2p_begin(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 *state)
{
	if (!kofi_xfer_is_recv(xfer) && xfer->type != FI_OP_READ)
		p2p_sync(ep->root);
	return 0;
}

static ssize_t p2p_end(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 state,
		       ssize_t ret)
{
	return ret;
}

/* A send or a write that has succeeded reports nothing that peers have written */
static bool p2p_complete(struct kofi_hook_obj *cq, struct kofi_comp *comp)
{
	if (comp->err || !(comp->flags & (FI_SEND | FI_WRITE)))
		p2p_sync(cq->root);
	return false;
}

static u64 p2p_cntr_read(struct fid_cntr *cntr)
{
	u64 value = kofi_hook_cntr.read(cntr);

	p2p_sync_of(&cntr->fid);
	return value;
}

static u64 p2p_cntr_readerr(struct fid_cntr *cntr)
{
	u64 value = kofi_hook_cntr.readerr(cntr);

	p2p_sync_of(&cntr->fid);
	return value;
}

static int p2p_cntr_wait(struct fid_cntr *cntr, u64 threshold, int timeout)
{
	int ret = kofi_hook_cntr.wait(cntr, threshold, timeout);

	p2p_sync_of(&cntr->fid);
	return ret;
}

/* An event may be about what peers have written */
static ssize_t p2p_eq_done(struct fid_eq *eq, ssize_t ret)
{
	if (ret > 0)
		p2p_sync_of(&eq->fid);
	return ret;
}

static ssize_t p2p_eq_read(struct fid_eq *eq, u32 *event, void *buf, size_t len, u64 flags)
{
	return p2p_eq_done(eq, kofi_hook_eq.read(eq, event, buf, len, flags));
}

static ssize_t p2p_eq_sread(struct fid_eq *eq, u32 *event, void *buf, size_t len, int timeout,
			    u64 flags)
{
	return p2p_eq_done(eq, kofi_hook_eq.sread(eq, event, buf, len, timeout, flags));
}

static ssize_t p2p_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf, u64 flags)
{
	return p2p_eq_done(eq, kofi_hook_eq.readerr(eq, buf, flags));
}

static int p2p_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen)
{
	p2p_sync_of(&ep->fid);
	return kofi_hook_cm.connect(ep, addr, param, paramlen);
}

static int p2p_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	p2p_sync_of(&ep->fid);
	return kofi_hook_cm.accept(ep, param, paramlen);
}

static int p2p_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen)
{
	p2p_sync_of(&pep->fid);
	return kofi_hook_cm.reject(pep, handle, param, paramlen);
}

static int p2p_shutdown(struct fid_ep *ep, u64 flags)
{
	p2p_sync_of(&ep->fid);
	return kofi_hook_cm.shutdown(ep, flags);
}

/* The lower endpoint was opened without FI_HMEM, so it does not have the option */
static bool p2p_has_opt(const struct kofi_hook_obj *ep, int optname)
{
	return optname == FI_OPT_FI_HMEM_P2P && ep->fid.fclass == FI_CLASS_EP &&
	       ep->caps & FI_HMEM;
}

static int p2p_getopt(struct kofi_hook_obj *ep, int optname, void *optval, size_t *optlen)
{
	if (!p2p_has_opt(ep, optname))
		return -ENOPROTOOPT;
	return kofi_opt_put_p2p(false, optval, optlen);
}

static int p2p_setopt(struct kofi_hook_obj *ep, int optname, const void *optval, size_t optlen)
{
	if (!p2p_has_opt(ep, optname))
		return -ENOPROTOOPT;
	return kofi_opt_check_p2p(false, optval, optlen);
}

static struct kofi_provider p2p_provider;
static struct fi_ops_cm p2p_cm;
static struct fi_ops_eq p2p_eq;
static struct fi_ops_cntr p2p_cntr;

static const struct kofi_hook p2p_hook = {
	.provider	= &p2p_provider,
	.cm		= &p2p_cm,
	.eq		= &p2p_eq,
	.cntr		= &p2p_cntr,
	.caps		= KOFI_DMABUF_CAPS,
	.mr_size	= sizeof(struct p2p_mr),
	.getopt		= p2p_getopt,
	.setopt		= p2p_setopt,
	.reg		= p2p_reg,
	.unreg		= p2p_unreg,
	.begin		= p2p_begin,
	.end		= p2p_end,
	.complete	= p2p_complete,
};

static int p2p_getinfo(u32 version, const char *node, const int service, u64 flags,
		       struct fi_info *hints, struct fi_info **info)
{
	return kofi_hook_getinfo(&p2p_hook, version, node, service, flags, hints, info);
}

static int p2p_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&p2p_hook, attr, fabric, context);
}

static struct kofi_provider p2p_provider = {
	.name		= "ofi_hook_p2p",
	.version	= FI_VERSION(1, 0),
	.getinfo	= p2p_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= p2p_fabric,
	.owner		= THIS_MODULE,
};

static int __init p2p_init(void)
{
	int ret;

	p2p_cm = kofi_hook_cm;
	p2p_cm.connect = p2p_connect;
	p2p_cm.accept = p2p_accept;
	p2p_cm.reject = p2p_reject;
	p2p_cm.shutdown = p2p_shutdown;
	p2p_eq = kofi_hook_eq;
	p2p_eq.read = p2p_eq_read;
	p2p_eq.sread = p2p_eq_sread;
	p2p_eq.readerr = p2p_eq_readerr;
	p2p_cntr = kofi_hook_cntr;
	p2p_cntr.read = p2p_cntr_read;
	p2p_cntr.readerr = p2p_cntr_readerr;
	p2p_cntr.wait = p2p_cntr_wait;
	p2p_debugfs_init();
	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &p2p_provider);
	if (ret)
		p2p_debugfs_exit();
	return ret;
}
module_init(p2p_init);

static void __exit p2p_exit(void)
{
	kofi_provider_deregister(&p2p_provider);
	p2p_debugfs_exit();
}
module_exit(p2p_exit);

MODULE_DESCRIPTION("kOFI hook that copies peer memory for any provider");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI("ofi_hook_p2p");
