// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_class: each call with an object of every class in the place of the one that
 * it is for, and with everything else right.  The core refuses those of another class by
 * itself, and the provider hears nothing of it.
 */
#include "core.h"

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
	struct fid_stx		*stx;
	struct fid_mc		*mc;
	fi_addr_t		fi_addr;
	u8			bytes[64];
	u32			event;
	void			*ops;
} out;

static size_t out_len;
static const char *const name = "name";

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

	return fi_query_atomic((struct fid_domain *)fid, FI_UINT64, FI_SUM, &attr, 0);
}

static long call_scalable_ep(struct core_set *set, struct fid *fid)
{
	return fi_scalable_ep((struct fid_domain *)fid, set->info, &out.ep, NULL);
}

static long call_stx(struct core_set *set, struct fid *fid)
{
	struct fi_tx_attr attr = { .size = 1 };

	return fi_stx_context((struct fid_domain *)fid, &attr, &out.stx, NULL);
}

static long call_tx(struct core_set *set, struct fid *fid)
{
	return fi_tx_context((struct fid_ep *)fid, 0, NULL, &out.ep, NULL);
}

static long call_rx(struct core_set *set, struct fid *fid)
{
	return fi_rx_context((struct fid_ep *)fid, 0, NULL, &out.ep, NULL);
}

static long call_join(struct core_set *set, struct fid *fid)
{
	return fi_join((struct fid_ep *)fid, out.bytes, 0, &out.mc, NULL);
}

static long call_alias(struct core_set *set, struct fid *fid)
{
	return fi_ep_alias((struct fid_ep *)fid, &out.ep, FI_TRANSMIT);
}

static long call_drain(struct core_set *set, struct fid *fid)
{
	return fi_ep_drain((struct fid_ep *)fid, 0);
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

static long call_scalable_ep_bind(struct core_set *set, struct fid *fid)
{
	return fi_scalable_ep_bind((struct fid_ep *)fid, set->fid[MOCK_AV], 0);
}

static long call_av_bind(struct core_set *set, struct fid *fid)
{
	return fi_av_bind((struct fid_av *)fid, set->fid[MOCK_EQ], 0);
}

static long call_av_insert(struct core_set *set, struct fid *fid)
{
	return fi_av_insert((struct fid_av *)fid, out.bytes, 1, NULL, 0, NULL);
}

static long call_av_insertsvc(struct core_set *set, struct fid *fid)
{
	return fi_av_insertsvc((struct fid_av *)fid, name, 1, NULL, 0, NULL);
}

static long call_av_insertsym(struct core_set *set, struct fid *fid)
{
	return fi_av_insertsym((struct fid_av *)fid, name, 1, 1, 1, NULL, 0, NULL);
}

static long call_av_remove(struct core_set *set, struct fid *fid)
{
	return fi_av_remove((struct fid_av *)fid, &out.fi_addr, 1, 0);
}

static long call_av_lookup(struct core_set *set, struct fid *fid)
{
	out_len = sizeof(out);
	return fi_av_lookup((struct fid_av *)fid, 0, &out, &out_len);
}

static long call_av_insert_key(struct core_set *set, struct fid *fid)
{
	return fi_av_insert_auth_key((struct fid_av *)fid, name, 1, &out.fi_addr, 0);
}

static long call_av_lookup_key(struct core_set *set, struct fid *fid)
{
	out_len = sizeof(out);
	return fi_av_lookup_auth_key((struct fid_av *)fid, 0, &out, &out_len);
}

static long call_av_set_user_id(struct core_set *set, struct fid *fid)
{
	return fi_av_set_user_id((struct fid_av *)fid, 0, 1, 0);
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

	return fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value, sizeof(value));
}

static long call_getopt(struct core_set *set, struct fid *fid)
{
	out_len = sizeof(out);
	return fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &out, &out_len);
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
	return fi_eq_sread((struct fid_eq *)fid, &out.event, &out, sizeof(out), 0, 0);
}

static long call_eq_readerr(struct core_set *set, struct fid *fid)
{
	struct fi_eq_err_entry entry = {};

	return fi_eq_readerr((struct fid_eq *)fid, &entry, 0);
}

static long call_eq_write(struct core_set *set, struct fid *fid)
{
	struct fi_eq_entry entry = {};

	return fi_eq_write((struct fid_eq *)fid, FI_NOTIFY, &entry, sizeof(entry), 0);
}

/* What carries data and can be enabled; what has an address; and all kinds of endpoint */
#define CONTEXTS	(BIT(MOCK_EP) | BIT(MOCK_TX) | BIT(MOCK_RX))
#define ACTIVE		(BIT(MOCK_EP) | BIT(MOCK_SEP))
#define ANY_ENDPOINT	(CONTEXTS | ACTIVE | BIT(MOCK_PEP) | \
			 BIT(MOCK_SRX) | BIT(MOCK_STX))

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
	{ "fi_scalable_ep", BIT(MOCK_DOMAIN), call_scalable_ep },
	{ "fi_stx_context", BIT(MOCK_DOMAIN), call_stx },
	{ "fi_tx_context", BIT(MOCK_SEP), call_tx },
	{ "fi_rx_context", BIT(MOCK_SEP), call_rx },
	{ "fi_join", BIT(MOCK_EP), call_join },
	{ "fi_ep_alias", CONTEXTS, call_alias },
	{ "fi_ep_drain", CONTEXTS, call_drain },
	{ "fi_ep_bind", CONTEXTS | BIT(MOCK_SRX) | BIT(MOCK_SEP),
	  call_ep_bind },
	{ "fi_scalable_ep_bind", BIT(MOCK_SEP), call_scalable_ep_bind },
	{ "fi_av_bind", BIT(MOCK_AV), call_av_bind },
	{ "fi_av_insert", BIT(MOCK_AV), call_av_insert },
	{ "fi_av_insertsvc", BIT(MOCK_AV), call_av_insertsvc },
	{ "fi_av_insertsym", BIT(MOCK_AV), call_av_insertsym },
	{ "fi_av_remove", BIT(MOCK_AV), call_av_remove },
	{ "fi_av_lookup", BIT(MOCK_AV), call_av_lookup },
	{ "fi_av_insert_auth_key", BIT(MOCK_AV), call_av_insert_key },
	{ "fi_av_lookup_auth_key", BIT(MOCK_AV), call_av_lookup_key },
	{ "fi_av_set_user_id", BIT(MOCK_AV), call_av_set_user_id },
	{ "fi_pep_bind", BIT(MOCK_PEP), call_pep_bind },
	{ "fi_mr_bind", BIT(MOCK_MR), call_mr_bind },
	{ "fi_enable", CONTEXTS | BIT(MOCK_SEP), call_enable },
	{ "fi_cancel", CONTEXTS | BIT(MOCK_SRX), call_cancel },
	{ "fi_setopt", ANY_ENDPOINT, call_setopt },
	{ "fi_getopt", ANY_ENDPOINT, call_getopt },
	{ "fi_setname", ACTIVE | BIT(MOCK_PEP), call_setname },
	{ "fi_getname", ACTIVE | BIT(MOCK_PEP), call_getname },
	{ "fi_getpeer", ACTIVE, call_getpeer },
	{ "fi_listen", BIT(MOCK_PEP), call_listen },
	{ "fi_connect", ACTIVE, call_connect },
	{ "fi_accept", ACTIVE, call_accept },
	{ "fi_reject", BIT(MOCK_PEP), call_reject },
	{ "fi_shutdown", ACTIVE, call_shutdown },
	{ "fi_eq_read", BIT(MOCK_EQ), call_eq_read },
	{ "fi_eq_sread", BIT(MOCK_EQ), call_eq_sread },
	{ "fi_eq_readerr", BIT(MOCK_EQ), call_eq_readerr },
	{ "fi_eq_write", BIT(MOCK_EQ), call_eq_write },
};

KUNIT_ARRAY_PARAM_DESC(fid_call, fid_calls, name);

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
			KUNIT_EXPECT_EQ_MSG(test, row->call(&set, set.fid[class]), -EINVAL,
					    "with a %s", mock_classes[class].name);

	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void null_object_is_refused(struct kunit *test)
{
	const struct fid_call *row = test->param_value;
	struct core_set set;

	core_open_parents(test, &set, core_mock(test, "mock", 1), MOCK_FABRIC);

	KUNIT_EXPECT_EQ(test, row->call(&set, NULL), -EINVAL);
}

static void straddr_of_another_class_is_still_text(struct kunit *test)
{
	char text[8] = "";
	size_t len = sizeof(text);
	struct core_set set;
	int calls;

	core_open_all(test, &set, core_mock(test, "mock", 1));
	calls = mock_calls(set.mock);

	KUNIT_EXPECT_NOT_NULL(test,
			      fi_av_straddr((struct fid_av *)set.fid[MOCK_EQ], name, text, &len));
	KUNIT_EXPECT_STREQ(test, text, "Invalid");
	KUNIT_EXPECT_NOT_NULL(test, fi_av_straddr(NULL, name, NULL, NULL));
	KUNIT_EXPECT_EQ(test, mock_calls(set.mock), calls);
}

static void device_of_another_class_is_none(struct kunit *test)
{
	struct core_set set;

	core_open_all(test, &set, core_mock(test, "mock", 1));
	set.mock->dma_device = (void *)&set;

	KUNIT_EXPECT_NULL(test, fi_domain_device((struct fid_domain *)set.fid[MOCK_FABRIC]));
	KUNIT_EXPECT_NULL(test, fi_domain_device(NULL));
	KUNIT_EXPECT_PTR_EQ(test, fi_domain_device(core_domain(&set)), set.mock->dma_device);
}

static struct kunit_case class_cases[] = {
	KUNIT_CASE_PARAM(object_of_another_class_is_refused, fid_call_gen_params),
	KUNIT_CASE_PARAM(null_object_is_refused, fid_call_gen_params),
	KUNIT_CASE(straddr_of_another_class_is_still_text),
	KUNIT_CASE(device_of_another_class_is_none),
	{}
};

struct kunit_suite kofi_class_suite = {
	.name = "kofi_class",
	.init = core_init,
	.exit = core_exit,
	.test_cases = class_cases,
};
