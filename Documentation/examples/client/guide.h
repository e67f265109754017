/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The client that Documentation/client-guide.rst walks through.  Both ends of a connection
 * are here, so one machine is enough:
 *
 *	modprobe kofi_loop && insmod kofi_guide.ko
 *	modprobe kofi_verbs && insmod kofi_guide.ko prov=verbs node=10.77.0.1
 *
 * The work is done while the module loads, once with each kind of completion queue, and then
 * without a connection, if the provider has such endpoints; insmod fails if it fails.
 */
#ifndef _GUIDE_H
#define _GUIDE_H

#include <linux/completion.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#define TIMEOUT_MS	5000
#define LEN		4096

/* guide: op */
/* What the context of an operation points to; it stays until the operation is over */
struct op {
	struct fi_done		done;	/* with FI_WAIT_DONE this is what is called */
	struct completion	over;
	int			err;
	u64			flags;
	u64			data;
};

/* guide: end of op */
/* What a message says: where memory is that the receiver may read and write */
struct place {
	u64	addr;
	u64	key;
};

/* One end of the connection, or an endpoint without one */
struct end {
	struct fi_info		*info;
	struct fid_eq		*eq;
	struct fid_domain	*domain;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	enum fi_wait_obj	wait_obj;
	struct place		*in;	/* the message that comes */
	struct place		*out;	/* the message that goes */
	/* Not on a stack: if op_await() gives up, they end later, at the latest in fi_close() */
	struct op		recv;
	struct op		op;
	struct op		disable;
	/* Without a connection */
	struct fid_av		*av;
	fi_addr_t		peer;
	struct completion	ready;	/* a call that returned -EAGAIN is worth trying again */
	int			again;	/* how many have */
};

struct guide {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_pep		*pep;
	struct end		server;
	struct end		client;
	char			*memory;	/* the server's, which the client uses */
	char			*buf;		/* the client's own */
	struct fid_mr		*mr;
};

/* main.c */
void end_close(struct end *end);

/* queue.c */
int queue_open(struct end *end);
void op_init(struct op *op);
int op_await(struct end *end, struct op *op);

/* data.c */
int data_messages(struct guide *g);
int data_persistent(struct guide *g);
int data_per_io(struct guide *g);

/* rdm.c */
int rdm_run(const char *prov, const char *node);

#endif /* _GUIDE_H */
