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
 *
 * scripts/profile has QEMU count.  It loads the module with rounds=0, so that none of its code has
 * run yet, and writes the name of a case and a side, "kofi" or "raw", to "run" in that folder.
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

#define INSN_ROUNDS	25

static unsigned int rounds = INSN_ROUNDS;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often each case is counted; 0: not at all");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "a case that is counted alone");

s64 insn_overhead;

/* The side that insn_run() does alone, or "" */
static const char *insn_only_side = "";

noinline cycles_t insn_begin(void)
{
	return get_cycles();
}

noinline cycles_t insn_end(void)
{
	return get_cycles();
}

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
	start = insn_begin();
	if (loops)
		insn_known(loops);
	stop = insn_end();
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

static int insn_add(const struct insn_case *c, const char *side, unsigned int round, s64 count)
{
	if (count < 0) {
		pr_err("%s, %s: error %lld\n", c->key, side, count);
		return count;
	}
	/* The first rounds meet cold paths: static calls, empty lists */
	if (!round || *insn_only_side || insn_nr_samples == INSN_SAMPLES)
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
		if (strcmp(insn_only_side, "raw"))
			ret = insn_add(c, "kofi", round, c->kofi(bed, c->arg));
		if (!ret && strcmp(insn_only_side, "kofi"))
			ret = insn_add(c, "raw", round, c->raw(bed, c->arg));
		cond_resched();
	}
	return ret;
}

static int insn_run_cases(struct insn_bed *bed, const struct insn_case *cases, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		if (cases[i].kind == bed->kofi.kind && (!*only || !strcmp(only, cases[i].key)))
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

static ssize_t insn_run_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	char line[64] = "", *side = line, *key;
	int ret;

	if (simple_write_to_buffer(line, sizeof(line) - 1, ppos, buf, len) != len)
		return -EINVAL;
	key = strsep(&side, " ");
	if (!side)
		return -EINVAL;
	only = key;
	insn_only_side = strim(side);
	rounds = INSN_ROUNDS;
	ret = insn_run();
	only = "";
	insn_only_side = "";
	return ret ? : len;
}

static const struct file_operations insn_run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= insn_run_write,
};

static int __init insn_init(void)
{
	int ret;

	insn_samples = kvcalloc(INSN_SAMPLES, sizeof(*insn_samples), GFP_KERNEL);
	if (!insn_samples)
		return -ENOMEM;
	ret = rounds ? insn_calibrate() : 0;
	if (ret)
		pr_err("the processor's counter does not count instructions\n");
	else if (rounds)
		ret = insn_run();
	if (ret) {
		kvfree(insn_samples);
		return ret > -MAX_ERRNO && ret <= -256 ? -EIO : ret;
	}
	insn_dir = debugfs_create_dir("kofi_insn", NULL);
	debugfs_create_file("samples", 0400, insn_dir, NULL, &samples_fops);
	debugfs_create_file("run", 0200, insn_dir, NULL, &insn_run_fops);
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
