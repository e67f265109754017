// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets that outlive their endpoint.
 *
 * A send has completed when it is in the socket.  The end of a connection by its client must
 * not lose it, so TCP gets time to deliver what the socket has: a struct ktcp_linger takes the
 * socket over, ends its stream, and drops what still comes, which nobody waits for any more.
 * It keeps the socket until the peer has ended its stream, too, as a reset before that could
 * reach the peer ahead of what it has not read; peer_timeout at most.
 *
 * Such an end is not for every connection (ktcp_hang_up()).  Where the peer has broken a rule,
 * has gone or has hung up itself, nobody is there to read, and pages that TCP has without a
 * copy must come back at once.
 *
 * TCP cannot do that alone: once a socket of the kernel's is released, nothing is sent again.
 *
 * fi_close() waits for no peer, so neither does that of the domain.  A struct ktcp_linger has
 * nothing of the endpoint's; its time is bounded by peer_timeout, and the number of all of them
 * by lingering_max: the oldest one makes room.  A socket of the kernel's does not keep its
 * namespace, so the end of that resets them.  The module waits for them when it goes.
 *
 * A struct ktcp_linger is allocated with its connection: the end needs no memory.  Its worker
 * frees it, when that or ktcp_linger_make_room() has taken it out of the list, under
 * ktcp_linger_lock.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/net_namespace.h>
#include <net/tcp_states.h>
#include "tcp.h"

#define KTCP_DROP	SZ_1M	/* bytes of the peer's that are dropped at a time */

static unsigned int lingering_max = 4096;
module_param(lingering_max, uint, 0644);
MODULE_PARM_DESC(lingering_max, "sockets that may outlive their endpoints, to deliver what has been sent; 0: none, and what the peer has not acknowledged by then is lost");

/**
 * struct ktcp_linger - A socket that TCP empties
 * @entry: in ktcp_lingers; empty: its worker frees it
 * @sk: the socket
 * @work: looks whether that is over
 * @late: queues @work when the time is
 * @until: jiffies: when it is
 * @cut: it is over now; guarded by ktcp_linger_lock
 */
struct ktcp_linger {
	struct list_head	entry;
	struct ktcp_sock	sk;
	struct work_struct	work;
	struct delayed_work	late;
	unsigned long		until;
	bool			cut;
};

/* Outside the lock of a socket */
static DEFINE_MUTEX(ktcp_linger_lock);
static LIST_HEAD(ktcp_lingers);
static unsigned int ktcp_linger_count;
/* The module goes: what the peer's TCP has acknowledged has been delivered */
static bool ktcp_linger_hurry;
static DECLARE_WAIT_QUEUE_HEAD(ktcp_linger_gone);

/* Drops what has come; whether there may be more */
static bool ktcp_linger_drop(struct socket *sock)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_TRUNC | MSG_NOSIGNAL };
	struct kvec kvec = { NULL, KTCP_DROP };

	return kernel_recvmsg(sock, &msg, &kvec, 1, KTCP_DROP, msg.msg_flags) == KTCP_DROP;
}

/* Its worker frees it */
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
			queue_work(ktcp_type.wq, work);
		return;
	}
	sock = ktcp_sock_detach(&linger->sk);
	cancel_delayed_work_sync(&linger->late);
	/* Nobody queues it any more, but somebody may have */
	cancel_work(work);
	/* A reset, unless both streams have ended */
	sock_release(sock);
	kfree(linger);
	wake_up_all(&ktcp_linger_gone);
}

static void ktcp_linger_late(struct work_struct *work)
{
	queue_work(ktcp_type.wq, &container_of(to_delayed_work(work), struct ktcp_linger,
					       late)->work);
}

/**
 * ktcp_linger_new() - Make what a connection needs for its end
 *
 * Context: may sleep.
 * Return: it, and ktcp_hang_up() or kfree() is due; NULL: there is no memory.
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

/* For one more; false: there may be none */
static bool ktcp_linger_make_room(void)
{
	unsigned int max = READ_ONCE(lingering_max);
	struct ktcp_linger *oldest;

	lockdep_assert_held(&ktcp_linger_lock);
	while (max && ktcp_linger_count >= max) {
		oldest = list_first_entry(&ktcp_lingers, struct ktcp_linger, entry);
		ktcp_linger_take_out(oldest);
		queue_work(ktcp_type.wq, &oldest->work);
	}
	return max;
}

/* Has it the socket now? */
static bool ktcp_linger_take(struct ktcp_linger *linger, struct socket *sock)
{
	unsigned long timeout = ktcp_peer_timeout();

	lockdep_assert_held(&ktcp_linger_lock);
	/* The end of the namespace finds what is in the list, and no more comes into it */
	if (READ_ONCE(sock->sk->sk_state) != TCP_ESTABLISHED ||
	    !check_net(sock_net(sock->sk)) || !ktcp_linger_make_room())
		return false;
	kernel_sock_shutdown(sock, SHUT_WR);
	list_add_tail(&linger->entry, &ktcp_lingers);
	ktcp_linger_count++;
	linger->until = jiffies + timeout;
	queue_delayed_work(ktcp_type.wq, &linger->late, timeout);
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
	sock_release(sock);
}

/* Looks at all of them again; those of @net are over */
static void ktcp_linger_kick(const struct net *net)
{
	struct ktcp_linger *linger;

	lockdep_assert_held(&ktcp_linger_lock);
	list_for_each_entry(linger, &ktcp_lingers, entry) {
		if (net && net_eq(sock_net(linger->sk.sock->sk), net))
			linger->cut = true;
		queue_work(ktcp_type.wq, &linger->work);
	}
}

static void __net_exit ktcp_linger_net_exit(struct net *net)
{
	mutex_lock(&ktcp_linger_lock);
	ktcp_linger_kick(net);
	mutex_unlock(&ktcp_linger_lock);
	/* What has been queued or was running releases those sockets */
	flush_workqueue(ktcp_type.wq);
}

/* Addresses and routes are still there */
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

/* When no endpoint is left; waits for what is to be delivered, peer_timeout at most */
void ktcp_linger_exit(void)
{
	mutex_lock(&ktcp_linger_lock);
	ktcp_linger_hurry = true;
	ktcp_linger_kick(NULL);
	mutex_unlock(&ktcp_linger_lock);
	wait_event(ktcp_linger_gone, list_empty(&ktcp_lingers));
	unregister_pernet_device(&ktcp_linger_net_ops);
}
