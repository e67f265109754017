// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Follows the trace event of kofi_tcp.
 */
#include <linux/atomic.h>
#include "../../providers/tcp/trace.h"
#include "tcp.h"

static atomic_t events;
static int last_reason;
static const struct fid *last_fid;

static void count_violation(void *unused, const struct fid *fid,
			    const struct sockaddr_storage *peer, enum ktcp_violation reason)
{
	WRITE_ONCE(last_reason, reason);
	WRITE_ONCE(last_fid, fid);
	/* Pairs with violation_reason() and violation_fid() */
	smp_mb__before_atomic();
	atomic_inc(&events);
}

static void violations_end(void *unused)
{
	unregister_trace_kofi_tcp_violation(count_violation, NULL);
	tracepoint_synchronize_unregister();
}

void violations_begin(struct kunit *test)
{
	atomic_set(&events, 0);
	KUNIT_ASSERT_EQ(test, register_trace_kofi_tcp_violation(count_violation, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, violations_end, NULL), 0);
}

int violations(void)
{
	return atomic_read(&events);
}

int violation_reason(void)
{
	/* Pairs with count_violation() */
	smp_rmb();
	return READ_ONCE(last_reason);
}

void expect_violations(struct kunit *test, int count, int reason)
{
	KUNIT_EXPECT_EQ(test, violations(), count);
	KUNIT_EXPECT_EQ(test, violation_reason(), reason);
}

const struct fid *violation_fid(void)
{
	/* Pairs with count_violation() */
	smp_rmb();
	return READ_ONCE(last_fid);
}
