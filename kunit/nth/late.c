// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that have been taken, and find no memory when their turn comes.
 */
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include "../lib/client.h"
#include "nth.h"

#define LATE_LEN	64

static int late_init(struct kunit *test)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	int ret = vt_init(test);

	if (ret || !hints)
		return ret ? : -ENOMEM;
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = kstrdup("tcp", GFP_KERNEL);
	ret = fi_getinfo(VT_API, "127.0.0.1", 0, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	vt_free_later(test, info);
	vt_open_info(test, info);
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
	struct nth_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	unsigned int nth = 0;
	bool struck = true;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, env);
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

static int late_suite_init(struct kunit_suite *suite)
{
	return nth_init();
}

static void late_suite_exit(struct kunit_suite *suite)
{
	nth_exit();
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(a_message_to_a_new_peer_finds_no_memory_for_it),
	KUNIT_CASE(a_later_batch_of_a_list_finds_no_memory),
	{}
};

struct kunit_suite kofi_nth_late_suite = {
	.name		= "kofi_nth_late",
	.suite_init	= late_suite_init,
	.suite_exit	= late_suite_exit,
	.init		= late_init,
	.exit		= vt_exit,
	.test_cases	= late_cases,
};
