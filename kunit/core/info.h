/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites about fi_info share; info_test.c has the code.
 */
#ifndef _KUNIT_INFO_TEST_H
#define _KUNIT_INFO_TEST_H

#include "core.h"

/* An fi_info in which every pointer points to something; freed after the case */
struct fi_info *info_full(struct kunit *test);

/* Frees it after the case; NULL fails the case */
struct fi_info *info_adopt(struct kunit *test, struct fi_info *info);

/* Gives it a NIC with all of its attributes, which are 0 */
void info_add_nic(struct kunit *test, struct fi_info *info);

/* A socket address, written as a client would write it */
void info_set_addr(struct kunit *test, void **addr, size_t *len, const char *node, int port);

#endif /* _KUNIT_INFO_TEST_H */
