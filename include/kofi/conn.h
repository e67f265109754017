/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The states of an endpoint and of its connection, and the events of its client.
 *
 *	OPEN --enable--> ENABLED --connect, accept--> CONNECTING --> CONNECTED
 *	any --refused, shut down, broken--> DOWN
 *	any --the device or the namespace goes--> GONE
 *
 * DOWN leads to nothing but GONE.  The end is reported once: by FI_SHUTDOWN if the
 * connection stood; by an error if it did not, or if the device has gone.
 *
 * The provider has a lock under which it changes the state, and calls all functions
 * here but kofi_conn_check() with it held.  Events are queued and reported by another
 * task, so no client is called from here.
 */
#ifndef _KOFI_CONN_H
#define _KOFI_CONN_H

#include <linux/workqueue.h>
#include <kofi/eq.h>
#include <kofi/refuse.h>

/**
 * enum kofi_conn_state - State of an endpoint
 * @KOFI_CONN_OPEN: fi_enable() is to come
 * @KOFI_CONN_ENABLED: receives may be posted; to an endpoint without connections
 *	everything may
 * @KOFI_CONN_CONNECTING: fi_connect() or fi_accept() is under way
 * @KOFI_CONN_CONNECTED: sends may be posted
 * @KOFI_CONN_DOWN: the connection, or the attempt, is over
 * @KOFI_CONN_GONE: the device has gone
 */
enum kofi_conn_state {
	KOFI_CONN_OPEN,
	KOFI_CONN_ENABLED,
	KOFI_CONN_CONNECTING,
	KOFI_CONN_CONNECTED,
	KOFI_CONN_DOWN,
	KOFI_CONN_GONE,
};

/**
 * struct kofi_conn - The connection of an endpoint
 * @state: see &enum kofi_conn_state
 * @connless: the endpoint has no connections: ENABLED is as good as CONNECTED
 * @passive: the endpoint was opened from a connection request
 * @closing: no event is reported any more
 * @reported: the end has been reported
 * @eq: event queue, or NULL
 * @connected: FI_CONNECTED
 * @ended: FI_SHUTDOWN, or an error
 * @timeout: FI_OPT_CONNECT_TIMEOUT, milliseconds; 0: none
 * @late: the provider's work, which runs when @timeout has passed
 * @late_queued: @late has been queued once
 * @changed: called when the state has changed and its event is not queued yet; for
 *	providers whose data path looks at something else than @state; or NULL
 */
struct kofi_conn {
	enum kofi_conn_state	state;
	bool			connless;
	bool			passive;
	bool			closing;
	bool			reported;
	bool			late_queued;
	struct kofi_eq		*eq;
	struct kofi_event	connected;
	struct kofi_event	ended;
	unsigned int		timeout;
	struct delayed_work	late;
	void			(*changed)(struct kofi_conn *conn);
};

/**
 * kofi_conn_init() - Set the connection of a new endpoint up
 * @conn: the connection
 * @fid: of the endpoint
 *
 * Context: any.
 */
void kofi_conn_init(struct kofi_conn *conn, struct fid *fid);

/**
 * kofi_conn_set_late() - Let attempts to connect and to accept end after a time
 * @conn: a new connection
 * @late: function of @conn->late: takes the provider's lock, and ends an attempt that is
 *	still under way with ETIMEDOUT
 * @timeout: milliseconds, until the client says otherwise
 *
 * Context: any.
 */
static inline void kofi_conn_set_late(struct kofi_conn *conn, work_func_t late,
				      unsigned int timeout)
{
	INIT_DELAYED_WORK(&conn->late, late);
	conn->timeout = timeout;
}

/**
 * kofi_conn_state_name() - The state in one word
 * @conn: the connection
 *
 * Context: any.
 * Return: the word.
 */
const char *kofi_conn_state_name(const struct kofi_conn *conn);

/**
 * kofi_conn_refuse() - Refuse a call because of the state
 * @call: the call, see kofi/refuse.h
 * @conn: the connection
 * @err: negative errno
 * @wanted: the state that the call needs
 *
 * Context: any.
 * Return: @err.
 */
int kofi_conn_refuse(const char *call, const struct kofi_conn *conn, int err, const char *wanted);

/**
 * kofi_conn_check_data() - Refuse connection data that are too long
 * @call: the call, see kofi/refuse.h
 * @paramlen: bytes
 * @max: the most that there can be
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
static inline int kofi_conn_check_data(const char *call, size_t paramlen, size_t max)
{
	if (paramlen <= max)
		return 0;
	return kofi_refuse(call, -EINVAL, "paramlen is %zu; FI_OPT_CM_DATA_SIZE is %zu", paramlen,
			   max);
}

/**
 * kofi_conn_check() - May an operation be posted?
 * @conn: the connection
 * @send: the operation needs the peer
 *
 * When this returns 0, the caller sees all that was set up before the state was changed.
 *
 * Context: any, without the provider's lock.
 * Return: 0; -FI_EOPBADSTATE: not enabled; -ENOTCONN: not connected yet; -ESHUTDOWN;
 * -ENODEV.
 */
static inline int kofi_conn_check(const struct kofi_conn *conn, bool send)
{
	/* Pairs with kofi_conn_set_state() */
	switch (smp_load_acquire(&conn->state)) {
	case KOFI_CONN_CONNECTED:
		return 0;
	case KOFI_CONN_OPEN:
		return -FI_EOPBADSTATE;
	case KOFI_CONN_DOWN:
		return -ESHUTDOWN;
	case KOFI_CONN_GONE:
		return -ENODEV;
	case KOFI_CONN_ENABLED:
		if (conn->connless)
			return 0;
		fallthrough;
	default:
		return send ? -ENOTCONN : 0;
	}
}

/**
 * kofi_conn_set_state() - Change the state
 * @conn: the connection
 * @state: the state; all that it needs has been set up
 *
 * An operation that is posted after this has returned meets the new state.
 *
 * Context: any.
 */
static inline void kofi_conn_set_state(struct kofi_conn *conn,
				       enum kofi_conn_state state)
{
	/* Pairs with kofi_conn_check() */
	smp_store_release(&conn->state, state);
	if (conn->changed)
		conn->changed(conn);
}

/**
 * kofi_conn_may_enable() - May the endpoint be enabled?
 * @conn: the connection
 *
 * Context: any.
 * Return: 0; -FI_EOPBADSTATE: it is enabled already; -ECONNABORTED: the peer of its request
 * has gone; -ENODEV.
 */
int kofi_conn_may_enable(const struct kofi_conn *conn);

/**
 * kofi_conn_may_start() - May the endpoint begin to connect or to accept?
 * @conn: the connection
 * @passive: to accept
 *
 * Context: any.
 * Return: 0; -FI_EOPBADSTATE: not enabled, or @passive is not that of the connection;
 * -EALREADY: under way; -EISCONN; -ESHUTDOWN: it was connected; -ECONNABORTED: the peer of
 * its request has gone; -ENODEV.
 */
int kofi_conn_may_start(const struct kofi_conn *conn, bool passive);

/**
 * kofi_conn_start() - The endpoint begins to connect or to accept
 * @conn: the connection, for which kofi_conn_may_start() has answered 0
 * @wq: where @conn->late is to run
 *
 * Context: any.
 */
void kofi_conn_start(struct kofi_conn *conn, struct workqueue_struct *wq);

/**
 * kofi_conn_establish() - The connection stands
 * @conn: the connection; in any other state than CONNECTING nothing happens
 * @data: the peer's connection data, which stay until the endpoint is closed; or NULL
 * @len: bytes of @data
 *
 * Context: any.
 */
void kofi_conn_establish(struct kofi_conn *conn, const void *data, size_t len);

/**
 * kofi_conn_end() - The connection, or the attempt, is over
 * @conn: the connection; nothing happens if it is over already
 * @err: positive error code if it did not stand; 0: report FI_SHUTDOWN in any case
 * @prov_errno: provider's code of the error
 * @data: data of a refusal, which stay until the endpoint is closed; or NULL
 * @len: bytes of @data
 *
 * Context: any.
 */
void kofi_conn_end(struct kofi_conn *conn, int err, int prov_errno,
		   const void *data, size_t len);

/**
 * kofi_conn_gone() - The device has gone
 * @conn: the connection
 *
 * Context: any.
 */
void kofi_conn_gone(struct kofi_conn *conn);

/**
 * kofi_conn_close() - The endpoint is being closed
 * @conn: the connection; nothing is reported any more
 *
 * Context: any.
 */
void kofi_conn_close(struct kofi_conn *conn);

/**
 * kofi_conn_cancel_late() - End the timer of an attempt to connect, and wait for its work
 * @conn: a connection that has been closed, so nothing starts the timer again
 *
 * Context: may sleep, without the provider's lock.
 */
void kofi_conn_cancel_late(struct kofi_conn *conn);

/**
 * kofi_conn_fini() - Withdraw unread events from the event queue, and end the timer
 * @conn: a connection that has been closed
 *
 * Context: may sleep, without the provider's lock.
 */
void kofi_conn_fini(struct kofi_conn *conn);

#endif /* _KOFI_CONN_H */
