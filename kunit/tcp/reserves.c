// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The emergency reserves of memory (FI_OPT_MEM_RESERVES).
 *
 * When memory is short, a network card gets its buffers from the reserves, and TCP drops what
 * such a buffer brings for a socket that may not use them.  Here a tap of the loopback device
 * says of the peer's packets that they have such a buffer.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/inet_hashtables.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include "rdm.h"

#define LEN	16
#define NONE_MS	500	/* what has not come by then does not come */

/**
 * struct emergency - Memory is short
 * @pt: the tap
 * @from: TCP port of the peer
 */
struct emergency {
	struct packet_type	pt;
	__be16			from;
};

static int emergency_tap(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
			 struct net_device *orig)
{
	const struct emergency *emergency = container_of(pt, struct emergency, pt);
	const struct iphdr *ip = ip_hdr(skb);
	struct tcphdr buf;
	const struct tcphdr *tcp = NULL;

	if (skb->pkt_type != PACKET_OUTGOING && skb->protocol == htons(ETH_P_IP) &&
	    ip->protocol == IPPROTO_TCP)
		tcp = skb_header_pointer(skb, skb_network_offset(skb) + ip->ihl * 4,
					 sizeof(buf), &buf);
	if (tcp && tcp->source == emergency->from)
		skb->pfmemalloc = 1;
	consume_skb(skb);
	return 0;
}

static void emergency_end(void *emergency)
{
	dev_remove_pack(&((struct emergency *)emergency)->pt);
}

/* For packets from a port, until emergency_over() or the end of the case */
static struct emergency *emergency_begin(struct kunit *test, __be16 from)
{
	struct emergency *emergency = vt_buf(test, sizeof(*emergency));

	memset(emergency, 0, sizeof(*emergency));
	emergency->from = from;
	emergency->pt.type = htons(ETH_P_ALL);
	emergency->pt.dev = init_net.loopback_dev;
	emergency->pt.func = emergency_tap;
	dev_add_pack(&emergency->pt);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, emergency_end, emergency), 0);
	return emergency;
}

static void emergency_over(struct kunit *test, struct emergency *emergency)
{
	kunit_release_action(test, emergency_end, emergency);
}

static __be16 port_of(struct kunit *test, struct socket *sock)
{
	struct sockaddr_storage name = {};

	KUNIT_ASSERT_GE(test, kernel_getsockname(sock, (struct sockaddr *)&name), 0);
	return ((struct sockaddr_in *)&name)->sin_port;
}

static int set(struct fid *fid, int value)
{
	return fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &value, sizeof(value));
}

static void open_end(struct kunit *test, struct vt_end *end, struct fi_info *info, int value)
{
	vt_end_queues(test, end, info, &vt_default_kind);
	end->ep = vt_ep(test, info);
	if (value)
		KUNIT_ASSERT_EQ(test, set(&end->ep->fid, value), 0);
	vt_end_enable(test, end, &vt_default_kind);
}

/**
 * struct reserves - A connection of an endpoint while memory is short
 * @name: of the case
 * @open: makes it; the socket is the peer's
 * @value: FI_OPT_MEM_RESERVES
 * @arrives: what the peer sends arrives
 */
struct reserves {
	const char	*name;
	struct socket	*(*open)(struct kunit *test, struct vt_end *end, int value,
				 struct emergency **emergency);
	int		value;
	bool		arrives;
};

/* The peer has connected, and the endpoint has accepted */
static struct socket *accepts(struct kunit *test, struct vt_end *end, int value,
			      struct emergency **emergency)
{
	struct socket *sock = peer_ask(test);
	u8 buf[PEER_CM];

	open_end(test, end, vt_connreq(test, NULL), value);
	vt_accept(test, end, NULL, 0);
	peer_recv(test, sock, buf, PEER_CM);
	*emergency = emergency_begin(test, port_of(test, sock));
	return sock;
}

static struct socket *dials(struct kunit *test, struct vt_end *end, int value,
			    struct emergency **emergency)
{
	struct sockaddr_storage addr;
	struct socket *listener = peer_listen(test, &addr), *sock;
	u8 buf[PEER_CM];

	open_end(test, end, vt_of(test)->info, value);
	KUNIT_ASSERT_EQ(test, fi_connect(end->ep, &addr, NULL, 0), 0);
	sock = peer_accept(test, listener);
	peer_recv(test, sock, buf, PEER_CM);
	peer_send(test, sock, buf, peer_cm(buf, 1, NULL, 0));
	vt_event(test, end->eq, FI_CONNECTED, NULL);
	*emergency = emergency_begin(test, port_of(test, listener));
	return sock;
}

static struct socket *rdm_dials(struct kunit *test, struct vt_end *end, int value,
				struct emergency **emergency)
{
	struct rdm_peer peer = {};
	struct socket *sock;
	u8 *out = vt_buf(test, LEN), msg[PEER_BASE + LEN];

	open_end(test, end, vt_of(test)->info, value);
	rdm_peer_new(test, end, &peer, RDM_LOW);
	KUNIT_ASSERT_EQ(test, fi_send(end->ep, out, LEN, NULL, peer.addr, vt_ctx(2)), 0);
	sock = rdm_accept(test, &peer, 1, RDM_PID);
	vt_done(test, end->tx, vt_ctx(2));
	peer_recv(test, sock, msg, sizeof(msg));
	*emergency = emergency_begin(test, port_of(test, peer.listener));
	return sock;
}

static struct socket *rdm_accepts_from(struct kunit *test, struct vt_end *end, int value,
				       struct emergency **emergency, bool known)
{
	struct rdm_peer peer = { .host = RDM_LOW };
	struct socket *sock;

	open_end(test, end, vt_of(test)->info, value);
	if (known)
		rdm_peer_new(test, end, &peer, RDM_LOW);
	else
		peer.listener = peer_listen_at(test, RDM_LOW, &peer.name);
	sock = rdm_dial(test, end, &peer, 1, RDM_PID);
	*emergency = emergency_begin(test, port_of(test, sock));
	return sock;
}

static struct socket *rdm_accepts(struct kunit *test, struct vt_end *end, int value,
				  struct emergency **emergency)
{
	return rdm_accepts_from(test, end, value, emergency, true);
}

static struct socket *rdm_accepts_stranger(struct kunit *test, struct vt_end *end, int value,
					   struct emergency **emergency)
{
	return rdm_accepts_from(test, end, value, emergency, false);
}

static const struct reserves msg_table[] = {
	{ "accepts, asks for the reserves", accepts, 1, true },
	{ "accepts, does not ask", accepts, 0, false },
	{ "dials, asks for the reserves", dials, 1, true },
	{ "dials, does not ask", dials, 0, false },
};

static const struct reserves rdm_table[] = {
	{ "dials, asks for the reserves", rdm_dials, 1, true },
	{ "dials, does not ask", rdm_dials, 0, false },
	{ "accepts, asks for the reserves", rdm_accepts, 1, true },
	{ "accepts, does not ask", rdm_accepts, 0, false },
	{ "accepts a stranger, asks for the reserves", rdm_accepts_stranger, 1, false },
};

KUNIT_ARRAY_PARAM_DESC(msg, msg_table, name);
KUNIT_ARRAY_PARAM_DESC(rdm, rdm_table, name);

static void what_comes_in_an_emergency_arrives_if_the_client_has_asked(struct kunit *test)
{
	const struct reserves *row = test->param_value;
	u8 *in = vt_buf(test, LEN);
	struct emergency *emergency;
	struct vt_end end = {};
	struct socket *sock;

	sock = row->open(test, &end, row->value, &emergency);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, in, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	peer_send_msg(test, sock, LEN, 1);
	if (!row->arrives) {
		fsleep(NONE_MS * USEC_PER_MSEC);
		vt_none(test, end.rx);
		/* The peer's TCP tries again */
		emergency_over(test, emergency);
	}
	vt_done(test, end.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 1));
	if (row->arrives)
		emergency_over(test, emergency);
	peer_leave(test, sock);
}

static void no_request_comes_in_an_emergency(struct kunit *test)
{
	struct socket *sock = peer_connect(test);
	struct emergency *emergency;
	struct vt_end end = {};

	KUNIT_EXPECT_EQ(test, set(&vt_of(test)->pep->fid, 1), -ENOPROTOOPT);
	emergency = emergency_begin(test, port_of(test, sock));
	peer_request(test, sock);
	vt_no_event_for(test, vt_of(test)->eq, NONE_MS);
	emergency_over(test, emergency);
	open_end(test, &end, vt_connreq(test, NULL), 1);
	vt_accept(test, &end, NULL, 0);
}

/* The endpoint's socket, with a reference, by that of its peer */
static struct sock *other_end(struct kunit *test, const struct socket *peer)
{
	const struct inet_sock *inet = inet_sk(peer->sk);
	struct sock *sk;

	sk = __inet_lookup_established(&init_net, init_net.ipv4.tcp_death_row.hashinfo,
				       inet->inet_saddr, inet->inet_sport, inet->inet_daddr,
				       ntohs(inet->inet_dport), LOOPBACK_IFINDEX, 0);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	return sk;
}

/* The kernel counts the sockets that may use its reserves */
static void the_end_of_a_connection_gives_the_reserves_back(struct kunit *test)
{
	struct emergency *emergency;
	struct vt_end end = {};
	struct socket *sock;
	struct sock *sk;
	int before;

	KUNIT_ASSERT_EQ(test, set(&vt_ep(test, vt_of(test)->info)->fid, 1), 0);
	before = static_key_count(&memalloc_socks_key.key);
	KUNIT_EXPECT_GT(test, before, 0);
	sock = dials(test, &end, 1, &emergency);
	KUNIT_EXPECT_EQ(test, static_key_count(&memalloc_socks_key.key), before + 1);
	emergency_over(test, emergency);
	sk = other_end(test, sock);
	vt_close(test, &end.ep->fid);
	peer_leave(test, sock);
	vt_until(static_key_count(&memalloc_socks_key.key) == before &&
		 refcount_read(&sk->sk_refcnt) == 1);
	KUNIT_EXPECT_EQ(test, static_key_count(&memalloc_socks_key.key), before);
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 1);
	sock_put(sk);
}

static struct kunit_case reserves_cases[] = {
	KUNIT_CASE_PARAM(what_comes_in_an_emergency_arrives_if_the_client_has_asked,
			 msg_gen_params),
	KUNIT_CASE(no_request_comes_in_an_emergency),
	KUNIT_CASE(the_end_of_a_connection_gives_the_reserves_back),
	{}
};

static struct kunit_suite reserves_suite = {
	.name		= "kofi_tcp_reserves",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= reserves_cases,
};

static struct kunit_case reserves_rdm_cases[] = {
	KUNIT_CASE_PARAM(what_comes_in_an_emergency_arrives_if_the_client_has_asked,
			 rdm_gen_params),
	{}
};

static struct kunit_suite reserves_rdm_suite = {
	.name		= "kofi_tcp_reserves_rdm",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= reserves_rdm_cases,
};

kunit_test_suites(&reserves_suite, &reserves_rdm_suite);
