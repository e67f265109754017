// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets that outlive their endpoint.
 *
 * A send has completed when it is in the socket.  It must not be lost when the client ends the
 * connection, so TCP gets time to deliver what the socket has.  A struct ktcp_linger takes the
 * socket over, ends its stream, and drops what still comes, as nobody waits for that any more.
 * It keeps the socket until the peer has ended its stream, too, for peer_timeout at most: a
 * reset before that could reach the peer ahead of data that the peer has not read.
 *
 * Not every connection ends like this (ktcp_hang_up()).  If the peer has violated the wire, has
 * gone or has hung up itself, nobody is there to read.  Pages that TCP has without a copy must
 * come back at once.
 *
 * TCP cannot linger alone: once a kernel socket is released, TCP sends nothing again.
 *
 * fi_close() of an endpoint waits for no peer, and neither does fi_close() of its domain.  A
 * struct ktcp_linger has nothing of the endpoint.  peer_timeout bounds its time, and lingering_max
 * the number of all of them: the oldest one makes room.  A kernel socket does not keep its
 * namespace, so the end of the namespace resets the sockets that linger.  The module waits for
 * them when it goes.
 *
 * A struct ktcp_linger is allocated with its connection: the end needs no memory.  Its work item
 * or ktcp_linger_make_room() takes it out of the list, under ktcp_linger_lock.  Then its work
 * item frees it.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/net_namespace.h>
#include <net/tcp_states.h>
#include <kofi/param.h>
#include "stream.h"

#define KTCP_DROP	SZ_1M	/* bytes from the peer that are dropped at a time */

static struct kofi_param lingering_max = { .value = 4096, .min = 0, .max = BIT(20) };
module_param_cb(lingering_max, &kofi_param_ops, &lingering_max, 0644);
__MODULE_PARM_TYPE(lingering_max, "uint");
MODULE_PARM_DESC(lingering_max, "sockets that may outlive their endpoints, to deliver what has been sent; 0: none, and what the peer has not acknowledged by then is lost; at most 1048576");

/**
 * struct ktcp_linger - A socket that TCP empties
 * @entry: in ktcp_lingers; empty: @work frees it
 * @sk: the socket
 * @work: drops what comes, and looks whether the linger is over
 * @late: queues @work at @until
 * @until: jiffies: when the linger is over at the latest
 * @cut: the linger is over now; guarded by ktcp_linger_lock
 */
struct ktcp_linger {
	struct list_head	entry;
	struct ktcp_sock	sk;
	struct work_struct	work;
	struct delayed_work	late;
	unsigned long		until;
	bool			cut;
};

/* Taken outside the lock of a socket */
static DEFINE_MUTEX(ktcp_linger_lock);
static LIST_HEAD(ktcp_lingers);
static unsigned int ktcp_linger_count;
/* The module goes: a linger is over when the peer's TCP has acknowledged all of its data */
static bool ktcp_linger_hurry;
static DECLARE_WAIT_QUEUE_HEAD(ktcp_linger_gone);

/* Drops what has come; returns whether there may be more */
static bool ktcp_linger_drop(struct socket *sock)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_TRUNC | MSG_NOSIGNAL };
	struct kvec kvec = { NULL, KTCP_DROP };

	return kernel_recvmsg(sock, &msg, &kvec, 1, KTCP_DROP, msg.msg_flags) == KTCP_DROP;
}

/* Takes a linger out of the list: its work item frees it */
static void ktcp_linger_take_out(struct ktcp_linger *linger)
{
	lockdep_assert_held(&ktcp_linger_lock);
	list_del_init(&linger->entry);
	ktcp_linger_count--;
}

static bool ktcp_linger_is_over(const struct ktcp_linger *linger)
{
	int state = READ_ONCE(linger->sk.sock->sk->sk_state);

	lockdep_assert_held(&ktcp_linger_lock);
	return state == TCP_CLOSE || linger->cut || time_after_eq(jiffies, linger->until) ||
	       (ktcp_linger_hurry && state == TCP_FIN_WAIT2);
}

static void ktcp_linger_work(struct work_struct *work)
{
	struct ktcp_linger *linger = container_of(work, struct ktcp_linger, work);
	bool more = ktcp_linger_drop(linger->sk.sock), over;
	struct socket *sock;

	mutex_lock(&ktcp_linger_lock);
	over = list_empty(&linger->entry);
	if (!over && ktcp_linger_is_over(linger)) {
		ktcp_linger_take_out(linger);
		over = true;
	}
	mutex_unlock(&ktcp_linger_lock);
	if (!over) {
		if (more)
			queue_work(ktcp_wq, work);
		return;
	}
	sock = ktcp_sock_detach(&linger->sk);
	cancel_delayed_work_sync(&linger->late);
	/* Nothing queues the work item any more, but something may have */
	cancel_work(work);
	/* A reset, unless both streams have ended */
	ktcp_sock_release(sock);
	kfree(linger);
	wake_up_all(&ktcp_linger_gone);
}

static void ktcp_linger_late(struct work_struct *work)
{
	queue_work(ktcp_wq, &container_of(to_delayed_work(work), struct ktcp_linger, late)->work);
}

/**
 * ktcp_linger_new() - Make what a connection needs for its end
 *
 * Context: may sleep.
 * Return: the linger, and ktcp_hang_up() or kfree() is due; NULL: there is no memory.
 */
struct ktcp_linger *ktcp_linger_new(void)
{
	struct ktcp_linger *linger = kzalloc(sizeof(*linger), GFP_KERNEL);

	if (!linger)
		return NULL;
	INIT_LIST_HEAD(&linger->entry);
	INIT_WORK(&linger->work, ktcp_linger_work);
	INIT_DELAYED_WORK(&linger->late, ktcp_linger_late);
	return linger;
}

/* Makes room for one more linger; false: there may be none */
static bool ktcp_linger_make_room(void)
{
	unsigned int max = READ_ONCE(lingering_max.value);
	struct ktcp_linger *oldest;

	lockdep_assert_held(&ktcp_linger_lock);
	while (max && ktcp_linger_count >= max) {
		oldest = list_first_entry(&ktcp_lingers, struct ktcp_linger, entry);
		ktcp_linger_take_out(oldest);
		queue_work(ktcp_wq, &oldest->work);
	}
	return max;
}

/* Gives a socket to a linger, if it may linger; returns whether it does */
static bool ktcp_linger_take(struct ktcp_linger *linger, struct socket *sock)
{
	unsigned long timeout = ktcp_peer_timeout();

	lockdep_assert_held(&ktcp_linger_lock);
	/* The end of the namespace finds all of its lingers in the list, as none is added later */
	if (READ_ONCE(sock->sk->sk_state) != TCP_ESTABLISHED ||
	    !check_net(sock_net(sock->sk)) || !ktcp_linger_make_room())
		return false;
	kernel_sock_shutdown(sock, SHUT_WR);
	list_add_tail(&linger->entry, &ktcp_lingers);
	ktcp_linger_count++;
	linger->until = jiffies + timeout;
	queue_delayed_work(ktcp_wq, &linger->late, timeout);
	ktcp_sock_attach(&linger->sk, sock, &linger->work, WORK_CPU_UNBOUND);
	return true;
}

/**
 * ktcp_hang_up() - Close the socket of a connection
 * @conn: the connection, after ktcp_conn_stop()
 * @sock: its socket
 *
 * Context: may sleep, but does not wait for the peer.
 */
void ktcp_hang_up(struct ktcp_conn *conn, struct socket *sock)
{
	bool taken = false;

	if (!conn->cut && !conn->tx.zcs) {
		mutex_lock(&ktcp_linger_lock);
		taken = ktcp_linger_take(conn->linger, sock);
		mutex_unlock(&ktcp_linger_lock);
	}
	if (taken) {
		conn->linger = NULL;
		return;
	}
	kernel_sock_shutdown(sock, SHUT_RDWR);
	ktcp_sock_release(sock);
}

/* Queues the work items of all lingers; those of @net are over */
static void ktcp_linger_kick(const struct net *net)
{
	struct ktcp_linger *linger;

	lockdep_assert_held(&ktcp_linger_lock);
	list_for_each_entry(linger, &ktcp_lingers, entry) {
		if (net && net_eq(sock_net(linger->sk.sock->sk), net))
			linger->cut = true;
		queue_work(ktcp_wq, &linger->work);
	}
}

static void __net_exit ktcp_linger_net_exit(struct net *net)
{
	mutex_lock(&ktcp_linger_lock);
	ktcp_linger_kick(net);
	mutex_unlock(&ktcp_linger_lock);
	/* The work items that are queued or running release the sockets of @net */
	flush_workqueue(ktcp_wq);
}

/* ->exit is called while addresses and routes are still there */
static struct pernet_operations ktcp_linger_net_ops = {
	.exit	= ktcp_linger_net_exit,
};

/**
 * ktcp_linger_show() - Show what outlives its endpoint
 * @file: where
 *
 * Context: may sleep.
 */
void ktcp_linger_show(struct seq_file *file)
{
	struct ktcp_linger *linger;
	unsigned long bytes = 0;
	unsigned int sockets = 0;

	mutex_lock(&ktcp_linger_lock);
	list_for_each_entry(linger, &ktcp_lingers, entry) {
		bytes += READ_ONCE(linger->sk.sock->sk->sk_wmem_queued);
		sockets++;
	}
	mutex_unlock(&ktcp_linger_lock);
	seq_printf(file, "sockets %u\nbytes %lu\n", sockets, bytes);
}

int ktcp_linger_init(void)
{
	return register_pernet_device(&ktcp_linger_net_ops);
}

/* Called when no endpoint is left; waits for what is to be delivered, peer_timeout at most */
void ktcp_linger_exit(void)
{
	mutex_lock(&ktcp_linger_lock);
	ktcp_linger_hurry = true;
	ktcp_linger_kick(NULL);
	mutex_unlock(&ktcp_linger_lock);
	wait_event(ktcp_linger_gone, list_empty(&ktcp_lingers));
	unregister_pernet_device(&ktcp_linger_net_ops);
}
