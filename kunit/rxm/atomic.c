// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations: what this end sends to a raw peer, and what it makes of the peer's requests.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/fi_atomic.h>
#include "rxm.h"

#define ATOMICS	8	/* atomic operations of a connection that are under way */
#define RECVS	16	/* receives of a connection */
#define SHORT_S	5	/* the least message_timeout */
#define EVENTS	64	/* completions of operations with data that the client has not read */

/* The next request to the raw peer, which is in the buffer @nr, with @len bytes of values */
static struct rxm_wire_hdr *next_request(struct kunit *test, struct rxm_bed *bed, int nr,
					 size_t len)
{
	struct rxm_wire_hdr *hdr = rxm_next_sized(test, bed, nr, RXM_WIRE_ATOMIC,
						  sizeof(struct rxm_wire_atomic) + len);

	KUNIT_EXPECT_EQ(test, hdr->op.size, sizeof(struct rxm_wire_atomic) + len);
	KUNIT_EXPECT_EQ(test, hdr->op.atomic.ioc_count, 1);
	return hdr;
}

/* Answers with @status, and @count old values */
static void respond(struct kunit *test, struct rxm_bed *bed, const struct rxm_wire_hdr *request,
		    int status, const u64 *values, size_t count)
{
	size_t len = count * sizeof(*values);
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, sizeof(struct rxm_wire_resp) + len);
	struct rxm_wire_resp *resp = (void *)(hdr + 1);

	hdr->ctrl.type = 5;
	hdr->ctrl.msg_id = request->ctrl.msg_id;
	hdr->op.op = request->op.op;
	resp->status = cpu_to_be32(status);
	resp->result_len = cpu_to_be32(len);
	if (values)
		memcpy(resp + 1, values, len);
	rxm_send(test, bed, hdr, sizeof(*hdr) + sizeof(*resp) + len);
}

/* Opens the bed with queues of the raw peer's own for what it sends, and what comes */
static struct rxm_bed *bed_open(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);

	bed->peer.rx = vt_cq(test, &vt_default_kind, 1024);
	return bed;
}

static ssize_t fetch(struct rxm_bed *bed, u64 *values, int nr)
{
	return fi_fetch_atomic(bed->us.ep, &values[0], 1, NULL, &values[1], NULL, 0, 0x1000, 0x2000,
			       FI_UINT64, FI_SUM, vt_ctx(nr));
}

static void an_atomic_operation_is_over_when_it_is_answered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u64 *values = vt_buf(test, 24), old = 5;
	const struct rxm_wire_atomic *atomic;
	u8 *out = vt_buf(test, sizeof(*atomic));
	struct rxm_wire_hdr *hdr;

	/* The buffer of a message is that of the request afterwards */
	memset(out, 0xff, sizeof(*atomic));
	vt_send(test, &bed->us, out, sizeof(*atomic), vt_ctx(0));
	vt_done(test, bed->us.tx, vt_ctx(0));
	rxm_next_packet(test, bed, 0, RXM_WIRE_EAGER);
	values[0] = 3;
	values[2] = 7;
	KUNIT_ASSERT_EQ(test, fi_compare_atomic(bed->us.ep, &values[0], 1, NULL, &values[2], NULL,
						&values[1], NULL, 0, 0x1000, 0x2000, FI_UINT64,
						FI_CSWAP, vt_ctx(1)), 0);
	hdr = next_request(test, bed, 1, 16);
	KUNIT_EXPECT_EQ(test, hdr->op.op, 8);
	KUNIT_EXPECT_EQ(test, hdr->op.atomic.datatype, FI_UINT64);
	KUNIT_EXPECT_EQ(test, hdr->op.atomic.op, FI_CSWAP);
	atomic = (void *)(hdr + 1);
	KUNIT_EXPECT_EQ(test, atomic->ioc[0].addr, 0x1000);
	KUNIT_EXPECT_EQ(test, atomic->ioc[0].count, 1);
	KUNIT_EXPECT_EQ(test, atomic->ioc[0].key, 0x2000);
	KUNIT_EXPECT_NULL(test, memchr_inv(&atomic->ioc[1], 0,
					   sizeof(*atomic) - sizeof(atomic->ioc[0])));
	KUNIT_EXPECT_MEMEQ(test, (u64 *)(atomic + 1), &values[0], 8);
	KUNIT_EXPECT_MEMEQ(test, (u64 *)(atomic + 1) + 1, &values[2], 8);
	vt_none(test, bed->us.tx);
	respond(test, bed, hdr, 0, &old, 1);
	vt_done(test, bed->us.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, values[1], 5);
}

static void an_atomic_operation_that_is_refused_leaves_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u64 *values = vt_buf(test, 16), old = 5;
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, fetch(bed, values, 1), 0);
	respond(test, bed, next_request(test, bed, 0, 8), -EACCES, NULL, 0);
	comp = vt_failed(test, bed->us.tx);
	KUNIT_EXPECT_EQ(test, comp.err, EACCES);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fetch(bed, values, 2), 0);
	respond(test, bed, next_request(test, bed, 1, 8), 0, &old, 1);
	vt_done(test, bed->us.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, values[1], 5);
}

/* The error is any number that a peer may send.  No response keeps a receive of the endpoint */
static void a_refusal_has_an_errno(struct kunit *test)
{
	static const int statuses[] = { EACCES, INT_MIN, INT_MAX, -4096 };
	struct rxm_bed *bed = rxm_bed_join(test);
	u64 *values = vt_buf(test, 16);
	int i, nr, status;

	for (i = 0; i <= RECVS; i++) {
		nr = i % RXM_RECVS;
		status = statuses[i % ARRAY_SIZE(statuses)];
		KUNIT_ASSERT_EQ(test, fetch(bed, values, i), 0);
		respond(test, bed, next_request(test, bed, nr, 8), status, NULL, 0);
		vt_failed_with(test, bed->us.tx, vt_ctx(i), status == EACCES ? EACCES : EIO);
		rxm_recv_again(test, bed, nr);
	}
}

static void few_atomic_operations_are_under_way_at_a_time(struct kunit *test)
{
	struct rxm_bed *bed = bed_open(test);
	u64 *values = vt_buf(test, 16), old = 5;
	struct rxm_wire_hdr *hdr[ATOMICS];
	int i;

	rxm_join(test, bed);
	for (i = 0; i <= ATOMICS; i++)
		KUNIT_ASSERT_EQ(test, fetch(bed, values, i), 0);
	for (i = 0; i < ATOMICS; i++)
		hdr[i] = next_request(test, bed, i, 8);
	vt_recv(test, &bed->peer, bed->bufs[0], sizeof(*hdr[0]) + RXM_LIMIT, vt_ctx(0));
	vt_none(test, bed->peer.rx);
	/* In any order */
	for (i = ATOMICS - 1; i > 0; i--) {
		respond(test, bed, hdr[i], 0, &old, 1);
		vt_done(test, bed->us.tx, vt_ctx(i));
	}
	next_request(test, bed, 0, 8);
}

/* Nothing of it is lost or counted twice: so many may be under way afterwards */
static void an_atomic_operation_that_finds_no_room_below_is_sent_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u64 *values = vt_buf(test, 16), old = 5;
	struct rxm_wire_hdr *hdr[ATOMICS];
	int i;

	bed->peer.rx = vt_cq(test, &vt_default_kind, 1024);
	rxm_join(test, bed);
	rxm_fault(test, "send again times=1");
	for (i = 0; i < ATOMICS; i++)
		KUNIT_ASSERT_EQ(test, fetch(bed, values, i), 0);
	for (i = 0; i < ATOMICS; i++)
		hdr[i] = next_request(test, bed, i, 8);
	rxm_expect_faults(test, 1);
	for (i = 0; i < ATOMICS; i++) {
		respond(test, bed, hdr[i], 0, &old, 1);
		vt_done(test, bed->us.tx, vt_ctx(i));
	}
	rxm_expect_leave(test, bed, ATOMICS);
}

/* What a response may say that it should not */
static void bad_response(struct kunit *test, size_t count, u64 msg_id)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u64 *values = vt_buf(test, 16), old[2] = {};
	struct rxm_wire_hdr *hdr;

	KUNIT_ASSERT_EQ(test, fetch(bed, values, 1), 0);
	hdr = next_request(test, bed, 0, 8);
	hdr->ctrl.msg_id += msg_id;
	respond(test, bed, hdr, 0, old, count);
	rxm_expect_closed(test, bed);
	vt_failed(test, bed->us.tx);
}

static void a_response_to_nothing_ends_the_connection(struct kunit *test)
{
	bad_response(test, 1, 1);
}

static void a_response_with_too_much_ends_the_connection(struct kunit *test)
{
	bad_response(test, 2, 0);
}

static void a_response_with_too_little_ends_the_connection(struct kunit *test)
{
	bad_response(test, 0, 0);
}

static void an_atomic_operation_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u64 *values = vt_buf(test, 16);

	KUNIT_ASSERT_EQ(test, fetch(bed, values, 1), 0);
	next_request(test, bed, 0, 8);
	vt_end_close(test, &bed->peer);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

static void an_atomic_operation_that_is_never_answered_ends(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u64 *values = vt_buf(test, 16);
	unsigned long since;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	/* What counts is the age of the operation */
	msleep(2 * SHORT_S * MSEC_PER_SEC);
	since = jiffies;
	KUNIT_ASSERT_EQ(test, fetch(bed, values, 1), 0);
	next_request(test, bed, 0, 8);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, SHORT_S * HZ);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

/* Requests of the raw peer */

/**
 * struct target - A region of the endpoint
 * @bed: the endpoint, and the raw peer
 * @values: its memory
 * @mr: the region
 */
struct target {
	struct rxm_bed	*bed;
	u64		*values;
	struct fid_mr	*mr;
};

/* Opens the endpoint, if it is not open, and the region; the raw peer is to connect */
static void target_reg(struct kunit *test, struct target *target)
{
	if (!target->bed)
		target->bed = bed_open(test);
	target->values = vt_buf(test, 64);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(target->bed->domain, target->values, 64,
					FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &target->mr,
					NULL), 0);
	vt_adopt(test, &target->mr->fid);
}

static void target_open(struct kunit *test, struct target *target)
{
	target_reg(test, target);
	rxm_join(test, target->bed);
}

/* A request of one element: the target is incremented by 1, and its old value is wanted */
static struct rxm_wire_hdr *make_request(struct kunit *test, struct target *target)
{
	const u64 one = 1;
	struct rxm_wire_hdr *hdr = rxm_packet(test, target->bed,
					      sizeof(struct rxm_wire_atomic) + sizeof(one));
	struct rxm_wire_atomic *atomic = (void *)(hdr + 1);

	hdr->ctrl.type = 4;
	hdr->ctrl.msg_id = 99;
	hdr->op.op = 7;
	hdr->op.atomic.datatype = FI_UINT64;
	hdr->op.atomic.op = FI_SUM;
	hdr->op.atomic.ioc_count = 1;
	atomic->ioc[0].addr = fi_mr_addr(target->mr);
	atomic->ioc[0].count = 1;
	atomic->ioc[0].key = fi_mr_key(target->mr);
	memcpy(atomic + 1, &one, sizeof(one));
	return hdr;
}

static void request(struct kunit *test, struct target *target, const struct rxm_wire_hdr *hdr)
{
	rxm_send(test, target->bed, hdr, sizeof(*hdr) + hdr->op.size);
}

/* The response in the buffer @nr; returns its status */
static int next_response(struct kunit *test, struct rxm_bed *bed, int nr, u64 *old)
{
	const struct rxm_wire_hdr *hdr = (struct rxm_wire_hdr *)bed->bufs[nr];
	const struct rxm_wire_resp *resp = (const void *)(hdr + 1);
	size_t len = vt_done(test, bed->peer.rx, vt_ctx(nr)).len;

	KUNIT_ASSERT_GE(test, len, sizeof(*hdr) + sizeof(*resp));
	len -= sizeof(*hdr) + sizeof(*resp);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.version, 4);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.type, 5);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.msg_id, 99);
	KUNIT_EXPECT_EQ(test, hdr->op.version, 2);
	KUNIT_EXPECT_EQ(test, hdr->op.size, sizeof(*resp) + len);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(resp->result_len), len);
	KUNIT_ASSERT_LE(test, len, sizeof(*old));
	memcpy(old, resp + 1, len);
	return be32_to_cpu(resp->status);
}

static void a_request_is_executed_and_answered(struct kunit *test)
{
	struct rxm_wire_hdr *hdr;
	struct target target = {};
	struct vt_comp comp;
	u64 old = 0;

	target_open(test, &target);
	target.values[0] = 7;
	hdr = make_request(test, &target);
	request(test, &target, hdr);
	KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 0, &old), 0);
	KUNIT_EXPECT_EQ(test, ((struct rxm_wire_hdr *)target.bed->bufs[0])->op.op, 7);
	KUNIT_EXPECT_EQ(test, old, 7);
	KUNIT_EXPECT_EQ(test, target.values[0], 8);
	/* Without the old value */
	hdr->op.op = 6;
	old = 0;
	request(test, &target, hdr);
	KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 1, &old), 0);
	KUNIT_EXPECT_EQ(test, old, 0);
	KUNIT_EXPECT_EQ(test, target.values[0], 9);
	vt_none(test, target.bed->us.rx);
	/* With remote CQ data */
	hdr->op.flags = RXM_WIRE_CQ_DATA;
	hdr->op.data = 11;
	request(test, &target, hdr);
	KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 2, &old), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(target.bed->us.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.data, 11);
	KUNIT_EXPECT_EQ(test, comp.len, sizeof(u64));
	KUNIT_EXPECT_EQ(test, target.values[0], 10);
}

/* The client reads no completion.  It loses none, and the peer's next operation waits for room */
static void a_request_with_data_waits_until_a_completion_is_read(struct kunit *test)
{
	struct rxm_wire_hdr *hdr;
	struct target target = {};
	struct vt_comp comp;
	int i, nr = 0;
	u64 old = 0;

	target_open(test, &target);
	hdr = make_request(test, &target);
	hdr->op.op = 6;
	hdr->op.flags = RXM_WIRE_CQ_DATA;
	for (i = 0; i < EVENTS; i++, nr = (nr + 1) % RXM_RECVS) {
		hdr->op.data = i;
		request(test, &target, hdr);
		KUNIT_EXPECT_EQ(test, next_response(test, target.bed, nr, &old), 0);
		rxm_recv_again(test, target.bed, nr);
	}
	hdr->op.data = i;
	request(test, &target, hdr);
	msleep(100);
	vt_none(test, target.bed->peer.rx);
	for (i = 0; i <= EVENTS; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(target.bed->us.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.data, i);
	}
	KUNIT_EXPECT_EQ(test, next_response(test, target.bed, nr, &old), 0);
	KUNIT_EXPECT_EQ(test, target.values[0], EVENTS + 1);
}

/* The region is there for an endpoint that has them */
static void an_endpoint_without_atomic_operations_executes_none(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_domain *domain;
	struct target target = {};
	struct vt_end end = {};
	struct fi_info *info;
	u64 old = 0;

	target_reg(test, &target);
	info = vt_dup(test, target.bed->us.info);
	info->caps &= ~FI_ATOMIC;
	info->tx_attr->caps &= ~FI_ATOMIC;
	info->rx_attr->caps &= ~FI_ATOMIC;
	domain = vt->domain;
	vt->domain = target.bed->domain;
	vt_end_open(test, &end, info, &vt_default_kind);
	vt->domain = domain;
	vt->name_len = sizeof(vt->name);
	KUNIT_ASSERT_EQ(test, fi_getname(&end.ep->fid, &vt->name, &vt->name_len), 0);
	rxm_join(test, target.bed);
	request(test, &target, make_request(test, &target));
	KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 0, &old), -EACCES);
	KUNIT_EXPECT_EQ(test, target.values[0], 0);
}

/* Requests that are refused, and leave the connection */
static void refuse_key(struct rxm_wire_hdr *hdr)
{
	((struct rxm_wire_atomic *)(hdr + 1))->ioc[0].key++;
}

/* The remote CQ data are not reported */
static void refuse_data(struct rxm_wire_hdr *hdr)
{
	refuse_key(hdr);
	hdr->op.op = 6;
	hdr->op.flags = RXM_WIRE_CQ_DATA;
}

static void refuse_beyond(struct rxm_wire_hdr *hdr)
{
	((struct rxm_wire_atomic *)(hdr + 1))->ioc[0].addr += 64;
}

static void refuse_unaligned(struct rxm_wire_hdr *hdr)
{
	((struct rxm_wire_atomic *)(hdr + 1))->ioc[0].addr++;
}

static void refuse_type(struct rxm_wire_hdr *hdr)
{
	hdr->op.atomic.datatype = FI_DOUBLE;
}

static void refuse_unknown_type(struct rxm_wire_hdr *hdr)
{
	hdr->op.atomic.datatype = 255;
}

static void refuse_op(struct rxm_wire_hdr *hdr)
{
	hdr->op.atomic.op = 255;
}

static void refuse_form(struct rxm_wire_hdr *hdr)
{
	hdr->op.op = 8;
}

/* Requests that break the rules */
static void break_size(struct rxm_wire_hdr *hdr)
{
	((struct rxm_wire_atomic *)(hdr + 1))->ioc[0].count = 2;
}

static void break_count(struct rxm_wire_hdr *hdr)
{
	((struct rxm_wire_atomic *)(hdr + 1))->ioc[0].count = U64_MAX / 4;
}

static void break_no_range(struct rxm_wire_hdr *hdr)
{
	hdr->op.atomic.ioc_count = 0;
}

static void break_ranges(struct rxm_wire_hdr *hdr)
{
	hdr->op.atomic.ioc_count = 5;
}

static void break_compare(struct rxm_wire_hdr *hdr)
{
	hdr->op.op = 8;
	hdr->op.atomic.op = FI_CSWAP;
}

static void break_read(struct rxm_wire_hdr *hdr)
{
	hdr->op.atomic.op = FI_ATOMIC_READ;
}

static void break_short(struct rxm_wire_hdr *hdr)
{
	hdr->op.size = sizeof(struct rxm_wire_atomic) - 1;
}

static void break_long_result(struct rxm_wire_hdr *hdr)
{
	hdr->op.size = sizeof(struct rxm_wire_atomic);
	hdr->op.atomic.op = FI_ATOMIC_READ;
	((struct rxm_wire_atomic *)(hdr + 1))->ioc[0].count = RXM_LIMIT / 8;
}

/**
 * struct bad_request - A request that is not executed
 * @what: what is wrong
 * @spoil: makes a request one that is wrong
 * @err: the response; 0: the request ends the connection
 */
struct bad_request {
	const char	*what;
	void		(*spoil)(struct rxm_wire_hdr *hdr);
	int		err;
};

static const struct bad_request bad_requests[] = {
	{ "key", refuse_key, EACCES },
	{ "key, with data", refuse_data, EACCES },
	{ "beyond the region", refuse_beyond, EACCES },
	{ "unaligned", refuse_unaligned, EINVAL },
	{ "floating point", refuse_type, EINVAL },
	{ "unknown type", refuse_unknown_type, EINVAL },
	{ "unknown operation", refuse_op, ENOSYS },
	{ "sum in the form of a compare", refuse_form, ENOSYS },
	{ "fewer values than elements", break_size },
	{ "elements that overflow", break_count },
	{ "no range", break_no_range },
	{ "five ranges", break_ranges },
	{ "nothing to compare with", break_compare },
	{ "values of a read", break_read },
	{ "a header that is cut", break_short },
	{ "result longer than a packet", break_long_result },
};

KUNIT_ARRAY_PARAM_DESC(bad_request, bad_requests, what);

static void a_request_that_is_wrong_changes_nothing(struct kunit *test)
{
	const struct bad_request *bad = test->param_value;
	struct rxm_wire_hdr *hdr;
	struct target target = {};
	u64 old = 0;

	target_open(test, &target);
	hdr = make_request(test, &target);
	bad->spoil(hdr);
	request(test, &target, hdr);
	if (!bad->err) {
		rxm_expect_closed(test, target.bed);
	} else {
		KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 0, &old), -bad->err);
		request(test, &target, make_request(test, &target));
		KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 1, &old), 0);
	}
	KUNIT_EXPECT_EQ(test, target.values[0], bad->err ? 1 : 0);
	vt_none(test, target.bed->us.rx);
}

/* A region that has been closed is not reached */
static void a_request_does_not_reach_a_closed_region(struct kunit *test)
{
	struct rxm_wire_hdr *hdr;
	struct target target = {};
	u64 old = 0;

	target_open(test, &target);
	hdr = make_request(test, &target);
	vt_close(test, &target.mr->fid);
	request(test, &target, hdr);
	KUNIT_EXPECT_EQ(test, next_response(test, target.bed, 0, &old), -EACCES);
	KUNIT_EXPECT_EQ(test, target.values[0], 0);
}

static void a_response_that_is_refused_below_ends_the_connection(struct kunit *test)
{
	struct target target = { .bed = rxm_bed_open_faulty(test) };

	target_reg(test, &target);
	rxm_join(test, target.bed);
	/* Behind what the peer sends */
	rxm_fault(test, "send error 5 after=1 times=1");
	request(test, &target, make_request(test, &target));
	rxm_expect_closed(test, target.bed);
}

/* A peer that takes no response has as many operations executed as it has receives, or few more */
static void responses_that_nobody_takes_hold_the_connection_only(struct kunit *test)
{
	struct rxm_wire_hdr *hdr;
	struct target target = {};
	u64 old;
	int i;

	target_open(test, &target);
	hdr = make_request(test, &target);
	for (i = 0; i < 4 * RECVS; i++)
		vt_send(test, &target.bed->peer, hdr, sizeof(*hdr) + hdr->op.size, NULL);
	for (i = 0; i < RXM_RECVS; i++)
		KUNIT_EXPECT_EQ(test, next_response(test, target.bed, i, &old), 0);
	msleep(100);
	KUNIT_EXPECT_LE(test, target.values[0], RXM_RECVS + RECVS);
	/* The endpoint, and the rest of the requests, end with the case */
}

static struct kunit_case atomic_cases[] = {
	KUNIT_CASE(an_atomic_operation_is_over_when_it_is_answered),
	KUNIT_CASE(an_atomic_operation_that_is_refused_leaves_the_connection),
	KUNIT_CASE(a_refusal_has_an_errno),
	KUNIT_CASE(few_atomic_operations_are_under_way_at_a_time),
	KUNIT_CASE(an_atomic_operation_that_finds_no_room_below_is_sent_later),
	KUNIT_CASE(a_response_to_nothing_ends_the_connection),
	KUNIT_CASE(a_response_with_too_much_ends_the_connection),
	KUNIT_CASE(a_response_with_too_little_ends_the_connection),
	KUNIT_CASE(an_atomic_operation_ends_with_the_connection),
	KUNIT_CASE(an_atomic_operation_that_is_never_answered_ends),
	KUNIT_CASE(a_request_is_executed_and_answered),
	KUNIT_CASE(a_request_with_data_waits_until_a_completion_is_read),
	KUNIT_CASE(an_endpoint_without_atomic_operations_executes_none),
	KUNIT_CASE_PARAM(a_request_that_is_wrong_changes_nothing, bad_request_gen_params),
	KUNIT_CASE(a_request_does_not_reach_a_closed_region),
	KUNIT_CASE(a_response_that_is_refused_below_ends_the_connection),
	KUNIT_CASE(responses_that_nobody_takes_hold_the_connection_only),
	{}
};

struct kunit_suite rxm_atomic_suite = {
	.name		= "kofi_rxm_atomic",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= atomic_cases,
};
