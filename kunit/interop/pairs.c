// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Many pairs of endpoints without connections: both ends of all pairs send first, at once, and
 * then addresses come and go under traffic.
 *
 * Each pair has one endpoint in the kernel and one in the process, and in every second pair the
 * kernel's has the larger address.  An endpoint has a domain of its own, as libfabric moves all
 * endpoints of a domain whenever it is asked for one of them.
 *
 * Case "meet": the kernel sends first, and its requests wait in the process, which does not look
 * at its pairs.  Then the process sends.  So in each pair two attempts to connect are under way,
 * and no end has an answer.  Each message has to come once, and one connection of a pair has to
 * stay.  The second message of each end comes behind the first, and so behind any copy of it.
 *
 * Case "av": rounds of one message from each end of each pair.  While messages are under way
 * addresses of others are inserted and removed.  Between two messages of an end the peer, which
 * goes on sending, is removed from the address vector and inserted again.
 *
 * The two ends wait for each other by INTEROP_HERE, which goes between the endpoints that other
 * plans have, too.
 */
#include "interop.h"

#define INTEROP_PAIRS	32
#define INTEROP_PAIR_RING 4	/* receives of an endpoint; a peer is a message ahead at most */
#define INTEROP_PAIR_LEN 500	/* bytes of a message */
#define INTEROP_ROUNDS	16	/* of "av" */
#define INTEROP_OTHERS	8	/* addresses on which nobody listens */
#define INTEROP_OTHER_PORT 20000

struct interop_pair {
	struct interop_end	*end;
	unsigned int		nr;
	struct fi_info		*info;
	struct fid_domain	*domain;
	struct fid_cq		*cq;
	struct fid_av		*av;
	struct fid_ep		*ep;
	struct sockaddr_in	peer_addr;
	fi_addr_t		peer;
	fi_addr_t		other[INTEROP_OTHERS];
	unsigned int		posted;	/* messages, to the peer */
	unsigned int		sent;
	unsigned int		came;
};

/* One for a program, which has one end at a time */
static struct interop_pairs {
	struct fid_fabric	*fabric;
	struct interop_mem	mem;	/* of each pair what it sends, and the ring */
	struct interop_pair	pair[INTEROP_PAIRS];
} interop_pairs;

static size_t interop_pair_at(const struct interop_pair *pair, unsigned int slot)
{
	return (pair->nr * (INTEROP_PAIR_RING + 1) + slot) * INTEROP_PAIR_LEN;
}

static void *interop_pair_buf(const struct interop_pair *pair, unsigned int slot)
{
	return interop_at(&interop_pairs.mem, interop_pair_at(pair, slot));
}

static __u64 interop_pair_seed(const struct interop_pair *pair, bool mine, unsigned int nr)
{
	__u64 port = mine ? INTEROP_MY_PORT : INTEROP_PEER_PORT;

	return (__u64)pair->nr << 40 | port << 32 | nr;
}

/* Two messages of each end in the case "meet" */
static enum interop_case interop_pair_case(unsigned int nr)
{
	return nr < 2 ? INTEROP_MEET : INTEROP_AV;
}

/* Slot 0 is for what is sent */
static ssize_t interop_pair_recv(struct interop_pair *pair, unsigned int nr)
{
	void *buf = interop_pair_buf(pair, 1 + nr % INTEROP_PAIR_RING);

	memset(buf, 0, INTEROP_PAIR_LEN);
	return fi_recv(pair->ep, buf, INTEROP_PAIR_LEN, NULL, FI_ADDR_UNSPEC, buf);
}

static int interop_pair_came(struct interop_pair *pair, const struct fi_cq_data_entry *entry)
{
	void *buf = interop_pair_buf(pair, 1 + pair->came % INTEROP_PAIR_RING);
	enum interop_case which = interop_pair_case(pair->came);
	__u64 seed = interop_pair_seed(pair, false, pair->came);

	if (entry->op_context != buf || entry->len != INTEROP_PAIR_LEN ||
	    !interop_is_pattern(buf, INTEROP_PAIR_LEN, seed)) {
		interop_bad(pair->end, false, which, "pair %u: message %u is not as sent",
			    pair->nr, pair->came);
		return -EPROTO;
	}
	interop_count(pair->end, false, which, 1, entry->len);
	return interop_pair_recv(pair, pair->came++ + INTEROP_PAIR_RING);
}

static int interop_pair_failed(struct interop_pair *pair)
{
	struct fi_cq_err_entry error = { 0 };
	ssize_t ret = fi_cq_readerr(pair->cq, &error, 0);

	if (ret != 1)
		return ret < 0 ? ret : -EIO;
	interop_say("pair %u: an operation failed: %s, provider's error %d", pair->nr,
		    fi_strerror(error.err), error.prov_errno);
	return -error.err;
}

/* Takes one completion; -EAGAIN: there was none within that time */
static int interop_pair_reap(struct interop_pair *pair, int timeout_ms)
{
	struct fi_cq_data_entry entry = { 0 };
	ssize_t ret = fi_cq_sread(pair->cq, &entry, 1, NULL, timeout_ms);

	if (ret == -FI_EAVAIL)
		return interop_pair_failed(pair);
	if (ret != 1)
		return ret;
	if (entry.flags & FI_RECV)
		return interop_pair_came(pair, &entry);
	if (entry.op_context != (void *)(uintptr_t)(pair->sent + 1)) {
		interop_say("pair %u: operation %lu has completed instead of %u", pair->nr,
			    (unsigned long)(uintptr_t)entry.op_context, pair->sent + 1);
		return -EPROTO;
	}
	interop_count(pair->end, true, interop_pair_case(pair->sent++), 1, INTEROP_PAIR_LEN);
	return 0;
}

/* Sends the next message; -EAGAIN: libfabric has no connection yet */
static ssize_t interop_pair_post(struct interop_pair *pair)
{
	ssize_t ret;

	interop_fill(&interop_pairs.mem, interop_pair_at(pair, 0), INTEROP_PAIR_LEN,
		     interop_pair_seed(pair, true, pair->posted));
	ret = fi_send(pair->ep, interop_pair_buf(pair, 0), INTEROP_PAIR_LEN, NULL, pair->peer,
		      (void *)(uintptr_t)(pair->posted + 1));
	if (!ret)
		pair->posted++;
	return ret;
}

/* The same, until it is posted */
static int interop_pair_send(struct interop_pair *pair)
{
	int waited = 0, ret;

	for (;;) {
		ret = interop_pair_post(pair);
		if (ret != -EAGAIN || waited >= INTEROP_PATIENCE_MS)
			return ret;
		ret = interop_pair_reap(pair, INTEROP_LOOK_MS);
		if (ret && ret != -EAGAIN)
			return ret;
		waited += INTEROP_LOOK_MS;
	}
}

/* Until @count messages have been sent and have come, of each end */
static int interop_pair_wait(struct interop_pair *pair, unsigned int count)
{
	int ret = 0;

	while (!ret && (pair->sent != count || pair->came < count))
		ret = interop_pair_reap(pair, INTEROP_PATIENCE_MS);
	if (ret == -EAGAIN) {
		interop_say("pair %u: %u sent, %u came instead of %u", pair->nr, pair->sent,
			    pair->came, count);
		ret = -ETIMEDOUT;
	}
	return ret;
}

/* One more message of each end of each pair; those that are posted already are not sent again */
static int interop_pairs_exchange(unsigned int count)
{
	struct interop_pair *pair;
	int ret = 0;

	for (pair = interop_pairs.pair; !ret && pair < interop_pairs.pair + INTEROP_PAIRS; pair++) {
		if (pair->posted < count)
			ret = interop_pair_send(pair);
		if (!ret)
			ret = interop_pair_wait(pair, count);
	}
	return ret;
}

/* Addresses on which nobody listens come, and go */
static int interop_pair_insert(struct interop_pair *pair, unsigned int from, unsigned int to)
{
	struct sockaddr_in addr = pair->peer_addr;
	unsigned int i;
	int ret = 1;

	for (i = from; ret == 1 && i < to; i++) {
		addr.sin_port = htons(INTEROP_OTHER_PORT + pair->nr * INTEROP_OTHERS + i);
		ret = fi_av_insert(pair->av, &addr, 1, &pair->other[i], 0, NULL);
	}
	return ret == 1 ? 0 : -EINVAL;
}

static int interop_pair_remove(struct interop_pair *pair, unsigned int from, unsigned int to)
{
	return fi_av_remove(pair->av, &pair->other[from], to - from, 0);
}

/* The peer goes; another address may have its place when it comes back */
static int interop_pair_renew(struct interop_pair *pair)
{
	int ret;

	ret = fi_av_remove(pair->av, &pair->peer, 1, 0);
	if (!ret)
		ret = interop_pair_insert(pair, 0, 1);
	if (!ret && fi_av_insert(pair->av, &pair->peer_addr, 1, &pair->peer, 0, NULL) != 1)
		ret = -EINVAL;
	return ret;
}

static int interop_pair_av(struct interop_pair *pair)
{
	int ret;

	ret = interop_pair_insert(pair, 1, INTEROP_OTHERS);
	if (!ret)
		ret = interop_pair_send(pair);
	/* The message is under way */
	if (!ret)
		ret = interop_pair_remove(pair, 1, INTEROP_OTHERS / 2);
	if (!ret)
		ret = interop_pair_insert(pair, 1, INTEROP_OTHERS / 2);
	return ret;
}

static int interop_pairs_av(unsigned int count)
{
	struct interop_pair *pair, *last = interop_pairs.pair + INTEROP_PAIRS;
	int ret = 0;

	for (pair = interop_pairs.pair; !ret && pair < last; pair++)
		ret = interop_pair_av(pair);
	for (pair = interop_pairs.pair; !ret && pair < last; pair++) {
		ret = interop_pair_wait(pair, count);
		if (!ret)
			ret = interop_pair_renew(pair);
		if (!ret)
			ret = interop_pair_remove(pair, 0, INTEROP_OTHERS);
	}
	return ret;
}

/* A pair has one connection; one that was refused may take its time to go */
static void interop_pair_see(struct interop_pair *pair)
{
	int count, waited, ret;

	for (waited = 0; waited < INTEROP_PATIENCE_MS; waited += INTEROP_LOOK_MS) {
		count = interop_connections(pair->info->src_addr, &pair->peer_addr);
		/* Only one end may see them */
		if (count < 0 || count == 1)
			return;
		ret = interop_pair_reap(pair, INTEROP_LOOK_MS);
		if (ret && ret != -EAGAIN)
			break;
	}
	interop_bad(pair->end, true, interop_pair_case(pair->sent - 1),
		    "pair %u has %d connections", pair->nr, count);
}

static void interop_pairs_see(void)
{
	unsigned int i;

	for (i = 0; i < INTEROP_PAIRS; i++)
		interop_pair_see(&interop_pairs.pair[i]);
}

/* In every second pair the kernel has the larger port */
static int interop_pair_port(const struct interop_pair *pair, int port, int who)
{
	return htons(port + 2 + 2 * pair->nr + ((pair->nr ^ who) & 1));
}

static int interop_pair_open(struct interop_pair *pair, int port)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = INTEROP_OTHERS };
	struct fi_cq_attr cq_attr = {
		.size		= 2 * INTEROP_DEPTH,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	unsigned int i;
	int ret;

	pair->info = fi_dupinfo(pair->end->info);
	if (!pair->info)
		return -ENOMEM;
	memcpy(&pair->peer_addr, pair->info->src_addr, sizeof(pair->peer_addr));
	pair->peer_addr.sin_port = interop_pair_port(pair, port, INTEROP_MY_PORT);
	memcpy(pair->info->src_addr, &pair->peer_addr, sizeof(pair->peer_addr));
	pair->peer_addr.sin_port = interop_pair_port(pair, port, INTEROP_PEER_PORT);
	ret = fi_domain(interop_pairs.fabric, pair->info, &pair->domain, NULL);
	if (!ret)
		ret = fi_cq_open(pair->domain, &cq_attr, &pair->cq, NULL);
	if (!ret)
		ret = fi_av_open(pair->domain, &av_attr, &pair->av, NULL);
	if (!ret && fi_av_insert(pair->av, &pair->peer_addr, 1, &pair->peer, 0, NULL) != 1)
		ret = -EINVAL;
	if (!ret)
		ret = fi_endpoint(pair->domain, pair->info, &pair->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(pair->ep, &pair->av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(pair->ep, &pair->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(pair->ep);
	for (i = 0; !ret && i < INTEROP_PAIR_RING; i++)
		ret = interop_pair_recv(pair, i);
	return ret;
}

static int interop_pairs_open(struct interop_end *end)
{
	struct sockaddr_in addr;
	unsigned int i;
	int ret;

	memcpy(&addr, end->info->src_addr, sizeof(addr));
	ret = interop_alloc(&interop_pairs.mem, INTEROP_PAIRS * (INTEROP_PAIR_RING + 1) *
			    INTEROP_PAIR_LEN);
	if (!ret)
		ret = fi_fabric(end->info->fabric_attr, &interop_pairs.fabric, NULL);
	for (i = 0; !ret && i < INTEROP_PAIRS; i++) {
		interop_pairs.pair[i].end = end;
		interop_pairs.pair[i].nr = i;
		ret = interop_pair_open(&interop_pairs.pair[i],
					ntohs(addr.sin_port) - INTEROP_MY_PORT);
	}
	return ret;
}

static void interop_pair_close(struct interop_pair *pair, int *ret)
{
	if (pair->ep)
		interop_close_fid(&pair->ep->fid, ret);
	if (pair->av)
		interop_close_fid(&pair->av->fid, ret);
	if (pair->cq)
		interop_close_fid(&pair->cq->fid, ret);
	if (pair->domain)
		interop_close_fid(&pair->domain->fid, ret);
	fi_freeinfo(pair->info);
}

static int interop_pairs_close(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < INTEROP_PAIRS; i++)
		interop_pair_close(&interop_pairs.pair[i], &ret);
	if (interop_pairs.fabric)
		interop_close_fid(&interop_pairs.fabric->fid, &ret);
	interop_free(&interop_pairs.mem);
	return ret;
}

/* Both ends are here; a message of the pair that is there before */
static int interop_here(struct interop_end *end, bool connected)
{
	struct interop_msg msg = { 0 };
	int ret;

	if (connected)
		return interop_call(end, INTEROP_HERE, &msg);
	ret = interop_recv(end, &msg);
	if (!ret && le32_to_cpu(msg.type) != INTEROP_HERE)
		ret = -EPROTO;
	if (!ret)
		ret = interop_send(end, &msg);
	return ret ? ret : interop_tx_wait(end);
}

/* The first message of each pair; libfabric connects, and sends nothing yet */
static int interop_pairs_begin(void)
{
	ssize_t ret = 0;
	unsigned int i;

	for (i = 0; !ret && i < INTEROP_PAIRS; i++) {
		ret = interop_pair_post(&interop_pairs.pair[i]);
		if (ret == -EAGAIN && !INTEROP_SENDS_FIRST)
			ret = 0;
	}
	return ret;
}

static int interop_pairs_run(struct interop_end *end, bool connected)
{
	unsigned int count;
	int ret;

	/* libfabric answers no request while it opens, and the kernel gives up after ten seconds */
	ret = interop_here(end, connected);
	if (!ret)
		ret = interop_pairs_open(end);
	if (!ret)
		ret = interop_here(end, connected); /* all listen */
	if (!ret && INTEROP_SENDS_FIRST)
		ret = interop_pairs_begin();
	if (!ret)
		ret = interop_here(end, connected); /* the kernel has sent */
	if (!ret && !INTEROP_SENDS_FIRST)
		ret = interop_pairs_begin();
	for (count = 1; !ret && count <= 2; count++)
		ret = interop_pairs_exchange(count);
	if (!ret)
		interop_pairs_see();
	for (; !ret && count <= 2 + INTEROP_ROUNDS; count++)
		ret = interop_pairs_av(count);
	if (!ret)
		interop_pairs_see();
	return ret ? ret : interop_here(end, connected); /* nothing more is to come */
}

/**
 * interop_meet() - All that the pairs do
 * @end: with its endpoint open, in a plan of pairs
 * @connected: which of the two ends it is
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_meet(struct interop_end *end, bool connected)
{
	int ret, failed;

	memset(&interop_pairs, 0, sizeof(interop_pairs));
	ret = interop_pairs_run(end, connected);
	failed = interop_pairs_close();
	return ret ? ret : failed;
}
