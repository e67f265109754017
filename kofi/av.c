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
	int ret;

	might_sleep();
	ret = kofi_check_is("av_open", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("av_open", attr) ? :
	      kofi_check_ptr("av_open", av) ? :
	      kofi_check_flags("av_open", attr->flags, KOFI_AV_FLAGS);
	if (ret)
		return ret;

	return kofi_open("av_open", &domain->fid, FI_CLASS_AV, av,
			 domain->ops->av_open(domain, attr, &new, context));
}
EXPORT_SYMBOL_GPL(fi_av_open);

int fi_av_bind(struct fid_av *av, struct fid *fid, u64 flags)
{
	might_sleep();
	return kofi_check_is("av_bind", av, BIT(FI_CLASS_AV)) ? :
	       kofi_bind("av_bind", &av->fid, fid, flags);
}
EXPORT_SYMBOL_GPL(fi_av_bind);

static int kofi_av_check_insert(const char *call, struct fid_av *av,
				const fi_addr_t *fi_addr, u64 flags, const void *context)
{
	int ret = kofi_check_is(call, av, BIT(FI_CLASS_AV)) ? :
		  kofi_check_flags(call, flags, KOFI_AV_INSERT_FLAGS);

	if (ret)
		return ret;
	if (flags & FI_SYNC_ERR && !context)
		return kofi_refuse(call, -EINVAL, "context is NULL; FI_SYNC_ERR needs an array of int");
	if (flags & (FI_AV_USER_ID | FI_AUTH_KEY) && !fi_addr)
		return kofi_refuse(call, -EINVAL, "fi_addr is NULL; FI_AV_USER_ID and FI_AUTH_KEY read it");
	return 0;
}

int fi_av_insert(struct fid_av *av, const void *addr, size_t count,
		 fi_addr_t *fi_addr, u64 flags, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_av_check_insert("av_insert", av, fi_addr, flags, context) ? :
	      kofi_check_list("av_insert", addr, count);
	if (!ret && count > INT_MAX)
		ret = kofi_refuse("av_insert", -EINVAL, "count is %zu; the most is %d", count,
				  INT_MAX);
	if (ret)
		return ret;
	return kofi_call("av_insert", &av->fid,
			 av->ops->insert(av, addr, count, fi_addr, flags,
					 context));
}
EXPORT_SYMBOL_GPL(fi_av_insert);

int fi_av_insertsvc(struct fid_av *av, const char *node, int service,
		    fi_addr_t *fi_addr, u64 flags, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_av_check_insert("av_insertsvc", av, fi_addr, flags, context) ? :
	      kofi_check_ptr("av_insertsvc", node);
	if (!ret && (service < 0 || service > U16_MAX))
		ret = kofi_refuse("av_insertsvc", -EINVAL, "service is %d; a port is 0 to %d",
				  service, U16_MAX);
	if (ret)
		return ret;
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

	might_sleep();
	ret = kofi_av_check_insert("av_insertsym", av, fi_addr, flags, context) ? :
	      kofi_check_ptr("av_insertsym", node);
	if (!ret && (service < 0 || !nodecnt || !svccnt || svccnt > U16_MAX + 1 - service ||
		     nodecnt > INT_MAX / svccnt))
		ret = kofi_refuse("av_insertsym", -EINVAL, "service %d, svccnt %zu, nodecnt %zu: a row needs ports up to %d, and there must be one",
				  service, svccnt, nodecnt, U16_MAX);
	if (ret)
		return ret;
	return kofi_call("av_insertsym", &av->fid,
			 av->ops->insertsym(av, node, nodecnt, service, svccnt,
					    fi_addr, flags, context));
}
EXPORT_SYMBOL_GPL(fi_av_insertsym);

int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count, u64 flags)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("av_remove", av, BIT(FI_CLASS_AV)) ? :
	      kofi_check_list("av_remove", fi_addr, count) ? :
	      kofi_check_flags("av_remove", flags, FI_AUTH_KEY);
	if (ret)
		return ret;
	return kofi_call("av_remove", &av->fid,
			 av->ops->remove(av, fi_addr, count, flags));
}
EXPORT_SYMBOL_GPL(fi_av_remove);

int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
		 size_t *addrlen)
{
	int ret = kofi_check_is("av_lookup", av, BIT(FI_CLASS_AV)) ? :
		  kofi_check_ptr("av_lookup", addrlen) ? :
		  kofi_check_list("av_lookup", addr, *addrlen);

	if (ret)
		return ret;
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
	int ret;

	might_sleep();
	ret = kofi_check_is("av_insert_auth_key", av, BIT(FI_CLASS_AV)) ? :
	      kofi_check_ptr("av_insert_auth_key", auth_key) ? :
	      kofi_check_ptr("av_insert_auth_key", fi_addr) ? :
	      kofi_check_flags("av_insert_auth_key", flags, 0);
	if (!ret && !auth_key_size)
		ret = kofi_refuse("av_insert_auth_key", -EINVAL, "auth_key_size is 0");
	if (ret)
		return ret;
	return kofi_call("av_insert_key", &av->fid,
			 av->ops->insert_auth_key(av, auth_key, auth_key_size,
						  fi_addr, flags));
}
EXPORT_SYMBOL_GPL(fi_av_insert_auth_key);

int fi_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr, void *auth_key,
			  size_t *auth_key_size)
{
	int ret = kofi_check_is("av_lookup_auth_key", av, BIT(FI_CLASS_AV)) ? :
		  kofi_check_ptr("av_lookup_auth_key", auth_key_size) ? :
		  kofi_check_list("av_lookup_auth_key", auth_key, *auth_key_size);

	if (ret)
		return ret;
	return kofi_call("av_lookup_key", &av->fid,
			 av->ops->lookup_auth_key(av, fi_addr, auth_key,
						  auth_key_size));
}
EXPORT_SYMBOL_GPL(fi_av_lookup_auth_key);

int fi_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr, fi_addr_t user_id,
		      u64 flags)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("av_set_user_id", av, BIT(FI_CLASS_AV)) ? :
	      kofi_check_flags("av_set_user_id", flags, FI_AUTH_KEY);
	if (ret)
		return ret;
	return kofi_call("av_set_user_id", &av->fid,
			 av->ops->set_user_id(av, fi_addr, user_id, flags));
}
EXPORT_SYMBOL_GPL(fi_av_set_user_id);
