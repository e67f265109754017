// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages.  Each direction numbers its messages from 0, and the number is the tag of a tagged
 * message.  One completion queue serves both directions.
 */
#include "peer.h"

#include <string.h>
#include <sys/uio.h>

static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Completions of receives that arrived while the program waited for another completion */
static struct fi_cq_data_entry received[4096];
static unsigned int nreceived;

void fill(void *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		((char *)buf)[i] = letters[i % (sizeof(letters) - 1)];
}

void verify(const void *buf, size_t len, const char *what)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (((const char *)buf)[i] != letters[i % (sizeof(letters) - 1)])
			die("%s of %zu bytes: byte %zu is wrong", what, len, i);
	peer.checked++;
}

static void sort_entry(const struct fi_cq_data_entry *entry)
{
	if (!(entry->flags & (FI_RECV | FI_REMOTE_WRITE))) {
		peer.tx_done++;
		return;
	}
	if (nreceived == ARRAY_SIZE(received))
		die("too many completions");
	received[nreceived++] = *entry;
}

static void queue_failed(long ret)
{
	struct fi_cq_err_entry error = { 0 };

	if (ret == -FI_EAVAIL && fi_cq_readerr(peer.cq, &error, 0) == 1)
		die("an operation failed: %s", fi_strerror(error.err));
	check_ret(ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret, "wait for a completion");
}

/* Take one completion if there is one, without waiting */
void progress(void)
{
	struct fi_cq_data_entry entry;
	long ret = fi_cq_read(peer.cq, &entry, 1);

	if (ret == 1)
		sort_entry(&entry);
	else if (ret != -FI_EAGAIN)
		queue_failed(ret);
}

static void wait_one(void)
{
	struct fi_cq_data_entry entry;
	long ret = fi_cq_sread(peer.cq, &entry, 1, NULL, WAIT_MS);

	if (ret == 1)
		sort_entry(&entry);
	else
		queue_failed(ret);
}

char *tx_buf(void)
{
	return peer.tx + peer.tx_seq % peer.depth * peer.room;
}

void post_tx(const void *buf, size_t len, uint64_t flags, uint64_t tag)
{
	struct iovec iov = { (void *)buf, len };
	uint64_t data = flags & FI_REMOTE_CQ_DATA ? cq_data_value() : 0;
	struct fi_msg msg = { &iov, &peer.desc, 1, peer.addr, (void *)buf, data };
	struct fi_msg_tagged tagged = { &iov, &peer.desc, 1, peer.addr, tag, 0, (void *)buf, data };
	long ret;

	for (;;) {
		if (opt.test->caps & FI_TAGGED)
			ret = fi_tsendmsg(peer.ep, &tagged, flags | FI_COMPLETION);
		else
			ret = fi_sendmsg(peer.ep, &msg, flags | FI_COMPLETION);
		if (ret != -FI_EAGAIN)
			break;
		progress();
	}
	check_ret(ret, "send");
	peer.tx_seq++;
}

void await_tx(void)
{
	while (peer.tx_done < peer.tx_seq)
		wait_one();
}

void send_next(size_t len, uint64_t flags)
{
	char *buf = tx_buf();

	if (opt.verify && peer.active)
		fill(buf, len);
	post_tx(buf, len, flags, peer.tx_seq);
	await_tx();
}

void post_rx_at(char *buf, uint64_t tag)
{
	long ret;

	for (;;) {
		if (opt.test->caps & FI_TAGGED)
			ret = fi_trecv(peer.ep, buf, peer.room, peer.desc, peer.addr, tag, 0, buf);
		else
			ret = fi_recv(peer.ep, buf, peer.room, peer.desc, peer.addr, buf);
		if (ret != -FI_EAGAIN)
			break;
		progress();
	}
	check_ret(ret, "post a receive");
	peer.rx_seq++;
}

void post_rx(void)
{
	post_rx_at(peer.rx + peer.rx_seq % peer.depth * peer.room, peer.rx_seq);
}

/* Take the next message, or write with data, in the order of completion */
void take(struct fi_cq_data_entry *entry)
{
	while (!nreceived)
		wait_one();
	*entry = received[0];
	memmove(received, received + 1, --nreceived * sizeof(received[0]));
	peer.rx_done++;
}

/* Receive all messages for which receives are posted; @check: the last one is checked */
void receive(size_t len, bool check)
{
	struct fi_cq_data_entry entry = { 0 };

	while (peer.rx_done < peer.rx_seq) {
		take(&entry);
		if (entry.len != len)
			die("a message of %zu bytes instead of %zu", entry.len, len);
	}
	if (check && opt.verify)
		verify(entry.op_context, len, "message");
	post_rx();
}

void sync_ends(void)
{
	bool empty = opt.script >= SCRIPT(2, 0);
	uint64_t flags = empty ? FI_DELIVERY_COMPLETE : 0;
	char byte = 'a';

	if (opt.oob == OOB_SYNC) {
		if (opt.server)
			oob_send(&byte, 1);
		oob_recv(&byte, 1);
		if (!opt.server)
			oob_send(&byte, 1);
		return;
	}
	if (opt.server)
		send_next(!empty, flags);
	receive(!empty, false);
	if (!opt.server)
		send_next(!empty, flags);
}

/* Until 2.3 both ends send at once */
void finalize(void)
{
	bool ordered = opt.script >= SCRIPT(2, 4);
	struct fi_cq_data_entry entry;

	if (ordered && opt.oob == OOB_SYNC) {
		oob_status();
		return;
	}
	if (opt.server || !ordered) {
		post_tx(tx_buf(), 4, FI_TRANSMIT_COMPLETE, peer.tx_seq);
		await_tx();
	}
	take(&entry);
	if (entry.len != 4)
		die("a last message of %zu bytes", entry.len);
	if (!opt.server && ordered) {
		post_tx(tx_buf(), 4, FI_TRANSMIT_COMPLETE, peer.tx_seq);
		await_tx();
	}
}
