/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations that the files of kofi_fabtests.ko share.
 *
 *	main.c		the module, the table of tests, ends and their threads
 *	params.c	module parameters
 *	debugfs.c	the files that a script waits for and reads
 *	oob.c		the TCP connection beside the fabric
 *	fabric.c	fi_* objects of an end: find, open, close
 *	conn.c		how the two ends find each other
 *	xfer.c		messages: sequence, contents, syncs
 *	pingpong.c	msg_pingpong, rdm_pingpong, rdm_tagged_pingpong
 *	bw.c		msg_bw, rdm_bw, rdm_tagged_bw
 *	rma.c		rma_bw
 *	messages.c	msg, rdm, cq_data, unexpected_msg
 *	cm_data.c	cm_data
 *	results.c	the table
 *
 * An end is one thread, which owns its struct ft_end.  Other threads only read the members
 * listed under "For readers" there.  The thread takes SIGTERM, which only main.c sends.  Every
 * wait of the thread is interruptible, so the signal ends it with -EINTR.
 *
 * The peer is a program of fabtests.  Nothing on the wire names the test, its sizes or its
 * counts, so the user gives the same parameters to both ends.  The script of the tests, which
 * message follows which, has changed over the years; script= is the version of the peer.
 */
#ifndef _KOFI_FABTESTS_H
#define _KOFI_FABTESTS_H

#include <linux/socket.h>
#include <linux/types.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

struct ft_end;
struct net;
struct seq_file;
struct socket;
struct task_struct;

/* Bytes of the shortest receive buffer and of a name out of band; before 1.18 names were shorter */
#define FT_CTRL_BYTES		1024
#define FT_OLD_NAME_BYTES	256

/* Bytes of an acknowledgment; RMA leaves as many unused at the begin of a half of the region */
#define FT_ACK_BYTES	4

#define FT_SIZES_MAX	32

/* The longest wait for the peer's next step; only the server's wait for a client has no limit */
#define FT_TIMEOUT_MS	30000

/* The first version of fabtests with each change of the script */
#define FT_SCRIPT_LONG_NAMES	FI_VERSION(1, 18) /* names out of band have FT_CTRL_BYTES */
#define FT_SCRIPT_WINDOWS	FI_VERSION(1, 19) /* RMA goes through a window of the region */
#define FT_SCRIPT_UNKNOWN	FI_VERSION(1, 19) /* unexpected_msg begins with unknown senders */
#define FT_SCRIPT_HELLO		FI_VERSION(1, 22) /* a status goes before names out of band */
#define FT_SCRIPT_EMPTY_SYNC	FI_VERSION(2, 0) /* a sync is empty */
#define FT_SCRIPT_DRAIN		FI_VERSION(2, 4) /* RMA warms up apart; -b also finalizes */

enum ft_oob {
	FT_OOB_NONE,
	FT_OOB_ADDR,
	FT_OOB_SYNC,
};

enum ft_op {
	FT_WRITE,
	FT_WRITEDATA,
	FT_READ,
	FT_SENDDATA,
};

enum ft_state {
	FT_UNUSED,
	FT_STARTING,
	FT_LISTENING,
	FT_ENDED,
};

/**
 * struct ft_test - A test of fabtests
 * @name: as the program, without "fi_"
 * @type: endpoint type; FI_EP_UNSPEC: ep= decides
 * @caps: FI_MSG or FI_TAGGED, and FI_RMA
 * @windowed: window= messages or operations are in flight
 * @unposted: no receive is posted beforehand
 * @run_size: run one size
 * @run: run the whole test, if @run_size is NULL
 * @meet: connect and run the whole test without ft_connect(), or NULL
 */
struct ft_test {
	const char	*name;
	enum fi_ep_type	type;
	u64		caps;
	bool		windowed;
	bool		unposted;
	int		(*run_size)(struct ft_end *e, u32 size);
	int		(*run)(struct ft_end *e);
	int		(*meet)(struct ft_end *e);
};

/**
 * struct ft_params - The module's parameters, checked
 * @test: the test
 * @client: run an end that connects
 * @server: run an end that listens
 * @background: loading does not wait for the test's end
 * @node: the server's address as text, or NULL
 * @src: the server's own address as text, or NULL
 * @addr: address of @node
 * @src_addr: address of @src; AF_UNSPEC: any
 * @port: fabric port of the server
 * @oob: what goes out of band
 * @oob_port: TCP port of the out-of-band connection
 * @prov: provider
 * @domain: domain, or NULL for any
 * @ep_type: FI_EP_MSG or FI_EP_RDM
 * @op: what rma_bw and cq_data do
 * @sizes: sizes, in the order in which they run
 * @nr_sizes: elements of @sizes
 * @size_max: the longest of @sizes
 * @iterations: messages of each size; 0: fabtests' own number for the size
 * @warmup: messages before the measured ones
 * @window: messages in flight
 * @messages: unexpected_msg: messages sent before the first receive is posted
 * @verify: fill and check contents
 * @script: version of fabtests that the peer is, FI_VERSION()
 */
struct ft_params {
	const struct ft_test	*test;
	bool			client;
	bool			server;
	bool			background;
	const char		*node;
	const char		*src;
	struct sockaddr_storage	addr;
	struct sockaddr_storage	src_addr;
	u16			port;
	enum ft_oob		oob;
	u16			oob_port;
	const char		*prov;
	const char		*domain;
	enum fi_ep_type		ep_type;
	enum ft_op		op;
	u32			sizes[FT_SIZES_MAX];
	unsigned int		nr_sizes;
	u32			size_max;
	u32			iterations;
	u32			warmup;
	u32			window;
	u32			messages;
	bool			verify;
	u32			script;
};

/* One line of the table */
struct ft_row {
	u32	size;
	u32	iterations;
	u32	xfers;		/* messages of an iteration */
	u64	ns;
};

/**
 * struct ft_end - One of the two ends
 * @name: "server" or "client"
 * @client: which of the two
 * @task: the thread, with a reference
 * @stop: the thread shall end; set before SIGTERM is sent
 * @listener: TCP socket that listens
 * @oob: TCP connection beside the fabric
 * @pep_info: fi_info of @pep
 * @info: fi_info of @ep
 * @fabric: fabric
 * @eq: events of @pep and @ep
 * @domain: domain
 * @txq: completions of sends, reads and writes
 * @rxq: completions of receives and of the peer's writes
 * @av: address vector of an endpoint without connections
 * @pep: server: passive endpoint that clients connect to
 * @ep: the endpoint
 * @connected: @ep has been connected
 * @peer: number of the peer in @av
 * @tx: buffers of messages to send, by the message's number
 * @rx: buffers of messages to receive, by the message's number
 * @depth: elements of @tx and of @rx
 * @room: bytes of each buffer
 * @tx_seq: messages and operations posted; the tag of the next message
 * @tx_done: messages and operations of @tx_seq that are complete
 * @rx_seq: receives posted and writes of the peer awaited; the tag of the next receive
 * @rx_done: receives and writes of @rx_seq that are complete
 * @desc: rma: descriptor of @region, or NULL
 * @mr: rma: @region, registered
 * @region: rma: memory of two halves: the peer writes to the first and reads from the second
 * @half: rma: bytes of each half
 * @remote_addr: rma: address of the peer's region
 * @remote_key: rma: key of the peer's region
 * @active: the measurement is under way
 * @start: when the measurement began
 *
 * For readers; only the end's thread writes them:
 * @state: stored with release; @err and @error are final once it is FT_ENDED
 * @rows: the table
 * @nr_rows: stored with release after the row
 * @checked: messages whose contents were right
 * @err: first error
 * @error: what failed and what to do
 */
struct ft_end {
	const char		*name;
	bool			client;
	struct task_struct	*task;
	bool			stop;

	struct socket		*listener;
	struct socket		*oob;

	struct fi_info		*pep_info;
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_eq		*eq;
	struct fid_domain	*domain;
	struct fid_cq		*txq;
	struct fid_cq		*rxq;
	struct fid_av		*av;
	struct fid_pep		*pep;
	struct fid_ep		*ep;
	bool			connected;
	fi_addr_t		peer;

	void			**tx;
	void			**rx;
	unsigned int		depth;
	size_t			room;
	u64			tx_seq;
	u64			tx_done;
	u64			rx_seq;
	u64			rx_done;

	void			*desc;
	struct fid_mr		*mr;
	u8			*region;
	size_t			half;
	u64			remote_addr;
	u64			remote_key;

	bool			active;
	u64			start;

	enum ft_state		state;
	struct ft_row		rows[FT_SIZES_MAX];
	unsigned int		nr_rows;
	u64			checked;
	int			err;
	char			error[256];
};

/* main.c */
extern struct ft_end ft_server, ft_client;
extern const struct ft_test ft_tests[];
extern struct net *ft_net;

void ft_set_state(struct ft_end *e, enum ft_state state);
enum ft_state ft_get_state(struct ft_end *e);
int ft_wait_listening(void);
int ft_wait_ended(struct ft_end **failed);
__printf(4, 5)
int ft_fail(struct ft_end *e, int err, const char *todo, const char *step, ...);

/* params.c */
extern struct ft_params ft_params;

int ft_params_parse(struct net *net);

/* debugfs.c */
void ft_debugfs_init(void);
void ft_debugfs_exit(void);

/* oob.c */
int ft_oob_listen(struct ft_end *e);
int ft_oob_accept(struct ft_end *e);
int ft_oob_connect(struct ft_end *e);
int ft_oob_send(struct ft_end *e, const void *buf, size_t len, const char *what);
int ft_oob_recv(struct ft_end *e, void *buf, size_t len, const char *what);
int ft_oob_status(struct ft_end *e);
int ft_oob_sync(struct ft_end *e);
int ft_oob_local(struct ft_end *e, struct sockaddr_storage *local);
void ft_oob_close(struct ft_end *e);

/* fabric.c */
int ft_find(struct ft_end *e, const char *node, int service, u64 flags, struct fi_info **info);
int ft_open_fabric(struct ft_end *e, struct fi_info *info);
int ft_open_domain(struct ft_end *e);
int ft_open_ep(struct ft_end *e);
int ft_listen(struct ft_end *e);
void ft_close_ep(struct ft_end *e);
void ft_close_domain(struct ft_end *e);
void ft_close(struct ft_end *e);

/* conn.c */
int ft_connect(struct ft_end *e);
int ft_know_peer(struct ft_end *e, const void *name, size_t len);
int ft_await_hangup(struct ft_end *e);
int ft_exchange_names(struct ft_end *e, void *name);
ssize_t ft_wait_event(struct ft_end *e, u32 want, void *entry, size_t len, int timeout,
		      const char *what);

/* xfer.c */
int ft_alloc_buffers(struct ft_end *e);
void ft_free_buffers(struct ft_end *e);
void ft_fill(void *buf, size_t len);
int ft_check(struct ft_end *e, const void *buf, size_t len, const char *what);
void ft_begin(struct ft_end *e);
u64 ft_stop_clock(struct ft_end *e);
void *ft_tx_buf(struct ft_end *e);
int ft_again(struct ft_end *e, ssize_t ret, unsigned long end, const char *what);
int ft_post_tag(struct ft_end *e, const void *buf, size_t len, u64 flags, u64 tag);
int ft_post_tx(struct ft_end *e, size_t len, u64 flags);
int ft_await_tx(struct ft_end *e);
int ft_tx(struct ft_end *e, size_t len, u64 flags);
int ft_post_rx_tag(struct ft_end *e, void *buf, size_t len, u64 tag);
int ft_post_rx(struct ft_end *e);
int ft_await_rx(struct ft_end *e, struct fi_cq_data_entry *entry, int timeout);
int ft_rx(struct ft_end *e, size_t len, bool check);
int ft_sync(struct ft_end *e);
int ft_finalize(struct ft_end *e);

/* pingpong.c, bw.c, rma.c, messages.c, cm_data.c */
int ft_pingpong(struct ft_end *e, u32 size);
int ft_bw(struct ft_end *e, u32 size);
int ft_bw_client_ack(struct ft_end *e);
int ft_expose(struct ft_end *e);
int ft_exchange_keys(struct ft_end *e);
int ft_rma_bw(struct ft_end *e, u32 size);
int ft_writedata(struct ft_end *e, size_t offset, size_t len);
int ft_greeting(struct ft_end *e);
int ft_cq_data(struct ft_end *e);
u64 ft_cq_data_value(struct ft_end *e);
int ft_unexpected(struct ft_end *e);
int ft_cm_data(struct ft_end *e);

/* results.c */
u32 ft_iterations(u32 size);
void ft_results_add(struct ft_end *e, u32 size, u32 xfers, u64 ns);
void ft_results_show(struct seq_file *m, struct ft_end *e);

#endif /* _KOFI_FABTESTS_H */
