// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of every kind a client can legally hold, as kvec, bio_vec and
 * scatterlist.
 */
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "memory.h"

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

void *vt_alloc_vmalloc(struct kunit *test)
{
	void *mem = vzalloc(VT_AREA + PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_vfree, mem),
			0);
	return mem;
}
EXPORT_SYMBOL_GPL(vt_alloc_vmalloc);

void *vt_alloc_pages(struct kunit *test)
{
	unsigned long mem = __get_free_pages(GFP_KERNEL | __GFP_ZERO,
					     VT_AREA_ORDER);

	KUNIT_ASSERT_NE(test, mem, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_free_area,
							(void *)mem), 0);
	return (void *)mem;
}
EXPORT_SYMBOL_GPL(vt_alloc_pages);

const struct vt_memory vt_memories[VT_MEMORIES] = {
	{ "kmalloc", alloc_kmalloc, FI_BUF_KVEC, 0, 1 },
	{ "kmalloc, odd address", alloc_kmalloc, FI_BUF_KVEC, 3, 1 },
	{ "kmalloc, list", alloc_kmalloc, FI_BUF_KVEC, 1, VT_IOV },
	{ "pages", vt_alloc_pages, FI_BUF_KVEC, 0, 1 },
	{ "vmalloc", vt_alloc_vmalloc, FI_BUF_KVEC, 0, 1 },
	{ "vmalloc, odd address", vt_alloc_vmalloc, FI_BUF_KVEC, 4095, 1 },
	{ "vmalloc, list", vt_alloc_vmalloc, FI_BUF_KVEC, 5, 2 },
	{ "bvec", vt_alloc_pages, FI_BUF_BVEC, 0, 1 },
	{ "bvec, odd address", vt_alloc_pages, FI_BUF_BVEC, 5000, 1 },
	{ "bvec, list", vt_alloc_pages, FI_BUF_BVEC, 7, VT_IOV },
	{ "sgl", vt_alloc_pages, FI_BUF_SGL, 0, 1 },
	{ "sgl, odd address", vt_alloc_pages, FI_BUF_SGL, 4097, 1 },
	{ "sgl, list", vt_alloc_pages, FI_BUF_SGL, 9, VT_IOV },
};
EXPORT_SYMBOL_GPL(vt_memories);

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

void vt_make_list(struct vt_list *list, const struct vt_memory *memory,
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
EXPORT_SYMBOL_GPL(vt_make_list);
