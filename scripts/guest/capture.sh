# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Capture what goes between two ends in this guest (sourced). tcpdump is in
# /kofi/files/tcpdump (scripts/build/pack-program).

captured=/tmp/capture.pcap
tcpdump=/kofi/files/tcpdump

# capture_begin ADDRESS PORT [LAST]: from now on, all that goes from and to these TCP ports. The
# port behind them is for the mark at the end.
capture_begin()
{
	mark_address=$1
	mark_port=$((${3:-$2} + 1))
	rm -f $captured /tmp/tcpdump.err /tmp/printed /tmp/mark
	mkfifo /tmp/tcpdump.err /tmp/printed /tmp/mark
	awk -v mark=".$mark_port:" 'index($0, mark) && !seen++ {
			print >"/tmp/mark"
			close("/tmp/mark")
		}' </tmp/printed &
	$tcpdump/ld.so --inhibit-cache --library-path $tcpdump $tcpdump/tcpdump -i lo -Z root -nqlt -U \
		-B 8192 --print -w $captured \
		"tcp portrange $2-$mark_port" 2>/tmp/tcpdump.err >/tmp/printed &
	tcpdump_pid=$!
	exec 4</tmp/tcpdump.err
	while read -r word rest <&4; do
		case $word$rest in
		*listening*) return 0 ;;
		*) echo "    tcpdump: $word $rest" ;;
		esac
	done
	return 1
}

# capture_end: the capture is complete. A segment to a port on which nobody listens is
# the mark behind all that counts.
capture_end()
{
	(exec bash -c ": </dev/tcp/$mark_address/$mark_port") 2>/dev/null
	timeout 60 cat /tmp/mark >/dev/null || return
	kill -INT "$tcpdump_pid"
	grep '^0 packets dropped by kernel' <&4 >/dev/null || return
	exec 4<&-
}

# capture_dialled: at how many of the ports somebody has asked for a connection
capture_dialled()
{
	$tcpdump/ld.so --inhibit-cache --library-path $tcpdump $tcpdump/tcpdump -Z root -nqr $captured \
		"tcp[tcpflags] & (tcp-syn | tcp-ack) == tcp-syn and not port $mark_port" 2>/dev/null |
		awk '{ print $5 }' | sort -u | wc -l
}

# capture_print NAME FILE: give the capture to scripts/interop, and with it the lines
# of FILE.
capture_print()
{
	echo "begin-capture $1"
	cat "$2"
	gzip -c $captured | base64
	echo "end-capture"
}
