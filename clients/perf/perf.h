/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations that the files of kofi_perf.ko share.
 *
 *	main.c		the module, debugfs
 *	command.c	one command: which test, how often
 *	samples.c	the measured values, as text
 *	flow.c		ping-pong, and code that all tests share
 *	stream.c	operations in flight all the time
 *	io.c		registration, request, answer with remote invalidation
 *	match.c		a tagged message among many receives
 *	peers.c		one endpoint and many peers
 *	mem.c		memory of objects, time of connecting
 *	fabric.c	connections over kOFI
 *	kofi*.c		kOFI's side of the tests
 *	raw_cm.c	connections with rdma_cm
 *	raw*.c		the baseline: the tests on ib_core
 *	sock.c		another baseline: messages on kernel sockets
 *	mem_*.c		both sides of mem.c
 *
 * A test is written once, on struct perf_side.  Both sides complete by a callback
 * for each operation, in softirq context, and the test posts again from that
 * callback, as kernel clients do.  No thread wakes up before the end of a run.
 */
#ifndef _KOFI_PERF_H
#define _KOFI_PERF_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/types.h>

#include "link.h"

struct perf_bed;
struct perf_io;
struct seq_file;

/* Work requests that perf_side.chain posts with one doorbell */
#define PERF_CHAIN	8

/* Operations that a shared completion queue has room for */
#define PERF_PER_CQ	8192

/* Bytes that perf_side.begin registers */
#define PERF_IO_LEN	4096

/**
 * struct perf_spec - What a test needs
 * @way: provider and kind of endpoint of kOFI's side
 * @node: an address of this machine
 * @links: connections
 * @depth: of the connections' queues
 * @rma: bytes of b's memory that a may read and write; 0: none
 * @ios: requests with a region of their own; 0: none
 */
struct perf_spec {
	struct perf_way		way;
	const char		*node;
	unsigned int		links;
	struct perf_depth	depth;
	size_t			rma;
	unsigned int		ios;
};

/**
 * struct perf_req - An operation
 * @bed: the connections
 * @end: end of a connection, see perf_side.end
 * @buf: local buffer
 * @len: bytes of @buf
 * @done: called when the operation has ended; @err is not 0 if it has failed
 * @context: the test's
 * @inv: set before @done of a receive: the key that the message has ended, or 0
 */
struct perf_req {
	struct perf_bed	*bed;
	void		*end;
	void		*buf;
	size_t		len;
	void		(*done)(struct perf_req *req, int err);
	void		*context;
	u32		inv;
};

/**
 * struct perf_side - kOFI, or the baseline
 * @name: of the side
 * @req_size: bytes of the side's request, which begins with &struct perf_req
 * @open: connect what a test needs; returns an ERR_PTR() on failure
 * @close: undo @open; receives still posted end with an error or not at all
 * @end: one end of a connection
 * @recv: post a receive
 * @send: post a send
 * @chain: post sends with one doorbell
 * @write: post a write to the memory of struct perf_bed
 * @read: post a read of that memory
 * @begin: register memory anew, and send the request with the new key behind that
 * @answer: send an answer that ends the key
 * @finish: take the memory back after the answer
 * @mem: idle objects
 *
 * The operations are for any context.
 */
struct perf_side {
	const char	*name;
	size_t		req_size;
	struct perf_bed	*(*open)(const struct perf_spec *spec);
	void		(*close)(struct perf_bed *bed);
	void		*(*end)(struct perf_bed *bed, unsigned int link, bool far);
	int		(*recv)(struct perf_req *req);
	int		(*send)(struct perf_req *req);
	int		(*chain)(struct perf_req **reqs, unsigned int count);
	int		(*write)(struct perf_req *req);
	int		(*read)(struct perf_req *req);
	int		(*begin)(struct perf_req *req, unsigned int io);
	int		(*answer)(struct perf_req *req, u32 key);
	int		(*finish)(struct perf_bed *bed, unsigned int io, u32 key);
	const struct perf_mem_ops *mem;
};

/**
 * struct perf_mem_ops - Idle objects
 * @open: open what the objects are opened on
 * @close: close all
 * @add: open one more object of a kind: ep, ep-rma, cq, mr, conn, peer, met
 * @connect: make a connection and end it
 */
struct perf_mem_ops {
	void	*(*open)(const struct perf_spec *spec, bool rma);
	void	(*close)(void *objects);
	int	(*add)(void *objects, const char *kind);
	int	(*connect)(void *objects);
};

/**
 * struct perf_bed - The connections of a side
 * @side: the side
 * @addr: address of b's memory
 * @key: key of b's memory
 */
struct perf_bed {
	const struct perf_side	*side;
	u64			addr;
	u32			key;
};

/**
 * struct perf_flow - A run
 * @bed: the connections, or NULL
 * @left: parts that have not ended
 * @end: completed when no part is left, or by an error
 * @start: when the run began
 * @stop: when the last part ended
 * @err: the first error
 */
struct perf_flow {
	struct perf_bed		*bed;
	atomic_t		left;
	struct completion	end;
	ktime_t			start;
	ktime_t			stop;
	int			err;
};

/**
 * struct perf_cmd - A command
 * @key: name of the case
 * @test: name of the test
 * @node: address
 * @size: bytes of a message
 * @count: operations of a run
 * @depth: operations in flight
 * @links: connections
 * @rounds: runs of each side
 * @op: send, more, write, read; or the kind of object
 * @side: kofi or raw alone; empty: both, in turn
 * @base: the baseline: map, or inline (raw.c), sock (sock.c), msg (kofi.c)
 * @way: provider and kind of endpoint of kOFI's side
 */
struct perf_cmd {
	char		key[40];
	char		test[16];
	char		node[48];
	char		op[16];
	char		side[8];
	char		base[8];
	struct perf_way	way;
	unsigned int	size;
	unsigned int	count;
	unsigned int	depth;
	unsigned int	links;
	unsigned int	rounds;
};

/**
 * struct perf_test - A kind of test
 * @name: of the test
 * @unit: "ns", time per operation; "rate", operations per time; "bytes"
 * @open: prepare the test on a side; returns an ERR_PTR() on failure
 * @run: run once; returns the measured value, or an errno
 * @close: undo @open
 */
struct perf_test {
	const char	*name;
	const char	*unit;
	void		*(*open)(const struct perf_side *side,
				 const struct perf_cmd *cmd);
	s64		(*run)(void *state, const struct perf_cmd *cmd);
	void		(*close)(void *state);
};

extern const struct perf_side perf_kofi_side, perf_raw_side, perf_raw_inline_side;
extern const struct perf_side perf_msg_side, perf_tcp_side, perf_sock_side;
extern const struct perf_test perf_pingpong, perf_stream, perf_perio;
extern const struct perf_test perf_setup, perf_match, perf_meet;

/* command.c */
int perf_command(char *text);
/* Says in the log why a command is refused; returns -EINVAL */
__printf(1, 2) int perf_refuse(const char *fmt, ...);

/* mem.c */
int perf_hold(const struct perf_side *side, const struct perf_cmd *cmd);
void perf_release(void);

/* samples.c */
void perf_samples_clear(void);
void perf_sample(const struct perf_cmd *cmd, const char *side, const char *unit,
		 unsigned int round, u64 value, u64 ops);
void perf_samples_show(struct seq_file *m);

/* flow.c */
void perf_flow_begin(struct perf_flow *flow, struct perf_bed *bed, int parts);
void perf_flow_part(struct perf_flow *flow);
void perf_flow_fail(struct perf_flow *flow, int err);
s64 perf_flow_wait(struct perf_flow *flow);
struct perf_req *perf_req(void *reqs, const struct perf_side *side,
			  unsigned int nth);

#endif /* _KOFI_PERF_H */
