// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buffers and their contents.
 *
 * The longest message is more than one allocation can give, so a buffer is a
 * short list of pieces, each contiguous in memory: as few as memory allows and
 * never more than the endpoint takes in one list.  With vmalloc=1 a buffer is
 * one vmalloc area, and the provider has to find its pages.
 *
 * fi_pingpong -c fills message number n of a direction (counted from 0 over all
 * sizes) with the 62 digits and letters in turn, from letter 7 n mod 62 on.
 * pp_pattern repeats these letters, so that a message is compared in long runs.
 *
 * Locking: a buffer belongs to one role's thread.  pp_pattern is written once,
 * before the threads start.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "pingpong.h"

#define PP_LETTERS	62
#define PP_STEP		7
#define PP_REPEAT	(PP_LETTERS * 64)

static char pp_pattern[PP_REPEAT + PP_LETTERS];

void pp_pattern_init(void)
{
	static const struct {
		char first, last;
	} ranges[] = {
		{ '0', '9' }, { 'a', 'z' }, { 'A', 'Z' },
	};
	unsigned int i, n = 0;
	int c;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		for (c = ranges[i].first; c <= ranges[i].last; c++)
			pp_pattern[n++] = c;
	for (; n < sizeof(pp_pattern); n++)
		pp_pattern[n] = pp_pattern[n - PP_LETTERS];
}

void pp_buf_free(struct pp_buf *buf)
{
	while (buf->nr) {
		buf->nr--;
		if (buf->vmalloc)
			vfree(buf->vec[buf->nr].iov_base);
		else
			kfree(buf->vec[buf->nr].iov_base);
	}
}

static int pp_buf_alloc_chunks(struct pp_buf *buf, size_t size, size_t chunk)
{
	while (size) {
		size_t len = min(size, chunk);
		void *p = kzalloc(len, GFP_KERNEL | __GFP_NOWARN);

		if (!p) {
			pp_buf_free(buf);
			return -ENOMEM;
		}
		buf->vec[buf->nr].iov_base = p;
		buf->vec[buf->nr].iov_len = len;
		buf->nr++;
		size -= len;
	}
	return 0;
}

static int pp_buf_alloc_vmalloc(struct pp_buf *buf, size_t size)
{
	void *p = vzalloc(size);

	if (!p)
		return -ENOMEM;
	buf->vec[0].iov_base = p;
	buf->vec[0].iov_len = size;
	buf->nr = 1;
	return 0;
}

/* Zeroed memory of @size bytes in at most @iov_limit pieces. */
int pp_buf_alloc(struct pp_buf *buf, size_t size, size_t iov_limit,
		 bool vmalloc)
{
	size_t limit = min_t(size_t, iov_limit, PP_CHUNKS_MAX);
	size_t chunk;

	buf->nr = 0;
	buf->vmalloc = vmalloc;
	if (vmalloc)
		return pp_buf_alloc_vmalloc(buf, size);
	for (chunk = KMALLOC_MAX_SIZE; DIV_ROUND_UP(size, chunk) <= limit;
	     chunk /= 2) {
		if (!pp_buf_alloc_chunks(buf, size, chunk))
			return 0;
		if (chunk <= PAGE_SIZE)
			break;
	}
	return -ENOMEM;
}

/* The first @len bytes of @buf as a list for the fi_* calls. */
unsigned int pp_buf_slice(const struct pp_buf *buf, size_t len,
			  struct kvec *vec)
{
	unsigned int n;

	for (n = 0; n < buf->nr; n++) {
		vec[n] = buf->vec[n];
		if (len <= vec[n].iov_len) {
			vec[n].iov_len = len;
			return n + 1;
		}
		len -= vec[n].iov_len;
	}
	return n;
}

/* The PP_REPEAT letters of message @nth from byte @pos on. */
static const char *pp_letters(u32 nth, size_t pos)
{
	/* 32 bits wide as in fi_pingpong, also where the product wraps */
	u32 start = nth * PP_STEP % PP_LETTERS;

	return pp_pattern + (start + pos) % PP_LETTERS;
}

void pp_buf_fill(struct pp_buf *buf, size_t len, u32 nth)
{
	struct kvec vec[PP_CHUNKS_MAX];
	unsigned int i, nr = pp_buf_slice(buf, len, vec);
	size_t pos = 0;

	for (i = 0; i < nr; i++) {
		size_t done, n;

		for (done = 0; done < vec[i].iov_len; done += n, pos += n) {
			n = min_t(size_t, vec[i].iov_len - done, PP_REPEAT);
			memcpy(vec[i].iov_base + done, pp_letters(nth, pos), n);
		}
	}
}

/* Compare; returns the offset of the first wrong byte, or @len if all are right. */
size_t pp_buf_check(const struct pp_buf *buf, size_t len, u32 nth)
{
	struct kvec vec[PP_CHUNKS_MAX];
	unsigned int i, nr = pp_buf_slice(buf, len, vec);
	size_t pos = 0;

	for (i = 0; i < nr; i++) {
		const char *p = vec[i].iov_base;
		size_t done, n;

		for (done = 0; done < vec[i].iov_len; done += n, pos += n) {
			const char *want = pp_letters(nth, pos);

			n = min_t(size_t, vec[i].iov_len - done, PP_REPEAT);
			if (!memcmp(p + done, want, n))
				continue;
			while (p[done] == *want)
				done++, pos++, want++;
			return pos;
		}
	}
	return len;
}
