// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects: many of each, the order in which they are closed, event queues.
 */
#include <rdma/fi_ep_set.h>
#include "conformance.h"

#define NR	8

static void fabrics_and_domains_open_many_times(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_domain *domain;
	int i;

	vt_open_info(test, vt->info);
	for (i = 0; i < NR; i++) {
		KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &domain, NULL), 0);
		vt_adopt(test, &domain->fid);
	}
	for (i = 0; i < NR; i++)
		vt_open_info(test, vt->info);
}

static void endpoints_open_many_times(struct kunit *test)
{
	struct vt_end end = {};
	int i;

	conf_shallow(test, 4);
	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < NR; i++) {
		end = (struct vt_end) {};
		vt_client(test, &end, &vt_default_kind);
	}
}

static void what_is_in_use_cannot_be_closed(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end end = {};

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &end, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->fabric->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->domain->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&end.tx->cq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&end.eq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->eq->fid), -EBUSY);
	vt_end_close(test, &end);
}

static void what_belongs_elsewhere_cannot_be_bound(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_domain *other;
	struct fid_ep *ep;
	struct vt_cq *cq;
	struct fid_cq *far;

	vt_open_info(test, vt->info);
	cq = vt_cq(test, &vt_default_kind, 0);
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &other, NULL), 0);
	vt_adopt(test, &other->fid);
	KUNIT_ASSERT_EQ(test, fi_cq_open(other, NULL, &far, NULL), 0);
	vt_adopt(test, &far->fid);
	ep = vt_ep(test, vt->info);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &far->fid, FI_TRANSMIT), -FI_EDOMAIN);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &vt->domain->fid, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, 0), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT), -EINVAL);
}

/* In any order, and once */
static void queues_have_to_be_bound_before_enable(struct kunit *test)
{
	static const u64 orders[][2] = { { FI_TRANSMIT, FI_RECV }, { FI_RECV, FI_TRANSMIT } };
	struct vt *vt = vt_of(test);
	struct fid_eq *eq;
	struct fid_ep *ep;
	struct vt_cq *cq;
	int i;

	if (!conf_is_msg(test))
		return;
	conf_shallow(test, 4);
	vt_open_info(test, vt->info);
	eq = vt_eq(test, 0);
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		cq = vt_cq(test, &vt_default_kind, 16);
		ep = vt_ep(test, vt->info);
		KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_ENOEQ);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &eq->fid, 0), 0);
		KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_ENOCQ);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, orders[i][0]), 0);
		KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_ENOCQ);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, orders[i][1]), 0);
		KUNIT_EXPECT_EQ(test, fi_enable(ep), 0);
		KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_EOPBADSTATE);
		KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &eq->fid, 0), -EINVAL);
	}
}

/* Objects that connectionless and shared endpoints need */
static void objects_that_are_not_claimed_are_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_av_attr av_attr = { .type = FI_AV_MAP };
	struct fi_rx_attr rx_attr = *vt->info->rx_attr;
	struct fid_ep *srx;
	struct fid_av *av;
	int ret;

	vt_open_info(test, vt->info);
	ret = fi_av_open(vt->domain, &av_attr, &av, NULL);
	if (!ret)
		vt_adopt(test, &av->fid);
	else
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);

	ret = fi_srx_context(vt->domain, &rx_attr, &srx, NULL);
	if (!ret)
		vt_adopt(test, &srx->fid);
	KUNIT_EXPECT_EQ(test, ret, vt->info->domain_attr->max_ep_srx_ctx ? 0 : -ENOSYS);
	KUNIT_EXPECT_EQ(test, conf_wants_shared(test), !ret);
	KUNIT_EXPECT_EQ(test, fi_open_ops(&vt->domain->fid, "no_such_ops", 0,
					  (void **)&av, NULL), -ENOSYS);
}

static void expect_empty(struct kunit *test, const struct fi_ep_set *set)
{
	KUNIT_EXPECT_NULL(test, set->ep);
	KUNIT_EXPECT_NULL(test, set->cq);
	KUNIT_EXPECT_NULL(test, set->av);
	KUNIT_EXPECT_NULL(test, set->domain);
	KUNIT_EXPECT_NULL(test, set->eq);
	KUNIT_EXPECT_NULL(test, set->fabric);
}

static void a_set_opens_all_that_an_endpoint_needs(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	struct fi_ep_set set = { };
	u8 *buf = vt_buf(test, 8);

	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, info, NULL, test), 0);
	KUNIT_EXPECT_EQ(test, !set.eq, info->ep_attr->type != FI_EP_MSG);
	KUNIT_EXPECT_EQ(test, !set.av, info->ep_attr->type == FI_EP_MSG);
	KUNIT_EXPECT_PTR_EQ(test, set.ep->fid.context, (void *)test);
	KUNIT_EXPECT_EQ(test, fi_ep_set_open(&set, info, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_enable(set.ep), 0);
	KUNIT_EXPECT_EQ(test, fi_recv(set.ep, buf, 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	expect_empty(test, &set);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
}

static void a_set_uses_what_it_is_given(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_ep_set set = { };

	vt_open_info(test, vt->info);
	set.fabric = vt->fabric;
	set.domain = vt->domain;
	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, vt->info, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->domain->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	KUNIT_EXPECT_PTR_EQ(test, set.fabric, vt->fabric);
	KUNIT_EXPECT_PTR_EQ(test, set.domain, vt->domain);
	/* They are still open */
	vt_ep(test, vt->info);
}

static void a_set_that_fails_leaves_nothing_open(struct kunit *test)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };
	struct fi_ep_set set = { };

	KUNIT_EXPECT_NE(test, fi_ep_set_open(&set, vt_of(test)->info, &attr, NULL), 0);
	expect_empty(test, &set);
	KUNIT_EXPECT_EQ(test, fi_ep_set_open(&set, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_ep_set_open(NULL, vt_of(test)->info, NULL, NULL), -EINVAL);
}

static void a_set_closes_the_rest_when_it_can(struct kunit *test)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_ep_set set = { };
	struct fid_cntr *cntr;

	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, vt_of(test)->info, NULL, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(set.domain, &attr, &cntr, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EBUSY);
	KUNIT_EXPECT_NULL(test, set.ep);
	KUNIT_EXPECT_NULL(test, set.cq);
	KUNIT_EXPECT_NOT_NULL(test, set.domain);

	/* The queue that it uses now is the client's */
	KUNIT_ASSERT_EQ(test, fi_cq_open(set.domain, &cq_attr, &set.cq, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, vt_of(test)->info, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EBUSY);
	KUNIT_ASSERT_NOT_NULL(test, set.cq);
	KUNIT_EXPECT_EQ(test, fi_close(&set.cq->fid), 0);
	set.cq = NULL;

	KUNIT_ASSERT_EQ(test, fi_close(&cntr->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	expect_empty(test, &set);
}

static struct kunit_case open_cases[] = {
	KUNIT_CASE_PARAM(fabrics_and_domains_open_many_times, conf_gen_params),
	KUNIT_CASE_PARAM(endpoints_open_many_times, conf_gen_params),
	KUNIT_CASE_PARAM(what_is_in_use_cannot_be_closed, conf_gen_msg),
	KUNIT_CASE_PARAM(what_belongs_elsewhere_cannot_be_bound, conf_gen_params),
	KUNIT_CASE_PARAM(queues_have_to_be_bound_before_enable, conf_gen_msg),
	KUNIT_CASE_PARAM(objects_that_are_not_claimed_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_set_opens_all_that_an_endpoint_needs, conf_gen_params),
	KUNIT_CASE_PARAM(a_set_uses_what_it_is_given, conf_gen_params),
	KUNIT_CASE_PARAM(a_set_that_fails_leaves_nothing_open, conf_gen_params),
	KUNIT_CASE_PARAM(a_set_closes_the_rest_when_it_can, conf_gen_params),
	{}
};

struct kunit_suite conf_open_suite = {
	.name		= "kofi_conformance_open",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= open_cases,
};

static struct fid_eq *writable(struct kunit *test, enum fi_wait_obj wait_obj, size_t size)
{
	struct fi_eq_attr attr = {
		.size		= size,
		.flags		= FI_WRITE,
		.wait_obj	= wait_obj,
	};
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &attr, &eq, NULL), 0);
	vt_adopt(test, &eq->fid);
	return eq;
}

static void written_events_are_read_in_order(struct kunit *test)
{
	struct fi_eq_entry out = {}, in;
	struct fid_eq *eq;
	u32 event, i;

	vt_open_info(test, vt_of(test)->info);
	eq = writable(test, FI_WAIT_UNSPEC, NR);
	for (i = 0; i < NR; i++) {
		out.data = i;
		out.context = vt_ctx(i);
		KUNIT_ASSERT_EQ(test, fi_eq_write(eq, FI_NOTIFY + i, &out, sizeof(out), 0),
				(ssize_t)sizeof(out));
	}
	KUNIT_EXPECT_EQ(test, fi_eq_write(eq, 1, &out, sizeof(out), 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &event, &in, sizeof(in), FI_PEEK),
			(ssize_t)sizeof(in));
	KUNIT_EXPECT_EQ(test, event, FI_NOTIFY);
	for (i = 0; i < NR; i++) {
		KUNIT_ASSERT_EQ(test, vt_eq_sread(eq, &event, &in, sizeof(in),
						  0), (ssize_t)sizeof(in));
		KUNIT_EXPECT_EQ(test, event, FI_NOTIFY + i);
		KUNIT_EXPECT_EQ(test, in.data, i);
		KUNIT_EXPECT_PTR_EQ(test, in.context, vt_ctx(i));
	}
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &event, &in, sizeof(in), 0), -EAGAIN);
}

static void an_empty_event_queue_has_nothing(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct fi_eq_entry in;
	struct fid_eq *eq;
	u32 event;

	vt_open_info(test, vt_of(test)->info);
	eq = vt_eq(test, 0);
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &event, &in, sizeof(in), 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &event, &in, sizeof(in), FI_PEEK), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, &event, &in, sizeof(in), 5, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(eq, &error, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_eq_write(eq, 1, &in, sizeof(in), 0), -ENOSYS);
	KUNIT_EXPECT_NOT_NULL(test, fi_eq_strerror(eq, 1, NULL, NULL, 0));
	eq = writable(test, FI_WAIT_NONE, 0);
	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, &event, &in, sizeof(in), 0, 0), -EINVAL);
}

static void other_event_queues_are_refused(struct kunit *test)
{
	static const struct {
		struct fi_eq_attr	attr;
		int			ret;
	} bad[] = {
		{ { .wait_obj = FI_WAIT_FD }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_SET }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_DONE }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_CALLBACK }, -EINVAL },
		{ { .flags = FI_SOURCE }, -FI_EBADFLAGS },
	};
	struct fi_eq_attr attr;
	struct fid_eq *eq;
	size_t i;

	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		attr = bad[i].attr;
		KUNIT_EXPECT_EQ_MSG(test, fi_eq_open(vt_of(test)->fabric, &attr, &eq, NULL),
				    bad[i].ret, "attributes %zu", i);
	}
}

static void told(struct fid_eq *eq, void *context)
{
	complete(context);
}

static void a_handler_is_told_of_events(struct kunit *test)
{
	struct completion *event = vt_buf(test, sizeof(*event));
	struct fi_eq_attr attr = {
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= told,
	};
	struct vt *vt = vt_of(test);
	struct vt_end end = {};
	struct fid_eq *eq;

	if (!conf_is_msg(test))
		return;
	init_completion(event);
	vt_open_info(test, vt->info);
	KUNIT_ASSERT_EQ(test, fi_eq_open(vt->fabric, &attr, &eq, event), 0);
	vt_adopt(test, &eq->fid);
	vt_listen(test, eq);
	vt_client(test, &end, &vt_default_kind);
	vt_connect(test, &end, NULL, 0);
	KUNIT_EXPECT_TRUE(test, vt_completed(event));
}

static struct kunit_case eq_cases[] = {
	KUNIT_CASE_PARAM(written_events_are_read_in_order, conf_gen_params),
	KUNIT_CASE_PARAM(an_empty_event_queue_has_nothing, conf_gen_params),
	KUNIT_CASE_PARAM(other_event_queues_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_handler_is_told_of_events, conf_gen_msg),
	{}
};

struct kunit_suite conf_eq_suite = {
	.name		= "kofi_conformance_eq",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= eq_cases,
};
