// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A case of kofi_tcp: it listens at 127.0.0.1, or where it wants to.
 */
#include <linux/string.h>
#include "tcp.h"

struct fi_info *tcp_hints(struct kunit *test, u64 caps, enum fi_ep_type type)
{
	struct fi_info *hints = vt_allocinfo(test, "tcp");

	hints->caps = caps;
	hints->ep_attr->type = type;
	return hints;
}

struct fi_info *tcp_find(struct kunit *test, const char *node, struct fi_info *hints)
{
	struct fi_info *info = NULL;

	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, node, 0, node ? FI_SOURCE : 0, hints, &info), 0);
	vt_free_later(test, info);
	return info;
}

static int bed_open(struct kunit *test, enum fi_ep_type type, const char *node)
{
	u64 caps = type == FI_EP_MSG ? FI_MSG | FI_RMA | FI_RMA_PMEM | FI_HMEM :
		   FI_MSG | FI_RMA | FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV;
	int ret = vt_init(test);

	peer_foreign = false;
	if (!ret)
		vt_open_info(test, tcp_find(test, node, tcp_hints(test, caps, type)));
	return ret;
}

void bed_caps(struct kunit *test, u64 add, u64 drop)
{
	struct fi_info *info = vt_of(test)->info;

	info->caps = (info->caps | add) & ~drop;
	info->tx_attr->caps = (info->tx_attr->caps | add) & ~drop;
	info->rx_attr->caps = (info->rx_attr->caps | add) & ~drop;
}

struct fid_mr *peer_region(struct kunit *test, void *mem, size_t len, u64 access, u64 key)
{
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, mem, len, access, 0, key, 0, &mr,
					NULL), 0);
	vt_adopt(test, &mr->fid);
	return mr;
}

struct fid_mr *peer_ep_region(struct kunit *test, struct vt_end *end, void *mem, size_t len,
			      u64 access)
{
	const struct kvec kvec = { mem, len };
	const struct fi_mr_attr attr = { .mr_iov = &kvec, .iov_count = 1, .access = access };
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &end->ep->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	return mr;
}

struct fi_rma_iov peer_target(struct fid_mr *mr, size_t len)
{
	return (struct fi_rma_iov) { .addr = fi_mr_addr(mr), .len = len, .key = fi_mr_key(mr) };
}

int bed_init_at(struct kunit *test, const char *node)
{
	int ret = bed_open(test, FI_EP_MSG, node);

	if (!ret)
		vt_listen(test, vt_eq(test, 0));
	return ret;
}

int bed_init_rdm_at(struct kunit *test, const char *node)
{
	return bed_open(test, FI_EP_RDM, node);
}

/* Between two other addresses of the machine */
int bed_init_rdm(struct kunit *test)
{
	return bed_init_rdm_at(test, "127.0.0.2");
}

int bed_init(struct kunit *test)
{
	return bed_init_at(test, "127.0.0.1");
}

int bed_init_foreign(struct kunit *test)
{
	int ret = bed_init(test);

	peer_foreign = true;
	return ret;
}
