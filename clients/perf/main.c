// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_perf compares kOFI with the same work on ib_core, or on kernel sockets, in one kernel.
 *
 * /sys/kernel/debug/kofi_perf/
 *
 *	run		write a command (command.c); the write ends with the test
 *	samples		the values that the last command has measured (samples.c)
 *
 * Both sides run on this machine, which talks to itself.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "perf.h"

#define PERF_TEXT	256

static struct dentry *perf_dir;
static DEFINE_MUTEX(perf_lock);	/* one command at a time */

static ssize_t perf_run_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	char *text;
	int ret;

	if (len >= PERF_TEXT)
		return -EINVAL;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&perf_lock);
	perf_samples_clear();
	ret = perf_command(strim(text));
	mutex_unlock(&perf_lock);
	kfree(text);
	return ret ? : len;
}

static const struct file_operations perf_run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= perf_run_write,
};

static int samples_show(struct seq_file *m, void *v)
{
	mutex_lock(&perf_lock);
	perf_samples_show(m);
	mutex_unlock(&perf_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(samples);

static int __init perf_init(void)
{
	perf_dir = debugfs_create_dir("kofi_perf", NULL);
	debugfs_create_file("run", 0200, perf_dir, NULL, &perf_run_fops);
	debugfs_create_file("samples", 0400, perf_dir, NULL, &samples_fops);
	return 0;
}

static void __exit perf_exit(void)
{
	debugfs_remove_recursive(perf_dir);
	perf_release();
}

module_init(perf_init);
module_exit(perf_exit);

MODULE_DESCRIPTION("kOFI compared with ib_core and with sockets");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
