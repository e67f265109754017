// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passive endpoints: a listening rdma_cm_id.
 *
 * The mutex guards id, bound, listening and backlog among control calls.  rdma_cm's
 * handler (connreq.c) uses eq, fabric, info and raw only, which do not change once
 * the id listens.  Close destroys the id first; that waits for a handler in
 * progress, so after it no request can arrive and those left are dropped.
 *
 * An id with an address of a device goes with that device, which leaves a shell that
 * answers -ENODEV.  One that listens at all addresses stays, and takes requests from
 * the device again if it comes back.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/opt.h>
#include "cm.h"
#include "ep.h"
#include "verbs.h"

#define VERBS_DEF_BACKLOG	128

/* Only requests come to a listening id; it dies with the passive endpoint */
static int verbs_pep_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return verbs_connreq_new(id->context, id, event);
	return 0;
}

static void verbs_pep_tell(struct verbs_kid *kid)
{
	struct verbs_pep *pep = container_of(kid, struct verbs_pep, kid);

	mutex_lock(&pep->lock);
	if (pep->eq && !pep->error.err) {
		pep->error.err = ENODEV;
		kofi_eq_post(pep->eq, &pep->error);
	}
	mutex_unlock(&pep->lock);
}

static void verbs_pep_destroy_id(struct verbs_pep *pep)
{
	mutex_lock(&pep->lock);
	if (pep->id)
		rdma_destroy_id(pep->id);
	pep->id = NULL;
	mutex_unlock(&pep->lock);
}

static void verbs_pep_strip(struct verbs_kid *kid)
{
	verbs_pep_destroy_id(container_of(kid, struct verbs_pep, kid));
}

static const struct verbs_kid_ops verbs_pep_kid_ops = {
	.kind	= VERBS_KID_PEP,
	.end	= verbs_pep_tell,
	.strip	= verbs_pep_strip,
};

/* Here and below the caller holds the mutex */
static int verbs_pep_check(const struct verbs_pep *pep)
{
	return pep->id ? 0 : -ENODEV;
}

/* The id keeps the removal of its device waiting, so it must not stay without us */
static int verbs_pep_join_device(struct verbs_pep *pep)
{
	struct verbs_device *dev;

	if (!pep->id->device)
		return 0;
	dev = verbs_device_find(pep->id->device);
	if (!dev) {
		rdma_destroy_id(pep->id);
		pep->id = NULL;
		return -ENODEV;
	}
	verbs_device_get(dev);
	pep->dev = dev;
	verbs_kid_add(dev, &pep->kid, &verbs_pep_kid_ops);
	verbs_device_leave(dev);
	return 0;
}

static int verbs_pep_bind_addr(struct verbs_pep *pep,
			       const struct sockaddr_storage *addr)
{
	int ret;

	if (pep->bound)
		return -FI_EOPBADSTATE;
	ret = rdma_bind_addr(pep->id, (struct sockaddr *)addr);
	if (ret)
		return ret;
	pep->bound = true;
	return verbs_pep_join_device(pep);
}

static int verbs_pep_listen_locked(struct verbs_pep *pep)
{
	struct sockaddr_storage any = { .ss_family = AF_INET };
	int ret;

	ret = verbs_pep_check(pep);
	if (ret)
		return ret;
	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->listening)
		return -FI_EOPBADSTATE;
	if (!pep->bound) {
		ret = verbs_pep_bind_addr(pep, &any);
		if (ret)
			return ret;
	}
	ret = rdma_listen(pep->id, pep->backlog);
	if (!ret)
		pep->listening = true;
	return ret;
}

static int verbs_pep_listen(struct fid_pep *fid_pep)
{
	struct verbs_pep *pep = to_verbs_pep(&fid_pep->fid);
	int ret;

	mutex_lock(&pep->lock);
	ret = verbs_pep_listen_locked(pep);
	mutex_unlock(&pep->lock);
	return ret;
}

static int verbs_pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct verbs_pep *pep = to_verbs_pep(fid);
	struct sockaddr_storage src;
	int ret;

	ret = kofi_addr_from_info(&src, addr, addrlen);
	if (ret)
		return ret;
	mutex_lock(&pep->lock);
	ret = verbs_pep_check(pep) ? : verbs_pep_bind_addr(pep, &src);
	mutex_unlock(&pep->lock);
	return ret;
}

static int verbs_pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct verbs_pep *pep = to_verbs_pep(fid);
	int ret;

	mutex_lock(&pep->lock);
	ret = verbs_pep_check(pep) ? : pep->bound ? 0 : -EADDRNOTAVAIL;
	if (!ret)
		ret = kofi_addr_copy_out(&pep->id->route.addr.src_addr, addr,
					 addrlen);
	mutex_unlock(&pep->lock);
	return ret;
}

static int verbs_pep_reject(struct fid_pep *fid_pep, fid_t handle,
			    const void *param, size_t paramlen)
{
	struct verbs_pep *pep = to_verbs_pep(&fid_pep->fid);
	struct verbs_cm_frame frame = { .raw = pep->raw };
	int ret;

	mutex_lock(&pep->lock);
	ret = verbs_pep_check(pep);
	mutex_unlock(&pep->lock);
	if (!ret)
		ret = verbs_cm_pack(&frame, param, paramlen, VERBS_CM_REJ);
	if (ret)
		return ret;
	return verbs_connreq_reject(pep, handle, &frame);
}

static int verbs_pep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct verbs_pep *pep = to_verbs_pep(fid);
	int ret = 0;

	if (bfid->fclass != FI_CLASS_EQ)
		return -EINVAL;

	mutex_lock(&pep->lock);
	if (!pep->id)
		ret = -ENODEV;
	else if (pep->listening)
		ret = -FI_EOPBADSTATE;
	else if (pep->eq)
		ret = -EINVAL;
	else
		pep->eq = to_kofi_eq(bfid);
	mutex_unlock(&pep->lock);
	return ret;
}

static int verbs_pep_control(struct fid *fid, int command, void *arg)
{
	struct verbs_pep *pep = to_verbs_pep(fid);
	int ret = 0;

	if (command != FI_BACKLOG)
		return -ENOSYS;
	if (!arg || *(int *)arg < 1)
		return -EINVAL;

	mutex_lock(&pep->lock);
	if (!pep->id)
		ret = -ENODEV;
	else if (pep->listening)
		ret = -FI_EOPBADSTATE;
	else
		pep->backlog = *(int *)arg;
	mutex_unlock(&pep->lock);
	return ret;
}

static int verbs_pep_getopt(struct fid *fid, int level, int optname,
			    void *optval, size_t *optlen)
{
	struct verbs_pep *pep = to_verbs_pep(fid);

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	switch (optname) {
	case FI_OPT_CM_DATA_SIZE:
		return kofi_opt_put_size(pep->raw ? VERBS_CM_REQ : VERBS_CM_DATA,
					 optval, optlen);
	case FI_OPT_CM_DATA_RAW:
		return verbs_get_raw(pep->raw, optval, optlen);
	default:
		return -ENOPROTOOPT;
	}
}

static int verbs_pep_setopt(struct fid *fid, int level, int optname,
			    const void *optval, size_t optlen)
{
	struct verbs_pep *pep = to_verbs_pep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_RAW)
		return -ENOPROTOOPT;
	mutex_lock(&pep->lock);
	ret = verbs_pep_check(pep) ? : pep->listening ? -FI_EOPBADSTATE : 0;
	if (!ret)
		ret = verbs_set_raw(&pep->raw, optval, optlen);
	mutex_unlock(&pep->lock);
	return ret;
}

static int verbs_pep_close(struct fid *fid)
{
	struct verbs_pep *pep = to_verbs_pep(fid);

	if (pep->dev)
		verbs_kid_strip(pep->dev, &pep->kid);
	verbs_pep_destroy_id(pep);
	verbs_connreqs_drop_pep(pep);
	if (pep->dev)
		verbs_device_put(pep->dev);
	if (pep->eq)
		kofi_eq_withdraw(pep->eq, &pep->error);
	mutex_destroy(&pep->lock);
	fi_freeinfo(pep->info);
	kfree(pep);
	return 0;
}

static const struct fi_ops verbs_pep_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_pep_close,
	.bind		= verbs_pep_bind,
	.control	= verbs_pep_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_ep verbs_pep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= verbs_pep_getopt,
	.setopt		= verbs_pep_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};

static const struct fi_ops_cm verbs_pep_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= verbs_pep_setname,
	.getname	= verbs_pep_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= verbs_pep_listen,
	.accept		= fi_no_accept,
	.reject		= verbs_pep_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};

static int verbs_pep_open_id(struct verbs_pep *pep, const struct fi_info *info)
{
	struct sockaddr_storage src;
	int ret = 0;

	pep->id = verbs_create_id(pep->fabric, verbs_pep_handler, pep);
	if (IS_ERR(pep->id))
		return PTR_ERR(pep->id);

	if (info->src_addr)
		ret = kofi_addr_from_info(&src, info->src_addr,
					  info->src_addrlen) ? :
		      verbs_pep_bind_addr(pep, &src);
	if (ret)
		verbs_pep_destroy_id(pep);
	return ret;
}

int verbs_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_pep **fid_pep, void *context)
{
	struct verbs_pep *pep;
	int ret = -ENOMEM;

	if (!info->ep_attr || info->ep_attr->type != FI_EP_MSG ||
	    !info->tx_attr || !info->rx_attr || !info->domain_attr)
		return -EINVAL;

	pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	if (!pep)
		return -ENOMEM;
	pep->fabric = to_verbs_fabric(fabric);
	pep->backlog = VERBS_DEF_BACKLOG;
	mutex_init(&pep->lock);
	kofi_event_init(&pep->error, &pep->pep.fid);
	pep->info = fi_dupinfo(info);
	if (!pep->info)
		goto free_pep;
	ret = verbs_pep_open_id(pep, info);
	if (ret)
		goto free_info;

	pep->pep.fid.fclass = FI_CLASS_PEP;
	pep->pep.fid.context = context;
	pep->pep.fid.ops = &verbs_pep_fid_ops;
	pep->pep.ops = &verbs_pep_ops;
	pep->pep.cm = &verbs_pep_cm_ops;
	*fid_pep = &pep->pep;
	return 0;

free_info:
	fi_freeinfo(pep->info);
free_pep:
	kfree(pep);
	return ret;
}
