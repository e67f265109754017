/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory of every kind a client can legally hold, and lists of it.
 */
#ifndef _KUNIT_CLIENT_MEMORY_H
#define _KUNIT_CLIENT_MEMORY_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/fi_domain.h>
#include "client.h"

#define VT_IOV		16	/* asked for in the hints */
#define VT_AREA_ORDER	4
#define VT_AREA		(PAGE_SIZE << VT_AREA_ORDER)
#define VT_MEMORIES	13

/**
 * struct vt_memory - Memory of one kind
 * @name: of the kind, for parameterised cases
 * @alloc: at least VT_AREA bytes that are contiguous for the CPU
 * @type: what lists of it consist of
 * @offset: in the memory, where a buffer begins
 * @pieces: elements of a list
 */
struct vt_memory {
	const char		*name;
	void			*(*alloc)(struct kunit *test);
	enum fi_buf_type	type;
	size_t			offset;
	size_t			pieces;
};

extern const struct vt_memory vt_memories[VT_MEMORIES];

/* A list, whatever it consists of */
struct vt_list {
	struct fi_msg		msg;
	union {
		struct kvec		kvec[VT_IOV];
		struct bio_vec		bvec[VT_IOV];
		struct scatterlist	sgl[VT_IOV];
	};
};

/* VT_AREA bytes and a page of vmalloc, VT_AREA bytes of pages */
void *vt_alloc_vmalloc(struct kunit *test);
void *vt_alloc_pages(struct kunit *test);
/* Splits a buffer into so many pieces; the last takes the rest */
void vt_make_list(struct vt_list *list, const struct vt_memory *memory,
		  void *buf, size_t len);

#endif /* _KUNIT_CLIENT_MEMORY_H */
