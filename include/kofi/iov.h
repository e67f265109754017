/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A client's list of local buffers, kept by a provider that copies.
 *
 * A list belongs to the client again as soon as the call returns, the buffers when
 * the operation has completed.  An operation that outlives its call keeps a
 * &struct kofi_iov, which is a copy of the list.  In the copy kvecs stay kvecs, and bio_vecs
 * and scatterlists become bio_vecs.  So the provider has to handle two kinds of elements,
 * and a &struct iov_iter can have both.
 *
 * The provider decides how many elements there is room for, and provides the memory:
 * KOFI_IOV_SIZE() bytes in the slot of an operation, kofi_iov_size() for a list of
 * any length.
 *
 * With FI_ASYNC_IOV the client lends a list that is too long for the copy: the &struct kofi_iov
 * then refers to the client's list.  A list of kvecs or bio_vecs is used as it is.  Of a
 * scatterlist, kofi_iov_part() turns some elements at a time into bio_vecs, in the memory that a
 * copy would have.
 *
 * Nothing here sleeps, takes a lock or allocates.  The owner of a list has to
 * protect it; several callers may read it at a time.
 */
#ifndef _KOFI_IOV_H
#define _KOFI_IOV_H

#include <linux/bvec.h>
#include <linux/math.h>
#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/uio.h>
#include <rdma/fi_domain.h>

#define KOFI_IOV_PART	12	/* elements of a lent scatterlist that are converted at a time */

/**
 * struct kofi_iov_lent - A list that its client has lent
 * @list: the list
 * @next: of a scatterlist: the element that @part begins with
 * @at: of a scatterlist: bytes in front of @next
 * @part: of a scatterlist: elements from @next on, as kofi_iov_part() has returned them
 */
struct kofi_iov_lent {
	const void		*list;
	struct scatterlist	*next;
	size_t			at;
	struct bio_vec		part[KOFI_IOV_PART];
};

/**
 * struct kofi_iov - A list of local buffers: a copy, or a list that is lent
 * @len: bytes
 * @count: elements; none is empty
 * @pages: the elements are @bvec, not @kvec, or a list of bio_vecs or a scatterlist is lent
 * @is_lent: the list is @lent
 * @is_sgl: a scatterlist is lent
 * @kvec: kernel addresses
 * @bvec: pages
 * @lent: the client's list
 */
struct kofi_iov {
	size_t	len;
	u32	count;
	bool	pages;
	bool	is_lent;
	bool	is_sgl;
	union {
		DECLARE_FLEX_ARRAY(struct kvec, kvec);
		DECLARE_FLEX_ARRAY(struct bio_vec, bvec);
		DECLARE_FLEX_ARRAY(struct kofi_iov_lent, lent);
	};
};

#define KOFI_IOV_ELEM_SIZE						\
	(sizeof(struct kvec) > sizeof(struct bio_vec) ?			\
	 sizeof(struct kvec) : sizeof(struct bio_vec))

/* Elements that a list has room for if it may refer to one that is lent */
#define KOFI_IOV_LENT_ROOM						\
	DIV_ROUND_UP(sizeof(struct kofi_iov_lent), KOFI_IOV_ELEM_SIZE)

/* Bytes of a list with room for @max elements, which is a constant */
#define KOFI_IOV_SIZE(max)						\
	(sizeof(struct kofi_iov) + (max) * KOFI_IOV_ELEM_SIZE)

/**
 * kofi_iov_size() - How much memory does a list need?
 * @max: elements that there is to be room for
 *
 * Context: any.
 * Return: bytes; SIZE_MAX, which no allocator provides: @max is too large.
 */
static inline size_t kofi_iov_size(size_t max)
{
	return size_add(sizeof(struct kofi_iov),
			size_mul(max, KOFI_IOV_ELEM_SIZE));
}

/**
 * kofi_iov_set() - Copy a client's list
 * @iov: the copy
 * @max: elements that @iov has room for
 * @type: what the list consists of
 * @list: the list; NULL if @count is 0
 * @count: its elements
 * @max_len: most bytes
 * @peer: pages of PCI devices are memory, too
 *
 * Empty elements are left out.  A buffer has to be memory that stays when the
 * call has returned, so the stack is refused: see kofi/pages.h.  Only the first and the last
 * byte of each kvec are checked.
 *
 * Context: any.
 * Return: 0; -EINVAL: @type is unknown, @list is NULL and @count is not 0, more
 * than @max elements, a list of scatterlists that ends early, or no memory;
 * -EMSGSIZE: more than @max_len bytes, or than can be counted.  After an error
 * @iov is empty.
 */
int kofi_iov_set(struct kofi_iov *iov, size_t max, enum fi_buf_type type,
		 const void *list, size_t count, size_t max_len, bool peer);

/**
 * kofi_iov_keep() - Copy a client's list, or refer to it if it is too long and lent
 * @iov: the list, with room for @room elements
 * @room: as @max of kofi_iov_set(); KOFI_IOV_LENT_ROOM at least, if @lent is not 0
 * @lent: most elements of a list that is lent; 0: the client lends none
 * @type: as kofi_iov_set()
 * @list: as kofi_iov_set(); if it has more than @room elements, it has to stay as long as @iov
 *	is used
 * @count: its elements
 * @max_len: as kofi_iov_set()
 * @peer: as kofi_iov_set()
 *
 * Context: any.
 * Return: as kofi_iov_set(); -EINVAL also for an empty element of a list that is lent.
 */
int kofi_iov_keep(struct kofi_iov *iov, size_t room, size_t lent, enum fi_buf_type type,
		  const void *list, size_t count, size_t max_len, bool peer);

/**
 * kofi_iov_set_buf() - Make a list of one buffer that the provider trusts
 * @iov: the list; with room for one element
 * @buf: the buffer, for instance of the provider's own
 * @len: its bytes; may be 0
 *
 * Context: any.
 */
static inline void kofi_iov_set_buf(struct kofi_iov *iov, void *buf, size_t len)
{
	iov->len = len;
	iov->count = !!len;
	iov->pages = false;
	iov->is_lent = false;
	iov->is_sgl = false;
	iov->kvec[0].iov_base = buf;
	iov->kvec[0].iov_len = len;
}

/**
 * kofi_iov_iter() - Address a part of a list
 * @iov: the list, which must stay as long as @iter is used; no scatterlist that is lent
 * @direction: ITER_SOURCE: the buffers are read; ITER_DEST: they are written
 * @offset: where the part begins; behind the end there is nothing
 * @len: its bytes; it ends where the list ends
 * @iter: set up
 *
 * Context: any.  Walks over the elements in front of @offset.
 */
void kofi_iov_iter(const struct kofi_iov *iov, unsigned int direction,
		   size_t offset, size_t len, struct iov_iter *iter);

/**
 * kofi_iov_part() - Address a part of a list of any kind
 * @iov: the list; nobody else uses it at the same time
 * @direction: as kofi_iov_iter()
 * @offset: as kofi_iov_iter()
 * @len: as kofi_iov_iter()
 * @iter: set up; the last use of the part before is over.  Of a scatterlist that is lent it may
 *	have fewer bytes than @len, but not 0, if there are any
 *
 * Context: any.  Takes least time if each part begins where the part before ends.
 */
void kofi_iov_part(struct kofi_iov *iov, unsigned int direction, size_t offset, size_t len,
		   struct iov_iter *iter);

/**
 * kofi_iov_addr() - Get the kernel address at which a list begins
 * @iov: the list
 *
 * Context: any.
 * Return: the address; NULL: it has none, or the list is empty.
 */
void *kofi_iov_addr(const struct kofi_iov *iov);

/**
 * kofi_iter_map() - Map the memory that an iterator points at
 * @iter: of kvecs or bio_vecs, with something left
 * @len: in: bytes that are wanted, not 0; out: bytes that are mapped, which end where
 *	the element ends, or a page of it
 *
 * Context: any; until kofi_iter_unmap() the caller must not sleep, and mappings nest.
 * Return: the address.
 */
void *kofi_iter_map(const struct iov_iter *iter, size_t *len);

/**
 * kofi_iter_unmap() - Undo kofi_iter_map()
 * @iter: the iterator
 * @addr: what kofi_iter_map() has returned
 *
 * Context: any.
 */
void kofi_iter_unmap(const struct iov_iter *iter, const void *addr);

/**
 * kofi_iov_copy() - Copy from buffers to buffers
 * @to: destination, of kvecs or bio_vecs; advanced by the bytes that were copied
 * @from: source, as @to
 * @len: most bytes; the caller chooses how much it copies at a time
 *
 * @to and @from must not have empty elements, and must not overlap.
 *
 * Context: any.
 * Return: bytes that were copied: @len, or what the shorter of the two has.
 */
size_t kofi_iov_copy(struct iov_iter *to, struct iov_iter *from, size_t len);

/**
 * kofi_iov_gather() - Copy a part of a list into one buffer
 * @to: the buffer
 * @iov: the list
 * @offset: where the part begins
 * @len: most bytes
 *
 * Context: any.
 * Return: bytes that were copied.
 */
size_t kofi_iov_gather(void *to, const struct kofi_iov *iov, size_t offset,
		       size_t len);

/**
 * kofi_iov_scatter() - Copy one buffer into a part of a list
 * @iov: the list
 * @offset: where the part begins
 * @from: the buffer
 * @len: most bytes
 *
 * Context: any.
 * Return: bytes that were copied.
 */
size_t kofi_iov_scatter(const struct kofi_iov *iov, size_t offset,
			const void *from, size_t len);

#endif /* _KOFI_IOV_H */
