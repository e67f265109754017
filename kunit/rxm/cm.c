// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How connections begin.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <kofi/addr.h>
#include "../lib/refusal.h"
#include "rxm.h"

#define DIAL_S		10	/* until a peer that is not reached is given up */
#define FLOOD		256	/* requests at a time */
#define REQUEST_MS	2000	/* until a request comes, at most */
#define WAITING		100	/* more operations than are given to their peers at a time */
#define LATER_MS	200
#define AT_A_TIME	64	/* events that are taken one after the other */
#define STAY_S		6	/* two of these are more than DIAL_S, one is less */

/**
 * struct bad_request - A request that does not fit
 * @what: what is wrong
 * @spoil: makes a request that fits one that does not
 * @len: bytes of it; 0: all
 */
struct bad_request {
	const char	*what;
	void		(*spoil)(struct rxm_wire_request *request);
	size_t		len;
};

static void spoil_version(struct rxm_wire_request *request)
{
	request->version = 2;
}

static void spoil_endian(struct rxm_wire_request *request)
{
	request->endian = 3 - RXM_WIRE_ENDIAN;
}

static void spoil_ctrl_version(struct rxm_wire_request *request)
{
	request->ctrl_version = 3;
}

static void spoil_op_version(struct rxm_wire_request *request)
{
	request->op_version = 2;
}

static void spoil_port(struct rxm_wire_request *request)
{
	request->port = 0;
}

static void spoil_ep_idx(struct rxm_wire_request *request)
{
	request->ep_idx = 1;
}

static void spoil_limit(struct rxm_wire_request *request)
{
	request->eager_limit = RXM_LIMIT / 2;
}

static void spoil_nothing(struct rxm_wire_request *request)
{
}

static const struct bad_request bad_requests[] = {
	{ "version", spoil_version },
	{ "byte order", spoil_endian },
	{ "version of packets", spoil_ctrl_version },
	{ "version of operations", spoil_op_version },
	{ "no port", spoil_port },
	{ "a second connection", spoil_ep_idx },
	{ "eager limit", spoil_limit },
	{ "a byte less", spoil_nothing, sizeof(struct rxm_wire_request) - 1 },
	{ "one byte", spoil_nothing, 1 },
};

KUNIT_ARRAY_PARAM_DESC(bad_request, bad_requests, what);

static void a_request_that_does_not_fit_is_refused(struct kunit *test)
{
	const struct bad_request *bad = test->param_value;
	struct rxm_wire_request request = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);

	bad->spoil(&request);
	rxm_dial(test, bed, &request, bad->len ? : sizeof(request));
	rxm_expect_refused(test, bed, RXM_WIRE_REFUSED);
}

static void a_request_without_data_is_refused(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct fi_eq_err_entry error = {};

	rxm_dial(test, bed, NULL, 0);
	vt_error(test, bed->peer.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
}

static void a_second_request_of_an_incarnation_is_refused(struct kunit *test)
{
	struct rxm_wire_request request = rxm_request();
	struct rxm_bed *bed = rxm_bed_join(test);
	struct vt_end first;

	first = bed->peer;
	bed->peer = (struct vt_end) {};
	rxm_dial(test, bed, &request, sizeof(request));
	rxm_expect_refused(test, bed, RXM_WIRE_ALREADY);
	vt_no_event(test, first.eq);
}

static void a_new_incarnation_takes_the_place_of_the_old_one(struct kunit *test)
{
	struct rxm_wire_request request = rxm_request();
	struct rxm_bed *bed = rxm_bed_join(test);
	struct vt_end first;

	first = bed->peer;
	bed->peer = (struct vt_end) {};
	request.conn_id = 6ULL << 32 | RXM_ID;
	rxm_dial(test, bed, &request, sizeof(request));
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
	vt_event(test, first.eq, FI_SHUTDOWN, NULL);
}

/* An address that has all its connections can have a new one in the place of its own old one */
static void a_new_incarnation_needs_no_room(struct kunit *test)
{
	struct rxm_wire_request request = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);
	struct vt_end first;

	rxm_param(test, "address_max", 1, 1024);
	rxm_join(test, bed);
	first = bed->peer;
	bed->peer = (struct vt_end) {};
	request.port = RXM_PORT + 1;
	rxm_dial(test, bed, &request, sizeof(request));
	rxm_expect_refused(test, bed, RXM_WIRE_ALREADY);
	bed->peer = (struct vt_end) {};
	request.port = RXM_PORT;
	request.conn_id = 6ULL << 32 | RXM_ID;
	rxm_dial(test, bed, &request, sizeof(request));
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
	vt_event(test, first.eq, FI_SHUTDOWN, NULL);
}

static void nobody_else_can_be_the_endpoint_itself(struct kunit *test)
{
	struct rxm_wire_request request = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);

	request.port = rxm_bed_port(bed);
	rxm_dial(test, bed, &request, sizeof(request));
	rxm_expect_refused(test, bed, RXM_WIRE_ALREADY);
}

static void a_request_says_what_libfabric_expects(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;
	struct rxm_wire_hdr *hdr;
	struct fi_info *info;
	u8 *buf = vt_buf(test, 8);

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, 8, &request);
	KUNIT_EXPECT_EQ(test, request.version, 1);
	KUNIT_EXPECT_EQ(test, request.endian, RXM_WIRE_ENDIAN);
	KUNIT_EXPECT_EQ(test, request.ctrl_version, 4);
	KUNIT_EXPECT_EQ(test, request.op_version, 3);
	KUNIT_EXPECT_EQ(test, request.port, rxm_bed_port(bed));
	KUNIT_EXPECT_EQ(test, request.flow_ctrl, 2);
	KUNIT_EXPECT_EQ(test, request.ep_idx, 0);
	KUNIT_EXPECT_EQ(test, request.eager_limit, RXM_LIMIT);
	KUNIT_EXPECT_NE(test, (u32)(request.conn_id >> 32), 0);
	rxm_accept(test, bed, info, false);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
	hdr = (struct rxm_wire_hdr *)bed->bufs[0];
	KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
}

static void a_port_that_is_taken_is_refused(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_at(test, RXM_PORT + 1);
	struct fid_ep *ep;
	int ret;

	vt_refusals_begin(test);
	ret = fi_endpoint(bed->domain, bed->us.info, &ep, NULL);
	if (!ret)
		vt_adopt(test, &ep->fid);
	KUNIT_EXPECT_EQ(test, ret, -EADDRINUSE);
	vt_refused(test, "passive_ep", -EADDRINUSE, "another endpoint of this machine has");
}

/* It listens at this port, so its connections have other ones */
static void an_endpoint_at_a_chosen_port_dials(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_at(test, RXM_PORT + 1);
	struct rxm_wire_request request;
	struct fi_info *info;
	u8 *buf = vt_buf(test, 8);

	KUNIT_EXPECT_EQ(test, rxm_bed_port(bed), RXM_PORT + 1);
	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, 8, &request);
	KUNIT_EXPECT_EQ(test, request.port, RXM_PORT + 1);
	rxm_accept(test, bed, info, false);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

static void the_larger_address_wins_if_both_dial(struct kunit *test)
{
	struct rxm_wire_request theirs, ours = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, 8);

	ours.port = rxm_bed_port(bed) + 1;
	rxm_listen_at(test, ours.port);
	rxm_be_dialled(test, bed, buf, 8, &theirs);
	vt_of(test)->name = bed->name;
	rxm_dial(test, bed, &ours, sizeof(ours));
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

static void the_smaller_address_is_refused_if_both_dial(struct kunit *test)
{
	struct rxm_wire_request theirs, ours = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, 8);
	struct fi_info *info;

	ours.port = rxm_bed_port(bed) - 1;
	rxm_listen_at(test, ours.port);
	info = rxm_be_dialled(test, bed, buf, 8, &theirs);
	vt_of(test)->name = bed->name;
	rxm_dial(test, bed, &ours, sizeof(ours));
	rxm_expect_refused(test, bed, RXM_WIRE_ALREADY);
	bed->peer = (struct vt_end) {};
	rxm_accept(test, bed, info, false);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

/* Each end dials: the second connection would be one too many */
static void an_incarnation_that_was_dialled_is_refused(struct kunit *test)
{
	struct rxm_wire_request theirs, ours = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);
	struct vt_end first;

	rxm_listen_at(test, ours.port);
	rxm_accept(test, bed, rxm_be_dialled(test, bed, vt_buf(test, 8), 8, &theirs), false);
	vt_done(test, bed->us.tx, vt_ctx(1));
	first = bed->peer;
	bed->peer = (struct vt_end) {};
	vt_of(test)->name = bed->name;
	rxm_dial(test, bed, &ours, sizeof(ours));
	rxm_expect_refused(test, bed, RXM_WIRE_ALREADY);
	vt_no_event(test, first.eq);
}

/* The endpoint looks at it when it has made the peer of the first operation */
static void an_operation_for_nobody_fails_behind_one_for_a_new_peer(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr;

	rxm_listen_at(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &vt_of(test)->name, 1, &addr, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, 8, NULL, addr, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, 8, NULL, addr + 1, vt_ctx(2)), 0);
	vt_failed_with(test, bed->us.tx, vt_ctx(2), EINVAL);
}

/* Messages of @len bytes.  Each connection ends with some under way, before DIAL_S is over */
static void expect_dialled_again(struct kunit *test, size_t len)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;
	u8 *buf = vt_buf(test, len);
	struct fi_info *info;
	int i;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, len, &request);
	for (i = 0; i < WAITING; i++)
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, len, NULL, 1, vt_ctx(1)), 0);
	for (i = 0; i < 3; i++) {
		rxm_accept(test, bed, info, false);
		vt_done(test, bed->peer.rx, vt_ctx(0));
		msleep(STAY_S * MSEC_PER_SEC);
		vt_end_close(test, &bed->peer);
		info = rxm_next_dial(test, bed, &request);
	}
}

static void a_peer_that_takes_a_packet_each_time_is_dialled_again(struct kunit *test)
{
	expect_dialled_again(test, 8);
}

static void a_peer_that_takes_a_segment_each_time_is_dialled_again(struct kunit *test)
{
	expect_dialled_again(test, RXM_LIMIT + 1);
}

static void a_refusal_ends_what_waits(struct kunit *test)
{
	static const struct rxm_wire_reject msg = { .version = 1, .reason = RXM_WIRE_REFUSED };
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;
	u8 *buf = vt_buf(test, 8);
	struct fi_info *info;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, 8, &request);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, &msg, sizeof(msg)), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNREFUSED);
}

/* Which says that it dials, too, or is short of something */
static void a_peer_that_refuses_for_now_is_dialled_again(struct kunit *test)
{
	static const struct rxm_wire_reject msg = { .version = 1, .reason = RXM_WIRE_ALREADY };
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;
	struct fi_info *info;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, vt_buf(test, 8), 8, &request);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, &msg, sizeof(msg)), 0);
	rxm_accept(test, bed, rxm_next_dial(test, bed, &request), false);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

/* More than an endpoint dials at a time */
static void many_peers_that_are_not_there_are_given_up(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct sockaddr_storage name = bed->name;
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr;
	int i;

	for (i = 0; i < WAITING; i++) {
		kofi_addr_set_port(&name, RXM_PORT + 1 + i);
		KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &name, 1, &addr, 0, NULL), 1);
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, 8, NULL, addr, vt_ctx(i)), 0);
	}
	for (i = 0; i < WAITING; i++)
		KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNREFUSED);
}

/* More often than an endpoint dials at a time */
static void a_peer_that_comes_and_goes_is_dialled_each_time(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;
	u8 *buf = vt_buf(test, 8);
	struct fi_info *info;
	int i;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, 8, &request);
	for (i = 0; i < WAITING; i++) {
		rxm_accept(test, bed, info, false);
		vt_done(test, bed->us.tx, vt_ctx(1));
		vt_done(test, bed->peer.rx, vt_ctx(0));
		vt_end_close(test, &bed->peer);
		/* Until then the endpoint may send by the connection that has ended */
		msleep(LATER_MS);
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, 8, NULL, 1, vt_ctx(1)), 0);
		info = rxm_next_dial(test, bed, &request);
	}
}

/* Also what was posted before the endpoint knew its peer */
static void a_refusal_ends_all_that_waits(struct kunit *test)
{
	static const struct rxm_wire_reject msg = { .version = 1, .reason = RXM_WIRE_REFUSED };
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, 8);
	struct fi_info *info;
	fi_addr_t addr;
	int i;

	rxm_listen_at(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &vt_of(test)->name, 1, &addr, 0, NULL), 1);
	for (i = 0; i < WAITING; i++)
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, 8, NULL, addr, vt_ctx(i)), 0);
	info = vt_connreq(test, NULL);
	/* What is given to the peer behind the refusal has the endpoint dial once more */
	msleep(LATER_MS);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, &msg, sizeof(msg)), 0);
	for (i = 0; i < WAITING; i++)
		KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNREFUSED);
}

static void an_answer_that_is_short_ends_what_waits(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;
	u8 *buf = vt_buf(test, 8);
	struct fi_info *info;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, 8, &request);
	vt_end_open(test, &bed->peer, info, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_accept(bed->peer.ep, buf, 8), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNREFUSED);
}

/* Dials from another port than before, with the ends of before still there */
static void dial_from(struct kunit *test, struct rxm_bed *bed, int port)
{
	struct rxm_wire_request request = rxm_request();

	request.port = port;
	bed->peer = (struct vt_end) {};
	rxm_dial(test, bed, &request, sizeof(request));
}

static void an_address_has_so_many_connections_and_no_more(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct vt_end first;

	rxm_param(test, "address_max", 2, 1024);
	dial_from(test, bed, RXM_PORT);
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
	first = bed->peer;
	dial_from(test, bed, RXM_PORT + 1);
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
	dial_from(test, bed, RXM_PORT + 2);
	rxm_expect_refused(test, bed, RXM_WIRE_ALREADY);
	vt_end_close(test, &first);
	dial_from(test, bed, RXM_PORT + 2);
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
}

/* The next request of the endpoint to the raw listener; NULL: none, or another event is next */
static struct fi_info *next_request(struct kunit *test)
{
	union vt_event event = {};
	u32 type = 0;

	if (fi_eq_sread(vt_of(test)->eq, &type, &event, sizeof(event), REQUEST_MS, 0) < 0)
		return NULL;
	KUNIT_ASSERT_EQ(test, type, FI_CONNREQ);
	vt_free_later(test, event.cm.info);
	return event.cm.info;
}

/* Each connection ends before an operation has begun */
static void a_peer_that_hangs_up_each_time_is_given_up(struct kunit *test)
{
	const struct rxm_wire_accept answer = {
		.conn_id = 5ULL << 32 | RXM_ID, .rx_size = RXM_RECVS, .flow_ctrl = 2,
	};
	struct rxm_bed *bed = rxm_bed_open(test);
	unsigned long end = jiffies + 3 * DIAL_S * HZ;
	struct rxm_wire_request request;
	u8 *buf = vt_buf(test, 8);
	struct fi_info *info;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, buf, 8, &request);
	while (info && time_before(jiffies, end)) {
		vt_end_open(test, &bed->peer, info, &vt_default_kind);
		KUNIT_ASSERT_EQ(test, fi_accept(bed->peer.ep, &answer, sizeof(answer)), 0);
		vt_end_close(test, &bed->peer);
		info = next_request(test);
	}
	KUNIT_EXPECT_NULL(test, info);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

/* More requests than are answered at a time; one queue shows the order of all events */
static void requests_do_not_keep_an_endpoint_from_dialling(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	const struct fi_info *info = vt_of(test)->info;
	struct vt_cq *cq = vt_cq(test, &vt_default_kind,
				 FLOOD * (info->tx_attr->size + info->rx_attr->size));
	struct vt_end *ends = vt_buf(test, FLOOD * sizeof(*ends));
	struct fid_eq *eq = vt_eq(test, 2 * FLOOD);
	struct fi_eq_err_entry error = {};
	u8 *buf = vt_buf(test, 8);
	int i, refused = 0;
	fi_addr_t addr;

	for (i = 0; i < FLOOD; i++) {
		ends[i].eq = eq;
		ends[i].tx = cq;
		vt_client(test, &ends[i], &vt_default_kind);
	}
	vt_listen(test, eq);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &vt_of(test)->name, 1, &addr, 0, NULL), 1);
	vt_of(test)->name = bed->name;
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, 8, NULL, addr, vt_ctx(1)), 0);
	for (i = 0; i < FLOOD; i++)
		vt_connect(test, &ends[i], NULL, 0);
	while (!next_request(test)) {
		KUNIT_ASSERT_EQ(test, fi_eq_readerr(eq, &error, 0), sizeof(error));
		refused++;
	}
	KUNIT_EXPECT_LT(test, refused, FLOOD);
	/* And no request is forgotten */
	for (; refused < FLOOD; refused++)
		vt_error(test, eq, &error);
}

/*
 * It may come as soon as the endpoint has an address, and behind more than are answered at a time,
 * which do not fit
 */
static void a_request_is_answered_when_the_endpoint_is_enabled(struct kunit *test)
{
	struct vt_end *others = vt_buf(test, AT_A_TIME * sizeof(*others));
	struct rxm_wire_request request = rxm_request();
	struct rxm_bed *bed = rxm_bed_open(test);
	struct fid_domain *domain = vt_of(test)->domain;
	struct sockaddr_storage *name = &vt_of(test)->name;
	size_t len = sizeof(*name);
	struct vt_end late = {};
	int i;

	vt_of(test)->domain = bed->domain;
	vt_end_queues(test, &late, bed->us.info, &vt_default_kind);
	late.ep = vt_ep(test, late.info);
	vt_of(test)->domain = domain;
	KUNIT_ASSERT_EQ(test, fi_getname(&late.ep->fid, name, &len), 0);
	for (i = 0; i < AT_A_TIME; i++) {
		vt_client(test, &others[i], &vt_default_kind);
		vt_connect(test, &others[i], NULL, 0);
	}
	rxm_dial(test, bed, &request, sizeof(request));
	vt_no_event_for(test, bed->peer.eq, LATER_MS);
	vt_end_enable(test, &late, &vt_default_kind);
	vt_event(test, bed->peer.eq, FI_CONNECTED, NULL);
}

/* Calls below the endpoint that fail */

/**
 * struct fault - A call that fails
 * @rule: as rxm_fault()
 */
struct fault {
	const char	*rule;
};

/* What opens a connection, and makes it one */
static const struct fault accept_faults[] = {
	{ "open error 12 times=1" },
	{ "open error 12 after=1 times=1" },
	{ "open error 12 after=2 times=1" },
	{ "recv error 12 times=1" },
	{ "recv error 12 after=9 times=1" },
	{ "accept error 12 times=1" },
};

static const struct fault dial_faults[] = {
	{ "open error 12 times=1" },
	{ "open error 12 after=1 times=1" },
	{ "open error 12 after=2 times=1" },
	{ "recv error 12 times=1" },
	{ "connect error 12 times=1" },
};

KUNIT_ARRAY_PARAM_DESC(accept_fault, accept_faults, rule);
KUNIT_ARRAY_PARAM_DESC(dial_fault, dial_faults, rule);

/* The peer is refused, and may come again */
static void a_connection_that_cannot_be_accepted_is_refused(struct kunit *test)
{
	const struct fault *fault = test->param_value;
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	struct rxm_wire_request request = rxm_request();
	struct fi_eq_err_entry error = {};

	vt_client(test, &bed->peer, &vt_default_kind);
	rxm_fault(test, fault->rule);
	vt_connect(test, &bed->peer, &request, sizeof(request));
	vt_error(test, bed->peer.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	rxm_expect_faults(test, 1);
	vt_end_close(test, &bed->peer);
	rxm_join(test, bed);
}

/* Somebody was short of memory, so the peer is dialled once more */
static void a_connection_that_cannot_be_dialled_is_dialled_later(struct kunit *test)
{
	const struct fault *fault = test->param_value;
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	struct rxm_wire_request request;
	struct fi_info *info;

	rxm_listen_at(test, 0);
	rxm_fault(test, fault->rule);
	info = rxm_be_dialled(test, bed, vt_buf(test, 8), 8, &request);
	rxm_expect_faults(test, 1);
	rxm_accept(test, bed, info, false);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(an_address_has_so_many_connections_and_no_more),
	KUNIT_CASE(requests_do_not_keep_an_endpoint_from_dialling),
	KUNIT_CASE_PARAM(a_request_that_does_not_fit_is_refused, bad_request_gen_params),
	KUNIT_CASE(a_request_without_data_is_refused),
	KUNIT_CASE(a_second_request_of_an_incarnation_is_refused),
	KUNIT_CASE(a_new_incarnation_takes_the_place_of_the_old_one),
	KUNIT_CASE(a_new_incarnation_needs_no_room),
	KUNIT_CASE(nobody_else_can_be_the_endpoint_itself),
	KUNIT_CASE(a_request_says_what_libfabric_expects),
	KUNIT_CASE(a_port_that_is_taken_is_refused),
	KUNIT_CASE(an_endpoint_at_a_chosen_port_dials),
	KUNIT_CASE(the_larger_address_wins_if_both_dial),
	KUNIT_CASE(the_smaller_address_is_refused_if_both_dial),
	KUNIT_CASE(an_incarnation_that_was_dialled_is_refused),
	KUNIT_CASE(an_operation_for_nobody_fails_behind_one_for_a_new_peer),
	KUNIT_CASE(a_peer_that_takes_a_packet_each_time_is_dialled_again),
	KUNIT_CASE(a_peer_that_takes_a_segment_each_time_is_dialled_again),
	KUNIT_CASE(a_refusal_ends_what_waits),
	KUNIT_CASE(a_peer_that_refuses_for_now_is_dialled_again),
	KUNIT_CASE(many_peers_that_are_not_there_are_given_up),
	KUNIT_CASE(a_peer_that_comes_and_goes_is_dialled_each_time),
	KUNIT_CASE(a_refusal_ends_all_that_waits),
	KUNIT_CASE(a_request_is_answered_when_the_endpoint_is_enabled),
	KUNIT_CASE(a_peer_that_hangs_up_each_time_is_given_up),
	KUNIT_CASE(an_answer_that_is_short_ends_what_waits),
	KUNIT_CASE_PARAM(a_connection_that_cannot_be_accepted_is_refused, accept_fault_gen_params),
	KUNIT_CASE_PARAM(a_connection_that_cannot_be_dialled_is_dialled_later,
			 dial_fault_gen_params),
	{}
};

struct kunit_suite rxm_cm_suite = {
	.name		= "kofi_rxm_cm",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= cm_cases,
};
