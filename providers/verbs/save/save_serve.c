// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The target of FI_COMMIT_COMPLETE and FI_SAVE: the listener of a domain, the sessions of
 * peers, and their requests; see save.h.
 *
 * A domain listens from its first endpoint with FI_RMA_PMEM until it is closed, at the wildcard
 * address, as its endpoints may have different ones.  A connection request has the token that one
 * of the endpoints has offered its peer, and becomes the session of that endpoint, which has at
 * most one.  All other requests are rejected.  The session ends with its endpoint.
 *
 * A region of persistent memory is in domain->saved, too, a map of regions that the processor
 * reaches (kofi/mr_map.h), under the key of the device.  So the map checks a peer's request as any
 * access of a provider without hardware: the key, the bounds, the rights.
 *
 * The worker of the session's completion queue executes requests one at a time.  There is no
 * receive for the next request until the worker is about to send the answer.
 *
 * Locking: domain->save_lock guards the list of endpoints, their sessions, and the listener.
 * rdma_cm calls verbs_save_request_handler() under the handler locks of the listener and the
 * request, and the handler takes save_lock.  So no holder of save_lock takes a handler lock, and
 * listeners are made and destroyed without save_lock (verbs_save_join()).
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <kofi/iov.h>
#include <kofi/mr_map.h>
#include <kofi/rma.h>
#include "../mr.h"
#include "save.h"

#define VERBS_SAVE_BACKLOG	64

static int verbs_save_may_register(const struct kofi_mr_map *map)
{
	return 0;
}

/* Regions for single operations are never persistent */
static int verbs_save_no_enable(struct kofi_mr *mr)
{
	return -ENOSYS;
}

static int verbs_save_no_disable(struct kofi_mr *mr, void *context, void **token)
{
	return -ENOSYS;
}

static void verbs_save_not_disabled(struct kofi_mr *mr, u64 key, void *token)
{
}

const struct kofi_mr_ops verbs_save_mr_ops = {
	.size		= sizeof(struct kofi_mr),
	.may_register	= verbs_save_may_register,
	.enable		= verbs_save_no_enable,
	.disable	= verbs_save_no_disable,
	.disabled	= verbs_save_not_disabled,
};

/* Requests */

/* Finds the bytes of the region with @addr; false: there is none, or the peer has no right */
static bool verbs_save_whole(struct verbs_domain *domain, u64 key, u64 addr,
			     struct fi_rma_iov *iov)
{
	struct kofi_mr *mr;
	size_t offset;

	mr = kofi_mr_get(&domain->saved, NULL, key, addr, 0, FI_REMOTE_WRITE, &offset);
	if (IS_ERR(mr))
		return false;
	*iov = (struct fi_rma_iov) { .addr = addr - offset, .len = mr->iov->len, .key = key };
	kofi_mr_put(mr);
	return true;
}

/* false: refused */
static bool verbs_save_commit(struct verbs_domain *domain, const struct fi_rma_iov *iov)
{
	struct kofi_rma rma;
	bool persistent;

	if (kofi_rma_get(&rma, &domain->saved, NULL, iov, 1, FI_REMOTE_WRITE))
		return false;
	persistent = kofi_rma_is_persistent(&rma);
	if (persistent && iov->len)
		persistent = !kofi_rma_commit(&rma);
	kofi_rma_put(&rma);
	return persistent;
}

/* No receive is posted meanwhile, so @in does not change */
static bool verbs_save_execute(struct verbs_domain *domain, const struct verbs_save_request *in)
{
	u32 i, key = be32_to_cpu(in->key), count = be32_to_cpu(in->count);
	struct fi_rma_iov iov = { .addr = be64_to_cpu(in->addr), .key = key };

	if (in->whole)
		return verbs_save_whole(domain, key, iov.addr, &iov) &&
		       verbs_save_commit(domain, &iov);
	if (count > VERBS_SAVE_RANGES || !verbs_save_commit(domain, &iov))
		return false;
	for (i = 0; i < count; i++) {
		iov.addr = be64_to_cpu(in->range[i].addr);
		iov.len = be64_to_cpu(in->range[i].len);
		if (!verbs_save_commit(domain, &iov))
			return false;
	}
	return true;
}

/*
 * A peer that breaks the protocol loses its session.  If its request comes before the last message
 * of the handshake, verbs_save_session_handler() disconnects.
 */
static void verbs_save_session_break(struct verbs_save_end *end)
{
	verbs_save_end_fail(end, -EPROTO);
	rdma_disconnect(end->id);
}

static void verbs_save_requested(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_save_end *end = container_of(wc->wr_cqe, struct verbs_save_end, received);
	struct verbs_domain *domain = end->saves->ep->domain;
	struct verbs_save_msg *msg = end->msg;
	int ret;

	if (wc->status != IB_WC_SUCCESS)
		return;
	if (wc->byte_len != sizeof(msg->request)) {
		verbs_save_session_break(end);
		return;
	}
	ib_dma_sync_single_for_cpu(cq->device, end->dma, sizeof(*msg), DMA_BIDIRECTIONAL);
	msg->answer.number = msg->request.number;
	msg->answer.refused = cpu_to_be32(!verbs_save_execute(domain, &msg->request));
	ret = verbs_save_end_recv(end, &msg->request, sizeof(msg->request));
	if (!ret)
		ret = verbs_save_end_send(end, &msg->answer, sizeof(msg->answer));
	if (ret)
		verbs_save_session_break(end);
}

/* Sessions */

static int verbs_save_session_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	const struct verbs_save_end *end = id->context;
	unsigned int noio;

	/* The session stays until its endpoint goes, even when the peer has disconnected */
	if (event->event != RDMA_CM_EVENT_DISCONNECTED &&
	    (event->event != RDMA_CM_EVENT_ESTABLISHED || !READ_ONCE(end->error)))
		return 0;
	noio = memalloc_noio_save();
	rdma_disconnect(id);
	memalloc_noio_restore(noio);
	return 0;
}

/* Returns the endpoint that the request names, if it has no session yet */
static struct verbs_saves *verbs_save_find(struct verbs_domain *domain,
					   const struct rdma_conn_param *param)
{
	const struct verbs_save_offer *offer = param->private_data;
	struct verbs_saves *saves;

	lockdep_assert_held(&domain->save_lock);
	/* Some transports pad the data */
	if (!offer || param->private_data_len < sizeof(*offer) ||
	    be32_to_cpu(offer->magic) != VERBS_SAVE_MAGIC ||
	    be16_to_cpu(offer->version) != VERBS_SAVE_VERSION)
		return NULL;
	list_for_each_entry(saves, &domain->savers, entry)
		if (saves->token == be64_to_cpu(offer->token))
			return saves->session ? NULL : saves;
	return NULL;
}

static int verbs_save_session_new(struct verbs_saves *saves, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= 6,
		.rnr_retry_count	= 7,
	};
	struct verbs_save_end *end;
	int ret;

	lockdep_assert_held(&saves->ep->domain->save_lock);
	end = verbs_save_end_new(saves, id, verbs_save_requested);
	if (IS_ERR(end))
		return PTR_ERR(end);
	id->context = end;
	id->event_handler = verbs_save_session_handler;
	ret = verbs_save_end_recv(end, &end->msg->request, sizeof(end->msg->request));
	if (!ret)
		ret = rdma_accept(id, &param);
	if (ret)
		verbs_save_end_free(end);
	else
		saves->session = end;
	return ret;
}

/*
 * If this returns an error, rdma_cm rejects the request and destroys its id.  The close of an
 * endpoint takes save_lock, so what is allocated under it does not wait for I/O.
 */
static int verbs_save_request_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_domain *domain = id->context;
	struct verbs_saves *saves;
	int ret = -ECONNREFUSED;
	unsigned int noio;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	if (id->device != domain->dev->ibdev)
		return ret;
	noio = memalloc_noio_save();
	mutex_lock(&domain->save_lock);
	saves = verbs_save_find(domain, &event->param.conn);
	if (saves)
		ret = verbs_save_session_new(saves, id);
	mutex_unlock(&domain->save_lock);
	memalloc_noio_restore(noio);
	return ret;
}

/* The listener */

static struct rdma_cm_id *verbs_save_listen_at(struct verbs_domain *domain, u16 family)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct rdma_cm_id *id;
	int ret;

	id = verbs_create_id(domain->fabric, verbs_save_request_handler, domain);
	if (IS_ERR(id))
		return id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&any);
	if (!ret)
		ret = rdma_listen(id, VERBS_SAVE_BACKLOG);
	if (!ret)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(ret);
}

/* The wildcard address of IPv6 takes both families, where there is IPv6 */
static struct rdma_cm_id *verbs_save_listen(struct verbs_domain *domain)
{
	struct rdma_cm_id *id = verbs_save_listen_at(domain, AF_INET6);

	return IS_ERR(id) ? verbs_save_listen_at(domain, AF_INET) : id;
}

/**
 * verbs_save_join() - Let the peer of an endpoint save
 * @saves: of the endpoint; ->ep is set
 *
 * Context: may sleep.
 * Return: 0; or the errno of rdma_cm.
 */
int verbs_save_join(struct verbs_saves *saves)
{
	struct verbs_domain *domain = saves->ep->domain;
	struct rdma_cm_id *id = NULL;

	get_random_bytes(&saves->token, sizeof(saves->token));
	if (!READ_ONCE(domain->save_listener)) {
		id = verbs_save_listen(domain);
		if (IS_ERR(id))
			return PTR_ERR(id);
	}
	mutex_lock(&domain->save_lock);
	if (!domain->save_listener) {
		WRITE_ONCE(domain->save_listener, id);
		id = NULL;
	}
	list_add(&saves->entry, &domain->savers);
	mutex_unlock(&domain->save_lock);
	/* Another endpoint was faster, and no peer knows this listener */
	if (id)
		rdma_destroy_id(id);
	return 0;
}

void verbs_save_make_offer(const struct verbs_saves *saves, struct verbs_save_offer *offer)
{
	const struct rdma_cm_id *listener = saves->ep->domain->save_listener;

	*offer = (struct verbs_save_offer) {
		.magic		= cpu_to_be32(VERBS_SAVE_MAGIC),
		.port		= cpu_to_be16(kofi_addr_port(&listener->route.addr.src_addr)),
		.version	= cpu_to_be16(VERBS_SAVE_VERSION),
		.token		= cpu_to_be64(saves->token),
	};
}

/* The endpoint goes: ends the peer's session */
void verbs_save_leave(struct verbs_saves *saves)
{
	struct verbs_domain *domain = saves->ep->domain;
	struct verbs_save_end *session;

	mutex_lock(&domain->save_lock);
	list_del(&saves->entry);
	session = saves->session;
	mutex_unlock(&domain->save_lock);
	if (session)
		verbs_save_end_destroy(session);
}
