// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends without a copy.
 *
 * TCP takes references to the pages of a long message and sends from them (MSG_ZEROCOPY with
 * a struct ubuf_info of ours), until the peer's TCP has acknowledged them.  Until then the pages
 * must not change, so the operation has not completed, or the region that a peer reads is
 * lent (ktcp_response_lend()).  ktcp_zc.ubuf counts what points to the pages.  ktcp_zc_complete()
 * is called for each of these that goes, in any context and with locks of the network held.  For
 * the last of them it hands the message over to the worker (ktcp_zc_reap()).
 *
 * These are copied, and have completed when they are in the socket:
 *
 *	- short messages, for which references cost more than bytes;
 *	- pages that nobody may take a reference to, such as those of slab objects (see
 *	  sendpage_ok()), and pages of PCI devices.  One message may have both such pages and
 *	  pages that go without a copy;
 *	- what goes to the same machine, as the network would copy it on the way to the
 *	  receiver, and what goes to a device that cannot gather.
 *
 * The network stack may still copy pages that TCP has lent it, as on the way to another network
 * namespace.  It reports that when it lets go of them.  kofi_tcp/zerocopy in debugfs counts
 * messages that were copied like this, and messages that were not.
 *
 * When the connection ends, TCP lets go of what it has, and the device of what it is
 * sending.  A message that the peer's TCP had not acknowledged by then is canceled.
 */
#include <linux/atomic.h>
#include <linux/bvec.h>
#include <linux/llist.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/dst.h>
#include <net/tcp.h>
#include <kofi/compat.h>
#include "stream.h"

/* Messages that peers have acknowledged, of all connections */
static atomic_long_t ktcp_zc_whole = ATOMIC_LONG_INIT(0);
static atomic_long_t ktcp_zc_copied = ATOMIC_LONG_INIT(0);

static void ktcp_zc_complete(struct sk_buff *skb, struct ubuf_info *ubuf, bool success)
{
	struct ktcp_zc *zc = container_of(ubuf, struct ktcp_zc, ubuf);
	struct ktcp_conn *conn = zc->conn;

	if (!success)
		WRITE_ONCE(zc->copied, true);
	if (!refcount_dec_and_test(&ubuf->refcnt))
		return;
	/* When the worker has the message, the endpoint may go, but not before RCU readers */
	rcu_read_lock();
	llist_add(&zc->entry, &conn->zc_done);
	ktcp_kick(conn);
	rcu_read_unlock();
}

static const struct ubuf_info_ops ktcp_zc_ops = {
	.complete	= ktcp_zc_complete,
};

/* Would the network copy all of it anyway? */
static bool ktcp_zc_is_vain(struct sock *sk)
{
	struct dst_entry *dst;
	bool vain;

	rcu_read_lock();
	dst = rcu_dereference(sk->sk_dst_cache);
	vain = !dst || dst->dev->flags & IFF_LOOPBACK ||
	       !(sk->sk_route_caps & NETIF_F_SG);
	rcu_read_unlock();
	return vain;
}

/**
 * ktcp_zc_begin() - May the next message be sent without a copy?
 * @conn: the connection, with ktcp_conn.token held
 * @zc: of the message
 * @len: bytes of its payload
 *
 * Context: any.
 * Return: whether it may: ktcp_zc_end() and then ktcp_zc_reap() are due.
 */
bool ktcp_zc_begin(struct ktcp_conn *conn, struct ktcp_zc *zc, size_t len)
{
	struct sock *sk = conn->sk.sock->sk;

	lockdep_assert_held(&conn->token);
	if (len <= KTCP_COPY_MAX || ktcp_zc_is_vain(sk))
		return false;
	kofi_ubuf_set_ops(&zc->ubuf, &ktcp_zc_ops);
	zc->ubuf.flags = SKBFL_ZEROCOPY_FRAG | SKBFL_DONT_ORPHAN;
	refcount_set(&zc->ubuf.refcnt, 1);
	zc->conn = conn;
	zc->sent = false;
	zc->lent = false;
	zc->copied = false;
	/* A message of which all is copied waits for no acknowledgment */
	zc->end_seq = READ_ONCE(tcp_sk(sk)->snd_una);
	return true;
}

/* The page that an iterator stands at, and the bytes of it from there */
static struct page *ktcp_iter_page(const struct iov_iter *iter, size_t *offset, size_t *len)
{
	struct page *page;
	size_t left;
	void *addr;

	if (iov_iter_is_kvec(iter)) {
		addr = iter->kvec->iov_base + iter->iov_offset;
		left = iter->kvec->iov_len - iter->iov_offset;
		page = is_vmalloc_or_module_addr(addr) ? vmalloc_to_page(addr) :
							 virt_to_page(addr);
		*offset = offset_in_page(addr);
	} else {
		*offset = iter->bvec->bv_offset + iter->iov_offset;
		left = iter->bvec->bv_len - iter->iov_offset;
		page = iter->bvec->bv_page + *offset / PAGE_SIZE;
		*offset = offset_in_page(*offset);
	}
	*len = min3(left, PAGE_SIZE - *offset, iov_iter_count(iter));
	return page;
}

/* Another device may be unable to reach the memory of a PCI device */
static bool ktcp_page_ok(struct page *page)
{
	return sendpage_ok(page) && !is_pci_p2pdma_page(page);
}

/**
 * ktcp_zc_fill() - Let a call of sendmsg() take pages, as far as it can
 * @zc: of the message
 * @msg: sends what is left of a part of the payload; afterwards perhaps less of it, either
 *	all without a copy or all with one
 * @bvec: KTCP_ZC_PAGES elements, which the call uses
 *
 * Context: any.
 */
void ktcp_zc_fill(struct ktcp_zc *zc, struct msghdr *msg, struct bio_vec *bvec)
{
	struct iov_iter at = msg->msg_iter;
	size_t offset, len, total = 0;
	unsigned int n = 0;
	struct page *page;
	bool first = true, ok = false;

	for (; n < KTCP_ZC_PAGES && iov_iter_count(&at); iov_iter_advance(&at, len)) {
		page = ktcp_iter_page(&at, &offset, &len);
		if (first)
			ok = ktcp_page_ok(page);
		else if (ktcp_page_ok(page) != ok)
			break;
		first = false;
		bvec_set_page(&bvec[n++], page, len, offset);
		total += len;
	}
	if (ok) {
		iov_iter_bvec(&msg->msg_iter, ITER_SOURCE, bvec, n, total);
		msg->msg_flags |= MSG_ZEROCOPY;
		msg->msg_ubuf = &zc->ubuf;
	} else {
		iov_iter_truncate(&msg->msg_iter, total);
	}
}

/**
 * ktcp_zc_taken() - A call of sendmsg() has taken some bytes
 * @zc: of the message
 * @msg: what ktcp_zc_fill() has made of it
 *
 * Context: any, with ktcp_conn.token held.
 */
void ktcp_zc_taken(struct ktcp_zc *zc, const struct msghdr *msg)
{
	if (!msg->msg_ubuf)
		return;
	zc->lent = true;
	zc->end_seq = READ_ONCE(tcp_sk(zc->conn->sk.sock->sk)->write_seq);
}

/**
 * ktcp_zc_end() - The socket has all of a message, or will never have
 * @zc: of the message
 * @sent: the socket has all of it
 *
 * Context: any, with ktcp_conn.token held if the connection is not over.
 */
void ktcp_zc_end(struct ktcp_zc *zc, bool sent)
{
	zc->sent = sent;
	ktcp_zc_complete(NULL, &zc->ubuf, true);
}

/* TCP has let go of the pages of a message; @conn may go afterwards */
static void ktcp_zc_let_go(struct ktcp_conn *conn, struct ktcp_zc *zc, int err)
{
	struct ktcp_response *response;

	conn->tx.zcs--;
	if (zc->kind == KTCP_TX_OP) {
		conn->tx.lent--;
		ktcp_op_put(&container_of(zc, struct ktcp_op, zc)->soft, err);
	} else {
		response = container_of(zc, struct ktcp_response, zc);
		list_del(&response->entry);
		kofi_rma_return(&response->rma, &response->loan);
		ktcp_response_done(conn, response, err);
		kofi_soft_ep_put(conn->soft);
	}
}

/**
 * ktcp_zc_reap() - End the messages whose pages TCP has let go of
 * @conn: the connection, with ktcp_conn.token held
 *
 * Context: may sleep.
 */
void ktcp_zc_reap(struct ktcp_conn *conn)
{
	struct llist_node *done = llist_reverse_order(llist_del_all(&conn->zc_done));
	struct ktcp_zc *zc;
	bool acked;

	lockdep_assert_held(&conn->token);
	while (done) {
		zc = llist_entry(done, struct ktcp_zc, entry);
		done = done->next;
		acked = zc->sent && conn->phase == KTCP_OPEN &&
			!before(READ_ONCE(tcp_sk(conn->sk.sock->sk)->snd_una), zc->end_seq);
		if (acked && zc->lent)
			atomic_long_inc(READ_ONCE(zc->copied) ? &ktcp_zc_copied :
								&ktcp_zc_whole);
		ktcp_zc_let_go(conn, zc, acked ? 0 : conn->err ? : ECONNRESET);
	}
}

/**
 * ktcp_zc_show() - Show how many messages went without a copy
 * @file: where
 *
 * Context: any.
 */
void ktcp_zc_show(struct seq_file *file)
{
	seq_printf(file, "whole %ld\ncopied %ld\n", atomic_long_read(&ktcp_zc_whole),
		   atomic_long_read(&ktcp_zc_copied));
}
