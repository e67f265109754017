// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The event queue that providers share (include/kofi/eq.h): what a provider
 * posts and what a client reads.  Waiting is in core_test_eq_wait.c.
 */
#include <kofi/eq.h>
#include <kofi/stat.h>
#include "core.h"

struct eq_test {
	struct core_set		set;
	struct fid_eq		*eq;
	struct kofi_event	events[4];
	int			released;
};

static struct eq_test *open_eq(struct kunit *test, struct fi_eq_attr *attr)
{
	struct eq_test *et = vt_buf(test, sizeof(*et));
	int i;

	core_open_parents(test, &et->set, core_mock(test, "mock", 1), MOCK_EQ);
	KUNIT_ASSERT_EQ(test, fi_eq_open(core_fabric(&et->set), attr, &et->eq, et), 0);
	core_adopt(test, &et->eq->fid);
	for (i = 0; i < ARRAY_SIZE(et->events); i++)
		kofi_event_init(&et->events[i], et->set.fid[MOCK_FABRIC]);
	return et;
}

static int post(struct eq_test *et, int i, u32 type)
{
	et->events[i].event = type;
	return kofi_eq_post(core_kofi_eq(et->eq), &et->events[i]);
}

static int post_error(struct eq_test *et, int i, int err)
{
	et->events[i].err = err;
	et->events[i].prov_errno = 1000 + err;
	return kofi_eq_post(core_kofi_eq(et->eq), &et->events[i]);
}

union event_buf {
	struct fi_eq_cm_entry	cm;
	struct fi_eq_entry	entry;
	u8			bytes[sizeof(struct fi_eq_cm_entry) + 64];
};

/* The number of the event that is next, or an error */
static long next(struct eq_test *et, u64 flags)
{
	union event_buf buf;
	u32 event = 9999;
	ssize_t ret;

	ret = fi_eq_read(et->eq, &event, &buf, sizeof(buf), flags);
	return ret < 0 ? ret : event;
}

static void empty_queue_gives_eagain(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_EXPECT_EQ(test, next(et, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, next(et, FI_PEEK), -EAGAIN);
}

static void events_come_in_order(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_ASSERT_EQ(test, post(et, 1, FI_SHUTDOWN), 0);
	KUNIT_ASSERT_EQ(test, post(et, 2, FI_CONNREQ), 0);

	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_SHUTDOWN);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNREQ);
	KUNIT_EXPECT_EQ(test, next(et, 0), -EAGAIN);
}

static void event_carries_object_and_data(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);
	struct fi_eq_entry entry = {};
	u32 event;

	et->set.fid[MOCK_FABRIC]->context = et;
	et->events[0].data = 0x1122334455667788ULL;
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_MR_COMPLETE), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &entry, sizeof(entry),
					 0), (ssize_t)sizeof(entry));
	KUNIT_EXPECT_EQ(test, event, FI_MR_COMPLETE);
	KUNIT_EXPECT_PTR_EQ(test, entry.fid, et->set.fid[MOCK_FABRIC]);
	KUNIT_EXPECT_PTR_EQ(test, entry.context, (void *)et);
	KUNIT_EXPECT_EQ(test, entry.data, 0x1122334455667788ULL);
}

static void peek_leaves_the_event(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);

	KUNIT_EXPECT_EQ(test, next(et, FI_PEEK), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, next(et, 0), -EAGAIN);
}

static void unknown_flag_is_refused(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);

	KUNIT_EXPECT_EQ(test, next(et, FI_MORE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
}

static void small_buffer_leaves_the_event(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);
	union event_buf buf;
	u32 event;

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_ASSERT_EQ(test, post(et, 1, FI_MR_COMPLETE), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &buf, sizeof(struct fi_eq_cm_entry) - 1,
					 0), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &buf, sizeof(struct fi_eq_entry) - 1, 0),
			-FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_MR_COMPLETE);
}

static void connection_data_is_copied(struct kunit *test)
{
	static const u8 data[] = "private";
	struct eq_test *et = open_eq(test, NULL);
	union event_buf buf;
	u32 event;

	et->events[0].cm_data = data;
	et->events[0].cm_len = sizeof(data);
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &buf, sizeof(buf), 0),
			(ssize_t)(sizeof(buf.cm) + sizeof(data)));
	KUNIT_EXPECT_MEMEQ(test, buf.cm.data, data, sizeof(data));
}

static void connection_data_is_cut_to_the_buffer(struct kunit *test)
{
	static const u8 data[] = "private";
	struct eq_test *et = open_eq(test, NULL);
	size_t room = sizeof(struct fi_eq_cm_entry) + 3;
	union event_buf buf;
	u32 event;

	memset(&buf, 0xee, sizeof(buf));
	et->events[0].cm_data = data;
	et->events[0].cm_len = sizeof(data);
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNREQ), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &buf, room, 0), (ssize_t)room);
	KUNIT_EXPECT_MEMEQ(test, buf.cm.data, data, 3);
	KUNIT_EXPECT_EQ(test, buf.bytes[room], 0xee);
}

static void request_passes_its_info_to_the_reader(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);
	struct fi_info *info = core_hints(test);
	union event_buf buf;
	u32 event;

	et->events[0].info = info;
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNREQ), 0);

	KUNIT_ASSERT_GT(test, fi_eq_read(et->eq, &event, &buf, sizeof(buf), 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, buf.cm.info, info);
	KUNIT_EXPECT_NULL(test, et->events[0].info);
}

static void peek_at_a_request_shows_no_info(struct kunit *test)
{
	static const u8 data[] = "private";
	struct eq_test *et = open_eq(test, NULL);
	struct fi_info *info = core_hints(test);
	union event_buf buf;
	u32 event;

	et->events[0].info = info;
	et->events[0].cm_data = data;
	et->events[0].cm_len = sizeof(data);
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNREQ), 0);

	KUNIT_ASSERT_EQ(test, fi_eq_read(et->eq, &event, &buf, sizeof(buf), FI_PEEK),
			(ssize_t)(sizeof(buf.cm) + sizeof(data)));
	KUNIT_EXPECT_NULL(test, buf.cm.info);
	KUNIT_EXPECT_MEMEQ(test, buf.cm.data, data, sizeof(data));
	KUNIT_ASSERT_GT(test, fi_eq_read(et->eq, &event, &buf, sizeof(buf), 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, buf.cm.info, info);
}

static void error_stops_the_reader(struct kunit *test)
{
	struct fi_eq_err_entry entry = {};
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_ASSERT_EQ(test, post_error(et, 1, ECONNREFUSED), 0);
	KUNIT_ASSERT_EQ(test, post(et, 2, FI_SHUTDOWN), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_readerr(et->eq, &entry, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(et->eq, &entry, FI_PEEK), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, next(et, 0), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, next(et, FI_PEEK), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(et->eq, &entry, 0), (ssize_t)sizeof(entry));
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_SHUTDOWN);
}

static void error_says_what_and_whom(struct kunit *test)
{
	struct fi_eq_err_entry entry = {};
	struct eq_test *et = open_eq(test, NULL);

	et->set.fid[MOCK_FABRIC]->context = et;
	et->events[0].data = 77;
	KUNIT_ASSERT_EQ(test, post_error(et, 0, ECONNREFUSED), 0);

	KUNIT_ASSERT_GT(test, fi_eq_readerr(et->eq, &entry, 0), 0);
	KUNIT_EXPECT_EQ(test, entry.err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, entry.prov_errno, 1000 + ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, entry.data, 77ULL);
	KUNIT_EXPECT_PTR_EQ(test, entry.fid, et->set.fid[MOCK_FABRIC]);
	KUNIT_EXPECT_PTR_EQ(test, entry.context, et->set.fid[MOCK_FABRIC]->context);
	KUNIT_EXPECT_EQ(test, entry.err_data_size, 0);
}

static void error_without_a_providers_code_has_its_own(struct kunit *test)
{
	struct fi_eq_err_entry entry = {};
	struct eq_test *et = open_eq(test, NULL);

	et->events[0].err = ECONNREFUSED;
	KUNIT_ASSERT_EQ(test, kofi_eq_post(core_kofi_eq(et->eq), &et->events[0]), 0);

	KUNIT_ASSERT_GT(test, fi_eq_readerr(et->eq, &entry, 0), 0);
	KUNIT_EXPECT_EQ(test, entry.err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, entry.prov_errno, ECONNREFUSED);
}

static void error_data_is_cut_to_the_clients_buffer(struct kunit *test)
{
	static const u8 data[] = "rejected";
	struct eq_test *et = open_eq(test, NULL);
	u8 buf[] = "----";
	struct fi_eq_err_entry entry = { .err_data = buf, .err_data_size = 3 };

	et->events[0].cm_data = data;
	et->events[0].cm_len = sizeof(data);
	KUNIT_ASSERT_EQ(test, post_error(et, 0, ECONNREFUSED), 0);

	KUNIT_ASSERT_GT(test, fi_eq_readerr(et->eq, &entry, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, entry.err_data, (void *)buf);
	KUNIT_EXPECT_EQ(test, entry.err_data_size, 3);
	KUNIT_EXPECT_MEMEQ(test, buf, "rej-", 4);
}

static void error_data_without_a_buffer_outlives_its_event(struct kunit *test)
{
	struct fi_eq_err_entry entry = {};
	struct eq_test *et = open_eq(test, NULL);
	u8 data[] = "rejected";

	et->events[0].cm_data = data;
	et->events[0].cm_len = sizeof(data);
	KUNIT_ASSERT_EQ(test, post_error(et, 0, ECONNREFUSED), 0);
	KUNIT_ASSERT_GT(test, fi_eq_readerr(et->eq, &entry, 0), 0);
	memset(data, 0, sizeof(data));

	KUNIT_ASSERT_EQ(test, entry.err_data_size, sizeof(data));
	KUNIT_EXPECT_MEMEQ(test, entry.err_data, "rejected", sizeof(data));
}

static void queued_event_is_not_queued_twice(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);

	KUNIT_EXPECT_EQ(test, post(et, 0, FI_CONNECTED), -EALREADY);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, next(et, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, post(et, 0, FI_SHUTDOWN), 0);
}

static void withdrawn_event_is_not_read(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);
	struct kofi_eq *keq = core_kofi_eq(et->eq);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_ASSERT_EQ(test, post(et, 1, FI_SHUTDOWN), 0);

	KUNIT_EXPECT_TRUE(test, kofi_eq_withdraw(keq, &et->events[0]));
	KUNIT_EXPECT_FALSE(test, kofi_eq_withdraw(keq, &et->events[0]));
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_SHUTDOWN);
	KUNIT_EXPECT_FALSE(test, kofi_eq_withdraw(keq, &et->events[1]));
}

static void requests_beyond_the_size_are_refused(struct kunit *test)
{
	struct fi_eq_attr attr = { .size = 2 };
	struct eq_test *et = open_eq(test, &attr);

	KUNIT_EXPECT_EQ(test, post(et, 0, FI_CONNREQ), 0);
	KUNIT_EXPECT_EQ(test, post(et, 1, FI_CONNREQ), 0);
	KUNIT_EXPECT_EQ(test, post(et, 2, FI_CONNREQ), -ENOSPC);

	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNREQ);
	KUNIT_EXPECT_EQ(test, post(et, 2, FI_CONNREQ), 0);
}

static void withdrawn_request_makes_room(struct kunit *test)
{
	struct fi_eq_attr attr = { .size = 1 };
	struct eq_test *et = open_eq(test, &attr);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNREQ), 0);
	KUNIT_ASSERT_TRUE(test, kofi_eq_withdraw(core_kofi_eq(et->eq), &et->events[0]));

	KUNIT_EXPECT_EQ(test, post(et, 1, FI_CONNREQ), 0);
}

static void events_of_endpoints_always_have_room(struct kunit *test)
{
	struct fi_eq_attr attr = { .size = 1 };
	struct eq_test *et = open_eq(test, &attr);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNREQ), 0);

	KUNIT_EXPECT_EQ(test, post(et, 1, FI_CONNECTED), 0);
	KUNIT_EXPECT_EQ(test, post(et, 2, FI_SHUTDOWN), 0);
	KUNIT_EXPECT_EQ(test, post_error(et, 3, ECONNRESET), 0);
}

static void the_close_leaves_no_event_in_the_queue(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &et->eq->fid), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&et->events[0].entry));
}

static void map_nothing(struct kofi_eq_tap *tap, struct kofi_eq_seen *seen)
{
}

static void the_last_tap_is_followed_by_none(struct kunit *test)
{
	struct kofi_eq_tap *tap = vt_buf(test, sizeof(*tap));
	struct eq_test *et = open_eq(test, NULL);

	*tap = (struct kofi_eq_tap) { .map = map_nothing, .next = ERR_PTR(-EFAULT) };
	kofi_eq_add_tap(core_kofi_eq(et->eq), tap);
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_NULL(test, tap->next);
}

static struct eq_test *releasing;

static void count_release(struct kofi_event *event)
{
	releasing->released++;
}

static struct eq_test *open_releasing(struct kunit *test, struct fi_eq_attr *attr)
{
	int i;

	releasing = open_eq(test, attr);
	for (i = 0; i < ARRAY_SIZE(releasing->events); i++)
		releasing->events[i].release = count_release;
	return releasing;
}

static void read_event_is_released(struct kunit *test)
{
	struct eq_test *et = open_releasing(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);

	KUNIT_EXPECT_EQ(test, next(et, FI_PEEK), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, et->released, 0);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, et->released, 1);
}

static void read_error_is_released(struct kunit *test)
{
	struct eq_test *et = open_releasing(test, NULL);
	struct fi_eq_err_entry entry = {};

	KUNIT_ASSERT_EQ(test, post_error(et, 0, EIO), 0);

	KUNIT_ASSERT_GT(test, fi_eq_readerr(et->eq, &entry, 0), 0);
	KUNIT_EXPECT_EQ(test, et->released, 1);
}

static void withdrawn_event_is_not_released(struct kunit *test)
{
	struct eq_test *et = open_releasing(test, NULL);

	KUNIT_ASSERT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	kofi_eq_withdraw(core_kofi_eq(et->eq), &et->events[0]);

	KUNIT_EXPECT_EQ(test, et->released, 0);
}

static void event_with_a_release_function_is_read_like_any_other(struct kunit *test)
{
	struct eq_test *et = open_releasing(test, NULL);
	struct fi_eq_entry entry = {};
	u32 event;

	et->events[0].data = 42;
	KUNIT_ASSERT_EQ(test, post(et, 0, FI_MR_COMPLETE), 0);

	KUNIT_ASSERT_GT(test, fi_eq_read(et->eq, &event, &entry, sizeof(entry), 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, entry.fid, et->set.fid[MOCK_FABRIC]);
	KUNIT_EXPECT_EQ(test, entry.data, 42ULL);
}

static void event_with_a_release_function_always_has_room(struct kunit *test)
{
	struct fi_eq_attr attr = { .size = 1 };
	struct eq_test *et = open_releasing(test, &attr);

	KUNIT_EXPECT_EQ(test, post(et, 0, FI_CONNECTED), 0);
	KUNIT_EXPECT_EQ(test, post(et, 1, FI_SHUTDOWN), 0);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, next(et, 0), FI_SHUTDOWN);
}

static void written_event_is_read_back(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE };
	struct eq_test *et = open_eq(test, &attr);
	struct fi_eq_entry in = { .fid = &et->eq->fid, .context = &attr,
				  .data = 5 }, out = {};
	u32 event = 0;

	KUNIT_ASSERT_EQ(test, fi_eq_write(et->eq, FI_NOTIFY + 100, &in, sizeof(in), 0),
			(ssize_t)sizeof(in));

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &out, sizeof(out), 0),
			(ssize_t)sizeof(out));
	KUNIT_EXPECT_EQ(test, event, FI_NOTIFY + 100);
	KUNIT_EXPECT_MEMEQ(test, &in, &out, sizeof(in));
}

static void written_event_may_have_any_number(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE };
	struct eq_test *et = open_eq(test, &attr);
	struct fi_eq_entry in = { .context = &attr, .data = 5 }, out = {};
	u32 event = 0;

	KUNIT_ASSERT_GT(test, fi_eq_write(et->eq, FI_CONNECTED, &in, sizeof(in), 0), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &out, sizeof(out), 0),
			(ssize_t)sizeof(out));
	KUNIT_EXPECT_EQ(test, event, FI_CONNECTED);
	KUNIT_EXPECT_MEMEQ(test, &in, &out, sizeof(in));
}

static void fid_of_a_written_event_is_not_followed(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE };
	struct eq_test *et = open_eq(test, &attr);
	struct fi_eq_entry in = { .fid = (struct fid *)0x1000, .context = &attr, .data = 5 };
	struct fi_eq_entry out = {};
	u32 event = 0;

	KUNIT_ASSERT_GT(test, fi_eq_write(et->eq, FI_NOTIFY, &in, sizeof(in), 0), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &out, sizeof(out), FI_PEEK),
			(ssize_t)sizeof(out));
	KUNIT_EXPECT_EQ(test, fi_eq_read(et->eq, &event, &out, sizeof(out), 0),
			(ssize_t)sizeof(out));
	KUNIT_EXPECT_MEMEQ(test, &in, &out, sizeof(in));
}

static void writing_is_refused_unless_asked_for(struct kunit *test)
{
	struct eq_test *et = open_eq(test, NULL);
	struct fi_eq_entry entry = {};

	KUNIT_EXPECT_EQ(test, fi_eq_write(et->eq, FI_NOTIFY, &entry, sizeof(entry), 0), -ENOSYS);
}

static void bad_write_is_refused(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE };
	struct eq_test *et = open_eq(test, &attr);
	struct fi_eq_entry entry = {};

	KUNIT_EXPECT_EQ(test, fi_eq_write(et->eq, FI_NOTIFY, &entry,
					  sizeof(entry) - 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_write(et->eq, FI_NOTIFY, &entry, sizeof(entry), BIT(0)),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, next(et, 0), -EAGAIN);
}

static void writing_to_a_full_queue_gives_eagain(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE, .size = 1 };
	struct eq_test *et = open_eq(test, &attr);
	struct fi_eq_entry entry = {};

	KUNIT_ASSERT_GT(test, fi_eq_write(et->eq, FI_NOTIFY, &entry, sizeof(entry), 0), 0);
	KUNIT_EXPECT_EQ(test, fi_eq_write(et->eq, FI_NOTIFY, &entry, sizeof(entry), 0), -EAGAIN);

	KUNIT_EXPECT_EQ(test, next(et, 0), FI_NOTIFY);
	KUNIT_EXPECT_GT(test, fi_eq_write(et->eq, FI_NOTIFY, &entry, sizeof(entry), 0), 0);
	/* The last one is left to fi_close(); kmemleak would find it */
}

static void queue_says_how_much_it_holds(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE, .size = 3 };
	struct eq_test *et = open_eq(test, &attr);
	enum fi_wait_obj wait_obj = FI_WAIT_CALLBACK;
	struct fi_eq_entry entry = {};
	struct kofi_stat stat = {};

	KUNIT_EXPECT_EQ(test, fi_control(&et->eq->fid, FI_GETWAITOBJ, &wait_obj), 0);
	KUNIT_EXPECT_EQ(test, wait_obj, FI_WAIT_NONE);
	KUNIT_ASSERT_GT(test, fi_eq_write(et->eq, FI_NOTIFY, &entry, sizeof(entry), 0), 0);
	KUNIT_EXPECT_EQ(test, et->eq->fid.ops->control(&et->eq->fid, KOFI_GETSTAT, &stat), 0);
	KUNIT_ASSERT_EQ(test, stat.count, 2);
	KUNIT_EXPECT_EQ(test, stat.values[0].value, 3);
	KUNIT_EXPECT_EQ(test, stat.values[1].value, 1);
}

static const struct attr_case {
	const char		*what;
	struct fi_eq_attr	attr;
	int			err;
} attr_cases[] = {
	{ "polled", { .wait_obj = FI_WAIT_NONE } },
	{ "slept on", { .wait_obj = FI_WAIT_UNSPEC } },
	{ "callback without a handler", { .wait_obj = FI_WAIT_CALLBACK },
	  -EINVAL },
	{ "handler without callback", { .handler = (void *)open_eq },
	  -EINVAL },
	{ "file descriptor", { .wait_obj = FI_WAIT_FD }, -ENOSYS },
	{ "no such wait object", { .wait_obj = 99 }, -ENOSYS },
	{ "unknown flag", { .flags = FI_MORE }, -FI_EBADFLAGS },
	{ "absurd size", { .size = SIZE_MAX }, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(attr, attr_cases, what);

static void attributes_are_checked(struct kunit *test)
{
	const struct attr_case *row = test->param_value;
	struct fi_eq_attr attr = row->attr;
	struct core_set set;
	struct fid_eq *eq;

	core_open_parents(test, &set, core_mock(test, "mock", 1), MOCK_EQ);

	KUNIT_EXPECT_EQ(test, fi_eq_open(core_fabric(&set), &attr, &eq, NULL), row->err);

	KUNIT_EXPECT_EQ(test, atomic_read(&set.mock->live[MOCK_EQ]), !row->err);
	if (!row->err)
		fi_close(&eq->fid);
}

static const char *text_of(int prov_errno)
{
	return "all at sea";
}

static void text_of_an_error_is_the_providers(struct kunit *test)
{
	struct fid_eq *eq;
	char buf[4];

	KUNIT_ASSERT_EQ(test, kofi_eq_open(NULL, text_of, &eq, NULL), 0);

	KUNIT_EXPECT_STREQ(test, fi_eq_strerror(eq, 1, NULL, buf, sizeof(buf)),
			   "all at sea");
	KUNIT_EXPECT_STREQ(test, buf, "all");
	KUNIT_EXPECT_STREQ(test, fi_eq_strerror(eq, 1, NULL, NULL, 0),
			   "all at sea");
	eq->fid.ops->close(&eq->fid);
}

static void event_without_any_text_function_has_text(struct kunit *test)
{
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, kofi_eq_open(NULL, NULL, &eq, NULL), 0);

	KUNIT_EXPECT_NOT_NULL(test, fi_eq_strerror(eq, 1, NULL, NULL, 0));
	eq->fid.ops->close(&eq->fid);
}

static struct kunit_case eq_cases[] = {
	KUNIT_CASE(empty_queue_gives_eagain),
	KUNIT_CASE(events_come_in_order),
	KUNIT_CASE(event_carries_object_and_data),
	KUNIT_CASE(peek_leaves_the_event),
	KUNIT_CASE(unknown_flag_is_refused),
	KUNIT_CASE(small_buffer_leaves_the_event),
	KUNIT_CASE(connection_data_is_copied),
	KUNIT_CASE(connection_data_is_cut_to_the_buffer),
	KUNIT_CASE(request_passes_its_info_to_the_reader),
	KUNIT_CASE(peek_at_a_request_shows_no_info),
	KUNIT_CASE(error_stops_the_reader),
	KUNIT_CASE(error_says_what_and_whom),
	KUNIT_CASE(error_without_a_providers_code_has_its_own),
	KUNIT_CASE(error_data_is_cut_to_the_clients_buffer),
	KUNIT_CASE(error_data_without_a_buffer_outlives_its_event),
	KUNIT_CASE(queued_event_is_not_queued_twice),
	KUNIT_CASE(withdrawn_event_is_not_read),
	KUNIT_CASE(requests_beyond_the_size_are_refused),
	KUNIT_CASE(withdrawn_request_makes_room),
	KUNIT_CASE(events_of_endpoints_always_have_room),
	KUNIT_CASE(the_close_leaves_no_event_in_the_queue),
	KUNIT_CASE(the_last_tap_is_followed_by_none),
	KUNIT_CASE(read_event_is_released),
	KUNIT_CASE(read_error_is_released),
	KUNIT_CASE(withdrawn_event_is_not_released),
	KUNIT_CASE(event_with_a_release_function_is_read_like_any_other),
	KUNIT_CASE(event_with_a_release_function_always_has_room),
	KUNIT_CASE(written_event_is_read_back),
	KUNIT_CASE(written_event_may_have_any_number),
	KUNIT_CASE(fid_of_a_written_event_is_not_followed),
	KUNIT_CASE(writing_is_refused_unless_asked_for),
	KUNIT_CASE(bad_write_is_refused),
	KUNIT_CASE(writing_to_a_full_queue_gives_eagain),
	KUNIT_CASE(queue_says_how_much_it_holds),
	KUNIT_CASE_PARAM(attributes_are_checked, attr_gen_params),
	KUNIT_CASE(text_of_an_error_is_the_providers),
	KUNIT_CASE(event_without_any_text_function_has_text),
	{}
};

struct kunit_suite kofi_eq_suite = {
	.name = "kofi_eq",
	.init = core_init,
	.exit = core_exit,
	.test_cases = eq_cases,
};
