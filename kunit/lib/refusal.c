// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Follows the trace event kofi_refused.  A hook and the provider below it may both say something
 * about one call, so the last few reasons are kept.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "../../kofi/trace.h"
#include "refusal.h"

#define KEPT	4

/* NULL: every task */
static struct task_struct *follows;
static unsigned int count;
static struct {
	char	call[32];
	char	reason[192];
	int	ret;
} kept[KEPT];

static void note(void *unused, const char *call, int ret, const char *reason)
{
	struct task_struct *task = READ_ONCE(follows);
	unsigned int at = count % KEPT;

	if (!in_task() || (task && task != current))
		return;
	strscpy(kept[at].call, call, sizeof(kept[at].call));
	strscpy(kept[at].reason, reason, sizeof(kept[at].reason));
	kept[at].ret = ret;
	count++;
}

static void end(void *unused)
{
	unregister_trace_kofi_refused(note, NULL);
	tracepoint_synchronize_unregister();
}

static void begin(struct kunit *test, struct task_struct *task)
{
	count = 0;
	WRITE_ONCE(follows, task);
	KUNIT_ASSERT_EQ(test, register_trace_kofi_refused(note, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end, NULL), 0);
}

void vt_refusals_begin(struct kunit *test)
{
	begin(test, current);
}
EXPORT_SYMBOL_GPL(vt_refusals_begin);

void vt_refusals_begin_all(struct kunit *test)
{
	begin(test, NULL);
}
EXPORT_SYMBOL_GPL(vt_refusals_begin_all);

static bool fits(unsigned int at, const char *call, long ret, const char *words)
{
	return kept[at].ret == ret && strstr(kept[at].call, call) &&
	       strstr(kept[at].reason, words);
}

void vt_refused(struct kunit *test, const char *call, long ret, const char *words)
{
	unsigned int i, seen = min_t(unsigned int, count, KEPT);
	bool found = false;

	for (i = 0; i < seen && !found; i++)
		found = fits(i, call, ret, words);
	KUNIT_EXPECT_TRUE_MSG(test, found, "no reason of %s, %ld, with \"%s\"", call, ret, words);
	for (i = 0; i < seen && !found; i++)
		kunit_info(test, "%s, %d: %s\n", kept[i].call, kept[i].ret, kept[i].reason);
	count = 0;
}
EXPORT_SYMBOL_GPL(vt_refused);

void vt_not_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, count, 0, "%s: %s", kept[0].call, kept[0].reason);
	count = 0;
}
EXPORT_SYMBOL_GPL(vt_not_refused);
