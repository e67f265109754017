// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fabric's side of a connection: find an fi_info, open the objects, connect,
 * and close the objects again.
 *
 *	server	fabric, eq, passive endpoint; send its name over the control
 *		channel; FI_CONNREQ; domain, queues, endpoint; accept
 *	client	take the name from the control channel; fabric, eq, domain,
 *		queues, endpoint; connect
 *
 * Endpoints without connections (ep=rdm): the server sends its name, then the client
 * sends its own, and each side inserts its peer's name into its address vector.
 *
 * Both sides post their first receive before the connection can be established, so
 * the peer's first message finds room.
 *
 * A step that fails closes nothing.  pp_fabric_close() closes the objects that it
 * finds in struct pp_role, children before parents.
 *
 * Locking: none; everything here belongs to the role's thread.  The handler of
 * a completion queue touches nothing but its struct pp_queue.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pingpong.h"

#define PP_API	FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

/* How often the server looks at the control channel while it waits for a request */
#define PP_LOOK_MS	200

/* Long enough for an IPv6 address */
#define PP_NODE_LEN	48

static const char *pp_no_device(int err)
{
	if (err != -ENODATA)
		return NULL;
	return "is the provider there, and has a device of it that address (see rdma link)?";
}

static struct fi_info *pp_hints(void)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG;
	hints->ep_attr->type = pp_params.ep_type;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->fabric_attr->net = pp_net;
	hints->fabric_attr->prov_name = kstrdup(pp_params.prov, GFP_KERNEL);
	if (!hints->fabric_attr->prov_name)
		goto err;
	if (!pp_params.domain)
		return hints;
	hints->domain_attr->name = kstrdup(pp_params.domain, GFP_KERNEL);
	if (!hints->domain_attr->name)
		goto err;
	return hints;

err:
	fi_freeinfo(hints);
	return NULL;
}

/* Find where a server may listen.  @node NULL: at any address. */
static int pp_find_local(const char *node, struct fi_info **info)
{
	struct fi_info *hints = pp_hints();
	int ret;

	if (!hints)
		return -ENOMEM;
	ret = fi_getinfo(PP_API, node, 0, node ? FI_SOURCE : 0, hints, info);
	fi_freeinfo(hints);
	return ret;
}

/* Find an fi_info that leads to the peer at @addr. */
static int pp_find_peer(u32 format, const struct sockaddr_storage *addr,
			size_t len, struct fi_info **info)
{
	struct fi_info *hints = pp_hints();
	int ret = -ENOMEM;

	if (!hints)
		return -ENOMEM;
	hints->addr_format = format;
	hints->dest_addr = kmemdup(addr, len, GFP_KERNEL);
	hints->dest_addrlen = len;
	if (hints->dest_addr)
		ret = fi_getinfo(PP_API, NULL, 0, 0, hints, info);
	fi_freeinfo(hints);
	return ret;
}

/* Check, before a client connects, that the server role can work at all. */
int pp_fabric_probe(struct pp_role *r)
{
	int ret = pp_find_local(pp_params.node, &r->pep_info);

	if (ret)
		return pp_fail(r, ret, pp_no_device(ret),
			       "find a fabric of provider %s at %s",
			       pp_params.prov, pp_params.node ?: "any address");
	return 0;
}

/*
 * Without addr=, the address that the client's control connection came to is
 * the best guess for the fabric, if there is a device that has it.
 */
static void pp_prefer(struct pp_role *r, const struct sockaddr_storage *local)
{
	struct fi_info *info;
	char node[PP_NODE_LEN];

	if (pp_params.node)
		return;
	scnprintf(node, sizeof(node), "%pISc", local);
	if (pp_find_local(node, &info))
		return;
	fi_freeinfo(r->pep_info);
	r->pep_info = info;
}

static int pp_eq_error(struct pp_role *r, const char *what)
{
	struct fi_eq_err_entry entry = { };
	ssize_t ret = fi_eq_readerr(r->eq, &entry, 0);

	if (ret < 0)
		return pp_fail(r, ret, NULL, "%s: read the error", what);
	return pp_fail(r, -entry.err, "does the peer still run?", "%s (%s)",
		       what, fi_eq_strerror(r->eq, entry.prov_errno,
					    entry.err_data, NULL, 0));
}

/* Reject a second client, while the first one is served */
static void pp_turn_away(struct pp_role *r, struct fi_info *info)
{
	int ret = fi_reject(r->pep, info->handle, NULL, 0);

	if (ret)
		pr_warn("%s: cannot reject a second client: %d\n", r->name, ret);
	fi_freeinfo(info);
}

static int pp_wait_event(struct pp_role *r, u32 want,
			 struct fi_eq_cm_entry *entry, const char *what)
{
	ssize_t ret;
	u32 event;

	for (;;) {
		ret = fi_eq_sread(r->eq, &event, entry, sizeof(*entry),
				  PP_TIMEOUT_MS, 0);
		if (ret == -FI_EAVAIL)
			return pp_eq_error(r, what);
		if (ret < 0)
			return pp_fail(r, ret == -EAGAIN ? -ETIMEDOUT : ret,
				       "look for an error at the peer", "%s",
				       what);
		if (event == want)
			return 0;
		if (event != FI_CONNREQ)
			return pp_fail(r, event == FI_SHUTDOWN ? -ECONNRESET :
								 -EPROTO,
				       "look for an error at the peer",
				       "%s: event %u", what, event);
		pp_turn_away(r, entry->info);
	}
}

static int pp_open_fabric(struct pp_role *r, struct fi_info *info)
{
	int ret;

	ret = fi_fabric(info->fabric_attr, &r->fabric, r);
	if (ret)
		return pp_fail(r, ret, "was the provider unloaded?",
			       "open the fabric");
	ret = fi_eq_open(r->fabric, NULL, &r->eq, r);
	if (ret)
		return pp_fail(r, ret, NULL, "open the event queue");
	return 0;
}

static int pp_listen(struct pp_role *r)
{
	int ret;

	ret = fi_passive_ep(r->fabric, r->pep_info, &r->pep, r);
	if (ret)
		return pp_fail(r, ret, NULL, "open the passive endpoint");
	ret = fi_pep_bind(r->pep, &r->eq->fid, 0);
	if (ret)
		return pp_fail(r, ret, NULL, "bind the event queue");
	ret = fi_listen(r->pep);
	if (ret)
		return pp_fail(r, ret, NULL, "listen on the fabric");
	return 0;
}

static int pp_tell_name(struct pp_role *r, struct fid *fid, u32 format)
{
	struct sockaddr_storage name = { };
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(fid, &name, &len);
	if (ret)
		return pp_fail(r, ret, NULL, "get the fabric address");
	return pp_ctrl_send_name(r, format, &name, len);
}

static void pp_comp_handler(struct fid_cq *cq, void *context)
{
	struct pp_queue *q = context;

	complete(&q->event);
}

static int pp_open_cq(struct pp_role *r, struct pp_queue *q, const char *what,
		      size_t size)
{
	struct fi_cq_attr attr = {
		.size = size,
		.format = FI_CQ_FORMAT_MSG,
		.wait_obj = FI_WAIT_UNSPEC,
	};
	int ret;

	if (pp_params.cq == PP_CQ_POLL) {
		attr.wait_obj = FI_WAIT_NONE;
	} else if (pp_params.cq == PP_CQ_CALLBACK) {
		attr.wait_obj = FI_WAIT_CALLBACK;
		attr.comp_ctx = FI_COMP_SOFTIRQ;
		attr.handler = pp_comp_handler;
	}
	q->what = what;
	init_completion(&q->event);
	ret = fi_cq_open(r->domain, &attr, &q->cq, q);
	if (ret)
		return pp_fail(r, ret, NULL, "open the queue to %s", what);
	return 0;
}

static int pp_bind(struct pp_role *r)
{
	int ret;

	ret = fi_ep_bind(r->ep, r->av ? &r->av->fid : &r->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(r->ep, &r->tx.cq->fid, FI_TRANSMIT);
	if (!ret)
		ret = fi_ep_bind(r->ep, &r->rx.cq->fid, FI_RECV);
	if (ret)
		return pp_fail(r, ret, NULL, "bind the queues");
	return 0;
}

static int pp_open_av(struct pp_role *r)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	int ret;

	if (pp_params.ep_type == FI_EP_MSG)
		return 0;
	ret = fi_av_open(r->domain, &attr, &r->av, r);
	if (ret)
		return pp_fail(r, ret, NULL, "open the address vector");
	return 0;
}

/* Open the domain and all below it, and post the receive for the peer's first message. */
static int pp_open_ep(struct pp_role *r)
{
	int ret;

	ret = fi_domain(r->fabric, r->info, &r->domain, r);
	if (ret)
		return pp_fail(r, ret, NULL, "open the domain");
	ret = pp_plan(r);
	if (ret)
		return ret;
	ret = pp_open_cq(r, &r->tx, "send", r->info->tx_attr->size);
	if (ret)
		return ret;
	ret = pp_open_cq(r, &r->rx, "receive", r->info->rx_attr->size);
	if (ret)
		return ret;
	ret = pp_open_av(r);
	if (ret)
		return ret;
	ret = fi_endpoint(r->domain, r->info, &r->ep, r);
	if (ret)
		return pp_fail(r, ret, NULL, "open the endpoint");
	ret = pp_bind(r);
	if (ret)
		return ret;
	ret = fi_enable(r->ep);
	if (ret)
		return pp_fail(r, ret, NULL, "enable the endpoint");
	return pp_post_recv(r);
}

/*
 * Wait until the client requests a connection.  A client that was started for endpoints without
 * connections never does, and waits for the server.
 */
static int pp_await_request(struct pp_role *r)
{
	unsigned long end = jiffies + msecs_to_jiffies(PP_TIMEOUT_MS);
	struct fi_eq_cm_entry entry;
	u32 event;

	while (fi_eq_sread(r->eq, &event, &entry, sizeof(entry), PP_LOOK_MS, FI_PEEK) == -EAGAIN) {
		if (pp_ctrl_said(r))
			return pp_fail(r, -EPROTO,
				       "start fi_pingpong with -e msg, or load kofi_pingpong with ep=rdm",
				       "wait for a connection: the client has an endpoint without connections");
		if (time_after(jiffies, end))
			return pp_fail(r, -ETIMEDOUT, "look for an error at the peer",
				       "wait for a connection");
	}
	return 0;
}

static int pp_accept(struct pp_role *r)
{
	struct fi_eq_cm_entry entry;
	int ret;

	ret = pp_await_request(r);
	if (ret)
		return ret;
	ret = pp_wait_event(r, FI_CONNREQ, &entry, "wait for a connection");
	if (ret)
		return ret;
	r->info = entry.info;
	ret = pp_open_ep(r);
	if (ret) {
		if (!r->ep)
			fi_reject(r->pep, r->info->handle, NULL, 0);
		return ret;
	}
	ret = fi_accept(r->ep, NULL, 0);
	if (ret)
		return pp_fail(r, ret, NULL, "accept the connection");
	return pp_wait_event(r, FI_CONNECTED, &entry, "accept the connection");
}

/* The peer becomes address 0, which pingpong.c sends to */
static int pp_know(struct pp_role *r, const struct sockaddr_storage *peer)
{
	int ret = fi_av_insert(r->av, peer, 1, NULL, 0, NULL);

	if (ret != 1)
		return pp_fail(r, ret < 0 ? ret : -EINVAL, NULL, "insert the address %pISpc",
			       peer);
	return 0;
}

static int pp_rdm_serve(struct pp_role *r)
{
	struct sockaddr_storage peer;
	size_t len;
	u32 format;
	int ret;

	r->info = fi_dupinfo(r->pep_info);
	if (!r->info)
		return pp_fail(r, -ENOMEM, NULL, "copy what was found");
	ret = pp_open_fabric(r, r->info);
	if (!ret)
		ret = pp_open_ep(r);
	if (!ret)
		ret = pp_tell_name(r, &r->ep->fid, r->info->addr_format);
	if (!ret)
		ret = pp_ctrl_recv_name(r, &format, &peer, &len);
	return ret ? : pp_know(r, &peer);
}

int pp_fabric_serve(struct pp_role *r, const struct sockaddr_storage *local)
{
	int ret;

	pp_prefer(r, local);
	if (pp_params.ep_type == FI_EP_RDM)
		return pp_rdm_serve(r);
	ret = pp_open_fabric(r, r->pep_info);
	if (!ret)
		ret = pp_listen(r);
	if (!ret)
		ret = pp_tell_name(r, &r->pep->fid, r->pep_info->addr_format);
	if (!ret)
		ret = pp_accept(r);
	r->connected = !ret;
	return ret;
}

int pp_fabric_connect(struct pp_role *r)
{
	struct sockaddr_storage peer;
	struct fi_eq_cm_entry entry;
	size_t len;
	u32 format;
	int ret;

	ret = pp_ctrl_recv_name(r, &format, &peer, &len);
	if (ret)
		return ret;
	ret = pp_find_peer(format, &peer, len, &r->info);
	if (ret)
		return pp_fail(r, ret, pp_no_device(ret),
			       "find a fabric of provider %s to %pISpc",
			       pp_params.prov, &peer);
	ret = pp_open_fabric(r, r->info);
	if (ret)
		return ret;
	ret = pp_open_ep(r);
	if (ret)
		return ret;
	if (pp_params.ep_type == FI_EP_RDM) {
		ret = pp_tell_name(r, &r->ep->fid, r->info->addr_format);
		return ret ? : pp_know(r, &peer);
	}
	ret = fi_connect(r->ep, &peer, NULL, 0);
	if (ret)
		return pp_fail(r, ret, NULL, "connect to %pISpc", &peer);
	ret = pp_wait_event(r, FI_CONNECTED, &entry, "connect to the server");
	r->connected = !ret;
	return ret;
}

static void pp_close(struct pp_role *r, struct fid *fid, const char *what)
{
	int ret = fi_close(fid);

	if (ret)
		pp_fail(r, ret, "this is a bug in kOFI", "close the %s", what);
}

void pp_fabric_close(struct pp_role *r)
{
	int ret;

	if (r->connected) {
		ret = fi_shutdown(r->ep, 0);
		if (ret)
			pp_fail(r, ret, NULL, "shut the connection down");
	}
	if (r->ep)
		pp_close(r, &r->ep->fid, "endpoint");
	if (r->pep)
		pp_close(r, &r->pep->fid, "passive endpoint");
	if (r->av)
		pp_close(r, &r->av->fid, "address vector");
	if (r->rx.cq)
		pp_close(r, &r->rx.cq->fid, "receive queue");
	if (r->tx.cq)
		pp_close(r, &r->tx.cq->fid, "send queue");
	if (r->domain)
		pp_close(r, &r->domain->fid, "domain");
	if (r->eq)
		pp_close(r, &r->eq->fid, "event queue");
	if (r->fabric)
		pp_close(r, &r->fabric->fid, "fabric");
	fi_freeinfo(r->info);
	fi_freeinfo(r->pep_info);
	pp_buf_free(&r->tx_buf);
	pp_buf_free(&r->rx_buf);
}
