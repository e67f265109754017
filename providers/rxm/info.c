// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() finds: one endpoint without connections for each lower result that qualifies.
 *
 * A lower result qualifies if it has connected endpoints at an address of its own, which peers know
 * the endpoint by, and if packets and connection data fit.  A message that finds no receive waits:
 * the lower provider sees to that, or this one counts credits (credit.c).
 *
 * Reads and writes are those of the lower endpoint, and keys are those of the lower domain, which
 * has the mr_mode that the client can follow.  If the lower provider needs more, its domain has
 * what it needs: regions of this provider's own are there whatever the client can follow.
 *
 * Atomic operations are this provider's own, whatever the lower endpoint has.  They are executed in
 * their order among each other, and behind writes and messages that came before them.  But what a
 * later read or write reaches may not have been changed yet, so with them there is no order between
 * the two kinds.
 *
 * Message order: a peer has one connection, and packets stay in their order there, among reads and
 * writes, too.  Behind a message that waits for its receive what comes later goes on.
 */
#include <linux/module.h>
#include <kofi/refuse.h>
#include "rxm.h"

#define RXM_CAPS	(FI_MSG | FI_TAGGED)
#define RXM_TX_RMA	(FI_RMA | FI_READ | FI_WRITE)
#define RXM_RX_RMA	(FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define RXM_RMA		(RXM_TX_RMA | RXM_RX_RMA)
#define RXM_ORDER_SEND	(FI_ORDER_SAR | FI_ORDER_SAW)
#define RXM_ORDER_BOTH	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | FI_ORDER_WAW)
#define RXM_ORDER_ATOMIC (FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | \
			  FI_ORDER_ATOMIC_WAW)
#define RXM_TX_CAPS	(RXM_CAPS | FI_SEND)
#define RXM_RX_CAPS	(RXM_CAPS | FI_RECV | FI_MULTI_RECV | FI_TAGGED_MULTI_RECV | \
			 FI_DIRECTED_RECV | FI_SOURCE)
#define RXM_DOMAIN_CAPS	(FI_LOCAL_COMM | FI_REMOTE_COMM)

/* The hints for the lower provider, with places for the structures that they point to */
struct rxm_hints {
	struct fi_info		info;
	struct fi_tx_attr	tx;
	struct fi_rx_attr	rx;
	struct fi_ep_attr	ep;
	struct fi_domain_attr	domain;
	struct fi_fabric_attr	fabric;
};

static void rxm_hints_set(struct rxm_hints *lower, const struct fi_info *info)
{
	*lower = (struct rxm_hints) {
		.info.caps	= FI_MSG | FI_SEND | FI_RECV | RXM_RMA,
		.info.mode	= FI_RX_CQ_DATA,
		.ep.type	= FI_EP_MSG,
		.domain.mr_mode	= info && info->domain_attr ?
				  info->domain_attr->mr_mode & RXM_MR_MODE : RXM_MR_MODE,
	};
	lower->info.tx_attr = &lower->tx;
	lower->info.rx_attr = &lower->rx;
	lower->info.ep_attr = &lower->ep;
	lower->info.domain_attr = &lower->domain;
	lower->info.fabric_attr = &lower->fabric;
	if (!info)
		return;
	lower->info.addr_format = info->addr_format;
	lower->info.src_addr = info->src_addr;
	lower->info.src_addrlen = info->src_addrlen;
	lower->info.dest_addr = info->dest_addr;
	lower->info.dest_addrlen = info->dest_addrlen;
	if (info->tx_attr)
		lower->tx.tclass = info->tx_attr->tclass;
	if (info->domain_attr) {
		lower->domain.name = info->domain_attr->name;
		lower->domain.tclass = info->domain_attr->tclass;
	}
	if (info->fabric_attr) {
		lower->fabric.name = info->fabric_attr->name;
		lower->fabric.net = info->fabric_attr->net;
	}
}

/* Why a lower result does not qualify; NULL: it does */
static const char *rxm_unfit(const struct fi_info *lower)
{
	struct sockaddr_storage addr;

	if (lower->ep_attr->type != FI_EP_MSG)
		return "the lower endpoint has no connections";
	if (kofi_addr_from_info(&addr, lower->src_addr, lower->src_addrlen) ||
	    kofi_addr_any(&addr))
		return "no address of its own, by which peers know the endpoint";
	if (lower->ep_attr->max_msg_size < sizeof(struct rxm_wire_hdr) + rxm_eager())
		return "a packet does not fit into a message of the lower endpoint";
	if (lower->tx_attr->size < RXM_LOWER_TX || lower->rx_attr->size < RXM_RX)
		return "the queues of the lower endpoint are too short";
	/* The end of a message that the peer has written must not come before the message */
	if (!(lower->tx_attr->msg_order & FI_ORDER_SAW))
		return "what is sent may come before what was written";
	return NULL;
}

static size_t rxm_wish(size_t wish, size_t def)
{
	return clamp_t(size_t, wish, def, RXM_MAX_QUEUE);
}

/* Turn a lower result into one of this provider; the limits of regions and of order stay */
static void rxm_info_set(struct fi_info *info, const struct fi_info *hints)
{
	struct fi_domain_attr *domain = info->domain_attr;
	u32 tclass = info->tx_attr->tclass;

	*info->tx_attr = (struct fi_tx_attr) {
		.caps		= RXM_TX_CAPS,
		.msg_order	= FI_ORDER_SAS,
		.comp_order	= FI_ORDER_NONE,
		.inject_size	= KOFI_OP_INJECT,
		.size		= RXM_DEF_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
		.tclass		= tclass,
	};
	*info->rx_attr = (struct fi_rx_attr) {
		.caps		= RXM_RX_CAPS,
		.op_flags	= rxm_limits.rx_op_flags,
		.msg_order	= FI_ORDER_SAS,
		.comp_order	= FI_ORDER_NONE,
		.size		= RXM_DEF_QUEUE,
		.iov_limit	= KOFI_OP_IOV,
	};
	if (hints && hints->tx_attr)
		info->tx_attr->size = rxm_wish(hints->tx_attr->size, RXM_DEF_QUEUE);
	if (hints && hints->rx_attr)
		info->rx_attr->size = rxm_wish(hints->rx_attr->size, RXM_DEF_QUEUE);
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->protocol = FI_PROTO_RXM;
	info->ep_attr->protocol_version = RXM_WIRE_CM_VERSION;
	info->ep_attr->max_msg_size = RXM_MAX_MSG;
	info->ep_attr->msg_prefix_size = 0;
	info->ep_attr->mem_tag_format = U64_MAX;
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 1;
	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = FI_PROGRESS_AUTO;
	domain->data_progress = FI_PROGRESS_AUTO;
	domain->resource_mgmt = FI_RM_ENABLED;
	domain->av_type = FI_AV_UNSPEC;
	domain->mode = 0;
	domain->mr_key_size = sizeof(u64);
	domain->cq_data_size = sizeof(u64);
	domain->cq_cnt = RXM_MANY;
	domain->max_cq_size = 0;
	domain->cntr_cnt = RXM_MANY;
	domain->max_ep_tx_ctx = 1;
	domain->max_ep_rx_ctx = 1;
	domain->max_ep_stx_ctx = 0;
	domain->max_ep_srx_ctx = 0;
	domain->caps = (domain->caps & RXM_DOMAIN_CAPS) | FI_AV_USER_ID;
	domain->max_err_data = 0;
	domain->max_cntr_value = U64_MAX;
	domain->max_err_cntr_value = U64_MAX;
	info->mode = 0;
	info->caps = info->tx_attr->caps | info->rx_attr->caps | domain->caps;
}

/* May the client want reads and writes? */
static bool rxm_wants_rma(const struct fi_info *hints)
{
	return !hints || !hints->caps || hints->caps & FI_RMA;
}

static u64 rxm_wanted_order(const struct fi_info *hints)
{
	return (hints->tx_attr ? hints->tx_attr->msg_order : 0) |
	       (hints->rx_attr ? hints->rx_attr->msg_order : 0);
}

/* May the client want atomic operations?  Not without asking, if it asks for more order */
static bool rxm_wants_atomic(const struct fi_info *hints)
{
	if (!hints || !hints->caps)
		return !hints || !(rxm_wanted_order(hints) & RXM_ORDER_BOTH);
	return hints->caps & FI_ATOMIC;
}

/* The order of reads and writes among each other, without atomic operations */
static u64 rxm_order_rma(u64 order)
{
	return (order & FI_ORDER_RAR ? FI_ORDER_RMA_RAR : 0) |
	       (order & FI_ORDER_RAW ? FI_ORDER_RMA_RAW : 0) |
	       (order & FI_ORDER_WAR ? FI_ORDER_RMA_WAR : 0) |
	       (order & FI_ORDER_WAW ? FI_ORDER_RMA_WAW : 0);
}

/* Adds reads, writes and atomic operations; the core leaves out what is not asked for */
static void rxm_info_add_rma(struct fi_info *info, const struct fi_info *lower,
			     const struct fi_info *hints)
{
	u64 order = lower->tx_attr->msg_order & lower->rx_attr->msg_order &
		    (RXM_ORDER_SEND | RXM_ORDER_BOTH);
	u64 narrow = rxm_order_rma(order) | RXM_ORDER_ATOMIC;
	bool credits = lower->domain_attr->resource_mgmt != FI_RM_ENABLED;

	if (!rxm_wants_atomic(hints)) {
		order |= narrow & rxm_wanted_order(hints);
	} else {
		order = (order & RXM_ORDER_SEND) | narrow;
		info->tx_attr->caps |= FI_ATOMIC;
		info->rx_attr->caps |= FI_ATOMIC;
		info->caps |= FI_ATOMIC;
	}
	info->tx_attr->caps |= RXM_TX_RMA;
	info->tx_attr->msg_order |= order;
	info->tx_attr->rma_iov_limit = KOFI_RMA_MAX_IOV;
	info->rx_attr->caps |= RXM_RX_RMA;
	info->rx_attr->msg_order |= order;
	/* A message has more bits of data than a write, and its delivery can be seen to */
	if (rxm_wants_rma(hints))
		info->domain_attr->cq_data_size = credits ? 0 : lower->domain_attr->cq_data_size;
	info->tx_attr->op_flags = rxm_ep_limits(lower->ep_attr->protocol, credits,
						rxm_wants_rma(hints))->tx_op_flags;
	info->caps |= RXM_RMA;
}

/* Makes a result of this provider of a lower one, which has gone when there is none */
static struct fi_info *rxm_info_make(struct fi_info *lower, const struct fi_info *hints)
{
	struct fi_info *info = fi_dupinfo(lower);

	if (info) {
		rxm_info_set(info, hints);
		rxm_info_add_rma(info, lower, hints);
	}
	fi_freeinfo(lower);
	return info;
}

/* Moves the lower results that qualify from @list to @results; 0 or -ENOMEM */
static int rxm_take(struct fi_info *list, const struct fi_info *hints, struct fi_info **results)
{
	struct fi_info *info;
	const char *unfit;
	int ret = 0;

	while ((info = list)) {
		list = info->next;
		info->next = NULL;
		unfit = rxm_unfit(info);
		if (unfit) {
			kofi_getinfo_reason(info->domain_attr->name, "%s: %s",
					    info->fabric_attr->prov_name, unfit);
			fi_freeinfo(info);
			continue;
		}
		info = rxm_info_make(info, hints);
		if (info) {
			*results = info;
			results = &info->next;
		} else {
			ret = -ENOMEM;
		}
	}
	return ret;
}

static bool rxm_has_prov(const struct fi_info *list, const char *name)
{
	for (; list; list = list->next)
		if (!strcmp(list->fabric_attr->prov_name, name))
			return true;
	return false;
}

/* Appends the results in @more of providers that have none in @list */
static void rxm_add_others(struct fi_info **list, struct fi_info *more)
{
	struct fi_info **end = list, *info, *others = NULL, **last = &others;

	while ((info = more)) {
		more = info->next;
		info->next = NULL;
		if (rxm_has_prov(*list, info->fabric_attr->prov_name)) {
			fi_freeinfo(info);
			continue;
		}
		*last = info;
		last = &info->next;
	}
	while (*end)
		end = &(*end)->next;
	*end = others;
}

/* Asks the lower provider, or all, with the client's mr_mode, or with more where that finds none */
static int rxm_ask(u32 version, const char *prov, const char *node, int service, u64 flags,
		   struct rxm_hints *hints, struct fi_info **list)
{
	struct fi_info *more = NULL;
	int ret;

	*list = NULL;
	ret = kofi_lower_getinfo(version, prov, node, service, flags, &hints->info, list);
	if ((ret && ret != -ENODATA) || hints->domain.mr_mode == RXM_MR_MODE)
		return ret;
	hints->domain.mr_mode = RXM_MR_MODE;
	ret = kofi_lower_getinfo(version, prov, node, service, flags, &hints->info, &more);
	if (!ret)
		rxm_add_others(list, more);
	return *list ? 0 : ret;
}

int rxm_getinfo(u32 version, const char *node, const int service, u64 flags,
		struct fi_info *hints, struct fi_info **info)
{
	struct fi_info *list = NULL;
	struct rxm_hints *lower;
	char name[FI_NAME_MAX];
	int ret;

	*info = NULL;
	ret = kofi_lower_name(hints, &rxm_provider, name, sizeof(name));
	if (ret < 0)
		return ret;
	if (hints && hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC &&
	    hints->ep_attr->type != FI_EP_RDM) {
		kofi_getinfo_reason(NULL, "there are endpoints of the type FI_EP_RDM only");
		return -ENODATA;
	}
	lower = kzalloc(sizeof(*lower), GFP_KERNEL);
	if (!lower)
		return -ENOMEM;
	rxm_hints_set(lower, hints);
	if (hints && hints->domain_attr && hints->domain_attr->domain)
		lower->domain.domain = to_rxm_domain(hints->domain_attr->domain)->lower;
	if (hints && hints->fabric_attr && hints->fabric_attr->fabric)
		lower->fabric.fabric = to_rxm_fabric(hints->fabric_attr->fabric)->lower;
	ret = rxm_ask(version, name[0] ? name : NULL, node, service, flags, lower, &list);
	kfree(lower);
	if (!ret)
		ret = rxm_take(list, hints, info);
	if (ret) {
		fi_freeinfo(*info);
		*info = NULL;
		return ret;
	}
	return *info ? 0 : -ENODATA;
}

/**
 * rxm_lower_info() - Get what lower objects are opened with
 * @fabric: the fabric
 * @domain: the domain, or NULL: it is to be opened
 * @info: what the client opens an object with
 * @lower: the info, for fi_freeinfo()
 *
 * Context: may sleep.
 * Return: 0; -EADDRNOTAVAIL: @info has no address; as fi_getinfo().
 */
int rxm_lower_info(const struct rxm_fabric *fabric, const struct rxm_domain *domain,
		   const struct fi_info *info, struct fi_info **lower)
{
	struct rxm_hints *hints;
	int ret;

	hints = kzalloc(sizeof(*hints), GFP_KERNEL);
	if (!hints)
		return -ENOMEM;
	rxm_hints_set(hints, info);
	/* A lower object is where its address is, not where the route to one peer begins */
	hints->info.dest_addr = NULL;
	hints->info.dest_addrlen = 0;
	hints->fabric.fabric = fabric->lower;
	if (domain) {
		hints->domain.domain = domain->lower;
		hints->domain.mr_mode = domain->mr_mode;
	}
	ret = rxm_ask(fabric->lower->api_version, fabric->name, NULL, 0, 0, hints, lower);
	kfree(hints);
	if (ret)
		return kofi_refuse("domain or endpoint", ret, "info: %s has no endpoint with connections for it",
				   fabric->name);
	if (!rxm_unfit(*lower)) {
		(*lower)->tx_attr->size = RXM_LOWER_TX;
		(*lower)->rx_attr->size = RXM_RX;
		return 0;
	}
	fi_freeinfo(*lower);
	return kofi_refuse("domain or endpoint", -EADDRNOTAVAIL, "info: %s has no endpoint with connections at its address",
			   fabric->name);
}
