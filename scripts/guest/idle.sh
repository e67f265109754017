#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What idle connections over TCP take, kOFI's and those of two kernel sockets each: memory, the
# time to open them and the time to close them. Runs in the guest:
#
#	scripts/vm --kernel 6.12 --icount --mem 2G --timeout 2400 --run '/kofi/guest/idle.sh 1 1000 10000'
#
# Prints for each number and side: connections, side, bytes of all, nanoseconds to open all,
# nanoseconds to close all. All are open at once, with queues of 16. As many again are opened
# before, which fill the reserves of allocators, and are closed with them: the time to close is half
# of the time for both.

perf=/sys/kernel/debug/kofi_perf
NODE=10.77.0.1

# free_pages: as in bench.sh
free_pages()
{
	cat /proc/sys/vm/stat_refresh
	awk '$1 == "pages" && $2 == "free" { n += $3 }
		$1 == "count:" { n += $2 }
		END { print n }' /proc/zoneinfo
}

# now: sets $now, nanoseconds, without another process
now()
{
	while read -r word _ now _; do
		[ "$word" != ktime ] || break
	done </sys/kernel/debug/sched/debug
	now=${now%.*}${now#*.}
}

# hold SIDE COUNT
hold()
{
	echo "idle hold side=$1 op=conn count=$2 depth=16 node=$NODE prov=tcp base=sock" >$perf/run
}

# idle SIDE COUNT
idle()
{
	hold "$1" "$2" || return
	free=$(free_pages)
	now
	begin=$now
	hold "$1" "$2" || return
	now
	opened=$now
	left=$(free_pages)
	now
	closing=$now
	echo release release >$perf/run
	now
	closed=$now
	echo "$2 $1 $(((free - left) * 4096)) $((opened - begin)) $(((closed - closing) / 2))"
}

modprobe -a kofi_tcp kofi_perf || exit
# Twice as many as the last number, and those that have just been closed
echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range
for count; do
	for side in kofi raw; do
		idle $side "$count" || exit
	done
done
