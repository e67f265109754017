// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kOFI's side: operations with a callback each (FI_WAIT_DONE).
 *
 * Buffers come without descriptor, so the provider maps each buffer, as the baseline
 * does.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/fi_rma.h>

#include "kofi.h"

void kofi_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct kofi_req *r = container_of(done, struct kofi_req, done);

	r->req.inv = entry->flags & FI_REMOTE_INV ? entry->data : 0;
	r->req.done(&r->req, -entry->err);
}

static int kofi_recv(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);
	const struct kofi_end *end = req->end;

	r->done.done = kofi_done;
	return fi_recv(end->ep, req->buf, req->len, NULL, FI_ADDR_UNSPEC, &r->done);
}

static int kofi_send(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);
	const struct kofi_end *end = req->end;

	r->done.done = kofi_done;
	return fi_send(end->ep, req->buf, req->len, NULL, end->peer, &r->done);
}

static int kofi_chain(struct perf_req **reqs, unsigned int count)
{
	struct kvec iov;
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
	};
	const struct kofi_end *end = reqs[0]->end;
	struct kofi_req *r;
	unsigned int i;
	int ret = 0;

	msg.addr = end->peer;
	for (i = 0; i < count && !ret; i++) {
		r = to_kofi_req(reqs[i]);
		r->done.done = kofi_done;
		iov = (struct kvec) { r->req.buf, r->req.len };
		msg.context = &r->done;
		ret = fi_sendmsg(end->ep, &msg, FI_COMPLETION |
				 (i < count - 1 ? FI_MORE : 0));
	}
	return ret;
}

static int kofi_write(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);
	const struct kofi_end *end = req->end;

	r->done.done = kofi_done;
	return fi_write(end->ep, req->buf, req->len, NULL, end->peer, req->bed->addr,
			req->bed->key, &r->done);
}

static int kofi_read(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);
	const struct kofi_end *end = req->end;

	r->done.done = kofi_done;
	return fi_read(end->ep, req->buf, req->len, NULL, end->peer, req->bed->addr,
		       req->bed->key, &r->done);
}

static void *kofi_end(struct perf_bed *bed, unsigned int link, bool far)
{
	return &to_kofi_bed(bed)->ends[2 * link + far];
}

int kofi_cq_open(struct perf_fabric *f, size_t size, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {
		.size		= size,
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= f->way.process ? FI_COMP_WORKQUEUE : FI_COMP_SOFTIRQ,
	};

	return fi_cq_open(f->domain, &attr, cq, NULL);
}

static void kofi_close(struct perf_bed *perf_bed)
{
	struct kofi_bed *bed = to_kofi_bed(perf_bed);
	unsigned int i;

	kofi_mrs_close(bed);
	for (i = 0; i < bed->nr_links; i++)
		perf_disconnect(&bed->links[i]);
	for (i = 0; i < 2; i++)
		if (bed->cqs[i])
			fi_close(&bed->cqs[i]->fid);
	perf_fabric_close(&bed->f);
	kvfree(bed->ends);
	kvfree(bed->links);
	kfree(bed->memory);
	kfree(bed);
}

static int kofi_open_links(struct kofi_bed *bed, const struct perf_spec *spec)
{
	size_t size = spec->links * (bed->f.depth.tx + bed->f.depth.rx);
	const struct perf_link *link;
	int i, ret = 0;

	bed->links = kvcalloc(spec->links, sizeof(*bed->links), GFP_KERNEL);
	bed->ends = kvcalloc(2 * spec->links, sizeof(*bed->ends), GFP_KERNEL);
	if (!bed->links || !bed->ends)
		return -ENOMEM;
	for (i = 0; i < 2 && !ret; i++)
		ret = kofi_cq_open(&bed->f, size, &bed->cqs[i]);
	for (i = 0; i < spec->links && !ret; i++) {
		ret = perf_connect(&bed->f, &bed->links[i], bed->cqs[0],
				   bed->cqs[1]);
		link = &bed->links[i];
		bed->ends[2 * i] = (struct kofi_end) { link->a, link->to_b };
		bed->ends[2 * i + 1] = (struct kofi_end) { link->b, link->to_a };
		bed->nr_links += !ret;
	}
	return ret;
}

static struct perf_bed *kofi_open_way(const struct perf_spec *spec, const struct perf_way *way,
				      const struct perf_side *side)
{
	u64 caps = FI_MSG | (spec->rma || spec->ios ? FI_RMA : 0);
	struct perf_depth depth = spec->depth;
	struct kofi_bed *bed = kzalloc(sizeof(*bed), GFP_KERNEL);
	int ret;

	if (!bed)
		return ERR_PTR(-ENOMEM);
	bed->bed.side = side;
	/* Half of the queue is for peers that are not connected yet */
	if (way->rdm)
		depth.tx *= 2;
	ret = perf_fabric_open(&bed->f, way, spec->node, depth, caps);
	if (!ret)
		ret = kofi_open_links(bed, spec);
	if (!ret && spec->rma)
		ret = kofi_expose(bed, spec->rma);
	if (!ret && spec->ios)
		ret = kofi_ios_open(bed, spec->ios);
	if (!ret)
		return &bed->bed;
	kofi_close(&bed->bed);
	return ERR_PTR(ret);
}

static struct perf_bed *kofi_open(const struct perf_spec *spec)
{
	return kofi_open_way(spec, &spec->way, &perf_kofi_side);
}

/* Connections of the same provider, or of the lower one where it has none: "verbs;ofi_rxm" */
static struct perf_bed *kofi_open_msg(const struct perf_spec *spec)
{
	struct perf_way way = spec->way;
	char *layer = strchr(way.prov, ';');

	if (layer)
		*layer = '\0';
	way.rdm = false;
	return kofi_open_way(spec, &way, &perf_msg_side);
}

/* kofi_tcp with connections, whatever the provider of kOFI's side is */
static struct perf_bed *kofi_open_tcp(const struct perf_spec *spec)
{
	struct perf_way way = spec->way;

	way.rdm = false;
	strscpy(way.prov, "tcp", sizeof(way.prov));
	return kofi_open_way(spec, &way, &perf_tcp_side);
}

#define KOFI_SIDE					\
	.req_size	= sizeof(struct kofi_req),	\
	.close		= kofi_close,			\
	.end		= kofi_end,			\
	.recv		= kofi_recv,			\
	.send		= kofi_send,			\
	.chain		= kofi_chain,			\
	.write		= kofi_write,			\
	.read		= kofi_read,			\
	.begin		= kofi_begin,			\
	.answer		= kofi_answer,			\
	.finish		= kofi_finish,			\
	.mem		= &kofi_mem_ops

const struct perf_side perf_kofi_side = { .name = "kofi", .open = kofi_open, KOFI_SIDE };

/* Baselines: the provider's connections, and kofi_tcp */
const struct perf_side perf_msg_side = { .name = "raw", .open = kofi_open_msg, KOFI_SIDE };
const struct perf_side perf_tcp_side = { .name = "raw", .open = kofi_open_tcp, KOFI_SIDE };
