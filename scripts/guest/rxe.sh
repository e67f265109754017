#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Give the guest a soft-RoCE device: rxe0 over dummy0, which has the addresses
# 10.77.0.1/24 and fd77::1/64. Returns when both addresses can be used for
# connections, that is, when both stand in the GID table.

fail()
{
	echo "rxe: $*" >&2
	exit 1
}

# rxe asks the crypto core for "crc32"; on stock kernels that is a module
# which depmod does not know as a dependency.
modprobe -q crc32_generic
modprobe -q dummy numdummies=0
for m in rdma_rxe rdma_cm rdma_ucm; do
	modprobe -q $m || grep -q "/$m.ko" "/lib/modules/$(uname -r)/modules.builtin" ||
		fail "cannot load $m; see the console"
done
ip link show dummy0 >/dev/null 2>&1 || ip link add dummy0 type dummy ||
	fail "cannot add dummy0"
ip link set dummy0 up
ip addr add 10.77.0.1/24 dev dummy0
ip -6 addr add fd77::1/64 dev dummy0 nodad
rdma link add rxe0 type rxe netdev dummy0 ||
	fail "cannot add rxe0 over dummy0; see the console"

gids=/sys/class/infiniband/rxe0/ports/1/gids
tries=0
until cat $gids/* 2>/dev/null | grep -q ffff:0a4d:0001 &&
	cat $gids/* 2>/dev/null | grep -q fd77:0000:0000:0000:0000:0000:0000:0001; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "the GID table of rxe0 has no entry for dummy0's addresses"
	usleep 100000
done
