// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints that count on the shared counter: what is counted, when, and what
 * becomes of failures.  The endpoints are the mock's and talk to themselves.
 *
 * A count that is too high shows after the endpoint has been closed, as nothing
 * can be counted then any more.
 */
#include "core.h"

struct cntr_test {
	struct core_set	set;
	struct fid_cntr	*cntr;
};

static struct cntr_test *open_events(struct kunit *test, enum fi_cntr_events events)
{
	struct fi_cntr_attr attr = {
		.events = events,
		.wait_obj = FI_WAIT_UNSPEC,
	};
	struct cntr_test *ct = vt_buf(test, sizeof(*ct));

	core_open_parents(test, &ct->set, core_mock(test, "mock", 1), MOCK_CNTR);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(core_domain(&ct->set), &attr, &ct->cntr, NULL), 0);
	core_adopt(test, &ct->cntr->fid);
	return ct;
}

static struct cntr_test *open_test(struct kunit *test)
{
	return open_events(test, FI_CNTR_EVENTS_COMP);
}

static int wait_for(struct cntr_test *ct, u64 threshold)
{
	return vt_cntr_wait(ct->cntr, threshold);
}

/* An endpoint that is its own peer, with a completion queue and no counter yet */
static struct fid_ep *open_loop(struct kunit *test, struct cntr_test *ct)
{
	struct fid *ep;

	ct->set.mock->loop = true;
	if (!ct->set.fid[MOCK_CQ])
		KUNIT_ASSERT_EQ(test, core_open(test, &ct->set, MOCK_CQ, &ct->set.fid[MOCK_CQ]), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &ct->set, MOCK_EP, &ep), 0);
	ct->set.fid[MOCK_EP] = ep;
	KUNIT_ASSERT_EQ(test, fi_ep_bind(core_ep(&ct->set), ct->set.fid[MOCK_CQ], FI_TRANSMIT |
					 FI_RECV), 0);
	return core_ep(&ct->set);
}

/* The same, which counts on ct->cntr and is enabled */
static struct fid_ep *open_counting(struct kunit *test, struct cntr_test *ct, u64 dirs)
{
	struct fid_ep *ep = open_loop(test, ct);

	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &ct->cntr->fid, dirs), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(ep), 0);
	return ep;
}

/* Both directions are done when the number of these is there */
static void exchange(struct kunit *test, struct fid_ep *ep, int count, bool inject)
{
	static u8 buf[16];

	while (count--) {
		KUNIT_ASSERT_EQ(test, fi_recv(ep, buf, sizeof(buf), NULL, 0, NULL), 0);
		KUNIT_ASSERT_EQ(test, inject ? fi_inject(ep, "message", 7, 0) :
				fi_send(ep, "message", 7, NULL, 0, NULL), 0);
	}
}

static void endpoint_counts_what_it_sends(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_counting(test, ct, FI_SEND);

	exchange(test, ep, 3, false);

	KUNIT_EXPECT_EQ(test, wait_for(ct, 3), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &ep->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 3);
}

static void endpoint_counts_what_it_injects(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_counting(test, ct, FI_SEND);

	exchange(test, ep, 3, true);

	KUNIT_EXPECT_EQ(test, wait_for(ct, 3), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &ep->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 3);
}

static void endpoint_counts_what_it_receives(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_counting(test, ct, FI_RECV);

	exchange(test, ep, 3, false);

	KUNIT_EXPECT_EQ(test, wait_for(ct, 3), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &ep->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 3);
}

static void one_counter_serves_all_directions(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_counting(test, ct, FI_SEND | FI_RECV);

	exchange(test, ep, 3, false);

	KUNIT_EXPECT_EQ(test, wait_for(ct, 6), 0);
}

static void one_counter_serves_two_endpoints(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *one = open_counting(test, ct, FI_SEND);
	struct fid_ep *two = open_counting(test, ct, FI_RECV);

	exchange(test, one, 2, false);
	exchange(test, two, 1, false);

	KUNIT_EXPECT_EQ(test, wait_for(ct, 3), 0);
}

static void bytes_are_counted_when_asked_for(struct kunit *test)
{
	struct cntr_test *ct = open_events(test, FI_CNTR_EVENTS_BYTES);
	struct fid_ep *ep;

	ep = open_counting(test, ct, FI_SEND | FI_RECV);

	exchange(test, ep, 1, false);
	exchange(test, ep, 1, true);

	KUNIT_EXPECT_EQ(test, wait_for(ct, 28), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &ep->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 28);
}

/* The mock does not count what is still to be cancelled when it closes */
static u64 wait_for_errors(struct cntr_test *ct, u64 count)
{
	u64 errors;

	while ((errors = fi_cntr_readerr(ct->cntr)) < count)
		if (wait_for(ct, U64_MAX) != -FI_EAVAIL)
			break;
	return errors;
}

/* Two receives that are cancelled, one that is too short: three failures */
static void failed_operations_are_counted_as_errors(struct kunit *test)
{
	struct cntr_test *ct = open_events(test, FI_CNTR_EVENTS_BYTES);
	static u8 buf[4];
	struct fid_ep *ep;
	int i;

	ep = open_counting(test, ct, FI_RECV);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fi_recv(ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_send(ep, "message", 7, NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, wait_for(ct, 3), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(ct->cntr), 1);
	KUNIT_ASSERT_EQ(test, fi_shutdown(ep, 0), 0);
	KUNIT_EXPECT_EQ(test, wait_for_errors(ct, 3), 3);

	KUNIT_EXPECT_EQ(test, core_close(test, &ep->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(ct->cntr), 3);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 0);
}

static void counted_operation_is_in_its_queue(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_counting(test, ct, FI_SEND | FI_RECV);
	struct fi_cq_entry entries[4];
	int i;

	for (i = 1; i <= 20; i++) {
		exchange(test, ep, 1, false);
		KUNIT_ASSERT_EQ(test, wait_for(ct, 2 * i), 0);
		KUNIT_EXPECT_EQ(test, fi_cq_read(core_cq(&ct->set), entries,
						 ARRAY_SIZE(entries)), 2);
	}
}

static void unknown_directions_are_refused(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_loop(test, ct);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &ct->cntr->fid, FI_REMOTE_WRITE), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &ct->cntr->fid, 0), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, core_close(test, &ct->cntr->fid), 0);
}

static void bound_counter_stays(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct fid_ep *ep = open_counting(test, ct, FI_SEND);

	KUNIT_EXPECT_EQ(test, fi_close(&ct->cntr->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, &ep->fid), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &ct->cntr->fid), 0);
}

static struct kunit_case cntr_ep_cases[] = {
	KUNIT_CASE(endpoint_counts_what_it_sends),
	KUNIT_CASE(endpoint_counts_what_it_injects),
	KUNIT_CASE(endpoint_counts_what_it_receives),
	KUNIT_CASE(one_counter_serves_all_directions),
	KUNIT_CASE(one_counter_serves_two_endpoints),
	KUNIT_CASE(bytes_are_counted_when_asked_for),
	KUNIT_CASE(failed_operations_are_counted_as_errors),
	KUNIT_CASE(counted_operation_is_in_its_queue),
	KUNIT_CASE(unknown_directions_are_refused),
	KUNIT_CASE(bound_counter_stays),
	{}
};

struct kunit_suite kofi_cntr_ep_suite = {
	.name = "kofi_cntr_ep",
	.init = core_init,
	.exit = core_exit,
	.test_cases = cntr_ep_cases,
};
