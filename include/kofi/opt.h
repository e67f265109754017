/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies values of options between the client's buffer and the provider.
 */
#ifndef _KOFI_OPT_H
#define _KOFI_OPT_H

#include <linux/types.h>

/**
 * kofi_opt_put() - Give the value of an option to the client
 * @value: the value
 * @size: bytes of @value
 * @optval: the client's buffer
 * @optlen: in: bytes of @optval; out: @size
 *
 * Context: any.
 * Return: 0; -FI_ETOOSMALL.
 */
int kofi_opt_put(const void *value, size_t size, void *optval, size_t *optlen);

/**
 * kofi_opt_put_size() - Give a size_t to the client
 * @value: the value
 * @optval: as kofi_opt_put()
 * @optlen: as kofi_opt_put()
 *
 * Context: any.
 * Return: as kofi_opt_put().
 */
int kofi_opt_put_size(size_t value, void *optval, size_t *optlen);

/**
 * kofi_opt_get() - Take the value of an option from the client
 * @value: where it goes; unchanged after an error
 * @size: bytes of @value
 * @optval: the client's value
 * @optlen: bytes of @optval
 *
 * Context: any.
 * Return: 0; -EINVAL: @optlen is not @size.
 */
int kofi_opt_get(void *value, size_t size, const void *optval, size_t optlen);

/**
 * kofi_opt_get_size() - Take a size_t from the client
 * @value: where it goes; unchanged after an error
 * @max: largest that is allowed
 * @optval: as kofi_opt_get()
 * @optlen: as kofi_opt_get()
 *
 * Context: any.
 * Return: 0; -EINVAL: another length, or larger than @max.
 */
int kofi_opt_get_size(size_t *value, size_t max, const void *optval,
		      size_t optlen);

/**
 * kofi_opt_put_p2p() - Give the value of FI_OPT_FI_HMEM_P2P to the client
 * @device: the device accesses peer memory; false: the processor does
 * @optval: as kofi_opt_put()
 * @optlen: as kofi_opt_put()
 *
 * Context: any.
 * Return: as kofi_opt_put(); the value is FI_HMEM_P2P_REQUIRED with @device and
 * FI_HMEM_P2P_DISABLED without, whatever was set.
 */
int kofi_opt_put_p2p(bool device, void *optval, size_t *optlen);

/**
 * kofi_opt_check_p2p() - May FI_OPT_FI_HMEM_P2P be set to a value?
 * @device: as kofi_opt_put_p2p()
 * @optval: as kofi_opt_get()
 * @optlen: as kofi_opt_get()
 *
 * Context: any.
 * Return: 0; -EINVAL: another length, or no such value; -EOPNOTSUPP: a device's access is
 * required where the processor copies, or a copy where the device accesses the memory.
 */
int kofi_opt_check_p2p(bool device, const void *optval, size_t optlen);

#endif /* _KOFI_OPT_H */
