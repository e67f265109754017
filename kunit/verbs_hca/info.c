// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Discovery while a device changes: fi_getinfo() has an rdma_cm_id for each address
 * resolution, and that id gets events of the device until it is destroyed.
 *
 * A hook of the fake HCA stops fi_getinfo() while its id is bound.  rdma_cm handles
 * events in the order of the ids they are for, so when an id of the case that was bound
 * later has had its event, the one of fi_getinfo() has had its own.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/inet.h>
#include <rdma/rdma_cm.h>
#include "hca.h"

/**
 * struct info_witness - An id that has the events that the one of fi_getinfo() has
 * @id: the id, bound to the device
 * @event: what it has heard
 * @heard: completed then
 */
struct info_witness {
	struct rdma_cm_id	*id;
	enum rdma_cm_event_type	event;
	struct completion	heard;
};

static int witness_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct info_witness *witness = id->context;

	witness->event = event->event;
	complete(&witness->heard);
	return 0;
}

static int witness_bind(struct info_witness *witness)
{
	struct sockaddr_in addr = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= in_aton(FAKEHCA_ADDR),
	};

	witness->id = rdma_create_id(&init_net, witness_handler, witness, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(witness->id))
		return PTR_ERR(witness->id);
	return rdma_bind_addr(witness->id, (struct sockaddr *)&addr);
}

/* By the task of the case, also inside fi_getinfo() */
static void change_address(void *context)
{
	struct kunit *test = context;
	struct info_witness witness = {};

	init_completion(&witness.heard);
	KUNIT_EXPECT_EQ(test, witness_bind(&witness), 0);
	fakehca_fail_over();
	KUNIT_EXPECT_TRUE(test, vt_completed(&witness.heard));
	KUNIT_EXPECT_EQ(test, witness.event, RDMA_CM_EVENT_ADDR_CHANGE);
	if (!IS_ERR(witness.id))
		rdma_destroy_id(witness.id);
}

static const struct resolution_case {
	const char	*name;
	u64		flags;
} resolution_cases[] = {
	{ "of a local address", FI_SOURCE },
	{ "of a peer's address", 0 },
};

KUNIT_ARRAY_PARAM_DESC(resolution, resolution_cases, name);

static void event_during_an_address_resolution_changes_nothing(struct kunit *test)
{
	const struct resolution_case *row = test->param_value;
	struct fi_info *hints, *info = NULL;

	ht_device(test, NULL);
	hints = ht_hints(test);
	fakehca_on_query_port(ht_of(test)->hca, change_address, test);

	KUNIT_EXPECT_EQ(test, fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
					 FAKEHCA_ADDR, 7, row->flags, hints, &info), 0);

	KUNIT_ASSERT_NOT_NULL(test, info);
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name, fakehca_name(ht_of(test)->hca));
	KUNIT_EXPECT_EQ(test, !!info->dest_addr, !row->flags);
	fi_freeinfo(info);
}

static void a_listener_outlives_a_change_of_its_hardware_address(struct kunit *test)
{
	struct vt_pair pair = {};

	ht_serve(test, NULL);
	change_address(test);
	ht_join(test, &pair);
	vt_ping(test, &pair.a, &pair.b);
}

static void the_speed_of_the_link_is_that_of_its_lanes(struct kunit *test)
{
	ht_open(test, NULL);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->nic->link_attr->speed, 100000000000UL);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE_PARAM(event_during_an_address_resolution_changes_nothing, resolution_gen_params),
	KUNIT_CASE(a_listener_outlives_a_change_of_its_hardware_address),
	KUNIT_CASE(the_speed_of_the_link_is_that_of_its_lanes),
	{}
};

struct kunit_suite kofi_hca_info_suite = {
	.name		= "kofi_hca_info",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= info_cases,
};
