// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks with ->begin: atomics, as in call.c.  Their lists consist of struct fi_ioc.
 */
#include "hook.h"

static ssize_t call_atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				 fi_addr_t dest_addr, u64 addr, u64 key,
				 enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_ATOMIC, .len = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.write(ep, buf, count, desc, dest_addr, addr, key,
					     datatype, op, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				    u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_ATOMIC, .list = msg->msg_iov, .count = msg->iov_count,
		.context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.writemsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  enum fi_datatype datatype, enum fi_op op)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_INJECT_ATOMIC, .len = count,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.inject(ep, buf, count, dest_addr, addr, key, datatype,
					      op);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				  size_t count, fi_addr_t dest_addr, u64 addr, u64 key,
				  enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_ATOMIC, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.writev(ep, iov, desc, count, dest_addr, addr, key,
					      datatype, op, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count,
				     void *desc, void *result, void *result_desc,
				     fi_addr_t dest_addr, u64 addr, u64 key,
				     enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_FETCH_ATOMIC, .len = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.readwrite(ep, buf, count, desc, result, result_desc,
						 dest_addr, addr, key, datatype, op, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				      size_t count, struct fi_ioc *resultv, void **result_desc,
				      size_t result_count, fi_addr_t dest_addr, u64 addr,
				      u64 key, enum fi_datatype datatype, enum fi_op op,
				      void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_FETCH_ATOMIC, .list = iov, .count = count,
		.context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.readwritev(ep, iov, desc, count, resultv, result_desc,
						  result_count, dest_addr, addr, key, datatype,
						  op, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
					struct fi_ioc *resultv, void **result_desc,
					size_t result_count, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_FETCH_ATOMIC, .list = msg->msg_iov, .count = msg->iov_count,
		.context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.readwritemsg(ep, msg, resultv, result_desc, result_count,
						    flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				      size_t count, const struct fi_ioc *comparev,
				      void **compare_desc, size_t compare_count,
				      struct fi_ioc *resultv, void **result_desc,
				      size_t result_count, fi_addr_t dest_addr, u64 addr,
				      u64 key, enum fi_datatype datatype, enum fi_op op,
				      void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_COMPARE_ATOMIC, .list = iov, .count = count,
		.context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.compwritev(ep, iov, desc, count, comparev, compare_desc,
						  compare_count, resultv, result_desc,
						  result_count, dest_addr, addr, key, datatype,
						  op, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
					const struct fi_ioc *comparev, void **compare_desc,
					size_t compare_count, struct fi_ioc *resultv,
					void **result_desc, size_t result_count, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_COMPARE_ATOMIC, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.compwritemsg(ep, msg, comparev, compare_desc,
						    compare_count, resultv, result_desc,
						    result_count, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count,
				     void *desc, const void *compare, void *compare_desc,
				     void *result, void *result_desc, fi_addr_t dest_addr,
				     u64 addr, u64 key, enum fi_datatype datatype,
				     enum fi_op op, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_COMPARE_ATOMIC, .len = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_atomic.compwrite(ep, buf, count, desc, compare, compare_desc,
						 result, result_desc, dest_addr, addr, key,
						 datatype, op, context);
	return kofi_hook_end(ep, &call, ret);
}

/* Queries transfer no data, so they are not described to the hook */
static int call_atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				  size_t *count)
{
	return kofi_hook_atomic.writevalid(ep, datatype, op, count);
}

static int call_atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				      size_t *count)
{
	return kofi_hook_atomic.readwritevalid(ep, datatype, op, count);
}

static int call_atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				      size_t *count)
{
	return kofi_hook_atomic.compwritevalid(ep, datatype, op, count);
}

const struct fi_ops_atomic kofi_hook_call_atomic = {
	.size		= sizeof(struct fi_ops_atomic),
	.write		= call_atomic_write,
	.writev		= call_atomic_writev,
	.writemsg	= call_atomic_writemsg,
	.inject		= call_atomic_inject,
	.readwrite	= call_atomic_readwrite,
	.readwritev	= call_atomic_readwritev,
	.readwritemsg	= call_atomic_readwritemsg,
	.compwrite	= call_atomic_compwrite,
	.compwritev	= call_atomic_compwritev,
	.compwritemsg	= call_atomic_compwritemsg,
	.writevalid	= call_atomic_writevalid,
	.readwritevalid	= call_atomic_readwritevalid,
	.compwritevalid	= call_atomic_compwritevalid,
};
