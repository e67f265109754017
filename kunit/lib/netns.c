// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Network namespaces that come and go.
 *
 * Only user space can make one, so a shell starts a process that has one of its own and
 * leaves its number in a file.  The namespace goes when that process has ended and
 * nobody holds it.
 *
 * A pernet subsystem of ours tells when.  The exits of pernet devices, kofi.ko's among
 * them, have run by then.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/umh.h>
#include "client.h"
#include "file.h"
#include "netns.h"

#define PID_FILE	"/tmp/kofi_netns"
#define PIPE		PID_FILE ".up"
#define STAY		"sh -c 'echo $$ >" PIPE "; exec sleep 100000'"

/* The process is there, and in its namespace, when it writes to the pipe */
#define NEW_PIPE	"rm -f " PIPE " && mkfifo " PIPE
#define START(how)	"{ unshare " how " " STAY " </dev/null >/dev/null 2>&1 & }"
#define TAKE_PID	"cat " PIPE " >" PID_FILE
#define NEW(how)	NEW_PIPE " && " START(how) " && " TAKE_PID

static struct vt_netns *current_netns;

int vt_shell(const char *command)
{
	char *argv[4] = {}, *envp[2] = {};

	envp[0] = "PATH=/sbin:/bin";
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = (char *)command;
	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
}
EXPORT_SYMBOL_GPL(vt_shell);

static int netns_read_pid(void)
{
	struct file *file = vt_file_open(PID_FILE, O_RDONLY);
	char text[16] = "";
	loff_t pos = 0;
	ssize_t len;
	int pid;

	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_read(file, text, sizeof(text) - 1, &pos);
	filp_close(file, NULL);
	if (len <= 0 || kstrtoint(strim(text), 10, &pid))
		return -EIO;
	return pid;
}

static void __net_exit netns_exit(struct net *net)
{
	if (current_netns && net == current_netns->net)
		complete_all(&current_netns->gone);
}

static struct pernet_operations netns_ops = {
	.exit	= netns_exit,
};

void vt_netns_let_go(struct vt_netns *netns)
{
	char command[32];

	if (!netns->held)
		return;
	snprintf(command, sizeof(command), "kill -9 %d", netns->pid);
	vt_shell(command);
	netns->held = false;
	put_net(netns->net);
}
EXPORT_SYMBOL_GPL(vt_netns_let_go);

bool vt_netns_is_gone(struct vt_netns *netns)
{
	return wait_for_completion_timeout(&netns->gone,
					   msecs_to_jiffies(VT_PATIENCE_MS));
}
EXPORT_SYMBOL_GPL(vt_netns_is_gone);

bool vt_netns_stays(struct vt_netns *netns)
{
	return !wait_for_completion_timeout(&netns->gone, HZ);
}
EXPORT_SYMBOL_GPL(vt_netns_stays);

static void netns_end(void *data)
{
	vt_netns_let_go(data);
	unregister_pernet_subsys(&netns_ops);
	current_netns = NULL;
}

static struct vt_netns *netns_new(struct kunit *test, const char *command)
{
	struct vt_netns *netns = kunit_kzalloc(test, sizeof(*netns), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, netns);
	KUNIT_ASSERT_NULL(test, current_netns);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
	netns->pid = netns_read_pid();
	KUNIT_ASSERT_GT(test, netns->pid, 0);
	netns->net = get_net_ns_by_pid(netns->pid);
	KUNIT_ASSERT_FALSE(test, IS_ERR(netns->net));
	KUNIT_ASSERT_PTR_NE(test, netns->net, &init_net);
	netns->held = true;
	init_completion(&netns->gone);
	KUNIT_ASSERT_EQ(test, register_pernet_subsys(&netns_ops), 0);
	current_netns = netns;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, netns_end, netns),
			0);
	return netns;
}

struct vt_netns *vt_netns_new(struct kunit *test)
{
	return netns_new(test, NEW("-n"));
}
EXPORT_SYMBOL_GPL(vt_netns_new);

struct vt_netns *vt_netns_new_of_user(struct kunit *test)
{
	return netns_new(test, NEW("-Urn"));
}
EXPORT_SYMBOL_GPL(vt_netns_new_of_user);
