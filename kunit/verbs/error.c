// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that fail: each completes exactly once, both ends learn that the
 * connection is over, and other connections on the same queues lose nothing.
 */
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "verbs.h"

#define VT_MAX_NR	64

/* What became of the operations of a completion queue, by their number */
struct vt_tally {
	int	count[VT_MAX_NR];
	int	err[VT_MAX_NR];
	int	successes;
	int	errors;
};

static void take(struct kunit *test, struct vt_cq *cq, struct vt_tally *tally, int count)
{
	struct vt_comp comp;
	unsigned long nr;

	while (count--) {
		KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
		nr = (unsigned long)comp.context;
		KUNIT_ASSERT_LT(test, nr, VT_MAX_NR);
		tally->count[nr]++;
		tally->err[nr] = comp.err;
		if (comp.err)
			tally->errors++;
		else
			tally->successes++;
	}
	vt_none(test, cq);
}

static void each_once(struct kunit *test, const struct vt_tally *tally, int from, int to)
{
	for (; from < to; from++)
		KUNIT_EXPECT_EQ_MSG(test, tally->count[from], 1, "operation %d", from);
}

static struct vt_tally *vt_tally(struct kunit *test)
{
	return vt_buf(test, sizeof(struct vt_tally));
}

static ssize_t send8(struct vt_end *end, void *buf, unsigned long nr)
{
	return fi_send(end->ep, buf, 8, NULL, 0, vt_ctx(nr));
}

/*
 * Of a send: the end of the connection may overtake the reason for it.  Over iWARP
 * it may be done before the peer has looked at it, or TCP end while it is sent.
 */
static bool peer_failed(struct kunit *test, int err)
{
	return err == EREMOTEIO || err == ECANCELED || vt_is_iwarp(test);
}

static void a_message_that_is_too_long_ends_the_connection(struct kunit *test)
{
	u8 *out = vt_buf(test, 100), *in = vt_buf(test, 100);
	struct vt_pair pair = {};
	struct vt_comp comp;

	vt_serve_pair(test, NULL, &pair);
	memset(in, 0x5a, 100);
	vt_recv(test, &pair.b, in, 50, vt_ctx(1));
	vt_send(test, &pair.a, out, 100, vt_ctx(2));

	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RECV | FI_MSG);
	KUNIT_EXPECT_PTR_EQ(test, comp.buf, (void *)in);
	KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, peer_failed(test, comp.err));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_SEND | FI_MSG);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, in[50], 0x5a);
	KUNIT_EXPECT_EQ(test, send8(&pair.a, out, 3), -ESHUTDOWN);
}

static void a_message_that_is_too_long_by_packets_does_too(struct kunit *test)
{
	u8 *out = vt_buf(test, 20000), *in = vt_buf(test, 20000);
	struct vt_pair pair = {};
	struct vt_comp comp;

	vt_serve_pair(test, NULL, &pair);
	memset(in, 0x5a, 20000);
	vt_recv(test, &pair.b, in, 10000, vt_ctx(1));
	vt_send(test, &pair.a, out, 20000, vt_ctx(2));

	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err, FI_ETRUNC);
	KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
	KUNIT_EXPECT_TRUE(test, peer_failed(test, comp.err));
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, in[10000], 0x5a);
}

static void post_eight(struct kunit *test, struct vt_pair *pair, u8 *buf, int from)
{
	int i;

	for (i = from; i < from + 8; i++)
		vt_recv(test, &pair->b, buf + 8 * i, 8, vt_ctx(i));
	for (i = from; i < from + 8; i++)
		KUNIT_ASSERT_EQ(test, send8(&pair->a, buf, i), 0);
}

static void others_on_the_same_queues_go_on(struct kunit *test)
{
	struct vt_tally *sent = vt_tally(test), *got = vt_tally(test);
	struct vt_pair bad = {}, good = {};
	u8 *buf = vt_buf(test, 1024);

	vt_serve(test, AF_INET, NULL);
	bad.a.tx = vt_cq(test, &vt_default_kind, 0);
	bad.b.tx = vt_cq(test, &vt_default_kind, 0);
	good.a.tx = bad.a.tx;
	good.b.tx = bad.b.tx;
	vt_join(test, &bad, &vt_default_kind);
	vt_join(test, &good, &vt_default_kind);

	post_eight(test, &good, buf, 0);
	vt_recv(test, &bad.b, buf + 512, 8, vt_ctx(50));
	vt_recv(test, &bad.b, buf + 520, 8, vt_ctx(51));
	vt_send(test, &bad.a, buf, 500, vt_ctx(50));
	post_eight(test, &good, buf, 8);
	vt_event(test, bad.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, bad.b.eq, FI_SHUTDOWN, NULL);
	post_eight(test, &good, buf, 16);

	take(test, bad.a.tx, sent, 25);
	take(test, bad.b.tx, got, 26);
	each_once(test, sent, 0, 24);
	each_once(test, got, 0, 24);
	KUNIT_EXPECT_EQ(test, sent->successes, 24 + !sent->err[50]);
	KUNIT_EXPECT_EQ(test, got->successes, 24);
	KUNIT_EXPECT_TRUE(test, peer_failed(test, sent->err[50]));
	KUNIT_EXPECT_EQ(test, got->err[50], FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, got->err[51], ECANCELED);
	vt_no_event(test, good.a.eq);
	vt_no_event(test, good.b.eq);
}

enum vt_end_by {
	VT_BY_PEER,
	VT_BY_SELF,
	VT_BY_CLOSE,
};

struct vt_ending {
	const char	*name;
	enum vt_end_by	by;
};

static const struct vt_ending vt_endings[] = {
	{ "the peer's shutdown", VT_BY_PEER },
	{ "its own shutdown", VT_BY_SELF },
	{ "the peer's close", VT_BY_CLOSE },
};

KUNIT_ARRAY_PARAM_DESC(vt_ending, vt_endings, name);

static void end_by(struct kunit *test, struct vt_pair *pair, enum vt_end_by by)
{
	if (by == VT_BY_SELF)
		KUNIT_ASSERT_EQ(test, fi_shutdown(pair->b.ep, 0), 0);
	else if (by == VT_BY_PEER)
		KUNIT_ASSERT_EQ(test, fi_shutdown(pair->a.ep, 0), 0);
	else
		vt_close(test, &pair->a.ep->fid);
	vt_event(test, pair->b.eq, FI_SHUTDOWN, NULL);
}

static void posted_receives_are_cancelled_once(struct kunit *test)
{
	const struct vt_ending *param = test->param_value;
	struct vt_tally *tally = vt_tally(test);
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	int i;

	vt_serve_pair(test, NULL, &pair);
	for (i = 0; i < 32; i++)
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));

	end_by(test, &pair, param->by);

	take(test, pair.b.rx, tally, 32);
	each_once(test, tally, 0, 32);
	KUNIT_EXPECT_EQ(test, tally->errors, 32);
	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_EQ(test, tally->err[i], ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, send8(&pair.b, buf, 0), -ESHUTDOWN);
}

/*
 * Nobody receives.  So no send is done before the end where messages wait; else the
 * end may come while they are posted.
 */
static void sends_nobody_received_are_cancelled_once(struct kunit *test)
{
	const struct vt_ending *param = test->param_value;
	struct vt_tally *tally = vt_tally(test);
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	int posted;

	vt_serve_pair(test, NULL, &pair);
	for (posted = 0; posted < 32; posted++)
		if (send8(&pair.b, buf, posted))
			break;
	if (vt_has_patience(test))
		KUNIT_ASSERT_EQ(test, posted, 32);

	end_by(test, &pair, param->by);

	take(test, pair.b.tx, tally, posted);
	each_once(test, tally, 0, posted);
	if (vt_has_patience(test))
		KUNIT_EXPECT_EQ(test, tally->successes, 0);
}

static void traffic_in_flight_completes_once(struct kunit *test)
{
	const struct vt_ending *param = test->param_value;
	struct vt_tally *sent = vt_tally(test), *got = vt_tally(test);
	u8 *out = vt_buf(test, 20000), *in = vt_buf(test, 20000);
	struct vt_pair pair = {};
	struct vt_cq *cq;
	int i;

	vt_serve(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 0);
	pair.b.rx = cq;
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 32; i++) {
		vt_recv(test, &pair.b, in, 20000, vt_ctx(i));
		vt_recv(test, &pair.a, in, 20000, vt_ctx(i));
	}
	for (i = 0; i < 32; i++)
		vt_send(test, &pair.b, out, 20000, vt_ctx(i));
	for (i = 0; i < 32; i++)
		vt_send(test, &pair.a, out, 20000, vt_ctx(i));

	end_by(test, &pair, param->by);

	take(test, pair.b.tx, sent, 32);
	take(test, cq, got, 32);
	each_once(test, sent, 0, 32);
	each_once(test, got, 0, 32);
}

/*
 * The first answer is there, the others are on their way or not even asked for.
 * None gets lost, whoever ends the connection.
 */
static void reads_in_flight_complete_once(struct kunit *test)
{
	const struct vt_ending *param = test->param_value;
	struct vt_tally *tally = vt_tally(test);
	u8 *from = vt_buf(test, SZ_64K), *to = vt_buf(test, SZ_64K);
	struct fi_info *hints = vt_rma_hints(test);
	struct vt_pair pair = {};
	struct fid_mr *mr;
	int i;

	vt_serve_pair(test, hints, &pair);
	mr = vt_reg(test, from, SZ_64K, FI_REMOTE_READ);
	for (i = 0; i < 16; i++)
		KUNIT_ASSERT_EQ(test, fi_read(pair.b.ep, to, SZ_64K, NULL, 0, (uintptr_t)from,
					      fi_mr_key(mr), vt_ctx(i)), 0);
	vt_done(test, pair.b.tx, vt_ctx(0));

	end_by(test, &pair, param->by);

	take(test, pair.b.tx, tally, 15);
	each_once(test, tally, 1, 16);
}

/* Where nothing waits for the peer, it may be done before the end, and silent */
static void an_inject_that_fails_is_reported(struct kunit *test)
{
	struct vt_pair pair = {};
	struct vt_comp comp;

	vt_serve_pair(test, NULL, &pair);
	vt_recv(test, &pair.a, vt_buf(test, 8), 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, "x", 1, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);

	comp = vt_failed(test, pair.a.tx);
	if (comp.context == vt_ctx(1)) {
		if (!vt_has_patience(test))
			return;
		comp = vt_failed(test, pair.a.tx);
	}

	KUNIT_EXPECT_NULL(test, comp.context);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_SEND | FI_MSG);
}

static void an_error_blocks_the_queue_until_it_is_read(struct kunit *test)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	struct vt_pair pair = {};
	struct fid_cq *cq;

	vt_serve_pair(test, NULL, &pair);
	vt_recv(test, &pair.a, vt_buf(test, 8), 8, vt_ctx(1));
	cq = pair.a.rx->cq;
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(cq, &error, 0), -EAGAIN);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);

	KUNIT_EXPECT_EQ(test, vt_cq_sread(cq, &entry, 1, NULL), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, fi_cq_read(cq, &entry, 1), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(cq, &error, 1), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(cq, &error, 0), 1);
	KUNIT_EXPECT_PTR_EQ(test, error.op_context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, error.err, ECANCELED);
	KUNIT_EXPECT_EQ(test, error.prov_errno, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(cq, &error, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_read(cq, &entry, 1), -EAGAIN);
}

static void the_devices_status_has_a_text(struct kunit *test)
{
	char buf[64] = "", cut[4] = "";
	const char *text;
	struct vt_cq *cq;

	vt_open(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 0);
	text = fi_cq_strerror(cq->cq, IB_WC_WR_FLUSH_ERR, NULL, buf, sizeof(buf));

	KUNIT_EXPECT_STREQ(test, text, ib_wc_status_msg(IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_STREQ(test, buf, text);
	fi_cq_strerror(cq->cq, IB_WC_WR_FLUSH_ERR, NULL, cut, sizeof(cut));
	KUNIT_EXPECT_EQ(test, strlen(cut), sizeof(cut) - 1);
	KUNIT_EXPECT_NOT_NULL(test, fi_cq_strerror(cq->cq, 12345, NULL, NULL, 0));
}

static struct kunit_case error_cases[] = {
	KUNIT_CASE(a_message_that_is_too_long_ends_the_connection),
	KUNIT_CASE(a_message_that_is_too_long_by_packets_does_too),
	KUNIT_CASE(others_on_the_same_queues_go_on),
	KUNIT_CASE_PARAM(posted_receives_are_cancelled_once, vt_ending_gen_params),
	KUNIT_CASE_PARAM(sends_nobody_received_are_cancelled_once, vt_ending_gen_params),
	KUNIT_CASE_PARAM(traffic_in_flight_completes_once, vt_ending_gen_params),
	KUNIT_CASE_PARAM(reads_in_flight_complete_once, vt_ending_gen_params),
	KUNIT_CASE(an_inject_that_fails_is_reported),
	KUNIT_CASE(an_error_blocks_the_queue_until_it_is_read),
	KUNIT_CASE(the_devices_status_has_a_text),
	{}
};

struct kunit_suite kofi_verbs_error_suite = {
	.name		= "kofi_verbs_error",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= error_cases,
};
