/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace events of kofi_hook_trace: a data transfer call has returned, an operation has
 * completed.
 *
 * Objects are those that the client has.  They are shown as hashed pointers, as in debugfs
 * (kofi/objects).  Contexts of operations are hashed in the same way.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kofi_hook

#if !defined(_KOFI_HOOK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KOFI_HOOK_TRACE_H

#include <linux/tracepoint.h>
#include <kofi/hook.h>

TRACE_DEFINE_ENUM(FI_OP_RECV);
TRACE_DEFINE_ENUM(FI_OP_SEND);
TRACE_DEFINE_ENUM(KOFI_HOOK_INJECT);
TRACE_DEFINE_ENUM(FI_OP_TRECV);
TRACE_DEFINE_ENUM(FI_OP_TSEND);
TRACE_DEFINE_ENUM(KOFI_HOOK_TINJECT);
TRACE_DEFINE_ENUM(FI_OP_READ);
TRACE_DEFINE_ENUM(FI_OP_WRITE);
TRACE_DEFINE_ENUM(KOFI_HOOK_INJECT_WRITE);
TRACE_DEFINE_ENUM(FI_OP_ATOMIC);
TRACE_DEFINE_ENUM(FI_OP_FETCH_ATOMIC);
TRACE_DEFINE_ENUM(FI_OP_COMPARE_ATOMIC);
TRACE_DEFINE_ENUM(KOFI_HOOK_INJECT_ATOMIC);

#define show_kofi_hook_op(op)						\
	__print_symbolic(op,						\
			 { FI_OP_RECV, "recv" },			\
			 { FI_OP_SEND, "send" },			\
			 { KOFI_HOOK_INJECT, "inject" },		\
			 { FI_OP_TRECV, "trecv" },			\
			 { FI_OP_TSEND, "tsend" },			\
			 { KOFI_HOOK_TINJECT, "tinject" },		\
			 { FI_OP_READ, "read" },			\
			 { FI_OP_WRITE, "write" },			\
			 { KOFI_HOOK_INJECT_WRITE, "inject_write" },	\
			 { FI_OP_ATOMIC, "atomic" },		\
			 { FI_OP_FETCH_ATOMIC, "fetch_atomic" },	\
			 { FI_OP_COMPARE_ATOMIC, "compare_atomic" }, \
			 { KOFI_HOOK_INJECT_ATOMIC, "inject_atomic" })

/* The operation that a completion's flags name, in the words of show_kofi_hook_op() */
#define show_kofi_hook_done(flags)					\
	__print_symbolic((flags) & (FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
				    FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC), \
			 { FI_SEND, "send" },				\
			 { FI_RECV, "recv" },				\
			 { FI_READ, "read" },				\
			 { FI_WRITE, "write" },				\
			 { FI_ATOMIC | FI_READ, "fetch_atomic" },	\
			 { FI_ATOMIC | FI_WRITE, "atomic" },		\
			 { FI_REMOTE_READ, "remote_read" },		\
			 { FI_REMOTE_WRITE, "remote_write" })

/* @ns: nanoseconds that the provider below took for the call */
TRACE_EVENT(kofi_hook_call,
	TP_PROTO(const struct fid *fid, const struct fi_xfer *xfer,
		 ssize_t ret, u64 ns),
	TP_ARGS(fid, xfer, ret, ns),
	TP_STRUCT__entry(
		__field(const void *, fid)
		__field(const void *, context)
		__field(u32, op)
		__field(size_t, len)
		__field(u64, flags)
		__field(ssize_t, ret)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->fid = fid;
		__entry->context = xfer->context;
		__entry->op = kofi_hook_op(xfer);
		__entry->len = kofi_hook_len(xfer);
		/* Those that the client has passed */
		__entry->flags = xfer->defaults ? 0 : xfer->flags;
		__entry->ret = ret;
		__entry->ns = ns;
	),
	TP_printk("fid=%p op=%s len=%zu context=%p flags=%#llx ret=%zd ns=%llu",
		  __entry->fid, show_kofi_hook_op(__entry->op), __entry->len,
		  __entry->context, __entry->flags, __entry->ret, __entry->ns)
);

/* @fid: the completion queue */
TRACE_EVENT(kofi_hook_done,
	TP_PROTO(const struct fid *fid, const struct kofi_comp *comp),
	TP_ARGS(fid, comp),
	TP_STRUCT__entry(
		__field(const void *, fid)
		__field(const void *, context)
		__field(u64, flags)
		__field(size_t, len)
		__field(int, err)
		__field(int, prov_errno)
	),
	TP_fast_assign(
		__entry->fid = fid;
		__entry->context = comp->op_context;
		__entry->flags = comp->flags & ~KOFI_COMP_MSG;
		__entry->len = comp->len;
		__entry->err = comp->err;
		__entry->prov_errno = comp->prov_errno;
	),
	TP_printk("fid=%p op=%s len=%zu context=%p flags=%#llx err=%d prov_errno=%d",
		  __entry->fid, show_kofi_hook_done(__entry->flags), __entry->len,
		  __entry->context, __entry->flags, __entry->err,
		  __entry->prov_errno)
);

#endif /* _KOFI_HOOK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
