// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of other devices: pages of PCI devices (P2PDMA), and dma-bufs.
 *
 *			software device (rxe, siw)	hardware device
 *	pages		the driver copies by the	the device accesses them on the bus; the
 *			processor			kernel's DMA API knows whether it can
 *	dma-buf		the driver copies by the	refused
 *			processor, by the pages of
 *			the exporter's mapping
 *
 * The DMA API maps pages of PCI devices in scatterlists only.  So a hardware device takes them in
 * regions and in rw operations, and a local buffer has to lie in a region (FI_MR_HMEM).  A software
 * device takes them in every list.
 *
 * The driver of a software device keeps the pages of a region as long as the registration, which a
 * message in flight may keep; nothing ends that in bounded time.  So the exporter of a dma-buf must
 * be one that cannot move, and keeps the memory until the region is closed.  A hardware device
 * would map the dma-buf for itself (dma_buf_map_attachment()) and have to give it back whenever the
 * exporter asks, which a registration of kernel memory cannot do.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <kofi/dmabuf.h>
#include <kofi/pages.h>
#include <kofi/refuse.h>
#include "../mr.h"
#include "../verbs.h"

#define VERBS_DMABUF_ACCESS	(FI_REMOTE_READ | FI_REMOTE_WRITE)

/**
 * verbs_peer_caps() - Does a device reach memory of other devices?
 * @dev: the device
 * @hints: what the client asks for, or NULL
 *
 * Hardware devices need a mode bit (FI_MR_HMEM), so only a client that asks gets FI_HMEM.
 *
 * Context: any.
 * Return: FI_HMEM or 0.
 */
u64 verbs_peer_caps(const struct verbs_device *dev, const struct fi_info *hints)
{
	if (ib_uses_virt_dma(dev->ibdev))
		return KOFI_DMABUF_CAPS;
	if (IS_ENABLED(CONFIG_PCI_P2PDMA) && hints && ib_dma_pci_p2p_dma_supported(dev->ibdev))
		return hints->caps & FI_HMEM;
	return 0;
}

static int verbs_dmabuf_refuse(const struct verbs_mr *mr, const char *why)
{
	dev_notice_ratelimited(&mr->domain->dev->ibdev->dev, "a dma-buf is refused: %s\n", why);
	return kofi_refuse("mr_regattr", -EOPNOTSUPP, "attr->dmabuf: %s", why);
}

/**
 * verbs_mr_dmabuf_init() - Make a new region one of a dma-buf
 * @mr: the region; gets its key
 * @attr: attributes; peers use base_addr, at the boundary of a page, for the dma-buf's first byte
 *
 * Context: may sleep, on a device that has been entered.
 * Return: 0; -EOPNOTSUPP: the access is that of a local buffer, or the device does not reach the
 * memory; or as verbs_mr_init().  After an error the caller frees the region.
 */
int verbs_mr_dmabuf_init(struct verbs_mr *mr, const struct fi_mr_attr *attr)
{
	const struct fi_mr_dmabuf *piece = attr->dmabuf;
	struct kofi_dmabuf *dmabuf;
	struct fi_mr_attr list;
	struct kvec kvec;

	if (attr->access & ~VERBS_DMABUF_ACCESS)
		return kofi_refuse("mr_regattr", -EOPNOTSUPP, "attr->access %#llx: a dma-buf can have %#llx",
				   attr->access, (u64)VERBS_DMABUF_ACCESS);
	if (!mr->domain->peer_lists)
		return verbs_dmabuf_refuse(mr, "only devices of software take one");
	dmabuf = kofi_dmabuf_open(piece->dmabuf, KOFI_DMABUF_GOES_ON);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	mr->dmabuf = dmabuf;
	kvec.iov_base = kofi_dmabuf_addr(dmabuf) + piece->offset;
	kvec.iov_len = piece->len;
	/* An exporter may map memory that has no pages of the system */
	if (!kofi_is_memory(kvec.iov_base, kvec.iov_len, true))
		return verbs_dmabuf_refuse(mr, "it has no pages that the device could use");
	list = *attr;
	list.type = FI_BUF_KVEC;
	list.mr_iov = &kvec;
	mr->start = (uintptr_t)piece->base_addr + piece->offset;
	if (mr->start + piece->len - 1 < mr->start)
		return kofi_refuse("mr_regattr", -EINVAL, "attr->dmabuf->base_addr: the addresses run over");
	/* No operation may use it as a local buffer */
	mr->mr.mem_desc = NULL;
	return verbs_mr_init(mr, &list);
}
