/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of the generic netlink family "kofi" share: a socket of the kernel's, with
 * which a case asks as a program does with its own.
 */
#ifndef _KUNIT_CORE_NETLINK_H
#define _KUNIT_CORE_NETLINK_H

#include <linux/cred.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <uapi/rdma/kofi_netlink.h>
#include "core.h"

#define NL_ROOM		32768

/**
 * struct nl - A socket, and the answer that it has got
 * @test: the case
 * @file: of the socket; a program's socket has one
 * @sock: the socket
 * @family: of generic netlink
 * @skb: the request
 * @header: of its message
 * @room: how much the program reads at a time
 * @buf: what was read last
 * @next: in @buf, the message that has not been looked at
 * @left: bytes from @next on
 * @count: messages of the answer
 * @attrs: of a message
 * @nest: attributes of its nest
 */
struct nl {
	struct kunit	*test;
	struct file	*file;
	struct socket	*sock;
	u16		family;
	struct sk_buff	*skb;
	void		*header;
	int		room;
	char		*buf;
	struct nlmsghdr	*next;
	int		left;
	int		count;
	struct nlattr	*attrs[KOFI_A_MAX + 1];
	struct nlattr	*nest[KOFI_OBJECT_MAX + KOFI_INFO_MAX + 1];
};

typedef bool (*nl_fn)(struct nl *nl);

/* A socket in @net, which a program with the capabilities of the caller has opened */
struct nl *nl_open(struct kunit *test, struct net *net);
/* As nl_open(); the program has not read much at a time so far */
struct nl *nl_open_sparing(struct kunit *test, struct net *net);
void nl_close(void *data);
void nl_begin(struct nl *nl, u16 family, u8 cmd, u16 flags);
void nl_ask(struct nl *nl, u8 cmd);
/* GETINFO for the provider @prov_name only, with flags of the capabilities @caps */
void nl_ask_info(struct nl *nl, const char *prov_name, u64 caps);
void nl_send(struct nl *nl);
/*
 * Reads messages until @fn, which may be NULL, returns true: 0; or to the end: -ENOENT, or
 * the error that came
 */
int nl_read(struct nl *nl, nl_fn fn);
/* The nest of an attribute; false: it is not there */
bool nl_nest(struct nl *nl, int attr, int max);
bool nl_is_error(struct nl *nl);
bool nl_is_object(struct nl *nl);
/* The caller without capabilities, until the next call */
const struct cred *nl_drop_caps(struct kunit *test);
void nl_take_caps_back(const struct cred *old);

#endif /* _KUNIT_CORE_NETLINK_H */
