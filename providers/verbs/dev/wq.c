// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The workqueues.  Storage may wait for work of each of them, so each has a rescuer.  Drains and
 * saves wait for work of verbs_wq: with the rescuer alone they would wait for ever, so they have
 * workqueues of their own.
 */
#include <linux/workqueue.h>
#include "../verbs.h"

/* Ends connections after failed operations, and posts the batches of rw operations */
struct workqueue_struct *verbs_wq;
struct workqueue_struct *verbs_drain_wq;
struct workqueue_struct *verbs_save_wq;

int verbs_wqs_init(void)
{
	verbs_wq = alloc_workqueue("kofi_verbs", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!verbs_wq)
		return -ENOMEM;
	verbs_drain_wq = alloc_workqueue("kofi_verbs_drain", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!verbs_drain_wq)
		goto destroy_wq;
	verbs_save_wq = alloc_workqueue("kofi_verbs_save", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!verbs_save_wq)
		goto destroy_drain_wq;
	return 0;

destroy_drain_wq:
	destroy_workqueue(verbs_drain_wq);
destroy_wq:
	destroy_workqueue(verbs_wq);
	return -ENOMEM;
}

void verbs_wqs_exit(void)
{
	destroy_workqueue(verbs_save_wq);
	destroy_workqueue(verbs_drain_wq);
	destroy_workqueue(verbs_wq);
}
