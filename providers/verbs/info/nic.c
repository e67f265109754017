// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The device behind an fi_info, as struct fid_nic */
#include <linux/pci.h>
#include <linux/units.h>
#include "../verbs.h"

#define VERBS_HEX_LEN	sizeof("0x00000000")

/* Megabits per second of one lane, by bit of ib_port_attr.active_speed */
static const u32 verbs_lane_speed[] = {
	2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000, 200000,
};

static size_t verbs_link_speed(const struct ib_port_attr *attr)
{
	unsigned int bit = attr->active_speed ? __ffs(attr->active_speed) : 0;
	int lanes = ib_width_enum_to_int(attr->active_width);

	if (bit >= ARRAY_SIZE(verbs_lane_speed) || lanes < 0)
		return 0;
	return (size_t)lanes * verbs_lane_speed[bit] * MEGA;
}

static void verbs_nic_bus(struct fi_bus_attr *bus, const struct device *dma)
{
	const struct pci_dev *pdev;

	if (!dma || !dev_is_pci(dma))
		return;
	pdev = to_pci_dev(dma);
	bus->bus_type = FI_BUS_PCI;
	bus->attr.pci = (struct fi_pci_attr) {
		.domain_id	= pci_domain_nr(pdev->bus),
		.bus_id		= pdev->bus->number,
		.device_id	= PCI_SLOT(pdev->devfn),
		.function_id	= PCI_FUNC(pdev->devfn),
	};
}

/* Returns a copy of @info with a nic, built on the stack; NULL when memory is short */
struct fi_info *verbs_info_with_nic(struct fi_info *info,
				    struct ib_device *ibdev, u32 port,
				    const struct ib_port_attr *attr)
{
	char firmware[IB_FW_VERSION_NAME_MAX] = "";
	char part[VERBS_HEX_LEN], version[VERBS_HEX_LEN];
	char vendor[VERBS_HEX_LEN];
	bool ib = rdma_port_get_link_layer(ibdev, port) ==
		  IB_LINK_LAYER_INFINIBAND;
	struct fi_device_attr device = {
		.name		= (char *)dev_name(&ibdev->dev),
		.device_id	= part,
		.device_version	= version,
		.vendor_id	= vendor,
		.firmware	= firmware,
	};
	struct fi_bus_attr bus = {};
	struct fi_link_attr link = {
		.mtu		= ib_mtu_enum_to_int(attr->active_mtu),
		.speed		= verbs_link_speed(attr),
		.state		= attr->state == IB_PORT_ACTIVE ?
				  FI_LINK_UP : FI_LINK_DOWN,
		.network_type	= ib ? "InfiniBand" : "Ethernet",
	};
	struct fid_nic nic = {
		.device_attr	= &device,
		.bus_attr	= &bus,
		.link_attr	= &link,
	};

	snprintf(part, sizeof(part), "0x%04x", ibdev->attrs.vendor_part_id);
	snprintf(version, sizeof(version), "%u", ibdev->attrs.hw_ver);
	snprintf(vendor, sizeof(vendor), "0x%04x", ibdev->attrs.vendor_id);
	ib_get_device_fw_str(ibdev, firmware);
	verbs_nic_bus(&bus, ibdev->dma_device);
	info->nic = &nic;
	return fi_dupinfo(info);
}
