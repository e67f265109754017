// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The registry of connection requests: what a handle finds, and whose a request and its
 * fi_info are at any time.
 *
 * A case is the provider, and its client as well.  Passive endpoints are fids without
 * anything behind them, as the registry compares their addresses only.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <kofi/connreq.h>
#include <kofi/provider.h>
#include "util.h"

#define CR_REQS		3
#define CR_RACES	200

static struct kofi_connreqs cr_reqs = KOFI_CONNREQS_INIT(cr_reqs);
static struct kofi_connreqs cr_other_reqs = KOFI_CONNREQS_INIT(cr_other_reqs);

/**
 * struct cr - A case
 * @eq: the event queue of both passive endpoints
 * @pep: the passive endpoints
 * @req: requests
 */
struct cr {
	struct fid_eq		*eq;
	struct fid		pep[2];
	struct kofi_connreq	req[CR_REQS];
};

static void cr_close_eq(void *data)
{
	struct fid_eq *eq = data;

	eq->fid.ops->close(&eq->fid);
}

static struct cr *cr_open(struct kunit *test, size_t size)
{
	struct fi_eq_attr attr = { .size = size, .wait_obj = FI_WAIT_NONE };
	struct cr *cr = vt_buf(test, sizeof(*cr));

	KUNIT_ASSERT_EQ(test, kofi_eq_open(&attr, NULL, &cr->eq, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cr_close_eq, cr->eq), 0);
	test->priv = cr;
	return cr;
}

/* The request has a handle and an info, and has not been posted */
static void cr_add(struct kunit *test, int i)
{
	struct cr *cr = test->priv;

	memset(&cr->req[i], 0xa5, sizeof(cr->req[i]));
	KUNIT_ASSERT_EQ(test, kofi_connreq_add(&cr_reqs, &cr->req[i], GFP_KERNEL), 0);
	cr->req[i].event.info = fi_allocinfo();
	if (!cr->req[i].event.info) {
		kofi_connreq_cancel(&cr_reqs, &cr->req[i]);
		KUNIT_FAIL_AND_ABORT(test, "no memory");
	}
}

static int cr_post_to(struct kunit *test, int i, int pep)
{
	struct cr *cr = test->priv;

	return kofi_connreq_post(&cr_reqs, &cr->req[i], &cr->pep[pep], to_kofi_eq(&cr->eq->fid));
}

/* Adds and posts */
static fid_t cr_ask(struct kunit *test, int i, int pep)
{
	struct cr *cr = test->priv;

	cr_add(test, i);
	KUNIT_ASSERT_EQ(test, cr_post_to(test, i, pep), 0);
	return kofi_connreq_handle(&cr->req[i]);
}

/* Of the next event; the client's to free */
static struct fi_info *cr_read(struct kunit *test)
{
	struct fi_eq_cm_entry entry = {};
	struct cr *cr = test->priv;
	u32 event;

	KUNIT_ASSERT_EQ(test, cr->eq->ops->read(cr->eq, &event, &entry, sizeof(entry), 0),
			(ssize_t)sizeof(entry));
	KUNIT_EXPECT_EQ(test, event, FI_CONNREQ);
	return entry.info;
}

static void cr_expect_no_event(struct kunit *test)
{
	struct fi_eq_cm_entry entry;
	struct cr *cr = test->priv;
	u32 event;

	KUNIT_EXPECT_EQ(test, cr->eq->ops->read(cr->eq, &event, &entry, sizeof(entry), 0), -EAGAIN);
}

static long cr_take_err(fid_t handle)
{
	return PTR_ERR_OR_ZERO(kofi_connreq_take(&cr_reqs, handle, NULL, NULL));
}

static void event_carries_handle_and_passive_endpoint(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	struct fi_info *info;
	fid_t handle;

	handle = cr_ask(test, 0, 1);

	KUNIT_EXPECT_PTR_EQ(test, cr->req[0].event.fid, &cr->pep[1]);
	info = cr_read(test);
	KUNIT_EXPECT_PTR_EQ(test, info->handle, handle);
	fi_freeinfo(info);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
}

static void handle_takes_its_request(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	fid_t first, second;

	first = cr_ask(test, 0, 0);
	second = cr_ask(test, 1, 0);

	KUNIT_EXPECT_PTR_EQ(test, kofi_connreq_take(&cr_reqs, second, NULL, NULL), &cr->req[1]);
	KUNIT_EXPECT_PTR_EQ(test, kofi_connreq_take(&cr_reqs, first, NULL, NULL), &cr->req[0]);
}

static void handle_takes_once(struct kunit *test)
{
	fid_t handle;

	cr_open(test, 0);
	handle = cr_ask(test, 0, 0);

	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle), -EINVAL);
}

static void old_handle_misses_a_request_in_the_same_memory(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	fid_t before, now;

	before = cr_ask(test, 0, 0);
	KUNIT_ASSERT_EQ(test, cr_take_err(before), 0);
	now = cr_ask(test, 0, 0);

	KUNIT_EXPECT_PTR_NE(test, before, now);
	KUNIT_EXPECT_EQ(test, cr_take_err(before), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, kofi_connreq_take(&cr_reqs, now, NULL, NULL), &cr->req[0]);
}

static void handle_is_no_address(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	fid_t handle;

	handle = cr_ask(test, 0, 0);

	KUNIT_EXPECT_TRUE(test, xa_is_value(handle));
	KUNIT_EXPECT_EQ(test, cr_take_err((fid_t)&cr->req[0]), -EINVAL);
	KUNIT_EXPECT_EQ(test, cr_take_err(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, cr_take_err(xa_mk_value(LONG_MAX)), -EINVAL);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
}

static void handle_of_another_registry_is_refused(struct kunit *test)
{
	struct kofi_connreq other;
	fid_t handle;

	cr_open(test, 0);
	handle = cr_ask(test, 0, 0);
	KUNIT_ASSERT_EQ(test, kofi_connreq_add(&cr_other_reqs, &other, GFP_KERNEL), 0);

	KUNIT_EXPECT_PTR_NE(test, kofi_connreq_handle(&other), handle);
	KUNIT_EXPECT_EQ(test,
			PTR_ERR_OR_ZERO(kofi_connreq_take(&cr_other_reqs, handle, NULL, NULL)),
			-EINVAL);
	kofi_connreq_cancel(&cr_other_reqs, &other);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
}

static void request_that_is_not_posted_is_not_found(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	LIST_HEAD(dropped);

	cr_add(test, 0);

	KUNIT_EXPECT_EQ(test, cr_take_err(kofi_connreq_handle(&cr->req[0])), -EINVAL);
	kofi_connreqs_drop(&cr_reqs, kofi_connreq_is_of, NULL, &dropped);
	KUNIT_EXPECT_TRUE(test, list_empty(&dropped));
	cr_expect_no_event(test);
	kofi_connreq_cancel(&cr_reqs, &cr->req[0]);
	fi_freeinfo(cr->req[0].event.info);
}

static void full_event_queue_refuses_a_request(struct kunit *test)
{
	struct cr *cr = cr_open(test, 1);
	fid_t first;

	first = cr_ask(test, 0, 0);
	cr_add(test, 1);

	KUNIT_EXPECT_EQ(test, cr_post_to(test, 1, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, cr_take_err(kofi_connreq_handle(&cr->req[1])), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, cr->req[1].event.info);
	kofi_connreq_cancel(&cr_reqs, &cr->req[1]);
	fi_freeinfo(cr->req[1].event.info);
	KUNIT_EXPECT_EQ(test, cr_take_err(first), 0);
}

static void cancelled_request_leaves_no_place(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);

	cr_add(test, 0);
	/* It is in no queue and in no list */
	KUNIT_EXPECT_NULL(test, cr->req[0].eq);
	KUNIT_EXPECT_TRUE(test, list_empty(&cr->req[0].entry));
	kofi_connreq_cancel(&cr_reqs, &cr->req[0]);
	fi_freeinfo(cr->req[0].event.info);

	KUNIT_EXPECT_TRUE(test, xa_empty(&cr_reqs.requests));
}

/* An xarray keeps a node that it has made for an entry if there is no memory for the next one */
static void a_place_without_memory_leaves_nothing_behind(struct kunit *test)
{
	struct kofi_connreq *req = vt_buf(test, sizeof(*req));
	int i, ret;

	if (!ut_fail_second_node(test))
		return;
	/* A place beyond those of one node needs two */
	for (i = 0; i < XA_CHUNK_SIZE; i++) {
		KUNIT_ASSERT_EQ(test, kofi_connreq_add(&cr_reqs, req, GFP_KERNEL), 0);
		kofi_connreq_cancel(&cr_reqs, req);
	}
	ut_task_fails(true);
	ret = kofi_connreq_add(&cr_reqs, req, GFP_KERNEL);
	ut_task_fails(false);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_FALSE(test, xa_empty(&cr_reqs.requests));
	kofi_connreqs_destroy(&cr_reqs);
}

static void unread_request_is_withdrawn_with_its_info(struct kunit *test)
{
	struct cr *cr = cr_open(test, 1);
	fid_t handle;

	handle = cr_ask(test, 0, 0);

	/* kmemleak would find the info */
	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
	KUNIT_EXPECT_NULL(test, cr->req[0].event.info);
	cr_expect_no_event(test);
	/* And the queue has room again */
	KUNIT_EXPECT_EQ(test, cr_take_err(cr_ask(test, 1, 0)), 0);
}

static void info_that_was_read_stays_the_clients(struct kunit *test)
{
	struct fi_info *info;
	fid_t handle;

	cr_open(test, 0);
	handle = cr_ask(test, 0, 0);
	info = cr_read(test);

	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
	KUNIT_EXPECT_PTR_EQ(test, info->handle, handle);
	fi_freeinfo(info);
}

static int cr_refuse(const struct kofi_connreq *req, const void *context)
{
	const int *err = context;

	return *err;
}

static void check_that_refuses_leaves_the_request(struct kunit *test)
{
	const int err = -ECONNABORTED;
	struct fi_info *info;
	fid_t handle;

	cr_open(test, 0);
	handle = cr_ask(test, 0, 0);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(kofi_connreq_take(&cr_reqs, handle, cr_refuse, &err)),
			-ECONNABORTED);
	info = cr_read(test);
	KUNIT_EXPECT_PTR_EQ(test, info->handle, handle);
	fi_freeinfo(info);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle), 0);
}

static void request_of_another_passive_endpoint_is_refused(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	fid_t handle;

	handle = cr_ask(test, 0, 0);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(kofi_connreq_take(&cr_reqs, handle,
								kofi_connreq_is_of, &cr->pep[1])),
			-EINVAL);
	KUNIT_EXPECT_PTR_EQ(test,
			    kofi_connreq_take(&cr_reqs, handle, kofi_connreq_is_of, &cr->pep[0]),
			    &cr->req[0]);
}

static void drop_takes_what_its_check_means(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	LIST_HEAD(dropped);
	struct fi_info *info;
	fid_t handle[CR_REQS];

	handle[0] = cr_ask(test, 0, 0);
	handle[1] = cr_ask(test, 1, 1);
	handle[2] = cr_ask(test, 2, 0);

	kofi_connreqs_drop(&cr_reqs, kofi_connreq_is_of, &cr->pep[0], &dropped);

	KUNIT_EXPECT_EQ(test, list_count_nodes(&dropped), 2);
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry(&dropped, struct kofi_connreq,
						   entry), &cr->req[0]);
	KUNIT_EXPECT_PTR_EQ(test, list_last_entry(&dropped, struct kofi_connreq,
						  entry), &cr->req[2]);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle[0]), -EINVAL);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle[2]), -EINVAL);
	/* Only the other one's event is left */
	info = cr_read(test);
	KUNIT_EXPECT_PTR_EQ(test, info->handle, handle[1]);
	fi_freeinfo(info);
	cr_expect_no_event(test);
	KUNIT_EXPECT_EQ(test, cr_take_err(handle[1]), 0);
}

/**
 * struct cr_race - A close of a passive endpoint beside a fi_reject()
 * @work: the close
 * @pep: the passive endpoint's fid
 * @dropped: how many requests it got
 */
struct cr_race {
	struct work_struct	work;
	struct fid		*pep;
	size_t			dropped;
};

static void cr_race_drop(struct work_struct *work)
{
	struct cr_race *race = container_of(work, struct cr_race, work);
	LIST_HEAD(dropped);

	kofi_connreqs_drop(&cr_reqs, kofi_connreq_is_of, race->pep, &dropped);
	race->dropped = list_count_nodes(&dropped);
}

static void take_and_drop_have_one_winner(struct kunit *test)
{
	struct cr *cr = cr_open(test, 0);
	struct cr_race race = { .pep = &cr->pep[0] };
	fid_t handle;
	long ret;
	int i;

	INIT_WORK_ONSTACK(&race.work, cr_race_drop);
	for (i = 0; i < CR_RACES; i++) {
		handle = cr_ask(test, 0, 0);
		queue_work(system_unbound_wq, &race.work);
		ret = cr_take_err(handle);
		flush_work(&race.work);
		KUNIT_EXPECT_EQ(test, ret, race.dropped ? -EINVAL : 0);
		KUNIT_EXPECT_LE(test, race.dropped, 1);
		cr_expect_no_event(test);
	}
	destroy_work_on_stack(&race.work);
}

/* A case that has left a request there has failed already, or does now */
static void cr_exit(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, xa_empty(&cr_reqs.requests));
	KUNIT_EXPECT_TRUE(test, xa_empty(&cr_other_reqs.requests));
}

static struct kunit_case connreq_cases[] = {
	KUNIT_CASE(event_carries_handle_and_passive_endpoint),
	KUNIT_CASE(handle_takes_its_request),
	KUNIT_CASE(handle_takes_once),
	KUNIT_CASE(old_handle_misses_a_request_in_the_same_memory),
	KUNIT_CASE(handle_is_no_address),
	KUNIT_CASE(handle_of_another_registry_is_refused),
	KUNIT_CASE(request_that_is_not_posted_is_not_found),
	KUNIT_CASE(full_event_queue_refuses_a_request),
	KUNIT_CASE(cancelled_request_leaves_no_place),
	KUNIT_CASE(a_place_without_memory_leaves_nothing_behind),
	KUNIT_CASE(unread_request_is_withdrawn_with_its_info),
	KUNIT_CASE(info_that_was_read_stays_the_clients),
	KUNIT_CASE(check_that_refuses_leaves_the_request),
	KUNIT_CASE(request_of_another_passive_endpoint_is_refused),
	KUNIT_CASE(drop_takes_what_its_check_means),
	KUNIT_CASE(take_and_drop_have_one_winner),
	{}
};

static struct kunit_suite connreq_suite = {
	.name		= "kofi_util_connreq",
	.exit		= cr_exit,
	.test_cases	= connreq_cases,
};

kunit_test_suite(connreq_suite);
