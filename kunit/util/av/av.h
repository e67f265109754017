/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A vector of addresses, for suites that use one as a client and as a provider.
 */
#ifndef _KUNIT_UTIL_AV_H
#define _KUNIT_UTIL_AV_H

#include <linux/in.h>
#include <kofi/av.h>
#include "../util.h"

#define UT_PORT		7471

/**
 * struct ut_av - A vector
 * @av: the vector
 * @removed: calls of removed()
 * @index: of the last one
 * @found: the address could be looked up from there
 * @insert: insert this address from there
 * @inserted: its fi_addr_t
 */
struct ut_av {
	struct kofi_av		av;
	int			removed;
	u32			index;
	bool			found;
	struct sockaddr_in	*insert;
	fi_addr_t		inserted;
};

/* A vector that is freed after the case; ut_av() opens one of IPv4 without wishes */
struct ut_av *ut_av_open(struct kunit *test, struct fi_av_attr attr, u32 addr_format);
struct ut_av *ut_av(struct kunit *test);

/* 10.0.0.0 plus @last */
struct sockaddr_in ut_ipv4(u32 last, int port);

/* The client's calls */
int ut_av_insert(struct ut_av *at, const void *addr, size_t count,
		 fi_addr_t *fi_addr, u64 flags, void *context);
int ut_av_insertsym(struct ut_av *at, const char *node, size_t nodecnt, int service, size_t svccnt,
		    fi_addr_t *fi_addr, u64 flags, void *context);
int ut_av_set_user_id(struct ut_av *at, fi_addr_t fi_addr, fi_addr_t user_id, u64 flags);
int ut_av_remove(struct ut_av *at, fi_addr_t fi_addr);
/* ut_ipv4(n, UT_PORT), which has to go in */
fi_addr_t ut_av_insert_nth(struct kunit *test, struct ut_av *at, u32 n);

/* The provider's questions */
fi_addr_t ut_av_find(struct ut_av *at, struct sockaddr_in sin);
fi_addr_t ut_av_source(struct ut_av *at, struct sockaddr_in sin);
bool ut_av_is_at(struct ut_av *at, fi_addr_t fi_addr, struct sockaddr_in sin);

#endif /* _KUNIT_UTIL_AV_H */
