// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * /sys/kernel/debug/kofi_fabtests/
 *
 *	listening	a read ends when a client can connect to the server; it fails if the
 *			server has failed or does not run
 *	result		a read ends when both ends have ended: "ok", or "error -N" and the first
 *			error's text, and the tables
 *
 * A signal ends a waiting read.
 *
 * Locking: none; see fabtests.h for what may be read and how.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "fabtests.h"

static struct dentry *ft_dir;

static int listening_show(struct seq_file *m, void *v)
{
	int ret;

	if (!ft_params.server)
		return -EINVAL;
	ret = ft_wait_listening();
	/* read() may return only codes of errno.h */
	if (ret < 0)
		return ret > -FI_ERRNO_OFFSET ? ret : -EIO;
	seq_puts(m, "listening\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(listening);

static int result_show(struct seq_file *m, void *v)
{
	struct ft_end *failed;
	int ret;

	ret = ft_wait_ended(&failed);
	if (ret)
		return ret;
	if (failed)
		seq_printf(m, "error %d %s\n", failed->err, failed->error);
	else
		seq_puts(m, "ok\n");
	if (ft_params.server)
		ft_results_show(m, &ft_server);
	if (ft_params.client)
		ft_results_show(m, &ft_client);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

void ft_debugfs_init(void)
{
	ft_dir = debugfs_create_dir("kofi_fabtests", NULL);
	debugfs_create_file("listening", 0444, ft_dir, NULL, &listening_fops);
	debugfs_create_file("result", 0444, ft_dir, NULL, &result_fops);
}

void ft_debugfs_exit(void)
{
	debugfs_remove_recursive(ft_dir);
}
