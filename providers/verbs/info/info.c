// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_getinfo(): one fi_info per RDMA device, port and IP address.
 *
 * rdma_cm knows the device of an address, so RoCE, iWARP and InfiniBand (addresses of IPoIB
 * interfaces) need no code of their own: an rdma_cm_id is bound to a local address, or resolves a
 * peer's address.  Such an id lives for one address resolution.  While it is bound, its handler
 * may get an event at any time (the device goes, its interface gets another hardware address),
 * also after the first event.
 *
 * All limits are the device's attributes.
 *
 * Order: a reliable connection executes requests at the responder in the order they were posted,
 * but a read's data may be fetched after a later write or send has arrived; FI_FENCE prevents
 * that.  iWARP places writes as they come, and only delivers a message after the writes before it.
 *
 * FI_FENCE is offered where every operation takes it; iWARP has none for reads.
 *
 * Resource management: a message that finds no receive is sent again on InfiniBand, and ends the
 * connection on iWARP.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "../cm.h"
#include "../ep.h"
#include "../mr.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

#define VERBS_ORDER_IB	  (FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | \
			   FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_SAW | \
			   FI_ORDER_SAS)
#define VERBS_ORDER_IWARP (FI_ORDER_SAW | FI_ORDER_SAS)

/* FI_REMOTE_INV is part of IB_DEVICE_MEM_MGT_EXTENSIONS, which verbs_device_add() requires */
#define VERBS_TX_CAPS	  (FI_MSG | FI_SEND | FI_RMA | FI_READ | FI_WRITE | \
			   FI_REMOTE_INV)
#define VERBS_RX_CAPS	  (FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_READ | \
			   FI_REMOTE_WRITE | FI_REMOTE_INV)

/**
 * struct verbs_resolution - An address resolution, and the context of its rdma_cm_id
 * @done: completed by the first event
 * @status: result of that event, once @done is completed: 0, or negative errno
 */
struct verbs_resolution {
	struct completion	done;
	int			status;
};

/*
 * An address that has no device, or one that is down, only gives no result.  A shortage of memory
 * is an error, as it must not leave a result out.
 */
static int verbs_no_data(int err)
{
	return err == -ENOMEM ? err : -ENODATA;
}

/* The first event is the result; the caller may be reading that when a later event comes */
static int verbs_resolution_handler(struct rdma_cm_id *id,
				    struct rdma_cm_event *event)
{
	struct verbs_resolution *resolution = id->context;

	if (completion_done(&resolution->done))
		return 0;
	if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED)
		resolution->status = 0;
	else
		resolution->status = verbs_no_data(event->status);
	complete_all(&resolution->done);
	return 0;
}

/* @resolution: stays until the id is destroyed */
static struct rdma_cm_id *verbs_resolution_id(struct verbs_resolution *resolution,
					      struct net *net)
{
	init_completion(&resolution->done);
	return rdma_create_id(net, verbs_resolution_handler, resolution,
			      RDMA_PS_TCP, IB_QPT_RC);
}

/* Hints may raise a size above the default, up to the device's limit */
static size_t verbs_wish(size_t wish, size_t def, size_t max)
{
	return min(wish > def ? wish : def, max);
}

/* The size after the core has applied the hints (kofi/apply_hints.c) */
static size_t verbs_given(size_t wish, size_t offer)
{
	return wish ? min(wish, offer) : offer;
}

/* Capabilities that only some devices have, in both directions */
static u64 verbs_device_caps(const struct verbs_device *dev, const struct fi_info *hints)
{
	/*
	 * FI_RMA_PMEM costs each operation a lock, so only a client that asks gets it.  Over
	 * iWARP a read may be answered before what was written is in the memory.
	 */
	u64 pmem = hints && !verbs_is_iwarp(dev->ibdev) ? hints->caps & FI_RMA_PMEM : 0;

	return pmem | (dev->atomics ? FI_ATOMIC : 0) | verbs_peer_caps(dev, hints);
}

static u64 verbs_tx_caps(u64 device_caps, bool iwarp)
{
	return VERBS_TX_CAPS | device_caps | (iwarp ? 0 : FI_FENCE);
}

static void verbs_info_tx(struct fi_tx_attr *tx, const struct verbs_device *dev,
			  u64 device_caps, bool iwarp, const struct fi_tx_attr *hints)
{
	static const struct fi_tx_attr none;
	struct ib_device *ibdev = dev->ibdev;
	size_t size, iov_limit;

	hints = hints ? : &none;
	tx->caps = verbs_tx_caps(device_caps, iwarp);
	tx->op_flags = verbs_ep_limits(iwarp)->tx_op_flags;
	tx->msg_order = iwarp ? VERBS_ORDER_IWARP : VERBS_ORDER_IB;
	tx->rma_iov_limit = 1;
	if (kofi_tclass_known(hints->tclass))
		tx->tclass = hints->tclass;
	tx->inject_size = VERBS_MAX_INJECT;
	tx->size = verbs_wish(hints->size, VERBS_DEF_QUEUE, verbs_tx_max(ibdev));
	tx->iov_limit = verbs_wish(hints->iov_limit, VERBS_DEF_IOV, verbs_tx_iov_max(ibdev));
	size = verbs_given(hints->size, tx->size);
	iov_limit = verbs_given(hints->iov_limit, tx->iov_limit);
	tx->rma_read_iov_limit = verbs_read_iov_max(ibdev, size, iov_limit);
	tx->rma_write_iov_limit = verbs_write_iov_max(size, iov_limit);
}

static bool verbs_info_shared(const struct ib_device *ibdev,
			      const struct fi_info *hints)
{
	return hints && hints->ep_attr &&
	       hints->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT &&
	       verbs_has_srx(ibdev);
}

/* @shared: the attributes are those of a shared receive context */
static void verbs_info_rx(struct fi_rx_attr *rx, const struct verbs_device *dev,
			  u64 device_caps, bool iwarp, bool shared,
			  const struct fi_rx_attr *hints)
{
	static const struct fi_rx_attr none;
	struct ib_device *ibdev = dev->ibdev;
	size_t max = shared ? verbs_srx_max(ibdev) : verbs_rx_max(ibdev);
	size_t iov_max = shared ? verbs_srx_iov_max(ibdev) :
				  min(ibdev->attrs.max_recv_sge, VERBS_MAX_IOV);

	hints = hints ? : &none;
	rx->caps = VERBS_RX_CAPS | device_caps;
	rx->op_flags = FI_COMPLETION;
	rx->msg_order = iwarp ? VERBS_ORDER_IWARP : VERBS_ORDER_IB;
	rx->size = verbs_wish(hints->size, VERBS_DEF_QUEUE, max);
	rx->iov_limit = verbs_wish(hints->iov_limit, VERBS_DEF_IOV, iov_max);
}

static void verbs_info_ep(struct fi_ep_attr *ep, bool iwarp,
			  size_t max_msg_size)
{
	ep->type = FI_EP_MSG;
	ep->protocol = iwarp ? FI_PROTO_IWARP : FI_PROTO_RDMA_CM_IB_RC;
	ep->protocol_version = 1;
	ep->max_msg_size = max_msg_size;
	ep->max_order_raw_size = iwarp ? 0 : max_msg_size;
	ep->max_order_waw_size = iwarp ? 0 : max_msg_size;
	ep->tx_ctx_cnt = 1;
	ep->rx_ctx_cnt = 1;
}

static void verbs_info_domain(struct fi_domain_attr *domain,
			      struct ib_device *ibdev, u64 device_caps, bool iwarp,
			      const struct fi_domain_attr *hints)
{
	domain->name = (char *)dev_name(&ibdev->dev);
	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = FI_PROGRESS_AUTO;
	domain->data_progress = FI_PROGRESS_AUTO;
	domain->resource_mgmt = iwarp ? FI_RM_DISABLED : FI_RM_ENABLED;
	domain->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (device_caps & FI_HMEM && !ib_uses_virt_dma(ibdev))
		domain->mr_mode |= FI_MR_HMEM;
	domain->mr_key_size = sizeof(u32);
	domain->mr_iov_limit = ibdev->attrs.max_fast_reg_page_list_len;
	domain->mr_cnt = ibdev->attrs.max_mr;
	domain->cq_data_size = iwarp ? 0 : sizeof(u32);
	domain->max_err_data = sizeof_field(struct verbs_cm_frame, wire);
	domain->cq_cnt = ibdev->attrs.max_cq;
	domain->ep_cnt = ibdev->attrs.max_qp;
	/* Memory is the only limit; no more can be bound */
	domain->cntr_cnt = 4 * (size_t)ibdev->attrs.max_qp;
	domain->tx_ctx_cnt = ibdev->attrs.max_qp;
	domain->rx_ctx_cnt = ibdev->attrs.max_qp;
	domain->max_ep_tx_ctx = 1;
	domain->max_ep_rx_ctx = 1;
	domain->max_ep_srx_ctx = verbs_has_srx(ibdev) ? ibdev->attrs.max_qp : 0;
	domain->max_cntr_value = U64_MAX;
	domain->max_err_cntr_value = U64_MAX;
	domain->numa_node = ibdev_to_node(ibdev);
	domain->max_cq_size = verbs_cq_max(ibdev);
	domain->mr_gap_align = ibdev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG ?
			       0 : verbs_mr_min_page(ibdev);
	domain->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
	if (hints && kofi_tclass_known(hints->tclass))
		domain->tclass = hints->tclass;
}

/* As in libfabric there is one name for each InfiniBand subnet, and one for iWARP */
static void verbs_info_fabric(char *name, size_t len, struct ib_device *ibdev,
			      u32 port, bool iwarp)
{
	union ib_gid gid = {};

	if (iwarp) {
		strscpy(name, "Ethernet-iWARP", len);
		return;
	}
	rdma_query_gid(ibdev, port, 0, &gid);
	snprintf(name, len, "IB-0x%llx",
		 be64_to_cpu(gid.global.subnet_prefix));
}

/*
 * A write with remote CQ data uses up a receive (FI_RX_CQ_DATA).  A client that does not know the
 * mode bit agrees with its peers not to write with data.
 */
static u64 verbs_info_mode(bool iwarp, const struct fi_info *hints)
{
	if (iwarp || (hints && !(hints->mode & FI_RX_CQ_DATA)))
		return 0;
	return FI_RX_CQ_DATA;
}

static int verbs_query_active(struct ib_device *ibdev, u32 port,
			      struct ib_port_attr *attr)
{
	int ret = ib_query_port(ibdev, port, attr);

	if (ret)
		return verbs_no_data(ret);
	if (attr->state == IB_PORT_ACTIVE)
		return 0;
	kofi_getinfo_reason(dev_name(&ibdev->dev), "port %u is not active",
			    port);
	return -ENODATA;
}

/* Returns a copy of an info on the stack, or an ERR_PTR: -ENODATA: the port is down; -ENOMEM */
struct fi_info *verbs_info_build(struct verbs_device *dev, u32 port,
				 const struct sockaddr_storage *src,
				 const struct sockaddr_storage *dest,
				 const struct fi_info *hints)
{
	struct ib_device *ibdev = dev->ibdev;
	bool iwarp = rdma_protocol_iwarp(ibdev, port);
	u64 device_caps = verbs_device_caps(dev, hints);
	u64 mode = verbs_info_mode(iwarp, hints);
	char fabric_name[FI_NAME_MAX];
	struct fi_tx_attr tx = {};
	struct fi_rx_attr rx = {};
	struct fi_ep_attr ep = {};
	struct fi_domain_attr domain = {};
	struct fi_fabric_attr fabric = {
		.name		= fabric_name,
		.prov_name	= VERBS_NAME,
		.prov_version	= VERBS_VERSION,
	};
	struct fi_info info = {
		.caps		= verbs_tx_caps(device_caps, iwarp) | VERBS_RX_CAPS |
				  FI_LOCAL_COMM | FI_REMOTE_COMM,
		.mode		= mode,
		.addr_format	= src->ss_family == AF_INET6 ?
				  FI_SOCKADDR_IN6 : FI_SOCKADDR_IN,
		.src_addr	= (void *)src,
		.src_addrlen	= kofi_addr_len(src),
		.dest_addr	= (void *)dest,
		.dest_addrlen	= dest ? kofi_addr_len(dest) : 0,
		.tx_attr	= &tx,
		.rx_attr	= &rx,
		.ep_attr	= &ep,
		.domain_attr	= &domain,
		.fabric_attr	= &fabric,
	};
	struct ib_port_attr attr;
	struct fi_info *result;
	bool shared;
	int ret;

	ret = verbs_query_active(ibdev, port, &attr);
	if (ret)
		return ERR_PTR(ret);

	verbs_info_tx(&tx, dev, device_caps, iwarp, hints ? hints->tx_attr : NULL);
	shared = verbs_info_shared(ibdev, hints);
	verbs_info_rx(&rx, dev, device_caps, iwarp, shared, hints ? hints->rx_attr : NULL);
	rx.mode = mode;
	verbs_info_ep(&ep, iwarp, dev->max_msg_size);
	if (shared)
		ep.rx_ctx_cnt = FI_SHARED_CONTEXT;
	verbs_info_domain(&domain, ibdev, device_caps, iwarp,
			  hints ? hints->domain_attr : NULL);
	verbs_info_fabric(fabric_name, sizeof(fabric_name), ibdev, port, iwarp);
	result = verbs_info_with_nic(&info, ibdev, port, &attr);
	return result ? : ERR_PTR(-ENOMEM);
}

/* An info for the device that @id has been bound or resolved to */
static struct fi_info *verbs_info_of_id(struct rdma_cm_id *id, int src_port,
					const struct sockaddr_storage *dest,
					const struct fi_info *hints)
{
	struct sockaddr_storage src = verbs_id_src(id);
	struct verbs_device *dev;
	struct fi_info *info;

	dev = id->device ? verbs_device_find(id->device) : NULL;
	if (!dev) {
		kofi_getinfo_reason(NULL, "%pISc: no RDMA device has this address",
				    &src);
		return ERR_PTR(-ENODATA);
	}
	kofi_addr_set_port(&src, src_port);
	info = verbs_info_build(dev, id->port_num, &src, dest, hints);
	verbs_device_leave(dev);
	return info;
}

static struct fi_info *verbs_info_local(struct net *net,
					struct sockaddr_storage *src,
					const struct fi_info *hints)
{
	int port = kofi_addr_port(src);
	struct verbs_resolution resolution;
	struct rdma_cm_id *id;
	struct fi_info *info;
	int ret;

	id = verbs_resolution_id(&resolution, net);
	if (IS_ERR(id))
		return ERR_CAST(id);
	/* Binds to any port, as @src's may be in use */
	kofi_addr_set_port(src, 0);
	ret = rdma_bind_addr(id, (struct sockaddr *)src);
	if (ret) {
		kofi_getinfo_reason(NULL, "%pISc: no local address: %s", src,
				    fi_strerror(ret));
		info = ERR_PTR(verbs_no_data(ret));
	} else {
		info = verbs_info_of_id(id, port, NULL, hints);
	}
	kofi_addr_set_port(src, port);
	rdma_destroy_id(id);
	return info;
}

/* @src: local address; family 0: any */
static struct fi_info *verbs_info_remote(struct net *net,
					 struct sockaddr_storage *src,
					 struct sockaddr_storage *dest,
					 const struct fi_info *hints)
{
	struct verbs_resolution resolution;
	struct rdma_cm_id *id;
	struct fi_info *info;
	int ret;

	if (!src->ss_family)
		src = NULL;
	id = verbs_resolution_id(&resolution, net);
	if (IS_ERR(id))
		return ERR_CAST(id);
	ret = rdma_resolve_addr(id, (struct sockaddr *)src,
				(struct sockaddr *)dest, VERBS_RESOLVE_MS);
	if (ret) {
		ret = verbs_no_data(ret);
	} else {
		wait_for_completion(&resolution.done);
		ret = resolution.status;
	}
	if (ret) {
		kofi_getinfo_reason(NULL, "%pISc: no RDMA device reaches this address",
				    dest);
		info = ERR_PTR(ret);
	} else {
		info = verbs_info_of_id(id, src ? kofi_addr_port(src) : 0,
					dest, hints);
	}
	rdma_destroy_id(id);
	return info;
}

/* Adds @info to the end of a list; -ENODATA is no error */
static int verbs_info_add(struct fi_info ***end, struct fi_info *info)
{
	int ret = PTR_ERR_OR_ZERO(info);

	if (ret)
		return ret == -ENODATA ? 0 : ret;
	**end = info;
	*end = &info->next;
	return 0;
}

/* @src: the wildcard address of a family and a port, or family 0 */
static int verbs_info_all(struct net *net, const struct sockaddr_storage *src,
			  int service, const struct fi_info *hints,
			  struct fi_info **list)
{
	struct fi_info **end = list;
	struct sockaddr_storage *addrs;
	int i, count, ret = 0;

	if (src->ss_family && kofi_addr_port(src))
		service = kofi_addr_port(src);
	count = kofi_addr_list(net, &addrs);
	if (count < 0)
		return count;
	if (!count)
		kofi_getinfo_reason(NULL, "no interface that is up has an address");
	for (i = 0; i < count && !ret; i++) {
		if (src->ss_family && src->ss_family != addrs[i].ss_family)
			continue;
		kofi_addr_set_port(&addrs[i], service);
		ret = verbs_info_add(&end, verbs_info_local(net, &addrs[i],
							    hints));
	}
	kvfree(addrs);
	return ret;
}

int verbs_getinfo(u32 version, const char *node, const int service, u64 flags,
		  struct fi_info *hints, struct fi_info **info)
{
	struct net *net = kofi_hints_net(hints);
	struct sockaddr_storage src, dest;
	struct fi_info *list = NULL, **end = &list;
	int ret;

	ret = kofi_hints_addrs(net, node, service, flags, hints, &src, &dest);
	if (ret)
		return ret;

	if (dest.ss_family)
		ret = verbs_info_add(&end, verbs_info_remote(net, &src, &dest,
							     hints));
	else if (src.ss_family && !kofi_addr_any(&src))
		ret = verbs_info_add(&end, verbs_info_local(net, &src, hints));
	else
		ret = verbs_info_all(net, &src, flags & FI_SOURCE ? service : 0,
				     hints, &list);
	if (ret) {
		fi_freeinfo(list);
		return ret;
	}
	*info = list;
	return list ? 0 : -ENODATA;
}
