// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Does a provider do what it says?
 *
 * These suites know nothing but the answer of fi_getinfo().  What a result claims
 * (capabilities, attributes, limits, flags) has to work, up to its limit; what it
 * does not claim has to be refused.  There is no provider's header and no name of
 * one here, so every provider is judged alike.  Documentation/conformance.rst has
 * the list, beside libfabric's own tests.
 *
 * The module asks for endpoints of either kind when it is loaded and keeps the list, with
 * connected endpoints first, until it is unloaded; a result does not hold on to its
 * provider.  Nobody writes to the list.
 *
 *	prov=NAME	checks only this provider, which is loaded if need be
 *	ip=4, ip=6	checks only results with addresses of this kind
 *	lengths=N	tries N lengths of connection data between the limits (cm.c)
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include "conformance.h"

static char *prov;
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "name of the provider to check (default: all there are)");

static int ip;
module_param(ip, int, 0444);
MODULE_PARM_DESC(ip, "4 or 6: check results with such addresses only (default: all there are)");

static struct fi_info *conf_results;

static void conf_describe(const struct fi_info *info, char *desc, size_t len)
{
	char format[32];

	fi_tostr(&info->addr_format, FI_TYPE_ADDR_FORMAT, format, sizeof(format));
	snprintf(desc, len, "%s/%s/%s%s", info->fabric_attr->prov_name, info->domain_attr->name,
		 format, vt_is_rdm(info) ? "/rdm" : "");
}

/* How many results before this one are described by the same words */
static int conf_number(const struct fi_info *info, const char *desc)
{
	char other[KUNIT_PARAM_DESC_SIZE];
	const struct fi_info *entry;
	int number = 0;

	for (entry = conf_results; entry != info; entry = entry->next) {
		conf_describe(entry, other, sizeof(other));
		number += !strcmp(other, desc);
	}
	return number;
}

static const struct fi_info *conf_find(const struct fi_info *info, enum fi_ep_type type)
{
	while (info && info->ep_attr->type != type)
		info = info->next;
	return info;
}

static const void *conf_param(const struct fi_info *info, char *desc)
{
	size_t len;
	int number;

	if (!info)
		return NULL;
	conf_describe(info, desc, KUNIT_PARAM_DESC_SIZE);
	number = conf_number(info, desc);
	len = strlen(desc);
	if (number)
		snprintf(desc + len, KUNIT_PARAM_DESC_SIZE - len, "/%d", number + 1);
	return info;
}

const void *conf_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct fi_info *last = prev;

	return conf_param(last ? last->next : conf_results, desc);
}

const void *conf_gen_msg(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct fi_info *last = prev, *info;

	info = conf_find(last ? last->next : conf_results, FI_EP_MSG);
	/* Somebody has to be asked */
	if (!last && !info)
		info = conf_results;
	return conf_param(info, desc);
}

const void *conf_gen_rdm(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct fi_info *last = prev, *info;

	info = conf_find(last ? last->next : conf_results, FI_EP_RDM);
	/* Somebody has to be asked */
	if (!last && !info)
		info = conf_results;
	return conf_param(info, desc);
}

struct fi_info *conf_hints_new(enum fi_ep_type type)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->mode = CONF_MODE;
	hints->ep_attr->type = type;
	hints->domain_attr->mr_mode = CONF_MR_MODE;
	return hints;
}

int conf_init(struct kunit *test)
{
	struct fi_info *info;
	int ret;

	ret = vt_init(test);
	if (ret)
		return ret;
	info = fi_dupinfo(test->param_value);
	if (!info)
		return -ENOMEM;
	vt_free_later(test, info);
	vt_of(test)->info = info;
	return 0;
}

/* Adds the results for a type; -ENODATA: there are none */
static int __init conf_collect(enum fi_ep_type type, struct fi_info **results)
{
	struct fi_info *hints = conf_hints_new(type);
	int ret = -ENOMEM;

	if (!hints)
		return ret;
	if (ip)
		hints->addr_format = ip == 6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	if (prov) {
		hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
		if (!hints->fabric_attr->prov_name)
			goto free_hints;
	}
	ret = fi_getinfo(VT_API, NULL, 0, 0, hints, results);
free_hints:
	fi_freeinfo(hints);
	return ret;
}

static int __init conf_module_init(void)
{
	struct fi_info **end = &conf_results;
	int ret;

	ret = conf_collect(FI_EP_MSG, end);
	if (ret && ret != -ENODATA)
		return ret;
	while (*end)
		end = &(*end)->next;
	ret = conf_collect(FI_EP_RDM, end);
	if (ret == -ENODATA && conf_results)
		ret = 0;
	if (!ret)
		return 0;
	pr_err("fi_getinfo() has no endpoint%s%s (%d): is the provider loaded, and has it a device?\n",
	       prov ? " of provider " : "", prov ?: "", ret);
	fi_freeinfo(conf_results);
	return ret;
}
module_init(conf_module_init);

static void __exit conf_module_exit(void)
{
	fi_freeinfo(conf_results);
}
module_exit(conf_module_exit);

kunit_test_suites(&conf_info_suite,
		  &conf_hints_suite,
		  &conf_open_suite,
		  &conf_refuse_suite,
		  &conf_cm_suite,
		  &conf_av_suite,
		  &conf_rdm_suite,
		  &conf_sep_suite,
		  &conf_sep_end_suite,
		  &conf_msg_suite,
		  &conf_shared_suite,
		  &conf_flags_suite,
		  &conf_limits_suite,
		  &conf_many_suite,
		  &conf_cq_suite,
		  &conf_eq_suite,
		  &conf_cntr_suite,
		  &conf_rma_suite,
		  &conf_mr_suite,
		  &conf_mr_ep_suite,
		  &conf_peer_memory_suite,
		  &conf_rw_suite,
		  &conf_order_suite,
		  &conf_done_suite,
		  &conf_handler_suite,
		  &conf_post_suite,
		  &conf_state_suite,
		  &conf_atomic_suite,
		  &conf_atomic_list_suite,
		  &conf_tagged_suite,
		  &conf_tagged_rma_suite,
		  &conf_lent_suite,
		  &conf_peek_suite,
		  &conf_multi_suite,
		  &conf_ready_suite,
		  &conf_context_suite,
		  &conf_drain_suite,
		  &conf_errors_suite,
		  &conf_close_suite,
		  &conf_event_suite,
		  &conf_key_suite,
		  &conf_net_suite,
		  &conf_pmem_suite,
		  &conf_pmemlog_suite);

MODULE_DESCRIPTION("KUnit tests that every kOFI provider has to pass");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
