// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions: memory that peers may reach.
 *
 * Life
 *
 *	fi_mr_reg()	makes a table of contiguous segments of the list, maps it for
 *			the device, allocates a registration, fills it, and registers
 *			it (reg.c)
 *	fi_close()	destroys the registration, which ends the key at once and
 *			waits for accesses in progress, and unmaps
 *
 * A region is exactly the bytes of the list, without gaps, at the address of the first byte: peers
 * and work requests name a byte by that address plus its offset in the list.  A region of an
 * endpoint begins at the offset that its first byte has in the first page, so its peer learns no
 * kernel address (verbs_mr_iova()).
 *
 * A device describes memory by a list of pages of one size.  So every segment but the first has to
 * begin, and every segment but the last to end, at the boundary of a page, and the address within
 * the first page is that of the memory.  Pages are as small as possible, and larger only if there
 * would be too many.  Some devices also take a list of segments; lists with gaps within pages need
 * that.
 *
 * Locking: none.  One thread builds a region, which then stays as it is until its close.  The
 * client makes no other call on the region during the close.
 */
#include <linux/log2.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <kofi/dmabuf.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>
#include "../mr.h"
#include "../op.h"
#include "../verbs.h"

#define VERBS_MR_MAX_PAGE	SZ_2M

/**
 * struct verbs_mr_builder - Progress of turning a list into a scatterlist
 * @max_seg: longest segment, whole pages
 * @sg: the segment filled last, or NULL
 * @table: the first segment to fill; NULL: segments are only counted
 * @limit: most segments, if @table is set
 * @count: segments so far
 * @len: bytes so far
 * @seg_len: bytes of the last segment
 * @end: physical address behind the last segment
 * @addr: kernel address of the first byte
 * @linear: every piece begins at the address where the one before ended
 * @peer: pages of PCI devices are taken
 */
struct verbs_mr_builder {
	size_t			max_seg;
	struct scatterlist	*sg;
	struct scatterlist	*table;
	unsigned int		limit;
	unsigned int		count;
	u64			len;
	size_t			seg_len;
	phys_addr_t		end;
	u64			addr;
	bool			linear;
	bool			peer;
};

static int verbs_mr_add_segment(struct verbs_mr_builder *builder,
				phys_addr_t start, size_t len)
{
	builder->seg_len = len;
	builder->count++;
	if (!builder->table)
		return 0;
	if (builder->count > builder->limit)
		return -EMSGSIZE;
	builder->sg = builder->sg ? sg_next(builder->sg) : builder->table;
	sg_set_page(builder->sg, pfn_to_page(PHYS_PFN(start)), len,
		    offset_in_page(start));
	return 0;
}

/* Two PCI devices may be neighbours in the address space, so a segment does not span their pages */
static bool verbs_mr_goes_on(const struct verbs_mr_builder *builder,
			     const struct kofi_piece *piece, phys_addr_t start)
{
	return builder->count && start == builder->end &&
	       (!is_pci_p2pdma_page(piece->page) || offset_in_page(start));
}

static int verbs_mr_add_piece(void *context, const struct kofi_piece *piece)
{
	phys_addr_t start = page_to_phys(piece->page) + piece->offset;
	struct verbs_mr_builder *builder = context;
	size_t left = piece->len, len;
	int ret = 0;

	if (!builder->count)
		builder->addr = (uintptr_t)piece->addr;
	if (builder->addr + builder->len != (uintptr_t)piece->addr)
		builder->linear = false;
	if (check_add_overflow(builder->len, (u64)left, &builder->len))
		return -EMSGSIZE;

	if (verbs_mr_goes_on(builder, piece, start)) {
		len = min(left, builder->max_seg - builder->seg_len);
		builder->seg_len += len;
		if (builder->sg)
			builder->sg->length += len;
		start += len;
		left -= len;
	}
	for (; left && !ret; start += len, left -= len) {
		len = min(left, builder->max_seg);
		ret = verbs_mr_add_segment(builder, start, len);
	}
	builder->end = start;
	return ret;
}

static int verbs_mr_walk(const struct fi_mr_attr *attr,
			 struct verbs_mr_builder *builder)
{
	int ret = kofi_list_each_piece(attr->type, attr->mr_iov,
				       attr->iov_count, builder->peer,
				       verbs_mr_add_piece, builder);

	if (ret)
		return ret;
	if (!builder->len || builder->addr + builder->len - 1 < builder->addr)
		return kofi_refuse("mr_reg", -EINVAL, "the list has %llu bytes", builder->len);
	return 0;
}

static void verbs_mr_clear_table(struct verbs_mr *mr)
{
	if (mr->sgt.orig_nents)
		sg_unmark_end(&mr->segs[mr->sgt.orig_nents - 1]);
	mr->sgt.orig_nents = 0;
}

static void verbs_mr_end_table(struct verbs_mr *mr, struct scatterlist *last,
			       unsigned int count)
{
	sg_mark_end(last);
	mr->sgt.sgl = mr->segs;
	mr->sgt.orig_nents = count;
}

/* Makes a table of one entry, for the caller to fill */
void verbs_mr_single_table(struct verbs_mr *mr)
{
	verbs_mr_clear_table(mr);
	verbs_mr_end_table(mr, mr->segs, 1);
}

static int verbs_mr_reuse_table(struct verbs_mr *mr,
				const struct fi_mr_attr *attr,
				struct verbs_mr_builder *builder)
{
	int ret;

	verbs_mr_clear_table(mr);
	builder->table = mr->segs;
	builder->limit = mr->seg_limit;
	ret = verbs_mr_walk(attr, builder);
	if (!ret)
		verbs_mr_end_table(mr, builder->sg, builder->count);
	return ret;
}

static int verbs_mr_check_lent(const struct verbs_mr *mr, struct scatterlist *sg,
			       size_t element, size_t max_seg)
{
	if (!sg || !kofi_page_is_memory(sg_page(sg), mr->domain->hmem))
		return kofi_refuse("mr_refresh", -EINVAL, "element %zu is no memory", element);
	if (!sg->length || sg->length > max_seg)
		return kofi_refuse("mr_refresh", -EINVAL, "element %zu has %u bytes; the device maps 1 to %zu",
				   element, sg->length, max_seg);
	return 0;
}

/*
 * Takes the client's list as the table, while the region has the memory.  A list that is too long
 * has too many pages, see verbs_mr_fill_ibmr().
 */
static int verbs_mr_lend_table(struct verbs_mr *mr,
			       const struct fi_mr_attr *attr,
			       struct verbs_mr_builder *builder)
{
	struct scatterlist *sg = attr->mr_sgl;
	size_t i;
	int ret;

	if (attr->type != FI_BUF_SGL)
		return kofi_refuse("mr_refresh", -EINVAL, "attr->type is %d; a region with FI_MR_LEND takes FI_BUF_SGL",
				   attr->type);
	for (i = 0; i < attr->iov_count; i++, sg = sg_next(sg)) {
		ret = verbs_mr_check_lent(mr, sg, i, builder->max_seg);
		if (unlikely(ret))
			return ret;
		builder->len += sg->length;
	}
	builder->linear = false;
	mr->sgt.sgl = attr->mr_sgl;
	mr->sgt.orig_nents = attr->iov_count;
	return 0;
}

/* Counts the segments first */
static int verbs_mr_new_table(struct verbs_mr *mr,
			      const struct fi_mr_attr *attr,
			      struct verbs_mr_builder *builder)
{
	struct verbs_mr_builder counted = *builder;
	int ret;

	ret = verbs_mr_walk(attr, &counted);
	if (ret)
		return ret;
	ret = sg_alloc_table(&mr->sgt, counted.count, GFP_KERNEL);
	if (ret)
		return ret;
	builder->table = mr->sgt.sgl;
	builder->limit = counted.count;
	return verbs_mr_walk(attr, builder);
}

size_t verbs_mr_max_seg(const struct verbs_mr *mr)
{
	return ALIGN_DOWN(ib_dma_max_seg_size(mr->domain->dev->ibdev),
			  PAGE_SIZE);
}

/* On success the region has its table, address and length */
static int verbs_mr_build_table(struct verbs_mr *mr,
				const struct fi_mr_attr *attr, u64 *addr)
{
	struct verbs_mr_builder builder = {
		.max_seg = verbs_mr_max_seg(mr),
		.linear	 = true,
		.peer	 = mr->domain->hmem,
	};
	int ret;

	if (mr->segs)
		ret = verbs_mr_reuse_table(mr, attr, &builder);
	else if (mr->page_limit)
		ret = verbs_mr_lend_table(mr, attr, &builder);
	else
		ret = verbs_mr_new_table(mr, attr, &builder);
	if (ret)
		return ret;
	mr->len = builder.len;
	/* Peers have their own address for a dma-buf, which verbs_mr_dmabuf_init() has set */
	mr->linear = builder.linear && !mr->dmabuf;
	*addr = mr->dmabuf ? mr->start : builder.addr;
	return 0;
}

/* The largest page size whose boundaries all gaps between segments respect */
static u64 verbs_mr_alignment(const struct verbs_mr *mr, u64 addr)
{
	u64 bits = addr ^ sg_dma_address(mr->sgt.sgl), end = 0;
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(&mr->sgt, sg, i) {
		if (i && sg_dma_address(sg) != end)
			bits |= sg_dma_address(sg) | end;
		end = sg_dma_address(sg) + sg_dma_len(sg);
	}
	return bits ? 1ULL << __ffs64(bits) : VERBS_MR_MAX_PAGE;
}

static u64 verbs_mr_count_pages(const struct verbs_mr *mr, u64 size)
{
	u64 start, end = 0, pages = 0;
	struct scatterlist *sg;
	bool gap;
	int i;

	for_each_sgtable_dma_sg(&mr->sgt, sg, i) {
		start = sg_dma_address(sg);
		gap = !i || start != end;
		end = start + sg_dma_len(sg);
		/* Without a gap the first page of a segment has been counted already */
		start = gap ? round_down(start, size) : round_up(start, size);
		pages += (round_up(end, size) - start) >> ilog2(size);
	}
	return pages;
}

/* Returns the page size, 0 if none fits; *@pages: number of pages */
static u32 verbs_mr_page_size(const struct verbs_mr *mr, u64 alignment,
			      u32 *pages)
{
	const struct ib_device_attr *attrs = &mr->domain->dev->ibdev->attrs;
	u64 size, count, cap = attrs->page_size_cap ? : PAGE_SIZE;

	for (size = VERBS_MR_MIN_PAGE; size <= VERBS_MR_MAX_PAGE; size <<= 1) {
		if (!(cap & size) || size > alignment)
			continue;
		count = verbs_mr_count_pages(mr, size);
		if (count > attrs->max_fast_reg_page_list_len)
			continue;
		*pages = count;
		return size;
	}
	return 0;
}

static int verbs_mr_choose(const struct verbs_mr *mr, u64 addr,
			   enum ib_mr_type *type, u32 *entries, u32 *page_size)
{
	const struct ib_device_attr *attrs = &mr->domain->dev->ibdev->attrs;
	bool takes_gaps = attrs->kernel_cap_flags & IBK_SG_GAPS_REG;
	u64 alignment = verbs_mr_alignment(mr, addr);

	if (alignment < VERBS_MR_MIN_PAGE && !takes_gaps)
		return kofi_refuse("mr_reg", -EINVAL, "the list has gaps: an element but the first begins, or but the last ends, within a page, which this device does not take");
	if (mr->len > attrs->max_mr_size)
		return kofi_refuse("mr_reg", -EMSGSIZE, "the list has %llu bytes; the most on this device is %llu",
				   (u64)mr->len, (u64)attrs->max_mr_size);

	*type = IB_MR_TYPE_MEM_REG;
	*page_size = verbs_mr_page_size(mr, alignment, entries);
	if (*page_size)
		return 0;
	if (!takes_gaps || mr->sgt.nents > attrs->max_fast_reg_page_list_len)
		return kofi_refuse("mr_reg", -EMSGSIZE, "the list needs more pages than the %u that one region of this device has",
				   attrs->max_fast_reg_page_list_len);
	*type = IB_MR_TYPE_SG_GAPS;
	*entries = mr->sgt.nents;
	*page_size = PAGE_SIZE;
	return 0;
}

/* The address of the first byte for peers.  @addr: for a region of an endpoint the DMA address */
static u64 verbs_mr_iova(const struct verbs_mr *mr, u64 addr, u32 page_size)
{
	return mr->page_limit ? addr & (page_size - 1) : addr;
}

/*
 * Fills the registration, but does not post it.  A new region gets one here; a region of an
 * endpoint has one that is not in use.
 */
static int verbs_mr_fill_ibmr(struct verbs_mr *mr, u64 addr)
{
	enum ib_mr_type type;
	u32 entries, page_size;
	int ret;

	ret = verbs_mr_choose(mr, addr, &type, &entries, &page_size);
	if (ret)
		return ret;
	addr = verbs_mr_iova(mr, addr, page_size);
	if (mr->ibmr) {
		if (type != IB_MR_TYPE_MEM_REG || entries > mr->page_limit)
			return kofi_refuse("mr_refresh", -EMSGSIZE, "the list has %u pages; the region was registered for %zu",
					   entries, mr->page_limit);
		return verbs_mr_fill(mr, addr, page_size);
	}
	if (mr->page_limit && type != IB_MR_TYPE_MEM_REG)
		return kofi_refuse("mr_regattr", -EINVAL, "FI_MR_ENDPOINT: the list has gaps, which such a region does not take");
	mr->ibmr = ib_alloc_mr(mr->domain->pd, type,
			       max_t(u32, entries, mr->page_limit));
	if (IS_ERR(mr->ibmr))
		return PTR_ERR(mr->ibmr);
	ret = verbs_mr_fill(mr, addr, page_size);
	if (ret)
		ib_dereg_mr(mr->ibmr);
	return ret;
}

/* Over iWARP the peer answers a read by a write under the key of the read's buffer */
static int verbs_mr_ib_access(const struct verbs_device *dev, u64 access)
{
	int ib_access = 0;

	if (access & (FI_RECV | FI_READ | FI_REMOTE_WRITE))
		ib_access |= IB_ACCESS_LOCAL_WRITE;
	if (access & FI_REMOTE_READ)
		ib_access |= IB_ACCESS_REMOTE_READ;
	if (access & FI_REMOTE_WRITE)
		ib_access |= IB_ACCESS_REMOTE_WRITE;
	if (access & FI_REMOTE_WRITE && dev->atomics)
		ib_access |= IB_ACCESS_REMOTE_ATOMIC;
	if (access & FI_READ && verbs_is_iwarp(dev->ibdev))
		ib_access |= IB_ACCESS_REMOTE_WRITE;
	return ib_access;
}

static enum dma_data_direction verbs_mr_dir(u64 access, int ib_access)
{
	if (!(ib_access & IB_ACCESS_LOCAL_WRITE))
		return DMA_TO_DEVICE;
	if (access & (FI_SEND | FI_WRITE | FI_REMOTE_READ) ||
	    ib_access & IB_ACCESS_REMOTE_ATOMIC)
		return DMA_BIDIRECTIONAL;
	return DMA_FROM_DEVICE;
}

/* The device goes: the memory is unmapped even if the driver refuses */
static void verbs_mr_strip(struct verbs_res *res)
{
	struct verbs_mr *mr = container_of(res, struct verbs_mr, res);

	ib_dereg_mr(mr->ibmr);
	verbs_mr_unmap(mr);
}

const struct verbs_res_ops verbs_mr_res_ops = {
	.kind	= VERBS_RES_MR,
	.strip	= verbs_mr_strip,
};

void verbs_mr_free(struct verbs_mr *mr)
{
	/* The core does not know ->saved */
	if (mr->saved)
		mr->saved->fid.ops->close(&mr->saved->fid);
	if (mr->dmabuf)
		kofi_dmabuf_close(mr->dmabuf);
	kvfree(mr->segs);
	kfree(mr);
}

/* If the device refuses, the memory is still the device's, and the region stays open */
int verbs_mr_close(struct fid *fid)
{
	struct verbs_mr *mr = to_verbs_mr(fid);
	struct verbs_device *dev = mr->domain->dev;
	int ret;

	if (verbs_res_take(dev, &mr->res)) {
		ret = ib_dereg_mr(mr->ibmr);
		if (ret) {
			verbs_res_give_back(dev, &mr->res);
			return ret;
		}
		verbs_mr_unmap(mr);
		verbs_res_done(dev, &mr->res);
	} else {
		verbs_res_await(dev, &mr->res, MAX_SCHEDULE_TIMEOUT);
	}
	verbs_res_del(dev, &mr->res);
	verbs_mr_free(mr);
	return 0;
}

const char *verbs_mr_state_name(const struct verbs_mr *mr)
{
	static const char *const states[] = {
		[VERBS_MR_EMPTY]	= "empty",
		[VERBS_MR_READY]	= "ready",
		[VERBS_MR_ENABLED]	= "enabled",
		[VERBS_MR_ENDING]	= "ending",
	};

	/* Only a region for single operations has states */
	return states[mr->page_limit ? READ_ONCE(mr->state) : VERBS_MR_ENABLED];
}

int verbs_mr_control(struct fid *fid, int command, void *arg)
{
	const struct verbs_mr *mr = to_verbs_mr(fid);
	enum verbs_mr_state state = READ_ONCE(mr->state);
	struct kofi_stat *stat = arg;

	if (command != KOFI_GETSTAT)
		return kofi_refuse("control", -ENOSYS, "a region has no command %d", command);
	stat->state = verbs_mr_state_name(mr);
	kofi_stat_add(stat, "size",
		      mr->page_limit && state == VERBS_MR_EMPTY ? 0 : READ_ONCE(mr->len));
	if (mr->page_limit)
		kofi_stat_add(stat, "page_limit", mr->page_limit);
	return 0;
}

const struct fi_ops verbs_mr_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_mr_close,
	.bind		= fi_no_bind,
	.control	= verbs_mr_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static void verbs_mr_set_access(struct verbs_mr *mr, u64 access)
{
	mr->asked = access;
	mr->access = verbs_mr_ib_access(mr->domain->dev, access);
	mr->reg.access = mr->access;
	mr->dir = verbs_mr_dir(access, mr->access);
}

/*
 * Gives a new region all but its key, or a region of an endpoint new memory.  After an error the
 * region has no memory.
 */
int verbs_mr_map(struct verbs_mr *mr, const struct fi_mr_attr *attr)
{
	u64 addr;
	int ret;

	if (!mr->ibmr || mr->asked != attr->access)
		verbs_mr_set_access(mr, attr->access);
	ret = verbs_mr_build_table(mr, attr, &addr);
	if (ret)
		goto free_table;
	ret = ib_dma_map_sgtable_attrs(mr->domain->dev->ibdev, &mr->sgt,
				       mr->dir, 0);
	ret = verbs_peer_errno(mr->domain->dev, ret);
	if (ret)
		goto free_table;
	mr->mapped = true;
	if (mr->page_limit)
		addr = sg_dma_address(mr->sgt.sgl);
	ret = verbs_mr_fill_ibmr(mr, addr);
	if (ret)
		verbs_mr_unmap(mr);
	return ret;

free_table:
	verbs_mr_free_table(mr);
	return ret;
}

/* Gives a new region of an endpoint a registration; its memory comes later */
int verbs_mr_reserve(struct verbs_mr *mr, u64 access)
{
	verbs_mr_set_access(mr, access);
	mr->ibmr = ib_alloc_mr(mr->domain->pd, IB_MR_TYPE_MEM_REG, mr->page_limit);
	return PTR_ERR_OR_ZERO(mr->ibmr);
}

/* Makes a new region one with a key */
int verbs_mr_init(struct verbs_mr *mr, const struct fi_mr_attr *attr)
{
	int ret;

	ret = verbs_mr_map(mr, attr);
	if (ret)
		return ret;
	ret = verbs_reg_mr(mr->domain, mr->ibmr, mr->access);
	if (ret)
		goto release;
	mr->mr.key = mr->ibmr->rkey;
	mr->plain = mr->linear ? mr->domain : NULL;
	mr->start = mr->ibmr->iova;
	mr->mr.addr = mr->start;
	mr->lkey = mr->ibmr->lkey;
	return 0;

release:
	/* If the device refuses to release the registration, its memory stays mapped */
	if (!ib_dereg_mr(mr->ibmr))
		verbs_mr_unmap(mr);
	return ret;
}
