// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Data both ways: messages, and the memory of a peer with each grade of registration.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "guide.h"

#define QUESTION	"what is in the server's memory"
#define ANSWER		"what the client has put there"

/* guide: message */
/* Nothing is registered: a buffer belongs to the provider until its operation is over */
static int end_send(struct end *end)
{
	int ret;

	op_init(&end->op);
	ret = fi_send(end->ep, end->out, sizeof(*end->out), NULL, 0, &end->op);
	return ret ? : op_await(end, &end->op);
}

/* Waits for the message, and posts the receive for the next one */
static int end_recv(struct end *end, struct place *place)
{
	int ret = op_await(end, &end->recv);

	if (ret)
		return ret;
	*place = *end->in;
	op_init(&end->recv);
	return fi_recv(end->ep, end->in, sizeof(*end->in), NULL, 0, &end->recv);
}

int data_messages(struct guide *g)
{
	struct place place;
	int ret;

	*g->client.out = (struct place) { .addr = 1, .key = 2 };
	ret = end_send(&g->client);
	if (!ret)
		ret = end_recv(&g->server, &place);
	if (ret)
		return ret;
	*g->server.out = (struct place) { .addr = place.key, .key = place.addr };
	ret = end_send(&g->server);
	if (!ret)
		ret = end_recv(&g->client, &place);
	if (ret)
		return ret;
	return place.addr == 2 && place.key == 1 ? 0 : -EBADMSG;
}

/* guide: access */
/* The client reads what is at @place, and puts something else there */
static int client_access(struct guide *g, const struct place *place)
{
	struct end *end = &g->client;
	int ret;

	op_init(&end->op);
	ret = fi_read(end->ep, g->buf, LEN, NULL, 0, place->addr, place->key, &end->op);
	if (!ret)
		ret = op_await(end, &end->op);
	if (ret)
		return ret;
	if (strncmp(g->buf, QUESTION, LEN))
		return -EBADMSG;
	strscpy(g->buf, ANSWER, LEN);
	op_init(&end->op);
	ret = fi_write(end->ep, g->buf, LEN, NULL, 0, place->addr, place->key, &end->op);
	return ret ? : op_await(end, &end->op);
}

/* The server tells where its memory is; then the client answers that it is done */
static int access_and_answer(struct guide *g)
{
	struct place place;
	int ret;

	ret = end_recv(&g->client, &place);
	if (!ret)
		ret = client_access(g, &place);
	if (!ret)
		ret = end_send(&g->client);
	if (!ret)
		ret = end_recv(&g->server, &place);
	if (ret)
		return ret;
	return strncmp(g->memory, ANSWER, LEN) ? -EBADMSG : 0;
}

/* guide: persistent */
int data_persistent(struct guide *g)
{
	struct end *end = &g->server;
	int ret;

	strscpy(g->memory, QUESTION, LEN);
	/* Where the provider does not choose keys, the client does: 1 */
	ret = fi_mr_reg(end->domain, g->memory, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
			1, 0, &g->mr, NULL);
	if (ret)
		return ret;
	end->out->addr = fi_mr_addr(g->mr);
	end->out->key = fi_mr_key(g->mr);
	ret = end_send(end);
	if (!ret)
		ret = access_and_answer(g);
	/* The key is dead and the memory the client's when this has returned */
	fi_close(&g->mr->fid);
	g->mr = NULL;
	return ret;
}

/* guide: per io */
int data_per_io(struct guide *g)
{
	struct kvec iov = { g->memory, LEN };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	struct end *end = &g->server;
	int ret, i;

	/* Once for each request that may be in flight */
	ret = fi_mr_regattr(end->domain, &attr, FI_MR_ENDPOINT, &g->mr);
	if (!ret)
		ret = fi_mr_bind(g->mr, &end->ep->fid, 0);

	/* For each request, from any context; nothing is allocated */
	for (i = 0; i < 3 && !ret; i++) {
		strscpy(g->memory, QUESTION, LEN);
		if (i)
			ret = fi_mr_refresh(g->mr, &attr, 0);
		if (!ret)
			ret = fi_mr_enable(g->mr);
		if (ret)
			break;
		end->out->addr = fi_mr_addr(g->mr);
		end->out->key = fi_mr_key(g->mr);
		ret = end_send(end);
		if (!ret)
			ret = access_and_answer(g);
		if (ret)
			break;
		op_init(&end->disable);
		ret = fi_mr_disable(g->mr, 0, &end->disable);
		if (!ret)
			ret = op_await(end, &end->disable);
	}
	return ret;
}

/* guide: end */
