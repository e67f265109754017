// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the paths stand on: a device, objects, a listener, and connections of the
 * case with itself.
 *
 * Nothing here asserts, because a call in the middle of it may fail on purpose; the
 * errno goes up instead.  One event queue takes all events, so that whatever comes
 * of a connection is met in the order in which it comes.
 *
 * A connection that fails may leave its request behind; the serial number in the
 * requests tells it from the next one's.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/fabric.h>
#include <rdma/fi_rma.h>
#include "nth.h"

#define NTH_ORDER	3	/* NTH_PAGES */

/**
 * struct nth_news - An event
 * @fid: whom it concerns
 * @event: FI_*
 * @err: 0, or the error in its place: negative errno
 * @info: of a request; the receiver's
 * @serial: of a request
 */
struct nth_news {
	fid_t		fid;
	u32		event;
	int		err;
	struct fi_info	*info;
	u32		serial;
};

void nth_keep(struct nth_env *env, struct fid *fid)
{
	if (WARN_ON_ONCE(env->nr_fids == NTH_FIDS))
		return;
	env->fids[env->nr_fids++] = fid;
}

/* The path has closed it */
void nth_forget(struct nth_env *env, struct fid *fid)
{
	unsigned int i;

	for (i = 0; i < env->nr_fids; i++)
		if (env->fids[i] == fid)
			break;
	if (i == env->nr_fids)
		return;
	env->nr_fids--;
	memmove(&env->fids[i], &env->fids[i + 1], (env->nr_fids - i) * sizeof(env->fids[0]));
}

/* The info is freed when the environment is closed */
struct fi_info *nth_dup(struct nth_env *env, const struct fi_info *info)
{
	struct fi_info *copy = NULL;

	if (env->nr_infos < NTH_INFOS)
		copy = fi_dupinfo(info);
	if (copy)
		env->infos[env->nr_infos++] = copy;
	return copy;
}

/* Returns 1, 0: nothing came, or a negative errno */
static int nth_hear(struct nth_env *env, struct nth_news *news, int timeout)
{
	union {
		struct fi_eq_cm_entry	cm;
		struct fi_eq_entry	entry;
		u8			raw[128];
	} event;
	struct fi_eq_err_entry error = {};
	ssize_t ret;

	*news = (struct nth_news) {};
	ret = fi_eq_sread(env->eq, &news->event, &event, sizeof(event), timeout, 0);
	if (ret == -FI_EAVAIL) {
		ret = fi_eq_readerr(env->eq, &error, 0);
		news->fid = error.fid;
		news->err = -error.err;
	} else if (ret > 0) {
		news->fid = event.cm.fid;
	}
	if (ret > 0 && !news->err && news->event == FI_CONNREQ) {
		news->info = event.cm.info;
		if (ret >= sizeof(event.cm) + sizeof(news->serial))
			memcpy(&news->serial, event.cm.data, sizeof(news->serial));
	}
	return ret > 0 ? 1 : ret == -EAGAIN ? 0 : ret;
}

static void nth_decline(struct nth_env *env, struct fi_info *info)
{
	if (!info)
		return;
	/* Of one that an endpoint has taken, this is refused */
	fi_reject(env->pep, info->handle, NULL, 0);
	fi_freeinfo(info);
}

/* Closes what is newer, and is rid of its events */
void nth_drop(struct nth_env *env, unsigned int to)
{
	struct nth_news news;

	/* Over iWARP, who has asked cannot leave before he has got an answer */
	nth_decline(env, env->request);
	env->request = NULL;
	while (env->nr_fids > to)
		KUNIT_EXPECT_EQ(env->test, fi_close(env->fids[--env->nr_fids]), 0);
	while (nth_hear(env, &news, 0) > 0)
		nth_decline(env, news.info);
	env->a = (struct nth_end) {};
	env->b = (struct nth_end) {};
}

int nth_cq_open(struct nth_env *env, enum fi_wait_obj wait_obj, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {
		.size		= 4 * NTH_DEPTH,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= wait_obj,
	};
	int ret = fi_cq_open(env->domain, &attr, cq, NULL);

	if (!ret)
		nth_keep(env, &(*cq)->fid);
	return ret;
}

/* Bound to nothing yet */
int nth_ep_open(struct nth_env *env, struct nth_end *end, struct fi_info *info)
{
	int ret = fi_endpoint(env->domain, info, &end->ep, NULL);

	if (!ret)
		nth_keep(env, &end->ep->fid);
	return ret;
}

/* With its queues, and enabled; the completion queues may be set before */
int nth_end_open(struct nth_env *env, struct nth_end *end, struct fi_info *info, size_t rw_ops)
{
	struct tb_end what = { .eq = env->eq, .rw_ops = rw_ops };
	int ret = 0;

	if (!end->cq)
		ret = nth_cq_open(env, FI_WAIT_UNSPEC, &end->cq);
	if (!end->rx_cq)
		end->rx_cq = end->cq;
	ret = ret ? : nth_ep_open(env, end, info);
	what.ep = end->ep;
	what.tx = end->cq;
	what.rx = end->rx_cq;
	if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		what.srx = env->srx;
	return ret ? : tb_end_bind(&what) ? : fi_enable(end->ep);
}

/* The request of the latest connection, or how that ended without one */
static int nth_hear_request(struct nth_env *env)
{
	struct nth_news news;
	int ret;

	for (;;) {
		ret = nth_hear(env, &news, NTH_PATIENCE_MS);
		if (ret <= 0)
			return ret ? : -EUCLEAN;
		if (news.info && news.serial == env->serial) {
			env->request = news.info;
			return 0;
		}
		nth_decline(env, news.info);
		if (news.fid == &env->a.ep->fid)
			return news.err ? : -EUCLEAN;
	}
}

int nth_request(struct nth_env *env)
{
	u32 serial = ++env->serial;

	return fi_connect(env->a.ep, &env->name, &serial, sizeof(serial)) ? :
	       nth_hear_request(env);
}

/* The first error counts; b has something to say only if it has accepted */
int nth_joined(struct nth_env *env)
{
	bool a = false, b = !env->b.ep;
	struct nth_news news;
	int ret, err = 0;

	while (!err && !(a && b)) {
		ret = nth_hear(env, &news, NTH_PATIENCE_MS);
		if (ret <= 0)
			return ret ? : -EUCLEAN;
		nth_decline(env, news.info);
		if (news.event == FI_SHUTDOWN && !news.err)
			err = -ECONNABORTED;
		else if (news.info)
			continue;
		err = err ? : news.err;
		a |= news.fid == &env->a.ep->fid;
		b |= env->b.ep && news.fid == &env->b.ep->fid;
	}
	return err;
}

int nth_join(struct nth_env *env)
{
	return nth_end_open(env, &env->b, env->request, 0) ? :
	       fi_accept(env->b.ep, NULL, 0) ? : nth_joined(env);
}

/* -EUCLEAN: it is not */
int nth_refused(struct nth_env *env)
{
	struct nth_news news;
	int ret;

	do {
		ret = nth_hear(env, &news, NTH_PATIENCE_MS);
		if (ret <= 0)
			return ret ? : -EUCLEAN;
		nth_decline(env, news.info);
	} while (news.fid != &env->a.ep->fid);
	return news.err ? 0 : -EUCLEAN;
}

/* The next completion of the queue; a negative errno if it is an error */
int nth_await(struct fid_cq *cq)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	ret = vt_in_time(NTH_PATIENCE_MS, fi_cq_sread(cq, &entry, 1, NULL, NTH_PATIENCE_MS));
	if (ret == -FI_EAVAIL)
		ret = fi_cq_readerr(cq, &error, 0) == 1 ? -error.err : -EUCLEAN;
	return ret == 1 ? 0 : ret;
}

int nth_ping(struct nth_env *env)
{
	u8 *out = env->mem, *in = env->mem + PAGE_SIZE;
	int ret;

	memset(out, ++env->serial, 64);
	memset(in, 0, 64);
	ret = fi_recv(env->b.ep, in, 64, NULL, 0, NULL) ? :
	      fi_send(env->a.ep, out, 64, NULL, 0, NULL) ? :
	      nth_await(env->a.cq) ? : nth_await(env->b.rx_cq);
	return ret ? : memcmp(in, out, 64) ? -EIO : 0;
}

bool nth_is_verbs(const struct nth_env *env)
{
	return !strcmp(env->prov, "verbs");
}

static struct fi_info *nth_hints(const struct nth_env *env)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA | (env->dmabuf ? FI_HMEM : 0) |
		      (env->pmem ? FI_RMA_PMEM : 0) |
		      (strcmp(env->prov, "loop") ? 0 : FI_TAGGED | FI_TAGGED_RMA) | env->caps;
	hints->ep_attr->type = env->connless ? FI_EP_RDM : FI_EP_MSG;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->tx_attr->size = NTH_DEPTH;
	hints->rx_attr->size = NTH_DEPTH;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = kstrdup(env->prov, GFP_KERNEL);
	if (env->hca)
		hints->domain_attr->name = kstrdup(fakehca_name(env->hca), GFP_KERNEL);
	return hints;
}

/* The ways to use the device; no others are asked, which takes its time */
int nth_getinfo(struct nth_env *env, struct fi_info **info)
{
	const char *node = env->hca ? FAKEHCA_ADDR :
			   nth_is_verbs(env) ? "0.0.0.0" : "127.0.0.1";

	return fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node,
			  0, FI_SOURCE, env->hints, info);
}

static int nth_find(struct nth_env *env)
{
	struct fi_info *info;
	int ret;

	env->hints = nth_hints(env);
	if (!env->hints)
		return -ENOMEM;
	env->infos[env->nr_infos++] = env->hints;
	ret = nth_getinfo(env, &info);
	if (ret)
		return ret;
	env->info = nth_dup(env, info);
	fi_freeinfo(info);
	return env->info ? 0 : -ENOMEM;
}

static int nth_listen(struct nth_env *env)
{
	size_t len = sizeof(env->name);
	int ret;

	ret = fi_passive_ep(env->fabric, env->info, &env->pep, NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->pep->fid);
	return fi_pep_bind(env->pep, &env->eq->fid, 0) ? :
	       fi_listen(env->pep) ? :
	       fi_getname(&env->pep->fid, &env->name, &len);
}

static int nth_base(struct nth_env *env)
{
	int ret;

	ret = nth_find(env);
	if (ret)
		return ret;
	ret = fi_fabric(env->info->fabric_attr, &env->fabric, NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->fabric->fid);
	ret = fi_eq_open(env->fabric, NULL, &env->eq, NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->eq->fid);
	ret = fi_domain(env->fabric, env->info, &env->domain, NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->domain->fid);
	return env->connless ? 0 : nth_listen(env);
}

int nth_env_open(struct nth_env *env, struct kunit *test, const char *prov,
		 const struct fakehca_attr *attr)
{
	*env = (struct nth_env) {
		.test = test, .prov = prov, .dmabuf = env->dmabuf, .pmem = env->pmem,
		.caps = env->caps, .connless = env->connless,
	};
	env->mem = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, NTH_ORDER);
	if (!env->mem)
		return -ENOMEM;
	if (attr)
		env->hca = fakehca_create(attr);
	if (IS_ERR(env->hca)) {
		int ret = PTR_ERR(env->hca);

		env->hca = NULL;
		return ret;
	}
	return nth_base(env);
}

static void nth_hca_close(struct nth_env *env)
{
	struct fakehca_stats stats;

	fakehca_idle(env->hca);
	fakehca_get_stats(env->hca, &stats);
	KUNIT_EXPECT_EQ(env->test, stats.mapped, 0);
	KUNIT_EXPECT_EQ(env->test, stats.bad_unmaps, 0);
	KUNIT_EXPECT_EQ(env->test, stats.faults, 0);
	KUNIT_EXPECT_EQ(env->test, stats.pds, 0);
	KUNIT_EXPECT_EQ(env->test, stats.cqs, 0);
	KUNIT_EXPECT_EQ(env->test, stats.qps, 0);
	KUNIT_EXPECT_EQ(env->test, stats.srqs, 0);
	KUNIT_EXPECT_EQ(env->test, stats.mrs, 0);
	fakehca_destroy(env->hca);
}

void nth_env_close(struct nth_env *env)
{
	/* All but the fabric and the queue, which is needed for that */
	if (env->eq)
		nth_drop(env, 2);
	while (env->nr_fids)
		KUNIT_EXPECT_EQ(env->test, fi_close(env->fids[--env->nr_fids]), 0);
	if (env->hca)
		nth_hca_close(env);
	while (env->nr_infos)
		fi_freeinfo(env->infos[--env->nr_infos]);
	free_pages((unsigned long)env->mem, NTH_ORDER);
}
