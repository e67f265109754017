/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The provider author's view of kofi.ko.
 *
 * A provider registers a name and three calls.  Everything else hangs off the
 * objects these return: each object is a struct of the provider's that begins
 * with the fid_* of its class, filled with tables of calls.
 *
 * The smallest provider that moves a message has
 *
 *	struct kofi_provider	getinfo, freeinfo, fabric
 *	fabric			domain, eq_open (kofi/eq.h has a queue to use)
 *	domain			endpoint, cq_open (kofi/cq.h has one to build on)
 *	endpoint		bind, control (FI_ENABLE), connect, some of msg
 *	all of these		close
 *
 * and fillers everywhere else.
 *
 * What the core does, so that a provider need not
 *
 *  - It checks the arguments that any provider would check: NULL, object
 *    classes, objects of different fabrics or domains, unknown flags of bind.
 *    It does not check arguments of data transfers and of regions for single operations
 *    (&struct fi_ops_mr_ep), which reach a provider as the client made them.
 *    An fi_info to open something with has all attribute structures and is
 *    this provider's.
 *  - It keeps parents and bound objects alive: ->close of an object is called
 *    only when nothing below it or bound to it is left.  Right after ->close
 *    the memory may be gone.  A ->close that returns an error has changed
 *    nothing, and will be called again.
 *  - It refuses to bind a second queue, vector or endpoint of the same kind, and a
 *    second completion queue or counter for the same direction, without a call of ->bind.
 *  - It copies what ->getinfo returns, filters the copies by the hints, and
 *    gives the originals back to ->freeinfo before fi_getinfo() returns.
 *  - It holds a reference on @owner while a fabric is open or a call is inside.
 *
 * What a provider must do
 *
 *  - Leave no slot of a table NULL.  The fillers below (kofi_no_*) return -ENOSYS for
 *    calls that it does not support.  The core refuses an object with a NULL slot (-EINVAL,
 *    and a line in the log), and an endpoint whose caps promise a table that is all
 *    filler: FI_MSG, FI_RMA, FI_TAGGED, FI_ATOMIC.  It closes a refused object
 *    by the object's own ->close.
 *  - Set fid.fclass, fid.context, fid.ops and every table pointer.  fid.obj is
 *    the core's.
 *  - Claim nothing in fi_info that is not true.
 *
 * A provider may stand on others, "verbs;ofi_rxm".  It asks for results below it with
 * kofi_lower_getinfo() in its ->getinfo.  It opens them with kofi_lower_fabric() in its
 * ->fabric, then with fi_domain(), fi_endpoint() and so on, as a client does: all rules
 * for clients hold.  Lower objects belong to the upper provider, not to its client.  The
 * upper provider translates them where the client would see them: fids in events, infos of
 * connection requests.  In the results of its ->getinfo, prov_name is that of the lower
 * provider, and the core appends the name of the upper one.
 *
 * An upper object has one or several lower ones, and its ->close must not fail half
 * way.  Few calls of fi_close() can fail, for two reasons:
 *
 *  - The core returns -EBUSY because something uses the object.  This does not happen if
 *    its users are closed first.
 *  - The lower provider refuses.  It may refuse a region whose key is still on its
 *    way, and any object from inside a callback of that object.  It must refuse nothing
 *    else, because upper providers rely on a ->close that cannot fail.
 *
 * So ->close of an upper object first checks whether it is called from inside one of its
 * own callbacks.  Then it closes the lower object that may be refused, of which it has at
 * most one, and returns its error: nothing has changed.  It closes all other lower objects
 * with kofi_lower_close().
 *
 * Contexts: control calls come from process context and may sleep;
 * data transfers, regions for single operations, and reads of queues that do not wait,
 * come from any context.
 * Calls on different objects come at the same time, calls on one object too,
 * unless fi_domain_attr.threading says otherwise; no call comes during or after
 * ->close.  No lock of the core is held while a provider is called.
 *
 * Versions: a provider passes the version of this interface that it was compiled with.  The core
 * refuses another major version.  Tables of an older minor version are shorter; the core
 * replaces them by longer copies with fillers at the end, so old providers keep
 * working.  The core does not use the end of tables of a newer minor version.
 */
#ifndef _KOFI_PROVIDER_H
#define _KOFI_PROVIDER_H

#include <linux/module.h>
#include <linux/socket.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/*
 * The version of what a provider sees: this file, and the tables of include/rdma.  A provider
 * passes it to kofi_provider_register().
 */
#define KOFI_PROVIDER_MAJOR	3
#define KOFI_PROVIDER_MINOR	0
#define KOFI_PROVIDER_VERSION	FI_VERSION(KOFI_PROVIDER_MAJOR, KOFI_PROVIDER_MINOR)

/* With this alias fi_getinfo() loads the module if the hints have the name */
#define MODULE_ALIAS_KOFI(name)	MODULE_ALIAS("kofi-" name)

/**
 * struct kofi_provider - A provider
 * @name: name in fi_fabric_attr.prov_name, at most FI_NAME_MAX - 1 bytes: small letters,
 *	digits, "_" and "-"
 * @version: version of the provider itself, FI_VERSION(major, minor)
 * @getinfo: list what there is.  @node and @service (host byte order, 0 for
 *	none) have been checked for form.  @hints may be NULL.  The provider may apply
 *	@hints to leave out results or to size queues; the core filters anyway.  With
 *	hints->fabric_attr->net NULL, or no hints, the caller's namespace is
 *	meant.  -ENODATA: nothing.
 * @freeinfo: free a list that @getinfo returned
 * @fabric: open a fabric.  @attr->prov_name is this provider's, @attr->net is never NULL;
 *	the namespace stays during the call and must not be held by the fabric
 * @net_exit: the namespace of an open fabric goes; NULL: the provider uses none.  Nothing
 *	of @fabric may use the namespace any more when this returns.  To the client it is the
 *	removal of a device: everything posted completes, event queues get ENODEV, calls
 *	answer -ENODEV, shells stay until they are closed.  Called once, in process
 *	context, not during or after ->close of @fabric, but possibly at the same time as
 *	other calls; it must not wait for clients.
 * @any_name: name that stands for each of its fabrics and for each of its domains: a client that
 *	asks for a fabric or a domain of this name finds all of them, by this name; NULL: none
 * @owner: THIS_MODULE
 */
struct kofi_provider {
	const char	*name;
	u32		version;
	int		(*getinfo)(u32 version, const char *node,
				   const int service, u64 flags,
				   struct fi_info *hints,
				   struct fi_info **info);
	void		(*freeinfo)(struct fi_info *info);
	int		(*fabric)(struct fi_fabric_attr *attr,
				  struct fid_fabric **fabric, void *context);
	void		(*net_exit)(struct fid_fabric *fabric);
	const char	*any_name;
	struct module	*owner;
};

/**
 * kofi_provider_register() - Make a provider known
 * @version: KOFI_PROVIDER_VERSION
 * @provider: the provider; it stays the caller's and must stay until
 *	kofi_provider_deregister() returns
 *
 * Several versions of one provider may be registered; the highest serves new
 * calls, and objects that the others have opened stay usable.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: a call or the name is missing or malformed; -ENOSYS:
 * compiled for another major version; -EEXIST: that name and version is registered
 * already; -ENOMEM.
 */
int kofi_provider_register(u32 version, struct kofi_provider *provider);

/**
 * kofi_provider_deregister() - Withdraw a provider
 * @provider: a registered provider
 *
 * New calls do not see it from now on.  Returns when every call inside the provider has
 * returned and every object of it is closed; meanwhile a line is logged every ten
 * seconds.  Must not be called from inside one of the provider's own calls.
 *
 * Context: may sleep, for as long as clients keep objects open.
 * Return: 0; -ENOENT: it is not registered.
 */
int kofi_provider_deregister(struct kofi_provider *provider);

/**
 * kofi_info_match() - Does a result satisfy the hints?
 * @info: one result
 * @hints: the hints; NULL matches everything
 *
 * Inside ->getinfo each field that does not fit becomes a reason of
 * fi_getinfo_why().
 *
 * Context: any.
 * Return: true if every non-zero field of @hints is satisfied.
 */
bool kofi_info_match(const struct fi_info *info, const struct fi_info *hints);

/**
 * kofi_getinfo_reason() - Report why something is not among the results
 * @domain_name: the domain it is about, or NULL
 * @fmt: format of one sentence without a period: "port 1 is down"
 *
 * For ->getinfo, which calls it in the task that called ->getinfo.  The sentence goes
 * to dynamic debug and to fi_getinfo_why(); if neither is on, it is not even
 * formatted.  A provider need not report that a field of the hints excludes something: the
 * core reports it for infos that ->getinfo returns, and kofi_info_match() for infos that it
 * compares.
 *
 * Context: any; outside ->getinfo it does nothing.
 */
__printf(2, 3) void kofi_getinfo_reason(const char *domain_name,
					const char *fmt, ...);

/**
 * kofi_lower_name() - Get the name of the lower provider that the hints ask for
 * @hints: what ->getinfo got, may be NULL
 * @upper: the provider that asks
 * @buf: where the name goes: "verbs", or "verbs;ofi_rxm" if @upper is the third
 * @len: bytes of @buf, FI_NAME_MAX will do
 *
 * An empty name: @hints allow any.
 *
 * Context: any.
 * Return: 1: @hints name @upper on top of that provider; 0: they do not; -EINVAL: the
 * name is too long.
 */
int kofi_lower_name(const struct fi_info *hints,
		    const struct kofi_provider *upper, char *buf, size_t len);

/**
 * kofi_lower_getinfo() - Ask the provider below
 * @version: as fi_getinfo()
 * @prov_name: name of the lower provider; NULL: every registered provider that is no layer
 * @node: as fi_getinfo()
 * @service: as fi_getinfo()
 * @flags: as fi_getinfo()
 * @hints: hints for the lower provider, may be NULL; their prov_name is ignored,
 *	and fabric and domain, if any, are lower ones
 * @info: copies of the infos that fit, the caller's; prov_name is the lower provider's own
 *
 * For ->getinfo.  No other provider is asked, least of all the caller.  Each info that does
 * not fit becomes a reason of the query that has called ->getinfo.
 *
 * Context: may sleep, as fi_getinfo().
 * Return: as fi_getinfo().
 */
int kofi_lower_getinfo(u32 version, const char *prov_name, const char *node,
		       int service, u64 flags, const struct fi_info *hints,
		       struct fi_info **info);

/**
 * kofi_lower_fabric() - Open the fabric of the provider below
 * @attr: what ->fabric got; its prov_name names the lower provider, too
 * @fabric: the lower fabric
 * @context: kept in its fid.context
 * @upper: the provider that opens it
 *
 * Context: may sleep.
 * Return: as fi_fabric(); -EINVAL, too: there is no lower provider in the name.
 */
int kofi_lower_fabric(const struct fi_fabric_attr *attr,
		      struct fid_fabric **fabric, void *context,
		      const struct kofi_provider *upper);

/**
 * kofi_lower_close() - Close a lower object for good
 * @fid: an object of the provider below
 *
 * As fi_close(), for a caller that cannot undo anything if it fails, because it has closed
 * other objects before.  A failure is logged; the object stays open and keeps its provider.
 *
 * Context: may sleep.
 */
void kofi_lower_close(struct fid *fid);

/* Access rights that a region may have */
#define KOFI_MR_ACCESS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)

/* The check that is common to both kinds of attributes below */
static inline bool kofi_mr_attr_is_known(const struct fi_mr_attr *attr)
{
	return attr->type <= FI_BUF_SGL && attr->iface == FI_HMEM_SYSTEM &&
	       !(attr->access & ~KOFI_MR_ACCESS) && !attr->offset &&
	       (attr->auth_key || !attr->auth_key_size);
}

/**
 * kofi_mr_attr_is_empty() - Do the attributes describe a region without memory?
 * @attr: the attributes
 *
 * A region of an endpoint may be opened so, with the number of pages that will come.
 *
 * Context: any.
 * Return: whether they do.
 */
static inline bool kofi_mr_attr_is_empty(const struct fi_mr_attr *attr)
{
	/* All views of the list are pointers in one union */
	return !attr->mr_iov && !attr->iov_count && attr->page_limit &&
	       kofi_mr_attr_is_known(attr);
}

/**
 * kofi_mr_attr_is_valid() - Do the attributes of a region make sense?
 * @attr: the attributes
 *
 * This does not check the memory at the addresses, and nothing of a dma-buf.
 * Before fi_mr_regattr() calls a provider, it has checked that the attributes are valid or,
 * for a region of an endpoint, empty; and it has checked a dma-buf.  fi_mr_refresh() checks
 * nothing.
 *
 * Context: any.
 * Return: whether they do.
 */
static inline bool kofi_mr_attr_is_valid(const struct fi_mr_attr *attr)
{
	return attr->mr_iov && attr->iov_count && kofi_mr_attr_is_known(attr);
}

/**
 * kofi_parse_addr() - Convert a numeric address and a port to a socket address
 * @net: namespace for an IPv6 scope name
 * @node: IPv4 or IPv6 address, or NULL for the wildcard address of @family
 * @service: port, host byte order
 * @family: AF_INET, AF_INET6, or AF_UNSPEC for whatever @node is
 * @addr: the result
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: not a numeric address of that family, or a bad port; -EAFNOSUPPORT: an
 * IPv6 address, and the machine was booted without IPv6.
 */
int kofi_parse_addr(struct net *net, const char *node, int service, int family,
		    struct sockaddr_storage *addr);

/* Complete tables of -ENOSYS, and the single fillers for mixed tables */
extern const struct fi_ops		kofi_no_ops;
extern const struct fi_ops_fabric	kofi_no_ops_fabric;
extern const struct fi_ops_domain	kofi_no_ops_domain;
extern const struct fi_ops_mr		kofi_no_ops_mr;
extern const struct fi_ops_mr_ep	kofi_no_ops_mr_ep;
extern const struct fi_ops_ep		kofi_no_ops_ep;
extern const struct fi_ops_cm		kofi_no_ops_cm;
extern const struct fi_ops_xfer		kofi_no_ops_xfer;
extern const struct fi_ops_eq		kofi_no_ops_eq;
extern const struct fi_ops_cq		kofi_no_ops_cq;
extern const struct fi_ops_cntr		kofi_no_ops_cntr;
extern const struct fi_ops_av		kofi_no_ops_av;

int fi_no_bind(struct fid *fid, struct fid *bfid, u64 flags);
int fi_no_control(struct fid *fid, int command, void *arg);
int fi_no_ops_open(struct fid *fid, const char *name, u64 flags, void **ops,
		   void *context);
int fi_no_tostr(const struct fid *fid, char *buf, size_t len);
int fi_no_ops_set(struct fid *fid, const char *name, u64 flags, void *ops,
		  void *context);

int fi_no_domain(struct fid_fabric *fabric, struct fi_info *info,
		 struct fid_domain **domain, void *context);
int fi_no_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_pep **pep, void *context);
int fi_no_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **eq, void *context);

int fi_no_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		  struct fid_av **av, void *context);
int fi_no_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context);
int fi_no_endpoint(struct fid_domain *domain, struct fi_info *info,
		   struct fid_ep **ep, void *context);
int fi_no_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		      struct fid_ep **sep, void *context);
int fi_no_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		    struct fid_cntr **cntr, void *context);
int fi_no_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		  struct fid_stx **stx, void *context);
int fi_no_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context);
int fi_no_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr, u64 flags);
struct device *fi_no_dma_device(struct fid_domain *domain);

ssize_t fi_no_cancel(fid_t fid, void *context);
int fi_no_getopt(fid_t fid, int level, int optname, void *optval,
		 size_t *optlen);
int fi_no_setopt(fid_t fid, int level, int optname, const void *optval,
		 size_t optlen);
int fi_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		 struct fid_ep **tx_ep, void *context);
int fi_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		 struct fid_ep **rx_ep, void *context);
ssize_t fi_no_size_left(struct fid_ep *ep);
int fi_no_drain(struct fid_ep *ep, int timeout);

/*
 * Ready-made slots of a table of data transfers: each describes its call and hands the
 * description to ->post of the same table, as fi_sendmsg() and the like do
 */
ssize_t kofi_xfer_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
		       fi_addr_t dest_addr, void *context);
ssize_t kofi_xfer_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, void *context);
ssize_t kofi_xfer_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, u64 addr, u64 key, void *context);
ssize_t kofi_xfer_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, u64 addr, u64 key, void *context);

ssize_t fi_no_post(struct fid_ep *ep, const struct fi_xfer *xfer);
int fi_no_atomicvalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op, u64 form,
		      size_t *count);

int fi_no_setname(fid_t fid, void *addr, size_t addrlen);
int fi_no_getname(fid_t fid, void *addr, size_t *addrlen);
int fi_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);
int fi_no_connect(struct fid_ep *ep, const void *addr, const void *param,
		  size_t paramlen);
int fi_no_listen(struct fid_pep *pep);
int fi_no_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int fi_no_reject(struct fid_pep *pep, fid_t handle, const void *param,
		 size_t paramlen);
int fi_no_shutdown(struct fid_ep *ep, u64 flags);
int fi_no_join(struct fid_ep *ep, const void *addr, u64 flags,
	       struct fid_mc **mc, void *context);

int fi_no_av_insert_auth_key(struct fid_av *av, const void *auth_key,
			     size_t auth_key_size, fi_addr_t *fi_addr,
			     u64 flags);
int fi_no_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr,
			     void *auth_key, size_t *auth_key_size);

#endif /* _KOFI_PROVIDER_H */
