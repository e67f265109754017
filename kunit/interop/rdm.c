// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two endpoints without connections, and messages of every length between them.
 *
 * The two ends know each other by their ports: that of the kernel is the service, that of the
 * process the next one.  What an end asks the other one for goes in tagged messages
 * (INTEROP_MAIL), so that the receives for messages without a tag are those of the cases.
 *
 * A message of a case goes so: the initiator asks for it, and the target posts a receive for
 * messages of this peer where it is wanted, and answers.  For the cases "late" it answers
 * first, and posts the receive when nothing has come for a while: the message, or the first of
 * it, has come before then.  In the case "cancel" it posts a receive twice and takes the first
 * one back.  In the case "cut" the receive is too short for a message of three bytes or more.
 */
#include "interop.h"

/* Of the messages of a case.  libfabric 1.17 keeps the highest bit of a tag to itself */
#define INTEROP_TAG(which)	(0x7c0def1000000000ULL | (which))

static bool interop_is_tagged(enum interop_case which)
{
	return which != INTEROP_MESSAGE && which != INTEROP_LATE;
}

static bool interop_is_late(enum interop_case which)
{
	return which == INTEROP_LATE || which == INTEROP_TAGGED_LATE;
}

static int interop_port(struct sockaddr_in *addr, const struct fi_info *info, int service)
{
	if (info->src_addrlen != sizeof(*addr))
		return -EINVAL;
	memcpy(addr, info->src_addr, sizeof(*addr));
	addr->sin_port = htons(service);
	return 0;
}

/**
 * interop_rdm_open() - Open an endpoint without connections that knows its peer
 * @end: with its fabric open
 * @service: port of the kernel
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_rdm_open(struct interop_end *end, int service)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = 1 };
	struct sockaddr_in addr;
	int ret;

	if (interop_has_contexts(end))
		attr.rx_ctx_bits = INTEROP_CTX_BITS;
	ret = interop_port(&addr, end->info, service + INTEROP_PEER_PORT);
	if (!ret)
		ret = interop_open_domain(end, end->info);
	if (!ret)
		ret = fi_av_open(end->domain, &attr, &end->av, NULL);
	if (!ret)
		ret = fi_av_insert(end->av, &addr, 1, &end->peer, 0, NULL) == 1 ? 0 : -EINVAL;
	if (!ret)
		ret = interop_open_ep(end, end->info);
	return ret ? ret : interop_ring(end);
}

/* The initiator */

static ssize_t interop_post_message(struct interop_end *end, enum interop_case which,
				    size_t local, size_t len)
{
	INTEROP_IOV iov[INTEROP_PIECES];
	struct fi_msg_tagged tagged = {
		.msg_iov	= iov,
		.iov_count	= interop_list(&end->local, local, len, iov),
		.addr		= end->peer,
		.tag		= INTEROP_TAG(which),
		.context	= interop_tx(end),
	};
	struct fi_msg msg = {
		.msg_iov	= iov,
		.iov_count	= tagged.iov_count,
		.addr		= end->peer,
		.context	= tagged.context,
	};
	unsigned int tries = 0;
	ssize_t ret;

	do {
		if (interop_is_tagged(which))
			ret = fi_tsendmsg(end->ep, &tagged, FI_COMPLETION);
		else
			ret = fi_sendmsg(end->ep, &msg, FI_COMPLETION);
	} while (interop_again(end, ret, &tries));
	return ret;
}

/**
 * interop_message() - Send a message of a case
 * @end: the initiator
 * @which: the case
 * @local: where it is, in the local memory
 * @offset: where the target wants it, in its region
 * @len: its bytes
 * @seed: of its pattern
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_message(struct interop_end *end, enum interop_case which, size_t local,
		    size_t offset, size_t len, __u64 seed)
{
	__u64 want = FI_SEND | (interop_is_tagged(which) ? FI_TAGGED : FI_MSG);
	struct interop_msg msg = {
		.offset	= cpu_to_le64(offset),
		.len	= cpu_to_le64(len),
	};
	int ret;

	interop_fill(&end->local, local, len, seed);
	ret = interop_call(end, INTEROP_EXPECT, &msg);
	if (!ret)
		ret = interop_post_message(end, which, local, len);
	if (!ret)
		ret = interop_tx_wait(end);
	if (ret)
		return ret;
	if (end->tx_flags != want)
		interop_bad(end, true, which, "its completion has flags %#llx",
			    (unsigned long long)end->tx_flags);
	interop_count(end, true, which, 1, interop_fit(which, len, true));
	interop_clear(&end->local, local, len);
	return 0;
}

/* The target */

static int interop_post_wanted(struct interop_end *end, enum interop_case which)
{
	INTEROP_IOV iov[INTEROP_PIECES];
	struct fi_msg_tagged tagged = {
		.msg_iov	= iov,
		.iov_count	= interop_list(&end->region, end->want.offset, end->want.fit, iov),
		.addr		= end->peer,
		.tag		= INTEROP_TAG(which),
		.context	= &end->want,
	};
	struct fi_msg msg = {
		.msg_iov	= iov,
		.iov_count	= tagged.iov_count,
		.addr		= end->peer,
		.context	= &end->want,
	};
	unsigned int tries = 0;
	ssize_t ret;

	do {
		if (interop_is_tagged(which))
			ret = fi_trecvmsg(end->rx, &tagged, FI_COMPLETION);
		else
			ret = fi_recvmsg(end->rx, &msg, FI_COMPLETION);
	} while (interop_again(end, ret, &tries));
	return ret;
}

/* Takes a receive back that no message can have taken */
static int interop_take_back(struct interop_end *end, enum interop_case which)
{
	int ret;

	ret = interop_post_wanted(end, which);
	if (!ret)
		ret = fi_cancel(&end->rx->fid, &end->want);
	while (!ret && !end->want.cancelled)
		ret = interop_reap(end, INTEROP_PATIENCE_MS);
	return ret;
}

/**
 * interop_do_expect() - A message of a case will come
 * @end: the target
 * @which: the case
 * @offset: where it is wanted, in the region
 * @len: its bytes
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_do_expect(struct interop_end *end, enum interop_case which, size_t offset, size_t len)
{
	int ret = 0;

	end->want = (struct interop_want) { .offset = offset, .len = len };
	end->want.fit = interop_fit(which, len, false);
	end->want.late = interop_is_late(which);
	if (which == INTEROP_CANCEL)
		ret = interop_take_back(end, which);
	return ret || end->want.late ? ret : interop_post_wanted(end, which);
}

/**
 * interop_do_late() - Post what is due when the answer has been sent
 * @end: the target
 * @which: the case
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_do_late(struct interop_end *end, enum interop_case which)
{
	int ret;

	if (!end->want.late)
		return 0;
	end->want.late = false;
	do {
		ret = interop_reap(end, INTEROP_LATE_MS);
	} while (!ret);
	return ret == -EAGAIN ? interop_post_wanted(end, which) : ret;
}

/**
 * interop_wanted() - Wait for the message of a case
 * @end: the target
 * @which: the case
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_wanted(struct interop_end *end, enum interop_case which)
{
	__u64 want = FI_RECV | (interop_is_tagged(which) ? FI_TAGGED : FI_MSG);
	int ret = 0;

	while (!ret && !end->want.came)
		ret = interop_reap(end, INTEROP_PATIENCE_MS);
	if (ret)
		return ret;
	if (end->want.flags != want || end->want.got != end->want.fit)
		interop_bad(end, false, which, "%zu bytes came instead of %zu, flags %#llx",
			    end->want.got, end->want.fit, (unsigned long long)end->want.flags);
	return 0;
}
