// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions of an endpoint: keys that come and go, what is reported when, and what the
 * close waits for.
 */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <kofi/iov.h>
#include <kofi/stat.h>
#include "../../lib/refusal.h"
#include "mr.h"

#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define LIMIT		4
#define CONTEXT		((void *)0x1234)
#define OTHER_CONTEXT	((void *)0x5678)

/**
 * struct mr_ep - A region of an endpoint
 * @ud: its domain
 * @mr: the region, which is closed after the case
 * @buf: its memory, of LIMIT pages
 * @ep: its endpoint
 * @other: another one
 */
struct mr_ep {
	struct ut_domain	*ud;
	struct kofi_mr		*mr;
	void			*buf;
	struct fid_ep		ep;
	struct fid_ep		other;
};

static void close_mr(void *data)
{
	struct mr_ep *me = data;

	if (me->mr)
		me->mr->mr.fid.ops->close(&me->mr->mr.fid);
}

static int bind(struct mr_ep *me, u64 flags)
{
	return me->mr->mr.fid.ops->bind(&me->mr->mr.fid, &me->ep.fid, flags);
}

/* A region with a page of memory that may have LIMIT pages */
static struct mr_ep *new_region(struct kunit *test, int mr_mode)
{
	struct mr_ep *me = vt_buf(test, sizeof(*me));
	struct fi_mr_attr attr = {
		.iov_count	= 1,
		.access		= BOTH,
		.page_limit	= LIMIT,
	};
	struct fid_mr *mr;
	struct kvec kvec;

	me->ud = ut_domain(test, mr_mode);
	me->buf = ut_pages(test, 2);
	me->ep.fid.fclass = FI_CLASS_EP;
	me->other.fid.fclass = FI_CLASS_EP;
	kvec = (struct kvec) { me->buf, PAGE_SIZE };
	attr.mr_iov = &kvec;
	KUNIT_ASSERT_EQ(test, kofi_mr_regattr(&me->ud->dom.map, &attr, FI_MR_ENDPOINT, &mr), 0);
	me->mr = to_kofi_mr(&mr->fid);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_mr, me), 0);
	return me;
}

static struct mr_ep *bound_region(struct kunit *test, int mr_mode)
{
	struct mr_ep *me = new_region(test, mr_mode);

	KUNIT_ASSERT_EQ(test, bind(me, 0), 0);
	return me;
}

static struct mr_ep *enabled_region(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, FI_MR_PROV_KEY);

	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	return me;
}

static int refresh(struct mr_ep *me, const struct ut_list *list, u64 access)
{
	const struct fi_mr_attr attr = {
		.type		= list->type,
		.mr_iov		= list->kvec,
		.iov_count	= list->count,
		.access		= access,
	};

	return fi_mr_refresh(&me->mr->mr, &attr, 0);
}

static int refresh_page(struct kunit *test, struct mr_ep *me)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);

	ut_list_add(test, list, me->buf, PAGE_SIZE);
	return refresh(me, list, BOTH);
}

static int access_via(struct mr_ep *me, const struct fid_ep *ep, u64 key)
{
	return ut_access(me->ud, ep, key, 0, PAGE_SIZE, BOTH);
}

/* An access that goes on */
static void begin_access(struct kunit *test, struct mr_ep *me)
{
	size_t offset;

	KUNIT_ASSERT_PTR_EQ(test, kofi_mr_get(&me->ud->dom.map, &me->ep, me->mr->mr.key, 0, 1, BOTH,
					      &offset), me->mr);
}

static void a_new_region_has_no_key(struct kunit *test)
{
	struct mr_ep *me = new_region(test, 0);

	KUNIT_EXPECT_EQ(test, me->mr->mr.key, FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, FI_KEY_NOTAVAIL), -EACCES);
	KUNIT_EXPECT_EQ(test, access_via(me, NULL, FI_KEY_NOTAVAIL), -EACCES);
}

static void a_region_says_its_size_and_its_limit(struct kunit *test)
{
	struct mr_ep *me = new_region(test, 0);
	struct fid *fid = &me->mr->mr.fid;
	struct kofi_stat stat = {};

	KUNIT_EXPECT_EQ(test, fid->ops->control(fid, FI_GETWAITOBJ, &stat), -ENOSYS);
	KUNIT_ASSERT_EQ(test, fid->ops->control(fid, KOFI_GETSTAT, &stat), 0);
	KUNIT_EXPECT_STREQ(test, stat.state, "ready");
	KUNIT_ASSERT_EQ(test, stat.count, 2);
	KUNIT_EXPECT_EQ(test, stat.values[0].value, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, stat.values[1].value, LIMIT);
}

static void a_region_is_bound_before_it_is_enabled(struct kunit *test)
{
	struct mr_ep *me = new_region(test, 0);

	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -FI_EOPBADSTATE);
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, bind(me, FI_SEND), -FI_EBADFLAGS);
	vt_refused(test, "mr_bind", -FI_EBADFLAGS, "none allowed");
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, me->ud->enables, 0);
	KUNIT_EXPECT_EQ(test, bind(me, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	KUNIT_EXPECT_EQ(test, me->ud->enables, 1);
}

static void only_its_endpoint_reaches_it(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);

	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->other, me->mr->mr.key), -EACCES);
	KUNIT_EXPECT_EQ(test, access_via(me, NULL, me->mr->mr.key), -EACCES);
}

static void a_peer_sees_offsets_in_any_mode(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);

	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);

	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	KUNIT_EXPECT_EQ(test, ut_access(me->ud, &me->ep, me->mr->mr.key,
					(uintptr_t)me->buf, 1, BOTH), -EACCES);
}

static void each_enable_has_a_new_key(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, 0);
	u64 keys[8];
	int i, k;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
		keys[i] = me->mr->mr.key;
		KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, keys[i]), 0);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, keys[k]), -EACCES);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
		KUNIT_ASSERT_EQ(test, refresh_page(test, me), 0);
	}
}

static void a_region_is_enabled_once_at_a_time(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	u64 key = me->mr->mr.key;

	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, me->mr->mr.key, key);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), 0);
}

static void a_disable_at_once_is_reported_with_its_key(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	u64 key = me->mr->mr.key;

	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, CONTEXT), 0);

	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
	KUNIT_EXPECT_EQ(test, me->ud->key, key);
	KUNIT_EXPECT_PTR_EQ(test, me->ud->context, CONTEXT);
	KUNIT_EXPECT_EQ(test, me->mr->mr.key, FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), -EACCES);
}

static void memory_is_given_anew_after_each_disable(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);

	KUNIT_ASSERT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
}

static void a_disable_is_reported_after_the_last_access(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	u64 key = me->mr->mr.key;

	begin_access(test, me);
	begin_access(test, me);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, CONTEXT), 0);

	/* The key ends at once */
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), -EACCES);
	kofi_mr_put(me->mr);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);
	/* Nothing but waiting is possible until then */
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), -FI_EOPBADSTATE);

	kofi_mr_put(me->mr);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
	KUNIT_EXPECT_EQ(test, me->ud->key, key);
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), 0);
}

static struct fi_mr_attr next_attr;

/* A client that polls the state of the region sees that it can be used again */
static void disable_again(struct ut_domain *ud, struct kofi_mr *mr)
{
	ud->meanwhile = NULL;
	WARN_ON(fi_mr_refresh(&mr->mr, &next_attr, 0));
	WARN_ON(fi_mr_enable(&mr->mr));
	WARN_ON(fi_mr_disable(&mr->mr, 0, OTHER_CONTEXT));
	WARN_ON(ud->context != OTHER_CONTEXT);
}

static void each_disable_is_reported_with_its_own_context(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	struct kvec kvec = { me->buf, 8 };
	u64 key = me->mr->mr.key;

	next_attr = (struct fi_mr_attr) {
		.mr_iov = &kvec, .iov_count = 1, .access = FI_REMOTE_READ,
	};
	me->ud->meanwhile = disable_again;
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, CONTEXT), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 2);
	KUNIT_EXPECT_EQ(test, me->ud->key, key);
	KUNIT_EXPECT_PTR_EQ(test, me->ud->context, CONTEXT);
}

static void a_region_that_is_not_enabled_is_not_disabled(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, 0);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);
}

static void a_key_that_no_peer_has_ended_stays(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_FENCE, NULL), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
}

static void a_peer_ends_a_key_of_its_endpoint(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	struct kofi_mr_map *map = &me->ud->dom.map;
	u64 key = me->mr->mr.key;

	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(map, &me->other, key), -EACCES);
	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(map, &me->ep, key ^ BIT_ULL(63)), -EACCES);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), 0);
	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(map, &me->ep, key), 0);
	KUNIT_EXPECT_EQ(test, me->mr->mr.key, FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), -EACCES);
	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(map, &me->ep, key), -EACCES);

	/* The client learns of it */
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_DISCARD, NULL), -EALREADY);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_REMOTE_INV, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	KUNIT_EXPECT_NE(test, me->mr->mr.key, key);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
}

/* The client has not seen the peer's message yet, or does not care */
static void a_key_that_its_peer_has_ended_is_disabled(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	u64 key = me->mr->mr.key;

	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(&me->ud->dom.map, &me->ep, key), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, CONTEXT), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
	KUNIT_EXPECT_EQ(test, me->ud->key, key);
	KUNIT_EXPECT_PTR_EQ(test, me->ud->context, CONTEXT);
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	/* And closed */
	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(&me->ud->dom.map, &me->ep, me->mr->mr.key), 0);
}

static void a_key_that_no_peer_has_used_is_taken_back(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	u64 key = me->mr->mr.key;

	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_DISCARD, NULL), 0);
	KUNIT_EXPECT_EQ(test, me->mr->mr.key, FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), -EACCES);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_DISCARD, NULL), -FI_EOPBADSTATE);
	/* No access is possible, and the next key is another one */
	KUNIT_EXPECT_FALSE(test, kofi_mr_get_again(me->mr, FI_KEY_NOTAVAIL));
	KUNIT_ASSERT_EQ(test, refresh_page(test, me), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), -EACCES);
}

static void a_key_that_a_peer_has_used_is_not_taken_back(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);

	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_DISCARD, NULL), -EALREADY);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	/* Nobody has used the next one */
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, refresh_page(test, me), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, FI_DISCARD, NULL), 0);
}

/**
 * struct loan - Something that holds pages of a region
 * @borrower: the same
 * @recalls: how often the region has asked for them
 */
struct loan {
	struct kofi_mr_borrower	borrower;
	int			recalls;
};

static void recall_loan(struct kofi_mr_borrower *borrower)
{
	container_of(borrower, struct loan, borrower)->recalls++;
}

static void the_end_of_a_key_waits_for_pages_that_are_lent(struct kunit *test)
{
	struct loan loan = { .borrower.recall = recall_loan }, back = loan;
	struct mr_ep *me = enabled_region(test);
	struct kofi_mr_map *map = &me->ud->dom.map;
	u64 key = me->mr->mr.key;

	KUNIT_EXPECT_FALSE(test, kofi_mr_borrow(me->mr, key ^ BIT_ULL(63), &loan.borrower));
	KUNIT_ASSERT_TRUE(test, kofi_mr_borrow(me->mr, key, &loan.borrower));
	KUNIT_ASSERT_TRUE(test, kofi_mr_borrow(me->mr, key, &back.borrower));
	kofi_mr_return(me->mr, &back.borrower);
	KUNIT_EXPECT_EQ(test, kofi_mr_invalidate(map, &me->ep, key), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, loan.recalls, 1);
	KUNIT_EXPECT_EQ(test, back.recalls, 0);
	KUNIT_EXPECT_FALSE(test, kofi_mr_borrow(me->mr, key, &back.borrower));
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);
	kofi_mr_return(me->mr, &loan.borrower);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
}

static void short_keys_have_32_bits(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	void *buf = ut_pages(test, 0);
	struct kvec kvec = { buf, PAGE_SIZE };
	struct fi_mr_attr attr = { .mr_iov = &kvec, .iov_count = 1, .access = BOTH };
	struct fid_ep ep = { .fid.fclass = FI_CLASS_EP };
	u64 key, last = 0;
	struct fid_mr *mr;
	int i;

	kofi_mr_map_set_short(&ud->dom.map);
	KUNIT_EXPECT_EQ(test, ud->dom.map.max, KOFI_MR_SHORT_REGIONS);
	attr.requested_key = BIT_ULL(32);
	KUNIT_EXPECT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, 0, &mr), -FI_EKEYREJECTED);
	attr.requested_key = U32_MAX;
	KUNIT_ASSERT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, 0, &mr), 0);
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);

	KUNIT_ASSERT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, FI_MR_ENDPOINT, &mr), 0);
	KUNIT_ASSERT_EQ(test, mr->fid.ops->bind(&mr->fid, &ep.fid, 0), 0);
	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
		key = fi_mr_key(mr);
		KUNIT_EXPECT_LE(test, key, U32_MAX);
		KUNIT_EXPECT_EQ(test, (u32)(key - last), i ? BIT(16) : (u32)key);
		/* The upper bits count */
		KUNIT_EXPECT_EQ(test, ut_access(ud, &ep, key | BIT_ULL(32), 0, 1, BOTH), -EACCES);
		KUNIT_EXPECT_EQ(test, ut_access(ud, &ep, key, 0, 1, BOTH), 0);
		last = key;
		KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, 0, NULL), 0);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
	}
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);
}

static void the_provider_can_refuse_a_key(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, 0);

	me->ud->enable_ret = -ENOTCONN;
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, me->mr->mr.key, FI_KEY_NOTAVAIL);

	me->ud->enable_ret = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
}

static void the_provider_can_put_off_the_end_of_a_key(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);

	me->ud->disable_ret = -EAGAIN;
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), -EAGAIN);
	vt_not_refused(test);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);

	me->ud->disable_ret = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
}

static void a_refresh_gives_memory_and_rights(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	struct mr_ep *me = bound_region(test, 0);
	struct iov_iter iter;
	size_t offset;
	u8 to[20];

	vt_fill(me->buf, 2 * PAGE_SIZE, 7);
	ut_list_add(test, list, me->buf, 10);
	ut_list_add(test, list, me->buf + 10, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, refresh(me, list, FI_REMOTE_READ), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);

	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), -EACCES);
	KUNIT_ASSERT_PTR_EQ(test, kofi_mr_get(&me->ud->dom.map, &me->ep, me->mr->mr.key, 0,
					      PAGE_SIZE + 10, FI_REMOTE_READ, &offset), me->mr);
	kofi_mr_iter(me->mr, ITER_SOURCE, offset, 20, &iter);
	KUNIT_EXPECT_EQ(test, _copy_from_iter(to, 20, &iter), 20);
	KUNIT_EXPECT_TRUE(test, vt_filled(to, 20, 7));
	kofi_mr_put(me->mr);
}

static void a_refresh_takes_as_many_pages_as_were_asked_for(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	struct mr_ep *me = bound_region(test, 0);
	int i;

	ut_list_add(test, list, me->buf, LIMIT * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, refresh(me, list, BOTH), 0);
	/* In one element, and in elements */
	ut_list_add(test, list, me->buf, 1);
	KUNIT_EXPECT_EQ(test, refresh(me, list, BOTH), -EMSGSIZE);
	list = ut_list(test, ut_type(test));
	for (i = 0; i < LIMIT; i++)
		ut_list_add(test, list, me->buf, 1);
	KUNIT_EXPECT_EQ(test, refresh(me, list, BOTH), 0);
	ut_list_add(test, list, me->buf, 1);
	KUNIT_EXPECT_EQ(test, refresh(me, list, BOTH), -EMSGSIZE);
}

static void a_first_list_may_be_longer_than_was_asked_for(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct ut_domain *ud = ut_domain(test, 0);
	void *buf = ut_pages(test, 2);
	struct fi_mr_attr attr = {
		.mr_iov		= list->kvec,
		.iov_count	= 1,
		.access		= BOTH,
		.page_limit	= 1,
	};
	struct fid_mr *mr;

	ut_list_add(test, list, buf, 3 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, FI_MR_ENDPOINT, &mr), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
	list->kvec[0].iov_len = 4 * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);
}

static void a_refresh_that_fails_leaves_no_memory(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct mr_ep *me = bound_region(test, 0);
	u8 on_stack[8];

	ut_list_add(test, list, on_stack, 8);
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, refresh(me, list, BOTH), -EINVAL);
	vt_refused(test, "mr_refresh", -EINVAL, "element 1 of 1 is on the stack");
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), -FI_EOPBADSTATE);
	list->kvec[0].iov_len = 0;
	KUNIT_EXPECT_EQ(test, refresh(me, list, BOTH), -EINVAL);

	KUNIT_EXPECT_EQ(test, refresh_page(test, me), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
}

static void a_refresh_that_makes_no_sense_changes_nothing(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, 0);
	struct kvec kvec = { me->buf, 8 };
	struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= BOTH,
	};

	KUNIT_EXPECT_EQ(test, fi_mr_refresh(&me->mr->mr, &attr, FI_MORE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(&me->mr->mr, &attr, BIT(0)), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(&me->mr->mr, NULL, 0), -EINVAL);
	attr.offset = 1;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(&me->mr->mr, &attr, 0), -EINVAL);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
}

static void a_region_without_bytes_is_refused(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct ut_domain *ud = ut_domain(test, 0);
	struct kofi_mr *mr;
	u8 on_stack[8];

	ut_list_add(test, list, ud, 0);
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, 0, FI_MR_ENDPOINT, &mr), -EINVAL);
	list->kvec[0] = (struct kvec) { on_stack, 8 };
	KUNIT_EXPECT_EQ(test, ut_mr_reg(ud, list, BOTH, 0, FI_MR_ENDPOINT, &mr), -EINVAL);
}

static void a_region_without_room_is_refused(struct kunit *test)
{
	struct ut_domain *ud = ut_domain(test, 0);
	void *buf = vt_buf(test, 8);
	struct kvec kvec = { buf, 8 };
	struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= BOTH,
		.page_limit	= SIZE_MAX,
	};
	struct fid_mr *mr;

	KUNIT_EXPECT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, FI_MR_ENDPOINT, &mr), -ENOMEM);
	/* There is no place for one either */
	attr.page_limit = 0;
	ud->dom.map.max = 1;
	KUNIT_ASSERT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, FI_MR_ENDPOINT, &mr), 0);
	KUNIT_EXPECT_EQ(test, kofi_mr_regattr(&ud->dom.map, &attr, FI_MR_ENDPOINT, &mr), -FI_ENOMR);
	KUNIT_EXPECT_EQ(test, mr->fid.ops->close(&mr->fid), 0);
}

static void its_calls_may_come_with_interrupts_off(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct mr_ep *me = bound_region(test, 0);
	unsigned long flags;
	int ret[3];

	ut_list_add(test, list, me->buf, PAGE_SIZE);
	local_irq_save(flags);
	ret[0] = refresh(me, list, BOTH);
	ret[1] = fi_mr_enable(&me->mr->mr);
	ret[2] = fi_mr_disable(&me->mr->mr, 0, NULL);
	local_irq_restore(flags);

	KUNIT_EXPECT_EQ(test, ret[0], 0);
	KUNIT_EXPECT_EQ(test, ret[1], 0);
	KUNIT_EXPECT_EQ(test, ret[2], 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
}

static int close_region(void *data)
{
	struct mr_ep *me = data;
	struct kofi_mr *mr = me->mr;

	me->mr = NULL;
	return mr->mr.fid.ops->close(&mr->mr.fid);
}

static bool closer_waits(const struct vt_async *thread)
{
	return vt_until(READ_ONCE(thread->task->__state) &
			TASK_UNINTERRUPTIBLE) &&
	       !completion_done((struct completion *)&thread->done);
}

static void the_close_reports_no_end(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	struct kofi_mr *mr = me->mr;
	u64 key = mr->mr.key;
	struct vt_async *thread;

	begin_access(test, me);
	thread = vt_async_start(test, close_region, me);
	KUNIT_EXPECT_TRUE(test, closer_waits(thread));
	KUNIT_EXPECT_EQ(test, ut_access(me->ud, &me->ep, key, 0, 1, BOTH), -EACCES);
	kofi_mr_put(mr);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 0);
}

static void the_close_waits_for_a_disable(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	struct kofi_mr *mr = me->mr;
	struct vt_async *thread;

	begin_access(test, me);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(&mr->mr, 0, CONTEXT), 0);
	thread = vt_async_start(test, close_region, me);
	KUNIT_EXPECT_TRUE(test, closer_waits(thread));
	kofi_mr_put(mr);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 1);
	KUNIT_EXPECT_PTR_EQ(test, me->ud->context, CONTEXT);
}

static int disable_region(void *data)
{
	struct mr_ep *me = data;

	return fi_mr_disable(&me->mr->mr, 0, CONTEXT);
}

static void the_close_waits_for_the_report(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	struct vt_async *disabler, *closer;

	me->ud->hold = true;
	disabler = vt_async_start(test, disable_region, me);
	wait_for_completion(&me->ud->entered);
	closer = vt_async_start(test, close_region, me);
	KUNIT_EXPECT_TRUE(test, closer_waits(closer));
	complete(&me->ud->leave);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, disabler), 0);
}

static void a_region_may_be_used_again_from_the_report(struct kunit *test)
{
	struct mr_ep *me = enabled_region(test);
	struct vt_async *disabler;
	u64 key;

	me->ud->hold = true;
	disabler = vt_async_start(test, disable_region, me);
	wait_for_completion(&me->ud->entered);
	KUNIT_EXPECT_EQ(test, refresh_page(test, me), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	key = me->mr->mr.key;
	me->ud->hold = false;
	complete(&me->ud->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, disabler), 0);

	KUNIT_EXPECT_EQ(test, me->mr->mr.key, key);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, me->ud->ends, 2);
}

static void the_key_of_another_region_is_passed_over(struct kunit *test)
{
	struct mr_ep *me = bound_region(test, 0);
	struct kofi_mr *mr;
	u64 keys[2], next;
	int i;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
		keys[i] = me->mr->mr.key;
		KUNIT_ASSERT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
		KUNIT_ASSERT_EQ(test, refresh_page(test, me), 0);
	}
	next = keys[1] + (keys[1] - keys[0]);
	mr = ut_mr(test, me->ud, me->buf, 8, BOTH, next);

	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	KUNIT_EXPECT_EQ(test, me->mr->mr.key, next + (keys[1] - keys[0]));
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, me->mr->mr.key), 0);
	KUNIT_EXPECT_EQ(test, ut_access(me->ud, &me->ep, next, 0, 8, BOTH), 0);
	ut_mr_close(test, mr);
}

static void a_key_that_the_map_has_chosen_cannot_be_had(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct mr_ep *me = bound_region(test, 0);
	struct kofi_mr *mr;
	u64 key;

	ut_list_add(test, list, me->buf, 8);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(&me->mr->mr), 0);
	key = me->mr->mr.key;

	KUNIT_EXPECT_EQ(test, ut_mr_reg(me->ud, list, BOTH, key, 0, &mr), -FI_ENOKEY);
	KUNIT_EXPECT_EQ(test, access_via(me, &me->ep, key), 0);
	/* It is free when it has ended */
	KUNIT_ASSERT_EQ(test, fi_mr_disable(&me->mr->mr, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, ut_mr_reg(me->ud, list, BOTH, key, 0, &mr), 0);
	ut_mr_close(test, mr);
}

KUNIT_ARRAY_PARAM_DESC(ut_type, ut_types, name);

static struct kunit_case mr_ep_cases[] = {
	KUNIT_CASE(a_new_region_has_no_key),
	KUNIT_CASE(a_region_says_its_size_and_its_limit),
	KUNIT_CASE(a_region_is_bound_before_it_is_enabled),
	KUNIT_CASE(only_its_endpoint_reaches_it),
	KUNIT_CASE(a_peer_sees_offsets_in_any_mode),
	KUNIT_CASE(each_enable_has_a_new_key),
	KUNIT_CASE(a_region_is_enabled_once_at_a_time),
	KUNIT_CASE(a_disable_at_once_is_reported_with_its_key),
	KUNIT_CASE(memory_is_given_anew_after_each_disable),
	KUNIT_CASE(a_disable_is_reported_after_the_last_access),
	KUNIT_CASE(each_disable_is_reported_with_its_own_context),
	KUNIT_CASE(a_region_that_is_not_enabled_is_not_disabled),
	KUNIT_CASE(a_key_that_no_peer_has_used_is_taken_back),
	KUNIT_CASE(a_key_that_a_peer_has_used_is_not_taken_back),
	KUNIT_CASE(a_key_that_no_peer_has_ended_stays),
	KUNIT_CASE(a_peer_ends_a_key_of_its_endpoint),
	KUNIT_CASE(a_key_that_its_peer_has_ended_is_disabled),
	KUNIT_CASE(the_end_of_a_key_waits_for_pages_that_are_lent),
	KUNIT_CASE(short_keys_have_32_bits),
	KUNIT_CASE(the_provider_can_refuse_a_key),
	KUNIT_CASE(the_provider_can_put_off_the_end_of_a_key),
	KUNIT_CASE_PARAM(a_refresh_gives_memory_and_rights, ut_type_gen_params),
	KUNIT_CASE_PARAM(a_refresh_takes_as_many_pages_as_were_asked_for, ut_type_gen_params),
	KUNIT_CASE(a_first_list_may_be_longer_than_was_asked_for),
	KUNIT_CASE(a_refresh_that_fails_leaves_no_memory),
	KUNIT_CASE(a_refresh_that_makes_no_sense_changes_nothing),
	KUNIT_CASE(a_region_without_bytes_is_refused),
	KUNIT_CASE(a_region_without_room_is_refused),
	KUNIT_CASE(its_calls_may_come_with_interrupts_off),
	KUNIT_CASE(the_close_reports_no_end),
	KUNIT_CASE(the_close_waits_for_a_disable),
	KUNIT_CASE(the_close_waits_for_the_report),
	KUNIT_CASE(a_region_may_be_used_again_from_the_report),
	KUNIT_CASE(the_key_of_another_region_is_passed_over),
	KUNIT_CASE(a_key_that_the_map_has_chosen_cannot_be_had),
	{}
};

static struct kunit_suite mr_ep_suite = {
	.name		= "kofi_util_mr_ep",
	.test_cases	= mr_ep_cases,
};

kunit_test_suite(mr_ep_suite);
