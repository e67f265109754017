// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The initiator: reads and writes the target's memory, and asks for what it
 * cannot see itself.
 *
 * Atomics: the operands of fi_fetch_atomic() and fi_compare_atomic() are given by
 * reference.  libfabric's verbs provider before 2.2 takes the pointers themselves
 * for the operands (fixed by "prov/verbs: fix atomic work request fields").  The
 * first fetch-add shows which it is; a process then gives such a libfabric its
 * operands as pointers.
 */
#include "interop.h"

/*
 * Lengths: all up to 9; powers of two up to 8 MiB; around the inject sizes (64,
 * 256), MTUs (1024, 4096), pages, and what ofi_rxm sends as a packet (16384) and
 * as segments (131072); odd ones.
 */
static const __u32 interop_lens[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100,
	127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025,
	2047, 2048, 2049, 4095, 4096, 4097, 5001, 8191, 8192, 8193, 12345,
	16383, 16384, 16385, 32768, 65535, 65536, 65537, 131071, 131072, 131073,
	262144, 524288, 777777,
	1048575, 1048576, 1048577, 2097152, 4194304, INTEROP_MAX,
};

/* Those around a few pages at three places around the boundary of a page */
#define INTEROP_PAGE	4096
#define INTEROP_PAGES	4
#define INTEROP_PLACES	3
/* Operations with CQ data that are posted at a time */
#define INTEROP_BATCH	16
#define INTEROP_ATOMICS	64	/* operations */
#define INTEROP_WORD	4096	/* offset of the word they work on */

static __u64 interop_seed(enum interop_case which, unsigned int nr, size_t len)
{
	return (__u64)(which + 1) << 56 | (__u64)nr << 40 | len;
}

/* The @nr-th value that goes with a write or a message */
__u64 interop_datum(const struct interop_end *end, __u64 seed, unsigned int nr)
{
	static const __u64 special[] = {
		0, 1, ~0ULL, 0x8000000080000000ULL, 0x7fffffff7fffffffULL,
		0x0506070801020304ULL,
	};
	__u64 data = nr < ARRAY_SIZE(special) ? special[nr] :
						interop_hash(seed, nr);

	return end->plan->data_size == sizeof(__u32) ? (__u32)data : data;
}

/* And how many bytes it goes with */
size_t interop_datum_len(const struct interop_end *end, enum interop_case which, unsigned int nr)
{
	size_t len = nr * nr * nr * nr;

	if (which == INTEROP_WRITEDATA)
		return len < end->plan->max_len ? len : end->plan->max_len;
	return nr * sizeof(struct interop_msg) / (INTEROP_BATCH - 1);
}

static int interop_ask(struct interop_end *end, enum interop_case which,
		       enum interop_type type, struct interop_msg *msg)
{
	int ret = interop_call(end, type, msg);

	if (!ret && msg->status)
		interop_bad(end, true, which, "the target answers %llu to message %u",
			    (unsigned long long)le64_to_cpu(msg->status), type);
	return ret;
}

static int interop_ask_range(struct interop_end *end, enum interop_case which,
			     enum interop_type type, size_t offset, size_t len, __u64 seed)
{
	struct interop_msg msg = {
		.offset	= cpu_to_le64(offset),
		.len	= cpu_to_le64(len),
		.seed	= cpu_to_le64(seed),
	};

	return interop_ask(end, which, type, &msg);
}

static int interop_open(struct interop_end *end, enum interop_case which)
{
	struct interop_msg msg = { .value = cpu_to_le64(which) };
	int ret;

	ret = interop_ask(end, which, INTEROP_OPEN, &msg);
	if (ret)
		return ret;
	end->peer_addr = le64_to_cpu(msg.addr);
	end->peer_key = le64_to_cpu(msg.key);
	return le64_to_cpu(msg.len) == interop_region(end->plan) ? 0 : -EPROTO;
}

/* Post a read or a write between @local here and @offset there. */
static ssize_t interop_post_rma(struct interop_end *end, enum interop_case which, size_t local,
				size_t offset, size_t len, __u64 data)
{
	struct fi_rma_iov rma = {
		.addr	= end->peer_addr + offset,
		.len	= len,
		.key	= end->peer_key,
	};
	INTEROP_IOV iov[INTEROP_PIECES];
	void *desc[INTEROP_PIECES], *context = interop_tx(end);
	__u64 flags = FI_COMPLETION;
	struct fi_msg_rma msg = {
		.msg_iov	= iov,
		.iov_count	= interop_list(&end->local, local, len, iov),
		.desc		= desc,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.addr		= end->peer,
		.context	= context,
		.data		= data,
	};
	size_t i;

	for (i = 0; i < msg.iov_count; i++)
		desc[i] = interop_desc(&end->local);
	if (which == INTEROP_WRITEDATA)
		flags |= FI_REMOTE_CQ_DATA;
	if (which == INTEROP_DELIVERY)
		flags |= FI_DELIVERY_COMPLETE;
	if (which == INTEROP_COMMIT)
		flags |= FI_COMMIT_COMPLETE;
	if (msg.iov_count > 1 || which == INTEROP_DELIVERY || which == INTEROP_COMMIT) {
		if (which == INTEROP_READ)
			return fi_readmsg(end->ep, &msg, flags);
		return fi_writemsg(end->ep, &msg, flags);
	}
	switch (which) {
	case INTEROP_READ:
		return fi_read(end->ep, iov->iov_base, len, *desc, end->peer, rma.addr,
			       rma.key, context);
	case INTEROP_WRITE:
		return fi_write(end->ep, iov->iov_base, len, *desc, end->peer, rma.addr,
				rma.key, context);
	default:
		return fi_writedata(end->ep, interop_at(&end->local, local),
				    len, interop_desc(&end->local), data, end->peer,
				    rma.addr, rma.key, context);
	}
}

/* The same, and wait for its completion. */
static int interop_rma(struct interop_end *end, enum interop_case which,
		       size_t local, size_t offset, size_t len)
{
	const __u64 want = FI_RMA |
			   (which == INTEROP_READ ? FI_READ : FI_WRITE);
	int ret;

	ret = interop_post_rma(end, which, local, offset, len, 0);
	if (!ret)
		ret = interop_tx_wait(end);
	if (!ret && end->tx_flags != want)
		interop_bad(end, true, which, "its completion has flags %#llx",
			    (unsigned long long)end->tx_flags);
	interop_count(end, true, which, 1, len);
	return ret;
}

static int interop_write_one(struct interop_end *end, enum interop_case which,
			     size_t local, size_t offset, size_t len, __u64 seed)
{
	int ret;

	interop_fill(&end->local, local, len, seed);
	ret = interop_rma(end, which, local, offset, len);
	if (ret)
		return ret;
	interop_clear(&end->local, local, len);
	return interop_ask_range(end, which, INTEROP_CHECK, offset, len, seed);
}

static int interop_read_one(struct interop_end *end, size_t local,
			    size_t offset, size_t len, __u64 seed)
{
	__u64 bad;
	int ret;

	ret = interop_ask_range(end, INTEROP_READ, INTEROP_FILL, offset, len, seed);
	if (!ret)
		ret = interop_rma(end, INTEROP_READ, local, offset, len);
	if (ret)
		return ret;
	bad = interop_check(&end->local, local, len, seed);
	if (bad)
		interop_bad(end, true, INTEROP_READ,
			    "%zu bytes from %zu to %zu: byte %llu is wrong", len,
			    offset, local, (unsigned long long)bad - 1);
	interop_clear(&end->local, local, len);
	return interop_ask_range(end, INTEROP_READ, INTEROP_CHECK, offset, len, seed);
}

static int interop_place(struct interop_end *end, enum interop_case which,
			 unsigned int nr, size_t len)
{
	size_t offset = INTEROP_FRONT - 1 + nr % INTEROP_PLACES;
	size_t local = INTEROP_FRONT - 2 + nr % 5;
	__u64 seed = interop_seed(which, nr, len);
	int ret;

	if (which == INTEROP_READ)
		return interop_read_one(end, local, offset, len, seed);
	if (which >= INTEROP_MESSAGE) {
		ret = interop_message(end, which, local, offset, len, seed);
		return ret ? ret : interop_ask_range(end, which, INTEROP_CHECK, offset, len, seed);
	}
	return interop_write_one(end, which, local, offset, len, seed);
}

static unsigned int interop_places(size_t len)
{
	bool pages = (len + 1) % INTEROP_PAGE <= 2;

	return pages && len <= INTEROP_PAGES * INTEROP_PAGE ? INTEROP_PLACES : 1;
}

static int interop_all_lens(struct interop_end *end, enum interop_case which)
{
	unsigned int i, place, nr = 0;
	size_t len;
	int ret = 0;

	if (which >= INTEROP_MESSAGE)
		ret = interop_place(end, which, nr++, 0);
	for (i = 0; i < ARRAY_SIZE(interop_lens); i++) {
		len = interop_lens[i];
		if (len > end->plan->max_len)
			break;
		for (place = 0; !ret && place < interop_places(len); place++)
			ret = interop_place(end, which, nr++, len);
	}
	return ret;
}

/* Where the @nr-th write of a batch goes; there is background between two */
static size_t interop_batch_at(const struct interop_end *end, unsigned int nr)
{
	return INTEROP_FRONT +
	       nr * (interop_datum_len(end, INTEROP_WRITEDATA, INTEROP_BATCH) +
		     2 * INTEROP_GUARD);
}

/* Post a message with CQ data. */
static ssize_t interop_post_msg(struct interop_end *end, enum interop_case which,
				size_t local, size_t len, __u64 data)
{
	INTEROP_IOV iov = {
		.iov_base	= interop_at(&end->local, local),
		.iov_len	= len,
	};
	void *desc = interop_desc(&end->local);
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.desc		= &desc,
		.iov_count	= 1,
		.context	= interop_tx(end),
		.data		= data,
	};
	struct fi_msg_tagged tagged = {
		.msg_iov	= &iov,
		.desc		= &desc,
		.iov_count	= 1,
		.addr		= end->peer,
		.tag		= INTEROP_MAIL,
		.context	= msg.context,
		.data		= data,
	};

	if (end->plan->rdm && which == INTEROP_SENDDATA)
		return fi_tsenddata(end->ep, iov.iov_base, len, desc, data, end->peer,
				    INTEROP_MAIL, msg.context);
	if (end->plan->rdm)
		return fi_tsendmsg(end->ep, &tagged, FI_COMPLETION | FI_REMOTE_CQ_DATA |
				   FI_DELIVERY_COMPLETE);
	if (which == INTEROP_SENDDATA)
		return fi_senddata(end->ep, iov.iov_base, len, desc, data, 0, msg.context);
	return fi_sendmsg(end->ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE);
}

static int interop_batch(struct interop_end *end, enum interop_case which, unsigned int batch)
{
	bool write = which == INTEROP_WRITEDATA;
	__u64 kind = end->plan->rdm ? FI_TAGGED : FI_MSG;
	__u64 want = write ? FI_RMA | FI_WRITE : kind | FI_SEND;
	__u64 seed = interop_seed(which, batch, 0), data;
	size_t at, len;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < INTEROP_BATCH; i++) {
		at = interop_batch_at(end, i);
		len = interop_datum_len(end, which, i);
		data = interop_datum(end, seed, i);
		interop_fill(&end->local, at, len, seed + i);
		if (write)
			ret = interop_post_rma(end, which, at, at, len, data);
		else
			ret = interop_post_msg(end, which, at, len, data);
		interop_count(end, true, which, 1, len);
	}
	if (!ret)
		ret = interop_tx_wait(end);
	if (!ret && end->tx_flags != want)
		interop_bad(end, true, which, "its completion has flags %#llx",
			    (unsigned long long)end->tx_flags);
	if (!ret)
		ret = interop_ask_range(end, which, INTEROP_DATA, 0, INTEROP_BATCH, seed);
	for (i = 0; !ret && write && i < INTEROP_BATCH; i++)
		ret = interop_ask_range(end, which, INTEROP_CHECK, interop_batch_at(end, i),
					interop_datum_len(end, which, i), seed + i);
	return ret;
}

static int interop_batches(struct interop_end *end, enum interop_case which)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < end->plan->batches; i++)
		ret = interop_batch(end, which, i);
	return ret;
}

static int interop_set(struct interop_end *end, enum interop_case which, __u64 value)
{
	struct interop_msg msg = {
		.offset	= cpu_to_le64(INTEROP_WORD),
		.value	= cpu_to_le64(value),
	};

	return interop_ask(end, which, INTEROP_SET, &msg);
}

/* The word, after @ops operations on it */
static int interop_get(struct interop_end *end, enum interop_case which,
		       unsigned int ops, __u64 *value)
{
	struct interop_msg msg = {
		.offset	= cpu_to_le64(INTEROP_WORD),
		.len	= cpu_to_le64(ops),
	};
	int ret;

	ret = interop_ask(end, which, INTEROP_GET, &msg);
	*value = le64_to_cpu(msg.value);
	return ret;
}

static const void *interop_operand(struct interop_end *end, const __u64 *value)
{
	if (end->operand_is_value)
		return (const void *)(uintptr_t)*value;
	return value;
}

/* One operation on the word; what it was before goes to @before. */
static int interop_atomic(struct interop_end *end, enum interop_case which,
			  __u64 operand, __u64 compare, __u64 *before)
{
	__u64 *memory = interop_at(&end->local, 0);
	__u64 addr = end->peer_addr + INTEROP_WORD;
	void *desc = interop_desc(&end->local);
	int ret;

	memory[0] = operand;
	memory[1] = compare;
	memory[2] = ~operand;
	if (which == INTEROP_FETCH_ADD)
		ret = fi_fetch_atomic(end->ep, interop_operand(end, memory), 1, desc, memory + 2,
				      desc, 0, addr, end->peer_key, FI_UINT64, FI_SUM,
				      interop_tx(end));
	else
		ret = fi_compare_atomic(end->ep, interop_operand(end, memory), 1, desc,
					interop_operand(end, memory + 1), desc, memory + 2, desc, 0,
					addr, end->peer_key, FI_UINT64, FI_CSWAP, interop_tx(end));
	if (!ret)
		ret = interop_tx_wait(end);
	if (!ret && !(end->tx_flags & FI_ATOMIC))
		interop_bad(end, true, which, "its completion has flags %#llx",
			    (unsigned long long)end->tx_flags);
	*before = memory[2];
	interop_count(end, true, which, 1, sizeof(*before));
	return ret;
}

/* Does fi_fetch_atomic() add what its operand points to? */
static int interop_probe(struct interop_end *end)
{
	const enum interop_case which = INTEROP_FETCH_ADD;
	__u64 before, after = 0, address = (uintptr_t)interop_at(&end->local, 0);
	int ret;

	ret = interop_set(end, which, 0);
	if (!ret)
		ret = interop_atomic(end, which, 1, 0, &before);
	if (!ret)
		ret = interop_get(end, which, 1, &after);
	if (ret || after == 1)
		return ret;
	end->operand_is_value = after == address;
	interop_say("fi_fetch_atomic() of 1, at %#llx, has added %#llx",
		    (unsigned long long)address, (unsigned long long)after);
	if (!end->operand_is_value || !INTEROP_OPERAND_MAY_BE_VALUE)
		interop_bad(end, true, which, "adding 1 to 0 gave %#llx",
			    (unsigned long long)after);
	return 0;
}

static void interop_expect(struct interop_end *end, enum interop_case which, unsigned int nr,
			   const char *what, __u64 got, __u64 want)
{
	if (got != want)
		interop_bad(end, true, which, "%s %u is %#llx instead of %#llx", what, nr,
			    (unsigned long long)got, (unsigned long long)want);
}

/* A new operand, and what is to be compared, for the @nr-th operation */
static __u64 interop_new(enum interop_case which, unsigned int nr)
{
	static const __u64 special[] = {
		1, 0, ~0ULL, 1ULL << 63, 0x0102030405060708ULL,
	};

	if (nr < ARRAY_SIZE(special))
		return special[nr];
	return interop_hash(which, nr);
}

/* The operation number @nr on the word, which is *@now before and after */
static int interop_atomic_one(struct interop_end *end, enum interop_case which,
			      unsigned int nr, __u64 *now)
{
	__u64 operand = interop_new(which, nr), compare = *now, before;
	int ret;

	/* Every third time something else is compared than what is there */
	if (nr % 3 == 1)
		compare ^= 1ULL << nr % 64;
	ret = interop_atomic(end, which, operand, compare, &before);
	if (ret)
		return ret;
	interop_expect(end, which, nr, "the result of operation", before, *now);
	if (which == INTEROP_FETCH_ADD)
		*now += operand;
	else if (compare == *now)
		*now = operand;
	return 0;
}

static int interop_atomics(struct interop_end *end, enum interop_case which)
{
	__u64 now = ~0ULL, there;
	unsigned int nr, every = 4;
	int ret = 0;

	if (which == INTEROP_FETCH_ADD)
		ret = interop_probe(end);
	if (!ret)
		ret = interop_set(end, which, now);
	for (nr = 0; !ret && nr < INTEROP_ATOMICS; nr++) {
		ret = interop_atomic_one(end, which, nr, &now);
		if (ret || nr % every != every - 1)
			continue;
		ret = interop_get(end, which, every, &there);
		interop_expect(end, which, nr, "the word after operation", there, now);
	}
	return ret ? ret : interop_ask_range(end, which, INTEROP_CLEAR,
					     INTEROP_WORD, sizeof(now), 0);
}

static int interop_run(struct interop_end *end, enum interop_case which)
{
	int ret;

	ret = interop_open(end, which);
	if (ret)
		return ret;
	switch (which) {
	case INTEROP_WRITE:
	case INTEROP_READ:
	case INTEROP_COMMIT:
	case INTEROP_MESSAGE:
	case INTEROP_TAGGED:
	case INTEROP_LATE:
	case INTEROP_TAGGED_LATE:
	case INTEROP_CANCEL:
	case INTEROP_CUT:
		ret = interop_all_lens(end, which);
		break;
	case INTEROP_WRITEDATA:
	case INTEROP_SENDDATA:
		ret = interop_batches(end, which);
		break;
	case INTEROP_DELIVERY:
		ret = interop_all_lens(end, which);
		if (!ret)
			ret = interop_batches(end, which);
		break;
	default:
		ret = interop_atomics(end, which);
	}
	return ret ? ret : interop_ask_range(end, which, INTEROP_CLOSE, 0, 0, 0);
}

int interop_initiate(struct interop_end *end)
{
	enum interop_case which;
	int ret = end->sep ? interop_refused_context(end) : 0;

	for (which = INTEROP_WRITE; !ret && which < INTEROP_MEET; which++) {
		if (!interop_has(end, which))
			continue;
		ret = interop_run(end, which);
		if (ret)
			interop_bad(end, true, which, "ended by: %s", fi_strerror(-ret));
	}
	return ret;
}
