#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What scripts/two has done in one of its guests: two.sh FUNCTION ARGUMENT..., or
# functions for scripts/guest/serve.sh.

pp=/sys/kernel/debug/kofi_pingpong
fl=/sys/kernel/debug/kofi_inflight
ho=/sys/kernel/debug/kofi_hostile
# netem's queue, so long that it never drops a packet for lack of room
LIMIT=100000
# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh

# drivers: load those of the PCI devices, of a kernel that does not have them built in
drivers()
{
	for f in /sys/bus/pci/devices/*/modalias; do
		read -r alias <"$f" && modprobe -q "$alias"
	done
}

# setup rxe|siw|tcp IPV4 IPV6
setup()
{
	if [ "$1" = tcp ]; then
		[ -e /sys/class/net/eth0 ] || drivers
		ip link set eth0 up && ip addr replace "$2/24" dev eth0 &&
			ip addr replace "$3/64" dev eth0 nodad &&
			tc qdisc add dev eth0 root netem limit $LIMIT && modprobe -a kofi kofi_tcp
		return
	fi
	# A connection of iWARP's whose peer has vanished shall end in seconds, too.
	[ "$1" != siw ] || echo 4 >/proc/sys/net/ipv4/tcp_retries2
	# First and for good: while a qdisc is replaced the interface refuses packets,
	# and rxe on 6.12 takes that for an error of the queue pair.
	tc qdisc add dev eth0 root netem limit $LIMIT &&
		/kofi/guest/rxe.sh "$1" eth0 "$2" "$3" && modprobe -a kofi kofi_verbs
}

# renew rxe|siw|tcp IPV4 IPV6: another device in place of the one there is
renew()
{
	[ "$1" != tcp ] || return 0
	rdma link delete "${1}0" && /kofi/guest/rxe.sh "$1" eth0 "$2" "$3"
}

# impair none|NETEM WORDS...: from now on for all that this guest sends.
impair()
{
	[ "$1" != none ] || shift
	tc qdisc change dev eth0 root netem limit $LIMIT "$@"
}

# blackout MICROSECONDS: at least so long nothing that this guest sends arrives, in the
# middle of a ping-pong; says how long it was. One tc, which runs before, does both changes: to
# start it takes seconds in a guest on a busy machine, and a queue pair lives for 4 s.
blackout()
{
	mkfifo /tmp/tc || return
	tc -batch /tmp/tc >/tmp/tc.out &
	exec 3>/tmp/tc
	echo "qdisc show dev eth0" >&3
	timeout 60 sh -c 'until [ -s /tmp/tc.out ]; do usleep 50000; done' &&
		pingpong_reached 10 60 || return
	read -r from rest </proc/uptime
	echo "qdisc change dev eth0 root netem limit $LIMIT loss 100%" >&3
	usleep "$1"
	echo "qdisc change dev eth0 root netem limit $LIMIT" >&3
	exec 3>&-
	wait $! || return
	read -r to rest </proc/uptime
	rm /tmp/tc /tmp/tc.out
	pingpong_goes_on || return
	awk "BEGIN { print $to - $from }"
}

# dropped: how many packets netem has lost so far
dropped()
{
	tc -s qdisc show dev eth0 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}

# counters: what the RDMA device or TCP had to repair so far, "name number"
counters()
{
	for f in /sys/class/infiniband/rxe0/ports/1/hw_counters/*; do
		case ${f##*/} in
		duplicate_request | out_of_seq_request | rcvd_seq_err | completer_retry_err | \
			retry_exceeded_err | send_err | rcvd_rnr_err)
			echo "${f##*/} $(cat "$f")"
			;;
		esac
	done
	awk '$1 == "Tcp:" && !n { split($0, name); n = 1; next }
		$1 == "Tcp:" { for (i = 2; i <= NF; i++)
			if (name[i] == "RetransSegs") print "tcp_retransmitted", $i }' /proc/net/snmp
}

# pingpong_server PARAMETERS: load it, return when it listens
pingpong_server()
{
	modprobe kofi_pingpong role=server "$@" && timeout 30 cat $pp/listening
}

# pingpong_reached N SECONDS: wait until the N-th message of the only size is on, 4096
pingpong_reached()
{
	timeout "$2" sh -c "until awk -v n=$1 '/ size 4096 \(1 of 1\), / && \$8 + 0 >= n { ok = 1 }
		END { exit !ok }' $pp/progress; do usleep 50000; done" ||
		{ cat $pp/progress; return 1; }
}

# pingpong_goes_on: fails when it has ended well, so that what was just done was
# done in the middle
pingpong_goes_on()
{
	grep "ended, ok" $pp/progress || return 0
	echo "ping-pong ended too early"
	return 1
}

# pingpong_end SECONDS: wait for the end, show the table, unload
pingpong_end()
{
	outcome=$(timeout "$1" cat $pp/wait 2>&1) || outcome="no end within $1 s"
	cat $pp/results
	rmmod kofi_pingpong || outcome="kofi_pingpong cannot be unloaded; $outcome"
	echo "outcome: $outcome"
}

# inflight_step STEP
inflight_step()
{
	echo "$1" >$fl/step
}

# inflight_flow: let it flow in the background; inflight_flowed waits for the end
inflight_flow()
{
	rm -f /tmp/flow
	mkfifo /tmp/flow || return
	{ inflight_step flow; echo $? >/tmp/flow; } >/tmp/flow.err 2>&1 &
}

inflight_flowed()
{
	status=$(timeout "$1" cat /tmp/flow) || { echo "flow: no end within $1 s"; return 1; }
	[ "$status" = 0 ] || { cat /tmp/flow.err; dmesg | grep kofi_inflight | tail -n 3; return 1; }
}

# inflight_reached N SECONDS: wait until N operations have ended well
inflight_reached()
{
	timeout "$2" sh -c "until awk -v n=$1 '\$1 == \"ok\" && \$2 >= n { ok = 1 }
		END { exit !ok }' $fl/report; do usleep 20000; done" ||
		{ cat $fl/report; return 1; }
}

inflight_report()
{
	cat $fl/report
}

# inflight_unload: whatever it has open
inflight_unload()
{
	[ ! -e $fl ] || rmmod kofi_inflight
}

# hostile STEP WORDS...: do a step, print what it has to say
hostile()
{
	status=0
	echo "$*" >$ho/step || status=1
	cat $ho/said
	return $status
}

# hostile_tidy: close all that kofi_hostile has open
hostile_tidy()
{
	[ -e $ho ] || return 0
	for step in close leave flood-leave "stop 0" "stop 1"; do
		echo "$step" >$ho/step
	done
}

hostile_unload()
{
	[ ! -e $ho ] || rmmod kofi_hostile
}

# memory: bytes that kOFI, and that the RDMA core and the device, have allocated now
memory()
{
	awk '/\[kofi/ { kofi += $1 }
		/drivers\/infiniband/ { core += $1 }
		END { printf "kofi %d\ncore %d\n", kofi, core }' /proc/allocinfo
}

# unload rxe|siw|tcp: everything of ours, then the device
unload()
{
	leaks_names
	provider=kofi_verbs
	[ "$1" != tcp ] || provider=kofi_tcp
	for m in $provider kofi; do
		rmmod "$m" || { echo "$m cannot be unloaded"; return 1; }
	done
	[ "$1" = tcp ] || rdma link delete "${1}0"
}

# leaks_end: fails when memory has been lost
leaks_end()
{
	! leaks_found
}

"$@"
