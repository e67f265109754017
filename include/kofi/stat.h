/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of an open object, for debugfs and kofi-info.
 *
 * The core asks by ->control with KOFI_GETSTAT.  The ready-made calls of kofi/util answer
 * (kofi_ep_control(), kofi_cq_control() and so on); a provider with calls of its own passes the
 * command to them.  An object that does not know the command is shown without what is here.
 * Addresses the core gets by ->getname and ->getpeer, keys from struct fid_mr.
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
 * struct kofi_stat - What an object says of itself
 * @state: a word, or NULL
 * @addr: its own address; AF_UNSPEC: none
 * @peer: the peer's address; AF_UNSPEC: none
 * @count: how many values there are
 * @values: numbers with their names; use kofi_stat_add()
 */
struct kofi_stat {
	const char		*state;
	struct sockaddr_storage	addr;
	struct sockaddr_storage	peer;
	size_t			count;
	struct {
		const char	*name;
		u64		value;
	} values[KOFI_STAT_VALUES];
};

/**
 * kofi_stat_add() - Say one thing more
 * @stat: where; what is too much is left out
 * @name: what it is, without blanks
 * @value: how much
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
