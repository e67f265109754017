// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that have been taken, and find no memory when their turn comes; and operations that
 * are not taken, as an endpoint that begins with few of them has no memory for more.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include "../lib/client.h"
#include "nth.h"

#define LATE_LEN	64

static int late_init_type(struct kunit *test, enum fi_ep_type type)
{
	struct fi_info *hints, *info;
	int ret = vt_init(test);

	if (ret)
		return ret;
	hints = vt_allocinfo(test, "tcp");
	hints->caps = FI_MSG;
	hints->ep_attr->type = type;
	hints->addr_format = FI_SOCKADDR_IN;
	ret = fi_getinfo(VT_API, "127.0.0.1", 0, FI_SOURCE, hints, &info);
	if (ret)
		return ret;
	vt_free_later(test, info);
	vt_open_info(test, info);
	return 0;
}

static int late_init(struct kunit *test)
{
	return late_init_type(test, FI_EP_RDM);
}

static int room_init(struct kunit *test)
{
	int ret = late_init_type(test, FI_EP_MSG);

	if (ret)
		return ret;
	vt_of(test)->info->tx_attr->size = NTH_DEPTH;
	vt_of(test)->info->rx_attr->size = NTH_DEPTH;
	return 0;
}

/* The error of a message to a peer that is new to @from; @nth: a worker's allocation that fails */
static int late_send(struct kunit *test, struct vt_end *from, unsigned int nth, bool *struck)
{
	u8 *in = vt_buf(test, LATE_LEN), *out = vt_buf(test, LATE_LEN);
	struct vt_end peer = {};
	struct vt_comp comp;
	fi_addr_t addr;

	vt_client(test, &peer, &vt_default_kind);
	vt_recv(test, &peer, in, LATE_LEN, vt_ctx(1));
	addr = vt_know(test, from, &peer);
	nth_workers.arm(NULL, &nth_workers, nth);
	KUNIT_EXPECT_EQ(test, fi_send(from->ep, out, LATE_LEN, NULL, addr, vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, vt_wait(from->tx, &comp), 1);
	*struck = nth_workers.disarm(NULL, &nth_workers);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	vt_none(test, from->tx);
	vt_end_close(test, &peer);
	return comp.err;
}

static void a_message_to_a_new_peer_finds_no_memory_for_it(struct kunit *test)
{
	struct vt_end end = {};
	unsigned int nth = 0;
	bool struck;
	int err;

	vt_client(test, &end, &vt_default_kind);
	do {
		err = late_send(test, &end, ++nth, &struck);
	} while (struck && err != ENOMEM);
	KUNIT_EXPECT_EQ(test, err, ENOMEM);
	/* And the next one finds it */
	KUNIT_EXPECT_EQ(test, late_send(test, &end, 0, &struck), 0);
}

/* A worker posts all batches of a list but the first */
static void a_later_batch_of_a_list_finds_no_memory(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct nth_env *env = vt_buf(test, sizeof(*env));
	unsigned int nth = 0;
	bool struck = true;
	int ret;

	ret = nth_env_open(env, test, "verbs", &attr) ? : nth_target(env);
	KUNIT_EXPECT_EQ(test, ret, 0);
	while (!ret && struck) {
		nth_workers.arm(env, &nth_workers, ++nth);
		ret = nth_move(env, true, NTH_PARTS);
		struck = nth_workers.disarm(env, &nth_workers);
	}
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	kunit_info(test, "allocation %u\n", nth);
	nth_env_close(env);
}

/**
 * struct room - A client that is called when there may be room
 * @called: by its ready callback
 */
struct room {
	struct completion called;
};

static void room_ready(struct fid_ep *ep, u64 flags)
{
	struct room *room = ep->fid.context;

	complete(&room->called);
}

static void room_done(struct fid_ep *ep, const struct fi_done_entry *entry)
{
}

static const struct fi_ep_callbacks room_callbacks = {
	.done	= room_done,
	.ready	= room_ready,
};

static const struct vt_kind room_kind = { "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE };

/* Post a receive while the next allocation of this task fails */
static ssize_t room_recv(struct vt_end *end, void *buf, bool *struck)
{
	ssize_t ret;

	nth_own.arm(NULL, &nth_own, 1);
	ret = fi_recv(end->ep, buf, LATE_LEN, NULL, FI_ADDR_UNSPEC, NULL);
	*struck = nth_own.disarm(NULL, &nth_own);
	return ret;
}

static void a_receive_without_memory_is_accepted_later(struct kunit *test)
{
	struct vt_end end = { .callbacks = &room_callbacks };
	struct room *room = vt_buf(test, sizeof(*room));
	void *buf = vt_buf(test, LATE_LEN);
	int posted = 0, refused = 0;
	bool struck;
	ssize_t ret;

	init_completion(&room->called);
	vt_client(test, &end, &room_kind);
	end.ep->fid.context = room;
	for (;;) {
		ret = room_recv(&end, buf, &struck);
		if (ret && !struck)
			break;
		KUNIT_ASSERT_EQ(test, ret, struck ? -EAGAIN : 0);
		posted++;
		if (!struck)
			continue;
		refused++;
		/* No receive completes, as there is no connection */
		KUNIT_ASSERT_TRUE(test, vt_completed(&room->called));
		KUNIT_ASSERT_EQ(test, fi_recv(end.ep, buf, LATE_LEN, NULL, FI_ADDR_UNSPEC, NULL),
				0);
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	KUNIT_EXPECT_EQ(test, posted, NTH_DEPTH);
	KUNIT_EXPECT_GT(test, refused, 0);
	vt_end_close(test, &end);
}

static void a_message_without_memory_is_accepted_later(struct kunit *test)
{
	u8 *in = vt_buf(test, LATE_LEN), *out = vt_buf(test, LATE_LEN);
	struct vt_pair pair = {};
	int i, refused = 0;
	ssize_t ret;

	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < NTH_DEPTH; i++)
		vt_recv(test, &pair.b, in, LATE_LEN, vt_ctx(1));
	/* An operation is free again when its completion has been read */
	for (i = 0; i < NTH_DEPTH; i++) {
		nth_own.arm(NULL, &nth_own, 1);
		ret = fi_send(pair.a.ep, out, LATE_LEN, NULL, 0, vt_ctx(2));
		if (!nth_own.disarm(NULL, &nth_own)) {
			KUNIT_ASSERT_EQ(test, ret, 0);
			continue;
		}
		KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
		refused++;
		vt_send(test, &pair.a, out, LATE_LEN, vt_ctx(2));
	}
	KUNIT_EXPECT_GT(test, refused, 0);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, LATE_LEN, NULL, 0, vt_ctx(2)), -EAGAIN);
	for (i = 0; i < NTH_DEPTH; i++) {
		vt_done(test, pair.a.tx, vt_ctx(2));
		vt_done(test, pair.b.rx, vt_ctx(1));
	}
	vt_pair_close(test, &pair);
}

/* Nothing that a post needs is allocated then */
static void an_endpoint_with_the_reserves_has_all_receives(struct kunit *test)
{
	void *buf = vt_buf(test, LATE_LEN);
	int i, ret, reserves = 1, refused = 0;
	struct vt_end end = {};
	unsigned int nth = 0;
	bool struck;

	vt_end_queues(test, &end, vt_of(test)->info, &vt_default_kind);
	end.ep = vt_ep(test, vt_of(test)->info);
	do {
		nth_own.arm(NULL, &nth_own, ++nth);
		ret = fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MEM_RESERVES, &reserves,
				sizeof(reserves));
		struck = nth_own.disarm(NULL, &nth_own);
		KUNIT_ASSERT_TRUE(test, !ret || (struck && ret == -ENOMEM));
		refused += !!ret;
	} while (struck);
	KUNIT_EXPECT_GT(test, refused, 0);
	vt_end_enable(test, &end, &vt_default_kind);
	for (i = 0; i < NTH_DEPTH; i++) {
		KUNIT_EXPECT_EQ(test, room_recv(&end, buf, &struck), 0);
		KUNIT_EXPECT_FALSE(test, struck);
	}
	KUNIT_EXPECT_EQ(test, room_recv(&end, buf, &struck), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, struck);
	vt_end_close(test, &end);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(a_message_to_a_new_peer_finds_no_memory_for_it),
	KUNIT_CASE(a_later_batch_of_a_list_finds_no_memory),
	{}
};

struct kunit_suite kofi_nth_late_suite = {
	.name		= "kofi_nth_late",
	.suite_init	= nth_plain_suite_init,
	.suite_exit	= nth_plain_suite_exit,
	.init		= late_init,
	.exit		= vt_exit,
	.test_cases	= late_cases,
};

static struct kunit_case room_cases[] = {
	KUNIT_CASE(a_receive_without_memory_is_accepted_later),
	KUNIT_CASE(a_message_without_memory_is_accepted_later),
	KUNIT_CASE(an_endpoint_with_the_reserves_has_all_receives),
	{}
};

struct kunit_suite kofi_nth_room_suite = {
	.name		= "kofi_nth_room",
	.suite_init	= nth_plain_suite_init,
	.suite_exit	= nth_plain_suite_exit,
	.init		= room_init,
	.exit		= vt_exit,
	.test_cases	= room_cases,
};
