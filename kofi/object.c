// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The life of objects: open, in use, closed.
 *
 * The provider owns the fid; the core keeps a struct kofi_obj of its own beside
 * it, because after ->close the fid's memory is gone while parent and bound
 * objects still have to be let go.
 *
 *	kofi_open_child()	counts as a user of the parent, allocates
 *	   (provider's open)
 *	kofi_opened()		checks the fid, sets its kofi_obj;
 *				after a failure: undoes both steps; kofi_open() has all three
 *	fi_close()		marks the object as closing, unless it has users
 *	   (provider's close)	may refuse; then the object is open again
 *	kofi_obj_free()		lets go of bound objects and of the parent
 *
 * users counts what needs the object: its children, the objects it is bound to,
 * and bind calls in progress.  fi_close() changes the count from 0 to KOFI_CLOSING in one
 * atomic step, and from then on the count cannot grow.  So when an open or a bind meets
 * fi_close(), one of the two calls gets -EBUSY.  The core does not guard against a
 * client that closes an object in one thread while another thread still uses the pointer.
 *
 * A fabric has no parent.  It holds the reference on the provider (and thereby
 * on its module) for everything below it.  It holds no reference on its network namespace;
 * net.c says what happens when the namespace goes.
 *
 * A fabric also knows the module of the client, and holds no reference on it: a client has
 * to close what it has opened before its exit function returns.  If it does not, the log
 * names each of its objects, once, when the module goes, and debugfs shows
 * that its client has been unloaded.
 *
 * debugfs and netlink ask open objects for their state.  kofi_obj.looks counts the requests
 * under way, and fi_close() waits until there are none before it calls the provider.  So a
 * request makes no close fail, and holds no lock while the provider answers.
 *
 * Locking: kofi_objects_lock guards the list of open objects, all lists of bindings,
 * and struct kofi_root.  No provider is called with it held.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "kofi.h"
#include "trace.h"

static LIST_HEAD(objects);
/* Guards the list of open objects and the bindings of each */
DEFINE_MUTEX(kofi_objects_lock);

/* The id of the object that was opened last */
static u64 last_id;

/* kofi_obj.looks of an object has become 0 */
static DECLARE_WAIT_QUEUE_HEAD(looked_away);

bool kofi_obj_use(struct kofi_obj *obj)
{
	return atomic_inc_unless_negative(&obj->users);
}

void kofi_obj_unuse(struct kofi_obj *obj)
{
	/* Accesses to the object come before a close that sees 0 users */
	smp_mb__before_atomic();
	atomic_dec(&obj->users);
}

static struct kofi_obj *kofi_obj_alloc(struct kofi_prov *prov, u32 fclass,
				       const char *name)
{
	struct kofi_obj *obj = kzalloc(sizeof(*obj), GFP_KERNEL);

	if (!obj)
		return NULL;

	if (name) {
		obj->name = kstrdup(name, GFP_KERNEL);
		if (!obj->name) {
			kfree(obj);
			return NULL;
		}
	}
	INIT_LIST_HEAD(&obj->entry);
	INIT_LIST_HEAD(&obj->bindings);
	obj->fclass = fclass;
	obj->prov = prov;
	return obj;
}

/* Called when ->close has freed the fid, or when there never was one */
static void kofi_obj_free(struct kofi_obj *obj)
{
	scoped_guard(mutex, &kofi_objects_lock) {
		list_del(&obj->entry);
		if (obj->root)
			kofi_net_leave(obj->root);
	}

	kofi_check_undo(obj);
	kofi_unbind_all(obj);
	if (obj->parent)
		kofi_obj_unuse(obj->parent);
	else
		kofi_prov_put(obj->prov);
	if (obj->root) {
		kfree(obj->root->prov_name);
		kfree(obj->root);
	}
	kfree(obj->name);
	kfree(obj);
}

struct kofi_obj *kofi_open_fabric(struct kofi_prov *prov,
				  const struct fi_fabric_attr *attr,
				  struct module *client)
{
	struct kofi_obj *obj = kofi_obj_alloc(prov, FI_CLASS_FABRIC, attr->name);
	struct kofi_root *root;

	if (!obj) {
		kofi_prov_put(prov);
		return ERR_PTR(-ENOMEM);
	}

	root = kzalloc(sizeof(*root), GFP_KERNEL);
	if (!root)
		goto err_free;
	obj->root = root;
	root->obj = obj;
	root->net = attr->net;
	INIT_LIST_HEAD(&root->net_entry);
	root->prov_name = kstrdup(attr->prov_name, GFP_KERNEL);
	if (!root->prov_name)
		goto err_free;
	root->client = client;
	strscpy(root->client_name, client ? client->name : "kernel",
		sizeof(root->client_name));
	return obj;

err_free:
	kofi_obj_free(obj);
	return ERR_PTR(-ENOMEM);
}

struct kofi_obj *kofi_open_child(const char *call, struct fid *parent, u32 fclass,
				 const char *name, u64 caps)
{
	struct kofi_obj *obj;

	if (!kofi_obj_use(parent->obj))
		return ERR_PTR(kofi_refuse(call, -EBUSY, "the %s is being closed",
					   kofi_class_name(parent->fclass)));

	obj = kofi_obj_alloc(parent->obj->prov, fclass, name);
	if (!obj) {
		kofi_obj_unuse(parent->obj);
		return ERR_PTR(-ENOMEM);
	}
	obj->parent = parent->obj;
	obj->caps = caps;
	return obj;
}

static void kofi_obj_attach(struct kofi_obj *obj, struct fid *fid)
{
	obj->fid = fid;
	fid->obj = obj;
	scoped_guard(mutex, &kofi_objects_lock) {
		obj->id = ++last_id;
		list_add_tail(&obj->entry, &objects);
		if (obj->root)
			kofi_net_enter(obj->root);
	}
}

int kofi_opened(struct kofi_obj *obj, struct fid *fid, int ret)
{
	/* The contexts of a scalable endpoint have the tables that its capabilities promise */
	u64 promised = obj->fclass == FI_CLASS_SEP ? 0 : obj->caps;

	if (!ret)
		ret = kofi_check(obj, fid, promised);
	kofi_open_call(obj, fid, ret);
	if (ret)
		kofi_obj_free(obj);
	else
		kofi_obj_attach(obj, fid);
	return ret;
}

/* The first object from @entry on that is not being closed, or NULL */
static struct kofi_obj *look_from(struct list_head *entry, u64 after)
{
	struct kofi_obj *obj;

	lockdep_assert_held(&kofi_objects_lock);
	for (; entry != &objects; entry = entry->next) {
		obj = list_entry(entry, struct kofi_obj, entry);
		if (obj->id > after && atomic_read(&obj->users) != KOFI_CLOSING) {
			obj->looks++;
			return obj;
		}
	}
	return NULL;
}

static void look_away(struct kofi_obj *obj)
{
	lockdep_assert_held(&kofi_objects_lock);
	WRITE_ONCE(obj->looks, obj->looks - 1);
	if (!obj->looks)
		wake_up_all(&looked_away);
}

struct kofi_obj *kofi_obj_look(u64 after)
{
	guard(mutex)(&kofi_objects_lock);
	return look_from(objects.next, after);
}

struct kofi_obj *kofi_obj_look_on(struct kofi_obj *obj)
{
	struct kofi_obj *next;

	guard(mutex)(&kofi_objects_lock);
	next = look_from(obj->entry.next, obj->id);
	look_away(obj);
	return next;
}

void kofi_obj_look_away(struct kofi_obj *obj)
{
	guard(mutex)(&kofi_objects_lock);
	look_away(obj);
}

/* users is KOFI_CLOSING, so no call begins to look once this has taken the lock */
static void kofi_obj_wait_looks(struct kofi_obj *obj)
{
	mutex_lock(&kofi_objects_lock);
	mutex_unlock(&kofi_objects_lock);
	wait_event(looked_away, !READ_ONCE(obj->looks));
}

/* Is @user open below @obj, or bound to it? */
static bool kofi_obj_holds(const struct kofi_obj *user, const struct kofi_obj *obj)
{
	const struct kofi_binding *binding;

	lockdep_assert_held(&kofi_objects_lock);
	if (user->parent == obj)
		return true;
	list_for_each_entry(binding, &user->bindings, entry)
		if (binding->to == obj)
			return true;
	return false;
}

/* Names one of the objects for whose sake @obj cannot be closed, and says how many there are */
static int kofi_refuse_busy(const struct kofi_obj *obj)
{
	const char *class = kofi_class_name(obj->fclass);
	const struct kofi_obj *user, *first = NULL;
	int more = -1;

	if (atomic_read(&obj->users) == KOFI_CLOSING)
		return kofi_refuse("close", -EBUSY, "another call closes the %s", class);

	guard(mutex)(&kofi_objects_lock);
	list_for_each_entry(user, &objects, entry) {
		if (!kofi_obj_holds(user, obj))
			continue;
		first = first ?: user;
		more++;
	}
	if (!first)
		return kofi_refuse("close", -EBUSY, "another call uses the %s at this moment",
				   class);
	return kofi_refuse("close", -EBUSY, "the %s is used by the %s %p and %d others; close them first",
			   class, kofi_class_name(first->fclass), first->fid, more);
}

int fi_close(struct fid *fid)
{
	struct kofi_obj *obj;
	int ret;

	might_sleep();
	ret = kofi_check_fid("close", "fid", fid, KOFI_ANY_CLASS);
	if (ret)
		return ret;

	obj = fid->obj;
	if (atomic_cmpxchg(&obj->users, 0, KOFI_CLOSING)) {
		ret = kofi_refuse_busy(obj);
		trace_kofi_close(obj, fid, ret);
		return ret;
	}

	kofi_obj_wait_looks(obj);
	if (obj->root)
		kofi_root_begin(obj->root);
	ret = fid->ops->close(fid);
	trace_kofi_close(obj, fid, ret);
	if (!ret) {
		kofi_obj_free(obj);
		return 0;
	}
	if (obj->root)
		kofi_root_end(obj->root);
	atomic_set_release(&obj->users, 0);
	return ret;
}
EXPORT_SYMBOL_GPL(fi_close);

void kofi_lower_close(struct fid *fid)
{
	const char *prov_name = fid->obj->prov->provider->name;
	const char *class = kofi_class_name(fid->obj->fclass);
	int ret = fi_close(fid);

	if (ret)
		pr_err("provider %s: the %s below another provider refuses to close and stays open (%d)\n",
		       prov_name, class, ret);
}
EXPORT_SYMBOL_GPL(kofi_lower_close);

/* Newest first: the order in which the client should have closed its objects */
static void kofi_client_gone(const struct module *module)
{
	struct kofi_root *root;
	struct kofi_obj *obj;

	guard(mutex)(&kofi_objects_lock);
	list_for_each_entry_reverse(obj, &objects, entry) {
		root = kofi_fabric_of(obj)->root;
		if (root->client != module)
			continue;
		root->unloaded = true;
		pr_err("client %s is unloaded with open objects: %s %p of provider %s; fi_close() it in the module's exit, or its callbacks crash\n",
		       root->client_name, kofi_class_name(obj->fclass), obj->fid,
		       obj->prov->provider->name);
	}
	/* Another module may be loaded at this address */
	list_for_each_entry(obj, &objects, entry)
		if (obj->root && obj->root->client == module)
			obj->root->client = NULL;
}

static int kofi_module_event(struct notifier_block *nb, unsigned long state,
			     void *module)
{
	if (state == MODULE_STATE_GOING)
		kofi_client_gone(module);
	return NOTIFY_DONE;
}

static struct notifier_block kofi_module_nb = {
	.notifier_call	= kofi_module_event,
};

int kofi_objects_init(void)
{
	return register_module_notifier(&kofi_module_nb);
}

void kofi_objects_exit(void)
{
	unregister_module_notifier(&kofi_module_nb);
}
