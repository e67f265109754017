// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fabric's objects of an end.
 *
 * A step that fails closes nothing.  ft_close() closes the objects that it finds in struct ft_end,
 * children before parents.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fabtests.h"

#define FT_API	FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

static const char ft_no_device[] =
	"is there a provider that can do this test, and a device with that address?";

/* Do the peer's messages or writes carry CQ data? */
static bool ft_wants_cq_data(void)
{
	return ft_params.op == FT_WRITEDATA || ft_params.test->run == ft_cq_data;
}

static struct fi_info *ft_hints(struct ft_end *e)
{
	const struct ft_test *test = ft_params.test;
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = test->caps;
	if (ft_params.op == FT_WRITEDATA)
		hints->caps |= FI_RMA;
	hints->ep_attr->type = ft_params.ep_type;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	/* unexpected_msg receives from a peer that is not in the address vector yet */
	if (test->run == ft_unexpected)
		hints->caps |= FI_DIRECTED_RECV;
	if (ft_wants_cq_data()) {
		hints->mode |= FI_RX_CQ_DATA;
		hints->domain_attr->cq_data_size = sizeof(u32);
	}
	/* The sender of a bandwidth test does not wait for receives */
	if (test->windowed)
		hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->tx_attr->size = e->depth;
	hints->rx_attr->size = e->depth;
	hints->fabric_attr->net = ft_net;
	hints->fabric_attr->prov_name = kstrdup(ft_params.prov, GFP_KERNEL);
	if (!hints->fabric_attr->prov_name)
		goto err;
	if (!ft_params.domain)
		return hints;
	hints->domain_attr->name = kstrdup(ft_params.domain, GFP_KERNEL);
	if (hints->domain_attr->name)
		return hints;
err:
	fi_freeinfo(hints);
	return NULL;
}

/*
 * With FI_DELIVERY_COMPLETE a write completes when its data is in the peer's memory.  A provider
 * without this level keeps a message behind the writes before it, so a sync is enough.
 */
static bool ft_wants_delivery(void)
{
	return ft_params.test->caps & FI_RMA && ft_params.verify && ft_params.op != FT_WRITEDATA;
}

int ft_find(struct ft_end *e, const char *node, int service, u64 flags, struct fi_info **info)
{
	struct fi_info *hints = ft_hints(e);
	int ret = -ENODATA;

	if (!hints)
		return ft_fail(e, -ENOMEM, NULL, "say what to look for");
	if (ft_wants_delivery()) {
		hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
		ret = fi_getinfo(FT_API, node, service, flags, hints, info);
		hints->tx_attr->op_flags = 0;
	}
	if (ret == -ENODATA)
		ret = fi_getinfo(FT_API, node, service, flags, hints, info);
	fi_freeinfo(hints);
	if (ret)
		return ft_fail(e, ret, ret == -ENODATA ? ft_no_device : NULL,
			       "find a fabric of provider %s at %s", ft_params.prov,
			       node ?: "any address");
	return 0;
}

int ft_open_fabric(struct ft_end *e, struct fi_info *info)
{
	int ret;

	ret = fi_fabric(info->fabric_attr, &e->fabric, e);
	if (ret)
		return ft_fail(e, ret, "was the provider unloaded?", "open the fabric");
	ret = fi_eq_open(e->fabric, NULL, &e->eq, e);
	if (ret)
		return ft_fail(e, ret, NULL, "open the event queue");
	return 0;
}

int ft_listen(struct ft_end *e)
{
	int ret;

	ret = fi_passive_ep(e->fabric, e->pep_info, &e->pep, e);
	if (ret)
		return ft_fail(e, ret, NULL, "open the passive endpoint");
	ret = fi_pep_bind(e->pep, &e->eq->fid, 0);
	if (ret)
		return ft_fail(e, ret, NULL, "bind the event queue");
	ret = fi_listen(e->pep);
	if (ret)
		return ft_fail(e, ret, "is the port free?", "listen on the fabric");
	return 0;
}

int ft_open_domain(struct ft_end *e)
{
	int ret = fi_domain(e->fabric, e->info, &e->domain, e);

	return ret ? ft_fail(e, ret, NULL, "open the domain") : 0;
}

static int ft_open_queue(struct ft_end *e, struct fid_cq **cq, size_t size)
{
	struct fi_cq_attr attr = {
		.size = size,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_UNSPEC,
	};
	int ret = fi_cq_open(e->domain, &attr, cq, e);

	return ret ? ft_fail(e, ret, NULL, "open a completion queue") : 0;
}

static int ft_open_av(struct ft_end *e)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	int ret;

	if (ft_params.ep_type == FI_EP_MSG)
		return 0;
	ret = fi_av_open(e->domain, &attr, &e->av, e);
	return ret ? ft_fail(e, ret, NULL, "open the address vector") : 0;
}

static int ft_bind(struct ft_end *e)
{
	int ret;

	ret = fi_ep_bind(e->ep, e->av ? &e->av->fid : &e->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(e->ep, &e->txq->fid, FI_TRANSMIT);
	if (!ret)
		ret = fi_ep_bind(e->ep, &e->rxq->fid, FI_RECV);
	return ret ? ft_fail(e, ret, NULL, "bind the queues") : 0;
}

/* Open an endpoint of the open domain, enable it, and post its first receive */
int ft_open_ep(struct ft_end *e)
{
	int ret;

	ret = ft_open_queue(e, &e->txq, e->info->tx_attr->size);
	if (!ret)
		ret = ft_open_queue(e, &e->rxq, e->info->rx_attr->size);
	if (!ret)
		ret = ft_open_av(e);
	if (ret)
		return ret;
	ret = fi_endpoint(e->domain, e->info, &e->ep, e);
	if (ret)
		return ft_fail(e, ret, NULL, "open the endpoint");
	ret = ft_bind(e);
	if (ret)
		return ret;
	ret = fi_enable(e->ep);
	if (ret)
		return ft_fail(e, ret, NULL, "enable the endpoint");
	return ft_params.test->unposted ? 0 : ft_post_rx(e);
}

/* Close @object unless it is NULL.  Returns NULL, or @object if it could not be closed */
static void *ft_close_fid(struct ft_end *e, void *object, struct fid *fid, const char *what)
{
	int ret = object ? fi_close(fid) : 0;

	if (ret)
		ft_fail(e, ret, "this is a bug in kOFI", "close the %s", what);
	return ret ? object : NULL;
}

/* Close the endpoint and the objects that only the endpoint uses */
void ft_close_ep(struct ft_end *e)
{
	int ret;

	if (e->connected) {
		ret = fi_shutdown(e->ep, 0);
		if (ret)
			ft_fail(e, ret, NULL, "shut the connection down");
		e->connected = false;
	}
	e->ep = ft_close_fid(e, e->ep, &e->ep->fid, "endpoint");
	e->av = ft_close_fid(e, e->av, &e->av->fid, "address vector");
	e->rxq = ft_close_fid(e, e->rxq, &e->rxq->fid, "receive queue");
	e->txq = ft_close_fid(e, e->txq, &e->txq->fid, "transmit queue");
}

/* Close the endpoint and its domain, and free the info of both */
void ft_close_domain(struct ft_end *e)
{
	ft_close_ep(e);
	e->mr = ft_close_fid(e, e->mr, &e->mr->fid, "region");
	e->domain = ft_close_fid(e, e->domain, &e->domain->fid, "domain");
	fi_freeinfo(e->info);
	e->info = NULL;
}

void ft_close(struct ft_end *e)
{
	ft_close_domain(e);
	e->pep = ft_close_fid(e, e->pep, &e->pep->fid, "passive endpoint");
	e->eq = ft_close_fid(e, e->eq, &e->eq->fid, "event queue");
	e->fabric = ft_close_fid(e, e->fabric, &e->fabric->fid, "fabric");
	fi_freeinfo(e->pep_info);
	e->pep_info = NULL;
	ft_free_buffers(e);
}
