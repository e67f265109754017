// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listeners, and connections until their request is there.
 *
 * The worker of a listener accepts connections, and reads from each until the request is
 * there, for KTCP_GREETING_MS at most.  A connection whose request is not there yet is a
 * greeting.  When the request is there, the owner of the listener gets it (ktcp_listener.asked).
 *
 * A listener reads from KTCP_GREETINGS connections at a time, so peers that connect and say
 * nothing cost that much memory and no more.  Further connections wait in the backlog of the
 * socket.  While one waits there, the oldest greeting has KTCP_PRESSED_MS only, so silent peers
 * keep a place from others for no longer.  If an address (kofi/source.h) has more than
 * greetings_max places, its oldest greeting has KTCP_CROWDED_MS, and gives way first.  Connections
 * that cannot be accepted for lack of memory wait in the backlog, too.  The listener tries again a
 * moment later, as the socket does not report once more what waits in its backlog.
 *
 * All of this happens under ktcp_cm_lock.  A run of the worker accepts KTCP_ACCEPTS connections at
 * most and then lets others have the mutex, as a peer may connect without end.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <kofi/compat.h>
#include "stream.h"

#define KTCP_ACCEPT_AGAIN	(HZ / 10)
#define KTCP_ACCEPTS		64	/* connections that a run of the worker accepts */

static unsigned int greetings_max = 64;
module_param(greetings_max, uint, 0644);
MODULE_PARM_DESC(greetings_max, "places of a listener, of 128, that connections from one address keep that have not sent a request, of IPv6 from one network of 64 bits, while others wait for one");

/* Ends a connection that no endpoint has */
void ktcp_req_free(struct ktcp_req *req)
{
	ktcp_sock_close(&req->sk);
	kfree(req);
}

static void ktcp_greeting_drop(struct ktcp_listener *listener, struct ktcp_req *req)
{
	lockdep_assert_held(&ktcp_cm_lock);
	list_del(&req->entry);
	listener->nr_greetings--;
}

/* Reads what has come of a request; a complete one goes to the owner of the listener */
static void ktcp_greet(struct ktcp_listener *listener, struct ktcp_req *req)
{
	int type = ktcp_cm_recv(req->sk.sock, &req->msg);
	int may_too = listener->contexts ? TCP_WIRE_CTXREQ : TCP_WIRE_CONNREQ;

	lockdep_assert_held(&ktcp_cm_lock);
	if (type == -EAGAIN && time_before(jiffies, req->deadline))
		return;
	ktcp_greeting_drop(listener, req);
	if (ktcp_cm_is_foul(type, TCP_WIRE_CONNREQ, may_too))
		ktcp_violated(listener->fid, req->sk.sock, KTCP_BAD_REQUEST);
	if (type == TCP_WIRE_CONNREQ || type == may_too)
		listener->asked(listener, req);
	else
		ktcp_req_free(req);
}

/* Does a connection wait for a place? */
static bool ktcp_listener_is_pressed(const struct ktcp_listener *listener)
{
	return listener->nr_greetings == KTCP_GREETINGS &&
	       !reqsk_queue_empty(&inet_csk(listener->sk.sock->sk)->icsk_accept_queue);
}

/* The oldest greeting of an address that has more places than it may keep; NULL: there is none */
static struct ktcp_req *ktcp_listener_crowd(const struct ktcp_listener *listener)
{
	unsigned int max = READ_ONCE(greetings_max), count;
	struct ktcp_req *req, *other;

	lockdep_assert_held(&ktcp_cm_lock);
	list_for_each_entry(req, &listener->greetings, entry) {
		count = 0;
		list_for_each_entry(other, &listener->greetings, entry)
			count += !memcmp(&req->from, &other->from, sizeof(req->from));
		if (count > max)
			return req;
	}
	return NULL;
}

/* The greeting that gives way next, and when; the listener has at least one */
static struct ktcp_req *ktcp_listener_next(const struct ktcp_listener *listener,
					   unsigned long *deadline)
{
	bool pressed = ktcp_listener_is_pressed(listener);
	struct ktcp_req *req = pressed ? ktcp_listener_crowd(listener) : NULL;
	unsigned int ms = KTCP_GREETING_MS;

	if (pressed)
		ms = req ? KTCP_CROWDED_MS : KTCP_PRESSED_MS;
	if (!req)
		req = list_first_entry(&listener->greetings, struct ktcp_req, entry);
	*deadline = req->deadline - msecs_to_jiffies(KTCP_GREETING_MS - ms);
	return req;
}

/* A greeting gives way to a connection that waits; false: it has time yet */
static bool ktcp_listener_make_room(struct ktcp_listener *listener)
{
	unsigned long deadline;
	struct ktcp_req *req;

	lockdep_assert_held(&ktcp_cm_lock);
	if (!ktcp_listener_is_pressed(listener))
		return false;
	req = ktcp_listener_next(listener, &deadline);
	if (time_before(jiffies, deadline))
		return false;
	ktcp_greeting_drop(listener, req);
	ktcp_req_free(req);
	return true;
}

/* Accepts one connection; 0; -EAGAIN: there is none, or no room for it; another negative errno */
static int ktcp_accept_one(struct ktcp_listener *listener)
{
	struct sockaddr_storage from;
	struct ktcp_req *req;
	struct socket *sock;
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	if (listener->nr_greetings == KTCP_GREETINGS && !ktcp_listener_make_room(listener))
		return -EAGAIN;
	ret = kernel_accept(listener->sk.sock, &sock, O_NONBLOCK);
	if (ret)
		return ret;
	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req) {
		ktcp_sock_release(sock);
		return -ENOMEM;
	}
	/* The new socket has inherited the listener's callback */
	sock->sk->sk_data_ready = listener->sk.data_ready;
	ktcp_sock_setup(sock, listener->tclass);
	/* A peer that has gone already is of no family */
	ktcp_sock_name(sock, true, &from);
	kofi_source_key_set(&req->from, &from);
	req->net = listener->net;
	req->deadline = jiffies + msecs_to_jiffies(KTCP_GREETING_MS);
	list_add_tail(&req->entry, &listener->greetings);
	listener->nr_greetings++;
	ktcp_sock_attach(&req->sk, sock, &listener->work, WORK_CPU_UNBOUND);
	ktcp_sock_limit(&req->sk);
	/* The socket does not report again what has come before */
	ktcp_greet(listener, req);
	return 0;
}

static void ktcp_listener_work(struct work_struct *work)
{
	struct ktcp_listener *listener = container_of(work, struct ktcp_listener, work);
	struct ktcp_req *req, *next;
	unsigned long deadline;
	unsigned int noio;
	int i, ret = 0;

	noio = ktcp_cm_enter();
	if (!listener->open)
		goto unlock;
	list_for_each_entry_safe(req, next, &listener->greetings, entry)
		ktcp_greet(listener, req);
	for (i = 0; i < KTCP_ACCEPTS && !ret; i++)
		ret = ktcp_accept_one(listener);
	if (!ret) {
		queue_work(ktcp_wq, &listener->work);
	} else if (ret != -EAGAIN) {
		mod_delayed_work(ktcp_wq, &listener->late, KTCP_ACCEPT_AGAIN);
	} else if (listener->nr_greetings) {
		ktcp_listener_next(listener, &deadline);
		mod_delayed_work(ktcp_wq, &listener->late,
				 max_t(long, 1, deadline - jiffies));
	}
unlock:
	ktcp_cm_leave(noio);
}

static void ktcp_listener_late(struct work_struct *work)
{
	struct ktcp_listener *listener = container_of(to_delayed_work(work),
						      struct ktcp_listener, late);

	queue_work(ktcp_wq, &listener->work);
}

/**
 * ktcp_listener_init() - Set a listener up
 * @listener: the listener, zeroed
 * @fid: the endpoint or passive endpoint that owns it
 * @tclass: traffic class of its connections
 * @asked: see &ktcp_listener.asked; called with ktcp_cm_lock held
 *
 * Context: any.
 */
void ktcp_listener_init(struct ktcp_listener *listener, const struct fid *fid, u32 tclass,
			void (*asked)(struct ktcp_listener *listener, struct ktcp_req *req))
{
	listener->fid = fid;
	listener->tclass = tclass;
	listener->asked = asked;
	INIT_WORK(&listener->work, ktcp_listener_work);
	INIT_DELAYED_WORK(&listener->late, ktcp_listener_late);
	INIT_LIST_HEAD(&listener->greetings);
}

/**
 * ktcp_listener_bind() - Give a listener its socket and its address
 * @listener: the listener
 * @net: its namespace, which it does not keep
 * @addr: the address, which has a port afterwards
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: 0, and ktcp_listener_close() is due; negative errno.
 */
int ktcp_listener_bind(struct ktcp_listener *listener, struct net *net,
		       struct sockaddr_storage *addr)
{
	struct socket *sock;
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	ret = ktcp_sock_new(net, addr->ss_family, &sock);
	if (ret)
		return ret;
	sock_set_reuseaddr(sock->sk);
	ret = kernel_bind(sock, (struct sockaddr_unsized *)addr, kofi_addr_len(addr));
	if (!ret)
		ret = ktcp_sock_name(sock, false, addr);
	if (ret) {
		ktcp_sock_release(sock);
		return ret;
	}
	listener->net = net;
	ktcp_sock_listen(&listener->sk, sock, &listener->work);
	return 0;
}

/**
 * ktcp_listener_open() - Accept connections from now on
 * @listener: a listener whose socket listens
 *
 * Context: any, with ktcp_cm_lock held.
 */
void ktcp_listener_open(struct ktcp_listener *listener)
{
	lockdep_assert_held(&ktcp_cm_lock);
	listener->open = true;
	queue_work(ktcp_wq, &listener->work);
}

/**
 * ktcp_listener_close() - Hang up on all greetings, and listen no more
 * @listener: the listener, which may have no socket
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_listener_close(struct ktcp_listener *listener)
{
	struct ktcp_req *req, *next;

	lockdep_assert_held(&ktcp_cm_lock);
	listener->open = false;
	ktcp_sock_close(&listener->sk);
	list_for_each_entry_safe(req, next, &listener->greetings, entry) {
		ktcp_greeting_drop(listener, req);
		ktcp_req_free(req);
	}
}

/**
 * ktcp_listener_fini() - Stop the work items of a listener
 * @listener: a listener that has been closed
 *
 * Context: may sleep, without ktcp_cm_lock.
 */
void ktcp_listener_fini(struct ktcp_listener *listener)
{
	/* Each of the two work items may queue the other once more */
	cancel_work_sync(&listener->work);
	cancel_delayed_work_sync(&listener->late);
	cancel_work_sync(&listener->work);
}
