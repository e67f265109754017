// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Texts of the error codes that kOFI returns: those of fi_errno.h, and a few more
 * errnos that providers pass on from lower layers.  There are two constant tables, one for
 * each range of codes, so no lock is needed.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <rdma/fi_errno.h>

static const char * const errno_text[] = {
	[0]			= "Success",
	[EPERM]			= "Operation not permitted",
	[ENOENT]		= "No such entry",
	[EINTR]			= "Interrupted by a signal",
	[EIO]			= "Input/output error",
	[ENXIO]			= "No such device or address",
	[E2BIG]			= "List is too long",
	[EBADF]			= "Bad descriptor",
	[EAGAIN]		= "Nothing there or no room now, try again",
	[ENOMEM]		= "Out of memory",
	[EACCES]		= "Permission denied",
	[EFAULT]		= "Bad address",
	[EBUSY]			= "Object is in use",
	[EEXIST]		= "Exists already",
	[ENODEV]		= "No such device",
	[EINVAL]		= "Invalid argument",
	[ENFILE]		= "No more of these system-wide",
	[EMFILE]		= "Too many open descriptors",
	[ENOSPC]		= "No space left",
	[EPIPE]			= "Connection was closed for sending",
	[ERANGE]		= "Out of range",
	[EDEADLK]		= "Would wait for itself",
	[ENOSYS]		= "Not implemented",
	[ENOMSG]		= "No such message",
	[ENODATA]		= "No matching data",
	[EPROTO]		= "Protocol error",
	[EOVERFLOW]		= "Value does not fit",
	[EMSGSIZE]		= "Message is too long",
	[ENOPROTOOPT]		= "Option is not available",
	[EPROTONOSUPPORT]	= "Protocol is not supported",
	[EOPNOTSUPP]		= "Operation is not supported",
	[EAFNOSUPPORT]		= "Address family is not supported",
	[EADDRINUSE]		= "Address is in use",
	[EADDRNOTAVAIL]		= "Address is not available",
	[ENETDOWN]		= "Network is down",
	[ENETUNREACH]		= "Network is unreachable",
	[ECONNABORTED]		= "Connection aborted",
	[ECONNRESET]		= "Connection reset by peer",
	[ENOBUFS]		= "No buffer space",
	[EISCONN]		= "Connected already",
	[ENOTCONN]		= "Not connected",
	[ESHUTDOWN]		= "Shut down",
	[ETIMEDOUT]		= "Timed out",
	[ECONNREFUSED]		= "Connection refused",
	[EHOSTDOWN]		= "Host is down",
	[EHOSTUNREACH]		= "Host is unreachable",
	[EALREADY]		= "Under way already",
	[EINPROGRESS]		= "In progress",
	[EREMOTEIO]		= "Remote input/output error",
	[ECANCELED]		= "Canceled",
	[EKEYREJECTED]		= "Key was rejected",
};

static const char * const fi_text[] = {
	[FI_EOTHER - FI_ERRNO_OFFSET]	   = "Unspecified error",
	[FI_ETOOSMALL - FI_ERRNO_OFFSET]   = "Buffer is too small",
	[FI_EOPBADSTATE - FI_ERRNO_OFFSET] = "Not allowed in the current state",
	[FI_EAVAIL - FI_ERRNO_OFFSET]	   = "An error entry is waiting",
	[FI_EBADFLAGS - FI_ERRNO_OFFSET]   = "Unknown or unsuitable flags",
	[FI_ENOEQ - FI_ERRNO_OFFSET]	   = "No event queue is bound",
	[FI_EDOMAIN - FI_ERRNO_OFFSET]	   = "Objects of different domains",
	[FI_ENOCQ - FI_ERRNO_OFFSET]	   = "No completion queue is bound",
	[FI_ECRC - FI_ERRNO_OFFSET]	   = "Checksum mismatch",
	[FI_ETRUNC - FI_ERRNO_OFFSET]	   = "Message was truncated",
	[FI_ENOKEY - FI_ERRNO_OFFSET]	   = "A required key is missing",
	[FI_ENOAV - FI_ERRNO_OFFSET]	   = "No address vector is bound",
	[FI_EOVERRUN - FI_ERRNO_OFFSET]	   = "A queue ran over",
	[FI_ENORX - FI_ERRNO_OFFSET]	   = "Peer had no receive posted",
	[FI_ENOMR - FI_ERRNO_OFFSET]	   = "No more memory registrations",
	[FI_EFIREWALLADDR - FI_ERRNO_OFFSET] = "Peer takes no connections",
};

const char *fi_strerror(int errnum)
{
	unsigned int code = errnum < 0 ? -(unsigned int)errnum : errnum;
	const char *text = NULL;

	BUILD_BUG_ON(ARRAY_SIZE(fi_text) != FI_ERRNO_MAX - FI_ERRNO_OFFSET);

	if (code < ARRAY_SIZE(errno_text))
		text = errno_text[code];
	else if (code >= FI_ERRNO_OFFSET && code < FI_ERRNO_MAX)
		text = fi_text[code - FI_ERRNO_OFFSET];

	return text ?: "Unknown error";
}
EXPORT_SYMBOL_GPL(fi_strerror);
