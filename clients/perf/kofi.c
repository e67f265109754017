// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kOFI's side: operations with a callback each (FI_WAIT_DONE).
 *
 * Buffers come without descriptor, so the provider maps each; the baseline does so,
 * too.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/fi_rma.h>

#include "kofi.h"

void kofi_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct kofi_req *r = container_of(done, struct kofi_req, done);

	r->req.inv = entry->flags & FI_REMOTE_INV ? entry->data : 0;
	r->req.done(&r->req, entry->err);
}

static int kofi_recv(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);

	r->done.done = kofi_done;
	return fi_recv(req->end, req->buf, req->len, NULL, 0, &r->done);
}

static int kofi_send(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);

	r->done.done = kofi_done;
	return fi_send(req->end, req->buf, req->len, NULL, 0, &r->done);
}

static int kofi_chain(struct perf_req **reqs, unsigned int count)
{
	struct kvec iov;
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
	};
	struct kofi_req *r;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++) {
		r = to_kofi_req(reqs[i]);
		r->done.done = kofi_done;
		iov = (struct kvec) { r->req.buf, r->req.len };
		msg.context = &r->done;
		ret = fi_sendmsg(r->req.end, &msg, FI_COMPLETION |
				 (i < count - 1 ? FI_MORE : 0));
	}
	return ret;
}

static int kofi_write(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);

	r->done.done = kofi_done;
	return fi_write(req->end, req->buf, req->len, NULL, 0, req->bed->addr,
			req->bed->key, &r->done);
}

static int kofi_read(struct perf_req *req)
{
	struct kofi_req *r = to_kofi_req(req);

	r->done.done = kofi_done;
	return fi_read(req->end, req->buf, req->len, NULL, 0, req->bed->addr,
		       req->bed->key, &r->done);
}

static void *kofi_end(struct perf_bed *bed, unsigned int link, bool far)
{
	struct perf_link *l = &to_kofi_bed(bed)->links[link];

	return far ? l->b : l->a;
}

int kofi_cq_open(struct perf_fabric *f, size_t size, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {
		.size		= size,
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= FI_COMP_SOFTIRQ,
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
	kvfree(bed->links);
	kfree(bed->memory);
	kfree(bed);
}

static int kofi_open_links(struct kofi_bed *bed, const struct perf_spec *spec)
{
	size_t size = spec->links * (spec->depth.tx + spec->depth.rx);
	int i, ret = 0;

	bed->links = kvcalloc(spec->links, sizeof(*bed->links), GFP_KERNEL);
	if (!bed->links)
		return -ENOMEM;
	for (i = 0; i < 2 && !ret; i++)
		ret = kofi_cq_open(&bed->f, size, &bed->cqs[i]);
	for (i = 0; i < spec->links && !ret; i++) {
		ret = perf_connect(&bed->f, &bed->links[i], bed->cqs[0],
				   bed->cqs[1]);
		bed->nr_links += !ret;
	}
	return ret;
}

static struct perf_bed *kofi_open(const struct perf_spec *spec)
{
	u64 caps = FI_MSG | (spec->rma || spec->ios ? FI_RMA : 0);
	struct kofi_bed *bed = kzalloc(sizeof(*bed), GFP_KERNEL);
	int ret;

	if (!bed)
		return ERR_PTR(-ENOMEM);
	bed->bed.side = &perf_kofi_side;
	ret = perf_fabric_open(&bed->f, spec->node, spec->depth, caps);
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

const struct perf_side perf_kofi_side = {
	.name		= "kofi",
	.req_size	= sizeof(struct kofi_req),
	.open		= kofi_open,
	.close		= kofi_close,
	.end		= kofi_end,
	.recv		= kofi_recv,
	.send		= kofi_send,
	.chain		= kofi_chain,
	.write		= kofi_write,
	.read		= kofi_read,
	.begin		= kofi_begin,
	.answer		= kofi_answer,
	.finish		= kofi_finish,
	.mem		= &kofi_mem_ops,
};
