// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The part of netlink that a program needs for dumps.
 *
 * The kernel is trusted to send consistent messages; nl_parse() stops at an attribute that is
 * cut.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "netlink.h"

#define NL_ROOM		65536

static const void *nl_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static size_t nl_data_len(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

void nl_put(struct nl *nl, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)(nl->request + nl->len);
	size_t room = NLA_ALIGN(NLA_HDRLEN + len);

	if (room > sizeof(nl->request) - nl->len) {
		fprintf(stderr, "kofi-info: the arguments are too long\n");
		exit(EXIT_FAILURE);
	}
	memset(attr, 0, room);
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy(nl->request + nl->len + NLA_HDRLEN, data, len);
	nl->len += room;
}

void nl_put_string(struct nl *nl, int type, const char *text)
{
	nl_put(nl, type, text, strlen(text) + 1);
}

void nl_put_u16(struct nl *nl, int type, uint16_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_put_u32(struct nl *nl, int type, uint32_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_put_u64(struct nl *nl, int type, uint64_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

size_t nl_nest(struct nl *nl, int type)
{
	size_t nest = nl->len;

	nl_put(nl, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void nl_nest_end(struct nl *nl, size_t nest)
{
	struct nlattr *attr = (void *)(nl->request + nest);

	attr->nla_len = nl->len - nest;
}

static void begin(struct nl *nl, uint16_t family, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *header = &nl->header;
	struct genlmsghdr *genl = NLMSG_DATA(header);

	nl->len = NLMSG_HDRLEN + GENL_HDRLEN;
	memset(nl->request, 0, nl->len);
	header->nlmsg_type = family;
	header->nlmsg_flags = NLM_F_REQUEST | flags;
	genl->cmd = cmd;
	genl->version = 1;
}

void nl_begin(struct nl *nl, uint8_t cmd)
{
	begin(nl, nl->family, cmd, NLM_F_DUMP);
}

int nl_type(const struct nlattr *attr)
{
	return attr->nla_type & NLA_TYPE_MASK;
}

/* The attribute at @attr if it is whole */
static const struct nlattr *nl_whole(const struct nlattr *attr, const char *end)
{
	if (end - (const char *)attr < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN ||
	    attr->nla_len > end - (const char *)attr)
		return NULL;
	return attr;
}

static const struct nlattr *nl_after(const struct nlattr *attr)
{
	return (const void *)((const char *)attr + NLA_ALIGN(attr->nla_len));
}

void nl_parse(struct nl_attrs *attrs, const void *data, size_t len)
{
	const char *end = (const char *)data + len;
	const struct nlattr *attr;

	memset(attrs, 0, sizeof(*attrs));
	for (attr = nl_whole(data, end); attr; attr = nl_whole(nl_after(attr), end))
		if (nl_type(attr) < NL_MAX_ATTRS)
			attrs->attr[nl_type(attr)] = attr;
}

void nl_parse_nest(struct nl_attrs *attrs, const struct nlattr *nest)
{
	nl_parse(attrs, nl_data(nest), nl_data_len(nest));
}

const struct nlattr *nl_next(const struct nlattr *nest, const struct nlattr *last)
{
	const char *end = (const char *)nl_data(nest) + nl_data_len(nest);

	return nl_whole(last ? nl_after(last) : nl_data(nest), end);
}

const char *nl_string(const struct nlattr *attr)
{
	return attr ? nl_data(attr) : "";
}

static void nl_copy(void *value, size_t size, const struct nlattr *attr)
{
	if (attr && nl_data_len(attr) >= size)
		memcpy(value, nl_data(attr), size);
}

uint16_t nl_u16(const struct nlattr *attr)
{
	uint16_t value = 0;

	nl_copy(&value, sizeof(value), attr);
	return value;
}

uint32_t nl_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	nl_copy(&value, sizeof(value), attr);
	return value;
}

uint64_t nl_u64(const struct nlattr *attr)
{
	uint64_t value = 0;

	nl_copy(&value, sizeof(value), attr);
	return value;
}

/* Returns 1: more messages follow; 0: this was the last one; or a negative error code */
static int take_message(const struct nlmsghdr *header,
			void (*fn)(const struct nl_attrs *attrs, void *arg), void *arg)
{
	const char *genl = NLMSG_DATA(header);
	struct nl_attrs attrs;

	if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
		return *(const int *)NLMSG_DATA(header);
	nl_parse(&attrs, genl + GENL_HDRLEN,
		 header->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN);
	fn(&attrs, arg);
	return header->nlmsg_flags & NLM_F_MULTI ? 1 : 0;
}

int nl_dump(struct nl *nl, void (*fn)(const struct nl_attrs *attrs, void *arg), void *arg)
{
	const struct nlmsghdr *header;
	static union {
		struct nlmsghdr	header;
		char		bytes[NL_ROOM];
	} answer;
	ssize_t len;
	int ret = 1;

	nl->header.nlmsg_len = nl->len;
	if (send(nl->fd, nl->request, nl->len, 0) < 0)
		return -errno;
	while (ret > 0) {
		len = recv(nl->fd, answer.bytes, sizeof(answer.bytes), 0);
		if (len < 0)
			return -errno;
		header = &answer.header;
		if (!NLMSG_OK(header, len))
			return -EBADMSG;
		for (; ret > 0 && NLMSG_OK(header, len); header = NLMSG_NEXT(header, len))
			ret = take_message(header, fn, arg);
	}
	return ret;
}

static void take_family(const struct nl_attrs *attrs, void *arg)
{
	struct nl *nl = arg;

	nl->family = nl_u16(attrs->attr[CTRL_ATTR_FAMILY_ID]);
}

int nl_open(struct nl *nl, const char *family)
{
	int ret;

	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	begin(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	nl_put_string(nl, CTRL_ATTR_FAMILY_NAME, family);
	ret = nl_dump(nl, take_family, nl);
	if (ret)
		nl_close(nl);
	return ret;
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
}
