// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What kOFI has allocated and not freed.
 *
 * kmemleak takes any stale word for a pointer, and then a leak for none.  Here the
 * kernel's tracepoints tell of each allocation by kofi.ko and the providers, also
 * through kvmalloc(), kstrdup() and the like, and of its end.  When a case has closed
 * all it has opened, nothing may be left.
 *
 * A connection of kofi_tcp delivers what it has sent when its endpoint has been closed, for as
 * long as a peer may answer nothing (providers/tcp/stream/linger.c).  So what it has for that is
 * waited for, and for nothing else.
 *
 * Of what kfree_rcu() frees in bulk no tracepoint tells, so that is only counted where
 * RCU is tiny and frees one by one.
 */
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "nth.h"

#define NTH_FRAMES	16
#define NTH_LIVE_BITS	12
#define NTH_LIVE	BIT(NTH_LIVE_BITS)
#define NTH_LINGER	(15 * HZ)	/* peer_timeout of kofi_tcp, and a busy machine */

/**
 * struct nth_live - An allocation
 * @ptr: what was allocated; NULL: the place is free
 * @where: who did it
 */
struct nth_live {
	const void	*ptr;
	unsigned long	where;
};

static struct nth_live nth_live[NTH_LIVE];
static unsigned int nth_lives;
static bool nth_leak_watching;
/* Guards all of them; any context allocates */
static DEFINE_RAW_SPINLOCK(nth_live_lock);
static char nth_symbol[KSYM_SYMBOL_LEN];

enum nth_owns {
	NTH_OTHER,
	NTH_BETWEEN,
	NTH_OURS,
};

/**
 * struct nth_site - What is known of an address of code
 * @address: the address; 0: the place is free
 * @owns: whose function it is
 *
 * The kernel finds a module's symbol by looking at all of them, for each allocation.
 */
struct nth_site {
	unsigned long	address;
	enum nth_owns	owns;
};

#define NTH_SITE_BITS	10
static struct nth_site nth_sites[BIT(NTH_SITE_BITS)];

/* Functions that allocate for those who call them, and what the tracer adds */
static const char * const nth_between[] = {
	"kmalloc", "kvmalloc", "kmemdup", "kstrdup", "asprintf", "kmem_cache", "sg_alloc",
	"sg_kmalloc", "nth_allocates", "nth_owner", "stack_trace", "__traceiter",
};

/* Functions that allocate what kfree_rcu() frees */
static const char * const nth_rcu[] = { "kofi_mr_alloc+", "kofi_mr_regattr+", "rxm_peer_new+" };

/* Functions that allocate what outlives its endpoint for a time */
static const char * const nth_lingering[] = { "ktcp_linger_new+" };

static bool nth_is_between(const char *symbol)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nth_between); i++)
		if (strstr(symbol, nth_between[i]))
			return true;
	return false;
}

static bool nth_is_ours(const char *symbol)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nth_rcu); i++)
		if (!IS_ENABLED(CONFIG_TINY_RCU) && strstr(symbol, nth_rcu[i]))
			return false;
	return strstr(symbol, "[kofi]") || strstr(symbol, "[kofi_verbs]") ||
	       strstr(symbol, "[kofi_loop]") || strstr(symbol, "[kofi_tcp]") ||
	       strstr(symbol, "[kofi_rxm]") || strstr(symbol, "[kofi_hook") ||
	       strstr(symbol, "[kofi_kfi]") || strstr(symbol, "[kofi_bulk]");
}

static enum nth_owns nth_owns(unsigned long address)
{
	struct nth_site *site = &nth_sites[hash_long(address, NTH_SITE_BITS)];

	lockdep_assert_held(&nth_live_lock);
	if (site->address == address)
		return site->owns;
	sprint_symbol(nth_symbol, address);
	site->address = address;
	site->owns = nth_is_ours(nth_symbol) ? NTH_OURS :
		     nth_is_between(nth_symbol) ? NTH_BETWEEN : NTH_OTHER;
	return site->owns;
}

/* Return the function of kOFI that allocates, or 0 */
static unsigned long nth_owner(unsigned long call_site)
{
	enum nth_owns owns = nth_owns(call_site);
	unsigned long frames[NTH_FRAMES];
	unsigned int i, count;

	if (owns != NTH_BETWEEN)
		return owns == NTH_OURS ? call_site : 0;
	count = stack_trace_save(frames, NTH_FRAMES, 0);
	for (i = 0; i < count; i++) {
		owns = nth_owns(frames[i]);
		if (owns != NTH_BETWEEN)
			return owns == NTH_OURS ? frames[i] : 0;
	}
	return 0;
}

/* The place of @ptr, or a free one for it if it is not there, or NULL */
static struct nth_live *nth_place(const void *ptr)
{
	unsigned int i, start = hash_ptr(ptr, NTH_LIVE_BITS);
	struct nth_live *live, *free = NULL;

	for (i = 0; i < NTH_LIVE; i++) {
		live = &nth_live[(start + i) % NTH_LIVE];
		if (live->ptr == ptr)
			return live;
		if (!live->ptr && !free)
			free = live;
		/* Places are given back without a trace, so look at some more */
		if (free && i > 64)
			break;
	}
	return free;
}

static void nth_allocates(void *unused, unsigned long call_site, const void *ptr)
{
	struct nth_live *live;
	unsigned long flags;
	unsigned long owner;

	if (!READ_ONCE(nth_leak_watching) || !ptr)
		return;
	raw_spin_lock_irqsave(&nth_live_lock, flags);
	owner = nth_owner(call_site);
	live = owner ? nth_place(ptr) : NULL;
	if (live && !live->ptr) {
		*live = (struct nth_live) { ptr, owner };
		nth_lives++;
	}
	raw_spin_unlock_irqrestore(&nth_live_lock, flags);
}

static void nth_frees(void *unused, unsigned long call_site, const void *ptr)
{
	struct nth_live *live;
	unsigned long flags;

	if (!READ_ONCE(nth_leak_watching) || !ptr || !READ_ONCE(nth_lives))
		return;
	raw_spin_lock_irqsave(&nth_live_lock, flags);
	live = nth_place(ptr);
	if (live && live->ptr) {
		live->ptr = NULL;
		nth_lives--;
	}
	raw_spin_unlock_irqrestore(&nth_live_lock, flags);
}

static struct vt_probe nth_leak_probes[] = {
	{ "kmalloc", nth_allocates },
	{ "kmem_cache_alloc", nth_allocates },
	{ "kfree", nth_frees },
	{ "kmem_cache_free", nth_frees },
};

int nth_leak_init(void)
{
	return vt_probe_all(nth_leak_probes, ARRAY_SIZE(nth_leak_probes));
}

void nth_leak_exit(void)
{
	vt_unprobe_all(nth_leak_probes, ARRAY_SIZE(nth_leak_probes));
}

void nth_leak_begin(void)
{
	memset(nth_live, 0, sizeof(nth_live));
	/* A module may have been loaded to where another one was */
	memset(nth_sites, 0, sizeof(nth_sites));
	nth_lives = 0;
	WRITE_ONCE(nth_leak_watching, true);
}

static bool nth_lingers(unsigned long where)
{
	size_t i;

	sprint_symbol(nth_symbol, where);
	for (i = 0; i < ARRAY_SIZE(nth_lingering); i++)
		if (strstr(nth_symbol, nth_lingering[i]))
			return true;
	return false;
}

/* Something is left, and all of it goes by itself */
static bool nth_all_linger(void)
{
	unsigned long flags;
	bool linger;
	size_t i;

	raw_spin_lock_irqsave(&nth_live_lock, flags);
	linger = nth_lives;
	for (i = 0; i < NTH_LIVE && linger; i++)
		linger = !nth_live[i].ptr || nth_lingers(nth_live[i].where);
	raw_spin_unlock_irqrestore(&nth_live_lock, flags);
	return linger;
}

void nth_leak_end(struct kunit *test)
{
	unsigned long until = jiffies + NTH_LINGER;
	size_t i;

	rcu_barrier(); /* for kfree_rcu() */
	while (nth_all_linger() && time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
	WRITE_ONCE(nth_leak_watching, false);
	for (i = 0; i < NTH_LIVE && nth_lives; i++) {
		if (!nth_live[i].ptr)
			continue;
		KUNIT_FAIL(test, "%u allocations are left, one by %pS",
			   nth_lives, (void *)nth_live[i].where);
		return;
	}
}
