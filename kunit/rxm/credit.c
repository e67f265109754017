// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Credits: the endpoint is over verbs on an iWARP device, and the raw peer is an endpoint of verbs.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include <kofi/hook.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN		64
#define OWN		16		/* receives of the endpoint for a peer */
#define LONG		(9 * RXM_LIMIT)	/* is not kept without a receive */
#define LATER_MS	200
#define IDLE_S		2
#define ADDR		1		/* of the raw peer that listens */
#define AREA		SZ_512K		/* of vmalloc() */

static void expect_no_packet(struct kunit *test, struct rxm_bed *bed)
{
	msleep(LATER_MS);
	vt_none(test, bed->peer.rx);
}

/* As libfabric sends it */
static void send_grant(struct kunit *test, struct rxm_bed *bed, u64 credits)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, 0);

	hdr->ctrl.type = RXM_WIRE_CREDIT;
	hdr->ctrl.credits = credits;
	hdr->op.op = RXM_WIRE_CREDIT;
	rxm_send(test, bed, hdr, sizeof(*hdr));
}

/* A message of no bytes, which the endpoint keeps */
static void send_message(struct kunit *test, struct rxm_bed *bed)
{
	rxm_send(test, bed, rxm_packet(test, bed, 0), sizeof(struct rxm_wire_hdr));
}

static void post(struct kunit *test, struct rxm_bed *bed, fi_addr_t addr, void *context)
{
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, vt_buf(test, LEN), LEN, NULL, addr, context), 0);
}

/*
 * The raw peer dials, and sends a message by its first credit: the endpoint grants all receives,
 * that of the message among them if it has been posted again.  Returns how many.
 */
static u64 join(struct kunit *test, struct rxm_bed *bed)
{
	u64 credits;

	rxm_join(test, bed);
	send_message(test, bed);
	credits = rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT)->ctrl.credits;
	KUNIT_EXPECT_GE(test, credits, OWN - 1);
	KUNIT_EXPECT_LE(test, credits, OWN);
	return credits;
}

/* The endpoint dials the raw peer, and has one message for it (context 1) */
static void be_dialled(struct kunit *test, struct rxm_bed *bed, bool kofi)
{
	struct rxm_wire_request request;
	struct fi_info *info;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, vt_buf(test, LEN), LEN, &request);
	KUNIT_EXPECT_EQ(test, request.flow_ctrl, 1);
	KUNIT_EXPECT_EQ(test, request.rx_size, OWN);
	rxm_accept(test, bed, info, kofi);
}

/* What a peer says */

/**
 * struct no_credits - A peer that cannot take part
 * @what: what it says
 * @flow_ctrl: whether it counts credits
 * @rx_size: its receives
 */
struct no_credits {
	const char	*what;
	u8		flow_ctrl;
	u32		rx_size;
};

static const struct no_credits no_credits[] = {
	{ "no credits", 2, RXM_RECVS },
	{ "as the receiver", 0, RXM_RECVS },
	{ "one receive", 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(no_credits, no_credits, what);

static void a_request_without_credits_is_refused(struct kunit *test)
{
	const struct no_credits *peer = test->param_value;
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	struct rxm_wire_request request = rxm_request();

	request.flow_ctrl = peer->flow_ctrl;
	request.rx_size = peer->rx_size;
	rxm_dial(test, bed, &request, sizeof(request));
	rxm_expect_refused(test, bed, RXM_WIRE_REFUSED);
}

static void an_answer_without_credits_ends_what_waits(struct kunit *test)
{
	const struct no_credits *peer = test->param_value;
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	bed->flow_ctrl = peer->flow_ctrl;
	bed->rx_size = peer->rx_size;
	be_dialled(test, bed, false);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNREFUSED);
}

/* Grants of the endpoint */

static void the_end_that_has_dialled_grants_at_once(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	be_dialled(test, bed, false);
	KUNIT_EXPECT_EQ(test, rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT)->ctrl.credits,
			OWN - 1);
}

/* By iWARP the end that has dialled sends first */
static void the_end_that_has_accepted_grants_when_a_packet_has_come(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	rxm_join(test, bed);
	expect_no_packet(test, bed);
	send_message(test, bed);
	rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT);
}

/* Ends do not answer each other's grants for ever */
static void receives_are_granted_when_there_are_several(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	u64 credits = join(test, bed), more;
	int i;

	send_grant(test, bed, RXM_RECVS - 1);
	for (i = OWN + 1 - credits; i < OWN / 4 - 1; i++)
		send_message(test, bed);
	expect_no_packet(test, bed);
	send_message(test, bed);
	more = rxm_next_packet(test, bed, 1, RXM_WIRE_CREDIT)->ctrl.credits;
	KUNIT_EXPECT_EQ(test, more, OWN / 4);
}

/* Grants of the peer */

static void a_sender_without_credits_waits_for_a_grant(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	int i;

	be_dialled(test, bed, false);
	rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT);
	for (i = 2; i < 5; i++)
		post(test, bed, ADDR, vt_ctx(i));
	expect_no_packet(test, bed);
	vt_none(test, bed->us.tx);
	/* The last one is kept */
	send_grant(test, bed, 3);
	for (i = 1; i < 3; i++) {
		rxm_next_packet(test, bed, i, RXM_WIRE_EAGER);
		vt_done(test, bed->us.tx, vt_ctx(i));
	}
	expect_no_packet(test, bed);
	vt_none(test, bed->us.tx);
	send_grant(test, bed, 2);
	for (; i < 5; i++) {
		rxm_next_packet(test, bed, i, RXM_WIRE_EAGER);
		vt_done(test, bed->us.tx, vt_ctx(i));
	}
}

/* Each end has nothing left when it has granted; the endpoint keeps the last one again */
static void two_ends_that_are_out_of_credits_go_on(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	u64 credits = join(test, bed);
	int i, grants = 0;

	for (i = 1; i <= 3; i++)
		post(test, bed, 0, vt_ctx(i));
	while (--credits)
		send_message(test, bed);
	expect_no_packet(test, bed);
	vt_none(test, bed->us.tx);
	send_grant(test, bed, 4);
	for (i = 1; i <= 2; i++)
		vt_done(test, bed->us.tx, vt_ctx(i));
	/* A grant is among them */
	for (i = 1; i <= 3; i++) {
		vt_done(test, bed->peer.rx, vt_ctx(i));
		if (((struct rxm_wire_hdr *)bed->bufs[i])->ctrl.type == RXM_WIRE_CREDIT)
			grants++;
	}
	KUNIT_EXPECT_EQ(test, grants, 1);
	expect_no_packet(test, bed);
	vt_none(test, bed->us.tx);
	send_grant(test, bed, 1);
	vt_done(test, bed->us.tx, vt_ctx(3));
}

/* A message that waits in its buffer for a receive */
static void send_waiting(struct kunit *test, struct rxm_bed *bed)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, RXM_LIMIT);

	hdr->ctrl.type = RXM_WIRE_SEG;
	hdr->ctrl.seg_no = 0;
	hdr->ctrl.seg_type = RXM_WIRE_SEG_FIRST;
	hdr->ctrl.msg_id = 5;
	hdr->op.size = LONG;
	rxm_send(test, bed, hdr, sizeof(*hdr) + RXM_LIMIT);
}

/* What the endpoint sends does not wait for what its client receives */
static void a_grant_is_taken_behind_a_message_that_waits(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	join(test, bed);
	send_waiting(test, bed);
	post(test, bed, 0, vt_ctx(1));
	expect_no_packet(test, bed);
	send_grant(test, bed, 2);
	rxm_next_packet(test, bed, 1, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* Otherwise the peer might have no credit left to grant what its client receives */
static void a_grant_behind_a_message_that_waits_uses_no_receive(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	int i;

	join(test, bed);
	send_waiting(test, bed);
	expect_no_packet(test, bed);
	for (i = 0; i < OWN / 4; i++)
		send_grant(test, bed, 1);
	KUNIT_EXPECT_GE(test, rxm_next_packet(test, bed, 1, RXM_WIRE_CREDIT)->ctrl.credits,
			OWN / 4);
}

/* As many as a peer whose client receives nothing grants again */
static void several_credits_are_kept_for_grants(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	bed->rx_size = OWN;
	be_dialled(test, bed, false);
	rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT);
	post(test, bed, ADDR, vt_ctx(2));
	send_grant(test, bed, OWN / 4 + 1);
	rxm_next_packet(test, bed, 1, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(1));
	expect_no_packet(test, bed);
	vt_none(test, bed->us.tx);
	send_grant(test, bed, 1);
	rxm_next_packet(test, bed, 2, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(2));
}

static void credits_end_with_their_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	struct rxm_wire_request request;

	be_dialled(test, bed, false);
	rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT);
	send_grant(test, bed, RXM_RECVS - 1);
	rxm_next_packet(test, bed, 1, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_end_close(test, &bed->peer);
	/* Until then the endpoint may send by the connection that has ended */
	msleep(LATER_MS);
	post(test, bed, ADDR, vt_ctx(2));
	rxm_accept(test, bed, rxm_next_dial(test, bed, &request), false);
	KUNIT_EXPECT_EQ(test, rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT)->ctrl.credits,
			OWN - 1);
	expect_no_packet(test, bed);
	send_grant(test, bed, 2);
	rxm_next_packet(test, bed, 1, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(2));
}

static void an_endpoint_says_what_may_be_sent(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	struct fid *fid = &bed->us.ep->fid;
	u64 credits;

	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "credits"), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "granted"), 0);
	credits = join(test, bed);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "credits"), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "granted"), credits);
	send_grant(test, bed, 3);
	msleep(LATER_MS);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "credits"), 3);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "granted"), credits - 1);
	vt_end_close(test, &bed->peer);
	msleep(LATER_MS);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "credits"), 0);
}

/* Packets that cost a credit though they are no message of the client */

/* An atomic operation whose target is no region */
static void send_atomic(struct kunit *test, struct rxm_bed *bed)
{
	struct rxm_wire_atomic *wire;
	struct rxm_wire_hdr *hdr;

	hdr = rxm_packet(test, bed, sizeof(*wire) + sizeof(u64));
	wire = (struct rxm_wire_atomic *)(hdr + 1);
	hdr->ctrl.type = RXM_WIRE_ATOMIC;
	hdr->ctrl.msg_id = 3;
	hdr->op.op = RXM_WIRE_BASE_ATOMIC;
	hdr->op.atomic.datatype = FI_UINT64;
	hdr->op.atomic.op = FI_SUM;
	hdr->op.atomic.ioc_count = 1;
	wire->ioc[0].count = 1;
	rxm_send(test, bed, hdr, sizeof(*hdr) + hdr->op.size);
}

static void a_response_waits_for_a_credit(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	join(test, bed);
	send_atomic(test, bed);
	expect_no_packet(test, bed);
	send_grant(test, bed, 1);
	expect_no_packet(test, bed);
	send_grant(test, bed, 1);
	KUNIT_EXPECT_EQ(test, rxm_next_packet(test, bed, 1, RXM_WIRE_ATOMIC_RESP)->ctrl.msg_id, 3);
}

/* The peer has granted more packets than the endpoint has buffers */
static void a_response_uses_a_credit(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	u64 credits;

	bed->rx_size = OWN;
	be_dialled(test, bed, false);
	rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT);
	send_grant(test, bed, OWN - 1);
	rxm_next_packet(test, bed, 1, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(1));
	credits = vt_stat(test, &bed->us.ep->fid, "credits");
	send_atomic(test, bed);
	rxm_next_packet(test, bed, 2, RXM_WIRE_ATOMIC_RESP);
	KUNIT_EXPECT_EQ(test, vt_stat(test, &bed->us.ep->fid, "credits"), credits - 1);
}

/* The peer does not learn that it has been written */
static void an_offer_whose_end_waits_for_a_credit_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	u8 *out = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;

	join(test, bed);
	send_grant(test, bed, 2);
	vt_fill(out, LONG, 1);
	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	hdr = rxm_ranges_new(test, bed, mem, LONG, FI_REMOTE_WRITE);
	hdr->ctrl.type = RXM_WIRE_RNDV_WRITE_DATA;
	hdr->ctrl.msg_id = rxm_next_packet(test, bed, 1, RXM_WIRE_RNDV_REQ)->ctrl.msg_id;
	rxm_send_ranges(test, bed, hdr);
	expect_no_packet(test, bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, LONG, 1));
	vt_end_close(test, &bed->peer);
	vt_failed_with(test, bed->us.tx, vt_ctx(1), ECONNRESET);
}

static void an_idle_end_waits_for_a_credit_to_leave(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	rxm_param(test, "idle_timeout", IDLE_S, 0);
	be_dialled(test, bed, true);
	rxm_next_packet(test, bed, 0, RXM_WIRE_CREDIT);
	send_grant(test, bed, 2);
	rxm_next_packet(test, bed, 1, RXM_WIRE_EAGER);
	vt_done(test, bed->us.tx, vt_ctx(1));
	msleep(3 * IDLE_S * MSEC_PER_SEC);
	vt_none(test, bed->peer.rx);
	send_grant(test, bed, 1);
	/* Two grants have come */
	KUNIT_EXPECT_EQ(test, rxm_next_packet(test, bed, 2, RXM_WIRE_LEAVE)->ctrl.msg_id, 2);
}

static void an_idle_connection_is_closed_by_the_peer(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	struct rxm_wire_hdr *hdr;

	join(test, bed);
	send_grant(test, bed, RXM_RECVS - 1);
	/* With the grant the peer has taken one packet */
	hdr = rxm_packet(test, bed, 0);
	hdr->ctrl.type = RXM_WIRE_LEAVE;
	hdr->ctrl.msg_id = 1;
	rxm_send(test, bed, hdr, sizeof(*hdr));
	rxm_expect_closed(test, bed);
}

/* Reads and writes of the endpoint */

static void free_area(void *area)
{
	vfree(area);
}

/* Its pages are more than an operation of the lower endpoint may have */
static void memory_of_vmalloc_is_written_and_read(struct kunit *test)
{
	u8 *area = vmalloc(AREA), *mem = vt_buf(test, AREA);
	struct rxm_bed *bed;
	struct fid_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_area, area), 0);
	bed = rxm_bed_open_on(test, "verbs");
	join(test, bed);
	mr = vt_reg(test, mem, AREA, FI_REMOTE_READ | FI_REMOTE_WRITE);
	vt_fill(area, AREA, 1);
	KUNIT_ASSERT_EQ(test, fi_write(bed->us.ep, area + 5, AREA - 5, NULL, 0, fi_mr_addr(mr) + 5,
				       fi_mr_key(mr), vt_ctx(1)), 0);
	vt_done(test, bed->us.tx, vt_ctx(1));
	KUNIT_EXPECT_MEMEQ(test, mem + 5, area + 5, AREA - 5);
	vt_fill(mem, AREA, 2);
	KUNIT_ASSERT_EQ(test, fi_read(bed->us.ep, area, AREA, NULL, 0, fi_mr_addr(mr),
				      fi_mr_key(mr), vt_ctx(2)), 0);
	vt_done(test, bed->us.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(area, AREA, 2));
	/* And a message on offer is read into it */
	vt_recv(test, &bed->us, NULL, 0, vt_ctx(3));
	vt_done(test, bed->us.rx, vt_ctx(3));
	memset(area, 0, AREA);
	send_grant(test, bed, RXM_RECVS - 1);
	vt_recv(test, &bed->us, area, AREA, vt_ctx(4));
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, AREA));
	vt_done(test, bed->us.rx, vt_ctx(4));
	KUNIT_EXPECT_TRUE(test, vt_filled(area, AREA, 2));
}

/* Peers that lie */

/**
 * struct bad_grants - Grants that a peer with RXM_RECVS receives cannot make
 * @what: what is wrong
 * @grants: so many packets, one grant after the other; 0 behind the first: no more
 */
struct bad_grants {
	const char	*what;
	u64		grants[3];
};

static const struct bad_grants bad_grants[] = {
	{ "nothing", { 0 } },
	{ "more than there are", { RXM_RECVS + 1 } },
	{ "more than there are together", { RXM_RECVS - 1, 2 } },
	{ "one too many", { RXM_RECVS, 1 } },
	{ "32 bits", { U32_MAX } },
	{ "64 bits", { U64_MAX } },
	{ "64 bits together", { RXM_RECVS - 1, U64_MAX - RXM_RECVS + 2 } },
};

KUNIT_ARRAY_PARAM_DESC(bad_grants, bad_grants, what);

static void a_grant_that_lies_ends_the_connection(struct kunit *test)
{
	const struct bad_grants *bad = test->param_value;
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	int i = 0;

	/* The endpoint has used its first credit */
	join(test, bed);
	do {
		vt_no_event(test, bed->peer.eq);
		send_grant(test, bed, bad->grants[i++]);
		msleep(LATER_MS);
	} while (bad->grants[i]);
	rxm_expect_closed(test, bed);
}

static void a_grant_that_lies_behind_a_message_that_waits_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");

	join(test, bed);
	send_waiting(test, bed);
	expect_no_packet(test, bed);
	send_grant(test, bed, RXM_RECVS + 1);
	rxm_expect_closed(test, bed);
}

static void a_packet_without_a_credit_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	u64 credits = join(test, bed);

	/* The endpoint has no credit to grant more */
	while (credits--)
		send_message(test, bed);
	msleep(LATER_MS);
	vt_no_event(test, bed->peer.eq);
	send_message(test, bed);
	rxm_expect_closed(test, bed);
}

static void a_grant_where_none_are_counted_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);

	send_grant(test, bed, 1);
	rxm_expect_closed(test, bed);
}

/* Lower providers other than verbs */

static struct kofi_provider disabled_provider;

static const struct kofi_hook disabled_hook = {
	.provider	= &disabled_provider,
};

/* What is below it has FI_RM_ENABLED no longer */
static int disabled_getinfo(u32 version, const char *node, const int service, u64 flags,
			    struct fi_info *hints, struct fi_info **info)
{
	int ret = kofi_hook_getinfo(&disabled_hook, version, node, service, flags, hints, info);
	struct fi_info *entry;

	for (entry = ret ? NULL : *info; entry; entry = entry->next)
		entry->domain_attr->resource_mgmt = FI_RM_DISABLED;
	return ret;
}

static int disabled_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&disabled_hook, attr, fabric, context);
}

static struct kofi_provider disabled_provider = {
	.name		= "ofi_hook_disabled",
	.version	= FI_VERSION(1, 0),
	.getinfo	= disabled_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= disabled_fabric,
	.owner		= THIS_MODULE,
};

static void withdraw_disabled(void *unused)
{
	kofi_provider_deregister(&disabled_provider);
}

static struct fi_info *find_disabled(struct kunit *test, u64 caps)
{
	struct fi_info *hints = vt_allocinfo(test, "tcp;ofi_hook_disabled;ofi_rxm"), *info;

	hints->caps = caps;
	hints->ep_attr->type = FI_EP_RDM;
	hints->addr_format = FI_SOCKADDR_IN;
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	KUNIT_EXPECT_EQ(test, info->domain_attr->resource_mgmt, FI_RM_ENABLED);
	return info;
}

static void register_disabled(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &disabled_provider),
			0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, withdraw_disabled, NULL), 0);
}

/* A packet that is longer than a receive.  No event of the lower endpoint reports it */
static void an_error_behind_a_message_that_waits_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed;

	register_disabled(test);
	bed = rxm_bed_open_on(test, "loop;ofi_hook_disabled");
	join(test, bed);
	send_waiting(test, bed);
	expect_no_packet(test, bed);
	vt_send(test, &bed->peer, vt_buf(test, 2 * RXM_LIMIT), 2 * RXM_LIMIT, vt_ctx(100));
	rxm_expect_closed(test, bed);
}

/* Its receive would cost a credit that the writer does not count */
static void a_write_without_receives_has_no_remote_data(struct kunit *test)
{
	struct vt_end end = {};
	struct fi_info *info;

	register_disabled(test);
	info = find_disabled(test, FI_MSG);
	KUNIT_EXPECT_EQ(test, info->domain_attr->cq_data_size, sizeof(u64));
	info = find_disabled(test, FI_MSG | FI_RMA);
	KUNIT_EXPECT_EQ(test, info->domain_attr->cq_data_size, 0);
	vt_open_info(test, info);
	vt_client(test, &end, &vt_default_kind);
	KUNIT_EXPECT_LT(test, fi_writedata(end.ep, vt_buf(test, LEN), LEN, NULL, 1, 0, 0, 0,
					   vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, fi_senddata(end.ep, vt_buf(test, LEN), LEN, NULL, 1, 0, vt_ctx(1)),
			-ENOSYS);
	vt_end_close(test, &end);
	/* The size of the data stays when a client makes an endpoint for less */
	info->caps &= ~(FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
	info->tx_attr->caps &= info->caps;
	info->rx_attr->caps &= info->caps;
	vt_client(test, &end, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_senddata(end.ep, vt_buf(test, LEN), LEN, NULL, 1, 0, vt_ctx(1)),
			-ENOSYS);
}

static struct kunit_case credit_cases[] = {
	KUNIT_CASE_PARAM(a_request_without_credits_is_refused, no_credits_gen_params),
	KUNIT_CASE_PARAM(an_answer_without_credits_ends_what_waits, no_credits_gen_params),
	KUNIT_CASE(the_end_that_has_dialled_grants_at_once),
	KUNIT_CASE(the_end_that_has_accepted_grants_when_a_packet_has_come),
	KUNIT_CASE(receives_are_granted_when_there_are_several),
	KUNIT_CASE(a_sender_without_credits_waits_for_a_grant),
	KUNIT_CASE(two_ends_that_are_out_of_credits_go_on),
	KUNIT_CASE(a_grant_is_taken_behind_a_message_that_waits),
	KUNIT_CASE(a_grant_behind_a_message_that_waits_uses_no_receive),
	KUNIT_CASE(several_credits_are_kept_for_grants),
	KUNIT_CASE(credits_end_with_their_connection),
	KUNIT_CASE(an_endpoint_says_what_may_be_sent),
	KUNIT_CASE(a_response_waits_for_a_credit),
	KUNIT_CASE(a_response_uses_a_credit),
	KUNIT_CASE(an_offer_whose_end_waits_for_a_credit_ends_with_the_connection),
	KUNIT_CASE(an_idle_end_waits_for_a_credit_to_leave),
	KUNIT_CASE(an_idle_connection_is_closed_by_the_peer),
	KUNIT_CASE_PARAM(a_grant_that_lies_ends_the_connection, bad_grants_gen_params),
	KUNIT_CASE(a_grant_that_lies_behind_a_message_that_waits_ends_the_connection),
	KUNIT_CASE(memory_of_vmalloc_is_written_and_read),
	KUNIT_CASE(a_packet_without_a_credit_ends_the_connection),
	KUNIT_CASE(a_grant_where_none_are_counted_ends_the_connection),
	KUNIT_CASE(an_error_behind_a_message_that_waits_ends_the_connection),
	KUNIT_CASE(a_write_without_receives_has_no_remote_data),
	{}
};

struct kunit_suite rxm_credit_suite = {
	.name		= "kofi_rxm_credit",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= credit_cases,
};
