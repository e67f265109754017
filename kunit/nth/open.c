// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Paths without a connection: discovery, opening, binding, enabling, registering,
 * closing.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/fabric.h>
#include <rdma/fi_rma.h>
#include "nth.h"

#define NTH_REMOTE	(FI_REMOTE_READ | FI_REMOTE_WRITE)

/* Keeps a new object */
static int nth_opened(struct nth_env *env, int ret, struct fid *fid)
{
	if (!ret)
		nth_keep(env, fid);
	return ret;
}

static int nth_close(struct nth_env *env, struct fid *fid)
{
	int ret = fi_close(fid);

	if (!ret)
		nth_forget(env, fid);
	return ret;
}

static unsigned int nth_count(const struct fi_info *info)
{
	unsigned int count;

	for (count = 0; info; info = info->next)
		count++;
	return count;
}

/* How many there are with nothing failing */
static int prepare_getinfo(struct nth_env *env)
{
	struct fi_info *info;
	int ret = nth_getinfo(env, &info);

	if (ret)
		return ret;
	env->serial = nth_count(info);
	fi_freeinfo(info);
	return 0;
}

/* A list that lacks something is no answer */
static int call_getinfo(struct nth_env *env)
{
	struct fi_info *info;
	int ret = nth_getinfo(env, &info);

	if (ret)
		return ret;
	if (nth_count(info) != env->serial)
		ret = -EUCLEAN;
	fi_freeinfo(info);
	return ret;
}

static int call_dupinfo(struct nth_env *env)
{
	struct fi_info *copy = fi_dupinfo(env->info);

	fi_freeinfo(copy);
	return copy ? 0 : -ENOMEM;
}

static int call_fabric(struct nth_env *env)
{
	struct fid_fabric *fabric = NULL;
	int ret = fi_fabric(env->info->fabric_attr, &fabric, NULL);

	return nth_opened(env, ret, &fabric->fid);
}

int nth_open_lone(struct nth_env *env)
{
	int ret = fi_domain(env->fabric, env->info, &env->lone, NULL);

	return nth_opened(env, ret, &env->lone->fid);
}

static int call_eq(struct nth_env *env)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_eq *eq = NULL;
	int ret = fi_eq_open(env->fabric, &attr, &eq, NULL);

	return nth_opened(env, ret, &eq->fid);
}

static int call_cq_direct(struct nth_env *env)
{
	struct fid_cq *cq;

	return nth_cq_open(env, FI_WAIT_NONE, &cq);
}

static int call_cq_softirq(struct nth_env *env)
{
	return nth_cq_open(env, FI_WAIT_UNSPEC, &env->a.cq);
}

static void nth_handler(struct fid_cq *cq, void *context)
{
}

static int call_cq_worker(struct nth_env *env)
{
	struct fi_cq_attr attr = {
		.size		= NTH_DEPTH,
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= FI_COMP_WORKQUEUE,
		.flags		= FI_AFFINITY,
		.handler	= nth_handler,
	};
	struct fid_cq *cq = NULL;
	int ret = fi_cq_open(env->domain, &attr, &cq, NULL);

	return nth_opened(env, ret, &cq->fid);
}

static int call_cntr(struct nth_env *env)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	int ret = fi_cntr_open(env->domain, &attr, &env->cntr, NULL);

	return nth_opened(env, ret, &env->cntr->fid);
}

static int call_srx(struct nth_env *env)
{
	struct fi_rx_attr attr = { .size = NTH_DEPTH };
	int ret = fi_srx_context(env->domain, &attr, &env->srx, NULL);

	return nth_opened(env, ret, &env->srx->fid);
}

static int call_srx_bind(struct nth_env *env)
{
	return fi_ep_bind(env->srx, &env->eq->fid, 0);
}

static int prepare_srx_bound(struct nth_env *env)
{
	return call_srx(env) ? : call_srx_bind(env);
}

static int call_srx_limit(struct nth_env *env)
{
	size_t limit = 1;

	return fi_setopt(&env->srx->fid, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT, &limit, sizeof(limit));
}

static int call_srx_close(struct nth_env *env)
{
	return nth_close(env, &env->srx->fid);
}

static int call_pep(struct nth_env *env)
{
	int ret = fi_passive_ep(env->fabric, env->info, &env->spare, NULL);

	return nth_opened(env, ret, &env->spare->fid);
}

static int call_pep_bind(struct nth_env *env)
{
	return fi_pep_bind(env->spare, &env->eq->fid, 0);
}

static int prepare_pep_bound(struct nth_env *env)
{
	return call_pep(env) ? : call_pep_bind(env);
}

static int call_listen(struct nth_env *env)
{
	return fi_listen(env->spare);
}

static int prepare_listening(struct nth_env *env)
{
	return prepare_pep_bound(env) ? : call_listen(env);
}

static int call_pep_close(struct nth_env *env)
{
	return nth_close(env, &env->spare->fid);
}

static int call_endpoint(struct nth_env *env)
{
	return nth_ep_open(env, &env->a, env->info);
}

static int call_bind_eq(struct nth_env *env)
{
	return fi_ep_bind(env->a.ep, &env->eq->fid, 0);
}

static int prepare_queues(struct nth_env *env)
{
	return call_cq_softirq(env) ? : call_endpoint(env);
}

static int call_bind_cq(struct nth_env *env)
{
	return fi_ep_bind(env->a.ep, &env->a.cq->fid, FI_TRANSMIT | FI_RECV);
}

static int prepare_cntr(struct nth_env *env)
{
	return call_cntr(env) ? : call_endpoint(env);
}

static int call_bind_cntr(struct nth_env *env)
{
	return fi_ep_bind(env->a.ep, &env->cntr->fid, FI_SEND | FI_RECV);
}

static int call_set_raw(struct nth_env *env)
{
	int raw = 1;

	return fi_setopt(&env->a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_RAW, &raw, sizeof(raw));
}

static int call_set_rw_ops(struct nth_env *env)
{
	size_t rw_ops = 2;

	return fi_setopt(&env->a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS,
			 &rw_ops, sizeof(rw_ops));
}

static int prepare_bound(struct nth_env *env)
{
	return prepare_queues(env) ? : call_bind_eq(env) ? : call_bind_cq(env);
}

static int call_enable(struct nth_env *env)
{
	return fi_enable(env->a.ep);
}

static int prepare_rw_ops(struct nth_env *env)
{
	return prepare_bound(env) ? : call_set_rw_ops(env);
}

static struct fi_info *nth_shared_info(struct nth_env *env)
{
	struct fi_info *info = nth_dup(env, env->info);

	if (info)
		info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	return info;
}

/* An endpoint that shares its receives, with a queue of its own for them */
static int nth_shared(struct nth_env *env)
{
	struct fi_info *info = nth_shared_info(env);
	int ret;

	if (!info)
		return -ENOMEM;
	ret = call_srx(env) ? : call_cq_softirq(env) ? :
	      nth_cq_open(env, FI_WAIT_UNSPEC, &env->a.rx_cq) ? :
	      nth_ep_open(env, &env->a, info);
	fi_freeinfo(env->infos[--env->nr_infos]);
	return ret;
}

static int call_bind_srx(struct nth_env *env)
{
	return fi_ep_bind(env->a.ep, &env->srx->fid, 0);
}

static int prepare_shared(struct nth_env *env)
{
	return nth_shared(env) ? : call_bind_srx(env) ? : call_bind_eq(env) ? :
	       fi_ep_bind(env->a.ep, &env->a.cq->fid, FI_TRANSMIT) ? :
	       fi_ep_bind(env->a.ep, &env->a.rx_cq->fid, FI_RECV);
}

static int prepare_enabled(struct nth_env *env)
{
	return prepare_rw_ops(env) ? : call_enable(env);
}

static int prepare_shared_enabled(struct nth_env *env)
{
	return prepare_shared(env) ? : call_enable(env);
}

static int call_ep_close(struct nth_env *env)
{
	return nth_close(env, &env->a.ep->fid);
}

/* Closes the endpoint that could not be enabled */
static int call_enable_close(struct nth_env *env)
{
	int ret = call_enable(env);

	if (!ret)
		return 0;
	return call_ep_close(env) ? : ret;
}

static int nth_reg(struct nth_env *env, struct fid_domain *domain, u8 *mem)
{
	int ret = fi_mr_reg(domain, mem, 100, NTH_REMOTE, 0, 0, 0, &env->mr, NULL);

	return nth_opened(env, ret, &env->mr->fid);
}

/* The first one of a domain connects it with itself */
static int call_first_reg(struct nth_env *env)
{
	return nth_reg(env, env->lone, env->mem);
}

static int call_reg(struct nth_env *env)
{
	return nth_reg(env, env->domain, env->mem);
}

static int prepare_reg(struct nth_env *env)
{
	return nth_open_lone(env) ? : call_first_reg(env);
}

static int call_second_reg(struct nth_env *env)
{
	return nth_reg(env, env->lone, env->mem + 7 * PAGE_SIZE);
}

static int call_regv(struct nth_env *env)
{
	struct kvec iov[] = {
		{ env->mem + PAGE_SIZE + 5, PAGE_SIZE - 5 },
		{ env->mem + 3 * PAGE_SIZE, PAGE_SIZE },
		{ env->mem + 5 * PAGE_SIZE, 9 },
	};
	int ret = fi_mr_regv(env->lone, iov, 3, NTH_REMOTE, 0, 0, 0, &env->mr, NULL);

	return nth_opened(env, ret, &env->mr->fid);
}

static int nth_regattr(struct nth_env *env, const struct fi_mr_attr *attr, u64 flags)
{
	int ret = fi_mr_regattr(env->lone, attr, flags, &env->mr);

	return nth_opened(env, ret, &env->mr->fid);
}

static int call_reg_bvec(struct nth_env *env)
{
	struct bio_vec bvec[2];
	struct fi_mr_attr attr = {
		.type		= FI_BUF_BVEC,
		.mr_bvec	= bvec,
		.iov_count	= 2,
		.access		= NTH_REMOTE,
	};

	bvec_set_page(&bvec[0], virt_to_page(env->mem + PAGE_SIZE), PAGE_SIZE, 0);
	bvec_set_page(&bvec[1], virt_to_page(env->mem + 3 * PAGE_SIZE), 7, 0);
	return nth_regattr(env, &attr, 0);
}

static int call_reg_sgl(struct nth_env *env)
{
	struct scatterlist sgl[2];
	struct fi_mr_attr attr = {
		.type		= FI_BUF_SGL,
		.mr_sgl		= sgl,
		.iov_count	= 2,
		.access		= FI_SEND | FI_RECV,
	};

	sg_init_table(sgl, 2);
	sg_set_buf(&sgl[0], env->mem + PAGE_SIZE + 100, PAGE_SIZE - 100);
	sg_set_buf(&sgl[1], env->mem + 4 * PAGE_SIZE, 20);
	return nth_regattr(env, &attr, 0);
}

static int nth_mr_ep(struct nth_env *env, struct fid_domain *domain)
{
	struct kvec iov = { env->mem, 2 * PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= NTH_REMOTE,
		.page_limit	= NTH_PAGES,
	};
	int ret = fi_mr_regattr(domain, &attr, FI_MR_ENDPOINT, &env->mr);

	return nth_opened(env, ret, &env->mr->fid);
}

static int call_mr_ep(struct nth_env *env)
{
	return nth_mr_ep(env, env->domain);
}

static int prepare_mr_ep(struct nth_env *env)
{
	return call_endpoint(env) ? : call_mr_ep(env);
}

static int call_mr_bind(struct nth_env *env)
{
	return fi_mr_bind(env->mr, &env->a.ep->fid, 0);
}

static int call_mr_refresh(struct nth_env *env)
{
	struct kvec iov = { env->mem + PAGE_SIZE, PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
	};

	return fi_mr_refresh(env->mr, &attr, 0);
}

static int call_mr_close(struct nth_env *env)
{
	return nth_close(env, &env->mr->fid);
}

static int prepare_used_domain(struct nth_env *env)
{
	int ret = prepare_reg(env);

	return ret ? : call_mr_close(env);
}

static int call_domain_close(struct nth_env *env)
{
	return nth_close(env, &env->lone->fid);
}

static int call_cq_close(struct nth_env *env)
{
	return nth_close(env, &env->a.cq->fid);
}

static int call_reg_dmabuf(struct nth_env *env)
{
	struct fi_mr_dmabuf piece = {
		.dmabuf	= env->dmabuf,
		.len	= PAGE_SIZE,
	};
	struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= NTH_REMOTE,
	};

	return nth_regattr(env, &attr, FI_MR_DMABUF);
}

const struct nth_path nth_dmabuf_path = {
	"fi_mr_regattr, dma-buf", nth_open_lone, call_reg_dmabuf,
};

const struct nth_path nth_open_paths[] = {
	{ "fi_getinfo", prepare_getinfo, call_getinfo, 0, { -ENODATA } },
	{ "fi_dupinfo", NULL, call_dupinfo },
	{ "fi_fabric", NULL, call_fabric },
	{ "fi_domain", NULL, nth_open_lone },
	{ "fi_domain, close", prepare_used_domain, call_domain_close, NTH_SURE },
	{ "fi_eq_open", NULL, call_eq },
	{ "fi_cq_open, direct", NULL, call_cq_direct, NTH_QUEUES },
	{ "fi_cq_open, softirq", NULL, call_cq_softirq, NTH_QUEUES },
	{ "fi_cq_open, worker", NULL, call_cq_worker, NTH_QUEUES },
	{ "fi_cq_open, close", call_cq_softirq, call_cq_close, NTH_SURE },
	{ "fi_cntr_open", NULL, call_cntr },
	{ "fi_srx_context", NULL, call_srx, NTH_QUEUES },
	{ "fi_srx_context, bind", call_srx, call_srx_bind },
	{ "fi_srx_context, limit", prepare_srx_bound, call_srx_limit, NTH_FREE },
	{ "fi_srx_context, close", prepare_srx_bound, call_srx_close, NTH_SURE },
	{ "fi_passive_ep", NULL, call_pep },
	{ "fi_pep_bind", call_pep, call_pep_bind },
	{ "fi_listen", prepare_pep_bound, call_listen, NTH_DEVICE },
	{ "fi_passive_ep, close", prepare_listening, call_pep_close, NTH_SURE },
	{ "fi_endpoint", NULL, call_endpoint },
	{ "fi_ep_bind, eq", call_endpoint, call_bind_eq },
	{ "fi_ep_bind, cq", prepare_queues, call_bind_cq },
	{ "fi_ep_bind, counter", prepare_cntr, call_bind_cntr },
	{ "fi_ep_bind, srx", nth_shared, call_bind_srx },
	{ "fi_setopt, raw", call_endpoint, call_set_raw, NTH_SURE | NTH_VERBS },
	{ "fi_setopt, rw operations", call_endpoint, call_set_rw_ops, NTH_DEVICE },
	{ "fi_enable", prepare_bound, call_enable, NTH_QUEUES | NTH_DEVICE },
	{ "fi_enable, rw operations", prepare_rw_ops, call_enable, NTH_QUEUES | NTH_DEVICE },
	{ "fi_enable, srx", prepare_shared, call_enable, NTH_QUEUES | NTH_DEVICE },
	{ "fi_enable, close", prepare_bound, call_enable_close,
	  NTH_FINAL | NTH_QUEUES | NTH_DEVICE },
	{ "fi_endpoint, close", prepare_enabled, call_ep_close, NTH_SURE },
	{ "fi_endpoint, close, srx", prepare_shared_enabled, call_ep_close, NTH_SURE },
	{ "fi_mr_reg, first", nth_open_lone, call_first_reg, NTH_JOINS, NTH_CONN_ERRNOS },
	{ "fi_mr_reg", NULL, call_reg, NTH_JOINS, NTH_CONN_ERRNOS },
	{ "fi_mr_reg, second", prepare_reg, call_second_reg },
	{ "fi_mr_regv", prepare_reg, call_regv },
	{ "fi_mr_regattr, bvec", prepare_reg, call_reg_bvec },
	{ "fi_mr_regattr, sgl", prepare_reg, call_reg_sgl },
	{ "fi_mr_reg, close", prepare_reg, call_mr_close, NTH_SURE },
	{ "FI_MR_ENDPOINT", NULL, call_mr_ep },
	{ "FI_MR_ENDPOINT, bind", prepare_mr_ep, call_mr_bind },
	{ "FI_MR_ENDPOINT, refresh", prepare_mr_ep, call_mr_refresh, NTH_FREE, { -EAGAIN } },
	{ "FI_MR_ENDPOINT, close", prepare_mr_ep, call_mr_close, NTH_SURE },
};

const unsigned int nth_open_count = ARRAY_SIZE(nth_open_paths);
