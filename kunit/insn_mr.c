// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration.
 */
#include <linux/module.h>

#include "insn.h"

const struct insn_case insn_mr_cases[] = {
};

const unsigned int insn_nr_mr_cases;
