/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device, the fabric and the domain, for all files of kofi_verbs.ko.  The headers define:
 *
 *	verbs_device	an RDMA device (device.c)
 *	verbs_fabric	a network namespace (id.c)
 *	verbs_domain	a protection domain on a device (domain.c)
 *   mr.h
 *	verbs_mr	a memory region (mr.c)
 *	verbs_reg	a domain's connection for registering memory (reg.c)
 *   queue.h
 *	verbs_cq	a kofi_cq on an ib_cq (cq.c)
 *	verbs_queue	one direction of an endpoint (slot.c)
 *	verbs_slot	an operation in flight (slot.c, done.c)
 *   cm.h
 *	verbs_pep	a listening rdma_cm_id (pep.c)
 *	verbs_connreq	a connection request without an endpoint yet (connreq.c)
 *   ep.h
 *	verbs_ep	an RC queue pair and its rdma_cm_id (ep.c, cm.c)
 *	verbs_srx	a receive queue that endpoints share (srx.c)
 *   sge.h
 *	verbs_map	elements for the device (sge.c)
 *   op.h
 *	verbs_call	what a work request cannot say about an operation (send.c, submit.c)
 *	verbs_part	one of several work requests of an operation (split.c)
 *	verbs_rw	fi_readsgl() or fi_writesgl() in progress (rw.c)
 *   save.h
 *	verbs_saves	an endpoint's part in making remote memory durable (save.c)
 *	verbs_save_end	an end of the control connection for that (save_end.c)
 */
#ifndef _KOFI_VERBS_H
#define _KOFI_VERBS_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <kofi/addr.h>
#include <kofi/compat.h>
#include <kofi/mr_map.h>
#include <kofi/provider.h>
#include <kofi/tclass.h>

#define VERBS_NAME		"verbs"
#define VERBS_VERSION		FI_VERSION(0, 1)

#define VERBS_DEF_QUEUE		128	/* default depth of a queue, operations */
#define VERBS_DEF_IOV		4	/* default elements of a list */
#define VERBS_MAX_IOV		16	/* most elements of a list; on the stack */
#define VERBS_MAX_INJECT	256	/* most bytes to inject; on the stack */

/* The kinds of objects on a device, in the order in which a removal strips them */
enum verbs_res_kind {
	VERBS_RES_PEP,
	VERBS_RES_EP,
	VERBS_RES_SRX,
	VERBS_RES_MR,
	VERBS_RES_CQ,
	VERBS_RES_DOMAIN,
	VERBS_NR_RES,
};

/**
 * struct verbs_res - Part of every object that uses a device
 * @entry: in the device's list of objects of this kind; if @taken, in that of shells
 * @ops: the functions of its kind
 * @taken: a task strips the object, or has stripped it
 * @stripped: that task is done, and the object can be closed
 * @ended: the removal has called ->end, or is doing so
 */
struct verbs_res {
	struct list_head		entry;
	const struct verbs_res_ops	*ops;
	bool				taken;
	bool				stripped;
	bool				ended;
};

/**
 * struct verbs_res_ops - What a kind of object does when its device is removed
 * @kind: the kind
 * @report: lets nothing begin any more, and reports -ENODEV; or NULL; may be called twice
 * @halt: ends what is in progress, after all objects have reported; or NULL; may be called twice
 * @strip: releases all that is the device's, which no other code uses any more; also part of
 *	fi_close().  Waits for no client
 * @end: called after the removal has stripped all objects that are not closed; or NULL
 */
struct verbs_res_ops {
	enum verbs_res_kind	kind;
	void			(*report)(struct verbs_res *res);
	void			(*halt)(struct verbs_res *res);
	void			(*strip)(struct verbs_res *res);
	void			(*end)(struct verbs_res *res);
};

/**
 * enum verbs_last_wqe - Does a device report IB_EVENT_QP_LAST_WQE_REACHED?  See srx.c
 * @VERBS_LAST_WQE_UNKNOWN: not known yet
 * @VERBS_LAST_WQE_REPORTED: it has reported the event once
 * @VERBS_LAST_WQE_MISSED: a queue pair was drained, and the event did not come
 */
enum verbs_last_wqe {
	VERBS_LAST_WQE_UNKNOWN,
	VERBS_LAST_WQE_REPORTED,
	VERBS_LAST_WQE_MISSED,
};

/**
 * struct verbs_device - An RDMA device; the structure outlives the removal of @ibdev
 * @entry: in the list of devices
 * @ibdev: the device; valid only within verbs_device_enter() or verbs_device_hold(), and while
 *	an object is being stripped
 * @max_msg_size: bytes of the longest message
 * @atomics: the driver takes atomics, and registrations for them (probe.c)
 * @last_wqe: see &enum verbs_last_wqe; written without a lock
 * @drain_until: when a removal stops waiting for the event of @last_wqe, for all queue pairs,
 *	in jiffies
 * @refs: references of the list, and of each pointer to this structure
 * @calls: calls that use @ibdev; the removal kills it
 * @idle: completed when the last of @calls has returned
 * @lock: guards @resources, @shells, @stripping, and the rest of &struct verbs_res
 * @resources: the objects on the device, by kind
 * @shells: the objects that have been taken, and are not closed
 * @stripping: how many objects are being stripped
 * @strip_wait: woken when one of them is stripped
 */
struct verbs_device {
	struct list_head	entry;
	struct ib_device	*ibdev;
	u32			max_msg_size;
	bool			atomics;
	enum verbs_last_wqe	last_wqe;
	unsigned long		drain_until;
	refcount_t		refs;
	struct percpu_ref	calls;
	struct completion	idle;
	struct mutex		lock;		/* see above */
	struct list_head	resources[VERBS_NR_RES];
	struct list_head	shells;
	unsigned int		stripping;
	wait_queue_head_t	strip_wait;
};

/**
 * struct verbs_fabric - A network namespace to look addresses up in
 * @fabric: the client's part
 * @lock: guards @net
 * @net: the namespace, without a reference; NULL: the namespace has gone
 */
struct verbs_fabric {
	struct fid_fabric	fabric;
	spinlock_t		lock;		/* of net */
	struct net		*net;
};

struct verbs_reg;

/**
 * struct verbs_domain - A protection domain on a device
 * @domain: the client's part
 * @fabric: parent
 * @dev: the device
 * @pd: the protection domain
 * @dma_device: the struct device that memory is mapped for, with a reference; or NULL
 * @src: the device's address that the client has chosen; family 0: none
 * @reg_lock: guards @reg and its use
 * @reg: the registration connection (reg.c); NULL: not needed yet
 * @reg_wait: the holder of @reg_lock waits here for a step of @reg
 * @next_key: its low byte is the variable byte of the last key
 * @tclass: FI_TC_* of endpoints that name none
 * @hmem: opened with FI_HMEM: regions and rw operations may consist of pages of PCI devices
 * @peer_lists: every list of local buffers may consist of such pages (peer.c)
 * @save_lock: guards @savers and @save_listener (save_serve.c)
 * @savers: endpoints with FI_RMA_PMEM, &struct verbs_saves
 * @save_listener: where their peers connect to save; NULL: there was no such endpoint yet
 * @saved: regions with FI_RMA_PMEM, by the key of the device
 * @res: in the list of @dev
 */
struct verbs_domain {
	struct fid_domain	domain;
	struct verbs_fabric	*fabric;
	struct verbs_device	*dev;
	struct ib_pd		*pd;
	struct device		*dma_device;
	struct sockaddr_storage	src;
	struct mutex		reg_lock;	/* of reg */
	struct verbs_reg	*reg;
	wait_queue_head_t	reg_wait;
	atomic_t		next_key;
	u32			tclass;
	bool			hmem;
	bool			peer_lists;
	struct mutex		save_lock;	/* see above */
	struct list_head	savers;
	struct rdma_cm_id	*save_listener;
	struct kofi_mr_map	saved;
	struct verbs_res	res;
};

/* wq.c */
extern struct workqueue_struct *verbs_wq;
extern struct workqueue_struct *verbs_drain_wq;
extern struct workqueue_struct *verbs_save_wq;
int verbs_wqs_init(void);
void verbs_wqs_exit(void);

/* device.c */
int verbs_devices_init(void (*drop)(const struct ib_device *ibdev));
void verbs_devices_exit(void);
struct verbs_device *verbs_device_find(const struct ib_device *ibdev);
struct verbs_device *verbs_device_find_by_name(const char *name);
int verbs_device_enter(struct verbs_device *dev);
void verbs_device_leave(struct verbs_device *dev);
void verbs_device_get(struct verbs_device *dev);
void verbs_device_put(struct verbs_device *dev);
unsigned long verbs_last_wqe_until(const struct verbs_device *dev);
void verbs_res_add(struct verbs_device *dev, struct verbs_res *res,
		   const struct verbs_res_ops *ops);
bool verbs_res_take(struct verbs_device *dev, struct verbs_res *res);
void verbs_res_give_back(struct verbs_device *dev, struct verbs_res *res);
void verbs_res_done(struct verbs_device *dev, struct verbs_res *res);
long verbs_res_await(struct verbs_device *dev, struct verbs_res *res, long timeout);
void verbs_res_strip(struct verbs_device *dev, struct verbs_res *res);
void verbs_res_strip_in_use(struct verbs_device *dev, struct verbs_res *res);
void verbs_res_del(struct verbs_device *dev, struct verbs_res *res);

/* ep.c */
int verbs_eps_init(void);
void verbs_eps_exit(void);

/* probe.c */
void verbs_probe(struct verbs_device *dev);

/* tclass.c */
u32 verbs_tclass_of_id(const struct rdma_cm_id *id);

/* limits.c; more are in mr.h and ep.h */
size_t verbs_tx_iov_max(const struct ib_device *ibdev);

/* info.c, nic.c */
struct fi_info *verbs_info_build(struct verbs_device *dev, u32 port,
				 const struct sockaddr_storage *src,
				 const struct sockaddr_storage *dest,
				 const struct fi_info *hints);
struct fi_info *verbs_info_with_nic(struct fi_info *info,
				    struct ib_device *ibdev, u32 port,
				    const struct ib_port_attr *attr);
int verbs_getinfo(u32 version, const char *node, const int service, u64 flags,
		  struct fi_info *hints, struct fi_info **info);

/* domain.c */
int verbs_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		      void *context);

/* id.c */
void verbs_net_exit(struct fid_fabric *fabric);
struct net *verbs_get_net(struct verbs_fabric *fabric);
struct rdma_cm_id *verbs_create_id(struct verbs_fabric *fabric,
				   rdma_cm_event_handler handler,
				   void *context);
struct sockaddr_storage verbs_id_src(const struct rdma_cm_id *id);
struct sockaddr_storage verbs_id_dest(const struct rdma_cm_id *id);

/* errno.c */
int verbs_wc_errno(enum ib_wc_status status, bool receive);
int verbs_peer_errno(const struct verbs_device *dev, int ret);
const char *verbs_cq_strerror(int prov_errno);
const char *verbs_eq_strerror(int prov_errno);

static inline struct verbs_fabric *to_verbs_fabric(struct fid_fabric *fabric)
{
	return container_of(fabric, struct verbs_fabric, fabric);
}

static inline struct verbs_domain *to_verbs_domain(struct fid_domain *domain)
{
	return container_of(domain, struct verbs_domain, domain);
}

/* Enter the device of a domain; see verbs_device_enter() */
static inline int verbs_domain_enter(struct verbs_domain *domain)
{
	return verbs_device_enter(domain->dev);
}

static inline void verbs_domain_leave(struct verbs_domain *domain)
{
	verbs_device_leave(domain->dev);
}

/* Has the removal of the device begun?  The caller has entered the device, or holds it */
static inline bool verbs_device_going(struct verbs_device *dev)
{
	return percpu_ref_is_dying(&dev->calls);
}

/*
 * Keeps the device from the check of an endpoint's state to the doorbell: synchronize_rcu() in
 * verbs_device_remove() also waits for code that cannot be preempted.  PREEMPT_RT uses
 * rcu_read_lock() instead, because a driver may sleep on a spin lock there.
 */
static inline void verbs_device_hold(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		preempt_disable();
}

static inline void verbs_device_release(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		preempt_enable();
}

static inline bool verbs_is_iwarp(const struct ib_device *ibdev)
{
	return rdma_protocol_iwarp(ibdev, rdma_start_port(ibdev));
}

/* "rdma resource show" would name rdma_cm, which calls ib_create_qp(), as the owner */
static inline void verbs_qp_name(struct ib_qp *qp)
{
	WRITE_ONCE(qp->res.kern_name, KBUILD_MODNAME);
}

#endif /* _KOFI_VERBS_H */
