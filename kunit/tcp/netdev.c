// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The interface that an endpoint's address is on goes.
 */
#include <linux/in.h>
#include <net/sock.h>
#include "load.h"
#include "rdm.h"

#define ADDR	"10.99.0.1"

#define NEW(name)	"dev=" name "; ip link add $dev type dummy && " \
			"ip link set $dev up && ip addr add " ADDR "/32 dev $dev"

/* The address is on no interface, and one goes that never had it */
#define AWAY	"ip addr del " ADDR "/32 dev kofi1 && " \
		"ip link add kofi2 type dummy && ip link del kofi2"

static void cleanup(void *unused)
{
	vt_shell("ip link del kofi0; ip link del kofi1");
}

static int netdev_init(struct kunit *test)
{
	int ret = kunit_add_action_or_reset(test, cleanup, NULL);

	if (ret)
		return ret;
	if (vt_shell(NEW("kofi0")))
		return -ENODEV;
	return bed_init_at(test, ADDR);
}

static void drop(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vt_shell("ip link del kofi0"), 0);
}

static void expect_gone(struct kunit *test, struct fid_eq *eq, struct fid *fid)
{
	struct fi_eq_err_entry error = {};

	vt_error(test, eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ENODEV);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, fid);
}

/* Sockets that outlive their endpoints, modulo 256 */
static int sockets_left(void)
{
	return vt_shell("exit $(sed -n 's/sockets //p' /sys/kernel/debug/kofi_tcp/lingering)");
}

static void a_connection_goes_with_its_address(struct kunit *test)
{
	int others = sockets_left();
	u8 *in = vt_buf(test, 1);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	vt_recv(test, &end, in, 1, vt_ctx(1));
	drop(test);
	/* Its address has gone, too, so nothing could answer the end of its stream */
	sock_no_linger(sock->sk);
	expect_gone(test, end.eq, &end.ep->fid);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_send(end.ep, in, 1, NULL, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_shutdown(end.ep, 0), -ENODEV);
	/* Its socket could deliver nothing */
	KUNIT_EXPECT_LE(test, sockets_left(), others);
}

/* Both ends are told, and each operation of theirs ends once */
static void a_busy_connection_goes_with_its_address(struct kunit *test)
{
	const struct fi_cq_attr attr = {};
	struct vt_pair pair = {};
	struct load *load;

	load_join(test, &pair, &attr);
	load = load_start(test, &pair);
	KUNIT_EXPECT_EQ(test, vt_shell("ip link del kofi0"), 0);
	load_expect_over(test, load);
	expect_gone(test, pair.a.eq, &pair.a.ep->fid);
	expect_gone(test, pair.b.eq, &pair.b.ep->fid);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
	vt_none(test, pair.a.tx);
}

static void a_listener_comes_back_with_its_address(struct kunit *test)
{
	struct vt_pair pair = {};

	drop(test);
	vt_no_event_for(test, vt_of(test)->eq, 500);
	KUNIT_ASSERT_EQ(test, vt_shell(NEW("kofi0")), 0);
	vt_join(test, &pair, &vt_default_kind);
	vt_ping(test, &pair.a, &pair.b);
}

static void an_endpoint_that_has_not_connected_goes_too(struct kunit *test)
{
	struct vt_end end = {};

	vt_end_open(test, &end, vt_of(test)->info, &vt_default_kind);
	drop(test);
	expect_gone(test, end.eq, &end.ep->fid);
}

static void an_address_that_moves_keeps_its_connections(struct kunit *test)
{
	u8 *in = vt_buf(test, 1);
	struct vt_end end = {};
	struct socket *sock;

	sock = peer_join(test, &end);
	KUNIT_ASSERT_EQ(test, vt_shell(NEW("kofi1")), 0);
	drop(test);
	vt_no_event_for(test, end.eq, 500);
	vt_no_event(test, vt_of(test)->eq);
	vt_recv(test, &end, in, 1, vt_ctx(1));
	peer_send_msg(test, sock, 1, 0);
	vt_done(test, end.rx, vt_ctx(1));
}

static void a_wildcard_listener_stays(struct kunit *test)
{
	struct fi_info *info = fi_dupinfo(vt_of(test)->info);
	struct sockaddr_in *sin;
	struct fid_pep *pep;
	struct fid_eq *eq;

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	sin = info->src_addr;
	sin->sin_addr.s_addr = htonl(INADDR_ANY);
	sin->sin_port = 0;
	eq = vt_eq(test, 0);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt_of(test)->fabric, info, &pep, NULL), 0);
	vt_adopt(test, &pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(pep, &eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(pep), 0);
	drop(test);
	vt_no_event_for(test, eq, 500);
}

static struct kunit_case netdev_cases[] = {
	KUNIT_CASE(a_connection_goes_with_its_address),
	KUNIT_CASE(a_busy_connection_goes_with_its_address),
	KUNIT_CASE(a_listener_comes_back_with_its_address),
	KUNIT_CASE(an_endpoint_that_has_not_connected_goes_too),
	KUNIT_CASE(an_address_that_moves_keeps_its_connections),
	KUNIT_CASE(a_wildcard_listener_stays),
	{}
};

static struct kunit_suite netdev_suite = {
	.name		= "kofi_tcp_netdev",
	.init		= netdev_init,
	.exit		= vt_exit,
	.test_cases	= netdev_cases,
};

static int netdev_rdm_init(struct kunit *test)
{
	int ret = kunit_add_action_or_reset(test, cleanup, NULL);

	if (ret)
		return ret;
	if (vt_shell(NEW("kofi0")))
		return -ENODEV;
	return bed_init_rdm_at(test, ADDR);
}

static void an_endpoint_without_connections_goes_with_its_address(struct kunit *test)
{
	u8 *in = vt_buf(test, 1);
	struct vt_end end = {};

	rdm_open(test, &end);
	vt_recv(test, &end, in, 1, vt_ctx(1));
	drop(test);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_recv(end.ep, in, 1, NULL, 0, NULL), -ENODEV);
}

static void an_endpoint_without_connections_stays_where_its_address_is(struct kunit *test)
{
	u8 *in = vt_buf(test, 1);
	struct vt_end end = {};

	rdm_open(test, &end);
	KUNIT_ASSERT_EQ(test, vt_shell(NEW("kofi1")), 0);
	drop(test);
	schedule_timeout_uninterruptible(HZ / 2);
	vt_recv(test, &end, in, 1, vt_ctx(1));
	vt_none(test, end.rx);
	/* Another interface is no matter, though the address is away just then */
	KUNIT_ASSERT_EQ(test, vt_shell(AWAY), 0);
	schedule_timeout_uninterruptible(HZ / 2);
	vt_none(test, end.rx);
	/* And goes with that interface */
	KUNIT_ASSERT_EQ(test, vt_shell("ip link del kofi1"), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, ECANCELED);
}

static struct kunit_case netdev_rdm_cases[] = {
	KUNIT_CASE(an_endpoint_without_connections_goes_with_its_address),
	KUNIT_CASE(an_endpoint_without_connections_stays_where_its_address_is),
	{}
};

static struct kunit_suite netdev_rdm_suite = {
	.name		= "kofi_tcp_netdev_rdm",
	.init		= netdev_rdm_init,
	.exit		= vt_exit,
	.test_cases	= netdev_rdm_cases,
};

#define ADDR6	"fd88::7"
#define KEEP	"/proc/sys/net/ipv6/conf/kofi6/keep_addr_on_down"

static void cleanup6(void *unused)
{
	vt_shell("ip link del kofi6; ip link del kofi8");
}

/* The interface that has the address, and one that has nothing to do with it */
static const char *const netdev6_new[] = {
	"ip link add kofi8 type dummy",
	"ip link add kofi6 type veth peer name kofi9",
	"ip link set kofi9 up && ip link set kofi6 up",
	"echo 1 >" KEEP " && ip addr add " ADDR6 "/64 dev kofi6 && sleep 3",
};

static int netdev6_init(struct kunit *test)
{
	int i, ret = kunit_add_action_or_reset(test, cleanup6, NULL);

	for (i = 0; !ret && i < ARRAY_SIZE(netdev6_new); i++)
		ret = vt_shell(netdev6_new[i]) ? -ENODEV : 0;
	return ret ? : bed_init_at(test, ADDR6);
}

/* @command: ends with the removal of the other interface */
static void expect_to_stay(struct kunit *test, const char *command, const char *repair)
{
	struct vt_pair pair = {}, late = {};

	vt_join(test, &pair, &vt_default_kind);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
	vt_no_event_for(test, vt_of(test)->eq, 300);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
	KUNIT_ASSERT_EQ(test, vt_shell(repair), 0);
	vt_ping(test, &pair.a, &pair.b);
	vt_join(test, &late, &vt_default_kind);
	vt_ping(test, &late.a, &late.b);
}

/* Duplicate address detection runs again when the interface comes up */
static void a_tentative_address_has_not_gone(struct kunit *test)
{
	expect_to_stay(test, "ip link set kofi6 down && ip link set kofi6 up && ip link del kofi8",
		       "sleep 3");
}

static void an_address_of_an_interface_that_is_down_has_not_gone(struct kunit *test)
{
	expect_to_stay(test, "echo 0 >" KEEP "; ip link set kofi6 down && ip link del kofi8",
		       "ip link set kofi6 up && ip addr add " ADDR6 "/64 dev kofi6 && sleep 3");
}

static struct kunit_case netdev6_cases[] = {
	KUNIT_CASE(a_tentative_address_has_not_gone),
	KUNIT_CASE(an_address_of_an_interface_that_is_down_has_not_gone),
	{}
};

static struct kunit_suite netdev6_suite = {
	.name		= "kofi_tcp_netdev_ipv6",
	.init		= netdev6_init,
	.exit		= vt_exit,
	.test_cases	= netdev6_cases,
};

kunit_test_suites(&netdev_suite, &netdev_rdm_suite, &netdev6_suite);
