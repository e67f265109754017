// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The tables of fabrics and domains, with functions of kofi/soft.h for the most part, and
 * address vectors.
 */
#include <linux/module.h>
#include "loop.h"

static void loop_av_removed(struct kofi_av *av, u32 index)
{
	kofi_soft_forget(&loop_type, av, index);
}

static int loop_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av, void *context)
{
	return kofi_av_open(attr, to_kofi_soft_domain(domain)->addr_format, loop_av_removed, av,
			    context);
}

static int loop_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
			     enum fi_op op, struct fi_atomic_attr *attr, u64 flags)
{
	return kofi_atomic_query(LOOP_ATOMIC_BYTES, datatype, op, attr, flags);
}

const struct fi_ops_domain loop_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= loop_av_open,
	.cq_open	= kofi_soft_cq_open,
	.endpoint	= loop_endpoint,
	.scalable_ep	= loop_scalable_ep,
	.cntr_open	= kofi_cntr_open,
	.stx_ctx	= fi_no_stx_ctx,
	.srx_ctx	= loop_srx_context,
	.query_atomic	= loop_query_atomic,
	.dma_device	= fi_no_dma_device,
};

const struct fi_ops_fabric loop_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= kofi_soft_domain_open,
	.passive_ep	= loop_passive_ep,
	.eq_open	= kofi_soft_eq_open,
};

int loop_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context)
{
	return kofi_soft_fabric_open(&loop_type, attr, fabric, context);
}
