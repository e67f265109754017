/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of the receive side share: srx.c (matching), table.c (look-up by
 * key), rx.c (receives, from match to release), peek.c (FI_PEEK and FI_CLAIM),
 * end.c (cancel, withdraw, close), opt.c (init, options) and ctx.c (shared
 * receive contexts).
 */
#ifndef _KOFI_UTIL_SRX_H
#define _KOFI_UTIL_SRX_H

#include <linux/hash.h>
#include <kofi/srx.h>

/* Kinds of keys */
#define KOFI_SRX_UNTAGGED	0
#define KOFI_SRX_TAGGED		1
#define KOFI_SRX_CLAIMED	2

/* In kofi_srx.stalled, what the provider waits for: BIT() of a kind: such a receive; and */
#define KOFI_SRX_NO_ROOM	BIT(2)	/* fewer messages that wait */
#define KOFI_SRX_NO_MULTI	BIT(3)	/* an object of kofi_srx.multi */

/* Messages that are discarded under one hold of the lock */
#define KOFI_SRX_BATCH		64

/**
 * struct kofi_srx_due - What is to be done when the lock has been released
 * @rx: ops->start() for this receive
 * @msg: and this message
 * @spent: buffers that are given back, linked by entry
 * @ep: endpoint that @spent complete for
 * @run: kofi_srx_run()
 * @resume: ops->resume()
 * @limit: FI_SRX_LIMIT
 */
struct kofi_srx_due {
	struct kofi_rx		*rx;
	struct kofi_srx_msg	*msg;
	struct list_head	spent;
	struct kofi_ep		*ep;
	bool			run;
	bool			resume;
	bool			limit;
};

/* A receive with bits to ignore is in no table */
static inline bool kofi_rx_is_wild(const struct kofi_rx *rx)
{
	return rx->ignore;
}

/* An untagged receive from any sender is in kofi_srx.untagged, and in no table */
static inline bool kofi_rx_is_listed(const struct kofi_rx *rx)
{
	return rx->link.key.kind == KOFI_SRX_UNTAGGED && rx->link.key.src == FI_ADDR_UNSPEC;
}

/* As kofi_srx_key_set(); only the client's addresses are in the key, so it needs no secret */
static inline void kofi_srx_key_set_untagged(struct kofi_srx_key *key, fi_addr_t src)
{
	*key = (struct kofi_srx_key) {
		.src	= src,
		.kind	= KOFI_SRX_UNTAGGED,
		.hash	= hash_64(src, 32),
	};
}

static inline bool kofi_rx_is_multi(const struct kofi_rx *rx)
{
	return rx->flags & FI_MULTI_RECV;
}

/*
 * Set an object up for an untagged receive of one buffer from any sender; all but kofi_rx.iov.  Its
 * key is not used, and the rest of its completion is filled in when it ends.  Only such a receive
 * has kofi_comp.buf when it is posted.
 */
static __always_inline void kofi_rx_begin_buf(struct kofi_rx *rx, struct kofi_ep *ep, u64 flags,
					      void *buf, void *context)
{
	rx->ep = ep;
	rx->comp.comp.buf = buf;
	rx->comp.comp.op_context = context;
	rx->comp.comp.flags = FI_RECV | FI_MSG;
	rx->flags = flags;
}

/* Set an object up for an untagged receive from any sender; all but kofi_rx.iov */
static inline void kofi_rx_begin(struct kofi_rx *rx, struct kofi_ep *ep, u64 flags,
				 u64 kind, void *context)
{
	rx->ep = ep;
	rx->comp.comp = (struct kofi_comp) {
		.op_context	= context,
		.flags		= FI_RECV | kind,
	};
	rx->flags = flags;
	rx->ignore = 0;
	rx->offset = 0;
	rx->used = 0;
	rx->nmsgs = 0;
	rx->spent = false;
	rx->linked = false;
	rx->listed = false;
	kofi_srx_key_set_untagged(&rx->link.key, FI_ADDR_UNSPEC);
}

/* Post an untagged receive from any sender */
static inline void kofi_srx_list(struct kofi_srx *srx, struct kofi_rx *rx)
{
	lockdep_assert_held(&srx->lock);
	rx->listed = true;
	rx->next = NULL;
	*srx->untagged_tail = rx;
	srx->untagged_tail = &rx->next;
}

static inline bool kofi_srx_is_shared(const struct kofi_srx *srx)
{
	return srx->ep->ep.fid.fclass == FI_CLASS_SRX_CTX;
}

/* table.c */
int kofi_srx_table_init(struct kofi_srx_table *table, size_t entries);
void kofi_srx_table_destroy(struct kofi_srx_table *table);
void kofi_srx_key_set(const struct kofi_srx *srx, struct kofi_srx_key *key,
		      u32 kind, u64 tag, fi_addr_t src);
struct kofi_srx_link *kofi_srx_find(struct kofi_srx *srx,
				    const struct kofi_srx_table *table,
				    const struct kofi_srx_key *key);
void kofi_srx_link_init(struct kofi_srx_link *link);
void kofi_srx_link(struct kofi_srx *srx, const struct kofi_srx_table *table,
		   struct kofi_srx_link *link);
void kofi_srx_unlink(struct kofi_srx_link *link);

/* srx.c */
void kofi_srx_due_init(struct kofi_srx_due *due);
struct kofi_rx *kofi_rx_older(struct kofi_rx *a, struct kofi_rx *b);
void kofi_srx_settle(struct kofi_srx *srx, struct kofi_srx_due *due);
bool kofi_srx_unstall(struct kofi_srx *srx, u32 reasons);
void kofi_srx_unpost(struct kofi_srx *srx, struct kofi_rx *rx,
		     struct kofi_srx_due *due);
struct kofi_srx_msg *kofi_srx_find_msg(struct kofi_srx *srx,
				       const struct kofi_rx *rx);
void kofi_srx_name_sender(struct kofi_srx *srx, struct kofi_srx_msg *msg);
void kofi_srx_take_msg(struct kofi_srx *srx, struct kofi_srx_msg *msg,
		       struct kofi_srx_due *due);
void kofi_srx_multi_refilled(struct kofi_bufpool *pool);

/* rx.c */
struct kofi_rx *kofi_rx_get(struct kofi_srx *srx, const struct fi_xfer *xfer, u64 flags);
int kofi_rx_set_list(struct kofi_rx *rx, const struct fi_xfer *xfer);
struct kofi_rx *kofi_rx_take(struct kofi_rx *rx,
			     const struct kofi_srx_arrival *what,
			     struct kofi_srx_due *due);
void kofi_rx_fill(struct kofi_rx *rx, const struct kofi_srx_arrival *what,
		  size_t room);
void kofi_rx_put(struct kofi_rx *rx);
void kofi_rx_give_back(struct kofi_rx *rx, struct kofi_ep *ep);
struct kofi_comp *kofi_rx_refuse(struct kofi_rx *rx, int err);

/* opt.c */
void kofi_srx_free(struct kofi_srx *srx);

/* peek.c */
int kofi_srx_peek(struct kofi_srx *srx, struct kofi_rx *rx, void *context);
int kofi_srx_claim(struct kofi_srx *srx, struct kofi_rx *rx,
		   const struct fi_xfer *xfer);

#endif /* _KOFI_UTIL_SRX_H */
