/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What suites share that are clients: objects, connections of a case with itself,
 * completions, whatever the provider.  They are in kofi_client.ko.
 *
 * vt_init() and vt_exit() frame each case.  A case opens what it needs with the
 * calls below; vt_exit() closes whatever is still open, newest first, and fails
 * the case if one of these closes fails.  Memory from kunit_kzalloc() outlives
 * the objects, so posted buffers may come from there.
 *
 * Everything belongs to the thread of the case.  Handlers of queues touch their
 * struct vt_cq only.
 */
#ifndef _KUNIT_CLIENT_H
#define _KUNIT_CLIENT_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <kunit/test.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "bed.h"
#include "patience.h"

#define VT_API		FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
/* Connection data of any provider, at most */
#define VT_EVENT_DATA	256

/**
 * struct vt_kind - Kind of completion queue
 * @name: of the kind, for parameterised cases
 * @wait_obj: as in &struct fi_cq_attr
 * @comp_ctx: the same
 * @format: the same
 */
struct vt_kind {
	const char		*name;
	enum fi_wait_obj	wait_obj;
	enum fi_comp_ctx	comp_ctx;
	enum fi_cq_format	format;
};

/* Sleeping reader, DATA format: what most cases use */
extern const struct vt_kind vt_default_kind;

/**
 * struct vt_cq - A completion queue and what its handler tells
 * @cq: the queue
 * @kind: as opened
 * @event: completed by the handler
 * @calls: how often the handler was called
 * @in_task: the last time in process context
 * @empties: how often vt_wait() found a queue with a handler empty
 */
struct vt_cq {
	struct fid_cq		*cq;
	const struct vt_kind	*kind;
	struct completion	event;
	atomic_t		calls;
	bool			in_task;
	int			empties;
};

/**
 * struct vt_comp - A completion in whatever format, or an error
 * @context: of the operation
 * @flags: 0 if the format has none, like the rest
 * @len: bytes received
 * @buf: buffer of a receive
 * @data: remote CQ data
 * @tag: tag
 * @err: positive error code
 * @prov_errno: of the error
 * @src_addr: of the error: the peer
 */
struct vt_comp {
	void	*context;
	u64	flags;
	size_t	len;
	void	*buf;
	u64	data;
	u64	tag;
	int	err;
	int	prov_errno;
	fi_addr_t src_addr;
};

/**
 * struct vt - A case
 * @info: the local address in use
 * @fabric: fabric of @info
 * @domain: domain of @info
 * @eq: event queue of @pep
 * @pep: listens on @info's address, any port
 * @name: where @pep listens
 * @name_len: bytes of @name
 * @fids: struct vt_fid, newest first
 */
struct vt {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_pep		*pep;
	struct sockaddr_storage	name;
	size_t			name_len;
	struct list_head	fids;
};

/**
 * struct vt_end - One end of a connection, or an endpoint without connections
 * @info: what its endpoint was opened with
 * @eq: its event queue; NULL: it has no connections
 * @av: its address vector; NULL: it has connections
 * @tx: completions of its sends
 * @rx: completions of its receives; the same as @tx unless set before
 * @bind_flags: FI_SELECTIVE_COMPLETION, or 0
 * @cntrs: counters, as far as they are set before
 * @srx: the shared receive context it uses, if set before
 * @rw_ops: FI_OPT_MAX_RW_OPS, if set before
 * @callbacks: FI_OPT_CALLBACKS, if set before
 * @may_sleep: FI_OPT_MAY_SLEEP, if set before
 * @ep: the endpoint
 * @qpn: its queue pair, in suites that make their device
 */
struct vt_end {
	struct fi_info		*info;
	struct fid_eq		*eq;
	struct fid_av		*av;
	struct vt_cq		*tx;
	struct vt_cq		*rx;
	u64			bind_flags;
	struct tb_cntr		cntrs[TB_CNTRS];
	struct fid_ep		*srx;
	size_t			rw_ops;
	const struct fi_ep_callbacks *callbacks;
	int			may_sleep;
	struct fid_ep		*ep;
	u32			qpn;
};

/* @a connected, @b accepted; or they are address 0 of each other */
struct vt_pair {
	struct vt_end a, b;
};

/* An event and room for all connection data */
union vt_event {
	struct fi_eq_cm_entry	cm;
	struct fi_eq_entry	entry;
	u8			raw[sizeof(struct fi_eq_cm_entry) + VT_EVENT_DATA];
};

static inline struct vt *vt_of(struct kunit *test)
{
	return test->priv;
}

/* Endpoints of this kind have no connections */
static inline bool vt_is_rdm(const struct fi_info *info)
{
	return info->ep_attr->type == FI_EP_RDM;
}

/* Where its receives are posted */
static inline struct fid_ep *vt_rx(const struct vt_end *end)
{
	return end->srx ?: end->ep;
}

/* Calls leave the task of the case as it was, which may allocate as it likes */
static inline void vt_expect_no_frame(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, current->flags & (PF_MEMALLOC | PF_MEMALLOC_NOIO));
}

/* client.c: the case */
int vt_init(struct kunit *test);
void vt_exit(struct kunit *test);
void vt_adopt(struct kunit *test, struct fid *fid);
void vt_close(struct kunit *test, struct fid *fid);
/* The case has closed the object by fi_close() */
void vt_closed(struct kunit *test, const struct fid *fid);
void vt_free_later(struct kunit *test, struct fi_info *info);
/* A copy, which is freed with the case */
struct fi_info *vt_dup(struct kunit *test, const struct fi_info *info);
/* Hints for a provider, which are freed with the case */
struct fi_info *vt_allocinfo(struct kunit *test, const char *prov);

/* client.c: objects */
/* Fabric and domain of an info, which becomes the case's */
void vt_open_info(struct kunit *test, struct fi_info *info);
struct fid_eq *vt_eq(struct kunit *test, size_t size);
struct vt_cq *vt_cq(struct kunit *test, const struct vt_kind *kind,
		    size_t size);
struct fid_ep *vt_ep(struct kunit *test, struct fi_info *info);
void vt_listen(struct kunit *test, struct fid_eq *eq);
/* A region of the case's domain */
struct fid_mr *vt_reg(struct kunit *test, void *buf, size_t len, u64 access);

/* rdm.c: endpoints without connections */
struct fid_av *vt_av(struct kunit *test, u64 flags);
/* Inserts the address of another end; returns what it has become */
fi_addr_t vt_know(struct kunit *test, struct vt_end *end,
		  const struct vt_end *other);
/* The first addresses that both insert */
void vt_meet(struct kunit *test, struct vt_pair *pair);

/* conn.c: connections */
/*
 * The queues, as far as they are not set, and what else an endpoint needs.  They come
 * first, as what is opened last is closed first.
 */
void vt_end_queues(struct kunit *test, struct vt_end *end,
		   struct fi_info *info, const struct vt_kind *kind);
void vt_end_open(struct kunit *test, struct vt_end *end, struct fi_info *info,
		 const struct vt_kind *kind);
void vt_end_close(struct kunit *test, struct vt_end *end);
void vt_client(struct kunit *test, struct vt_end *end,
	       const struct vt_kind *kind);
void vt_connect(struct kunit *test, struct vt_end *end, const void *data,
		size_t len);
/* @event may be NULL */
size_t vt_event(struct kunit *test, struct fid_eq *eq, u32 want,
		union vt_event *event);
/* Without a buffer in @error for its data, that is where the queue has it */
void vt_error(struct kunit *test, struct fid_eq *eq,
	      struct fi_eq_err_entry *error);
void vt_no_event(struct kunit *test, struct fid_eq *eq);
/* And none comes for so many milliseconds */
void vt_no_event_for(struct kunit *test, struct fid_eq *eq, int ms);
/* The info of the next request; @event may be NULL */
struct fi_info *vt_connreq(struct kunit *test, union vt_event *event);
void vt_accept(struct kunit *test, struct vt_end *end, const void *data,
	       size_t len);
/* Opens the end, and asks for a connection; returns the request */
struct fi_info *vt_dial(struct kunit *test, struct vt_end *end);
/* Binds an endpoint that is open to its queues, and sets its options */
void vt_end_bind(struct kunit *test, struct vt_end *end);
/* The same, and enables it */
void vt_end_enable(struct kunit *test, struct vt_end *end,
		   const struct vt_kind *kind);
/* Connects the ends, or has them meet; queues that are set in them are used */
void vt_join(struct kunit *test, struct vt_pair *pair,
	     const struct vt_kind *kind);
void vt_pair_close(struct kunit *test, struct vt_pair *pair);
/* What an object says of itself (kofi/stat.h); the case fails if it does not say that */
u64 vt_stat(struct kunit *test, struct fid *fid, const char *name);
/* One message from one end to the other arrives */
void vt_ping(struct kunit *test, struct vt_end *from, struct vt_end *to);

/* netns.c: what user space does for a case; the status of wait(), or a negative errno */
int vt_shell(const char *command);

/* comp.c: completions and contents */
struct vt_cq *vt_cq_new(struct kunit *test, struct fid_domain *domain,
			const struct fi_cq_attr *attr,
			const struct vt_kind *kind);
int vt_wait(struct vt_cq *cq, struct vt_comp *comp);
/* The next completion, which must be a success of this operation */
struct vt_comp vt_done(struct kunit *test, struct vt_cq *cq, void *context);
/* The next completion, which must be an error */
struct vt_comp vt_failed(struct kunit *test, struct vt_cq *cq);
/* And of this operation, with this code */
struct vt_comp vt_failed_with(struct kunit *test, struct vt_cq *cq, void *context, int err);
void vt_none(struct kunit *test, struct vt_cq *cq);
/* Zeroes, of kmalloc(), until the case ends */
void *vt_buf(struct kunit *test, size_t len);
void vt_fill(void *buf, size_t len, u8 seed);
bool vt_filled(const void *buf, size_t len, u8 seed);
void vt_recv(struct kunit *test, struct vt_end *end, void *buf, size_t len,
	     void *context);
/* To address 0, the peer */
void vt_send(struct kunit *test, struct vt_end *end, const void *buf, size_t len, void *context);

/* Operations are told apart by numbers */
static inline void *vt_ctx(unsigned long nr)
{
	return (void *)nr;
}

#endif /* _KUNIT_CLIENT_H */
