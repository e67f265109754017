// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_tostr: values and structures in words, and buffers too short.
 */
#include <linux/slab.h>
#include "info.h"

#define TEXT_MAX	8192
#define GUARD		0x5a

struct value_case {
	enum fi_type	type;
	u64		value;
	const char	*text;
};

static const struct value_case values[] = {
	{ FI_TYPE_EP_TYPE, FI_EP_MSG, "FI_EP_MSG" },
	{ FI_TYPE_EP_TYPE, 0, "FI_EP_UNSPEC" },
	{ FI_TYPE_EP_TYPE, 77, "unknown (0x4d)" },
	{ FI_TYPE_CAPS, 0, "" },
	{ FI_TYPE_CAPS, FI_MSG, "FI_MSG" },
	{ FI_TYPE_CAPS, FI_MSG | FI_RMA | FI_SEND, "FI_MSG, FI_RMA, FI_SEND" },
	{ FI_TYPE_CAPS, FI_DIRECTED_RECV, "FI_DIRECTED_RECV" },
	{ FI_TYPE_CAPS, FI_MSG | BIT_ULL(63),
	  "FI_MSG, 0x8000000000000000" },
	{ FI_TYPE_CAPS, BIT_ULL(62) | BIT_ULL(63), "0xc000000000000000" },
	{ FI_TYPE_OP_FLAGS, FI_INJECT | FI_COMPLETION,
	  "FI_COMPLETION, FI_INJECT" },
	{ FI_TYPE_OP_FLAGS, FI_CLAIM, "FI_CLAIM" },
	{ FI_TYPE_ADDR_FORMAT, FI_SOCKADDR_IN6, "FI_SOCKADDR_IN6" },
	{ FI_TYPE_ADDR_FORMAT, FI_SOCKADDR_IP, "FI_SOCKADDR_IP" },
	{ FI_TYPE_ADDR_FORMAT, 16, "unknown (0x10)" },
	{ FI_TYPE_THREADING, FI_THREAD_SAFE, "FI_THREAD_SAFE" },
	{ FI_TYPE_PROGRESS, FI_PROGRESS_AUTO, "FI_PROGRESS_AUTO" },
	{ FI_TYPE_PROTOCOL, FI_PROTO_RDMA_CM_IB_RC, "FI_PROTO_RDMA_CM_IB_RC" },
	{ FI_TYPE_PROTOCOL, FI_PROTO_LNX, "FI_PROTO_LNX" },
	{ FI_TYPE_PROTOCOL, U32_MAX, "unknown (0xffffffff)" },
	{ FI_TYPE_MSG_ORDER, FI_ORDER_SAS | FI_ORDER_ATOMIC_WAW,
	  "FI_ORDER_SAS, FI_ORDER_ATOMIC_WAW" },
	{ FI_TYPE_MODE, FI_RX_CQ_DATA, "FI_RX_CQ_DATA" },
	{ FI_TYPE_AV_TYPE, FI_AV_TABLE, "FI_AV_TABLE" },
	{ FI_TYPE_ATOMIC_TYPE, FI_UINT128, "FI_UINT128" },
	{ FI_TYPE_ATOMIC_OP, FI_CSWAP, "FI_CSWAP" },
	{ FI_TYPE_EQ_EVENT, FI_CONNECTED, "FI_CONNECTED" },
	{ FI_TYPE_CQ_EVENT_FLAGS, FI_RECV | FI_MSG, "FI_MSG, FI_RECV" },
	{ FI_TYPE_MR_MODE, FI_MR_PROV_KEY | FI_MR_VIRT_ADDR,
	  "FI_MR_VIRT_ADDR, FI_MR_PROV_KEY" },
	{ FI_TYPE_MR_MODE, BIT(31), "0x80000000" },
	{ FI_TYPE_HMEM_IFACE, FI_HMEM_SYSTEM, "FI_HMEM_SYSTEM" },
	{ FI_TYPE_CQ_FORMAT, FI_CQ_FORMAT_DATA, "FI_CQ_FORMAT_DATA" },
	{ FI_TYPE_CQ_WAIT_COND, FI_CQ_COND_THRESHOLD, "FI_CQ_COND_THRESHOLD" },
	{ FI_TYPE_WAIT_OBJ, FI_WAIT_DONE, "FI_WAIT_DONE" },
	{ FI_TYPE_CAPS, FI_P2P | FI_REMOTE_INV, "FI_REMOTE_INV, FI_HMEM" },
	{ FI_TYPE_OP_FLAGS, FI_SAVE | FI_COMMIT_COMPLETE,
	  "FI_COMMIT_COMPLETE, FI_SAVE" },
	{ FI_TYPE_VERSION, 0, "2.6.0" },
	{ 22, 0, "unknown type 22" },
	{ FI_TYPE_WAIT_OBJ + 1, 0, "unknown type 36" },
	{ U32_MAX, 0, "unknown type 4294967295" },
};

static void value_desc(const struct value_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "type %d value %#llx", param->type, param->value);
}

KUNIT_ARRAY_PARAM(value, values, value_desc);

static void a_value_is_put_into_words(struct kunit *test)
{
	const struct value_case *param = test->param_value;
	char buf[64];

	KUNIT_EXPECT_PTR_EQ(test, fi_tostr(&param->value, param->type, buf,
					   sizeof(buf)), (char *)buf);
	KUNIT_EXPECT_STREQ(test, buf, param->text);
}

/* Each bit of the constants has a name of its own where it may stand */
static void caps_have_different_names(struct kunit *test)
{
	char a[64], b[64];
	u64 cap;
	int i;

	for (i = 0; i < 63; i++) {
		cap = BIT_ULL(i);
		fi_tostr(&cap, FI_TYPE_CAPS, a, sizeof(a));
		cap = BIT_ULL(i + 1);
		fi_tostr(&cap, FI_TYPE_CAPS, b, sizeof(b));
		KUNIT_EXPECT_STRNEQ(test, a, b);
	}
}

static char *text_of(struct kunit *test, const void *data, enum fi_type type)
{
	char *text = vt_buf(test, TEXT_MAX);

	return fi_tostr(data, type, text, TEXT_MAX);
}

static void expect_line(struct kunit *test, const char *text, const char *line)
{
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, line),
				  "no \"%s\" in:\n%s", line, text);
}

static void an_info_is_described_with_all_its_parts(struct kunit *test)
{
	char *text = text_of(test, info_full(test), FI_TYPE_INFO);

	KUNIT_EXPECT_TRUE(test, strstarts(text, "fi_info:\n"));
	expect_line(test, text, "\n    caps: [ FI_MSG, FI_RMA ]\n");
	expect_line(test, text, "\n    mode: [ FI_CONTEXT ]\n");
	expect_line(test, text, "\n    addr_format: FI_SOCKADDR_IN\n");
	expect_line(test, text, "\n    src_addr: 10.0.0.1:1\n");
	expect_line(test, text, "\n    dest_addr: 10.0.0.2:7471\n");
	expect_line(test, text, "\n    fi_tx_attr:\n        caps: [  ]\n");
	expect_line(test, text, "\n        size: 384\n");
	expect_line(test, text, "\n        size: 385\n");
	expect_line(test, text, "\n        type: FI_EP_MSG\n");
	expect_line(test, text, "\n        name: rxe0/1\n");
	expect_line(test, text, "\n        prov_name: verbs\n");
	expect_line(test, text, "\n            driver: rdma_rxe\n");
	expect_line(test, text, "\n        bus_attr: 0000:3b:00.1\n");
	expect_line(test, text, "\n            speed: 100000000000\n");
	expect_line(test, text, "\n            state: FI_LINK_UP\n");
}

static void missing_parts_are_shown_as_null(struct kunit *test)
{
	struct fi_info info = {};
	char *text = text_of(test, &info, FI_TYPE_INFO);

	expect_line(test, text, "\n    fi_tx_attr: (null)\n");
	expect_line(test, text, "\n    fi_domain_attr: (null)\n");
	expect_line(test, text, "\n    src_addr: (null)\n");
	expect_line(test, text, "\n    fid_nic: (null)\n");
}

static void missing_bus_is_shown_as_null(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	struct fi_bus_attr *bus = info->nic->bus_attr;
	char *text;

	info->nic->bus_attr = NULL;
	text = text_of(test, info, FI_TYPE_INFO);
	info->nic->bus_attr = bus;
	expect_line(test, text, "\n        bus_attr: (null)\n");
}

static void missing_names_are_shown_as_null(struct kunit *test)
{
	struct fi_fabric_attr attr = {};

	expect_line(test, text_of(test, &attr, FI_TYPE_FABRIC_ATTR),
		    "\n    prov_name: (null)\n");
}

static void addresses_are_shown_as_people_write_them(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	char *text;

	info_set_addr(test, &info->src_addr, &info->src_addrlen, "fd77::1", 7471);
	info_set_addr(test, &info->dest_addr, &info->dest_addrlen,
		      "fe80::1%3", 1);
	text = text_of(test, info, FI_TYPE_INFO);

	expect_line(test, text, "\n    src_addr: [fd77::1]:7471\n");
	expect_line(test, text, "\n    dest_addr: [fe80::1]:1%3\n");
}

/* Cut short: shown as bytes, and not read beyond (KASAN looks on) */
static void addresses_of_no_known_family_are_shown_as_bytes(struct kunit *test)
{
	struct fi_info info = { .src_addrlen = 3 };
	u8 *addr = vt_buf(test, 3);

	memcpy(addr, "\x02\x00\xff", 3);
	info.src_addr = addr;

	expect_line(test, text_of(test, &info, FI_TYPE_INFO),
		    "\n    src_addr: 02 00 ff\n");
}

static void special_values_have_names(struct kunit *test)
{
	struct fi_ep_attr ep = { .rx_ctx_cnt = FI_SHARED_CONTEXT };
	struct fi_tx_attr tx = { .tclass = FI_TC_BULK_DATA };
	char *text = text_of(test, &ep, FI_TYPE_EP_ATTR);

	expect_line(test, text, "\n    rx_ctx_cnt: FI_SHARED_CONTEXT\n");
	expect_line(test, text, "\n    tx_ctx_cnt: 0\n");
	expect_line(test, text_of(test, &tx, FI_TYPE_TX_ATTR),
		    "\n    tclass: FI_TC_BULK_DATA\n");
	tx.tclass = fi_tc_dscp_set(46);
	expect_line(test, text_of(test, &tx, FI_TYPE_TX_ATTR),
		    "\n    tclass: DSCP 46\n");
}

static void an_error_entry_has_the_text_of_its_error(struct kunit *test)
{
	struct fi_cq_err_entry entry = { .err = FI_ETRUNC, .flags = FI_RECV };
	char *text = text_of(test, &entry, FI_TYPE_CQ_ERR_ENTRY);

	expect_line(test, text, "\n    err: 265 (Message was truncated)\n");
	expect_line(test, text, "\n    flags: [ FI_RECV ]\n");
}

static const struct {
	enum fi_type	type;
	const char	*start;
} structs[] = {
	{ FI_TYPE_INFO, "fi_info:" }, { FI_TYPE_TX_ATTR, "fi_tx_attr:" },
	{ FI_TYPE_RX_ATTR, "fi_rx_attr:" }, { FI_TYPE_EP_ATTR, "fi_ep_attr:" },
	{ FI_TYPE_DOMAIN_ATTR, "fi_domain_attr:" },
	{ FI_TYPE_FABRIC_ATTR, "fi_fabric_attr:" },
	{ FI_TYPE_AV_ATTR, "fi_av_attr:" }, { FI_TYPE_CQ_ATTR, "fi_cq_attr:" },
	{ FI_TYPE_MR_ATTR, "fi_mr_attr:" },
	{ FI_TYPE_CNTR_ATTR, "fi_cntr_attr:" },
	{ FI_TYPE_CQ_ERR_ENTRY, "fi_cq_err_entry:" },
};

static void every_structure_is_known_by_its_name(struct kunit *test)
{
	static const union {
		struct fi_info		info;
		struct fi_domain_attr	domain;
		struct fi_cq_err_entry	entry;
	} zeroes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(structs); i++)
		KUNIT_EXPECT_TRUE(test, strstarts(text_of(test, &zeroes, structs[i].type),
						  structs[i].start));
}

static void no_data_is_shown_as_null(struct kunit *test)
{
	char buf[32];

	KUNIT_EXPECT_STREQ(test, fi_tostr(NULL, FI_TYPE_CAPS, buf, sizeof(buf)),
			   "(null)");
	KUNIT_EXPECT_STREQ(test, fi_tostr(NULL, FI_TYPE_TX_ATTR, buf,
					  sizeof(buf)),
			   "fi_tx_attr: (null)\n");
}

static int tostr_in_own_words(const struct fid *fid, char *buf, size_t len)
{
	snprintf(buf, len, "in own words");
	return 0;
}

static int tostr_to_the_brim(const struct fid *fid, char *buf, size_t len)
{
	memset(buf, 'x', len);
	return 0;
}

static int tostr_unable(const struct fid *fid, char *buf, size_t len)
{
	memset(buf, 'x', len);
	return -ENOSYS;
}

static void an_object_is_described_by_its_provider(struct kunit *test)
{
	struct fi_ops ops = { .tostr = tostr_in_own_words };
	struct fid fid = { .fclass = FI_CLASS_EP, .ops = &ops };
	char buf[64];

	KUNIT_EXPECT_STREQ(test, fi_tostr(&fid, FI_TYPE_FID, buf, sizeof(buf)),
			   "in own words");
	KUNIT_EXPECT_STREQ(test, fi_tostr(&fid, FI_TYPE_FID, buf, 5), "in o");
	ops.tostr = tostr_to_the_brim;
	KUNIT_EXPECT_STREQ(test, fi_tostr(&fid, FI_TYPE_FID, buf, 5), "xxxx");
}

static void an_object_whose_provider_has_no_words_has_its_class(struct kunit *test)
{
	struct fi_ops ops = { .tostr = tostr_unable };
	struct fid fid = { .fclass = FI_CLASS_EP, .ops = &ops };
	char buf[64];

	KUNIT_EXPECT_TRUE(test, strstarts(fi_tostr(&fid, FI_TYPE_FID, buf,
						   sizeof(buf)),
					  "FI_CLASS_EP "));
	fid.ops = NULL;
	KUNIT_EXPECT_TRUE(test, strstarts(fi_tostr(&fid, FI_TYPE_FID, buf,
						   sizeof(buf)),
					  "FI_CLASS_EP "));
}

/* What fits is the beginning of the whole, terminated; nothing behind it */
static void expect_cut(struct kunit *test, const char *whole, char *buf,
		       const void *data, enum fi_type type, size_t len)
{
	size_t kept = min(len - 1, strlen(whole));

	memset(buf, GUARD, len + 1);
	fi_tostr(data, type, buf, len);

	KUNIT_ASSERT_EQ(test, buf[len], GUARD);
	KUNIT_ASSERT_EQ(test, strnlen(buf, len), kept);
	KUNIT_ASSERT_EQ(test, memcmp(buf, whole, kept), 0);
}

static void an_info_is_cut_at_the_end_of_any_buffer(struct kunit *test)
{
	struct fi_info *info = info_full(test);
	char *whole = text_of(test, info, FI_TYPE_INFO);
	char *buf = kunit_kmalloc(test, TEXT_MAX + 1, GFP_KERNEL);
	size_t len;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_LT(test, strlen(whole), TEXT_MAX - 3);
	for (len = 1; len < strlen(whole) + 3; len++)
		expect_cut(test, whole, buf, info, FI_TYPE_INFO, len);
}

static void flags_are_cut_at_the_end_of_any_buffer(struct kunit *test)
{
	u64 caps = U64_MAX;
	char *whole = text_of(test, &caps, FI_TYPE_CAPS);
	char *buf = kunit_kmalloc(test, TEXT_MAX + 1, GFP_KERNEL);
	size_t len;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (len = 1; len < strlen(whole) + 3; len++)
		expect_cut(test, whole, buf, &caps, FI_TYPE_CAPS, len);
}

static void no_buffer_gets_nothing(struct kunit *test)
{
	char guard = GUARD;
	u64 caps = FI_MSG;

	KUNIT_EXPECT_PTR_EQ(test, fi_tostr(&caps, FI_TYPE_CAPS, &guard, 0), &guard);
	KUNIT_EXPECT_EQ(test, guard, GUARD);
	KUNIT_EXPECT_NULL(test, fi_tostr(&caps, FI_TYPE_CAPS, NULL, 0));
	KUNIT_EXPECT_NULL(test, fi_tostr(&caps, FI_TYPE_CAPS, NULL, 9));
}

static struct kunit_case tostr_cases[] = {
	KUNIT_CASE_PARAM(a_value_is_put_into_words, value_gen_params),
	KUNIT_CASE(caps_have_different_names),
	KUNIT_CASE(an_info_is_described_with_all_its_parts),
	KUNIT_CASE(missing_parts_are_shown_as_null),
	KUNIT_CASE(missing_bus_is_shown_as_null),
	KUNIT_CASE(missing_names_are_shown_as_null),
	KUNIT_CASE(addresses_are_shown_as_people_write_them),
	KUNIT_CASE(addresses_of_no_known_family_are_shown_as_bytes),
	KUNIT_CASE(special_values_have_names),
	KUNIT_CASE(an_error_entry_has_the_text_of_its_error),
	KUNIT_CASE(every_structure_is_known_by_its_name),
	KUNIT_CASE(no_data_is_shown_as_null),
	KUNIT_CASE(an_object_is_described_by_its_provider),
	KUNIT_CASE(an_object_whose_provider_has_no_words_has_its_class),
	KUNIT_CASE(an_info_is_cut_at_the_end_of_any_buffer),
	KUNIT_CASE(flags_are_cut_at_the_end_of_any_buffer),
	KUNIT_CASE(no_buffer_gets_nothing),
	{}
};

struct kunit_suite kofi_tostr_suite = {
	.name		= "kofi_tostr",
	.test_cases	= tostr_cases,
};
