// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The usual objects of a client, opened and closed in one call.  Nothing here that a client could
 * not do by itself: each step is a call of the client's API, with its checks and trace events.
 */
#include <linux/bits.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_ep_set.h>
#include <rdma/fi_eq.h>
#include "kofi.h"

enum {
	KOFI_SET_FABRIC	= BIT(0),
	KOFI_SET_DOMAIN	= BIT(1),
	KOFI_SET_EQ	= BIT(2),
	KOFI_SET_AV	= BIT(3),
	KOFI_SET_CQ	= BIT(4),
	KOFI_SET_EP	= BIT(5),
};

/* Take note of an object that was opened */
static int kofi_set_opened(struct fi_ep_set *set, unsigned int which, int ret)
{
	if (!ret)
		set->opened |= which;
	return ret;
}

static int kofi_set_open_parents(struct fi_ep_set *set, struct fi_info *info)
{
	int ret;

	if (!set->fabric) {
		ret = kofi_set_opened(set, KOFI_SET_FABRIC,
				      fi_fabric(info->fabric_attr, &set->fabric, NULL));
		if (ret)
			return ret;
	}
	if (set->domain)
		return 0;
	return kofi_set_opened(set, KOFI_SET_DOMAIN,
			       fi_domain(set->fabric, info, &set->domain, NULL));
}

/* The event queue, or the address vector */
static int kofi_set_open_peers(struct fi_ep_set *set, struct fi_info *info)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	if (info->ep_attr->type == FI_EP_MSG) {
		if (set->eq)
			return 0;
		return kofi_set_opened(set, KOFI_SET_EQ,
				       fi_eq_open(set->fabric, NULL, &set->eq, NULL));
	}
	if (set->av)
		return 0;
	return kofi_set_opened(set, KOFI_SET_AV,
			       fi_av_open(set->domain, &av_attr, &set->av, NULL));
}

static int kofi_set_open_cq(struct fi_ep_set *set, struct fi_info *info,
			    const struct fi_cq_attr *cq_attr, void *context)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	if (set->cq)
		return 0;
	if (cq_attr)
		attr = *cq_attr;
	if (!attr.size)
		attr.size = info->tx_attr->size + info->rx_attr->size;
	return kofi_set_opened(set, KOFI_SET_CQ,
			       fi_cq_open(set->domain, &attr, &set->cq, context));
}

static int kofi_set_bind(struct fi_ep_set *set, const struct fi_info *info)
{
	int ret;

	ret = fi_ep_bind(set->ep, &set->cq->fid, FI_TRANSMIT | FI_RECV);
	if (ret)
		return ret;
	return fi_ep_bind(set->ep, info->ep_attr->type == FI_EP_MSG ? &set->eq->fid :
								      &set->av->fid, 0);
}

int fi_ep_set_open(struct fi_ep_set *set, struct fi_info *info, const struct fi_cq_attr *cq_attr,
		   void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_ptr("ep_set_open", set) ? :
	      kofi_check_ptr("ep_set_open", info) ? :
	      kofi_check_ptr("ep_set_open", info->fabric_attr) ? :
	      kofi_check_ptr("ep_set_open", info->ep_attr) ? :
	      kofi_check_ptr("ep_set_open", info->tx_attr) ? :
	      kofi_check_ptr("ep_set_open", info->rx_attr);
	if (!ret && set->ep)
		ret = kofi_refuse("ep_set_open", -EINVAL, "set->ep is not NULL: the set is open");
	if (ret)
		return ret;

	ret = kofi_set_open_parents(set, info);
	if (ret)
		goto close;
	ret = kofi_set_open_peers(set, info);
	if (ret)
		goto close;
	ret = kofi_set_open_cq(set, info, cq_attr, context);
	if (ret)
		goto close;
	ret = kofi_set_opened(set, KOFI_SET_EP,
			      fi_endpoint(set->domain, info, &set->ep, context));
	if (ret)
		goto close;
	ret = kofi_set_bind(set, info);
	if (!ret)
		return 0;
close:
	fi_ep_set_close(set);
	return ret;
}
EXPORT_SYMBOL_GPL(fi_ep_set_open);

int fi_ep_set_close(struct fi_ep_set *set)
{
	int ret;

	might_sleep();
	ret = kofi_check_ptr("ep_set_close", set);
	if (ret)
		return ret;
	if (set->ep && set->opened & KOFI_SET_EP) {
		ret = fi_close(&set->ep->fid);
		if (ret)
			return ret;
		set->ep = NULL;
		set->opened &= ~KOFI_SET_EP;
	}
	if (set->cq && set->opened & KOFI_SET_CQ) {
		ret = fi_close(&set->cq->fid);
		if (ret)
			return ret;
		set->cq = NULL;
		set->opened &= ~KOFI_SET_CQ;
	}
	if (set->av && set->opened & KOFI_SET_AV) {
		ret = fi_close(&set->av->fid);
		if (ret)
			return ret;
		set->av = NULL;
		set->opened &= ~KOFI_SET_AV;
	}
	if (set->domain && set->opened & KOFI_SET_DOMAIN) {
		ret = fi_close(&set->domain->fid);
		if (ret)
			return ret;
		set->domain = NULL;
		set->opened &= ~KOFI_SET_DOMAIN;
	}
	if (set->eq && set->opened & KOFI_SET_EQ) {
		ret = fi_close(&set->eq->fid);
		if (ret)
			return ret;
		set->eq = NULL;
		set->opened &= ~KOFI_SET_EQ;
	}
	if (set->fabric && set->opened & KOFI_SET_FABRIC) {
		ret = fi_close(&set->fabric->fid);
		if (ret)
			return ret;
		set->fabric = NULL;
		set->opened &= ~KOFI_SET_FABRIC;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(fi_ep_set_close);
