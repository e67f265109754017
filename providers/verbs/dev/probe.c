// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether a driver takes atomics, which no attribute of its device says.
 *
 * The driver of mlx5 reports what its hardware does (atomic_cap), but refuses every atomic that
 * the kernel posts; for some of its devices it also refuses to register memory for a peer's
 * atomics.  So verbs_probe() tries both, once for each device that claims atomics, on a queue
 * pair in the error state.  By the InfiniBand specification (10.3.1.7) a device accepts a work
 * request there and flushes it.  So this needs no peer, and touches no memory.  The completions
 * are never polled; destroying the queue pair disposes of them.
 */
#include <linux/gfp.h>
#include "../ep.h"
#include "../verbs.h"

#define VERBS_PROBE_WR		2

/**
 * struct verbs_probe - The objects of the attempt
 * @pd: protection domain
 * @cq: for both directions of @qp
 * @qp: in the error state
 * @mr: a registration with room for one page
 * @page: the memory of @mr
 * @sg: @page, mapped for the device
 * @cqe: of both work requests
 */
struct verbs_probe {
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	struct ib_mr		*mr;
	void			*page;
	struct scatterlist	sg;
	struct ib_cqe		cqe;
};

static int verbs_probe_make_qp(struct verbs_probe *probe,
			       struct ib_device *ibdev)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	probe->cq = ib_alloc_cq(ibdev, NULL, VERBS_PROBE_WR, 0, IB_POLL_DIRECT);
	if (IS_ERR(probe->cq))
		return PTR_ERR(probe->cq);
	probe->qp = verbs_lone_qp(probe->pd, probe->cq, VERBS_PROBE_WR);
	if (IS_ERR(probe->qp)) {
		ret = PTR_ERR(probe->qp);
		goto free_cq;
	}
	ret = ib_modify_qp(probe->qp, &attr, IB_QP_STATE);
	if (!ret)
		return 0;

	ib_destroy_qp(probe->qp);
free_cq:
	ib_free_cq(probe->cq);
	return ret;
}

static int verbs_probe_make_mr(struct verbs_probe *probe,
			       struct ib_device *ibdev)
{
	int ret = -ENOMEM;

	probe->page = (void *)__get_free_page(GFP_KERNEL);
	if (!probe->page)
		return ret;
	sg_init_one(&probe->sg, probe->page, PAGE_SIZE);
	if (!ib_dma_map_sg(ibdev, &probe->sg, 1, DMA_BIDIRECTIONAL))
		goto free_page;
	probe->mr = ib_alloc_mr(probe->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(probe->mr)) {
		ret = PTR_ERR(probe->mr);
		goto unmap;
	}
	ret = ib_map_mr_sg(probe->mr, &probe->sg, 1, NULL, PAGE_SIZE);
	if (ret == 1)
		return 0;

	ret = ret < 0 ? ret : -EINVAL;
	ib_dereg_mr(probe->mr);
unmap:
	ib_dma_unmap_sg(ibdev, &probe->sg, 1, DMA_BIDIRECTIONAL);
free_page:
	free_page((unsigned long)probe->page);
	return ret;
}

static int verbs_probe_swap(struct verbs_probe *probe)
{
	struct ib_sge sge = {
		.addr	= sg_dma_address(&probe->sg),
		.length	= sizeof(u64),
		.lkey	= probe->pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr = {
			.opcode		= IB_WR_ATOMIC_FETCH_AND_ADD,
			.wr_cqe		= &probe->cqe,
			.sg_list	= &sge,
			.num_sge	= 1,
		},
		.compare_add	= 1,
	};

	return ib_post_send(probe->qp, &wr.wr, NULL);
}

static int verbs_probe_reg(struct verbs_probe *probe)
{
	struct ib_reg_wr wr = {
		.wr = {
			.opcode		= IB_WR_REG_MR,
			.wr_cqe		= &probe->cqe,
		},
		.mr	= probe->mr,
		.key	= probe->mr->rkey,
		.access	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_post_send(probe->qp, &wr.wr, NULL);
}

static void verbs_probe_free_mr(struct verbs_probe *probe,
				struct ib_device *ibdev)
{
	ib_dereg_mr(probe->mr);
	ib_dma_unmap_sg(ibdev, &probe->sg, 1, DMA_BIDIRECTIONAL);
	free_page((unsigned long)probe->page);
}

static int verbs_probe_post(struct verbs_probe *probe, struct ib_device *ibdev)
{
	int ret = verbs_probe_make_qp(probe, ibdev);

	if (ret)
		return ret;
	ret = verbs_probe_swap(probe) ? : verbs_probe_reg(probe);
	ib_destroy_qp(probe->qp);
	ib_free_cq(probe->cq);
	return ret;
}

static int verbs_probe_atomics(struct ib_device *ibdev)
{
	struct verbs_probe probe = {};
	int ret;

	probe.pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(probe.pd))
		return PTR_ERR(probe.pd);
	ret = verbs_probe_make_mr(&probe, ibdev);
	if (!ret) {
		ret = verbs_probe_post(&probe, ibdev);
		verbs_probe_free_mr(&probe, ibdev);
	}
	ib_dealloc_pd(probe.pd);
	return ret;
}

/**
 * verbs_probe() - Find out whether the driver of a device takes atomics
 * @dev: a device that is not in the list yet; this sets ->atomics
 *
 * Context: may sleep.
 */
void verbs_probe(struct verbs_device *dev)
{
	int ret;

	if (dev->ibdev->attrs.atomic_cap == IB_ATOMIC_NONE)
		return;
	ret = verbs_probe_atomics(dev->ibdev);
	dev->atomics = !ret;
	if (ret)
		ibdev_notice(dev->ibdev,
			     "kofi_verbs offers no atomics: trying one gave %d\n",
			     ret);
}
