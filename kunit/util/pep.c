// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passive endpoints, include/kofi/pep.h: names, listening, requests that are refused, and
 * the end of the device.  The suite is the provider.
 */
#include <linux/in.h>
#include <kofi/addr.h>
#include <kofi/pep.h>
#include <kofi/stat.h>
#include "util.h"

#define CM_DATA		8

static DEFINE_MUTEX(pep_lock);
static struct kofi_connreqs pep_reqs = KOFI_CONNREQS_INIT(pep_reqs);

/**
 * struct pep_test - A provider with one passive endpoint
 * @kpep: the passive endpoint
 * @eq: its event queue
 * @claim_ret: what ->claim() answers
 * @listen_ret: what ->listen() answers
 * @claims: addresses that were taken
 * @stops: calls of ->stop()
 * @frees: calls of ->free()
 * @open: it has not been closed
 */
struct pep_test {
	struct kofi_pep	kpep;
	struct fid_eq	*eq;
	int		claim_ret;
	int		listen_ret;
	int		claims;
	int		stops;
	int		frees;
	bool		open;
};

/**
 * struct pep_req - A request
 * @req: its place in the registry
 * @err: what the peer heard
 * @len: bytes that came with it
 * @gone: the peer has given up
 */
struct pep_req {
	struct kofi_connreq	req;
	int			err;
	size_t			len;
	bool			gone;
};

static struct pep_test *to_pep_test(struct kofi_pep *pep)
{
	return container_of(pep, struct pep_test, kpep);
}

static int claim(struct kofi_pep *pep, const struct sockaddr_storage *addr)
{
	struct pep_test *pt = to_pep_test(pep);
	struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_port = htons(7),
	};

	lockdep_assert_held(&pep_lock);
	if (pt->claim_ret)
		return pt->claim_ret;
	pt->claims++;
	memset(&pep->addr, 0, sizeof(pep->addr));
	if (addr->ss_family)
		pep->addr = *addr;
	else
		memcpy(&pep->addr, &any, sizeof(any));
	return 0;
}

static int do_listen(struct kofi_pep *pep)
{
	lockdep_assert_held(&pep_lock);
	return to_pep_test(pep)->listen_ret;
}

static void stop(struct kofi_pep *pep)
{
	lockdep_assert_held(&pep_lock);
	to_pep_test(pep)->stops++;
}

static int refuse(struct kofi_connreq *kreq, int err, const void *data, size_t len)
{
	struct pep_req *req = container_of(kreq, struct pep_req, req);

	lockdep_assert_held(&pep_lock);
	req->err = err;
	req->len = len;
	return req->gone ? -ECONNABORTED : 0;
}

static void free_pep(struct kofi_pep *pep)
{
	to_pep_test(pep)->frees++;
}

static const struct kofi_pep_type pep_type = {
	.ops = {
		.claim	= claim,
		.listen	= do_listen,
		.stop	= stop,
		.refuse	= refuse,
		.free	= free_pep,
	},
	.reqs		= &pep_reqs,
	.lock		= &pep_lock,
	.cm_data_size	= CM_DATA,
	.reject_data_size = CM_DATA,
};

static void close_pep(void *data)
{
	struct pep_test *pt = data;

	if (pt->open)
		pt->kpep.pep.fid.ops->close(&pt->kpep.pep.fid);
	pt->open = false;
	if (pt->eq)
		pt->eq->fid.ops->close(&pt->eq->fid);
}

/* Of 127.0.0.1:@port; 0: it has no address yet */
static struct pep_test *new_pep(struct kunit *test, int port)
{
	struct pep_test *pt = vt_buf(test, sizeof(*pt));
	struct sockaddr_in sin = {
		.sin_family		= AF_INET,
		.sin_port		= htons(port),
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	struct fi_info info = {
		.src_addr	= port ? &sin : NULL,
		.src_addrlen	= port ? sizeof(sin) : 0,
	};

	memset(pt, 0, sizeof(*pt));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_pep, pt), 0);
	KUNIT_ASSERT_EQ(test, kofi_eq_open(NULL, NULL, &pt->eq, NULL), 0);
	KUNIT_ASSERT_EQ(test, kofi_pep_init(&pt->kpep, &pep_type, &info, test), 0);
	pt->open = true;
	return pt;
}

static int bind_eq(struct pep_test *pt)
{
	return pt->kpep.pep.fid.ops->bind(&pt->kpep.pep.fid, &pt->eq->fid, 0);
}

static int start(struct pep_test *pt)
{
	return pt->kpep.pep.cm->listen(&pt->kpep.pep);
}

static int set_port(struct pep_test *pt, int port)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(port),
	};

	return pt->kpep.pep.cm->setname(&pt->kpep.pep.fid, &sin, sizeof(sin));
}

/* Its port; negative errno: it has none */
static int get_port(struct pep_test *pt)
{
	struct sockaddr_storage addr = {};
	size_t len = sizeof(addr);
	int ret;

	ret = pt->kpep.pep.cm->getname(&pt->kpep.pep.fid, &addr, &len);
	return ret ? ret : kofi_addr_port(&addr);
}

/* The next event, 0: there is none; or minus its error code */
static int next_event(struct pep_test *pt)
{
	struct fi_eq_err_entry error = {};
	struct fi_eq_cm_entry entry;
	ssize_t ret;
	u32 event;

	ret = pt->eq->ops->read(pt->eq, &event, &entry, sizeof(entry), 0);
	if (ret == -FI_EAVAIL) {
		pt->eq->ops->readerr(pt->eq, &error, 0);
		return -error.err;
	}
	if (ret == -EAGAIN)
		return 0;
	if (event == FI_CONNREQ)
		fi_freeinfo(entry.info);
	return event;
}

static struct pep_req *new_req(struct kunit *test, struct pep_test *pt)
{
	struct pep_req *req = vt_buf(test, sizeof(*req));

	memset(req, 0, sizeof(*req));
	KUNIT_ASSERT_EQ(test, kofi_connreq_add(&pep_reqs, &req->req, GFP_KERNEL), 0);
	req->req.event.info = fi_allocinfo();
	KUNIT_ASSERT_NOT_NULL(test, req->req.event.info);
	KUNIT_ASSERT_EQ(test,
			kofi_connreq_post(&pep_reqs, &req->req, &pt->kpep.pep.fid, pt->kpep.eq), 0);
	return req;
}

static int reject(struct pep_test *pt, struct pep_req *req, size_t len)
{
	static const u8 data[CM_DATA + 1];

	return pt->kpep.pep.cm->reject(&pt->kpep.pep, kofi_connreq_handle(&req->req), data, len);
}

static struct pep_test *listening_pep(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 4000);

	KUNIT_ASSERT_EQ(test, bind_eq(pt), 0);
	KUNIT_ASSERT_EQ(test, start(pt), 0);
	return pt;
}

static void it_is_opened_with_its_address(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 4000);

	KUNIT_EXPECT_EQ(test, pt->claims, 1);
	KUNIT_EXPECT_EQ(test, get_port(pt), 4000);
	KUNIT_EXPECT_PTR_EQ(test, pt->kpep.pep.fid.context, (void *)test);
	KUNIT_EXPECT_EQ(test, set_port(pt, 4001), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, get_port(pt), 4000);
}

static void it_gets_its_address_later(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 0);

	KUNIT_EXPECT_EQ(test, pt->claims, 0);
	KUNIT_EXPECT_EQ(test, get_port(pt), -EADDRNOTAVAIL);
	pt->claim_ret = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, set_port(pt, 4001), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, get_port(pt), -EADDRNOTAVAIL);
	pt->claim_ret = 0;
	KUNIT_EXPECT_EQ(test, set_port(pt, 4001), 0);
	KUNIT_EXPECT_EQ(test, get_port(pt), 4001);
}

static void listening_takes_any_address(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 0);

	KUNIT_EXPECT_EQ(test, start(pt), -FI_ENOEQ);
	KUNIT_EXPECT_EQ(test, pt->claims, 0);
	KUNIT_ASSERT_EQ(test, bind_eq(pt), 0);
	pt->claim_ret = -EADDRNOTAVAIL;
	KUNIT_EXPECT_EQ(test, start(pt), -EADDRNOTAVAIL);
	pt->claim_ret = 0;
	KUNIT_EXPECT_EQ(test, start(pt), 0);
	KUNIT_EXPECT_EQ(test, pt->claims, 1);
	KUNIT_EXPECT_EQ(test, get_port(pt), 7);
}

static void it_listens_once(struct kunit *test)
{
	struct pep_test *pt = listening_pep(test);

	KUNIT_EXPECT_EQ(test, start(pt), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, bind_eq(pt), -FI_EOPBADSTATE);
}

static void listening_that_fails_can_be_tried_again(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 4000);

	KUNIT_ASSERT_EQ(test, bind_eq(pt), 0);
	pt->listen_ret = -ENOMEM;
	KUNIT_EXPECT_EQ(test, start(pt), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, pt->kpep.listening);
	pt->listen_ret = 0;
	KUNIT_EXPECT_EQ(test, start(pt), 0);
	KUNIT_EXPECT_TRUE(test, pt->kpep.listening);
}

static void a_malformed_address_is_refused(struct kunit *test)
{
	struct sockaddr_in sin = { .sin_family = AF_UNIX };
	struct fi_info info = { .src_addr = &sin, .src_addrlen = sizeof(sin) };
	struct pep_test *pt = new_pep(test, 0);
	struct kofi_pep pep = {};

	KUNIT_EXPECT_EQ(test, kofi_pep_init(&pep, &pep_type, &info, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, pt->kpep.pep.cm->setname(&pt->kpep.pep.fid, &sin,
						       sizeof(sin)), -EINVAL);
	KUNIT_EXPECT_EQ(test, pt->claims, 0);
}

static void an_open_fails_when_the_address_is_taken(struct kunit *test)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct fi_info info = { .src_addr = &sin, .src_addrlen = sizeof(sin) };
	struct pep_test *pt = vt_buf(test, sizeof(*pt));

	memset(pt, 0, sizeof(*pt));
	pt->claim_ret = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, kofi_pep_init(&pt->kpep, &pep_type, &info, NULL), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, pt->stops, 0);
	KUNIT_EXPECT_EQ(test, pt->frees, 0);
}

static void a_backlog_is_set_before_it_listens(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 4000);
	const struct fi_ops *ops = pt->kpep.pep.fid.ops;
	struct fid *fid = &pt->kpep.pep.fid;
	int backlog = 5, none = 0;

	KUNIT_EXPECT_EQ(test, ops->control(fid, FI_BACKLOG, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, ops->control(fid, FI_ENABLE, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, ops->control(fid, FI_BACKLOG, &backlog), 0);
	KUNIT_EXPECT_EQ(test, pt->kpep.backlog, 5);
	KUNIT_ASSERT_EQ(test, bind_eq(pt), 0);
	KUNIT_ASSERT_EQ(test, start(pt), 0);
	KUNIT_EXPECT_EQ(test, ops->control(fid, FI_BACKLOG, &backlog), -FI_EOPBADSTATE);
}

static void its_options_are_those_of_the_type(struct kunit *test)
{
	struct pep_test *pt = new_pep(test, 4000);
	const struct fi_ops_ep *ops = pt->kpep.pep.ops;
	struct fid *fid = &pt->kpep.pep.fid;
	size_t value = 0, len = sizeof(value);

	KUNIT_EXPECT_EQ(test, ops->getopt(fid, FI_OPT_ENDPOINT,
					  FI_OPT_CM_DATA_SIZE, &value, &len), 0);
	KUNIT_EXPECT_EQ(test, value, CM_DATA);
	KUNIT_EXPECT_EQ(test, ops->getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value,
					  &len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, ops->getopt(fid, FI_OPT_ENDPOINT + 1, FI_OPT_CM_DATA_SIZE, &value,
					  &len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, ops->setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value, len),
			-ENOPROTOOPT);
}

static void a_request_is_rejected_once(struct kunit *test)
{
	struct pep_test *pt = listening_pep(test);
	struct pep_req *req = new_req(test, pt);

	KUNIT_EXPECT_EQ(test, next_event(pt), FI_CONNREQ);
	KUNIT_EXPECT_EQ(test, reject(pt, req, CM_DATA + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, req->err, 0);
	KUNIT_EXPECT_EQ(test, reject(pt, req, CM_DATA), 0);
	KUNIT_EXPECT_EQ(test, req->err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, req->len, CM_DATA);
	KUNIT_EXPECT_EQ(test, reject(pt, req, 0), -EINVAL);
}

static void a_request_whose_peer_has_given_up_is_rejected(struct kunit *test)
{
	struct pep_test *pt = listening_pep(test);
	struct pep_req *req = new_req(test, pt);

	req->gone = true;
	KUNIT_EXPECT_EQ(test, reject(pt, req, 0), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, next_event(pt), 0);
}

static void a_close_refuses_what_nobody_has_taken(struct kunit *test)
{
	struct pep_test *pt = listening_pep(test);
	struct pep_req *req = new_req(test, pt);

	pt->open = false;
	KUNIT_EXPECT_EQ(test, pt->kpep.pep.fid.ops->close(&pt->kpep.pep.fid), 0);
	KUNIT_EXPECT_EQ(test, req->err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, pt->stops, 1);
	KUNIT_EXPECT_EQ(test, pt->frees, 1);
	KUNIT_EXPECT_EQ(test, next_event(pt), 0);
}

static void what_has_gone_is_a_shell(struct kunit *test)
{
	struct pep_test *pt = listening_pep(test);
	struct fid *fid = &pt->kpep.pep.fid;
	struct pep_req *req = new_req(test, pt);
	struct kofi_stat stat = {};
	int backlog = 4;

	mutex_lock(&pep_lock);
	kofi_pep_gone(&pt->kpep);
	KUNIT_EXPECT_FALSE(test, pt->kpep.listening);
	KUNIT_EXPECT_FALSE(test, pt->kpep.named);
	KUNIT_EXPECT_EQ(test, req->err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, next_event(pt), -ENODEV);
	kofi_pep_gone(&pt->kpep);
	mutex_unlock(&pep_lock);
	KUNIT_EXPECT_EQ(test, next_event(pt), 0);
	KUNIT_EXPECT_EQ(test, fid->ops->control(fid, KOFI_GETSTAT, &stat), 0);
	KUNIT_EXPECT_STREQ(test, stat.state, "gone");
	KUNIT_EXPECT_EQ(test, start(pt), -ENODEV);
	KUNIT_EXPECT_EQ(test, set_port(pt, 4001), -ENODEV);
	KUNIT_EXPECT_EQ(test, get_port(pt), -ENODEV);
	KUNIT_EXPECT_EQ(test, bind_eq(pt), -ENODEV);
	KUNIT_EXPECT_EQ(test, fid->ops->control(fid, FI_BACKLOG, &backlog), -ENODEV);
	KUNIT_EXPECT_EQ(test, pt->kpep.pep.cm->reject(&pt->kpep.pep, NULL, NULL, 0), -ENODEV);

	pt->open = false;
	KUNIT_EXPECT_EQ(test, pt->kpep.pep.fid.ops->close(&pt->kpep.pep.fid), 0);
	KUNIT_EXPECT_EQ(test, pt->stops, 1);
	KUNIT_EXPECT_EQ(test, pt->frees, 1);
}

static void a_close_takes_the_last_event_back(struct kunit *test)
{
	struct pep_test *pt = listening_pep(test);

	mutex_lock(&pep_lock);
	kofi_pep_gone(&pt->kpep);
	mutex_unlock(&pep_lock);
	pt->open = false;
	KUNIT_EXPECT_EQ(test, pt->kpep.pep.fid.ops->close(&pt->kpep.pep.fid), 0);
	KUNIT_EXPECT_EQ(test, next_event(pt), 0);
}

static struct kunit_case pep_cases[] = {
	KUNIT_CASE(it_is_opened_with_its_address),
	KUNIT_CASE(it_gets_its_address_later),
	KUNIT_CASE(listening_takes_any_address),
	KUNIT_CASE(it_listens_once),
	KUNIT_CASE(listening_that_fails_can_be_tried_again),
	KUNIT_CASE(a_malformed_address_is_refused),
	KUNIT_CASE(an_open_fails_when_the_address_is_taken),
	KUNIT_CASE(a_backlog_is_set_before_it_listens),
	KUNIT_CASE(its_options_are_those_of_the_type),
	KUNIT_CASE(a_request_is_rejected_once),
	KUNIT_CASE(a_request_whose_peer_has_given_up_is_rejected),
	KUNIT_CASE(a_close_refuses_what_nobody_has_taken),
	KUNIT_CASE(what_has_gone_is_a_shell),
	KUNIT_CASE(a_close_takes_the_last_event_back),
	{}
};

static struct kunit_suite pep_suite = {
	.name		= "kofi_util_pep",
	.test_cases	= pep_cases,
};

kunit_test_suite(pep_suite);
