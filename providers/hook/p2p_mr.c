// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions of peer memory, dma-bufs or pages of PCI devices, over a provider that knows ordinary
 * memory only.
 *
 * A region has a staging buffer, which the provider below registers and peers access, and a
 * twin, a copy of what peer memory and staging held when they were compared last.
 * p2p_sync() compares all three, byte by byte, and looks for differences from the twin:
 *
 *	in staging	a peer has written: the byte goes to peer memory
 *	in peer memory	the owner has written: the byte goes to staging
 *	in both		both have written, with no message between: the peer's byte goes to peer
 *			memory
 *
 * So a byte that nobody has changed is never written, and peers may access staging during a
 * comparison: the next comparison finds what a peer changes behind this one.
 *
 * Exporters that can move their memory are refused, as peers would go on to access staging
 * while an exporter moves the memory.
 *
 * Locking: an SRCU section keeps the regions of the list.  A region's lock is held with
 * interrupts off, as a completion may come in any context, and for one page at a time.  Two
 * calls of p2p_sync() may take turns, but each returns only when every page was compared after
 * the call began.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/memremap.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <kofi/pages.h>
#include "p2p.h"

/* Bytes that are compared at once, before single bytes are */
#define P2P_BLOCK	64

static unsigned long limit = 16 << 20;
module_param(limit, ulong, 0644);
MODULE_PARM_DESC(limit, "bytes of all regions of peer memory (default 16 MiB)");

static LIST_HEAD(p2p_regions);
static DEFINE_SPINLOCK(p2p_lock);	/* of changes to p2p_regions, and of the two below */
static unsigned long p2p_nr_regions;
static unsigned long p2p_bytes;
DEFINE_STATIC_SRCU(p2p_srcu);

/* Bytes that were copied in each direction, and how often a region was compared */
static atomic_long_t p2p_to_memory = ATOMIC_LONG_INIT(0);
static atomic_long_t p2p_from_memory = ATOMIC_LONG_INIT(0);
static atomic_long_t p2p_compared = ATOMIC_LONG_INIT(0);

static struct dentry *p2p_debugfs;

/* Compares one block; @memory is the peer memory at offset @at of the region */
static void p2p_sync_block(struct p2p_mr *mr, u8 *memory, size_t at, size_t len)
{
	u8 *staging = mr->staging + at, *twin = mr->twin + at;
	long to = 0, from = 0;
	u8 peers, owners;
	size_t i;

	lockdep_assert_held(&mr->lock);
	if (!memcmp(staging, twin, len) && !memcmp(memory, twin, len))
		return;
	for (i = 0; i < len; i++) {
		peers = READ_ONCE(staging[i]);
		owners = READ_ONCE(memory[i]);
		if (peers != twin[i]) {
			WRITE_ONCE(memory[i], peers);
			twin[i] = peers;
			to++;
		} else if (owners != twin[i]) {
			WRITE_ONCE(staging[i], owners);
			twin[i] = owners;
			from++;
		}
	}
	atomic_long_add(to, &p2p_to_memory);
	atomic_long_add(from, &p2p_from_memory);
}

static void p2p_sync_page(struct p2p_mr *mr, u8 *memory, size_t at, size_t len)
{
	unsigned long flags;
	size_t i;

	spin_lock_irqsave(&mr->lock, flags);
	for (i = 0; i < len; i += P2P_BLOCK)
		p2p_sync_block(mr, memory + i, at + i, min(len - i, P2P_BLOCK));
	spin_unlock_irqrestore(&mr->lock, flags);
}

static void p2p_sync_mr(struct p2p_mr *mr)
{
	const struct kvec *piece;
	size_t at = 0, i;

	for (piece = mr->memory; piece < mr->memory + mr->nr_memory; piece++) {
		for (i = 0; i < piece->iov_len; i += PAGE_SIZE)
			p2p_sync_page(mr, piece->iov_base + i, at + i,
				      min(piece->iov_len - i, PAGE_SIZE));
		at += piece->iov_len;
	}
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

/* Each p2p_sync() compares all regions of its fabric, so there is a limit for their bytes */
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

/**
 * struct p2p_list - The pieces of a list of local buffers
 * @memory: where the pieces are stored; NULL: they are only counted
 * @nr: number of pieces
 * @len: bytes of all pieces
 * @peer: there are pages of a PCI device among the pieces
 */
struct p2p_list {
	struct kvec	*memory;
	size_t		nr;
	size_t		len;
	bool		peer;
};

static int p2p_list_piece(void *context, const struct kofi_piece *piece)
{
	struct p2p_list *list = context;

	if (list->memory)
		list->memory[list->nr] = (struct kvec){ piece->addr, piece->len };
	list->nr++;
	list->peer = list->peer || is_pci_p2pdma_page(piece->page);
	return check_add_overflow(list->len, piece->len, &list->len) ? -EINVAL : 0;
}

static int p2p_may_reg(const struct fi_mr_attr *attr, u64 flags)
{
	/* Not FI_MR_ENDPOINT: fi_mr_refresh() changes the memory in a context that may not sleep */
	if (flags & ~(FI_MR_DMABUF | FI_RMA_EVENT))
		return -FI_EBADFLAGS;
	/* The provider below cannot use peer memory as a local buffer */
	if (attr->access & ~(FI_REMOTE_READ | FI_REMOTE_WRITE))
		return -EOPNOTSUPP;
	return 0;
}

/* Makes staging and twin, and adds the region to the list at the end */
static int p2p_stage(struct p2p_mr *mr, size_t len)
{
	const struct kvec *piece;
	unsigned long flags;
	size_t at = 0;

	mr->staging = __vmalloc(len, GFP_KERNEL | __GFP_NOWARN);
	mr->twin = __vmalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!mr->staging || !mr->twin) {
		vfree(mr->twin);
		vfree(mr->staging);
		return -ENOMEM;
	}
	for (piece = mr->memory; piece < mr->memory + mr->nr_memory; piece++) {
		memcpy(mr->staging + at, piece->iov_base, piece->iov_len);
		at += piece->iov_len;
	}
	memcpy(mr->twin, mr->staging, len);
	spin_lock_init(&mr->lock);
	mr->len = len;
	spin_lock_irqsave(&p2p_lock, flags);
	list_add_rcu(&mr->entry, &p2p_regions);
	spin_unlock_irqrestore(&p2p_lock, flags);
	return 0;
}

static int p2p_open_dmabuf(struct p2p_mr *mr, const struct fi_mr_dmabuf *piece)
{
	struct kofi_dmabuf *dmabuf;

	/* Peers use the address of staging, not one that the client chooses */
	if (piece->base_addr)
		return -EOPNOTSUPP;
	mr->memory = kmalloc(sizeof(*mr->memory), GFP_KERNEL);
	if (!mr->memory)
		return -ENOMEM;
	dmabuf = kofi_dmabuf_open(piece->dmabuf, KOFI_DMABUF_GOES_ON);
	if (IS_ERR(dmabuf)) {
		kfree(mr->memory);
		mr->memory = NULL;
		return PTR_ERR(dmabuf);
	}
	mr->dmabuf = dmabuf;
	mr->memory[0] = (struct kvec){ kofi_dmabuf_addr(dmabuf) + piece->offset, piece->len };
	mr->nr_memory = 1;
	return 0;
}

static int p2p_open_list(struct p2p_mr *mr, const struct fi_mr_attr *attr, size_t nr)
{
	struct p2p_list list = {};

	list.memory = kvmalloc_array(nr, sizeof(*list.memory), GFP_KERNEL | __GFP_NOWARN);
	if (!list.memory)
		return -ENOMEM;
	/* Cannot fail: the list has not changed since p2p_reg() counted its pieces */
	kofi_list_each_piece(attr->type, attr->mr_iov, attr->iov_count, true, p2p_list_piece,
			     &list);
	mr->memory = list.memory;
	mr->nr_memory = nr;
	return 0;
}

static void p2p_close_memory(struct p2p_mr *mr)
{
	if (mr->dmabuf)
		kofi_dmabuf_close(mr->dmabuf);
	kvfree(mr->memory);
	mr->memory = NULL;
}

static int p2p_take(struct p2p_mr *mr, const struct fi_mr_attr *attr, u64 flags,
		    const struct p2p_list *list)
{
	int ret = p2p_may_reg(attr, flags);

	if (!ret)
		ret = p2p_room_take(list->len);
	if (ret)
		return ret;
	ret = flags & FI_MR_DMABUF ? p2p_open_dmabuf(mr, attr->dmabuf) :
				     p2p_open_list(mr, attr, list->nr);
	if (ret)
		goto give;
	ret = p2p_stage(mr, list->len);
	if (ret)
		goto close;
	return 0;

close:
	p2p_close_memory(mr);
give:
	p2p_room_give(list->len);
	return ret;
}

int p2p_reg(struct kofi_hook_obj *obj, struct fi_mr_attr *attr, u64 *flags)
{
	struct p2p_mr *mr = container_of(obj, struct p2p_mr, obj);
	struct p2p_list list = {};
	int ret;

	if (*flags & FI_MR_DMABUF)
		list.len = attr->dmabuf->len;
	/* The provider below registers ordinary memory, and refuses a list that makes no sense */
	else if (!(obj->caps & FI_HMEM) || *flags & FI_MR_ENDPOINT ||
		 kofi_list_each_piece(attr->type, attr->mr_iov, attr->iov_count, true,
				      p2p_list_piece, &list) ||
		 !list.peer)
		return 0;
	ret = p2p_take(mr, attr, *flags, &list);
	if (ret)
		return ret;
	mr->iov.iov_base = mr->staging;
	mr->iov.iov_len = mr->len;
	attr->type = FI_BUF_KVEC;
	attr->mr_iov = &mr->iov;
	attr->iov_count = 1;
	*flags &= ~FI_MR_DMABUF;
	return 0;
}

/* The lower region is closed, so no peer accesses staging any more */
void p2p_unreg(struct kofi_hook_obj *obj)
{
	struct p2p_mr *mr = container_of(obj, struct p2p_mr, obj);
	unsigned long flags;

	if (!mr->memory)
		return;
	spin_lock_irqsave(&p2p_lock, flags);
	list_del_rcu(&mr->entry);
	spin_unlock_irqrestore(&p2p_lock, flags);
	synchronize_srcu_expedited(&p2p_srcu);
	p2p_sync_mr(mr);
	p2p_close_memory(mr);
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
