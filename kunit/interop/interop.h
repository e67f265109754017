/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two ends of a connection check each other: this kernel, over kOFI, and a
 * process, over stock libfabric.
 *
 * All files of this folder but kernel.c are compiled twice, into kofi_interop.ko
 * against include/rdma of this tree and into a program against the headers of
 * Debian's libfabric-dev; tools/interop/user.c is the other half of kernel.c.  So
 * both ends make the same fi_* calls.  The programs run what follows in both
 * arrangements, the kernel connecting and the kernel listening.
 *
 * A plan (plan.c) says over which provider, in which form memory is addressed, and
 * how much of what follows is done.  Both programs are given its name.
 *
 * Connections
 *
 *	For each length n up to the most that the provider takes, two requests with
 *	n bytes of data.  The first is rejected, the second accepted, each with data
 *	of another length, so that in the end each length has been in a request, in a
 *	reply and in a rejection.  Then one connection without data.
 *
 * Data
 *
 *	On this connection the end that connected is the initiator and the other
 *	one the target; then they change places.  Whatever an end cannot see itself
 *	it asks the other one to do: messages of 64 bytes, struct interop_msg, each
 *	answered by one of the same size, all fields little-endian.
 *
 *	OPEN	value: case	register the region for it; the background is
 *				everywhere.  Reply: addr, key, len
 *	FILL	offset len seed	put the pattern there
 *	CHECK	offset len seed	the pattern is there and the background around
 *				it; then put the background there, too
 *	SET	offset value	put 64 bits there, in the order of this machine
 *	GET	offset len	the initiator has done len atomics there.  Reply:
 *				value, which is there; the background is around it
 *	CLEAR	offset len	put the background there
 *	DATA	len seed	what came with the last len writes or messages with
 *				CQ data was right: values, lengths, order, receives
 *				used, and the contents of messages
 *	CLOSE			the background is everywhere; unregister
 *	SWAP			the other end is the initiator now
 *	BYE			the end
 *	HERE			both ends are at the same place.  Only with pairs (pairs.c)
 *	EXPECT	offset len	a message of the case comes, and shall go there; the next
 *				CHECK waits for it.  Only without connections (rdm.c)
 *
 *	status of a reply is 0, or what is wrong.  For a pattern that is one more
 *	than the position in the region of the first byte that is not right.
 *
 * Patterns
 *
 *	Bytes of 64-bit words made of their number and a seed.  The seed of a
 *	transfer has the case, its number and its length in it; the first byte
 *	of the transfer is byte 0.  The background has its own seed and counts from
 *	the beginning of the region, so that bytes that are moved are noticed.
 *
 * Results
 *
 *	Each end counts, per case and per initiator, operations and bytes, and what
 *	was wrong.  Whoever runs the two compares: both ends must have counted the
 *	same and have found nothing wrong.
 */
#ifndef _INTEROP_H
#define _INTEROP_H

#ifdef __KERNEL__

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <asm/byteorder.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define INTEROP_ME	"kernel"
#define INTEROP_PEER	"user"
#define INTEROP_MY_PORT	0 /* see rdm.c */
#define INTEROP_PEER_PORT 1
#define INTEROP_SENDS_FIRST 1 /* see pairs.c */
#define INTEROP_HAS_CONTEXTS 1 /* see contexts.c */
#define INTEROP_IOV	struct kvec
#define INTEROP_IOV_LIMIT INTEROP_PIECES
#define INTEROP_OPERAND_MAY_BE_VALUE 0 /* see initiator.c */
#define INTEROP_IS_LIB false
#define INTEROP_LIB_BEFORE(...) false /* see interop_learn_lib() */
#define interop_strdup(s) kstrdup(s, GFP_KERNEL)

#define interop_say(fmt, ...) pr_info(fmt "\n", ##__VA_ARGS__)

#else /* user space */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <linux/types.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define INTEROP_ME	"user"
#define INTEROP_PEER	"kernel"
#define INTEROP_MY_PORT	1
#define INTEROP_PEER_PORT 0
#define INTEROP_SENDS_FIRST 0
#define INTEROP_HAS_CONTEXTS 0
#define INTEROP_IOV	struct iovec
#define INTEROP_IOV_LIMIT 1
#define INTEROP_OPERAND_MAY_BE_VALUE 1
#define INTEROP_IS_LIB true
#define INTEROP_LIB_BEFORE(major, minor) (fi_version() < FI_VERSION(major, minor))
#define interop_strdup(s) strdup(s)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(...)	/* the kernel's compiler checks the formats */
#define cpu_to_le32(x)	htole32(x)
#define le32_to_cpu(x)	le32toh(x)
#define cpu_to_le64(x)	htole64(x)
#define le64_to_cpu(x)	le64toh(x)

#define interop_say(fmt, ...) fprintf(stderr, "interop: " fmt "\n", ##__VA_ARGS__)

#endif

#define INTEROP_API	FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

/* An emulated kernel with all sanitizers on may take seconds for an exchange */
#define INTEROP_PATIENCE_MS	60000
/* How often is looked at what moves only while somebody looks */
#define INTEROP_LOOK_MS		10
/* Nothing comes for so long before a late receive is posted */
#define INTEROP_LATE_MS		20

#define INTEROP_CM_DATA	256	/* most bytes in a request, reply or rejection */
#define INTEROP_MAX	(8 << 20) /* bytes of the longest transfer */
#define INTEROP_FRONT	4096	/* bytes of the region in front of transfers */
#define INTEROP_GUARD	4096	/* bytes around a transfer that are checked */
#define INTEROP_SIZE	(INTEROP_MAX + 3 * INTEROP_FRONT) /* of the region */
#define INTEROP_PIECES	16	/* of which memory may consist */
#define INTEROP_RING	32	/* receives that are posted */
#define INTEROP_DEPTH	64	/* of the queues */

#define INTEROP_BACKGROUND 0	/* seed */

enum interop_case {
	INTEROP_REQUEST,
	INTEROP_ACCEPT,
	INTEROP_REJECT,
	INTEROP_WRITE,
	INTEROP_READ,
	INTEROP_WRITEDATA,
	INTEROP_FETCH_ADD,
	INTEROP_CSWAP,
	INTEROP_SENDDATA,
	INTEROP_DELIVERY,
	INTEROP_COMMIT,
	INTEROP_MESSAGE,
	INTEROP_TAGGED,
	INTEROP_LATE,
	INTEROP_TAGGED_LATE,
	INTEROP_CANCEL,
	INTEROP_CUT,
	INTEROP_MEET,		/* from here on no end is the initiator */
	INTEROP_AV,
	INTEROP_CASES,
};

/**
 * struct interop_plan - What is done
 * @name: its name
 * @prov: the provider
 * @caps: capabilities that are asked for
 * @cases: the bit of each enum interop_case that transfers data
 * @cm_data: most bytes in a request, reply or rejection
 * @cm_step: from one length of connection data to the next
 * @data_size: bytes of remote CQ data
 * @data_takes_receive: a write with CQ data uses up a receive of the target's
 * @virt: the target's memory has virtual addresses, and its domain chooses keys;
 *	else a region begins at 0, and has the key that was asked for
 * @rdm: of endpoints without connections
 * @contexts: the kernel's is a scalable endpoint
 * @max_len: bytes of the longest transfer
 * @region: bytes of the region that are registered; 0: all
 * @batches: of operations with CQ data
 */
struct interop_plan {
	const char		*name;
	const char		*prov;
	__u64			caps;
	unsigned int		cases;
	unsigned int		cm_data;
	unsigned int		cm_step;
	unsigned int		data_size;
	bool			data_takes_receive;
	bool			virt;
	bool			rdm;
	bool			contexts;
	size_t			max_len;
	size_t			region;
	unsigned int		batches;
};

#define INTEROP_MAGIC	0x49464f6b /* "kOFI" */

enum interop_type {
	INTEROP_OPEN = 1,
	INTEROP_FILL,
	INTEROP_CHECK,
	INTEROP_SET,
	INTEROP_GET,
	INTEROP_CLEAR,
	INTEROP_DATA,
	INTEROP_CLOSE,
	INTEROP_SWAP,
	INTEROP_BYE,
	INTEROP_EXPECT,
	INTEROP_HERE,
};

/* Tag of these messages where there are no connections */
#define INTEROP_MAIL	0x6d61696cULL

struct interop_msg {
	__le32	magic;
	__le32	type;		/* that of the request in a reply */
	__le64	status;
	__le64	offset;
	__le64	len;
	__le64	seed;
	__le64	value;
	__le64	addr;
	__le64	key;
};

/* Memory in one or more pieces of the same size */
struct interop_mem {
	__u8			*piece[INTEROP_PIECES];
	size_t			piece_size;
	size_t			size;
	struct fid_mr		*mr;	/* for our own operations */
};

struct interop_result {
	unsigned int		ops;
	unsigned int		bad;
	__u64			bytes;
	char			why[96];	/* what was wrong first */
};

/* What came with CQ data */
struct interop_datum {
	__u64			data;
	size_t			len;
	bool			write;
	__u8			bytes[sizeof(struct interop_msg)]; /* of a message */
};

/* How kofi_rxm sends such a message: in segments */
static inline bool interop_is_segmented(size_t len)
{
	return len > 16384 && len <= 8 * 16384;
}

/* Bytes of a region that its peer reaches */
static inline size_t interop_region(const struct interop_plan *plan)
{
	return plan->region ? plan->region : INTEROP_SIZE;
}

/* How many bytes of a message of a case its receive has room for */
static inline size_t interop_fit(enum interop_case which, size_t len, bool initiator)
{
	bool by_kernel = initiator != INTEROP_IS_LIB;

	if (which != INTEROP_CUT)
		return len;
	/* libfabric loses what fits of segments that do not */
	return by_kernel && interop_is_segmented(len) ? len : len - len / 3;
}

/* The message of a case that is to come */
struct interop_want {
	size_t			offset;	/* in the region */
	size_t			len;
	size_t			fit;	/* bytes of the receive */
	bool			late;	/* its receive is posted later */
	bool			cancelled; /* a first one has been taken back */
	bool			came;
	size_t			got;	/* bytes */
	__u64			flags;
};

struct interop_end {
	const struct interop_plan *plan;
	__u64			write_flags; /* of a peer's write with CQ data */
	bool			write_has_len;
	bool			cq_moves_eq; /* see interop_learn_lib() */

	struct fi_info		*info;
	struct fi_info		*request;	/* that the endpoint was opened with */
	struct fid_fabric	*fabric;
	struct fid_eq		*eq;
	struct fid_pep		*pep;
	struct fid_domain	*domain;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fid_ep		*rx;	/* takes the receives: the same, but for contexts.c */
	struct fid_ep		*sep;
	struct fid_av		*av;
	fi_addr_t		peer;	/* without connections; else 0 */

	struct interop_mem	region;	/* that the peer reaches */
	struct interop_mem	local;	/* from which and to which we transfer */
	struct interop_mem	msgs;	/* the ring of receives, and what we send */
	struct fid_mr		*region_mr;

	unsigned int		next;	/* receive of the ring to be used next */
	bool			mail;
	struct interop_msg	in;	/* if there is mail */
	unsigned int		data_count;
	struct interop_datum	data[INTEROP_RING];
	struct interop_want	want;

	unsigned long		tx_posted;
	unsigned long		tx_done;
	__u64			tx_flags; /* of the last completion */

	__u64			peer_addr; /* of the peer's region */
	__u64			peer_key;
	bool			operand_is_value; /* see initiator.c */

	/* last; by the initiator, or who sends the data: the peer, me */
	struct interop_result	result[2][INTEROP_CASES];
};

/* kernel.c or user.c */
int interop_getinfo(const char *node, int service, __u64 flags,
		    const struct fi_info *hints, struct fi_info **info);
int interop_alloc(struct interop_mem *mem, size_t size);
/*
 * The region of the case INTEROP_COMMIT is persistent memory: flags of its registration.  The
 * kernel takes its own memory for such and counts what is made durable; libfabric flushes
 * whatever a commit says, and tells nobody.
 */
__u64 interop_persistent(void);
/* Exactly @len bytes have been made durable since the last call */
bool interop_durable(size_t len);
void interop_free(struct interop_mem *mem);
/* Connections that were accepted at one of these addresses and stand; -1: this end sees none */
int interop_connections(const struct sockaddr_in *a, const struct sockaddr_in *b);

/*
 * mem.c: patterns.  What checks returns 0, or one more than the position of the
 * first byte that is wrong.
 */
__u64 interop_hash(__u64 seed, __u64 nr);
void interop_fill(struct interop_mem *mem, size_t offset, size_t len, __u64 seed);
/* Are these the first bytes of a pattern?  No more than fit into a message */
bool interop_is_pattern(const __u8 *bytes, size_t len, __u64 seed);
/* The background */
void interop_clear(struct interop_mem *mem, size_t offset, size_t len);
__u64 interop_check_clear(struct interop_mem *mem, size_t offset, size_t len);
/* Is the background around these bytes? */
__u64 interop_check_around(struct interop_mem *mem, size_t offset, size_t len);
/* Is the pattern here, and the background around it? */
__u64 interop_check(struct interop_mem *mem, size_t offset, size_t len,
		    __u64 seed);
void *interop_at(struct interop_mem *mem, size_t offset);
/* Elements of @iov that the range takes */
size_t interop_list(struct interop_mem *mem, size_t offset, size_t len, INTEROP_IOV *iov);

/* result.c */
void interop_count(struct interop_end *end, bool me, enum interop_case which,
		   unsigned int ops, __u64 bytes);
__printf(4, 5)
void interop_bad(struct interop_end *end, bool me, enum interop_case which, const char *fmt, ...);
/* One line of a report into @buf; 0 when @nr is behind the last */
int interop_line(const struct interop_end *end, unsigned int nr, char *buf, size_t len);
bool interop_good(const struct interop_end *end);

/* msg.c: completions and messages.  0 or a negative errno */
int interop_ring(struct interop_end *end);
void *interop_tx(struct interop_end *end);
/*
 * Is a call that has returned @ret to be repeated?  It is if libfabric had no connection yet,
 * or was busy with a message; @tries counts.
 */
bool interop_again(struct interop_end *end, ssize_t ret, unsigned int *tries);
/* Takes one completion; -EAGAIN: there was none within that time */
int interop_reap(struct interop_end *end, int timeout_ms);
int interop_tx_wait(struct interop_end *end);
int interop_send(struct interop_end *end, const struct interop_msg *msg);
int interop_recv(struct interop_end *end, struct interop_msg *msg);
/* A request and its reply, both in @msg */
int interop_call(struct interop_end *end, enum interop_type type, struct interop_msg *msg);
static inline void *interop_desc(const struct interop_mem *mem)
{
	return mem->mr ? fi_mr_desc(mem->mr) : NULL;
}

/* initiator.c, target.c: until the peer is the initiator or says goodbye */
int interop_initiate(struct interop_end *end);
int interop_target(struct interop_end *end, enum interop_type until);
__u64 interop_datum(const struct interop_end *end, __u64 seed, unsigned int nr);
size_t interop_datum_len(const struct interop_end *end, enum interop_case which, unsigned int nr);

/* rdm.c */
int interop_rdm_open(struct interop_end *end, int service);
int interop_message(struct interop_end *end, enum interop_case which, size_t local,
		    size_t offset, size_t len, __u64 seed);
int interop_do_expect(struct interop_end *end, enum interop_case which, size_t offset, size_t len);
int interop_do_late(struct interop_end *end, enum interop_case which);
int interop_wanted(struct interop_end *end, enum interop_case which);

/* contexts.c */
#define INTEROP_CTX_BITS	1	/* of fi_rx_addr() */
bool interop_has_contexts(const struct interop_end *end);
void interop_want_contexts(struct fi_info *hints);
int interop_open_contexts(struct interop_end *end, struct fi_info *info);
int interop_refused_context(struct interop_end *end);

/* pairs.c */
int interop_meet(struct interop_end *end, bool connected);

/* plan.c: 0 or a negative errno */
int interop_choose(struct interop_end *end, const char *plan);
static inline bool interop_has(const struct interop_end *end, enum interop_case which)
{
	return end->plan->cases & (1U << which);
}

/* conn.c: all that there is to do after interop_choose(), 0 or a negative errno */
int interop_listen(struct interop_end *end, const char *node, int service);
int interop_serve(struct interop_end *end);
int interop_connect(struct interop_end *end, const char *node, int service);
int interop_close(struct interop_end *end);
void interop_close_fid(struct fid *fid, int *ret);
int interop_open_domain(struct interop_end *end, struct fi_info *info);
int interop_open_ep(struct interop_end *end, struct fi_info *info);

#endif /* _INTEROP_H */
