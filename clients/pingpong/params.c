// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Module parameters.
 *
 * All parameters are texts.  This file parses them at load, not the kernel, so
 * that a bad value fails the load with one line that says what is allowed.
 * pp_params is constant afterwards.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pingpong.h"

struct pp_params pp_params;

static char *role = "both";
module_param(role, charp, 0444);
MODULE_PARM_DESC(role, "both, server or client (default both)");

static char *addr = "";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "numeric IPv4 or IPv6 address of the server; may be left out for role=server");

static char *port = "47592";
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "TCP port of the control channel, 1 to 65535 (default 47592)");

static char *prov = "verbs";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "provider (default verbs)");

static char *domain = "";
module_param(domain, charp, 0444);
MODULE_PARM_DESC(domain, "domain (default: the first that fits)");

static char *ep = "msg";
module_param(ep, charp, 0444);
MODULE_PARM_DESC(ep, "endpoint type: msg or rdm (default msg)");

static char *sizes = "default";
module_param(sizes, charp, 0444);
MODULE_PARM_DESC(sizes, "default, all, or message sizes separated by commas, 0 to 6291456");

static char *iters = "10";
module_param(iters, charp, 0444);
MODULE_PARM_DESC(iters, "messages each way of each size, 1 to 2147483647 (default 10)");

static char *check = "";
module_param(check, charp, 0444);
MODULE_PARM_DESC(check, "fill and check payloads, as fi_pingpong -c: 0 or 1 (default: 1 for role=both, else 0)");

static char *use_vmalloc = "0";
module_param_named(vmalloc, use_vmalloc, charp, 0444);
MODULE_PARM_DESC(vmalloc, "take buffers from vmalloc: 0 or 1 (default 0); allows only sizes of few pages");

static char *cq = "sleep";
module_param(cq, charp, 0444);
MODULE_PARM_DESC(cq, "completion queues: poll, sleep or callback (default sleep)");

static int pp_bad(const char *name, const char *value, const char *allowed)
{
	pr_err("%s=%s: %s\n", name, value, allowed);
	return -EINVAL;
}

static int pp_parse_bool(const char *name, const char *value, bool *out)
{
	if (strcmp(value, "0") && strcmp(value, "1"))
		return pp_bad(name, value, "allowed are 0 and 1");
	*out = value[0] == '1';
	return 0;
}

static int pp_parse_role(void)
{
	bool both = !strcmp(role, "both");

	pp_params.server = both || !strcmp(role, "server");
	pp_params.client = both || !strcmp(role, "client");
	if (!pp_params.server && !pp_params.client)
		return pp_bad("role", role,
			      "allowed are both, server and client");
	return 0;
}

static int pp_parse_addr(struct net *net)
{
	if (!*addr && !pp_params.client)
		return 0;
	if (!*addr)
		return pp_bad("addr", addr,
			      "roles both and client need the server's numeric IPv4 or IPv6 address");
	if (inet_pton_with_scope(net, AF_UNSPEC, addr, NULL, &pp_params.addr))
		return pp_bad("addr", addr,
			      "allowed is a numeric IPv4 or IPv6 address, link-local ones with %interface");
	pp_params.node = addr;
	return 0;
}

static int pp_parse_names(void)
{
	if (!*prov || strlen(prov) >= FI_NAME_MAX)
		return pp_bad("prov", prov,
			      "allowed is a provider's name of 1 to 63 bytes, for example verbs");
	if (strlen(domain) >= FI_NAME_MAX)
		return pp_bad("domain", domain,
			      "allowed is a domain's name of at most 63 bytes");
	if (strcmp(ep, "msg") && strcmp(ep, "rdm"))
		return pp_bad("ep", ep, "allowed are msg and rdm");
	pp_params.ep_type = strcmp(ep, "rdm") ? FI_EP_MSG : FI_EP_RDM;
	pp_params.prov = prov;
	pp_params.domain = *domain ? domain : NULL;
	return 0;
}

static int pp_parse_size_list(char *list)
{
	char *word;

	while ((word = strsep(&list, ","))) {
		u32 size;

		if (pp_params.nr_sizes == PP_SIZES_MAX ||
		    kstrtou32(word, 10, &size) || size > PP_SIZE_MAX)
			return -EINVAL;
		pp_params.sizes[pp_params.nr_sizes++] = size;
	}
	return 0;
}

static int pp_parse_sizes(void)
{
	char *list;
	int ret;

	if (!strcmp(sizes, "default")) {
		pp_params.size_set = PP_SIZES_DEFAULT;
		return 0;
	}
	if (!strcmp(sizes, "all")) {
		pp_params.size_set = PP_SIZES_ALL;
		return 0;
	}
	pp_params.size_set = PP_SIZES_LIST;
	list = kstrdup(sizes, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	ret = pp_parse_size_list(list);
	kfree(list);
	if (ret)
		return pp_bad("sizes", sizes,
			      "allowed are default, all, or up to 64 numbers from 0 to 6291456 separated by commas");
	return 0;
}

static int pp_parse_numbers(void)
{
	if (kstrtou16(port, 10, &pp_params.port) || !pp_params.port)
		return pp_bad("port", port, "allowed are 1 to 65535");
	if (kstrtou32(iters, 10, &pp_params.iters) || !pp_params.iters ||
	    pp_params.iters > INT_MAX)
		return pp_bad("iters", iters, "allowed are 1 to 2147483647");
	return 0;
}

static int pp_parse_cq(void)
{
	if (!strcmp(cq, "poll"))
		pp_params.cq = PP_CQ_POLL;
	else if (!strcmp(cq, "sleep"))
		pp_params.cq = PP_CQ_SLEEP;
	else if (!strcmp(cq, "callback"))
		pp_params.cq = PP_CQ_CALLBACK;
	else
		return pp_bad("cq", cq,
			      "allowed are poll, sleep and callback");
	return 0;
}

static int pp_parse_switches(void)
{
	int ret;

	ret = pp_parse_bool("vmalloc", use_vmalloc, &pp_params.vmalloc);
	if (ret)
		return ret;
	if (*check)
		return pp_parse_bool("check", check, &pp_params.check);
	/* The peer of a lone role may not fill its messages; two roles of one module do. */
	pp_params.check = pp_params.server && pp_params.client;
	return 0;
}

int pp_params_parse(struct net *net)
{
	int ret;

	ret = pp_parse_role();
	if (!ret)
		ret = pp_parse_addr(net);
	if (!ret)
		ret = pp_parse_names();
	if (!ret)
		ret = pp_parse_sizes();
	if (!ret)
		ret = pp_parse_numbers();
	if (!ret)
		ret = pp_parse_cq();
	if (!ret)
		ret = pp_parse_switches();
	return ret;
}
