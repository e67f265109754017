// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Values of options.  The functions here work on their arguments only.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

int kofi_opt_put(const void *value, size_t size, void *optval, size_t *optlen)
{
	bool fits = *optlen >= size;

	*optlen = size;
	if (!fits)
		return -FI_ETOOSMALL;
	memcpy(optval, value, size);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_opt_put);

int kofi_opt_put_size(size_t value, void *optval, size_t *optlen)
{
	return kofi_opt_put(&value, sizeof(value), optval, optlen);
}
EXPORT_SYMBOL_GPL(kofi_opt_put_size);

int kofi_opt_get(void *value, size_t size, const void *optval, size_t optlen)
{
	if (optlen != size)
		return kofi_refuse("setopt", -EINVAL, "optlen is %zu; the value has %zu bytes",
				   optlen, size);
	memcpy(value, optval, size);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_opt_get);

int kofi_opt_get_size(size_t *value, size_t max, const void *optval,
		      size_t optlen)
{
	size_t wanted;
	int ret;

	ret = kofi_opt_get(&wanted, sizeof(wanted), optval, optlen);
	if (ret)
		return ret;
	if (wanted > max)
		return kofi_refuse("setopt", -EINVAL, "*optval is %zu; the most is %zu", wanted,
				   max);
	*value = wanted;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_opt_get_size);

int kofi_opt_put_p2p(bool device, void *optval, size_t *optlen)
{
	int p2p = device ? FI_HMEM_P2P_REQUIRED : FI_HMEM_P2P_DISABLED;

	return kofi_opt_put(&p2p, sizeof(p2p), optval, optlen);
}
EXPORT_SYMBOL_GPL(kofi_opt_put_p2p);

int kofi_opt_check_p2p(bool device, const void *optval, size_t optlen)
{
	int p2p, ret;

	ret = kofi_opt_get(&p2p, sizeof(p2p), optval, optlen);
	if (ret)
		return ret;
	if (p2p < FI_HMEM_P2P_ENABLED || p2p > FI_HMEM_P2P_DISABLED)
		return kofi_refuse("setopt", -EINVAL, "*optval is %d, and no FI_HMEM_P2P_*", p2p);
	if (p2p == (device ? FI_HMEM_P2P_DISABLED : FI_HMEM_P2P_REQUIRED))
		return kofi_refuse("setopt", -EOPNOTSUPP, "*optval: the provider %s",
				   device ? "has a device read and write the memory" :
					    "has no device, so its processor copies");
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_opt_check_p2p);
