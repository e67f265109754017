// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Paths of connections: made, accepted, refused, used for what allocates, ended.
 *
 * fi_connect() only begins, so its failure may be an event; that, too, is final for
 * the endpoint.  What comes later is done by workers of the connection managers.
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "nth.h"

#define NTH_LEN		100
#define NTH_ROOM	(2 * PAGE_SIZE)
/* All of a connection */
#define NTH_MAKES	(NTH_FINAL | NTH_JOINS | NTH_WORKS)

static int prepare_client(struct nth_env *env)
{
	return nth_end_open(env, &env->a, env->info, 2);
}

/* Either all stands and works, or a is told */
static int call_connection(struct nth_env *env)
{
	int ret, err = nth_request(env);

	if (err)
		return err;
	ret = nth_join(env);
	nth_pause(env);
	if (!ret)
		err = nth_ping(env);
	nth_resume(env);
	return ret ? : err;
}

static int call_connect(struct nth_env *env)
{
	int ret = nth_request(env);

	nth_pause(env);
	if (!ret)
		ret = nth_join(env) ? : nth_ping(env);
	nth_resume(env);
	return ret;
}

static int prepare_request(struct nth_env *env)
{
	return prepare_client(env) ? : nth_request(env);
}

static int call_passive(struct nth_env *env)
{
	return nth_ep_open(env, &env->b, env->request);
}

static int prepare_accept(struct nth_env *env)
{
	return prepare_request(env) ? :
	       nth_end_open(env, &env->b, env->request, 0);
}

/* Whatever fi_accept() says, a learns the same */
static int call_accept(struct nth_env *env)
{
	int err, ret = fi_accept(env->b.ep, NULL, 0);

	nth_pause(env);
	if (ret)
		err = nth_refused(env);
	else
		err = nth_joined(env) ? : nth_ping(env);
	nth_resume(env);
	return err ? : ret;
}

static int call_reject(struct nth_env *env)
{
	int err, ret = fi_reject(env->pep, env->request->handle, "no", 2);

	nth_pause(env);
	err = nth_refused(env);
	nth_resume(env);
	return err ? : ret;
}

static int prepare_connected(struct nth_env *env)
{
	return prepare_request(env) ? : nth_join(env);
}

static int call_close_active(struct nth_env *env)
{
	int ret = fi_close(&env->a.ep->fid);

	if (!ret)
		nth_forget(env, &env->a.ep->fid);
	return ret;
}

static int call_close_passive(struct nth_env *env)
{
	int ret = fi_close(&env->b.ep->fid);

	if (!ret)
		nth_forget(env, &env->b.ep->fid);
	return ret;
}

static int call_shutdown(struct nth_env *env)
{
	return fi_shutdown(env->a.ep, 0);
}

int nth_target(struct nth_env *env)
{
	int ret = prepare_connected(env);

	if (ret)
		return ret;
	ret = fi_mr_reg(env->domain, env->mem + 4 * PAGE_SIZE, 2 * PAGE_SIZE,
			FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &env->mr, NULL);
	if (!ret)
		nth_keep(env, &env->mr->fid);
	return ret;
}

/* Gaps between the elements; the list does not outlive the call, so it is awaited */
int nth_move(struct nth_env *env, bool read, unsigned int parts)
{
	static struct scatterlist sgl[NTH_PARTS];
	u64 addr = (uintptr_t)env->mem + 4 * PAGE_SIZE;
	size_t len = NTH_ROOM / parts / 2;
	unsigned int i;
	int ret;

	sg_init_table(sgl, parts);
	for (i = 0; i < parts; i++)
		sg_set_buf(&sgl[i], env->mem + i * NTH_ROOM / parts, len);
	if (read)
		ret = fi_readsgl(env->a.ep, sgl, parts, 0, parts * len, 0, addr,
				 fi_mr_key(env->mr), NULL, FI_COMPLETION);
	else
		ret = fi_writesgl(env->a.ep, sgl, parts, 0, parts * len, 0, addr,
				  fi_mr_key(env->mr), NULL, FI_COMPLETION);
	nth_pause(env);
	if (!ret)
		ret = nth_await(env->a.cq);
	nth_resume(env);
	return ret;
}

static int call_readsgl(struct nth_env *env)
{
	return nth_move(env, true, 2);
}

static int call_writesgl(struct nth_env *env)
{
	return nth_move(env, false, 2);
}

/* A write into a tagged receive, where the provider has that */
static int call_tagged_write(struct nth_env *env)
{
	const struct kvec iov = { env->mem, NTH_LEN };
	const struct fi_rma_iov rma = { .len = NTH_LEN, .key = 7 };
	const struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
	};
	int ret;

	if (!(env->info->caps & FI_TAGGED_RMA))
		return 0;
	ret = fi_trecv(env->b.ep, env->mem + PAGE_SIZE, NTH_LEN, NULL, FI_ADDR_UNSPEC, 7, 0,
		       NULL) ? :
	      fi_writemsg(env->a.ep, &msg, FI_TAGGED | FI_COMPLETION);
	nth_pause(env);
	if (!ret)
		ret = nth_await(env->a.cq) ? : nth_await(env->b.rx_cq);
	nth_resume(env);
	return ret;
}

const struct nth_path nth_conn_paths[] = {
	{ "connection", prepare_client, call_connection, NTH_MAKES, NTH_CONN_ERRNOS },
	{ "fi_connect", prepare_client, call_connect, NTH_FINAL | NTH_WORKS, NTH_CONN_ERRNOS },
	{ "fi_endpoint, request", prepare_request, call_passive },
	{ "fi_accept", prepare_accept, call_accept, NTH_FINAL | NTH_JOINS | NTH_DEVICE,
	  NTH_CONN_ERRNOS },
	{ "fi_reject", prepare_request, call_reject, NTH_FINAL | NTH_FREE, NTH_CONN_ERRNOS },
	{ "fi_shutdown", prepare_connected, call_shutdown, NTH_SURE },
	{ "close, active", prepare_connected, call_close_active, NTH_SURE },
	{ "close, passive", prepare_connected, call_close_passive, NTH_SURE },
	{ "fi_readsgl", nth_target, call_readsgl, NTH_ENDS | NTH_DEVICE, { -EINVAL } },
	{ "fi_writesgl", nth_target, call_writesgl, NTH_ENDS | NTH_DEVICE, { -EINVAL } },
	{ "tagged write", prepare_connected, call_tagged_write, NTH_SURE },
};

const unsigned int nth_conn_count = ARRAY_SIZE(nth_conn_paths);
