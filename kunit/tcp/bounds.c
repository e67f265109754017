// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What one peer can make this side hold, and that debugfs counts it
 * (/sys/kernel/debug/kofi_tcp).  Each case has a peer that asks for more; the last one is about
 * what the client itself has open (/sys/kernel/debug/kofi).
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <rdma/fi_rma.h>
#include "../lib/file.h"
#include "../lib/refusal.h"
#include "rdm.h"

#define DIR		"/sys/kernel/debug/kofi_tcp/"
#define COPY		"/tmp/kofi_tcp_held"
#define TEXT		SZ_16K
#define GREETINGS	128	/* of a listener */
#define PRESSED_S	1	/* that each of them has when another one waits */
#define SLACK_S		3	/* other guests share the processors */
#define REQUESTS	1024	/* of a listener that the client has not answered */
#define RESPONSES		16	/* of a connection */
#define EVENTS		64	/* of a connection */
#define EARLY		SZ_16K	/* bytes of a connection that is not accepted */
#define PIECE		(SZ_64K + SZ_16K) /* what TCP may take beyond a limit: a segment */
#define LEN		SZ_64K
#define KEY		5
#define OBJECTS		"/sys/kernel/debug/kofi/objects"
#define REGIONS		32

static int bounds_init(struct kunit *test)
{
	if (vt_shell("[ -d " DIR " ] || mount -t debugfs none /sys/kernel/debug"))
		return -ENODEV;
	return bed_init(test);
}

/* A file of debugfs is for user space to read, so a shell copies it */
static void read_file(struct kunit *test, const char *path, char *text, size_t size)
{
	char command[96];
	struct file *file;
	loff_t pos = 0;
	ssize_t len;

	snprintf(command, sizeof(command), "cat %s >" COPY, path);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
	file = vt_file_open(COPY, O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	len = kernel_read(file, text, size - 1, &pos);
	filp_close(file, NULL);
	KUNIT_ASSERT_GE(test, len, (ssize_t)0);
	text[len] = 0;
}

/* A number and its limit in the line of the case's listener, or of its one connection */
static long held(struct kunit *test, const char *path, const char *what, long *limit)
{
	char *text = vt_buf(test, TEXT), name[64], *at = text;
	long value = -1;
	int numbers;

	read_file(test, path, text, TEXT);
	if (!strcmp(path, DIR "listeners")) {
		snprintf(name, sizeof(name), "%pISpc ", &vt_of(test)->name);
		at = strstr(text, name);
		KUNIT_ASSERT_NOT_NULL(test, at);
	}
	at = strstr(at, what);
	KUNIT_ASSERT_NOT_NULL_MSG(test, at, "no %s in %s", what, text);
	numbers = sscanf(at + strlen(what), " %ld/%ld", &value, limit);
	KUNIT_ASSERT_EQ(test, numbers, 2);
	kunit_kfree(test, text);
	return value;
}

/* It comes to that, and has this limit */
static void wait_held(struct kunit *test, const char *path, const char *what, long want,
		      long want_limit)
{
	long limit, value;

	vt_until((value = held(test, path, what, &limit)) == want);
	KUNIT_EXPECT_EQ_MSG(test, value, want, "%s", what);
	KUNIT_EXPECT_EQ(test, limit, want_limit);
}

/* Sends until no more is taken for a while; returns the bytes */
static long flood(struct kunit *test, struct socket *sock, const u8 *buf, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec kvec = { (void *)buf, len };
	long total = 0;
	int ret;

	sock->sk->sk_sndtimeo = HZ / 2;
	for (;;) {
		ret = kernel_sendmsg(sock, &msg, &kvec, 1, len);
		if (ret <= 0)
			break;
		total += ret;
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	return total;
}

/* The next one waits for a place, and the oldest gives it up after a second */
static void connections_that_ask_nothing_have_so_many_places(struct kunit *test)
{
	struct socket *silent[GREETINGS];
	unsigned long since = jiffies, asked;
	int i;

	/* All are of one address */
	rdm_param(test, "greetings_max", __stringify(GREETINGS));
	for (i = 0; i < GREETINGS; i++)
		silent[i] = peer_connect(test);
	wait_held(test, DIR "listeners", "greetings", GREETINGS, GREETINGS);
	asked = jiffies;
	peer_ask(test);
	vt_connreq(test, NULL);
	KUNIT_EXPECT_GE(test, jiffies - since, PRESSED_S * HZ);
	/* The many connections before it may have taken longer */
	KUNIT_EXPECT_LE(test, jiffies - asked, (PRESSED_S + SLACK_S) * HZ);
	peer_hung_up(test, silent[0]);
	/* The other ones have theirs as long as nobody else wants it */
	wait_held(test, DIR "listeners", "greetings", GREETINGS - 1, GREETINGS);
}

static void requests_have_the_places_of_the_event_queue(struct kunit *test)
{
	struct socket *sock;
	int i;

	vt_listen(test, vt_eq(test, 2));
	for (i = 0; i < 3; i++) {
		sock = peer_ask(test);
		wait_held(test, DIR "listeners", "unread", min(i + 1, 2), 2);
	}
	peer_rejected(test, sock);
	vt_connreq(test, NULL);
	vt_connreq(test, NULL);
	vt_no_event(test, vt_of(test)->eq);
	wait_held(test, DIR "listeners", "unread", 0, 2);
	wait_held(test, DIR "listeners", "requests", 2, REQUESTS);
}

/* A client that reads requests and answers none */
static void requests_that_are_not_answered_are_so_many(struct kunit *test)
{
	struct fi_info *info = NULL;
	struct socket *sock;
	struct vt_end end = {};
	int i;

	for (i = 0; i < REQUESTS; i++) {
		peer_ask(test);
		info = vt_connreq(test, NULL);
	}
	wait_held(test, DIR "listeners", "requests", REQUESTS, REQUESTS);
	sock = peer_ask(test);
	peer_rejected(test, sock);
	vt_no_event(test, vt_of(test)->eq);
	/* A response makes room for the next one */
	vt_end_open(test, &end, info, &vt_default_kind);
	wait_held(test, DIR "listeners", "requests", REQUESTS - 1, REQUESTS);
	peer_ask(test);
	vt_connreq(test, NULL);
	wait_held(test, DIR "listeners", "requests", REQUESTS, REQUESTS);
}

/* And what it has sent meanwhile comes when it has been */
static void a_peer_that_is_not_accepted_sends_so_much(struct kunit *test)
{
	u8 buf[PEER_CM], *msg = vt_buf(test, PEER_BASE + LEN), *in = vt_buf(test, LEN);
	struct socket *sock = peer_ask(test);
	struct vt_end end = {};
	struct fi_info *info;
	long limit, sent;

	info = vt_connreq(test, NULL);
	peer_op(msg, 0, 0, LEN);
	vt_fill(msg + PEER_BASE, LEN, 4);
	sent = flood(test, sock, msg, PEER_BASE + LEN);
	KUNIT_EXPECT_LE(test, held(test, DIR "listeners", "rx", &limit), EARLY + PIECE);
	KUNIT_EXPECT_EQ(test, limit, EARLY);
	kunit_info(test, "%ld bytes sent, %ld held\n", sent,
		   held(test, DIR "listeners", "rx", &limit));
	vt_end_open(test, &end, info, &vt_default_kind);
	vt_accept(test, &end, NULL, 0);
	peer_recv(test, sock, buf, PEER_CM);
	wait_held(test, DIR "listeners", "rx", 0, 0);
	for (; sent >= PEER_BASE + LEN; sent -= PEER_BASE + LEN) {
		vt_recv(test, &end, in, LEN, vt_ctx(1));
		vt_done(test, end.rx, vt_ctx(1));
		KUNIT_ASSERT_TRUE(test, vt_filled(in, LEN, 4));
		memset(in, 0, LEN);
	}
}

/* What has no receive waits in the socket: nothing is taken out of it and kept */
static void messages_without_receives_wait_in_the_socket(struct kunit *test)
{
	const long most = READ_ONCE(init_net.ipv4.sysctl_tcp_rmem[2]);
	u8 *msg = vt_buf(test, PEER_BASE + LEN), *in = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	long limit, sent, value;

	peer_op(msg, 0, 0, LEN);
	sent = flood(test, sock, msg, PEER_BASE + LEN);
	value = held(test, DIR "connections", "rx", &limit);
	kunit_info(test, "%ld bytes sent, %ld of %ld held\n", sent, value, limit);
	KUNIT_EXPECT_GT(test, value, 0L);
	KUNIT_EXPECT_LE(test, limit, most);
	KUNIT_EXPECT_LE(test, value, limit + PIECE);
	KUNIT_EXPECT_LE(test, sent, value + sock->sk->sk_sndbuf + PIECE);
	/* The header that is there is all that has been read */
	KUNIT_EXPECT_EQ(test, held(test, DIR "connections", "header", &limit), PEER_BASE);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	vt_done(test, end.rx, vt_ctx(1));
}

static void a_header_that_is_not_all_there_holds_its_bytes(struct kunit *test)
{
	struct fi_rma_iov rma[4] = {};
	const u64 data = 1;
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	u8 msg[PEER_BASE + 8 + 4 * PEER_RMA];
	size_t len = peer_hdr(msg, 4, 1, &data, rma, 4, 0);

	peer_send(test, sock, msg, len - 1);
	wait_held(test, DIR "connections", "header", len - 1, len);
}

static struct fi_rma_iov region(struct kunit *test, u8 *buf)
{
	return peer_target(peer_region(test, buf, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, KEY), LEN);
}

/* It asks for more than the socket takes, and reads nothing */
static void a_peer_that_reads_no_responses_has_so_many_under_way(struct kunit *test)
{
	const long most = READ_ONCE(init_net.ipv4.sysctl_tcp_wmem[2]) +
			  READ_ONCE(init_net.ipv4.sysctl_tcp_rmem[2]);
	u8 *in = vt_buf(test, PEER_BASE + LEN), msg[PEER_BASE + PEER_RMA];
	int i, n = most / LEN + 2 * RESPONSES;
	struct fi_rma_iov rma = region(test, vt_buf(test, LEN));
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	size_t len = peer_hdr(msg, 2, 0, NULL, &rma, 1, 0);

	for (i = 0; i < n; i++)
		peer_send(test, sock, msg, len);
	wait_held(test, DIR "connections", "responses", RESPONSES, RESPONSES);
	/* All of them are answered when it does */
	for (i = 0; i < n; i++)
		peer_recv(test, sock, in, PEER_BASE + LEN);
	wait_held(test, DIR "connections", "responses", 0, RESPONSES);
}

static void writes_that_nobody_reads_of_are_so_many(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), msg[PEER_BASE + 8 + PEER_RMA];
	struct fi_rma_iov rma = region(test, mem);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_comp comp;
	size_t len;
	u64 i;

	rma.len = 0;
	for (i = 0; i < 2 * EVENTS; i++) {
		len = peer_hdr(msg, 4, 1, &i, &rma, 1, 0);
		peer_send(test, sock, msg, len);
	}
	wait_held(test, DIR "connections", "events", EVENTS, EVENTS);
	for (i = 0; i < 2 * EVENTS; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(end.rx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.data, i);
	}
	wait_held(test, DIR "connections", "events", 0, EVENTS);
}

/* Of any provider's; the core lists them */
static void regions_that_are_alike_share_a_line(struct kunit *test)
{
	char *text = vt_buf(test, TEXT), *at;
	u8 *buf = vt_buf(test, LEN);
	int i;

	for (i = 0; i < REGIONS; i++)
		peer_region(test, buf, LEN - (i == 0), FI_REMOTE_READ, i);
	read_file(test, OBJECTS, text, TEXT);
	at = strstr(text, "memory region, provider tcp");
	KUNIT_ASSERT_NOT_NULL(test, at);
	at = strstr(at, "state enabled, size 65535\n");
	KUNIT_ASSERT_NOT_NULL(test, at);
	at = strstr(at, "state enabled, size 65536, and 30 more like it\n");
	KUNIT_ASSERT_NOT_NULL(test, at);
	KUNIT_EXPECT_NULL(test, strstr(at, "memory region"));
}

/* An endpoint without a connection has no peer, which would be a refused call */
static void a_look_at_an_endpoint_is_no_refused_call(struct kunit *test)
{
	char *text = vt_buf(test, TEXT);
	struct vt_end end = {};
	struct fid_pep *pep;

	vt_client(test, &end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt_of(test)->fabric, vt_of(test)->info, &pep, NULL), 0);
	vt_adopt(test, &pep->fid);
	vt_refusals_begin_all(test);
	/* Nor is one that does not listen yet asked for anything */
	read_file(test, DIR "listeners", text, TEXT);
	read_file(test, OBJECTS, text, TEXT);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "endpoint, provider tcp"));
	vt_not_refused(test);
}

static struct kunit_case bounds_cases[] = {
	KUNIT_CASE(connections_that_ask_nothing_have_so_many_places),
	KUNIT_CASE(requests_have_the_places_of_the_event_queue),
	KUNIT_CASE_SLOW(requests_that_are_not_answered_are_so_many),
	KUNIT_CASE(a_peer_that_is_not_accepted_sends_so_much),
	KUNIT_CASE(messages_without_receives_wait_in_the_socket),
	KUNIT_CASE(a_header_that_is_not_all_there_holds_its_bytes),
	KUNIT_CASE(a_peer_that_reads_no_responses_has_so_many_under_way),
	KUNIT_CASE(writes_that_nobody_reads_of_are_so_many),
	KUNIT_CASE(regions_that_are_alike_share_a_line),
	KUNIT_CASE(a_look_at_an_endpoint_is_no_refused_call),
	{}
};

static struct kunit_suite bounds_suite = {
	.name		= "kofi_tcp_bounds",
	.init		= bounds_init,
	.exit		= vt_exit,
	.test_cases	= bounds_cases,
};

kunit_test_suite(bounds_suite);
