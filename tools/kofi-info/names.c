// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Names of constants that hints are made of; the values are those of include/rdma/fabric.h.
 */
#include <stdio.h>
#include <string.h>
#include "names.h"

#define BIT(nr)	(1ULL << (nr))

const struct name names_caps[] = {
	{ "FI_MSG",			BIT(1) },
	{ "FI_RMA",			BIT(2) },
	{ "FI_TAGGED",			BIT(3) },
	{ "FI_ATOMIC",			BIT(4) },
	{ "FI_ATOMICS",			BIT(4) },
	{ "FI_MULTICAST",		BIT(5) },
	{ "FI_COLLECTIVE",		BIT(6) },
	{ "FI_READ",			BIT(8) },
	{ "FI_WRITE",			BIT(9) },
	{ "FI_RECV",			BIT(10) },
	{ "FI_SEND",			BIT(11) },
	{ "FI_REMOTE_READ",		BIT(12) },
	{ "FI_REMOTE_WRITE",		BIT(13) },
	{ "FI_REMOTE_INV",		BIT(15) },
	{ "FI_MULTI_RECV",		BIT(16) },
	{ "FI_REMOTE_CQ_DATA",		BIT(17) },
	{ "FI_TRIGGER",			BIT(20) },
	{ "FI_FENCE",			BIT(21) },
	{ "FI_ATOMIC_PMEM",		BIT(37) },
	{ "FI_TAGGED_RMA",		BIT(38) },
	{ "FI_AV_USER_ID",		BIT(41) },
	{ "FI_PEER",			BIT(43) },
	{ "FI_TAGGED_DIRECTED_RECV",	BIT(45) },
	{ "FI_TAGGED_MULTI_RECV",	BIT(46) },
	{ "FI_HMEM",			BIT(47) },
	{ "FI_EXACT_DIRECTED_RECV",	BIT(48) },
	{ "FI_RMA_PMEM",		BIT(49) },
	{ "FI_SOURCE_ERR",		BIT(50) },
	{ "FI_LOCAL_COMM",		BIT(51) },
	{ "FI_REMOTE_COMM",		BIT(52) },
	{ "FI_SHARED_AV",		BIT(53) },
	{ "FI_RMA_EVENT",		BIT(56) },
	{ "FI_SOURCE",			BIT(57) },
	{ "FI_NAMED_RX_CTX",		BIT(58) },
	{ "FI_DIRECTED_RECV",		BIT(59) },
	{}
};

const struct name names_mode[] = {
	{ "FI_CONTEXT",			BIT(59) },
	{ "FI_MSG_PREFIX",		BIT(58) },
	{ "FI_ASYNC_IOV",		BIT(57) },
	{ "FI_RX_CQ_DATA",		BIT(56) },
	{ "FI_CONTEXT2",		BIT(52) },
	{}
};

const struct name names_mr_mode[] = {
	{ "FI_MR_LOCAL",		BIT(2) },
	{ "FI_MR_RAW",			BIT(3) },
	{ "FI_MR_VIRT_ADDR",		BIT(4) },
	{ "FI_MR_ALLOCATED",		BIT(5) },
	{ "FI_MR_PROV_KEY",		BIT(6) },
	{ "FI_MR_MMU_NOTIFY",		BIT(7) },
	{ "FI_MR_RMA_EVENT",		BIT(8) },
	{ "FI_MR_ENDPOINT",		BIT(9) },
	{ "FI_MR_HMEM",			BIT(10) },
	{ "FI_MR_COLLECTIVE",		BIT(11) },
	{}
};

const struct name names_ep_type[] = {
	{ "FI_EP_UNSPEC",		0 },
	{ "FI_EP_MSG",			1 },
	{ "FI_EP_DGRAM",		2 },
	{ "FI_EP_RDM",			3 },
	{}
};

const struct name names_addr_format[] = {
	{ "FI_FORMAT_UNSPEC",		0 },
	{ "FI_SOCKADDR",		1 },
	{ "FI_SOCKADDR_IN",		2 },
	{ "FI_SOCKADDR_IN6",		3 },
	{ "FI_SOCKADDR_IB",		4 },
	{ "FI_ADDR_STR",		9 },
	{ "FI_ADDR_IB_UD",		11 },
	{ "FI_SOCKADDR_IP",		17 },
	{}
};

bool names_find(const struct name *names, const char *text, uint64_t *value, char *bad,
		int size)
{
	const struct name *name;
	size_t len;

	for (*value = 0; *text; text += len + (text[len] == '|')) {
		len = strcspn(text, "|");
		for (name = names; name->name; name++)
			if (strlen(name->name) == len && !strncmp(name->name, text, len))
				break;
		if (!name->name) {
			snprintf(bad, size, "%.*s", (int)len, text);
			return false;
		}
		*value |= name->value;
	}
	return true;
}
