// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions: a peer reaches exactly the bytes that were registered, for
 * exactly what they were registered for, as long as they are.
 *
 * A peer that is refused loses its connection; how soon it hears of a write that
 * nobody answers differs, so all that is asked is that the memory stays as it was.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/vmalloc.h>
#include "../lib/log.h"
#include "conformance.h"

#define LEN	4096
/* Offset of the region in its buffer, odd and not at a page */
#define BEGIN	101

static bool has_rma(struct kunit *test)
{
	return conf_has(test, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
}

/* A region within a larger buffer; @region->buf is the first byte of the region */
static u8 *region_within(struct kunit *test, struct conf_region *region, u64 access)
{
	u8 *buf = vt_buf(test, LEN + 2 * BEGIN);
	int mr_mode = vt_of(test)->info->domain_attr->mr_mode;

	memset(buf, 0x5a, LEN + 2 * BEGIN);
	region->buf = buf + BEGIN;
	KUNIT_ASSERT_EQ(test, conf_reg(test, region->buf, LEN, access, &region->mr), 0);
	region->addr = mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)region->buf : 0;
	region->key = fi_mr_key(region->mr);
	return buf;
}

/**
 * struct attempt - Something a peer tries
 * @name: in words
 * @access: of the region
 * @offset: of the first byte, from the region's
 * @len: bytes
 * @read: a read
 * @other_key: with a key that is not the region's
 * @closed: the region has been closed
 * @allowed: it has to work
 * @lax: not every iWARP device sees to it
 */
struct attempt {
	const char	*name;
	u64		access;
	ssize_t		offset;
	size_t		len;
	bool		read;
	bool		other_key;
	bool		closed;
	bool		allowed;
	bool		lax;
};

static const struct attempt allowed[] = {
	{ "read all", FI_REMOTE_READ, 0, LEN, .read = true, .allowed = true },
	{ "write all", FI_REMOTE_WRITE, 0, LEN, .allowed = true },
	{ "read the last byte", FI_REMOTE_READ, LEN - 1, 1, .read = true,
	  .allowed = true },
	{ "write the first byte", FI_REMOTE_WRITE, 0, 1, .allowed = true },
};

static const struct attempt unreadable[] = {
	{ "read what may be written", FI_REMOTE_WRITE, 0, LEN, .read = true,
	  .lax = true },
	{ "read what is sent", FI_SEND, 0, 1, .read = true, .lax = true },
	{ "read what receives", FI_RECV, 0, 1, .read = true, .lax = true },
	{ "read what is written elsewhere", FI_WRITE, 0, 1, .read = true,
	  .lax = true },
};

static const struct attempt unwritable[] = {
	{ "write what may be read", FI_REMOTE_READ, 0, LEN },
	{ "write what is sent", FI_SEND, 0, 1 },
	{ "write what receives", FI_RECV, 0, 1 },
	{ "write what is written elsewhere", FI_WRITE, 0, 1 },
};

static const struct attempt beyond[] = {
	{ "read one byte before", CONF_ACCESS, -1, 1, .read = true },
	{ "write one byte before", CONF_ACCESS, -1, 1 },
	{ "read one byte after", CONF_ACCESS, LEN, 1, .read = true },
	{ "write one byte after", CONF_ACCESS, LEN, 1 },
	{ "read one byte more", CONF_ACCESS, 0, LEN + 1, .read = true },
	{ "write one byte more", CONF_ACCESS, 0, LEN + 1 },
	{ "read far away", CONF_ACCESS, SZ_1G, 1, .read = true },
};

static const struct attempt keyless[] = {
	{ "read with another key", CONF_ACCESS, 0, 1, .read = true,
	  .other_key = true },
	{ "write with another key", CONF_ACCESS, 0, 1, .other_key = true },
	{ "read when it is closed", CONF_ACCESS, 0, 1, .read = true,
	  .closed = true },
	{ "write when it is closed", CONF_ACCESS, 0, 1, .closed = true },
};

static int try(struct kunit *test, struct vt_pair *pair, const struct attempt *attempt,
	       struct conf_region *region, u8 *mine)
{
	u64 key = region->key ^ (attempt->other_key ? 1 : 0);
	u64 addr = region->addr + attempt->offset;
	struct fid_ep *ep = pair->a.ep;
	struct vt_comp comp;
	int ret;

	if (attempt->closed)
		vt_close(test, &region->mr->fid);
	if (attempt->read)
		ret = fi_read(ep, mine, attempt->len, NULL, 0, addr, key, vt_ctx(1));
	else
		ret = fi_write(ep, mine, attempt->len, NULL, 0, addr, key, vt_ctx(1));
	KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s", attempt->name);
	KUNIT_ASSERT_EQ_MSG(test, vt_wait(pair->a.tx, &comp), 1, "%s", attempt->name);
	return comp.err;
}

static void check_refusal(struct kunit *test, struct vt_pair *pair, const struct attempt *attempt,
			  int err, u8 *buf, u8 *mine)
{
	if (attempt->read && !err && attempt->lax && conf_is_iwarp(vt_of(test)->info)) {
		KUNIT_EXPECT_MEMEQ(test, mine, buf + BEGIN, attempt->len);
		KUNIT_EXPECT_NULL(test, memchr_inv(buf, 0x5a, LEN + 2 * BEGIN));
		return;
	}
	if (attempt->read)
		KUNIT_ASSERT_NE_MSG(test, err, 0, "a peer could %s", attempt->name);
	/* Some providers end the connection then, and others only the operation */
	if (!vt_is_rdm(vt_of(test)->info)) {
		if (err)
			fi_shutdown(pair->a.ep, 0);
		vt_event(test, pair->a.eq, FI_SHUTDOWN, NULL);
	}
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(buf, 0x5a, LEN + 2 * BEGIN), "%s", attempt->name);
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(mine, 0x11, attempt->len), "%s", attempt->name);
}

static void check_success(struct kunit *test, struct vt_pair *pair, const struct attempt *attempt,
			  int err, const u8 *target, u8 *mine)
{
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", attempt->name);
	vt_ping(test, &pair->a, &pair->b);
	KUNIT_EXPECT_MEMEQ_MSG(test, target + attempt->offset, mine,
			       attempt->len, "%s", attempt->name);
}

static void check_all(struct kunit *test, const struct attempt *attempts, size_t count)
{
	u8 *buf, *mine = vt_buf(test, LEN + 1);
	struct conf_region region;
	struct vt_pair pair = {};
	size_t i;
	int err;

	if (!has_rma(test))
		return;
	conf_shallow(test, 4);
	conf_serve(test);
	for (i = 0; i < count; i++) {
		vt_join(test, &pair, &vt_default_kind);
		buf = region_within(test, &region, attempts[i].access);
		memset(mine, 0x11, LEN + 1);
		err = try(test, &pair, &attempts[i], &region, mine);
		if (attempts[i].allowed)
			check_success(test, &pair, &attempts[i], err, region.buf, mine);
		else
			check_refusal(test, &pair, &attempts[i], err, buf, mine);
		if (!attempts[i].closed)
			vt_close(test, &region.mr->fid);
		vt_pair_close(test, &pair);
	}
}

static void peers_reach_what_is_registered(struct kunit *test)
{
	check_all(test, allowed, ARRAY_SIZE(allowed));
}

/*
 * Over iWARP that is up to the device, and no attribute tells: siw reads from any
 * region.  There the case only sees that it is that region, and that the memory
 * stays as it is.
 */
static void peers_read_only_what_is_for_them_to_read(struct kunit *test)
{
	check_all(test, unreadable, ARRAY_SIZE(unreadable));
}

static void peers_write_only_what_is_for_them_to_write(struct kunit *test)
{
	check_all(test, unwritable, ARRAY_SIZE(unwritable));
}

static void peers_reach_no_byte_beyond(struct kunit *test)
{
	check_all(test, beyond, ARRAY_SIZE(beyond));
}

static void peers_need_a_key_that_is_good(struct kunit *test)
{
	check_all(test, keyless, ARRAY_SIZE(keyless));
}

/*
 * Writes that are under way when the region is closed end as they like, but they reach no byte when
 * fi_close() has returned
 */
static void peers_reach_no_byte_of_a_closed_region(struct kunit *test)
{
	struct vt_pair pair = {};
	struct conf_region region;
	size_t depth, len, i;
	struct vt_comp comp;
	u8 *out;

	if (!has_rma(test))
		return;
	conf_shallow(test, 16);
	conf_join(test, &pair);
	depth = vt_of(test)->info->tx_attr->size;
	len = min_t(size_t, SZ_1M, vt_of(test)->info->ep_attr->max_msg_size);
	out = vt_buf(test, len);
	memset(out, 0x77, len);
	conf_region(test, &region, len, FI_REMOTE_WRITE);
	for (i = 0; i < depth; i++)
		if (fi_write(pair.a.ep, out, len, NULL, 0, region.addr, region.key, vt_ctx(i + 1)))
			break;
	KUNIT_EXPECT_GT(test, i, 0);
	/* The first bytes are there, so a write is under way */
	KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
	vt_close(test, &region.mr->fid);
	memset(region.buf, 0x5a, len);
	while (--i)
		KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
	/* A write may be over for its sender before it has come; at the end all have come */
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_NULL(test, memchr_inv(region.buf, 0x5a, len));
}

static void keys_are_new_and_as_long_as_claimed(struct kunit *test)
{
	size_t bits = 8 * vt_of(test)->info->domain_attr->mr_key_size;
	u8 *buf = vt_buf(test, LEN);
	struct fid_mr *mr[16];
	u64 last = FI_KEY_NOTAVAIL;
	int i, k;

	if (!has_rma(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < ARRAY_SIZE(mr); i++) {
		KUNIT_ASSERT_EQ(test, conf_reg(test, buf, LEN, CONF_ACCESS, &mr[i]), 0);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_NE(test, fi_mr_key(mr[i]), fi_mr_key(mr[k]));
		if (bits < 64)
			KUNIT_EXPECT_EQ(test, fi_mr_key(mr[i]) >> bits, 0);
	}
	for (i = 0; i < ARRAY_SIZE(mr); i++)
		vt_close(test, &mr[i]->fid);
	/* The same memory again and again, one region at a time */
	for (i = 0; i < ARRAY_SIZE(mr); i++) {
		KUNIT_ASSERT_EQ(test, conf_reg(test, buf, LEN, CONF_ACCESS, &mr[0]), 0);
		KUNIT_EXPECT_NE(test, fi_mr_key(mr[0]), last);
		last = fi_mr_key(mr[0]);
		vt_close(test, &mr[0]->fid);
	}
}

static void bad_registrations_are_refused(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct kvec iov = { buf, 64 };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
	};
	struct fid_domain *domain;
	struct fid_mr *mr;

	vt_open_info(test, vt_of(test)->info);
	domain = vt_of(test)->domain;
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, NULL, 64, FI_READ, 0, 0, 0, &mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, buf, 0, FI_READ, 0, 0, 0, &mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, buf, 64, FI_READ, 1, 0, 0, &mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, buf, 64, FI_TAGGED, 0, 0, 0, &mr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, buf, 64, FI_READ, 0, 0, FI_MR_DMABUF, &mr, NULL),
			-FI_EBADFLAGS);
	attr.iface = FI_HMEM_SYSTEM + 1;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &attr, 0, &mr), -EINVAL);
	attr.iface = FI_HMEM_SYSTEM;
	attr.type = FI_BUF_SGL + 1;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &attr, 0, &mr), -EINVAL);
	attr.type = FI_BUF_KVEC;
	attr.iov_count = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(domain, &attr, 0, &mr), -EINVAL);
}

/* One page of each kind of list, as one region */
static int reg_list(struct kunit *test, enum fi_buf_type type, u8 *page, struct fid_mr **mr)
{
	struct kvec iov = { page + 8, 1000 };
	struct bio_vec bvec;
	struct scatterlist sgl;
	struct fi_mr_attr attr = {
		.type		= type,
		.iov_count	= 1,
		.access		= CONF_ACCESS,
		.requested_key	= 1000 + type,
	};
	int ret;

	bvec_set_page(&bvec, virt_to_page(page), 1000, 8);
	sg_init_one(&sgl, page + 8, 1000);
	if (type == FI_BUF_KVEC)
		attr.mr_iov = &iov;
	else if (type == FI_BUF_BVEC)
		attr.mr_bvec = &bvec;
	else
		attr.mr_sgl = &sgl;
	ret = fi_mr_regattr(vt_of(test)->domain, &attr, 0, mr);
	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

/* The guard page behind an area of vmalloc(), which maps nothing, and the stack */
static void what_is_no_memory_is_refused_and_said(struct kunit *test)
{
	u8 *mapped = vmalloc(PAGE_SIZE), stack[64] = {};
	struct kvec list[2] = { { vt_buf(test, 64), 64 }, { stack, sizeof(stack) } };
	struct fid_domain *domain;
	struct kmsg_dump_iter log;
	struct fid_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, mapped);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, (kunit_action_t *)vfree, mapped), 0);
	vt_open_info(test, vt_of(test)->info);
	domain = vt_of(test)->domain;
	vt_log_clear(&log);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, mapped + PAGE_SIZE, 64, FI_REMOTE_READ, 0, 1, 0,
					&mr, NULL), -EINVAL);
	/* A provider on another one says it, too */
	KUNIT_EXPECT_GE(test, vt_log_count(&log, "element 1 of 1 is mapped, but has no pages"), 1);
	KUNIT_EXPECT_EQ(test, fi_mr_regv(domain, list, 2, FI_REMOTE_READ, 0, 1, 0, &mr, NULL),
			-EINVAL);
	KUNIT_EXPECT_GE(test, vt_log_count(&log, "element 2 of 2 is on the stack"), 1);
}

static void lists_of_every_kind_can_be_registered(struct kunit *test)
{
	static const enum fi_buf_type types[] = {
		FI_BUF_KVEC, FI_BUF_BVEC, FI_BUF_SGL
	};
	bool virt_addr = vt_of(test)->info->domain_attr->mr_mode &
			 FI_MR_VIRT_ADDR;
	u8 *page = vt_buf(test, PAGE_SIZE), *mine = vt_buf(test, 1000);
	struct vt_pair pair = {};
	struct fid_mr *mr;
	size_t i;

	if (!has_rma(test))
		return;
	conf_join(test, &pair);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		KUNIT_ASSERT_EQ(test, reg_list(test, types[i], page, &mr), 0);
		vt_fill(page + 8, 1000, i);
		KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, mine, 1000, NULL, 0,
					      virt_addr ? (uintptr_t)page + 8 : 0, fi_mr_key(mr),
					      vt_ctx(1)), 0);
		vt_done(test, pair.a.tx, vt_ctx(1));
		KUNIT_EXPECT_TRUE_MSG(test, vt_filled(mine, 1000, i), "type %d", types[i]);
		vt_close(test, &mr->fid);
	}
}

/* FI_MR_RAW is for keys that are longer than 64 bits; nobody here has such */
static void keys_are_never_raw(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;
	u8 *buf = vt_buf(test, LEN);
	struct fid_mr *mr;

	hints->domain_attr->mr_mode = vt_of(test)->info->domain_attr->mr_mode |
				      FI_MR_RAW;
	KUNIT_ASSERT_EQ(test, conf_getinfo(test, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode & FI_MR_RAW, 0);
	KUNIT_EXPECT_LE(test, info->domain_attr->mr_key_size, sizeof(u64));
	if (!has_rma(test))
		return;
	vt_open_info(test, info);
	KUNIT_ASSERT_EQ(test, conf_reg(test, buf, LEN, CONF_ACCESS, &mr), 0);
	KUNIT_EXPECT_EQ(test, fi_control(&mr->fid, FI_GET_RAW_MR, buf), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_control(&vt_of(test)->domain->fid, FI_MAP_RAW_MR, buf), -ENOSYS);
}

/*
 * Each element is the first page of two: no page lies behind another, so no
 * provider can have two for the price of one.
 */
static void registrations_have_as_many_elements_as_claimed(struct kunit *test)
{
	size_t limit = vt_of(test)->info->domain_attr->mr_iov_limit, i;
	struct fid_mr *mr;
	struct kvec *iov;

	/* Or there is not the memory to find out */
	if (!has_rma(test) || limit > SZ_4K)
		return;
	KUNIT_ASSERT_GT(test, limit, 0);
	iov = vt_buf(test, (limit + 1) * sizeof(*iov));
	for (i = 0; i <= limit; i++) {
		iov[i] = (struct kvec) { vt_buf(test, 2 * PAGE_SIZE),
					 PAGE_SIZE };
		KUNIT_ASSERT_TRUE(test, IS_ALIGNED((uintptr_t)iov[i].iov_base, 2 * PAGE_SIZE));
	}
	vt_open_info(test, vt_of(test)->info);
	KUNIT_EXPECT_LT(test, fi_mr_regv(vt_of(test)->domain, iov, limit + 1,
					 CONF_ACCESS, 0, 1, 0, &mr, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_regv(vt_of(test)->domain, iov, limit,
					 CONF_ACCESS, 0, 1, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
}

static void many_regions_are_open_at_a_time(struct kunit *test)
{
	size_t count = min_t(size_t, 64, vt_of(test)->info->domain_attr->mr_cnt);
	u8 *buf = vt_buf(test, LEN);
	struct fid_mr *mr;
	size_t i;

	if (!has_rma(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, conf_reg(test, buf + i, LEN - i, CONF_ACCESS, &mr), 0);
}

static void an_open_region_reports_its_size(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct fid_mr *mr;

	if (!has_rma(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, conf_reg(test, buf, LEN - 1, CONF_ACCESS, &mr), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, &mr->fid, "size"), LEN - 1);
}

/* What a description of memory is good for, a domain of its own is not */
static void a_description_serves_its_memory_only(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * LEN), *in = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct fid_mr *mr, *in_mr;
	void *desc;

	if (!has_rma(test))
		return;
	conf_join(test, &pair);
	KUNIT_ASSERT_EQ(test, conf_reg(test, buf, LEN, FI_SEND, &mr), 0);
	desc = fi_mr_desc(mr);
	vt_fill(buf, LEN, 4);
	KUNIT_ASSERT_EQ(test, conf_reg(test, in, LEN, FI_RECV, &in_mr), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, in, LEN, fi_mr_desc(in_mr), 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, desc, 0, vt_ctx(2)), 0);
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 4));
	if (desc)
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf + 1, LEN, desc, 0, NULL), -EINVAL);
	vt_none(test, pair.a.tx);
	vt_close(test, &in_mr->fid);
	vt_close(test, &mr->fid);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(peers_reach_what_is_registered, conf_gen_params),
	KUNIT_CASE_PARAM(peers_read_only_what_is_for_them_to_read, conf_gen_params),
	KUNIT_CASE_PARAM(peers_write_only_what_is_for_them_to_write, conf_gen_params),
	KUNIT_CASE_PARAM(peers_reach_no_byte_beyond, conf_gen_params),
	KUNIT_CASE_PARAM(peers_need_a_key_that_is_good, conf_gen_params),
	KUNIT_CASE_PARAM(peers_reach_no_byte_of_a_closed_region, conf_gen_params),
	KUNIT_CASE_PARAM(keys_are_new_and_as_long_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(bad_registrations_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(what_is_no_memory_is_refused_and_said, conf_gen_params),
	KUNIT_CASE_PARAM(lists_of_every_kind_can_be_registered, conf_gen_params),
	KUNIT_CASE_PARAM(keys_are_never_raw, conf_gen_params),
	KUNIT_CASE_PARAM(registrations_have_as_many_elements_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(many_regions_are_open_at_a_time, conf_gen_params),
	KUNIT_CASE_PARAM(an_open_region_reports_its_size, conf_gen_params),
	KUNIT_CASE_PARAM(a_description_serves_its_memory_only, conf_gen_params),
	{}
};

struct kunit_suite conf_mr_suite = {
	.name		= "kofi_conformance_mr",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= mr_cases,
};
