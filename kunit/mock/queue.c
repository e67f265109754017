// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queues and counters of the mock provider, on top of the core's helpers.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

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

static void mock_cq_release(struct mock_obj *obj)
{
	struct mock_cq *cq = container_of(obj, struct mock_cq, obj);

	kofi_cq_fini(&cq->kcq);
	mock_obj_fini(obj);
	kfree(cq);
}

static const struct kofi_cq_ops mock_cq_ops = {
	.release	= mock_op_free,
	.strerror	= mock_eq_strerror,
};

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
	err = kofi_cq_init(&mcq->kcq, attr, attr && attr->size ? attr->size : MOCK_CQ_SIZE,
			   &mock_cq_ops, context);
	if (err)
		goto err_free;
	mcq->obj.release = mock_cq_release;
	err = mock_obj_init(&mcq->obj, mock, MOCK_CQ, &mcq->kcq.cq.fid, context);
	if (err)
		goto err_fini;
	*cq = &mcq->kcq.cq;
	return 0;

err_fini:
	kofi_cq_fini(&mcq->kcq);
err_free:
	kfree(mcq);
	return err;
}

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
	err = mock_obj_init(&mcntr->obj, mock, MOCK_CNTR, &mcntr->kcntr.cntr.fid, context);
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
