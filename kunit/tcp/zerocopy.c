// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Long messages, which are sent without a copy: TCP has references to their pages, and they
 * have completed when the peer's TCP has acknowledged them.
 *
 * What stays on the machine is copied, so the peer is in another network namespace, behind a
 * pair of virtual Ethernet devices.  A peer that is dead acknowledges nothing.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <net/sock.h>
#include <rdma/fi_tagged.h>
#include "../../providers/tcp/trace.h"
#include "../lib/async.h"
#include "../lib/dmabuf.h"
#include "../lib/memory.h"
#include "../lib/netns.h"
#include "rdm.h"
#include "tcp.h"

#define HERE	"10.98.0.1"
#define THERE	0x0a620002	/* 10.98.0.2 */
#define LEN	SZ_64K
#define SHORT	SZ_16K
#define KEY	5
#define LITTLE_ROOM	4608	/* bytes: a socket has no less */
#define PIECE	6000	/* of a slab */
#define COUNTS	"/sys/kernel/debug/kofi_tcp/zerocopy"

#define LINK	"ip link add kofi0 type veth peer name kofi1 && " \
		"ip addr add " HERE "/24 dev kofi0 && ip link set kofi0 up && " \
		"ip link set kofi1 netns %d && nsenter -t %d -n /bin/sh -c " \
		"'ip addr add 10.98.0.2/24 dev kofi1 && ip link set kofi1 up'"

static void unlink_peer(void *unused)
{
	peer_net = &init_net;
	vt_shell("ip link del kofi0");
}

static int far_up(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	char *command = kunit_kzalloc(test, 512, GFP_KERNEL);

	if (!command)
		return -ENOMEM;
	snprintf(command, 512, LINK, netns->pid, netns->pid);
	if (kunit_add_action_or_reset(test, unlink_peer, NULL) || vt_shell(command))
		return -ENODEV;
	peer_net = netns->net;
	return 0;
}

static int far_init(struct kunit *test)
{
	return far_up(test) ? : bed_init_at(test, HERE);
}

static int far_rdm_init(struct kunit *test)
{
	int ret = far_up(test) ? : bed_init_rdm_at(test, HERE);

	if (!ret)
		bed_caps(test, FI_TAGGED_RMA, 0);
	return ret;
}

/* Has somebody else a reference to one of the pages? */
static bool is_lent(const u8 *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += PAGE_SIZE)
		if (page_count(vmalloc_to_page(buf + i)) > 1)
			return true;
	return false;
}

static void wait_lent(struct kunit *test, const u8 *buf, size_t len, bool want)
{
	KUNIT_ASSERT_TRUE(test, vt_until(is_lent(buf, len) == want));
}

static void peer_takes(struct kunit *test, struct socket *sock, u8 op, size_t len, u8 seed)
{
	u8 *in = vt_buf(test, PEER_BASE + len), want[PEER_BASE];

	peer_hdr(want, op, 0, NULL, NULL, 0, len);
	peer_recv(test, sock, in, PEER_BASE + len);
	KUNIT_EXPECT_EQ(test, in[1], op);
	KUNIT_EXPECT_MEMEQ(test, in + 8, want + 8, 8);
	KUNIT_EXPECT_TRUE(test, vt_filled(in + PEER_BASE, len, seed));
}

/*
 * Messages whose pages the peer's TCP has acknowledged, modulo 256.  The network has copied all of
 * them on their way to the other namespace, and has to say so.
 */
static int acknowledged(void)
{
	return vt_shell("set -- $(cat " COUNTS "); exit $(($4 - $2))") >> 8;
}

/* Have the socket of the endpoint take no more than a part of a message before the peer acks it */
static void take_room(struct kunit *test, const struct socket *sock)
{
	struct sock *sk = peer_other_end(test, sock);

	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, LITTLE_ROOM);
	release_sock(sk);
}

static void a_long_message_completes_when_the_peer_has_it(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test), before = acknowledged() + 1;
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	vt_fill(out, LEN, 3);
	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1)), 0);
	wait_lent(test, out, LEN, true);
	vt_none(test, end.tx);
	peer_revives(test, sock);
	vt_done(test, end.tx, vt_ctx(1));
	wait_lent(test, out, LEN, false);
	peer_takes(test, sock, 0, LEN, 3);
	vt_none(test, end.tx);
	KUNIT_EXPECT_EQ(test, acknowledged(), before);
}

/* It holds up neither a fence nor the end, which delivers what has been sent since */
static void a_long_message_is_forgotten_when_the_peer_has_it(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test);
	const struct kvec kvec = { out, SHORT };
	const struct fi_msg msg = { .msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(2) };
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	vt_fill(out, LEN, 3);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1)), 0);
	peer_takes(test, sock, 0, LEN, 3);
	vt_done(test, end.tx, vt_ctx(1));
	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, FI_COMPLETION | FI_FENCE), 0);
	vt_done(test, end.tx, vt_ctx(2));
	vt_end_close(test, &end);
	peer_revives(test, sock);
	peer_takes(test, sock, 0, SHORT, 3);
	peer_ended(test, sock);
}

/*
 * The socket takes each message at once, so TCP need not tell of room in it, and no timer of
 * kofi_tcp looks often enough.
 */
static void an_acknowledgment_is_noticed_at_once(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	unsigned long i, begin, late = 0;

	for (i = 1; i <= 8; i++) {
		vt_fill(out, LEN / 2, i);
		peer_dies(test, sock);
		KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN / 2, NULL, 0, vt_ctx(i)), 0);
		wait_lent(test, out, LEN / 2, true);
		peer_revives(test, sock);
		wait_lent(test, out, LEN / 2, false);
		begin = jiffies;
		vt_done(test, end.tx, vt_ctx(i));
		late += jiffies - begin;
		peer_takes(test, sock, 0, LEN / 2, i);
	}
	KUNIT_EXPECT_LT(test, late, HZ);
}

static void a_short_message_is_copied(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	vt_fill(out, SHORT, 3);
	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, SHORT, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end.tx, vt_ctx(1));
	KUNIT_EXPECT_FALSE(test, is_lent(out, SHORT));
	memset(out, 0, SHORT);
	peer_revives(test, sock);
	peer_takes(test, sock, 0, SHORT, 3);
}

/* Delivery is more than that the peer's TCP has it */
static void a_long_message_waits_for_its_acknowledgment_too(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test), *in = vt_buf(test, PEER_BASE + LEN);
	const struct kvec kvec = { out, LEN };
	const struct fi_msg msg = {
		.msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(1),
	};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, FI_DELIVERY_COMPLETE), 0);
	peer_recv(test, sock, in, PEER_BASE + LEN);
	wait_lent(test, out, LEN, false);
	/* When the next one has been sent, this side knows that the pages are back */
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, 1, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, end.tx, vt_ctx(2));
	vt_none(test, end.tx);
	peer_send_ack(test, sock);
	vt_done(test, end.tx, vt_ctx(1));
}

/* One that is in the socket, and one that is on its way into it */
static void the_end_cancels_what_the_peer_has_not(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test), *more = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	int i;

	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN / 2, NULL, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, more, LEN, NULL, 0, vt_ctx(2)), 0);
	wait_lent(test, out, LEN / 2, true);
	vt_none(test, end.tx);
	KUNIT_ASSERT_EQ(test, fi_shutdown(end.ep, 0), 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECANCELED);
	vt_none(test, end.tx);
	wait_lent(test, out, LEN / 2, false);
	wait_lent(test, more, LEN, false);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
}

static void an_interface_that_goes_gives_pages_back(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	u8 *out = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1)), 0);
	wait_lent(test, out, LEN, true);
	KUNIT_ASSERT_EQ(test, vt_shell("ip link del kofi0"), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECANCELED);
	vt_none(test, end.tx);
	wait_lent(test, out, LEN, false);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ENODEV);
}

static int close_region(void *mr)
{
	return fi_close(&((struct fid_mr *)mr)->fid);
}

/* The close ends the connection, so TCP lets go of the pages, though the peer does not answer */
static void close_lent_region(struct kunit *test, bool room)
{
	u8 *mem = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	unsigned long begin;
	struct fid_mr *mr;

	if (!room)
		take_room(test, sock);
	mr = peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	vt_fill(mem, LEN, 7);
	peer_send_read(test, sock, KEY, LEN);
	peer_dies(test, sock);
	wait_lent(test, mem, LEN, true);
	begin = jiffies;
	KUNIT_EXPECT_EQ(test, vt_async_join(test, vt_async_start(test, close_region, mr)), 0);
	vt_closed(test, &mr->fid);
	/* No timer of kofi_tcp looks as often */
	KUNIT_EXPECT_LT(test, jiffies - begin, HZ / 4);
	KUNIT_EXPECT_FALSE(test, is_lent(mem, LEN));
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
}

/* The socket has all of the response, or a part */
static void a_region_is_closed_while_tcp_has_its_pages(struct kunit *test)
{
	close_lent_region(test, true);
	close_lent_region(test, false);
}

/* It ends before the response to its read begins, which is behind another one */
static void a_region_that_is_closed_is_not_lent(struct kunit *test)
{
	u8 *mem = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fid_mr *mr;

	violations_begin(test);
	take_room(test, sock);
	peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	mr = peer_region(test, mem, LEN, FI_REMOTE_READ, KEY + 1);
	peer_dies(test, sock);
	peer_send_read(test, sock, KEY, LEN);
	peer_send_read(test, sock, KEY + 1, LEN);
	wait_lent(test, mem, LEN, true);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, violations(), 0);
	peer_revives(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	expect_violations(test, 1, KTCP_BAD_ACCESS);
	vt_end_close(test, &end);
}

/* What the peer's TCP has acknowledged is no reason to end the connection */
static void a_connection_outlives_a_region_that_was_read(struct kunit *test)
{
	u8 *mem = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fid_mr *mr;

	mr = peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	vt_fill(mem, LEN, 7);
	peer_send_read(test, sock, KEY, LEN);
	peer_takes(test, sock, 3, LEN, 7);
	wait_lent(test, mem, LEN, false);
	vt_close(test, &mr->fid);
	vt_no_event(test, end.eq);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, mem, 8, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end.tx, vt_ctx(1));
}

static struct fid_mr *own_region(struct kunit *test, struct vt_end *end, u8 *mem)
{
	vt_fill(mem, LEN, 7);
	return peer_ep_region(test, end, mem, LEN, FI_REMOTE_READ);
}

static void a_key_of_what_was_read_ends(struct kunit *test)
{
	u8 *mem = vt_alloc_vmalloc(test), msg[PEER_BASE + PEER_RMA];
	struct fi_rma_iov rma = { .len = LEN };
	struct vt_end end = {};
	unsigned long begin;
	struct vt_comp comp;
	struct socket *sock;
	struct fid_mr *mr;
	u64 key;

	sock = peer_join_kofi(test, &end, PEER_REFUSES | PEER_ENDS_KEYS);
	mr = own_region(test, &end, mem);
	key = fi_mr_key(mr);
	rma.key = key;
	vt_recv(test, &end, vt_buf(test, 8), 8, vt_ctx(1));
	peer_send(test, sock, msg, peer_hdr(msg, 2, 0, NULL, &rma, 1, 0));
	peer_takes(test, sock, 3, LEN, 7);
	begin = jiffies;
	peer_send(test, sock, msg, peer_hdr(msg, 0, 0x41, &key, NULL, 0, 0));
	comp = vt_done(test, end.rx, vt_ctx(1));
	/* No timer of kofi_tcp looks as often */
	KUNIT_EXPECT_LT(test, jiffies - begin, HZ / 4);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_REMOTE_INV, NULL), 0);
	KUNIT_EXPECT_FALSE(test, is_lent(mem, LEN));
}

static void end_lent_key(struct kunit *test, bool room)
{
	u8 *mem = vt_alloc_vmalloc(test), msg[PEER_BASE + PEER_RMA];
	struct fi_rma_iov rma = { .len = LEN };
	struct vt_end end = {};
	struct socket *sock;
	struct fid_mr *mr;
	u64 key;

	sock = peer_join_kofi(test, &end, PEER_REFUSES | PEER_ENDS_KEYS);
	if (!room)
		take_room(test, sock);
	mr = own_region(test, &end, mem);
	key = fi_mr_key(mr);
	rma.key = key;
	vt_recv(test, &end, vt_buf(test, 8), 8, vt_ctx(2));
	peer_dies(test, sock);
	peer_send(test, sock, msg, peer_hdr(msg, 2, 0, NULL, &rma, 1, 0));
	wait_lent(test, mem, LEN, true);
	peer_send(test, sock, msg, peer_hdr(msg, 0, 0x41, &key, NULL, 0, 0));
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
	wait_lent(test, mem, LEN, false);
}

/* The socket has all of the response, or a part */
static void a_key_that_is_read_does_not_end(struct kunit *test)
{
	violations_begin(test);
	end_lent_key(test, true);
	expect_violations(test, 1, KTCP_BAD_ACCESS);
	end_lent_key(test, false);
	expect_violations(test, 2, KTCP_BAD_ACCESS);
}

/* The end of the connection gives the region back, too */
static void a_response_that_the_peer_has_not_holds_no_region(struct kunit *test)
{
	u8 *mem = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fid_mr *mr;

	mr = peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	peer_send_read(test, sock, KEY, LEN);
	peer_dies(test, sock);
	wait_lent(test, mem, LEN, true);
	vt_close(test, &end.ep->fid);
	wait_lent(test, mem, LEN, false);
	vt_close(test, &mr->fid);
}

/* Its exporter need not wait for the peer */
static void a_response_from_a_dma_buf_is_copied(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_MOVES, LEN / 2);
	const struct fi_mr_dmabuf piece = { .dmabuf = db->dmabuf, .len = LEN / 2 };
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
		.requested_key	= KEY,
	};
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fid_cntr *cntr;
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &cntr_attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &cntr->fid, FI_REMOTE_READ), 0);
	vt_fill(db->mem, LEN / 2, 7);
	peer_dies(test, sock);
	peer_send_read(test, sock, KEY, LEN / 2);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr, 1), 0);
	KUNIT_EXPECT_FALSE(test, is_lent(db->mem, LEN / 2));
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(db), 0);
	memset(db->mem, 0, LEN / 2);
	peer_revives(test, sock);
	peer_takes(test, sock, 3, LEN / 2, 7);
}

/* Pages of a slab have no references, so a message of these alone is none of the acknowledged */
static void a_message_of_slab_memory_is_copied(struct kunit *test)
{
	u8 *slab = vt_buf(test, PIECE), *in = vt_buf(test, LEN), before = acknowledged();
	const struct kvec kvec[] = { { slab, PIECE }, { slab, PIECE }, { slab, PIECE } };
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	KUNIT_ASSERT_EQ(test, fi_sendv(end.ep, kvec, NULL, ARRAY_SIZE(kvec), 0, vt_ctx(1)), 0);
	peer_recv(test, sock, in, PEER_BASE + ARRAY_SIZE(kvec) * PIECE);
	vt_done(test, end.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, acknowledged(), before);
}

/* Some of it may be lent, and some not */
static void a_message_may_be_of_any_memory(struct kunit *test)
{
	u8 *slab = vt_buf(test, 4000), *mem = vt_alloc_vmalloc(test), *all = vt_buf(test, LEN);
	const struct kvec kvec[] = {
		{ slab, 1000 }, { mem + 17, 20000 }, { slab + 1000, 3000 },
		{ mem + 20017, 30000 },
	};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	size_t at = 0;
	int i;

	vt_fill(all, LEN, 9);
	for (i = 0; i < ARRAY_SIZE(kvec); i++) {
		memcpy(kvec[i].iov_base, all + at, kvec[i].iov_len);
		at += kvec[i].iov_len;
	}
	KUNIT_ASSERT_EQ(test, fi_sendv(end.ep, kvec, NULL, ARRAY_SIZE(kvec), 0, vt_ctx(1)), 0);
	peer_takes(test, sock, 0, at, 9);
	vt_done(test, end.tx, vt_ctx(1));
}

static void a_list_may_be_of_any_kind(struct kunit *test)
{
	const struct vt_memory *memory = test->param_value;
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_list *list = vt_buf(test, sizeof(*list));
	size_t len = VT_AREA - memory->offset;
	u8 *mem = memory->alloc(test);

	vt_fill(mem + memory->offset, len, 5);
	vt_make_list(list, memory, mem + memory->offset, len);
	list->msg.context = vt_ctx(1);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &list->msg, FI_COMPLETION), 0);
	peer_takes(test, sock, 0, len, 5);
	vt_done(test, end.tx, vt_ctx(1));
}

KUNIT_ARRAY_PARAM_DESC(memory, vt_memories, name);

static struct kunit_case far_cases[] = {
	KUNIT_CASE(a_long_message_completes_when_the_peer_has_it),
	KUNIT_CASE(a_long_message_is_forgotten_when_the_peer_has_it),
	KUNIT_CASE(an_acknowledgment_is_noticed_at_once),
	KUNIT_CASE(a_short_message_is_copied),
	KUNIT_CASE(a_long_message_waits_for_its_acknowledgment_too),
	KUNIT_CASE(the_end_cancels_what_the_peer_has_not),
	KUNIT_CASE(an_interface_that_goes_gives_pages_back),
	KUNIT_CASE(a_region_is_closed_while_tcp_has_its_pages),
	KUNIT_CASE(a_connection_outlives_a_region_that_was_read),
	KUNIT_CASE(a_region_that_is_closed_is_not_lent),
	KUNIT_CASE(a_key_of_what_was_read_ends),
	KUNIT_CASE(a_key_that_is_read_does_not_end),
	KUNIT_CASE(a_response_that_the_peer_has_not_holds_no_region),
	KUNIT_CASE(a_response_from_a_dma_buf_is_copied),
	KUNIT_CASE(a_message_of_slab_memory_is_copied),
	KUNIT_CASE(a_message_may_be_of_any_memory),
	KUNIT_CASE_PARAM(a_list_may_be_of_any_kind, memory_gen_params),
	{}
};

static struct kunit_suite far_suite = {
	.name		= "kofi_tcp_zerocopy",
	.init		= far_init,
	.exit		= vt_exit,
	.test_cases	= far_cases,
};

/*
 * It ends when TCP lets go of its pages, after its connection.  ECANCELED would say that the
 * client has cancelled it.
 */
static void a_receive_that_a_dead_peer_reads_is_not_cancelled(struct kunit *test)
{
	struct rdm_peer peer = { .understands = PEER_REFUSES | PEER_TAGGED };
	u8 *mem = vt_alloc_vmalloc(test), msg[PEER_BASE + 16];
	struct vt_end end = {};
	struct socket *sock;

	rdm_open_with(test, &end, &peer, THERE);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	KUNIT_ASSERT_EQ(test, fi_trecv(end.ep, mem, LEN, NULL, FI_ADDR_UNSPEC, KEY, 0,
				       vt_ctx(1)), 0);
	peer_send(test, sock, msg, peer_tagged_read(msg, KEY, LEN));
	peer_dies(test, sock);
	wait_lent(test, mem, LEN, true);
	vt_failed_with(test, end.rx, vt_ctx(1), ETIMEDOUT);
	wait_lent(test, mem, LEN, false);
}

static void a_long_message_of_an_endpoint_without_connections_completes(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct rdm_peer peer;
	struct socket *sock;

	rdm_open_with(test, &end, &peer, THERE);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	vt_fill(out, LEN, 3);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, peer.addr, vt_ctx(1)), 0);
	peer_takes(test, sock, 0, LEN, 3);
	vt_done(test, end.tx, vt_ctx(1));
	wait_lent(test, out, LEN, false);
}

static struct kunit_case far_rdm_cases[] = {
	KUNIT_CASE(a_long_message_of_an_endpoint_without_connections_completes),
	KUNIT_CASE(a_receive_that_a_dead_peer_reads_is_not_cancelled),
	{}
};

static struct kunit_suite far_rdm_suite = {
	.name		= "kofi_tcp_lent_receive",
	.init		= far_rdm_init,
	.exit		= vt_exit,
	.test_cases	= far_rdm_cases,
};

/* The network would copy it on its way to the receiver */
static void what_stays_on_the_machine_is_copied(struct kunit *test)
{
	u8 *out = vt_alloc_vmalloc(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN / 2, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end.tx, vt_ctx(1));
	KUNIT_EXPECT_FALSE(test, is_lent(out, LEN / 2));
}

static struct kunit_case near_cases[] = {
	KUNIT_CASE(what_stays_on_the_machine_is_copied),
	{}
};

static struct kunit_suite near_suite = {
	.name		= "kofi_tcp_copy",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= near_cases,
};

kunit_test_suites(&far_suite, &far_rdm_suite, &near_suite);
