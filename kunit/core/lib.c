// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the suites share: providers and objects that live as long as a case, and
 * calls made by another thread.
 *
 * All of it belongs to the thread of the case; other threads run what they are
 * given and touch nothing here.
 */
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/umh.h>
#include <kofi/cntr.h>
#include <kofi/eq.h>
#include <kofi/hook.h>
#include "../lib/log.h"
#include "core.h"

#define CORE_PATIENCE	(30 * HZ)

/**
 * struct core_case - What lives as long as a case
 * @mocks: struct core_mock_entry
 * @fids: struct core_fid_entry
 */
struct core_case {
	struct list_head	mocks;
	struct list_head	fids;
};

/* Cases run one after the other */
static bool core_hooked;

struct core_mock_entry {
	struct list_head	entry;
	struct mock		*mock;
};

struct core_fid_entry {
	struct list_head	entry;
	struct fid		*fid;
};

KUNIT_DEFINE_ACTION_WRAPPER(core_freeinfo, fi_freeinfo, struct fi_info *);

int core_init(struct kunit *test)
{
	struct core_case *core = kunit_kzalloc(test, sizeof(*core), GFP_KERNEL);

	if (!core)
		return -ENOMEM;
	INIT_LIST_HEAD(&core->mocks);
	INIT_LIST_HEAD(&core->fids);
	test->priv = core;
	core_hooked = false;
	return 0;
}

int core_init_hooked(struct kunit *test)
{
	int err = core_init(test);

	core_hooked = true;
	return err;
}

static struct fid *core_lower(struct fid *fid)
{
	return core_hooked ? to_kofi_hook_obj(fid)->lower.fid : fid;
}

struct kofi_eq *core_kofi_eq(struct fid_eq *eq)
{
	return to_kofi_eq(core_lower(&eq->fid));
}

struct kofi_cntr *core_kofi_cntr(struct fid_cntr *cntr)
{
	return to_kofi_cntr(core_lower(&cntr->fid));
}

/* Closes what can be closed; what is bound to an older object is not yet */
static bool core_close_some(struct core_case *core)
{
	struct core_fid_entry *entry, *next;
	bool some = false;

	list_for_each_entry_safe(entry, next, &core->fids, entry) {
		if (fi_close(entry->fid))
			continue;
		list_del(&entry->entry);
		kfree(entry);
		some = true;
	}
	return some;
}

/*
 * With objects lost, deregistration would wait for ever.  Leave it at that, but
 * get the provider out of the way of other cases.
 */
static void core_mock_lost(struct kunit *test, struct mock *mock)
{
	KUNIT_FAIL(test, "%s still has %d objects", mock->name, mock_live(mock));
	snprintf(mock->name, sizeof(mock->name), "lost-%d", mock->slot);
	mock->empty = true;
}

static void core_mock_end(struct kunit *test, struct mock *mock)
{
	if (mock_live(mock)) {
		core_mock_lost(test, mock);
		return;
	}
	kofi_provider_deregister(&mock->provider);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->infos_out), 0);
	mock_destroy(mock);
}

void core_exit(struct kunit *test)
{
	struct core_mock_entry *entry, *next;
	struct core_case *core = test->priv;

	if (!core)
		return;
	while (core_close_some(core))
		;
	list_for_each_entry_safe(entry, next, &core->mocks, entry) {
		core_mock_end(test, entry->mock);
		kfree(entry);
	}
}

struct mock *core_mock_new(struct kunit *test, const char *name, u32 version)
{
	struct core_mock_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	struct core_case *core = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	entry->mock = mock_create(name, version);
	if (!entry->mock)
		kfree(entry);
	else
		list_add(&entry->entry, &core->mocks);
	KUNIT_ASSERT_NOT_NULL(test, entry->mock);
	return entry->mock;
}

struct mock *core_mock(struct kunit *test, const char *name, u32 version)
{
	struct mock *mock = core_mock_new(test, name, version);

	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &mock->provider), 0);
	return mock;
}

void core_free_later(struct kunit *test, struct fi_info *info)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, core_freeinfo, info), 0);
}

struct fi_info *core_hints(struct kunit *test)
{
	struct fi_info *hints = fi_allocinfo();

	KUNIT_ASSERT_NOT_NULL(test, hints);
	core_free_later(test, hints);
	return hints;
}

void core_set_string(struct kunit *test, char **where, const char *text)
{
	kfree(*where);
	*where = kstrdup(text, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *where);
}

/* Other providers may be loaded; the fabric's name keeps them out */
int core_getinfo(struct kunit *test, struct fi_info *hints, struct fi_info **info)
{
	int err;

	*info = NULL;
	if (!hints)
		hints = core_hints(test);
	if (!hints->fabric_attr->name)
		core_set_string(test, &hints->fabric_attr->name, MOCK_FABRIC_NAME);
	err = fi_getinfo(CORE_API, NULL, 0, 0, hints, info);
	if (!err)
		core_free_later(test, *info);
	return err;
}

struct fi_info *core_info(struct kunit *test, const char *prov_name)
{
	struct fi_info *hints = core_hints(test);
	struct fi_info *info;
	char name[64];

	snprintf(name, sizeof(name), "%s%s", prov_name, core_hooked ? ";" HOOK_NAME : "");
	core_set_string(test, &hints->fabric_attr->prov_name, name);
	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);
	KUNIT_ASSERT_NOT_NULL(test, info);
	KUNIT_ASSERT_STREQ(test, info->fabric_attr->prov_name, name);
	return info;
}

int core_count(const struct fi_info *info)
{
	int count;

	for (count = 0; info; info = info->next)
		count++;
	return count;
}

void core_adopt(struct kunit *test, struct fid *fid)
{
	struct core_fid_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	struct core_case *core = test->priv;

	if (!entry)
		fi_close(fid);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	entry->fid = fid;
	list_add(&entry->entry, &core->fids);
}

void core_disown(struct kunit *test, struct fid *fid)
{
	struct core_fid_entry *entry, *next;
	struct core_case *core = test->priv;

	list_for_each_entry_safe(entry, next, &core->fids, entry) {
		if (entry->fid != fid)
			continue;
		list_del(&entry->entry);
		kfree(entry);
		return;
	}
}

int core_close(struct kunit *test, struct fid *fid)
{
	int err = fi_close(fid);

	if (!err)
		core_disown(test, fid);
	return err;
}

enum mock_class core_parent(enum mock_class class)
{
	switch (class) {
	case MOCK_FABRIC:
		return MOCK_NR_CLASSES;
	case MOCK_DOMAIN:
	case MOCK_EQ:
	case MOCK_PEP:
		return MOCK_FABRIC;
	case MOCK_TX:
	case MOCK_RX:
		return MOCK_SEP;
	case MOCK_MC:
		return MOCK_EP;
	default:
		return MOCK_DOMAIN;
	}
}

/* All fid_* begin with their fid */
static int core_open_in_fabric(const struct core_set *set, enum mock_class class, void **object)
{
	switch (class) {
	case MOCK_FABRIC:
		return fi_fabric(set->info->fabric_attr, (void *)object, NULL);
	case MOCK_DOMAIN:
		return fi_domain(core_fabric(set), set->info, (void *)object, NULL);
	case MOCK_EQ:
		return fi_eq_open(core_fabric(set), NULL, (void *)object, NULL);
	default:
		return fi_passive_ep(core_fabric(set), set->info, (void *)object, NULL);
	}
}

static int core_open_in_domain(const struct core_set *set, enum mock_class class, void **object)
{
	struct fid_domain *domain = core_domain(set);
	struct fi_cntr_attr cntr_attr = {};
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_rx_attr rx_attr = { .size = MOCK_DEPTH };
	struct fi_tx_attr tx_attr = { .size = MOCK_DEPTH };
	static u8 memory[8];

	switch (class) {
	case MOCK_CQ:
		return fi_cq_open(domain, NULL, (void *)object, NULL);
	case MOCK_EP:
		return fi_endpoint(domain, set->info, (void *)object, NULL);
	case MOCK_MR:
		return fi_mr_reg(domain, memory, sizeof(memory), FI_REMOTE_WRITE, 0, 0, 0,
				 (void *)object, NULL);
	case MOCK_CNTR:
		return fi_cntr_open(domain, &cntr_attr, (void *)object, NULL);
	case MOCK_AV:
		return fi_av_open(domain, &av_attr, (void *)object, NULL);
	case MOCK_SEP:
		return fi_scalable_ep(domain, set->info, (void *)object, NULL);
	case MOCK_STX:
		return fi_stx_context(domain, &tx_attr, (void *)object, NULL);
	default:
		return fi_srx_context(domain, &rx_attr, (void *)object, NULL);
	}
}

static int core_open_in_ep(const struct core_set *set, enum mock_class class, void **object)
{
	const struct sockaddr_in group = { .sin_family = AF_INET };

	switch (class) {
	case MOCK_TX:
		return fi_tx_context(core_sep(set), 0, NULL, (void *)object, NULL);
	case MOCK_RX:
		return fi_rx_context(core_sep(set), 0, NULL, (void *)object, NULL);
	default:
		return fi_join(core_ep(set), &group, 0, (void *)object, NULL);
	}
}

int core_open_raw(const struct core_set *set, enum mock_class class, struct fid **fid)
{
	void *object = NULL;
	int err;

	if (core_parent(class) == MOCK_DOMAIN)
		err = core_open_in_domain(set, class, &object);
	else if (core_parent(class) > MOCK_DOMAIN && class != MOCK_FABRIC)
		err = core_open_in_ep(set, class, &object);
	else
		err = core_open_in_fabric(set, class, &object);
	if (!err)
		*fid = object;
	return err;
}

int core_open(struct kunit *test, const struct core_set *set,
	      enum mock_class class, struct fid **fid)
{
	int err = core_open_raw(set, class, fid);

	if (!err)
		core_adopt(test, *fid);
	return err;
}

void core_open_parents(struct kunit *test, struct core_set *set,
		       struct mock *mock, enum mock_class class)
{
	memset(set, 0, sizeof(*set));
	set->mock = mock;
	set->info = core_info(test, mock->name);
	if (class == MOCK_FABRIC)
		return;
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_FABRIC, &set->fid[MOCK_FABRIC]), 0);
	if (core_parent(class) == MOCK_FABRIC)
		return;
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_DOMAIN, &set->fid[MOCK_DOMAIN]), 0);
	class = core_parent(class);
	if (class != MOCK_DOMAIN)
		KUNIT_ASSERT_EQ(test, core_open(test, set, class, &set->fid[class]), 0);
}

void core_open_all(struct kunit *test, struct core_set *set, struct mock *mock)
{
	struct core_set of_group;
	enum mock_class class;

	core_open_parents(test, set, mock, MOCK_EP);
	for (class = 0; class < MOCK_MC; class++)
		if (!set->fid[class])
			KUNIT_ASSERT_EQ(test, core_open(test, set, class, &set->fid[class]), 0);
	/* In an endpoint of its own, so that the set's has no child */
	of_group = *set;
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_EP, &of_group.fid[MOCK_EP]), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &of_group, MOCK_MC, &set->fid[MOCK_MC]), 0);
}

struct core_set *core_parents(struct kunit *test, enum mock_class class)
{
	struct core_set *set = vt_buf(test, sizeof(*set));

	core_open_parents(test, set, core_mock(test, "mock", 1), class);
	return set;
}

struct core_set *core_all(struct kunit *test)
{
	struct core_set *set = vt_buf(test, sizeof(*set));

	core_open_all(test, set, core_mock(test, "mock", 1));
	return set;
}

int core_shell(const char *command)
{
	char *argv[4] = {}, *envp[2] = {};

	envp[0] = "PATH=/sbin:/bin";
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = (char *)command;
	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
}

static struct kmsg_dump_iter core_log;

void core_log_clear(void)
{
	vt_log_clear(&core_log);
}

int core_log_count(const char *text)
{
	return vt_log_count(&core_log, text);
}
