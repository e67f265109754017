// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A socket of generic netlink, for suites kofi_netlink and kofi_netlink_objects.
 */
#include <linux/file.h>
#include <linux/net.h>
#include <net/sock.h>
#include "netlink.h"

/* Requests are small */
#define REQUEST_ROOM	1024

void nl_close(void *data)
{
	struct nl *nl = data;

	kfree_skb(nl->skb);
	if (nl->file)
		fput(nl->file);
	/* A thread of the kernel leaves that to a worker */
	flush_delayed_fput();
}

void nl_begin(struct nl *nl, u16 family, u8 cmd, u16 flags)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *genl;

	nl->skb = alloc_skb(REQUEST_ROOM, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(nl->test, nl->skb);
	nlh = nlmsg_put(nl->skb, 0, 1, family, sizeof(*genl), flags | NLM_F_REQUEST);
	KUNIT_ASSERT_NOT_NULL(nl->test, nlh);
	genl = nlmsg_data(nlh);
	*genl = (struct genlmsghdr) { .cmd = cmd, .version = KOFI_GENL_VERSION };
	nl->header = nlh;
}

void nl_send(struct nl *nl)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec iov;

	nlmsg_end(nl->skb, nl->header);
	iov = (struct kvec) { .iov_base = nl->skb->data, .iov_len = nl->skb->len };
	KUNIT_ASSERT_EQ(nl->test, kernel_sendmsg(nl->sock, &msg, &iov, 1, iov.iov_len),
			(int)iov.iov_len);
	kfree_skb(nl->skb);
	nl->skb = NULL;
}

static int nl_receive(struct nl *nl)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec iov = { .iov_base = nl->buf, .iov_len = nl->room };

	return kernel_recvmsg(nl->sock, &msg, &iov, 1, nl->room, MSG_DONTWAIT);
}

static bool nl_parse(struct nl *nl, struct nlmsghdr *nlh)
{
	return !nla_parse_deprecated(nl->attrs, KOFI_A_MAX, nlmsg_data(nlh) + GENL_HDRLEN,
				     nlmsg_len(nlh) - GENL_HDRLEN, NULL, NULL);
}

int nl_read(struct nl *nl, nl_fn fn)
{
	struct nlmsghdr *nlh;
	int err;

	for (;;) {
		if (!nlmsg_ok(nl->next, nl->left)) {
			nl->next = (void *)nl->buf;
			nl->left = nl_receive(nl);
			if (nl->left < 0)
				return nl->left;
		}
		nlh = nl->next;
		nl->next = nlmsg_next(nlh, &nl->left);
		if (nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR) {
			err = *(int *)nlmsg_data(nlh);
			return err ?: -ENOENT;
		}
		nl->count++;
		if (!nl_parse(nl, nlh))
			return -EBADMSG;
		if (fn && fn(nl))
			return 0;
	}
}

static bool nl_take_family(struct nl *nl)
{
	struct nlattr *attr = nl->attrs[CTRL_ATTR_FAMILY_ID];

	if (attr)
		nl->family = nla_get_u16(attr);
	return attr;
}

struct nl *nl_open_sparing(struct kunit *test, struct net *net)
{
	struct nl *nl = vt_buf(test, sizeof(*nl));
	struct file *file;

	nl->test = test;
	nl->room = REQUEST_ROOM;
	nl->buf = vt_buf(test, NL_ROOM);
	nl->next = (void *)nl->buf;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, nl_close, nl), 0);
	KUNIT_ASSERT_EQ(test, sock_create_kern(net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC,
					       &nl->sock), 0);
	file = sock_alloc_file(nl->sock, 0, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	nl->file = file;

	nl_begin(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	KUNIT_ASSERT_EQ(test, nla_put_string(nl->skb, CTRL_ATTR_FAMILY_NAME, KOFI_GENL_NAME), 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_take_family), 0);
	return nl;
}

struct nl *nl_open(struct kunit *test, struct net *net)
{
	struct nl *nl = nl_open_sparing(test, net);

	nl->room = NL_ROOM;
	return nl;
}

void nl_ask(struct nl *nl, u8 cmd)
{
	nl_begin(nl, nl->family, cmd, NLM_F_DUMP);
	nl->count = 0;
}

void nl_ask_info(struct nl *nl, const char *prov_name, u64 caps)
{
	struct nlattr *nest;

	nl_ask(nl, KOFI_CMD_GETINFO);
	nest = nla_nest_start(nl->skb, KOFI_A_HINTS);
	KUNIT_ASSERT_NOT_NULL(nl->test, nest);
	KUNIT_ASSERT_EQ(nl->test, nla_put_string(nl->skb, KOFI_INFO_PROV_NAME, prov_name), 0);
	KUNIT_ASSERT_EQ(nl->test, nla_put_u64_64bit(nl->skb, KOFI_INFO_CAPS, caps,
						    KOFI_INFO_UNSPEC), 0);
	nla_nest_end(nl->skb, nest);
}

bool nl_nest(struct nl *nl, int attr, int max)
{
	return nl->attrs[attr] &&
	       !nla_parse_nested_deprecated(nl->nest, max, nl->attrs[attr], NULL, NULL);
}

bool nl_is_error(struct nl *nl)
{
	return nl->attrs[KOFI_A_ERROR];
}

bool nl_is_object(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_OBJECT, KOFI_OBJECT_MAX) &&
	       !nla_strcmp(nl->nest[KOFI_OBJECT_PROV_NAME], "mock");
}

const struct cred *nl_drop_caps(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_clear(cred->cap_effective);
	return override_creds(cred);
}

void nl_take_caps_back(const struct cred *old)
{
	const struct cred *dropped = current_cred();

	revert_creds(old);
	put_cred(dropped);
}

