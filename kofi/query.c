// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks the arguments of fi_getinfo() once, so that a provider sees only arguments that
 * make sense, and removes from the hints the address that @node and @service replace.
 *
 * Works on one query, which belongs to its caller.
 */
#include <linux/limits.h>
#include <linux/socket.h>
#include "info.h"
#include "kofi.h"
#include "query.h"
#include "why.h"

#define KOFI_GETINFO_FLAGS	(FI_SOURCE | FI_NUMERICHOST | FI_PROV_ATTR_ONLY)

static int check_node(struct kofi_query *query)
{
	struct sockaddr_storage unused;
	int err;

	if (query->service < 0 || query->service > U16_MAX) {
		kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, "service",
			     "service: %d is no port", query->service);
		return -EINVAL;
	}
	if (!query->node) {
		if (!(query->flags & FI_SOURCE) || query->service)
			return 0;
		kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, "flags",
			     "flags: FI_SOURCE without node and service");
		return -EINVAL;
	}

	err = kofi_parse_addr(query->net, query->node, query->service,
			      AF_UNSPEC, &unused);
	if (err == -EAFNOSUPPORT) {
		kofi_why_say(FI_REASON_CALL, -ENODATA, NULL, "node",
			     "node: %s is an IPv6 address, and this machine was booted without IPv6",
			     query->node);
		return -ENODATA;
	}
	if (err)
		kofi_why_say(FI_REASON_CALL, err, NULL, "node",
			     "node: %s is no numeric IPv4 or IPv6 address; names are not resolved",
			     query->node);
	return err;
}

static int refuse_object(const char *field, const char *text)
{
	kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, field, "%s: %s", field,
		     text);
	return -EINVAL;
}

/* Takes the open objects from the hints; a domain implies its fabric */
static int check_objects(struct kofi_query *query)
{
	const struct fi_fabric_attr *fabric = query->hints->fabric_attr;
	const struct fi_domain_attr *domain = query->hints->domain_attr;

	if (domain && domain->domain) {
		if (!kofi_is(domain->domain, FI_CLASS_DOMAIN))
			return refuse_object("domain_attr->domain",
					     "it is no open domain");
		query->only_domain = domain->domain->fid.obj;
		query->only_fabric = query->only_domain->parent;
	}
	if (fabric && fabric->fabric) {
		if (!kofi_is(fabric->fabric, FI_CLASS_FABRIC))
			return refuse_object("fabric_attr->fabric",
					     "it is no open fabric");
		if (query->only_fabric &&
		    query->only_fabric != fabric->fabric->fid.obj)
			return refuse_object("fabric_attr->fabric",
					     "it is not the fabric of domain_attr->domain");
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

	/* node and service replace the source or the destination address */
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

int kofi_query_check(struct kofi_query *query)
{
	int err;

	if (query->version > KOFI_API_VERSION) {
		kofi_why_say(FI_REASON_CALL, -ENOSYS, NULL, "version",
			     "version: the client wants %u.%u, this is %u.%u",
			     FI_MAJOR(query->version), FI_MINOR(query->version),
			     FI_MAJOR_VERSION, FI_MINOR_VERSION);
		return -ENOSYS;
	}
	if (query->flags & ~KOFI_GETINFO_FLAGS) {
		kofi_why_say(FI_REASON_CALL, -FI_EBADFLAGS, NULL, "flags",
			     "flags: %#llx are unknown",
			     query->flags & ~KOFI_GETINFO_FLAGS);
		return -FI_EBADFLAGS;
	}

	err = check_hints(query);
	return err ?: check_node(query);
}
