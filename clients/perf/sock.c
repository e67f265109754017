// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The baseline for kofi_tcp: messages with a header of 16 bytes on kernel sockets, by hand, as
 * nvme_tcp has it.
 *
 * Each end has a worker that sends, receives and completes operations.  Posting an operation
 * queues the worker, and so do the socket's callbacks.  An operation that is posted from a
 * completion does not queue the worker: the worker has made that call, and looks again before it
 * ends.  A message is copied once, from the socket's buffer to the buffer of its receive.
 *
 * Locking: sock_end.lock guards the lists, and everything else of an end is its worker's.  The
 * socket's callbacks read sk_user_data under sk_callback_lock.
 */
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <kofi/compat.h>

#include "sock.h"

/**
 * struct sock_bed - The connections of the baseline
 * @bed: what tests see
 * @listener: accepts ends b
 * @links: the connections
 * @nr_links: elements of @links
 */
struct sock_bed {
	struct perf_bed		bed;
	struct socket		*listener;
	struct sock_link	*links;
	unsigned int		nr_links;
};

static struct sock_bed *to_sock_bed(struct perf_bed *bed)
{
	return container_of(bed, struct sock_bed, bed);
}

static struct sock_req *to_sock_req(struct perf_req *req)
{
	return container_of(req, struct sock_req, req);
}

static struct sock_req *sock_first(struct sock_end *end, struct list_head *list)
{
	struct sock_req *r;

	spin_lock_bh(&end->lock);
	r = list_first_entry_or_null(list, struct sock_req, entry);
	if (r)
		list_del(&r->entry);
	spin_unlock_bh(&end->lock);
	return r;
}

static void sock_wake(struct sock_end *end)
{
	if (READ_ONCE(end->worker) != current)
		queue_work(system_highpri_wq, &end->work);
}

/* Sends what is left of end->tx; returns bytes, or an errno */
static int sock_send_some(struct sock_end *end)
{
	size_t head = sizeof(end->tx_head), at = end->tx_at;
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct perf_req *req = &end->tx->req;
	struct kvec iov[2];
	int count = 0;

	if (at < head)
		iov[count++] = (struct kvec) { (void *)&end->tx_head + at, head - at };
	at = at < head ? 0 : at - head;
	iov[count++] = (struct kvec) { req->buf + at, req->len - at };
	if (!list_empty(&end->sends))
		msg.msg_flags |= MSG_MORE;
	return kernel_sendmsg(end->sock, &msg, iov, count,
			      head + req->len - end->tx_at);
}

/* Returns whether something has been sent */
static bool sock_send_all(struct sock_end *end)
{
	struct sock_req *r;
	bool some = false;
	int ret;

	while (end->tx || (end->tx = sock_first(end, &end->sends))) {
		r = end->tx;
		end->tx_head.len = cpu_to_le64(r->req.len);
		ret = sock_send_some(end);
		if (ret <= 0)
			break;
		some = true;
		end->tx_at += ret;
		if (end->tx_at < sizeof(end->tx_head) + r->req.len)
			continue;
		end->tx = NULL;
		end->tx_at = 0;
		r->req.done(&r->req, 0);
	}
	return some;
}

/* Returns where the next bytes go; NULL: their receive is not posted yet */
static void *sock_target(struct sock_end *end, size_t *room)
{
	size_t head = sizeof(end->rx_head);

	if (end->rx_at < head) {
		*room = head - end->rx_at;
		return (void *)&end->rx_head + end->rx_at;
	}
	if (!end->rx)
		end->rx = sock_first(end, &end->recvs);
	if (!end->rx)
		return NULL;
	/* The length in the header can be trusted: both ends are in this kernel */
	*room = min_t(u64, le64_to_cpu(end->rx_head.len), end->rx->req.len) -
		(end->rx_at - head);
	return end->rx->req.buf + end->rx_at - head;
}

static int sock_take(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
		     size_t len)
{
	struct sock_end *end = desc->arg.data;
	size_t room, n, taken = 0;
	struct sock_req *r;
	void *to;

	while (taken < len) {
		to = sock_target(end, &room);
		if (!to)
			break;
		n = min(room, len - taken);
		if (skb_copy_bits(skb, offset + taken, to, n)) {
			desc->error = -EFAULT;
			break;
		}
		taken += n;
		end->rx_at += n;
		r = end->rx;
		if (n < room || !r)
			continue;
		end->rx = NULL;
		end->rx_at = 0;
		r->req.done(&r->req, 0);
	}
	desc->count = taken == len;
	desc->written += taken;
	return taken;
}

/* Returns whether something has come */
static bool sock_recv_all(struct sock_end *end)
{
	read_descriptor_t desc = { .arg.data = end, .count = 1 };
	struct sock *sk = end->sock->sk;

	lock_sock(sk);
	tcp_read_sock(sk, &desc, sock_take);
	release_sock(sk);
	return desc.written;
}

static void sock_work(struct work_struct *work)
{
	struct sock_end *end = container_of(work, struct sock_end, work);
	bool some;

	WRITE_ONCE(end->worker, current);
	do {
		some = sock_send_all(end);
		some |= sock_recv_all(end);
		cond_resched();
	} while (some);
	WRITE_ONCE(end->worker, NULL);
}

static void sock_data_ready(struct sock *sk)
{
	struct sock_end *end;

	read_lock_bh(&sk->sk_callback_lock);
	end = sk->sk_user_data;
	if (end)
		queue_work(system_highpri_wq, &end->work);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void sock_write_space(struct sock *sk)
{
	if (!sk_stream_is_writeable(sk))
		return;
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	sock_data_ready(sk);
}

static void sock_end_init(struct sock_end *end, struct socket *sock)
{
	struct sock *sk = sock->sk;

	end->sock = sock;
	INIT_WORK(&end->work, sock_work);
	spin_lock_init(&end->lock);
	INIT_LIST_HEAD(&end->sends);
	INIT_LIST_HEAD(&end->recvs);
	tcp_sock_set_nodelay(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = end;
	sk->sk_data_ready = sock_data_ready;
	sk->sk_write_space = sock_write_space;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void sock_end_close(struct sock_end *end)
{
	struct sock *sk;

	if (!end->sock)
		return;
	sk = end->sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
	kernel_sock_shutdown(end->sock, SHUT_RDWR);
	cancel_work_sync(&end->work);
	sock_release(end->sock);
	end->sock = NULL;
}

int sock_listen(const char *node, struct socket **listener)
{
	struct sockaddr_storage addr;
	int ret;

	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, node, "0", &addr);
	if (!ret)
		ret = sock_create_kern(&init_net, addr.ss_family, SOCK_STREAM, IPPROTO_TCP,
				       listener);
	if (ret)
		return ret;
	ret = kernel_bind(*listener, (struct sockaddr_unsized *)&addr, sizeof(addr));
	if (!ret)
		ret = kernel_listen(*listener, 16);
	if (!ret)
		return 0;
	sock_release(*listener);
	*listener = NULL;
	return ret;
}

int sock_connect(struct socket *listener, struct sock_link *link)
{
	struct socket *a, *b = NULL;
	struct sockaddr_storage addr;
	int ret;

	ret = kernel_getsockname(listener, (struct sockaddr *)&addr);
	if (ret < 0)
		return ret;
	ret = sock_create_kern(&init_net, addr.ss_family, SOCK_STREAM, IPPROTO_TCP, &a);
	if (ret)
		return ret;
	ret = kernel_connect(a, (struct sockaddr_unsized *)&addr, sizeof(addr), 0);
	if (!ret)
		ret = kernel_accept(listener, &b, 0);
	if (ret) {
		sock_release(a);
		return ret;
	}
	sock_end_init(&link->a, a);
	sock_end_init(&link->b, b);
	return 0;
}

void sock_disconnect(struct sock_link *link)
{
	sock_end_close(&link->a);
	sock_end_close(&link->b);
}

static void sock_post(struct perf_req *req, bool send)
{
	struct sock_req *r = to_sock_req(req);
	struct sock_end *end = req->end;

	spin_lock_bh(&end->lock);
	list_add_tail(&r->entry, send ? &end->sends : &end->recvs);
	spin_unlock_bh(&end->lock);
}

static int sock_recv(struct perf_req *req)
{
	sock_post(req, false);
	sock_wake(req->end);
	return 0;
}

static int sock_send(struct perf_req *req)
{
	sock_post(req, true);
	sock_wake(req->end);
	return 0;
}

static int sock_chain(struct perf_req **reqs, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		sock_post(reqs[i], true);
	sock_wake(reqs[0]->end);
	return 0;
}

static int sock_no_rma(struct perf_req *req)
{
	return -EOPNOTSUPP;
}

static int sock_no_begin(struct perf_req *req, unsigned int io)
{
	return -EOPNOTSUPP;
}

static int sock_no_answer(struct perf_req *req, u32 key)
{
	return -EOPNOTSUPP;
}

static int sock_no_finish(struct perf_bed *bed, unsigned int io, u32 key)
{
	return -EOPNOTSUPP;
}

static void *sock_end_of(struct perf_bed *bed, unsigned int link, bool far)
{
	struct sock_link *l = &to_sock_bed(bed)->links[link];

	return far ? &l->b : &l->a;
}

static void sock_close(struct perf_bed *perf_bed)
{
	struct sock_bed *bed = to_sock_bed(perf_bed);
	unsigned int i;

	for (i = 0; i < bed->nr_links; i++)
		sock_disconnect(&bed->links[i]);
	if (bed->listener)
		sock_release(bed->listener);
	kvfree(bed->links);
	kfree(bed);
}

static struct perf_bed *sock_open(const struct perf_spec *spec)
{
	struct sock_bed *bed = kzalloc(sizeof(*bed), GFP_KERNEL);
	int ret;

	if (!bed)
		return ERR_PTR(-ENOMEM);
	bed->bed.side = &perf_sock_side;
	bed->links = kvcalloc(spec->links, sizeof(*bed->links), GFP_KERNEL);
	ret = !bed->links ? -ENOMEM : spec->rma || spec->ios ? -EOPNOTSUPP :
	      sock_listen(spec->node, &bed->listener);
	while (!ret && bed->nr_links < spec->links) {
		ret = sock_connect(bed->listener, &bed->links[bed->nr_links]);
		bed->nr_links += !ret;
	}
	if (!ret)
		return &bed->bed;
	sock_close(&bed->bed);
	return ERR_PTR(ret);
}

const struct perf_side perf_sock_side = {
	.name		= "raw",
	.req_size	= sizeof(struct sock_req),
	.open		= sock_open,
	.close		= sock_close,
	.end		= sock_end_of,
	.recv		= sock_recv,
	.send		= sock_send,
	.chain		= sock_chain,
	.write		= sock_no_rma,
	.read		= sock_no_rma,
	.begin		= sock_no_begin,
	.answer		= sock_no_answer,
	.finish		= sock_no_finish,
	.mem		= &sock_mem_ops,
};
