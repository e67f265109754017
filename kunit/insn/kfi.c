// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_insn_kfi: instructions that a tagged read or write takes by the kfi_* names, beside one
 * by the fi_* names.
 *
 *	modprobe kofi_insn_kfi prov=tcp
 *
 * Each side has two scalable endpoints of the provider on the loopback interface, with one
 * context of each direction and the attributes that kofi_kfi asks for: that of the kfi_* names
 * from clients/bulk, the other one by the calls of kOFI.  A transfer is a tagged receive at the
 * one end, an access of it by the other, and the reading of both completions.  All instructions
 * of the machine count, those of workers, too; so this is for a guest of one processor whose time
 * is the number of instructions (scripts/vm --icount).
 *
 * With hold=N it only opens N contexts of each direction, by the names that side= says, and keeps
 * them until it is unloaded, so that memory can be compared.
 *
 * The module works while it is loaded, and loading fails if anything does.  A line for each round,
 *
 *	case side insn round instructions operations
 *
 * is in /sys/kernel/debug/kofi_insn_kfi/samples until it is unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>
#include "../../clients/bulk/bulk.h"

#define KFI_NODE	"127.0.0.1"
#define KFI_PORT	30001
#define KFI_NET		11
#define KFI_ENDS	2
#define KFI_FIDS	(2 + 2 * KFI_ENDS + 4 * BULK_MAX_CTXS)
#define KFI_ROUNDS	11
#define KFI_TAG		0x10001
#define KFI_WAIT	(10 * HZ)

static char *prov = "tcp";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "provider; that of kofi_kfi has to be the same");

static int hold;
module_param(hold, int, 0444);
MODULE_PARM_DESC(hold, "contexts to open and keep, 1 to 16, in place of all else; 0: count");

static char *held = "kofi";
module_param_named(side, held, charp, 0444);
MODULE_PARM_DESC(side, "with hold: kofi for the kfi_* names, raw for kOFI's");

/**
 * struct kfi_side - Two ends, and how their completions are read
 * @name: of the side in samples
 * @read: reads a completion: 1, or a negative errno
 * @rx: receives, of one end
 * @rx_cq: its completions
 * @tx: accesses them, of the other end
 * @tx_cq: its completions
 * @peer: the end with @rx, for @tx
 * @ni: both ends by the kfi_* names
 * @info: for both ends by the fi_* names
 * @fids: what is open, by the fi_* names
 * @count: how many
 */
struct kfi_side {
	const char	*name;
	ssize_t		(*read)(struct fid_cq *cq, struct fi_cq_data_entry *entry);
	struct fid_ep	*rx;
	struct fid_cq	*rx_cq;
	struct fid_ep	*tx;
	struct fid_cq	*tx_cq;
	fi_addr_t	peer;
	struct bulk_ni	ni[KFI_ENDS];
	struct fi_info	*info[KFI_ENDS];
	struct fid	*fids[KFI_FIDS];
	int		count;
};

/**
 * struct kfi_mem - Pages
 * @list: all of them
 */
struct kfi_mem {
	struct bio_vec	list[BULK_PAGES];
};

static const struct kfi_case {
	const char	*name;
	bool		read;
	int		pages;
	int		ops;	/* of a round */
} kfi_cases[] = {
	{ "read.4k", true, 1, 16 },
	{ "write.4k", false, 1, 16 },
	{ "read.1m", true, BULK_PAGES, 4 },
	{ "write.1m", false, BULK_PAGES, 4 },
};

#define KFI_SIDES	2

static struct kfi_side kfi_sides[KFI_SIDES];
static struct kfi_mem kfi_from, kfi_to;
static s64 kfi_samples[ARRAY_SIZE(kfi_cases)][KFI_SIDES][KFI_ROUNDS];
static struct dentry *kfi_dir;

static DECLARE_WAIT_QUEUE_HEAD(kfi_wait);
static atomic_t kfi_calls;

static void kfi_handler(struct fid_cq *cq, void *context)
{
	atomic_inc(&kfi_calls);
	wake_up(&kfi_wait);
}

/* By the fi_* names */

static struct fi_info *native_hints(void)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA | FI_MULTI_RECV | FI_NAMED_RX_CTX | FI_TAGGED |
		      FI_TAGGED_RMA | FI_DIRECTED_RECV;
	hints->mode = FI_ASYNC_IOV;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->iov_limit = BULK_PAGES;
	hints->tx_attr->op_flags = FI_COMPLETION;
	hints->tx_attr->size = 2048;
	hints->rx_attr->iov_limit = BULK_PAGES;
	hints->rx_attr->op_flags = FI_COMPLETION | FI_MULTI_RECV;
	hints->rx_attr->size = 2048;
	hints->domain_attr->mr_key_size = sizeof(u32);
	hints->domain_attr->resource_mgmt = FI_RM_DISABLED;
	hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
	return hints;
}

static int native_find(struct kfi_side *side, int end)
{
	struct fi_info *hints = native_hints();
	int ret;

	if (!hints)
		return -ENOMEM;
	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), KFI_NODE, KFI_PORT + end,
			 FI_SOURCE, hints, &side->info[end]);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	side->info[end]->ep_attr->tx_ctx_cnt = side->info[end]->domain_attr->max_ep_tx_ctx;
	side->info[end]->ep_attr->rx_ctx_cnt = side->info[end]->domain_attr->max_ep_rx_ctx;
	return 0;
}

static void native_keep(struct kfi_side *side, struct fid *fid)
{
	side->fids[side->count++] = fid;
}

static int native_cq_open(struct kfi_side *side, struct fid_domain *domain, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {
		.flags		= FI_AFFINITY,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= FI_COMP_WORKQUEUE,
		.handler	= kfi_handler,
		.size		= BULK_CREDITS * 10,
	};
	int ret = fi_cq_open(domain, &attr, cq, NULL);

	if (!ret)
		native_keep(side, &(*cq)->fid);
	return ret;
}

static int native_tx_open(struct kfi_side *side, struct fid_domain *domain, struct fid_ep *sep,
			  int index)
{
	struct fi_tx_attr attr = {
		.op_flags	= FI_COMPLETION | FI_TRANSMIT_COMPLETE,
		.size		= BULK_CREDITS * 2,
		.iov_limit	= BULK_PAGES,
		.rma_iov_limit	= 1,
	};
	int ret = native_cq_open(side, domain, &side->tx_cq);

	if (!ret)
		ret = fi_tx_context(sep, index, &attr, &side->tx, NULL);
	if (ret)
		return ret;
	native_keep(side, &side->tx->fid);
	return fi_ep_bind(side->tx, &side->tx_cq->fid, FI_TRANSMIT) ? : fi_enable(side->tx);
}

static int native_rx_open(struct kfi_side *side, struct fid_domain *domain, struct fid_ep *sep,
			  int index)
{
	struct fi_rx_attr attr = {
		.op_flags	= FI_COMPLETION | FI_MULTI_RECV,
		.size		= BULK_CREDITS + BULK_BUFS,
		.iov_limit	= BULK_PAGES,
	};
	int ret = native_cq_open(side, domain, &side->rx_cq);

	if (!ret)
		ret = fi_rx_context(sep, index, &attr, &side->rx, NULL);
	if (ret)
		return ret;
	native_keep(side, &side->rx->fid);
	return fi_ep_bind(side->rx, &side->rx_cq->fid, FI_RECV) ? : fi_enable(side->rx);
}

static int native_end_open(struct kfi_side *side, int end, struct fid_domain *domain,
			   struct fid_av **av, struct fid_ep **sep)
{
	struct fi_av_attr attr = { .rx_ctx_bits = BULK_RX_BITS };
	int ret;

	ret = fi_av_open(domain, &attr, av, NULL);
	if (ret)
		return ret;
	native_keep(side, &(*av)->fid);
	ret = fi_scalable_ep(domain, side->info[end], sep, NULL);
	if (ret)
		return ret;
	native_keep(side, &(*sep)->fid);
	return fi_scalable_ep_bind(*sep, &(*av)->fid, 0) ? : fi_enable(*sep);
}

static int native_domain_open(struct kfi_side *side, struct fid_domain **domain)
{
	struct fid_fabric *fabric;
	int ret;

	ret = native_find(side, 0) ? : native_find(side, 1);
	if (!ret)
		ret = fi_fabric(side->info[0]->fabric_attr, &fabric, NULL);
	if (ret)
		return ret;
	native_keep(side, &fabric->fid);
	ret = fi_domain(fabric, side->info[0], domain, NULL);
	if (!ret)
		native_keep(side, &(*domain)->fid);
	return ret;
}

/* Opens an end with so many contexts */
static int native_hold(struct kfi_side *side, int count)
{
	struct fid_domain *domain;
	struct fid_ep *sep;
	struct fid_av *av;
	int i, ret;

	ret = native_domain_open(side, &domain) ? : native_end_open(side, 0, domain, &av, &sep);
	for (i = 0; i < count && !ret; i++)
		ret = native_tx_open(side, domain, sep, i) ? :
		      native_rx_open(side, domain, sep, i);
	return ret;
}

static int native_open(struct kfi_side *side)
{
	struct fid_ep *sep[KFI_ENDS];
	struct fid_av *av[KFI_ENDS];
	struct fid_domain *domain;
	int ret;

	ret = native_domain_open(side, &domain);
	if (ret)
		return ret;
	ret = native_end_open(side, 0, domain, &av[0], &sep[0]) ? :
	      native_end_open(side, 1, domain, &av[1], &sep[1]) ? :
	      native_tx_open(side, domain, sep[0], 0) ? : native_rx_open(side, domain, sep[1], 0);
	if (ret)
		return ret;
	ret = fi_av_insertsvc(av[0], KFI_NODE, KFI_PORT + 1, &side->peer, 0, NULL);
	return ret == 1 ? 0 : ret ? : -EADDRNOTAVAIL;
}

static void native_close(struct kfi_side *side)
{
	int i;

	while (side->count)
		WARN_ON_ONCE(fi_close(side->fids[--side->count]));
	for (i = 0; i < KFI_ENDS; i++)
		fi_freeinfo(side->info[i]);
}

static ssize_t native_read(struct fid_cq *cq, struct fi_cq_data_entry *entry)
{
	return fi_cq_read(cq, entry, 1);
}

/* By the kfi_* names */

static int names_hold(struct kfi_side *side, int count)
{
	return bulk_ni_open(&side->ni[0], "lo", KFI_NET, count, kfi_handler);
}

static int names_open(struct kfi_side *side)
{
	int ret;

	ret = bulk_ni_open(&side->ni[0], "lo", KFI_NET, 1, kfi_handler);
	if (!ret)
		ret = bulk_ni_open(&side->ni[1], "lo", KFI_NET + 1, 1, kfi_handler);
	if (ret)
		return ret;
	side->tx = side->ni[0].ep[0].tx;
	side->tx_cq = side->ni[0].ep[0].tx_cq.cq;
	side->rx = side->ni[1].ep[0].rx;
	side->rx_cq = side->ni[1].ep[0].rx_cq.cq;
	return bulk_know(&side->ni[0], side->ni[1].addr, KFI_NET + 1, &side->peer);
}

static void names_close(struct kfi_side *side)
{
	int i;

	for (i = KFI_ENDS - 1; i >= 0; i--)
		if (side->ni[i].domain)
			WARN_ON_ONCE(bulk_ni_close(&side->ni[i]));
}

static ssize_t names_read(struct fid_cq *cq, struct fi_cq_data_entry *entry)
{
	return kfi_cq_read(cq, entry, 1);
}

/* Both */

/* Reads all of a queue; returns how many completions there were, or a negative errno */
static int kfi_drain(const struct kfi_side *side, struct fid_cq *cq)
{
	struct fi_cq_data_entry entry;
	ssize_t ret;
	int n = 0;

	while ((ret = side->read(cq, &entry)) == 1)
		n++;
	return ret == -EAGAIN ? n : ret;
}

/* Waits for the completion at each end */
static int kfi_await(const struct kfi_side *side)
{
	int seen, tx = 0, rx = 0, ret;

	for (;;) {
		seen = atomic_read(&kfi_calls);
		ret = kfi_drain(side, side->tx_cq);
		if (ret < 0)
			return ret;
		tx += ret;
		ret = kfi_drain(side, side->rx_cq);
		if (ret < 0)
			return ret;
		rx += ret;
		if (tx && rx)
			return 0;
		if (!wait_event_timeout(kfi_wait, atomic_read(&kfi_calls) != seen, KFI_WAIT))
			return -ETIMEDOUT;
	}
}

static int kfi_transfer(const struct kfi_side *side, const struct kfi_case *c)
{
	const struct fi_msg_tagged receive = {
		.type = FI_BUF_BVEC, .msg_biov = kfi_to.list, .iov_count = c->pages,
		.addr = FI_ADDR_UNSPEC, .tag = KFI_TAG, .context = &kfi_to,
	};
	const struct fi_rma_iov rma = { .len = c->pages * PAGE_SIZE, .key = KFI_TAG };
	const struct fi_msg_rma access = {
		.type = FI_BUF_BVEC, .msg_biov = kfi_from.list, .iov_count = c->pages,
		.addr = side->peer, .rma_iov = &rma, .rma_iov_count = 1, .context = &kfi_from,
	};
	ssize_t ret;

	ret = kfi_trecvmsg(side->rx, &receive, KFI_COMPLETION);
	if (!ret && c->read)
		ret = kfi_readmsg(side->tx, &access, KFI_TAGGED | KFI_COMPLETION);
	else if (!ret)
		ret = kfi_writemsg(side->tx, &access, KFI_TAGGED | KFI_COMPLETION);
	return ret ? : kfi_await(side);
}

/* Returns what so many transfers take, or a negative errno */
static s64 kfi_count(const struct kfi_side *side, const struct kfi_case *c)
{
	u64 start = ktime_get_ns();
	int i, ret;

	for (i = 0; i < c->ops; i++) {
		ret = kfi_transfer(side, c);
		if (ret)
			return ret;
	}
	return ktime_get_ns() - start;
}

/* The first round of a case meets cold paths */
static int kfi_run(void)
{
	const struct kfi_case *c;
	int i, round, s;
	s64 count;

	for (i = 0; i < ARRAY_SIZE(kfi_cases); i++) {
		c = &kfi_cases[i];
		for (round = -1; round < KFI_ROUNDS; round++) {
			for (s = 0; s < KFI_SIDES; s++) {
				count = kfi_count(&kfi_sides[s], c);
				if (count < 0) {
					pr_err("%s, %s: error %lld\n", c->name, kfi_sides[s].name,
					       count);
					return count;
				}
				if (round >= 0)
					kfi_samples[i][s][round] = count;
			}
		}
	}
	return 0;
}

static int samples_show(struct seq_file *m, void *v)
{
	int i, s, round;

	for (i = 0; i < ARRAY_SIZE(kfi_cases); i++)
		for (s = 0; s < KFI_SIDES; s++)
			for (round = 0; round < KFI_ROUNDS; round++)
				seq_printf(m, "insn.kfi.%s.%s %s insn %d %lld %d\n", prov,
					   kfi_cases[i].name, kfi_sides[s].name, round + 1,
					   kfi_samples[i][s][round], kfi_cases[i].ops);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(samples);

static void kfi_mem_free(struct kfi_mem *mem)
{
	int i;

	for (i = 0; i < BULK_PAGES && mem->list[i].bv_page; i++)
		__free_page(mem->list[i].bv_page);
}

static int kfi_mem_new(struct kfi_mem *mem)
{
	struct page *page;
	int i;

	for (i = 0; i < BULK_PAGES; i++) {
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		bvec_set_page(&mem->list[i], page, PAGE_SIZE, 0);
	}
	return 0;
}

static void kfi_close_all(void)
{
	names_close(&kfi_sides[0]);
	native_close(&kfi_sides[1]);
	kfi_mem_free(&kfi_from);
	kfi_mem_free(&kfi_to);
}

static int kfi_hold(void)
{
	if (hold < 0 || hold > BULK_MAX_CTXS)
		return -EINVAL;
	if (!strcmp(held, kfi_sides[0].name))
		return names_hold(&kfi_sides[0], hold);
	if (!strcmp(held, kfi_sides[1].name))
		return native_hold(&kfi_sides[1], hold);
	return -EINVAL;
}

static int __init kfi_insn_init(void)
{
	int ret;

	kfi_sides[0] = (struct kfi_side) { .name = "kofi", .read = names_read };
	kfi_sides[1] = (struct kfi_side) { .name = "raw", .read = native_read };
	if (hold) {
		ret = kfi_hold();
		if (ret)
			kfi_close_all();
		return ret;
	}
	ret = kfi_mem_new(&kfi_from) ? : kfi_mem_new(&kfi_to) ? : names_open(&kfi_sides[0]) ? :
	      native_open(&kfi_sides[1]) ? : kfi_run();
	kfi_close_all();
	if (ret)
		return ret > -MAX_ERRNO && ret <= -256 ? -EIO : ret;
	kfi_dir = debugfs_create_dir("kofi_insn_kfi", NULL);
	debugfs_create_file("samples", 0400, kfi_dir, NULL, &samples_fops);
	return 0;
}

static void __exit kfi_insn_exit(void)
{
	debugfs_remove_recursive(kfi_dir);
	if (hold)
		kfi_close_all();
}

module_init(kfi_insn_init);
module_exit(kfi_insn_exit);

MODULE_DESCRIPTION("instructions of transfers by the kfi_* names");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
