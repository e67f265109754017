// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kOFI's side of mem.c.
 */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kofi.h"

/**
 * struct kofi_objects - Objects of one kind
 * @f: the fabric
 * @cqs: completion queues of endpoints, each shared by @per_cq endpoints
 * @nr_cqs: elements of @cqs
 * @per_cq: endpoints of one completion queue
 * @spec: number and depth of the objects
 * @fids: the objects
 * @nr: elements of @fids
 * @buf: memory of the regions
 * @known: addresses in the address vector that no endpoint has
 * @peers: a hub and the endpoints that are connected with it, or NULL
 * @met: how many endpoints use a queue: the hub and its peers
 */
struct kofi_objects {
	struct perf_fabric	f;
	struct fid_cq		**cqs;
	unsigned int		nr_cqs;
	unsigned int		per_cq;
	struct perf_spec	spec;
	struct fid		**fids;
	unsigned int		nr;
	void			*buf;
	unsigned int		known;
	struct peers		*peers;
	unsigned int		met;
};

static void kofi_objects_close(void *objects)
{
	struct kofi_objects *o = objects;

	if (o->peers)
		peers_close(o->peers);
	while (o->nr)
		fi_close(o->fids[--o->nr]);
	while (o->nr_cqs)
		fi_close(&o->cqs[--o->nr_cqs]->fid);
	perf_fabric_close(&o->f);
	kvfree(o->cqs);
	kvfree(o->fids);
	kfree(o->buf);
	kfree(o);
}

static int kofi_objects_cqs(struct kofi_objects *o)
{
	size_t size = o->per_cq * (o->spec.depth.tx + o->spec.depth.rx);
	unsigned int i, count = DIV_ROUND_UP(2 * o->spec.links, o->per_cq);
	int ret = 0;

	o->cqs = kvcalloc(count, sizeof(*o->cqs), GFP_KERNEL);
	if (!o->cqs)
		return -ENOMEM;
	for (i = 0; i < count && !ret; i++) {
		ret = kofi_cq_open(&o->f, size, &o->cqs[i]);
		o->nr_cqs += !ret;
	}
	return ret;
}

static void *kofi_objects_open(const struct perf_spec *spec, bool rma)
{
	struct kofi_objects *o = kzalloc(sizeof(*o), GFP_KERNEL);
	int ret;

	if (!o)
		return ERR_PTR(-ENOMEM);
	o->spec = *spec;
	o->per_cq = PERF_PER_CQ / (spec->depth.tx + spec->depth.rx);
	o->fids = kvcalloc(2 * spec->links, sizeof(*o->fids), GFP_KERNEL);
	o->buf = kzalloc(PERF_IO_LEN, GFP_KERNEL);
	ret = o->fids && o->buf ? 0 : -ENOMEM;
	if (!ret)
		ret = perf_fabric_open(&o->f, &spec->way, spec->node, spec->depth,
				       FI_MSG | (rma ? FI_RMA : 0));
	if (!ret)
		ret = kofi_objects_cqs(o);
	if (!ret)
		return o;
	kofi_objects_close(o);
	return ERR_PTR(ret);
}

static int kofi_objects_know(struct kofi_objects *o)
{
	struct sockaddr_in addr = *(const struct sockaddr_in *)o->f.info->src_addr;
	int ret;

	if (!o->f.av || addr.sin_family != AF_INET)
		return -EINVAL;
	addr.sin_port = htons(++o->known);
	ret = fi_av_insert(o->f.av, &addr, 1, NULL, 0, NULL);
	return ret < 0 ? ret : ret == 1 ? 0 : -EINVAL;
}

static int kofi_objects_meet(struct kofi_objects *o)
{
	struct peers *p = o->peers;
	int ret;

	if (!p) {
		p = peers_open(&o->f, o->cqs[0], o->spec.depth.tx, o->spec.depth.tx,
			       o->spec.links);
		if (IS_ERR(p))
			return PTR_ERR(p);
		o->peers = p;
		o->met = 1;
	}
	ret = peers_add(p, o->cqs[o->met++ / o->per_cq]);
	return ret ?: min_t(s64, peers_meet(p, 1), 0);
}

static int kofi_objects_add(void *objects, const char *kind)
{
	struct kofi_objects *o = objects;
	struct perf_link link;
	struct fid_mr *mr;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int ret;

	if (!strncmp(kind, "ep", 2)) {
		ret = perf_ep_open(&o->f, o->f.info, o->cqs[o->nr / o->per_cq],
				   &ep);
		if (!ret)
			o->fids[o->nr++] = &ep->fid;
	} else if (!strcmp(kind, "conn")) {
		cq = o->cqs[o->nr / o->per_cq];
		ret = perf_connect(&o->f, &link, cq, cq);
		if (!ret) {
			o->fids[o->nr++] = &link.a->fid;
			o->fids[o->nr++] = &link.b->fid;
		}
	} else if (!strcmp(kind, "peer")) {
		ret = kofi_objects_know(o);
	} else if (!strcmp(kind, "met")) {
		ret = kofi_objects_meet(o);
	} else if (!strcmp(kind, "cq")) {
		ret = kofi_cq_open(&o->f, o->spec.depth.tx, &cq);
		if (!ret)
			o->fids[o->nr++] = &cq->fid;
	} else if (!strcmp(kind, "mr")) {
		ret = fi_mr_reg(o->f.domain, o->buf, PERF_IO_LEN,
				FI_REMOTE_READ, 0, 0, 0, &mr, NULL);
		if (!ret)
			o->fids[o->nr++] = &mr->fid;
	} else {
		ret = -EINVAL;
	}
	return ret;
}

static int kofi_objects_connect(void *objects)
{
	struct kofi_objects *o = objects;
	struct perf_link link;
	int ret;

	ret = perf_connect(&o->f, &link, o->cqs[0], o->cqs[0]);
	if (!ret)
		perf_disconnect(&link);
	return ret;
}

const struct perf_mem_ops kofi_mem_ops = {
	.open		= kofi_objects_open,
	.close		= kofi_objects_close,
	.add		= kofi_objects_add,
	.connect	= kofi_objects_connect,
};
