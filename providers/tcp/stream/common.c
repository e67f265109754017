// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What all files share: the workqueue, and the mutex of connection management.
 *
 * Writeback may wait for an operation whose connection is broken, and the end of that connection
 * needs ktcp_cm_lock.  So no holder may wait for writeback in turn: what allocates under the mutex
 * does so in a NOIO frame.  ktcp_cm_enter() takes the mutex and enters the frame.  Callbacks that
 * kofi/util makes with the mutex held enter the frame themselves if they allocate.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include "stream.h"

/* Workers of connections, listeners and endpoints; made and destroyed by the module */
struct workqueue_struct *ktcp_wq;

/* Connections, listeners and requests; see tcp.h */
DEFINE_MUTEX(ktcp_cm_lock);

/**
 * ktcp_cm_enter() - Take ktcp_cm_lock, and enter a NOIO frame
 *
 * Context: may sleep.
 * Return: what ktcp_cm_leave() gets.
 */
unsigned int ktcp_cm_enter(void)
{
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&ktcp_cm_lock);
	return noio;
}

/**
 * ktcp_cm_leave() - Release ktcp_cm_lock, and leave the NOIO frame
 * @noio: what ktcp_cm_enter() has returned
 *
 * Context: may sleep.
 */
void ktcp_cm_leave(unsigned int noio)
{
	mutex_unlock(&ktcp_cm_lock);
	memalloc_noio_restore(noio);
}
