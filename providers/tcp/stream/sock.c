// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets: options, events, and messages of connection management.
 *
 * A socket that is attached has a pointer to its struct ktcp_sock in sk_user_data, and the
 * callbacks below.  The callbacks run in softirq, with sk_callback_lock held for reading, and do
 * nothing but queue a work item: the socket's, or another one that takes what has come
 * (ktcp_sock.take).
 * ktcp_sock_detach() takes the lock for writing, so no callback finds the struct ktcp_sock
 * afterwards.
 *
 * Connections that a listener has not accepted yet inherit its callbacks, and its sk_user_data
 * or NULL.  ktcp_listen_ready() does nothing for a socket that does not listen itself.
 */
#include <linux/in6.h>
#include <linux/mempool.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <kofi/compat.h>
#include <kofi/tclass.h>
#include "stream.h"

static void ktcp_wake(struct sock *sk)
{
	struct ktcp_sock *ksk;

	read_lock_bh(&sk->sk_callback_lock);
	ksk = sk->sk_user_data;
	if (ksk)
		queue_work_on(ksk->cpu, ktcp_wq, ksk->work);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void ktcp_data_ready(struct sock *sk)
{
	bool (*take)(struct ktcp_sock *ksk);
	struct ktcp_sock *ksk;

	read_lock_bh(&sk->sk_callback_lock);
	ksk = sk->sk_user_data;
	if (!ksk)
		goto unlock;
	/* Pairs with ktcp_conn_open() */
	take = smp_load_acquire(&ksk->take);
	if (!take || !take(ksk))
		queue_work_on(ksk->cpu, ktcp_wq, ksk->work);
unlock:
	read_unlock_bh(&sk->sk_callback_lock);
}

static void ktcp_write_space(struct sock *sk)
{
	struct ktcp_sock *ksk;

	read_lock_bh(&sk->sk_callback_lock);
	ksk = sk->sk_user_data;
	if (ksk && sk_stream_is_writeable(sk)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		queue_work_on(ksk->cpu, ktcp_wq, ksk->work);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void ktcp_state_change(struct sock *sk)
{
	ktcp_wake(sk);
}

static void ktcp_listen_ready(struct sock *sk)
{
	if (sk->sk_state == TCP_LISTEN)
		ktcp_wake(sk);
}

/**
 * ktcp_sock_new() - Make a socket
 * @net: its namespace, which it does not keep
 * @family: AF_INET or AF_INET6
 * @sock: the socket
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int ktcp_sock_new(struct net *net, int family, struct socket **sock)
{
	int ret = sock_create_kern(net, family, SOCK_STREAM, IPPROTO_TCP, sock);

	if (!ret && family == AF_INET6)
		ip6_sock_set_v6only((*sock)->sk);
	return ret;
}

/**
 * ktcp_sock_setup() - Set the options of a connection
 * @sock: its socket
 * @tclass: traffic class, or FI_TC_UNSPEC
 *
 * Memory for what is sent must not make the kernel write back pages: writeback may wait for
 * this very socket.
 *
 * Context: may sleep.
 */
void ktcp_sock_setup(struct socket *sock, u32 tclass)
{
	struct sock *sk = sock->sk;

	sk->sk_allocation = GFP_ATOMIC;
	kofi_sock_no_task_frag(sk);
	if (tclass != FI_TC_BULK_DATA)
		tcp_sock_set_nodelay(sk);
	if (tclass != FI_TC_UNSPEC)
		ip_sock_set_tos(sk, kofi_tclass_tos(tclass));
	sock_no_linger(sk);
	ktcp_alive_setup(sk);
}

/* memalloc_socks_key counts for this module */
static bool ktcp_key_is_kept;

/**
 * ktcp_reserves_prepare() - Keep the kernel's static key for sockets with reserves enabled
 *
 * The key counts these sockets.  The first one and the last one wait for locks that others hold
 * while they allocate memory.  With this no socket is the first or the last one, and a client may
 * connect again while memory is short.
 *
 * Context: may sleep, without ktcp_cm_lock.
 */
void ktcp_reserves_prepare(void)
{
	if (!xchg(&ktcp_key_is_kept, true))
		static_branch_inc(&memalloc_socks_key);
}

void ktcp_reserves_exit(void)
{
	if (ktcp_key_is_kept)
		static_branch_dec(&memalloc_socks_key);
}

/**
 * ktcp_sock_use_reserves() - Let a connection use the emergency reserves of memory
 * @sock: its socket, after ktcp_sock_setup()
 *
 * Context: may sleep.
 */
void ktcp_sock_use_reserves(struct socket *sock)
{
	lock_sock(sock->sk);
	sk_set_memalloc(sock->sk);
	release_sock(sock->sk);
}

/**
 * ktcp_sock_release() - Release a socket, and what it has of the reserves
 * @sock: the socket
 *
 * Packets of the reserves may not wait in the backlog of a socket without reserves.  A socket that
 * has been released has no backlog: nobody locks it any more, and what still comes is dropped.
 *
 * Context: may sleep.
 */
void ktcp_sock_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	bool reserves = sock_flag(sk, SOCK_MEMALLOC);

	if (reserves)
		sock_hold(sk);
	sock_release(sock);
	if (!reserves)
		return;
	sk_clear_memalloc(sk);
	sock_put(sk);
}

static void ktcp_sock_hook(struct ktcp_sock *ksk, struct socket *sock,
			   struct work_struct *work, int cpu,
			   void (*data_ready)(struct sock *sk))
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	ksk->sock = sock;
	ksk->work = work;
	ksk->cpu = cpu;
	ksk->data_ready = sk->sk_data_ready;
	ksk->write_space = sk->sk_write_space;
	ksk->state_change = sk->sk_state_change;
	sk->sk_user_data = ksk;
	sk->sk_data_ready = data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * ktcp_sock_attach() - Let the events of a connection queue a work item
 * @ksk: filled in for the socket
 * @sock: the socket
 * @work: the work item
 * @cpu: processor that @work is queued on; WORK_CPU_UNBOUND: that of the event
 *
 * The function queues @work once, for what has happened before.
 *
 * Context: may sleep.
 */
void ktcp_sock_attach(struct ktcp_sock *ksk, struct socket *sock,
		      struct work_struct *work, int cpu)
{
	struct sock *sk = sock->sk;

	ktcp_sock_hook(ksk, sock, work, cpu, ktcp_data_ready);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_write_space = ktcp_write_space;
	sk->sk_state_change = ktcp_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	queue_work_on(cpu, ktcp_wq, work);
}

/**
 * ktcp_sock_listen() - Let new connections queue a work item
 * @ksk: filled in for the socket
 * @sock: the socket
 * @work: the work item
 *
 * Context: may sleep.
 */
void ktcp_sock_listen(struct ktcp_sock *ksk, struct socket *sock,
		      struct work_struct *work)
{
	ktcp_sock_hook(ksk, sock, work, WORK_CPU_UNBOUND, ktcp_listen_ready);
}

/**
 * ktcp_sock_mute() - Stop the events of an attached socket from queueing its work item
 * @ksk: the struct ktcp_sock that it is attached to
 *
 * Context: may sleep.
 */
void ktcp_sock_mute(struct ktcp_sock *ksk)
{
	struct sock *sk = ksk->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * ktcp_sock_detach() - Give a socket its own callbacks back
 * @ksk: what ktcp_sock_attach() or ktcp_sock_listen() has filled in; it may have no socket
 *
 * Context: may sleep.
 * Return: the socket, the caller's; NULL: there is none.
 */
struct socket *ktcp_sock_detach(struct ktcp_sock *ksk)
{
	struct socket *sock = ksk->sock;
	struct sock *sk;

	if (!sock)
		return NULL;
	sk = sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = ksk->data_ready;
	sk->sk_write_space = ksk->write_space;
	sk->sk_state_change = ksk->state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	ksk->sock = NULL;
	return sock;
}

/**
 * ktcp_sock_close() - Close a socket
 * @ksk: as ktcp_sock_detach()
 *
 * Context: may sleep.
 */
void ktcp_sock_close(struct ktcp_sock *ksk)
{
	struct socket *sock = ktcp_sock_detach(ksk);

	if (!sock)
		return;
	kernel_sock_shutdown(sock, SHUT_RDWR);
	ktcp_sock_release(sock);
}

/**
 * ktcp_sock_limit() - Let a peer send little more than its request
 * @ksk: the struct ktcp_sock that the connection with the peer is attached to
 *
 * Nobody reads the rest before the client has accepted.
 *
 * Context: may sleep.
 */
void ktcp_sock_limit(struct ktcp_sock *ksk)
{
	struct sock *sk = ksk->sock->sk;

	lock_sock(sk);
	ksk->rcvbuf = sk->sk_rcvbuf;
	WRITE_ONCE(sk->sk_rcvbuf, min(ksk->rcvbuf, KTCP_EARLY_BUF));
	/* TCP does not let the buffer grow */
	sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	release_sock(sk);
}

/**
 * ktcp_sock_unlimit() - Give a limited socket its room back
 * @ksk: as ktcp_sock_limit()
 *
 * Context: may sleep.
 */
void ktcp_sock_unlimit(struct ktcp_sock *ksk)
{
	struct sock *sk = ksk->sock->sk;

	lock_sock(sk);
	WRITE_ONCE(sk->sk_rcvbuf, ksk->rcvbuf);
	sk->sk_userlocks &= ~SOCK_RCVBUF_LOCK;
	release_sock(sk);
}

/**
 * ktcp_sock_name() - Get an address of a socket
 * @sock: the socket
 * @peer: the address is that of its peer
 * @addr: the address
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int ktcp_sock_name(struct socket *sock, bool peer, struct sockaddr_storage *addr)
{
	int ret;

	memset(addr, 0, sizeof(*addr));
	ret = peer ? kernel_getpeername(sock, (struct sockaddr *)addr) :
		     kernel_getsockname(sock, (struct sockaddr *)addr);
	return ret < 0 ? ret : 0;
}

/**
 * ktcp_note_interface() - Note which interface has the address of an endpoint
 * @net: its namespace; NULL: that has gone
 * @name: the address, which may be none
 * @ifindex: where; unchanged if there is no address
 *
 * Context: any.
 */
void ktcp_note_interface(struct net *net, const struct sockaddr_storage *name, int *ifindex)
{
	if (net && !kofi_addr_any(name))
		*ifindex = kofi_addr_ifindex(net, name);
}

/**
 * ktcp_sock_prime() - Have the socket copy the next short messages into a single page
 * @sock: the socket, whose only sender is the caller
 *
 * TCP would begin with 32 KiB, which the kernel may clear first.  Behind the page it goes on with
 * those.  Without memory nothing happens.
 *
 * Context: may sleep.
 */
void ktcp_sock_prime(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct page *page = NULL;

	lock_sock(sk);
	/*
	 * A message that the peer's socket has given back may stay in a list of a processor, with
	 * the page, when this module has gone.  So the page is not counted for the module, as
	 * alloc_page() would have it, nor for another one: CONFIG_MEM_ALLOC_PROFILING_DEBUG
	 * warns of that once.
	 */
	if (!sk->sk_frag.page)
		page = mempool_alloc_pages(sk->sk_allocation | __GFP_NOWARN, NULL);
	if (page)
		sk->sk_frag = (struct page_frag) { .page = page, .size = PAGE_SIZE };
	release_sock(sk);
}

/**
 * ktcp_sock_trim() - Give back the page that a socket copies short messages into
 * @sock: the socket
 *
 * What is on its way keeps it until the peer has acknowledged that.
 *
 * Context: may sleep.
 */
void ktcp_sock_trim(struct socket *sock)
{
	struct sock *sk = sock->sk;

	lock_sock(sk);
	if (sk->sk_frag.page) {
		put_page(sk->sk_frag.page);
		sk->sk_frag.page = NULL;
		sk->sk_frag.offset = 0;
	}
	release_sock(sk);
}

/**
 * ktcp_sock_recv() - Take bytes that have arrived
 * @sock: the socket
 * @buf: where they go
 * @len: most bytes, not 0
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: how many; -EAGAIN: none; -ESHUTDOWN: the peer sends no more; another negative
 * errno.
 */
int ktcp_sock_recv(struct socket *sock, void *buf, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec kvec = { buf, len };
	int ret = kernel_recvmsg(sock, &msg, &kvec, 1, len, msg.msg_flags);

	return ret ? : -ESHUTDOWN;
}

/**
 * ktcp_cm_send() - Send a message of connection management
 * @sock: a socket that nothing else is sent on at the same time
 * @type: what it is
 * @can: as ktcp_cm_build()
 * @data: connection data
 * @len: bytes of @data
 *
 * libfabric expects the message in one piece.  A new socket has room for that.
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: 0; -ECONNRESET: the peer has gone, or the socket has no room for all of the message;
 * another negative errno.
 */
int ktcp_cm_send(struct socket *sock, enum ktcp_wire_cm_type type, u64 can,
		 const void *data, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct ktcp_wire_cm cm;
	struct kvec kvec[] = { { &cm, sizeof(cm) }, { (void *)data, len } };
	int ret;

	ktcp_cm_build(&cm, type, can, len);
	ktcp_sock_prime(sock);
	ret = kernel_sendmsg(sock, &msg, kvec, len ? 2 : 1, sizeof(cm) + len);
	if (ret < 0)
		return ret;
	ktcp_sock_trim(sock);
	return ret == sizeof(cm) + len ? 0 : -ECONNRESET;
}

/**
 * ktcp_cm_recv() - Receive a message of connection management
 * @sock: the socket
 * @msg: the message, as far as it is there
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: its type, when all of it is there; -EAGAIN: more is to come; -ESHUTDOWN: the
 * peer has hung up; -ENOPROTOOPT, -EPROTO: as ktcp_cm_parse(); another negative errno.
 */
int ktcp_cm_recv(struct socket *sock, struct ktcp_cm_msg *msg)
{
	size_t need = sizeof(msg->cm), len;
	int ret, type;

	for (;;) {
		if (msg->have >= sizeof(msg->cm)) {
			type = ktcp_cm_parse(&msg->cm, &len, &msg->net_order);
			if (type < 0)
				return type;
			need = sizeof(msg->cm) + len;
			if (msg->have == need)
				return type;
		}
		ret = ktcp_sock_recv(sock, (u8 *)&msg->cm + msg->have,
				     need - msg->have);
		if (ret < 0)
			return ret;
		msg->have += ret;
	}
}
