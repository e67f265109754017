// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_getinfo(): ask the providers, keep what fits, best first.
 *
 * The arguments are checked once, so that a provider sees only what makes
 * sense, and hints without the addresses that @node takes the place of.  The
 * providers in question are pinned (the registry's business) and asked one
 * after the other, with no lock held: each may sleep for long and may come and
 * go meanwhile.  Several callers are independent of each other; all that they
 * share is the registry and the bit that says a complaint has been logged.
 *
 * What a provider returns stays its own and goes back to its ->freeinfo() at
 * once.  Of each info that fits the client gets a copy, narrowed to the hints
 * and completed with what only the core knows: names and versions of provider
 * and API, and the network namespace.
 *
 * Order: results with a device first, by the speed of its link, the fastest
 * first; then those without.  Equals stay in the order of registration, and
 * those of one provider in the provider's own.
 *
 * Errors: a provider with nothing for these hints says -ENODATA.  Any other
 * error also means that it has no results; the client only learns of -ENOMEM,
 * and only if nobody has results, because one broken device must not hide the
 * working ones.  The rest is for dynamic debug.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <net/net_namespace.h>
#include "info.h"
#include "kofi.h"

#define KOFI_GETINFO_FLAGS	(FI_SOURCE | FI_NUMERICHOST | FI_PROV_ATTR_ONLY)

/**
 * struct kofi_query - One call of fi_getinfo()
 * @version: API version of the client
 * @node: checked
 * @service: checked
 * @flags: checked
 * @hints: what is left of the client's hints, or NULL
 * @only_fabric: open fabric that the results must belong to, or NULL
 * @only_domain: open domain of it that they must belong to, or NULL
 * @prov_name: the hint for the provider's name, or NULL
 * @prov_version: least version of the provider
 * @net: namespace of the results
 * @results: what has been found
 * @err: what to return if there are no results
 */
struct kofi_query {
	u32			version;
	const char		*node;
	int			service;
	u64			flags;
	struct fi_info		*hints;
	const struct kofi_obj	*only_fabric;
	const struct kofi_obj	*only_domain;
	const char		*prov_name;
	u32			prov_version;
	struct net		*net;
	struct fi_info		*results;
	int			err;
};

static struct net *callers_net(void)
{
	return current->nsproxy ? current->nsproxy->net_ns : &init_net;
}

static int check_node(struct kofi_query *query)
{
	struct sockaddr_storage unused;

	if (query->service < 0 || query->service > U16_MAX)
		return -EINVAL;
	if (!query->node)
		return query->flags & FI_SOURCE && !query->service ? -EINVAL : 0;

	return kofi_parse_addr(query->net, query->node, query->service,
			       AF_UNSPEC, &unused);
}

/* The open objects that the hints name; a domain stands for its fabric, too */
static int check_objects(struct kofi_query *query)
{
	const struct fi_fabric_attr *fabric = query->hints->fabric_attr;
	const struct fi_domain_attr *domain = query->hints->domain_attr;

	if (domain && domain->domain) {
		if (!kofi_is(domain->domain, FI_CLASS_DOMAIN))
			return -EINVAL;
		query->only_domain = domain->domain->fid.obj;
		query->only_fabric = query->only_domain->parent;
	}
	if (fabric && fabric->fabric) {
		if (!kofi_is(fabric->fabric, FI_CLASS_FABRIC))
			return -EINVAL;
		if (query->only_fabric &&
		    query->only_fabric != fabric->fabric->fid.obj)
			return -EINVAL;
		query->only_fabric = fabric->fabric->fid.obj;
	}
	return 0;
}

static int check_hints(struct kofi_query *query)
{
	const struct fi_fabric_attr *fabric;
	struct fi_info *hints = query->hints;
	int err;

	if (!hints)
		return 0;

	/* Addresses that the other arguments take the place of */
	if (query->flags & FI_SOURCE)
		hints->src_addr = NULL;
	else if (query->node || query->service)
		hints->dest_addr = NULL;

	err = kofi_hints_check(hints);
	if (err)
		return err;

	fabric = hints->fabric_attr;
	if (fabric) {
		query->prov_name = fabric->prov_name;
		query->prov_version = fabric->prov_version;
		query->net = fabric->net ?: query->net;
	}
	return check_objects(query);
}

static int check_query(struct kofi_query *query)
{
	int err;

	if (query->version > fi_version()) {
		pr_debug("client wants API version %u.%u, this is %u.%u\n",
			 FI_MAJOR(query->version), FI_MINOR(query->version),
			 FI_MAJOR_VERSION, FI_MINOR_VERSION);
		return -ENOSYS;
	}
	if (query->flags & ~KOFI_GETINFO_FLAGS)
		return -FI_EBADFLAGS;

	err = check_hints(query);
	return err ?: check_node(query);
}

/* Is it whole?  Everybody after this counts on it */
static bool info_is_whole(const struct fi_info *info)
{
	return info->tx_attr && info->rx_attr && info->ep_attr &&
	       info->domain_attr && info->domain_attr->name &&
	       info->fabric_attr && info->fabric_attr->name &&
	       !info->src_addr == !info->src_addrlen &&
	       !info->dest_addr == !info->dest_addrlen;
}

static void complain_once(struct kofi_prov *prov)
{
	if (!test_and_set_bit(FI_CLASS_UNSPEC, &prov->refused))
		pr_warn("provider %s: skipping an incomplete fi_info: it needs all five attribute structures, names of fabric and domain, and a length for each address\n",
			prov->provider->name);
}

static bool is_in_open(const struct kofi_obj *obj, const char *name)
{
	return !obj || (obj->name && !strcmp(obj->name, name));
}

static bool info_fits(const struct kofi_query *query, struct kofi_prov *prov,
		      const struct fi_info *info)
{
	if (!info_is_whole(info)) {
		complain_once(prov);
		return false;
	}

	return is_in_open(query->only_fabric, info->fabric_attr->name) &&
	       is_in_open(query->only_domain, info->domain_attr->name) &&
	       (!info->fabric_attr->net ||
		info->fabric_attr->net == query->net) &&
	       kofi_info_match(info, query->hints);
}

/* A stands before B although it was found later */
static bool is_faster(const struct fi_info *a, const struct fi_info *b)
{
	size_t speed_a, speed_b;

	if (!a->nic || !b->nic)
		return a->nic && !b->nic;

	speed_a = a->nic->link_attr ? a->nic->link_attr->speed : 0;
	speed_b = b->nic->link_attr ? b->nic->link_attr->speed : 0;
	return speed_a > speed_b;
}

static void add_result(struct kofi_query *query, struct fi_info *info)
{
	struct fi_info **place = &query->results;

	while (*place && !is_faster(info, *place))
		place = &(*place)->next;
	info->next = *place;
	*place = info;
}

static int complete_result(const struct kofi_query *query,
			   const struct kofi_provider *provider,
			   struct fi_fabric_attr *attr)
{
	char *name = kstrdup(provider->name, GFP_KERNEL);

	if (!name)
		return -ENOMEM;

	kfree(attr->prov_name);
	attr->prov_name = name;
	attr->prov_version = provider->version;
	attr->api_version = query->version;
	attr->net = query->net;
	return 0;
}

static int take_info(struct kofi_query *query, struct kofi_prov *prov,
		     const struct fi_info *info)
{
	struct fi_info *result;

	result = fi_dupinfo(info);
	if (!result)
		return -ENOMEM;

	if (complete_result(query, prov->provider, result->fabric_attr)) {
		fi_freeinfo(result);
		return -ENOMEM;
	}
	kofi_info_narrow(result, query->hints);
	add_result(query, result);
	return 0;
}

static int take_list(struct kofi_query *query, struct kofi_prov *prov,
		     const struct fi_info *list)
{
	const struct fi_info *info;
	int err = 0;

	for (info = list; info && !err; info = info->next)
		if (info_fits(query, prov, info))
			err = take_info(query, prov, info);
	return err;
}

/* FI_PROV_ATTR_ONLY: the provider is not even called */
static int take_name(struct kofi_query *query, struct kofi_prov *prov)
{
	struct fi_info *result = fi_allocinfo();

	if (!result)
		return -ENOMEM;

	if (complete_result(query, prov->provider, result->fabric_attr)) {
		fi_freeinfo(result);
		return -ENOMEM;
	}
	add_result(query, result);
	return 0;
}

/* Our own errors end the query, the provider's do not */
static int ask_provider(struct kofi_query *query, struct kofi_prov *prov)
{
	struct kofi_provider *provider = prov->provider;
	struct fi_info *list = NULL;
	int err;

	if (query->flags & FI_PROV_ATTR_ONLY)
		return take_name(query, prov);

	err = provider->getinfo(query->version, query->node, query->service,
				query->flags, query->hints, &list);
	if (err) {
		pr_debug("provider %s: getinfo: %d (%s)\n", provider->name, err,
			 fi_strerror(err));
		if (err == -ENOMEM)
			query->err = err;
		return 0;
	}

	err = take_list(query, prov, list);
	if (list)
		provider->freeinfo(list);
	return err;
}

static bool prov_is_wanted(const struct kofi_query *query,
			   const struct kofi_prov *prov)
{
	const struct kofi_provider *provider = prov->provider;
	const struct kofi_obj *fabric = query->only_fabric;

	return kofi_prov_name_fits(query->prov_name, provider->name) &&
	       query->prov_version <= provider->version &&
	       (!fabric || fabric->prov == prov) &&
	       (!fabric || !fabric->net || fabric->net == query->net);
}

/* The provider of an open object may no longer be what new calls see */
static struct kofi_prov *get_prov_of(const struct kofi_obj *obj)
{
	const struct kofi_provider *provider = obj->prov->provider;

	return kofi_prov_get(provider->name, provider->version);
}

static struct kofi_prov *get_prov_by_name(const char *name)
{
	struct kofi_prov *prov = kofi_prov_get(name, 0);

	if (prov)
		return prov;

	kofi_prov_load(name);
	return kofi_prov_get(name, 0);
}

static int ask_one(struct kofi_query *query, struct kofi_prov *prov)
{
	int err = 0;

	if (!prov)
		return 0;
	if (prov_is_wanted(query, prov))
		err = ask_provider(query, prov);
	kofi_prov_put(prov);
	return err;
}

static int ask_all(struct kofi_query *query)
{
	struct kofi_prov **provs;
	int count, i, err = 0;

	count = kofi_prov_get_all(&provs);
	if (count < 0)
		return count;

	for (i = 0; i < count && !err; i++)
		if (prov_is_wanted(query, provs[i]))
			err = ask_provider(query, provs[i]);
	kofi_prov_put_all(provs, count);
	return err;
}

static int ask(struct kofi_query *query)
{
	if (query->only_fabric)
		return ask_one(query, get_prov_of(query->only_fabric));
	if (query->prov_name && *query->prov_name != '^')
		return ask_one(query, get_prov_by_name(query->prov_name));
	return ask_all(query);
}

int fi_getinfo(u32 version, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	struct kofi_query query = {
		.version	= version,
		.node		= node,
		.service	= service,
		.flags		= flags,
		.net		= callers_net(),
		.err		= -ENODATA,
	};
	struct fi_info own_hints;
	int err;

	if (!info)
		return -EINVAL;
	*info = NULL;

	if (hints) {
		own_hints = *hints;
		query.hints = &own_hints;
	}

	err = check_query(&query);
	err = err ?: ask(&query);
	if (err) {
		fi_freeinfo(query.results);
		return err;
	}
	*info = query.results;
	return query.results ? 0 : query.err;
}
EXPORT_SYMBOL_GPL(fi_getinfo);
