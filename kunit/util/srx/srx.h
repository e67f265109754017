/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A receive side, for suites that post as a client and bring messages as a provider.
 *
 * Everything has a number: receive n uses buffer n and context n, message n has bytes
 * that follow from n.  The provider's part is as small as can be: it notes what the
 * engine calls it for, and moves data when the case says so.
 */
#ifndef _KUNIT_UTIL_SRX_H
#define _KUNIT_UTIL_SRX_H

#include <kofi/srx.h>
#include "../util.h"

#define UT_SRX_EPS	2
#define UT_SRX_NRS	160	/* of buffers, and of messages */
#define UT_SRX_BUF	512	/* bytes of a buffer */
#define UT_NO_CONTEXT	-1

/**
 * struct ut_srx_how - How a receive side is opened
 * @attr: what it has room for
 * @shared: it is a shared receive context
 * @selective: success is reported only with FI_COMPLETION
 * @wait_obj: of the completion queue; 0: FI_WAIT_NONE
 * @ops: of the provider; NULL: those of the bed
 */
struct ut_srx_how {
	struct kofi_srx_attr		attr;
	bool				shared;
	bool				selective;
	enum fi_wait_obj		wait_obj;
	const struct kofi_srx_ops	*ops;
};

/**
 * struct ut_srx_msg - A message of the provider's
 * @msg: as it waits
 * @rx: receive that has taken it and is not complete
 * @starts: calls of ops->start()
 * @discards: calls of ops->discard()
 */
struct ut_srx_msg {
	struct kofi_srx_msg	msg;
	struct kofi_rx		*rx;
	int			starts;
	int			discards;
};

/**
 * struct ut_srx - A receive side
 * @srx: the receive side
 * @ctx: the shared receive context, if it is one
 * @ep: endpoints that receive there; without a shared receive context the first one
 * @cq: where they complete
 * @cntr: receives of the first one
 * @eq: where the context reports its limit
 * @shared: it is a shared receive context
 * @outside: messages have no object to wait in
 * @over: it is closed
 * @resumes: calls of ops->resume()
 * @readys: calls of the client's ready callback
 * @dones: calls of the client's done callback
 * @done: what the last of these was given
 * @msg: messages
 * @context: of receives
 * @mem: buffers
 * @text: what is wrong with a completion
 */
struct ut_srx {
	struct kofi_srx		srx;
	struct kofi_ep		ctx;
	struct kofi_ep		ep[UT_SRX_EPS];
	struct kofi_cq		cq;
	struct kofi_cntr	cntr;
	struct fid_eq		*eq;
	bool			shared;
	bool			outside;
	bool			over;
	int			resumes;
	atomic_t		readys;
	atomic_t		dones;
	struct fi_done_entry	done;
	struct ut_srx_msg	msg[UT_SRX_NRS];
	u8			context[UT_SRX_NRS];
	u8			*mem;
	char			text[256];
};

/**
 * struct ut_comp - What a completion has to say
 * @nr: number of the context, or UT_NO_CONTEXT
 * @flags: its flags; 0: any
 * @len: bytes
 * @buf: where they are; NULL: anywhere
 * @data: remote CQ data
 * @tag: tag
 * @err: positive error code
 * @olen: bytes that had no room
 * @src: sender; 0: any
 */
struct ut_comp {
	int		nr;
	u64		flags;
	size_t		len;
	void		*buf;
	u64		data;
	u64		tag;
	int		err;
	size_t		olen;
	fi_addr_t	src;
};

#define UT_RECV		(FI_RECV | FI_MSG)
#define UT_TRECV	(FI_RECV | FI_TAGGED)

/* Room for four receives and four messages, and with directed receives */
extern const struct kofi_srx_attr ut_srx_attr;

/* Closed after the case, or by ut_srx_close() before */
struct ut_srx *ut_srx_open(struct kunit *test, struct ut_srx_how how);
struct ut_srx *ut_srx(struct kunit *test);
void ut_srx_close(struct ut_srx *us);
/* After the case has destroyed it: there is one to close again */
void ut_srx_reopen(struct ut_srx *us);
/* The end of one endpoint of a shared receive context */
void ut_srx_leave(struct ut_srx *us, struct kofi_ep *ep);

void *ut_srx_buf(struct ut_srx *us, int nr);

/* The client's calls; a receive has all of its buffer unless it says how much */
ssize_t ut_post(struct ut_srx *us, int nr, struct fi_tagged_xfer op);
ssize_t ut_post_len(struct ut_srx *us, int nr, size_t len, struct fi_tagged_xfer op);
ssize_t ut_recv(struct ut_srx *us, int nr, size_t len);
ssize_t ut_trecv(struct ut_srx *us, int nr, u64 tag, u64 ignore);
ssize_t ut_peek(struct ut_srx *us, int nr, u64 tag, u64 flags);
int ut_cancel(struct ut_srx *us, int nr);

/* The provider's */
int ut_arrive(struct ut_srx *us, int nr, struct kofi_srx_arrival what);
int ut_msg(struct ut_srx *us, int nr, size_t len);
int ut_tmsg(struct ut_srx *us, int nr, u64 tag, size_t len);
void ut_deliver(struct ut_srx *us, int nr);
/* A message that finds its receive, with its bytes */
void ut_brings(struct kunit *test, struct ut_srx *us, int nr, size_t len);
/* Are the bytes of message @nr at @offset of buffer @buf, and none behind? */
bool ut_delivered(struct ut_srx *us, int buf, size_t offset, int nr, size_t len);

/* Reads a completion; an empty text, or what is not as wanted */
const char *ut_comp_diff(struct ut_srx *us, const struct ut_comp *want);

#define ut_gets(test, us, ...)						\
	KUNIT_EXPECT_STREQ(test,					\
			   ut_comp_diff(us, &(const struct ut_comp)	\
					{ __VA_ARGS__ }), "")
#define ut_gets_nothing(test, us)					\
	KUNIT_EXPECT_EQ(test, (us)->cq.count, 0)

#endif /* _KUNIT_UTIL_SRX_H */
