/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_mock.ko share.
 */
#ifndef _KUNIT_MOCK_PRIV_H
#define _KUNIT_MOCK_PRIV_H

#include <kofi/cntr.h>
#include <kofi/connreq.h>
#include <kofi/cq.h>
#include <kofi/eq.h>
#include "mock.h"

/**
 * struct mock_obj - Embedded in each object; finds the instance of a fid
 * @entry: place in the list of all objects
 * @mock: the instance
 * @class: which class
 * @fid: the object
 * @tables: its tables, each in memory of its own, so that KASAN sees whoever
 *	reads beyond a short one
 * @release: frees the object and all it holds
 */
struct mock_obj {
	struct list_head	entry;
	struct mock		*mock;
	enum mock_class		class;
	struct fid		*fid;
	void			*tables[MOCK_MAX_TABLES];
	void			(*release)(struct mock_obj *obj);
};

int mock_obj_init(struct mock_obj *obj, struct mock *mock,
		  enum mock_class class, struct fid *fid, void *context);
void mock_obj_fini(struct mock_obj *obj);
struct mock_obj *mock_obj_find(const struct fid *fid);
struct mock *mock_of(const struct fid *fid);

/* First thing in each call: counts, stops at the gate, fails if told to */
int mock_enter(struct mock *mock, enum mock_call call);

int mock_close(struct fid *fid);
int mock_open_fabric(struct mock *mock, struct fid_fabric **fabric, void *context);

struct mock_cq {
	struct kofi_cq		kcq;
	struct mock_obj		obj;
};

struct mock_cntr {
	struct kofi_cntr	kcntr;
	struct mock_obj		obj;
};

int mock_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		 struct fid_eq **eq, void *context);
int mock_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		 struct fid_cq **cq, void *context);

int mock_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		   struct fid_cntr **cntr, void *context);

int mock_join(struct fid_ep *ep, const void *addr, u64 flags, struct fid_mc **mc, void *context);

extern const struct fi_ops mock_fid_ops;
extern const struct fi_ops_fabric mock_fabric_ops;
extern const struct fi_ops_domain mock_domain_ops;
extern const struct fi_ops_mr mock_mr_ops;
extern const struct fi_ops_av mock_av_ops;
extern const struct fi_ops_ep mock_sep_ops;
extern const struct fi_ops_ep mock_ctx_ops;
extern const struct fi_ops_xfer mock_queue_xfer;
extern const struct fi_ops mock_cntr_fid_ops;

/* An event and the way to its queue: @pending is in mock->posts */
struct mock_event {
	struct kofi_event	event;
	struct list_head	pending;
	struct kofi_eq		*eq;
	u8			data[MOCK_CM_DATA];
};

/* A queue slot: free, posted, waiting for a receive, or in mock->done */
struct mock_op {
	struct kofi_comp	comp;
	struct list_head	entry;
	struct mock_ep		*ep;
	struct list_head	*free;
	struct kofi_cq		*cq;
	bool			silent;
	bool			has_data;
	u64			data;
	size_t			len;
	u8			*buf;
	u8			copy[MOCK_MAX_MSG];
};

enum mock_state {
	MOCK_IDLE,
	MOCK_CONNECTING,
	MOCK_CONNECTED,
	MOCK_DOWN,
};

/**
 * struct mock_ep - An endpoint
 * @ep: what the client sees
 * @obj: the mock's bookkeeping
 * @state: of the connection
 * @enabled: fi_enable() was called
 * @peer: where messages go, if connected
 * @port: peer's port in the fi_info it was opened with
 * @passive: opened with a request
 * @req: that request, until accepted
 * @asks: its own request, until answered
 * @eq: bound event queue
 * @tx_cq: bound for FI_TRANSMIT
 * @rx_cq: bound for FI_RECV
 * @tx_cntr: bound for FI_SEND, or NULL
 * @rx_cntr: bound for FI_RECV, or NULL
 * @tx: slots of the transmit queue
 * @rx: slots of the receive queue
 * @tx_free: free slots
 * @rx_free: free slots
 * @rx_posted: receives, oldest first
 * @arrived: transmit slots of the peer that wait for a receive
 * @connected: FI_CONNECTED
 * @down: FI_SHUTDOWN
 * @error: the error of a connection
 */
struct mock_ep {
	struct fid_ep		ep;
	struct mock_obj		obj;
	enum mock_state		state;
	bool			enabled;
	struct mock_ep		*peer;
	int			port;
	bool			passive;
	struct mock_connreq	*req;
	struct mock_connreq	*asks;
	struct kofi_eq		*eq;
	struct kofi_cq		*tx_cq;
	struct kofi_cq		*rx_cq;
	struct kofi_cntr	*tx_cntr;
	struct kofi_cntr	*rx_cntr;
	struct mock_op		tx[MOCK_DEPTH];
	struct mock_op		rx[MOCK_DEPTH];
	struct list_head	tx_free;
	struct list_head	rx_free;
	struct list_head	rx_posted;
	struct list_head	arrived;
	struct mock_event	connected;
	struct mock_event	down;
	struct mock_event	error;
};

struct mock_pep {
	struct fid_pep		pep;
	struct mock_obj		obj;
	struct kofi_eq		*eq;
	struct list_head	listening;
	int			port;
};

/**
 * struct mock_connreq - A connection request
 * @req: in the registry until an endpoint or a rejection takes it
 * @mock: the instance
 * @active: the endpoint that asks; NULL: has gone
 * @data: its connection data
 */
struct mock_connreq {
	struct kofi_connreq	req;
	struct mock		*mock;
	struct mock_ep		*active;
	u8			data[MOCK_CM_DATA];
};

int mock_endpoint(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **ep, void *context);
int mock_alias(struct mock_ep *ep, struct fi_alias *alias);
int mock_ep_bind(struct fid *fid, struct fid *bfid, u64 flags);
int mock_ep_control(struct fid *fid, int command, void *arg);
void mock_ep_cancel_all(struct mock_ep *ep, int err);
void mock_op_free(struct kofi_comp *chain);
void mock_work(struct work_struct *work);

extern const struct fi_ops mock_ep_fid_ops;
extern const struct fi_ops_xfer mock_ep_xfer;

int mock_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_pep **pep, void *context);
void mock_event_init(struct mock_event *event, struct fid *fid, u32 type);
void mock_event_post(struct mock *mock, struct mock_event *event, struct kofi_eq *eq);
void mock_event_withdraw(struct mock_event *event);
int mock_connreq_take(struct mock *mock, struct mock_ep *ep, const struct fi_info *info);
void mock_cm_leave(struct mock_ep *ep);

extern const struct fi_ops mock_pep_fid_ops;
extern const struct fi_ops_ep mock_ep_ops;
extern const struct fi_ops_cm mock_ep_cm;
extern const struct fi_ops_cm mock_pep_cm;

#endif /* _KUNIT_MOCK_PRIV_H */
