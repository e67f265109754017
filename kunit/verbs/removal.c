// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The device is deleted ("rdma link delete") under busy connections that nobody has
 * closed, and comes back: each operation ends exactly once, each event queue tells,
 * the deletion returns in time, and new connections work beside the old shells.
 *
 * The number of cycles is the module parameter removals.  The time begins when ib_core
 * tells its clients, of whom we are the last and so the first to hear; what the
 * command needs until then is not the removal's.
 */
#include <linux/atomic.h>
#include <linux/iopoll.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/umh.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include <kofi/compat.h>
#include "../lib/async.h"
#include "../lib/busy.h"
#include "../lib/pmem.h"
#include "srx.h"

#define REMOVAL_CONNS	32
#define REMOVAL_MS	5000

static int removals = 10;
module_param(removals, int, 0444);
MODULE_PARM_DESC(removals, "how often the device is deleted under load");

static int removal_ms = REMOVAL_MS;
module_param(removal_ms, int, 0444);
MODULE_PARM_DESC(removal_ms, "how long a deletion may take, where other guests share the processors");

/* Among what is busy a shell and a command take half a minute under an emulator */
static int removal_hurry(struct subprocess_info *info, struct cred *new)
{
	set_user_nice(current, MIN_NICE);
	return 0;
}

static int removal_run(const char *command)
{
	char *argv[4] = { "/bin/sh", "-c", (char *)command };
	char *envp[2] = { "PATH=/sbin:/bin:/usr/sbin:/usr/bin" };
	struct subprocess_info *info;

	info = call_usermodehelper_setup(argv[0], argv, envp, GFP_KERNEL,
					 removal_hurry, NULL, NULL);
	return info ? call_usermodehelper_exec(info, UMH_WAIT_PROC) : -ENOMEM;
}

/* The device, without its number: "rxe" */
static void removal_type(struct kunit *test, char *type, size_t size)
{
	strscpy(type, vt_info(test)->domain_attr->name, size);
	type[strcspn(type, "0123456789")] = '\0';
}

static ktime_t removal_began;

static int removal_watch(struct ib_device *ibdev)
{
	return 0;
}

/* In the command's process, which is one of many again */
static void removal_begins(struct ib_device *ibdev, void *client_data)
{
	set_user_nice(current, 0);
	removal_began = ktime_get();
}

static struct ib_client removal_client = {
	.name	= "kofi_removal",
	.add	= removal_watch,
	.remove	= removal_begins,
};

/* Returns how long it took, in milliseconds */
static s64 removal_delete(struct kunit *test, const char *type)
{
	char command[64];
	s64 ms;

	snprintf(command, sizeof(command), "rdma link delete %s0", type);
	KUNIT_EXPECT_EQ(test, ib_register_client(&removal_client), 0);
	KUNIT_EXPECT_EQ(test, removal_run(command), 0);
	ms = ktime_ms_delta(ktime_get(), removal_began);
	ib_unregister_client(&removal_client);
	return ms;
}

static void removal_undo(void *data)
{
	char command[64];

	snprintf(command, sizeof(command), "/kofi/guest/rxe.sh %s", (const char *)data);
	removal_run(command);
}

/* A device, a domain and a connection beside those that have gone */
static void removal_join_again(struct kunit *test, struct busy *busy)
{
	struct vt_pair pair = {};

	vt_serve_pair(test, NULL, &pair);
	vt_ping(test, &pair.a, &pair.b);
	busy_stop(busy);
	vt_ping(test, &pair.b, &pair.a);
}

static void the_device_is_deleted_under_load(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	struct busy_count count;
	struct busy *busy;
	char *type = vt_buf(test, 16);
	s64 ms;

	hints->caps |= FI_RMA;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	vt_open(test, AF_INET, hints);
	removal_type(test, type, 16);
	busy = busy_start(test, vt_info(test), REMOVAL_CONNS);

	KUNIT_EXPECT_TRUE(test, busy_is_busy(busy));
	/* Of an accept that waits, siw touches its device when that has been freed */
	if (vt_is_iwarp(test))
		busy_end_joins(busy);
	ms = removal_delete(test, type);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, removal_undo, type), 0);
	count = busy_expect_gone(busy);
	kunit_info(test, "%d connections: %lu operations, %lu failed, %lu twice, %lu lost; %lu registrations, %lu connects; deleted in %lld ms\n",
		   REMOVAL_CONNS, count.posted, count.failed, count.twice,
		   count.out, count.regs, count.joins, ms);
	KUNIT_EXPECT_LE(test, ms, removal_ms);

	kunit_release_action(test, removal_undo, type);
	removal_join_again(test, busy);
}

/* Each of them has receives that the device may have taken, and siw never reports that */
static void the_device_is_deleted_under_endpoints_that_share(struct kunit *test)
{
	struct vt_pair *pairs = vt_buf(test, SRX_MANY * sizeof(*pairs));
	struct srx_set set = {};
	char *type = vt_buf(test, 16);
	s64 ms;
	int i;

	srx_serve(test, &set);
	removal_type(test, type, 16);
	for (i = 0; i < SRX_MANY; i++)
		srx_join_pair(test, &pairs[i], set.srx);
	srx_post_all(test, &set);

	ms = removal_delete(test, type);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, removal_undo, type), 0);
	kunit_info(test, "%d endpoints deleted in %lld ms\n", SRX_MANY, ms);
	KUNIT_EXPECT_LE(test, ms, removal_ms);
	kunit_release_action(test, removal_undo, type);
}

/* What is opened before it tells its reader, and nothing can be opened afterwards */
static void the_device_is_deleted_between_two_opens(struct kunit *test)
{
	char *type = vt_buf(test, 16);
	struct fi_cq_attr attr = { .size = 1, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_entry entry;
	struct fid_ep *ep = NULL;
	struct fid_cq *cq = NULL, *late = NULL;

	vt_open(test, AF_INET, vt_hints(test));
	removal_type(test, type, 16);
	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), 0);
	vt_adopt(test, &cq->fid);
	removal_delete(test, type);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, removal_undo, type), 0);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq, &entry, 1, NULL, -1), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &late, NULL), -ENODEV);
	/* Beside another device of this name */
	kunit_release_action(test, removal_undo, type);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL),
			-ENODEV);
	if (ep)
		vt_adopt(test, &ep->fid);
	if (late)
		vt_adopt(test, &late->fid);
}

/**
 * struct removal_saver - An endpoint that writes and saves until that fails
 * @ep: initiator
 * @cq: its completions
 * @remote: what it writes to and saves
 * @buf: what it writes
 * @saved: how often it has
 */
struct removal_saver {
	struct fid_ep		*ep;
	struct vt_cq		*cq;
	struct fi_rma_iov	remote;
	u8			*buf;
	atomic_t		saved;
};

/* Returns how a save has failed */
static int removal_save(void *arg)
{
	struct removal_saver *saver = arg;
	struct kvec iov = { saver->buf, saver->remote.len };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1,
		.rma_iov = &saver->remote, .rma_iov_count = 1,
	};
	struct vt_comp comp;
	ssize_t ret;

	for (;;) {
		ret = fi_writemsg(saver->ep, &msg, FI_COMPLETION | FI_COMMIT_COMPLETE);
		if (ret)
			return ret;
		ret = vt_wait(saver->cq, &comp);
		if (ret != 1 || comp.err)
			return ret == 1 ? -comp.err : ret;
		atomic_inc(&saver->saved);
	}
}

static void the_device_is_deleted_in_the_middle_of_a_save(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;
	struct fi_cq_tagged_entry entry;
	struct removal_saver saver = {};
	char *type = vt_buf(test, 16);
	struct vt_async *thread;
	struct vt_pair pair = {};
	struct fi_mr_attr attr = {};
	struct kvec kvec;
	struct fid_mr *mr;
	int saved, ret;
	s64 ms;

	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	vt_of(test)->info = vt_local(test, AF_INET, NULL);
	if (vt_is_iwarp(test)) {
		KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
		return;
	}
	removal_type(test, type, 16);
	vt_serve(test, AF_INET, hints);
	saver.buf = vt_buf(test, SZ_1K);
	kvec = (struct kvec){ vt_pmem(test, SZ_1K)->mem, SZ_1K };
	attr.mr_iov = &kvec;
	attr.iov_count = 1;
	attr.access = FI_REMOTE_WRITE | FI_REMOTE_READ;
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_RMA_PMEM, &mr), 0);
	vt_adopt(test, &mr->fid);
	vt_join(test, &pair, &vt_default_kind);
	saver.ep = pair.a.ep;
	saver.cq = pair.a.tx;
	saver.remote = (struct fi_rma_iov){ fi_mr_addr(mr), SZ_1K, fi_mr_key(mr) };

	thread = vt_async_start(test, removal_save, &saver);
	KUNIT_EXPECT_EQ(test, read_poll_timeout(atomic_read, saved, saved > 8, 1000,
						VT_PATIENCE_MS * 1000, false, &saver.saved), 0);
	ms = removal_delete(test, type);
	ret = vt_async_join(test, thread);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, removal_undo, type), 0);
	kunit_info(test, "%d saves, then %d; deleted in %lld ms\n", atomic_read(&saver.saved), ret,
		   ms);
	KUNIT_EXPECT_TRUE_MSG(test, ret == -ENODEV || ret == -ECANCELED || ret == -ECONNABORTED,
			      "a save says %d", ret);
	KUNIT_EXPECT_LE(test, ms, removal_ms);
	/* It was told once, and the queue has nothing more */
	KUNIT_EXPECT_EQ(test, fi_cq_read(pair.a.tx->cq, &entry, 1), -ENODEV);
	kunit_release_action(test, removal_undo, type);
}

static const void *removal_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	uintptr_t nr = prev ? (uintptr_t)prev + 1 : 1;

	if (nr > removals)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "removal %lu", (unsigned long)nr);
	return (const void *)nr;
}

static struct kunit_case removal_cases[] = {
	KUNIT_CASE_PARAM(the_device_is_deleted_under_load, removal_gen_params),
	KUNIT_CASE(the_device_is_deleted_under_endpoints_that_share),
	KUNIT_CASE(the_device_is_deleted_between_two_opens),
	KUNIT_CASE(the_device_is_deleted_in_the_middle_of_a_save),
	{}
};

struct kunit_suite kofi_verbs_removal_suite = {
	.name		= "kofi_verbs_removal",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= removal_cases,
};
