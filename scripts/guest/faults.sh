#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What becomes of the small clients when a call fails, an operation fails, or a peer sends what it
# must not: kofi_pingpong, kofi_bulk and the sample of the client guide, over kofi_loop. Each call of
# fi_* that ofi_hook_fault knows fails in its turn. A run that fails has to name the step, and to leave
# nothing.
#
# usage: faults.sh; faults.sh list
# Prints KTAP; exits 1 if a case failed.
# shellcheck disable=SC2317  # cases are called by name

list()
{
	cat <<-END
		pingpong_msg each step of both roles fails once
		pingpong_rdm the steps that endpoints without connections have beside these
		pingpong_again calls without room for a moment are made again
		pingpong_full a role that waits for room ends when the module goes
		pingpong_server a server names what its client says wrong
		pingpong_all a server of all addresses has that of its client, and one client
		pingpong_client a client names what its server says wrong
		pingpong_user messages of fi_pingpong that are not those of the run
		pingpong_count counts that are not those of the run, and an end that does not come
		pingpong_table sizes, counts, and figures that follow from each other
		pingpong_sizes sizes that memory of vmalloc() has, and those that it has not
		bulk each call of kofi_bulk fails once
		sample each call of kofi_rma_sample fails once
		sample_send a call of kofi_sample fails, or its message comes late
		unload all modules can go
	END
}

[ "$1" != list ] || { list; exit; }
# shellcheck source=scripts/guest/cases.sh
. "$(dirname "$0")/cases.sh"
# shellcheck source=scripts/guest/pingpong.sh
. "$(dirname "$0")/pingpong.sh"

# shellcheck source=scripts/guest/leaks.sh
. "$(dirname "$0")/leaks.sh"

rules=/sys/kernel/debug/kofi_hook_fault/rules
hooks=/sys/module/kofi/parameters/hooks
pages=/sys/kernel/debug/fail_page_alloc
ports=/proc/sys/net/ipv4/ip_local_port_range

# outcome_of_both PARAMETERS: how a run of both roles ended, "ok" or "-ERRNO ROLE: STEP"
outcome_of_both()
{
	pingpong_start role=both addr=127.0.0.1 iters=1 "$@" || { echo "it did not load"; return; }
	pingpong_wait >/dev/null
	pingpong_stop || outcome="it cannot be unloaded"
	printf '%s\n' "$outcome" |
		sed 's/^error //; s/\(connect to .*\):[0-9]*:/\1:/; s/\(: [^:]*\): [A-Z].*/\1/'
}

# in_turn RULE COMMAND...: what the command prints while the first, the second, ... call that the
# rule is for fails, until the rule does not fire any more
in_turn()
{
	rule=$1 turn=0
	shift
	echo "$rule"
	while [ $turn -lt 50 ]; do
		echo clear >$rules
		if [ $turn -eq 0 ]; then
			echo "$rule times=1" >$rules
		else
			echo "$rule times=1 after=$turn" >$rules
		fi
		"$@" | sed 's/^/  /'
		! grep -q ': 0 of' $rules || break
		turn=$((turn + 1))
	done
	echo clear >$rules
}

# prints COMMAND...: the case fails unless the command prints what standard input has
prints()
{
	cat >/tmp/wanted
	"$@" >/tmp/got 2>&1
	cmp -s /tmp/wanted /tmp/got || fail "$(diff /tmp/wanted /tmp/got | head -n 12)"
}

msg_in_turn()
{
	for rule in "open error 12" "connect error 101" "accept error 12" "recv error 5" \
		"tx error 5"; do
		in_turn "$rule" outcome_of_both "prov=loop;ofi_hook_fault" sizes=64,5000
	done
}

case_pingpong_msg()
{
	EP=msg
	prints msg_in_turn <<-END
		open error 12
		  -12 server: open the event queue
		  -12 server: open the passive endpoint
		  -12 client: open the event queue
		  -12 client: open the domain
		  -12 client: open the queue to send
		  -12 client: open the queue to receive
		  -12 client: open the endpoint
		  -12 server: open the domain
		  -12 server: open the queue to send
		  -12 server: open the queue to receive
		  -12 server: open the endpoint
		  ok
		connect error 101
		  -101 client: connect to 127.0.0.1
		  ok
		accept error 12
		  -12 server: accept the connection
		  ok
		recv error 5
		  -5 client: post a receive of 5000 bytes
		  -5 server: post a receive of 5000 bytes
		  -5 server: post a receive of 5000 bytes
		  -5 client: post a receive of 5000 bytes
		  -5 server: post a receive of 5000 bytes
		  -5 client: post a receive of 5000 bytes
		  ok
		tx error 5
		  -5 client: send 64 bytes
		  -5 server: send 64 bytes
		  -5 client: send 5000 bytes
		  -5 server: send 5000 bytes
		  -5 server: send "fin"
		  -5 client: send "fin"
		  ok
	END
}

rdm_in_turn()
{
	for rule in "open error 12" "send fail 5"; do
		in_turn "$rule" outcome_of_both "prov=loop;ofi_hook_fault" sizes=5000
	done
}

case_pingpong_rdm()
{
	EP=rdm
	prints rdm_in_turn <<-END
		open error 12
		  -12 server: open the event queue
		  -12 server: open the domain
		  -12 server: open the queue to send
		  -12 server: open the queue to receive
		  -12 server: open the address vector
		  -12 server: open the endpoint
		  -12 client: open the event queue
		  -12 client: open the domain
		  -12 client: open the queue to send
		  -12 client: open the queue to receive
		  -12 client: open the address vector
		  -12 client: open the endpoint
		  ok
		send fail 5
		  -5 client: send a message (Success)
		  -5 server: send a message (Success)
		  -5 server: send a message (Success)
		  -5 client: send a message (Success)
		  ok
	END
}

# again_in_turn: no call notices that another one was made again
again_in_turn()
{
	for cq in poll sleep callback; do
		in_turn "any again" outcome_of_both "prov=loop;ofi_hook_fault" sizes=64,5000 cq=$cq
	done
}

case_pingpong_again()
{
	EP=msg
	again_in_turn >/tmp/again
	sort /tmp/again | uniq | tr '\n' ';' >/tmp/outcomes
	[ "$(cat /tmp/outcomes)" = "  ok;any again;" ] || fail "$(cat /tmp/again)"
	[ "$(wc -l </tmp/again)" -ge 30 ] || fail "only $(wc -l </tmp/again) calls were made again"
}

# stopped RULE: what the roles say whose calls have no room until the module goes
stopped()
{
	echo clear >$rules
	echo "$1" >$rules
	pingpong_start role=both addr=127.0.0.1 "prov=loop;ofi_hook_fault" sizes=3 || return
	left=250
	until grep -q ': [1-9][0-9]* of' $rules || [ $((left -= 1)) -eq 0 ]; do
		usleep 20000
	done
	dmesg -c >/dev/null
	pingpong_stop &
	left=1000
	while kill -0 $! 2>/dev/null && [ $((left -= 1)) -gt 0 ]; do
		usleep 20000
	done
	! kill -0 $! 2>/dev/null || echo "it goes on"
	echo clear >$rules
	wait $!
	dmesg | sed -n 's/.*: \(send into a full queue: [a-zA-Z ]*\).*/\1/p' | uniq
}

both_stopped()
{
	stopped "tx again"
	# "fin" alone is not injected
	stopped "send again"
}

case_pingpong_full()
{
	EP=msg
	prints both_stopped <<-END
		send into a full queue: stopped
		send into a full queue: stopped
	END
}

# bytes NUMBER...
bytes()
{
	for byte; do
		# shellcheck disable=SC2059 # an octal escape
		printf "\\$(printf %o "$byte")"
	done
}

# name LENGTH FORMAT FAMILY: a fabric's address, 127.0.0.1:9 if it is one, as the control channel has
# it (clients/pingpong/ctrl.c). FI_SOCKADDR is 1, FI_SOCKADDR_IN 2, FI_SOCKADDR_IN6 3; AF_INET is 2.
name()
{
	bytes 0 0 0 "$1" "$2" 0 0 0 "$3" 0 0 9 127 0 0 1 0 0 0 0 0 0 0 0
}

# from_peer: the run of this role with a peer that sends what /tmp/said has; then it closes its
# end. /tmp/heard is what the peer gets.
from_peer()
{
	if [ "$1" = server ]; then
		pingpong_start role=server addr=127.0.0.1 prov=loop sizes=64 || return
		cat $dbg_pingpong/listening >/dev/null
		nc 127.0.0.1 $PORT </tmp/said >/tmp/heard &
	else
		nc -l -p $PORT </tmp/said >/tmp/heard &
		user_listens $! || return
		pingpong_start role=client addr=127.0.0.1 prov=loop sizes=64 cq=callback || return
	fi
	pingpong_wait >/dev/null
	pingpong_stop
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	printf '%s\n' "$outcome" | sed 's/^error //; s/: [A-Z][^:]*; /; /'
}

# said ROLE EP COMMAND...: the peer sends what this prints
said()
{
	role=$1 EP=$2
	shift 2
	"$@" >/tmp/said
	from_peer "$role"
}

name_and()
{
	name 16 2 2
	printf '%s\0' "$1"
}

# tcp_sockets: of IPv4; one that is closed is gone, and one that is lost is not
tcp_sockets()
{
	sed -n 's/^TCP: inuse \([0-9]*\) .* alloc \([0-9]*\) .*/\1 in use, \2 allocated/p' /proc/net/sockstat
}

to_server()
{
	said server msg true
	said server msg name 16 2 2
	said server rdm true
	said server rdm name 129 2 2
	said server rdm name 15 2 2
	said server rdm bytes 0 0 0 28 3 0 0 0 10 0 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0
	said server rdm name_and x
	said server rdm name_and q
	tail -c 2 /tmp/heard | tr '\0' .
	echo
	nc -l -p $PORT </dev/null >/dev/null &
	user_listens $!
	for where in "" addr=127.0.0.1; do
		# shellcheck disable=SC2086 # nothing, if it is empty
		pingpong_start role=server $where prov=loop
		pingpong_wait >/dev/null
		cat $dbg_pingpong/listening 2>&1
		cat $dbg_pingpong/progress
		pingpong_stop
		echo "$outcome"
	done
	kill $!
	wait $! 2>/dev/null
	tcp_sockets
}

case_pingpong_server()
{
	LIMIT=120
	prints to_server <<-'END'
		-110 server: wait for a connection; look for an error at the peer
		-71 server: wait for a connection: the client has an endpoint without connections; start fi_pingpong with -e msg, or load kofi_pingpong with ep=rdm
		-104 server: control: receive the peer's fabric address; look for an error at the peer
		-71 server: control: a fabric address of 129 bytes; is the peer fi_pingpong or kofi_pingpong?
		-71 server: control: fabric address of format 2, family 2, 15 bytes; run the peer with the same provider and endpoints, on a host of the same byte order
		-22 server: insert the address [::1]:9: Invalid argument
		-71 server: control: receive "q", got "x\0"; is the peer fi_pingpong or kofi_pingpong?
		-110 server: receive a message; look for an error at the peer, and do both sides run the same sizes?
		a.
		cat: read error: Address already in use
		server: ended, failed
		error -98 server: listen on 0.0.0.0:47592: Address is in use; is the address of this host and the port free?
		cat: read error: Address already in use
		server: ended, failed
		error -98 server: listen on 127.0.0.1:47592: Address is in use; is the address of this host and the port free?
		0 in use, 0 allocated
	END
}

# on_all: a server of all addresses has a client that connects to one of them, and says its name in
# two pieces. Prints the address that the server has for it, and what the next client finds
on_all()
{
	EP=rdm
	pingpong_start role=server prov=loop sizes=64 || return
	cat $dbg_pingpong/listening >/dev/null
	: >/tmp/heard
	{
		name 16 2 2 | head -c 11
		usleep 200000
		name_and q | tail -c +12
		sleep 2
	} | nc 127.0.0.2 $PORT >/tmp/heard &
	left=250
	until [ "$(tail -c 2 /tmp/heard | tr '\0' .)" = a. ] || [ $((left -= 1)) -eq 0 ]; do
		usleep 20000
	done
	od -An -tu1 -j12 -N4 /tmp/heard
	nc 127.0.0.2 $PORT </dev/null 2>&1
	pingpong_stop
	wait $!
	tcp_sockets
}

case_pingpong_all()
{
	prints on_all <<-'END'
		 127   0   0   2
		nc: can't connect to remote host (127.0.0.2): Connection refused
		0 in use, 0 allocated
	END
}

to_client()
{
	said client msg true
	said client msg name 16 3 2
	said client msg name 16 2 7
	said client msg name 128 1 2
	said client msg name 16 1 2
	said client msg name 16 2 2
	said client msg bytes 0 0 0 16 2 0 0 0 2 0 0 9 192 0 2 1 0 0 0 0 0 0 0 0
	said client rdm name_and b
	said client rdm name_and a
	EP=msg
	pingpong_start role=client addr=127.0.0.1 prov=loop
	pingpong_wait >/dev/null
	cat $dbg_pingpong/listening 2>&1
	pingpong_stop
	echo "$outcome"
	# Without a port of its own the client does not reach the server, which waits for no other
	range=$(cat $ports)
	echo $PORT $PORT >$ports
	outcome_of_both prov=loop
	echo "$range" >$ports
	outcome_of_both prov=loop domain=nosuch
	outcome_of_both prov=loop domain=loop
}

case_pingpong_client()
{
	prints to_client <<-'END'
		-104 client: control: receive the peer's fabric address; look for an error at the peer
		-71 client: control: fabric address of format 3, family 2, 16 bytes; run the peer with the same provider and endpoints, on a host of the same byte order
		-71 client: control: fabric address of format 2, family 7, 16 bytes; run the peer with the same provider and endpoints, on a host of the same byte order
		-104 client: control: receive the peer's fabric address; look for an error at the peer
		-111 client: connect to the server (Connection refused); does the peer still run?
		-111 client: connect to the server (Connection refused); does the peer still run?
		-61 client: find a fabric of provider loop to 192.0.2.1:9; is the provider there, and has a device of it that address (see rdma link)?
		-71 client: control: receive "a", got "b\0"; is the peer fi_pingpong or kofi_pingpong?
		-110 client: receive a message; look for an error at the peer, and do both sides run the same sizes?
		cat: read error: Invalid argument
		error -111 client: connect to control port 127.0.0.1:47592: Connection refused; does a ping-pong server run there?
		-99 client: connect to control port 127.0.0.1
		-61 server: find a fabric of provider loop at 127.0.0.1
		ok
	END
}

# from_user SIZES OPTIONS...: how a server ends whose client is fi_pingpong with these options
from_user()
{
	pingpong_start role=server addr=127.0.0.1 prov=tcp check=1 iters=2 "$1"
	cat $dbg_pingpong/listening >/dev/null
	shift
	timeout "$LIMIT" "$PINGPONG" -p tcp -e msg -I 2 "$@" 127.0.0.1 >/dev/null 2>&1
	pingpong_wait >/dev/null
	pingpong_stop
	grep intact /tmp/kernel
	printf '%s\n' "$outcome"
}

from_users()
{
	from_user sizes=64 -S 64 -c
	from_user sizes=64 -S 64
	from_user sizes=64 -S 32 -c
	from_user sizes=64 -S 100 -c
}

case_pingpong_user()
{
	EP=msg
	prints from_users <<-END
		2 of 2 messages intact
		ok
		0 of 1 messages intact
		error -71 server: message 1 of size 64: byte 0 is wrong: Protocol error; does the peer fill messages (fi_pingpong -c, check=1)?
		0 of 1 messages intact
		error -71 server: message 1 of size 64: got 32 bytes: Protocol error; do both sides run the same sizes?
		0 of 0 messages intact
		error -265 server: receive a message (Message was truncated): Message was truncated; look for an error at the peer, and do both sides run the same sizes?
	END
}

# relayed COUNT MORE THEN ITERS: how a server of two messages ends whose client is fi_pingpong. What the
# client says goes through a relay, which puts COUNT, and MORE behind it, in place of the count of the
# client, and then runs THEN with the connection open.
relayed()
{
	cat >/tmp/relay <<-END
		#!/bin/sh
		exec 3<&0
		dd <&3 >/tmp/down 2>/dev/null &
		{
			dd bs=1 count=2
			printf '%-10s' $1 | tr ' ' '\\0'
			printf %s $2
			dd bs=1 count=10 of=/dev/null
			dd
		} </tmp/up 2>/dev/null
		$3
	END
	chmod +x /tmp/relay
	rm -f /tmp/up /tmp/down
	mkfifo /tmp/up /tmp/down
	pingpong_start role=server addr=127.0.0.1 prov=tcp iters=2 sizes=64 port=47593 check=0
	cat $dbg_pingpong/listening >/dev/null
	nc 127.0.0.1 47593 -e /tmp/relay &
	relay=$!
	nc -l -p $PORT </tmp/down >/tmp/up &
	user_listens $!
	timeout "$LIMIT" "$PINGPONG" -p tcp -e msg -S 64 -I "$4" 127.0.0.1 >/dev/null 2>&1
	pingpong_wait >/dev/null
	awk '$1 == 64 { printf "%s %s ", $2, $3 }' /tmp/kernel
	pingpong_stop
	kill $relay 2>/dev/null
	wait
	printf '%s\n' "$outcome"
}

relayed_all()
{
	relayed 2 "" "" 2
	relayed 3 "" "" 2
	relayed 0 "" "" 2
	relayed 1000002 "" "" 2
	relayed 1000000002 "" "" 2
	relayed x "" "" 2
	relayed 2 x "" 2
	relayed 2 "" "exec sleep 1000" 2
	# The third message comes where "fin" is to come
	relayed 2 "" "" 3
}

case_pingpong_count()
{
	EP=msg
	prints relayed_all <<-'END'
		2 =2 ok
		2 -1 ok
		2 +2 ok
		2 -1m ok
		2 -1b ok
		error -71 server: control: message count "x\0\0\0\0\0\0\0\0\0": Protocol error; is the peer fi_pingpong or kofi_pingpong?
		2 =2 error -71 server: control: part, got more: Protocol error; is the peer fi_pingpong or kofi_pingpong?
		2 =2 error -110 server: control: wait for the peer to part: Timed out; look for an error at the peer
		2 =2 error -71 server: receive "fin": got 64 bytes of something else: Protocol error; do both sides run the same sizes?
	END
}

# figures ITERS: what the columns of the table say, of the server; a figure that does not follow from
# the time of a message by one percent is "wrong"
figures()
{
	EP=msg pingpong_start role=both addr=127.0.0.1 prov=loop iters="$1" \
		sizes=0,1,1023,1024,1536,10240,102400
	pingpong_wait | awk -v n="$1" '
		function about(a, b) { return a - b < 0.011 + b / 50 && b - a < 0.011 + b / 50 }
		/^$/ { exit }
		$3 ~ /^=/ {
			split("0 1 1023 1024 1536 10240 102400", size)
			us = $7
			right = us > 0 && about($5 + 0, us * 2 * n / 1e6) && about($6, size[++row] / us) &&
				about($8, 1 / us)
			print $1, $2, $3, $4 (right ? "" : " wrong: " $0)
		}
		/intact/'
	pingpong_stop
}

tables()
{
	figures 999
	figures 1000
	# Both roles of one module check what they receive, unless they are not to
	pingpong_start role=both addr=127.0.0.1 prov=loop sizes=3 check=
	pingpong_wait | grep intact
	pingpong_stop
}

case_pingpong_table()
{
	prints tables <<-END
		0 999 =999 0
		1 999 =999 1.9k
		1023 999 =999 1.9m
		1k 999 =999 1.9m
		1.5k 999 =999 2.9m
		10k 999 =999 19m
		100k 999 =999 195m
		6993 of 6993 messages intact
		0 1k =1k 0
		1 1k =1k 1.9k
		1023 1k =1k 1.9m
		1k 1k =1k 1.9m
		1.5k 1k =1k 2.9m
		10k 1k =1k 19m
		100k 1k =1k 195m
		7000 of 7000 messages intact
		1 of 1 messages intact
		1 of 1 messages intact
	END
}

# sizes_of PARAMETERS: rows of the table of a run of both roles; then how it ended
sizes_of()
{
	EP=msg pingpong_start role=both addr=127.0.0.1 prov=loop iters=1 "$@"
	pingpong_wait >/dev/null
	rows
	printf ' %s\n' "$outcome"
	pingpong_stop
}

# rows: the sizes in the table that was shown last
rows()
{
	awk '$3 ~ /^=/ && !seen[$1]++ { printf "%s%s", n++ ? "," : "", $1 }' /tmp/kernel
}

# pages_fail ORDER EVERY TIMES: every so many-th allocation of 2^ORDER pages and more, so many times
pages_fail()
{
	for setting in ignore-gfp-wait=N verbose=0 "min-order=$1" "interval=$2" "times=$3" \
		probability=100; do
		echo "${setting#*=}" >"$pages/${setting%=*}"
	done
}

sizes()
{
	sizes_of sizes=all
	sizes_of sizes=all vmalloc=1
	sizes_of sizes=default vmalloc=1
	sizes_of sizes=65536,3 vmalloc=1
	sizes_of sizes=65537 vmalloc=1
	sizes_of sizes=6291456
	# Memory in pieces, and none
	pages_fail 9 2 3
	sizes_of sizes=6291456
	cat $pages/times
	pages_fail 8 1 -1
	sizes_of sizes=6291456
	echo 0 >$pages/probability
	for _ in 1 2 3 4 5 6 7 8; do
		printf '%s,' 1 2 3 4 5 6 7 8
	done | sed 's/,$//' >/tmp/sizes
	sizes_of "sizes=$(cat /tmp/sizes)"
}

case_pingpong_sizes()
{
	prints sizes <<-END
		0,1,2,3,4,6,8,12,16,24,32,48,64,96,128,192,256,384,512,768,1k,1.5k,2k,3k,4k,6k,8k,12k,16k,24k,32k,48k,64k,96k,128k,192k,256k,384k,512k,768k,1m,1.5m,2m,3m,4m,6m ok
		0,1,2,3,4,6,8,12,16,24,32,48,64,96,128,192,256,384,512,768,1k,1.5k,2k,3k,4k,6k,8k,12k,16k,24k,32k,48k,64k ok
		64,256,1k,4k,64k ok
		64k,3 ok
		 error -90 client: send 65537 bytes, the limit is 65536: Message is too long; use sizes= of fewer pages or vmalloc=0
		6m ok
		6m ok
		0
		 error -12 client: get two buffers of 6291456 bytes: Out of memory; use smaller sizes=
		1,2,3,4,5,6,7,8 ok
	END
}

# outcome_of MODULE PARAMETERS: whether it loads, and what it says
outcome_of()
{
	dmesg -c >/dev/null
	if modprobe "$@" 2>/tmp/error; then
		rmmod "$1"
		loaded=ok
	else
		loaded=$(sed 's/.*: //' /tmp/error)
	fi
	dmesg | sed -n "s/.*$1: //p" |
		sed 's/, 0 with wrong bytes, 0 completions out of place//' >/tmp/says
	[ ! -s /tmp/says ] || loaded="$loaded: $(tr '\n' ';' </tmp/says)"
	echo "$loaded"
}

bulk_in_turn()
{
	echo ofi_hook_fault >$hooks
	for rule in "open error 12" "recv error 5" "tx error 5" "tx fail 5" "any again"; do
		in_turn "$rule" outcome_of kofi_bulk iface=lo peer=0x7f000001 count=2 size=5000 | uniq
	done
	echo >$hooks
}

case_bulk()
{
	prints bulk_in_turn <<-END
		open error 12
		  Cannot allocate memory
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
		recv error 5
		  Input/output error
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
		tx error 5
		  No route to host: 0 done, 0 failed: -113;
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
		  Input/output error: transfer 0 of thread 0: -5;0 done, 1 failed: -5;
		  Connection timed out: transfer 0 of thread 0: -110;0 done, 1 failed: -110;
		  Input/output error: transfer 1 of thread 0: -5;1 done, 1 failed: -5;
		  Connection timed out: transfer 1 of thread 0: -110;1 done, 1 failed: -110;
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
		tx fail 5
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
		  Input/output error: transfer 0 of thread 0: -5;0 done, 1 failed: -5;
		  ok: 2 done, 0 failed: 0;1 served, 1 refused;
		  Input/output error: transfer 1 of thread 0: -5;1 done, 1 failed: -5;
		  ok: 2 done, 0 failed: 0;1 served, 1 refused;
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
		any again
		  ok: 2 done, 0 failed: 0;2 served, 0 refused;
	END
}

sample_in_turn()
{
	for rule in "open error 12" "mr error 12" "connect error 101" "accept error 12" \
		"recv error 5" "tx error 5" "tx fail 5" "send delay 6000"; do
		in_turn "$rule" outcome_of kofi_rma_sample node=127.0.0.1 "prov=loop;ofi_hook_fault"
	done
}

case_sample()
{
	prints sample_in_turn <<-END
		open error 12
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  Cannot allocate memory: no memory read and written: Out of memory;
		  ok: read and written by loop;ofi_hook_fault;
		mr error 12
		  Cannot allocate memory: no memory read and written: Out of memory;
		  ok: read and written by loop;ofi_hook_fault;
		connect error 101
		  Network is unreachable: no memory read and written: Network is unreachable;
		  ok: read and written by loop;ofi_hook_fault;
		accept error 12
		  Cannot allocate memory: no memory read and written: Out of memory;
		  ok: read and written by loop;ofi_hook_fault;
		recv error 5
		  Input/output error: no memory read and written: Input/output error;
		  Input/output error: no memory read and written: Input/output error;
		  ok: read and written by loop;ofi_hook_fault;
		tx error 5
		  Input/output error: no memory read and written: Input/output error;
		  Input/output error: no memory read and written: Input/output error;
		  Input/output error: no memory read and written: Input/output error;
		  Input/output error: no memory read and written: Input/output error;
		  ok: read and written by loop;ofi_hook_fault;
		tx fail 5
		  Input/output error: no memory read and written: Input/output error;
		  Input/output error: no memory read and written: Input/output error;
		  Input/output error: no memory read and written: Input/output error;
		  ok: read and written by loop;ofi_hook_fault;
		  ok: read and written by loop;ofi_hook_fault;
		send delay 6000
		  Resource temporarily unavailable: no memory read and written: Nothing there or no room now, try again;
		  ok: read and written by loop;ofi_hook_fault;
		  ok: read and written by loop;ofi_hook_fault;
	END
}

# sample_to_server: kofi_sample sends its message to the fabric's address of a server of kofi_pingpong
sample_to_server()
{
	pingpong_start role=server addr=127.0.0.1 prov=loop sizes=64 || return
	cat $dbg_pingpong/listening >/dev/null
	: >/tmp/heard
	nc 127.0.0.1 $PORT <>/tmp/nothing >/tmp/heard &
	left=250
	until [ "$(wc -c </tmp/heard)" -eq 24 ] || [ $((left -= 1)) -eq 0 ]; do
		usleep 20000
	done
	# The port, high byte first
	# shellcheck disable=SC2046 # words
	set -- $(od -An -tu1 -j10 -N2 /tmp/heard)
	outcome_of kofi_sample node=127.0.0.1 service=$(($1 * 256 + $2)) | sed 's/port [0-9]*/port N/'
	kill $!
	wait $! 2>/dev/null
	pingpong_stop
}

sample_send_in_turn()
{
	rm -f /tmp/nothing
	mkfifo /tmp/nothing
	echo ofi_hook_fault >$hooks
	for rule in "connect error 101" "tx error 5" "send delay 6000"; do
		in_turn "$rule" sample_to_server
	done
	echo >$hooks
}

case_sample_send()
{
	EP=msg
	prints sample_send_in_turn <<-END
		connect error 101
		  Network is unreachable: no message to 127.0.0.1 port N: Network is unreachable;
		  ok: "hello" sent to 127.0.0.1 port N;
		tx error 5
		  Input/output error: no message to 127.0.0.1 port N: Input/output error;
		  ok: "hello" sent to 127.0.0.1 port N;
		send delay 6000
		  Resource temporarily unavailable: no message to 127.0.0.1 port N: Nothing there or no room now, try again;
		  ok: "hello" sent to 127.0.0.1 port N;
	END
}

case_unload()
{
	for m in kofi_hook_fault kofi_kfi kofi_tcp kofi_loop kofi; do
		rmmod $m || fail "$m cannot be unloaded"
	done
	! leaks_found || fail "memory is lost, see above"
	! leaks_objects || fail "a workqueue or a slab cache is left"
}

ITER=1
modprobe -a kofi_loop kofi_tcp kofi_kfi kofi_hook_fault || exit 1
run_cases
