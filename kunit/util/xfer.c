// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which operations an endpoint has, and their flags, include/kofi/xfer.h; and that each call of a
 * client describes its operation as include/rdma says.
 */
#include <kofi/provider.h>
#include <kofi/xfer.h>
#include "../lib/refusal.h"
#include "util.h"

static const struct kofi_ep_limits limits = {
	.tx_flags	= FI_COMPLETION | FI_INJECT | FI_MORE | FI_FENCE | FI_REMOTE_INV |
			  FI_TRANSMIT_COMPLETE,
	.recv_flags	= FI_COMPLETION | FI_MORE,
	.trecv_flags	= FI_COMPLETION | FI_PEEK,
};

/**
 * struct xfer_test - A case
 * @ep: the endpoint
 * @type: kind of the last operation
 * @flags: its flags
 * @count: elements of its list
 * @len: bytes of its remote memory
 */
struct xfer_test {
	struct kofi_ep		ep;
	u8			type;
	u64			flags;
	size_t			count;
	size_t			len;
};

static ssize_t xfer_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	struct xfer_test *xt = container_of(ep, struct xfer_test, ep.ep);

	xt->type = xfer->type;
	xt->count = xfer->count;
	if (xfer->type == FI_OP_READ || xfer->type == FI_OP_WRITE)
		xt->len = to_fi_rma_xfer(xfer)->rma->len;
	else if (xfer->type >= FI_OP_ATOMIC)
		xt->len = to_fi_atomic_xfer(xfer)->ioc->count;
	return kofi_xfer_check(&xt->ep, xfer, &xt->flags);
}

static const struct fi_ops_xfer xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= kofi_xfer_send,
	.recv		= kofi_xfer_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= xfer_post,
	.atomicvalid	= fi_no_atomicvalid,
};

static struct xfer_test *new_test(struct kunit *test, u64 caps)
{
	struct xfer_test *xt = vt_buf(test, sizeof(*xt));

	memset(xt, 0, sizeof(*xt));
	xt->ep.limits = &limits;
	xt->ep.ep.xfer = &xfer_ops;
	xt->ep.tx.implied = FI_COMPLETION;
	xt->ep.rx.implied = FI_COMPLETION;
	kofi_ep_set_xfers(&xt->ep, caps);
	return xt;
}

#define ALL	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC)

static ssize_t do_send(struct fid_ep *ep)
{
	return fi_send(ep, "x", 1, NULL, 0, NULL);
}

static ssize_t do_recv(struct fid_ep *ep)
{
	return fi_recv(ep, NULL, 0, NULL, 0, NULL);
}

static ssize_t do_tsend(struct fid_ep *ep)
{
	return fi_tsend(ep, "x", 1, NULL, 0, 0, NULL);
}

static ssize_t do_trecv(struct fid_ep *ep)
{
	return fi_trecv(ep, NULL, 0, NULL, 0, 0, 0, NULL);
}

static ssize_t do_read(struct fid_ep *ep)
{
	return fi_read(ep, NULL, 0, NULL, 0, 0, 0, NULL);
}

static ssize_t do_write(struct fid_ep *ep)
{
	return fi_write(ep, "x", 1, NULL, 0, 0, 0, NULL);
}

static ssize_t do_atomic(struct fid_ep *ep)
{
	return fi_atomic(ep, "x", 1, NULL, 0, 0, 0, FI_UINT8, FI_SUM, NULL);
}

static ssize_t do_fetch(struct fid_ep *ep)
{
	return fi_fetch_atomic(ep, "x", 1, NULL, NULL, NULL, 0, 0, 0, FI_UINT8, FI_SUM, NULL);
}

static ssize_t do_compare(struct fid_ep *ep)
{
	return fi_compare_atomic(ep, "x", 1, NULL, "x", NULL, NULL, NULL, 0, 0, 0, FI_UINT8,
				 FI_CSWAP, NULL);
}

static const struct call {
	const char	*name;
	enum fi_op_type	type;
	u64		cap;
	ssize_t		(*call)(struct fid_ep *ep);
} calls[] = {
	{ "send", FI_OP_SEND, FI_MSG, do_send },
	{ "recv", FI_OP_RECV, FI_MSG, do_recv },
	{ "tsend", FI_OP_TSEND, FI_TAGGED, do_tsend },
	{ "trecv", FI_OP_TRECV, FI_TAGGED, do_trecv },
	{ "read", FI_OP_READ, FI_RMA, do_read },
	{ "write", FI_OP_WRITE, FI_RMA, do_write },
	{ "atomic", FI_OP_ATOMIC, FI_ATOMIC, do_atomic },
	{ "fetch_atomic", FI_OP_FETCH_ATOMIC, FI_ATOMIC, do_fetch },
	{ "compare_atomic", FI_OP_COMPARE_ATOMIC, FI_ATOMIC, do_compare },
};

KUNIT_ARRAY_PARAM_DESC(call, calls, name);

static bool receives(const struct call *call)
{
	return call->type == FI_OP_RECV || call->type == FI_OP_TRECV;
}

static void operation_needs_its_capability(struct kunit *test)
{
	const struct call *call = test->param_value;
	struct xfer_test *xt = new_test(test, call->cap);

	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), 0);
	KUNIT_EXPECT_EQ(test, xt->type, call->type);
	kofi_ep_set_xfers(&xt->ep, ALL & ~call->cap);
	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), -ENOSYS);
}

static void operation_needs_its_direction(struct kunit *test)
{
	const struct call *call = test->param_value;
	struct xfer_test *xt = new_test(test, ALL);

	xt->ep.no_rx = true;
	kofi_ep_set_xfers(&xt->ep, ALL);
	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), receives(call) ? -ENOSYS : 0);
	xt->ep.no_rx = false;
	xt->ep.no_tx = true;
	kofi_ep_set_xfers(&xt->ep, ALL);
	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), receives(call) ? 0 : -ENOSYS);
}

static void success_is_reported_unless_the_side_is_selective(struct kunit *test)
{
	const struct call *call = test->param_value;
	struct xfer_test *xt = new_test(test, ALL);

	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), 0);
	KUNIT_EXPECT_EQ(test, xt->flags, FI_COMPLETION);
	xt->ep.tx.implied = 0;
	xt->ep.rx.implied = 0;
	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), 0);
	KUNIT_EXPECT_EQ(test, xt->flags, 0);
}

/* FI_INJECT is the default flag of what has data of its own only */
static void default_flags_are_those_of_the_side(struct kunit *test)
{
	const struct call *call = test->param_value;
	struct xfer_test *xt = new_test(test, ALL);
	bool injects = !receives(call) && call->type != FI_OP_READ &&
		       call->type < FI_OP_FETCH_ATOMIC;

	xt->ep.tx.implied = 0;
	xt->ep.rx.implied = 0;
	xt->ep.tx.op_flags = FI_TRANSMIT_COMPLETE | FI_INJECT;
	xt->ep.rx.op_flags = FI_COMPLETION;
	KUNIT_EXPECT_EQ(test, call->call(&xt->ep.ep), 0);
	KUNIT_EXPECT_EQ(test, xt->flags, receives(call) ? FI_COMPLETION :
			FI_TRANSMIT_COMPLETE | (injects ? FI_INJECT : 0));
}

static void flags_of_a_call_replace_default_flags(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);
	const struct kvec iov = { "x", 1 };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	xt->ep.tx.op_flags = FI_TRANSMIT_COMPLETE;
	KUNIT_EXPECT_EQ(test, fi_sendmsg(&xt->ep.ep, &msg, FI_MORE | FI_REMOTE_INV), 0);
	KUNIT_EXPECT_EQ(test, xt->flags, FI_COMPLETION | FI_MORE | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(&xt->ep.ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(&xt->ep.ep, &msg, FI_MORE), 0);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(&xt->ep.ep, &msg, FI_FENCE), -FI_EBADFLAGS);
}

static void only_a_message_invalidates_a_key(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);
	const struct kvec iov = { "x", 1 };
	const struct fi_rma_iov rma = { .len = 1 };
	const struct fi_msg_tagged tagged = { .msg_iov = &iov, .iov_count = 1 };
	const struct fi_msg_rma write = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &rma,
					  .rma_iov_count = 1 };

	KUNIT_EXPECT_EQ(test, fi_tsendmsg(&xt->ep.ep, &tagged, FI_REMOTE_INV), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(&xt->ep.ep, &write, FI_REMOTE_INV), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_readmsg(&xt->ep.ep, &write, FI_INJECT), -FI_EBADFLAGS);
}

static void inject_is_not_reported(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);

	xt->ep.tx.op_flags = FI_COMPLETION;
	KUNIT_EXPECT_EQ(test, fi_inject(&xt->ep.ep, "x", 1, 0), 0);
	KUNIT_EXPECT_EQ(test, xt->flags, FI_INJECT);
	KUNIT_EXPECT_EQ(test, fi_inject_write(&xt->ep.ep, "x", 1, 0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, xt->flags, FI_INJECT);
}

/* The limits have no FI_REMOTE_CQ_DATA */
static void call_whose_name_implies_a_flag_needs_it(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);

	KUNIT_EXPECT_EQ(test, fi_senddata(&xt->ep.ep, "x", 1, NULL, 5, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tinjectdata(&xt->ep.ep, "x", 1, 5, 0, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_inject_writedata(&xt->ep.ep, "x", 1, 5, 0, 0, 0), -ENOSYS);
}

static void remote_memory_is_as_long_as_the_list(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);
	const struct kvec iov[] = { { "abc", 3 }, { "de", 2 } };
	const struct kvec huge[] = { { "abc", SIZE_MAX }, { "de", 2 } };
	const struct fi_ioc ioc[] = { { "abc", 3 }, { "de", 2 } };
	struct fi_ioc result = { NULL, 7 };

	KUNIT_EXPECT_EQ(test, fi_writev(&xt->ep.ep, iov, NULL, 2, 0, 0, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, xt->len, 5);
	KUNIT_EXPECT_EQ(test, xt->count, 2);
	KUNIT_EXPECT_EQ(test, fi_readv(&xt->ep.ep, huge, NULL, 2, 0, 0, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, xt->len, SIZE_MAX);
	KUNIT_EXPECT_EQ(test, fi_atomicv(&xt->ep.ep, ioc, NULL, 2, 0, 0, 0, FI_UINT8, FI_SUM,
					 NULL), 0);
	KUNIT_EXPECT_EQ(test, xt->len, 5);
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicv(&xt->ep.ep, NULL, NULL, 0, &result, NULL, 1, 0, 0,
					       0, FI_UINT8, FI_ATOMIC_READ, NULL), 0);
	KUNIT_EXPECT_EQ(test, xt->len, 7);
}

/* They take four flags, and not those that ask for something else than a transfer */
static void rw_operation_has_few_flags(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);

	KUNIT_EXPECT_EQ(test, fi_writesgl(&xt->ep.ep, NULL, 0, 0, 9, 0, 0, 0, NULL, FI_FENCE), 0);
	KUNIT_EXPECT_EQ(test, xt->len, 9);
	KUNIT_EXPECT_EQ(test, fi_writesgl(&xt->ep.ep, NULL, 0, 0, 9, 0, 0, 0, NULL, FI_MORE),
			-FI_EBADFLAGS);
}

#define PMEM	(FI_COMMIT_COMPLETE | FI_SAVE)

static const struct pmem_row {
	const char	*name;
	enum fi_op_type	type;
	enum fi_op	op;
	u64		flags;
	bool		commit;
	bool		save;
	bool		both;
} pmem_rows[] = {
	{ "send", FI_OP_SEND, .save = true },
	{ "send with remote CQ data", FI_OP_SEND, .flags = FI_REMOTE_CQ_DATA },
	{ "tsend", FI_OP_TSEND, .save = true },
	{ "write", FI_OP_WRITE, .commit = true, .save = true, .both = true },
	{ "tagged write", FI_OP_WRITE, .flags = FI_TAGGED },
	{ "read", FI_OP_READ, .save = true, .both = true },
	{ "atomic", FI_OP_ATOMIC, FI_SUM, .commit = true, .save = true, .both = true },
	{ "fetch", FI_OP_FETCH_ATOMIC, FI_SUM, .commit = true, .save = true, .both = true },
	{ "atomic read", FI_OP_FETCH_ATOMIC, FI_ATOMIC_READ, .save = true, .both = true },
	{ "compare", FI_OP_COMPARE_ATOMIC, FI_CSWAP, .commit = true },
	{ "recv", FI_OP_RECV },
};

KUNIT_ARRAY_PARAM_DESC(pmem, pmem_rows, name);

static void persistent_memory_is_for_what_changes_regions(struct kunit *test)
{
	static const struct kofi_ep_limits pmem_limits = {
		.tx_flags	= PMEM | FI_REMOTE_CQ_DATA | FI_TAGGED,
		.recv_flags	= PMEM,
	};
	const struct pmem_row *row = test->param_value;
	struct xfer_test *xt = new_test(test, ALL);
	const struct fi_atomic_xfer op = { .xfer.type = row->type, .op = row->op };
	u64 cap = row->type < FI_OP_ATOMIC ? FI_RMA_PMEM : FI_ATOMIC_PMEM;
	const struct fi_rma_xfer rma = { .xfer.type = row->type };
	const struct fi_xfer *xfer = row->type < FI_OP_ATOMIC ? &rma.xfer : &op.xfer;

	xt->ep.limits = &pmem_limits;
	xt->ep.caps = FI_TAGGED_RMA | cap;
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, row->flags), 0);
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, row->flags | FI_COMMIT_COMPLETE),
			row->commit ? 0 : -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, row->flags | FI_SAVE),
			row->save ? 0 : -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, row->flags | PMEM),
			row->both ? 0 : -FI_EBADFLAGS);
	xt->ep.caps = FI_TAGGED_RMA | FI_RMA_PMEM | FI_ATOMIC_PMEM;
	xt->ep.caps &= ~cap;
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, row->flags | FI_SAVE),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, row->flags | FI_COMMIT_COMPLETE),
			-FI_EBADFLAGS);
	/* As a flag: the memory of a tagged receive */
	xt->ep.caps = FI_TAGGED_RMA;
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, FI_TAGGED),
			row->type == FI_OP_READ || row->type == FI_OP_WRITE ? 0 : -FI_EBADFLAGS);
	xt->ep.caps = 0;
	KUNIT_EXPECT_EQ(test, kofi_xfer_check_exact(&xt->ep, xfer, FI_TAGGED), -FI_EBADFLAGS);
}

static void expect_reason(struct kunit *test, struct xfer_test *xt, const struct fi_xfer *xfer,
			  int ret, const char *words)
{
	KUNIT_EXPECT_EQ(test, kofi_xfer_refuse(&xt->ep, xfer, ret), ret);
	vt_refused(test, xfer->type == FI_OP_SEND ? "send" : "write", ret, words);
}

static void a_refused_operation_has_its_reason(struct kunit *test)
{
	struct xfer_test *xt = new_test(test, ALL);
	const struct kvec iov = { xt, 1 }, huge = { xt, SIZE_MAX };
	const struct fi_rma_xfer rw = { .xfer.type = FI_OP_WRITE, .any_length = true };
	struct fi_xfer send = { .type = FI_OP_SEND, .buf_type = FI_BUF_KVEC };
	void *desc = xt;

	vt_refusals_begin(test);
	expect_reason(test, xt, &rw.xfer, -ENOSYS, "FI_OPT_MAX_RW_OPS");
	expect_reason(test, xt, &send, -ENOSYS, "this form of the operation");
	expect_reason(test, xt, &send, -EINVAL, "count is 0: more than iov_limit");
	send.count = 1;
	expect_reason(test, xt, &send, -EINVAL, "the list is NULL, and has 1 elements");
	send.list = &huge;
	expect_reason(test, xt, &send, -EMSGSIZE, "more bytes than an operation can have");
	send.list = &iov;
	expect_reason(test, xt, &send, -EMSGSIZE, "the list has 1 bytes");
	send.desc = &desc;
	expect_reason(test, xt, &send, -EINVAL, "a descriptor is that of a region");
}

static struct kunit_case xfer_cases[] = {
	KUNIT_CASE_PARAM(operation_needs_its_capability, call_gen_params),
	KUNIT_CASE_PARAM(operation_needs_its_direction, call_gen_params),
	KUNIT_CASE_PARAM(success_is_reported_unless_the_side_is_selective, call_gen_params),
	KUNIT_CASE_PARAM(default_flags_are_those_of_the_side, call_gen_params),
	KUNIT_CASE(flags_of_a_call_replace_default_flags),
	KUNIT_CASE(only_a_message_invalidates_a_key),
	KUNIT_CASE(inject_is_not_reported),
	KUNIT_CASE(call_whose_name_implies_a_flag_needs_it),
	KUNIT_CASE(remote_memory_is_as_long_as_the_list),
	KUNIT_CASE(rw_operation_has_few_flags),
	KUNIT_CASE_PARAM(persistent_memory_is_for_what_changes_regions, pmem_gen_params),
	KUNIT_CASE(a_refused_operation_has_its_reason),
	{}
};

static struct kunit_suite xfer_suite = {
	.name = "kofi_util_xfer",
	.test_cases = xfer_cases,
};

kunit_test_suite(xfer_suite);
