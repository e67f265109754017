// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cm_data: for 1, 2, 4, ... bytes, up to what the provider carries, the client asks for two
 * connections.  The server refuses the first one and accepts the second one, with as many bytes.
 * Requests, refusals and replies carry the letters of verify=1.  Both ends hang up at once.  A
 * status over TCP ends each round.  Finally the client tries one byte too many, which its own
 * provider has to refuse.
 *
 * Locking: none; everything here belongs to the end's thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/slab.h>

#include "fabtests.h"

/* More than any provider carries */
#define FT_CM_MAX	1024

/* Connection data of this end and of the peer; too long for the stack */
struct ft_cm {
	u8				mine[FT_CM_MAX + 1];
	union {
		struct fi_eq_cm_entry	entry;
		u8			room[sizeof(struct fi_eq_cm_entry) + FT_CM_MAX];
	};
};

static int ft_cm_limit(struct ft_end *e, struct fid *fid, size_t *limit)
{
	size_t len = sizeof(*limit);
	int ret = fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, limit, &len);

	if (ret || *limit > FT_CM_MAX)
		return ft_fail(e, ret ?: -EMSGSIZE, NULL, "ask for the length of connection data");
	return 0;
}

static int ft_cm_check(struct ft_end *e, const void *data, ssize_t got, size_t want,
		       const char *what)
{
	if (got != want)
		return ft_fail(e, -EPROTO, "is the peer the same test?",
			       "%s with %zu bytes of data: got %zd", what, want, got);
	return ft_check(e, data, want, what);
}

/* Wait for the event that ends a step, and check its @want bytes of data */
static int ft_cm_event(struct ft_end *e, struct ft_cm *cm, u32 event, size_t want,
		       const char *what)
{
	ssize_t ret = ft_wait_event(e, event, cm->room, sizeof(cm->room), FT_TIMEOUT_MS, what);

	if (ret < 0)
		return ret;
	return ft_cm_check(e, cm->entry.data, ret - sizeof(cm->entry), want, what);
}

static int ft_cm_hang_up(struct ft_end *e, struct ft_cm *cm)
{
	int ret = fi_shutdown(e->ep, 0);

	if (ret)
		return ft_fail(e, ret, NULL, "shut the connection down");
	return ft_cm_event(e, cm, FI_SHUTDOWN, 0, "shut the connection down");
}

static int ft_cm_request(struct ft_end *e, struct ft_cm *cm, size_t len)
{
	int ret;

	ret = ft_cm_event(e, cm, FI_CONNREQ, len, "take a connection request");
	if (!ret)
		e->info = cm->entry.info;
	return ret;
}

static int ft_cm_refuse(struct ft_end *e, struct ft_cm *cm, size_t len)
{
	int ret = ft_cm_request(e, cm, len);

	if (ret)
		return ret;
	ret = fi_reject(e->pep, e->info->handle, cm->mine, len);
	fi_freeinfo(e->info);
	e->info = NULL;
	return ret ? ft_fail(e, ret, NULL, "refuse with %zu bytes of data", len) : 0;
}

static int ft_cm_accept(struct ft_end *e, struct ft_cm *cm, size_t len)
{
	int ret = ft_cm_request(e, cm, len);

	if (!ret)
		ret = ft_open_domain(e);
	if (!ret)
		ret = ft_open_ep(e);
	if (ret)
		return ret;
	ret = fi_accept(e->ep, cm->mine, len);
	if (ret)
		return ft_fail(e, ret, NULL, "accept with %zu bytes of data", len);
	ret = ft_cm_event(e, cm, FI_CONNECTED, 0, "accept the connection");
	if (!ret)
		ret = ft_cm_hang_up(e, cm);
	ft_close_domain(e);
	return ret;
}

static int ft_cm_serve(struct ft_end *e, struct ft_cm *cm)
{
	size_t limit = 0, len;
	int ret;

	ret = ft_find(e, ft_params.src, ft_params.port, FI_SOURCE, &e->pep_info);
	if (!ret)
		ret = ft_open_fabric(e, e->pep_info);
	if (!ret)
		ret = ft_listen(e);
	if (!ret)
		ret = ft_cm_limit(e, &e->pep->fid, &limit);
	if (!ret)
		ret = ft_oob_listen(e);
	if (ret)
		return ret;
	ft_set_state(e, FT_LISTENING);
	ret = ft_oob_accept(e);
	for (len = 1; !ret && len <= limit; len *= 2) {
		ret = ft_cm_refuse(e, cm, len);
		if (!ret)
			ret = ft_cm_accept(e, cm, len);
		if (!ret)
			ret = ft_oob_status(e);
	}
	return ret;
}

static int ft_cm_call(struct ft_end *e, const void *data, size_t len)
{
	int ret = fi_connect(e->ep, e->info->dest_addr, data, len);

	return ret ? ft_fail(e, ret, NULL, "connect with %zu bytes of data", len) : 0;
}

static int ft_cm_expect_refusal(struct ft_end *e, struct ft_cm *cm, size_t len)
{
	struct fi_eq_err_entry error = { .err_data = cm->room, .err_data_size = sizeof(cm->room) };
	ssize_t ret;
	u32 event;

	ret = ft_cm_call(e, cm->mine, len);
	if (ret)
		return ret;
	ret = fi_eq_sread(e->eq, &event, cm->room, sizeof(cm->room), FT_TIMEOUT_MS, 0);
	if (ret != -FI_EAVAIL)
		return ft_fail(e, ret < 0 ? ret : -EPROTO, NULL, "be refused");
	ret = fi_eq_readerr(e->eq, &error, 0);
	if (ret < 0 || error.err != ECONNREFUSED)
		return ft_fail(e, ret < 0 ? ret : -error.err, NULL, "be refused");
	return ft_cm_check(e, error.err_data, error.err_data_size, len, "be refused");
}

static int ft_cm_expect_reply(struct ft_end *e, struct ft_cm *cm, size_t len)
{
	int ret;

	ret = ft_cm_call(e, cm->mine, len);
	if (!ret)
		ret = ft_cm_event(e, cm, FI_CONNECTED, len, "be accepted");
	return ret ?: ft_cm_hang_up(e, cm);
}

/* An endpoint connects only once, so open a new one */
static int ft_cm_renew(struct ft_end *e)
{
	ft_close_ep(e);
	return ft_open_ep(e);
}

static int ft_cm_too_long(struct ft_end *e, struct ft_cm *cm, size_t limit)
{
	int ret = fi_connect(e->ep, e->info->dest_addr, cm->mine, limit + 1);

	if (ret == -EINVAL)
		return 0;
	return ft_fail(e, ret ?: -EPROTO, "this is a bug in kOFI",
		       "connect with %zu bytes of data, which are too many", limit + 1);
}

static int ft_cm_connect(struct ft_end *e, struct ft_cm *cm)
{
	size_t limit = 0, len;
	int ret;

	ret = ft_find(e, ft_params.node, ft_params.port, 0, &e->info);
	if (!ret)
		ret = ft_open_fabric(e, e->info);
	if (!ret)
		ret = ft_open_domain(e);
	if (!ret)
		ret = ft_open_ep(e);
	if (!ret)
		ret = ft_cm_limit(e, &e->ep->fid, &limit);
	if (!ret)
		ret = ft_oob_connect(e);
	for (len = 1; !ret && len <= limit; len *= 2) {
		ret = ft_cm_expect_refusal(e, cm, len);
		if (!ret)
			ret = ft_cm_renew(e);
		if (!ret)
			ret = ft_cm_expect_reply(e, cm, len);
		if (!ret)
			ret = ft_cm_renew(e);
		if (!ret)
			ret = ft_oob_status(e);
	}
	return ret ?: ft_cm_too_long(e, cm, limit);
}

int ft_cm_data(struct ft_end *e)
{
	struct ft_cm *cm;
	int ret;

	cm = kzalloc(sizeof(*cm), GFP_KERNEL);
	if (!cm)
		return ft_fail(e, -ENOMEM, NULL, "get memory for connection data");
	ft_fill(cm->mine, sizeof(cm->mine));
	ret = e->client ? ft_cm_connect(e, cm) : ft_cm_serve(e, cm);
	kfree(cm);
	return ret;
}
