// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_inflight.ko: a client that keeps a number of operations in flight and
 * accounts for the end of each.  scripts/two runs it on two machines and takes
 * one of them away.
 *
 * A step is a word written to /sys/kernel/debug/kofi_inflight/step; the write
 * returns when the step is done.
 *
 *	listen	wait at node= and service= for a peer
 *	accept	take the peer that connects, with all ops= receives posted, or
 *		with both=1 half as many, and half sends after "flow"
 *	connect	connect to node= and service=
 *	flow	post what is not posted, after "connect" half sends and half
 *		receives; post anew whatever ends well; after the first error
 *		post nothing more and wait for the end of all that is posted
 *	close	close everything; a completion that comes now is one too many
 *
 * Without both=1 nobody sends to the one that connects, so its receives stay in
 * flight; with it, the other side notices a dead peer, too.  The file "report"
 * counts, at any time, one number a line:
 *
 *	posted		operations posted since the module was loaded
 *	ok, errors	how they ended
 *	twice		completions of an operation that had ended before
 *	unknown		completions with a context that is none of ours
 *	over		operations that ended well and were not posted anew, as the
 *			connection was over or an error had come; so errors and over
 *			are as many as ops=
 *	refused		posts that were refused although the connection was not over
 *	outstanding	operations in flight; lost ones stay here
 *	first_error_ms	from the last good completion to the first error
 *	last_error_ms	and to the last error
 *	error		the first one; text behind the number
 *
 * A completion that comes twice shows although operations are posted anew: it
 * ends the successor too early, whose own completion then is the second one.
 *
 * Life: a step opens what it needs and leaves it to "close" or to the module's
 * exit.  An open file pins the module.
 *
 * Locking: inflight_lock serializes the steps, which own everything.  "report"
 * reads the counters without it, while a step runs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include "../lib/bed.h"

static char *node = "10.77.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the listening side");

static char *prov = "";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "provider (default: the first that fits)");

static int service = 7472;
module_param(service, int, 0444);
MODULE_PARM_DESC(service, "port of the listening side");

static unsigned int ops = 64;
module_param(ops, uint, 0444);
MODULE_PARM_DESC(ops, "operations in flight, 2 to 1024 (default 64)");

static unsigned int size = 4096;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "bytes of each, 1 to 65536 (default 4096)");

static bool both;
module_param(both, bool, 0444);
MODULE_PARM_DESC(both, "whoever accepts sends, too");

static int patience_ms = 30000;
module_param(patience_ms, int, 0444);
MODULE_PARM_DESC(patience_ms, "longest wait for an event or a completion");

/* A completion too many is waited for this long. */
#define INFLIGHT_QUIET_MS 200

struct inflight_op {
	void *buf;
	bool send;
	bool posted;
};

static struct {
	struct fi_info *pep_info;
	struct fi_info *info;
	struct tb bed;
	struct tb_end end;
	struct inflight_op *op;
	bool stop;
	ktime_t last_ok;

	/* what "report" shows */
	u64 posted, ok, errors, twice, unknown, over, refused, outstanding;
	u64 first_error_ms, last_error_ms;
	int error, prov_errno;
} inflight;

static DEFINE_MUTEX(inflight_lock);
static struct dentry *inflight_dir;

static int inflight_fail(int err, const char *what)
{
	pr_err("cannot %s: %d %s\n", what, err, fi_strerror(-err));
	return err;
}

static void inflight_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

static int inflight_getinfo(u64 flags, struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	if (*prov) {
		hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
		if (!hints->fabric_attr->prov_name) {
			fi_freeinfo(hints);
			return -ENOMEM;
		}
	}
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->tx_attr->size = ops;
	hints->rx_attr->size = ops;
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node,
			 service, flags, hints, info);
	fi_freeinfo(hints);
	return ret;
}

static int inflight_open_ep(struct fi_info *info)
{
	struct fi_cq_attr attr = {
		.size = info->tx_attr->size + info->rx_attr->size,
		.wait_obj = FI_WAIT_UNSPEC,
	};

	inflight.end.eq = inflight.bed.eq;
	return fi_cq_open(inflight.bed.domain, &attr, &inflight.end.tx, NULL) ?:
	       tb_end_open(&inflight.end, inflight.bed.domain, info);
}

static int inflight_await(u32 want, struct fi_eq_cm_entry *entry)
{
	ssize_t ret = tb_hear(inflight.bed.eq, want, entry, sizeof(*entry), patience_ms);

	return ret < 0 ? ret : 0;
}

static int inflight_post(struct inflight_op *op)
{
	ssize_t ret;

	if (op->send)
		ret = fi_send(inflight.end.ep, op->buf, size, NULL, 0, op);
	else
		ret = fi_recv(inflight.end.ep, op->buf, size, NULL, 0, op);
	if (ret == -ESHUTDOWN)
		return ret;
	if (ret) {
		inflight_count(&inflight.refused);
		return inflight_fail(ret, op->send ? "send" : "receive");
	}
	op->posted = true;
	inflight_count(&inflight.posted);
	inflight_count(&inflight.outstanding);
	return 0;
}

static void inflight_mark_sends(void)
{
	unsigned int i;

	for (i = 0; i < ops / 2; i++)
		inflight.op[i].send = true;
}

/* Of what is not posted: all, or the receives */
static int inflight_post_all(bool sends)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ops; i++) {
		if (inflight.op[i].posted || (inflight.op[i].send && !sends))
			continue;
		ret = inflight_post(&inflight.op[i]);
		if (ret)
			return inflight_fail(ret, "post an operation");
	}
	return 0;
}

/* The operation that @context belongs to, if it is one that is in flight. */
static struct inflight_op *inflight_end(void *context)
{
	struct inflight_op *op;
	unsigned int i;

	for (i = 0; i < ops; i++) {
		op = &inflight.op[i];
		if (op != context)
			continue;
		if (!op->posted) {
			inflight_count(&inflight.twice);
			return NULL;
		}
		op->posted = false;
		WRITE_ONCE(inflight.outstanding, inflight.outstanding - 1);
		return op;
	}
	inflight_count(&inflight.unknown);
	return NULL;
}

static void inflight_ended_well(void *context)
{
	struct inflight_op *op = inflight_end(context);

	if (!op)
		return;
	inflight_count(&inflight.ok);
	inflight.last_ok = ktime_get();
	if (!inflight.stop && !inflight_post(op))
		return;
	inflight.stop = true;
	inflight_count(&inflight.over);
}

static void inflight_ended_badly(const struct fi_cq_err_entry *error)
{
	u64 ms = ktime_ms_delta(ktime_get(), inflight.last_ok);

	inflight.stop = true;
	if (!inflight_end(error->op_context))
		return;
	if (!inflight.errors) {
		WRITE_ONCE(inflight.error, error->err);
		WRITE_ONCE(inflight.prov_errno, error->prov_errno);
		WRITE_ONCE(inflight.first_error_ms, ms);
	}
	WRITE_ONCE(inflight.last_error_ms, ms);
	inflight_count(&inflight.errors);
}

/* Wait for one completion: 0, -EAGAIN if there was none, or an error. */
static int inflight_reap(int timeout_ms)
{
	struct fi_cq_err_entry error = { };
	struct fi_cq_entry entry;
	ssize_t ret;

	ret = fi_cq_sread(inflight.end.tx, &entry, 1, NULL, timeout_ms);
	if (ret == 1) {
		inflight_ended_well(entry.op_context);
		return 0;
	}
	if (ret != -FI_EAVAIL)
		return ret;
	ret = fi_cq_readerr(inflight.end.tx, &error, 0);
	if (ret != 1)
		return ret < 0 ? ret : -EIO;
	inflight_ended_badly(&error);
	return 0;
}

/* Nothing is in flight any more, so that whatever completes now is too much. */
static void inflight_forget(void)
{
	unsigned int i;

	for (i = 0; i < ops; i++)
		inflight.op[i].posted = false;
}

/* Take completions that should not be there. */
static int inflight_reap_rest(void)
{
	int ret;

	do {
		ret = inflight_reap(INFLIGHT_QUIET_MS);
	} while (!ret);
	return ret == -EAGAIN ? 0 : ret;
}

static int inflight_listen(void)
{
	int ret;

	if (inflight.bed.fabric)
		return -EBUSY;
	ret = inflight_getinfo(FI_SOURCE, &inflight.pep_info);
	if (!ret)
		ret = tb_open(&inflight.bed, inflight.pep_info, NULL, NULL);
	if (!ret)
		ret = tb_listen(&inflight.bed, inflight.pep_info);
	return ret ? inflight_fail(ret, "listen") : 0;
}

static int inflight_accept(void)
{
	struct fi_eq_cm_entry entry;
	int ret;

	if (!inflight.bed.pep || inflight.end.ep)
		return -EINVAL;
	ret = inflight_await(FI_CONNREQ, &entry);
	if (ret)
		return inflight_fail(ret, "wait for a peer");
	inflight.info = entry.info;
	if (both)
		inflight_mark_sends();
	ret = inflight_open_ep(inflight.info);
	if (!ret)
		ret = inflight_post_all(false);
	if (!ret)
		ret = fi_accept(inflight.end.ep, NULL, 0);
	if (!ret)
		ret = inflight_await(FI_CONNECTED, &entry);
	return ret ? inflight_fail(ret, "accept the peer") : 0;
}

static int inflight_connect(void)
{
	struct fi_eq_cm_entry entry;
	int ret;

	if (inflight.bed.fabric)
		return -EBUSY;
	inflight_mark_sends();
	ret = inflight_getinfo(0, &inflight.info);
	if (!ret)
		ret = tb_open(&inflight.bed, inflight.info, NULL, NULL);
	if (!ret)
		ret = inflight_open_ep(inflight.info);
	if (!ret)
		ret = fi_connect(inflight.end.ep, NULL, NULL, 0);
	if (!ret)
		ret = inflight_await(FI_CONNECTED, &entry);
	return ret ? inflight_fail(ret, "connect") : 0;
}

static int inflight_flow(void)
{
	int ret;

	if (!inflight.end.ep)
		return -ENOTCONN;
	inflight.last_ok = ktime_get();
	ret = inflight_post_all(true);
	if (ret)
		return ret;
	while (inflight.outstanding) {
		ret = inflight_reap(patience_ms);
		if (ret)
			return inflight_fail(ret, "see all operations end");
	}
	return inflight_reap_rest();
}

/* Children before parents, and the endpoint before what is bound to it. */
static int inflight_close(void)
{
	int ret = 0, failed = 0, rest;

	if (inflight.end.ep) {
		tb_close_one(&inflight.end.ep, &failed);
		inflight_forget();
		ret = inflight_reap_rest();
	}
	/* The bed's */
	inflight.end.eq = NULL;
	rest = tb_end_close(&inflight.end);
	failed = failed ?: rest;
	rest = tb_close(&inflight.bed);
	failed = failed ?: rest;
	if (failed)
		inflight_fail(failed, "close an object; this is a bug");
	fi_freeinfo(inflight.info);
	fi_freeinfo(inflight.pep_info);
	inflight.info = NULL;
	inflight.pep_info = NULL;
	return ret;
}

static const struct {
	const char *name;
	int (*run)(void);
} inflight_steps[] = {
	{ "listen", inflight_listen },
	{ "accept", inflight_accept },
	{ "connect", inflight_connect },
	{ "flow", inflight_flow },
	{ "close", inflight_close },
};

static int inflight_step(const char *name)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(inflight_steps); i++)
		if (!strcmp(name, inflight_steps[i].name))
			break;
	if (i == ARRAY_SIZE(inflight_steps)) {
		pr_err("no such step: %s; steps: listen accept connect flow close\n", name);
		return -EINVAL;
	}
	ret = mutex_lock_interruptible(&inflight_lock);
	if (ret)
		return ret;
	ret = inflight_steps[i].run();
	mutex_unlock(&inflight_lock);
	/* write() knows only what errno.h knows */
	return ret > -FI_ERRNO_OFFSET ? ret : -EIO;
}

static ssize_t step_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	char word[16];
	ssize_t n;
	int ret;

	if (len >= sizeof(word))
		return -EINVAL;
	n = strncpy_from_user(word, ubuf, len);
	if (n < 0)
		return n;
	word[n] = '\0';
	ret = inflight_step(strim(word));
	return ret ?: len;
}

static const struct file_operations step_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = step_write,
};

static int report_show(struct seq_file *m, void *v)
{
	int error = READ_ONCE(inflight.error);

	seq_printf(m, "posted %llu\n", READ_ONCE(inflight.posted));
	seq_printf(m, "ok %llu\n", READ_ONCE(inflight.ok));
	seq_printf(m, "errors %llu\n", READ_ONCE(inflight.errors));
	seq_printf(m, "twice %llu\n", READ_ONCE(inflight.twice));
	seq_printf(m, "unknown %llu\n", READ_ONCE(inflight.unknown));
	seq_printf(m, "over %llu\n", READ_ONCE(inflight.over));
	seq_printf(m, "refused %llu\n", READ_ONCE(inflight.refused));
	seq_printf(m, "outstanding %llu\n", READ_ONCE(inflight.outstanding));
	seq_printf(m, "first_error_ms %llu\n", READ_ONCE(inflight.first_error_ms));
	seq_printf(m, "last_error_ms %llu\n", READ_ONCE(inflight.last_error_ms));
	seq_printf(m, "error %d %s, prov_errno %d\n", error, error ? fi_strerror(error) : "none",
		   READ_ONCE(inflight.prov_errno));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static void inflight_free(void)
{
	unsigned int i;

	for (i = 0; i < ops; i++)
		kfree(inflight.op[i].buf);
	kfree(inflight.op);
}

static int __init inflight_init(void)
{
	unsigned int i;

	if (ops < 2 || ops > 1024 || !size || size > 65536) {
		pr_err("ops=%u size=%u: allowed are 2 to 1024 and 1 to 65536\n", ops, size);
		return -EINVAL;
	}
	inflight.op = kcalloc(ops, sizeof(*inflight.op), GFP_KERNEL);
	if (!inflight.op)
		return -ENOMEM;
	for (i = 0; i < ops; i++) {
		inflight.op[i].buf = kzalloc(size, GFP_KERNEL);
		if (!inflight.op[i].buf) {
			inflight_free();
			return -ENOMEM;
		}
	}
	inflight_dir = debugfs_create_dir("kofi_inflight", NULL);
	debugfs_create_file("step", 0200, inflight_dir, NULL, &step_fops);
	debugfs_create_file("report", 0444, inflight_dir, NULL, &report_fops);
	return 0;
}

static void __exit inflight_exit(void)
{
	debugfs_remove_recursive(inflight_dir);
	inflight_close();
	inflight_free();
}

module_init(inflight_init);
module_exit(inflight_exit);

MODULE_DESCRIPTION("kOFI test client that accounts for operations in flight");
MODULE_LICENSE("Dual BSD/GPL");
