// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A target of NVMe over Fabrics (RDMA) that breaks the standard in one way of the user's
 * choice.  scripts/nvme shows with it how the host of clients/nvme handles such a target.
 *
 *	nvme-target ADDRESS PORT FAULT	prints "listening" when it listens
 *	nvme-target --setups		faults that keep a controller from coming up
 *	nvme-target --answers		faults in the answer to the command ASK, if FAULT is
 *					"answers"; Dword 10 is the number of the fault, from 0
 *	nvme-target --data		the data that SANE reads
 *
 * With the faults "no-answer-to-keep-alive", "final" and "busy" the controller comes up, and
 * keep-alives are not answered.  With "final" each further Connect has a status that says not to
 * try again, with "busy" the second Connect has one that does not.
 *
 * The target has an admin queue, I/O queues and no namespaces.  It refuses a Connect whose queue
 * and size differ from those of the request for the connection.  ASK is a vendor's command
 * that reads 4096 bytes.  SANE is a second such command, which is always answered well.
 *
 * Layouts are those of the NVMe base specification 2.0 and of NVMe over Fabrics 1.1.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <nvme/types.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK		0xc2
#define SANE		0xc6
#define DATA_LEN	4096
#define DEPTH		128
#define IN_CAPSULE	4096
#define CAPSULE		(64 + IN_CAPSULE)

/* Opcodes, types of fabrics commands and offsets of properties */
enum {
	OP_GET_LOG = 0x02, OP_IDENTIFY = 0x06, OP_SET_FEATURES = 0x09,
	OP_ASYNC_EVENT = 0x0c, OP_KEEP_ALIVE = 0x18, OP_FABRICS = 0x7f,
	FC_PROPERTY_SET = 0, FC_CONNECT = 1, FC_PROPERTY_GET = 4,
	PROP_CAP = 0, PROP_VS = 8, PROP_CC = 0x14, PROP_CSTS = 0x1c,
	NO_SUCH = 0x4002,	/* invalid field, do not retry */
	BUSY = 0x181,		/* controller busy */
	CONNECT_INVALID = 0x4182,	/* connect invalid parameters, do not retry */
};

static const char *const setups[] = {
	"reject-reason", "reject-short", "reject-no-data", "no-reply", "early-response",
	"connect-status", "connect-hangs-up", "no-properties", "not-ready",
	"fatal", "other-cntlid", "no-keep-alive", "data-offset", "no-keyed-sgl",
	"small-capsule", "one-command", "no-queues", "io-reject", "io-connect-status",
	NULL
};

static const char *const answers[] = {
	"no-such-command", "old-generation", "free-tag", "twice", "short", "empty",
	"long", "other-key", "key-twice", "key-of-none", "write-beyond", "write-late",
	"read-back", "unasked-event", "flood", "hangs-up", "silent", NULL
};

static const char *fault;
static uint32_t cc;

struct conn {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	unsigned int qid;
	unsigned int sqsize;	/* as the request for the connection says */
	uint8_t (*capsules)[CAPSULE];
	uint8_t *data;
	uint8_t *response;
	uint32_t last_key;
};

/* Of admin queues; all requests are handled by threads of their own, one at a time */
static unsigned int connects;

static bool is(const char *name)
{
	return !strcmp(fault, name);
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* Wait until the operation has completed; scripts/nvme looks at its effect on the host */
static bool sent(struct conn *conn)
{
	struct ibv_wc wc;

	return rdma_get_send_comp(conn->id, &wc) == 1 && !wc.status;
}

static bool send_bytes(struct conn *conn, const void *from, size_t len)
{
	memcpy(conn->response, from, len);
	return !rdma_post_send(conn->id, NULL, conn->response, len, conn->mr,
			       IBV_SEND_SIGNALED) && sent(conn);
}

static void make_response(uint8_t *to, unsigned int cid, uint64_t result, uint16_t status)
{
	const uint64_t dw = htole64(result);

	memset(to, 0, 16);
	memcpy(to, &dw, sizeof(dw));
	to[12] = cid;
	to[13] = cid >> 8;
	to[14] = status << 1;
	to[15] = status >> 7;
}

static bool respond(struct conn *conn, unsigned int cid, uint64_t result, uint16_t status)
{
	uint8_t response[16];

	make_response(response, cid, result, status);
	return send_bytes(conn, response, sizeof(response));
}

static bool respond_ending(struct conn *conn, unsigned int cid, uint32_t key)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)conn->response, .length = 16, .lkey = conn->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = key,
	}, *bad;

	make_response(conn->response, cid, 0, 0);
	return !ibv_post_send(conn->id->qp, &wr, &bad) && sent(conn);
}

/* Moves @len bytes between conn->data and the memory that the command's keyed SGL describes */
static bool transfer(struct conn *conn, const uint8_t *cmd, size_t len, bool read)
{
	uint64_t addr = get64(cmd + 24);
	uint32_t key = get32(cmd + 35);
	int ret;

	ret = read ? rdma_post_read(conn->id, NULL, conn->data, len, conn->mr,
				    IBV_SEND_SIGNALED, addr, key) :
		     rdma_post_write(conn->id, NULL, conn->data, len, conn->mr,
				     IBV_SEND_SIGNALED, addr, key);
	return !ret && sent(conn);
}

static void fill(uint8_t *data)
{
	unsigned int i;

	for (i = 0; i < DATA_LEN; i++)
		data[i] = i * 7;
}

static bool answer_well(struct conn *conn, const uint8_t *cmd)
{
	fill(conn->data);
	conn->last_key = get32(cmd + 35);
	return transfer(conn, cmd, DATA_LEN, false) &&
	       respond_ending(conn, get16(cmd + 2), conn->last_key);
}

static bool answer_with_fault(struct conn *conn, const uint8_t *cmd)
{
	unsigned int i, cid = get16(cmd + 2);
	uint32_t key = get32(cmd + 35);
	uint8_t bytes[64];

	if (cmd[40] >= sizeof(answers) / sizeof(*answers) - 1)
		return respond(conn, cid, 0, NO_SUCH);
	fault = answers[cmd[40]];
	fill(conn->data);
	make_response(bytes, cid, 0, 0);
	if (is("no-such-command"))
		return respond(conn, 0xfff, 0, 0);
	if (is("old-generation"))
		return respond(conn, cid ^ 0x1000, 0, 0);
	if (is("free-tag"))
		return respond(conn, (cid & 0xfff) ? 0 : 1, 0, 0);
	if (is("twice"))
		return respond(conn, cid, 0, 0) && respond(conn, cid, 0, 0);
	if (is("short"))
		return send_bytes(conn, bytes, 15);
	if (is("empty"))
		return send_bytes(conn, bytes, 0);
	if (is("long"))
		return send_bytes(conn, bytes, sizeof(bytes));
	if (is("other-key"))
		return respond_ending(conn, cid, key ^ 0x5a00);
	if (is("key-twice"))
		return respond_ending(conn, cid, key) && respond_ending(conn, cid, key);
	if (is("key-of-none")) /* of the command before, which was answered well */
		return respond_ending(conn, cid, conn->last_key);
	if (is("write-beyond"))
		return transfer(conn, cmd, DATA_LEN + 1, false);
	if (is("write-late"))
		return respond_ending(conn, cid, key) &&
		       transfer(conn, cmd, DATA_LEN, false);
	if (is("read-back"))
		return transfer(conn, cmd, DATA_LEN, true);
	if (is("unasked-event"))
		return respond(conn, 31, 0, 0);
	if (is("flood")) {
		for (i = 0; i < 3 * DEPTH; i++)
			if (!respond(conn, 0xfff, 0, 0))
				return false;
		return true;
	}
	return is("silent");	/* or hangs up */
}

static uint64_t property(uint32_t offset)
{
	switch (offset) {
	case PROP_CAP:	/* NVM command set; ready within TO x 500 ms; queues of MQES + 1 */
		return 1ULL << 37 | 2ULL << 24 | (DEPTH - 1);
	case PROP_VS:
		return 0x10300;
	case PROP_CC:
		return cc;
	case PROP_CSTS:
		if (is("fatal") && cc & 1)
			return 2;
		if (cc >> 14 & 3)
			return 2 << 2;
		return is("not-ready") ? 0 : cc & 1;
	}
	return 0;
}

static bool fabrics(struct conn *conn, const uint8_t *cmd)
{
	unsigned int cid = get16(cmd + 2);

	switch (cmd[4]) {
	case FC_CONNECT:
		if (is("connect-hangs-up"))
			return false;
		if (is(conn->qid ? "io-connect-status" : "connect-status"))
			return respond(conn, cid, 0, CONNECT_INVALID);
		/* The command has to say again what the request for the connection has said */
		if (get16(cmd + 42) != conn->qid || get16(cmd + 44) != conn->sqsize)
			return respond(conn, cid, 0, CONNECT_INVALID);
		if (!conn->qid && ++connects > 1 && is("final"))
			return respond(conn, cid, 0, NO_SUCH);
		if (!conn->qid && connects == 2 && is("busy"))
			return respond(conn, cid, 0, BUSY);
		return respond(conn, cid, 1, 0);
	case FC_PROPERTY_GET:
		if (is("no-properties"))
			return respond(conn, cid, 0, NO_SUCH);
		return respond(conn, cid, property(get32(cmd + 44)), 0);
	case FC_PROPERTY_SET:
		if (get32(cmd + 44) == PROP_CC)
			cc = get32(cmd + 48);
		return respond(conn, cid, 0, 0);
	}
	return respond(conn, cid, 0, NO_SUCH);
}

static void id_ctrl(struct nvme_id_ctrl *id)
{
	memset(id, 0, sizeof(*id));
	memcpy(id->sn, "1                   ", sizeof(id->sn));
	memset(id->mn, ' ', sizeof(id->mn));
	memcpy(id->mn, "kofi", 4);
	memset(id->fr, ' ', sizeof(id->fr));
	id->cntlid = htole16(is("other-cntlid") ? 7 : 1);
	id->ver = htole32(0x10300);
	id->kas = htole16(is("no-keep-alive") ? 0 : 10);
	id->sqes = 0x66;
	id->cqes = 0x44;
	id->maxcmd = htole16(is("one-command") ? 1 : DEPTH);
	id->sgls = htole32(is("no-keyed-sgl") ? 1 : 1 | 1 << 2 | 1 << 20);
	snprintf(id->subnqn, sizeof(id->subnqn), "nqn.2026-01.org.example:kofi");
	id->ioccsz = htole32(is("small-capsule") ? 3 : CAPSULE / 16);
	id->iorcsz = htole32(1);
	id->icdoff = htole16(is("data-offset") ? 4 : 0);
}

static bool identify(struct conn *conn, const uint8_t *cmd)
{
	unsigned int cns = cmd[40];

	if (cns != 1 && cns != 2)
		return respond(conn, get16(cmd + 2), 0, NO_SUCH);
	memset(conn->data, 0, DATA_LEN);
	if (cns == 1)
		id_ctrl((void *)conn->data);
	return transfer(conn, cmd, DATA_LEN, false) && respond(conn, get16(cmd + 2), 0, 0);
}

/* Returns whether the connection goes on */
static bool serve(struct conn *conn, const uint8_t *cmd)
{
	unsigned int cid = get16(cmd + 2);

	switch (cmd[0]) {
	case OP_FABRICS:
		return fabrics(conn, cmd);
	case OP_IDENTIFY:
		return identify(conn, cmd);
	case OP_SET_FEATURES:
		/* Features: the number of queues, one of each kind */
		if (cmd[40] == 7 && is("no-queues"))
			return respond(conn, cid, 0, NO_SUCH);
		return respond(conn, cid, 0, 0);
	case OP_ASYNC_EVENT:
		return true;
	case OP_KEEP_ALIVE:
		return is("no-answer-to-keep-alive") || is("final") || is("busy") ||
		       respond(conn, cid, 0, 0);
	case SANE:
		return answer_well(conn, cmd);
	case ASK:
		return answer_with_fault(conn, cmd);
	}
	return respond(conn, cid, 0, NO_SUCH);
}

static bool receive(struct conn *conn, unsigned int i)
{
	return !rdma_post_recv(conn->id, (void *)(uintptr_t)i, conn->capsules[i], CAPSULE,
			       conn->mr);
}

static void *run(void *arg)
{
	struct conn *conn = arg;
	struct ibv_wc wc;

	while (rdma_get_recv_comp(conn->id, &wc) == 1 && !wc.status) {
		if (!serve(conn, conn->capsules[wc.wr_id]) || !receive(conn, wc.wr_id))
			break;
	}
	rdma_disconnect(conn->id);
	return NULL;
}

/* A connection's memory is freed when the process ends, which does not live long */
static int take(struct rdma_cm_id *id, unsigned int qid, unsigned int sqsize)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = { .rnr_retry_count = 2, .responder_resources = 4,
					 .initiator_depth = 4 };
	const size_t size = DEPTH * CAPSULE + 2 * DATA_LEN + 4096;
	struct conn *conn = calloc(1, sizeof(*conn));
	uint8_t early[16];
	pthread_t thread;
	void *memory;
	unsigned int i;

	if (!conn)
		return -1;
	id->context = conn;
	conn->id = id;
	if (posix_memalign(&memory, 4096, size) || rdma_create_qp(id, NULL, &attr))
		return -1;
	memset(memory, 0, size);
	conn->qid = qid;
	conn->sqsize = sqsize;
	conn->capsules = memory;
	conn->data = (uint8_t *)memory + DEPTH * CAPSULE;
	conn->response = conn->data + 2 * DATA_LEN;
	conn->mr = ibv_reg_mr(id->pd, memory, size, IBV_ACCESS_LOCAL_WRITE);
	if (!conn->mr)
		return -1;
	for (i = 0; i < DEPTH; i++)
		if (!receive(conn, i))
			return -1;
	if (rdma_accept(id, &param))
		return -1;
	if (is("early-response")) {
		make_response(early, 0, 0, 0);
		send_bytes(conn, early, sizeof(early));
	}
	return pthread_create(&thread, NULL, run, conn);
}

static int request(struct rdma_cm_id *id, const uint8_t *cm, size_t len)
{
	const unsigned int qid = len >= 8 ? get16(cm + 2) : 0;
	const unsigned int sqsize = len >= 8 ? get16(cm + 6) : 0;
	const uint8_t reason[4] = { 0, 0, 6, 0 };	/* no resources */

	if (is("reject-reason") || (is("io-reject") && qid))
		return rdma_reject(id, reason, sizeof(reason));
	if (is("reject-short"))
		return rdma_reject(id, reason, 1);
	if (is("reject-no-data"))
		return rdma_reject(id, NULL, 0);
	if (is("no-reply"))
		return 0;
	return take(id, qid, sqsize);
}

static int listen_at(const char *address, const char *port)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (!channel || inet_pton(AF_INET, address, &name.sin_addr) != 1 ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (void *)&name) || rdma_listen(id, 16)) {
		perror("nvme-target: cannot listen");
		return 1;
	}
	puts("listening");
	fflush(stdout);
	while (!rdma_get_cm_event(channel, &event)) {
		if (event->event == RDMA_CM_EVENT_DISCONNECTED)
			rdma_disconnect(event->id);
		else if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
			 request(event->id, event->param.conn.private_data,
				 event->param.conn.private_data_len))
			perror("nvme-target: a request"); /* may be over by now */
		rdma_ack_cm_event(event);
	}
	perror("nvme-target");
	return 1;
}

static int list(const char *const *names)
{
	while (*names)
		puts(*names++);
	return 0;
}

int main(int argc, char **argv)
{
	uint8_t data[DATA_LEN];

	if (argc == 2 && !strcmp(argv[1], "--setups"))
		return list(setups);
	if (argc == 2 && !strcmp(argv[1], "--answers"))
		return list(answers);
	if (argc == 2 && !strcmp(argv[1], "--data")) {
		fill(data);
		return fwrite(data, sizeof(data), 1, stdout) != 1;
	}
	if (argc != 4) {
		fputs("usage: nvme-target ADDRESS PORT FAULT; see the top of its source\n",
		      stderr);
		return 2;
	}
	fault = argv[3];
	return listen_at(argv[1], argv[2]);
}
