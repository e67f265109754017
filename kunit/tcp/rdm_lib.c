// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers of an endpoint without connections.
 */
#include <linux/fs.h>
#include "../lib/file.h"
#include "rdm.h"

static const struct vt_kind rdm_kind = {
	.wait_obj	= FI_WAIT_UNSPEC,
	.comp_ctx	= FI_COMP_SOFTIRQ,
	.format		= FI_CQ_FORMAT_TAGGED,
};

/**
 * struct rdm_param - A parameter of the module
 * @path: its file
 * @old: what it was
 */
struct rdm_param {
	char	path[64];
	char	old[16];
};

static int rdm_param_write(const struct rdm_param *param, const char *value)
{
	struct file *file = vt_file_open(param->path, O_WRONLY);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = kernel_write(file, value, strlen(value), &pos);
	filp_close(file, NULL);
	return ret < 0 ? ret : 0;
}

static int rdm_param_read(struct rdm_param *param)
{
	struct file *file = vt_file_open(param->path, O_RDONLY);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = kernel_read(file, param->old, sizeof(param->old) - 1, &pos);
	filp_close(file, NULL);
	return ret < 0 ? ret : 0;
}

static void rdm_param_restore(void *param)
{
	rdm_param_write(param, ((struct rdm_param *)param)->old);
}

void rdm_param(struct kunit *test, const char *name, const char *value)
{
	struct rdm_param *param = vt_buf(test, sizeof(*param));

	snprintf(param->path, sizeof(param->path), "/sys/module/kofi_tcp/parameters/%s", name);
	KUNIT_ASSERT_EQ(test, rdm_param_read(param), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdm_param_restore, param), 0);
	KUNIT_ASSERT_EQ(test, rdm_param_write(param, value), 0);
}

#define FAILSLAB	"cd /sys/kernel/debug/failslab && "

void rdm_fail_nothing(void)
{
	vt_shell(FAILSLAB "echo 0 >probability && echo N >cache-filter && echo 2 >verbose");
	vt_shell(FAILSLAB "echo Y >ignore-gfp-wait");
	vt_shell("for f in /sys/kernel/slab/kmalloc-*/failslab; do echo 0 >$f; done");
}

static void fail_nothing(void *unused)
{
	rdm_fail_nothing();
}

void rdm_fail(struct kunit *test, const char *cache, int times, bool waits)
{
	char command[128];

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fail_nothing, NULL), 0);
	snprintf(command, sizeof(command), "echo 1 >/sys/kernel/slab/%s/failslab", cache);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(FAILSLAB "echo 0 >verbose && echo Y >cache-filter"), 0);
	snprintf(command, sizeof(command),
		 FAILSLAB "echo %c >ignore-gfp-wait && echo %d >times && echo 100 >probability",
		 waits ? 'N' : 'Y', times);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
}

void rdm_open(struct kunit *test, struct vt_end *end)
{
	vt_client(test, end, &rdm_kind);
}

struct sockaddr_storage rdm_name(struct kunit *test, struct fid_ep *ep)
{
	struct sockaddr_storage name = {};
	size_t len = sizeof(name);

	KUNIT_ASSERT_EQ(test, fi_getname(&ep->fid, &name, &len), 0);
	return name;
}

void rdm_peer_new(struct kunit *test, struct vt_end *end, struct rdm_peer *peer, u32 host)
{
	peer->host = host;
	peer->listener = peer_listen_at(test, host, &peer->name);
	KUNIT_ASSERT_EQ(test, fi_av_insert(end->av, &peer->name, 1, &peer->addr, 0, NULL), 1);
}

void rdm_open_with(struct kunit *test, struct vt_end *end, struct rdm_peer *peer, u32 host)
{
	rdm_open(test, end);
	rdm_peer_new(test, end, peer, host);
}

static void rdm_cm(u8 *data, u8 version, __be16 port, u32 pid)
{
	__be32 net_pid = cpu_to_be32(pid);

	data[0] = version;
	data[1] = 0;
	memcpy(data + 2, &port, sizeof(port));
	memcpy(data + 4, &net_pid, sizeof(net_pid));
}

/* Makes a message of connection management kOFI's, if the peer understands something */
static void rdm_announce(u8 *buf, const struct rdm_peer *peer)
{
	if (!peer->understands)
		return;
	memcpy(buf + 16, "kOFI\0\0\0", 7);
	buf[23] = peer->understands;
}

struct socket *rdm_ask(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer,
		       u8 version, u32 pid)
{
	const struct sockaddr_in *name = (const struct sockaddr_in *)&peer->name;
	const struct sockaddr_storage to = rdm_name(test, end->ep);
	struct socket *sock = peer_connect_from(test, peer->host, &to);
	u8 data[RDM_CM], buf[PEER_CM + RDM_CM];

	rdm_cm(data, version, name->sin_port, pid);
	peer_cm(buf, 0, data, sizeof(data));
	rdm_announce(buf, peer);
	peer_send(test, sock, buf, sizeof(buf));
	return sock;
}

void rdm_expect_cm(struct kunit *test, struct socket *sock, u8 type, u8 *data)
{
	u8 want[PEER_CM + RDM_CM], got[PEER_CM + RDM_CM];

	peer_recv(test, sock, got, sizeof(got));
	peer_cm(want, type, got + PEER_CM, RDM_CM);
	/* It understands receive contexts and refusals, too, and with FI_RMA tagged access */
	if (type != 6)
		memcpy(want + 16, "kOFI\0\0\0\x4e", 8);
	if (type != 6 && vt_of(test)->info->caps & FI_RMA)
		want[23] |= 0x10;
	KUNIT_ASSERT_MEMEQ(test, got, want, sizeof(want));
	if (data)
		memcpy(data, got + PEER_CM, RDM_CM);
}

struct socket *rdm_dial(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer,
			u8 version, u32 pid)
{
	struct socket *sock = rdm_ask(test, end, peer, version, pid);

	rdm_expect_cm(test, sock, 1, NULL);
	return sock;
}

struct socket *rdm_asked(struct kunit *test, const struct rdm_peer *peer, u8 *data)
{
	struct socket *sock = peer_accept(test, peer->listener);

	rdm_expect_cm(test, sock, 0, data);
	return sock;
}

void rdm_respond(struct kunit *test, struct socket *sock, const u8 *request, u8 version, u32 pid)
{
	u8 data[RDM_CM], buf[PEER_CM + RDM_CM];
	__be16 port;

	memcpy(&port, request + 2, sizeof(port));
	rdm_cm(data, version, port, pid);
	peer_send(test, sock, buf, peer_cm(buf, 1, data, sizeof(data)));
}

struct socket *rdm_accept(struct kunit *test, const struct rdm_peer *peer, u8 version, u32 pid)
{
	u8 request[RDM_CM];
	struct socket *sock = rdm_asked(test, peer, request);

	rdm_respond(test, sock, request, version, pid);
	return sock;
}

void rdm_bed_open(struct kunit *test, struct rdm_bed *bed, u8 version, u8 understands)
{
	rdm_open_with(test, &bed->end, &bed->peer, RDM_LOW);
	bed->peer.understands = understands;
	bed->sock = rdm_dial(test, &bed->end, &bed->peer, version, RDM_PID);
}

void rdm_post(struct kunit *test, struct vt_end *end, fi_addr_t to, unsigned long nr)
{
	u8 *out = vt_buf(test, RDM_LEN);

	vt_fill(out, RDM_LEN, nr);
	KUNIT_ASSERT_EQ(test, fi_send(end->ep, out, RDM_LEN, NULL, to, vt_ctx(nr)), 0);
}

void rdm_post_fenced(struct kunit *test, struct vt_end *end, fi_addr_t to, unsigned long nr)
{
	struct kvec iov = { vt_buf(test, RDM_LEN), RDM_LEN };
	const struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .context = vt_ctx(nr),
	};

	vt_fill(iov.iov_base, RDM_LEN, nr);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end->ep, &msg, FI_FENCE | FI_COMPLETION), 0);
}

void rdm_expect_sent(struct kunit *test, struct vt_end *end, struct socket *sock, unsigned long nr)
{
	u8 got[PEER_BASE + RDM_LEN];

	peer_recv(test, sock, got, sizeof(got));
	KUNIT_EXPECT_EQ(test, got[1], 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(got + PEER_BASE, RDM_LEN, nr));
	vt_done(test, end->tx, vt_ctx(nr));
}

void rdm_begin_read(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer,
		    struct socket *sock, void *context)
{
	u8 *mem = vt_buf(test, RDM_LEN), request[PEER_BASE + PEER_RMA];

	KUNIT_ASSERT_EQ(test, fi_read(end->ep, mem, RDM_LEN, NULL, peer->addr, 0, 1, context), 0);
	peer_recv(test, sock, request, sizeof(request));
}
