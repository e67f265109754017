// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_getinfo(): ask the providers, keep what fits, best first.
 *
 * The registry pins the providers, and a query asks one after the other, with no lock
 * held: each may sleep for long, and providers may come and go meanwhile.  Queries
 * share nothing but the registry.
 *
 * Results of equal speed stay in the order in which their providers were registered, and
 * results of one provider in that provider's order (results.c).
 *
 * A provider that stands on others asks them from inside its own ->getinfo
 * (kofi_lower_getinfo()).  That is a second query in the task of the first one; its reasons
 * become reasons of the first one.
 *
 * Errors: a provider with nothing for these hints returns -ENODATA.  Any other
 * error also means that it has no results.  fi_getinfo() returns -ENOMEM of a provider only
 * if no provider has results, and never another error of a provider, because one broken
 * device must not hide the working ones.
 *
 * Each provider or result that is left out has a reason.  The reason goes to dynamic debug,
 * to the trace event kofi_getinfo, and to fi_getinfo_why() (why.c).
 */
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "info.h"
#include "kofi.h"
#include "query.h"
#include "tostr.h"
#include "trace.h"
#include "why.h"

/* Returns an error of the core, which ends the query; an error of the provider does not */
static int ask_provider(struct kofi_query *query, struct kofi_prov *prov)
{
	struct kofi_provider *provider = prov->provider;
	struct fi_info *list = NULL;
	int err;

	query->asked++;
	if (query->flags & FI_PROV_ATTR_ONLY)
		return kofi_take_name(query, prov);

	err = provider->getinfo(query->version, query->node, query->service,
				query->flags, query->hints, &list);
	if (err) {
		kofi_why_say(FI_REASON_ERROR, err, NULL, NULL,
			     "the provider has nothing for these hints: %s",
			     fi_strerror(err));
		if (err == -ENOMEM)
			query->err = err;
		return 0;
	}

	err = kofi_take_list(query, prov, list);
	if (list)
		provider->freeinfo(list);
	return err;
}

static bool prov_version_fits(u32 wish, u32 offer)
{
	char wanted[16], offered[16];

	if (wish <= offer)
		return true;

	kofi_value_tostr(wish, TYPE_PROV_VERSION, wanted, sizeof(wanted));
	kofi_value_tostr(offer, TYPE_PROV_VERSION, offered, sizeof(offered));
	kofi_why_differ(FI_REASON_FIELD, NULL, "fabric_attr->prov_version",
			wanted, offered);
	return false;
}

static bool prov_is_wanted(const struct kofi_query *query,
			   const struct kofi_prov *prov)
{
	const struct kofi_provider *provider = prov->provider;
	const struct kofi_obj *fabric = query->only_fabric;

	if (kofi_prov_name_denied(query->prov_name, provider->name)) {
		kofi_why_differ(FI_REASON_SKIPPED, NULL,
				"fabric_attr->prov_name", query->prov_name,
				provider->name);
		return false;
	}
	if (!prov_version_fits(query->prov_version, provider->version))
		return false;
	if (fabric && READ_ONCE(fabric->root->net) != query->net) {
		kofi_why_differ(FI_REASON_SKIPPED, NULL, "fabric_attr->net",
				"that of the open fabric", "another");
		return false;
	}
	return !fabric || fabric->prov == prov;
}

/* Restores the provider's name: a layer asks the provider below from inside its ->getinfo */
static int ask_if_wanted(struct kofi_query *query, struct kofi_prov *prov)
{
	const char *before = query->why ? query->why->prov_name : NULL;
	int err = 0;

	if (query->why)
		query->why->prov_name = prov->provider->name;
	if (prov_is_wanted(query, prov))
		err = ask_provider(query, prov);
	if (query->why)
		query->why->prov_name = before;
	return err;
}

static int ask_and_put(struct kofi_query *query, struct kofi_prov *prov)
{
	int err = ask_if_wanted(query, prov);

	kofi_prov_put(prov);
	return err;
}

/* Asks the fabric's own version of the provider; new calls may see a newer version */
static int ask_fabric(struct kofi_query *query)
{
	const struct kofi_obj *fabric = query->only_fabric;
	const struct kofi_provider *provider = fabric->prov->provider;
	struct kofi_prov *prov = kofi_prov_get(provider->name,
					       provider->version);

	if (prov)
		return ask_and_put(query, prov);

	kofi_why_say(FI_REASON_ABSENT, 0, NULL, "fabric_attr->fabric",
		     "fabric_attr->fabric: its provider %s is no longer registered",
		     provider->name);
	return 0;
}

static int ask_named(struct kofi_query *query, const char *name)
{
	struct kofi_prov *prov = kofi_prov_get(name, 0);

	if (!prov && !query->may_not_load) {
		kofi_prov_load(name);
		prov = kofi_prov_get(name, 0);
	}
	if (prov)
		return ask_and_put(query, prov);

	if (query->may_not_load) {
		kofi_why_say(FI_REASON_ABSENT, 0, NULL, "fabric_attr->prov_name",
			     "fabric_attr->prov_name: there is no provider %s; modprobe kofi-%s loads it, if it is installed",
			     name, name);
		return 0;
	}
	kofi_why_say(FI_REASON_ABSENT, 0, NULL, "fabric_attr->prov_name",
		     "fabric_attr->prov_name: there is no provider %s, and no module kofi-%s brings it",
		     name, name);
	return 0;
}

/* Which providers a query without a name asks; hooks are asked only by name */
enum who {
	EVERYONE,
	LAYERS,			/* providers that stand on others */
	BOTTOM,			/* providers that stand on no other */
};

static bool is_among(enum who who, const char *name)
{
	if (kofi_is_hook(name))
		return false;
	return who == EVERYONE || kofi_is_layer(name) == (who == LAYERS);
}

static int ask_all(struct kofi_query *query, enum who who)
{
	struct kofi_prov **provs;
	int count, i, err = 0;

	count = kofi_prov_get_all(&provs);
	if (count < 0)
		return count;

	for (i = 0; i < count && !err; i++)
		if (is_among(who, provs[i]->provider->name))
			err = ask_if_wanted(query, provs[i]);
	kofi_prov_put_all(provs, count);
	return err;
}

static int ask_providers(struct kofi_query *query)
{
	char name[FI_NAME_MAX];
	int layers, err;

	layers = kofi_prov_name_top(query->prov_name, name, sizeof(name));
	if (layers < 0) {
		kofi_why_say(FI_REASON_ABSENT, 0, NULL, "fabric_attr->prov_name",
			     "fabric_attr->prov_name: %s is too long for a name",
			     query->prov_name);
		return 0;
	}
	if (!layers) {
		err = ask_all(query, query->is_lower ? BOTTOM : EVERYONE);
		if (!query->asked)
			kofi_why_say(FI_REASON_ABSENT, 0, NULL, NULL,
				     "there is no provider to ask; load one, or name it in fabric_attr->prov_name");
		return err;
	}

	err = ask_named(query, name);
	/* Layers with this provider at the bottom fit, too; the name of a layer asks for it only */
	if (!err && layers == 1 && !query->is_lower && !kofi_is_layer(name))
		err = ask_all(query, LAYERS);
	return err;
}

static int run_query(struct kofi_query *query)
{
	int err = kofi_query_check(query);

	if (err)
		return err;
	return query->only_fabric ? ask_fabric(query) : ask_providers(query);
}

/*
 * Runs @query with a copy of @hints, from which kofi_query_check() may remove addresses.
 * @hints may be NULL.  @why collects reasons while the query runs, unless it is NULL.
 */
static int getinfo(struct kofi_query *query, const struct fi_info *hints, struct kofi_why *why)
{
	struct fi_info own_hints;
	int err;

	query->net = kofi_callers_net();
	query->err = -ENODATA;
	if (hints) {
		own_hints = *hints;
		query->hints = &own_hints;
	}

	if (why) {
		why->may_not_load = query->may_not_load;
		kofi_why_listen(why);
	}
	query->why = why ?: kofi_why_current();
	err = run_query(query);
	if (why)
		kofi_why_unlisten(why);
	query->hints = NULL;
	if (!err && !query->is_lower)
		err = kofi_query_put_hooks(query);

	if (err) {
		fi_freeinfo(query->results);
		query->results = NULL;
		return err;
	}
	return query->results ? 0 : query->err;
}

static void trace_result(const struct fi_info *hints,
			 const struct fi_info *results,
			 const struct fi_reason *reason, int err)
{
	const char *prov_name = NULL;
	int count = 0;

	for (; results; results = results->next)
		count++;
	if (hints && hints->fabric_attr)
		prov_name = hints->fabric_attr->prov_name;
	trace_kofi_getinfo(prov_name, hints ? hints->caps : 0, err ?: count,
			   reason);
}

int kofi_getinfo(struct kofi_query *query, const struct fi_info *hints,
		 struct fi_reason *reasons, size_t room, int *count)
{
	struct kofi_why *why = kzalloc(sizeof(*why), GFP_KERNEL);
	int err;

	*count = 0;
	if (!why)
		return -ENOMEM;

	why->reasons = reasons;
	why->room = room;
	err = getinfo(query, hints, why);
	*count = why->count;
	trace_result(hints, query->results, why->count ? reasons : NULL, err);
	kfree(why);
	return err;
}

/* Room for one reason, if the trace event is on and there is memory */
struct traced_why {
	struct kofi_why		why;
	struct fi_reason	first;
};

int fi_getinfo(u32 version, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	struct kofi_query query = {
		.version	= version,
		.node		= node,
		.service	= service,
		/* Providers rescan in any case */
		.flags		= flags & ~FI_RESCAN,
	};
	struct traced_why *traced = NULL;
	int err;

	might_sleep();
	err = kofi_check_ptr("getinfo", info);
	if (err)
		return err;

	if (trace_kofi_getinfo_enabled())
		traced = kzalloc(sizeof(*traced), GFP_KERNEL);
	if (traced) {
		traced->why.reasons = &traced->first;
		traced->why.room = 1;
	}
	err = getinfo(&query, hints, traced ? &traced->why : NULL);
	trace_result(hints, query.results,
		     traced && traced->why.count ? &traced->first : NULL, err);
	kfree(traced);
	*info = query.results;
	return err;
}
EXPORT_SYMBOL_GPL(fi_getinfo);

int kofi_lower_getinfo(u32 version, const char *prov_name, const char *node,
		       int service, u64 flags, const struct fi_info *hints,
		       struct fi_info **info)
{
	struct kofi_query query = {
		.version	= version,
		.node		= node,
		.service	= service,
		.flags		= flags,
		.is_lower	= true,
	};
	const struct kofi_why *outer = kofi_why_current();
	struct fi_fabric_attr fabric = {};
	struct fi_info named = {};
	int err;

	/* A query that must not load always collects reasons */
	query.may_not_load = outer && outer->may_not_load;
	/* A caller without hints can follow every mode */
	if (hints)
		named = *hints;
	else
		named.mode = U64_MAX;
	if (named.fabric_attr)
		fabric = *named.fabric_attr;
	fabric.prov_name = (char *)prov_name;
	fabric.prov_version = 0;
	named.fabric_attr = &fabric;

	err = getinfo(&query, &named, NULL);
	*info = query.results;
	return err;
}
EXPORT_SYMBOL_GPL(kofi_lower_getinfo);

int fi_getinfo_why(u32 version, const char *node, int service, u64 flags,
		   const struct fi_info *hints, struct fi_reason *reasons,
		   size_t count)
{
	struct kofi_query query = {
		.version	= version,
		.node		= node,
		.service	= service,
		.flags		= flags & ~FI_RESCAN,
	};
	struct kofi_why *why;
	int ret;

	might_sleep();
	ret = kofi_check_ptr("getinfo_why", reasons);
	if (ret)
		return ret;
	if (!count || count > INT_MAX)
		return kofi_refuse("getinfo_why", -EINVAL, "count is %zu, and has to be 1 to %d",
				   count, INT_MAX);

	why = kzalloc(sizeof(*why), GFP_KERNEL);
	if (!why)
		return -ENOMEM;
	why->reasons = reasons;
	why->room = count;
	ret = getinfo(&query, hints, why);
	fi_freeinfo(query.results);
	if (ret != -ENOMEM || why->count)
		ret = why->count;
	kfree(why);
	return ret;
}
EXPORT_SYMBOL_GPL(fi_getinfo_why);
