// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory over verbs: what the conformance suites leave to the provider.  Who is told
 * where to save, what is kept of what was written, and peers that do not keep to the messages
 * of Documentation/persistent-memory.rst, which the cases write by hand.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/scatterlist.h>
#include <linux/vmalloc.h>
#include "../lib/pmem.h"
#include "peer.h"
#include "rw.h"

#define LEN		SZ_4K
#define COMMIT		(FI_COMPLETION | FI_COMMIT_COMPLETE)
#define SAVE		(COMMIT | FI_SAVE)
#define MAGIC		0x6b4f4649
#define VERSION		2
#define RANGES		32	/* of a request */
#define ELEMS		2048	/* of a long list */
#define REQUEST_LEN	(24 + 16 * RANGES)
#define ANSWER_LEN	8
#define ANSWER_MS	30000	/* the provider waits so long for an answer */

/**
 * struct save_test - A case
 * @pair: the target is b
 * @pmem: the target's memory
 * @mr: the region of all of it
 * @buf: of the initiator's, as long
 * @len: its bytes; 0: LEN
 * @size: depth of the queues; 0: any
 */
struct save_test {
	struct vt_pair	pair;
	struct vt_pmem	*pmem;
	struct fid_mr	*mr;
	u8		*buf;
	size_t		len;
	size_t		size;
};

/* What an end tells the other behind the client's data */
struct offer {
	__be32	magic;
	__be16	port;
	__be16	version;
	__be64	token;
};

static int regattr(struct kunit *test, void *buf, size_t len, u64 access, struct fid_mr **mr)
{
	const struct kvec kvec = { buf, len };
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= access,
	};

	return fi_mr_regattr(vt_of(test)->domain, &attr, FI_RMA_PMEM, mr);
}

static struct fid_mr *reg(struct kunit *test, void *buf, size_t len)
{
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, regattr(test, buf, len, FI_REMOTE_READ | FI_REMOTE_WRITE, &mr), 0);
	vt_adopt(test, &mr->fid);
	return mr;
}

/* false: it is iWARP, which has no persistent memory, and the case has seen that */
static bool serve(struct kunit *test, struct save_test *st)
{
	struct fi_info *hints = vt_hints(test), *info;

	vt_of(test)->info = vt_local(test, AF_INET, NULL);
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	if (vt_is_iwarp(test)) {
		KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
		return false;
	}
	hints->tx_attr->size = st->size;
	st->len = st->len ?: LEN;
	vt_serve(test, AF_INET, hints);
	st->pmem = vt_pmem(test, st->len);
	st->buf = vt_buf(test, st->len);
	vt_fill(st->buf, st->len, 1);
	st->mr = reg(test, st->pmem->mem, st->len);
	return true;
}

static bool start(struct kunit *test, struct save_test *st)
{
	if (!serve(test, st))
		return false;
	vt_join(test, &st->pair, &vt_default_kind);
	return true;
}

/* A write of @len bytes to the same place, or with FI_SAVE what was written to the region */
static ssize_t post(struct fid_ep *ep, struct save_test *st, struct fid_mr *mr, size_t offset,
		    size_t len, u64 flags, unsigned long nr)
{
	struct fi_rma_iov remote = { (uintptr_t)st->pmem->mem + offset, len, fi_mr_key(mr) };
	struct kvec iov = { st->buf + offset, len };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = flags & FI_SAVE ? 0 : 1,
		.rma_iov = &remote, .rma_iov_count = 1, .context = vt_ctx(nr),
	};

	return fi_writemsg(ep, &msg, flags);
}

static void done(struct kunit *test, struct save_test *st, struct fid_mr *mr, size_t offset,
		 size_t len, u64 flags)
{
	KUNIT_ASSERT_EQ(test, post(st->pair.a.ep, st, mr, offset, len, flags, 1), 0);
	vt_done(test, st->pair.a.tx, vt_ctx(1));
}

static bool survives(const struct save_test *st, size_t offset, size_t len)
{
	return !memcmp(st->pmem->media + offset, st->buf + offset, len);
}

/* The data of a client that fill the message leave no room to say where to save */
static void who_was_told_nothing_is_refused(struct kunit *test)
{
	u8 data[VT_CM_DATA];
	struct save_test st = {};
	union vt_event event;

	if (!serve(test, &st))
		return;
	vt_fill(data, sizeof(data), 1);
	vt_client(test, &st.pair.a, &vt_default_kind);
	vt_connect(test, &st.pair.a, data, sizeof(data));
	vt_end_open(test, &st.pair.b, vt_connreq(test, &event), &vt_default_kind);
	KUNIT_EXPECT_TRUE(test, vt_filled(event.cm.data, sizeof(data), 1));
	vt_accept(test, &st.pair.b, data, sizeof(data));
	KUNIT_EXPECT_EQ(test, vt_event(test, st.pair.a.eq, FI_CONNECTED, &event), sizeof(data));
	KUNIT_EXPECT_EQ(test, post(st.pair.b.ep, &st, st.mr, 0, 8, COMMIT, 1), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, post(st.pair.b.ep, &st, st.mr, 0, 0, SAVE, 1), -EOPNOTSUPP);
	vt_none(test, st.pair.b.tx);
	/* The answer has room */
	done(test, &st, st.mr, 0, 8, COMMIT);
	KUNIT_EXPECT_TRUE(test, survives(&st, 0, 8));
}

static void both_ends_save(struct kunit *test)
{
	struct save_test st = {};
	int i;

	if (!start(test, &st))
		return;
	for (i = 0; i < 3; i++) {
		done(test, &st, st.mr, i * 256, 64, COMMIT);
		KUNIT_ASSERT_EQ(test, post(st.pair.b.ep, &st, st.mr, i * 256 + 128, 64, COMMIT, 2),
				0);
		vt_done(test, st.pair.b.tx, vt_ctx(2));
		KUNIT_EXPECT_TRUE(test, survives(&st, i * 256, 64));
		KUNIT_EXPECT_TRUE(test, survives(&st, i * 256 + 128, 64));
	}
}

static void a_region_has_to_be_readable(struct kunit *test)
{
	struct save_test st = {};
	struct fid_mr *mr;

	if (!serve(test, &st))
		return;
	KUNIT_EXPECT_EQ(test, regattr(test, st.pmem->mem, LEN, FI_REMOTE_WRITE, &mr), -EINVAL);
}

/* Posts until the provider has no room, then all of them end */
static void there_is_room_when_saves_have_ended(struct kunit *test)
{
	struct save_test st = {};
	unsigned long posted = 0, i;
	u8 *buf;
	ssize_t ret;

	if (!start(test, &st))
		return;
	/* What is refused takes no room */
	buf = st.buf;
	st.buf = NULL;
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, post(st.pair.a.ep, &st, st.mr, 0, 64, COMMIT, 1), -EINVAL);
	st.buf = buf;
	while (posted < 1000) {
		ret = post(st.pair.a.ep, &st, st.mr, posted % 64 * 64, 64, COMMIT, posted + 1);
		if (ret == -EAGAIN)
			break;
		KUNIT_ASSERT_EQ(test, ret, 0);
		posted++;
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	for (i = 0; i < posted; i++)
		vt_done(test, st.pair.a.tx, vt_ctx(i + 1));
	KUNIT_EXPECT_TRUE(test, survives(&st, 0, min_t(size_t, posted, 64) * 64));
	done(test, &st, st.mr, 0, 8, COMMIT);
}

/**
 * struct save_ready - A client that saves when it is called
 * @done: context of its operations
 * @st: the case
 * @calls: how often it was called
 * @ended: operations that have ended
 * @failed: how many of them have failed
 * @saved: its save was posted
 */
struct save_ready {
	struct fi_done		done;
	struct save_test	*st;
	atomic_t		calls;
	atomic_t		ended;
	atomic_t		failed;
	bool			saved;
};

static ssize_t save_when_ready(struct save_ready *ready)
{
	return post(ready->st->pair.a.ep, ready->st, ready->st->mr, 0, 0, SAVE,
		    (unsigned long)&ready->done);
}

static void save_ready(struct fid_ep *ep, u64 flags)
{
	struct save_ready *ready = ep->fid.context;

	atomic_inc(&ready->calls);
	if (!ready->saved)
		ready->saved = !save_when_ready(ready);
}

static void save_ready_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct save_ready *ready = container_of(done, struct save_ready, done);

	if (entry->err)
		atomic_inc(&ready->failed);
	atomic_inc(&ready->ended);
}

/* Its slots come back by completions, and the client is called then, once */
static void a_save_waits_for_a_slot_until_there_is_one(struct kunit *test)
{
	static const struct vt_kind kind = {
		"callbacks", FI_WAIT_DONE, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_CONTEXT
	};
	static const struct fi_ep_callbacks callbacks = { .ready = save_ready };
	struct save_ready *ready = vt_buf(test, sizeof(*ready));
	struct save_test st = { .size = 8, .pair.a.callbacks = &callbacks };
	ktime_t limit;
	int i, n = 0;
	ssize_t ret;

	ready->done.done = save_ready_done;
	ready->st = &st;
	if (!serve(test, &st))
		return;
	st.pair.a.tx = vt_cq(test, &kind, 0);
	st.pair.a.rx = vt_cq(test, &vt_default_kind, 0);
	vt_join(test, &st.pair, &vt_default_kind);
	st.pair.a.ep->fid.context = ready;
	while (!(ret = fi_send(st.pair.a.ep, st.buf, 8, NULL, 0, &ready->done)))
		n++;
	KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
	KUNIT_ASSERT_EQ(test, save_when_ready(ready), -EAGAIN);
	/* That something does not happen is no event to wait for */
	msleep(50);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->calls), 0);

	for (i = 0; i < n; i++)
		vt_recv(test, &st.pair.b, st.buf + 64, 8, vt_ctx(1));
	limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	while (atomic_read(&ready->ended) < n + 1 && ktime_before(ktime_get(), limit))
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->ended), n + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->failed), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->calls), 1);
	vt_close(test, &st.pair.a.ep->fid);
}

static void a_fence_waits_for_a_save(struct kunit *test)
{
	struct save_test st = {};

	if (!start(test, &st))
		return;
	KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, st.mr, 0, 64, COMMIT, 1), 0);
	KUNIT_EXPECT_EQ(test, post(st.pair.a.ep, &st, st.mr, 64, 64, FI_COMPLETION | FI_FENCE, 2),
			-EAGAIN);
	vt_done(test, st.pair.a.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, st.mr, 64, 64, FI_COMPLETION | FI_FENCE, 2),
			0);
	vt_done(test, st.pair.a.tx, vt_ctx(2));
	done(test, &st, st.mr, 0, 64, COMMIT | FI_FENCE);
	/* It has no bytes of its own, whatever the length says */
	done(test, &st, st.mr, 0, 64, SAVE | FI_FENCE);
	KUNIT_EXPECT_TRUE(test, survives(&st, 0, 128));
}

/* A fence behind a save whose write has failed waits for nothing */
static void a_save_that_fails_holds_up_no_fence(struct kunit *test)
{
	struct save_test st = {};
	struct fid_mr *mr;

	if (!start(test, &st))
		return;
	KUNIT_ASSERT_EQ(test, regattr(test, st.pmem->mem, LEN, FI_REMOTE_READ, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, mr, 0, 64, COMMIT, 1), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, st.pair.a.tx).err, EACCES);
	vt_event(test, st.pair.a.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, post(st.pair.a.ep, &st, st.mr, 64, 64, FI_COMPLETION | FI_FENCE, 2),
			-ESHUTDOWN);
}

/* Each line is written back once, and no other */
static void ranges_that_touch_become_one(struct kunit *test)
{
	struct save_test st = {};

	if (!start(test, &st))
		return;
	done(test, &st, st.mr, 0, 64, FI_COMPLETION);
	done(test, &st, st.mr, 64, 64, FI_COMPLETION);
	done(test, &st, st.mr, 256, 64, FI_COMPLETION);
	done(test, &st, st.mr, 0, 0, SAVE);
	KUNIT_EXPECT_EQ(test, st.pmem->lines, 3);
	KUNIT_EXPECT_TRUE(test, survives(&st, 0, 128));
	KUNIT_EXPECT_TRUE(test, survives(&st, 256, 64));
}

/* More ranges than are kept: those of a region become fewer and larger */
static void more_ranges_than_are_kept_are_saved(struct kunit *test)
{
	struct save_test st = {};
	size_t at;

	if (!start(test, &st))
		return;
	for (at = 0; at < LEN; at += 64)
		done(test, &st, st.mr, at, 8, FI_COMPLETION);
	KUNIT_EXPECT_EQ(test, st.pmem->lines, 0);
	done(test, &st, st.mr, 0, 0, SAVE);
	for (at = 0; at < LEN; at += 64)
		KUNIT_EXPECT_TRUE_MSG(test, survives(&st, at, 8), "%zu", at);
	KUNIT_EXPECT_LE(test, st.pmem->lines, 2 * LEN / 64);
}

/* More regions than that: each save is one of a whole region then */
static void more_regions_than_are_kept_are_saved(struct kunit *test)
{
	struct fid_mr *mr[RANGES + 8];
	struct save_test st = {};
	size_t lines;
	int i;

	if (!start(test, &st))
		return;
	for (i = 0; i < ARRAY_SIZE(mr); i++) {
		mr[i] = reg(test, st.pmem->mem + i * 64, 64);
		done(test, &st, mr[i], i * 64, 8, FI_COMPLETION);
	}
	for (i = 0; i < ARRAY_SIZE(mr); i++) {
		KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, mr[i], i * 64, 0, SAVE, 1), 0);
		vt_done(test, st.pair.a.tx, vt_ctx(1));
		KUNIT_EXPECT_TRUE_MSG(test, survives(&st, i * 64, 8), "%d", i);
	}
	/* That of a write is not */
	lines = st.pmem->lines;
	done(test, &st, st.mr, 0, 8, COMMIT);
	KUNIT_EXPECT_EQ(test, st.pmem->lines, lines + 1);
}

/* A list goes in batches of 512 elements, and the save behind it waits for the last one */
static void a_list_of_any_length_is_saved(struct kunit *test)
{
	struct scatterlist *sgl = vt_buf(test, ELEMS * sizeof(*sgl));
	struct rw_mem *mem = rw_mem(test, SZ_1M);
	struct save_test st = { .pair.a.rw_ops = 1, .len = SZ_1M, .size = 64 };
	size_t i, len = mem->len / ELEMS;

	if (!start(test, &st))
		return;
	vt_fill(mem->mem, mem->len, 7);
	sg_init_table(sgl, ELEMS);
	for (i = 0; i < ELEMS; i++)
		sg_set_page(&sgl[i], vmalloc_to_page(mem->mem + i * len), len, i * len % PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, fi_writesgl(st.pair.a.ep, sgl, ELEMS, 0, mem->len, 0,
					  fi_mr_addr(st.mr), fi_mr_key(st.mr), vt_ctx(3),
					  FI_COMPLETION), 0);
	KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, st.mr, 0, 0, SAVE, 1), 0);
	vt_done(test, st.pair.a.tx, vt_ctx(3));
	vt_done(test, st.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_MEMEQ(test, st.pmem->media, mem->mem, mem->len);
}

/* The list has an element more than a work request */
static void a_write_of_two_work_requests_is_saved(struct kunit *test)
{
	struct save_test st = {};
	struct kvec iov[3];
	struct fi_rma_iov remote;
	struct fi_msg_rma msg = {
		.msg_iov = iov, .iov_count = ARRAY_SIZE(iov),
		.rma_iov = &remote, .rma_iov_count = 1, .context = vt_ctx(1),
	};
	int i;

	if (!serve(test, &st))
		return;
	vt_of(test)->info->tx_attr->iov_limit = ARRAY_SIZE(iov) - 1;
	vt_join(test, &st.pair, &vt_default_kind);
	for (i = 0; i < ARRAY_SIZE(iov); i++)
		iov[i] = (struct kvec) { st.buf + i * 64, 64 };
	remote = (struct fi_rma_iov) {
		(uintptr_t)st.pmem->mem, ARRAY_SIZE(iov) * 64, fi_mr_key(st.mr)
	};
	KUNIT_ASSERT_EQ(test, fi_writemsg(st.pair.a.ep, &msg, COMMIT), 0);
	vt_done(test, st.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, survives(&st, 0, remote.len));

	/* By a save behind it, too */
	vt_fill(st.buf, st.len, 2);
	KUNIT_ASSERT_EQ(test, fi_writemsg(st.pair.a.ep, &msg, FI_COMPLETION), 0);
	vt_done(test, st.pair.a.tx, vt_ctx(1));
	done(test, &st, st.mr, 0, 0, SAVE);
	KUNIT_EXPECT_TRUE(test, survives(&st, 0, remote.len));
}

/* All that is in flight ends once, with an endpoint that is drained */
static void a_drain_ends_saves(struct kunit *test)
{
	struct save_test st = {};
	unsigned long i, seen = 0;
	struct vt_comp comp;

	if (!start(test, &st))
		return;
	for (i = 1; i <= 8; i++)
		KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, st.mr, 0, 64, COMMIT, i), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(st.pair.a.ep, -1), 0);
	for (i = 1; i <= 8; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(st.pair.a.tx, &comp), 1);
		seen |= BIT((unsigned long)comp.context);
	}
	KUNIT_EXPECT_EQ(test, seen, GENMASK(8, 1));
	vt_none(test, st.pair.a.tx);
}

/* A close in the middle waits for nobody */
static void an_endpoint_can_be_closed_while_it_saves(struct kunit *test)
{
	struct save_test st = {};
	int i;

	if (!start(test, &st))
		return;
	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, post(st.pair.a.ep, &st, st.mr, 0, 64, COMMIT, 1), 0);
	vt_close(test, &st.pair.a.ep->fid);
	st.pair.a.ep = NULL;
}

/* Peers by hand */

static void offer_init(struct offer *offer, u16 port, u64 token)
{
	*offer = (struct offer) {
		.magic = cpu_to_be32(MAGIC), .port = cpu_to_be16(port),
		.version = cpu_to_be16(VERSION), .token = cpu_to_be64(token),
	};
}

/* Says where it saves */
static struct vt_peer *peer_offering(struct kunit *test, const struct offer *offer)
{
	u8 data[1 + sizeof(*offer)] = {};

	memcpy(data + 1, offer, sizeof(*offer));
	return vt_peer_saying(test, data, sizeof(data), 4);
}

/* The port of the listener; @token: of the endpoint that has accepted @peer */
static int told(struct kunit *test, const struct vt_peer *peer, u64 *token)
{
	struct offer offer;

	KUNIT_ASSERT_EQ(test, peer->answer[0], 0);
	memcpy(&offer, peer->answer + 1, sizeof(offer));
	KUNIT_ASSERT_EQ(test, be32_to_cpu(offer.magic), MAGIC);
	KUNIT_ASSERT_EQ(test, be16_to_cpu(offer.version), VERSION);
	*token = be64_to_cpu(offer.token);
	return be16_to_cpu(offer.port);
}

/* One that can reach nothing at the place where it was told to save */
static void a_peer_that_does_not_listen_fails_the_save(struct kunit *test)
{
	struct save_test st = {};
	struct vt_peer *peer;
	struct offer offer;
	struct vt_comp comp;

	if (!serve(test, &st))
		return;
	offer_init(&offer, 1, 1);
	peer = peer_offering(test, &offer);
	/* A write of no bytes to it needs no region */
	KUNIT_ASSERT_EQ(test, post(peer->end.ep, &st, st.mr, 0, 0, SAVE, 1), 0);
	comp = vt_failed(test, peer->end.tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, ECONNABORTED);
	vt_event(test, peer->end.eq, FI_SHUTDOWN, NULL);
	vt_none(test, peer->end.tx);
}

static void an_offer_out_of_form_is_none(struct kunit *test)
{
	size_t room = sizeof(struct offer) - 1;
	u8 data[1 + VT_CM_DATA] = { VT_CM_DATA - room };
	struct save_test st = {};
	struct vt_peer *peer;
	struct offer offer;
	int i;

	if (!serve(test, &st))
		return;
	for (i = 0; i < 2; i++) {
		offer_init(&offer, 1, 1);
		if (i)
			offer.version = cpu_to_be16(VERSION - 1);
		else
			offer.magic = 0;
		peer = peer_offering(test, &offer);
		KUNIT_EXPECT_EQ(test, post(peer->end.ep, &st, st.mr, 0, 0, SAVE, 1), -EOPNOTSUPP);
		vt_peer_close(peer);
	}
	/* All but the last byte */
	offer_init(&offer, 1, 1);
	memcpy(data + sizeof(data) - room, &offer, room);
	peer = vt_peer_saying(test, data, sizeof(data), 4);
	KUNIT_EXPECT_EQ(test, post(peer->end.ep, &st, st.mr, 0, 0, SAVE, 1), -EOPNOTSUPP);
}

/* The worker reads what was written */
static void a_peer_that_grants_no_reads_makes_nothing_durable(struct kunit *test)
{
	u8 data[1 + sizeof(struct offer)] = {};
	struct save_test st = {};
	struct vt_peer *peer;
	struct offer offer;

	if (!serve(test, &st))
		return;
	offer_init(&offer, 1, 1);
	memcpy(data + 1, &offer, sizeof(offer));
	peer = vt_peer_saying(test, data, sizeof(data), 0);
	KUNIT_EXPECT_EQ(test, post(peer->end.ep, &st, st.mr, 0, 0, SAVE, 1), -EACCES);
	KUNIT_EXPECT_EQ(test, post(peer->end.ep, &st, st.mr, 0, 8, COMMIT, 1), -EACCES);
	vt_none(test, peer->end.tx);
}

static struct vt_peer *dial(struct kunit *test, int port, u32 magic, u64 token)
{
	struct offer offer;

	offer_init(&offer, 0, token);
	offer.magic = cpu_to_be32(magic);
	return vt_peer_dial(test, port, &offer, sizeof(offer));
}

/* The peer of an endpoint, and its session with the endpoint */
static struct vt_peer *begin_session(struct kunit *test, struct vt_peer **peer)
{
	struct vt_peer *control;
	u64 token;
	int port;

	*peer = vt_peer(test);
	port = told(test, *peer, &token);
	control = dial(test, port, MAGIC, token);
	KUNIT_ASSERT_EQ(test, control->last, RDMA_CM_EVENT_ESTABLISHED);
	return control;
}

static void only_the_peer_of_an_endpoint_may_ask(struct kunit *test)
{
	struct vt_peer *peer, *control;
	struct save_test st = {};
	u64 token, other;
	int port;

	if (!serve(test, &st))
		return;
	peer = vt_peer(test);
	port = told(test, peer, &token);
	KUNIT_EXPECT_EQ(test, told(test, vt_peer(test), &other), port);
	KUNIT_EXPECT_NE(test, other, token);
	KUNIT_EXPECT_EQ(test, dial(test, port, MAGIC, token ^ 1)->last, RDMA_CM_EVENT_REJECTED);
	KUNIT_EXPECT_EQ(test, dial(test, port, 0, token)->last, RDMA_CM_EVENT_REJECTED);
	KUNIT_EXPECT_EQ(test, vt_peer_dial(test, port, NULL, 0)->last, RDMA_CM_EVENT_REJECTED);
	control = dial(test, port, MAGIC, token);
	KUNIT_EXPECT_EQ(test, control->last, RDMA_CM_EVENT_ESTABLISHED);
	/* And that one once */
	KUNIT_EXPECT_EQ(test, dial(test, port, MAGIC, token)->last, RDMA_CM_EVENT_REJECTED);
	/* The endpoint goes, and with it the session */
	vt_peer_close(peer);
	KUNIT_EXPECT_EQ(test, dial(test, port, MAGIC, token)->last, RDMA_CM_EVENT_REJECTED);
}

/* A request of one range; returns whether it was refused */
static bool ask(struct kunit *test, struct vt_peer *control, u64 key, bool whole, u32 count,
		u64 addr, u64 begin, u64 len)
{
	__be32 *words = (__be32 *)control->buf;
	__be64 *longs = (__be64 *)control->buf;
	__be32 answer[2];

	memset(control->buf, 0, REQUEST_LEN);
	words[0] = cpu_to_be32(key);
	words[1] = cpu_to_be32(whole);
	words[2] = cpu_to_be32(count);
	words[3] = cpu_to_be32(~key);
	longs[2] = cpu_to_be64(addr);
	longs[3] = cpu_to_be64(begin);
	longs[4] = cpu_to_be64(len);
	vt_peer_post(control, ANSWER_LEN);
	KUNIT_ASSERT_EQ(test, vt_peer_send(control, REQUEST_LEN), IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, vt_completed(&control->received));
	memcpy(answer, control->buf + VT_PEER_IN, sizeof(answer));
	/* The number of the request */
	KUNIT_EXPECT_EQ(test, be32_to_cpu(answer[1]), (u32)~key);
	return answer[0];
}

static void what_a_request_claims_is_checked(struct kunit *test)
{
	struct vt_peer *peer, *control;
	struct save_test st = {};
	struct fid_mr *mr;
	u64 at, key;
	u8 *plain;

	if (!serve(test, &st))
		return;
	plain = vt_buf(test, 64);
	mr = vt_reg(test, plain, 64, FI_REMOTE_READ | FI_REMOTE_WRITE);
	control = begin_session(test, &peer);
	at = fi_mr_addr(st.mr);
	key = fi_mr_key(st.mr);
	memset(st.pmem->mem, 0x5a, LEN);

	/* Another key, ordinary memory, an address elsewhere */
	KUNIT_EXPECT_TRUE(test, ask(test, control, key ^ 0x1000, false, 1, at, at, 8));
	KUNIT_EXPECT_TRUE(test, ask(test, control, fi_mr_key(mr), false, 1, (uintptr_t)plain,
				    (uintptr_t)plain, 8));
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, false, 0, at - 1, 0, 0));
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, true, 0, at + LEN + 1, 0, 0));
	/* Ranges that leave the region, or wrap; more than there are */
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, false, 1, at, at, LEN + 1));
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, false, 1, at, at - 8, 16));
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, false, 1, at, at + 8, U64_MAX));
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, false, RANGES + 1, at, at, 8));
	KUNIT_EXPECT_TRUE(test, ask(test, control, key, false, U32_MAX, at, at, 8));
	/* A region that the peer may not write to */
	KUNIT_ASSERT_EQ(test, regattr(test, st.pmem->mem, LEN, FI_REMOTE_READ, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_TRUE(test, ask(test, control, fi_mr_key(mr), false, 0, at, 0, 0));
	KUNIT_EXPECT_EQ(test, st.pmem->lines, 0);

	KUNIT_EXPECT_FALSE(test, ask(test, control, key, false, 1, at, at + 64, 64));
	KUNIT_EXPECT_EQ(test, st.pmem->lines, 1);
	KUNIT_EXPECT_EQ(test, st.pmem->media[64], 0x5a);
	KUNIT_EXPECT_FALSE(test, ask(test, control, key, true, 0, at + 100, 0, 0));
	KUNIT_EXPECT_MEMEQ(test, st.pmem->media, st.pmem->mem, LEN);
	/* The address behind the last byte is one of the region, too */
	KUNIT_EXPECT_FALSE(test, ask(test, control, key, true, 0, at + LEN, 0, 0));
	KUNIT_EXPECT_EQ(test, st.pmem->lines, 1 + 2 * LEN / 64);
}

/* A message of another length ends the session, and nothing else */
static void a_message_out_of_form_ends_the_session(struct kunit *test)
{
	struct vt_peer *peer, *control;
	struct save_test st = {};
	struct vt_comp comp;
	u8 *in;

	if (!serve(test, &st))
		return;
	control = begin_session(test, &peer);
	vt_peer_begin_send(control, REQUEST_LEN - 1);
	KUNIT_EXPECT_TRUE(test, vt_completed(&control->gone));
	in = vt_buf(test, 8);
	vt_recv(test, &peer->end, in, 8, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, vt_peer_send(peer, 8), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, vt_wait(peer->end.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.err, 0);
}

/* Two saves of an endpoint whose peer has the case for a target, with so many receives */
static struct vt_peer *save_twice(struct kunit *test, struct save_test *st, struct vt_peer **target,
				  int receives)
{
	struct vt_peer *peer;
	struct offer offer;
	int port, i;

	*target = vt_peer_listen(test, &port);
	offer_init(&offer, port, 1);
	peer = peer_offering(test, &offer);
	for (i = 1; i <= 2; i++)
		KUNIT_ASSERT_EQ(test, post(peer->end.ep, st, st->mr, 0, 0, SAVE, i), 0);
	vt_peer_accept(*target, receives, REQUEST_LEN);
	KUNIT_ASSERT_TRUE(test, vt_completed(&(*target)->received));
	return peer;
}

static void expect_unsaved(struct kunit *test, struct vt_peer *peer, unsigned long nr, int err)
{
	struct vt_comp comp = vt_failed(test, peer->end.tx);

	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(nr));
	if (err)
		KUNIT_EXPECT_EQ(test, comp.err, err);
}

/* The bytes of the answer stay in the buffer of the target */
static void answer_first(struct kunit *test, struct vt_peer *peer, struct vt_peer *target)
{
	__be32 number;

	memcpy(&number, target->buf + VT_PEER_IN + 12, sizeof(number));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(number), 1);
	memset(target->buf, 0, 4);
	memcpy(target->buf + 4, &number, sizeof(number));
	KUNIT_ASSERT_EQ(test, vt_peer_send(target, ANSWER_LEN), IB_WC_SUCCESS);
	vt_done(test, peer->end.tx, vt_ctx(1));
}

/* The target answers the first request twice, and the second one never */
static void an_answer_to_another_request_is_none(struct kunit *test)
{
	struct vt_peer *peer, *target;
	struct save_test st = {};

	if (!serve(test, &st))
		return;
	peer = save_twice(test, &st, &target, 2);
	answer_first(test, peer, target);
	KUNIT_ASSERT_EQ(test, vt_peer_send(target, ANSWER_LEN), IB_WC_SUCCESS);
	expect_unsaved(test, peer, 2, EPROTO);
}

/* The second request finds no receive, and then a queue pair that does not answer */
static void a_target_that_answers_no_more_fails_the_save(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct vt_peer *peer, *target;
	struct save_test st = {};

	if (!serve(test, &st))
		return;
	peer = save_twice(test, &st, &target, 1);
	answer_first(test, peer, target);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(target->id->qp, &attr, IB_QP_STATE), 0);
	expect_unsaved(test, peer, 2, ECONNABORTED);
}

/* Saves that wait for an answer end with the connection, and not only when its time is over */
static void saves_end_with_the_connection(struct kunit *test)
{
	struct vt_peer *peer, *target;
	struct save_test st = {};
	struct vt_comp comp;
	ktime_t begin;
	int i;

	if (!serve(test, &st))
		return;
	peer = save_twice(test, &st, &target, 2);
	/* Those of other endpoints do not wait */
	vt_join(test, &st.pair, &vt_default_kind);
	done(test, &st, st.mr, 0, 64, COMMIT);
	begin = ktime_get();
	KUNIT_ASSERT_EQ(test, fi_shutdown(peer->end.ep, 0), 0);
	for (i = 1; i <= 2; i++) {
		comp = vt_failed(test, peer->end.tx);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
		KUNIT_EXPECT_EQ(test, comp.prov_errno, IB_WC_WR_FLUSH_ERR);
	}
	KUNIT_EXPECT_LT(test, ktime_ms_delta(ktime_get(), begin), ANSWER_MS / 2);
	vt_none(test, peer->end.tx);
}

/* An answer that is late or out of form is the last one */
static void a_target_that_failed_once_is_not_asked_again(struct kunit *test)
{
	struct vt_peer *peer, *target;
	struct save_test st = {};

	if (!serve(test, &st))
		return;
	peer = save_twice(test, &st, &target, 2);
	KUNIT_ASSERT_EQ(test, vt_peer_send(target, ANSWER_LEN - 4), IB_WC_SUCCESS);
	expect_unsaved(test, peer, 1, EPROTO);
	expect_unsaved(test, peer, 2, 0);
	KUNIT_EXPECT_FALSE(test, try_wait_for_completion(&target->received));
}

static struct kunit_case save_cases[] = {
	KUNIT_CASE(who_was_told_nothing_is_refused),
	KUNIT_CASE(both_ends_save),
	KUNIT_CASE(a_region_has_to_be_readable),
	KUNIT_CASE(there_is_room_when_saves_have_ended),
	KUNIT_CASE(a_save_waits_for_a_slot_until_there_is_one),
	KUNIT_CASE(a_fence_waits_for_a_save),
	KUNIT_CASE(a_save_that_fails_holds_up_no_fence),
	KUNIT_CASE(ranges_that_touch_become_one),
	KUNIT_CASE(more_ranges_than_are_kept_are_saved),
	KUNIT_CASE(more_regions_than_are_kept_are_saved),
	KUNIT_CASE(a_list_of_any_length_is_saved),
	KUNIT_CASE(a_write_of_two_work_requests_is_saved),
	KUNIT_CASE(a_drain_ends_saves),
	KUNIT_CASE(an_endpoint_can_be_closed_while_it_saves),
	KUNIT_CASE(a_peer_that_does_not_listen_fails_the_save),
	KUNIT_CASE(an_offer_out_of_form_is_none),
	KUNIT_CASE(a_peer_that_grants_no_reads_makes_nothing_durable),
	KUNIT_CASE(only_the_peer_of_an_endpoint_may_ask),
	KUNIT_CASE(what_a_request_claims_is_checked),
	KUNIT_CASE(a_message_out_of_form_ends_the_session),
	KUNIT_CASE(an_answer_to_another_request_is_none),
	KUNIT_CASE_SLOW(a_target_that_answers_no_more_fails_the_save),
	KUNIT_CASE(saves_end_with_the_connection),
	KUNIT_CASE(a_target_that_failed_once_is_not_asked_again),
	{}
};

struct kunit_suite kofi_verbs_save_suite = {
	.name		= "kofi_verbs_save",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= save_cases,
};
