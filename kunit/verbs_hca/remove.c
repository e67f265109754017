// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A device is unplugged, and no client has closed anything: the removal ends, nothing
 * is left on the device, every operation completes exactly once, event queues tell,
 * every call answers -ENODEV, and another device works beside the shells.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <kofi/compat.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "../lib/busy.h"
#include "hca.h"
#include "mr.h"

#define REMOVE_OPS	8
#define REMOVE_LEN	64
#define REMOVE_CONNS	32

int ht_removal_ms = 5000;
module_param_named(removal_ms, ht_removal_ms, int, 0444);
MODULE_PARM_DESC(removal_ms, "how long a removal may take, where other guests share the processors");

static int removals = 10;
module_param(removals, int, 0444);
MODULE_PARM_DESC(removals, "how often the device is removed under load");

/* Posts operations 1 to REMOVE_OPS, half of them receives */
static void remove_post(struct kunit *test, struct vt_end *end)
{
	u8 *buf = ht_buf(test, (REMOVE_OPS + 1) * REMOVE_LEN);
	unsigned long i;
	ssize_t ret;

	for (i = 1; i <= REMOVE_OPS; i++, buf += REMOVE_LEN) {
		if (i % 2)
			ret = fi_recv(end->ep, buf, REMOVE_LEN, NULL, 0, vt_ctx(i));
		else
			ret = fi_send(end->ep, buf, REMOVE_LEN, NULL, 0, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
}

static void remove_open(struct kunit *test, struct vt_pair *pair)
{
	ht_connect(test, NULL, pair);
	fakehca_hold(ht_of(test)->hca);
	remove_post(test, &pair->a);
	remove_post(test, &pair->b);
}

/* Nothing has been closed, and nothing is left */
static void remove_device(struct kunit *test)
{
	fakehca_remove_begin(ht_of(test)->hca);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, ht_removal_ms));
	ht_expect_clean(test);
}

static void remove_expect_told(struct kunit *test, struct fid_eq *eq, struct fid *fid)
{
	struct fi_eq_err_entry error = ht_error(test, eq);

	KUNIT_EXPECT_EQ(test, error.err, ENODEV);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, fid);
	vt_no_event(test, eq);
}

static void remove_expect_end(struct kunit *test, struct vt_cq *cq)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry error;

	KUNIT_EXPECT_EQ(test, fi_cq_read(cq->cq, &entry, 1), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(cq->cq, &error, 0), -ENODEV);
}

/* Each of them exactly once, and nothing more */
static void remove_expect_ops(struct kunit *test, struct vt_cq *cq)
{
	unsigned long seen = 0, i;
	struct vt_comp comp;

	for (i = 0; i < REMOVE_OPS; i++) {
		comp = ht_failed(test, cq, ECANCELED);
		seen |= BIT((unsigned long)comp.context);
	}
	KUNIT_EXPECT_EQ(test, seen, GENMASK(REMOVE_OPS, 1));
	remove_expect_end(test, cq);
}

static void it_waits_for_no_client(struct kunit *test)
{
	struct vt_pair pair = {};

	remove_open(test, &pair);

	remove_device(test);

	remove_expect_told(test, pair.a.eq, &pair.a.ep->fid);
	remove_expect_told(test, pair.b.eq, &pair.b.ep->fid);
	remove_expect_told(test, vt_of(test)->eq, &vt_of(test)->pep->fid);
	remove_expect_ops(test, pair.a.tx);
	remove_expect_ops(test, pair.b.tx);
}

static void close_frees_what_was_not_read(struct kunit *test)
{
	struct vt_pair pair = {};

	remove_open(test, &pair);
	remove_device(test);

	vt_end_close(test, &pair.a);
	vt_close(test, &pair.b.ep->fid);
	remove_expect_end(test, pair.b.tx);
}

static void an_endpoint_not_enabled_goes(struct kunit *test)
{
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, vt_of(test)->info);
	remove_device(test);

	remove_expect_told(test, end.eq, &end.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), -ENODEV);
}

static void an_enabled_endpoint_goes(struct kunit *test)
{
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_client(test, &end);
	vt_recv(test, &end, ht_buf(test, REMOVE_LEN), REMOVE_LEN, vt_ctx(1));
	remove_device(test);

	remove_expect_told(test, end.eq, &end.ep->fid);
	ht_failed(test, end.tx, ECANCELED);
	remove_expect_end(test, end.tx);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &vt_of(test)->name, NULL, 0), -ENODEV);
}

/* With the request that nobody has answered */
static void a_connection_on_its_way_goes(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct vt_end end = {};
	struct fi_info *info;
	struct fid_ep *ep;

	ht_serve(test, NULL);
	ht_client(test, &end);
	vt_connect(test, &end, NULL, 0);
	info = vt_connreq(test, NULL);
	remove_device(test);

	remove_expect_told(test, end.eq, &end.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_endpoint(ht->vt.domain, info, &ep, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_reject(ht->vt.pep, info->handle, NULL, 0), -ENODEV);
}

/* One nobody has read about goes without a word */
static void an_unread_request_goes(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_client(test, &end);
	vt_connect(test, &end, NULL, 0);
	fakehca_idle(ht->hca);
	remove_device(test);

	remove_expect_told(test, ht->vt.eq, &ht->vt.pep->fid);
}

/* What a client may have open on a domain */
struct remove_all {
	struct vt_pair	pair;
	struct fid_mr	*mr;
	struct fid_mr	*ep_mr;
	struct fid_mr	*ready_mr;
	struct fid_ep	*srx;
	u8		*buf;
};

static void remove_open_mrs(struct kunit *test, struct remove_all *all)
{
	all->buf = ht_buf(test, PAGE_SIZE);
	all->mr = vt_reg(test, all->buf, PAGE_SIZE, FI_REMOTE_WRITE);
	all->ready_mr = hm_reg_ep(test, all->pair.a.ep);
	all->ep_mr = hm_reg_ep(test, all->pair.a.ep);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(all->ep_mr), 0);
}

static void remove_open_all(struct kunit *test, struct remove_all *all)
{
	struct fi_rx_attr attr = { .size = 4 };

	ht_connect(test, NULL, &all->pair);
	remove_open_mrs(test, all);
	KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, &attr, &all->srx, NULL), 0);
	vt_adopt(test, &all->srx->fid);
	KUNIT_ASSERT_EQ(test, fi_recv(all->srx, ht_buf(test, REMOVE_LEN),
				      REMOVE_LEN, NULL, 0, NULL), 0);
	remove_device(test);
}

/* Whatever its state was */
static void remove_expect_lent(struct kunit *test, struct fid_mr *mr)
{
	struct kvec kvec = { ht_buf(test, 8), 8 };
	const struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
	};

	KUNIT_EXPECT_EQ(test, fi_mr_enable(mr), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -ENODEV);
}

static void every_data_call_answers(struct kunit *test)
{
	struct remove_all all = {};
	struct fid_ep *ep;
	u8 *buf;

	remove_open_all(test, &all);
	ep = all.pair.a.ep;
	buf = all.buf;

	KUNIT_EXPECT_EQ(test, fi_send(ep, buf, 8, NULL, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_inject(ep, buf, 8, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_recv(ep, buf, 8, NULL, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_recv(all.srx, buf, 8, NULL, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_write(ep, buf, 8, NULL, 0, 0, 1, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_read(ep, buf, 8, NULL, 0, 0, 1, NULL), -ENODEV);
	remove_expect_lent(test, all.ep_mr);
	remove_expect_lent(test, all.ready_mr);
	remove_expect_end(test, all.pair.a.tx);
}

static void every_call_on_the_endpoint_answers(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct remove_all all = {};
	size_t len = sizeof(addr), value;
	struct fid_ep *ep;

	remove_open_all(test, &all);
	ep = all.pair.a.ep;

	KUNIT_EXPECT_EQ(test, fi_enable(ep), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_connect(ep, &vt_of(test)->name, NULL, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_accept(ep, NULL, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_shutdown(ep, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_getname(&ep->fid, &addr, &len), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_getpeer(ep, &addr, &len), -ENODEV);
	len = sizeof(value);
	KUNIT_EXPECT_EQ(test, fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_MSG_SIZE, &value,
					&len), -ENODEV);
	value = 1;
	KUNIT_EXPECT_EQ(test, fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &value,
					sizeof(value)), -ENODEV);
	/* What it has done can be asked for as long as it is open */
	KUNIT_EXPECT_EQ(test, vt_stat(test, &ep->fid, "tx_ops"), 0);
}

static void every_call_on_the_domain_answers(struct kunit *test)
{
	struct fi_cntr_attr cntr_attr = {};
	struct fi_atomic_attr atomic_attr;
	struct fi_rx_attr rx_attr = {};
	struct ht *ht = ht_of(test);
	struct remove_all all = {};
	struct fid_domain *domain;
	struct fid_cntr *cntr;
	struct fi_info *info;
	struct fid_mr *mr;
	struct fid_cq *cq;
	struct fid_ep *ep;

	remove_open_all(test, &all);

	KUNIT_EXPECT_EQ(test, fi_endpoint(ht->vt.domain, ht->vt.info, &ep, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_cq_open(ht->vt.domain, NULL, &cq, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_cntr_open(ht->vt.domain, &cntr_attr, &cntr, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_srx_context(ht->vt.domain, &rx_attr, &ep, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(ht->vt.domain, all.buf, 8, FI_REMOTE_READ,
					0, 0, 0, &mr, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_query_atomic(ht->vt.domain, FI_UINT64, FI_SUM,
					      &atomic_attr, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &domain, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, ht_hints(test), &info), -ENODATA);
}

static void every_call_on_the_listener_answers(struct kunit *test)
{
	struct sockaddr_storage addr;
	size_t len = sizeof(addr);
	struct ht *ht = ht_of(test);
	int raw = 1;

	ht_serve(test, NULL);
	remove_device(test);

	KUNIT_EXPECT_EQ(test, fi_listen(ht->vt.pep), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_setopt(&ht->vt.pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &raw,
					sizeof(raw)), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_getname(&ht->vt.pep->fid, &addr, &len), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_setname(&ht->vt.pep->fid, &ht->vt.name, ht->vt.name_len), -ENODEV);
	remove_expect_told(test, ht->vt.eq, &ht->vt.pep->fid);
}

/* An end that nobody waits for any more, were it not for the device */
static void a_sleeping_reader_wakes(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fi_cq_data_entry entry;

	ht_connect(test, NULL, &pair);
	fakehca_remove_begin(ht_of(test)->hca);

	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.a.tx->cq, &entry, 1, NULL), -ENODEV);
}

static void remove_count(struct fid_cq *cq, void *context)
{
	struct fi_cq_data_entry entry;

	if (fi_cq_read(cq, &entry, 1) == -ENODEV)
		complete(context);
}

static void a_handler_is_told(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.size		= 4,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= remove_count,
	};
	struct completion *told;
	struct fid_cq *cq;

	told = vt_buf(test, sizeof(*told));
	init_completion(told);
	ht_open(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, told), 0);
	vt_adopt(test, &cq->fid);
	remove_device(test);

	KUNIT_EXPECT_TRUE(test, vt_completed(told));
}

static void a_poller_reads_the_rest(struct kunit *test)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	struct vt_end end = {};

	ht_serve(test, NULL);
	end.tx = vt_cq(test, &ht_polled, 16);
	end.info = vt_dup(test, vt_of(test)->info);
	end.info->tx_attr->size = 8;
	end.info->rx_attr->size = 8;
	ht_end_open(test, &end, end.info);
	ht_end_enable(test, &end);
	vt_recv(test, &end, ht_buf(test, REMOVE_LEN), REMOVE_LEN, vt_ctx(1));
	remove_device(test);

	KUNIT_EXPECT_EQ(test, fi_cq_read(end.tx->cq, &entry, 1), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(end.tx->cq, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, error.err, ECANCELED);
	remove_expect_end(test, end.tx);
}

/* The shells of the first one are still open */
static void another_device_works_beside_the_shells(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct vt_pair pair = {}, again = {};
	struct fakehca *gone;

	remove_open(test, &pair);
	remove_device(test);
	gone = ht->hca;
	ht->hca = NULL;

	ht_connect(test, NULL, &again);
	vt_ping(test, &again.a, &again.b);
	remove_expect_ops(test, pair.a.tx);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, NULL, 0, NULL, 0, NULL), -ENODEV);
	fakehca_destroy(gone);
}

static void a_busy_device_goes(struct kunit *test)
{
	struct busy_count count;
	struct busy *busy;
	ktime_t start;
	s64 ms;

	ht_open(test, NULL);
	busy = busy_start(test, vt_of(test)->info, REMOVE_CONNS);

	KUNIT_EXPECT_TRUE(test, busy_is_busy(busy));
	start = ktime_get();
	remove_device(test);
	ms = ktime_ms_delta(ktime_get(), start);
	count = busy_expect_gone(busy);
	kunit_info(test, "%d connections: %lu operations, %lu failed, %lu twice, %lu lost; %lu registrations, %lu connects; removed in %lld ms\n",
		   REMOVE_CONNS, count.posted, count.failed, count.twice,
		   count.out, count.regs, count.joins, ms);
	busy_stop(busy);
}

static const void *remove_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	uintptr_t nr = prev ? (uintptr_t)prev + 1 : 1;

	if (nr > removals)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "removal %lu", (unsigned long)nr);
	return (const void *)nr;
}

static struct kunit_case remove_cases[] = {
	KUNIT_CASE(it_waits_for_no_client),
	KUNIT_CASE(close_frees_what_was_not_read),
	KUNIT_CASE(an_endpoint_not_enabled_goes),
	KUNIT_CASE(an_enabled_endpoint_goes),
	KUNIT_CASE(a_connection_on_its_way_goes),
	KUNIT_CASE(an_unread_request_goes),
	KUNIT_CASE(every_data_call_answers),
	KUNIT_CASE(every_call_on_the_endpoint_answers),
	KUNIT_CASE(every_call_on_the_domain_answers),
	KUNIT_CASE(every_call_on_the_listener_answers),
	KUNIT_CASE(a_sleeping_reader_wakes),
	KUNIT_CASE(a_handler_is_told),
	KUNIT_CASE(a_poller_reads_the_rest),
	KUNIT_CASE(another_device_works_beside_the_shells),
	KUNIT_CASE_PARAM(a_busy_device_goes, remove_gen_params),
	{}
};

struct kunit_suite kofi_hca_remove_suite = {
	.name		= "kofi_hca_remove",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= remove_cases,
};
