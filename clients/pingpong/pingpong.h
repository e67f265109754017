/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations that the files of kofi_pingpong.ko share.
 *
 *	main.c		the module, the two roles and their threads
 *	params.c	module parameters
 *	debugfs.c	progress and results for a person or a script
 *	ctrl.c		the control channel: fi_pingpong's protocol over TCP
 *	fabric.c	fi_* objects: discover, open, connect, close
 *	pingpong.c	the messages
 *	data.c		buffers and their contents
 *	results.c	the table
 *
 * A role, server or client, is one thread that owns its struct pp_role.  Other
 * threads only read the members listed under "For readers" there.  The thread
 * takes SIGTERM, which only pp_halt() sends.  Every wait of the thread is
 * interruptible, so the signal ends it with -EINTR.
 */
#ifndef _KOFI_PINGPONG_H
#define _KOFI_PINGPONG_H

#include <linux/completion.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

struct net;
struct seq_file;
struct socket;
struct task_struct;

/* The longest message that fi_pingpong sends: 4 MiB and half as much again */
#define PP_SIZE_MAX	((4 << 20) + (2 << 20))

/* Every receive has at least this much room, whatever the size under test */
#define PP_RECV_MIN	64

#define PP_SIZES_MAX	64
#define PP_CHUNKS_MAX	6

/* Longest wait for the peer's next step; only the server's wait for a client has no limit */
#define PP_TIMEOUT_MS	30000

enum pp_cq_kind {
	PP_CQ_POLL,
	PP_CQ_SLEEP,
	PP_CQ_CALLBACK,
};

enum pp_size_set {
	PP_SIZES_DEFAULT,
	PP_SIZES_ALL,
	PP_SIZES_LIST,
};

/**
 * struct pp_params - The module's parameters, checked
 * @server: run the server role
 * @client: run the client role
 * @node: @addr as text, NULL if not given
 * @addr: server's address, AF_UNSPEC: any
 * @port: control port
 * @prov: provider
 * @domain: domain, or NULL for any
 * @ep_type: FI_EP_MSG or FI_EP_RDM
 * @size_set: where the sizes come from
 * @sizes: sizes of PP_SIZES_LIST
 * @nr_sizes: elements of @sizes
 * @iters: messages each way for each size
 * @check: fill and check payloads
 * @vmalloc: take buffers from vmalloc
 * @cq: kind of completion queue
 */
struct pp_params {
	bool			server;
	bool			client;
	const char		*node;
	struct sockaddr_storage	addr;
	u16			port;
	const char		*prov;
	const char		*domain;
	enum fi_ep_type		ep_type;
	enum pp_size_set	size_set;
	u32			sizes[PP_SIZES_MAX];
	unsigned int		nr_sizes;
	u32			iters;
	bool			check;
	bool			vmalloc;
	enum pp_cq_kind		cq;
};

/* Memory of one message: a few contiguous pieces, or one vmalloc area */
struct pp_buf {
	struct kvec	vec[PP_CHUNKS_MAX];
	unsigned int	nr;
	bool		vmalloc;
};

/**
 * struct pp_queue - A completion queue and how to wait for it
 * @cq: the queue
 * @event: PP_CQ_CALLBACK: the handler completes it
 * @what: what its operations do, for error texts
 */
struct pp_queue {
	struct fid_cq		*cq;
	struct completion	event;
	const char		*what;
};

/* One line of the table */
struct pp_row {
	u32	size;
	u32	sent;
	u32	acked;
	u64	ns;
};

enum pp_state {
	PP_UNUSED,
	PP_STARTING,
	PP_LISTENING,
	PP_ENDED,
};

/**
 * struct pp_role - One of the two roles
 * @name: "server" or "client"
 * @server: which of the two
 * @task: the thread, with a reference
 * @stop: the thread shall end; set before SIGTERM is sent
 * @listener: control socket that listens
 * @ctrl: control connection
 * @pep_info: fi_info of @pep
 * @info: fi_info of @ep
 * @fabric: fabric
 * @eq: events of @pep and @ep
 * @domain: domain
 * @tx: completions of sends
 * @rx: completions of receives
 * @av: address vector of an endpoint without connections; the peer is its first address
 * @pep: server: passive endpoint that the client connects to
 * @ep: endpoint
 * @connected: @ep has a peer
 * @sizes: sizes to run, in order
 * @nr_sizes: elements of @sizes
 * @tx_buf: message to send
 * @rx_buf: message received; posted unless just completed
 * @rx_len: bytes of @rx_buf that the next receive is posted with
 * @filled: messages filled so far; selects the pattern
 * @checked: messages checked so far; selects the pattern
 * @acked: messages received of the current size; pp_ctrl_count() sets the server's to the client's
 * @finished: the peer's "fin" has come
 *
 * For readers; only the role's thread writes them:
 * @state: stored with release; @err and @error are final once it is PP_ENDED
 * @running: the sizes are planned; @run and @iter are valid
 * @run: sizes done
 * @iter: messages done of the current size
 * @received: messages of the test received
 * @intact: messages of @received with the right length and, with check=1, the right contents
 * @rows: the table
 * @nr_rows: stored with release after the row
 * @err: first error
 * @error: what failed and what to do
 */
struct pp_role {
	const char		*name;
	bool			server;
	struct task_struct	*task;
	bool			stop;

	struct socket		*listener;
	struct socket		*ctrl;

	struct fi_info		*pep_info;
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_eq		*eq;
	struct fid_domain	*domain;
	struct pp_queue		tx;
	struct pp_queue		rx;
	struct fid_av		*av;
	struct fid_pep		*pep;
	struct fid_ep		*ep;
	bool			connected;

	u32			sizes[PP_SIZES_MAX];
	unsigned int		nr_sizes;
	struct pp_buf		tx_buf;
	struct pp_buf		rx_buf;
	u32			rx_len;
	u32			filled;
	u32			checked;
	u32			acked;
	bool			finished;

	enum pp_state		state;
	bool			running;
	unsigned int		run;
	u32			iter;
	u64			received;
	u64			intact;
	struct pp_row		rows[PP_SIZES_MAX];
	unsigned int		nr_rows;
	int			err;
	char			error[256];
};

/* main.c */
extern struct pp_role pp_server, pp_client;
extern struct net *pp_net;

void pp_set_state(struct pp_role *r, enum pp_state state);
enum pp_state pp_get_state(struct pp_role *r);
int pp_wait_listening(void);
int pp_wait_ended(struct pp_role **failed);
__printf(4, 5)
int pp_fail(struct pp_role *r, int err, const char *todo, const char *step, ...);

/* params.c */
extern struct pp_params pp_params;

int pp_params_parse(struct net *net);

/* debugfs.c */
void pp_debugfs_init(void);
void pp_debugfs_exit(void);

/* ctrl.c */
int pp_ctrl_listen(struct pp_role *r);
int pp_ctrl_accept(struct pp_role *r, struct sockaddr_storage *local);
int pp_ctrl_connect(struct pp_role *r);
int pp_ctrl_send_name(struct pp_role *r, u32 format, const void *addr,
		      size_t len);
int pp_ctrl_recv_name(struct pp_role *r, u32 *format,
		      struct sockaddr_storage *addr, size_t *len);
int pp_ctrl_sync(struct pp_role *r);
bool pp_ctrl_said(struct pp_role *r);
int pp_ctrl_count(struct pp_role *r);
int pp_ctrl_finish(struct pp_role *r);
void pp_ctrl_close(struct pp_role *r);

/* fabric.c */
int pp_fabric_probe(struct pp_role *r);
int pp_fabric_serve(struct pp_role *r, const struct sockaddr_storage *local);
int pp_fabric_connect(struct pp_role *r);
void pp_fabric_close(struct pp_role *r);

/* pingpong.c */
int pp_plan(struct pp_role *r);
int pp_post_recv(struct pp_role *r);
int pp_run(struct pp_role *r);

/* data.c */
void pp_pattern_init(void);
int pp_buf_alloc(struct pp_buf *buf, size_t size, size_t iov_limit,
		 bool vmalloc);
void pp_buf_free(struct pp_buf *buf);
unsigned int pp_buf_slice(const struct pp_buf *buf, size_t len,
			  struct kvec *vec);
void pp_buf_fill(struct pp_buf *buf, size_t len, u32 nth);
size_t pp_buf_check(const struct pp_buf *buf, size_t len, u32 nth);

/* results.c */
void pp_results_add(struct pp_role *r, const struct pp_row *row);
void pp_results_log_intact(struct pp_role *r);
void pp_results_show(struct seq_file *m, struct pp_role *r);

#endif /* _KOFI_PINGPONG_H */
