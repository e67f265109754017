/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The controller memory buffer (CMB) of an NVMe device, whose driver offers it to other
 * devices: memory of a PCI device that has pages.  The machines of the gate have such a device.
 */
#ifndef _KUNIT_CLIENT_CMB_H
#define _KUNIT_CLIENT_CMB_H

#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <kunit/test.h>

/**
 * struct vt_cmb - Memory of a case
 * @pdev: the device, with a reference
 * @mem: the memory, zeroed
 * @len: bytes, whole pages
 */
struct vt_cmb {
	struct pci_dev	*pdev;
	u8		*mem;
	size_t		len;
};

static inline void vt_cmb_free(void *data)
{
	struct vt_cmb *cmb = data;

	if (cmb->mem)
		pci_free_p2pmem(cmb->pdev, cmb->mem, cmb->len);
	pci_dev_put(cmb->pdev);
}

/* The case must close what uses the memory before it ends */
static inline struct vt_cmb *vt_cmb(struct kunit *test, size_t len)
{
	struct vt_cmb *cmb = kunit_kzalloc(test, sizeof(*cmb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cmb);
	cmb->len = PAGE_ALIGN(len);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_cmb_free, cmb), 0);
	/* Of the first device that has it: all others answer NULL */
	for_each_pci_dev(cmb->pdev) {
		cmb->mem = pci_alloc_p2pmem(cmb->pdev, cmb->len);
		if (cmb->mem)
			break;
	}
	KUNIT_ASSERT_NOT_NULL_MSG(test, cmb->mem, "no device offers its memory");
	memset(cmb->mem, 0, cmb->len);
	return cmb;
}

#endif /* _KUNIT_CLIENT_CMB_H */
