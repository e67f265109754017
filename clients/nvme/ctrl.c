// SPDX-License-Identifier: GPL-2.0
/*
 * A controller: its states, as nvme-core defines them, and the tasks that change them.
 *
 *	NEW -> CONNECTING		the user connects, or
 *	LIVE -> RESETTING -> CONNECTING	error recovery, or a reset
 *	CONNECTING -> LIVE		knvme_ctrl_setup(), once or again and again
 *	any -> DELETING			the user, or no more attempts
 *
 * One task at a time sets a controller up: the user's, the reset worker or the reconnect
 * worker.  The state says which task, and nvme_change_ctrl_state() lets one task win.  To take
 * a controller down its block queues are quiesced, so that no request is posted; its queues
 * are stopped, so that no request completes; its requests are ended by nvme-core; and its queues
 * are closed.  Requests that may be tried again stay with the block layer meanwhile.
 *
 * When the device goes, each queue is notified.  The controller treats this like any other
 * error: it takes its queues down, and its attempts to reconnect find a device once one is
 * there again.
 *
 * Writeback may wait for a controller that is taken down and set up again, so that follows
 * Documentation/reclaim.rst.  Each task but the user's allocates in a NOIO frame: the workers here,
 * and the timeout of a request.  The fabric and the domain stay open, so the first attempt to
 * reconnect needs no fi_getinfo().  An attempt that fails closes them, as the way to the target may
 * have changed: the next one looks for a device again, and so may wait for memory.
 */
#include <linux/sched/mm.h>
#include "knvme.h"

static int knvme_start_io(struct knvme_ctrl *ctrl, int first, int end)
{
	int i, ret;

	for (i = first; i < end; i++) {
		ret = knvme_queue_start(&ctrl->queues[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static void knvme_close_io(struct knvme_ctrl *ctrl)
{
	int i;

	for (i = 1; i < ctrl->ctrl.queue_count; i++)
		knvme_queue_close(&ctrl->queues[i]);
}

static void knvme_teardown_io(struct knvme_ctrl *ctrl, bool remove)
{
	int i;

	if (ctrl->ctrl.queue_count <= 1)
		return;
	nvme_quiesce_io_queues(&ctrl->ctrl);
	nvme_sync_io_queues(&ctrl->ctrl);
	for (i = 1; i < ctrl->ctrl.queue_count; i++)
		knvme_queue_stop(&ctrl->queues[i]);
	nvme_cancel_tagset(&ctrl->ctrl);
	if (remove) {
		nvme_unquiesce_io_queues(&ctrl->ctrl);
		nvme_remove_io_tag_set(&ctrl->ctrl);
	}
	knvme_close_io(ctrl);
}

static void knvme_teardown_admin(struct knvme_ctrl *ctrl, bool remove)
{
	nvme_quiesce_admin_queue(&ctrl->ctrl);
	blk_sync_queue(ctrl->ctrl.admin_q);
	cancel_work_sync(&ctrl->ctrl.async_event_work);
	knvme_queue_stop(&ctrl->queues[0]);
	nvme_cancel_admin_tagset(&ctrl->ctrl);
	if (remove) {
		nvme_unquiesce_admin_queue(&ctrl->ctrl);
		nvme_remove_admin_tag_set(&ctrl->ctrl);
	}
	knvme_queue_close(&ctrl->queues[0]);
}

/* Opens the admin queue on the device that is open, or else on another one */
static int knvme_open_admin(struct knvme_ctrl *ctrl)
{
	bool open = ctrl->domain;
	int ret;

	ret = knvme_port_open(ctrl);
	if (ret)
		return ret;
	ret = knvme_queue_open(&ctrl->queues[0], NVME_AQ_DEPTH);
	if (ret != -ENODEV || !open)
		return ret;
	knvme_port_close(ctrl);
	ret = knvme_port_open(ctrl);
	return ret ?: knvme_queue_open(&ctrl->queues[0], NVME_AQ_DEPTH);
}

static int knvme_setup_admin(struct knvme_ctrl *ctrl, bool new)
{
	int ret;

	ret = knvme_open_admin(ctrl);
	if (ret)
		return ret;
	if (new) {
		ret = nvme_alloc_admin_tag_set(&ctrl->ctrl, &ctrl->admin_tag_set,
					       &knvme_admin_mq_ops,
					       sizeof(struct knvme_request));
		if (ret)
			goto close_queue;
	}
	ret = knvme_queue_start(&ctrl->queues[0]);
	if (!ret)
		ret = nvme_enable_ctrl(&ctrl->ctrl);
	if (ret)
		goto teardown;
	/* One page is spare, as a request may begin and end inside of a page */
	ctrl->ctrl.max_segments = ctrl->max_pages - 1;
	ctrl->ctrl.max_hw_sectors = (ctrl->max_pages - 1) << (ilog2(SZ_4K) - 9);
	ctrl->ctrl.max_integrity_segments = 0;
	nvme_unquiesce_admin_queue(&ctrl->ctrl);
	ret = nvme_init_ctrl_finish(&ctrl->ctrl, false);
	if (ret)
		goto teardown;
	return 0;
teardown:
	knvme_teardown_admin(ctrl, new);
	return ret;
close_queue:
	knvme_queue_close(&ctrl->queues[0]);
	return ret;
}

static int knvme_open_io(struct knvme_ctrl *ctrl)
{
	unsigned int count = nvmf_nr_io_queues(ctrl->ctrl.opts);
	int i, ret;

	ret = nvme_set_queue_count(&ctrl->ctrl, &count);
	if (ret)
		return ret;
	if (!count) {
		dev_err(ctrl->ctrl.device, "the target grants no I/O queue\n");
		return -ENOMEM;
	}
	ctrl->ctrl.queue_count = count + 1;
	nvmf_set_io_queues(ctrl->ctrl.opts, count, ctrl->io_queues);
	for (i = 1; i <= count; i++) {
		ret = knvme_queue_open(&ctrl->queues[i], ctrl->ctrl.sqsize + 1);
		if (ret)
			return ret;
	}
	return 0;
}

/* Set the block layer's number of queues while no request is in flight */
static int knvme_resize_io(struct knvme_ctrl *ctrl)
{
	nvme_start_freeze(&ctrl->ctrl);
	nvme_unquiesce_io_queues(&ctrl->ctrl);
	if (!nvme_wait_freeze_timeout(&ctrl->ctrl, NVME_IO_TIMEOUT)) {
		nvme_unfreeze(&ctrl->ctrl);
		return -ENODEV;
	}
	blk_mq_update_nr_hw_queues(ctrl->ctrl.tagset,
				   ctrl->ctrl.queue_count - 1);
	nvme_unfreeze(&ctrl->ctrl);
	return 0;
}

static int knvme_setup_io(struct knvme_ctrl *ctrl, bool new)
{
	int ret, had;

	ret = knvme_open_io(ctrl);
	if (ret)
		goto close;
	if (new) {
		ret = nvme_alloc_io_tag_set(&ctrl->ctrl, &ctrl->tag_set,
					    &knvme_mq_ops,
					    ctrl->ctrl.opts->nr_poll_queues ?
					    HCTX_MAX_TYPES : 2,
					    sizeof(struct knvme_request));
		if (ret)
			goto close;
	}
	/* The tag set still has the number of queues of the last set-up */
	had = min(ctrl->tag_set.nr_hw_queues + 1, ctrl->ctrl.queue_count);
	ret = knvme_start_io(ctrl, 1, had);
	if (!ret && !new)
		ret = knvme_resize_io(ctrl);
	if (!ret)
		ret = knvme_start_io(ctrl, had, ctrl->ctrl.queue_count);
	if (!ret)
		return 0;
	knvme_teardown_io(ctrl, new);
	/* Requests need not wait for the next attempt */
	nvme_unquiesce_io_queues(&ctrl->ctrl);
	return ret;
close:
	knvme_close_io(ctrl);
	return ret;
}

/* Check that this transport can work with the properties that the target reports */
static int knvme_check_target(struct knvme_ctrl *ctrl, bool new)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	u16 depth = min_t(u16, NVME_RDMA_MAX_QUEUE_SIZE, nctrl->maxcmd);
	const char *wrong = NULL;

	if (nctrl->icdoff)
		wrong = "an offset of data in capsules";
	else if (!(nctrl->sgls & BIT(2)))
		wrong = "no keyed SGLs, which are mandatory";
	else if (nctrl->ioccsz < sizeof(struct nvme_command) / 16)
		wrong = "capsules with no room for a command";
	else if (depth < 2 || !nctrl->sqsize)
		wrong = "no room for two commands in a queue";
	nctrl->sqsize = min_t(u16, nctrl->sqsize, depth - 1);
	/* A request keeps its tag for good, and a queue has a region and a receive for each tag */
	if (!wrong && !new && nctrl->tagset &&
	    nctrl->tagset->queue_depth > nctrl->sqsize + 1)
		wrong = "queues smaller than at first";
	if (wrong) {
		dev_err(nctrl->device, "refused: the target has %s\n", wrong);
		return -EOPNOTSUPP;
	}
	ctrl->capsule_data = nctrl->sgls & BIT(20);
	return 0;
}

/*
 * Connects a controller in the state CONNECTING, whose queues are not open.  Returns 0, a
 * negative error code, or a positive status of NVMe.
 */
int knvme_ctrl_setup(struct knvme_ctrl *ctrl, bool new)
{
	int ret;

	WRITE_ONCE(ctrl->failed, false);
	ret = knvme_setup_admin(ctrl, new);
	if (ret)
		goto close_port;
	ret = knvme_check_target(ctrl, new);
	if (ret)
		goto teardown_admin;
	if (ctrl->ctrl.queue_count > 1) {
		ret = knvme_setup_io(ctrl, new);
		if (ret)
			goto teardown_admin;
	}
	ret = -ECONNABORTED;
	if (!READ_ONCE(ctrl->failed) &&
	    nvme_change_ctrl_state(&ctrl->ctrl, NVME_CTRL_LIVE)) {
		nvme_start_ctrl(&ctrl->ctrl);
		/* A failure before the controller was live has not started a recovery */
		if (READ_ONCE(ctrl->failed))
			knvme_ctrl_recover(ctrl);
		return 0;
	}
	knvme_teardown_io(ctrl, new);
teardown_admin:
	nvme_stop_keep_alive(&ctrl->ctrl);
	knvme_teardown_admin(ctrl, new);
close_port:
	knvme_port_close(ctrl);
	return ret;
}

static void knvme_reconnect_or_remove(struct knvme_ctrl *ctrl, int status)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;

	/* A reset or the removal has begun meanwhile */
	if (nvme_ctrl_state(nctrl) != NVME_CTRL_CONNECTING)
		return;
	if (nvmf_should_reconnect(nctrl, status)) {
		dev_info(nctrl->device, "reconnecting in %d s\n",
			 nctrl->opts->reconnect_delay);
		queue_delayed_work(nvme_wq, &ctrl->reconnect_work,
				   nctrl->opts->reconnect_delay * HZ);
	} else {
		dev_info(nctrl->device, "no more attempts to reconnect\n");
		nvme_delete_ctrl(nctrl);
	}
}

static void knvme_set_up_again(struct knvme_ctrl *ctrl)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	int ret;

	nctrl->nr_reconnects++;
	ret = knvme_ctrl_setup(ctrl, false);
	if (!ret) {
		dev_info(nctrl->device, "reconnected, attempt %d\n",
			 nctrl->nr_reconnects);
		nctrl->nr_reconnects = 0;
		return;
	}
	dev_info(nctrl->device, "attempt %d of %d to reconnect has failed: %d\n",
		 nctrl->nr_reconnects, nctrl->opts->max_reconnects, ret);
	knvme_reconnect_or_remove(ctrl, ret);
}

static void knvme_reconnect(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	knvme_set_up_again(container_of(to_delayed_work(work),
					struct knvme_ctrl, reconnect_work));
	memalloc_noio_restore(noio);
}

static void knvme_recovery(struct work_struct *work)
{
	struct knvme_ctrl *ctrl = container_of(work, struct knvme_ctrl,
					       err_work);
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int noio = memalloc_noio_save();

	nvme_stop_keep_alive(nctrl);
	flush_work(&nctrl->async_event_work);
	knvme_teardown_io(ctrl, false);
	nvme_unquiesce_io_queues(nctrl);
	knvme_teardown_admin(ctrl, false);
	nvme_unquiesce_admin_queue(nctrl);
	nvme_auth_stop(nctrl);
	if (nvme_change_ctrl_state(nctrl, NVME_CTRL_CONNECTING))
		knvme_reconnect_or_remove(ctrl, 0);
	memalloc_noio_restore(noio);
}

/*
 * Handle an error of a connection.  A controller that is live is taken down and set up
 * again; a set-up under way fails.  Any context.
 */
void knvme_ctrl_recover(struct knvme_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->failed, true);
	if (!nvme_change_ctrl_state(&ctrl->ctrl, NVME_CTRL_RESETTING))
		return;
	dev_warn(ctrl->ctrl.device, "starting error recovery\n");
	queue_work(nvme_reset_wq, &ctrl->err_work);
}

static void knvme_shutdown(struct knvme_ctrl *ctrl, bool remove)
{
	knvme_teardown_io(ctrl, remove);
	nvme_quiesce_admin_queue(&ctrl->ctrl);
	nvme_disable_ctrl(&ctrl->ctrl, remove);
	knvme_teardown_admin(ctrl, remove);
	if (remove)
		knvme_port_close(ctrl);
}

static void knvme_reset(struct work_struct *work)
{
	struct knvme_ctrl *ctrl = container_of(work, struct knvme_ctrl,
					       ctrl.reset_work);
	unsigned int noio = memalloc_noio_save();

	nvme_stop_ctrl(&ctrl->ctrl);
	knvme_shutdown(ctrl, false);
	if (nvme_change_ctrl_state(&ctrl->ctrl, NVME_CTRL_CONNECTING))
		knvme_set_up_again(ctrl);
	memalloc_noio_restore(noio);
}

static void knvme_delete(struct nvme_ctrl *ctrl)
{
	knvme_shutdown(to_knvme_ctrl(ctrl), true);
}

static void knvme_stop(struct nvme_ctrl *nctrl)
{
	struct knvme_ctrl *ctrl = to_knvme_ctrl(nctrl);

	flush_work(&ctrl->err_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
}

static void knvme_free(struct nvme_ctrl *nctrl)
{
	struct knvme_ctrl *ctrl = to_knvme_ctrl(nctrl);

	/* nvme-fabrics frees the options of a controller that was never in the list */
	if (!list_empty(&ctrl->node)) {
		knvme_ctrl_forget(ctrl);
		nvmf_free_options(nctrl->opts);
	}
	kfree(ctrl);
}

const struct nvme_ctrl_ops knvme_ctrl_ops = {
	.name			= "kofi",
	.module			= THIS_MODULE,
	.flags			= NVME_F_FABRICS,
	.reg_read32		= nvmf_reg_read32,
	.reg_read64		= nvmf_reg_read64,
	.reg_write32		= nvmf_reg_write32,
	.subsystem_reset	= nvmf_subsystem_reset,
	.free_ctrl		= knvme_free,
	.submit_async_event	= knvme_submit_async_event,
	.delete_ctrl		= knvme_delete,
	.get_address		= nvmf_get_address,
	.stop_ctrl		= knvme_stop,
};

void knvme_ctrl_init(struct knvme_ctrl *ctrl)
{
	INIT_LIST_HEAD(&ctrl->node);
	INIT_DELAYED_WORK(&ctrl->reconnect_work, knvme_reconnect);
	INIT_WORK(&ctrl->err_work, knvme_recovery);
	INIT_WORK(&ctrl->ctrl.reset_work, knvme_reset);
}
