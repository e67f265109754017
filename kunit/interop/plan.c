// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What there is to do, by name; interop.h says what the fields are.
 *
 * "tcp-brief" is for a capture of all that goes over the wire: it makes each kind of
 * message, and few bytes.
 */
#include "interop.h"

#define INTEROP_CASE(which) (1U << (which))
#define INTEROP_RMA	(INTEROP_CASE(INTEROP_WRITE) | INTEROP_CASE(INTEROP_READ) | \
			 INTEROP_CASE(INTEROP_WRITEDATA))
#define INTEROP_ATOMICS	(INTEROP_CASE(INTEROP_FETCH_ADD) | \
			 INTEROP_CASE(INTEROP_CSWAP))
#define INTEROP_TCP	(INTEROP_RMA | INTEROP_CASE(INTEROP_SENDDATA) | \
			 INTEROP_CASE(INTEROP_DELIVERY) | INTEROP_CASE(INTEROP_COMMIT))
/* By ofi_rxm messages are delivered by offers, whose receives complete in any order */
#define INTEROP_RXM	(INTEROP_RMA | INTEROP_ATOMICS | INTEROP_CASE(INTEROP_SENDDATA) | \
			 INTEROP_RDM | INTEROP_CASE(INTEROP_CUT))
#define INTEROP_RDM	(INTEROP_CASE(INTEROP_MESSAGE) | INTEROP_CASE(INTEROP_TAGGED) | \
			 INTEROP_CASE(INTEROP_LATE) | INTEROP_CASE(INTEROP_TAGGED_LATE) | \
			 INTEROP_CASE(INTEROP_CANCEL))

/* What plans have in common: lengths up to the longest; endpoints with connections, and without */
#define INTEROP_LONG	.max_len = INTEROP_MAX, .batches = 8
#define INTEROP_TCP_MSG	.prov = "tcp", .caps = FI_MSG | FI_RMA | FI_RMA_PMEM, \
			.cases = INTEROP_TCP, .cm_data = INTEROP_CM_DATA, \
			.data_size = sizeof(__u64)
#define INTEROP_TCP_RDM	.prov = "tcp", .rdm = true, .data_size = sizeof(__u64)
#define INTEROP_TCP_RXM	.prov = "tcp;ofi_rxm", .rdm = true, .data_size = sizeof(__u64)
#define INTEROP_MSGS	(FI_MSG | FI_TAGGED | FI_DIRECTED_RECV)

static const struct interop_plan interop_plans[] = {
	{
		.name			= "verbs",
		.prov			= "verbs",
		.caps			= FI_MSG | FI_RMA | FI_ATOMIC,
		.cases			= INTEROP_RMA | INTEROP_ATOMICS,
		.cm_data		= 55,
		.cm_step		= 1,
		.data_size		= sizeof(__u32),
		.data_takes_receive	= true,
		.virt			= true,
		INTEROP_LONG,
	},
	{ .name = "tcp-virtual", INTEROP_TCP_MSG, .cm_step = 1, .virt = true, INTEROP_LONG },
	{ .name = "tcp-offset", INTEROP_TCP_MSG, .cm_step = 1, INTEROP_LONG },
	{ .name = "tcp-brief", INTEROP_TCP_MSG, .cm_step = 32, .max_len = 1025, .batches = 1 },
	{
		.name			= "rdm",
		.caps			= INTEROP_MSGS | FI_RMA,
		.cases			= INTEROP_RMA | INTEROP_CASE(INTEROP_SENDDATA) |
					  INTEROP_CASE(INTEROP_DELIVERY) | INTEROP_RDM,
		INTEROP_TCP_RDM,
		INTEROP_LONG,
	},
	{
		.name			= "rdm-contexts",
		.caps			= INTEROP_MSGS | FI_RMA,
		.cases			= INTEROP_RMA | INTEROP_CASE(INTEROP_SENDDATA) |
					  INTEROP_CASE(INTEROP_DELIVERY) | INTEROP_RDM,
		.contexts		= true,
		INTEROP_TCP_RDM,
		INTEROP_LONG,
	},
	{
		.name			= "rxm-tcp",
		.caps			= INTEROP_MSGS | FI_RMA | FI_ATOMIC,
		.cases			= INTEROP_RXM,
		INTEROP_TCP_RXM,
		INTEROP_LONG,
	},
	{
		.name			= "rxm-verbs",
		.prov			= "verbs;ofi_rxm",
		.caps			= INTEROP_MSGS | FI_RMA | FI_ATOMIC,
		.cases			= INTEROP_RXM,
		.data_size		= sizeof(__u32),
		.virt			= true,
		.rdm			= true,
		INTEROP_LONG,
	},
	{
		/*
		 * iWARP has no remote CQ data of writes, so there are none with RMA.  Regions of
		 * siw have a MiB.  libfabric could not cut messages longer than that: of one that
		 * is on offer in several ranges it waits for as many reads, also if its receive
		 * ends in front of the last
		 */
		.name			= "rxm-iwarp",
		.prov			= "verbs;ofi_rxm",
		.caps			= INTEROP_MSGS | FI_RMA | FI_ATOMIC,
		.cases			= INTEROP_CASE(INTEROP_WRITE) |
					  INTEROP_CASE(INTEROP_READ) | INTEROP_ATOMICS |
					  INTEROP_RDM | INTEROP_CASE(INTEROP_CUT),
		.virt			= true,
		.rdm			= true,
		.max_len		= 1 << 19,
		.region			= 1 << 20,
		.batches		= 8,
	},
	{
		.name			= "rxm-write",
		.caps			= INTEROP_MSGS,
		.cases			= INTEROP_CASE(INTEROP_SENDDATA) | INTEROP_RDM |
					  INTEROP_CASE(INTEROP_CUT),
		INTEROP_TCP_RXM,
		INTEROP_LONG,
	},
	{
		.name			= "rxm-dyn",
		.caps			= INTEROP_MSGS,
		.cases			= INTEROP_CASE(INTEROP_SENDDATA) | INTEROP_RDM,
		INTEROP_TCP_RXM,
		.max_len		= 1 << 18,
		.batches		= 8,
	},
	{
		.name			= "rdm-pairs",
		.caps			= FI_MSG | FI_TAGGED,
		.cases			= INTEROP_CASE(INTEROP_MEET) | INTEROP_CASE(INTEROP_AV),
		INTEROP_TCP_RDM,
	},
	{
		.name			= "rxm-pairs",
		.caps			= FI_MSG | FI_TAGGED,
		.cases			= INTEROP_CASE(INTEROP_MEET) | INTEROP_CASE(INTEROP_AV),
		INTEROP_TCP_RXM,
	},
};

/*
 * What stock libfabric is known to do over tcp:
 *
 *	before 2.4	the completion of a peer's write has no FI_RMA
 *	before 1.18	nor a length; and the end of a connection is noticed while its
 *			completion queue is read, not its event queue
 *
 * ofi_rxm of 1.17 reports a peer's write without a length, whatever is below it; 2.1 has one.
 */
static void interop_learn_lib(struct interop_end *end)
{
	bool rxm = strstr(end->plan->prov, ";ofi_rxm");
	bool tcp = !strncmp(end->plan->prov, "tcp", strlen("tcp"));

	end->write_flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
	if (tcp && INTEROP_LIB_BEFORE(2, 4))
		end->write_flags &= ~FI_RMA;
	end->write_has_len = !(tcp || rxm) || !INTEROP_LIB_BEFORE(1, 18);
	end->cq_moves_eq = tcp && !rxm && INTEROP_LIB_BEFORE(1, 18);
}

/**
 * interop_choose() - Choose what is to be done
 * @end: zeroed
 * @plan: the name of a plan
 *
 * Context: any.
 * Return: 0; -EINVAL: there is none of this name.
 */
int interop_choose(struct interop_end *end, const char *plan)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(interop_plans); i++) {
		if (strcmp(plan, interop_plans[i].name))
			continue;
		end->plan = &interop_plans[i];
		interop_learn_lib(end);
		return 0;
	}
	return -EINVAL;
}
