/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A network namespace for a case, which can let it go.
 */
#ifndef _KUNIT_NETNS_H
#define _KUNIT_NETNS_H

#include <linux/completion.h>
#include <kunit/test.h>
#include <net/net_namespace.h>

/**
 * struct vt_netns - A network namespace, without interfaces that are up
 * @net: the namespace; only its address counts when it has been let go
 * @pid: a process in it
 * @held: the case has a reference
 * @gone: completed when its last reference has gone, and the exits of all who had
 *	something in it have run but those of subsystems older than this module
 */
struct vt_netns {
	struct net		*net;
	int			pid;
	bool			held;
	struct completion	gone;
};

/* One at a time; it is let go after the case, if it has not been before */
struct vt_netns *vt_netns_new(struct kunit *test);

/* One that belongs to a user namespace of its own */
struct vt_netns *vt_netns_new_of_user(struct kunit *test);

/* Ends its process and gives the case's reference back */
void vt_netns_let_go(struct vt_netns *netns);

/* Waits until it has gone; false: it does not go */
bool vt_netns_is_gone(struct vt_netns *netns);

/* A moment later it is still there: that something does not happen is no event */
bool vt_netns_stays(struct vt_netns *netns);

#endif /* _KUNIT_NETNS_H */
