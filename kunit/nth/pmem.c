// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Paths of persistent memory over verbs: what a domain, a connection and a region allocate
 * besides, and a save, which allocates nothing in its caller's name.
 */
#include <linux/mm.h>
#include <rdma/fi_rma.h>
#include "nth.h"

#define NTH_LEN	100

static int call_reg(struct nth_env *env)
{
	const struct kvec kvec = { env->pmem, PAGE_SIZE };
	const struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	int ret = fi_mr_regattr(env->domain, &attr, FI_RMA_PMEM, &env->mr);

	if (!ret)
		nth_keep(env, &env->mr->fid);
	return ret;
}

static int prepare_client(struct nth_env *env)
{
	return nth_end_open(env, &env->a, env->info, 0);
}

/* A connection, and the region that its target registers */
static int prepare_saves(struct nth_env *env)
{
	return prepare_client(env) ? : nth_request(env) ? : nth_join(env) ? : call_reg(env);
}

static int nth_commit(struct nth_env *env, size_t len, u64 flags)
{
	struct fi_rma_iov remote = { (uintptr_t)env->pmem, len, fi_mr_key(env->mr) };
	struct kvec iov = { env->mem, len };
	const struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= len ? 1 : 0,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
	};
	int ret = fi_writemsg(env->a.ep, &msg, flags | FI_COMPLETION | FI_COMMIT_COMPLETE);

	nth_pause(env);
	if (!ret)
		ret = nth_await(env->a.cq);
	nth_resume(env);
	return ret;
}

static int call_commit(struct nth_env *env)
{
	return nth_commit(env, NTH_LEN, 0);
}

static int call_save(struct nth_env *env)
{
	return nth_commit(env, 0, FI_SAVE);
}

static int prepare_written(struct nth_env *env)
{
	int ret = prepare_saves(env) ? : fi_write(env->a.ep, env->mem, NTH_LEN, NULL, 0,
						  (uintptr_t)env->pmem, fi_mr_key(env->mr), NULL);

	return ret ? : nth_await(env->a.cq);
}

const struct nth_path nth_pmem_paths[] = {
	{ "fi_domain, FI_RMA_PMEM", NULL, nth_open_lone },
	{ "fi_mr_regattr, FI_RMA_PMEM", NULL, call_reg },
	{ "fi_writemsg, commit", prepare_saves, call_commit, NTH_FINAL | NTH_FREE,
	  NTH_CONN_ERRNOS },
	{ "fi_writemsg, FI_SAVE", prepare_written, call_save, NTH_FINAL | NTH_FREE,
	  NTH_CONN_ERRNOS },
};

const unsigned int nth_pmem_count = ARRAY_SIZE(nth_pmem_paths);
