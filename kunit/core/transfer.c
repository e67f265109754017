// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A client's whole way through the core, with the mock on the other side:
 * connect, accept, refuse, send, receive, shut down, close in between.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include "core.h"

#define PORT		7471

/* One end of a connection */
struct end {
	struct fid_eq	*eq;
	struct fid_cq	*cq;
	struct fid_ep	*ep;
};

struct pair {
	struct core_set	set;
	struct fid_eq	*pep_eq;
	struct fid_pep	*pep;
	struct end	active;
	struct end	passive;
	struct fi_info	*request;
};

static struct fid_eq *open_eq(struct kunit *test, struct core_set *set, size_t size)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC, .size = size };
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, fi_eq_open(core_fabric(set), &attr, &eq, NULL), 0);
	core_adopt(test, &eq->fid);
	return eq;
}

static void open_end(struct kunit *test, struct core_set *set,
		     struct fi_info *info, struct end *end)
{
	struct fi_cq_attr attr = {
		.wait_obj = FI_WAIT_UNSPEC,
		.format = FI_CQ_FORMAT_DATA,
	};

	end->eq = open_eq(test, set, 0);
	KUNIT_ASSERT_EQ(test, fi_cq_open(core_domain(set), &attr, &end->cq, NULL), 0);
	core_adopt(test, &end->cq->fid);
	KUNIT_ASSERT_EQ(test, fi_endpoint(core_domain(set), info, &end->ep, end), 0);
	core_adopt(test, &end->ep->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end->ep, &end->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV), 0);
}

static struct sockaddr_in *address(struct kunit *test, int port)
{
	struct sockaddr_in *sin = vt_buf(test, sizeof(*sin));

	sin->sin_family = AF_INET;
	sin->sin_port = htons(port);
	return sin;
}

static struct pair *listen_pair(struct kunit *test, size_t backlog)
{
	struct pair *pair = vt_buf(test, sizeof(*pair));
	struct fi_info *info;

	core_open_parents(test, &pair->set, core_mock(test, "mock", 1), MOCK_EP);
	info = fi_dupinfo(pair->set.info);
	KUNIT_ASSERT_NOT_NULL(test, info);
	core_free_later(test, info);
	info->src_addr = kmemdup(address(test, PORT), sizeof(struct sockaddr_in), GFP_KERNEL);
	info->src_addrlen = sizeof(struct sockaddr_in);

	pair->pep_eq = open_eq(test, &pair->set, backlog);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(core_fabric(&pair->set), info, &pair->pep, NULL), 0);
	core_adopt(test, &pair->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(pair->pep, &pair->pep_eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(pair->pep), 0);
	open_end(test, &pair->set, pair->set.info, &pair->active);
	KUNIT_ASSERT_EQ(test, fi_enable(pair->active.ep), 0);
	return pair;
}

struct cm_event {
	struct fi_eq_cm_entry	entry;
	u8			data[MOCK_CM_DATA];
	size_t			len;
	u32			type;
};

static ssize_t next_event(struct fid_eq *eq, struct cm_event *event)
{
	ssize_t ret;

	ret = vt_eq_sread(eq, &event->type, &event->entry, offsetof(struct cm_event, len), 0);
	if (ret > 0)
		event->len = ret - sizeof(event->entry);
	return ret;
}

static void expect_event(struct kunit *test, struct fid_eq *eq, u32 type)
{
	struct cm_event event = {};

	KUNIT_ASSERT_GT(test, next_event(eq, &event), 0);
	KUNIT_EXPECT_EQ(test, event.type, type);
}

static void ask(struct kunit *test, struct pair *pair)
{
	struct cm_event event = {};

	KUNIT_ASSERT_EQ(test, fi_connect(pair->active.ep, address(test, PORT),
					 "hello", 5), 0);
	KUNIT_ASSERT_GT(test, next_event(pair->pep_eq, &event), 0);
	KUNIT_ASSERT_EQ(test, event.type, FI_CONNREQ);
	KUNIT_ASSERT_NOT_NULL(test, event.entry.info);
	core_free_later(test, event.entry.info);
	KUNIT_EXPECT_PTR_EQ(test, event.entry.fid, &pair->pep->fid);
	KUNIT_EXPECT_EQ(test, event.len, 5);
	KUNIT_EXPECT_MEMEQ(test, event.entry.data, "hello", 5);
	pair->request = event.entry.info;
}

static struct pair *connect_pair(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 0);

	ask(test, pair);
	open_end(test, &pair->set, pair->request, &pair->passive);
	KUNIT_ASSERT_EQ(test, fi_enable(pair->passive.ep), 0);
	KUNIT_ASSERT_EQ(test, fi_accept(pair->passive.ep, NULL, 0), 0);
	expect_event(test, pair->active.eq, FI_CONNECTED);
	expect_event(test, pair->passive.eq, FI_CONNECTED);
	return pair;
}

static void expect_refusal(struct kunit *test, struct pair *pair, const char *data)
{
	struct fi_eq_err_entry error = {};
	struct cm_event event;

	KUNIT_ASSERT_EQ(test, next_event(pair->active.eq, &event), -FI_EAVAIL);
	KUNIT_ASSERT_GT(test, fi_eq_readerr(pair->active.eq, &error, 0), 0);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &pair->active.ep->fid);
	KUNIT_ASSERT_EQ(test, error.err_data_size, strlen(data));
	if (*data)
		KUNIT_EXPECT_MEMEQ(test, error.err_data, data, strlen(data));
}

static void accepted_request_connects_both_ends(struct kunit *test)
{
	connect_pair(test);
}

static void rejected_request_brings_its_data(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 0);

	ask(test, pair);

	KUNIT_EXPECT_EQ(test, fi_reject(pair->pep, pair->request->handle, "no", 2), 0);
	expect_refusal(test, pair, "no");
	KUNIT_EXPECT_EQ(test, fi_reject(pair->pep, pair->request->handle, NULL, 0), -EINVAL);
}

static void connecting_to_nobody_is_refused(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 0);

	KUNIT_ASSERT_EQ(test, fi_connect(pair->active.ep, address(test, PORT + 1), NULL, 0), 0);

	expect_refusal(test, pair, "");
}

static void request_beyond_the_backlog_is_refused(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 1);
	struct end first;

	open_end(test, &pair->set, pair->set.info, &first);
	KUNIT_ASSERT_EQ(test, fi_enable(first.ep), 0);
	KUNIT_ASSERT_EQ(test, fi_connect(first.ep, address(test, PORT), NULL, 0), 0);

	KUNIT_ASSERT_EQ(test, fi_connect(pair->active.ep, address(test, PORT), NULL, 0), 0);

	expect_refusal(test, pair, "");
}

static void closing_the_listener_refuses_its_requests(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 0);

	KUNIT_ASSERT_EQ(test, fi_connect(pair->active.ep, address(test, PORT), NULL, 0), 0);

	KUNIT_EXPECT_EQ(test, core_close(test, &pair->pep->fid), 0);

	expect_refusal(test, pair, "");
}

static void request_of_a_vanished_peer_is_not_opened(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 0);
	struct fid_ep *ep;

	ask(test, pair);
	KUNIT_ASSERT_EQ(test, core_close(test, &pair->active.ep->fid), 0);

	KUNIT_EXPECT_EQ(test, fi_endpoint(core_domain(&pair->set), pair->request, &ep, NULL),
			-ECONNABORTED);
}

static void request_is_used_once(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fid_ep *ep;

	KUNIT_EXPECT_EQ(test, fi_endpoint(core_domain(&pair->set),
					  pair->request, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_accept(pair->passive.ep, NULL, 0), -EISCONN);
	KUNIT_EXPECT_EQ(test, fi_connect(pair->active.ep, address(test, PORT), NULL, 0), -EISCONN);
}

static ssize_t next_completion(struct fid_cq *cq, struct fi_cq_data_entry *entry)
{
	return vt_cq_sread(cq, entry, 1, NULL);
}

static void message_arrives(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fi_cq_data_entry entry;
	char buf[8] = {};

	KUNIT_ASSERT_EQ(test, fi_recv(pair->passive.ep, buf, sizeof(buf), NULL, 0, buf), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair->active.ep, "message", 7, NULL, 0, pair), 0);

	KUNIT_ASSERT_EQ(test, next_completion(pair->passive.cq, &entry), 1);
	KUNIT_EXPECT_PTR_EQ(test, entry.op_context, (void *)buf);
	KUNIT_EXPECT_EQ(test, entry.flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, entry.len, 7);
	KUNIT_EXPECT_STREQ(test, buf, "message");
	KUNIT_ASSERT_EQ(test, next_completion(pair->active.cq, &entry), 1);
	KUNIT_EXPECT_PTR_EQ(test, entry.op_context, (void *)pair);
}

static void data_arrives_with_the_message(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fi_cq_data_entry entry;
	char buf[8];

	KUNIT_ASSERT_EQ(test, fi_recv(pair->passive.ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_injectdata(pair->active.ep, "m", 1, 0xdada, 0), 0);

	KUNIT_ASSERT_EQ(test, next_completion(pair->passive.cq, &entry), 1);
	KUNIT_EXPECT_EQ(test, entry.flags & FI_REMOTE_CQ_DATA, FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, entry.data, 0xdadaULL);
}

static void long_message_is_cut_with_an_error(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	char buf[4] = "----";

	KUNIT_ASSERT_EQ(test, fi_recv(pair->passive.ep, buf, 3, NULL, 0, buf), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair->active.ep, "message", 7, NULL, 0, NULL), 0);

	KUNIT_ASSERT_EQ(test, next_completion(pair->passive.cq, &entry), -FI_EAVAIL);
	KUNIT_ASSERT_EQ(test, fi_cq_readerr(pair->passive.cq, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, error.err, (int)FI_ETRUNC);
	KUNIT_EXPECT_PTR_EQ(test, error.op_context, (void *)buf);
	KUNIT_EXPECT_EQ(test, buf[3], '-');
}

static void full_queue_gives_eagain_until_a_completion_was_read(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fid_ep *ep = pair->active.ep;
	struct fi_cq_data_entry entry;
	char buf[4];
	int i;

	for (i = 0; i < MOCK_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, fi_send(ep, "m", 1, NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_send(ep, "m", 1, NULL, 0, NULL), -EAGAIN);

	KUNIT_ASSERT_EQ(test, fi_recv(pair->passive.ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, next_completion(pair->passive.cq, &entry), 1);
	KUNIT_ASSERT_EQ(test, vt_cq_sread(pair->active.cq, &entry, 1, NULL), 1);
	KUNIT_EXPECT_EQ(test, fi_send(ep, "m", 1, NULL, 0, NULL), 0);
}

static void shutdown_cancels_and_tells_the_peer(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	char buf[4];

	KUNIT_ASSERT_EQ(test, fi_recv(pair->active.ep, buf, sizeof(buf), NULL, 0, buf), 0);

	KUNIT_EXPECT_EQ(test, fi_shutdown(pair->active.ep, 0), 0);

	expect_event(test, pair->passive.eq, FI_SHUTDOWN);
	KUNIT_EXPECT_EQ(test, next_completion(pair->active.cq, &entry), -FI_EAVAIL);
	KUNIT_ASSERT_EQ(test, fi_cq_readerr(pair->active.cq, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, error.err, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_send(pair->active.ep, "m", 1, NULL, 0, NULL), -ESHUTDOWN);
}

static void closed_endpoint_completes_nothing_any_more(struct kunit *test)
{
	struct pair *pair = connect_pair(test);
	struct fi_cq_data_entry entry;
	char buf[4];

	KUNIT_ASSERT_EQ(test, fi_recv(pair->active.ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair->passive.ep, "m", 1, NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, next_completion(pair->passive.cq, &entry), 1);

	KUNIT_EXPECT_EQ(test, core_close(test, &pair->active.ep->fid), 0);

	KUNIT_EXPECT_EQ(test, fi_cq_read(pair->active.cq, &entry, 1), -EAGAIN);
	expect_event(test, pair->passive.eq, FI_SHUTDOWN);
}

static void endpoint_before_its_time_is_refused(struct kunit *test)
{
	struct pair *pair = listen_pair(test, 0);
	struct fid *bare;
	struct end end;
	char buf[4];

	open_end(test, &pair->set, pair->set.info, &end);
	KUNIT_EXPECT_EQ(test, fi_recv(end.ep, buf, 4, NULL, 0, NULL), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, address(test, PORT), NULL, 0), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_send(end.ep, "m", 1, NULL, 0, NULL), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, fi_accept(end.ep, NULL, 0), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_shutdown(end.ep, 0), -ENOTCONN);
	KUNIT_ASSERT_EQ(test, core_open(test, &pair->set, MOCK_EP, &bare), 0);
	KUNIT_EXPECT_EQ(test, fi_control(bare, FI_ENABLE, NULL), -FI_ENOCQ);
}

static void queue_without_room_is_refused(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fi_cq_attr attr = { .size = 2 * MOCK_DEPTH - 1 };
	struct fid_cq *cq;

	KUNIT_ASSERT_EQ(test, fi_cq_open(core_domain(set), &attr, &cq, NULL), 0);
	core_adopt(test, &cq->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(core_ep(set), &cq->fid, FI_TRANSMIT | FI_RECV), 0);

	KUNIT_EXPECT_EQ(test, fi_enable(core_ep(set)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EP]), 0);
}

static void endpoint_that_loops_hears_itself(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_cq_data_entry entries[2] = {};
	struct core_set set;
	char buf[8] = {};
	struct end end;

	mock->loop = true;
	core_open_parents(test, &set, mock, MOCK_EP);
	open_end(test, &set, set.info, &end);
	KUNIT_ASSERT_EQ(test, fi_enable(end.ep), 0);

	KUNIT_ASSERT_EQ(test, fi_send(end.ep, "message", 7, NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, buf, sizeof(buf), NULL, 0, NULL), 0);

	KUNIT_ASSERT_EQ(test, next_completion(end.cq, &entries[0]), 1);
	KUNIT_ASSERT_EQ(test, next_completion(end.cq, &entries[1]), 1);
	KUNIT_EXPECT_STREQ(test, buf, "message");
	KUNIT_EXPECT_EQ(test, (entries[0].flags | entries[1].flags), FI_MSG | FI_SEND | FI_RECV);
}

static struct fi_xfer posted;

static ssize_t take_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	posted = *xfer;
	return 0;
}

/* The calls of a provider that has only ->post */
static void plain_call_is_posted_without_flags_and_data(struct kunit *test)
{
	struct fi_ops_xfer ops = kofi_no_ops_xfer;
	struct fid_ep ep = { .xfer = &ops };
	u8 buf[8];

	ops.post = take_post;
	KUNIT_EXPECT_EQ(test, kofi_xfer_send(&ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, posted.type, FI_OP_SEND);
	KUNIT_EXPECT_EQ(test, posted.flags | posted.data, 0ULL);
	KUNIT_EXPECT_EQ(test, kofi_xfer_recv(&ep, buf, sizeof(buf), NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, posted.type, FI_OP_RECV);
	KUNIT_EXPECT_EQ(test, posted.flags | posted.data, 0ULL);
	KUNIT_EXPECT_EQ(test, kofi_xfer_read(&ep, buf, sizeof(buf), NULL, 0, 0, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, posted.type, FI_OP_READ);
	KUNIT_EXPECT_EQ(test, posted.flags | posted.data, 0ULL);
	KUNIT_EXPECT_EQ(test, kofi_xfer_write(&ep, buf, sizeof(buf), NULL, 0, 0, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, posted.type, FI_OP_WRITE);
	KUNIT_EXPECT_EQ(test, posted.flags | posted.data, 0ULL);
}

static struct kunit_case transfer_cases[] = {
	KUNIT_CASE(plain_call_is_posted_without_flags_and_data),
	KUNIT_CASE(accepted_request_connects_both_ends),
	KUNIT_CASE(rejected_request_brings_its_data),
	KUNIT_CASE(connecting_to_nobody_is_refused),
	KUNIT_CASE(request_beyond_the_backlog_is_refused),
	KUNIT_CASE(closing_the_listener_refuses_its_requests),
	KUNIT_CASE(request_of_a_vanished_peer_is_not_opened),
	KUNIT_CASE(request_is_used_once),
	KUNIT_CASE(message_arrives),
	KUNIT_CASE(data_arrives_with_the_message),
	KUNIT_CASE(long_message_is_cut_with_an_error),
	KUNIT_CASE(full_queue_gives_eagain_until_a_completion_was_read),
	KUNIT_CASE(shutdown_cancels_and_tells_the_peer),
	KUNIT_CASE(closed_endpoint_completes_nothing_any_more),
	KUNIT_CASE(endpoint_before_its_time_is_refused),
	KUNIT_CASE(queue_without_room_is_refused),
	KUNIT_CASE(endpoint_that_loops_hears_itself),
	{}
};

struct kunit_suite kofi_transfer_suite = {
	.name = "kofi_transfer",
	.init = core_init,
	.exit = core_exit,
	.test_cases = transfer_cases,
};
