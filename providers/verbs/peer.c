// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of other devices: pages of PCI devices (P2PDMA), and dma-bufs.
 *
 *			device of software (rxe, siw)	device of hardware
 *	pages		the driver copies by the	the device itself, on the bus; the
 *			processor			kernel's DMA API knows whether it can
 *	dma-buf		the same, by the pages behind	refused
 *			the exporter's mapping
 *
 * The DMA API maps pages of PCI devices in scatterlists only.  So a device of hardware takes
 * them in regions and in rw operations, and a local buffer has to lie in a region
 * (FI_MR_HMEM).  A device of software takes them in every list.
 *
 * A region of a dma-buf on a device of software: its driver keeps pages for as long as the
 * registration is there, and a message that is under way may keep the registration; nothing
 * ends that in bounded time.  So the exporter must be one that cannot move, which keeps the
 * memory until the region is closed.  A device of hardware would map the dma-buf for itself
 * (dma_buf_map_attachment()), and have to give it back whenever the exporter says so, which
 * the drivers' registrations of kernel memory cannot.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <kofi/dmabuf.h>
#include <kofi/pages.h>
#include "mr.h"
#include "verbs.h"

#define VERBS_DMABUF_ACCESS	(FI_REMOTE_READ | FI_REMOTE_WRITE)

/**
 * verbs_peer_caps() - Does a device reach memory of other devices?
 * @dev: the device
 * @hints: what the client asks for, or NULL
 *
 * A device of hardware costs the client a mode bit (FI_MR_HMEM), so it is for those that ask.
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

/**
 * verbs_peer_errno() - The client's errno for a list that was not mapped
 * @dev: the device
 * @ret: 0 or more, or negative errno
 *
 * Context: any.
 * Return: @ret; -EOPNOTSUPP: the device does not reach the PCI device whose pages are in the
 * list.
 */
int verbs_peer_errno(const struct verbs_device *dev, int ret)
{
	if (likely(ret != -EREMOTEIO))
		return ret;
	dev_notice_ratelimited(&dev->ibdev->dev,
			       "memory of a PCI device is refused: the bus does not lead there\n");
	return -EOPNOTSUPP;
}

static int verbs_dmabuf_refuse(const struct verbs_mr *mr, const char *why)
{
	dev_notice_ratelimited(&mr->domain->dev->ibdev->dev, "a dma-buf is refused: %s\n", why);
	return -EOPNOTSUPP;
}

/**
 * verbs_mr_dmabuf_init() - Make a new region one of a dma-buf
 * @mr: the region, whose key is registered
 * @attr: the region; peers have base_addr for the first byte of the dma-buf, which has to be
 *	at the boundary of a page
 *
 * Context: may sleep, on a device that has been entered.
 * Return: 0; -EOPNOTSUPP: it is to be a local buffer, or it is no memory that such a device
 * reaches; as verbs_mr_init().  After an error the caller frees the region.
 */
int verbs_mr_dmabuf_init(struct verbs_mr *mr, const struct fi_mr_attr *attr)
{
	const struct fi_mr_dmabuf *piece = attr->dmabuf;
	struct kofi_dmabuf *dmabuf;
	struct fi_mr_attr list;
	struct kvec kvec;

	if (attr->access & ~VERBS_DMABUF_ACCESS)
		return -EOPNOTSUPP;
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
		return -EINVAL;
	/* No operation names it as its local buffer */
	mr->mr.mem_desc = NULL;
	return verbs_mr_init(mr, &list);
}
