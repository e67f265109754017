// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The slow half of credits and waiters, include/kofi/credit.h and waiter.h: there is none left,
 * or a client waits.
 */
#include <linux/module.h>
#include <kofi/credit.h>
#include <kofi/ep.h>

void kofi_waiter_want(struct kofi_waiter *waiter)
{
	WRITE_ONCE(waiter->wanted, true);
	/* Pairs with kofi_waiter_wake() and kofi_credit_give(), see the top of kofi/waiter.h */
	smp_mb();
}

void kofi_waiter_note(struct kofi_waiter *waiter)
{
	atomic_long_inc(&waiter->side->again);
	kofi_waiter_want(waiter);
}
EXPORT_SYMBOL_GPL(kofi_waiter_note);

/* The resource has come back, and a client waits; of several tasks that see it one calls */
void kofi_waiter_call(struct kofi_waiter *waiter)
{
	if (kofi_waiter_forget(waiter))
		kofi_ep_call_ready(waiter->side);
}
EXPORT_SYMBOL_GPL(kofi_waiter_call);

/* kofi_credit_take_many() has found too few credits */
bool kofi_credit_wait(struct kofi_credit *credit, int count)
{
	kofi_waiter_note(&credit->waiter);
	return kofi_credit_try(credit, count);
}
EXPORT_SYMBOL_GPL(kofi_credit_wait);

/* kofi_credit_has() has found too few credits */
bool kofi_credit_wait_left(struct kofi_credit *credit, int count)
{
	kofi_waiter_note(&credit->waiter);
	return atomic_read(&credit->left) >= count;
}
EXPORT_SYMBOL_GPL(kofi_credit_wait_left);
