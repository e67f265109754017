/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program that speaks the script of fabtests, with whatever libfabric its loader finds:
 *
 *	main.c		options and the table of tests
 *	fabric.c	objects, addresses, connections, and the TCP connection beside them
 *	xfer.c		messages: sequence, contents, syncs
 *	tests.c		the tests
 *
 * The program runs one end of one test, without threads.  Any error ends it with one line and
 * status 1.  It shares no code with the kernel's end, whose sources are in clients/fabtests.
 */
#ifndef _PEER_H
#define _PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define CTRL_BYTES	1024
#define ACK_BYTES	4
#define WAIT_MS		30000

/* A version of fabtests, as numbers that can be compared */
#define SCRIPT(major, minor)	((major) * 100 + (minor))

enum oob {
	OOB_NONE,
	OOB_NAMES,
	OOB_SYNC,
};

enum operation {
	OP_WRITE,
	OP_WRITEDATA,
	OP_READ,
	OP_SENDDATA,
};

struct test {
	const char *name;
	enum fi_ep_type type;	/* FI_EP_UNSPEC: -e decides */
	uint64_t caps;
	bool windowed;
	bool unposted;		/* no receive is posted beforehand */
	bool finalize;		/* ends with a last message */
	bool alone;		/* connects by itself */
	void (*run)(void);
};

struct options {
	const struct test *test;
	const char *provider;
	const char *source;	/* of the server */
	const char *server;	/* of the client; NULL: this is the server */
	enum fi_ep_type type;
	size_t size;
	unsigned int iterations, warmup, window, messages;
	bool verify;
	int oob, op, script;
};

struct peer {
	struct fi_info *info, *pep_info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct fid_mr *mr;
	void *desc;
	fi_addr_t addr;
	int sock;
	/* One area: what is written to, what is read from, buffers to receive and to send */
	char *area, *rx, *tx;
	size_t half, room;
	unsigned int depth;
	uint64_t tx_seq, tx_done, rx_seq, rx_done;
	struct fi_rma_iov remote;
	bool active;
	unsigned long checked;
};

extern struct options opt;
extern struct peer peer;

/* main.c */
noreturn void die(const char *format, ...);
void check_ret(long ret, const char *what);

/* fabric.c */
void find(const char *node, const char *service, uint64_t flags, struct fi_info **info);
void open_fabric(struct fi_info *info);
void open_domain(void);
void open_ep(void);
void close_ep(void);
void listen_fabric(void);
size_t wait_event(uint32_t event, void *entry, size_t len);
void meet(void);
void insert_peer(const void *name);
void exchange_names(void *name);
void oob_listen(const char *port);
void oob_connect(const char *port);
void oob_send(const void *buf, size_t len);
void oob_recv(void *buf, size_t len);
void oob_status(void);
void close_all(void);

/* xfer.c */
void fill(void *buf, size_t len);
void verify(const void *buf, size_t len, const char *what);
char *tx_buf(void);
void post_tx(const void *buf, size_t len, uint64_t flags, uint64_t tag);
void await_tx(void);
void send_next(size_t len, uint64_t flags);
void post_rx_at(char *buf, uint64_t tag);
void post_rx(void);
void progress(void);
void take(struct fi_cq_data_entry *entry);
void receive(size_t len, bool check);
void sync_ends(void);
void finalize(void);

/* tests.c */
uint64_t cq_data_value(void);
void run_greeting(void);
void run_pingpong(void);
void run_bw(void);
void run_rma_bw(void);
void run_cq_data(void);
void run_cm_data(void);
void run_unexpected(void);

#endif /* _PEER_H */
