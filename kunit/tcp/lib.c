// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A case of kofi_tcp: it listens at 127.0.0.1, or where it wants to.
 */
#include <linux/string.h>
#include "tcp.h"

static struct fi_info *tcp_info(const char *node)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->prov_name = kstrdup("tcp", GFP_KERNEL);
	if (hints->fabric_attr->prov_name)
		fi_getinfo(VT_API, node, 0, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return info;
}

int bed_init_at(struct kunit *test, const char *node)
{
	struct fi_info *info;
	int ret = vt_init(test);

	peer_foreign = false;
	if (ret)
		return ret;
	info = tcp_info(node);
	if (!info)
		return -ENODATA;
	vt_free_later(test, info);
	vt_open_info(test, info);
	vt_listen(test, vt_eq(test, 0));
	return 0;
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
