// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections over rdma_cm: addresses of a link, connection data, several at once, and their end.
 * What every provider has to do is in kunit/conformance/cm.c.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/arp.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "verbs.h"

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
	again = vt_dup(test, info);
	vt_end_open(test, &server, info, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_getname(&server.ep->fid, &name, &len), 0);
	KUNIT_EXPECT_EQ(test, name.sin6_scope_id, scope);

	again->handle = NULL;
	((struct sockaddr_in6 *)again->src_addr)->sin6_port = 0;
	vt_end_open(test, &back, again, &vt_default_kind);
}

/* At all addresses, whose devices it does not know */
static void a_listener_without_a_device_has_requests_of_each(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end client = {}, server = {};
	struct fi_info *info, *got;
	struct sockaddr_in any;
	size_t len = sizeof(any);

	vt_open(test, AF_INET, NULL);
	vt->eq = vt_eq(test, 0);
	info = vt_dup(test, vt->info);
	kfree(info->domain_attr->name);
	info->domain_attr->name = NULL;
	kfree(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	info->tx_attr->size = 7;
	info->rx_attr->size = 9;
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt->fabric, info, &vt->pep, NULL), 0);
	vt_adopt(test, &vt->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(vt->pep, &vt->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(vt->pep), 0);
	KUNIT_ASSERT_EQ(test, fi_getname(&vt->pep->fid, &any, &len), 0);
	memcpy(&vt->name, vt->info->src_addr, sizeof(any));
	((struct sockaddr_in *)&vt->name)->sin_port = any.sin_port;

	got = vt_dial(test, &client);
	KUNIT_EXPECT_STREQ(test, got->domain_attr->name, vt->info->domain_attr->name);
	KUNIT_EXPECT_EQ(test, got->tx_attr->size, 7);
	KUNIT_EXPECT_EQ(test, got->rx_attr->size, 9);
	KUNIT_EXPECT_EQ(test, got->caps, info->caps);
	KUNIT_EXPECT_PTR_EQ(test, got->fabric_attr->net, &init_net);
	KUNIT_EXPECT_EQ(test, got->fabric_attr->api_version, VT_API);
	KUNIT_EXPECT_MEMEQ(test, got->src_addr, &vt->name, sizeof(any));
	len = sizeof(any);
	KUNIT_ASSERT_EQ(test, fi_getname(&client.ep->fid, &any, &len), 0);
	KUNIT_EXPECT_EQ(test, got->dest_addrlen, len);
	KUNIT_EXPECT_EQ(test, ((struct sockaddr_in *)got->dest_addr)->sin_addr.s_addr,
			any.sin_addr.s_addr);
	vt_end_open(test, &server, got, &vt_default_kind);
	vt_accept(test, &server, NULL, 0);
	vt_event(test, client.eq, FI_CONNECTED, NULL);
	vt_ping(test, &client, &server);
}

/* However much room the address of the listener has had */
static void a_request_has_addresses_of_the_length_of_their_family(struct kunit *test)
{
	struct sockaddr_storage *addr = kzalloc(sizeof(*addr), GFP_KERNEL);
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fi_info *got;

	KUNIT_ASSERT_NOT_NULL(test, addr);
	vt_open(test, AF_INET, NULL);
	memcpy(addr, vt->info->src_addr, vt->info->src_addrlen);
	vt->info = vt_dup(test, vt->info);
	kfree(vt->info->src_addr);
	vt->info->src_addr = addr;
	vt->info->src_addrlen = sizeof(*addr);
	vt_listen(test, vt_eq(test, 0));
	got = vt_dial(test, &client);
	KUNIT_EXPECT_EQ(test, got->src_addrlen, sizeof(struct sockaddr_in));
	KUNIT_EXPECT_EQ(test, got->dest_addrlen, sizeof(struct sockaddr_in));
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
	KUNIT_ASSERT_EQ(test, vt_eq_sread(vt_of(test)->eq, &got, &event, sizeof(event.cm) + 3, 0),
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
	vt_end_open(test, who[1] == 2 ? &two.b : &one.b, info[1], &vt_default_kind);
	vt_end_open(test, who[1] == 2 ? &one.b : &two.b, info[0], &vt_default_kind);
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

/*
 * What a neighbour has on a new link address: rdma_cm ends the connections that were
 * made to the old one from here.  It does not see iWARP's, which TCP moves along.
 */
static void a_new_link_address_of_the_peer_is_a_shutdown(struct kunit *test)
{
	const struct sockaddr_in *name = (void *)&vt_of(test)->name;
	struct vt_pair pair = {};
	struct neighbour *neigh;

	vt_serve_pair(test, NULL, &pair);
	neigh = vt_buf(test, sizeof(*neigh) + sizeof(name->sin_addr));
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
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

/* Either it never was a connection, or it was one that ended */
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
		vt_end_open(test, &pair.b, vt_dial(test, &pair.a), &vt_default_kind);
		KUNIT_ASSERT_EQ(test, fi_accept(pair.b.ep, NULL, 0), 0);
		vt_end_close(test, &pair.b);
		expect_short_life(test, &pair.a);
		vt_end_close(test, &pair.a);
	}
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(accepting_end_of_a_link_local_connection_has_its_scope),
	KUNIT_CASE(a_listener_without_a_device_has_requests_of_each),
	KUNIT_CASE(a_request_has_addresses_of_the_length_of_their_family),
	KUNIT_CASE(data_that_does_not_fit_the_event_is_cut),
	KUNIT_CASE(the_limit_of_data_can_be_asked_for),
	KUNIT_CASE(two_requests_at_once_are_served_in_any_order),
	KUNIT_CASE(many_connections_share_one_event_queue),
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
