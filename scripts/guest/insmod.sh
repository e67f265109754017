#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Load each of our modules while each allocation on the way fails once (tools/insmod-nth). Either the
# load is refused with ENOMEM, or the module can be unloaded like any other; nothing of it is left,
# neither memory nor what would keep it from being loaded.
#
# usage: insmod.sh; insmod.sh list
# A case is a module; the last one, with kmemleak=on, is what all loads have lost. kofi_pingpong is
# loaded with both roles, kofi with a hook on every provider. Modules of tests, and clients that need a
# peer to load, have none.
# Prints KTAP; exits 1 if a case failed.

# shellcheck source=scripts/guest/cases.sh
. "$(dirname "$0")/cases.sh"
# shellcheck source=scripts/guest/leaks.sh
. "$(dirname "$0")/leaks.sh"

list()
{
	for module in kofi kofi_loop kofi_tcp kofi_verbs kofi_rxm kofi_hook_trace kofi_hook_fault \
		kofi_hook_p2p kofi_kfi kofi_pingpong; do
		echo "$module each allocation of its load fails once"
	done
	! leaks_kmemleak || echo "memory none is lost by a load that failed"
}

# try MODULE [PARAMETERS]
try()
{
	# shellcheck disable=SC2086 # words
	modprobe "$1" $2 || { fail "it does not load with memory"; return; }
	rmmod "$1"
	insmod-nth "/kofi/$1.ko" "$1" "$2" >/tmp/insmod 2>&1 || fail "$(tail -n 3 /tmp/insmod | tr '\n' ' ')"
	tail -n 1 /tmp/insmod
	# shellcheck disable=SC2086 # words
	modprobe "$1" $2 || fail "it does not load afterwards"
	modprobe -r "$1" || fail "it cannot be unloaded afterwards"
	# The provider of a client came with it
	! [ -e /sys/module/kofi ] || modprobe -r kofi_loop || fail "kofi_loop cannot be unloaded"
	! leaks_objects || fail "a workqueue, a slab cache or a thread is left"
}

if [ "${1:-}" = list ]; then
	list
	exit
fi

for what in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$what/ignore-gfp-wait
	echo 0 >/sys/kernel/debug/$what/verbose
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
# A cache whose entry in sysfs cannot be made loses the name of that entry.
leaks_others=sysfs_slab_add
# What counts allocations makes some itself, and warns when these are let fail.
echo 0 >/proc/sys/vm/mem_profiling
plan "$(list | wc -l)"
for case in $(list | sed 's/ .*//'); do
	case $case in
	memory) ! leaks_found || fail "see above" ;;
	kofi) try "$case" "hooks=ofi_hook_trace" ;;
	kofi_pingpong) try "$case" "role=both addr=127.0.0.1 prov=loop sizes=64" ;;
	*) try "$case" ;;
	esac
	verdict "$case"
done
exit $failed
