// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_fakehca: an RDMA device under a test's control.
 *
 * Life of a device: fakehca_create() registers a platform device with a 64-bit
 * DMA mask, and on it an ib_device.  So DMA mappings are real ones, kept track
 * of by the kernel's DMA debugging and by fakehca_dma.c.  fakehca_destroy() or
 * fakehca_remove_begin() unregister both.  struct fakehca with its counts stays
 * until fakehca_destroy(), so a test can look after the removal.
 *
 * Who runs: verbs come from any context, the engine and the connection manager's
 * news run on the device's own ordered workqueue, the knobs belong to the test's
 * thread.  The device's lock orders them; see fakehca_priv.h.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include "priv.h"

#define FAKEHCA_GIDS		16
#define FAKEHCA_NO_PKEY		0xffff

/* The completion status or errno that is due at this call, or 0 */
int fakehca_should_fail(struct fakehca *hca, enum fakehca_point point)
{
	struct fakehca_failure *failure = &hca->points[point];
	unsigned long flags;
	int value = 0;

	spin_lock_irqsave(&hca->lock, flags);
	failure->calls++;
	if (failure->countdown && !--failure->countdown) {
		value = failure->value;
		if (failure->again) {
			failure->again--;
			failure->countdown = 1;
		}
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	return value;
}

void fakehca_fail_again(struct fakehca *hca, enum fakehca_point point,
			unsigned int nth, int value, unsigned int times)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->points[point].countdown = nth;
	hca->points[point].value = value;
	hca->points[point].again = times - 1;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_fail_again);

void fakehca_fail(struct fakehca *hca, enum fakehca_point point, unsigned int nth, int value)
{
	fakehca_fail_again(hca, point, nth, value, 1);
}
EXPORT_SYMBOL_GPL(fakehca_fail);

unsigned int fakehca_calls(struct fakehca *hca, enum fakehca_point point)
{
	return READ_ONCE(hca->points[point].calls);
}
EXPORT_SYMBOL_GPL(fakehca_calls);

void fakehca_count(struct fakehca *hca, unsigned int *counter, int by)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	*counter += by;
	spin_unlock_irqrestore(&hca->lock, flags);
}

void fakehca_get_stats(struct fakehca *hca, struct fakehca_stats *stats)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	*stats = hca->stats;
	spin_unlock_irqrestore(&hca->lock, flags);
	fakehca_dma_stats(&hca->dma, stats);
}
EXPORT_SYMBOL_GPL(fakehca_get_stats);

void fakehca_hold(struct fakehca *hca)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->held = true;
	spin_unlock_irqrestore(&hca->lock, flags);
	flush_work(&hca->engine);
}
EXPORT_SYMBOL_GPL(fakehca_hold);

void fakehca_release(struct fakehca *hca)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->held = false;
	spin_unlock_irqrestore(&hca->lock, flags);
	queue_work(hca->wq, &hca->engine);
}
EXPORT_SYMBOL_GPL(fakehca_release);

void fakehca_flush_late(struct fakehca *hca)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->flush_late = true;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_flush_late);

void fakehca_flush_twice(struct fakehca *hca)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->flush_twice = true;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_flush_twice);

void fakehca_idle(struct fakehca *hca)
{
	queue_work(hca->wq, &hca->engine);
	do {
		flush_workqueue(hca->wq);
	} while (work_pending(&hca->engine));
}
EXPORT_SYMBOL_GPL(fakehca_idle);

u32 fakehca_last_qp(struct fakehca *hca)
{
	return READ_ONCE(hca->next_qpn) - 1;
}
EXPORT_SYMBOL_GPL(fakehca_last_qp);

void fakehca_last_wqe(struct fakehca *hca, bool on)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->no_last_wqe = !on;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_last_wqe);

void fakehca_tell_qp(struct fakehca_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device		= qp->ibqp.device,
		.element.qp	= &qp->ibqp,
		.event		= type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* Returns it with a reference */
static struct fakehca_qp *fakehca_find_qp(struct fakehca *hca, u32 qpn)
{
	struct fakehca_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	qp = xa_load(&hca->qpns, qpn);
	if (qp)
		fakehca_qp_add_ref(&qp->ibqp);
	spin_unlock_irqrestore(&hca->lock, flags);
	return qp;
}

static void fakehca_break_qp(struct fakehca_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->hca->lock, flags);
	fakehca_qp_fail(qp);
	spin_unlock_irqrestore(&qp->hca->lock, flags);
	fakehca_tell_qp(qp, IB_EVENT_QP_FATAL);
}

int fakehca_qp_fatal(struct fakehca *hca, u32 qpn)
{
	struct fakehca_qp *qp = fakehca_find_qp(hca, qpn);

	if (!qp)
		return -ENOENT;
	fakehca_break_qp(qp);
	fakehca_qp_rem_ref(&qp->ibqp);
	return 0;
}
EXPORT_SYMBOL_GPL(fakehca_qp_fatal);

int fakehca_qp_access_err(struct fakehca *hca, u32 qpn)
{
	struct fakehca_qp *qp = fakehca_find_qp(hca, qpn);

	if (!qp)
		return -ENOENT;
	fakehca_tell_qp(qp, IB_EVENT_QP_ACCESS_ERR);
	fakehca_qp_rem_ref(&qp->ibqp);
	return 0;
}
EXPORT_SYMBOL_GPL(fakehca_qp_access_err);

static void fakehca_tell_cq(struct ib_cq *cq)
{
	struct ib_event event = {
		.device		= cq->device,
		.element.cq	= cq,
		.event		= IB_EVENT_CQ_ERR,
	};

	if (cq->event_handler)
		cq->event_handler(&event, cq->cq_context);
}

int fakehca_cq_error(struct fakehca *hca, u32 qpn)
{
	struct fakehca_qp *first = fakehca_find_qp(hca, qpn), *qp;
	u32 n;

	if (!first)
		return -ENOENT;
	fakehca_tell_cq(first->ibqp.send_cq);
	for (n = 1; n < READ_ONCE(hca->next_qpn); n++) {
		qp = fakehca_find_qp(hca, n);
		if (!qp)
			continue;
		if (qp->ibqp.send_cq == first->ibqp.send_cq ||
		    qp->ibqp.recv_cq == first->ibqp.send_cq)
			fakehca_break_qp(qp);
		fakehca_qp_rem_ref(&qp->ibqp);
	}
	fakehca_qp_rem_ref(&first->ibqp);
	return 0;
}
EXPORT_SYMBOL_GPL(fakehca_cq_error);

void fakehca_port(struct fakehca *hca, bool up)
{
	struct ib_event event = {
		.device			= &hca->dev->ibdev,
		.element.port_num	= FAKEHCA_PORT,
		.event			= up ? IB_EVENT_PORT_ACTIVE :
					       IB_EVENT_PORT_ERR,
	};

	WRITE_ONCE(hca->port_up, up);
	ib_dispatch_event(&event);
}
EXPORT_SYMBOL_GPL(fakehca_port);

int fakehca_join(struct ib_qp *ibqp_a, struct ib_qp *ibqp_b)
{
	struct fakehca_qp *a = to_fakehca_qp(ibqp_a), *b = to_fakehca_qp(ibqp_b);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&a->hca->lock, flags);
	if (a->peer || b->peer)
		ret = -EISCONN;
	else if (a->state == IB_QPS_ERR || b->state == IB_QPS_ERR)
		ret = -EINVAL;
	else
		fakehca_qp_link(a, b);
	spin_unlock_irqrestore(&a->hca->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(fakehca_join);

struct ib_device *fakehca_ibdev(struct fakehca *hca)
{
	return &hca->dev->ibdev;
}
EXPORT_SYMBOL_GPL(fakehca_ibdev);

const char *fakehca_name(const struct fakehca *hca)
{
	return hca->name;
}
EXPORT_SYMBOL_GPL(fakehca_name);

static int fakehca_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
				struct ib_udata *udata)
{
	const struct fakehca_attr *mine = &to_fakehca(ibdev)->attr;

	*attr = (struct ib_device_attr) {
		.device_cap_flags	= mine->no_reg ? 0 :
					  IB_DEVICE_MEM_MGT_EXTENSIONS,
		.kernel_cap_flags	= mine->sg_gaps ? IBK_SG_GAPS_REG : 0,
		.max_mr_size		= U64_MAX,
		.page_size_cap		= PAGE_SIZE,
		.vendor_id		= 0xfa4e,
		.max_qp			= 256,
		.max_qp_wr		= mine->max_qp_wr,
		.max_send_sge		= mine->max_send_sge,
		.max_recv_sge		= mine->max_recv_sge,
		.max_sge_rd		= 1,
		.max_cq			= 256,
		.max_cqe		= mine->max_cqe,
		.max_mr			= 1024,
		.max_pd			= 64,
		.atomic_cap		= mine->atomics ? IB_ATOMIC_HCA :
							  IB_ATOMIC_NONE,
		.max_srq		= mine->no_srq ? 0 : 1,
		.max_srq_wr		= mine->no_srq ? 0 : mine->max_srq_wr,
		.max_srq_sge		= mine->no_srq ? 0 : mine->max_srq_sge,
		.max_qp_rd_atom		= 16,
		.max_qp_init_rd_atom	= 16,
		.max_fast_reg_page_list_len = mine->fast_reg_pages,
		.max_pkeys		= 1,
	};
	return 0;
}

void fakehca_on_query_port(struct fakehca *hca, void (*fn)(void *context), void *context)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->on_query_port = fn;
	hca->on_query_port_context = context;
	hca->querier = current;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_on_query_port);

static void fakehca_announce_query(struct fakehca *hca)
{
	void (*fn)(void *context) = NULL;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	if (hca->querier == current) {
		fn = hca->on_query_port;
		hca->querier = NULL;
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (fn)
		fn(hca->on_query_port_context);
}

static int fakehca_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct fakehca *hca = to_fakehca(ibdev);
	bool up = READ_ONCE(hca->port_up);
	int ret = fakehca_should_fail(hca, FAKEHCA_QUERY_PORT);

	fakehca_announce_query(hca);
	if (ret)
		return ret;
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_1024;
	attr->active_mtu = IB_MTU_1024;
	attr->gid_tbl_len = hca->attr.roce ? FAKEHCA_GIDS : 1;
	attr->pkey_tbl_len = hca->attr.roce ? 1 : 0;
	attr->max_msg_sz = hca->attr.max_msg_size;
	attr->active_speed = IB_SPEED_EDR;
	attr->active_width = IB_WIDTH_4X;
	return 0;
}

/* RoCE with the iWARP connection manager: ib_core allows it, hardware never */
static int fakehca_get_port_immutable(struct ib_device *ibdev, u32 port,
				      struct ib_port_immutable *immutable)
{
	bool roce = to_fakehca(ibdev)->attr.roce;

	immutable->gid_tbl_len = roce ? FAKEHCA_GIDS : 1;
	immutable->pkey_tbl_len = roce ? 1 : 0;
	immutable->core_cap_flags = RDMA_CORE_CAP_IW_CM |
		(roce ? RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP : RDMA_CORE_CAP_PROT_IWARP);
	return 0;
}

static enum rdma_link_layer fakehca_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int fakehca_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	memcpy(gid->raw, fakehca_netdev->dev_addr, ETH_ALEN);
	return 0;
}

static int fakehca_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int fakehca_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int fakehca_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	*pkey = FAKEHCA_NO_PKEY;
	return 0;
}

/* Of a driver that does it itself */
static const struct ib_device_ops fakehca_drain_ops = {
	.drain_rq		= fakehca_drain_rq,
	.drain_sq		= fakehca_drain_sq,
};

static const struct ib_device_ops fakehca_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.add_gid		= fakehca_add_gid,
	.alloc_mr		= fakehca_alloc_mr,
	.alloc_pd		= fakehca_alloc_pd,
	.create_cq		= fakehca_create_cq,
	.create_qp		= fakehca_create_qp,
	.create_srq		= fakehca_create_srq,
	.dealloc_pd		= fakehca_dealloc_pd,
	.del_gid		= fakehca_del_gid,
	.dereg_mr		= fakehca_dereg_mr,
	.destroy_cq		= fakehca_destroy_cq,
	.destroy_qp		= fakehca_destroy_qp,
	.destroy_srq		= fakehca_destroy_srq,
	.get_dma_mr		= fakehca_get_dma_mr,
	.get_link_layer		= fakehca_get_link_layer,
	.get_port_immutable	= fakehca_get_port_immutable,
	.iw_accept		= fakehca_cm_accept,
	.iw_add_ref		= fakehca_qp_add_ref,
	.iw_connect		= fakehca_cm_connect,
	.iw_create_listen	= fakehca_cm_create_listen,
	.iw_destroy_listen	= fakehca_cm_destroy_listen,
	.iw_get_qp		= fakehca_get_qp,
	.iw_reject		= fakehca_cm_reject,
	.iw_rem_ref		= fakehca_qp_rem_ref,
	.map_mr_sg		= fakehca_map_mr_sg,
	.modify_cq		= fakehca_modify_cq,
	.modify_qp		= fakehca_modify_qp,
	.modify_srq		= fakehca_modify_srq,
	.poll_cq		= fakehca_poll_cq,
	.post_recv		= fakehca_post_recv,
	.post_send		= fakehca_post_send,
	.post_srq_recv		= fakehca_post_srq_recv,
	.query_device		= fakehca_query_device,
	.query_gid		= fakehca_query_gid,
	.query_pkey		= fakehca_query_pkey,
	.query_port		= fakehca_query_port,
	.query_qp		= fakehca_query_qp,
	.reg_user_mr		= fakehca_reg_user_mr,
	.req_notify_cq		= fakehca_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, fakehca_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, fakehca_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, fakehca_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, fakehca_srq, ibsrq),
};

static int fakehca_register(struct fakehca *hca)
{
	struct ib_device *ibdev;
	int ret;

	hca->dev = ib_alloc_device(fakehca_dev, ibdev);
	if (!hca->dev)
		return -ENOMEM;
	hca->dev->hca = hca;
	ibdev = &hca->dev->ibdev;
	ibdev->node_type = RDMA_NODE_RNIC;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->dev.parent = hca->dma.dev;
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	ibdev->use_cq_dim = hca->attr.cq_dim;
	strscpy(ibdev->iw_ifname, fakehca_netdev->name, sizeof(ibdev->iw_ifname));
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, fakehca_netdev->dev_addr);
	ib_set_device_ops(ibdev, &fakehca_ops);
	if (hca->attr.drains)
		ib_set_device_ops(ibdev, &fakehca_drain_ops);

	ret = ib_device_set_netdev(ibdev, fakehca_netdev, FAKEHCA_PORT);
	if (!ret)
		ret = ib_register_device(ibdev, "fakehca%d", hca->dma.dev);
	if (ret) {
		ib_dealloc_device(ibdev);
		hca->dev = NULL;
		return ret;
	}
	strscpy(hca->name, dev_name(&ibdev->dev), sizeof(hca->name));
	return 0;
}

static void fakehca_unregister(struct work_struct *work)
{
	struct fakehca *hca = container_of(work, struct fakehca, remove);

	ib_unregister_device(&hca->dev->ibdev);
	ib_dealloc_device(&hca->dev->ibdev);
	hca->dev = NULL;
	complete_all(&hca->removed);
}

void fakehca_remove_begin(struct fakehca *hca)
{
	if (hca->removing)
		return;
	hca->removing = true;
	queue_work(system_unbound_wq, &hca->remove);
}
EXPORT_SYMBOL_GPL(fakehca_remove_begin);

bool fakehca_remove_wait(struct fakehca *hca, unsigned int timeout_ms)
{
	return wait_for_completion_timeout(&hca->removed, msecs_to_jiffies(timeout_ms));
}
EXPORT_SYMBOL_GPL(fakehca_remove_wait);

static void fakehca_set_defaults(struct fakehca_attr *attr)
{
	attr->max_send_sge = attr->max_send_sge ? : 4;
	attr->max_recv_sge = attr->max_recv_sge ? : 4;
	attr->max_qp_wr = attr->max_qp_wr ? : 1024;
	attr->max_cqe = attr->max_cqe ? : 8192;
	attr->max_msg_size = attr->max_msg_size ? : 1024 * 1024;
	attr->fast_reg_pages = attr->fast_reg_pages ? : 16;
	attr->max_srq_wr = attr->max_srq_wr ? : 1024;
	attr->max_srq_sge = attr->max_srq_sge ? : 4;
}

static struct fakehca *fakehca_alloc(const struct fakehca_attr *attr)
{
	struct fakehca *hca = kzalloc(sizeof(*hca), GFP_KERNEL);

	if (!hca)
		return NULL;
	if (attr)
		hca->attr = *attr;
	fakehca_set_defaults(&hca->attr);
	spin_lock_init(&hca->lock);
	hca->port_up = true;
	fakehca_fail(hca, hca->attr.fail, hca->attr.fail_nth, -EIO);
	hca->next_qpn = 1;
	INIT_LIST_HEAD(&hca->qps);
	INIT_LIST_HEAD(&hca->srqs);
	xa_init_flags(&hca->qpns, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&hca->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&hca->listens);
	INIT_LIST_HEAD(&hca->conns);
	INIT_WORK(&hca->engine, fakehca_engine);
	INIT_WORK(&hca->remove, fakehca_unregister);
	init_completion(&hca->removed);
	/* Touched here, as the engine has interrupts off, and UML maps late */
	hca->buf = kvmalloc(hca->attr.max_msg_size, GFP_KERNEL);
	if (hca->buf)
		memset(hca->buf, 0, hca->attr.max_msg_size);
	hca->wq = alloc_ordered_workqueue("fakehca", WQ_MEM_RECLAIM);
	if (!hca->buf || !hca->wq)
		goto free_hca;
	return hca;

free_hca:
	if (hca->wq)
		destroy_workqueue(hca->wq);
	kvfree(hca->buf);
	kfree(hca);
	return NULL;
}

static void fakehca_free(struct fakehca *hca)
{
	flush_workqueue(hca->wq);
	fakehca_cm_cleanup(hca);
	destroy_workqueue(hca->wq);
	xa_destroy(&hca->qpns);
	xa_destroy(&hca->mrs);
	kvfree(hca->buf);
	kfree(hca);
}

struct fakehca *fakehca_create(const struct fakehca_attr *attr)
{
	const struct platform_device_info info = {
		.name		= "fakehca",
		.id		= PLATFORM_DEVID_AUTO,
		.dma_mask	= DMA_BIT_MASK(64),
	};
	struct fakehca *hca;
	int ret;

	if (attr && (attr->max_send_sge > FAKEHCA_MAX_SGE || attr->max_recv_sge > FAKEHCA_MAX_SGE ||
		     attr->max_srq_sge > FAKEHCA_MAX_SGE || attr->max_inline > FAKEHCA_MAX_INLINE))
		return ERR_PTR(-EINVAL);

	hca = fakehca_alloc(attr);
	if (!hca)
		return ERR_PTR(-ENOMEM);
	hca->pdev = platform_device_register_full(&info);
	if (IS_ERR(hca->pdev)) {
		ret = PTR_ERR(hca->pdev);
		goto free_hca;
	}
	fakehca_dma_add(&hca->dma, hca->attr.dma_device ? : &hca->pdev->dev);
	ret = fakehca_register(hca);
	if (!ret)
		return hca;

	fakehca_dma_del(&hca->dma);
	platform_device_unregister(hca->pdev);
free_hca:
	fakehca_free(hca);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(fakehca_create);

void fakehca_destroy(struct fakehca *hca)
{
	fakehca_remove_begin(hca);
	flush_work(&hca->remove);
	fakehca_dma_del(&hca->dma);
	platform_device_unregister(hca->pdev);
	fakehca_free(hca);
}
EXPORT_SYMBOL_GPL(fakehca_destroy);

static int __init fakehca_init(void)
{
	int ret;

	ret = fakehca_dma_init();
	if (ret)
		return ret;
	ret = fakehca_net_init();
	if (ret)
		fakehca_dma_exit();
	return ret;
}

static void __exit fakehca_exit(void)
{
	fakehca_net_exit();
	fakehca_dma_exit();
}

module_init(fakehca_init);
module_exit(fakehca_exit);

MODULE_DESCRIPTION("RDMA device under a test's control");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
