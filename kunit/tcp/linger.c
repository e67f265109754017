// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is in the socket when a client ends its connection is delivered, for as long as a peer
 * may answer nothing (peer_timeout, 10 seconds).
 *
 * The peer is dead, so nothing has been acknowledged at the end, and comes back.
 */
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "../lib/netns.h"
#include "rdm.h"

#define LEN	4096
#define MANY	8
#define PEER_S	10
#define SLACK_S	3	/* other guests share the processors */

static const char nothing[] = "grep -qx 'sockets 0' /sys/kernel/debug/kofi_tcp/lingering";
static const char one[] = "grep -qx 'sockets 1' /sys/kernel/debug/kofi_tcp/lingering";

/* Messages that have completed, and that the peer has not */
static void send_unseen(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	u8 *out = vt_buf(test, LEN);
	int i;

	vt_fill(out, LEN, 3);
	peer_dies(test, sock);
	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(end->ep, out, LEN, NULL, 0, vt_ctx(i + 1)), 0);
		vt_done(test, end->tx, vt_ctx(i + 1));
	}
}

/* All of them, and then the end of the stream, which is no reset */
static void expect_all(struct kunit *test, struct socket *sock)
{
	u8 *in = vt_buf(test, PEER_BASE + LEN);
	struct kvec kvec = { in, 1 };
	struct msghdr msg = {};
	int i;

	for (i = 0; i < MANY; i++) {
		peer_recv(test, sock, in, PEER_BASE + LEN);
		KUNIT_EXPECT_TRUE(test, vt_filled(in + PEER_BASE, LEN, 3));
	}
	KUNIT_EXPECT_EQ(test, kernel_recvmsg(sock, &msg, &kvec, 1, 1, 0), 0);
}

static void wait_nothing_lingers(struct kunit *test, unsigned int seconds)
{
	unsigned long until = jiffies + seconds * HZ;

	while (vt_shell(nothing) && time_before(jiffies, until))
		schedule_timeout_uninterruptible(HZ / 10);
	KUNIT_EXPECT_EQ(test, vt_shell(nothing), 0);
}

static void what_has_been_sent_before_a_close_arrives(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	send_unseen(test, &end, sock);
	vt_end_close(test, &end);
	KUNIT_EXPECT_NE(test, vt_shell(nothing), 0);
	peer_revives(test, sock);
	expect_all(test, sock);
	peer_close(test, sock);
	wait_nothing_lingers(test, SLACK_S);
}

/* The endpoint has its event at once */
static void what_has_been_sent_before_a_shutdown_arrives(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_respond(test, &end);
	union vt_event event;

	send_unseen(test, &end, sock);
	KUNIT_ASSERT_EQ(test, fi_shutdown(end.ep, 0), 0);
	vt_event(test, end.eq, FI_SHUTDOWN, &event);
	peer_revives(test, sock);
	expect_all(test, sock);
	vt_no_event(test, end.eq);
}

/* Before the end and after it; nobody reads that any more */
static void what_the_peer_sends_is_in_nobodys_way(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	peer_send_msg(test, sock, LEN, 0);
	send_unseen(test, &end, sock);
	vt_end_close(test, &end);
	peer_send_msg(test, sock, LEN, 0);
	peer_revives(test, sock);
	expect_all(test, sock);
}

static void a_peer_that_acknowledges_nothing_is_given_up(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	u8 byte = 0;

	send_unseen(test, &end, sock);
	vt_end_close(test, &end);
	KUNIT_EXPECT_NE(test, vt_shell(nothing), 0);
	wait_nothing_lingers(test, PEER_S + SLACK_S);
	peer_revives(test, sock);
	peer_send(test, sock, &byte, 1);
	peer_hung_up(test, sock);
}

/* It has all, and does not end its stream */
static void a_peer_that_does_not_hang_up_is_given_up(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	vt_end_close(test, &end);
	KUNIT_EXPECT_NE(test, vt_shell(nothing), 0);
	wait_nothing_lingers(test, PEER_S + SLACK_S);
	peer_hung_up(test, sock);
}

/* Nothing of what a peer sends that breaks a rule is worth a response */
static void a_violation_ends_at_once(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	u8 msg[PEER_BASE];

	send_unseen(test, &end, sock);
	peer_send(test, sock, msg, peer_op(msg, 77, 0, 0));
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(end.ep, VT_PATIENCE_MS), 0);
	KUNIT_EXPECT_EQ(test, vt_shell(nothing), 0);
}

/* The oldest one goes, the next one delivers */
static void so_many_sockets_outlive_their_endpoints(struct kunit *test)
{
	struct vt_end first = {}, next = {};
	struct socket *lost = peer_join(test, &first), *sock = peer_join(test, &next);
	struct sock *sk = peer_other_end(test, lost);
	u8 byte = 0;

	rdm_param(test, "lingering_max", "1");
	/* More than vt_until() waits */
	rdm_param(test, "peer_timeout", "300");
	send_unseen(test, &first, lost);
	send_unseen(test, &next, sock);
	vt_end_close(test, &first);
	KUNIT_EXPECT_EQ(test, vt_shell(one), 0);
	sock_hold(sk);
	vt_end_close(test, &next);
	KUNIT_EXPECT_EQ(test, vt_shell(one), 0);
	/* Not when its own time is over, though its peer says nothing */
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(sk->sk_state) == TCP_CLOSE));
	sock_put(sk);
	peer_revives(test, sock);
	expect_all(test, sock);
	peer_revives(test, lost);
	peer_send(test, lost, &byte, 1);
	peer_hung_up(test, lost);
}

static void where_none_may_outlive_its_endpoint_it_ends_at_once(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	u8 byte = 0;

	rdm_param(test, "lingering_max", "0");
	send_unseen(test, &end, sock);
	vt_end_close(test, &end);
	KUNIT_EXPECT_EQ(test, vt_shell(nothing), 0);
	peer_revives(test, sock);
	peer_send(test, sock, &byte, 1);
	peer_hung_up(test, sock);
}

/* The peer's TCP has connected, and nothing has been accepted */
static void an_attempt_to_connect_ends_at_once(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct socket *listener = peer_listen(test, &addr), *sock;
	struct vt_end end = {};
	u8 buf[PEER_CM];

	vt_client(test, &end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &addr, NULL, 0), 0);
	sock = peer_accept(test, listener);
	peer_recv(test, sock, buf, PEER_CM);
	vt_end_close(test, &end);
	KUNIT_EXPECT_EQ(test, vt_shell(nothing), 0);
	peer_hung_up(test, sock);
}

static struct kunit_case linger_cases[] = {
	KUNIT_CASE(what_has_been_sent_before_a_close_arrives),
	KUNIT_CASE(what_has_been_sent_before_a_shutdown_arrives),
	KUNIT_CASE(what_the_peer_sends_is_in_nobodys_way),
	KUNIT_CASE_SLOW(a_peer_that_acknowledges_nothing_is_given_up),
	KUNIT_CASE_SLOW(a_peer_that_does_not_hang_up_is_given_up),
	KUNIT_CASE(a_violation_ends_at_once),
	KUNIT_CASE(an_attempt_to_connect_ends_at_once),
	KUNIT_CASE(so_many_sockets_outlive_their_endpoints),
	KUNIT_CASE(where_none_may_outlive_its_endpoint_it_ends_at_once),
	{}
};

/* The case before has closed its endpoints, whose peers are gone */
static int linger_init(struct kunit *test)
{
	int ret = bed_init(test);

	if (!ret)
		wait_nothing_lingers(test, PEER_S + SLACK_S);
	return ret;
}

static struct kunit_suite linger_suite = {
	.name		= "kofi_tcp_linger",
	.init		= linger_init,
	.exit		= vt_exit,
	.test_cases	= linger_cases,
};

static void set_loopback(struct net *net, bool up)
{
	rtnl_lock();
	if (up)
		dev_open(net->loopback_dev, NULL);
	else
		dev_close(net->loopback_dev);
	rtnl_unlock();
}

static void own_net(void *unused)
{
	peer_net = &init_net;
}

/* Its sockets do not keep it, and it does not wait for them */
static void a_namespace_that_goes_takes_them_along(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG);
	struct vt_netns *netns = vt_netns_new(test);
	struct vt_end end = {};
	struct socket *sock;
	unsigned long since;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, own_net, NULL), 0);
	peer_net = netns->net;
	set_loopback(netns->net, true);
	hints->fabric_attr->net = netns->net;
	vt_open_info(test, tcp_find(test, "127.0.0.1", hints));
	vt_listen(test, vt_eq(test, 0));
	sock = peer_join(test, &end);
	send_unseen(test, &end, sock);
	vt_end_close(test, &end);
	/* The peer's reset does not reach it */
	set_loopback(netns->net, false);
	peer_close(test, sock);
	KUNIT_EXPECT_NE(test, vt_shell(nothing), 0);
	since = jiffies;
	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
	KUNIT_EXPECT_LT(test, jiffies - since, (PEER_S - SLACK_S) * HZ);
	KUNIT_EXPECT_EQ(test, vt_shell(nothing), 0);
}

static struct kunit_case linger_net_cases[] = {
	KUNIT_CASE(a_namespace_that_goes_takes_them_along),
	{}
};

static struct kunit_suite linger_net_suite = {
	.name		= "kofi_tcp_linger_net",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= linger_net_cases,
};

kunit_test_suites(&linger_suite, &linger_net_suite);
