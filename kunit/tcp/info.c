// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of addresses.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/fi_reason.h>
#include "tcp.h"

/* Lines of the list of datagram sockets, modulo 256 */
static int datagram_sockets(void)
{
	return vt_shell("exit $(wc -l </proc/net/udp)") >> 8;
}

/* The address of the loopback interface is 127.0.0.1, and all of 127.0.0.0/8 is reached there */
static void the_source_of_a_route_is_our_own_address(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG), *info = NULL;
	const struct sockaddr_in *src, *dest;
	int before = datagram_sockets();

	KUNIT_EXPECT_GT(test, before, 0);
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, "127.0.0.9", 4711, 0, hints, &info), 0);
	vt_free_later(test, info);
	/* The one that was connected to find it is gone */
	KUNIT_EXPECT_EQ(test, datagram_sockets(), before);
	src = info->src_addr;
	dest = info->dest_addr;
	KUNIT_ASSERT_NOT_NULL(test, src);
	KUNIT_ASSERT_NOT_NULL(test, dest);
	KUNIT_EXPECT_EQ(test, ntohl(src->sin_addr.s_addr), INADDR_LOOPBACK);
	KUNIT_EXPECT_EQ(test, ntohs(src->sin_port), 0);
	KUNIT_EXPECT_EQ(test, ntohl(dest->sin_addr.s_addr), INADDR_LOOPBACK + 8);
	KUNIT_EXPECT_EQ(test, ntohs(dest->sin_port), 4711);
}

#define ADDR	"10.99.0.1"
#define LIMIT	"only 256 addresses are listed; ask for others by themselves"
#define NO_TAGGED_RMA	"caps: FI_TAGGED, FI_TAGGED_RMA wanted, not offered"
#define REASON	ADDR ": an address of a VRF, or one that may not be used yet"

static void cleanup(void *unused)
{
	vt_shell("ip link del kofi0");
}

static void route_back(void *unused)
{
	vt_shell("ip route del unreachable " ADDR);
}

/* Results for all addresses; returns whether ADDR is among them */
static bool is_listed(struct kunit *test, struct fi_info *hints)
{
	struct fi_info *info = tcp_find(test, NULL, hints);
	const struct sockaddr_in *sin;
	bool listed = false;

	for (; info; info = info->next) {
		sin = info->src_addr;
		listed |= sin->sin_family == AF_INET && sin->sin_addr.s_addr == htonl(0x0a630001);
	}
	return listed;
}

/* Is this a reason why results for all addresses are not more? */
static bool is_reason(struct fi_info *hints, const char *text)
{
	struct fi_reason *reasons = kcalloc(8, sizeof(*reasons), GFP_KERNEL);
	bool found = false;
	int i;

	i = reasons ? fi_getinfo_why(VT_API, NULL, 0, 0, hints, reasons, 8) : 0;
	while (--i >= 0)
		found |= !strcmp(reasons[i].text, text);
	kfree(reasons);
	return found;
}

/* The provider has nothing and says why; the core would return this for any error of its */
static void expect_nothing(struct kunit *test, const char *node, u64 flags,
			   const struct fi_info *hints, const char *why)
{
	struct fi_reason *reasons = vt_buf(test, 8 * sizeof(*reasons));
	bool found = false;
	int err = 0, i;

	i = fi_getinfo_why(VT_API, node, 0, flags, hints, reasons, 8);
	while (--i >= 0) {
		if (reasons[i].kind == FI_REASON_ERROR)
			err = reasons[i].err;
		found |= !!strstr(reasons[i].text, why);
	}
	KUNIT_EXPECT_EQ(test, err, -ENODATA);
	KUNIT_EXPECT_TRUE_MSG(test, found, "%s", why);
}

static void what_has_no_results_is_no_failure(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, route_back, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("ip route add unreachable " ADDR), 0);
	expect_nothing(test, ADDR, 0, hints, ADDR ": no route to this address");
	expect_nothing(test, ADDR, FI_SOURCE, hints,
		       ADDR ": not an address of this network namespace");
	hints->tx_attr->tclass = FI_TC_LABEL + 99;
	expect_nothing(test, NULL, 0, hints, "unknown traffic class");
}

/*
 * As with an address of a VRF, for which the kernels that run this have no driver: an interface
 * has it, and the table of the namespace does not.
 */
static void an_address_that_no_socket_can_have_is_left_out(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG), *info = NULL;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cleanup, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("ip link add kofi0 type dummy && ip link set kofi0 up"), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("ip addr add " ADDR "/32 dev kofi0"), 0);
	KUNIT_EXPECT_TRUE(test, is_listed(test, hints));

	KUNIT_ASSERT_EQ(test, vt_shell("ip route del table local " ADDR), 0);
	KUNIT_EXPECT_FALSE(test, is_listed(test, hints));
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, ADDR, 0, FI_SOURCE, hints, &info), -ENODATA);
	KUNIT_EXPECT_TRUE(test, is_reason(hints, REASON));
}

/* Interfaces, networks and addresses that cleanup_places() removes */

#define PLACES	"ip link add kofi1 type dummy && ip link add kofi2 type dummy && " \
		"ip link set kofi1 up && ip link set kofi2 up && " \
		"ip addr add 10.99.1.1/24 dev kofi1 && ip addr add 10.99.1.2/24 dev kofi1 && " \
		"ip addr add 10.99.2.1/25 dev kofi2 && ip addr add fd99::1/64 dev kofi2 nodad"

static void cleanup_places(void *unused)
{
	vt_shell("ip link del kofi1");
	vt_shell("ip link del kofi2");
}

static void make_places(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cleanup_places, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(PLACES), 0);
}

/* Any name may be NULL */
static struct fi_info *find(struct kunit *test, const char *node, const char *fabric,
			    const char *domain)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG);

	hints->fabric_attr->name = fabric ? kstrdup(fabric, GFP_KERNEL) : NULL;
	hints->domain_attr->name = domain ? kstrdup(domain, GFP_KERNEL) : NULL;
	return tcp_find(test, node, hints);
}

static int length(const struct fi_info *info)
{
	int n = 0;

	for (; info; info = info->next)
		n++;
	return n;
}

static void a_fabric_is_a_network_and_a_domain_an_interface(struct kunit *test)
{
	static const struct {
		const char	*node;
		const char	*fabric;
		const char	*domain;
	} rows[] = {
		{ "10.99.1.1", "10.99.1.0/24", "kofi1" },
		{ "10.99.1.2", "10.99.1.0/24", "kofi1" },
		{ "10.99.2.1", "10.99.2.0/25", "kofi2" },
		{ "fd99::1", "fd99::/64", "kofi2" },
		{ "127.0.0.1", "127.0.0.0/8", "lo" },
		{ "127.0.0.9", "127.0.0.0/8", "lo" },
		{ "::1", "::1/128", "lo" },
	};
	struct fi_info *info;
	int i;

	make_places(test);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		info = find(test, rows[i].node, NULL, NULL);
		KUNIT_EXPECT_STREQ(test, info->fabric_attr->name, rows[i].fabric);
		KUNIT_EXPECT_STREQ(test, info->domain_attr->name, rows[i].domain);
	}
	/* Both addresses of the interface, of IPv4 */
	KUNIT_EXPECT_EQ(test, length(find(test, NULL, "10.99.1.0/24", "kofi1")), 2);
	KUNIT_EXPECT_EQ(test, length(find(test, NULL, "10.99.2.0/25", NULL)), 1);
	/* A wildcard is no address: each one is listed */
	KUNIT_EXPECT_EQ(test, length(find(test, "0.0.0.0", NULL, "kofi1")), 2);
}

static void expect_names(struct kunit *test, const struct fi_info *info, const char *fabric,
			 const char *domain)
{
	for (; info; info = info->next) {
		if (fabric)
			KUNIT_EXPECT_STREQ(test, info->fabric_attr->name, fabric);
		if (domain)
			KUNIT_EXPECT_STREQ(test, info->domain_attr->name, domain);
	}
}

static void the_name_of_the_provider_is_any_fabric_and_any_domain(struct kunit *test)
{
	struct fi_info *hints, *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	int all;

	make_places(test);
	all = length(find(test, NULL, NULL, NULL));
	KUNIT_EXPECT_GE(test, all, 5);
	info = find(test, NULL, NULL, "tcp");
	KUNIT_EXPECT_EQ(test, length(info), all);
	expect_names(test, info, NULL, "tcp");
	info = find(test, NULL, "tcp", "tcp");
	KUNIT_EXPECT_EQ(test, length(info), all);
	expect_names(test, info, "tcp", "tcp");

	/* Objects of these names find as much */
	KUNIT_ASSERT_EQ(test, fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	vt_adopt(test, &fabric->fid);
	KUNIT_ASSERT_EQ(test, fi_domain(fabric, info, &domain, NULL), 0);
	vt_adopt(test, &domain->fid);
	hints = fi_allocinfo();
	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->domain = domain;
	info = tcp_find(test, NULL, hints);
	KUNIT_EXPECT_EQ(test, length(info), all);
	expect_names(test, info, "tcp", "tcp");
}

/* The listener has each address of the machine; what is opened of one interface reaches another */
static void a_request_names_the_interface_that_it_came_to(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct sockaddr_in *to = (struct sockaddr_in *)&vt->name;
	struct vt_pair pair = {};
	struct fi_info *info;

	make_places(test);
	vt_open_info(test, find(test, "10.99.1.1", NULL, NULL));
	((struct sockaddr_in *)vt->info->src_addr)->sin_addr.s_addr = 0;
	vt_listen(test, vt_eq(test, 0));
	to->sin_addr.s_addr = htonl(0x0a630201);
	vt_client(test, &pair.a, &vt_default_kind);
	vt_connect(test, &pair.a, NULL, 0);
	info = vt_connreq(test, NULL);
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->name, "10.99.2.0/25");
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name, "kofi2");
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, NULL);
	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

#define MANY	"for i in $(seq 2); do for j in $(seq 140); do " \
		"echo addr add 10.98.$i.$j/32 dev kofi1; done; done | ip -batch -"

static void addresses_beyond_the_limit_are_not_left_out_without_a_word(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, 0, FI_EP_MSG);
	struct fi_info *info;

	make_places(test);
	KUNIT_EXPECT_FALSE(test, is_reason(hints, LIMIT));
	KUNIT_ASSERT_EQ(test, vt_shell(MANY), 0);
	KUNIT_EXPECT_TRUE(test, is_reason(hints, LIMIT));
	info = find(test, "10.98.2.140", NULL, NULL);
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->name, "10.98.2.140/32");
}

/* @node: any address of the family */
static bool finds_loopback(struct kunit *test, const char *node, u32 format)
{
	struct fi_info *info = tcp_find(test, node, tcp_hints(test, FI_MSG, FI_EP_MSG));
	const struct sockaddr_in6 *sin6;
	const struct sockaddr_in *sin;
	bool found = false;

	for (; info; info = info->next) {
		KUNIT_EXPECT_EQ(test, info->addr_format, format);
		sin = info->src_addr;
		sin6 = info->src_addr;
		found |= format == FI_SOCKADDR_IN6 ?
			 ipv6_addr_loopback(&sin6->sin6_addr) :
			 sin->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
	}
	return found;
}

static void a_family_has_its_own_loopback_address(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, finds_loopback(test, "0.0.0.0", FI_SOCKADDR_IN));
	KUNIT_EXPECT_TRUE(test, finds_loopback(test, "::", FI_SOCKADDR_IN6));
}

/* Peers may read and write tagged receives of endpoints without connections only */
static void a_connection_has_no_tagged_rma(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG), *info = NULL;

	hints->caps = FI_MSG | FI_RMA | FI_TAGGED | FI_TAGGED_RMA;
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, "127.0.0.1", 0, FI_SOURCE, hints, &info),
			-ENODATA);
	KUNIT_EXPECT_TRUE(test, is_reason(hints, NO_TAGGED_RMA));

	hints->ep_attr->type = FI_EP_RDM;
	info = tcp_find(test, "127.0.0.1", hints);
	KUNIT_EXPECT_EQ(test, info->ep_attr->type, FI_EP_RDM);
	KUNIT_EXPECT_TRUE(test, info->caps & FI_TAGGED_RMA);
}

static void an_endpoint_without_connections_has_attributes_of_its_own(struct kunit *test)
{
	const u64 order = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_SAS;
	static const u64 others[] = { FI_RMA_PMEM, FI_REMOTE_INV };
	struct fi_info *hints, *info, *none = NULL;
	int i;

	info = tcp_find(test, "127.0.0.1", tcp_hints(test, FI_TAGGED | FI_RMA, FI_EP_RDM));
	KUNIT_EXPECT_EQ(test, info->ep_attr->protocol, FI_PROTO_XNET);
	KUNIT_EXPECT_EQ(test, info->ep_attr->mem_tag_format, U64_MAX);
	KUNIT_EXPECT_EQ(test, info->tx_attr->msg_order, order);
	KUNIT_EXPECT_EQ(test, info->rx_attr->msg_order, order);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_ep_tx_ctx, 64);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_ep_rx_ctx, 64);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_ep_srx_ctx, 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_err_data, 0);
	KUNIT_EXPECT_TRUE(test, info->domain_attr->caps & FI_AV_USER_ID);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		hints = tcp_hints(test, FI_MSG | FI_RMA | others[i], FI_EP_RDM);
		KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, "127.0.0.1", 0, FI_SOURCE, hints, &none),
				-ENODATA);
	}
}

static void a_client_gets_the_sizes_and_the_classes_that_it_wants(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG), *info;

	hints->tx_attr->size = 1000;
	hints->rx_attr->size = 2000;
	hints->tx_attr->tclass = FI_TC_BULK_DATA;
	hints->domain_attr->tclass = FI_TC_LOW_LATENCY;
	info = tcp_find(test, "127.0.0.1", hints);
	KUNIT_EXPECT_EQ(test, info->tx_attr->size, 1000);
	KUNIT_EXPECT_EQ(test, info->rx_attr->size, 2000);
	KUNIT_EXPECT_EQ(test, info->tx_attr->tclass, FI_TC_BULK_DATA);
	KUNIT_EXPECT_EQ(test, info->domain_attr->tclass, FI_TC_LOW_LATENCY);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE(the_source_of_a_route_is_our_own_address),
	KUNIT_CASE(what_has_no_results_is_no_failure),
	KUNIT_CASE(an_address_that_no_socket_can_have_is_left_out),
	KUNIT_CASE(a_fabric_is_a_network_and_a_domain_an_interface),
	KUNIT_CASE(the_name_of_the_provider_is_any_fabric_and_any_domain),
	KUNIT_CASE(a_request_names_the_interface_that_it_came_to),
	KUNIT_CASE(addresses_beyond_the_limit_are_not_left_out_without_a_word),
	KUNIT_CASE(a_family_has_its_own_loopback_address),
	KUNIT_CASE(a_connection_has_no_tagged_rma),
	KUNIT_CASE(an_endpoint_without_connections_has_attributes_of_its_own),
	KUNIT_CASE(a_client_gets_the_sizes_and_the_classes_that_it_wants),
	{}
};

static struct kunit_suite info_suite = {
	.name		= "kofi_tcp_info",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= info_cases,
};

kunit_test_suite(info_suite);
