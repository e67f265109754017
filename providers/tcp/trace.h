/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trace event of kofi_tcp: a peer has violated the wire, and its connection ends.
 *
 * There is one event for each connection that ends like that.  A peer that hangs up, dies or
 * says nothing violates nothing.  Objects appear as the hashed pointers that debugfs
 * (kofi/objects) shows, too.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kofi_tcp

#if !defined(_KOFI_TCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KOFI_TCP_TRACE_H

#include <linux/socket.h>
#include <linux/tracepoint.h>
#include <rdma/fabric.h>
#include "wire.h"

TRACE_DEFINE_ENUM(KTCP_BAD_REQUEST);
TRACE_DEFINE_ENUM(KTCP_BAD_RESPONSE);
TRACE_DEFINE_ENUM(KTCP_BAD_HEADER);
TRACE_DEFINE_ENUM(KTCP_BAD_TAGGED);
TRACE_DEFINE_ENUM(KTCP_BAD_ACK);
TRACE_DEFINE_ENUM(KTCP_BAD_READ_RSP);
TRACE_DEFINE_ENUM(KTCP_BAD_ACCESS);
TRACE_DEFINE_ENUM(KTCP_BAD_RENDEZVOUS);

#define show_ktcp_violation(reason)				\
	__print_symbolic(reason,				\
			 { KTCP_BAD_REQUEST, "request" },	\
			 { KTCP_BAD_RESPONSE, "response" },	\
			 { KTCP_BAD_HEADER, "header" },		\
			 { KTCP_BAD_TAGGED, "tagged" },		\
			 { KTCP_BAD_ACK, "ack" },		\
			 { KTCP_BAD_READ_RSP, "read_rsp" },	\
			 { KTCP_BAD_ACCESS, "access" },		\
			 { KTCP_BAD_RENDEZVOUS, "rendezvous" })

/* @fid: the endpoint, or the listener; @peer: the peer's address; family 0: it is not known */
TRACE_EVENT(kofi_tcp_violation,
	TP_PROTO(const struct fid *fid, const struct sockaddr_storage *peer,
		 enum ktcp_violation reason),
	TP_ARGS(fid, peer, reason),
	TP_STRUCT__entry(
		__field(const void *, fid)
		__array(u8, peer, sizeof(struct sockaddr_storage))
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->fid = fid;
		memcpy(__entry->peer, peer, sizeof(*peer));
		__entry->reason = reason;
	),
	TP_printk("fid=%p peer=%pISpc reason=%s", __entry->fid, __entry->peer,
		  show_ktcp_violation(__entry->reason))
);

#endif /* _KOFI_TCP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
