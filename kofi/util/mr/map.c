// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions of providers without hardware.
 *
 * Keys
 *
 * The lower bits of a key that the map chooses, 24 of 64, are an index, which the region has as
 * long as it is open.  The upper ones are a generation that begins at random and counts up
 * each time that the region is enabled.  Indices are handed out round robin.  So a
 * look-up is one load of an array and a comparison, and a new key needs no memory and no
 * lock.  A key that has ended does not become the key of another region: that region has
 * another index, or it has the same index 2^24 registrations later and another 40 random
 * bits.  Short keys have 16 bits of each.
 *
 * Keys that clients request are in a hash table, which changes only when a region is registered
 * or closed.  A domain may have keys of both kinds, as a region of an endpoint always has a
 * chosen key.  So that no key is of both kinds, registering and enabling first write their own
 * key, then look for an equal key of the other kind.  Of two calls at the same time at least one
 * sees the key of the other call.  Then registering is refused, and enabling takes the next
 * generation.
 *
 * Accesses
 *
 * @refs counts the accesses, and one more for the key.  An access takes a reference only
 * if there is one already, and compares the key afterwards, as the region may have got
 * another key meanwhile.  fi_mr_disable() and the close overwrite the key and give its
 * reference back; the put that brings the counter to 0 ends the key.  From then on
 * nothing reads or writes the memory until kofi_mr_begin() sets the counter to 1.
 *
 * The atomic operations on @refs are fully ordered, and the store of 1 is a release:
 * an access that gets a reference sees the memory, the rights and the key of that
 * time, and the put that finds the counter at 0 sees all that accesses have written.
 *
 * @holds keeps fi_close() waiting while a key ends, and while the provider reports it.  A
 * look-up may read a region without a reference, so the region is freed after a grace
 * period.  The list is freed before that: only an access looks at it.
 *
 * An access lasts as long as the processor copies, and waits for no peer.  An operation whose
 * data come and go piece by piece is one access for each piece.  In between it only pins the
 * region: @pins keep the structure, not the memory, and kofi_mr_get_again() gets the next
 * reference if the key has not ended.  An operation has to keep a reference while somebody else
 * holds pages of the region, such as TCP.  Then it is among @borrowers, and kofi_mr_end() has it
 * give the pages back.
 *
 * ep.c has the calls that give a region a key and take it back.  Every other region
 * has its key from the registration to the close.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <kofi/cntr.h>
#include <kofi/dmabuf.h>
#include <kofi/iov.h>
#include <kofi/mr_map.h>
#include <kofi/pages.h>
#include <kofi/pmem.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include <kofi/rma.h>
#include <kofi/stat.h>
#include "mr.h"

#define KOFI_MR_INDEX_MASK	GENMASK_ULL(23, 0)
/* Neither 0 nor FI_KEY_NOTAVAIL is a key that the map chooses */
#define KOFI_MR_MIN_INDEX	1
#define KOFI_MR_MAX_INDEX	(KOFI_MR_INDEX_MASK - 1)

/* So that the lengths of an operation's ranges can be added up */
#define KOFI_MR_MAX_LEN		(SIZE_MAX / KOFI_RMA_MAX_IOV)

#define KOFI_MR_REMOTE		(FI_REMOTE_READ | FI_REMOTE_WRITE)

static const struct rhashtable_params kofi_mr_hash = {
	.key_len		= sizeof_field(struct kofi_mr, mr.key),
	.key_offset		= offsetof(struct kofi_mr, mr.key),
	.head_offset		= offsetof(struct kofi_mr, node),
	.automatic_shrinking	= true,
};

int kofi_mr_map_init(struct kofi_mr_map *map, int mr_mode, bool peer,
		     const struct kofi_mr_ops *ops)
{
	map->ops = ops;
	map->mr_mode = mr_mode & (FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
	map->peer = peer;
	map->index_mask = KOFI_MR_INDEX_MASK;
	map->key_mask = U64_MAX;
	map->next = KOFI_MR_MIN_INDEX;
	map->max = KOFI_MR_MAX_INDEX;
	xa_init_flags(&map->chosen, XA_FLAGS_ALLOC1);
	return rhashtable_init(&map->requested, &kofi_mr_hash);
}
EXPORT_SYMBOL_GPL(kofi_mr_map_init);

void kofi_mr_map_set_short(struct kofi_mr_map *map)
{
	map->index_mask = U16_MAX;
	map->key_mask = U32_MAX;
	map->max = KOFI_MR_SHORT_REGIONS;
}
EXPORT_SYMBOL_GPL(kofi_mr_map_set_short);

void kofi_mr_map_destroy(struct kofi_mr_map *map)
{
	unsigned long index = 0;

	WARN_ON_ONCE(xa_find(&map->chosen, &index, ULONG_MAX, XA_PRESENT));
	/* A registration that failed for want of memory may have left nodes */
	xa_destroy(&map->chosen);
	rhashtable_destroy(&map->requested);
}
EXPORT_SYMBOL_GPL(kofi_mr_map_destroy);

static struct kofi_mr *kofi_mr_chosen(struct kofi_mr_map *map, u64 key)
{
	struct kofi_mr *mr = xa_load(&map->chosen, key & map->index_mask);

	return mr && READ_ONCE(mr->mr.key) == key ? mr : NULL;
}

static struct kofi_mr *kofi_mr_requested(struct kofi_mr_map *map, u64 key)
{
	if (map->mr_mode & FI_MR_PROV_KEY)
		return NULL;
	return rhashtable_lookup(&map->requested, &key, kofi_mr_hash);
}

/* Complete fi_mr_disable(): the key has ended and no access is under way */
static void kofi_mr_report(struct kofi_mr *mr)
{
	void *token = mr->token;
	u64 key = mr->ended;

	/* A client that sees this may disable the region again, before ->disabled() */
	smp_store_release(&mr->state, KOFI_MR_EMPTY);
	mr->map->ops->disabled(mr, key, token);
}

static void kofi_mr_ended(struct kofi_mr *mr)
{
	if (mr->report) {
		mr->report = false;
		kofi_mr_report(mr);
	}
	if (refcount_dec_and_test(&mr->holds))
		complete(&mr->idle);
}

void kofi_mr_put(struct kofi_mr *mr)
{
	if (unlikely(atomic_dec_and_test(&mr->refs)))
		kofi_mr_ended(mr);
}
EXPORT_SYMBOL_GPL(kofi_mr_put);

bool kofi_mr_get_again(struct kofi_mr *mr, u64 key)
{
	if (!atomic_inc_not_zero(&mr->refs))
		return false;
	if (likely(READ_ONCE(mr->mr.key) == key))
		return true;
	kofi_mr_put(mr);
	return false;
}
EXPORT_SYMBOL_GPL(kofi_mr_get_again);

void kofi_mr_unpin(struct kofi_mr *mr)
{
	if (refcount_dec_and_test(&mr->pins))
		kfree_rcu(mr, rcu);
}
EXPORT_SYMBOL_GPL(kofi_mr_unpin);

bool kofi_mr_borrow(struct kofi_mr *mr, u64 key, struct kofi_mr_borrower *borrower)
{
	unsigned long flags;
	bool there;

	if (!kofi_mr_get_again(mr, key))
		return false;
	spin_lock_irqsave(&mr->lock, flags);
	/* If the key has ended meanwhile, kofi_mr_end() may have walked the list already */
	there = READ_ONCE(mr->mr.key) == key;
	if (there)
		list_add_tail(&borrower->entry, &mr->borrowers);
	spin_unlock_irqrestore(&mr->lock, flags);
	if (!there)
		kofi_mr_put(mr);
	return there;
}
EXPORT_SYMBOL_GPL(kofi_mr_borrow);

void kofi_mr_return(struct kofi_mr *mr, struct kofi_mr_borrower *borrower)
{
	unsigned long flags;

	spin_lock_irqsave(&mr->lock, flags);
	list_del(&borrower->entry);
	spin_unlock_irqrestore(&mr->lock, flags);
	kofi_mr_put(mr);
}
EXPORT_SYMBOL_GPL(kofi_mr_return);

static bool kofi_mr_allows(const struct kofi_mr *mr, u64 addr, size_t len, u64 access,
			   size_t *offset)
{
	u64 first = addr - mr->mr.addr;

	if ((mr->access & access) != access)
		return false;
	if (first > mr->iov->len || len > mr->iov->len - first)
		return false;
	if (mr->dmabuf && !kofi_dmabuf_is_there(mr->dmabuf))
		return false;
	*offset = first;
	return true;
}

struct kofi_mr *kofi_mr_get(struct kofi_mr_map *map, const struct fid_ep *ep,
			    u64 key, u64 addr, size_t len, u64 access,
			    size_t *offset)
{
	struct kofi_mr *mr;

	rcu_read_lock();
	mr = kofi_mr_requested(map, key) ? : kofi_mr_chosen(map, key);
	/* So only accesses through its endpoint have references to a region of an endpoint */
	if (mr && ((mr->ep && mr->ep != ep) || !kofi_mr_get_again(mr, key)))
		mr = NULL;
	rcu_read_unlock();
	if (!mr)
		return ERR_PTR(-EACCES);

	if (unlikely(!kofi_mr_allows(mr, addr, len, access, offset))) {
		kofi_mr_put(mr);
		return ERR_PTR(-EACCES);
	}
	if (mr->ep && !READ_ONCE(mr->used))
		WRITE_ONCE(mr->used, true);
	return mr;
}
EXPORT_SYMBOL_GPL(kofi_mr_get);

/* The element that has the byte at @offset; the last one if @offset is the end */
static size_t kofi_mr_find(const struct kofi_mr *mr, size_t offset)
{
	size_t low = 0, high = mr->iov->count - 1, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (mr->ends[mid] > offset)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void kofi_mr_iter(const struct kofi_mr *mr, unsigned int direction,
		  size_t offset, size_t len, struct iov_iter *iter)
{
	size_t first = kofi_mr_find(mr, offset);
	size_t skip = first ? offset - mr->ends[first - 1] : offset;
	const struct kofi_iov *iov = mr->iov;

	if (iov->pages)
		iov_iter_bvec(iter, direction, &iov->bvec[first],
			      iov->count - first, skip + len);
	else
		iov_iter_kvec(iter, direction, &iov->kvec[first],
			      iov->count - first, skip + len);
	iov_iter_advance(iter, skip);
}
EXPORT_SYMBOL_GPL(kofi_mr_iter);

void kofi_mr_count(struct kofi_mr *mr, u64 access, int err, size_t len)
{
	/* Pairs with kofi_mr_bind(): the region may be in use already */
	struct kofi_cntr *cntr = smp_load_acquire(&mr->cntr);

	if (cntr && mr->counted & access)
		kofi_cntr_done(cntr, err, len);
}
EXPORT_SYMBOL_GPL(kofi_mr_count);

int kofi_mr_fill(struct kofi_mr *mr, size_t max,
		 const struct fi_mr_attr *attr)
{
	size_t pages = 0, end = 0, begin, len;
	struct kofi_iov *iov = mr->iov;
	int ret;
	u32 i;

	ret = kofi_iov_set(iov, max, attr->type, attr->mr_iov, attr->iov_count,
			   KOFI_MR_MAX_LEN, mr->map->peer);
	if (ret == -EMSGSIZE)
		return kofi_refuse("mr_reg", ret, "the list has more than %zu bytes",
				   (size_t)KOFI_MR_MAX_LEN);
	if (ret)
		return ret;
	if (!iov->len)
		return kofi_refuse("mr_reg", -EINVAL, "the list has no bytes");
	for (i = 0; i < iov->count; i++) {
		begin = iov->pages ? iov->bvec[i].bv_offset :
				     (uintptr_t)iov->kvec[i].iov_base;
		len = iov->pages ? iov->bvec[i].bv_len : iov->kvec[i].iov_len;
		pages += DIV_ROUND_UP(offset_in_page(begin) + len, PAGE_SIZE);
		end += len;
		if (max > 1)
			mr->ends[i] = end;
	}
	if (mr->limit && pages > mr->limit)
		return kofi_refuse("mr_refresh", -EMSGSIZE, "the list has %zu pages; the region was registered for %zu",
				   pages, mr->limit);
	mr->access = attr->access;
	return 0;
}

int kofi_mr_alloc_list(struct kofi_mr *mr, size_t max)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;

	mr->iov = kvmalloc(kofi_iov_size(max), gfp);
	if (!mr->iov)
		return -ENOMEM;
	if (max == 1)
		return 0;
	mr->ends = kvmalloc_array(max, sizeof(*mr->ends), gfp);
	return mr->ends ? 0 : -ENOMEM;
}

/* The whole dma-buf is mapped, and the region is a piece of it */
static int kofi_mr_fill_dmabuf(struct kofi_mr *mr, const struct fi_mr_attr *attr)
{
	const struct fi_mr_dmabuf *piece = attr->dmabuf;
	struct kofi_dmabuf *dmabuf;

	/* A dma-buf has no address by which an operation could name it as a local buffer */
	if (attr->access & ~KOFI_MR_REMOTE)
		return kofi_refuse("mr_regattr", -EOPNOTSUPP, "attr->access: only peers reach a dma-buf that the processor copies, so FI_REMOTE_READ and FI_REMOTE_WRITE");
	if (piece->len > KOFI_MR_MAX_LEN)
		return kofi_refuse("mr_regattr", -EMSGSIZE, "%zu bytes; the most is %zu",
				   piece->len, (size_t)KOFI_MR_MAX_LEN);
	dmabuf = kofi_dmabuf_open(piece->dmabuf, KOFI_DMABUF_STOPS);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	mr->dmabuf = dmabuf;
	mr->access = attr->access;
	kofi_iov_set_buf(mr->iov, kofi_dmabuf_addr(dmabuf) + piece->offset, piece->len);
	return 0;
}

static void kofi_mr_free(struct kofi_mr *mr)
{
	kofi_pmem_free(mr);
	if (mr->dmabuf)
		kofi_dmabuf_close(mr->dmabuf);
	kvfree(mr->ends);
	kvfree(mr->iov);
	kofi_mr_unpin(mr);
}

void kofi_mr_begin(struct kofi_mr *mr)
{
	refcount_inc(&mr->holds);
	mr->used = false;
	mr->invalidated = false;
	mr->state = KOFI_MR_ENABLED;
	atomic_set_release(&mr->refs, 1);
}

void kofi_mr_end(struct kofi_mr *mr, bool report)
{
	struct kofi_mr_borrower *borrower;
	unsigned long flags;
	bool invalidated;

	spin_lock_irqsave(&mr->lock, flags);
	invalidated = mr->invalidated;
	if (!invalidated) {
		mr->report = report;
		mr->ended = mr->mr.key;
		mr->state = KOFI_MR_ENDING;
		WRITE_ONCE(mr->mr.key, FI_KEY_NOTAVAIL);
		list_for_each_entry(borrower, &mr->borrowers, entry)
			borrower->recall(borrower);
	}
	spin_unlock_irqrestore(&mr->lock, flags);
	if (!invalidated)
		kofi_mr_put(mr);
	else if (report)
		kofi_mr_report(mr);
}

int kofi_mr_invalidate(struct kofi_mr_map *map, const struct fid_ep *ep, u64 key)
{
	unsigned long flags;
	struct kofi_mr *mr;
	int ret = 0;

	rcu_read_lock();
	mr = kofi_mr_chosen(map, key);
	if (mr && (mr->ep != ep || !kofi_mr_get_again(mr, key)))
		mr = NULL;
	rcu_read_unlock();
	if (!mr)
		return -EACCES;

	spin_lock_irqsave(&mr->lock, flags);
	/* If it is another one, fi_mr_disable() or fi_close() has ended it first */
	if (mr->mr.key != key)
		ret = -EACCES;
	else if (!list_empty(&mr->borrowers))
		ret = -EBUSY;
	if (!ret) {
		mr->ended = key;
		WRITE_ONCE(mr->mr.key, FI_KEY_NOTAVAIL);
		/* There are two references, that of the key and this one */
		WARN_ON_ONCE(!atomic_sub_and_test(2, &mr->refs));
		/* Pairs with kofi_mr_ep_disable() */
		smp_store_release(&mr->invalidated, true);
	}
	spin_unlock_irqrestore(&mr->lock, flags);
	if (ret)
		kofi_mr_put(mr);
	else if (refcount_dec_and_test(&mr->holds))
		complete(&mr->idle);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_mr_invalidate);

int kofi_mr_insert_chosen(struct kofi_mr *mr)
{
	struct kofi_mr_map *map = mr->map;
	u32 index;
	int ret;

	ret = xa_alloc_cyclic(&map->chosen, &index, mr,
			      XA_LIMIT(KOFI_MR_MIN_INDEX, map->max),
			      &map->next, GFP_KERNEL);
	if (ret < 0)
		return ret != -EBUSY ? ret :
		       kofi_refuse("mr_reg", -FI_ENOMR, "the domain has %u regions, and no more",
				   map->max);
	mr->index = index;
	return 0;
}

static void kofi_mr_remove_requested(struct kofi_mr *mr)
{
	rhashtable_remove_fast(&mr->map->requested, &mr->node, kofi_mr_hash);
}

static int kofi_mr_refuse_key(u64 key)
{
	return kofi_refuse("mr_reg", -FI_ENOKEY, "requested_key %#llx: another region of the domain has it",
			   key);
}

static int kofi_mr_insert_requested(struct kofi_mr *mr, u64 key)
{
	struct kofi_mr_map *map = mr->map;
	bool chosen;
	int ret;

	if (key == FI_KEY_NOTAVAIL)
		return kofi_refuse("mr_reg", -FI_EKEYREJECTED, "requested_key is FI_KEY_NOTAVAIL");
	if (key & ~map->key_mask)
		return kofi_refuse("mr_reg", -FI_EKEYREJECTED, "requested_key %#llx: the keys of the domain have 4 bytes (mr_key_size)",
				   key);
	mr->mr.key = key;
	ret = rhashtable_lookup_insert_fast(&map->requested, &mr->node,
					    kofi_mr_hash);
	if (ret)
		return ret == -EEXIST ? kofi_mr_refuse_key(key) : ret;
	/* Pairs with kofi_mr_choose_key() */
	smp_mb();
	rcu_read_lock();
	chosen = kofi_mr_chosen(map, key);
	rcu_read_unlock();
	if (!chosen)
		return 0;
	kofi_mr_remove_requested(mr);
	return kofi_mr_refuse_key(key);
}

u64 kofi_mr_random_key(const struct kofi_mr *mr)
{
	const struct kofi_mr_map *map = mr->map;

	return (mr->index | (get_random_u64() & ~map->index_mask)) & map->key_mask;
}

void kofi_mr_choose_key(struct kofi_mr *mr, u64 key)
{
	const struct kofi_mr_map *map = mr->map;
	bool requested;

	do {
		key = (key + map->index_mask + 1) & map->key_mask;
		WRITE_ONCE(mr->mr.key, key);
		/* Pairs with kofi_mr_insert_requested() */
		smp_mb();
		rcu_read_lock();
		requested = kofi_mr_requested(mr->map, key);
		rcu_read_unlock();
	} while (unlikely(requested));
}

static int kofi_mr_close(struct fid *fid)
{
	struct kofi_mr *mr = to_kofi_mr(fid);
	struct kofi_mr_map *map = mr->map;

	if (mr->index)
		xa_erase(&map->chosen, mr->index);
	else if (mr->mr.key != FI_KEY_NOTAVAIL)
		kofi_mr_remove_requested(mr);

	if (READ_ONCE(mr->state) == KOFI_MR_ENABLED)
		kofi_mr_end(mr, false);
	if (!refcount_dec_and_test(&mr->holds))
		wait_for_completion(&mr->idle);
	kofi_mr_free(mr);
	return 0;
}

/* Binds a region to a counter, or, before it is enabled, to its endpoint */
static int kofi_mr_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct kofi_mr *mr = to_kofi_mr(fid);

	if (bfid->fclass == FI_CLASS_CNTR) {
		if (flags & ~KOFI_MR_REMOTE)
			return kofi_refuse_flags("mr_bind", flags, KOFI_MR_REMOTE);
		mr->counted = flags ? : KOFI_MR_REMOTE;
		/* Pairs with kofi_mr_count() */
		smp_store_release(&mr->cntr, to_kofi_cntr(bfid));
		return 0;
	}
	if (bfid->fclass != FI_CLASS_EP)
		return kofi_refuse("mr_bind", -ENOSYS, "a region can be bound to an endpoint or a counter");
	if (!mr->limit)
		return kofi_refuse("mr_bind", -ENOSYS, "the region was registered without FI_MR_ENDPOINT");
	if (flags)
		return kofi_refuse_flags("mr_bind", flags, 0);
	mr->ep = container_of(bfid, struct fid_ep, fid);
	return 0;
}

static const char *kofi_mr_state_name(enum kofi_mr_state state)
{
	static const char *const states[] = {
		[KOFI_MR_EMPTY]		= "empty",
		[KOFI_MR_READY]		= "ready",
		[KOFI_MR_ENABLED]	= "enabled",
		[KOFI_MR_ENDING]	= "ending",
	};

	return states[state];
}

/* Refuses a call because of the region's state */
int kofi_mr_refuse(const char *call, const struct kofi_mr *mr, const char *wanted)
{
	return kofi_refuse(call, -FI_EOPBADSTATE, "the region is %s, and has to be %s",
			   kofi_mr_state_name(READ_ONCE(mr->state)), wanted);
}

static int kofi_mr_control(struct fid *fid, int command, void *arg)
{
	const struct kofi_mr *mr = to_kofi_mr(fid);
	enum kofi_mr_state state = READ_ONCE(mr->state);
	struct kofi_stat *stat = arg;

	if (command != KOFI_GETSTAT)
		return kofi_refuse("control", -ENOSYS, "a region has no command %d", command);
	stat->state = kofi_mr_state_name(state);
	kofi_stat_add(stat, "size", state == KOFI_MR_EMPTY ? 0 : READ_ONCE(mr->iov->len));
	if (mr->limit)
		kofi_stat_add(stat, "page_limit", mr->limit);
	return 0;
}

static const struct fi_ops kofi_mr_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_mr_close,
	.bind		= kofi_mr_bind,
	.control	= kofi_mr_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static struct kofi_mr *kofi_mr_alloc(struct kofi_mr_map *map,
				     const struct fi_mr_attr *attr)
{
	struct kofi_mr *mr = kzalloc(map->ops->size, GFP_KERNEL);

	if (!mr)
		return NULL;
	mr->mr.fid.fclass = FI_CLASS_MR;
	mr->mr.fid.context = attr->context;
	mr->mr.fid.ops = &kofi_mr_fid_ops;
	mr->mr.ops = &kofi_no_ops_mr_ep;
	mr->mr.key = FI_KEY_NOTAVAIL;
	mr->map = map;
	spin_lock_init(&mr->lock);
	INIT_LIST_HEAD(&mr->borrowers);
	refcount_set(&mr->pins, 1);
	refcount_set(&mr->holds, 1);
	init_completion(&mr->idle);
	return mr;
}

/* The address of the first byte for peers, with FI_MR_VIRT_ADDR; the list is not empty */
static u64 kofi_mr_addr(const struct kofi_mr *mr, const struct fi_mr_attr *attr)
{
	const struct kofi_iov *iov = mr->iov;

	if (mr->dmabuf)
		return (uintptr_t)attr->dmabuf->base_addr + attr->dmabuf->offset;
	if (!iov->pages)
		return (uintptr_t)iov->kvec[0].iov_base;
	return (uintptr_t)page_address(iov->bvec[0].bv_page) +
	       iov->bvec[0].bv_offset;
}

/* Sets up a region that has its key at once */
static int kofi_mr_init(struct kofi_mr *mr, const struct fi_mr_attr *attr, u64 flags)
{
	bool prov_key = mr->map->mr_mode & FI_MR_PROV_KEY;
	int ret;

	ret = kofi_mr_alloc_list(mr, attr->iov_count);
	if (!ret)
		ret = flags & FI_MR_DMABUF ? kofi_mr_fill_dmabuf(mr, attr) :
					     kofi_mr_fill(mr, attr->iov_count, attr);
	if (!ret && flags & FI_RMA_PMEM)
		ret = kofi_pmem_init(mr);
	if (ret)
		return ret;

	if (mr->map->mr_mode & FI_MR_VIRT_ADDR)
		mr->mr.addr = kofi_mr_addr(mr, attr);
	if (attr->access & KOFI_MR_REMOTE)
		ret = prov_key ? kofi_mr_insert_chosen(mr) :
				 kofi_mr_insert_requested(mr, attr->requested_key);
	if (ret)
		return ret;
	if (mr->index)
		kofi_mr_choose_key(mr, kofi_mr_random_key(mr));
	kofi_mr_begin(mr);
	return 0;
}

int kofi_mr_regattr(struct kofi_mr_map *map, const struct fi_mr_attr *attr,
		    u64 flags, struct fid_mr **mr)
{
	struct kofi_mr *new;
	int ret;

	/* FI_RMA_EVENT changes nothing: any region counts if a counter is bound to it */
	ret = kofi_check_flags("mr_regattr", flags, FI_MR_ENDPOINT | FI_MR_LEND | FI_MR_DMABUF |
			       FI_RMA_EVENT | FI_RMA_PMEM);
	if (ret)
		return ret;
	/* fi_mr_refresh() of a region of an endpoint must not sleep, so it opens no dma-buf */
	if (flags & FI_MR_DMABUF && flags & (FI_MR_ENDPOINT | FI_MR_LEND | FI_RMA_PMEM))
		return kofi_refuse("mr_regattr", -FI_EBADFLAGS, "flags: FI_MR_DMABUF goes with none of FI_MR_ENDPOINT, FI_MR_LEND and FI_RMA_PMEM");
	/* A region of an endpoint gets other memory again and again */
	if (flags & FI_MR_ENDPOINT && flags & FI_RMA_PMEM)
		return kofi_refuse("mr_regattr", -FI_EBADFLAGS, "flags: FI_MR_ENDPOINT and FI_RMA_PMEM do not go together");
	ret = map->ops->may_register(map);
	if (ret)
		return ret;
	new = kofi_mr_alloc(map, attr);
	if (!new)
		return -ENOMEM;
	new->lent = flags & FI_MR_LEND;
	ret = flags & FI_MR_ENDPOINT ? kofi_mr_ep_init(new, attr) :
				       kofi_mr_init(new, attr, flags);
	if (ret) {
		kofi_mr_free(new);
		return ret;
	}
	*mr = &new->mr;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_mr_regattr);

static int kofi_mr_domain_regattr(struct fid *fid,
				  const struct fi_mr_attr *attr, u64 flags,
				  struct fid_mr **mr)
{
	struct kofi_mr_domain *domain =
		container_of(fid, struct kofi_mr_domain, domain.fid);

	return kofi_mr_regattr(&domain->map, attr, flags, mr);
}

int kofi_mr_reg_list(struct fid *fid, const struct kvec *iov, size_t count, u64 access, u64 offset,
		     u64 requested_key, u64 flags, struct fid_mr **mr, void *context)
{
	const struct fid_domain *domain = container_of(fid, struct fid_domain, fid);
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= iov,
		.iov_count	= count,
		.access		= access,
		.offset		= offset,
		.requested_key	= requested_key,
		.context	= context,
	};

	return domain->mr->regattr(fid, &attr, flags, mr);
}
EXPORT_SYMBOL_GPL(kofi_mr_reg_list);

int kofi_mr_reg_buf(struct fid *fid, const void *buf, size_t len, u64 access, u64 offset,
		    u64 requested_key, u64 flags, struct fid_mr **mr, void *context)
{
	const struct kvec kvec = { .iov_base = (void *)buf, .iov_len = len };

	return kofi_mr_reg_list(fid, &kvec, 1, access, offset, requested_key, flags, mr, context);
}
EXPORT_SYMBOL_GPL(kofi_mr_reg_buf);

const struct fi_ops_mr kofi_mr_domain_ops = {
	.size		= sizeof(struct fi_ops_mr),
	.reg		= kofi_mr_reg_buf,
	.regv		= kofi_mr_reg_list,
	.regattr	= kofi_mr_domain_regattr,
};
EXPORT_SYMBOL_GPL(kofi_mr_domain_ops);
