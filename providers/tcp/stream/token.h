/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The token of a connection: the task that has it sends and receives.
 *
 * A task that has something to do for a connection tries to take the token.  If another task has
 * it, the first task notes that (KTCP_TOKEN_AGAIN) and goes away: it neither waits nor wakes
 * anything.  The holder takes what there is, looks for the note before it gives the token back
 * (ktcp_token_is_wanted()), and takes what has come meanwhile.  ktcp_token_give() reports a note
 * that came later, and then the worker of the connection has to run.
 *
 * No note is lost.  The note, and the end of a turn, are each one atomic operation on
 * ktcp_token.state, so a task either notes before the token is given back, and the holder sees the
 * note, or finds the token free.  Both operations are full barriers: the holder that sees the note
 * sees what the task had done before, such as an operation in kofi_soft_ep.posted.
 *
 * The worker of a connection waits for the token when the connection begins or ends
 * (ktcp_token_take()).  That wait is short, as a holder neither waits for the peer nor calls a
 * client, and ends, as nothing takes turns of a connection that is about to begin or end.  A task
 * that waits asks for no turn: giving the token back wakes it, and nothing else does.
 *
 * A task may give the token back while another one waits to take it and to free the connection.
 * So ktcp_token_give() uses the address of the token alone after it has released it.
 *
 * To lockdep the token is a mutex: lockdep_assert_held() and the order of locks are checked.
 */
#ifndef _KTCP_TOKEN_H
#define _KTCP_TOKEN_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/wait_bit.h>

#define KTCP_TOKEN_TAKEN	0x1	/* a task has the token */
#define KTCP_TOKEN_AGAIN	0x2	/* another task has come, and found it taken */
#define KTCP_TOKEN_WAITS	0x4	/* another task waits in ktcp_token_take() */

/**
 * struct ktcp_token - A token
 * @state: KTCP_TOKEN_*; 0: the token is free
 * @dep_map: what lockdep knows of it
 */
struct ktcp_token {
	atomic_t		state;
	struct lockdep_map	dep_map;
};

/* Set a new token up: it is free */
static inline void ktcp_token_init(struct ktcp_token *token)
{
	static struct lock_class_key key;

	atomic_set(&token->state, 0);
	lockdep_init_map_wait(&token->dep_map, "ktcp_conn.token", &key, 0, LD_WAIT_SLEEP);
}

/* Take the token, or set @note */
static inline bool ktcp_token_get(struct ktcp_token *token, int note)
{
	int old = atomic_read(&token->state), new;

	do {
		new = old & KTCP_TOKEN_TAKEN ? old | note : KTCP_TOKEN_TAKEN;
	} while (!atomic_try_cmpxchg(&token->state, &old, new));
	return !(old & KTCP_TOKEN_TAKEN);
}

/* Take the token.  Return false if another task has it, which looks again.  Any context */
static inline bool ktcp_token_try(struct ktcp_token *token)
{
	if (!ktcp_token_get(token, KTCP_TOKEN_AGAIN))
		return false;
	mutex_acquire(&token->dep_map, 0, 1, _THIS_IP_);
	return true;
}

/* Take the token, and wait until it is free.  May sleep */
static inline void ktcp_token_take(struct ktcp_token *token)
{
	mutex_acquire(&token->dep_map, 0, 0, _THIS_IP_);
	wait_var_event(&token->state, ktcp_token_get(token, KTCP_TOKEN_WAITS));
}

/* Return true once if another task has come since the token was taken, or since the last call */
static inline bool ktcp_token_is_wanted(struct ktcp_token *token)
{
	lockdep_assert_held(token);
	return unlikely(atomic_read(&token->state) & KTCP_TOKEN_AGAIN) &&
	       atomic_fetch_andnot(KTCP_TOKEN_AGAIN, &token->state) & KTCP_TOKEN_AGAIN;
}

/* Give the token back.  Return as ktcp_token_is_wanted().  Any context */
static inline bool __must_check ktcp_token_give(struct ktcp_token *token)
{
	int old;

	mutex_release(&token->dep_map, _THIS_IP_);
	/* A waiter sets KTCP_TOKEN_WAITS before it sleeps, and once more when it is in the queue */
	old = atomic_xchg(&token->state, 0);
	if (unlikely(old & KTCP_TOKEN_WAITS))
		wake_up_var(&token->state);
	return unlikely(old & KTCP_TOKEN_AGAIN);
}

#endif /* _KTCP_TOKEN_H */
