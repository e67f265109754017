#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Load each KUnit module, print its suites' KTAP, unload everything, look for
# leaks. Lines "#module NAME" and "#check ok|not ok TEXT" are for
# scripts/test-kunit.

# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh

check()
{
	if [ "$1" -eq 0 ]; then
		echo "#check ok $2"
	else
		echo "#check not ok $2"
	fi
}

# new_results: the KTAP of the suites that were not there before. The test
# modules stay loaded until the first leak scan, which then can name functions.
new_results()
{
	for dir in /sys/kernel/debug/kunit/*/; do
		suite=$(basename "$dir")
		[ ! -e "/tmp/seen/$suite" ] || continue
		touch "/tmp/seen/$suite"
		cat "$dir/results"
	done
}

# unload_all: our modules, users first. One that is still in use when no other
# can be unloaded any more has lost a reference.
unload_all()
{
	progress=1
	while [ $progress -eq 1 ]; do
		progress=0
		for ko in /kofi/*.ko; do
			name=$(basename "$ko" .ko)
			[ "$(cat "/sys/module/$name/refcnt" 2>/dev/null)" = 0 ] || continue
			rmmod "$name" || continue
			check 0 "$name unloads"
			progress=1
		done
	done
	for ko in /kofi/*.ko; do
		name=$(basename "$ko" .ko)
		[ ! -d "/sys/module/$name" ] || {
			echo "in use: $(cat "/sys/module/$name/refcnt")"
			check 1 "$name unloads"
		}
	done
}

report_leaks()
{
	! leaks_found
	check $? "$1"
}

leaks_begin
mkdir /tmp/seen
modprobe kofi_verbs
check $? "kofi_verbs loads"
for ko in /kofi/*_test.ko; do
	name=$(basename "$ko" .ko)
	case " ${SUITES:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	echo "#module $name"
	modprobe "$name"
	check $? "$name loads"
	new_results
done

report_leaks "no memory is leaked by the suites"
unload_all
rdma link delete rxe0
check $? "rxe0 can be deleted"
report_leaks "no memory is leaked by unloading"
