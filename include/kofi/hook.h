/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks: providers that stand on one other provider, object by object, and see every
 * call on its way.
 *
 *	static struct fi_ops_xfer foo_xfer;
 *
 *	static const struct kofi_hook foo_hook = {
 *		.provider	= &foo_provider,	name "ofi_hook_foo"
 *		.xfer		= &foo_xfer,
 *	};
 *
 *	In module init: what it does itself, and the rest forwarded
 *		foo_xfer = kofi_hook_xfer;
 *		foo_xfer.send = foo_send;
 *
 *	static int foo_getinfo(u32 version, const char *node, const int service,
 *			       u64 flags, struct fi_info *hints,
 *			       struct fi_info **info)
 *	{
 *		return kofi_hook_getinfo(&foo_hook, version, node, service,
 *					 flags, hints, info);
 *	}
 *
 *	static int foo_fabric(struct fi_fabric_attr *attr,
 *			      struct fid_fabric **fabric, void *context)
 *	{
 *		return kofi_hook_fabric(&foo_hook, attr, fabric, context);
 *	}
 *
 * ->freeinfo is fi_freeinfo().  Clients get the hook by name only: "verbs;ofi_hook_foo".
 *
 * Every call that a hook does not implement itself is forwarded to the lower object, with
 * lower objects in the place of upper ones among its arguments; in its results upper objects
 * take the place of lower ones.  foo_send() calls kofi_hook_xfer.send() to forward the call.
 *
 * Not forwarded (-ENOSYS): fi_ep_alias(), fi_open_ops() and fi_set_ops(), whose results
 * would work on lower objects.
 */
#ifndef _KOFI_HOOK_H
#define _KOFI_HOOK_H

#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <kofi/cq.h>
#include <kofi/eq.h>
#include <kofi/provider.h>
#include <rdma/fi_cm.h>

struct kofi_hook_fabric;
struct kofi_hook_obj;

/* What a data transfer does, after enum fi_op_type; see kofi_hook_op() */
enum kofi_hook_op {
	KOFI_HOOK_INJECT = FI_OP_COMPARE_ATOMIC + 1,
	KOFI_HOOK_TINJECT,
	KOFI_HOOK_INJECT_WRITE,
	KOFI_HOOK_INJECT_ATOMIC,
	KOFI_HOOK_OPS,
};

/**
 * struct kofi_hook - A hook; the tables that it leaves out are forwarded as a whole
 *
 * With @begin, the hook sees data transfers by their descriptions, in place of a table of its
 * own.  The functions behind the tables are optional, @begin and @end only together.
 *
 * @provider: the hook's provider
 * @cm: connections of endpoints and passive endpoints
 * @xfer: data transfers
 * @eq: event queues
 * @cq: completion queues
 * @cntr: counters
 * @caps: capabilities that the hook has by itself: its results have them, and the provider
 *	below is never asked for them
 * @ep_size: bytes of an endpoint of any kind, or context, of the hook, which begins with its
 *	&struct kofi_hook_obj; 0: it is just that
 * @cq_size: bytes of a completion queue, as @ep_size
 * @mr_size: bytes of a region, as @ep_size
 * @opens: the client opens an object of this class, of FI_CLASS_DOMAIN or below; an error
 *	is the client's.  May sleep
 * @init: sets up what an endpoint or completion queue has beyond &struct kofi_hook_obj.
 *	May sleep
 * @getopt: get an option of an endpoint that is the hook's own; -ENOPROTOOPT: it is none of
 *	the hook's, and the provider below is asked
 * @setopt: set such an option, as @getopt
 * @reg: a region is registered, by whichever call; the provider below will get @attr and
 *	@flags, which may be changed.  An error is the client's.  May sleep
 * @unreg: the lower region was closed, or could not be opened, or @reg has refused.
 *	Fields that @reg has not set are zero.  May sleep
 * @stop: an endpoint or completion queue is about to be closed; nothing of the hook's own
 *	runs on its behalf any more.  An error is the client's, and nothing has changed.
 *	May sleep
 * @resume: the provider below has refused to close the object that was stopped
 * @begin: a data transfer comes; a value other than 0 is the answer to the client, and
 *	the provider below is not called.  @state is 0, and the hook's until @end.  Any context
 * @end: the call has been answered, by @begin or by the provider below; returns the
 *	answer.  The operation may have completed.  Any context
 * @ready: the endpoint below calls ->ready of &struct fi_ep_callbacks; false: the client
 *	is not called.  In the context of that call
 * @complete: as ->complete of &struct kofi_cq_tap
 * @flush: as ->flush of &struct kofi_cq_tap
 */
struct kofi_hook {
	const struct kofi_provider	*provider;
	const struct fi_ops_cm		*cm;
	const struct fi_ops_xfer	*xfer;
	const struct fi_ops_eq		*eq;
	const struct fi_ops_cq		*cq;
	const struct fi_ops_cntr	*cntr;
	u64				caps;
	size_t				ep_size;
	size_t				cq_size;
	size_t				mr_size;
	int	(*opens)(u32 fclass);
	void	(*init)(struct kofi_hook_obj *obj);
	int	(*getopt)(struct kofi_hook_obj *ep, int optname, void *optval,
			  size_t *optlen);
	int	(*setopt)(struct kofi_hook_obj *ep, int optname, const void *optval,
			  size_t optlen);
	int	(*reg)(struct kofi_hook_obj *mr, struct fi_mr_attr *attr, u64 *flags);
	void	(*unreg)(struct kofi_hook_obj *mr);
	int	(*stop)(struct kofi_hook_obj *obj);
	void	(*resume)(struct kofi_hook_obj *obj);
	ssize_t	(*begin)(struct kofi_hook_obj *ep, const struct fi_xfer *xfer,
			 u64 *state);
	ssize_t	(*end)(struct kofi_hook_obj *ep, const struct fi_xfer *xfer,
		       u64 state, ssize_t ret);
	bool	(*ready)(struct kofi_hook_obj *ep, u64 flags);
	bool	(*complete)(struct kofi_hook_obj *cq, struct kofi_comp *comp);
	void	(*flush)(struct kofi_hook_obj *cq);
};

/**
 * struct kofi_hook_obj - An object of a hook, above one of the lower provider
 * @fid: what the client sees
 * @lower: the object below, as a class of its own
 * @root: its fabric
 * @entry: in the objects of @root, found by @lower
 * @cq_handler: the client's, of a queue that has one
 * @queue: of a completion queue of a hook with ->complete: the lowest queue
 * @tap: the tap that sees completions of @queue
 * @eq_handler: the client's, of a queue that has one
 * @eq_tap: of an event queue: puts objects of @root into events of the lowest queue
 * @ep_callbacks: the client's, of an endpoint
 * @caps: capabilities that a domain, endpoint or passive endpoint was opened with; a region
 *	has its domain's
 * @tx: completion queue that is bound to an endpoint for its transmit side, or NULL
 * @rx: completion queue that is bound to an endpoint for its receive side, or NULL
 */
struct kofi_hook_obj {
	union {
		struct fid		fid;
		/* private: @fid, as a class of its own */
		struct fid_fabric	fabric;
		struct fid_domain	domain;
		struct fid_ep		ep;
		struct fid_pep		pep;
		struct fid_stx		stx;
		struct fid_mc		mc;
		struct fid_mr		mr;
		struct fid_eq		eq;
		struct fid_cq		cq;
		struct fid_cntr		cntr;
		struct fid_av		av;
		/* public: */
	};
	union {
		struct fid		*fid;
		struct fid_fabric	*fabric;
		struct fid_domain	*domain;
		struct fid_ep		*ep;
		struct fid_pep		*pep;
		struct fid_stx		*stx;
		struct fid_mc		*mc;
		struct fid_mr		*mr;
		struct fid_eq		*eq;
		struct fid_cq		*cq;
		struct fid_cntr		*cntr;
		struct fid_av		*av;
	} lower;
	struct kofi_hook_fabric		*root;
	struct hlist_node		entry;
	union {
		struct {
			void	(*cq_handler)(struct fid_cq *cq, void *context);
			struct kofi_cq		*queue;
			struct kofi_cq_tap	tap;
		};
		struct {
			void	(*eq_handler)(struct fid_eq *eq, void *context);
			struct kofi_eq_tap	eq_tap;
		};
		struct {
			struct fi_ep_callbacks	ep_callbacks;
			u64			caps;
			struct kofi_hook_obj	*tx;
			struct kofi_hook_obj	*rx;
		};
	};
};

/**
 * struct kofi_hook_fabric - A fabric of a hook
 * @obj: the object
 * @hook: the hook
 * @prov_name: "verbs;ofi_hook_foo"
 * @lock: guards @objs
 * @objs: all objects below it, found by their lower ones
 */
struct kofi_hook_fabric {
	struct kofi_hook_obj		obj;
	const struct kofi_hook		*hook;
	char				*prov_name;
	spinlock_t			lock;	/* see above */
	DECLARE_HASHTABLE(objs, 6);
};

static inline struct kofi_hook_obj *to_kofi_hook_obj(struct fid *fid)
{
	return container_of(fid, struct kofi_hook_obj, fid);
}

/* The endpoint below, for a hook that calls it itself */
static inline struct fid_ep *kofi_hook_lower_ep(struct fid_ep *ep)
{
	return to_kofi_hook_obj(&ep->fid)->lower.ep;
}

/**
 * kofi_hook_getinfo() - ->getinfo of a hook
 * @hook: the hook
 * @version: as ->getinfo
 * @node: as ->getinfo
 * @service: as ->getinfo
 * @flags: as ->getinfo
 * @hints: as ->getinfo
 * @info: as ->getinfo; fi_freeinfo() it
 *
 * Context: may sleep.
 * Return: 0, without results if @hints do not name the hook; or an error of
 * kofi_lower_getinfo().
 */
int kofi_hook_getinfo(const struct kofi_hook *hook, u32 version,
		      const char *node, int service, u64 flags,
		      const struct fi_info *hints, struct fi_info **info);

/**
 * kofi_hook_fabric() - ->fabric of a hook
 * @hook: the hook
 * @attr: as ->fabric
 * @fabric: as ->fabric
 * @context: as ->fabric
 *
 * Context: may sleep.
 * Return: as kofi_lower_fabric(); -ENOMEM.
 */
int kofi_hook_fabric(const struct kofi_hook *hook,
		     const struct fi_fabric_attr *attr,
		     struct fid_fabric **fabric, void *context);

/**
 * kofi_hook_len() - How much a data transfer transfers
 * @xfer: the transfer
 *
 * Context: any.
 * Return: bytes, or values of an atomic; 0 if the list makes no sense.
 */
size_t kofi_hook_len(const struct fi_xfer *xfer);

/**
 * kofi_hook_op() - What a data transfer does, calls that inject by their name apart
 * @xfer: the transfer
 *
 * Context: any.
 * Return: &enum fi_op_type, or &enum kofi_hook_op for fi_inject() and its siblings.
 */
static inline unsigned int kofi_hook_op(const struct fi_xfer *xfer)
{
	if (!xfer->defaults || !(xfer->flags & FI_INJECT))
		return xfer->type;
	switch (xfer->type) {
	case FI_OP_SEND:
		return KOFI_HOOK_INJECT;
	case FI_OP_TSEND:
		return KOFI_HOOK_TINJECT;
	case FI_OP_WRITE:
		return KOFI_HOOK_INJECT_WRITE;
	default:
		return KOFI_HOOK_INJECT_ATOMIC;
	}
}

/* The forwarding tables */
extern const struct fi_ops_cm		kofi_hook_cm;
extern const struct fi_ops_xfer		kofi_hook_xfer;
extern const struct fi_ops_eq		kofi_hook_eq;
extern const struct fi_ops_cq		kofi_hook_cq;
extern const struct fi_ops_cntr		kofi_hook_cntr;

#endif /* _KOFI_HOOK_H */
