/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections: their data, passive endpoints and connection requests */
#ifndef _KOFI_VERBS_CM_H
#define _KOFI_VERBS_CM_H

#include <kofi/connreq.h>
#include <kofi/eq.h>
#include <kofi/pep.h>
#include "verbs.h"

#define VERBS_RESOLVE_MS	2000	/* limit of address and route lookups */
#define VERBS_REFUSAL_MS	1000	/* for the peer to hang up after a refusal */
#define VERBS_CONNECT_MS	60000	/* default of FI_OPT_CONNECT_TIMEOUT */
#define VERBS_SETTLE_MS		2000	/* longest wait of a close, from the accept on */

struct verbs_ep;

/**
 * struct verbs_save_offer - Where a peer connects to have memory made durable (save.h)
 * @magic: VERBS_SAVE_MAGIC
 * @port: of the listener, at the endpoint's address; 0 in a request to the listener
 * @version: VERBS_SAVE_VERSION
 * @token: names the endpoint
 */
struct verbs_save_offer {
	__be32	magic;
	__be16	port;
	__be16	version;
	__be64	token;
};

/* Bytes of private data that rdma_cm takes, with IP addresses */
#define VERBS_CM_REQ		56
#define VERBS_CM_REP		196
#define VERBS_CM_REJ		148
/* Most data of the client's behind the length byte, for all messages */
#define VERBS_CM_DATA		(VERBS_CM_REQ - 1)

/**
 * struct verbs_cm_frame - Connection data
 * @raw: the client's data as they are, for peers that are not libfabric (FI_OPT_CM_DATA_RAW);
 *	else behind one length byte, as libfabric's verbs provider sends them (1.17 and 2.x)
 * @len: bytes of the client's data
 * @more: bytes behind the client's data
 * @offer_port: port of the peer's offer; 0: the peer has made none
 * @offer_token: token of the peer's offer
 * @wire: the private data of the message
 */
struct verbs_cm_frame {
	bool	raw;
	u8	len;
	u8	more;
	u16	offer_port;
	u64	offer_token;
	u8	wire[VERBS_CM_REP];
};

/**
 * struct verbs_pep - A passive endpoint
 * @kpep: the passive endpoint of the core
 * @fabric: parent
 * @raw: FI_OPT_CM_DATA_RAW; verbs_pep_lock guards it and the fields behind it
 * @id: the listening id; NULL: there is no address yet, or the device has gone
 * @dev: the device that @id is bound to; NULL: none, or all
 * @res: in the list of @dev
 */
struct verbs_pep {
	struct kofi_pep		kpep;
	struct verbs_fabric	*fabric;
	bool			raw;
	struct rdma_cm_id	*id;
	struct verbs_device	*dev;
	struct verbs_res	res;
};

/**
 * struct verbs_connreq - A connection request
 * @req: in the registry of all requests
 * @pep: the passive endpoint it came to; may not be used once @req has left the registry
 * @id: its rdma_cm_id
 * @conn: the limits that the peer proposes
 * @frame: the peer's connection data
 * @dead: the peer has gone
 */
struct verbs_connreq {
	struct kofi_connreq	req;
	struct verbs_pep	*pep;
	struct rdma_cm_id	*id;
	struct rdma_conn_param	conn;
	struct verbs_cm_frame	frame;
	bool			dead;
};

/* pep.c */
int verbs_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_pep **pep, void *context);

/* connreq.c */
extern struct kofi_connreqs verbs_connreqs;
int verbs_connreq_new(struct verbs_pep *pep, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event);
int verbs_connreq_take(fid_t handle, struct verbs_ep *ep);
int verbs_connreq_refuse(struct kofi_connreq *req, int err, const void *data,
			 size_t len);
void verbs_connreqs_drop_device(const struct ib_device *ibdev);

/* cm.c */
extern const struct fi_ops_cm verbs_ep_cm_ops;
int verbs_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
void verbs_cm_broken(struct work_struct *work);
void verbs_cm_late(struct work_struct *work);
void verbs_cm_device_gone(struct verbs_res *res);
void verbs_cm_halt(struct verbs_res *res);
int verbs_set_raw(bool *raw, const void *optval, size_t optlen);
int verbs_get_raw(bool raw, void *optval, size_t *optlen);
int verbs_cm_pack(struct verbs_cm_frame *frame, const void *param, size_t len,
		  size_t limit);
int verbs_cm_unpack(struct verbs_cm_frame *frame, const void *data, size_t len);

static inline struct verbs_pep *to_verbs_pep(struct kofi_pep *kpep)
{
	return container_of(kpep, struct verbs_pep, kpep);
}

static inline u8 *verbs_cm_data(struct verbs_cm_frame *frame)
{
	return frame->wire + !frame->raw;
}

static inline size_t verbs_cm_wire_len(const struct verbs_cm_frame *frame)
{
	return frame->len + !frame->raw + frame->more;
}

#endif /* _KOFI_VERBS_CM_H */
