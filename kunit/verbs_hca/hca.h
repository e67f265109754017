/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_hca_test.ko share.
 *
 * A case brings up a fake HCA of the kind it wants with ht_open() or ht_serve()
 * and opens objects on it with the calls below.  ht_exit() closes whatever is
 * still open, newest first, removes the device, and fails the case if the device
 * has anything left: an object, a DMA mapping, an unmap that fits no map, an
 * access to memory that was not mapped, a completion that found no room.
 *
 * Memory from kunit_kzalloc() outlives the objects.  Everything belongs to the
 * thread of the case.
 */
#ifndef _KUNIT_HCA_TEST_H
#define _KUNIT_HCA_TEST_H

#include <linux/slab.h>
#include <linux/socket.h>
#include <kunit/test.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "../fakehca/fakehca.h"
#include "../lib/patience.h"

extern struct kunit_suite kofi_hca_device_suite;
extern struct kunit_suite kofi_hca_info_suite;
extern struct kunit_suite kofi_hca_dma_suite;
extern struct kunit_suite kofi_hca_inject_suite;
extern struct kunit_suite kofi_hca_post_suite;
extern struct kunit_suite kofi_hca_fail_suite;
extern struct kunit_suite kofi_hca_limits_suite;
extern struct kunit_suite kofi_hca_fatal_suite;
extern struct kunit_suite kofi_hca_drain_suite;
extern struct kunit_suite kofi_hca_ep_drain_suite;
extern struct kunit_suite kofi_hca_remove_suite;
extern struct kunit_suite kofi_hca_close_suite;
extern struct kunit_suite kofi_hca_save_suite;
extern struct kunit_suite kofi_hca_mr_suite;
extern struct kunit_suite kofi_hca_mr_ep_suite;
extern struct kunit_suite kofi_hca_read_region_suite;
extern struct kunit_suite kofi_hca_atomic_suite;
extern struct kunit_suite kofi_hca_reg_suite;
extern struct kunit_suite kofi_hca_srx_suite;
extern struct kunit_suite kofi_hca_last_wqe_suite;
extern struct kunit_suite kofi_hca_split_suite;
extern struct kunit_suite kofi_hca_rw_suite;
extern struct kunit_suite kofi_hca_ready_suite;
extern struct kunit_suite kofi_hca_context_suite;
extern struct kunit_suite kofi_hca_p2p_suite;
extern struct kunit_suite kofi_hca_pci_suite;

/* Module parameter removal_ms: an unplug has to be over by then */
extern int ht_removal_ms;

#define HT_PATIENCE_MS	VT_PATIENCE_MS
#define HT_QUIET_MS	100	/* long enough for what a worker tells */

/**
 * struct ht - A case
 * @hca: the device
 * @info: a way to use it
 * @fabric: fabric of @info
 * @domain: domain of @info
 * @eq: event queue of @pep
 * @pep: listens
 * @name: where
 * @name_len: bytes of @name
 * @faults: accesses to unmapped memory that the case has provoked
 * @fids: struct ht_fid, newest first
 */
struct ht {
	struct fakehca		*hca;
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_pep		*pep;
	struct sockaddr_storage	name;
	size_t			name_len;
	unsigned int		faults;
	struct list_head	fids;
};

/**
 * struct ht_end - One end of a connection
 * @info: what its endpoint was opened with
 * @eq: its event queue
 * @cq: completions of sends and receives
 * @ep: the endpoint
 * @qpn: its queue pair, once enabled
 * @bind_flags: FI_SELECTIVE_COMPLETION, or 0
 */
struct ht_end {
	struct fi_info		*info;
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	u32			qpn;
	u64			bind_flags;
};

/* @a connected, @b accepted */
struct ht_pair {
	struct ht_end a, b;
};

/* A completion or an error */
struct ht_comp {
	void	*context;
	u64	flags;
	size_t	len;
	u64	data;
	int	err;
	int	prov_errno;
};

static inline struct ht *ht_of(struct kunit *test)
{
	return test->priv;
}

static inline void *ht_ctx(unsigned long nr)
{
	return (void *)nr;
}

/* hca_test_lib.c: the case */
int ht_init(struct kunit *test);
void ht_exit(struct kunit *test);
void ht_adopt(struct kunit *test, struct fid *fid);
void ht_close(struct kunit *test, struct fid *fid);
/* The case has closed the object by fi_close() */
void ht_closed(struct kunit *test, const struct fid *fid);
struct fakehca_stats ht_stats(struct kunit *test);
/* Nothing is left on the device, and nothing has gone wrong there */
void ht_expect_clean(struct kunit *test);

/* hca_test_lib.c: objects */
void ht_device(struct kunit *test, const struct fakehca_attr *attr);
struct fi_info *ht_hints(struct kunit *test);
int ht_getinfo(struct kunit *test, const struct fi_info *hints,
	       struct fi_info **info);
void ht_fabric(struct kunit *test, const struct fi_info *hints);
/* Device, info, fabric and domain */
void ht_open(struct kunit *test, const struct fakehca_attr *attr);
void ht_listen(struct kunit *test);
/* ht_open() and ht_listen() */
void ht_serve(struct kunit *test, const struct fakehca_attr *attr);
struct fid_eq *ht_eq(struct kunit *test);
struct fid_cq *ht_cq(struct kunit *test, size_t size);
struct fi_info *ht_dup(struct kunit *test, const struct fi_info *info);

/* hca_test_conn.c: connections */
void ht_end_open(struct kunit *test, struct ht_end *end, struct fi_info *info);
void ht_end_enable(struct kunit *test, struct ht_end *end);
void ht_end_close(struct kunit *test, struct ht_end *end);
struct fi_info *ht_connreq(struct kunit *test);
void ht_event(struct kunit *test, struct fid_eq *eq, u32 want);
struct fi_eq_err_entry ht_error(struct kunit *test, struct fid_eq *eq);
void ht_no_event(struct kunit *test, struct fid_eq *eq);
void ht_stays_quiet(struct kunit *test, struct fid_eq *eq);
/* @a may be enabled already */
void ht_join(struct kunit *test, struct ht_pair *pair);
void ht_pair_close(struct kunit *test, struct ht_pair *pair);

/* hca_test_conn.c: completions and contents */
int ht_wait(struct fid_cq *cq, struct ht_comp *comp);
struct ht_comp ht_done(struct kunit *test, struct fid_cq *cq, void *context);
struct ht_comp ht_failed(struct kunit *test, struct fid_cq *cq, int err);
void ht_none(struct kunit *test, struct fid_cq *cq);
/* Any @count completions, of contexts 1 to @count, each exactly once */
void ht_each_once(struct kunit *test, struct fid_cq *cq, unsigned long count,
		  int err);
void *ht_buf(struct kunit *test, size_t len);
void ht_fill(void *buf, size_t len, u8 seed);
bool ht_filled(const void *buf, size_t len, u8 seed);
/* One message from one end to the other arrives */
void ht_ping(struct kunit *test, struct ht_end *from, struct ht_end *to);

#endif /* _KUNIT_HCA_TEST_H */
