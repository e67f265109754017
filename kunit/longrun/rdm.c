// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints without connections: how the two of a link find each other, and how they end.
 *
 * The server has an endpoint at its port, which hears of clients.  A client opens an endpoint and
 * sends a greeting there, with its own address.  The thread of the link opens an endpoint, too, and
 * sends from that one where its memory is, and its address.  From then on the two ends talk to each
 * other alone.
 *
 * A lost message of InfiniBand's connection manager may leave the connection below, of a client
 * that has gone, at the endpoint that hears of clients.  "pause" closes that endpoint, so that
 * memory can be compared, and "listen" opens it again.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kofi/addr.h>
#include "longrun.h"

#define LR_GREETINGS	32	/* receives for them */

/**
 * struct lr_greeting - What the client says first
 * @hello: as the data of a connection
 * @name: its address
 */
struct lr_greeting {
	struct lr_hello		hello;
	struct sockaddr_storage	name;
};

/**
 * struct lr_reply - What the server says first
 * @welcome: as the data of a connection
 * @name: its address
 */
struct lr_reply {
	struct lr_welcome	welcome;
	struct sockaddr_storage	name;
};

static struct tb_end lr_ear;
static struct lr_greeting *lr_greetings;

static int lr_rdm_name(struct lr_link *link, struct sockaddr_storage *name)
{
	size_t len = sizeof(*name);
	int ret = fi_getname(&link->ep->fid, name, &len);

	return ret ? lr_trouble(link, "get a name", ret, 0) : 0;
}

static int lr_rdm_insert(struct lr_link *link, const void *name, fi_addr_t *addr)
{
	int ret = fi_av_insert(link->av, name, 1, addr, 0, NULL);

	return ret == 1 ? 0 : lr_trouble(link, "insert an address", ret, 0);
}

static int lr_rdm_send(struct lr_link *link, struct lr_op *op, size_t len, fi_addr_t to)
{
	int ret = fi_send(link->ep, op->buf, len, NULL, to, op);

	if (ret)
		return lr_trouble(link, "send a greeting", ret, 0);
	lr_posted(link, op);
	return 0;
}

static int lr_rdm_greet(struct lr_link *link)
{
	struct lr_op *op = &link->tx[0];
	struct lr_greeting greeting = { .hello = link->hello };
	fi_addr_t server;
	int ret;

	ret = lr_rdm_name(link, &greeting.name) ? :
	      lr_rdm_insert(link, lr_info->dest_addr, &server);
	if (ret)
		return ret;
	memcpy(op->buf, &greeting, sizeof(greeting));
	return lr_rdm_send(link, op, sizeof(greeting), server);
}

static int lr_rdm_await_reply(struct lr_link *link)
{
	struct lr_arrival arrival;
	struct lr_reply reply;
	int ret;

	ret = lr_next(link, false, &arrival);
	if (ret)
		return ret;
	if (arrival.len != sizeof(reply))
		return lr_trouble(link, "read the reply", -EPROTO, 0);
	memcpy(&reply, arrival.op->buf, sizeof(reply));
	link->welcome = reply.welcome;
	return lr_rdm_insert(link, &reply.name, &link->peer) ? : lr_recv(link, arrival.op);
}

int lr_rdm_connect(struct lr_link *link)
{
	int ret;

	ret = lr_link_open(link, lr_info) ? : lr_recv_all(link) ? : lr_rdm_greet(link) ? :
	      lr_rdm_await_reply(link) ? : lr_settle(link);
	if (!ret)
		lr_stands(link);
	return ret;
}

/* The endpoint is open, and so is the memory */
int lr_rdm_accept(struct lr_link *link)
{
	struct lr_reply reply = { .welcome = link->welcome };
	struct lr_op *op = &link->tx[0];
	int ret;

	ret = lr_rdm_name(link, &reply.name) ? :
	      lr_rdm_insert(link, &link->name, &link->peer);
	if (ret)
		return ret;
	memcpy(op->buf, &reply, sizeof(reply));
	ret = lr_rdm_send(link, op, sizeof(reply), link->peer) ? : lr_settle(link);
	if (!ret)
		lr_stands(link);
	return ret;
}

/* The peer may have gone when this has arrived, so it does not matter how it completes */
static void lr_rdm_say_bye(struct lr_link *link)
{
	unsigned long until = lr_until();
	int prov_errno, ret;

	if (lr_rdm_send(link, &link->tx[0], 1, link->peer))
		return;
	while (lr_sending(link)) {
		ret = lr_take_any(link, &prov_errno);
		if (ret == -EAGAIN && (lr_stopped() || time_after(jiffies, until))) {
			lr_trouble(link, "say goodbye", -ETIMEDOUT, 0);
			return;
		}
	}
}

/*
 * All is done.  There is no event of the end of a peer, so the end that hangs up says so, and the
 * other end stays until then: what the first one has sent last can be acknowledged.
 */
void lr_rdm_hang_up(struct lr_link *link, bool ends)
{
	struct lr_arrival arrival;

	if (ends)
		lr_rdm_say_bye(link);
	else if (!lr_next(link, false, &arrival) && arrival.len != 1)
		lr_trouble(link, "hear a goodbye", -EPROTO, 0);
}

/* Takes all receives back, each of which has to complete */
void lr_rdm_take_back(struct lr_link *link)
{
	int i;

	for (i = 0; i < LR_DEPTH; i++)
		if (link->rx[i].out)
			fi_cancel(&link->ep->fid, &link->rx[i]);
	lr_drain(link);
}

static int lr_rdm_hear_at(struct lr_greeting *greeting)
{
	return fi_recv(lr_ear.ep, greeting, sizeof(*greeting), NULL, FI_ADDR_UNSPEC, greeting);
}

static int lr_rdm_open_ear(void)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_cq_attr attr = {
		.size		= LR_DEPTH + LR_GREETINGS,
		.format		= FI_CQ_FORMAT_MSG,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	struct fi_info *info = fi_dupinfo(lr_info);
	int i, ret;

	if (!info)
		return -ENOMEM;
	info->rx_attr->size = LR_GREETINGS;
	ret = fi_av_open(lr_bed.domain, &av_attr, &lr_ear.av, NULL);
	if (!ret)
		ret = fi_cq_open(lr_bed.domain, &attr, &lr_ear.tx, NULL);
	if (!ret)
		ret = tb_end_open(&lr_ear, lr_bed.domain, info);
	fi_freeinfo(info);
	for (i = 0; i < LR_GREETINGS && !ret; i++)
		ret = lr_rdm_hear_at(&lr_greetings[i]);
	return ret;
}

/* Opens what clients send greetings to; lr_rdm_unlisten() is due in any case */
int lr_rdm_listen(void)
{
	lr_greetings = kcalloc(LR_GREETINGS, sizeof(*lr_greetings), GFP_KERNEL);
	return lr_greetings ? lr_rdm_open_ear() : -ENOMEM;
}

void lr_rdm_unlisten(void)
{
	int ret = tb_end_close(&lr_ear);

	if (ret)
		lr_trouble(NULL, "close an object", ret, 0);
	kfree(lr_greetings);
	lr_greetings = NULL;
}

/* The endpoint of a link is at another port than that which hears of clients */
static void lr_rdm_hand_over(const struct lr_greeting *greeting)
{
	struct lr_link *link = lr_asked(&greeting->hello);
	struct fi_info *info;

	if (!link)
		return;
	info = fi_dupinfo(lr_info);
	if (!info) {
		lr_trouble(NULL, "copy an info", -ENOMEM, 0);
		return;
	}
	kofi_addr_set_port(info->src_addr, 0);
	link->asked_name = greeting->name;
	lr_ask(link, info);
}

int lr_rdm_listen_on(void *unused)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	while (!kthread_should_stop()) {
		ret = fi_cq_sread(lr_ear.tx, &entry, 1, NULL, LR_NAP_MS);
		if (ret == 1) {
			if (entry.len == sizeof(struct lr_greeting))
				lr_rdm_hand_over(entry.op_context);
			ret = lr_rdm_hear_at(entry.op_context);
		} else if (ret == -FI_EAVAIL && fi_cq_readerr(lr_ear.tx, &error, 0) == 1) {
			ret = -error.err;
		}
		if (ret && ret != -EAGAIN)
			lr_trouble(NULL, "hear of a client", ret, 0);
	}
	return 0;
}
