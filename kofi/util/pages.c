// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of buffers, and the pieces of memory they consist of; the header says
 * what memory is.
 *
 * An element of a list is a kvec, a bio_vec or a scatterlist.  kofi_elem_len() and
 * kofi_elem_next() return its length and the next element; kofi_list_addr() and
 * kofi_list_piece() return the address and the piece of what is left of it.  Functions
 * that walk a list use these four.
 *
 * A list of scatterlists may be chained.  It may end before the count that the client gave;
 * the next element is NULL then.
 *
 * Every function may be called in any context, and several times at once: it reads the
 * client's list and writes only what the caller owns.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bvec.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/scatterlist.h>
#include <linux/uio.h>
#include <kofi/compat.h>
#include <kofi/pages.h>
#include <kofi/refuse.h>

static size_t kofi_elem_len(enum fi_buf_type type, const void *elem)
{
	switch (type) {
	case FI_BUF_KVEC:
		return ((const struct kvec *)elem)->iov_len;
	case FI_BUF_BVEC:
		return ((const struct bio_vec *)elem)->bv_len;
	default:
		return ((const struct scatterlist *)elem)->length;
	}
}

static const void *kofi_elem_next(enum fi_buf_type type, const void *elem)
{
	switch (type) {
	case FI_BUF_KVEC:
		return (const struct kvec *)elem + 1;
	case FI_BUF_BVEC:
		return (const struct bio_vec *)elem + 1;
	default:
		return sg_next((struct scatterlist *)elem);
	}
}

void kofi_list_advance(struct kofi_list_iter *iter, size_t len)
{
	iter->skip += len;
	if (iter->skip < kofi_elem_len(iter->type, iter->elem))
		return;
	iter->skip = 0;
	iter->elem = kofi_elem_next(iter->type, iter->elem);
	iter->count--;
	if (iter->desc)
		iter->desc++;
}
EXPORT_SYMBOL_GPL(kofi_list_advance);

size_t kofi_list_left(const struct kofi_list_iter *iter)
{
	return kofi_elem_len(iter->type, iter->elem) - iter->skip;
}
EXPORT_SYMBOL_GPL(kofi_list_left);

u64 kofi_list_addr(const struct kofi_list_iter *iter)
{
	struct scatterlist *sg = (void *)iter->elem;
	const struct bio_vec *bvec = iter->elem;
	const void *base;

	if (iter->type == FI_BUF_KVEC)
		base = ((const struct kvec *)iter->elem)->iov_base;
	else if (iter->type == FI_BUF_BVEC)
		base = page_address(bvec->bv_page) + bvec->bv_offset;
	else
		base = sg_virt(sg);
	return (uintptr_t)base + iter->skip;
}
EXPORT_SYMBOL_GPL(kofi_list_addr);

bool kofi_page_is_memory(const struct page *page, bool peer)
{
	return page && (peer || !is_pci_p2pdma_page(page));
}
EXPORT_SYMBOL_GPL(kofi_page_is_memory);

/* The linear map also has pages of PCI devices */
static bool kofi_is_linear_page(const void *addr, bool peer)
{
	return virt_addr_valid(addr) && kofi_page_is_memory(virt_to_page(addr), peer);
}

/* Are the first and the last byte of a buffer in the linear map? */
static bool kofi_is_linear(const void *first, const void *last, bool peer)
{
	return kofi_is_linear_page(first, peer) &&
	       ((uintptr_t)first >> PAGE_SHIFT == (uintptr_t)last >> PAGE_SHIFT ||
		kofi_is_linear_page(last, peer));
}

static int kofi_page_piece(struct page *page, size_t offset, size_t len, bool peer,
			   struct kofi_piece *piece)
{
	if (!kofi_page_is_memory(page, peer))
		return -EINVAL;
	piece->addr = page_address(page) + offset;
	piece->page = page;
	piece->offset = offset;
	piece->len = len;
	return 0;
}

static int kofi_vmalloc_piece(void *base, size_t len, bool peer, struct kofi_piece *piece)
{
	piece->addr = base;
	piece->page = vmalloc_to_page(base);
	piece->offset = offset_in_page(base);
	piece->len = min(len, PAGE_SIZE - piece->offset);
	/* Registers of a device are mapped in the vmalloc area, too */
	if (!piece->page || !pfn_valid(page_to_pfn(piece->page)) ||
	    !kofi_page_is_memory(piece->page, peer))
		return -EINVAL;
	return 0;
}

static int kofi_kvec_piece(const struct kvec *kvec, size_t skip, bool peer,
			   struct kofi_piece *piece)
{
	void *base = kvec->iov_base + skip;
	size_t len = kvec->iov_len - skip;

	if (!kvec->iov_base || base + len - 1 < base ||
	    object_is_on_stack(base))
		return -EINVAL;
	if (is_vmalloc_or_module_addr(base))
		return kofi_vmalloc_piece(base, len, peer, piece);
	if (!kofi_is_linear(base, base + len - 1, peer))
		return -EINVAL;
	return kofi_page_piece(virt_to_page(base), offset_in_page(base), len, peer, piece);
}

/* kofi_kvec_piece() would turn such a buffer into one piece */
bool kofi_is_plain_memory(const void *buf, size_t len)
{
	const void *last;

	if (!buf)
		return false;
	last = buf + len - 1;
	return last >= buf && !object_is_on_stack(buf) &&
	       !is_vmalloc_addr(buf) && kofi_is_linear(buf, last, false);
}
EXPORT_SYMBOL_GPL(kofi_is_plain_memory);

/* The part of kofi_is_memory() that looks at pages */
bool kofi_is_memory_exact(const void *buf, size_t len, bool peer)
{
	struct kvec kvec = { .iov_base = (void *)buf, .iov_len = len };
	struct kofi_piece piece;

	if (kofi_kvec_piece(&kvec, 0, peer, &piece))
		return false;
	return piece.len == len || !kofi_kvec_piece(&kvec, len - 1, peer, &piece);
}
EXPORT_SYMBOL_GPL(kofi_is_memory_exact);

int kofi_list_piece(const struct kofi_list_iter *iter, struct kofi_piece *piece)
{
	struct scatterlist *sg = (void *)iter->elem;
	const struct bio_vec *bvec = iter->elem;

	switch (iter->type) {
	case FI_BUF_KVEC:
		return kofi_kvec_piece(iter->elem, iter->skip, iter->peer, piece);
	case FI_BUF_BVEC:
		return kofi_page_piece(bvec->bv_page,
				       bvec->bv_offset + iter->skip,
				       bvec->bv_len - iter->skip, iter->peer, piece);
	default:
		return kofi_page_piece(sg_page(sg), sg->offset + iter->skip,
				       sg->length - iter->skip, iter->peer, piece);
	}
}
EXPORT_SYMBOL_GPL(kofi_list_piece);

bool kofi_list_more(struct kofi_list_iter *iter)
{
	while (iter->count && iter->elem &&
	       !kofi_elem_len(iter->type, iter->elem))
		kofi_list_advance(iter, 0);
	return iter->count && iter->elem;
}
EXPORT_SYMBOL_GPL(kofi_list_more);

/* After an error, @iter stands at the piece that caused it */
static int kofi_list_walk(struct kofi_list_iter *iter, kofi_piece_fn fn, void *context)
{
	struct kofi_piece piece;
	int ret = 0;

	while (!ret && kofi_list_more(iter)) {
		ret = kofi_list_piece(iter, &piece);
		if (!ret && fn)
			ret = fn(context, &piece);
		if (!ret)
			kofi_list_advance(iter, piece.len);
	}
	return ret;
}

int kofi_list_each_piece(enum fi_buf_type type, const void *list, size_t count, bool peer,
			 kofi_piece_fn fn, void *context)
{
	struct kofi_list_iter iter = {
		.type	= type,
		.elem	= list,
		.count	= count,
		.peer	= peer,
	};
	int ret;

	if (type > FI_BUF_SGL || (count && !list))
		return -EINVAL;
	ret = kofi_list_walk(&iter, fn, context);
	/* A list of scatterlists may end early */
	return iter.count && !ret ? -EINVAL : ret;
}
EXPORT_SYMBOL_GPL(kofi_list_each_piece);

static const char *kofi_why_no_memory(const struct kofi_list_iter *iter)
{
	struct kofi_list_iter peer = *iter;
	struct kofi_piece piece;
	const void *addr;

	peer.peer = true;
	if (!kofi_list_piece(&peer, &piece))
		return "memory of a PCI device, for a domain that was opened without FI_HMEM";
	if (iter->type != FI_BUF_KVEC)
		return "no page";
	addr = (const void *)(uintptr_t)kofi_list_addr(iter);
	if (object_is_on_stack(addr))
		return "on the stack";
	if (!is_vmalloc_addr(addr))
		return "no kernel memory";
	if (IS_ENABLED(CONFIG_PCI_P2PDMA))
		return "mapped, but has no pages, as registers of a device";
	return "mapped, but has no pages; a device's memory takes CONFIG_PCI_P2PDMA";
}

/* Many clients may start at once with a wrong list, and each needs its line in the log */
static DEFINE_RATELIMIT_STATE(kofi_list_lines, DEFAULT_RATELIMIT_INTERVAL, 64);

static bool kofi_list_say(const char *call, enum fi_buf_type type, const void *list,
			  size_t count, bool peer, size_t *at, const char **why)
{
	struct kofi_list_iter iter = {
		.type	= type,
		.elem	= list,
		.count	= count,
		.peer	= peer,
	};

	if (type > FI_BUF_SGL || !kofi_list_walk(&iter, NULL, NULL))
		return false;
	*why = kofi_why_no_memory(&iter);
	*at = count - iter.count + 1;
	kofi_refuse(call, -EINVAL, "element %zu of %zu is %s", *at, count, *why);
	return true;
}

bool kofi_list_refuse(const char *call, enum fi_buf_type type, const void *list, size_t count,
		      bool peer)
{
	const char *why;
	size_t at;

	return kofi_list_say(call, type, list, count, peer, &at, &why);
}
EXPORT_SYMBOL_GPL(kofi_list_refuse);

void kofi_list_log(const char *call, enum fi_buf_type type, const void *list, size_t count,
		   bool peer)
{
	const char *why;
	size_t at;

	if (kofi_list_say(call, type, list, count, peer, &at, &why) &&
	    __ratelimit(&kofi_list_lines))
		pr_warn("region refused: element %zu of %zu is %s\n", at, count, why);
}
EXPORT_SYMBOL_GPL(kofi_list_log);

ssize_t kofi_list_len(enum fi_buf_type type, const void *list, size_t count,
		      size_t max)
{
	size_t len, total = 0;

	if (type > FI_BUF_SGL || (count && !list))
		return -EINVAL;
	max = min_t(size_t, max, SSIZE_MAX);
	for (; count; count--) {
		/* A list of scatterlists may end early */
		if (!list)
			return -EINVAL;
		len = kofi_elem_len(type, list);
		if (len > max - total)
			return -EMSGSIZE;
		total += len;
		list = kofi_elem_next(type, list);
	}
	return total;
}
EXPORT_SYMBOL_GPL(kofi_list_len);

static int kofi_count_pages(void *context, const struct kofi_piece *piece)
{
	ssize_t *pages = context;

	*pages += DIV_ROUND_UP(offset_in_page(piece->addr) + piece->len,
			       PAGE_SIZE);
	return 0;
}

ssize_t kofi_list_pages(enum fi_buf_type type, const void *list, size_t count)
{
	ssize_t pages = 0;
	int ret;

	ret = kofi_list_each_piece(type, list, count, true, kofi_count_pages, &pages);
	return ret ? : pages;
}
EXPORT_SYMBOL_GPL(kofi_list_pages);

void kofi_list_gather(void *to, enum fi_buf_type type, const void *list,
		      size_t count, size_t len)
{
	const struct kvec *kvec = list;
	struct iov_iter iter;

	switch (type) {
	case FI_BUF_KVEC:
		for (; count; count--, kvec++) {
			memcpy(to, kvec->iov_base, kvec->iov_len);
			to += kvec->iov_len;
		}
		break;
	case FI_BUF_BVEC:
		iov_iter_bvec(&iter, ITER_SOURCE, list, count, len);
		/* copy_from_iter() would check whether user space may see @to */
		_copy_from_iter(to, len, &iter);
		break;
	default:
		sg_copy_to_buffer((struct scatterlist *)list, count, to, len);
	}
}
EXPORT_SYMBOL_GPL(kofi_list_gather);
