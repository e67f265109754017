/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_hook_p2p.ko share.
 *
 *	p2p.c		the module, and the calls at which staging and peer memory are compared
 *	p2p_mr.c	regions of peer memory: staging, the comparison, debugfs
 */
#ifndef _KOFI_HOOK_P2P_H
#define _KOFI_HOOK_P2P_H

#include <linux/spinlock.h>
#include <linux/uio.h>
#include <kofi/dmabuf.h>
#include <kofi/hook.h>

/**
 * struct p2p_mr - A region
 * @obj: the hook's object; its lower region is one of @staging
 * @dmabuf: mapping of peer memory that is a dma-buf; else NULL
 * @entry: in the list of all regions of peer memory
 * @lock: guards @twin, and the copies; held for one page at a time
 * @memory: peer memory, piece by piece; NULL: the client registered other memory
 * @nr_memory: pieces of @memory, not 0
 * @staging: ordinary memory that peers access in place of @memory
 * @twin: what @memory and @staging held when they were compared last
 * @len: bytes of each of the three
 * @iov: @staging, as the provider below gets it
 */
struct p2p_mr {
	struct kofi_hook_obj	obj;
	struct kofi_dmabuf	*dmabuf;
	struct list_head	entry;
	spinlock_t		lock;	/* see above */
	struct kvec		*memory;
	unsigned int		nr_memory;
	u8			*staging;
	u8			*twin;
	size_t			len;
	struct kvec		iov;
};

/* ->reg and ->unreg of struct kofi_hook */
int p2p_reg(struct kofi_hook_obj *obj, struct fi_mr_attr *attr, u64 *flags);
void p2p_unreg(struct kofi_hook_obj *obj);

/*
 * Compares all regions of the fabric: what peers have written goes to peer memory, and what has
 * changed in peer memory goes to staging.  Any context
 */
void p2p_sync(const struct kofi_hook_fabric *root);

void p2p_debugfs_init(void);
void p2p_debugfs_exit(void);

#endif /* _KOFI_HOOK_P2P_H */
