// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_pingpong.ko: the kernel's fi_pingpong.  Its peer is another
 * kofi_pingpong, itself (role=both), or the fi_pingpong that comes with
 * libfabric, as client or as server.
 *
 * Loading the module starts a thread for each role and returns.  A thread runs
 * its role once and ends; its results stay readable until the module is
 * unloaded.  Unloading interrupts a thread at any point and waits for its end:
 * pp_halt() sets r->stop and sends SIGTERM.  A thread that has just started and
 * does not take the signal yet checks r->stop as soon as it takes signals.
 *
 * Locking: a role's thread is the only one to write its struct pp_role (see
 * pingpong.h).  A change of state wakes all tasks that wait on pp_state_wait.
 * pp_cause is the role that failed first; an error of the second role mostly
 * follows from the first error.
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

#include "pingpong.h"

struct pp_role pp_server = { .name = "server", .server = true };
struct pp_role pp_client = { .name = "client" };
struct net *pp_net;

static struct pp_role *pp_cause;
static DECLARE_WAIT_QUEUE_HEAD(pp_state_wait);

void pp_set_state(struct pp_role *r, enum pp_state state)
{
	/* Publishes the error and its text before the state; pairs with pp_get_state() */
	smp_store_release(&r->state, state);
	wake_up_all(&pp_state_wait);
}

enum pp_state pp_get_state(struct pp_role *r)
{
	/* Pairs with pp_set_state() */
	return smp_load_acquire(&r->state);
}

static bool pp_ended(struct pp_role *r)
{
	enum pp_state state = pp_get_state(r);

	return state == PP_UNUSED || state == PP_ENDED;
}

/* Wait until the server listens; returns 0, the server's error, or -EINTR. */
int pp_wait_listening(void)
{
	if (wait_event_interruptible(pp_state_wait,
				     pp_get_state(&pp_server) != PP_STARTING))
		return -EINTR;
	return pp_ended(&pp_server) ? pp_server.err : 0;
}

/* Wait until all roles have ended; @failed: the role that failed first, or NULL. */
int pp_wait_ended(struct pp_role **failed)
{
	if (wait_event_interruptible(pp_state_wait,
				     pp_ended(&pp_server) &&
				     pp_ended(&pp_client)))
		return -EINTR;
	*failed = READ_ONCE(pp_cause);
	return 0;
}

/*
 * Record that @step failed with @err, and in @todo what the user can do.  Only
 * a role's first error is kept.  Returns @err.
 */
int pp_fail(struct pp_role *r, int err, const char *todo, const char *step, ...)
{
	struct va_format text = { .fmt = step };
	bool stop = READ_ONCE(r->stop);
	va_list args;

	if (r->err)
		return err;
	va_start(args, step);
	text.va = &args;
	scnprintf(r->error, sizeof(r->error), "%s: %pV: %s%s%s", r->name, &text,
		  stop ? "stopped" : fi_strerror(-err), todo ? "; " : "",
		  todo ?: "");
	va_end(args);
	r->err = err;
	cmpxchg(&pp_cause, NULL, r);
	if (stop)
		pr_info("%s\n", r->error);
	else
		pr_err("error %d %s\n", err, r->error);
	return err;
}

/* End @r's thread at any point of its run. */
static void pp_halt(struct pp_role *r)
{
	WRITE_ONCE(r->stop, true);
	send_sig(SIGTERM, r->task, 1);
}

static int pp_serve(struct pp_role *r)
{
	struct sockaddr_storage local;
	int ret;

	ret = pp_fabric_probe(r);
	if (!ret)
		ret = pp_ctrl_listen(r);
	if (ret)
		return ret;
	pp_set_state(r, PP_LISTENING);
	ret = pp_ctrl_accept(r, &local);
	if (!ret)
		ret = pp_fabric_serve(r, &local);
	if (!ret)
		ret = pp_run(r);
	return ret;
}

static int pp_call(struct pp_role *r)
{
	int ret;

	if (pp_params.server) {
		ret = pp_wait_listening();
		if (ret)
			return pp_fail(r, ret, NULL, "wait for the server role");
	}
	ret = pp_ctrl_connect(r);
	if (!ret)
		ret = pp_fabric_connect(r);
	if (!ret)
		ret = pp_run(r);
	/* No other client will come; pp_server.task is set, as the server starts first */
	if (ret && pp_params.server)
		pp_halt(&pp_server);
	return ret;
}

static int pp_thread(void *data)
{
	struct pp_role *r = data;

	allow_kernel_signal(SIGTERM);
	if (READ_ONCE(r->stop))
		pp_fail(r, -EINTR, NULL, "start");
	else if (r->server)
		pp_serve(r);
	else
		pp_call(r);
	pp_fabric_close(r);
	pp_ctrl_close(r);
	pp_set_state(r, PP_ENDED);
	return 0;
}

static int pp_start(struct pp_role *r)
{
	struct task_struct *task;

	pp_set_state(r, PP_STARTING);
	task = kthread_create(pp_thread, r, "kofi_pp_%s", r->name);
	if (IS_ERR(task)) {
		pr_err("cannot start the thread of role %s: %ld\n", r->name,
		       PTR_ERR(task));
		return PTR_ERR(task);
	}
	r->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

static void pp_stop(struct pp_role *r)
{
	if (!r->task)
		return;
	pp_halt(r);
	kthread_stop(r->task);
	put_task_struct(r->task);
}

static int __init pp_init(void)
{
	int ret;

	pp_net = get_net(current->nsproxy->net_ns);
	ret = pp_params_parse(pp_net);
	if (ret)
		goto err_net;
	pp_pattern_init();
	if (pp_params.server) {
		ret = pp_start(&pp_server);
		if (ret)
			goto err_net;
	}
	if (pp_params.client) {
		ret = pp_start(&pp_client);
		if (ret)
			goto err_server;
	}
	pp_debugfs_init();
	return 0;

err_server:
	pp_stop(&pp_server);
err_net:
	put_net(pp_net);
	return ret;
}

static void __exit pp_exit(void)
{
	pp_stop(&pp_client);
	pp_stop(&pp_server);
	pp_debugfs_exit();
	put_net(pp_net);
}

module_init(pp_init);
module_exit(pp_exit);

MODULE_DESCRIPTION("kOFI ping-pong, a peer of libfabric's fi_pingpong");
MODULE_LICENSE("Dual BSD/GPL");
