// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address vectors: open, and the calls on them.
 *
 * They are control calls: rare beside data transfers, so each checks what any provider
 * would have to check, pointers and flags, and leaves a trace.  Only the provider knows
 * what an address looks like, and which fi_addr_t are in a vector.
 *
 * No lock is needed here.  Clients may call on one vector at the same time; the provider's
 * vector (kofi/util has one) allows for that.  fi_av_lookup(), fi_av_straddr() and
 * fi_av_lookup_auth_key() may be called in any context.
 */
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/string.h>
#include "kofi.h"

#define KOFI_AV_FLAGS		(FI_AV_USER_ID | FI_SYMMETRIC | FI_EVENT)
#define KOFI_AV_INSERT_FLAGS	(FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID | \
				 FI_AUTH_KEY | FI_FIREWALL_ADDR)

int fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
	       struct fid_av **av, void *context)
{
	struct fid_av *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!kofi_is(domain, FI_CLASS_DOMAIN) || !attr || !av)
		return -EINVAL;
	if (attr->flags & ~KOFI_AV_FLAGS)
		return -FI_EBADFLAGS;

	obj = kofi_open_child(&domain->fid, FI_CLASS_AV, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->ops->av_open(domain, attr, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*av = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_av_open);

int fi_av_bind(struct fid_av *av, struct fid *fid, u64 flags)
{
	if (!kofi_is(av, FI_CLASS_AV))
		return -EINVAL;
	return kofi_bind(&av->fid, fid, flags);
}
EXPORT_SYMBOL_GPL(fi_av_bind);

static int kofi_av_check_insert(struct fid_av *av, const fi_addr_t *fi_addr,
				u64 flags, const void *context)
{
	if (!kofi_is(av, FI_CLASS_AV))
		return -EINVAL;
	if (flags & ~KOFI_AV_INSERT_FLAGS)
		return -FI_EBADFLAGS;
	if (flags & FI_SYNC_ERR && !context)
		return -EINVAL;
	if (flags & (FI_AV_USER_ID | FI_AUTH_KEY) && !fi_addr)
		return -EINVAL;
	return 0;
}

int fi_av_insert(struct fid_av *av, const void *addr, size_t count,
		 fi_addr_t *fi_addr, u64 flags, void *context)
{
	int ret;

	ret = kofi_av_check_insert(av, fi_addr, flags, context);
	if (ret)
		return ret;
	if ((count && !addr) || count > INT_MAX)
		return -EINVAL;
	return kofi_call("av_insert", &av->fid,
			 av->ops->insert(av, addr, count, fi_addr, flags,
					 context));
}
EXPORT_SYMBOL_GPL(fi_av_insert);

int fi_av_insertsvc(struct fid_av *av, const char *node, int service,
		    fi_addr_t *fi_addr, u64 flags, void *context)
{
	int ret;

	ret = kofi_av_check_insert(av, fi_addr, flags, context);
	if (ret)
		return ret;
	if (!node || service < 0 || service > U16_MAX)
		return -EINVAL;
	return kofi_call("av_insertsvc", &av->fid,
			 av->ops->insertsvc(av, node, service, fi_addr, flags,
					    context));
}
EXPORT_SYMBOL_GPL(fi_av_insertsvc);

int fi_av_insertsym(struct fid_av *av, const char *node, size_t nodecnt,
		    int service, size_t svccnt, fi_addr_t *fi_addr, u64 flags,
		    void *context)
{
	int ret;

	ret = kofi_av_check_insert(av, fi_addr, flags, context);
	if (ret)
		return ret;
	if (!node || service < 0 || !nodecnt || !svccnt ||
	    svccnt > U16_MAX + 1 - service || nodecnt > INT_MAX / svccnt)
		return -EINVAL;
	return kofi_call("av_insertsym", &av->fid,
			 av->ops->insertsym(av, node, nodecnt, service, svccnt,
					    fi_addr, flags, context));
}
EXPORT_SYMBOL_GPL(fi_av_insertsym);

int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count, u64 flags)
{
	if (!kofi_is(av, FI_CLASS_AV) || (count && !fi_addr))
		return -EINVAL;
	if (flags & ~FI_AUTH_KEY)
		return -FI_EBADFLAGS;
	return kofi_call("av_remove", &av->fid,
			 av->ops->remove(av, fi_addr, count, flags));
}
EXPORT_SYMBOL_GPL(fi_av_remove);

int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
		 size_t *addrlen)
{
	if (!kofi_is(av, FI_CLASS_AV) || !addrlen || (!addr && *addrlen))
		return -EINVAL;
	return kofi_call("av_lookup", &av->fid,
			 av->ops->lookup(av, fi_addr, addr, addrlen));
}
EXPORT_SYMBOL_GPL(fi_av_lookup);

const char *fi_av_straddr(struct fid_av *av, const void *addr, char *buf,
			  size_t *len)
{
	const char *text;

	if (kofi_is(av, FI_CLASS_AV) && addr && buf && len && *len)
		return av->ops->straddr(av, addr, buf, len);

	text = fi_strerror(EINVAL);
	if (buf && len && *len)
		strscpy(buf, text, *len);
	return text;
}
EXPORT_SYMBOL_GPL(fi_av_straddr);

int fi_av_insert_auth_key(struct fid_av *av, const void *auth_key,
			  size_t auth_key_size, fi_addr_t *fi_addr, u64 flags)
{
	if (!kofi_is(av, FI_CLASS_AV) || !auth_key || !auth_key_size ||
	    !fi_addr)
		return -EINVAL;
	if (flags)
		return -FI_EBADFLAGS;
	return kofi_call("av_insert_key", &av->fid,
			 av->ops->insert_auth_key(av, auth_key, auth_key_size,
						  fi_addr, flags));
}
EXPORT_SYMBOL_GPL(fi_av_insert_auth_key);

int fi_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr, void *auth_key,
			  size_t *auth_key_size)
{
	if (!kofi_is(av, FI_CLASS_AV) || !auth_key_size ||
	    (!auth_key && *auth_key_size))
		return -EINVAL;
	return kofi_call("av_lookup_key", &av->fid,
			 av->ops->lookup_auth_key(av, fi_addr, auth_key,
						  auth_key_size));
}
EXPORT_SYMBOL_GPL(fi_av_lookup_auth_key);

int fi_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr, fi_addr_t user_id,
		      u64 flags)
{
	if (!kofi_is(av, FI_CLASS_AV))
		return -EINVAL;
	if (flags & ~FI_AUTH_KEY)
		return -FI_EBADFLAGS;
	return kofi_call("av_set_user_id", &av->fid,
			 av->ops->set_user_id(av, fi_addr, user_id, flags));
}
EXPORT_SYMBOL_GPL(fi_av_set_user_id);
