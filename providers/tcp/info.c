// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() finds: an endpoint with connections and one without for each address of the
 * namespace that the client asks for, loopback addresses last.  If the client names an address of
 * its own or a peer, both are for that address, or for the one that the peer is reached from.
 *
 * As with libfabric's tcp, a fabric is a network ("10.0.0.0/24") and a domain is an interface
 * ("eth0"), those of the address.  They say where an info is.  What is opened with it reaches as
 * far as the routes of the namespace.
 *
 * Message order: TCP keeps the order of what is sent, and a receiver deals with one message
 * at a time.  Only reads may be overtaken: at the target, their responses by what the target sends;
 * at the initiator, a read by a message or a write that is posted behind it.  A message to an
 * endpoint without connections may wait for its receive while the receiver deals with what is
 * behind it.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <net/net_namespace.h>
#include <kofi/compat.h>
#include <kofi/dmabuf.h>
#include <kofi/tclass.h>
#include "tcp.h"

#define KTCP_CAPS	(FI_MSG | FI_RMA | KTCP_CONN_CAPS | KOFI_DMABUF_CAPS)
/* The wire of endpoints without connections has no message for a save or the end of a key */
#define KTCP_CONN_CAPS	(FI_RMA_PMEM | FI_REMOTE_INV)
#define KTCP_TX_CAPS	(KTCP_CAPS | FI_SEND | FI_READ | FI_WRITE | FI_FENCE)
#define KTCP_RX_CAPS	(KTCP_CAPS | FI_RECV | FI_REMOTE_READ | \
			 FI_REMOTE_WRITE | FI_MULTI_RECV | FI_RMA_EVENT)
#define KTCP_DOMAIN_CAPS	(FI_LOCAL_COMM | FI_REMOTE_COMM)
#define KTCP_ORDER	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | \
			 FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_SAW | \
			 FI_ORDER_SAS)
#define KTCP_RDM_CAPS	(FI_TAGGED | FI_TAGGED_RMA)
#define KTCP_RDM_RX_CAPS	(FI_DIRECTED_RECV | FI_SOURCE | FI_TAGGED_MULTI_RECV)
#define KTCP_RDM_ORDER	(KTCP_ORDER & ~(FI_ORDER_RAS | FI_ORDER_WAS))

/* Applies what an endpoint without connections has in addition, and what it lacks */
static void ktcp_info_set_rdm(struct fi_info *info)
{
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->protocol = FI_PROTO_XNET;
	info->tx_attr->msg_order = KTCP_RDM_ORDER;
	info->rx_attr->msg_order = KTCP_RDM_ORDER;
	info->ep_attr->mem_tag_format = U64_MAX;
	info->tx_attr->caps &= ~KTCP_CONN_CAPS;
	info->rx_attr->caps &= ~KTCP_CONN_CAPS;
	info->tx_attr->caps |= KTCP_RDM_CAPS | FI_NAMED_RX_CTX;
	info->rx_attr->caps |= KTCP_RDM_CAPS | KTCP_RDM_RX_CAPS;
	info->domain_attr->caps |= FI_AV_USER_ID;
	info->domain_attr->max_ep_tx_ctx = KOFI_SOFT_CTXS;
	info->domain_attr->max_ep_rx_ctx = KOFI_SOFT_CTXS;
	info->domain_attr->max_ep_srx_ctx = 0;
	info->domain_attr->max_err_data = 0;
	info->caps &= ~KTCP_CONN_CAPS;
	info->caps |= KTCP_RDM_CAPS | KTCP_RDM_RX_CAPS | FI_AV_USER_ID | FI_NAMED_RX_CTX;
}

static struct fi_info *ktcp_info_new(enum fi_ep_type type,
				     struct kofi_addr_place *place,
				     const struct sockaddr_storage *src,
				     const struct sockaddr_storage *dest,
				     const struct fi_info *hints)
{
	struct fi_tx_attr tx = {
		.caps		= KTCP_TX_CAPS,
		.op_flags	= ktcp_limits.tx_op_flags,
		.msg_order	= KTCP_ORDER,
		.comp_order	= FI_ORDER_NONE,
		.inject_size	= KOFI_OP_INJECT,
		.size		= KTCP_DEF_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
		.rma_iov_limit	= KOFI_RMA_MAX_IOV,
	};
	struct fi_rx_attr rx = {
		.caps		= KTCP_RX_CAPS,
		.op_flags	= ktcp_limits.rx_op_flags,
		.msg_order	= KTCP_ORDER,
		.comp_order	= FI_ORDER_NONE,
		.size		= KTCP_DEF_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
	};
	struct fi_ep_attr ep = {
		.type			= FI_EP_MSG,
		.protocol		= FI_PROTO_SOCK_TCP,
		.protocol_version	= TCP_WIRE_VERSION,
		.max_msg_size		= KTCP_MAX_MSG,
		.max_order_raw_size	= KTCP_MAX_MSG,
		.max_order_waw_size	= KTCP_MAX_MSG,
		.tx_ctx_cnt		= 1,
		.rx_ctx_cnt		= 1,
	};
	struct fi_domain_attr domain = {
		.name			= place->interface,
		.threading		= FI_THREAD_SAFE,
		.control_progress	= FI_PROGRESS_AUTO,
		.data_progress		= FI_PROGRESS_AUTO,
		.resource_mgmt		= FI_RM_ENABLED,
		.av_type		= FI_AV_UNSPEC,
		.mr_key_size		= sizeof(u64),
		.cq_data_size		= sizeof(u64),
		.cq_cnt			= KTCP_MANY,
		.ep_cnt			= KTCP_MANY,
		.tx_ctx_cnt		= KTCP_MANY,
		.rx_ctx_cnt		= KTCP_MANY,
		.max_ep_tx_ctx		= 1,
		.max_ep_rx_ctx		= 1,
		.max_ep_srx_ctx		= KTCP_MANY,
		.cntr_cnt		= KTCP_MANY,
		.mr_iov_limit		= KTCP_MANY,
		.mr_cnt			= KTCP_MANY,
		.caps			= KTCP_DOMAIN_CAPS,
		.max_err_data		= TCP_WIRE_CM_DATA,
		.max_cntr_value		= U64_MAX,
		.max_err_cntr_value	= U64_MAX,
		.numa_node		= NUMA_NO_NODE,
	};
	struct fi_fabric_attr fabric = {
		.name		= place->network,
		.prov_name	= KTCP_NAME,
		.prov_version	= KTCP_VERSION,
	};
	struct fi_info info = {
		.caps		= KTCP_TX_CAPS | KTCP_RX_CAPS | KTCP_DOMAIN_CAPS,
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

	/* Hints may raise these above the default */
	if (hints && hints->tx_attr) {
		tx.size = clamp_t(size_t, hints->tx_attr->size, tx.size,
				  KTCP_MAX_QUEUE);
		tx.tclass = hints->tx_attr->tclass;
	}
	if (hints && hints->rx_attr)
		rx.size = clamp_t(size_t, hints->rx_attr->size, rx.size,
				  KTCP_MAX_QUEUE);
	if (type == FI_EP_RDM)
		ktcp_info_set_rdm(&info);
	else if (hints && hints->ep_attr &&
		 hints->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		ep.rx_ctx_cnt = FI_SHARED_CONTEXT;
	/* The client says which of the two forms of keys and addresses it wants */
	if (hints && hints->domain_attr) {
		domain.mr_mode = KTCP_MR_MODE & hints->domain_attr->mr_mode;
		domain.tclass = hints->domain_attr->tclass;
	}
	kofi_soft_info_short_keys(&domain, hints);
	kofi_soft_info_lend(&info, hints);
	return fi_dupinfo(&info);
}

/* Adds both kinds of endpoints at an address */
static int ktcp_info_add(struct fi_info ***end,
			 const struct sockaddr_storage *src,
			 const struct sockaddr_storage *dest,
			 const struct fi_info *hints)
{
	static const enum fi_ep_type types[] = { FI_EP_MSG, FI_EP_RDM };
	struct kofi_addr_place place;
	int i;

	kofi_addr_place(kofi_hints_net(hints), src, &place);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		**end = ktcp_info_new(types[i], &place, src, dest, hints);
		if (!**end)
			return -ENOMEM;
		*end = &(**end)->next;
	}
	return 0;
}

static int ktcp_info_loopback(struct fi_info ***end, int family, int port,
			      const struct fi_info *hints)
{
	struct sockaddr_storage src = { .ss_family = family };
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&src;
	struct sockaddr_in *sin = (struct sockaddr_in *)&src;

	if (family == AF_INET6)
		sin6->sin6_addr = in6addr_loopback;
	else
		sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	kofi_addr_set_port(&src, port);
	return ktcp_info_add(end, &src, NULL, hints);
}

/* Can a socket have the address?  Not one of a VRF, as sockets here belong to no VRF */
static bool ktcp_info_usable(struct net *net, const struct sockaddr_storage *addr)
{
	if (kofi_addr_is_local(net, addr))
		return true;
	if (kofi_addr_ifindex(net, addr))
		kofi_getinfo_reason(KTCP_NAME,
				    "%pISc: an address of a VRF, or one that may not be used yet",
				    addr);
	else
		kofi_getinfo_reason(KTCP_NAME, "%pISc: not an address of this network namespace",
				    addr);
	return false;
}

/* @family: 0: both */
static int ktcp_info_all(struct net *net, int family, int port,
			 const struct fi_info *hints, struct fi_info ***end)
{
	struct sockaddr_storage *addrs;
	int i, count, ret = 0;

	count = kofi_addr_list(net, &addrs);
	if (count < 0)
		return count;
	for (i = 0; i < count && !ret; i++) {
		if ((family && family != addrs[i].ss_family) || !ktcp_info_usable(net, &addrs[i]))
			continue;
		kofi_addr_set_port(&addrs[i], port);
		ret = ktcp_info_add(end, &addrs[i], NULL, hints);
	}
	kvfree(addrs);
	if (!ret && family != AF_INET6)
		ret = ktcp_info_loopback(end, AF_INET, port, hints);
	if (!ret && family != AF_INET && !kofi_addr_family_is_off(AF_INET6))
		ret = ktcp_info_loopback(end, AF_INET6, port, hints);
	return ret;
}

/*
 * Finds the address that a peer is reached from: that of a datagram socket which is connected to
 * the peer.  Connecting it sends nothing.
 */
static int ktcp_info_route(struct net *net, const struct sockaddr_storage *dest,
			   struct sockaddr_storage *src)
{
	struct sockaddr_storage to = *dest;
	struct socket *sock;
	int ret;

	ret = sock_create_kern(net, dest->ss_family, SOCK_DGRAM, IPPROTO_UDP,
			       &sock);
	if (ret)
		return ret;
	if (!kofi_addr_port(&to))
		kofi_addr_set_port(&to, 1);
	ret = kernel_connect(sock, (struct sockaddr_unsized *)&to,
			     kofi_addr_len(&to), 0);
	if (!ret)
		ret = ktcp_sock_name(sock, false, src);
	sock_release(sock);
	if (ret) {
		kofi_getinfo_reason(KTCP_NAME, "%pISc: no route to this address: %s",
				    dest, fi_strerror(-ret));
		return ret == -ENOMEM ? ret : -ENODATA;
	}
	kofi_addr_set_port(src, 0);
	return 0;
}

static int ktcp_info_one(struct net *net, struct sockaddr_storage *src,
			 const struct sockaddr_storage *dest,
			 const struct fi_info *hints, struct fi_info ***end)
{
	int ret = 0;

	if (!src->ss_family || kofi_addr_any(src))
		ret = ktcp_info_route(net, dest, src);
	else if (!ktcp_info_usable(net, src))
		ret = -ENODATA;
	return ret ? : ktcp_info_add(end, src, dest->ss_family ? dest : NULL,
				     hints);
}

/* Do the hints name a traffic class that is not known? */
static bool ktcp_tclass_unknown(const struct fi_info *hints)
{
	return hints && ((hints->tx_attr &&
			  !kofi_tclass_known(hints->tx_attr->tclass)) ||
			 (hints->domain_attr &&
			  !kofi_tclass_known(hints->domain_attr->tclass)));
}

int ktcp_getinfo(u32 version, const char *node, const int service, u64 flags,
		 struct fi_info *hints, struct fi_info **info)
{
	struct net *net = kofi_hints_net(hints);
	struct sockaddr_storage src, dest;
	struct fi_info *list = NULL, **end = &list;
	int ret, port = flags & FI_SOURCE ? service : 0;

	if (ktcp_tclass_unknown(hints)) {
		kofi_getinfo_reason(KTCP_NAME, "unknown traffic class");
		return -ENODATA;
	}
	ret = kofi_hints_addrs(net, node, service, flags, hints, &src, &dest);
	if (ret)
		return ret;
	if (dest.ss_family || (src.ss_family && !kofi_addr_any(&src)))
		ret = ktcp_info_one(net, &src, &dest, hints, &end);
	else
		ret = ktcp_info_all(net, src.ss_family, src.ss_family ?
				    kofi_addr_port(&src) ? : port : port,
				    hints, &end);
	if (ret) {
		fi_freeinfo(list);
		return ret;
	}
	*info = list;
	return 0;
}
