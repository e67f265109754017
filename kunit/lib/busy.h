/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections of a case with itself that are as busy as they can, until the device
 * has gone: messages and writes on each of them, and beside them registrations,
 * connects and accepts.  They account for each operation.  In kofi_client.ko.
 */
#ifndef _KUNIT_BUSY_H
#define _KUNIT_BUSY_H

#include <kunit/test.h>
#include <rdma/fi_domain.h>

struct busy;

/**
 * struct busy_count - What has been going on
 * @posted: operations posted
 * @ok: how many ended well
 * @failed: how many ended with an error
 * @twice: completions of operations that were not posted
 * @out: operations that have not ended
 * @told: endpoints whose event queue said that the device has gone
 * @regs: memory registrations
 * @joins: connections made and closed
 */
struct busy_count {
	unsigned long	posted;
	unsigned long	ok;
	unsigned long	failed;
	unsigned long	twice;
	unsigned long	out;
	unsigned long	told;
	unsigned long	regs;
	unsigned long	joins;
};

/**
 * busy_start() - Connect and begin
 * @test: the case, which ends them with busy_stop(), or they end with it
 * @info: a local address
 * @conns: connections
 *
 * Context: may sleep.
 * Return: the connections; each has had some of its operations end well.
 */
struct busy *busy_start(struct kunit *test, const struct fi_info *info,
			unsigned int conns);

/**
 * busy_is_busy() - Has nothing stopped yet?
 * @busy: the connections
 *
 * Context: any.
 * Return: true: all are at it.
 */
bool busy_is_busy(struct busy *busy);

/**
 * busy_end_joins() - Connect and accept no more
 * @busy: the connections, which go on
 *
 * Context: may sleep.
 */
void busy_end_joins(struct busy *busy);

/**
 * busy_end_regs() - Register memory no more
 * @busy: the connections, which go on
 *
 * For providers whose regions need nothing that could go.
 *
 * Context: may sleep.
 */
void busy_end_regs(struct busy *busy);

/**
 * busy_expect_gone() - Wait until all have seen that the device has gone
 * @busy: the connections
 *
 * Context: may sleep.
 * Return: the final account.
 */
struct busy_count busy_expect_gone(struct busy *busy);

/**
 * busy_stop() - Close everything
 * @busy: the connections
 *
 * Context: may sleep.
 */
void busy_stop(struct busy *busy);

#endif /* _KUNIT_BUSY_H */
