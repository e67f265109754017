/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kofi_tcp: endpoints over TCP, on the wire of libfabric's tcp provider.
 *
 *	stream/		connections, and the endpoints that have one (stream.h)
 *	rdm/		endpoints without connections, and scalable ones, on top of stream/ (rdm.h)
 *	here		what both stand on, the messages on the wire and the trace event, and what
 *			knows both: the module, fi_getinfo(), fabrics and domains, interfaces that
 *			go, and debugfs
 *
 * Nothing in stream/ names anything of rdm/: it calls it by struct ktcp_upper.
 */
#ifndef _KOFI_TCP_H
#define _KOFI_TCP_H

#include "rdm/rdm.h"

/* info.c */
int ktcp_getinfo(u32 version, const char *node, const int service, u64 flags,
		 struct fi_info *hints, struct fi_info **info);

/* domain.c */
int ktcp_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context);
extern struct kofi_soft_type ktcp_type;

/* netdev.c */
int ktcp_netdev_init(void);
void ktcp_netdev_exit(void);

/* debugfs.c */
void ktcp_debugfs_init(void);
void ktcp_debugfs_exit(void);

#endif /* _KOFI_TCP_H */
