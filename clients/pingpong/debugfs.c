// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * /sys/kernel/debug/kofi_pingpong/
 *
 *	listening	a read ends when a client can connect to the server role; it
 *			fails if the role has failed or does not run
 *	wait		a read ends when the last role has ended: "ok", or "error -N"
 *			and the first error's text
 *	progress	a line for each role
 *	results		a table for each role, as far as it has got
 *
 * A signal ends a waiting read.  An open file pins the module, so unloading
 * fails as long as a read waits.
 *
 * Locking: none; see pingpong.h for what may be read and how.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "pingpong.h"

static struct dentry *pp_dir;

static int listening_show(struct seq_file *m, void *v)
{
	int ret;

	if (!pp_params.server)
		return -EINVAL;
	ret = pp_wait_listening();
	/* read() may return only codes of errno.h */
	if (ret < 0)
		return ret > -FI_ERRNO_OFFSET ? ret : -EIO;
	seq_puts(m, "listening\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(listening);

static int wait_show(struct seq_file *m, void *v)
{
	struct pp_role *failed;
	int ret;

	ret = pp_wait_ended(&failed);
	if (ret)
		return ret;
	if (failed)
		seq_printf(m, "error %d %s\n", failed->err, failed->error);
	else
		seq_puts(m, "ok\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(wait);

static void progress_role(struct seq_file *m, struct pp_role *r)
{
	unsigned int run;

	switch (pp_get_state(r)) {
	case PP_UNUSED:
		return;
	case PP_ENDED:
		seq_printf(m, "%s: ended, %s\n", r->name,
			   r->err ? "failed" : "ok");
		return;
	default:
		break;
	}

	/* Loads the flag before the sizes; pairs with pp_run() */
	if (!smp_load_acquire(&r->running)) {
		seq_printf(m, "%s: waiting for a connection\n", r->name);
		return;
	}
	run = READ_ONCE(r->run);
	seq_printf(m, "%s: size %u (%u of %u), message %u of %u\n", r->name, r->sizes[run],
		   run + 1, r->nr_sizes, READ_ONCE(r->iter), pp_params.iters);
}

static int progress_show(struct seq_file *m, void *v)
{
	progress_role(m, &pp_server);
	progress_role(m, &pp_client);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(progress);

static int results_show(struct seq_file *m, void *v)
{
	if (pp_params.server)
		pp_results_show(m, &pp_server);
	if (pp_params.server && pp_params.client)
		seq_putc(m, '\n');
	if (pp_params.client)
		pp_results_show(m, &pp_client);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(results);

void pp_debugfs_init(void)
{
	pp_dir = debugfs_create_dir("kofi_pingpong", NULL);
	debugfs_create_file("listening", 0444, pp_dir, NULL, &listening_fops);
	debugfs_create_file("wait", 0444, pp_dir, NULL, &wait_fops);
	debugfs_create_file("progress", 0444, pp_dir, NULL, &progress_fops);
	debugfs_create_file("results", 0444, pp_dir, NULL, &results_fops);
}

void pp_debugfs_exit(void)
{
	debugfs_remove_recursive(pp_dir);
}
