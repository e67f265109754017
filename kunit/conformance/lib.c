// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What cases need that have nothing but a result of fi_getinfo().
 */
#include <linux/slab.h>
#include <rdma/fi_tagged.h>
#include <kofi/stat.h>
#include "conformance.h"

bool conf_has(struct kunit *test, u64 caps)
{
	return (vt_of(test)->info->caps & caps) == caps;
}

bool conf_want(struct kunit *test, u64 caps)
{
	struct fi_info *hints = conf_ask(test), *info;
	int ret;

	hints->caps |= caps;
	hints->tx_attr->caps = 0;
	hints->rx_attr->caps = 0;
	hints->domain_attr->caps = 0;
	ret = conf_getinfo(test, hints, &info);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENODATA);
		KUNIT_EXPECT_FALSE(test, conf_has(test, caps));
		return false;
	}
	KUNIT_EXPECT_EQ(test, info->caps & caps, caps);
	vt_of(test)->info = info;
	return true;
}

/* Without endpoints of this type in the result, the provider has none at all */
static bool has_type(struct kunit *test, enum fi_ep_type type)
{
	struct fi_info *hints, *info;

	if (vt_of(test)->info->ep_attr->type == type)
		return true;
	hints = conf_hints_new(type);
	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->fabric_attr->prov_name =
		kstrdup(vt_of(test)->info->fabric_attr->prov_name, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
	return false;
}

bool conf_is_rdm(struct kunit *test)
{
	return has_type(test, FI_EP_RDM);
}

bool conf_is_msg(struct kunit *test)
{
	return has_type(test, FI_EP_MSG);
}

bool conf_is_iwarp(const struct fi_info *info)
{
	return info->ep_attr->protocol == FI_PROTO_IWARP ||
	       !strcmp(info->fabric_attr->name, "Ethernet-iWARP");
}

/* Remote CQ data, as many bits as there may be; 0: there is none */
u64 conf_data(struct kunit *test)
{
	size_t size = vt_of(test)->info->domain_attr->cq_data_size;

	return 0xfedcba9876543210ULL &
	       (size < sizeof(u64) ? BIT_ULL(8 * size) - 1 : U64_MAX);
}

void conf_serve(struct kunit *test)
{
	vt_open_info(test, vt_of(test)->info);
	if (!vt_is_rdm(vt_of(test)->info))
		vt_listen(test, vt_eq(test, 0));
}

bool conf_serve_msg(struct kunit *test)
{
	if (!conf_is_msg(test))
		return false;
	conf_serve(test);
	return true;
}

void conf_join(struct kunit *test, struct vt_pair *pair)
{
	conf_serve(test);
	vt_join(test, pair, &vt_default_kind);
}

const struct vt_kind conf_tagged_kind = {
	.name		= "tagged",
	.wait_obj	= FI_WAIT_UNSPEC,
	.format		= FI_CQ_FORMAT_TAGGED,
};

bool conf_tagged_join(struct kunit *test, struct vt_pair *pair)
{
	u8 byte = 0;

	conf_serve(test);
	vt_join(test, pair, &conf_tagged_kind);
	if (conf_has(test, FI_TAGGED))
		return true;
	KUNIT_EXPECT_EQ(test, fi_tinject(pair->a.ep, &byte, 1, 0, 1), -ENOSYS);
	return false;
}

bool conf_wants_shared(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;

	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	/* Endpoints that share it may number their peers differently */
	hints->caps &= ~FI_DIRECTED_RECV;
	hints->rx_attr->caps &= ~FI_DIRECTED_RECV;
	if (conf_getinfo(test, hints, &info))
		return false;
	KUNIT_EXPECT_EQ(test, info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	vt_of(test)->info = info;
	return true;
}

struct fid_ep *conf_srx(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_ep *srx;

	KUNIT_ASSERT_EQ(test, fi_srx_context(vt->domain, vt->info->rx_attr, &srx, NULL), 0);
	vt_adopt(test, &srx->fid);
	return srx;
}

/* The sender has receives of its own */
void conf_accept_shared(struct kunit *test, struct vt_pair *pair)
{
	struct fi_info *active = vt_dup(test, vt_of(test)->info);

	active->ep_attr->rx_ctx_cnt = 1;
	vt_end_open(test, &pair->a, active, &vt_default_kind);
	if (vt_is_rdm(active)) {
		vt_client(test, &pair->b, &vt_default_kind);
		vt_meet(test, pair);
		return;
	}
	vt_connect(test, &pair->a, NULL, 0);
	vt_end_open(test, &pair->b, vt_connreq(test, NULL), &vt_default_kind);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);
}

bool conf_send_untaken(struct kunit *test, struct fid_ep *ep, const void *buf, void *context)
{
	ssize_t ret = fi_send(ep, buf, 8, NULL, 0, context);

	if (ret == -ESHUTDOWN)
		return false;
	KUNIT_ASSERT_EQ(test, ret, 0);
	return true;
}

void conf_shallow(struct kunit *test, size_t depth)
{
	struct fi_info *info = vt_of(test)->info;

	info->tx_attr->size = min(depth, info->tx_attr->size);
	info->rx_attr->size = min(depth, info->rx_attr->size);
}

struct fi_info *conf_ask(struct kunit *test)
{
	return vt_dup(test, test->param_value);
}

int conf_getinfo(struct kunit *test, const struct fi_info *hints, struct fi_info **info)
{
	int ret = fi_getinfo(VT_API, NULL, 0, 0, hints, info);

	if (!ret)
		vt_free_later(test, *info);
	return ret;
}

struct fi_info *conf_with_flags(struct kunit *test, u64 tx_flags, u64 rx_flags)
{
	struct fi_info *hints = conf_ask(test), *info;

	hints->tx_attr->op_flags = tx_flags;
	hints->rx_attr->op_flags = rx_flags;
	return conf_getinfo(test, hints, &info) ? NULL : info;
}

bool conf_claims(struct kunit *test, const struct vt_call *call)
{
	u64 level = call->flags & FI_TRANSMIT_COMPLETE;

	if (call->is & VT_CQ_DATA && !conf_data(test))
		return false;
	return conf_has(test, call->flags & FI_FENCE) &&
	       (!level || conf_with_flags(test, level, 0));
}

void conf_refuses(struct kunit *test, struct fid_ep *ep, const struct vt_call *call)
{
	const struct vt_xfer x = { .buf = vt_buf(test, 8), .len = 8, .data = 1, .tag = 1 };

	KUNIT_EXPECT_EQ_MSG(test, vt_post(ep, call, &x), call->refusal, "%s", call->name);
}

void conf_says(struct kunit *test, struct fid *fid, const char *name, u64 want)
{
	struct kofi_stat stat = {};

	if (fi_control(fid, KOFI_GETSTAT, &stat))
		return;
	KUNIT_EXPECT_EQ_MSG(test, vt_stat(test, fid, name), want, "%s", name);
}

int conf_reg(struct kunit *test, void *buf, size_t len, u64 access, struct fid_mr **mr)
{
	static atomic_t next_key = ATOMIC_INIT(1);
	int ret;

	ret = fi_mr_reg(vt_of(test)->domain, buf, len, access, 0,
			atomic_inc_return(&next_key), 0, mr, NULL);
	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

void conf_region(struct kunit *test, struct conf_region *region, size_t len, u64 access)
{
	region->buf = vt_buf(test, len);
	region->len = len;
	KUNIT_ASSERT_EQ(test, conf_reg(test, region->buf, len, access, &region->mr), 0);
	region->addr = fi_mr_addr(region->mr);
	region->key = fi_mr_key(region->mr);
}
