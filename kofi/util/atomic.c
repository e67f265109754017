// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations of peers on regions.
 *
 * A value of any type is handled as 64 bits, extended by its sign or by zeros as the type
 * says.  So kofi_compute() does all operations for all types, and the size matters only to
 * the loads and to the compare and exchange that stores the new value.  If another
 * processor has changed the element meanwhile, the operation starts again with the value
 * that it finds.
 *
 * An element whose value would not change is not written.
 *
 * kofi_atomic_get() checks the alignment of the whole target, in the same steps in which
 * kofi_atomic_run() executes the operation later.  So an operation never stops in the
 * middle.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <kofi/atomic.h>
#include <kofi/iov.h>
#include <kofi/refuse.h>

/* A value in the memory of an element */
union kofi_value {
	u8	u8;
	u16	u16;
	u32	u32;
	u64	u64;
};

static const struct {
	u8	size;
	bool	is_signed;
} kofi_types[] = {
	[FI_INT8]	= { sizeof(s8), true },
	[FI_UINT8]	= { sizeof(u8), false },
	[FI_INT16]	= { sizeof(s16), true },
	[FI_UINT16]	= { sizeof(u16), false },
	[FI_INT32]	= { sizeof(s32), true },
	[FI_UINT32]	= { sizeof(u32), false },
	[FI_INT64]	= { sizeof(s64), true },
	[FI_UINT64]	= { sizeof(u64), false },
};

static bool kofi_atomic_has_op(enum fi_op op, u64 form)
{
	switch (op) {
	case FI_MIN ... FI_BXOR:
	case FI_ATOMIC_WRITE:
	case FI_DIFF:
		return form != FI_COMPARE_ATOMIC;
	case FI_ATOMIC_READ:
		return form == FI_FETCH_ATOMIC;
	case FI_CSWAP ... FI_MSWAP:
		return form == FI_COMPARE_ATOMIC;
	default:
		return false;
	}
}

int kofi_atomic_valid(enum fi_datatype datatype, enum fi_op op, u64 form,
		      size_t *size)
{
	if (form && form != FI_FETCH_ATOMIC && form != FI_COMPARE_ATOMIC)
		return kofi_refuse_flags("query_atomic", form, FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC);
	if (!kofi_atomic_has_op(op, form))
		return kofi_refuse("query_atomic", -ENOSYS, "op %d has no such form", op);
	if ((unsigned int)datatype >= ARRAY_SIZE(kofi_types))
		return kofi_refuse("query_atomic", -EINVAL, "datatype is %d; the provider has FI_INT8 to FI_UINT64",
				   datatype);
	*size = kofi_types[datatype].size;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_atomic_valid);

int kofi_atomic_query(size_t max, enum fi_datatype datatype, enum fi_op op,
		      struct fi_atomic_attr *attr, u64 form)
{
	int ret = kofi_atomic_valid(datatype, op, form, &attr->size);

	if (!ret)
		attr->count = max / attr->size;
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_atomic_query);

/* Cuts a value to its size, and extends it again */
static u64 kofi_extend(u64 value, size_t size, bool is_signed)
{
	unsigned int shift = 64 - 8 * size;

	value <<= shift;
	return is_signed ? (u64)((s64)value >> shift) : value >> shift;
}

static u64 kofi_load(const union kofi_value *from, size_t size, bool is_signed)
{
	u64 value;

	switch (size) {
	case sizeof(u8):
		value = READ_ONCE(from->u8);
		break;
	case sizeof(u16):
		value = READ_ONCE(from->u16);
		break;
	case sizeof(u32):
		value = READ_ONCE(from->u32);
		break;
	default:
		/* On 32 bits, two loads would not be atomic */
		value = IS_ENABLED(CONFIG_64BIT) ? READ_ONCE(from->u64) :
			cmpxchg64((u64 *)&from->u64, 0, 0);
	}
	return kofi_extend(value, size, is_signed);
}

static void kofi_store(union kofi_value *to, size_t size, u64 value)
{
	switch (size) {
	case sizeof(u8):
		to->u8 = value;
		break;
	case sizeof(u16):
		to->u16 = value;
		break;
	case sizeof(u32):
		to->u32 = value;
		break;
	default:
		to->u64 = value;
	}
}

static bool kofi_exchange(union kofi_value *target, size_t size, u64 old,
			  u64 next)
{
	switch (size) {
	case sizeof(u8):
		return cmpxchg(&target->u8, (u8)old, (u8)next) == (u8)old;
	case sizeof(u16):
		return cmpxchg(&target->u16, (u16)old, (u16)next) == (u16)old;
	case sizeof(u32):
		return cmpxchg(&target->u32, (u32)old, (u32)next) == (u32)old;
	default:
		return cmpxchg64(&target->u64, old, next) == old;
	}
}

static bool kofi_less(u64 a, u64 b, bool is_signed)
{
	return is_signed ? (s64)a < (s64)b : a < b;
}

/* Returns the new value of an element; bits beyond the size of its type mean nothing */
static u64 kofi_compute(enum fi_op op, bool is_signed, u64 target, u64 operand,
			u64 compare)
{
	switch (op) {
	case FI_MIN:
		return kofi_less(operand, target, is_signed) ? operand : target;
	case FI_MAX:
		return kofi_less(target, operand, is_signed) ? operand : target;
	case FI_SUM:
		return target + operand;
	case FI_PROD:
		return target * operand;
	case FI_LOR:
		return target || operand;
	case FI_LAND:
		return target && operand;
	case FI_BOR:
		return target | operand;
	case FI_BAND:
		return target & operand;
	case FI_LXOR:
		return !target != !operand;
	case FI_BXOR:
		return target ^ operand;
	case FI_ATOMIC_WRITE:
		return operand;
	case FI_CSWAP:
		return compare == target ? operand : target;
	case FI_CSWAP_NE:
		return compare != target ? operand : target;
	case FI_CSWAP_LE:
		return kofi_less(target, compare, is_signed) ? target : operand;
	case FI_CSWAP_LT:
		return kofi_less(compare, target, is_signed) ? operand : target;
	case FI_CSWAP_GE:
		return kofi_less(compare, target, is_signed) ? target : operand;
	case FI_CSWAP_GT:
		return kofi_less(target, compare, is_signed) ? operand : target;
	case FI_MSWAP:
		return (operand & compare) | (target & ~compare);
	case FI_DIFF:
		return target - operand;
	default: /* FI_ATOMIC_READ */
		return target;
	}
}

static u64 kofi_take(struct iov_iter *from, size_t size, bool is_signed)
{
	union kofi_value value;

	_copy_from_iter(&value, size, from);
	return kofi_load(&value, size, is_signed);
}

static void kofi_atomic_one(struct kofi_atomic *atomic,
			    union kofi_value *target)
{
	size_t size = kofi_types[atomic->datatype].size;
	bool is_signed = kofi_types[atomic->datatype].is_signed;
	u64 operand = 0, compare = 0, old, next;
	union kofi_value result;

	if (atomic->op != FI_ATOMIC_READ)
		operand = kofi_take(&atomic->operand, size, is_signed);
	if (atomic->form == FI_COMPARE_ATOMIC)
		compare = kofi_take(&atomic->compare, size, is_signed);

	do {
		old = kofi_load(target, size, is_signed);
		next = kofi_compute(atomic->op, is_signed, old, operand,
				    compare);
		next = kofi_extend(next, size, is_signed);
	} while (next != old && !kofi_exchange(target, size, old, next));

	if (atomic->form) {
		kofi_store(&result, size, old);
		_copy_to_iter(&result, size, &atomic->result);
	}
}

/* Every element has to lie in one piece, at a multiple of its size */
static bool kofi_atomic_aligned(const struct kofi_rma *rma, size_t size)
{
	size_t done, len, part;
	struct iov_iter iter;
	void *addr;

	for (done = 0; done < rma->len; done += len) {
		len = kofi_rma_iter(rma, ITER_SOURCE, done, SIZE_MAX, &iter);
		while (iov_iter_count(&iter)) {
			part = iov_iter_count(&iter);
			addr = kofi_iter_map(&iter, &part);
			kofi_iter_unmap(&iter, addr);
			if (!IS_ALIGNED((uintptr_t)addr | part, size))
				return false;
			iov_iter_advance(&iter, part);
		}
	}
	return true;
}

int kofi_atomic_get(struct kofi_rma *rma, struct kofi_mr_map *map,
		    const struct fid_ep *ep, const struct fi_rma_ioc *ioc,
		    size_t count, const struct kofi_atomic *atomic)
{
	struct fi_rma_iov iov[KOFI_RMA_MAX_IOV];
	size_t size, i;
	int ret, idx;

	ret = kofi_atomic_valid(atomic->datatype, atomic->op, atomic->form,
				&size);
	if (ret)
		return ret;
	if (count > KOFI_RMA_MAX_IOV)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		iov[i].addr = ioc[i].addr;
		/* No region has SIZE_MAX bytes */
		iov[i].len = size_mul(ioc[i].count, size);
		iov[i].key = ioc[i].key;
	}
	ret = kofi_rma_get(rma, map, ep, iov, count,
			   atomic->op == FI_ATOMIC_READ ? FI_REMOTE_READ :
							  FI_REMOTE_WRITE);
	if (ret)
		return ret;
	idx = kofi_rma_enter(rma);
	if (idx < 0) {
		ret = idx;
		goto put;
	}
	if (!kofi_atomic_aligned(rma, size))
		ret = -EINVAL;
	kofi_rma_leave(rma, idx);
	if (ret)
		goto put;
	return 0;

put:
	kofi_rma_put(rma);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_atomic_get);

/* Does each iterator that the operation uses have as many bytes as the target? */
static bool kofi_atomic_has_all(const struct kofi_atomic *atomic, size_t len)
{
	if (atomic->op != FI_ATOMIC_READ &&
	    iov_iter_count(&atomic->operand) < len)
		return false;
	if (atomic->form == FI_COMPARE_ATOMIC &&
	    iov_iter_count(&atomic->compare) < len)
		return false;
	return !atomic->form || iov_iter_count(&atomic->result) >= len;
}

int kofi_atomic_run(const struct kofi_rma *rma, struct kofi_atomic *atomic)
{
	size_t size = kofi_types[atomic->datatype].size;
	size_t done, len, part, at;
	struct iov_iter iter;
	void *addr;
	int idx;

	if (!kofi_atomic_has_all(atomic, rma->len))
		return -EINVAL;
	idx = kofi_rma_enter(rma);
	if (idx < 0)
		return idx;
	for (done = 0; done < rma->len; done += len) {
		len = kofi_rma_iter(rma, ITER_DEST, done, SIZE_MAX, &iter);
		while (iov_iter_count(&iter)) {
			part = iov_iter_count(&iter);
			addr = kofi_iter_map(&iter, &part);
			for (at = 0; at < part; at += size)
				kofi_atomic_one(atomic, addr + at);
			kofi_iter_unmap(&iter, addr);
			iov_iter_advance(&iter, part);
		}
	}
	kofi_rma_leave(rma, idx);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_atomic_run);
