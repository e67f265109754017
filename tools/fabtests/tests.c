// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The tests.
 */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#define CM_PORT		"2710"
#define CM_MAX		1024
#define CQ_DATA_BYTES	1000
#define FIRST_TAG	0x1234
#define SLICE_MS	50

static const char hello[] = "Hello from Client!";

static bool windows(void)
{
	return opt.script >= SCRIPT(1, 19);
}

uint64_t cq_data_value(void)
{
	size_t bytes = peer.info->domain_attr->cq_data_size;
	uint64_t value = 0x0123456789abcdefULL;

	return bytes < 8 ? value & ((1ULL << 8 * bytes) - 1) : value;
}

/*
 * In a test without a last message the server hangs up after its client.  libfabric 1.17 sees
 * the end of a connection over tcp only while the program reads the completion queue.
 */
static void await_hangup(void)
{
	struct fi_cq_data_entry completion;
	struct fi_eq_cm_entry entry;
	uint32_t event;
	long ret = -FI_EAGAIN;
	int ms;

	if (opt.type != FI_EP_MSG)
		return;
	for (ms = 0; ms < WAIT_MS && ret == -FI_EAGAIN; ms += SLICE_MS) {
		fi_cq_sread(peer.cq, &completion, 1, NULL, SLICE_MS);
		ret = fi_eq_read(peer.eq, &event, &entry, sizeof(entry), 0);
	}
	check_ret(ret, "wait until the client hangs up");
	if (event != FI_SHUTDOWN)
		die("event %u instead of the end", event);
}

void run_greeting(void)
{
	struct fi_cq_data_entry entry;

	if (opt.server) {
		memcpy(tx_buf(), hello, sizeof(hello));
		send_next(sizeof(hello), 0);
		return;
	}
	take(&entry);
	if (entry.len != sizeof(hello) || memcmp(entry.op_context, hello, sizeof(hello)))
		die("no greeting");
	peer.checked++;
	await_hangup();
}

void run_pingpong(void)
{
	unsigned int i;

	sync_ends();
	for (i = 0; i < opt.warmup + opt.iterations; i++) {
		peer.active = i >= opt.warmup;
		if (opt.server)
			send_next(opt.size, 0);
		receive(opt.size, peer.active);
		if (!opt.server)
			send_next(opt.size, 0);
	}
	peer.active = false;
}

static void client_ack(void)
{
	await_tx();
	receive(ACK_BYTES, peer.active);
}

static void server_ack(void)
{
	struct fi_cq_data_entry entry;

	while (peer.rx_done < peer.rx_seq - 1) {
		take(&entry);
		if (entry.len != opt.size)
			die("a message of %zu bytes instead of %zu", entry.len, opt.size);
		if (opt.verify)
			verify(entry.op_context, opt.size, "message");
	}
	send_next(ACK_BYTES, 0);
}

void run_bw(void)
{
	void (*ack)(void) = opt.server ? client_ack : server_ack;
	unsigned int i, posted = 0;

	sync_ends();
	for (i = 0; i < opt.warmup + opt.iterations; i++) {
		peer.active = i >= opt.warmup;
		if (!opt.server) {
			post_rx();
		} else {
			if (opt.verify)
				fill(tx_buf(), opt.size);
			post_tx(tx_buf(), opt.size, 0, peer.tx_seq);
		}
		if (++posted == opt.window) {
			ack();
			posted = 0;
		}
	}
	ack();
	peer.active = false;
}

static void exchange_keys(void)
{
	struct fi_rma_iov *mine = (void *)tx_buf();
	struct fi_cq_data_entry entry;

	mine->addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)peer.area : 0;
	mine->len = 0;
	mine->key = fi_mr_key(peer.mr);
	send_next(sizeof(*mine), 0);
	take(&entry);
	if (entry.len != sizeof(peer.remote))
		die("a key of %zu bytes", entry.len);
	memcpy(&peer.remote, entry.op_context, sizeof(peer.remote));
	post_rx();
	sync_ends();
}

static void post_rma(size_t offset, size_t len)
{
	uint64_t there = peer.remote.addr + offset;
	char *target = peer.area + offset, *source = target + peer.half;
	long ret;

	for (;;) {
		if (opt.op == OP_READ)
			ret = fi_read(peer.ep, target, len, peer.desc, peer.addr,
				      there + (windows() ? peer.half : 0), peer.remote.key, target);
		else if (opt.op == OP_WRITEDATA)
			ret = fi_writedata(peer.ep, source, len, peer.desc, cq_data_value(),
					   peer.addr, there, peer.remote.key, source);
		else
			ret = fi_write(peer.ep, source, len, peer.desc, peer.addr, there,
				       peer.remote.key, source);
		if (ret != -FI_EAGAIN)
			break;
		progress();
	}
	check_ret(ret, "read or write");
	peer.tx_seq++;
}

static void check_window(unsigned int nr)
{
	if (!opt.verify || !nr)
		return;
	if (windows())
		verify(peer.area + ACK_BYTES, opt.size * nr, "window");
	else if (opt.op == OP_WRITEDATA)
		verify(peer.area, opt.size, "window");
}

static void rma_ack(unsigned int nr)
{
	struct fi_cq_data_entry entry;

	if (opt.op == OP_WRITEDATA && opt.server) {
		client_ack();
	} else if (opt.op == OP_WRITEDATA) {
		while (peer.rx_done < peer.rx_seq - 1) {
			take(&entry);
			if (!(entry.flags & FI_REMOTE_CQ_DATA) || entry.data != cq_data_value())
				die("a write with data %#lx", (unsigned long)entry.data);
		}
		check_window(nr);
		send_next(ACK_BYTES, 0);
	} else {
		await_tx();
		if (opt.verify && windows() && opt.op == OP_WRITE)
			sync_ends();
		check_window(nr);
	}
}

static void prepare_window(void)
{
	char *target = peer.area + ACK_BYTES;
	size_t len = opt.size * opt.window;

	if (!opt.verify || !opt.size)
		return;
	if (!windows()) {
		fill(peer.area + peer.half, opt.size);
		return;
	}
	fill(target + peer.half, len);
	fill(target + 1, len - 1);
	sync_ends();
}

/* The server of writedata expects one more write; a warm-up has messages the other way, too */
static void rma_step(unsigned int nth, bool extra)
{
	extra = extra && opt.op == OP_WRITEDATA && opt.script >= SCRIPT(2, 4);
	if (opt.op == OP_WRITEDATA && !opt.server) {
		if (peer.info->rx_attr->mode & FI_RX_CQ_DATA)
			post_rx();
		else
			peer.rx_seq++;
		if (extra)
			post_tx(tx_buf(), ACK_BYTES, 0, peer.tx_seq);
		return;
	}
	post_rma(windows() ? ACK_BYTES + opt.size * nth : 0, opt.size);
	if (extra)
		post_rx();
}

void run_rma_bw(void)
{
	unsigned int i, posted = 0;

	exchange_keys();
	sync_ends();
	for (i = 0; i < opt.warmup + opt.iterations; i++) {
		if (i == opt.warmup && opt.script >= SCRIPT(2, 4)) {
			rma_ack(posted);
			posted = 0;
		}
		peer.active = i >= opt.warmup;
		if (!posted)
			prepare_window();
		rma_step(posted, i < opt.warmup);
		if (++posted == opt.window) {
			rma_ack(posted);
			posted = 0;
		}
	}
	rma_ack(posted);
	peer.active = false;
}

void run_cq_data(void)
{
	struct fi_cq_data_entry entry;

	if (opt.op == OP_WRITEDATA)
		exchange_keys();
	if (opt.server) {
		if (opt.op == OP_WRITEDATA)
			post_rma(0, CQ_DATA_BYTES);
		else
			post_tx(tx_buf(), CQ_DATA_BYTES, FI_REMOTE_CQ_DATA, 0);
		await_tx();
		return;
	}
	take(&entry);
	if (!(entry.flags & FI_REMOTE_CQ_DATA) || entry.data != cq_data_value())
		die("CQ data %#lx, flags %#lx", (unsigned long)entry.data,
		    (unsigned long)entry.flags);
	/* tcp of libfabric before 1.18 reports no length of a write */
	if (entry.len != CQ_DATA_BYTES &&
	    (opt.op != OP_WRITEDATA || opt.script >= SCRIPT(1, 18)))
		die("CQ data with %zu bytes", entry.len);
	peer.checked++;
	await_hangup();
}

/* Connection data */
static struct {
	char mine[CM_MAX + 1];
	union {
		struct fi_eq_cm_entry entry;
		char room[sizeof(struct fi_eq_cm_entry) + CM_MAX];
	};
} cm;

static void cm_event(uint32_t event, size_t want, const char *what)
{
	size_t got = wait_event(event, cm.room, sizeof(cm.room)) - sizeof(cm.entry);

	if (got != want)
		die("%s: %zu bytes of data instead of %zu", what, got, want);
	verify(cm.entry.data, want, what);
}

static void cm_hang_up(void)
{
	check_ret(fi_shutdown(peer.ep, 0), "fi_shutdown");
	cm_event(FI_SHUTDOWN, 0, "end");
}

static size_t cm_limit(struct fid *fid)
{
	size_t limit, len = sizeof(limit);

	check_ret(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &limit, &len),
		  "FI_OPT_CM_DATA_SIZE");
	if (limit > CM_MAX)
		die("%zu bytes of connection data", limit);
	return limit;
}

static void cm_serve(void)
{
	size_t len, limit;

	listen_fabric();
	limit = cm_limit(&peer.pep->fid);
	oob_listen(CM_PORT);
	for (len = 1; len <= limit; len *= 2) {
		cm_event(FI_CONNREQ, len, "request");
		check_ret(fi_reject(peer.pep, cm.entry.info->handle, cm.mine, len), "fi_reject");
		fi_freeinfo(cm.entry.info);
		cm_event(FI_CONNREQ, len, "request");
		peer.info = cm.entry.info;
		open_domain();
		open_ep();
		check_ret(fi_accept(peer.ep, cm.mine, len), "fi_accept");
		cm_event(FI_CONNECTED, 0, "reply");
		cm_hang_up();
		close_ep();
		check_ret(fi_close(&peer.domain->fid), "close the domain");
		oob_status();
	}
	peer.ep = NULL;
}

static void cm_expect_refusal(size_t len)
{
	struct fi_eq_err_entry error = { .err_data = cm.room, .err_data_size = sizeof(cm.room) };
	uint32_t event;

	check_ret(fi_connect(peer.ep, peer.info->dest_addr, cm.mine, len), "fi_connect");
	if (fi_eq_sread(peer.eq, &event, cm.room, sizeof(cm.room), WAIT_MS, 0) != -FI_EAVAIL ||
	    fi_eq_readerr(peer.eq, &error, 0) < 0 || error.err != FI_ECONNREFUSED)
		die("not refused");
	if (error.err_data_size != len)
		die("refused with %zu bytes of data instead of %zu", error.err_data_size, len);
	verify(error.err_data, len, "refusal");
}

static void cm_call(void)
{
	size_t len, limit;

	find(opt.server, "9228", 0, &peer.info);
	open_fabric(peer.info);
	open_domain();
	open_ep();
	limit = cm_limit(&peer.ep->fid);
	oob_connect(CM_PORT);
	for (len = 1; len <= limit; len *= 2) {
		cm_expect_refusal(len);
		close_ep();
		open_ep();
		check_ret(fi_connect(peer.ep, peer.info->dest_addr, cm.mine, len), "fi_connect");
		cm_event(FI_CONNECTED, len, "reply");
		cm_hang_up();
		close_ep();
		open_ep();
		oob_status();
	}
}

void run_cm_data(void)
{
	fill(cm.mine, sizeof(cm.mine));
	if (opt.server)
		cm_call();
	else
		cm_serve();
}

/* Two messages from an end that the server does not know, then one back */
static void strangers(void)
{
	struct fi_cq_data_entry entry;
	char name[CTRL_BYTES];

	exchange_names(name);
	if (opt.server) {
		insert_peer(name);
		post_tx(tx_buf(), 16, 0, peer.tx_seq);
		post_tx(tx_buf(), 16, 0, peer.tx_seq);
		sync_ends();
		await_tx();
		post_rx();
		take(&entry);
		return;
	}
	sync_ends();
	post_rx();
	take(&entry);
	insert_peer(name);
	post_rx();
	take(&entry);
	send_next(1, 0);
}

void run_unexpected(void)
{
	struct fi_cq_data_entry entry;
	unsigned int i, nth;
	char *buf;

	if (windows())
		strangers();
	for (i = 0; i < opt.iterations; i++) {
		for (nth = 0; nth < opt.messages; nth++) {
			buf = peer.tx + nth * peer.room;
			fill(buf, opt.size);
			post_tx(buf, opt.size, 0, FIRST_TAG + nth);
			progress();
		}
		sync_ends();
		while (nth--) {
			buf = peer.rx + nth * peer.room;
			memset(buf, 0, opt.size);
			post_rx_at(buf, FIRST_TAG + nth);
			take(&entry);
			if (entry.len != opt.size)
				die("a message of %zu bytes instead of %zu", entry.len, opt.size);
			if (opt.verify)
				verify(buf, opt.size, "message");
		}
		await_tx();
	}
	sync_ends();
}
