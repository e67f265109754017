// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The bed of the suites of kofi/srx.h.
 */
#include <kofi/eq.h>
#include "srx.h"

/* What is in a buffer before anything is received */
#define UNTOUCHED	0xee

const struct kofi_srx_attr ut_srx_attr = {
	.size		= 4,
	.iov_limit	= 2,
	.max_msgs	= 4,
	.directed	= true,
};

static const struct kofi_ep_limits limits = {
	.cntr_dirs	= FI_RECV,
	.rx_op_flags	= FI_COMPLETION,
};

static void release(struct kofi_comp *chain)
{
	struct kofi_comp *comp;

	while ((comp = chain)) {
		chain = comp->next;
		kofi_srx_release(comp);
	}
}

static const struct kofi_cq_ops cq_ops = { .release = release };

static void start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	struct ut_srx_msg *um = container_of(msg, struct ut_srx_msg, msg);

	lockdep_assert_not_held(&rx->srx->lock);
	um->rx = rx;
	um->starts++;
}

static void discard(struct kofi_srx_msg *msg)
{
	container_of(msg, struct ut_srx_msg, msg)->discards++;
}

static void resume(struct kofi_srx *srx)
{
	lockdep_assert_not_held(&srx->lock);
	container_of(srx, struct ut_srx, srx)->resumes++;
}

static const struct kofi_srx_ops ops = {
	.start		= start,
	.discard	= discard,
	.resume		= resume,
};

static void ready(struct fid_ep *ep, u64 flags)
{
	struct ut_srx *us = ep->fid.context;

	atomic_inc(&us->readys);
}

static void done(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	struct ut_srx *us = ep->fid.context;

	us->done = *entry;
	atomic_inc(&us->dones);
}

static const struct fi_ep_callbacks callbacks = {
	.done	= done,
	.ready	= ready,
};

static bool belongs(struct kofi_comp *comp, void *ep)
{
	return to_kofi_rx(comp)->ep == ep;
}

/* Nobody moves the data of what is matched any more */
static void fail_matched(struct ut_srx *us, const struct kofi_ep *ep)
{
	struct ut_srx_msg *um;
	int i;

	for (i = 0; i < UT_SRX_NRS; i++) {
		um = &us->msg[i];
		if (um->rx && um->rx->ep == ep) {
			kofi_rx_fail(um->rx, 0, ECANCELED, ECANCELED);
			um->rx = NULL;
		}
	}
}

void ut_srx_leave(struct ut_srx *us, struct kofi_ep *ep)
{
	kofi_srx_leave(&us->srx, ep);
	fail_matched(us, ep);
	kofi_cq_purge(&us->cq, belongs, ep);
}

void ut_srx_reopen(struct ut_srx *us)
{
	WARN_ON(kofi_srx_init(&us->srx, us->srx.ep, &ut_srx_attr, us->srx.ops));
}

void ut_srx_close(struct ut_srx *us)
{
	int i;

	if (us->over)
		return;
	us->over = true;
	if (!us->shared)
		kofi_srx_flush(&us->srx, ECANCELED);
	for (i = 0; i < UT_SRX_EPS; i++)
		ut_srx_leave(us, &us->ep[i]);
	kofi_srx_destroy(&us->srx);
	for (i = 0; i < UT_SRX_EPS; i++)
		kofi_ep_fini(&us->ep[i]);
	kofi_ep_fini(&us->ctx);
	kofi_cq_fini(&us->cq);
	us->eq->fid.ops->close(&us->eq->fid);
}

static void close_srx(void *us)
{
	ut_srx_close(us);
}

static int open_ep(struct ut_srx *us, struct kofi_ep *ep, const struct ut_srx_how *how)
{
	u64 flags = FI_TRANSMIT | FI_RECV |
		    (how->selective ? FI_SELECTIVE_COMPLETION : 0);
	struct fi_info *info = fi_allocinfo();
	int ret;

	if (!info)
		return -ENOMEM;
	info->ep_attr->type = FI_EP_RDM;
	ret = kofi_ep_init(ep, info, &limits, us) ? :
	      kofi_ep_bind(&ep->ep.fid, &us->cq.cq.fid, flags) ? :
	      kofi_ep_bind(&ep->ep.fid, &us->cntr.cntr.fid, FI_RECV) ? :
	      kofi_ep_setopt(ep, FI_OPT_CALLBACKS, &callbacks, sizeof(callbacks));
	kofi_conn_set_state(&ep->conn, KOFI_CONN_ENABLED);
	fi_freeinfo(info);
	return ret;
}

static int open_eps(struct ut_srx *us, const struct ut_srx_how *how)
{
	struct fi_rx_attr attr = {};
	int i, ret;

	for (i = 0; i < UT_SRX_EPS; i++) {
		ret = open_ep(us, &us->ep[i], how);
		if (ret)
			return ret;
	}
	ret = kofi_ep_init_srx(&us->ctx, &attr, &limits, us);
	if (ret)
		return ret;
	us->ctx.conn.eq = to_kofi_eq(&us->eq->fid);
	return kofi_ep_setopt(&us->ctx, FI_OPT_CALLBACKS, &callbacks, sizeof(callbacks));
}

struct ut_srx *ut_srx_open(struct kunit *test, struct ut_srx_how how)
{
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = {
		.format		= FI_CQ_FORMAT_TAGGED,
		.wait_obj	= how.wait_obj ? : FI_WAIT_NONE,
	};
	struct ut_srx *us = vt_buf(test, sizeof(*us));

	us->mem = vt_buf(test, UT_SRX_NRS * UT_SRX_BUF);
	memset(us->mem, UNTOUCHED, UT_SRX_NRS * UT_SRX_BUF);
	us->shared = how.shared;
	KUNIT_ASSERT_EQ(test, kofi_eq_open(NULL, NULL, &us->eq, NULL), 0);
	KUNIT_ASSERT_EQ(test, kofi_cntr_init(&us->cntr, &cntr_attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&us->cq, &cq_attr, 100, &cq_ops, NULL), 0);
	KUNIT_ASSERT_EQ(test, open_eps(us, &how), 0);
	KUNIT_ASSERT_EQ(test, kofi_srx_init(&us->srx, how.shared ? &us->ctx : &us->ep[0], &how.attr,
					    how.ops ? : &ops), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_srx, us), 0);
	return us;
}

struct ut_srx *ut_srx(struct kunit *test)
{
	return ut_srx_open(test, (struct ut_srx_how) { .attr = ut_srx_attr });
}

void *ut_srx_buf(struct ut_srx *us, int nr)
{
	return us->mem + nr * UT_SRX_BUF;
}

static void *context_of(struct ut_srx *us, int nr)
{
	return nr == UT_NO_CONTEXT ? NULL : &us->context[nr];
}

ssize_t ut_post_len(struct ut_srx *us, int nr, size_t len, struct fi_tagged_xfer op)
{
	const struct kvec kvec = { ut_srx_buf(us, max(nr, 0)), len };

	if (!op.xfer.list) {
		op.xfer.list = &kvec;
		op.xfer.count = 1;
	}
	if (!op.xfer.addr)
		op.xfer.addr = FI_ADDR_UNSPEC;
	op.xfer.context = context_of(us, nr);
	return kofi_srx_post(&us->srx, &op.xfer, op.xfer.flags);
}

ssize_t ut_post(struct ut_srx *us, int nr, struct fi_tagged_xfer op)
{
	return ut_post_len(us, nr, UT_SRX_BUF, op);
}

ssize_t ut_recv(struct ut_srx *us, int nr, size_t len)
{
	return ut_post_len(us, nr, len, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_RECV,
	});
}

ssize_t ut_trecv(struct ut_srx *us, int nr, u64 tag, u64 ignore)
{
	return ut_post(us, nr, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_TRECV,
		.tag		= tag,
		.ignore		= ignore,
	});
}

ssize_t ut_peek(struct ut_srx *us, int nr, u64 tag, u64 flags)
{
	return ut_post(us, nr, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_TRECV,
		.tag		= tag,
		.xfer.flags	= flags,
	});
}

int ut_cancel(struct ut_srx *us, int nr)
{
	return kofi_srx_cancel(&us->srx, context_of(us, nr));
}

/* What completions call a sender is not what receives name it by */
static fi_addr_t source_of(fi_addr_t src_addr)
{
	return src_addr == FI_ADDR_NOTAVAIL ? src_addr : src_addr + 1000;
}

int ut_arrive(struct ut_srx *us, int nr, struct kofi_srx_arrival what)
{
	struct ut_srx_msg *um = &us->msg[nr];
	struct kofi_rx *rx = NULL;
	int ret;

	if (!what.ep)
		what.ep = &us->ep[0];
	if (!what.src_addr)
		what.src_addr = FI_ADDR_NOTAVAIL;
	what.source = source_of(what.src_addr);
	ret = kofi_srx_arrive(&us->srx, &what, us->outside ? NULL : &um->msg, &rx);
	if (ret == KOFI_SRX_MATCHED)
		um->rx = rx;
	return ret;
}

int ut_msg(struct ut_srx *us, int nr, size_t len)
{
	return ut_arrive(us, nr, (struct kofi_srx_arrival) {
		.flags	= FI_MSG,
		.len	= len,
	});
}

int ut_tmsg(struct ut_srx *us, int nr, u64 tag, size_t len)
{
	return ut_arrive(us, nr, (struct kofi_srx_arrival) {
		.flags	= FI_TAGGED,
		.tag	= tag,
		.len	= len,
	});
}

/* In two parts, as a provider that gets the data in pieces */
void ut_deliver(struct ut_srx *us, int nr)
{
	struct kofi_rx *rx = us->msg[nr].rx;
	size_t len = kofi_rx_len(rx), half = len / 2;
	u8 bytes[UT_SRX_BUF];
	struct iov_iter iter;

	vt_fill(bytes, sizeof(bytes), nr);
	kofi_rx_iter(rx, half, &iter);
	_copy_to_iter(bytes + half, len - half, &iter);
	kofi_rx_iter(rx, 0, &iter);
	_copy_to_iter(bytes, half, &iter);
	us->msg[nr].rx = NULL;
	kofi_rx_complete(rx);
}

void ut_brings(struct kunit *test, struct ut_srx *us, int nr, size_t len)
{
	KUNIT_EXPECT_EQ(test, ut_msg(us, nr, len), KOFI_SRX_MATCHED);
	ut_deliver(us, nr);
}

bool ut_delivered(struct ut_srx *us, int buf, size_t offset, int nr, size_t len)
{
	const u8 *bytes = ut_srx_buf(us, buf) + offset;

	return vt_filled(bytes, len, nr) &&
	       (offset + len == UT_SRX_BUF || bytes[len] == UNTOUCHED);
}

static ssize_t read_comp(struct ut_srx *us, struct fi_cq_err_entry *comp)
{
	struct fi_cq_tagged_entry entry;
	fi_addr_t src;
	ssize_t ret;

	ret = fi_cq_readfrom(&us->cq.cq, &entry, 1, &src);
	if (ret == -FI_EAVAIL)
		return fi_cq_readerr(&us->cq.cq, comp, 0);
	if (ret == 1)
		*comp = (struct fi_cq_err_entry) {
			.op_context	= entry.op_context,
			.flags		= entry.flags,
			.len		= entry.len,
			.buf		= entry.buf,
			.data		= entry.data,
			.tag		= entry.tag,
			.src_addr	= src,
		};
	return ret;
}

static void differs(struct ut_srx *us, const char *what, u64 is, u64 should)
{
	size_t used = strlen(us->text);

	if (is != should)
		snprintf(us->text + used, sizeof(us->text) - used,
			 "%s %#llx, not %#llx; ", what, is, should);
}

const char *ut_comp_diff(struct ut_srx *us, const struct ut_comp *want)
{
	struct fi_cq_err_entry comp = {};
	ssize_t ret;
	int nr;

	ret = read_comp(us, &comp);
	if (ret != 1)
		return ret == -EAGAIN ? "nothing" : "an error";
	nr = comp.op_context ? (u8 *)comp.op_context - us->context :
			       UT_NO_CONTEXT;
	us->text[0] = '\0';
	differs(us, "nr", nr, want->nr);
	differs(us, "flags", comp.flags, want->flags ? : comp.flags);
	differs(us, "len", comp.len, want->len);
	differs(us, "buf", (uintptr_t)comp.buf, (uintptr_t)(want->buf ? : comp.buf));
	differs(us, "data", comp.data, want->data);
	differs(us, "tag", comp.tag, want->tag);
	differs(us, "err", comp.err, want->err);
	differs(us, "prov_errno", comp.prov_errno, want->err);
	differs(us, "olen", comp.olen, want->olen);
	differs(us, "src", comp.src_addr, want->src ? source_of(want->src) : comp.src_addr);
	return us->text;
}
