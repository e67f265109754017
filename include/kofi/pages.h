/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lists of local buffers as pieces of memory that are physically contiguous.
 *
 * A provider whose device maps memory walks a client's list piece by piece;
 * &struct kofi_list_iter is a place in such a list, and can stop anywhere.
 *
 * Memory here is kernel memory that has pages.  Memory from kmalloc(), pages, and data of
 * the kernel or of a module are one piece each; memory from vmalloc() is one piece for each
 * page.  Anything else is refused: the
 * stack, because the frame may be gone before the device is done with it;
 * registers of a device; and addresses that are no kernel addresses.
 *
 * kofi_is_ram() and kofi_is_memory() decide by comparison where they can: what is in the linear
 * map, below high_memory, is taken for memory.  A hole in that map, or a PCI device's memory, is
 * refused by a kernel with CONFIG_DEBUG_VM only, or where a list is walked piece by piece, as
 * it is for a region.
 *
 * Memory of a PCI device that has pages (P2PDMA, pci_alloc_p2pmem()) counts as memory if the
 * caller says so.  The caller may do so if the client has asked for FI_HMEM and the provider
 * reaches such memory.
 *
 * A list belongs to one call, so nothing here takes a lock.
 */
#ifndef _KOFI_PAGES_H
#define _KOFI_PAGES_H

#include <linux/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <rdma/fi_domain.h>

struct page;

/**
 * struct kofi_piece - Memory that is physically contiguous
 * @addr: kernel address of the first byte, as the client gave it
 * @page: page
 * @offset: from the start of @page; may exceed the page
 * @len: bytes
 */
struct kofi_piece {
	void		*addr;
	struct page	*page;
	size_t		offset;
	size_t		len;
};

typedef int (*kofi_piece_fn)(void *context, const struct kofi_piece *piece);

/**
 * struct kofi_list_iter - A place in a list of local buffers
 * @type: what the list consists of
 * @elem: current element
 * @count: elements from here on
 * @skip: bytes of @elem that are done
 * @peer: pages of PCI devices are memory, too
 * @desc: descriptor of @elem, or NULL: the list has none
 */
struct kofi_list_iter {
	enum fi_buf_type	type;
	const void		*elem;
	size_t			count;
	size_t			skip;
	bool			peer;
	void			**desc;
};

/**
 * kofi_is_plain_memory() - Is a buffer one piece of memory?
 * @buf: the buffer
 * @len: its bytes, not 0
 *
 * Context: any.
 * Return: whether all of it is in the kernel's linear mapping, not on the stack, and no
 * PCI device's.
 */
bool kofi_is_plain_memory(const void *buf, size_t len);

/**
 * kofi_is_ram() - Find out by comparison whether a buffer is one piece of memory
 * @buf: the buffer
 * @len: its bytes, not 0
 *
 * Context: any.
 * Return: true: it is, see the top of this file; false: a walk has to find out.
 */
static __always_inline bool kofi_is_ram(const void *buf, size_t len)
{
	uintptr_t addr = (uintptr_t)buf, end = (uintptr_t)high_memory;

	if (addr <= PAGE_OFFSET || addr >= end || len > end - addr)
		return false;
	if (!IS_ENABLED(CONFIG_VMAP_STACK) && object_is_on_stack(buf))
		return false;
	return !IS_ENABLED(CONFIG_DEBUG_VM) || kofi_is_plain_memory(buf, len);
}

bool kofi_is_memory_exact(const void *buf, size_t len, bool peer);

/**
 * kofi_is_memory() - Is a buffer memory that a provider can use later?
 * @buf: the buffer
 * @len: its bytes, not 0
 * @peer: pages of PCI devices are memory, too
 *
 * Looks at the first byte and at the last.
 *
 * Context: any.
 * Return: whether kofi_list_piece() takes both, or kofi_is_ram().
 */
static inline bool kofi_is_memory(const void *buf, size_t len, bool peer)
{
	return likely(kofi_is_ram(buf, len)) || kofi_is_memory_exact(buf, len, peer);
}

/**
 * kofi_page_is_memory() - May an element of pages begin with this one?
 * @page: the page, or NULL
 * @peer: pages of PCI devices are memory, too
 *
 * Context: any.
 * Return: false: there is no page, or it is a PCI device's.
 */
bool kofi_page_is_memory(const struct page *page, bool peer);

/**
 * kofi_list_more() - Is there something left?
 * @iter: a place in a list; it skips empty elements
 *
 * A list of scatterlists that ends before its count is up has nothing left, but
 * @iter->count is not 0 then.
 *
 * Context: any.
 * Return: whether there is.
 */
bool kofi_list_more(struct kofi_list_iter *iter);

/**
 * kofi_list_piece() - Get the piece at a place
 * @iter: a place where kofi_list_more() has found something
 * @piece: filled in
 *
 * Context: any.
 * Return: 0; -EINVAL: there is no memory at this place, see the top of this file.
 */
int kofi_list_piece(const struct kofi_list_iter *iter, struct kofi_piece *piece);

/**
 * kofi_list_advance() - Go on in a list
 * @iter: a place in a list
 * @len: bytes to advance by; at most what is left of the current element
 *
 * Context: any.
 */
void kofi_list_advance(struct kofi_list_iter *iter, size_t len);

/**
 * kofi_list_left() - How much is left of the current element?
 * @iter: a place in a list
 *
 * Context: any.
 * Return: bytes.
 */
size_t kofi_list_left(const struct kofi_list_iter *iter);

/**
 * kofi_list_addr() - Get the kernel address of a place
 * @iter: a place in a list
 *
 * Context: any.
 * Return: the address; it means nothing for a page of high memory.
 */
u64 kofi_list_addr(const struct kofi_list_iter *iter);

/**
 * kofi_list_each_piece() - Call a function for each piece of a list
 * @type: what the list consists of
 * @list: the list
 * @count: its elements
 * @peer: pages of PCI devices are memory, too
 * @fn: called in order, until it fails
 * @context: passed to @fn
 *
 * Context: any.
 * Return: 0; -EINVAL: @type is unknown, @list is NULL and @count is not 0, a
 * list of scatterlists ends early, or there is something else than memory in it;
 * or an error of @fn.
 */
int kofi_list_each_piece(enum fi_buf_type type, const void *list, size_t count, bool peer,
			 kofi_piece_fn fn, void *context);

/**
 * kofi_list_refuse() - Say which element of a list is no memory, see kofi/refuse.h
 * @call: the call that is refused
 * @type: what the list consists of
 * @list: the list
 * @count: its elements
 * @peer: pages of PCI devices are memory, too
 *
 * Context: any.
 * Return: true if there is such an element.
 */
bool kofi_list_refuse(const char *call, enum fi_buf_type type, const void *list, size_t count,
		      bool peer);

/**
 * kofi_list_log() - Log why a list is refused
 * @call: the call that is refused
 * @type: what the list consists of
 * @list: the list
 * @count: its elements
 * @peer: pages of PCI devices are memory, too
 *
 * As kofi_list_refuse(), and logs one line; at most 64 lines in five seconds.
 *
 * Context: any.
 */
void kofi_list_log(const char *call, enum fi_buf_type type, const void *list, size_t count,
		   bool peer);

/**
 * kofi_list_len() - Count the bytes of a list
 * @type: what the list consists of
 * @list: the list
 * @count: its elements
 * @max: most bytes
 *
 * Context: any.
 * Return: bytes; -EINVAL: as kofi_list_each_piece(); -EMSGSIZE: there are more
 * than @max.
 */
ssize_t kofi_list_len(enum fi_buf_type type, const void *list, size_t count,
		      size_t max);

/**
 * kofi_list_pages() - Count the pages of a list
 * @type: what the list consists of
 * @list: the list
 * @count: its elements
 *
 * Each element counts in whole pages of PAGE_SIZE.  Pages of PCI devices count, too.
 *
 * Context: any.
 * Return: pages; -EINVAL: as kofi_list_each_piece().
 */
ssize_t kofi_list_pages(enum fi_buf_type type, const void *list, size_t count);

/**
 * kofi_list_gather() - Copy a list into one buffer
 * @to: the buffer
 * @type: what the list consists of
 * @list: the list
 * @count: its elements
 * @len: its bytes, from kofi_list_len()
 *
 * The list may be of any kernel memory, the stack included.
 *
 * Context: any.
 */
void kofi_list_gather(void *to, enum fi_buf_type type, const void *list,
		      size_t count, size_t len);

#endif /* _KOFI_PAGES_H */
