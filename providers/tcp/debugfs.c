// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What peers hold here, how much each may hold, and how many messages went without a copy:
 *
 *	/sys/kernel/debug/kofi_tcp/connections
 *	/sys/kernel/debug/kofi_tcp/listeners
 *	/sys/kernel/debug/kofi_tcp/lingering
 *	/sys/kernel/debug/kofi_tcp/zerocopy
 *
 * Each connection or listener has one line.  It is read under ktcp_cm_lock, which keeps the
 * sockets; the numbers of a connection change meanwhile.  Sockets that linger are counted
 * together, under ktcp_linger_lock.  Without debugfs in the kernel all this does nothing.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <net/sock.h>
#include "tcp.h"

static struct dentry *ktcp_debugfs;

static void ktcp_show_pool(struct seq_file *file, const char *name, struct kofi_bufpool *pool)
{
	seq_printf(file, " %s %u/%u", name, pool->count ? kofi_bufpool_busy(pool) : 0,
		   pool->count);
}

static void ktcp_show_connection(struct seq_file *file, struct ktcp_conn *conn)
{
	struct sockaddr_storage name, peer;
	const struct sock *sk;

	lockdep_assert_held(&ktcp_cm_lock);
	if (!conn->sk.sock || ktcp_sock_name(conn->sk.sock, false, &name) ||
	    ktcp_sock_name(conn->sk.sock, true, &peer))
		return;
	sk = conn->sk.sock->sk;
	seq_printf(file, "%pISpc %pISpc rx %d/%d tx %d/%d header %zu/%zu", &name, &peer,
		   sk_rmem_alloc_get(sk), READ_ONCE(sk->sk_rcvbuf),
		   READ_ONCE(sk->sk_wmem_queued), READ_ONCE(sk->sk_sndbuf),
		   READ_ONCE(conn->rx.have), sizeof(conn->rx.buf));
	ktcp_show_pool(file, "responses", &conn->responses);
	if (conn->at)
		ktcp_show_pool(file, "events", &conn->at->events);
	if (conn->upper)
		seq_printf(file, " unexpected %u/%u %zu/%u", to_ktcp_link(conn)->room.used.msgs,
			   KTCP_UNEXP_PEER_MSGS, to_ktcp_link(conn)->room.used.bytes,
			   KTCP_UNEXP_PEER_BYTES);
	seq_putc(file, '\n');
}

static void ktcp_show_ep(struct seq_file *file, struct kofi_soft_ep *soft)
{
	struct ktcp_link *link;

	if (soft->type == &ktcp_ctx_type)
		return;
	if (soft->type != &ktcp_rdm_type) {
		ktcp_show_connection(file, &to_ktcp_soft(soft)->conn);
		return;
	}
	list_for_each_entry(link, &to_ktcp_rdm(soft)->links, entry)
		ktcp_show_connection(file, &link->conn);
}

static int ktcp_connections_show(struct seq_file *file, void *unused)
{
	struct kofi_soft_fabric *fabric;
	struct kofi_soft_ep *ep;
	unsigned int noio;

	noio = ktcp_cm_enter();
	list_for_each_entry(fabric, &ktcp_type.fabrics, of_type)
		list_for_each_entry(ep, &fabric->eps, of_fabric)
			ktcp_show_ep(file, ep);
	ktcp_cm_leave(noio);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ktcp_connections);

static int ktcp_listeners_show(struct seq_file *file, void *unused)
{
	struct kofi_soft_fabric *fabric;
	struct kofi_soft_pep *pep;
	unsigned int noio;

	noio = ktcp_cm_enter();
	list_for_each_entry(fabric, &ktcp_type.fabrics, of_type)
		list_for_each_entry(pep, &fabric->peps, of_fabric)
			ktcp_show_listener(file, pep);
	ktcp_cm_leave(noio);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ktcp_listeners);

static int ktcp_lingering_show(struct seq_file *file, void *unused)
{
	ktcp_linger_show(file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ktcp_lingering);

static int ktcp_zerocopy_show(struct seq_file *file, void *unused)
{
	ktcp_zc_show(file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ktcp_zerocopy);

void ktcp_debugfs_init(void)
{
	ktcp_debugfs = debugfs_create_dir("kofi_tcp", NULL);
	debugfs_create_file("connections", 0400, ktcp_debugfs, NULL, &ktcp_connections_fops);
	debugfs_create_file("listeners", 0400, ktcp_debugfs, NULL, &ktcp_listeners_fops);
	debugfs_create_file("lingering", 0400, ktcp_debugfs, NULL, &ktcp_lingering_fops);
	debugfs_create_file("zerocopy", 0400, ktcp_debugfs, NULL, &ktcp_zerocopy_fops);
}

void ktcp_debugfs_exit(void)
{
	debugfs_remove(ktcp_debugfs);
}
