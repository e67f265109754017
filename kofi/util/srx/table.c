// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Looking receives and messages up by kind, tag and sender.
 *
 * A bucket holds one link for each key, the oldest that has the key; all younger links with
 * the key are in a ring behind it.  So a look-up compares the keys of one bucket, however many
 * receives have one of them, and there are no more keys than buckets.  When the oldest link
 * leaves, the next in the ring takes its place in the bucket.
 *
 * Each receive side has a secret for its hash of tags.  Tags come from peers, which could otherwise
 * choose tags that all fall into one bucket.  Untagged keys differ in the sender's fi_addr_t alone,
 * which is this side's choice.
 *
 * The tables are guarded by the lock of the receive side.  Keys are hashed without it.
 */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "srx.h"

int kofi_srx_table_init(struct kofi_srx_table *table, size_t entries)
{
	size_t buckets = roundup_pow_of_two(max_t(size_t, entries, 1));

	table->heads = kvcalloc(buckets, sizeof(*table->heads),
				GFP_KERNEL | __GFP_NOWARN);
	if (!table->heads)
		return -ENOMEM;
	table->mask = buckets - 1;
	return 0;
}

void kofi_srx_table_destroy(struct kofi_srx_table *table)
{
	kvfree(table->heads);
}

void kofi_srx_key_set(const struct kofi_srx *srx, struct kofi_srx_key *key,
		      u32 kind, u64 tag, fi_addr_t src)
{
	if (kind == KOFI_SRX_UNTAGGED) {
		kofi_srx_key_set_untagged(key, src);
		return;
	}
	key->tag = tag;
	key->src = src;
	key->kind = kind;
	key->hash = hsiphash_4u32(lower_32_bits(tag), upper_32_bits(tag), lower_32_bits(src),
				  upper_32_bits(src) ^ kind << 30, &srx->secret);
}

static struct hlist_head *kofi_srx_bucket(const struct kofi_srx_table *table,
					  const struct kofi_srx_key *key)
{
	return &table->heads[key->hash & table->mask];
}

struct kofi_srx_link *kofi_srx_find(struct kofi_srx *srx,
				    const struct kofi_srx_table *table,
				    const struct kofi_srx_key *key)
{
	struct kofi_srx_link *link;

	lockdep_assert_held(&srx->lock);
	hlist_for_each_entry(link, kofi_srx_bucket(table, key), node) {
		srx->compared++;
		if (link->key.tag == key->tag && link->key.src == key->src &&
		    link->key.kind == key->kind)
			return link;
	}
	return NULL;
}

void kofi_srx_link_init(struct kofi_srx_link *link)
{
	INIT_HLIST_NODE(&link->node);
	INIT_LIST_HEAD(&link->same);
}

/* Puts a link behind all that have its key */
void kofi_srx_link(struct kofi_srx *srx, const struct kofi_srx_table *table,
		   struct kofi_srx_link *link)
{
	struct kofi_srx_link *oldest = kofi_srx_find(srx, table, &link->key);

	if (oldest)
		list_add_tail(&link->same, &oldest->same);
	else
		hlist_add_head(&link->node, kofi_srx_bucket(table, &link->key));
}

/* Does nothing if @link is in no table; also takes a member out of kofi_srx.wild */
void kofi_srx_unlink(struct kofi_srx_link *link)
{
	struct kofi_srx_link *next;

	if (!hlist_unhashed(&link->node)) {
		if (!list_empty(&link->same)) {
			next = list_next_entry(link, same);
			hlist_add_behind(&next->node, &link->node);
		}
		hlist_del_init(&link->node);
	}
	list_del_init(&link->same);
}
