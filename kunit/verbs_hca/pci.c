// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of a PCI device on devices of hardware: the fake HCA maps by a PCI device of the
 * machine, behind the same switch as the NVMe device whose memory it is, or not.
 *
 * That everything is unmapped once and nothing is left is for ht_exit() to check.
 */
#include <linux/bvec.h>
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include "../lib/cmb.h"
#include "../lib/dmabuf.h"
#include "hca.h"

/* A device of QEMU's without a function (pci-testdev) */
#define HP_VENDOR	0x1b36
#define HP_DEVICE	0x0005

#define HP_ELEMS	4
#define HP_LEN		(HP_ELEMS * PAGE_SIZE)
#define HP_BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)

/**
 * struct hp - A connection on devices that reach the memory of the NVMe device
 * @pair: the connection
 * @cmb: the memory
 * @mr: a region of it, which is a local buffer, too
 * @buf: memory of the system, as long
 * @mapped: mappings that there are for the objects alone
 */
struct hp {
	struct vt_pair	pair;
	struct vt_cmb	*cmb;
	struct fid_mr	*mr;
	u8		*buf;
	unsigned int	mapped;
};

static void hp_put(void *pdev)
{
	pci_dev_put(pdev);
}

/* A device behind the switch of the NVMe device, or one that is not */
static struct device *hp_device(struct kunit *test, struct pci_dev *nvme, bool reaches)
{
	struct pci_dev *pdev = NULL;
	bool same;

	while ((pdev = pci_get_device(HP_VENDOR, HP_DEVICE, pdev))) {
		same = pci_upstream_bridge(pdev) &&
		       pci_upstream_bridge(pdev)->bus == pci_upstream_bridge(nvme)->bus;
		if (same == reaches)
			break;
	}
	KUNIT_ASSERT_NOT_NULL_MSG(test, pdev, "the machine has no such device");
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, hp_put, pdev), 0);
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64)), 0);
	return &pdev->dev;
}

static struct fi_info *hp_hints(struct kunit *test)
{
	struct fi_info *hints = ht_hints(test);

	hints->caps = FI_MSG | FI_RMA | FI_HMEM;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				      FI_MR_HMEM;
	return hints;
}

/* false: the kernel has no such memory, and FI_HMEM is not offered */
static bool hp_open(struct kunit *test, struct hp *hp, bool reaches)
{
	struct fakehca_attr attr = { .roce = true };
	struct ht *ht = ht_of(test);

	if (!IS_ENABLED(CONFIG_PCI_P2PDMA)) {
		ht_device(test, &attr);
		KUNIT_EXPECT_EQ(test, ht_getinfo(test, hp_hints(test), &ht->vt.info), -ENODATA);
		return false;
	}
	hp->cmb = vt_cmb(test, HP_LEN);
	attr.dma_device = hp_device(test, hp->cmb->pdev, reaches);
	ht_device(test, &attr);
	ht_fabric(test, hp_hints(test));
	KUNIT_EXPECT_EQ(test, ht->vt.info->domain_attr->mr_mode & FI_MR_HMEM, FI_MR_HMEM);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &ht->vt.domain, NULL), 0);
	vt_adopt(test, &ht->vt.domain->fid);
	hp->buf = ht_buf(test, HP_LEN);
	return true;
}

static int hp_reg(struct kunit *test, void *buf, u64 access, struct fid_mr **mr)
{
	int ret = fi_mr_reg(vt_of(test)->domain, buf, HP_LEN, access, 0, 0, 0, mr, NULL);

	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

static bool hp_join(struct kunit *test, struct hp *hp)
{
	size_t rw_ops = 1;

	if (!hp_open(test, hp, true))
		return false;
	KUNIT_ASSERT_EQ(test, hp_reg(test, hp->cmb->mem, HP_BOTH | FI_SEND | FI_RECV | FI_READ |
				     FI_WRITE, &hp->mr), 0);
	vt_listen(test, vt_eq(test, 0));
	ht_end_open(test, &hp->pair.a, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_setopt(&hp->pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RW_OPS, &rw_ops, sizeof(rw_ops)), 0);
	ht_end_enable(test, &hp->pair.a);
	ht_join(test, &hp->pair);
	hp->mapped = ht_stats(test).mapped;
	return true;
}

/* An operation unmaps what it has mapped */
static void hp_expect_unmapped(struct kunit *test, const struct hp *hp)
{
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, hp->mapped);
	KUNIT_EXPECT_EQ(test, ht_stats(test).bad_unmaps, 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).faults, 0);
}

static void a_peer_reaches_a_region(struct kunit *test)
{
	struct hp hp = {};

	if (!hp_join(test, &hp))
		return;
	vt_fill(hp.cmb->mem, HP_LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_read(hp.pair.b.ep, hp.buf, HP_LEN, NULL, 0, fi_mr_addr(hp.mr),
				      fi_mr_key(hp.mr), vt_ctx(1)), 0);
	vt_done(test, hp.pair.b.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(hp.buf, HP_LEN, 1));

	vt_fill(hp.buf, HP_LEN, 2);
	KUNIT_ASSERT_EQ(test, fi_write(hp.pair.b.ep, hp.buf, HP_LEN, NULL, 0, fi_mr_addr(hp.mr),
				       fi_mr_key(hp.mr), vt_ctx(2)), 0);
	vt_done(test, hp.pair.b.tx, vt_ctx(2));
	vt_ping(test, &hp.pair.b, &hp.pair.a);
	KUNIT_EXPECT_TRUE(test, vt_filled(hp.cmb->mem, HP_LEN, 2));
	hp_expect_unmapped(test, &hp);
}

static void hp_expect_refused(struct kunit *test, struct fid_ep *ep, u8 *mem)
{
	struct bio_vec page = { .bv_page = virt_to_page(mem), .bv_len = PAGE_SIZE };
	const struct fi_msg msg = { .type = FI_BUF_BVEC, .msg_bvec = &page, .iov_count = 1 };

	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &msg, FI_COMPLETION), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(ep, &msg, FI_COMPLETION), -EINVAL);
	/* Data transfers look closer at a kernel address only under this check */
	if (!IS_ENABLED(CONFIG_DEBUG_VM))
		return;
	KUNIT_EXPECT_EQ(test, fi_send(ep, mem, HP_LEN, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(ep, mem, HP_LEN, NULL, 0, NULL), -EINVAL);
}

static void a_local_buffer_lies_in_a_region(struct kunit *test)
{
	struct hp hp = {};
	struct fid_ep *ep;
	void *desc;

	if (!hp_join(test, &hp))
		return;
	ep = hp.pair.a.ep;
	desc = fi_mr_desc(hp.mr);
	vt_fill(hp.cmb->mem, HP_LEN, 3);
	vt_recv(test, &hp.pair.b, hp.buf, HP_LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(ep, hp.cmb->mem, HP_LEN, desc, 0, vt_ctx(2)), 0);
	vt_done(test, hp.pair.a.tx, vt_ctx(2));
	vt_done(test, hp.pair.b.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(hp.buf, HP_LEN, 3));

	hp_expect_refused(test, ep, hp.cmb->mem);
	hp_expect_unmapped(test, &hp);
}

static void rw_operations_map_it(struct kunit *test)
{
	struct scatterlist sgl[HP_ELEMS];
	struct fid_mr *mr;
	struct hp hp = {};
	int i;

	if (!hp_join(test, &hp))
		return;
	/* Mappings that overlap are reported */
	vt_close(test, &hp.mr->fid);
	KUNIT_ASSERT_EQ(test, hp_reg(test, hp.buf, HP_BOTH, &mr), 0);
	hp.mapped = ht_stats(test).mapped;
	sg_init_table(sgl, HP_ELEMS);
	for (i = 0; i < HP_ELEMS; i++)
		sg_set_buf(&sgl[i], hp.cmb->mem + (HP_ELEMS - 1 - i) * PAGE_SIZE, PAGE_SIZE);
	for (i = 0; i < HP_ELEMS; i++)
		vt_fill(sg_virt(&sgl[i]), PAGE_SIZE, i);
	KUNIT_ASSERT_EQ(test, fi_writesgl(hp.pair.a.ep, sgl, HP_ELEMS, 0, HP_LEN, 0, fi_mr_addr(mr),
					  fi_mr_key(mr), vt_ctx(1), FI_COMPLETION), 0);
	vt_done(test, hp.pair.a.tx, vt_ctx(1));
	vt_ping(test, &hp.pair.a, &hp.pair.b);
	for (i = 0; i < HP_ELEMS; i++)
		KUNIT_EXPECT_TRUE(test, vt_filled(hp.buf + i * PAGE_SIZE, PAGE_SIZE, i));

	vt_fill(hp.buf, HP_LEN, 9);
	KUNIT_ASSERT_EQ(test, fi_readsgl(hp.pair.a.ep, sgl, HP_ELEMS, 0, HP_LEN, 0, fi_mr_addr(mr),
					 fi_mr_key(mr), vt_ctx(2), FI_COMPLETION), 0);
	vt_done(test, hp.pair.a.tx, vt_ctx(2));
	for (i = 0; i < HP_ELEMS; i++)
		KUNIT_EXPECT_MEMEQ(test, sg_virt(&sgl[i]), hp.buf + i * PAGE_SIZE, PAGE_SIZE);
	hp_expect_unmapped(test, &hp);
}

static void what_the_bus_does_not_lead_to_is_refused(struct kunit *test)
{
	struct fid_mr *mr;
	struct hp hp = {};

	if (!hp_open(test, &hp, false))
		return;
	KUNIT_EXPECT_EQ(test, hp_reg(test, hp.cmb->mem, HP_BOTH, &mr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, hp_reg(test, hp.buf, HP_BOTH, &mr), 0);
}

/* FI_OPT_FI_HMEM_P2P, dma-bufs, and FI_MR_HMEM only with FI_HMEM in the hints */
static void options_and_dma_bufs(struct kunit *test)
{
	int enabled = FI_HMEM_P2P_ENABLED, disabled = FI_HMEM_P2P_DISABLED, p2p = -1;
	int required = FI_HMEM_P2P_REQUIRED;
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, PAGE_SIZE);
	const struct fi_mr_dmabuf piece = { .dmabuf = db->dmabuf, .len = PAGE_SIZE };
	const struct fi_mr_attr attr = {
		.dmabuf = &piece, .iov_count = 1, .access = HP_BOTH,
	};
	size_t len = sizeof(p2p);
	struct vt_end end = {};
	struct fi_info *info;
	struct fid_mr *mr;
	struct hp hp = {};
	struct fid *fid;

	if (!hp_open(test, &hp, true))
		return;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, &mr),
			-EOPNOTSUPP);
	vt_dmabuf_expect_unused(test, db);
	ht_end_open(test, &end, vt_of(test)->info);
	fid = &end.ep->fid;
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &required,
					sizeof(int)), 0);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &enabled,
					sizeof(int)), 0);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &disabled,
					sizeof(int)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, &len), 0);
	KUNIT_EXPECT_EQ(test, p2p, FI_HMEM_P2P_REQUIRED);

	KUNIT_ASSERT_EQ(test, ht_getinfo(test, ht_hints(test), &info), 0);
	KUNIT_EXPECT_EQ(test, info->caps & FI_HMEM, 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode & FI_MR_HMEM, 0);
}

static struct kunit_case hp_cases[] = {
	KUNIT_CASE(a_peer_reaches_a_region),
	KUNIT_CASE(a_local_buffer_lies_in_a_region),
	KUNIT_CASE(rw_operations_map_it),
	KUNIT_CASE(what_the_bus_does_not_lead_to_is_refused),
	KUNIT_CASE(options_and_dma_bufs),
	{}
};

struct kunit_suite kofi_hca_pci_suite = {
	.name		= "kofi_hca_pci",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= hp_cases,
};
