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
# The driver of an NVDIMM finds it in the background
if modprobe nfit 2>/dev/null; then
	modprobe nd_pmem 2>/dev/null
	for bus in /sys/bus/nd/devices/ndbus*; do
		cat "$bus/wait_probe" >/dev/null
	done
fi
modprobe "kofi_$prov" && modprobe kofi_pmem_crash "prov=$prov" "$@"
