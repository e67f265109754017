// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections and what comes with them; interop.h says which ones are made.
 *
 * The end that listens sees the data of a request, the one that connects those of
 * the answer; the other one counts what it has sent.
 *
 * Whoever accepted an attempt hangs up: it knows that the connection stands at both
 * ends.  The other one could be so fast that its peer never gets FI_CONNECTED.
 *
 * Life: one fabric, event queue, domain and completion queue for all connections,
 * in that order, and an endpoint for each.  interop_close() takes whatever there
 * is.
 */
#include "interop.h"

union interop_event {
	struct fi_eq_cm_entry	cm;
	__u8			raw[sizeof(struct fi_eq_cm_entry) + INTEROP_CM_DATA];
};

/* Attempts, two for each length; then the connection for the data */
static unsigned int interop_attempts(const struct interop_end *end)
{
	return 2 * (end->plan->cm_data / end->plan->cm_step + 1);
}

static bool interop_is_rejected(unsigned int attempt)
{
	return !(attempt % 2);
}

/* All lengths occur in each kind, and differ from each other in an attempt. */
static size_t interop_cm_len(const struct interop_end *end,
			     enum interop_case which, unsigned int attempt)
{
	unsigned int len = attempt / 2 * end->plan->cm_step;

	switch (which) {
	case INTEROP_REQUEST:
		return len;
	case INTEROP_ACCEPT:
		return end->plan->cm_data - len;
	default:
		return (len + 19) % (end->plan->cm_data + 1);
	}
}

static size_t interop_cm_fill(const struct interop_end *end, enum interop_case which,
			      unsigned int attempt, __u8 *data)
{
	size_t len = interop_cm_len(end, which, attempt), i;

	for (i = 0; i < len; i++)
		data[i] = interop_hash(which * interop_attempts(end) + attempt, i);
	return len;
}

/* Connection data that have come: are they what the peer has sent? */
static void interop_cm_check(struct interop_end *end, enum interop_case which,
			     unsigned int attempt, const void *data, size_t len)
{
	__u8 want[INTEROP_CM_DATA];
	size_t want_len = interop_cm_fill(end, which, attempt, want);

	interop_count(end, false, which, 1, len);
	if (len != want_len)
		interop_bad(end, false, which, "%zu bytes came instead of %zu", len, want_len);
	else if (len && memcmp(data, want, len))
		interop_bad(end, false, which, "%zu bytes came with errors", len);
}

static int interop_event_error(struct interop_end *end, struct fi_eq_err_entry *error)
{
	ssize_t ret = fi_eq_readerr(end->eq, error, 0);

	if (ret < 0)
		return ret;
	return -error->err;
}

/* The next event, as fi_eq_sread() gives it */
static ssize_t interop_event(struct interop_end *end, __u32 *got, union interop_event *event)
{
	int step = end->cq_moves_eq ? INTEROP_LOOK_MS : INTEROP_PATIENCE_MS;
	int waited = 0;
	ssize_t ret;

	do {
		if (end->cq_moves_eq && end->cq)
			fi_cq_read(end->cq, NULL, 0);
		ret = fi_eq_sread(end->eq, got, event, sizeof(*event), step, 0);
		waited += step;
	} while (ret == -EAGAIN && waited < INTEROP_PATIENCE_MS);
	return ret;
}

/* Wait for this event; the connection data are in @event and *@len long. */
static int interop_await(struct interop_end *end, __u32 want,
			 union interop_event *event, size_t *len)
{
	struct fi_eq_err_entry error = { 0 };
	__u32 got;
	ssize_t ret;

	ret = interop_event(end, &got, event);
	if (ret == -FI_EAVAIL) {
		ret = interop_event_error(end, &error);
		interop_say("instead of event %u: %s, provider's error %d",
			    want, fi_strerror(-ret), error.prov_errno);
		return ret;
	}
	if (ret < 0)
		return ret == -EAGAIN ? -ETIMEDOUT : ret;
	if (got != want) {
		interop_say("event %u instead of %u", got, want);
		return -EPROTO;
	}
	*len = ret - sizeof(event->cm);
	return 0;
}

/* Wait for the rejection of a request. */
static int interop_await_rejection(struct interop_end *end, unsigned int attempt)
{
	__u8 data[INTEROP_CM_DATA];
	struct fi_eq_err_entry error = {
		.err_data	= data,
		.err_data_size	= sizeof(data),
	};
	union interop_event event;
	__u32 got;
	ssize_t ret;

	ret = interop_event(end, &got, &event);
	if (ret != -FI_EAVAIL) {
		interop_say("%zd, event %u instead of a rejection", ret, got);
		return ret < 0 ? ret : -EPROTO;
	}
	ret = interop_event_error(end, &error);
	if (ret != -ECONNREFUSED)
		return ret;
	interop_cm_check(end, INTEROP_REJECT, attempt, error.err_data, error.err_data_size);
	return 0;
}

static int interop_open_fabric(struct interop_end *end, const char *node, int service, __u64 flags)
{
	const struct interop_plan *plan = end->plan;
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	hints->caps = plan->caps;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = plan->rdm ? FI_EP_RDM : FI_EP_MSG;
	hints->tx_attr->size = INTEROP_DEPTH;
	hints->tx_attr->iov_limit = INTEROP_IOV_LIMIT;
	hints->rx_attr->size = INTEROP_DEPTH;
	hints->rx_attr->iov_limit = INTEROP_IOV_LIMIT;
	if (plan->virt)
		hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	/* ofi_rxm registers by itself what it is not given descriptors of */
	if (plan->virt && !plan->rdm)
		hints->domain_attr->mr_mode |= FI_MR_LOCAL;
	hints->domain_attr->cq_data_size = plan->data_size;
	if (interop_has_contexts(end))
		interop_want_contexts(hints);
	hints->fabric_attr->prov_name = interop_strdup(plan->prov);
	ret = hints->fabric_attr->prov_name ? 0 : -ENOMEM;
	if (!ret)
		ret = interop_getinfo(node, service, flags, hints, &end->info);
	fi_freeinfo(hints);
	if (!ret)
		ret = fi_fabric(end->info->fabric_attr, &end->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(end->fabric, &attr, &end->eq, NULL);
	return ret;
}

/* A domain that cannot send from memory that is not registered gets it. */
static int interop_prepare(struct interop_end *end, struct interop_mem *mem, size_t size)
{
	int ret;

	ret = interop_alloc(mem, size);
	if (ret)
		return ret;
	interop_clear(mem, 0, size);
	if (!(end->info->domain_attr->mr_mode & FI_MR_LOCAL))
		return 0;
	return fi_mr_reg(end->domain, interop_at(mem, 0), size,
			 FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0,
			 mem == &end->msgs ? 101 : 102, 0, &mem->mr, NULL);
}

int interop_open_domain(struct interop_end *end, struct fi_info *info)
{
	struct fi_cq_attr attr = {
		.size		= 2 * INTEROP_DEPTH,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	int ret;

	if (end->domain)
		return 0;
	ret = fi_domain(end->fabric, info, &end->domain, NULL);
	if (!ret)
		ret = fi_cq_open(end->domain, &attr, &end->cq, NULL);
	if (!ret)
		ret = interop_alloc(&end->region, INTEROP_SIZE);
	if (!ret) {
		interop_clear(&end->region, 0, INTEROP_SIZE);
		ret = interop_prepare(end, &end->local, INTEROP_SIZE);
	}
	if (!ret)
		ret = interop_prepare(end, &end->msgs, (INTEROP_RING + 1) *
				      sizeof(struct interop_msg));
	return ret;
}

int interop_open_ep(struct interop_end *end, struct fi_info *info)
{
	int ret;

	ret = interop_open_domain(end, info);
	if (!ret && interop_has_contexts(end))
		return interop_open_contexts(end, info);
	if (!ret)
		ret = fi_endpoint(end->domain, info, &end->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(end->ep, end->av ? &end->av->fid : &end->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(end->ep);
	end->rx = end->ep;
	return ret;
}

static int interop_close_ep(struct interop_end *end)
{
	int ret;

	if (!end->ep)
		return 0;
	ret = fi_close(&end->ep->fid);
	if (!ret && end->rx != end->ep)
		ret = fi_close(&end->rx->fid);
	if (!ret && end->sep)
		ret = fi_close(&end->sep->fid);
	if (ret)
		return ret;
	end->ep = NULL;
	end->rx = NULL;
	end->sep = NULL;
	return 0;
}

static int interop_hang_up(struct interop_end *end)
{
	int ret = end->av ? 0 : fi_shutdown(end->ep, 0), failed = interop_close_ep(end);

	return ret ? ret : failed;
}

/* The peer hangs up. */
static int interop_hung_up(struct interop_end *end)
{
	union interop_event event;
	size_t len;
	int ret = 0;

	if (!end->av)
		ret = interop_await(end, FI_SHUTDOWN, &event, &len);
	return ret ? ret : interop_close_ep(end);
}

/* One request of the end that connects, and its outcome */
static int interop_request(struct interop_end *end, unsigned int attempt)
{
	union interop_event event;
	__u8 data[INTEROP_CM_DATA];
	size_t len = interop_cm_fill(end, INTEROP_REQUEST, attempt, data);
	int ret;

	ret = interop_open_ep(end, end->info);
	if (!ret)
		ret = fi_connect(end->ep, end->info->dest_addr, data, len);
	if (ret)
		return ret;
	interop_count(end, true, INTEROP_REQUEST, 1, len);
	if (interop_is_rejected(attempt)) {
		ret = interop_await_rejection(end, attempt);
		return ret ? ret : interop_close_ep(end);
	}
	ret = interop_await(end, FI_CONNECTED, &event, &len);
	if (ret)
		return ret;
	interop_cm_check(end, INTEROP_ACCEPT, attempt, event.cm.data, len);
	return interop_hung_up(end);
}

static int interop_reject(struct interop_end *end, unsigned int attempt)
{
	__u8 data[INTEROP_CM_DATA];
	size_t len = interop_cm_fill(end, INTEROP_REJECT, attempt, data);
	int ret = fi_reject(end->pep, end->request->handle, data, len);

	interop_count(end, true, INTEROP_REJECT, 1, len);
	return ret;
}

static int interop_accept(struct interop_end *end, const void *data, size_t len)
{
	union interop_event event;
	int ret;

	ret = fi_accept(end->ep, data, len);
	if (!ret)
		ret = interop_await(end, FI_CONNECTED, &event, &len);
	if (!ret && event.cm.fid != &end->ep->fid)
		ret = -EPROTO;
	return ret;
}

static int interop_accept_attempt(struct interop_end *end, unsigned int attempt)
{
	__u8 data[INTEROP_CM_DATA];
	size_t len = interop_cm_fill(end, INTEROP_ACCEPT, attempt, data);
	int ret;

	ret = interop_open_ep(end, end->request);
	if (!ret)
		ret = interop_accept(end, data, len);
	interop_count(end, true, INTEROP_ACCEPT, 1, len);
	return ret ? ret : interop_hang_up(end);
}

/* One request that comes to the end that listens */
static int interop_answer(struct interop_end *end, unsigned int attempt)
{
	union interop_event event;
	size_t len;
	int ret;

	ret = interop_await(end, FI_CONNREQ, &event, &len);
	if (ret)
		return ret;
	interop_cm_check(end, INTEROP_REQUEST, attempt, event.cm.data, len);
	end->request = event.cm.info;
	if (interop_is_rejected(attempt))
		ret = interop_reject(end, attempt);
	else
		ret = interop_accept_attempt(end, attempt);
	fi_freeinfo(end->request);
	end->request = NULL;
	return ret;
}

/* First the one that connected is the initiator, then the other. */
static int interop_transfer(struct interop_end *end, bool connected)
{
	struct interop_msg msg = { 0 };
	int ret;

	if (!connected)
		return interop_target(end, INTEROP_SWAP);
	ret = interop_initiate(end);
	return ret ? ret : interop_call(end, INTEROP_SWAP, &msg);
}

static int interop_transfer_back(struct interop_end *end, bool connected)
{
	struct interop_msg msg = { 0 };
	int ret;

	if (connected)
		return interop_target(end, INTEROP_BYE);
	ret = interop_initiate(end);
	return ret ? ret : interop_call(end, INTEROP_BYE, &msg);
}

/*
 * The end that connected sends the last message, so it hangs up: only it knows that
 * this has arrived.
 */
static int interop_connected(struct interop_end *end, bool connected)
{
	int ret = 0;

	if (interop_has(end, INTEROP_MEET))
		ret = interop_meet(end, connected);
	if (!ret)
		ret = interop_transfer(end, connected);
	if (!ret)
		ret = interop_transfer_back(end, connected);
	if (ret)
		return ret;
	return connected ? interop_hang_up(end) : interop_hung_up(end);
}

/* There is nothing to do for a peer that connects */
static int interop_listen_rdm(struct interop_end *end, const char *node, int service)
{
	int ret = interop_open_fabric(end, node, service + INTEROP_MY_PORT, FI_SOURCE);

	return ret ? ret : interop_rdm_open(end, service);
}

/**
 * interop_listen() - Wait for a peer from now on
 * @end: after interop_choose(); interop_close() it, whatever this returns
 * @node: address to listen on
 * @service: port
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_listen(struct interop_end *end, const char *node, int service)
{
	int ret;

	if (end->plan->rdm)
		return interop_listen_rdm(end, node, service);
	ret = interop_open_fabric(end, node, service, FI_SOURCE);
	if (!ret)
		ret = fi_passive_ep(end->fabric, end->info, &end->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(end->pep, &end->eq->fid, 0);
	if (!ret)
		ret = fi_listen(end->pep);
	return ret;
}

/**
 * interop_serve() - Do all there is to do, as the end that listens
 * @end: after interop_listen()
 *
 * Context: may sleep.
 * Return: 0: everything was done, the results are in @end; or a negative errno.
 */
int interop_serve(struct interop_end *end)
{
	union interop_event event;
	unsigned int i;
	size_t len;
	int ret = 0;

	if (end->plan->rdm)
		return interop_connected(end, false);
	for (i = 0; !ret && i < interop_attempts(end); i++)
		ret = interop_answer(end, i);
	if (!ret)
		ret = interop_await(end, FI_CONNREQ, &event, &len);
	if (ret)
		return ret;
	end->request = event.cm.info;
	ret = interop_open_ep(end, end->request);
	if (!ret)
		ret = interop_ring(end);
	if (!ret)
		ret = interop_accept(end, NULL, 0);
	return ret ? ret : interop_connected(end, false);
}

/**
 * interop_connect() - Do all there is to do, as the end that connects
 * @end: after interop_choose(); interop_close() it, whatever this returns
 * @node: address of the peer
 * @service: its port
 *
 * Context: may sleep.
 * Return: 0: everything was done, the results are in @end; or a negative errno.
 */
int interop_connect(struct interop_end *end, const char *node, int service)
{
	union interop_event event;
	unsigned int i;
	size_t len;
	int ret;

	if (end->plan->rdm) {
		ret = interop_listen_rdm(end, node, service);
		return ret ? ret : interop_connected(end, true);
	}
	ret = interop_open_fabric(end, node, service, 0);
	for (i = 0; !ret && i < interop_attempts(end); i++)
		ret = interop_request(end, i);
	if (!ret)
		ret = interop_open_ep(end, end->info);
	if (!ret)
		ret = interop_ring(end);
	if (!ret)
		ret = fi_connect(end->ep, end->info->dest_addr, NULL, 0);
	if (!ret)
		ret = interop_await(end, FI_CONNECTED, &event, &len);
	return ret ? ret : interop_connected(end, true);
}

void interop_close_fid(struct fid *fid, int *ret)
{
	int failed = fi_close(fid);

	if (!failed)
		return;
	interop_say("an object of class %zu is not closed: %s", fid->fclass, fi_strerror(-failed));
	*ret = failed;
}

static void interop_close_mem(struct interop_mem *mem, int *ret)
{
	if (mem->mr)
		interop_close_fid(&mem->mr->fid, ret);
	mem->mr = NULL;
	interop_free(mem);
}

/**
 * interop_close() - Close what an end has opened
 * @end: the end; it is zeroed but for its results
 *
 * Context: may sleep.
 * Return: 0, or the errno of what could not be closed.
 */
int interop_close(struct interop_end *end)
{
	int ret = interop_close_ep(end);

	if (end->pep)
		interop_close_fid(&end->pep->fid, &ret);
	if (end->region_mr)
		interop_close_fid(&end->region_mr->fid, &ret);
	interop_close_mem(&end->msgs, &ret);
	interop_close_mem(&end->local, &ret);
	interop_close_mem(&end->region, &ret);
	if (end->av)
		interop_close_fid(&end->av->fid, &ret);
	if (end->cq)
		interop_close_fid(&end->cq->fid, &ret);
	if (end->domain)
		interop_close_fid(&end->domain->fid, &ret);
	if (end->eq)
		interop_close_fid(&end->eq->fid, &ret);
	if (end->fabric)
		interop_close_fid(&end->fabric->fid, &ret);
	fi_freeinfo(end->request);
	fi_freeinfo(end->info);
	memset(end, 0, offsetof(struct interop_end, result));
	return ret;
}
