/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace events: what was found, opened, bound, called and closed, with which result.
 * Providers that use kofi/util also trace which operation was posted and which has completed.
 * Objects and contexts of operations appear as hashed pointers, as objects do in debugfs
 * (kofi/objects).
 *
 * Strings are arrays of a fixed size: the macros for strings of any length
 * changed between kernel versions.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kofi

#if !defined(_KOFI_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KOFI_TRACE_H

#include <linux/string.h>
#include <linux/tracepoint.h>
#include <kofi/cq.h>
#include <rdma/fi_reason.h>
#include "kofi.h"

TRACE_DEFINE_ENUM(FI_CLASS_FABRIC);
TRACE_DEFINE_ENUM(FI_CLASS_DOMAIN);
TRACE_DEFINE_ENUM(FI_CLASS_EP);
TRACE_DEFINE_ENUM(FI_CLASS_SEP);
TRACE_DEFINE_ENUM(FI_CLASS_RX_CTX);
TRACE_DEFINE_ENUM(FI_CLASS_SRX_CTX);
TRACE_DEFINE_ENUM(FI_CLASS_TX_CTX);
TRACE_DEFINE_ENUM(FI_CLASS_STX_CTX);
TRACE_DEFINE_ENUM(FI_CLASS_PEP);
TRACE_DEFINE_ENUM(FI_CLASS_AV);
TRACE_DEFINE_ENUM(FI_CLASS_MR);
TRACE_DEFINE_ENUM(FI_CLASS_EQ);
TRACE_DEFINE_ENUM(FI_CLASS_CQ);
TRACE_DEFINE_ENUM(FI_CLASS_CNTR);
TRACE_DEFINE_ENUM(FI_CLASS_MC);

#define show_kofi_class(fclass)					\
	__print_symbolic(fclass,				\
			 { FI_CLASS_FABRIC, "fabric" },		\
			 { FI_CLASS_DOMAIN, "domain" },		\
			 { FI_CLASS_EP, "ep" },			\
			 { FI_CLASS_SEP, "sep" },		\
			 { FI_CLASS_RX_CTX, "rx" },		\
			 { FI_CLASS_SRX_CTX, "srx" },		\
			 { FI_CLASS_TX_CTX, "tx" },		\
			 { FI_CLASS_STX_CTX, "stx" },		\
			 { FI_CLASS_PEP, "pep" },		\
			 { FI_CLASS_AV, "av" },			\
			 { FI_CLASS_MR, "mr" },			\
			 { FI_CLASS_EQ, "eq" },			\
			 { FI_CLASS_CQ, "cq" },			\
			 { FI_CLASS_CNTR, "cntr" },		\
			 { FI_CLASS_MC, "mc" })

DECLARE_EVENT_CLASS(kofi_obj,
	TP_PROTO(const struct kofi_obj *obj, const void *fid, int ret),
	TP_ARGS(obj, fid, ret),
	TP_STRUCT__entry(
		__array(char, prov, 64)
		__field(u32, fclass)
		__field(const void *, fid)
		__field(int, ret)
	),
	TP_fast_assign(
		strscpy_pad(__entry->prov, obj->prov->provider->name, 64);
		__entry->fclass = obj->fclass;
		__entry->fid = fid;
		__entry->ret = ret;
	),
	TP_printk("prov=%s class=%s fid=%p ret=%d", __entry->prov,
		  show_kofi_class(__entry->fclass), __entry->fid, __entry->ret)
);

DEFINE_EVENT(kofi_obj, kofi_open,
	TP_PROTO(const struct kofi_obj *obj, const void *fid, int ret),
	TP_ARGS(obj, fid, ret)
);

DEFINE_EVENT(kofi_obj, kofi_close,
	TP_PROTO(const struct kofi_obj *obj, const void *fid, int ret),
	TP_ARGS(obj, fid, ret)
);

TRACE_EVENT(kofi_bind,
	TP_PROTO(const struct fid *fid, const struct fid *bfid, u64 flags,
		 int ret),
	TP_ARGS(fid, bfid, flags, ret),
	TP_STRUCT__entry(
		__array(char, prov, 64)
		__field(u32, fclass)
		__field(u32, bclass)
		__field(const void *, fid)
		__field(const void *, bfid)
		__field(u64, flags)
		__field(int, ret)
	),
	TP_fast_assign(
		strscpy_pad(__entry->prov, fid->obj->prov->provider->name, 64);
		__entry->fclass = fid->obj->fclass;
		__entry->bclass = bfid->obj->fclass;
		__entry->fid = fid;
		__entry->bfid = bfid;
		__entry->flags = flags;
		__entry->ret = ret;
	),
	TP_printk("prov=%s class=%s fid=%p class=%s bfid=%p flags=%#llx ret=%d",
		  __entry->prov, show_kofi_class(__entry->fclass), __entry->fid,
		  show_kofi_class(__entry->bclass), __entry->bfid,
		  __entry->flags, __entry->ret)
);

TRACE_EVENT(kofi_call,
	TP_PROTO(const char *call, const struct fid *fid, long ret),
	TP_ARGS(call, fid, ret),
	TP_STRUCT__entry(
		__array(char, prov, 64)
		__array(char, call, 16)
		__field(u32, fclass)
		__field(const void *, fid)
		__field(long, ret)
	),
	TP_fast_assign(
		strscpy_pad(__entry->prov, fid->obj->prov->provider->name, 64);
		strscpy_pad(__entry->call, call, 16);
		__entry->fclass = fid->obj->fclass;
		__entry->fid = fid;
		__entry->ret = ret;
	),
	TP_printk("prov=%s call=%s class=%s fid=%p ret=%ld", __entry->prov,
		  __entry->call, show_kofi_class(__entry->fclass),
		  __entry->fid, __entry->ret)
);

/* A check of a control call, or of a post, has failed */
TRACE_EVENT(kofi_refused,
	TP_PROTO(const char *call, int ret, const char *reason),
	TP_ARGS(call, ret, reason),
	TP_STRUCT__entry(
		__array(char, call, 24)
		__field(int, ret)
		__array(char, reason, 192)
	),
	TP_fast_assign(
		strscpy_pad(__entry->call, call, 24);
		__entry->ret = ret;
		strscpy_pad(__entry->reason, reason, 192);
	),
	TP_printk("call=%s ret=%d %s", __entry->call, __entry->ret, __entry->reason)
);

/* @ret: number of results, or an error; @reason: the nearest reason, or NULL */
TRACE_EVENT(kofi_getinfo,
	TP_PROTO(const char *prov, u64 caps, int ret,
		 const struct fi_reason *reason),
	TP_ARGS(prov, caps, ret, reason),
	TP_STRUCT__entry(
		__array(char, prov, 64)
		__field(u64, caps)
		__field(int, ret)
		__array(char, reason_prov, 64)
		__array(char, reason_domain, 64)
		__array(char, reason, 256)
	),
	TP_fast_assign(
		strscpy_pad(__entry->prov, prov ?: "*", 64);
		__entry->caps = caps;
		__entry->ret = ret;
		strscpy_pad(__entry->reason_prov,
			    reason && *reason->prov_name ?
			    reason->prov_name : "-", 64);
		strscpy_pad(__entry->reason_domain,
			    reason && *reason->domain_name ?
			    reason->domain_name : "-", 64);
		strscpy_pad(__entry->reason, reason ? reason->text : "-", 256);
	),
	TP_printk("prov=%s caps=%#llx ret=%d left out: %s %s %s",
		  __entry->prov, __entry->caps, __entry->ret,
		  __entry->reason_prov, __entry->reason_domain, __entry->reason)
);

/* Name of the operation that the flags of a completion stand for */
#define show_kofi_op(flags)						\
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

/* @fid: the endpoint; @flags: flags that the completion will have at least */
TRACE_EVENT(kofi_post,
	TP_PROTO(const struct fid *fid, u64 flags, const void *context, size_t len),
	TP_ARGS(fid, flags, context, len),
	TP_STRUCT__entry(
		__field(const void *, fid)
		__field(const void *, context)
		__field(u64, flags)
		__field(size_t, len)
	),
	TP_fast_assign(
		__entry->fid = fid;
		__entry->context = context;
		__entry->flags = flags;
		__entry->len = len;
	),
	TP_printk("fid=%p op=%s len=%zu context=%p flags=%#llx", __entry->fid,
		  show_kofi_op(__entry->flags), __entry->len, __entry->context,
		  __entry->flags)
);

/* @fid: the completion queue.  A success that is not reported has no such event */
TRACE_EVENT(kofi_done,
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
		  __entry->fid, show_kofi_op(__entry->flags), __entry->len,
		  __entry->context, __entry->flags, __entry->err,
		  __entry->prov_errno)
);

#endif /* _KOFI_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
