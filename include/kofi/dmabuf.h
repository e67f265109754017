/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Dma-bufs that the processor accesses, for providers without hardware.
 *
 * kofi_dmabuf_open() maps all of a dma-buf into the kernel's addresses.  Its exporter may
 * take the memory back at any time: the memory moves, or its device goes.  From then on
 * kofi_dmabuf_is_there() always returns false.  So each access is made like this:
 *
 *	idx = kofi_dmabuf_enter();
 *	if (kofi_dmabuf_is_there(memory))
 *		... kofi_dmabuf_addr(memory) ...
 *	kofi_dmabuf_leave(idx);
 *
 * The exporter waits for callers that are between kofi_dmabuf_enter() and
 * kofi_dmabuf_leave().  They may sleep, but must wait for no peer and no client.
 *
 * See Documentation/peer-memory.rst.
 */
#ifndef _KOFI_DMABUF_H
#define _KOFI_DMABUF_H

#include <linux/err.h>
#include <linux/kconfig.h>
#include <linux/types.h>
#include <rdma/fabric.h>

struct dma_buf;
struct kofi_dmabuf;

/**
 * enum kofi_dmabuf_user - What can a provider do when an exporter takes memory back?
 * @KOFI_DMABUF_STOPS: each access is made as the top of this file says
 * @KOFI_DMABUF_GOES_ON: nothing.  So the exporter must keep the memory where it is until
 *	kofi_dmabuf_close(), and an exporter that may move memory is refused
 */
enum kofi_dmabuf_user {
	KOFI_DMABUF_STOPS,
	KOFI_DMABUF_GOES_ON,
};

#if IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)

/* Capabilities of a provider that opens dma-bufs */
#define KOFI_DMABUF_CAPS	FI_HMEM

/**
 * kofi_dmabuf_open() - Map a dma-buf for the processor
 * @dmabuf: the dma-buf, of which a reference is taken
 * @user: see &enum kofi_dmabuf_user
 *
 * A refusal is logged, with the name of the exporter.
 *
 * Context: may sleep.
 * Return: the mapping; -EOPNOTSUPP: the exporter has no mapping for the processor, or one
 * that takes special instructions; or it may take the memory back, and @user is
 * KOFI_DMABUF_GOES_ON, or this kernel is older than 6.2; -ENOMEM; or an error of the exporter.
 */
struct kofi_dmabuf *kofi_dmabuf_open(struct dma_buf *dmabuf, enum kofi_dmabuf_user user);

/**
 * kofi_dmabuf_close() - Undo kofi_dmabuf_open()
 * @memory: the mapping, which nothing accesses any more
 *
 * Context: may sleep.
 */
void kofi_dmabuf_close(struct kofi_dmabuf *memory);

/**
 * kofi_dmabuf_addr() - Get the address of the first byte
 * @memory: the mapping
 *
 * Context: any.
 * Return: the kernel address, for a caller that has entered.
 */
void *kofi_dmabuf_addr(const struct kofi_dmabuf *memory);

/**
 * kofi_dmabuf_is_there() - Is the memory still there?
 * @memory: the mapping
 *
 * Context: any.
 * Return: false: the exporter has taken it back; true: it is there, and if the caller has
 * called kofi_dmabuf_enter(), it stays until kofi_dmabuf_leave().
 */
bool kofi_dmabuf_is_there(const struct kofi_dmabuf *memory);

/**
 * kofi_dmabuf_enter() - Keep the memory of all dma-bufs that is there
 *
 * Context: any; the same context calls kofi_dmabuf_leave().
 * Return: the argument for kofi_dmabuf_leave(), not negative.
 */
int kofi_dmabuf_enter(void);

/* Ends what began with kofi_dmabuf_enter().  Any context */
void kofi_dmabuf_leave(int idx);

#else

#define KOFI_DMABUF_CAPS	0

static inline struct kofi_dmabuf *kofi_dmabuf_open(struct dma_buf *dmabuf,
						   enum kofi_dmabuf_user user)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void kofi_dmabuf_close(struct kofi_dmabuf *memory)
{
}

static inline void *kofi_dmabuf_addr(const struct kofi_dmabuf *memory)
{
	return NULL;
}

static inline bool kofi_dmabuf_is_there(const struct kofi_dmabuf *memory)
{
	return false;
}

static inline int kofi_dmabuf_enter(void)
{
	return 0;
}

static inline void kofi_dmabuf_leave(int idx)
{
}

#endif /* CONFIG_DMA_SHARED_BUFFER */

/* For main.c: sets up the device that exporters see; 0, or a negative errno */
int kofi_dmabuf_init(void);
void kofi_dmabuf_exit(void);

#endif /* _KOFI_DMABUF_H */
