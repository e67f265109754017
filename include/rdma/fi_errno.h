/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Error codes of the fi_* calls.
 *
 * Every call returns zero or a count on success and a plain negative errno on
 * failure, so that "return -EAGAIN" means the same here as everywhere else in
 * the kernel.  The codes which only libfabric has keep their libfabric values
 * (256 and up, libfabric 2.6 fi_errno.h); none of them collides with an errno
 * of the kernel that may leave kOFI (ERESTARTSYS and its kin, 512 and up, never
 * do: an interrupted wait returns -EINTR).
 */
#ifndef _RDMA_FI_ERRNO_H
#define _RDMA_FI_ERRNO_H

#include <linux/errno.h>

#define FI_SUCCESS		0

#define FI_EPERM		EPERM
#define FI_ENOENT		ENOENT
#define FI_EINTR		EINTR
#define FI_EIO			EIO
#define FI_E2BIG		E2BIG
#define FI_EBADF		EBADF
#define FI_EAGAIN		EAGAIN
#define FI_ENOMEM		ENOMEM
#define FI_EACCES		EACCES
#define FI_EFAULT		EFAULT
#define FI_EBUSY		EBUSY
#define FI_ENODEV		ENODEV
#define FI_EINVAL		EINVAL
#define FI_EMFILE		EMFILE
#define FI_ENOSPC		ENOSPC
#define FI_ENOSYS		ENOSYS
#define FI_EWOULDBLOCK		EWOULDBLOCK
#define FI_ENOMSG		ENOMSG
#define FI_ENODATA		ENODATA
#define FI_EPROTO		EPROTO
#define FI_EOVERFLOW		EOVERFLOW
#define FI_EMSGSIZE		EMSGSIZE
#define FI_ENOPROTOOPT		ENOPROTOOPT
#define FI_EOPNOTSUPP		EOPNOTSUPP
#define FI_EADDRINUSE		EADDRINUSE
#define FI_EADDRNOTAVAIL	EADDRNOTAVAIL
#define FI_ENETDOWN		ENETDOWN
#define FI_ENETUNREACH		ENETUNREACH
#define FI_ECONNABORTED		ECONNABORTED
#define FI_ECONNRESET		ECONNRESET
#define FI_ENOBUFS		ENOBUFS
#define FI_EISCONN		EISCONN
#define FI_ENOTCONN		ENOTCONN
#define FI_ESHUTDOWN		ESHUTDOWN
#define FI_ETIMEDOUT		ETIMEDOUT
#define FI_ECONNREFUSED		ECONNREFUSED
#define FI_EHOSTDOWN		EHOSTDOWN
#define FI_EHOSTUNREACH		EHOSTUNREACH
#define FI_EALREADY		EALREADY
#define FI_EINPROGRESS		EINPROGRESS
#define FI_EREMOTEIO		EREMOTEIO
#define FI_ECANCELED		ECANCELED
#define FI_EKEYREJECTED		EKEYREJECTED

/* Codes that only libfabric has start here */
#define FI_ERRNO_OFFSET		256

enum {
	FI_EOTHER	= FI_ERRNO_OFFSET, /* unspecified error */
	FI_ETOOSMALL	= 257,	/* the caller's buffer is too small */
	FI_EOPBADSTATE	= 258,	/* not allowed in the object's current state */
	FI_EAVAIL	= 259,	/* an error entry waits at the queue's head */
	FI_EBADFLAGS	= 260,	/* a flag is unknown or does not apply */
	FI_ENOEQ	= 261,	/* the object needs an event queue */
	FI_EDOMAIN	= 262,	/* the objects belong to different domains */
	FI_ENOCQ	= 263,	/* the object needs a completion queue */
	FI_ECRC		= 264,	/* checksum mismatch */
	FI_ETRUNC	= 265,	/* the message is longer than the buffer */
	FI_ENOKEY	= 266,	/* a required key is missing */
	FI_ENOAV	= 267,	/* the object needs an address vector */
	FI_EOVERRUN	= 268,	/* a queue ran over */
	FI_ENORX	= 269,	/* the peer had no receive posted */
	FI_ENOMR	= 270,	/* no more memory registrations */
	FI_EFIREWALLADDR = 271,	/* the peer takes no connections, see FI_FIREWALL_ADDR */
	FI_ERRNO_MAX
};

/**
 * fi_strerror() - Text of an error code
 * @errnum: an errno or FI_E* code; the sign does not matter
 *
 * Context: any.
 * Return: a constant string, never NULL.
 */
const char *fi_strerror(int errnum);

#endif /* _RDMA_FI_ERRNO_H */
