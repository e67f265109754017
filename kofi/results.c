// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The results of fi_getinfo(): copies of those infos of providers that fit.
 *
 * The infos that a provider returns stay its own.  The client gets a copy with the name of
 * the provider, and of the providers it stands on.  If the copy fits, the hints are applied
 * to it, and the core adds what only the core knows: the versions and the network
 * namespace.
 *
 * Order: results with a device first, by the speed of its link, the fastest
 * first; then those without.  Equals stay in the order in which they were found.
 *
 * Works on one query, which belongs to its caller.  Queries share only the bit in
 * kofi_prov.refused that an incomplete fi_info has been logged.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "info.h"
#include "kofi.h"
#include "query.h"
#include "why.h"

/* Does the info have every part that the core needs? */
static bool info_is_whole(const struct fi_info *info)
{
	return info->tx_attr && info->rx_attr && info->ep_attr &&
	       info->domain_attr && info->domain_attr->name &&
	       info->fabric_attr && info->fabric_attr->name &&
	       !info->src_addr == !info->src_addrlen &&
	       !info->dest_addr == !info->dest_addrlen;
}

static void complain(struct kofi_prov *prov, const struct fi_info *info)
{
	const struct fi_domain_attr *domain = info->domain_attr;

	kofi_why_say(FI_REASON_MALFORMED, 0, domain ? domain->name : NULL, NULL,
		     "the fi_info of the provider is incomplete");
	if (!test_and_set_bit(FI_CLASS_UNSPEC, &prov->refused))
		pr_warn("provider %s: skipping an incomplete fi_info: it needs all five attribute structures, names of fabric and domain, and a length for each address\n",
			prov->provider->name);
}

static bool is_in_net(const struct net *net, const struct fi_info *info)
{
	if (!info->fabric_attr->net || info->fabric_attr->net == net)
		return true;

	kofi_why_differ(FI_REASON_SKIPPED, info->domain_attr->name,
			"fabric_attr->net", "that", "another");
	return false;
}

/* Does @a come before @b although it was found later? */
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

/* Sets the name: "lower;upper" if the result names a lower provider, else the provider's own */
static int name_result(const struct kofi_provider *provider,
		       struct fi_fabric_attr *attr)
{
	char *name;

	if (!attr->prov_name || !strcmp(attr->prov_name, provider->name))
		name = kstrdup(provider->name, GFP_KERNEL);
	else
		name = kasprintf(GFP_KERNEL, "%s;%s", attr->prov_name,
				 provider->name);
	if (!name)
		return -ENOMEM;

	kfree(attr->prov_name);
	attr->prov_name = name;
	attr->prov_version = provider->version;
	return 0;
}

/* Sets a name to kofi_provider.any_name if the client asks for that, by a hint or by an object */
static int set_any_name(const char *any, const char *hint, const struct kofi_obj *open,
			char **name)
{
	char *copy;

	if (!any || !((hint && !strcmp(hint, any)) ||
		      (open && open->name && !strcmp(open->name, any))))
		return 0;
	copy = kstrdup(any, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	kfree(*name);
	*name = copy;
	return 0;
}

static int set_any_names(const struct kofi_query *query, const struct kofi_provider *provider,
			 struct fi_info *info)
{
	const struct fi_info *hints = query->hints;
	const char *fabric = NULL, *domain = NULL;

	if (hints && hints->fabric_attr)
		fabric = hints->fabric_attr->name;
	if (hints && hints->domain_attr)
		domain = hints->domain_attr->name;
	return set_any_name(provider->any_name, fabric, query->only_fabric,
			    &info->fabric_attr->name) ? :
	       set_any_name(provider->any_name, domain, query->only_domain,
			    &info->domain_attr->name);
}

/* Does the result belong to the open object that the hints name? */
static bool is_in_open(const struct fi_info *info, const char *field,
		       const char *open, const char *name)
{
	if (open && !strcmp(open, name))
		return true;

	kofi_why_differ(FI_REASON_SKIPPED, info->domain_attr->name, field,
			open ?: "none", name);
	return false;
}

static bool result_fits(const struct kofi_query *query,
			const struct fi_info *info)
{
	const struct kofi_obj *fabric = query->only_fabric;
	const struct kofi_obj *domain = query->only_domain;

	if (fabric &&
	    (!is_in_open(info, "fabric_attr->fabric", fabric->root->prov_name,
			 info->fabric_attr->prov_name) ||
	     !is_in_open(info, "fabric_attr->fabric", fabric->name,
			 info->fabric_attr->name)))
		return false;
	if (domain && !is_in_open(info, "domain_attr->domain", domain->name,
				  info->domain_attr->name))
		return false;
	return kofi_info_match(info, query->hints);
}

static void complete_result(struct kofi_query *query, struct fi_info *result)
{
	result->fabric_attr->api_version = query->version;
	result->fabric_attr->net = query->net;
	kofi_info_apply_hints(result, query->hints);
	add_result(query, result);
}

static int take_info(struct kofi_query *query, struct kofi_prov *prov,
		     const struct fi_info *info)
{
	struct fi_info *result;
	int err;

	if (!info_is_whole(info)) {
		complain(prov, info);
		return 0;
	}
	if (!is_in_net(query->net, info))
		return 0;

	result = fi_dupinfo(info);
	if (!result)
		return -ENOMEM;
	err = name_result(prov->provider, result->fabric_attr) ? :
	      set_any_names(query, prov->provider, result);
	if (err) {
		fi_freeinfo(result);
		return err;
	}

	if (result_fits(query, result))
		complete_result(query, result);
	else
		fi_freeinfo(result);
	return 0;
}

int kofi_take_list(struct kofi_query *query, struct kofi_prov *prov,
		   const struct fi_info *list)
{
	const struct fi_info *info;
	int err = 0;

	for (info = list; info && !err; info = info->next)
		err = take_info(query, prov, info);
	return err;
}

int kofi_take_name(struct kofi_query *query, struct kofi_prov *prov)
{
	struct fi_info *result = fi_allocinfo();
	int err;

	if (!result)
		return -ENOMEM;

	err = name_result(prov->provider, result->fabric_attr);
	if (err) {
		fi_freeinfo(result);
		return err;
	}
	result->fabric_attr->api_version = query->version;
	result->fabric_attr->net = query->net;
	add_result(query, result);
	return 0;
}
