#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# In a guest of scripts/pmem: load the test module, which checks the medium and then writes and
# saves until the machine is killed.
#
# usage: pmem.sh [PROVIDER,PARAMETER,...]    default: $KOFI_PMEM, of the kernel's command line

# shellcheck disable=SC2046 # words
set -- $(echo "${1:-$KOFI_PMEM}" | tr , ' ')
prov=$1
shift
ip link set lo up
# The driver of an NVDIMM finds it in the background, as a plain disk the first time. A file
# system, or a region, may use its memory when there are pages of it, as by "ndctl
# create-namespace --mode fsdax"; the machine's own memory holds them here.
if modprobe nfit 2>/dev/null; then
	modprobe nd_pmem 2>/dev/null
	for bus in /sys/bus/nd/devices/ndbus*; do
		cat "$bus/wait_probe" >/dev/null
	done
	pmem=/sys/bus/nd/drivers/nd_pmem
	if [ -e $pmem/namespace0.0 ]; then
		pfn=$(cat /sys/bus/nd/devices/region0/pfn_seed)
		echo namespace0.0 >$pmem/unbind
		cat /proc/sys/kernel/random/uuid >"/sys/bus/nd/devices/$pfn/uuid"
		echo ram >"/sys/bus/nd/devices/$pfn/mode"
		echo 2097152 >"/sys/bus/nd/devices/$pfn/align"
		echo namespace0.0 >"/sys/bus/nd/devices/$pfn/namespace"
		echo "$pfn" >$pmem/bind
	fi
fi
node=127.0.0.1
if [ "$prov" = verbs ]; then
	node=10.77.0.1
	"${0%/*}/rxe.sh" || exit
fi
modprobe "kofi_$prov" && modprobe kofi_pmem_crash "prov=$prov" "node=$node" "$@"
