// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Discovery: kfi_getinfo(), and what is opened with its result.
 *
 * Hints go to kOFI with the address and the port that node and service mean, and without what
 * providers of kOFI do not have and clients do not need: keys of authorization, lists of remote
 * memory of more than one element, FI_REMOTE_COMM.  They ask for FI_TAGGED_RMA in any case, as
 * kfi_tsenddata() is made of it.  A result goes to the client with a struct kcxi_addr as its local
 * address, and kfi_native() puts the socket address back before a domain or an endpoint is opened.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <kofi/refuse.h>
#include <rdma/fi_reason.h>
#include "kfi.h"

#define KFI_API		FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#define KFI_CAPS	(FI_TAGGED | FI_RMA | FI_TAGGED_RMA)
#define KFI_MAX_CTXS	256	/* an index has 8 bits in the addresses of clients */
#define KFI_DEPTH	2048	/* of the queues of contexts, unless hints want more */

/* kOFI takes hints without some of the attributes; clients of these names always have all */
static bool kfi_is_whole(const struct fi_info *info)
{
	return info && info->tx_attr && info->rx_attr && info->ep_attr && info->domain_attr &&
	       info->fabric_attr;
}

/* The first IPv4 address of an interface */
static int kfi_interface_addr(struct net *net, const char *name, __be32 *addr)
{
	struct net_device *dev = dev_get_by_name(net, name);
	const struct in_ifaddr *ifa = NULL;
	const struct in_device *in_dev;

	if (!dev)
		return kofi_refuse("kfi_getinfo", -ENODEV, "node is \"%s\"; there is no such interface",
				   name);
	rcu_read_lock();
	in_dev = __in_dev_get_rcu(dev);
	if (in_dev)
		ifa = rcu_dereference(in_dev->ifa_list);
	if (ifa)
		*addr = ifa->ifa_local;
	rcu_read_unlock();
	dev_put(dev);
	return ifa ? 0 : kofi_refuse("kfi_getinfo", -EADDRNOTAVAIL, "the interface %s has no IPv4 address",
				     name);
}

static void kfi_drop_auth_keys(struct fi_info *info)
{
	kfree(info->ep_attr->auth_key);
	info->ep_attr->auth_key = NULL;
	info->ep_attr->auth_key_size = 0;
	kfree(info->domain_attr->auth_key);
	info->domain_attr->auth_key = NULL;
	info->domain_attr->auth_key_size = 0;
}

/* The hints for kOFI */
static struct fi_info *kfi_native_hints(const struct fi_info *hints)
{
	struct fi_info *own = fi_dupinfo(hints);
	char name[FI_NAME_MAX];

	if (!own)
		return NULL;
	kfi_provider(name);
	kfree(own->fabric_attr->prov_name);
	own->fabric_attr->prov_name = kstrdup(name, GFP_KERNEL);
	if (!own->fabric_attr->prov_name) {
		fi_freeinfo(own);
		return NULL;
	}
	own->fabric_attr->prov_version = 0;
	own->caps = (own->caps & ~FI_REMOTE_COMM) | KFI_CAPS;
	own->mode |= FI_ASYNC_IOV;
	own->addr_format = FI_SOCKADDR_IN;
	kfree(own->src_addr);
	own->src_addr = NULL;
	own->src_addrlen = 0;
	own->ep_attr->type = FI_EP_RDM;
	own->tx_attr->rma_iov_limit = 1;
	own->tx_attr->size = max_t(size_t, own->tx_attr->size, KFI_DEPTH);
	own->rx_attr->size = max_t(size_t, own->rx_attr->size, KFI_DEPTH);
	kfi_drop_auth_keys(own);
	return own;
}

/* Contexts are opened with an index only, so the endpoint has as many as the provider allows */
static size_t kfi_ctx_cnt(size_t wanted, size_t most)
{
	return wanted > 1 ? wanted : min_t(size_t, most, KFI_MAX_CTXS);
}

/* The result for the client */
static struct fi_info *kfi_result(const struct fi_info *found, const struct fi_info *hints,
				  __be32 addr, u16 net)
{
	const struct kcxi_addr name = { .nic = ntohl(addr), .pid = net };
	struct fi_info *info = fi_dupinfo(found);

	if (!info)
		return NULL;
	kfree(info->src_addr);
	info->src_addr = kmemdup(&name, sizeof(name), GFP_KERNEL);
	info->src_addrlen = sizeof(name);
	info->addr_format = FI_ADDR_CXI;
	if (!info->src_addr) {
		fi_freeinfo(info);
		return NULL;
	}
	info->ep_attr->tx_ctx_cnt = kfi_ctx_cnt(hints->ep_attr->tx_ctx_cnt,
						info->domain_attr->max_ep_tx_ctx);
	info->ep_attr->rx_ctx_cnt = kfi_ctx_cnt(hints->ep_attr->rx_ctx_cnt,
						info->domain_attr->max_ep_rx_ctx);
	return info;
}

/* Clients name a traffic class, but go without it where there are none */
static bool kfi_drop_tclass(struct fi_info *own)
{
	bool any = own->tx_attr->tclass || own->domain_attr->tclass;

	own->tx_attr->tclass = FI_TC_UNSPEC;
	own->domain_attr->tclass = FI_TC_UNSPEC;
	return any;
}

/* An administrator has to see why a net does not come up: the nearest reason */
static void kfi_log_reason(const char *node, int port, const struct fi_info *own)
{
	struct fi_reason *reason = kzalloc(sizeof(*reason), GFP_KERNEL);

	if (reason && fi_getinfo_why(KFI_API, node, port, FI_SOURCE, own, reason, 1) > 0)
		pr_notice_ratelimited("no endpoint at %s port %d: %s: %s\n", node, port,
				      reason->prov_name, reason->text);
	kfree(reason);
}

static int kfi_find(const struct fi_info *hints, __be32 addr, u16 net, int port,
		    struct fi_info **info)
{
	struct fi_info *own = kfi_native_hints(hints), *found;
	char node[sizeof("255.255.255.255")];
	int ret;

	if (!own)
		return -ENOMEM;
	snprintf(node, sizeof(node), "%pI4", &addr);
	ret = fi_getinfo(KFI_API, node, port, FI_SOURCE, own, &found);
	if (ret == -ENODATA && kfi_drop_tclass(own))
		ret = fi_getinfo(KFI_API, node, port, FI_SOURCE, own, &found);
	/* With a fabric or a domain it is a question whether that one will do */
	if (ret == -ENODATA && !own->fabric_attr->fabric && !own->domain_attr->domain)
		kfi_log_reason(node, port, own);
	fi_freeinfo(own);
	if (ret)
		return ret;
	*info = kfi_result(found, hints, addr, net);
	fi_freeinfo(found);
	return *info ? 0 : -ENOMEM;
}

/**
 * kofi_kfi_getinfo() - kfi_getinfo()
 * @node: as kfi_getinfo()
 * @service: as kfi_getinfo()
 * @flags: as kfi_getinfo()
 * @hints: as kfi_getinfo()
 * @info: as kfi_getinfo()
 *
 * Context: may sleep.
 * Return: as kfi_getinfo().
 */
int kofi_kfi_getinfo(const char *node, const char *service, u64 flags,
		     const struct fi_info *hints, struct fi_info **info)
{
	struct net *netns = current->nsproxy->net_ns;
	unsigned int nofs;
	__be32 addr;
	int ret, port;
	u16 net;

	might_sleep();
	if (!node || !kfi_is_whole(hints) || flags != FI_SOURCE)
		return kofi_refuse("kfi_getinfo", -EINVAL, "node, hints of kfi_allocinfo() and KFI_SOURCE are needed");
	if (hints->fabric_attr->net)
		netns = hints->fabric_attr->net;
	nofs = memalloc_nofs_save();
	ret = kfi_interface_addr(netns, node, &addr) ? :
	      kfi_port("kfi_getinfo", service, &net, &port) ? :
	      kfi_find(hints, addr, net, port, info);
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_getinfo);

/* The info for kOFI of a result that the client has; NULL: the address is of another kind */
static struct fi_info *kfi_native(const char *call, const struct fi_info *info)
{
	const struct kcxi_addr *name = kfi_is_whole(info) ? info->src_addr : NULL;
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct fi_info *own;
	char text[8];
	int ret, port;
	u16 net;

	if (!name || info->src_addrlen != sizeof(*name)) {
		kofi_refuse(call, -EINVAL, "info has no address of kfi_getinfo()");
		return ERR_PTR(-EINVAL);
	}
	snprintf(text, sizeof(text), "%u", name->pid);
	ret = kfi_port(call, text, &net, &port);
	if (ret)
		return ERR_PTR(ret);
	sin.sin_addr.s_addr = htonl(name->nic);
	sin.sin_port = htons(port);
	own = fi_dupinfo(info);
	if (!own)
		return ERR_PTR(-ENOMEM);
	kfree(own->src_addr);
	own->src_addr = kmemdup(&sin, sizeof(sin), GFP_KERNEL);
	own->src_addrlen = sizeof(sin);
	own->addr_format = FI_SOCKADDR_IN;
	kfi_drop_auth_keys(own);
	if (own->src_addr)
		return own;
	fi_freeinfo(own);
	return ERR_PTR(-ENOMEM);
}

/**
 * kofi_kfi_domain() - kfi_domain()
 * @fabric: as kfi_domain()
 * @info: as kfi_domain()
 * @domain: as kfi_domain()
 * @context: as kfi_domain()
 *
 * Context: may sleep.
 * Return: as kfi_domain().
 */
int kofi_kfi_domain(struct fid_fabric *fabric, const struct fi_info *info,
		    struct fid_domain **domain, void *context)
{
	unsigned int nofs;
	struct fi_info *own;
	int ret;

	might_sleep();
	nofs = memalloc_nofs_save();
	own = kfi_native("kfi_domain", info);
	ret = PTR_ERR_OR_ZERO(own);
	if (!ret) {
		ret = fi_domain(fabric, own, domain, context);
		fi_freeinfo(own);
	}
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_domain);

/**
 * kofi_kfi_scalable_ep() - kfi_scalable_ep()
 * @domain: as kfi_scalable_ep()
 * @info: as kfi_scalable_ep()
 * @sep: as kfi_scalable_ep()
 * @context: as kfi_scalable_ep()
 *
 * Context: may sleep.
 * Return: as kfi_scalable_ep().
 */
int kofi_kfi_scalable_ep(struct fid_domain *domain, const struct fi_info *info,
			 struct fid_ep **sep, void *context)
{
	unsigned int nofs;
	struct fi_info *own;
	int ret;

	might_sleep();
	nofs = memalloc_nofs_save();
	own = kfi_native("kfi_scalable_ep", info);
	ret = PTR_ERR_OR_ZERO(own);
	if (!ret) {
		ret = fi_scalable_ep(domain, own, sep, context);
		fi_freeinfo(own);
	}
	memalloc_nofs_restore(nofs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_kfi_scalable_ep);
