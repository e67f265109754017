/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_kfi.ko share.
 */
#ifndef _KOFI_KFI_H
#define _KOFI_KFI_H

#include <kfi_cxi_ext.h>
#include <kfi_endpoint.h>
#include <kfi_rma.h>
#include <kfi_tagged.h>

/* Set in the context of kfi_tsenddata(): its completion is one of a message, not of a write */
#define KFI_TSENDDATA	BIT(0)

/* main.c */
/* Copies the parameter "provider" to @name, of FI_NAME_MAX bytes */
void kfi_provider(char *name);
/* The port of a net, given as text; NULL is net 0.  0, or -EINVAL after a message */
int kfi_port(const char *call, const char *service, u16 *net, int *port);

#endif /* _KOFI_KFI_H */
