// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a client must not ask for: NULL, objects that do not belong together, unknown
 * flags.  The core answers all of it itself.  Objects of the wrong class are in class.c.
 */
#include <linux/in.h>
#include <kofi/stat.h>
#include "../lib/refusal.h"
#include "refusal.h"

static union refusal_out out;
static size_t out_len;
static const char *const name = "name";

struct core_set refusal_set;
static int calls;

int refusal_init(struct kunit *test)
{
	int err = core_init(test);

	refusal_set.mock = NULL;
	if (!err) {
		core_open_all(test, &refusal_set, core_mock(test, "mock", 1));
		calls = mock_calls(refusal_set.mock);
	}
	return err;
}

void refusal_reaches(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, mock_calls(refusal_set.mock), calls);
	calls = mock_calls(refusal_set.mock);
}

void refusal_exit(struct kunit *test)
{
	if (refusal_set.mock)
		KUNIT_EXPECT_EQ(test, mock_calls(refusal_set.mock), calls);
	core_exit(test);
}

static void object_that_is_not_open_is_refused(struct kunit *test)
{
	struct fid fid = { .fclass = FI_CLASS_CONNREQ };

	KUNIT_EXPECT_EQ(test, fi_close(&fid), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(&fid, FI_ENABLE, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(&fid, name, 0, &out.ops, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_set_ops(&fid, name, 0, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_close(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(NULL, FI_ENABLE, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(NULL, name, 0, &out.ops, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_set_ops(NULL, name, 0, &out, NULL), -EINVAL);
}

static void class_that_is_never_open_is_unknown(struct kunit *test)
{
	struct fid_pep pep = { .fid.fclass = FI_CLASS_CONNREQ };

	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, fi_listen(&pep), -EINVAL);
	vt_refused(test, "listen", -EINVAL, "of the class unknown object, not passive endpoint");
}

static void open_without_attributes_is_refused(struct kunit *test)
{
	struct fid_fabric *fabric = core_fabric(&refusal_set);
	struct fid_domain *domain = core_domain(&refusal_set);

	KUNIT_EXPECT_EQ(test, fi_fabric(NULL, &out.fabric, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_domain(fabric, NULL, &out.domain, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(fabric, NULL, &out.pep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, NULL, &out.ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_srx_context(domain, NULL, &out.ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cntr_open(domain, NULL, &out.cntr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_open(domain, NULL, &out.av, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, NULL, 0, &out.mr), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_scalable_ep(domain, NULL, &out.ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_stx_context(domain, NULL, &out.stx, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_join(core_ep(&refusal_set), NULL, 0, &out.mc, NULL), -EINVAL);
}

static void open_without_a_place_for_the_result_is_refused(struct kunit *test)
{
	struct fid_fabric *fabric = core_fabric(&refusal_set);
	struct fid_domain *domain = core_domain(&refusal_set);
	struct kvec iov = { out.bytes, 1 };
	struct fi_mr_attr mr_attr = { .mr_iov = &iov, .iov_count = 1 };
	struct fi_cntr_attr cntr_attr = {};
	struct fi_rx_attr rx_attr = {};
	struct fi_tx_attr tx_attr = {};
	struct fi_av_attr av_attr = {};

	KUNIT_EXPECT_EQ(test, fi_fabric(refusal_set.info->fabric_attr, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_domain(fabric, refusal_set.info, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(fabric, refusal_set.info, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_open(fabric, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_open(domain, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, refusal_set.info, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_srx_context(domain, &rx_attr, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cntr_open(domain, &cntr_attr, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_open(domain, &av_attr, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 1, 0, 0, 0, 0, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, &iov, 1, 0, 0, 0, 0, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &mr_attr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_scalable_ep(domain, refusal_set.info, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_tx_context(core_sep(&refusal_set), 0, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_rx_context(core_sep(&refusal_set), 0, NULL, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_stx_context(domain, &tx_attr, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_join(core_ep(&refusal_set), out.bytes, 0, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_ep_alias(core_ep(&refusal_set), NULL, FI_TRANSMIT), -EINVAL);
}

static void fabric_without_a_provider_name_is_refused(struct kunit *test)
{
	struct fi_fabric_attr attr = { .name = "mock" };

	KUNIT_EXPECT_EQ(test, fi_fabric(&attr, &out.fabric, NULL), -EINVAL);
}

static void info_of_another_provider_is_refused(struct kunit *test)
{
	struct core_set other;

	core_open_parents(test, &other, core_mock(test, "other", 1), MOCK_FABRIC);

	KUNIT_EXPECT_EQ(test, fi_domain(core_fabric(&refusal_set), other.info,
					&out.domain, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_endpoint(core_domain(&refusal_set), other.info,
					  &out.ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_scalable_ep(core_domain(&refusal_set), other.info,
					     &out.ep, NULL), -EINVAL);
}

static void registration_of_nothing_is_refused(struct kunit *test)
{
	struct fid_domain *domain = core_domain(&refusal_set);
	struct kvec iov = { out.bytes, 1 };

	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, NULL, 1, FI_REMOTE_READ, 0, 0,
					0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 0, FI_REMOTE_READ, 0,
					0, 0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, NULL, 1, FI_REMOTE_READ, 0, 0,
					 0, &out.mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, &iov, 0, FI_REMOTE_READ, 0, 0,
					 0, &out.mr, NULL), -EINVAL);
}

static void registration_that_makes_no_sense_is_refused(struct kunit *test)
{
	struct fid_domain *domain = core_domain(&refusal_set);
	const struct kvec iov = { out.bytes, 1 };
	const struct fi_mr_attr lent = { .mr_iov = &iov, .iov_count = 1 };
	const struct fi_mr_attr unknown = { .type = FI_BUF_SGL + 1, .iov_count = 1 };

	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 1, FI_TAGGED, 0, 0, 0, &out.mr, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 1, FI_REMOTE_READ, 8, 0, 0, &out.mr,
					NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &lent, FI_MR_ENDPOINT | FI_MR_LEND, &out.mr),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &unknown, 0, &out.mr), -EINVAL);
}

static void buffer_may_reach_to_the_end_of_all_addresses(struct kunit *test)
{
	struct fid_domain *domain = core_domain(&refusal_set);
	void *last = (void *)-8UL;
	struct fid_mr *mr;

	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, last, 9, FI_REMOTE_READ, 0, 0, 0, &out.mr, NULL),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(domain, last, 8, FI_REMOTE_READ, 0, 0, 0, &mr, NULL), 0);
	core_adopt(test, &mr->fid);
	refusal_reaches(test);
}

static void registration_with_a_flag_is_refused(struct kunit *test)
{
	const struct kvec iov = { out.bytes, 1 };
	struct fid_domain *domain = core_domain(&refusal_set);
	int bit;

	for (bit = 0; bit < 64; bit++) {
		KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, out.bytes, 1, FI_REMOTE_READ, 0, 0,
						BIT_ULL(bit), &out.mr, NULL), -FI_EBADFLAGS);
		KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, &iov, 1, FI_REMOTE_READ, 0, 0,
						 BIT_ULL(bit), &out.mr, NULL), -FI_EBADFLAGS);
	}
}

static void connection_data_without_a_pointer_is_refused(struct kunit *test)
{
	struct fid handle = { .fclass = FI_CLASS_CONNREQ };
	struct fid_ep *ep = core_ep(&refusal_set);

	KUNIT_EXPECT_EQ(test, fi_connect(ep, out.bytes, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_accept(ep, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(core_pep(&refusal_set), &handle, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(core_pep(&refusal_set), NULL, NULL, 0), -EINVAL);
}

static void address_without_a_place_is_refused(struct kunit *test)
{
	struct fid *fid = refusal_set.fid[MOCK_EP];

	out_len = sizeof(out);
	KUNIT_EXPECT_EQ(test, fi_getname(fid, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getname(fid, NULL, &out_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getpeer(core_ep(&refusal_set), &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getpeer(core_ep(&refusal_set), NULL, &out_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setname(fid, NULL, sizeof(out)), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setname(fid, &out, 0), -EINVAL);
}

static void option_without_a_value_is_refused(struct kunit *test)
{
	struct fid *fid = refusal_set.fid[MOCK_EP];

	out_len = sizeof(out);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, 0, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, 0, NULL, &out_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, 0, NULL, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, 0, &out, 0), -EINVAL);
}

static void ops_without_a_name_or_a_place_are_refused(struct kunit *test)
{
	struct fid *fid = refusal_set.fid[MOCK_EP];

	KUNIT_EXPECT_EQ(test, fi_open_ops(fid, NULL, 0, &out.ops, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(fid, name, 0, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_set_ops(fid, NULL, 0, &out, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_open_ops(fid, name, 0, &out.ops, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_set_ops(fid, name, 0, &out, NULL), -ENOSYS);
}

static void unknown_command_answers_enosys(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fi_control(refusal_set.fid[MOCK_EP], 9999, &out), -ENOSYS);
	refusal_reaches(test);
}

static void event_without_a_place_is_refused(struct kunit *test)
{
	struct fid_eq *eq = core_eq(&refusal_set);

	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, NULL, &out, sizeof(out), 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &out.event, NULL, sizeof(out), 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, NULL, &out, sizeof(out), 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, &out.event, NULL, sizeof(out), 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_readerr(eq, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_write(eq, FI_NOTIFY, NULL, 24, 0), -EINVAL);
}

static void event_text_of_no_queue_is_still_text(struct kunit *test)
{
	char text[4] = { 'x', 'x', 'x', 'x' };

	KUNIT_EXPECT_NOT_NULL(test, fi_eq_strerror(NULL, 1, NULL, text, sizeof(text)));
	KUNIT_EXPECT_LT(test, strnlen(text, sizeof(text)), sizeof(text));
}

/* Fillers whose result is no error code, or goes to the core */
static void fillers_leave_alone_what_is_not_theirs(struct kunit *test)
{
	char text[4] = { 'x', 'x', 'x', 'x' };

	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, kofi_no_ops_cntr.read(NULL), 0ULL);
	KUNIT_EXPECT_NOT_NULL(test, kofi_no_ops_av.straddr(NULL, NULL, text, NULL));
	KUNIT_EXPECT_EQ(test, text[0], 'x');
	KUNIT_EXPECT_NOT_NULL(test, kofi_no_ops_eq.strerror(NULL, 1, NULL, text, sizeof(text)));
	KUNIT_EXPECT_LT(test, strnlen(text, sizeof(text)), sizeof(text));
	KUNIT_EXPECT_EQ(test, fi_no_control(&core_ep(&refusal_set)->fid, KOFI_GETSTAT, NULL),
			-ENOSYS);
	vt_not_refused(test);
}

static void shutdown_with_a_flag_is_refused(struct kunit *test)
{
	int bit;

	for (bit = 0; bit < 64; bit++)
		KUNIT_EXPECT_EQ(test, fi_shutdown(core_ep(&refusal_set), BIT_ULL(bit)),
				-FI_EBADFLAGS);
}

static void binding_without_a_direction_names_those_there_are(struct kunit *test)
{
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_ep(&refusal_set), refusal_set.fid[MOCK_CQ], 0),
			-FI_EBADFLAGS);
	vt_refused(test, "ep_bind", -FI_EBADFLAGS, "none of FI_RECV, FI_SEND is given");
}

static void join_with_an_unknown_flag_is_refused(struct kunit *test)
{
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, fi_join(core_ep(&refusal_set), out.bytes, FI_SEND | FI_READ,
				      &out.mc, NULL), -FI_EBADFLAGS);
	vt_refused(test, "join", -FI_EBADFLAGS, "flags: 0x100 given, 0xc00 allowed");
}

static void join_may_be_for_one_direction(struct kunit *test)
{
	const struct sockaddr_in group = { .sin_family = AF_INET };
	static const u64 flags[] = { FI_SEND, FI_RECV };
	struct fid_mc *mc;
	int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_ASSERT_EQ(test, fi_join(core_ep(&refusal_set), &group, flags[i], &mc, NULL),
				0);
		core_adopt(test, &mc->fid);
		refusal_reaches(test);
	}
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE(object_that_is_not_open_is_refused),
	KUNIT_CASE(class_that_is_never_open_is_unknown),
	KUNIT_CASE(open_without_attributes_is_refused),
	KUNIT_CASE(open_without_a_place_for_the_result_is_refused),
	KUNIT_CASE(fabric_without_a_provider_name_is_refused),
	KUNIT_CASE(info_of_another_provider_is_refused),
	KUNIT_CASE(registration_of_nothing_is_refused),
	KUNIT_CASE(registration_that_makes_no_sense_is_refused),
	KUNIT_CASE(buffer_may_reach_to_the_end_of_all_addresses),
	KUNIT_CASE(registration_with_a_flag_is_refused),
	KUNIT_CASE(connection_data_without_a_pointer_is_refused),
	KUNIT_CASE(address_without_a_place_is_refused),
	KUNIT_CASE(option_without_a_value_is_refused),
	KUNIT_CASE(ops_without_a_name_or_a_place_are_refused),
	KUNIT_CASE(unknown_command_answers_enosys),
	KUNIT_CASE(event_without_a_place_is_refused),
	KUNIT_CASE(event_text_of_no_queue_is_still_text),
	KUNIT_CASE(fillers_leave_alone_what_is_not_theirs),
	KUNIT_CASE(shutdown_with_a_flag_is_refused),
	KUNIT_CASE(binding_without_a_direction_names_those_there_are),
	KUNIT_CASE(join_with_an_unknown_flag_is_refused),
	KUNIT_CASE(join_may_be_for_one_direction),
	{}
};

struct kunit_suite kofi_refusal_suite = {
	.name = "kofi_refusal",
	.init = refusal_init,
	.exit = refusal_exit,
	.test_cases = refusal_cases,
};
