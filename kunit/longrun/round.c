// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The two sides of a round.
 *
 * Reads and atomic operations have completed before the message that ends the
 * client's part is sent: a read whose answer got lost is made again by the device,
 * and the server's memory must be the same then.
 *
 * With apart=1 an atomic operation waits until messages and writes before it have
 * completed, and nothing is injected, as nobody hears of that.  rxe acknowledges a
 * duplicate of those with the number of an atomic operation that came later
 * (rxe_resp.c:duplicate_request(), atomic_reply()), and takes that acknowledgment for the
 * operation's end (rxe_comp.c:check_ack()), though its result has got lost.  In the
 * kernels that are built here that is mended.
 */
#include <linux/string.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "longrun.h"

static u64 lr_slot_number(const struct lr_link *link, u32 slot)
{
	return link->round * LR_SLOTS + slot;
}

/* Length and flags are what both sides know; the rest is checked against the seed */
static void lr_msg_fill(struct lr_link *link, enum lr_stuff stuff, u8 *buf, u32 len, u32 flags)
{
	struct lr_msg msg = {
		.conn	= link->hello.conn,
		.seq	= link->sent,
		.len	= len,
		.flags	= flags,
	};

	memcpy(buf, &msg, sizeof(msg));
	lr_fill(link, stuff, msg.seq, buf + sizeof(msg), len - sizeof(msg));
}

/* Posts again and again as long as there is no room */
#define lr_post(link, call)						\
({									\
	unsigned long _until = lr_until();				\
	ssize_t _ret;							\
									\
	while ((_ret = (call)) == -EAGAIN) {				\
		_ret = lr_again(link, _until);				\
		if (_ret)						\
			break;						\
	}								\
	_ret;								\
})

static int lr_sent(struct lr_link *link, struct lr_op *op, u32 len, int ret)
{
	if (ret)
		return lr_trouble(link, "post an operation", ret, 0);
	if (op)
		lr_posted(link, op);
	lr_add(LR_BYTES, len);
	return 0;
}

static int lr_send(struct lr_link *link, enum lr_stuff stuff, u32 len, u32 flags)
{
	struct lr_op *op = lr_tx(link);
	int ret;

	if (!op)
		return -EIO;
	lr_msg_fill(link, stuff, op->buf, len, flags);
	ret = lr_sent(link, op, len,
		      lr_post(link, fi_send(link->ep, op->buf, len, NULL, link->peer, op)));
	if (ret)
		return ret;
	link->sent++;
	lr_count(LR_SENT);
	return 0;
}

static int lr_inject(struct lr_link *link, u32 len)
{
	struct lr_op *op;
	int ret;

	if (lr_apart || len > lr_info->tx_attr->inject_size)
		return lr_send(link, LR_OF_MSG, len, 0);
	op = lr_tx(link);
	if (!op)
		return -EIO;
	lr_msg_fill(link, LR_OF_MSG, op->buf, len, 0);
	ret = lr_sent(link, NULL, len,
		      lr_post(link, fi_inject(link->ep, op->buf, len, link->peer)));
	memset(op->buf, 0, len);
	if (ret)
		return ret;
	link->sent++;
	lr_count(LR_SENT);
	return 0;
}

static u64 lr_remote(struct lr_link *link, size_t offset)
{
	return link->welcome.addr + offset;
}

static int lr_write(struct lr_link *link, const struct lr_step *step)
{
	u64 to = lr_remote(link, offsetof(struct lr_memory, written) + step->slot * LR_SLOT);
	u64 key = link->welcome.key;
	struct lr_op *op = lr_tx(link);
	int ret;

	if (!op)
		return -EIO;
	lr_fill(link, LR_OF_WRITE, lr_slot_number(link, step->slot), op->buf, step->len);
	if (step->kind == LR_WRITE)
		ret = lr_post(link, fi_write(link->ep, op->buf, step->len, NULL,
					     link->peer, to, key, op));
	else
		ret = lr_post(link, fi_writedata(link->ep, op->buf, step->len, NULL,
						 (u32)link->sent, link->peer, to, key, op));
	ret = lr_sent(link, op, step->len, ret);
	if (ret)
		return ret;
	lr_count(LR_WRITTEN);
	if (step->kind == LR_WRITEDATA) {
		link->sent++;
		lr_count(LR_SENT);
	}
	return 0;
}

/* Where a read goes to; it is looked at later than it completes */
static u8 *lr_read_to(struct lr_link *link, const struct lr_step *step)
{
	return link->reads + step->slot * LR_SLOT;
}

static int lr_read(struct lr_link *link, const struct lr_step *step)
{
	u64 from = lr_remote(link, offsetof(struct lr_memory, read) + step->slot * LR_SLOT);
	u8 *to = lr_read_to(link, step);
	struct lr_op *op = lr_tx(link);

	if (!op)
		return -EIO;
	memset(to, 0, step->len);
	return lr_sent(link, op, step->len,
		       lr_post(link, fi_read(link->ep, to, step->len, NULL,
					     link->peer, from, link->welcome.key, op)));
}

/* Where the result of step @nr goes, and behind it what is added */
static u64 *lr_result(struct lr_link *link, u32 nr)
{
	return link->results + 2 * nr;
}

static int lr_atomic(struct lr_link *link, const struct lr_step *step, u32 nr)
{
	u64 at = lr_remote(link, offsetof(struct lr_memory, sum));
	u64 *result = lr_result(link, nr);
	struct lr_op *op;
	int ret = lr_apart ? lr_settle(link) : 0;

	if (ret)
		return ret;
	op = lr_tx(link);
	if (!op)
		return -EIO;
	result[0] = ~0ULL;
	result[1] = step->len;
	return lr_sent(link, op, sizeof(u64),
		       lr_post(link, fi_fetch_atomic(link->ep, result + 1, 1,
						     NULL, result, NULL,
						     link->peer, at,
						     link->welcome.key,
						     FI_UINT64, FI_SUM, op)));
}

static int lr_do(struct lr_link *link, const struct lr_step *step, u32 nr)
{
	switch (step->kind) {
	case LR_SEND:
		return lr_send(link, LR_OF_MSG, step->len, 0);
	case LR_INJECT:
		return lr_inject(link, step->len);
	case LR_WRITE:
	case LR_WRITEDATA:
		return lr_write(link, step);
	case LR_READ_SLOT:
		return lr_read(link, step);
	default:
		return lr_atomic(link, step, nr);
	}
}

static void lr_expect(struct lr_link *link, bool as_it_should, const char *what, u64 got, u64 want)
{
	if (!as_it_should)
		lr_corrupted(link, what, got, want);
}

/* What is told is where the first word is that differs */
static void lr_expect_bytes(struct lr_link *link, enum lr_stuff stuff, u64 number, const char *what,
			    const u8 *buf, size_t len)
{
	size_t at = lr_intact(link, stuff, number, buf, len);

	lr_expect(link, at == len, what, at, len);
}

/* What reads and atomic operations have brought */
static void lr_check_results(struct lr_link *link, const struct lr_plan *plan)
{
	const struct lr_step *step;
	u32 i;

	for (i = 0; i < plan->nr; i++) {
		step = &plan->steps[i];
		if (step->kind == LR_READ_SLOT) {
			lr_expect_bytes(link, LR_OF_READ,
					lr_slot_number(link, step->slot),
					"read", lr_read_to(link, step),
					step->len);
			lr_count(LR_READ);
		} else if (step->kind == LR_ADD) {
			lr_expect(link, *lr_result(link, i) == link->sum,
				  "old value", *lr_result(link, i), link->sum);
			link->sum += step->len;
			lr_count(LR_ADDED);
		}
	}
}

/* The number of a message: more than expected tells of loss, less of a duplicate */
static bool lr_in_turn(struct lr_link *link, u64 seq)
{
	lr_count(LR_RECEIVED);
	if (seq < link->received) {
		lr_count(LR_DUPLICATED);
		return false;
	}
	lr_add(LR_LOST, seq - link->received);
	link->received = seq + 1;
	return true;
}

static void lr_check_msg(struct lr_link *link, enum lr_stuff stuff,
			 const struct lr_arrival *arrival, u32 len)
{
	const u8 *buf = arrival->op->buf;
	struct lr_msg msg;

	memcpy(&msg, buf, sizeof(msg));
	lr_expect(link, msg.conn == link->hello.conn, "message's connection",
		  msg.conn, link->hello.conn);
	if (arrival->len != len || msg.len != len)
		lr_corrupted(link, "message's length", arrival->len, len);
	else
		lr_expect_bytes(link, stuff, msg.seq, "message",
				buf + sizeof(msg), len - sizeof(msg));
}

/* The next message, which has to be one of @len bytes; its flags go to @flags */
static int lr_await_msg(struct lr_link *link, enum lr_stuff stuff, u32 len, u32 *flags)
{
	struct lr_arrival arrival;
	struct lr_msg msg;
	int ret;

	do {
		ret = lr_next(link, false, &arrival);
		if (ret)
			return ret;
		if (!arrival.op)
			return lr_trouble(link, "take the data of a write for a message",
					  -EPROTO, 0);
		memcpy(&msg, arrival.op->buf, sizeof(msg));
		lr_check_msg(link, stuff, &arrival, len);
		ret = lr_recv(link, arrival.op);
		if (ret)
			return ret;
	} while (!lr_in_turn(link, msg.seq));
	*flags = msg.flags;
	return 0;
}

/* The data of a write, which may have taken a receive */
static int lr_await_data(struct lr_link *link)
{
	struct lr_arrival arrival;
	u64 seq;
	int ret;

	do {
		ret = lr_next(link, true, &arrival);
		if (ret)
			return ret;
		lr_expect(link, arrival.flags & FI_REMOTE_CQ_DATA,
			  "data's flags", arrival.flags, FI_REMOTE_CQ_DATA);
		seq = arrival.data;
		ret = arrival.op ? lr_recv(link, arrival.op) : 0;
		if (ret)
			return ret;
	} while (!lr_in_turn(link, seq));
	return 0;
}

static int lr_client_part(struct lr_link *link, const struct lr_plan *plan, bool final)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < plan->nr && !ret; i++)
		ret = lr_do(link, &plan->steps[i], i);
	if (!ret)
		ret = lr_settle(link);
	if (ret)
		return ret;
	lr_check_results(link, plan);
	return lr_send(link, LR_OF_MSG, sizeof(struct lr_msg), LR_END | (final ? LR_FINAL : 0));
}

int lr_client_round(struct lr_link *link, bool final)
{
	u32 i, flags = 0;
	struct lr_plan plan;
	int ret;

	link->last = final;
	lr_plan(link, &plan);
	ret = lr_client_part(link, &plan, final);
	for (i = 0; i < plan.nr_answers && !ret; i++)
		ret = lr_await_msg(link, LR_OF_ANSWER, plan.answers[i], &flags);
	if (!ret)
		ret = final ? lr_settle_last(link, false) : lr_settle(link);
	if (ret)
		return ret;
	lr_expect(link, flags & LR_END, "end's flags", flags, LR_END);
	link->round++;
	lr_count(LR_ROUNDS);
	return 0;
}

static int lr_hear(struct lr_link *link, const struct lr_step *step)
{
	u32 flags;

	switch (step->kind) {
	case LR_SEND:
	case LR_INJECT:
		return lr_await_msg(link, LR_OF_MSG, step->len, &flags);
	case LR_WRITEDATA:
		return lr_await_data(link);
	default:
		return 0;
	}
}

/* The client has been told that all this is there */
static void lr_check_memory(struct lr_link *link, const struct lr_plan *plan)
{
	const struct lr_step *step;
	u32 i;

	for (i = 0; i < plan->nr; i++) {
		step = &plan->steps[i];
		if (step->kind == LR_WRITE || step->kind == LR_WRITEDATA) {
			lr_expect_bytes(link, LR_OF_WRITE,
					lr_slot_number(link, step->slot),
					"written place",
					link->memory->written[step->slot],
					step->len);
			lr_count(LR_FOUND);
		} else if (step->kind == LR_ADD) {
			link->sum += step->len;
			lr_count(LR_SUMMED);
		}
	}
	lr_expect(link, link->memory->sum == link->sum, "sum", link->memory->sum, link->sum);
	memset(link->memory->written, 0, sizeof(link->memory->written));
}

/* The memory that the client reads in the round that comes */
void lr_server_prepare(struct lr_link *link)
{
	u32 i;

	for (i = 0; i < LR_SLOTS; i++)
		lr_fill(link, LR_OF_READ, lr_slot_number(link, i), link->memory->read[i], LR_SLOT);
}

static int lr_answer(struct lr_link *link, const struct lr_plan *plan)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < plan->nr_answers && !ret; i++)
		ret = lr_send(link, LR_OF_ANSWER, plan->answers[i],
			      i + 1 == plan->nr_answers ? LR_END : 0);
	return ret;
}

int lr_server_round(struct lr_link *link, bool *final)
{
	struct lr_plan plan;
	u32 i, flags = 0;
	int ret = 0;

	lr_plan(link, &plan);
	for (i = 0; i < plan.nr && !ret; i++)
		ret = lr_hear(link, &plan.steps[i]);
	if (!ret)
		ret = lr_await_msg(link, LR_OF_MSG, sizeof(struct lr_msg), &flags);
	if (ret)
		return ret;
	lr_expect(link, flags & LR_END, "end's flags", flags, LR_END);
	lr_check_memory(link, &plan);
	*final = flags & LR_FINAL;
	link->round++;
	lr_server_prepare(link);
	lr_count(LR_ROUNDS);
	ret = lr_answer(link, &plan);
	if (ret)
		return ret;
	return *final ? lr_settle_last(link, true) : lr_settle(link);
}
