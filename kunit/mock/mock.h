/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A complete provider without hardware, with knobs for tests.
 *
 * A test creates as many instances as it likes (up to MOCK_MAX), each with its
 * own name, version and list of fi_info, registers &mock->provider itself, and
 * uses it through fi_* like any client.  Knobs are turned while no call is
 * inside, except for those that say otherwise.
 *
 * An endpoint talks to itself (mock->loop) or to another endpoint of the same
 * instance that it is connected to; addresses are struct sockaddr_in, of which
 * only the port counts.  Completions and events come from a workqueue, as they
 * would from a device.
 */
#ifndef _KUNIT_MOCK_H
#define _KUNIT_MOCK_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <kofi/provider.h>

#define MOCK_MAX		14	/* instances at a time */
#define MOCK_MAX_TABLES		4	/* tables of one object */
#define MOCK_FABRIC_NAME	"mock"
#define MOCK_DEPTH		8	/* operations in each queue of an endpoint */
#define MOCK_MAX_MSG		256
#define MOCK_MAX_INJECT		64
#define MOCK_CM_DATA		56
#define MOCK_CQ_SIZE		64	/* of a queue opened without a size */
#define MOCK_CNTR_CNT		64	/* counters a domain says it can have */
#define MOCK_CTX_CNT		2	/* contexts of each kind of a scalable endpoint */
#define MOCK_AV_TEXT		"an address"

enum mock_class {
	MOCK_FABRIC,
	MOCK_DOMAIN,
	MOCK_EQ,
	MOCK_PEP,
	MOCK_CQ,
	MOCK_EP,
	MOCK_MR,
	MOCK_CNTR,
	MOCK_AV,
	MOCK_SRX,
	MOCK_SEP,
	MOCK_TX,
	MOCK_RX,
	MOCK_STX,
	MOCK_MC,
	MOCK_NR_CLASSES,
};

/**
 * struct mock_table - One table of calls of a class of objects
 * @name: which
 * @where: offset of the pointer to it in the fid_*
 * @size: bytes of the table; one size_t, then pointers to functions
 * @own: what the mock puts there; NULL: found in the object
 * @fillers: the core's table of -ENOSYS
 */
struct mock_table {
	const char	*name;
	size_t		where;
	size_t		size;
	const void	*own;
	const void	*fillers;
};

struct mock_class_desc {
	const char		*name;
	size_t			fclass;
	unsigned int		nr_tables;
	struct mock_table	tables[MOCK_MAX_TABLES];
};

extern const struct mock_class_desc mock_classes[MOCK_NR_CLASSES];

static inline unsigned int mock_table_slots(const struct mock_table *table)
{
	return table->size / sizeof(void *) - 1;
}

/* Everything a client can make a provider do, but data transfers */
enum mock_call {
	MOCK_CALL_GETINFO,
	MOCK_CALL_FABRIC,
	MOCK_CALL_NET_EXIT,
	MOCK_CALL_DOMAIN,
	MOCK_CALL_EQ_OPEN,
	MOCK_CALL_PASSIVE_EP,
	MOCK_CALL_CQ_OPEN,
	MOCK_CALL_ENDPOINT,
	MOCK_CALL_MR_REG,
	MOCK_CALL_CNTR_OPEN,
	MOCK_CALL_AV_OPEN,
	MOCK_CALL_SRX_CTX,
	MOCK_CALL_SCALABLE_EP,
	MOCK_CALL_TX_CTX,
	MOCK_CALL_RX_CTX,
	MOCK_CALL_STX_CTX,
	MOCK_CALL_JOIN,
	MOCK_CALL_CLOSE,
	MOCK_CALL_BIND,
	MOCK_CALL_CONTROL,
	MOCK_CALL_CANCEL,
	MOCK_CALL_GETOPT,
	MOCK_CALL_SETOPT,
	MOCK_CALL_SETNAME,
	MOCK_CALL_GETNAME,
	MOCK_CALL_GETPEER,
	MOCK_CALL_CONNECT,
	MOCK_CALL_LISTEN,
	MOCK_CALL_ACCEPT,
	MOCK_CALL_REJECT,
	MOCK_CALL_SHUTDOWN,
	MOCK_CALL_DRAIN,
	MOCK_CALL_AV_INSERT,
	MOCK_CALL_AV_INSERTSVC,
	MOCK_CALL_AV_INSERTSYM,
	MOCK_CALL_AV_REMOVE,
	MOCK_CALL_AV_LOOKUP,
	MOCK_CALL_AV_STRADDR,
	MOCK_CALL_AV_AUTH_KEY,
	MOCK_CALL_AV_USER_ID,
	MOCK_NR_CALLS,
};

/**
 * enum mock_flaw - What is wrong with one table of new objects
 * @MOCK_SOUND: nothing
 * @MOCK_NO_TABLE: the pointer to it is NULL
 * @MOCK_HOLE: slot number @arg is NULL
 * @MOCK_SIZE: it is @arg bytes long, and says so
 * @MOCK_FILLERS: it is the core's own table of -ENOSYS
 * @MOCK_FILLER_COPY: it is a table of the mock's, filled with these
 * @MOCK_WRONG_CLASS: not a table: fid.fclass is FI_CLASS_UNSPEC
 * @MOCK_REAL: not a flaw: slot number @arg is a function of the mock's
 */
enum mock_flaw {
	MOCK_SOUND,
	MOCK_NO_TABLE,
	MOCK_HOLE,
	MOCK_SIZE,
	MOCK_FILLERS,
	MOCK_FILLER_COPY,
	MOCK_WRONG_CLASS,
	MOCK_REAL,
};

struct mock_knob {
	enum mock_flaw	flaw;
	enum mock_class	class;
	unsigned int	table;
	size_t		arg;
};

/* What is wrong with each fi_info that getinfo returns */
enum mock_malformed {
	MOCK_INFO_SOUND,
	MOCK_INFO_NO_TX_ATTR,
	MOCK_INFO_NO_RX_ATTR,
	MOCK_INFO_NO_EP_ATTR,
	MOCK_INFO_NO_DOMAIN_ATTR,
	MOCK_INFO_NO_FABRIC_ATTR,
	MOCK_INFO_NO_DOMAIN_NAME,
	MOCK_INFO_NO_FABRIC_NAME,
	MOCK_INFO_NR_MALFORMED,
};

/**
 * struct mock - One instance
 * @provider: register this
 * @name: its name
 * @slot: which of the entry points are its own
 * @infos: what getinfo returns copies of; a test may change or extend the list
 * @malformed: what is wrong with the copies
 * @empty: getinfo returns 0 and no list
 * @in_getinfo: called inside getinfo
 * @net_exits: fabrics whose namespace has gone
 * @net_exited: the last one
 * @loop: an enabled endpoint is its own peer
 * @dma_device: answer of fi_domain_device()
 * @api_version: of fabrics; 0: the core sets it
 * @group_addr: address of multicast groups
 * @mr_flags: flags of the last fi_mr_regattr()
 * @av_flags: flags of the last call on an address vector
 * @knob: what is wrong with the tables of new objects
 * @fail: error of the next call of each kind, may be set at any time
 * @calls: calls made of each kind
 * @live: open objects of each class
 * @infos_out: lists that getinfo returned and freeinfo has not got back
 * @gate_call: call that stops at the gate, once
 * @gate_armed: the gate is closed
 * @gate_entered: somebody stands at the gate
 * @gate_opened: who stands there may go on
 * @lock: guards all below and the state of endpoints; never held across a call
 *	into the core or a client
 * @listening: passive endpoints
 * @done: struct mock_op to complete
 * @posts: struct mock_event to post
 * @work: completes and posts them
 */
struct mock {
	struct kofi_provider	provider;
	char			name[FI_NAME_MAX];
	int			slot;
	struct fi_info		*infos;
	enum mock_malformed	malformed;
	bool			empty;
	void			(*in_getinfo)(struct mock *mock, const struct fi_info *hints);
	int			net_exits;
	struct fid_fabric	*net_exited;
	bool			loop;
	struct device		*dma_device;
	u32			api_version;
	fi_addr_t		group_addr;
	u64			mr_flags;
	u64			av_flags;
	struct mock_knob	knob;
	int			fail[MOCK_NR_CALLS];
	atomic_t		calls[MOCK_NR_CALLS];
	atomic_t		live[MOCK_NR_CLASSES];
	atomic_t		infos_out;

	enum mock_call		gate_call;
	int			gate_armed;
	struct completion	gate_entered;
	struct completion	gate_opened;

	spinlock_t		lock;	/* see above */
	struct list_head	listening;
	struct list_head	done;
	struct list_head	posts;
	struct work_struct	work;
};

/**
 * mock_create() - A new instance, not registered
 * @name: the provider's name
 * @version: the provider's version
 *
 * Context: may sleep.
 * Return: the instance, or NULL: memory is short or MOCK_MAX are there.
 */
struct mock *mock_create(const char *name, u32 version);

/**
 * mock_destroy() - Free an instance that is not registered (any more)
 * @mock: the instance
 *
 * Context: may sleep.
 */
void mock_destroy(struct mock *mock);

/**
 * mock_info() - A new fi_info of an instance, to extend mock->infos with
 * @mock: the instance
 *
 * Context: may sleep.
 * Return: the fi_info, or NULL.
 */
struct fi_info *mock_info(const struct mock *mock);

/* The next @call stops inside the provider until mock_gate_open() */
void mock_gate_arm(struct mock *mock, enum mock_call call);
/* Waits until it has; false: it did not come */
bool mock_gate_wait(struct mock *mock);
void mock_gate_open(struct mock *mock);

/* The newest open object, or NULL: for a client that has forgotten it */
struct fid *mock_newest(const struct mock *mock);

int mock_live(const struct mock *mock);
int mock_calls(const struct mock *mock);

/**
 * mock_reap() - Free objects that cannot be closed (their ->close is a hole)
 * @mock: the instance
 *
 * Context: may sleep; nobody uses the objects.
 * Return: how many there were.
 */
int mock_reap(struct mock *mock);

#endif /* _KUNIT_MOCK_H */
