/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_tcp share: a case with an endpoint of kofi_tcp, and a peer that
 * is a socket.
 *
 * The peer knows the wire from Documentation/wire-tcp.rst and writes it by hand: nothing of
 * the provider is used for that.  It waits for what it expects, VT_PATIENCE_MS at most.
 */
#ifndef _KUNIT_TCP_H
#define _KUNIT_TCP_H

#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <rdma/fi_rma.h>
#include "../lib/client.h"

/* Bytes of the headers, and where things stand in them */
#define PEER_CM		32
#define PEER_BASE	16
#define PEER_RMA	24

/*
 * Trace events of violations since violations_begin(); and the reason of the last one, which
 * is an enum ktcp_violation
 */
void violations_begin(struct kunit *test);
int violations(void);
int violation_reason(void);
void expect_violations(struct kunit *test, int count, int reason);
/* Whose peer has broken a rule last */
const struct fid *violation_fid(void);

/* Each suite is registered in its own file */
int bed_init(struct kunit *test);
/* The same at another address */
int bed_init_at(struct kunit *test, const char *node);
/* Of an endpoint without connections, which the case opens itself */
int bed_init_rdm(struct kunit *test);
int bed_init_rdm_at(struct kunit *test, const char *node);
/* And with a peer of the other byte order */
int bed_init_foreign(struct kunit *test);

/* The peer's byte order is not ours; cases run one after the other */
extern bool peer_foreign;

/* Where its sockets are; the machine's own namespace unless a suite says otherwise */
extern struct net *peer_net;

/* A message of connection management: header and @len bytes of data; returns its bytes */
size_t peer_cm(u8 *buf, u8 type, const void *data, size_t len);

/* What a peer can announce that it understands */
#define PEER_SAVES	0x1
#define PEER_LEAVES	0x2	/* the end of idle connections */
#define PEER_REFUSES	0x8
#define PEER_TAGGED	0x10
#define PEER_ENDS_KEYS	0x20
#define PEER_DECLINES	0x40

/* Makes it one of kOFI's, that understands saves (FI_SAVE) */
void peer_announce(u8 *buf);

/*
 * The header of a data message with @payload bytes behind it; @data and @rma are left out
 * if they are NULL.  Returns its bytes.
 */
size_t peer_hdr(u8 *buf, u8 op, u16 flags, const u64 *data,
		const struct fi_rma_iov *rma, u8 count, u64 payload);

/* A header with nothing but @op_data, and @payload bytes behind it */
size_t peer_op(u8 *buf, u8 op, u8 op_data, u64 payload);

/* The refusal of a read, or of write *@number */
size_t peer_refusal(u8 *buf, const u64 *number, u8 reason);

/* The header of a tagged message */
size_t peer_tagged(u8 *buf, u16 flags, const u64 *data, u64 tag, u64 payload);

/* The RTS of a tagged message of @announced bytes */
size_t peer_rts(u8 *buf, u16 flags, const u64 *data, u64 tag, u64 announced, u8 number);

/* A read of a tagged receive, and a write with @payload bytes behind it */
size_t peer_tagged_read(u8 *buf, u64 tag, u64 wanted);
size_t peer_tagged_write(u8 *buf, u16 flags, const u64 *data, u64 tag, u64 payload);

/* A connection to where the case listens, closed after the case; or one to the peer */
struct socket *peer_connect(struct kunit *test);
struct socket *peer_listen(struct kunit *test, struct sockaddr_storage *addr);
struct socket *peer_accept(struct kunit *test, struct socket *listener);
/* The same from and at an IPv4 address of the machine's */
struct socket *peer_connect_from(struct kunit *test, u32 host, const void *to);
struct socket *peer_listen_at(struct kunit *test, u32 host, struct sockaddr_storage *addr);
/* Asks by a connection, without data; and by a new one */
void peer_request(struct kunit *test, struct socket *sock);
struct socket *peer_ask(struct kunit *test);
/* A rejection without data comes, and the end of the connection */
void peer_rejected(struct kunit *test, struct socket *sock);
void peer_close(struct kunit *test, struct socket *sock);
void peer_send(struct kunit *test, struct socket *sock, const void *buf, size_t len);
/* All of @len bytes */
void peer_recv(struct kunit *test, struct socket *sock, void *buf, size_t len);
/* These bytes come, but for the number of the message */
void peer_expect(struct kunit *test, struct socket *sock, const void *want, size_t len);
/* Such a header comes, with nothing but @op_data */
void peer_expect_op(struct kunit *test, struct socket *sock, u8 op, u8 op_data, u64 payload);
void peer_expect_ack(struct kunit *test, struct socket *sock);
void peer_send_ack(struct kunit *test, struct socket *sock);
/* A message of @len bytes, which vt_fill() makes of @seed; and one with a tag */
void peer_send_msg(struct kunit *test, struct socket *sock, size_t len, u8 seed);
void peer_send_tagged(struct kunit *test, struct socket *sock, u16 flags, u64 tag, size_t len,
		      u8 seed);
/* A read of the first @len bytes of a region */
void peer_send_read(struct kunit *test, struct socket *sock, u64 key, u64 len);
/* Bytes that come until the other end hangs up, all of which are @byte */
size_t peer_drain(struct kunit *test, struct socket *sock, u8 byte);
/* The other end has hung up, and nothing is left to be read */
void peer_hung_up(struct kunit *test, struct socket *sock);
/* As peer_hung_up(), by the end of its stream and not by a reset */
void peer_ended(struct kunit *test, struct socket *sock);
/* The peer hangs up; the endpoint has noticed when this returns */
void peer_leave(struct kunit *test, struct socket *sock);

/* The endpoint's socket of a connection; the endpoint keeps it */
struct sock *peer_other_end(struct kunit *test, const struct socket *sock);

/* The peer answers nothing any more, and answers again */
void peer_dies(struct kunit *test, struct socket *sock);
void peer_revives(struct kunit *test, struct socket *sock);

/* A peer's connection with an endpoint that has accepted it */
struct socket *peer_join(struct kunit *test, struct vt_end *end);
/* The same with an endpoint whose request the peer has accepted */
struct socket *peer_respond(struct kunit *test, struct vt_end *end);
/* As peer_join() with a peer that announces itself as kOFI, and what it understands */
struct socket *peer_join_kofi(struct kunit *test, struct vt_end *end, u8 understands);

/* Memory for the peer to read and write */
struct fid_mr *peer_region(struct kunit *test, void *mem, size_t len, u64 access, u64 key);
/* Memory of an endpoint, with a key that can end */
struct fid_mr *peer_ep_region(struct kunit *test, struct vt_end *end, void *mem, size_t len,
			      u64 access);
/* Where an access of all of it goes */
struct fi_rma_iov peer_target(struct fid_mr *mr, size_t len);

/* Hints for kofi_tcp */
struct fi_info *tcp_hints(struct kunit *test, u64 caps, enum fi_ep_type type);
/* What is found at an address; NULL: at all of them */
struct fi_info *tcp_find(struct kunit *test, const char *node, struct fi_info *hints);
/* Adds capabilities to what endpoints are opened with, and drops others */
void bed_caps(struct kunit *test, u64 add, u64 drop);

/* What arrives in the middle of a message makes no event */
void wait_byte(struct kunit *test, const u8 *byte, u8 want);

#endif /* _KUNIT_TCP_H */
