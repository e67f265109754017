// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kOFI's side: fabrics and connections, or pairs of endpoints without connections.
 *
 * One event queue serves the listener and all endpoints, as connections are made
 * one after the other.  perf_event() drops events that report the end of a connection.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "link.h"

#define PERF_API	FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

static int perf_find(struct perf_fabric *f, const char *node, u64 caps)
{
	struct fi_info *hints = fi_allocinfo();
	int ret = -ENOMEM;

	if (!hints)
		return -ENOMEM;
	hints->caps = caps;
	hints->ep_attr->type = f->way.rdm ? FI_EP_RDM : FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = kstrdup(f->way.prov, GFP_KERNEL);
	if (hints->fabric_attr->prov_name)
		ret = fi_getinfo(PERF_API, node, 0, FI_SOURCE, hints, &f->info);
	fi_freeinfo(hints);
	return ret;
}

static void perf_set_depth(const struct perf_fabric *f, struct fi_info *info)
{
	info->tx_attr->size = f->depth.tx;
	info->rx_attr->size = f->depth.rx;
}

static int perf_listen(struct perf_fabric *f)
{
	int ret;

	ret = fi_passive_ep(f->fabric, f->info, &f->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(f->pep, &f->eq->fid, 0);
	if (!ret)
		ret = fi_listen(f->pep);
	f->name_len = sizeof(f->name);
	if (!ret)
		ret = fi_getname(&f->pep->fid, &f->name, &f->name_len);
	return ret;
}

int perf_av_open(struct perf_fabric *f, struct fid_av **av)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE };

	return fi_av_open(f->domain, &attr, av, NULL);
}
EXPORT_SYMBOL_GPL(perf_av_open);

int perf_fabric_open(struct perf_fabric *f, const struct perf_way *way,
		     const char *node, struct perf_depth depth, u64 caps)
{
	int ret;

	*f = (struct perf_fabric) { .way = *way, .depth = depth };
	ret = perf_find(f, node, caps);
	if (ret)
		return ret;
	perf_set_depth(f, f->info);
	ret = fi_fabric(f->info->fabric_attr, &f->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(f->fabric, NULL, &f->eq, NULL);
	if (!ret)
		ret = fi_domain(f->fabric, f->info, &f->domain, NULL);
	if (!ret)
		ret = way->rdm ? perf_av_open(f, &f->av) : perf_listen(f);
	if (ret)
		perf_fabric_close(f);
	return ret;
}
EXPORT_SYMBOL_GPL(perf_fabric_open);

void perf_fabric_close(struct perf_fabric *f)
{
	if (f->pep)
		fi_close(&f->pep->fid);
	if (f->av)
		fi_close(&f->av->fid);
	if (f->domain)
		fi_close(&f->domain->fid);
	if (f->eq)
		fi_close(&f->eq->fid);
	if (f->fabric)
		fi_close(&f->fabric->fid);
	fi_freeinfo(f->info);
	*f = (struct perf_fabric) { };
}
EXPORT_SYMBOL_GPL(perf_fabric_close);

int perf_ep_open(struct perf_fabric *f, struct fi_info *info, struct fid_cq *cq,
		 struct fid_ep **ep)
{
	int may_sleep = f->way.process;
	int ret;

	perf_set_depth(f, info);
	ret = fi_endpoint(f->domain, info, ep, NULL);
	if (ret)
		return ret;
	ret = fi_ep_bind(*ep, f->av ? &f->av->fid : &f->eq->fid, 0);
	if (!ret && may_sleep)
		ret = fi_setopt(&(*ep)->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &may_sleep,
				sizeof(may_sleep));
	if (!ret)
		ret = fi_ep_bind(*ep, &cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(*ep);
	if (!ret)
		return 0;
	fi_close(&(*ep)->fid);
	*ep = NULL;
	return ret;
}
EXPORT_SYMBOL_GPL(perf_ep_open);

/* Waits for the event @want; other events are of connections that have ended */
static int perf_event(struct perf_fabric *f, u32 want,
		      struct fi_eq_cm_entry *entry)
{
	struct fi_eq_err_entry error = { };
	ssize_t ret;
	u32 event;

	do {
		ret = fi_eq_sread(f->eq, &event, entry, sizeof(*entry),
				  PERF_PATIENCE_MS, 0);
		if (ret == -FI_EAVAIL && fi_eq_readerr(f->eq, &error, 0) > 0)
			return -error.err;
		if (ret < 0)
			return ret;
	} while (event != want);
	return 0;
}

static int perf_accept(struct perf_fabric *f, struct perf_link *link,
		       struct fid_cq *cq)
{
	struct fi_eq_cm_entry entry;
	int ret;

	ret = perf_event(f, FI_CONNREQ, &entry);
	if (ret)
		return ret;
	ret = perf_ep_open(f, entry.info, cq, &link->b);
	if (ret)
		fi_reject(f->pep, entry.info->handle, NULL, 0);
	else
		ret = fi_accept(link->b, NULL, 0);
	fi_freeinfo(entry.info);
	return ret;
}

int perf_insert(struct fid_av *av, struct fid_ep *ep, fi_addr_t *addr)
{
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(&ep->fid, &name, &len);
	if (ret)
		return ret;
	ret = fi_av_insert(av, &name, 1, addr, 0, NULL);
	return ret < 0 ? ret : ret == 1 ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(perf_insert);

/* The first message makes the connection */
static int perf_pair(struct perf_fabric *f, struct perf_link *link,
		     struct fid_cq *cq_a, struct fid_cq *cq_b)
{
	int ret;

	ret = perf_ep_open(f, f->info, cq_a, &link->a);
	if (!ret)
		ret = perf_ep_open(f, f->info, cq_b, &link->b);
	if (!ret)
		ret = perf_insert(f->av, link->a, &link->to_a);
	if (!ret)
		ret = perf_insert(f->av, link->b, &link->to_b);
	if (ret)
		perf_disconnect(link);
	return ret;
}

int perf_connect(struct perf_fabric *f, struct perf_link *link,
		 struct fid_cq *cq_a, struct fid_cq *cq_b)
{
	struct fi_eq_cm_entry entry;
	int ret;

	*link = (struct perf_link) { };
	if (f->way.rdm)
		return perf_pair(f, link, cq_a, cq_b);
	ret = perf_ep_open(f, f->info, cq_a, &link->a);
	if (!ret)
		ret = fi_connect(link->a, &f->name, NULL, 0);
	if (!ret)
		ret = perf_accept(f, link, cq_b);
	/* One event of each end */
	if (!ret)
		ret = perf_event(f, FI_CONNECTED, &entry);
	if (!ret)
		ret = perf_event(f, FI_CONNECTED, &entry);
	if (ret)
		perf_disconnect(link);
	return ret;
}
EXPORT_SYMBOL_GPL(perf_connect);

void perf_disconnect(struct perf_link *link)
{
	if (link->a)
		fi_close(&link->a->fid);
	if (link->b)
		fi_close(&link->b->fid);
	*link = (struct perf_link) { };
}
EXPORT_SYMBOL_GPL(perf_disconnect);
