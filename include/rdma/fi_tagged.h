/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tagged messages.  Names: libfabric 2.1, fi_tagged.h.
 *
 * A receive takes the first message whose tag equals its own in all bits that
 * ignore does not set.  The calls follow the rules at the top of fi_endpoint.h.
 * An endpoint without FI_TAGGED answers each of them with -ENOSYS.
 */
#ifndef _RDMA_FI_TAGGED_H
#define _RDMA_FI_TAGGED_H

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

struct fi_msg_tagged {
	enum fi_buf_type	type;
	union {
		const struct kvec	*msg_iov;
		const struct bio_vec	*msg_bvec;
		struct scatterlist	*msg_sgl;
	};
	void			**desc;
	size_t			iov_count;
	fi_addr_t		addr;
	u64			tag;
	u64			ignore;
	void			*context;
	u64			data;
};

struct fi_ops_tagged {
	size_t	size;
	ssize_t	(*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, u64 tag, u64 ignore, void *context);
	ssize_t	(*recvv)(struct fid_ep *ep, const struct kvec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, u64 tag, u64 ignore,
			 void *context);
	ssize_t	(*recvmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			   u64 flags);
	ssize_t	(*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, u64 tag,
			void *context);
	ssize_t	(*sendv)(struct fid_ep *ep, const struct kvec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, u64 tag,
			 void *context);
	ssize_t	(*sendmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			   u64 flags);
	ssize_t	(*inject)(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr, u64 tag);
	ssize_t	(*senddata)(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, u64 data, fi_addr_t dest_addr, u64 tag,
			    void *context);
	ssize_t	(*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			      u64 data, fi_addr_t dest_addr, u64 tag);
};

static inline ssize_t fi_trecv(struct fid_ep *ep, void *buf, size_t len,
			       void *desc, fi_addr_t src_addr, u64 tag,
			       u64 ignore, void *context)
{
	return ep->tagged->recv(ep, buf, len, desc, src_addr, tag, ignore,
				context);
}

static inline ssize_t fi_trecvv(struct fid_ep *ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t src_addr,
				u64 tag, u64 ignore, void *context)
{
	return ep->tagged->recvv(ep, iov, desc, count, src_addr, tag, ignore,
				 context);
}

static inline ssize_t fi_trecvmsg(struct fid_ep *ep,
				  const struct fi_msg_tagged *msg, u64 flags)
{
	return ep->tagged->recvmsg(ep, msg, flags);
}

static inline ssize_t fi_tsend(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t dest_addr, u64 tag,
			       void *context)
{
	return ep->tagged->send(ep, buf, len, desc, dest_addr, tag, context);
}

static inline ssize_t fi_tsendv(struct fid_ep *ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t dest_addr,
				u64 tag, void *context)
{
	return ep->tagged->sendv(ep, iov, desc, count, dest_addr, tag, context);
}

static inline ssize_t fi_tsendmsg(struct fid_ep *ep,
				  const struct fi_msg_tagged *msg, u64 flags)
{
	return ep->tagged->sendmsg(ep, msg, flags);
}

static inline ssize_t fi_tinject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t dest_addr, u64 tag)
{
	return ep->tagged->inject(ep, buf, len, dest_addr, tag);
}

static inline ssize_t fi_tsenddata(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, u64 data,
				   fi_addr_t dest_addr, u64 tag, void *context)
{
	return ep->tagged->senddata(ep, buf, len, desc, data, dest_addr, tag,
				    context);
}

static inline ssize_t fi_tinjectdata(struct fid_ep *ep, const void *buf,
				     size_t len, u64 data, fi_addr_t dest_addr,
				     u64 tag)
{
	return ep->tagged->injectdata(ep, buf, len, data, dest_addr, tag);
}

#endif /* _RDMA_FI_TAGGED_H */
