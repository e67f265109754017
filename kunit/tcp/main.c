// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites of kofi_tcp.ko beyond what every provider has to pass
 * (kunit/conformance): the wire as bytes.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

static void __exit tcp_test_exit(void)
{
	/* Filters of sockets, which RCU frees */
	rcu_barrier();
}
module_exit(tcp_test_exit);

MODULE_DESCRIPTION("KUnit tests of the wire of the kOFI provider for TCP");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
