// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers of an endpoint without connections: their addresses, the operations that wait for
 * them, and when to connect.
 *
 * A peer is made when an operation is posted to its address, or when it connects.  It is
 * forgotten when it has neither a connection nor an operation.  So connections and operations
 * bound what peers cost, not the number of addresses that somebody has claimed to have.
 *
 * ktcp_peer_settle() decides what is to be done for a peer, and is called whenever that may
 * have changed.  A peer that operations wait for and that has no connection is dialled:
 * KTCP_DIALS peers of an endpoint at a time, further ones in their order.  While some wait for
 * their turn (ktcp_rdm.crowded), only ktcp_peer_tick() dials: it begins with the oldest one.
 * Otherwise a peer that comes when another one has just been reached would overtake all that wait,
 * and if enough of such peers answer late, the oldest would wait for as long as those are given.
 *
 * A receive context of a scalable endpoint is a peer of its own, known by address and index.  Its
 * connection is one-way: what the endpoint at the other end sends goes by other connections.  A
 * peer that is not kOFI has no such contexts; operations for them end with EOPNOTSUPP.
 *
 * An attempt to connect may fail:
 *
 *	refused by its host	nobody listens there: the operations end with ECONNREFUSED
 *	refused by the peer	it has a connection with us already, or connects to us itself:
 *				dial again, unless its request comes first
 *	hung up, no response	its listener was short of something: dial again
 *	no response in time	it has gone: the operations end with ETIMEDOUT
 *
 * Between attempts a random time passes, longer with each, so that many peers of one endpoint
 * that is short of something do not come back at once.  KTCP_DIAL_MS after the first attempt
 * the operations end.
 *
 * Operations that wait share the transmit queue of the endpoint with those for peers that are
 * there.  So if an endpoint knows more than one address, a peer without a connection gets no more
 * of the queue than is left for all others: one such peer gets half of the queue at most, two
 * get a third each, and so on (ktcp_peer_has_room()).  Beyond that a post answers -EAGAIN.  The
 * client is called when a peer is there or has been given up, if the queue is not full then
 * (ktcp_rdm_room()).
 *
 * When a connection ends that has stood, an operation of which a part has been sent ends with
 * the connection.  Operations behind it wait for the next connection, unless the peer has died
 * (ETIMEDOUT): finding out that it is still dead would take as long again.  Nor do they wait if
 * the peer has said that it takes no connections (FI_EFIREWALLADDR).
 *
 * One delayed work item of the endpoint (ktcp_rdm.tick) looks at all unsettled peers every
 * KTCP_DIAL_TICK as long as there are some.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "rdm.h"

static const struct rhashtable_params ktcp_peer_params = {
	.head_offset		= offsetof(struct ktcp_peer, node),
	.key_offset		= offsetof(struct ktcp_peer, key),
	.key_len		= sizeof(struct kofi_peer_key),
	.automatic_shrinking	= true,
};

int ktcp_peers_init(struct ktcp_rdm *rdm)
{
	return rhashtable_init(&rdm->peers, &ktcp_peer_params);
}

/* Called when all peers have been forgotten */
void ktcp_peers_destroy(struct ktcp_rdm *rdm)
{
	rhashtable_destroy(&rdm->peers);
}

/**
 * ktcp_peer_find() - Look a peer up
 * @rdm: the endpoint
 * @addr: its address
 * @index: its receive context
 *
 * Context: any, in an RCU section, or with ktcp_cm_lock held.
 * Return: the peer, which may be forgotten if ktcp_cm_lock is not held; or NULL.
 */
struct ktcp_peer *ktcp_peer_find(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr,
				 u32 index)
{
	struct kofi_peer_key key;
	struct ktcp_peer *peer;

	kofi_peer_key_set(&key, addr, index);
	rcu_read_lock();
	peer = rhashtable_lookup(&rdm->peers, &key, ktcp_peer_params);
	rcu_read_unlock();
	return peer;
}

/**
 * ktcp_peer_get() - Find a peer, or make it
 * @rdm: the endpoint
 * @addr: its address
 * @index: its receive context
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: the peer, and ktcp_peer_settle() is due; NULL: there is no memory.
 */
struct ktcp_peer *ktcp_peer_get(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr,
				u32 index)
{
	struct ktcp_peer *peer = ktcp_peer_find(rdm, addr, index);

	lockdep_assert_held(&ktcp_cm_lock);
	if (peer)
		return peer;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return NULL;
	kofi_peer_key_set(&peer->key, addr, index);
	peer->addr = *addr;
	peer->rdm = rdm;
	INIT_LIST_HEAD(&peer->entry);
	INIT_LIST_HEAD(&peer->posted);
	if (!rhashtable_insert_fast(&rdm->peers, &peer->node, ktcp_peer_params))
		return peer;
	kfree(peer);
	return NULL;
}

/* Operations that wait for peers */

/**
 * ktcp_rdm_room() - Call clients whose operation has been refused
 * @rdm: the endpoint
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void ktcp_rdm_room(struct ktcp_rdm *rdm)
{
	struct kofi_soft_ctxs *ctxs = rdm->soft.ctxs;
	u32 i;

	lockdep_assert_held(&rdm->soft.lock);
	if (!rdm->refused)
		return;
	rdm->refused = false;
	WRITE_ONCE(rdm->refused_early, false);
	if (!ctxs)
		kofi_soft_admit_again(&rdm->soft);
	for (i = 0; ctxs && i < ctxs->nr_tx; i++)
		if (ctxs->tx[i])
			kofi_soft_admit_again(ctxs->tx[i]);
}

/**
 * ktcp_peer_set_open() - Note that the connection of a peer stands, or no longer does
 * @peer: the peer
 * @open: the connection stands
 *
 * Context: with ktcp_cm_lock and kofi_soft_ep.lock held.
 */
void ktcp_peer_set_open(struct ktcp_peer *peer, bool open)
{
	struct ktcp_rdm *rdm = peer->rdm;
	struct kofi_soft_op *op;

	lockdep_assert_held(&rdm->soft.lock);
	if (peer->open == open)
		return;
	peer->open = open;
	rdm->waiting -= peer->waiting;
	peer->waiting = 0;
	if (open) {
		ktcp_rdm_room(rdm);
		return;
	}
	list_for_each_entry(op, &peer->posted, entry)
		peer->waiting++;
	rdm->waiting += peer->waiting;
}

/**
 * ktcp_peer_add() - An operation is to be sent to a peer
 * @peer: a peer that is not forgotten
 * @op: from kofi_soft_ep.posted, the first one for this peer
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void ktcp_peer_add(struct ktcp_peer *peer, struct kofi_soft_op *op)
{
	lockdep_assert_held(&peer->rdm->soft.lock);
	list_move_tail(&op->entry, &peer->posted);
	peer->rdm->unrouted--;
	if (peer->open)
		return;
	peer->waiting++;
	peer->rdm->waiting++;
}

/**
 * ktcp_peer_add_all() - All that is posted for a peer is to be sent to it
 * @peer: a peer whose connection has just ended for a reason that holds for the next one, too
 *
 * The peer may be forgotten as soon as its operations have ended, and the reason with it.  An
 * operation that is routed later would have the peer dialled, and wait until that fails.
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void ktcp_peer_add_all(struct ktcp_peer *peer)
{
	struct ktcp_rdm *rdm = peer->rdm;
	struct kofi_av *av = ktcp_rdm_av(rdm);
	struct kofi_soft_op *op, *next;
	struct sockaddr_storage addr;

	lockdep_assert_held(&rdm->soft.lock);
	list_for_each_entry_safe(op, next, &rdm->soft.posted, entry)
		if (kofi_av_addr(av, op->kept.addr, &addr) &&
		    kofi_addr_equal(&addr, &peer->addr) &&
		    kofi_av_rx_index(av, op->kept.addr) == peer->key.index)
			ktcp_peer_add(peer, op);
}

/**
 * ktcp_peer_has_room() - May one more operation for a peer be posted?
 * @rdm: the endpoint
 * @addr: address of the peer
 * @index: its receive context
 *
 * Context: any, in an RCU section, with kofi_soft_ep.lock held.
 * Return: whether it may.
 */
bool ktcp_peer_has_room(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr, u32 index)
{
	const struct ktcp_peer *peer = ktcp_peer_find(rdm, addr, index);
	unsigned int left = rdm->queue - rdm->waiting - rdm->unrouted;

	lockdep_assert_held(&rdm->soft.lock);
	if (!peer || peer->forgotten)
		return rdm->unrouted < left;
	/* Operations that are not routed may be for this peer */
	return peer->open || peer->waiting + rdm->unrouted < left;
}

/* Forgets a peer without a connection and without operations; returns whether it was one */
static bool ktcp_peer_forget(struct ktcp_peer *peer)
{
	struct ktcp_rdm *rdm = peer->rdm;

	lockdep_assert_held(&ktcp_cm_lock);
	spin_lock_irq(&rdm->soft.lock);
	peer->forgotten = !peer->link && list_empty(&peer->posted);
	if (peer->forgotten && rdm->recent == peer)
		rdm->recent = NULL;
	spin_unlock_irq(&rdm->soft.lock);
	if (!peer->forgotten)
		return false;
	list_del(&peer->entry);
	rhashtable_remove_fast(&rdm->peers, &peer->node, ktcp_peer_params);
	kfree_rcu(peer, rcu);
	return true;
}

/**
 * ktcp_peer_cancel() - End the operations that wait for a peer
 * @peer: the peer, which may be forgotten afterwards
 * @err: positive error code
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_peer_cancel(struct ktcp_peer *peer, int err)
{
	struct kofi_soft_op *op, *next;
	LIST_HEAD(posted);

	lockdep_assert_held(&ktcp_cm_lock);
	spin_lock_irq(&peer->rdm->soft.lock);
	list_splice_init(&peer->posted, &posted);
	peer->rdm->waiting -= peer->waiting;
	peer->waiting = 0;
	ktcp_rdm_room(peer->rdm);
	spin_unlock_irq(&peer->rdm->soft.lock);
	list_for_each_entry_safe(op, next, &posted, entry) {
		list_del(&op->entry);
		kofi_soft_op_done(op, err);
	}
	kofi_redial_end(&peer->redial);
	peer->hang_ups = 0;
	ktcp_peer_settle(peer);
}

/**
 * ktcp_peer_withdraw() - Take back what a transmit context has posted for a peer
 * @peer: the peer, for which ktcp_peer_settle() is due
 * @ctx: the context
 * @ops: where the operations go that no connection has begun
 *
 * Context: with ktcp_cm_lock and kofi_soft_ep.lock held.
 */
void ktcp_peer_withdraw(struct ktcp_peer *peer, const struct kofi_soft_ep *ctx,
			struct list_head *ops)
{
	struct kofi_soft_op *op, *next;

	lockdep_assert_held(&peer->rdm->soft.lock);
	list_for_each_entry_safe(op, next, &peer->posted, entry) {
		if (op->ep != ctx)
			continue;
		list_move_tail(&op->entry, ops);
		if (peer->open)
			continue;
		peer->waiting--;
		peer->rdm->waiting--;
	}
}

/* Is it known that the peer has no receive contexts? */
static bool ktcp_peer_has_none(const struct ktcp_peer *peer)
{
	const struct ktcp_peer *first = ktcp_peer_find(peer->rdm, &peer->addr, 0);

	return first && first->open && !first->link->contexts;
}

/**
 * ktcp_peer_settle() - Do for a peer what is due
 * @peer: the peer, which may be forgotten afterwards
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_peer_settle(struct ktcp_peer *peer)
{
	struct ktcp_rdm *rdm = peer->rdm;
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	if (peer->link) {
		if (peer->link->dialling)
			return;
		kofi_redial_end(&peer->redial);
		peer->hang_ups = 0;
		list_del_init(&peer->entry);
		return;
	}
	if (ktcp_peer_forget(peer))
		return;
	if (rdm->ended || peer->firewall) {
		ktcp_peer_cancel(peer, rdm->ended ? ECANCELED : FI_EFIREWALLADDR);
		return;
	}
	if (peer->key.index && ktcp_peer_has_none(peer)) {
		ktcp_peer_cancel(peer, EOPNOTSUPP);
		return;
	}
	if (list_empty(&peer->entry))
		list_add_tail(&peer->entry, &rdm->unsettled);
	queue_delayed_work(ktcp_wq, &rdm->tick, KTCP_DIAL_TICK);
	if (kofi_redial_is_early(&peer->redial))
		return;
	rdm->crowded = rdm->crowded || rdm->dialling == KTCP_DIALS;
	if (rdm->crowded)
		return;
	kofi_redial_begin(&peer->redial, msecs_to_jiffies(KTCP_DIAL_MS));
	ret = ktcp_link_dial(peer);
	if (ret)
		ktcp_peer_not_reached(peer, -ret);
}

/**
 * ktcp_peer_not_reached() - An attempt to connect has failed
 * @peer: the peer, which may be forgotten afterwards
 * @err: why, positive; EALREADY: the peer has refused
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_peer_not_reached(struct ktcp_peer *peer, int err)
{
	lockdep_assert_held(&ktcp_cm_lock);
	/* A peer hangs up on a request for a context if it is not kOFI, or short of something */
	if (peer->key.index && err == ECONNRESET && ++peer->hang_ups == KTCP_CTX_TRIES) {
		ktcp_peer_cancel(peer, EOPNOTSUPP);
		return;
	}
	if (kofi_redial_failed(&peer->redial, err, KTCP_DIAL_TICK))
		ktcp_peer_settle(peer);
	else
		ktcp_peer_cancel(peer, err == EALREADY ? ECONNREFUSED : err);
}

/**
 * ktcp_peer_lost() - A connection that has stood is over
 * @peer: the peer, which may be forgotten afterwards
 * @sent: an operation has begun to be sent by the connection
 * @err: why, positive
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_peer_lost(struct ktcp_peer *peer, bool sent, int err)
{
	lockdep_assert_held(&ktcp_cm_lock);
	if (err == ETIMEDOUT)
		ktcp_peer_cancel(peer, err);
	else if (sent)
		ktcp_peer_settle(peer);
	else
		/* The peer may hang up on each connection: the next attempt is made later */
		ktcp_peer_not_reached(peer, ECONNRESET);
}

/**
 * ktcp_peer_tick() - Look at the peers that are to have a connection
 * @work: ktcp_rdm.tick
 *
 * Context: may sleep.
 */
void ktcp_peer_tick(struct work_struct *work)
{
	struct ktcp_rdm *rdm = container_of(to_delayed_work(work), struct ktcp_rdm, tick);
	struct ktcp_peer *peer;
	LIST_HEAD(todo);
	unsigned int noio;

	noio = ktcp_cm_enter();
	list_splice_init(&rdm->unsettled, &todo);
	rdm->crowded = false;
	/* Each peer goes back into the list, unless it is settled; one may settle another */
	while (!list_empty(&todo)) {
		peer = list_first_entry(&todo, struct ktcp_peer, entry);
		list_move_tail(&peer->entry, &rdm->unsettled);
		if (!peer->link)
			ktcp_peer_settle(peer);
		else if (time_after(jiffies, peer->link->deadline))
			ktcp_link_end(peer->link, ETIMEDOUT);
	}
	if (!list_empty(&rdm->unsettled))
		queue_delayed_work(ktcp_wq, &rdm->tick, KTCP_DIAL_TICK);
	ktcp_cm_leave(noio);
}
