// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts, peers, and the operations that are more than a name.
 */
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <kofi/refuse.h>
#include "kfi.h"

/**
 * kofi_kfi_tx_context() - kfi_tx_context()
 * @sep: as kfi_tx_context()
 * @index: as kfi_tx_context()
 * @attr: as kfi_tx_context()
 * @tx: as kfi_tx_context()
 * @context: as kfi_tx_context()
 *
 * Context: may sleep.
 * Return: as kfi_tx_context().
 */
int kofi_kfi_tx_context(struct fid_ep *sep, int index, const struct fi_tx_attr *attr,
			struct fid_ep **tx, void *context)
{
	struct fi_tx_attr own;
	unsigned int nofs;
	int ret;

	might_sleep();
	if (attr)
		own = *attr;
	nofs = memalloc_nofs_save();
	ret = fi_tx_context(sep, index, attr ? &own : NULL, tx, context);
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_tx_context);

/**
 * kofi_kfi_rx_context() - kfi_rx_context()
 * @sep: as kfi_rx_context()
 * @index: as kfi_rx_context()
 * @attr: as kfi_rx_context()
 * @rx: as kfi_rx_context()
 * @context: as kfi_rx_context()
 *
 * Context: may sleep.
 * Return: as kfi_rx_context().
 */
int kofi_kfi_rx_context(struct fid_ep *sep, int index, const struct fi_rx_attr *attr,
			struct fid_ep **rx, void *context)
{
	struct fi_rx_attr own;
	unsigned int nofs;
	int ret;

	might_sleep();
	if (attr)
		own = *attr;
	nofs = memalloc_nofs_save();
	ret = fi_rx_context(sep, index, attr ? &own : NULL, rx, context);
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_rx_context);

/**
 * kofi_kfi_ep_bind() - kfi_ep_bind()
 * @ep: as kfi_ep_bind()
 * @fid: as kfi_ep_bind()
 * @flags: as kfi_ep_bind()
 *
 * Context: may sleep.
 * Return: as kfi_ep_bind().
 */
int kofi_kfi_ep_bind(struct fid_ep *ep, struct fid *fid, u64 flags)
{
	might_sleep();
	if (!flags && fid->fclass == FI_CLASS_CQ)
		flags = ep->fid.fclass == FI_CLASS_RX_CTX ? FI_RECV : FI_TRANSMIT;
	return fi_ep_bind(ep, fid, flags);
}
EXPORT_SYMBOL_GPL(kofi_kfi_ep_bind);

/**
 * kofi_kfi_av_insertsvc() - kfi_av_insertsvc()
 * @av: as kfi_av_insertsvc()
 * @node: as kfi_av_insertsvc()
 * @service: as kfi_av_insertsvc()
 * @addr: as kfi_av_insertsvc()
 * @flags: as kfi_av_insertsvc()
 *
 * Context: may sleep.
 * Return: as kfi_av_insertsvc().
 */
int kofi_kfi_av_insertsvc(struct fid_av *av, const char *node, const char *service,
			  fi_addr_t *addr, u64 flags)
{
	char text[sizeof("255.255.255.255")];
	unsigned int nofs;
	__be32 ip;
	int ret, port;
	u32 nic;
	u16 net;

	might_sleep();
	if (!node || kstrtou32(node, 0, &nic))
		return kofi_refuse("kfi_av_insertsvc", -EINVAL, "node is \"%s\"; it is a number of 32 bits",
				   node ? : "");
	ret = kfi_port("kfi_av_insertsvc", service, &net, &port);
	if (ret)
		return ret;
	ip = htonl(nic);
	snprintf(text, sizeof(text), "%pI4", &ip);
	nofs = memalloc_nofs_save();
	ret = fi_av_insertsvc(av, text, port, addr, flags, NULL);
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_av_insertsvc);

/**
 * kofi_kfi_av_remove() - kfi_av_remove()
 * @av: as kfi_av_remove()
 * @addrs: as kfi_av_remove()
 * @count: as kfi_av_remove()
 * @flags: as kfi_av_remove()
 *
 * Context: may sleep.
 * Return: as kfi_av_remove().
 */
int kofi_kfi_av_remove(struct fid_av *av, fi_addr_t *addrs, size_t count, u64 flags)
{
	unsigned int nofs;
	int ret;

	might_sleep();
	nofs = memalloc_nofs_save();
	ret = fi_av_remove(av, addrs, count, flags);
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_av_remove);

/**
 * kofi_kfi_cancel() - kfi_cancel()
 * @fid: as kfi_cancel()
 * @context: as kfi_cancel()
 *
 * Context: any.
 * Return: as kfi_cancel().
 */
ssize_t kofi_kfi_cancel(struct fid *fid, void *context)
{
	return fi_cancel(fid, context) ? -ENOENT : 0;
}
EXPORT_SYMBOL_GPL(kofi_kfi_cancel);

/**
 * kofi_kfi_tsenddata() - kfi_tsenddata()
 * @tx: as kfi_tsenddata()
 * @buf: as kfi_tsenddata()
 * @len: as kfi_tsenddata()
 * @data: as kfi_tsenddata()
 * @addr: as kfi_tsenddata()
 * @tag: as kfi_tsenddata()
 * @context: as kfi_tsenddata()
 *
 * Context: any.
 * Return: as kfi_tsenddata().
 */
ssize_t kofi_kfi_tsenddata(struct fid_ep *tx, const void *buf, size_t len, u64 data,
			   fi_addr_t addr, u64 tag, void *context)
{
	const struct kvec iov = { .iov_base = (void *)buf, .iov_len = len };
	const struct fi_rma_iov rma = { .len = len, .key = tag };
	const struct fi_msg_rma msg = {
		.type		= FI_BUF_KVEC,
		.msg_iov	= &iov,
		.iov_count	= len ? 1 : 0,
		.addr		= addr,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= (void *)((unsigned long)context | KFI_TSENDDATA),
		.data		= data,
	};

	if ((unsigned long)context & KFI_TSENDDATA)
		return -EINVAL;
	return fi_writemsg(tx, &msg, FI_TAGGED | FI_REMOTE_CQ_DATA | FI_COMPLETION);
}
EXPORT_SYMBOL_GPL(kofi_kfi_tsenddata);
