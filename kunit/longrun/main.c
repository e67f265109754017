// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_longrun.ko: mixed traffic between two machines, on connections that come and
 * go, where every byte is known in advance and every operation is accounted for.
 * scripts/soak runs it for an hour; longrun.h says what goes over a connection.
 *
 *	server	modprobe kofi_longrun role=server node=10.78.0.2
 *	client	modprobe kofi_longrun node=10.78.0.2
 *		echo "run 10000 2700" >/sys/kernel/debug/kofi_longrun/command
 *
 * With ep=rdm at both ends, endpoints without connections come and go in the same way (rdm.c).
 *
 * A run makes that many connections, links= at a time, and spreads them over that
 * many seconds: a connection carries round after round until it is time for the next
 * one, but two at least.  The write returns at once; the file "report" shows the
 * figures at any time, one number a line:
 *
 *	running		links of the client that are at work
 *	open		connections that stand
 *	slowest_ms	longest time from fi_connect() to FI_CONNECTED
 *	the figures of enum lr_figure
 *	corruption	the first thing that was not as it should; text behind the number
 *	trouble		the first error that was met; text behind the number
 *
 * What the one side sends, writes or adds, the other one must have received, found or
 * summed, when all connections are closed.
 *
 * Threads: a thread for each link, which owns its struct lr_link; on the server one
 * more that reads connection requests and hands each to the link it asks for.
 * lr_lock serializes commands.  Figures are atomic and read without a lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "longrun.h"

#define LR_LINKS_MAX	128
#define LR_SIZE_MAX	SZ_64K

static char *role = "client";
module_param(role, charp, 0444);
MODULE_PARM_DESC(role, "client (default) or server");

static char *prov = "";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "provider (default: the first that fits)");

static char *node = "10.77.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the server");

static int service = 7473;
module_param(service, int, 0444);
MODULE_PARM_DESC(service, "port of the server");

static unsigned int links = 16;
module_param(links, uint, 0444);
MODULE_PARM_DESC(links, "connections at a time, the same on both sides (default 16)");

unsigned int lr_size = 8192;
module_param_named(size, lr_size, uint, 0444);
MODULE_PARM_DESC(size, "longest message, the same on both sides (default 8192)");

bool lr_apart;
module_param_named(apart, lr_apart, bool, 0444);
MODULE_PARM_DESC(apart, "client: atomic operations only when no message or write is on its way, for an rxe without our patches, which ends some without their result where packets get lost (default off)");

unsigned int lr_patience_ms = 120000;
module_param_named(patience_ms, lr_patience_ms, uint, 0444);
MODULE_PARM_DESC(patience_ms, "longest wait for an event or a completion");

static char *ep = "msg";
module_param(ep, charp, 0444);
MODULE_PARM_DESC(ep, "type of endpoints: msg (default) or rdm");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "client: what all plans and payloads follow from");

struct tb lr_bed;
bool lr_rdm;
struct fi_info *lr_info;

/**
 * struct lr_run - What the client was told to do
 * @connects: connections
 * @begun: how many of them have been begun
 * @base: number of the first one
 * @ms: for all of them
 * @start: when it began
 */
struct lr_run {
	u64		connects;
	atomic64_t	begun;
	u64		base;
	u64		ms;
	ktime_t		start;
};

static const char *const lr_names[LR_FIGURES] = {
	[LR_CONNECTS]	= "connects",
	[LR_CLOSES]	= "closes",
	[LR_BROKEN]	= "broken",
	[LR_UNTOLD]	= "untold",
	[LR_ROUNDS]	= "rounds",
	[LR_SENT]	= "sent",
	[LR_RECEIVED]	= "received",
	[LR_WRITTEN]	= "written",
	[LR_FOUND]	= "found",
	[LR_READ]	= "read",
	[LR_ADDED]	= "added",
	[LR_SUMMED]	= "summed",
	[LR_BYTES]	= "bytes",
	[LR_LOST]	= "lost",
	[LR_DUPLICATED]	= "duplicated",
	[LR_CORRUPTED]	= "corrupted",
	[LR_TWICE]	= "twice",
	[LR_ENDLESS]	= "endless",
};

static struct lr_run lr_run;
static DEFINE_MUTEX(lr_lock);
static DECLARE_WAIT_QUEUE_HEAD(lr_wait);
static bool lr_stop;
static bool lr_server;
static atomic_t lr_running;
static atomic_t lr_open_now;
static atomic64_t lr_figures[LR_FIGURES];
static atomic_t lr_slowest_ms;
static atomic_t lr_troubles;
static char lr_trouble_text[240];
static char lr_corrupted_text[160];
static struct lr_link *lr_links;
static struct task_struct **lr_tasks;
static struct task_struct *lr_listener;
static struct dentry *lr_dir;

bool lr_stopped(void)
{
	return READ_ONCE(lr_stop);
}

void lr_add(enum lr_figure figure, u64 value)
{
	atomic64_add(value, &lr_figures[figure]);
}

void lr_count(enum lr_figure figure)
{
	lr_add(figure, 1);
}

/* Keeps the first error; @link may be NULL.  Returns @err, or another error */
int lr_trouble(struct lr_link *link, const char *what, long err, int prov_errno)
{
	if (err == -EINTR || lr_stopped())
		return -EINTR;
	if (atomic_inc_return(&lr_troubles) == 1)
		snprintf(lr_trouble_text, sizeof(lr_trouble_text),
			 "connection %llu round %llu, %llu sent, %llu received, %u in flight, %u of them not receives: cannot %s: %ld %s, prov_errno %d",
			 link ? link->hello.conn : 0, link ? link->round : 0,
			 link ? link->sent : 0, link ? link->received : 0,
			 link ? link->nr_out : 0, link ? lr_sending(link) : 0,
			 what, err, fi_strerror(-err), prov_errno);
	return err < 0 ? err : -EPROTO;
}

/* Something is not as it should; keeps the first */
void lr_corrupted(struct lr_link *link, const char *what, u64 got, u64 want)
{
	if (atomic64_inc_return(&lr_figures[LR_CORRUPTED]) == 1)
		snprintf(lr_corrupted_text, sizeof(lr_corrupted_text),
			 "connection %llu round %llu: %s: %llu instead of %llu",
			 link->hello.conn, link->round, what, got, want);
}

static int lr_getinfo(u64 caps)
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
	hints->caps = caps;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = lr_rdm ? FI_EP_RDM : FI_EP_MSG;
	hints->tx_attr->size = LR_DEPTH;
	hints->rx_attr->size = LR_DEPTH;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node,
			 service, lr_server ? FI_SOURCE : 0, hints, &lr_info);
	fi_freeinfo(hints);
	return ret;
}

static int lr_open(void)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	int ret;

	ret = lr_getinfo(FI_MSG | FI_RMA | FI_ATOMIC);
	if (ret)
		ret = lr_getinfo(FI_MSG | FI_RMA);
	if (!ret && lr_rdm) {
		lr_info->tx_attr->size = LR_DEPTH;
		lr_info->rx_attr->size = LR_DEPTH;
	}
	return ret ? : tb_open(&lr_bed, lr_info, &attr, NULL);
}

/* When connection @nr of the run should be over */
static bool lr_is_over(u64 nr)
{
	u64 end = div64_u64((nr + 1) * lr_run.ms, lr_run.connects);

	return ktime_ms_delta(ktime_get(), lr_run.start) >= end;
}

static void lr_slowest(s64 ms)
{
	int old = atomic_read(&lr_slowest_ms);

	while (ms > old && !atomic_try_cmpxchg(&lr_slowest_ms, &old, ms))
		;
}

static int lr_client_connect(struct lr_link *link, u64 nr)
{
	ktime_t start = ktime_get();
	int ret;

	link->hello = (struct lr_hello) {
		.magic	= LR_MAGIC,
		.link	= link->nr,
		.conn	= lr_run.base + nr,
		.seed	= seed,
		.size	= lr_size,
		.caps	= lr_link_caps(),
	};
	ret = lr_link_connect(link);
	if (!ret)
		lr_slowest(ktime_ms_delta(ktime_get(), start));
	return ret;
}

static int lr_client_rounds(struct lr_link *link, u64 nr)
{
	bool final = false;
	int ret = 0;

	while (!ret && !final) {
		final = link->round + 1 >= LR_ROUNDS_MIN && lr_is_over(nr);
		ret = lr_client_round(link, final);
	}
	return ret;
}

/* The end of a connection, which was used by then */
static void lr_finish(struct lr_link *link, int ret)
{
	if (!ret)
		lr_link_hang_up(link, lr_server);
	else if (ret != -EINTR)
		lr_count(LR_BROKEN);
	lr_link_close(link);
	atomic_dec(&lr_open_now);
}

static void lr_client_once(struct lr_link *link, u64 nr)
{
	int ret;

	atomic_inc(&lr_open_now);
	ret = lr_client_connect(link, nr);
	lr_finish(link, ret ? : lr_client_rounds(link, nr));
}

/* Returns whether there is another connection to make, its number in @nr */
static bool lr_client_next(u64 *nr)
{
	*nr = atomic64_inc_return(&lr_run.begun) - 1;
	return *nr < lr_run.connects && !lr_stopped();
}

static int lr_client(void *data)
{
	struct lr_link *link = data;
	u64 nr;

	while (lr_client_next(&nr))
		lr_client_once(link, nr);
	atomic_dec(&lr_running);
	wait_event_idle(lr_wait, kthread_should_stop());
	return 0;
}

static int lr_server_rounds(struct lr_link *link)
{
	bool final = false;
	int ret = 0;

	while (!ret && !final)
		ret = lr_server_round(link, &final);
	return ret;
}

/* Is there a request?  If so link->asked is that one's. */
static bool lr_is_asked(const struct lr_link *link)
{
	/* Pairs with both releases of the field */
	return smp_load_acquire(&link->request);
}

static void lr_server_once(struct lr_link *link)
{
	struct fi_info *info = link->request;
	int ret;

	atomic_inc(&lr_open_now);
	link->hello = link->asked;
	link->name = link->asked_name;
	/* The next request may come once all of this one has been read */
	smp_store_release(&link->request, NULL);
	ret = lr_link_accept(link, info);
	fi_freeinfo(info);
	lr_finish(link, ret ? : lr_server_rounds(link));
}

static int lr_serve(void *data)
{
	struct lr_link *link = data;

	while (!kthread_should_stop()) {
		wait_event_idle(link->wait, lr_is_asked(link) || kthread_should_stop());
		if (lr_is_asked(link))
			lr_server_once(link);
	}
	return 0;
}

static void lr_reject(struct fi_info *info)
{
	fi_reject(lr_bed.pep, info->handle, NULL, 0);
	fi_freeinfo(info);
}

/*
 * The link that a client asks for, which lr_ask() is due for; or NULL.  One that has not begun
 * with an earlier request cannot take another one.
 */
struct lr_link *lr_asked(const struct lr_hello *hello)
{
	struct lr_link *link;

	if (hello->magic == LR_MAGIC && hello->link < links && hello->size <= lr_size) {
		link = &lr_links[hello->link];
		if (!lr_is_asked(link)) {
			link->asked = *hello;
			return link;
		}
	}
	lr_trouble(NULL, "take a request", -EBUSY, 0);
	return NULL;
}

/* Hands over what the endpoint of the link is opened with */
void lr_ask(struct lr_link *link, struct fi_info *info)
{
	/* Whoever sees the request sees what was asked */
	smp_store_release(&link->request, info);
	wake_up(&link->wait);
}

static void lr_hand_over(struct fi_info *info, const void *data)
{
	struct lr_hello hello;
	struct lr_link *link;

	memcpy(&hello, data, sizeof(hello));
	link = lr_asked(&hello);
	if (link)
		lr_ask(link, info);
	else
		lr_reject(info);
}

static int lr_listen_on(void *unused)
{
	union lr_event event = {};
	ssize_t ret;
	u32 type;

	while (!kthread_should_stop()) {
		ret = fi_eq_sread(lr_bed.eq, &type, &event, sizeof(event), LR_NAP_MS, 0);
		if (ret > 0 && type == FI_CONNREQ)
			lr_hand_over(event.cm.info, event.cm.data);
		else if (ret != -EAGAIN)
			lr_trouble(NULL, "listen", ret, 0);
	}
	return 0;
}

static void lr_task_stop(struct task_struct **task)
{
	if (!*task)
		return;
	kthread_stop(*task);
	put_task_struct(*task);
	*task = NULL;
}

static int lr_task_start(struct task_struct **task, int (*fn)(void *data),
			 void *data, const char *name)
{
	struct task_struct *created = kthread_create(fn, data, "%s", name);

	if (IS_ERR(created))
		return PTR_ERR(created);
	*task = get_task_struct(created);
	wake_up_process(created);
	return 0;
}

static void lr_tasks_stop(void)
{
	unsigned int i;

	for (i = 0; i < links; i++)
		lr_task_stop(&lr_tasks[i]);
}

static int lr_tasks_start(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < links && !ret; i++)
		ret = lr_task_start(&lr_tasks[i], lr_server ? lr_serve : lr_client, &lr_links[i],
				    "kofi_longrun");
	return ret;
}

static int lr_command_run(u64 connects, u64 seconds)
{
	int ret;

	if (lr_server || !connects)
		return -EINVAL;
	if (atomic_read(&lr_running))
		return -EBUSY;
	lr_tasks_stop();
	lr_run.base += lr_run.connects;
	lr_run.connects = connects;
	lr_run.ms = seconds * MSEC_PER_SEC;
	lr_run.start = ktime_get();
	atomic64_set(&lr_run.begun, 0);
	atomic_set(&lr_running, links);
	ret = lr_tasks_start();
	if (ret)
		atomic_set(&lr_running, 0);
	return ret;
}

static int lr_listener_start(void)
{
	return lr_task_start(&lr_listener, lr_rdm ? lr_rdm_listen_on : lr_listen_on, NULL,
			     "kofi_longrun/l");
}

/* Without connections clients are heard by an endpoint, which has connections below */
static int lr_command_listen(bool listen)
{
	int ret;

	if (!lr_server || !lr_rdm || listen == !!lr_listener)
		return -EINVAL;
	if (listen) {
		ret = lr_rdm_listen() ? : lr_listener_start();
		if (!ret)
			return 0;
	}
	lr_task_stop(&lr_listener);
	lr_rdm_unlisten();
	return listen ? ret : 0;
}

static int lr_command(const char *word)
{
	unsigned long long connects, seconds;

	if (sysfs_streq(word, "listen"))
		return lr_command_listen(true);
	if (sysfs_streq(word, "pause"))
		return lr_command_listen(false);
	if (sscanf(word, "run %llu %llu", &connects, &seconds) != 2)
		return -EINVAL;
	return lr_command_run(connects, seconds);
}

static ssize_t command_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	char word[64] = {};
	int ret;

	if (len >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, ubuf, len))
		return -EFAULT;
	ret = mutex_lock_interruptible(&lr_lock);
	if (ret)
		return ret;
	ret = lr_command(word);
	mutex_unlock(&lr_lock);
	return ret ? : len;
}

static const struct file_operations command_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= command_write,
};

static int report_show(struct seq_file *m, void *v)
{
	int i;

	seq_printf(m, "running %d\n", atomic_read(&lr_running));
	seq_printf(m, "open %d\n", atomic_read(&lr_open_now));
	seq_printf(m, "slowest_ms %d\n", atomic_read(&lr_slowest_ms));
	for (i = 0; i < LR_FIGURES; i++)
		seq_printf(m, "%s %lld\n", lr_names[i], (s64)atomic64_read(&lr_figures[i]));
	seq_printf(m, "corruption %lld %s\n", (s64)atomic64_read(&lr_figures[LR_CORRUPTED]),
		   lr_corrupted_text);
	seq_printf(m, "trouble %d %s\n", atomic_read(&lr_troubles), lr_trouble_text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static int lr_alloc(void)
{
	unsigned int i;
	int ret = 0;

	lr_links = kvcalloc(links, sizeof(*lr_links), GFP_KERNEL);
	lr_tasks = kcalloc(links, sizeof(*lr_tasks), GFP_KERNEL);
	if (!lr_links || !lr_tasks)
		return -ENOMEM;
	for (i = 0; i < links && !ret; i++) {
		lr_links[i].nr = i;
		ret = lr_link_alloc(&lr_links[i]);
	}
	return ret;
}

static void lr_free(void)
{
	unsigned int i;

	for (i = 0; lr_links && i < links; i++) {
		fi_freeinfo(lr_links[i].request);
		lr_link_free(&lr_links[i]);
	}
	kvfree(lr_links);
	kfree(lr_tasks);
}

/* Threads end what they are at and close it; then nothing uses the rest */
static void lr_down(void)
{
	int ret;

	WRITE_ONCE(lr_stop, true);
	lr_task_stop(&lr_listener);
	lr_rdm_unlisten();
	if (lr_tasks)
		lr_tasks_stop();
	ret = tb_close(&lr_bed);
	if (ret)
		pr_err("cannot close an object, which is a bug: %d\n", ret);
	fi_freeinfo(lr_info);
	lr_free();
}

static int lr_up(void)
{
	int ret = lr_alloc() ? : lr_open();

	if (ret || !lr_server)
		return ret;
	ret = lr_rdm ? lr_rdm_listen() : tb_listen(&lr_bed, lr_info);
	return ret ? : lr_tasks_start() ? : lr_listener_start();
}

static int __init longrun_init(void)
{
	int ret;

	lr_server = !strcmp(role, "server");
	lr_rdm = !strcmp(ep, "rdm");
	if ((!lr_server && strcmp(role, "client")) || !links || links > LR_LINKS_MAX ||
	    lr_size < sizeof(struct lr_msg) || lr_size > LR_SIZE_MAX)
		return -EINVAL;
	ret = lr_up();
	if (ret) {
		pr_err("cannot begin: %d %s\n", ret, fi_strerror(-ret));
		lr_down();
		/* A module's init may only say what errno.h knows */
		return ret > -FI_ERRNO_OFFSET ? ret : -EIO;
	}
	lr_dir = debugfs_create_dir("kofi_longrun", NULL);
	debugfs_create_file("command", 0200, lr_dir, NULL, &command_fops);
	debugfs_create_file("report", 0444, lr_dir, NULL, &report_fops);
	return 0;
}

static void __exit longrun_exit(void)
{
	debugfs_remove_recursive(lr_dir);
	lr_down();
}

module_init(longrun_init);
module_exit(longrun_exit);

MODULE_DESCRIPTION("kOFI test client for hours of traffic on connections that come and go");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
