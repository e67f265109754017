// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fillers: calls that answer -ENOSYS, one for each slot of each table.
 *
 * A provider uses a whole table of fillers (kofi_no_ops_*) for what it does not
 * support, or single ones (fi_no_*) in the tables that are usually mixed.  The
 * core puts fillers at the end of tables of older providers.  It also compares tables
 * with them: an object whose capabilities promise a table that is all filler is refused
 * (check.c).
 *
 * Fillers that return a string return the text of ENOSYS, counters read as 0, and a device
 * is NULL, so that a client need not check for a filler.  The fillers of fi_send(), fi_recv(),
 * fi_read() and fi_write() describe the transfer and hand it to ->post of the same table.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/stat.h>
#include "kofi.h"

/* Refuses a call that the provider does not have */
static int kofi_no_call(const char *call, const struct fid *fid)
{
	return kofi_refuse(call, -ENOSYS, "the provider does not have this call for the %s",
			   fid ? kofi_class_name(fid->fclass) : "object");
}

/* Any object */

static int kofi_no_close(struct fid *fid)
{
	return kofi_no_call("close", fid);
}

int fi_no_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	return kofi_no_call("bind", fid);
}
EXPORT_SYMBOL_GPL(fi_no_bind);

int fi_no_control(struct fid *fid, int command, void *arg)
{
	/* The core asks any object for its state */
	if (command == KOFI_GETSTAT)
		return -ENOSYS;
	return kofi_no_call("control", fid);
}
EXPORT_SYMBOL_GPL(fi_no_control);

int fi_no_ops_open(struct fid *fid, const char *name, u64 flags, void **ops,
		   void *context)
{
	return kofi_no_call("open_ops", fid);
}
EXPORT_SYMBOL_GPL(fi_no_ops_open);

int fi_no_tostr(const struct fid *fid, char *buf, size_t len)
{
	return kofi_no_call("tostr", fid);
}
EXPORT_SYMBOL_GPL(fi_no_tostr);

int fi_no_ops_set(struct fid *fid, const char *name, u64 flags, void *ops,
		  void *context)
{
	return kofi_no_call("set_ops", fid);
}
EXPORT_SYMBOL_GPL(fi_no_ops_set);

const struct fi_ops kofi_no_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_no_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};
EXPORT_SYMBOL_GPL(kofi_no_ops);

/* Fabrics */

int fi_no_domain(struct fid_fabric *fabric, struct fi_info *info,
		 struct fid_domain **domain, void *context)
{
	return kofi_no_call("domain", &fabric->fid);
}
EXPORT_SYMBOL_GPL(fi_no_domain);

int fi_no_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_pep **pep, void *context)
{
	return kofi_no_call("passive_ep", &fabric->fid);
}
EXPORT_SYMBOL_GPL(fi_no_passive_ep);

int fi_no_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **eq, void *context)
{
	return kofi_no_call("eq_open", &fabric->fid);
}
EXPORT_SYMBOL_GPL(fi_no_eq_open);

const struct fi_ops_fabric kofi_no_ops_fabric = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= fi_no_domain,
	.passive_ep	= fi_no_passive_ep,
	.eq_open	= fi_no_eq_open,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_fabric);

/* Domains */

int fi_no_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		  struct fid_av **av, void *context)
{
	return kofi_no_call("av_open", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_av_open);

int fi_no_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context)
{
	return kofi_no_call("cq_open", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_cq_open);

int fi_no_endpoint(struct fid_domain *domain, struct fi_info *info,
		   struct fid_ep **ep, void *context)
{
	return kofi_no_call("endpoint", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_endpoint);

int fi_no_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		      struct fid_ep **sep, void *context)
{
	return kofi_no_call("scalable_ep", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_scalable_ep);

int fi_no_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		    struct fid_cntr **cntr, void *context)
{
	return kofi_no_call("cntr_open", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_cntr_open);

int fi_no_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		  struct fid_stx **stx, void *context)
{
	return kofi_no_call("stx_context", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_stx_ctx);

int fi_no_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context)
{
	return kofi_no_call("srx_context", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_srx_ctx);

int fi_no_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr, u64 flags)
{
	return kofi_no_call("query_atomic", &domain->fid);
}
EXPORT_SYMBOL_GPL(fi_no_query_atomic);

struct device *fi_no_dma_device(struct fid_domain *domain)
{
	return NULL;
}
EXPORT_SYMBOL_GPL(fi_no_dma_device);

const struct fi_ops_domain kofi_no_ops_domain = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= fi_no_av_open,
	.cq_open	= fi_no_cq_open,
	.endpoint	= fi_no_endpoint,
	.scalable_ep	= fi_no_scalable_ep,
	.cntr_open	= fi_no_cntr_open,
	.stx_ctx	= fi_no_stx_ctx,
	.srx_ctx	= fi_no_srx_ctx,
	.query_atomic	= fi_no_query_atomic,
	.dma_device	= fi_no_dma_device,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_domain);

static int kofi_no_reg(struct fid *fid, const void *buf, size_t len, u64 access,
		       u64 offset, u64 requested_key, u64 flags,
		       struct fid_mr **mr, void *context)
{
	return kofi_no_call("mr_reg", fid);
}

static int kofi_no_regv(struct fid *fid, const struct kvec *iov, size_t count,
			u64 access, u64 offset, u64 requested_key, u64 flags,
			struct fid_mr **mr, void *context)
{
	return kofi_no_call("mr_regv", fid);
}

static int kofi_no_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			   u64 flags, struct fid_mr **mr)
{
	return kofi_no_call("mr_regattr", fid);
}

const struct fi_ops_mr kofi_no_ops_mr = {
	.size		= sizeof(struct fi_ops_mr),
	.reg		= kofi_no_reg,
	.regv		= kofi_no_regv,
	.regattr	= kofi_no_regattr,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_mr);

static int kofi_no_mr_refresh(struct fid_mr *mr, const struct fi_mr_attr *attr,
			      u64 flags)
{
	return kofi_no_call("mr_refresh", &mr->fid);
}

static int kofi_no_mr_enable(struct fid_mr *mr)
{
	return kofi_no_call("mr_enable", &mr->fid);
}

static int kofi_no_mr_disable(struct fid_mr *mr, u64 flags, void *context)
{
	return kofi_no_call("mr_disable", &mr->fid);
}

const struct fi_ops_mr_ep kofi_no_ops_mr_ep = {
	.size		= sizeof(struct fi_ops_mr_ep),
	.refresh	= kofi_no_mr_refresh,
	.enable		= kofi_no_mr_enable,
	.disable	= kofi_no_mr_disable,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_mr_ep);

/* Endpoints: control */

ssize_t fi_no_cancel(fid_t fid, void *context)
{
	return kofi_no_call("cancel", fid);
}
EXPORT_SYMBOL_GPL(fi_no_cancel);

int fi_no_getopt(fid_t fid, int level, int optname, void *optval,
		 size_t *optlen)
{
	return kofi_no_call("getopt", fid);
}
EXPORT_SYMBOL_GPL(fi_no_getopt);

int fi_no_setopt(fid_t fid, int level, int optname, const void *optval,
		 size_t optlen)
{
	return kofi_no_call("setopt", fid);
}
EXPORT_SYMBOL_GPL(fi_no_setopt);

int fi_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		 struct fid_ep **tx_ep, void *context)
{
	return kofi_no_call("tx_context", &sep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_tx_ctx);

int fi_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		 struct fid_ep **rx_ep, void *context)
{
	return kofi_no_call("rx_context", &sep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_rx_ctx);

ssize_t fi_no_size_left(struct fid_ep *ep)
{
	return kofi_no_call("tx_size_left or rx_size_left", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_size_left);

int fi_no_drain(struct fid_ep *ep, int timeout)
{
	return kofi_no_call("ep_drain", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_drain);

const struct fi_ops_ep kofi_no_ops_ep = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= fi_no_getopt,
	.setopt		= fi_no_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_ep);

/* Endpoints: data transfers */

ssize_t kofi_xfer_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
		       fi_addr_t dest_addr, void *context)
{
	return __fi_post_buf(ep, FI_OP_SEND, buf, len, desc, 0, dest_addr, context, 0);
}
EXPORT_SYMBOL_GPL(kofi_xfer_send);

ssize_t kofi_xfer_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, void *context)
{
	return __fi_post_buf(ep, FI_OP_RECV, buf, len, desc, 0, src_addr, context, 0);
}
EXPORT_SYMBOL_GPL(kofi_xfer_recv);

ssize_t kofi_xfer_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, u64 addr, u64 key, void *context)
{
	return __fi_post_rma_buf(ep, FI_OP_READ, buf, len, desc, 0, src_addr, addr, key, context,
				 0);
}
EXPORT_SYMBOL_GPL(kofi_xfer_read);

ssize_t kofi_xfer_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, u64 addr, u64 key, void *context)
{
	return __fi_post_rma_buf(ep, FI_OP_WRITE, buf, len, desc, 0, dest_addr, addr, key,
				 context, 0);
}
EXPORT_SYMBOL_GPL(kofi_xfer_write);

ssize_t fi_no_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	return kofi_xfer_lacks(&ep->fid, xfer);
}
EXPORT_SYMBOL_GPL(fi_no_post);

int fi_no_atomicvalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op, u64 form,
		      size_t *count)
{
	return kofi_refuse("atomicvalid", -ENOSYS, "the %s does not have this call: it needs FI_ATOMIC in info->caps, and a provider with it",
			   kofi_class_name(ep->fid.fclass));
}
EXPORT_SYMBOL_GPL(fi_no_atomicvalid);

const struct fi_ops_xfer kofi_no_ops_xfer = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= kofi_xfer_send,
	.recv		= kofi_xfer_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= fi_no_post,
	.atomicvalid	= fi_no_atomicvalid,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_xfer);

/* Endpoints: connections */

int fi_no_setname(fid_t fid, void *addr, size_t addrlen)
{
	return kofi_no_call("setname", fid);
}
EXPORT_SYMBOL_GPL(fi_no_setname);

int fi_no_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_no_call("getname", fid);
}
EXPORT_SYMBOL_GPL(fi_no_getname);

int fi_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return kofi_no_call("getpeer", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_getpeer);

int fi_no_connect(struct fid_ep *ep, const void *addr, const void *param,
		  size_t paramlen)
{
	return kofi_no_call("connect", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_connect);

int fi_no_listen(struct fid_pep *pep)
{
	return kofi_no_call("listen", &pep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_listen);

int fi_no_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return kofi_no_call("accept", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_accept);

int fi_no_reject(struct fid_pep *pep, fid_t handle, const void *param,
		 size_t paramlen)
{
	return kofi_no_call("reject", &pep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_reject);

int fi_no_shutdown(struct fid_ep *ep, u64 flags)
{
	return kofi_no_call("shutdown", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_shutdown);

int fi_no_join(struct fid_ep *ep, const void *addr, u64 flags,
	       struct fid_mc **mc, void *context)
{
	return kofi_no_call("join", &ep->fid);
}
EXPORT_SYMBOL_GPL(fi_no_join);

const struct fi_ops_cm kofi_no_ops_cm = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= fi_no_setname,
	.getname	= fi_no_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= fi_no_listen,
	.accept		= fi_no_accept,
	.reject		= fi_no_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_cm);

/* Event queues */

static ssize_t kofi_no_eq_read(struct fid_eq *eq, u32 *event, void *buf,
			       size_t len, u64 flags)
{
	return kofi_no_call("eq_read", &eq->fid);
}

static ssize_t kofi_no_eq_readerr(struct fid_eq *eq,
				  struct fi_eq_err_entry *buf, u64 flags)
{
	return kofi_no_call("eq_readerr", &eq->fid);
}

static ssize_t kofi_no_eq_write(struct fid_eq *eq, u32 event, const void *buf,
				size_t len, u64 flags)
{
	return kofi_no_call("eq_write", &eq->fid);
}

static ssize_t kofi_no_eq_sread(struct fid_eq *eq, u32 *event, void *buf,
				size_t len, int timeout, u64 flags)
{
	return kofi_no_call("eq_sread", &eq->fid);
}

static const char *kofi_no_text(char *buf, size_t len)
{
	const char *text = fi_strerror(ENOSYS);

	if (buf && len)
		strscpy(buf, text, len);
	return text;
}

static const char *kofi_no_eq_strerror(struct fid_eq *eq, int prov_errno,
				       const void *err_data, char *buf,
				       size_t len)
{
	return kofi_no_text(buf, len);
}

const struct fi_ops_eq kofi_no_ops_eq = {
	.size		= sizeof(struct fi_ops_eq),
	.read		= kofi_no_eq_read,
	.readerr	= kofi_no_eq_readerr,
	.write		= kofi_no_eq_write,
	.sread		= kofi_no_eq_sread,
	.strerror	= kofi_no_eq_strerror,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_eq);

/* Completion queues */

static ssize_t kofi_no_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return kofi_no_call("cq_read", &cq->fid);
}

static ssize_t kofi_no_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
				   fi_addr_t *src_addr)
{
	return kofi_no_call("cq_readfrom", &cq->fid);
}

static ssize_t kofi_no_cq_readerr(struct fid_cq *cq,
				  struct fi_cq_err_entry *buf, u64 flags)
{
	return kofi_no_call("cq_readerr", &cq->fid);
}

static ssize_t kofi_no_cq_sread(struct fid_cq *cq, void *buf, size_t count,
				const void *cond, int timeout)
{
	return kofi_no_call("cq_sread", &cq->fid);
}

static ssize_t kofi_no_cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count,
				    fi_addr_t *src_addr, const void *cond,
				    int timeout)
{
	return kofi_no_call("cq_sreadfrom", &cq->fid);
}

static int kofi_no_cq_signal(struct fid_cq *cq)
{
	return kofi_no_call("cq_signal", &cq->fid);
}

static const char *kofi_no_cq_strerror(struct fid_cq *cq, int prov_errno,
				       const void *err_data, char *buf,
				       size_t len)
{
	return kofi_no_text(buf, len);
}

const struct fi_ops_cq kofi_no_ops_cq = {
	.size		= sizeof(struct fi_ops_cq),
	.read		= kofi_no_cq_read,
	.readfrom	= kofi_no_cq_readfrom,
	.readerr	= kofi_no_cq_readerr,
	.sread		= kofi_no_cq_sread,
	.sreadfrom	= kofi_no_cq_sreadfrom,
	.signal		= kofi_no_cq_signal,
	.strerror	= kofi_no_cq_strerror,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_cq);

/* Counters */

static u64 kofi_no_cntr_read(struct fid_cntr *cntr)
{
	return 0;
}

static int kofi_no_cntr_add(struct fid_cntr *cntr, u64 value)
{
	return kofi_no_call("cntr_add", &cntr->fid);
}

static int kofi_no_cntr_wait(struct fid_cntr *cntr, u64 threshold, int timeout)
{
	return kofi_no_call("cntr_wait", &cntr->fid);
}

const struct fi_ops_cntr kofi_no_ops_cntr = {
	.size		= sizeof(struct fi_ops_cntr),
	.read		= kofi_no_cntr_read,
	.readerr	= kofi_no_cntr_read,
	.add		= kofi_no_cntr_add,
	.set		= kofi_no_cntr_add,
	.wait		= kofi_no_cntr_wait,
	.adderr		= kofi_no_cntr_add,
	.seterr		= kofi_no_cntr_add,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_cntr);

/* Address vectors */

static int kofi_no_av_insert(struct fid_av *av, const void *addr, size_t count,
			     fi_addr_t *fi_addr, u64 flags, void *context)
{
	return kofi_no_call("av_insert", &av->fid);
}

static int kofi_no_av_insertsvc(struct fid_av *av, const char *node,
				int service, fi_addr_t *fi_addr, u64 flags,
				void *context)
{
	return kofi_no_call("av_insertsvc", &av->fid);
}

static int kofi_no_av_insertsym(struct fid_av *av, const char *node,
				size_t nodecnt, int service, size_t svccnt,
				fi_addr_t *fi_addr, u64 flags, void *context)
{
	return kofi_no_call("av_insertsym", &av->fid);
}

static int kofi_no_av_remove(struct fid_av *av, fi_addr_t *fi_addr,
			     size_t count, u64 flags)
{
	return kofi_no_call("av_remove", &av->fid);
}

static int kofi_no_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			     size_t *addrlen)
{
	return kofi_no_call("av_lookup", &av->fid);
}

static const char *kofi_no_av_straddr(struct fid_av *av, const void *addr,
				      char *buf, size_t *len)
{
	return kofi_no_text(buf, len ? *len : 0);
}

int fi_no_av_insert_auth_key(struct fid_av *av, const void *auth_key,
			     size_t auth_key_size, fi_addr_t *fi_addr,
			     u64 flags)
{
	return kofi_no_call("av_insert_auth_key", &av->fid);
}
EXPORT_SYMBOL_GPL(fi_no_av_insert_auth_key);

int fi_no_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr,
			     void *auth_key, size_t *auth_key_size)
{
	return kofi_no_call("av_lookup_auth_key", &av->fid);
}
EXPORT_SYMBOL_GPL(fi_no_av_lookup_auth_key);

static int kofi_no_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr,
				  fi_addr_t user_id, u64 flags)
{
	return kofi_no_call("av_set_user_id", &av->fid);
}

const struct fi_ops_av kofi_no_ops_av = {
	.size		= sizeof(struct fi_ops_av),
	.insert		= kofi_no_av_insert,
	.insertsvc	= kofi_no_av_insertsvc,
	.insertsym	= kofi_no_av_insertsym,
	.remove		= kofi_no_av_remove,
	.lookup		= kofi_no_av_lookup,
	.straddr	= kofi_no_av_straddr,
	.insert_auth_key = fi_no_av_insert_auth_key,
	.lookup_auth_key = fi_no_av_lookup_auth_key,
	.set_user_id	= kofi_no_av_set_user_id,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_av);
