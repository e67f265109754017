// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads of every shape: what iov_limit and max_msg_size promise holds for them, too,
 * where the device (iWARP) takes one element with a key of its own and few pages.
 * Both ends are in one domain; the peer's memory is a region.
 */
#include <linux/net.h>
#include <linux/sizes.h>
#include <net/net_namespace.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "../lib/memory.h"
#include "far.h"
#include "peer.h"

#define READ_LEN	SZ_64K

/* What is read is that of vt_fill(7) */
static void reader_open(struct kunit *test, struct vt_far *reader, size_t len)
{
	reader->access = FI_REMOTE_READ;
	vt_far_open(test, reader, len);
	vt_fill(reader->target, len, 7);
}

static ssize_t readv(struct vt_far *reader, const struct kvec *iov, size_t count, unsigned long nr)
{
	return fi_readv(reader->pair.a.ep, iov, NULL, count, 0, (uintptr_t)reader->target,
			fi_mr_key(reader->mr), vt_ctx(nr));
}

static ssize_t read_to(struct vt_far *reader, void *buf, size_t len, unsigned long nr)
{
	struct kvec iov = { buf, len };

	return readv(reader, &iov, 1, nr);
}

static void read_into(struct kunit *test, struct vt_far *reader,
		      const struct vt_memory *memory, void *buf, size_t len)
{
	struct fi_rma_iov remote = {
		(uintptr_t)reader->target, len, fi_mr_key(reader->mr)
	};
	struct vt_list *list = vt_buf(test, sizeof(*list));
	struct fi_msg_rma msg = {
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= vt_ctx(1),
	};
	struct vt_comp comp;

	vt_make_list(list, memory, buf, len);
	msg.type = list->msg.type;
	msg.msg_iov = list->msg.msg_iov;
	msg.iov_count = list->msg.iov_count;
	memset(buf, 0x5a, len + 1);
	KUNIT_ASSERT_EQ(test, fi_readmsg(reader->pair.a.ep, &msg, FI_COMPLETION), 0);
	kunit_kfree(test, list);
	comp = vt_done(test, reader->pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_READ);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(buf, len, 7), "%zu bytes", len);
	KUNIT_EXPECT_EQ(test, *((u8 *)buf + len), 0x5a);
}

/* As many elements as iov_limit allows, wherever they begin and end */
static void lists_of_every_kind_can_be_read_into(struct kunit *test)
{
	struct vt_memory memory = *(const struct vt_memory *)test->param_value;
	struct fi_info *hints = vt_rma_hints(test), *info;
	struct vt_far reader = {};
	size_t limit = VT_IOV;
	void *buf;

	for (;; limit--) {
		hints->tx_attr->iov_limit = limit;
		if (!vt_getinfo(test, NULL, 0, 0, hints, &info))
			break;
	}
	reader.iov_limit = limit;
	reader_open(test, &reader, READ_LEN);
	memory.pieces = min(memory.pieces, limit);
	buf = memory.alloc(test) + memory.offset;

	read_into(test, &reader, &memory, buf, 1);
	read_into(test, &reader, &memory, buf, 255);
	read_into(test, &reader, &memory, buf, 4097);
	/* Of vmalloc, each page counts, and both ends of each element */
	read_into(test, &reader, &memory, buf, (limit - 2) * PAGE_SIZE);
}

static void longer_lists_are_refused(struct kunit *test)
{
	struct vt_far reader = {};
	size_t limit, len = sizeof(limit);
	struct kvec *iov;
	u8 *buf, stack[8];
	int i;

	reader_open(test, &reader, READ_LEN);
	KUNIT_ASSERT_EQ(test, fi_getopt(&reader.pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RMA_IOV, &limit, &len), 0);
	KUNIT_ASSERT_GE(test, limit, vt_info(test)->tx_attr->iov_limit);
	iov = vt_buf(test, (limit + 1) * sizeof(*iov));
	buf = vt_buf(test, 10 * (limit + 1));
	for (i = 0; i <= limit; i++)
		iov[i] = (struct kvec) { buf + 10 * i, 7 };
	/* More often than there may be anything to keep for them */
	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_EQ(test, readv(&reader, iov, limit + 1, 1), -EINVAL);
		iov[3].iov_base = stack;
		KUNIT_EXPECT_EQ(test, readv(&reader, iov, 4, 1), -EINVAL);
		iov[3].iov_base = buf + 30;
	}
	KUNIT_EXPECT_EQ(test, readv(&reader, iov, 4, 1), 0);
	vt_done(test, reader.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, buf[7], 0);
	KUNIT_EXPECT_MEMEQ(test, buf + 30, reader.target + 21, 7);
	vt_none(test, reader.pair.a.tx);
}

/* As many pages as one registration of some devices has, and begun within a page */
static void long_reads_arrive_whole(struct kunit *test)
{
	size_t len = SZ_1M;
	struct vt_far reader = {};
	u8 *buf;

	reader_open(test, &reader, len);
	KUNIT_ASSERT_GE(test, vt_info(test)->ep_attr->max_msg_size, len);
	buf = vt_buf(test, len + 200);
	KUNIT_ASSERT_EQ(test, read_to(&reader, buf + 100, len, 1), 0);
	vt_done(test, reader.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 100, len, 7));
	KUNIT_EXPECT_EQ(test, buf[99], 0);
	KUNIT_EXPECT_EQ(test, buf[len + 100], 0);
	KUNIT_EXPECT_EQ(test, read_to(&reader, buf, vt_info(test)->ep_attr->max_msg_size + 1, 1),
			-EMSGSIZE);
}

/* -EAGAIN is all that happens if there are more than the device can have */
static void many_reads_at_a_time_lose_nothing(struct kunit *test)
{
	struct vt_far reader = {};
	struct vt_comp comp;
	int posted = 0, done = 0;
	ssize_t ret;
	u8 *buf;

	reader_open(test, &reader, READ_LEN);
	buf = vt_buf(test, READ_LEN);
	while (done < 64) {
		ret = 0;
		while (posted < 64 && !ret) {
			ret = fi_read(reader.pair.a.ep, buf + posted * SZ_1K, SZ_1K, NULL, 0,
				      (uintptr_t)reader.target + posted * SZ_1K,
				      fi_mr_key(reader.mr), vt_ctx(posted));
			posted += !ret;
		}
		KUNIT_ASSERT_TRUE(test, !ret || ret == -EAGAIN);
		/* Sixteen are never too many */
		KUNIT_ASSERT_GE(test, posted, min(64, done + 16));
		KUNIT_ASSERT_EQ(test, vt_wait(reader.pair.a.tx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		KUNIT_ASSERT_PTR_EQ(test, comp.context, vt_ctx(done));
		done++;
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, READ_LEN, 7));
}

/* What a read needs beside its place in the queue is there even then */
static void an_endpoint_for_one_operation_can_read(struct kunit *test)
{
	u8 *buf = vt_buf(test, READ_LEN), stack[8];
	struct vt_far reader = { .size = 1 };
	struct kvec iov[2];
	int i;

	reader_open(test, &reader, READ_LEN);
	for (i = 0; i < 3; i++) {
		memset(buf, 0, READ_LEN);
		KUNIT_ASSERT_EQ(test, read_to(&reader, buf, READ_LEN, i), 0);
		KUNIT_EXPECT_EQ(test, read_to(&reader, buf, 8, 77), -EAGAIN);
		vt_done(test, reader.pair.a.tx, vt_ctx(i));
		KUNIT_EXPECT_TRUE(test, vt_filled(buf, READ_LEN, 7));
	}
	/* On iWARP each element may be as much as an operation */
	iov[0] = (struct kvec) { buf + 1, 8 };
	iov[1] = (struct kvec) { buf + 99, 8 };
	if (vt_is_iwarp(test)) {
		KUNIT_EXPECT_EQ(test, readv(&reader, iov, 2, 1), -EMSGSIZE);
	} else {
		KUNIT_EXPECT_EQ(test, readv(&reader, iov, 2, 1), 0);
		vt_done(test, reader.pair.a.tx, vt_ctx(1));
	}
	/* Although there would be nothing left for the second one */
	iov[1].iov_base = stack;
	KUNIT_EXPECT_EQ(test, readv(&reader, iov, 2, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, read_to(&reader, buf, 8, 2), 0);
	vt_done(test, reader.pair.a.tx, vt_ctx(2));
}

/* Some devices would wait for ever, and others lose count of their queue */
static void a_peer_that_grants_no_reads_is_not_asked(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct vt_peer *peer;
	struct scatterlist sg;
	struct fid_ep *ep;
	u64 addr;

	sg_init_one(&sg, buf, 64);
	vt_open(test, AF_INET, vt_rma_hints(test));
	if (!vt_is_iwarp(test))
		vt_of(test)->info->caps |= FI_ATOMIC;
	vt_listen(test, vt_eq(test, 0));
	peer = vt_peer_granting(test, 0);
	ep = peer->end.ep;
	addr = (uintptr_t)peer->buf;
	KUNIT_EXPECT_EQ(test, fi_read(ep, buf, 64, NULL, 0, addr, 1, NULL), -EACCES);
	KUNIT_EXPECT_EQ(test, fi_read(ep, buf, 0, NULL, 0, addr, 1, NULL), -EACCES);
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, &sg, 1, 0, 64, 0, addr, 1, NULL, 0), -EACCES);
	if (peer->id->device->attrs.atomic_cap != IB_ATOMIC_NONE)
		KUNIT_EXPECT_EQ(test, fi_fetch_atomic(ep, buf, 1, NULL, buf + 8, NULL, 0, addr, 1,
						      FI_UINT64, FI_SUM, NULL), -EACCES);
	/* Others are */
	KUNIT_EXPECT_EQ(test, fi_inject(ep, buf, 0, 0), 0);
	vt_none(test, peer->end.tx);
}

/* What iWARP begins with (RFC 5044) */
struct mpa_frame {
	u8	key[16];
	u8	flags[2];
	__be16	data_len;
	u8	data[256];
};

static void mute_release(void *sock)
{
	sock_release(sock);
}

static struct socket *mute_adopt(struct kunit *test, struct socket *sock)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mute_release, sock), 0);
	return sock;
}

static void mute_receive(struct kunit *test, struct socket *sock, void *buf, size_t len)
{
	struct kvec iov = { buf, len };
	struct msghdr msg = {};

	KUNIT_ASSERT_EQ(test, kernel_recvmsg(sock, &msg, &iov, 1, len, MSG_WAITALL), (int)len);
}

/* A TCP socket that sends the request back as the answer, and no more after it */
static struct socket *mute_answer(struct kunit *test, struct socket *listener)
{
	struct mpa_frame *frame = vt_buf(test, sizeof(*frame));
	struct kvec iov = { frame, offsetof(struct mpa_frame, data) };
	struct msghdr msg = {};
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, kernel_accept(listener, &sock, 0), 0);
	mute_adopt(test, sock);
	mute_receive(test, sock, frame, iov.iov_len);
	KUNIT_ASSERT_MEMEQ(test, frame->key, "MPA ID Req Frame", 16);
	KUNIT_ASSERT_LE(test, ntohs(frame->data_len), sizeof(frame->data));
	mute_receive(test, sock, frame->data, ntohs(frame->data_len));
	memcpy(frame->key, "MPA ID Rep Frame", 16);
	iov.iov_len += ntohs(frame->data_len);
	KUNIT_ASSERT_EQ(test, kernel_sendmsg(sock, &msg, &iov, 1, iov.iov_len), (int)iov.iov_len);
	return sock;
}

static struct socket *mute_connect(struct kunit *test, struct vt_end *end)
{
	struct vt *vt = vt_of(test);
	struct socket *listener, *sock;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_STREAM,
					       IPPROTO_TCP, &listener), 0);
	mute_adopt(test, listener);
	KUNIT_ASSERT_EQ(test, kernel_bind(listener, vt->info->src_addr, vt->info->src_addrlen), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(listener, 1), 0);
	KUNIT_ASSERT_GT(test, kernel_getsockname(listener, (struct sockaddr *)&vt->name), 0);
	vt_client(test, end, &vt_default_kind);
	vt_connect(test, end, NULL, 0);
	sock = mute_answer(test, listener);
	vt_event(test, end->eq, FI_CONNECTED, NULL);
	return sock;
}

/*
 * A peer whose memory does not answer: over iWARP a plain TCP socket, else a queue
 * pair in the error state.
 */
static struct vt_end *mute_end(struct kunit *test, struct socket **sock)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct vt_peer *peer;
	struct vt_end *end;

	*sock = NULL;
	if (vt_is_iwarp(test)) {
		end = vt_buf(test, sizeof(*end));
		*sock = mute_connect(test, end);
		return end;
	}
	vt_listen(test, vt_eq(test, 0));
	peer = vt_peer(test);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(peer->id->qp, &attr, IB_QP_STATE), 0);
	return &peer->end;
}

static void a_read_without_answer_ends_with_the_connection(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64), request[20];
	struct socket *sock;
	struct vt_end *end;
	struct vt_comp comp;

	vt_open(test, AF_INET, vt_rma_hints(test));
	end = mute_end(test, &sock);
	KUNIT_ASSERT_EQ(test, fi_read(end->ep, buf, 64, NULL, 0, 0, 1, vt_ctx(1)), 0);
	/* It has left: siw has nothing to send any more */
	if (sock)
		mute_receive(test, sock, request, sizeof(request));
	KUNIT_ASSERT_EQ(test, fi_shutdown(end->ep, 0), 0);

	comp = vt_failed(test, end->tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	vt_event(test, end->eq, FI_SHUTDOWN, NULL);
	vt_none(test, end->tx);
}

KUNIT_ARRAY_PARAM_DESC(vt_memory, vt_memories, name);

static struct kunit_case read_cases[] = {
	KUNIT_CASE_PARAM(lists_of_every_kind_can_be_read_into, vt_memory_gen_params),
	KUNIT_CASE(longer_lists_are_refused),
	KUNIT_CASE(long_reads_arrive_whole),
	KUNIT_CASE(many_reads_at_a_time_lose_nothing),
	KUNIT_CASE(an_endpoint_for_one_operation_can_read),
	KUNIT_CASE(a_peer_that_grants_no_reads_is_not_asked),
	KUNIT_CASE(a_read_without_answer_ends_with_the_connection),
	{}
};

struct kunit_suite kofi_verbs_read_suite = {
	.name		= "kofi_verbs_read",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= read_cases,
};
