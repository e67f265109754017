// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory is short, or the device fails, at every point of every control call.
 *
 * kofi_nth_hca runs on a fake HCA, where also verbs can be made to fail and what is
 * left on the device is known; kofi_nth_verbs on any other device with an IPv4
 * address; kofi_nth_loop, kofi_nth_tcp, kofi_nth_rdm (tcp without connections) and, over loop,
 * kofi_nth_rxm on the loopback address; kofi_nth_hook there, too, with hooks by the parameter of
 * kofi.ko; kofi_nth_pmem on any device that has persistent memory.  What was not freed is for
 * kmemleak to find.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/compat.h>
#include <rdma/fi_reason.h>
#include "../lib/client.h"
#include "../lib/dmabuf.h"
#include "../lib/pmem.h"
#include "nth.h"

/**
 * struct nth_figures - What a suite has done
 * @paths: runs of a path with some means
 * @points: failure points of all of them
 */
static struct nth_figures {
	unsigned int	paths;
	unsigned int	points;
} nth_figures;

static const struct fakehca_attr nth_attr = { .cq_dim = true };

/* Number of the path that is a case's parameter */
static unsigned int nth_param;

static const struct nth_path *nth_nth_path(unsigned int i)
{
	if (i < nth_open_count)
		return &nth_open_paths[i];
	i -= nth_open_count;
	return i < nth_conn_count ? &nth_conn_paths[i] : NULL;
}

static int nth_suite_init(struct kunit_suite *suite)
{
	nth_figures = (struct nth_figures) {};
	return nth_init();
}

static void nth_suite_exit(struct kunit_suite *suite)
{
	kunit_info(suite, "%u paths with %u failure points\n",
		   nth_figures.paths, nth_figures.points);
	nth_exit();
}

static unsigned int nth_measure(struct nth_env *env, const struct nth_path *path,
				const struct nth_means *means)
{
	unsigned int points = nth_run(env, path, means);

	nth_figures.paths += !!points;
	nth_figures.points += points;
	if (points)
		kunit_info(env->test, "%s: %u %s\n", path->name, points, means->name);
	return points;
}

static struct nth_env *nth_env_new(struct kunit *test, const char *prov,
				   const struct fakehca_attr *attr)
{
	struct nth_env *env = vt_buf(test, sizeof(*env));
	int ret;

	nth_leak_begin();
	ret = nth_env_open(env, test, prov, attr);
	if (ret)
		nth_env_close(env);
	KUNIT_ASSERT_EQ(test, ret, 0);
	return env;
}

static void nth_env_end(struct nth_env *env)
{
	nth_env_close(env);
	nth_leak_end(env->test);
}

static unsigned int nth_run_path(struct kunit *test, const char *prov,
				 const struct fakehca_attr *attr, const struct nth_path *path,
				 const struct nth_means *means)
{
	struct nth_env *env = nth_env_new(test, prov, attr);
	unsigned int points = nth_measure(env, path, means);

	nth_env_end(env);
	return points;
}

/* A path is a parameter: what takes a minute is taken for hung */
static const void *nth_path_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct nth_path *path;

	nth_param = prev ? nth_param + 1 : 0;
	path = nth_nth_path(nth_param);
	if (path)
		strscpy(desc, path->name, KUNIT_PARAM_DESC_SIZE);
	return path;
}

/* With no points where there must be some, nothing has been tested */
static void nth_run_own(struct kunit *test, const struct fakehca_attr *attr,
			const struct nth_means *means)
{
	const struct nth_path *path = test->param_value;
	unsigned int points;

	if (path->traits & means->never)
		return;
	points = nth_run_path(test, "verbs", attr, path, means);
	if (!(path->traits & (NTH_SURE | NTH_FREE)))
		KUNIT_EXPECT_GT(test, points, 0);
}

static void every_allocation_of_the_caller_fails_once(struct kunit *test)
{
	nth_run_own(test, &nth_attr, &nth_own);
}

static void every_allocation_of_workers_fails_once(struct kunit *test)
{
	const struct nth_path *path = test->param_value;
	unsigned int points = nth_run_path(test, "verbs", &nth_attr, path, &nth_workers);

	if (path->traits & NTH_WORKS)
		KUNIT_EXPECT_GT(test, points, 0);
}

static void nth_arm_verb(struct nth_env *env, const struct nth_means *means, unsigned int nth)
{
	fakehca_fail(env->hca, means->point, nth, means->error);
	env->due = fakehca_calls(env->hca, means->point) + nth;
}

static bool nth_disarm_verb(struct nth_env *env, const struct nth_means *means)
{
	fakehca_fail(env->hca, means->point, 0, 0);
	return fakehca_calls(env->hca, means->point) >= env->due;
}

#define VERB(what, which, paths) { \
	.name = #what, .arm = nth_arm_verb, .disarm = nth_disarm_verb, \
	.error = -EIO, .point = which, .never = paths, \
}

/*
 * Not req_notify_cq, as ib_core does not look at what it answers.  What drains a
 * queue pair must not fail, or ib_core warns: so no close with these.
 */
static const struct nth_means nth_verbs[] = {
	VERB(alloc_pd, FAKEHCA_ALLOC_PD, 0),
	VERB(get_dma_mr, FAKEHCA_GET_DMA_MR, 0),
	VERB(create_cq, FAKEHCA_CREATE_CQ, 0),
	VERB(create_qp, FAKEHCA_CREATE_QP, 0),
	VERB(modify_qp, FAKEHCA_MODIFY_QP, NTH_SURE),
	VERB(post_send, FAKEHCA_POST_SEND, NTH_SURE),
	VERB(post_recv, FAKEHCA_POST_RECV, NTH_SURE),
	VERB(create_srq, FAKEHCA_CREATE_SRQ, 0),
	VERB(modify_srq, FAKEHCA_MODIFY_SRQ, 0),
	VERB(alloc_mr, FAKEHCA_ALLOC_MR, 0),
	VERB(map_mr_sg, FAKEHCA_MAP_MR_SG, 0),
	VERB(query_port, FAKEHCA_QUERY_PORT, 0),
	VERB(listen, FAKEHCA_LISTEN, 0),
	VERB(connect, FAKEHCA_CONNECT, 0),
	VERB(accept, FAKEHCA_ACCEPT, 0),
};

KUNIT_ARRAY_PARAM_DESC(nth_verb, nth_verbs, name);

/* Most paths have no such verb, so they share a device */
static void every_verb_fails_once(struct kunit *test)
{
	const struct nth_means *means = test->param_value;
	struct nth_env *env = nth_env_new(test, "verbs", &nth_attr);
	const struct nth_path *path;
	unsigned int i, points = 0;

	for (i = 0; (path = nth_nth_path(i)); i++)
		if (!(path->traits & means->never))
			points += nth_measure(env, path, means);
	nth_env_end(env);
	KUNIT_EXPECT_GT(test, points, 0);
}

static void every_allocation_on_this_device_fails_once(struct kunit *test)
{
	nth_run_own(test, NULL, &nth_own_rxe);
}

/* Paths that providers without a device have */
static const void *nth_soft_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct nth_path *path;

	nth_param = prev ? nth_param + 1 : 0;
	while ((path = nth_nth_path(nth_param)) && path->traits & NTH_VERBS)
		nth_param++;
	if (path)
		strscpy(desc, path->name, KUNIT_PARAM_DESC_SIZE);
	return path;
}

/* Those of scalable endpoints */
static const void *nth_sep_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct nth_path *path = prev;

	path = path ? path + 1 : nth_sep_paths;
	if (path == nth_sep_paths + nth_sep_count)
		return NULL;
	strscpy(desc, path->name, KUNIT_PARAM_DESC_SIZE);
	return path;
}

static void nth_run_soft(struct kunit *test, const char *prov,
			 const struct nth_means *means, bool allocates)
{
	unsigned int points = nth_run_path(test, prov, NULL, test->param_value, means);

	if (allocates)
		KUNIT_EXPECT_GT(test, points, 0);
}

static bool nth_soft_allocates(struct kunit *test)
{
	const struct nth_path *path = test->param_value;

	return !(path->traits & (NTH_SURE | NTH_FREE | NTH_DEVICE));
}

static bool nth_works(struct kunit *test)
{
	const struct nth_path *path = test->param_value;

	return path->traits & NTH_WORKS;
}

/* Its workers allocate nothing */
static void every_allocation_of_a_caller_of_loop_fails_once(struct kunit *test)
{
	nth_run_soft(test, "loop", &nth_own, nth_soft_allocates(test));
}

static void every_allocation_of_a_caller_of_tcp_fails_once(struct kunit *test)
{
	nth_run_soft(test, "tcp", &nth_own, nth_soft_allocates(test));
}

static void every_allocation_of_workers_of_tcp_fails_once(struct kunit *test)
{
	nth_run_soft(test, "tcp", &nth_workers, nth_works(test));
}

static void every_allocation_for_contexts_of_loop_fails_once(struct kunit *test)
{
	nth_run_soft(test, "loop", &nth_own, nth_soft_allocates(test));
}

static void every_allocation_for_contexts_of_tcp_fails_once(struct kunit *test)
{
	nth_run_soft(test, "tcp", &nth_own, nth_soft_allocates(test));
}

/* The next path of endpoints without connections that has none of @traits */
static const void *nth_rdm_next(const void *prev, char *desc, unsigned int traits)
{
	const struct nth_path *path = prev;

	do {
		path = path ? path + 1 : nth_rdm_paths;
		if (path == nth_rdm_paths + nth_rdm_count)
			return NULL;
	} while (path->traits & traits);
	strscpy(desc, path->name, KUNIT_PARAM_DESC_SIZE);
	return path;
}

static const void *nth_rxm_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	return nth_rdm_next(prev, desc, NTH_TAGGED_RMA);
}

static const void *nth_rdm_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	return nth_rdm_next(prev, desc, NTH_ATOMIC);
}

/* Opens @env, whose members say what it has, counts the failure points of @path, and ends @env */
static unsigned int nth_run_in(struct kunit *test, struct nth_env *env, const char *prov,
			       const struct nth_path *path, const struct nth_means *means)
{
	unsigned int points = 0;
	int ret;

	nth_leak_begin();
	ret = nth_env_open(env, test, prov, NULL);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret)
		points = nth_measure(env, path, means);
	nth_env_end(env);
	return points;
}

static void nth_run_rdm(struct kunit *test, const char *prov, u64 caps,
			const struct nth_means *means, bool allocates)
{
	struct nth_env *env = vt_buf(test, sizeof(*env));
	unsigned int points;

	env->connless = true;
	env->caps = caps;
	points = nth_run_in(test, env, prov, test->param_value, means);
	if (allocates)
		KUNIT_EXPECT_GT(test, points, 0);
}

#define NTH_RXM	"loop;ofi_rxm", FI_TAGGED | FI_ATOMIC
#define NTH_RDM	"tcp", FI_TAGGED | FI_TAGGED_RMA

static void every_allocation_of_a_caller_of_rxm_fails_once(struct kunit *test)
{
	nth_run_rdm(test, NTH_RXM, &nth_own, nth_soft_allocates(test));
}

static void every_allocation_of_workers_of_rxm_fails_once(struct kunit *test)
{
	nth_run_rdm(test, NTH_RXM, &nth_workers, nth_works(test));
}

static void every_allocation_of_a_caller_fails_once(struct kunit *test)
{
	nth_run_rdm(test, NTH_RDM, &nth_own, nth_soft_allocates(test));
}

static void every_allocation_of_a_worker_fails_once(struct kunit *test)
{
	nth_run_rdm(test, NTH_RDM, &nth_workers, nth_works(test));
}

#define NTH_HOOK_MODULES "kofi_hook_fault kofi_hook_p2p kofi_hook_trace"
#define NTH_HOOKS	"/sys/module/kofi/parameters/hooks"

static int nth_hook_suite_init(struct kunit_suite *suite)
{
	int ret = nth_suite_init(suite);

	if (!ret && vt_shell("echo 'ofi_hook_fault;ofi_hook_p2p' >" NTH_HOOKS)) {
		nth_exit();
		ret = -EIO;
	}
	return ret;
}

static void nth_hook_suite_exit(struct kunit_suite *suite)
{
	vt_shell("echo >" NTH_HOOKS);
	nth_suite_exit(suite);
}

/* fi_getinfo() puts the hooks on, and everything else is called through them */
static void every_allocation_of_a_caller_under_hooks_fails_once(struct kunit *test)
{
	nth_run_soft(test, "loop", &nth_own, nth_soft_allocates(test));
}

static void every_allocation_for_a_copy_of_peer_memory_fails_once(struct kunit *test)
{
	struct nth_env *env = vt_buf(test, sizeof(*env));
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, PAGE_SIZE);

	env->dmabuf = db->dmabuf;
	KUNIT_EXPECT_GT(test, nth_run_in(test, env, "loop;ofi_hook_p2p", &nth_dmabuf_path,
					 &nth_own), 0);
	vt_dmabuf_expect_unused(test, db);
}

/* Those of persistent memory, and what a connection takes that has it */
static const void *nth_pmem_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	const struct nth_path *path;

	nth_param = prev ? nth_param + 1 : 0;
	if (nth_param < nth_pmem_count)
		path = &nth_pmem_paths[nth_param];
	else if (nth_param - nth_pmem_count < nth_conn_count)
		path = &nth_conn_paths[nth_param - nth_pmem_count];
	else
		return NULL;
	strscpy(desc, path->name, KUNIT_PARAM_DESC_SIZE);
	return path;
}

/* Not of the workers that make the control connection: nth_own_rxe says what rxe does then */
static void every_allocation_of_a_caller_with_persistent_memory_fails_once(struct kunit *test)
{
	struct nth_env *env = vt_buf(test, sizeof(*env));
	const struct nth_path *path = test->param_value;
	unsigned int points;

	if (path->traits & nth_own_rxe.never)
		return;
	env->pmem = vt_pmem(test, PAGE_SIZE)->mem;
	points = nth_run_in(test, env, "verbs", path, &nth_own_rxe);
	if (!(path->traits & (NTH_SURE | NTH_FREE)))
		KUNIT_EXPECT_GT(test, points, 0);
}

static struct kunit_case nth_hca_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_of_the_caller_fails_once, nth_path_gen_params),
	KUNIT_CASE_PARAM(every_allocation_of_workers_fails_once, nth_path_gen_params),
	KUNIT_CASE_PARAM(every_verb_fails_once, nth_verb_gen_params),
	{}
};

struct kunit_suite kofi_nth_hca_suite = {
	.name		= "kofi_nth_hca",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_hca_cases,
};

static struct kunit_case nth_verbs_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_on_this_device_fails_once, nth_path_gen_params),
	{}
};

struct kunit_suite kofi_nth_verbs_suite = {
	.name		= "kofi_nth_verbs",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_verbs_cases,
};

/* A client, a file of sysfs and a program get copies of results, which end with the answer */
static void answers_leave_nothing(struct kunit *test)
{
	struct fi_fabric_attr fabric = { .prov_name = "loop" };
	const struct fi_info hints = { .mode = U64_MAX, .fabric_attr = &fabric };
	struct fi_reason *reason = vt_buf(test, sizeof(*reason));

	nth_leak_begin();
	KUNIT_EXPECT_GE(test, fi_getinfo_why(VT_API, NULL, 0, 0, &hints, reason, 1), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ^loop /sys/class/kofi/loop/domains"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ^[1-9] /sys/class/kofi/loop/limits/tx_size"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("kofi-info >/dev/null"), 0);
	nth_leak_end(test);
}

static struct kunit_case nth_loop_cases[] = {
	KUNIT_CASE(answers_leave_nothing),
	KUNIT_CASE_PARAM(every_allocation_of_a_caller_of_loop_fails_once, nth_soft_gen_params),
	KUNIT_CASE_PARAM(every_allocation_for_contexts_of_loop_fails_once, nth_sep_gen_params),
	{}
};

struct kunit_suite kofi_nth_loop_suite = {
	.name		= "kofi_nth_loop",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_loop_cases,
};

static struct kunit_case nth_tcp_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_of_a_caller_of_tcp_fails_once, nth_soft_gen_params),
	KUNIT_CASE_PARAM(every_allocation_of_workers_of_tcp_fails_once, nth_soft_gen_params),
	KUNIT_CASE_PARAM(every_allocation_for_contexts_of_tcp_fails_once, nth_sep_gen_params),
	{}
};

struct kunit_suite kofi_nth_tcp_suite = {
	.name		= "kofi_nth_tcp",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_tcp_cases,
};

static struct kunit_case nth_rxm_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_of_a_caller_of_rxm_fails_once, nth_rxm_gen_params),
	KUNIT_CASE_PARAM(every_allocation_of_workers_of_rxm_fails_once, nth_rxm_gen_params),
	{}
};

struct kunit_suite kofi_nth_rxm_suite = {
	.name		= "kofi_nth_rxm",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_rxm_cases,
};

static struct kunit_case nth_rdm_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_of_a_caller_fails_once, nth_rdm_gen_params),
	KUNIT_CASE_PARAM(every_allocation_of_a_worker_fails_once, nth_rdm_gen_params),
	{}
};

struct kunit_suite kofi_nth_rdm_suite = {
	.name		= "kofi_nth_rdm",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_rdm_cases,
};

static struct kunit_case nth_hook_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_of_a_caller_under_hooks_fails_once, nth_soft_gen_params),
	KUNIT_CASE(every_allocation_for_a_copy_of_peer_memory_fails_once),
	{}
};

struct kunit_suite kofi_nth_hook_suite = {
	.name		= "kofi_nth_hook",
	.suite_init	= nth_hook_suite_init,
	.suite_exit	= nth_hook_suite_exit,
	.test_cases	= nth_hook_cases,
};

static struct kunit_case nth_pmem_cases[] = {
	KUNIT_CASE_PARAM(every_allocation_of_a_caller_with_persistent_memory_fails_once,
			 nth_pmem_gen_params),
	{}
};

struct kunit_suite kofi_nth_pmem_suite = {
	.name		= "kofi_nth_pmem",
	.suite_init	= nth_suite_init,
	.suite_exit	= nth_suite_exit,
	.test_cases	= nth_pmem_cases,
};

kunit_test_suites(&kofi_nth_hca_suite, &kofi_nth_verbs_suite, &kofi_nth_loop_suite,
		  &kofi_nth_tcp_suite, &kofi_nth_rdm_suite, &kofi_nth_rxm_suite,
		  &kofi_nth_hook_suite,
		  &kofi_nth_pmem_suite, &kofi_nth_late_suite, &kofi_nth_room_suite,
		  &kofi_reclaim_suite, &kofi_nth_kfi_suite);

MODULE_DESCRIPTION("KUnit tests of kOFI with memory short at every point");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_SOFTDEP("pre: kofi_verbs kofi_loop kofi_tcp kofi_rxm " NTH_HOOK_MODULES);
