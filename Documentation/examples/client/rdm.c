// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests and responses without a connection: an endpoint of type FI_EP_RDM at each end, and a
 * tag for each request.  The transmit queue fills up, the server goes away, and comes back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <rdma/fi_ep_set.h>
#include <rdma/fi_tagged.h>
#include "guide.h"

#define REQUESTS	600	/* more than the queues have room for */
#define RESPONSE_MS	1000	/* as long as the client waits for a response */
#define ANY_TAG		(~0ULL)	/* as the bits of a tag that do not matter */

struct request {
	struct op	recv;	/* of the response */
	struct op	sent;
	u64		in;
	u64		out;
};

struct server {
	struct end	end;
	struct fi_done	recv;
	struct fi_done	sent;
	u64		value;
	u64		tag;
	bool		respond;	/* a request has come and has no response yet */
};

struct rdm {
	struct fid_fabric	*fabric;
	struct sockaddr_storage	name;	/* of the server */
	struct server		server;
	struct end		client;
	struct request		*requests;
};

/* guide: rdm find */
/* @name: where the endpoint is to be; NULL: anywhere */
static int rdm_find(const char *prov, const char *node, const struct sockaddr_storage *name,
		    struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret = -ENOMEM;

	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_TAGGED;
	hints->ep_attr->type = FI_EP_RDM;
	if (name) {
		hints->src_addr = kmemdup(name, sizeof(*name), GFP_KERNEL);
		hints->src_addrlen = sizeof(*name);
		if (!hints->src_addr)
			goto out;
		node = NULL;
	}
	if (prov) {
		hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
		if (!hints->fabric_attr->prov_name)
			goto out;
	}
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, 0,
			 node ? FI_SOURCE : 0, hints, info);
out:
	fi_freeinfo(hints);
	return ret;
}

/* guide: rdm open */
/* @end owns @info from now on; end_close() closes what is open, also after an error */
static int rdm_open(struct end *end, struct fid_fabric *fabric, struct fi_info *info,
		    const struct fi_ep_callbacks *callbacks)
{
	static const struct fi_cq_attr cq_attr = {
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= FI_COMP_WORKQUEUE,
	};
	struct fi_ep_set set = { .fabric = fabric };
	int ret;

	end->info = info;
	end->wait_obj = cq_attr.wait_obj;
	init_completion(&end->ready);
	/* Domain, completion queue, address vector and endpoint */
	ret = fi_ep_set_open(&set, info, &cq_attr, end);
	if (ret)
		return ret;
	end->domain = set.domain;
	end->cq = set.cq;
	end->av = set.av;
	end->ep = set.ep;
	ret = fi_setopt(&end->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, callbacks,
			sizeof(*callbacks));
	if (ret)
		return ret;
	return fi_enable(end->ep);
}

/* guide: rdm names */
/* In real life the name comes by configuration, or over another connection */
static int rdm_insert(struct end *end, struct end *peer, struct sockaddr_storage *name)
{
	size_t len = sizeof(*name);
	int ret;

	ret = fi_getname(&peer->ep->fid, name, &len);
	if (ret)
		return ret;
	ret = fi_av_insert(end->av, name, 1, &end->peer, 0, NULL);
	if (ret < 0)
		return ret;
	return ret == 1 ? 0 : -EADDRNOTAVAIL;
}

/* guide: rdm server */
/*
 * Do what comes next: post the receive for a request, or send the response.  One of the two
 * is in flight, or -EAGAIN has come.  Callbacks of one queue never run at the same time, so
 * there is no lock.
 */
static void server_step(struct server *s)
{
	struct end *end = &s->end;
	ssize_t ret;

	if (s->respond)
		ret = fi_tsend(end->ep, &s->value, sizeof(s->value), NULL, end->peer, s->tag,
			       &s->sent);
	else
		ret = fi_trecv(end->ep, &s->value, sizeof(s->value), NULL, FI_ADDR_UNSPEC, 0,
			       ANY_TAG, &s->recv);
	/* After -EAGAIN the endpoint calls server_ready() */
	if (ret && ret != -EAGAIN && ret != -ESHUTDOWN)
		pr_err("server: %s\n", fi_strerror(ret));
}

static void server_ready(struct fid_ep *ep, u64 flags)
{
	server_step(container_of(ep->fid.context, struct server, end));
}

static void server_received(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct server *s = container_of(done, struct server, recv);

	if (entry->err)
		return;	/* ECANCELED: the endpoint is being closed */
	s->respond = true;
	s->tag = entry->msg->tag;
	s->value++;
	server_step(s);
}

/* A client that has gone is no reason to stop */
static void server_sent(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct server *s = container_of(done, struct server, sent);

	s->respond = false;
	if (entry->err != ECANCELED)
		server_step(s);
}

/* guide: rdm again */
static void client_ready(struct fid_ep *ep, u64 flags)
{
	struct end *end = ep->fid.context;

	complete(&end->ready);
}

/* Wait after -EAGAIN; the endpoint calls client_ready() once, even if nothing is in flight */
static int client_wait(struct end *end)
{
	end->again++;
	return wait_for_completion_timeout(&end->ready, msecs_to_jiffies(TIMEOUT_MS)) ?
	       0 : -ETIMEDOUT;
}

/* The tag is the number of the request, and its response has that tag, too */
static int request_post(struct end *end, struct request *req, u64 tag)
{
	int ret;

	op_init(&req->recv);
	op_init(&req->sent);
	req->out = tag;
	/* The receive first: the response must not come unexpected */
	for (;;) {
		ret = fi_trecv(end->ep, &req->in, sizeof(req->in), NULL, end->peer, tag, 0,
			       &req->recv);
		if (ret != -EAGAIN)
			break;
		ret = client_wait(end);
		if (ret)
			return ret;
	}
	if (ret)
		return ret;
	for (;;) {
		ret = fi_tsend(end->ep, &req->out, sizeof(req->out), NULL, end->peer, tag,
			       &req->sent);
		if (ret != -EAGAIN)
			break;
		ret = client_wait(end);
		if (ret)
			break;
	}
	if (ret)
		fi_cancel(&end->ep->fid, &req->recv);
	return ret;
}

/* guide: rdm dead */
/*
 * If the server has gone, the send fails.  If it has gone since the send completed, nothing
 * ends the receive but the client.
 */
static int request_await(struct end *end, struct request *req)
{
	int ret = op_await(end, &req->sent);

	if (ret || !wait_for_completion_timeout(&req->recv.over,
						msecs_to_jiffies(RESPONSE_MS))) {
		/* -ENOENT: the response has come just now */
		fi_cancel(&end->ep->fid, &req->recv);
		wait_for_completion(&req->recv.over);
	}
	if (req->recv.err)
		return ret ? : req->recv.err == ECANCELED ? -ETIMEDOUT : -req->recv.err;
	return req->in == req->out + 1 ? 0 : -EBADMSG;
}

/* guide: rdm end */
/* Many at a time: far more than there is room for */
static int client_burst(struct rdm *r)
{
	int ret, i;

	for (i = 0; i < REQUESTS; i++) {
		ret = request_post(&r->client, &r->requests[i], i);
		if (ret)
			return ret;
	}
	for (i = 0; i < REQUESTS; i++) {
		ret = request_await(&r->client, &r->requests[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int client_ask(struct rdm *r)
{
	int ret = request_post(&r->client, r->requests, 0);

	return ret ? : request_await(&r->client, r->requests);
}

static int server_open(struct rdm *r, struct fi_info *info)
{
	static const struct fi_ep_callbacks callbacks = { .ready = server_ready };
	struct sockaddr_storage name;
	int ret;

	r->server = (struct server) { .recv.done = server_received, .sent.done = server_sent };
	ret = rdm_open(&r->server.end, r->fabric, info, &callbacks);
	if (ret)
		return ret;
	ret = rdm_insert(&r->server.end, &r->client, &name);
	if (ret)
		return ret;
	ret = rdm_insert(&r->client, &r->server.end, &r->name);
	if (ret)
		return ret;
	server_step(&r->server);
	return 0;
}

static int rdm_steps(struct rdm *r, const char *prov, const char *node)
{
	static const struct fi_ep_callbacks callbacks = { .ready = client_ready };
	struct fi_info *info;
	int ret, tries;

	r->requests = kvcalloc(REQUESTS, sizeof(*r->requests), GFP_KERNEL);
	if (!r->requests)
		return -ENOMEM;
	ret = rdm_find(prov, node, NULL, &info);
	if (ret)
		return ret;
	ret = fi_fabric(info->fabric_attr, &r->fabric, NULL);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	ret = rdm_open(&r->client, r->fabric, info, &callbacks);
	if (ret)
		return ret;
	ret = rdm_find(prov, node, NULL, &info);
	if (ret)
		return ret;
	ret = server_open(r, info);
	if (ret)
		return ret;
	ret = client_burst(r);
	if (ret)
		return ret;
	pr_info("without a connection: %d responses, -EAGAIN %d times\n", REQUESTS,
		r->client.again);

	/* The server goes away */
	end_close(&r->server.end);
	r->server.end = (struct end) {};
	ret = client_ask(r);
	pr_info("without a server: %s\n", fi_strerror(ret));
	if (!ret)
		return -EBADMSG;

	/* It comes back, with the name that it had: there is nothing to connect */
	ret = rdm_find(prov, NULL, &r->name, &info);
	if (ret)
		return ret;
	ret = server_open(r, info);
	for (tries = 0; !ret && tries < 3; tries++) {
		if (!client_ask(r))
			return 0;
	}
	return ret ? : -ETIMEDOUT;
}

/* -ENODATA: the provider has no endpoints without connections */
int rdm_run(const char *prov, const char *node)
{
	struct rdm *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int ret;

	if (!r)
		return -ENOMEM;
	ret = rdm_steps(r, prov, node);
	end_close(&r->client);
	end_close(&r->server.end);
	if (r->fabric)
		fi_close(&r->fabric->fid);
	kvfree(r->requests);
	kfree(r);
	return ret;
}
