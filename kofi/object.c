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
 *	kofi_opened()		checks the fid, hangs the kofi_obj into it;
 *				after a failure: undoes both steps
 *	fi_close()		marks the object as closing, unless it has users
 *	   (provider's close)	may refuse; then the object is open again
 *	kofi_obj_free()		lets go of what it is bound to and of the parent
 *
 * users counts who needs the object: its children, the objects it is bound to,
 * and bind calls in progress.  It goes from 0 to KOFI_CLOSING by one atomic
 * step, and nobody can become a user from then on; so an open or a bind that
 * meets fi_close() gets -EBUSY, or fi_close() does.  The memory of an object
 * that one thread closes while another still uses the pointer is the client's
 * concern.
 *
 * A fabric has no parent.  It holds the reference on the provider (and thereby
 * on its module) and on the network namespace for everything below it.
 *
 * Locking: kofi_objects_lock guards the list of open objects and all lists of
 * bindings.  No provider is called with it held.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "kofi.h"
#include "trace.h"

static LIST_HEAD(objects);
/* Guards the list of open objects and the bindings of each */
DEFINE_MUTEX(kofi_objects_lock);

bool kofi_obj_use(struct kofi_obj *obj)
{
	return atomic_inc_unless_negative(&obj->users);
}

void kofi_obj_unuse(struct kofi_obj *obj)
{
	/* What was done to the object comes before a close that sees 0 users */
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

/* The fid is gone, or has never been there */
static void kofi_obj_free(struct kofi_obj *obj)
{
	scoped_guard(mutex, &kofi_objects_lock)
		list_del(&obj->entry);

	kofi_check_undo(obj);
	kofi_unbind_all(obj);
	if (obj->parent) {
		kofi_obj_unuse(obj->parent);
	} else {
		if (obj->net)
			put_net(obj->net);
		kofi_prov_put(obj->prov);
	}
	kfree(obj->name);
	kfree(obj);
}

struct kofi_obj *kofi_open_fabric(struct kofi_prov *prov,
				  const struct fi_fabric_attr *attr)
{
	struct kofi_obj *obj = kofi_obj_alloc(prov, FI_CLASS_FABRIC, attr->name);

	if (!obj) {
		kofi_prov_put(prov);
		return ERR_PTR(-ENOMEM);
	}
	if (attr->net)
		obj->net = get_net(attr->net);
	return obj;
}

struct kofi_obj *kofi_open_child(struct fid *parent, u32 fclass,
				 const char *name)
{
	struct kofi_obj *obj;

	if (!kofi_obj_use(parent->obj))
		return ERR_PTR(-EBUSY);

	obj = kofi_obj_alloc(parent->obj->prov, fclass, name);
	if (!obj) {
		kofi_obj_unuse(parent->obj);
		return ERR_PTR(-ENOMEM);
	}
	obj->parent = parent->obj;
	return obj;
}

static void kofi_obj_attach(struct kofi_obj *obj, struct fid *fid)
{
	obj->fid = fid;
	fid->obj = obj;
	scoped_guard(mutex, &kofi_objects_lock)
		list_add_tail(&obj->entry, &objects);
}

int kofi_opened(struct kofi_obj *obj, struct fid *fid, u64 caps, int ret)
{
	if (!ret)
		ret = kofi_check(obj, fid, caps);
	trace_kofi_open(obj, fid, ret);
	if (ret)
		kofi_obj_free(obj);
	else
		kofi_obj_attach(obj, fid);
	return ret;
}

int fi_close(struct fid *fid)
{
	struct kofi_obj *obj;
	int ret;

	might_sleep();
	if (!fid || !fid->obj)
		return -EINVAL;

	obj = fid->obj;
	if (atomic_cmpxchg(&obj->users, 0, KOFI_CLOSING)) {
		trace_kofi_close(obj, fid, -EBUSY);
		return -EBUSY;
	}

	ret = fid->ops->close(fid);
	trace_kofi_close(obj, fid, ret);
	if (ret)
		atomic_set_release(&obj->users, 0);
	else
		kofi_obj_free(obj);
	return ret;
}
EXPORT_SYMBOL_GPL(fi_close);

static void kofi_obj_show(struct seq_file *file, struct kofi_obj *obj)
{
	struct kofi_binding *binding;

	seq_printf(file, "%p: %s, provider %s, users %d", obj->fid,
		   kofi_class_name(obj->fclass), obj->prov->provider->name,
		   atomic_read(&obj->users));
	if (obj->name)
		seq_printf(file, ", name %s", obj->name);
	if (obj->parent)
		seq_printf(file, ", opened on %p", obj->parent->fid);
	list_for_each_entry(binding, &obj->bindings, entry)
		seq_printf(file, ", bound to %p flags %#llx", binding->to->fid,
			   binding->flags);
	seq_putc(file, '\n');
}

int kofi_objects_show(struct seq_file *file, void *unused)
{
	struct kofi_obj *obj;

	guard(mutex)(&kofi_objects_lock);
	list_for_each_entry(obj, &objects, entry)
		kofi_obj_show(file, obj);
	return 0;
}
