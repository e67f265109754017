/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One call of fi_getinfo(): getinfo.c runs it, query.c checks its arguments, results.c
 * takes what providers return, hooked.c puts hooks on the results.
 */
#ifndef _KOFI_QUERY_H
#define _KOFI_QUERY_H

#include <rdma/fabric.h>

struct kofi_obj;
struct kofi_prov;
struct kofi_why;
struct fi_reason;

/**
 * struct kofi_query - One call of fi_getinfo()
 * @version: API version of the client
 * @node: checked
 * @service: checked
 * @flags: checked
 * @hints: what is left of the client's hints, or NULL
 * @only_fabric: open fabric that the results must belong to, or NULL
 * @only_domain: open domain of @only_fabric that the results must belong to, or NULL
 * @prov_name: the hint for the provider's name, or NULL
 * @prov_version: least version of the provider
 * @net: namespace of the results
 * @results: what has been found
 * @is_lower: a layer asks for providers below it
 * @may_not_load: the query, and those below it, must not load a module
 * @asked: providers that have been asked
 * @err: what to return if there are no results
 * @why: collects the reasons for what is left out, or NULL
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
	bool			is_lower;
	bool			may_not_load;
	int			asked;
	int			err;
	struct kofi_why		*why;
};

/*
 * fi_getinfo() and fi_getinfo_why() in one, with the arguments that @query has.  @reasons has
 * room for @room reasons; *count is how many have been written.  The results in @query are
 * the caller's, NULL after an error.
 */
int kofi_getinfo(struct kofi_query *query, const struct fi_info *hints,
		 struct fi_reason *reasons, size_t room, int *count);

/* 0, or the error that fi_getinfo() returns for bad arguments */
int kofi_query_check(struct kofi_query *query);

/* Adds the infos of a provider's list that fit to the results: 0 or -ENOMEM */
int kofi_take_list(struct kofi_query *query, struct kofi_prov *prov,
		   const struct fi_info *list);
/* Adds a result that has nothing but the name of a provider: 0 or -ENOMEM */
int kofi_take_name(struct kofi_query *query, struct kofi_prov *prov);

/*
 * Puts the hooks of the parameter hooks= that are there on results that have no hook: 0; -ENOMEM
 */
int kofi_query_put_hooks(struct kofi_query *query);

#endif /* _KOFI_QUERY_H */
