// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The iWARP connection manager's side of the fake HCA.
 *
 * A connection has an active and a passive end, both on this device:
 *
 *	REQUESTED	the listener has been told; accept or reject is to come
 *	ACCEPTING	both ends are being told that the connection stands
 *	UP		the queue pairs are linked
 *	REFUSED		rejected, or the active end has given up; the worker tells
 *			the active end
 *	CLOSING		a queue pair has gone to the error state; the worker tells
 *			both ends
 *
 * The ends hear of the connection before the queue pairs are linked, so that the
 * news of its end, which the worker brings, never comes first.  A request may get
 * lost with its listener; the active end then learns of a timeout.
 *
 * References: one for the active end, dropped by the worker; one for whoever got
 * the request, dropped by accept (through the worker) or reject.  Who got a
 * request that was lost is nobody, and the device frees it in the end.
 */
#include <linux/inet.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

/* A request that nobody answers is over then */
#define FAKEHCA_ANSWER_MS	5000
#define FAKEHCA_TELL_TRIES	10

enum fakehca_conn_state {
	FAKEHCA_REQUESTED,
	FAKEHCA_ACCEPTING,
	FAKEHCA_UP,
	FAKEHCA_REFUSED,
	FAKEHCA_CLOSING,
};

struct fakehca_listen {
	struct list_head	entry;
	struct iw_cm_id		*id;
};

struct fakehca_end_of {
	struct iw_cm_id		*id;
	struct fakehca_qp	*qp;
};

/**
 * struct fakehca_conn - A connection
 * @entry: in the device's list
 * @ref: references
 * @hca: the device
 * @state: see the top of this file
 * @broken: a queue pair has failed while ACCEPTING
 * @status: of REFUSED
 * @active: the end that asked
 * @passive: the end that accepted
 * @work: tells the ends; delayed while REQUESTED
 * @data_len: bytes of @data
 * @data: of a rejection
 */
struct fakehca_conn {
	struct list_head		entry;
	struct kref			ref;
	struct fakehca			*hca;
	enum fakehca_conn_state		state;
	bool				broken;
	int				status;
	struct fakehca_end_of		active;
	struct fakehca_end_of		passive;
	struct delayed_work		work;
	u8				data_len;
	u8				data[U8_MAX];
};

static void fakehca_conn_release(struct kref *ref)
{
	struct fakehca_conn *conn = container_of(ref, struct fakehca_conn, ref);
	struct fakehca *hca = conn->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	list_del(&conn->entry);
	hca->stats.conns--;
	spin_unlock_irqrestore(&hca->lock, flags);
	kfree(conn);
}

static void fakehca_conn_put(struct fakehca_conn *conn)
{
	kref_put(&conn->ref, fakehca_conn_release);
}

/* The caller holds the lock */
static void fakehca_end_set(struct fakehca_conn *conn, struct fakehca_end_of *end,
			    struct iw_cm_id *id, struct fakehca_qp *qp)
{
	id->add_ref(id);
	fakehca_qp_add_ref(&qp->ibqp);
	end->id = id;
	end->qp = qp;
	qp->conn = conn;
}

static void fakehca_end_clear(struct fakehca *hca, struct fakehca_end_of *end)
{
	unsigned long flags;

	if (!end->id)
		return;
	spin_lock_irqsave(&hca->lock, flags);
	end->qp->conn = NULL;
	spin_unlock_irqrestore(&hca->lock, flags);
	fakehca_qp_rem_ref(&end->qp->ibqp);
	end->id->rem_ref(end->id);
	end->id = NULL;
}

/*
 * The connection manager copies the data that come along, and takes no news if it
 * has no memory for them.  News that get lost it does not forgive.
 */
static void fakehca_tell(struct iw_cm_id *id, struct iw_cm_event *event)
{
	int tries = FAKEHCA_TELL_TRIES;

	event->local_addr = id->m_local_addr;
	event->remote_addr = id->m_remote_addr;
	while (id->event_handler(id, event) == -ENOMEM && --tries)
		cond_resched();
}

/* Should the ends be told?  If so, nothing changes the connection any more */
static bool fakehca_conn_over(struct fakehca_conn *conn)
{
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&conn->hca->lock, flags);
	if (conn->state == FAKEHCA_REQUESTED) {
		conn->state = FAKEHCA_REFUSED;
		conn->status = -ETIMEDOUT;
	}
	over = conn->state == FAKEHCA_REFUSED ||
	       conn->state == FAKEHCA_CLOSING;
	/* The timer may have come first */
	if (over)
		cancel_delayed_work(&conn->work);
	spin_unlock_irqrestore(&conn->hca->lock, flags);
	return over;
}

static void fakehca_conn_work(struct work_struct *work)
{
	struct fakehca_conn *conn = container_of(to_delayed_work(work), struct fakehca_conn, work);
	struct iw_cm_event event = { .event = IW_CM_EVENT_CLOSE };
	bool was_up;

	if (!fakehca_conn_over(conn))
		return;
	if (conn->state == FAKEHCA_REFUSED) {
		event.event = IW_CM_EVENT_CONNECT_REPLY;
		event.status = fakehca_should_fail(conn->hca, FAKEHCA_REPLY) ? : conn->status;
		event.private_data = conn->data;
		event.private_data_len = conn->data_len;
	}
	was_up = conn->passive.id;
	fakehca_tell(conn->active.id, &event);
	if (was_up)
		fakehca_tell(conn->passive.id, &event);
	fakehca_end_clear(conn->hca, &conn->active);
	fakehca_end_clear(conn->hca, &conn->passive);
	if (was_up)
		fakehca_conn_put(conn);
	fakehca_conn_put(conn);
}

/* The caller holds the lock, here and below */
static void fakehca_conn_refuse(struct fakehca_conn *conn, int status)
{
	if (conn->state != FAKEHCA_REQUESTED)
		return;
	conn->state = FAKEHCA_REFUSED;
	conn->status = status;
	mod_delayed_work(conn->hca->wq, &conn->work, 0);
}

/* Is the request still to be answered? */
bool fakehca_cm_requested(const struct fakehca_conn *conn)
{
	lockdep_assert_held(&conn->hca->lock);
	return conn->state == FAKEHCA_REQUESTED;
}

void fakehca_cm_broken(struct fakehca_conn *conn)
{
	lockdep_assert_held(&conn->hca->lock);
	conn->broken = true;
	if (conn->state == FAKEHCA_UP) {
		conn->state = FAKEHCA_CLOSING;
		mod_delayed_work(conn->hca->wq, &conn->work, 0);
	} else {
		fakehca_conn_refuse(conn, -ECONNRESET);
	}
}

static bool fakehca_same_host(const struct sockaddr_storage *a,
			      const struct sockaddr_storage *any_or_b)
{
	const struct sockaddr_in6 *a6 = (void *)a, *b6 = (void *)any_or_b;
	const struct sockaddr_in *a4 = (void *)a, *b4 = (void *)any_or_b;

	if (a->ss_family != any_or_b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_port == b4->sin_port &&
		       (!b4->sin_addr.s_addr || a4->sin_addr.s_addr == b4->sin_addr.s_addr);
	return a6->sin6_port == b6->sin6_port &&
	       (ipv6_addr_any(&b6->sin6_addr) || ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr));
}

static struct fakehca_listen *fakehca_find_listen(struct fakehca *hca, struct iw_cm_id *id)
{
	struct fakehca_listen *listen;

	list_for_each_entry(listen, &hca->listens, entry)
		if (fakehca_same_host(&id->m_remote_addr, &listen->id->m_local_addr))
			return listen;
	return NULL;
}

/* The caller holds the lock.  Is this request, the next one, to get lost? */
static bool fakehca_loses(struct fakehca *hca)
{
	bool lose = hca->lose_request;

	hca->lose_request = false;
	return lose;
}

/* Without the lock, from here on */
static struct fakehca_conn *fakehca_conn_new(struct fakehca *hca)
{
	struct fakehca_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	unsigned long flags;

	if (!conn)
		return NULL;
	conn->hca = hca;
	kref_init(&conn->ref);
	INIT_DELAYED_WORK(&conn->work, fakehca_conn_work);
	spin_lock_irqsave(&hca->lock, flags);
	list_add(&conn->entry, &hca->conns);
	hca->stats.conns++;
	spin_unlock_irqrestore(&hca->lock, flags);
	return conn;
}

/* The listener's id with a reference, or NULL and the request is refused or lost */
static struct iw_cm_id *fakehca_conn_request(struct fakehca_conn *conn, struct iw_cm_id *id,
					     struct fakehca_qp *qp)
{
	struct fakehca *hca = conn->hca;
	struct fakehca_listen *listen;
	struct iw_cm_id *to = NULL;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	fakehca_end_set(conn, &conn->active, id, qp);
	if (fakehca_loses(hca))
		goto unlock;
	listen = fakehca_find_listen(hca, id);
	if (listen) {
		to = listen->id;
		to->add_ref(to);
		kref_get(&conn->ref);
		queue_delayed_work(hca->wq, &conn->work, msecs_to_jiffies(FAKEHCA_ANSWER_MS));
	} else {
		fakehca_conn_refuse(conn, -ECONNREFUSED);
	}
unlock:
	spin_unlock_irqrestore(&hca->lock, flags);
	return to;
}

static void fakehca_conn_answer(struct fakehca_conn *conn, int status, const void *data, u8 len)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->hca->lock, flags);
	if (conn->state == FAKEHCA_REQUESTED) {
		conn->data_len = len;
		if (len)
			memcpy(conn->data, data, len);
		fakehca_conn_refuse(conn, status);
	}
	spin_unlock_irqrestore(&conn->hca->lock, flags);
	fakehca_conn_put(conn);
}

void fakehca_on_connect(struct fakehca *hca,
			void (*fn)(void *context, const struct sockaddr_storage *to), void *context)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->on_connect = fn;
	hca->on_connect_context = context;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_on_connect);

void fakehca_lose_request(struct fakehca *hca)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->lose_request = true;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_lose_request);

static void fakehca_announce(struct fakehca *hca, const struct iw_cm_id *id)
{
	void (*fn)(void *context, const struct sockaddr_storage *to);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	fn = hca->on_connect;
	hca->on_connect = NULL;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (fn)
		fn(hca->on_connect_context, &id->m_remote_addr);
}

int fakehca_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct fakehca *hca = to_fakehca(id->device);
	int ret = fakehca_should_fail(hca, FAKEHCA_CONNECT);
	struct ib_qp *ibqp = fakehca_get_qp(id->device, param->qpn);
	struct iw_cm_event event = {
		.event			= IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr		= id->m_remote_addr,
		.remote_addr		= id->m_local_addr,
		.private_data		= (void *)param->private_data,
		.private_data_len	= param->private_data_len,
		.ird			= param->ord,
		.ord			= param->ird,
	};
	struct fakehca_conn *conn;
	struct iw_cm_id *to;

	fakehca_announce(hca, id);
	if (ret)
		return ret;
	if (!ibqp)
		return -EINVAL;
	conn = fakehca_conn_new(hca);
	if (!conn)
		return -ENOMEM;
	to = fakehca_conn_request(conn, id, to_fakehca_qp(ibqp));
	if (!to)
		return 0;
	event.provider_data = conn;
	if (to->event_handler(to, &event))
		fakehca_conn_answer(conn, -ECONNREFUSED, NULL, 0);
	to->rem_ref(to);
	return 0;
}

static int fakehca_conn_accept(struct fakehca_conn *conn, struct iw_cm_id *id,
			       struct fakehca_qp *qp)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->hca->lock, flags);
	if (conn->state != FAKEHCA_REQUESTED || qp->state == IB_QPS_ERR) {
		ret = -ECONNRESET;
		fakehca_conn_refuse(conn, -ECONNRESET);
	} else {
		conn->state = FAKEHCA_ACCEPTING;
		fakehca_end_set(conn, &conn->passive, id, qp);
		/* The ends may post before the queue pairs are linked */
		conn->active.qp->state = IB_QPS_RTS;
		qp->state = IB_QPS_RTS;
	}
	spin_unlock_irqrestore(&conn->hca->lock, flags);
	return ret;
}

static void fakehca_conn_up(struct fakehca_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->hca->lock, flags);
	conn->state = FAKEHCA_UP;
	if (conn->broken) {
		fakehca_qp_error(conn->active.qp);
		fakehca_qp_error(conn->passive.qp);
	} else {
		fakehca_qp_link(conn->active.qp, conn->passive.qp);
	}
	spin_unlock_irqrestore(&conn->hca->lock, flags);
}

int fakehca_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct fakehca *hca = to_fakehca(id->device);
	int ret = fakehca_should_fail(hca, FAKEHCA_ACCEPT);
	struct ib_qp *ibqp = fakehca_get_qp(id->device, param->qpn);
	struct fakehca_conn *conn = id->provider_data;
	struct iw_cm_event event = {
		.event	= IW_CM_EVENT_ESTABLISHED,
		.ird	= param->ird,
		.ord	= param->ord,
	};

	if (!ret && !ibqp)
		ret = -EINVAL;
	if (!ret)
		ret = fakehca_conn_accept(conn, id, to_fakehca_qp(ibqp));
	if (ret) {
		fakehca_conn_answer(conn, -ECONNREFUSED, NULL, 0);
		return ret;
	}

	fakehca_tell(id, &event);
	event.event = IW_CM_EVENT_CONNECT_REPLY;
	event.ird = param->ord;
	event.ord = param->ird;
	event.private_data = (void *)param->private_data;
	event.private_data_len = param->private_data_len;
	fakehca_tell(conn->active.id, &event);
	fakehca_conn_up(conn);
	return 0;
}

int fakehca_cm_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	fakehca_conn_answer(id->provider_data, -ECONNREFUSED, data, len);
	return 0;
}

void fakehca_on_listen(struct fakehca *hca, void (*fn)(void *context), void *context)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->on_listen = fn;
	hca->on_listen_context = context;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_on_listen);

static void fakehca_announce_listen(struct fakehca *hca)
{
	void (*fn)(void *context);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	fn = hca->on_listen;
	hca->on_listen = NULL;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (fn)
		fn(hca->on_listen_context);
}

int fakehca_cm_create_listen(struct iw_cm_id *id, int backlog)
{
	struct fakehca *hca = to_fakehca(id->device);
	int ret = fakehca_should_fail(hca, FAKEHCA_LISTEN);
	struct fakehca_listen *listen;
	unsigned long flags;

	if (ret)
		return ret;
	fakehca_announce_listen(hca);
	listen = kzalloc(sizeof(*listen), GFP_KERNEL);
	if (!listen)
		return -ENOMEM;
	id->add_ref(id);
	id->provider_data = listen;
	listen->id = id;
	spin_lock_irqsave(&hca->lock, flags);
	list_add(&listen->entry, &hca->listens);
	hca->stats.listens++;
	spin_unlock_irqrestore(&hca->lock, flags);
	return 0;
}

int fakehca_cm_destroy_listen(struct iw_cm_id *id)
{
	struct fakehca *hca = to_fakehca(id->device);
	struct fakehca_listen *listen = id->provider_data;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	list_del(&listen->entry);
	hca->stats.listens--;
	spin_unlock_irqrestore(&hca->lock, flags);
	id->rem_ref(id);
	kfree(listen);
	return 0;
}

/* The device has gone; what is left are requests that got lost */
void fakehca_cm_cleanup(struct fakehca *hca)
{
	struct fakehca_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &hca->conns, entry) {
		cancel_delayed_work_sync(&conn->work);
		kfree(conn);
	}
}
