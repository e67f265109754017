// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connection requests: each owns its rdma_cm_id until an endpoint takes the id over or the request
 * is rejected.  include/kofi/connreq.h has the registry in which requests wait, and the rules by
 * which an endpoint gets one.
 *
 * verbs_connreq_handler() gets the events of the id until verbs_connreq_hand_over() gives the id
 * to an endpoint, under the id's handler lock.  The only event that can come before says that the
 * peer has gone.
 *
 * rdma_cm holds handler locks while a request arrives, and the registry's lock is taken inside
 * them.  So the functions that the registry calls under its lock make no rdma_cm call that sleeps.
 */
#include <kofi/refuse.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "../cm.h"
#include "../ep.h"
#include "../verbs.h"

struct kofi_connreqs verbs_connreqs = KOFI_CONNREQS_INIT(verbs_connreqs);

static struct verbs_connreq *to_verbs_connreq(const struct kofi_connreq *req)
{
	return container_of(req, struct verbs_connreq, req);
}

static int verbs_connreq_handler(struct rdma_cm_id *id,
				 struct rdma_cm_event *event)
{
	struct verbs_connreq *req = id->context;

	WRITE_ONCE(req->dead, true);
	return 0;
}

/* For a request to a listener at the wildcard address, which may come in on any device */
static struct fi_info *verbs_connreq_other_info(struct verbs_connreq *req,
						struct verbs_device *dev)
{
	const struct sockaddr_storage src = verbs_id_src(req->id);
	const struct sockaddr_storage dest = verbs_id_dest(req->id);
	struct fi_info *info;

	info = verbs_info_build(dev, req->id->port_num, &src, &dest, req->pep->kpep.info);
	if (IS_ERR(info))
		return NULL;
	*info->tx_attr = *req->pep->kpep.info->tx_attr;
	*info->rx_attr = *req->pep->kpep.info->rx_attr;
	info->caps = req->pep->kpep.info->caps;
	return info;
}

/* The listener's info with this connection's addresses */
static struct fi_info *verbs_connreq_own_info(struct verbs_connreq *req)
{
	struct sockaddr_storage src = verbs_id_src(req->id);
	struct sockaddr_storage dest = verbs_id_dest(req->id);
	struct fi_info info = *req->pep->kpep.info;

	info.src_addr = &src;
	info.src_addrlen = kofi_addr_len(&src);
	info.dest_addr = &dest;
	info.dest_addrlen = kofi_addr_len(&dest);
	return fi_dupinfo(&info);
}

static struct fi_info *verbs_connreq_info(struct verbs_connreq *req,
					  struct verbs_device *dev)
{
	const char *name = req->pep->kpep.info->domain_attr->name;
	struct fi_info *info;

	if (name && !strcmp(name, dev_name(&req->id->device->dev)))
		info = verbs_connreq_own_info(req);
	else
		info = verbs_connreq_other_info(req, dev);
	if (!info)
		return NULL;

	info->tx_attr->tclass = verbs_tclass_of_id(req->id);
	/* The passive endpoint's id has a reference to the namespace */
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
	struct kofi_event *event;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return NULL;
	if (kofi_connreq_add(&verbs_connreqs, &req->req, GFP_KERNEL))
		goto free_req;

	req->pep = pep;
	req->id = id;
	req->conn.responder_resources = ev->param.conn.responder_resources;
	req->conn.initiator_depth = ev->param.conn.initiator_depth;
	req->frame.raw = pep->raw;
	if (verbs_cm_unpack(&req->frame, ev->param.conn.private_data,
			    ev->param.conn.private_data_len))
		goto cancel;
	event = &req->req.event;
	event->cm_data = verbs_cm_data(&req->frame);
	event->cm_len = req->frame.len;
	event->info = verbs_connreq_info(req, dev);
	if (!event->info)
		goto cancel;
	return req;

cancel:
	kofi_connreq_cancel(&verbs_connreqs, &req->req);
free_req:
	kfree(req);
	return NULL;
}

/*
 * rdma_cm calls this with the handler lock of @id held.  On an error rdma_cm rejects the request
 * and destroys @id: malformed connection data, no memory, or a full event queue.
 */
int verbs_connreq_new(struct verbs_pep *pep, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct verbs_device *dev = verbs_device_find(id->device);
	struct verbs_connreq *req;
	int ret = -ECONNREFUSED;

	if (!dev)
		return ret;
	req = verbs_connreq_alloc(pep, dev, id, event);
	if (!req)
		goto leave;

	id->context = req;
	id->event_handler = verbs_connreq_handler;
	if (!kofi_connreq_post(&verbs_connreqs, &req->req, &pep->kpep.pep.fid,
			       pep->kpep.eq)) {
		ret = 0;
	} else {
		kofi_connreq_cancel(&verbs_connreqs, &req->req);
		fi_freeinfo(req->req.event.info);
		kfree(req);
	}
leave:
	/* A removal of the device finds the request in the registry from here on */
	verbs_device_leave(dev);
	return ret;
}

static void verbs_connreq_hand_over(struct verbs_connreq *req,
				    struct verbs_ep *ep)
{
	struct rdma_cm_id *id = req->id;

	rdma_lock_handler(id);
	ep->id = id;
	ep->conn = req->conn;
	ep->frame.raw = req->frame.raw;
	ep->frame.offer_port = req->frame.offer_port;
	ep->frame.offer_token = req->frame.offer_token;
	if (req->dead)
		kofi_conn_set_state(&ep->kep.conn, KOFI_CONN_DOWN);
	id->context = ep;
	id->event_handler = verbs_cm_handler;
	rdma_unlock_handler(id);
}

/* May the endpoint @context have the request?  The registry calls this with its lock held */
static int verbs_connreq_suits(const struct kofi_connreq *kreq,
			       const void *context)
{
	const struct verbs_connreq *req = to_verbs_connreq(kreq);
	const struct verbs_ep *ep = context;
	u32 tclass;

	if (req->id->device != ep->domain->dev->ibdev)
		return kofi_refuse("endpoint", -FI_EDOMAIN, "info->handle: the request came to the device %s",
				   req->id->device->name);
	/* The connection has the class that the peer has chosen, if that is known */
	tclass = verbs_tclass_of_id(req->id);
	if (ep->tclass && tclass && kofi_tclass_tos(ep->tclass) != kofi_tclass_tos(tclass))
		return kofi_refuse("endpoint", -EINVAL, "info->tx_attr->tclass %#x: the peer of the request has chosen %#x",
				   ep->tclass, tclass);
	if (READ_ONCE(req->dead))
		return kofi_refuse("endpoint", -ECONNABORTED,
				   "info->handle: the peer of the request has gone");
	return 0;
}

int verbs_connreq_take(fid_t handle, struct verbs_ep *ep)
{
	struct verbs_connreq *req;
	struct kofi_connreq *kreq;

	kreq = kofi_connreq_take(&verbs_connreqs, handle, verbs_connreq_suits,
				 ep);
	if (IS_ERR(kreq))
		return PTR_ERR(kreq);

	req = to_verbs_connreq(kreq);
	verbs_connreq_hand_over(req, ep);
	kfree(req);
	return 0;
}

/* See &struct kofi_pep_ops; the size of the data has been checked */
int verbs_connreq_refuse(struct kofi_connreq *kreq, int err, const void *data,
			 size_t len)
{
	struct verbs_connreq *req = to_verbs_connreq(kreq);
	struct verbs_cm_frame frame = { .raw = req->frame.raw };
	int ret;

	ret = verbs_cm_pack(&frame, data, len, VERBS_CM_REJ);
	if (ret || READ_ONCE(req->dead) ||
	    rdma_reject(req->id, frame.wire, verbs_cm_wire_len(&frame),
			IB_CM_REJ_CONSUMER_DEFINED))
		ret = kofi_refuse("reject", -ECONNABORTED, "the peer of the request has gone");
	rdma_destroy_id(req->id);
	kfree(req);
	return ret;
}

static int verbs_connreq_is_on(const struct kofi_connreq *req, const void *ibdev)
{
	return to_verbs_connreq(req)->id->device == ibdev ? 0 : -ENODEV;
}

/* The device is being removed, and no new request comes in on it */
void verbs_connreqs_drop_device(const struct ib_device *ibdev)
{
	struct verbs_connreq *req, *next;
	LIST_HEAD(dropped);

	kofi_connreqs_drop(&verbs_connreqs, verbs_connreq_is_on, ibdev, &dropped);
	/* Destroying the id of a request rejects it */
	list_for_each_entry_safe(req, next, &dropped, req.entry) {
		rdma_destroy_id(req->id);
		kfree(req);
	}
}
