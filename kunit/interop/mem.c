// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of the two ends and what is in it; interop.h says what patterns are.
 */
#include "interop.h"

/* Bytes of a pattern that are made at a time */
#define INTEROP_BLOCK	512

/* The finalizer of splitmix64 */
__u64 interop_hash(__u64 seed, __u64 nr)
{
	__u64 z = seed * 0xd1342543de82ef95ULL + nr * 0x9e3779b97f4a7c15ULL + 1;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void *interop_at(struct interop_mem *mem, size_t offset)
{
	return mem->piece[offset / mem->piece_size] + offset % mem->piece_size;
}

static size_t interop_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Bytes from @offset on that are in one piece */
static size_t interop_room(struct interop_mem *mem, size_t offset)
{
	return mem->piece_size - offset % mem->piece_size;
}

size_t interop_list(struct interop_mem *mem, size_t offset, size_t len, INTEROP_IOV *iov)
{
	size_t count = 0, n;

	for (; len; len -= n, offset += n) {
		n = interop_min(len, interop_room(mem, offset));
		iov[count].iov_base = interop_at(mem, offset);
		iov[count++].iov_len = n;
	}
	return count;
}

/* Words that differ from each other and from those of other seeds, cheaply */
static void interop_block(__le64 *block, __u64 seed, __u64 nr)
{
	const __u64 words = INTEROP_BLOCK / sizeof(*block);
	const __u64 step = 0x9e3779b97f4a7c15ULL;
	__u64 word = interop_hash(seed, 0) + nr * words * step;
	unsigned int i;

	for (i = 0; i < words; i++, word += step)
		block[i] = cpu_to_le64(word ^ word >> 32);
}

static size_t interop_first_wrong(const __u8 *a, const __u8 *b)
{
	size_t i = 0;

	while (a[i] == b[i])
		i++;
	return i;
}

/* Write or compare the bytes of a pattern from number @first on */
static __u64 interop_pattern(struct interop_mem *mem, size_t offset, size_t len,
			     __u64 seed, size_t first, bool write)
{
	__le64 block[INTEROP_BLOCK / sizeof(__le64)];
	__u8 *bytes, *at;
	size_t n;

	for (; len; len -= n, offset += n, first += n) {
		bytes = (__u8 *)block + first % INTEROP_BLOCK;
		n = interop_min(INTEROP_BLOCK - first % INTEROP_BLOCK, len);
		n = interop_min(n, interop_room(mem, offset));
		at = interop_at(mem, offset);
		interop_block(block, seed, first / INTEROP_BLOCK);
		if (write)
			memcpy(at, bytes, n);
		else if (memcmp(at, bytes, n))
			return offset + interop_first_wrong(at, bytes) + 1;
	}
	return 0;
}

void interop_fill(struct interop_mem *mem, size_t offset, size_t len, __u64 seed)
{
	interop_pattern(mem, offset, len, seed, 0, true);
}

bool interop_is_pattern(const __u8 *bytes, size_t len, __u64 seed)
{
	__le64 block[INTEROP_BLOCK / sizeof(__le64)];

	interop_block(block, seed, 0);
	return len <= sizeof(block) && !memcmp(bytes, block, len);
}

void interop_clear(struct interop_mem *mem, size_t offset, size_t len)
{
	interop_pattern(mem, offset, len, INTEROP_BACKGROUND, offset, true);
}

__u64 interop_check_clear(struct interop_mem *mem, size_t offset, size_t len)
{
	return interop_pattern(mem, offset, len, INTEROP_BACKGROUND, offset, false);
}

__u64 interop_check_around(struct interop_mem *mem, size_t offset, size_t len)
{
	size_t front = interop_min(offset, INTEROP_GUARD);
	size_t end = offset + len;
	size_t back = interop_min(mem->size - end, INTEROP_GUARD);
	__u64 bad = interop_check_clear(mem, offset - front, front);

	return bad ? bad : interop_check_clear(mem, end, back);
}

__u64 interop_check(struct interop_mem *mem, size_t offset, size_t len,
		    __u64 seed)
{
	__u64 bad = interop_pattern(mem, offset, len, seed, 0, false);

	return bad ? bad : interop_check_around(mem, offset, len);
}
