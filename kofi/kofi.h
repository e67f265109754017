/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi.ko share with each other.
 */
#ifndef _KOFI_KOFI_H
#define _KOFI_KOFI_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>

struct device;
struct kofi_stat;

/* The version of the API that this is */
#define KOFI_API_VERSION	FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

/**
 * struct kofi_prov - A registered provider, registry.c
 * @entry: place in the registry; registration order
 * @provider: the provider's own structure
 * @version: KOFI_PROVIDER_VERSION that it was compiled with
 * @refs: the registry, each call inside and each open fabric
 * @idle: completed when @refs has become 0
 * @refused: bit FI_CLASS_*: an incomplete object of that class has been logged; bit
 *	FI_CLASS_UNSPEC: an incomplete fi_info has
 * @dev: the provider's directory in sysfs
 */
struct kofi_prov {
	struct list_head	entry;
	struct kofi_provider	*provider;
	u32			version;
	refcount_t		refs;
	struct completion	idle;
	unsigned long		refused;
	struct device		*dev;
};

/*
 * kofi_prov_get_all() returns the number of providers that new calls see (the highest
 * version of each name), or -ENOMEM.  Their modules are pinned until the caller gives
 * them all back with kofi_prov_put_all().  kofi_prov_get() finds a provider by name and
 * version.  If @version is 0 or no longer registered, it returns the highest version of
 * the name, and NULL if there is none.  Neither function loads a module;
 * kofi_prov_load() does, and may sleep for long.
 */
int kofi_prov_get_all(struct kofi_prov ***provs);
void kofi_prov_put_all(struct kofi_prov **provs, int count);
struct kofi_prov *kofi_prov_get(const char *name, u32 version);
void kofi_prov_put(struct kofi_prov *prov);
void kofi_prov_load(const char *name);

/**
 * struct kofi_prov_ops - What is called when providers come and go
 * @added: a provider has been registered; @beside: another version of it is registered.  An
 *	error refuses the provider
 * @removed: an added provider is about to be deregistered
 */
struct kofi_prov_ops {
	int	(*added)(struct kofi_prov *prov, bool beside);
	void	(*removed)(struct kofi_prov *prov);
};

/* Before the first provider is registered */
void kofi_prov_set_ops(const struct kofi_prov_ops *ops);

/* Calls @fn for each provider, oldest first, with the registry locked, until it returns not 0 */
int kofi_prov_each(int (*fn)(const struct kofi_prov *prov, void *arg), void *arg);

/**
 * struct kofi_root - What only a fabric has, for all that is below it, object.c
 * @client: the module that has opened the fabric; NULL: built into the kernel, or unloaded
 * @unloaded: the client's module was unloaded while the fabric was open
 * @client_name: name of the client's module; stays when the module has gone
 * @prov_name: the provider, and those it stands on: "verbs;ofi_rxm"
 * @net: the fabric's namespace, without a reference; NULL: the namespace has gone
 * @net_entry: place in the namespace's fabrics
 * @busy: ->close or ->net_exit is under way
 * @obj: the fabric
 */
struct kofi_root {
	struct module		*client;
	bool			unloaded;
	char			client_name[MODULE_NAME_LEN];
	char			*prov_name;
	struct net		*net;
	struct list_head	net_entry;
	bool			busy;
	struct kofi_obj		*obj;
};

/* Most tables of calls that one object has, fid.ops included */
#define KOFI_MAX_TABLES		4

/**
 * struct kofi_obj - The core's side of an open object, object.c
 * @entry: place in the list of all open objects
 * @id: number of the object; an object that is opened later has a higher number
 * @looks: calls that look at it, see kofi_obj_look()
 * @fid: the provider's side
 * @fclass: FI_CLASS_* that the client has asked for
 * @users: children, objects it is bound to, and calls that bind it;
 *	KOFI_CLOSING while it is being closed
 * @parent: the object it was opened on; NULL for a fabric
 * @prov: its provider; only a fabric holds a reference
 * @root: fabric: what only a fabric has; else NULL
 * @caps: capabilities it was opened with, or 0
 * @name: fabric, domain: the name it was opened with, or NULL
 * @bindings: &struct kofi_binding of what is bound to it
 * @tables: KOFI_MAX_TABLES longer copies of tables that were too short, check.c; NULL:
 *	none was
 */
struct kofi_obj {
	struct list_head	entry;
	u64			id;
	unsigned int		looks;
	struct fid		*fid;
	u32			fclass;
	atomic_t		users;
	struct kofi_obj		*parent;
	struct kofi_prov	*prov;
	struct kofi_root	*root;
	u64			caps;
	char			*name;
	struct list_head	bindings;
	void			**tables;
};

#define KOFI_CLOSING		(-1)

/**
 * struct kofi_binding - An object is bound to another, bind.c
 * @entry: in the bindings of the object that uses @to
 * @to: the queue, counter, ... that is used
 * @flags: flags of the bind call
 */
struct kofi_binding {
	struct list_head	entry;
	struct kofi_obj		*to;
	u64			flags;
};

/* Refuses an object of another class, or one that is not open: kofi/refuse.h */
#define kofi_check_is(call, ptr, classes)	\
	kofi_check_fid(call, #ptr, kofi_fid(ptr), classes)

#define KOFI_ANY_CLASS	((u32)~0)

/* Is @fid an open object of class @fclass? */
static inline bool kofi_fid_is(const struct fid *fid, u32 fclass)
{
	return fid && fid->fclass == fclass && fid->obj;
}

#define kofi_is(ptr, fclass)	kofi_fid_is(kofi_fid(ptr), fclass)

/* The fid of any fid_*; NULL of NULL */
#define kofi_fid(ptr)				\
({						\
	typeof(ptr) __ptr = (ptr);		\
	__ptr ? &__ptr->fid : NULL;		\
})

/*
 * An object is opened in two steps, before and after the call of the provider.  The first
 * step, kofi_open_*(), allocates all memory.  The second step, kofi_opened(), takes the
 * provider's result and either completes the object or undoes the first step.  @caps: what
 * the object is opened with; those of an endpoint or context promise tables.
 */
struct kofi_obj *kofi_open_fabric(struct kofi_prov *prov,
				  const struct fi_fabric_attr *attr,
				  struct module *client);
struct kofi_obj *kofi_open_child(const char *call, struct fid *parent, u32 fclass,
				 const char *name, u64 caps);
int kofi_opened(struct kofi_obj *obj, struct fid *fid, int ret);

/*
 * Open an object on @parent, for the call @call of the client.  @open is the call of the provider,
 * which leaves the object in the variable new of this macro; *@out is set if that has succeeded.
 * 0 or a negative errno.  kofi_open() is for an object without a name and capabilities.
 */
#define kofi_open_with(call, parent, fclass, name, caps, out, open)	\
({									\
	struct kofi_obj *__obj;						\
	typeof(out) __out = (out);					\
	typeof(*__out) new = NULL;					\
	int __ret;							\
									\
	__obj = kofi_open_child(call, parent, fclass, name, caps);	\
	__ret = PTR_ERR_OR_ZERO(__obj);					\
	if (!__ret) {							\
		__ret = open;						\
		__ret = kofi_opened(__obj, kofi_fid(new), __ret);	\
	}								\
	if (!__ret)							\
		*__out = new;						\
	__ret;								\
})

#define kofi_open(call, parent, fclass, out, open)			\
	kofi_open_with(call, parent, fclass, NULL, 0, out, open)

/*
 * kofi_obj_use() counts one more user, and fails if the object is being closed;
 * kofi_obj_unuse() counts one less
 */
bool kofi_obj_use(struct kofi_obj *obj);
void kofi_obj_unuse(struct kofi_obj *obj);

extern struct mutex kofi_objects_lock;

int kofi_bind(const char *call, struct fid *fid, struct fid *bfid, u64 flags);
void kofi_unbind_all(struct kofi_obj *obj);

/* Refuses an @info that does not describe an object of the provider that @fid belongs to */
int kofi_check_info(const char *call, const struct fi_info *info, const struct fid *fid);

/*
 * kofi_check() refuses a malformed object of a provider (-EINVAL), and replaces tables
 * that are too short by longer copies (-ENOMEM).  @caps: capabilities that promise tables.
 */
int kofi_check(struct kofi_obj *obj, struct fid *fid, u64 caps);
void kofi_check_undo(struct kofi_obj *obj);
const char *kofi_class_name(size_t fclass);

/* Refuses an operation of a kind that the endpoint does not have, util/xfer.c; -ENOSYS */
int kofi_xfer_lacks(const struct fid *fid, const struct fi_xfer *xfer);

/* Traces a provider's answer to a control call and passes it on, trace.c */
long kofi_call(const char *call, const struct fid *fid, long ret);
void kofi_open_call(const struct kofi_obj *obj, const struct fid *fid, int ret);

/* The fabric that an object belongs to; a fabric: itself */
static inline const struct kofi_obj *kofi_fabric_of(const struct kofi_obj *obj)
{
	while (obj->parent)
		obj = obj->parent;
	return obj;
}

/*
 * Namespaces, net.c.  A fabric enters the list of its namespace when it is opened, and
 * leaves the list when it is freed, both under kofi_objects_lock.  fi_close() calls
 * kofi_root_begin() before ->close, and kofi_root_end() if ->close fails.  kofi_obj_get_net()
 * returns a reference to the namespace that an open object belongs to; NULL: it has gone, or @obj
 * is NULL.
 */
struct net *kofi_callers_net(void);
struct net *kofi_obj_get_net(const struct kofi_obj *obj);
void kofi_net_enter(struct kofi_root *root);
void kofi_net_leave(struct kofi_root *root);
void kofi_root_begin(struct kofi_root *root);
void kofi_root_end(struct kofi_root *root);
int kofi_nets_init(void);
void kofi_nets_exit(void);

/* From init to exit, the log names clients that are unloaded with open objects */
int kofi_objects_init(void);
void kofi_objects_exit(void);

/*
 * Looking at objects: kofi_obj_look() returns the oldest open object with an id above @after,
 * kofi_obj_look_on() the next object that was opened after @obj; NULL if there is none.  The
 * object that is returned stays until it is passed to kofi_obj_look_on() or to
 * kofi_obj_look_away().
 */
struct kofi_obj *kofi_obj_look(u64 after);
struct kofi_obj *kofi_obj_look_on(struct kofi_obj *obj);
void kofi_obj_look_away(struct kofi_obj *obj);

/* The state and the addresses of an object that is being looked at, cm.c */
void kofi_obj_stat(const struct kofi_obj *obj, struct kofi_stat *stat);

void kofi_debugfs_init(void);
void kofi_debugfs_exit(void);
int kofi_netlink_init(void);
void kofi_netlink_exit(void);

int kofi_sysfs_init(void);
void kofi_sysfs_exit(void);

/**
 * struct kofi_deadline - When a client's wait is over
 * @at: time of the deadline on the monotonic clock.  Not in jiffies: they stand still while
 *	a machine is held up and catch up afterwards, so the wait would be too short
 * @never: there is no deadline
 */
struct kofi_deadline {
	ktime_t	at;
	bool	never;
};

/* @timeout: milliseconds; negative: for ever */
static inline struct kofi_deadline kofi_deadline_in(int timeout)
{
	return (struct kofi_deadline) {
		.at	= ktime_add_ms(ktime_get(), timeout),
		.never	= timeout < 0,
	};
}

/* Jiffies, at least one before the deadline and 0 after it */
static inline long kofi_deadline_left(const struct kofi_deadline *deadline)
{
	s64 left;

	if (deadline->never)
		return MAX_SCHEDULE_TIMEOUT;
	left = ktime_to_ns(ktime_sub(deadline->at, ktime_get()));
	return left > 0 ? nsecs_to_jiffies(left) + 1 : 0;
}

/* eq.c: the workqueue that event handlers run on */
int kofi_eq_init(void);
void kofi_eq_exit(void);

/* ep.c: the workqueue that ready callbacks without a completion queue run on */
int kofi_ep_ready_init(void);
void kofi_ep_ready_exit(void);

#endif /* _KOFI_KOFI_H */
