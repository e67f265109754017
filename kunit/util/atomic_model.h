/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What atomic operations are, by type: libfabric's definitions (fi_atomic(3)), written
 * in the type itself, while the tested code computes in 64 bits.
 */
#ifndef _KUNIT_UTIL_ATOMIC_MODEL_H
#define _KUNIT_UTIL_ATOMIC_MODEL_H

#include <linux/string.h>
#include <linux/types.h>
#include <rdma/fi_domain.h>

/*
 * DEFINE_MODEL() makes model_TYPE(): what an operation leaves in memory, by its
 * definition.  Sums, differences and products are those of the unsigned type, which
 * wrap around.
 */
#define DEFINE_MODEL(type, utype)					\
static void model_##type(enum fi_op op, void *mem, const void *buf,	\
			 const void *cmp)				\
{									\
	utype ua, ub;							\
	type a, b, c;							\
									\
	memcpy(&a, mem, sizeof(a));					\
	memcpy(&b, buf, sizeof(b));					\
	memcpy(&c, cmp, sizeof(c));					\
	ua = a;								\
	ub = b;								\
	if (op == FI_MIN && b < a)					\
		a = b;							\
	else if (op == FI_MAX && b > a)					\
		a = b;							\
	else if (op == FI_SUM)						\
		a = ua + ub;						\
	else if (op == FI_PROD)						\
		a = (u64)ua * ub;					\
	else if (op == FI_LOR)						\
		a = a || b;						\
	else if (op == FI_LAND)						\
		a = a && b;						\
	else if (op == FI_BOR)						\
		a = a | b;						\
	else if (op == FI_BAND)						\
		a = a & b;						\
	else if (op == FI_LXOR)						\
		a = (a && !b) || (!a && b);				\
	else if (op == FI_BXOR)						\
		a = a ^ b;						\
	else if (op == FI_ATOMIC_WRITE)					\
		a = b;							\
	else if (op == FI_CSWAP && c == a)				\
		a = b;							\
	else if (op == FI_CSWAP_NE && c != a)				\
		a = b;							\
	else if (op == FI_CSWAP_LE && c <= a)				\
		a = b;							\
	else if (op == FI_CSWAP_LT && c < a)				\
		a = b;							\
	else if (op == FI_CSWAP_GE && c >= a)				\
		a = b;							\
	else if (op == FI_CSWAP_GT && c > a)				\
		a = b;							\
	else if (op == FI_MSWAP)					\
		a = (b & c) | (a & ~c);					\
	else if (op == FI_DIFF)						\
		a = ua - ub;						\
	memcpy(mem, &a, sizeof(a));					\
}

DEFINE_MODEL(s8, u8)
DEFINE_MODEL(u8, u8)
DEFINE_MODEL(s16, u16)
DEFINE_MODEL(u16, u16)
DEFINE_MODEL(s32, u32)
DEFINE_MODEL(u32, u32)
DEFINE_MODEL(s64, u64)
DEFINE_MODEL(u64, u64)

/**
 * struct type - A type of elements
 * @name: of the type
 * @datatype: of libfabric
 * @size: bytes
 * @model: what operations on it are
 */
struct type {
	const char		*name;
	enum fi_datatype	datatype;
	size_t			size;
	void			(*model)(enum fi_op op, void *mem,
					 const void *buf, const void *cmp);
};

static const struct type types[] = {
	{ "FI_INT8", FI_INT8, 1, model_s8 },
	{ "FI_UINT8", FI_UINT8, 1, model_u8 },
	{ "FI_INT16", FI_INT16, 2, model_s16 },
	{ "FI_UINT16", FI_UINT16, 2, model_u16 },
	{ "FI_INT32", FI_INT32, 4, model_s32 },
	{ "FI_UINT32", FI_UINT32, 4, model_u32 },
	{ "FI_INT64", FI_INT64, 8, model_s64 },
	{ "FI_UINT64", FI_UINT64, 8, model_u64 },
};

#endif /* _KUNIT_UTIL_ATOMIC_MODEL_H */
