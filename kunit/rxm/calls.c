// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A connection ends while a call of its lower endpoint is under way.  A hook between loop and
 * kofi_rxm has the raw peer hang up within the call, and stays there while the endpoint begins to
 * close the connection.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <kofi/hook.h>
#include "rxm.h"

#define LEN	64
#define LONG	(8 * RXM_LIMIT + 1)	/* is offered, so it is registered */
#define STAY_MS	200

static struct kofi_provider leave_provider;

/* The endpoint that hangs up in the next call, or NULL */
static struct fid_ep *leaver;

static void leave(void)
{
	struct fid_ep *ep = xchg(&leaver, NULL);

	if (!ep)
		return;
	fi_shutdown(ep, 0);
	msleep(STAY_MS);
}

static int leave_opens(u32 fclass)
{
	leave();
	return 0;
}

static ssize_t leave_begin(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 *state)
{
	leave();
	return 0;
}

static ssize_t leave_end(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 state,
			 ssize_t ret)
{
	return ret;
}

static const struct kofi_hook leave_hook = {
	.provider	= &leave_provider,
	.opens		= leave_opens,
	.begin		= leave_begin,
	.end		= leave_end,
};

static int leave_getinfo(u32 version, const char *node, const int service, u64 flags,
			 struct fi_info *hints, struct fi_info **info)
{
	return kofi_hook_getinfo(&leave_hook, version, node, service, flags, hints, info);
}

static int leave_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&leave_hook, attr, fabric, context);
}

static struct kofi_provider leave_provider = {
	.name		= "ofi_hook_leave",
	.version	= FI_VERSION(1, 0),
	.getinfo	= leave_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= leave_fabric,
	.owner		= THIS_MODULE,
};

static void leave_withdraw(void *unused)
{
	leaver = NULL;
	kofi_provider_deregister(&leave_provider);
}

static struct rxm_bed *bed_open(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &leave_provider), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, leave_withdraw, NULL), 0);
	return rxm_bed_open_on(test, "loop;ofi_hook_leave");
}

/* Sends a message of @len bytes; the first call below the endpoint is the one that is long */
static void expect_end_in_call(struct kunit *test, size_t len)
{
	u8 *out = vt_buf(test, len);
	struct rxm_bed *bed;

	bed = bed_open(test);
	rxm_join(test, bed);
	WRITE_ONCE(leaver, bed->peer.ep);
	vt_send(test, &bed->us, out, len, vt_ctx(1));
	/* There is no peer any more that it could go to */
	vt_failed(test, bed->us.tx);
	KUNIT_EXPECT_NULL(test, READ_ONCE(leaver));
	vt_end_close(test, &bed->peer);
	rxm_join(test, bed);
}

/* The call is one of the client */
static void a_connection_ends_while_a_message_is_sent(struct kunit *test)
{
	expect_end_in_call(test, LEN);
}

/* The call is one of the endpoint's work item */
static void a_connection_ends_while_memory_is_registered(struct kunit *test)
{
	expect_end_in_call(test, LONG);
}

static struct kunit_case calls_cases[] = {
	KUNIT_CASE(a_connection_ends_while_a_message_is_sent),
	KUNIT_CASE(a_connection_ends_while_memory_is_registered),
	{}
};

struct kunit_suite rxm_calls_suite = {
	.name		= "kofi_rxm_calls",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= calls_cases,
};
