// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Do two endpoints get in each other's way?  While an endpoint is at work, every lock
 * that kOFI takes and every atomic that it touches is noted, with the cache line it
 * is in.  Two endpoints with queues of their own must have no line in common.
 *
 * Locks and atomics are seen by probes: KASAN has a call in front of each atomic, and
 * locks are taken out of line.  So these cases are there in the debug kernel on x86
 * only.  Other modules, drivers among them, are not asked; nor is what is per CPU.
 */
#include "hca_test_mr.h"

#if IS_ENABLED(CONFIG_KASAN) && IS_ENABLED(CONFIG_KPROBES) && \
	IS_ENABLED(CONFIG_X86_64)

#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <rdma/fi_rma.h>

#define LN_NOTES	16384	/* of a CPU */
#define LN_LINES	512

static const char * const ln_symbols[] = {
	"__kasan_check_write",
	"_raw_spin_lock",
	"_raw_spin_lock_bh",
	"_raw_spin_lock_irq",
	"_raw_spin_lock_irqsave",
	"_raw_spin_trylock",
	"_raw_read_lock",
	"_raw_write_lock",
	"mutex_lock_nested",
};

struct ln_note {
	unsigned long	addr;
	unsigned long	caller;
};

/* What a CPU has noted; only it writes */
struct ln_log {
	unsigned int	count;
	struct ln_note	notes[LN_NOTES];
};

/* Where the probes find it; set while they are there */
static struct ln_log *ln_logs;
static bool ln_on;

/**
 * struct ln - A case
 * @probes: one for each symbol
 * @logs: one for each CPU
 */
struct ln {
	struct kprobe	probes[ARRAY_SIZE(ln_symbols)];
	struct ln_log	*logs;
};

/* Cache lines, and for each of them one who touches it */
struct ln_set {
	unsigned int	count;
	unsigned long	lines[LN_LINES];
	unsigned long	callers[LN_LINES];
};

static int ln_hit(struct kprobe *probe, struct pt_regs *regs)
{
	struct ln_log *log;

	/* What is compared with is on a stack, and instrumented, too */
	if (!READ_ONCE(ln_on) || is_vmalloc_addr((void *)regs->di) ||
	    object_is_on_stack((void *)regs->di))
		return 0;
	log = &ln_logs[smp_processor_id()];
	if (log->count < LN_NOTES)
		log->notes[log->count] = (struct ln_note) {
			regs->di, regs_get_kernel_stack_nth(regs, 0)
		};
	log->count++;
	return 0;
}
NOKPROBE_SYMBOL(ln_hit);

static void ln_unprobe(void *data)
{
	struct ln *ln = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ln_symbols); i++)
		if (ln->probes[i].addr)
			unregister_kprobe(&ln->probes[i]);
	ln_logs = NULL;
	kvfree(ln->logs);
}

static void ln_probe(struct kunit *test)
{
	struct ln *ln = ht_buf(test, sizeof(*ln));
	size_t i;

	ln->logs = kvcalloc(nr_cpu_ids, sizeof(*ln->logs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ln->logs);
	ln_logs = ln->logs;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ln_unprobe, ln),
			0);
	for (i = 0; i < ARRAY_SIZE(ln_symbols); i++) {
		ln->probes[i].symbol_name = ln_symbols[i];
		ln->probes[i].pre_handler = ln_hit;
		KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&ln->probes[i]), 0,
				    "%s", ln_symbols[i]);
	}
}

static bool ln_is_ours(unsigned long caller)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)caller);
	return strstr(name, "[kofi]") || strstr(name, "[kofi_verbs]");
}

static int ln_find(const struct ln_set *set, unsigned long line)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (set->lines[i] == line)
			return i;
	return -1;
}

static void ln_collect(struct kunit *test, struct ln_set *set)
{
	const struct ln_note *note;
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		KUNIT_ASSERT_LE(test, ln_logs[cpu].count, LN_NOTES);
		for (i = 0; i < ln_logs[cpu].count; i++) {
			note = &ln_logs[cpu].notes[i];
			if (!ln_is_ours(note->caller) ||
			    ln_find(set, note->addr / SMP_CACHE_BYTES) >= 0)
				continue;
			KUNIT_ASSERT_LT(test, set->count, LN_LINES);
			set->lines[set->count] = note->addr / SMP_CACHE_BYTES;
			set->callers[set->count++] = note->caller;
		}
		ln_logs[cpu].count = 0;
	}
}

/* A connection, and a region of its end b */
struct ln_side {
	struct ht_pair	pair;
	u8		*buf;
	u8		*target;
	u64		key;
};

static void ln_side_open(struct kunit *test, struct ln_side *side)
{
	struct fid_mr *mr;

	ht_join(test, &side->pair);
	side->buf = ht_buf(test, PAGE_SIZE);
	side->target = ht_buf(test, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, hm_reg(test, side->target, PAGE_SIZE, &mr), 0);
	side->key = fi_mr_key(mr);
}

/* Every kind of data call, and its completion */
static void ln_work(struct kunit *test, struct ln_side *side)
{
	struct fid_ep *a = side->pair.a.ep, *b = side->pair.b.ep;
	u64 addr = (uintptr_t)side->target;
	int i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, fi_recv(b, side->buf + 1024 + 64 * i, 64,
					      NULL, 0, ht_ctx(2)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(a, side->buf, 64, NULL, 0, ht_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_inject(a, side->buf, 64, 0), 0);
	ht_done(test, side->pair.a.cq, ht_ctx(1));
	for (i = 0; i < 2; i++)
		ht_done(test, side->pair.b.cq, ht_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_write(a, side->buf, 64, NULL, 0, addr,
				       side->key, ht_ctx(3)), 0);
	ht_done(test, side->pair.a.cq, ht_ctx(3));
	KUNIT_ASSERT_EQ(test, fi_read(a, side->buf + 2048, 64, NULL, 0, addr,
				      side->key, ht_ctx(4)), 0);
	ht_done(test, side->pair.a.cq, ht_ctx(4));
}

static struct ln_set *ln_watch(struct kunit *test, struct ln_side *side)
{
	struct ln_set *set = ht_buf(test, sizeof(*set));

	WRITE_ONCE(ln_on, true);
	ln_work(test, side);
	WRITE_ONCE(ln_on, false);
	ln_collect(test, set);
	kunit_info(test, "%u lines\n", set->count);
	KUNIT_ASSERT_GT(test, set->count, 0);
	return set;
}

/* Returns how many lines both have */
static unsigned int ln_common(struct kunit *test, const struct ln_set *one,
			      const struct ln_set *other)
{
	unsigned int i, common = 0;
	int j;

	for (i = 0; i < one->count; i++) {
		j = ln_find(other, one->lines[i]);
		if (j < 0)
			continue;
		common++;
		kunit_info(test, "%pS and %pS\n", (void *)one->callers[i],
			   (void *)other->callers[j]);
	}
	return common;
}

static void ln_open(struct kunit *test, struct ln_side *one,
		    struct ln_side *other, bool share)
{
	struct fakehca_attr attr = { .roce = true };

	hm_open(test, &attr);
	ht_listen(test);
	if (share) {
		one->pair.a.cq = ht_cq(test, 1024);
		other->pair.a.cq = one->pair.a.cq;
	}
	ln_side_open(test, one);
	ln_side_open(test, other);
	/* What happens only once has happened */
	ln_work(test, one);
	ln_work(test, other);
	ln_probe(test);
}

static void endpoints_have_no_lock_or_atomic_in_common(struct kunit *test)
{
	struct ln_side one = {}, other = {};
	struct ln_set *first, *second;

	ln_open(test, &one, &other, false);
	first = ln_watch(test, &one);
	second = ln_watch(test, &other);
	KUNIT_EXPECT_EQ(test, ln_common(test, first, second), 0);
}

/* So one would be seen */
static void a_shared_queue_is_a_line_in_common(struct kunit *test)
{
	struct ln_side one = {}, other = {};
	struct ln_set *first, *second;

	ln_open(test, &one, &other, true);
	first = ln_watch(test, &one);
	second = ln_watch(test, &other);
	KUNIT_EXPECT_GT(test, ln_common(test, first, second), 0);
}

static struct kunit_case kofi_hca_lines_cases[] = {
	KUNIT_CASE(endpoints_have_no_lock_or_atomic_in_common),
	KUNIT_CASE(a_shared_queue_is_a_line_in_common),
	{}
};

static struct kunit_suite kofi_hca_lines_suite = {
	.name		= "kofi_hca_lines",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= kofi_hca_lines_cases,
};

kunit_test_suite(kofi_hca_lines_suite);

#endif
