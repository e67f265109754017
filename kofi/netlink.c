// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Generic netlink family "kofi", include/uapi/rdma/kofi_netlink.h: programs ask what
 * fi_getinfo() finds, and what is registered and open.
 *
 * All commands are dumps.  The state of a dump is in netlink_callback.ctx.  ->dumpit is called
 * again for each buffer that the asker reads.  A dump holds no lock and no reference from
 * one call to the next; it keeps only the results of fi_getinfo(), which are copies.
 *
 * fi_getinfo() may sleep for long.  The first call of a dump runs under the semaphore of all
 * generic netlink families, the later ones do not, so the first call of GETINFO only
 * answers with the version.  For that reason also no module is loaded here: the module of a
 * provider may have a family of its own.
 *
 * Memory: a GETINFO keeps its results until the asker has read them, or closes the socket.
 * KOFI_MAX_ASKS of them may be there at a time; an asker with CAP_NET_ADMIN in the initial user
 * namespace is not counted.
 *
 * No provider is called with a lock held.  An object that is being looked at stays there,
 * see kofi_obj_look().
 */
#include <linux/atomic.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <kofi/compat.h>
#include <kofi/stat.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_reason.h>
#include <uapi/rdma/kofi_netlink.h>
#include "kofi.h"
#include "query.h"

#define KOFI_MAX_ASKS		64
#define KOFI_ASK_REASONS	16
#define KOFI_NODE_MAX		80
#define KOFI_TEXT_ROOM		8192
/* Room for one message: the text of a result is the longest there is */
#define KOFI_DUMP_ROOM		(2 * KOFI_TEXT_ROOM)

static struct genl_family kofi_family;
static atomic_t kofi_asks = ATOMIC_INIT(0);

/* Type of a number in struct fi_info; on the wire it is an u64 or an u32 */
enum kofi_number {
	KOFI_NO_NUMBER,
	KOFI_U32,
	KOFI_U64,
	KOFI_SIZE,
};

/* A number of struct fi_info, or of the structure that its pointer at offset @part points to */
struct kofi_field {
	u16			part;
	u16			offset;
	enum kofi_number	how;
};

#define IN_INFO(member, number)	{ \
	.offset = offsetof(struct fi_info, member), .how = (number) }
#define IN_PART(pointer, member, number) { \
	.part = offsetof(struct fi_info, pointer), \
	.offset = offsetof(struct fi_##pointer, member), .how = (number) }

static const struct kofi_field kofi_fields[KOFI_INFO_MAX + 1] = {
	[KOFI_INFO_CAPS]	 = IN_INFO(caps, KOFI_U64),
	[KOFI_INFO_MODE]	 = IN_INFO(mode, KOFI_U64),
	[KOFI_INFO_ADDR_FORMAT]	 = IN_INFO(addr_format, KOFI_U32),
	[KOFI_INFO_EP_TYPE]	 = IN_PART(ep_attr, type, KOFI_U32),
	[KOFI_INFO_PROTOCOL]	 = IN_PART(ep_attr, protocol, KOFI_U32),
	[KOFI_INFO_MAX_MSG_SIZE] = IN_PART(ep_attr, max_msg_size, KOFI_SIZE),
	[KOFI_INFO_TX_SIZE]	 = IN_PART(tx_attr, size, KOFI_SIZE),
	[KOFI_INFO_TX_MSG_ORDER] = IN_PART(tx_attr, msg_order, KOFI_U64),
	[KOFI_INFO_INJECT_SIZE]	 = IN_PART(tx_attr, inject_size, KOFI_SIZE),
	[KOFI_INFO_TX_IOV_LIMIT] = IN_PART(tx_attr, iov_limit, KOFI_SIZE),
	[KOFI_INFO_TCLASS]	 = IN_PART(tx_attr, tclass, KOFI_U32),
	[KOFI_INFO_RX_SIZE]	 = IN_PART(rx_attr, size, KOFI_SIZE),
	[KOFI_INFO_RX_MSG_ORDER] = IN_PART(rx_attr, msg_order, KOFI_U64),
	[KOFI_INFO_DOMAIN_MODE]	 = IN_PART(domain_attr, mode, KOFI_U64),
	[KOFI_INFO_MR_MODE]	 = IN_PART(domain_attr, mr_mode, KOFI_U32),
	[KOFI_INFO_THREADING]	 = IN_PART(domain_attr, threading, KOFI_U32),
	[KOFI_INFO_PROGRESS]	 = IN_PART(domain_attr, data_progress, KOFI_U32),
	[KOFI_INFO_AV_TYPE]	 = IN_PART(domain_attr, av_type, KOFI_U32),
	[KOFI_INFO_PROV_VERSION] = IN_PART(fabric_attr, prov_version, KOFI_U32),
};

static const struct nla_policy kofi_hints_policy[KOFI_INFO_DOMAIN + 1] = {
	[KOFI_INFO_CAPS]	 = { .type = NLA_U64 },
	[KOFI_INFO_MODE]	 = { .type = NLA_U64 },
	[KOFI_INFO_ADDR_FORMAT]	 = { .type = NLA_U32 },
	[KOFI_INFO_EP_TYPE]	 = { .type = NLA_U32 },
	[KOFI_INFO_PROTOCOL]	 = { .type = NLA_U32 },
	[KOFI_INFO_MAX_MSG_SIZE] = { .type = NLA_U64 },
	[KOFI_INFO_TX_SIZE]	 = { .type = NLA_U64 },
	[KOFI_INFO_TX_MSG_ORDER] = { .type = NLA_U64 },
	[KOFI_INFO_INJECT_SIZE]	 = { .type = NLA_U64 },
	[KOFI_INFO_TX_IOV_LIMIT] = { .type = NLA_U64 },
	[KOFI_INFO_TCLASS]	 = { .type = NLA_U32 },
	[KOFI_INFO_RX_SIZE]	 = { .type = NLA_U64 },
	[KOFI_INFO_RX_MSG_ORDER] = { .type = NLA_U64 },
	[KOFI_INFO_DOMAIN_MODE]	 = { .type = NLA_U64 },
	[KOFI_INFO_MR_MODE]	 = { .type = NLA_U32 },
	[KOFI_INFO_THREADING]	 = { .type = NLA_U32 },
	[KOFI_INFO_PROGRESS]	 = { .type = NLA_U32 },
	[KOFI_INFO_AV_TYPE]	 = { .type = NLA_U32 },
	[KOFI_INFO_PROV_VERSION] = { .type = NLA_U32 },
	[KOFI_INFO_PROV_NAME]	 = { .type = NLA_NUL_STRING, .len = FI_NAME_MAX - 1 },
	[KOFI_INFO_FABRIC]	 = { .type = NLA_NUL_STRING, .len = FI_NAME_MAX - 1 },
	[KOFI_INFO_DOMAIN]	 = { .type = NLA_NUL_STRING, .len = FI_NAME_MAX - 1 },
};

static const struct nla_policy kofi_getinfo_policy[KOFI_A_HINTS + 1] = {
	[KOFI_A_VERSION]	 = { .type = NLA_U32 },
	[KOFI_A_NODE]		 = { .type = NLA_NUL_STRING, .len = KOFI_NODE_MAX },
	[KOFI_A_SERVICE]	 = { .type = NLA_U16 },
	[KOFI_A_FLAGS]		 = { .type = NLA_U64 },
	[KOFI_A_HINTS]		 = NLA_POLICY_NESTED(kofi_hints_policy),
};

/* For commands without attributes: without a policy generic netlink would accept any attribute */
static const struct nla_policy kofi_no_policy[] = {
	[KOFI_A_PAD]		 = { .type = NLA_REJECT },
};

/**
 * struct kofi_ask - One GETINFO
 * @counted: it is one of @kofi_asks
 * @is_greeted: the first message is out
 * @is_run: fi_getinfo() has been called
 * @said_all: the last message is out
 * @err: what fi_getinfo() has returned
 * @hints: with the asker's namespace
 * @results: of fi_getinfo()
 * @next: result that has not been put into a message
 * @count: reasons
 * @nth: reason that has not been put into a message
 * @reasons: the nearest ones
 * @text: of a result
 */
struct kofi_ask {
	bool			counted;
	bool			is_greeted;
	bool			is_run;
	bool			said_all;
	int			err;
	struct fi_info		*hints;
	struct fi_info		*results;
	struct fi_info		*next;
	int			count;
	int			nth;
	struct fi_reason	reasons[KOFI_ASK_REASONS];
	char			text[KOFI_TEXT_ROOM];
};

/* Where a field of @info is */
static void *kofi_field_at(const struct kofi_field *field, struct fi_info *info)
{
	void *base = field->part ? *(void **)((void *)info + field->part) : info;

	return base + field->offset;
}

static void kofi_field_set(const struct kofi_field *field, struct fi_info *info,
			   const struct nlattr *attr)
{
	void *at = kofi_field_at(field, info);

	if (field->how == KOFI_U32)
		*(u32 *)at = nla_get_u32(attr);
	else if (field->how == KOFI_U64)
		*(u64 *)at = nla_get_u64(attr);
	else
		*(size_t *)at = min_t(u64, nla_get_u64(attr), SIZE_MAX);
}

static int kofi_field_put(struct sk_buff *skb, int attr, struct fi_info *info)
{
	const struct kofi_field *field = &kofi_fields[attr];
	const void *at = kofi_field_at(field, info);

	if (field->how == KOFI_U32)
		return nla_put_u32(skb, attr, *(const u32 *)at);
	return nla_put_u64_64bit(skb, attr, field->how == KOFI_U64 ? *(const u64 *)at :
				 *(const size_t *)at, KOFI_INFO_PAD);
}

static int kofi_take_string(char **to, const struct nlattr *attr)
{
	if (!attr)
		return 0;
	*to = nla_strdup(attr, GFP_KERNEL);
	return *to ? 0 : -ENOMEM;
}

static int kofi_take_hints(struct fi_info *hints, const struct nlattr *nest)
{
	struct nlattr *attrs[KOFI_INFO_DOMAIN + 1];
	int i, ret;

	ret = nla_parse_nested(attrs, KOFI_INFO_DOMAIN, nest, kofi_hints_policy, NULL);
	if (ret)
		return ret;
	for (i = 0; i <= KOFI_INFO_DOMAIN; i++)
		if (attrs[i] && kofi_fields[i].how)
			kofi_field_set(&kofi_fields[i], hints, attrs[i]);
	ret = kofi_take_string(&hints->fabric_attr->prov_name, attrs[KOFI_INFO_PROV_NAME]);
	if (!ret)
		ret = kofi_take_string(&hints->fabric_attr->name, attrs[KOFI_INFO_FABRIC]);
	if (!ret)
		ret = kofi_take_string(&hints->domain_attr->name, attrs[KOFI_INFO_DOMAIN]);
	return ret;
}

static struct kofi_ask *kofi_ask_of(struct netlink_callback *cb)
{
	return *(struct kofi_ask **)cb->ctx;
}

static void kofi_ask_free(struct kofi_ask *ask)
{
	fi_freeinfo(ask->results);
	fi_freeinfo(ask->hints);
	if (ask->counted)
		atomic_dec(&kofi_asks);
	kfree(ask);
}

static int kofi_getinfo_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = kofi_genl_dump_attrs(cb);
	struct kofi_ask *ask;
	int ret = 0;

	ask = kzalloc(sizeof(*ask), GFP_KERNEL_ACCOUNT);
	if (!ask)
		return -ENOMEM;

	/* Any user may have CAP_NET_ADMIN in a namespace of its own */
	ask->counted = !netlink_capable(cb->skb, CAP_NET_ADMIN);
	if (ask->counted && atomic_inc_return(&kofi_asks) > KOFI_MAX_ASKS) {
		ret = -EBUSY;
		goto err_free;
	}

	ask->hints = fi_allocinfo();
	if (!ask->hints) {
		ret = -ENOMEM;
		goto err_free;
	}
	ask->hints->fabric_attr->net = sock_net(cb->skb->sk);
	if (attrs[KOFI_A_HINTS]) {
		ret = kofi_take_hints(ask->hints, attrs[KOFI_A_HINTS]);
		if (ret)
			goto err_free;
	} else {
		ask->hints->mode = U64_MAX;
		ask->hints->domain_attr->mode = U64_MAX;
	}
	*(struct kofi_ask **)cb->ctx = ask;
	cb->min_dump_alloc = KOFI_DUMP_ROOM;
	return 0;

err_free:
	kofi_ask_free(ask);
	return ret;
}

static int kofi_getinfo_done(struct netlink_callback *cb)
{
	kofi_ask_free(kofi_ask_of(cb));
	return 0;
}

static void *kofi_dump_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &kofi_family,
			   NLM_F_MULTI, cmd);
}

/* Ends a message that has been begun, or takes it back if something did not fit */
static int kofi_dump_end(struct sk_buff *skb, void *header, int ret)
{
	if (ret) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

static int kofi_put_string(struct sk_buff *skb, int attr, const char *text)
{
	return text && *text ? nla_put_string(skb, attr, text) : 0;
}

static int kofi_put_info(struct sk_buff *skb, struct kofi_ask *ask)
{
	struct fi_info *info = ask->next;
	struct nlattr *nest;
	int i, ret = 0;

	nest = nla_nest_start(skb, KOFI_A_INFO);
	if (!nest)
		return -EMSGSIZE;
	/* With FI_PROV_ATTR_ONLY a result has nothing but its fabric_attr */
	for (i = 0; !ret && i <= KOFI_INFO_MAX; i++)
		if (kofi_fields[i].how &&
		    (!kofi_fields[i].part || *(void **)((void *)info + kofi_fields[i].part)))
			ret = kofi_field_put(skb, i, info);
	ret = ret ?: kofi_put_string(skb, KOFI_INFO_PROV_NAME, info->fabric_attr->prov_name);
	ret = ret ?: kofi_put_string(skb, KOFI_INFO_FABRIC, info->fabric_attr->name);
	if (info->domain_attr)
		ret = ret ?: kofi_put_string(skb, KOFI_INFO_DOMAIN, info->domain_attr->name);
	if (info->src_addr)
		ret = ret ?: nla_put(skb, KOFI_INFO_SRC_ADDR, info->src_addrlen, info->src_addr);
	if (info->dest_addr)
		ret = ret ?: nla_put(skb, KOFI_INFO_DEST_ADDR, info->dest_addrlen,
				     info->dest_addr);
	fi_tostr(info, FI_TYPE_INFO, ask->text, sizeof(ask->text));
	ret = ret ?: nla_put_string(skb, KOFI_INFO_TEXT, ask->text);
	nla_nest_end(skb, nest);
	return ret;
}

static int kofi_put_reason(struct sk_buff *skb, const struct fi_reason *reason)
{
	struct nlattr *nest = nla_nest_start(skb, KOFI_A_REASON);

	if (!nest ||
	    nla_put_u32(skb, KOFI_REASON_KIND, reason->kind) ||
	    nla_put_s32(skb, KOFI_REASON_ERR, reason->err) ||
	    nla_put_u32(skb, KOFI_REASON_MISFITS, reason->misfits) ||
	    kofi_put_string(skb, KOFI_REASON_PROV_NAME, reason->prov_name) ||
	    kofi_put_string(skb, KOFI_REASON_DOMAIN, reason->domain_name) ||
	    kofi_put_string(skb, KOFI_REASON_FIELD, reason->field) ||
	    kofi_put_string(skb, KOFI_REASON_WANTED, reason->wanted) ||
	    kofi_put_string(skb, KOFI_REASON_OFFERED, reason->offered) ||
	    kofi_put_string(skb, KOFI_REASON_TEXT, reason->text))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Adds the next message of the answer, if it fits */
static int kofi_getinfo_say(struct sk_buff *skb, struct netlink_callback *cb,
			    struct kofi_ask *ask)
{
	void *header = kofi_dump_begin(skb, cb, KOFI_CMD_GETINFO);
	int ret;

	if (!header)
		return -EMSGSIZE;
	if (ask->next) {
		ret = kofi_dump_end(skb, header, kofi_put_info(skb, ask));
		if (!ret)
			ask->next = ask->next->next;
	} else if (ask->nth < ask->count) {
		ret = kofi_dump_end(skb, header,
				    kofi_put_reason(skb, &ask->reasons[ask->nth]));
		if (!ret)
			ask->nth++;
	} else {
		ret = kofi_dump_end(skb, header, nla_put_s32(skb, KOFI_A_ERROR, ask->err));
		ask->said_all = !ret;
	}
	return ret;
}

static void kofi_getinfo_run(struct netlink_callback *cb, struct kofi_ask *ask)
{
	struct nlattr **attrs = kofi_genl_dump_attrs(cb);
	struct kofi_query query = {
		.version	= KOFI_API_VERSION,
		.may_not_load	= true,
	};

	if (attrs[KOFI_A_VERSION])
		query.version = nla_get_u32(attrs[KOFI_A_VERSION]);
	if (attrs[KOFI_A_NODE])
		query.node = nla_data(attrs[KOFI_A_NODE]);
	if (attrs[KOFI_A_SERVICE])
		query.service = nla_get_u16(attrs[KOFI_A_SERVICE]);
	if (attrs[KOFI_A_FLAGS])
		query.flags = nla_get_u64(attrs[KOFI_A_FLAGS]) & ~FI_RESCAN;

	ask->err = kofi_getinfo(&query, ask->hints, ask->reasons, ARRAY_SIZE(ask->reasons),
				&ask->count);
	ask->results = query.results;
	ask->next = query.results;
	ask->is_run = true;
}

static int kofi_getinfo_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kofi_ask *ask = kofi_ask_of(cb);
	void *header;
	int ret = 0;

	if (!ask->is_greeted) {
		ask->is_greeted = true;
		header = kofi_dump_begin(skb, cb, KOFI_CMD_GETINFO);
		if (!header)
			return -EMSGSIZE;
		ret = nla_put_u32(skb, KOFI_A_VERSION, KOFI_API_VERSION);
		ret = kofi_dump_end(skb, header, ret);
		return ret ?: skb->len;
	}

	if (!ask->is_run)
		kofi_getinfo_run(cb, ask);
	while (!ret && !ask->said_all)
		ret = kofi_getinfo_say(skb, cb, ask);
	return ret && !skb->len ? ret : skb->len;
}

/**
 * struct kofi_dump - Where a dump of a list is
 * @skb: the message being filled
 * @cb: the dump
 * @nth: place of the entry that is being looked at
 */
struct kofi_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	unsigned long		nth;
};

static int kofi_put_provider(struct sk_buff *skb, const struct kofi_prov *prov)
{
	const struct kofi_provider *provider = prov->provider;
	struct nlattr *nest = nla_nest_start(skb, KOFI_A_PROVIDER);

	if (!nest ||
	    nla_put_string(skb, KOFI_PROVIDER_NAME, provider->name) ||
	    nla_put_u32(skb, KOFI_PROVIDER_NR, provider->version) ||
	    nla_put_u32(skb, KOFI_PROVIDER_API, prov->version) ||
	    nla_put_u32(skb, KOFI_PROVIDER_REFS, refcount_read(&prov->refs)) ||
	    (provider->owner &&
	     nla_put_string(skb, KOFI_PROVIDER_MODULE, provider->owner->name)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int kofi_dump_provider(const struct kofi_prov *prov, void *arg)
{
	struct kofi_dump *dump = arg;
	void *header;
	int ret;

	if (dump->nth++ < dump->cb->args[0])
		return 0;
	header = kofi_dump_begin(dump->skb, dump->cb, KOFI_CMD_PROVIDERS);
	if (!header)
		return -EMSGSIZE;
	ret = kofi_dump_end(dump->skb, header, kofi_put_provider(dump->skb, prov));
	if (!ret)
		dump->cb->args[0] = dump->nth;
	return ret;
}

static int kofi_providers_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kofi_dump dump = { .skb = skb, .cb = cb };
	int ret = kofi_prov_each(kofi_dump_provider, &dump);

	return ret && !skb->len ? ret : skb->len;
}

static int kofi_put_bound(struct sk_buff *skb, const struct kofi_binding *binding)
{
	struct nlattr *nest = nla_nest_start(skb, KOFI_OBJECT_BOUND);

	if (!nest ||
	    nla_put_u64_64bit(skb, KOFI_BOUND_ID, binding->to->id, KOFI_BOUND_PAD) ||
	    nla_put_u64_64bit(skb, KOFI_BOUND_FLAGS, binding->flags, KOFI_BOUND_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int kofi_put_bindings(struct sk_buff *skb, struct kofi_obj *obj)
{
	struct kofi_binding *binding;
	int ret;

	guard(mutex)(&kofi_objects_lock);
	list_for_each_entry(binding, &obj->bindings, entry) {
		ret = kofi_put_bound(skb, binding);
		if (ret)
			return ret;
	}
	return 0;
}

static int kofi_put_key(struct sk_buff *skb, struct netlink_callback *cb,
			const struct kofi_obj *obj)
{
	u64 key;

	if (obj->fclass != FI_CLASS_MR || !netlink_net_capable(cb->skb, CAP_NET_ADMIN))
		return 0;
	key = READ_ONCE(container_of(obj->fid, struct fid_mr, fid)->key);
	if (key == FI_KEY_NOTAVAIL)
		return 0;
	return nla_put_u64_64bit(skb, KOFI_OBJECT_KEY, key, KOFI_OBJECT_PAD);
}

static int kofi_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *addr)
{
	switch (addr->ss_family) {
	case AF_INET:
		return nla_put(skb, attr, sizeof(struct sockaddr_in), addr);
	case AF_INET6:
		return nla_put(skb, attr, sizeof(struct sockaddr_in6), addr);
	default:
		return 0;
	}
}

static int kofi_put_value(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, KOFI_OBJECT_VALUE);

	if (!nest ||
	    nla_put_string(skb, KOFI_VALUE_NAME, name) ||
	    nla_put_u64_64bit(skb, KOFI_VALUE_NUMBER, value, KOFI_VALUE_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int kofi_put_stat(struct sk_buff *skb, const struct kofi_obj *obj)
{
	struct kofi_stat stat;
	int ret;
	size_t i;

	kofi_obj_stat(obj, &stat);
	ret = kofi_put_string(skb, KOFI_OBJECT_STATE, stat.state);
	ret = ret ?: kofi_put_addr(skb, KOFI_OBJECT_SRC_ADDR, &stat.addr);
	ret = ret ?: kofi_put_addr(skb, KOFI_OBJECT_DEST_ADDR, &stat.peer);
	for (i = 0; !ret && i < stat.count; i++)
		ret = kofi_put_value(skb, stat.values[i].name, stat.values[i].value);
	return ret;
}

static int kofi_put_object(struct sk_buff *skb, struct netlink_callback *cb,
			   struct kofi_obj *obj)
{
	const struct kofi_root *root = kofi_fabric_of(obj)->root;
	struct nlattr *nest = nla_nest_start(skb, KOFI_A_OBJECT);
	char hash[24];

	snprintf(hash, sizeof(hash), "%p", obj->fid);
	if (!nest ||
	    nla_put_u64_64bit(skb, KOFI_OBJECT_ID, obj->id, KOFI_OBJECT_PAD) ||
	    nla_put_u32(skb, KOFI_OBJECT_CLASS, obj->fclass) ||
	    nla_put_string(skb, KOFI_OBJECT_CLASS_NAME, kofi_class_name(obj->fclass)) ||
	    nla_put_string(skb, KOFI_OBJECT_PROV_NAME, obj->prov->provider->name) ||
	    kofi_put_string(skb, KOFI_OBJECT_NAME, obj->name) ||
	    (obj->parent && nla_put_u64_64bit(skb, KOFI_OBJECT_PARENT, obj->parent->id,
					      KOFI_OBJECT_PAD)) ||
	    nla_put_u32(skb, KOFI_OBJECT_USERS, max(atomic_read(&obj->users), 0)) ||
	    nla_put_string(skb, KOFI_OBJECT_OWNER, root->client_name) ||
	    (READ_ONCE(root->unloaded) && nla_put_flag(skb, KOFI_OBJECT_UNLOADED)) ||
	    kofi_put_bindings(skb, obj) ||
	    nla_put_string(skb, KOFI_OBJECT_HASH, hash) ||
	    (netlink_capable(cb->skb, CAP_NET_ADMIN) &&
	     nla_put_u64_64bit(skb, KOFI_OBJECT_ADDR, (uintptr_t)obj->fid, KOFI_OBJECT_PAD)) ||
	    kofi_put_key(skb, cb, obj) ||
	    kofi_put_stat(skb, obj))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* An object whose namespace has gone is shown in the initial namespace */
static bool kofi_obj_is_in(const struct kofi_obj *obj, const struct net *net)
{
	const struct net *own = READ_ONCE(kofi_fabric_of(obj)->root->net);

	return own ? own == net : net == &init_net;
}

static int kofi_dump_object(struct sk_buff *skb, struct netlink_callback *cb,
			    struct kofi_obj *obj)
{
	void *header;

	if (!kofi_obj_is_in(obj, sock_net(cb->skb->sk)))
		return 0;
	header = kofi_dump_begin(skb, cb, KOFI_CMD_OBJECTS);
	if (!header)
		return -EMSGSIZE;
	return kofi_dump_end(skb, header, kofi_put_object(skb, cb, obj));
}

static int kofi_objects_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = KOFI_DUMP_ROOM;
	return 0;
}

static int kofi_objects_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	u64 *last = (u64 *)cb->ctx;
	struct kofi_obj *obj;
	int ret = 0;

	for (obj = kofi_obj_look(*last); obj; obj = kofi_obj_look_on(obj)) {
		ret = kofi_dump_object(skb, cb, obj);
		if (ret) {
			kofi_obj_look_away(obj);
			break;
		}
		*last = obj->id;
	}
	return ret && !skb->len ? ret : skb->len;
}

static const struct genl_ops kofi_genl_ops[] = {
	{
		.cmd		= KOFI_CMD_GETINFO,
		.start		= kofi_getinfo_start,
		.dumpit		= kofi_getinfo_dumpit,
		.done		= kofi_getinfo_done,
		.policy		= kofi_getinfo_policy,
		.maxattr	= KOFI_A_HINTS,
	},
	{
		.cmd		= KOFI_CMD_PROVIDERS,
		.dumpit		= kofi_providers_dumpit,
		.policy		= kofi_no_policy,
		.maxattr	= ARRAY_SIZE(kofi_no_policy) - 1,
	},
	{
		.cmd		= KOFI_CMD_OBJECTS,
		.start		= kofi_objects_start,
		.dumpit		= kofi_objects_dumpit,
		.policy		= kofi_no_policy,
		.maxattr	= ARRAY_SIZE(kofi_no_policy) - 1,
	},
};

static struct genl_family kofi_family __ro_after_init = {
	.name		= KOFI_GENL_NAME,
	.version	= KOFI_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.resv_start_op	= KOFI_CMD_UNSPEC + 1,
	.ops		= kofi_genl_ops,
	.n_ops		= ARRAY_SIZE(kofi_genl_ops),
	.module		= THIS_MODULE,
};

int __init kofi_netlink_init(void)
{
	return genl_register_family(&kofi_family);
}

void kofi_netlink_exit(void)
{
	genl_unregister_family(&kofi_family);
}
