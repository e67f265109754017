// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains and memory regions.
 *
 * Every protection domain has its own region of all memory (the local DMA key);
 * others are filled by ib_map_mr_sg() and registered by a work request.  Keys are
 * index << 8 | whatever the owner chose, and all of it is checked: domain, key,
 * range, rights.  The engine is the only one that looks regions up, so flushing
 * it makes it safe to free one.
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "priv.h"

#define FAKEHCA_KEY_SHIFT	8

int fakehca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct fakehca *hca = to_fakehca(pd->device);
	int ret = fakehca_should_fail(hca, FAKEHCA_ALLOC_PD);

	if (!ret)
		fakehca_count(hca, &hca->stats.pds, 1);
	return ret;
}

int fakehca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct fakehca *hca = to_fakehca(pd->device);

	fakehca_count(hca, &hca->stats.pds, -1);
	return 0;
}

static struct fakehca_mr *fakehca_mr_new(struct fakehca *hca, u32 max)
{
	struct fakehca_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	u32 index;
	int ret;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->hca = hca;
	mr->max = max;
	mr->segs = kvcalloc(max, sizeof(*mr->segs), GFP_KERNEL);
	ret = mr->segs || !max ? 0 : -ENOMEM;
	if (!ret)
		ret = xa_alloc_irq(&hca->mrs, &index, mr, XA_LIMIT(1, U32_MAX >> FAKEHCA_KEY_SHIFT),
				   GFP_KERNEL);
	if (ret) {
		kvfree(mr->segs);
		kfree(mr);
		return ERR_PTR(ret);
	}
	mr->key = index << FAKEHCA_KEY_SHIFT;
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	return mr;
}

struct ib_mr *fakehca_get_dma_mr(struct ib_pd *pd, int access)
{
	struct fakehca *hca = to_fakehca(pd->device);
	int ret = fakehca_should_fail(hca, FAKEHCA_GET_DMA_MR);
	struct fakehca_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	/* A key for all memory that a peer could use */
	if (access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE))
		return ERR_PTR(-EPERM);
	mr = fakehca_mr_new(hca, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->ibmr.pd = pd;
	mr->whole = true;
	mr->valid = true;
	mr->access = access;
	return &mr->ibmr;
}

struct ib_mr *fakehca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				  KOFI_IB_DMAH_PARAM struct ib_udata *udata)
{
	int ret = fakehca_should_fail(to_fakehca(pd->device), FAKEHCA_REG_USER_MR);

	return ERR_PTR(ret ? : -EOPNOTSUPP);
}

struct ib_mr *fakehca_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct fakehca *hca = to_fakehca(pd->device);
	int ret = fakehca_should_fail(hca, FAKEHCA_ALLOC_MR);
	struct fakehca_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	if (max_num_sg > hca->attr.fast_reg_pages)
		return ERR_PTR(-EINVAL);
	if (type != IB_MR_TYPE_MEM_REG && !(type == IB_MR_TYPE_SG_GAPS && hca->attr.sg_gaps))
		return ERR_PTR(-EOPNOTSUPP);

	mr = fakehca_mr_new(hca, max_num_sg);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->ibmr.pd = pd;
	mr->gaps = type == IB_MR_TYPE_SG_GAPS;
	fakehca_count(hca, &hca->stats.mrs, 1);
	return &mr->ibmr;
}

int fakehca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct fakehca_mr *mr = to_fakehca_mr(ibmr);
	struct fakehca *hca = mr->hca;
	int ret = fakehca_should_fail(hca, FAKEHCA_DEREG_MR);

	if (ret)
		return ret;
	xa_erase_irq(&hca->mrs, mr->key >> FAKEHCA_KEY_SHIFT);
	flush_work(&hca->engine);
	if (!mr->whole)
		fakehca_count(hca, &hca->stats.mrs, -1);
	kvfree(mr->segs);
	kfree(mr);
	return 0;
}

static int fakehca_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct fakehca_mr *mr = to_fakehca_mr(ibmr);

	if (mr->count == mr->max)
		return -ENOMEM;
	mr->segs[mr->count++] = (struct fakehca_seg) { addr, ibmr->page_size };
	return 0;
}

static int fakehca_map_gaps(struct fakehca_mr *mr, struct scatterlist *sgl,
			    int sg_nents, unsigned int *sg_offset)
{
	unsigned int skip = sg_offset ? *sg_offset : 0;
	struct scatterlist *sg;
	int i;

	mr->ibmr.iova = sg_dma_address(sgl) + skip;
	mr->ibmr.length = 0;
	for_each_sg(sgl, sg, sg_nents, i) {
		if (mr->count == mr->max)
			break;
		mr->segs[mr->count++] = (struct fakehca_seg) {
			sg_dma_address(sg) + skip, sg_dma_len(sg) - skip,
		};
		mr->ibmr.length += sg_dma_len(sg) - skip;
		skip = 0;
	}
	if (sg_offset)
		*sg_offset = 0;
	return i;
}

void fakehca_on_map_mr(struct fakehca *hca, void (*fn)(void *context), void *context)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->on_map_mr = fn;
	hca->on_map_mr_context = context;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_on_map_mr);

static void fakehca_announce_map(struct fakehca *hca)
{
	void (*fn)(void *context);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	fn = hca->on_map_mr;
	hca->on_map_mr = NULL;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (fn)
		fn(hca->on_map_mr_context);
}

int fakehca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		      unsigned int *sg_offset)
{
	struct fakehca_mr *mr = to_fakehca_mr(ibmr);
	int ret = fakehca_should_fail(mr->hca, FAKEHCA_MAP_MR_SG);

	if (ret)
		return ret;
	fakehca_announce_map(mr->hca);
	mr->count = 0;
	mr->page_size = ibmr->page_size;
	if (mr->gaps)
		return fakehca_map_gaps(mr, sg, sg_nents, sg_offset);
	return ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, fakehca_set_page);
}

/* Engine, from here on */
static struct fakehca_mr *fakehca_mr_find(struct fakehca_qp *qp, u32 key)
{
	struct fakehca_mr *mr = xa_load(&qp->hca->mrs, key >> FAKEHCA_KEY_SHIFT);

	return mr && mr->ibmr.pd == qp->ibqp.pd ? mr : NULL;
}

bool fakehca_mr_register(struct fakehca_qp *qp, const struct fakehca_wqe *wqe)
{
	struct fakehca_mr *mr = fakehca_mr_find(qp, wqe->key);

	if (!mr || mr->whole || mr->valid)
		return false;
	mr->key = wqe->key;
	mr->access = wqe->access;
	mr->iova = mr->ibmr.iova;
	mr->length = mr->ibmr.length;
	mr->valid = true;
	return true;
}

bool fakehca_mr_invalidate(struct fakehca_qp *qp, u32 key, bool remote)
{
	struct fakehca_mr *mr = fakehca_mr_find(qp, key);

	if (!mr || mr->whole || !mr->valid || mr->key != key)
		return false;
	if (remote && !(mr->access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)))
		return false;
	mr->valid = false;
	return true;
}

/* DMA address of an offset; @len is cut to what follows it without a gap */
static u64 fakehca_mr_translate(struct fakehca_mr *mr, u64 offset, size_t *len)
{
	struct fakehca_seg *seg = mr->segs;

	if (!mr->gaps)
		offset += mr->iova & (mr->page_size - 1);
	while (offset >= seg->len)
		offset -= seg++->len;
	*len = min_t(u64, *len, seg->len - offset);
	return seg->addr + offset;
}

static bool fakehca_mr_covers(const struct fakehca_mr *mr, u64 addr, size_t len)
{
	return addr >= mr->iova && addr - mr->iova <= mr->length &&
	       len <= mr->length - (addr - mr->iova);
}

static bool fakehca_mr_copy(struct fakehca_mr *mr, u64 dma, void *buf, size_t len, bool write)
{
	if (write)
		return fakehca_dma_write(&mr->hca->dma, dma, buf, len);
	return fakehca_dma_read(&mr->hca->dma, dma, buf, len);
}

/* Copies between @buf and memory that @key gives @access to */
bool fakehca_mr_access(struct fakehca_qp *qp, u32 key, u64 addr, void *buf,
		       size_t len, int access, bool write)
{
	struct fakehca_mr *mr = fakehca_mr_find(qp, key);
	size_t piece;
	u64 dma;

	if (!mr || !mr->valid || mr->key != key || (mr->access & access) != access)
		return false;
	if (mr->whole)
		return fakehca_mr_copy(mr, addr, buf, len, write);
	if (!fakehca_mr_covers(mr, addr, len))
		return false;
	for (; len; len -= piece, addr += piece, buf += piece) {
		piece = len;
		dma = fakehca_mr_translate(mr, addr - mr->iova, &piece);
		if (!fakehca_mr_copy(mr, dma, buf, piece, write))
			return false;
	}
	return true;
}
