#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Load each KUnit module, print its suites' KTAP, unload everything, look for
# leaks. Each check besides the suites is a result of its own; a line "# module NAME" stands in
# front of the suites of a module. The exit status is 0 whatever the results.
#
# SUITES="kofi_core_test ..." takes some modules only, ONLY="cq msg*" only the
# suites and cases with these words, which may be patterns, in their names or in
# suite.case. DEVICE=siw runs on siw0, made here, in a guest that has been started without
# rxe0. REMOVALS=N is how often a device is removed under load, default 10, or 1 where DEVICE is
# set. PROV=loop loads another provider than verbs, and has the suites for any provider check
# that one.

# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh
# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh
# shellcheck disable=SC1091 # written by scripts/vm or scripts/uml
. /kofi/boot.conf

# enter_other_net: start a process in a network namespace of its own
enter_other_net()
{
	mkfifo /tmp/other_net
	unshare -n sh -c 'echo >/tmp/other_net; exec sleep 100000' &
	other_net=$!
	read -r _ </tmp/other_net # it is there now
}

# load MODULE: with the process whose network namespace is not ours, and how often
# a device is to be removed.
load()
{
	case $1 in
	kofi_verbs_test)
		[ -n "$other_net" ] || enter_other_net
		modprobe "$1" net_pid="$other_net" removals="$REMOVALS" ;;
	kofi_hca_test) modprobe "$1" removals="$REMOVALS" ;;
	kofi_conformance_test) modprobe "$1" prov="$PROV" ;;
	kofi_stress_test)
		# Its longest messages are offered, and others take several segments. What is read may be
		# behind a packet that waits for its receive, and then has five times message_timeout
		[ "$PROV" = "${PROV%;ofi_rxm}" ] ||
			modprobe kofi_rxm eager_limit=1024 message_timeout=5 || return
		modprobe "$1" prov="$PROV" ep="$(stress_ep)" ;;
	*) modprobe "$1" ;;
	esac
}

# stress_ep: the type of endpoints for calls at random
stress_ep()
{
	case $PROV in
	verbs) echo msg ;;
	*) echo rdm ;;
	esac
}

# new_results: the KTAP of the suites that were not there before.
new_results()
{
	set --
	for dir in /sys/kernel/debug/kunit/*; do
		suite=${dir##*/}
		[ ! -e "/tmp/seen/$suite" ] || continue
		: >"/tmp/seen/$suite"
		set -- "$@" "$dir/results"
	done
	[ $# -eq 0 ] || cat "$@"
}

kunit=/sys/module/kunit/parameters
: "${REMOVALS:=${DEVICE:+1}}"
: "${REMOVALS:=10}"
: "${PROV:=verbs}"

# list_cases MODULE: its cases, as "suite case". The filter fits no case, and
# what does not fit is reported as skipped.
list_cases()
{
	printf skip >$kunit/filter_action
	printf 'speed>normal' >$kunit/filter
	printf '*.*' >$kunit/filter_glob
	load "$1"
	new_results | awk '/^    # Subtest: / { suite = $3 }
		/^    ok [0-9]+ .* # SKIP/ { print suite, $3 }'
	forget_results "$1"
	# A console, from which results come after a crash, has the list, too
	echo 'kofi: these cases run' >/dev/kmsg
	printf 'speed>=very_slow' >$kunit/filter
}

# forget_results MODULE: unload it, so that it can run again.
forget_results()
{
	rmmod "$1"
	for seen in /tmp/seen/*; do
		[ -d "/sys/kernel/debug/kunit/${seen##*/}" ] || rm -f "$seen"
	done
}

# wanted SUITE CASE: is there a word for it?
wanted()
{
	for word in $ONLY; do
		for name in "$1" "$2" "$1.$2"; do
			# shellcheck disable=SC2254 # a pattern, yes
			case $name in
			*$word*) return 0 ;;
			esac
		done
	done
	return 1
}

# choose: from the lines of list_cases, the filters that let the wanted cases
# run: "suite.*" for a whole suite, else one a case.
choose()
{
	while read -r suite case; do
		verdict=0
		wanted "$suite" "$case" || verdict=1
		echo "$suite $case $verdict"
	done | awk '{ line[NR] = $0; all[$1]++; if (!$3) n[$1]++ }
		END { for (i = 1; i <= NR; i++) {
			split(line[i], f)
			if (n[f[1]] == all[f[1]]) {
				if (!said[f[1]]++)
					print f[1] ".*"
			} else if (!f[3]) {
				print f[1] "." f[2]
			} } }'
}

# run_some MODULE: its wanted cases. It is loaded once for each filter.
run_some()
{
	list_cases "$1" >/tmp/cases
	set -f
	choose </tmp/cases >/tmp/filters
	set +f
	[ -s /tmp/filters ] || return 0
	echo "# module $1"
	while read -r glob; do
		[ ! -d "/sys/module/$1" ] || forget_results "$1"
		printf %s "$glob" >$kunit/filter_glob
		load "$1" || verdict "$1 loads for $glob" 1
		new_results
	done </tmp/filters
}

run_all()
{
	echo "# module $1"
	load "$1"
	verdict "$1 loads" $?
	new_results
}

# refcnt MODULE: into $refcnt; nothing if it is not loaded
refcnt()
{
	refcnt=
	[ ! -e "/sys/module/$1/refcnt" ] || read -r refcnt <"/sys/module/$1/refcnt"
}

# unload_all: our modules, users first. One that is still in use when no other
# can be unloaded any more has lost a reference; that is the exit status.
unload_all()
{
	progress=1
	while [ $progress -eq 1 ]; do
		progress=0
		set --
		for ko in /kofi/*.ko; do
			name=${ko##*/} name=${name%.ko}
			refcnt "$name"
			[ "$refcnt" != 0 ] || set -- "$@" "$name"
		done
		[ $# -eq 0 ] || rmmod "$@"
		for name in "$@"; do
			[ ! -e "/sys/module/$name" ] || continue
			verdict "$name unloads" 0
			progress=1
		done
	done
	for ko in /kofi/*.ko; do
		name=${ko##*/} name=${name%.ko}
		refcnt "$name"
		[ -z "$refcnt" ] || {
			echo "in use: $refcnt"
			verdict "$name unloads" 1
			stuck=1
		}
	done
	return "${stuck:-0}"
}

# delete_device NAME STATUS: as long as somebody uses it that would wait for ever.
delete_device()
{
	if [ "$2" -ne 0 ]; then
		echo "not tried, a module has not let go of it"
		verdict "$1 can be deleted" 1
		return
	fi
	rdma link delete "$1"
	verdict "$1 can be deleted" $?
}

# report_left: what belongs to the kernel and not to a module does not go with it, so
# nobody else misses it.
report_left()
{
	! leaks_objects
	verdict "no workqueue or slab cache is left" $?
}

report_leaks()
{
	! leaks_found
	verdict "no memory is leaked" $?
}

mkdir /tmp/seen
plan
other_net=''
if [ -n "$DEVICE" ]; then
	/kofi/guest/rxe.sh "$DEVICE"
	verdict "${DEVICE}0 comes up" $?
fi
# What counts allocations makes some itself, and warns when these are let fail.
case " $SUITES " in
*" kofi_nth_test "* | *" kofi_core_test "*) echo 0 >/proc/sys/vm/mem_profiling ;;
esac
modprobe "kofi_${PROV%%;*}"
verdict "kofi_${PROV%%;*} loads" $?
for ko in /kofi/*_test.ko; do
	name=${ko##*/} name=${name%.ko}
	case " ${SUITES:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	if [ -n "$ONLY" ]; then
		run_some "$name"
	else
		run_all "$name"
	fi
done

leaks_names
unload_all
released=$?
[ $released -ne 0 ] || report_left
[ "$RXE" != 1 ] || delete_device rxe0 $released
[ -z "$DEVICE" ] || delete_device "${DEVICE}0" $released
[ -z "$other_net" ] || kill "$other_net"
! leaks_watched || report_leaks
exit 0
