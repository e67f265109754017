// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_insn: instructions that an operation takes, over kOFI and on ib_core.
 *
 * The device is the fake HCA in its quick mode, which costs some twenty instructions
 * for each work request or completion, the same on both sides.  Each side does the
 * same operations on its own connection, in turn; a case is INSN_BATCH operations
 * that are counted together, in many rounds.
 *
 * The module works while it is loaded, and loading fails when anything does or when
 * the processor's counter does not count instructions.  A line for each round,
 *
 *	case side insn round instructions operations
 *
 * is in /sys/kernel/debug/kofi_insn/samples until it is unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "insn.h"

#define INSN_SAMPLES	16384

static unsigned int rounds = 25;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often each case is counted");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "a case that is counted alone");

s64 insn_overhead;

struct insn_sample {
	const struct insn_case	*c;
	const char		*side;
	unsigned int		round;
	s64			count;
};

static struct insn_sample *insn_samples;
static unsigned int insn_nr_samples;
static struct dentry *insn_dir;

/* 2 * @loops instructions and one more */
static __always_inline void insn_known(unsigned long loops)
{
#ifdef CONFIG_X86_64
	asm volatile("1: dec %0\n\tjnz 1b" : "+r"(loops) : : "cc");
#endif
}

static s64 insn_count_known(unsigned long loops)
{
	unsigned long flags;
	cycles_t start, stop;

	local_irq_save(flags);
	start = get_cycles();
	if (loops)
		insn_known(loops);
	stop = get_cycles();
	local_irq_restore(flags);
	return stop - start;
}

/* Does the counter count instructions?  If so, what does reading it add? */
static int insn_calibrate(void)
{
	s64 empty, thousand;

	insn_count_known(1000);
	empty = insn_count_known(0);
	thousand = insn_count_known(1000);
	insn_overhead = empty;
	pr_info("reading the counter counts %lld, 2000 instructions count %lld\n",
		empty, thousand - empty);
	return abs(thousand - empty - 2000) <= 8 ? 0 : -ENODEV;
}

static int insn_add(const struct insn_case *c, const char *side,
		    unsigned int round, s64 count)
{
	if (count < 0) {
		pr_err("%s, %s: error %lld\n", c->key, side, count);
		return count;
	}
	/* The first rounds meet cold paths: static calls, empty lists */
	if (!round || insn_nr_samples == INSN_SAMPLES)
		return 0;
	insn_samples[insn_nr_samples++] = (struct insn_sample) {
		c, side, round, max(count, 0LL),
	};
	return 0;
}

static int insn_run_case(struct insn_bed *bed, const struct insn_case *c)
{
	unsigned int round;
	int ret = 0;

	for (round = 0; round <= rounds && !ret; round++) {
		ret = insn_add(c, "kofi", round, c->kofi(bed, c->arg));
		if (!ret)
			ret = insn_add(c, "raw", round, c->raw(bed, c->arg));
		cond_resched();
	}
	return ret;
}

static int insn_run_cases(struct insn_bed *bed, const struct insn_case *cases,
			  unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		if (cases[i].kind == bed->kofi.kind &&
		    (!*only || !strcmp(only, cases[i].key)))
			ret = insn_run_case(bed, &cases[i]);
	return ret;
}

static int insn_run_kind(struct insn_bed *bed, enum insn_kind kind)
{
	int ret;

	ret = insn_bed_open(bed, kind);
	if (!ret)
		ret = insn_run_cases(bed, insn_post_cases, insn_nr_post_cases);
	if (!ret)
		ret = insn_run_cases(bed, insn_comp_cases, insn_nr_comp_cases);
	if (!ret)
		ret = insn_run_cases(bed, insn_mr_cases, insn_nr_mr_cases);
	insn_bed_close(bed);
	return ret;
}

static int insn_run(void)
{
	struct insn_bed *bed = kzalloc(sizeof(*bed), GFP_KERNEL);
	enum insn_kind kind;
	int ret = 0;

	if (!bed)
		return -ENOMEM;
	for (kind = 0; kind < INSN_KINDS && !ret; kind++)
		ret = insn_run_kind(bed, kind);
	kfree(bed);
	return ret;
}

static int samples_show(struct seq_file *m, void *v)
{
	const struct insn_sample *s;

	for (s = insn_samples; s < insn_samples + insn_nr_samples; s++)
		seq_printf(m, "%s %s insn %u %lld %d\n", s->c->key, s->side,
			   s->round, s->count, INSN_BATCH);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(samples);

static int __init insn_init(void)
{
	int ret;

	insn_samples = kvcalloc(INSN_SAMPLES, sizeof(*insn_samples),
				GFP_KERNEL);
	if (!insn_samples)
		return -ENOMEM;
	ret = insn_calibrate();
	if (ret)
		pr_err("the processor's counter does not count instructions\n");
	else
		ret = insn_run();
	if (ret) {
		kvfree(insn_samples);
		return ret > -MAX_ERRNO && ret <= -256 ? -EIO : ret;
	}
	insn_dir = debugfs_create_dir("kofi_insn", NULL);
	debugfs_create_file("samples", 0400, insn_dir, NULL, &samples_fops);
	return 0;
}

static void __exit insn_exit(void)
{
	debugfs_remove_recursive(insn_dir);
	kvfree(insn_samples);
}

module_init(insn_init);
module_exit(insn_exit);

MODULE_DESCRIPTION("instructions of kOFI's operations");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
