// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A peer that is a socket, and writes the wire by hand.
 */
#include <linux/filter.h>
#include <linux/in.h>
#include <linux/sizes.h>
#include <linux/tcp.h>
#include <net/inet_hashtables.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tcp_states.h>
#include "tcp.h"

bool peer_foreign;
struct net *peer_net = &init_net;

size_t peer_cm(u8 *buf, u8 type, const void *data, size_t len)
{
	const u64 probe = type == 6 ? 0 : peer_foreign ? 1ULL << 56 : 1;

	memset(buf, 0, PEER_CM);
	buf[0] = 3;
	buf[1] = type;
	buf[2] = len >> 8;
	buf[3] = len;
	memcpy(buf + 24, &probe, sizeof(probe));
	if (len)
		memcpy(buf + PEER_CM, data, len);
	return PEER_CM + len;
}

void peer_announce(u8 *buf)
{
	memcpy(buf + 16, "kOFI\0\0\0\1", 8);
}

/* As it stands on the wire; returns the byte behind */
static u8 *put64(u8 *at, u64 value)
{
	__be64 net = cpu_to_be64(value);

	memcpy(at, peer_foreign ? (void *)&net : (void *)&value, sizeof(value));
	return at + sizeof(value);
}

size_t peer_hdr(u8 *buf, u8 op, u16 flags, const u64 *data,
		const struct fi_rma_iov *rma, u8 count, u64 payload)
{
	__be16 net_flags = cpu_to_be16(flags);
	u8 *at = buf + PEER_BASE;
	size_t len;
	u8 i;

	if (data)
		at = put64(at, *data);
	for (i = 0; rma && i < count; i++) {
		at = put64(at, rma[i].addr);
		at = put64(at, rma[i].len);
		at = put64(at, rma[i].key);
	}
	len = at - buf;
	buf[0] = 3;
	buf[1] = op;
	memcpy(buf + 2, peer_foreign ? (void *)&net_flags : (void *)&flags, sizeof(flags));
	buf[4] = 0;
	buf[5] = count;
	buf[6] = len;
	buf[7] = 0;
	put64(buf + 8, len + payload);
	return len;
}

size_t peer_op(u8 *buf, u8 op, u8 op_data, u64 payload)
{
	size_t len = peer_hdr(buf, op, 0, NULL, NULL, 0, payload);

	buf[4] = op_data;
	return len;
}

size_t peer_refusal(u8 *buf, const u64 *number, u8 reason)
{
	size_t len = peer_hdr(buf, 8, number ? 1 : 0, number, NULL, 0, 0);

	buf[4] = reason;
	return len;
}

size_t peer_tagged(u8 *buf, u16 flags, const u64 *data, u64 tag, u64 payload)
{
	size_t len = peer_hdr(buf, 1, flags, data, NULL, 0, sizeof(tag) + payload);

	put64(buf + len, tag);
	len += sizeof(tag);
	buf[6] = len;
	return len;
}

size_t peer_rts(u8 *buf, u16 flags, const u64 *data, u64 tag, u64 announced, u8 number)
{
	size_t len = peer_tagged(buf, flags, data, tag, sizeof(announced));

	buf[1] = 5;
	buf[4] = number;
	put64(buf + len, announced);
	len += sizeof(announced);
	buf[6] = len;
	return len;
}

size_t peer_tagged_read(u8 *buf, u64 tag, u64 wanted)
{
	size_t len = peer_rts(buf, 0, NULL, tag, wanted, 0);

	buf[1] = 9;
	return len;
}

size_t peer_tagged_write(u8 *buf, u16 flags, const u64 *data, u64 tag, u64 payload)
{
	size_t len = peer_tagged(buf, flags, data, tag, payload);

	buf[1] = 10;
	return len;
}

static void release(void *sock)
{
	sock_release(sock);
}

static void adopt(struct kunit *test, struct socket *sock)
{
	tcp_sock_set_nodelay(sock->sk);
	sock->sk->sk_rcvtimeo = msecs_to_jiffies(VT_PATIENCE_MS);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, release, sock), 0);
}

static struct socket *new_socket(struct kunit *test)
{
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, sock_create_kern(peer_net, AF_INET, SOCK_STREAM,
					       IPPROTO_TCP, &sock), 0);
	adopt(test, sock);
	return sock;
}

struct socket *peer_connect(struct kunit *test)
{
	struct socket *sock = new_socket(test);

	KUNIT_ASSERT_EQ(test, kernel_connect(sock, (void *)&vt_of(test)->name,
					     sizeof(struct sockaddr_in), 0), 0);
	return sock;
}

struct socket *peer_connect_from(struct kunit *test, u32 host, const void *to)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };
	struct socket *sock = new_socket(test);

	KUNIT_ASSERT_EQ(test, kernel_bind(sock, (void *)&sin, sizeof(sin)), 0);
	KUNIT_ASSERT_EQ(test, kernel_connect(sock, (void *)to, sizeof(sin), 0), 0);
	return sock;
}

struct socket *peer_listen(struct kunit *test, struct sockaddr_storage *addr)
{
	return peer_listen_at(test, INADDR_LOOPBACK, addr);
}

struct socket *peer_listen_at(struct kunit *test, u32 host, struct sockaddr_storage *addr)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;
	struct socket *sock = new_socket(test);

	memset(addr, 0, sizeof(*addr));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(host);
	KUNIT_ASSERT_EQ(test, kernel_bind(sock, (void *)sin, sizeof(*sin)), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(sock, 4), 0);
	KUNIT_ASSERT_GE(test, kernel_getsockname(sock, (void *)sin), 0);
	return sock;
}

struct socket *peer_accept(struct kunit *test, struct socket *listener)
{
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, kernel_accept(listener, &sock, 0), 0);
	adopt(test, sock);
	return sock;
}

void peer_close(struct kunit *test, struct socket *sock)
{
	kunit_release_action(test, release, sock);
}

void peer_send(struct kunit *test, struct socket *sock, const void *buf, size_t len)
{
	struct kvec kvec = { (void *)buf, len };
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };

	KUNIT_ASSERT_EQ(test, kernel_sendmsg(sock, &msg, &kvec, 1, len), (int)len);
}

void peer_recv(struct kunit *test, struct socket *sock, void *buf, size_t len)
{
	struct kvec kvec = { buf, len };
	struct msghdr msg = {};

	KUNIT_ASSERT_EQ(test, kernel_recvmsg(sock, &msg, &kvec, 1, len, MSG_WAITALL), (int)len);
}

void peer_expect(struct kunit *test, struct socket *sock, const void *want, size_t len)
{
	u8 *got = vt_buf(test, len);

	peer_recv(test, sock, got, len);
	got[7] = ((const u8 *)want)[7];
	KUNIT_EXPECT_MEMEQ(test, got, want, len);
	kunit_kfree(test, got);
}

void peer_expect_op(struct kunit *test, struct socket *sock, u8 op, u8 op_data, u64 payload)
{
	u8 want[PEER_BASE];

	peer_expect(test, sock, want, peer_op(want, op, op_data, payload));
}

void peer_expect_ack(struct kunit *test, struct socket *sock)
{
	peer_expect_op(test, sock, 0, 2, 0);
}

void peer_send_ack(struct kunit *test, struct socket *sock)
{
	u8 ack[PEER_BASE];

	peer_send(test, sock, ack, peer_op(ack, 0, 2, 0));
}

/* The payload of a header of @hdr bytes is what vt_fill() makes of @seed */
static void send_filled(struct kunit *test, struct socket *sock, u8 *msg, size_t hdr, size_t len,
			u8 seed)
{
	vt_fill(msg + hdr, len, seed);
	peer_send(test, sock, msg, hdr + len);
	kunit_kfree(test, msg);
}

void peer_send_msg(struct kunit *test, struct socket *sock, size_t len, u8 seed)
{
	u8 *msg = vt_buf(test, PEER_BASE + len);

	send_filled(test, sock, msg, peer_op(msg, 0, 0, len), len, seed);
}

void peer_send_tagged(struct kunit *test, struct socket *sock, u16 flags, u64 tag, size_t len,
		      u8 seed)
{
	u8 *msg = vt_buf(test, PEER_BASE + sizeof(tag) + len);

	send_filled(test, sock, msg, peer_tagged(msg, flags, NULL, tag, len), len, seed);
}

void peer_send_read(struct kunit *test, struct socket *sock, u64 key, u64 len)
{
	const struct fi_rma_iov rma = { .len = len, .key = key };
	u8 msg[PEER_BASE + PEER_RMA];

	peer_send(test, sock, msg, peer_hdr(msg, 2, 0, NULL, &rma, 1, 0));
}

void peer_request(struct kunit *test, struct socket *sock)
{
	u8 buf[PEER_CM];

	peer_send(test, sock, buf, peer_cm(buf, 0, NULL, 0));
}

struct socket *peer_ask(struct kunit *test)
{
	struct socket *sock = peer_connect(test);

	peer_request(test, sock);
	return sock;
}

void peer_rejected(struct kunit *test, struct socket *sock)
{
	u8 want[PEER_CM], got[PEER_CM];

	peer_cm(want, 6, NULL, 0);
	peer_recv(test, sock, got, PEER_CM);
	KUNIT_EXPECT_MEMEQ(test, got, want, PEER_CM);
	peer_ended(test, sock);
}

size_t peer_drain(struct kunit *test, struct socket *sock, u8 byte)
{
	struct kvec kvec = { vt_buf(test, SZ_64K), SZ_64K };
	size_t total = 0;
	int ret;

	do {
		struct msghdr msg = {};

		ret = kernel_recvmsg(sock, &msg, &kvec, 1, kvec.iov_len, 0);
		if (ret > 0)
			KUNIT_EXPECT_NULL(test, memchr_inv(kvec.iov_base, byte, ret));
		total += max(ret, 0);
	} while (ret > 0);
	KUNIT_EXPECT_TRUE(test, !ret || ret == -ECONNRESET);
	return total;
}

void wait_byte(struct kunit *test, const u8 *byte, u8 want)
{
	KUNIT_ASSERT_TRUE(test, vt_until(READ_ONCE(*byte) == want));
}

/* What the peer finds behind all that it has been sent */
static int next_byte(struct socket *sock)
{
	struct msghdr msg = {};
	struct kvec kvec;
	u8 byte;

	kvec = (struct kvec) { &byte, 1 };
	return kernel_recvmsg(sock, &msg, &kvec, 1, 1, 0);
}

void peer_hung_up(struct kunit *test, struct socket *sock)
{
	int ret = next_byte(sock);

	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ECONNRESET,
			      "recvmsg() returns %d", ret);
}

void peer_ended(struct kunit *test, struct socket *sock)
{
	KUNIT_EXPECT_EQ(test, next_byte(sock), 0);
}

void peer_leave(struct kunit *test, struct socket *sock)
{
	KUNIT_ASSERT_EQ(test, kernel_sock_shutdown(sock, SHUT_WR), 0);
	peer_hung_up(test, sock);
	peer_close(test, sock);
}

/* @understands: bits of kOFI's word; negative: it is not kOFI */
static struct socket *join(struct kunit *test, struct vt_end *end, int understands)
{
	struct socket *sock = peer_connect(test);
	u8 buf[PEER_CM];

	peer_cm(buf, 0, NULL, 0);
	if (understands >= 0) {
		memcpy(buf + 16, "kOFI", 4);
		buf[23] = understands;
	}
	peer_send(test, sock, buf, PEER_CM);
	vt_end_open(test, end, vt_connreq(test, NULL), &vt_default_kind);
	vt_accept(test, end, NULL, 0);
	peer_recv(test, sock, buf, PEER_CM);
	return sock;
}

struct socket *peer_join(struct kunit *test, struct vt_end *end)
{
	return join(test, end, -1);
}

struct socket *peer_respond(struct kunit *test, struct vt_end *end)
{
	struct sockaddr_storage addr;
	struct socket *listener = peer_listen(test, &addr), *sock;
	u8 buf[PEER_CM];

	vt_client(test, end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_connect(end->ep, &addr, NULL, 0), 0);
	sock = peer_accept(test, listener);
	peer_recv(test, sock, buf, PEER_CM);
	peer_send(test, sock, buf, peer_cm(buf, 1, NULL, 0));
	vt_event(test, end->eq, FI_CONNECTED, NULL);
	return sock;
}

struct socket *peer_join_kofi(struct kunit *test, struct vt_end *end, u8 understands)
{
	return join(test, end, understands);
}

/* What comes to the socket is dropped, and nothing answered; the filter goes with it */
void peer_dies(struct kunit *test, struct socket *sock)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog_kern fprog = { .len = 1, .filter = &drop };
	struct sk_filter *filter = kzalloc(sizeof(*filter), GFP_KERNEL);
	struct sock *sk = sock->sk;

	KUNIT_ASSERT_NOT_NULL(test, filter);
	KUNIT_ASSERT_EQ(test, bpf_prog_create(&filter->prog, &fprog), 0);
	refcount_set(&filter->refcnt, 1);
	/* Its close does not wait for responses that cannot come */
	sock_no_linger(sk);
	lock_sock(sk);
	atomic_add(bpf_prog_size(filter->prog->len), &sk->sk_omem_alloc);
	rcu_assign_pointer(sk->sk_filter, filter);
	release_sock(sk);
}

/* TCP hears of it when the other end tries again */
void peer_revives(struct kunit *test, struct socket *sock)
{
	lock_sock(sock->sk);
	KUNIT_EXPECT_EQ(test, sk_detach_filter(sock->sk), 0);
	release_sock(sock->sk);
}

struct sock *peer_other_end(struct kunit *test, const struct socket *sock)
{
	struct inet_hashinfo *hash = init_net.ipv4.tcp_death_row.hashinfo;
	const struct inet_sock *peer = inet_sk(sock->sk);
	struct sock *sk, *found = NULL;
	struct hlist_nulls_node *node;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i <= hash->ehash_mask; i++)
		sk_nulls_for_each_rcu(sk, node, &hash->ehash[i].chain)
			if (sk->sk_state == TCP_ESTABLISHED &&
			    sk->sk_num == ntohs(peer->inet_dport) &&
			    inet_sk(sk)->inet_dport == peer->inet_sport)
				found = sk;
	rcu_read_unlock();
	KUNIT_ASSERT_NOT_NULL(test, found);
	return found;
}
