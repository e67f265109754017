/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asking the generic netlink family "kofi".
 */
#ifndef _KOFI_INFO_NETLINK_H
#define _KOFI_INFO_NETLINK_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More attributes than any enum of kofi_netlink.h has, now and later */
#define NL_MAX_ATTRS	128

/**
 * struct nl - A socket, and the request that is being built
 * @fd: the socket
 * @family: id of the family
 * @len: bytes of the request so far
 * @header: header of the request
 * @request: room for the request
 */
struct nl {
	int		fd;
	uint16_t	family;
	size_t		len;
	union {
		struct nlmsghdr	header;
		char		request[4096];
	};
};

/* Attributes of a message or a nest, by their type; NULL: there is no such attribute */
struct nl_attrs {
	const struct nlattr	*attr[NL_MAX_ATTRS];
};

/* Returns 0, or a negative error code; -ENOENT: the kernel has no such family */
int nl_open(struct nl *nl, const char *family);
void nl_close(struct nl *nl);

/* Build a request of attributes.  An attribute that does not fit ends the program. */
void nl_begin(struct nl *nl, uint8_t cmd);
void nl_put(struct nl *nl, int type, const void *data, size_t len);
void nl_put_string(struct nl *nl, int type, const char *text);
void nl_put_u16(struct nl *nl, int type, uint16_t value);
void nl_put_u32(struct nl *nl, int type, uint32_t value);
void nl_put_u64(struct nl *nl, int type, uint64_t value);
size_t nl_nest(struct nl *nl, int type);
void nl_nest_end(struct nl *nl, size_t nest);

/* Send the request and call @fn for each message of the answer; 0, or a negative error code */
int nl_dump(struct nl *nl, void (*fn)(const struct nl_attrs *attrs, void *arg), void *arg);

/* Parse the attributes of a message or nest; of several with one type @attrs has the last */
void nl_parse(struct nl_attrs *attrs, const void *data, size_t len);
void nl_parse_nest(struct nl_attrs *attrs, const struct nlattr *nest);
/* The attribute of a nest behind @last, or the first one if @last is NULL; NULL: there is none */
const struct nlattr *nl_next(const struct nlattr *nest, const struct nlattr *last);

int nl_type(const struct nlattr *attr);
const char *nl_string(const struct nlattr *attr);
uint16_t nl_u16(const struct nlattr *attr);
uint32_t nl_u32(const struct nlattr *attr);
uint64_t nl_u64(const struct nlattr *attr);

#endif /* _KOFI_INFO_NETLINK_H */
