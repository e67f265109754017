// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Opens event queues, completion queues and counters, and has the calls on event queues.
 *
 * Reads of completions are on the data path: fi_eq.h calls the queue's table
 * directly.  Events are rare, so the calls on event queues check their arguments.  They may
 * come from any context, also from the handler of a queue whose open has not
 * returned yet.  fid.obj is not set then, so they check the class only.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "kofi.h"

int fi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
	       struct fid_eq **eq, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("eq_open", fabric, BIT(FI_CLASS_FABRIC)) ? :
	      kofi_check_ptr("eq_open", eq);
	if (ret)
		return ret;

	return kofi_open("eq_open", &fabric->fid, FI_CLASS_EQ, eq,
			 fabric->ops->eq_open(fabric, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_eq_open);

int fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
	       struct fid_cq **cq, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("cq_open", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("cq_open", cq);
	if (ret)
		return ret;

	return kofi_open("cq_open", &domain->fid, FI_CLASS_CQ, cq,
			 domain->ops->cq_open(domain, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_cq_open);

int fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		 struct fid_cntr **cntr, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("cntr_open", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("cntr_open", attr) ? :
	      kofi_check_ptr("cntr_open", cntr);
	if (ret)
		return ret;

	return kofi_open("cntr_open", &domain->fid, FI_CLASS_CNTR, cntr,
			 domain->ops->cntr_open(domain, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_cntr_open);

static bool kofi_is_eq(const struct fid_eq *eq)
{
	return eq && eq->fid.fclass == FI_CLASS_EQ;
}

static int kofi_check_eq(const char *call, const struct fid_eq *eq, const void *buf)
{
	if (!kofi_is_eq(eq))
		return kofi_refuse(call, -EINVAL, "eq is no event queue");
	return kofi_check_ptr(call, buf);
}

ssize_t fi_eq_read(struct fid_eq *eq, u32 *event, void *buf, size_t len,
		   u64 flags)
{
	int ret = kofi_check_eq("eq_read", eq, buf) ? :
		  kofi_check_ptr("eq_read", event);

	if (ret)
		return ret;
	return eq->ops->read(eq, event, buf, len, flags);
}
EXPORT_SYMBOL_GPL(fi_eq_read);

ssize_t fi_eq_sread(struct fid_eq *eq, u32 *event, void *buf, size_t len,
		    int timeout, u64 flags)
{
	int ret;

	might_sleep();
	ret = kofi_check_eq("eq_sread", eq, buf) ? :
	      kofi_check_ptr("eq_sread", event);
	if (ret)
		return ret;
	return eq->ops->sread(eq, event, buf, len, timeout, flags);
}
EXPORT_SYMBOL_GPL(fi_eq_sread);

ssize_t fi_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf,
		      u64 flags)
{
	int ret = kofi_check_eq("eq_readerr", eq, buf);

	if (ret)
		return ret;
	return eq->ops->readerr(eq, buf, flags);
}
EXPORT_SYMBOL_GPL(fi_eq_readerr);

ssize_t fi_eq_write(struct fid_eq *eq, u32 event, const void *buf, size_t len,
		    u64 flags)
{
	int ret;

	might_sleep();
	ret = kofi_check_eq("eq_write", eq, buf);
	if (ret)
		return ret;
	return eq->ops->write(eq, event, buf, len, flags);
}
EXPORT_SYMBOL_GPL(fi_eq_write);

const char *fi_eq_strerror(struct fid_eq *eq, int prov_errno,
			   const void *err_data, char *buf, size_t len)
{
	const char *text;

	if (kofi_is_eq(eq))
		return eq->ops->strerror(eq, prov_errno, err_data, buf, len);

	text = fi_strerror(EINVAL);
	if (buf && len)
		strscpy(buf, text, len);
	return text;
}
EXPORT_SYMBOL_GPL(fi_eq_strerror);
