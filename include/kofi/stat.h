/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of an open object, for debugfs and kofi-info.
 *
 * The core calls ->control with KOFI_GETSTAT.  The ready-made calls of kofi/util answer
 * (kofi_ep_control(), kofi_cq_control() and so on); a provider with a ->control of its own
 * passes the command to them.  An object that does not know the command is shown without
 * state and values.  The core gets addresses by ->getname and ->getpeer, and keys from
 * struct fid_mr.
 */
#ifndef _KOFI_STAT_H
#define _KOFI_STAT_H

#include <linux/socket.h>
#include <linux/types.h>

/* ->control: struct kofi_stat *; at any time until ->close, in a context that may sleep */
#define KOFI_GETSTAT		0x1001

/* Most values of one object */
#define KOFI_STAT_VALUES	12

/**
 * struct kofi_stat - The state of an object
 * @state: a word, or NULL
 * @addr: its own address; AF_UNSPEC: none
 * @peer: the peer's address; AF_UNSPEC: none
 * @no_peer: there is no connection, so the core does not ask ->getpeer, which would refuse
 * @count: how many values there are
 * @values: numbers with their names; use kofi_stat_add()
 */
struct kofi_stat {
	const char		*state;
	struct sockaddr_storage	addr;
	struct sockaddr_storage	peer;
	bool			no_peer;
	size_t			count;
	struct {
		const char	*name;
		u64		value;
	} values[KOFI_STAT_VALUES];
};

/**
 * kofi_stat_add() - Add a value
 * @stat: where to add it; if there is no room, the value is left out
 * @name: its name, without blanks
 * @value: the value
 *
 * Context: any.
 */
static inline void kofi_stat_add(struct kofi_stat *stat, const char *name, u64 value)
{
	if (stat->count == KOFI_STAT_VALUES)
		return;
	stat->values[stat->count].name = name;
	stat->values[stat->count++].value = value;
}

#endif /* _KOFI_STAT_H */
