// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The TCP connection beside the fabric, from the client to the server's oob_port=:
 *
 *	oob=addr, sync	names of endpoints; a status before them, since fabtests 1.22
 *	oob=sync	one byte each way in place of a sync over the fabric; since 2.4 a status
 *			in place of the last message
 *	cm_data		a status after each length of connection data
 *
 * A status is an int in the byte order of the machine, 0 if all is well.  The client sends its
 * status first, and the server answers with its own.
 *
 * The server waits for a client without limit; for each later step the limit is FT_TIMEOUT_MS.
 * The callers check what they receive.
 *
 * Locking: the sockets belong to the end's thread.  A blocking call ends when the thread gets
 * its signal.
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

#include "fabtests.h"

#define FT_SYNC_BYTE	'a'

static const char ft_peer_todo[] = "look for an error at the peer";

/* Translate a socket's error into the one that the rest of the module reports. */
static int ft_sock_err(int err)
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

/*
 * Releasing a kernel socket stops its timers, so the last bytes would never be sent again if
 * they were lost.  SOCK_LINGER makes a release wait until the peer has them.
 */
static void ft_sock_setup(struct socket *sock)
{
	long timeout = msecs_to_jiffies(FT_TIMEOUT_MS);

	tcp_sock_set_nodelay(sock->sk);
	lock_sock(sock->sk);
	sock->sk->sk_rcvtimeo = timeout;
	sock->sk->sk_sndtimeo = timeout;
	sock->sk->sk_lingertime = timeout;
	sock_set_flag(sock->sk, SOCK_LINGER);
	release_sock(sock->sk);
}

static void ft_sock_release(struct socket **sock)
{
	if (*sock)
		sock_release(*sock);
	*sock = NULL;
}

static size_t ft_addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					     sizeof(struct sockaddr_in);
}

static void ft_set_port(struct sockaddr_storage *addr, u16 port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)addr)->sin_port = htons(port);
}

static int ft_listen_on(struct ft_end *e, struct sockaddr_storage *addr)
{
	int ret;

	ret = sock_create_kern(ft_net, addr->ss_family, SOCK_STREAM, IPPROTO_TCP, &e->listener);
	if (ret)
		return ret;
	sock_set_reuseaddr(e->listener->sk);
	ft_set_port(addr, ft_params.oob_port);
	/* void *: the type of a socket address differs between kernels */
	ret = kernel_bind(e->listener, (void *)addr, ft_addr_len(addr));
	if (!ret)
		ret = kernel_listen(e->listener, 1);
	if (ret)
		ft_sock_release(&e->listener);
	return ret;
}

/* Listen on src= or, without src=, on every address; IPv6's wildcard includes IPv4. */
int ft_oob_listen(struct ft_end *e)
{
	struct sockaddr_storage addr = ft_params.src_addr;
	int ret = -EAFNOSUPPORT;

	if (addr.ss_family == AF_UNSPEC) {
		addr.ss_family = AF_INET6;
		ret = ft_listen_on(e, &addr);
		if (ret)
			addr = (struct sockaddr_storage) { .ss_family = AF_INET };
	}
	if (ret)
		ret = ft_listen_on(e, &addr);
	if (ret)
		return ft_fail(e, ret, "is the address of this host and the port free?",
			       "listen on %pISpc", &addr);
	return 0;
}

int ft_oob_accept(struct ft_end *e)
{
	int ret = kernel_accept(e->listener, &e->oob, 0);

	if (ret)
		return ft_fail(e, ft_sock_err(ret), NULL, "wait for a client");
	ft_sock_release(&e->listener);
	ft_sock_setup(e->oob);
	return 0;
}

int ft_oob_connect(struct ft_end *e)
{
	struct sockaddr_storage addr = ft_params.addr;
	int ret;

	ret = sock_create_kern(ft_net, addr.ss_family, SOCK_STREAM, IPPROTO_TCP, &e->oob);
	if (ret)
		return ft_fail(e, ret, NULL, "open a socket");
	ft_sock_setup(e->oob);
	ft_set_port(&addr, ft_params.oob_port);
	ret = kernel_connect(e->oob, (void *)&addr, ft_addr_len(&addr), 0);
	if (ret)
		return ft_fail(e, ft_sock_err(ret), "does the server run there, with -E or -b?",
			       "connect to %pISpc", &addr);
	return 0;
}

int ft_oob_send(struct ft_end *e, const void *buf, size_t len, const char *what)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	int ret = kernel_sendmsg(e->oob, &msg, &vec, 1, len);

	if (ret == len)
		return 0;
	return ft_fail(e, ret < 0 ? ft_sock_err(ret) : -ETIMEDOUT, ft_peer_todo,
		       "out of band: send %s", what);
}

int ft_oob_recv(struct ft_end *e, void *buf, size_t len, const char *what)
{
	while (len) {
		struct msghdr msg = { };
		struct kvec vec = { .iov_base = buf, .iov_len = len };
		int ret = kernel_recvmsg(e->oob, &msg, &vec, 1, len, 0);

		if (ret <= 0)
			return ft_fail(e, ret ? ft_sock_err(ret) : -ECONNRESET, ft_peer_todo,
				       "out of band: receive %s", what);
		buf += ret;
		len -= ret;
	}
	return 0;
}

/* Send @mine and receive @theirs, the client's before the server's */
static int ft_oob_swap(struct ft_end *e, const void *mine, void *theirs, size_t len,
		       const char *what)
{
	int ret = 0;

	if (e->client)
		ret = ft_oob_send(e, mine, len, what);
	if (!ret)
		ret = ft_oob_recv(e, theirs, len, what);
	if (!ret && !e->client)
		ret = ft_oob_send(e, mine, len, what);
	return ret;
}

int ft_oob_status(struct ft_end *e)
{
	int mine = 0, theirs = 0, ret;

	ret = ft_oob_swap(e, &mine, &theirs, sizeof(mine), "a status");
	if (!ret && theirs)
		return ft_fail(e, -EPROTO, ft_peer_todo, "out of band: the peer's status is %d",
			       theirs);
	return ret;
}

int ft_oob_sync(struct ft_end *e)
{
	u8 mine = FT_SYNC_BYTE, theirs;

	return ft_oob_swap(e, &mine, &theirs, sizeof(mine), "a sync");
}

/* This end's address of the TCP connection; an IPv4-mapped address as IPv4 */
int ft_oob_local(struct ft_end *e, struct sockaddr_storage *local)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)local;
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int ret;

	memset(local, 0, sizeof(*local));
	ret = kernel_getsockname(e->oob, (void *)local);
	if (ret < 0)
		return ft_fail(e, ret, NULL, "find the way to the peer");
	if (local->ss_family == AF_INET6 && ipv6_addr_v4mapped(&sin6->sin6_addr)) {
		sin.sin_addr.s_addr = sin6->sin6_addr.s6_addr32[3];
		memcpy(local, &sin, sizeof(sin));
	}
	return 0;
}

void ft_oob_close(struct ft_end *e)
{
	ft_sock_release(&e->oob);
	ft_sock_release(&e->listener);
}
