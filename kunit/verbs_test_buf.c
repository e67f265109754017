// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where messages may lie: memory of every kind a client can legally hold, as
 * kvec, bio_vec and scatterlist, on the sending and on the receiving side.
 */
#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/vmalloc.h>
#include "verbs_test.h"

#define VT_IOV		16	/* asked for in the hints */
#define VT_AREA		(VT_IOV * PAGE_SIZE)
#define VT_AREA_ORDER	4

/* Memory of one kind: at least VT_AREA bytes that are contiguous for the CPU */
struct vt_memory {
	const char		*name;
	void			*(*alloc)(struct kunit *test);
	enum fi_buf_type	type;
	size_t			offset;
	size_t			pieces;
};

static void vt_vfree(void *mem)
{
	vfree(mem);
}

static void vt_free_area(void *mem)
{
	free_pages((unsigned long)mem, VT_AREA_ORDER);
}

static void *alloc_kmalloc(struct kunit *test)
{
	return vt_buf(test, VT_AREA);
}

static void *alloc_vmalloc(struct kunit *test)
{
	void *mem = vzalloc(VT_AREA + PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_vfree, mem),
			0);
	return mem;
}

static void *alloc_area(struct kunit *test)
{
	unsigned long mem = __get_free_pages(GFP_KERNEL | __GFP_ZERO,
					     VT_AREA_ORDER);

	KUNIT_ASSERT_NE(test, mem, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_free_area,
							(void *)mem), 0);
	return (void *)mem;
}

static const struct vt_memory vt_memories[] = {
	{ "kmalloc", alloc_kmalloc, FI_BUF_KVEC, 0, 1 },
	{ "kmalloc, odd address", alloc_kmalloc, FI_BUF_KVEC, 3, 1 },
	{ "kmalloc, list", alloc_kmalloc, FI_BUF_KVEC, 1, VT_IOV },
	{ "pages", alloc_area, FI_BUF_KVEC, 0, 1 },
	{ "vmalloc", alloc_vmalloc, FI_BUF_KVEC, 0, 1 },
	{ "vmalloc, odd address", alloc_vmalloc, FI_BUF_KVEC, 4095, 1 },
	{ "vmalloc, list", alloc_vmalloc, FI_BUF_KVEC, 5, 2 },
	{ "bvec", alloc_area, FI_BUF_BVEC, 0, 1 },
	{ "bvec, odd address", alloc_area, FI_BUF_BVEC, 5000, 1 },
	{ "bvec, list", alloc_area, FI_BUF_BVEC, 7, VT_IOV },
	{ "sgl", alloc_area, FI_BUF_SGL, 0, 1 },
	{ "sgl, odd address", alloc_area, FI_BUF_SGL, 4097, 1 },
	{ "sgl, list", alloc_area, FI_BUF_SGL, 9, VT_IOV },
};

KUNIT_ARRAY_PARAM_DESC(vt_memory, vt_memories, name);

/* A list, whatever it consists of */
struct vt_list {
	struct fi_msg		msg;
	union {
		struct kvec		kvec[VT_IOV];
		struct bio_vec		bvec[VT_IOV];
		struct scatterlist	sgl[VT_IOV];
	};
};

static void set_piece(struct vt_list *list, int i, void *buf, size_t len)
{
	switch (list->msg.type) {
	case FI_BUF_KVEC:
		list->kvec[i] = (struct kvec) { buf, len };
		break;
	case FI_BUF_BVEC:
		bvec_set_page(&list->bvec[i], virt_to_page(buf), len,
			      offset_in_page(buf));
		break;
	default:
		sg_set_buf(&list->sgl[i], buf, len);
	}
}

/* Splits a buffer into so many pieces; the last takes the rest */
static void vt_make_list(struct vt_list *list, const struct vt_memory *memory,
			 void *buf, size_t len)
{
	size_t piece = len / memory->pieces, i;

	list->msg = (struct fi_msg) {
		.type		= memory->type,
		.msg_iov	= list->kvec,
		.iov_count	= memory->pieces,
	};
	if (memory->type == FI_BUF_SGL)
		sg_init_table(list->sgl, memory->pieces);
	for (i = 0; i < memory->pieces; i++) {
		if (i == memory->pieces - 1)
			piece = len;
		set_piece(list, i, buf, piece);
		buf += piece;
		len -= piece;
	}
}

static void serve_long_lists(struct kunit *test, struct vt_pair *pair)
{
	struct fi_info *hints = vt_hints(test);

	hints->tx_attr->iov_limit = VT_IOV;
	hints->rx_attr->iov_limit = VT_IOV;
	vt_serve(test, AF_INET, hints);
	vt_join(test, pair, &vt_default_kind);
}

static void carry(struct kunit *test, struct vt_pair *pair,
		  const struct vt_memory *memory, void *out, void *in,
		  size_t len)
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
	static const size_t sizes[] = {
		0, 1, 255, 4096, 4097, VT_AREA - PAGE_SIZE - 4096
	};
	const struct vt_memory *param = test->param_value;
	struct vt_pair pair = {};
	void *out, *in;
	int i;

	serve_long_lists(test, &pair);
	out = param->alloc(test) + param->offset;
	in = param->alloc(test) + param->offset;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		carry(test, &pair, param, out, in, sizes[i]);
}

static void memory_of_every_kind_can_be_injected(struct kunit *test)
{
	const struct vt_memory *param = test->param_value;
	struct vt_list *list = vt_buf(test, sizeof(*list));
	struct vt_pair pair = {};
	void *out, *in;
	size_t len;

	serve_long_lists(test, &pair);
	len = vt_of(test)->info->tx_attr->inject_size;
	in = vt_buf(test, len);
	out = param->alloc(test) + param->offset;
	vt_fill(out, len, 11);
	vt_make_list(list, param, out, len);
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

	serve_long_lists(test, &pair);
	out = alloc_vmalloc(test);
	vt_fill(out, VT_AREA, 1);
	vt_recv(test, &pair.b, in, VT_AREA, vt_ctx(1));

	/* So many bytes touch one page more than the list may have */
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out + 1, VT_AREA, NULL, 0,
				      NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, VT_AREA, NULL, 0,
				      vt_ctx(2)), 0);

	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, VT_AREA, 1));
}

static u8 vt_module_data[64];

static void static_data_of_a_module_carries_messages(struct kunit *test)
{
	u8 *in = vt_buf(test, sizeof(vt_module_data));
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	vt_fill(vt_module_data, sizeof(vt_module_data), 5);
	vt_recv(test, &pair.b, in, sizeof(vt_module_data), vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, vt_module_data,
				      sizeof(vt_module_data), NULL, 0,
				      vt_ctx(2)), 0);

	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, sizeof(vt_module_data), 5));
}

static void the_stack_can_be_injected(struct kunit *test)
{
	u8 *in = vt_buf(test, 64);
	struct vt_pair pair = {};
	u8 out[64];

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, in, 64, vt_ctx(1));
	vt_fill(out, sizeof(out), 6);

	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out, sizeof(out), 0), 0);
	memset(out, 0, sizeof(out));

	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 64, 6));
}

static struct kunit_case buf_cases[] = {
	KUNIT_CASE_PARAM(memory_of_every_kind_carries_messages,
			 vt_memory_gen_params),
	KUNIT_CASE_PARAM(memory_of_every_kind_can_be_injected,
			 vt_memory_gen_params),
	KUNIT_CASE(vmalloc_counts_once_per_page),
	KUNIT_CASE(static_data_of_a_module_carries_messages),
	KUNIT_CASE(the_stack_can_be_injected),
	{}
};

struct kunit_suite kofi_verbs_buf_suite = {
	.name		= "kofi_verbs_buf",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= buf_cases,
};
