// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Paths of endpoints without connections: opening, enabling and closing them, and operations for
 * which workers make connections, register buffers, and keep what has come.
 *
 * A connection that is not made for want of memory is tried again, so an operation may well
 * succeed.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "nth.h"

#define NTH_LEN		100
#define NTH_TAG		9

static int nth_av_open(struct nth_env *env, struct fid_av **av)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	int ret = fi_av_open(env->domain, &attr, av, NULL);

	if (!ret)
		nth_keep(env, &(*av)->fid);
	return ret;
}

/* All that @end needs before it can be enabled */
static int prepare_end(struct nth_env *env, struct nth_end *end)
{
	int ret = nth_av_open(env, &end->av);

	if (!ret)
		ret = nth_cq_open(env, FI_WAIT_UNSPEC, &end->cq);
	if (!ret)
		ret = nth_ep_open(env, end, env->info);
	end->rx_cq = end->cq;
	return ret ? : tb_end_bind(&(struct tb_end) {
		.ep = end->ep, .av = end->av, .tx = end->cq,
	});
}

static int call_endpoint(struct nth_env *env)
{
	return nth_ep_open(env, &env->a, env->info);
}

static int prepare_bound(struct nth_env *env)
{
	return prepare_end(env, &env->a);
}

static int call_enable(struct nth_env *env)
{
	return fi_enable(env->a.ep);
}

/* Two ends, of which a knows b as address 0 */
static int prepare_ends(struct nth_env *env)
{
	size_t len = sizeof(env->name);
	fi_addr_t addr;
	int ret;

	ret = prepare_end(env, &env->b) ? : prepare_end(env, &env->a) ? :
	      fi_enable(env->a.ep) ? : fi_enable(env->b.ep) ? :
	      fi_getname(&env->b.ep->fid, &env->name, &len);
	if (ret)
		return ret;
	return fi_av_insert(env->a.av, &env->name, 1, &addr, 0, NULL) == 1 ? 0 : -EINVAL;
}

/* They have a connection, too, and b has a region */
static int prepare_joined(struct nth_env *env)
{
	int ret = prepare_ends(env);

	if (!ret)
		ret = fi_mr_reg(env->domain, env->mem + 4 * PAGE_SIZE, PAGE_SIZE,
				FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &env->mr, NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->mr->fid);
	return nth_ping(env);
}

static int call_ping(struct nth_env *env)
{
	return nth_ping(env);
}

/* Its buffers are registered, and read by the peer */
static int call_delivered(struct nth_env *env)
{
	const struct kvec iov = { env->mem, NTH_LEN };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	return fi_recv(env->b.ep, env->mem + PAGE_SIZE, NTH_LEN, NULL, FI_ADDR_UNSPEC, NULL) ? :
	       fi_sendmsg(env->a.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE) ? :
	       nth_await(env->a.cq) ? : nth_await(env->b.rx_cq);
}

/* A message that comes before its receive is kept, or waits in its buffer */
static int call_unexpected(struct nth_env *env)
{
	return fi_tsend(env->a.ep, env->mem, NTH_LEN, NULL, 0, 7, NULL) ? :
	       nth_await(env->a.cq) ? :
	       fi_trecv(env->b.ep, env->mem + PAGE_SIZE, NTH_LEN, NULL, FI_ADDR_UNSPEC, 7, 0,
			NULL) ? :
	       nth_await(env->b.rx_cq);
}

static int call_fetch(struct nth_env *env)
{
	return fi_fetch_atomic(env->a.ep, env->mem, 1, NULL, env->mem + PAGE_SIZE, NULL, 0,
			       fi_mr_addr(env->mr), fi_mr_key(env->mr), FI_UINT64, FI_SUM,
			       NULL) ? :
	       nth_await(env->a.cq);
}

/* b posts a tagged receive of some pages, and a reads or writes it */
static int tagged_rma(struct nth_env *env, bool read)
{
	const struct kvec iov = { env->mem, 2 * PAGE_SIZE };
	const struct fi_rma_iov rma = { .len = iov.iov_len, .key = NTH_TAG };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
	};
	const u64 flags = FI_TAGGED | FI_COMPLETION;
	int ret;

	ret = fi_trecv(env->b.ep, env->mem + 2 * PAGE_SIZE, 2 * PAGE_SIZE, NULL, FI_ADDR_UNSPEC,
		       NTH_TAG, 0, NULL);
	if (ret)
		return ret;
	ret = read ? fi_readmsg(env->a.ep, &msg, flags) : fi_writemsg(env->a.ep, &msg, flags);
	return ret ? : nth_await(env->a.cq) ? : nth_await(env->b.rx_cq);
}

static int call_tagged_read(struct nth_env *env)
{
	return tagged_rma(env, true);
}

static int call_tagged_write(struct nth_env *env)
{
	return tagged_rma(env, false);
}

/* No receive has the tag */
static int call_tagged_refused(struct nth_env *env)
{
	const struct kvec iov = { env->mem, NTH_LEN };
	const struct fi_rma_iov rma = { .len = iov.iov_len, .key = NTH_TAG };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
	};
	int ret = fi_writemsg(env->a.ep, &msg, FI_TAGGED | FI_COMPLETION);

	if (ret)
		return ret;
	ret = nth_await(env->a.cq);
	return ret == -FI_ENOMSG ? 0 : ret ? : -EUCLEAN;
}

static int call_mr(struct nth_env *env)
{
	int ret = fi_mr_reg(env->domain, env->mem, PAGE_SIZE, FI_REMOTE_READ, 0, 1, 0, &env->mr,
			    NULL);

	if (!ret)
		nth_keep(env, &env->mr->fid);
	return ret;
}

static int call_close(struct nth_env *env)
{
	int ret = fi_close(&env->a.ep->fid);

	if (!ret)
		nth_forget(env, &env->a.ep->fid);
	return ret;
}

const struct nth_path nth_rdm_paths[] = {
	{ "fi_endpoint", NULL, call_endpoint },
	{ "fi_enable", prepare_bound, call_enable, NTH_DEVICE },
	{ "fi_mr_reg", NULL, call_mr },
	{ "first message", prepare_ends, call_ping, NTH_FINAL | NTH_FREE | NTH_WORKS,
	  NTH_CONN_ERRNOS },
	{ "message to be delivered", prepare_joined, call_delivered,
	  NTH_FINAL | NTH_FREE | NTH_WORKS },
	{ "unexpected message", prepare_joined, call_unexpected, NTH_SURE | NTH_FREE },
	{ "fetch", prepare_joined, call_fetch, NTH_SURE | NTH_FREE | NTH_ATOMIC },
	{ "tagged read", prepare_joined, call_tagged_read, NTH_SURE | NTH_FREE | NTH_TAGGED_RMA },
	{ "tagged write", prepare_joined, call_tagged_write,
	  NTH_SURE | NTH_FREE | NTH_TAGGED_RMA },
	{ "refused write", prepare_joined, call_tagged_refused,
	  NTH_SURE | NTH_FREE | NTH_TAGGED_RMA },
	{ "close", prepare_joined, call_close, NTH_SURE },
};

const unsigned int nth_rdm_count = ARRAY_SIZE(nth_rdm_paths);
