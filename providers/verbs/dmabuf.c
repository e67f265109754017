// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions of dma-bufs, on devices that are software: their driver accesses memory by the
 * processor, and needs its pages for that.
 *
 * The driver keeps pages for as long as the registration is there, and a message that is
 * under way may keep the registration; nothing ends that in bounded time.  So the exporter
 * must be one that cannot move, which keeps the memory until the region is closed.
 *
 * A device of hardware would map the dma-buf for itself (dma_buf_map_attachment()), which
 * is not done here: such a device claims no FI_HMEM.
 */
#include <linux/module.h>
#include <linux/uio.h>
#include <kofi/dmabuf.h>
#include <kofi/pages.h>
#include "mr.h"
#include "verbs.h"

#define VERBS_DMABUF_ACCESS	(FI_REMOTE_READ | FI_REMOTE_WRITE)

u64 verbs_dmabuf_caps(const struct verbs_device *dev)
{
	return ib_uses_virt_dma(dev->ibdev) ? KOFI_DMABUF_CAPS : 0;
}

/* An exporter may map memory that has no pages of the system */
static int verbs_dmabuf_has_pages(const struct verbs_mr *mr, const struct kvec *kvec)
{
	if (kofi_is_memory(kvec->iov_base, kvec->iov_len))
		return 0;
	dev_notice_ratelimited(&mr->domain->dev->ibdev->dev,
			       "a dma-buf is refused: it has no pages that the device could use\n");
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
	int ret;

	if (attr->access & ~VERBS_DMABUF_ACCESS)
		return -EOPNOTSUPP;
	dmabuf = kofi_dmabuf_open(piece->dmabuf, KOFI_DMABUF_GOES_ON);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	mr->dmabuf = dmabuf;
	kvec.iov_base = kofi_dmabuf_addr(dmabuf) + piece->offset;
	kvec.iov_len = piece->len;
	ret = verbs_dmabuf_has_pages(mr, &kvec);
	if (ret)
		return ret;
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
