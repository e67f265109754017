// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions of dma-bufs over a provider that knows ordinary memory only.
 *
 * A region has a staging buffer, which the provider below registers and peers access, and a
 * twin, a copy of what peer memory and staging were when they were compared last.
 * p2p_sync() compares all three, byte by byte:
 *
 *	staging is not the twin		a peer has written: the byte goes to peer memory
 *	peer memory is not the twin	the owner has written: the byte goes to staging
 *	both are not			both have, with no message between: the byte of the peer
 *
 * So a byte that nobody has changed is never written, and an access of a peer's that goes on
 * at the same time loses nothing: what it changes behind the comparison is found next time.
 *
 * Exporters that can move their memory are refused, as what a peer does to staging goes on
 * when they would move it.
 *
 * Locking: an SRCU section keeps the regions of the list.  A region's lock is held with
 * interrupts off, as a completion may come in any context, and for a page at a time.  Two
 * calls of p2p_sync() may take turns; each has seen every page after it began.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "p2p.h"

/* Compared at once before bytes are */
#define P2P_BLOCK	64

static unsigned long limit = 16 << 20;
module_param(limit, ulong, 0644);
MODULE_PARM_DESC(limit, "bytes of all regions of dma-bufs (default 16 MiB)");

static LIST_HEAD(p2p_regions);
static DEFINE_SPINLOCK(p2p_lock);	/* of changes to p2p_regions, and of the two below */
static unsigned long p2p_nr_regions;
static unsigned long p2p_bytes;
DEFINE_STATIC_SRCU(p2p_srcu);

/* Bytes that were copied, and how often a region was compared */
static atomic_long_t p2p_to_memory = ATOMIC_LONG_INIT(0);
static atomic_long_t p2p_from_memory = ATOMIC_LONG_INIT(0);
static atomic_long_t p2p_compared = ATOMIC_LONG_INIT(0);

static struct dentry *p2p_debugfs;

static void p2p_sync_block(struct p2p_mr *mr, size_t at, size_t end)
{
	u8 *memory = mr->memory, *staging = mr->staging, *twin = mr->twin;
	long to = 0, from = 0;
	u8 peers, owners;

	lockdep_assert_held(&mr->lock);
	if (!memcmp(staging + at, twin + at, end - at) &&
	    !memcmp(memory + at, twin + at, end - at))
		return;
	for (; at < end; at++) {
		peers = READ_ONCE(staging[at]);
		owners = READ_ONCE(memory[at]);
		if (peers != twin[at]) {
			WRITE_ONCE(memory[at], peers);
			twin[at] = peers;
			to++;
		} else if (owners != twin[at]) {
			WRITE_ONCE(staging[at], owners);
			twin[at] = owners;
			from++;
		}
	}
	atomic_long_add(to, &p2p_to_memory);
	atomic_long_add(from, &p2p_from_memory);
}

static void p2p_sync_page(struct p2p_mr *mr, size_t at, size_t end)
{
	unsigned long flags;

	spin_lock_irqsave(&mr->lock, flags);
	for (; at < end; at += P2P_BLOCK)
		p2p_sync_block(mr, at, min(end, at + P2P_BLOCK));
	spin_unlock_irqrestore(&mr->lock, flags);
}

static void p2p_sync_mr(struct p2p_mr *mr)
{
	size_t at;

	for (at = 0; at < mr->len; at += PAGE_SIZE)
		p2p_sync_page(mr, at, min(mr->len, at + PAGE_SIZE));
	atomic_long_inc(&p2p_compared);
}

void p2p_sync(const struct kofi_hook_fabric *root)
{
	struct p2p_mr *mr;
	int idx;

	if (list_empty(&p2p_regions))
		return;
	idx = srcu_read_lock(&p2p_srcu);
	list_for_each_entry_rcu(mr, &p2p_regions, entry, srcu_read_lock_held(&p2p_srcu))
		if (mr->obj.root == root)
			p2p_sync_mr(mr);
	srcu_read_unlock(&p2p_srcu, idx);
}

/* Each moment costs a comparison of everything, so there is a limit */
static int p2p_room_take(size_t len)
{
	unsigned long flags;
	int ret = -EAGAIN;

	spin_lock_irqsave(&p2p_lock, flags);
	if (len <= limit && p2p_bytes <= limit - len) {
		p2p_bytes += len;
		p2p_nr_regions++;
		ret = 0;
	}
	spin_unlock_irqrestore(&p2p_lock, flags);
	return ret;
}

static void p2p_room_give(size_t len)
{
	unsigned long flags;

	spin_lock_irqsave(&p2p_lock, flags);
	p2p_bytes -= len;
	p2p_nr_regions--;
	spin_unlock_irqrestore(&p2p_lock, flags);
}

static int p2p_may_reg(const struct fi_mr_attr *attr, u64 flags)
{
	/* A region of an endpoint would be given other memory without a call that sleeps */
	if (flags & ~(FI_MR_DMABUF | FI_RMA_EVENT))
		return -FI_EBADFLAGS;
	/* A dma-buf is no local buffer; and peers use the address of staging */
	if (attr->access & ~(FI_REMOTE_READ | FI_REMOTE_WRITE) || attr->dmabuf->base_addr)
		return -EOPNOTSUPP;
	return 0;
}

int p2p_reg(struct kofi_hook_obj *obj, struct fi_mr_attr *attr, u64 *flags)
{
	struct p2p_mr *mr = container_of(obj, struct p2p_mr, obj);
	const struct fi_mr_dmabuf *piece = attr->dmabuf;
	struct kofi_dmabuf *dmabuf;
	unsigned long irq;
	int ret;

	if (!(*flags & FI_MR_DMABUF))
		return 0;
	ret = p2p_may_reg(attr, *flags);
	if (!ret)
		ret = p2p_room_take(piece->len);
	if (ret)
		return ret;
	dmabuf = kofi_dmabuf_open(piece->dmabuf, KOFI_DMABUF_GOES_ON);
	if (IS_ERR(dmabuf)) {
		ret = PTR_ERR(dmabuf);
		goto give;
	}
	mr->staging = __vmalloc(piece->len, GFP_KERNEL | __GFP_NOWARN);
	mr->twin = __vmalloc(piece->len, GFP_KERNEL | __GFP_NOWARN);
	if (!mr->staging || !mr->twin) {
		ret = -ENOMEM;
		goto free;
	}
	spin_lock_init(&mr->lock);
	mr->dmabuf = dmabuf;
	mr->memory = kofi_dmabuf_addr(dmabuf) + piece->offset;
	mr->len = piece->len;
	memcpy(mr->staging, mr->memory, mr->len);
	memcpy(mr->twin, mr->staging, mr->len);
	spin_lock_irqsave(&p2p_lock, irq);
	list_add_rcu(&mr->entry, &p2p_regions);
	spin_unlock_irqrestore(&p2p_lock, irq);

	mr->iov.iov_base = mr->staging;
	mr->iov.iov_len = mr->len;
	attr->type = FI_BUF_KVEC;
	attr->mr_iov = &mr->iov;
	*flags &= ~FI_MR_DMABUF;
	return 0;

free:
	vfree(mr->twin);
	vfree(mr->staging);
	kofi_dmabuf_close(dmabuf);
give:
	p2p_room_give(piece->len);
	return ret;
}

/* No peer accesses staging any more */
void p2p_unreg(struct kofi_hook_obj *obj)
{
	struct p2p_mr *mr = container_of(obj, struct p2p_mr, obj);
	unsigned long flags;

	if (!mr->dmabuf)
		return;
	spin_lock_irqsave(&p2p_lock, flags);
	list_del_rcu(&mr->entry);
	spin_unlock_irqrestore(&p2p_lock, flags);
	synchronize_srcu_expedited(&p2p_srcu);
	p2p_sync_mr(mr);
	kofi_dmabuf_close(mr->dmabuf);
	vfree(mr->twin);
	vfree(mr->staging);
	p2p_room_give(mr->len);
}

static int p2p_show(struct seq_file *file, void *unused)
{
	unsigned long regions, bytes;

	spin_lock_irq(&p2p_lock);
	regions = p2p_nr_regions;
	bytes = p2p_bytes;
	spin_unlock_irq(&p2p_lock);
	seq_printf(file, "regions %lu\nbytes %lu\nlimit %lu\n", regions, bytes, limit);
	seq_printf(file, "compared %lu\nto_memory %lu\nfrom_memory %lu\n",
		   atomic_long_read(&p2p_compared), atomic_long_read(&p2p_to_memory),
		   atomic_long_read(&p2p_from_memory));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(p2p);

void p2p_debugfs_init(void)
{
	p2p_debugfs = debugfs_create_dir("kofi_hook_p2p", NULL);
	debugfs_create_file("staging", 0400, p2p_debugfs, NULL, &p2p_fops);
}

void p2p_debugfs_exit(void)
{
	debugfs_remove(p2p_debugfs);
}
