// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Paths of scalable endpoints: opening one and its contexts, binding, enabling, closing.
 */
#include <linux/string.h>
#include <rdma/fabric.h>
#include "nth.h"

#define NTH_BITS	1

/* An endpoint without connections, in place of the one that the other paths have */
static int prepare_info(struct nth_env *env)
{
	struct fi_info *hints, *info;
	int ret;

	if (env->rdm)
		return 0;
	hints = fi_dupinfo(env->hints);
	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_NAMED_RX_CTX;
	hints->ep_attr->type = FI_EP_RDM;
	hints->ep_attr->tx_ctx_cnt = 2;
	hints->ep_attr->rx_ctx_cnt = 2;
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), "127.0.0.1", 0,
			 FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	env->rdm = nth_dup(env, info);
	fi_freeinfo(info);
	return env->rdm ? 0 : -ENOMEM;
}

static int call_sep(struct nth_env *env)
{
	int ret = fi_scalable_ep(env->domain, env->rdm, &env->sep, NULL);

	if (!ret)
		nth_keep(env, &env->sep->fid);
	return ret;
}

static int prepare_sep(struct nth_env *env)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .rx_ctx_bits = NTH_BITS };
	struct fid_av *av;
	int ret = prepare_info(env);

	if (!ret)
		ret = fi_av_open(env->domain, &attr, &av, NULL);
	if (ret)
		return ret;
	nth_keep(env, &av->fid);
	ret = nth_cq_open(env, FI_WAIT_UNSPEC, &env->a.cq);
	if (!ret)
		ret = call_sep(env);
	return ret ? : fi_scalable_ep_bind(env->sep, &av->fid, 0);
}

static int call_tx(struct nth_env *env)
{
	int ret = fi_tx_context(env->sep, 1, NULL, &env->a.ep, NULL);

	if (!ret)
		nth_keep(env, &env->a.ep->fid);
	return ret;
}

static int call_rx(struct nth_env *env)
{
	int ret = fi_rx_context(env->sep, 1, NULL, &env->b.ep, NULL);

	if (!ret)
		nth_keep(env, &env->b.ep->fid);
	return ret;
}

static int prepare_contexts(struct nth_env *env)
{
	int ret = prepare_sep(env) ? : call_tx(env) ? : call_rx(env);

	return ret ? : fi_ep_bind(env->b.ep, &env->a.cq->fid, FI_RECV);
}

static int call_bind(struct nth_env *env)
{
	return fi_ep_bind(env->a.ep, &env->a.cq->fid, FI_TRANSMIT);
}

static int prepare_bound(struct nth_env *env)
{
	return prepare_contexts(env) ? : call_bind(env);
}

static int call_enable(struct nth_env *env)
{
	return fi_enable(env->a.ep) ? : fi_enable(env->b.ep) ? : fi_enable(env->sep);
}

static int prepare_enabled(struct nth_env *env)
{
	return prepare_bound(env) ? : call_enable(env);
}

static int nth_close_kept(struct nth_env *env, struct fid *fid)
{
	int ret = fi_close(fid);

	if (!ret)
		nth_forget(env, fid);
	return ret;
}

static int call_close(struct nth_env *env)
{
	return nth_close_kept(env, &env->b.ep->fid) ? : nth_close_kept(env, &env->a.ep->fid) ? :
	       nth_close_kept(env, &env->sep->fid);
}

const struct nth_path nth_sep_paths[] = {
	{ "fi_scalable_ep", prepare_info, call_sep },
	{ "fi_tx_context", prepare_sep, call_tx },
	{ "fi_rx_context", prepare_sep, call_rx },
	{ "fi_ep_bind, context", prepare_contexts, call_bind },
	{ "fi_enable, contexts", prepare_bound, call_enable, NTH_DEVICE | NTH_FINAL },
	{ "fi_scalable_ep, close", prepare_enabled, call_close, NTH_SURE },
};

const unsigned int nth_sep_count = ARRAY_SIZE(nth_sep_paths);
