/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A dma-buf of a case, whose exporter can move it, and counts what importers do.
 */
#ifndef _KUNIT_CLIENT_DMABUF_H
#define _KUNIT_CLIENT_DMABUF_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/dma-buf.h>
#include <kunit/test.h>

/**
 * enum vt_dmabuf_kind - What an exporter offers
 * @VT_DMABUF_FIXED: a mapping for the processor; the memory never moves
 * @VT_DMABUF_MOVES: the same, and the memory may move
 * @VT_DMABUF_UNMAPPED: no mapping for the processor
 */
enum vt_dmabuf_kind {
	VT_DMABUF_FIXED,
	VT_DMABUF_MOVES,
	VT_DMABUF_UNMAPPED,
};

/**
 * struct vt_dmabuf - A dma-buf and its exporter
 * @dmabuf: the dma-buf
 * @mem: its memory, from vmalloc(): what is used after a move is not there
 * @iomem: to be set by the case: the mapping is one of a device's memory
 * @attach_ret: the same: what an attachment is answered
 * @access_ret: the same: what the begin of an access is answered
 * @attached: attachments
 * @mapped: the processor's mapping is there
 * @accesses: that have begun and not ended
 * @mapped_at_move: the importer had not undone its mapping when the memory moved
 * @released: the last reference has gone
 */
struct vt_dmabuf {
	struct dma_buf		*dmabuf;
	void			*mem;
	bool			iomem;
	int			attach_ret;
	int			access_ret;
	int			attached;
	bool			mapped;
	int			accesses;
	bool			mapped_at_move;
	struct completion	released;
};

/* Its memory is zeroed; the case fails if somebody else has a reference at its end */
struct vt_dmabuf *vt_dmabuf(struct kunit *test, enum vt_dmabuf_kind kind, size_t len);

/* The memory moves with its contents, and importers hear of it before; 0, or -ENOMEM */
int vt_dmabuf_move(struct vt_dmabuf *db);

/* Importers have given everything back */
void vt_dmabuf_expect_unused(struct kunit *test, const struct vt_dmabuf *db);

#endif /* _KUNIT_CLIENT_DMABUF_H */
