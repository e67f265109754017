// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The network interface under the fake HCA's port: it has addresses, and that is
 * all rdma_cm wants of it; packets sent to it are dropped.
 *
 * The addresses are set by rtnetlink messages of our own, as there is no other
 * way in from a module.  The IPv6 address repeats the MAC address in its first
 * bytes: in RoCE mode ib_core looks for a GID made so when a connection request
 * comes in from an iWARP connection manager.
 */
#include <linux/etherdevice.h>
#include <linux/file.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include "priv.h"

struct net_device *fakehca_netdev;

static const u8 fakehca_mac[ETH_ALEN] = { 0x02, 0x00, 0x0a, 0x4e, 0x00, 0x01 };

struct fakehca_addr_msg {
	struct nlmsghdr		hdr;
	struct ifaddrmsg	addr;
	struct nlattr		attr;
	u8			bytes[sizeof(struct in6_addr)];
	struct nlattr		flags_attr;
	__u32			flags;
};

struct fakehca_addr_reply {
	struct nlmsghdr		hdr;
	struct nlmsgerr		err;
	u8			rest[256];
};

/* The kernel answers before the call returns */
static int fakehca_talk(struct socket *sock, struct fakehca_addr_msg *msg)
{
	struct fakehca_addr_reply reply = {};
	struct msghdr to = {}, from = {};
	struct kvec out = { msg, msg->hdr.nlmsg_len };
	struct kvec in = { &reply, sizeof(reply) };
	int ret;

	ret = kernel_sendmsg(sock, &to, &out, 1, out.iov_len);
	if (ret < 0)
		return ret;
	ret = kernel_recvmsg(sock, &from, &in, 1, in.iov_len, MSG_DONTWAIT);
	if (ret < 0)
		return ret;
	if (ret < (int)(sizeof(reply.hdr) + sizeof(reply.err)) ||
	    reply.hdr.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return reply.err.error;
}

static int fakehca_send_addr(struct fakehca_addr_msg *msg)
{
	struct socket *sock;
	struct file *file;
	int ret;

	ret = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &sock);
	if (ret)
		return ret;
	/* rtnetlink asks the socket's file for its rights */
	file = sock_alloc_file(sock, O_CLOEXEC, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = fakehca_talk(sock, msg);
	fput(file);
	return ret;
}

static int fakehca_add_addr(int family, const void *addr, size_t len)
{
	struct fakehca_addr_msg msg = {
		.hdr = {
			.nlmsg_type	= RTM_NEWADDR,
			.nlmsg_flags	= NLM_F_REQUEST | NLM_F_ACK |
					  NLM_F_CREATE,
		},
		.addr = {
			.ifa_family	= family,
			.ifa_prefixlen	= len * 8,
			.ifa_index	= fakehca_netdev->ifindex,
		},
		.attr = {
			.nla_type	= IFA_LOCAL,
			.nla_len	= NLA_HDRLEN + len,
		},
		.flags_attr = {
			.nla_type	= IFA_FLAGS,
			.nla_len	= NLA_HDRLEN + sizeof(__u32),
		},
		.flags = IFA_F_NODAD,
	};

	memcpy(msg.bytes, addr, len);
	msg.hdr.nlmsg_len = sizeof(msg);
	if (family == AF_INET)
		msg.hdr.nlmsg_len = offsetof(struct fakehca_addr_msg, bytes) +
				    len;
	return fakehca_send_addr(&msg);
}

static int fakehca_add_addrs(void)
{
	struct in6_addr in6 = {};
	__be32 in = in_aton(FAKEHCA_ADDR);
	int ret;

	memcpy(&in6, fakehca_mac, sizeof(fakehca_mac));
	ret = fakehca_add_addr(AF_INET, &in, sizeof(in));
	if (!ret)
		ret = fakehca_add_addr(AF_INET6, &in6, sizeof(in6));
	if (ret)
		pr_err("fakehca: cannot set the addresses of %s: error %d; is %s in use?\n",
		       fakehca_netdev->name, ret, FAKEHCA_ADDR);
	return ret;
}

static netdev_tx_t fakehca_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops fakehca_netdev_ops = {
	.ndo_start_xmit	= fakehca_xmit,
};

static void fakehca_netdev_setup(struct net_device *netdev)
{
	ether_setup(netdev);
	netdev->netdev_ops = &fakehca_netdev_ops;
	netdev->flags |= IFF_NOARP;
	eth_hw_addr_set(netdev, fakehca_mac);
}

static int fakehca_netdev_up(void)
{
	int ret;

	rtnl_lock();
	ret = dev_open(fakehca_netdev, NULL);
	rtnl_unlock();
	return ret;
}

void fakehca_fail_over(void)
{
	static const u8 other[ETH_ALEN] = { 0x02, 0x00, 0x0a, 0x4e, 0x00, 0x02 };

	rtnl_lock();
	eth_hw_addr_set(fakehca_netdev, other);
	fakehca_netdev->flags |= IFF_MASTER;
	fakehca_netdev->priv_flags |= IFF_BONDING;
	call_netdevice_notifiers(NETDEV_BONDING_FAILOVER, fakehca_netdev);
	fakehca_netdev->priv_flags &= ~IFF_BONDING;
	fakehca_netdev->flags &= ~IFF_MASTER;
	eth_hw_addr_set(fakehca_netdev, fakehca_mac);
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(fakehca_fail_over);

int fakehca_net_init(void)
{
	int ret = -ENOMEM;

	fakehca_netdev = alloc_netdev(0, "fakehca%d", NET_NAME_ENUM, fakehca_netdev_setup);
	if (!fakehca_netdev)
		return ret;
	ret = register_netdev(fakehca_netdev);
	if (ret)
		goto free;
	ret = fakehca_netdev_up();
	if (!ret)
		ret = fakehca_add_addrs();
	if (ret)
		goto unregister;
	return 0;

unregister:
	unregister_netdev(fakehca_netdev);
free:
	free_netdev(fakehca_netdev);
	return ret;
}

void fakehca_net_exit(void)
{
	unregister_netdev(fakehca_netdev);
	free_netdev(fakehca_netdev);
}
