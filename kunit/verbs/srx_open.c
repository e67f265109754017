// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive contexts: how they are opened and bound, what they cannot do, and
 * the limit at which the client hears that few receives are left.
 */
#include <linux/ktime.h>
#include "srx.h"

void srx_join_pair(struct kunit *test, struct vt_pair *pair, struct fid_ep *srx)
{
	vt_end_open(test, &pair->a, srx_plain(test), &vt_default_kind);
	vt_connect(test, &pair->a, NULL, 0);
	pair->b.srx = srx;
	vt_end_open(test, &pair->b, vt_connreq(test, NULL), &vt_default_kind);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);
}

static void what_a_context_uses_cannot_be_closed(struct kunit *test)
{
	struct srx_set set = {};

	srx_serve(test, &set);
	KUNIT_EXPECT_EQ(test, fi_close(&set.eq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&vt_of(test)->domain->fid), -EBUSY);
	vt_close(test, &set.srx->fid);
	vt_close(test, &set.eq->fid);
}

static struct fid_ep *srx_bare_ep(struct kunit *test, struct srx_set *set, struct vt_cq *cq)
{
	struct fid_ep *ep = vt_ep(test, vt_of(test)->info);

	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &set->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &set->srx->fid, 0), 0);
	return ep;
}

/* Room for the context counts once in a queue */
static void a_queue_has_room_for_the_context_once(struct kunit *test)
{
	struct fid_ep *ep[3], *plain;
	struct srx_set set = {};
	struct vt_cq *cq;

	srx_serve(test, &set);
	cq = vt_cq(test, &vt_default_kind, 2 * SRX_TX + SRX_DEPTH);
	ep[0] = srx_bare_ep(test, &set, cq);
	ep[1] = srx_bare_ep(test, &set, cq);
	ep[2] = srx_bare_ep(test, &set, cq);
	KUNIT_EXPECT_EQ(test, fi_enable(ep[0]), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep[1]), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep[2]), -ENOSPC);
	vt_close(test, &ep[1]->fid);
	KUNIT_EXPECT_EQ(test, fi_enable(ep[2]), 0);

	/* With the last of them the room for the context is back */
	vt_close(test, &ep[0]->fid);
	vt_close(test, &ep[2]->fid);
	plain = vt_ep(test, srx_plain(test));
	KUNIT_ASSERT_EQ(test, fi_ep_bind(plain, &set.eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(plain, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(plain), 0);
}

static void a_queue_without_room_for_the_context_is_refused(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_cq *small, *cq;
	struct fid_ep *ep;

	srx_serve(test, &set);
	small = vt_cq(test, &vt_default_kind, SRX_TX + SRX_DEPTH - 1);
	cq = vt_cq(test, &vt_default_kind, SRX_TX + SRX_DEPTH);
	ep = srx_bare_ep(test, &set, small);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), -ENOSPC);
	vt_close(test, &ep->fid);
	ep = srx_bare_ep(test, &set, cq);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), 0);
}

static void sharing_has_to_be_asked_for(struct kunit *test)
{
	struct fi_cntr_attr cntr_attr = {};
	struct vt *vt = vt_of(test);
	struct srx_set set = {};
	struct fid_domain *other;
	struct fid_cntr *cntr;
	struct fid_ep *ep, *far;
	struct vt_cq *cq;

	srx_serve(test, &set);
	cq = vt_cq(test, &vt_default_kind, SRX_TX + SRX_DEPTH);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt->domain, &cntr_attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &other, NULL), 0);
	vt_adopt(test, &other->fid);
	KUNIT_ASSERT_EQ(test, fi_srx_context(other, vt->info->rx_attr, &far, NULL), 0);
	vt_adopt(test, &far->fid);

	ep = vt_ep(test, srx_plain(test));
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &set.srx->fid, 0), -EINVAL);
	ep = vt_ep(test, vt->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &set.eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_ENORX);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &far->fid, 0), -FI_EDOMAIN);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &set.srx->fid, FI_RECV), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &set.srx->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &set.srx->fid, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &cntr->fid, FI_RECV), -FI_EOPBADSTATE);
}

static void the_endpoint_has_no_receives_of_its_own(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct srx_set set = {};
	struct fid_ep *ep;

	srx_serve(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	ep = set.pairs[0].b.ep;
	KUNIT_EXPECT_EQ(test, fi_recv(ep, buf, 8, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recvv(ep, &iov, NULL, 1, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(ep, &msg, 0), -ENOSYS);
}

static void a_context_only_receives(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 }, wild = { (void *)1, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct srx_set set = {};

	srx_serve(test, &set);
	KUNIT_EXPECT_EQ(test, fi_send(set.srx, buf, 8, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_sendv(set.srx, &iov, NULL, 1, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(set.srx, &msg, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_inject(set.srx, buf, 8, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_senddata(set.srx, buf, 8, NULL, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_injectdata(set.srx, buf, 8, 0, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_cancel(&set.srx->fid, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_enable(set.srx), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(set.srx, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_recvv(set.srx, &wild, NULL, 1, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(set.srx, buf, SIZE_MAX, NULL, 0, NULL), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), SRX_DEPTH);
}

struct srx_attr_case {
	const char		*name;
	struct fi_rx_attr	attr;
};

static const struct srx_attr_case srx_attr_cases[] = {
	{ "deep", { .size = 1UL << 31 } },
	{ "deepest", { .size = SIZE_MAX } },
	{ "long list", { .iov_limit = 1000 } },
	{ "default flag", { .op_flags = FI_MULTI_RECV } },
};

KUNIT_ARRAY_PARAM_DESC(srx_attr_case, srx_attr_cases, name);

static void a_context_beyond_the_device_is_refused(struct kunit *test)
{
	const struct srx_attr_case *param = test->param_value;
	struct fi_rx_attr attr = param->attr;
	struct fid_ep *srx;

	vt_open(test, AF_INET, srx_hints(test));
	KUNIT_EXPECT_EQ(test, fi_srx_context(vt_of(test)->domain, &attr, &srx, NULL), -EINVAL);
}

static void a_context_has_defaults(struct kunit *test)
{
	struct fi_rx_attr attr = {};
	struct fid_ep *srx;
	u8 *buf = vt_buf(test, 8);
	struct kvec iov[2] = { { buf, 4 }, { buf + 4, 4 } };
	int i;

	vt_open(test, AF_INET, srx_hints(test));
	srx = srx_open(test, &attr);
	KUNIT_EXPECT_EQ(test, fi_recvv(srx, iov, NULL, 2, 0, NULL), -EINVAL);
	for (i = 0; i < SRX_DEPTH; i++)
		KUNIT_EXPECT_EQ(test, fi_recv(srx, buf, 8, NULL, 0, NULL), 0);
}

static void a_result_says_what_can_be_shared(struct kunit *test)
{
	struct fi_info *hints = srx_hints(test), *info;
	struct fid_ep *srx;

	vt_open(test, AF_INET, hints);
	info = vt_of(test)->info;
	KUNIT_EXPECT_EQ(test, info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	KUNIT_EXPECT_EQ(test, info->domain_attr->max_ep_srx_ctx, info->domain_attr->ep_cnt);
	KUNIT_EXPECT_EQ(test, info->rx_attr->size, SRX_DEPTH);

	/* As deep as there is, and no deeper */
	hints->rx_attr->size = 0;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	hints->rx_attr->size = info->rx_attr->size;
	KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, info->rx_attr, &srx, NULL), 0);
	vt_adopt(test, &srx->fid);
	hints->rx_attr->size = SIZE_MAX;
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
}

static int srx_arm(struct srx_set *set, size_t limit)
{
	return fi_setopt(&set->srx->fid, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT, &limit, sizeof(limit));
}

static size_t srx_armed(struct kunit *test, struct srx_set *set)
{
	size_t limit = SIZE_MAX, len = sizeof(limit);

	KUNIT_EXPECT_EQ(test, fi_getopt(&set->srx->fid, FI_OPT_ENDPOINT,
					FI_OPT_SRX_LIMIT, &limit, &len), 0);
	KUNIT_EXPECT_EQ(test, len, sizeof(limit));
	return limit;
}

static void srx_take(struct kunit *test, struct srx_set *set, u8 seed)
{
	srx_send(test, set, 0, seed);
	srx_arrived(test, set, set->pairs[0].b.rx, seed);
}

static void srx_limit_event(struct kunit *test, struct srx_set *set)
{
	struct fi_eq_entry entry = {};
	u32 event = 0;

	KUNIT_ASSERT_EQ(test, vt_eq_sread(set->eq, &event, &entry, sizeof(entry),
					  0), (ssize_t)sizeof(entry));
	KUNIT_EXPECT_EQ(test, event, FI_SRX_LIMIT);
	KUNIT_EXPECT_PTR_EQ(test, entry.fid, &set->srx->fid);
	KUNIT_EXPECT_PTR_EQ(test, entry.context, vt_ctx(77));
}

static void the_limit_is_told_once(struct kunit *test)
{
	struct srx_set set = {};
	int i;

	srx_serve(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	srx_post_all(test, &set);
	KUNIT_EXPECT_EQ(test, srx_armed(test, &set), 0);
	KUNIT_ASSERT_EQ(test, srx_arm(&set, SRX_DEPTH - 2), 0);
	KUNIT_EXPECT_EQ(test, srx_armed(test, &set), SRX_DEPTH - 2);
	/* As many as the limit are left: not yet */
	srx_take(test, &set, 0);
	srx_take(test, &set, 1);
	vt_no_event(test, set.eq);
	srx_take(test, &set, 2);
	srx_limit_event(test, &set);
	KUNIT_EXPECT_EQ(test, srx_armed(test, &set), 0);
	for (i = 3; i < SRX_DEPTH; i++)
		srx_take(test, &set, i);
	vt_no_event(test, set.eq);
}

static void the_limit_can_be_set_again(struct kunit *test)
{
	struct srx_set set = {};
	int round;

	srx_serve(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	for (round = 0; round < 3; round++) {
		srx_post(test, &set, 0);
		srx_post(test, &set, 1);
		KUNIT_ASSERT_EQ(test, srx_arm(&set, 1), 0);
		srx_take(test, &set, 0);
		vt_no_event(test, set.eq);
		srx_take(test, &set, 1);
		srx_limit_event(test, &set);
	}
	/* And taken back */
	srx_post(test, &set, 0);
	KUNIT_ASSERT_EQ(test, srx_arm(&set, 1), 0);
	KUNIT_ASSERT_EQ(test, srx_arm(&set, 0), 0);
	srx_take(test, &set, 0);
	vt_no_event(test, set.eq);
}

static void a_limit_nobody_has_read_goes_with_the_context(struct kunit *test)
{
	struct fi_eq_entry entry;
	struct srx_set set = {};
	u32 event;

	srx_serve(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	srx_post(test, &set, 0);
	KUNIT_ASSERT_EQ(test, srx_arm(&set, 1), 0);
	srx_take(test, &set, 0);
	KUNIT_ASSERT_EQ(test, vt_eq_sread(set.eq, &event, &entry, sizeof(entry),
					  FI_PEEK), (ssize_t)sizeof(entry));
	vt_close(test, &set.pairs[0].b.ep->fid);
	vt_close(test, &set.srx->fid);
	vt_no_event(test, set.eq);
}

static void bad_limits_are_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct srx_set set = {}, deaf = {};
	size_t limit = 1, len = 1;
	struct fid *fid;

	srx_serve(test, &set);
	fid = &set.srx->fid;
	deaf.srx = srx_open(test, vt->info->rx_attr);
	KUNIT_EXPECT_EQ(test, srx_arm(&deaf, 1), -FI_ENOEQ);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, SRX_DEPTH + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, SIZE_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT,
					&limit, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &limit,
					sizeof(limit)), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, 1, FI_OPT_SRX_LIMIT, &limit,
					sizeof(limit)), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT,
					&limit, &len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(limit));
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MAX_MSG_SIZE, &limit, &len),
			-ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &limit, &len),
			-ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, 1, FI_OPT_SRX_LIMIT, &limit, &len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, srx_armed(test, &set), 0);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, SRX_DEPTH), 0);
}

/* siw never reports that a queue pair takes no more; half of what that would cost */
static void closes_do_not_each_wait_for_the_device(struct kunit *test)
{
	struct vt_pair *pairs = vt_buf(test, SRX_MANY * sizeof(*pairs));
	struct srx_set set = {};
	ktime_t begin;
	s64 ms;
	int i;

	srx_serve(test, &set);
	for (i = 0; i < SRX_MANY; i++)
		srx_join_pair(test, &pairs[i], set.srx);
	begin = ktime_get();

	for (i = 0; i < SRX_MANY; i++)
		vt_close(test, &pairs[i].b.ep->fid);

	ms = ktime_ms_delta(ktime_get(), begin);
	kunit_info(test, "%d endpoints closed in %lld ms\n", SRX_MANY, ms);
	KUNIT_EXPECT_LT(test, ms, SRX_MANY * MSEC_PER_SEC / 2);
}

static struct kunit_case srx_open_cases[] = {
	KUNIT_CASE(what_a_context_uses_cannot_be_closed),
	KUNIT_CASE(a_queue_has_room_for_the_context_once),
	KUNIT_CASE(a_queue_without_room_for_the_context_is_refused),
	KUNIT_CASE(sharing_has_to_be_asked_for),
	KUNIT_CASE(the_endpoint_has_no_receives_of_its_own),
	KUNIT_CASE(a_context_only_receives),
	KUNIT_CASE_PARAM(a_context_beyond_the_device_is_refused, srx_attr_case_gen_params),
	KUNIT_CASE(a_context_has_defaults),
	KUNIT_CASE(a_result_says_what_can_be_shared),
	KUNIT_CASE(the_limit_is_told_once),
	KUNIT_CASE(the_limit_can_be_set_again),
	KUNIT_CASE(a_limit_nobody_has_read_goes_with_the_context),
	KUNIT_CASE(bad_limits_are_refused),
	KUNIT_CASE(closes_do_not_each_wait_for_the_device),
	{}
};

struct kunit_suite kofi_verbs_srx_open_suite = {
	.name		= "kofi_verbs_srx_open",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= srx_open_cases,
};
