// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks: data transfers, forwarded to the lower endpoint.
 *
 * Buffers, descriptors, addresses, keys and contexts concern only the client and the lower
 * provider; nothing in them has to be translated.  A hook with ->begin sees each transfer by its
 * description.  fi_send(), fi_recv(), fi_read() and fi_write() have none, so they are described
 * here, and forwarded as they came: the lower provider may be faster without a description.
 *
 * The functions run in any context, as the calls themselves.  A description is on the stack of
 * the call.
 */
#include <linux/bvec.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/uio.h>
#include <kofi/xfer.h>
#include "hook.h"

static size_t hook_sgl_len(const struct fi_xfer *xfer)
{
	struct scatterlist *sg = (struct scatterlist *)xfer->list;
	size_t len = 0, i;

	for (i = 0; sg && i < xfer->count; i++, sg = sg_next(sg))
		len += sg->length;
	return len;
}

size_t kofi_hook_len(const struct fi_xfer *xfer)
{
	const struct bio_vec *bvec = xfer->list;
	const struct fi_ioc *ioc = xfer->list;
	const struct kvec *kvec = xfer->list;
	size_t len = 0, i;

	if (kofi_xfer_any_length(xfer))
		return to_fi_rma_xfer(xfer)->rma->len;
	if (xfer->buf_type > FI_BUF_SGL || !xfer->list)
		return 0;
	if (xfer->buf_type == FI_BUF_SGL)
		return hook_sgl_len(xfer);
	for (i = 0; i < xfer->count; i++)
		len += xfer->type >= FI_OP_ATOMIC ? ioc[i].count :
		       xfer->buf_type == FI_BUF_BVEC ? bvec[i].bv_len : kvec[i].iov_len;
	return len;
}
EXPORT_SYMBOL_GPL(kofi_hook_len);

/* Forwarded */

static ssize_t hook_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->xfer->send(lower, buf, len, desc, dest_addr, context);
}

static ssize_t hook_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->xfer->recv(lower, buf, len, desc, src_addr, context);
}

static ssize_t hook_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, u64 addr, u64 key, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->xfer->read(lower, buf, len, desc, src_addr, addr, key, context);
}

static ssize_t hook_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			  fi_addr_t dest_addr, u64 addr, u64 key, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->xfer->write(lower, buf, len, desc, dest_addr, addr, key, context);
}

static ssize_t hook_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->xfer->post(lower, xfer);
}

/* A query transfers no data, so it is not described to a hook */
static int hook_atomicvalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op, u64 form,
			    size_t *count)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->xfer->atomicvalid(lower, datatype, op, form, count);
}

HOOK_ALL_CALLS(fi_ops_xfer, 6);
const struct fi_ops_xfer kofi_hook_xfer = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= hook_send,
	.recv		= hook_recv,
	.read		= hook_read,
	.write		= hook_write,
	.post		= hook_post,
	.atomicvalid	= hook_atomicvalid,
};
EXPORT_SYMBOL_GPL(kofi_hook_xfer);

/* Seen by a hook with ->begin */

static ssize_t hook_begin(struct fid_ep *ep, const struct fi_xfer *xfer, u64 *state)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(&ep->fid);

	return obj->root->hook->begin(obj, xfer, state);
}

static ssize_t hook_end(struct fid_ep *ep, const struct fi_xfer *xfer, u64 state, ssize_t ret)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(&ep->fid);

	return obj->root->hook->end(obj, xfer, state, ret);
}

static ssize_t hook_seen_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      fi_addr_t dest_addr, void *context)
{
	const struct kvec kvec = { (void *)buf, len };
	const struct fi_xfer xfer = __fi_xfer_defaults(FI_OP_SEND, &kvec, &desc, 1, 0, dest_addr,
						       context, 0);
	u64 state = 0;
	ssize_t ret = hook_begin(ep, &xfer, &state);

	if (!ret)
		ret = hook_send(ep, buf, len, desc, dest_addr, context);
	return hook_end(ep, &xfer, state, ret);
}

static ssize_t hook_seen_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			      fi_addr_t src_addr, void *context)
{
	const struct kvec kvec = { buf, len };
	const struct fi_xfer xfer = __fi_xfer_defaults(FI_OP_RECV, &kvec, &desc, 1, 0, src_addr,
						       context, 0);
	u64 state = 0;
	ssize_t ret = hook_begin(ep, &xfer, &state);

	if (!ret)
		ret = hook_recv(ep, buf, len, desc, src_addr, context);
	return hook_end(ep, &xfer, state, ret);
}

static struct fi_rma_xfer hook_describe_rma(enum fi_op_type type, const struct kvec *buf,
					    void **desc, fi_addr_t addr,
					    const struct fi_rma_iov *rma, void *context)
{
	return (struct fi_rma_xfer) {
		.xfer		= __fi_xfer_defaults(type, buf, desc, 1, 0, addr, context, 0),
		.rma		= rma,
		.rma_count	= 1,
	};
}

static ssize_t hook_seen_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			      fi_addr_t src_addr, u64 addr, u64 key, void *context)
{
	const struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	const struct kvec kvec = { buf, len };
	const struct fi_rma_xfer read = hook_describe_rma(FI_OP_READ, &kvec, &desc, src_addr,
							  &rma, context);
	u64 state = 0;
	ssize_t ret = hook_begin(ep, &read.xfer, &state);

	if (!ret)
		ret = hook_read(ep, buf, len, desc, src_addr, addr, key, context);
	return hook_end(ep, &read.xfer, state, ret);
}

static ssize_t hook_seen_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       fi_addr_t dest_addr, u64 addr, u64 key, void *context)
{
	const struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	const struct kvec kvec = { (void *)buf, len };
	const struct fi_rma_xfer write = hook_describe_rma(FI_OP_WRITE, &kvec, &desc, dest_addr,
							   &rma, context);
	u64 state = 0;
	ssize_t ret = hook_begin(ep, &write.xfer, &state);

	if (!ret)
		ret = hook_write(ep, buf, len, desc, dest_addr, addr, key, context);
	return hook_end(ep, &write.xfer, state, ret);
}

static ssize_t hook_seen_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	u64 state = 0;
	ssize_t ret = hook_begin(ep, xfer, &state);

	if (!ret)
		ret = hook_post(ep, xfer);
	return hook_end(ep, xfer, state, ret);
}

const struct fi_ops_xfer kofi_hook_seen_xfer = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= hook_seen_send,
	.recv		= hook_seen_recv,
	.read		= hook_seen_read,
	.write		= hook_seen_write,
	.post		= hook_seen_post,
	.atomicvalid	= hook_atomicvalid,
};
