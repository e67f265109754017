// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of objects: parents, children, closing, and providers that fail on the
 * way.  Bound objects are in bind.c.
 */
#include <rdma/fi_ep_set.h>
#include "../lib/refusal.h"
#include "core.h"

static const enum mock_class all_classes[] = {
	MOCK_FABRIC, MOCK_DOMAIN, MOCK_EQ, MOCK_PEP, MOCK_CQ, MOCK_EP, MOCK_MR,
	MOCK_CNTR, MOCK_AV, MOCK_SRX, MOCK_SEP, MOCK_TX, MOCK_RX, MOCK_STX,
	MOCK_MC,
};

static const enum mock_class children[] = {
	MOCK_DOMAIN, MOCK_EQ, MOCK_PEP, MOCK_CQ, MOCK_EP, MOCK_MR, MOCK_CNTR,
	MOCK_AV, MOCK_SRX, MOCK_SEP, MOCK_TX, MOCK_RX, MOCK_STX, MOCK_MC,
};

static void class_desc(const enum mock_class *class, char *desc)
{
	strscpy(desc, mock_classes[*class].name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(class, all_classes, class_desc);
KUNIT_ARRAY_PARAM(child, children, class_desc);

static const enum mock_call open_calls[MOCK_NR_CLASSES] = {
	[MOCK_FABRIC]	= MOCK_CALL_FABRIC,
	[MOCK_DOMAIN]	= MOCK_CALL_DOMAIN,
	[MOCK_EQ]	= MOCK_CALL_EQ_OPEN,
	[MOCK_PEP]	= MOCK_CALL_PASSIVE_EP,
	[MOCK_CQ]	= MOCK_CALL_CQ_OPEN,
	[MOCK_EP]	= MOCK_CALL_ENDPOINT,
	[MOCK_MR]	= MOCK_CALL_MR_REG,
	[MOCK_CNTR]	= MOCK_CALL_CNTR_OPEN,
	[MOCK_AV]	= MOCK_CALL_AV_OPEN,
	[MOCK_SRX]	= MOCK_CALL_SRX_CTX,
	[MOCK_SEP]	= MOCK_CALL_SCALABLE_EP,
	[MOCK_TX]	= MOCK_CALL_TX_CTX,
	[MOCK_RX]	= MOCK_CALL_RX_CTX,
	[MOCK_STX]	= MOCK_CALL_STX_CTX,
	[MOCK_MC]	= MOCK_CALL_JOIN,
};

static void object_opens_and_closes(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct mock *mock = set->mock;
	struct fid *fid;

	KUNIT_ASSERT_EQ(test, core_open(test, set, class, &fid), 0);
	KUNIT_EXPECT_EQ(test, fid->fclass, mock_classes[class].fclass);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->live[class]), 1);

	KUNIT_EXPECT_EQ(test, core_close(test, fid), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->live[class]), 0);
}

static void parent_with_a_child_is_busy(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct mock *mock = set->mock;
	struct fid *parent, *child;
	int live;

	parent = set->fid[core_parent(class)];
	KUNIT_ASSERT_EQ(test, core_open(test, set, class, &child), 0);
	live = mock_live(mock);

	KUNIT_EXPECT_EQ(test, core_close(test, parent), -EBUSY);

	KUNIT_EXPECT_EQ(test, mock_live(mock), live);
	KUNIT_EXPECT_EQ(test, core_close(test, child), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, parent), 0);
}

static void busy_parent_stays_usable(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct fid *first, *second;

	KUNIT_ASSERT_EQ(test, core_open(test, set, class, &first), 0);
	KUNIT_ASSERT_EQ(test, core_close(test, set->fid[core_parent(class)]), -EBUSY);

	KUNIT_EXPECT_EQ(test, core_open(test, set, class, &second), 0);
}

static void parent_stays_busy_until_the_last_child_closes(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_CQ);
	struct fid *first, *second, *parent;

	parent = set->fid[MOCK_DOMAIN];
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_CQ, &first), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_CQ, &second), 0);

	KUNIT_EXPECT_EQ(test, core_close(test, first), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, parent), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, second), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, parent), 0);
}

static void failing_open_leaves_nothing(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct mock *mock = set->mock;
	struct fid *fid = NULL;
	int live;

	live = mock_live(mock);
	mock->fail[open_calls[class]] = -EIO;

	KUNIT_EXPECT_EQ(test, core_open(test, set, class, &fid), -EIO);

	KUNIT_EXPECT_NULL(test, fid);
	KUNIT_EXPECT_EQ(test, mock_live(mock), live);
	if (class != MOCK_FABRIC)
		KUNIT_EXPECT_EQ(test, core_close(test, set->fid[core_parent(class)]), 0);
}

static void refused_close_leaves_the_object_open(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct mock *mock = set->mock;
	struct fid *fid;

	KUNIT_ASSERT_EQ(test, core_open(test, set, class, &fid), 0);
	mock->fail[MOCK_CALL_CLOSE] = -EIO;

	KUNIT_EXPECT_EQ(test, core_close(test, fid), -EIO);

	KUNIT_EXPECT_EQ(test, atomic_read(&mock->live[class]), 1);
	if (class != MOCK_FABRIC)
		KUNIT_EXPECT_EQ(test, core_close(test, set->fid[core_parent(class)]), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, fid), 0);
}

static void object_that_refused_to_close_takes_children(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_CQ);
	struct mock *mock = set->mock;
	struct fid *cq;

	mock->fail[MOCK_CALL_CLOSE] = -EIO;
	KUNIT_ASSERT_EQ(test, core_close(test, set->fid[MOCK_DOMAIN]), -EIO);

	KUNIT_EXPECT_EQ(test, core_open(test, set, MOCK_CQ, &cq), 0);
}

static int close_fid(void *fid)
{
	return fi_close(fid);
}

/* Another thread stands inside ->close; returns with it there */
static struct vt_async *start_closing(struct kunit *test, struct mock *mock, struct fid *fid)
{
	struct vt_async *closer;

	mock_gate_arm(mock, MOCK_CALL_CLOSE);
	mock->fail[MOCK_CALL_CLOSE] = -EIO;
	closer = vt_async_start(test, close_fid, fid);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(mock));
	return closer;
}

static void end_closing(struct kunit *test, struct mock *mock, struct vt_async *closer)
{
	mock_gate_open(mock);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), -EIO);
}

static void closing_parent_takes_no_child(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct mock *mock = set->mock;
	struct vt_async *closer;
	struct fid *fid = NULL;

	closer = start_closing(test, mock, set->fid[core_parent(class)]);

	KUNIT_EXPECT_EQ(test, core_open(test, set, class, &fid), -EBUSY);

	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[open_calls[class]]), 0);
	end_closing(test, mock, closer);
	KUNIT_EXPECT_EQ(test, core_open(test, set, class, &fid), 0);
}

static void closing_queue_is_not_bound(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct mock *mock = set->mock;
	struct vt_async *closer;

	closer = start_closing(test, mock, set->fid[MOCK_EQ]);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), set->fid[MOCK_EQ], 0), -EBUSY);

	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[MOCK_CALL_BIND]), 0);
	end_closing(test, mock, closer);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), set->fid[MOCK_EQ], 0), 0);
}

static void closing_endpoint_takes_no_binding_and_no_alias(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_MC);
	struct mock *mock = set->mock;
	struct vt_async *closer;
	struct fid_ep *alias;
	struct fid *eq;

	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_EQ, &eq), 0);
	closer = start_closing(test, mock, set->fid[MOCK_EP]);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), eq, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_ep_alias(core_ep(set), &alias, FI_TRANSMIT), -EBUSY);

	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[MOCK_CALL_BIND]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[MOCK_CALL_CONTROL]), 0);
	end_closing(test, mock, closer);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), eq, 0), 0);
}

static void closing_object_is_not_closed_twice(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct mock *mock = set->mock;
	struct vt_async *closer;

	closer = start_closing(test, mock, set->fid[MOCK_CQ]);

	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_CQ]), -EBUSY);
	vt_refused(test, "close", -EBUSY, "another call closes the completion queue");

	end_closing(test, mock, closer);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_CQ]), 0);
}

static int open_domain(void *data)
{
	struct core_set *set = data;
	struct fid_domain *domain;
	int err = fi_domain(core_fabric(set), set->info, &domain, NULL);

	if (!err)
		set->fid[MOCK_DOMAIN] = &domain->fid;
	return err;
}

static void fabric_is_busy_while_a_domain_opens(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_DOMAIN);
	struct mock *mock = set->mock;
	struct vt_async *opener;

	mock_gate_arm(mock, MOCK_CALL_DOMAIN);
	opener = vt_async_start(test, open_domain, set);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(mock));

	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_FABRIC]), -EBUSY);
	vt_refused(test, "close", -EBUSY, "another call uses the fabric at this moment");

	mock_gate_open(mock);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, opener), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_DOMAIN]), 0);
}

static void expect_empty(struct kunit *test, const struct fi_ep_set *set)
{
	KUNIT_EXPECT_NULL(test, set->fabric);
	KUNIT_EXPECT_NULL(test, set->domain);
	KUNIT_EXPECT_NULL(test, set->eq);
	KUNIT_EXPECT_NULL(test, set->av);
	KUNIT_EXPECT_NULL(test, set->cq);
	KUNIT_EXPECT_NULL(test, set->ep);
}

static void set_that_fails_at_any_object_leaves_none(struct kunit *test)
{
	static const enum mock_call calls[] = {
		MOCK_CALL_FABRIC, MOCK_CALL_DOMAIN, MOCK_CALL_EQ_OPEN, MOCK_CALL_CQ_OPEN,
		MOCK_CALL_ENDPOINT, MOCK_CALL_BIND,
	};
	struct core_set *given = core_parents(test, MOCK_FABRIC);
	struct mock *mock = given->mock;
	struct fi_ep_set set = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		mock->fail[calls[i]] = -EIO;
		KUNIT_EXPECT_EQ(test, fi_ep_set_open(&set, given->info, NULL, NULL), -EIO);
		expect_empty(test, &set);
		KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
	}
}

/* Each object is busy in its turn, and what comes behind it stays open with it */
static void set_that_cannot_be_closed_is_closed_later(struct kunit *test)
{
	struct core_set *other = core_parents(test, MOCK_EP);
	struct mock *mock = other->mock;
	struct fi_ep_set set = {};
	struct fid *ep, *pep, *eq;
	struct fid_fabric *fabric;
	struct fid_domain *domain;

	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, other->info, NULL, NULL), 0);
	mock->fail[MOCK_CALL_CLOSE] = -EIO;
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EIO);
	KUNIT_EXPECT_NOT_NULL(test, set.ep);

	fabric = core_fabric(other);
	domain = core_domain(other);
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_EQ, &other->fid[MOCK_EQ]), 0);
	other->fid[MOCK_FABRIC] = &set.fabric->fid;
	other->fid[MOCK_DOMAIN] = &set.domain->fid;
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_EP, &ep), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_PEP, &pep), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_EQ, &eq), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(container_of(ep, struct fid_ep, fid), &set.cq->fid,
					 FI_TRANSMIT), 0);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(container_of(pep, struct fid_pep, fid), &set.eq->fid, 0),
			0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EBUSY);
	KUNIT_EXPECT_NULL(test, set.ep);
	KUNIT_EXPECT_NOT_NULL(test, set.cq);
	/* What is left is the set's, and closed with it, also if an endpoint joins it again */
	KUNIT_EXPECT_EQ(test, fi_ep_set_open(&set, other->info, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, ep), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EBUSY);
	KUNIT_EXPECT_NULL(test, set.domain);
	KUNIT_EXPECT_NOT_NULL(test, set.eq);
	KUNIT_EXPECT_EQ(test, core_close(test, pep), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EBUSY);
	KUNIT_EXPECT_NULL(test, set.eq);
	KUNIT_EXPECT_NOT_NULL(test, set.fabric);
	KUNIT_EXPECT_EQ(test, core_close(test, eq), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	expect_empty(test, &set);

	/* Nothing is remembered of objects that are closed: these are not the set's */
	set.fabric = fabric;
	set.domain = domain;
	set.eq = core_eq(other);
	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, other->info, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	KUNIT_EXPECT_PTR_EQ(test, set.fabric, fabric);
	KUNIT_EXPECT_PTR_EQ(test, set.domain, domain);
	KUNIT_EXPECT_PTR_EQ(test, set.eq, core_eq(other));
}

static void address_vector_of_a_set_that_is_busy_is_closed_later(struct kunit *test)
{
	struct core_set *other = core_parents(test, MOCK_EP);
	struct fi_ep_set set = {};
	struct fid *ep, *av;

	other->info->ep_attr->type = FI_EP_RDM;
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_AV, &av), 0);
	set.fabric = core_fabric(other);
	set.domain = core_domain(other);
	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, other->info, NULL, NULL), 0);
	KUNIT_EXPECT_NULL(test, set.eq);
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_EP, &ep), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(container_of(ep, struct fid_ep, fid), &set.av->fid, 0),
			0);

	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), -EBUSY);
	KUNIT_EXPECT_NULL(test, set.cq);
	KUNIT_EXPECT_NOT_NULL(test, set.av);
	KUNIT_EXPECT_EQ(test, core_close(test, ep), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	KUNIT_EXPECT_NULL(test, set.av);

	/* The next one is the client's */
	set.av = container_of(av, struct fid_av, fid);
	KUNIT_ASSERT_EQ(test, fi_ep_set_open(&set, other->info, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	KUNIT_EXPECT_PTR_EQ(test, &set.av->fid, av);
	KUNIT_ASSERT_EQ(test, core_open(test, other, MOCK_EP, &ep), 0);
	set.ep = container_of(ep, struct fid_ep, fid);
	KUNIT_EXPECT_EQ(test, fi_ep_set_close(&set), 0);
	KUNIT_EXPECT_PTR_EQ(test, &set.ep->fid, ep);
}

static void object_keeps_the_clients_context(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_DOMAIN);
	struct fid_domain *domain;
	int mark;

	KUNIT_ASSERT_EQ(test, fi_domain(core_fabric(set), set->info, &domain, &mark), 0);
	core_adopt(test, &domain->fid);

	KUNIT_EXPECT_PTR_EQ(test, domain->fid.context, (void *)&mark);
}

static void fabric_has_an_api_version(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_DOMAIN);

	KUNIT_EXPECT_EQ(test, core_fabric(set)->api_version, (u32)CORE_API);
}

static void two_fabrics_live_apart(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct core_set one, two;

	core_open_parents(test, &one, mock, MOCK_EP);
	core_open_parents(test, &two, mock, MOCK_DOMAIN);

	KUNIT_EXPECT_EQ(test, core_close(test, two.fid[MOCK_FABRIC]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, one.fid[MOCK_FABRIC]), -EBUSY);
}

static struct kunit_case lifetime_cases[] = {
	KUNIT_CASE_PARAM(object_opens_and_closes, class_gen_params),
	KUNIT_CASE_PARAM(parent_with_a_child_is_busy, child_gen_params),
	KUNIT_CASE_PARAM(busy_parent_stays_usable, child_gen_params),
	KUNIT_CASE(parent_stays_busy_until_the_last_child_closes),
	KUNIT_CASE_PARAM(failing_open_leaves_nothing, class_gen_params),
	KUNIT_CASE_PARAM(refused_close_leaves_the_object_open, class_gen_params),
	KUNIT_CASE(object_that_refused_to_close_takes_children),
	KUNIT_CASE_PARAM(closing_parent_takes_no_child, child_gen_params),
	KUNIT_CASE(closing_queue_is_not_bound),
	KUNIT_CASE(closing_endpoint_takes_no_binding_and_no_alias),
	KUNIT_CASE(closing_object_is_not_closed_twice),
	KUNIT_CASE(fabric_is_busy_while_a_domain_opens),
	KUNIT_CASE(set_that_fails_at_any_object_leaves_none),
	KUNIT_CASE(set_that_cannot_be_closed_is_closed_later),
	KUNIT_CASE(address_vector_of_a_set_that_is_busy_is_closed_later),
	KUNIT_CASE(object_keeps_the_clients_context),
	KUNIT_CASE(fabric_has_an_api_version),
	KUNIT_CASE(two_fabrics_live_apart),
	{}
};

struct kunit_suite kofi_lifetime_suite = {
	.name = "kofi_lifetime",
	.init = core_init,
	.exit = core_exit,
	.test_cases = lifetime_cases,
};
