// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_bulk.ko: a client on the kfi_* names.
 *
 *	modprobe kofi_bulk iface=eth0
 *	modprobe kofi_bulk iface=eth0 peer=0x0a4d0001 op=both size=1048576 count=100 parallel=8
 *
 * The first serves peers until it is unloaded.  The second makes transfers while the module is
 * loaded, and loading fails if one of them does; then it serves, too.  Without iface the module
 * only has functions for others.  /sys/kernel/debug/kofi_bulk/stats has the counters of all nets.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>
#include "node.h"

#define BULK_MAX_THREADS	64
#define BULK_MAX_NETS		4

static char *iface = "";
module_param(iface, charp, 0444);
MODULE_PARM_DESC(iface, "interface to open; empty: none");

static unsigned short net;
module_param(net, ushort, 0444);
MODULE_PARM_DESC(net, "net number, also of the peer");

static int nets = 1;
module_param(nets, int, 0444);
MODULE_PARM_DESC(nets, "nets to open, from net on, 1 to 4; threads take them in turns");

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

static unsigned int refuse;
module_param(refuse, uint, 0444);
MODULE_PARM_DESC(refuse, "have the peer refuse every refuse-th transfer of a thread, not of imm; 0: none");

static unsigned int cancel;
module_param(cancel, uint, 0444);
MODULE_PARM_DESC(cancel, "give up every cancel-th transfer of a thread at once, not of imm; 0: none");

static struct bulk_node *bulk_nodes[BULK_MAX_NETS];
static struct dentry *bulk_dir;

/* How many threads have not made their transfers yet */
static atomic_t bulk_left;
static DECLARE_WAIT_QUEUE_HEAD(bulk_wait);

/**
 * struct bulk_thread - A thread that makes transfers
 * @task: the thread
 * @number: which
 * @node: this end
 * @ctx: context of this end
 * @peer: with whom
 * @ret: 0, or the first error
 */
struct bulk_thread {
	struct task_struct	*task;
	int			number;
	struct bulk_node	*node;
	int			ctx;
	struct bulk_peer	*peer;
	int			ret;
};

/* Counters of all nets */
struct bulk_sums {
	int	done;
	int	failed;
	int	served;
	int	refused;
	int	bad;
	int	broken;
};

static const char *const bulk_ops[] = { "imm", "put", "get", "both" };

static int bulk_check(void)
{
	if (match_string(bulk_ops, ARRAY_SIZE(bulk_ops), op) < 0)
		pr_err("op=%s: allowed are imm, put, get, both\n", op);
	else if (nets < 1 || nets > BULK_MAX_NETS)
		pr_err("nets=%d: allowed are 1 to %d\n", nets, BULK_MAX_NETS);
	else if (contexts < 1 || contexts > BULK_MAX_CTXS)
		pr_err("contexts=%d: allowed are 1 to %d\n", contexts, BULK_MAX_CTXS);
	else if (!size || size > (strcmp(op, "imm") ? 1 << 20 : BULK_IMM_MAX))
		pr_err("size=%u: allowed are 1 to 1048576, and of imm to %d\n", size,
		       BULK_IMM_MAX);
	else if (parallel < 1 || parallel > BULK_MAX_THREADS)
		pr_err("parallel=%d: allowed are 1 to %d\n", parallel, BULK_MAX_THREADS);
	else if (!timeout || timeout > 3600)
		pr_err("timeout=%u: allowed are 1 to 3600\n", timeout);
	else if ((refuse || cancel) && !strcmp(op, "imm"))
		pr_err("op=imm: nobody waits for a message, so it is neither refused nor given up\n");
	else
		return 0;
	return -EINVAL;
}

static struct bulk_sums bulk_sum(void)
{
	const struct bulk_stats *stats;
	struct bulk_sums sums = {};
	int i;

	for (i = 0; i < nets; i++) {
		stats = bulk_node_stats(bulk_nodes[i]);
		sums.done += atomic_read(&stats->done);
		sums.failed += atomic_read(&stats->failed);
		sums.served += atomic_read(&stats->served);
		sums.refused += atomic_read(&stats->refused);
		sums.bad += atomic_read(&stats->bad);
		sums.broken += atomic_read(&stats->broken);
	}
	return sums;
}

static int stats_show(struct seq_file *m, void *v)
{
	const struct bulk_sums sums = bulk_sum();

	seq_printf(m, "done %d\nfailed %d\nserved %d\nrefused %d\nbad %d\nbroken %d\n", sums.done,
		   sums.failed, sums.served, sums.refused, sums.bad, sums.broken);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static enum bulk_kind bulk_kind_of(unsigned int i)
{
	if (!strcmp(op, "imm"))
		return BULK_IMM;
	if (!strcmp(op, "both"))
		return i % 2 ? BULK_PUT : BULK_GET;
	return strcmp(op, "put") ? BULK_GET : BULK_PUT;
}

static bool bulk_nth(unsigned int i, unsigned int n)
{
	return n && i % n == n - 1;
}

/* Makes transfer @i; returns 0 also if it has failed as it had to */
static int bulk_one(const struct bulk_thread *thread, unsigned int i)
{
	const struct bulk_work work = {
		.kind	= bulk_kind_of(i),
		.ctx	= thread->ctx,
		.len	= size,
		.seed	= i + thread->number,
		.fail	= bulk_nth(i, refuse) ? ENOSPC : 0,
	};
	bool cancelled = bulk_nth(i, cancel);
	int ret;

	ret = bulk_transfer(thread->node, thread->peer, &work,
			    cancelled ? 1 : timeout * MSEC_PER_SEC);
	if (cancelled && ret == -ETIMEDOUT)
		return 0;
	if (work.fail && ret == -work.fail)
		return 0;
	return work.fail && !ret ? -EUCLEAN : ret;
}

static int bulk_thread(void *data)
{
	struct bulk_thread *thread = data;
	unsigned int i;

	for (i = 0; i < count && !thread->ret; i++) {
		thread->ret = bulk_one(thread, i);
		if (thread->ret)
			pr_err("transfer %u of thread %d: %d\n", i, thread->number, thread->ret);
	}
	if (atomic_dec_and_test(&bulk_left))
		wake_up(&bulk_wait);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* @with: the peer in each net */
static int bulk_run(struct bulk_peer **with)
{
	struct bulk_thread *threads = kcalloc(parallel, sizeof(*threads), GFP_KERNEL);
	int i, ret = 0;

	if (!threads)
		return -ENOMEM;
	atomic_set(&bulk_left, parallel);
	for (i = 0; i < parallel; i++) {
		threads[i] = (struct bulk_thread) {
			.number = i, .node = bulk_nodes[i % nets], .ctx = i / nets,
			.peer = with[i % nets],
		};
		threads[i].task = kthread_run(bulk_thread, &threads[i], "kofi_bulk%d", i);
		if (IS_ERR(threads[i].task))
			atomic_dec(&bulk_left);
	}
	/* However long that takes, it is no task that hangs */
	wait_event_idle(bulk_wait, !atomic_read(&bulk_left));
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
	struct bulk_peer *with[BULK_MAX_NETS];
	struct bulk_sums sums;
	int i, ret;
	u32 addr;

	ret = kstrtou32(peer, 0, &addr);
	if (ret) {
		pr_err("peer=%s: it is a number, as 0x0a4d0001\n", peer);
		return ret;
	}
	for (i = 0; i < nets && !ret; i++) {
		with[i] = bulk_peer_find(bulk_nodes[i], addr, net + i);
		ret = with[i] ? 0 : -EHOSTUNREACH;
	}
	ret = ret ? : bulk_run(with);
	sums = bulk_sum();
	pr_info("%d done, %d failed, %d with wrong bytes, %d completions out of place: %d\n",
		sums.done, sums.failed, sums.bad, sums.broken, ret);
	return ret;
}

/* Returns 0, or the first error of a close */
static int bulk_close(void)
{
	int i, err, ret = 0;

	for (i = 0; i < nets && bulk_nodes[i]; i++) {
		err = bulk_node_close(bulk_nodes[i]);
		bulk_nodes[i] = NULL;
		ret = ret ? : err;
	}
	return ret;
}

static int bulk_open(void)
{
	struct bulk_node *node;
	int i;

	for (i = 0; i < nets; i++) {
		node = bulk_node_open(iface, net + i, contexts);
		if (IS_ERR(node)) {
			bulk_close();
			return PTR_ERR(node);
		}
		bulk_nodes[i] = node;
	}
	return 0;
}

static int __init bulk_init(void)
{
	int ret;

	bulk_pattern_init();
	if (!*iface)
		return 0;
	ret = bulk_check();
	if (ret)
		return ret;
	ret = bulk_open();
	if (ret)
		return ret;
	bulk_dir = debugfs_create_dir("kofi_bulk", NULL);
	debugfs_create_file("stats", 0444, bulk_dir, NULL, &stats_fops);
	ret = *peer ? bulk_meet() : 0;
	if (ret) {
		debugfs_remove_recursive(bulk_dir);
		bulk_close();
	}
	return ret;
}

static void __exit bulk_exit(void)
{
	struct bulk_sums sums;

	if (!bulk_nodes[0])
		return;
	debugfs_remove_recursive(bulk_dir);
	sums = bulk_sum();
	pr_info("%d served, %d refused, %d with wrong bytes, %d completions out of place\n",
		sums.served, sums.refused, sums.bad, sums.broken);
	if (bulk_close())
		pr_err("a close failed\n");
}

module_init(bulk_init);
module_exit(bulk_exit);
MODULE_DESCRIPTION("A client on the kfi_* names, over kOFI");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
