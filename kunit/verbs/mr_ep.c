// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions for single operations (FI_MR_ENDPOINT): one region, other memory and a
 * new key for each operation, the way a storage client reads from a server.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <rdma/fi_rma.h>
#include "../lib/memory.h"
#include "verbs.h"

#define VT_PAGES	8
#define VT_LEN		(VT_PAGES * PAGE_SIZE)
#define VT_ACCESS	(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define VT_ROUNDS	20

/**
 * struct vt_server - A client's region and its server
 * @pair: a is the client, b the server
 * @mr: the client's region, bound to a's endpoint
 * @data: the server's buffer
 * @note: what a and b tell each other, 16 bytes each way
 */
struct vt_server {
	struct vt_pair	pair;
	struct fid_mr	*mr;
	u8		*data;
	u8		*note;
};

static struct fi_mr_attr vt_attr(const struct kvec *iov, u64 access)
{
	return (struct fi_mr_attr) {
		.mr_iov		= iov,
		.iov_count	= 1,
		.access		= access,
		.page_limit	= VT_PAGES + 1,
	};
}

static int vt_open_mr(struct kunit *test, void *buf, size_t len, struct fid_mr **mr)
{
	struct kvec iov = { buf, len };
	struct fi_mr_attr attr = vt_attr(&iov, VT_ACCESS);
	int ret;

	ret = fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, mr);
	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

static int vt_refresh(struct fid_mr *mr, void *buf, size_t len)
{
	struct kvec iov = { buf, len };
	struct fi_mr_attr attr = vt_attr(&iov, VT_ACCESS);

	return fi_mr_refresh(mr, &attr, 0);
}

/* @inject: bytes that may be injected */
static void vt_server_inject(struct kunit *test, struct vt_server *server, void *buf, size_t inject)
{
	struct fi_info *hints = vt_rma_hints(test);

	hints->tx_attr->inject_size = inject;
	vt_serve(test, AF_INET, hints);
	/* An answer may overtake the completion of the question */
	server->pair.a.rx = vt_cq(test, &vt_default_kind, 0);
	vt_join(test, &server->pair, &vt_default_kind);
	server->data = vt_buf(test, VT_LEN);
	server->note = vt_buf(test, 32);
	KUNIT_ASSERT_EQ(test, vt_open_mr(test, buf, VT_LEN, &server->mr), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(server->mr, &server->pair.a.ep->fid, 0), 0);
}

static void vt_server(struct kunit *test, struct vt_server *server, void *buf)
{
	vt_server_inject(test, server, buf, 0);
}

/* The client asks, key and doorbell in one; the server hears of it */
static u64 vt_ask(struct kunit *test, struct vt_server *server)
{
	u64 key;

	vt_recv(test, &server->pair.b, server->note + 16, 8, vt_ctx(1));
	vt_recv(test, &server->pair.a, server->note + 24, 8, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(server->mr), 0);
	key = fi_mr_key(server->mr);
	*(u64 *)server->note = key;
	vt_send(test, &server->pair.a, server->note, 8, vt_ctx(3));
	vt_done(test, server->pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, *(u64 *)(server->note + 16), key);
	return key;
}

static void vt_serve_write(struct kunit *test, struct vt_server *server, u64 key, size_t len)
{
	KUNIT_ASSERT_EQ(test, fi_write(server->pair.b.ep, server->data, len, NULL, 0,
				       fi_mr_addr(server->mr), key, vt_ctx(4)), 0);
	vt_done(test, server->pair.b.tx, vt_ctx(4));
}

/* The server answers with @flags, and ends the key unless @key is 0 */
static void vt_answer_flags(struct kunit *test, struct vt_server *server, u64 key, u64 flags)
{
	struct kvec iov = { server->note + 8, 8 };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= vt_ctx(5),
		.data		= key,
	};
	struct vt_comp comp;

	flags |= FI_COMPLETION | (key ? FI_REMOTE_INV : 0);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(server->pair.b.ep, &msg, flags), 0);
	vt_done(test, server->pair.b.tx, vt_ctx(5));
	vt_done(test, server->pair.a.tx, vt_ctx(3));
	comp = vt_done(test, server->pair.a.rx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, !!(comp.flags & FI_REMOTE_INV), !!key);
	KUNIT_EXPECT_EQ(test, comp.data, key);
}

static void vt_answer(struct kunit *test, struct vt_server *server, u64 key)
{
	vt_answer_flags(test, server, key, 0);
}

static void the_peer_ends_the_key_of_every_operation(struct kunit *test)
{
	u8 *buf = vzalloc(VT_LEN + VT_ROUNDS * 8);
	struct vt_server server = {};
	u64 key, last = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	vt_server(test, &server, buf);
	for (i = 0; i < VT_ROUNDS; i++) {
		u8 *at = buf + i * 8;

		if (i)
			KUNIT_ASSERT_EQ(test, vt_refresh(server.mr, at, VT_LEN), 0);
		vt_fill(server.data, VT_LEN, i);
		key = vt_ask(test, &server);
		KUNIT_EXPECT_NE(test, key, last);
		last = key;
		vt_serve_write(test, &server, key, VT_LEN);
		vt_answer(test, &server, key);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
		KUNIT_EXPECT_EQ(test, fi_mr_key(server.mr), FI_KEY_NOTAVAIL);
		KUNIT_EXPECT_TRUE(test, vt_filled(at, VT_LEN, i));
	}
	vt_close(test, &server.mr->fid);
	vfree(buf);
}

/* siw takes 80 bytes inline, if that is enough for the client, but no end of a key */
static void a_short_answer_ends_the_key(struct kunit *test)
{
	static const u64 flags[] = { 0, FI_INJECT };
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	u64 key;
	int i;

	vt_server_inject(test, &server, buf, 64);
	for (i = 0; i < 4; i++) {
		if (i)
			KUNIT_ASSERT_EQ(test, vt_refresh(server.mr, buf, VT_LEN), 0);
		key = vt_ask(test, &server);
		vt_answer_flags(test, &server, key, flags[i % 2]);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
	}
}

static void the_client_ends_the_key_itself(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * VT_LEN);
	struct vt_server server = {};
	struct vt_comp comp;
	u64 key;
	int i;

	vt_server(test, &server, buf);
	for (i = 0; i < VT_ROUNDS; i++) {
		u8 *at = buf + i * 8;

		if (i)
			KUNIT_ASSERT_EQ(test, vt_refresh(server.mr, at, 100 + i), 0);
		vt_fill(server.data, 100, i);
		key = vt_ask(test, &server);
		vt_serve_write(test, &server, key, 100);
		vt_answer(test, &server, 0);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, 0, vt_ctx(6)), 0);
		comp = vt_done(test, server.pair.a.tx, vt_ctx(6));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA);
		KUNIT_EXPECT_EQ(test, comp.data, key);
		KUNIT_EXPECT_NULL(test, comp.buf);
		KUNIT_EXPECT_TRUE(test, vt_filled(at, 100, i));
	}
}

/* One after the other in the same region */
static void memory_of_every_kind_serves_an_operation(struct kunit *test)
{
	static const size_t lens[] = { 255, PAGE_SIZE, VT_LEN / 2 + 1, VT_LEN };
	const struct vt_memory *memory = test->param_value;
	struct vt_list *list = vt_buf(test, sizeof(*list));
	struct vt_server server = {};
	struct fi_mr_attr attr;
	u8 *buf, *first;
	u64 key;
	size_t i;

	buf = (u8 *)memory->alloc(test) + memory->offset;
	first = vt_buf(test, VT_LEN);
	vt_server(test, &server, first);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		vt_make_list(list, memory, buf, lens[i]);
		attr = (struct fi_mr_attr) {
			.type		= list->msg.type,
			.mr_iov		= list->msg.msg_iov,
			.iov_count	= list->msg.iov_count,
			.access		= VT_ACCESS,
		};
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(server.mr, &attr, 0), 0);
		memset(buf, 0, VT_LEN);
		vt_fill(server.data, lens[i], i);
		key = vt_ask(test, &server);
		vt_serve_write(test, &server, key, lens[i]);
		vt_answer(test, &server, key);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
		KUNIT_EXPECT_TRUE_MSG(test, vt_filled(buf, lens[i], i), "%zu bytes", lens[i]);
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(first, 0, VT_LEN));
}

static void a_peer_learns_no_kernel_address(struct kunit *test)
{
	static const size_t offsets[] = { 0, 8, PAGE_SIZE - 1, PAGE_SIZE + 100 };
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	size_t i;
	u64 key;

	vt_server(test, &server, buf);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		KUNIT_ASSERT_EQ(test, vt_refresh(server.mr, buf + offsets[i], PAGE_SIZE), 0);
		vt_fill(server.data, PAGE_SIZE, i);
		key = vt_ask(test, &server);
		KUNIT_EXPECT_EQ(test, fi_mr_addr(server.mr), offset_in_page(buf + offsets[i]));
		vt_serve_write(test, &server, key, PAGE_SIZE);
		vt_answer(test, &server, key);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
		KUNIT_EXPECT_TRUE(test, vt_filled(buf + offsets[i], PAGE_SIZE, i));
	}
}

static void a_key_that_is_over_gives_the_peer_an_access_error(struct kunit *test)
{
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	u64 addr, key;

	vt_server(test, &server, buf);
	key = vt_ask(test, &server);
	addr = fi_mr_addr(server.mr);
	vt_answer(test, &server, key);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
	vt_fill(server.data, 8, 1);
	KUNIT_ASSERT_EQ(test, fi_write(server.pair.b.ep, server.data, 8, NULL, 0,
				       addr, key, vt_ctx(4)), 0);
	vt_not_taken(test, &server.pair.b, vt_ctx(4), EACCES);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf, 0, VT_LEN));
}

/* The peer does not stop when the client takes its memory back */
static void a_busy_peer_gets_an_access_error_too(struct kunit *test)
{
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	struct fid_ep *ep;
	struct vt_comp comp;
	int i, posted = 0;
	u64 addr, key;

	vt_server(test, &server, buf);
	ep = server.pair.b.ep;
	key = vt_ask(test, &server);
	addr = fi_mr_addr(server.mr);
	vt_answer(test, &server, 0);
	for (i = 0; i < 4; i++, posted++)
		KUNIT_ASSERT_EQ(test, fi_write(ep, server.data, VT_LEN, NULL, 0,
					       addr, key, vt_ctx(4)), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, 0, vt_ctx(6)), 0);
	do {
		KUNIT_ASSERT_EQ(test, vt_wait(server.pair.b.tx, &comp), 1);
		posted--;
		if (!comp.err && !fi_write(ep, server.data, VT_LEN, NULL, 0, addr, key, vt_ctx(4)))
			posted++;
	} while (!comp.err && posted);
	/* Over iWARP it is done, or the end of TCP is in its way */
	if (!vt_is_iwarp(test))
		KUNIT_EXPECT_EQ(test, comp.err, EACCES);
	while (posted--)
		KUNIT_ASSERT_EQ(test, vt_wait(server.pair.b.tx, &comp), 1);
	vt_none(test, server.pair.b.tx);

	/* Whether it was quicker than the end of the connection is open */
	KUNIT_ASSERT_EQ(test, vt_wait(server.pair.a.tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(6));
	vt_none(test, server.pair.a.tx);
}

/* The byte before, and the one behind */
static const s64 outside[] = { -1, 10 };

static void outside_desc(const s64 *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%lld", *param);
}

KUNIT_ARRAY_PARAM(outside, outside, outside_desc);

static void only_the_bytes_of_this_operation_are_exposed(struct kunit *test)
{
	const s64 *param = test->param_value;
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	u64 key;

	vt_server(test, &server, buf);
	KUNIT_ASSERT_EQ(test, vt_refresh(server.mr, buf + 100, 10), 0);
	key = vt_ask(test, &server);
	vt_serve_write(test, &server, key, 10);
	/* A region whose work request is in flight does not close */
	vt_done(test, server.pair.a.tx, vt_ctx(3));
	vt_fill(server.data, 1, 1);
	KUNIT_ASSERT_EQ(test, fi_write(server.pair.b.ep, server.data, 1, NULL, 0,
				       fi_mr_addr(server.mr) + *param, key, vt_ctx(4)), 0);
	vt_not_taken(test, &server.pair.b, vt_ctx(4), EACCES);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf, 0, 100));
	KUNIT_EXPECT_NULL(test, memchr_inv(buf + 110, 0, VT_LEN - 110));
}

static void each_step_waits_for_its_turn(struct kunit *test)
{
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	struct fid_mr *loose;
	u64 key;

	vt_server(test, &server, buf);
	KUNIT_EXPECT_EQ(test, fi_mr_key(server.mr), FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_NULL(test, fi_mr_desc(server.mr));
	KUNIT_EXPECT_EQ(test, fi_mr_disable(server.mr, 0, NULL), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(server.mr, FI_MORE, NULL), -FI_EBADFLAGS);
	KUNIT_ASSERT_EQ(test, vt_open_mr(test, buf, 100, &loose), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(loose), -FI_EOPBADSTATE);
	vt_close(test, &loose->fid);

	key = vt_ask(test, &server);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(server.mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, buf, 8), -FI_EOPBADSTATE);
	vt_answer(test, &server, key);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(server.mr), -FI_EOPBADSTATE);
}

static void memory_that_does_not_fit_is_refused(struct kunit *test)
{
	size_t limit = VT_PAGES + 2;
	u8 *buf = vzalloc(limit * PAGE_SIZE), on_stack[8];
	struct vt_server server = {};

	KUNIT_ASSERT_NOT_NULL(test, buf);
	vt_server(test, &server, buf);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, buf, limit * PAGE_SIZE), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(server.mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, on_stack, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, NULL, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, buf, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, buf, 8), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(server.mr, NULL, 0), -EINVAL);
	vt_close(test, &server.mr->fid);
	vfree(buf);
}

/* A region remembers where it has found memory, and has not found any at first */
static void what_is_no_memory_is_refused_at_any_time(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64), on_stack[8];
	struct fid_mr *mr;
	struct fid_ep *ep;
	int i;

	vt_open(test, AF_INET, vt_hints(test));
	ep = vt_ep(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, vt_open_mr(test, buf, 64, &mr), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &ep->fid, 0), 0);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, vt_refresh(mr, NULL, 8), -EINVAL);
		KUNIT_EXPECT_EQ(test, vt_refresh(mr, (void *)1, 8), -EINVAL);
		KUNIT_EXPECT_EQ(test, vt_refresh(mr, on_stack, 8), -EINVAL);
		KUNIT_EXPECT_EQ(test, vt_refresh(mr, buf, 0), -EINVAL);
		KUNIT_EXPECT_EQ(test, vt_refresh(mr, buf, SIZE_MAX), -EINVAL);
		KUNIT_EXPECT_EQ(test, vt_refresh(mr, buf + 8, 56), 0);
	}
	vt_close(test, &mr->fid);
}

static void registrations_take_places_in_the_queue(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	u8 *buf = vt_buf(test, 64);
	struct vt_pair pair = {};
	struct fid_mr *mr[5];
	int i;

	hints->tx_attr->size = 4;
	vt_serve_pair(test, hints, &pair);
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_EQ(test, vt_open_mr(test, buf, 64, &mr[i]), 0);
		KUNIT_ASSERT_EQ(test, fi_mr_bind(mr[i], &pair.a.ep->fid, 0), 0);
	}
	for (i = 0; i < pair.a.info->tx_attr->size && i < 5; i++)
		KUNIT_EXPECT_EQ(test, fi_mr_enable(mr[i]), 0);
	if (i < 5) {
		KUNIT_EXPECT_EQ(test, fi_mr_enable(mr[i]), -EAGAIN);
		KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, 1, 0), -EAGAIN);
	}
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr[0], 0, NULL), -ESHUTDOWN);
	vt_none(test, pair.a.tx);
}

/* The memory can be had back without the peer's or the device's help */
static void a_region_outlives_the_drain_of_its_endpoint(struct kunit *test)
{
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};

	vt_server(test, &server, buf);
	vt_ask(test, &server);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(server.pair.a.ep, -1), 0);

	KUNIT_EXPECT_EQ(test, fi_mr_enable(server.mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(server.mr, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(server.mr, FI_REMOTE_INV, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt_refresh(server.mr, buf, 64), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(server.mr), -ESHUTDOWN);
	vt_close(test, &server.mr->fid);
	vt_close(test, &server.pair.a.ep->fid);
}

/* Of its registration nobody has been told, nor will be */
static void a_region_with_a_registration_unsaid_closes_after_a_drain(struct kunit *test)
{
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};
	struct fid_mr *waits;

	vt_server(test, &server, buf);
	vt_ask(test, &server);
	KUNIT_ASSERT_EQ(test, vt_open_mr(test, buf, VT_LEN, &waits), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(waits, &server.pair.a.ep->fid, 0), 0);
	/* In front of an operation that never comes */
	KUNIT_ASSERT_EQ(test, fi_mr_enable(waits), 0);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(server.pair.a.ep, -1), 0);

	vt_close(test, &waits->fid);
	vt_close(test, &server.mr->fid);
	vt_close(test, &server.pair.a.ep->fid);
}

static void a_region_closes_before_its_doorbell(struct kunit *test)
{
	u8 *buf = vt_buf(test, VT_LEN);
	struct vt_server server = {};

	vt_server(test, &server, buf);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(server.mr), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&server.pair.a.ep->fid), -EBUSY);
	vt_close(test, &server.mr->fid);
	vt_none(test, server.pair.a.tx);
}

KUNIT_ARRAY_PARAM_DESC(vt_memory, vt_memories, name);

static struct kunit_case vt_mr_ep_cases[] = {
	KUNIT_CASE(the_peer_ends_the_key_of_every_operation),
	KUNIT_CASE(a_short_answer_ends_the_key),
	KUNIT_CASE(the_client_ends_the_key_itself),
	KUNIT_CASE_PARAM(memory_of_every_kind_serves_an_operation, vt_memory_gen_params),
	KUNIT_CASE(a_peer_learns_no_kernel_address),
	KUNIT_CASE(a_key_that_is_over_gives_the_peer_an_access_error),
	KUNIT_CASE(a_busy_peer_gets_an_access_error_too),
	KUNIT_CASE_PARAM(only_the_bytes_of_this_operation_are_exposed, outside_gen_params),
	KUNIT_CASE(each_step_waits_for_its_turn),
	KUNIT_CASE(memory_that_does_not_fit_is_refused),
	KUNIT_CASE(what_is_no_memory_is_refused_at_any_time),
	KUNIT_CASE(registrations_take_places_in_the_queue),
	KUNIT_CASE(a_region_outlives_the_drain_of_its_endpoint),
	KUNIT_CASE(a_region_with_a_registration_unsaid_closes_after_a_drain),
	KUNIT_CASE(a_region_closes_before_its_doorbell),
	{}
};

struct kunit_suite kofi_verbs_mr_ep_suite = {
	.name		= "kofi_verbs_mr_ep",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_mr_ep_cases,
};
