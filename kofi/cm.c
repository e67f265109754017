// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connection calls: names, listen, connect, accept, reject, shutdown; and multicast
 * groups.
 *
 * The core checks only classes and pointers.  Providers check lengths of connection
 * data and states of endpoints, because these differ between providers.  They also check
 * the handle of a connection request, because it is an id and not a pointer
 * (include/kofi/connreq.h).
 *
 * kofi_obj_stat() asks any object for its state, include/kofi/stat.h.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/stat.h>
#include <rdma/fi_cm.h>
#include "kofi.h"

/* A scalable endpoint has one address, and at most one connection, for all contexts */
#define KOFI_ACTIVE	(BIT(FI_CLASS_EP) | BIT(FI_CLASS_SEP))

static const struct fi_ops_cm *kofi_cm_ops(fid_t fid)
{
	if (kofi_fid_is(fid, FI_CLASS_EP) || kofi_fid_is(fid, FI_CLASS_SEP))
		return container_of(fid, struct fid_ep, fid)->cm;
	if (kofi_fid_is(fid, FI_CLASS_PEP))
		return container_of(fid, struct fid_pep, fid)->cm;
	return NULL;
}

static void read_name(const struct fi_ops_cm *cm, struct fid *fid,
		      struct sockaddr_storage *addr)
{
	size_t len = sizeof(*addr);

	if (cm->getname(fid, addr, &len))
		addr->ss_family = AF_UNSPEC;
}

static void read_peer(const struct fi_ops_cm *cm, struct fid_ep *ep,
		      struct sockaddr_storage *addr)
{
	size_t len = sizeof(*addr);

	if (cm->getpeer(ep, addr, &len))
		addr->ss_family = AF_UNSPEC;
}

void kofi_obj_stat(const struct kofi_obj *obj, struct kofi_stat *stat)
{
	const struct fi_ops_cm *cm = kofi_cm_ops(obj->fid);

	memset(stat, 0, sizeof(*stat));
	if (obj->fid->ops->control(obj->fid, KOFI_GETSTAT, stat))
		stat->count = 0;
	if (!cm)
		return;
	read_name(cm, obj->fid, &stat->addr);
	if (obj->fclass != FI_CLASS_PEP && !stat->no_peer)
		read_peer(cm, container_of(obj->fid, struct fid_ep, fid), &stat->peer);
}

int fi_setname(fid_t fid, void *addr, size_t addrlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("setname", "fid", fid, KOFI_ACTIVE | BIT(FI_CLASS_PEP)) ? :
	      kofi_check_ptr("setname", addr);
	if (!ret && !addrlen)
		ret = kofi_refuse("setname", -EINVAL, "addrlen is 0");
	if (ret)
		return ret;
	return kofi_call("setname", fid, kofi_cm_ops(fid)->setname(fid, addr, addrlen));
}
EXPORT_SYMBOL_GPL(fi_setname);

int fi_getname(fid_t fid, void *addr, size_t *addrlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("getname", "fid", fid, KOFI_ACTIVE | BIT(FI_CLASS_PEP)) ? :
	      kofi_check_ptr("getname", addrlen) ? :
	      kofi_check_list("getname", addr, *addrlen);
	if (ret)
		return ret;
	return kofi_call("getname", fid, kofi_cm_ops(fid)->getname(fid, addr, addrlen));
}
EXPORT_SYMBOL_GPL(fi_getname);

int fi_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("getpeer", ep, KOFI_ACTIVE) ? :
	      kofi_check_ptr("getpeer", addrlen) ? :
	      kofi_check_list("getpeer", addr, *addrlen);
	if (ret)
		return ret;
	return kofi_call("getpeer", &ep->fid,
			 ep->cm->getpeer(ep, addr, addrlen));
}
EXPORT_SYMBOL_GPL(fi_getpeer);

int fi_listen(struct fid_pep *pep)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("listen", pep, BIT(FI_CLASS_PEP));
	if (ret)
		return ret;
	return kofi_call("listen", &pep->fid, pep->cm->listen(pep));
}
EXPORT_SYMBOL_GPL(fi_listen);

int fi_connect(struct fid_ep *ep, const void *addr, const void *param,
	       size_t paramlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("connect", ep, KOFI_ACTIVE) ? :
	      kofi_check_list("connect", param, paramlen);
	if (ret)
		return ret;
	return kofi_call("connect", &ep->fid,
			 ep->cm->connect(ep, addr, param, paramlen));
}
EXPORT_SYMBOL_GPL(fi_connect);

int fi_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("accept", ep, KOFI_ACTIVE) ? :
	      kofi_check_list("accept", param, paramlen);
	if (ret)
		return ret;
	return kofi_call("accept", &ep->fid,
			 ep->cm->accept(ep, param, paramlen));
}
EXPORT_SYMBOL_GPL(fi_accept);

int fi_reject(struct fid_pep *pep, fid_t handle, const void *param,
	      size_t paramlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("reject", pep, BIT(FI_CLASS_PEP)) ? :
	      kofi_check_ptr("reject", handle) ? :
	      kofi_check_list("reject", param, paramlen);
	if (ret)
		return ret;
	return kofi_call("reject", &pep->fid,
			 pep->cm->reject(pep, handle, param, paramlen));
}
EXPORT_SYMBOL_GPL(fi_reject);

int fi_shutdown(struct fid_ep *ep, u64 flags)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("shutdown", ep, KOFI_ACTIVE) ? :
	      kofi_check_flags("shutdown", flags, 0);
	if (ret)
		return ret;
	return kofi_call("shutdown", &ep->fid, ep->cm->shutdown(ep, flags));
}
EXPORT_SYMBOL_GPL(fi_shutdown);

int fi_join(struct fid_ep *ep, const void *addr, u64 flags, struct fid_mc **mc,
	    void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("join", ep, BIT(FI_CLASS_EP)) ? :
	      kofi_check_ptr("join", addr) ? :
	      kofi_check_ptr("join", mc) ? :
	      kofi_check_flags("join", flags, FI_SEND | FI_RECV);
	if (ret)
		return ret;

	return kofi_open("join", &ep->fid, FI_CLASS_MC, mc,
			 ep->cm->join(ep, addr, flags, &new, context));
}
EXPORT_SYMBOL_GPL(fi_join);
