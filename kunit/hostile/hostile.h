/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kofi_hostile.ko: both ends of the cases of scripts/two in which a peer lies or
 * dies.  hostile.c says what there is.
 */
#ifndef _KUNIT_HOSTILE_H
#define _KUNIT_HOSTILE_H

#include <linux/completion.h>
#include <linux/types.h>
#include <rdma/fabric.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* Longest wait for anything */
#define HOSTILE_PATIENCE_MS	20000
/* Of a message that a good client sends, and of each of a server's receives */
#define HOSTILE_MSG		1024
/* Of the region that a server exposes */
#define HOSTILE_REGION		4096
/* What every byte of it is */
#define HOSTILE_FILL		0x5a
/* Of one connection of the peer */
#define HOSTILE_BUF		8192
#define HOSTILE_LOG		16
#define HOSTILE_DATA		255

/* Words of a step, the first one its name */
#define HOSTILE_WORDS		8

struct hostile_args {
	char	*word[HOSTILE_WORDS];
	int	count;
};

/* What a server tells whom it accepts */
struct hostile_offer {
	__be64	addr;
	__be64	key;
	__be64	stale_key;
	__be64	read_only_addr;
	__be64	read_only_key;
} __packed;

/* A line of what the step has to say; the caller is a step */
__printf(1, 2) void hostile_say(const char *fmt, ...);
const char *hostile_word(const struct hostile_args *args, int n);
int hostile_number(const struct hostile_args *args, int n, int dflt);
/* Who listens at service= plus @offset: the bad peer, or the victims' servers */
#define HOSTILE_PEER	2
const char *hostile_node(int offset);
int hostile_service(int offset);

/**
 * struct hostile_news - What rdma_cm has told
 * @event: which one
 * @status: with it
 * @len: bytes of @data
 * @data: private data
 */
struct hostile_news {
	enum rdma_cm_event_type	event;
	int			status;
	u8			len;
	u8			data[HOSTILE_DATA];
};

/**
 * struct hostile_conn - A connection of the peer's: rdma_cm and verbs, no kOFI
 * @id: the connection, or what listens
 * @child: what came in where @id listens
 * @pd: protection domain
 * @cq: completions of both directions
 * @qp: queue pair of @id or @child
 * @buf: HOSTILE_BUF bytes
 * @dma: where the device finds them
 * @log: events in order, the first @logged of them valid
 * @logged: how many; written by the handler
 * @taken: how many have been waited for
 * @more: one completion for each event
 * @sge: buffer of the operation that is waited for
 * @cqe: its entry point
 * @recv_cqe: of the receive
 * @done: it is done
 * @recv_done: a receive is
 * @status: how it ended
 * @recv_status: how the receive ended
 * @recv_len: bytes it got
 * @answer: what to do with who comes
 */
struct hostile_conn {
	struct rdma_cm_id	*id;
	struct rdma_cm_id	*child;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	u8			*buf;
	u64			dma;
	struct hostile_news	log[HOSTILE_LOG];
	int			logged;
	int			taken;
	struct completion	more;
	struct ib_sge		sge;
	struct ib_cqe		cqe;
	struct ib_cqe		recv_cqe;
	struct completion	done;
	struct completion	recv_done;
	enum ib_wc_status	status;
	enum ib_wc_status	recv_status;
	u32			recv_len;
	struct hostile_answer {
		bool		accept;
		bool		hold;
		bool		with_qp;
		int		recv_len;
		u8		rnr_retry;
		const u8	*data;
		u8		len;
	} answer;
};

/* Private data that no libfabric would send, and some that it would */
struct hostile_kind {
	const char	*name;
	u8		data[HOSTILE_DATA];
	u8		len;
};

extern const struct hostile_kind hostile_kinds[];
const struct hostile_kind *hostile_kind(const char *name);

/* hostile_conn.c */
struct hostile_conn *hostile_conn(void);
void hostile_conn_close(struct hostile_conn *conn);
u32 hostile_conn_no_qp(void);
bool hostile_is_iwarp(const struct rdma_cm_id *id);
int hostile_conn_sockaddr(struct sockaddr_storage *addr, int offset);
int hostile_conn_resolve(struct hostile_conn *conn, int offset);
int hostile_conn_open_qp(struct hostile_conn *conn, struct rdma_cm_id *id);
int hostile_conn_ask(struct hostile_conn *conn, const u8 *data, u8 len);
int hostile_conn_listen(struct hostile_conn *conn, int offset);
const struct hostile_news *hostile_conn_next(struct hostile_conn *conn);
/* The next event, if it comes, and is this one: its data; else NULL, and said */
const struct hostile_news *
hostile_conn_await(struct hostile_conn *conn, enum rdma_cm_event_type want);
int hostile_conn_recv(struct hostile_conn *conn, u32 len);
enum ib_wc_status hostile_conn_send(struct hostile_conn *conn, u32 len);
enum ib_wc_status hostile_conn_rma(struct hostile_conn *conn, enum ib_wr_opcode opcode, u64 addr,
				   u64 key, u32 len);

/* Steps: 0 or an error, after hostile_say() */

/* hostile_peer.c: the bad peer */
int hostile_peer_requests(const struct hostile_args *args);
int hostile_peer_answer(const struct hostile_args *args);
int hostile_peer_half(const struct hostile_args *args);
int hostile_peer_access(const struct hostile_args *args);
int hostile_peer_sizes(const struct hostile_args *args);
int hostile_peer_seen(const struct hostile_args *args);
int hostile_peer_leave(const struct hostile_args *args);
void hostile_peer_end(void);

/* hostile_flood.c: many of them */
int hostile_flood(const struct hostile_args *args);
int hostile_flood_leave(const struct hostile_args *args);
int hostile_silent(const struct hostile_args *args);
void hostile_flood_end(void);

/* hostile_serve.c: a kOFI server */
int hostile_serve(const struct hostile_args *args);
int hostile_served(const struct hostile_args *args);
int hostile_settle(const struct hostile_args *args);
int hostile_refuse(const struct hostile_args *args);
int hostile_stop(const struct hostile_args *args);
void hostile_serve_end(void);

/* hostile_call.c: a kOFI client */
int hostile_connect(const struct hostile_args *args);
int hostile_ping(const struct hostile_args *args);
int hostile_post(const struct hostile_args *args);
int hostile_ended(const struct hostile_args *args);
int hostile_event(const struct hostile_args *args);
int hostile_shutdown(const struct hostile_args *args);
int hostile_close(const struct hostile_args *args);
void hostile_call_end(void);

/* hostile_lib.c: what the server and the client share */
#define HOSTILE_TALLIES	8

/* How often something ended in the same way */
struct hostile_tally {
	const char	*what;
	int		err;
	int		prov_errno;
	const char	*text;
	int		count;
};

/* FI_OPT_CONNECT_TIMEOUT; 0 leaves it as it is */
int hostile_set_time(struct fid_ep *ep, int ms);
int hostile_info(const char *node, int offset, u64 flags, struct fi_info **info);
void hostile_tally(struct hostile_tally *tally, const char *what, int err,
		   int prov_errno, const char *text);
void hostile_tally_say(const struct hostile_tally *tally);

#endif /* _KUNIT_HOSTILE_H */
