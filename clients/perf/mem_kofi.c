// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kOFI's side of mem.c.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kofi.h"

/**
 * struct kofi_objects - Objects of one kind
 * @f: where
 * @cq: of endpoints
 * @spec: how many, how deep
 * @fids: the objects, @nr of them
 * @buf: of memory regions
 */
struct kofi_objects {
	struct perf_fabric	f;
	struct fid_cq		*cq;
	struct perf_spec	spec;
	struct fid		**fids;
	unsigned int		nr;
	void			*buf;
};

static void kofi_objects_close(void *objects)
{
	struct kofi_objects *o = objects;

	while (o->nr)
		fi_close(o->fids[--o->nr]);
	if (o->cq)
		fi_close(&o->cq->fid);
	perf_fabric_close(&o->f);
	kvfree(o->fids);
	kfree(o->buf);
	kfree(o);
}

static void *kofi_objects_open(const struct perf_spec *spec, bool rma)
{
	struct kofi_objects *o = kzalloc(sizeof(*o), GFP_KERNEL);
	size_t size = 2 * spec->depth.tx * spec->links;
	int ret;

	if (!o)
		return ERR_PTR(-ENOMEM);
	o->spec = *spec;
	o->fids = kvcalloc(spec->links, sizeof(*o->fids), GFP_KERNEL);
	o->buf = kzalloc(PERF_IO_LEN, GFP_KERNEL);
	ret = o->fids && o->buf ? 0 : -ENOMEM;
	if (!ret)
		ret = perf_fabric_open(&o->f, spec->node, spec->depth,
				       FI_MSG | (rma ? FI_RMA : 0));
	if (!ret)
		ret = kofi_cq_open(&o->f, size, &o->cq);
	if (!ret)
		return o;
	kofi_objects_close(o);
	return ERR_PTR(ret);
}

static int kofi_objects_add(void *objects, const char *kind)
{
	struct kofi_objects *o = objects;
	struct fid_mr *mr;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int ret;

	if (!strcmp(kind, "ep")) {
		ret = perf_ep_open(&o->f, o->f.info, o->cq, &ep);
		if (!ret)
			o->fids[o->nr++] = &ep->fid;
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

	ret = perf_connect(&o->f, &link, o->cq, o->cq);
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
