// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connection data without framing, for peers that are not libfabric.  A raw end
 * and a framed one that are connected see each other's bytes on the wire.
 */
#include "verbs.h"

/* What rdma_cm leaves of the messages of ib_cm, with addresses of IP */
#define VT_REQ	56
#define VT_REP	196
#define VT_REJ	148

struct vt_raw_event {
	struct fi_eq_cm_entry	cm;
	u8			data[VT_REP];
};

static void set_raw(struct kunit *test, struct fid *fid)
{
	int raw = 1;

	KUNIT_ASSERT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW,
					&raw, sizeof(raw)), 0);
}

static void serve(struct kunit *test, bool raw)
{
	struct vt *vt = vt_of(test);

	vt_open(test, AF_INET, NULL);
	vt->eq = vt_eq(test, 0);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &vt->pep, vt), 0);
	vt_adopt(test, &vt->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(vt->pep, &vt->eq->fid, 0), 0);
	if (raw)
		set_raw(test, &vt->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_listen(vt->pep), 0);
	vt->name_len = sizeof(vt->name);
	KUNIT_ASSERT_EQ(test, fi_getname(&vt->pep->fid, &vt->name, &vt->name_len), 0);
}

/* Returns the bytes of data */
static size_t next_event(struct kunit *test, struct fid_eq *eq, u32 want,
			 struct vt_raw_event *event)
{
	ssize_t ret;
	u32 got;

	ret = vt_eq_sread(eq, &got, event, sizeof(*event), 0);
	KUNIT_ASSERT_GE(test, ret, (ssize_t)sizeof(event->cm));
	if (got == FI_CONNREQ)
		vt_free_later(test, event->cm.info);
	KUNIT_ASSERT_EQ(test, got, want);
	return ret - sizeof(event->cm);
}

static void check_opt(struct kunit *test, struct fid *fid, int want_raw, size_t want_size)
{
	size_t len = sizeof(int), size = 0;
	int raw = -1;

	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &raw, &len), 0);
	KUNIT_EXPECT_EQ(test, raw, want_raw);
	len = sizeof(size);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	KUNIT_EXPECT_EQ(test, size, want_size);
}

static void all_of_the_field_arrives(struct kunit *test)
{
	struct vt_raw_event *event = vt_buf(test, sizeof(*event));
	u8 *data = vt_buf(test, VT_REP);
	struct vt_pair pair = {};

	serve(test, true);
	check_opt(test, &vt_of(test)->pep->fid, 1, VT_REQ);
	vt_client(test, &pair.a, &vt_default_kind);
	set_raw(test, &pair.a.ep->fid);
	vt_fill(data, VT_REQ, 1);
	vt_connect(test, &pair.a, data, VT_REQ);

	KUNIT_EXPECT_EQ(test, next_event(test, vt_of(test)->eq, FI_CONNREQ, event), VT_REQ);
	KUNIT_EXPECT_TRUE(test, vt_filled(event->data, VT_REQ, 1));
	vt_end_open(test, &pair.b, event->cm.info, &vt_default_kind);
	vt_fill(data, VT_REP, 2);
	vt_accept(test, &pair.b, data, VT_REP);

	KUNIT_EXPECT_EQ(test, next_event(test, pair.a.eq, FI_CONNECTED, event), VT_REP);
	KUNIT_EXPECT_TRUE(test, vt_filled(event->data, VT_REP, 2));
	vt_ping(test, &pair.a, &pair.b);
}

static void a_reject_brings_its_data(struct kunit *test)
{
	struct vt_raw_event *event = vt_buf(test, sizeof(*event));
	u8 *data = vt_buf(test, VT_REJ), *got = vt_buf(test, VT_REP);
	struct fi_eq_err_entry error = {
		.err_data	= got,
		.err_data_size	= VT_REP,
	};
	struct vt_end client = {};

	serve(test, true);
	vt_client(test, &client, &vt_default_kind);
	set_raw(test, &client.ep->fid);
	vt_connect(test, &client, NULL, 0);
	next_event(test, vt_of(test)->eq, FI_CONNREQ, event);
	vt_fill(data, VT_REJ, 3);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, event->cm.info->handle, data, VT_REJ), 0);
	vt_error(test, client.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, error.err_data_size, VT_REJ);
	KUNIT_EXPECT_TRUE(test, vt_filled(got, VT_REJ, 3));
}

/* What libfabric puts on the wire: the length, then the data */
static void a_raw_listener_sees_the_frame_of_others(struct kunit *test)
{
	struct vt_raw_event *event = vt_buf(test, sizeof(*event));
	struct vt_pair pair = {};
	u8 reply[3] = { 2, 7, 8 };
	union vt_event answer;
	u8 data[5];

	serve(test, true);
	vt_client(test, &pair.a, &vt_default_kind);
	vt_fill(data, 5, 1);
	vt_connect(test, &pair.a, data, 5);
	/* InfiniBand delivers the whole field, iWARP what was sent */
	KUNIT_EXPECT_EQ(test, next_event(test, vt_of(test)->eq, FI_CONNREQ,
					 event), vt_is_iwarp(test) ? 6 : VT_REQ);
	KUNIT_EXPECT_EQ(test, event->data[0], 5);
	KUNIT_EXPECT_TRUE(test, vt_filled(event->data + 1, 5, 1));

	vt_end_open(test, &pair.b, event->cm.info, &vt_default_kind);
	vt_accept(test, &pair.b, reply, sizeof(reply));
	KUNIT_EXPECT_EQ(test, vt_event(test, pair.a.eq, FI_CONNECTED, &answer), 2);
	KUNIT_EXPECT_EQ(test, answer.cm.data[0], 7);
	KUNIT_EXPECT_EQ(test, answer.cm.data[1], 8);
}

static void more_than_the_field_holds_is_refused(struct kunit *test)
{
	struct vt_raw_event *event = vt_buf(test, sizeof(*event));
	u8 *data = vt_buf(test, 256);
	struct vt_pair pair = {};

	serve(test, true);
	vt_client(test, &pair.a, &vt_default_kind);
	set_raw(test, &pair.a.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_connect(pair.a.ep, &vt_of(test)->name, data, VT_REQ + 1), -EINVAL);
	vt_connect(test, &pair.a, data, VT_REQ);
	next_event(test, vt_of(test)->eq, FI_CONNREQ, event);
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, event->cm.info->handle,
					data, VT_REJ + 1), -EINVAL);
	vt_end_open(test, &pair.b, event->cm.info, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, data, VT_REP + 1), -EINVAL);
	vt_accept(test, &pair.b, data, VT_REP);
}

static void options_tell_which_it_is(struct kunit *test)
{
	struct vt_end client = {};
	size_t len = 1;
	int raw;

	serve(test, false);
	vt_client(test, &client, &vt_default_kind);
	check_opt(test, &client.ep->fid, 0, VT_CM_DATA);
	check_opt(test, &vt_of(test)->pep->fid, 0, VT_CM_DATA);
	set_raw(test, &client.ep->fid);
	check_opt(test, &client.ep->fid, 1, VT_REQ);
	KUNIT_EXPECT_EQ(test, fi_getopt(&client.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &raw,
					&len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(int));
}

static void it_is_too_late_once_there_is_a_connection(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 small = 1;
	int raw = 1;

	serve(test, false);
	KUNIT_EXPECT_EQ(test, fi_setopt(&vt_of(test)->pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW,
					&raw, sizeof(raw)), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_setopt(&vt_of(test)->pep->fid, FI_OPT_ENDPOINT, FI_OPT_TX_SIZE,
					&raw, sizeof(raw)), -ENOPROTOOPT);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &raw,
					sizeof(raw)), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_setopt(&pair.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &raw,
					sizeof(raw)), -FI_EOPBADSTATE);
	vt_pair_close(test, &pair);
	vt_client(test, &pair.a, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CM_DATA_RAW, &small, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &raw,
					sizeof(raw)), -ENOPROTOOPT);
}

static struct kunit_case vt_cmraw_cases[] = {
	KUNIT_CASE(all_of_the_field_arrives),
	KUNIT_CASE(a_reject_brings_its_data),
	KUNIT_CASE(a_raw_listener_sees_the_frame_of_others),
	KUNIT_CASE(more_than_the_field_holds_is_refused),
	KUNIT_CASE(options_tell_which_it_is),
	KUNIT_CASE(it_is_too_late_once_there_is_a_connection),
	{}
};

struct kunit_suite kofi_verbs_cmraw_suite = {
	.name		= "kofi_verbs_cmraw",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_cmraw_cases,
};
