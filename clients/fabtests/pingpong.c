// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ping-pong: a sync, then the client sends and the server answers with as many bytes, warmup=
 * and iterations= times.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#include <linux/sched.h>

#include "fabtests.h"

int ft_pingpong(struct ft_end *e, u32 size)
{
	u32 i, count = ft_params.warmup + ft_iterations(size);
	int ret = ft_sync(e);

	for (i = 0; !ret && i < count; i++) {
		if (i == ft_params.warmup)
			ft_begin(e);
		if (e->client)
			ret = ft_tx(e, size, 0);
		if (!ret)
			ret = ft_rx(e, size, e->active);
		if (!ret && !e->client)
			ret = ft_tx(e, size, 0);
		cond_resched();
	}
	if (!ret)
		ft_results_add(e, size, 2, ft_stop_clock(e));
	return ret;
}
