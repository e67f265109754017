// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DMA mappings: whatever becomes of an operation, its buffers are mapped once,
 * for the right direction, and unmapped once.
 *
 * A case posts each data transfer call with each kind of memory on one endpoint,
 * while the device is held, counts the mappings, lets the operations come to
 * their end in its own way, and counts again.  That the maps and unmaps fit each
 * other and that the device touched nothing else is for ht_exit() to check.
 */
#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>
#include "../lib/calls.h"
#include "hca.h"

#define DMA_LEN		512
#define DMA_INJECT	256

/* A buffer, and lists of its two halves */
struct hca_buf {
	void			*addr;
	size_t			len;
	struct kvec		kvec[2];
	struct bio_vec		bvec[2];
	struct scatterlist	sgl[2];
};

enum dma_memory {
	DMA_KMALLOC,
	DMA_PAGES,
	DMA_VMALLOC,
	DMA_MEMORIES,
};

static const char *const dma_memory_names[] = { "kmalloc", "pages", "vmalloc" };

/* A call, and the type of its list */
struct dma_call {
	struct vt_call		call;
	enum fi_buf_type	type;
};

/* The last send is one that tells of its success, so all before it are done */
static const struct dma_call dma_calls[] = {
	{ { "inject", VT_INJECT, VT_SHORT | VT_UNSIGNALED } },
	{ { "injectdata", VT_INJECTDATA, VT_SHORT | VT_UNSIGNALED } },
	{ { "sendmsg kvec inject", VT_SENDMSG, VT_LIST | VT_SHORT, FI_INJECT }, FI_BUF_KVEC },
	{ { "sendmsg bvec inject", VT_SENDMSG, VT_LIST | VT_SHORT, FI_INJECT }, FI_BUF_BVEC },
	{ { "sendmsg sgl inject", VT_SENDMSG, VT_LIST | VT_SHORT, FI_INJECT }, FI_BUF_SGL },
	{ { "send", VT_SEND } },
	{ { "sendv", VT_SENDV, VT_LIST } },
	{ { "senddata", VT_SENDDATA } },
	{ { "sendmsg kvec", VT_SENDMSG, VT_LIST, FI_COMPLETION }, FI_BUF_KVEC },
	{ { "sendmsg bvec", VT_SENDMSG, VT_LIST, FI_COMPLETION }, FI_BUF_BVEC },
	{ { "sendmsg sgl", VT_SENDMSG, VT_LIST, FI_COMPLETION }, FI_BUF_SGL },
	{ { "recv", VT_RECV } },
	{ { "recvv", VT_RECVV, VT_LIST } },
	{ { "recvmsg kvec", VT_RECVMSG, VT_LIST, FI_COMPLETION }, FI_BUF_KVEC },
	{ { "recvmsg bvec", VT_RECVMSG, VT_LIST, FI_COMPLETION }, FI_BUF_BVEC },
	{ { "recvmsg sgl", VT_RECVMSG, VT_LIST, FI_COMPLETION }, FI_BUF_SGL },
};

static bool dma_receives(const struct dma_call *call)
{
	return call->call.op >= VT_RECV;
}

/**
 * struct dma_op - A call with its memory
 * @call: the call
 * @memory: the kind of memory
 * @buf: the memory
 */
struct dma_op {
	const struct dma_call	*call;
	enum dma_memory		memory;
	struct hca_buf		buf;
};

#define DMA_MAX_OPS	(ARRAY_SIZE(dma_calls) * DMA_MEMORIES)

/**
 * struct dma_kind - What a case is run with
 * @name: of that
 * @recv: the receiving calls, or the sending ones
 * @max_inline: of the device
 */
struct dma_kind {
	const char	*name;
	bool		recv;
	u32		max_inline;
};

static const struct dma_kind dma_kinds[] = {
	{ "sends, no inline data", false, 0 },
	{ "sends, some inline data", false, DMA_INJECT / 2 },
	{ "sends, inline data", false, DMA_INJECT },
	{ "receives", true, 0 },
};

KUNIT_ARRAY_PARAM_DESC(dma_kind, dma_kinds, name);

/**
 * struct dma - A case
 * @test: the case
 * @kind: its parameter
 * @pair: the connection
 * @end: where the operations are posted
 * @peer: the other end
 * @ops: the operations
 * @count: how many
 * @sges: mappings they need
 */
struct dma {
	struct kunit		*test;
	const struct dma_kind	*kind;
	struct vt_pair		pair;
	struct vt_end		*end;
	struct vt_end		*peer;
	struct dma_op		*ops;
	unsigned int		count;
	unsigned int		sges;
};

static void dma_put_pages(void *addr)
{
	free_pages((unsigned long)addr, 1);
}

static void dma_vfree(void *addr)
{
	vfree(addr);
}

/* All but kmalloc's cross a page boundary in the middle */
static void *dma_alloc(struct kunit *test, enum dma_memory memory, size_t len)
{
	void *addr;

	if (memory == DMA_KMALLOC)
		return ht_buf(test, len);
	addr = memory == DMA_PAGES ?
	       (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, 1) :
	       vzalloc(2 * PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_ASSERT_EQ(test,
			kunit_add_action_or_reset(test, memory == DMA_PAGES ?
						  dma_put_pages : dma_vfree,
						  addr), 0);
	return addr + PAGE_SIZE - len / 2;
}

static struct page *dma_page(void *addr)
{
	return is_vmalloc_addr(addr) ? vmalloc_to_page(addr) :
				       virt_to_page(addr);
}

static void dma_buf_init(struct kunit *test, struct hca_buf *buf,
			 enum dma_memory memory, size_t len)
{
	size_t half = len / 2;
	void *piece;
	int i;

	buf->addr = dma_alloc(test, memory, len);
	buf->len = len;
	sg_init_table(buf->sgl, 2);
	for (i = 0; i < 2; i++) {
		piece = buf->addr + i * half;
		buf->kvec[i] = (struct kvec) { piece, half };
		bvec_set_page(&buf->bvec[i], dma_page(piece), half, offset_in_page(piece));
		sg_set_page(&buf->sgl[i], dma_page(piece), half, offset_in_page(piece));
	}
}

static unsigned int dma_op_sges(const struct dma_op *op)
{
	if (op->call->call.is & VT_SHORT)
		return 0;
	return op->call->call.is & VT_LIST || op->memory == DMA_VMALLOC ? 2 : 1;
}

static void dma_add_op(struct dma *dma, const struct dma_call *call, enum dma_memory memory)
{
	struct dma_op *op = &dma->ops[dma->count++];

	op->call = call;
	op->memory = memory;
	dma_buf_init(dma->test, &op->buf, memory, call->call.is & VT_SHORT ? DMA_INJECT : DMA_LEN);
	if (!dma_receives(call))
		vt_fill(op->buf.addr, op->buf.len, dma->count);
	dma->sges += dma_op_sges(op);
}

static void dma_add_ops(struct dma *dma)
{
	enum dma_memory memory;
	size_t i;

	dma->ops = kunit_kcalloc(dma->test, DMA_MAX_OPS, sizeof(*dma->ops), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(dma->test, dma->ops);
	for (i = 0; i < ARRAY_SIZE(dma_calls); i++) {
		if (dma_receives(&dma_calls[i]) != dma->kind->recv)
			continue;
		for (memory = 0; memory < DMA_MEMORIES; memory++)
			dma_add_op(dma, &dma_calls[i], memory);
	}
}

static struct dma *dma_begin(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true };
	struct dma *dma = vt_buf(test, sizeof(*dma));

	dma->test = test;
	dma->kind = test->param_value;
	attr.max_inline = dma->kind->max_inline;
	ht_connect(test, &attr, &dma->pair);
	dma->end = &dma->pair.a;
	dma->peer = &dma->pair.b;
	dma_add_ops(dma);
	return dma;
}

static ssize_t dma_post(struct dma *dma, unsigned int i)
{
	const struct dma_call *call = dma->ops[i].call;
	struct hca_buf *buf = &dma->ops[i].buf;
	struct vt_xfer x = {
		.buf		= buf->addr,
		.len		= buf->len,
		.pieces		= 2,
		.list		= buf->kvec,
		.type		= call->type,
		.data		= 7,
		.context	= vt_ctx(i + 1),
	};

	if (call->type == FI_BUF_BVEC)
		x.list = buf->bvec;
	else if (call->type == FI_BUF_SGL)
		x.list = buf->sgl;
	return vt_post(dma->end->ep, &call->call, &x);
}

static void dma_expect_mapped(struct dma *dma, unsigned int mapped)
{
	KUNIT_EXPECT_EQ(dma->test, ht_stats(dma->test).mapped, mapped);
}

/* Posts all, while the device is held; returns the mappings there were before */
static unsigned int dma_post_all(struct dma *dma)
{
	unsigned int i, before;

	fakehca_hold(ht_of(dma->test)->hca);
	before = ht_stats(dma->test).mapped;
	for (i = 0; i < dma->count; i++) {
		KUNIT_EXPECT_EQ_MSG(dma->test, dma_post(dma, i), 0,
				    "%s of %s", dma->ops[i].call->call.name,
				    dma_memory_names[dma->ops[i].memory]);
	}
	dma_expect_mapped(dma, before + dma->sges);
	return before;
}

/* Every operation ends with an error, and silence is over */
static void dma_expect_errors(struct dma *dma)
{
	struct vt_comp comp = {};
	unsigned int i;

	for (i = 0; i < dma->count; i++) {
		KUNIT_ASSERT_EQ(dma->test, vt_wait(dma->end->tx, &comp), 1);
		KUNIT_EXPECT_NE(dma->test, comp.err, 0);
	}
	vt_none(dma->test, dma->end->tx);
}

static void dma_peer_recvs(struct dma *dma, u8 *bufs)
{
	unsigned int i;

	for (i = 0; i < dma->count; i++)
		KUNIT_ASSERT_EQ(dma->test, fi_recv(dma->peer->ep, bufs + i * DMA_LEN, DMA_LEN, NULL,
						   0, vt_ctx(i + 1)), 0);
}

static void dma_peer_sends(struct dma *dma, u8 *bufs)
{
	unsigned int i;

	for (i = 0; i < dma->count; i++) {
		vt_fill(bufs + i * DMA_LEN, DMA_LEN, i + 1);
		KUNIT_ASSERT_EQ(dma->test, fi_send(dma->peer->ep, bufs + i * DMA_LEN, DMA_LEN, NULL,
						   0, vt_ctx(i + 1)), 0);
	}
}

/* Takes all completions, and compares what arrived where it was to arrive */
static void dma_expect_arrival(struct dma *dma, u8 *peer_bufs)
{
	struct dma_op *op;
	unsigned int i;
	void *arrived;

	for (i = 0; i < dma->count; i++) {
		op = &dma->ops[i];
		vt_done(dma->test, dma->peer->tx, vt_ctx(i + 1));
		if (!(op->call->call.is & VT_UNSIGNALED))
			vt_done(dma->test, dma->end->tx, vt_ctx(i + 1));
		arrived = dma_receives(op->call) ? op->buf.addr :
					   peer_bufs + i * DMA_LEN;
		KUNIT_EXPECT_TRUE_MSG(dma->test, vt_filled(arrived, op->buf.len, i + 1), "%s of %s",
				      op->call->call.name, dma_memory_names[op->memory]);
	}
}

static void success_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	u8 *bufs = ht_buf(test, dma->count * DMA_LEN);
	unsigned int base = ht_stats(test).mapped;

	if (!dma->kind->recv)
		dma_peer_recvs(dma, bufs);
	dma_post_all(dma);
	if (dma->kind->recv)
		dma_peer_sends(dma, bufs);
	fakehca_release(ht_of(test)->hca);

	dma_expect_arrival(dma, bufs);
	dma_expect_mapped(dma, base);
}

static void an_error_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	u8 *bufs = ht_buf(test, dma->count * DMA_LEN);
	unsigned int before;

	before = dma_post_all(dma);
	if (dma->kind->recv) {
		dma_peer_sends(dma, bufs);
		fakehca_fail(ht_of(test)->hca, FAKEHCA_RECV_WC, 1, IB_WC_LOC_PROT_ERR);
	} else {
		dma_peer_recvs(dma, bufs);
		fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_RETRY_EXC_ERR);
	}
	fakehca_release(ht_of(test)->hca);

	dma_expect_errors(dma);
	vt_pair_close(test, &dma->pair);
	dma_expect_mapped(dma, 0);
	KUNIT_EXPECT_LE(test, before, 2);
}

static void a_failed_post_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	enum fakehca_point point = dma->kind->recv ? FAKEHCA_POST_RECV :
						     FAKEHCA_POST_SEND;
	unsigned int i, base = ht_stats(test).mapped;

	for (i = 0; i < dma->count; i++) {
		fakehca_fail(ht_of(test)->hca, point, 1, -EIO);
		KUNIT_EXPECT_EQ_MSG(test, dma_post(dma, i), -EIO, "%s of %s",
				    dma->ops[i].call->call.name,
				    dma_memory_names[dma->ops[i].memory]);
		dma_expect_mapped(dma, base);
	}
	vt_none(test, dma->end->tx);
	vt_ping(test, dma->end, dma->peer);
	vt_ping(test, dma->peer, dma->end);
}

static void a_full_queue_maps_nothing(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	size_t size = dma->kind->recv ? dma->end->info->rx_attr->size :
					dma->end->info->tx_attr->size;
	u8 *buf = ht_buf(test, size * 64);
	struct fakehca_stats full;
	size_t i;

	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < size; i++)
		KUNIT_ASSERT_EQ(test, dma->kind->recv ?
				fi_recv(dma->end->ep, buf + i * 64, 64, NULL, 0,
					NULL) :
				fi_send(dma->end->ep, buf + i * 64, 64, NULL, 0,
					NULL), 0);
	full = ht_stats(test);
	for (i = 0; i < dma->count; i++)
		KUNIT_EXPECT_EQ_MSG(test, dma_post(dma, i), -EAGAIN, "%s of %s",
				    dma->ops[i].call->call.name,
				    dma_memory_names[dma->ops[i].memory]);
	dma_expect_mapped(dma, full.mapped);
	/* Not even for a moment */
	KUNIT_EXPECT_EQ(test, ht_stats(test).maps, full.maps);
}

static void shutdown_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	unsigned int before = dma_post_all(dma);

	KUNIT_EXPECT_EQ(test, fi_shutdown(dma->end->ep, 0), 0);

	dma_expect_errors(dma);
	dma_expect_mapped(dma, before);
}

static void close_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);

	dma_post_all(dma);

	vt_close(test, &dma->pair.a.ep->fid);
	vt_close(test, &dma->pair.b.ep->fid);

	dma_expect_mapped(dma, 0);
	vt_none(test, dma->end->tx);
}

static void the_peers_close_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	unsigned int before = dma_post_all(dma);

	vt_close(test, &dma->peer->ep->fid);

	dma_expect_errors(dma);
	/* The peer's bounce buffer has gone, too, if there was one */
	KUNIT_EXPECT_LE(test, ht_stats(test).mapped, before);
	KUNIT_EXPECT_GE(test, ht_stats(test).mapped + 1, before);
}

static struct kunit_case dma_cases[] = {
	KUNIT_CASE_PARAM(success_unmaps, dma_kind_gen_params),
	KUNIT_CASE_PARAM(an_error_unmaps, dma_kind_gen_params),
	KUNIT_CASE_PARAM(a_failed_post_unmaps, dma_kind_gen_params),
	KUNIT_CASE_PARAM(a_full_queue_maps_nothing, dma_kind_gen_params),
	KUNIT_CASE_PARAM(shutdown_unmaps, dma_kind_gen_params),
	KUNIT_CASE_PARAM(close_unmaps, dma_kind_gen_params),
	KUNIT_CASE_PARAM(the_peers_close_unmaps, dma_kind_gen_params),
	{}
};

struct kunit_suite kofi_hca_dma_suite = {
	.name		= "kofi_hca_dma",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= dma_cases,
};
