// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a run of a listener's worker does, and which connections have its places.
 *
 * The kernel's tracepoints show where a run begins and ends, and what it allocates: one struct
 * ktcp_req for each connection that it accepts.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include "rdm.h"

#define PEERS		100	/* that wait when the listener begins to accept */
#define ACCEPTS		64	/* of a run */
#define PLACES		128	/* of connections without a request */
#define MOST		127	/* of one address, while another one has the last place */
#define FIRST		0x7f000201	/* 127.0.2.1, which has one of them */
#define CROWD		0x7f000202	/* and this address has all others */
#define GOOD		0x7f000203

/* Guards all below; workers run on other processors */
static DEFINE_RAW_SPINLOCK(lock);
static bool watching;
static struct task_struct *runner;
static int accepts, most, total;
static char symbol[KSYM_SYMBOL_LEN];

static void sees_start(void *unused, struct work_struct *work)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	if (watching) {
		sprint_symbol(symbol, (unsigned long)work->func);
		if (strstr(symbol, "ktcp_listener_work")) {
			runner = current;
			accepts = 0;
		}
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void sees_end(void *unused, struct work_struct *work, work_func_t function)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	if (runner == current) {
		runner = NULL;
		most = max(most, accepts);
		total += accepts;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void sees_kmalloc(void *unused, unsigned long site, const void *mem, size_t asked,
			 size_t bytes, gfp_t gfp, int node)
{
	unsigned long flags;

	if (READ_ONCE(runner) != current || !in_task())
		return;
	raw_spin_lock_irqsave(&lock, flags);
	sprint_symbol(symbol, site);
	accepts += !!strstr(symbol, "[kofi_tcp]");
	raw_spin_unlock_irqrestore(&lock, flags);
}

/**
 * struct probe - A tracepoint of the kernel that is followed
 * @name: of the tracepoint
 * @fn: is called there
 * @tp: the tracepoint
 */
struct probe {
	const char		*name;
	void			*fn;
	struct tracepoint	*tp;
};

static struct probe probes[] = {
	{ "workqueue_execute_start", sees_start },
	{ "workqueue_execute_end", sees_end },
	{ "kmalloc", sees_kmalloc },
};

static void find(struct tracepoint *tp, void *arg)
{
	struct probe *probe = arg;

	if (!strcmp(tp->name, probe->name))
		probe->tp = tp;
}

static void unprobe(void *probe)
{
	tracepoint_probe_unregister(((struct probe *)probe)->tp, ((struct probe *)probe)->fn, NULL);
	tracepoint_synchronize_unregister();
}

static void watch(struct kunit *test)
{
	int i;

	most = 0;
	total = 0;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		for_each_kernel_tracepoint(find, &probes[i]);
		KUNIT_ASSERT_NOT_NULL(test, probes[i].tp);
		KUNIT_ASSERT_EQ(test, tracepoint_probe_register(probes[i].tp, probes[i].fn, NULL),
				0);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unprobe, &probes[i]), 0);
	}
	WRITE_ONCE(watching, true);
}

static int watched(int *value)
{
	unsigned long flags;
	int now;

	raw_spin_lock_irqsave(&lock, flags);
	now = *value;
	raw_spin_unlock_irqrestore(&lock, flags);
	return now;
}

/* The socket listens since fi_endpoint(), and fi_enable() has the connections accepted */
static void a_run_accepts_so_many_connections(struct kunit *test)
{
	struct sockaddr_storage to;
	struct vt_end end = {};
	int i;

	vt_end_queues(test, &end, vt_of(test)->info, &vt_default_kind);
	end.ep = vt_ep(test, end.info);
	to = rdm_name(test, end.ep);
	for (i = 0; i < PEERS; i++)
		peer_connect_from(test, RDM_LOW, &to);
	watch(test);
	vt_end_enable(test, &end, &vt_default_kind);
	KUNIT_EXPECT_TRUE(test, vt_until(watched(&total) >= PEERS));
	WRITE_ONCE(watching, false);
	KUNIT_EXPECT_EQ(test, watched(&total), PEERS);
	KUNIT_EXPECT_EQ(test, watched(&most), ACCEPTS);
}

/* @sock has its place: when its request comes, it is accepted */
static void expect_accepted(struct kunit *test, struct socket *sock)
{
	peer_request(test, sock);
	vt_connreq(test, NULL);
}

/* The one before them keeps its place, though it is the oldest */
static void an_address_with_too_many_places_gives_way_first(struct kunit *test)
{
	struct socket *crowd[PLACES - 1], *first, *good;
	const void *to = &vt_of(test)->name;
	int i;

	first = peer_connect_from(test, FIRST, to);
	for (i = 0; i < ARRAY_SIZE(crowd); i++)
		crowd[i] = peer_connect_from(test, CROWD, to);
	good = peer_connect_from(test, GOOD, to);
	expect_accepted(test, good);
	peer_hung_up(test, crowd[0]);
	expect_accepted(test, first);
	/* Nobody waits any more, so the next one stays */
	expect_accepted(test, crowd[1]);
}

static void an_address_may_keep_as_many_places_as_the_parameter_says(struct kunit *test)
{
	struct socket *crowd[MOST], *first;
	const void *to = &vt_of(test)->name;
	int i;

	rdm_param(test, "greetings_max", __stringify(MOST));
	first = peer_connect_from(test, FIRST, to);
	for (i = 0; i < ARRAY_SIZE(crowd); i++)
		crowd[i] = peer_connect_from(test, CROWD, to);
	expect_accepted(test, peer_connect_from(test, GOOD, to));
	peer_hung_up(test, first);
	expect_accepted(test, crowd[0]);
}

static struct kunit_case listener_cases[] = {
	KUNIT_CASE(an_address_with_too_many_places_gives_way_first),
	KUNIT_CASE(an_address_may_keep_as_many_places_as_the_parameter_says),
	{}
};

static struct kunit_suite listener_suite = {
	.name		= "kofi_tcp_listener",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= listener_cases,
};

static struct kunit_case listener_rdm_cases[] = {
	KUNIT_CASE(a_run_accepts_so_many_connections),
	{}
};

static struct kunit_suite listener_rdm_suite = {
	.name		= "kofi_tcp_listener_rdm",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= listener_rdm_cases,
};

kunit_test_suites(&listener_suite, &listener_rdm_suite);
