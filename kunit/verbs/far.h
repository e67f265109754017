/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connection with a region at its second end, and local memory in pieces for what
 * is read from there and written there.
 */
#ifndef _KUNIT_VERBS_TEST_FAR_H
#define _KUNIT_VERBS_TEST_FAR_H

#include <linux/bvec.h>
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include "verbs.h"

/**
 * struct vt_far - A pair and a region
 * @pair: a has the pieces, b the region; a's queues may be set before
 * @kind: of its completion queues; NULL: vt_default_kind
 * @size: depth of a's transmit queue; 0: the default
 * @iov_limit: of the hints
 * @access: of the region; 0: FI_REMOTE_READ | FI_REMOTE_WRITE
 * @rw_ops: FI_OPT_MAX_RW_OPS of a
 * @cntr: bound to a for @cntr_dirs, or NULL
 * @cntr_dirs: FI_READ, FI_WRITE
 * @len: bytes of @target
 * @target: memory of the region
 * @mr: the region
 */
struct vt_far {
	struct vt_pair		pair;
	const struct vt_kind	*kind;
	size_t			size;
	size_t			iov_limit;
	u64			access;
	size_t			rw_ops;
	struct fid_cntr		*cntr;
	u64			cntr_dirs;
	size_t			len;
	u8			*target;
	struct fid_mr		*mr;
};

/* As vt_rma_hints(), for writes with remote CQ data, too */
struct fi_info *vt_far_hints(struct kunit *test);
/* Domain and listener; what is set in @far counts */
void vt_far_serve(struct kunit *test, struct vt_far *far);
/* Connection and region */
void vt_far_join(struct kunit *test, struct vt_far *far, size_t len);
/* Both */
void vt_far_open(struct kunit *test, struct vt_far *far, size_t len);

static inline u64 vt_far_addr(const struct vt_far *far)
{
	return (uintptr_t)far->target;
}

#define VT_FAR_PIECES	64

/**
 * struct vt_pieces - Local memory of pages that do not lie beside each other
 * @mem: by its virtual addresses it is one
 * @count: pieces, each in a page of its own
 * @len: bytes of all
 * @kvec: the pieces
 * @bvec: the same
 * @sgl: the same
 */
struct vt_pieces {
	u8			*mem;
	size_t			count;
	size_t			len;
	struct kvec		kvec[VT_FAR_PIECES];
	struct bio_vec		bvec[VT_FAR_PIECES];
	struct scatterlist	sgl[VT_FAR_PIECES];
};

u8 *vt_vmalloc(struct kunit *test, size_t len);
/* Each of odd length at an odd place */
struct vt_pieces *vt_pieces(struct kunit *test, size_t count);
/* All of the pages of @mem but for what is in front of @offset */
struct vt_pieces *vt_pages(struct kunit *test, size_t count, size_t offset);
/* The pieces one after the other */
void vt_pieces_fill(struct vt_pieces *pieces, u8 seed);
bool vt_pieces_filled(const struct vt_pieces *pieces, u8 seed);
/* As vt_far_open(), with room for the pieces and a byte more */
void vt_far_open_for(struct kunit *test, struct vt_far *far, const struct vt_pieces *pieces);

#endif /* _KUNIT_VERBS_TEST_FAR_H */
