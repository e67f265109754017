/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between kernel versions, from 6.1 on.  Code reads as if it were
 * written for the newest kernel; each shim here carries the newest name.
 */
#ifndef _KOFI_COMPAT_H
#define _KOFI_COMPAT_H

#include <linux/fs_struct.h>
#include <linux/mm.h>
#include <linux/version.h>
#include <linux/wait_bit.h>

/* 6.1 has is_vmalloc_or_module_addr() but does not export it */
#if KERNEL_VERSION(6, 4, 0) > LINUX_VERSION_CODE
static inline bool kofi_is_vmalloc_or_module_addr(const void *addr)
{
#ifdef MODULES_VADDR
	if ((unsigned long)addr >= MODULES_VADDR &&
	    (unsigned long)addr < MODULES_END)
		return true;
#endif
	return is_vmalloc_addr(addr);
}

#define is_vmalloc_or_module_addr kofi_is_vmalloc_or_module_addr
#endif

/* 6.2 lets a socket not use the page fragment of its task */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define kofi_sock_no_task_frag(sk)	((void)(sk))
#else
#define kofi_sock_no_task_frag(sk)	((sk)->sk_use_task_frag = false)
#endif

/* Since 6.2 a dma-buf is mapped for the processor under its reservation lock */
#define KOFI_DMABUF_VMAP_IS_LOCKED	(KERNEL_VERSION(6, 2, 0) <= LINUX_VERSION_CODE)

/* Since 6.6 the attributes of a dump request are in a struct genl_info */
#if KERNEL_VERSION(6, 6, 0) > LINUX_VERSION_CODE
#define kofi_genl_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#else
#define kofi_genl_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#endif

/* Since 6.10 a ubuf_info points to a table of calls */
#if KERNEL_VERSION(6, 10, 0) > LINUX_VERSION_CODE
struct sk_buff;
struct ubuf_info;

struct ubuf_info_ops {
	void (*complete)(struct sk_buff *skb, struct ubuf_info *ubuf, bool success);
};

#define kofi_ubuf_set_ops(ubuf, table)	((void)((ubuf)->callback = (table)->complete))
#else
#define kofi_ubuf_set_ops(ubuf, table)	((void)((ubuf)->ops = (table)))
#endif

/* Since 6.11 a device's create_cq gets a struct uverbs_attr_bundle */
#if KERNEL_VERSION(6, 11, 0) > LINUX_VERSION_CODE
#define KOFI_IB_CQ_UDATA	struct ib_udata
#else
#define KOFI_IB_CQ_UDATA	struct uverbs_attr_bundle
#endif

/* Since 6.13, and in later stable releases of 6.1 and 6.12 */
#ifndef store_release_wake_up
#define store_release_wake_up(var, val)					\
do {									\
	typeof(var) var_ = (var);					\
									\
	smp_store_release(var_, val); /* the sleeper acquires */	\
	smp_mb(); /* wake_up_var() looks for sleepers without a lock */	\
	wake_up_var(var_);						\
} while (0)

static inline bool atomic_dec_and_wake_up(atomic_t *var)
{
	if (!atomic_dec_and_test(var))
		return false;
	wake_up_var(var);
	return true;
}
#endif

/* Since 6.13 the name of a symbol namespace, such as that of dma-bufs, is a string */
#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
#define KOFI_IMPORT_DMA_BUF	MODULE_IMPORT_NS(DMA_BUF)
#else
#define KOFI_IMPORT_DMA_BUF	MODULE_IMPORT_NS("DMA_BUF")
#endif

/* Since 6.17 reg_user_mr of a device has a parameter for DMA handles */
#if KERNEL_VERSION(6, 17, 0) > LINUX_VERSION_CODE
#define KOFI_IB_DMAH_PARAM
#else
#define KOFI_IB_DMAH_PARAM	struct ib_dmah *dmah,
#endif

/* Since 6.17 a workqueue whose works run where they are queued says so */
#if KERNEL_VERSION(6, 17, 0) > LINUX_VERSION_CODE
#define WQ_PERCPU 0
#endif

/* Since 6.18 a generator of KUnit parameters has the test as a parameter */
#if KERNEL_VERSION(6, 18, 0) > LINUX_VERSION_CODE
#define KOFI_KUNIT_PARAM_TEST
#else
#define KOFI_KUNIT_PARAM_TEST	struct kunit *test,
#endif

/* Since 6.18 pages are mapped for a device by their physical address */
#if KERNEL_VERSION(6, 18, 0) > LINUX_VERSION_CODE
#define KOFI_TRACE_DMA_MAP	"dma_map_page"
#define KOFI_TRACE_DMA_UNMAP	"dma_unmap_page"
#else
#define KOFI_TRACE_DMA_MAP	"dma_map_phys"
#define KOFI_TRACE_DMA_UNMAP	"dma_unmap_phys"
#endif

/* Since 6.19 an address whose length is passed separately has a type of its own */
#if KERNEL_VERSION(6, 19, 0) > LINUX_VERSION_CODE
#define sockaddr_unsized sockaddr
#endif

/* The notification of importers had another name before 7.1 */
#if KERNEL_VERSION(7, 1, 0) > LINUX_VERSION_CODE
#define invalidate_mappings move_notify
#define dma_buf_invalidate_mappings dma_buf_move_notify
#endif

/* Kernel threads see the files of user space, until one of the 7.x takes them away */
#ifndef scoped_with_init_fs
#define scoped_with_init_fs()
#endif

#endif /* _KOFI_COMPAT_H */
