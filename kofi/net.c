// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Network namespaces, and what is open in them.
 *
 * A fabric belongs to a namespace and holds no reference on it: a container that is gone
 * must not live on because a kernel client in it has something open.  When a namespace goes,
 * the core takes each fabric in it out of the namespace's list and calls the
 * ->net_exit of its provider.  The newest fabric comes first, so an upper provider comes
 * before the provider it stands on.  After that nothing in kOFI uses the namespace; the
 * client's objects are shells, as after the removal of a device.
 *
 * kofi_net_exit() is the exit of a pernet device, not of a pernet subsystem, for two
 * reasons.  It is called while addresses, routes and interfaces are still there, so
 * connections can be ended in good order.  And it is called before the exit of subsystems
 * that providers stand on (rdma_cm is a pernet subsystem).
 *
 * A namespace goes when its last reference does.  The caller of fi_fabric() holds one
 * during the call, so a namespace does not go before its fabric is in the list.
 *
 * ->net_exit and ->close of one fabric do not run at the same time: before either, the core
 * waits until kofi_root.busy is clear, and sets it.  After a close that succeeds, ->net_exit
 * is not called; after a close that is refused, it is.
 *
 * Locking: kofi_objects_lock guards the lists and kofi_root.busy; no provider is called
 * with it held.
 */
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "kofi.h"

/**
 * struct kofi_net - The core's data of a namespace
 * @fabrics: struct kofi_root of the open fabrics, newest first
 */
struct kofi_net {
	struct list_head	fabrics;
};

static unsigned int kofi_net_id;

/* Counts the events that wake @changed: a fabric is no longer busy, or is gone */
static unsigned long changes;
static DECLARE_WAIT_QUEUE_HEAD(changed);

struct net *kofi_callers_net(void)
{
	return current->nsproxy ? current->nsproxy->net_ns : &init_net;
}

struct net *kofi_obj_get_net(const struct kofi_obj *obj)
{
	struct net *net;

	if (!obj)
		return NULL;
	/* take_newest() has the lock before the namespace can be freed */
	guard(mutex)(&kofi_objects_lock);
	net = kofi_fabric_of(obj)->root->net;
	return net ? maybe_get_net(net) : NULL;
}

static void note_change(void)
{
	lockdep_assert_held(&kofi_objects_lock);
	WRITE_ONCE(changes, changes + 1);
	wake_up_all(&changed);
}

/* Waits for the thread that has set a fabric busy; the fabric may be gone afterwards */
static void wait_for_change(void)
{
	unsigned long seen = changes;

	lockdep_assert_held(&kofi_objects_lock);
	mutex_unlock(&kofi_objects_lock);
	wait_event(changed, READ_ONCE(changes) != seen);
	mutex_lock(&kofi_objects_lock);
}

void kofi_net_enter(struct kofi_root *root)
{
	struct kofi_net *net = net_generic(root->net, kofi_net_id);

	lockdep_assert_held(&kofi_objects_lock);
	list_add(&root->net_entry, &net->fabrics);
}

void kofi_net_leave(struct kofi_root *root)
{
	lockdep_assert_held(&kofi_objects_lock);
	list_del_init(&root->net_entry);
	note_change();
}

void kofi_root_begin(struct kofi_root *root)
{
	guard(mutex)(&kofi_objects_lock);
	while (root->busy)
		wait_for_change();
	root->busy = true;
}

void kofi_root_end(struct kofi_root *root)
{
	guard(mutex)(&kofi_objects_lock);
	root->busy = false;
	note_change();
}

/* Takes the newest fabric out of a namespace's list and sets it busy; NULL: the list is empty */
static struct kofi_root *take_newest(struct kofi_net *net)
{
	struct kofi_root *root;

	guard(mutex)(&kofi_objects_lock);
	while ((root = list_first_entry_or_null(&net->fabrics, struct kofi_root,
						net_entry))) {
		if (root->busy) {
			wait_for_change();
			continue;
		}
		root->busy = true;
		list_del_init(&root->net_entry);
		WRITE_ONCE(root->net, NULL);
		break;
	}
	return root;
}

static void __net_exit kofi_net_exit(struct net *net)
{
	struct kofi_root *root;

	while ((root = take_newest(net_generic(net, kofi_net_id)))) {
		const struct kofi_provider *provider = root->obj->prov->provider;

		if (provider->net_exit)
			provider->net_exit(container_of(root->obj->fid,
							struct fid_fabric, fid));
		kofi_root_end(root);
	}
}

static int __net_init kofi_net_init(struct net *net)
{
	struct kofi_net *own = net_generic(net, kofi_net_id);

	INIT_LIST_HEAD(&own->fabrics);
	return 0;
}

static struct pernet_operations kofi_net_ops = {
	.init	= kofi_net_init,
	.exit	= kofi_net_exit,
	.id	= &kofi_net_id,
	.size	= sizeof(struct kofi_net),
};

int kofi_nets_init(void)
{
	return register_pernet_device(&kofi_net_ops);
}

void kofi_nets_exit(void)
{
	unregister_pernet_device(&kofi_net_ops);
}
