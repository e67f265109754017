/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_hook_fault.ko share.
 *
 *	fault.c		the module, and calls that are no data transfers
 *	fault_ep.c	data transfer calls, the ready callback, connections that end
 *	fault_cq.c	completions: failed, kept for a while
 *	fault_rule.c	the rules that say what goes wrong, and debugfs
 */
#ifndef _KOFI_HOOK_FAULT_H
#define _KOFI_HOOK_FAULT_H

#include <linux/bits.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <kofi/hook.h>

/* What goes wrong */
enum fault_kind {
	FAULT_AGAIN,		/* the call answers -EAGAIN */
	FAULT_ERROR,		/* the call answers with another error */
	FAULT_FAIL,		/* the operation completes with an error */
	FAULT_SHUTDOWN,		/* the connection ends */
	FAULT_DELAY,		/* the completion comes later */
	FAULT_KINDS,
};

/* Where it goes wrong: after the results of kofi_hook_op(), calls that are no data transfers */
enum fault_place {
	FAULT_OPEN = KOFI_HOOK_OPS,	/* anything but a region is opened */
	FAULT_MR,
	FAULT_CONNECT,
	FAULT_ACCEPT,
	FAULT_PLACES,
};

/**
 * struct fault - What goes wrong this time
 * @kind: what
 * @value: a positive error number, or milliseconds
 */
struct fault {
	enum fault_kind	kind;
	u32		value;
};

/**
 * fault_decide() - Does something go wrong here?
 * @place: where
 * @kinds: BIT() of each &enum fault_kind that is possible here
 * @fault: what goes wrong
 *
 * Each rule that is about this place and one of @kinds counts the call.  The first rule that
 * fires decides, and the rules behind it do not fire.
 *
 * Context: any.
 * Return: whether a rule fired.
 */
bool fault_decide(unsigned int place, u32 kinds, struct fault *fault);

/* The negative error of a call that is no data transfer, or 0: the call is forwarded */
int fault_control(unsigned int place);

/* Adds the rules of the module's parameters, and the files in debugfs; 0 or a negative errno */
int fault_rules_init(void);
void fault_rules_exit(void);

struct fault_ep;

/**
 * struct fault_side - One direction of an endpoint
 * @ep: the endpoint
 * @dir: FI_TRANSMIT or FI_RECV
 * @wanted: the hook has answered -EAGAIN, and the client's ->ready has not been called since
 * @refused: the provider below has answered -EAGAIN, and will call ->ready
 * @call: calls the client in the context of the queue
 * @work: calls the client of a shared receive context
 */
struct fault_side {
	struct fault_ep		*ep;
	u64			dir;
	bool			wanted;
	bool			refused;
	struct kofi_cq_call	call;
	struct work_struct	work;
};

/**
 * struct fault_ep - An endpoint
 * @obj: the hook's object
 * @lock: guards @stopped; held while @call or @work of a side, or @end, becomes due
 * @stopped: no @call, @work or @end becomes due any more
 * @tx: transmit side
 * @rx: receive side
 * @end: ends the connection
 */
struct fault_ep {
	struct kofi_hook_obj	obj;
	spinlock_t		lock;	/* see above */
	bool			stopped;
	struct fault_side	tx;
	struct fault_side	rx;
	struct work_struct	end;
};

/**
 * struct fault_cq - A completion queue
 * @obj: the hook's object
 * @lock: guards all fields below
 * @doomed_ep: endpoint whose operation is to fail, or NULL
 * @doomed: context of that operation
 * @doomed_err: positive error number that it fails with
 * @kept: completions that are delayed, oldest first
 * @tail: where the next completion is linked
 * @releasing: @release has taken @kept, and the queue does not have all of it yet
 * @release: gives @kept to the queue
 */
struct fault_cq {
	struct kofi_hook_obj	obj;
	spinlock_t		lock;	/* see above */
	struct fault_ep		*doomed_ep;
	void			*doomed;
	int			doomed_err;
	struct kofi_comp	*kept;
	struct kofi_comp	**tail;
	bool			releasing;
	struct delayed_work	release;
};

static inline struct fault_ep *to_fault_ep(struct kofi_hook_obj *obj)
{
	return container_of(obj, struct fault_ep, obj);
}

static inline struct fault_cq *to_fault_cq(struct kofi_hook_obj *obj)
{
	return container_of(obj, struct fault_cq, obj);
}

/* WQ_MEM_RECLAIM, as memory reclaim may wait for the close of an endpoint */
extern struct workqueue_struct *fault_wq;

/* fault_ep.c */
void fault_ep_init(struct fault_ep *ep);
int fault_ep_stop(struct fault_ep *ep);
void fault_ep_resume(struct fault_ep *ep);
ssize_t fault_begin(struct kofi_hook_obj *obj, const struct fi_xfer *xfer, u64 *marks);
ssize_t fault_end(struct kofi_hook_obj *obj, const struct fi_xfer *xfer, u64 marks,
		  ssize_t ret);
bool fault_ready(struct kofi_hook_obj *obj, u64 flags);
/* End the connection in a work item.  Any context */
void fault_ep_end(struct fault_ep *ep);

/* fault_cq.c */
void fault_cq_init(struct fault_cq *cq);
int fault_cq_stop(struct fault_cq *cq);
bool fault_complete(struct kofi_hook_obj *obj, struct kofi_comp *comp);
void fault_flush(struct kofi_hook_obj *obj);
/* The operation of @ep with @context fails, unless another of the queue is doomed after it */
void fault_doom(struct fault_cq *cq, struct fault_ep *ep, void *context, int err);
/* No operation of @ep is doomed any more */
void fault_spare(struct fault_cq *cq, struct fault_ep *ep);

#endif /* _KOFI_HOOK_FAULT_H */
