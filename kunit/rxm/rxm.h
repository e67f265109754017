/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_rxm_test.ko share, beside client.h.
 */
#ifndef _KUNIT_RXM_H
#define _KUNIT_RXM_H

#include <linux/bvec.h>
#include <rdma/fi_tagged.h>
#include "../../providers/rxm/wire.h"
#include "../lib/client.h"

#define RXM_LIMIT	16384	/* the eager limit */
#define RXM_RECVS	8	/* receives of a raw peer */
#define RXM_PORT	4711	/* that a raw peer claims to listen at */
#define RXM_ID		77	/* identity that a raw peer gives to its connections */

/**
 * struct rxm_bed - An endpoint of kofi_rxm, and a raw peer
 * @us: the endpoint
 * @domain: its domain
 * @name: its address
 * @peer: the raw peer
 * @flow_ctrl: what the raw peer says of credits
 * @rx_size: receives that the raw peer says to have
 * @id: what packets to @us have to name
 * @bufs: receives of @peer, by their contexts from 0 on
 */
struct rxm_bed {
	struct vt_end		us;
	struct fid_domain	*domain;
	struct sockaddr_storage	name;
	struct vt_end		peer;
	u8			flow_ctrl;
	u32			rx_size;
	u32			id;
	u8			*bufs[RXM_RECVS];
};

extern struct kunit_suite rxm_info_suite;
extern struct kunit_suite rxm_cm_suite;
extern struct kunit_suite rxm_data_suite;
extern struct kunit_suite rxm_kept_suite;
extern struct kunit_suite rxm_offer_suite;
extern struct kunit_suite rxm_writes_suite;
extern struct kunit_suite rxm_atomic_suite;
extern struct kunit_suite rxm_idle_suite;
extern struct kunit_suite rxm_bounds_suite;
extern struct kunit_suite rxm_load_suite;
extern struct kunit_suite rxm_calls_suite;
extern struct kunit_suite rxm_credit_suite;
extern struct kunit_suite rxm_corpus_suite;

/* lib.c */
/* @us is open over loop, and the case's info is that of raw peers */
struct rxm_bed *rxm_bed_open(struct kunit *test);
/* As rxm_bed_open(), and the raw peer has connected: rxm_join() */
struct rxm_bed *rxm_bed_join(struct kunit *test);
/* As rxm_bed_open(), over verbs or another provider of connections */
struct rxm_bed *rxm_bed_open_on(struct kunit *test, const char *prov);
/* As rxm_bed_open(), with the hook ofi_hook_fault between loop and kofi_rxm */
struct rxm_bed *rxm_bed_open_faulty(struct kunit *test);
/* What goes wrong at the hook, at both ends: a rule of providers/hook/fault_rule.c */
void rxm_fault(struct kunit *test, const char *rule);
/* Has that happened so often, for the only rule? */
bool rxm_faults(int count);
void rxm_expect_faults(struct kunit *test, int count);
/* As rxm_bed_open(), at a port that the client has chosen */
struct rxm_bed *rxm_bed_open_at(struct kunit *test, int port);
int rxm_bed_port(const struct rxm_bed *bed);
/* A request that fits */
struct rxm_wire_request rxm_request(void);
/* Opens @peer, with receives, and asks for a connection */
void rxm_dial(struct kunit *test, struct rxm_bed *bed, const void *data, size_t len);
/* As rxm_dial(), with a request that fits, until the connection stands */
void rxm_join(struct kunit *test, struct rxm_bed *bed);
/* As rxm_join(), as a peer that listens at another port */
void rxm_join_as(struct kunit *test, struct rxm_bed *bed, int port);
/* The raw peer listens */
void rxm_listen_at(struct kunit *test, int port);
/* Has the endpoint send something (context 1) to the raw peer that listens; returns the request */
struct fi_info *rxm_be_dialled(struct kunit *test, struct rxm_bed *bed, const void *buf,
			       size_t len, struct rxm_wire_request *request);
/* The next request of the endpoint to the raw peer, whose packets have its identity from now on */
struct fi_info *rxm_next_dial(struct kunit *test, struct rxm_bed *bed,
			      struct rxm_wire_request *request);
/* Opens @peer, with receives, and accepts; @kofi: it says that it is kOFI */
void rxm_accept(struct kunit *test, struct rxm_bed *bed, struct fi_info *info, bool kofi);
/* What the raw peer has asked for is refused, with a message that has this reason */
void rxm_expect_refused(struct kunit *test, struct rxm_bed *bed, u8 reason);
/* The connection of the raw peer ends */
void rxm_expect_closed(struct kunit *test, struct rxm_bed *bed);
void rxm_post_recvs(struct kunit *test, struct rxm_bed *bed);
/* Posts the receive @nr of @peer again */
void rxm_recv_again(struct kunit *test, struct rxm_bed *bed, int nr);
/* A packet of @peer with a header and @len bytes of payload behind it */
struct rxm_wire_hdr *rxm_packet(struct kunit *test, const struct rxm_bed *bed, size_t len);
void rxm_send(struct kunit *test, struct rxm_bed *bed, const void *packet, size_t len);
/* The next packet to @peer, of this type, which is in the buffer @nr */
struct rxm_wire_hdr *rxm_next_packet(struct kunit *test, struct rxm_bed *bed, int nr, u8 type);
/* As rxm_next_packet(), of so many bytes behind its header */
struct rxm_wire_hdr *rxm_next_sized(struct kunit *test, struct rxm_bed *bed, int nr, u8 type,
				    size_t len);
/* A packet without payload about the message @id, with the old values that libfabric leaves */
void rxm_send_word(struct kunit *test, struct rxm_bed *bed, u8 type, u64 id);
/* A buffer as a list of pages, with one element */
struct bio_vec rxm_pages(void *buf, size_t len);
/* The ranges of an offer, or of an answer to one, have so many bytes */
const struct rxm_wire_rndv *rxm_expect_ranges(struct kunit *test, const struct rxm_wire_hdr *hdr,
					      size_t len);
/* A packet that names this memory, in two ranges */
struct rxm_wire_hdr *rxm_ranges_new(struct kunit *test, const struct rxm_bed *bed, u8 *mem,
				    size_t len, u64 access);
/* An offer of this memory, in two ranges */
struct rxm_wire_hdr *rxm_offer_new(struct kunit *test, const struct rxm_bed *bed, u8 *mem,
				   size_t len);
void rxm_send_ranges(struct kunit *test, struct rxm_bed *bed, const struct rxm_wire_hdr *hdr);
/* The peer has taken so many packets, and asks to leave */
void rxm_ask_to_leave(struct kunit *test, struct rxm_bed *bed, u64 taken);
/* And may: the endpoint has sent no more, and has nothing under way, nor anything lost */
void rxm_expect_leave(struct kunit *test, struct rxm_bed *bed, u64 taken);
/* After what a peer has done wrong, one that keeps to the rules is served */
void rxm_expect_service(struct kunit *test, struct rxm_bed *bed);

/* Time of all processors in the kernel, but for interrupts */
u64 rxm_system_time(void);

/* Sets a parameter of kofi_rxm for the rest of the case, which has @old afterwards */
void rxm_param(struct kunit *test, const char *name, int value, int old);

#endif /* _KUNIT_RXM_H */
