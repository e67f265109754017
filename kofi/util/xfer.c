// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which operations an endpoint has, the flags of an operation, and why it was refused; see
 * include/kofi/xfer.h.
 *
 * kofi_xfer_check() is the one place that refuses an operation of a kind that the endpoint
 * lacks, because of its capabilities, its class, or its provider.  The flags that every
 * operation of a kind may have are known when the endpoint is opened; kofi_xfer_check_exact()
 * decides the rest.
 *
 * The data path returns an errno and nothing else, as each instruction counts there.  So
 * kofi_xfer_refuse() looks for the reason afterwards, in the state of the endpoint and in the
 * operation.
 */
#include <linux/module.h>
#include <kofi/pages.h>
#include <kofi/refuse.h>
#include <kofi/xfer.h>
#include "../kofi.h"

#define KOFI_XFER_RX		(BIT(FI_OP_RECV) | BIT(FI_OP_TRECV))
#define KOFI_XFER_ATOMIC	(BIT(FI_OP_ATOMIC) | BIT(FI_OP_FETCH_ATOMIC) | \
				 BIT(FI_OP_COMPARE_ATOMIC))
#define KOFI_XFER_PMEM		(FI_COMMIT_COMPLETE | FI_SAVE)
/* What fi_readsgl() and fi_writesgl() may have */
#define KOFI_XFER_ANY_LENGTH	(FI_COMPLETION | FI_FENCE | FI_INJECT_COMPLETE | \
				 FI_TRANSMIT_COMPLETE)

/*
 * May an operation have those of FI_COMMIT_COMPLETE and FI_SAVE that are in @flags?  A message is
 * not in a region, so it cannot have FI_COMMIT_COMPLETE.  A message with FI_SAVE has no remote CQ
 * data, because that needs a receive.
 */
static bool kofi_xfer_may_pmem(const struct kofi_ep *ep, const struct fi_xfer *xfer, u64 flags)
{
	u64 cap = xfer->type < FI_OP_ATOMIC ? FI_RMA_PMEM : FI_ATOMIC_PMEM;
	bool save = flags & FI_SAVE;

	/* A tagged receive is no region */
	if (!(ep->caps & cap) || flags & FI_TAGGED)
		return false;
	switch (xfer->type) {
	case FI_OP_SEND:
	case FI_OP_TSEND:
		return !(flags & (FI_COMMIT_COMPLETE | FI_REMOTE_CQ_DATA));
	case FI_OP_WRITE:
	case FI_OP_ATOMIC:
		return true;
	case FI_OP_READ:
		return save;
	case FI_OP_FETCH_ATOMIC:
		return save || to_fi_atomic_xfer(xfer)->op != FI_ATOMIC_READ;
	case FI_OP_COMPARE_ATOMIC:
		return !save;
	default:
		return false;
	}
}

/* Return the flags that an operation of this kind may have, for persistent memory aside */
static u64 kofi_xfer_type_flags(const struct kofi_ep *ep, enum fi_op_type type)
{
	const struct kofi_ep_limits *limits = ep->limits;
	u64 known = type == FI_OP_RECV ? limits->recv_flags :
		    type == FI_OP_TRECV ? limits->trecv_flags : limits->tx_flags;

	/* Only a message can invalidate a key of the peer */
	if (type != FI_OP_SEND)
		known &= ~FI_REMOTE_INV;
	/* As a flag: the memory of a tagged receive */
	if ((type != FI_OP_READ && type != FI_OP_WRITE) || !(ep->caps & FI_TAGGED_RMA))
		known &= ~FI_TAGGED;
	/* Reads and fetches have no data to inject, and no remote CQ data */
	if (type == FI_OP_READ || type >= FI_OP_FETCH_ATOMIC)
		known &= ~(FI_INJECT | FI_REMOTE_CQ_DATA);
	return known;
}

void kofi_ep_set_xfers(struct kofi_ep *ep, u64 caps)
{
	enum fi_op_type type;
	u32 xfers = 0;

	if (caps & FI_MSG)
		xfers |= BIT(FI_OP_SEND) | BIT(FI_OP_RECV);
	if (caps & FI_TAGGED)
		xfers |= BIT(FI_OP_TSEND) | BIT(FI_OP_TRECV);
	if (caps & FI_RMA)
		xfers |= BIT(FI_OP_READ) | BIT(FI_OP_WRITE);
	if (caps & FI_ATOMIC)
		xfers |= KOFI_XFER_ATOMIC;
	if (ep->no_tx)
		xfers &= KOFI_XFER_RX;
	if (ep->no_rx)
		xfers &= ~KOFI_XFER_RX;
	ep->xfers = xfers;
	for (type = 0; type < KOFI_NR_XFERS; type++)
		ep->xfer_flags[type] = kofi_xfer_type_flags(ep, type) & ~KOFI_XFER_PMEM;
	ep->xfer_flags[FI_OP_READ] &= KOFI_XFER_ANY_LENGTH;
	ep->xfer_flags[FI_OP_WRITE] &= KOFI_XFER_ANY_LENGTH;
}
EXPORT_SYMBOL_GPL(kofi_ep_set_xfers);

/* Decide what kofi_ep.xfer_flags leaves open.  @flags: those that the operation has */
int kofi_xfer_check_exact(const struct kofi_ep *ep, const struct fi_xfer *xfer, u64 flags)
{
	u64 known;

	if (!(ep->xfers & BIT(xfer->type)))
		return -ENOSYS;
	if (xfer->defaults && xfer->flags & ~ep->limits->tx_flags)
		return -ENOSYS;
	known = kofi_xfer_type_flags(ep, xfer->type);
	if (!kofi_xfer_may_pmem(ep, xfer, flags))
		known &= ~KOFI_XFER_PMEM;
	if (kofi_xfer_any_length(xfer))
		known &= KOFI_XFER_ANY_LENGTH;
	return flags & ~known ? -FI_EBADFLAGS : 0;
}
EXPORT_SYMBOL_GPL(kofi_xfer_check_exact);

static const struct {
	const char	*call;
	const char	*cap;
} kofi_xfer_names[] = {
	[FI_OP_RECV]		= { "recv", "FI_MSG" },
	[FI_OP_SEND]		= { "send", "FI_MSG" },
	[FI_OP_TRECV]		= { "trecv", "FI_TAGGED" },
	[FI_OP_TSEND]		= { "tsend", "FI_TAGGED" },
	[FI_OP_READ]		= { "read", "FI_RMA" },
	[FI_OP_WRITE]		= { "write", "FI_RMA" },
	[FI_OP_ATOMIC]		= { "atomic", "FI_ATOMIC" },
	[FI_OP_FETCH_ATOMIC]	= { "fetch_atomic", "FI_ATOMIC" },
	[FI_OP_COMPARE_ATOMIC]	= { "compare_atomic", "FI_ATOMIC" },
};

int kofi_xfer_lacks(const struct fid *fid, const struct fi_xfer *xfer)
{
	return kofi_refuse(kofi_xfer_names[xfer->type].call, -ENOSYS, "the %s does not have this call: it needs %s in info->caps, a provider with it, and this direction",
			   kofi_class_name(fid->fclass), kofi_xfer_names[xfer->type].cap);
}

static ssize_t kofi_xfer_refuse_form(const struct kofi_ep *ep, const struct fi_xfer *xfer,
				     const char *call)
{
	if (!(ep->xfers & BIT(xfer->type)))
		return kofi_xfer_lacks(&ep->ep.fid, xfer);
	if (kofi_xfer_any_length(xfer))
		return kofi_refuse(call, -ENOSYS, "the endpoint was enabled without FI_OPT_MAX_RW_OPS");
	return kofi_refuse(call, -ENOSYS, "the endpoint does not have this form of the operation");
}

static ssize_t kofi_xfer_refuse_size(const struct kofi_ep *ep, const struct fi_xfer *xfer,
				     const char *call)
{
	bool inject = xfer->flags & FI_INJECT && !kofi_xfer_is_recv(xfer);
	ssize_t len = xfer->type >= FI_OP_ATOMIC ? -EINVAL :
		      kofi_list_len(xfer->buf_type, xfer->list, xfer->count, SSIZE_MAX);

	if (len < 0)
		return kofi_refuse(call, -EMSGSIZE, "the list has more bytes than an operation can have");
	return kofi_refuse(call, -EMSGSIZE, "the list has %zd bytes; the most is %zu, the %s", len,
			   inject ? ep->inject_size : ep->max_msg_size,
			   inject ? "inject size" : "longest message");
}

static bool kofi_xfer_has_desc(const struct fi_xfer *xfer)
{
	size_t i;

	for (i = 0; xfer->desc && i < xfer->count; i++)
		if (xfer->desc[i])
			return true;
	return false;
}

static ssize_t kofi_xfer_refuse_list(const struct kofi_ep *ep, const struct fi_xfer *xfer,
				     const char *call)
{
	if (xfer->count && !xfer->list)
		return kofi_refuse(call, -EINVAL, "the list is NULL, and has %zu elements",
				   xfer->count);
	if (xfer->type < FI_OP_ATOMIC &&
	    kofi_list_refuse(call, xfer->buf_type, xfer->list, xfer->count, ep->caps & FI_HMEM))
		return -EINVAL;
	if (kofi_xfer_has_desc(xfer))
		return kofi_refuse(call, -EINVAL, "a descriptor is that of a region without its element, or of another domain; or count is %zu, more than iov_limit",
				   xfer->count);
	return kofi_refuse(call, -EINVAL, "count is %zu: more than iov_limit, or the lists of the operation are not equally long",
			   xfer->count);
}

ssize_t kofi_xfer_refuse(const struct kofi_ep *ep, const struct fi_xfer *xfer, ssize_t ret)
{
	const char *call = kofi_xfer_names[xfer->type].call;

	switch (ret) {
	case 0:
	case -EAGAIN:
		return ret;
	case -FI_EOPBADSTATE:
	case -ENOTCONN:
	case -ESHUTDOWN:
		return kofi_conn_refuse(call, &ep->conn, ret, ep->conn.connless ||
					kofi_xfer_is_recv(xfer) ? "enabled" : "connected");
	case -ENODEV:
		return kofi_refuse(call, ret, "the device, the interface or the namespace of the endpoint has gone");
	case -FI_EBADFLAGS:
		return kofi_refuse(call, ret, "flags %#llx: some do not suit this operation, or the endpoint's capabilities",
				   xfer->flags);
	case -ENOSYS:
		return kofi_xfer_refuse_form(ep, xfer, call);
	case -EMSGSIZE:
		return kofi_xfer_refuse_size(ep, xfer, call);
	case -EINVAL:
		return kofi_xfer_refuse_list(ep, xfer, call);
	default:
		return kofi_refuse(call, ret, "the provider has refused the operation");
	}
}
EXPORT_SYMBOL_GPL(kofi_xfer_refuse);
