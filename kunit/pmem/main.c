// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a machine that is killed keeps: one round of scripts/pmem, which boots a machine, has
 * it check what the one before has left, and kills it in the middle of writes and saves.
 *
 * Loading the module checks the medium against the note of the initiator, and fails if a byte
 * that was saved is not there.  Then, with batches=1, writes go to the target without end, in
 * batches: as many fi_write() as a batch has and one FI_SAVE, or every other time commits
 * (FI_COMMIT_COMPLETE) of each write.  A batch whose last completion has been read is noted.
 *
 *	prov=NAME	tcp, verbs or loop
 *	node=ADDRESS	of the machine, for the provider
 *	batches=N	0: check only
 *	durable=0	saves ask for FI_TRANSMIT_COMPLETE, so nothing may be in the medium
 *	dax=1		the region is the medium
 *	peer=1		what is written comes from memory of a PCI device
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/random.h>
#include <rdma/fi_rma.h>
#include "../lib/client.h"
#include "../lib/cmb.h"
#include "crash.h"

static char *prov = "tcp";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "provider: tcp, verbs or loop");

static char *node = "127.0.0.1";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "address of this machine");

static bool batches;
module_param(batches, bool, 0444);
MODULE_PARM_DESC(batches, "write without end");

static bool durable = true;
module_param(durable, bool, 0444);
MODULE_PARM_DESC(durable, "saves make what was written durable");

static bool dax;
module_param(dax, bool, 0444);
MODULE_PARM_DESC(dax, "the region is the medium");

static bool peer;
module_param(peer, bool, 0444);
MODULE_PARM_DESC(peer, "write from memory of a PCI device");

#define CRASH_KEY	5

static struct crash_media media;

/**
 * struct crash - A connection with itself
 * @pair: the initiator is a, the target b
 * @buf: of the initiator's
 * @remote: the target's region
 */
struct crash {
	struct vt_pair		pair;
	u8			*buf;
	struct fi_rma_iov	remote;
};

static struct fi_info *crash_info(void)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM | (peer ? FI_HMEM : 0);
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				      (peer ? FI_MR_HMEM : 0);
	hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
	if (hints->fabric_attr->prov_name)
		fi_getinfo(VT_API, node, 0, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return info;
}

static void crash_join(struct kunit *test, struct crash *crash)
{
	const struct kvec kvec = { media.mem, CRASH_LEN };
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key	= CRASH_KEY,
	};
	struct fi_info *info = crash_info();
	struct fid_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	vt_open_info(test, info);
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &crash->pair, &vt_default_kind);
	crash->buf = peer ? vt_cmb(test, CRASH_MAX)->mem : vt_buf(test, CRASH_MAX);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_RMA_PMEM, &mr), 0);
	vt_adopt(test, &mr->fid);
	crash->remote = (struct fi_rma_iov) {
		.addr = fi_mr_addr(mr), .key = fi_mr_key(mr),
	};
}

/* Writes, or saves if @write is NULL */
static void crash_post(struct kunit *test, struct crash *crash, const struct crash_write *write,
		       u64 flags)
{
	struct fi_rma_iov remote = crash->remote;
	struct kvec iov = { crash->buf, write ? write->len : 0 };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = write ? 1 : 0,
		.rma_iov = &remote, .rma_iov_count = 1, .context = vt_ctx(1),
	};

	if (write) {
		memset(crash->buf, write->byte, write->len);
		remote.addr += write->offset;
		remote.len = write->len;
	}
	KUNIT_ASSERT_EQ(test, fi_writemsg(crash->pair.a.ep, &msg, flags | FI_COMPLETION), 0);
	vt_done(test, crash->pair.a.tx, vt_ctx(1));
}

static void writes_are_saved_until_the_machine_is_killed(struct kunit *test)
{
	u64 level = durable ? FI_COMMIT_COMPLETE : FI_TRANSMIT_COMPLETE, batch;
	struct crash_write writes[CRASH_WRITES];
	struct crash crash = {};
	bool save;
	u32 i, count;

	crash_join(test, &crash);
	for (batch = 1; batches; batch++) {
		count = crash_batch(media.note->seed, batch, writes);
		save = batch & 1;
		for (i = 0; i < count; i++)
			crash_post(test, &crash, &writes[i], save ? 0 : level);
		if (save)
			crash_post(test, &crash, NULL, FI_SAVE | level);
		WRITE_ONCE(media.note->saved, batch);
	}
}

static struct kunit_case crash_cases[] = {
	KUNIT_CASE(writes_are_saved_until_the_machine_is_killed),
	{}
};

static struct kunit_suite crash_suite = {
	.name		= "kofi_pmem_crash",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= crash_cases,
};

/* What the machine before has left, and an empty medium */
static int __init crash_begin(void)
{
	struct crash_note *note = media.note;
	size_t bad = 0, unsaved = 0;
	int ret = 0;

	if (note->magic == CRASH_MAGIC) {
		ret = crash_check(&media, &bad, &unsaved);
		if (ret)
			pr_info("byte %#zx is wrong after %llu batches (%d)\n", bad, note->saved,
				ret);
		else
			pr_info("intact after %llu batches, and %zu bytes more\n", note->saved,
				unsaved);
	}
	/* The machine may be killed anywhere here */
	WRITE_ONCE(note->magic, 0);
	barrier();
	memset(media.data, 0, CRASH_LEN);
	note->seed = get_random_u64();
	note->durable = durable;
	note->saved = 0;
	barrier();
	WRITE_ONCE(note->magic, CRASH_MAGIC);
	return ret;
}

static int __init crash_init(void)
{
	int ret = crash_media_open(&media, dax);

	if (ret)
		return ret;
	ret = crash_begin();
	if (ret)
		crash_media_close(&media);
	return ret;
}
module_init(crash_init);

static void __exit crash_exit(void)
{
	crash_media_close(&media);
}
module_exit(crash_exit);

kunit_test_suites(&crash_suite);

MODULE_DESCRIPTION("kOFI: what a machine that is killed keeps of persistent memory");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_SOFTDEP("pre: nd_pmem nfit nvme");
