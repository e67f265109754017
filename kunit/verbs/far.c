// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A connection with a region at its second end, and local memory in pieces.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "far.h"

#define VT_FAR_ACCESS	(FI_REMOTE_READ | FI_REMOTE_WRITE)

struct fi_info *vt_far_hints(struct kunit *test)
{
	struct fi_info *hints = vt_rma_hints(test);

	hints->mode = FI_RX_CQ_DATA;
	return hints;
}

void vt_far_serve(struct kunit *test, struct vt_far *far)
{
	struct fi_info *hints = vt_far_hints(test);

	hints->tx_attr->size = far->size;
	hints->tx_attr->iov_limit = far->iov_limit;
	vt_serve(test, AF_INET, hints);
}

void vt_far_join(struct kunit *test, struct vt_far *far, size_t len)
{
	struct vt_pair *pair = &far->pair;

	pair->a.rw_ops = far->rw_ops;
	pair->a.cntrs[0] = (struct tb_cntr) { far->cntr, far->cntr_dirs };
	vt_client(test, &pair->a, far->kind ? : &vt_default_kind);
	vt_connect(test, &pair->a, NULL, 0);
	vt_end_open(test, &pair->b, vt_connreq(test, NULL), &vt_default_kind);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);

	far->len = len;
	far->target = vt_buf(test, len);
	far->mr = vt_reg(test, far->target, len, far->access ? : VT_FAR_ACCESS);
}

void vt_far_open(struct kunit *test, struct vt_far *far, size_t len)
{
	vt_far_serve(test, far);
	vt_far_join(test, far, len);
}

static void vt_far_vfree(void *mem)
{
	vfree(mem);
}

u8 *vt_vmalloc(struct kunit *test, size_t len)
{
	u8 *mem = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_far_vfree, mem), 0);
	return mem;
}

static void vt_add_piece(struct vt_pieces *pieces, size_t offset, size_t len)
{
	size_t i = pieces->count++;
	u8 *at = pieces->mem + i * PAGE_SIZE + offset;

	pieces->kvec[i] = (struct kvec) { at, len };
	bvec_set_page(&pieces->bvec[i], vmalloc_to_page(at), len, offset);
	sg_set_page(&pieces->sgl[i], vmalloc_to_page(at), len, offset);
	pieces->len += len;
}

static struct vt_pieces *vt_new_pieces(struct kunit *test, size_t count)
{
	struct vt_pieces *pieces = vt_buf(test, sizeof(*pieces));

	KUNIT_ASSERT_LE(test, count, VT_FAR_PIECES);
	pieces->mem = vt_vmalloc(test, count * PAGE_SIZE);
	sg_init_table(pieces->sgl, count);
	return pieces;
}

struct vt_pieces *vt_pieces(struct kunit *test, size_t count)
{
	struct vt_pieces *pieces = vt_new_pieces(test, count);
	size_t i;

	for (i = 0; i < count; i++)
		vt_add_piece(pieces, 1 + i * 7, 999 - i * 3);
	return pieces;
}

struct vt_pieces *vt_pages(struct kunit *test, size_t count, size_t offset)
{
	struct vt_pieces *pieces = vt_new_pieces(test, count);
	size_t i;

	for (i = 0; i < count; i++)
		vt_add_piece(pieces, i ? 0 : offset, PAGE_SIZE - (i ? 0 : offset));
	return pieces;
}

/* As vt_fill() would fill it if it were one */
void vt_pieces_fill(struct vt_pieces *pieces, u8 seed)
{
	u8 *all = vmalloc(pieces->len);
	size_t i, done = 0;

	memset(pieces->mem, 0x5a, pieces->count * PAGE_SIZE);
	if (!all)
		return;
	vt_fill(all, pieces->len, seed);
	for (i = 0; i < pieces->count; i++) {
		memcpy(pieces->kvec[i].iov_base, all + done, pieces->kvec[i].iov_len);
		done += pieces->kvec[i].iov_len;
	}
	vfree(all);
}

/* And nothing between them has been touched */
static bool vt_gaps_untouched(const struct vt_pieces *pieces)
{
	const struct kvec *piece = pieces->kvec;
	const u8 *byte = pieces->mem;

	for (; piece < pieces->kvec + pieces->count; piece++) {
		for (; byte < (u8 *)piece->iov_base; byte++)
			if (*byte != 0x5a)
				return false;
		byte += piece->iov_len;
	}
	for (; byte < pieces->mem + pieces->count * PAGE_SIZE; byte++)
		if (*byte != 0x5a)
			return false;
	return true;
}

bool vt_pieces_filled(const struct vt_pieces *pieces, u8 seed)
{
	u8 *all = vmalloc(pieces->len);
	size_t i, done = 0;
	bool filled;

	if (!all)
		return false;
	for (i = 0; i < pieces->count; i++) {
		memcpy(all + done, pieces->kvec[i].iov_base, pieces->kvec[i].iov_len);
		done += pieces->kvec[i].iov_len;
	}
	filled = vt_filled(all, pieces->len, seed) && vt_gaps_untouched(pieces);
	vfree(all);
	return filled;
}

void vt_far_open_for(struct kunit *test, struct vt_far *far, const struct vt_pieces *pieces)
{
	vt_far_open(test, far, pieces->len + 1);
}
