/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A provider that is kept outside kOFI's tree: connected endpoints inside one kernel, with
 * messages and remote memory access, on addresses of IPv4.
 *
 * Built with the headers of kofi-dev alone; Documentation/provider-guide.rst explains it.
 *
 * Locks, from the outside to the inside:
 *
 *	ex_lock			mutex: names, connections, requests
 *	kofi_soft_ep.lock	the posted operations of an endpoint, and its peer
 */
#ifndef _EXAMPLE_H
#define _EXAMPLE_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <kofi/addr.h>
#include <kofi/connreq.h>
#include <kofi/soft.h>

#define EX_NAME		"example"
#define EX_PROTO	0x80000002	/* a protocol of this provider's own */
#define EX_MAX_MSG	SZ_1G
#define EX_MAX_QUEUE	1024
#define EX_QUEUE	64
#define EX_CM_DATA	64
#define EX_CONNECT_MS	60000
#define EX_MR_MODE	(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY)

/**
 * struct ex_name - An address that is taken
 * @entry: in the list of all names, while it is taken
 * @net: its namespace
 * @addr: the address
 */
struct ex_name {
	struct list_head	entry;
	struct net		*net;
	struct sockaddr_storage	addr;
};

struct ex_req;

/**
 * struct ex_ep - An endpoint
 * @soft: the common part
 * @name: its address
 * @peer: at the other end of the connection, with a reference; NULL: there is none.
 *	Written under ex_lock and soft.lock
 * @req: request that it was opened with, until accepted; guarded by ex_lock
 * @asks: its own request, until answered; guarded by ex_lock
 * @cm_data: connection data of the peer
 */
struct ex_ep {
	struct kofi_soft_ep	soft;
	struct ex_name		name;
	struct ex_ep		*peer;
	struct ex_req		*req;
	struct ex_req		*asks;
	u8			cm_data[EX_CM_DATA];
};

/**
 * struct ex_pep - A listener
 * @soft: the common part
 * @name: its address
 */
struct ex_pep {
	struct kofi_soft_pep	soft;
	struct ex_name		name;
};

/**
 * struct ex_req - A connection request
 * @req: its handle and event
 * @active: the endpoint that connects; NULL: it has gone
 * @net: namespace that the request came to
 * @data: connection data
 */
struct ex_req {
	struct kofi_connreq	req;
	struct ex_ep		*active;
	struct net		*net;
	u8			data[EX_CM_DATA];
};

/* main.c */
extern struct kofi_soft_type ex_type;
extern struct mutex ex_lock;

/* info.c */
int ex_getinfo(u32 version, const char *node, const int service, u64 flags,
	       struct fi_info *hints, struct fi_info **info);

/* ep.c */
extern const struct kofi_ep_limits ex_limits;
extern const struct kofi_srx_ops ex_srx_ops;

int ex_endpoint(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context);
void ex_end(struct ex_ep *ep);
void ex_event_room(struct kofi_soft_ep *soft);
void ex_work(struct work_struct *work);
void ex_free(struct kofi_soft_ep *soft);

/* cm.c */
extern const struct fi_ops_cm ex_cm_ops;

int ex_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		  struct fid_pep **pep, void *context);
int ex_name_claim(struct ex_name *name, struct net *net,
		  const struct sockaddr_storage *addr);
void ex_name_drop(struct ex_name *name);
int ex_req_adopt(struct ex_ep *ep, fid_t handle);
void ex_reqs_exit(void);
void ex_connect_late(struct work_struct *work);
void ex_shut(struct kofi_soft_ep *soft, int err);
void ex_gone(struct kofi_soft_ep *soft);
void ex_close(struct kofi_soft_ep *soft);

static inline struct ex_ep *to_ex_ep(struct kofi_soft_ep *soft)
{
	return container_of(soft, struct ex_ep, soft);
}

static inline struct ex_ep *fid_to_ex_ep(struct fid *fid)
{
	return to_ex_ep(to_kofi_soft_ep(fid));
}

#endif /* _EXAMPLE_H */
