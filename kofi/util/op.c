// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Why an operation was refused.
 *
 * The data path returns an errno and nothing else, as each instruction counts there.  So this looks
 * for the reason afterwards, in the state of the endpoint and in the operation.
 */
#include <linux/module.h>
#include <kofi/pages.h>
#include <kofi/refuse.h>
#include <kofi/xfer.h>

static const char *const kofi_op_calls[] = {
	[KOFI_OP_SEND]		= "send",
	[KOFI_OP_TSEND]		= "tsend",
	[KOFI_OP_RECV]		= "recv",
	[KOFI_OP_TRECV]		= "trecv",
	[KOFI_OP_READ]		= "read",
	[KOFI_OP_WRITE]		= "write",
	[KOFI_OP_ATOMIC]	= "atomic",
	[KOFI_OP_FETCH]		= "fetch_atomic",
	[KOFI_OP_COMPARE]	= "compare_atomic",
};

static ssize_t kofi_op_refuse_size(const struct kofi_ep *ep, const struct kofi_op *op,
				   const char *call)
{
	bool inject = op->flags & FI_INJECT && !kofi_op_is_recv(op);
	ssize_t len = op->kind >= KOFI_OP_ATOMIC ? -EINVAL :
		      kofi_list_len(op->type, op->list, op->count, SSIZE_MAX);

	if (len < 0)
		return kofi_refuse(call, -EMSGSIZE, "the list has more bytes than an operation can have");
	return kofi_refuse(call, -EMSGSIZE, "the list has %zd bytes; the most is %zu, the %s", len,
			   inject ? ep->inject_size : ep->max_msg_size,
			   inject ? "inject size" : "longest message");
}

static ssize_t kofi_op_refuse_list(const struct kofi_ep *ep, const struct kofi_op *op,
				   const char *call)
{
	if (op->count && !op->list)
		return kofi_refuse(call, -EINVAL, "the list is NULL, and has %zu elements",
				   op->count);
	if (op->kind < KOFI_OP_ATOMIC &&
	    kofi_list_refuse(call, op->type, op->list, op->count, ep->caps & FI_HMEM))
		return -EINVAL;
	return kofi_refuse(call, -EINVAL, "count is %zu: more than iov_limit, or the lists of the operation are not equally long",
			   op->count);
}

ssize_t kofi_op_refuse(const struct kofi_ep *ep, const struct kofi_op *op, ssize_t ret)
{
	const char *call = kofi_op_calls[op->kind];

	switch (ret) {
	case 0:
	case -EAGAIN:
		return ret;
	case -FI_EOPBADSTATE:
	case -ENOTCONN:
	case -ESHUTDOWN:
		return kofi_conn_refuse(call, &ep->conn, ret, ep->conn.connless ||
					kofi_op_is_recv(op) ? "enabled" : "connected");
	case -ENODEV:
		return kofi_refuse(call, ret, "the device, the interface or the namespace of the endpoint has gone");
	case -FI_EBADFLAGS:
		return kofi_refuse(call, ret, "flags %#llx: some do not suit this operation, or the endpoint's capabilities",
				   op->flags);
	case -ENOSYS:
		return kofi_refuse(call, ret, op->any_length ?
				   "the endpoint was enabled without FI_OPT_MAX_RW_OPS" :
				   "the endpoint does not have this operation: another direction, or another form");
	case -EMSGSIZE:
		return kofi_op_refuse_size(ep, op, call);
	case -EINVAL:
		return kofi_op_refuse_list(ep, op, call);
	default:
		return kofi_refuse(call, ret, "the provider has refused the operation");
	}
}
EXPORT_SYMBOL_GPL(kofi_op_refuse);
