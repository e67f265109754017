// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a completion says when something goes wrong, on each provider.
 *
 * The table between "errors: begin" and "errors: end" of Documentation/client-guide.rst has the
 * same rows; scripts/checks/errors compares the two.
 */
#include <rdma/fi_tagged.h>
#include "conformance.h"

#define LEN	64
#define TAG	7
#define NONE	(-1)	/* the operation is refused, or there is no such operation */
#define ABSENT	(-2)	/* the endpoint does not claim such operations */

enum column {
	ROCE,
	IWARP,
	TCP,
	TCP_RDM,
	LOOP,
	LOOP_RDM,
	COLUMNS,
};

/**
 * struct cause - Something that goes wrong
 * @what: as the page says it
 * @happens: makes it go wrong between two ends, and returns the error of the completion
 * @err: what is to come, by provider; 0: success
 */
struct cause {
	const char	*what;
	int		(*happens)(struct kunit *test, struct vt_pair *pair);
	int		err[COLUMNS];
};

static int next_err(struct kunit *test, struct vt_cq *cq)
{
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
	return comp.err;
}

/* @a accesses memory of @b; @beyond: bytes behind its end, @wrong: what its key is not */
static int access_err(struct kunit *test, struct vt_pair *pair, bool write, u64 access,
		      size_t beyond, u64 wrong)
{
	u8 *mine = vt_buf(test, LEN + 1);
	struct conf_region region;
	int ret;

	if (!conf_has(test, FI_RMA))
		return ABSENT;
	conf_region(test, &region, LEN, access);
	if (write)
		ret = fi_write(pair->a.ep, mine, LEN + beyond, NULL, 0, region.addr,
			       region.key ^ wrong, vt_ctx(1));
	else
		ret = fi_read(pair->a.ep, mine, LEN + beyond, NULL, 0, region.addr,
			      region.key ^ wrong, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = next_err(test, pair->a.tx);
	vt_close(test, &region.mr->fid);
	return ret;
}

static int read_key(struct kunit *test, struct vt_pair *pair)
{
	return access_err(test, pair, false, CONF_ACCESS, 0, 1);
}

static int read_beyond(struct kunit *test, struct vt_pair *pair)
{
	return access_err(test, pair, false, CONF_ACCESS, 1, 0);
}

static int write_key(struct kunit *test, struct vt_pair *pair)
{
	return access_err(test, pair, true, CONF_ACCESS, 0, 1);
}

static int write_beyond(struct kunit *test, struct vt_pair *pair)
{
	return access_err(test, pair, true, CONF_ACCESS, 1, 0);
}

static int write_right(struct kunit *test, struct vt_pair *pair)
{
	return access_err(test, pair, true, FI_REMOTE_READ, 0, 0);
}

/* A write that completes when the peer has it */
static int delivery_key(struct kunit *test, struct vt_pair *pair)
{
	struct conf_region region;
	struct kvec kvec = { vt_buf(test, LEN), LEN };
	struct fi_rma_iov rma = { .len = LEN };
	const struct fi_msg_rma msg = {
		.msg_iov = &kvec, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
		.context = vt_ctx(1),
	};
	int ret;

	if (!conf_has(test, FI_RMA))
		return ABSENT;
	conf_region(test, &region, LEN, CONF_ACCESS);
	rma.addr = region.addr;
	rma.key = region.key ^ 1;
	ret = fi_writemsg(pair->a.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
	ret = ret ? NONE : next_err(test, pair->a.tx);
	vt_close(test, &region.mr->fid);
	return ret;
}

static void send_long(struct kunit *test, struct vt_pair *pair)
{
	vt_recv(test, &pair->b, vt_buf(test, LEN), LEN, vt_ctx(1));
	vt_send(test, &pair->a, vt_buf(test, LEN + 1), LEN + 1, vt_ctx(2));
}

static int recv_long(struct kunit *test, struct vt_pair *pair)
{
	send_long(test, pair);
	return next_err(test, pair->b.rx);
}

static int sent_long(struct kunit *test, struct vt_pair *pair)
{
	send_long(test, pair);
	return next_err(test, pair->a.tx);
}

static int recv_drained(struct kunit *test, struct vt_pair *pair)
{
	vt_recv(test, &pair->b, vt_buf(test, LEN), LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair->b.ep, -1), 0);
	return next_err(test, pair->b.rx);
}

static int recv_cancelled(struct kunit *test, struct vt_pair *pair)
{
	int ret;

	vt_recv(test, &pair->b, vt_buf(test, LEN), LEN, vt_ctx(1));
	ret = fi_cancel(&pair->b.ep->fid, vt_ctx(1));
	return ret ? NONE : next_err(test, pair->b.rx);
}

/* The address of @b, where nobody listens any more */
static int sent_nowhere(struct kunit *test, struct vt_pair *pair)
{
	struct vt_end other = {};
	fi_addr_t addr;

	if (!vt_is_rdm(vt_of(test)->info))
		return NONE;
	vt_client(test, &other, &vt_default_kind);
	addr = vt_know(test, &pair->a, &other);
	vt_end_close(test, &other);
	KUNIT_ASSERT_EQ(test, fi_send(pair->a.ep, vt_buf(test, LEN), LEN, NULL, addr, vt_ctx(1)),
			0);
	return next_err(test, pair->a.tx);
}

/* The vector does not know the address any more */
static int sent_removed(struct kunit *test, struct vt_pair *pair)
{
	struct vt_end other = {};
	fi_addr_t addr;

	if (!vt_is_rdm(vt_of(test)->info))
		return NONE;
	vt_client(test, &other, &vt_default_kind);
	addr = vt_know(test, &pair->a, &other);
	KUNIT_ASSERT_EQ(test, fi_av_remove(pair->a.av, &addr, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair->a.ep, vt_buf(test, LEN), LEN, NULL, addr, vt_ctx(1)),
			0);
	vt_end_close(test, &other);
	return next_err(test, pair->a.tx);
}

static int peek_nothing(struct kunit *test, struct vt_pair *pair)
{
	const struct fi_msg_tagged msg = {
		.addr = FI_ADDR_UNSPEC, .tag = TAG, .context = vt_ctx(1),
	};

	if (fi_trecvmsg(pair->b.ep, &msg, FI_PEEK))
		return NONE;
	return next_err(test, pair->b.rx);
}

#define CAUSE(what, happens, ...) { what, happens, { __VA_ARGS__ } }

/*
 * Columns: verbs on RoCE, verbs on iWARP, tcp with connections, tcp without, loop with
 * connections, loop without
 */
static const struct cause causes[] = {
	/* errors: begin */
	CAUSE("read with a key of no region", read_key,
	      EACCES, ECANCELED, EACCES, EACCES, EACCES, EACCES),
	CAUSE("read beyond the end of a region", read_beyond,
	      EACCES, ECANCELED, EACCES, EACCES, EACCES, EACCES),
	CAUSE("write with a key of no region", write_key, EACCES, 0, 0, 0, EACCES, EACCES),
	CAUSE("that with ``FI_DELIVERY_COMPLETE``", delivery_key,
	      NONE, NONE, EACCES, EACCES, EACCES, EACCES),
	CAUSE("write beyond the end of a region", write_beyond, EACCES, 0, 0, 0, EACCES, EACCES),
	CAUSE("write to a region that is to be read", write_right, EACCES, 0, 0, 0, EACCES, EACCES),
	CAUSE("receive of a message that is longer", recv_long,
	      FI_ETRUNC, FI_ETRUNC, FI_ETRUNC, FI_ETRUNC, FI_ETRUNC, FI_ETRUNC),
	CAUSE("send of that message", sent_long, EREMOTEIO, 0, 0, 0, 0, 0),
	CAUSE("receive, and ``fi_ep_drain()``", recv_drained,
	      ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED),
	CAUSE("receive, and ``fi_cancel()``", recv_cancelled,
	      NONE, NONE, ECANCELED, ECANCELED, ECANCELED, ECANCELED),
	CAUSE("send to an address where nobody listens", sent_nowhere,
	      NONE, NONE, NONE, ECONNREFUSED, NONE, ECONNREFUSED),
	CAUSE("send to an address that was removed", sent_removed,
	      NONE, NONE, NONE, EINVAL, NONE, EINVAL),
	CAUSE("``FI_PEEK`` without a message", peek_nothing,
	      NONE, NONE, NONE, FI_ENOMSG, FI_ENOMSG, FI_ENOMSG),
	/* errors: end */
};

/* COLUMNS: a provider of which the page does not speak */
static enum column column_of(const struct fi_info *info)
{
	const char *prov = info->fabric_attr->prov_name;

	/* Its own errors, whatever is below it, are those of tcp without connections */
	if (strstr(prov, ";ofi_rxm"))
		return TCP_RDM;
	if (!strncmp(prov, "verbs", 5))
		return conf_is_iwarp(info) ? IWARP : ROCE;
	if (!strncmp(prov, "tcp", 3))
		return vt_is_rdm(info) ? TCP_RDM : TCP;
	if (!strncmp(prov, "loop", 4))
		return vt_is_rdm(info) ? LOOP_RDM : LOOP;
	return COLUMNS;
}

static bool is_access(const struct cause *cause)
{
	return cause->happens == read_key || cause->happens == read_beyond ||
	       cause->happens == write_key || cause->happens == write_beyond ||
	       cause->happens == write_right;
}

/*
 * What kofi_rxm has in place of an error of tcp without connections: of an access by loop the error
 * of loop, and of one by verbs that of verbs on the device, or, if the end of the connection is
 * noticed first, that of tcp
 */
static int err_of_rxm(const struct fi_info *info, const struct cause *cause, int err)
{
	const char *prov = info->fabric_attr->prov_name;

	if (!strncmp(prov, "loop", 4) && is_access(cause))
		return cause->err[LOOP_RDM];
	if (strncmp(prov, "verbs", 5) || (cause->happens != delivery_key && !is_access(cause)))
		return cause->err[TCP_RDM];
	return err == ECONNRESET ? ECONNRESET : cause->err[conf_is_iwarp(info) ? IWARP : ROCE];
}

static void each_cause_has_the_error_that_the_page_says(struct kunit *test)
{
	enum column column = column_of(vt_of(test)->info);
	struct vt_pair pair = {};
	int i, err, wanted;

	if (column == COLUMNS)
		return;
	if (vt_is_rdm(vt_of(test)->info) && !conf_want(test, FI_TAGGED))
		return;
	conf_shallow(test, 4);
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(causes); i++) {
		vt_join(test, &pair, &vt_default_kind);
		err = causes[i].happens(test, &pair);
		wanted = causes[i].err[column];
		if (strstr(vt_of(test)->info->fabric_attr->prov_name, ";ofi_rxm"))
			wanted = err_of_rxm(vt_of(test)->info, &causes[i], err);
		if (err != ABSENT)
			KUNIT_EXPECT_EQ_MSG(test, err, wanted, "%s", causes[i].what);
		vt_pair_close(test, &pair);
	}
}

/* Does an access that the target refuses fail alone?  Over verbs the connection ends with it */
static bool refuses_one(const struct fi_info *info)
{
	enum column column = column_of(info);

	if (!strncmp(info->fabric_attr->prov_name, "verbs", 5))
		return false;
	return column == LOOP || column == LOOP_RDM || column == TCP || column == TCP_RDM;
}

/* A read among others, by a wrong key, beyond the end, or of a region that is gone */
static void a_refused_access_ends_no_other_operation(struct kunit *test)
{
	u8 *mine = vt_buf(test, 4 * LEN);
	struct conf_region region, gone;
	struct vt_pair pair = {};
	struct vt_comp comp;
	int how, i;

	if (!conf_has(test, FI_RMA | FI_READ | FI_REMOTE_READ) || !refuses_one(vt_of(test)->info))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, LEN, FI_REMOTE_READ);
	vt_fill(region.buf, LEN, 3);
	for (how = 0; how < 3; how++) {
		u64 wrong[] = { region.key ^ 1, region.key, 0 };

		conf_region(test, &gone, LEN, FI_REMOTE_READ);
		wrong[2] = gone.key;
		vt_close(test, &gone.mr->fid);
		memset(mine, 0, 4 * LEN);
		for (i = 0; i < 4; i++)
			KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, mine + i * LEN, LEN, NULL, 0,
						      region.addr + (i == 1 && how == 1),
						      i == 1 ? wrong[how] : region.key, vt_ctx(i)),
					0);
		for (i = 0; i < 4; i++) {
			KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
			KUNIT_EXPECT_EQ(test, comp.err, comp.context == vt_ctx(1) ? EACCES : 0);
		}
		for (i = 0; i < 4; i++)
			KUNIT_EXPECT_EQ(test, vt_filled(mine + i * LEN, LEN, 3), i != 1);
		vt_ping(test, &pair.a, &pair.b);
	}
}

/* Its peer may access memory, and knows a key; kofi_rxm leaves that to the endpoint below */
static void an_endpoint_that_is_no_target_refuses_each_access(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;
	bool loop = column_of(info) == LOOP_RDM;
	struct fi_info *plain = vt_dup(test, info);
	struct conf_region region;
	struct vt_pair pair = {};

	if (!conf_is_rdm(test) || (!loop && column_of(info) != TCP_RDM) ||
	    strstr(info->fabric_attr->prov_name, ";ofi_rxm") || !conf_has(test, FI_RMA))
		return;
	conf_serve(test);
	plain->caps &= ~(FI_RMA | FI_ATOMIC | FI_TAGGED_RMA);
	vt_client(test, &pair.a, &vt_default_kind);
	vt_end_open(test, &pair.b, plain, &vt_default_kind);
	vt_meet(test, &pair);
	conf_region(test, &region, LEN, CONF_ACCESS);
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, vt_buf(test, LEN), LEN, NULL, 0, region.addr,
				      region.key, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, next_err(test, pair.a.tx), loop ? EACCES : ECONNRESET);
}

/* A write that completes when the peer has it */
static void post_delivery(struct kunit *test, struct vt_pair *pair, u8 *buf, u64 addr, u64 key,
			  void *context)
{
	const struct fi_rma_iov rma = { .addr = addr, .len = LEN, .key = key };
	struct kvec kvec = { buf, LEN };
	const struct fi_msg_rma msg = {
		.msg_iov = &kvec, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
		.context = context,
	};

	KUNIT_ASSERT_EQ(test, fi_writemsg(pair->a.ep, &msg,
					  FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
}

/*
 * Among writes that are acknowledged, and behind a tagged message whose acknowledgment waits for
 * its receive: the error is that of the write that was refused, and of no other operation
 */
static void a_refused_write_ends_no_other_operation(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct kvec kvec = { mine, LEN };
	const struct fi_msg_tagged tagged = {
		.msg_iov = &kvec, .iov_count = 1, .tag = TAG, .context = vt_ctx(8),
	};
	bool tags = vt_is_rdm(vt_of(test)->info) && conf_has(test, FI_TAGGED);
	struct conf_region region;
	struct vt_pair pair = {};
	struct vt_comp comp;
	int i;

	if (!conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE) || !refuses_one(vt_of(test)->info))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, LEN, FI_REMOTE_WRITE);
	vt_fill(mine, LEN, 3);
	if (tags)
		KUNIT_ASSERT_EQ(test, fi_tsendmsg(pair.a.ep, &tagged,
						  FI_COMPLETION | FI_TRANSMIT_COMPLETE), 0);
	for (i = 0; i < 4; i++)
		post_delivery(test, &pair, mine, region.addr, region.key ^ (i == 1), vt_ctx(i));
	if (tags) {
		KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, theirs, LEN, NULL, FI_ADDR_UNSPEC, TAG,
					       0, vt_ctx(9)), 0);
		vt_done(test, pair.b.rx, vt_ctx(9));
		KUNIT_EXPECT_TRUE(test, vt_filled(theirs, LEN, 3));
	}
	for (i = 0; i < 4 + tags; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, comp.context == vt_ctx(1) ? EACCES : 0);
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(region.buf, LEN, 3));
	vt_ping(test, &pair.a, &pair.b);
}

/* Such a message is not delivered, and the next one takes the receive */
static void a_refused_invalidation_ends_no_other_operation(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16), *mem = vt_buf(test, LEN);
	struct kvec iov = { buf, 8 }, kvec = { mem, LEN };
	const struct fi_mr_attr attr = {
		.mr_iov = &kvec, .iov_count = 1, .access = FI_REMOTE_READ, .requested_key = 1,
	};
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(2) };
	/* Otherwise tcp has reported a success already, and ends the connection */
	u64 flags = FI_REMOTE_INV | FI_COMPLETION | FI_DELIVERY_COMPLETE;
	struct vt_pair pair = {};
	struct vt_comp comp;
	struct fid_mr *mr;
	u64 key;

	if (!conf_has(test, FI_REMOTE_INV) || !refuses_one(vt_of(test)->info))
		return;
	conf_join(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair.b.ep->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	key = fi_mr_key(mr);
	vt_recv(test, &pair.b, buf + 8, 8, vt_ctx(1));
	msg.data = key ^ 1;
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, flags), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.a.tx).err, EACCES);
	vt_none(test, pair.b.rx);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
	msg.data = key;
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, flags), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	comp = vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, comp.data, key);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_REMOTE_INV, NULL), 0);
}

static struct kunit_case errors_cases[] = {
	KUNIT_CASE_PARAM(each_cause_has_the_error_that_the_page_says, conf_gen_params),
	KUNIT_CASE_PARAM(a_refused_access_ends_no_other_operation, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_that_is_no_target_refuses_each_access, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_refused_write_ends_no_other_operation, conf_gen_params),
	KUNIT_CASE_PARAM(a_refused_invalidation_ends_no_other_operation, conf_gen_params),
	{}
};

struct kunit_suite conf_errors_suite = {
	.name		= "kofi_conformance_errors",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= errors_cases,
};
