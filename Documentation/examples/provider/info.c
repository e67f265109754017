// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What there is: for an address of the namespace that is asked for, an endpoint with
 * connections.  Without an address in the question, the answer is 127.0.0.1.
 */
#include <linux/in.h>
#include <linux/module.h>
#include "example.h"

#define EX_CAPS		(FI_MSG | FI_RMA)
#define EX_TX_CAPS	(EX_CAPS | FI_SEND | FI_READ | FI_WRITE)
#define EX_RX_CAPS	(EX_CAPS | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | \
			 FI_RMA_EVENT)
#define EX_MANY		65536	/* of what only memory limits */
/* One worker executes what an endpoint posts, in that order */
#define EX_ORDER	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | \
			 FI_ORDER_WAR | FI_ORDER_WAW | FI_ORDER_WAS | \
			 FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_SAS)

/* guide: info */
static struct fi_info *ex_info_new(const struct sockaddr_storage *src,
				   const struct sockaddr_storage *dest,
				   const struct fi_info *hints)
{
	struct fi_tx_attr tx = {
		.caps		= EX_TX_CAPS,
		.op_flags	= ex_limits.tx_op_flags,
		.msg_order	= EX_ORDER,
		.inject_size	= KOFI_OP_INJECT,
		.size		= EX_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
		.rma_iov_limit	= KOFI_RMA_MAX_IOV,
	};
	struct fi_rx_attr rx = {
		.caps		= EX_RX_CAPS,
		.op_flags	= ex_limits.rx_op_flags,
		.msg_order	= EX_ORDER,
		.size		= EX_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
	};
	struct fi_ep_attr ep = {
		.type			= FI_EP_MSG,
		.protocol		= EX_PROTO,
		.protocol_version	= 1,
		.max_msg_size		= EX_MAX_MSG,
		.max_order_raw_size	= EX_MAX_MSG,
		.max_order_war_size	= EX_MAX_MSG,
		.max_order_waw_size	= EX_MAX_MSG,
		.tx_ctx_cnt		= 1,
		.rx_ctx_cnt		= 1,
	};
	struct fi_domain_attr domain = {
		.name			= EX_NAME,
		.threading		= FI_THREAD_SAFE,
		.control_progress	= FI_PROGRESS_AUTO,
		.data_progress		= FI_PROGRESS_AUTO,
		.resource_mgmt		= FI_RM_ENABLED,
		.mr_mode		= EX_MR_MODE,
		.mr_key_size		= sizeof(u64),
		.cq_data_size		= sizeof(u64),
		.cq_cnt			= EX_MANY,
		.ep_cnt			= EX_MANY,
		.tx_ctx_cnt		= EX_MANY,
		.rx_ctx_cnt		= EX_MANY,
		.max_ep_tx_ctx		= 1,
		.max_ep_rx_ctx		= 1,
		.cntr_cnt		= EX_MANY,
		.mr_iov_limit		= EX_MANY,
		.mr_cnt			= EX_MANY,
		.caps			= FI_LOCAL_COMM,
		.max_err_data		= EX_CM_DATA,
		.max_cntr_value		= U64_MAX,
		.max_err_cntr_value	= U64_MAX,
		.numa_node		= NUMA_NO_NODE,
	};
	struct fi_fabric_attr fabric = {
		.name		= EX_NAME,
		.prov_name	= EX_NAME,
		.prov_version	= FI_VERSION(1, 0),
	};
	struct fi_info info = {
		.caps		= EX_TX_CAPS | EX_RX_CAPS | FI_LOCAL_COMM,
		.addr_format	= FI_SOCKADDR_IN,
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

	/* Hints may raise the depth of a queue */
	if (hints && hints->tx_attr)
		tx.size = clamp_t(size_t, hints->tx_attr->size, EX_QUEUE, EX_MAX_QUEUE);
	if (hints && hints->rx_attr)
		rx.size = clamp_t(size_t, hints->rx_attr->size, EX_QUEUE, EX_MAX_QUEUE);
	/* The client says which form of keys and addresses it can follow */
	domain.mr_mode &= hints && hints->domain_attr ? hints->domain_attr->mr_mode : 0;
	return fi_dupinfo(&info);
}

/* guide: end */

static bool ex_is_here(struct net *net, const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET && kofi_addr_is_local(net, addr))
		return true;
	kofi_getinfo_reason(EX_NAME, "%pISc: not an IPv4 address of this network namespace",
			    addr);
	return false;
}

int ex_getinfo(u32 version, const char *node, const int service, u64 flags,
	       struct fi_info *hints, struct fi_info **info)
{
	struct net *net = kofi_hints_net(hints);
	struct sockaddr_storage src, dest;
	struct sockaddr_in local = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	int ret;

	ret = kofi_hints_addrs(net, node, service, flags, hints, &src, &dest);
	if (ret)
		return ret;
	if ((dest.ss_family && !ex_is_here(net, &dest)) ||
	    (src.ss_family && !kofi_addr_any(&src) && !ex_is_here(net, &src)))
		return -ENODATA;

	if (!dest.ss_family && (!src.ss_family || kofi_addr_any(&src))) {
		if (src.ss_family == AF_INET6)
			return -ENODATA;
		local.sin_port = htons(flags & FI_SOURCE ? service : 0);
		memset(&src, 0, sizeof(src));
		memcpy(&src, &local, sizeof(local));
	} else if (!src.ss_family) {
		src = dest;
		kofi_addr_set_port(&src, 0);
	}
	*info = ex_info_new(&src, dest.ss_family ? &dest : NULL, hints);
	return *info ? 0 : -ENOMEM;
}
