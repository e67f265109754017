// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queues and counters of the mock provider, on top of the core's helpers.
 *
 * A reader of a completion queue gives the slots back to their endpoints under
 * the queue's lock, because an endpoint may be closed meanwhile; see mock_ep.c.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "mock_priv.h"

struct mock_eq {
	struct mock_obj		obj;
	const struct fi_ops	*core_ops;
};

/* The queue is the core's; only its ->close is replaced, to count */
static void mock_eq_release(struct mock_obj *obj)
{
	struct mock_eq *meq = container_of(obj, struct mock_eq, obj);
	struct fid *fid = obj->fid;

	mock_obj_fini(obj);
	meq->core_ops->close(fid);
	kfree(meq);
}

static const char *mock_eq_strerror(int prov_errno)
{
	return prov_errno ? "mock error" : "no error";
}

int mock_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		 struct fid_eq **eq, void *context)
{
	struct mock *mock = mock_of(&fabric->fid);
	struct mock_eq *meq;
	struct fi_ops ops;
	int err;

	err = mock_enter(mock, MOCK_CALL_EQ_OPEN);
	if (err)
		return err;
	meq = kzalloc(sizeof(*meq), GFP_KERNEL);
	if (!meq)
		return -ENOMEM;
	err = kofi_eq_open(attr, mock_eq_strerror, eq, context);
	if (err)
		goto err_free;

	meq->obj.release = mock_eq_release;
	meq->core_ops = (*eq)->fid.ops;
	ops = *meq->core_ops;
	ops.close = mock_close;
	(*eq)->fid.ops = &ops;
	err = mock_obj_init(&meq->obj, mock, MOCK_EQ, &(*eq)->fid, context);
	if (err)
		goto err_close;
	return 0;

err_close:
	meq->core_ops->close(&(*eq)->fid);
err_free:
	kfree(meq);
	return err;
}

static struct mock_cq *to_mock_cq(struct fid_cq *cq)
{
	return container_of(cq, struct mock_cq, kcq.cq);
}

static void mock_cq_release(struct mock_obj *obj)
{
	struct mock_cq *cq = container_of(obj, struct mock_cq, obj);

	mock_obj_fini(obj);
	kfree(cq);
}

int mock_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		 struct fid_cq **cq, void *context)
{
	struct mock *mock = mock_of(&domain->fid);
	struct mock_cq *mcq;
	int err;

	err = mock_enter(mock, MOCK_CALL_CQ_OPEN);
	if (err)
		return err;
	mcq = kzalloc(sizeof(*mcq), GFP_KERNEL);
	if (!mcq)
		return -ENOMEM;
	err = kofi_cq_init(&mcq->kcq, attr,
			   attr && attr->size ? attr->size : MOCK_CQ_SIZE,
			   context);
	if (err)
		goto err_free;
	mcq->obj.release = mock_cq_release;
	err = mock_obj_init(&mcq->obj, mock, MOCK_CQ, &mcq->kcq.cq.fid,
			    context);
	if (err)
		goto err_free;
	*cq = &mcq->kcq.cq;
	return 0;

err_free:
	kfree(mcq);
	return err;
}

static ssize_t mock_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
				fi_addr_t *src_addr)
{
	struct kofi_cq *kcq = &to_mock_cq(cq)->kcq;
	struct kofi_comp *chain;
	unsigned long flags;
	ssize_t ret, i;

	spin_lock_irqsave(&kcq->lock, flags);
	ret = kofi_cq_read(kcq, buf, count, &chain);
	mock_op_free(chain);
	spin_unlock_irqrestore(&kcq->lock, flags);
	for (i = 0; src_addr && i < ret; i++)
		src_addr[i] = FI_ADDR_NOTAVAIL;
	return ret;
}

static ssize_t mock_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return mock_cq_readfrom(cq, buf, count, NULL);
}

static ssize_t mock_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf,
			       u64 flags)
{
	struct kofi_cq *kcq = &to_mock_cq(cq)->kcq;
	struct kofi_comp *chain;
	unsigned long irq;
	ssize_t ret;

	spin_lock_irqsave(&kcq->lock, irq);
	ret = kofi_cq_readerr(kcq, buf, flags, &chain);
	mock_op_free(chain);
	spin_unlock_irqrestore(&kcq->lock, irq);
	return ret;
}

static ssize_t mock_cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count,
				 fi_addr_t *src_addr, const void *cond,
				 int timeout)
{
	ssize_t ret;

	ret = kofi_cq_wait(&to_mock_cq(cq)->kcq, cond, timeout);
	return ret ? : mock_cq_readfrom(cq, buf, count, src_addr);
}

static ssize_t mock_cq_sread(struct fid_cq *cq, void *buf, size_t count,
			     const void *cond, int timeout)
{
	return mock_cq_sreadfrom(cq, buf, count, NULL, cond, timeout);
}

static const char *mock_cq_strerror(struct fid_cq *cq, int prov_errno,
				    const void *err_data, char *buf, size_t len)
{
	const char *text = mock_eq_strerror(prov_errno);

	if (buf && len)
		strscpy(buf, text, len);
	return text;
}

const struct fi_ops_cq mock_cq_ops = {
	.size		= sizeof(struct fi_ops_cq),
	.read		= mock_cq_read,
	.readfrom	= mock_cq_readfrom,
	.readerr	= mock_cq_readerr,
	.sread		= mock_cq_sread,
	.sreadfrom	= mock_cq_sreadfrom,
	.signal		= kofi_cq_signal,
	.strerror	= mock_cq_strerror,
};

static void mock_cntr_release(struct mock_obj *obj)
{
	struct mock_cntr *cntr = container_of(obj, struct mock_cntr, obj);

	mock_obj_fini(obj);
	kfree(cntr);
}

int mock_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		   struct fid_cntr **cntr, void *context)
{
	struct mock *mock = mock_of(&domain->fid);
	struct mock_cntr *mcntr;
	int err;

	err = mock_enter(mock, MOCK_CALL_CNTR_OPEN);
	if (err)
		return err;
	mcntr = kzalloc(sizeof(*mcntr), GFP_KERNEL);
	if (!mcntr)
		return -ENOMEM;
	err = kofi_cntr_init(&mcntr->kcntr, attr, context);
	if (err)
		goto err_free;
	mcntr->obj.release = mock_cntr_release;
	err = mock_obj_init(&mcntr->obj, mock, MOCK_CNTR,
			    &mcntr->kcntr.cntr.fid, context);
	if (err)
		goto err_free;
	*cntr = &mcntr->kcntr.cntr;
	return 0;

err_free:
	kfree(mcntr);
	return err;
}

const struct fi_ops mock_cntr_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= mock_close,
	.bind		= fi_no_bind,
	.control	= kofi_cntr_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};
