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

/**
 * struct dma_call - A data transfer call
 * @name: of the call
 * @post: makes it; NULL: @msg does
 * @msg: fi_sendmsg() or fi_recvmsg()
 * @type: of the list for @msg
 * @recv: it receives
 * @list: it takes a list of two elements
 * @inject: it maps nothing
 * @silent: success is not reported
 */
struct dma_call {
	const char	*name;
	ssize_t		(*post)(struct fid_ep *ep, struct hca_buf *buf,
				void *context);
	ssize_t		(*msg)(struct fid_ep *ep, const struct fi_msg *msg,
			       u64 flags);
	enum fi_buf_type type;
	bool		recv;
	bool		list;
	bool		inject;
	bool		silent;
};

static ssize_t dma_send(struct fid_ep *ep, struct hca_buf *buf, void *context)
{
	return fi_send(ep, buf->addr, buf->len, NULL, 0, context);
}

static ssize_t dma_sendv(struct fid_ep *ep, struct hca_buf *buf, void *context)
{
	return fi_sendv(ep, buf->kvec, NULL, 2, 0, context);
}

static ssize_t dma_senddata(struct fid_ep *ep, struct hca_buf *buf,
			    void *context)
{
	return fi_senddata(ep, buf->addr, buf->len, NULL, 7, 0, context);
}

static ssize_t dma_inject(struct fid_ep *ep, struct hca_buf *buf, void *context)
{
	return fi_inject(ep, buf->addr, buf->len, 0);
}

static ssize_t dma_injectdata(struct fid_ep *ep, struct hca_buf *buf,
			      void *context)
{
	return fi_injectdata(ep, buf->addr, buf->len, 7, 0);
}

static ssize_t dma_msg(const struct dma_call *call, struct fid_ep *ep,
		       struct hca_buf *buf, void *context)
{
	struct fi_msg msg = {
		.type		= call->type,
		.msg_iov	= buf->kvec,
		.iov_count	= 2,
		.context	= context,
	};

	if (call->type == FI_BUF_BVEC)
		msg.msg_bvec = buf->bvec;
	else if (call->type == FI_BUF_SGL)
		msg.msg_sgl = buf->sgl;
	return call->msg(ep, &msg, call->inject ? FI_INJECT : FI_COMPLETION);
}

static ssize_t dma_recv(struct fid_ep *ep, struct hca_buf *buf, void *context)
{
	return fi_recv(ep, buf->addr, buf->len, NULL, 0, context);
}

static ssize_t dma_recvv(struct fid_ep *ep, struct hca_buf *buf, void *context)
{
	return fi_recvv(ep, buf->kvec, NULL, 2, 0, context);
}

/* The last send is one that tells of its success, so all before it are done */
static const struct dma_call dma_calls[] = {
	{ "inject", dma_inject, .inject = true, .silent = true },
	{ "injectdata", dma_injectdata, .inject = true, .silent = true },
	{ "sendmsg kvec inject", .msg = fi_sendmsg, .type = FI_BUF_KVEC,
	  .list = true, .inject = true },
	{ "sendmsg bvec inject", .msg = fi_sendmsg, .type = FI_BUF_BVEC,
	  .list = true, .inject = true },
	{ "sendmsg sgl inject", .msg = fi_sendmsg, .type = FI_BUF_SGL,
	  .list = true, .inject = true },
	{ "send", dma_send },
	{ "sendv", dma_sendv, .list = true },
	{ "senddata", dma_senddata },
	{ "sendmsg kvec", .msg = fi_sendmsg, .type = FI_BUF_KVEC, .list = true },
	{ "sendmsg bvec", .msg = fi_sendmsg, .type = FI_BUF_BVEC, .list = true },
	{ "sendmsg sgl", .msg = fi_sendmsg, .type = FI_BUF_SGL, .list = true },
	{ "recv", dma_recv, .recv = true },
	{ "recvv", dma_recvv, .recv = true, .list = true },
	{ "recvmsg kvec", .msg = fi_recvmsg, .type = FI_BUF_KVEC, .recv = true,
	  .list = true },
	{ "recvmsg bvec", .msg = fi_recvmsg, .type = FI_BUF_BVEC, .recv = true,
	  .list = true },
	{ "recvmsg sgl", .msg = fi_recvmsg, .type = FI_BUF_SGL, .recv = true,
	  .list = true },
};

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
 * @silent: how many of them do not tell of success
 * @sges: mappings they need
 */
struct dma {
	struct kunit		*test;
	const struct dma_kind	*kind;
	struct ht_pair		pair;
	struct ht_end		*end;
	struct ht_end		*peer;
	struct dma_op		*ops;
	unsigned int		count;
	unsigned int		silent;
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
		bvec_set_page(&buf->bvec[i], dma_page(piece), half,
			      offset_in_page(piece));
		sg_set_page(&buf->sgl[i], dma_page(piece), half,
			    offset_in_page(piece));
	}
}

static unsigned int dma_op_sges(const struct dma_op *op)
{
	if (op->call->inject)
		return 0;
	return op->call->list || op->memory == DMA_VMALLOC ? 2 : 1;
}

static void dma_add_op(struct dma *dma, const struct dma_call *call,
		       enum dma_memory memory)
{
	struct dma_op *op = &dma->ops[dma->count++];

	op->call = call;
	op->memory = memory;
	dma_buf_init(dma->test, &op->buf, memory,
		     call->inject ? DMA_INJECT : DMA_LEN);
	if (!call->recv)
		ht_fill(op->buf.addr, op->buf.len, dma->count);
	dma->silent += call->silent;
	dma->sges += dma_op_sges(op);
}

static void dma_add_ops(struct dma *dma)
{
	enum dma_memory memory;
	size_t i;

	dma->ops = kunit_kcalloc(dma->test, DMA_MAX_OPS, sizeof(*dma->ops),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(dma->test, dma->ops);
	for (i = 0; i < ARRAY_SIZE(dma_calls); i++) {
		if (dma_calls[i].recv != dma->kind->recv)
			continue;
		for (memory = 0; memory < DMA_MEMORIES; memory++)
			dma_add_op(dma, &dma_calls[i], memory);
	}
}

static struct dma *dma_begin(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true };
	struct dma *dma = kunit_kzalloc(test, sizeof(*dma), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dma);
	dma->test = test;
	dma->kind = test->param_value;
	attr.max_inline = dma->kind->max_inline;
	ht_serve(test, &attr);
	ht_join(test, &dma->pair);
	dma->end = &dma->pair.a;
	dma->peer = &dma->pair.b;
	dma_add_ops(dma);
	return dma;
}

static ssize_t dma_post(struct dma *dma, unsigned int i)
{
	const struct dma_call *call = dma->ops[i].call;

	if (call->msg)
		return dma_msg(call, dma->end->ep, &dma->ops[i].buf,
			       ht_ctx(i + 1));
	return call->post(dma->end->ep, &dma->ops[i].buf, ht_ctx(i + 1));
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
				    "%s of %s", dma->ops[i].call->name,
				    dma_memory_names[dma->ops[i].memory]);
	}
	dma_expect_mapped(dma, before + dma->sges);
	return before;
}

/* Every operation ends with an error, and silence is over */
static void dma_expect_errors(struct dma *dma)
{
	struct ht_comp comp = {};
	unsigned int i;

	for (i = 0; i < dma->count; i++) {
		KUNIT_ASSERT_EQ(dma->test, ht_wait(dma->end->cq, &comp), 1);
		KUNIT_EXPECT_NE(dma->test, comp.err, 0);
	}
	ht_none(dma->test, dma->end->cq);
}

static void dma_peer_recvs(struct dma *dma, u8 *bufs)
{
	unsigned int i;

	for (i = 0; i < dma->count; i++)
		KUNIT_ASSERT_EQ(dma->test,
				fi_recv(dma->peer->ep, bufs + i * DMA_LEN,
					DMA_LEN, NULL, 0, ht_ctx(i + 1)), 0);
}

static void dma_peer_sends(struct dma *dma, u8 *bufs)
{
	unsigned int i;

	for (i = 0; i < dma->count; i++) {
		ht_fill(bufs + i * DMA_LEN, DMA_LEN, i + 1);
		KUNIT_ASSERT_EQ(dma->test,
				fi_send(dma->peer->ep, bufs + i * DMA_LEN,
					DMA_LEN, NULL, 0, ht_ctx(i + 1)), 0);
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
		ht_done(dma->test, dma->peer->cq, ht_ctx(i + 1));
		if (!op->call->silent)
			ht_done(dma->test, dma->end->cq, ht_ctx(i + 1));
		arrived = op->call->recv ? op->buf.addr :
					   peer_bufs + i * DMA_LEN;
		KUNIT_EXPECT_TRUE_MSG(dma->test,
				      ht_filled(arrived, op->buf.len, i + 1),
				      "%s of %s", op->call->name,
				      dma_memory_names[op->memory]);
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
		fakehca_fail(ht_of(test)->hca, FAKEHCA_RECV_WC, 1,
			     IB_WC_LOC_PROT_ERR);
	} else {
		dma_peer_recvs(dma, bufs);
		fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1,
			     IB_WC_RETRY_EXC_ERR);
	}
	fakehca_release(ht_of(test)->hca);

	dma_expect_errors(dma);
	ht_pair_close(test, &dma->pair);
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
				    dma->ops[i].call->name,
				    dma_memory_names[dma->ops[i].memory]);
		dma_expect_mapped(dma, base);
	}
	ht_none(test, dma->end->cq);
	ht_ping(test, dma->end, dma->peer);
	ht_ping(test, dma->peer, dma->end);
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
				    dma->ops[i].call->name,
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

	ht_close(test, &dma->pair.a.ep->fid);
	ht_close(test, &dma->pair.b.ep->fid);

	dma_expect_mapped(dma, 0);
	ht_none(test, dma->end->cq);
}

static void the_peers_close_unmaps(struct kunit *test)
{
	struct dma *dma = dma_begin(test);
	unsigned int before = dma_post_all(dma);

	ht_close(test, &dma->peer->ep->fid);

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
