// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scalable endpoints: which context a message arrives at, which queue an operation completes
 * to, and what is refused.  Contexts in threads of their own, and how they end: sep_end.c.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>
#include "sep.h"

bool sep_wanted(struct kunit *test, u64 caps)
{
	const struct fi_domain_attr *domain = vt_of(test)->info->domain_attr;
	struct fi_info *hints = conf_ask(test), *info;
	bool none = domain->max_ep_tx_ctx < SEP_CTXS || domain->max_ep_rx_ctx < SEP_CTXS;
	int ret;

	if (!conf_is_rdm(test))
		return false;
	hints->caps |= FI_NAMED_RX_CTX | caps;
	hints->tx_attr->caps = 0;
	hints->rx_attr->caps = 0;
	hints->domain_attr->caps = 0;
	hints->ep_attr->tx_ctx_cnt = SEP_CTXS;
	hints->ep_attr->rx_ctx_cnt = SEP_CTXS;
	ret = conf_getinfo(test, hints, &info);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENODATA);
		KUNIT_EXPECT_TRUE(test, none || caps);
		return false;
	}
	KUNIT_EXPECT_FALSE(test, none);
	KUNIT_EXPECT_EQ(test, info->ep_attr->tx_ctx_cnt, SEP_CTXS);
	KUNIT_EXPECT_EQ(test, info->ep_attr->rx_ctx_cnt, SEP_CTXS);
	vt_of(test)->info = info;
	return true;
}

struct fid_av *sep_av(struct kunit *test)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .rx_ctx_bits = SEP_BITS };
	struct fid_av *av;

	KUNIT_ASSERT_EQ(test, fi_av_open(vt_of(test)->domain, &attr, &av, NULL), 0);
	vt_adopt(test, &av->fid);
	return av;
}

void sep_open(struct kunit *test, struct sep *sep)
{
	struct fi_info *info = vt_of(test)->info;
	int i;

	sep->av = sep_av(test);
	for (i = 0; i < SEP_CTXS; i++) {
		sep->tx_cq[i] = vt_cq(test, &vt_default_kind, info->tx_attr->size);
		sep->rx_cq[i] = vt_cq(test, &vt_default_kind, info->rx_attr->size);
	}
	KUNIT_ASSERT_EQ(test, fi_scalable_ep(vt_of(test)->domain, info, &sep->sep, NULL), 0);
	vt_adopt(test, &sep->sep->fid);
	KUNIT_ASSERT_EQ(test, fi_scalable_ep_bind(sep->sep, &sep->av->fid, 0), 0);
	for (i = 0; i < SEP_CTXS; i++) {
		KUNIT_ASSERT_EQ(test, fi_tx_context(sep->sep, i, NULL, &sep->tx[i], NULL), 0);
		vt_adopt(test, &sep->tx[i]->fid);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(sep->tx[i], &sep->tx_cq[i]->cq->fid,
						 FI_TRANSMIT), 0);
		KUNIT_ASSERT_EQ(test, fi_rx_context(sep->sep, i, NULL, &sep->rx[i], NULL), 0);
		vt_adopt(test, &sep->rx[i]->fid);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(sep->rx[i], &sep->rx_cq[i]->cq->fid, FI_RECV), 0);
	}
}

void sep_enable(struct kunit *test, struct sep *sep)
{
	int i;

	for (i = 0; i < SEP_CTXS; i++) {
		KUNIT_ASSERT_EQ(test, fi_enable(sep->tx[i]), 0);
		KUNIT_ASSERT_EQ(test, fi_enable(sep->rx[i]), 0);
	}
	KUNIT_ASSERT_EQ(test, fi_enable(sep->sep), 0);
}

fi_addr_t sep_know(struct kunit *test, struct fid_av *av, struct fid_ep *other)
{
	struct sockaddr_storage name = {};
	fi_addr_t addr = FI_ADDR_NOTAVAIL;
	size_t len = sizeof(name);

	KUNIT_ASSERT_EQ(test, fi_getname(&other->fid, &name, &len), 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(av, &name, 1, &addr, 0, NULL), 1);
	return addr;
}

void sep_join(struct kunit *test, struct sep *a, struct sep *b)
{
	conf_serve(test);
	sep_open(test, a);
	sep_open(test, b);
	KUNIT_ASSERT_EQ(test, sep_know(test, a->av, b->sep), 0);
	KUNIT_ASSERT_EQ(test, sep_know(test, b->av, a->sep), 0);
	sep_enable(test, a);
	sep_enable(test, b);
}

bool sep_begin(struct kunit *test, u64 caps, struct sep *a, struct sep *b)
{
	if (!sep_wanted(test, caps))
		return false;
	sep_join(test, a, b);
	return true;
}

void sep_pass(struct kunit *test, struct sep *from, int tx, struct sep *to, int rx, u8 *buf)
{
	buf[0] = 16 * tx + rx + 1;
	KUNIT_ASSERT_EQ(test, fi_recv(to->rx[rx], buf + 8, 8, NULL, FI_ADDR_UNSPEC,
				      vt_ctx(100 + rx)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(from->tx[tx], buf, 1, NULL, fi_rx_addr(0, rx, SEP_BITS),
				      vt_ctx(1 + tx)), 0);
	vt_done(test, to->rx_cq[rx], vt_ctx(100 + rx));
	vt_done(test, from->tx_cq[tx], vt_ctx(1 + tx));
	KUNIT_EXPECT_EQ(test, buf[8], buf[0]);
}

void sep_quiet(struct kunit *test, struct sep *sep)
{
	int i;

	for (i = 0; i < SEP_CTXS; i++) {
		vt_none(test, sep->tx_cq[i]);
		vt_none(test, sep->rx_cq[i]);
	}
}

static void each_context_reaches_each_context(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	int tx, rx;

	if (!sep_begin(test, 0, &a, &b))
		return;
	for (tx = 0; tx < SEP_CTXS; tx++) {
		for (rx = 0; rx < SEP_CTXS; rx++) {
			sep_pass(test, &a, tx, &b, rx, buf);
			sep_pass(test, &b, tx, &a, rx, buf);
			sep_quiet(test, &a);
			sep_quiet(test, &b);
		}
	}
}

/* Receives of other contexts stay, whatever arrives */
static void a_message_takes_a_receive_of_its_context_only(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 64);
	int i;

	if (!sep_begin(test, 0, &a, &b))
		return;
	for (i = 0; i < SEP_CTXS; i++)
		KUNIT_ASSERT_EQ(test, fi_recv(b.rx[i], buf + 8 * i, 8, NULL, FI_ADDR_UNSPEC,
					      vt_ctx(i)), 0);
	for (i = SEP_CTXS - 1; i >= 0; i--) {
		KUNIT_ASSERT_EQ(test, fi_inject(a.tx[0], &(u8){ 40 + i }, 1,
						fi_rx_addr(0, i, SEP_BITS)), 0);
		vt_done(test, b.rx_cq[i], vt_ctx(i));
		KUNIT_EXPECT_EQ(test, buf[8 * i], 40 + i);
		sep_quiet(test, &b);
	}
}

/* Also of a message that waits for its receive, and between kinds of endpoints */
static void a_plain_address_is_receive_context_0(struct kunit *test)
{
	struct vt_end plain = {};
	struct sep sep = {};
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr;

	if (!sep_wanted(test, 0))
		return;
	conf_serve(test);
	sep_open(test, &sep);
	sep_enable(test, &sep);
	plain.av = sep_av(test);
	vt_client(test, &plain, &vt_default_kind);
	addr = sep_know(test, plain.av, sep.sep);

	KUNIT_ASSERT_EQ(test, fi_inject(plain.ep, &(u8){ 5 }, 1, addr), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(sep.rx[0], buf, 8, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	vt_done(test, sep.rx_cq[0], vt_ctx(1));
	KUNIT_EXPECT_EQ(test, buf[0], 5);
	/* An ordinary endpoint names a context, too, and is context 0 itself */
	KUNIT_ASSERT_EQ(test, fi_inject(plain.ep, &(u8){ 6 }, 1,
					fi_rx_addr(addr, 2, SEP_BITS)), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(sep.rx[2], buf, 8, NULL, FI_ADDR_UNSPEC, vt_ctx(2)), 0);
	vt_done(test, sep.rx_cq[2], vt_ctx(2));
	KUNIT_EXPECT_EQ(test, buf[0], 6);
	vt_recv(test, &plain, buf, 8, vt_ctx(3));
	addr = sep_know(test, sep.av, plain.ep);
	KUNIT_ASSERT_EQ(test, fi_inject(sep.tx[1], &(u8){ 7 }, 1, addr), 0);
	vt_done(test, plain.rx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, buf[0], 7);
	sep_quiet(test, &sep);
}

static void a_message_says_the_address_of_the_scalable_endpoint(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr;
	int i;

	if (!sep_begin(test, FI_SOURCE, &a, &b))
		return;
	for (i = 0; i < SEP_CTXS; i++) {
		addr = 77;
		KUNIT_ASSERT_EQ(test, fi_recv(b.rx[i], buf, 8, NULL, FI_ADDR_UNSPEC, vt_ctx(i)), 0);
		KUNIT_ASSERT_EQ(test, fi_inject(a.tx[SEP_CTXS - 1 - i], buf, 1,
						fi_rx_addr(0, i, SEP_BITS)), 0);
		KUNIT_ASSERT_EQ(test, vt_cq_sreadfrom(b.rx_cq[i]->cq, &entry, 1, &addr, NULL), 1);
		KUNIT_EXPECT_EQ(test, addr, 0);
	}
}

static struct fid_cntr *count(struct kunit *test, struct fid_ep *ep, u64 flags)
{
	struct fi_cntr_attr attr = {
		.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC,
	};
	struct fid_cntr *cntr;

	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cntr->fid, flags), 0);
	return cntr;
}

/* Counters are opened after what they are bound to, so the case closes the latter itself */
static void contexts_count_for_themselves(struct kunit *test)
{
	struct fid_cntr *sent[2], *received[2];
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	int i;

	if (!sep_wanted(test, 0) || vt_of(test)->info->domain_attr->cntr_cnt < 4)
		return;
	conf_serve(test);
	sep_open(test, &a);
	sep_open(test, &b);
	sep_know(test, a.av, b.sep);
	for (i = 0; i < 2; i++) {
		sent[i] = count(test, a.tx[i], FI_SEND);
		received[i] = count(test, b.rx[i], FI_RECV);
	}
	sep_enable(test, &a);
	sep_enable(test, &b);
	for (i = 0; i < 3; i++)
		sep_pass(test, &a, 1, &b, 0, buf);
	KUNIT_EXPECT_EQ(test, fi_cntr_wait(sent[1], 3, VT_PATIENCE_MS), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_wait(received[0], 3, VT_PATIENCE_MS), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(sent[0]), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(received[1]), 0);
	for (i = 0; i < 2; i++) {
		vt_close(test, &a.tx[i]->fid);
		vt_close(test, &b.rx[i]->fid);
		KUNIT_EXPECT_EQ(test, fi_close(&sent[i]->fid), 0);
		KUNIT_EXPECT_EQ(test, fi_close(&received[i]->fid), 0);
	}
}

static void tagged_messages_find_their_context(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 8 * SEP_CTXS);
	int i;

	if (!sep_begin(test, FI_TAGGED, &a, &b))
		return;
	/* The first two wait for their receive */
	for (i = 0; i < SEP_CTXS; i++) {
		if (i >= 2)
			KUNIT_ASSERT_EQ(test, fi_trecv(b.rx[i], buf + 8 * i, 8, NULL,
						       FI_ADDR_UNSPEC, 9, 0, vt_ctx(i)), 0);
		KUNIT_ASSERT_EQ(test, fi_tinject(a.tx[i], &(u8){ 50 + i }, 1,
						 fi_rx_addr(0, i, SEP_BITS), 9), 0);
	}
	for (i = 0; i < SEP_CTXS; i++) {
		if (i < 2)
			KUNIT_ASSERT_EQ(test, fi_trecv(b.rx[i], buf + 8 * i, 8, NULL,
						       FI_ADDR_UNSPEC, 9, 0, vt_ctx(i)), 0);
		vt_done(test, b.rx_cq[i], vt_ctx(i));
		KUNIT_EXPECT_EQ(test, buf[8 * i], 50 + i);
	}
}

/* Regions are the domain's, and the queue is that of the context in the address */
static void remote_memory_is_reached_by_each_context(struct kunit *test)
{
	struct conf_region region;
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 64);
	int i;

	if (!sep_begin(test, FI_RMA, &a, &b))
		return;
	conf_region(test, &region, 64, FI_REMOTE_READ | FI_REMOTE_WRITE);
	for (i = 0; i < SEP_CTXS; i++) {
		vt_fill(buf, 32, i + 1);
		KUNIT_ASSERT_EQ(test, fi_write(a.tx[i], buf, 32, NULL, fi_rx_addr(0, i, SEP_BITS),
					       region.addr, region.key, vt_ctx(1)), 0);
		vt_done(test, a.tx_cq[i], vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_read(a.tx[i], buf + 32, 32, NULL, 0, region.addr,
					      region.key, vt_ctx(2)), 0);
		vt_done(test, a.tx_cq[i], vt_ctx(2));
		KUNIT_EXPECT_TRUE(test, vt_filled(buf + 32, 32, i + 1));
		KUNIT_ASSERT_EQ(test, fi_writedata(a.tx[i], buf, 8, NULL, 7,
						   fi_rx_addr(0, i, SEP_BITS), region.addr,
						   region.key, vt_ctx(3)), 0);
		vt_done(test, a.tx_cq[i], vt_ctx(3));
		vt_done(test, b.rx_cq[i], NULL);
	}
	vt_close(test, &region.mr->fid);
	sep_quiet(test, &b);
}

static void a_context_has_one_direction(struct kunit *test)
{
	struct sep a = {}, b = {};
	struct fi_msg msg = {};
	u8 *buf = vt_buf(test, 8);

	if (!sep_begin(test, 0, &a, &b))
		return;
	KUNIT_EXPECT_EQ(test, fi_recv(a.tx[0], buf, 8, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(a.tx[0], &msg, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_send(a.rx[0], buf, 8, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_inject(a.rx[0], buf, 8, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_write(a.rx[0], buf, 8, NULL, 0, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_send(a.sep, buf, 8, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recv(a.sep, buf, 8, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_cancel(&a.tx[0]->fid, vt_ctx(1)), -ENOENT);
	sep_pass(test, &a, 0, &b, 0, vt_buf(test, 16));
}

static void contexts_beyond_what_there_are_are_refused(struct kunit *test)
{
	struct fi_info *hints, *info;
	struct fi_tx_attr tx;
	struct fi_rx_attr rx;
	struct sep sep = {};
	struct fid_ep *ep;

	if (!sep_wanted(test, 0))
		return;
	conf_serve(test);
	sep_open(test, &sep);
	info = vt_of(test)->info;
	KUNIT_EXPECT_EQ(test, fi_tx_context(sep.sep, SEP_CTXS, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_rx_context(sep.sep, SEP_CTXS, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_tx_context(sep.sep, INT_MAX, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_rx_context(sep.sep, -1, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_tx_context(sep.sep, 1, NULL, &ep, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_rx_context(sep.sep, 1, NULL, &ep, NULL), -EBUSY);

	vt_close(test, &sep.tx[1]->fid);
	vt_close(test, &sep.rx[1]->fid);
	tx = *info->tx_attr;
	tx.size++;
	KUNIT_EXPECT_EQ(test, fi_tx_context(sep.sep, 1, &tx, &ep, NULL), -EINVAL);
	tx = *info->tx_attr;
	tx.inject_size++;
	KUNIT_EXPECT_EQ(test, fi_tx_context(sep.sep, 1, &tx, &ep, NULL), -EINVAL);
	rx = *info->rx_attr;
	rx.iov_limit++;
	KUNIT_EXPECT_EQ(test, fi_rx_context(sep.sep, 1, &rx, &ep, NULL), -EINVAL);
	tx = (struct fi_tx_attr) { .size = 4, .op_flags = FI_COMPLETION };
	KUNIT_ASSERT_EQ(test, fi_tx_context(sep.sep, 1, &tx, &ep, NULL), 0);
	vt_adopt(test, &ep->fid);
	KUNIT_EXPECT_GE(test, tx.size, 4);
	KUNIT_EXPECT_GT(test, tx.iov_limit, 0);
	KUNIT_EXPECT_EQ(test, tx.op_flags, FI_COMPLETION);
	rx = (struct fi_rx_attr) { .size = 4, .op_flags = FI_COMPLETION };
	KUNIT_ASSERT_EQ(test, fi_rx_context(sep.sep, 1, &rx, &ep, NULL), 0);
	vt_adopt(test, &ep->fid);
	KUNIT_EXPECT_GE(test, rx.size, 4);
	KUNIT_EXPECT_GT(test, rx.iov_limit, 0);
	KUNIT_EXPECT_EQ(test, rx.op_flags, FI_COMPLETION);

	info = vt_dup(test, info);
	info->ep_attr->tx_ctx_cnt = info->domain_attr->max_ep_tx_ctx + 1;
	KUNIT_EXPECT_EQ(test, fi_scalable_ep(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
	info->ep_attr->tx_ctx_cnt = 1;
	info->tx_attr->iov_limit = SIZE_MAX;
	KUNIT_EXPECT_EQ(test, fi_scalable_ep(vt_of(test)->domain, info, &ep, NULL), -EINVAL);

	hints = conf_ask(test);
	hints->ep_attr->tx_ctx_cnt = info->domain_attr->max_ep_tx_ctx + 1;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
	hints->ep_attr->tx_ctx_cnt = 1;
	hints->ep_attr->rx_ctx_cnt = vt_of(test)->info->domain_attr->max_ep_rx_ctx + 1;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
}

/* As many as fi_getinfo() says, and an endpoint with few queues */
static void as_many_contexts_can_be_opened_as_there_are(struct kunit *test)
{
	struct fid_ep *sep, *ep[2];
	struct fi_info *info;
	int i;

	if (!sep_wanted(test, 0))
		return;
	info = vt_of(test)->info;
	info->ep_attr->tx_ctx_cnt = info->domain_attr->max_ep_tx_ctx;
	info->ep_attr->rx_ctx_cnt = info->domain_attr->max_ep_rx_ctx;
	conf_serve(test);
	KUNIT_ASSERT_EQ(test, fi_scalable_ep(vt_of(test)->domain, info, &sep, NULL), 0);
	vt_adopt(test, &sep->fid);
	for (i = 0; i < info->ep_attr->tx_ctx_cnt; i++) {
		KUNIT_ASSERT_EQ(test, fi_tx_context(sep, i, NULL, &ep[0], NULL), 0);
		vt_adopt(test, &ep[0]->fid);
	}
	for (i = 0; i < info->ep_attr->rx_ctx_cnt; i++) {
		KUNIT_ASSERT_EQ(test, fi_rx_context(sep, i, NULL, &ep[1], NULL), 0);
		vt_adopt(test, &ep[1]->fid);
	}
	KUNIT_EXPECT_EQ(test, fi_tx_context(sep, i, NULL, &ep[0], NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_enable(sep), -FI_ENOAV);
	KUNIT_EXPECT_EQ(test, fi_enable(ep[0]), -FI_ENOCQ);
	KUNIT_EXPECT_EQ(test, fi_enable(ep[1]), -FI_ENOCQ);
}

static void a_context_waits_for_its_scalable_endpoint(struct kunit *test)
{
	struct sep sep = {};
	u8 *buf = vt_buf(test, 8);
	int i;

	if (!sep_wanted(test, 0))
		return;
	conf_serve(test);
	sep_open(test, &sep);
	KUNIT_EXPECT_EQ(test, fi_send(sep.tx[0], buf, 8, NULL, 0, NULL), -FI_EOPBADSTATE);
	KUNIT_ASSERT_EQ(test, fi_enable(sep.tx[0]), 0);
	KUNIT_EXPECT_EQ(test, fi_send(sep.tx[0], buf, 8, NULL, 0, NULL), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_recv(sep.rx[0], buf, 8, NULL, 0, NULL), -FI_EOPBADSTATE);
	/* It is a peer of its own when both are enabled */
	KUNIT_ASSERT_EQ(test, fi_enable(sep.sep), 0);
	KUNIT_EXPECT_EQ(test, sep_know(test, sep.av, sep.sep), 0);
	for (i = 0; i < SEP_CTXS; i++)
		KUNIT_ASSERT_EQ(test, fi_enable(sep.rx[i]), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(sep.tx[0]), -FI_EOPBADSTATE);
	sep_pass(test, &sep, 0, &sep, 0, vt_buf(test, 16));
	sep_pass(test, &sep, 0, &sep, 3, vt_buf(test, 16));
}

/* Also by a client that has promised to post in process context only */
static void contexts_have_options_of_their_own(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	size_t len = sizeof(int);
	int value = 1, i;

	if (!sep_wanted(test, 0))
		return;
	conf_serve(test);
	sep_open(test, &a);
	sep_open(test, &b);
	sep_know(test, a.av, b.sep);
	KUNIT_ASSERT_EQ(test, fi_setopt(&a.tx[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &value,
					sizeof(value)), 0);
	value = 0;
	KUNIT_ASSERT_EQ(test, fi_getopt(&a.tx[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &value,
					&len), 0);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_ASSERT_EQ(test, fi_getopt(&a.tx[0]->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &value,
					&len), 0);
	KUNIT_EXPECT_EQ(test, value, 0);
	KUNIT_EXPECT_EQ(test, fi_getopt(&a.rx[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &value,
					&len), -ENOPROTOOPT);
	sep_enable(test, &a);
	sep_enable(test, &b);
	for (i = 0; i < SEP_CTXS; i++)
		sep_pass(test, &a, 1, &b, i, buf);
	for (i = 0; i < SEP_CTXS; i++)
		sep_pass(test, &a, 1, &b, i, buf);
}

static void context_is_ready(struct fid_ep *ep, u64 flags)
{
	if (flags == FI_TRANSMIT)
		complete(ep->fid.context);
}

/* Completions that nobody has read fill a queue; those of other contexts have room */
static void a_context_that_was_full_is_called(struct kunit *test)
{
	static const struct fi_ep_callbacks callbacks = { .ready = context_is_ready };
	struct completion *ready = vt_buf(test, sizeof(*ready));
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	int sent, received;
	ssize_t ret = 0;

	if (!sep_wanted(test, 0))
		return;
	conf_serve(test);
	sep_open(test, &a);
	sep_open(test, &b);
	sep_know(test, a.av, b.sep);
	init_completion(ready);
	a.tx[1]->fid.context = ready;
	KUNIT_ASSERT_EQ(test, fi_setopt(&a.tx[1]->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
					&callbacks, sizeof(callbacks)), 0);
	sep_enable(test, &a);
	sep_enable(test, &b);
	sep_pass(test, &a, 1, &b, 2, buf);
	for (sent = 0; !ret; sent++)
		ret = fi_send(a.tx[1], buf, 8, NULL, fi_rx_addr(0, 2, SEP_BITS), vt_ctx(1));
	sent--;
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	KUNIT_EXPECT_EQ(test, sent, vt_of(test)->info->tx_attr->size);
	sep_pass(test, &a, 0, &b, 1, buf);
	KUNIT_EXPECT_FALSE(test, completion_done(ready));
	for (received = 0; received < sent; received++) {
		KUNIT_ASSERT_EQ(test, fi_recv(b.rx[2], buf + 8, 8, NULL, FI_ADDR_UNSPEC,
					      vt_ctx(2)), 0);
		vt_done(test, b.rx_cq[2], vt_ctx(2));
		vt_done(test, a.tx_cq[1], vt_ctx(1));
	}
	KUNIT_EXPECT_TRUE(test, vt_completed(ready));
	sep_pass(test, &a, 1, &b, 2, buf);
}

static void connected_endpoints_have_no_contexts(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;
	struct fid_ep *sep;

	if (!conf_is_msg(test))
		return;
	hints->ep_attr->tx_ctx_cnt = vt_of(test)->info->domain_attr->max_ep_tx_ctx + 1;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
	conf_serve(test);
	KUNIT_EXPECT_NE(test, fi_scalable_ep(vt_of(test)->domain, vt_of(test)->info, &sep, NULL),
			0);
}

static struct kunit_case sep_cases[] = {
	KUNIT_CASE_PARAM(each_context_reaches_each_context, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_message_takes_a_receive_of_its_context_only, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_plain_address_is_receive_context_0, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_message_says_the_address_of_the_scalable_endpoint, conf_gen_rdm),
	KUNIT_CASE_PARAM(contexts_count_for_themselves, conf_gen_rdm),
	KUNIT_CASE_PARAM(tagged_messages_find_their_context, conf_gen_rdm),
	KUNIT_CASE_PARAM(remote_memory_is_reached_by_each_context, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_has_one_direction, conf_gen_rdm),
	KUNIT_CASE_PARAM(contexts_beyond_what_there_are_are_refused, conf_gen_rdm),
	KUNIT_CASE_PARAM(as_many_contexts_can_be_opened_as_there_are, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_waits_for_its_scalable_endpoint, conf_gen_rdm),
	KUNIT_CASE_PARAM(contexts_have_options_of_their_own, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_that_was_full_is_called, conf_gen_rdm),
	KUNIT_CASE_PARAM(connected_endpoints_have_no_contexts, conf_gen_msg),
	{}
};

struct kunit_suite conf_sep_suite = {
	.name		= "kofi_conformance_sep",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= sep_cases,
};
