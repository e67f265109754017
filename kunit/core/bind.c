// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Binding: what goes with what, with which flags, and that a bound object stays.
 */
#include "core.h"

/* What can be bound to what, as the headers say */
static const struct binding {
	enum mock_class	class;
	enum mock_class	bclass;
	u64		flags;
} bindings[] = {
	{ MOCK_DOMAIN, MOCK_EQ },
	{ MOCK_PEP, MOCK_EQ },
	{ MOCK_EP, MOCK_EQ },
	{ MOCK_EP, MOCK_CQ, FI_TRANSMIT },
	{ MOCK_EP, MOCK_CQ, FI_RECV },
	{ MOCK_EP, MOCK_CQ, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION },
	{ MOCK_EP, MOCK_CNTR, FI_SEND },
	{ MOCK_EP, MOCK_AV },
	{ MOCK_EP, MOCK_SRX },
	{ MOCK_EP, MOCK_STX },
	{ MOCK_SRX, MOCK_EQ },
	{ MOCK_SEP, MOCK_EQ },
	{ MOCK_SEP, MOCK_AV },
	{ MOCK_TX, MOCK_CQ, FI_TRANSMIT },
	{ MOCK_TX, MOCK_CQ, FI_TRANSMIT | FI_SELECTIVE_COMPLETION },
	{ MOCK_TX, MOCK_CNTR, FI_SEND | FI_READ | FI_WRITE },
	{ MOCK_RX, MOCK_CQ, FI_RECV },
	{ MOCK_RX, MOCK_CNTR, FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE },
	{ MOCK_AV, MOCK_EQ },
	{ MOCK_MR, MOCK_EP },
	{ MOCK_MR, MOCK_SEP },
	{ MOCK_MR, MOCK_CNTR },
};

static void binding_desc(const struct binding *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s to %s, flags %#llx",
		 mock_classes[row->bclass].name, mock_classes[row->class].name, row->flags);
}

KUNIT_ARRAY_PARAM(binding, bindings, binding_desc);

static int bind(const struct core_set *set, enum mock_class class, struct fid *bfid, u64 flags)
{
	switch (class) {
	case MOCK_DOMAIN:
		return fi_domain_bind(core_domain(set), bfid, flags);
	case MOCK_PEP:
		return fi_pep_bind(core_pep(set), bfid, flags);
	case MOCK_EP:
		return fi_ep_bind(core_ep(set), bfid, flags);
	case MOCK_SRX:
		return fi_ep_bind(core_srx(set), bfid, flags);
	case MOCK_SEP:
		return fi_scalable_ep_bind(core_sep(set), bfid, flags);
	case MOCK_TX:
		return fi_ep_bind(core_tx(set), bfid, flags);
	case MOCK_RX:
		return fi_ep_bind(core_rx(set), bfid, flags);
	case MOCK_AV:
		return fi_av_bind(core_av(set), bfid, flags);
	default:
		return fi_mr_bind(core_mr(set), bfid, flags);
	}
}

static void open_both(struct kunit *test, struct core_set *set, const struct binding *row)
{
	struct mock *mock = core_mock(test, "mock", 1);

	core_open_parents(test, set, mock, row->class == MOCK_DOMAIN ? MOCK_EP : row->class);
	if (!set->fid[MOCK_DOMAIN])
		KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_DOMAIN, &set->fid[MOCK_DOMAIN]), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, set, row->bclass, &set->fid[row->bclass]), 0);
	if (!set->fid[row->class])
		KUNIT_ASSERT_EQ(test, core_open(test, set, row->class, &set->fid[row->class]), 0);
}

static void bound_object_is_busy(struct kunit *test)
{
	const struct binding *row = test->param_value;
	struct fid *bound;
	struct core_set set;

	open_both(test, &set, row);
	bound = set.fid[row->bclass];

	KUNIT_ASSERT_EQ(test, bind(&set, row->class, bound, row->flags), 0);

	KUNIT_EXPECT_EQ(test, core_close(test, bound), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[row->class]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, bound), 0);
}

static void refused_bind_leaves_the_object_free(struct kunit *test)
{
	const struct binding *row = test->param_value;
	struct fid *bound;
	struct core_set set;

	open_both(test, &set, row);
	bound = set.fid[row->bclass];
	set.mock->fail[MOCK_CALL_BIND] = -EIO;

	KUNIT_ASSERT_EQ(test, bind(&set, row->class, bound, row->flags), -EIO);

	KUNIT_EXPECT_EQ(test, core_close(test, bound), 0);
}

static void refused_bind_can_be_tried_again(struct kunit *test)
{
	const struct binding *row = test->param_value;
	struct core_set set;

	open_both(test, &set, row);
	set.mock->fail[MOCK_CALL_BIND] = -EIO;
	KUNIT_ASSERT_EQ(test, bind(&set, row->class, set.fid[row->bclass], row->flags), -EIO);

	KUNIT_EXPECT_EQ(test, bind(&set, row->class, set.fid[row->bclass], row->flags), 0);
}

static void binding_twice_is_refused(struct kunit *test)
{
	const struct binding *row = test->param_value;
	struct core_set set;

	open_both(test, &set, row);
	KUNIT_ASSERT_EQ(test, bind(&set, row->class, set.fid[row->bclass], row->flags), 0);

	KUNIT_EXPECT_EQ(test, bind(&set, row->class, set.fid[row->bclass], row->flags), -EINVAL);

	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[row->class]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[row->bclass]), 0);
}

static void queue_bound_to_two_endpoints_waits_for_both(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid *second;

	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_EP, &second), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(core_ep(set), set->fid[MOCK_EQ], 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(container_of(second, struct fid_ep, fid),
					 set->fid[MOCK_EQ], 0), 0);

	KUNIT_EXPECT_EQ(test, core_close(test, second), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EQ]), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EP]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EQ]), 0);
}

static void queue_bound_to_an_endpoint_that_refuses_to_close_stays(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct mock *mock = set->mock;

	KUNIT_ASSERT_EQ(test, fi_ep_bind(core_ep(set), set->fid[MOCK_EQ], 0), 0);
	mock->fail[MOCK_CALL_CLOSE] = -EIO;

	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EP]), -EIO);

	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EQ]), -EBUSY);
}

static bool can_bind(enum mock_class class, enum mock_class bclass)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bindings); i++)
		if (bindings[i].class == class && bindings[i].bclass == bclass)
			return true;
	return false;
}

static const enum mock_class binders[] = {
	MOCK_DOMAIN, MOCK_PEP, MOCK_EP, MOCK_SRX, MOCK_MR, MOCK_SEP, MOCK_TX,
	MOCK_RX, MOCK_AV,
};

static void binder_desc(const enum mock_class *class, char *desc)
{
	strscpy(desc, mock_classes[*class].name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(binder, binders, binder_desc);

static void wrong_kind_of_object_is_refused(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_all(test);
	struct mock *mock = set->mock;
	enum mock_class bclass;

	for (bclass = 0; bclass < MOCK_NR_CLASSES; bclass++)
		if (!can_bind(class, bclass))
			KUNIT_EXPECT_EQ_MSG(test, bind(set, class, set->fid[bclass], 0), -EINVAL,
					    "a %s", mock_classes[bclass].name);

	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[MOCK_CALL_BIND]), 0);
}

static void nothing_is_refused(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_all(test);
	struct mock *mock = set->mock;
	struct fid stray = { .fclass = FI_CLASS_EQ };

	KUNIT_EXPECT_EQ(test, bind(set, class, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind(set, class, &stray, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[MOCK_CALL_BIND]), 0);
}

static const struct binding bad_flags[] = {
	{ MOCK_DOMAIN, MOCK_EQ, FI_TRANSMIT },
	{ MOCK_PEP, MOCK_EQ, FI_RECV },
	{ MOCK_EP, MOCK_EQ, FI_TRANSMIT },
	{ MOCK_EP, MOCK_CQ, 0 },
	{ MOCK_EP, MOCK_CQ, FI_SELECTIVE_COMPLETION },
	{ MOCK_EP, MOCK_CQ, FI_TRANSMIT | FI_READ },
	{ MOCK_EP, MOCK_CQ, FI_RECV | BIT_ULL(63) },
	{ MOCK_EP, MOCK_CNTR, FI_SEND | FI_MORE },
	{ MOCK_SEP, MOCK_AV, FI_TRANSMIT },
	{ MOCK_TX, MOCK_CQ, FI_TRANSMIT | FI_RECV },
	{ MOCK_TX, MOCK_CNTR, FI_RECV },
	{ MOCK_RX, MOCK_CQ, FI_TRANSMIT },
	{ MOCK_RX, MOCK_CNTR, FI_SEND },
	{ MOCK_AV, MOCK_EQ, FI_TRANSMIT },
};

KUNIT_ARRAY_PARAM(bad_flag, bad_flags, binding_desc);

static void wrong_flags_are_refused(struct kunit *test)
{
	const struct binding *row = test->param_value;
	struct core_set set;

	open_both(test, &set, row);

	KUNIT_EXPECT_EQ(test, bind(&set, row->class, set.fid[row->bclass],
				   row->flags), -FI_EBADFLAGS);

	KUNIT_EXPECT_EQ(test, atomic_read(&set.mock->calls[MOCK_CALL_BIND]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[row->bclass]), 0);
}

static void own_queue_per_direction_is_accepted(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid *rx_cq;

	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_CQ, &rx_cq), 0);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), set->fid[MOCK_CQ], FI_TRANSMIT), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), rx_cq, FI_RECV), 0);

	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_CQ]), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, rx_cq), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EP]), 0);
}

static void second_queue_for_a_direction_is_refused(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid *other;

	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_CQ, &other), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(core_ep(set), set->fid[MOCK_CQ], FI_TRANSMIT), 0);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(set), other, FI_TRANSMIT | FI_RECV), -EINVAL);

	KUNIT_EXPECT_EQ(test, core_close(test, other), 0);
}

/* Two sets of objects; the first set's are bound to those of the second */
static void expect_stranger(struct kunit *test, struct core_set *one,
			    struct core_set *two, const struct binding *row)
{
	int calls = atomic_read(&one->mock->calls[MOCK_CALL_BIND]);
	enum mock_class parent = core_parent(row->class);

	KUNIT_ASSERT_EQ(test, core_open(test, two, row->bclass, &two->fid[row->bclass]), 0);
	if (!one->fid[parent])
		KUNIT_ASSERT_EQ(test, core_open(test, one, parent, &one->fid[parent]), 0);
	if (!one->fid[row->class])
		KUNIT_ASSERT_EQ(test, core_open(test, one, row->class, &one->fid[row->class]), 0);

	KUNIT_EXPECT_EQ(test, bind(one, row->class, two->fid[row->bclass],
				   row->flags), -FI_EDOMAIN);

	KUNIT_EXPECT_EQ(test, atomic_read(&one->mock->calls[MOCK_CALL_BIND]), calls);
	KUNIT_EXPECT_EQ(test, core_close(test, two->fid[row->bclass]), 0);
}

static void object_of_another_fabric_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct core_set one, two;

	core_open_parents(test, &one, mock, MOCK_EP);
	core_open_parents(test, &two, mock, MOCK_EP);

	expect_stranger(test, &one, &two, test->param_value);
}

static void object_of_another_provider_is_refused(struct kunit *test)
{
	struct core_set one, two;

	core_open_parents(test, &one, core_mock(test, "one", 1), MOCK_EP);
	core_open_parents(test, &two, core_mock(test, "two", 1), MOCK_EP);

	expect_stranger(test, &one, &two, test->param_value);
}

/* An event queue belongs to the fabric, so any domain's endpoint may use it */
static const struct binding domain_bindings[] = {
	{ MOCK_EP, MOCK_CQ, FI_TRANSMIT },
	{ MOCK_EP, MOCK_CNTR, FI_SEND },
	{ MOCK_EP, MOCK_AV },
	{ MOCK_EP, MOCK_SRX },
	{ MOCK_EP, MOCK_STX },
	{ MOCK_SEP, MOCK_AV },
	{ MOCK_TX, MOCK_CQ, FI_TRANSMIT },
	{ MOCK_TX, MOCK_CNTR, FI_SEND },
	{ MOCK_RX, MOCK_CQ, FI_RECV },
	{ MOCK_RX, MOCK_CNTR, FI_RECV },
	{ MOCK_MR, MOCK_EP },
	{ MOCK_MR, MOCK_SEP },
	{ MOCK_MR, MOCK_CNTR },
};

KUNIT_ARRAY_PARAM(domain_binding, domain_bindings, binding_desc);

static void object_of_another_domain_is_refused(struct kunit *test)
{
	const struct binding *row = test->param_value;
	struct mock *mock = core_mock(test, "mock", 1);
	struct core_set one, two;

	core_open_parents(test, &one, mock, MOCK_EP);
	two = one;
	KUNIT_ASSERT_EQ(test, core_open(test, &two, MOCK_DOMAIN, &two.fid[MOCK_DOMAIN]), 0);

	expect_stranger(test, &one, &two, row);
}

static struct kunit_case bind_cases[] = {
	KUNIT_CASE_PARAM(bound_object_is_busy, binding_gen_params),
	KUNIT_CASE_PARAM(refused_bind_leaves_the_object_free, binding_gen_params),
	KUNIT_CASE_PARAM(refused_bind_can_be_tried_again, binding_gen_params),
	KUNIT_CASE_PARAM(binding_twice_is_refused, binding_gen_params),
	KUNIT_CASE(queue_bound_to_two_endpoints_waits_for_both),
	KUNIT_CASE(queue_bound_to_an_endpoint_that_refuses_to_close_stays),
	KUNIT_CASE_PARAM(wrong_kind_of_object_is_refused, binder_gen_params),
	KUNIT_CASE_PARAM(nothing_is_refused, binder_gen_params),
	KUNIT_CASE_PARAM(wrong_flags_are_refused, bad_flag_gen_params),
	KUNIT_CASE(own_queue_per_direction_is_accepted),
	KUNIT_CASE(second_queue_for_a_direction_is_refused),
	KUNIT_CASE_PARAM(object_of_another_fabric_is_refused, binding_gen_params),
	KUNIT_CASE_PARAM(object_of_another_provider_is_refused, binding_gen_params),
	KUNIT_CASE_PARAM(object_of_another_domain_is_refused, domain_binding_gen_params),
	{}
};

struct kunit_suite kofi_bind_suite = {
	.name = "kofi_bind",
	.init = core_init,
	.exit = core_exit,
	.test_cases = bind_cases,
};
