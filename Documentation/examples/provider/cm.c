// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Names, listeners and connections, all under ex_lock: both ends of a connection are in
 * this kernel.
 *
 *	fi_connect()	finds the listener and posts a request to it
 *	fi_endpoint()	with the request's handle: the new endpoint has the request
 *	fi_accept()	links the two endpoints, and both hear FI_CONNECTED
 *	fi_reject()	the endpoint that asks hears ECONNREFUSED, with the data
 *
 * A request and the endpoint that asks point to each other, so either may go first.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "example.h"

#define EX_FIRST_PORT	49152		/* IANA's range of dynamic ports */

static LIST_HEAD(ex_names);
static struct kofi_connreqs ex_reqs = KOFI_CONNREQS_INIT(ex_reqs);

/* Names */

static bool ex_name_is_taken(struct net *net, const struct sockaddr_storage *addr)
{
	struct ex_name *name;

	list_for_each_entry(name, &ex_names, entry) {
		if (name->net == net && kofi_addr_equal(&name->addr, addr))
			return true;
	}
	return false;
}

int ex_name_claim(struct ex_name *name, struct net *net,
		  const struct sockaddr_storage *addr)
{
	int port;

	lockdep_assert_held(&ex_lock);
	name->net = net;
	name->addr = *addr;
	if (kofi_addr_port(addr)) {
		if (ex_name_is_taken(net, addr))
			return kofi_refuse("endpoint or passive_ep", -EADDRINUSE, "%pISpc: another endpoint of this machine has the address",
					   addr);
	} else {
		for (port = EX_FIRST_PORT; port <= U16_MAX; port++) {
			kofi_addr_set_port(&name->addr, port);
			if (!ex_name_is_taken(net, &name->addr))
				break;
		}
		if (port > U16_MAX)
			return kofi_refuse("endpoint or passive_ep", -EADDRINUSE, "no port is free");
	}
	list_add(&name->entry, &ex_names);
	return 0;
}

void ex_name_drop(struct ex_name *name)
{
	lockdep_assert_held(&ex_lock);
	list_del_init(&name->entry);
}

/* The end of a connection */

static void ex_over(struct ex_ep *ep, int err, const void *data, size_t len)
{
	lockdep_assert_held(&ex_lock);
	if (len)
		memcpy(ep->cm_data, data, len);
	kofi_conn_end(&ep->soft.kep.conn, err, 0, ep->cm_data, len);
	ex_end(ep);
}

static int ex_req_refuse(struct kofi_connreq *kreq, int err, const void *data, size_t len)
{
	struct ex_req *req = container_of(kreq, struct ex_req, req);
	struct ex_ep *active = req->active;

	lockdep_assert_held(&ex_lock);
	kfree(req);
	if (!active)
		return kofi_refuse("reject", -ECONNABORTED, "the peer of the request has gone");
	active->asks = NULL;
	ex_over(active, err, data, len);
	return 0;
}

/* The peer, and an endpoint that waits for an answer, hear that @ep has gone */
static void ex_detach(struct ex_ep *ep)
{
	lockdep_assert_held(&ex_lock);
	if (ep->asks)
		ep->asks->active = NULL;
	ep->asks = NULL;
	if (ep->req)
		ex_req_refuse(&ep->req->req, ECONNREFUSED, NULL, 0);
	ep->req = NULL;
	if (ep->peer)
		ex_over(ep->peer, ECONNABORTED, NULL, 0);
}

void ex_shut(struct kofi_soft_ep *soft, int err)
{
	struct ex_ep *ep = to_ex_ep(soft);

	ex_detach(ep);
	ex_over(ep, err, NULL, 0);
}

void ex_gone(struct kofi_soft_ep *soft)
{
	struct ex_ep *ep = to_ex_ep(soft);

	ex_name_drop(&ep->name);
	ex_detach(ep);
	ex_end(ep);
}

void ex_close(struct kofi_soft_ep *soft)
{
	ex_name_drop(&to_ex_ep(soft)->name);
	ex_shut(soft, ECANCELED);
}

void ex_connect_late(struct work_struct *work)
{
	struct ex_ep *ep = container_of(to_delayed_work(work), struct ex_ep,
					soft.kep.conn.late);

	mutex_lock(&ex_lock);
	if (ep->soft.kep.conn.state == KOFI_CONN_CONNECTING)
		ex_shut(&ep->soft, ETIMEDOUT);
	mutex_unlock(&ex_lock);
}

/* Listeners */

static int ex_pep_claim(struct kofi_pep *kpep, const struct sockaddr_storage *addr)
{
	static const struct sockaddr_storage any = { .ss_family = AF_INET };
	struct ex_pep *pep = container_of(kpep, struct ex_pep, soft.kpep);
	int ret;

	if (!pep->soft.fabric->net)
		return -ENODEV;
	if (addr->ss_family == AF_INET6)
		return kofi_refuse("passive_ep", -EADDRNOTAVAIL, "%pISpc: there are addresses of IPv4 only",
				   addr);
	ret = ex_name_claim(&pep->name, pep->soft.fabric->net,
			    addr->ss_family ? addr : &any);
	kpep->addr = pep->name.addr;
	return ret;
}

/* Requests come as soon as kofi_pep.listening is set */
static int ex_pep_listen(struct kofi_pep *kpep)
{
	return 0;
}

static void ex_pep_stop(struct kofi_pep *kpep)
{
	ex_name_drop(&container_of(kpep, struct ex_pep, soft.kpep)->name);
}

static void ex_pep_free(struct kofi_pep *kpep)
{
	struct ex_pep *pep = container_of(kpep, struct ex_pep, soft.kpep);

	kofi_soft_pep_fini(&pep->soft);
	kfree(pep);
}

static const struct kofi_pep_type ex_pep_type = {
	.ops = {
		.claim	= ex_pep_claim,
		.listen	= ex_pep_listen,
		.stop	= ex_pep_stop,
		.refuse	= ex_req_refuse,
		.free	= ex_pep_free,
	},
	.reqs		  = &ex_reqs,
	.lock		  = &ex_lock,
	.cm_data_size	  = EX_CM_DATA,
	.reject_data_size = EX_CM_DATA,
};

int ex_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		  struct fid_pep **fid_pep, void *context)
{
	struct ex_pep *pep;
	int ret;

	pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	if (!pep)
		return -ENOMEM;
	INIT_LIST_HEAD(&pep->name.entry);
	ret = kofi_soft_pep_init(&pep->soft, fabric, &ex_pep_type, info, context);
	if (ret) {
		kfree(pep);
		return ret;
	}
	*fid_pep = &pep->soft.kpep.pep;
	return 0;
}

/* The listener at an address, or at the wildcard address with its port; or NULL */
static struct ex_pep *ex_pep_find(struct net *net, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage any = { .ss_family = AF_INET };
	struct kofi_soft_fabric *fabric;
	struct kofi_soft_pep *pep;

	kofi_addr_set_port(&any, kofi_addr_port(addr));
	list_for_each_entry(fabric, &ex_type.fabrics, of_type) {
		if (fabric->net != net)
			continue;
		list_for_each_entry(pep, &fabric->peps, of_fabric) {
			if (pep->kpep.listening &&
			    (kofi_addr_equal(&pep->kpep.addr, addr) ||
			     kofi_addr_equal(&pep->kpep.addr, &any)))
				return container_of(pep, struct ex_pep, soft);
		}
	}
	return NULL;
}

/* Connecting */

/* guide: request */
/* What the accepting endpoint is opened with: as the listener, with both addresses */
static struct fi_info *ex_req_info(const struct ex_pep *pep, const struct ex_ep *ep,
				   const struct sockaddr_storage *dest)
{
	struct fi_info info = *pep->soft.kpep.info;

	info.src_addr = (void *)dest;
	info.src_addrlen = kofi_addr_len(dest);
	info.dest_addr = (void *)&ep->name.addr;
	info.dest_addrlen = kofi_addr_len(&ep->name.addr);
	return fi_dupinfo(&info);
}

/* -ECONNREFUSED: there is no listener, or it has too many requests */
static int ex_ask(struct ex_ep *ep, const struct sockaddr_storage *dest,
		  const void *param, size_t len)
{
	struct net *net = ep->soft.domain->fabric->net;
	struct ex_pep *pep = ex_pep_find(net, dest);
	struct ex_req *req;
	int ret;

	if (!pep)
		return -ECONNREFUSED;
	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return -ENOMEM;
	ret = kofi_connreq_add(&ex_reqs, &req->req, GFP_KERNEL);
	if (ret)
		goto free_req;
	req->active = ep;
	req->net = net;
	if (len)
		memcpy(req->data, param, len);
	req->req.event.info = ex_req_info(pep, ep, dest);
	req->req.event.cm_data = req->data;
	req->req.event.cm_len = len;
	ret = -ENOMEM;
	if (!req->req.event.info)
		goto cancel;
	ep->asks = req;
	ret = kofi_connreq_post(&ex_reqs, &req->req, &pep->soft.kpep.pep.fid,
				pep->soft.kpep.eq);
	if (ret)
		goto refused;
	return 0;

refused:
	ep->asks = NULL;
	ret = -ECONNREFUSED;
	fi_freeinfo(req->req.event.info);
cancel:
	kofi_connreq_cancel(&ex_reqs, &req->req);
free_req:
	kfree(req);
	return ret;
}

static int ex_connect(struct fid_ep *fid_ep, const void *addr, const void *param,
		      size_t paramlen)
{
	struct ex_ep *ep = fid_to_ex_ep(&fid_ep->fid);
	struct sockaddr_storage dest;
	int ret;

	ret = kofi_conn_check_data("connect", paramlen, EX_CM_DATA);
	if (ret)
		return ret;
	mutex_lock(&ex_lock);
	ret = kofi_conn_may_start(&ep->soft.kep.conn, false);
	if (!ret)
		ret = kofi_soft_dest(&ep->soft, &ep->name.addr, addr, &dest);
	if (ret)
		goto unlock;
	kofi_conn_start(&ep->soft.kep.conn, ex_type.wq);
	/* A refusal is an event, not an error of the call */
	ret = ex_ask(ep, &dest, param, paramlen);
	if (ret)
		ex_over(ep, -ret, NULL, 0);
	ret = 0;
unlock:
	mutex_unlock(&ex_lock);
	return ret;
}

/* guide: end */

static int ex_req_is_near(const struct kofi_connreq *req, const void *net)
{
	if (container_of(req, struct ex_req, req)->net == net)
		return 0;
	return kofi_refuse("endpoint", -FI_EDOMAIN, "info->handle: the request came to another network namespace");
}

void ex_reqs_exit(void)
{
	kofi_connreqs_destroy(&ex_reqs);
}

int ex_req_adopt(struct ex_ep *ep, fid_t handle)
{
	struct kofi_connreq *req;

	lockdep_assert_held(&ex_lock);
	req = kofi_connreq_take(&ex_reqs, handle, ex_req_is_near,
				ep->soft.domain->fabric->net);
	if (IS_ERR(req))
		return PTR_ERR(req);
	ep->req = container_of(req, struct ex_req, req);
	ep->soft.kep.conn.passive = true;
	return 0;
}

static void ex_link(struct ex_ep *ep, struct ex_ep *peer)
{
	unsigned long flags;

	kofi_soft_ep_get(&peer->soft);
	spin_lock_irqsave(&ep->soft.lock, flags);
	ep->peer = peer;
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

static int ex_accept(struct fid_ep *fid_ep, const void *param, size_t paramlen)
{
	struct ex_ep *ep = fid_to_ex_ep(&fid_ep->fid), *peer;
	int ret;

	ret = kofi_conn_check_data("accept", paramlen, EX_CM_DATA);
	if (ret)
		return ret;
	mutex_lock(&ex_lock);
	ret = kofi_conn_may_start(&ep->soft.kep.conn, true);
	if (ret)
		goto unlock;
	peer = ep->req->active;
	kfree(ep->req);
	ep->req = NULL;
	kofi_conn_start(&ep->soft.kep.conn, ex_type.wq);
	if (!peer) {
		ex_over(ep, ECONNABORTED, NULL, 0);
		goto unlock;
	}
	peer->asks = NULL;
	ex_link(ep, peer);
	ex_link(peer, ep);
	if (paramlen)
		memcpy(peer->cm_data, param, paramlen);
	kofi_conn_establish(&ep->soft.kep.conn, NULL, 0);
	kofi_conn_establish(&peer->soft.kep.conn, peer->cm_data, paramlen);
unlock:
	mutex_unlock(&ex_lock);
	return ret;
}

static int ex_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_addr_copy_out(&fid_to_ex_ep(fid)->name.addr, addr, addrlen);
}

static int ex_getpeer(struct fid_ep *fid_ep, void *addr, size_t *addrlen)
{
	struct ex_ep *ep = fid_to_ex_ep(&fid_ep->fid);
	int ret;

	mutex_lock(&ex_lock);
	if (ep->peer)
		ret = kofi_addr_copy_out(&ep->peer->name.addr, addr, addrlen);
	else
		ret = kofi_conn_refuse("getpeer", &ep->soft.kep.conn, -ENOTCONN, "connected");
	mutex_unlock(&ex_lock);
	return ret;
}

const struct fi_ops_cm ex_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_soft_setname,
	.getname	= ex_getname,
	.getpeer	= ex_getpeer,
	.connect	= ex_connect,
	.listen		= fi_no_listen,
	.accept		= ex_accept,
	.reject		= fi_no_reject,
	.shutdown	= kofi_soft_shutdown,
	.join		= fi_no_join,
};
