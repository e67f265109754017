// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A kOFI server that bad peers come to.
 *
 * All that a server does is done by one worker, which the handlers of its queues
 * start: it takes requests, echoes messages, and closes a connection that has ended
 * once all that was posted has ended, too.  So its connections need no lock.  A step
 * reads counters, or stops the worker for good before it closes what there is.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include "../lib/bed.h"
#include "hostile.h"

#define HOSTILE_SERVERS		2
#define HOSTILE_RECVS		4
/* Connections that there is room for in the completion queue */
#define HOSTILE_CONNS		16
/* Lengths of connection data that are remembered */
#define HOSTILE_LENGTHS		32

struct hostile_server_conn;

/* A receive, then the echo; @early: the message came before FI_CONNECTED */
struct hostile_server_op {
	struct hostile_server_conn	*conn;
	u8				*buf;
	size_t				len;
	bool				early;
};

struct hostile_server_conn {
	struct list_head		entry;
	struct fid_ep			*ep;
	struct hostile_server_op	op[HOSTILE_RECVS];
	int				posted;
	bool				connected;
	bool				ended;
};

static struct hostile_server {
	struct fi_info		*info;
	struct tb		bed;
	struct fid_cq		*cq;
	struct fid_mr		*mr;
	struct fid_mr		*read_only;
	u8			*region;
	struct hostile_offer	offer;
	struct work_struct	work;
	struct list_head	conns;
	int			connect_ms;
	bool			accept;
	bool			stopping;

	/* What "served" shows */
	int			requests;
	int			connected;
	int			not_taken;
	int			open;
	int			echoed;
	u8			length[HOSTILE_LENGTHS];
	struct hostile_tally	tally[HOSTILE_TALLIES];
} servers[HOSTILE_SERVERS];

static DECLARE_WAIT_QUEUE_HEAD(server_wait);

static void server_count(int *counter, int add)
{
	WRITE_ONCE(*counter, *counter + add);
	wake_up(&server_wait);
}

static struct hostile_server *server_of(const struct hostile_args *args)
{
	int n = hostile_number(args, 1, -1);

	return n >= 0 && n < HOSTILE_SERVERS ? &servers[n] : NULL;
}

static struct hostile_server *server_open(const struct hostile_args *args)
{
	struct hostile_server *server = server_of(args);

	return server && server->bed.fabric ? server : NULL;
}

static void server_conn_close(struct hostile_server *server, struct hostile_server_conn *conn)
{
	int i;

	list_del(&conn->entry);
	if (conn->ep)
		fi_close(&conn->ep->fid);
	for (i = 0; i < HOSTILE_RECVS; i++)
		kfree(conn->op[i].buf);
	kfree(conn);
	server_count(&server->open, -1);
}

static int server_conn_recv(struct hostile_server_op *op)
{
	int ret;

	ret = fi_recv(op->conn->ep, op->buf, HOSTILE_MSG, NULL, 0, op);
	if (!ret)
		op->conn->posted++;
	return ret;
}

static void server_conn_send(struct hostile_server_op *op)
{
	if (!fi_send(op->conn->ep, op->buf, op->len, NULL, 0, op))
		op->conn->posted++;
}

/* A peer may send as soon as it has been accepted, which we hear of later */
static void server_conn_connected(struct hostile_server_conn *conn)
{
	int i;

	conn->connected = true;
	for (i = 0; i < HOSTILE_RECVS; i++) {
		if (conn->op[i].early)
			server_conn_send(&conn->op[i]);
		conn->op[i].early = false;
	}
}

static int server_conn_open(struct hostile_server *server, struct hostile_server_conn *conn,
			    struct fi_info *info)
{
	struct tb_end end = { .eq = server->bed.eq, .tx = server->cq, .context = conn };
	int i, ret;

	ret = tb_end_open(&end, server->bed.domain, info);
	conn->ep = end.ep;
	for (i = 0; i < HOSTILE_RECVS && !ret; i++) {
		conn->op[i].conn = conn;
		conn->op[i].buf = kmalloc(HOSTILE_MSG, GFP_KERNEL);
		ret = conn->op[i].buf ? server_conn_recv(&conn->op[i]) :
					-ENOMEM;
	}
	if (!ret)
		ret = hostile_set_time(conn->ep, server->connect_ms);
	if (!ret)
		ret = fi_accept(conn->ep, &server->offer, sizeof(server->offer));
	return ret;
}

static void server_request(struct hostile_server *server,
			   struct fi_eq_cm_entry *entry, size_t data_len)
{
	struct hostile_server_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	int ret = -ENOMEM;

	if (server->requests < HOSTILE_LENGTHS)
		server->length[server->requests] = data_len;
	server_count(&server->requests, 1);
	if (conn) {
		list_add_tail(&conn->entry, &server->conns);
		server_count(&server->open, 1);
		ret = server_conn_open(server, conn, entry->info);
		if (ret)
			server_conn_close(server, conn);
	}
	if (ret) {
		hostile_tally(server->tally, "accept", -ret, 0, "not accepted");
		server_count(&server->not_taken, 1);
	}
	fi_freeinfo(entry->info);
}

static void server_event_error(struct hostile_server *server)
{
	struct fi_eq_err_entry error = { };
	struct hostile_server_conn *conn;

	if (fi_eq_readerr(server->bed.eq, &error, 0) <= 0)
		return;
	hostile_tally(server->tally, "connection", error.err, error.prov_errno,
		      fi_eq_strerror(server->bed.eq, error.prov_errno, NULL, NULL, 0));
	conn = error.context;
	if (conn)
		conn->ended = true;
}

/* False: there is none */
static bool server_event(struct hostile_server *server)
{
	struct {
		struct fi_eq_cm_entry	cm;
		u8			data[HOSTILE_DATA];
	} entry;
	struct hostile_server_conn *conn;
	ssize_t ret;
	u32 event;

	if (!READ_ONCE(server->accept))
		return false;
	ret = fi_eq_read(server->bed.eq, &event, &entry, sizeof(entry), 0);
	if (ret == -FI_EAVAIL) {
		server_event_error(server);
		return true;
	}
	if (ret < 0)
		return false;
	conn = entry.cm.fid->context;
	switch (event) {
	case FI_CONNREQ:
		server_request(server, &entry.cm, ret - sizeof(entry.cm));
		break;
	case FI_CONNECTED:
		server_conn_connected(conn);
		server_count(&server->connected, 1);
		break;
	case FI_SHUTDOWN:
		conn->ended = true;
		break;
	}
	return true;
}

/* What has come goes back, and the buffer receives again when it has gone */
static void server_echo(struct hostile_server *server, const struct fi_cq_msg_entry *entry)
{
	struct hostile_server_op *op = entry->op_context;

	op->conn->posted--;
	if (!(entry->flags & FI_RECV)) {
		server_count(&server->echoed, 1);
		server_conn_recv(op);
		return;
	}
	op->len = entry->len;
	op->early = !op->conn->connected;
	if (!op->early)
		server_conn_send(op);
}

static bool server_completion(struct hostile_server *server)
{
	struct fi_cq_err_entry error = { };
	struct hostile_server_op *op;
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	ret = fi_cq_read(server->cq, &entry, 1);
	if (ret == 1) {
		server_echo(server, &entry);
		return true;
	}
	if (ret != -FI_EAVAIL || fi_cq_readerr(server->cq, &error, 0) != 1)
		return false;
	hostile_tally(server->tally, error.flags & FI_RECV ? "receive" : "send", error.err,
		      error.prov_errno,
		      fi_cq_strerror(server->cq, error.prov_errno, NULL, NULL, 0));
	op = error.op_context;
	op->conn->posted--;
	return true;
}

static void server_reap(struct hostile_server *server)
{
	struct hostile_server_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &server->conns, entry)
		if (conn->ended && !conn->posted)
			server_conn_close(server, conn);
}

static void server_work(struct work_struct *work)
{
	struct hostile_server *server = container_of(work, struct hostile_server, work);

	do {
		if (READ_ONCE(server->stopping))
			return;
		while (server_event(server))
			;
		while (server_completion(server))
			;
		server_reap(server);
	} while (server_event(server));
}

static void server_eq_handler(struct fid_eq *eq, void *context)
{
	struct hostile_server *server = context;

	queue_work(system_long_wq, &server->work);
}

static void server_cq_handler(struct fid_cq *cq, void *context)
{
	struct hostile_server *server = context;

	queue_work(system_long_wq, &server->work);
}

/* A region, a key of it that is over, and one that is for reading only */
static int server_register(struct hostile_server *server)
{
	struct fid_mr *stale;
	u8 *half;
	int ret;

	server->region = kmalloc(2 * HOSTILE_REGION, GFP_KERNEL);
	if (!server->region)
		return -ENOMEM;
	memset(server->region, HOSTILE_FILL, 2 * HOSTILE_REGION);
	half = server->region + HOSTILE_REGION;
	ret = fi_mr_reg(server->bed.domain, half, HOSTILE_REGION,
			FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &stale, NULL);
	if (ret)
		return ret;
	server->offer.stale_key = cpu_to_be64(fi_mr_key(stale));
	fi_close(&stale->fid);
	ret = fi_mr_reg(server->bed.domain, half, HOSTILE_REGION, FI_REMOTE_READ, 0,
			0, 0, &server->read_only, NULL);
	if (ret)
		return ret;
	server->offer.read_only_addr = cpu_to_be64((uintptr_t)half);
	server->offer.read_only_key = cpu_to_be64(fi_mr_key(server->read_only));
	ret = fi_mr_reg(server->bed.domain, server->region, HOSTILE_REGION, FI_REMOTE_READ |
			FI_REMOTE_WRITE, 0, 0, 0, &server->mr, NULL);
	if (ret)
		return ret;
	server->offer.addr = cpu_to_be64((uintptr_t)server->region);
	server->offer.key = cpu_to_be64(fi_mr_key(server->mr));
	return 0;
}

static int server_start(struct hostile_server *server, int n, size_t eq_size)
{
	struct fi_eq_attr eq_attr = {
		.size		= eq_size,
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= server_eq_handler,
	};
	struct fi_cq_attr cq_attr = {
		.format		= FI_CQ_FORMAT_MSG,
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= FI_COMP_WORKQUEUE,
		.handler	= server_cq_handler,
	};
	int ret;

	ret = hostile_info(hostile_node(n), n, FI_SOURCE, &server->info);
	if (ret)
		return ret;
	cq_attr.size = HOSTILE_CONNS * (server->info->tx_attr->size + server->info->rx_attr->size);
	ret = tb_open(&server->bed, server->info, &eq_attr, server);
	if (!ret)
		ret = fi_cq_open(server->bed.domain, &cq_attr, &server->cq, server);
	if (!ret)
		ret = server_register(server);
	return ret ?: tb_listen(&server->bed, server->info);
}

int hostile_serve(const struct hostile_args *args)
{
	struct hostile_server *server = server_of(args);

	if (!server || server->info)
		return -EINVAL;
	INIT_WORK(&server->work, server_work);
	INIT_LIST_HEAD(&server->conns);
	server->accept = !strcmp(hostile_word(args, 2), "accept");
	server->connect_ms = hostile_number(args, 4, 0);
	return server_start(server, server - servers, hostile_number(args, 3, 0));
}

static void server_say_lengths(struct hostile_server *server)
{
	char text[8 * HOSTILE_LENGTHS] = "";
	int i, n = 0;

	for (i = 0; i < min(server->requests, HOSTILE_LENGTHS); i++)
		n += scnprintf(text + n, sizeof(text) - n, " %u", server->length[i]);
	hostile_say("lengths%s", text);
}

int hostile_served(const struct hostile_args *args)
{
	struct hostile_server *server = server_open(args);

	if (!server)
		return -EINVAL;
	hostile_say("requests %d", READ_ONCE(server->requests));
	hostile_say("connected %d", READ_ONCE(server->connected));
	hostile_say("not_taken %d", READ_ONCE(server->not_taken));
	hostile_say("open %d", READ_ONCE(server->open));
	hostile_say("echoed %d", READ_ONCE(server->echoed));
	server_say_lengths(server);
	hostile_say("region %s", memchr_inv(server->region, HOSTILE_FILL,
					    2 * HOSTILE_REGION) ?
		    "changed" : "intact");
	hostile_tally_say(server->tally);
	return 0;
}

int hostile_settle(const struct hostile_args *args)
{
	struct hostile_server *server = server_open(args);
	int open = hostile_number(args, 2, 0);
	ktime_t start = ktime_get();
	int ret = 0;

	if (!server)
		return -EINVAL;
	if (!wait_event_timeout(server_wait, READ_ONCE(server->open) == open,
				msecs_to_jiffies(2 * HOSTILE_PATIENCE_MS)))
		ret = -ETIMEDOUT;
	hostile_say("open %d", READ_ONCE(server->open));
	hostile_say("ms %lld", ktime_ms_delta(ktime_get(), start));
	return ret;
}

/* The worker leaves the event queue alone until it may accept */
int hostile_refuse(const struct hostile_args *args)
{
	struct hostile_server *server = server_open(args);
	int rejected = 0, gone = 0;
	struct fi_eq_cm_entry entry;
	u32 event;

	if (!server || server->accept)
		return -EINVAL;
	while (fi_eq_read(server->bed.eq, &event, &entry, sizeof(entry), 0) > 0) {
		if (event != FI_CONNREQ)
			continue;
		if (fi_reject(server->bed.pep, entry.info->handle, NULL, 0))
			gone++;
		else
			rejected++;
		fi_freeinfo(entry.info);
	}
	hostile_say("rejected %d", rejected);
	hostile_say("gone %d", gone);
	WRITE_ONCE(server->accept, true);
	queue_work(system_long_wq, &server->work);
	return 0;
}

static void server_close(struct hostile_server *server)
{
	struct hostile_server_conn *conn, *next;
	int ret = 0, failed;

	tb_close_one(&server->bed.pep, &ret);
	list_for_each_entry_safe(conn, next, &server->conns, entry)
		server_conn_close(server, conn);
	tb_close_one(&server->mr, &ret);
	tb_close_one(&server->read_only, &ret);
	tb_close_one(&server->cq, &ret);
	failed = tb_close(&server->bed);
	if (ret || failed)
		pr_err("kofi_hostile: cannot close an object: %d\n", ret ?: failed);
}

static void server_stop(struct hostile_server *server)
{
	if (!server->info)
		return;
	WRITE_ONCE(server->stopping, true);
	cancel_work_sync(&server->work);
	server_close(server);
	/* A handler may have been called meanwhile */
	cancel_work_sync(&server->work);
	kfree(server->region);
	fi_freeinfo(server->info);
	memset(server, 0, sizeof(*server));
}

int hostile_stop(const struct hostile_args *args)
{
	struct hostile_server *server = server_of(args);
	ktime_t start = ktime_get();

	if (!server)
		return -EINVAL;
	server_stop(server);
	hostile_say("ms %lld", ktime_ms_delta(ktime_get(), start));
	return 0;
}

void hostile_serve_end(void)
{
	int i;

	for (i = 0; i < HOSTILE_SERVERS; i++)
		server_stop(&servers[i]);
}
