// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a client must not ask for: NULL, objects of the wrong class, objects that
 * do not belong together, unknown flags.  The core answers all of it itself;
 * each case also checks that the provider was not bothered.
 */
#include "core_test.h"

/* Where calls that should fail would put their results */
static union {
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_pep		*pep;
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	struct fid_cntr		*cntr;
	struct fid_av		*av;
	u8			bytes[64];
	u32			event;
	void			*ops;
} out;

static size_t out_len;
static const char *const name = "name";

/*
 * Each call with an object of any class in the place of the one it is for, and
 * with everything else right.
 */
struct fid_call {
	const char	*name;
	u32		classes;
	long		(*call)(struct core_set *set, struct fid *fid);
};

static long call_domain(struct core_set *set, struct fid *fid)
{
	return fi_domain((struct fid_fabric *)fid, set->info, &out.domain, NULL);
}

static long call_passive_ep(struct core_set *set, struct fid *fid)
{
	return fi_passive_ep((struct fid_fabric *)fid, set->info, &out.pep, NULL);
}

static long call_eq_open(struct core_set *set, struct fid *fid)
{
	return fi_eq_open((struct fid_fabric *)fid, NULL, &out.eq, NULL);
}

static long call_cq_open(struct core_set *set, struct fid *fid)
{
	return fi_cq_open((struct fid_domain *)fid, NULL, &out.cq, NULL);
}

static long call_endpoint(struct core_set *set, struct fid *fid)
{
	return fi_endpoint((struct fid_domain *)fid, set->info, &out.ep, NULL);
}

static long call_srx(struct core_set *set, struct fid *fid)
{
	struct fi_rx_attr attr = { .size = 1 };

	return fi_srx_context((struct fid_domain *)fid, &attr, &out.ep, NULL);
}

static long call_cntr_open(struct core_set *set, struct fid *fid)
{
	struct fi_cntr_attr attr = {};

	return fi_cntr_open((struct fid_domain *)fid, &attr, &out.cntr, NULL);
}

static long call_av_open(struct core_set *set, struct fid *fid)
{
	struct fi_av_attr attr = {};

	return fi_av_open((struct fid_domain *)fid, &attr, &out.av, NULL);
}

static long call_mr_reg(struct core_set *set, struct fid *fid)
{
	return fi_mr_reg((struct fid_domain *)fid, out.bytes, 1, FI_REMOTE_READ, 0,
			 0, 0, &out.mr, NULL);
}

static long call_mr_regv(struct core_set *set, struct fid *fid)
{
	struct kvec iov = { out.bytes, 1 };

	return fi_mr_regv((struct fid_domain *)fid, &iov, 1, FI_REMOTE_READ, 0, 0, 0,
			  &out.mr, NULL);
}

static long call_mr_regattr(struct core_set *set, struct fid *fid)
{
	struct kvec iov = { out.bytes, 1 };
	struct fi_mr_attr attr = {
		.mr_iov = &iov,
		.iov_count = 1,
		.access = FI_REMOTE_READ,
	};

	return fi_mr_regattr((struct fid_domain *)fid, &attr, 0, &out.mr);
}

static long call_query_atomic(struct core_set *set, struct fid *fid)
{
	struct fi_atomic_attr attr;

	return fi_query_atomic((struct fid_domain *)fid, FI_UINT64, FI_SUM, &attr,
			       0);
}

static long call_domain_bind(struct core_set *set, struct fid *fid)
{
	return fi_domain_bind((struct fid_domain *)fid, set->fid[MOCK_EQ], 0);
}

static long call_ep_bind(struct core_set *set, struct fid *fid)
{
	return fi_ep_bind((struct fid_ep *)fid, set->fid[MOCK_EQ], 0);
}

static long call_pep_bind(struct core_set *set, struct fid *fid)
{
	return fi_pep_bind((struct fid_pep *)fid, set->fid[MOCK_EQ], 0);
}

static long call_mr_bind(struct core_set *set, struct fid *fid)
{
	return fi_mr_bind((struct fid_mr *)fid, set->fid[MOCK_EP], 0);
}

static long call_enable(struct core_set *set, struct fid *fid)
{
	return fi_enable((struct fid_ep *)fid);
}

static long call_cancel(struct core_set *set, struct fid *fid)
{
	return fi_cancel(fid, NULL);
}

static long call_setopt(struct core_set *set, struct fid *fid)
{
	size_t value = 1;

	return fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value,
			 sizeof(value));
}

static long call_getopt(struct core_set *set, struct fid *fid)
{
	out_len = sizeof(out);
	return fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &out,
			 &out_len);
}

static long call_setname(struct core_set *set, struct fid *fid)
{
	return fi_setname(fid, out.bytes, sizeof(out.bytes));
}

static long call_getname(struct core_set *set, struct fid *fid)
{
	out_len = sizeof(out);
	return fi_getname(fid, &out, &out_len);
}

static long call_getpeer(struct core_set *set, struct fid *fid)
{
	out_len = sizeof(out);
	return fi_getpeer((struct fid_ep *)fid, &out, &out_len);
}

static long call_listen(struct core_set *set, struct fid *fid)
{
	return fi_listen((struct fid_pep *)fid);
}

static long call_connect(struct core_set *set, struct fid *fid)
{
	return fi_connect((struct fid_ep *)fid, out.bytes, NULL, 0);
}

static long call_accept(struct core_set *set, struct fid *fid)
{
	return fi_accept((struct fid_ep *)fid, NULL, 0);
}

static long call_reject(struct core_set *set, struct fid *fid)
{
	struct fid handle = { .fclass = FI_CLASS_CONNREQ };

	return fi_reject((struct fid_pep *)fid, &handle, NULL, 0);
}

static long call_shutdown(struct core_set *set, struct fid *fid)
{
	return fi_shutdown((struct fid_ep *)fid, 0);
}

static long call_eq_read(struct core_set *set, struct fid *fid)
{
	return fi_eq_read((struct fid_eq *)fid, &out.event, &out, sizeof(out), 0);
}

static long call_eq_sread(struct core_set *set, struct fid *fid)
{
	return fi_eq_sread((struct fid_eq *)fid, &out.event, &out, sizeof(out), 0,
			   0);
}

static long call_eq_readerr(struct core_set *set, struct fid *fid)
{
	struct fi_eq_err_entry entry = {};

	return fi_eq_readerr((struct fid_eq *)fid, &entry, 0);
}

static long call_eq_write(struct core_set *set, struct fid *fid)
{
	struct fi_eq_entry entry = {};

	return fi_eq_write((struct fid_eq *)fid, FI_NOTIFY, &entry, sizeof(entry),
			   0);
}

static const struct fid_call fid_calls[] = {
	{ "fi_domain", BIT(MOCK_FABRIC), call_domain },
	{ "fi_passive_ep", BIT(MOCK_FABRIC), call_passive_ep },
	{ "fi_eq_open", BIT(MOCK_FABRIC), call_eq_open },
	{ "fi_cq_open", BIT(MOCK_DOMAIN), call_cq_open },
	{ "fi_endpoint", BIT(MOCK_DOMAIN), call_endpoint },
	{ "fi_srx_context", BIT(MOCK_DOMAIN), call_srx },
	{ "fi_cntr_open", BIT(MOCK_DOMAIN), call_cntr_open },
	{ "fi_av_open", BIT(MOCK_DOMAIN), call_av_open },
	{ "fi_mr_reg", BIT(MOCK_DOMAIN), call_mr_reg },
	{ "fi_mr_regv", BIT(MOCK_DOMAIN), call_mr_regv },
	{ "fi_mr_regattr", BIT(MOCK_DOMAIN), call_mr_regattr },
	{ "fi_query_atomic", BIT(MOCK_DOMAIN), call_query_atomic },
	{ "fi_domain_bind", BIT(MOCK_DOMAIN), call_domain_bind },
	{ "fi_ep_bind", BIT(MOCK_EP) | BIT(MOCK_SRX), call_ep_bind },
	{ "fi_pep_bind", BIT(MOCK_PEP), call_pep_bind },
	{ "fi_mr_bind", BIT(MOCK_MR), call_mr_bind },
	{ "fi_enable", BIT(MOCK_EP), call_enable },
	{ "fi_cancel", BIT(MOCK_EP) | BIT(MOCK_SRX), call_cancel },
	{ "fi_setopt", BIT(MOCK_EP) | BIT(MOCK_PEP) | BIT(MOCK_SRX),
	  call_setopt },
	{ "fi_getopt", BIT(MOCK_EP) | BIT(MOCK_PEP) | BIT(MOCK_SRX),
	  call_getopt },
	{ "fi_setname", BIT(MOCK_EP) | BIT(MOCK_PEP), call_setname },
	{ "fi_getname", BIT(MOCK_EP) | BIT(MOCK_PEP), call_getname },
	{ "fi_getpeer", BIT(MOCK_EP), call_getpeer },
	{ "fi_listen", BIT(MOCK_PEP), call_listen },
	{ "fi_connect", BIT(MOCK_EP), call_connect },
	{ "fi_accept", BIT(MOCK_EP), call_accept },
	{ "fi_reject", BIT(MOCK_PEP), call_reject },
	{ "fi_shutdown", BIT(MOCK_EP), call_shutdown },
	{ "fi_eq_read", BIT(MOCK_EQ), call_eq_read },
	{ "fi_eq_sread", BIT(MOCK_EQ), call_eq_sread },
	{ "fi_eq_readerr", BIT(MOCK_EQ), call_eq_readerr },
	{ "fi_eq_write", BIT(MOCK_EQ), call_eq_write },
};

static void fid_call_desc(const struct fid_call *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fid_call, fid_calls, fid_call_desc);

static void object_of_another_class_is_refused(struct kunit *test)
{
	const struct fid_call *row = test->param_value;
	enum mock_class class;
	struct core_set set;
	int calls;

	core_open_all(test, &set, core_mock(test, "mock", 1));
	calls = mock_calls(set.mock);

	for (class = 0; class < MOCK_NR_CLASSES; class++)
		if (!(row->classes & BIT(class)))
			KUNIT_EXPECT_EQ_MSG(test,
					    row->call(&set, set.fid[class]),
					    -EINVAL, "with a %s",
					    mock_classes[class].name);

	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void null_object_is_refused(struct kunit *test)
{
	const struct fid_call *row = test->param_value;
	struct core_set set;

	core_open_parents(test, &set, core_mock(test, "mock", 1), MOCK_FABRIC);

	KUNIT_EXPECT_EQ(test, row->call(&set, NULL), -EINVAL);
}

static void object_that_is_not_open_is_refused(struct kunit *test)
{
	struct fid fid = { .fclass = FI_CLASS_CONNREQ };

	KUNIT_EXPECT_EQ(test, fi_close(&fid), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(&fid, FI_ENABLE, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(&fid, name, 0, &out.ops, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_set_ops(&fid, name, 0, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_close(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(NULL, FI_ENABLE, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(NULL, name, 0, &out.ops, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_set_ops(NULL, name, 0, &out, NULL), -EINVAL);
}

/* Each case: all objects are open, and the provider hears of none of it */
static int refusal_init(struct kunit *test, struct core_set *set)
{
	core_open_all(test, set, core_mock(test, "mock", 1));
	return mock_calls(set->mock);
}

static void open_without_attributes_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);
	struct fid_fabric *fabric = core_fabric(&set);
	struct fid_domain *domain = core_domain(&set);

	KUNIT_EXPECT_EQ(test, fi_fabric(NULL, &out.fabric, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_domain(fabric, NULL, &out.domain, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(fabric, NULL, &out.pep, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, NULL, &out.ep, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_srx_context(domain, NULL, &out.ep, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cntr_open(domain, NULL, &out.cntr, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_open(domain, NULL, &out.av, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, NULL, 0, &out.mr),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void open_without_a_place_for_the_result_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);
	struct fid_fabric *fabric = core_fabric(&set);
	struct fid_domain *domain = core_domain(&set);
	struct kvec iov = { out.bytes, 1 };
	struct fi_mr_attr mr_attr = { .mr_iov = &iov, .iov_count = 1 };
	struct fi_cntr_attr cntr_attr = {};
	struct fi_rx_attr rx_attr = {};
	struct fi_av_attr av_attr = {};

	KUNIT_EXPECT_EQ(test, fi_fabric(set.info->fabric_attr, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_domain(fabric, set.info, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(fabric, set.info, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_open(fabric, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_open(domain, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, set.info, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_srx_context(domain, &rx_attr, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cntr_open(domain, &cntr_attr, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_open(domain, &av_attr, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 1, 0, 0, 0, 0, NULL,
					NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, &iov, 1, 0, 0, 0, 0, NULL,
					 NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &mr_attr, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void fabric_without_a_provider_name_is_refused(struct kunit *test)
{
	struct fi_fabric_attr attr = { .name = "mock" };

	KUNIT_EXPECT_EQ(test, fi_fabric(&attr, &out.fabric, NULL), -EINVAL);
}

static void info_of_another_provider_is_refused(struct kunit *test)
{
	struct core_set set, other;
	int calls;

	refusal_init(test, &set);
	core_open_parents(test, &other, core_mock(test, "other", 1),
			  MOCK_FABRIC);
	calls = mock_calls(set.mock);

	KUNIT_EXPECT_EQ(test, fi_domain(core_fabric(&set), other.info,
					&out.domain, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_endpoint(core_domain(&set), other.info,
					  &out.ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void registration_of_nothing_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);
	struct fid_domain *domain = core_domain(&set);
	struct kvec iov = { out.bytes, 1 };

	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, NULL, 1, FI_REMOTE_READ, 0, 0,
					0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 0, FI_REMOTE_READ, 0,
					0, 0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, NULL, 1, FI_REMOTE_READ, 0, 0,
					 0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, &iov, 0, FI_REMOTE_READ, 0, 0,
					 0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void registration_with_a_flag_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);

	KUNIT_EXPECT_EQ(test, fi_mr_reg(core_domain(&set), out.bytes, 1,
					FI_REMOTE_READ, 0, 0, FI_MORE,
					&out.mr, NULL), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void connection_data_without_a_pointer_is_refused(struct kunit *test)
{
	struct fid handle = { .fclass = FI_CLASS_CONNREQ };
	struct core_set set;
	int calls = refusal_init(test, &set);
	struct fid_ep *ep = core_ep(&set);

	KUNIT_EXPECT_EQ(test, fi_connect(ep, out.bytes, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_accept(ep, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(core_pep(&set), &handle, NULL, 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(core_pep(&set), NULL, NULL, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void address_without_a_place_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);
	struct fid *fid = set.fid[MOCK_EP];

	out_len = sizeof(out);
	KUNIT_EXPECT_EQ(test, fi_getname(fid, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getname(fid, NULL, &out_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getpeer(core_ep(&set), &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getpeer(core_ep(&set), NULL, &out_len),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setname(fid, NULL, sizeof(out)), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setname(fid, &out, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void option_without_a_value_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);
	struct fid *fid = set.fid[MOCK_EP];

	out_len = sizeof(out);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, 0, &out, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, 0, NULL,
					&out_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, 0, NULL, 8),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void ops_without_a_name_or_a_place_are_refused(struct kunit *test)
{
	struct core_set set;
	struct fid *fid;

	refusal_init(test, &set);
	fid = set.fid[MOCK_EP];

	KUNIT_EXPECT_EQ(test, fi_open_ops(fid, NULL, 0, &out.ops, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(fid, name, 0, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_set_ops(fid, NULL, 0, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(fid, name, 0, &out.ops, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_set_ops(fid, name, 0, &out, NULL), -ENOSYS);
}

static void unknown_command_answers_enosys(struct kunit *test)
{
	struct core_set set;

	refusal_init(test, &set);

	KUNIT_EXPECT_EQ(test, fi_control(set.fid[MOCK_EP], 9999, &out),
			-ENOSYS);
}

static void event_without_a_place_is_refused(struct kunit *test)
{
	struct core_set set;
	struct fid_eq *eq;

	refusal_init(test, &set);
	eq = core_eq(&set);

	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, NULL, &out, sizeof(out), 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &out.event, NULL, sizeof(out), 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, NULL, &out, sizeof(out), 0, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, &out.event, NULL, sizeof(out), 0,
					  0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(eq, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_write(eq, FI_NOTIFY, NULL, 24, 0), -EINVAL);
}

static void event_text_of_no_queue_is_still_text(struct kunit *test)
{
	char text[4] = "xxx";

	KUNIT_EXPECT_NOT_NULL(test, fi_eq_strerror(NULL, 1, NULL, text,
						   sizeof(text)));
	KUNIT_EXPECT_LT(test, strnlen(text, sizeof(text)), sizeof(text));
}

static void shutdown_with_a_flag_is_refused(struct kunit *test)
{
	struct core_set set;
	int calls = refusal_init(test, &set);

	KUNIT_EXPECT_EQ(test, fi_shutdown(core_ep(&set), FI_MORE),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE_PARAM(object_of_another_class_is_refused,
			 fid_call_gen_params),
	KUNIT_CASE_PARAM(null_object_is_refused, fid_call_gen_params),
	KUNIT_CASE(object_that_is_not_open_is_refused),
	KUNIT_CASE(open_without_attributes_is_refused),
	KUNIT_CASE(open_without_a_place_for_the_result_is_refused),
	KUNIT_CASE(fabric_without_a_provider_name_is_refused),
	KUNIT_CASE(info_of_another_provider_is_refused),
	KUNIT_CASE(registration_of_nothing_is_refused),
	KUNIT_CASE(registration_with_a_flag_is_refused),
	KUNIT_CASE(connection_data_without_a_pointer_is_refused),
	KUNIT_CASE(address_without_a_place_is_refused),
	KUNIT_CASE(option_without_a_value_is_refused),
	KUNIT_CASE(ops_without_a_name_or_a_place_are_refused),
	KUNIT_CASE(unknown_command_answers_enosys),
	KUNIT_CASE(event_without_a_place_is_refused),
	KUNIT_CASE(event_text_of_no_queue_is_still_text),
	KUNIT_CASE(shutdown_with_a_flag_is_refused),
	{}
};

struct kunit_suite kofi_refusal_suite = {
	.name = "kofi_refusal",
	.init = core_init,
	.exit = core_exit,
	.test_cases = refusal_cases,
};
