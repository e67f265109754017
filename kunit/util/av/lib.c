// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A vector of addresses.
 */
#include "av.h"

static void removed(struct kofi_av *av, u32 index)
{
	struct ut_av *at = container_of(av, struct ut_av, av);
	struct sockaddr_storage addr;

	at->removed++;
	at->index = index;
	at->found = kofi_av_addr(av, index, &addr);
	if (at->insert)
		av->av.ops->insert(&av->av, at->insert, 1, &at->inserted, 0, NULL);
}

static void destroy(void *av)
{
	kofi_av_destroy(av);
}

struct ut_av *ut_av_open(struct kunit *test, struct fi_av_attr attr, u32 addr_format)
{
	struct ut_av *at = vt_buf(test, sizeof(*at));

	memset(&at->av, 0xa5, sizeof(at->av));
	KUNIT_ASSERT_EQ(test, kofi_av_init(&at->av, &attr, addr_format, removed, at), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy, &at->av), 0);
	return at;
}

struct ut_av *ut_av(struct kunit *test)
{
	return ut_av_open(test, (struct fi_av_attr){}, FI_SOCKADDR_IN);
}

struct sockaddr_in ut_ipv4(u32 last, int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x0a000000 + last),
		.sin_port = htons(port),
	};
}

int ut_av_insert(struct ut_av *at, const void *addr, size_t count,
		 fi_addr_t *fi_addr, u64 flags, void *context)
{
	return at->av.av.ops->insert(&at->av.av, addr, count, fi_addr, flags, context);
}

int ut_av_insertsym(struct ut_av *at, const char *node, size_t nodecnt, int service, size_t svccnt,
		    fi_addr_t *fi_addr, u64 flags, void *context)
{
	return at->av.av.ops->insertsym(&at->av.av, node, nodecnt, service,
					svccnt, fi_addr, flags, context);
}

int ut_av_set_user_id(struct ut_av *at, fi_addr_t fi_addr, fi_addr_t user_id, u64 flags)
{
	return at->av.av.ops->set_user_id(&at->av.av, fi_addr, user_id, flags);
}

int ut_av_remove(struct ut_av *at, fi_addr_t fi_addr)
{
	return at->av.av.ops->remove(&at->av.av, &fi_addr, 1, 0);
}

fi_addr_t ut_av_insert_nth(struct kunit *test, struct ut_av *at, u32 n)
{
	struct sockaddr_in addr = ut_ipv4(n, UT_PORT);
	fi_addr_t fi_addr;

	KUNIT_ASSERT_EQ(test, ut_av_insert(at, &addr, 1, &fi_addr, 0, NULL), 1);
	return fi_addr;
}

fi_addr_t ut_av_find(struct ut_av *at, struct sockaddr_in sin)
{
	struct sockaddr_storage addr = {};

	memcpy(&addr, &sin, sizeof(sin));
	return kofi_av_find(&at->av, &addr);
}

fi_addr_t ut_av_source(struct ut_av *at, struct sockaddr_in sin)
{
	struct sockaddr_storage addr = {};

	memcpy(&addr, &sin, sizeof(sin));
	return kofi_av_source(&at->av, &addr);
}

bool ut_av_is_at(struct ut_av *at, fi_addr_t fi_addr, struct sockaddr_in sin)
{
	struct sockaddr_storage addr;

	memset(&addr, 0xa5, sizeof(addr));
	return kofi_av_addr(&at->av, fi_addr, &addr) &&
	       !memcmp(&addr, &sin, sizeof(sin));
}
