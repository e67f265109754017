// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Status codes of the device and of rdma_cm as error codes and text.
 *
 * prov_errno of a completion is the ib_wc_status.  prov_errno of an event is minus the status that
 * rdma_cm reported, as in libfabric: a positive errno, or minus the IB reason of a rejection.
 */
#include <kofi/refuse.h>
#include <rdma/ib_cm.h>
#include "../verbs.h"

int verbs_wc_errno(enum ib_wc_status status, bool receive)
{
	/* Devices differ in how they report a message that is longer than its receive */
	if (receive && (status == IB_WC_LOC_LEN_ERR ||
			status == IB_WC_LOC_QP_OP_ERR || /* rxe */
			status == IB_WC_REM_INV_REQ_ERR))
		return -FI_ETRUNC;

	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return -ECANCELED;
	case IB_WC_LOC_LEN_ERR:
		return -EMSGSIZE;
	case IB_WC_LOC_PROT_ERR:
		return -EFAULT;
	case IB_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_OP_ERR:
	case IB_WC_REM_ABORT_ERR:
		return -EREMOTEIO;
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return -FI_ENORX;
	default:
		return -EIO;
	}
}

/**
 * verbs_peer_errno() - The client's errno for a list that the DMA API has mapped or refused
 * @dev: the device
 * @ret: 0 or more, or negative errno
 *
 * Context: any.
 * Return: @ret; -EOPNOTSUPP: the device does not reach the PCI device whose pages are in the list.
 */
int verbs_peer_errno(const struct verbs_device *dev, int ret)
{
	if (likely(ret != -EREMOTEIO))
		return ret;
	dev_notice_ratelimited(&dev->ibdev->dev,
			       "memory of a PCI device is refused: the bus does not lead there\n");
	return kofi_refuse("mr_reg", -EOPNOTSUPP, "memory of a PCI device: the bus does not lead from there to the device %s",
			   dev->ibdev->name);
}

const char *verbs_cq_strerror(int prov_errno)
{
	return ib_wc_status_msg(prov_errno);
}

const char *verbs_eq_strerror(int prov_errno)
{
	if (prov_errno < 0)
		return ibcm_reject_msg(-prov_errno);
	return fi_strerror(prov_errno);
}
