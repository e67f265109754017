// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of a case with itself: both ends belong to one thread, which takes
 * each side's step when its event is there.
 */
#include <linux/module.h>
#include "client.h"

void vt_end_queues(struct kunit *test, struct vt_end *end,
		   struct fi_info *info, const struct vt_kind *kind)
{
	size_t size = info->tx_attr->size + info->rx_attr->size;

	end->info = info;
	if (vt_is_rdm(info))
		end->av = end->av ?: vt_av(test, 0);
	else
		end->eq = end->eq ?: vt_eq(test, 0);
	end->tx = end->tx ?: vt_cq(test, kind, size);
	end->rx = end->rx ?: end->tx;
}
EXPORT_SYMBOL_GPL(vt_end_queues);

void vt_end_bind(struct kunit *test, struct vt_end *end)
{
	const struct tb_end what = {
		.ep		= end->ep,
		.eq		= end->eq,
		.av		= end->av,
		.tx		= end->tx->cq,
		.rx		= end->rx->cq,
		.bind_flags	= end->bind_flags,
		.cntrs		= end->cntrs,
		.srx		= end->srx,
		.rw_ops		= end->rw_ops,
		.callbacks	= end->callbacks,
		.may_sleep	= end->may_sleep,
	};

	KUNIT_ASSERT_EQ(test, tb_end_bind(&what), 0);
}
EXPORT_SYMBOL_GPL(vt_end_bind);

void vt_end_enable(struct kunit *test, struct vt_end *end,
		   const struct vt_kind *kind)
{
	vt_end_queues(test, end, end->info, kind);
	vt_end_bind(test, end);
	KUNIT_ASSERT_EQ(test, fi_enable(end->ep), 0);
}
EXPORT_SYMBOL_GPL(vt_end_enable);

void vt_end_open(struct kunit *test, struct vt_end *end, struct fi_info *info,
		 const struct vt_kind *kind)
{
	vt_end_queues(test, end, info, kind);
	end->ep = vt_ep(test, info);
	vt_end_enable(test, end, kind);
}
EXPORT_SYMBOL_GPL(vt_end_open);

/* The endpoint and queues of its own; shared ones are for their owner to close */
void vt_end_close(struct kunit *test, struct vt_end *end)
{
	vt_close(test, &end->ep->fid);
	if (end->rx != end->tx)
		vt_close(test, &end->rx->cq->fid);
	vt_close(test, &end->tx->cq->fid);
	vt_close(test, end->av ? &end->av->fid : &end->eq->fid);
	*end = (struct vt_end) {};
}
EXPORT_SYMBOL_GPL(vt_end_close);

void vt_client(struct kunit *test, struct vt_end *end,
	       const struct vt_kind *kind)
{
	vt_end_open(test, end, vt_of(test)->info, kind);
}
EXPORT_SYMBOL_GPL(vt_client);

void vt_connect(struct kunit *test, struct vt_end *end, const void *data,
		size_t len)
{
	KUNIT_ASSERT_EQ(test, fi_connect(end->ep, &vt_of(test)->name, data,
					 len), 0);
}
EXPORT_SYMBOL_GPL(vt_connect);

/* Returns the bytes of connection data that came with it */
size_t vt_event(struct kunit *test, struct fid_eq *eq, u32 want,
		union vt_event *event)
{
	struct fi_eq_err_entry error = {};
	union vt_event unused;
	ssize_t ret;
	u32 got;

	vt_expect_no_frame(test);
	event = event ?: &unused;
	ret = vt_eq_sread(eq, &got, event, sizeof(*event), 0);
	if (ret == -FI_EAVAIL)
		fi_eq_readerr(eq, &error, 0);
	KUNIT_ASSERT_GE_MSG(test, ret, (ssize_t)sizeof(event->cm),
			    "waited for event %u, got error %d, prov_errno %d",
			    want, error.err, error.prov_errno);
	if (got == FI_CONNREQ)
		vt_free_later(test, event->cm.info);
	KUNIT_ASSERT_EQ(test, got, want);
	return ret - sizeof(event->cm);
}
EXPORT_SYMBOL_GPL(vt_event);

void vt_error(struct kunit *test, struct fid_eq *eq,
	      struct fi_eq_err_entry *error)
{
	union vt_event event;
	u32 got = 0;

	KUNIT_ASSERT_EQ_MSG(test, vt_eq_sread(eq, &got, &event, sizeof(event),
					      0), -FI_EAVAIL, "event %u", got);
	KUNIT_ASSERT_EQ(test, fi_eq_readerr(eq, error, 0),
			(ssize_t)sizeof(*error));
}
EXPORT_SYMBOL_GPL(vt_error);

void vt_no_event(struct kunit *test, struct fid_eq *eq)
{
	union vt_event event;
	u32 got = 0;

	KUNIT_ASSERT_EQ_MSG(test, fi_eq_read(eq, &got, &event, sizeof(event), 0),
			    -EAGAIN, "event %u", got);
}
EXPORT_SYMBOL_GPL(vt_no_event);

void vt_no_event_for(struct kunit *test, struct fid_eq *eq, int ms)
{
	union vt_event event;
	u32 got = 0;

	KUNIT_ASSERT_EQ_MSG(test, fi_eq_sread(eq, &got, &event, sizeof(event), ms, 0),
			    -EAGAIN, "event %u", got);
}
EXPORT_SYMBOL_GPL(vt_no_event_for);

struct fi_info *vt_connreq(struct kunit *test, union vt_event *event)
{
	struct vt *vt = vt_of(test);
	union vt_event unused;

	event = event ?: &unused;
	vt_event(test, vt->eq, FI_CONNREQ, event);
	KUNIT_ASSERT_PTR_EQ(test, event->cm.fid, &vt->pep->fid);
	KUNIT_ASSERT_NOT_NULL(test, event->cm.info);
	return event->cm.info;
}
EXPORT_SYMBOL_GPL(vt_connreq);

struct fi_info *vt_dial(struct kunit *test, struct vt_end *end)
{
	vt_client(test, end, &vt_default_kind);
	vt_connect(test, end, NULL, 0);
	return vt_connreq(test, NULL);
}
EXPORT_SYMBOL_GPL(vt_dial);

void vt_accept(struct kunit *test, struct vt_end *end, const void *data,
	       size_t len)
{
	union vt_event event;

	KUNIT_ASSERT_EQ(test, fi_accept(end->ep, data, len), 0);
	vt_event(test, end->eq, FI_CONNECTED, &event);
	KUNIT_ASSERT_PTR_EQ(test, event.cm.fid, &end->ep->fid);
}
EXPORT_SYMBOL_GPL(vt_accept);

void vt_join(struct kunit *test, struct vt_pair *pair,
	     const struct vt_kind *kind)
{
	union vt_event event;

	vt_client(test, &pair->a, kind);
	if (vt_is_rdm(vt_of(test)->info)) {
		vt_client(test, &pair->b, kind);
		vt_meet(test, pair);
		return;
	}
	vt_connect(test, &pair->a, NULL, 0);
	vt_end_open(test, &pair->b, vt_connreq(test, NULL), kind);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, &event);
	KUNIT_ASSERT_PTR_EQ(test, event.cm.fid, &pair->a.ep->fid);
}
EXPORT_SYMBOL_GPL(vt_join);

void vt_pair_close(struct kunit *test, struct vt_pair *pair)
{
	vt_end_close(test, &pair->a);
	vt_end_close(test, &pair->b);
}
EXPORT_SYMBOL_GPL(vt_pair_close);

void vt_ping(struct kunit *test, struct vt_end *from, struct vt_end *to)
{
	u8 *out = vt_buf(test, 64), *in = vt_buf(test, 64);

	vt_fill(out, 64, 1);
	vt_recv(test, to, in, 64, vt_ctx(1001));
	KUNIT_ASSERT_EQ(test, fi_send(from->ep, out, 64, NULL, 0, vt_ctx(1002)),
			0);
	vt_done(test, to->rx, vt_ctx(1001));
	vt_done(test, from->tx, vt_ctx(1002));
	KUNIT_ASSERT_TRUE(test, vt_filled(in, 64, 1));
}
EXPORT_SYMBOL_GPL(vt_ping);
