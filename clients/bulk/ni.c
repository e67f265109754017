// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The objects of an interface and a net, opened and closed as kfilnd does.
 *
 * Several nets may be on one fabric and one domain.  To find out, kfilnd asks kfi_getinfo() with
 * the open fabric, and then the open domain, in its hints; so does bulk_domain_get().  Before that
 * it opens and closes a fabric of its own, to look for a table of calls that kOFI does not have.
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "bulk.h"

#define BULK_CAPS	(KFI_MSG | KFI_RMA | KFI_SEND | KFI_RECV | KFI_READ | KFI_WRITE |	\
			 KFI_REMOTE_READ | KFI_REMOTE_WRITE | KFI_MULTI_RECV |		\
			 KFI_REMOTE_COMM | KFI_NAMED_RX_CTX | KFI_TAGGED |		\
			 KFI_TAGGED_RMA | KFI_DIRECTED_RECV)
#define BULK_NUMBER	12	/* text of a number, hexadecimal or decimal */

/**
 * struct bulk_fabric - An open fabric
 * @entry: in bulk_fabrics
 * @fabric: the fabric
 * @domains: &struct bulk_domain
 */
struct bulk_fabric {
	struct list_head	entry;
	struct kfid_fabric	*fabric;
	struct list_head	domains;
};

/**
 * struct bulk_domain - An open domain
 * @entry: in bulk_fabric.domains
 * @fabric: its fabric
 * @domain: the domain
 * @users: nets that use it
 */
struct bulk_domain {
	struct list_head	entry;
	struct bulk_fabric	*fabric;
	struct kfid_domain	*domain;
	unsigned int		users;
};

static DEFINE_MUTEX(bulk_lock);	/* guards bulk_fabrics and all that it leads to */
static LIST_HEAD(bulk_fabrics);

static int bulk_getinfo(const char *node, const char *service, struct kfi_info *hints,
			struct kfi_info **info)
{
	return kfi_getinfo(0, node, service, KFI_SOURCE, hints, info);
}

static struct kfi_info *bulk_hints(u32 *auth_key)
{
	struct kfi_info *hints = kfi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = BULK_CAPS;
	hints->fabric_attr->prov_version = KFI_VERSION(1, 0);
	hints->domain_attr->mr_iov_limit = BULK_PAGES;
	hints->domain_attr->mr_key_size = sizeof(int);
	hints->domain_attr->resource_mgmt = KFI_RM_DISABLED;
	hints->ep_attr->max_msg_size = BULK_PAGES << PAGE_SHIFT;
	hints->rx_attr->op_flags = KFI_COMPLETION | KFI_MULTI_RECV;
	hints->rx_attr->iov_limit = BULK_PAGES;
	hints->tx_attr->op_flags = KFI_COMPLETION;
	hints->tx_attr->iov_limit = BULK_PAGES;
	hints->tx_attr->rma_iov_limit = BULK_PAGES;
	hints->ep_attr->auth_key = (u8 *)auth_key;
	hints->ep_attr->auth_key_size = sizeof(*auth_key);
	return hints;
}

/* The key is the caller's, not the hints' */
static void bulk_hints_free(struct kfi_info *hints)
{
	hints->ep_attr->auth_key = NULL;
	hints->ep_attr->auth_key_size = 0;
	kfi_freeinfo(hints);
}

/* kfilnd looks for a table of calls of the fabric, and goes on without it */
static int bulk_probe(const char *node, const char *service, const struct kfi_info *hints)
{
	struct kfi_info *copy = kfi_dupinfo(hints), *info;
	struct kfid_fabric *fabric;
	void *ops;
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = bulk_getinfo(node, service, copy, &info);
	kfi_freeinfo(copy);
	if (ret)
		return ret;
	ret = kfi_fabric(info->fabric_attr, &fabric, NULL);
	kfi_freeinfo(info);
	if (ret)
		return ret;
	kfi_open_ops(&fabric->fid, KFI_CXI_FAB_OPS_1, 0, &ops, NULL);
	return kfi_close(&fabric->fid);
}

/* Would kfi_getinfo() have this fabric, or domain? */
static bool bulk_fits(const char *node, const char *service, struct kfi_info *hints)
{
	struct kfi_info *info;

	if (bulk_getinfo(node, service, hints, &info))
		return false;
	kfi_freeinfo(info);
	return true;
}

static struct bulk_fabric *bulk_fabric_reuse(const char *node, const char *service,
					     struct kfi_info *hints)
{
	struct bulk_fabric *fabric;

	lockdep_assert_held(&bulk_lock);
	list_for_each_entry(fabric, &bulk_fabrics, entry) {
		hints->fabric_attr->fabric = fabric->fabric;
		if (bulk_fits(node, service, hints))
			return fabric;
	}
	hints->fabric_attr->fabric = NULL;
	return NULL;
}

static struct bulk_domain *bulk_domain_reuse(const char *node, const char *service,
					     struct kfi_info *hints, struct bulk_fabric *fabric)
{
	struct bulk_domain *domain;

	lockdep_assert_held(&bulk_lock);
	list_for_each_entry(domain, &fabric->domains, entry) {
		hints->domain_attr->domain = domain->domain;
		if (bulk_fits(node, service, hints))
			return domain;
	}
	hints->domain_attr->domain = NULL;
	return NULL;
}

static int bulk_fabric_open(struct kfi_fabric_attr *attr, struct bulk_fabric **fabric)
{
	struct bulk_fabric *new = kzalloc(sizeof(*new), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&bulk_lock);
	if (!new)
		return -ENOMEM;
	ret = kfi_fabric(attr, &new->fabric, new);
	if (ret) {
		kfree(new);
		return ret;
	}
	INIT_LIST_HEAD(&new->domains);
	list_add_tail(&new->entry, &bulk_fabrics);
	*fabric = new;
	return 0;
}

/* Returns 0, or what kfi_close() returns */
static int bulk_fabric_put(struct bulk_fabric *fabric)
{
	int ret = 0;

	lockdep_assert_held(&bulk_lock);
	if (!list_empty(&fabric->domains))
		return 0;
	list_del(&fabric->entry);
	ret = kfi_close(&fabric->fabric->fid);
	kfree(fabric);
	return ret;
}

static int bulk_domain_open(struct bulk_fabric *fabric, const struct kfi_info *info,
			    struct bulk_domain **domain)
{
	struct bulk_domain *new = kzalloc(sizeof(*new), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&bulk_lock);
	if (!new)
		return -ENOMEM;
	ret = kfi_domain(fabric->fabric, info, &new->domain, new);
	if (ret) {
		kfree(new);
		return ret;
	}
	new->fabric = fabric;
	list_add_tail(&new->entry, &fabric->domains);
	*domain = new;
	return 0;
}

/* Returns 0, or what kfi_close() returns */
static int bulk_domain_put(struct bulk_domain *domain)
{
	struct bulk_fabric *fabric = domain->fabric;
	int ret, last;

	mutex_lock(&bulk_lock);
	if (--domain->users) {
		mutex_unlock(&bulk_lock);
		return 0;
	}
	list_del(&domain->entry);
	ret = kfi_close(&domain->domain->fid);
	kfree(domain);
	last = bulk_fabric_put(fabric);
	mutex_unlock(&bulk_lock);
	return ret ? : last;
}

/* Opens what is not open yet, for the result that @hints find */
static int bulk_domain_find(const char *node, const char *service, struct kfi_info *hints,
			    struct bulk_domain **found, struct kfi_info **info)
{
	struct bulk_domain *domain = NULL;
	struct bulk_fabric *fabric;
	int ret;

	lockdep_assert_held(&bulk_lock);
	fabric = bulk_fabric_reuse(node, service, hints);
	if (fabric)
		domain = bulk_domain_reuse(node, service, hints, fabric);
	ret = bulk_getinfo(node, service, hints, info);
	if (ret)
		return ret;
	if (!fabric)
		ret = bulk_fabric_open((*info)->fabric_attr, &fabric);
	if (!ret && !domain) {
		ret = bulk_domain_open(fabric, *info, &domain);
		if (ret)
			bulk_fabric_put(fabric);
	}
	if (ret) {
		kfi_freeinfo(*info);
		return ret;
	}
	domain->users++;
	*found = domain;
	return 0;
}

/* Returns a reference to a domain, and an info for its endpoints */
static int bulk_domain_get(const char *node, const char *service, struct bulk_domain **found,
			   struct kfi_info **info)
{
	u32 auth_key = 255;
	struct kfi_info *hints = bulk_hints(&auth_key);
	int ret;

	if (!hints)
		return -ENOMEM;
	ret = bulk_probe(node, service, hints);
	if (!ret) {
		mutex_lock(&bulk_lock);
		ret = bulk_domain_find(node, service, hints, found, info);
		mutex_unlock(&bulk_lock);
	}
	bulk_hints_free(hints);
	return ret;
}

/* Returns the first error of @ret and @next */
static int bulk_first(int ret, int next)
{
	return ret ? : next;
}

static int bulk_cq_open(struct bulk_ep *ep, struct bulk_cq *cq, bool tx)
{
	struct kfi_cq_attr attr = {
		.flags			= KFI_AFFINITY,
		.format			= KFI_CQ_FORMAT_DATA,
		.wait_cond		= KFI_CQ_COND_NONE,
		.wait_obj		= KFI_WAIT_NONE,
		.signaling_vector	= cpumask_first(cpu_online_mask),
		.size			= BULK_CREDITS * 10,
	};

	cq->ep = ep;
	cq->tx = tx;
	return kfi_cq_open(ep->ni->domain->domain, &attr, &cq->cq, ep->ni->handler, cq);
}

static int bulk_cq_close(struct bulk_cq *cq)
{
	struct bulk_ni *ni = cq->ep->ni;

	if (ni->flush)
		ni->flush(ni);
	return kfi_close(&cq->cq->fid);
}

/* In the order of kfilnd; returns the first error of a close */
static int bulk_ep_close(struct bulk_ep *ep)
{
	int ret = 0;

	if (ep->tx)
		ret = bulk_first(ret, kfi_close(&ep->tx->fid));
	if (ep->rx)
		ret = bulk_first(ret, kfi_close(&ep->rx->fid));
	if (ep->tx_cq.cq)
		ret = bulk_first(ret, bulk_cq_close(&ep->tx_cq));
	if (ep->rx_cq.cq)
		ret = bulk_first(ret, bulk_cq_close(&ep->rx_cq));
	return ret;
}

static int bulk_contexts_open(struct bulk_ep *ep)
{
	const struct kfi_rx_attr rx_attr = {
		.op_flags	= KFI_COMPLETION | KFI_MULTI_RECV,
		.msg_order	= KFI_ORDER_NONE,
		.comp_order	= KFI_ORDER_NONE,
		.size		= BULK_CREDITS + BULK_BUFS,
		.iov_limit	= BULK_PAGES,
	};
	const struct kfi_tx_attr tx_attr = {
		.op_flags	= KFI_COMPLETION | KFI_TRANSMIT_COMPLETE,
		.msg_order	= KFI_ORDER_NONE,
		.comp_order	= KFI_ORDER_NONE,
		.size		= BULK_CREDITS * 2,
		.iov_limit	= BULK_PAGES,
		.rma_iov_limit	= BULK_PAGES,
	};
	size_t min_multi_recv = BULK_MSG;
	int ret;

	ret = kfi_rx_context(ep->ni->sep, ep->index, &rx_attr, &ep->rx, ep);
	if (ret)
		return ret;
	ret = kfi_setopt(&ep->rx->fid, KFI_OPT_ENDPOINT, KFI_OPT_MIN_MULTI_RECV, &min_multi_recv,
			 sizeof(min_multi_recv));
	if (ret)
		return ret;
	return kfi_tx_context(ep->ni->sep, ep->index, &tx_attr, &ep->tx, ep);
}

static int bulk_ep_open(struct bulk_ni *ni, struct bulk_ep *ep, int index)
{
	int ret;

	*ep = (struct bulk_ep) { .ni = ni, .index = index };
	ret = bulk_cq_open(ep, &ep->rx_cq, false) ? :
	      bulk_cq_open(ep, &ep->tx_cq, true) ? :
	      bulk_contexts_open(ep) ? :
	      kfi_ep_bind(ep->rx, &ep->rx_cq.cq->fid, 0) ? :
	      kfi_ep_bind(ep->tx, &ep->tx_cq.cq->fid, 0) ? :
	      kfi_enable(ep->rx) ? :
	      kfi_enable(ep->tx);
	if (ret)
		bulk_ep_close(ep);
	return ret;
}

static int bulk_sep_open(struct bulk_ni *ni, const struct kfi_info *info)
{
	struct kfi_av_attr av_attr = { .type = KFI_AV_UNSPEC, .rx_ctx_bits = BULK_RX_BITS };
	int ret;

	ret = kfi_av_open(ni->domain->domain, &av_attr, &ni->av, ni);
	if (ret)
		return ret;
	ret = kfi_scalable_ep(ni->domain->domain, info, &ni->sep, ni);
	if (ret)
		return ret;
	return kfi_scalable_ep_bind(ni->sep, &ni->av->fid, 0) ? : kfi_enable(ni->sep);
}

/**
 * bulk_ni_open() - Open an interface for a net
 * @ni: what is opened
 * @node: name of the interface
 * @net: net number
 * @contexts: how many of each direction
 * @handler: of all completion queues; its context is a &struct bulk_cq
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; then nothing is open.
 */
int bulk_ni_open(struct bulk_ni *ni, const char *node, u16 net, int contexts,
		 kfi_comp_handler handler)
{
	char service[BULK_NUMBER];
	struct kfi_info *info;
	int ret;

	if (contexts < 1 || contexts > BULK_MAX_CTXS)
		return -EINVAL;
	*ni = (struct bulk_ni) { .net = net, .handler = handler };
	snprintf(service, sizeof(service), "%u", net);
	ret = bulk_domain_get(node, service, &ni->domain, &info);
	if (ret)
		return ret;
	if (info->src_addr && info->src_addrlen == sizeof(struct kcxi_addr))
		ni->addr = ((struct kcxi_addr *)info->src_addr)->nic;
	else
		ret = -EADDRNOTAVAIL;
	if (!ret)
		ret = bulk_sep_open(ni, info);
	kfi_freeinfo(info);
	while (!ret && ni->count < contexts) {
		ret = bulk_ep_open(ni, &ni->ep[ni->count], ni->count);
		if (!ret)
			ni->count++;
	}
	if (ret)
		bulk_ni_close(ni);
	return ret;
}
EXPORT_SYMBOL_GPL(bulk_ni_open);

/**
 * bulk_ni_close() - Close it, in the order of kfilnd
 * @ni: what bulk_ni_open() has opened
 *
 * Context: may sleep.
 * Return: 0, or the first error of a close.
 */
int bulk_ni_close(struct bulk_ni *ni)
{
	int i, ret = 0;

	for (i = 0; i < ni->count; i++)
		ret = bulk_first(ret, bulk_ep_close(&ni->ep[i]));
	if (ni->sep)
		ret = bulk_first(ret, kfi_close(&ni->sep->fid));
	if (ni->av)
		ret = bulk_first(ret, kfi_close(&ni->av->fid));
	ret = bulk_first(ret, bulk_domain_put(ni->domain));
	*ni = (struct bulk_ni) {};
	return ret;
}
EXPORT_SYMBOL_GPL(bulk_ni_close);

/**
 * bulk_know() - Insert a peer
 * @ni: where
 * @addr: the peer's &struct bulk_ni.addr
 * @net: its net
 * @peer: what it is called from now on
 *
 * Context: may sleep.
 * Return: 0; -ECONNABORTED: it was not inserted at once.
 */
int bulk_know(struct bulk_ni *ni, u32 addr, u16 net, kfi_addr_t *peer)
{
	char node[BULK_NUMBER], service[BULK_NUMBER];

	snprintf(node, sizeof(node), "%#x", addr);
	snprintf(service, sizeof(service), "%u", net);
	return kfi_av_insertsvc(ni->av, node, service, peer, 0, NULL) == 1 ? 0 : -ECONNABORTED;
}
EXPORT_SYMBOL_GPL(bulk_know);
