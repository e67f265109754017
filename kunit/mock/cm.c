// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of the mock provider, and its passive endpoints.
 *
 * A connection request is born in connect, waits in the registry (kofi/connreq.h)
 * for the passive endpoint that listens at the port, and ends in fi_accept(),
 * fi_reject(), or with the passive endpoint or the endpoint that was opened with it.
 * Its two ends know each other through ->active and ->asks, both guarded by the
 * instance's lock, so either may go first.  The registry's lock is taken inside.
 *
 * Events of endpoints are posted by the work, outside the lock.  Whoever frees such an
 * event has first made it unreachable under the lock and then waited for the work.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

static struct kofi_connreqs mock_connreqs = KOFI_CONNREQS_INIT(mock_connreqs);

static struct mock_connreq *to_mock_connreq(const struct kofi_connreq *req)
{
	return container_of(req, struct mock_connreq, req);
}

static struct mock_ep *to_mock_ep(struct fid_ep *ep)
{
	return container_of(ep, struct mock_ep, ep);
}

static struct mock_pep *to_mock_pep(struct fid_pep *pep)
{
	return container_of(pep, struct mock_pep, pep);
}

void mock_event_init(struct mock_event *event, struct fid *fid, u32 type)
{
	kofi_event_init(&event->event, fid);
	event->event.event = type;
	event->event.cm_data = event->data;
	INIT_LIST_HEAD(&event->pending);
}

static void mock_event_data(struct mock_event *event, const void *data, size_t len)
{
	event->event.cm_len = len;
	if (len)
		memcpy(event->data, data, len);
}

void mock_event_post(struct mock *mock, struct mock_event *event, struct kofi_eq *eq)
{
	lockdep_assert_held(&mock->lock);
	if (!eq || !list_empty(&event->pending))
		return;
	event->eq = eq;
	list_add_tail(&event->pending, &mock->posts);
	schedule_work(&mock->work);
}

/* The work has been waited for */
void mock_event_withdraw(struct mock_event *event)
{
	if (event->eq)
		kofi_eq_withdraw(event->eq, &event->event);
}

/* The endpoint's attempt to connect has failed */
static void mock_ep_refused(struct mock_ep *ep, const void *data, size_t len)
{
	ep->state = MOCK_DOWN;
	ep->asks = NULL;
	ep->error.event.err = ECONNREFUSED;
	ep->error.event.prov_errno = ECONNREFUSED;
	mock_event_data(&ep->error, data, len);
	mock_event_post(ep->obj.mock, &ep->error, ep->eq);
}

static int mock_port(const void *addr)
{
	const struct sockaddr_in *sin = addr;

	return sin ? ntohs(sin->sin_port) : 0;
}

static struct mock_connreq *mock_connreq_new(struct mock *mock, const void *data, size_t len)
{
	struct mock_connreq *req = kzalloc(sizeof(*req), GFP_KERNEL);

	if (!req)
		return NULL;
	if (kofi_connreq_add(&mock_connreqs, &req->req, GFP_KERNEL))
		goto free_req;
	req->mock = mock;
	req->req.event.cm_data = req->data;
	req->req.event.cm_len = len;
	if (len)
		memcpy(req->data, data, len);
	req->req.event.info = fi_dupinfo(mock->infos);
	if (!req->req.event.info)
		goto cancel;
	return req;

cancel:
	kofi_connreq_cancel(&mock_connreqs, &req->req);
free_req:
	kfree(req);
	return NULL;
}

/* It has not been posted */
static void mock_connreq_undo(struct mock_connreq *req)
{
	kofi_connreq_cancel(&mock_connreqs, &req->req);
	fi_freeinfo(req->req.event.info);
	kfree(req);
}

static struct mock_pep *mock_listener(struct mock *mock, int port)
{
	struct mock_pep *pep;

	lockdep_assert_held(&mock->lock);
	list_for_each_entry(pep, &mock->listening, listening)
		if (pep->port == port)
			return pep;
	return NULL;
}

static int mock_connect_state(const struct mock_ep *ep)
{
	if (!ep->enabled || ep->passive)
		return -FI_EOPBADSTATE;
	switch (ep->state) {
	case MOCK_CONNECTING:
		return -EALREADY;
	case MOCK_CONNECTED:
		return -EISCONN;
	case MOCK_DOWN:
		return -ESHUTDOWN;
	default:
		return 0;
	}
}

/* *@sent: the request is under way and no longer the caller's */
static int mock_ask(struct mock_ep *ep, struct mock_connreq *req, int port, bool *sent)
{
	struct mock *mock = ep->obj.mock;
	struct mock_pep *pep;
	int err;

	spin_lock_irq(&mock->lock);
	err = mock_connect_state(ep);
	if (err)
		goto out;
	pep = mock_listener(mock, port);
	/* Once posted, it is looked at under the lock only, and so stays until the unlock */
	req->active = ep;
	if (!pep || kofi_connreq_post(&mock_connreqs, &req->req, &pep->pep.fid,
				      pep->eq)) {
		mock_ep_refused(ep, NULL, 0);
		goto out;
	}
	ep->state = MOCK_CONNECTING;
	ep->asks = req;
	*sent = true;
out:
	spin_unlock_irq(&mock->lock);
	return err;
}

static int mock_connect(struct fid_ep *fid_ep, const void *addr, const void *param, size_t paramlen)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	int port = addr ? mock_port(addr) : ep->port;
	struct mock_connreq *req;
	bool sent = false;
	int err;

	err = mock_enter(ep->obj.mock, MOCK_CALL_CONNECT);
	if (err)
		return err;
	if (paramlen > MOCK_CM_DATA)
		return -EINVAL;
	if (!port)
		return -EADDRNOTAVAIL;
	req = mock_connreq_new(ep->obj.mock, param, paramlen);
	if (!req)
		return -ENOMEM;
	err = mock_ask(ep, req, port, &sent);
	if (!sent)
		mock_connreq_undo(req);
	return err;
}

/* Is it one of this instance, whose lock is held, and is the peer still there? */
static int mock_connreq_suits(const struct kofi_connreq *kreq, const void *mock)
{
	const struct mock_connreq *req = to_mock_connreq(kreq);

	if (req->mock != mock)
		return -EINVAL;
	return req->active ? 0 : -ECONNABORTED;
}

/* Gives the request that @info names to a new endpoint */
int mock_connreq_take(struct mock *mock, struct mock_ep *ep, const struct fi_info *info)
{
	struct kofi_connreq *req;

	ep->port = mock_port(info->dest_addr);
	if (!info->handle)
		return 0;
	spin_lock_irq(&mock->lock);
	req = kofi_connreq_take(&mock_connreqs, info->handle, mock_connreq_suits, mock);
	if (!IS_ERR(req)) {
		ep->passive = true;
		ep->req = to_mock_connreq(req);
	}
	spin_unlock_irq(&mock->lock);
	return PTR_ERR_OR_ZERO(req);
}

/* The caller holds the lock and frees the request */
static void mock_link(struct mock_ep *passive, struct mock_connreq *req,
		      const void *param, size_t paramlen)
{
	struct mock *mock = passive->obj.mock;
	struct mock_ep *active = req->active;

	active->asks = NULL;
	active->peer = passive;
	passive->peer = active;
	active->state = MOCK_CONNECTED;
	passive->state = MOCK_CONNECTED;
	mock_event_data(&active->connected, param, paramlen);
	mock_event_post(mock, &active->connected, active->eq);
	mock_event_post(mock, &passive->connected, passive->eq);
}

static int mock_accept(struct fid_ep *fid_ep, const void *param, size_t paramlen)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	struct mock *mock = ep->obj.mock;
	struct mock_connreq *req;
	int err;

	err = mock_enter(mock, MOCK_CALL_ACCEPT);
	if (err)
		return err;
	if (paramlen > MOCK_CM_DATA)
		return -EINVAL;
	if (!ep->enabled || !ep->passive)
		return -FI_EOPBADSTATE;

	spin_lock_irq(&mock->lock);
	req = ep->req;
	ep->req = NULL;
	if (!req)
		err = ep->state == MOCK_CONNECTED ? -EISCONN : -ECONNABORTED;
	else if (!req->active)
		err = -ECONNABORTED;
	else
		mock_link(ep, req, param, paramlen);
	spin_unlock_irq(&mock->lock);
	kfree(req);
	return err;
}

static int mock_reject(struct fid_pep *fid_pep, fid_t handle, const void *param, size_t paramlen)
{
	struct mock_pep *pep = to_mock_pep(fid_pep);
	struct mock *mock = pep->obj.mock;
	struct mock_connreq *req;
	struct kofi_connreq *kreq;
	int err;

	err = mock_enter(mock, MOCK_CALL_REJECT);
	if (err)
		return err;
	if (paramlen > MOCK_CM_DATA)
		return -EINVAL;

	kreq = kofi_connreq_take(&mock_connreqs, handle, kofi_connreq_is_of, &pep->pep.fid);
	if (IS_ERR(kreq))
		return PTR_ERR(kreq);

	req = to_mock_connreq(kreq);
	spin_lock_irq(&mock->lock);
	if (req->active)
		mock_ep_refused(req->active, param, paramlen);
	else
		err = -ECONNABORTED;
	spin_unlock_irq(&mock->lock);
	kfree(req);
	return err;
}

/* Ends the connection; the caller holds the lock */
static void mock_cut(struct mock_ep *ep)
{
	struct mock_ep *peer = ep->peer;

	mock_ep_cancel_all(ep, ECANCELED);
	if (peer && peer != ep) {
		mock_ep_cancel_all(peer, ECANCELED);
		peer->peer = NULL;
		peer->state = MOCK_DOWN;
		mock_event_post(ep->obj.mock, &peer->down, peer->eq);
	}
	ep->peer = NULL;
	ep->state = MOCK_DOWN;
}

static int mock_shutdown(struct fid_ep *fid_ep, u64 flags)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	struct mock *mock = ep->obj.mock;
	int err;

	err = mock_enter(mock, MOCK_CALL_SHUTDOWN);
	if (err)
		return err;
	if (flags)
		return -FI_EBADFLAGS;
	spin_lock_irq(&mock->lock);
	if (ep->state == MOCK_CONNECTED)
		mock_cut(ep);
	else if (ep->state != MOCK_DOWN)
		err = -ENOTCONN;
	spin_unlock_irq(&mock->lock);
	return err;
}

/* The endpoint is about to be freed: nobody refers to it from now on */
void mock_cm_leave(struct mock_ep *ep)
{
	struct mock *mock = ep->obj.mock;
	struct mock_connreq *req;

	spin_lock_irq(&mock->lock);
	req = ep->req;
	ep->req = NULL;
	if (req && req->active)
		mock_ep_refused(req->active, NULL, 0);
	if (ep->asks)
		ep->asks->active = NULL;
	ep->asks = NULL;
	mock_cut(ep);
	spin_unlock_irq(&mock->lock);
	kfree(req);
}

static int mock_setname(fid_t fid, void *addr, size_t addrlen)
{
	return mock_enter(mock_obj_find(fid)->mock, MOCK_CALL_SETNAME) ? :
	       -FI_EOPBADSTATE;
}

static int mock_copy_addr(int port, void *addr, size_t *addrlen)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	size_t room = *addrlen;

	*addrlen = sizeof(sin);
	memcpy(addr, &sin, min(room, sizeof(sin)));
	return room < sizeof(sin) ? -FI_ETOOSMALL : 0;
}

static int mock_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct mock_obj *obj = mock_obj_find(fid);
	int err = mock_enter(obj->mock, MOCK_CALL_GETNAME);

	if (err)
		return err;
	return mock_copy_addr(obj->class == MOCK_PEP ?
			      container_of(obj, struct mock_pep, obj)->port : 0, addr, addrlen);
}

static int mock_getpeer(struct fid_ep *fid_ep, void *addr, size_t *addrlen)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	int err = mock_enter(ep->obj.mock, MOCK_CALL_GETPEER);

	if (err)
		return err;
	if (ep->state != MOCK_CONNECTED)
		return -ENOTCONN;
	return mock_copy_addr(ep->port, addr, addrlen);
}

static int mock_listen(struct fid_pep *fid_pep)
{
	struct mock_pep *pep = to_mock_pep(fid_pep);
	struct mock *mock = pep->obj.mock;
	int err;

	err = mock_enter(mock, MOCK_CALL_LISTEN);
	if (err)
		return err;
	if (!pep->eq)
		return -FI_ENOEQ;
	spin_lock_irq(&mock->lock);
	if (!list_empty(&pep->listening))
		err = -FI_EOPBADSTATE;
	else if (!pep->port)
		err = -EADDRNOTAVAIL;
	else if (mock_listener(mock, pep->port))
		err = -EADDRINUSE;
	else
		list_add_tail(&pep->listening, &mock->listening);
	spin_unlock_irq(&mock->lock);
	return err;
}

static int mock_pep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct mock_pep *pep = container_of(fid, struct mock_pep, pep.fid);
	int err = mock_enter(pep->obj.mock, MOCK_CALL_BIND);

	if (!err)
		pep->eq = to_kofi_eq(bfid);
	return err;
}

static int mock_pep_control(struct fid *fid, int command, void *arg)
{
	struct mock_pep *pep = container_of(fid, struct mock_pep, pep.fid);
	int err = mock_enter(pep->obj.mock, MOCK_CALL_CONTROL);

	if (err)
		return err;
	if (command != FI_BACKLOG)
		return -ENOSYS;
	return arg ? 0 : -EINVAL;
}

static void mock_pep_release(struct mock_obj *obj)
{
	struct mock_pep *pep = container_of(obj, struct mock_pep, obj);
	struct mock *mock = obj->mock;
	struct mock_connreq *req, *next;
	LIST_HEAD(reqs);

	spin_lock_irq(&mock->lock);
	list_del_init(&pep->listening);
	kofi_connreqs_drop(&mock_connreqs, kofi_connreq_is_of, &pep->pep.fid, &reqs);
	list_for_each_entry_safe(req, next, &reqs, req.entry) {
		if (req->active)
			mock_ep_refused(req->active, NULL, 0);
		kfree(req);
	}
	spin_unlock_irq(&mock->lock);
	mock_obj_fini(obj);
	kfree(pep);
}

int mock_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_pep **pep, void *context)
{
	struct mock *mock = mock_obj_find(&fabric->fid)->mock;
	struct mock_pep *mpep;
	int err;

	err = mock_enter(mock, MOCK_CALL_PASSIVE_EP);
	if (err)
		return err;
	mpep = kzalloc(sizeof(*mpep), GFP_KERNEL);
	if (!mpep)
		return -ENOMEM;
	INIT_LIST_HEAD(&mpep->listening);
	mpep->port = mock_port(info->src_addr);
	mpep->obj.release = mock_pep_release;
	err = mock_obj_init(&mpep->obj, mock, MOCK_PEP, &mpep->pep.fid, context);
	if (err) {
		kfree(mpep);
		return err;
	}
	*pep = &mpep->pep;
	return 0;
}

static ssize_t mock_cancel(fid_t fid, void *context)
{
	return mock_enter(mock_obj_find(fid)->mock, MOCK_CALL_CANCEL) ? :
	       -ENOENT;
}

static int mock_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	int err = mock_enter(mock_obj_find(fid)->mock, MOCK_CALL_GETOPT);
	size_t room = *optlen;

	if (err)
		return err;
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return -ENOPROTOOPT;
	*optlen = sizeof(size_t);
	if (room < sizeof(size_t))
		return -FI_ETOOSMALL;
	*(size_t *)optval = MOCK_CM_DATA;
	return 0;
}

static int mock_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	return mock_enter(mock_obj_find(fid)->mock, MOCK_CALL_SETOPT) ? :
	       -ENOPROTOOPT;
}

/* Everything is in the work's hands then; its end is the end of all callbacks */
static int mock_drain(struct fid_ep *fid_ep, int timeout)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	struct mock *mock = ep->obj.mock;
	int err;

	err = mock_enter(mock, MOCK_CALL_DRAIN);
	if (err)
		return err;
	spin_lock_irq(&mock->lock);
	if (!ep->enabled)
		err = -FI_EOPBADSTATE;
	else
		mock_cut(ep);
	spin_unlock_irq(&mock->lock);
	if (!err)
		flush_work(&mock->work);
	return err;
}

const struct fi_ops_ep mock_ep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= mock_cancel,
	.getopt		= mock_getopt,
	.setopt		= mock_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= mock_drain,
};

const struct fi_ops_cm mock_ep_cm = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= mock_setname,
	.getname	= mock_getname,
	.getpeer	= mock_getpeer,
	.connect	= mock_connect,
	.listen		= fi_no_listen,
	.accept		= mock_accept,
	.reject		= fi_no_reject,
	.shutdown	= mock_shutdown,
	.join		= mock_join,
};

const struct fi_ops_cm mock_pep_cm = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= mock_setname,
	.getname	= mock_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= mock_listen,
	.accept		= fi_no_accept,
	.reject		= mock_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};

const struct fi_ops mock_pep_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= mock_close,
	.bind		= mock_pep_bind,
	.control	= mock_pep_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};
