// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scalable endpoints, which have several transmit and receive contexts, and shared
 * contexts, which several endpoints use.
 *
 *	domain -> scalable endpoint -> { transmit context, receive context }
 *	domain -> { shared transmit context, shared receive context }
 *
 * The contexts of a scalable endpoint are its children, so it outlives them.  Objects
 * that are bound to a context must be in the domain of its scalable endpoint (bind.c).  A
 * shared context outlives the endpoints because it is bound to them.
 *
 * The provider knows which contexts there are, and which are open.  It may have all of
 * them from the start, or make each when the client opens it.
 */
#include <linux/module.h>
#include "kofi.h"

/* Capabilities that promise a table of a transmit context, or of a receive context */
#define KOFI_TX_TABLES	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC)
#define KOFI_RX_TABLES	(FI_MSG | FI_TAGGED)

int fi_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		   struct fid_ep **sep, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("scalable_ep", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("scalable_ep", sep) ? :
	      kofi_check_info("scalable_ep", info, &domain->fid);
	if (ret)
		return ret;

	return kofi_open_with("scalable_ep", &domain->fid, FI_CLASS_SEP, NULL, info->caps, sep,
			      domain->ops->scalable_ep(domain, info, &new, context));
}
EXPORT_SYMBOL_GPL(fi_scalable_ep);

int fi_scalable_ep_bind(struct fid_ep *sep, struct fid *bfid, u64 flags)
{
	might_sleep();
	return kofi_check_is("scalable_ep_bind", sep, BIT(FI_CLASS_SEP)) ? :
	       kofi_bind("scalable_ep_bind", &sep->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_scalable_ep_bind);

static int kofi_check_index(const char *call, int index)
{
	return index >= 0 ? 0 : kofi_refuse(call, -EINVAL, "index is %d", index);
}

int fi_tx_context(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		  struct fid_ep **tx_ep, void *context)
{
	u64 caps;
	int ret;

	might_sleep();
	ret = kofi_check_is("tx_context", sep, BIT(FI_CLASS_SEP)) ? :
	      kofi_check_index("tx_context", index) ? :
	      kofi_check_ptr("tx_context", tx_ep);
	if (ret)
		return ret;

	caps = attr && attr->caps ? attr->caps : sep->fid.obj->caps;
	return kofi_open_with("tx_context", &sep->fid, FI_CLASS_TX_CTX, NULL, caps & KOFI_TX_TABLES,
			      tx_ep, sep->ops->tx_ctx(sep, index, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_tx_context);

int fi_rx_context(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context)
{
	u64 caps;
	int ret;

	might_sleep();
	ret = kofi_check_is("rx_context", sep, BIT(FI_CLASS_SEP)) ? :
	      kofi_check_index("rx_context", index) ? :
	      kofi_check_ptr("rx_context", rx_ep);
	if (ret)
		return ret;

	caps = attr && attr->caps ? attr->caps : sep->fid.obj->caps;
	return kofi_open_with("rx_context", &sep->fid, FI_CLASS_RX_CTX, NULL, caps & KOFI_RX_TABLES,
			      rx_ep, sep->ops->rx_ctx(sep, index, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_rx_context);

int fi_stx_context(struct fid_domain *domain, struct fi_tx_attr *attr,
		   struct fid_stx **stx, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("stx_context", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("stx_context", attr) ? :
	      kofi_check_ptr("stx_context", stx);
	if (ret)
		return ret;

	return kofi_open("stx_context", &domain->fid, FI_CLASS_STX_CTX, stx,
			 domain->ops->stx_ctx(domain, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_stx_context);

int fi_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		   struct fid_ep **rx_ep, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("srx_context", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("srx_context", attr) ? :
	      kofi_check_ptr("srx_context", rx_ep);
	if (ret)
		return ret;

	return kofi_open("srx_context", &domain->fid, FI_CLASS_SRX_CTX, rx_ep,
			 domain->ops->srx_ctx(domain, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_srx_context);
