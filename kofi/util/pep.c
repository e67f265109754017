// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The passive endpoints of include/kofi/pep.h.
 *
 * A passive endpoint gets its address once: when it is opened, by fi_setname(), or by
 * fi_listen(), which takes any address.  It listens until it is closed, or its device goes.
 * Its state changes under the provider's mutex.  The core closes no object that another
 * call uses.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/addr.h>
#include <kofi/conn.h>
#include <kofi/opt.h>
#include <kofi/pep.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>

static int kofi_pep_claim(struct kofi_pep *pep, const struct sockaddr_storage *addr)
{
	int ret;

	lockdep_assert_held(pep->type->lock);
	if (pep->gone)
		return -ENODEV;
	if (pep->named)
		return kofi_refuse("setname", -FI_EOPBADSTATE,
				   "the passive endpoint has an address already");
	ret = pep->type->ops.claim(pep, addr);
	pep->named = !ret;
	return ret;
}

static int kofi_pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct kofi_pep *pep = to_kofi_pep(fid);
	struct sockaddr_storage src;
	int ret = kofi_addr_get("setname", "addr", &src, addr, addrlen);

	if (ret)
		return ret;
	mutex_lock(pep->type->lock);
	ret = kofi_pep_claim(pep, &src);
	mutex_unlock(pep->type->lock);
	return ret;
}

static int kofi_pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct kofi_pep *pep = to_kofi_pep(fid);
	int ret;

	mutex_lock(pep->type->lock);
	if (pep->gone)
		ret = -ENODEV;
	else if (pep->named)
		ret = kofi_addr_copy_out(&pep->addr, addr, addrlen);
	else
		ret = kofi_refuse("getname", -EADDRNOTAVAIL, "the passive endpoint has no address before fi_setname() or fi_listen()");
	mutex_unlock(pep->type->lock);
	return ret;
}

static int kofi_pep_listen(struct fid_pep *fid_pep)
{
	struct kofi_pep *pep = to_kofi_pep(&fid_pep->fid);
	const struct sockaddr_storage any = {};
	int ret = 0;

	mutex_lock(pep->type->lock);
	if (pep->gone)
		ret = -ENODEV;
	else if (!pep->eq)
		ret = kofi_refuse("listen", -FI_ENOEQ, "no event queue is bound");
	else if (pep->listening)
		ret = kofi_refuse("listen", -FI_EOPBADSTATE, "the passive endpoint listens already");
	else if (!pep->named)
		ret = kofi_pep_claim(pep, &any);
	if (!ret)
		ret = pep->type->ops.listen(pep);
	if (!ret)
		pep->listening = true;
	mutex_unlock(pep->type->lock);
	return ret;
}

static int kofi_pep_may_reject(const struct kofi_connreq *req, const void *pep)
{
	if (!kofi_connreq_is_of(req, pep))
		return 0;
	return kofi_refuse("reject", -EINVAL, "handle: the request came to another passive endpoint");
}

static int kofi_pep_reject(struct fid_pep *fid_pep, fid_t handle,
			   const void *param, size_t paramlen)
{
	struct kofi_pep *pep = to_kofi_pep(&fid_pep->fid);
	const struct kofi_pep_type *type = pep->type;
	struct kofi_connreq *req;
	int ret = 0;

	mutex_lock(type->lock);
	if (pep->gone)
		ret = -ENODEV;
	else
		ret = kofi_conn_check_data("reject", paramlen, pep->reject_data_size);
	if (!ret) {
		req = kofi_connreq_take(type->reqs, handle, kofi_pep_may_reject,
					&fid_pep->fid);
		ret = PTR_ERR_OR_ZERO(req);
	}
	if (!ret)
		ret = type->ops.refuse(req, ECONNREFUSED, param, paramlen);
	mutex_unlock(type->lock);
	return ret;
}

static const struct fi_ops_cm kofi_pep_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_pep_setname,
	.getname	= kofi_pep_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= kofi_pep_listen,
	.accept		= fi_no_accept,
	.reject		= kofi_pep_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};

int kofi_pep_getopt(struct fid *fid, int level, int optname, void *optval,
		    size_t *optlen)
{
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return -ENOPROTOOPT;
	return kofi_opt_put_size(READ_ONCE(to_kofi_pep(fid)->cm_data_size), optval,
				 optlen);
}
EXPORT_SYMBOL_GPL(kofi_pep_getopt);

static int kofi_pep_setopt(struct fid *fid, int level, int optname,
			   const void *optval, size_t optlen)
{
	return -ENOPROTOOPT;
}

static const struct fi_ops_ep kofi_pep_ep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= kofi_pep_getopt,
	.setopt		= kofi_pep_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};

static int kofi_pep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct kofi_pep *pep = to_kofi_pep(fid);
	int ret = 0;

	mutex_lock(pep->type->lock);
	if (pep->gone)
		ret = -ENODEV;
	else if (pep->listening)
		ret = kofi_refuse("pep_bind", -FI_EOPBADSTATE, "the passive endpoint listens already");
	else
		pep->eq = to_kofi_eq(bfid);
	mutex_unlock(pep->type->lock);
	return ret;
}

/* Besides the backlog, the size of the event queue limits the requests */
static void kofi_pep_stat(struct kofi_pep *pep, struct kofi_stat *stat)
{
	mutex_lock(pep->type->lock);
	if (pep->gone)
		stat->state = "gone";
	else
		stat->state = pep->listening ? "listening" : "open";
	kofi_stat_add(stat, "backlog", pep->backlog);
	mutex_unlock(pep->type->lock);
}

static int kofi_pep_control(struct fid *fid, int command, void *arg)
{
	struct kofi_pep *pep = to_kofi_pep(fid);
	int ret = 0;

	if (command == KOFI_GETSTAT) {
		kofi_pep_stat(pep, arg);
		return 0;
	}
	if (command != FI_BACKLOG)
		return kofi_refuse("control", -ENOSYS, "a passive endpoint has no command %d",
				   command);
	if (*(int *)arg < 1)
		return kofi_refuse("control", -EINVAL, "the backlog is %d; the least is 1",
				   *(int *)arg);
	mutex_lock(pep->type->lock);
	if (pep->gone)
		ret = -ENODEV;
	else if (pep->listening)
		ret = kofi_refuse("control", -FI_EOPBADSTATE, "the backlog: the passive endpoint listens already");
	else
		pep->backlog = *(int *)arg;
	mutex_unlock(pep->type->lock);
	return ret;
}

/* Ends the endpoint, once: no request comes any more; requests not taken are refused */
static void kofi_pep_end(struct kofi_pep *pep)
{
	const struct kofi_pep_type *type = pep->type;
	struct kofi_connreq *req, *next;
	LIST_HEAD(dropped);

	lockdep_assert_held(type->lock);
	if (pep->gone)
		return;
	pep->gone = true;
	type->ops.stop(pep);
	pep->listening = false;
	pep->named = false;
	kofi_connreqs_drop(type->reqs, kofi_connreq_is_of, &pep->pep.fid,
			   &dropped);
	list_for_each_entry_safe(req, next, &dropped, entry)
		type->ops.refuse(req, ECONNREFUSED, NULL, 0);
}

void kofi_pep_gone(struct kofi_pep *pep)
{
	/* kofi_pep_close() may have ended it already */
	if (pep->gone)
		return;
	kofi_pep_end(pep);
	pep->ended.err = ENODEV;
	if (pep->eq)
		kofi_eq_post(pep->eq, &pep->ended);
}
EXPORT_SYMBOL_GPL(kofi_pep_gone);

static int kofi_pep_close(struct fid *fid)
{
	struct kofi_pep *pep = to_kofi_pep(fid);
	struct fi_info *info = pep->info;

	mutex_lock(pep->type->lock);
	kofi_pep_end(pep);
	mutex_unlock(pep->type->lock);
	if (pep->eq)
		kofi_eq_withdraw(pep->eq, &pep->ended);
	pep->type->ops.free(pep);
	fi_freeinfo(info);
	return 0;
}

static const struct fi_ops kofi_pep_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_pep_close,
	.bind		= kofi_pep_bind,
	.control	= kofi_pep_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

int kofi_pep_init(struct kofi_pep *pep, const struct kofi_pep_type *type,
		  const struct fi_info *info, void *context)
{
	struct sockaddr_storage src;
	int ret = 0;

	pep->type = type;
	pep->cm_data_size = type->cm_data_size;
	pep->reject_data_size = type->reject_data_size;
	kofi_event_init(&pep->ended, &pep->pep.fid);
	pep->pep.fid.fclass = FI_CLASS_PEP;
	pep->pep.fid.context = context;
	pep->pep.fid.ops = &kofi_pep_fid_ops;
	pep->pep.ops = &kofi_pep_ep_ops;
	pep->pep.cm = &kofi_pep_cm_ops;
	if (info->src_addr)
		ret = kofi_addr_get("passive_ep", "info->src_addr", &src, info->src_addr,
				    info->src_addrlen);
	if (ret)
		return ret;
	pep->info = fi_dupinfo(info);
	if (!pep->info)
		return -ENOMEM;
	if (!info->src_addr)
		return 0;
	mutex_lock(type->lock);
	ret = kofi_pep_claim(pep, &src);
	mutex_unlock(type->lock);
	if (ret)
		fi_freeinfo(pep->info);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_pep_init);
