// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The states of include/kofi/conn.h.
 *
 * Two events are embedded in the endpoint, as a connection begins once and ends once;
 * so reporting never needs memory.  All of this happens under the provider's lock;
 * kofi_eq_post() takes the lock of the event queue inside.
 */
#include <linux/module.h>
#include <kofi/conn.h>
#include <kofi/refuse.h>

void kofi_conn_init(struct kofi_conn *conn, struct fid *fid)
{
	*conn = (struct kofi_conn) { .state = KOFI_CONN_OPEN };
	kofi_event_init(&conn->connected, fid);
	kofi_event_init(&conn->ended, fid);
}
EXPORT_SYMBOL_GPL(kofi_conn_init);

const char *kofi_conn_state_name(const struct kofi_conn *conn)
{
	static const char *const states[] = {
		[KOFI_CONN_OPEN]	= "open",
		[KOFI_CONN_ENABLED]	= "enabled",
		[KOFI_CONN_CONNECTING]	= "connecting",
		[KOFI_CONN_CONNECTED]	= "connected",
		[KOFI_CONN_DOWN]	= "down",
		[KOFI_CONN_GONE]	= "gone",
	};

	return states[READ_ONCE(conn->state)];
}
EXPORT_SYMBOL_GPL(kofi_conn_state_name);

int kofi_conn_refuse(const char *call, const struct kofi_conn *conn, int err, const char *wanted)
{
	return kofi_refuse(call, err, "the endpoint is %s, and has to be %s",
			   kofi_conn_state_name(conn), wanted);
}
EXPORT_SYMBOL_GPL(kofi_conn_refuse);

int kofi_conn_may_enable(const struct kofi_conn *conn)
{
	switch (conn->state) {
	case KOFI_CONN_OPEN:
		return 0;
	case KOFI_CONN_DOWN:
		return kofi_refuse("enable", -ECONNABORTED,
				   "the peer of its connection request has gone");
	case KOFI_CONN_GONE:
		return -ENODEV;
	default:
		return kofi_conn_refuse("enable", conn, -FI_EOPBADSTATE, "open");
	}
}
EXPORT_SYMBOL_GPL(kofi_conn_may_enable);

int kofi_conn_may_start(const struct kofi_conn *conn, bool passive)
{
	const char *call = passive ? "accept" : "connect";

	switch (conn->state) {
	case KOFI_CONN_ENABLED:
		if (conn->passive == passive)
			return 0;
		return kofi_refuse(call, -FI_EOPBADSTATE, passive ?
				   "the endpoint was opened without the handle of a request" :
				   "the endpoint was opened for a request, and can only accept it");
	case KOFI_CONN_CONNECTING:
		return kofi_conn_refuse(call, conn, -EALREADY, "enabled");
	case KOFI_CONN_CONNECTED:
		return kofi_conn_refuse(call, conn, -EISCONN, "enabled");
	case KOFI_CONN_DOWN:
		if (passive)
			return kofi_refuse(call, -ECONNABORTED,
					   "the peer of the connection request has gone");
		return kofi_refuse(call, -ESHUTDOWN,
				   "the connection is over; a new one needs a new endpoint");
	case KOFI_CONN_GONE:
		return -ENODEV;
	default:
		return kofi_conn_refuse(call, conn, -FI_EOPBADSTATE, "enabled");
	}
}
EXPORT_SYMBOL_GPL(kofi_conn_may_start);

void kofi_conn_start(struct kofi_conn *conn, struct workqueue_struct *wq)
{
	kofi_conn_set_state(conn, KOFI_CONN_CONNECTING);
	if (!conn->timeout)
		return;
	conn->late_queued = true;
	queue_delayed_work(wq, &conn->late, msecs_to_jiffies(conn->timeout));
}
EXPORT_SYMBOL_GPL(kofi_conn_start);

/* If the work has begun to run already, it finds another state */
static void kofi_conn_stop_late(struct kofi_conn *conn)
{
	if (conn->late_queued)
		cancel_delayed_work(&conn->late);
}

static void kofi_conn_set_data(struct kofi_event *event, const void *data, size_t len)
{
	event->cm_data = data;
	event->cm_len = data ? len : 0;
}

static void kofi_conn_post(struct kofi_conn *conn, struct kofi_event *event)
{
	if (conn->eq && !conn->closing)
		kofi_eq_post(conn->eq, event);
}

void kofi_conn_establish(struct kofi_conn *conn, const void *data, size_t len)
{
	if (conn->state != KOFI_CONN_CONNECTING)
		return;
	kofi_conn_stop_late(conn);
	kofi_conn_set_state(conn, KOFI_CONN_CONNECTED);
	conn->connected.event = FI_CONNECTED;
	kofi_conn_set_data(&conn->connected, data, len);
	kofi_conn_post(conn, &conn->connected);
}
EXPORT_SYMBOL_GPL(kofi_conn_establish);

static void kofi_conn_report_end(struct kofi_conn *conn, int err)
{
	if (conn->reported)
		return;
	conn->reported = true;
	conn->ended.event = FI_SHUTDOWN;
	conn->ended.err = err;
	kofi_conn_post(conn, &conn->ended);
}

void kofi_conn_end(struct kofi_conn *conn, int err, int prov_errno,
		   const void *data, size_t len)
{
	bool stood = conn->state == KOFI_CONN_CONNECTED;

	if (conn->state >= KOFI_CONN_DOWN)
		return;
	kofi_conn_stop_late(conn);
	kofi_conn_set_state(conn, KOFI_CONN_DOWN);
	if (!stood) {
		conn->ended.prov_errno = prov_errno;
		kofi_conn_set_data(&conn->ended, data, len);
	}
	kofi_conn_report_end(conn, stood ? 0 : err);
}
EXPORT_SYMBOL_GPL(kofi_conn_end);

void kofi_conn_gone(struct kofi_conn *conn)
{
	kofi_conn_set_state(conn, KOFI_CONN_GONE);
	kofi_conn_report_end(conn, ENODEV);
}
EXPORT_SYMBOL_GPL(kofi_conn_gone);

void kofi_conn_close(struct kofi_conn *conn)
{
	conn->closing = true;
	if (conn->state != KOFI_CONN_GONE)
		kofi_conn_set_state(conn, KOFI_CONN_DOWN);
}
EXPORT_SYMBOL_GPL(kofi_conn_close);

void kofi_conn_cancel_late(struct kofi_conn *conn)
{
	if (conn->late_queued)
		cancel_delayed_work_sync(&conn->late);
}
EXPORT_SYMBOL_GPL(kofi_conn_cancel_late);

void kofi_conn_fini(struct kofi_conn *conn)
{
	kofi_conn_cancel_late(conn);
	if (!conn->eq)
		return;
	kofi_eq_withdraw(conn->eq, &conn->connected);
	kofi_eq_withdraw(conn->eq, &conn->ended);
}
EXPORT_SYMBOL_GPL(kofi_conn_fini);
