// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options of endpoints: fi_getopt() and fi_setopt().
 *
 * Locking: an option is set under the handler lock, and only in states in which nobody
 * else looks at it yet; see ep.c.
 */
#include <linux/module.h>
#include "cm.h"
#include "ep.h"
#include "op.h"
#include "queue.h"

/* FI_OPT_CM_DATA_RAW is an int */
int verbs_set_raw(bool *raw, const void *optval, size_t optlen)
{
	if (optlen != sizeof(int))
		return -EINVAL;
	*raw = *(const int *)optval;
	return 0;
}

int verbs_get_raw(bool raw, void *optval, size_t *optlen)
{
	bool fits = *optlen >= sizeof(int);

	*optlen = sizeof(int);
	if (!fits)
		return -FI_ETOOSMALL;
	*(int *)optval = raw;
	return 0;
}

/* An option that is a size_t */
int verbs_opt_copy_out(size_t value, void *optval, size_t *optlen)
{
	bool fits = *optlen >= sizeof(value);

	*optlen = sizeof(value);
	if (!fits)
		return -FI_ETOOSMALL;
	memcpy(optval, &value, sizeof(value));
	return 0;
}

static int verbs_ep_get(struct verbs_ep *ep, int level, int optname,
			void *optval, size_t *optlen)
{
	size_t value;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	switch (optname) {
	case FI_OPT_CM_DATA_RAW:
		return verbs_get_raw(ep->frame.raw, optval, optlen);
	case FI_OPT_CM_DATA_SIZE:
		value = ep->frame.raw ? VERBS_CM_REQ : VERBS_CM_DATA;
		break;
	case FI_OPT_MAX_MSG_SIZE:
		value = ep->max_msg_size;
		break;
	case FI_OPT_INJECT_MSG_SIZE:
		value = ep->inject_size;
		break;
	case FI_OPT_MAX_MOVES:
		value = verbs_moves_max(ep);
		break;
	case FI_OPT_MAX_RMA_IOV:
		value = verbs_split_limit(ep);
		break;
	case FI_OPT_CONNECT_TIMEOUT:
		value = ep->connect_ms;
		break;
	default:
		return -ENOPROTOOPT;
	}
	return verbs_opt_copy_out(value, optval, optlen);
}

static int verbs_ep_getopt(struct fid *fid, int level, int optname,
			   void *optval, size_t *optlen)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	ret = verbs_ep_get(ep, level, optname, optval, optlen);
	verbs_ep_leave(ep);
	return ret;
}

/* An accepting endpoint does as its listener did */
static int verbs_ep_set_raw(struct verbs_ep *ep, const void *optval,
			    size_t optlen)
{
	if (ep->state > VERBS_EP_ENABLED || ep->passive)
		return -FI_EOPBADSTATE;
	return verbs_set_raw(&ep->frame.raw, optval, optlen);
}

static int verbs_ep_set_moves(struct verbs_ep *ep, const void *optval,
			      size_t optlen)
{
	/* As with what is bound, fi_enable() will say if the peer has gone meanwhile */
	if (ep->qp)
		return -FI_EOPBADSTATE;
	if (optlen != sizeof(size_t))
		return -EINVAL;
	return verbs_moves_set(ep, *(const size_t *)optval);
}

/* Not so if the peer of a request has gone: fi_enable() or fi_accept() will say it */
static bool verbs_ep_has_started(const struct verbs_ep *ep)
{
	if (ep->passive && !ep->accepted && ep->state == VERBS_EP_DOWN)
		return false;
	return ep->state > VERBS_EP_ENABLED;
}

static int verbs_ep_set_timeout(struct verbs_ep *ep, const void *optval,
				size_t optlen)
{
	size_t ms;

	if (verbs_ep_has_started(ep))
		return -FI_EOPBADSTATE;
	if (optlen != sizeof(ms))
		return -EINVAL;
	ms = *(const size_t *)optval;
	if (ms > INT_MAX)
		return -EINVAL;
	ep->connect_ms = ms;
	return 0;
}

static int verbs_ep_setopt(struct fid *fid, int level, int optname,
			   const void *optval, size_t optlen)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	ret = verbs_ep_lock(ep);
	if (ret)
		return ret;
	switch (optname) {
	case FI_OPT_CM_DATA_RAW:
		ret = verbs_ep_set_raw(ep, optval, optlen);
		break;
	case FI_OPT_MAX_MOVES:
		ret = verbs_ep_set_moves(ep, optval, optlen);
		break;
	case FI_OPT_CONNECT_TIMEOUT:
		ret = verbs_ep_set_timeout(ep, optval, optlen);
		break;
	default:
		ret = -ENOPROTOOPT;
	}
	verbs_ep_unlock(ep);
	return ret;
}

const struct fi_ops_ep verbs_ep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= verbs_ep_getopt,
	.setopt		= verbs_ep_setopt,
};
