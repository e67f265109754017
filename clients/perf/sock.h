/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The baseline on kernel sockets: declarations that its files share. */
#ifndef _KOFI_PERF_SOCK_H
#define _KOFI_PERF_SOCK_H

#include <linux/net.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "perf.h"

/* The header of each message, as long as that of libfabric's tcp */
struct sock_head {
	__le64	len;
	__le64	spare;
};

/* @entry: place among the sends or receives of its end */
struct sock_req {
	struct perf_req		req;
	struct list_head	entry;
};

/**
 * struct sock_end - One end of a connection
 * @sock: the socket
 * @work: sends queued messages and takes messages that have arrived
 * @worker: the task that runs @work, or NULL
 * @lock: guards the lists
 * @sends: &struct sock_req that have not been sent
 * @recvs: &struct sock_req that wait for a message
 * @tx: the request that is being sent, or NULL
 * @rx: the request that the arriving message goes to, or NULL
 * @tx_head: header of @tx
 * @rx_head: header of the arriving message
 * @tx_at: bytes of header and message that have been sent
 * @rx_at: bytes of header and message that have arrived
 */
struct sock_end {
	struct socket		*sock;
	struct work_struct	work;
	struct task_struct	*worker;
	spinlock_t		lock;		/* see above */
	struct list_head	sends;
	struct list_head	recvs;
	struct sock_req		*tx;
	struct sock_req		*rx;
	struct sock_head	tx_head;
	struct sock_head	rx_head;
	size_t			tx_at;
	size_t			rx_at;
};

/* @a has connected, @b has accepted */
struct sock_link {
	struct sock_end	a;
	struct sock_end	b;
};

/* sock.c */
int sock_listen(const char *node, struct socket **listener);
int sock_connect(struct socket *listener, struct sock_link *link);
void sock_disconnect(struct sock_link *link);

/* mem_sock.c */
extern const struct perf_mem_ops sock_mem_ops;

#endif /* _KOFI_PERF_SOCK_H */
