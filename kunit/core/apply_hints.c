// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_apply_hints: what fi_getinfo() makes of hints and of an offer that
 * fits them.  One mock provider with one rich offer stands behind each case.
 */
#include <linux/in.h>
#include <linux/numa.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib.h>
#include "info.h"

#define PROV_NAME	"mock"

#define OFFERED_CAPS \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_SEND | FI_RECV | \
	 FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | \
	 FI_MULTI_RECV | FI_RMA_EVENT | FI_FENCE | FI_SOURCE | FI_LOCAL_COMM | \
	 FI_REMOTE_INV)
#define OFFERED_MR_MODE	(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED)

struct asked {
	struct fi_info	*offer;
	struct fi_info	*hints;
};

static void fill_offer(struct fi_info *offer)
{
	offer->caps = OFFERED_CAPS;
	offer->tx_attr->caps = OFFERED_CAPS;
	offer->tx_attr->op_flags = FI_INJECT | FI_COMPLETION;
	offer->tx_attr->inject_size = 64;
	offer->tx_attr->size = 384;
	offer->tx_attr->iov_limit = 4;
	offer->tx_attr->rma_iov_limit = 1;
	offer->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_WAW;
	offer->rx_attr->caps = OFFERED_CAPS;
	offer->rx_attr->op_flags = FI_COMPLETION;
	offer->rx_attr->size = 384;
	offer->rx_attr->iov_limit = 4;
	offer->ep_attr->type = FI_EP_MSG;
	offer->ep_attr->max_msg_size = SZ_1G;
	offer->ep_attr->tx_ctx_cnt = 1;
	offer->ep_attr->rx_ctx_cnt = 1;
	offer->domain_attr->mr_mode = OFFERED_MR_MODE;
	offer->domain_attr->max_ep_tx_ctx = 1;
	offer->domain_attr->max_ep_rx_ctx = 1;
	offer->domain_attr->max_ep_srx_ctx = 1;
}

/* Hints that follow all modes and wish nothing else */
static struct asked *ask_begin(struct kunit *test)
{
	struct mock *mock = core_mock(test, PROV_NAME, FI_VERSION(1, 0));
	struct asked *asked = vt_buf(test, sizeof(*asked));

	fill_offer(mock->infos);
	asked->offer = mock->infos;
	asked->hints = core_hints(test);
	asked->hints->domain_attr->mr_mode = OFFERED_MR_MODE;
	core_set_string(test, &asked->hints->fabric_attr->prov_name, PROV_NAME);
	return asked;
}

static struct fi_info *ask(struct kunit *test, struct asked *asked)
{
	struct fi_info *result;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, asked->hints, &result), 0);
	KUNIT_ASSERT_NOT_NULL(test, result);
	return result;
}

static void no_wish_leaves_the_offer(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->caps, OFFERED_CAPS);
	KUNIT_EXPECT_EQ(test, result->tx_attr->size, 384);
	KUNIT_EXPECT_EQ(test, result->tx_attr->inject_size, 64);
	KUNIT_EXPECT_EQ(test, result->rx_attr->iov_limit, 4);
	KUNIT_EXPECT_EQ(test, result->domain_attr->mr_mode, OFFERED_MR_MODE);
	KUNIT_EXPECT_EQ(test, result->domain_attr->threading, FI_THREAD_SAFE);
}

/* Wish, what must be there, what must not */
static const struct caps_case {
	u64	wish;
	u64	there;
	u64	gone;
} caps_cases[] = {
	{ FI_MSG, FI_MSG | FI_SEND | FI_RECV,
	  FI_RMA | FI_TAGGED | FI_ATOMIC | FI_READ | FI_REMOTE_WRITE },
	{ FI_MSG | FI_SEND, FI_MSG | FI_SEND, FI_RECV },
	{ FI_RMA, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
	  FI_REMOTE_WRITE, FI_MSG | FI_SEND | FI_RECV | FI_ATOMIC },
	{ FI_RMA | FI_READ, FI_RMA | FI_READ,
	  FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE },
	/* secondary ones are for free, if they make sense */
	{ FI_MSG, FI_MULTI_RECV | FI_FENCE | FI_LOCAL_COMM, FI_RMA_EVENT },
	{ FI_RMA, FI_RMA_EVENT | FI_FENCE | FI_LOCAL_COMM, FI_MULTI_RECV },
	{ FI_RMA | FI_READ, FI_FENCE, FI_RMA_EVENT },
	/* messages end keys, whoever has them */
	{ FI_MSG, FI_REMOTE_INV, FI_RMA },
	{ FI_MSG | FI_REMOTE_INV, FI_MSG | FI_REMOTE_INV, FI_RMA },
	{ FI_RMA, FI_RMA, FI_REMOTE_INV },
	/* the sender's address costs something */
	{ FI_MSG, FI_MSG, FI_SOURCE },
	{ FI_MSG | FI_SOURCE, FI_MSG | FI_SOURCE, FI_RMA },
};

static void caps_desc(const struct caps_case *param, char *desc)
{
	fi_tostr(&param->wish, FI_TYPE_CAPS, desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(caps, caps_cases, caps_desc);

static void caps_not_asked_for_are_withheld(struct kunit *test)
{
	const struct caps_case *param = test->param_value;
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->caps = param->wish;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->caps & param->there, param->there);
	KUNIT_EXPECT_EQ(test, result->caps & param->gone, 0);
	KUNIT_EXPECT_EQ(test, result->tx_attr->caps & ~result->caps, 0);
	KUNIT_EXPECT_EQ(test, result->rx_attr->caps & ~result->caps, 0);
}

static void a_side_has_only_its_own_caps(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->caps = FI_MSG | FI_RMA;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->tx_attr->caps &
			(FI_RECV | FI_REMOTE_READ | FI_MULTI_RECV), 0);
	KUNIT_EXPECT_EQ(test, result->rx_attr->caps & (FI_SEND | FI_READ | FI_FENCE), 0);
}

static void a_side_without_a_direction_has_no_messages(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->caps = FI_MSG | FI_SEND | FI_RMA | FI_READ;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->tx_attr->caps & (FI_MSG | FI_RMA), FI_MSG | FI_RMA);
	KUNIT_EXPECT_EQ(test, result->rx_attr->caps & (FI_MSG | FI_MULTI_RECV | FI_RMA), 0);

	asked->hints->caps = FI_TAGGED | FI_SEND;
	result = ask(test, asked);
	KUNIT_EXPECT_EQ(test, result->tx_attr->caps & FI_TAGGED, FI_TAGGED);
	KUNIT_EXPECT_EQ(test, result->rx_attr->caps & FI_TAGGED, 0);
}

static void a_domain_has_only_caps_that_are_asked_for(struct kunit *test)
{
	struct asked *asked = ask_begin(test);

	asked->offer->domain_attr->caps = FI_LOCAL_COMM | FI_AV_USER_ID;
	KUNIT_EXPECT_EQ(test, ask(test, asked)->domain_attr->caps, FI_LOCAL_COMM | FI_AV_USER_ID);
	asked->hints->domain_attr->caps = FI_LOCAL_COMM;
	KUNIT_EXPECT_EQ(test, ask(test, asked)->domain_attr->caps, FI_LOCAL_COMM);
}

static void default_flags_are_only_those_asked_for(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->tx_attr->op_flags = FI_COMPLETION;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->tx_attr->op_flags, FI_COMPLETION);
	KUNIT_EXPECT_EQ(test, result->rx_attr->op_flags, 0);
}

static void default_flags_are_none_without_hints(struct kunit *test)
{
	struct fi_info hints = { .domain_attr = NULL };
	struct fi_fabric_attr fabric = { .prov_name = PROV_NAME };
	struct fi_info *result;

	ask_begin(test);
	hints.fabric_attr = &fabric;
	KUNIT_ASSERT_EQ(test, fi_getinfo(CORE_API, NULL, 0, 0, &hints, &result), 0);
	info_adopt(test, result);

	KUNIT_EXPECT_EQ(test, result->tx_attr->op_flags, 0);
	KUNIT_EXPECT_EQ(test, result->rx_attr->op_flags, 0);
	KUNIT_EXPECT_EQ(test, result->caps, OFFERED_CAPS);
}

static void queues_and_lists_get_the_size_asked_for(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->tx_attr->size = 100;
	asked->hints->tx_attr->inject_size = 8;
	asked->hints->tx_attr->iov_limit = 2;
	asked->hints->tx_attr->rma_iov_limit = 1;
	asked->hints->rx_attr->size = 200;
	asked->hints->rx_attr->iov_limit = 1;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->tx_attr->size, 100);
	KUNIT_EXPECT_EQ(test, result->tx_attr->inject_size, 8);
	KUNIT_EXPECT_EQ(test, result->tx_attr->iov_limit, 2);
	KUNIT_EXPECT_EQ(test, result->tx_attr->rma_iov_limit, 1);
	KUNIT_EXPECT_EQ(test, result->rx_attr->size, 200);
	KUNIT_EXPECT_EQ(test, result->rx_attr->iov_limit, 1);
}

/* Of a read the offer says nothing, of a write it does */
static void lists_of_reads_and_writes_have_the_limit_of_all_at_least(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->offer->tx_attr->iov_limit = 4;
	asked->offer->tx_attr->rma_write_iov_limit = 16;
	result = ask(test, asked);
	KUNIT_EXPECT_EQ(test, result->tx_attr->rma_read_iov_limit, 4);
	KUNIT_EXPECT_EQ(test, result->tx_attr->rma_write_iov_limit, 16);

	asked->hints->tx_attr->iov_limit = 2;
	result = ask(test, asked);
	KUNIT_EXPECT_EQ(test, result->tx_attr->rma_read_iov_limit, 2);
	KUNIT_EXPECT_EQ(test, result->tx_attr->rma_write_iov_limit, 16);
}

static void properties_of_the_provider_do_not_follow_hints(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->ep_attr->max_msg_size = 4096;
	asked->hints->domain_attr->resource_mgmt = FI_RM_DISABLED;
	asked->hints->tx_attr->msg_order = FI_ORDER_SAS;
	asked->offer->tx_attr->rma_read_iov_limit = 64;
	asked->hints->tx_attr->rma_read_iov_limit = 8;
	asked->offer->domain_attr->max_cq_size = 1024;
	asked->hints->domain_attr->max_cq_size = 16;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->tx_attr->rma_read_iov_limit, 64);
	KUNIT_EXPECT_EQ(test, result->domain_attr->max_cq_size, 1024);
	KUNIT_EXPECT_EQ(test, result->domain_attr->numa_node, NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, result->ep_attr->max_msg_size, SZ_1G);
	KUNIT_EXPECT_EQ(test, result->domain_attr->resource_mgmt, FI_RM_ENABLED);
	KUNIT_EXPECT_EQ(test, result->tx_attr->msg_order, FI_ORDER_SAS | FI_ORDER_WAW);
}

static void models_become_those_of_the_client(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->domain_attr->threading = FI_THREAD_DOMAIN;
	asked->hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	asked->hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->domain_attr->threading, FI_THREAD_DOMAIN);
	KUNIT_EXPECT_EQ(test, result->domain_attr->data_progress, FI_PROGRESS_MANUAL);
	KUNIT_EXPECT_EQ(test, result->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	KUNIT_EXPECT_EQ(test, result->ep_attr->tx_ctx_cnt, 1);
}

static void registration_modes_that_do_not_matter_are_dropped(struct kunit *test)
{
	struct asked *asked = ask_begin(test);

	asked->hints->caps = FI_MSG;

	KUNIT_EXPECT_EQ(test, ask(test, asked)->domain_attr->mr_mode, 0);
}

static void who_cannot_follow_a_targets_modes_is_no_target(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR;
	result = ask(test, asked);

	KUNIT_EXPECT_EQ(test, result->caps & (FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA_EVENT), 0);
	KUNIT_EXPECT_EQ(test, result->caps & (FI_RMA | FI_READ | FI_WRITE),
			FI_RMA | FI_READ | FI_WRITE);
	KUNIT_EXPECT_EQ(test, result->domain_attr->mr_mode, 0);
}

static void who_asks_to_be_a_target_must_follow(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->hints->caps = FI_MSG | FI_RMA;
	asked->hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR;

	KUNIT_EXPECT_EQ(test, core_getinfo(test, asked->hints, &result), -ENODATA);
}

/* Offered and wanted address format, and that of the result */
static const struct format_case {
	u32	offer;
	u32	wish;
	u32	result;
} format_cases[] = {
	{ FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN },
	{ FI_SOCKADDR, FI_SOCKADDR_IP, FI_SOCKADDR_IP },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IN6, FI_SOCKADDR_IN6 },
	{ FI_SOCKADDR_IP, FI_SOCKADDR, FI_SOCKADDR_IP },
	{ FI_SOCKADDR_IP, FI_FORMAT_UNSPEC, FI_SOCKADDR_IP },
	{ FI_SOCKADDR_IN, FI_SOCKADDR_IP, FI_SOCKADDR_IN },
};

static void format_case_desc(const struct format_case *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u offered %u wanted", row->offer, row->wish);
}

KUNIT_ARRAY_PARAM(format, format_cases, format_case_desc);

static void an_address_format_becomes_as_exact_as_the_wish(struct kunit *test)
{
	const struct format_case *row = test->param_value;
	struct asked *asked = ask_begin(test);

	asked->offer->addr_format = row->offer;
	asked->hints->addr_format = row->wish;

	KUNIT_EXPECT_EQ(test, ask(test, asked)->addr_format, row->result);
}

static void the_handle_is_passed_on(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fid handle;

	asked->hints->handle = &handle;

	KUNIT_EXPECT_PTR_EQ(test, ask(test, asked)->handle, &handle);
}

static void an_open_fabric_is_passed_on(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, fi_fabric(ask(test, asked)->fabric_attr, &fabric, NULL), 0);
	core_adopt(test, &fabric->fid);
	asked->hints->fabric_attr->fabric = fabric;

	KUNIT_EXPECT_PTR_EQ(test, ask(test, asked)->fabric_attr->fabric, fabric);
}

static void a_namespace_is_filled_in(struct kunit *test)
{
	struct asked *asked = ask_begin(test);

	KUNIT_EXPECT_PTR_EQ(test, ask(test, asked)->fabric_attr->net, &init_net);
}

static void results_of_another_namespace_do_not_fit(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result;

	asked->offer->fabric_attr->net = (struct net *)asked;

	KUNIT_EXPECT_EQ(test, core_getinfo(test, asked->hints, &result), -ENODATA);
}

static void a_side_without_hints_has_all_of_the_whole(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *result, *whole;
	struct fi_tx_attr *tx_attr;
	struct fi_rx_attr *rx_attr;

	whole = ask(test, asked);
	tx_attr = asked->hints->tx_attr;
	rx_attr = asked->hints->rx_attr;
	asked->hints->tx_attr = NULL;
	asked->hints->rx_attr = NULL;
	result = ask(test, asked);
	asked->hints->tx_attr = tx_attr;
	asked->hints->rx_attr = rx_attr;

	KUNIT_EXPECT_NE(test, result->rx_attr->caps, 0);
	KUNIT_EXPECT_EQ(test, result->tx_attr->caps, whole->tx_attr->caps);
	KUNIT_EXPECT_EQ(test, result->rx_attr->caps, whole->rx_attr->caps);
}

static void a_result_fits_as_hints_and_is_its_own_result(struct kunit *test)
{
	const struct caps_case *param = test->param_value;
	struct asked *asked = ask_begin(test);
	struct fi_info *result, *again;

	asked->hints->caps = param->wish;
	asked->hints->tx_attr->size = 100;
	result = ask(test, asked);
	KUNIT_EXPECT_TRUE(test, kofi_info_match(result, asked->hints));
	KUNIT_EXPECT_TRUE(test, kofi_info_match(result, result));

	asked->hints = result;
	again = ask(test, asked);
	KUNIT_EXPECT_EQ(test, again->caps, result->caps);
	KUNIT_EXPECT_MEMEQ(test, again->tx_attr, result->tx_attr, sizeof(*again->tx_attr));
	KUNIT_EXPECT_MEMEQ(test, again->rx_attr, result->rx_attr, sizeof(*again->rx_attr));
}

/* Hints that no provider could make sense of */
static const u64 bad_caps[] = {
	FI_SEND, FI_RECV, FI_READ | FI_MSG, FI_REMOTE_WRITE, FI_MULTI_RECV,
	FI_DIRECTED_RECV | FI_RMA, FI_TAGGED_MULTI_RECV | FI_MSG,
	FI_TAGGED_DIRECTED_RECV | FI_MSG, FI_RMA_EVENT | FI_MSG,
	FI_RMA_EVENT | FI_RMA | FI_READ, FI_RMA_PMEM | FI_ATOMIC,
	FI_SOURCE_ERR | FI_MSG, FI_MULTICAST | FI_TAGGED,
	FI_REMOTE_INV | FI_RMA,
};

static void bad_caps_desc(const u64 *caps, char *desc)
{
	fi_tostr(caps, FI_TYPE_CAPS, desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad_caps, bad_caps, bad_caps_desc);

static int ask_error(struct kunit *test, struct asked *asked)
{
	struct fi_info *unused;

	return core_getinfo(test, asked->hints, &unused);
}

static void caps_that_lack_what_they_modify_are_refused(struct kunit *test)
{
	struct asked *asked = ask_begin(test);

	asked->hints->caps = *(const u64 *)test->param_value;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);
}

static void a_side_with_more_caps_than_the_whole_is_refused(struct kunit *test)
{
	struct asked *asked = ask_begin(test);

	asked->hints->caps = FI_MSG;
	asked->hints->tx_attr->caps = FI_MSG | FI_RMA;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);

	asked->hints->tx_attr->caps = FI_MSG;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), 0);

	asked->hints->rx_attr->caps = FI_TAGGED;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);
}

static const struct addr_case {
	u32	format;
	u16	family;
	size_t	len;
	int	err;
} addr_cases[] = {
	{ FI_FORMAT_UNSPEC, AF_INET, sizeof(struct sockaddr_in), -ENODATA },
	{ FI_SOCKADDR, AF_INET, sizeof(struct sockaddr_in), -ENODATA },
	{ FI_SOCKADDR_IN, AF_INET, sizeof(struct sockaddr_in), -ENODATA },
	{ FI_SOCKADDR_IN, AF_INET, 128, -ENODATA },
	{ FI_SOCKADDR_IN6, AF_INET6, 28, -ENODATA },
	{ FI_SOCKADDR_IP, AF_INET, sizeof(struct sockaddr_in), -ENODATA },
	{ FI_SOCKADDR_IP, AF_INET6, 28, -ENODATA },
	{ FI_SOCKADDR_IP, AF_INET6, 27, -EINVAL },
	{ FI_SOCKADDR_IP, AF_UNIX, 128, -EINVAL },
	{ FI_SOCKADDR_IP, AF_IB, sizeof(struct sockaddr_ib), -EINVAL },
	{ FI_SOCKADDR_IB, AF_IB, sizeof(struct sockaddr_ib), -ENODATA },
	{ FI_SOCKADDR_IB, AF_IB, sizeof(struct sockaddr_ib) - 1, -EINVAL },
	{ FI_SOCKADDR, AF_IB, sizeof(struct sockaddr_ib), -ENODATA },
	{ FI_ADDR_STR, 0, 1, -ENODATA },
	{ FI_SOCKADDR_IN, AF_INET, sizeof(struct sockaddr_in) - 1, -EINVAL },
	{ FI_SOCKADDR_IN6, AF_INET6, 27, -EINVAL },
	{ FI_SOCKADDR_IN, AF_INET6, 28, -EINVAL },
	{ FI_SOCKADDR_IN6, AF_INET, 28, -EINVAL },
	{ FI_SOCKADDR, AF_UNSPEC, 128, -EINVAL },
	{ FI_SOCKADDR, AF_UNIX, 128, -EINVAL },
	{ FI_SOCKADDR, AF_INET, 1, -EINVAL },
	{ FI_SOCKADDR, AF_INET, 0, -EINVAL },
	{ FI_ADDR_STR, 0, 0, -EINVAL },
};

static void addr_desc(const struct addr_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "format %u family %u length %zu",
		 param->format, param->family, param->len);
}

KUNIT_ARRAY_PARAM(addr, addr_cases, addr_desc);

/* The copy is as long as it says, so that KASAN sees a read behind its end */
static void addresses_shorter_than_their_family_are_refused(struct kunit *test)
{
	const struct addr_case *param = test->param_value;
	struct sockaddr_storage addr = { .ss_family = param->family };
	struct asked *asked = ask_begin(test);

	addr.__data[2] = 1;
	asked->hints->addr_format = param->format;
	asked->hints->dest_addrlen = param->len;
	asked->hints->dest_addr = kmemdup(&addr, param->len ?: 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, asked->hints->dest_addr);

	KUNIT_EXPECT_EQ(test, ask_error(test, asked), param->err);
}

static void keys_without_a_sane_length_are_refused(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_ep_attr *ep;

	ep = asked->hints->ep_attr;
	ep->auth_key = kzalloc(16, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ep->auth_key);
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);

	ep->auth_key_size = SIZE_MAX;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);

	ep->auth_key_size = 16;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -ENODATA);
}

static void objects_of_another_class_are_refused(struct kunit *test)
{
	struct fid_fabric not_open = { .fid.fclass = FI_CLASS_FABRIC };
	struct fid_domain no_domain = { .fid.fclass = FI_CLASS_EP };
	struct asked *asked = ask_begin(test);

	asked->hints->fabric_attr->fabric = &not_open;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);

	asked->hints->fabric_attr->fabric = NULL;
	asked->hints->domain_attr->domain = &no_domain;
	KUNIT_EXPECT_EQ(test, ask_error(test, asked), -EINVAL);
}

/* node stands for the destination, so the hint for it is not even looked at */
static void a_node_takes_the_place_of_the_address_in_the_hints(struct kunit *test)
{
	struct asked *asked = ask_begin(test);
	struct fi_info *hints, *result;

	hints = asked->hints;
	hints->dest_addr = kzalloc(1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->dest_addr);
	hints->dest_addrlen = 1;

	KUNIT_ASSERT_EQ(test, fi_getinfo(CORE_API, "10.77.0.1", 7471, 0, hints, &result), 0);
	info_adopt(test, result);
	KUNIT_EXPECT_EQ(test, fi_getinfo(CORE_API, "10.77.0.1", 7471, FI_SOURCE, hints, &result),
			-EINVAL);
	swap(hints->src_addr, hints->dest_addr);
	hints->src_addrlen = 1;
	KUNIT_ASSERT_EQ(test, fi_getinfo(CORE_API, "10.77.0.1", 7471, FI_SOURCE, hints, &result),
			0);
	info_adopt(test, result);
}

static struct kunit_case apply_hints_cases[] = {
	KUNIT_CASE(no_wish_leaves_the_offer),
	KUNIT_CASE_PARAM(caps_not_asked_for_are_withheld, caps_gen_params),
	KUNIT_CASE(a_side_has_only_its_own_caps),
	KUNIT_CASE(a_side_without_a_direction_has_no_messages),
	KUNIT_CASE(a_domain_has_only_caps_that_are_asked_for),
	KUNIT_CASE(default_flags_are_only_those_asked_for),
	KUNIT_CASE(default_flags_are_none_without_hints),
	KUNIT_CASE(queues_and_lists_get_the_size_asked_for),
	KUNIT_CASE(lists_of_reads_and_writes_have_the_limit_of_all_at_least),
	KUNIT_CASE(properties_of_the_provider_do_not_follow_hints),
	KUNIT_CASE(models_become_those_of_the_client),
	KUNIT_CASE(registration_modes_that_do_not_matter_are_dropped),
	KUNIT_CASE(who_cannot_follow_a_targets_modes_is_no_target),
	KUNIT_CASE(who_asks_to_be_a_target_must_follow),
	KUNIT_CASE_PARAM(an_address_format_becomes_as_exact_as_the_wish, format_gen_params),
	KUNIT_CASE(the_handle_is_passed_on),
	KUNIT_CASE(an_open_fabric_is_passed_on),
	KUNIT_CASE(a_namespace_is_filled_in),
	KUNIT_CASE(results_of_another_namespace_do_not_fit),
	KUNIT_CASE(a_side_without_hints_has_all_of_the_whole),
	KUNIT_CASE_PARAM(a_result_fits_as_hints_and_is_its_own_result, caps_gen_params),
	KUNIT_CASE_PARAM(caps_that_lack_what_they_modify_are_refused, bad_caps_gen_params),
	KUNIT_CASE(a_side_with_more_caps_than_the_whole_is_refused),
	KUNIT_CASE_PARAM(addresses_shorter_than_their_family_are_refused, addr_gen_params),
	KUNIT_CASE(keys_without_a_sane_length_are_refused),
	KUNIT_CASE(objects_of_another_class_are_refused),
	KUNIT_CASE(a_node_takes_the_place_of_the_address_in_the_hints),
	{}
};

struct kunit_suite kofi_apply_hints_suite = {
	.name		= "kofi_apply_hints",
	.init		= core_init,
	.exit		= core_exit,
	.test_cases	= apply_hints_cases,
};
