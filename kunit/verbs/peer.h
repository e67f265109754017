/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A peer that is not kOFI: a queue pair of its own on the same device, connected
 * to an endpoint of the case, which reads and writes whatever the case asks for.
 */
#ifndef _KUNIT_VERBS_TEST_PEER_H
#define _KUNIT_VERBS_TEST_PEER_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "verbs.h"

#define VT_PEER_BUF	SZ_128K
#define VT_PEER_IN	SZ_64K	/* where a message goes */

/**
 * struct vt_peer - A peer
 * @test: the case
 * @end: the case's end of the connection
 * @listener: where the peer waits for its connection; or NULL
 * @id: the peer's end
 * @pd: protection domain of the peer
 * @cq: completions of the peer
 * @buf: VT_PEER_BUF bytes that its operations use
 * @dma: where the device finds @buf
 * @event: an event of @id has come
 * @last: which one
 * @gone: the connection has ended
 * @said: private data of the connection request; NULL: none
 * @said_len: their bytes
 * @answer: private data of the answer
 * @done: the operation is done
 * @sge: what of @buf it uses
 * @cqe: entry point of its completion
 * @status: how it ended
 * @in_cqe: entry point of the completion of a receive
 * @received: there is a message at VT_PEER_IN of @buf
 */
struct vt_peer {
	struct kunit			*test;
	struct vt_end			end;
	struct rdma_cm_id		*listener;
	struct rdma_cm_id		*id;
	struct ib_pd			*pd;
	struct ib_cq			*cq;
	u8				*buf;
	u64				dma;
	struct completion		event;
	enum rdma_cm_event_type		last;
	struct completion		gone;
	const void			*said;
	u8				said_len;
	u8				answer[64];
	struct completion		done;
	struct ib_sge			sge;
	struct ib_cqe			cqe;
	enum ib_wc_status		status;
	struct ib_cqe			in_cqe;
	struct completion		received;
};

/* A peer connected to the case's listener, the case's to close or to leave */
struct vt_peer *vt_peer(struct kunit *test);
/* The same, of which so many reads and atomics at a time may be asked */
struct vt_peer *vt_peer_granting(struct kunit *test, u8 reads);
/* Such a peer, which sends these private data; what it gets is in its answer */
struct vt_peer *vt_peer_saying(struct kunit *test, const void *data, u8 len, u8 reads);
/*
 * A peer that connects, with these private data, to whoever listens at this port of the case's
 * address; @last says what has come of it.
 */
struct vt_peer *vt_peer_dial(struct kunit *test, int port, const void *data, u8 len);
/*
 * A peer that listens at a port of the case's address, and one that has come there, with @count
 * receives of @len bytes.
 */
struct vt_peer *vt_peer_listen(struct kunit *test, int *port);
void vt_peer_accept(struct vt_peer *peer, int count, size_t len);
void vt_peer_close(struct vt_peer *peer);
void vt_peer_post(struct vt_peer *peer, size_t len);
/* The peer may hang up before its device has acknowledged the message */
void vt_peer_begin_send(struct vt_peer *peer, size_t len);
/* Sends the first bytes of @buf */
enum ib_wc_status vt_peer_send(struct vt_peer *peer, size_t len);
/*
 * How an operation on @len bytes at @addr ends; @buf has them then.  Over iWARP
 * IB_WC_REM_ACCESS_ERR stands for the end of the connection: nothing else is heard
 * of the reason.
 */
enum ib_wc_status vt_peer_read(struct vt_peer *peer, u64 addr, u64 key, size_t len);
enum ib_wc_status vt_peer_write(struct vt_peer *peer, u64 addr, u64 key, size_t len);
enum ib_wc_status vt_peer_fetch_add(struct vt_peer *peer, u64 addr, u64 key);

#endif /* _KUNIT_VERBS_TEST_PEER_H */
