// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An endpoint of kofi_rxm, and a raw peer: an endpoint of the provider below it, loop as a rule.
 */
#include <linux/cpumask.h>
#include <linux/in.h>
#include <linux/kernel_stat.h>
#include <linux/mm.h>
#include <kofi/addr.h>
#include "rxm.h"

/* As they are in libfabric: the suites send and expect them by name */
static_assert(RXM_WIRE_EAGER == 0 && RXM_WIRE_SEG == 1 && RXM_WIRE_RNDV_REQ == 2 &&
	      RXM_WIRE_RNDV_READ_DONE == 3 && RXM_WIRE_ATOMIC == 4 && RXM_WIRE_ATOMIC_RESP == 5 &&
	      RXM_WIRE_CREDIT == 6 && RXM_WIRE_RNDV_WRITE_DATA == 7 &&
	      RXM_WIRE_RNDV_WRITE_DONE == 8);
static_assert(RXM_WIRE_REFUSED == 1 && RXM_WIRE_ALREADY == 2);

static struct fi_info *rxm_find(struct kunit *test, const char *prov, enum fi_ep_type type)
{
	struct fi_info *hints = vt_allocinfo(test, prov), *info;

	hints->ep_attr->type = type;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	return info;
}

static struct rxm_bed *rxm_bed_new(struct kunit *test, const char *prov, int port)
{
	static const struct vt_kind kind = {
		.name		= "tagged",
		.wait_obj	= FI_WAIT_UNSPEC,
		.format		= FI_CQ_FORMAT_TAGGED,
	};
	struct rxm_bed *bed = vt_buf(test, sizeof(*bed));
	struct sockaddr_storage peer;
	char *stack = vt_buf(test, FI_NAME_MAX);
	struct fi_info *info;
	size_t len = sizeof(bed->name);
	fi_addr_t addr;
	int i;

	snprintf(stack, FI_NAME_MAX, "%s;ofi_rxm", prov);

	for (i = 0; i < RXM_RECVS; i++)
		bed->bufs[i] = vt_buf(test, sizeof(struct rxm_wire_hdr) + RXM_LIMIT);
	info = rxm_find(test, stack, FI_EP_RDM);
	kofi_addr_set_port(info->src_addr, port);
	vt_open_info(test, info);
	bed->domain = vt_of(test)->domain;
	vt_client(test, &bed->us, &kind);
	KUNIT_ASSERT_EQ(test, fi_getname(&bed->us.ep->fid, &bed->name, &len), 0);
	/* vt_recv() receives from the first address */
	peer = bed->name;
	kofi_addr_set_port(&peer, RXM_PORT);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &peer, 1, &addr, 0, NULL), 1);
	info = rxm_find(test, prov, FI_EP_MSG);
	bed->flow_ctrl = info->domain_attr->resource_mgmt == FI_RM_ENABLED ? 2 : 1;
	bed->rx_size = RXM_RECVS;
	vt_open_info(test, info);
	vt_of(test)->name = bed->name;
	return bed;
}

struct rxm_bed *rxm_bed_open(struct kunit *test)
{
	return rxm_bed_new(test, "loop", 0);
}

struct rxm_bed *rxm_bed_join(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);

	rxm_join(test, bed);
	return bed;
}

struct rxm_bed *rxm_bed_open_at(struct kunit *test, int port)
{
	return rxm_bed_new(test, "loop", port);
}

struct rxm_bed *rxm_bed_open_on(struct kunit *test, const char *prov)
{
	return rxm_bed_new(test, prov, 0);
}

#define RXM_COMMAND	96	/* bytes of a command */
#define RXM_LEN		64	/* bytes of a message */
#define RXM_RULES	"/sys/kernel/debug/kofi_hook_fault/rules"

static void rxm_no_faults(void *unused)
{
	vt_shell("echo clear >" RXM_RULES);
}

struct rxm_bed *rxm_bed_open_faulty(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vt_shell("modprobe kofi_hook_fault"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rxm_no_faults, NULL), 0);
	return rxm_bed_new(test, "loop;ofi_hook_fault", 0);
}

void rxm_fault(struct kunit *test, const char *rule)
{
	char *command = vt_buf(test, RXM_COMMAND);

	snprintf(command, RXM_COMMAND, "echo %s >" RXM_RULES, rule);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
}

bool rxm_faults(int count)
{
	char command[RXM_COMMAND];

	snprintf(command, RXM_COMMAND, "grep -q ': %d of ' " RXM_RULES, count);
	return !vt_shell(command);
}

void rxm_expect_faults(struct kunit *test, int count)
{
	KUNIT_EXPECT_TRUE(test, rxm_faults(count));
}

int rxm_bed_port(const struct rxm_bed *bed)
{
	return kofi_addr_port(&bed->name);
}

struct rxm_wire_request rxm_request(void)
{
	return (struct rxm_wire_request) {
		.version	= 1,
		.endian		= RXM_WIRE_ENDIAN,
		.ctrl_version	= 4,
		.op_version	= 3,
		.port		= RXM_PORT,
		.flow_ctrl	= 2,
		.eager_limit	= RXM_LIMIT,
		.rx_size	= RXM_RECVS,
		.conn_id	= 5ULL << 32 | RXM_ID,
	};
}

void rxm_recv_again(struct kunit *test, struct rxm_bed *bed, int nr)
{
	vt_recv(test, &bed->peer, bed->bufs[nr], sizeof(struct rxm_wire_hdr) + RXM_LIMIT,
		vt_ctx(nr));
}

void rxm_post_recvs(struct kunit *test, struct rxm_bed *bed)
{
	int i;

	for (i = 0; i < RXM_RECVS; i++)
		rxm_recv_again(test, bed, i);
}

void rxm_dial(struct kunit *test, struct rxm_bed *bed, const void *data, size_t len)
{
	vt_client(test, &bed->peer, &vt_default_kind);
	rxm_post_recvs(test, bed);
	vt_connect(test, &bed->peer, data, len);
}

void rxm_join_as(struct kunit *test, struct rxm_bed *bed, int port)
{
	struct rxm_wire_request request = rxm_request();
	struct rxm_wire_accept answer;
	union vt_event event;

	request.port = port;
	request.flow_ctrl = bed->flow_ctrl;
	rxm_dial(test, bed, &request, sizeof(request));
	KUNIT_ASSERT_GE(test, vt_event(test, bed->peer.eq, FI_CONNECTED, &event), sizeof(answer));
	memcpy(&answer, event.cm.data, sizeof(answer));
	KUNIT_EXPECT_EQ(test, answer.flow_ctrl, bed->flow_ctrl);
	KUNIT_EXPECT_NE(test, (u32)(answer.conn_id >> 32), 0);
	bed->id = answer.conn_id;
}

void rxm_join(struct kunit *test, struct rxm_bed *bed)
{
	rxm_join_as(test, bed, RXM_PORT);
}

void rxm_listen_at(struct kunit *test, int port)
{
	kofi_addr_set_port((struct sockaddr_storage *)vt_of(test)->info->src_addr, port);
	vt_listen(test, vt_eq(test, 0));
	kofi_addr_set_port((struct sockaddr_storage *)vt_of(test)->info->src_addr, 0);
}

struct fi_info *rxm_next_dial(struct kunit *test, struct rxm_bed *bed,
			      struct rxm_wire_request *request)
{
	union vt_event event;
	struct fi_info *info = vt_connreq(test, &event);

	memcpy(request, event.cm.data, sizeof(*request));
	bed->id = request->conn_id;
	return info;
}

struct fi_info *rxm_be_dialled(struct kunit *test, struct rxm_bed *bed, const void *buf,
			       size_t len, struct rxm_wire_request *request)
{
	fi_addr_t addr;

	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &vt_of(test)->name, 1, &addr, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, len, NULL, addr, vt_ctx(1)), 0);
	return rxm_next_dial(test, bed, request);
}

void rxm_accept(struct kunit *test, struct rxm_bed *bed, struct fi_info *info, bool kofi)
{
	static const u8 bytes[] = RXM_WIRE_KOFI;
	struct rxm_wire_accept answer = {
		.conn_id = 5ULL << 32 | RXM_ID, .rx_size = bed->rx_size,
		.flow_ctrl = bed->flow_ctrl,
	};

	if (kofi)
		memcpy(answer.kofi, bytes, sizeof(bytes));
	vt_end_open(test, &bed->peer, info, &vt_default_kind);
	rxm_post_recvs(test, bed);
	vt_accept(test, &bed->peer, &answer, sizeof(answer));
}

void rxm_expect_refused(struct kunit *test, struct rxm_bed *bed, u8 reason)
{
	struct fi_eq_err_entry error = {};
	const struct rxm_wire_reject *msg;

	vt_error(test, bed->peer.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_ASSERT_EQ(test, error.err_data_size, sizeof(*msg));
	msg = error.err_data;
	KUNIT_EXPECT_EQ(test, msg->version, 1);
	KUNIT_EXPECT_EQ(test, msg->reason, reason);
}

void rxm_expect_closed(struct kunit *test, struct rxm_bed *bed)
{
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, NULL);
}

struct rxm_wire_hdr *rxm_packet(struct kunit *test, const struct rxm_bed *bed, size_t len)
{
	struct rxm_wire_hdr *hdr = vt_buf(test, sizeof(*hdr) + len);

	*hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= 4,
		.ctrl.conn_id	= bed->id,
		/* libfabric leaves old values in what a message does not use */
		.ctrl.seg_size	= RXM_LIMIT,
		.ctrl.seg_no	= 3,
		.ctrl.seg_type	= 3,
		.op.version	= 2,
		.op.size	= len,
	};
	return hdr;
}

void rxm_send(struct kunit *test, struct rxm_bed *bed, const void *packet, size_t len)
{
	vt_send(test, &bed->peer, packet, len, vt_ctx(100));
	vt_done(test, bed->peer.tx, vt_ctx(100));
}

static struct rxm_wire_hdr *expect_header(struct kunit *test, struct rxm_bed *bed, int nr, u8 type)
{
	struct rxm_wire_hdr *hdr = (struct rxm_wire_hdr *)bed->bufs[nr];

	KUNIT_EXPECT_EQ(test, hdr->ctrl.version, 4);
	KUNIT_ASSERT_EQ(test, hdr->ctrl.type, type);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
	KUNIT_EXPECT_EQ(test, hdr->op.version, 2);
	return hdr;
}

struct rxm_wire_hdr *rxm_next_packet(struct kunit *test, struct rxm_bed *bed, int nr, u8 type)
{
	vt_done(test, bed->peer.rx, vt_ctx(nr));
	return expect_header(test, bed, nr, type);
}

struct rxm_wire_hdr *rxm_next_sized(struct kunit *test, struct rxm_bed *bed, int nr, u8 type,
				    size_t len)
{
	KUNIT_ASSERT_EQ(test, vt_done(test, bed->peer.rx, vt_ctx(nr)).len,
			sizeof(struct rxm_wire_hdr) + len);
	return expect_header(test, bed, nr, type);
}

void rxm_send_word(struct kunit *test, struct rxm_bed *bed, u8 type, u64 id)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, 0);

	hdr->ctrl.type = type;
	hdr->ctrl.msg_id = id;
	hdr->op.op = RXM_WIRE_FETCH_ATOMIC;
	hdr->op.size = 12345;
	rxm_send(test, bed, hdr, sizeof(*hdr));
}

struct bio_vec rxm_pages(void *buf, size_t len)
{
	return (struct bio_vec) {
		.bv_page	= virt_to_page(buf),
		.bv_offset	= offset_in_page(buf),
		.bv_len		= len,
	};
}

const struct rxm_wire_rndv *rxm_expect_ranges(struct kunit *test, const struct rxm_wire_hdr *hdr,
					      size_t len)
{
	const struct rxm_wire_rndv *ranges = (const void *)(hdr + 1);
	size_t sum = 0;
	int i;

	KUNIT_ASSERT_GE(test, ranges->count, 1);
	KUNIT_ASSERT_LE(test, ranges->count, RXM_WIRE_IOV);
	for (i = 0; i < ranges->count; i++)
		sum += ranges->iov[i].len;
	KUNIT_EXPECT_EQ(test, sum, len);
	return ranges;
}

struct rxm_wire_hdr *rxm_ranges_new(struct kunit *test, const struct rxm_bed *bed, u8 *mem,
				    size_t len, u64 access)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, sizeof(struct rxm_wire_rndv));
	struct rxm_wire_rndv *ranges = (void *)(hdr + 1);
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, mem, len, access, 0, 5, 0, &mr, NULL),
			0);
	vt_adopt(test, &mr->fid);
	ranges->count = 2;
	ranges->iov[0].addr = fi_mr_addr(mr);
	ranges->iov[0].len = len / 3;
	ranges->iov[0].key = fi_mr_key(mr);
	ranges->iov[1].addr = fi_mr_addr(mr) + len / 3;
	ranges->iov[1].len = len - len / 3;
	ranges->iov[1].key = fi_mr_key(mr);
	return hdr;
}

struct rxm_wire_hdr *rxm_offer_new(struct kunit *test, const struct rxm_bed *bed, u8 *mem,
				   size_t len)
{
	struct rxm_wire_hdr *hdr = rxm_ranges_new(test, bed, mem, len, FI_REMOTE_READ);

	hdr->ctrl.type = RXM_WIRE_RNDV_REQ;
	hdr->ctrl.msg_id = 33;
	hdr->op.size = len;
	return hdr;
}

void rxm_send_ranges(struct kunit *test, struct rxm_bed *bed, const struct rxm_wire_hdr *hdr)
{
	rxm_send(test, bed, hdr, sizeof(*hdr) + sizeof(struct rxm_wire_rndv));
}

void rxm_ask_to_leave(struct kunit *test, struct rxm_bed *bed, u64 taken)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, 0);

	hdr->ctrl.type = RXM_WIRE_LEAVE;
	hdr->ctrl.msg_id = taken;
	rxm_send(test, bed, hdr, sizeof(*hdr));
}

void rxm_expect_leave(struct kunit *test, struct rxm_bed *bed, u64 taken)
{
	rxm_ask_to_leave(test, bed, taken);
	rxm_expect_closed(test, bed);
}

void rxm_expect_service(struct kunit *test, struct rxm_bed *bed)
{
	u8 *buf = vt_buf(test, RXM_LEN);
	struct rxm_wire_hdr *hdr;
	u32 old = bed->id;

	vt_end_close(test, &bed->peer);
	rxm_join(test, bed);
	/* What may come late names no other connection */
	KUNIT_EXPECT_NE(test, bed->id, old);
	hdr = rxm_packet(test, bed, RXM_LEN);
	vt_fill(hdr + 1, RXM_LEN, 4);
	vt_recv(test, &bed->us, buf, RXM_LEN, vt_ctx(1));
	rxm_send(test, bed, hdr, sizeof(*hdr) + RXM_LEN);
	vt_done(test, bed->us.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, RXM_LEN, 4));
}

u64 rxm_system_time(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += kcpustat_cpu(cpu).cpustat[CPUTIME_SYSTEM];
	return sum;
}

static void rxm_param_restore(void *command)
{
	vt_shell(command);
}

void rxm_param(struct kunit *test, const char *name, int value, int old)
{
	static const char format[] = "echo %d >/sys/module/kofi_rxm/parameters/%s";
	char *set = vt_buf(test, RXM_COMMAND), *restore = vt_buf(test, RXM_COMMAND);

	snprintf(set, RXM_COMMAND, format, value, name);
	snprintf(restore, RXM_COMMAND, format, old, name);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rxm_param_restore, restore), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(set), 0);
}
