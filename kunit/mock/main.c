// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Instances of the mock provider, and discovery.
 *
 * getinfo and freeinfo of a provider have no argument that says whose they are,
 * so each instance owns one set of entry points, which finds it through
 * mock_slots[].  Instances come and go under mock_slots_lock; a slot in use is
 * read without it, because the core calls no provider that is not registered.
 *
 * mock_enter() is the first thing in each call: it counts the call, lets it
 * stop at the gate and fails it if the test said so.  All three are safe
 * against calls from several threads.
 */
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "priv.h"

#define MOCK_PATIENCE	(10 * HZ)

static DEFINE_MUTEX(mock_slots_lock);
static struct mock *mock_slots[MOCK_MAX];

static void mock_gate(struct mock *mock, enum mock_call call)
{
	/* Pairs with mock_gate_arm() */
	if (!smp_load_acquire(&mock->gate_armed) || READ_ONCE(mock->gate_call) != call ||
	    cmpxchg(&mock->gate_armed, 1, 0) != 1)
		return;
	complete(&mock->gate_entered);
	wait_for_completion(&mock->gate_opened);
}

int mock_enter(struct mock *mock, enum mock_call call)
{
	atomic_inc(&mock->calls[call]);
	mock_gate(mock, call);
	return xchg(&mock->fail[call], 0);
}

void mock_gate_arm(struct mock *mock, enum mock_call call)
{
	reinit_completion(&mock->gate_entered);
	reinit_completion(&mock->gate_opened);
	WRITE_ONCE(mock->gate_call, call);
	/* Who sees the gate armed sees which call it is for */
	smp_store_release(&mock->gate_armed, 1);
}
EXPORT_SYMBOL_GPL(mock_gate_arm);

bool mock_gate_wait(struct mock *mock)
{
	return wait_for_completion_timeout(&mock->gate_entered, MOCK_PATIENCE);
}
EXPORT_SYMBOL_GPL(mock_gate_wait);

void mock_gate_open(struct mock *mock)
{
	complete_all(&mock->gate_opened);
}
EXPORT_SYMBOL_GPL(mock_gate_open);

int mock_live(const struct mock *mock)
{
	int i, live = 0;

	for (i = 0; i < MOCK_NR_CLASSES; i++)
		live += atomic_read(&mock->live[i]);
	return live;
}
EXPORT_SYMBOL_GPL(mock_live);

int mock_calls(const struct mock *mock)
{
	int i, calls = 0;

	for (i = 0; i < MOCK_NR_CALLS; i++)
		calls += atomic_read(&mock->calls[i]);
	return calls;
}
EXPORT_SYMBOL_GPL(mock_calls);

/* A copy of which one part is missing; its other parts are the original's */
static struct fi_info *mock_malform(const struct mock *mock, const struct fi_info *info)
{
	struct fi_info *bad = kmemdup(info, sizeof(*info), GFP_KERNEL);

	if (!bad)
		return NULL;
	bad->next = NULL;
	switch (mock->malformed) {
	case MOCK_INFO_NO_TX_ATTR:
		bad->tx_attr = NULL;
		break;
	case MOCK_INFO_NO_RX_ATTR:
		bad->rx_attr = NULL;
		break;
	case MOCK_INFO_NO_EP_ATTR:
		bad->ep_attr = NULL;
		break;
	case MOCK_INFO_NO_DOMAIN_ATTR:
		bad->domain_attr = NULL;
		break;
	case MOCK_INFO_NO_FABRIC_ATTR:
		bad->fabric_attr = NULL;
		break;
	case MOCK_INFO_NO_DOMAIN_NAME:
		kfree(bad->domain_attr->name);
		bad->domain_attr->name = NULL;
		break;
	case MOCK_INFO_NO_FABRIC_NAME:
		kfree(bad->fabric_attr->name);
		bad->fabric_attr->name = NULL;
		break;
	default:
		break;
	}
	return bad;
}

static void mock_freeinfo(struct mock *mock, struct fi_info *info)
{
	struct fi_info *next;

	atomic_dec(&mock->infos_out);
	if (!mock->malformed) {
		fi_freeinfo(info);
		return;
	}
	for (; info; info = next) {
		next = info->next;
		kfree(info);
	}
}

static int mock_set_addr(struct fi_info *info, const char *node, int service, u64 flags)
{
	struct sockaddr_storage *addr;
	int err;

	if (!node && !service)
		return 0;
	addr = kzalloc(sizeof(*addr), GFP_KERNEL);
	if (!addr)
		return -ENOMEM;
	err = kofi_parse_addr(&init_net, node, service, AF_INET, addr);
	if (err) {
		kfree(addr);
		return err;
	}
	if (flags & FI_SOURCE) {
		kfree(info->src_addr);
		info->src_addr = addr;
		info->src_addrlen = sizeof(struct sockaddr_in);
	} else {
		kfree(info->dest_addr);
		info->dest_addr = addr;
		info->dest_addrlen = sizeof(struct sockaddr_in);
	}
	return 0;
}

static struct fi_info *mock_copy(const struct mock *mock, const struct fi_info *info,
				 const char *node, int service, u64 flags)
{
	struct fi_info *copy;

	if (mock->malformed)
		return mock_malform(mock, info);
	copy = fi_dupinfo(info);
	if (copy && mock_set_addr(copy, node, service, flags)) {
		fi_freeinfo(copy);
		return NULL;
	}
	return copy;
}

static int mock_getinfo(struct mock *mock, const char *node, int service, u64 flags,
			const struct fi_info *hints, struct fi_info **list)
{
	struct fi_info **end = list;
	const struct fi_info *info;
	int err;

	*list = NULL;
	if (mock->in_getinfo)
		mock->in_getinfo(mock, hints);
	err = mock_enter(mock, MOCK_CALL_GETINFO);
	if (err || mock->empty)
		return err;

	atomic_inc(&mock->infos_out);
	for (info = mock->infos; info; info = info->next) {
		*end = mock_copy(mock, info, node, service, flags);
		if (!*end) {
			mock_freeinfo(mock, *list);
			*list = NULL;
			return -ENOMEM;
		}
		end = &(*end)->next;
	}
	return 0;
}

static int mock_fabric(struct mock *mock, struct fi_fabric_attr *attr,
		       struct fid_fabric **fabric, void *context)
{
	int err;

	if (strcmp(attr->prov_name, mock->name))
		return -EPROTO;
	err = mock_enter(mock, MOCK_CALL_FABRIC);
	return err ? : mock_open_fabric(mock, fabric, context);
}

static void mock_net_exit(struct fid_fabric *fabric)
{
	struct mock *mock = mock_of(&fabric->fid);

	mock_enter(mock, MOCK_CALL_NET_EXIT);
	mock->net_exits++;
	mock->net_exited = fabric;
}

#define MOCK_SLOT(n)							\
enum { mock_slot_##n = n };						\
static int mock_getinfo_##n(u32 version, const char *node,		\
			    const int service, u64 flags,		\
			    struct fi_info *hints,			\
			    struct fi_info **info)			\
{									\
	return mock_getinfo(mock_slots[mock_slot_##n], node, service,	\
			    flags, hints, info);			\
}									\
static void mock_freeinfo_##n(struct fi_info *info)			\
{									\
	mock_freeinfo(mock_slots[mock_slot_##n], info);			\
}									\
static int mock_fabric_##n(struct fi_fabric_attr *attr,			\
			   struct fid_fabric **fabric, void *context)	\
{									\
	return mock_fabric(mock_slots[mock_slot_##n], attr, fabric,	\
			   context);					\
}

#define MOCK_ENTRY(n)							\
	{								\
		.getinfo = mock_getinfo_##n,				\
		.freeinfo = mock_freeinfo_##n,				\
		.fabric = mock_fabric_##n,				\
		.net_exit = mock_net_exit,				\
		.owner = THIS_MODULE,					\
	}

MOCK_SLOT(0)
MOCK_SLOT(1)
MOCK_SLOT(2)
MOCK_SLOT(3)
MOCK_SLOT(4)
MOCK_SLOT(5)
MOCK_SLOT(6)
MOCK_SLOT(7)
MOCK_SLOT(8)
MOCK_SLOT(9)
MOCK_SLOT(10)
MOCK_SLOT(11)
MOCK_SLOT(12)
MOCK_SLOT(13)

static const struct kofi_provider mock_entries[MOCK_MAX] = {
	MOCK_ENTRY(0), MOCK_ENTRY(1), MOCK_ENTRY(2), MOCK_ENTRY(3),
	MOCK_ENTRY(4), MOCK_ENTRY(5), MOCK_ENTRY(6), MOCK_ENTRY(7),
	MOCK_ENTRY(8), MOCK_ENTRY(9), MOCK_ENTRY(10), MOCK_ENTRY(11),
	MOCK_ENTRY(12), MOCK_ENTRY(13),
};

static void mock_info_limits(struct fi_info *info)
{
	info->tx_attr->caps = FI_MSG | FI_SEND;
	info->tx_attr->msg_order = FI_ORDER_SAS;
	info->tx_attr->inject_size = MOCK_MAX_INJECT;
	info->tx_attr->size = MOCK_DEPTH;
	info->tx_attr->iov_limit = 1;
	info->rx_attr->caps = FI_MSG | FI_RECV;
	info->rx_attr->msg_order = FI_ORDER_SAS;
	info->rx_attr->size = MOCK_DEPTH;
	info->rx_attr->iov_limit = 1;
	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->protocol = FI_PROTO_SHM;
	info->ep_attr->max_msg_size = MOCK_MAX_MSG;
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 1;
}

struct fi_info *mock_info(const struct mock *mock)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = FI_MSG | FI_SEND | FI_RECV;
	info->addr_format = FI_SOCKADDR_IN;
	mock_info_limits(info);
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = FI_PROGRESS_AUTO;
	info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->mr_key_size = sizeof(u64);
	info->domain_attr->cq_data_size = sizeof(u64);
	info->domain_attr->cntr_cnt = MOCK_CNTR_CNT;
	info->domain_attr->numa_node = NUMA_NO_NODE;
	info->domain_attr->name = kasprintf(GFP_KERNEL, "%s0", mock->name);
	info->fabric_attr->name = kstrdup(MOCK_FABRIC_NAME, GFP_KERNEL);
	if (!info->domain_attr->name || !info->fabric_attr->name) {
		fi_freeinfo(info);
		return NULL;
	}
	return info;
}
EXPORT_SYMBOL_GPL(mock_info);

static int mock_take_slot(struct mock *mock)
{
	int i, err = -ENOSPC;

	mutex_lock(&mock_slots_lock);
	for (i = 0; i < MOCK_MAX; i++) {
		if (mock_slots[i])
			continue;
		mock_slots[i] = mock;
		mock->slot = i;
		err = 0;
		break;
	}
	mutex_unlock(&mock_slots_lock);
	return err;
}

static void mock_give_slot(struct mock *mock)
{
	mutex_lock(&mock_slots_lock);
	mock_slots[mock->slot] = NULL;
	mutex_unlock(&mock_slots_lock);
}

struct mock *mock_create(const char *name, u32 version)
{
	struct mock *mock = kzalloc(sizeof(*mock), GFP_KERNEL);

	if (!mock)
		return NULL;
	strscpy(mock->name, name, sizeof(mock->name));
	spin_lock_init(&mock->lock);
	INIT_LIST_HEAD(&mock->listening);
	INIT_LIST_HEAD(&mock->done);
	INIT_LIST_HEAD(&mock->posts);
	INIT_WORK(&mock->work, mock_work);
	init_completion(&mock->gate_entered);
	init_completion(&mock->gate_opened);
	mock->infos = mock_info(mock);
	if (!mock->infos)
		goto err_free;
	if (mock_take_slot(mock))
		goto err_infos;

	mock->provider = mock_entries[mock->slot];
	mock->provider.name = mock->name;
	mock->provider.version = version;
	return mock;

err_infos:
	fi_freeinfo(mock->infos);
err_free:
	kfree(mock);
	return NULL;
}
EXPORT_SYMBOL_GPL(mock_create);

void mock_destroy(struct mock *mock)
{
	mock_reap(mock);
	cancel_work_sync(&mock->work);
	mock_give_slot(mock);
	fi_freeinfo(mock->infos);
	kfree(mock);
}
EXPORT_SYMBOL_GPL(mock_destroy);

MODULE_DESCRIPTION("kOFI mock provider for tests");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
