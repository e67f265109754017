// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_fabtests.ko: a peer of the tests that come with libfabric's source, as client or as
 * server.
 *
 * Loading the module runs one test and returns when the test has ended, with the test's error if
 * it failed.  With background=1 loading returns as soon as a client can connect, and debugfs
 * reports how the test ended.  With both=1 one load runs both ends, each in a thread.
 *
 * Locking: the thread of an end is the only one to write its struct ft_end (see fabtests.h).
 * A change of state wakes all tasks that wait on ft_state_wait.  ft_halt() ends a thread at any
 * point: it sets e->stop and sends SIGTERM.  A thread that has just started and does not take the
 * signal yet checks e->stop as soon as it takes signals.  ft_cause is the end that failed first,
 * because an error of the second end mostly follows from the first error.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait.h>
#include <net/net_namespace.h>

#include "fabtests.h"

struct ft_end ft_server = { .name = "server" };
struct ft_end ft_client = { .name = "client", .client = true };
struct net *ft_net;

static struct ft_end *ft_cause;
static DECLARE_WAIT_QUEUE_HEAD(ft_state_wait);

const struct ft_test ft_tests[] = {
	{ .name = "msg", .type = FI_EP_MSG, .caps = FI_MSG, .run = ft_greeting },
	{ .name = "rdm", .type = FI_EP_RDM, .caps = FI_MSG, .run = ft_greeting },
	{ .name = "msg_pingpong", .type = FI_EP_MSG, .caps = FI_MSG, .run_size = ft_pingpong },
	{ .name = "rdm_pingpong", .type = FI_EP_RDM, .caps = FI_MSG, .run_size = ft_pingpong },
	{ .name = "rdm_tagged_pingpong", .type = FI_EP_RDM, .caps = FI_TAGGED,
	  .run_size = ft_pingpong },
	{ .name = "msg_bw", .type = FI_EP_MSG, .caps = FI_MSG, .windowed = true,
	  .run_size = ft_bw },
	{ .name = "rdm_bw", .type = FI_EP_RDM, .caps = FI_MSG, .windowed = true,
	  .run_size = ft_bw },
	{ .name = "rdm_tagged_bw", .type = FI_EP_RDM, .caps = FI_TAGGED, .windowed = true,
	  .run_size = ft_bw },
	{ .name = "rma_bw", .caps = FI_MSG | FI_RMA, .windowed = true, .run_size = ft_rma_bw },
	{ .name = "cq_data", .caps = FI_MSG, .run = ft_cq_data },
	{ .name = "cm_data", .type = FI_EP_MSG, .caps = FI_MSG, .unposted = true,
	  .meet = ft_cm_data },
	{ .name = "unexpected_msg", .type = FI_EP_RDM, .caps = FI_TAGGED, .unposted = true,
	  .run = ft_unexpected },
	{ }
};

void ft_set_state(struct ft_end *e, enum ft_state state)
{
	/* Publishes the error and its text before the state; pairs with ft_get_state() */
	smp_store_release(&e->state, state);
	wake_up_all(&ft_state_wait);
}

enum ft_state ft_get_state(struct ft_end *e)
{
	/* Pairs with ft_set_state() */
	return smp_load_acquire(&e->state);
}

static bool ft_ended(struct ft_end *e)
{
	enum ft_state state = ft_get_state(e);

	return state == FT_UNUSED || state == FT_ENDED;
}

/* Wait until the server listens; returns 0, the server's error, or -EINTR. */
int ft_wait_listening(void)
{
	if (wait_event_interruptible(ft_state_wait, ft_get_state(&ft_server) != FT_STARTING))
		return -EINTR;
	return ft_ended(&ft_server) ? ft_server.err : 0;
}

/* Wait until all ends have ended; @failed: the end that failed first, or NULL. */
int ft_wait_ended(struct ft_end **failed)
{
	if (wait_event_interruptible(ft_state_wait,
				     ft_ended(&ft_server) && ft_ended(&ft_client)))
		return -EINTR;
	*failed = READ_ONCE(ft_cause);
	return 0;
}

/*
 * Record that @step failed with @err, and in @todo what the user can do.  Only the first error of
 * an end is kept.  Returns @err.
 */
int ft_fail(struct ft_end *e, int err, const char *todo, const char *step, ...)
{
	struct va_format text = { .fmt = step };
	bool stop = READ_ONCE(e->stop);
	va_list args;

	if (e->err)
		return err;
	va_start(args, step);
	text.va = &args;
	scnprintf(e->error, sizeof(e->error), "%s: %pV: %s%s%s", e->name, &text,
		  stop ? "stopped" : fi_strerror(-err), todo ? "; " : "", todo ?: "");
	va_end(args);
	e->err = err;
	cmpxchg(&ft_cause, NULL, e);
	if (stop)
		pr_info("%s\n", e->error);
	else
		pr_err("error %d %s\n", err, e->error);
	return err;
}

static void ft_halt(struct ft_end *e)
{
	WRITE_ONCE(e->stop, true);
	send_sig(SIGTERM, e->task, 1);
}

static int ft_run_sizes(struct ft_end *e)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ft_params.nr_sizes; i++) {
		ret = ft_params.test->run_size(e, ft_params.sizes[i]);
		if (ret)
			return ret;
	}
	return ft_finalize(e);
}

static int ft_run(struct ft_end *e)
{
	const struct ft_test *test = ft_params.test;
	int ret;

	if (e->client && ft_params.server) {
		ret = ft_wait_listening();
		if (ret)
			return ft_fail(e, ret, NULL, "wait for the server");
	}
	if (test->meet)
		return test->meet(e);
	ret = ft_connect(e);
	if (!ret && test->caps & FI_RMA)
		ret = ft_exchange_keys(e);
	if (ret)
		return ret;
	return test->run_size ? ft_run_sizes(e) : test->run(e);
}

static int ft_thread(void *data)
{
	struct ft_end *e = data;
	int ret = -EINTR;

	allow_kernel_signal(SIGTERM);
	if (READ_ONCE(e->stop))
		ft_fail(e, ret, NULL, "start");
	else
		ret = ft_run(e);
	/* No other client will come; ft_server.task is set, as the server starts first */
	if (ret && e->client && ft_params.server)
		ft_halt(&ft_server);
	ft_close(e);
	ft_oob_close(e);
	if (!e->err)
		pr_info("%s: %s ok, %llu contents checked\n", e->name, ft_params.test->name,
			e->checked);
	ft_set_state(e, FT_ENDED);
	return 0;
}

static int ft_start(struct ft_end *e)
{
	struct task_struct *task;

	task = kthread_create(ft_thread, e, "kofi_ft_%s", e->name);
	if (IS_ERR(task)) {
		pr_err("cannot start the thread of the %s: %ld\n", e->name, PTR_ERR(task));
		return PTR_ERR(task);
	}
	ft_set_state(e, FT_STARTING);
	e->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

static void ft_stop(struct ft_end *e)
{
	if (!e->task)
		return;
	ft_halt(e);
	kthread_stop(e->task);
	put_task_struct(e->task);
	e->task = NULL;
}

/* Wait as background= asks for; returns the result of loading the module */
static int ft_await(void)
{
	struct ft_end *failed = NULL;
	int ret = 0;

	if (!ft_params.background)
		ret = ft_wait_ended(&failed);
	else if (ft_params.server)
		ret = ft_wait_listening();
	if (!ret && failed)
		ret = failed->err;
	/* Loading may return only codes of errno.h */
	return ret > -FI_ERRNO_OFFSET ? ret : -EIO;
}

static int __init ft_init(void)
{
	int ret;

	ft_net = get_net(current->nsproxy->net_ns);
	ret = ft_params_parse(ft_net);
	if (ret)
		goto err_net;
	ft_debugfs_init();
	if (ft_params.server)
		ret = ft_start(&ft_server);
	if (!ret && ft_params.client)
		ret = ft_start(&ft_client);
	if (!ret)
		ret = ft_await();
	if (ret)
		goto err_ends;
	return 0;

err_ends:
	ft_stop(&ft_client);
	ft_stop(&ft_server);
	ft_debugfs_exit();
err_net:
	put_net(ft_net);
	return ret;
}

static void __exit ft_exit(void)
{
	ft_stop(&ft_client);
	ft_stop(&ft_server);
	ft_debugfs_exit();
	put_net(ft_net);
}

module_init(ft_init);
module_exit(ft_exit);

MODULE_DESCRIPTION("kOFI peer of libfabric's fabtests");
MODULE_LICENSE("Dual BSD/GPL");
