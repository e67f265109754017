// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which completion queues can be opened.  What they do then is shown in kunit/util.
 */
#include "core.h"

static void count_handled(struct fid_cq *cq, void *context)
{
}

static const struct attr_case {
	const char		*what;
	struct fi_cq_attr	attr;
	int			err;
} attr_cases[] = {
	{ "polled", { .wait_obj = FI_WAIT_NONE } },
	{ "slept on", { .wait_obj = FI_WAIT_UNSPEC } },
	{ "slept on with a threshold", { .wait_obj = FI_WAIT_UNSPEC,
	  .wait_cond = FI_CQ_COND_THRESHOLD } },
	{ "with a handler", { .wait_obj = FI_WAIT_CALLBACK,
	  .handler = count_handled } },
	{ "with a processor", { .flags = FI_AFFINITY, .signaling_vector = 1 } },
	{ "callback without a handler", { .wait_obj = FI_WAIT_CALLBACK },
	  -EINVAL },
	{ "handler without callback", { .handler = count_handled }, -EINVAL },
	{ "file descriptor", { .wait_obj = FI_WAIT_FD }, -ENOSYS },
	{ "no such wait object", { .wait_obj = 99 }, -ENOSYS },
	{ "no such format", { .format = FI_CQ_FORMAT_TAGGED + 1 }, -EINVAL },
	{ "no such condition", { .wait_obj = FI_WAIT_UNSPEC,
	  .wait_cond = FI_CQ_COND_THRESHOLD + 1 }, -EINVAL },
	{ "a condition without a sleeper", { .wait_obj = FI_WAIT_NONE,
	  .wait_cond = FI_CQ_COND_THRESHOLD }, -EINVAL },
	{ "no such context", { .comp_ctx = FI_COMP_DIRECT + 1 }, -EINVAL },
	{ "callbacks that are polled for", { .wait_obj = FI_WAIT_DONE,
	  .comp_ctx = FI_COMP_DIRECT } },
	{ "slept on without a context", { .wait_obj = FI_WAIT_UNSPEC,
	  .comp_ctx = FI_COMP_DIRECT }, -EINVAL },
	{ "a handler without a context", { .wait_obj = FI_WAIT_CALLBACK,
	  .handler = count_handled, .comp_ctx = FI_COMP_DIRECT }, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(attr, attr_cases, what);

static void attributes_are_checked(struct kunit *test)
{
	const struct attr_case *row = test->param_value;
	struct fi_cq_attr attr = row->attr;
	struct core_set set;
	struct fid_cq *cq;

	core_open_parents(test, &set, core_mock(test, "mock", 1), MOCK_CQ);

	KUNIT_EXPECT_EQ(test, fi_cq_open(core_domain(&set), &attr, &cq, NULL), row->err);

	KUNIT_EXPECT_EQ(test, atomic_read(&set.mock->live[MOCK_CQ]), !row->err);
	if (!row->err)
		fi_close(&cq->fid);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE_PARAM(attributes_are_checked, attr_gen_params),
	{}
};

struct kunit_suite kofi_cq_suite = {
	.name = "kofi_cq",
	.init = core_init,
	.exit = core_exit,
	.test_cases = cq_cases,
};
