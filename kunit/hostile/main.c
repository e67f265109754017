// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_hostile.ko: a peer that lies or dies, and the kOFI clients that meet it.
 * scripts/two loads it in both guests.
 *
 * A step is a line written to /sys/kernel/debug/kofi_hostile/step; the write
 * returns when the step is done, with an error if it could not be done.  What it has
 * to say is in the file "said" then, until the next step.
 *
 * The bad peer uses rdma_cm and verbs and no kOFI:
 *
 *	requests OFFSET		one request with each kind of private data, and
 *				what became of it
 *	answer WHAT KIND QP RECV RNR
 *				listen where the victims' client calls (offset 2), and
 *				"accept" or "reject" who comes with this private data,
 *				or "hold" him; QP 0: without a queue pair; RECV: bytes of the
 *				one receive, -1: none; RNR: how often the other side
 *				may try again when there is no receive
 *	seen			what came to that listener so far
 *	half OFFSET		ask, have it accepted, and never confirm
 *	access OFFSET		reads and writes that are none of its business
 *	sizes OFFSET		messages of no bytes, and of too many
 *	leave			close whatever is open
 *	flood OFFSET N WANT	further requests until there are N; wait until all but WANT of
 *				them have an answer
 *	flood-leave		give them up
 *	silent OFFSET N JUNK	N TCP connections that say nothing, or JUNK bytes
 *				that mean nothing
 *
 * The victims are clients of kOFI:
 *
 *	serve N MODE SIZE MS	listen at service= plus N (0 or 1), whose event queue
 *				has room for SIZE requests; "accept" and echo what
 *				comes, or "ignore" who comes; FI_OPT_CONNECT_TIMEOUT
 *				is MS
 *	served N		what has come, and how it ended
 *	settle N OPEN		wait until so many connections are open
 *	refuse N		reject whatever waits
 *	stop N			close
 *	connect OFFSET MS	connect, with FI_OPT_CONNECT_TIMEOUT MS, and what came
 *				of it
 *	ping N			N messages, each of which comes back
 *	post WHAT BYTES N	"send", "read" or "write"; the latter with a key that
 *				nobody has given away
 *	ended MS		wait until all that is posted has ended; how
 *	event			wait for what becomes of the connection
 *	shutdown		fi_shutdown()
 *	close			close everything, and how long it took
 *
 * Life: what a step opens stays open until another step, or the module's exit,
 * closes it.  Locking: hostile_lock serializes the steps, which own everything but
 * what a server's worker uses (hostile_serve.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/fi_errno.h>
#include "hostile.h"

static char *node = "10.77.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the victims' servers");

static char *peer = "10.77.0.1";
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "numeric address of the bad peer");

static int service = 7480;
module_param(service, int, 0444);
MODULE_PARM_DESC(service, "first of the ports to listen at");

#define HOSTILE_SAID	16384

static DEFINE_MUTEX(hostile_lock);
static char hostile_said[HOSTILE_SAID];
static size_t hostile_said_len;
static struct dentry *hostile_dir;

void hostile_say(const char *fmt, ...)
{
	va_list args;

	lockdep_assert_held(&hostile_lock);
	va_start(args, fmt);
	hostile_said_len += vscnprintf(hostile_said + hostile_said_len, HOSTILE_SAID -
				       hostile_said_len, fmt, args);
	va_end(args);
	hostile_said_len += scnprintf(hostile_said + hostile_said_len,
				      HOSTILE_SAID - hostile_said_len, "\n");
}

const char *hostile_word(const struct hostile_args *args, int n)
{
	return n < args->count ? args->word[n] : "";
}

int hostile_number(const struct hostile_args *args, int n, int dflt)
{
	int number;

	return kstrtoint(hostile_word(args, n), 10, &number) ? dflt : number;
}

const char *hostile_node(int offset)
{
	return offset == HOSTILE_PEER ? peer : node;
}

int hostile_service(int offset)
{
	return service + offset;
}

static const struct {
	const char *name;
	int (*run)(const struct hostile_args *args);
} hostile_steps[] = {
	{ "requests", hostile_peer_requests },
	{ "answer", hostile_peer_answer },
	{ "seen", hostile_peer_seen },
	{ "half", hostile_peer_half },
	{ "access", hostile_peer_access },
	{ "sizes", hostile_peer_sizes },
	{ "leave", hostile_peer_leave },
	{ "flood", hostile_flood },
	{ "flood-leave", hostile_flood_leave },
	{ "silent", hostile_silent },
	{ "serve", hostile_serve },
	{ "served", hostile_served },
	{ "settle", hostile_settle },
	{ "refuse", hostile_refuse },
	{ "stop", hostile_stop },
	{ "connect", hostile_connect },
	{ "ping", hostile_ping },
	{ "post", hostile_post },
	{ "ended", hostile_ended },
	{ "event", hostile_event },
	{ "shutdown", hostile_shutdown },
	{ "close", hostile_close },
};

static int hostile_run(const struct hostile_args *args)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(hostile_steps); i++)
		if (!strcmp(hostile_word(args, 0), hostile_steps[i].name))
			break;
	if (i == ARRAY_SIZE(hostile_steps)) {
		pr_err("no such step: %s\n", hostile_word(args, 0));
		return -EINVAL;
	}
	ret = mutex_lock_interruptible(&hostile_lock);
	if (ret)
		return ret;
	hostile_said_len = 0;
	hostile_said[0] = '\0';
	ret = hostile_steps[i].run(args);
	if (ret)
		hostile_say("%s: %d %s", hostile_word(args, 0), ret, fi_strerror(-ret));
	mutex_unlock(&hostile_lock);
	/* write() knows only what errno.h knows */
	return ret > -FI_ERRNO_OFFSET ? ret : -EIO;
}

static ssize_t step_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	struct hostile_args args = { };
	char line[80], *rest, *word;
	ssize_t n;
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	n = strncpy_from_user(line, ubuf, len);
	if (n < 0)
		return n;
	line[n] = '\0';
	rest = strim(line);
	while ((word = strsep(&rest, " ")) && args.count < HOSTILE_WORDS)
		if (*word)
			args.word[args.count++] = word;
	ret = hostile_run(&args);
	return ret ?: len;
}

static const struct file_operations step_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = step_write,
};

static int said_show(struct seq_file *m, void *v)
{
	mutex_lock(&hostile_lock);
	seq_puts(m, hostile_said);
	mutex_unlock(&hostile_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(said);

static int __init hostile_init(void)
{
	hostile_dir = debugfs_create_dir("kofi_hostile", NULL);
	debugfs_create_file("step", 0200, hostile_dir, NULL, &step_fops);
	debugfs_create_file("said", 0444, hostile_dir, NULL, &said_fops);
	return 0;
}

static void __exit hostile_exit(void)
{
	debugfs_remove_recursive(hostile_dir);
	mutex_lock(&hostile_lock);
	hostile_said_len = 0;
	hostile_peer_end();
	hostile_flood_end();
	hostile_call_end();
	hostile_serve_end();
	mutex_unlock(&hostile_lock);
}

module_init(hostile_init);
module_exit(hostile_exit);

MODULE_DESCRIPTION("kOFI test peer that lies or dies, and its victims");
MODULE_LICENSE("Dual BSD/GPL");
