// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Defines the trace event of trace.h.  It is exported for tests.
 */
#include <linux/module.h>
#include "stream/stream.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(kofi_tcp_violation);

/**
 * ktcp_violated() - A peer has violated the wire
 * @fid: the endpoint, or the listener
 * @sock: the connection
 * @reason: what the peer has done
 *
 * Context: may sleep.
 * Return: -EPROTO, with which the connection ends.
 */
int ktcp_violated(const struct fid *fid, struct socket *sock, enum ktcp_violation reason)
{
	struct sockaddr_storage peer;

	if (trace_kofi_tcp_violation_enabled()) {
		ktcp_sock_name(sock, true, &peer);
		trace_kofi_tcp_violation(fid, &peer, reason);
	}
	return -EPROTO;
}
