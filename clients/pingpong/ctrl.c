// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The control channel: the protocol that fi_pingpong (libfabric 1.17 and later)
 * speaks over TCP beside the fabric.
 *
 *	client connects to the server's port 47592
 *	S -> C	be32 length of the name, u32 address format (the host's byte
 *		order), name: the fabric address the client shall connect to
 *	C -> S	with ep=rdm: the client's own name in the same form
 *	for each size
 *		C -> S	"q\0"
 *		S -> C	"a\0"
 *		...the messages, over the fabric...
 *		C -> S	ten bytes: messages it received, decimal, NUL padded
 *		S -> C	"cnt ok\0"
 *	after the last message, each side closes its end
 *
 * fi_pingpong reads each of these with one read(), so each goes out in one
 * piece.  fi_pingpong gives up after five seconds without an answer; here the
 * limit is PP_TIMEOUT_MS.  Lengths, addresses and counts from the peer are
 * checked before use.
 *
 * Locking: the sockets belong to the role's thread.  A blocking call ends when
 * the thread gets its signal.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/net.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "pingpong.h"

#define PP_BACKLOG	10
#define PP_COUNT_LEN	10

static const char pp_sync_q[] = "q";
static const char pp_sync_a[] = "a";
static const char pp_count_ok[] = "cnt ok";

static const char pp_peer_todo[] = "look for an error at the peer";
static const char pp_other_peer[] = "is the peer fi_pingpong or kofi_pingpong?";

/* Translate a socket's error into the one that the rest of the module reports. */
static int pp_sock_err(int err)
{
	switch (err) {
	case -ERESTARTSYS:
		return -EINTR;
	case -EAGAIN:
	case -EINPROGRESS:
		return -ETIMEDOUT;
	default:
		return err;
	}
}

static void pp_sock_set_timeout(struct socket *sock)
{
	long timeout = msecs_to_jiffies(PP_TIMEOUT_MS);

	lock_sock(sock->sk);
	sock->sk->sk_rcvtimeo = timeout;
	sock->sk->sk_sndtimeo = timeout;
	release_sock(sock->sk);
}

static void pp_sock_release(struct socket **sock)
{
	if (!*sock)
		return;
	kernel_sock_shutdown(*sock, SHUT_RDWR);
	sock_release(*sock);
	*sock = NULL;
}

static size_t pp_addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					     sizeof(struct sockaddr_in);
}

static void pp_set_port(struct sockaddr_storage *addr, u16 port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)addr)->sin_port = htons(port);
}

static int pp_listen_on(struct pp_role *r, struct sockaddr_storage *addr)
{
	int ret;

	ret = sock_create_kern(pp_net, addr->ss_family, SOCK_STREAM,
			       IPPROTO_TCP, &r->listener);
	if (ret)
		return ret;
	sock_set_reuseaddr(r->listener->sk);
	pp_set_port(addr, pp_params.port);
	/* void *: the type of a socket address differs between kernels */
	ret = kernel_bind(r->listener, (void *)addr, pp_addr_len(addr));
	if (!ret)
		ret = kernel_listen(r->listener, PP_BACKLOG);
	if (ret)
		pp_sock_release(&r->listener);
	return ret;
}

/* Listen on addr= or, without addr=, on every address; IPv6's wildcard includes IPv4. */
int pp_ctrl_listen(struct pp_role *r)
{
	struct sockaddr_storage addr = pp_params.addr;
	int ret = -EAFNOSUPPORT;

	if (addr.ss_family == AF_UNSPEC) {
		addr.ss_family = AF_INET6;
		ret = pp_listen_on(r, &addr);
		if (ret)
			addr = (struct sockaddr_storage) { .ss_family = AF_INET };
	}
	if (ret)
		ret = pp_listen_on(r, &addr);
	if (ret)
		return pp_fail(r, ret,
			       "is the address of this host and the port free?",
			       "listen on %pISpc", &addr);
	pr_info("%s: listening on %pISpc\n", r->name, &addr);
	return 0;
}

/* Turn an IPv4-mapped address of an IPv6 socket into an IPv4 address. */
static void pp_unmap(struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in sin = { .sin_family = AF_INET };

	if (addr->ss_family != AF_INET6 ||
	    !ipv6_addr_v4mapped(&sin6->sin6_addr))
		return;
	sin.sin_port = sin6->sin6_port;
	sin.sin_addr.s_addr = sin6->sin6_addr.s6_addr32[3];
	memcpy(addr, &sin, sizeof(sin));
}

/* Wait for a client, without limit.  @local: the address that the client connected to. */
int pp_ctrl_accept(struct pp_role *r, struct sockaddr_storage *local)
{
	int ret;

	ret = kernel_accept(r->listener, &r->ctrl, 0);
	if (ret)
		return pp_fail(r, pp_sock_err(ret), NULL,
			       "wait for a client");
	pp_sock_release(&r->listener);
	pp_sock_set_timeout(r->ctrl);
	tcp_sock_set_nodelay(r->ctrl->sk);
	memset(local, 0, sizeof(*local));
	ret = kernel_getsockname(r->ctrl, (struct sockaddr *)local);
	if (ret < 0)
		return pp_fail(r, ret, NULL, "find the client's way to us");
	pp_unmap(local);
	return 0;
}

int pp_ctrl_connect(struct pp_role *r)
{
	struct sockaddr_storage addr = pp_params.addr;
	int ret;

	ret = sock_create_kern(pp_net, addr.ss_family, SOCK_STREAM, IPPROTO_TCP,
			       &r->ctrl);
	if (ret)
		return pp_fail(r, ret, NULL, "open a control socket");
	pp_sock_set_timeout(r->ctrl);
	tcp_sock_set_nodelay(r->ctrl->sk);
	pp_set_port(&addr, pp_params.port);
	ret = kernel_connect(r->ctrl, (void *)&addr, pp_addr_len(&addr), 0);
	if (ret)
		return pp_fail(r, pp_sock_err(ret),
			       "does a ping-pong server run there?",
			       "connect to control port %pISpc", &addr);
	return 0;
}

void pp_ctrl_close(struct pp_role *r)
{
	pp_sock_release(&r->ctrl);
	pp_sock_release(&r->listener);
}

/*
 * Has the client sent anything?  A client with connections sends nothing before it is connected.
 * A client without connections answers the server's name with its own.
 */
bool pp_ctrl_said(struct pp_role *r)
{
	struct msghdr msg = { };
	struct kvec vec;
	char byte;

	vec = (struct kvec) { .iov_base = &byte, .iov_len = 1 };
	return kernel_recvmsg(r->ctrl, &msg, &vec, 1, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static int pp_ctrl_send(struct pp_role *r, const void *buf, size_t len,
			const char *what)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	int ret;

	ret = kernel_sendmsg(r->ctrl, &msg, &vec, 1, len);
	if (ret == len)
		return 0;
	return pp_fail(r, ret < 0 ? pp_sock_err(ret) : -ETIMEDOUT,
		       pp_peer_todo, "control: send %s", what);
}

static int pp_ctrl_recv(struct pp_role *r, void *buf, size_t len,
			const char *what)
{
	while (len) {
		struct msghdr msg = { };
		struct kvec vec = { .iov_base = buf, .iov_len = len };
		int ret;

		ret = kernel_recvmsg(r->ctrl, &msg, &vec, 1, len, 0);
		if (ret <= 0)
			return pp_fail(r, ret ? pp_sock_err(ret) : -ECONNRESET,
				       pp_peer_todo, "control: receive %s",
				       what);
		buf += ret;
		len -= ret;
	}
	return 0;
}

/* Receive @len bytes, which must be the text @want with its NUL. */
static int pp_ctrl_expect(struct pp_role *r, const char *want, size_t len)
{
	char got[sizeof(pp_count_ok)];
	int ret;

	ret = pp_ctrl_recv(r, got, len, want);
	if (ret)
		return ret;
	if (memcmp(got, want, len))
		return pp_fail(r, -EPROTO, pp_other_peer,
			       "control: receive \"%s\", got \"%*pE\"", want,
			       (int)len, got);
	return 0;
}

int pp_ctrl_send_name(struct pp_role *r, u32 format, const void *addr,
		      size_t len)
{
	struct {
		__be32	len;
		u32	format;
		u8	addr[sizeof(struct sockaddr_storage)];
	} name = { .len = cpu_to_be32(len), .format = format };

	if (len > sizeof(name.addr))
		return pp_fail(r, -EMSGSIZE, NULL, "send a name of %zu bytes",
			       len);
	memcpy(name.addr, addr, len);
	return pp_ctrl_send(r, &name, offsetof(typeof(name), addr) + len,
			    "the fabric address");
}

/* Is this an address that fi_getinfo() may be asked for? */
static bool pp_name_ok(u32 format, const struct sockaddr_storage *addr,
		       size_t len)
{
	switch (addr->ss_family) {
	case AF_INET:
		return len >= sizeof(struct sockaddr_in) &&
		       (format == FI_SOCKADDR || format == FI_SOCKADDR_IN);
	case AF_INET6:
		return len >= sizeof(struct sockaddr_in6) &&
		       (format == FI_SOCKADDR || format == FI_SOCKADDR_IN6);
	default:
		return false;
	}
}

int pp_ctrl_recv_name(struct pp_role *r, u32 *format,
		      struct sockaddr_storage *addr, size_t *len)
{
	__be32 hdr[2];
	u32 n;
	int ret;

	ret = pp_ctrl_recv(r, hdr, sizeof(hdr), "the peer's fabric address");
	if (ret)
		return ret;
	n = be32_to_cpu(hdr[0]);
	*format = (__force u32)hdr[1];
	if (n > sizeof(*addr))
		return pp_fail(r, -EPROTO, pp_other_peer,
			       "control: a fabric address of %u bytes", n);
	memset(addr, 0, sizeof(*addr));
	ret = pp_ctrl_recv(r, addr, n, "the peer's fabric address");
	if (ret)
		return ret;
	if (!pp_name_ok(*format, addr, n))
		return pp_fail(r, -EPROTO,
			       "run the peer with the same provider and endpoints, on a host of the same byte order",
			       "control: fabric address of format %u, family %u, %u bytes",
			       *format, addr->ss_family, n);
	*len = pp_addr_len(addr);
	return 0;
}

/* Both sides are ready for the next size when this has returned. */
int pp_ctrl_sync(struct pp_role *r)
{
	int ret;

	if (r->server) {
		ret = pp_ctrl_expect(r, pp_sync_q, sizeof(pp_sync_q));
		if (ret)
			return ret;
		return pp_ctrl_send(r, pp_sync_a, sizeof(pp_sync_a), "sync");
	}
	ret = pp_ctrl_send(r, pp_sync_q, sizeof(pp_sync_q), "sync");
	if (ret)
		return ret;
	return pp_ctrl_expect(r, pp_sync_a, sizeof(pp_sync_a));
}

static int pp_ctrl_recv_count(struct pp_role *r)
{
	char text[PP_COUNT_LEN + 1] = { };
	int ret;

	ret = pp_ctrl_recv(r, text, PP_COUNT_LEN, "the message count");
	if (ret)
		return ret;
	if (kstrtou32(text, 10, &r->acked))
		return pp_fail(r, -EPROTO, pp_other_peer,
			       "control: message count \"%*pE\"", PP_COUNT_LEN,
			       text);
	return pp_ctrl_send(r, pp_count_ok, sizeof(pp_count_ok),
			    "count acknowledgment");
}

/* The client reports how many messages it has received, for the server's table. */
int pp_ctrl_count(struct pp_role *r)
{
	char text[PP_COUNT_LEN + 1] = { };
	int ret;

	if (r->server)
		return pp_ctrl_recv_count(r);
	scnprintf(text, sizeof(text), "%u", r->acked);
	ret = pp_ctrl_send(r, text, PP_COUNT_LEN, "the message count");
	if (ret)
		return ret;
	return pp_ctrl_expect(r, pp_count_ok, sizeof(pp_count_ok));
}

/*
 * Releasing a kernel socket stops its timers, so a last segment that gets lost
 * would never be sent again.  Linger until the peer has acknowledged it.
 */
static void pp_sock_set_linger(struct socket *sock)
{
	lock_sock(sock->sk);
	sock->sk->sk_lingertime = msecs_to_jiffies(PP_TIMEOUT_MS);
	sock_set_flag(sock->sk, SOCK_LINGER);
	release_sock(sock->sk);
}

/*
 * End the control channel.  When this returns, both sides have every completion
 * they wait for.  So neither side closes the fabric's connection while its
 * peer's last message is unacknowledged; the peer would send that message again
 * and again.
 */
int pp_ctrl_finish(struct pp_role *r)
{
	struct msghdr msg = { };
	struct kvec vec;
	char more;
	int ret;

	pp_sock_set_linger(r->ctrl);
	ret = kernel_sock_shutdown(r->ctrl, SHUT_WR);
	if (ret)
		return pp_fail(r, ret, pp_peer_todo, "control: part");
	vec = (struct kvec) { .iov_base = &more, .iov_len = sizeof(more) };
	ret = kernel_recvmsg(r->ctrl, &msg, &vec, 1, sizeof(more), 0);
	if (ret > 0)
		return pp_fail(r, -EPROTO, pp_other_peer,
			       "control: part, got more");
	if (ret && ret != -ECONNRESET)
		return pp_fail(r, pp_sock_err(ret), pp_peer_todo,
			       "control: wait for the peer to part");
	return 0;
}
