# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Lost memory, for the guest's scripts (sourced). Two facilities of the kernel tell:
#
# Memory allocation profiling counts what each line of code has allocated. A module
# that is unloaded while some of its memory is not free gets a warning with file and
# line. That costs next to nothing and is always on in the kernels built here.
#
# kmemleak, with kmemleak=on on the kernel's command line, finds whatever nobody
# points to, ib_core's objects too, but doubles the time that everything takes. The
# kernel itself, as it is configured here, loses nothing. A look takes two scans,
# seconds each, so there is one, when our modules have gone: then what only they knew
# of is lost, too. leaks_names, while they are still there, keeps the names of their
# functions for the report.

leaks=/sys/kernel/debug/kmemleak
leaks_symbols=/tmp/leaks_symbols
leaks_others=

# uptime_cs: hundredths of seconds, without the zeros in front that would make it octal.
uptime_cs()
{
	cut -d' ' -f1 /proc/uptime | tr -d . | sed 's/^0*//'
}

# An object counts as leaked only when it is older than kmemleak's minimum age
# of five seconds and two scans found no pointer to it.
leaks_scan()
{
	leaks_start=$(uptime_cs)
	echo scan >$leaks
	leaks_left=$((510 - $(uptime_cs) + leaks_start))
	[ $leaks_left -le 0 ] || usleep ${leaks_left}0000
	echo scan >$leaks
}

leaks_kmemleak()
{
	grep -qw kmemleak=on /proc/cmdline && [ -e $leaks ]
}

# leaks_watched: does this kernel tell at all?
leaks_watched()
{
	[ -e /proc/allocinfo ] || leaks_kmemleak
}

leaks_names()
{
	! leaks_kmemleak || grep '\[kofi' /proc/kallsyms | sort >$leaks_symbols
}

# leaks_report: kmemleak's, with names for the addresses of modules that have gone.
# All addresses have the same number of digits, so they are compared as strings. What a function
# of $leaks_others has lost is left out.
leaks_report()
{
	[ -e $leaks_symbols ] || : >$leaks_symbols
	awk -v others="$leaks_others" '
		function end_object() {
			if (others == "" || object !~ others)
				printf "%s", object
			object = ""
		}
		FILENAME == ARGV[1] { addr[n++] = $1 ""; name[$1] = $3 " " $4; next }
		/\[<[0-9a-f]*>\] 0x[0-9a-f]*$/ {
			a = substr($NF, 3)
			for (i = n - 1; i >= 0 && addr[i] > a; i--)
				;
			if (i >= 0)
				$0 = $0 " " name[addr[i]]
		}
		/^unreferenced/ { end_object() }
		{ object = object $0 "\n" }
		END { end_object() }' $leaks_symbols $leaks
}

# leaks_found: print what has been lost since boot; succeed when there is something.
leaks_found()
{
	leaks_status=1
	! dmesg | grep 'allocated at module unload' || leaks_status=0
	if leaks_kmemleak; then
		leaks_scan
		! leaks_report | grep . || leaks_status=0
	fi
	return $leaks_status
}

# leaks_objects: print what of ours outlives the modules; succeed when there is something. Workqueues,
# slab caches and the threads of kofi_pingpong belong to the kernel, so nobody else misses them. A
# thread that has ended may be there for a moment.
leaks_objects()
{
	leaks_looks=10
	while leaks_threads >/dev/null && [ $((leaks_looks -= 1)) -gt 0 ]; do
		usleep 20000
	done
	leaks_threads || grep '^\(kofi\|ktcp\)' /proc/slabinfo
}

leaks_threads()
{
	grep -hs '^\(kworker/R-\(kofi\|ktcp\)\|kofi_pp_\)' /proc/[0-9]*/comm
}
