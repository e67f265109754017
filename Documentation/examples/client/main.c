// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From the hints to a connection, and back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include "guide.h"

static char *prov;
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "name of the provider; any, if there is none");

static char *node;
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of this machine; any, if there is none");

/* guide: find */
static int guide_find(struct guide *g)
{
	struct fi_info *hints = fi_allocinfo();
	int ret = -ENOMEM;

	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (prov)
		hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
	if (!prov || hints->fabric_attr->prov_name)
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, 0,
				 node ? FI_SOURCE : 0, hints, &g->info);
	fi_freeinfo(hints);
	return ret;
}

/* guide: open */
/* @info is the end's from now on */
static int end_open(struct end *end, struct fid_fabric *fabric, struct fi_info *info)
{
	int ret;

	end->info = info;
	end->in = kzalloc(sizeof(*end->in), GFP_KERNEL);
	end->out = kzalloc(sizeof(*end->out), GFP_KERNEL);
	if (!info || !end->in || !end->out)
		return -ENOMEM;
	ret = fi_domain(fabric, info, &end->domain, NULL);
	if (!ret)
		ret = queue_open(end);
	if (!ret)
		ret = fi_endpoint(end->domain, info, &end->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(end->ep, &end->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(end->ep);
	if (ret)
		return ret;
	/* Before there is a peer, which may send as soon as it is connected */
	op_init(&end->recv);
	return fi_recv(end->ep, end->in, sizeof(*end->in), NULL, 0, &end->recv);
}

/* guide: event */
static int end_event(struct end *end, u32 want, struct fi_eq_cm_entry *entry)
{
	struct fi_eq_err_entry error = { };
	ssize_t ret;
	u32 event;

	ret = fi_eq_sread(end->eq, &event, entry, sizeof(*entry), TIMEOUT_MS, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(end->eq, &error, 0) > 0)
		/* ECONNREFUSED, ETIMEDOUT; ENODEV: the device has gone */
		return -error.err;
	if (ret < 0)
		return ret;
	return event == want ? 0 : -ECONNABORTED;
}

/* guide: connect */
static int guide_listen(struct guide *g)
{
	int ret;

	ret = fi_fabric(g->info->fabric_attr, &g->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(g->fabric, NULL, &g->server.eq, NULL);
	if (!ret)
		ret = fi_eq_open(g->fabric, NULL, &g->client.eq, NULL);
	if (!ret)
		ret = fi_passive_ep(g->fabric, g->info, &g->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(g->pep, &g->server.eq->fid, 0);
	return ret ? : fi_listen(g->pep);
}

static int guide_connect(struct guide *g)
{
	struct fi_eq_cm_entry entry = { };
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(&g->pep->fid, &name, &len);
	if (!ret)
		ret = end_open(&g->client, g->fabric, fi_dupinfo(g->info));
	if (!ret)
		ret = fi_connect(g->client.ep, &name, NULL, 0);
	if (!ret)
		ret = end_event(&g->server, FI_CONNREQ, &entry);
	if (!ret)
		ret = end_open(&g->server, g->fabric, entry.info);
	if (!ret)
		ret = fi_accept(g->server.ep, NULL, 0);
	if (!ret)
		ret = end_event(&g->server, FI_CONNECTED, &entry);
	return ret ? : end_event(&g->client, FI_CONNECTED, &entry);
}

/* guide: close */
void end_close(struct end *end)
{
	if (end->ep)
		fi_close(&end->ep->fid);
	/* Every operation is over, and no callback of it runs */
	if (end->cq)
		fi_close(&end->cq->fid);
	if (end->av)
		fi_close(&end->av->fid);
	if (end->domain)
		fi_close(&end->domain->fid);
	if (end->eq)
		fi_close(&end->eq->fid);
	kfree(end->in);
	kfree(end->out);
	fi_freeinfo(end->info);
}

static void guide_close(struct guide *g)
{
	if (g->client.ep)
		fi_shutdown(g->client.ep, 0);
	/* Nothing is in flight after this, so the region of the endpoint can be closed */
	if (g->mr && g->server.ep)
		fi_ep_drain(g->server.ep, -1);
	if (g->mr)
		fi_close(&g->mr->fid);
	if (g->pep)
		fi_close(&g->pep->fid);
	end_close(&g->client);
	end_close(&g->server);
	if (g->fabric)
		fi_close(&g->fabric->fid);
	fi_freeinfo(g->info);
	kfree(g->memory);
	kfree(g->buf);
}

/* guide: init */
static int guide_run(struct guide *g)
{
	int ret;

	g->memory = kzalloc(LEN, GFP_KERNEL);
	g->buf = kzalloc(LEN, GFP_KERNEL);
	if (!g->memory || !g->buf)
		return -ENOMEM;
	ret = guide_find(g);
	if (!ret)
		ret = guide_listen(g);
	if (!ret)
		ret = guide_connect(g);
	if (!ret)
		ret = data_messages(g);
	if (!ret)
		ret = data_persistent(g);
	return ret ? : data_per_io(g);
}

/* -ENODATA: the provider has no endpoints with connections */
static int msg_run(void)
{
	static const enum fi_wait_obj kinds[] = {
		FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_CALLBACK, FI_WAIT_DONE,
	};
	struct guide *g;
	int ret = 0, i;

	for (i = 0; i < ARRAY_SIZE(kinds) && !ret; i++) {
		g = kzalloc(sizeof(*g), GFP_KERNEL);
		if (!g)
			return -ENOMEM;
		g->server.wait_obj = kinds[i];
		g->client.wait_obj = kinds[i];
		ret = guide_run(g);
		if (!ret)
			pr_info("queue of kind %d: ok, by %s\n", i,
				g->info->fabric_attr->prov_name);
		else if (ret != -ENODATA)
			pr_err("queue of kind %d: %s\n", i, fi_strerror(ret));
		guide_close(g);
		kfree(g);
	}
	return ret;
}

static int __init guide_init(void)
{
	int msg = msg_run(), rdm;

	if (msg == -ENODATA)
		pr_info("the provider has no endpoints with connections\n");
	else if (msg)
		return msg;
	rdm = rdm_run(prov, node);
	if (rdm == -ENODATA) {
		pr_info("the provider has no endpoints without connections\n");
		return msg;
	}
	if (rdm)
		pr_err("without a connection: %s\n", fi_strerror(rdm));
	else
		pr_info("without a connection: ok\n");
	return rdm;
}

static void __exit guide_exit(void)
{
}

module_init(guide_init);
module_exit(guide_exit);

MODULE_DESCRIPTION("The client of kOFI's client guide");
MODULE_LICENSE("Dual BSD/GPL");
/* guide: end */
