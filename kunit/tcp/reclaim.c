// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writeback may wait for an operation of kofi_tcp, so nothing that ends it waits for writeback
 * (Documentation/reclaim.rst).
 *
 * The kernel's tracepoints of allocation are followed in all contexts.  An allocation that may
 * write pages back fails the case if a worker of kofi_tcp makes it, or if its task holds the mutex
 * of connections, which the end of each connection needs.  Locks are known where there is lockdep.
 */
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include "../lib/probe.h"
#include "rdm.h"

#define FRAMES	48
#define LEN	16

/* Whether allocations are looked at, and what has been found */
static bool watching;
static unsigned int found;
static char where[KSYM_SYMBOL_LEN];
/* Guards @found, @where and @symbol; any context allocates */
static DEFINE_RAW_SPINLOCK(lock);
static char symbol[KSYM_SYMBOL_LEN];

static bool holds_cm_lock(void)
{
#ifdef CONFIG_LOCKDEP
	int i;

	for (i = 0; i < current->lockdep_depth; i++)
		if (!strcmp(current->held_locks[i].instance->name, "ktcp_cm_lock"))
			return true;
#endif
	return false;
}

/* Notes the first function of kofi_tcp on the stack; a worker is one of others without one */
static void note(bool worker)
{
	unsigned long frames[FRAMES], flags;
	unsigned int i, count = stack_trace_save(frames, FRAMES, 0);

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < count; i++) {
		sprint_symbol(symbol, frames[i]);
		if (strstr(symbol, "[kofi_tcp]"))
			break;
	}
	if ((!worker || i < count) && !found++)
		strscpy(where, symbol, sizeof(where));
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void look(gfp_t gfp)
{
	bool worker = current->flags & PF_WQ_WORKER;

	if (!READ_ONCE(watching) || !in_task() || !vt_alloc_may_write_back(gfp))
		return;
	if (worker || holds_cm_lock())
		note(worker && !holds_cm_lock());
}

static int reclaim_suite_init(struct kunit_suite *suite)
{
	return vt_alloc_follow(look);
}

static void reclaim_suite_exit(struct kunit_suite *suite)
{
	vt_alloc_unfollow();
}

static void watch(bool on)
{
	if (on)
		found = 0;
	WRITE_ONCE(watching, on);
}

static void reclaim_exit(struct kunit *test)
{
	watch(false);
	vt_exit(test);
}

static void expect_none(struct kunit *test)
{
	watch(false);
	KUNIT_EXPECT_EQ_MSG(test, found, 0, "allocations that may write back, the first in %s",
			    where);
}

/* Requests, accepted connections and listeners need memory, and the mutex */
static void a_connection_is_made_without_io(struct kunit *test)
{
	struct vt_pair pair = {};

	watch(true);
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &pair, &vt_default_kind);
	vt_ping(test, &pair.a, &pair.b);
	expect_none(test);
}

static void a_broken_connection_ends_without_io(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN);
	const struct kvec kvec = { out, LEN };
	const struct fi_msg msg = { .msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(1) };
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	watch(true);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, FI_DELIVERY_COMPLETE), 0);
	peer_close(test, sock);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECANCELED);
	expect_none(test);
}

/* A post may have a worker dial */
static void a_post_to_a_peer_without_a_connection_does_no_io(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN), got[PEER_BASE + LEN];
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	watch(true);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, peer.addr, vt_ctx(1)), 0);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	peer_recv(test, sock, got, sizeof(got));
	vt_done(test, end.tx, vt_ctx(1));
	/* And dial again */
	peer_leave(test, sock);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, peer.addr, vt_ctx(2)), 0);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID + 1);
	vt_done(test, end.tx, vt_ctx(2));
	expect_none(test);
}

static void a_peer_is_accepted_without_io(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	watch(true);
	rdm_dial(test, &end, &peer, 1, RDM_PID);
	expect_none(test);
}

/* Or the cases above would prove nothing */
static void what_may_write_back_is_seen(struct kunit *test)
{
	static DEFINE_MUTEX(ktcp_cm_lock);

	watch(true);
	mutex_lock(&ktcp_cm_lock);
	kfree(kmalloc(LEN, GFP_KERNEL));
	mutex_unlock(&ktcp_cm_lock);
	watch(false);
	/* The slab may take a page for it, too */
	KUNIT_EXPECT_EQ(test, found > 0, IS_ENABLED(CONFIG_LOCKDEP));
}

static struct kunit_case msg_cases[] = {
	KUNIT_CASE(a_connection_is_made_without_io),
	KUNIT_CASE(a_broken_connection_ends_without_io),
	KUNIT_CASE(what_may_write_back_is_seen),
	{}
};

static struct kunit_suite msg_suite = {
	.name		= "kofi_reclaim_tcp",
	.suite_init	= reclaim_suite_init,
	.suite_exit	= reclaim_suite_exit,
	.init		= bed_init,
	.exit		= reclaim_exit,
	.test_cases	= msg_cases,
};

static struct kunit_case rdm_cases[] = {
	KUNIT_CASE(a_post_to_a_peer_without_a_connection_does_no_io),
	KUNIT_CASE(a_peer_is_accepted_without_io),
	{}
};

static struct kunit_suite rdm_suite = {
	.name		= "kofi_reclaim_tcp_rdm",
	.suite_init	= reclaim_suite_init,
	.suite_exit	= reclaim_suite_exit,
	.init		= bed_init_rdm,
	.exit		= reclaim_exit,
	.test_cases	= rdm_cases,
};

kunit_test_suites(&msg_suite, &rdm_suite);
