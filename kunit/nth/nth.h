/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_nth_test.ko share: every control call of a client, with
 * its first, second, third ... allocation, or verb, failing.
 *
 * A path is one such call: what has to be there before, the call, and what a
 * client may expect of it.  nth_run() makes the call once for each failure point:
 *
 *	prepare; arm; call; disarm; what was opened is closed
 *
 * A call that failed has said why, has left nothing behind on the device, and
 * succeeds when it is made once more.  run.c knows how, open.c and conn.c are the table
 * of paths, env.c has what they stand on, late.c what fails after the call.
 */
#ifndef _KUNIT_NTH_H
#define _KUNIT_NTH_H

#include <linux/socket.h>
#include <kunit/test.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "../fakehca/fakehca.h"
#include "../lib/bed.h"
#include "../lib/patience.h"
#include "../lib/probe.h"

extern struct kunit_suite kofi_nth_hca_suite;
extern struct kunit_suite kofi_nth_verbs_suite;
extern struct kunit_suite kofi_nth_loop_suite;
extern struct kunit_suite kofi_nth_tcp_suite;
extern struct kunit_suite kofi_nth_rdm_suite;
extern struct kunit_suite kofi_nth_rxm_suite;
extern struct kunit_suite kofi_nth_hook_suite;
extern struct kunit_suite kofi_nth_pmem_suite;
extern struct kunit_suite kofi_nth_late_suite;
extern struct kunit_suite kofi_nth_room_suite;
extern struct kunit_suite kofi_reclaim_suite;
extern struct kunit_suite kofi_nth_kfi_suite;

#define NTH_MANY		1000	/* more than any call needs */
#define NTH_PATIENCE_MS		60000
#define NTH_FIDS		32
#define NTH_INFOS		8
#define NTH_DEPTH		16	/* of the queues of endpoints */
#define NTH_PAGES		8
#define NTH_ERRNOS		4
#define NTH_PARTS		128	/* of a list, at most: more than one batch of verbs */

/* What becomes of a connection when a message of its making gets lost */
#define NTH_CONN_ERRNOS \
	{ -ECONNREFUSED, -ECONNABORTED, -ECONNRESET, -ETIMEDOUT }

/**
 * struct nth_end - An end of a connection
 * @ep: the endpoint
 * @cq: its completions; those of its sends, if @rx_cq is another one
 * @rx_cq: completions of its receives
 * @av: its address vector, if it has no connections
 */
struct nth_end {
	struct fid_ep	*ep;
	struct fid_cq	*cq;
	struct fid_cq	*rx_cq;
	struct fid_av	*av;
};

/**
 * struct nth_env - What the calls are made on
 * @test: the case
 * @prov: name of the provider
 * @hca: the fake HCA; NULL: another device, or none
 * @hints: what is asked of it
 * @info: a way to use the device
 * @fabric: fabric of @info
 * @domain: domain of @info
 * @eq: for everything
 * @pep: listens
 * @name: where
 * @serial: number of the latest connection; what requests say
 * @a: connects
 * @b: accepts
 * @request: the info of the connection request
 * @spare: another passive endpoint, which does not listen yet
 * @lone: another domain, which has not registered memory yet
 * @srx: a shared receive context
 * @rdm: the info of the scalable endpoint
 * @sep: a scalable endpoint
 * @cntr: a counter
 * @mr: a region
 * @mem: NTH_PAGES pages
 * @dmabuf: a dma-buf, for a provider that was asked for FI_HMEM
 * @pmem: a page of persistent memory, for one that was asked for FI_RMA_PMEM
 * @caps: what is asked of the provider in addition
 * @connless: endpoints have no connections, so there is no listener
 * @infos: what is to be freed
 * @nr_infos: how many
 * @fids: what is to be closed, newest last
 * @nr_fids: how many
 * @pause: what is left of the failures during nth_pause()
 * @due: calls of a verb until it has failed
 */
struct nth_env {
	struct kunit		*test;
	const char		*prov;
	struct fakehca		*hca;
	struct fi_info		*hints;
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_pep		*pep;
	struct sockaddr_storage	name;
	u32			serial;
	struct nth_end		a;
	struct nth_end		b;
	struct fi_info		*request;
	struct fid_pep		*spare;
	struct fid_domain	*lone;
	struct fid_ep		*srx;
	struct fi_info		*rdm;
	struct fid_ep		*sep;
	struct fid_cntr		*cntr;
	struct fid_mr		*mr;
	u8			*mem;
	struct dma_buf		*dmabuf;
	u8			*pmem;
	u64			caps;
	bool			connless;
	struct fi_info		*infos[NTH_INFOS];
	unsigned int		nr_infos;
	struct fid		*fids[NTH_FIDS];
	unsigned int		nr_fids;
	unsigned int		pause;
	unsigned int		due;
};

/**
 * enum nth_trait - What is particular to a path
 * @NTH_SURE: the call does not fail, whatever is short
 * @NTH_FINAL: after a failure the object is of no more use
 * @NTH_ENDS: after an error of the device, too
 * @NTH_JOINS: the call brings a queue pair to RTR
 * @NTH_QUEUES: the device makes a queue for it
 * @NTH_FREE: the call allocates nothing in its caller's name
 * @NTH_WORKS: workers allocate for it
 * @NTH_VERBS: only verbs has that
 * @NTH_DEVICE: where there is no device, it may allocate nothing in its caller's name
 * @NTH_ATOMIC: it needs FI_ATOMIC
 * @NTH_TAGGED_RMA: it needs FI_TAGGED_RMA
 */
enum nth_trait {
	NTH_SURE	= 1,
	NTH_FINAL	= 2,
	NTH_ENDS	= 4,
	NTH_JOINS	= 8,
	NTH_QUEUES	= 16,
	NTH_FREE	= 32,
	NTH_WORKS	= 64,
	NTH_VERBS	= 128,
	NTH_DEVICE	= 256,
	NTH_ATOMIC	= 512,
	NTH_TAGGED_RMA	= 1024,
};

/**
 * struct nth_path - A call
 * @name: of the path
 * @prepare: opens what the call needs, may be NULL; 0 or negative errno
 * @call: the call; what it opens is kept with nth_keep()
 * @traits: NTH_*
 * @errnos: what it may say beside -ENOMEM, and what the verb has said
 */
struct nth_path {
	const char	*name;
	int		(*prepare)(struct nth_env *env);
	int		(*call)(struct nth_env *env);
	unsigned int	traits;
	int		errnos[NTH_ERRNOS];
};

/* nth_open.c */
extern const struct nth_path nth_open_paths[];
extern const unsigned int nth_open_count;
/* Opens env->lone */
int nth_open_lone(struct nth_env *env);
/* Registers env->dmabuf */
extern const struct nth_path nth_dmabuf_path;
/* nth_conn.c */
extern const struct nth_path nth_conn_paths[];
extern const unsigned int nth_conn_count;
/* Connects, and registers what nth_move() reads or writes, in so many parts of its own */
int nth_target(struct nth_env *env);
int nth_move(struct nth_env *env, bool read, unsigned int parts);
/* sep.c */
extern const struct nth_path nth_sep_paths[];
extern const unsigned int nth_sep_count;
/* rdm.c */
extern const struct nth_path nth_rdm_paths[];
extern const unsigned int nth_rdm_count;
/* nth_pmem.c */
extern const struct nth_path nth_pmem_paths[];
extern const unsigned int nth_pmem_count;

/**
 * struct nth_means - A way to let the nth of something fail
 * @name: of what
 * @arm: from now on
 * @disarm: no more; true: it has failed
 * @error: what it fails with
 * @point: for @arm of verbs
 * @never: paths that it is not tried with: NTH_*
 */
struct nth_means {
	const char		*name;
	void			(*arm)(struct nth_env *env, const struct nth_means *means,
				       unsigned int nth);
	bool			(*disarm)(struct nth_env *env, const struct nth_means *means);
	int			error;
	enum fakehca_point	point;
	unsigned int		never;
};

/* nth_leak.c: what is allocated between the two is freed between them */
int nth_leak_init(void);
void nth_leak_exit(void);
void nth_leak_begin(void);
void nth_leak_end(struct kunit *test);

/* nth.c */
int nth_init(void);
void nth_exit(void);
/* Of suites that need nothing but these two */
int nth_plain_suite_init(struct kunit_suite *suite);
void nth_plain_suite_exit(struct kunit_suite *suite);
extern const struct nth_means nth_own;
extern const struct nth_means nth_own_rxe;
extern const struct nth_means nth_workers;
/* Returns how many failure points there were */
unsigned int nth_run(struct nth_env *env, const struct nth_path *path,
		     const struct nth_means *means);
/* What lies between belongs to the test and does not fail */
void nth_pause(struct nth_env *env);
void nth_resume(struct nth_env *env);

/* nth_env.c: all of these return 0 or a negative errno */
/* Of verbs on a fake HCA, or without @attr on any other device; or of another provider */
int nth_env_open(struct nth_env *env, struct kunit *test, const char *prov,
		 const struct fakehca_attr *attr);
bool nth_is_verbs(const struct nth_env *env);
void nth_env_close(struct nth_env *env);
void nth_keep(struct nth_env *env, struct fid *fid);
void nth_drop(struct nth_env *env, unsigned int to);
void nth_forget(struct nth_env *env, struct fid *fid);
int nth_getinfo(struct nth_env *env, struct fi_info **info);
struct fi_info *nth_dup(struct nth_env *env, const struct fi_info *info);
int nth_cq_open(struct nth_env *env, enum fi_wait_obj wait_obj, struct fid_cq **cq);
int nth_ep_open(struct nth_env *env, struct nth_end *end, struct fi_info *info);
int nth_end_open(struct nth_env *env, struct nth_end *end, struct fi_info *info, size_t rw_ops);
/* Asks for a connection of a, waits for the request */
int nth_request(struct nth_env *env);
/* Waits until both ends have heard the same; 0: they are connected */
int nth_joined(struct nth_env *env);
/* Accepts the request and waits */
int nth_join(struct nth_env *env);
/* Waits for a to hear that it is refused */
int nth_refused(struct nth_env *env);
/* A message arrives */
int nth_ping(struct nth_env *env);
int nth_await(struct fid_cq *cq);

#endif /* _KUNIT_NTH_H */
