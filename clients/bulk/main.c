// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_bulk.ko: a client on the kfi_* names.
 *
 *	modprobe kofi_bulk iface=eth0
 *	modprobe kofi_bulk iface=eth0 peer=0x0a4d0001 op=both size=1048576 count=100 parallel=8
 *
 * The first serves peers until it is unloaded.  The second makes transfers while the module is
 * loaded, and loading fails if one of them does; then it serves, too.  Without iface the module
 * only has functions for others.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "bulk.h"

#define BULK_MAX_THREADS	64

static char *iface = "";
module_param(iface, charp, 0444);
MODULE_PARM_DESC(iface, "interface to open; empty: none");

static unsigned short net;
module_param(net, ushort, 0444);
MODULE_PARM_DESC(net, "net number, also of the peer");

static int contexts = 1;
module_param(contexts, int, 0444);
MODULE_PARM_DESC(contexts, "contexts of each direction, 1 to 16");

static char *peer = "";
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "IPv4 address of the peer as a number, 0x0a4d0001; empty: serve only");

static char *op = "both";
module_param(op, charp, 0444);
MODULE_PARM_DESC(op, "imm, put, get, or both: put and get in turns");

static unsigned int size = 1 << 20;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "bytes of a transfer, 1 to 1048576; of imm at most 4000");

static unsigned int count = 100;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "transfers of each thread");

static int parallel = 1;
module_param(parallel, int, 0444);
MODULE_PARM_DESC(parallel, "threads, 1 to 64");

static unsigned int timeout = 30;
module_param(timeout, uint, 0444);
MODULE_PARM_DESC(timeout, "seconds after which a transfer is given up");

static struct bulk_node *bulk_node;

/**
 * struct bulk_thread - A thread that makes transfers
 * @task: the thread
 * @number: which
 * @peer: with whom
 * @ret: 0, or the first error
 */
struct bulk_thread {
	struct task_struct	*task;
	int			number;
	struct bulk_peer	*peer;
	int			ret;
};

static const char *const bulk_ops[] = { "imm", "put", "get", "both" };

static int bulk_check(void)
{
	if (match_string(bulk_ops, ARRAY_SIZE(bulk_ops), op) < 0)
		pr_err("op=%s: allowed are imm, put, get, both\n", op);
	else if (contexts < 1 || contexts > BULK_MAX_CTXS)
		pr_err("contexts=%d: allowed are 1 to %d\n", contexts, BULK_MAX_CTXS);
	else if (!size || size > (strcmp(op, "imm") ? 1 << 20 : BULK_IMM_MAX))
		pr_err("size=%u: allowed are 1 to 1048576, and of imm to %d\n", size,
		       BULK_IMM_MAX);
	else if (parallel < 1 || parallel > BULK_MAX_THREADS)
		pr_err("parallel=%d: allowed are 1 to %d\n", parallel, BULK_MAX_THREADS);
	else if (!timeout || timeout > 3600)
		pr_err("timeout=%u: allowed are 1 to 3600\n", timeout);
	else
		return 0;
	return -EINVAL;
}

static enum bulk_kind bulk_kind_of(unsigned int i)
{
	if (!strcmp(op, "imm"))
		return BULK_IMM;
	if (!strcmp(op, "both"))
		return i % 2 ? BULK_PUT : BULK_GET;
	return strcmp(op, "put") ? BULK_GET : BULK_PUT;
}

static int bulk_thread(void *data)
{
	struct bulk_thread *thread = data;
	unsigned int i;
	int ret;

	for (i = 0; i < count && !thread->ret; i++) {
		const struct bulk_work work = {
			.kind	= bulk_kind_of(i),
			.ctx	= thread->number,
			.len	= size,
			.seed	= i + thread->number,
		};

		ret = bulk_transfer(bulk_node, thread->peer, &work, timeout * MSEC_PER_SEC);
		if (ret) {
			pr_err("transfer %u of thread %d: %d\n", i, thread->number, ret);
			thread->ret = ret;
		}
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int bulk_run(struct bulk_peer *with)
{
	struct bulk_thread *threads = kcalloc(parallel, sizeof(*threads), GFP_KERNEL);
	int i, ret = 0;

	if (!threads)
		return -ENOMEM;
	for (i = 0; i < parallel; i++) {
		threads[i] = (struct bulk_thread) { .number = i, .peer = with };
		threads[i].task = kthread_run(bulk_thread, &threads[i], "kofi_bulk%d", i);
	}
	for (i = 0; i < parallel; i++) {
		if (IS_ERR(threads[i].task))
			threads[i].ret = PTR_ERR(threads[i].task);
		else
			kthread_stop(threads[i].task);
		ret = ret ? : threads[i].ret;
	}
	kfree(threads);
	return ret;
}

static int bulk_meet(void)
{
	const struct bulk_stats *stats = bulk_node_stats(bulk_node);
	struct bulk_peer *with;
	u32 addr;
	int ret;

	ret = kstrtou32(peer, 0, &addr);
	if (ret) {
		pr_err("peer=%s: it is a number, as 0x0a4d0001\n", peer);
		return ret;
	}
	with = bulk_peer_find(bulk_node, addr, net);
	ret = with ? bulk_run(with) : -EHOSTUNREACH;
	pr_info("%d done, %d failed, %d with wrong bytes, %d completions out of place: %d\n",
		atomic_read(&stats->done), atomic_read(&stats->failed), atomic_read(&stats->bad),
		atomic_read(&stats->broken), ret);
	return ret;
}

static int __init bulk_init(void)
{
	int ret;

	if (!*iface)
		return 0;
	ret = bulk_check();
	if (ret)
		return ret;
	bulk_node = bulk_node_open(iface, net, contexts);
	if (IS_ERR(bulk_node))
		return PTR_ERR(bulk_node);
	ret = *peer ? bulk_meet() : 0;
	if (ret)
		bulk_node_close(bulk_node);
	return ret;
}

static void __exit bulk_exit(void)
{
	const struct bulk_stats *stats;

	if (!bulk_node)
		return;
	stats = bulk_node_stats(bulk_node);
	pr_info("%d served, %d refused, %d with wrong bytes, %d completions out of place\n",
		atomic_read(&stats->served), atomic_read(&stats->refused),
		atomic_read(&stats->bad), atomic_read(&stats->broken));
	if (bulk_node_close(bulk_node))
		pr_err("a close failed\n");
}

module_init(bulk_init);
module_exit(bulk_exit);
MODULE_DESCRIPTION("A client on the kfi_* names, over kOFI");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
