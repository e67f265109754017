// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a device can do: lists, registrations, reads over iWARP (read_mr.c), shared receives. */
#include "../ep.h"
#include "../mr.h"
#include "../queue.h"
#include "../verbs.h"

/* Most pages of a read region */
#define VERBS_READ_MR_PAGES	256

size_t verbs_cq_max(const struct ib_device *ibdev)
{
	int max = ibdev->attrs.max_cqe;

	return verbs_is_iwarp(ibdev) ? max / VERBS_IWARP_CQES : max(max - VERBS_MARKERS, 0);
}

/* Deepest receive queue; a drain needs one work request more */
size_t verbs_rx_max(const struct ib_device *ibdev)
{
	return min_t(size_t, ibdev->attrs.max_qp_wr - 1, verbs_cq_max(ibdev));
}

/* Deepest transmit queue; over iWARP each read region needs two work requests more */
size_t verbs_tx_max(const struct ib_device *ibdev)
{
	size_t max = verbs_rx_max(ibdev), wrs = ibdev->attrs.max_qp_wr - 1;

	if (!verbs_is_iwarp(ibdev))
		return max;
	return min(max, wrs < 3 * VERBS_READ_MRS ? wrs / 3 :
					       wrs - 2 * VERBS_READ_MRS);
}

/* The smallest page that the device can register, from VERBS_MR_MIN_PAGE on */
u32 verbs_mr_min_page(const struct ib_device *ibdev)
{
	u64 cap = ibdev->attrs.page_size_cap & ~(u64)(VERBS_MR_MIN_PAGE - 1);

	return cap ? 1UL << __ffs64(cap) : PAGE_SIZE;
}

u32 verbs_read_mr_pages(const struct ib_device *ibdev)
{
	return min_t(u32, VERBS_READ_MR_PAGES,
		     ibdev->attrs.max_fast_reg_page_list_len);
}

size_t verbs_read_mr_bytes(const struct ib_device *ibdev)
{
	return verbs_read_mr_pages(ibdev) * verbs_mr_min_page(ibdev);
}

/*
 * Bytes of the longest read for which the read regions of an endpoint are always enough.  An
 * element takes one read region, also for its begin and end within pages, and one more for each
 * read region that it fills.
 */
u32 verbs_read_mrs_max_len(const struct ib_device *ibdev)
{
	return (VERBS_READ_MRS - VERBS_READ_MR_IOV) * verbs_read_mr_bytes(ibdev);
}

/* Longest list of local buffers, for sends, reads and writes */
size_t verbs_tx_iov_max(const struct ib_device *ibdev)
{
	return min(ibdev->attrs.max_send_sge,
		   verbs_is_iwarp(ibdev) ? VERBS_READ_MR_IOV : VERBS_MAX_IOV);
}

bool verbs_has_srx(const struct ib_device *ibdev)
{
	return ibdev->attrs.max_srq > 0 && ibdev->attrs.max_srq_wr > 0 &&
	       ibdev->attrs.max_srq_sge > 0 && ibdev->ops.create_srq;
}

size_t verbs_srx_max(const struct ib_device *ibdev)
{
	return min_t(size_t, ibdev->attrs.max_srq_wr, verbs_cq_max(ibdev));
}

size_t verbs_srx_iov_max(const struct ib_device *ibdev)
{
	return min(ibdev->attrs.max_srq_sge, VERBS_MAX_IOV);
}
