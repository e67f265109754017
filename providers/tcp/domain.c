// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabrics and domains, most of which kofi/soft.h does, address vectors, and the kinds of endpoints:
 * ep.c has those with connections, rdm.c those without.
 */
#include <linux/module.h>
#include <kofi/av.h>
#include <kofi/refuse.h>
#include "tcp.h"

static void ktcp_av_removed(struct kofi_av *av, u32 index)
{
	kofi_soft_forget(&ktcp_type, av, index);
}

static int ktcp_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av, void *context)
{
	return kofi_av_open(attr, to_kofi_soft_domain(domain)->addr_format, ktcp_av_removed, av,
			    context);
}

static int ktcp_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
			 void *context)
{
	switch (info->ep_attr->type) {
	case FI_EP_MSG:
		return ktcp_msg_endpoint(domain, info, ep, context);
	case FI_EP_RDM:
		return ktcp_rdm_endpoint(domain, info, ep, context);
	default:
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->type is %d; there are FI_EP_MSG and FI_EP_RDM",
				   info->ep_attr->type);
	}
}

static const struct fi_ops_domain ktcp_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= ktcp_av_open,
	.cq_open	= kofi_soft_cq_open,
	.endpoint	= ktcp_endpoint,
	.scalable_ep	= ktcp_rdm_scalable,
	.cntr_open	= kofi_cntr_open,
	.stx_ctx	= fi_no_stx_ctx,
	.srx_ctx	= ktcp_srx_context,
	.query_atomic	= fi_no_query_atomic,
	.dma_device	= fi_no_dma_device,
};

static const struct fi_ops_fabric ktcp_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= kofi_soft_domain_open,
	.passive_ep	= ktcp_passive_ep,
	.eq_open	= kofi_soft_eq_open,
};

struct kofi_soft_type ktcp_type = {
	.lock		= &ktcp_cm_lock,
	.fabric		= &ktcp_fabric_ops,
	.domain		= &ktcp_domain_ops,
	.mr_mode	= KTCP_MR_MODE,
	.fabrics	= LIST_HEAD_INIT(ktcp_type.fabrics),
};

int ktcp_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context)
{
	return kofi_soft_fabric_open(&ktcp_type, attr, fabric, context);
}
