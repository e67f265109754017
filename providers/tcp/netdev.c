// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Interfaces that go.
 *
 * An endpoint or a listener ends when its own address is on no interface of its namespace any
 * more, as it would with a device that is removed: TCP itself would try for a quarter of an
 * hour.  An address that is on another interface by then has not gone, and a wildcard
 * address never goes.
 *
 * The notifier is called with the rtnl lock held and before all others have let go of the
 * interface.  So a work item looks at the addresses once it has had the rtnl lock.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "rdm.h"

static bool ktcp_addr_has_gone(struct net *net, const struct sockaddr_storage *addr)
{
	return net && !kofi_addr_any(addr) && !kofi_addr_is_local(net, addr);
}

static bool ktcp_ep_has_gone(struct kofi_soft_ep *soft)
{
	struct sockaddr_storage name;
	struct socket *sock = NULL;

	lockdep_assert_held(&ktcp_cm_lock);
	if (soft->type != &ktcp_type) {
		name = to_ktcp_rdm(soft->hub)->name;
	} else {
		name = to_ktcp_soft(soft)->src;
		sock = to_ktcp_soft(soft)->conn.sk.sock;
	}
	if (sock && ktcp_sock_name(sock, false, &name))
		return false;
	return ktcp_addr_has_gone(soft->domain->fabric->net, &name);
}

static bool ktcp_pep_has_gone(struct kofi_soft_pep *pep)
{
	lockdep_assert_held(&ktcp_cm_lock);
	return pep->kpep.named &&
	       ktcp_addr_has_gone(pep->fabric->net, &pep->kpep.addr);
}

static void ktcp_netdev_work(struct work_struct *work)
{
	/* Behind this, all notifiers have heard of the interface */
	rtnl_lock();
	rtnl_unlock();
	kofi_soft_end_some(&ktcp_type, ktcp_ep_has_gone, ktcp_pep_has_gone);
}

static DECLARE_WORK(ktcp_netdev, ktcp_netdev_work);

static int ktcp_netdev_event(struct notifier_block *block, unsigned long event,
			     void *info)
{
	if (event == NETDEV_UNREGISTER)
		schedule_work(&ktcp_netdev);
	return NOTIFY_DONE;
}

static struct notifier_block ktcp_netdev_block = {
	.notifier_call	= ktcp_netdev_event,
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
