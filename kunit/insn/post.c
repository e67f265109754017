// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting.  Each operation is posted by a function of its own that the compiler
 * must not fold into the loop, as a client's would be.
 *
 * The baseline has a request with its struct ib_cqe, fills a work request on the
 * stack and posts it: no queue of its own, no count of what is in flight, no check
 * of anything.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "insn.h"

/* Completions bring their request back, in whatever way they come */
static void *insn_context(struct insn_kofi *k, struct insn_req *req)
{
	return k->kind == INSN_DONE ? (void *)&req->done : req;
}

static noinline int kofi_send(struct insn_kofi *k, struct insn_req *req)
{
	return fi_send(k->link.a, k->buf, INSN_LEN, k->desc, 0, insn_context(k, req));
}

static noinline int kofi_send_map(struct insn_kofi *k, struct insn_req *req)
{
	return fi_send(k->link.a, k->buf, INSN_LEN, NULL, 0, insn_context(k, req));
}

static noinline int kofi_long_map(struct insn_kofi *k, struct insn_req *req)
{
	return fi_send(k->link.a, k->buf, INSN_LONG, NULL, 0, insn_context(k, req));
}

static noinline int kofi_recv(struct insn_kofi *k, struct insn_req *req)
{
	return fi_recv(k->link.a, k->buf, INSN_LEN, k->desc, 0, insn_context(k, req));
}

static noinline int kofi_write(struct insn_kofi *k, struct insn_req *req)
{
	return fi_write(k->link.a, k->buf, INSN_LEN, k->desc, 0,
			(uintptr_t)k->buf, k->key, insn_context(k, req));
}

static noinline int kofi_read(struct insn_kofi *k, struct insn_req *req)
{
	return fi_read(k->link.a, k->buf, INSN_LEN, k->desc, 0,
		       (uintptr_t)k->buf, k->key, insn_context(k, req));
}

static noinline int kofi_inject(struct insn_kofi *k, struct insn_req *req)
{
	return fi_inject(k->link.a, k->buf, INSN_LEN, 0);
}

static noinline int kofi_sendmsg(struct insn_kofi *k, struct insn_req *req)
{
	struct kvec iov = { k->buf, INSN_LEN };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.desc		= &k->desc,
		.iov_count	= 1,
		.context	= insn_context(k, req),
	};

	return fi_sendmsg(k->link.a, &msg, FI_COMPLETION);
}

const insn_kofi_fn insn_kofi_ops[INSN_OPS] = {
	[INSN_SEND]	= kofi_send,
	[INSN_RECV]	= kofi_recv,
	[INSN_WRITE]	= kofi_write,
	[INSN_READ]	= kofi_read,
	[INSN_INJECT]	= kofi_inject,
	[INSN_SEND_MAP]	= kofi_send_map,
	[INSN_LONG_MAP]	= kofi_long_map,
	[INSN_SENDMSG]	= kofi_sendmsg,
};

static noinline int raw_send(struct insn_raw *r, struct insn_req *req)
{
	struct ib_sge sge = {
		.addr	= r->dma,
		.length	= INSN_LEN,
		.lkey	= r->cm.pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe		= &req->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};

	return ib_post_send(r->qp, &wr, NULL);
}

static __always_inline int raw_map_len(struct insn_raw *r, struct insn_req *req, u32 len)
{
	struct ib_device *ibdev = r->cm.pd->device;
	struct ib_sge sge = {
		.addr	= ib_dma_map_single(ibdev, r->buf, len, DMA_TO_DEVICE),
		.length	= len,
		.lkey	= r->cm.pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe		= &req->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};

	if (ib_dma_mapping_error(ibdev, sge.addr))
		return -EAGAIN;
	req->dma = sge.addr;
	return ib_post_send(r->qp, &wr, NULL);
}

static noinline int raw_send_map(struct insn_raw *r, struct insn_req *req)
{
	return raw_map_len(r, req, INSN_LEN);
}

static noinline int raw_long_map(struct insn_raw *r, struct insn_req *req)
{
	return raw_map_len(r, req, INSN_LONG);
}

static noinline int raw_recv(struct insn_raw *r, struct insn_req *req)
{
	struct ib_sge sge = {
		.addr	= r->dma,
		.length	= INSN_LEN,
		.lkey	= r->cm.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &req->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(r->qp, &wr, NULL);
}

static __always_inline int raw_rma(struct insn_raw *r, struct insn_req *req,
				   enum ib_wr_opcode opcode)
{
	struct ib_sge sge = {
		.addr	= r->dma,
		.length	= INSN_LEN,
		.lkey	= r->cm.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe		= &req->cqe,
			.sg_list	= &sge,
			.num_sge	= 1,
			.opcode		= opcode,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.remote_addr	= r->dma,
		.rkey		= r->cm.pd->local_dma_lkey,
	};

	return ib_post_send(r->qp, &wr.wr, NULL);
}

static noinline int raw_write(struct insn_raw *r, struct insn_req *req)
{
	return raw_rma(r, req, IB_WR_RDMA_WRITE);
}

static noinline int raw_read(struct insn_raw *r, struct insn_req *req)
{
	return raw_rma(r, req, IB_WR_RDMA_READ);
}

/* Only the last of a batch reports, for who wants to know of a free queue */
static noinline int raw_inject(struct insn_raw *r, struct insn_req *req)
{
	bool last = req == &r->reqs[INSN_BATCH - 1];
	struct ib_sge sge = {
		.addr	= (uintptr_t)r->buf,
		.length	= INSN_LEN,
	};
	struct ib_send_wr wr = {
		.wr_cqe		= &req->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_INLINE |
				  (last ? IB_SEND_SIGNALED : 0),
	};

	return ib_post_send(r->qp, &wr, NULL);
}

const insn_raw_fn insn_raw_ops[INSN_OPS] = {
	[INSN_SEND]	= raw_send,
	[INSN_RECV]	= raw_recv,
	[INSN_WRITE]	= raw_write,
	[INSN_READ]	= raw_read,
	[INSN_INJECT]	= raw_inject,
	[INSN_SEND_MAP]	= raw_send_map,
	[INSN_LONG_MAP]	= raw_long_map,
	[INSN_SENDMSG]	= raw_send,
};

static s64 insn_kofi_post(struct insn_bed *bed, int op)
{
	insn_kofi_fn post = insn_kofi_ops[op];
	struct insn_kofi *k = &bed->kofi;
	unsigned long flags;
	cycles_t start, stop;
	int i, ret = 0;

	local_irq_save(flags);
	start = insn_begin();
	for (i = 0; i < INSN_BATCH; i++)
		ret |= post(k, &k->reqs[i]);
	stop = insn_end();
	local_irq_restore(flags);
	if (!ret)
		ret = insn_kofi_settle(bed);
	return ret ? : (s64)(stop - start) - insn_overhead;
}

static void insn_raw_unmap(struct insn_raw *r, u32 len)
{
	int i;

	for (i = 0; i < INSN_BATCH; i++) {
		if (r->reqs[i].dma)
			ib_dma_unmap_single(r->cm.pd->device, r->reqs[i].dma, len, DMA_TO_DEVICE);
		r->reqs[i].dma = 0;
	}
}

static s64 insn_raw_post(struct insn_bed *bed, int op)
{
	insn_raw_fn post = insn_raw_ops[op];
	struct insn_raw *r = &bed->raw;
	unsigned long flags;
	cycles_t start, stop;
	int i, ret = 0;

	local_irq_save(flags);
	start = insn_begin();
	for (i = 0; i < INSN_BATCH; i++)
		ret |= post(r, &r->reqs[i]);
	stop = insn_end();
	local_irq_restore(flags);
	insn_raw_unmap(r, op == INSN_LONG_MAP ? INSN_LONG : INSN_LEN);
	if (!ret)
		ret = insn_raw_settle(bed);
	return ret ? : (s64)(stop - start) - insn_overhead;
}

#define INSN_POST(key, op) \
	{ "insn.post." key, INSN_POLL, insn_kofi_post, insn_raw_post, op }

const struct insn_case insn_post_cases[] = {
	INSN_POST("send64", INSN_SEND),
	INSN_POST("recv64", INSN_RECV),
	INSN_POST("write64", INSN_WRITE),
	INSN_POST("read64", INSN_READ),
	INSN_POST("inject64", INSN_INJECT),
	INSN_POST("send64.map", INSN_SEND_MAP),
	INSN_POST("send512.map", INSN_LONG_MAP),
	INSN_POST("sendmsg64", INSN_SENDMSG),
};

const unsigned int insn_nr_post_cases = ARRAY_SIZE(insn_post_cases);
