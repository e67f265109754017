// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Kernel sockets for mem.c: connections of two sockets each.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sock.h"

/* @links: the first @nr are connected */
struct sock_objects {
	struct socket		*listener;
	struct sock_link	*links;
	unsigned int		nr;
};

static void sock_objects_close(void *objects)
{
	struct sock_objects *o = objects;

	while (o->nr)
		sock_disconnect(&o->links[--o->nr]);
	if (o->listener)
		sock_release(o->listener);
	kvfree(o->links);
	kfree(o);
}

static void *sock_objects_open(const struct perf_spec *spec, bool rma)
{
	struct sock_objects *o;
	int ret;

	if (rma)
		return ERR_PTR(-EOPNOTSUPP);
	o = kzalloc(sizeof(*o), GFP_KERNEL);
	if (!o)
		return ERR_PTR(-ENOMEM);
	o->links = kvcalloc(spec->links, sizeof(*o->links), GFP_KERNEL);
	ret = o->links ? sock_listen(spec->node, &o->listener) : -ENOMEM;
	if (!ret)
		return o;
	sock_objects_close(o);
	return ERR_PTR(ret);
}

static int sock_objects_add(void *objects, const char *kind)
{
	struct sock_objects *o = objects;
	int ret;

	if (strcmp(kind, "conn"))
		return -EINVAL;
	ret = sock_connect(o->listener, &o->links[o->nr]);
	o->nr += !ret;
	return ret;
}

static int sock_objects_connect(void *objects)
{
	struct sock_objects *o = objects;
	int ret;

	ret = sock_connect(o->listener, &o->links[0]);
	if (!ret)
		sock_disconnect(&o->links[0]);
	return ret;
}

const struct perf_mem_ops sock_mem_ops = {
	.open		= sock_objects_open,
	.close		= sock_objects_close,
	.add		= sock_objects_add,
	.connect	= sock_objects_connect,
};
