/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections of this machine with itself, over kOFI.  kofi_perf.ko exports them to
 * other modules that measure (kunit/insn).  raw_cm.h has such connections on rdma_cm.
 *
 * Each call belongs to one thread and may sleep.
 */
#ifndef _KOFI_PERF_LINK_H
#define _KOFI_PERF_LINK_H

#include <linux/socket.h>
#include <linux/types.h>
#include <rdma/fabric.h>

struct fid_av;
struct fid_cq;
struct fid_domain;
struct fid_ep;
struct fid_eq;
struct fid_fabric;
struct fid_pep;

/* Longest wait for anything that should come at once */
#define PERF_PATIENCE_MS	60000

/**
 * struct perf_depth - How deep the queues of a connection are
 * @tx: operations of a transmit queue
 * @rx: operations of a receive queue
 */
struct perf_depth {
	u32	tx;
	u32	rx;
};

/**
 * struct perf_way - What carries the data
 * @prov: name of the provider
 * @rdm: endpoints without connections, of which each has one peer
 * @process: operations are posted and complete in process context, and may sleep
 */
struct perf_way {
	char	prov[16];
	bool	rdm;
	bool	process;
};

/**
 * struct perf_fabric - What endpoints are opened on
 * @way: as the caller has asked for
 * @info: the fi_info that fi_getinfo() has found
 * @fabric: fabric of @info
 * @domain: domain of @info
 * @eq: events of @pep and all endpoints
 * @pep: listens; or NULL
 * @av: peers of endpoints without connections; or NULL
 * @name: address that @pep listens at
 * @name_len: bytes of @name
 * @depth: of endpoints
 */
struct perf_fabric {
	struct perf_way		way;
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_pep		*pep;
	struct fid_av		*av;
	struct sockaddr_storage	name;
	size_t			name_len;
	struct perf_depth	depth;
};

/**
 * struct perf_link - A connection
 * @a: has connected
 * @b: has accepted
 * @to_a: address of @a, for sends of @b
 * @to_b: address of @b, for sends of @a
 */
struct perf_link {
	struct fid_ep	*a;
	struct fid_ep	*b;
	fi_addr_t	to_a;
	fi_addr_t	to_b;
};

/**
 * perf_fabric_open() - Open the fabric of an address and listen there
 * @f: filled
 * @way: what carries the data
 * @node: the address
 * @depth: of endpoints
 * @caps: FI_MSG and more
 *
 * Return: 0, or an error of the fi_* calls.
 */
int perf_fabric_open(struct perf_fabric *f, const struct perf_way *way,
		     const char *node, struct perf_depth depth, u64 caps);

/**
 * perf_fabric_close() - Close a fabric
 * @f: as opened, or zeroed
 */
void perf_fabric_close(struct perf_fabric *f);

/**
 * perf_ep_open() - Open and enable an endpoint that is not connected
 * @f: the fabric
 * @info: an fi_info of @f
 * @cq: for all completions of the endpoint
 * @ep: set
 *
 * Return: 0, or an error of the fi_* calls.
 */
int perf_ep_open(struct perf_fabric *f, struct fi_info *info, struct fid_cq *cq,
		 struct fid_ep **ep);

/**
 * perf_connect() - Make a connection
 * @f: the fabric
 * @link: filled
 * @cq_a: for all completions of end a
 * @cq_b: for all completions of end b
 *
 * Return: 0, or an error of the fi_* calls.
 */
int perf_connect(struct perf_fabric *f, struct perf_link *link,
		 struct fid_cq *cq_a, struct fid_cq *cq_b);

/**
 * perf_av_open() - Open one more address vector
 * @f: the fabric
 * @av: set
 *
 * Return: 0, or an error of the fi_* calls.
 */
int perf_av_open(struct perf_fabric *f, struct fid_av **av);

/**
 * perf_insert() - Insert an endpoint without connections into an address vector
 * @av: the address vector
 * @ep: the endpoint
 * @addr: set
 *
 * Return: 0, or an error of the fi_* calls.
 */
int perf_insert(struct fid_av *av, struct fid_ep *ep, fi_addr_t *addr);

/**
 * perf_disconnect() - Close both ends
 * @link: as connected, or zeroed
 */
void perf_disconnect(struct perf_link *link);

#endif /* _KOFI_PERF_LINK_H */
