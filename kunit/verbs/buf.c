// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where messages may lie: memory of every kind a client can legally hold, as
 * kvec, bio_vec and scatterlist, on the sending and on the receiving side.
 */
#include "../lib/calls.h"
#include "../lib/memory.h"
#include "verbs.h"

/* As long as the device takes them, at most VT_IOV; returns how long */
static size_t serve_long_lists(struct kunit *test, struct vt_pair *pair)
{
	struct fi_info *hints = vt_hints(test), *info;
	size_t limit = VT_IOV;

	for (;; limit--) {
		hints->tx_attr->iov_limit = limit;
		hints->rx_attr->iov_limit = limit;
		if (!vt_getinfo(test, NULL, 0, 0, hints, &info))
			break;
	}
	vt_serve(test, AF_INET, hints);
	KUNIT_ASSERT_EQ(test, vt_info(test)->tx_attr->iov_limit, limit);
	vt_join(test, pair, &vt_default_kind);
	return limit;
}

/* The same memory in lists of at most @limit elements */
static struct vt_memory limited(const struct vt_memory *memory, size_t limit)
{
	struct vt_memory copy = *memory;

	copy.pieces = min(copy.pieces, limit);
	return copy;
}

static void carry(struct kunit *test, struct vt_pair *pair, const struct vt_memory *memory,
		  void *out, void *in, size_t len)
{
	struct vt_list *from = vt_buf(test, sizeof(*from));
	struct vt_list *to = vt_buf(test, sizeof(*to));
	struct vt_comp comp;

	vt_make_list(from, memory, out, len);
	vt_make_list(to, memory, in, len);
	from->msg.context = vt_ctx(1);
	to->msg.context = vt_ctx(2);
	vt_fill(out, len, len);
	memset(in, 0x5a, len + 1);
	KUNIT_ASSERT_EQ(test, fi_recvmsg(pair->b.ep, &to->msg, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair->a.ep, &from->msg, 0), 0);
	/* Lists belong to the caller again */
	kunit_kfree(test, from);
	kunit_kfree(test, to);

	comp = vt_done(test, pair->b.rx, vt_ctx(2));
	vt_done(test, pair->a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(in, len, len), "%zu bytes", len);
	KUNIT_EXPECT_EQ(test, *((u8 *)in + len), 0x5a);
}

static void memory_of_every_kind_carries_messages(struct kunit *test)
{
	static const size_t sizes[] = { 0, 1, 255, 4096, 4097 };
	struct vt_pair pair = {};
	struct vt_memory memory;
	void *out, *in;
	size_t limit;
	int i;

	limit = serve_long_lists(test, &pair);
	memory = limited(test->param_value, limit);
	out = memory.alloc(test) + memory.offset;
	in = memory.alloc(test) + memory.offset;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		carry(test, &pair, &memory, out, in, sizes[i]);
	/* Of vmalloc, each page counts, and both ends of each element */
	carry(test, &pair, &memory, out, in, (limit - 2) * PAGE_SIZE);
}

static void memory_of_every_kind_can_be_injected(struct kunit *test)
{
	struct vt_list *list = vt_buf(test, sizeof(*list));
	struct vt_pair pair = {};
	struct vt_memory memory;
	void *out, *in;
	size_t len;

	memory = limited(test->param_value, serve_long_lists(test, &pair));
	len = vt_of(test)->info->tx_attr->inject_size;
	in = vt_buf(test, len);
	out = memory.alloc(test) + memory.offset;
	vt_fill(out, len, 11);
	vt_make_list(list, &memory, out, len);
	vt_recv(test, &pair.b, in, len, vt_ctx(1));

	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &list->msg, FI_INJECT), 0);
	memset(out, 0, len);

	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, 11));
}

static void vmalloc_counts_once_per_page(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *out, *in = vt_buf(test, VT_AREA);
	size_t len;

	len = serve_long_lists(test, &pair) * PAGE_SIZE;
	out = vt_alloc_vmalloc(test);
	vt_fill(out, len, 1);
	vt_recv(test, &pair.b, in, len, vt_ctx(1));

	/* So many bytes touch one page more than the list may have */
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out + 1, len, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, len, NULL, 0, vt_ctx(2)), 0);

	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, 1));
}

static u8 vt_module_data[64];

static void static_data_of_a_module_carries_messages(struct kunit *test)
{
	u8 *in = vt_buf(test, sizeof(vt_module_data));
	struct vt_pair pair = {};

	vt_serve_pair(test, NULL, &pair);
	vt_fill(vt_module_data, sizeof(vt_module_data), 5);
	vt_recv(test, &pair.b, in, sizeof(vt_module_data), vt_ctx(1));
	vt_send(test, &pair.a, vt_module_data, sizeof(vt_module_data), vt_ctx(2));

	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, sizeof(vt_module_data), 5));
}

/* Data that no flag sends do not arrive */
static void a_receive_reports_its_buffer_and_no_data(struct kunit *test)
{
	struct vt_xfer x = { .buf = vt_buf(test, 64), .len = 64, .data = 7 };
	const struct vt_call *recv;
	struct vt_pair pair = {};
	struct vt_comp comp;

	vt_serve_pair(test, NULL, &pair);
	for (recv = vt_recvs; recv->name; recv++) {
		KUNIT_ASSERT_EQ(test, vt_post(pair.b.ep, recv, &x), 0);
		KUNIT_ASSERT_EQ(test, vt_post_flags(pair.a.ep, VT_SENDMSG, &x, 0), 0);
		comp = vt_done(test, pair.b.rx, NULL);
		KUNIT_EXPECT_PTR_EQ_MSG(test, comp.buf, x.buf, "%s", recv->name);
		KUNIT_EXPECT_EQ(test, comp.data, 0);
		vt_done(test, pair.a.tx, NULL);
	}
}

KUNIT_ARRAY_PARAM_DESC(vt_memory, vt_memories, name);

static struct kunit_case buf_cases[] = {
	KUNIT_CASE_PARAM(memory_of_every_kind_carries_messages, vt_memory_gen_params),
	KUNIT_CASE_PARAM(memory_of_every_kind_can_be_injected, vt_memory_gen_params),
	KUNIT_CASE(vmalloc_counts_once_per_page),
	KUNIT_CASE(static_data_of_a_module_carries_messages),
	KUNIT_CASE(a_receive_reports_its_buffer_and_no_data),
	{}
};

struct kunit_suite kofi_verbs_buf_suite = {
	.name		= "kofi_verbs_buf",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= buf_cases,
};
