// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completions and messages of an end.
 *
 * Receives are a ring.  A message uses up one, and so does a write with CQ data over
 * verbs, in the order in which they were posted, and that is checked; the receive is
 * posted again at once.  A write with CQ data must leave its bytes alone.  Over tcp it
 * uses up none: the next message takes the receive that is next in the ring.
 *
 * The context of what an end sends, writes or reads is its number, so that each
 * completion shows that none is missing and none comes twice.
 *
 * One thread uses an end, so there are no locks.
 */
#include "interop.h"

/* What is in a receive that nothing has come into */
#define INTEROP_UNUSED	0xa5

static struct interop_msg *interop_slot(struct interop_end *end, unsigned int nr)
{
	return interop_at(&end->msgs, nr * sizeof(struct interop_msg));
}

/* What libfabric does not do without connections it does later, if somebody reads */
bool interop_again(struct interop_end *end, ssize_t ret, unsigned int *tries)
{
	struct fi_eq_cm_entry event;
	__u32 got;

	if (ret != -EAGAIN || (*tries)++ == INTEROP_PATIENCE_MS / INTEROP_LOOK_MS)
		return false;
	fi_cq_read(end->cq, NULL, 0);
	fi_eq_sread(end->eq, &got, &event, sizeof(event), INTEROP_LOOK_MS, 0);
	return true;
}

static int interop_post_rdm(struct interop_end *end, struct interop_msg *slot)
{
	unsigned int tries = 0;
	ssize_t ret;

	do {
		ret = fi_trecv(end->rx, slot, sizeof(*slot), interop_desc(&end->msgs), end->peer,
			       INTEROP_MAIL, 0, slot);
	} while (interop_again(end, ret, &tries));
	return ret;
}

static int interop_post(struct interop_end *end, struct interop_msg *slot)
{
	memset(slot, INTEROP_UNUSED, sizeof(*slot));
	if (end->plan->rdm)
		return interop_post_rdm(end, slot);
	return fi_recv(end->rx, slot, sizeof(*slot), interop_desc(&end->msgs), 0, slot);
}

/* Post all receives; the endpoint is enabled, and not yet connected. */
int interop_ring(struct interop_end *end)
{
	unsigned int i;
	int ret;

	end->next = 0;
	for (i = 0; i < INTEROP_RING; i++) {
		ret = interop_post(end, interop_slot(end, i));
		if (ret)
			return ret;
	}
	return 0;
}

/* The context for the next operation that is not a receive */
void *interop_tx(struct interop_end *end)
{
	end->tx_posted++;
	return (void *)end->tx_posted;
}

/* Are the bytes from @from on as they were? */
static bool interop_is_unused(const struct interop_msg *slot, size_t from)
{
	const __u8 *byte = (const __u8 *)slot;
	size_t i;

	for (i = from; i < sizeof(*slot); i++)
		if (byte[i] != INTEROP_UNUSED)
			return false;
	return true;
}

static __u64 interop_recv_flags(const struct interop_end *end)
{
	return FI_RECV | (end->plan->rdm ? FI_TAGGED : FI_MSG);
}

/* @slot: the receive that was used up, if one was */
static int interop_got_data(struct interop_end *end, const struct fi_cq_data_entry *entry,
			    const struct interop_msg *slot)
{
	bool write = entry->flags & FI_REMOTE_WRITE;
	__u64 want = write ? end->write_flags : interop_recv_flags(end) | FI_REMOTE_CQ_DATA;
	struct interop_datum *datum = &end->data[end->data_count];
	bool unused = !slot || interop_is_unused(slot, write ? 0 : entry->len);

	if (entry->flags != want || !unused || end->data_count == INTEROP_RING) {
		interop_say("%s with CQ data %u: flags %#llx, buffer %s",
			    write ? "write" : "message", end->data_count,
			    (unsigned long long)entry->flags, unused ? "as it was" : "changed");
		return -EPROTO;
	}
	datum->data = entry->data;
	datum->len = entry->len;
	datum->write = write;
	if (!write)
		memcpy(datum->bytes, slot, sizeof(datum->bytes));
	end->data_count++;
	return 0;
}

static int interop_got_mail(struct interop_end *end, const struct fi_cq_data_entry *entry,
			    const struct interop_msg *slot)
{
	if (end->mail || entry->len != sizeof(*slot) ||
	    entry->flags != interop_recv_flags(end) ||
	    le32_to_cpu(slot->magic) != INTEROP_MAGIC) {
		interop_say("a message: %zu bytes, flags %#llx, magic %#x, %s", entry->len,
			    (unsigned long long)entry->flags, le32_to_cpu(slot->magic),
			    end->mail ? "too early" : "in time");
		return -EPROTO;
	}
	end->in = *slot;
	end->mail = true;
	return 0;
}

static int interop_received(struct interop_end *end, const struct fi_cq_data_entry *entry)
{
	struct interop_msg *slot = interop_slot(end, end->next);
	int ret;

	if (entry->flags & FI_REMOTE_WRITE && !end->plan->data_takes_receive)
		return interop_got_data(end, entry, NULL);
	if (entry->op_context == &end->want) {
		end->want.came = true;
		end->want.got = entry->len;
		end->want.flags = entry->flags;
		return 0;
	}
	if (entry->op_context != slot) {
		interop_say("receive %p was used instead of %p", entry->op_context, slot);
		return -EPROTO;
	}
	end->next = (end->next + 1) % INTEROP_RING;
	if (entry->flags & FI_REMOTE_CQ_DATA)
		ret = interop_got_data(end, entry, slot);
	else
		ret = interop_got_mail(end, entry, slot);
	/* After the last message the connection may be gone already */
	if (ret || (end->mail && le32_to_cpu(end->in.type) == INTEROP_BYE))
		return ret;
	return interop_post(end, slot);
}

/* A message has found a receive that is too short */
static int interop_was_cut(struct interop_end *end, const struct fi_cq_err_entry *error)
{
	struct interop_want *want = &end->want;

	if (!want->came && error->olen == want->len - want->fit) {
		want->came = true;
		want->got = want->fit;
		/* libfabric 2.1 has it in errors, too */
		want->flags = error->flags & ~FI_COMPLETION;
		return 0;
	}
	interop_say("%zu bytes of a message did not fit instead of %zu", error->olen,
		    want->len - want->fit);
	return -EPROTO;
}

static int interop_failed(struct interop_end *end)
{
	struct fi_cq_err_entry error = { 0 };
	ssize_t ret;

	ret = fi_cq_readerr(end->cq, &error, 0);
	if (ret != 1)
		return ret < 0 ? ret : -EIO;
	if (error.op_context == &end->want && error.err == FI_ECANCELED && !end->want.cancelled) {
		end->want.cancelled = true;
		return 0;
	}
	if (error.op_context == &end->want && error.err == FI_ETRUNC)
		return interop_was_cut(end, &error);
	interop_say("an operation failed: %s, provider's error %d",
		    fi_strerror(error.err), error.prov_errno);
	return -error.err;
}

int interop_reap(struct interop_end *end, int timeout_ms)
{
	struct fi_cq_data_entry entry = { 0 };
	ssize_t ret;

	ret = fi_cq_sread(end->cq, &entry, 1, NULL, timeout_ms);
	if (ret == -FI_EAVAIL)
		return interop_failed(end);
	if (ret != 1)
		return ret;
	if (entry.flags & (FI_RECV | FI_REMOTE_WRITE))
		return interop_received(end, &entry);
	if (entry.op_context != (void *)(end->tx_done + 1)) {
		interop_say("operation %lu has completed instead of %lu",
			    (unsigned long)entry.op_context, end->tx_done + 1);
		return -EPROTO;
	}
	end->tx_done++;
	end->tx_flags = entry.flags;
	return 0;
}

static int interop_wait(struct interop_end *end)
{
	int ret = interop_reap(end, INTEROP_PATIENCE_MS);

	return ret == -EAGAIN ? -ETIMEDOUT : ret;
}

/* Wait until all that was posted, receives aside, is done. */
int interop_tx_wait(struct interop_end *end)
{
	int ret = 0;

	while (!ret && end->tx_done != end->tx_posted)
		ret = interop_wait(end);
	return ret;
}

static int interop_send_rdm(struct interop_end *end, struct interop_msg *out)
{
	void *context = interop_tx(end);
	unsigned int tries = 0;
	ssize_t ret;

	do {
		ret = fi_tsend(end->ep, out, sizeof(*out), interop_desc(&end->msgs), end->peer,
			       INTEROP_MAIL, context);
	} while (interop_again(end, ret, &tries));
	return ret;
}

int interop_send(struct interop_end *end, const struct interop_msg *msg)
{
	struct interop_msg *out = interop_slot(end, INTEROP_RING);
	int ret;

	ret = interop_tx_wait(end); /* out is ours again */
	if (ret)
		return ret;
	*out = *msg;
	out->magic = cpu_to_le32(INTEROP_MAGIC);
	if (end->plan->rdm)
		return interop_send_rdm(end, out);
	return fi_send(end->ep, out, sizeof(*out), interop_desc(&end->msgs), 0, interop_tx(end));
}

int interop_recv(struct interop_end *end, struct interop_msg *msg)
{
	int ret = 0;

	while (!ret && !end->mail)
		ret = interop_wait(end);
	end->mail = false;
	*msg = end->in;
	return ret;
}

int interop_call(struct interop_end *end, enum interop_type type, struct interop_msg *msg)
{
	int ret;

	msg->type = cpu_to_le32(type);
	ret = interop_send(end, msg);
	if (!ret)
		ret = interop_recv(end, msg);
	if (!ret && le32_to_cpu(msg->type) != type)
		ret = -EPROTO;
	return ret;
}
