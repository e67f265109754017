// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects of the mock provider without state: fabric, domain, region, address vector,
 * shared contexts, scalable endpoint and its contexts, multicast group.
 *
 * Their calls enter the mock (main.c) and answer what the test can foresee.  Nothing can
 * be posted to one of the endpoints: it answers -EPROTO, which tells it from a filler.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "priv.h"

/* An object without state */
struct mock_simple {
	union {
		struct fid		fid;
		struct fid_fabric	fabric;
		struct fid_domain	domain;
		struct fid_mr		mr;
		struct fid_av		av;
		struct fid_ep		ep;
		struct fid_stx		stx;
		struct fid_mc		mc;
	};
	struct mock_obj		obj;
};

static int mock_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	return mock_enter(mock_of(fid), MOCK_CALL_BIND);
}

static int mock_control(struct fid *fid, int command, void *arg)
{
	int err = mock_enter(mock_of(fid), MOCK_CALL_CONTROL);

	return err ? : command == FI_ENABLE ? 0 : -ENOSYS;
}

const struct fi_ops mock_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= mock_close,
	.bind		= mock_bind,
	.control	= mock_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static void mock_simple_release(struct mock_obj *obj)
{
	struct mock_simple *simple = container_of(obj, struct mock_simple, obj);

	mock_obj_fini(obj);
	kfree(simple);
}

static struct mock_simple *mock_simple_open(struct mock *mock, enum mock_class class, void *context)
{
	struct mock_simple *simple = kzalloc(sizeof(*simple), GFP_KERNEL);

	if (!simple)
		return NULL;
	simple->obj.release = mock_simple_release;
	if (mock_obj_init(&simple->obj, mock, class, &simple->fid, context)) {
		kfree(simple);
		return NULL;
	}
	return simple;
}

int mock_open_fabric(struct mock *mock, struct fid_fabric **fabric, void *context)
{
	struct mock_simple *simple;

	simple = mock_simple_open(mock, MOCK_FABRIC, context);
	if (!simple)
		return -ENOMEM;
	simple->fabric.api_version = mock->api_version;
	*fabric = &simple->fabric;
	return 0;
}

/* Below @parent; all fid_* begin with their fid */
static int mock_open(struct fid *parent, enum mock_call call,
		     enum mock_class class, void *context, void **object)
{
	struct mock *mock = mock_of(parent);
	struct mock_simple *simple;
	int err;

	err = mock_enter(mock, call);
	if (err)
		return err;
	simple = mock_simple_open(mock, class, context);
	if (!simple)
		return -ENOMEM;
	*object = simple;
	return 0;
}

static int mock_domain(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain, void *context)
{
	return mock_open(&fabric->fid, MOCK_CALL_DOMAIN, MOCK_DOMAIN, context, (void **)domain);
}

static int mock_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av, void *context)
{
	return mock_open(&domain->fid, MOCK_CALL_AV_OPEN, MOCK_AV, context, (void **)av);
}

static int mock_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			    struct fid_ep **sep, void *context)
{
	return mock_open(&domain->fid, MOCK_CALL_SCALABLE_EP, MOCK_SEP, context, (void **)sep);
}

static int mock_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
			struct fid_stx **stx, void *context)
{
	return mock_open(&domain->fid, MOCK_CALL_STX_CTX, MOCK_STX, context, (void **)stx);
}

static int mock_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
			struct fid_ep **srx, void *context)
{
	return mock_open(&domain->fid, MOCK_CALL_SRX_CTX, MOCK_SRX, context, (void **)srx);
}

static int mock_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		       struct fid_ep **tx, void *context)
{
	if (index >= MOCK_CTX_CNT)
		return -EINVAL;
	return mock_open(&sep->fid, MOCK_CALL_TX_CTX, MOCK_TX, context, (void **)tx);
}

static int mock_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		       struct fid_ep **rx, void *context)
{
	if (index >= MOCK_CTX_CNT)
		return -EINVAL;
	return mock_open(&sep->fid, MOCK_CALL_RX_CTX, MOCK_RX, context, (void **)rx);
}

int mock_join(struct fid_ep *ep, const void *addr, u64 flags, struct fid_mc **mc, void *context)
{
	int err = mock_open(&ep->fid, MOCK_CALL_JOIN, MOCK_MC, context, (void **)mc);

	if (!err)
		(*mc)->fi_addr = mock_of(&ep->fid)->group_addr;
	return err;
}

/* A second view that carries nothing */
int mock_alias(struct mock_ep *ep, struct fi_alias *alias)
{
	struct mock_simple *simple;

	simple = mock_simple_open(ep->obj.mock, MOCK_SRX, NULL);
	if (!simple)
		return -ENOMEM;
	simple->fid.fclass = FI_CLASS_EP;
	*alias->fid = &simple->fid;
	return 0;
}

static struct device *mock_dma_device(struct fid_domain *domain)
{
	return mock_of(&domain->fid)->dma_device;
}

static int mock_reg(struct fid *fid, struct fid_mr **mr, void *context)
{
	return mock_open(fid, MOCK_CALL_MR_REG, MOCK_MR, context, (void **)mr);
}

static int mock_mr_reg(struct fid *fid, const void *buf, size_t len, u64 access, u64 offset,
		       u64 requested_key, u64 flags, struct fid_mr **mr, void *context)
{
	return mock_reg(fid, mr, context);
}

static int mock_mr_regv(struct fid *fid, const struct kvec *iov, size_t count, u64 access,
			u64 offset, u64 requested_key, u64 flags, struct fid_mr **mr, void *context)
{
	return mock_reg(fid, mr, context);
}

static int mock_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			   u64 flags, struct fid_mr **mr)
{
	mock_of(fid)->mr_flags = flags;
	return mock_reg(fid, mr, attr->context);
}

const struct fi_ops_fabric mock_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= mock_domain,
	.passive_ep	= mock_passive_ep,
	.eq_open	= mock_eq_open,
};

const struct fi_ops_domain mock_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= mock_av_open,
	.cq_open	= mock_cq_open,
	.endpoint	= mock_endpoint,
	.scalable_ep	= mock_scalable_ep,
	.cntr_open	= mock_cntr_open,
	.stx_ctx	= mock_stx_ctx,
	.srx_ctx	= mock_srx_ctx,
	.query_atomic	= fi_no_query_atomic,
	.dma_device	= mock_dma_device,
};

const struct fi_ops_mr mock_mr_ops = {
	.size		= sizeof(struct fi_ops_mr),
	.reg		= mock_mr_reg,
	.regv		= mock_mr_regv,
	.regattr	= mock_mr_regattr,
};

/* Address vectors: n addresses are 0 to n - 1, of which 0 is known */

static int mock_av_enter(struct fid_av *av, enum mock_call call, u64 flags)
{
	struct mock *mock = mock_of(&av->fid);

	mock->av_flags = flags;
	return mock_enter(mock, call);
}

static int mock_av_number(fi_addr_t *fi_addr, size_t count)
{
	size_t i;

	for (i = 0; fi_addr && i < count; i++)
		fi_addr[i] = i;
	return count;
}

static int mock_av_insert(struct fid_av *av, const void *addr, size_t count,
			  fi_addr_t *fi_addr, u64 flags, void *context)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_INSERT, flags);

	return err ? : mock_av_number(fi_addr, count);
}

static int mock_av_insertsvc(struct fid_av *av, const char *node, int service,
			     fi_addr_t *fi_addr, u64 flags, void *context)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_INSERTSVC, flags);

	return err ? : mock_av_number(fi_addr, 1);
}

static int mock_av_insertsym(struct fid_av *av, const char *node, size_t nodecnt, int service,
			     size_t svccnt, fi_addr_t *fi_addr, u64 flags, void *context)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_INSERTSYM, flags);

	return err ? : mock_av_number(fi_addr, nodecnt * svccnt);
}

static int mock_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count, u64 flags)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_REMOVE, flags);

	return err ? : count && *fi_addr ? -EINVAL : 0;
}

static int mock_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr, size_t *addrlen)
{
	const struct sockaddr_in sin = { .sin_family = AF_INET };
	int err = mock_av_enter(av, MOCK_CALL_AV_LOOKUP, 0);

	if (err || fi_addr)
		return err ? : -EINVAL;
	memcpy(addr, &sin, min(*addrlen, sizeof(sin)));
	*addrlen = sizeof(sin);
	return 0;
}

static const char *mock_av_straddr(struct fid_av *av, const void *addr, char *buf, size_t *len)
{
	mock_av_enter(av, MOCK_CALL_AV_STRADDR, 0);
	strscpy(buf, MOCK_AV_TEXT, *len);
	*len = sizeof(MOCK_AV_TEXT);
	return buf;
}

static int mock_av_insert_auth_key(struct fid_av *av, const void *auth_key, size_t auth_key_size,
				   fi_addr_t *fi_addr, u64 flags)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_AUTH_KEY, flags);

	if (!err)
		*fi_addr = 0;
	return err;
}

static int mock_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr,
				   void *auth_key, size_t *auth_key_size)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_AUTH_KEY, 0);

	return err ? : fi_addr ? -EINVAL : 0;
}

static int mock_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr, fi_addr_t user_id, u64 flags)
{
	int err = mock_av_enter(av, MOCK_CALL_AV_USER_ID, flags);

	return err ? : fi_addr ? -EINVAL : 0;
}

const struct fi_ops_av mock_av_ops = {
	.size		= sizeof(struct fi_ops_av),
	.insert		= mock_av_insert,
	.insertsvc	= mock_av_insertsvc,
	.insertsym	= mock_av_insertsym,
	.remove		= mock_av_remove,
	.lookup		= mock_av_lookup,
	.straddr	= mock_av_straddr,
	.insert_auth_key = mock_av_insert_auth_key,
	.lookup_auth_key = mock_av_lookup_auth_key,
	.set_user_id	= mock_av_set_user_id,
};

/* Scalable endpoints, their contexts and shared ones */

static int mock_ctx_drain(struct fid_ep *ep, int timeout)
{
	return mock_enter(mock_of(&ep->fid), MOCK_CALL_DRAIN);
}

const struct fi_ops_ep mock_sep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= fi_no_getopt,
	.setopt		= fi_no_setopt,
	.tx_ctx		= mock_tx_ctx,
	.rx_ctx		= mock_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};

const struct fi_ops_ep mock_ctx_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= fi_no_getopt,
	.setopt		= fi_no_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= mock_ctx_drain,
};

static ssize_t mock_queue_recv(struct fid_ep *ep, void *buf, size_t len,
			       void *desc, fi_addr_t src_addr, void *context)
{
	return -EPROTO;
}

static ssize_t mock_queue_send(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t dest_addr, void *context)
{
	return -EPROTO;
}

const struct fi_ops_xfer mock_queue_xfer = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= mock_queue_send,
	.recv		= mock_queue_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= fi_no_post,
	.atomicvalid	= fi_no_atomicvalid,
};
