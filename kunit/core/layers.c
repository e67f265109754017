// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_layers: providers on providers.  Names, who is asked, what is opened, and
 * who keeps whom.
 *
 * The upper provider is the hook of kunit/hook, or a mock whose name begins with "ofi_"
 * and whose results say what they stand on.  That a hook forwards everything is shown by
 * the suites that run over it, whose names end in _hooked.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include <kofi/hook.h>
#include <rdma/fi_reason.h>
#include "info.h"

#define HOOKED(name)	name ";" HOOK_NAME

static struct fi_info *named(struct kunit *test, const char *prov_name)
{
	struct fi_info *hints = core_hints(test);

	core_set_string(test, &hints->fabric_attr->prov_name, prov_name);
	return hints;
}

/* The results' names, in order, each with a blank behind it */
static void expect_found(struct kunit *test, const char *wish, const char *expected)
{
	struct fi_info *info = NULL;
	char found[256] = "";
	int err;

	err = core_getinfo(test, wish ? named(test, wish) : NULL, &info);
	KUNIT_EXPECT_EQ(test, err, *expected ? 0 : -ENODATA);
	for (; info; info = info->next) {
		strlcat(found, info->fabric_attr->prov_name, sizeof(found));
		strlcat(found, " ", sizeof(found));
	}
	KUNIT_EXPECT_STREQ_MSG(test, found, expected, "asked for %s", wish);
}

/* A mock that says that it stands on another provider */
static struct mock *core_layer(struct kunit *test, const char *name, const char *lower)
{
	struct mock *mock = core_mock(test, name, 1);

	core_set_string(test, &mock->infos->fabric_attr->prov_name, lower);
	return mock;
}

static const struct {
	const char	*wish;
	const char	*name;
	bool		fits;
} name_cases[] = {
	{ "verbs;ofi_rxm", "verbs;ofi_rxm", true },
	{ "ofi_rxm;verbs", "verbs;ofi_rxm", true },
	{ "verbs;ofi_rxm", "verbs", false },
	{ "verbs;ofi_rxm", "tcp;ofi_rxm", false },
	{ "verbs;ofi_rxm", "verbs;ofi_rxm;ofi_hook", false },
	{ "verbs", "verbs;ofi_rxm", true },
	{ "ofi_rxm", "verbs;ofi_rxm", true },
	{ "tcp", "verbs;ofi_rxm", false },
	{ "ofi_rx", "verbs;ofi_rxm", false },
	{ "verb", "verbs;ofi_rxm", false },
	{ "ofi_rxm", "verbs;ofi_rxm;ofi_hook", false },
	{ "verbs;ofi_rxm;ofi_hook", "verbs;ofi_rxm;ofi_hook", true },
	{ "ofi_rxm;verbs;ofi_hook", "verbs;ofi_rxm;ofi_hook", false },
	{ "^verbs", "verbs;ofi_rxm", false },
	{ "^ofi_rxm", "verbs;ofi_rxm", false },
	{ "^tcp;^loop", "verbs;ofi_rxm", true },
	{ "ofi_rxm;^verbs", "verbs;ofi_rxm", false },
	{ "ofi_rxm;^verbs", "tcp;ofi_rxm", true },
	{ "a;b;c;d", "a;b;c;d", true },
	{ "a;b;c;d;e", "a;b;c;d;e", false },
	{ "verbs;", "verbs", true },
	{ ";verbs", "verbs", false },
	{ "", "verbs", false },
};

static void name_fits_its_layers(struct kunit *test)
{
	struct fi_info *offer = core_hints(test), *hints;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(name_cases); i++) {
		core_set_string(test, &offer->fabric_attr->prov_name, name_cases[i].name);
		hints = named(test, name_cases[i].wish);
		KUNIT_EXPECT_EQ_MSG(test, kofi_info_match(offer, hints), name_cases[i].fits,
				    "%s for %s", name_cases[i].name, name_cases[i].wish);
	}
}

static const struct {
	const char	*wish;
	const char	*lower;
	int		ret;
} lower_cases[] = {
	{ "verbs;ofi_up", "verbs", 1 },
	{ "ofi_up;verbs", "verbs", 1 },
	{ "verbs;ofi_rxm;ofi_up", "verbs;ofi_rxm", 1 },
	{ "ofi_up", "", 0 },
	{ "verbs", "verbs", 0 },
	{ "^verbs", "", 0 },
	{ "a;b;c;d;ofi_up", "", -EINVAL },
};

static void lower_name_is_what_is_below(struct kunit *test)
{
	static const struct kofi_provider up = { .name = "ofi_up" };
	char name[FI_NAME_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lower_cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, kofi_lower_name(named(test, lower_cases[i].wish), &up,
							  name, sizeof(name)), lower_cases[i].ret,
				    "%s", lower_cases[i].wish);
		KUNIT_EXPECT_STREQ(test, name, lower_cases[i].lower);
	}
	KUNIT_EXPECT_EQ(test, kofi_lower_name(NULL, &up, name, sizeof(name)), 0);
	KUNIT_EXPECT_STREQ(test, name, "");
	KUNIT_EXPECT_EQ(test, kofi_lower_name(named(test, "verbs;ofi_up"), &up, name, 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_lower_name(named(test, "verbs;ofi_up"), &up, name, 7), 1);
}

static void result_has_the_names_of_all_layers(struct kunit *test)
{
	core_mock(test, "mock", 1);

	expect_found(test, HOOKED("mock"), HOOKED("mock") " ");
	expect_found(test, HOOK_NAME ";mock", HOOKED("mock") " ");
	expect_found(test, HOOKED(HOOKED("mock")), HOOKED(HOOKED("mock")) " ");
}

static void name_with_too_much_in_it_is_not_found(struct kunit *test)
{
	struct fi_reason *reason = vt_buf(test, 2 * sizeof(*reason));
	char name[FI_NAME_MAX + 1];
	struct fi_info *hints;
	int i;

	core_mock(test, "mock", 1);
	memset(name, 'n', FI_NAME_MAX);
	name[FI_NAME_MAX] = 0;
	for (i = 0; i < 2; i++) {
		hints = named(test, i ? name : HOOKED(HOOKED(HOOKED(HOOKED("mock")))));

		expect_found(test, hints->fabric_attr->prov_name, "");
		KUNIT_ASSERT_EQ(test, fi_getinfo_why(CORE_API, NULL, 0, 0, hints, reason, 2), 1);
		KUNIT_EXPECT_EQ(test, reason->kind, FI_REASON_ABSENT);
		KUNIT_EXPECT_EQ(test, reason->err, 0);
		KUNIT_EXPECT_STREQ(test, reason->field, "fabric_attr->prov_name");
	}
}

static void hook_is_not_found_unless_it_is_named(struct kunit *test)
{
	core_mock(test, "mock", 1);

	expect_found(test, NULL, "mock ");
	expect_found(test, "mock", "mock ");
	expect_found(test, "^other", "mock ");
	expect_found(test, HOOK_NAME, "");
}

static void hook_over_an_absent_provider_is_not_found(struct kunit *test)
{
	expect_found(test, HOOKED("absent"), "");
}

/* As libfabric's utility providers */
static void layer_is_found_with_what_it_stands_on(struct kunit *test)
{
	core_mock(test, "one", 1);
	core_mock(test, "two", 1);
	core_layer(test, "ofi_up", "one");

	expect_found(test, NULL, "one two one;ofi_up ");
	expect_found(test, "one", "one one;ofi_up ");
	expect_found(test, "two", "two ");
	expect_found(test, "ofi_up", "one;ofi_up ");
	expect_found(test, "one;ofi_up", "one;ofi_up ");
	expect_found(test, "two;ofi_up", "");
	expect_found(test, "^one", "two ");
	expect_found(test, "^ofi_up", "one two ");
}

static void lower_query_asks_the_named_provider_only(struct kunit *test)
{
	struct mock *two = core_mock(test, "two", 1);
	struct mock *up = core_layer(test, "ofi_up", "one");
	struct fi_info *hints = core_hints(test), *info = NULL;

	core_mock(test, "one", 1);
	core_set_string(test, &hints->fabric_attr->name, "else");
	KUNIT_EXPECT_EQ(test, kofi_lower_getinfo(CORE_API, "one", NULL, 0, 0, hints, &info),
			-ENODATA);
	KUNIT_ASSERT_EQ(test, kofi_lower_getinfo(CORE_API, "one", NULL, 0, 0, NULL, &info), 0);
	core_free_later(test, info);

	KUNIT_EXPECT_EQ(test, core_count(info), 1);
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, "one");
	KUNIT_EXPECT_EQ(test, mock_calls(two), 0);
	KUNIT_EXPECT_EQ(test, mock_calls(up), 0);
}

static void lower_query_without_a_name_asks_no_layer(struct kunit *test)
{
	struct mock *up = core_layer(test, "ofi_up", "one");
	struct fi_info *hints = named(test, "ofi_up"), *info = NULL;

	core_mock(test, "one", 1);
	core_mock(test, "two", 1);
	core_set_string(test, &hints->fabric_attr->name, MOCK_FABRIC_NAME);
	KUNIT_ASSERT_EQ(test, kofi_lower_getinfo(CORE_API, NULL, NULL, 0, 0, hints, &info), 0);
	core_free_later(test, info);

	KUNIT_EXPECT_EQ(test, core_count(info), 2);
	KUNIT_EXPECT_EQ(test, mock_calls(up), 0);
}

/* NULL hints: modes do not matter */
static void lower_query_without_hints_follows_all_modes(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *info = NULL;

	mock->infos->mode = FI_CONTEXT;
	KUNIT_EXPECT_EQ(test, kofi_lower_getinfo(CORE_API, "mock", NULL, 0, 0, NULL, &info), 0);
	fi_freeinfo(info);
}

static void misfit_below_is_a_reason(struct kunit *test)
{
	struct fi_info *hints = named(test, HOOKED("mock"));
	struct fi_reason *reason = vt_buf(test, sizeof(*reason));

	core_mock(test, "mock", 1);
	hints->ep_attr->type = FI_EP_RDM;

	KUNIT_ASSERT_EQ(test, fi_getinfo_why(CORE_API, NULL, 0, 0, hints, reason, 1), 1);

	KUNIT_EXPECT_STREQ(test, reason->prov_name, "mock");
	KUNIT_EXPECT_STREQ(test, reason->field, "ep_attr->type");
}

static int find_on(struct kunit *test, struct fid_fabric *fabric,
		   struct fid_domain *domain, struct fi_info **info)
{
	struct fi_info *hints = core_hints(test);

	hints->fabric_attr->fabric = fabric;
	hints->domain_attr->domain = domain;
	return core_getinfo(test, hints, info);
}

static void open_layers_are_found_again(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct core_set set = { .mock = mock };
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED("mock")), &set.info), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_FABRIC, &set.fid[MOCK_FABRIC]), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_DOMAIN, &set.fid[MOCK_DOMAIN]), 0);

	KUNIT_ASSERT_EQ(test, find_on(test, core_fabric(&set), NULL, &info), 0);
	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, HOOKED("mock"));
	KUNIT_EXPECT_PTR_EQ(test, info->fabric_attr->fabric, core_fabric(&set));
	KUNIT_ASSERT_EQ(test, find_on(test, NULL, core_domain(&set), &info), 0);
	KUNIT_EXPECT_PTR_EQ(test, info->domain_attr->domain, core_domain(&set));
}

static void layers_of_another_fabric_are_refused(struct kunit *test)
{
	struct fi_info *other, *plain;
	struct fid_domain *domain;
	struct core_set set;

	core_mock(test, "other", 1);
	set.mock = core_mock(test, "mock", 1);
	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED("mock")), &set.info), 0);
	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED("other")), &other), 0);
	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, "mock"), &plain), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_FABRIC, &set.fid[MOCK_FABRIC]), 0);

	KUNIT_EXPECT_EQ(test, fi_domain(core_fabric(&set), other, &domain, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_domain(core_fabric(&set), plain, &domain, NULL), -EINVAL);
}

static int open_hooked(const char *lower, struct fid_fabric **fabric)
{
	char name[FI_NAME_MAX];
	struct fi_fabric_attr attr = { .name = "mock", .prov_name = name };

	snprintf(name, sizeof(name), "%s;" HOOK_NAME, lower);
	return fi_fabric(&attr, fabric, NULL);
}

static int deregister(void *mock)
{
	return kofi_provider_deregister(&((struct mock *)mock)->provider);
}

static void open_layers_keep_the_lower_provider(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_async *thread;
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, open_hooked("mock", &fabric), 0);
	thread = vt_async_start(test, deregister, mock);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(thread));

	KUNIT_EXPECT_EQ(test, fi_close(&fabric->fid), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
}

#define REFS	"exit $(cat /sys/module/kofi_hook_count/refcnt)"

static void open_layers_keep_the_upper_module(struct kunit *test)
{
	struct fid_fabric *fabric;
	int before;

	core_mock(test, "mock", 1);
	before = core_shell(REFS);
	KUNIT_ASSERT_EQ(test, open_hooked("mock", &fabric), 0);

	/* An exit status is shifted */
	KUNIT_EXPECT_EQ(test, core_shell(REFS), before + (1 << 8));
	KUNIT_EXPECT_EQ(test, fi_close(&fabric->fid), 0);
	KUNIT_EXPECT_EQ(test, core_shell(REFS), before);
}

static void layers_over_an_absent_provider_do_not_open(struct kunit *test)
{
	struct fid_fabric *fabric;

	KUNIT_EXPECT_EQ(test, open_hooked("absent", &fabric), -ENODEV);
}

static void refused_close_below_changes_nothing(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fid_fabric *fabric;
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, open_hooked("mock", &fabric), 0);
	core_adopt(test, &fabric->fid);
	mock->fail[MOCK_CALL_CLOSE] = -EIO;
	KUNIT_EXPECT_EQ(test, fi_close(&fabric->fid), -EIO);

	KUNIT_EXPECT_EQ(test, fi_eq_open(fabric, NULL, &eq, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&fabric->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&eq->fid), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &fabric->fid), 0);
}

static void lower_close_that_is_refused_is_logged(struct kunit *test)
{
	struct fi_fabric_attr attr = { .name = "mock",
				       .prov_name = HOOKED("mock") };
	struct mock *mock = core_mock(test, "mock", 1);
	struct fid_fabric *lower;

	KUNIT_ASSERT_EQ(test, kofi_lower_fabric(&attr, &lower, NULL, &mock->provider), 0);
	core_log_clear();
	mock->fail[MOCK_CALL_CLOSE] = -EIO;
	kofi_lower_close(&lower->fid);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 1);
	KUNIT_EXPECT_EQ(test, core_log_count("mock: the fabric below another"), 1);

	kofi_lower_close(&lower->fid);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
	KUNIT_EXPECT_EQ(test, core_log_count("refuses to close"), 1);
}

static void lower_fabric_needs_a_lower_name(struct kunit *test)
{
	struct fi_fabric_attr attr = { .name = "mock", .prov_name = "mock" };
	struct mock *mock = core_mock(test, "mock", 1);
	struct fid_fabric *lower;

	KUNIT_EXPECT_EQ(test, kofi_lower_fabric(&attr, &lower, NULL, &mock->provider), -EINVAL);
}

/* That of the attributes is the upper provider's */
static void version_of_the_lower_provider_does_not_matter(struct kunit *test)
{
	struct fi_fabric_attr attr = { .name = "mock", .prov_name = HOOKED("mock"),
				       .prov_version = FI_VERSION(0, 1) };
	struct mock *old = core_mock(test, "mock", FI_VERSION(0, 1));
	struct fi_info *hints = named(test, HOOKED("oldest")), *info;
	struct mock *new = core_mock(test, "mock", FI_VERSION(0, 2));
	struct fid_fabric *lower;

	KUNIT_ASSERT_EQ(test, kofi_lower_fabric(&attr, &lower, NULL, &old->provider), 0);
	KUNIT_EXPECT_EQ(test, mock_live(new), 1);
	kofi_lower_close(&lower->fid);

	core_mock(test, "oldest", 0);
	hints->fabric_attr->prov_version = FI_VERSION(1, 0);
	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), 0);
}

#define PORT	7

static struct fid_ep *open_ep(struct kunit *test, const struct core_set *set, struct fi_info *info)
{
	struct fid_ep *ep;

	KUNIT_ASSERT_EQ(test, fi_endpoint(core_domain(set), info, &ep, NULL), 0);
	core_adopt(test, &ep->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, set->fid[MOCK_EQ], 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, set->fid[MOCK_CQ], FI_TRANSMIT | FI_RECV), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(ep), 0);
	return ep;
}

static struct fi_eq_cm_entry next_event(struct kunit *test, const struct core_set *set, u32 wanted)
{
	struct fi_eq_cm_entry entry = {};
	u32 event = U32_MAX;

	KUNIT_ASSERT_EQ(test, fi_eq_sread(core_eq(set), &event, &entry, sizeof(entry), 10000, 0),
			(ssize_t)sizeof(entry));
	KUNIT_ASSERT_EQ(test, event, wanted);
	return entry;
}

/* Opened by hand, hooked twice: an event passes two tables */
static void open_twice_hooked(struct kunit *test, struct core_set *set)
{
	enum mock_class class;

	memset(set, 0, sizeof(*set));
	set->mock = core_mock(test, "mock", 1);
	core_set_string(test, &set->mock->infos->fabric_attr->prov_name,
			"mock");
	info_set_addr(test, &set->mock->infos->src_addr,
		      &set->mock->infos->src_addrlen, "10.0.0.1", PORT);
	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED(HOOKED("mock"))), &set->info),
			0);
	for (class = 0; class <= MOCK_CQ; class++)
		KUNIT_ASSERT_EQ(test, core_open(test, set, class, &set->fid[class]), 0);
}

/* A mock's queues do not answer KOFI_GETQUEUE, as if they were its own */
static void hook_that_sees_completions_needs_a_queue_of_the_core(struct kunit *test)
{
	struct core_set set = { .mock = core_mock(test, "mock", 1) };
	struct fi_cq_attr attr = {};
	enum mock_class class;
	struct fid_cq *cq;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, "mock;ofi_hook_trace"), &set.info), 0);
	for (class = 0; class <= MOCK_DOMAIN; class++)
		KUNIT_ASSERT_EQ(test, core_open(test, &set, class, &set.fid[class]), 0);
	KUNIT_EXPECT_EQ(test, fi_cq_open(core_domain(&set), &attr, &cq, NULL), -ENOSYS);
}

/**
 * struct lower_domain - A domain below a hook, whose endpoints are looked at
 * @ops: its table
 * @below: the table without that
 * @caps: capabilities of the last info, then those of its sides
 * @fabric: open fabric of the last info
 * @domain: open domain of the last info
 */
static struct lower_domain {
	struct fi_ops_domain		ops;
	const struct fi_ops_domain	*below;
	u64				caps[3];
	struct fid_fabric		*fabric;
	struct fid_domain		*domain;
} lower_domain;

static int lower_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
			  void *context)
{
	lower_domain.caps[0] = info->caps;
	lower_domain.caps[1] = info->tx_attr->caps;
	lower_domain.caps[2] = info->rx_attr->caps;
	lower_domain.fabric = info->fabric_attr->fabric;
	lower_domain.domain = info->domain_attr->domain;
	return lower_domain.below->endpoint(domain, info, ep, context);
}

/* The provider below does not have FI_HMEM, and knows none of the hook's objects */
static void a_hook_has_capabilities_and_objects_of_its_own(struct kunit *test)
{
	struct core_set set = { .mock = core_mock(test, "mock", 1) };
	struct fi_info *hints = named(test, "mock;ofi_hook_p2p"), *info;
	struct fi_tx_attr tx = { .caps = FI_MSG | FI_HMEM };
	struct fi_rx_attr rx = { .caps = FI_MSG | FI_HMEM };
	struct fid_domain *lower;
	struct fid_ep *ep, *ctx;
	int i;

	hints->caps = FI_MSG | FI_HMEM;
	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &set.info), 0);
	info = set.info;
	KUNIT_EXPECT_TRUE(test, info->caps & info->tx_attr->caps & info->rx_attr->caps & FI_HMEM);
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_FABRIC, &set.fid[MOCK_FABRIC]), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_DOMAIN, &set.fid[MOCK_DOMAIN]), 0);
	lower = to_kofi_hook_obj(set.fid[MOCK_DOMAIN])->lower.domain;
	lower_domain = (struct lower_domain) { .ops = *lower->ops, .below = lower->ops };
	lower_domain.ops.endpoint = lower_endpoint;
	lower->ops = &lower_domain.ops;
	info->fabric_attr->fabric = core_fabric(&set);
	info->domain_attr->domain = core_domain(&set);
	KUNIT_ASSERT_EQ(test, fi_endpoint(core_domain(&set), info, &ep, NULL), 0);
	core_adopt(test, &ep->fid);
	lower->ops = lower_domain.below;
	for (i = 0; i < ARRAY_SIZE(lower_domain.caps); i++)
		KUNIT_EXPECT_EQ_MSG(test, lower_domain.caps[i] & FI_HMEM, 0, "%d", i);
	KUNIT_EXPECT_NULL(test, lower_domain.fabric);
	KUNIT_EXPECT_NULL(test, lower_domain.domain);

	/* Attributes of a context come back with those of the hook */
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_SEP, &set.fid[MOCK_SEP]), 0);
	KUNIT_ASSERT_EQ(test, fi_tx_context(core_sep(&set), 0, &tx, &ctx, NULL), 0);
	core_adopt(test, &ctx->fid);
	KUNIT_EXPECT_EQ(test, tx.caps, FI_MSG | FI_HMEM);
	KUNIT_ASSERT_EQ(test, fi_rx_context(core_sep(&set), 0, &rx, &ctx, NULL), 0);
	core_adopt(test, &ctx->fid);
	KUNIT_EXPECT_EQ(test, rx.caps, FI_MSG | FI_HMEM);
}

/* So that callbacks and events of lower objects find the upper ones */
static void each_lower_object_has_the_upper_one_as_its_context(struct kunit *test)
{
	struct core_set set = { .mock = core_mock(test, "mock", 1) };
	struct kofi_hook_obj *obj;
	enum mock_class class;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED("mock")), &set.info), 0);
	for (class = 0; class < MOCK_NR_CLASSES; class++) {
		KUNIT_ASSERT_EQ(test, core_open(test, &set, class, &set.fid[class]), 0);
		obj = to_kofi_hook_obj(set.fid[class]);
		KUNIT_EXPECT_PTR_EQ_MSG(test, obj->lower.fid->context, (void *)obj, "%s",
					mock_classes[class].name);
	}
}

static void what_the_provider_below_answers_is_returned(struct kunit *test)
{
	struct core_set set = { .mock = core_mock(test, "mock", 1) };
	struct fi_atomic_attr attr = {};
	enum mock_class class;
	struct fid_mc *mc;
	char text[8];

	set.mock->api_version = FI_VERSION(1, 9);
	set.mock->group_addr = 4711;
	set.mock->dma_device = (void *)&set;
	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED("mock")), &set.info), 0);
	for (class = 0; class < MOCK_NR_CLASSES; class++)
		KUNIT_ASSERT_EQ(test, core_open(test, &set, class, &set.fid[class]), 0);
	mc = container_of(set.fid[MOCK_MC], struct fid_mc, fid);
	KUNIT_EXPECT_EQ(test, core_fabric(&set)->api_version, FI_VERSION(1, 9));
	KUNIT_EXPECT_EQ(test, fi_mc_addr(mc), 4711);
	KUNIT_EXPECT_PTR_EQ(test, fi_domain_device(core_domain(&set)), set.mock->dma_device);
	KUNIT_EXPECT_EQ(test, fi_query_atomic(core_domain(&set), FI_UINT64, FI_SUM, &attr, 0),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_rx_size_left(core_ep(&set)), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tx_size_left(core_ep(&set)), -ENOSYS);
	KUNIT_EXPECT_EQ(test, set.fid[MOCK_EP]->ops->tostr(set.fid[MOCK_EP], text, sizeof(text)),
			-ENOSYS);
}

static const struct fi_ops_fabric *fabric_below;

/* As if the queue was the provider's own */
static int lower_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
			 void *context)
{
	static struct fi_ops ops;
	int ret = fabric_below->eq_open(fabric, attr, eq, context);

	if (ret)
		return ret;
	ops = *(*eq)->fid.ops;
	ops.control = fi_no_control;
	(*eq)->fid.ops = &ops;
	return 0;
}

static void hook_needs_an_event_queue_of_the_core(struct kunit *test)
{
	struct core_set set = { .mock = core_mock(test, "mock", 1) };
	struct fi_ops_fabric ops;
	struct fid_fabric *lower;
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, named(test, HOOKED("mock")), &set.info), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_FABRIC, &set.fid[MOCK_FABRIC]), 0);
	lower = to_kofi_hook_obj(set.fid[MOCK_FABRIC])->lower.fabric;
	fabric_below = lower->ops;
	ops = *lower->ops;
	ops.eq_open = lower_eq_open;
	lower->ops = &ops;
	KUNIT_EXPECT_EQ(test, fi_eq_open(core_fabric(&set), NULL, &eq, NULL), -ENOSYS);
	lower->ops = fabric_below;
	KUNIT_EXPECT_EQ(test, atomic_read(&set.mock->live[MOCK_EQ]), 0);
}

static void events_bring_upper_objects(struct kunit *test)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(PORT) };
	struct fi_eq_cm_entry entry;
	struct fid_ep *active, *passive;
	struct fid *first, *second;
	struct core_set set;

	open_twice_hooked(test, &set);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(core_pep(&set), set.fid[MOCK_EQ], 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(core_pep(&set)), 0);
	active = open_ep(test, &set, set.info);
	KUNIT_ASSERT_EQ(test, fi_connect(active, &addr, NULL, 0), 0);

	entry = next_event(test, &set, FI_CONNREQ);
	core_free_later(test, entry.info);
	KUNIT_EXPECT_PTR_EQ(test, entry.fid, set.fid[MOCK_PEP]);
	KUNIT_EXPECT_STREQ(test, entry.info->fabric_attr->prov_name, HOOKED(HOOKED("mock")));

	passive = open_ep(test, &set, entry.info);
	KUNIT_ASSERT_EQ(test, fi_accept(passive, NULL, 0), 0);
	first = next_event(test, &set, FI_CONNECTED).fid;
	second = next_event(test, &set, FI_CONNECTED).fid;
	KUNIT_EXPECT_TRUE(test, first == &active->fid || first == &passive->fid);
	KUNIT_EXPECT_TRUE(test, second == &active->fid || second == &passive->fid);
	KUNIT_EXPECT_PTR_NE(test, first, second);
}

/* An endpoint whose connection has failed; its context is the set */
static struct fid_ep *open_failed(struct kunit *test, struct core_set *set)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct fi_eq_cm_entry entry;
	struct fid_ep *ep;
	u32 event;

	open_twice_hooked(test, set);
	ep = open_ep(test, set, set->info);
	ep->fid.context = set;
	KUNIT_ASSERT_EQ(test, fi_connect(ep, &addr, NULL, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_eq_sread(core_eq(set), &event, &entry, sizeof(entry), 10000, 0),
			(ssize_t)-FI_EAVAIL);
	return ep;
}

static void failed_connection_brings_the_upper_endpoint(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct core_set set;
	struct fid_ep *ep;

	ep = open_failed(test, &set);
	KUNIT_ASSERT_EQ(test, fi_eq_readerr(core_eq(&set), &error, 0), (ssize_t)sizeof(error));
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &ep->fid);
	KUNIT_EXPECT_PTR_EQ(test, error.context, (void *)&set);
}

/**
 * struct closing_eq - An event queue whose reader is overtaken by a close
 * @ops: its table
 * @below: the table without that
 * @test: the case
 * @ep: what is closed once the error has been read below
 */
static struct closing_eq {
	struct fi_ops_eq	ops;
	const struct fi_ops_eq	*below;
	struct kunit		*test;
	struct fid_ep		*ep;
} closing;

static ssize_t closing_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf, u64 flags)
{
	ssize_t ret = closing.below->readerr(eq, buf, flags);

	KUNIT_EXPECT_EQ(closing.test, core_close(closing.test, &closing.ep->fid), 0);
	return ret;
}

static void endpoint_that_closes_is_named_as_the_client_knows_it(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct core_set set;
	struct fid_eq *lower;
	struct fid_ep *ep;

	ep = open_failed(test, &set);

	lower = to_kofi_hook_obj(set.fid[MOCK_EQ])->lower.eq;
	closing = (struct closing_eq) {
		.ops	= *lower->ops,
		.below	= lower->ops,
		.test	= test,
		.ep	= ep,
	};
	closing.ops.readerr = closing_readerr;
	lower->ops = &closing.ops;
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(core_eq(&set), &error, 0), (ssize_t)sizeof(error));
	lower->ops = closing.below;
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &ep->fid);
	KUNIT_EXPECT_PTR_EQ(test, error.context, (void *)&set);
}

static void each_hook_sees_each_message(struct kunit *test)
{
	unsigned long before = hook_sent();
	struct core_set set;
	struct fid_ep *ep;
	u8 buf[8] = {};

	open_twice_hooked(test, &set);
	set.mock->loop = true;
	ep = open_ep(test, &set, set.info);

	KUNIT_EXPECT_EQ(test, fi_send(ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_inject(ep, buf, sizeof(buf), 0), 0);

	KUNIT_EXPECT_EQ(test, hook_sent(), before + 4);
}

static void what_would_show_lower_objects_is_refused(struct kunit *test)
{
	struct core_set set;
	struct fid_ep *ep, *alias;
	void *ops;

	open_twice_hooked(test, &set);
	ep = open_ep(test, &set, set.info);

	KUNIT_EXPECT_EQ(test, fi_ep_alias(ep, &alias, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_open_ops(&ep->fid, "any", 0, &ops, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_set_ops(&ep->fid, "any", 0, &ops, NULL), -ENOSYS);
}

static struct kunit_case layers_cases[] = {
	KUNIT_CASE(name_fits_its_layers),
	KUNIT_CASE(lower_name_is_what_is_below),
	KUNIT_CASE(result_has_the_names_of_all_layers),
	KUNIT_CASE(name_with_too_much_in_it_is_not_found),
	KUNIT_CASE(hook_is_not_found_unless_it_is_named),
	KUNIT_CASE(hook_over_an_absent_provider_is_not_found),
	KUNIT_CASE(layer_is_found_with_what_it_stands_on),
	KUNIT_CASE(lower_query_asks_the_named_provider_only),
	KUNIT_CASE(lower_query_without_a_name_asks_no_layer),
	KUNIT_CASE(lower_query_without_hints_follows_all_modes),
	KUNIT_CASE(misfit_below_is_a_reason),
	KUNIT_CASE(open_layers_are_found_again),
	KUNIT_CASE(layers_of_another_fabric_are_refused),
	KUNIT_CASE(open_layers_keep_the_lower_provider),
	KUNIT_CASE(open_layers_keep_the_upper_module),
	KUNIT_CASE(layers_over_an_absent_provider_do_not_open),
	KUNIT_CASE(refused_close_below_changes_nothing),
	KUNIT_CASE(lower_close_that_is_refused_is_logged),
	KUNIT_CASE(lower_fabric_needs_a_lower_name),
	KUNIT_CASE(version_of_the_lower_provider_does_not_matter),
	KUNIT_CASE(events_bring_upper_objects),
	KUNIT_CASE(failed_connection_brings_the_upper_endpoint),
	KUNIT_CASE(endpoint_that_closes_is_named_as_the_client_knows_it),
	KUNIT_CASE(each_hook_sees_each_message),
	KUNIT_CASE(hook_that_sees_completions_needs_a_queue_of_the_core),
	KUNIT_CASE(hook_needs_an_event_queue_of_the_core),
	KUNIT_CASE(a_hook_has_capabilities_and_objects_of_its_own),
	KUNIT_CASE(each_lower_object_has_the_upper_one_as_its_context),
	KUNIT_CASE(what_the_provider_below_answers_is_returned),
	KUNIT_CASE(what_would_show_lower_objects_is_refused),
	{}
};

struct kunit_suite kofi_layers_suite = {
	.name = "kofi_layers",
	.init = core_init,
	.exit = core_exit,
	.test_cases = layers_cases,
};
