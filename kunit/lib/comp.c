// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues of every kind behind one call, and the contents of buffers.
 *
 * vt_wait() waits as a client of that kind of queue would: asleep in
 * fi_cq_sread(), for the handler's word, or by polling.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "client.h"

const struct vt_kind vt_default_kind = {
	.name		= "sread",
	.wait_obj	= FI_WAIT_UNSPEC,
	.format		= FI_CQ_FORMAT_DATA,
};
EXPORT_SYMBOL_GPL(vt_default_kind);

static void vt_handler(struct fid_cq *cq, void *context)
{
	struct vt_cq *vcq = context;

	vcq->in_task = in_task();
	atomic_inc(&vcq->calls);
	complete(&vcq->event);
}

struct vt_cq *vt_cq_new(struct kunit *test, struct fid_domain *domain,
			const struct fi_cq_attr *attr,
			const struct vt_kind *kind)
{
	struct vt_cq *vcq = kunit_kzalloc(test, sizeof(*vcq), GFP_KERNEL);
	struct fi_cq_attr copy = *attr;

	KUNIT_ASSERT_NOT_NULL(test, vcq);
	vcq->kind = kind;
	init_completion(&vcq->event);
	copy.format = kind->format;
	copy.wait_obj = kind->wait_obj;
	copy.comp_ctx = kind->comp_ctx;
	if (kind->wait_obj == FI_WAIT_CALLBACK)
		copy.handler = vt_handler;
	KUNIT_ASSERT_EQ(test, fi_cq_open(domain, &copy, &vcq->cq, vcq), 0);
	vt_adopt(test, &vcq->cq->fid);
	return vcq;
}
EXPORT_SYMBOL_GPL(vt_cq_new);

struct vt_cq *vt_cq(struct kunit *test, const struct vt_kind *kind, size_t size)
{
	struct fi_cq_attr attr = { .size = size };

	return vt_cq_new(test, vt_of(test)->domain, &attr, kind);
}
EXPORT_SYMBOL_GPL(vt_cq);

static ssize_t vt_read(struct vt_cq *cq, void *entry)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	ssize_t ret;

	if (cq->kind->wait_obj == FI_WAIT_UNSPEC)
		return vt_cq_sread(cq->cq, entry, 1, NULL);

	for (;;) {
		ret = fi_cq_read(cq->cq, entry, 1);
		if (ret != -EAGAIN || time_after(jiffies, until))
			return ret;
		cq->empties++;
		if (cq->kind->wait_obj != FI_WAIT_CALLBACK)
			cond_resched();
		else if (!wait_for_completion_timeout(&cq->event,
						      until - jiffies + 1))
			return -ETIMEDOUT;
	}
}

static void vt_read_error(struct vt_cq *cq, struct vt_comp *comp)
{
	struct fi_cq_err_entry error = {};

	if (fi_cq_readerr(cq->cq, &error, 0) != 1)
		return;
	*comp = (struct vt_comp) {
		.context	= error.op_context,
		.flags		= error.flags,
		.len		= error.len,
		.buf		= error.buf,
		.data		= error.data,
		.tag		= error.tag,
		.err		= error.err,
		.prov_errno	= error.prov_errno,
		.src_addr	= error.src_addr,
	};
}

/* Returns 1 with a completion or an error in @comp, or why there is none */
int vt_wait(struct vt_cq *cq, struct vt_comp *comp)
{
	struct fi_cq_tagged_entry entry = {};
	enum fi_cq_format format = cq->kind->format;
	ssize_t ret = vt_read(cq, &entry);

	*comp = (struct vt_comp) {};
	if (ret == -FI_EAVAIL) {
		vt_read_error(cq, comp);
		return comp->err ? 1 : -EIO;
	}
	if (ret < 0)
		return ret;

	comp->context = entry.op_context;
	if (format >= FI_CQ_FORMAT_MSG) {
		comp->flags = entry.flags;
		comp->len = entry.len;
	}
	if (format >= FI_CQ_FORMAT_DATA) {
		comp->buf = entry.buf;
		comp->data = entry.data;
	}
	if (format >= FI_CQ_FORMAT_TAGGED)
		comp->tag = entry.tag;
	return ret;
}
EXPORT_SYMBOL_GPL(vt_wait);

struct vt_comp vt_done(struct kunit *test, struct vt_cq *cq, void *context)
{
	struct vt_comp comp;

	vt_expect_no_frame(test);
	KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
	KUNIT_ASSERT_EQ_MSG(test, comp.err, 0, "operation %lu failed: %s",
			    (unsigned long)comp.context,
			    fi_cq_strerror(cq->cq, comp.prov_errno, NULL, NULL,
					   0));
	KUNIT_ASSERT_PTR_EQ(test, comp.context, context);
	return comp;
}
EXPORT_SYMBOL_GPL(vt_done);

struct vt_comp vt_failed(struct kunit *test, struct vt_cq *cq)
{
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
	KUNIT_ASSERT_NE_MSG(test, comp.err, 0, "operation %lu succeeded",
			    (unsigned long)comp.context);
	return comp;
}
EXPORT_SYMBOL_GPL(vt_failed);

struct vt_comp vt_failed_with(struct kunit *test, struct vt_cq *cq, void *context, int err)
{
	struct vt_comp comp = vt_failed(test, cq);

	KUNIT_EXPECT_EQ(test, comp.err, err);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, context);
	return comp;
}
EXPORT_SYMBOL_GPL(vt_failed_with);

void vt_none(struct kunit *test, struct vt_cq *cq)
{
	struct fi_cq_tagged_entry entry;

	KUNIT_ASSERT_EQ(test, fi_cq_read(cq->cq, &entry, 1), -EAGAIN);
}
EXPORT_SYMBOL_GPL(vt_none);

void *vt_buf(struct kunit *test, size_t len)
{
	void *buf = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}
EXPORT_SYMBOL_GPL(vt_buf);

static u8 vt_byte(size_t i, u8 seed)
{
	return seed + i * 7 + (i >> 8) * 13;
}

void vt_fill(void *buf, size_t len, u8 seed)
{
	u8 *bytes = buf;
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = vt_byte(i, seed);
}
EXPORT_SYMBOL_GPL(vt_fill);

bool vt_filled(const void *buf, size_t len, u8 seed)
{
	const u8 *bytes = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (bytes[i] != vt_byte(i, seed))
			return false;
	return true;
}
EXPORT_SYMBOL_GPL(vt_filled);

void vt_recv(struct kunit *test, struct vt_end *end, void *buf, size_t len,
	     void *context)
{
	KUNIT_ASSERT_EQ(test, fi_recv(vt_rx(end), buf, len, NULL, 0, context),
			0);
}
EXPORT_SYMBOL_GPL(vt_recv);

void vt_send(struct kunit *test, struct vt_end *end, const void *buf, size_t len, void *context)
{
	KUNIT_ASSERT_EQ(test, fi_send(end->ep, buf, len, NULL, 0, context), 0);
}
EXPORT_SYMBOL_GPL(vt_send);
