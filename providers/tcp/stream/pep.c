// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passive endpoints, and their connection requests until an endpoint has them.
 *
 *	accepted	the listener reads the request (listen.c)
 *	asked		the request is in the registry (kofi/connreq.h), and FI_CONNREQ reports it
 *			to the client
 *	adopted		fi_endpoint() has taken it (ktcp_req_adopt()), and fi_accept() answers
 *	refused		fi_reject(), the close of the listener, or a violation by the peer
 *
 * As many requests may be unread as the event queue has room for, and KTCP_REQUESTS may wait
 * for the client's answer, read or unread.  Further requests are refused.  Until the client
 * accepts, the socket of a request takes KTCP_EARLY_BUF bytes, and what comes in one piece
 * beyond that.  debugfs.c shows all of it.
 *
 * All of this happens under ktcp_cm_lock.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include <kofi/compat.h>
#include <kofi/refuse.h>
#include "stream.h"

static struct kofi_connreqs ktcp_reqs = KOFI_CONNREQS_INIT(ktcp_reqs);

static struct ktcp_req *to_ktcp_req(struct kofi_connreq *req)
{
	return container_of(req, struct ktcp_req, req);
}

static struct ktcp_pep *to_ktcp_pep(struct kofi_pep *kpep)
{
	return container_of(kpep, struct ktcp_pep, soft.kpep);
}

/* Refuses a request that has left the registry, or does not come into it */
static int ktcp_req_refuse(struct kofi_connreq *kreq, int err, const void *data,
			   size_t len)
{
	struct ktcp_req *req = to_ktcp_req(kreq);
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	req->pep->nr_requests--;
	ret = ktcp_cm_send(req->sk.sock, TCP_WIRE_NACK, 0, data, len);
	ktcp_req_free(req);
	return ret ? kofi_refuse("reject", -ECONNABORTED, "the peer of the request has gone") : 0;
}

/*
 * The info for the accepting endpoint: that of the listener, with both addresses, and with the
 * names of the network and the interface that the request came to, unless the listener's are those
 * of all
 */
static struct fi_info *ktcp_req_info(const struct ktcp_pep *pep,
				     struct socket *sock)
{
	struct fi_info info = *pep->soft.kpep.info;
	struct fi_domain_attr domain = *info.domain_attr;
	struct fi_fabric_attr fabric = *info.fabric_attr;
	struct sockaddr_storage src, dest;
	struct kofi_addr_place place;

	if (ktcp_sock_name(sock, false, &src) ||
	    ktcp_sock_name(sock, true, &dest))
		return NULL;
	kofi_addr_place(sock_net(sock->sk), &src, &place);
	if (domain.name && strcmp(domain.name, KTCP_NAME))
		domain.name = place.interface;
	if (fabric.name && strcmp(fabric.name, KTCP_NAME))
		fabric.name = place.network;
	info.domain_attr = &domain;
	info.fabric_attr = &fabric;
	info.addr_format = src.ss_family == AF_INET6 ? FI_SOCKADDR_IN6 :
						       FI_SOCKADDR_IN;
	info.src_addr = &src;
	info.src_addrlen = kofi_addr_len(&src);
	info.dest_addr = &dest;
	info.dest_addrlen = kofi_addr_len(&dest);
	return fi_dupinfo(&info);
}

/* Reports a request to the client; false: it is still the caller's */
static bool ktcp_req_post(struct ktcp_pep *pep, struct ktcp_req *req)
{
	struct kofi_event *event = &req->req.event;

	lockdep_assert_held(&ktcp_cm_lock);
	if (kofi_connreq_add(&ktcp_reqs, &req->req, GFP_KERNEL))
		return false;
	event->info = ktcp_req_info(pep, req->sk.sock);
	event->cm_data = req->msg.data;
	event->cm_len = req->msg.have - sizeof(req->msg.cm);
	if (!event->info)
		goto cancel;
	if (kofi_connreq_post(&ktcp_reqs, &req->req, &pep->soft.kpep.pep.fid, pep->soft.kpep.eq))
		goto free_info;
	return true;

free_info:
	fi_freeinfo(event->info);
cancel:
	kofi_connreq_cancel(&ktcp_reqs, &req->req);
	return false;
}

static void ktcp_pep_asked(struct ktcp_listener *listener, struct ktcp_req *req)
{
	struct ktcp_pep *pep = container_of(listener, struct ktcp_pep, listener);

	req->pep = pep;
	/* Nobody reads from the socket until an endpoint has it */
	ktcp_sock_mute(&req->sk);
	if (++pep->nr_requests > KTCP_REQUESTS || !ktcp_req_post(pep, req))
		ktcp_req_refuse(&req->req, ECONNREFUSED, NULL, 0);
}

static int ktcp_pep_claim(struct kofi_pep *kpep, const struct sockaddr_storage *addr)
{
	static const struct sockaddr_storage any = { .ss_family = AF_INET };
	struct sockaddr_storage at = addr->ss_family ? *addr : any;
	struct ktcp_pep *pep = to_ktcp_pep(kpep);
	unsigned int noio;
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	if (!pep->soft.fabric->net)
		return -ENODEV;
	noio = memalloc_noio_save();
	ret = ktcp_listener_bind(&pep->listener, pep->soft.fabric->net, &at);
	memalloc_noio_restore(noio);
	if (!ret)
		kpep->addr = at;
	return ret;
}

static int ktcp_pep_listen(struct kofi_pep *kpep)
{
	struct ktcp_listener *listener = &to_ktcp_pep(kpep)->listener;
	unsigned int noio = memalloc_noio_save();
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	ret = kernel_listen(listener->sk.sock, kpep->backlog ? : KTCP_BACKLOG);
	memalloc_noio_restore(noio);
	if (!ret)
		ktcp_listener_open(listener);
	return ret;
}

static void ktcp_pep_stop(struct kofi_pep *kpep)
{
	ktcp_listener_close(&to_ktcp_pep(kpep)->listener);
}

static void ktcp_pep_free(struct kofi_pep *kpep)
{
	struct ktcp_pep *pep = to_ktcp_pep(kpep);

	kofi_soft_pep_fini(&pep->soft);
	ktcp_listener_fini(&pep->listener);
	kfree(pep);
}

static const struct kofi_pep_type ktcp_pep_type = {
	.ops = {
		.claim	= ktcp_pep_claim,
		.listen	= ktcp_pep_listen,
		.stop	= ktcp_pep_stop,
		.refuse	= ktcp_req_refuse,
		.free	= ktcp_pep_free,
	},
	.reqs		= &ktcp_reqs,
	.lock		= &ktcp_cm_lock,
	.cm_data_size	= TCP_WIRE_CM_DATA,
	.reject_data_size = TCP_WIRE_CM_DATA,
};

int ktcp_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_pep **fid_pep, void *context)
{
	struct ktcp_pep *pep;
	int ret;

	pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	if (!pep)
		return -ENOMEM;
	ktcp_listener_init(&pep->listener, &pep->soft.kpep.pep.fid, info->tx_attr->tclass,
			   ktcp_pep_asked);
	ret = kofi_soft_pep_init(&pep->soft, fabric, &ktcp_pep_type, info,
				 context);
	if (ret) {
		kfree(pep);
		return ret;
	}
	*fid_pep = &pep->soft.kpep.pep;
	return 0;
}

/**
 * ktcp_show_listener() - Show what peers hold that have not been accepted
 * @file: where
 * @soft: the listener
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_show_listener(struct seq_file *file, struct kofi_soft_pep *soft)
{
	struct ktcp_pep *pep = to_ktcp_pep(&soft->kpep);
	struct kofi_connreq *kreq = NULL;
	unsigned int unread = 0;
	struct ktcp_req *req;
	unsigned long id;
	long bytes = 0;

	lockdep_assert_held(&ktcp_cm_lock);
	if (!soft->kpep.listening)
		return;
	list_for_each_entry(req, &pep->listener.greetings, entry)
		bytes += sk_rmem_alloc_get(req->sk.sock->sk);
	/* Requests come and go under the mutex only */
	xa_for_each(&ktcp_reqs.requests, id, kreq) {
		if (kofi_connreq_is_of(kreq, &soft->kpep.pep.fid))
			continue;
		/* Becomes NULL when the client reads the event */
		unread += !!READ_ONCE(kreq->event.info);
		bytes += sk_rmem_alloc_get(to_ktcp_req(kreq)->sk.sock->sk);
	}
	seq_printf(file, "%pISpc greetings %u/%u requests %u/%u unread %u/%zu rx %ld/%ld\n",
		   &soft->kpep.addr, pep->listener.nr_greetings, KTCP_GREETINGS,
		   pep->nr_requests, KTCP_REQUESTS, unread, soft->kpep.eq->size, bytes,
		   (long)(pep->listener.nr_greetings + pep->nr_requests) * KTCP_EARLY_BUF);
}

static int ktcp_req_is_near(const struct kofi_connreq *req, const void *net)
{
	if (container_of(req, struct ktcp_req, req)->net == net)
		return 0;
	return kofi_refuse("endpoint", -FI_EDOMAIN, "info->handle: the request came to another network namespace");
}

void ktcp_reqs_exit(void)
{
	kofi_connreqs_destroy(&ktcp_reqs);
}

/**
 * ktcp_req_adopt() - Give a connection request to the endpoint that answers it
 * @ep: a new endpoint
 * @handle: fi_info.handle
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: 0; -EINVAL: there is no such request any more; -FI_EDOMAIN: it came to another
 * namespace.
 */
int ktcp_req_adopt(struct ktcp_ep *ep, fid_t handle)
{
	struct kofi_connreq *req;

	lockdep_assert_held(&ktcp_cm_lock);
	req = kofi_connreq_take(&ktcp_reqs, handle, ktcp_req_is_near,
				ep->soft.domain->fabric->net);
	if (IS_ERR(req))
		return PTR_ERR(req);
	ep->req = to_ktcp_req(req);
	ep->req->pep->nr_requests--;
	ep->soft.kep.conn.passive = true;
	return 0;
}
