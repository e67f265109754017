// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The matching engine beside the model of it (srx_model.h).  Both make the same random
 * steps; what calls return, what is matched, and what is in the completion queue has to be
 * the same after each.
 *
 * The model says nothing of when the provider is called back.  That is checked by its
 * meaning: ops->resume() comes only after -EAGAIN, once, and a message for which it has
 * not come would be answered -EAGAIN again.
 */
#include "model.h"

#define NR_SEEDS	20
#define NR_STEPS	4000

static u32 below(struct model *m, u32 limit)
{
	return prandom_u32_state(&m->rnd) % limit;
}

/* A failure says how to come back here */
static void agrees(struct model *m, long is, long should)
{
	KUNIT_ASSERT_EQ_MSG(m->test, is, should, "seed %llu, step %d: %ps",
			    m->seed, m->step, __builtin_return_address(0));
}

static fi_addr_t any_src(struct model *m)
{
	u32 src = below(m, 4);

	return src ? : FI_ADDR_UNSPEC;
}

/* Has the engine called back when it had to, and only then? */
static void check_resumes(struct model *m)
{
	int calls = m->us->resumes - m->resumes, i, due = 0;
	struct message *msg;

	for (i = 0; i < NR_MSGS; i++) {
		msg = &m->msgs[i];
		if (msg->state == MSG_OUTSIDE && !msg->resumed) {
			due++;
			agrees(m, calls || stays_outside(m, msg), true);
			msg->resumed = calls;
		}
	}
	KUNIT_ASSERT_LE_MSG(m->test, calls, due ? 1 : 0, "seed %llu, step %d", m->seed, m->step);
	m->resumes = m->us->resumes;
}

static void step_arrive(struct model *m)
{
	int nr = below(m, NR_MSGS), ret;
	struct message *msg = &m->msgs[nr];

	if (msg->state == MSG_FREE) {
		msg->outside = !below(m, 4);
		msg->what = (struct kofi_srx_arrival) {
			.ep		= &m->us->ep[m->how.shared && below(m, 2)],
			.flags		= below(m, 4) ? FI_TAGGED : FI_MSG,
			.tag		= below(m, 4),
			.src_addr	= any_src(m),
			.len		= below(m, 40),
			.data		= nr,
		};
	} else if (msg->state != MSG_OUTSIDE) {
		return;
	}
	m->us->outside = msg->outside;
	ret = ut_arrive(m->us, nr, msg->what);
	agrees(m, ret, arrives(m, msg));
	/* A call that came meanwhile was for what had been answered before */
	check_resumes(m);
	if (ret == -EAGAIN) {
		msg->state = MSG_OUTSIDE;
		msg->resumed = false;
	}
}

static struct fi_tagged_xfer any_recv(struct model *m)
{
	static const u64 ignores[] = { 0, 0, 1, 3 };

	return (struct fi_tagged_xfer) {
		.xfer.type	= below(m, 4) ? FI_OP_TRECV : FI_OP_RECV,
		.tag		= below(m, 4),
		.ignore		= ignores[below(m, 4)],
		.xfer.addr	= any_src(m),
		.xfer.flags	= below(m, 2) ? FI_COMPLETION : 0,
	};
}

static void step_post(struct model *m)
{
	struct recv *recv = free_recv(m);
	struct fi_tagged_xfer op = any_recv(m);
	size_t len = below(m, 64);
	int nr = below(m, NR_RECVS);

	if (!below(m, 3)) {
		op.xfer.flags |= FI_MULTI_RECV;
		len += 40;
	}
	if (recv)
		*recv = (struct recv) {
			.state = RECV_DEFERRED, .op = op, .nr = nr,
			.seq = m->seq++, .len = len,
		};
	run(m);
	agrees(m, ut_post_len(m->us, nr, len, op), recv ? 0 : -EAGAIN);
}

/* What a peek says of a message, or of none */
static void peeked(struct model *m, struct recv *recv, struct message *msg)
{
	if (!msg)
		completes(m, recv, (struct ut_comp) {
			.nr = recv->nr, .flags = UT_TRECV, .err = ENOMSG,
			.tag = recv->op.tag,
		});
	else
		completes(m, recv, (struct ut_comp) {
			.nr = recv->nr, .flags = UT_TRECV,
			.len = msg->what.len, .data = msg->what.data,
			.tag = msg->what.tag, .src = msg->what.src_addr,
		});
}

static void step_peek(struct model *m)
{
	static const u64 flags[] = { 0, FI_CLAIM, FI_DISCARD };
	struct recv *recv = free_recv(m);
	struct fi_tagged_xfer op = any_recv(m);
	struct message *msg = NULL;
	int nr = below(m, NR_RECVS), ret = recv ? 0 : -EAGAIN;

	op.xfer.type = FI_OP_TRECV;
	op.xfer.flags |= FI_PEEK | flags[below(m, 3)];
	if (recv) {
		*recv = (struct recv) { .op = op, .nr = nr };
		msg = oldest_msg(m, recv);
		if (!msg && m->how.shared)
			ret = -ENOMSG;
		else
			peeked(m, recv, msg);
	}
	if (msg && op.xfer.flags & FI_CLAIM) {
		msg->state = MSG_CLAIMED;
		msg->claimer = nr;
		msg->seq = m->seq++;
	} else if (msg && op.xfer.flags & FI_DISCARD) {
		msg->state = MSG_FREE;
		msg->discards++;
	}
	run(m);
	agrees(m, ut_post(m->us, nr, op), ret);
}

static void step_claim(struct model *m)
{
	int nr = below(m, NR_RECVS);
	struct message *msg = oldest_claim(m, nr);
	struct recv *recv = free_recv(m);
	struct fi_tagged_xfer op = any_recv(m);
	size_t len = below(m, 64);

	op.xfer.type = FI_OP_TRECV;
	op.xfer.flags |= FI_CLAIM | (below(m, 2) ? FI_DISCARD : 0);
	if (recv && msg) {
		*recv = (struct recv) { .op = op, .nr = nr, .len = len };
		if (!(op.xfer.flags & FI_DISCARD)) {
			takes(m, recv, msg);
		} else {
			msg->state = MSG_FREE;
			msg->discards++;
		}
		if (op.xfer.flags & FI_DISCARD && reported(m, recv))
			completes(m, recv, (struct ut_comp) {
				.nr = nr, .flags = UT_TRECV,
				.len = msg->what.len, .tag = msg->what.tag,
				.src = msg->what.src_addr,
			});
	}
	run(m);
	agrees(m, ut_post_len(m->us, nr, len, op), !recv ? -EAGAIN : msg ? 0 : -EINVAL);
}

static void step_cancel(struct model *m)
{
	int nr = below(m, NR_RECVS);
	struct recv *recv = oldest_recv(m, RECV_POSTED, NULL, nr) ? :
			    oldest_recv(m, RECV_DEFERRED, NULL, nr);

	if (recv) {
		recv->spent = true;
		if (recv->nmsgs)
			recv->state = RECV_MATCHED;
		else if (m->how.shared)
			recv->state = RECV_FREE;
		else
			completes(m, recv, (struct ut_comp) {
				.nr = nr, .err = ECANCELED,
				.flags = FI_RECV | kind_of(recv) |
					 (recv->op.xfer.flags & FI_MULTI_RECV),
				.tag = kind_of(recv) == FI_TAGGED ?
				       recv->op.tag : 0,
			});
		run(m);
	}
	agrees(m, ut_cancel(m->us, nr), recv ? 0 : -ENOENT);
}

static void step_withdraw(struct model *m)
{
	int nr = below(m, NR_MSGS);
	struct message *msg = &m->msgs[nr];
	bool waits = msg->state == MSG_WAITING || msg->state == MSG_CLAIMED;

	/* What is outside has never been given to the engine */
	if (!waits && msg->state != MSG_MATCHED)
		return;
	if (waits) {
		msg->state = MSG_FREE;
		run(m);
	}
	agrees(m, kofi_srx_withdraw(&m->us->srx, &m->us->msg[nr].msg), waits);
}

/* The completion of a message, with its bytes or without */
static void finished(struct model *m, struct message *msg, int err)
{
	size_t olen = msg->what.len - msg->len;
	struct recv *recv = msg->recv;
	bool last = is_multi(recv) && !--recv->nmsgs && recv->spent;
	struct ut_comp comp = {
		.nr	= recv->nr,
		.flags	= FI_RECV | msg->what.flags | (last ? FI_MULTI_RECV : 0),
		.len	= err ? 0 : msg->len,
		.buf	= recv->len ? ut_srx_buf(m->us, recv->nr) +
				      msg->offset : NULL,
		.data	= msg->what.data,
		.tag	= msg->what.flags & FI_TAGGED ? msg->what.tag : 0,
		.err	= err ? : olen ? FI_ETRUNC : 0,
		.olen	= olen,
		.src	= msg->what.src_addr,
	};
	bool told = last || comp.err || reported(m, recv);

	msg->state = MSG_FREE;
	if (is_multi(recv)) {
		if (last)
			recv->state = RECV_FREE;
		if (told)
			completes(m, NULL, comp);
		else
			m->multi++;
	} else if (told) {
		completes(m, recv, comp);
	} else {
		recv->state = RECV_FREE;
	}
	run(m);
}

static void step_finish(struct model *m)
{
	int nr = below(m, NR_MSGS), err = below(m, 8) ? 0 : EIO;
	struct ut_srx_msg *um = &m->us->msg[nr];
	struct kofi_rx *rx = um->rx;

	if (m->msgs[nr].state != MSG_MATCHED)
		return;
	finished(m, &m->msgs[nr], err);
	if (err) {
		um->rx = NULL;
		kofi_rx_fail(rx, 0, err, err);
	} else {
		ut_deliver(m->us, nr);
	}
}

static void step_read(struct model *m)
{
	struct unread first = m->unread[0];

	if (!m->nunread) {
		ut_gets_nothing(m->test, m->us);
		return;
	}
	memmove(m->unread, m->unread + 1, --m->nunread * sizeof(*m->unread));
	if (first.recv)
		first.recv->state = RECV_FREE;
	else
		m->multi++;
	run(m);
	KUNIT_ASSERT_STREQ_MSG(m->test, ut_comp_diff(m->us, &first.comp), "",
			       "seed %llu, step %d", m->seed, m->step);
}

static void (*const steps[])(struct model *m) = {
	step_arrive, step_arrive, step_arrive, step_post, step_post,
	step_finish, step_finish, step_finish, step_finish, step_read,
	step_read, step_read, step_peek, step_claim, step_cancel,
	step_withdraw,
};

static void check(struct model *m)
{
	const struct ut_srx_msg *um;
	const struct message *msg;
	int i;

	for (i = 0; i < NR_MSGS; i++) {
		um = &m->us->msg[i];
		msg = &m->msgs[i];
		agrees(m, um->msg.queued, msg->state == MSG_WAITING || msg->state == MSG_CLAIMED);
		agrees(m, !!um->rx, msg->state == MSG_MATCHED);
		agrees(m, um->discards, msg->discards);
	}
	agrees(m, m->us->cq.count, m->nunread);
	agrees(m, m->us->srx.nmsgs, waiting(m));
}

static const struct ut_srx_how hows[] = {
	{ .selective = false, .attr.directed = true },
	{ .selective = true, .attr.directed = true },
	{ .selective = false },
	{ .shared = true },
	{ .shared = true, .selective = true },
};

static void the_engine_does_what_the_model_says(struct kunit *test)
{
	struct model *m = vt_buf(test, sizeof(*m));

	m->test = test;
	m->how = *(const struct ut_srx_how *)test->param_value;
	m->how.attr.size = NR_RECVS;
	m->how.attr.iov_limit = 1;
	m->how.attr.max_msgs = MAX_WAIT;
	m->how.attr.multi = NR_MULTI;
	m->how.attr.min_multi_recv = MIN_LEFT;
	for (m->seed = 1; m->seed <= NR_SEEDS; m->seed++) {
		prandom_seed_state(&m->rnd, m->seed);
		memset(m->recvs, 0, sizeof(m->recvs));
		memset(m->msgs, 0, sizeof(m->msgs));
		m->us = ut_srx_open(test, m->how);
		m->multi = NR_MULTI;
		m->nunread = 0;
		m->resumes = 0;
		for (m->step = 0; m->step < NR_STEPS; m->step++) {
			steps[below(m, ARRAY_SIZE(steps))](m);
			check(m);
			check_resumes(m);
		}
		ut_srx_close(m->us);
	}
}

static void name_of_how(const struct ut_srx_how *how, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s", how->shared ? "shared" : "own",
		 how->attr.directed ? "directed" : "any sender", how->selective ? "selective" :
		 "all reported");
}

KUNIT_ARRAY_PARAM(how, hows, name_of_how);

static struct kunit_case srx_model_cases[] = {
	KUNIT_CASE_PARAM(the_engine_does_what_the_model_says, how_gen_params),
	{}
};

static struct kunit_suite srx_model_suite = {
	.name		= "kofi_util_srx_model",
	.test_cases	= srx_model_cases,
};

kunit_test_suite(srx_model_suite);
