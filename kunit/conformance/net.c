// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A network namespace that goes: everything in it ends, as with a removed device, and
 * objects stay as shells until their client closes them.
 *
 * The namespace is new and has loopback addresses only.  A provider that finds nothing
 * there, as an RDMA device does, has to say so.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "../lib/netns.h"
#include "conformance.h"
#include "sep.h"

#define LEN	64

/* Goes on in the namespace; false: nothing is found there */
static bool enter(struct kunit *test, struct vt_netns *netns)
{
	struct fi_info *hints = conf_hints_new(vt_of(test)->info->ep_attr->type);
	const struct fi_info *given = vt_of(test)->info;
	struct fi_info *info;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	rtnl_lock();
	ret = dev_open(netns->net->loopback_dev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, ret, 0);
	hints->addr_format = given->addr_format;
	hints->fabric_attr->net = netns->net;
	hints->fabric_attr->prov_name = kstrdup(given->fabric_attr->prov_name, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	ret = conf_getinfo(test, hints, &info);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENODATA);
		return false;
	}
	KUNIT_EXPECT_PTR_EQ(test, info->fabric_attr->net, netns->net);
	vt_of(test)->info = info;
	return true;
}

/* The completion queue says so when nothing is left in it */
static void ended(struct kunit *test, struct fid_cq *cq)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	do {
		ret = vt_cq_sread(cq, &entry, 1, NULL);
		if (ret == -FI_EAVAIL)
			fi_cq_readerr(cq, &error, 0);
	} while (ret == 1 || ret == -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, ret, -ENODEV);
}

static void end_is_a_shell(struct kunit *test, struct vt_end *end)
{
	struct fi_eq_err_entry error = {};
	u8 *buf = vt_buf(test, LEN);

	if (end->eq) {
		vt_error(test, end->eq, &error);
		KUNIT_EXPECT_EQ(test, error.err, ENODEV);
		KUNIT_EXPECT_PTR_EQ(test, error.fid, &end->ep->fid);
		vt_no_event(test, end->eq);
		KUNIT_EXPECT_EQ(test, fi_shutdown(end->ep, 0), -ENODEV);
	}
	KUNIT_EXPECT_EQ(test, fi_send(end->ep, buf, LEN, NULL, 0, vt_ctx(9)), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_recv(end->ep, buf, LEN, NULL, 0, vt_ctx(9)), -ENODEV);
	ended(test, end->rx->cq);
}

static void what_is_in_a_namespace_goes_with_it(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_eq_err_entry error = {};
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!enter(test, netns))
		return;
	conf_join(test, &pair);
	vt_ping(test, &pair.a, &pair.b);
	vt_recv(test, &pair.b, vt_buf(test, LEN), LEN, vt_ctx(1));

	vt_netns_let_go(netns);
	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	end_is_a_shell(test, &pair.a);
	end_is_a_shell(test, &pair.b);
	if (vt_of(test)->pep) {
		vt_error(test, vt_of(test)->eq, &error);
		KUNIT_EXPECT_EQ(test, error.err, ENODEV);
		KUNIT_EXPECT_EQ(test, fi_listen(vt_of(test)->pep), -ENODEV);
	}
}

static void contexts_go_with_their_namespace(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_msg msg = { .addr = fi_rx_addr(0, 3, SEP_BITS), .context = vt_ctx(2) };
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, LEN);
	struct fi_info *info;
	struct vt_comp comp;
	int i;

	if (!conf_is_rdm(test) || !enter(test, netns))
		return;
	info = vt_of(test)->info;
	if (info->domain_attr->max_ep_tx_ctx < SEP_CTXS)
		return;
	info->ep_attr->tx_ctx_cnt = SEP_CTXS;
	info->ep_attr->rx_ctx_cnt = SEP_CTXS;
	sep_join(test, &a, &b);
	sep_pass(test, &a, 1, &b, 2, buf);
	KUNIT_ASSERT_EQ(test, fi_recv(b.rx[2], buf, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	/* A message of no bytes that nobody takes */
	KUNIT_ASSERT_EQ(test, fi_sendmsg(a.tx[1], &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);

	vt_netns_let_go(netns);
	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
	comp = vt_failed(test, b.rx_cq[2]);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	comp = vt_failed(test, a.tx_cq[1]);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	for (i = 0; i < SEP_CTXS; i++) {
		KUNIT_EXPECT_EQ(test, fi_send(a.tx[i], buf, LEN, NULL, 0, NULL), -ENODEV);
		KUNIT_EXPECT_EQ(test, fi_recv(b.rx[i], buf, LEN, NULL, 0, NULL), -ENODEV);
		ended(test, a.tx_cq[i]->cq);
		ended(test, b.rx_cq[i]->cq);
	}
	vt_close(test, &a.tx[0]->fid);
	KUNIT_EXPECT_EQ(test, fi_tx_context(a.sep, 0, NULL, &a.tx[0], NULL), -ENODEV);
}

static void nothing_is_opened_where_no_namespace_is(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct vt *vt = vt_of(test);
	struct fid_pep *pep = NULL;
	struct fid_ep *ep = NULL;
	struct fid_cq *cq = NULL;
	struct fid_mr *mr = NULL;

	if (!enter(test, netns))
		return;
	vt_open_info(test, vt->info);
	vt_netns_let_go(netns);
	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, vt->info, &ep, NULL), -ENODEV);
	if (!vt_is_rdm(vt->info))
		KUNIT_EXPECT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &pep, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(vt->domain, vt_buf(test, LEN), LEN, FI_REMOTE_READ,
					0, 1, 0, &mr, NULL), -ENODEV);
	if (!fi_cq_open(vt->domain, NULL, &cq, NULL)) {
		vt_adopt(test, &cq->fid);
		ended(test, cq);
	}
}

static void a_request_is_for_its_namespace(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_info *home = vt_of(test)->info, *request;
	struct fid_domain *domain;
	struct fid_fabric *fabric;
	struct vt_pair pair = {};
	struct fid_ep *ep;

	if (!conf_is_msg(test) || !enter(test, netns))
		return;
	conf_serve(test);
	request = vt_dial(test, &pair.a);
	KUNIT_ASSERT_EQ(test, fi_fabric(home->fabric_attr, &fabric, NULL), 0);
	vt_adopt(test, &fabric->fid);
	KUNIT_ASSERT_EQ(test, fi_domain(fabric, home, &domain, NULL), 0);
	vt_adopt(test, &domain->fid);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, request, &ep, NULL), -FI_EDOMAIN);
	vt_end_open(test, &pair.b, request, &vt_default_kind);
	vt_accept(test, &pair.b, NULL, 0);
}

/* Each of them may have held the namespace for a moment */
static void calls_that_fail_do_not_keep_a_namespace(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_eq_err_entry error = {};
	struct sockaddr_storage nobody;
	struct vt *vt = vt_of(test);
	struct fi_info *info, *none;
	struct vt_end end = {};
	struct fid_mr *mr;
	struct fid_ep *ep;
	fi_addr_t addr;

	if (!enter(test, netns))
		return;
	info = vt->info;
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, "192.0.2.1", 0, FI_SOURCE, info, &none), -ENODATA);
	conf_serve(test);
	vt_client(test, &end, &vt_default_kind);
	KUNIT_EXPECT_LT(test, fi_mr_reg(vt->domain, vt_buf(test, LEN), LEN, 0, 0, 1, ~0ULL, &mr,
					NULL), 0);
	none = vt_dup(test, info);
	none->tx_attr->size = SIZE_MAX;
	KUNIT_EXPECT_LT(test, fi_endpoint(vt->domain, none, &ep, NULL), 0);
	if (end.av) {
		KUNIT_EXPECT_LT(test, fi_av_insertsvc(end.av, "no.such.node", 4712, &addr, 0,
						      NULL), 1);
		KUNIT_EXPECT_LT(test, fi_av_insertsvc(end.av, "fe80::7%none", 4712, &addr, 0,
						      NULL), 1);
	} else {
		/* The port lies in both kinds of addresses at one place */
		nobody = vt->name;
		((struct sockaddr_in *)&nobody)->sin_port ^= htons(1);
		if (!fi_connect(end.ep, &nobody, NULL, 0)) {
			vt_error(test, end.eq, &error);
			KUNIT_EXPECT_PTR_EQ(test, error.fid, &end.ep->fid);
		}
	}
	vt_end_close(test, &end);
	if (vt->pep) {
		KUNIT_EXPECT_LT(test, fi_listen(vt->pep), 0);
		vt_close(test, &vt->pep->fid);
	}
	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
}

static struct kunit_case net_cases[] = {
	KUNIT_CASE_PARAM(what_is_in_a_namespace_goes_with_it, conf_gen_params),
	KUNIT_CASE_PARAM(contexts_go_with_their_namespace, conf_gen_rdm),
	KUNIT_CASE_PARAM(calls_that_fail_do_not_keep_a_namespace, conf_gen_params),
	KUNIT_CASE_PARAM(nothing_is_opened_where_no_namespace_is, conf_gen_params),
	KUNIT_CASE_PARAM(a_request_is_for_its_namespace, conf_gen_msg),
	{}
};

struct kunit_suite conf_net_suite = {
	.name		= "kofi_conformance_net",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= net_cases,
};
