// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Do two endpoints get in each other's way?  While an endpoint is at work, every lock
 * that kOFI takes and every atomic that it touches is noted, with the cache line it
 * is in.  Two endpoints with queues of their own must have no line in common.
 *
 * Locks are taken out of line, and KASAN has a call in front of each atomic.  These
 * calls are looked up in the code of kofi.ko and kofi_verbs.ko, and each gets a probe:
 * nobody else's code is touched.  So these cases are there in the debug kernel on x86
 * only.  Other modules, drivers among them, are not asked; nor is what is per CPU.
 */
#include "mr.h"

#if IS_ENABLED(CONFIG_KASAN) && IS_ENABLED(CONFIG_KPROBES) && \
	IS_ENABLED(CONFIG_X86_64)

#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/kasan-checks.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>
#include <rdma/fi_rma.h>

#define LN_NOTES	16384	/* of a CPU */
#define LN_LINES	512

#define LN_PROBES	1024

/* Calls, and jumps at the end of a function, with a distance of 32 bits */
#define LN_CALL		0xe8
#define LN_JUMP		0xe9
#define LN_INSN		5

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
 * @probes: memory for LN_PROBES
 * @list: those that are there
 * @count: of them
 * @logs: one for each CPU
 */
struct ln {
	struct kprobe	*probes;
	struct kprobe	**list;
	unsigned int	count;
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
			regs->di, (unsigned long)probe->addr
		};
	log->count++;
	return 0;
}

NOKPROBE_SYMBOL(ln_hit);

static void ln_unprobe(void *data)
{
	struct ln *ln = data;

	/* One wait for all of them */
	unregister_kprobes(ln->list, ln->count);
	ln_logs = NULL;
	kvfree(ln->logs);
	kvfree(ln->probes);
	kvfree(ln->list);
}

static bool ln_is_note(unsigned long target)
{
	const unsigned long notes[] = {
		(unsigned long)__kasan_check_write,
		(unsigned long)_raw_spin_lock,
		(unsigned long)_raw_spin_lock_bh,
		(unsigned long)_raw_spin_lock_irq,
		(unsigned long)_raw_spin_lock_irqsave,
		(unsigned long)_raw_spin_trylock,
		(unsigned long)_raw_read_lock,
		(unsigned long)_raw_write_lock,
		(unsigned long)mutex_lock_nested,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(notes); i++)
		if (notes[i] == target)
			return true;
	return false;
}

/* Does the page have code of a module?  @module: "[NAME]" */
static bool ln_has_page(unsigned long page, const char *module)
{
	char first[KSYM_SYMBOL_LEN], last[KSYM_SYMBOL_LEN];

	snprintf(first, sizeof(first), "%ps", (void *)page);
	snprintf(last, sizeof(last), "%ps", (void *)(page + PAGE_SIZE - 1));
	return strstr(first, module) || strstr(last, module);
}

static bool ln_is_call(const u8 *insn)
{
	s32 distance;

	if (*insn != LN_CALL && *insn != LN_JUMP)
		return false;
	memcpy(&distance, insn + 1, sizeof(distance));
	return ln_is_note((unsigned long)insn + LN_INSN + distance);
}

/* What is no instruction is refused, and was no call */
static void ln_probe_code(struct ln *ln, unsigned long begin, unsigned long end)
{
	unsigned long at;

	for (at = begin; at <= end - LN_INSN && ln->count < LN_PROBES; at++) {
		if (!ln_is_call((const u8 *)at))
			continue;
		ln->probes[ln->count] = (struct kprobe) {
			.addr		= (kprobe_opcode_t *)at,
			.pre_handler	= ln_hit,
		};
		if (register_kprobe(&ln->probes[ln->count]))
			continue;
		ln->list[ln->count] = &ln->probes[ln->count];
		ln->count++;
	}
}

/* @function: one of the module's */
static void ln_probe_module(struct kunit *test, struct ln *ln,
			    const char *module, unsigned long function)
{
	unsigned long begin = function & PAGE_MASK, end = begin + PAGE_SIZE;
	unsigned int before = ln->count;

	while (ln_has_page(begin - PAGE_SIZE, module))
		begin -= PAGE_SIZE;
	while (ln_has_page(end, module))
		end += PAGE_SIZE;
	ln_probe_code(ln, begin, end);
	kunit_info(test, "%s: %u probes\n", module, ln->count - before);
	KUNIT_ASSERT_GT(test, ln->count, before);
	KUNIT_ASSERT_LT(test, ln->count, LN_PROBES);
}

static void ln_probe(struct kunit *test, const struct fid_ep *ep)
{
	struct ln *ln = ht_buf(test, sizeof(*ln));

	ln->logs = kvcalloc(nr_cpu_ids, sizeof(*ln->logs), GFP_KERNEL);
	ln->probes = kvcalloc(LN_PROBES, sizeof(*ln->probes), GFP_KERNEL);
	ln->list = kvcalloc(LN_PROBES, sizeof(*ln->list), GFP_KERNEL);
	ln_logs = ln->logs;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ln_unprobe, ln), 0);
	KUNIT_ASSERT_NOT_NULL(test, ln->logs);
	KUNIT_ASSERT_NOT_NULL(test, ln->probes);
	KUNIT_ASSERT_NOT_NULL(test, ln->list);
	ln_probe_module(test, ln, "[kofi]", (unsigned long)fi_cq_open);
	ln_probe_module(test, ln, "[kofi_verbs]", (unsigned long)ep->fid.ops->close);
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
			if (ln_find(set, note->addr / SMP_CACHE_BYTES) >= 0)
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
	struct vt_pair	pair;
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
					      NULL, 0, vt_ctx(2)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(a, side->buf, 64, NULL, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_inject(a, side->buf, 64, 0), 0);
	vt_done(test, side->pair.a.tx, vt_ctx(1));
	for (i = 0; i < 2; i++)
		vt_done(test, side->pair.b.tx, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_write(a, side->buf, 64, NULL, 0, addr, side->key, vt_ctx(3)), 0);
	vt_done(test, side->pair.a.tx, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, fi_read(a, side->buf + 2048, 64, NULL, 0, addr,
				      side->key, vt_ctx(4)), 0);
	vt_done(test, side->pair.a.tx, vt_ctx(4));
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

static void ln_open(struct kunit *test, struct ln_side *one, struct ln_side *other, bool share)
{
	struct fakehca_attr attr = { .roce = true };

	hm_serve(test, &attr);
	if (share) {
		one->pair.a.tx = vt_cq(test, &vt_default_kind, 1024);
		other->pair.a.tx = one->pair.a.tx;
	}
	ln_side_open(test, one);
	ln_side_open(test, other);
	/* What happens only once has happened */
	ln_work(test, one);
	ln_work(test, other);
	ln_probe(test, one->pair.a.ep);
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
