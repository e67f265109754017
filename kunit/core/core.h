/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_core_test.ko share.
 *
 * core_init() and core_exit() frame each case.  core_exit() closes what the case
 * has left open, withdraws and frees the providers, and fails the case if
 * a provider has lost an object or an fi_info.
 */
#ifndef _KUNIT_CORE_TEST_H
#define _KUNIT_CORE_TEST_H

#include <linux/completion.h>
#include <linux/sched.h>
#include <kunit/test.h>
#include "../hook/hook.h"
#include "../lib/async.h"
#include "../lib/client.h"
#include "../lib/patience.h"
#include "../mock/mock.h"

struct kofi_cntr;
struct kofi_eq;

/* What a client passes to fi_getinfo() */
#define CORE_API	FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

extern struct kunit_suite kofi_av_suite;
extern struct kunit_suite kofi_class_suite;
extern struct kunit_suite kofi_context_suite;
extern struct kunit_suite kofi_registry_suite;
extern struct kunit_suite kofi_race_suite;
extern struct kunit_suite kofi_lifetime_suite;
extern struct kunit_suite kofi_bind_suite;
extern struct kunit_suite kofi_complete_suite;
extern struct kunit_suite kofi_refusal_suite;
extern struct kunit_suite kofi_nomem_suite;
extern struct kunit_suite kofi_module_suite;
extern struct kunit_suite kofi_getinfo_suite;
extern struct kunit_suite kofi_why_suite;
extern struct kunit_suite kofi_layers_suite;
extern struct kunit_suite kofi_net_suite;
extern struct kunit_suite kofi_netlink_suite;
extern struct kunit_suite kofi_netlink_objects_suite;
extern struct kunit_suite kofi_sysfs_suite;
extern struct kunit_suite kofi_eq_suite;
extern struct kunit_suite kofi_eq_wait_suite;
extern struct kunit_suite kofi_cq_suite;
extern struct kunit_suite kofi_cntr_suite;
extern struct kunit_suite kofi_cntr_ep_suite;
extern struct kunit_suite kofi_transfer_suite;
extern struct kunit_suite kofi_info_suite;
extern struct kunit_suite kofi_match_suite;
extern struct kunit_suite kofi_match_own_suite;
extern struct kunit_suite kofi_apply_hints_suite;
extern struct kunit_suite kofi_tostr_suite;
extern struct kunit_suite kofi_values_suite;

int core_init(struct kunit *test);
void core_exit(struct kunit *test);
/* The same with a hook on top of each mock that core_info() finds, "mock;HOOK_NAME" */
int core_init_hooked(struct kunit *test);

/* What the mock itself has of a queue or counter of the case */
struct kofi_eq *core_kofi_eq(struct fid_eq *eq);
struct kofi_cntr *core_kofi_cntr(struct fid_cntr *cntr);

/* A provider of the case: created, and registered too */
struct mock *core_mock_new(struct kunit *test, const char *name, u32 version);
struct mock *core_mock(struct kunit *test, const char *name, u32 version);

/* What the provider of that name offers, hooked if the case is; freed after the case */
struct fi_info *core_info(struct kunit *test, const char *prov_name);
/* Empty hints; freed after the case */
struct fi_info *core_hints(struct kunit *test);
void core_free_later(struct kunit *test, struct fi_info *info);
/* fi_getinfo() among the mocks only; the result is freed after the case */
int core_getinfo(struct kunit *test, struct fi_info *hints, struct fi_info **info);
int core_count(const struct fi_info *info);
/* Sets a string in hints, which fi_freeinfo() will free */
void core_set_string(struct kunit *test, char **where, const char *text);

/* Leaves the object to core_exit(), if the case does not close it itself */
void core_adopt(struct kunit *test, struct fid *fid);
int core_close(struct kunit *test, struct fid *fid);
/* The case closes it in some other way */
void core_disown(struct kunit *test, struct fid *fid);

/**
 * struct core_set - Objects of one provider
 * @mock: the provider
 * @info: what it offers
 * @fid: one object of each class, or NULL
 */
struct core_set {
	struct mock	*mock;
	struct fi_info	*info;
	struct fid	*fid[MOCK_NR_CLASSES];
};

static inline struct fid_fabric *core_fabric(const struct core_set *set)
{
	return container_of(set->fid[MOCK_FABRIC], struct fid_fabric, fid);
}

static inline struct fid_domain *core_domain(const struct core_set *set)
{
	return container_of(set->fid[MOCK_DOMAIN], struct fid_domain, fid);
}

static inline struct fid_eq *core_eq(const struct core_set *set)
{
	return container_of(set->fid[MOCK_EQ], struct fid_eq, fid);
}

static inline struct fid_pep *core_pep(const struct core_set *set)
{
	return container_of(set->fid[MOCK_PEP], struct fid_pep, fid);
}

static inline struct fid_cq *core_cq(const struct core_set *set)
{
	return container_of(set->fid[MOCK_CQ], struct fid_cq, fid);
}

static inline struct fid_ep *core_ep(const struct core_set *set)
{
	return container_of(set->fid[MOCK_EP], struct fid_ep, fid);
}

static inline struct fid_ep *core_srx(const struct core_set *set)
{
	return container_of(set->fid[MOCK_SRX], struct fid_ep, fid);
}

static inline struct fid_ep *core_sep(const struct core_set *set)
{
	return container_of(set->fid[MOCK_SEP], struct fid_ep, fid);
}

static inline struct fid_ep *core_tx(const struct core_set *set)
{
	return container_of(set->fid[MOCK_TX], struct fid_ep, fid);
}

static inline struct fid_ep *core_rx(const struct core_set *set)
{
	return container_of(set->fid[MOCK_RX], struct fid_ep, fid);
}

static inline struct fid_av *core_av(const struct core_set *set)
{
	return container_of(set->fid[MOCK_AV], struct fid_av, fid);
}

static inline struct fid_mr *core_mr(const struct core_set *set)
{
	return container_of(set->fid[MOCK_MR], struct fid_mr, fid);
}

/* Class of the parent; of a fabric: MOCK_NR_CLASSES */
enum mock_class core_parent(enum mock_class class);

/* Opens one more object of a class below those of the set, and adopts it */
int core_open(struct kunit *test, const struct core_set *set,
	      enum mock_class class, struct fid **fid);
/* The same, but closing it is the case's business */
int core_open_raw(const struct core_set *set, enum mock_class class, struct fid **fid);
/* Fills the set: the parents that @class needs, or one object of each class */
void core_open_parents(struct kunit *test, struct core_set *set,
		       struct mock *mock, enum mock_class class);
void core_open_all(struct kunit *test, struct core_set *set, struct mock *mock);
/* Sets of a provider "mock", which are there until the case has ended */
struct core_set *core_parents(struct kunit *test, enum mock_class class);
struct core_set *core_all(struct kunit *test);

/* Runs a command line in user space; its exit status, or an error; 0: all well */
int core_shell(const char *command);

/* Looks at what the kernel logs from now on; how many lines since then have this text */
void core_log_clear(void);
int core_log_count(const char *text);

#endif /* _KUNIT_CORE_TEST_H */
