/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of the kernel's headers that its parsers need in user space. The other headers of
 * this folder include this one.
 */
#ifndef _FUZZ_LINUX_TYPES_H
#define _FUZZ_LINUX_TYPES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;

#define __force
#define fallthrough		__attribute__((__fallthrough__))
#define U8_MAX			UINT8_MAX
#define U64_MAX			UINT64_MAX
#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define min_t(type, x, y)	({ type _x = (x), _y = (y); _x < _y ? _x : _y; })

#define swab64(x)		__builtin_bswap64(x)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The kernel has one of two names; the C library has both, with these values */
#define __LITTLE_ENDIAN		1234
#define be16_to_cpu(x)		__builtin_bswap16(x)
#define be32_to_cpu(x)		__builtin_bswap32(x)
#define be64_to_cpu(x)		__builtin_bswap64(x)
#else
#define be16_to_cpu(x)		(x)
#define be32_to_cpu(x)		(x)
#define be64_to_cpu(x)		(x)
#endif
#define cpu_to_be16(x)		be16_to_cpu(x)
#define cpu_to_be64(x)		be64_to_cpu(x)

#define check_add_overflow(a, b, sum)	__builtin_add_overflow(a, b, sum)

#endif /* _FUZZ_LINUX_TYPES_H */
