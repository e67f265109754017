/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reasons of refused calls, by the trace event kofi_refused.  In kofi_client.ko.
 */
#ifndef _KUNIT_REFUSAL_H
#define _KUNIT_REFUSAL_H

#include <kunit/test.h>

/**
 * vt_refusals_begin() - Follow the refusals of this task, until the case ends
 * @test: the case
 *
 * Context: may sleep.
 */
void vt_refusals_begin(struct kunit *test);

/**
 * vt_refusals_begin_all() - As vt_refusals_begin(), of every task
 * @test: the case
 *
 * Context: may sleep.
 */
void vt_refusals_begin_all(struct kunit *test);

/**
 * vt_refused() - Has a call been refused with such a reason since the last question?
 * @test: the case
 * @call: name of the call
 * @ret: negative errno
 * @words: part of the reason
 *
 * Fails the case if not, and prints what was said.
 *
 * Context: may sleep, after vt_refusals_begin().
 */
void vt_refused(struct kunit *test, const char *call, long ret, const char *words);

/**
 * vt_not_refused() - Has no call been refused since the last question?
 * @test: the case
 *
 * Context: any, after vt_refusals_begin().
 */
void vt_not_refused(struct kunit *test);

#endif /* _KUNIT_REFUSAL_H */
