// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The slow half of credits, include/kofi/credit.h: there is none left, or a client waits.
 */
#include <linux/module.h>
#include <kofi/credit.h>

static void kofi_credit_note(struct kofi_credit *credit)
{
	WRITE_ONCE(credit->wanted, true);
	/* Pairs with kofi_credit_give(), see the top of kofi/credit.h */
	smp_mb();
}

/* kofi_credit_take_many() has found too few credits */
bool kofi_credit_wait(struct kofi_credit *credit, int count)
{
	atomic_long_inc(&credit->side->again);
	kofi_credit_note(credit);
	return kofi_credit_try(credit, count);
}
EXPORT_SYMBOL_GPL(kofi_credit_wait);

/* kofi_credit_give() has found that a client waits; of several givers one calls */
void kofi_credit_call(struct kofi_credit *credit)
{
	if (!xchg(&credit->wanted, false))
		return;
	WRITE_ONCE(credit->side->wanted, true);
	kofi_ep_call_ready(credit->side);
}
EXPORT_SYMBOL_GPL(kofi_credit_call);

void kofi_credit_call_when_left(struct kofi_credit *credit)
{
	kofi_credit_note(credit);
	if (kofi_credit_left(credit))
		kofi_credit_call(credit);
}
EXPORT_SYMBOL_GPL(kofi_credit_call_when_left);
