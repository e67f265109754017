// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes whose list is longer than a work request of the device: the
 * client sees one operation, whatever the list consists of.
 *
 * What a device does not do is asked of the result of fi_getinfo(): where reads need
 * a sink (iWARP), their lists are not split.
 */
#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include "far.h"

#define VT_IOV_LIMIT	4
#define VT_PARTS	16	/* most work requests of an operation */
#define VT_DATA		0xfeedf00dULL

static ssize_t split_post(struct vt_far *far, struct vt_pieces *pieces, enum fi_buf_type type,
			  size_t count, bool read, void *context, u64 flags)
{
	struct fi_rma_iov remote = {
		.addr	= vt_far_addr(far),
		.key	= fi_mr_key(far->mr),
	};
	struct fi_msg_rma msg = {
		.type		= type,
		.iov_count	= count,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= context,
		.data		= VT_DATA,
	};
	size_t i;

	for (i = 0; i < count; i++)
		remote.len += pieces->kvec[i].iov_len;
	if (type == FI_BUF_KVEC)
		msg.msg_iov = pieces->kvec;
	else if (type == FI_BUF_BVEC)
		msg.msg_bvec = pieces->bvec;
	else
		msg.msg_sgl = pieces->sgl;
	return read ? fi_readmsg(far->pair.a.ep, &msg, flags) :
		      fi_writemsg(far->pair.a.ep, &msg, flags);
}

static ssize_t split_write(struct vt_far *far, struct vt_pieces *pieces,
			   size_t count, void *context)
{
	return split_post(far, pieces, FI_BUF_KVEC, count, false, context, FI_COMPLETION);
}

static size_t max_rma_iov(struct kunit *test, struct vt_far *far)
{
	size_t limit = 0, len = sizeof(limit);

	KUNIT_ASSERT_EQ(test, fi_getopt(&far->pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RMA_IOV, &limit, &len), 0);
	return limit;
}

struct split_type {
	const char		*name;
	enum fi_buf_type	type;
};

static const struct split_type split_types[] = {
	{ "kvec", FI_BUF_KVEC },
	{ "bvec", FI_BUF_BVEC },
	{ "sgl", FI_BUF_SGL },
};

KUNIT_ARRAY_PARAM_DESC(split_type, split_types, name);

static const size_t split_counts[] = { 5, 16, 17, 63, 64 };

static void a_long_list_is_written_as_one(struct kunit *test)
{
	const struct split_type *param = test->param_value;
	struct vt_pieces *pieces;
	struct vt_far far = {};
	struct vt_comp comp;
	size_t i;

	vt_far_open(test, &far, SZ_64K);
	for (i = 0; i < ARRAY_SIZE(split_counts); i++) {
		pieces = vt_pieces(test, split_counts[i]);
		vt_pieces_fill(pieces, i + 1);
		memset(far.target, 0xa5, far.len);
		KUNIT_ASSERT_EQ(test, split_post(&far, pieces, param->type, pieces->count, false,
						 vt_ctx(i), FI_COMPLETION), 0);
		comp = vt_done(test, far.pair.a.tx, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_WRITE);
		vt_ping(test, &far.pair.a, &far.pair.b);
		KUNIT_EXPECT_TRUE(test, vt_filled(far.target, pieces->len, i + 1));
		KUNIT_EXPECT_EQ(test, far.target[pieces->len], 0xa5);
		vt_none(test, far.pair.a.tx);
	}
}

/* What a read over iWARP may have is what iov_limit says */
static void a_long_list_is_read_as_one(struct kunit *test)
{
	const struct split_type *param = test->param_value;
	struct vt_pieces *pieces;
	struct vt_far far = {};
	ssize_t ret;
	size_t i;

	vt_far_open(test, &far, SZ_64K);
	for (i = 0; i < ARRAY_SIZE(split_counts); i++) {
		pieces = vt_pieces(test, split_counts[i]);
		vt_pieces_fill(pieces, 0);
		vt_fill(far.target, pieces->len, i + 1);
		ret = split_post(&far, pieces, param->type, pieces->count, true,
				 vt_ctx(i), FI_COMPLETION);
		if (vt_is_iwarp(test)) {
			KUNIT_EXPECT_EQ(test, ret, -EINVAL);
			continue;
		}
		KUNIT_ASSERT_EQ(test, ret, 0);
		vt_done(test, far.pair.a.tx, vt_ctx(i));
		KUNIT_EXPECT_TRUE(test, vt_pieces_filled(pieces, i + 1));
		vt_none(test, far.pair.a.tx);
	}
}

/* One buffer for the client, a piece for each page for the device */
static void a_buffer_of_vmalloc_is_written_whole(struct kunit *test)
{
	static const size_t offsets[] = { 0, 1, 4095 };
	size_t i, len = VT_PARTS * VT_IOV_LIMIT * PAGE_SIZE;
	struct vt_far far = {};
	u8 *buf;

	vt_far_open(test, &far, len);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		buf = vt_vmalloc(test, len) + offsets[i];
		len -= offsets[i];
		vt_fill(buf, len, i);
		KUNIT_ASSERT_EQ(test, fi_write(far.pair.a.ep, buf, len, NULL, 0, vt_far_addr(&far),
					       fi_mr_key(far.mr), vt_ctx(i)), 0);
		vt_done(test, far.pair.a.tx, vt_ctx(i));
		vt_ping(test, &far.pair.a, &far.pair.b);
		KUNIT_EXPECT_TRUE(test, vt_filled(far.target, len, i));
		len += offsets[i];
	}
}

static void a_buffer_of_vmalloc_is_read_whole(struct kunit *test)
{
	struct vt_far far = {};
	size_t len;
	u8 *buf;

	vt_far_open(test, &far, VT_PARTS * VT_IOV_LIMIT * PAGE_SIZE);
	len = max_rma_iov(test, &far) * PAGE_SIZE;
	KUNIT_ASSERT_LE(test, len, far.len);
	buf = vt_vmalloc(test, len + 2);
	memset(buf, 0x5a, len + 2);
	len -= PAGE_SIZE;
	vt_fill(far.target, len, 3);
	KUNIT_ASSERT_EQ(test, fi_read(far.pair.a.ep, buf + 1, len, NULL, 0, vt_far_addr(&far),
				      fi_mr_key(far.mr), vt_ctx(1)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 1, len, 3));
	KUNIT_EXPECT_EQ(test, buf[0], 0x5a);
	KUNIT_EXPECT_EQ(test, buf[len + 1], 0x5a);
}

/* A region is one element for the device, also where a read takes one only */
static void a_list_of_regions_is_read_as_one(struct kunit *test)
{
	struct vt_far far = {};
	struct fid_mr *mr;
	struct kvec iov[6];
	void *desc[6];
	u8 *buf;
	int i;

	vt_far_open(test, &far, SZ_4K);
	buf = vt_buf(test, 6 * 128);
	mr = vt_reg(test, buf, 6 * 128, FI_READ);
	for (i = 0; i < 6; i++) {
		iov[i] = (struct kvec) { buf + i * 128, 100 };
		desc[i] = fi_mr_desc(mr);
	}
	vt_fill(far.target, 600, 1);
	KUNIT_ASSERT_EQ(test, fi_readv(far.pair.a.ep, iov, desc, 6, 0, vt_far_addr(&far),
				       fi_mr_key(far.mr), vt_ctx(1)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_MEMEQ(test, iov[i].iov_base, far.target + i * 100, 100);
	vt_none(test, far.pair.a.tx);
	vt_close(test, &mr->fid);
}

static void a_list_that_is_too_long_for_ever_is_refused(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, VT_FAR_PIECES);
	struct vt_far far = { .iov_limit = 2 };
	size_t max;

	vt_far_open(test, &far, SZ_64K);
	max = VT_PARTS * vt_of(test)->info->tx_attr->iov_limit;
	KUNIT_ASSERT_LT(test, max, VT_FAR_PIECES);
	KUNIT_EXPECT_LE(test, max_rma_iov(test, &far), max);
	KUNIT_EXPECT_EQ(test, split_write(&far, pieces, max + 1, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, split_write(&far, pieces, max, vt_ctx(1)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	vt_none(test, far.pair.a.tx);
}

/* The peer could tell two messages from one */
static void messages_are_not_split(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, VT_IOV_LIMIT + 1);
	struct vt_far far = {};

	vt_far_open(test, &far, SZ_4K);
	KUNIT_EXPECT_EQ(test, fi_sendv(far.pair.a.ep, pieces->kvec, NULL,
				       VT_IOV_LIMIT + 1, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvv(far.pair.a.ep, pieces->kvec, NULL,
				       VT_IOV_LIMIT + 1, 0, NULL), -EINVAL);
	vt_none(test, far.pair.a.tx);
	vt_ping(test, &far.pair.a, &far.pair.b);
}

static void remote_cq_data_arrive_once_and_behind_all_bytes(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, 3 * VT_IOV_LIMIT);
	u8 *unused = vt_buf(test, 16);
	struct vt_far far = {};
	struct vt_comp comp;
	ssize_t ret;

	vt_far_open_for(test, &far, pieces);
	vt_pieces_fill(pieces, 9);
	vt_recv(test, &far.pair.b, unused, 8, vt_ctx(1));
	ret = split_post(&far, pieces, FI_BUF_SGL, pieces->count, false,
			 vt_ctx(3), FI_COMPLETION | FI_REMOTE_CQ_DATA);
	if (!vt_of(test)->info->domain_attr->cq_data_size) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	comp = vt_done(test, far.pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(far.target, pieces->len, 9));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, VT_DATA);
	vt_done(test, far.pair.a.tx, vt_ctx(3));
	vt_ping(test, &far.pair.a, &far.pair.b);
	vt_none(test, far.pair.b.rx);
}

/* What is not read takes a slot, so five of eight are taken */
static void a_queue_without_room_for_all_parts_takes_none(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, 9 * VT_IOV_LIMIT);
	struct vt_far far = { .size = 8 };
	int i;

	vt_far_open_for(test, &far, pieces);
	vt_pieces_fill(pieces, 2);
	KUNIT_EXPECT_EQ(test, split_write(&far, pieces, 9 * VT_IOV_LIMIT, NULL), -EINVAL);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, split_write(&far, pieces, 1, vt_ctx(i)), 0);
	KUNIT_EXPECT_EQ(test, split_write(&far, pieces, 4 * VT_IOV_LIMIT, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, split_write(&far, pieces, 3 * VT_IOV_LIMIT, vt_ctx(i)), 0);
	KUNIT_EXPECT_EQ(test, split_write(&far, pieces, 1, NULL), -EAGAIN);
	for (i = 0; i < 6; i++)
		vt_done(test, far.pair.a.tx, vt_ctx(i));
	KUNIT_ASSERT_EQ(test, split_write(&far, pieces, 8 * VT_IOV_LIMIT, vt_ctx(7)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(7));
	vt_none(test, far.pair.a.tx);
}

struct split_fault {
	const char	*name;
	size_t		bytes;	/* of the region */
	bool		read;
};

static const struct split_fault split_faults[] = {
	{ "write, all of it", 1, false },
	{ "write, from the middle on", 5000, false },
	{ "write, the last byte", 0, false },
	{ "read, all of it", 1, true },
	{ "read, from the middle on", 5000, true },
};

KUNIT_ARRAY_PARAM_DESC(split_fault, split_faults, name);

/*
 * The region ends before the list does.  siw completes writes when TCP has them, and
 * says nothing of what the peer thinks.
 */
static void what_the_peer_refuses_fails_once(struct kunit *test)
{
	const struct split_fault *param = test->param_value;
	struct vt_pieces *pieces = vt_pieces(test, 5 * VT_IOV_LIMIT);
	struct vt_far far = {};
	struct vt_comp comp;
	ssize_t ret;

	vt_far_open(test, &far, param->bytes ? : pieces->len - 1);
	ret = split_post(&far, pieces, FI_BUF_BVEC, pieces->count, param->read,
			 vt_ctx(6), FI_COMPLETION);
	if (vt_is_iwarp(test) && param->read) {
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	if (vt_is_iwarp(test)) {
		KUNIT_ASSERT_EQ(test, vt_wait(far.pair.a.tx, &comp), 1);
	} else {
		comp = vt_failed(test, far.pair.a.tx);
		KUNIT_EXPECT_EQ(test, comp.err, EACCES);
		KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | (param->read ? FI_READ : FI_WRITE));
	}
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(6));
	vt_event(test, far.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, far.pair.b.eq, FI_SHUTDOWN, NULL);
	vt_none(test, far.pair.a.tx);
}

static void a_split_operation_counts_as_one(struct kunit *test)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct vt_pieces *pieces = vt_pieces(test, 5 * VT_IOV_LIMIT);
	struct vt_far far = { .cntr_dirs = FI_WRITE };
	int i;

	vt_far_serve(test, &far);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &far.cntr, NULL), 0);
	vt_adopt(test, &far.cntr->fid);
	vt_far_join(test, &far, pieces->len);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, split_write(&far, pieces, pieces->count, vt_ctx(i)), 0);
		KUNIT_EXPECT_EQ(test, vt_cntr_wait(far.cntr, i + 1), 0);
		vt_done(test, far.pair.a.tx, vt_ctx(i));
	}
	KUNIT_ASSERT_EQ(test, fi_shutdown(far.pair.a.ep, 0), 0);
	vt_close(test, &far.pair.a.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(far.cntr), 3);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(far.cntr), 0);
}

/* An operation, and how often its callback was called */
struct split_request {
	struct fi_done		done;
	struct fi_done_entry	entry;
	atomic_t		calls;
	struct completion	finished;
};

static void split_request_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct split_request *request =
		container_of(done, struct split_request, done);

	request->entry = *entry;
	atomic_inc(&request->calls);
	complete(&request->finished);
}

static void a_callback_is_called_once(struct kunit *test)
{
	static const struct vt_kind kind = {
		"softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ,
	};
	struct vt_pieces *pieces = vt_pieces(test, 5 * VT_IOV_LIMIT);
	struct split_request *request = vt_buf(test, sizeof(*request));
	struct vt_far far = { .kind = &kind };

	vt_far_open_for(test, &far, pieces);
	vt_pieces_fill(pieces, 2);
	request->done.done = split_request_done;
	init_completion(&request->finished);
	KUNIT_ASSERT_EQ(test, split_write(&far, pieces, pieces->count, &request->done), 0);
	KUNIT_ASSERT_TRUE(test, vt_completed(&request->finished));
	vt_close(test, &far.pair.a.ep->fid);
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
	KUNIT_EXPECT_EQ(test, request->entry.err, 0);
	KUNIT_EXPECT_EQ(test, request->entry.flags, FI_RMA | FI_WRITE);
	KUNIT_EXPECT_TRUE(test, vt_filled(far.target, pieces->len, 2));
}

/* Many times the depth of the queue, and not one completion asked for */
static void silent_split_writes_never_stop_the_queue(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, 3 * VT_IOV_LIMIT);
	struct vt_far far = {
		.size = 8, .pair.a.bind_flags = FI_SELECTIVE_COMPLETION,
	};
	ssize_t ret;
	int i;

	vt_far_open_for(test, &far, pieces);
	for (i = 0; i < 40; i++) {
		while ((ret = split_post(&far, pieces, FI_BUF_KVEC, i % 2 ? 1 : pieces->count,
					 false, NULL, 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	vt_pieces_fill(pieces, 4);
	while ((ret = split_write(&far, pieces, pieces->count, vt_ctx(2))) == -EAGAIN)
		cond_resched();
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_done(test, far.pair.a.tx, vt_ctx(2));
	vt_none(test, far.pair.a.tx);
}

/*
 * Of a single one nobody would ever hear, and this write needs its slot, too.  The queue
 * pair stays as good as it was.
 */
static void a_silent_write_gives_its_slot_to_parts(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, 8 * VT_IOV_LIMIT);
	struct vt_far far = {
		.size = 8, .pair.a.bind_flags = FI_SELECTIVE_COMPLETION,
	};
	ssize_t ret;
	int i;

	vt_far_open_for(test, &far, pieces);
	KUNIT_ASSERT_EQ(test, split_post(&far, pieces, FI_BUF_KVEC, 1, false, NULL, 0), 0);
	ret = split_write(&far, pieces, pieces->count, vt_ctx(1));
	for (i = 0; i < VT_PATIENCE_MS && ret == -EAGAIN; i++) {
		fsleep(USEC_PER_MSEC);
		ret = split_write(&far, pieces, pieces->count, vt_ctx(1));
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	/* And once more on the same connection */
	KUNIT_ASSERT_EQ(test, split_write(&far, pieces, pieces->count, vt_ctx(2)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(2));
	vt_none(test, far.pair.a.tx);
}

/* FI_MORE is a hint; the parts go to the device with what waits for them */
static void a_split_write_rings_for_the_chain_before_it(struct kunit *test)
{
	struct vt_pieces *pieces = vt_pieces(test, 3 * VT_IOV_LIMIT);
	struct vt_far far = {};
	int i;

	vt_far_open_for(test, &far, pieces);
	vt_pieces_fill(pieces, 4);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, split_post(&far, pieces, FI_BUF_KVEC, 1, false, vt_ctx(i),
						 FI_COMPLETION | FI_MORE), 0);
	KUNIT_ASSERT_EQ(test, split_post(&far, pieces, FI_BUF_KVEC, pieces->count, false, vt_ctx(i),
					 FI_COMPLETION | FI_MORE | FI_FENCE), 0);
	for (i = 0; i < 4; i++)
		vt_done(test, far.pair.a.tx, vt_ctx(i));
	vt_ping(test, &far.pair.a, &far.pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(far.target, pieces->len, 4));
}

/* Without FI_RMA there is no memory set aside for it */
static void an_endpoint_without_rma_does_not_split(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	struct vt_pair pair = {};
	size_t limit = 0, len = sizeof(limit);

	vt_serve_pair(test, hints, &pair);
	KUNIT_ASSERT_EQ(test, fi_getopt(&pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RMA_IOV, &limit, &len), 0);
	KUNIT_EXPECT_LE(test, limit, pair.a.info->tx_attr->iov_limit);
	KUNIT_EXPECT_EQ(test, fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RMA_IOV,
					&limit, len), -ENOPROTOOPT);
}

static struct kunit_case split_cases[] = {
	KUNIT_CASE_PARAM(a_long_list_is_written_as_one, split_type_gen_params),
	KUNIT_CASE_PARAM(a_long_list_is_read_as_one, split_type_gen_params),
	KUNIT_CASE(a_buffer_of_vmalloc_is_written_whole),
	KUNIT_CASE(a_buffer_of_vmalloc_is_read_whole),
	KUNIT_CASE(a_list_of_regions_is_read_as_one),
	KUNIT_CASE(a_list_that_is_too_long_for_ever_is_refused),
	KUNIT_CASE(messages_are_not_split),
	KUNIT_CASE(remote_cq_data_arrive_once_and_behind_all_bytes),
	KUNIT_CASE(a_queue_without_room_for_all_parts_takes_none),
	KUNIT_CASE_PARAM(what_the_peer_refuses_fails_once, split_fault_gen_params),
	KUNIT_CASE(a_split_operation_counts_as_one),
	KUNIT_CASE(a_callback_is_called_once),
	KUNIT_CASE(silent_split_writes_never_stop_the_queue),
	KUNIT_CASE(a_silent_write_gives_its_slot_to_parts),
	KUNIT_CASE(a_split_write_rings_for_the_chain_before_it),
	KUNIT_CASE(an_endpoint_without_rma_does_not_split),
	{}
};

struct kunit_suite kofi_verbs_rma_split_suite = {
	.name		= "kofi_verbs_rma_split",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= split_cases,
};
