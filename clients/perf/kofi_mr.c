// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kOFI's side: memory regions, persistent and for single operations.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "kofi.h"

/**
 * struct kofi_io - A request's region
 * @mr: the region
 * @attr: attributes of the region of @iov
 * @iov: describes @buf
 * @buf: PERF_IO_LEN bytes
 */
struct kofi_io {
	struct fid_mr		*mr;
	struct fi_mr_attr	attr;
	struct kvec		iov;
	void			*buf;
};

int kofi_expose(struct kofi_bed *bed, size_t len)
{
	int ret;

	bed->memory = kzalloc(len, GFP_KERNEL);
	if (!bed->memory)
		return -ENOMEM;
	ret = fi_mr_reg(bed->f.domain, bed->memory, len,
			FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &bed->mr,
			NULL);
	if (ret)
		return ret;
	bed->bed.addr = fi_mr_addr(bed->mr);
	bed->bed.key = fi_mr_key(bed->mr);
	return 0;
}

static int kofi_io_open(struct kofi_bed *bed, struct kofi_io *io)
{
	int ret;

	io->buf = kzalloc(PERF_IO_LEN, GFP_KERNEL);
	if (!io->buf)
		return -ENOMEM;
	io->iov = (struct kvec) { io->buf, PERF_IO_LEN };
	io->attr = (struct fi_mr_attr) {
		.mr_iov		= &io->iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	ret = fi_mr_regattr(bed->f.domain, &io->attr, FI_MR_ENDPOINT, &io->mr);
	if (!ret)
		ret = fi_mr_bind(io->mr, &bed->links[0].a->fid, 0);
	return ret;
}

int kofi_ios_open(struct kofi_bed *bed, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	bed->ios = kcalloc(count, sizeof(*bed->ios), GFP_KERNEL);
	if (!bed->ios)
		return -ENOMEM;
	bed->nr_ios = count;
	for (i = 0; i < count && !ret; i++)
		ret = kofi_io_open(bed, &bed->ios[i]);
	return ret;
}

void kofi_mrs_close(struct kofi_bed *bed)
{
	unsigned int i;

	for (i = 0; i < bed->nr_ios; i++) {
		if (bed->ios[i].mr)
			fi_close(&bed->ios[i].mr->fid);
		kfree(bed->ios[i].buf);
	}
	kfree(bed->ios);
	if (bed->mr)
		fi_close(&bed->mr->fid);
}

/* The message carries the key */
int kofi_begin(struct perf_req *req, unsigned int nth)
{
	struct kofi_bed *bed = to_kofi_bed(req->bed);
	struct kofi_io *io = &bed->ios[nth];
	u32 *message = req->buf;
	int ret;

	io->iov = (struct kvec) { io->buf, PERF_IO_LEN };
	ret = fi_mr_refresh(io->mr, &io->attr, 0);
	if (!ret)
		ret = fi_mr_enable(io->mr);
	if (ret)
		return ret;
	message[1] = fi_mr_key(io->mr);
	return perf_kofi_side.send(req);
}

int kofi_answer(struct perf_req *req, u32 key)
{
	struct kofi_req *r = to_kofi_req(req);
	struct kvec iov = { req->buf, req->len };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= &r->done,
		.data		= key,
	};

	r->done.done = kofi_done;
	return fi_sendmsg(((const struct kofi_end *)req->end)->ep, &msg,
			  FI_COMPLETION | FI_REMOTE_INV);
}

int kofi_finish(struct perf_bed *bed, unsigned int nth, u32 key)
{
	struct kofi_io *io = &to_kofi_bed(bed)->ios[nth];

	if (key != fi_mr_key(io->mr))
		return -EPROTO;
	return fi_mr_disable(io->mr, FI_REMOTE_INV, NULL);
}
