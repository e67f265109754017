// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects, addresses and connections, and the TCP connection beside them.
 */
#include "peer.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FABRIC_PORT	"9228"
#define OOB_PORT	"3000"
#define MR_KEY		0xC0DE
#define AREA_ALIGN	64

static size_t align(size_t len)
{
	return (len + AREA_ALIGN - 1) / AREA_ALIGN * AREA_ALIGN;
}

static bool wants_rma(void)
{
	return opt.test->caps & FI_RMA || opt.op == OP_WRITEDATA;
}

static struct addrinfo *resolve(const char *node, const char *port, int flags)
{
	struct addrinfo hints = { .ai_flags = flags, .ai_socktype = SOCK_STREAM }, *list;

	if (getaddrinfo(node, port, &hints, &list))
		die("no address: %s %s", node ? node : "", port);
	return list;
}

static void oob_setup(void)
{
	int one = 1;

	setsockopt(peer.sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* This end's address of the TCP connection */
static void oob_local(char *node, size_t len)
{
	struct sockaddr_storage addr;
	socklen_t addrlen = sizeof(addr);

	if (getsockname(peer.sock, (struct sockaddr *)&addr, &addrlen) ||
	    getnameinfo((struct sockaddr *)&addr, addrlen, node, len, NULL, 0, NI_NUMERICHOST))
		die("out of band: no address");
}

void oob_listen(const char *port)
{
	struct addrinfo *list = resolve(opt.source, port, AI_PASSIVE);
	int listener = socket(list->ai_family, SOCK_STREAM, 0), one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, list->ai_addr, list->ai_addrlen) || listen(listener, 1))
		die("cannot listen on port %s", port);
	printf("listening\n");
	fflush(stdout);
	peer.sock = accept(listener, NULL, NULL);
	if (peer.sock < 0)
		die("nobody connects to port %s", port);
	close(listener);
	freeaddrinfo(list);
	oob_setup();
}

void oob_connect(const char *port)
{
	struct addrinfo *list = resolve(opt.server, port, 0);

	peer.sock = socket(list->ai_family, SOCK_STREAM, 0);
	if (connect(peer.sock, list->ai_addr, list->ai_addrlen))
		die("cannot connect to port %s", port);
	freeaddrinfo(list);
	oob_setup();
}

void oob_send(const void *buf, size_t len)
{
	if (send(peer.sock, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("out of band: cannot send");
}

void oob_recv(void *buf, size_t len)
{
	if (recv(peer.sock, buf, len, MSG_WAITALL) != (ssize_t)len)
		die("out of band: cannot receive");
}

void oob_status(void)
{
	int status = 0;

	if (opt.server)
		oob_send(&status, sizeof(status));
	oob_recv(&status, sizeof(status));
	if (status)
		die("out of band: the other end says %d", status);
	if (!opt.server)
		oob_send(&status, sizeof(status));
}

void find(const char *node, const char *service, uint64_t flags, struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		die("no memory");
	hints->caps = opt.test->caps | (wants_rma() ? FI_RMA : 0);
	if (opt.test->run == run_unexpected)
		hints->caps |= FI_DIRECTED_RECV;
	hints->mode = FI_CONTEXT | FI_RX_CQ_DATA;
	hints->ep_attr->type = opt.type;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	if (opt.op == OP_WRITEDATA || opt.op == OP_SENDDATA)
		hints->domain_attr->cq_data_size = 4;
	/* A write must be in its place before it is checked; over verbs the sync guarantees this */
	if (opt.verify && opt.test->caps & FI_RMA && opt.op != OP_WRITEDATA &&
	    strcmp(opt.provider, "verbs"))
		hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = strdup(opt.provider);
	check_ret(fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints, info), "fi_getinfo");
	fi_freeinfo(hints);
}

void open_fabric(struct fi_info *info)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	check_ret(fi_fabric(info->fabric_attr, &peer.fabric, NULL), "fi_fabric");
	if (opt.type == FI_EP_MSG)
		check_ret(fi_eq_open(peer.fabric, &attr, &peer.eq, NULL), "fi_eq_open");
}

void listen_fabric(void)
{
	find(opt.source, FABRIC_PORT, FI_SOURCE, &peer.pep_info);
	open_fabric(peer.pep_info);
	check_ret(fi_passive_ep(peer.fabric, peer.pep_info, &peer.pep, NULL), "fi_passive_ep");
	check_ret(fi_pep_bind(peer.pep, &peer.eq->fid, 0), "fi_pep_bind");
	check_ret(fi_listen(peer.pep), "fi_listen");
}

size_t wait_event(uint32_t event, void *entry, size_t len)
{
	struct fi_eq_err_entry error = { 0 };
	uint32_t got;
	long ret = fi_eq_sread(peer.eq, &got, entry, len, WAIT_MS, 0);

	if (ret == -FI_EAVAIL && fi_eq_readerr(peer.eq, &error, 0) > 0)
		die("instead of event %u: %s", event, fi_strerror(error.err));
	check_ret(ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret, "wait for an event");
	if (got != event)
		die("event %u instead of %u", got, event);
	return ret;
}

/* Allocate one area for everything; register it for RMA, or if FI_MR_LOCAL demands it */
static void register_area(void)
{
	uint64_t access = FI_SEND | FI_RECV;
	size_t size;

	peer.depth = 3 + (opt.test->windowed ? opt.window : opt.messages);
	peer.room = opt.size > CTRL_BYTES ? opt.size : CTRL_BYTES;
	peer.half = align(peer.room * opt.window + ACK_BYTES);
	size = 2 * (peer.half + peer.depth * peer.room);
	peer.area = calloc(1, size);
	if (!peer.area)
		die("no memory");
	peer.rx = peer.area + 2 * peer.half;
	peer.tx = peer.rx + peer.depth * peer.room;
	if (wants_rma())
		access |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	else if (!(peer.info->domain_attr->mr_mode & FI_MR_LOCAL))
		return;
	check_ret(fi_mr_reg(peer.domain, peer.area, size, access, 0, MR_KEY, 0, &peer.mr, NULL),
		  "fi_mr_reg");
	peer.desc = fi_mr_desc(peer.mr);
}

void open_domain(void)
{
	check_ret(fi_domain(peer.fabric, peer.info, &peer.domain, NULL), "fi_domain");
	if (!opt.test->alone)
		register_area();
}

void open_ep(void)
{
	struct fi_cq_attr cq_attr = {
		.size = peer.info->tx_attr->size + peer.info->rx_attr->size,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_UNSPEC,
	};
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	check_ret(fi_cq_open(peer.domain, &cq_attr, &peer.cq, NULL), "fi_cq_open");
	check_ret(fi_endpoint(peer.domain, peer.info, &peer.ep, NULL), "fi_endpoint");
	if (opt.type == FI_EP_MSG) {
		check_ret(fi_ep_bind(peer.ep, &peer.eq->fid, 0), "bind the event queue");
	} else {
		check_ret(fi_av_open(peer.domain, &av_attr, &peer.av, NULL), "fi_av_open");
		check_ret(fi_ep_bind(peer.ep, &peer.av->fid, 0), "bind the address vector");
	}
	check_ret(fi_ep_bind(peer.ep, &peer.cq->fid, FI_TRANSMIT | FI_RECV), "bind the queue");
	check_ret(fi_enable(peer.ep), "fi_enable");
	peer.addr = FI_ADDR_UNSPEC;
	if (!opt.test->unposted)
		post_rx();
}

static void close_fid(struct fid *fid, const char *what)
{
	check_ret(fi_close(fid), what);
}

void close_ep(void)
{
	close_fid(&peer.ep->fid, "close the endpoint");
	close_fid(&peer.cq->fid, "close the queue");
	if (peer.av)
		close_fid(&peer.av->fid, "close the address vector");
}

/* Close what the kernel's end must notice; the end of the process closes the rest */
void close_all(void)
{
	if (opt.type == FI_EP_MSG && !opt.test->alone)
		check_ret(fi_shutdown(peer.ep, 0), "fi_shutdown");
	if (peer.mr)
		close_fid(&peer.mr->fid, "close the region");
	if (peer.ep)
		close_ep();
	if (peer.sock >= 0)
		close(peer.sock);
}

static void connect_msg(void)
{
	struct fi_eq_cm_entry entry;

	if (opt.server) {
		find(opt.server, FABRIC_PORT, 0, &peer.info);
		open_fabric(peer.info);
		open_domain();
		open_ep();
		check_ret(fi_connect(peer.ep, peer.info->dest_addr, NULL, 0), "fi_connect");
	} else {
		listen_fabric();
		printf("listening\n");
		fflush(stdout);
		wait_event(FI_CONNREQ, &entry, sizeof(entry));
		peer.info = entry.info;
		open_domain();
		open_ep();
		check_ret(fi_accept(peer.ep, NULL, 0), "fi_accept");
	}
	wait_event(FI_CONNECTED, &entry, sizeof(entry));
}

void insert_peer(const void *name)
{
	if (fi_av_insert(peer.av, name, 1, &peer.addr, 0, NULL) != 1)
		die("fi_av_insert takes no name");
}

void exchange_names(void *name)
{
	size_t len = opt.script < SCRIPT(1, 18) ? 256 : CTRL_BYTES, used = len;

	check_ret(fi_getname(&peer.ep->fid, name, &used), "fi_getname");
	oob_send(name, len);
	oob_recv(name, len);
}

static void meet_in_band(void)
{
	struct fi_cq_data_entry entry;
	size_t len = CTRL_BYTES;

	if (opt.server) {
		insert_peer(peer.info->dest_addr);
		check_ret(fi_getname(&peer.ep->fid, tx_buf(), &len), "fi_getname");
		send_next(len, 0);
		receive(1, false);
		return;
	}
	printf("listening\n");
	fflush(stdout);
	take(&entry);
	insert_peer(entry.op_context);
	post_rx();
	send_next(1, 0);
}

static void connect_rdm(void)
{
	char name[CTRL_BYTES];

	if (opt.oob) {
		if (opt.server)
			oob_connect(OOB_PORT);
		else
			oob_listen(OOB_PORT);
		if (opt.server && opt.script >= SCRIPT(1, 22))
			oob_status();
		oob_local(name, sizeof(name));
		find(name, NULL, FI_SOURCE, &peer.info);
	} else if (opt.server) {
		find(opt.server, FABRIC_PORT, 0, &peer.info);
	} else {
		find(opt.source, FABRIC_PORT, FI_SOURCE, &peer.info);
	}
	open_fabric(peer.info);
	open_domain();
	open_ep();
	if (!opt.oob) {
		meet_in_band();
		return;
	}
	if (!opt.server && opt.script >= SCRIPT(1, 22))
		oob_status();
	if (opt.test->run == run_unexpected && opt.script >= SCRIPT(1, 19))
		return;
	exchange_names(name);
	insert_peer(name);
}

void meet(void)
{
	if (opt.type == FI_EP_MSG)
		connect_msg();
	else
		connect_rdm();
}
