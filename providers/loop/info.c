// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Results of fi_getinfo(): for an address of the namespace, an endpoint with connections and
 * one without.  If the caller names no address, the results have the loopback address of each
 * family.
 *
 * Message order: the worker of an endpoint executes operations in the order in which they were
 * posted, and a message is received within its call only if no operation is left to the worker.
 * A message to an endpoint without connections may wait for its receive at the target, so an
 * operation that is no message may overtake it.  An operation may overtake a tagged message in a
 * connection, too, but there a message that waits counts as received.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <net/net_namespace.h>
#include <kofi/dmabuf.h>
#include "loop.h"

#define LOOP_CAPS	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | KOFI_DMABUF_CAPS | \
			 FI_RMA_PMEM | FI_ATOMIC_PMEM | FI_TAGGED_RMA)
#define LOOP_TX_CAPS	(LOOP_CAPS | FI_SEND | FI_READ | FI_WRITE | FI_FENCE)
#define LOOP_RX_CAPS	(LOOP_CAPS | FI_RECV | FI_REMOTE_READ | \
			 FI_REMOTE_WRITE | FI_MULTI_RECV | \
			 FI_TAGGED_MULTI_RECV | FI_RMA_EVENT)
#define LOOP_RDM_CAPS	(FI_DIRECTED_RECV | FI_SOURCE)
#define LOOP_DOMAIN_CAPS FI_LOCAL_COMM

#define LOOP_ORDER	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | \
			 FI_ORDER_WAW | FI_ORDER_SAR | FI_ORDER_SAW | \
			 FI_ORDER_SAS)
/* In a connection, an access behind a message finds it received, or waiting for its tag */
#define LOOP_MSG_ORDER	(LOOP_ORDER | FI_ORDER_RAS | FI_ORDER_WAS)

/* A size that hints may raise above the default */
static size_t loop_wish(size_t wish, size_t def, size_t max)
{
	return clamp(wish, def, max);
}

static struct fi_info *loop_info_new(enum fi_ep_type type,
				     const struct sockaddr_storage *src,
				     const struct sockaddr_storage *dest,
				     const struct fi_info *hints)
{
	bool msg = type == FI_EP_MSG;
	u64 order = msg ? LOOP_MSG_ORDER : LOOP_ORDER;
	size_t ctxs = msg ? 1 : KOFI_SOFT_CTXS;
	struct fi_tx_attr tx = {
		.caps		= LOOP_TX_CAPS | (msg ? FI_REMOTE_INV : FI_NAMED_RX_CTX),
		.op_flags	= loop_msg_limits.tx_op_flags,
		.msg_order	= order,
		.comp_order	= FI_ORDER_NONE,
		.inject_size	= KOFI_OP_INJECT,
		.size		= LOOP_DEF_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
		.rma_iov_limit	= KOFI_RMA_MAX_IOV,
	};
	struct fi_rx_attr rx = {
		.caps		= LOOP_RX_CAPS | (msg ? FI_REMOTE_INV : LOOP_RDM_CAPS),
		.op_flags	= loop_msg_limits.rx_op_flags,
		.msg_order	= order,
		.comp_order	= FI_ORDER_NONE,
		.size		= LOOP_DEF_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
	};
	struct fi_ep_attr ep = {
		.type			= type,
		.protocol		= FI_PROTO_LOOP,
		.protocol_version	= 1,
		.max_msg_size		= LOOP_MAX_MSG,
		.max_order_raw_size	= LOOP_MAX_MSG,
		.max_order_war_size	= LOOP_MAX_MSG,
		.max_order_waw_size	= LOOP_MAX_MSG,
		.mem_tag_format		= U64_MAX,
		.tx_ctx_cnt		= 1,
		.rx_ctx_cnt		= 1,
	};
	struct fi_domain_attr domain = {
		.name			= LOOP_NAME,
		.threading		= FI_THREAD_SAFE,
		.control_progress	= FI_PROGRESS_AUTO,
		.data_progress		= FI_PROGRESS_AUTO,
		.resource_mgmt		= FI_RM_ENABLED,
		.av_type		= FI_AV_UNSPEC,
		.mr_mode		= LOOP_MR_MODE,
		.mr_key_size		= sizeof(u64),
		.cq_data_size		= sizeof(u64),
		.cq_cnt			= LOOP_MANY,
		.ep_cnt			= LOOP_MANY,
		.tx_ctx_cnt		= LOOP_MANY,
		.rx_ctx_cnt		= LOOP_MANY,
		.max_ep_tx_ctx		= ctxs,
		.max_ep_rx_ctx		= ctxs,
		.max_ep_srx_ctx		= LOOP_MANY,
		.cntr_cnt		= LOOP_MANY,
		.mr_iov_limit		= LOOP_MANY,
		.mr_cnt			= LOOP_MANY,
		.caps			= LOOP_DOMAIN_CAPS | (msg ? 0 : FI_AV_USER_ID),
		.max_err_data		= LOOP_CM_DATA,
		.max_cntr_value		= U64_MAX,
		.max_err_cntr_value	= U64_MAX,
		.numa_node		= NUMA_NO_NODE,
	};
	struct fi_fabric_attr fabric = {
		.name		= LOOP_NAME,
		.prov_name	= LOOP_NAME,
		.prov_version	= LOOP_VERSION,
	};
	struct fi_info info = {
		.caps		= tx.caps | rx.caps | domain.caps,
		.addr_format	= src->ss_family == AF_INET6 ? FI_SOCKADDR_IN6 :
							       FI_SOCKADDR_IN,
		.src_addr	= (void *)src,
		.src_addrlen	= kofi_addr_len(src),
		.dest_addr	= (void *)dest,
		.dest_addrlen	= dest ? kofi_addr_len(dest) : 0,
		.tx_attr	= &tx,
		.rx_attr	= &rx,
		.ep_attr	= &ep,
		.domain_attr	= &domain,
		.fabric_attr	= &fabric,
	};

	if (hints && hints->tx_attr)
		tx.size = loop_wish(hints->tx_attr->size, tx.size,
				    LOOP_MAX_QUEUE);
	if (hints && hints->rx_attr)
		rx.size = loop_wish(hints->rx_attr->size, rx.size,
				    LOOP_MAX_QUEUE);
	if (hints && hints->ep_attr &&
	    hints->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT) {
		ep.rx_ctx_cnt = FI_SHARED_CONTEXT;
		/* Endpoints with different address vectors may share the context */
		rx.caps &= ~FI_DIRECTED_RECV;
		info.caps &= ~FI_DIRECTED_RECV;
	}
	/* The client has the forms of keys and addresses that its hints name */
	if (hints && hints->domain_attr)
		domain.mr_mode &= hints->domain_attr->mr_mode;
	else
		domain.mr_mode = 0;
	kofi_soft_info_short_keys(&domain, hints);
	kofi_soft_info_lend(&info, hints);
	return fi_dupinfo(&info);
}

/* Adds both kinds of endpoints at an address */
static int loop_info_add(struct fi_info ***end,
			 const struct sockaddr_storage *src,
			 const struct sockaddr_storage *dest,
			 const struct fi_info *hints)
{
	static const enum fi_ep_type types[] = { FI_EP_MSG, FI_EP_RDM };
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		**end = loop_info_new(types[i], src, dest, hints);
		if (!**end)
			return -ENOMEM;
		*end = &(**end)->next;
	}
	return 0;
}

static int loop_info_loopback(struct fi_info ***end, int port,
			      const struct sockaddr_storage *family,
			      const struct fi_info *hints)
{
	struct sockaddr_in sin = {
		.sin_family		= AF_INET,
		.sin_port		= htons(port),
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	struct sockaddr_in6 sin6 = {
		.sin6_family		= AF_INET6,
		.sin6_port		= htons(port),
		.sin6_addr		= in6addr_loopback,
	};
	struct sockaddr_storage src = {};
	int ret = 0;

	if (family->ss_family != AF_INET6) {
		memcpy(&src, &sin, sizeof(sin));
		ret = loop_info_add(end, &src, NULL, hints);
	}
	if (!ret && family->ss_family != AF_INET && !kofi_addr_family_is_off(AF_INET6)) {
		memcpy(&src, &sin6, sizeof(sin6));
		ret = loop_info_add(end, &src, NULL, hints);
	}
	return ret;
}

/* No socket has the address, so that of a VRF will do */
static bool loop_reaches(struct net *net, const struct sockaddr_storage *addr)
{
	if (kofi_addr_ifindex(net, addr))
		return true;
	kofi_getinfo_reason(LOOP_NAME, "%pISc: not an address of this network namespace",
			    addr);
	return false;
}

int loop_getinfo(u32 version, const char *node, const int service, u64 flags,
		 struct fi_info *hints, struct fi_info **info)
{
	struct net *net = kofi_hints_net(hints);
	struct sockaddr_storage src, dest;
	struct fi_info *list = NULL, **end = &list;
	int ret;

	ret = kofi_hints_addrs(net, node, service, flags, hints, &src, &dest);
	if (ret)
		return ret;
	if ((dest.ss_family && !loop_reaches(net, &dest)) ||
	    (src.ss_family && !kofi_addr_any(&src) && !loop_reaches(net, &src)))
		return -ENODATA;

	if (src.ss_family && (dest.ss_family || !kofi_addr_any(&src))) {
		ret = loop_info_add(&end, &src,
				    dest.ss_family ? &dest : NULL, hints);
	} else if (dest.ss_family) {
		src = dest;
		kofi_addr_set_port(&src, 0);
		ret = loop_info_add(&end, &src, &dest, hints);
	} else {
		ret = loop_info_loopback(&end, flags & FI_SOURCE ? service : 0,
					 &src, hints);
	}
	if (ret) {
		fi_freeinfo(list);
		return ret;
	}
	*info = list;
	return 0;
}
