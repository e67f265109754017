/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A model of the matching engine, kofi/srx.h, which knows nothing of tables and locks: it
 * looks through all receives and messages and takes the oldest that matches.
 */
#ifndef _KUNIT_UTIL_SRX_MODEL_H
#define _KUNIT_UTIL_SRX_MODEL_H

#include <linux/prandom.h>
#include "srx.h"

#define NR_RECVS	6
#define NR_MSGS		24
#define NR_MULTI	2
#define MAX_WAIT	4
#define MIN_LEFT	8
#define NR_COMPS	(NR_RECVS + NR_MULTI)

enum recv_state {
	RECV_FREE,
	RECV_DEFERRED,
	RECV_POSTED,
	RECV_MATCHED,
	RECV_UNREAD,
};

enum msg_state {
	MSG_FREE,
	MSG_OUTSIDE,
	MSG_WAITING,
	MSG_CLAIMED,
	MSG_MATCHED,
};

/**
 * struct recv - A receive of the model
 * @state: where it is
 * @op: the client's call
 * @nr: of its context
 * @seq: of posting
 * @len: its bytes
 * @used: of a buffer: those that messages have
 * @nmsgs: of a buffer: messages that are not complete
 * @spent: of a buffer: it takes no more
 */
struct recv {
	enum recv_state	state;
	struct fi_tagged_xfer	op;
	int		nr;
	u64		seq;
	size_t		len;
	size_t		used;
	int		nmsgs;
	bool		spent;
};

/**
 * struct message - A message of the model
 * @state: where it is
 * @what: what the provider says of it
 * @outside: it has no object to wait in
 * @resumed: after -EAGAIN: it is worth trying again
 * @seq: of arrival, or of the claim
 * @claimer: context that has claimed it
 * @recv: receive that has taken it
 * @offset: where it begins there
 * @len: bytes that fit
 * @discards: how often it was dropped
 */
struct message {
	enum msg_state		state;
	struct kofi_srx_arrival	what;
	bool			outside;
	bool			resumed;
	u64			seq;
	int			claimer;
	struct recv		*recv;
	size_t			offset;
	size_t			len;
	int			discards;
};

/**
 * struct unread - A completion of the model
 * @comp: what it says
 * @recv: receive that is free when it is read; NULL: a completion of a buffer's message is
 */
struct unread {
	struct ut_comp	comp;
	struct recv	*recv;
};

/**
 * struct model - The model, and the engine
 * @test: the case
 * @us: the engine
 * @how: how it was opened
 * @rnd: the steps
 * @seed: where they began
 * @step: number of the step
 * @seq: next number of a receive or message
 * @multi: completions for messages of buffers that are free
 * @resumes: calls of ops->resume() so far
 * @recvs: receives
 * @msgs: messages
 * @unread: completions, oldest first
 * @nunread: how many
 */
struct model {
	struct kunit		*test;
	struct ut_srx		*us;
	struct ut_srx_how	how;
	struct rnd_state	rnd;
	u64			seed;
	int			step;
	u64			seq;
	int			multi;
	int			resumes;
	struct recv		recvs[NR_RECVS];
	struct message		msgs[NR_MSGS];
	struct unread		unread[NR_COMPS];
	int			nunread;
};

static bool is_multi(const struct recv *recv)
{
	return recv->op.xfer.flags & FI_MULTI_RECV;
}

static u64 kind_of(const struct recv *recv)
{
	return recv->op.xfer.type == FI_OP_TRECV ? FI_TAGGED : FI_MSG;
}

static bool matches(const struct model *m, const struct recv *recv, const struct message *msg)
{
	if (!(msg->what.flags & kind_of(recv)))
		return false;
	if (m->how.attr.directed && recv->op.xfer.addr != FI_ADDR_UNSPEC &&
	    recv->op.xfer.addr != msg->what.src_addr)
		return false;
	return kind_of(recv) == FI_MSG ||
	       !((recv->op.tag ^ msg->what.tag) & ~recv->op.ignore);
}

/* The oldest receive in a state, that matches or has the context, or NULL */
static struct recv *oldest_recv(struct model *m, enum recv_state state,
				const struct message *msg, int nr)
{
	struct recv *recv, *oldest = NULL;

	for (recv = m->recvs; recv < m->recvs + NR_RECVS; recv++)
		if (recv->state == state && (!msg || matches(m, recv, msg)) &&
		    (nr < 0 || nr == recv->nr) && (!oldest || recv->seq < oldest->seq))
			oldest = recv;
	return oldest;
}

static struct message *oldest_msg(struct model *m, const struct recv *recv)
{
	struct message *msg, *oldest = NULL;

	for (msg = m->msgs; msg < m->msgs + NR_MSGS; msg++)
		if (msg->state == MSG_WAITING && matches(m, recv, msg) &&
		    (!oldest || msg->seq < oldest->seq))
			oldest = msg;
	return oldest;
}

static struct message *oldest_claim(struct model *m, int nr)
{
	struct message *msg, *oldest = NULL;

	for (msg = m->msgs; msg < m->msgs + NR_MSGS; msg++)
		if (msg->state == MSG_CLAIMED && msg->claimer == nr &&
		    (!oldest || msg->seq < oldest->seq))
			oldest = msg;
	return oldest;
}

static int waiting(const struct model *m)
{
	int i, n = 0;

	for (i = 0; i < NR_MSGS; i++)
		n += m->msgs[i].state == MSG_WAITING ||
		     m->msgs[i].state == MSG_CLAIMED;
	return n;
}

static struct recv *free_recv(struct model *m)
{
	int i;

	for (i = 0; i < NR_RECVS; i++)
		if (m->recvs[i].state == RECV_FREE)
			return &m->recvs[i];
	return NULL;
}

/* A completion; @frees is free when it is read */
static void completes(struct model *m, struct recv *frees, struct ut_comp comp)
{
	KUNIT_ASSERT_LT(m->test, m->nunread, NR_COMPS);
	if (frees)
		frees->state = RECV_UNREAD;
	m->unread[m->nunread++] = (struct unread) { comp, frees };
}

static bool reported(const struct model *m, const struct recv *recv)
{
	return !m->how.selective || recv->op.xfer.flags & FI_COMPLETION;
}

static void gives_back(struct model *m, struct recv *buf)
{
	if (!buf->nmsgs)
		completes(m, buf, (struct ut_comp) {
			.nr = buf->nr, .flags = FI_MULTI_RECV,
		});
	else
		buf->state = RECV_MATCHED;
	buf->spent = true;
}

/* A message takes a receive; false: it does not fit.  There is a completion for it */
static bool takes(struct model *m, struct recv *recv, struct message *msg)
{
	size_t room = recv->len - recv->used;

	if (is_multi(recv) && msg->what.len > room && recv->used) {
		gives_back(m, recv);
		return false;
	}
	msg->state = MSG_MATCHED;
	msg->recv = recv;
	msg->offset = recv->used;
	msg->len = min(msg->what.len, room);
	if (!is_multi(recv)) {
		recv->state = RECV_MATCHED;
		return true;
	}
	m->multi--;
	recv->nmsgs++;
	recv->used += msg->len;
	if (recv->len - recv->used < MIN_LEFT) {
		recv->spent = true;
		recv->state = RECV_MATCHED;
	}
	return true;
}

static bool has_completion(const struct model *m, const struct recv *recv,
			   const struct message *msg)
{
	return !is_multi(recv) || m->multi ||
	       (recv->used && msg->what.len > recv->len - recv->used);
}

/* Receives that are deferred look at messages that wait */
static void run(struct model *m)
{
	struct message *msg;
	struct recv *recv;

	while ((recv = oldest_recv(m, RECV_DEFERRED, NULL, -1))) {
		msg = oldest_msg(m, recv);
		if (!msg)
			recv->state = RECV_POSTED;
		else if (has_completion(m, recv, msg))
			takes(m, recv, msg);
		else
			break;
	}
}

/* What kofi_srx_arrive() answers */
static int arrives(struct model *m, struct message *msg)
{
	struct recv *recv;

	while ((recv = oldest_recv(m, RECV_POSTED, msg, -1))) {
		if (!has_completion(m, recv, msg))
			return -EAGAIN;
		if (takes(m, recv, msg))
			return KOFI_SRX_MATCHED;
	}
	if (msg->outside || waiting(m) >= MAX_WAIT)
		return -EAGAIN;
	msg->state = MSG_WAITING;
	msg->seq = m->seq++;
	return KOFI_SRX_QUEUED;
}

/* Would it still answer -EAGAIN? */
static bool stays_outside(struct model *m, struct message *msg)
{
	struct recv *recv = oldest_recv(m, RECV_POSTED, msg, -1);

	return recv ? !has_completion(m, recv, msg) :
		      msg->outside || waiting(m) >= MAX_WAIT;
}

#endif /* _KUNIT_UTIL_SRX_MODEL_H */
