// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passive endpoints: a listening rdma_cm_id below a struct kofi_pep.
 *
 * verbs_pep_lock is the mutex that kofi/pep.h asks for.  verbs_pep_handler() does not take
 * it, and reads only fields that do not change once the id listens.  verbs_pep_stop()
 * destroys the id, which waits for a handler in progress, so after it no request can arrive.
 *
 * The removal of a device destroys an id with an address of that device.  An id that listens at
 * all addresses stays, and takes requests from the device again if it comes back.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <kofi/refuse.h>
#include "../cm.h"
#include "../ep.h"
#include "../verbs.h"

#define VERBS_DEF_BACKLOG	128

static DEFINE_MUTEX(verbs_pep_lock);	/* see above */

/*
 * Errors are for requests only: an error for another event would destroy the listening id.
 * Writeback may wait for the connection, so the worker of rdma_cm allocates without I/O here.
 */
static int verbs_pep_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	unsigned int noio;
	int ret;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	noio = memalloc_noio_save();
	ret = verbs_connreq_new(id->context, id, event);
	memalloc_noio_restore(noio);
	return ret;
}

static void verbs_pep_end(struct verbs_res *res)
{
	mutex_lock(&verbs_pep_lock);
	kofi_pep_gone(&container_of(res, struct verbs_pep, res)->kpep);
	mutex_unlock(&verbs_pep_lock);
}

/* verbs_pep_stop() destroys the id: in a close before this, in a removal from verbs_pep_end() */
static void verbs_pep_strip(struct verbs_res *res)
{
}

static const struct verbs_res_ops verbs_pep_res_ops = {
	.kind	= VERBS_RES_PEP,
	.end	= verbs_pep_end,
	.strip	= verbs_pep_strip,
};

/* rdma_cm's removal of the device waits for the id, so verbs_pep_end() has to destroy it */
static int verbs_pep_join_device(struct verbs_pep *pep, struct rdma_cm_id *id)
{
	struct verbs_device *dev;

	if (!id->device)
		return 0;
	dev = verbs_device_find(id->device);
	if (!dev)
		return -ENODEV;
	verbs_device_get(dev);
	pep->dev = dev;
	verbs_res_add(dev, &pep->res, &verbs_pep_res_ops);
	verbs_device_leave(dev);
	return 0;
}

static int verbs_pep_claim(struct kofi_pep *kpep, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage any = { .ss_family = AF_INET };
	struct verbs_pep *pep = to_verbs_pep(kpep);
	struct rdma_cm_id *id;
	int ret;

	lockdep_assert_held(&verbs_pep_lock);
	id = verbs_create_id(pep->fabric, verbs_pep_handler, pep);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = rdma_bind_addr(id, (struct sockaddr *)(addr->ss_family ? addr : &any));
	if (!ret)
		ret = verbs_pep_join_device(pep, id);
	if (ret) {
		rdma_destroy_id(id);
		return ret;
	}
	pep->id = id;
	kpep->addr = id->route.addr.src_addr;
	return 0;
}

static int verbs_pep_listen(struct kofi_pep *kpep)
{
	return rdma_listen(to_verbs_pep(kpep)->id, kpep->backlog ? : VERBS_DEF_BACKLOG);
}

static void verbs_pep_stop(struct kofi_pep *kpep)
{
	struct verbs_pep *pep = to_verbs_pep(kpep);

	lockdep_assert_held(&verbs_pep_lock);
	if (pep->id)
		rdma_destroy_id(pep->id);
	pep->id = NULL;
}

static void verbs_pep_free(struct kofi_pep *kpep)
{
	struct verbs_pep *pep = to_verbs_pep(kpep);

	if (pep->dev) {
		verbs_res_strip(pep->dev, &pep->res);
		verbs_res_del(pep->dev, &pep->res);
		verbs_device_put(pep->dev);
	}
	kfree(pep);
}

static const struct kofi_pep_type verbs_pep_type = {
	.ops = {
		.claim		= verbs_pep_claim,
		.listen		= verbs_pep_listen,
		.stop		= verbs_pep_stop,
		.refuse		= verbs_connreq_refuse,
		.free		= verbs_pep_free,
	},
	.reqs			= &verbs_connreqs,
	.lock			= &verbs_pep_lock,
	.cm_data_size		= VERBS_CM_DATA,
	.reject_data_size	= VERBS_CM_DATA,
};

static int verbs_pep_getopt(struct fid *fid, int level, int optname,
			    void *optval, size_t *optlen)
{
	struct verbs_pep *pep = to_verbs_pep(to_kofi_pep(fid));

	if (level == FI_OPT_ENDPOINT && optname == FI_OPT_CM_DATA_RAW)
		return verbs_get_raw(pep->raw, optval, optlen);
	return kofi_pep_getopt(fid, level, optname, optval, optlen);
}

static int verbs_pep_setopt(struct fid *fid, int level, int optname,
			    const void *optval, size_t optlen)
{
	struct verbs_pep *pep = to_verbs_pep(to_kofi_pep(fid));
	struct kofi_pep *kpep = &pep->kpep;
	int ret = 0;

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_RAW)
		return -ENOPROTOOPT;
	mutex_lock(&verbs_pep_lock);
	if (kpep->gone)
		ret = -ENODEV;
	else if (kpep->listening)
		ret = kofi_refuse("setopt", -FI_EOPBADSTATE, "FI_OPT_CM_DATA_RAW: the passive endpoint listens already");
	else
		ret = verbs_set_raw(&pep->raw, optval, optlen);
	kpep->reject_data_size = pep->raw ? VERBS_CM_REJ : VERBS_CM_DATA;
	WRITE_ONCE(kpep->cm_data_size, pep->raw ? VERBS_CM_REQ : VERBS_CM_DATA);
	mutex_unlock(&verbs_pep_lock);
	return ret;
}

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

int verbs_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_pep **fid_pep, void *context)
{
	struct verbs_pep *pep;
	int ret;

	if (info->ep_attr->type != FI_EP_MSG)
		return kofi_refuse("passive_ep", -EINVAL, "info->ep_attr->type is %d; there is FI_EP_MSG",
				   info->ep_attr->type);

	pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	if (!pep)
		return -ENOMEM;
	pep->fabric = to_verbs_fabric(fabric);
	ret = kofi_pep_init(&pep->kpep, &verbs_pep_type, info, context);
	if (ret) {
		kfree(pep);
		return ret;
	}
	pep->kpep.pep.ops = &verbs_pep_ops;
	*fid_pep = &pep->kpep.pep;
	return 0;
}
