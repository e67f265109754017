// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An endpoint of kofi_rxm, and a raw peer: an endpoint of the provider below it, loop as a rule.
 */
#include <linux/in.h>
#include <kofi/addr.h>
#include "rxm.h"

static struct fi_info *rxm_find(struct kunit *test, const char *prov, enum fi_ep_type type)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
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

struct rxm_bed *rxm_bed_open_at(struct kunit *test, int port)
{
	return rxm_bed_new(test, "loop", port);
}

struct rxm_bed *rxm_bed_open_on(struct kunit *test, const char *prov)
{
	return rxm_bed_new(test, prov, 0);
}

#define RXM_COMMAND	96	/* bytes of a command */
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

void rxm_expect_faults(struct kunit *test, int count)
{
	char *command = vt_buf(test, RXM_COMMAND);

	snprintf(command, RXM_COMMAND, "grep -q ': %d of ' " RXM_RULES, count);
	KUNIT_EXPECT_EQ(test, vt_shell(command), 0);
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

void rxm_post_recvs(struct kunit *test, struct rxm_bed *bed)
{
	int i;

	for (i = 0; i < RXM_RECVS; i++)
		vt_recv(test, &bed->peer, bed->bufs[i], sizeof(struct rxm_wire_hdr) + RXM_LIMIT,
			vt_ctx(i));
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

struct fi_info *rxm_be_dialled(struct kunit *test, struct rxm_bed *bed, const void *buf,
			       size_t len, struct rxm_wire_request *request)
{
	union vt_event event;
	struct fi_info *info;
	fi_addr_t addr;

	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &vt_of(test)->name, 1, &addr, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, len, NULL, addr, vt_ctx(1)), 0);
	info = vt_connreq(test, &event);
	memcpy(request, event.cm.data, sizeof(*request));
	return info;
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
	KUNIT_ASSERT_EQ(test, fi_send(bed->peer.ep, packet, len, NULL, 0, vt_ctx(100)), 0);
	vt_done(test, bed->peer.tx, vt_ctx(100));
}

struct rxm_wire_hdr *rxm_next_packet(struct kunit *test, struct rxm_bed *bed, int nr, u8 type)
{
	struct rxm_wire_hdr *hdr = (struct rxm_wire_hdr *)bed->bufs[nr];

	vt_done(test, bed->peer.rx, vt_ctx(nr));
	KUNIT_EXPECT_EQ(test, hdr->ctrl.version, 4);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.type, type);
	KUNIT_EXPECT_EQ(test, hdr->op.version, 2);
	return hdr;
}

static struct rxm_wire_rndv *make_offer(struct kunit *test, struct rxm_wire_hdr *hdr, u8 *mem,
					size_t len)
{
	struct rxm_wire_rndv *offer = (void *)(hdr + 1);
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, mem, len, FI_REMOTE_READ, 0, 5, 0,
					&mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	hdr->ctrl.type = 2;
	hdr->ctrl.msg_id = 33;
	hdr->op.size = len;
	*offer = (struct rxm_wire_rndv) { .count = 2 };
	offer->iov[0].addr = fi_mr_addr(mr);
	offer->iov[0].len = len / 3;
	offer->iov[0].key = fi_mr_key(mr);
	offer->iov[1].addr = fi_mr_addr(mr) + len / 3;
	offer->iov[1].len = len - len / 3;
	offer->iov[1].key = fi_mr_key(mr);
	return offer;
}

struct rxm_wire_hdr *rxm_offer_new(struct kunit *test, const struct rxm_bed *bed, u8 *mem,
				   size_t len)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, sizeof(struct rxm_wire_rndv));

	make_offer(test, hdr, mem, len);
	return hdr;
}

void rxm_send_offer(struct kunit *test, struct rxm_bed *bed, struct rxm_wire_hdr *hdr)
{
	rxm_send(test, bed, hdr, sizeof(*hdr) + sizeof(struct rxm_wire_rndv));
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
