// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The target: does what the messages of the initiator ask for, and counts with
 * it what it has seen of each operation.
 */
#include "interop.h"

static __u64 interop_access(enum interop_case which)
{
	switch (which) {
	case INTEROP_READ:
		return FI_REMOTE_READ;
	case INTEROP_FETCH_ADD:
	case INTEROP_CSWAP:
		return FI_REMOTE_READ | FI_REMOTE_WRITE;
	default:
		return FI_REMOTE_WRITE;
	}
}

/* A region of its own for each case, with no more rights than that needs */
static int interop_register(struct interop_end *end, enum interop_case which)
{
	INTEROP_IOV iov[INTEROP_PIECES];
	struct fi_mr_attr attr = {
		.mr_iov		= iov,
		.iov_count	= interop_list(&end->region, 0,
					       interop_region(end->plan), iov),
		.access		= interop_access(which),
		.requested_key	= which,
	};

	return fi_mr_regattr(end->domain, &attr, which == INTEROP_COMMIT ? interop_persistent() : 0,
			     &end->region_mr);
}

static int interop_unregister(struct interop_end *end)
{
	int ret;

	if (!end->region_mr)
		return 0;
	ret = fi_close(&end->region_mr->fid);
	end->region_mr = NULL;
	return ret;
}

static int interop_do_open(struct interop_end *end, struct interop_msg *msg,
			   enum interop_case *which)
{
	__u64 value = le64_to_cpu(msg->value);
	int ret;

	if (end->region_mr || value >= INTEROP_CASES)
		return -EPROTO;
	*which = value;
	ret = interop_register(end, *which);
	if (ret) {
		interop_bad(end, false, *which, "registering: %s", fi_strerror(-ret));
		return ret;
	}
	if (!end->plan->virt && fi_mr_key(end->region_mr) != value)
		interop_bad(end, false, *which, "the region has key %#llx",
			    (unsigned long long)fi_mr_key(end->region_mr));
	msg->addr = 0;
	if (end->plan->virt)
		msg->addr = cpu_to_le64((uintptr_t)interop_at(&end->region, 0));
	msg->key = cpu_to_le64(fi_mr_key(end->region_mr));
	msg->len = cpu_to_le64(interop_region(end->plan));
	return 0;
}

static __u64 interop_do_check(struct interop_end *end, enum interop_case which,
			      size_t offset, size_t len, __u64 seed)
{
	__u64 bad = interop_check(&end->region, offset, len, seed);

	if (bad)
		interop_bad(end, false, which, "%zu bytes at %zu: byte %llu of the region is wrong",
			    len, offset, (unsigned long long)bad - 1);
	if (which == INTEROP_COMMIT && !interop_durable(len)) {
		interop_bad(end, false, which, "%zu bytes at %zu are not durable", len, offset);
		bad = bad ? bad : offset + 1;
	}
	interop_clear(&end->region, offset, len);
	interop_count(end, false, which, 1, len);
	return bad;
}

static __u64 interop_do_get(struct interop_end *end, enum interop_case which,
			    size_t offset, unsigned int ops, __u64 *value)
{
	__u64 bad = interop_check_around(&end->region, offset, sizeof(*value));

	if (bad)
		interop_bad(end, false, which,
			    "around the word at %zu: byte %llu of the region is wrong",
			    offset, (unsigned long long)bad - 1);
	memcpy(value, interop_at(&end->region, offset), sizeof(*value));
	interop_count(end, false, which, ops, ops * sizeof(*value));
	return bad;
}

/* The data that came since the last time */
static __u64 interop_do_data(struct interop_end *end, enum interop_case which,
			     unsigned int count, __u64 seed)
{
	unsigned int i, came = end->data_count;
	bool write = which == INTEROP_WRITEDATA;
	const struct interop_datum *datum;
	size_t len;

	end->data_count = 0;
	if (came != count) {
		interop_bad(end, false, which, "%u of %u data came", came, count);
		return 1;
	}
	for (i = 0; i < count; i++) {
		datum = &end->data[i];
		len = interop_datum_len(end, which, i);
		if (datum->write != write || (!write && !interop_is_pattern(datum->bytes, len,
									    seed + i))) {
			interop_bad(end, false, which, "datum %u came with wrong bytes", i);
			return 1 + i;
		}
		/* The bytes of a write are counted when they are checked */
		if (!write)
			interop_count(end, false, which, 1, len);
		else if (!end->write_has_len)
			len = 0;
		if (datum->data == interop_datum(end, seed, i) && datum->len == len)
			continue;
		interop_bad(end, false, which,
			    "datum %u is %#llx, %zu bytes instead of %#llx, %zu bytes", i,
			    (unsigned long long)datum->data, datum->len,
			    (unsigned long long)interop_datum(end, seed, i), len);
		return 1 + i;
	}
	return 0;
}

/* Nothing is left of the case, and nothing was done to the rest of the region. */
static int interop_do_close(struct interop_end *end, enum interop_case which, __u64 *status)
{
	*status = interop_check_clear(&end->region, 0, end->region.size);
	if (*status) {
		interop_bad(end, false, which, "at the end byte %llu of the region is wrong",
			    (unsigned long long)*status - 1);
		interop_clear(&end->region, 0, end->region.size);
	}
	return interop_unregister(end);
}

static bool interop_in_region(struct interop_end *end, const struct interop_msg *msg)
{
	__u64 offset = le64_to_cpu(msg->offset), len = le64_to_cpu(msg->len);

	return offset <= end->region.size && len <= end->region.size - offset;
}

/* Do what @msg says and make the reply of it. */
static int interop_do(struct interop_end *end, struct interop_msg *msg, enum interop_case *which)
{
	__u64 offset = le64_to_cpu(msg->offset), len = le64_to_cpu(msg->len);
	__u64 seed = le64_to_cpu(msg->seed), value = le64_to_cpu(msg->value);
	__u64 status = 0;
	int ret = 0;

	switch (le32_to_cpu(msg->type)) {
	case INTEROP_OPEN:
		ret = interop_do_open(end, msg, which);
		break;
	case INTEROP_EXPECT:
		ret = interop_do_expect(end, *which, offset, len);
		break;
	case INTEROP_FILL:
		interop_fill(&end->region, offset, len, seed);
		break;
	case INTEROP_CHECK:
		if (*which >= INTEROP_MESSAGE)
			ret = interop_wanted(end, *which);
		status = interop_do_check(end, *which, offset, interop_fit(*which, len, false),
					  seed);
		break;
	case INTEROP_SET:
		memcpy(interop_at(&end->region, offset), &value, sizeof(value));
		break;
	case INTEROP_GET:
		status = interop_do_get(end, *which, offset, len, &value);
		msg->value = cpu_to_le64(value);
		break;
	case INTEROP_CLEAR:
		interop_clear(&end->region, offset, len);
		break;
	case INTEROP_DATA:
		status = interop_do_data(end, *which, len, seed);
		break;
	case INTEROP_CLOSE:
		ret = interop_do_close(end, *which, &status);
		break;
	}
	msg->status = cpu_to_le64(status);
	return ret;
}

int interop_target(struct interop_end *end, enum interop_type until)
{
	enum interop_case which = INTEROP_WRITE;
	struct interop_msg msg;
	int ret, failed;

	do {
		ret = interop_recv(end, &msg);
		if (!ret && !interop_in_region(end, &msg))
			ret = -EPROTO;
		if (!ret)
			ret = interop_do(end, &msg, &which);
		if (!ret)
			ret = interop_send(end, &msg);
		if (!ret)
			ret = interop_do_late(end, which);
	} while (!ret && le32_to_cpu(msg.type) != until);
	if (!ret)
		ret = interop_tx_wait(end);
	failed = interop_unregister(end);
	return ret ? ret : failed;
}
