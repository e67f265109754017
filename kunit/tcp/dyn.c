// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages with a tag, as libfabric 1.13 to 1.17 sends them to ofi_rxm over tcp.  Here a raw peer
 * sends them to kofi_rxm.
 */
#include <kofi/addr.h>
#include <rdma/fi_tagged.h>
#include "../../providers/rxm/wire.h"
#include "tcp.h"

#define LEN	64
#define EAGER	16384
#define TAG	0xfedcba98ULL

static const u64 cq_data = 0xfedcba9876543210ULL;

static int dyn_init(struct kunit *test)
{
	struct fi_info *hints;
	int ret = vt_init(test);

	if (ret)
		return ret;
	hints = vt_allocinfo(test, "tcp;ofi_rxm");
	hints->ep_attr->type = FI_EP_RDM;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	vt_open_info(test, tcp_find(test, "127.0.0.1", hints));
	return 0;
}

/* Opens an endpoint, and connects a raw peer to it, which gets the identity for its packets */
static struct socket *join(struct kunit *test, struct vt_end *end)
{
	static const struct vt_kind kind = {
		.name		= "tagged",
		.wait_obj	= FI_WAIT_UNSPEC,
		.format		= FI_CQ_FORMAT_TAGGED,
	};
	const struct rxm_wire_request request = {
		.version	= RXM_WIRE_CM_VERSION,
		.endian		= RXM_WIRE_ENDIAN,
		.ctrl_version	= RXM_WIRE_CTRL_VERSION,
		.op_version	= RXM_WIRE_OP_VERSION,
		.port		= 4711,
		.flow_ctrl	= RXM_WIRE_FLOW_OFF,
		.eager_limit	= EAGER,
		.rx_size	= 128,
		.conn_id	= 5ULL << 32 | 7,
	};
	u8 buf[PEER_CM + sizeof(request)], response[PEER_CM + sizeof(struct rxm_wire_accept)];
	size_t len = sizeof(vt_of(test)->name);
	struct socket *sock;

	vt_client(test, end, &kind);
	KUNIT_ASSERT_EQ(test, fi_getname(&end->ep->fid, &vt_of(test)->name, &len), 0);
	sock = peer_connect(test);
	peer_send(test, sock, buf, peer_cm(buf, 0, &request, sizeof(request)));
	peer_recv(test, sock, response, sizeof(response));
	return sock;
}

static void put(struct kunit *test, struct socket *sock, u16 flags, size_t len)
{
	u8 *msg = vt_buf(test, PEER_BASE + 16 + len);
	size_t hdr = peer_tagged(msg, flags, flags & 1 ? &cq_data : NULL, TAG, len);

	msg[1] = 0;
	vt_fill(msg + hdr, len, 3);
	peer_send(test, sock, msg, hdr + len);
}

static void expect(struct kunit *test, struct vt_end *end, u16 flags, size_t len)
{
	u64 data = flags & 1 ? FI_REMOTE_CQ_DATA : 0;
	u8 *in = vt_buf(test, EAGER);
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, in, EAGER, NULL, FI_ADDR_UNSPEC, TAG, 0,
				       vt_ctx(1)), 0);
	comp = vt_done(test, end->rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RECV | FI_TAGGED | data);
	KUNIT_EXPECT_EQ(test, comp.tag, TAG);
	KUNIT_EXPECT_EQ(test, comp.data, data ? cq_data : 0);
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, 3));
}

static void a_tagged_message_without_a_header_is_received(struct kunit *test)
{
	static const size_t lens[] = { 0, 1, LEN, EAGER };
	struct vt_end end = {};
	struct socket *sock = join(test, &end);
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		put(test, sock, 0x80, lens[i]);
		expect(test, &end, 0x80, lens[i]);
		put(test, sock, 0x81, lens[i]);
		expect(test, &end, 0x81, lens[i]);
	}
}

/* More than are kept without a receive, so some wait with what was made their header */
static void such_messages_wait_for_their_receives(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join(test, &end);
	int i;

	for (i = 0; i < 70; i++)
		put(test, sock, 0x81, LEN);
	for (i = 0; i < 70; i++)
		expect(test, &end, 0x81, LEN);
}

static void such_a_message_above_the_eager_limit_ends_the_connection(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join(test, &end);

	put(test, sock, 0x80, EAGER + 1);
	peer_hung_up(test, sock);
}

static struct kunit_case dyn_cases[] = {
	KUNIT_CASE(a_tagged_message_without_a_header_is_received),
	KUNIT_CASE(such_messages_wait_for_their_receives),
	KUNIT_CASE(such_a_message_above_the_eager_limit_ends_the_connection),
	{}
};

static struct kunit_suite dyn_suite = {
	.name		= "kofi_tcp_dyn",
	.init		= dyn_init,
	.exit		= vt_exit,
	.test_cases	= dyn_cases,
};

kunit_test_suites(&dyn_suite);
