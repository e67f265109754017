// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The connection of an endpoint.
 *
 *	ENABLED --fi_connect()--> CONNECTING --ESTABLISHED--> CONNECTED
 *	ENABLED --fi_accept()---> CONNECTING --ESTABLISHED--> CONNECTED
 *	any --fi_shutdown(), the peer, an error--> DOWN
 *	any --the device's end--> GONE
 *
 * FI_OPT_CONNECT_TIMEOUT limits the time in CONNECTING: rdma_cm gives up by itself, too, but the
 * peer can put that off for days.
 *
 * DOWN leads to nothing but GONE.  On entry to each of the two the queue pair goes to the error
 * state, so everything posted completes.  The client gets one event: FI_SHUTDOWN if the
 * connection was established, an error if it was not or if the device has gone.
 *
 * Every transition is made under the handler lock of the rdma_cm_id, by its event handler or by a
 * control call, which also queues the event.  The client's handlers run elsewhere (kofi/eq.c),
 * without this lock.
 *
 * On the wire (libfabric 1.17 and 2.x, verbs provider): RDMA_PS_TCP; connection data behind one
 * length byte in REQ, REP and REJ, unless FI_OPT_CM_DATA_RAW is set; behind them, in REQ and REP,
 * the offer of save.h, where libfabric does not look; rnr_retry 7, that is, for ever; depths of
 * reads and atomics as large as both devices can.
 */
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include <linux/sched/mm.h>
#include <rdma/ib_cm.h>
#include "../cm.h"
#include "../ep.h"
#include "../op.h"
#include "../save/save.h"
#include "../verbs.h"

/* InfiniBand allows 7, but with 7 rxe retries for ever and never reports that a peer is gone */
#define VERBS_RETRY_COUNT	6
#define VERBS_RNR_FOR_EVER	7

/* FI_OPT_CM_DATA_RAW is an int */
int verbs_set_raw(bool *raw, const void *optval, size_t optlen)
{
	int value, ret = kofi_opt_get(&value, sizeof(value), optval, optlen);

	if (!ret)
		*raw = value;
	return ret;
}

int verbs_get_raw(bool raw, void *optval, size_t *optlen)
{
	int value = raw;

	return kofi_opt_put(&value, sizeof(value), optval, optlen);
}

/* @limit: bytes of private data that the message has room for */
int verbs_cm_pack(struct verbs_cm_frame *frame, const void *param, size_t len,
		  size_t limit)
{
	limit = frame->raw ? limit : VERBS_CM_DATA;
	if (len > limit || (len && !param))
		return kofi_refuse("connect, accept or reject", -EINVAL, "paramlen is %zu; FI_OPT_CM_DATA_SIZE is %zu",
				   len, limit);
	frame->len = len;
	frame->more = 0;
	if (!frame->raw)
		frame->wire[0] = len;
	if (len)
		memcpy(verbs_cm_data(frame), param, len);
	return 0;
}

/* Adds the offer of save.h behind the client's data, if the message has room for it */
static void verbs_cm_offer(struct verbs_ep *ep, size_t limit)
{
	struct verbs_cm_frame *frame = &ep->frame;
	struct verbs_save_offer offer;

	if (!ep->saves || frame->raw || verbs_cm_wire_len(frame) + sizeof(offer) > limit)
		return;
	verbs_save_make_offer(ep->saves, &offer);
	memcpy(verbs_cm_data(frame) + frame->len, &offer, sizeof(offer));
	frame->more = sizeof(offer);
}

/* @data: behind the client's.  save_end.c uses what the peer claims only to connect to the peer */
static void verbs_cm_take_offer(struct verbs_cm_frame *frame, const void *data, size_t len)
{
	struct verbs_save_offer offer;

	frame->offer_port = 0;
	if (len < sizeof(offer))
		return;
	memcpy(&offer, data, sizeof(offer));
	if (be32_to_cpu(offer.magic) != VERBS_SAVE_MAGIC ||
	    be16_to_cpu(offer.version) != VERBS_SAVE_VERSION)
		return;
	frame->offer_port = be16_to_cpu(offer.port);
	frame->offer_token = be64_to_cpu(offer.token);
}

/*
 * InfiniBand delivers the whole field, however little the peer has sent in it; iWARP delivers
 * what the peer has sent.  Raw data are all of the field.  Otherwise the length byte is the
 * peer's claim, to be checked.
 */
int verbs_cm_unpack(struct verbs_cm_frame *frame, const void *data, size_t len)
{
	const u8 *bytes = data;

	frame->len = 0;
	if (!data || !len)
		return 0;
	if (frame->raw) {
		frame->len = min(len, sizeof(frame->wire));
	} else {
		if (bytes[0] > VERBS_CM_DATA || bytes[0] > len - 1)
			return -EPROTO;
		frame->len = *bytes++;
		verbs_cm_take_offer(frame, bytes + frame->len, len - 1 - frame->len);
	}
	memcpy(verbs_cm_data(frame), bytes, frame->len);
	return 0;
}

/*
 * Reports to the client that the attempt to connect has failed, without a message to the peer.
 * The caller holds the handler lock.
 */
static void verbs_ep_fail(struct verbs_ep *ep, int err, int prov_errno)
{
	kofi_conn_end(&ep->kep.conn, err, prov_errno, NULL, 0);
	verbs_ep_flush(ep);
}

/*
 * Ends the connection from this side; the state is DOWN.  iWARP closes gracefully, so sent
 * messages arrive.  But siw then forgets reads that wait for an answer and messages that it has
 * not begun to send.  While operations may be in flight, the queue pair goes to the error state
 * first, which flushes them and breaks the connection off.
 */
void verbs_ep_hang_up(struct verbs_ep *ep)
{
	unsigned long flags;

	if (ep->iwarp && ep->qp) {
		/* Waits for posters that have seen another state: ->busy counts them then */
		spin_lock_irqsave(&ep->tx.lock, flags);
		spin_unlock_irqrestore(&ep->tx.lock, flags);
		if (atomic_read(&ep->busy))
			verbs_ep_flush(ep);
	}
	rdma_disconnect(ep->id);
}

/*
 * During CONNECTING the iWARP connection manager would disconnect only after the peer's answer,
 * which waits for the handler lock.  So only the queue pair goes to the error state, and
 * verbs_cm_handler() disconnects if the peer accepts.
 */
static void verbs_ep_end(struct verbs_ep *ep, int err)
{
	bool stood = ep->kep.conn.state == KOFI_CONN_CONNECTED;

	kofi_conn_end(&ep->kep.conn, err, 0, NULL, 0);
	if (stood || !rdma_cap_iw_cm(ep->id->device, ep->id->port_num))
		verbs_ep_hang_up(ep);
	verbs_ep_flush(ep);
}

void verbs_ep_disconnected(struct verbs_ep *ep)
{
	verbs_ep_end(ep, ECONNABORTED);
}

static void verbs_ep_established(struct verbs_ep *ep,
				 const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	const void *data = NULL;

	if (ep->kep.conn.state != KOFI_CONN_CONNECTING)
		return;
	/* The passive side has got data and limits with the request */
	if (!ep->kep.conn.passive) {
		if (verbs_cm_unpack(&ep->frame, param->private_data,
				    param->private_data_len)) {
			rdma_disconnect(ep->id);
			verbs_ep_fail(ep, EPROTO, 0);
			return;
		}
		data = verbs_cm_data(&ep->frame);
		/* iWARP drivers disagree on which of the two limits reads */
		ep->may_read = param->initiator_depth ||
			       (ep->iwarp && param->responder_resources);
	}
	kofi_conn_establish(&ep->kep.conn, data, ep->frame.len);
}

static void verbs_ep_rejected(struct verbs_ep *ep, struct rdma_cm_event *event)
{
	const void *data = event->param.conn.private_data;
	u8 len = event->param.conn.private_data_len;

	/* The peer has closed its end before the last message of the handshake */
	if (ep->kep.conn.state == KOFI_CONN_CONNECTED) {
		verbs_ep_disconnected(ep);
		return;
	}

	/* Only InfiniBand's status says whether the peer's client has rejected; siw's says reset */
	if (!ep->iwarp)
		data = rdma_consumer_reject_data(ep->id, event, &len);
	/* Malformed data count as none; the connection is refused anyway */
	verbs_cm_unpack(&ep->frame, data, len);
	kofi_conn_end(&ep->kep.conn, ep->kep.conn.passive ? ECONNABORTED : ECONNREFUSED,
		      -event->status, verbs_cm_data(&ep->frame), ep->frame.len);
	verbs_ep_flush(ep);
}

/* The peer does not answer, or its route has changed, maybe on an established connection */
static void verbs_ep_unreachable(struct verbs_ep *ep, int status)
{
	if (ep->kep.conn.state == KOFI_CONN_CONNECTED)
		verbs_ep_disconnected(ep);
	else
		verbs_ep_fail(ep, ETIMEDOUT, -status);
}

/*
 * Over iWARP the end that has accepted may use the connection at once, and break it before its
 * answer has been dealt with here.  Some devices also report so that they find no way to the peer;
 * the client sees the status in prov_errno.
 */
static void verbs_ep_connect_error(struct verbs_ep *ep, int status)
{
	if (ep->iwarp && ep->kep.conn.state == KOFI_CONN_CONNECTING)
		verbs_ep_fail(ep, ECONNRESET, -status);
	else
		verbs_ep_unreachable(ep, status);
}

static void verbs_ep_conn_param(struct verbs_ep *ep,
				struct rdma_conn_param *param)
{
	const struct ib_device_attr *attrs = &ep->id->device->attrs;

	*param = (struct rdma_conn_param) {
		.private_data		= ep->frame.wire,
		.private_data_len	= verbs_cm_wire_len(&ep->frame),
		.responder_resources	= min(attrs->max_qp_rd_atom, U8_MAX),
		.initiator_depth	= min(attrs->max_qp_init_rd_atom,
					      U8_MAX),
		.flow_control		= 1,
		.retry_count		= VERBS_RETRY_COUNT,
		.rnr_retry_count	= VERBS_RNR_FOR_EVER,
	};
	if (!ep->kep.conn.passive)
		return;
	param->responder_resources = min(param->responder_resources,
					 ep->conn.responder_resources);
	param->initiator_depth = min(param->initiator_depth,
				     ep->conn.initiator_depth);
}

static void verbs_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_ep *ep = id->context;
	struct rdma_conn_param param;
	int ret = 0;

	if (ep->kep.conn.passive)
		complete_all(&ep->settled);
	if (ep->kep.conn.closing || ep->kep.conn.state >= KOFI_CONN_DOWN) {
		if (event->event == RDMA_CM_EVENT_ESTABLISHED)
			rdma_disconnect(id);
		return;
	}

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = rdma_resolve_route(id, VERBS_RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		verbs_ep_conn_param(ep, &param);
		ret = rdma_connect_locked(id, &param);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		verbs_ep_established(ep, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		verbs_ep_rejected(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		verbs_ep_unreachable(ep, event->status);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		verbs_ep_connect_error(ep, event->status);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		verbs_ep_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		verbs_ep_fail(ep, ENODEV, 0);
		break;
	default:
		break;
	}
	if (ret)
		verbs_ep_fail(ep, -ret, -ret);
}

/* In a worker of rdma_cm.  Writeback may wait for the connection, or for its end */
int verbs_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	unsigned int noio = memalloc_noio_save();

	verbs_cm_event(id, event);
	memalloc_noio_restore(noio);
	return 0;
}

/*
 * Delayed work: an operation has failed, and with it the queue pair.  Writeback may wait for
 * operations that end here, so allocations of drivers must not wait for I/O.
 */
void verbs_cm_broken(struct work_struct *work)
{
	struct verbs_ep *ep = container_of(to_delayed_work(work),
					   struct verbs_ep, broken);
	const struct kofi_conn *conn = &ep->kep.conn;
	unsigned int noio = memalloc_noio_save();

	rdma_lock_handler(ep->id);
	/* An operation may fail before the last message of the handshake has come */
	if (conn->state == KOFI_CONN_CONNECTED ||
	    conn->state == KOFI_CONN_CONNECTING)
		verbs_ep_disconnected(ep);
	else if (!conn->closing)
		verbs_batch_end_partial(ep, false);
	rdma_unlock_handler(ep->id);
	verbs_end_refused(ep);
	memalloc_noio_restore(noio);
}

/* Delayed work: the peer has not answered in time */
void verbs_cm_late(struct work_struct *work)
{
	struct verbs_ep *ep = container_of(to_delayed_work(work),
					   struct verbs_ep, kep.conn.late);
	unsigned int noio = memalloc_noio_save();

	rdma_lock_handler(ep->id);
	if (ep->kep.conn.state == KOFI_CONN_CONNECTING)
		verbs_ep_end(ep, ETIMEDOUT);
	rdma_unlock_handler(ep->id);
	memalloc_noio_restore(noio);
}

void verbs_cm_device_gone(struct verbs_res *res)
{
	struct verbs_ep *ep = container_of(res, struct verbs_ep, res);

	rdma_lock_handler(ep->id);
	/* Sets GONE after a drain, too: regions check the state (mr_ep.c) */
	kofi_conn_gone(&ep->kep.conn);
	rdma_unlock_handler(ep->id);
}

void verbs_cm_halt(struct verbs_res *res)
{
	struct verbs_ep *ep = container_of(res, struct verbs_ep, res);

	rdma_lock_handler(ep->id);
	if (!ep->kep.conn.closing)
		verbs_ep_flush(ep);
	rdma_unlock_handler(ep->id);
}

static int verbs_ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	/* The id is bound from the start */
	return kofi_refuse("setname", -FI_EOPBADSTATE, "an endpoint has the address of its info->src_addr, for good");
}

static int verbs_ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	struct sockaddr_storage src;
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	src = verbs_id_src(ep->id);
	ret = kofi_addr_copy_out(&src, addr, addrlen);
	verbs_ep_leave(ep);
	return ret;
}

static int verbs_ep_getpeer(struct fid_ep *fid_ep, void *addr, size_t *addrlen)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct sockaddr_storage dest;
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	if (READ_ONCE(ep->kep.conn.state) == KOFI_CONN_CONNECTED) {
		dest = verbs_id_dest(ep->id);
		ret = kofi_addr_copy_out(&dest, addr, addrlen);
	} else {
		ret = kofi_conn_refuse("getpeer", &ep->kep.conn, -ENOTCONN, "connected");
	}
	verbs_ep_leave(ep);
	return ret;
}

static int verbs_ep_dest(struct verbs_ep *ep, const void *addr,
			 struct sockaddr_storage *dest)
{
	u16 family;

	if (!addr) {
		*dest = (struct sockaddr_storage) {};
		memcpy(dest, &ep->dest, sizeof(ep->dest));
		if (dest->ss_family)
			return 0;
		return kofi_refuse("connect", -EADDRNOTAVAIL, "addr is NULL, and the endpoint was opened without info->dest_addr");
	}
	/* The family must be that of the info */
	family = ((const struct sockaddr *)addr)->sa_family;
	if (family != ep->id->route.addr.src_addr.ss_family)
		return kofi_refuse("connect", -EINVAL, "addr is of the family %d, but the endpoint has an address of the family %d",
				   family, ep->id->route.addr.src_addr.ss_family);
	return kofi_addr_get("connect", "addr", dest, addr, family == AF_INET6 ?
			     sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
}

static int verbs_ep_connect(struct fid_ep *fid_ep, const void *addr,
			    const void *param, size_t paramlen)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct sockaddr_storage dest;
	int ret;

	ret = verbs_ep_lock(ep);
	if (ret)
		return ret;
	ret = kofi_conn_may_start(&ep->kep.conn, false);
	if (ret)
		goto unlock;
	ret = verbs_ep_dest(ep, addr, &dest);
	if (ret)
		goto unlock;
	if (kofi_addr_any(&dest))
		ret = kofi_refuse("connect", -EINVAL, "addr is the wildcard address, which no peer has");
	else
		ret = verbs_cm_pack(&ep->frame, param, paramlen, VERBS_CM_REQ);
	if (ret)
		goto unlock;

	verbs_cm_offer(ep, VERBS_CM_REQ);
	kofi_conn_start(&ep->kep.conn, verbs_wq);
	ret = rdma_resolve_addr(ep->id, NULL, (struct sockaddr *)&dest, VERBS_RESOLVE_MS);
	/* A failure is an event, whether rdma_cm reports it now or later */
	if (ret)
		verbs_ep_fail(ep, -ret, -ret);
	ret = 0;
unlock:
	verbs_ep_unlock(ep);
	return ret;
}

static int verbs_ep_accept(struct fid_ep *fid_ep, const void *param,
			   size_t paramlen)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct rdma_conn_param conn;
	int ret;

	ret = verbs_ep_lock(ep);
	if (ret)
		return ret;
	ret = kofi_conn_may_start(&ep->kep.conn, true);
	if (!ret)
		ret = verbs_cm_pack(&ep->frame, param, paramlen, VERBS_CM_REP);
	if (ret)
		goto unlock;

	verbs_cm_offer(ep, VERBS_CM_REP);
	verbs_ep_conn_param(ep, &conn);
	ep->may_read = conn.initiator_depth;
	kofi_conn_start(&ep->kep.conn, verbs_wq);
	ret = rdma_accept(ep->id, &conn);
	if (ret) {
		/* rdma_accept() has rejected the request */
		kofi_conn_set_state(&ep->kep.conn, KOFI_CONN_DOWN);
		verbs_ep_flush(ep);
		ret = kofi_refuse("accept", -ECONNABORTED, "the peer of the request has gone");
	} else {
		ep->accepted = true;
		ep->accepted_at = jiffies;
	}
unlock:
	verbs_ep_unlock(ep);
	return ret;
}

static int verbs_ep_shutdown(struct fid_ep *fid_ep, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	int ret = verbs_ep_lock(ep);

	if (ret)
		return ret;
	if (ep->kep.conn.state == KOFI_CONN_CONNECTED || ep->kep.conn.state == KOFI_CONN_CONNECTING)
		verbs_ep_disconnected(ep);
	else if (ep->kep.conn.state != KOFI_CONN_DOWN)
		ret = kofi_conn_refuse("shutdown", &ep->kep.conn, -ENOTCONN, "connected");
	verbs_ep_unlock(ep);
	return ret;
}

const struct fi_ops_cm verbs_ep_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= verbs_ep_setname,
	.getname	= verbs_ep_getname,
	.getpeer	= verbs_ep_getpeer,
	.connect	= verbs_ep_connect,
	.listen		= fi_no_listen,
	.accept		= verbs_ep_accept,
	.reject		= fi_no_reject,
	.shutdown	= verbs_ep_shutdown,
	.join		= fi_no_join,
};
