// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the kOFI server and the kOFI client share.
 */
#include <linux/module.h>
#include <rdma/fi_endpoint.h>
#include "hostile.h"

int hostile_info(const char *node, int offset, u64 flags, struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->tx_attr->size = 32;
	hints->rx_attr->size = 8;
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node,
			 hostile_service(offset), flags, hints, info);
	fi_freeinfo(hints);
	return ret;
}

int hostile_set_time(struct fid_ep *ep, int ms)
{
	size_t value = ms;

	return ms ? fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT,
			      &value, sizeof(value)) : 0;
}

/* The entry of this kind of end; the last one takes what finds no room */
void hostile_tally(struct hostile_tally *tally, const char *what, int err,
		   int prov_errno, const char *text)
{
	int i;

	for (i = 0; i < HOSTILE_TALLIES - 1 && tally[i].count; i++)
		if (tally[i].what == what && tally[i].err == err &&
		    tally[i].prov_errno == prov_errno)
			break;
	tally[i].what = what;
	tally[i].err = err;
	tally[i].prov_errno = prov_errno;
	tally[i].text = text;
	WRITE_ONCE(tally[i].count, tally[i].count + 1);
}

void hostile_tally_say(const struct hostile_tally *tally)
{
	int i, count;

	for (i = 0; i < HOSTILE_TALLIES; i++) {
		count = READ_ONCE(tally[i].count);
		if (count)
			hostile_say("%d %s: %s (%d), %s", count, tally[i].what,
				    fi_strerror(tally[i].err), tally[i].err, tally[i].text);
	}
}
