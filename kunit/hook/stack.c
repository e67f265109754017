// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_stack: two hooks on one provider, hooks by the parameter of kofi.ko, and a
 * provider that stays as long as a hook has it open.
 */
#include <linux/fs.h>
#include "../lib/file.h"
#include "../lib/log.h"
#include "bed.h"

#define LEN	8
#define BOTH	"loop;ofi_hook_fault;ofi_hook_trace"
#define UNDER	"loop;ofi_hook_trace;ofi_hook_fault"

static void the_upper_hook_sees_what_the_lower_one_does(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct bed_trace *trace;

	bed_open(test, BOTH, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "send again times=1\nsend fail 5 times=1");
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	trace = bed_trace_begin(test);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, trace->ret, -EAGAIN);
	bed_rules(test, "send fail 5 times=1");
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.a.tx).err, EIO);
	KUNIT_EXPECT_GE(test, atomic_read(&trace->errors), 1);
}

static void the_lower_hook_does_not_see_what_the_upper_one_does(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct bed_trace *trace;

	bed_open(test, UNDER, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	bed_rules(test, "send error 5 times=1");
	trace = bed_trace_begin(test);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 1);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->errors), 0);
}

/* What the upper hook keeps, the lower one has seen; what it gives back, is not seen twice */
static void a_completion_that_is_kept_is_seen_once(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct bed_trace *trace;

	bed_open(test, BOTH, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	bed_rules(test, "send delay 20");
	trace = bed_trace_begin(test);
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->done), 2);
}

#define HOOKS		"/sys/module/kofi/parameters/hooks"

static ssize_t set_hooks(const char *value)
{
	struct file *file = vt_file_open(HOOKS, O_WRONLY);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = kernel_write(file, value, strlen(value), &pos);
	filp_close(file, NULL);
	return ret;
}

static void no_hooks(void *unused)
{
	set_hooks("\n");
}

static void with_hooks(struct kunit *test, const char *value)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, no_hooks, NULL), 0);
	KUNIT_ASSERT_EQ(test, set_hooks(value), (ssize_t)strlen(value));
}

static void a_parameter_puts_hooks_on_every_provider(struct kunit *test)
{
	struct bed_trace *trace;
	struct vt_pair pair = {};
	struct kmsg_dump_iter log;
	struct fi_info *info;

	with_hooks(test, "ofi_hook_fault;ofi_hook_trace\n");
	info = bed_info(test, "loop", FI_MSG);
	KUNIT_ASSERT_STREQ(test, info->fabric_attr->prov_name, BOTH);
	KUNIT_EXPECT_EQ(test, info->fabric_attr->prov_version, FI_VERSION(1, 0));
	vt_open_info(test, info);
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &pair, &vt_default_kind);
	trace = bed_trace_begin(test);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 2);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -qx 'ofi_hook_fault;ofi_hook_trace' " HOOKS), 0);
	vt_log_clear(&log);
	set_hooks("\n");
	KUNIT_EXPECT_STREQ(test, bed_info(test, "loop", FI_MSG)->fabric_attr->prov_name, "loop");
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "clients go on without it"), 0);
}

static void a_parameter_puts_no_hooks_on_names(struct kunit *test)
{
	struct fi_info *list = NULL, *info;

	with_hooks(test, "ofi_hook_fault\n");
	KUNIT_ASSERT_EQ(test, fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, 0,
					 FI_PROV_ATTR_ONLY, NULL, &list), 0);
	for (info = list; info; info = info->next)
		KUNIT_EXPECT_NULL(test, strchr(info->fabric_attr->prov_name, ';'));
	fi_freeinfo(list);
}

static void a_client_that_names_a_hook_gets_just_that(struct kunit *test)
{
	with_hooks(test, "ofi_hook_trace");
	KUNIT_EXPECT_STREQ(test, bed_info(test, BED_FAULT, FI_MSG)->fabric_attr->prov_name,
			   BED_FAULT);
}

/* The log names those that are there */
static void a_write_that_names_no_hook_is_refused(struct kunit *test)
{
	struct kmsg_dump_iter log;

	KUNIT_ASSERT_EQ(test, vt_shell("modprobe kofi_hook_trace"), 0);
	vt_log_clear(&log);
	KUNIT_EXPECT_EQ(test, set_hooks("ofi_hook_trcae\n"), -ENOENT);
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "ofi_hook_fault is a hook that is loaded"), 1);
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "ofi_hook_trace is a hook that is loaded"), 1);
	KUNIT_EXPECT_EQ(test, set_hooks("loop\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_hooks("ofi_hook_trace;tcp\n"), -EINVAL);
	KUNIT_EXPECT_STREQ(test, bed_info(test, "loop", FI_MSG)->fabric_attr->prov_name, "loop");
}

static void a_write_loads_the_hooks_it_names(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vt_shell("rmmod kofi_hook_fault"), 0);
	with_hooks(test, "ofi_hook_fault\n");
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ^kofi_hook_fault /proc/modules"), 0);
}

#define MODPROBE	"/proc/sys/kernel/modprobe"
#define WAS		"/tmp/kofi-modprobe-was"
#define SLOW		"/tmp/kofi-modprobe"
#define GOT		"/tmp/kofi-domains"
#define ASK		"cat /sys/class/kofi/loop/domains >" GOT " & "
#define CHECK		"sleep 1; grep -q ^loop " GOT " && echo yes >>" GOT

static void modprobe_as_it_was(void *unused)
{
	vt_shell("cat " WAS " >" MODPROBE "; rm -f " WAS " " SLOW " " GOT);
}

/* What modprobe runs may ask for results, and so may what it loads */
static void a_write_that_loads_keeps_no_query_waiting(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vt_shell("cat " MODPROBE " >" WAS), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, modprobe_as_it_was, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("echo '#!/bin/sh' >" SLOW), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("echo '" ASK CHECK "' >>" SLOW), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("chmod +x " SLOW " && echo " SLOW " >" MODPROBE), 0);
	KUNIT_EXPECT_EQ(test, set_hooks("ofi_hook_absent\n"), -ENOENT);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ^yes " GOT), 0);
}

/* Any user may read the file */
static void a_read_in_sysfs_loads_no_hook(struct kunit *test)
{
	with_hooks(test, "ofi_hook_fault\n");
	KUNIT_ASSERT_EQ(test, vt_shell("rmmod kofi_hook_fault"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ^loop /sys/class/kofi/loop/domains"), 0);
	KUNIT_EXPECT_NE(test, vt_shell("grep -q ^kofi_hook_fault /proc/modules"), 0);
	KUNIT_EXPECT_STREQ(test, bed_info(test, "loop", FI_MSG)->fabric_attr->prov_name, BED_FAULT);
}

static void a_provider_stays_as_long_as_a_hook_has_it_open(struct kunit *test)
{
	bed_open(test, BOTH, FI_MSG);
	KUNIT_EXPECT_NE(test, vt_shell("rmmod kofi_loop"), 0);
	KUNIT_EXPECT_NE(test, vt_shell("rmmod kofi_hook_fault"), 0);
	vt_exit(test);
	INIT_LIST_HEAD(&vt_of(test)->fids);
	KUNIT_EXPECT_EQ(test, vt_shell("rmmod kofi_loop && modprobe kofi_loop"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("rmmod kofi_hook_fault && modprobe kofi_hook_fault"), 0);
}

static struct kunit_case stack_cases[] = {
	KUNIT_CASE(the_upper_hook_sees_what_the_lower_one_does),
	KUNIT_CASE(the_lower_hook_does_not_see_what_the_upper_one_does),
	KUNIT_CASE(a_completion_that_is_kept_is_seen_once),
	KUNIT_CASE(a_parameter_puts_hooks_on_every_provider),
	KUNIT_CASE(a_parameter_puts_no_hooks_on_names),
	KUNIT_CASE(a_client_that_names_a_hook_gets_just_that),
	KUNIT_CASE(a_write_that_names_no_hook_is_refused),
	KUNIT_CASE(a_write_loads_the_hooks_it_names),
	KUNIT_CASE(a_write_that_loads_keeps_no_query_waiting),
	KUNIT_CASE(a_read_in_sysfs_loads_no_hook),
	KUNIT_CASE(a_provider_stays_as_long_as_a_hook_has_it_open),
	{}
};

static int stack_init(struct kunit *test)
{
	return vt_shell("modprobe kofi_hook_fault") ? -ENODEV : vt_init(test);
}

static struct kunit_suite stack_suite = {
	.name		= "kofi_hook_stack",
	.init		= stack_init,
	.exit		= vt_exit,
	.test_cases	= stack_cases,
};

kunit_test_suite(stack_suite);
