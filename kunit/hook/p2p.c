// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_p2p: when staging and peer memory are compared, and what is refused.  Both
 * ends of a case are on one fabric, so each call of either is such a moment for the region.
 */
#include <linux/sizes.h>
#include "../lib/dmabuf.h"
#include "bed.h"

#define BED_P2P	"loop;ofi_hook_p2p"
#define BED_LOW	"loop;ofi_hook_fault;ofi_hook_p2p"
#define SIZE	(4 * PAGE_SIZE)
#define BEGIN	4097
#define LEN	(2 * PAGE_SIZE)
#define HALF	(LEN / 2)

/**
 * struct p2p_bed - A region of the second end's, which the first one accesses
 * @db: the dma-buf
 * @mr: the region, of LEN bytes from BEGIN on
 * @memory: its first byte
 * @pair: a connection
 * @mine: a buffer of the first end's
 * @cntr: bound to the second end, if there is one
 */
struct p2p_bed {
	struct vt_dmabuf	*db;
	struct fid_mr		*mr;
	u8			*memory;
	struct vt_pair		pair;
	u8			*mine;
	struct fid_cntr		*cntr;
};

static int reg(struct kunit *test, struct vt_dmabuf *db, u64 access, u64 flags, void *base,
	       struct fid_mr **mr)
{
	const struct fi_mr_dmabuf piece = {
		.dmabuf		= db->dmabuf,
		.offset		= BEGIN,
		.len		= LEN,
		.base_addr	= base,
	};
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= access,
	};

	return fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF | flags, mr);
}

static void p2p_open(struct kunit *test, struct p2p_bed *bed)
{
	bed_open(test, BED_P2P, FI_MSG | FI_RMA | FI_HMEM);
	bed->db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	bed->memory = bed->db->mem + BEGIN;
	bed->mine = vt_buf(test, LEN);
	KUNIT_ASSERT_EQ(test, reg(test, bed->db, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, NULL,
				  &bed->mr), 0);
	vt_adopt(test, &bed->mr->fid);
}

static void p2p_join(struct kunit *test, struct p2p_bed *bed)
{
	p2p_open(test, bed);
	vt_join(test, &bed->pair, &vt_default_kind);
}

/* The second end reports receives, or remote writes, by a counter only */
static void p2p_join_counted(struct kunit *test, struct p2p_bed *bed, u64 counted)
{
	struct fi_cntr_attr attr = {
		.events		= FI_CNTR_EVENTS_COMP,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	struct vt_end *b = &bed->pair.b;
	union vt_event event;

	p2p_open(test, bed);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &bed->cntr, NULL), 0);
	vt_adopt(test, &bed->cntr->fid);
	vt_client(test, &bed->pair.a, &vt_default_kind);
	vt_connect(test, &bed->pair.a, NULL, 0);
	b->info = vt_connreq(test, NULL);
	b->bind_flags = FI_SELECTIVE_COMPLETION;
	vt_end_queues(test, b, b->info, &vt_default_kind);
	b->ep = vt_ep(test, b->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(b->ep, &bed->cntr->fid, counted), 0);
	vt_end_enable(test, b, &vt_default_kind);
	vt_accept(test, b, NULL, 0);
	vt_event(test, bed->pair.a.eq, FI_CONNECTED, &event);
}

/* It has ended for the peer, and nothing has happened since */
static void p2p_write(struct kunit *test, struct p2p_bed *bed, size_t at, size_t len, u8 seed)
{
	vt_fill(bed->mine, len, seed);
	KUNIT_ASSERT_EQ(test, fi_write(bed->pair.a.ep, bed->mine, len, NULL, 0,
				       fi_mr_addr(bed->mr) + at, fi_mr_key(bed->mr), vt_ctx(1)), 0);
	vt_done(test, bed->pair.a.tx, vt_ctx(1));
}

static void p2p_read(struct kunit *test, struct p2p_bed *bed)
{
	KUNIT_ASSERT_EQ(test, fi_read(bed->pair.a.ep, bed->mine, LEN, NULL, 0,
				      fi_mr_addr(bed->mr), fi_mr_key(bed->mr), vt_ctx(2)), 0);
	vt_done(test, bed->pair.a.tx, vt_ctx(2));
}

static bool p2p_shows(const char *line)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "grep -qx '%s' /sys/kernel/debug/kofi_hook_p2p/staging", line);
	return !vt_shell(command);
}

static void writes_come_with_a_message(struct kunit *test)
{
	struct p2p_bed bed = {};

	p2p_join(test, &bed);
	p2p_write(test, &bed, 0, LEN, 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.db->mem, 0, SIZE));
	vt_ping(test, &bed.pair.a, &bed.pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.db->mem, 0, BEGIN));
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.memory + LEN, 0, SIZE - BEGIN - LEN));
}

static void writes_come_with_their_data(struct kunit *test)
{
	struct p2p_bed bed = {};
	struct vt_comp comp;

	p2p_join(test, &bed);
	vt_fill(bed.mine, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_writedata(bed.pair.a.ep, bed.mine, LEN, NULL, 7, 0,
					   fi_mr_addr(bed.mr), fi_mr_key(bed.mr), vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(bed.pair.b.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.data, 7);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));
	vt_done(test, bed.pair.a.tx, vt_ctx(1));
}

static void writes_that_a_counter_reports_come_when_it_is_read(struct kunit *test)
{
	struct p2p_bed bed = {};

	p2p_join_counted(test, &bed, FI_REMOTE_WRITE);
	p2p_write(test, &bed, 0, LEN, 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.db->mem, 0, SIZE));
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(bed.cntr, 1), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));

	p2p_write(test, &bed, 0, LEN, 2);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));
	KUNIT_EXPECT_EQ(test, fi_cntr_read(bed.cntr), 2);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 2));

	p2p_write(test, &bed, 0, LEN, 3);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(bed.cntr), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 3));
}

static void writes_before_a_receive_that_a_counter_reports_come_when_it_is_read(struct kunit *test)
{
	struct p2p_bed bed = {};
	u8 *buf;

	p2p_join_counted(test, &bed, FI_RECV);
	buf = vt_buf(test, 16);
	vt_recv(test, &bed.pair.b, buf, 8, vt_ctx(3));
	p2p_write(test, &bed, 0, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_send(bed.pair.a.ep, buf + 8, 8, NULL, 0, vt_ctx(4)), 0);
	vt_done(test, bed.pair.a.tx, vt_ctx(4));
	p2p_write(test, &bed, 0, LEN, 2);
	KUNIT_EXPECT_FALSE(test, vt_filled(bed.memory, LEN, 2));
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(bed.cntr, 1), 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 2));
	vt_none(test, bed.pair.b.rx);
}

static void writes_come_with_an_event(struct kunit *test)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_eq_entry said = {}, heard;
	struct p2p_bed bed = {};
	struct fid_eq *eq;
	u32 event;

	p2p_join(test, &bed);
	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &attr, &eq, NULL), 0);
	vt_adopt(test, &eq->fid);
	said.fid = &eq->fid;
	p2p_write(test, &bed, 0, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_eq_write(eq, FI_NOTIFY, &said, sizeof(said), 0), sizeof(said));
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.db->mem, 0, SIZE));
	KUNIT_ASSERT_EQ(test, fi_eq_read(eq, &event, &heard, sizeof(heard), 0), sizeof(heard));
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));

	p2p_write(test, &bed, 0, LEN, 2);
	KUNIT_ASSERT_EQ(test, fi_eq_write(eq, FI_NOTIFY, &said, sizeof(said), 0), sizeof(said));
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));
	KUNIT_ASSERT_EQ(test, fi_eq_sread(eq, &event, &heard, sizeof(heard),
					  VT_PATIENCE_MS, 0), sizeof(heard));
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 2));
}

static void writes_come_with_the_close(struct kunit *test)
{
	struct p2p_bed bed = {};

	p2p_join(test, &bed);
	p2p_write(test, &bed, 0, LEN, 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.db->mem, 0, SIZE));
	vt_close(test, &bed.mr->fid);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 1));
	vt_dmabuf_expect_unused(test, bed.db);
}

/* Before that they read what was there when the owner said something last */
static void peers_read_what_the_owner_has_announced(struct kunit *test)
{
	struct p2p_bed bed = {};

	p2p_join(test, &bed);
	vt_fill(bed.memory, LEN, 1);
	p2p_read(test, &bed);
	KUNIT_EXPECT_NULL(test, memchr_inv(bed.mine, 0, LEN));
	vt_fill(bed.memory, LEN, 2);
	vt_ping(test, &bed.pair.b, &bed.pair.a);
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, LEN, 2));
}

/* As peers may learn of it by the call */
static void calls_about_connections_announce_what_the_owner_has_written(struct kunit *test)
{
	struct vt_end client = {}, server = {}, other = {};
	struct fi_eq_err_entry error = {};
	struct p2p_bed bed = {};
	struct fi_info *info;

	p2p_join(test, &bed);
	vt_client(test, &client, &vt_default_kind);
	vt_fill(bed.memory, LEN, 1);
	vt_connect(test, &client, NULL, 0);
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, LEN, 1));

	vt_end_open(test, &server, vt_connreq(test, NULL), &vt_default_kind);
	vt_fill(bed.memory, LEN, 2);
	KUNIT_ASSERT_EQ(test, fi_accept(server.ep, NULL, 0), 0);
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, LEN, 2));

	vt_fill(bed.memory, LEN, 3);
	KUNIT_ASSERT_EQ(test, fi_shutdown(client.ep, 0), 0);
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, LEN, 3));

	info = vt_dial(test, &other);
	vt_fill(bed.memory, LEN, 4);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, LEN, 4));

	p2p_write(test, &bed, 0, LEN, 5);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 4));
	vt_error(test, other.eq, &error);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, LEN, 5));
}

/* A request has the capability, as the endpoint that listens */
static void both_ends_say_that_the_processor_copies(struct kunit *test)
{
	struct p2p_bed bed = {};
	struct vt_end *ends[] = { &bed.pair.a, &bed.pair.b };
	size_t len = sizeof(int);
	struct fid *ep;
	int i, p2p;

	p2p_join(test, &bed);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		p2p = -1;
		ep = &ends[i]->ep->fid;
		KUNIT_EXPECT_EQ(test, fi_getopt(ep, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p,
						&len), 0);
		KUNIT_EXPECT_EQ_MSG(test, p2p, FI_HMEM_P2P_DISABLED, "end %d", i);
		KUNIT_EXPECT_EQ(test, fi_setopt(ep, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p,
						len), 0);
		p2p = FI_HMEM_P2P_REQUIRED;
		KUNIT_EXPECT_EQ(test, fi_setopt(ep, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p,
						len), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, fi_getopt(ep, FI_OPT_ENDPOINT, 0x7fff, &p2p, &len),
				-ENOPROTOOPT);
		KUNIT_EXPECT_EQ(test, fi_setopt(ep, FI_OPT_ENDPOINT, 0x7fff, &p2p, len),
				-ENOPROTOOPT);
	}
}

static void what_is_there_at_registration_is_read(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	struct p2p_bed bed = { .db = db };

	bed_open(test, BED_P2P, FI_MSG | FI_RMA | FI_HMEM);
	bed.mine = vt_buf(test, LEN);
	vt_fill(db->mem + BEGIN, LEN, 1);
	KUNIT_ASSERT_EQ(test, reg(test, db, FI_REMOTE_READ, 0, NULL, &bed.mr), 0);
	vt_adopt(test, &bed.mr->fid);
	vt_join(test, &bed.pair, &vt_default_kind);
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, LEN, 1));
}

static void neither_side_undoes_what_the_other_has_written(struct kunit *test)
{
	struct p2p_bed bed = {};

	p2p_join(test, &bed);
	p2p_write(test, &bed, HALF, HALF, 1);
	vt_fill(bed.memory, HALF, 2);
	vt_ping(test, &bed.pair.a, &bed.pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory, HALF, 2));
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.memory + HALF, HALF, 1));
	p2p_read(test, &bed);
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine, HALF, 2));
	KUNIT_EXPECT_TRUE(test, vt_filled(bed.mine + HALF, HALF, 1));
}

static void what_staging_cannot_keep_to_is_refused(struct kunit *test)
{
	struct vt_dmabuf *fixed = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	struct vt_dmabuf *moves = vt_dmabuf(test, VT_DMABUF_MOVES, SIZE);
	struct fid_mr *mr;

	bed_open(test, BED_P2P, FI_MSG | FI_RMA | FI_HMEM);
	KUNIT_EXPECT_EQ(test, reg(test, moves, FI_REMOTE_READ, 0, NULL, &mr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, reg(test, fixed, FI_SEND, 0, NULL, &mr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, reg(test, fixed, FI_REMOTE_READ, 0, (void *)SZ_1M, &mr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, reg(test, fixed, FI_REMOTE_READ, FI_MR_ENDPOINT, NULL, &mr),
			-FI_EBADFLAGS);
	vt_dmabuf_expect_unused(test, fixed);
	vt_dmabuf_expect_unused(test, moves);
	/* Other memory needs no staging */
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, vt_buf(test, 8), 8, FI_REMOTE_READ, 0,
					0, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_TRUE(test, p2p_shows("regions 0"));
	KUNIT_EXPECT_TRUE(test, p2p_shows("bytes 0"));
}

static void set_limit(void *bytes)
{
	char command[96];

	snprintf(command, sizeof(command),
		 "echo %lu >/sys/module/kofi_hook_p2p/parameters/limit", (unsigned long)bytes);
	vt_shell(command);
}

static void staging_has_a_limit(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	struct fid_mr *mr, *second;

	bed_open(test, BED_P2P, FI_MSG | FI_RMA | FI_HMEM);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, set_limit, (void *)SZ_16M), 0);
	set_limit((void *)(LEN + HALF));
	KUNIT_ASSERT_EQ(test, reg(test, db, FI_REMOTE_READ, 0, NULL, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, reg(test, db, FI_REMOTE_READ, 0, NULL, &second), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, p2p_shows("regions 1"));
	vt_close(test, &mr->fid);
	set_limit((void *)HALF);
	KUNIT_EXPECT_EQ(test, reg(test, db, FI_REMOTE_READ, 0, NULL, &second), -EAGAIN);
	vt_dmabuf_expect_unused(test, db);
}

static void a_region_that_is_refused_below_leaves_nothing(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	struct fid_mr *mr;

	bed_open(test, BED_LOW, FI_MSG | FI_RMA | FI_HMEM);
	bed_rules(test, "mr error 12 times=1");
	KUNIT_EXPECT_EQ(test, reg(test, db, FI_REMOTE_READ, 0, NULL, &mr), -ENOMEM);
	vt_dmabuf_expect_unused(test, db);
	KUNIT_EXPECT_TRUE(test, p2p_shows("regions 0"));
	KUNIT_ASSERT_EQ(test, reg(test, db, FI_REMOTE_READ, 0, NULL, &mr), 0);
	vt_adopt(test, &mr->fid);
}

static void counters_say_what_is_staged_and_copied(struct kunit *test)
{
	struct p2p_bed bed = {};
	char line[32];

	/* They begin anew */
	KUNIT_ASSERT_EQ(test, vt_shell("rmmod kofi_hook_p2p"), 0);
	p2p_join(test, &bed);
	snprintf(line, sizeof(line), "bytes %lu", LEN);
	KUNIT_EXPECT_TRUE(test, p2p_shows("regions 1"));
	KUNIT_EXPECT_TRUE(test, p2p_shows(line));
	KUNIT_EXPECT_TRUE(test, p2p_shows("limit 16777216"));
	KUNIT_EXPECT_TRUE(test, p2p_shows("to_memory 0"));
	KUNIT_EXPECT_TRUE(test, p2p_shows("from_memory 0"));
	bed.memory[5] = 1;
	vt_ping(test, &bed.pair.b, &bed.pair.a);
	KUNIT_EXPECT_TRUE(test, p2p_shows("from_memory 1"));
	KUNIT_EXPECT_TRUE(test, p2p_shows("to_memory 0"));
	p2p_write(test, &bed, 0, 1, 1);
	vt_ping(test, &bed.pair.a, &bed.pair.b);
	KUNIT_EXPECT_TRUE(test, p2p_shows("from_memory 1"));
	KUNIT_EXPECT_TRUE(test, p2p_shows("to_memory 1"));
	vt_close(test, &bed.mr->fid);
	KUNIT_EXPECT_TRUE(test, p2p_shows("regions 0"));
	KUNIT_EXPECT_FALSE(test, p2p_shows("compared 0"));
}

static struct kunit_case p2p_cases[] = {
	KUNIT_CASE(counters_say_what_is_staged_and_copied),
	KUNIT_CASE(writes_come_with_a_message),
	KUNIT_CASE(writes_come_with_their_data),
	KUNIT_CASE(writes_that_a_counter_reports_come_when_it_is_read),
	KUNIT_CASE(writes_before_a_receive_that_a_counter_reports_come_when_it_is_read),
	KUNIT_CASE(writes_come_with_an_event),
	KUNIT_CASE(writes_come_with_the_close),
	KUNIT_CASE(peers_read_what_the_owner_has_announced),
	KUNIT_CASE(calls_about_connections_announce_what_the_owner_has_written),
	KUNIT_CASE(both_ends_say_that_the_processor_copies),
	KUNIT_CASE(what_is_there_at_registration_is_read),
	KUNIT_CASE(neither_side_undoes_what_the_other_has_written),
	KUNIT_CASE(what_staging_cannot_keep_to_is_refused),
	KUNIT_CASE(staging_has_a_limit),
	KUNIT_CASE(a_region_that_is_refused_below_leaves_nothing),
	{}
};

static int p2p_init(struct kunit *test)
{
	return vt_shell("modprobe kofi_hook_fault && modprobe kofi_hook_p2p") ? -ENODEV :
									      vt_init(test);
}

static struct kunit_suite p2p_suite = {
	.name		= "kofi_hook_p2p",
	.init		= p2p_init,
	.exit		= vt_exit,
	.test_cases	= p2p_cases,
};

kunit_test_suite(p2p_suite);
