/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A peer of an endpoint without connections: a listener, whose address the endpoint knows,
 * and connections in either direction.
 */
#ifndef _KUNIT_TCP_RDM_H
#define _KUNIT_TCP_RDM_H

#include <linux/in.h>
#include "tcp.h"

#define RDM_CM		8	/* bytes of connection data */
#define RDM_LOW		0x7f000001	/* 127.0.0.1, below the endpoint's address */
#define RDM_HIGH	0x7f000003	/* 127.0.0.3, above it */
#define RDM_PID		0x1234567
#define RDM_LEN		32	/* bytes of rdm_post() and rdm_begin_read() */

/**
 * struct rdm_peer - A peer
 * @host: its IPv4 address
 * @name: where it listens
 * @listener: its socket
 * @addr: what the endpoint calls it
 * @understands: bits of kOFI's word; 0: it is not kOFI
 */
struct rdm_peer {
	u32			host;
	struct sockaddr_storage	name;
	struct socket		*listener;
	fi_addr_t		addr;
	u8			understands;
};

/* An endpoint, and a peer that has a connection with it */
struct rdm_bed {
	struct vt_end	end;
	struct rdm_peer	peer;
	struct socket	*sock;
};

/* Sets a parameter of the module, until the end of the case */
void rdm_param(struct kunit *test, const char *name, const char *value);
/* The next @times allocations from a cache fail, -1: all; @waits: also those that may wait */
void rdm_fail(struct kunit *test, const char *cache, int times, bool waits);
void rdm_fail_nothing(void);
/* Opens the endpoint of the case, with completions that have tags */
void rdm_open(struct kunit *test, struct vt_end *end);
/* Its address */
struct sockaddr_storage rdm_name(struct kunit *test, struct fid_ep *ep);
/* A peer that the endpoint knows */
void rdm_peer_new(struct kunit *test, struct vt_end *end, struct rdm_peer *peer, u32 host);
/* Opens the endpoint, which knows a peer */
void rdm_open_with(struct kunit *test, struct vt_end *end, struct rdm_peer *peer, u32 host);
/* As rdm_open_with(), and the peer, at RDM_LOW, has connected */
void rdm_bed_open(struct kunit *test, struct rdm_bed *bed, u8 version, u8 understands);
/* The peer asks for a connection; nothing has been answered */
struct socket *rdm_ask(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer,
		       u8 version, u32 pid);
/* Reads a message of connection management of this type; @data has RDM_CM bytes, or is NULL */
void rdm_expect_cm(struct kunit *test, struct socket *sock, u8 type, u8 *data);
/* The peer has asked, and was accepted */
struct socket *rdm_dial(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer,
			u8 version, u32 pid);
/* The endpoint dials; @data of its request, or NULL */
struct socket *rdm_asked(struct kunit *test, const struct rdm_peer *peer, u8 *data);
/* The peer accepts that */
void rdm_respond(struct kunit *test, struct socket *sock, const u8 *request, u8 version, u32 pid);
/* Both: the endpoint dials, and the peer accepts */
struct socket *rdm_accept(struct kunit *test, const struct rdm_peer *peer, u8 version, u32 pid);

/* Sends RDM_LEN bytes, which vt_fill() makes of the number */
void rdm_post(struct kunit *test, struct vt_end *end, fi_addr_t to, unsigned long nr);
/* As rdm_post(), behind what has been begun */
void rdm_post_fenced(struct kunit *test, struct vt_end *end, fi_addr_t to, unsigned long nr);
/* They come, and have completed */
void rdm_expect_sent(struct kunit *test, struct vt_end *end, struct socket *sock, unsigned long nr);
/* Reads RDM_LEN bytes of the peer, which has the request and does not answer */
void rdm_begin_read(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer,
		    struct socket *sock, void *context);

#endif /* _KUNIT_TCP_RDM_H */
