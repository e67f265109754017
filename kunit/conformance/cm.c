// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: addresses, data of every length, rejection, the end from both sides,
 * many of them.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include "conformance.h"

static uint lengths;
module_param(lengths, uint, 0444);
MODULE_PARM_DESC(lengths, "how many lengths of connection data are tried between the limits, other ones each time (default: all)");

static size_t max_data(struct kunit *test, struct fid *fid)
{
	size_t value = 0, len = sizeof(value);

	KUNIT_ASSERT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT,
					FI_OPT_CM_DATA_SIZE, &value, &len), 0);
	KUNIT_ASSERT_LE(test, value, VT_EVENT_DATA);
	return value;
}

/*
 * A connection takes an emulated machine a tenth of a second, and each length goes the same way.
 * There the lengths at the limits are tried, and about as many others as the module is asked for.
 */
static bool is_tried(struct kunit *test, size_t n, size_t max)
{
	if (!lengths || n <= 2 || n + 2 >= max)
		return true;
	if (get_random_u32() % max >= lengths)
		return false;
	kunit_info(test, "%zu of %zu bytes\n", n, max);
	return true;
}

static struct fi_info *connreq_with(struct kunit *test, size_t n)
{
	union vt_event event;

	KUNIT_ASSERT_EQ(test, vt_event(test, vt_of(test)->eq, FI_CONNREQ, &event), n);
	KUNIT_ASSERT_TRUE(test, vt_filled(event.cm.data, n, n));
	return event.cm.info;
}

/* @n bytes go to the passive side, the rest of @max comes back */
static void exchange(struct kunit *test, size_t n, size_t max)
{
	u8 *data = vt_buf(test, max + 1);
	struct vt_pair pair = {};
	union vt_event event;
	struct fi_info *info;

	vt_client(test, &pair.a, &vt_default_kind);
	vt_fill(data, n, n);
	vt_connect(test, &pair.a, data, n);
	memset(data, 0, max);
	info = connreq_with(test, n);

	vt_end_open(test, &pair.b, info, &vt_default_kind);
	vt_fill(data, max - n, ~n);
	vt_accept(test, &pair.b, data, max - n);
	KUNIT_ASSERT_EQ(test, vt_event(test, pair.a.eq, FI_CONNECTED, &event), max - n);
	KUNIT_ASSERT_TRUE(test, vt_filled(event.cm.data, max - n, ~n));
	vt_pair_close(test, &pair);
	kunit_kfree(test, data);
}

/* Calls @try with each length up to the limit, or some of them */
static void try_lengths(struct kunit *test, void (*try)(struct kunit *test, size_t n, size_t max))
{
	size_t n, max;

	if (!conf_serve_msg(test))
		return;
	max = max_data(test, &vt_of(test)->pep->fid);
	for (n = 0; n <= max; n++)
		if (is_tried(test, n, max))
			try(test, n, max);
}

static void data_of_every_length_come_with_request_and_reply(struct kunit *test)
{
	try_lengths(test, exchange);
}

static void reject(struct kunit *test, size_t n, size_t max)
{
	u8 data[VT_EVENT_DATA], got[VT_EVENT_DATA];
	struct fi_eq_err_entry error = {
		.err_data	= got,
		.err_data_size	= sizeof(got),
	};
	struct vt_end end = {};
	struct fi_info *info;

	vt_client(test, &end, &vt_default_kind);
	vt_connect(test, &end, NULL, 0);
	info = connreq_with(test, 0);
	vt_fill(data, n, n);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, data, n), 0);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &end.ep->fid);
	KUNIT_ASSERT_EQ(test, error.err_data_size, n);
	KUNIT_EXPECT_LE(test, n, vt_of(test)->info->domain_attr->max_err_data);
	KUNIT_ASSERT_TRUE(test, vt_filled(got, n, n));
	vt_end_close(test, &end);
}

static void data_of_every_length_come_with_a_rejection(struct kunit *test)
{
	try_lengths(test, reject);
}

static void longer_data_are_refused_and_nothing_is_sent(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	struct fi_info *info;
	size_t max;
	u8 *data;

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &pair.a, &vt_default_kind);
	max = max_data(test, &pair.a.ep->fid);
	data = vt_buf(test, max + 1);

	KUNIT_EXPECT_EQ(test, fi_connect(pair.a.ep, &vt->name, data, max + 1), -EINVAL);
	vt_no_event(test, pair.a.eq);
	vt_connect(test, &pair.a, NULL, 0);
	info = connreq_with(test, 0);
	KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, info->handle, data, max + 1), -EINVAL);
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, data, max + 1), -EINVAL);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, NULL);
	vt_ping(test, &pair.a, &pair.b);
}

/* With one byte less than it needs, a name says how long it is, and writes nothing beyond */
static void expect_name(struct kunit *test, struct fid_ep *ep, struct fid *fid,
			struct sockaddr_storage *name)
{
	size_t want = vt_of(test)->info->src_addrlen, len = want - 1;

	memset(name, 0x5a, sizeof(*name));
	KUNIT_EXPECT_EQ(test, ep ? fi_getpeer(ep, name, &len) : fi_getname(fid, name, &len),
			-FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, want);
	KUNIT_EXPECT_EQ(test, ((u8 *)name)[want - 1], 0x5a);
	len = 0;
	KUNIT_EXPECT_EQ(test, ep ? fi_getpeer(ep, NULL, &len) : fi_getname(fid, NULL, &len),
			-FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, want);
	memset(name, 0, sizeof(*name));
	len = sizeof(*name);
	KUNIT_ASSERT_EQ(test, ep ? fi_getpeer(ep, name, &len) : fi_getname(fid, name, &len), 0);
	KUNIT_EXPECT_EQ(test, len, want);
}

static void both_ends_know_each_other_by_name(struct kunit *test)
{
	const struct sockaddr_storage *own;
	struct sockaddr_storage name;
	struct vt_pair pair = {};

	if (!conf_is_msg(test))
		return;
	conf_join(test, &pair);
	own = vt_of(test)->info->src_addr;
	expect_name(test, pair.a.ep, NULL, &name);
	KUNIT_EXPECT_MEMEQ(test, &name, &vt_of(test)->name, vt_of(test)->name_len);
	expect_name(test, pair.b.ep, NULL, &name);
	KUNIT_EXPECT_EQ(test, name.ss_family, own->ss_family);
	expect_name(test, NULL, &pair.a.ep->fid, &name);
	KUNIT_EXPECT_NE(test, ((struct sockaddr_in *)&name)->sin_port, 0);
	expect_name(test, NULL, &pair.b.ep->fid, &name);
	KUNIT_EXPECT_EQ(test, name.ss_family, own->ss_family);
	expect_name(test, NULL, &vt_of(test)->pep->fid, &name);
}

static void a_connect_without_address_goes_to_the_infos(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fi_info *info, *request;

	if (!conf_serve_msg(test))
		return;
	info = conf_ask(test);
	kfree(info->dest_addr);
	info->dest_addrlen = vt->name_len;
	info->dest_addr = kmemdup(&vt->name, vt->name_len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, info->dest_addr);
	vt_end_open(test, &client, info, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_connect(client.ep, NULL, NULL, 0), 0);

	/* The request is for the domain of the passive endpoint */
	request = vt_connreq(test, NULL);
	KUNIT_EXPECT_NOT_NULL(test, request->handle);
	KUNIT_EXPECT_STREQ(test, request->domain_attr->name, vt->info->domain_attr->name);
	KUNIT_EXPECT_STREQ(test, request->fabric_attr->prov_name, vt->info->fabric_attr->prov_name);
	KUNIT_EXPECT_EQ(test, request->addr_format, vt->info->addr_format);
	KUNIT_EXPECT_EQ(test, request->tx_attr->size, vt->info->tx_attr->size);
	KUNIT_EXPECT_NOT_NULL(test, request->src_addr);
	KUNIT_EXPECT_NOT_NULL(test, request->dest_addr);
}

static void an_end_that_is_shut_down_tells_the_other(struct kunit *test)
{
	struct vt_pair pair = {};
	union vt_event event;
	struct vt_end *ends[] = { &pair.a, &pair.b };
	u8 *buf = vt_buf(test, 8);
	int i, k;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < 2; i++) {
		vt_join(test, &pair, &vt_default_kind);
		vt_recv(test, ends[!i], buf, 8, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_shutdown(ends[i]->ep, 0), 0);
		vt_event(test, ends[!i]->eq, FI_SHUTDOWN, &event);
		KUNIT_EXPECT_PTR_EQ(test, event.cm.fid, &ends[!i]->ep->fid);
		KUNIT_EXPECT_EQ(test, vt_failed(test, ends[!i]->rx).err, ECANCELED);
		KUNIT_EXPECT_EQ(test, fi_send(ends[!i]->ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
		vt_event(test, ends[i]->eq, FI_SHUTDOWN, &event);
		for (k = 0; k < 2; k++) {
			KUNIT_EXPECT_EQ(test, fi_shutdown(ends[k]->ep, 0), 0);
			vt_no_event(test, ends[k]->eq);
		}
		vt_pair_close(test, &pair);
	}
}

static void an_end_that_is_closed_tells_the_other(struct kunit *test)
{
	struct vt_pair pair = {};
	union vt_event event;
	struct vt_end *ends[] = { &pair.a, &pair.b };
	int i;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < 2; i++) {
		vt_join(test, &pair, &vt_default_kind);
		vt_end_close(test, ends[i]);
		vt_event(test, ends[!i]->eq, FI_SHUTDOWN, &event);
		KUNIT_EXPECT_PTR_EQ(test, event.cm.fid, &ends[!i]->ep->fid);
		vt_end_close(test, ends[!i]);
	}
}

static void nobody_listens_is_an_error(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt *vt = vt_of(test);
	struct vt_end end = {};

	if (!conf_serve_msg(test))
		return;
	vt_close(test, &vt->pep->fid);
	vt_client(test, &end, &vt_default_kind);
	vt_connect(test, &end, NULL, 0);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &end.ep->fid);
}

static void connections_come_and_go_many_times(struct kunit *test)
{
	struct vt_pair pair = {};
	int i;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < 20; i++) {
		vt_join(test, &pair, &vt_default_kind);
		if (i % 10 == 0) {
			vt_ping(test, &pair.a, &pair.b);
			vt_ping(test, &pair.b, &pair.a);
			vt_no_event(test, pair.a.eq);
			vt_no_event(test, pair.b.eq);
		}
		vt_pair_close(test, &pair);
	}
	vt_no_event(test, vt_of(test)->eq);
}

static void requests_wait_until_they_are_answered(struct kunit *test)
{
	struct vt_end ends[4] = {};
	struct fi_info *infos[4] = {};
	struct fi_eq_err_entry error = {};
	size_t i;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		vt_client(test, &ends[i], &vt_default_kind);
		vt_connect(test, &ends[i], NULL, 0);
	}
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		infos[i] = connreq_with(test, 0);
	conf_says(test, &ends[0].ep->fid, "max_msg_size", vt_of(test)->info->ep_attr->max_msg_size);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, infos[i]->handle, NULL, 0), 0);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		vt_error(test, ends[i].eq, &error);
		KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	}
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, infos[0]->handle, NULL, 0), -EINVAL);
}

static bool is_refused(struct kunit *test, struct fid_eq *eq)
{
	struct fi_eq_err_entry error = {};
	union vt_event event;
	u32 got;

	if (fi_eq_read(eq, &got, &event, sizeof(event), 0) != -FI_EAVAIL)
		return false;
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(eq, &error, 0), (ssize_t)sizeof(error));
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	return true;
}

/* By the provider at once, or by the listener later */
static void requests_that_an_event_queue_has_no_room_for_are_refused(struct kunit *test)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	struct vt *vt = vt_of(test);
	struct vt_end ends[3] = {};
	union vt_event event;
	int i, refused = 0;
	u32 got;

	if (!conf_is_msg(test))
		return;
	vt_open_info(test, vt->info);
	vt_listen(test, vt_eq(test, 1));
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		vt_client(test, &ends[i], &vt_default_kind);
		vt_connect(test, &ends[i], NULL, 0);
	}
	while (refused < ARRAY_SIZE(ends) && time_before(jiffies, until)) {
		usleep_range(1000, 2000);
		for (i = 0; i < ARRAY_SIZE(ends); i++)
			refused += is_refused(test, ends[i].eq);
		if (fi_eq_read(vt->eq, &got, &event, sizeof(event), 0) <= 0)
			continue;
		KUNIT_ASSERT_EQ(test, got, FI_CONNREQ);
		vt_free_later(test, event.cm.info);
		KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, event.cm.info->handle, NULL, 0), 0);
	}
	KUNIT_EXPECT_EQ(test, refused, ARRAY_SIZE(ends));
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE_PARAM(data_of_every_length_come_with_request_and_reply, conf_gen_msg),
	KUNIT_CASE_PARAM(data_of_every_length_come_with_a_rejection, conf_gen_msg),
	KUNIT_CASE_PARAM(longer_data_are_refused_and_nothing_is_sent, conf_gen_msg),
	KUNIT_CASE_PARAM(both_ends_know_each_other_by_name, conf_gen_msg),
	KUNIT_CASE_PARAM(a_connect_without_address_goes_to_the_infos, conf_gen_msg),
	KUNIT_CASE_PARAM(an_end_that_is_shut_down_tells_the_other, conf_gen_msg),
	KUNIT_CASE_PARAM(an_end_that_is_closed_tells_the_other, conf_gen_msg),
	KUNIT_CASE_PARAM(nobody_listens_is_an_error, conf_gen_msg),
	KUNIT_CASE_PARAM(connections_come_and_go_many_times, conf_gen_msg),
	KUNIT_CASE_PARAM(requests_wait_until_they_are_answered, conf_gen_msg),
	KUNIT_CASE_PARAM(requests_that_an_event_queue_has_no_room_for_are_refused, conf_gen_msg),
	{}
};

struct kunit_suite conf_cm_suite = {
	.name		= "kofi_conformance_cm",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= cm_cases,
};
