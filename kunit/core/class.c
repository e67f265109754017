// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_class: each call with an object of every class in the place of the one that
 * it is for, and with everything else right.  The core refuses those of another class by
 * itself, and the provider hears nothing of it.
 */
#include "refusal.h"

static union refusal_out out;
static size_t out_len;
static const char *const name = "name";
static const size_t one = 1;
static const struct kvec any_iov = { out.bytes, 1 };
static const struct fi_mr_attr mr_attr = {
	.mr_iov = &any_iov,
	.iov_count = 1,
	.access = FI_REMOTE_READ,
};

static struct fi_cntr_attr cntr_attr;
static struct fi_av_attr av_attr;

/* An object in the place of one of any class */
union any {
	struct fid		*fid;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_pep		*pep;
	struct fid_eq		*eq;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	struct fid_av		*av;
};

struct fid_call {
	const char	*name;
	u32		classes;
	long		(*call)(const struct core_set *set, union any any);
};

/* A call with everything else right */
#define CALL(name, call)							\
	static long call_##name(const struct core_set *set, union any any)	\
	{									\
		out_len = sizeof(out);						\
		return call;							\
	}

CALL(domain, fi_domain(any.fabric, set->info, &out.domain, NULL))
CALL(passive_ep, fi_passive_ep(any.fabric, set->info, &out.pep, NULL))
CALL(eq_open, fi_eq_open(any.fabric, NULL, &out.eq, NULL))
CALL(cq_open, fi_cq_open(any.domain, NULL, &out.cq, NULL))
CALL(endpoint, fi_endpoint(any.domain, set->info, &out.ep, NULL))
CALL(srx, fi_srx_context(any.domain, &(struct fi_rx_attr) { .size = 1 }, &out.ep, NULL))
CALL(cntr_open, fi_cntr_open(any.domain, &cntr_attr, &out.cntr, NULL))
CALL(av_open, fi_av_open(any.domain, &av_attr, &out.av, NULL))
CALL(mr_reg, fi_mr_reg(any.domain, out.bytes, 1, FI_REMOTE_READ, 0, 0, 0, &out.mr, NULL))
CALL(mr_regv, fi_mr_regv(any.domain, &any_iov, 1, FI_REMOTE_READ, 0, 0, 0, &out.mr, NULL))
CALL(mr_regattr, fi_mr_regattr(any.domain, &mr_attr, 0, &out.mr))
CALL(query_atomic, fi_query_atomic(any.domain, FI_UINT64, FI_SUM, &out.atomic, 0))
CALL(scalable_ep, fi_scalable_ep(any.domain, set->info, &out.ep, NULL))
CALL(stx, fi_stx_context(any.domain, &(struct fi_tx_attr) { .size = 1 }, &out.stx, NULL))
CALL(tx, fi_tx_context(any.ep, 0, NULL, &out.ep, NULL))
CALL(rx, fi_rx_context(any.ep, 0, NULL, &out.ep, NULL))
CALL(join, fi_join(any.ep, out.bytes, 0, &out.mc, NULL))
CALL(alias, fi_ep_alias(any.ep, &out.ep, FI_TRANSMIT))
CALL(drain, fi_ep_drain(any.ep, 0))
CALL(domain_bind, fi_domain_bind(any.domain, set->fid[MOCK_EQ], 0))
CALL(ep_bind, fi_ep_bind(any.ep, set->fid[MOCK_EQ], 0))
CALL(pep_bind, fi_pep_bind(any.pep, set->fid[MOCK_EQ], 0))
CALL(mr_bind, fi_mr_bind(any.mr, set->fid[MOCK_EP], 0))
CALL(scalable_ep_bind, fi_scalable_ep_bind(any.ep, set->fid[MOCK_AV], 0))
CALL(av_bind, fi_av_bind(any.av, set->fid[MOCK_EQ], 0))
CALL(av_insert, fi_av_insert(any.av, out.bytes, 1, NULL, 0, NULL))
CALL(av_insertsvc, fi_av_insertsvc(any.av, name, 1, NULL, 0, NULL))
CALL(av_insertsym, fi_av_insertsym(any.av, name, 1, 1, 1, NULL, 0, NULL))
CALL(av_remove, fi_av_remove(any.av, &out.fi_addr, 1, 0))
CALL(av_lookup, fi_av_lookup(any.av, 0, &out, &out_len))
CALL(av_insert_key, fi_av_insert_auth_key(any.av, name, 1, &out.fi_addr, 0))
CALL(av_lookup_key, fi_av_lookup_auth_key(any.av, 0, &out, &out_len))
CALL(av_set_user_id, fi_av_set_user_id(any.av, 0, 1, 0))
CALL(enable, fi_enable(any.ep))
CALL(cancel, fi_cancel(any.fid, NULL))
CALL(setopt, fi_setopt(any.fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &one, sizeof(one)))
CALL(getopt, fi_getopt(any.fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &out, &out_len))
CALL(setname, fi_setname(any.fid, out.bytes, sizeof(out.bytes)))
CALL(getname, fi_getname(any.fid, &out, &out_len))
CALL(getpeer, fi_getpeer(any.ep, &out, &out_len))
CALL(listen, fi_listen(any.pep))
CALL(connect, fi_connect(any.ep, out.bytes, NULL, 0))
CALL(accept, fi_accept(any.ep, NULL, 0))
CALL(reject, fi_reject(any.pep, &(struct fid) { .fclass = FI_CLASS_CONNREQ }, NULL, 0))
CALL(shutdown, fi_shutdown(any.ep, 0))
CALL(eq_read, fi_eq_read(any.eq, &out.event, &out, sizeof(out), 0))
CALL(eq_sread, fi_eq_sread(any.eq, &out.event, &out, sizeof(out), 0, 0))
CALL(eq_readerr, fi_eq_readerr(any.eq, &out.eq_err, 0))
CALL(eq_write, fi_eq_write(any.eq, FI_NOTIFY, &out.eq_entry, sizeof(out.eq_entry), 0))

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
	const struct core_set *set = &refusal_set;
	enum mock_class class;

	for (class = 0; class < MOCK_NR_CLASSES; class++)
		if (!(row->classes & BIT(class)))
			KUNIT_EXPECT_EQ_MSG(test, row->call(set, (union any) { set->fid[class] }),
					    -EINVAL, "with a %s", mock_classes[class].name);
}

static void null_object_is_refused(struct kunit *test)
{
	const struct fid_call *row = test->param_value;

	KUNIT_EXPECT_EQ(test, row->call(&refusal_set, (union any) { NULL }), -EINVAL);
}

static void straddr_of_another_class_is_still_text(struct kunit *test)
{
	char text[8] = "";
	size_t len = sizeof(text);

	KUNIT_EXPECT_NOT_NULL(test, fi_av_straddr((struct fid_av *)refusal_set.fid[MOCK_EQ], name,
						  text, &len));
	KUNIT_EXPECT_STREQ(test, text, "Invalid");
	KUNIT_EXPECT_NOT_NULL(test, fi_av_straddr(NULL, name, NULL, NULL));
}

static void device_of_another_class_is_none(struct kunit *test)
{
	refusal_set.mock->dma_device = (void *)&refusal_set;

	KUNIT_EXPECT_NULL(test,
			  fi_domain_device((struct fid_domain *)refusal_set.fid[MOCK_FABRIC]));
	KUNIT_EXPECT_NULL(test, fi_domain_device(NULL));
	KUNIT_EXPECT_PTR_EQ(test, fi_domain_device(core_domain(&refusal_set)),
			    refusal_set.mock->dma_device);
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
	.init = refusal_init,
	.exit = refusal_exit,
	.test_cases = class_cases,
};
