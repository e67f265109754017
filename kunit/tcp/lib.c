// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A case of kofi_tcp: it listens at 127.0.0.1, or where it wants to.
 */
#include <linux/string.h>
#include "tcp.h"

static struct fi_info *tcp_info(enum fi_ep_type type, const char *node)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	if (!hints)
		return NULL;
	hints->caps = type == FI_EP_MSG ? FI_MSG | FI_RMA | FI_RMA_PMEM | FI_HMEM :
		      FI_MSG | FI_RMA | FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV;
	hints->ep_attr->type = type;
	hints->fabric_attr->prov_name = kstrdup("tcp", GFP_KERNEL);
	if (hints->fabric_attr->prov_name)
		fi_getinfo(VT_API, node, 0, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return info;
}

static int bed_open(struct kunit *test, enum fi_ep_type type, const char *node)
{
	struct fi_info *info;
	int ret = vt_init(test);

	peer_foreign = false;
	if (ret)
		return ret;
	info = tcp_info(type, node);
	if (!info)
		return -ENODATA;
	vt_free_later(test, info);
	vt_open_info(test, info);
	return 0;
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
