/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_longrun.ko share.
 *
 *	main.c		the module: fabric, threads, commands, figures
 *	link.c		one connection at a time: open, connect, post, wait, close
 *	rdm.c		the same by endpoints without connections
 *	data.c		the plan of a round and the bytes of everything
 *	round.c		the two sides of a round
 *
 * A link is a thread that makes one connection after the other; the thread owns
 * everything in struct lr_link.  Link N of the client talks to link N of the server.
 *
 * A connection carries rounds.  Both sides draw the plan of a round from the same
 * seed, so each knows what the other does.  In a round the client sends messages,
 * writes and reads the server's memory and changes a number there, all at once; when
 * all of that has completed it sends the message that ends its part.  The server has
 * checked each message as it came, now checks its memory, fills it for the reads of
 * the next round and answers with messages of its own.
 *
 * Messages carry a number, which tells of loss and of duplicates; every other byte of
 * a message and of the memory follows from the seed, the connection and that number.
 */
#ifndef _KUNIT_LONGRUN_H
#define _KUNIT_LONGRUN_H

#include <linux/atomic.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "../lib/bed.h"

#define LR_MAGIC	0x6b4f4631
#define LR_DEPTH	16	/* of each queue */
#define LR_STEPS	12	/* of a round, at most; fewer than LR_DEPTH */
#define LR_ANSWERS	4	/* messages of the server in a round, at most */
#define LR_SLOTS	4	/* places that are written in a round, or read */
#define LR_SLOT		4096
#define LR_ROUNDS_MIN	2	/* of a connection */
#define LR_NAP_MS	500	/* how long a wait does not look whether to stop */

/* What a connection may do beside messages, writes and reads */
#define LR_ATOMIC	BIT(0)
#define LR_DATA		BIT(1)

enum lr_figure {
	LR_CONNECTS,	/* connections that stood */
	LR_CLOSES,	/* and were closed */
	LR_BROKEN,	/* connections that ended otherwise than planned */
	LR_UNTOLD,	/* closed by the peer, without an event of it */
	LR_ROUNDS,
	LR_SENT,	/* messages, also those that are the data of a write */
	LR_RECEIVED,
	LR_WRITTEN,	/* writes: made, found at the other end */
	LR_FOUND,
	LR_READ,
	LR_ADDED,	/* atomic operations: made, found */
	LR_SUMMED,
	LR_BYTES,	/* sent, written, read */
	LR_LOST,	/* messages */
	LR_DUPLICATED,
	LR_CORRUPTED,	/* messages, places or numbers that are not as they should */
	LR_TWICE,	/* completions of what was not posted */
	LR_ENDLESS,	/* operations without a completion after the end */
	LR_FIGURES,
};

/* What the client says when it connects; the two run on the same kind of machine */
struct lr_hello {
	u32	magic;
	u32	link;
	u64	conn;
	u32	seed;
	u32	size;
	u32	caps;
};

/* What the server says when it accepts */
struct lr_welcome {
	u64	addr;
	u64	key;
	u32	caps;
};

/* The beginning of a message */
struct lr_msg {
	u64	conn;
	u64	seq;
	u32	len;
	u32	flags;
};

#define LR_END		BIT(0)	/* of this side's part of the round */
#define LR_FINAL	BIT(1)	/* it was the last round */

enum lr_kind {
	LR_SEND,
	LR_INJECT,
	LR_WRITE,
	LR_WRITEDATA,
	LR_READ_SLOT,
	LR_ADD,
	LR_KINDS,
};

/* What the bytes of something follow from, beside the connection and a number */
enum lr_stuff {
	LR_OF_MSG,
	LR_OF_ANSWER,
	LR_OF_WRITE,
	LR_OF_READ,
};

/**
 * struct lr_step - One operation of the client
 * @kind: which
 * @len: its bytes, of LR_ADD the addend
 * @slot: where, for writes and reads
 */
struct lr_step {
	enum lr_kind	kind;
	u32		len;
	u32		slot;
};

/**
 * struct lr_plan - A round
 * @nr: elements of @steps; the message that ends the client's part is none
 * @steps: of the client
 * @nr_answers: elements of @answers
 * @answers: bytes of the server's messages
 */
struct lr_plan {
	u32		nr;
	struct lr_step	steps[LR_STEPS];
	u32		nr_answers;
	u32		answers[LR_ANSWERS];
};

/* What peers read and write */
struct lr_memory {
	u8	written[LR_SLOTS][LR_SLOT];
	u8	read[LR_SLOTS][LR_SLOT];
	u64	sum;
};

struct lr_op;

/* Without an operation it is the data of a write that has taken no receive */
struct lr_arrival {
	struct lr_op	*op;
	u64		flags;
	u64		data;
	size_t		len;
};

/**
 * struct lr_op - An operation
 * @buf: its memory
 * @out: it is in flight
 * @arrived: @arrival is a message that has not been looked at; only without connections
 * @arrival: what has come to a receive
 */
struct lr_op {
	u8			*buf;
	bool			out;
	bool			arrived;
	struct lr_arrival	arrival;
};

/**
 * struct lr_link - A thread and its connection
 * @nr: which link
 * @wait: where the thread waits for a completion, or for @request
 * @ready: the handler of the completion queue was called
 * @request: server: who wants to connect, or NULL
 * @asked: what that client said
 * @asked_name: address of that client; only without connections, as @name, @av and @next_rx
 * @hello: what the client of the connection said
 * @name: server: its address
 * @welcome: what the server said
 * @eq: events of @ep
 * @av: addresses that @ep sends to
 * @peer: the other end of the connection; 0 with connections
 * @cq: completions of @ep
 * @kind: how to wait for them
 * @ep: the connection
 * @mr: @memory
 * @memory: what the peer accesses
 * @rx: receives
 * @tx: what is sent or written
 * @reads: what has been read, by slot
 * @results: of atomic operations
 * @nr_out: operations in flight
 * @next_rx: the receive of @rx that was posted first
 * @arrivals: messages that have not been looked at, without connections the data of writes alone
 * @first: the oldest of @arrivals
 * @nr_arrivals: how many there are
 * @round: number of the round
 * @sent: number of the next message
 * @received: number of the next message to come
 * @sum: what the server's number has to be
 * @last: the round is the last one, so the peer may hang up
 * @cut: it has hung up while something was on its way
 * @stood: the connection did
 */
struct lr_link {
	unsigned int		nr;
	wait_queue_head_t	wait;
	atomic_t		ready;
	struct fi_info		*request;
	struct lr_hello		asked;
	struct sockaddr_storage	asked_name;
	struct lr_hello		hello;
	struct sockaddr_storage	name;
	struct lr_welcome	welcome;
	struct fid_eq		*eq;
	struct fid_av		*av;
	fi_addr_t		peer;
	struct fid_cq		*cq;
	enum fi_wait_obj	kind;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	struct lr_memory	*memory;
	struct lr_op		rx[LR_DEPTH];
	struct lr_op		tx[LR_DEPTH];
	u8			*reads;
	u64			*results;
	unsigned int		nr_out;
	unsigned int		next_rx;
	struct lr_arrival	arrivals[LR_DEPTH];
	unsigned int		first;
	unsigned int		nr_arrivals;
	u64			round;
	u64			sent;
	u64			received;
	u64			sum;
	bool			last;
	bool			cut;
	bool			stood;
};

/* Event of a connection, with its data */
union lr_event {
	struct fi_eq_cm_entry	cm;
	u8			raw[sizeof(struct fi_eq_cm_entry) + 256];
};

/* main.c */
extern struct tb lr_bed;
extern struct fi_info *lr_info;
extern unsigned int lr_size;
extern unsigned int lr_patience_ms;
extern bool lr_apart;
extern bool lr_rdm;
bool lr_stopped(void);
struct lr_link *lr_asked(const struct lr_hello *hello);
void lr_ask(struct lr_link *link, struct fi_info *info);
void lr_count(enum lr_figure figure);
void lr_add(enum lr_figure figure, u64 value);
void lr_corrupted(struct lr_link *link, const char *what, u64 got, u64 want);
int lr_trouble(struct lr_link *link, const char *what, long err, int prov_errno);

/* link.c */
int lr_link_alloc(struct lr_link *link);
void lr_link_free(struct lr_link *link);
int lr_link_open(struct lr_link *link, struct fi_info *info);
void lr_stands(struct lr_link *link);
int lr_recv_all(struct lr_link *link);
int lr_expose(struct lr_link *link);
void lr_drain(struct lr_link *link);
int lr_link_connect(struct lr_link *link);
int lr_link_accept(struct lr_link *link, struct fi_info *info);
void lr_link_hang_up(struct lr_link *link, bool server);
void lr_link_close(struct lr_link *link);
u32 lr_link_caps(void);
int lr_take(struct lr_link *link);
int lr_take_any(struct lr_link *link, int *prov_errno);
unsigned int lr_sending(const struct lr_link *link);
struct lr_op *lr_tx(struct lr_link *link);
int lr_again(struct lr_link *link, unsigned long until);
unsigned long lr_until(void);
int lr_settle(struct lr_link *link);
int lr_settle_last(struct lr_link *link, bool server);
int lr_next(struct lr_link *link, bool data, struct lr_arrival *arrival);
int lr_recv(struct lr_link *link, struct lr_op *op);
void lr_posted(struct lr_link *link, struct lr_op *op);

/* rdm.c */
int lr_rdm_connect(struct lr_link *link);
int lr_rdm_accept(struct lr_link *link);
void lr_rdm_hang_up(struct lr_link *link, bool ends);
void lr_rdm_take_back(struct lr_link *link);
int lr_rdm_listen(void);
void lr_rdm_unlisten(void);
int lr_rdm_listen_on(void *unused);

/* data.c */
void lr_plan(const struct lr_link *link, struct lr_plan *plan);
void lr_fill(const struct lr_link *link, enum lr_stuff stuff, u64 number, u8 *buf, size_t len);
size_t lr_intact(const struct lr_link *link, enum lr_stuff stuff, u64 number,
		 const u8 *buf, size_t len);

/* round.c */
int lr_client_round(struct lr_link *link, bool final);
int lr_server_round(struct lr_link *link, bool *final);
void lr_server_prepare(struct lr_link *link);

#endif /* _KUNIT_LONGRUN_H */
