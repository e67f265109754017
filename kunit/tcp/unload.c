// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of the module.
 *
 * The last case leaves a socket that outlives its endpoint for an hour: the peer has all that was
 * sent, and nothing that the peer sends arrives, as their address has gone.  When
 * scripts/guest/kunit.sh unloads kofi_tcp, the module has to end that wait.  If it does not, the
 * kernel reports a task that waits for ever.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "rdm.h"

#define ADDR	"10.99.0.1"
#define NEW	"ip link add kofi0 type dummy && ip link set kofi0 up && " \
		"ip addr add " ADDR "/32 dev kofi0"
#define LEN	4096

static void cleanup(void *unused)
{
	vt_shell("ip link del kofi0");
}

static int unload_init(struct kunit *test)
{
	int ret = kunit_add_action_or_reset(test, cleanup, NULL);

	if (ret)
		return ret;
	if (vt_shell(NEW))
		return -ENODEV;
	return bed_init_at(test, ADDR);
}

static void a_socket_whose_peer_has_all_does_not_hold_up_the_module(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, PEER_BASE + LEN);
	struct vt_end end = {};
	struct socket *sock;
	struct sock *sk;

	rdm_param(test, "peer_timeout", "3600");
	sock = peer_join(test, &end);
	sk = peer_other_end(test, sock);
	vt_fill(out, LEN, 3);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end.tx, vt_ctx(1));
	vt_end_close(test, &end);
	peer_recv(test, sock, in, PEER_BASE + LEN);
	KUNIT_EXPECT_TRUE(test, vt_filled(in + PEER_BASE, LEN, 3));
	peer_hung_up(test, sock);
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(sk->sk_state) != TCP_FIN_WAIT1));
	KUNIT_ASSERT_EQ(test, vt_shell("ip link del kofi0"), 0);
	sock_no_linger(sock->sk);
	peer_close(test, sock);
	KUNIT_EXPECT_EQ(test, READ_ONCE(sk->sk_state), TCP_FIN_WAIT2);
}

static struct kunit_case unload_cases[] = {
	KUNIT_CASE(a_socket_whose_peer_has_all_does_not_hold_up_the_module),
	{}
};

static struct kunit_suite unload_suite = {
	.name		= "kofi_tcp_unload",
	.init		= unload_init,
	.exit		= vt_exit,
	.test_cases	= unload_cases,
};

kunit_test_suite(unload_suite);
