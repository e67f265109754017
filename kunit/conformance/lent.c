// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Long lists: with FI_ASYNC_IOV a client lends its lists, and they may have 256 elements, of each
 * kind, for each kind of operation.
 *
 * The elements are in 256 pages, at odd offsets.  @a has lists of SHORT elements and @b of LONG
 * ones, so an element of one list ends within an element of the other.  Each byte follows from its
 * position.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/fi_tagged.h>
#include "conformance.h"

#define ELEMS	256
#define TAG	0x4711
#define WAITING	40	/* elements of a message that a provider may keep until its receive comes */

enum shape {
	SHORT,
	LONG,
};

/**
 * struct lent - A list, and its memory
 * @type: what it consists of
 * @shape: lengths and offsets of its elements
 * @mem: a page for each element
 * @len: bytes of the list
 * @kvec: the list
 * @bvec: the list
 * @sgl: the list
 */
struct lent {
	enum fi_buf_type	type;
	enum shape		shape;
	u8			*mem;
	size_t			len;
	union {
		struct kvec		kvec[ELEMS];
		struct bio_vec		bvec[ELEMS];
		struct scatterlist	sgl[ELEMS];
	};
};

/* Element @i of a list */
static u8 *elem(const struct lent *lent, int i, size_t *len)
{
	*len = lent->shape == SHORT ? 1000 + i * 13 % 900 : 2000 + i * 17 % 1500;
	return lent->mem + i * PAGE_SIZE + 1 + i * (lent->shape == SHORT ? 38 : 42) % 500;
}

/* The list over the memory, which is the same each time */
static void make_list(struct lent *lent)
{
	size_t len;
	u8 *buf;
	int i;

	lent->len = 0;
	if (lent->type == FI_BUF_SGL)
		sg_init_table(lent->sgl, ELEMS);
	for (i = 0; i < ELEMS; i++) {
		buf = elem(lent, i, &len);
		if (lent->type == FI_BUF_KVEC)
			lent->kvec[i] = (struct kvec) { buf, len };
		else if (lent->type == FI_BUF_BVEC)
			bvec_set_page(&lent->bvec[i], virt_to_page(buf), len, offset_in_page(buf));
		else
			sg_set_buf(&lent->sgl[i], buf, len);
		lent->len += len;
	}
}

/* The list is the client's again, who uses the memory for something else */
static void spoil(struct lent *lent)
{
	memset(lent->sgl, 0xff, sizeof(lent->sgl));
}

static struct lent *lent_new(struct kunit *test, enum shape shape)
{
	struct lent *lent = vt_buf(test, sizeof(*lent));

	lent->shape = shape;
	lent->mem = vt_buf(test, ELEMS * PAGE_SIZE);
	return lent;
}

static u8 byte_at(size_t pos, int seed)
{
	return pos * 7 + pos / 251 + seed;
}

/* Fills a list; false, with @check: the first @max bytes are not those of such a list */
static bool stream(const struct lent *lent, size_t max, int seed, bool check)
{
	size_t pos = 0, len, j;
	u8 *buf;
	int i;

	for (i = 0; i < ELEMS; i++) {
		buf = elem(lent, i, &len);
		for (j = 0; j < len && pos < max; j++, pos++) {
			if (!check)
				buf[j] = byte_at(pos, seed);
			else if (buf[j] != byte_at(pos, seed))
				return false;
		}
	}
	return true;
}

/* false: there are no lists that are lent, and the case has seen that */
static bool lent_join(struct kunit *test, struct vt_pair *pair)
{
	struct fi_info *hints = conf_ask(test), *info;
	size_t limit = vt_of(test)->info->tx_attr->iov_limit;
	u64 *const modes[] = { &hints->tx_attr->mode, &hints->rx_attr->mode }, *const *mode;
	int ret;

	hints->tx_attr->rma_read_iov_limit = 0;
	hints->tx_attr->rma_write_iov_limit = 0;
	hints->tx_attr->mode = 0;
	hints->rx_attr->mode = 0;
	hints->mode = CONF_MODE | FI_ASYNC_IOV;
	/* A client that lends the lists of one direction lends none */
	for (mode = modes; mode < modes + ARRAY_SIZE(modes); mode++) {
		**mode = CONF_MODE;
		KUNIT_ASSERT_EQ(test, conf_getinfo(test, hints, &info), 0);
		KUNIT_EXPECT_EQ(test, info->mode & FI_ASYNC_IOV, 0);
		**mode = 0;
	}
	hints->tx_attr->iov_limit = ELEMS;
	hints->rx_attr->iov_limit = ELEMS;
	hints->mode = CONF_MODE;
	/* A client that does not lend its lists has none that are so long */
	if (limit < ELEMS)
		KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
	hints->mode |= FI_ASYNC_IOV;
	ret = conf_getinfo(test, hints, &info);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENODATA);
		KUNIT_EXPECT_LT(test, limit, ELEMS);
		return false;
	}
	KUNIT_EXPECT_EQ(test, info->tx_attr->iov_limit, ELEMS);
	KUNIT_EXPECT_EQ(test, info->rx_attr->iov_limit, ELEMS);
	KUNIT_EXPECT_EQ(test, info->mode & ~CONF_MODE, FI_ASYNC_IOV);
	vt_of(test)->info = info;
	conf_join(test, pair);
	return true;
}

static void send_list(struct kunit *test, struct vt_pair *pair, const struct lent *from,
		      const struct lent *to)
{
	struct fi_msg msg = {
		.type		= to->type,
		.msg_iov	= to->kvec,
		.iov_count	= ELEMS,
		.context	= vt_ctx(1),
	};

	KUNIT_ASSERT_EQ(test, fi_recvmsg(pair->b.ep, &msg, FI_COMPLETION), 0);
	msg.type = from->type;
	msg.msg_iov = from->kvec;
	msg.context = vt_ctx(2);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair->a.ep, &msg, FI_COMPLETION), 0);
}

static void post_tagged(struct kunit *test, struct vt_pair *pair, const struct lent *to)
{
	struct fi_msg_tagged msg = {
		.type		= to->type,
		.msg_iov	= to->kvec,
		.iov_count	= ELEMS,
		.addr		= FI_ADDR_UNSPEC,
		.tag		= TAG,
		.context	= vt_ctx(1),
	};

	KUNIT_ASSERT_EQ(test, fi_trecvmsg(pair->b.ep, &msg, FI_COMPLETION), 0);
}

static void tsend_list(struct kunit *test, struct vt_pair *pair, const struct lent *from,
		       const struct lent *to)
{
	struct fi_msg_tagged msg = {
		.type		= from->type,
		.msg_iov	= from->kvec,
		.iov_count	= ELEMS,
		.tag		= TAG,
		.context	= vt_ctx(2),
	};

	post_tagged(test, pair, to);
	KUNIT_ASSERT_EQ(test, fi_tsendmsg(pair->a.ep, &msg, FI_COMPLETION), 0);
}

/* @flags: FI_TAGGED, and @key is a tag; or 0 */
static void access_list(struct kunit *test, struct vt_pair *pair, bool write,
			const struct lent *mine, u64 addr, u64 key, u64 flags)
{
	const struct fi_rma_iov rma = { .addr = addr, .len = mine->len, .key = key };
	const struct fi_msg_rma msg = {
		.type		= mine->type,
		.msg_iov	= mine->kvec,
		.iov_count	= ELEMS,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= vt_ctx(2),
	};

	flags |= FI_COMPLETION | FI_TRANSMIT_COMPLETE;
	if (write)
		KUNIT_ASSERT_EQ(test, fi_writemsg(pair->a.ep, &msg, flags), 0);
	else
		KUNIT_ASSERT_EQ(test, fi_readmsg(pair->a.ep, &msg, flags & ~FI_TRANSMIT_COMPLETE),
				0);
}

/* A region of a long list; the list is the caller's when the call returns */
static struct fid_mr *region(struct kunit *test, struct lent *theirs, u64 requested)
{
	const struct fi_mr_attr attr = {
		.type		= theirs->type,
		.mr_iov		= theirs->kvec,
		.iov_count	= ELEMS,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key	= requested,
	};
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, 0, &mr), 0);
	vt_adopt(test, &mr->fid);
	spoil(theirs);
	return mr;
}

enum op {
	DO_SEND,
	DO_TSEND,
	DO_WRITE,
	DO_READ,
	DO_TAGGED_WRITE,
	DO_TAGGED_READ,
	DO_OPS,
};

static const u64 needs[DO_OPS] = {
	[DO_SEND]		= FI_MSG | FI_SEND | FI_RECV,
	[DO_TSEND]		= FI_TAGGED | FI_SEND | FI_RECV,
	[DO_WRITE]		= FI_RMA | FI_WRITE | FI_REMOTE_WRITE,
	[DO_READ]		= FI_RMA | FI_READ | FI_REMOTE_READ,
	[DO_TAGGED_WRITE]	= FI_TAGGED_RMA | FI_WRITE | FI_REMOTE_WRITE,
	[DO_TAGGED_READ]	= FI_TAGGED_RMA | FI_READ | FI_REMOTE_READ,
};

/* One operation, from the call to the completions; both lists are spoiled behind them */
static void carry(struct kunit *test, struct vt_pair *pair, enum op op, struct lent *mine,
		  struct lent *theirs)
{
	bool read = op == DO_READ || op == DO_TAGGED_READ;
	struct fid_mr *mr = NULL;
	int seed = 16 * op + 4 * mine->type + theirs->type;

	make_list(mine);
	make_list(theirs);
	stream(read ? theirs : mine, SIZE_MAX, seed, false);
	stream(read ? mine : theirs, SIZE_MAX, seed + 1, false);
	switch (op) {
	case DO_SEND:
		send_list(test, pair, mine, theirs);
		break;
	case DO_TSEND:
		tsend_list(test, pair, mine, theirs);
		break;
	case DO_WRITE:
	case DO_READ:
		mr = region(test, theirs, seed + 1);
		access_list(test, pair, !read, mine, fi_mr_addr(mr), fi_mr_key(mr), 0);
		break;
	default:
		post_tagged(test, pair, theirs);
		access_list(test, pair, !read, mine, 0, TAG, FI_TAGGED);
		break;
	}
	vt_done(test, pair->a.tx, vt_ctx(2));
	spoil(mine);
	if (!mr) {
		KUNIT_EXPECT_EQ(test, vt_done(test, pair->b.rx, vt_ctx(1)).len, mine->len);
		spoil(theirs);
	} else {
		vt_ping(test, &pair->a, &pair->b);
		vt_close(test, &mr->fid);
	}
	KUNIT_EXPECT_TRUE_MSG(test, stream(read ? mine : theirs, mine->len, seed, true),
			      "operation %d, types %d and %d", op, mine->type, theirs->type);
}

static void long_lists_of_each_kind_are_carried(struct kunit *test)
{
	struct lent *mine, *theirs;
	struct vt_pair pair = {};
	enum op op;

	if (!lent_join(test, &pair))
		return;
	mine = lent_new(test, SHORT);
	theirs = lent_new(test, LONG);
	for (op = 0; op < DO_OPS; op++) {
		if (!conf_has(test, needs[op]))
			continue;
		for (mine->type = 0; mine->type <= FI_BUF_SGL; mine->type++)
			for (theirs->type = 0; theirs->type <= FI_BUF_SGL; theirs->type++)
				carry(test, &pair, op, mine, theirs);
	}
}

/* The provider may have copied the message, and has to spread the copy over the list */
static void a_message_that_waits_goes_to_a_long_list(struct kunit *test)
{
	struct fi_msg_tagged msg = { .iov_count = WAITING, .tag = TAG, .context = vt_ctx(2) };
	u8 *after = vt_buf(test, 2);
	struct lent *mine, *theirs;
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!vt_is_rdm(vt_of(test)->info) || !conf_has(test, needs[DO_TSEND]))
		return;
	if (!lent_join(test, &pair))
		return;
	mine = lent_new(test, SHORT);
	theirs = lent_new(test, SHORT);
	for (theirs->type = 0; theirs->type <= FI_BUF_SGL; theirs->type++) {
		make_list(mine);
		make_list(theirs);
		stream(mine, SIZE_MAX, theirs->type, false);
		stream(theirs, SIZE_MAX, theirs->type + 1, false);
		msg.msg_iov = mine->kvec;
		KUNIT_ASSERT_EQ(test, fi_tsendmsg(pair.a.ep, &msg, FI_COMPLETION), 0);
		/* It is there when the message behind it is */
		vt_recv(test, &pair.b, after, 1, vt_ctx(3));
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, after + 1, 1, 0), 0);
		vt_done(test, pair.b.rx, vt_ctx(3));
		post_tagged(test, &pair, theirs);
		vt_done(test, pair.a.tx, vt_ctx(2));
		comp = vt_done(test, pair.b.rx, vt_ctx(1));
		KUNIT_EXPECT_TRUE_MSG(test, stream(theirs, comp.len, theirs->type, true),
				      "type %d", theirs->type);
	}
}

/* Nothing is posted, so a list that is refused is the caller's */
static void a_long_list_has_no_empty_element(struct kunit *test)
{
	struct vt_pair pair = {};
	struct lent *mine;
	struct fi_msg msg;

	if (!lent_join(test, &pair) || !(vt_of(test)->info->mode & FI_ASYNC_IOV))
		return;
	mine = lent_new(test, SHORT);
	for (mine->type = 0; mine->type <= FI_BUF_SGL; mine->type++) {
		make_list(mine);
		if (mine->type == FI_BUF_KVEC)
			mine->kvec[ELEMS - 1].iov_len = 0;
		else if (mine->type == FI_BUF_BVEC)
			mine->bvec[ELEMS - 1].bv_len = 0;
		else
			mine->sgl[ELEMS - 1].length = 0;
		msg = (struct fi_msg) {
			.type		= mine->type,
			.msg_iov	= mine->kvec,
			.iov_count	= ELEMS,
		};
		KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION), -EINVAL);
		KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.b.ep, &msg, FI_COMPLETION), -EINVAL);
	}
	/* The list of a scatterlist ends before its count */
	msg.iov_count = ELEMS + 1;
	mine->sgl[ELEMS - 1].length = 1;
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case lent_cases[] = {
	KUNIT_CASE_PARAM(long_lists_of_each_kind_are_carried, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_that_waits_goes_to_a_long_list, conf_gen_params),
	KUNIT_CASE_PARAM(a_long_list_has_no_empty_element, conf_gen_params),
	{}
};

struct kunit_suite conf_lent_suite = {
	.name		= "kofi_conformance_lent",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= lent_cases,
};
