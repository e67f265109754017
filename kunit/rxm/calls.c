// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What comes while a call of a lower endpoint is under way: a packet, or the end of the connection.
 * A hook between loop and kofi_rxm has the raw peer send, or hang up, within the call, and stays
 * there while the endpoint deals with that.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <kofi/hook.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN	64
#define LONG	(8 * RXM_LIMIT + 1)	/* is offered, so it is registered */
#define STAY_MS	200

static struct kofi_provider leave_provider;

/**
 * struct in_call - What happens in a call
 * @calls: so many calls come before it
 * @posted: at the end of a call, when what it has posted has completed as a rule
 * @peer: the raw peer; NULL: it does nothing
 * @packet: what it sends; NULL: it hangs up
 */
struct in_call {
	int				calls;
	bool				posted;
	const struct vt_end		*peer;
	const struct rxm_wire_hdr	*packet;
};

static struct in_call *next_call;
static atomic_t calls_before;

/* The case may have been aborted when the call comes, so its stack does not have @call */
static void set_next_call(const struct in_call *call)
{
	static struct in_call copy;

	copy = *call;
	atomic_set(&calls_before, call->calls);
	/* Pairs with smp_load_acquire() of leave(), which reads the two above */
	smp_store_release(&next_call, &copy);
}

static void leave(bool posted)
{
	struct in_call *next, call;
	struct vt_comp comp;

	/* Pairs with smp_store_release() of set_next_call() */
	next = smp_load_acquire(&next_call);
	if (!next)
		return;
	call = *next;
	/* A callback cannot stay */
	if (call.posted != posted || !in_task() || atomic_dec_if_positive(&calls_before) >= 0)
		return;
	if (cmpxchg(&next_call, next, NULL) != next)
		return;
	if (call.packet) {
		fi_send(call.peer->ep, call.packet, sizeof(*call.packet) + call.packet->op.size,
			NULL, 0, vt_ctx(100));
		vt_wait(call.peer->tx, &comp);
	} else if (call.peer) {
		fi_shutdown(call.peer->ep, 0);
	}
	msleep(STAY_MS);
}

static int leave_opens(u32 fclass)
{
	leave(false);
	return 0;
}

static ssize_t leave_begin(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 *state)
{
	leave(false);
	return 0;
}

static ssize_t leave_end(struct kofi_hook_obj *ep, const struct fi_xfer *xfer, u64 state,
			 ssize_t ret)
{
	leave(true);
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
	struct rxm_bed *bed = bed_open(test);
	struct in_call call = { .peer = &bed->peer };

	rxm_join(test, bed);
	set_next_call(&call);
	vt_send(test, &bed->us, out, len, vt_ctx(1));
	/* There is no peer any more that it could go to */
	vt_failed(test, bed->us.tx);
	KUNIT_EXPECT_NULL(test, READ_ONCE(next_call));
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

/* The first piece of it has gone by then, so it goes by no other connection */
static void a_write_posted_in_part_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = bed_open(test);
	struct in_call call = { .calls = 1, .peer = &bed->peer };
	struct kvec iov = { vt_buf(test, LEN), LEN };
	struct fi_rma_iov ranges[2];
	const struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= ranges,
		.rma_iov_count	= 2,
		.context	= vt_ctx(1),
	};
	struct fid_mr *mr;

	rxm_join(test, bed);
	mr = vt_reg(test, vt_buf(test, LEN), LEN, FI_REMOTE_WRITE);
	ranges[0] = (struct fi_rma_iov) { fi_mr_addr(mr), LEN / 2, fi_mr_key(mr) };
	ranges[1] = (struct fi_rma_iov) { fi_mr_addr(mr) + LEN / 2, LEN / 2, fi_mr_key(mr) };
	set_next_call(&call);
	KUNIT_ASSERT_EQ(test, fi_writemsg(bed->us.ep, &msg, FI_COMPLETION), 0);
	vt_failed_with(test, bed->us.tx, vt_ctx(1), ECONNRESET);
	KUNIT_EXPECT_NULL(test, READ_ONCE(next_call));
}

/* The peer has not taken so many packets, so the endpoint answers */
static struct rxm_wire_hdr *make_question(struct kunit *test, struct rxm_bed *bed)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, 0);

	hdr->ctrl.type = RXM_WIRE_LEAVE;
	hdr->ctrl.msg_id = 1000;
	return hdr;
}

/* The last packet is the answer, and afterwards what waits until the peer takes it takes no time */
static void a_question_that_comes_while_a_message_is_sent_is_answered(struct kunit *test)
{
	struct rxm_bed *bed = bed_open(test);
	struct in_call call = { .peer = &bed->peer };
	u8 *out = vt_buf(test, LEN);
	u64 begun;
	int i;

	rxm_join(test, bed);
	call.packet = make_question(test, bed);
	set_next_call(&call);
	vt_send(test, &bed->us, out, LEN, vt_ctx(1));
	vt_done(test, bed->us.tx, vt_ctx(1));
	rxm_next_packet(test, bed, 0, RXM_WIRE_EAGER);
	rxm_next_packet(test, bed, 1, RXM_WIRE_STAY);
	for (i = 0; i < 2 * RXM_RECVS; i++)
		vt_send(test, &bed->us, out, LEN, vt_ctx(2));
	begun = rxm_system_time();
	msleep(4 * MSEC_PER_SEC);
	KUNIT_EXPECT_LT(test, rxm_system_time() - begun, 2ULL * NSEC_PER_SEC);
}

/* As above, but the work item of the endpoint finds the next message being sent as a rule */
static void a_question_that_waits_while_messages_are_sent_is_answered(struct kunit *test)
{
	struct rxm_bed *bed = bed_open(test);
	struct in_call calls[2] = { { .peer = &bed->peer }, { .posted = true } };
	u8 *out = vt_buf(test, LEN);
	int i, answers = 0;

	rxm_join(test, bed);
	/* The endpoint opens the connection after the peer, and its work item sends until then */
	vt_send(test, &bed->us, out, LEN, vt_ctx(0));
	rxm_next_packet(test, bed, 0, RXM_WIRE_EAGER);
	msleep(STAY_MS);
	calls[0].packet = make_question(test, bed);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_TRUE(test, vt_until(!READ_ONCE(next_call)));
		set_next_call(&calls[i]);
		vt_send(test, &bed->us, out, LEN, vt_ctx(i));
	}
	for (i = 1; i <= 3; i++) {
		vt_done(test, bed->peer.rx, vt_ctx(i));
		answers += ((struct rxm_wire_hdr *)bed->bufs[i])->ctrl.type == RXM_WIRE_STAY;
	}
	KUNIT_EXPECT_EQ(test, answers, 1);
}

/* The receive that is posted again is that of a message that has waited in it */
static void what_comes_while_a_receive_is_posted_again_is_received(struct kunit *test)
{
	struct rxm_bed *bed = bed_open(test);
	struct in_call call = { .peer = &bed->peer };
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	call.packet = rxm_packet(test, bed, LEN);
	hdr = rxm_packet(test, bed, RXM_LIMIT);
	hdr->ctrl.type = RXM_WIRE_SEG;
	hdr->ctrl.seg_no = 0;
	hdr->ctrl.seg_type = RXM_WIRE_SEG_FIRST;
	hdr->op.size = LONG;
	rxm_send(test, bed, hdr, sizeof(*hdr) + RXM_LIMIT);
	set_next_call(&call);
	vt_recv(test, &bed->us, vt_buf(test, LONG), LONG, vt_ctx(1));
	vt_recv(test, &bed->us, vt_buf(test, LEN), LEN, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(2)).len, LEN);
	KUNIT_EXPECT_NULL(test, READ_ONCE(next_call));
}

/* Calls that close endpoints find nothing to do: the raw peer may be closed first */
static void calls_exit(struct kunit *test)
{
	WRITE_ONCE(next_call, NULL);
	vt_exit(test);
}

static struct kunit_case calls_cases[] = {
	KUNIT_CASE(a_connection_ends_while_a_message_is_sent),
	KUNIT_CASE(a_connection_ends_while_memory_is_registered),
	KUNIT_CASE(a_write_posted_in_part_ends_with_the_connection),
	KUNIT_CASE(a_question_that_comes_while_a_message_is_sent_is_answered),
	KUNIT_CASE(a_question_that_waits_while_messages_are_sent_is_answered),
	KUNIT_CASE(what_comes_while_a_receive_is_posted_again_is_received),
	{}
};

struct kunit_suite rxm_calls_suite = {
	.name		= "kofi_rxm_calls",
	.init		= vt_init,
	.exit		= calls_exit,
	.test_cases	= calls_cases,
};
