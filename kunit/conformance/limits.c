// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Limits: what an attribute promises works to the last byte, element and operation,
 * and one beyond it is refused and changes nothing.
 */
#include "conformance.h"
#include "../lib/log.h"

static void injects_are_as_long_as_claimed(struct kunit *test)
{
	struct vt_pair pair = {};
	struct kvec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	size_t limit;
	u8 *buf;

	conf_join(test, &pair);
	limit = vt_of(test)->info->tx_attr->inject_size;
	buf = vt_buf(test, 2 * (limit + 1));
	iov = (struct kvec) { buf, limit + 1 };

	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, limit + 1, 0), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_INJECT), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_injectdata(pair.a.ep, buf, limit + 1, 0, 0),
			conf_data(test) ? -EMSGSIZE : -ENOSYS);
	vt_recv(test, &pair.b, buf + limit + 1, limit + 1, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, limit, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, limit);
}

static size_t option(struct kunit *test, struct fid *fid, int name)
{
	size_t value = 0, len = sizeof(value);

	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, name, &value, &len), 0);
	KUNIT_EXPECT_EQ(test, len, sizeof(value));
	len = sizeof(value) - 1;
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, name, &value, &len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(value));
	return value;
}

static void options_say_what_the_info_says(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;
	size_t value, len = sizeof(value);
	struct fid *fid;

	vt_open_info(test, vt_of(test)->info);
	fid = &vt_ep(test, vt_of(test)->info)->fid;
	KUNIT_EXPECT_EQ(test, option(test, fid, FI_OPT_MAX_MSG_SIZE), info->ep_attr->max_msg_size);
	KUNIT_EXPECT_EQ(test, option(test, fid, FI_OPT_INJECT_MSG_SIZE),
			info->tx_attr->inject_size);
	if (vt_is_rdm(info))
		KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value,
						&len), -ENOPROTOOPT);
	else
		KUNIT_EXPECT_GT(test, option(test, fid, FI_OPT_CM_DATA_SIZE), 0);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, 0x7fff, &value, &len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT + 1, FI_OPT_MAX_MSG_SIZE, &value,
					&len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, 0x7fff, &value,
					sizeof(value)), -ENOPROTOOPT);
}

/* Whatever the provider makes of it */
static void a_client_may_promise_to_post_in_process_context(struct kunit *test)
{
	struct vt_pair pair = { .a.may_sleep = 1, .b.may_sleep = 1 };
	int value = 0, i;
	size_t len = sizeof(value);
	struct fid *fid;

	conf_serve(test);
	fid = &vt_ep(test, vt_of(test)->info)->fid;
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &value, &len), 0);
	KUNIT_EXPECT_EQ(test, value, 0);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP,
					&value, sizeof(value) - 1), -EINVAL);

	vt_join(test, &pair, &vt_default_kind);
	fid = &pair.a.ep->fid;
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP,
					&value, sizeof(value)), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &value, &len), 0);
	KUNIT_EXPECT_EQ(test, value, 1);
	for (i = 0; i < 16; i++) {
		vt_ping(test, &pair.a, &pair.b);
		vt_ping(test, &pair.b, &pair.a);
	}
}

/* An endpoint that has sockets, or one that has none and says so */
static void a_client_may_ask_for_the_emergency_reserves(struct kunit *test)
{
	int value = 1, ret;
	size_t len = sizeof(value);
	struct vt_end end = {};
	struct fid *fid;

	conf_serve(test);
	fid = &vt_ep(test, vt_of(test)->info)->fid;
	ret = fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &value, sizeof(value));
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &value,
					&len), ret);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOPROTOOPT);
		return;
	}
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &value,
					sizeof(value) - 1), -EINVAL);
	vt_client(test, &end, &vt_default_kind);
	fid = &end.ep->fid;
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &value,
					sizeof(value)), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &value,
					&len), 0);
	KUNIT_EXPECT_EQ(test, value, 0);
}

/* As much of the longest message as an emulated machine carries in a second */
static void long_messages_arrive_and_longer_ones_are_refused(struct kunit *test)
{
	struct vt_pair pair = {};
	size_t limit, len;
	u8 *out, *in;

	conf_join(test, &pair);
	limit = vt_of(test)->info->ep_attr->max_msg_size;
	len = min_t(size_t, limit, SZ_256K);
	out = vt_buf(test, len);
	in = vt_buf(test, len);
	vt_fill(out, len, 9);
	vt_recv(test, &pair.b, in, len, vt_ctx(1));
	vt_send(test, &pair.a, out, len, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, len);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, 9));

	if (limit == SIZE_MAX)
		return;
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, limit + 1, NULL, 0, NULL), -EMSGSIZE);
	/* A receive may be longer than any message, but not than memory */
	KUNIT_EXPECT_LT(test, fi_recv(pair.a.ep, in, limit + 1, NULL, 0, NULL), 0);
	vt_ping(test, &pair.a, &pair.b);
}

static void an_endpoint_can_be_given_less(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 2048);

	info->ep_attr->max_msg_size = 1000;
	info->tx_attr->inject_size = min_t(size_t, 8, info->tx_attr->inject_size);
	conf_join(test, &pair);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 1001, NULL, 0, NULL), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, info->tx_attr->inject_size + 1, 0),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, option(test, &pair.a.ep->fid, FI_OPT_MAX_MSG_SIZE), 1000);
	KUNIT_EXPECT_EQ(test, option(test, &pair.a.ep->fid, FI_OPT_INJECT_MSG_SIZE),
			info->tx_attr->inject_size);
	vt_recv(test, &pair.b, buf + 1000, 1000, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 1000, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
}

static struct kvec *elements(struct kunit *test, u8 *buf, size_t count)
{
	struct kvec *iov = vt_buf(test, count * sizeof(*iov));
	size_t i;

	for (i = 0; i < count; i++)
		iov[i] = (struct kvec) { buf + i, 1 };
	return iov;
}

static void lists_are_as_long_as_claimed(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;
	size_t tx = info->tx_attr->iov_limit, rx = info->rx_attr->iov_limit;
	size_t max = max(tx, rx) + 1;
	struct vt_pair pair = {};
	struct kvec *out, *in;
	u8 *buf, *to;

	conf_join(test, &pair);
	buf = vt_buf(test, max);
	to = vt_buf(test, max);
	vt_fill(buf, max, 3);
	out = elements(test, buf, max);
	in = elements(test, to, max);

	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, in, NULL, rx + 1, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, out, NULL, tx + 1, 0, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, fi_recvv(pair.b.ep, in, NULL, rx, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_sendv(pair.a.ep, out, NULL, min(tx, rx), 0, vt_ctx(2)), 0);
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(to, min(tx, rx), 3));
}

static void receive_queues_are_as_deep_as_claimed(struct kunit *test)
{
	size_t size = vt_of(test)->info->rx_attr->size, i;
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};

	conf_join(test, &pair);
	for (i = 0; i < size; i++)
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, NULL), -EAGAIN);
	vt_send(test, &pair.a, buf, 0, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, NULL), -EAGAIN);
	vt_done(test, pair.b.rx, vt_ctx(0));
	vt_recv(test, &pair.b, buf, 8, vt_ctx(size));
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, NULL), -EAGAIN);
	conf_says(test, &pair.b.ep->fid, "rx_again", 3);
	conf_says(test, &pair.b.ep->fid, "tx_again", 0);
}

/* A slot is free again when its completion has been read, not before */
static void transmit_queues_are_as_deep_as_claimed(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	size_t size, i;

	info->tx_attr->size = min(info->tx_attr->size, info->rx_attr->size);
	size = info->tx_attr->size;
	conf_join(test, &pair);
	for (i = 0; i < size; i++) {
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
		vt_send(test, &pair.a, buf, 8, vt_ctx(i));
	}
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), -EAGAIN);
	for (i = 0; i < size; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), -EAGAIN);
	vt_done(test, pair.a.tx, vt_ctx(0));
	vt_recv(test, &pair.b, buf, 8, vt_ctx(size));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, vt_ctx(size)), 0);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), -EAGAIN);
	conf_says(test, &pair.a.ep->fid, "tx_again", 3);
	conf_says(test, &pair.a.ep->fid, "rx_again", 0);
	for (i = 1; i <= size; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
	vt_none(test, pair.a.tx);
}

/* @other: what it needs beside a completion queue */
static struct fid_ep *bound_ep(struct kunit *test, struct fid *other, struct vt_cq *cq)
{
	struct fid_ep *ep = vt_ep(test, vt_of(test)->info);

	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, other, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	return ep;
}

static void completion_queues_have_room_for_what_is_bound(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	struct fid_ep *first, *second;
	struct vt_cq *exact, *less;
	struct fid *other;
	size_t depth;

	conf_shallow(test, 16);
	depth = info->tx_attr->size + info->rx_attr->size;
	vt_open_info(test, info);
	other = vt_is_rdm(info) ? &vt_av(test, 0)->fid : &vt_eq(test, 0)->fid;
	exact = vt_cq(test, &vt_default_kind, 2 * depth);
	less = vt_cq(test, &vt_default_kind, 2 * depth - 1);

	first = bound_ep(test, other, exact);
	second = bound_ep(test, other, exact);
	KUNIT_EXPECT_EQ(test, fi_enable(first), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(second), 0);
	first = bound_ep(test, other, less);
	second = bound_ep(test, other, less);
	KUNIT_EXPECT_EQ(test, fi_enable(first), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(second), -ENOSPC);
	/* What has been refused can be had when there is room */
	vt_close(test, &first->fid);
	KUNIT_EXPECT_EQ(test, fi_enable(second), 0);
}

/* The log names the limit, which the info has, too */
static void an_endless_completion_queue_is_refused(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;
	struct fi_cq_attr attr = { .size = SIZE_MAX / 2 };
	struct kmsg_dump_iter log;
	struct fid_cq *cq;
	char limit[64];

	vt_open_info(test, vt_of(test)->info);
	vt_log_clear(&log);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), -EINVAL);
	snprintf(limit, sizeof(limit), "refused: the limit is %zu",
		 info->domain_attr->max_cq_size ? : INT_MAX);
	KUNIT_EXPECT_EQ_MSG(test, vt_log_count(&log, limit), 1, "%s", limit);
}

/* All bits of remote CQ data, one after the other, and what is beyond them */
static void remote_cq_data_have_as_many_bits_as_claimed(struct kunit *test)
{
	size_t bits = 8 * vt_of(test)->info->domain_attr->cq_data_size, i;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);

	conf_join(test, &pair);
	if (!bits) {
		KUNIT_EXPECT_EQ(test, fi_senddata(pair.a.ep, buf, 8, NULL, 1, 0, NULL), -ENOSYS);
		KUNIT_EXPECT_EQ(test, fi_injectdata(pair.a.ep, buf, 0, 1, 0), -ENOSYS);
		return;
	}
	for (i = 0; i < bits; i++) {
		vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_injectdata(pair.a.ep, buf, 0, BIT_ULL(i), 0), 0);
		KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).data, BIT_ULL(i));
	}
	if (bits == 64)
		return;
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_injectdata(pair.a.ep, buf, 0, BIT_ULL(bits) | 5, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).data, 5);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE_PARAM(injects_are_as_long_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(options_say_what_the_info_says, conf_gen_params),
	KUNIT_CASE_PARAM(a_client_may_promise_to_post_in_process_context, conf_gen_params),
	KUNIT_CASE_PARAM(a_client_may_ask_for_the_emergency_reserves, conf_gen_params),
	KUNIT_CASE_PARAM(long_messages_arrive_and_longer_ones_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_can_be_given_less, conf_gen_params),
	KUNIT_CASE_PARAM(lists_are_as_long_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(receive_queues_are_as_deep_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(transmit_queues_are_as_deep_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(completion_queues_have_room_for_what_is_bound, conf_gen_params),
	KUNIT_CASE_PARAM(an_endless_completion_queue_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(remote_cq_data_have_as_many_bits_as_claimed, conf_gen_params),
	{}
};

struct kunit_suite conf_limits_suite = {
	.name		= "kofi_conformance_limits",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= limits_cases,
};
