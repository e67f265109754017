// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of RDMA devices.
 *
 * The device itself is the witness: it is found by its name among those that
 * rdma_cm knows, and asked with the calls of ib_core.
 */
#include <linux/completion.h>
#include <linux/in6.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "verbs.h"

#define VT_NODE_LEN	48
#define VT_PORT		7471

struct vt_family {
	const char	*name;
	int		family;
	u32		format;
};

static const struct vt_family vt_families[] = {
	{ "IPv4", AF_INET, FI_SOCKADDR_IN },
	{ "IPv6", AF_INET6, FI_SOCKADDR_IN6 },
};

KUNIT_ARRAY_PARAM_DESC(vt_family, vt_families, name);

static int vt_ignore(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

static void vt_destroy_id(void *id)
{
	rdma_destroy_id(id);
}

/* The id holds the device for as long as the case lasts */
static struct rdma_cm_id *vt_device_id(struct kunit *test, const struct fi_info *info)
{
	struct rdma_cm_id *id;

	id = rdma_create_id(&init_net, vt_ignore, NULL, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_destroy_id, id), 0);
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(id, info->src_addr), 0);
	KUNIT_ASSERT_NOT_NULL(test, id->device);
	return id;
}

static void vt_node(const struct fi_info *info, char *node)
{
	scnprintf(node, VT_NODE_LEN, "%pISc", info->src_addr);
}

static u16 vt_port_of(const void *addr)
{
	const struct sockaddr_in6 *sin6 = addr;

	/* Both families have it in the same place */
	return ntohs(sin6->sin6_port);
}

/* Ports do not count */
static bool vt_same_host(const void *a, const void *b)
{
	union ib_gid gid_a, gid_b;

	rdma_ip2gid((struct sockaddr *)a, &gid_a);
	rdma_ip2gid((struct sockaddr *)b, &gid_b);
	return !memcmp(&gid_a, &gid_b, sizeof(gid_a));
}

static int vt_infos_with_gid(const struct fi_info *info, const union ib_gid *gid)
{
	union ib_gid own;
	int count = 0;

	for (; info; info = info->next) {
		rdma_ip2gid(info->src_addr, &own);
		count += !memcmp(&own, gid, sizeof(own));
	}
	return count;
}

static void getinfo_reports_every_address_of_the_device_once(struct kunit *test)
{
	struct fi_info *list, *info;
	struct rdma_cm_id *id;
	struct ib_port_attr port;
	union ib_gid gid, own;
	int i, seen = 0;

	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, NULL, &list), 0);
	id = vt_device_id(test, list);
	KUNIT_ASSERT_EQ(test, ib_query_port(id->device, id->port_num, &port), 0);

	/* GIDs of iWARP have nothing to do with addresses of IP */
	if (list->ep_attr->protocol == FI_PROTO_IWARP)
		port.gid_tbl_len = 0;
	for (i = 0; i < port.gid_tbl_len; i++) {
		if (rdma_query_gid(id->device, id->port_num, i, &gid) || rdma_is_zero_gid(&gid))
			continue;
		seen++;
		KUNIT_EXPECT_EQ_MSG(test, vt_infos_with_gid(list, &gid), 1,
				    "GID %d: %pI6c", i, gid.raw);
	}
	KUNIT_EXPECT_EQ(test, seen > 0, port.gid_tbl_len > 0);
	for (info = list; info; info = info->next) {
		rdma_ip2gid(info->src_addr, &own);
		KUNIT_EXPECT_EQ_MSG(test, vt_infos_with_gid(list, &own), 1, "%pIS", info->src_addr);
	}
}

static void getinfo_puts_ipv4_before_ipv6(struct kunit *test)
{
	bool v6 = false;
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, NULL, &info), 0);
	KUNIT_EXPECT_EQ(test, info->addr_format, FI_SOCKADDR_IN);

	for (; info; info = info->next) {
		if (info->addr_format == FI_SOCKADDR_IN6)
			v6 = true;
		else
			KUNIT_EXPECT_FALSE(test, v6);
	}
	KUNIT_EXPECT_TRUE(test, v6);
}

static void link_local_addresses_carry_their_interface(struct kunit *test)
{
	const struct sockaddr_in6 *sin6;
	struct fi_info *info;
	int seen = 0;

	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, NULL, &info), 0);

	for (; info; info = info->next) {
		sin6 = info->src_addr;
		if (vt_is_global(info))
			continue;
		seen++;
		KUNIT_EXPECT_NE(test, sin6->sin6_scope_id, 0);
	}
	KUNIT_EXPECT_GT(test, seen, 0);
}

static void attributes_are_those_of_the_device(struct kunit *test)
{
	struct fi_info *info = vt_local(test, AF_INET, NULL);
	struct rdma_cm_id *id = vt_device_id(test, info);
	const struct ib_device_attr *attrs = &id->device->attrs;
	const struct fi_domain_attr *domain = info->domain_attr;
	struct ib_port_attr port;

	KUNIT_ASSERT_EQ(test, ib_query_port(id->device, id->port_num, &port), 0);

	KUNIT_EXPECT_STREQ(test, domain->name, dev_name(&id->device->dev));
	KUNIT_EXPECT_EQ(test, domain->cq_cnt, (size_t)attrs->max_cq);
	KUNIT_EXPECT_EQ(test, domain->ep_cnt, (size_t)attrs->max_qp);
	/* Those of each endpoint: for sends, receives, reads and writes */
	KUNIT_EXPECT_EQ(test, domain->cntr_cnt, 4 * (size_t)attrs->max_qp);
	KUNIT_EXPECT_EQ(test, domain->tx_ctx_cnt, (size_t)attrs->max_qp);
	KUNIT_EXPECT_EQ(test, domain->rx_ctx_cnt, (size_t)attrs->max_qp);
	KUNIT_EXPECT_EQ(test, domain->mr_cnt, (size_t)attrs->max_mr);
	KUNIT_EXPECT_EQ(test, domain->mr_iov_limit, (size_t)attrs->max_fast_reg_page_list_len);
	if (info->ep_attr->protocol == FI_PROTO_IWARP)
		KUNIT_EXPECT_LE(test, info->ep_attr->max_msg_size, (size_t)port.max_msg_sz);
	else
		KUNIT_EXPECT_EQ(test, info->ep_attr->max_msg_size, (size_t)port.max_msg_sz);
	KUNIT_EXPECT_LE(test, info->tx_attr->size, (size_t)attrs->max_qp_wr);
	KUNIT_EXPECT_LE(test, info->rx_attr->size, (size_t)attrs->max_qp_wr);
	KUNIT_EXPECT_LE(test, info->tx_attr->iov_limit, (size_t)attrs->max_send_sge);
	KUNIT_EXPECT_LE(test, info->rx_attr->iov_limit, (size_t)attrs->max_recv_sge);
}

/* What a client can learn of the wire, and nothing else tells it */
static void attributes_tell_the_protocols_apart(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	struct fi_info *info = vt_local(test, AF_INET, NULL);
	struct rdma_cm_id *id = vt_device_id(test, info);
	bool iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	u64 order = FI_ORDER_SAW | FI_ORDER_SAS;

	if (!iwarp)
		order |= FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS |
			 FI_ORDER_WAW | FI_ORDER_WAS;
	KUNIT_EXPECT_EQ(test, info->ep_attr->protocol,
			iwarp ? FI_PROTO_IWARP : FI_PROTO_RDMA_CM_IB_RC);
	KUNIT_EXPECT_EQ(test, info->ep_attr->protocol_version, 1);
	KUNIT_EXPECT_EQ(test, info->domain_attr->cq_data_size, iwarp ? 0 : 4);
	KUNIT_EXPECT_EQ(test, info->ep_attr->max_order_waw_size,
			iwarp ? 0 : info->ep_attr->max_msg_size);
	KUNIT_EXPECT_EQ(test, info->domain_attr->resource_mgmt,
			iwarp ? FI_RM_DISABLED : FI_RM_ENABLED);
	KUNIT_EXPECT_EQ(test, info->tx_attr->msg_order, order);
	KUNIT_EXPECT_EQ(test, info->rx_attr->msg_order, order);
	KUNIT_EXPECT_EQ(test, !!(info->caps & FI_FENCE), !iwarp);
	/* A read that begins and ends within pages is as long as that */
	if (iwarp)
		KUNIT_EXPECT_EQ(test, info->ep_attr->max_msg_size, SZ_8M);
	/* All capabilities; the lowest bit is none */
	hints->caps = 0;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, (info->caps | info->tx_attr->caps | info->rx_attr->caps) & 1, 0);
}

static void attributes_describe_connected_messages(struct kunit *test)
{
	struct fi_info *info = vt_local(test, AF_INET, NULL);

	KUNIT_EXPECT_EQ(test, info->ep_attr->type, FI_EP_MSG);
	KUNIT_EXPECT_EQ(test, info->ep_attr->tx_ctx_cnt, 1);
	KUNIT_EXPECT_EQ(test, info->ep_attr->rx_ctx_cnt, 1);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_ep_tx_ctx, 1);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_ep_rx_ctx, 1);
	KUNIT_EXPECT_EQ(test, info->caps & (FI_MSG | FI_SEND | FI_RECV),
			FI_MSG | FI_SEND | FI_RECV);
	KUNIT_EXPECT_EQ(test, info->caps & FI_TAGGED, 0);
	KUNIT_EXPECT_EQ(test, info->mode, 0);
	KUNIT_EXPECT_GT(test, info->tx_attr->inject_size, 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->op_flags, 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->threading, FI_THREAD_SAFE);
	KUNIT_EXPECT_EQ(test, info->domain_attr->control_progress, FI_PROGRESS_AUTO);
	KUNIT_EXPECT_EQ(test, info->domain_attr->data_progress, FI_PROGRESS_AUTO);
	KUNIT_EXPECT_EQ(test, info->domain_attr->caps, FI_LOCAL_COMM | FI_REMOTE_COMM);
	/* All of what an answer brings, if FI_OPT_CM_DATA_RAW is set */
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_err_data, 196);
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, "verbs");
	KUNIT_EXPECT_PTR_EQ(test, info->fabric_attr->net, &init_net);
}

/* Addresses in one InfiniBand subnet, and all of iWARP, have one */
static void the_name_of_the_fabric_is_that_of_the_subnet(struct kunit *test)
{
	struct fi_info *info = vt_local(test, AF_INET, NULL);
	struct rdma_cm_id *id = vt_device_id(test, info);
	char name[FI_NAME_MAX] = "Ethernet-iWARP";
	union ib_gid gid;

	if (!rdma_protocol_iwarp(id->device, id->port_num)) {
		KUNIT_ASSERT_EQ(test, rdma_query_gid(id->device, id->port_num, 0, &gid), 0);
		snprintf(name, sizeof(name), "IB-0x%llx", be64_to_cpu(gid.global.subnet_prefix));
	}
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->name, name);
}

static void the_nic_is_the_device(struct kunit *test)
{
	struct fi_info *info = vt_local(test, AF_INET, NULL);
	struct rdma_cm_id *id = vt_device_id(test, info);
	const struct fi_device_attr *device = info->nic->device_attr;
	const struct fi_link_attr *link = info->nic->link_attr;
	char text[IB_FW_VERSION_NAME_MAX] = "";
	struct ib_port_attr port;

	KUNIT_ASSERT_EQ(test, ib_query_port(id->device, id->port_num, &port), 0);
	KUNIT_EXPECT_STREQ(test, device->name, dev_name(&id->device->dev));
	ib_get_device_fw_str(id->device, text);
	KUNIT_EXPECT_STREQ(test, device->firmware, text);
	snprintf(text, sizeof(text), "0x%04x", id->device->attrs.vendor_part_id);
	KUNIT_EXPECT_STREQ(test, device->device_id, text);
	snprintf(text, sizeof(text), "%u", id->device->attrs.hw_ver);
	KUNIT_EXPECT_STREQ(test, device->device_version, text);
	snprintf(text, sizeof(text), "0x%04x", id->device->attrs.vendor_id);
	KUNIT_EXPECT_STREQ(test, device->vendor_id, text);
	KUNIT_EXPECT_EQ(test, info->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
	KUNIT_EXPECT_EQ(test, link->mtu, ib_mtu_enum_to_int(port.active_mtu));
	KUNIT_EXPECT_EQ(test, link->state, FI_LINK_UP);
	KUNIT_EXPECT_STREQ(test, link->network_type, "Ethernet");
}

static void source_node_names_one_address(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct fi_info *own = vt_local(test, param->family, NULL), *info;
	char node[VT_NODE_LEN];

	vt_node(own, node);
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, node, VT_PORT, FI_SOURCE, NULL, &info), 0);

	KUNIT_EXPECT_NULL(test, info->next);
	KUNIT_EXPECT_EQ(test, info->addr_format, param->format);
	KUNIT_ASSERT_EQ(test, info->src_addrlen, own->src_addrlen);
	KUNIT_EXPECT_EQ(test, vt_port_of(info->src_addr), VT_PORT);
	KUNIT_EXPECT_NULL(test, info->dest_addr);
	KUNIT_EXPECT_TRUE(test, vt_same_host(info->src_addr, own->src_addr));
}

static void source_service_alone_sets_the_port_of_all(struct kunit *test)
{
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, VT_PORT, FI_SOURCE, NULL, &info), 0);

	for (; info; info = info->next)
		KUNIT_EXPECT_EQ(test, vt_port_of(info->src_addr), VT_PORT);
}

/* Of its family, with its port */
static void wildcard_address_of_the_hints_names_all(struct kunit *test)
{
	static const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(VT_PORT) };
	struct fi_info *hints = vt_hints(test), *info;

	hints->src_addr = kmemdup(&any, sizeof(any), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->src_addr);
	hints->src_addrlen = sizeof(any);
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);

	for (; info; info = info->next) {
		KUNIT_EXPECT_EQ(test, info->addr_format, FI_SOCKADDR_IN);
		KUNIT_EXPECT_EQ(test, vt_port_of(info->src_addr), VT_PORT);
	}
}

static void check_way_to(struct kunit *test, const struct fi_info *info,
			 const struct fi_info *peer, u16 port)
{
	KUNIT_EXPECT_NULL(test, info->next);
	KUNIT_ASSERT_NOT_NULL(test, info->dest_addr);
	KUNIT_EXPECT_EQ(test, info->dest_addrlen, peer->src_addrlen);
	KUNIT_EXPECT_EQ(test, vt_port_of(info->dest_addr), port);
	KUNIT_EXPECT_TRUE(test, vt_same_host(info->dest_addr, peer->src_addr));
	KUNIT_ASSERT_NOT_NULL(test, info->src_addr);
	KUNIT_EXPECT_EQ(test, vt_port_of(info->src_addr), 0);
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name, peer->domain_attr->name);
}

static void node_names_the_peer_and_finds_the_source(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct fi_info *peer = vt_local(test, param->family, NULL), *info;
	char node[VT_NODE_LEN];

	vt_node(peer, node);
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, node, VT_PORT, 0, NULL, &info), 0);

	check_way_to(test, info, peer, VT_PORT);
}

static void dest_addr_of_the_hints_names_the_peer(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct fi_info *peer = vt_local(test, param->family, NULL), *info;
	struct fi_info *hints = vt_hints(test);

	hints->addr_format = param->format;
	hints->dest_addr = kmemdup(peer->src_addr, peer->src_addrlen, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->dest_addr);
	hints->dest_addrlen = peer->src_addrlen;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);

	check_way_to(test, info, peer, 0);
}

static void address_format_of_the_hints_selects(struct kunit *test)
{
	const struct vt_family *param = test->param_value;
	struct fi_info *hints = vt_hints(test), *info;

	hints->addr_format = param->format;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);

	for (; info; info = info->next)
		KUNIT_EXPECT_EQ(test, info->addr_format, param->format);
}

static void hints_raise_sizes_above_the_defaults(struct kunit *test)
{
	struct fi_info *def = vt_local(test, AF_INET, NULL);
	struct fi_info *hints = vt_hints(test), *info;

	hints->tx_attr->size = 2 * def->tx_attr->size;
	hints->rx_attr->size = 3 * def->rx_attr->size;
	hints->tx_attr->iov_limit = def->tx_attr->iov_limit + 1;
	hints->rx_attr->iov_limit = def->rx_attr->iov_limit + 2;
	info = vt_local(test, AF_INET, hints);

	KUNIT_EXPECT_EQ(test, info->tx_attr->size, hints->tx_attr->size);
	KUNIT_EXPECT_EQ(test, info->rx_attr->size, hints->rx_attr->size);
	KUNIT_EXPECT_EQ(test, info->tx_attr->iov_limit, hints->tx_attr->iov_limit);
	KUNIT_EXPECT_EQ(test, info->rx_attr->iov_limit, hints->rx_attr->iov_limit);
}

struct vt_hint {
	const char	*name;
	void		(*set)(struct fi_info *hints);
};

static void wish_unknown_domain(struct fi_info *hints)
{
	hints->domain_attr->name = kstrdup("no-such-device", GFP_KERNEL);
}

static void wish_rma(struct fi_info *hints)
{
	hints->caps |= FI_RMA;
}

static void wish_tagged(struct fi_info *hints)
{
	hints->caps |= FI_TAGGED;
}

static void wish_datagrams(struct fi_info *hints)
{
	hints->ep_attr->type = FI_EP_DGRAM;
}

static void wish_endless_queue(struct fi_info *hints)
{
	hints->tx_attr->size = 1UL << 30;
}

static void wish_endless_list(struct fi_info *hints)
{
	hints->rx_attr->iov_limit = 4096;
}

static void wish_large_inject(struct fi_info *hints)
{
	hints->tx_attr->inject_size = 1UL << 20;
}

static void wish_wide_data(struct fi_info *hints)
{
	hints->domain_attr->cq_data_size = 8;
}

static void wish_huge_message(struct fi_info *hints)
{
	hints->ep_attr->max_msg_size = 1UL << 40;
}

static void wish_other_protocol(struct fi_info *hints)
{
	hints->ep_attr->protocol = FI_PROTO_SOCK_TCP;
}

static const struct vt_hint vt_too_much[] = {
	{ "unknown domain", wish_unknown_domain },
	{ "RMA", wish_rma },
	{ "tagged", wish_tagged },
	{ "datagrams", wish_datagrams },
	{ "queue depth", wish_endless_queue },
	{ "list length", wish_endless_list },
	{ "inject size", wish_large_inject },
	{ "CQ data size", wish_wide_data },
	{ "message size", wish_huge_message },
	{ "protocol", wish_other_protocol },
};

KUNIT_ARRAY_PARAM_DESC(vt_hint, vt_too_much, name);

static void what_no_device_has_is_not_found(struct kunit *test)
{
	const struct vt_hint *param = test->param_value;
	struct fi_info *hints = vt_hints(test), *info;

	param->set(hints);

	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
	KUNIT_EXPECT_NULL(test, info);
}

static void bad_nodes_are_refused(struct kunit *test)
{
	static const char * const nodes[] = {
		"", " ", "localhost", "10.77.0", "10.77.0.1 ", "10.77.0.1:80",
		"10.77.0.256", "fd77::1::2", "fe80::1%", "fe80::1%nosuchdev",
	};
	struct fi_info *info;
	int i;

	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		KUNIT_EXPECT_EQ_MSG(test, vt_getinfo(test, nodes[i], VT_PORT,
						     FI_SOURCE, NULL, &info),
				    -EINVAL, "as source: \"%s\"", nodes[i]);
		KUNIT_EXPECT_EQ_MSG(test, vt_getinfo(test, nodes[i], VT_PORT, 0, NULL, &info),
				    -EINVAL, "as peer: \"%s\"", nodes[i]);
	}
}

static void foreign_addresses_are_not_found(struct kunit *test)
{
	struct fi_info *info;

	KUNIT_EXPECT_EQ(test, vt_getinfo(test, "192.0.2.1", 0, FI_SOURCE, NULL, &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, "2001:db8::1", 0, FI_SOURCE, NULL, &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, "127.0.0.1", 0, FI_SOURCE, NULL, &info), -ENODATA);
}

static void peers_without_a_route_are_not_found(struct kunit *test)
{
	struct fi_info *info;

	KUNIT_EXPECT_EQ(test, vt_getinfo(test, "192.0.2.1", VT_PORT, 0, NULL, &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, "2001:db8::1", VT_PORT, 0, NULL, &info), -ENODATA);
}

static void a_port_in_use_does_not_hide_its_address(struct kunit *test)
{
	struct fi_info *info = vt_dup(test, vt_local(test, AF_INET, NULL));
	char node[VT_NODE_LEN];

	vt_node(info, node);
	/* 1 is a port as any other */
	((struct sockaddr_in *)info->src_addr)->sin_port = htons(1);
	vt_device_id(test, info);

	KUNIT_EXPECT_EQ(test, vt_getinfo(test, node, 1, FI_SOURCE, NULL, &info), 0);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE(getinfo_reports_every_address_of_the_device_once),
	KUNIT_CASE(getinfo_puts_ipv4_before_ipv6),
	KUNIT_CASE(link_local_addresses_carry_their_interface),
	KUNIT_CASE(attributes_are_those_of_the_device),
	KUNIT_CASE(attributes_describe_connected_messages),
	KUNIT_CASE(the_name_of_the_fabric_is_that_of_the_subnet),
	KUNIT_CASE(the_nic_is_the_device),
	KUNIT_CASE(attributes_tell_the_protocols_apart),
	KUNIT_CASE_PARAM(source_node_names_one_address, vt_family_gen_params),
	KUNIT_CASE(source_service_alone_sets_the_port_of_all),
	KUNIT_CASE(wildcard_address_of_the_hints_names_all),
	KUNIT_CASE_PARAM(node_names_the_peer_and_finds_the_source, vt_family_gen_params),
	KUNIT_CASE_PARAM(dest_addr_of_the_hints_names_the_peer, vt_family_gen_params),
	KUNIT_CASE_PARAM(address_format_of_the_hints_selects, vt_family_gen_params),
	KUNIT_CASE(hints_raise_sizes_above_the_defaults),
	KUNIT_CASE_PARAM(what_no_device_has_is_not_found, vt_hint_gen_params),
	KUNIT_CASE(bad_nodes_are_refused),
	KUNIT_CASE(foreign_addresses_are_not_found),
	KUNIT_CASE(peers_without_a_route_are_not_found),
	KUNIT_CASE(a_port_in_use_does_not_hide_its_address),
	{}
};

struct kunit_suite kofi_verbs_info_suite = {
	.name		= "kofi_verbs_info",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= info_cases,
};
