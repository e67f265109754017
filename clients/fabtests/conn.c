// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How the two ends find each other.
 *
 *	with connections	the server listens on src= and port=, the client connects; neither
 *				has connection data
 *	without, in band	the server's name is its address and port.  The client's first
 *				message is its own name, the server answers with one byte
 *	without, out of band	both names go over TCP, each as the beginning of 1024 bytes (before
 *				fabtests 1.18: 256)
 *
 * Each end has its first receive posted before the peer can send.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fabtests.h"

/* Long enough for an IPv6 address with its interface */
#define FT_NODE_LEN	64

static const char ft_peer_todo[] = "look for an error at the peer";

static int ft_eq_error(struct ft_end *e, const char *what)
{
	struct fi_eq_err_entry entry = { };
	ssize_t ret = fi_eq_readerr(e->eq, &entry, 0);

	if (ret < 0)
		return ft_fail(e, ret, NULL, "%s: read the error", what);
	return ft_fail(e, -entry.err, "does the peer run?", "%s (%s)", what,
		       fi_eq_strerror(e->eq, entry.prov_errno, entry.err_data, NULL, 0));
}

/* Wait for the event @want.  Returns the bytes stored in @entry, which has room for @len */
ssize_t ft_wait_event(struct ft_end *e, u32 want, void *entry, size_t len, int timeout,
		      const char *what)
{
	struct fi_eq_cm_entry *cm = entry;
	ssize_t ret;
	u32 event;

	ret = fi_eq_sread(e->eq, &event, entry, len, timeout, 0);
	if (ret == -FI_EAVAIL)
		return ft_eq_error(e, what);
	if (ret < 0)
		return ft_fail(e, ret == -EAGAIN ? -ETIMEDOUT : ret, ft_peer_todo, "%s", what);
	if (event == want)
		return ret;
	if (event == FI_CONNREQ) {
		fi_reject(e->pep, cm->info->handle, NULL, 0);
		fi_freeinfo(cm->info);
	}
	return ft_fail(e, event == FI_SHUTDOWN ? -ECONNRESET : -EPROTO, ft_peer_todo,
		       "%s: event %u", what, event);
}

/*
 * In a test without a last message the server hangs up after its client, because the client's
 * operation may not be complete yet.
 */
int ft_await_hangup(struct ft_end *e)
{
	struct fi_eq_cm_entry entry;
	ssize_t ret;

	if (e->client || !e->connected)
		return 0;
	ret = ft_wait_event(e, FI_SHUTDOWN, &entry, sizeof(entry), FT_TIMEOUT_MS,
			    "wait until the client hangs up");
	return min_t(ssize_t, ret, 0);
}

static int ft_accept(struct ft_end *e)
{
	struct fi_eq_cm_entry entry;
	ssize_t ret;

	ret = ft_wait_event(e, FI_CONNREQ, &entry, sizeof(entry), -1, "wait for a client");
	if (ret < 0)
		return ret;
	e->info = entry.info;
	ret = ft_open_domain(e);
	if (!ret)
		ret = ft_open_ep(e);
	if (ret) {
		if (!e->ep)
			fi_reject(e->pep, e->info->handle, NULL, 0);
		return ret;
	}
	ret = fi_accept(e->ep, NULL, 0);
	if (ret)
		return ft_fail(e, ret, NULL, "accept the connection");
	ret = ft_wait_event(e, FI_CONNECTED, &entry, sizeof(entry), FT_TIMEOUT_MS,
			    "accept the connection");
	e->connected = ret >= 0;
	return min_t(ssize_t, ret, 0);
}

static int ft_msg_serve(struct ft_end *e)
{
	int ret;

	ret = ft_find(e, ft_params.src, ft_params.port, FI_SOURCE, &e->pep_info);
	if (!ret)
		ret = ft_open_fabric(e, e->pep_info);
	if (!ret)
		ret = ft_listen(e);
	if (ret)
		return ret;
	ft_set_state(e, FT_LISTENING);
	return ft_accept(e);
}

static int ft_msg_call(struct ft_end *e)
{
	struct fi_eq_cm_entry entry;
	ssize_t ret;

	ret = ft_find(e, ft_params.node, ft_params.port, 0, &e->info);
	if (!ret)
		ret = ft_open_fabric(e, e->info);
	if (!ret)
		ret = ft_open_domain(e);
	if (!ret)
		ret = ft_open_ep(e);
	if (ret)
		return ret;
	ret = fi_connect(e->ep, e->info->dest_addr, NULL, 0);
	if (ret)
		return ft_fail(e, ret, NULL, "connect to %s", ft_params.node);
	ret = ft_wait_event(e, FI_CONNECTED, &entry, sizeof(entry), FT_TIMEOUT_MS,
			    "connect to the server");
	e->connected = ret >= 0;
	return min_t(ssize_t, ret, 0);
}

/* Does the address vector take @name, which comes from the peer or from the info? */
static bool ft_name_ok(struct ft_end *e, const struct sockaddr_storage *name, size_t len)
{
	switch (e->info->addr_format) {
	case FI_SOCKADDR_IN:
		return len >= sizeof(struct sockaddr_in) && name->ss_family == AF_INET;
	case FI_SOCKADDR_IN6:
		return len >= sizeof(struct sockaddr_in6) && name->ss_family == AF_INET6;
	default:
		return false;
	}
}

/* Insert the peer; directed receives of the test are for this peer from now on */
int ft_know_peer(struct ft_end *e, const void *name, size_t len)
{
	struct sockaddr_storage addr = { };
	int ret;

	memcpy(&addr, name, min(len, sizeof(addr)));
	if (!ft_name_ok(e, &addr, len))
		return ft_fail(e, -EPROTO, "is the peer the same test, with such addresses?",
			       "take a name of family %u and %zu bytes", addr.ss_family, len);
	ret = fi_av_insert(e->av, &addr, 1, &e->peer, 0, NULL);
	if (ret != 1)
		return ft_fail(e, ret < 0 ? ret : -EINVAL, NULL, "insert the address %pISpc",
			       &addr);
	return 0;
}

static int ft_own_name(struct ft_end *e, void *name, size_t *len)
{
	int ret = fi_getname(&e->ep->fid, name, len);

	return ret ? ft_fail(e, ret, NULL, "get the own name") : 0;
}

/* Swap names out of band; @name has room for FT_CTRL_BYTES and receives the peer's name */
int ft_exchange_names(struct ft_end *e, void *name)
{
	bool old = ft_params.script < FT_SCRIPT_LONG_NAMES;
	size_t len = old ? FT_OLD_NAME_BYTES : FT_CTRL_BYTES, used = len;
	int ret;

	memset(name, 0, FT_CTRL_BYTES);
	ret = ft_own_name(e, name, &used);
	if (!ret)
		ret = ft_oob_send(e, name, len, "the name");
	return ret ?: ft_oob_recv(e, name, len, "the peer's name");
}

static int ft_meet_by_oob(struct ft_end *e)
{
	void *name = ft_tx_buf(e);
	int ret;

	/* That test begins before the ends know each other's names, and exchanges names itself */
	if (ft_params.test->run == ft_unexpected && ft_params.script >= FT_SCRIPT_UNKNOWN)
		return 0;
	ret = ft_exchange_names(e, name);
	return ret ?: ft_know_peer(e, name, FT_CTRL_BYTES);
}

static int ft_meet_in_band(struct ft_end *e)
{
	size_t len = FT_CTRL_BYTES;
	struct fi_cq_data_entry entry;
	int ret;

	if (e->client) {
		ret = ft_know_peer(e, e->info->dest_addr, e->info->dest_addrlen);
		if (!ret)
			ret = ft_own_name(e, ft_tx_buf(e), &len);
		if (!ret)
			ret = ft_tx(e, len, 0);
		return ret ?: ft_rx(e, 1, false);
	}
	ret = ft_await_rx(e, &entry, -1);
	if (!ret)
		ret = ft_know_peer(e, entry.op_context, entry.len);
	if (!ret)
		ret = ft_post_rx(e);
	return ret ?: ft_tx(e, 1, 0);
}

/* Names go out of band, so any port will do, at this end's address of the TCP connection */
static int ft_find_by_oob(struct ft_end *e)
{
	struct sockaddr_storage local;
	char node[FT_NODE_LEN];
	int ret;

	if (!e->client) {
		ret = ft_oob_listen(e);
		if (ret)
			return ret;
		ft_set_state(e, FT_LISTENING);
		ret = ft_oob_accept(e);
	} else {
		ret = ft_oob_connect(e);
		if (!ret && ft_params.script >= FT_SCRIPT_HELLO)
			ret = ft_oob_status(e);
	}
	if (!ret)
		ret = ft_oob_local(e, &local);
	if (ret)
		return ret;
	scnprintf(node, sizeof(node), "%pISc", &local);
	return ft_find(e, node, 0, FI_SOURCE, &e->info);
}

static int ft_rdm(struct ft_end *e)
{
	int ret;

	if (ft_params.oob)
		ret = ft_find_by_oob(e);
	else if (e->client)
		ret = ft_find(e, ft_params.node, ft_params.port, 0, &e->info);
	else
		ret = ft_find(e, ft_params.src, ft_params.port, FI_SOURCE, &e->info);
	if (!ret)
		ret = ft_open_fabric(e, e->info);
	if (!ret)
		ret = ft_open_domain(e);
	if (!ret)
		ret = ft_open_ep(e);
	if (ret)
		return ret;
	if (!ft_params.oob) {
		ft_set_state(e, FT_LISTENING);
		return ft_meet_in_band(e);
	}
	if (!e->client && ft_params.script >= FT_SCRIPT_HELLO)
		ret = ft_oob_status(e);
	return ret ?: ft_meet_by_oob(e);
}

int ft_connect(struct ft_end *e)
{
	int ret = ft_alloc_buffers(e);

	if (ret)
		return ret;
	e->peer = FI_ADDR_UNSPEC;
	if (ft_params.ep_type == FI_EP_RDM)
		return ft_rdm(e);
	return e->client ? ft_msg_call(e) : ft_msg_serve(e);
}
