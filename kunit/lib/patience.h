/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits for a wake-up.
 *
 * Most waits look once more when their time is over.  One that finds then what it has
 * waited for looks like one that was woken, so a case that only looks at the result does
 * not notice a lost wake-up.  In User-Mode Linux it does not even take longer, as the
 * clock jumps.  These are the calls that sleep, with a time-out of VT_PATIENCE_MS; they
 * return -ETIMEDOUT when it has passed, whatever was found then.
 */
#ifndef _KUNIT_PATIENCE_H
#define _KUNIT_PATIENCE_H

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

/* Emulated and with all sanitizers on, an exchange may take seconds */
#define VT_PATIENCE_MS	30000

/**
 * vt_in_time() - What a call returns that waits to be woken
 * @ms: the time-out that is given to the call, some seconds at least
 * @call: the call
 *
 * Return: what @call returns, or -ETIMEDOUT if it came back when its time was over.
 */
#define vt_in_time(ms, call)						\
({									\
	/* A second less, as a time-out may come a tick too early */	\
	ktime_t __late = ktime_add_ms(ktime_get(), (ms) - MSEC_PER_SEC);	\
	typeof(call) __ret = (call);					\
									\
	ktime_before(ktime_get(), __late) ? __ret : -ETIMEDOUT;		\
})

/* Returns true if it is completed in time */
static inline bool vt_completed(struct completion *done)
{
	return wait_for_completion_timeout(done, msecs_to_jiffies(VT_PATIENCE_MS));
}

/*
 * Looks at @cond, which no event follows, again and again for VT_PATIENCE_MS; returns whether it
 * has become true
 */
#define vt_until(cond)							\
({									\
	ktime_t __late = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);	\
	bool __true;							\
									\
	while (!(__true = (cond)) && ktime_before(ktime_get(), __late))	\
		usleep_range(1000, 2000);				\
	__true;								\
})

static inline ssize_t vt_cq_sread(struct fid_cq *cq, void *buf, size_t count,
				  const void *cond)
{
	return vt_in_time(VT_PATIENCE_MS,
			  fi_cq_sread(cq, buf, count, cond, VT_PATIENCE_MS));
}

static inline ssize_t vt_cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count,
				      fi_addr_t *addr, const void *cond)
{
	return vt_in_time(VT_PATIENCE_MS,
			  fi_cq_sreadfrom(cq, buf, count, addr, cond, VT_PATIENCE_MS));
}

static inline ssize_t vt_eq_sread(struct fid_eq *eq, u32 *event, void *buf, size_t len,
				  u64 flags)
{
	return vt_in_time(VT_PATIENCE_MS,
			  fi_eq_sread(eq, event, buf, len, VT_PATIENCE_MS, flags));
}

static inline int vt_cntr_wait(struct fid_cntr *cntr, u64 threshold)
{
	return vt_in_time(VT_PATIENCE_MS,
			  fi_cntr_wait(cntr, threshold, VT_PATIENCE_MS));
}

static inline int vt_ep_drain(struct fid_ep *ep)
{
	return vt_in_time(VT_PATIENCE_MS, fi_ep_drain(ep, VT_PATIENCE_MS));
}

#endif /* _KUNIT_PATIENCE_H */
