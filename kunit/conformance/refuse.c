// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A refused call says why: the mistakes that authors of clients make, and words of the reason that
 * lead them on.
 */
#include <rdma/fi_tagged.h>
#include "conformance.h"
#include "queue.h"
#include "../lib/refusal.h"

#define DIRECT	6	/* of conf_queue_kinds: calls in the thread of the case */

/* The call has failed with @err, and says @words */
static void refused(struct kunit *test, const char *call, long err, const char *words, long ret)
{
	KUNIT_EXPECT_EQ_MSG(test, ret, err, "%s: %s", call, words);
	vt_refused(test, call, err, words);
}

static void an_endpoint_that_is_not_ready_says_what_it_is(struct kunit *test)
{
	struct fid_ep *ep;
	struct vt *vt = vt_of(test);
	u8 *buf = vt_buf(test, 8);

	conf_shallow(test, 4);
	vt_open_info(test, vt->info);
	ep = vt_ep(test, vt->info);
	vt_refusals_begin(test);
	refused(test, "send", -FI_EOPBADSTATE, "the endpoint is open, and has to be",
		fi_send(ep, buf, 8, NULL, 0, NULL));
	if (!vt_is_rdm(vt->info)) {
		refused(test, "enable", -FI_ENOEQ, "no event queue", fi_enable(ep));
		refused(test, "connect", -FI_EOPBADSTATE, "has to be enabled",
			fi_connect(ep, buf, NULL, 0));
		refused(test, "shutdown", -ENOTCONN, "has to be connected", fi_shutdown(ep, 0));
	}
}

static void a_queue_that_is_too_small_says_how_much_is_missing(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;
	struct fi_cq_attr attr = { .size = 1, .wait_obj = FI_WAIT_NONE };
	struct fid *peers;
	struct fid_cq *cq;
	struct fid_ep *ep;

	if (info->tx_attr->size < 2)
		return;
	vt_open_info(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), 0);
	vt_adopt(test, &cq->fid);
	peers = vt_is_rdm(info) ? &vt_av(test, 0)->fid : &vt_eq(test, 0)->fid;
	ep = vt_ep(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, peers, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	vt_refusals_begin(test);
	refused(test, "enable", -ENOSPC, "has 1 entries, and 1 of them left", fi_enable(ep));
}

static void what_is_in_use_says_by_whom(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_domain *other;
	struct vt_cq *cq;
	struct fid_ep *ep;

	vt_open_info(test, vt->info);
	cq = vt_cq(test, &vt_default_kind, 16);
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &other, NULL), 0);
	vt_adopt(test, &other->fid);
	ep = vt_ep(test, vt->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	vt_refusals_begin(test);
	refused(test, "close", -EBUSY, "the completion queue is used by the endpoint",
		fi_close(&cq->cq->fid));
	refused(test, "close", -EBUSY, "the domain is used by the completion queue",
		fi_close(&vt->domain->fid));
	refused(test, "close", -EBUSY, "and 1 others; close them first",
		fi_close(&vt->domain->fid));
	refused(test, "close", -EBUSY, "the fabric is used by the domain",
		fi_close(&vt->fabric->fid));
	refused(test, "close", -EINVAL, "fid is NULL", fi_close(NULL));
}

static void an_attribute_that_is_wrong_is_named(struct kunit *test)
{
	struct fi_cq_attr cq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_FD };
	struct vt *vt = vt_of(test);
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct vt_cq *mine;
	struct fid_ep *ep;

	vt_open_info(test, vt->info);
	mine = vt_cq(test, &vt_default_kind, 16);
	ep = vt_ep(test, vt->info);
	vt_refusals_begin(test);
	refused(test, "ep_bind", -FI_EBADFLAGS, "flags: none of",
		fi_ep_bind(ep, &mine->cq->fid, 0));
	refused(test, "ep_bind", -FI_EBADFLAGS, "flags: ",
		fi_ep_bind(ep, &mine->cq->fid, FI_TRANSMIT | FI_PEEK));
	refused(test, "ep_bind", -EINVAL, "no domain can be bound to the endpoint",
		fi_ep_bind(ep, &vt->domain->fid, 0));
	cq_attr.wait_obj = FI_WAIT_FD;
	refused(test, "cq_open", -ENOSYS, "attr->wait_obj",
		fi_cq_open(vt->domain, &cq_attr, &cq, NULL));
	cq_attr.wait_obj = FI_WAIT_CALLBACK;
	refused(test, "cq_open", -EINVAL, "attr->handler is NULL",
		fi_cq_open(vt->domain, &cq_attr, &cq, NULL));
	refused(test, "eq_open", -ENOSYS, "attr->wait_obj",
		fi_eq_open(vt->fabric, &eq_attr, &eq, NULL));
	refused(test, "cq_open", -EINVAL, "cq is NULL",
		fi_cq_open(vt->domain, &cq_attr, NULL, NULL));
	refused(test, "eq_open", -EINVAL, "fabric is NULL", fi_eq_open(NULL, &eq_attr, &eq, NULL));
}

static void an_option_that_is_wrong_is_named(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	int wrong = 1, may = 1;
	size_t few = 1;
	struct fid_ep *ep;

	conf_serve(test);
	ep = vt_ep(test, vt->info);
	vt_refusals_begin(test);
	if (!vt_is_rdm(vt->info))
		refused(test, "setopt", -EINVAL, "optlen is 4; the value has 8 bytes",
			fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT, &wrong,
				  sizeof(wrong)));
	refused(test, "setopt", -ENOPROTOOPT, "has no such option",
		fi_setopt(&ep->fid, FI_OPT_ENDPOINT, 0x7fff, &wrong, sizeof(wrong)));
	refused(test, "setopt", -EINVAL, "optlen is 4",
		fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &wrong, sizeof(wrong)));
	refused(test, "setopt", -EINVAL, "optlen is 0",
		fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &may, 0));
	vt_join(test, &pair, &vt_default_kind);
	refused(test, "setopt", -FI_EOPBADSTATE, "FI_OPT_MAX_RW_OPS",
		fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &few, sizeof(few)));
	refused(test, "setopt", -FI_EOPBADSTATE, "has to be open for FI_OPT_MAY_SLEEP",
		fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAY_SLEEP, &may, sizeof(may)));
}

static void an_info_that_is_wrong_is_named(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info = vt_dup(test, vt->info);
	struct fid_domain *domain;
	struct fid_pep *pep;
	struct fid_ep *ep;
	int ret;

	vt_open_info(test, vt->info);
	vt_refusals_begin(test);
	info->ep_attr->type = FI_EP_DGRAM;
	refused(test, "endpoint", -EINVAL, "info->ep_attr->type is",
		fi_endpoint(vt->domain, info, &ep, NULL));
	info->ep_attr->type = FI_EP_RDM;
	refused(test, "passive_ep", -EINVAL, "info->ep_attr->type is",
		fi_passive_ep(vt->fabric, info, &pep, NULL));
	info->ep_attr->type = vt->info->ep_attr->type;
	/* A provider may leave modes alone that its results do not have */
	info->domain_attr->mr_mode = FI_MR_RAW;
	ret = fi_domain(vt->fabric, info, &domain, NULL);
	if (!ret)
		vt_adopt(test, &domain->fid);
	else
		refused(test, "domain", -EINVAL, "info->domain_attr->mr_mode", ret);
}

/* Nobody connects, and a peer has to know where the endpoint is */
static void an_info_with_what_connections_have_is_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info = vt_dup(test, vt->info);
	struct fid_ep *ep;

	if (!conf_is_rdm(test))
		return;
	vt_open_info(test, vt->info);
	vt_refusals_begin(test);
	info->handle = &vt->domain->fid;
	refused(test, "endpoint", -EINVAL, "accepts no request",
		fi_endpoint(vt->domain, info, &ep, NULL));
	info->handle = NULL;
	if (conf_wants_shared(test))
		return;
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	refused(test, "endpoint", -EINVAL, "rx_ctx_cnt", fi_endpoint(vt->domain, info, &ep, NULL));
}

static void a_shared_context_that_is_too_large_is_refused(struct kunit *test)
{
	struct fi_rx_attr attr = { .size = SZ_16M };
	struct vt *vt = vt_of(test);
	bool shared = conf_wants_shared(test);
	struct fid_ep *srx;

	vt_open_info(test, vt->info);
	vt_refusals_begin(test);
	refused(test, "srx_context", shared ? -EINVAL : -ENOSYS, "",
		fi_srx_context(vt->domain, &attr, &srx, NULL));
	attr = (struct fi_rx_attr) { .iov_limit = SZ_1M };
	refused(test, "srx_context", shared ? -EINVAL : -ENOSYS, "",
		fi_srx_context(vt->domain, &attr, &srx, NULL));
}

static void a_command_that_is_wrong_is_named(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end end = {};
	u64 arg = 0;

	vt_open_info(test, vt->info);
	vt_end_open(test, &end, vt->info, &vt_default_kind);
	vt_refusals_begin(test);
	refused(test, "control", -ENOSYS, "has no command 9999",
		fi_control(&end.ep->fid, 9999, &arg));
	refused(test, "control", -ENOSYS, "has no command 9999",
		fi_control(&end.tx->cq->fid, 9999, &arg));
	if (end.eq)
		refused(test, "control", -ENOSYS, "has no command 9999",
			fi_control(&end.eq->fid, 9999, &arg));
	if (end.av)
		refused(test, "control", -ENOSYS, "has no command 9999",
			fi_control(&end.av->fid, 9999, &arg));
	refused(test, "control", -EINVAL, "one of FI_TRANSMIT and FI_RECV",
		fi_control(&end.ep->fid, FI_GETOPSFLAG, &arg));
}

static void a_list_that_is_wrong_is_explained(struct kunit *test)
{
	size_t limit, huge;
	struct kvec *iov;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 64);
	u8 stack[8] = {};
	struct kvec on_stack = { stack, sizeof(stack) };
	int i;

	conf_join(test, &pair);
	limit = vt_of(test)->info->tx_attr->iov_limit;
	iov = kunit_kcalloc(test, limit + 1, sizeof(*iov), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iov);
	for (i = 0; i <= limit; i++)
		iov[i] = (struct kvec) { buf + i % 64, 1 };
	vt_refusals_begin(test);
	refused(test, "send", -EINVAL, "more than iov_limit",
		fi_sendv(pair.a.ep, iov, NULL, limit + 1, 0, NULL));
	refused(test, "send", -EINVAL, "element 1 of 1 is on the stack",
		fi_sendv(pair.a.ep, &on_stack, NULL, 1, 0, NULL));
	refused(test, "send", -EINVAL, "element 1 of 1 is no kernel memory",
		fi_send(pair.a.ep, NULL, 8, NULL, 0, NULL));
	huge = vt_of(test)->info->tx_attr->inject_size + 1;
	refused(test, "send", -EMSGSIZE, "the inject size",
		fi_inject(pair.a.ep, vt_buf(test, huge), huge, 0));
}

/* A pointer that is no descriptor at all cannot be told from one */
static void a_descriptor_of_other_memory_is_named(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	conf_join(test, &pair);
	KUNIT_ASSERT_EQ(test, conf_reg(test, buf, 32, FI_SEND | FI_RECV, &mr), 0);
	vt_refusals_begin(test);
	if (fi_mr_desc(mr))
		refused(test, "send", -EINVAL, "a descriptor is that of a region without its element",
			fi_send(pair.a.ep, buf + 1, 32, fi_mr_desc(mr), 0, NULL));
	vt_close(test, &mr->fid);
}

/* Whose peer posts no receive: nothing is wrong with a call that answers -EAGAIN */
static void a_full_queue_is_no_mistake(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	ssize_t ret = 0;
	int i;

	conf_shallow(test, 4);
	conf_join(test, &pair);
	vt_refusals_begin(test);
	for (i = 0; i < 100 && !ret; i++)
		ret = fi_send(pair.a.ep, buf, 8, NULL, 0, NULL);
	/* Over iWARP the first message without a receive has ended the connection (RFC 5041) */
	if (ret == -ESHUTDOWN)
		return;
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	vt_not_refused(test);
}

static int close_fid(void *fid)
{
	return fi_close(fid);
}

/* The completion queue calls back in the thread of the case, which hears of the reason */
static void a_close_in_a_callback_says_where_it_may_be(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	struct conf_queue *queue;
	u8 *buf = vt_buf(test, 8);

	conf_shallow(test, 4);
	conf_serve(test);
	queue = conf_queue(test, &conf_queue_kinds[DIRECT],
			   vt->info->tx_attr->size + vt->info->rx_attr->size);
	pair.a.tx = &queue->cq;
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	vt_send(test, &pair.a, buf, 8, conf_queue_ctx(queue));
	vt_refusals_begin(test);
	conf_queue_hook(queue, close_fid, &pair.a.ep->fid);
	conf_queue_expect(test, queue, 1);
	conf_queue_hooked(test, queue);
	refused(test, "close", -EDEADLK, "in a callback of the completion queue", queue->hook_ret);
	KUNIT_EXPECT_STREQ(test, fi_strerror(EDEADLK), "Would wait for itself");
	vt_pair_close(test, &pair);
}

static void an_operation_that_is_not_there_names_its_capability(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};

	vt->info->caps &= ~(FI_TAGGED | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
			    FI_REMOTE_WRITE);
	conf_join(test, &pair);
	vt_refusals_begin(test);
	refused(test, "tsend", -ENOSYS, "FI_TAGGED", fi_tsend(pair.a.ep, buf, 8, NULL, 0, 1, NULL));
	refused(test, "write", -ENOSYS, "FI_RMA", fi_write(pair.a.ep, buf, 8, NULL, 0, 0, 0, NULL));
	if (vt_is_rdm(vt->info))
		refused(test, "connect", -ENOSYS, "does not have this call",
			fi_connect(pair.a.ep, &vt->name, NULL, 0));
}

static void an_address_that_is_wrong_is_explained(struct kunit *test)
{
	struct sockaddr_storage other = { .ss_family = AF_INET6 };
	struct vt_end end = {};
	struct vt *vt = vt_of(test);

	if (!conf_is_msg(test))
		return;
	if (vt->info->addr_format == FI_SOCKADDR_IN6)
		other.ss_family = AF_INET;
	conf_serve(test);
	end.info = vt->info;
	vt_end_open(test, &end, vt->info, &vt_default_kind);
	vt_refusals_begin(test);
	refused(test, "connect", -EINVAL, "addr is of the family",
		fi_connect(end.ep, &other, NULL, 0));
	refused(test, "connect", -EINVAL, "param is NULL, but paramlen is 1",
		fi_connect(end.ep, &vt->name, NULL, 1));
}

static void a_registration_says_what_is_wrong(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8), stack[8] = {};
	struct fi_mr_attr lend = {};
	struct vt *vt = vt_of(test);
	struct fid_mr *mr;

	vt_open_info(test, vt->info);
	vt_refusals_begin(test);
	refused(test, "mr_reg", -EINVAL, "element 1 of 1 is on the stack",
		fi_mr_reg(vt->domain, stack, 8, FI_SEND, 0, 0, 0, &mr, NULL));
	refused(test, "mr_reg", -EINVAL, "len is 0",
		fi_mr_reg(vt->domain, buf, 0, FI_SEND, 0, 0, 0, &mr, NULL));
	refused(test, "mr_reg", -EINVAL, "more than there is behind buf",
		fi_mr_reg(vt->domain, buf, SIZE_MAX, FI_SEND, 0, 0, 0, &mr, NULL));
	refused(test, "mr_reg", -EINVAL, "offset is 8, and has to be 0",
		fi_mr_reg(vt->domain, buf, 8, FI_SEND, 8, 0, 0, &mr, NULL));
	refused(test, "mr_reg", -FI_EBADFLAGS, "none allowed",
		fi_mr_reg(vt->domain, buf, 8, FI_SEND, 0, 0, FI_PEEK, &mr, NULL));
	refused(test, "mr_regattr", -FI_EBADFLAGS, "FI_MR_LEND needs FI_MR_ENDPOINT",
		fi_mr_regattr(vt->domain, &lend, FI_MR_LEND, &mr));
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, fi_mr_reg(vt->domain, buf, 8, FI_SEND, 0, 0, 0, &mr, NULL), -EINVAL);
	local_bh_enable();
	vt_refused(test, "mr_reg", -EINVAL, "but it may sleep");
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE_PARAM(an_endpoint_that_is_not_ready_says_what_it_is, conf_gen_params),
	KUNIT_CASE_PARAM(a_queue_that_is_too_small_says_how_much_is_missing, conf_gen_params),
	KUNIT_CASE_PARAM(what_is_in_use_says_by_whom, conf_gen_params),
	KUNIT_CASE_PARAM(an_attribute_that_is_wrong_is_named, conf_gen_params),
	KUNIT_CASE_PARAM(an_option_that_is_wrong_is_named, conf_gen_params),
	KUNIT_CASE_PARAM(an_info_that_is_wrong_is_named, conf_gen_params),
	KUNIT_CASE_PARAM(an_info_with_what_connections_have_is_refused, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_shared_context_that_is_too_large_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_command_that_is_wrong_is_named, conf_gen_params),
	KUNIT_CASE_PARAM(a_list_that_is_wrong_is_explained, conf_gen_params),
	KUNIT_CASE_PARAM(a_descriptor_of_other_memory_is_named, conf_gen_params),
	KUNIT_CASE_PARAM(a_full_queue_is_no_mistake, conf_gen_params),
	KUNIT_CASE_PARAM(a_close_in_a_callback_says_where_it_may_be, conf_gen_params),
	KUNIT_CASE_PARAM(an_operation_that_is_not_there_names_its_capability, conf_gen_params),
	KUNIT_CASE_PARAM(an_address_that_is_wrong_is_explained, conf_gen_msg),
	KUNIT_CASE_PARAM(a_registration_says_what_is_wrong, conf_gen_params),
	{}
};

struct kunit_suite conf_refuse_suite = {
	.name		= "kofi_conformance_refuse",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= refuse_cases,
};
