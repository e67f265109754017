// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_info: making, copying and freeing fi_info, numeric addresses and
 * texts of errors.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "../lib/probe.h"
#include "info.h"

KUNIT_DEFINE_ACTION_WRAPPER(info_free, fi_freeinfo, struct fi_info *);

struct fi_info *info_adopt(struct kunit *test, struct fi_info *info)
{
	KUNIT_ASSERT_NOT_NULL(test, info);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, info_free, info), 0);
	return info;
}

void info_set_addr(struct kunit *test, void **addr, size_t *len, const char *node, int port)
{
	struct sockaddr_storage *sa = kzalloc(sizeof(*sa), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sa);
	kfree(*addr);
	*addr = sa;
	*len = sizeof(*sa);
	KUNIT_ASSERT_EQ(test, kofi_parse_addr(&init_net, node, port, AF_UNSPEC, sa), 0);
}

static u8 *info_key(struct kunit *test, u8 value)
{
	u8 *key = kmalloc(16, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, key);
	memset(key, value, 16);
	return key;
}

void info_add_nic(struct kunit *test, struct fi_info *info)
{
	struct fid_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nic);
	info->nic = nic;
	nic->device_attr = kzalloc(sizeof(*nic->device_attr), GFP_KERNEL);
	nic->bus_attr = kzalloc(sizeof(*nic->bus_attr), GFP_KERNEL);
	nic->link_attr = kzalloc(sizeof(*nic->link_attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, nic->device_attr);
	KUNIT_ASSERT_NOT_NULL(test, nic->bus_attr);
	KUNIT_ASSERT_NOT_NULL(test, nic->link_attr);
}

static void info_fill_nic(struct kunit *test, struct fid_nic *nic)
{
	core_set_string(test, &nic->device_attr->name, "rxe0");
	core_set_string(test, &nic->device_attr->device_id, "0x1017");
	core_set_string(test, &nic->device_attr->device_version, "7");
	core_set_string(test, &nic->device_attr->vendor_id, "0x15b3");
	core_set_string(test, &nic->device_attr->driver, "rdma_rxe");
	core_set_string(test, &nic->device_attr->firmware, "1.2.3");
	core_set_string(test, &nic->link_attr->address, "fe80::1");
	core_set_string(test, &nic->link_attr->network_type, "Ethernet");
	nic->link_attr->mtu = 4096;
	nic->link_attr->speed = 100000000000;
	nic->link_attr->state = FI_LINK_UP;
	nic->bus_attr->bus_type = FI_BUS_PCI;
	nic->bus_attr->attr.pci.bus_id = 0x3b;
	nic->bus_attr->attr.pci.function_id = 1;
	nic->prov_attr = nic;
}

struct fi_info *info_full(struct kunit *test)
{
	struct fi_info *info = info_adopt(test, fi_allocinfo());

	info->caps = FI_MSG | FI_RMA;
	info->mode = FI_CONTEXT;
	info->addr_format = FI_SOCKADDR_IN;
	info->tx_attr->size = 384;
	info->rx_attr->size = 385;
	info->ep_attr->type = FI_EP_MSG;
	info_set_addr(test, &info->src_addr, &info->src_addrlen, "10.0.0.1", 1);
	info_set_addr(test, &info->dest_addr, &info->dest_addrlen, "10.0.0.2", 7471);
	info->ep_attr->auth_key = info_key(test, 0x55);
	info->ep_attr->auth_key_size = 16;
	info->domain_attr->auth_key = info_key(test, 0xaa);
	info->domain_attr->auth_key_size = 16;
	core_set_string(test, &info->domain_attr->name, "rxe0/1");
	core_set_string(test, &info->fabric_attr->name, "10.0.0.0/24");
	core_set_string(test, &info->fabric_attr->prov_name, "verbs");

	info_add_nic(test, info);
	info_fill_nic(test, info->nic);
	return info;
}

/* Same bytes in another place */
static void expect_copy(struct kunit *test, const void *copy, const void *original, size_t len)
{
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_PTR_NE(test, copy, original);
	KUNIT_EXPECT_MEMEQ(test, copy, original, len);
}

static void expect_string(struct kunit *test, const char *copy, const char *original)
{
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_PTR_NE(test, copy, original);
	KUNIT_EXPECT_STREQ(test, copy, original);
}

static void allocinfo_has_all_attributes(struct kunit *test)
{
	struct fi_info *info = info_adopt(test, fi_allocinfo());

	KUNIT_EXPECT_NOT_NULL(test, info->tx_attr);
	KUNIT_EXPECT_NOT_NULL(test, info->rx_attr);
	KUNIT_EXPECT_NOT_NULL(test, info->ep_attr);
	KUNIT_EXPECT_NOT_NULL(test, info->domain_attr);
	KUNIT_EXPECT_NOT_NULL(test, info->fabric_attr);
}

static void allocinfo_wishes_nothing(struct kunit *test)
{
	struct fi_info *info = info_adopt(test, fi_allocinfo());
	struct fi_info *offer = info_full(test);

	offer->mode = 0;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(offer, info));
}

static void dupinfo_copies_addresses_and_keys(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	struct fi_info *dup = info_adopt(test, fi_dupinfo(info));

	KUNIT_EXPECT_EQ(test, dup->caps, info->caps);
	KUNIT_EXPECT_EQ(test, dup->tx_attr->size, 384);
	KUNIT_EXPECT_EQ(test, dup->rx_attr->size, 385);
	expect_copy(test, dup->src_addr, info->src_addr, info->src_addrlen);
	expect_copy(test, dup->dest_addr, info->dest_addr, info->dest_addrlen);
	expect_copy(test, dup->ep_attr->auth_key, info->ep_attr->auth_key, 16);
	expect_copy(test, dup->domain_attr->auth_key, info->domain_attr->auth_key, 16);
}

static void dupinfo_copies_names(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	struct fi_info *dup = info_adopt(test, fi_dupinfo(info));

	expect_string(test, dup->domain_attr->name, info->domain_attr->name);
	expect_string(test, dup->fabric_attr->name, info->fabric_attr->name);
	expect_string(test, dup->fabric_attr->prov_name, info->fabric_attr->prov_name);
}

static void dupinfo_copies_the_nic(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	struct fi_info *dup = info_adopt(test, fi_dupinfo(info));
	struct fid_nic *copy = dup->nic, *nic = info->nic;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_PTR_NE(test, copy, nic);
	expect_copy(test, copy->bus_attr, nic->bus_attr, sizeof(*nic->bus_attr));
	expect_string(test, copy->device_attr->name, nic->device_attr->name);
	expect_string(test, copy->device_attr->device_id, nic->device_attr->device_id);
	expect_string(test, copy->device_attr->device_version, nic->device_attr->device_version);
	expect_string(test, copy->device_attr->vendor_id, nic->device_attr->vendor_id);
	expect_string(test, copy->device_attr->driver, nic->device_attr->driver);
	expect_string(test, copy->device_attr->firmware, nic->device_attr->firmware);
	expect_string(test, copy->link_attr->address, nic->link_attr->address);
	expect_string(test, copy->link_attr->network_type, nic->link_attr->network_type);
	KUNIT_EXPECT_EQ(test, copy->link_attr->speed, nic->link_attr->speed);
}

static void dupinfo_leaves_the_providers_nic_data_behind(struct kunit *test)
{
	struct fi_info *dup = info_adopt(test, fi_dupinfo(info_full(test)));

	KUNIT_EXPECT_NULL(test, dup->nic->prov_attr);
	KUNIT_EXPECT_EQ(test, dup->nic->fid.fclass, FI_CLASS_NIC);
}

static void dupinfo_keeps_what_belongs_to_others(struct kunit *test)
{
	struct fi_info *info = info_adopt(test, fi_allocinfo());
	struct fid_fabric fabric;
	struct fid_domain domain;
	struct fi_info *dup;

	info->handle = &domain.fid;
	info->domain_attr->domain = &domain;
	info->fabric_attr->fabric = &fabric;
	info->fabric_attr->net = &init_net;
	dup = info_adopt(test, fi_dupinfo(info));

	KUNIT_EXPECT_PTR_EQ(test, dup->handle, &domain.fid);
	KUNIT_EXPECT_PTR_EQ(test, dup->domain_attr->domain, &domain);
	KUNIT_EXPECT_PTR_EQ(test, dup->fabric_attr->fabric, &fabric);
	KUNIT_EXPECT_PTR_EQ(test, dup->fabric_attr->net, &init_net);
}

static void dupinfo_does_not_follow_next(struct kunit *test)
{
	struct fi_info *info = info_adopt(test, fi_allocinfo());
	struct fi_info *dup;

	info->next = fi_allocinfo();
	KUNIT_ASSERT_NOT_NULL(test, info->next);
	dup = info_adopt(test, fi_dupinfo(info));

	KUNIT_EXPECT_NULL(test, dup->next);
}

static void dupinfo_keeps_missing_pieces_missing(struct kunit *test)
{
	struct fi_info empty = {};
	struct fi_info *dup = info_adopt(test, fi_dupinfo(&empty));

	KUNIT_EXPECT_MEMEQ(test, dup, &empty, sizeof(empty));
}

static void dupinfo_survives_an_absurd_length(struct kunit *test)
{
	struct fi_info *info = info_full(test);

	info->ep_attr->auth_key_size = SIZE_MAX / 2;
	KUNIT_EXPECT_NULL(test, fi_dupinfo(info));
	info->ep_attr->auth_key_size = 16;
}

/* KASAN looks on */
static void a_copy_outlives_the_original(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	struct fi_info *first = fi_dupinfo(info);
	struct fi_info *second;

	KUNIT_ASSERT_NOT_NULL(test, first);
	second = fi_dupinfo(first);
	fi_freeinfo(first);
	info_adopt(test, second);

	expect_copy(test, second->dest_addr, info->dest_addr, info->dest_addrlen);
	expect_string(test, second->nic->device_attr->name, info->nic->device_attr->name);
}

/* kmemleak looks on */
static void freeinfo_frees_a_whole_list(struct kunit *test)
{
	struct fi_info *list = NULL, *info;
	int i;

	for (i = 0; i < 3; i++) {
		info = fi_dupinfo(info_full(test));
		if (!info)
			break;
		info->next = list;
		list = info;
	}
	fi_freeinfo(list);
	KUNIT_EXPECT_EQ(test, i, 3);
}

static const void *pieces[32];
static int pieces_freed;

static void see_kfree(void *unused, unsigned long site, const void *ptr)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(pieces) && ptr; i++) {
		if (ptr != pieces[i])
			continue;
		pieces[i] = NULL;
		pieces_freed++;
	}
}

/* A piece that the client has put there is not in the block of the info */
static void freeinfo_frees_pieces_of_the_client(struct kunit *test)
{
	struct vt_probe probe = { "kfree", see_kfree };
	struct fi_info *info = fi_allocinfo();
	struct fid_nic *nic;
	int i, err, count = 0;

	KUNIT_ASSERT_NOT_NULL(test, info);
	info_add_nic(test, info);
	nic = info->nic;
	info_fill_nic(test, nic);
	info->tx_attr = kzalloc(sizeof(*info->tx_attr), GFP_KERNEL);
	info->rx_attr = kzalloc(sizeof(*info->rx_attr), GFP_KERNEL);
	info->ep_attr = kzalloc(sizeof(*info->ep_attr), GFP_KERNEL);
	info->domain_attr = kzalloc(sizeof(*info->domain_attr), GFP_KERNEL);
	info->fabric_attr = kzalloc(sizeof(*info->fabric_attr), GFP_KERNEL);
	pieces[count++] = info->tx_attr;
	pieces[count++] = info->rx_attr;
	pieces[count++] = info->ep_attr;
	pieces[count++] = info->domain_attr;
	pieces[count++] = info->fabric_attr;
	pieces[count++] = nic;
	pieces[count++] = nic->bus_attr;
	pieces[count++] = nic->device_attr;
	pieces[count++] = nic->device_attr->name;
	pieces[count++] = nic->device_attr->device_id;
	pieces[count++] = nic->device_attr->device_version;
	pieces[count++] = nic->device_attr->vendor_id;
	pieces[count++] = nic->device_attr->driver;
	pieces[count++] = nic->device_attr->firmware;
	pieces[count++] = nic->link_attr;
	pieces[count++] = nic->link_attr->address;
	pieces[count++] = nic->link_attr->network_type;
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_NOT_NULL(test, pieces[i]);

	pieces_freed = 0;
	err = vt_probe_all(&probe, 1);
	KUNIT_EXPECT_EQ(test, err, 0);
	fi_freeinfo(info);
	if (!err)
		vt_unprobe_all(&probe, 1);
	KUNIT_EXPECT_EQ(test, pieces_freed, count);
}

static void freeinfo_takes_null(struct kunit *test)
{
	fi_freeinfo(NULL);
}

struct addr_case {
	const char	*node;
	int		service;
	int		family;
	int		err;
	const char	*text;
	u32		scope;
};

static const struct addr_case addr_cases[] = {
	{ "10.77.0.1", 7471, AF_UNSPEC, 0, "10.77.0.1:7471" },
	{ "10.77.0.1", 0, AF_INET, 0, "10.77.0.1:0" },
	{ "255.255.255.255", 65535, AF_UNSPEC, 0, "255.255.255.255:65535" },
	{ "fd77::1", 7471, AF_UNSPEC, 0, "[fd77::1]:7471" },
	{ "fd77::1", 1, AF_INET6, 0, "[fd77::1]:1" },
	{ "::ffff:10.0.0.1", 1, AF_UNSPEC, 0, "[::ffff:10.0.0.1]:1" },
	{ "fe80::1%lo", 1, AF_UNSPEC, 0, "[fe80::1]:1", 1 },
	{ "fe80::1%42", 1, AF_UNSPEC, 0, "[fe80::1]:1", 42 },
	{ "fd77::1%lo", 1, AF_UNSPEC, 0, "[fd77::1]:1" },
	{ NULL, 80, AF_INET, 0, "0.0.0.0:80" },
	{ NULL, 80, AF_INET6, 0, "[::]:80" },
	{ NULL, 80, AF_UNSPEC, -EINVAL },
	{ NULL, 80, AF_UNIX, -EINVAL },
	{ "10.77.0.1", 7471, AF_INET6, -EINVAL },
	{ "10.77.0.1", 7471, AF_UNIX, -EINVAL },
	{ "fd77::1", 7471, AF_INET, -EINVAL },
	{ "10.77.0.1", -1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.1", 65536, AF_UNSPEC, -EINVAL },
	{ "", 1, AF_UNSPEC, -EINVAL },
	{ "localhost", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.256", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.1.1", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.1:80", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.1 ", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.1\n", 1, AF_UNSPEC, -EINVAL },
	{ "10.77.0.1%lo", 1, AF_UNSPEC, -EINVAL },
	{ "00000000000000010.77.0.1", 1, AF_UNSPEC, -EINVAL },
	{ "fd77::1::2", 1, AF_UNSPEC, -EINVAL },
	{ "fd77:1", 1, AF_UNSPEC, -EINVAL },
	{ "[fd77::1]", 1, AF_UNSPEC, -EINVAL },
	{ "fd77::1 ", 1, AF_UNSPEC, -EINVAL },
	{ "fd77::1x", 1, AF_UNSPEC, -EINVAL },
	{ "fd77::12345", 1, AF_UNSPEC, -EINVAL },
	{ "fe80::1%", 1, AF_UNSPEC, -EINVAL },
	{ "fe80::1%nosuchdev", 1, AF_UNSPEC, -EINVAL },
	{ "fe80::1%anamethatistoolongforadevice", 1, AF_UNSPEC, -EINVAL },
	{ "fe80::1%0000000000000001", 1, AF_UNSPEC, -EINVAL },
	{ "fe80::1%4294967296", 1, AF_UNSPEC, -EINVAL },
};

static void addr_desc(const struct addr_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "\"%s\" port %d family %d",
		 param->node ?: "(null)", param->service, param->family);
	strreplace(desc, '\n', '$');
}

KUNIT_ARRAY_PARAM(addr, addr_cases, addr_desc);

static void parse_addr_takes_whole_numeric_addresses_only(struct kunit *test)
{
	const struct addr_case *param = test->param_value;
	struct sockaddr_storage addr;
	char text[64];

	KUNIT_ASSERT_EQ(test, kofi_parse_addr(&init_net, param->node, param->service, param->family,
					      &addr), param->err);
	if (param->err)
		return;
	snprintf(text, sizeof(text), "%pISpc", &addr);
	KUNIT_EXPECT_STREQ(test, text, param->text);
	if (addr.ss_family == AF_INET6)
		KUNIT_EXPECT_EQ(test, param->scope, ((struct sockaddr_in6 *)&addr)->sin6_scope_id);
}

static void parse_addr_needs_a_namespace_only_for_interface_names(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_EXPECT_EQ(test, kofi_parse_addr(NULL, "fe80::1%7", 1, AF_UNSPEC, &addr), 0);
	KUNIT_EXPECT_EQ(test, kofi_parse_addr(NULL, "fe80::1%lo", 1, AF_UNSPEC, &addr), -EINVAL);
}

static const int codes[] = {
	0, FI_EPERM, FI_ENOENT, FI_EINTR, FI_EIO, FI_E2BIG, FI_EBADF, FI_EAGAIN,
	FI_ENOMEM, FI_EACCES, FI_EFAULT, FI_EBUSY, FI_ENODEV, FI_EINVAL,
	FI_EMFILE, FI_ENOSPC, FI_ENOSYS, FI_EWOULDBLOCK, FI_ENOMSG, FI_ENODATA,
	FI_EPROTO, FI_EOVERFLOW, FI_EMSGSIZE, FI_ENOPROTOOPT, FI_EOPNOTSUPP,
	FI_EADDRINUSE, FI_EADDRNOTAVAIL, FI_ENETDOWN, FI_ENETUNREACH,
	FI_ECONNABORTED, FI_ECONNRESET, FI_ENOBUFS, FI_EISCONN, FI_ENOTCONN,
	FI_ESHUTDOWN, FI_ETIMEDOUT, FI_ECONNREFUSED, FI_EHOSTDOWN,
	FI_EHOSTUNREACH, FI_EALREADY, FI_EINPROGRESS, FI_EREMOTEIO,
	FI_ECANCELED, FI_EKEYREJECTED, EEXIST, EAFNOSUPPORT, EDEADLK, EPIPE,
	FI_EOTHER, FI_ETOOSMALL, FI_EOPBADSTATE, FI_EAVAIL, FI_EBADFLAGS,
	FI_ENOEQ, FI_EDOMAIN, FI_ENOCQ, FI_ECRC, FI_ETRUNC, FI_ENOKEY, FI_ENOAV,
	FI_EOVERRUN, FI_ENORX, FI_ENOMR, FI_EFIREWALLADDR,
};

static void code_desc(const int *code, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "code %d", *code);
}

KUNIT_ARRAY_PARAM(code, codes, code_desc);

static void strerror_knows_every_code_with_either_sign(struct kunit *test)
{
	int code = *(const int *)test->param_value;

	KUNIT_EXPECT_STRNEQ(test, fi_strerror(code), "Unknown error");
	KUNIT_EXPECT_PTR_EQ(test, fi_strerror(code), fi_strerror(-code));
}

static const int no_codes[] = { 58, 255, FI_ERRNO_MAX, 512, INT_MAX, INT_MIN };

KUNIT_ARRAY_PARAM(no_code, no_codes, code_desc);

static void strerror_says_so_when_a_code_is_unknown(struct kunit *test)
{
	int code = *(const int *)test->param_value;

	KUNIT_EXPECT_STREQ(test, fi_strerror(code), "Unknown error");
}

static void strerror_gives_each_code_a_text_of_its_own(struct kunit *test)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(codes); i++)
		for (j = 0; j < i; j++)
			if (codes[i] != codes[j])
				KUNIT_EXPECT_STRNEQ(test, fi_strerror(codes[i]),
						    fi_strerror(codes[j]));
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE(allocinfo_has_all_attributes),
	KUNIT_CASE(allocinfo_wishes_nothing),
	KUNIT_CASE(dupinfo_copies_addresses_and_keys),
	KUNIT_CASE(dupinfo_copies_names),
	KUNIT_CASE(dupinfo_copies_the_nic),
	KUNIT_CASE(dupinfo_leaves_the_providers_nic_data_behind),
	KUNIT_CASE(dupinfo_keeps_what_belongs_to_others),
	KUNIT_CASE(dupinfo_does_not_follow_next),
	KUNIT_CASE(dupinfo_keeps_missing_pieces_missing),
	KUNIT_CASE(dupinfo_survives_an_absurd_length),
	KUNIT_CASE(a_copy_outlives_the_original),
	KUNIT_CASE(freeinfo_frees_a_whole_list),
	KUNIT_CASE(freeinfo_frees_pieces_of_the_client),
	KUNIT_CASE(freeinfo_takes_null),
	KUNIT_CASE_PARAM(parse_addr_takes_whole_numeric_addresses_only, addr_gen_params),
	KUNIT_CASE(parse_addr_needs_a_namespace_only_for_interface_names),
	KUNIT_CASE_PARAM(strerror_knows_every_code_with_either_sign, code_gen_params),
	KUNIT_CASE_PARAM(strerror_says_so_when_a_code_is_unknown, no_code_gen_params),
	KUNIT_CASE(strerror_gives_each_code_a_text_of_its_own),
	{}
};

struct kunit_suite kofi_info_suite = {
	.name		= "kofi_info",
	.test_cases	= info_cases,
};
