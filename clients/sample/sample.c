// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The smallest complete kOFI client: connect, send one message, hang up.
 *
 *	insmod kofi_sample.ko node=10.77.0.1 service=7471 text="hello"
 *
 * The work is done while the module loads; insmod fails if it fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/limits.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_ep_set.h>
#include <rdma/fi_eq.h>

static char *node = "10.77.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the peer");

static int service = 7471;
module_param(service, int, 0444);
MODULE_PARM_DESC(service, "port of the peer, 1 to 65535");

static char *text = "hello";
module_param(text, charp, 0444);
MODULE_PARM_DESC(text, "message to send");

#define TIMEOUT_MS 5000

struct sample {
	struct fi_info *info;
	struct fi_ep_set set;
};

static int sample_check(void)
{
	if (service > 0 && service <= U16_MAX)
		return 0;
	pr_err("service=%d: allowed are 1 to 65535\n", service);
	return -EINVAL;
}

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

/* Fabric, event queue, domain, completion queue and endpoint. */
static int sample_open(struct sample *s)
{
	int ret = fi_ep_set_open(&s->set, s->info, NULL, NULL);

	return ret ? : fi_enable(s->set.ep);
}

static int sample_connect(struct sample *s)
{
	struct fi_eq_err_entry error = { };
	struct fi_eq_cm_entry entry;
	ssize_t ret;
	u32 event;

	ret = fi_connect(s->set.ep, NULL, NULL, 0);
	if (ret)
		return ret;
	ret = fi_eq_sread(s->set.eq, &event, &entry, sizeof(entry), TIMEOUT_MS, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(s->set.eq, &error, 0) > 0)
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

	ret = fi_send(s->set.ep, message, strlen(message), NULL, 0, NULL);
	if (ret)
		return ret;
	ret = fi_cq_sread(s->set.cq, &done, 1, NULL, TIMEOUT_MS);
	if (ret == -FI_EAVAIL && fi_cq_readerr(s->set.cq, &error, 0) == 1)
		return -error.err;
	return ret < 0 ? ret : 0;
}

/* Children before parents; a transfer that has not completed ends. */
static void sample_close(struct sample *s)
{
	fi_ep_set_close(&s->set);
	fi_freeinfo(s->info);
}

static int __init sample_init(void)
{
	char *message = kstrdup(text, GFP_KERNEL);
	struct sample s = { };
	int ret;

	if (!message)
		return -ENOMEM;
	ret = sample_check();
	if (!ret)
		ret = sample_find(&s);
	if (!ret)
		ret = sample_open(&s);
	if (!ret)
		ret = sample_connect(&s);
	if (!ret)
		ret = sample_send(&s, message);
	if (!ret)
		ret = fi_shutdown(s.set.ep, 0);
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
