// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The states of a connection, include/kofi/conn.h: what may be called in each, and what
 * the client hears.
 */
#include <kofi/conn.h>
#include "util.h"

struct conn_test {
	struct kofi_conn	conn;
	struct fid		fid;
	struct fid_eq		*eq;
	int			changes;
	bool			told_before;
};

static void close_eq(void *eq)
{
	struct fid_eq *fid_eq = eq;

	fid_eq->fid.ops->close(&fid_eq->fid);
}

static struct conn_test *open_conn(struct kunit *test, enum kofi_conn_state state)
{
	struct conn_test *ct = vt_buf(test, sizeof(*ct));

	KUNIT_ASSERT_EQ(test, kofi_eq_open(NULL, NULL, &ct->eq, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_eq, ct->eq), 0);
	kofi_conn_init(&ct->conn, &ct->fid);
	ct->conn.eq = container_of(ct->eq, struct kofi_eq, eq);
	kofi_conn_set_state(&ct->conn, state);
	return ct;
}

/*
 * The next event, 0: there is none; or minus its error code.  Up to 16 bytes of data
 * that came with it go to @data, and @len is how many.
 */
static int next_event(struct conn_test *ct, char *data, size_t *len)
{
	struct fi_eq_err_entry error = {
		.err_data	= data,
		.err_data_size	= data ? 16 : 0,
	};
	u8 buf[sizeof(struct fi_eq_cm_entry) + 16];
	struct fi_eq_cm_entry *cm = (void *)buf;
	ssize_t ret;
	u32 event;

	ret = ct->eq->ops->read(ct->eq, &event, buf, sizeof(buf), 0);
	if (ret == -FI_EAVAIL) {
		ct->eq->ops->readerr(ct->eq, &error, 0);
		if (data)
			*len = error.err_data_size;
		return -error.err;
	}
	if (ret < 0)
		return 0;
	if (data) {
		*len = min_t(size_t, 16, ret - sizeof(*cm));
		memcpy(data, cm->data, *len);
	}
	return event;
}

static const struct state_case {
	const char		*name;
	enum kofi_conn_state	state;
	int			send;
	int			recv;
	int			connless;
	int			enable;
	int			connect;
	int			accept;
} state_cases[] = {
	{ "open", KOFI_CONN_OPEN, -FI_EOPBADSTATE, -FI_EOPBADSTATE,
	  -FI_EOPBADSTATE, 0, -FI_EOPBADSTATE, -FI_EOPBADSTATE },
	{ "enabled", KOFI_CONN_ENABLED, -ENOTCONN, 0, 0, -FI_EOPBADSTATE, 0, 0 },
	{ "connecting", KOFI_CONN_CONNECTING, -ENOTCONN, 0, -ENOTCONN,
	  -FI_EOPBADSTATE, -EALREADY, -EALREADY },
	{ "connected", KOFI_CONN_CONNECTED, 0, 0, 0, -FI_EOPBADSTATE, -EISCONN,
	  -EISCONN },
	{ "down", KOFI_CONN_DOWN, -ESHUTDOWN, -ESHUTDOWN, -ESHUTDOWN,
	  -ECONNABORTED, -ESHUTDOWN, -ECONNABORTED },
	{ "gone", KOFI_CONN_GONE, -ENODEV, -ENODEV, -ENODEV, -ENODEV, -ENODEV,
	  -ENODEV },
};

KUNIT_ARRAY_PARAM_DESC(state, state_cases, name);

static void each_state_allows_what_it_stands_for(struct kunit *test)
{
	const struct state_case *row = test->param_value;
	struct conn_test *ct = open_conn(test, row->state);
	struct kofi_conn *conn = &ct->conn;

	KUNIT_EXPECT_EQ(test, kofi_conn_check(conn, true), row->send);
	KUNIT_EXPECT_EQ(test, kofi_conn_check(conn, false), row->recv);
	KUNIT_EXPECT_EQ(test, kofi_conn_may_enable(conn), row->enable);
	KUNIT_EXPECT_EQ(test, kofi_conn_may_start(conn, false), row->connect);
	conn->passive = true;
	KUNIT_EXPECT_EQ(test, kofi_conn_may_start(conn, true), row->accept);
	conn->connless = true;
	KUNIT_EXPECT_EQ(test, kofi_conn_check(conn, true), row->connless);
}

static void an_endpoint_connects_or_accepts(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_ENABLED);

	KUNIT_EXPECT_EQ(test, kofi_conn_may_start(&ct->conn, true), -FI_EOPBADSTATE);
	ct->conn.passive = true;
	KUNIT_EXPECT_EQ(test, kofi_conn_may_start(&ct->conn, false), -FI_EOPBADSTATE);
}

static void establishing_reports_the_data_of_the_peer(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTING);
	size_t len;
	char data[16];

	kofi_conn_establish(&ct->conn, "hello", 5);

	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_CONNECTED);
	KUNIT_EXPECT_EQ(test, next_event(ct, data, &len), FI_CONNECTED);
	KUNIT_EXPECT_EQ(test, len, 5);
	KUNIT_EXPECT_EQ(test, memcmp(data, "hello", 5), 0);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void told_of_change(struct kofi_conn *conn)
{
	struct conn_test *ct = container_of(conn, struct conn_test, conn);

	ct->changes++;
	ct->told_before |= next_event(ct, NULL, NULL) != 0;
}

/* Who has read the event meets the state in the data path */
static void a_provider_hears_of_a_state_before_the_client(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTING);

	ct->conn.changed = told_of_change;
	kofi_conn_establish(&ct->conn, NULL, 0);
	KUNIT_EXPECT_EQ(test, ct->changes, 1);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), FI_CONNECTED);
	kofi_conn_end(&ct->conn, 0, 0, NULL, 0);
	KUNIT_EXPECT_EQ(test, ct->changes, 2);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), FI_SHUTDOWN);
	kofi_conn_gone(&ct->conn);
	KUNIT_EXPECT_EQ(test, ct->changes, 3);
	KUNIT_EXPECT_FALSE(test, ct->told_before);
}

static void only_what_connects_is_established(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_DOWN);

	kofi_conn_establish(&ct->conn, NULL, 0);

	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_DOWN);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void the_end_of_a_connection_is_a_shutdown_once(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTED);

	kofi_conn_end(&ct->conn, ECONNREFUSED, 0, NULL, 0);
	kofi_conn_end(&ct->conn, ECONNREFUSED, 0, NULL, 0);

	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_DOWN);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), FI_SHUTDOWN);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void the_end_of_an_attempt_is_an_error_with_data(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTING);
	size_t len;
	char data[16];

	kofi_conn_end(&ct->conn, ECONNREFUSED, 3, "no", 2);

	KUNIT_EXPECT_EQ(test, ct->conn.ended.prov_errno, 3);
	KUNIT_EXPECT_EQ(test, next_event(ct, data, &len), -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, len, 2);
	KUNIT_EXPECT_EQ(test, memcmp(data, "no", 2), 0);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void a_device_that_goes_is_an_error_once(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTED);

	kofi_conn_gone(&ct->conn);
	kofi_conn_end(&ct->conn, ETIMEDOUT, 0, NULL, 0);

	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_GONE);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void a_device_that_goes_after_the_end_is_not_reported(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTED);

	kofi_conn_end(&ct->conn, 0, 0, NULL, 0);
	kofi_conn_gone(&ct->conn);

	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_GONE);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), FI_SHUTDOWN);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void a_closing_endpoint_reports_nothing(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTED);

	kofi_conn_close(&ct->conn);
	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_DOWN);
	kofi_conn_gone(&ct->conn);

	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_GONE);
	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
	kofi_conn_close(&ct->conn);
	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_GONE);
}

static void the_last_step_takes_unread_events_back(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTING);

	kofi_conn_establish(&ct->conn, NULL, 0);
	kofi_conn_end(&ct->conn, 0, 0, NULL, 0);
	kofi_conn_close(&ct->conn);
	kofi_conn_fini(&ct->conn);

	KUNIT_EXPECT_EQ(test, next_event(ct, NULL, NULL), 0);
}

static void an_endpoint_without_a_queue_has_states(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_CONNECTING);

	ct->conn.eq = NULL;
	kofi_conn_establish(&ct->conn, NULL, 0);
	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_CONNECTED);
	kofi_conn_end(&ct->conn, 0, 0, NULL, 0);
	KUNIT_EXPECT_EQ(test, ct->conn.state, KOFI_CONN_DOWN);
	kofi_conn_fini(&ct->conn);
}

static void late(struct work_struct *work)
{
}

static void the_timer_runs_while_an_attempt_does(struct kunit *test)
{
	struct conn_test *ct = open_conn(test, KOFI_CONN_ENABLED);

	kofi_conn_set_late(&ct->conn, late, 60000);
	kofi_conn_start(&ct->conn, system_wq);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&ct->conn.late));
	kofi_conn_establish(&ct->conn, NULL, 0);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ct->conn.late));

	kofi_conn_start(&ct->conn, system_wq);
	kofi_conn_end(&ct->conn, ECONNREFUSED, 0, NULL, 0);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ct->conn.late));

	kofi_conn_start(&ct->conn, system_wq);
	kofi_conn_fini(&ct->conn);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ct->conn.late));
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE_PARAM(each_state_allows_what_it_stands_for, state_gen_params),
	KUNIT_CASE(an_endpoint_connects_or_accepts),
	KUNIT_CASE(establishing_reports_the_data_of_the_peer),
	KUNIT_CASE(a_provider_hears_of_a_state_before_the_client),
	KUNIT_CASE(only_what_connects_is_established),
	KUNIT_CASE(the_end_of_a_connection_is_a_shutdown_once),
	KUNIT_CASE(the_end_of_an_attempt_is_an_error_with_data),
	KUNIT_CASE(a_device_that_goes_is_an_error_once),
	KUNIT_CASE(a_device_that_goes_after_the_end_is_not_reported),
	KUNIT_CASE(a_closing_endpoint_reports_nothing),
	KUNIT_CASE(the_last_step_takes_unread_events_back),
	KUNIT_CASE(an_endpoint_without_a_queue_has_states),
	KUNIT_CASE(the_timer_runs_while_an_attempt_does),
	{}
};

static struct kunit_suite conn_suite = {
	.name		= "kofi_util_conn",
	.test_cases	= conn_cases,
};

kunit_test_suite(conn_suite);
