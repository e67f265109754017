// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that come about: addresses, connection data, several at once, and
 * their end.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/arp.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "verbs.h"

struct vt_family {
	const char	*name;
	int		family;
	size_t		addr_len;
};

static const struct vt_family vt_families[] = {
	{ "IPv4", AF_INET, sizeof(struct sockaddr_in) },
	{ "IPv6", AF_INET6, sizeof(struct sockaddr_in6) },
};

KUNIT_ARRAY_PARAM_DESC(vt_family, vt_families, name);

static void connect_and_accept_make_a_connection(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct vt_pair pair = {};

	vt_serve(test, param->family, NULL);
	vt_join(test, &pair, &vt_default_kind);

	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static void connect_without_address_goes_to_the_infos(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fi_info *info;

	vt_serve(test, param->family, NULL);
	info = fi_dupinfo(vt->info);
	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	info->dest_addrlen = vt->name_len;
	info->dest_addr = kmemdup(&vt->name, vt->name_len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, info->dest_addr);
	vt_end_open(test, &client, info, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_connect(client.ep, NULL, NULL, 0), 0);

	vt_connreq(test, NULL);
}

static void request_is_for_the_passive_endpoints_domain(struct kunit *test)
{
	struct vt_end client = {};
	struct fi_info *info;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, NULL, 0);
	info = vt_connreq(test, NULL);

	KUNIT_EXPECT_NOT_NULL(test, info->handle);
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name,
			   vt_of(test)->info->domain_attr->name);
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, "verbs");
	KUNIT_EXPECT_EQ(test, info->addr_format, FI_SOCKADDR_IN);
	KUNIT_EXPECT_EQ(test, info->tx_attr->size,
			vt_of(test)->info->tx_attr->size);
	KUNIT_EXPECT_NOT_NULL(test, info->src_addr);
	KUNIT_EXPECT_NOT_NULL(test, info->dest_addr);
}

static bool same_addr(const struct sockaddr_storage *a,
		      const struct sockaddr_storage *b, size_t len)
{
	return !memcmp(a, b, len);
}

static void names_of_both_ends_agree(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct sockaddr_storage a = {}, b = {}, peer_a = {}, peer_b = {};
	size_t a_len = sizeof(a), b_len = sizeof(b);
	size_t peer_a_len = sizeof(peer_a), peer_b_len = sizeof(peer_b);
	struct vt_pair pair = {};

	vt_serve(test, param->family, NULL);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_getname(&pair.a.ep->fid, &a, &a_len), 0);
	KUNIT_ASSERT_EQ(test, fi_getname(&pair.b.ep->fid, &b, &b_len), 0);
	KUNIT_ASSERT_EQ(test, fi_getpeer(pair.a.ep, &peer_a, &peer_a_len), 0);
	KUNIT_ASSERT_EQ(test, fi_getpeer(pair.b.ep, &peer_b, &peer_b_len), 0);

	KUNIT_EXPECT_EQ(test, a_len, param->addr_len);
	KUNIT_EXPECT_EQ(test, peer_a_len, param->addr_len);
	KUNIT_EXPECT_EQ(test, peer_b_len, param->addr_len);
	KUNIT_EXPECT_TRUE(test, same_addr(&peer_a, &vt_of(test)->name,
					  param->addr_len));
	KUNIT_EXPECT_EQ(test, b.ss_family, param->family);
	KUNIT_EXPECT_EQ(test, peer_b.ss_family, param->family);
	KUNIT_EXPECT_NE(test, ntohs(((struct sockaddr_in *)&a)->sin_port), 0);
}

static u32 scope_of(const void *addr)
{
	return ((const struct sockaddr_in6 *)addr)->sin6_scope_id;
}

/* So the client can connect back, and knows the interface */
static void accepting_end_of_a_link_local_connection_has_its_scope(struct kunit *test)
{
	struct vt_end client = {}, server = {}, back = {};
	struct sockaddr_in6 name = {};
	struct fi_info *info, *again;
	size_t len = sizeof(name);
	u32 scope;

	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, NULL, &info), 0);
	while (info && vt_is_global(info))
		info = info->next;
	KUNIT_ASSERT_NOT_NULL(test, info);
	scope = scope_of(info->src_addr);
	vt_open_info(test, info);
	vt_listen(test, vt_eq(test, 0));
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, NULL, 0);

	info = vt_connreq(test, NULL);
	KUNIT_EXPECT_EQ(test, scope_of(info->src_addr), scope);
	KUNIT_EXPECT_EQ(test, scope_of(info->dest_addr), scope);
	again = fi_dupinfo(info);
	KUNIT_ASSERT_NOT_NULL(test, again);
	vt_free_later(test, again);
	vt_end_open(test, &server, info, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_getname(&server.ep->fid, &name, &len), 0);
	KUNIT_EXPECT_EQ(test, name.sin6_scope_id, scope);

	again->handle = NULL;
	((struct sockaddr_in6 *)again->src_addr)->sin6_port = 0;
	vt_end_open(test, &back, again, &vt_default_kind);
}

static void short_buffers_for_names_learn_the_length(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct vt_pair pair = {};
	u8 buf[sizeof(struct sockaddr_storage)];
	size_t len = param->addr_len - 1;

	vt_serve(test, param->family, NULL);
	vt_join(test, &pair, &vt_default_kind);
	memset(buf, 0x5a, sizeof(buf));

	KUNIT_EXPECT_EQ(test, fi_getname(&pair.a.ep->fid, buf, &len),
			-FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, param->addr_len);
	KUNIT_EXPECT_EQ(test, buf[param->addr_len - 1], 0x5a);
	len = 0;
	KUNIT_EXPECT_EQ(test, fi_getpeer(pair.a.ep, NULL, &len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, param->addr_len);
	len = 1;
	KUNIT_EXPECT_EQ(test, fi_getname(&vt_of(test)->pep->fid, buf, &len),
			-FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, param->addr_len);
}

static void an_unconnected_endpoint_has_no_peer(struct kunit *test)
{
	struct sockaddr_storage addr;
	size_t len = sizeof(addr);
	struct vt_end end = {};

	vt_open(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_getpeer(end.ep, &addr, &len), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, fi_getname(&end.ep->fid, &addr, &len), 0);
}

/* @n bytes go to the passive side, the rest of what is possible comes back */
static void exchange_data(struct kunit *test, size_t n)
{
	u8 there[VT_CM_DATA], back[VT_CM_DATA];
	struct vt_pair pair = {};
	union vt_event event;
	size_t got;

	vt_fill(there, n, n);
	vt_fill(back, VT_CM_DATA - n, ~n);
	vt_client(test, &pair.a, &vt_default_kind);
	vt_connect(test, &pair.a, there, n);
	got = vt_event(test, vt_of(test)->eq, FI_CONNREQ, &event);
	KUNIT_ASSERT_EQ(test, got, n);
	KUNIT_ASSERT_TRUE(test, vt_filled(event.cm.data, n, n));

	vt_end_open(test, &pair.b, event.cm.info, &vt_default_kind);
	vt_accept(test, &pair.b, back, VT_CM_DATA - n);
	got = vt_event(test, pair.a.eq, FI_CONNECTED, &event);
	KUNIT_ASSERT_EQ(test, got, VT_CM_DATA - n);
	KUNIT_ASSERT_TRUE(test, vt_filled(event.cm.data, got, ~n));
	vt_pair_close(test, &pair);
}

static void data_of_every_length_travels_both_ways(struct kunit *test)
{
	size_t n;

	vt_serve(test, AF_INET, NULL);

	for (n = 0; n <= VT_CM_DATA; n++)
		exchange_data(test, n);
}

static void data_that_does_not_fit_the_event_is_cut(struct kunit *test)
{
	struct vt_end client = {};
	union vt_event event;
	u8 data[VT_CM_DATA];
	u32 got;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &client, &vt_default_kind);
	vt_fill(data, sizeof(data), 9);
	vt_connect(test, &client, data, sizeof(data));

	memset(&event, 0x5a, sizeof(event));
	KUNIT_ASSERT_EQ(test, vt_eq_sread(vt_of(test)->eq, &got, &event,
					  sizeof(event.cm) + 3, 0),
			(ssize_t)sizeof(event.cm) + 3);

	vt_free_later(test, event.cm.info);
	KUNIT_EXPECT_EQ(test, got, FI_CONNREQ);
	KUNIT_EXPECT_TRUE(test, vt_filled(event.cm.data, 3, 9));
	KUNIT_EXPECT_EQ(test, event.cm.data[3], 0x5a);
}

static void the_limit_of_data_can_be_asked_for(struct kunit *test)
{
	size_t size = 0, len = sizeof(size);
	struct vt_end end = {};

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	KUNIT_EXPECT_EQ(test, size, VT_CM_DATA);
	size = 0;
	KUNIT_EXPECT_EQ(test, fi_getopt(&vt_of(test)->pep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	KUNIT_EXPECT_EQ(test, size, VT_CM_DATA);
}

static void too_much_data_is_refused_and_nothing_else_changes(struct kunit *test)
{
	u8 data[VT_CM_DATA + 1] = {};
	struct vt_pair pair = {};
	struct fi_info *info;
	union vt_event event;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &pair.a, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_connect(pair.a.ep, &vt_of(test)->name, data,
					 sizeof(data)), -EINVAL);
	vt_connect(test, &pair.a, NULL, 0);
	info = vt_connreq(test, NULL);
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, data,
					sizeof(data)), -EINVAL);
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, data, sizeof(data)),
			-EINVAL);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, &event);

	vt_ping(test, &pair.a, &pair.b);
}

static void two_requests_at_once_are_served_in_any_order(struct kunit *test)
{
	struct vt_pair one = {}, two = {};
	union vt_event event;
	struct fi_info *info[2];
	u8 who[2];
	int i;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &one.a, &vt_default_kind);
	vt_client(test, &two.a, &vt_default_kind);
	vt_connect(test, &one.a, "\1", 1);
	vt_connect(test, &two.a, "\2", 1);
	for (i = 0; i < 2; i++) {
		info[i] = vt_connreq(test, &event);
		who[i] = event.cm.data[0];
	}
	KUNIT_ASSERT_EQ(test, who[0] + who[1], 3);

	/* The later request first */
	vt_end_open(test, who[1] == 2 ? &two.b : &one.b, info[1],
		    &vt_default_kind);
	vt_end_open(test, who[1] == 2 ? &one.b : &two.b, info[0],
		    &vt_default_kind);
	vt_accept(test, &two.b, NULL, 0);
	vt_accept(test, &one.b, NULL, 0);
	vt_event(test, one.a.eq, FI_CONNECTED, &event);
	vt_event(test, two.a.eq, FI_CONNECTED, &event);

	vt_ping(test, &one.a, &one.b);
	vt_ping(test, &two.b, &two.a);
}

static void many_connections_share_one_event_queue(struct kunit *test)
{
	struct vt_pair pair[4] = {};
	struct fid_eq *eq;
	int i;

	vt_serve(test, AF_INET, NULL);
	eq = vt_eq(test, 1);

	for (i = 0; i < ARRAY_SIZE(pair); i++) {
		pair[i].a.eq = eq;
		vt_join(test, &pair[i], &vt_default_kind);
	}
	for (i = 0; i < ARRAY_SIZE(pair); i++)
		vt_ping(test, &pair[i].a, &pair[i].b);
}

static void shutdown_is_told_to_both_ends_once(struct kunit *test)
{
	struct vt_pair pair = {};
	union vt_event event;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);

	vt_event(test, pair.b.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_PTR_EQ(test, event.cm.fid, &pair.b.ep->fid);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.b.ep, 0), 0);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static void closing_one_end_is_told_to_the_other(struct kunit *test)
{
	struct vt_pair pair = {};
	union vt_event event;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);

	vt_close(test, &pair.b.ep->fid);

	vt_event(test, pair.a.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_PTR_EQ(test, event.cm.fid, &pair.a.ep->fid);
	vt_no_event(test, pair.b.eq);
}

/* Either it never was a connection, or it was one that ended */
/*
 * What a neighbour has on a new link address: rdma_cm ends the connections that were
 * made to the old one from here.  It does not see iWARP's, which TCP moves along.
 */
static void a_new_link_address_of_the_peer_is_a_shutdown(struct kunit *test)
{
	const struct sockaddr_in *name = (void *)&vt_of(test)->name;
	struct vt_pair pair = {};
	struct neighbour *neigh;
	union vt_event event;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	neigh = kunit_kzalloc(test, sizeof(*neigh) + sizeof(name->sin_addr),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, neigh);
	neigh->tbl = &arp_tbl;
	neigh->dev = ip_dev_find(&init_net, name->sin_addr.s_addr);
	KUNIT_ASSERT_NOT_NULL(test, neigh->dev);
	memcpy(neigh->primary_key, &name->sin_addr, sizeof(name->sin_addr));
	memset(neigh->ha, 0x6e, sizeof(neigh->ha));

	call_netevent_notifiers(NETEVENT_NEIGH_UPDATE, neigh);
	dev_put(neigh->dev);

	if (vt_is_iwarp(test)) {
		vt_ping(test, &pair.a, &pair.b);
		return;
	}
	vt_event(test, pair.a.eq, FI_SHUTDOWN, &event);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, &event);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static void expect_short_life(struct kunit *test, struct vt_end *end)
{
	struct fi_eq_err_entry error = {};
	union vt_event event;
	ssize_t ret;
	u32 got;

	ret = vt_eq_sread(end->eq, &got, &event, sizeof(event), 0);
	if (ret == -FI_EAVAIL) {
		KUNIT_EXPECT_GT(test, fi_eq_readerr(end->eq, &error, 0), 0);
	} else {
		KUNIT_ASSERT_GT(test, ret, 0);
		KUNIT_ASSERT_EQ(test, got, FI_CONNECTED);
		vt_event(test, end->eq, FI_SHUTDOWN, &event);
	}
	vt_no_event(test, end->eq);
}

static void an_accept_followed_by_a_close_is_no_refusal(struct kunit *test)
{
	struct vt_pair pair = {};
	int i;

	vt_serve(test, AF_INET, NULL);

	for (i = 0; i < 8; i++) {
		vt_client(test, &pair.a, &vt_default_kind);
		vt_connect(test, &pair.a, NULL, 0);
		vt_end_open(test, &pair.b, vt_connreq(test, NULL),
			    &vt_default_kind);
		KUNIT_ASSERT_EQ(test, fi_accept(pair.b.ep, NULL, 0), 0);
		vt_end_close(test, &pair.b);
		expect_short_life(test, &pair.a);
		vt_end_close(test, &pair.a);
	}
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE_PARAM(connect_and_accept_make_a_connection,
			 vt_family_gen_params),
	KUNIT_CASE_PARAM(connect_without_address_goes_to_the_infos,
			 vt_family_gen_params),
	KUNIT_CASE(request_is_for_the_passive_endpoints_domain),
	KUNIT_CASE_PARAM(names_of_both_ends_agree, vt_family_gen_params),
	KUNIT_CASE(accepting_end_of_a_link_local_connection_has_its_scope),
	KUNIT_CASE_PARAM(short_buffers_for_names_learn_the_length,
			 vt_family_gen_params),
	KUNIT_CASE(an_unconnected_endpoint_has_no_peer),
	KUNIT_CASE_SLOW(data_of_every_length_travels_both_ways),
	KUNIT_CASE(data_that_does_not_fit_the_event_is_cut),
	KUNIT_CASE(the_limit_of_data_can_be_asked_for),
	KUNIT_CASE(too_much_data_is_refused_and_nothing_else_changes),
	KUNIT_CASE(two_requests_at_once_are_served_in_any_order),
	KUNIT_CASE(many_connections_share_one_event_queue),
	KUNIT_CASE(shutdown_is_told_to_both_ends_once),
	KUNIT_CASE(closing_one_end_is_told_to_the_other),
	KUNIT_CASE(a_new_link_address_of_the_peer_is_a_shutdown),
	KUNIT_CASE(an_accept_followed_by_a_close_is_no_refusal),
	{}
};

struct kunit_suite kofi_verbs_cm_suite = {
	.name		= "kofi_verbs_cm",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= cm_cases,
};
