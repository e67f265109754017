// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The smallest complete kOFI client: connect, send one message, hang up.
 *
 *	insmod kofi_sample.ko node=10.77.0.1 service=7471 text="hello"
 *
 * The work is done while the module loads; insmod fails if it fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

static char *node = "10.77.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the peer");

static int service = 7471;
module_param(service, int, 0444);
MODULE_PARM_DESC(service, "port of the peer");

static char *text = "hello";
module_param(text, charp, 0444);
MODULE_PARM_DESC(text, "message to send");

#define TIMEOUT_MS 5000

struct sample {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

/* The hints say what the client needs; the answer says how to reach the peer. */
static int sample_find(struct sample *s)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, service, 0,
			 hints, &s->info);
	fi_freeinfo(hints);
	return ret;
}

static int sample_open(struct sample *s)
{
	struct fi_cq_attr cq_attr = {
		.size = s->info->tx_attr->size + s->info->rx_attr->size,
		.wait_obj = FI_WAIT_UNSPEC,
	};
	int ret;

	ret = fi_fabric(s->info->fabric_attr, &s->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(s->fabric, NULL, &s->eq, NULL);
	if (!ret)
		ret = fi_domain(s->fabric, s->info, &s->domain, NULL);
	if (!ret)
		ret = fi_cq_open(s->domain, &cq_attr, &s->cq, NULL);
	if (!ret)
		ret = fi_endpoint(s->domain, s->info, &s->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(s->ep);
	return ret;
}

static int sample_connect(struct sample *s)
{
	struct fi_eq_err_entry error = { };
	struct fi_eq_cm_entry entry;
	ssize_t ret;
	u32 event;

	ret = fi_connect(s->ep, NULL, NULL, 0);
	if (ret)
		return ret;
	ret = fi_eq_sread(s->eq, &event, &entry, sizeof(entry), TIMEOUT_MS, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(s->eq, &error, 0) > 0)
		return -error.err;
	if (ret < 0)
		return ret;
	return event == FI_CONNECTED ? 0 : -ECONNREFUSED;
}

/* The message belongs to the provider until its completion has been read. */
static int sample_send(struct sample *s, char *message)
{
	struct fi_cq_err_entry error = { };
	struct fi_cq_entry done;
	ssize_t ret;

	ret = fi_send(s->ep, message, strlen(message), NULL, 0, NULL);
	if (ret)
		return ret;
	ret = fi_cq_sread(s->cq, &done, 1, NULL, TIMEOUT_MS);
	if (ret == -FI_EAVAIL && fi_cq_readerr(s->cq, &error, 0) == 1)
		return -error.err;
	return ret < 0 ? ret : 0;
}

/* Children before parents, and the endpoint before what is bound to it. */
static void sample_close(struct sample *s)
{
	if (s->ep)
		fi_close(&s->ep->fid);
	if (s->cq)
		fi_close(&s->cq->fid);
	if (s->domain)
		fi_close(&s->domain->fid);
	if (s->eq)
		fi_close(&s->eq->fid);
	if (s->fabric)
		fi_close(&s->fabric->fid);
	fi_freeinfo(s->info);
}

static int __init sample_init(void)
{
	char *message = kstrdup(text, GFP_KERNEL);
	struct sample s = { };
	int ret;

	if (!message)
		return -ENOMEM;
	ret = sample_find(&s);
	if (!ret)
		ret = sample_open(&s);
	if (!ret)
		ret = sample_connect(&s);
	if (!ret)
		ret = sample_send(&s, message);
	if (!ret)
		ret = fi_shutdown(s.ep, 0);
	sample_close(&s);
	kfree(message);
	if (ret)
		pr_err("no message to %s port %d: %s\n", node, service,
		       fi_strerror(ret));
	else
		pr_info("\"%s\" sent to %s port %d\n", text, node, service);
	return ret;
}

static void __exit sample_exit(void)
{
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_DESCRIPTION("kOFI sample client");
MODULE_LICENSE("Dual BSD/GPL");
