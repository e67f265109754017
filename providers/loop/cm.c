// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections and listeners.
 *
 *	fi_connect()	looks the listener up and posts a request to it
 *	fi_endpoint()	with the request's handle: the new endpoint gets the request
 *	fi_accept()	links the two endpoints, and reports FI_CONNECTED to both
 *	fi_reject()	reports ECONNREFUSED, with the data, to the connecting endpoint
 *
 * A request belongs to the registry (kofi/connreq.h) until an endpoint or fi_reject()
 * takes it, or the listener goes.  The request and the connecting endpoint point to each other,
 * so either may go first.
 *
 * All of this happens under one mutex, loop_cm_lock: there is one kernel, and both ends
 * of a connection are in it.  The data path follows a connection without the mutex:
 * loop_ep.peer is also guarded by the endpoint's lock.
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "loop.h"

/* Connections, listeners and requests; see loop.h */
DEFINE_MUTEX(loop_cm_lock);

static struct kofi_connreqs loop_reqs = KOFI_CONNREQS_INIT(loop_reqs);

static struct loop_req *to_loop_req(struct kofi_connreq *req)
{
	return container_of(req, struct loop_req, req);
}

/* Ends the connection, or the attempt, of an endpoint, on its own behalf or its peer's */
static void loop_over(struct loop_ep *ep, int err, const void *data, size_t len)
{
	lockdep_assert_held(&loop_cm_lock);
	if (len)
		memcpy(ep->cm_data, data, len);
	kofi_conn_end(&ep->soft.kep.conn, err, 0, ep->cm_data, len);
	loop_end(ep);
}

/* Ends a request, and reports @err to the connecting endpoint */
static int loop_req_refuse(struct kofi_connreq *kreq, int err, const void *data,
			   size_t len)
{
	struct loop_req *req = to_loop_req(kreq);
	struct loop_ep *active = req->active;

	lockdep_assert_held(&loop_cm_lock);
	kfree(req);
	if (!active)
		return kofi_refuse("reject", -ECONNABORTED, "the peer of the request has gone");
	active->asks = NULL;
	loop_over(active, err, data, len);
	return 0;
}

/* Detaches an endpoint from its requests and its peer; the peer's connection or attempt ends */
static void loop_detach(struct loop_ep *ep)
{
	lockdep_assert_held(&loop_cm_lock);
	if (ep->asks)
		ep->asks->active = NULL;
	ep->asks = NULL;
	if (ep->req)
		loop_req_refuse(&ep->req->req, ECONNREFUSED, NULL, 0);
	ep->req = NULL;
	if (ep->peer)
		loop_over(ep->peer, ECONNABORTED, NULL, 0);
}

/**
 * loop_disconnect() - End the connection, or the attempt, of an endpoint
 * @ep: the endpoint
 * @err: positive error code that is reported if the connection was not established
 *
 * Context: may sleep, with loop_cm_lock held.
 */
void loop_disconnect(struct loop_ep *ep, int err)
{
	loop_detach(ep);
	loop_over(ep, err, NULL, 0);
}

/* kofi_soft_type.gone */
void loop_gone(struct kofi_soft_ep *soft)
{
	struct loop_ep *ep = to_loop_soft(soft);

	lockdep_assert_held(&loop_cm_lock);
	loop_name_drop(&ep->name);
	loop_detach(ep);
	loop_end(ep);
}

/* Delayed work: the peer has not answered in time */
void loop_connect_late(struct work_struct *work)
{
	struct loop_ep *ep = container_of(to_delayed_work(work), struct loop_ep,
					  soft.kep.conn.late);

	mutex_lock(&loop_cm_lock);
	if (ep->soft.kep.conn.state == KOFI_CONN_CONNECTING)
		loop_disconnect(ep, ETIMEDOUT);
	mutex_unlock(&loop_cm_lock);
}

static struct loop_req *loop_req_new(struct loop_ep *ep, const void *param,
				     size_t len)
{
	struct loop_req *req = kzalloc(sizeof(*req), GFP_KERNEL);

	if (!req)
		return NULL;
	req->active = ep;
	req->net = ep->soft.domain->fabric->net;
	if (len)
		memcpy(req->data, param, len);
	return req;
}

/* The info for fi_endpoint() of the accepting side: the listener's, with both addresses */
static struct fi_info *loop_req_info(const struct loop_pep *pep,
				     const struct sockaddr_storage *src,
				     const struct sockaddr_storage *dest)
{
	struct fi_info info = *pep->soft.kpep.info;

	info.src_addr = (void *)src;
	info.src_addrlen = kofi_addr_len(src);
	info.dest_addr = (void *)dest;
	info.dest_addrlen = kofi_addr_len(dest);
	return fi_dupinfo(&info);
}

/* Sends a request; -ECONNREFUSED: there is no listener, or it has too many requests */
static int loop_ask(struct loop_ep *ep, const struct sockaddr_storage *dest,
		    const void *param, size_t len)
{
	struct loop_pep *pep;
	struct loop_req *req;
	int ret;

	pep = loop_find_pep(ep->soft.domain->fabric->net, dest);
	if (!pep || !pep->soft.kpep.listening)
		return -ECONNREFUSED;
	req = loop_req_new(ep, param, len);
	if (!req)
		return -ENOMEM;
	ret = kofi_connreq_add(&loop_reqs, &req->req, GFP_KERNEL);
	if (ret)
		goto free_req;
	req->req.event.info = loop_req_info(pep, dest, &ep->name.addr);
	req->req.event.cm_data = req->data;
	req->req.event.cm_len = len;
	ret = -ENOMEM;
	if (!req->req.event.info)
		goto cancel;
	ep->asks = req;
	ret = kofi_connreq_post(&loop_reqs, &req->req, &pep->soft.kpep.pep.fid,
				pep->soft.kpep.eq);
	if (ret)
		goto refused;
	return 0;

refused:
	ep->asks = NULL;
	ret = -ECONNREFUSED;
	fi_freeinfo(req->req.event.info);
cancel:
	kofi_connreq_cancel(&loop_reqs, &req->req);
free_req:
	kfree(req);
	return ret;
}

static int loop_connect(struct fid_ep *fid_ep, const void *addr,
			const void *param, size_t paramlen)
{
	struct loop_ep *ep = to_loop_ep(&fid_ep->fid);
	struct sockaddr_storage dest;
	int ret;

	ret = kofi_conn_check_data("connect", paramlen, LOOP_CM_DATA);
	if (ret)
		return ret;
	mutex_lock(&loop_cm_lock);
	ret = kofi_conn_may_start(&ep->soft.kep.conn, false);
	if (!ret)
		ret = kofi_soft_dest(&ep->soft, &ep->name.addr, addr, &dest);
	if (ret)
		goto unlock;
	kofi_conn_start(&ep->soft.kep.conn, loop_type.wq);
	/* A refusal is reported by an event, even one that is known at once */
	ret = loop_ask(ep, &dest, param, paramlen);
	if (ret)
		loop_over(ep, -ret, NULL, 0);
	ret = 0;
unlock:
	mutex_unlock(&loop_cm_lock);
	return ret;
}

static int loop_req_is_near(const struct kofi_connreq *req, const void *net)
{
	if (container_of(req, struct loop_req, req)->net == net)
		return 0;
	return kofi_refuse("endpoint", -FI_EDOMAIN, "info->handle: the request came to another network namespace");
}

/**
 * loop_req_adopt() - Have an endpoint answer a connection request
 * @ep: a new endpoint
 * @handle: fi_info.handle
 *
 * Context: may sleep, with loop_cm_lock held.
 * Return: 0; -EINVAL: there is no such request any more; -FI_EDOMAIN: it came to another
 * namespace.
 */
int loop_req_adopt(struct loop_ep *ep, fid_t handle)
{
	struct kofi_connreq *req;

	lockdep_assert_held(&loop_cm_lock);
	req = kofi_connreq_take(&loop_reqs, handle, loop_req_is_near,
				ep->soft.domain->fabric->net);
	if (IS_ERR(req))
		return PTR_ERR(req);
	ep->req = to_loop_req(req);
	ep->soft.kep.conn.passive = true;
	return 0;
}

static void loop_establish(struct loop_ep *ep, const void *data, size_t len)
{
	if (len)
		memcpy(ep->cm_data, data, len);
	kofi_conn_establish(&ep->soft.kep.conn, ep->cm_data, len);
}

/* Both endpoints are open, and stay open here, as a close waits for loop_cm_lock */
static void loop_set_peer(struct loop_ep *ep, struct loop_ep *peer)
{
	unsigned long flags;

	lockdep_assert_held(&loop_cm_lock);
	kofi_soft_ep_get(&peer->soft);
	spin_lock_irqsave(&ep->soft.lock, flags);
	ep->peer = peer;
	loop_set_receiver(ep);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

static int loop_accept(struct fid_ep *fid_ep, const void *param, size_t paramlen)
{
	struct loop_ep *ep = to_loop_ep(&fid_ep->fid), *peer;
	int ret;

	ret = kofi_conn_check_data("accept", paramlen, LOOP_CM_DATA);
	if (ret)
		return ret;
	mutex_lock(&loop_cm_lock);
	ret = kofi_conn_may_start(&ep->soft.kep.conn, true);
	if (ret)
		goto unlock;
	peer = ep->req->active;
	kfree(ep->req);
	ep->req = NULL;
	kofi_conn_start(&ep->soft.kep.conn, loop_type.wq);
	if (!peer) {
		loop_over(ep, ECONNABORTED, NULL, 0);
		goto unlock;
	}
	peer->asks = NULL;
	loop_set_peer(ep, peer);
	loop_set_peer(peer, ep);
	loop_establish(ep, NULL, 0);
	loop_establish(peer, param, paramlen);
unlock:
	mutex_unlock(&loop_cm_lock);
	return ret;
}

static int loop_ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_addr_copy_out(&to_loop_ep(fid)->name.addr, addr, addrlen);
}

static int loop_getpeer(struct fid_ep *fid_ep, void *addr, size_t *addrlen)
{
	struct loop_ep *ep = to_loop_ep(&fid_ep->fid);
	int ret;

	mutex_lock(&loop_cm_lock);
	if (ep->peer)
		ret = kofi_addr_copy_out(&ep->peer->name.addr, addr, addrlen);
	else
		ret = kofi_conn_refuse("getpeer", &ep->soft.kep.conn, -ENOTCONN, "connected");
	mutex_unlock(&loop_cm_lock);
	return ret;
}

const struct fi_ops_cm loop_rdm_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_soft_setname,
	.getname	= loop_ep_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= fi_no_listen,
	.accept		= fi_no_accept,
	.reject		= fi_no_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};

const struct fi_ops_cm loop_ep_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_soft_setname,
	.getname	= loop_ep_getname,
	.getpeer	= loop_getpeer,
	.connect	= loop_connect,
	.listen		= fi_no_listen,
	.accept		= loop_accept,
	.reject		= fi_no_reject,
	.shutdown	= kofi_soft_shutdown,
	.join		= fi_no_join,
};

void loop_reqs_exit(void)
{
	kofi_connreqs_destroy(&loop_reqs);
}

/* Listeners */

static int loop_pep_claim(struct kofi_pep *kpep, const struct sockaddr_storage *addr)
{
	static const struct sockaddr_storage any = { .ss_family = AF_INET };
	struct loop_pep *pep = container_of(kpep, struct loop_pep, soft.kpep);
	int ret;

	lockdep_assert_held(&loop_cm_lock);
	if (!pep->soft.fabric->net)
		return -ENODEV;
	ret = loop_name_claim(&pep->name, pep->soft.fabric->net, FI_EP_MSG,
			      addr->ss_family ? addr : &any);
	kpep->addr = pep->name.addr;
	return ret;
}

static int loop_pep_listen(struct kofi_pep *kpep)
{
	return 0;
}

static void loop_pep_stop(struct kofi_pep *kpep)
{
	loop_name_drop(&container_of(kpep, struct loop_pep, soft.kpep)->name);
}

static void loop_pep_free(struct kofi_pep *kpep)
{
	struct loop_pep *pep = container_of(kpep, struct loop_pep, soft.kpep);

	kofi_soft_pep_fini(&pep->soft);
	/* A lookup of an endpoint, under RCU, may be at this listener's name in the table */
	synchronize_rcu_expedited();
	kfree(pep);
}

static const struct kofi_pep_type loop_pep_type = {
	.ops = {
		.claim	= loop_pep_claim,
		.listen	= loop_pep_listen,
		.stop	= loop_pep_stop,
		.refuse	= loop_req_refuse,
		.free	= loop_pep_free,
	},
	.reqs		= &loop_reqs,
	.lock		= &loop_cm_lock,
	.cm_data_size	= LOOP_CM_DATA,
	.reject_data_size = LOOP_CM_DATA,
};

int loop_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_pep **fid_pep, void *context)
{
	struct loop_pep *pep;
	int ret;

	pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	if (!pep)
		return -ENOMEM;
	ret = kofi_soft_pep_init(&pep->soft, fabric, &loop_pep_type, info,
				 context);
	if (ret) {
		kfree(pep);
		return ret;
	}
	*fid_pep = &pep->soft.kpep.pep;
	return 0;
}
