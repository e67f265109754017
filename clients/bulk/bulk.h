/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A client on the kfi_* names that uses them as LNet's kfilnd does: the objects in its order, its
 * calls, and its assumptions about completions.
 *
 * bulk_ni_open() makes what kfilnd makes for an interface and a net: one scalable endpoint, and
 * for each context a receive and a transmit context with a completion queue each.  Fabrics and
 * domains that are open are found again by hints.
 */
#ifndef _KOFI_BULK_H
#define _KOFI_BULK_H

#include <kfi_cxi_ext.h>
#include <kfi_endpoint.h>
#include <kfi_rma.h>
#include <kfi_tagged.h>

#define BULK_RX_BITS	8	/* of an address name the receive context */
#define BULK_MSG	4096	/* most bytes of a message */
#define BULK_BUFS	8	/* buffers for messages, of each context */
#define BULK_BUF_ORDER	4	/* each has this many pages, as a power of two */
#define BULK_BUF_SIZE	(PAGE_SIZE << BULK_BUF_ORDER)
#define BULK_PAGES	256	/* most pages of a transfer */
#define BULK_MAX_CTXS	16
#define BULK_CREDITS	64	/* messages in flight of a context */

struct bulk_ep;
struct bulk_domain;

/**
 * struct bulk_cq - A completion queue
 * @cq: the queue
 * @ep: whose
 * @tx: of the transmit context
 */
struct bulk_cq {
	struct kfid_cq		*cq;
	struct bulk_ep		*ep;
	bool			tx;
};

/**
 * struct bulk_ep - A context of each direction
 * @ni: whose
 * @index: number of both
 * @rx: receive context
 * @tx: transmit context
 * @rx_cq: completions of @rx
 * @tx_cq: completions of @tx
 * @user: for the owner of the endpoint
 */
struct bulk_ep {
	struct bulk_ni		*ni;
	int			index;
	struct kfid_ep		*rx;
	struct kfid_ep		*tx;
	struct bulk_cq		rx_cq;
	struct bulk_cq		tx_cq;
	void			*user;
};

/**
 * struct bulk_ni - An interface and a net
 * @domain: fabric and domain, perhaps shared with other nets
 * @addr: the local address, by which peers insert it
 * @net: net number
 * @av: address vector
 * @sep: scalable endpoint
 * @count: contexts that are open
 * @ep: the contexts
 * @handler: of all queues; the context is a &struct bulk_cq
 * @flush: called before a queue is closed, or NULL
 */
struct bulk_ni {
	struct bulk_domain	*domain;
	u32			addr;
	u16			net;
	struct kfid_av		*av;
	struct kfid_ep		*sep;
	int			count;
	struct bulk_ep		ep[BULK_MAX_CTXS];
	kfi_comp_handler	handler;
	void			(*flush)(struct bulk_ni *ni);
};

int bulk_ni_open(struct bulk_ni *ni, const char *node, u16 net, int contexts,
		 kfi_comp_handler handler);
int bulk_ni_close(struct bulk_ni *ni);
int bulk_know(struct bulk_ni *ni, u32 addr, u16 net, kfi_addr_t *peer);

/**
 * enum bulk_kind - What a transaction does
 * @BULK_HELLO: exchange how many contexts there are
 * @BULK_IMM: bytes in a message
 * @BULK_PUT: the peer reads pages of the initiator
 * @BULK_GET: the peer writes pages of the initiator
 */
enum bulk_kind {
	BULK_HELLO,
	BULK_IMM,
	BULK_PUT,
	BULK_GET,
};

/**
 * struct bulk_work - A transfer to be made
 * @kind: BULK_IMM, BULK_PUT or BULK_GET
 * @ctx: which context of this end; the peer's follows from it
 * @offset: of the first byte in its page
 * @len: bytes; of BULK_IMM at most BULK_IMM_MAX
 * @seed: of the pattern
 * @fail: errno with which the peer refuses it, or 0
 */
struct bulk_work {
	enum bulk_kind	kind;
	int		ctx;
	size_t		offset;
	size_t		len;
	u8		seed;
	int		fail;
};

/**
 * struct bulk_stats - What a node has seen
 * @done: transactions that succeeded
 * @failed: transactions that failed
 * @served: transactions of peers that succeeded
 * @refused: those that failed
 * @bad: transfers whose bytes are wrong
 * @broken: completions that may not come in the state of their transaction
 */
struct bulk_stats {
	atomic_t	done;
	atomic_t	failed;
	atomic_t	served;
	atomic_t	refused;
	atomic_t	bad;
	atomic_t	broken;
};

struct bulk_node;
struct bulk_peer;

#define BULK_IMM_MAX	4000

struct bulk_node *bulk_node_open(const char *iface, u16 net, int contexts);
int bulk_node_close(struct bulk_node *node);
const struct bulk_stats *bulk_node_stats(const struct bulk_node *node);
u32 bulk_node_addr(const struct bulk_node *node);
struct bulk_peer *bulk_peer_find(struct bulk_node *node, u32 addr, u16 net);
int bulk_transfer(struct bulk_node *node, struct bulk_peer *peer, const struct bulk_work *work,
		  unsigned int timeout_ms);

#endif /* _KOFI_BULK_H */
