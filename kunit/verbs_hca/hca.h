/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_hca_test.ko share.
 *
 * A case brings up a fake HCA of the kind it wants with ht_open() or ht_serve() and opens objects
 * on it with the calls below and those of client.h; a case is a struct vt, too.  ht_exit() closes
 * whatever is still open, newest first, removes the device, and fails the case if the device has
 * anything left: an object, a DMA mapping, an unmap that fits no map, an access to memory that was
 * not mapped, a completion that found no room.
 *
 * Memory from kunit_kzalloc() outlives the objects.  Everything belongs to the
 * thread of the case.
 */
#ifndef _KUNIT_HCA_TEST_H
#define _KUNIT_HCA_TEST_H

#include <linux/container_of.h>
#include "../fakehca/fakehca.h"
#include "../lib/client.h"

extern struct kunit_suite kofi_hca_device_suite;
extern struct kunit_suite kofi_hca_info_suite;
extern struct kunit_suite kofi_hca_dma_suite;
extern struct kunit_suite kofi_hca_inject_suite;
extern struct kunit_suite kofi_hca_post_suite;
extern struct kunit_suite kofi_hca_fail_suite;
extern struct kunit_suite kofi_hca_limits_suite;
extern struct kunit_suite kofi_hca_fatal_suite;
extern struct kunit_suite kofi_hca_drain_suite;
extern struct kunit_suite kofi_hca_dim_suite;
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
 * @vt: the case as a client
 * @hca: the device
 * @faults: accesses to unmapped memory that the case has provoked
 */
struct ht {
	struct vt		vt;
	struct fakehca		*hca;
	unsigned int		faults;
};

static inline struct ht *ht_of(struct kunit *test)
{
	return container_of(vt_of(test), struct ht, vt);
}

/* lib.c: the case */
int ht_init(struct kunit *test);
void ht_exit(struct kunit *test);
struct fakehca_stats ht_stats(struct kunit *test);
/* Nothing is left on the device, and nothing has gone wrong there */
void ht_expect_clean(struct kunit *test);

/* lib.c: objects */
void ht_device(struct kunit *test, const struct fakehca_attr *attr);
struct fi_info *ht_hints(struct kunit *test);
int ht_getinfo(struct kunit *test, const struct fi_info *hints, struct fi_info **info);
void ht_fabric(struct kunit *test, const struct fi_info *hints);
/* Device, info, fabric and domain */
void ht_open(struct kunit *test, const struct fakehca_attr *attr);
/* ht_open(), and a listener */
void ht_serve(struct kunit *test, const struct fakehca_attr *attr);

/* conn.c: connections */
/* Bound, and not enabled yet */
void ht_end_open(struct kunit *test, struct vt_end *end, struct fi_info *info);
void ht_end_enable(struct kunit *test, struct vt_end *end);
/* An enabled endpoint of the case's info */
void ht_client(struct kunit *test, struct vt_end *end);
struct fi_eq_err_entry ht_error(struct kunit *test, struct fid_eq *eq);
/* @a may be open, or enabled, already */
void ht_join(struct kunit *test, struct vt_pair *pair);
/* ht_serve() and ht_join() */
void ht_connect(struct kunit *test, const struct fakehca_attr *attr, struct vt_pair *pair);

/* conn.c: completions, and memory for DMA */
extern const struct vt_kind ht_polled;

struct vt_comp ht_failed(struct kunit *test, struct vt_cq *cq, int err);
/* Any @count completions, of contexts 1 to @count, each exactly once */
void ht_each_once(struct kunit *test, struct vt_cq *cq, unsigned long count, int err);
void *ht_buf(struct kunit *test, size_t len);

#endif /* _KUNIT_HCA_TEST_H */
