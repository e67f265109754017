// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What remains of a connection that is over.
 *
 * What has come before the end is dealt with first, while the lower objects stand
 * (rxm_receive_rest()).  Then messages of which a part has come, or that are at their sender, end
 * with the error of the connection (rxm_receive_end()).  Messages that are kept as a whole stay
 * in rxm_ep.orphans until a receive takes them.
 *
 * Only rxm_ep.cm is here, as it closes the connection.  kofi_soft_ep.work may settle kept messages
 * at the same time.
 */
#include <linux/math.h>
#include <linux/module.h>
#include <linux/wait_bit.h>
#include "rxm.h"

/*
 * The next packet of a connection that is over has to wait.  Return true if it need not: a receive
 * has taken the message at this moment, or it is at its sender, and only its client's claim has
 * kept it.
 */
static bool rxm_head_ends(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;

	if (!conn->head_waits)
		return false;
	/* Otherwise rxm_start() or rxm_discard() has returned */
	if (kofi_srx_withdraw(&ep->soft.own_srx, &conn->head.msg)) {
		if (!conn->head.rndv)
			return false;
		spin_lock_irq(&ep->soft.lock);
		conn->head.settled = true;
		spin_unlock_irq(&ep->soft.lock);
	}
	return true;
}

/**
 * rxm_receive_rest() - Deal with what has come before the end of a connection
 * @conn: a connection that is over and not in use, whose lower endpoint has been drained
 *
 * A message that finds neither a receive nor room is lost, and what is behind it.  Not every lower
 * endpoint can be drained, and a peer may go on writing with remote CQ data: no more is dealt with
 * than can have been in the queue.
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_receive_rest(struct rxm_conn *conn)
{
	int left = DIV_ROUND_UP(RXM_BATCH + RXM_RX + RXM_EVENTS, RXM_BUDGET), ret;

	do {
		ret = rxm_receive_all(conn);
		/* A callback of the lower queue, which looks again once at most */
		if (ret == -EBUSY)
			wait_var_event(&conn->rx_busy, !READ_ONCE(conn->rx_busy));
	} while (ret == -EBUSY || (ret > 0 && --left) ||
		 (ret == -EAGAIN && rxm_head_ends(conn)));
}

/* Takes a message back that waits for its receive; returns the receive if it has one, or NULL */
static struct kofi_rx *rxm_withdraw(struct rxm_unexp *unexp)
{
	if (kofi_srx_withdraw(&unexp->ep->soft.own_srx, &unexp->msg))
		return NULL;
	/* rxm_start() or rxm_discard() has returned */
	return unexp->rx;
}

/**
 * rxm_receive_end() - End the messages of which a connection has brought a part only
 * @conn: a connection without users, whose lower endpoint has been closed
 * @err: why, positive
 *
 * Messages that are kept as a whole stay; those that are at their sender go.
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_receive_end(struct rxm_conn *conn, int err)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_unexp *unexp;
	struct rxm_sar *sar;
	struct kofi_rx *rx;
	size_t have;

	if (conn->head_waits) {
		rx = rxm_withdraw(&conn->head);
		if (rx)
			kofi_rx_fail(rx, 0, err, err);
	}
	for (sar = conn->sars; sar < conn->sars + RXM_SARS; sar++) {
		rx = sar->unexp ? rxm_withdraw(sar->unexp) : sar->rx;
		if (rx) {
			have = sar->unexp ? 0 : min_t(u64, sar->have, kofi_rx_len(rx));
			kofi_rx_fail(rx, have, err, err);
		}
		if (sar->unexp)
			rxm_unexp_put(sar->unexp);
	}
	rxm_need_no_room(conn);
	spin_lock_irq(&ep->soft.lock);
	while ((unexp = list_first_entry_or_null(&conn->kept, struct rxm_unexp, of_conn))) {
		list_del_init(&unexp->of_conn);
		unexp->counted = NULL;
		if (!unexp->rndv) {
			unexp->since = jiffies;
			list_add_tail(&unexp->of_conn, &ep->orphans);
		}
		/* One that has settled is dealt with, and freed, by rxm_settle() */
		if (!unexp->rndv || unexp->settled)
			continue;
		/* From now on rxm_unexp_settle() does not give it to rxm_settle() */
		unexp->whole = false;
		spin_unlock_irq(&ep->soft.lock);
		rx = rxm_withdraw(unexp);
		if (rx)
			kofi_rx_fail(rx, 0, err, err);
		rxm_unexp_put(unexp);
		spin_lock_irq(&ep->soft.lock);
	}
	spin_unlock_irq(&ep->soft.lock);
}
