// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A kOFI client that calls on bad peers, or on good servers beside them.
 *
 * One connection at a time, which belongs to the steps.  What is posted is counted,
 * and each end with its error.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include "../lib/bed.h"
#include "hostile.h"

/* An address and a key that nobody has given away */
#define HOSTILE_NO_ADDR		0x1000
#define HOSTILE_NO_KEY		0x00c0ffee

static struct {
	struct fi_info		*info;
	struct tb		bed;
	struct tb_end		end;
	u8			*buf;
	int			posted;
	int			ok;
	int			errors;
	ktime_t			start;
	s64			first_ms;
	s64			last_ms;
	struct hostile_tally	tally[HOSTILE_TALLIES];
} call;

static int call_open(int offset)
{
	struct fi_cq_attr attr = {
		.format		= FI_CQ_FORMAT_MSG,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	int ret;

	call.buf = kzalloc(HOSTILE_BUF, GFP_KERNEL);
	if (!call.buf)
		return -ENOMEM;
	ret = hostile_info(hostile_node(offset), offset, 0, &call.info);
	if (ret)
		return ret;
	attr.size = call.info->tx_attr->size + call.info->rx_attr->size;
	ret = tb_open(&call.bed, call.info, NULL, NULL);
	if (!ret)
		ret = fi_cq_open(call.bed.domain, &attr, &call.end.tx, NULL);
	call.end.eq = call.bed.eq;
	return ret ?: tb_end_open(&call.end, call.bed.domain, call.info);
}

/* Say what comes next of the connection; an event is no failure of the step */
static int call_event(int timeout_ms)
{
	struct {
		struct fi_eq_cm_entry	cm;
		u8			data[HOSTILE_DATA];
	} entry;
	struct fi_eq_err_entry error = { };
	ktime_t start = ktime_get();
	ssize_t ret;
	u32 event;
	s64 ms;

	ret = fi_eq_sread(call.bed.eq, &event, &entry, sizeof(entry), timeout_ms, 0);
	ms = ktime_ms_delta(ktime_get(), start);
	if (ret == -FI_EAVAIL && fi_eq_readerr(call.bed.eq, &error, 0) > 0)
		hostile_say("error: %s (%d), %s, %zu bytes, after %lld ms", fi_strerror(error.err),
			    error.err, fi_eq_strerror(call.bed.eq, error.prov_errno, NULL, NULL, 0),
			    error.err_data_size, ms);
	else if (ret < 0)
		return ret == -EAGAIN ? -ETIMEDOUT : ret;
	else if (event == FI_CONNECTED)
		hostile_say("connected, %zd bytes, after %lld ms", ret - sizeof(entry.cm), ms);
	else
		hostile_say("%s after %lld ms", event == FI_SHUTDOWN ?
			    "FI_SHUTDOWN" : "another event", ms);
	return 0;
}

int hostile_connect(const struct hostile_args *args)
{
	int ret;

	if (call.buf)
		return -EBUSY;
	ret = call_open(hostile_number(args, 1, 0));
	if (!ret)
		ret = hostile_set_time(call.end.ep, hostile_number(args, 2, 0));
	if (!ret)
		ret = fi_connect(call.end.ep, NULL, NULL, 0);
	return ret ?: call_event(2 * HOSTILE_PATIENCE_MS);
}

static void call_ended_badly(const struct fi_cq_err_entry *error)
{
	const char *what = "write";

	if (error->flags & FI_RECV)
		what = "receive";
	else if (error->flags & FI_SEND)
		what = "send";
	else if (error->flags & FI_READ)
		what = "read";
	call.errors++;
	hostile_tally(call.tally, what, error->err, error->prov_errno,
		      fi_cq_strerror(call.end.tx, error->prov_errno, NULL, NULL, 0));
}

/* Wait for the end of one operation: 0, or there was none */
static int call_reap(int timeout_ms)
{
	struct fi_cq_err_entry error = { };
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	ret = fi_cq_sread(call.end.tx, &entry, 1, NULL, timeout_ms);
	if (ret == 1)
		call.ok++;
	else if (ret == -FI_EAVAIL && fi_cq_readerr(call.end.tx, &error, 0) == 1)
		call_ended_badly(&error);
	else
		return ret == -EAGAIN ? -ETIMEDOUT : ret ?: -EIO;
	call.last_ms = ktime_ms_delta(ktime_get(), call.start);
	if (call.ok + call.errors == 1)
		call.first_ms = call.last_ms;
	call.posted--;
	return 0;
}

static void call_begin(void)
{
	if (call.posted)
		return;
	call.ok = 0;
	call.errors = 0;
	call.start = ktime_get();
	memset(call.tally, 0, sizeof(call.tally));
}

static int call_ping(void)
{
	int ret;

	ret = fi_recv(call.end.ep, call.buf, HOSTILE_MSG, NULL, 0, NULL);
	if (ret)
		return ret;
	call.posted++;
	ret = fi_send(call.end.ep, call.buf + HOSTILE_MSG, HOSTILE_MSG, NULL, 0, NULL);
	if (ret)
		return ret;
	call.posted++;
	while (!ret && call.posted)
		ret = call_reap(HOSTILE_PATIENCE_MS);
	return ret ?: call.errors ? -EIO : 0;
}

int hostile_ping(const struct hostile_args *args)
{
	int i, count = hostile_number(args, 1, 1), ret = 0;

	if (!call.end.ep)
		return -EINVAL;
	call_begin();
	for (i = 0; i < count && !ret; i++)
		ret = call_ping();
	hostile_say("%d of %d messages came back in %lld ms", ret ? i - 1 : i, count, call.last_ms);
	hostile_tally_say(call.tally);
	return ret;
}

static ssize_t call_post(const char *what, size_t len)
{
	if (!strcmp(what, "send"))
		return fi_send(call.end.ep, call.buf, len, NULL, 0, NULL);
	if (!strcmp(what, "read"))
		return fi_read(call.end.ep, call.buf, len, NULL, 0, HOSTILE_NO_ADDR,
			       HOSTILE_NO_KEY, NULL);
	if (!strcmp(what, "write"))
		return fi_write(call.end.ep, call.buf, len, NULL, 0,
				HOSTILE_NO_ADDR, HOSTILE_NO_KEY, NULL);
	return -EINVAL;
}

int hostile_post(const struct hostile_args *args)
{
	int i, len = hostile_number(args, 2, 64);
	int count = hostile_number(args, 3, 1);
	int ret = 0;

	if (!call.end.ep || len < 0 || len > HOSTILE_BUF)
		return -EINVAL;
	call_begin();
	for (i = 0; i < count && !ret; i++) {
		ret = call_post(hostile_word(args, 1), len);
		if (!ret)
			call.posted++;
	}
	return ret;
}

/* With 0, what has ended by now */
int hostile_ended(const struct hostile_args *args)
{
	int timeout_ms = hostile_number(args, 1, HOSTILE_PATIENCE_MS);
	int ret = 0;

	if (!call.end.ep)
		return -EINVAL;
	while (!ret && call.posted)
		ret = call_reap(timeout_ms);
	hostile_say("ok %d", call.ok);
	hostile_say("errors %d", call.errors);
	hostile_say("outstanding %d", call.posted);
	if (call.ok + call.errors)
		hostile_say("first after %lld ms, last after %lld ms", call.first_ms, call.last_ms);
	hostile_tally_say(call.tally);
	return ret == -ETIMEDOUT && !timeout_ms ? 0 : ret;
}

int hostile_event(const struct hostile_args *args)
{
	return call.end.ep ? call_event(HOSTILE_PATIENCE_MS) : -EINVAL;
}

int hostile_shutdown(const struct hostile_args *args)
{
	return call.end.ep ? fi_shutdown(call.end.ep, 0) : -EINVAL;
}

void hostile_call_end(void)
{
	int ret, failed;

	/* The bed's */
	call.end.eq = NULL;
	ret = tb_end_close(&call.end);
	failed = tb_close(&call.bed);
	if (ret || failed)
		pr_err("kofi_hostile: cannot close an object: %d\n", ret ?: failed);
	fi_freeinfo(call.info);
	kfree(call.buf);
	memset(&call, 0, sizeof(call));
}

int hostile_close(const struct hostile_args *args)
{
	ktime_t start = ktime_get();

	hostile_call_end();
	hostile_say("ms %lld", ktime_ms_delta(ktime_get(), start));
	return 0;
}
