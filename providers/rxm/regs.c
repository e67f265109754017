// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lower regions for messages that peers read from here, or write to here: offer.c and writes.c.
 *
 * Not every list can be registered as a whole, because of gaps between its buffers or its length.
 * Then each buffer has a region of its own, as far as a packet has room for them.  If that cannot
 * be either, the caller may have a copy registered.
 *
 * The caller is in rxm_ep.cm or kofi_soft_ep.work, and owns its struct rxm_regs.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "rxm.h"

/* Keys of regions of the provider's own, where it has to choose them */
#define RXM_OWN_KEY	BIT_ULL(63)
#define RXM_KEY_TRIES	8

/* Registers a list as the next region */
static int rxm_regs_add(struct rxm_domain *domain, struct rxm_regs *regs, u64 access, size_t len,
			const struct fi_mr_attr *list)
{
	struct fi_mr_attr attr = *list;
	int i, ret = -FI_ENOKEY;

	attr.access = access;
	/* Nobody guesses it from another one, and the client may have requested it */
	for (i = 0; i < RXM_KEY_TRIES && ret == -FI_ENOKEY; i++) {
		attr.requested_key = RXM_OWN_KEY | get_random_u64();
		ret = fi_mr_regattr(domain->lower, &attr, 0, &regs->mrs[regs->count]);
	}
	if (!ret)
		regs->lens[regs->count++] = len;
	return ret;
}

static size_t rxm_regs_elem_len(const struct fi_mr_attr *list, size_t i)
{
	return list->type == FI_BUF_BVEC ? list->mr_bvec[i].bv_len : list->mr_iov[i].iov_len;
}

/* Registers each element of a list */
static int rxm_regs_add_each(struct rxm_domain *domain, struct rxm_regs *regs, u64 access,
			     const struct fi_mr_attr *list)
{
	struct fi_mr_attr elem = { .type = list->type, .iov_count = 1 };
	int ret = 0;
	size_t i;

	if (list->iov_count > RXM_WIRE_IOV)
		return -EINVAL;
	for (i = 0; i < list->iov_count && !ret; i++) {
		if (list->type == FI_BUF_BVEC)
			elem.mr_bvec = &list->mr_bvec[i];
		else
			elem.mr_iov = &list->mr_iov[i];
		ret = rxm_regs_add(domain, regs, access, rxm_regs_elem_len(list, i), &elem);
	}
	if (ret)
		rxm_regs_close(regs);
	return ret;
}

/**
 * rxm_regs_open() - Register a list of buffers where they are
 * @domain: the domain
 * @regs: the regions; there are none before, and none after an error
 * @access: what peers may do
 * @list: the list: its type, its elements, and how many
 *
 * Context: may sleep.
 * Return: 0: rxm_regs_close() is due; a negative errno.
 */
int rxm_regs_open(struct rxm_domain *domain, struct rxm_regs *regs, u64 access,
		  const struct fi_mr_attr *list)
{
	size_t i, len = 0;
	int ret;

	for (i = 0; i < list->iov_count; i++)
		len += rxm_regs_elem_len(list, i);
	ret = rxm_regs_add(domain, regs, access, len, list);
	if (ret && list->iov_count > 1)
		ret = rxm_regs_add_each(domain, regs, access, list);
	return ret;
}

/**
 * rxm_regs_open_copy() - Register memory in place of buffers that cannot be registered
 * @domain: the domain
 * @regs: the regions; there are none before, and none after an error
 * @access: what peers may do
 * @len: bytes
 * @from: what the memory is to hold; NULL: zeroes
 *
 * Context: may sleep.
 * Return: 0: rxm_regs_close() and rxm_regs_free() are due; a negative errno.
 */
int rxm_regs_open_copy(struct rxm_domain *domain, struct rxm_regs *regs, u64 access, size_t len,
		       const struct kofi_iov *from)
{
	struct kvec kvec = { .iov_len = len };
	const struct fi_mr_attr list = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= &kvec,
		.iov_count	= 1,
	};
	int ret;

	regs->copy = kvzalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!regs->copy)
		return -ENOMEM;
	if (from)
		kofi_iov_gather(regs->copy, from, 0, len);
	kvec.iov_base = regs->copy;
	ret = rxm_regs_add(domain, regs, access, len, &list);
	if (ret)
		rxm_regs_free(regs);
	return ret;
}

/**
 * rxm_regs_close() - Close regions: no peer reaches the memory afterwards
 * @regs: the regions, or none
 *
 * Context: may sleep.
 */
void rxm_regs_close(struct rxm_regs *regs)
{
	while (regs->count)
		kofi_lower_close(&regs->mrs[--regs->count]->fid);
}

/**
 * rxm_regs_free() - Free the memory of rxm_regs_open_copy()
 * @regs: the regions, which have been closed
 *
 * Context: may sleep.
 */
void rxm_regs_free(struct rxm_regs *regs)
{
	kvfree(regs->copy);
	regs->copy = NULL;
}

/**
 * rxm_regs_fill() - Write where regions are
 * @regs: the regions
 * @wire: where it goes
 *
 * Context: any.
 */
void rxm_regs_fill(const struct rxm_regs *regs, struct rxm_wire_rndv *wire)
{
	int i;

	*wire = (struct rxm_wire_rndv) { .count = regs->count };
	for (i = 0; i < regs->count; i++) {
		wire->iov[i].addr = fi_mr_addr(regs->mrs[i]);
		wire->iov[i].len = regs->lens[i];
		wire->iov[i].key = fi_mr_key(regs->mrs[i]);
	}
}
