// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_interop.ko: the end of scripts/interop that is in the kernel.
 *
 * A step is what is written to /sys/kernel/debug/kofi_interop/step; the write
 * returns when the step is done, with its error if it failed.
 *
 *	listen PLAN	wait at node= and service= for a peer
 *	serve		do everything with the peer that connects
 *	connect PLAN	do everything with the peer that listens there
 *
 * "serve" and "connect" fail, too, when something was wrong; they close
 * everything at their end.  The file "report" has a line per case then: who was
 * the initiator, the case, operations, bytes, errors, and what was wrong first.
 *
 * Locking: interop_lock serializes the steps and protects what they use.
 */
#include "interop.h"

#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <kofi/pmem.h>

static char *node = "10.77.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the listening side");

static int service = 7473;
module_param(service, int, 0444);
MODULE_PARM_DESC(service, "port of the listening side");

/* Memory consists of such pieces, so that lists are used, too */
#define INTEROP_PIECE	SZ_1M

static struct interop_end *interop_end;
static DEFINE_MUTEX(interop_lock);
static struct dentry *interop_dir;

int interop_getinfo(const char *host, int port, __u64 flags,
		    const struct fi_info *hints, struct fi_info **info)
{
	return fi_getinfo(INTEROP_API, host, port, flags, hints, info);
}

int interop_alloc(struct interop_mem *mem, size_t size)
{
	unsigned int i, order;
	size_t piece;

	mem->size = size;
	mem->piece_size = min_t(size_t, size, INTEROP_PIECE);
	order = get_order(mem->piece_size);
	for (i = 0, piece = 0; piece < size; i++, piece += mem->piece_size) {
		mem->piece[i] = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, order);
		if (!mem->piece[i])
			return -ENOMEM;
	}
	return 0;
}

void interop_free(struct interop_mem *mem)
{
	unsigned int i;

	for (i = 0; i < INTEROP_PIECES && mem->piece[i]; i++)
		free_pages((unsigned long)mem->piece[i], get_order(mem->piece_size));
	memset(mem, 0, sizeof(*mem));
}

/* What of our region has been made durable; written by the provider's worker */
static size_t interop_handed, interop_fenced;

static bool interop_is_persistent(const void *addr, size_t len)
{
	return true;
}

static void interop_write_back(void *addr, size_t len)
{
	WRITE_ONCE(interop_handed, interop_handed + len);
}

static void interop_fence(void)
{
	WRITE_ONCE(interop_fenced, interop_handed);
}

static const struct kofi_pmem_ops interop_pmem_ops = {
	.is_persistent	= interop_is_persistent,
	.write_back	= interop_write_back,
	.fence		= interop_fence,
	.owner		= THIS_MODULE,
};

__u64 interop_persistent(void)
{
	kofi_pmem_set_ops(&interop_pmem_ops);
	return FI_RMA_PMEM;
}

bool interop_durable(size_t len)
{
	bool ret = READ_ONCE(interop_fenced) == len && READ_ONCE(interop_handed) == len;

	interop_handed = 0;
	interop_fenced = 0;
	return ret;
}

/* The process sees those of both ends, as they are in one guest */
int interop_connections(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	return -1;
}

static int interop_failed(const char *what, int ret)
{
	pr_err("%s: %s (%d)\n", what, fi_strerror(-ret), ret);
	return ret;
}

/* The end of a run; its results stay for "report". */
static int interop_done(const char *what, int ret)
{
	int closed = interop_close(interop_end);

	kofi_pmem_set_ops(NULL);
	if (!ret)
		ret = closed;
	if (ret)
		return interop_failed(what, ret);
	if (!interop_good(interop_end)) {
		pr_err("%s: something was wrong, see the report\n", what);
		return -EBADMSG;
	}
	pr_info("%s: everything was right\n", what);
	return 0;
}

/* A new run: zeroed, but for nothing that is open */
static int interop_begin(const char *plan)
{
	if (interop_end && interop_end->fabric)
		return -EBUSY;
	kfree(interop_end);
	interop_end = kzalloc(sizeof(*interop_end), GFP_KERNEL);
	return interop_end ? interop_choose(interop_end, plan) : -ENOMEM;
}

static int interop_step_listen(const char *plan)
{
	int ret;

	ret = interop_begin(plan);
	if (ret)
		return ret;
	ret = interop_listen(interop_end, node, service);
	return ret ? interop_done("listen", ret) : 0;
}

static int interop_step_serve(const char *plan)
{
	if (!interop_end || (!interop_end->pep && !interop_end->av))
		return -EINVAL;
	return interop_done("serve", interop_serve(interop_end));
}

static int interop_step_connect(const char *plan)
{
	int ret;

	ret = interop_begin(plan);
	if (ret)
		return ret;
	return interop_done("connect", interop_connect(interop_end, node, service));
}

static const struct {
	const char	*name;
	int		(*step)(const char *plan);
} interop_steps[] = {
	{ "listen", interop_step_listen },
	{ "serve", interop_step_serve },
	{ "connect", interop_step_connect },
};

static ssize_t interop_step_write(struct file *file, const char __user *buf,
				  size_t len, loff_t *pos)
{
	char text[40] = "", *word, *plan;
	size_t i;
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	plan = strim(text);
	word = strsep(&plan, " ");
	for (i = 0; i < ARRAY_SIZE(interop_steps); i++) {
		if (strcmp(word, interop_steps[i].name))
			continue;
		if (mutex_lock_interruptible(&interop_lock))
			return -EINTR;
		ret = interop_steps[i].step(plan ? : "");
		mutex_unlock(&interop_lock);
		return ret ? ret : len;
	}
	return -EINVAL;
}

static const struct file_operations interop_step_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= interop_step_write,
};

static int interop_report_show(struct seq_file *seq, void *unused)
{
	unsigned int i = 0;
	char line[256];

	if (mutex_lock_interruptible(&interop_lock))
		return -EINTR;
	while (interop_end && interop_line(interop_end, i++, line, sizeof(line)))
		seq_puts(seq, line);
	mutex_unlock(&interop_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(interop_report);

static int __init interop_init(void)
{
	interop_dir = debugfs_create_dir("kofi_interop", NULL);
	debugfs_create_file("step", 0200, interop_dir, NULL, &interop_step_fops);
	debugfs_create_file("report", 0400, interop_dir, NULL, &interop_report_fops);
	return 0;
}

static void __exit interop_exit(void)
{
	debugfs_remove(interop_dir);
	if (interop_end)
		interop_close(interop_end);
	kfree(interop_end);
}

module_init(interop_init);
module_exit(interop_exit);

MODULE_DESCRIPTION("The kernel's end of the interoperation test with libfabric");
MODULE_LICENSE("Dual BSD/GPL");
