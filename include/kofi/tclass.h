/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traffic classes: how a network may treat the packets of a connection.
 *
 * IP carries a class as a type of service, whose upper six bits are the DSCP.
 * libfabric defines no code points for its labels; kOFI uses the customary ones, see
 * Documentation/differences.rst.
 */
#ifndef _KOFI_TCLASS_H
#define _KOFI_TCLASS_H

#include <linux/types.h>

/**
 * kofi_tclass_known() - Is it a traffic class?
 * @tclass: FI_TC_*, FI_TC_DSCP with a code point, or FI_TC_UNSPEC, which is the host's
 *	default
 *
 * Context: any.
 * Return: whether it is.
 */
bool kofi_tclass_known(u32 tclass);

/**
 * kofi_tclass_tos() - Get the type of service of a class
 * @tclass: a class that is known, and not FI_TC_UNSPEC
 *
 * Context: any.
 * Return: the type of service.
 */
u8 kofi_tclass_tos(u32 tclass);

/**
 * kofi_tclass_of_tos() - Which class has a peer chosen?
 * @tos: the type of service that has arrived
 *
 * Context: any.
 * Return: the class, FI_TC_DSCP with a code point.
 */
u32 kofi_tclass_of_tos(u8 tos);

#endif /* _KOFI_TCLASS_H */
