// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Dma-bufs that the processor accesses.
 *
 * An exporter that can move its memory (it has ->pin) notifies the attachments of a dma-buf
 * before it moves the memory.  So kofi_dmabuf_attach() attaches such a dma-buf, to a device
 * that exists for this purpose only and maps nothing.  An exporter that cannot move its
 * memory keeps it in place as long as it is mapped, so its dma-bufs are not attached.
 *
 * @mapped changes under the reservation lock of the dma-buf: it is set when the memory has
 * been mapped, and cleared once, by the exporter's notification or by the close, whichever
 * is first.  A notification between the attachment and the mapping has nothing to do,
 * because the memory is then mapped at its new place.
 *
 * Accesses read @mapped within an SRCU section.  The notification clears @mapped and then
 * waits for the sections that have begun; a later section sees that @mapped is cleared.
 * One SRCU domain serves all dma-bufs, as sections are short.  No section takes a
 * reservation lock, so the notification may wait while it holds one.  Memory is unmapped
 * before the notification returns, so the exporter never moves mapped memory.
 *
 * Caches: kofi_dmabuf_open() reports the start of the processor's access to the exporter
 * (dma_buf_begin_cpu_access()), and kofi_dmabuf_close() reports the end.  Single accesses
 * of peers are not reported.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <kofi/compat.h>
#include <kofi/dmabuf.h>
#include <kofi/refuse.h>

/**
 * struct kofi_dmabuf - A dma-buf that the processor accesses
 * @dmabuf: the dma-buf, with a reference
 * @attach: receives the notifications; NULL: the exporter cannot move its memory
 * @map: where it is mapped, while @mapped
 * @mapped: see above
 */
struct kofi_dmabuf {
	struct dma_buf			*dmabuf;
	struct dma_buf_attachment	*attach;
	struct iosys_map		map;
	bool				mapped;
};

DEFINE_STATIC_SRCU(kofi_dmabuf_srcu);

/* The device that exporters see as the importer */
static struct device *kofi_dmabuf_importer;

int kofi_dmabuf_enter(void)
	__acquires(&kofi_dmabuf_srcu)
{
	return srcu_read_lock(&kofi_dmabuf_srcu);
}
EXPORT_SYMBOL_GPL(kofi_dmabuf_enter);

void kofi_dmabuf_leave(int idx) __releases(&kofi_dmabuf_srcu)
{
	srcu_read_unlock(&kofi_dmabuf_srcu, idx);
}
EXPORT_SYMBOL_GPL(kofi_dmabuf_leave);

bool kofi_dmabuf_is_there(const struct kofi_dmabuf *memory)
{
	return READ_ONCE(memory->mapped);
}
EXPORT_SYMBOL_GPL(kofi_dmabuf_is_there);

void *kofi_dmabuf_addr(const struct kofi_dmabuf *memory)
{
	return memory->map.vaddr;
}
EXPORT_SYMBOL_GPL(kofi_dmabuf_addr);

/* The exporter takes the memory back */
static void kofi_dmabuf_revoke(struct dma_buf_attachment *attach)
{
	struct kofi_dmabuf *memory = attach->importer_priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (!memory->mapped)
		return;
	WRITE_ONCE(memory->mapped, false);
	synchronize_srcu_expedited(&kofi_dmabuf_srcu);
	dma_buf_vunmap(memory->dmabuf, &memory->map);
	pr_notice_ratelimited("a dma-buf of %s was taken back; its regions are out of reach\n",
			      memory->dmabuf->exp_name);
}

/* No device accesses the memory, so the exporter need not keep it where a device reaches it */
static const struct dma_buf_attach_ops kofi_dmabuf_attach_ops = {
	.allow_peer2peer	= false,
	.invalidate_mappings	= kofi_dmabuf_revoke,
};

static int kofi_dmabuf_refuse(const struct dma_buf *dmabuf, const char *why)
{
	pr_notice_ratelimited("a dma-buf of %s is refused: %s\n", dmabuf->exp_name, why);
	return kofi_refuse("mr_regattr", -EOPNOTSUPP, "attr->dmabuf: a dma-buf of %s: %s",
			   dmabuf->exp_name, why);
}

static int kofi_dmabuf_attach(struct kofi_dmabuf *memory, enum kofi_dmabuf_user user)
{
	struct dma_buf_attachment *attach;

	if (!dma_buf_is_dynamic(memory->dmabuf))
		return 0;
	if (user == KOFI_DMABUF_GOES_ON)
		return kofi_dmabuf_refuse(memory->dmabuf,
					  "it may move, and the provider would access it still");
	if (!KOFI_DMABUF_VMAP_IS_LOCKED)
		return kofi_dmabuf_refuse(memory->dmabuf,
					  "it may move, and before Linux 6.2 that is not seen");
	attach = dma_buf_dynamic_attach(memory->dmabuf, kofi_dmabuf_importer,
					&kofi_dmabuf_attach_ops, memory);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	memory->attach = attach;
	return 0;
}

static int kofi_dmabuf_map(struct kofi_dmabuf *memory)
{
	struct dma_buf *dmabuf = memory->dmabuf;
	bool is_device = false;
	int ret;

	if (!dmabuf->ops->vmap)
		return kofi_dmabuf_refuse(dmabuf, "it has no mapping for the processor");
	dma_resv_lock(dmabuf->resv, NULL);
	ret = dma_buf_vmap(dmabuf, &memory->map);
	if (!ret && memory->map.is_iomem) {
		dma_buf_vunmap(dmabuf, &memory->map);
		is_device = true;
	}
	WRITE_ONCE(memory->mapped, !ret && !is_device);
	dma_resv_unlock(dmabuf->resv);
	if (is_device)
		return kofi_dmabuf_refuse(dmabuf,
					  "its memory is a device's and takes I/O instructions");
	return ret;
}

static void kofi_dmabuf_unmap(struct kofi_dmabuf *memory)
{
	dma_resv_lock(memory->dmabuf->resv, NULL);
	if (memory->mapped)
		dma_buf_vunmap(memory->dmabuf, &memory->map);
	memory->mapped = false;
	dma_resv_unlock(memory->dmabuf->resv);
}

struct kofi_dmabuf *kofi_dmabuf_open(struct dma_buf *dmabuf, enum kofi_dmabuf_user user)
{
	struct kofi_dmabuf *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	int ret;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	get_dma_buf(dmabuf);
	memory->dmabuf = dmabuf;
	ret = kofi_dmabuf_attach(memory, user);
	if (ret)
		goto put;
	ret = kofi_dmabuf_map(memory);
	if (ret)
		goto detach;
	ret = dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	if (ret)
		goto unmap;
	return memory;

unmap:
	kofi_dmabuf_unmap(memory);
detach:
	if (memory->attach)
		dma_buf_detach(dmabuf, memory->attach);
put:
	dma_buf_put(dmabuf);
	kfree(memory);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(kofi_dmabuf_open);

void kofi_dmabuf_close(struct kofi_dmabuf *memory)
{
	dma_buf_end_cpu_access(memory->dmabuf, DMA_BIDIRECTIONAL);
	kofi_dmabuf_unmap(memory);
	if (memory->attach)
		dma_buf_detach(memory->dmabuf, memory->attach);
	dma_buf_put(memory->dmabuf);
	kfree(memory);
}
EXPORT_SYMBOL_GPL(kofi_dmabuf_close);

int kofi_dmabuf_init(void)
{
	kofi_dmabuf_importer = root_device_register("kofi");
	return PTR_ERR_OR_ZERO(kofi_dmabuf_importer);
}

void kofi_dmabuf_exit(void)
{
	root_device_unregister(kofi_dmabuf_importer);
}

KOFI_IMPORT_DMA_BUF;
