// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The connection of an endpoint.
 *
 *	fi_connect()	makes a socket and has TCP connect; when TCP has connected, the worker
 *			sends the request (ktcp_dial()), and waits for the response
 *			(ktcp_responded())
 *	fi_accept()	accepts the request that the endpoint was opened with
 *	the end		fi_shutdown(), fi_close(), the peer's end of the stream, a violation by
 *			the peer, a failure of the socket, or a timeout: ktcp_ep_end()
 *
 * States change under ktcp_cm_lock.  The worker takes this mutex only to change a state, and not
 * while data flow.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <net/tcp.h>
#include <kofi/compat.h>
#include "stream.h"

/**
 * ktcp_ep_stop() - Nothing is posted any more, and the worker gives everything back
 * @ep: an endpoint whose connection state says that it has ended
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_ep_stop(struct ktcp_ep *ep)
{
	lockdep_assert_held(&ktcp_cm_lock);
	if (ep->req)
		ktcp_req_free(ep->req);
	ep->req = NULL;
	kofi_soft_ep_over(&ep->soft);
}

/**
 * ktcp_ep_end() - End the connection, or the attempt, of an endpoint
 * @ep: the endpoint
 * @err: what is reported if the connection did not stand, positive
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_ep_end(struct ktcp_ep *ep, int err)
{
	lockdep_assert_held(&ktcp_cm_lock);
	kofi_conn_end(&ep->soft.kep.conn, err, 0, NULL, 0);
	ktcp_ep_stop(ep);
}

/* Delayed work: the peer has not answered in time */
void ktcp_connect_late(struct work_struct *work)
{
	struct ktcp_ep *ep = container_of(to_delayed_work(work), struct ktcp_ep,
					  soft.kep.conn.late);
	unsigned int noio;

	noio = ktcp_cm_enter();
	if (ep->soft.kep.conn.state == KOFI_CONN_CONNECTING)
		ktcp_ep_end(ep, ETIMEDOUT);
	ktcp_cm_leave(noio);
}

/**
 * ktcp_dial() - Send the request when TCP has connected
 * @conn: a connection in KTCP_DIALLING, by its worker
 *
 * Context: may sleep.
 * Return: 0: the response is to come; -EAGAIN: TCP has not connected yet; another negative
 * errno: it will not.
 */
int ktcp_dial(struct ktcp_conn *conn)
{
	struct sock *sk = conn->sk.sock->sk;
	int ret;

	switch (READ_ONCE(sk->sk_state)) {
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return -EAGAIN;
	case TCP_ESTABLISHED:
	case TCP_CLOSE_WAIT:
		break;
	default:
		return sock_error(sk) ? : -ECONNREFUSED;
	}
	ret = ktcp_cm_send(conn->sk.sock, conn->request, ktcp_conn_can(conn),
			   conn->cm_msg.data, conn->cm_msg.have);
	if (ret)
		return ret;
	conn->cm_msg.have = 0;
	conn->phase = KTCP_ASKED;
	return 0;
}

/* Notes what the peer's first message says about the peer */
static void ktcp_ep_know_peer(struct ktcp_ep *ep, const struct ktcp_cm_msg *msg)
{
	ep->conn.net_order = msg->net_order;
	ep->conn.saves = ktcp_cm_can(&msg->cm, TCP_WIRE_CAN_SAVE);
	ep->conn.refuses = ktcp_cm_can(&msg->cm, TCP_WIRE_CAN_REFUSE);
	ep->conn.ends_keys = ktcp_cm_can(&msg->cm, TCP_WIRE_CAN_END_KEY);
	if (!ep->conn.saves)
		ep->soft.absent |= FI_SAVE;
	if (!ep->conn.ends_keys)
		ep->soft.absent |= FI_REMOTE_INV;
}

/**
 * ktcp_responded() - Look for the response to the request
 * @ep: an endpoint in KTCP_ASKED, by its worker
 *
 * Context: may sleep.
 * Return: 0: the connection stands; -EAGAIN: the response is to come; another negative
 * errno: the attempt has failed, and the caller ends it.
 */
int ktcp_responded(struct ktcp_ep *ep)
{
	struct ktcp_conn *conn = &ep->conn;
	int type = ktcp_cm_recv(conn->sk.sock, &conn->cm_msg);
	size_t len = conn->cm_msg.have - sizeof(conn->cm_msg.cm);
	unsigned int noio;

	if (ktcp_cm_is_foul(type, TCP_WIRE_CONNRESP, TCP_WIRE_NACK))
		ktcp_conn_violated(conn, KTCP_BAD_RESPONSE);
	if (type < 0)
		return type == -ESHUTDOWN ? -ECONNREFUSED : type;
	noio = ktcp_cm_enter();
	if (type == TCP_WIRE_CONNRESP) {
		ktcp_token_take(&conn->token);
		ktcp_ep_know_peer(ep, &conn->cm_msg);
		ktcp_conn_open(conn);
		ktcp_give(conn);
		kofi_conn_establish(&ep->soft.kep.conn, conn->cm_msg.data, len);
	} else if (type == TCP_WIRE_NACK) {
		kofi_conn_end(&ep->soft.kep.conn, ECONNREFUSED, 0, conn->cm_msg.data, len);
		ktcp_ep_stop(ep);
	}
	ktcp_cm_leave(noio);
	return type == TCP_WIRE_CONNRESP ? 0 : -ECONNREFUSED;
}

/**
 * ktcp_pick_cpu() - Where is the worker of a connection to run?
 * @soft: the endpoint
 *
 * On the processor that the client wants its completions on.  If there is none, or it is
 * offline, each connection gets the next processor that is online.
 *
 * Context: any, with ktcp_cm_lock held.
 * Return: the processor.
 */
int ktcp_pick_cpu(const struct kofi_soft_ep *soft)
{
	static int last = -1;
	int cpu = soft->kep.rx.cq ? soft->kep.rx.cq->cpu : -1;

	lockdep_assert_held(&ktcp_cm_lock);
	if (cpu < 0 || !cpu_online(cpu)) {
		last = cpumask_next(last, cpu_online_mask);
		if (last >= nr_cpu_ids)
			last = cpumask_first(cpu_online_mask);
		cpu = last;
	}
	return cpu;
}

/* The socket and posts queue the worker on the processor that this returns */
static int ktcp_set_cpu(struct ktcp_ep *ep)
{
	int cpu = ktcp_pick_cpu(&ep->soft);

	WRITE_ONCE(ep->soft.cpu, cpu);
	WRITE_ONCE(ep->conn.cpu, cpu);
	return cpu;
}

/*
 * Let a socket that is bound to an address get its port when it connects.  kernel_bind() would
 * give it a port that no other connection from the address has, and search all ports for that.
 */
static void ktcp_sock_set_late_port(struct socket *sock)
{
	int yes = 1;

	sock->ops->setsockopt(sock, SOL_IP, IP_BIND_ADDRESS_NO_PORT, KERNEL_SOCKPTR(&yes),
			      sizeof(yes));
}

/**
 * ktcp_sock_dial() - Make a socket that has begun to connect
 * @soft: the endpoint
 * @src: the endpoint's address, as far as it is known
 * @dest: the peer's address
 * @tclass: traffic class
 * @sock: the socket
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: 0; negative errno.
 */
int ktcp_sock_dial(struct kofi_soft_ep *soft, struct sockaddr_storage *src,
		   struct sockaddr_storage *dest, u32 tclass, struct socket **sock)
{
	int ret;

	ret = ktcp_sock_new(soft->domain->fabric->net, dest->ss_family, sock);
	if (ret)
		return ret;
	ktcp_sock_setup(*sock, tclass);
	if (soft->reserves)
		ktcp_sock_use_reserves(*sock);
	sock_set_reuseaddr((*sock)->sk);
	if (!kofi_addr_port(src))
		ktcp_sock_set_late_port(*sock);
	if (!kofi_addr_any(src) || kofi_addr_port(src))
		ret = kernel_bind(*sock, (struct sockaddr_unsized *)src, kofi_addr_len(src));
	if (!ret)
		ret = kernel_connect(*sock, (struct sockaddr_unsized *)dest,
				     kofi_addr_len(dest), O_NONBLOCK);
	if (!ret || ret == -EINPROGRESS)
		return 0;
	ktcp_sock_release(*sock);
	return ret;
}

/**
 * ktcp_ep_name() - The address of an endpoint, as far as it has one
 * @ep: the endpoint
 * @name: filled in
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_ep_name(struct ktcp_ep *ep, struct sockaddr_storage *name)
{
	lockdep_assert_held(&ktcp_cm_lock);
	if (!ep->conn.sk.sock || ktcp_sock_name(ep->conn.sk.sock, false, name))
		*name = ep->src;
}

/**
 * ktcp_ep_note_interface() - An endpoint may have its address now
 * @ep: the endpoint
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_ep_note_interface(struct ktcp_ep *ep)
{
	struct sockaddr_storage name;

	ktcp_ep_name(ep, &name);
	ktcp_note_interface(ep->soft.domain->fabric->net, &name, &ep->ifindex);
}

static int ktcp_connect(struct fid_ep *fid_ep, const void *addr,
			const void *param, size_t paramlen)
{
	struct ktcp_ep *ep = to_ktcp_ep(&fid_ep->fid);
	struct sockaddr_storage dest;
	struct socket *sock;
	unsigned int noio;
	int ret;

	ret = kofi_conn_check_data("connect", paramlen, TCP_WIRE_CM_DATA);
	if (ret)
		return ret;
	noio = ktcp_cm_enter();
	ret = kofi_conn_may_start(&ep->soft.kep.conn, false);
	if (!ret)
		ret = kofi_soft_dest(&ep->soft, &ep->src, addr, &dest);
	if (ret)
		goto unlock;
	kofi_conn_start(&ep->soft.kep.conn, ktcp_wq);
	if (paramlen)
		memcpy(ep->conn.cm_msg.data, param, paramlen);
	ep->conn.cm_msg.have = paramlen;
	ret = ktcp_sock_dial(&ep->soft, &ep->src, &dest, ep->tclass, &sock);
	if (ret) {
		/* A failure is an event, whenever it comes */
		ktcp_ep_end(ep, -ret);
		ret = 0;
		goto unlock;
	}
	ep->conn.phase = KTCP_DIALLING;
	ktcp_sock_attach(&ep->conn.sk, sock, &ep->soft.work, ktcp_set_cpu(ep));
	ktcp_ep_note_interface(ep);
unlock:
	ktcp_cm_leave(noio);
	return ret;
}

static int ktcp_accept(struct fid_ep *fid_ep, const void *param, size_t paramlen)
{
	struct ktcp_ep *ep = to_ktcp_ep(&fid_ep->fid);
	struct socket *sock;
	unsigned int noio;
	int ret;

	ret = kofi_conn_check_data("accept", paramlen, TCP_WIRE_CM_DATA);
	if (ret)
		return ret;
	noio = ktcp_cm_enter();
	ret = kofi_conn_may_start(&ep->soft.kep.conn, true);
	if (ret)
		goto unlock;
	kofi_conn_start(&ep->soft.kep.conn, ktcp_wq);
	sock = ep->req->sk.sock;
	/* The peer may have gone while the request waited */
	if (READ_ONCE(sock->sk->sk_state) != TCP_ESTABLISHED ||
	    ktcp_cm_send(sock, TCP_WIRE_CONNRESP, ktcp_conn_can(&ep->conn), param, paramlen)) {
		ktcp_ep_end(ep, ECONNABORTED);
		goto unlock;
	}
	if (ep->soft.reserves)
		ktcp_sock_use_reserves(sock);
	ktcp_token_take(&ep->conn.token);
	ktcp_ep_know_peer(ep, &ep->req->msg);
	ep->conn.few_reads = ktcp_accepts_few(&ep->req->msg.cm);
	ktcp_sock_unlimit(&ep->req->sk);
	sock = ktcp_sock_detach(&ep->req->sk);
	kfree(ep->req);
	ep->req = NULL;
	ktcp_conn_open(&ep->conn);
	kofi_conn_establish(&ep->soft.kep.conn, NULL, 0);
	ktcp_sock_attach(&ep->conn.sk, sock, &ep->soft.work, ktcp_set_cpu(ep));
	ktcp_give(&ep->conn);
	ktcp_ep_note_interface(ep);
unlock:
	ktcp_cm_leave(noio);
	return ret;
}

static int ktcp_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct sockaddr_storage name;
	unsigned int noio;

	noio = ktcp_cm_enter();
	ktcp_ep_name(to_ktcp_ep(fid), &name);
	ktcp_cm_leave(noio);
	return kofi_addr_copy_out(&name, addr, addrlen);
}

static int ktcp_getpeer(struct fid_ep *fid_ep, void *addr, size_t *addrlen)
{
	struct ktcp_ep *ep = to_ktcp_ep(&fid_ep->fid);
	struct sockaddr_storage name = {};
	unsigned int noio;
	int ret;

	noio = ktcp_cm_enter();
	if (ep->conn.sk.sock && ep->soft.kep.conn.state == KOFI_CONN_CONNECTED)
		ret = ktcp_sock_name(ep->conn.sk.sock, true, &name);
	else
		ret = kofi_conn_refuse("getpeer", &ep->soft.kep.conn, -ENOTCONN, "connected");
	ktcp_cm_leave(noio);
	return ret ? : kofi_addr_copy_out(&name, addr, addrlen);
}

const struct fi_ops_cm ktcp_ep_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_soft_setname,
	.getname	= ktcp_getname,
	.getpeer	= ktcp_getpeer,
	.connect	= ktcp_connect,
	.listen		= fi_no_listen,
	.accept		= ktcp_accept,
	.reject		= fi_no_reject,
	.shutdown	= kofi_soft_shutdown,
	.join		= fi_no_join,
};
