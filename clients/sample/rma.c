// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The smallest client with remote memory access: a server registers memory and sends its
 * address and key, a client reads from that memory and writes to it.
 *
 *	insmod kofi_rma_sample.ko
 *	insmod kofi_rma_sample.ko prov=verbs node=10.77.0.1
 *
 * Both ends are in this module, each in a domain of its own, so one machine and any
 * provider with connected endpoints are enough.  Each end sends one message:
 *
 *	server	address and key of its memory
 *	client	that it has written
 *
 * The work is done while the module loads; insmod fails if it fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_ep_set.h>
#include <rdma/fi_rma.h>

static char *prov;
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "name of the provider; any, if there is none");

static char *node;
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of this machine; any, if there is none");

#define TIMEOUT_MS	5000
#define LEN		64
#define QUESTION	"what is in the server's memory?"
#define ANSWER		"what the server has put there"

/* The server's message: where its memory is */
struct place {
	u64 addr;
	u64 key;
};

/*
 * Either end of the connection.  @set: its objects; the fabric is common to both ends, and the
 * event queue is opened before, as requests come to it.  @message: buffer of its receive; the
 * client also sends it
 */
struct end {
	struct fi_info *info;
	struct fi_ep_set set;
	struct place *message;
};

struct sample {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_pep *pep;
	struct end server;
	struct end client;
	struct fid_mr *mr;
	struct place *place;
	char *memory;
	char *buf;
};

/*
 * mr_mode lists what this client can do: it sends its peer virtual addresses, registers
 * only memory that is allocated, and uses the key that the provider chooses.  Without
 * these bits fi_getinfo() finds no device that needs them, and every RDMA device does.
 */
static int sample_find(struct sample *s)
{
	struct fi_info *hints = fi_allocinfo();
	int ret = -ENOMEM;

	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	if (prov)
		hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
	if (!prov || hints->fabric_attr->prov_name)
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, 0,
				 node ? FI_SOURCE : 0, hints, &s->info);
	fi_freeinfo(hints);
	return ret;
}

/* Open an endpoint of @info, which the end owns from now on */
static int end_open(struct end *end, struct fi_info *info)
{
	int ret;

	end->info = info;
	end->message = kzalloc(sizeof(*end->message), GFP_KERNEL);
	if (!info || !end->message)
		return -ENOMEM;
	ret = fi_ep_set_open(&end->set, info, NULL, NULL);
	if (!ret)
		ret = fi_enable(end->set.ep);
	/* The receive is posted before there is a peer, as iWARP requires it */
	if (!ret)
		ret = fi_recv(end->set.ep, end->message, sizeof(*end->message),
			      NULL, 0, end->message);
	return ret;
}

static void end_close(struct end *end)
{
	fi_ep_set_close(&end->set);
	if (end->set.eq)
		fi_close(&end->set.eq->fid);
	kfree(end->message);
	fi_freeinfo(end->info);
}

static int end_event(struct end *end, u32 want, struct fi_eq_cm_entry *entry)
{
	struct fi_eq_err_entry error = { };
	ssize_t ret;
	u32 event;

	ret = fi_eq_sread(end->set.eq, &event, entry, sizeof(*entry), TIMEOUT_MS, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(end->set.eq, &error, 0) > 0)
		return -error.err;
	if (ret < 0)
		return ret;
	return event == want ? 0 : -ECONNABORTED;
}

/* The operation that has completed must be the one of @context */
static int end_await(struct end *end, const void *context)
{
	struct fi_cq_err_entry error = { };
	struct fi_cq_entry entry;
	ssize_t ret;

	ret = fi_cq_sread(end->set.cq, &entry, 1, NULL, TIMEOUT_MS);
	if (ret == -FI_EAVAIL && fi_cq_readerr(end->set.cq, &error, 0) == 1)
		return -error.err;
	if (ret < 0)
		return ret;
	return entry.op_context == context ? 0 : -EPROTO;
}

static int sample_listen(struct sample *s)
{
	int ret;

	s->server.set.fabric = s->fabric;
	s->client.set.fabric = s->fabric;
	ret = fi_eq_open(s->fabric, NULL, &s->server.set.eq, NULL);
	if (!ret)
		ret = fi_eq_open(s->fabric, NULL, &s->client.set.eq, NULL);
	if (!ret)
		ret = fi_passive_ep(s->fabric, s->info, &s->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(s->pep, &s->server.set.eq->fid, 0);
	return ret ?: fi_listen(s->pep);
}

/* Connect the client's end, and open the server's end when the request arrives */
static int sample_connect(struct sample *s)
{
	struct fi_eq_cm_entry entry = { };
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(&s->pep->fid, &name, &len);
	if (!ret)
		ret = end_open(&s->client, fi_dupinfo(s->info));
	if (!ret)
		ret = fi_connect(s->client.set.ep, &name, NULL, 0);
	if (!ret)
		ret = end_event(&s->server, FI_CONNREQ, &entry);
	if (!ret)
		ret = end_open(&s->server, entry.info);
	if (!ret)
		ret = fi_accept(s->server.set.ep, NULL, 0);
	if (!ret)
		ret = end_event(&s->server, FI_CONNECTED, &entry);
	return ret ?: end_event(&s->client, FI_CONNECTED, &entry);
}

/*
 * Until fi_close() the peer may read and write these bytes, and no others.  If the
 * provider does not choose keys, the server must: any number that it has not used.
 */
static int server_expose(struct sample *s)
{
	struct place *place = s->place;
	struct end *end = &s->server;
	int ret;

	strscpy(s->memory, QUESTION, LEN);
	ret = fi_mr_reg(end->set.domain, s->memory, LEN,
			FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &s->mr, NULL);
	if (ret)
		return ret;
	place->addr = fi_mr_addr(s->mr);
	place->key = fi_mr_key(s->mr);
	ret = fi_send(end->set.ep, place, sizeof(*place), NULL, 0, place);
	return ret ?: end_await(end, place);
}

/* The client's buffer need not be registered, and is the client's again at each completion */
static int client_read_and_write(struct sample *s)
{
	struct end *end = &s->client;
	struct place *place = end->message;
	int ret;

	ret = end_await(end, place);
	if (!ret)
		ret = fi_read(end->set.ep, s->buf, LEN, NULL, 0, place->addr,
			      place->key, s->buf);
	if (!ret)
		ret = end_await(end, s->buf);
	if (!ret && strncmp(s->buf, QUESTION, LEN))
		ret = -EBADMSG;
	if (ret)
		return ret;
	strscpy(s->buf, ANSWER, LEN);
	ret = fi_write(end->set.ep, s->buf, LEN, NULL, 0, place->addr, place->key,
		       s->buf);
	return ret ?: end_await(end, s->buf);
}

/*
 * A write completes without the server's knowledge; the message behind the write reports it.
 * The client closes its endpoint next, so it need not wait for that message's completion.
 */
static int client_tell(struct sample *s)
{
	struct end *end = &s->client;

	return fi_send(end->set.ep, end->message, sizeof(*end->message), NULL, 0,
		       end->message);
}

static int server_look(struct sample *s)
{
	int ret = end_await(&s->server, s->server.message);

	if (ret)
		return ret;
	return strncmp(s->memory, ANSWER, LEN) ? -EBADMSG : 0;
}

/*
 * A region is a child of its domain.  The memory of a region may be freed when the region has
 * been closed, and the buffers of operations when their endpoint has been closed.
 */
static void sample_close(struct sample *s)
{
	if (s->mr)
		fi_close(&s->mr->fid);
	if (s->pep)
		fi_close(&s->pep->fid);
	end_close(&s->client);
	end_close(&s->server);
	if (s->fabric)
		fi_close(&s->fabric->fid);
	fi_freeinfo(s->info);
	kfree(s->place);
	kfree(s->memory);
	kfree(s->buf);
}

static int sample_run(struct sample *s)
{
	int ret;

	s->place = kzalloc(sizeof(*s->place), GFP_KERNEL);
	s->memory = kzalloc(LEN, GFP_KERNEL);
	s->buf = kzalloc(LEN, GFP_KERNEL);
	if (!s->place || !s->memory || !s->buf)
		return -ENOMEM;
	ret = sample_find(s);
	if (!ret)
		ret = fi_fabric(s->info->fabric_attr, &s->fabric, NULL);
	if (!ret)
		ret = sample_listen(s);
	if (!ret)
		ret = sample_connect(s);
	if (!ret)
		ret = server_expose(s);
	if (!ret)
		ret = client_read_and_write(s);
	if (!ret)
		ret = client_tell(s);
	return ret ?: server_look(s);
}

static int __init sample_init(void)
{
	struct sample s = { };
	int ret = sample_run(&s);

	if (ret)
		pr_err("no memory read and written: %s\n", fi_strerror(ret));
	else
		pr_info("read and written by %s\n",
			s.info->fabric_attr->prov_name);
	sample_close(&s);
	return ret;
}

static void __exit sample_exit(void)
{
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_DESCRIPTION("kOFI sample client with remote memory access");
MODULE_LICENSE("Dual BSD/GPL");
