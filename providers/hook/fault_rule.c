// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The rules of ofi_hook_fault: what goes wrong, where, how often.
 *
 *	/sys/kernel/debug/kofi_hook_fault/rules		a line is a rule; "clear" removes all
 *	/sys/kernel/debug/kofi_hook_fault/seed		of chance=; a write also resets the counts
 *	modprobe kofi_hook_fault seed=7 'rules=send again every=3;mr error 12 times=1'
 *
 * A rule is PLACE[,PLACE...] KIND [VALUE] [KEY=NUMBER...]:
 *
 *	PLACE	recv send inject trecv tsend tinject read write inject_write atomic
 *		fetch_atomic compare_atomic inject_atomic, of data transfers;
 *		tx, rx, any: all that send or access the peer's memory, all that receive, both;
 *		open mr connect accept
 *	KIND	again		the call answers -EAGAIN
 *		error ERRNO	the call answers with another error
 *		fail ERRNO	an operation that sends completes with an error, and its
 *				connection ends
 *		shutdown	the connection ends when the operation has been posted
 *		delay MS	the completion comes later, and completions behind it wait
 *	KEY	after=N		the first N calls are let through
 *		every=N		the rule fires for one call of N, the last
 *		chance=N	the rule fires for N calls of 1000, by the seed
 *		times=N		the rule fires N times, then no more
 *
 * With one seed and one order of calls, the same calls go wrong each time.
 *
 * fault_lock guards the rules and the random generator.  Rules are only removed all at once, so
 * a rule never moves in its table.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "fault.h"

#define FAULT_MAX_RULES		16
#define FAULT_MAX_TEXT		1024

#define FAULT_RX_PLACES		(BIT(FI_OP_RECV) | BIT(FI_OP_TRECV))
#define FAULT_OP_PLACES		(BIT(KOFI_HOOK_OPS) - 1)
#define FAULT_TX_PLACES		(FAULT_OP_PLACES & ~FAULT_RX_PLACES)
/* An operation of these places completes only if it fails */
#define FAULT_MUTE_PLACES	(BIT(KOFI_HOOK_INJECT) | BIT(KOFI_HOOK_TINJECT) | \
				 BIT(KOFI_HOOK_INJECT_WRITE) | BIT(KOFI_HOOK_INJECT_ATOMIC))

static char *rules;
module_param(rules, charp, 0444);
MODULE_PARM_DESC(rules, "rules, with ; between them; see Documentation/hooks.rst");

static unsigned long long seed = 1;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "of the rules with chance= (default 1)");

static const char *const fault_kinds[FAULT_KINDS] = {
	[FAULT_AGAIN]		= "again",
	[FAULT_ERROR]		= "error",
	[FAULT_FAIL]		= "fail",
	[FAULT_SHUTDOWN]	= "shutdown",
	[FAULT_DELAY]		= "delay",
};

/* The places where each kind is possible */
static const u32 fault_kind_places[FAULT_KINDS] = {
	[FAULT_AGAIN]		= FAULT_OP_PLACES,
	[FAULT_ERROR]		= BIT(FAULT_PLACES) - 1,
	[FAULT_FAIL]		= FAULT_TX_PLACES & ~FAULT_MUTE_PLACES,
	[FAULT_SHUTDOWN]	= FAULT_OP_PLACES,
	/* A completion does not say which of the two atomics with a result it is of */
	[FAULT_DELAY]		= FAULT_OP_PLACES & ~FAULT_MUTE_PLACES &
				  ~BIT(FI_OP_COMPARE_ATOMIC),
};

static const struct {
	const char	*name;
	u32		places;
} fault_places[] = {
	{ "recv", BIT(FI_OP_RECV) },
	{ "send", BIT(FI_OP_SEND) },
	{ "inject", BIT(KOFI_HOOK_INJECT) },
	{ "trecv", BIT(FI_OP_TRECV) },
	{ "tsend", BIT(FI_OP_TSEND) },
	{ "tinject", BIT(KOFI_HOOK_TINJECT) },
	{ "read", BIT(FI_OP_READ) },
	{ "write", BIT(FI_OP_WRITE) },
	{ "inject_write", BIT(KOFI_HOOK_INJECT_WRITE) },
	{ "atomic", BIT(FI_OP_ATOMIC) },
	{ "fetch_atomic", BIT(FI_OP_FETCH_ATOMIC) },
	{ "compare_atomic", BIT(FI_OP_COMPARE_ATOMIC) },
	{ "inject_atomic", BIT(KOFI_HOOK_INJECT_ATOMIC) },
	{ "open", BIT(FAULT_OPEN) },
	{ "mr", BIT(FAULT_MR) },
	{ "connect", BIT(FAULT_CONNECT) },
	{ "accept", BIT(FAULT_ACCEPT) },
	{ "tx", FAULT_TX_PLACES },
	{ "rx", FAULT_RX_PLACES },
	{ "any", FAULT_OP_PLACES },
};

/**
 * struct fault_rule - A rule
 * @text: the rule as it was written
 * @fault: what goes wrong when it fires
 * @places: BIT() of each place
 * @after: so many calls are let through first
 * @every: it fires for one call of so many; 0: for each
 * @chance: it fires for so many calls of 1000; 0: for each
 * @times: it fires so often, then no more; 0: without end
 * @seen: how many calls it has counted
 * @hits: how often it has fired
 */
struct fault_rule {
	char		text[80];
	struct fault	fault;
	u32		places;
	u32		after;
	u32		every;
	u32		chance;
	u32		times;
	u64		seen;
	u64		hits;
};

static DEFINE_SPINLOCK(fault_lock);
static struct fault_rule fault_rules[FAULT_MAX_RULES];
static unsigned int fault_nr_rules;
static struct rnd_state fault_rnd;
static struct dentry *fault_debugfs;

static bool fault_fires(struct fault_rule *rule)
{
	u64 seen = rule->seen++;

	lockdep_assert_held(&fault_lock);
	if (seen < rule->after || (rule->times && rule->hits >= rule->times))
		return false;
	seen -= rule->after;
	if (rule->every && (u32)seen % rule->every != rule->every - 1)
		return false;
	if (rule->chance && prandom_u32_state(&fault_rnd) % 1000 >= rule->chance)
		return false;
	rule->hits++;
	return true;
}

bool fault_decide(unsigned int place, u32 kinds, struct fault *fault)
{
	struct fault_rule *rule;
	bool fired = false;
	unsigned long flags;

	if (likely(!READ_ONCE(fault_nr_rules)))
		return false;
	spin_lock_irqsave(&fault_lock, flags);
	for (rule = fault_rules; rule < fault_rules + fault_nr_rules; rule++) {
		if (!(rule->places & BIT(place)) || !(kinds & BIT(rule->fault.kind)))
			continue;
		if (fired) {
			rule->seen++;
		} else if (fault_fires(rule)) {
			*fault = rule->fault;
			fired = true;
		}
	}
	spin_unlock_irqrestore(&fault_lock, flags);
	return fired;
}

/* Logs what is wrong with a rule, and what it may be */
static int fault_refuse(const struct fault_rule *rule, const char *word, const char *allowed)
{
	pr_err("rule \"%s\" refused: \"%s\" is none of: %s\n", rule->text, word ?: "",
	       allowed);
	return -EINVAL;
}

static int fault_refuse_place(const struct fault_rule *rule, const char *name)
{
	char names[192];
	size_t i, at = 0;

	for (i = 0; i < ARRAY_SIZE(fault_places); i++)
		at += scnprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				fault_places[i].name);
	return fault_refuse(rule, name, names);
}

static int fault_refuse_kind(const struct fault_rule *rule, const char *name)
{
	char names[64];
	size_t i, at = 0;

	for (i = 0; i < FAULT_KINDS; i++)
		at += scnprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				fault_kinds[i]);
	return fault_refuse(rule, name, names);
}

static int fault_parse_places(struct fault_rule *rule, char *names)
{
	char *name;
	size_t i;

	while ((name = strsep(&names, ","))) {
		for (i = 0; i < ARRAY_SIZE(fault_places); i++)
			if (!strcmp(name, fault_places[i].name))
				break;
		if (i == ARRAY_SIZE(fault_places))
			return fault_refuse_place(rule, name);
		rule->places |= fault_places[i].places;
	}
	return 0;
}

/* Of tx, rx and any, the rule keeps the places where its kind is possible */
static int fault_parse_kind(struct fault_rule *rule, const char *name)
{
	int kind = match_string(fault_kinds, FAULT_KINDS, name ?: "");

	if (kind < 0)
		return fault_refuse_kind(rule, name);
	rule->fault.kind = kind;
	rule->places &= fault_kind_places[kind];
	return rule->places ? 0 : fault_refuse(rule, name, "what is possible at this place");
}

static int fault_parse_value(struct fault_rule *rule, const char *word)
{
	u32 max = MAX_ERRNO;

	if (rule->fault.kind == FAULT_DELAY)
		max = 60 * MSEC_PER_SEC;
	if (!word || kstrtou32(word, 10, &rule->fault.value) || !rule->fault.value ||
	    rule->fault.value > max)
		return fault_refuse(rule, word, rule->fault.kind == FAULT_DELAY ?
				    "1 to 60000 milliseconds" : "an errno, 1 to 4095");
	return 0;
}

#define FAULT_KEYS	"after=N, every=N, times=N, chance=1 to chance=1000"

static int fault_parse_key(struct fault_rule *rule, char *word)
{
	char *key = strsep(&word, "=");
	u32 value;

	if (!word || kstrtou32(word, 10, &value) || !value)
		return fault_refuse(rule, key, FAULT_KEYS);
	if (!strcmp(key, "after"))
		rule->after = value;
	else if (!strcmp(key, "every"))
		rule->every = value;
	else if (!strcmp(key, "times"))
		rule->times = value;
	else if (!strcmp(key, "chance") && value <= 1000)
		rule->chance = value;
	else
		return fault_refuse(rule, key, FAULT_KEYS);
	return 0;
}

static char *fault_word(char **line)
{
	char *word;

	do
		word = strsep(line, " \t");
	while (word && !*word);
	return word;
}

static int fault_parse(struct fault_rule *rule, char *line)
{
	char *word;
	int ret;

	if (strscpy(rule->text, line, sizeof(rule->text)) < 0)
		return fault_refuse(rule, line, "79 characters and less");
	ret = fault_parse_places(rule, fault_word(&line));
	if (!ret)
		ret = fault_parse_kind(rule, fault_word(&line));
	if (!ret && rule->fault.kind != FAULT_AGAIN && rule->fault.kind != FAULT_SHUTDOWN)
		ret = fault_parse_value(rule, fault_word(&line));
	while (!ret && (word = fault_word(&line)))
		ret = fault_parse_key(rule, word);
	return ret;
}

static int fault_add(char *line)
{
	struct fault_rule rule = {};
	unsigned long flags;
	int ret = fault_parse(&rule, line);

	if (ret)
		return ret;
	spin_lock_irqsave(&fault_lock, flags);
	if (fault_nr_rules == FAULT_MAX_RULES) {
		pr_err("rule \"%s\" refused: there are %d; \"clear\" removes them\n", rule.text,
		       FAULT_MAX_RULES);
		ret = -ENOSPC;
	} else {
		fault_rules[fault_nr_rules] = rule;
		WRITE_ONCE(fault_nr_rules, fault_nr_rules + 1);
	}
	spin_unlock_irqrestore(&fault_lock, flags);
	return ret;
}

static void fault_clear(void)
{
	unsigned long flags;

	spin_lock_irqsave(&fault_lock, flags);
	WRITE_ONCE(fault_nr_rules, 0);
	spin_unlock_irqrestore(&fault_lock, flags);
}

/* Stops at a rule that makes no sense; the rules before it stay */
static int fault_add_all(char *text)
{
	char *line;
	int ret = 0;

	while (!ret && (line = strsep(&text, ";\n"))) {
		line = strim(line);
		if (!strcmp(line, "clear"))
			fault_clear();
		else if (*line)
			ret = fault_add(line);
	}
	return ret;
}

/* Restarts the random generator and resets the counts of the rules */
static void fault_reseed(u64 value)
{
	struct fault_rule *rule;
	unsigned long flags;

	spin_lock_irqsave(&fault_lock, flags);
	seed = value;
	prandom_seed_state(&fault_rnd, value);
	for (rule = fault_rules; rule < fault_rules + fault_nr_rules; rule++) {
		rule->seen = 0;
		rule->hits = 0;
	}
	spin_unlock_irqrestore(&fault_lock, flags);
}

static int fault_rules_show(struct seq_file *file, void *unused)
{
	struct fault_rule rule;
	unsigned int i;
	bool more;

	for (i = 0;; i++) {
		spin_lock_irq(&fault_lock);
		more = i < fault_nr_rules;
		if (more)
			rule = fault_rules[i];
		spin_unlock_irq(&fault_lock);
		if (!more)
			return 0;
		seq_printf(file, "%s: %llu of %llu\n", rule.text, rule.hits, rule.seen);
	}
}

static int fault_rules_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_rules_show, NULL);
}

static ssize_t fault_rules_write(struct file *file, const char __user *buf, size_t len,
				 loff_t *pos)
{
	char *text;
	int ret;

	if (len > FAULT_MAX_TEXT) {
		pr_err("rules refused: %zu characters; the most is %d\n", len, FAULT_MAX_TEXT);
		return -EINVAL;
	}
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = fault_add_all(text);
	kfree(text);
	return ret ?: len;
}

static const struct file_operations fault_rules_fops = {
	.owner		= THIS_MODULE,
	.open		= fault_rules_open,
	.read		= seq_read,
	.write		= fault_rules_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int fault_seed_get(void *unused, u64 *value)
{
	*value = seed;
	return 0;
}

static int fault_seed_set(void *unused, u64 value)
{
	fault_reseed(value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(fault_seed_fops, fault_seed_get, fault_seed_set, "%llu\n");

int fault_rules_init(void)
{
	char *text;
	int ret;

	fault_reseed(seed);
	if (rules) {
		text = kstrdup(rules, GFP_KERNEL);
		if (!text)
			return -ENOMEM;
		ret = fault_add_all(text);
		kfree(text);
		if (ret)
			return ret;
	}
	fault_debugfs = debugfs_create_dir("kofi_hook_fault", NULL);
	debugfs_create_file("rules", 0600, fault_debugfs, NULL, &fault_rules_fops);
	debugfs_create_file_unsafe("seed", 0600, fault_debugfs, NULL, &fault_seed_fops);
	return 0;
}

void fault_rules_exit(void)
{
	debugfs_remove(fault_debugfs);
}
