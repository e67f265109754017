/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions, and the connection over which a domain registers them.
 */
#ifndef _KOFI_VERBS_MR_H
#define _KOFI_VERBS_MR_H

#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include "verbs.h"

#define VERBS_MR_MIN_PAGE	SZ_4K
#define VERBS_READ_MRS		16	/* regions of an endpoint for reads over iWARP */
#define VERBS_READ_MR_IOV		8	/* most elements of a list over iWARP */

struct verbs_ep;
struct verbs_read_mr;
struct verbs_slot;

/**
 * enum verbs_mr_state - State of a region for single operations
 * @VERBS_MR_EMPTY: no memory
 * @VERBS_MR_READY: memory, but no key
 * @VERBS_MR_ENABLED: the registration waits for the doorbell, is posted, or has been executed
 * @VERBS_MR_ENDING: the work request that ends the key is posted
 */
enum verbs_mr_state {
	VERBS_MR_EMPTY,
	VERBS_MR_READY,
	VERBS_MR_ENABLED,
	VERBS_MR_ENDING,
};

/**
 * struct verbs_mr - A memory region
 * @mr: the client's part; mem_desc points to the region itself
 * @domain: parent
 * @ibmr: the device's registration; addresses from ->iova on
 * @len: bytes
 * @sgt: the memory, mapped for the device
 * @dir: direction of the mapping
 * @asked: access that the client has asked for last, FI_*
 * @access: IB_ACCESS_* for @asked
 * @linear: the kernel address of each byte is its address in the region
 * @plain: @domain if its buffers are usual (sge.h), else NULL
 * @start: its first address
 * @lkey: its local key
 * @dmabuf: the memory is a piece of this dma-buf; or NULL
 * @mapped: @sgt is mapped
 * @saved: of persistent memory: the region in domain->saved; or NULL
 * @res: in the device's list
 *
 * Of a region for single operations (mr_ep.c):
 * @state: see &enum verbs_mr_state
 * @page_limit: most pages; 0: not a region for single operations
 * @seg_limit: most entries of @segs
 * @one_limit: a buffer is one segment if it has no more bytes, with those before it in its page
 * @segs: memory for @sgt; NULL: the client lends its lists (FI_MR_LEND)
 * @ep: the endpoint that registers it
 * @reg: the work request that registers it
 * @waits: @reg is in the list of registrations that wait for the doorbell
 * @slot: slot of its last work request, which is in flight while slot->region is this region
 * @ended: called when the key has ended; the caller may hold nothing
 * @is_read_mr: part of a &struct verbs_read_mr
 */
struct verbs_mr {
	struct fid_mr		mr;
	struct verbs_domain	*domain;
	struct ib_mr		*ibmr;
	u64			len;
	struct sg_table		sgt;
	enum dma_data_direction	dir;
	int			access;
	u64			asked;
	bool			linear;
	bool			mapped;
	const struct verbs_domain *plain;
	u64			start;
	u32			lkey;
	struct kofi_dmabuf	*dmabuf;
	struct fid_mr		*saved;
	struct verbs_res	res;

	enum verbs_mr_state	state;
	size_t			page_limit;
	size_t			seg_limit;
	size_t			one_limit;
	struct scatterlist	*segs;
	struct verbs_ep		*ep;
	struct ib_reg_wr	reg;
	bool			waits;
	struct verbs_slot	*slot;
	void			(*ended)(struct verbs_mr *mr);
	bool			is_read_mr;
};

/* limits.c */
u32 verbs_mr_min_page(const struct ib_device *ibdev);
u32 verbs_read_mr_pages(const struct ib_device *ibdev);
size_t verbs_read_mr_bytes(const struct ib_device *ibdev);
u32 verbs_read_mrs_max_len(const struct ib_device *ibdev);

/* mr.c */
extern const struct fi_ops verbs_mr_fid_ops;
extern const struct verbs_res_ops verbs_mr_res_ops;
int verbs_mr_map(struct verbs_mr *mr, const struct fi_mr_attr *attr);
int verbs_mr_reserve(struct verbs_mr *mr, u64 access);
void verbs_mr_single_table(struct verbs_mr *mr);
size_t verbs_mr_max_seg(const struct verbs_mr *mr);
int verbs_mr_close(struct fid *fid);
const char *verbs_mr_state_name(const struct verbs_mr *mr);
int verbs_mr_control(struct fid *fid, int command, void *arg);
int verbs_mr_init(struct verbs_mr *mr, const struct fi_mr_attr *attr);
void verbs_mr_free(struct verbs_mr *mr);

/* mr_reg.c */
extern const struct fi_ops_mr verbs_mr_ops;

/* peer.c */
u64 verbs_peer_caps(const struct verbs_device *dev, const struct fi_info *hints);
int verbs_mr_dmabuf_init(struct verbs_mr *mr, const struct fi_mr_attr *attr);

/* reg.c */
int verbs_reg_mr(struct verbs_domain *domain, struct ib_mr *ibmr, int access);
void verbs_reg_close(struct verbs_domain *domain);

/* mr_ep.c */
int verbs_mr_ep_init(struct verbs_mr *mr, const struct fi_mr_attr *attr,
		     bool lent);
void verbs_mr_init_reg(struct verbs_mr *mr);
void verbs_mr_prepare_reg(struct verbs_mr *mr);

/* read_mr.c */
int verbs_read_mrs_init(struct verbs_ep *ep);
void verbs_read_mrs_destroy(struct verbs_ep *ep);

/*
 * Puts the table, in pages of @page_size, into a registration that is not in use.
 * @iova: address of the first byte for peers
 */
static inline int verbs_mr_fill(struct verbs_mr *mr, u64 iova, u32 page_size)
{
	int ret = ib_map_mr_sg(mr->ibmr, mr->sgt.sgl, mr->sgt.nents, NULL,
			       page_size);

	if (unlikely(ret != mr->sgt.nents || mr->ibmr->length != mr->len))
		return ret < 0 ? ret : -EINVAL;
	mr->ibmr->iova = iova;
	return 0;
}

/* The table of a region of an endpoint stays for the next list, or is the client's */
static inline void verbs_mr_free_table(struct verbs_mr *mr)
{
	if (unlikely(!mr->page_limit))
		sg_free_table(&mr->sgt);
}

static inline void verbs_mr_unmap(struct verbs_mr *mr)
{
	if (unlikely(!mr->mapped))
		return;
	ib_dma_unmap_sgtable_attrs(mr->domain->dev->ibdev, &mr->sgt, mr->dir,
				   0);
	mr->mapped = false;
	verbs_mr_free_table(mr);
}

/*
 * Does the registration of an enabled region wait for the doorbell?  If it does not, the
 * device has it or has refused it, or the holder of the transmit side's lock is posting it.
 */
static inline bool verbs_reg_waits(const struct verbs_mr *mr)
{
	return READ_ONCE(mr->waits);
}

static inline struct verbs_mr *to_verbs_mr(struct fid *fid)
{
	return container_of(fid, struct verbs_mr, mr.fid);
}

#endif /* _KOFI_VERBS_MR_H */
