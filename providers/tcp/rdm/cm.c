// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How a connection between two endpoints without connections begins.
 *
 * Each end has a listener, and either may dial.  The request names the port of the listener of
 * the end that dials.  The address of the connection with this port is the address that the
 * accepting end has in its address vector.  The request also names the incarnation of its
 * sender: a random number that an endpoint chooses when it is opened.
 *
 * Two ends have one connection.  If both dial at once, the request of the end with the larger
 * address counts (ktcp_rdm_judge()):
 *
 *	no connection		accept
 *	we dial, too		the peer's address is larger: accept, and drop ours;
 *				smaller: refuse, the peer will accept ours;
 *	from the own address	the endpoint dials itself, and has both ends, if the request
 *				comes from the socket that dials; else refuse: another process
 *				of this machine claims to be the endpoint
 *	a connection stands	refuse, if it is the same incarnation and the connection has not
 *				been seen to end; else accept, and drop the old one
 */
#include <linux/module.h>
#include "rdm.h"

/* What is done with a request */
enum ktcp_verdict {
	KTCP_REFUSE,
	KTCP_ACCEPT,
	KTCP_ACCEPT_SELF,
};

/* Does a request come from the socket by which the endpoint dials a peer? */
static bool ktcp_link_has_asked(const struct ktcp_link *link, const struct ktcp_req *req)
{
	struct sockaddr_storage name, from;

	return link && link->dialling && !ktcp_sock_name(link->conn.sk.sock, false, &name) &&
	       !ktcp_sock_name(req->sk.sock, true, &from) && kofi_addr_equal(&name, &from);
}

static enum ktcp_verdict ktcp_rdm_judge(const struct ktcp_peer *peer, const struct ktcp_req *req,
					u32 pid)
{
	const struct ktcp_link *link = peer->link;

	lockdep_assert_held(&ktcp_cm_lock);
	if (kofi_addr_equal(&peer->addr, &peer->rdm->name))
		return ktcp_link_has_asked(link, req) ? KTCP_ACCEPT_SELF : KTCP_REFUSE;
	if (!link)
		return KTCP_ACCEPT;
	if (link->dialling)
		return kofi_addr_cmp(&peer->addr, &peer->rdm->name) < 0 ?
		       KTCP_REFUSE : KTCP_ACCEPT;
	return link->pid == pid &&
	       READ_ONCE(link->conn.sk.sock->sk->sk_state) == TCP_ESTABLISHED ?
	       KTCP_REFUSE : KTCP_ACCEPT;
}

/* What an endpoint says of itself in a request, or in the response to one */
static void ktcp_rdm_say(const struct ktcp_rdm *rdm, struct ktcp_wire_rdm *msg)
{
	*msg = (struct ktcp_wire_rdm) {
		.version	= TCP_WIRE_RDM_VERSION,
		.port		= cpu_to_be16(kofi_addr_port(&rdm->name)),
		.pid		= cpu_to_be32(rdm->pid),
	};
}

/**
 * ktcp_link_request() - Write the request of a connection that dials
 * @link: the connection, which is ktcp_peer.link already
 *
 * Context: any, before its worker runs.
 */
void ktcp_link_request(struct ktcp_link *link)
{
	struct ktcp_wire_ctx msg = { .index = cpu_to_be16(link->index) };

	ktcp_rdm_say(link->rdm, &msg.rdm);
	link->conn.request = link->index ? TCP_WIRE_CTXREQ : TCP_WIRE_CONNREQ;
	link->conn.cm_msg.have = link->index ? sizeof(msg) : sizeof(msg.rdm);
	memcpy(link->conn.cm_msg.data, &msg, link->conn.cm_msg.have);
}

/* Reads what a peer says of itself; returns whether that is valid */
static bool ktcp_rdm_hear(const struct ktcp_cm_msg *cm, struct ktcp_wire_rdm *msg)
{
	if (cm->have != sizeof(cm->cm) + sizeof(*msg))
		return false;
	memcpy(msg, cm->data, sizeof(*msg));
	return msg->pid;
}

/* Why a peer has refused */
static int ktcp_link_refused(const struct ktcp_link *link)
{
	const struct ktcp_cm_msg *cm = &link->conn.cm_msg;
	struct ktcp_wire_ctx msg;

	if (!link->index || cm->have != sizeof(cm->cm) + sizeof(msg))
		return -EALREADY;
	memcpy(&msg, cm->data, sizeof(msg));
	return be16_to_cpu(msg.reason) == TCP_WIRE_CTX_NONE ? -ECONNREFUSED : -EALREADY;
}

/* Notes what the peer's request or response says that the peer understands */
static void ktcp_link_know_peer(struct ktcp_link *link, const struct ktcp_wire_cm *cm)
{
	link->conn.leaves = ktcp_cm_can(cm, TCP_WIRE_CAN_LEAVE);
	link->conn.refuses = ktcp_cm_can(cm, TCP_WIRE_CAN_REFUSE);
	link->conn.declines = link->conn.refuses && ktcp_cm_can(cm, TCP_WIRE_CAN_DECLINE);
	link->conn.tagged_rma = link->conn.refuses && ktcp_cm_can(cm, TCP_WIRE_CAN_TAGGED);
	link->contexts = ktcp_cm_can(cm, TCP_WIRE_CAN_CTX);
}

/**
 * ktcp_link_responded() - Look for the response to the request
 * @link: a connection in KTCP_ASKED, by its worker
 *
 * Context: may sleep.
 * Return: 0: the connection stands; -EAGAIN: the response is to come; -EALREADY: the peer has
 * refused; -ECONNREFUSED: it has no such receive context; another negative errno: the attempt
 * has failed.
 */
int ktcp_link_responded(struct ktcp_link *link)
{
	struct ktcp_conn *conn = &link->conn;
	int type = ktcp_cm_recv(conn->sk.sock, &conn->cm_msg);
	struct ktcp_wire_rdm msg;
	unsigned int noio;
	int ret = 0;

	if (ktcp_cm_is_foul(type, TCP_WIRE_CONNRESP, TCP_WIRE_NACK))
		return ktcp_conn_violated(conn, KTCP_BAD_RESPONSE);
	if (type < 0)
		return type;
	if (type == TCP_WIRE_NACK)
		return ktcp_link_refused(link);
	if (!ktcp_rdm_hear(&conn->cm_msg, &msg))
		return ktcp_conn_violated(conn, KTCP_BAD_RESPONSE);
	noio = ktcp_cm_enter();
	if (link->over) {
		ret = -EAGAIN;
	} else {
		link->pid = be32_to_cpu(msg.pid);
		/* A peer that only repeats our version knows of no versions */
		conn->rendezvous = msg.version == (TCP_WIRE_RDM_CHECKED | TCP_WIRE_RDM_VERSION);
		ktcp_link_know_peer(link, &conn->cm_msg.cm);
		ktcp_link_opened(link);
	}
	ktcp_cm_leave(noio);
	return ret;
}

/* Respond to the request of a new connection; false: the connection has ended, as that failed */
static bool ktcp_link_respond(struct ktcp_link *link, struct ktcp_req *req,
			      const struct ktcp_wire_rdm *msg)
{
	struct ktcp_wire_rdm response;
	int ret;

	ktcp_rdm_say(link->rdm, &response);
	/* libfabric's responses repeat these, too */
	response.port = msg->port;
	response.features = msg->features & TCP_WIRE_RDM_FIREWALL;
	if (response.version > msg->version)
		response.version = msg->version;
	if (msg->version)
		response.version |= TCP_WIRE_RDM_CHECKED;
	ret = ktcp_cm_send(req->sk.sock, TCP_WIRE_CONNRESP, ktcp_conn_can(&link->conn), &response,
			   sizeof(response));
	if (ret) {
		ktcp_link_end(link, -ret);
		return false;
	}
	link->pid = be32_to_cpu(msg->pid);
	link->conn.rendezvous = msg->version >= TCP_WIRE_RDM_VERSION;
	ktcp_link_know_peer(link, &req->msg.cm);
	link->conn.few_reads = ktcp_accepts_few(&req->msg.cm);
	return true;
}

/* Accepts a request of a peer, or of the endpoint itself; false: it is still the caller's */
static bool ktcp_rdm_accept(struct ktcp_peer *peer, struct ktcp_req *req,
			    const struct ktcp_wire_rdm *msg, bool self)
{
	/* A connection that was accepted makes room for the one that comes in its place */
	bool instead = !self && peer->link && peer->link->accepted;
	struct ktcp_link *link;

	if (!instead && !ktcp_source_may_connect(peer->rdm, &peer->addr))
		return false;
	link = ktcp_link_new(peer->rdm, &peer->addr);
	if (!link || !ktcp_link_respond(link, req, msg))
		return false;
	/* Operations that wait for the old connection wait for the new one now */
	if (!self && peer->link)
		ktcp_link_drop(peer->link, ECONNRESET);
	peer->firewall = msg->features & TCP_WIRE_RDM_FIREWALL;
	ktcp_link_accept(link, self ? NULL : peer, req);
	return true;
}

/* As ktcp_rdm_accept(), for a receive context; the connection takes over the reference to it */
static bool ktcp_ctx_accept(struct ktcp_rdm *rdm, struct ktcp_req *req,
			    const struct ktcp_wire_ctx *msg, const struct sockaddr_storage *addr,
			    struct kofi_soft_ep *ctx)
{
	struct ktcp_link *link = NULL;

	if (ktcp_source_may_connect(rdm, addr))
		link = ktcp_link_new(rdm, addr);
	if (!link) {
		kofi_soft_ep_put(ctx);
		return false;
	}
	link->index = ctx->index;
	ktcp_link_bind(link, ctx);
	if (!ktcp_link_respond(link, req, &msg->rdm))
		return false;
	ktcp_link_accept(link, NULL, req);
	return true;
}

/* Does somebody else claim to be this endpoint? */
static bool ktcp_ctx_is_claimed(struct ktcp_rdm *rdm, const struct ktcp_req *req,
				const struct sockaddr_storage *addr, u32 index)
{
	const struct ktcp_peer *peer;

	if (!kofi_addr_equal(addr, &rdm->name))
		return false;
	peer = ktcp_peer_find(rdm, addr, index);
	return !peer || !ktcp_link_has_asked(peer->link, req);
}

/*
 * A peer connects to a receive context.  Only the peer sends operations by this connection, so
 * neither the rule of simultaneous requests nor the table of peers applies.
 */
static void ktcp_ctx_asked(struct ktcp_rdm *rdm, struct ktcp_req *req)
{
	const struct ktcp_cm_msg *cm = &req->msg;
	struct kofi_soft_ep *ctx = NULL;
	struct sockaddr_storage addr;
	struct ktcp_wire_ctx msg = {};

	if (cm->have == sizeof(cm->cm) + sizeof(msg))
		memcpy(&msg, cm->data, sizeof(msg));
	if (!msg.rdm.pid || !msg.rdm.port || !msg.index) {
		ktcp_violated(rdm->listener.fid, req->sk.sock, KTCP_BAD_REQUEST);
		goto free_req;
	}
	if (ktcp_sock_name(req->sk.sock, true, &addr))
		goto free_req;
	kofi_addr_set_port(&addr, be16_to_cpu(msg.rdm.port));
	if (ktcp_ctx_is_claimed(rdm, req, &addr, be16_to_cpu(msg.index)))
		goto refuse;
	ctx = ktcp_ctx_find(rdm, be16_to_cpu(msg.index));
	if (ctx && ktcp_ctx_accept(rdm, req, &msg, &addr, ctx))
		return;
refuse:
	msg.reason = cpu_to_be16(ctx ? TCP_WIRE_CTX_LATER : TCP_WIRE_CTX_NONE);
	ktcp_cm_send(req->sk.sock, TCP_WIRE_NACK, 0, &msg, sizeof(msg));
free_req:
	ktcp_req_free(req);
}

/**
 * ktcp_rdm_asked() - A peer connects
 * @listener: the listener of the endpoint
 * @req: the request
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_rdm_asked(struct ktcp_listener *listener, struct ktcp_req *req)
{
	struct ktcp_rdm *rdm = container_of(listener, struct ktcp_rdm, listener);
	enum ktcp_verdict verdict = KTCP_REFUSE;
	struct ktcp_peer *peer = NULL;
	struct sockaddr_storage addr;
	struct ktcp_wire_rdm msg;
	bool heard;

	lockdep_assert_held(&ktcp_cm_lock);
	if (req->msg.cm.type == TCP_WIRE_CTXREQ) {
		ktcp_ctx_asked(rdm, req);
		return;
	}
	heard = ktcp_rdm_hear(&req->msg, &msg);
	if (!heard || !msg.port) {
		ktcp_violated(listener->fid, req->sk.sock, KTCP_BAD_REQUEST);
	} else if (!ktcp_sock_name(req->sk.sock, true, &addr)) {
		kofi_addr_set_port(&addr, be16_to_cpu(msg.port));
		peer = ktcp_peer_get(rdm, &addr, 0);
	}
	if (peer)
		verdict = ktcp_rdm_judge(peer, req, be32_to_cpu(msg.pid));
	if (verdict == KTCP_REFUSE ||
	    !ktcp_rdm_accept(peer, req, &msg, verdict == KTCP_ACCEPT_SELF)) {
		/* libfabric expects the data of its request in the refusal */
		ktcp_cm_send(req->sk.sock, TCP_WIRE_NACK, 0, &msg, heard ? sizeof(msg) : 0);
		ktcp_req_free(req);
	}
	if (peer)
		ktcp_peer_settle(peer);
}
