// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Interfaces that go.
 *
 * An endpoint ends when the interface of its address has gone, and the address with it, as it
 * would with a device that is removed: TCP itself would try for a quarter of an hour.  Nothing else
 * ends it.  Its address may be away for a moment, because the interface is down, or is there but
 * may not be used while duplicate address detection runs, and interfaces go all the time that it
 * has nothing to do with.  So an endpoint notes the interface when it has its address.  If that
 * interface goes and another has the address, the endpoint notes that one.  An address that moves
 * while both interfaces are there is not followed; if the second one goes, too, TCP notices it.
 *
 * A listener never ends: its socket takes connections again when the address is back.
 *
 * The notifier is the last one of its chain, so the addresses of the interface have gone when it
 * is called.  It is called with the rtnl lock held, and a work item does the rest.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/sched/mm.h>
#include "tcp.h"

/* The address of an endpoint, as far as it has one; returns where its interface is noted */
static int *ktcp_netdev_of(struct kofi_soft_ep *soft, struct sockaddr_storage *name)
{
	lockdep_assert_held(&ktcp_cm_lock);
	if (soft->type == &ktcp_ep_type) {
		ktcp_ep_name(to_ktcp_soft(soft), name);
		return &to_ktcp_soft(soft)->ifindex;
	}
	*name = to_ktcp_rdm(soft->hub)->name;
	return &to_ktcp_rdm(soft->hub)->ifindex;
}

static bool ktcp_netdev_is_there(struct net *net, int ifindex)
{
	bool there;

	rcu_read_lock();
	there = dev_get_by_index_rcu(net, ifindex);
	rcu_read_unlock();
	return there;
}

static bool ktcp_ep_has_gone(struct kofi_soft_ep *soft)
{
	struct net *net = soft->domain->fabric->net;
	struct sockaddr_storage name;
	int *ifindex, other;

	lockdep_assert_held(&ktcp_cm_lock);
	ifindex = ktcp_netdev_of(soft, &name);
	if (!net || !*ifindex || ktcp_netdev_is_there(net, *ifindex))
		return false;
	other = kofi_addr_ifindex(net, &name);
	if (!other)
		return true;
	*ifindex = other;
	return false;
}

static bool ktcp_pep_has_gone(struct kofi_soft_pep *pep)
{
	return false;
}

/* What waits for the end of a connection may be writeback */
static void ktcp_netdev_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	kofi_soft_end_some(&ktcp_type, ktcp_ep_has_gone, ktcp_pep_has_gone);
	memalloc_noio_restore(noio);
}

static DECLARE_WORK(ktcp_netdev, ktcp_netdev_work);

static int ktcp_netdev_event(struct notifier_block *block, unsigned long event,
			     void *info)
{
	if (event == NETDEV_UNREGISTER)
		queue_work(ktcp_wq, &ktcp_netdev);
	return NOTIFY_DONE;
}

static struct notifier_block ktcp_netdev_block = {
	.notifier_call	= ktcp_netdev_event,
	.priority	= INT_MIN,
};

int ktcp_netdev_init(void)
{
	return register_netdevice_notifier(&ktcp_netdev_block);
}

void ktcp_netdev_exit(void)
{
	unregister_netdevice_notifier(&ktcp_netdev_block);
	cancel_work_sync(&ktcp_netdev);
}
