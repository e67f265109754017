// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts of scalable endpoints.
 *
 * The scalable endpoint (struct ktcp_rdm) has the listener, the peers and the connections.  What
 * a transmit context posts goes into the list and by the connections of the scalable endpoint, so
 * contexts share the connection to a peer.
 *
 * A connection that goes both ways brings messages for receive context 0.  Any other receive
 * context has connections of its own, one for each scalable endpoint or endpoint that sends to it
 * (ktcp_ctx_asked()).  Only the end that has dialled sends operations by them.  A connection
 * keeps its receive context (ktcp_conn.at) as long as the connection or an unexpected message that
 * has come by it is there.
 *
 * When a transmit context ends, operations that no connection has begun end at once.  Those that
 * a connection has begun have KTCP_CTX_MS to end.  Then the connections that the context has sent
 * by end with ECONNRESET, and with them what other contexts have under way there.  A receive of
 * another context must not end with ECANCELED, as nobody has cancelled it.
 *
 * When a receive context ends, the connections by which messages arrive at it end.  Connections
 * of context 0 also carry operations of the scalable endpoint itself; these end as with any
 * connection that ends.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "rdm.h"

static struct ktcp_rdm *ktcp_ctx_rdm(const struct kofi_soft_ep *ctx)
{
	return to_ktcp_rdm(ctx->hub);
}

/* fi_enable() of receive context 0: connections may have come before it */
static void ktcp_ctx_changed(struct kofi_conn *conn)
{
	struct ktcp_ctx *ctx = container_of(conn, struct ktcp_ctx, soft.kep.conn);
	struct ktcp_rdm *rdm = ktcp_ctx_rdm(&ctx->soft);
	struct ktcp_link *link;

	lockdep_assert_held(&ktcp_cm_lock);
	if (conn->state != KOFI_CONN_ENABLED || ctx->soft.kep.no_rx || ctx->soft.index)
		return;
	list_for_each_entry(link, &rdm->links, entry) {
		if (link->over || link->index || link->conn.at)
			continue;
		kofi_soft_ep_get(&ctx->soft);
		ktcp_link_bind(link, &ctx->soft);
	}
	ktcp_rdm_unstall(rdm);
}

/* The end */

/* Cancel operations of a transmit context that no connection has started to send */
static void ktcp_ctx_withdraw(struct kofi_soft_ep *ctx)
{
	struct ktcp_rdm *rdm = ktcp_ctx_rdm(ctx);
	struct kofi_soft_op *op, *next;
	struct ktcp_link *link;
	struct ktcp_peer *peer;
	LIST_HEAD(ops);

	lockdep_assert_held(&ktcp_cm_lock);
	spin_lock_irq(&rdm->soft.lock);
	list_for_each_entry_safe(op, next, &rdm->soft.posted, entry) {
		if (op->ep != ctx)
			continue;
		list_move_tail(&op->entry, &ops);
		rdm->unrouted--;
	}
	/* A peer that operations wait for has a connection, or is in rdm->unsettled */
	list_for_each_entry(link, &rdm->links, entry)
		if (link->peer)
			ktcp_peer_withdraw(link->peer, ctx, &ops);
	list_for_each_entry(peer, &rdm->unsettled, entry)
		ktcp_peer_withdraw(peer, ctx, &ops);
	ktcp_rdm_room(rdm);
	spin_unlock_irq(&rdm->soft.lock);
	list_for_each_entry_safe(op, next, &ops, entry) {
		list_del(&op->entry);
		kofi_soft_op_done(op, ECANCELED);
	}
}

/* Delayed work: operations of a transmit context that has ended are still under way */
static void ktcp_ctx_late(struct work_struct *work)
{
	struct ktcp_ctx *ctx = container_of(to_delayed_work(work), struct ktcp_ctx, late);
	struct ktcp_link *link;
	unsigned int noio;

	noio = ktcp_cm_enter();
	list_for_each_entry(link, &ktcp_ctx_rdm(&ctx->soft)->links, entry)
		if (test_bit(ctx->soft.index, &link->senders))
			ktcp_link_end(link, ECONNRESET);
	ktcp_cm_leave(noio);
}

static void ktcp_ctx_gone(struct kofi_soft_ep *soft)
{
	struct ktcp_ctx *ctx = container_of(soft, struct ktcp_ctx, soft);
	struct ktcp_link *link;
	unsigned int noio;

	lockdep_assert_held(&ktcp_cm_lock);
	kofi_soft_ep_over(soft);
	if (soft->kep.no_rx) {
		ktcp_ctx_withdraw(soft);
		queue_delayed_work(ktcp_wq, &ctx->late, msecs_to_jiffies(KTCP_CTX_MS));
		return;
	}
	/* Peers that operations wait for are dialled again */
	noio = memalloc_noio_save();
	list_for_each_entry(link, &ktcp_ctx_rdm(soft)->links, entry)
		if (link->conn.at == soft)
			ktcp_link_end(link, ECANCELED);
	memalloc_noio_restore(noio);
	kofi_srx_flush(&soft->own_srx, ECANCELED);
}

static void ktcp_ctx_shut(struct kofi_soft_ep *soft, int err)
{
	kofi_conn_end(&soft->kep.conn, err, 0, NULL, 0);
	ktcp_ctx_gone(soft);
}

static void ktcp_ctx_close(struct kofi_soft_ep *soft)
{
	ktcp_ctx_shut(soft, ECANCELED);
}

static void ktcp_ctx_free(struct kofi_soft_ep *soft)
{
	struct ktcp_ctx *ctx = container_of(soft, struct ktcp_ctx, soft);

	cancel_delayed_work_sync(&ctx->late);
	kofi_soft_ep_fini(soft);
	kfree(ctx);
}

struct kofi_soft_type ktcp_ctx_type = {
	.lock		= &ktcp_cm_lock,
	.own_rx		= &ktcp_rdm_srx_ops,
	.op_size	= sizeof(struct ktcp_op),
	.max_queue	= KTCP_MAX_QUEUE,
	.max_msg	= KTCP_MAX_MSG,
	.work		= ktcp_rdm_work,
	.now		= ktcp_rdm_now,
	.admit		= ktcp_rdm_admit,
	.event_room	= ktcp_rdm_event_room,
	.join		= ktcp_rdm_join,
	.shut		= ktcp_ctx_shut,
	.gone		= ktcp_ctx_gone,
	.close		= ktcp_ctx_close,
	.free		= ktcp_ctx_free,
};

/* kofi_soft_type.ctx */
int ktcp_ctx_new(struct kofi_soft_ep *sep, const struct kofi_soft_ctx_attr *attr,
		 struct kofi_soft_ep **soft)
{
	const struct kofi_srx_attr room = ktcp_rdm_rx_room(attr->info);
	struct ktcp_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	int ret;

	if (!ctx)
		return -ENOMEM;
	INIT_DELAYED_WORK(&ctx->late, ktcp_ctx_late);
	ret = kofi_soft_ctx_init(&ctx->soft, sep, &ktcp_ctx_type, attr, &room);
	if (ret) {
		kfree(ctx);
		return ret;
	}
	kofi_soft_set_hub(&ctx->soft, sep);
	ctx->soft.kep.ep.cm = &ktcp_rdm_cm_ops;
	ctx->soft.kep.conn.changed = ktcp_ctx_changed;
	*soft = &ctx->soft;
	return 0;
}
