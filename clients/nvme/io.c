// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: a command capsule goes to the target, a response comes back.
 *
 * Data of a write travel in the capsule if it has room for them.  Otherwise the request lends
 * its scatterlist to the region of its tag, which gets a key (fi_mr_enable()).  The
 * registration goes to the device with the command, and the target reads or writes the
 * memory.  The response can end the key (FI_REMOTE_INV); otherwise fi_mr_disable() ends it.
 * A request ends when its command has been sent, its response has come, and its key is dead.
 * It has two references: one of the send, one of response and key.
 *
 * A response is only the target's claim.  It ends a request only if KNVME_R_WAITS is set, and
 * the first response clears that bit.  So a second response, a response to a request that was
 * never sent, and a response with an old generation are errors.  After an error of any kind
 * the controller recovers: it drains the queues and ends the requests itself.
 *
 * A receive, or the command of the asynchronous event, that is refused with -EAGAIN is kept
 * until the endpoint calls knvme_ready().  That call may come before the operation is kept, so
 * knvme_ready() sets KNVME_Q_RX_READY or KNVME_Q_TX_READY, and a poster that finds the bit set
 * tries again itself.  A bit that is left from an earlier call costs one more try.  The block
 * layer tries a refused request again.
 *
 * Callbacks of one queue never run at the same time.  queue_rq() and complete() may run beside
 * them: queue_rq() owns its request until the request is posted, and complete() owns it again.
 */
#include <linux/blk-mq.h>
#include <linux/sched/mm.h>
#include <linux/unaligned.h>
#include "knvme.h"

static struct knvme_request *knvme_request_of(struct request *rq)
{
	return blk_mq_rq_to_pdu(rq);
}

/* An operation has failed; the log shows only failures before the recovery */
static void knvme_op_failed(struct knvme_queue *queue, const char *op, int err)
{
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;

	if (nvme_ctrl_state(ctrl) == NVME_CTRL_LIVE)
		dev_info(ctrl->device, "queue %d: %s failed: %s\n",
			 knvme_queue_index(queue), op, fi_strerror(err));
	knvme_ctrl_recover(queue->ctrl);
}

static void knvme_complete_rq(struct request *rq)
{
	struct knvme_request *req = knvme_request_of(rq);

	if (test_bit(KNVME_R_TABLE, &req->flags))
		sg_free_table_chained(&req->table, NVME_INLINE_SG_CNT);
	/* No response may end this request any more */
	req->flags = 0;
	nvme_complete_rq(rq);
}

static void knvme_put(struct knvme_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu(req);

	if (!refcount_dec_and_test(&req->ref))
		return;
	if (!nvme_try_complete_req(rq, req->status, req->result))
		knvme_complete_rq(rq);
}

static void knvme_sent(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct knvme_request *req = container_of(done, struct knvme_request,
						 sent);

	if (entry->err)
		knvme_op_failed(req->queue, "send", entry->err);
	else
		knvme_put(req);
}

static void knvme_key_ended(struct fi_done *done,
			    const struct fi_done_entry *entry)
{
	struct knvme_request *req = container_of(done, struct knvme_request,
						 ended);

	if (entry->err)
		knvme_op_failed(req->queue, "end of a key", entry->err);
	else
		knvme_put(req);
}

static struct blk_mq_tags *knvme_tags(const struct knvme_queue *queue)
{
	int index = knvme_queue_index(queue);

	return index ? queue->ctrl->tag_set.tags[index - 1] :
		       queue->ctrl->admin_tag_set.tags[0];
}

/* End the key of @req.  Returns 0: the key is dead; 1: knvme_key_ended() will be called */
static int knvme_end_key(struct knvme_request *req,
			 const struct fi_done_entry *entry)
{
	unsigned int tag = blk_mq_rq_from_pdu(req)->tag;
	struct fid_mr *region = req->queue->regions[tag];
	bool told = test_bit(KNVME_R_MAPPED, &req->flags);
	int ret;

	if (entry->flags & FI_REMOTE_INV) {
		if (!told || entry->data != fi_mr_key(region))
			return -EPROTO;
		clear_bit(KNVME_R_MAPPED, &req->flags);
		return fi_mr_disable(region, FI_REMOTE_INV, NULL);
	}
	if (!told)
		return 0;
	clear_bit(KNVME_R_MAPPED, &req->flags);
	ret = fi_mr_disable(region, 0, &req->ended);
	return ret ?: 1;
}

static int knvme_take_response(struct knvme_queue *queue,
			       const struct nvme_completion *cqe,
			       const struct fi_done_entry *entry)
{
	struct knvme_request *req;
	struct request *rq;
	int ret;

	/* Pairs with knvme_queue_start() */
	if (!smp_load_acquire(&queue->started))
		return -EPROTO;
	rq = nvme_find_rq(knvme_tags(queue), cqe->command_id);
	if (!rq)
		return -EPROTO;
	req = knvme_request_of(rq);
	if (!test_and_clear_bit(KNVME_R_WAITS, &req->flags))
		return -EPROTO;
	req->status = cqe->status;
	req->result = cqe->result;
	ret = knvme_end_key(req, entry);
	if (!ret)
		knvme_put(req);
	return min(ret, 0);
}

static void knvme_response(struct fi_done *done,
			   const struct fi_done_entry *entry)
{
	struct knvme_response *response = container_of(done,
						       struct knvme_response,
						       done);
	struct knvme_queue *queue = response->queue;
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;
	struct nvme_completion *cqe = &response->cqe;
	int ret;

	if (entry->err) {
		knvme_op_failed(queue, "receive", entry->err);
		return;
	}
	/* An asynchronous event has no request */
	if (entry->len < sizeof(*cqe)) {
		ret = -EPROTO;
	} else if (!nvme_is_aen_req(knvme_queue_index(queue), cqe->command_id)) {
		ret = knvme_take_response(queue, cqe, entry);
	} else if (test_and_clear_bit(KNVME_Q_EVENT, &queue->flags)) {
		nvme_complete_async_event(ctrl, cqe->status, &cqe->result);
		ret = 0;
	} else {
		ret = -EPROTO;
	}
	if (ret == -EPROTO)
		dev_err(ctrl->device, "queue %d: unexpected response (%zu bytes)\n",
			knvme_queue_index(queue), entry->len);
	if (!ret)
		ret = knvme_post_response(response);
	if (ret)
		knvme_ctrl_recover(queue->ctrl);
}

static void knvme_post_refused(struct knvme_queue *queue)
{
	struct llist_node *list = llist_del_all(&queue->refused);
	struct knvme_response *response, *next;
	bool failed = false;

	llist_for_each_entry_safe(response, next, list, refused) {
		if (knvme_post_response(response))
			failed = true;
	}
	if (failed)
		knvme_ctrl_recover(queue->ctrl);
}

/* Returns 0 also if the receive is posted later */
int knvme_post_response(struct knvme_response *response)
{
	struct knvme_queue *queue = response->queue;
	int ret;

	response->done.done = knvme_response;
	ret = fi_recv(queue->ep, &response->cqe, sizeof(response->cqe), NULL, 0,
		      &response->done);
	if (ret != -EAGAIN)
		return ret;
	llist_add(&response->refused, &queue->refused);
	if (test_and_clear_bit(KNVME_Q_RX_READY, &queue->flags))
		knvme_post_refused(queue);
	return 0;
}

static void knvme_no_data(struct nvme_command *cmd)
{
	struct nvme_keyed_sgl_desc *sgl = &cmd->common.dptr.ksgl;

	sgl->addr = 0;
	put_unaligned_le24(0, sgl->length);
	put_unaligned_le32(0, sgl->key);
	sgl->type = NVME_KEY_SGL_FMT_DATA_DESC << 4;
}

/* Put command and data into one capsule.  Returns its elements; 0: the data do not fit */
static int knvme_capsule(struct knvme_queue *queue, struct request *rq,
			 struct bio_vec *vecs)
{
	struct knvme_request *req = knvme_request_of(rq);
	struct nvme_sgl_desc *sgl = &req->cmd.common.dptr.sgl;
	unsigned int len = blk_rq_payload_bytes(rq);
	struct req_iterator iter;
	struct bio_vec vec;
	int count = 0;

	if (len > queue->capsule_len - sizeof(req->cmd))
		return 0;
	bvec_set_virt(&vecs[count++], &req->cmd, sizeof(req->cmd));
	/* A discard has its list in a vector of its own */
	if (rq->rq_flags & RQF_SPECIAL_PAYLOAD) {
		vecs[count++] = rq->special_vec;
	} else {
		rq_for_each_bvec(vec, rq, iter) {
			if (count > queue->capsule_vecs)
				return 0;
			vecs[count++] = vec;
		}
	}
	sgl->addr = cpu_to_le64(queue->ctrl->ctrl.icdoff);
	sgl->length = cpu_to_le32(len);
	sgl->type = NVME_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_OFFSET;
	return count;
}

/* Register the data and put their key into the command; after an error the caller undoes this */
static int knvme_map(struct knvme_queue *queue, struct request *rq)
{
	struct knvme_request *req = knvme_request_of(rq);
	struct nvme_keyed_sgl_desc *sgl = &req->cmd.common.dptr.ksgl;
	struct fid_mr *region = READ_ONCE(queue->regions[rq->tag]);
	struct fi_mr_attr attr = {
		.type	= FI_BUF_SGL,
		.access	= rq_data_dir(rq) == WRITE ? FI_REMOTE_READ :
						     FI_REMOTE_WRITE,
	};
	int ret;

	if (!region)
		return -ESHUTDOWN;
	req->table.sgl = req->inline_sg;
	if (sg_alloc_table_chained(&req->table, blk_rq_nr_phys_segments(rq),
				   req->table.sgl, NVME_INLINE_SG_CNT))
		return -ENOMEM;
	__set_bit(KNVME_R_TABLE, &req->flags);
	req->table.nents = blk_rq_map_sg(rq->q, rq, req->table.sgl);
	attr.mr_sgl = req->table.sgl;
	attr.iov_count = req->table.nents;
	ret = fi_mr_refresh(region, &attr, 0);
	if (ret)
		return ret;
	/* Only FI_DISCARD gives the region's memory back from now on */
	set_bit(KNVME_R_MAPPED, &req->flags);
	ret = fi_mr_enable(region);
	if (ret)
		return ret;
	sgl->addr = cpu_to_le64(fi_mr_addr(region));
	put_unaligned_le24(blk_rq_payload_bytes(rq), sgl->length);
	put_unaligned_le32(fi_mr_key(region), sgl->key);
	sgl->type = NVME_KEY_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_INVALIDATE;
	return 0;
}

/* Take a refused command back.  Return @ret, or -EPROTO if the target has answered the command */
static noinline int knvme_not_sent(struct knvme_request *req, int ret)
{
	return test_and_clear_bit(KNVME_R_WAITS, &req->flags) ? ret : -EPROTO;
}

/*
 * Not inline, so the elements are on the stack of no other request.  Return 0; 1: the data do not
 * fit into the capsule; or a negative errno.
 */
static noinline int knvme_send_capsule(struct knvme_queue *queue, struct request *rq)
{
	struct bio_vec vecs[1 + KNVME_MAX_CAPSULE_VECS];
	struct knvme_request *req = knvme_request_of(rq);
	struct fi_msg msg = {
		.type		= FI_BUF_BVEC,
		.msg_bvec	= vecs,
		.context	= &req->sent,
	};
	int ret;

	msg.iov_count = knvme_capsule(queue, rq, vecs);
	if (!msg.iov_count)
		return 1;
	/* The response may come before the call returns */
	set_bit(KNVME_R_WAITS, &req->flags);
	ret = fi_sendmsg(queue->ep, &msg, FI_COMPLETION);
	return likely(!ret) ? 0 : knvme_not_sent(req, ret);
}

static int knvme_send_command(struct knvme_queue *queue, struct request *rq)
{
	struct knvme_request *req = knvme_request_of(rq);
	int ret;

	if (blk_rq_nr_phys_segments(rq)) {
		ret = knvme_map(queue, rq);
		if (ret)
			return ret;
	} else {
		knvme_no_data(&req->cmd);
	}
	/* The response may come before the call returns */
	set_bit(KNVME_R_WAITS, &req->flags);
	ret = fi_send(queue->ep, &req->cmd, sizeof(req->cmd), NULL, 0, &req->sent);
	return likely(!ret) ? 0 : knvme_not_sent(req, ret);
}

/* Returns 0: the target or the recovery will end the request; else nothing has happened */
static int knvme_post(struct knvme_queue *queue, struct request *rq)
{
	struct knvme_request *req = knvme_request_of(rq);
	int ret = 1;

	refcount_set(&req->ref, 2);
	req->cmd.common.flags |= NVME_CMD_SGL_METABUF;
	if (rq_data_dir(rq) == WRITE && queue->ctrl->capsule_data && blk_rq_nr_phys_segments(rq))
		ret = knvme_send_capsule(queue, rq);
	if (ret > 0)
		ret = knvme_send_command(queue, rq);
	if (!ret)
		return 0;
	/*
	 * The region cannot be given back if its registration has left with the doorbell
	 * of another command, or if the device has gone.
	 */
	if (ret == -EPROTO ||
	    (test_and_clear_bit(KNVME_R_MAPPED, &req->flags) &&
	     fi_mr_disable(queue->regions[rq->tag], FI_DISCARD, NULL))) {
		knvme_op_failed(queue, "post", -ret);
		return 0;
	}
	if (__test_and_clear_bit(KNVME_R_TABLE, &req->flags))
		sg_free_table_chained(&req->table, NVME_INLINE_SG_CNT);
	return ret;
}

static blk_status_t knvme_queue_rq(struct blk_mq_hw_ctx *hctx,
				   const struct blk_mq_queue_data *bd)
{
	struct knvme_queue *queue = hctx->driver_data;
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;
	struct nvme_ns *ns = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	blk_status_t status;
	int ret;

	if (!nvme_check_ready(ctrl, rq, test_bit(KNVME_Q_LIVE, &queue->flags)))
		return nvme_fail_nonready_command(ctrl, rq);
	status = nvme_setup_cmd(ns, rq);
	if (status)
		return status;
	nvme_start_request(rq);
	ret = knvme_post(queue, rq);
	switch (ret) {
	case 0:
		return BLK_STS_OK;
	case -EAGAIN:
	case -ENOMEM:
		nvme_cleanup_cmd(rq);
		return BLK_STS_RESOURCE;
	case -EINVAL:
	case -EMSGSIZE:
		nvme_cleanup_cmd(rq);
		return BLK_STS_IOERR;
	default:
		/* The connection is over; another path may do */
		knvme_op_failed(queue, "post", -ret);
		return nvme_host_path_error(rq);
	}
}

static void knvme_aen_sent(struct fi_done *done,
			   const struct fi_done_entry *entry)
{
	struct knvme_ctrl *ctrl = container_of(done, struct knvme_ctrl,
					       aen_sent);

	if (entry->err)
		knvme_op_failed(&ctrl->queues[0], "event command", entry->err);
}

static void knvme_send_event(struct knvme_ctrl *ctrl)
{
	struct knvme_queue *queue = &ctrl->queues[0];
	int ret;

	do {
		ret = fi_send(queue->ep, &ctrl->aen, sizeof(ctrl->aen), NULL, 0,
			      &ctrl->aen_sent);
		if (ret == -EAGAIN)
			set_bit(KNVME_Q_EVENT_DUE, &queue->flags);
	} while (ret == -EAGAIN &&
		 test_and_clear_bit(KNVME_Q_TX_READY, &queue->flags) &&
		 test_and_clear_bit(KNVME_Q_EVENT_DUE, &queue->flags));
	if (ret && ret != -EAGAIN)
		knvme_op_failed(queue, "event command", -ret);
}

/* The endpoint has room again */
void knvme_ready(struct fid_ep *ep, u64 flags)
{
	struct knvme_queue *queue = ep->fid.context;

	if (flags == FI_RECV) {
		set_bit(KNVME_Q_RX_READY, &queue->flags);
		knvme_post_refused(queue);
	} else {
		set_bit(KNVME_Q_TX_READY, &queue->flags);
		if (test_and_clear_bit(KNVME_Q_EVENT_DUE, &queue->flags))
			knvme_send_event(queue->ctrl);
	}
}

/* Send the command that the target answers when an event has happened */
void knvme_submit_async_event(struct nvme_ctrl *nctrl)
{
	struct knvme_ctrl *ctrl = to_knvme_ctrl(nctrl);

	ctrl->aen = (struct nvme_command) {
		.common.opcode		= nvme_admin_async_event,
		.common.command_id	= NVME_AQ_BLK_MQ_DEPTH,
		.common.flags		= NVME_CMD_SGL_METABUF,
	};
	knvme_no_data(&ctrl->aen);
	ctrl->aen_sent.done = knvme_aen_sent;
	set_bit(KNVME_Q_EVENT, &ctrl->queues[0].flags);
	knvme_send_event(ctrl);
}

/*
 * Error recovery ends requests, too, but works only on a live controller.  A controller that
 * is not live is being set up or taken down by a task that may be waiting for this request.
 */
static enum blk_eh_timer_return knvme_timeout(struct request *rq)
{
	struct knvme_request *req = knvme_request_of(rq);
	struct knvme_queue *queue = req->queue;
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;
	int index = knvme_queue_index(queue);
	unsigned int noio;
	int ret;

	dev_warn(ctrl->device, "queue %d: command %#x (%s) has timed out\n",
		 index, nvme_cid(rq), nvme_fabrics_opcode_str(index, &req->cmd));
	if (nvme_ctrl_state(ctrl) == NVME_CTRL_LIVE) {
		knvme_ctrl_recover(queue->ctrl);
		return BLK_EH_RESET_TIMER;
	}
	noio = memalloc_noio_save();
	ret = knvme_queue_give_up(queue, rq->tag);
	memalloc_noio_restore(noio);
	if (ret)
		return BLK_EH_RESET_TIMER;
	nvmf_complete_timed_out_request(rq);
	return BLK_EH_DONE;
}

static int knvme_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct knvme_queue *queue = hctx->driver_data;

	return max(fi_cq_read(queue->cq, NULL, queue->depth), 0);
}

static int knvme_init_request(struct blk_mq_tag_set *set, struct request *rq,
			      unsigned int hctx_idx, unsigned int numa_node)
{
	struct knvme_ctrl *ctrl = to_knvme_ctrl(set->driver_data);
	struct knvme_request *req = knvme_request_of(rq);

	nvme_req(rq)->ctrl = &ctrl->ctrl;
	nvme_req(rq)->cmd = &req->cmd;
	req->queue = &ctrl->queues[set == &ctrl->tag_set ? hctx_idx + 1 : 0];
	req->sent.done = knvme_sent;
	req->ended.done = knvme_key_ended;
	return 0;
}

static int knvme_init_hctx(struct blk_mq_hw_ctx *hctx, void *data,
			   unsigned int index)
{
	struct knvme_ctrl *ctrl = to_knvme_ctrl(data);
	bool admin = hctx->tags == ctrl->admin_tag_set.tags[0];

	hctx->driver_data = &ctrl->queues[admin ? 0 : index + 1];
	return 0;
}

static void knvme_map_queues(struct blk_mq_tag_set *set)
{
	struct knvme_ctrl *ctrl = to_knvme_ctrl(set->driver_data);

	nvmf_map_queues(set, &ctrl->ctrl, ctrl->io_queues);
}

const struct blk_mq_ops knvme_admin_mq_ops = {
	.queue_rq	= knvme_queue_rq,
	.complete	= knvme_complete_rq,
	.init_request	= knvme_init_request,
	.init_hctx	= knvme_init_hctx,
	.timeout	= knvme_timeout,
};

const struct blk_mq_ops knvme_mq_ops = {
	.queue_rq	= knvme_queue_rq,
	.complete	= knvme_complete_rq,
	.init_request	= knvme_init_request,
	.init_hctx	= knvme_init_hctx,
	.timeout	= knvme_timeout,
	.map_queues	= knvme_map_queues,
	.poll		= knvme_poll,
};
