// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A client module for the suite kofi_module: opens a fabric, a domain and an event
 * queue of the provider "mock" when it is loaded.  With tidy=1 it closes them when it
 * is unloaded, otherwise it forgets them.  With fail=1 loading fails then.
 */
#include <linux/module.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

static bool tidy, fail;
module_param(tidy, bool, 0444);
MODULE_PARM_DESC(tidy, "close everything");
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "let loading fail");

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;

static int __init leaky_open(struct fi_info *info)
{
	int err;

	err = fi_fabric(info->fabric_attr, &fabric, NULL);
	if (err)
		return err;
	err = fi_domain(fabric, info, &domain, NULL);
	if (err)
		goto err_fabric;
	err = fi_eq_open(fabric, NULL, &eq, NULL);
	if (err)
		goto err_domain;
	return fail ? -ENODEV : 0;

err_domain:
	fi_close(&domain->fid);
err_fabric:
	fi_close(&fabric->fid);
	return err;
}

static int __init leaky_init(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	int err = -ENOMEM;

	if (!hints)
		return err;
	hints->fabric_attr->prov_name = kstrdup("mock", GFP_KERNEL);
	if (hints->fabric_attr->prov_name)
		err = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
				 NULL, 0, 0, hints, &info);
	fi_freeinfo(hints);
	if (err)
		return err;
	err = leaky_open(info);
	fi_freeinfo(info);
	return err;
}

static void __exit leaky_exit(void)
{
	if (!tidy)
		return;
	fi_close(&eq->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
}

module_init(leaky_init);
module_exit(leaky_exit);
MODULE_DESCRIPTION("kOFI client that forgets to close, for tests");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
