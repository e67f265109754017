/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The C library's <errno.h> includes this, too */
#include <asm/errno.h>
