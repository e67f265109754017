/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The test bed: from a fabric to endpoints that are enabled and know each other, without
 * struct kunit.
 *
 * Each function returns an errno, and leaves what it has opened until then where its argument
 * says; tb_end_close() and tb_close() close what there is.  So a caller closes after any result.
 * What runs where there is no KUnit, or where a call may fail on purpose, has it from here;
 * client.h has it for cases, which assert that it succeeds.
 */
#ifndef _KUNIT_BED_H
#define _KUNIT_BED_H

#include <linux/kernel.h>
#include <linux/socket.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

/* Counters of an endpoint, at most */
#define TB_CNTRS	3

/**
 * struct tb - What endpoints are opened on
 * @fabric: fabric of an info
 * @eq: an event queue
 * @domain: domain of the info
 * @pep: listens; its events are in @eq
 * @name: where @pep listens
 * @name_len: bytes of @name
 */
struct tb {
	struct fid_fabric	*fabric;
	struct fid_eq		*eq;
	struct fid_domain	*domain;
	struct fid_pep		*pep;
	struct sockaddr_storage	name;
	size_t			name_len;
};

/* A counter, and what it is bound for */
struct tb_cntr {
	struct fid_cntr	*cntr;
	u64		flags;
};

/**
 * struct tb_end - An endpoint, with what it is bound to and what is set before it is enabled
 * @ep: the endpoint
 * @context: its context
 * @eq: its event queue; NULL: it has no connections
 * @av: its address vector; NULL: it has connections
 * @tx: completions of its sends
 * @rx: completions of its receives; NULL: the same as @tx
 * @bind_flags: FI_SELECTIVE_COMPLETION, or 0
 * @cntrs: counters, up to the first without one
 * @srx: the shared receive context it uses, or NULL
 * @rw_ops: FI_OPT_MAX_RW_OPS, or 0
 * @callbacks: FI_OPT_CALLBACKS, or NULL
 * @may_sleep: FI_OPT_MAY_SLEEP
 */
struct tb_end {
	struct fid_ep			*ep;
	void				*context;
	struct fid_eq			*eq;
	struct fid_av			*av;
	struct fid_cq			*tx;
	struct fid_cq			*rx;
	u64				bind_flags;
	const struct tb_cntr		*cntrs;
	struct fid_ep			*srx;
	size_t				rw_ops;
	const struct fi_ep_callbacks	*callbacks;
	int				may_sleep;
};

/* Fabric, event queue and domain; @attr may be NULL, and @context is the queue's */
static inline int tb_open(struct tb *bed, struct fi_info *info, struct fi_eq_attr *attr,
			  void *context)
{
	return fi_fabric(info->fabric_attr, &bed->fabric, NULL) ? :
	       fi_eq_open(bed->fabric, attr, &bed->eq, context) ? :
	       fi_domain(bed->fabric, info, &bed->domain, NULL);
}

static inline int tb_listen(struct tb *bed, struct fi_info *info)
{
	bed->name_len = sizeof(bed->name);
	return fi_passive_ep(bed->fabric, info, &bed->pep, NULL) ? :
	       fi_pep_bind(bed->pep, &bed->eq->fid, 0) ? :
	       fi_listen(bed->pep) ? :
	       fi_getname(&bed->pep->fid, &bed->name, &bed->name_len);
}

/* Closes what there is, and keeps the first errno in *@ret */
#define tb_close_one(object, ret)					\
do {									\
	typeof(object) __object = (object);				\
	int __err = *__object ? fi_close(&(*__object)->fid) : 0;	\
	int *__ret = (ret);						\
									\
	if (__err && !*__ret)						\
		*__ret = __err;						\
	*__object = NULL;						\
} while (0)

/* The endpoints have been closed */
static inline int tb_close(struct tb *bed)
{
	int ret = 0;

	tb_close_one(&bed->pep, &ret);
	tb_close_one(&bed->domain, &ret);
	tb_close_one(&bed->eq, &ret);
	tb_close_one(&bed->fabric, &ret);
	return ret;
}

static inline int tb_end_bind_cqs(const struct tb_end *end)
{
	u64 flags = end->bind_flags;

	if (!end->rx || end->rx == end->tx)
		return fi_ep_bind(end->ep, &end->tx->fid, FI_TRANSMIT | FI_RECV | flags);
	return fi_ep_bind(end->ep, &end->tx->fid, FI_TRANSMIT | flags) ? :
	       fi_ep_bind(end->ep, &end->rx->fid, FI_RECV | flags);
}

static inline int tb_end_set(const struct tb_end *end)
{
	struct fid *fid = &end->ep->fid;
	int ret = 0;

	if (end->rw_ops)
		ret = fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &end->rw_ops,
				sizeof(end->rw_ops));
	if (!ret && end->callbacks)
		ret = fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, end->callbacks,
				sizeof(*end->callbacks));
	if (!ret && end->may_sleep)
		ret = fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &end->may_sleep,
				sizeof(end->may_sleep));
	return ret;
}

/* Binds an endpoint that is open, and sets its options */
static inline int tb_end_bind(const struct tb_end *end)
{
	const struct tb_cntr *cntr = end->cntrs;
	int i, ret;

	ret = fi_ep_bind(end->ep, end->av ? &end->av->fid : &end->eq->fid, 0) ? :
	      tb_end_bind_cqs(end);
	for (i = 0; !ret && cntr && i < TB_CNTRS && cntr[i].cntr; i++)
		ret = fi_ep_bind(end->ep, &cntr[i].cntr->fid, cntr[i].flags);
	if (!ret && end->srx)
		ret = fi_ep_bind(end->ep, &end->srx->fid, 0);
	return ret ? : tb_end_set(end);
}

/* All else is in @end already */
static inline int tb_end_open(struct tb_end *end, struct fid_domain *domain,
			      struct fi_info *info)
{
	return fi_endpoint(domain, info, &end->ep, end->context) ? :
	       tb_end_bind(end) ? : fi_enable(end->ep);
}

/* The endpoint before what it is bound to; a shared receive context stays */
static inline int tb_end_close(struct tb_end *end)
{
	int ret = 0;

	tb_close_one(&end->ep, &ret);
	if (end->rx != end->tx)
		tb_close_one(&end->rx, &ret);
	tb_close_one(&end->tx, &ret);
	tb_close_one(&end->av, &ret);
	tb_close_one(&end->eq, &ret);
	end->rx = NULL;
	return ret;
}

/*
 * The next event has to be this one; returns the bytes of connection data behind @entry,
 * -ETIMEDOUT, -EPROTO for another event, or what a connection has failed with
 */
static inline ssize_t tb_hear(struct fid_eq *eq, u32 want, struct fi_eq_cm_entry *entry,
			      size_t size, int ms)
{
	struct fi_eq_err_entry error = {};
	ssize_t ret;
	u32 got;

	ret = fi_eq_sread(eq, &got, entry, size, ms, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(eq, &error, 0) > 0)
		return -error.err;
	if (ret < 0)
		return ret == -EAGAIN ? -ETIMEDOUT : ret;
	return got == want ? ret - sizeof(*entry) : -EPROTO;
}

/* Inserts the address of an endpoint */
static inline int tb_know(struct fid_av *av, struct fid_ep *other, fi_addr_t *addr)
{
	struct sockaddr_storage other_name = {};
	size_t len = sizeof(other_name);
	int ret;

	ret = fi_getname(&other->fid, &other_name, &len);
	if (ret)
		return ret;
	ret = fi_av_insert(av, &other_name, 1, addr, 0, NULL);
	return ret == 1 ? 0 : ret ? : -EADDRNOTAVAIL;
}

#endif /* _KUNIT_BED_H */
