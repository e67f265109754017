// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of a PCI device, by every provider: the controller memory buffer of an NVMe device
 * as local buffers, as regions, and in rw operations, and what is refused.
 */
#include <linux/bvec.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <rdma/fi_rma.h>
#include "../lib/client.h"
#include "../lib/cmb.h"
#include "../lib/log.h"

/* Not whole pages */
#define LEN		(5 * PAGE_SIZE + 123)
#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
/* Elements of a scatterlist; all but the last are pages */
#define ELEMS		6
#define KEY		77

/**
 * struct p2p_prov - A provider, and where it has an address
 * @name: the provider
 * @node: the address
 */
struct p2p_prov {
	const char	*name;
	const char	*node;
};

static const struct p2p_prov p2p_provs[] = {
	{ "verbs", "10.77.0.1" },
	{ "tcp", "127.0.0.1" },
	{ "loop", "127.0.0.1" },
};

static void p2p_prov_name(const struct p2p_prov *prov, char *desc)
{
	strscpy(desc, prov->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(p2p, p2p_provs, p2p_prov_name);

/* With the hook that copies: the provider below could reach the memory, but is not asked to */
static const struct p2p_prov p2p_hooked[] = {
	{ "verbs;ofi_hook_p2p", "10.77.0.1" },
	{ "tcp;ofi_hook_p2p", "127.0.0.1" },
	{ "loop;ofi_hook_p2p", "127.0.0.1" },
};

KUNIT_ARRAY_PARAM(p2p_hooked, p2p_hooked, p2p_prov_name);

/**
 * struct p2p - A connection, and memory
 * @pair: the memory of the PCI device is at the first end, or is the second's region
 * @cmb: the memory of the PCI device
 * @buf: memory of the system, as long
 */
struct p2p {
	struct vt_pair	pair;
	struct vt_cmb	*cmb;
	u8		*buf;
};

static struct fi_info *p2p_info(const struct p2p_prov *prov, u64 caps)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA | caps;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				      FI_MR_HMEM;
	hints->fabric_attr->prov_name = kstrdup(prov->name, GFP_KERNEL);
	if (hints->fabric_attr->prov_name)
		fi_getinfo(VT_API, prov->node, 0, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return info;
}

/* @caps: FI_HMEM or 0 */
static void p2p_join(struct kunit *test, struct p2p *p2p, u64 caps)
{
	struct fi_info *info = p2p_info(test->param_value, caps);

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	KUNIT_EXPECT_EQ(test, info->caps & FI_HMEM, caps);
	p2p->cmb = vt_cmb(test, LEN);
	p2p->buf = vt_buf(test, LEN);
	p2p->pair.a.rw_ops = 1;
	vt_open_info(test, info);
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &p2p->pair, &vt_default_kind);
}

static int p2p_reg(struct kunit *test, const struct fi_mr_attr *attr, u64 flags,
		   struct fid_mr **mr)
{
	int ret = fi_mr_regattr(vt_of(test)->domain, attr, flags, mr);

	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

static int p2p_reg_buf(struct kunit *test, void *buf, size_t len, u64 flags, struct fid_mr **mr)
{
	const struct kvec kvec = { buf, len };
	const struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= BOTH,
		.requested_key	= KEY,
	};

	return p2p_reg(test, &attr, flags, mr);
}

static void p2p_list(struct scatterlist *sgl, u8 *buf)
{
	size_t done = 0, len;
	int i;

	sg_init_table(sgl, ELEMS);
	for (i = 0; i < ELEMS; i++, done += len) {
		len = min_t(size_t, LEN - done, PAGE_SIZE);
		sg_set_buf(&sgl[i], buf + done, len);
	}
}

/* The first end reads and writes @mr, which is the memory of the PCI device */
static void p2p_reach(struct kunit *test, struct p2p *p2p, struct fid_mr *mr, u64 key)
{
	struct fid_ep *ep = p2p->pair.a.ep;
	u8 seed = get_random_u8();

	vt_fill(p2p->cmb->mem, LEN, seed);
	memset(p2p->buf, 0, LEN);
	/* A hook that copies does so when a message is sent */
	vt_ping(test, &p2p->pair.b, &p2p->pair.a);
	KUNIT_ASSERT_EQ(test, fi_read(ep, p2p->buf, LEN, NULL, 0, fi_mr_addr(mr), key,
				      vt_ctx(1)), 0);
	vt_done(test, p2p->pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p->buf, LEN, seed));

	vt_fill(p2p->buf, LEN, seed + 1);
	KUNIT_ASSERT_EQ(test, fi_write(ep, p2p->buf, LEN, NULL, 0, fi_mr_addr(mr), key,
				       vt_ctx(2)), 0);
	vt_done(test, p2p->pair.a.tx, vt_ctx(2));
	vt_ping(test, &p2p->pair.a, &p2p->pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p->cmb->mem, LEN, seed + 1));
	/* The rest of the last page is none of the region's */
	KUNIT_EXPECT_NULL(test, memchr_inv(p2p->cmb->mem + LEN, 0, p2p->cmb->len - LEN));
}

static void peers_reach_a_region(struct kunit *test)
{
	struct p2p p2p = {};
	struct fid_mr *mr;

	p2p_join(test, &p2p, FI_HMEM);
	KUNIT_ASSERT_EQ(test, p2p_reg_buf(test, p2p.cmb->mem, LEN, 0, &mr), 0);
	p2p_reach(test, &p2p, mr, fi_mr_key(mr));
}

static void peers_reach_a_region_of_a_scatterlist(struct kunit *test)
{
	struct scatterlist sgl[ELEMS];
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_SGL,
		.mr_sgl		= sgl,
		.iov_count	= ELEMS,
		.access		= BOTH,
		.requested_key	= KEY,
	};
	struct p2p p2p = {};
	struct fid_mr *mr;

	p2p_join(test, &p2p, FI_HMEM);
	p2p_list(sgl, p2p.cmb->mem);
	KUNIT_ASSERT_EQ(test, p2p_reg(test, &attr, 0, &mr), 0);
	p2p_reach(test, &p2p, mr, fi_mr_key(mr));
}

static void a_peer_reaches_a_region_of_its_endpoint(struct kunit *test)
{
	struct p2p p2p = {};
	u64 *told, key;
	struct fid_mr *mr;

	p2p_join(test, &p2p, FI_HMEM);
	told = vt_buf(test, sizeof(*told));
	KUNIT_ASSERT_EQ(test, p2p_reg_buf(test, p2p.cmb->mem, LEN, FI_MR_ENDPOINT, &mr), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &p2p.pair.b.ep->fid, 0), 0);
	vt_recv(test, &p2p.pair.a, told, sizeof(*told), vt_ctx(3));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	key = fi_mr_key(mr);
	KUNIT_ASSERT_EQ(test, fi_inject(p2p.pair.b.ep, &key, sizeof(key), 0), 0);
	vt_done(test, p2p.pair.a.rx, vt_ctx(3));
	p2p_reach(test, &p2p, mr, *told);
	/* The device has the key until it is ended */
	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(4)), 0);
	vt_done(test, p2p.pair.b.tx, vt_ctx(4));
}

static bool p2p_stages(const char *line)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "grep -qx '%s' /sys/kernel/debug/kofi_hook_p2p/staging", line);
	return !vt_shell(command);
}

/* The first and the last of its pages, pages of the system between them */
static void a_hook_copies_what_is_peer_memory_in_part(struct kunit *test)
{
	struct bio_vec list[ELEMS];
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_BVEC,
		.mr_bvec	= list,
		.iov_count	= ELEMS,
		.access		= FI_REMOTE_WRITE,
	};
	struct p2p p2p = {};
	struct fid_mr *mr;
	u8 *plain, *from;
	int i;

	p2p_join(test, &p2p, FI_HMEM);
	plain = vt_buf(test, LEN);
	for (i = 0; i < ELEMS; i++) {
		from = i && i < ELEMS - 1 ? plain : p2p.cmb->mem;
		bvec_set_virt(&list[i], from + i * PAGE_SIZE + 7, 100);
	}
	KUNIT_ASSERT_EQ(test, p2p_reg(test, &attr, 0, &mr), 0);
	KUNIT_EXPECT_TRUE(test, p2p_stages("bytes 600"));
	vt_fill(p2p.buf, ELEMS * 100, 9);
	KUNIT_ASSERT_EQ(test, fi_write(p2p.pair.a.ep, p2p.buf, ELEMS * 100, NULL, 0,
				       fi_mr_addr(mr), fi_mr_key(mr), vt_ctx(1)), 0);
	vt_done(test, p2p.pair.a.tx, vt_ctx(1));
	vt_ping(test, &p2p.pair.a, &p2p.pair.b);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_TRUE(test, p2p_stages("regions 0"));
	for (i = 0; i < ELEMS; i++) {
		from = bvec_virt(&list[i]);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(from, p2p.buf + i * 100, 100), 0, "element %d", i);
		KUNIT_EXPECT_EQ_MSG(test, from[-1] | from[100], 0, "element %d", i);
	}
}

static void a_hook_copies_regions_only(struct kunit *test)
{
	const struct kvec kvec = { NULL, LEN };
	struct fi_mr_attr attr = { .mr_iov = &kvec, .iov_count = 1 };
	struct p2p p2p = {};
	struct fid_mr *mr;
	u8 *mem;

	p2p_join(test, &p2p, FI_HMEM);
	mem = p2p.cmb->mem;
	KUNIT_EXPECT_EQ(test, fi_send(p2p.pair.a.ep, mem, LEN, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(p2p.pair.a.ep, mem, LEN, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, p2p_reg_buf(test, mem, LEN, FI_MR_ENDPOINT, &mr), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(vt_of(test)->domain, mem, LEN, FI_SEND, 0, 0, 0, &mr,
					NULL), -EOPNOTSUPP);
	/* Nothing that has an address */
	KUNIT_EXPECT_EQ(test, p2p_reg(test, &attr, 0, &mr), -EINVAL);
	KUNIT_EXPECT_TRUE(test, p2p_stages("regions 0"));
	vt_ping(test, &p2p.pair.a, &p2p.pair.b);
}

/* A region registered by fi_mr_reg() */
static void a_hook_copies_a_buffer(struct kunit *test)
{
	struct p2p p2p = {};
	struct fid_mr *mr;

	p2p_join(test, &p2p, FI_HMEM);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, p2p.cmb->mem, LEN, BOTH, 0, KEY, 0,
					&mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	p2p_reach(test, &p2p, mr, fi_mr_key(mr));
}

static void it_is_sent_and_received(struct kunit *test)
{
	struct p2p p2p = {};

	p2p_join(test, &p2p, FI_HMEM);
	vt_fill(p2p.cmb->mem, LEN, 3);
	vt_recv(test, &p2p.pair.b, p2p.buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(p2p.pair.a.ep, p2p.cmb->mem, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, p2p.pair.a.tx, vt_ctx(2));
	vt_done(test, p2p.pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p.buf, LEN, 3));

	vt_fill(p2p.buf, LEN, 4);
	vt_recv(test, &p2p.pair.a, p2p.cmb->mem, LEN, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, fi_send(p2p.pair.b.ep, p2p.buf, LEN, NULL, 0, vt_ctx(4)), 0);
	vt_done(test, p2p.pair.b.tx, vt_ctx(4));
	vt_done(test, p2p.pair.a.rx, vt_ctx(3));
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p.cmb->mem, LEN, 4));
}

/* From the PCI device's memory to the region @mr, which is @buf, and back, by rw operations */
static void p2p_move(struct kunit *test, struct p2p *p2p, struct fid_mr *mr)
{
	struct fid_ep *ep = p2p->pair.a.ep;
	struct scatterlist sgl[ELEMS];

	p2p_list(sgl, p2p->cmb->mem);
	vt_fill(p2p->cmb->mem, LEN, 5);
	KUNIT_ASSERT_EQ(test, fi_writesgl(ep, sgl, ELEMS, 0, LEN, 0, fi_mr_addr(mr),
					  fi_mr_key(mr), vt_ctx(1), FI_COMPLETION), 0);
	vt_done(test, p2p->pair.a.tx, vt_ctx(1));
	vt_ping(test, &p2p->pair.a, &p2p->pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p->buf, LEN, 5));

	vt_fill(p2p->buf, LEN, 6);
	KUNIT_ASSERT_EQ(test, fi_readsgl(ep, sgl, ELEMS, 0, LEN, 0, fi_mr_addr(mr),
					 fi_mr_key(mr), vt_ctx(2), FI_COMPLETION), 0);
	vt_done(test, p2p->pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p->cmb->mem, LEN, 6));
}

static void it_is_read_into_and_written_from(struct kunit *test)
{
	struct p2p p2p = {};
	struct fid_mr *mr;
	struct fid_ep *ep;

	p2p_join(test, &p2p, FI_HMEM);
	ep = p2p.pair.a.ep;
	KUNIT_ASSERT_EQ(test, p2p_reg_buf(test, p2p.buf, LEN, 0, &mr), 0);
	vt_fill(p2p.cmb->mem, LEN, 7);
	KUNIT_ASSERT_EQ(test, fi_write(ep, p2p.cmb->mem, LEN, NULL, 0, fi_mr_addr(mr),
				       fi_mr_key(mr), vt_ctx(1)), 0);
	vt_done(test, p2p.pair.a.tx, vt_ctx(1));
	vt_ping(test, &p2p.pair.a, &p2p.pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p.buf, LEN, 7));

	vt_fill(p2p.buf, LEN, 8);
	KUNIT_ASSERT_EQ(test, fi_read(ep, p2p.cmb->mem, LEN, NULL, 0, fi_mr_addr(mr),
				      fi_mr_key(mr), vt_ctx(2)), 0);
	vt_done(test, p2p.pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(p2p.cmb->mem, LEN, 8));
	p2p_move(test, &p2p, mr);
}

/* Data transfers look closer at a kernel address only under this check */
static void p2p_expect_kvecs_refused(struct kunit *test, struct fid_ep *ep, u8 *mem,
				     struct fid_mr *mr)
{
	if (!IS_ENABLED(CONFIG_DEBUG_VM))
		return;
	KUNIT_EXPECT_EQ(test, fi_send(ep, mem, LEN, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(ep, mem, LEN, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_write(ep, mem, LEN, NULL, 0, fi_mr_addr(mr), fi_mr_key(mr),
				       NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_read(ep, mem, LEN, NULL, 0, fi_mr_addr(mr), fi_mr_key(mr),
				      NULL), -EINVAL);
}

static void p2p_expect_pages_refused(struct kunit *test, struct fid_ep *ep, u8 *mem,
				     struct fid_mr *mr)
{
	struct bio_vec page = { .bv_page = virt_to_page(mem), .bv_len = PAGE_SIZE };
	const struct fi_msg msg = { .type = FI_BUF_BVEC, .msg_bvec = &page, .iov_count = 1 };
	const struct fi_rma_iov remote = {
		.addr = fi_mr_addr(mr), .len = PAGE_SIZE, .key = fi_mr_key(mr),
	};
	const struct fi_msg_rma rma = {
		.type = FI_BUF_BVEC, .msg_bvec = &page, .iov_count = 1,
		.rma_iov = &remote, .rma_iov_count = 1,
	};

	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &msg, FI_COMPLETION), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(ep, &msg, FI_COMPLETION), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &rma, FI_COMPLETION), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &rma, FI_COMPLETION), -EINVAL);
}

static void without_hmem_it_is_refused(struct kunit *test)
{
	struct scatterlist sgl[ELEMS];
	struct kmsg_dump_iter log;
	struct p2p p2p = {};
	struct fid_mr *mr, *none;
	struct fid_ep *ep;
	u8 *mem;

	p2p_join(test, &p2p, 0);
	mem = p2p.cmb->mem;
	ep = p2p.pair.a.ep;
	p2p_list(sgl, mem);
	KUNIT_ASSERT_EQ(test, p2p_reg_buf(test, p2p.buf, LEN, 0, &mr), 0);
	vt_log_clear(&log);
	KUNIT_EXPECT_EQ(test, p2p_reg_buf(test, mem, LEN, 0, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "opened without FI_HMEM"), 1);
	KUNIT_EXPECT_EQ(test, p2p_reg_buf(test, mem, LEN, FI_MR_ENDPOINT, &none), -EINVAL);
	p2p_expect_kvecs_refused(test, ep, mem, mr);
	p2p_expect_pages_refused(test, ep, mem, mr);
	KUNIT_EXPECT_EQ(test, fi_writesgl(ep, sgl, ELEMS, 0, LEN, 0, fi_mr_addr(mr),
					  fi_mr_key(mr), NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, sgl, ELEMS, 0, LEN, 0, fi_mr_addr(mr),
					 fi_mr_key(mr), NULL, 0), -EINVAL);
	vt_ping(test, &p2p.pair.a, &p2p.pair.b);
}

/* Registers, to which no pages belong, of the device whose memory is used elsewhere */
static void registers_are_refused(struct kunit *test)
{
	struct kmsg_dump_iter log;
	struct p2p p2p = {};
	struct fid_mr *mr;
	void __iomem *bar;

	p2p_join(test, &p2p, FI_HMEM);
	bar = ioremap(pci_resource_start(p2p.cmb->pdev, 0), PAGE_SIZE);
	KUNIT_ASSERT_TRUE(test, !!bar);
	vt_log_clear(&log);
	KUNIT_EXPECT_EQ(test, p2p_reg_buf(test, (__force void *)bar, 64, 0, &mr), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "has no pages, as registers of a device"), 1);
	KUNIT_EXPECT_EQ(test, fi_send(p2p.pair.a.ep, (__force void *)bar, 64, NULL, 0, NULL),
			-EINVAL);
	iounmap(bar);
}

/* @file of the driver of NVMe devices, in the background, then touch @end */
static void driver_write(const char *device, const char *file, const char *end)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "rm -f %s; (echo %s >/sys/bus/pci/drivers/nvme/%s; touch %s) >/dev/null 2>&1 &",
		 end, device, file, end);
	vt_shell(command);
}

/* Of the process that unbinds: does it wait for the pages? */
static bool unbind_waits(void)
{
	return !vt_shell("grep -q memunmap_pages /proc/[0-9]*/stack");
}

static bool unbind_has_ended(void)
{
	return !vt_shell("test -e /tmp/unbound");
}

static bool bind_has_ended(void)
{
	return !vt_shell("test -e /tmp/bound");
}

/* The driver's unbind waits until the region is closed and the memory is freed */
static void the_unbind_waits_for_the_region(struct kunit *test)
{
	struct p2p p2p = {};
	struct fid_mr *mr;
	char device[32];
	bool done;

	p2p_join(test, &p2p, FI_HMEM);
	KUNIT_ASSERT_EQ(test, p2p_reg_buf(test, p2p.cmb->mem, LEN, 0, &mr), 0);
	strscpy(device, pci_name(p2p.cmb->pdev), sizeof(device));
	driver_write(device, "unbind", "/tmp/unbound");
	KUNIT_ASSERT_EQ(test, read_poll_timeout(unbind_waits, done, done, 20000,
						VT_PATIENCE_MS * 1000, false), 0);
	KUNIT_EXPECT_FALSE(test, unbind_has_ended());
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_FALSE(test, unbind_has_ended());
	kunit_release_action(test, vt_cmb_free, p2p.cmb);
	KUNIT_EXPECT_EQ(test, read_poll_timeout(unbind_has_ended, done, done, 20000,
						VT_PATIENCE_MS * 1000, false), 0);
	driver_write(device, "bind", "/tmp/bound");
	KUNIT_EXPECT_EQ(test, read_poll_timeout(bind_has_ended, done, done, 20000,
						VT_PATIENCE_MS * 1000, false), 0);
}

static struct kunit_case p2p_cases[] = {
	KUNIT_CASE_PARAM(peers_reach_a_region, p2p_gen_params),
	KUNIT_CASE_PARAM(peers_reach_a_region_of_a_scatterlist, p2p_gen_params),
	KUNIT_CASE_PARAM(peers_reach_a_region, p2p_hooked_gen_params),
	KUNIT_CASE_PARAM(peers_reach_a_region_of_a_scatterlist, p2p_hooked_gen_params),
	KUNIT_CASE_PARAM(a_hook_copies_a_buffer, p2p_hooked_gen_params),
	KUNIT_CASE_PARAM(a_hook_copies_what_is_peer_memory_in_part, p2p_hooked_gen_params),
	KUNIT_CASE_PARAM(a_hook_copies_regions_only, p2p_hooked_gen_params),
	KUNIT_CASE_PARAM(a_peer_reaches_a_region_of_its_endpoint, p2p_gen_params),
	KUNIT_CASE_PARAM(it_is_sent_and_received, p2p_gen_params),
	KUNIT_CASE_PARAM(it_is_read_into_and_written_from, p2p_gen_params),
	KUNIT_CASE_PARAM(without_hmem_it_is_refused, p2p_gen_params),
	KUNIT_CASE_PARAM(without_hmem_it_is_refused, p2p_hooked_gen_params),
	KUNIT_CASE_PARAM(registers_are_refused, p2p_gen_params),
	KUNIT_CASE_PARAM(the_unbind_waits_for_the_region, p2p_gen_params),
	{}
};

static struct kunit_suite p2p_suite = {
	.name		= "kofi_p2p",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= p2p_cases,
};

kunit_test_suites(&p2p_suite);

MODULE_DESCRIPTION("KUnit tests of kOFI with memory of a PCI device");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_SOFTDEP("pre: kofi_verbs kofi_tcp kofi_loop nvme");
