// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Discovery: the address of this machine that a case uses; and what depends on the
 * device there.
 */
#include <net/ipv6.h>
#include "verbs.h"

struct fi_info *vt_hints(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "verbs");

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	return hints;
}

struct fi_info *vt_rma_hints(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);

	hints->caps = FI_MSG | FI_RMA;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	return hints;
}

int vt_getinfo(struct kunit *test, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	int ret;

	*info = NULL;
	ret = fi_getinfo(VT_API, node, service, flags, hints ? hints : vt_hints(test), info);
	if (!ret)
		vt_free_later(test, *info);
	return ret;
}

bool vt_is_global(const struct fi_info *info)
{
	const struct sockaddr_in6 *sin6 = info->src_addr;

	return info->addr_format != FI_SOCKADDR_IN6 ||
	       !(ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL);
}

/* An address of this machine that an RDMA device has; there must be one */
struct fi_info *vt_local(struct kunit *test, int family, const struct fi_info *hints)
{
	u32 format = family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	struct fi_info *info;

	KUNIT_ASSERT_EQ_MSG(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0,
			    "no RDMA device with an IP address; add an rxe device");
	while (info && (info->addr_format != format || !vt_is_global(info)))
		info = info->next;
	KUNIT_ASSERT_NOT_NULL_MSG(test, info, "no RDMA device with an address of family %d",
				  family);
	return info;
}

void vt_open(struct kunit *test, int family, const struct fi_info *hints)
{
	vt_open_info(test, vt_local(test, family, hints));
}

void vt_serve(struct kunit *test, int family, const struct fi_info *hints)
{
	vt_open(test, family, hints);
	vt_listen(test, vt_eq(test, 0));
}

void vt_serve_pair(struct kunit *test, const struct fi_info *hints, struct vt_pair *pair)
{
	vt_serve(test, AF_INET, hints);
	vt_join(test, pair, &vt_default_kind);
}

u64 vt_senddata(struct kunit *test, struct vt_end *end, void *buf, size_t len,
		u64 data, void *context)
{
	ssize_t ret = fi_senddata(end->ep, buf, len, NULL, data, 0, context);

	KUNIT_ASSERT_EQ(test, ret, vt_has_data(test) ? 0 : -ENOSYS);
	if (!ret)
		return data;
	vt_send(test, end, buf, len, context);
	return 0;
}

/* It completes once, and the connection ends */
void vt_not_taken(struct kunit *test, struct vt_end *end, void *context, int err)
{
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, vt_wait(end->tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, context);
	/* Over iWARP it is done, or the end of TCP is in its way */
	if (!vt_is_iwarp(test))
		KUNIT_EXPECT_EQ(test, comp.err, err);
	vt_event(test, end->eq, FI_SHUTDOWN, NULL);
	vt_none(test, end->tx);
}
