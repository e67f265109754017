// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A dma-buf of a case.  Devices have no mapping of it.
 */
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <kofi/compat.h>
#include "dmabuf.h"
#include "patience.h"

static int db_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct vt_dmabuf *db = dmabuf->priv;

	if (!db->attach_ret)
		db->attached++;
	return db->attach_ret;
}

static void db_detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct vt_dmabuf *db = dmabuf->priv;

	db->attached--;
}

static int db_pin(struct dma_buf_attachment *attach)
{
	return -EOPNOTSUPP;
}

static void db_unpin(struct dma_buf_attachment *attach)
{
}

static struct sg_table *db_map(struct dma_buf_attachment *attach,
			       enum dma_data_direction direction)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void db_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		     enum dma_data_direction direction)
{
}

static void db_release(struct dma_buf *dmabuf)
{
	struct vt_dmabuf *db = dmabuf->priv;

	complete(&db->released);
}

static int db_begin(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct vt_dmabuf *db = dmabuf->priv;

	if (!db->access_ret)
		db->accesses++;
	return db->access_ret;
}

static int db_end(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct vt_dmabuf *db = dmabuf->priv;

	db->accesses--;
	return 0;
}

static int db_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct vt_dmabuf *db = dmabuf->priv;

	if (db->iomem)
		iosys_map_set_vaddr_iomem(map, (void __iomem *)db->mem);
	else
		iosys_map_set_vaddr(map, db->mem);
	db->mapped = true;
	return 0;
}

static void db_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct vt_dmabuf *db = dmabuf->priv;

	db->mapped = false;
}

#define DB_COMMON					\
	.map_dma_buf		= db_map,		\
	.unmap_dma_buf		= db_unmap,		\
	.release		= db_release,		\
	.begin_cpu_access	= db_begin,		\
	.end_cpu_access		= db_end

static const struct dma_buf_ops db_ops[] = {
	[VT_DMABUF_FIXED] = {
		DB_COMMON,
		.vmap	= db_vmap,
		.vunmap	= db_vunmap,
	},
	[VT_DMABUF_MOVES] = {
		DB_COMMON,
		.vmap	= db_vmap,
		.vunmap	= db_vunmap,
		.attach	= db_attach,
		.detach	= db_detach,
		.pin	= db_pin,
		.unpin	= db_unpin,
	},
	[VT_DMABUF_UNMAPPED] = {
		DB_COMMON,
	},
};

/* The last reference is given up by another thread, a moment later */
static void db_put(void *data)
{
	struct vt_dmabuf *db = data;

	dma_buf_put(db->dmabuf);
	if (wait_for_completion_timeout(&db->released, msecs_to_jiffies(VT_PATIENCE_MS)))
		vfree(db->mem);
	else
		WARN(1, "somebody has a reference to the dma-buf of a case\n");
}

struct vt_dmabuf *vt_dmabuf(struct kunit *test, enum vt_dmabuf_kind kind, size_t len)
{
	struct vt_dmabuf *db = kunit_kzalloc(test, sizeof(*db), GFP_KERNEL);
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	KUNIT_ASSERT_NOT_NULL(test, db);
	init_completion(&db->released);
	db->mem = vzalloc(len);
	KUNIT_ASSERT_NOT_NULL(test, db->mem);
	info.ops = &db_ops[kind];
	info.size = len;
	info.flags = O_RDWR;
	info.priv = db;
	db->dmabuf = dma_buf_export(&info);
	if (IS_ERR(db->dmabuf))
		vfree(db->mem);
	KUNIT_ASSERT_FALSE(test, IS_ERR(db->dmabuf));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, db_put, db), 0);
	return db;
}
EXPORT_SYMBOL_GPL(vt_dmabuf);

int vt_dmabuf_move(struct vt_dmabuf *db)
{
	void *from = db->mem, *to = vmalloc(db->dmabuf->size);

	if (!to)
		return -ENOMEM;
	dma_resv_lock(db->dmabuf->resv, NULL);
	dma_buf_invalidate_mappings(db->dmabuf);
	db->mapped_at_move |= db->mapped;
	memcpy(to, from, db->dmabuf->size);
	db->mem = to;
	dma_resv_unlock(db->dmabuf->resv);
	vfree(from);
	return 0;
}
EXPORT_SYMBOL_GPL(vt_dmabuf_move);

void vt_dmabuf_expect_unused(struct kunit *test, const struct vt_dmabuf *db)
{
	KUNIT_EXPECT_EQ(test, db->attached, 0);
	KUNIT_EXPECT_FALSE(test, db->mapped);
	KUNIT_EXPECT_EQ(test, db->accesses, 0);
}
EXPORT_SYMBOL_GPL(vt_dmabuf_expect_unused);

KOFI_IMPORT_DMA_BUF;
