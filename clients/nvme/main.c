// SPDX-License-Identifier: GPL-2.0
/*
 * The transport "kofi" of nvme-fabrics:
 *
 *	modprobe kofi_nvme
 *	nvme connect -t kofi -a 10.77.0.1 -s 4420 -n NQN
 *
 * The list of controllers serves two purposes: knvme_check_opts() refuses a second
 * controller of the same addresses, unless the user wants it, and knvme_exit() deletes all
 * controllers.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <net/net_namespace.h>
#include "knvme.h"

static LIST_HEAD(knvme_ctrls);
static DEFINE_MUTEX(knvme_ctrls_lock);

void knvme_ctrl_forget(struct knvme_ctrl *ctrl)
{
	guard(mutex)(&knvme_ctrls_lock);
	list_del(&ctrl->node);
}

static bool knvme_exists(struct nvmf_ctrl_options *opts)
{
	struct knvme_ctrl *ctrl;

	guard(mutex)(&knvme_ctrls_lock);
	list_for_each_entry(ctrl, &knvme_ctrls, node)
		if (nvmf_ip_options_match(&ctrl->ctrl, opts))
			return true;
	return false;
}

static int knvme_check_addr(const char *addr, const char *port)
{
	struct sockaddr_storage parsed;
	int ret;

	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, addr, port, &parsed);
	if (ret)
		pr_err("%s%s%s is no address: give a numeric one, with a port up to 65535\n",
		       addr, port ? ":" : "", port ?: "");
	return ret;
}

static int knvme_check_opts(struct nvmf_ctrl_options *opts)
{
	int ret = 0;

	if (!(opts->mask & NVMF_OPT_TRSVCID)) {
		opts->trsvcid = kstrdup(__stringify(NVME_RDMA_IP_PORT),
					GFP_KERNEL);
		if (!opts->trsvcid)
			return -ENOMEM;
		opts->mask |= NVMF_OPT_TRSVCID;
	}
	ret = knvme_check_addr(opts->traddr, opts->trsvcid);
	if (!ret && opts->mask & NVMF_OPT_HOST_TRADDR)
		ret = knvme_check_addr(opts->host_traddr, NULL);
	if (!ret && !opts->duplicate_connect && knvme_exists(opts))
		ret = -EALREADY;
	return ret;
}

static struct knvme_ctrl *knvme_alloc(struct device *dev,
				      struct nvmf_ctrl_options *opts)
{
	int queues = opts->nr_io_queues + opts->nr_write_queues +
		     opts->nr_poll_queues + 1;
	struct knvme_ctrl *ctrl;
	int i, ret;

	ctrl = kzalloc(struct_size(ctrl, queues, queues), GFP_KERNEL);
	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	knvme_ctrl_init(ctrl);
	ctrl->ctrl.opts = opts;
	ctrl->ctrl.queue_count = queues;
	ctrl->ctrl.sqsize = opts->queue_size - 1;
	ctrl->ctrl.kato = opts->kato;
	for (i = 0; i < queues; i++)
		ctrl->queues[i].ctrl = ctrl;
	ret = nvme_init_ctrl(&ctrl->ctrl, dev, &knvme_ctrl_ops, 0);
	if (!ret)
		return ctrl;
	kfree(ctrl);
	return ERR_PTR(ret);
}

static struct nvme_ctrl *knvme_create(struct device *dev,
				      struct nvmf_ctrl_options *opts)
{
	struct knvme_ctrl *ctrl;
	int ret;

	ret = knvme_check_opts(opts);
	if (ret)
		return ERR_PTR(ret);
	ctrl = knvme_alloc(dev, opts);
	if (IS_ERR(ctrl))
		return ERR_CAST(ctrl);
	ret = nvme_add_ctrl(&ctrl->ctrl);
	if (ret)
		goto put;
	nvme_change_ctrl_state(&ctrl->ctrl, NVME_CTRL_CONNECTING);
	ret = knvme_ctrl_setup(ctrl, true);
	if (ret)
		goto uninit;
	dev_info(ctrl->ctrl.device, "new ctrl: NQN \"%s\", addr %s:%s\n",
		 nvmf_ctrl_subsysnqn(&ctrl->ctrl), opts->traddr, opts->trsvcid);
	scoped_guard(mutex, &knvme_ctrls_lock)
		list_add_tail(&ctrl->node, &knvme_ctrls);
	return &ctrl->ctrl;
uninit:
	nvme_uninit_ctrl(&ctrl->ctrl);
put:
	nvme_put_ctrl(&ctrl->ctrl);
	return ERR_PTR(ret > 0 ? -EIO : ret);
}

static struct nvmf_transport_ops knvme_transport = {
	.name		= "kofi",
	.module		= THIS_MODULE,
	.required_opts	= NVMF_OPT_TRADDR,
	.allowed_opts	= NVMF_OPT_TRSVCID | NVMF_OPT_RECONNECT_DELAY |
			  NVMF_OPT_HOST_TRADDR | NVMF_OPT_CTRL_LOSS_TMO |
			  NVMF_OPT_NR_WRITE_QUEUES | NVMF_OPT_NR_POLL_QUEUES |
			  NVMF_OPT_TOS,
	.create_ctrl	= knvme_create,
};

static int __init knvme_init(void)
{
	return nvmf_register_transport(&knvme_transport);
}

static void __exit knvme_exit(void)
{
	struct knvme_ctrl *ctrl;

	nvmf_unregister_transport(&knvme_transport);
	scoped_guard(mutex, &knvme_ctrls_lock)
		list_for_each_entry(ctrl, &knvme_ctrls, node)
			nvme_delete_ctrl(&ctrl->ctrl);
	flush_workqueue(nvme_delete_wq);
}

module_init(knvme_init);
module_exit(knvme_exit);

MODULE_DESCRIPTION("NVMe over Fabrics host on kOFI");
MODULE_LICENSE("GPL");
