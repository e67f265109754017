// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connection requests, from their arrival until an endpoint takes them over or
 * they are rejected.
 *
 * All requests stand in one list under one mutex.  A handle from a client is
 * looked up there by its address before it is believed, so one that is used up,
 * or never was a request, is refused.  Leaving the list is what decides among
 * fi_endpoint(), fi_reject(), the close of the passive endpoint and the removal of
 * the device: whoever takes a request out of the list owns it.  As long as it is in
 * the list, its passive endpoint is there.
 *
 * The request's rdma_cm_id has its events handled here until an endpoint has
 * taken it; the handler lock of the id makes the handing over atomic.  Nothing
 * but the news that the peer has gone can come.
 *
 * rdma_cm holds handler locks while a request arrives, and the list's mutex is
 * taken inside; so no rdma_cm call is made under the mutex.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "cm.h"
#include "ep.h"
#include "verbs.h"

static LIST_HEAD(verbs_connreqs);
static DEFINE_MUTEX(verbs_connreqs_lock);

static int verbs_connreq_handler(struct rdma_cm_id *id,
				 struct rdma_cm_event *event)
{
	struct verbs_connreq *req = id->context;

	WRITE_ONCE(req->dead, true);
	return 0;
}

static void verbs_connreq_list(struct verbs_connreq *req)
{
	mutex_lock(&verbs_connreqs_lock);
	list_add_tail(&req->entry, &verbs_connreqs);
	mutex_unlock(&verbs_connreqs_lock);
}

/* From now on it is the caller's, who holds the mutex, and knows no passive endpoint */
static void verbs_connreq_unlist(struct verbs_connreq *req)
{
	list_del(&req->entry);
	if (kofi_eq_withdraw(req->pep->eq, &req->event))
		fi_freeinfo(req->event.info);
	req->pep = NULL;
}

static struct verbs_connreq *verbs_connreq_find(const struct fid *handle)
{
	struct verbs_connreq *req;

	lockdep_assert_held(&verbs_connreqs_lock);
	list_for_each_entry(req, &verbs_connreqs, entry)
		if (&req->fid == handle)
			return req;
	return NULL;
}

/* Through a wildcard address a request may come in on any device */
static struct fi_info *verbs_connreq_other_info(struct verbs_connreq *req,
						struct verbs_device *dev)
{
	const struct rdma_addr *addr = &req->id->route.addr;
	struct fi_info *info;

	info = verbs_info_build(dev, req->id->port_num, &addr->src_addr,
				&addr->dst_addr, req->pep->info);
	if (IS_ERR(info))
		return NULL;
	*info->tx_attr = *req->pep->info->tx_attr;
	*info->rx_attr = *req->pep->info->rx_attr;
	info->caps = req->pep->info->caps;
	return info;
}

/* As the listener's, with this connection's addresses; no device is asked */
static struct fi_info *verbs_connreq_own_info(struct verbs_connreq *req)
{
	struct rdma_addr *addr = &req->id->route.addr;
	struct fi_info info = *req->pep->info;

	info.src_addr = &addr->src_addr;
	info.src_addrlen = verbs_addr_len(&addr->src_addr);
	info.dest_addr = &addr->dst_addr;
	info.dest_addrlen = verbs_addr_len(&addr->dst_addr);
	return fi_dupinfo(&info);
}

static struct fi_info *verbs_connreq_info(struct verbs_connreq *req,
					  struct verbs_device *dev)
{
	const char *name = req->pep->info->domain_attr->name;
	struct fi_info *info;

	if (name && !strcmp(name, dev_name(&req->id->device->dev)))
		info = verbs_connreq_own_info(req);
	else
		info = verbs_connreq_other_info(req, dev);
	if (!info)
		return NULL;

	info->tx_attr->tclass = verbs_tclass_of_id(req->id);
	info->handle = &req->fid;
	info->fabric_attr->net = req->pep->fabric->net;
	info->fabric_attr->api_version = req->pep->fabric->fabric.api_version;
	return info;
}

static struct verbs_connreq *verbs_connreq_alloc(struct verbs_pep *pep,
						 struct verbs_device *dev,
						 struct rdma_cm_id *id,
						 const struct rdma_cm_event *ev)
{
	struct verbs_connreq *req;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return NULL;

	req->fid.fclass = FI_CLASS_CONNREQ;
	req->pep = pep;
	req->id = id;
	req->conn.responder_resources = ev->param.conn.responder_resources;
	req->conn.initiator_depth = ev->param.conn.initiator_depth;
	kofi_event_init(&req->event, &pep->pep.fid);
	req->event.event = FI_CONNREQ;
	req->frame.raw = pep->raw;
	req->event.cm_data = verbs_cm_data(&req->frame);

	if (!verbs_cm_unpack(&req->frame, ev->param.conn.private_data,
			     ev->param.conn.private_data_len)) {
		req->event.cm_len = req->frame.len;
		req->event.info = verbs_connreq_info(req, dev);
	}
	if (!req->event.info) {
		kfree(req);
		return NULL;
	}
	return req;
}

/* On a device that has been entered: if it is removed, the request is in the list */
static int verbs_connreq_announce(struct verbs_pep *pep,
				  struct verbs_device *dev,
				  struct rdma_cm_id *id,
				  const struct rdma_cm_event *event)
{
	struct verbs_connreq *req;

	req = verbs_connreq_alloc(pep, dev, id, event);
	if (!req)
		return -ECONNREFUSED;

	id->context = req;
	id->event_handler = verbs_connreq_handler;
	verbs_connreq_list(req);
	if (!kofi_eq_post(pep->eq, &req->event))
		return 0;

	/* Never announced, so nobody else can know it */
	mutex_lock(&verbs_connreqs_lock);
	verbs_connreq_unlist(req);
	mutex_unlock(&verbs_connreqs_lock);
	fi_freeinfo(req->event.info);
	kfree(req);
	return -ECONNREFUSED;
}

/*
 * Called by rdma_cm with the handler lock of @id held.  An error makes rdma_cm
 * reject the request and destroy @id: connection data out of form, no memory, or
 * too many requests waiting in the event queue.
 */
int verbs_connreq_new(struct verbs_pep *pep, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct verbs_device *dev = verbs_device_find(id->device);
	int ret;

	if (!dev)
		return -ECONNREFUSED;
	ret = verbs_connreq_announce(pep, dev, id, event);
	verbs_device_leave(dev);
	return ret;
}

/* The endpoint handles the id's events from now on */
static void verbs_connreq_hand_over(struct verbs_connreq *req,
				    struct verbs_ep *ep)
{
	struct rdma_cm_id *id = req->id;

	rdma_lock_handler(id);
	ep->id = id;
	ep->conn = req->conn;
	ep->frame.raw = req->frame.raw;
	if (req->dead)
		verbs_ep_set_state(ep, VERBS_EP_DOWN);
	id->context = ep;
	id->event_handler = verbs_cm_handler;
	rdma_unlock_handler(id);
}

/* The peer has chosen a class, if it could; another one cannot be had */
static bool verbs_connreq_class_fits(const struct verbs_connreq *req,
				     const struct verbs_ep *ep)
{
	u32 tclass = verbs_tclass_of_id(req->id);

	return !ep->tclass || !tclass ||
	       verbs_tclass_tos(ep->tclass) == verbs_tclass_tos(tclass);
}

int verbs_connreq_take(const struct fid *handle, struct verbs_ep *ep)
{
	struct verbs_connreq *req;
	int ret = 0;

	mutex_lock(&verbs_connreqs_lock);
	req = verbs_connreq_find(handle);
	if (!req)
		ret = -EINVAL;
	else if (req->id->device != ep->domain->dev->ibdev)
		ret = -FI_EDOMAIN;
	else if (!verbs_connreq_class_fits(req, ep))
		ret = -EINVAL;
	else if (READ_ONCE(req->dead))
		ret = -ECONNABORTED;
	else
		verbs_connreq_unlist(req);
	mutex_unlock(&verbs_connreqs_lock);
	if (ret)
		return ret;

	verbs_connreq_hand_over(req, ep);
	kfree(req);
	return 0;
}

int verbs_connreq_reject(struct verbs_pep *pep, const struct fid *handle,
			 const struct verbs_cm_frame *frame)
{
	struct verbs_connreq *req;
	int ret = 0;

	mutex_lock(&verbs_connreqs_lock);
	req = verbs_connreq_find(handle);
	if (req && req->pep == pep)
		verbs_connreq_unlist(req);
	else
		ret = -EINVAL;
	mutex_unlock(&verbs_connreqs_lock);
	if (ret)
		return ret;

	if (READ_ONCE(req->dead) ||
	    rdma_reject(req->id, frame->wire, verbs_cm_wire_len(frame),
			IB_CM_REJ_CONSUMER_DEFINED))
		ret = -ECONNABORTED;
	rdma_destroy_id(req->id);
	kfree(req);
	return ret;
}

/* One of a passive endpoint, or on a device */
static struct verbs_connreq *verbs_connreq_pop(const struct verbs_pep *pep,
					       const struct ib_device *ibdev)
{
	struct verbs_connreq *req, *found = NULL;

	mutex_lock(&verbs_connreqs_lock);
	list_for_each_entry(req, &verbs_connreqs, entry) {
		if (req->pep == pep || req->id->device == ibdev) {
			verbs_connreq_unlist(req);
			found = req;
			break;
		}
	}
	mutex_unlock(&verbs_connreqs_lock);
	return found;
}

/* Destroying the id of a request rejects it */
static void verbs_connreq_drop(const struct verbs_pep *pep,
			       const struct ib_device *ibdev)
{
	struct verbs_connreq *req;

	while ((req = verbs_connreq_pop(pep, ibdev))) {
		rdma_destroy_id(req->id);
		kfree(req);
	}
}

void verbs_connreq_drop_all(struct verbs_pep *pep)
{
	verbs_connreq_drop(pep, NULL);
}

/* The device is being removed, and no new request of it comes in */
void verbs_connreqs_drop_device(const struct ib_device *ibdev)
{
	verbs_connreq_drop(NULL, ibdev);
}
