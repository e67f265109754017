// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What bed.h says.
 *
 * Rules are written and read by a shell, as user space does it.
 */
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait.h>
#include "../../providers/hook/trace.h"
#include "bed.h"

#define RULES	"/sys/kernel/debug/kofi_hook_fault/"

const struct vt_kind bed_kinds[BED_KINDS] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_UNSPEC },
	{ "workqueue", FI_WAIT_DONE, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_UNSPEC },
	{ "direct", FI_WAIT_DONE, FI_COMP_DIRECT, FI_CQ_FORMAT_UNSPEC },
};

struct fi_info *bed_info(struct kunit *test, const char *name, u64 caps)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->caps = caps;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				      FI_MR_ENDPOINT | FI_MR_LOCAL;
	hints->fabric_attr->prov_name = kstrdup(name, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	KUNIT_ASSERT_EQ_MSG(test, fi_getinfo(VT_API, "127.0.0.1", 0, FI_SOURCE, hints, &info), 0,
			    "%s", name);
	vt_free_later(test, info);
	return info;
}

void bed_open(struct kunit *test, const char *name, u64 caps)
{
	vt_open_info(test, bed_info(test, name, caps));
	vt_listen(test, vt_eq(test, 0));
}

int bed_write(const char *file, const char *text)
{
	char command[256];

	snprintf(command, sizeof(command), "echo '%s' >" RULES "%s", text, file);
	return vt_shell(command);
}

bool bed_refuses(const char *rules, const char *why)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "echo '%s' | cat 2>&1 >" RULES "rules | grep -q '%s'", rules, why);
	return !vt_shell(command);
}

bool bed_rule_fired(const char *rule, int hits, int seen)
{
	char command[256];

	snprintf(command, sizeof(command), "grep -qx '%s: %d of %d' " RULES "rules", rule, hits,
		 seen);
	return !vt_shell(command);
}

static void bed_no_rules(void *unused)
{
	bed_write("rules", "clear");
}

void bed_rules(struct kunit *test, const char *rules)
{
	KUNIT_ASSERT_EQ(test, bed_write("rules", "clear"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, bed_no_rules, NULL), 0);
	KUNIT_ASSERT_EQ_MSG(test, bed_write("rules", rules), 0, "%s", rules);
}

static struct bed_trace bed_traced;

static void bed_call(void *unused, const struct fid *fid, const struct fi_xfer *xfer,
		     ssize_t ret, u64 ns)
{
	bed_traced.op = kofi_hook_op(xfer);
	bed_traced.context = xfer->context;
	bed_traced.flags = xfer->defaults ? 0 : xfer->flags;
	bed_traced.call_len = kofi_hook_len(xfer);
	bed_traced.ret = ret;
	atomic_inc(&bed_traced.calls);
}

static void bed_done(void *unused, const struct fid *fid, const struct kofi_comp *comp)
{
	bed_traced.comp = *comp;
	bed_traced.cq = fid;
	if (comp->err)
		atomic_inc(&bed_traced.errors);
	atomic_inc(&bed_traced.done);
}

void bed_trace_end(void *unused)
{
	unregister_trace_kofi_hook_call(bed_call, NULL);
	unregister_trace_kofi_hook_done(bed_done, NULL);
	tracepoint_synchronize_unregister();
}

struct bed_trace *bed_trace_begin(struct kunit *test)
{
	bed_traced = (struct bed_trace) {};
	KUNIT_ASSERT_EQ(test, register_trace_kofi_hook_call(bed_call, NULL), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kofi_hook_done(bed_done, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, bed_trace_end, NULL), 0);
	return &bed_traced;
}

static void bed_ep_ready(struct fid_ep *fid_ep, u64 flags)
{
	struct bed_ep *ep = fid_ep->fid.context;

	ep->dir = flags;
	ep->in_task = in_task();
	atomic_inc(&ep->calls);
	wake_up(&ep->wait);
}

static void bed_op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct bed_ep *ep = container_of(done, struct bed_ep, done);

	if (entry->err) {
		ep->err = entry->err;
		atomic_inc(&ep->failed);
	}
	atomic_inc(&ep->completed);
	wake_up(&ep->wait);
}

struct bed_ep *bed_join(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	static const struct fi_ep_callbacks callbacks = { .ready = bed_ep_ready };
	const struct fi_info *info = vt_of(test)->info;
	struct bed_ep *ep = vt_buf(test, sizeof(*ep));

	init_waitqueue_head(&ep->wait);
	ep->done.done = bed_op_done;
	*pair = (struct vt_pair) {};
	pair->a.tx = vt_cq(test, kind, info->tx_attr->size + info->rx_attr->size);
	pair->a.callbacks = &callbacks;
	vt_join(test, pair, &vt_default_kind);
	pair->a.ep->fid.context = ep;
	return ep;
}

/* A queue that is direct calls from its reader only */
static void bed_wait(struct vt_pair *pair, struct bed_ep *ep, atomic_t *value, int want)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);

	while (atomic_read(value) < want && time_before(jiffies, until)) {
		if (pair->a.tx->kind->comp_ctx == FI_COMP_DIRECT)
			fi_cq_read(pair->a.tx->cq, NULL, 1);
		wait_event_timeout(ep->wait, atomic_read(value) >= want, 1);
	}
}

void bed_ready(struct kunit *test, struct vt_pair *pair, struct bed_ep *ep, int calls)
{
	bed_wait(pair, ep, &ep->calls, calls);
	KUNIT_ASSERT_EQ_MSG(test, atomic_read(&ep->calls), calls, "%s", pair->a.tx->kind->name);
}

void bed_completed(struct kunit *test, struct vt_pair *pair, struct bed_ep *ep, int count)
{
	bed_wait(pair, ep, &ep->completed, count);
	KUNIT_ASSERT_EQ_MSG(test, atomic_read(&ep->completed), count, "%s", pair->a.tx->kind->name);
}
