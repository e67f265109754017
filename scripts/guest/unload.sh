#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Modules and the RDMA device go in each order, under messages of kofi_pingpong by kofi_rxm.
#
# usage: unload.sh; unload.sh list
# A case is the lower provider and an order: c is the client, u is kofi_rxm, l is the lower
# provider's module, d is rxe0, which in orders without it stays. As long as the client has objects open, the kernel refuses to
# unload u and l, and messages go on; what was refused goes afterwards, in this order. The client
# ends by itself when its device has gone.
# Prints KTAP; exits 1 if a case failed.
# shellcheck disable=SC2317  # cases are called by name

orders='cul clu ucl ulc lcu luc'

# with_device ORDER...: each of them, with the device in each place
with_device()
{
	for with; do
		echo "d$with"
		echo "$with" | sed 's/\(.\)\(.*\)/\1d\2/'
		echo "$with" | sed 's/\(..\)/\1d/'
		echo "${with}d"
	done
}

# orders_of LOWER
orders_of()
{
	# shellcheck disable=SC2086 # several words
	printf '%s\n' $orders
	[ "$1" != verbs ] || with_device cul ulc
}

list()
{
	for lower in loop tcp verbs; do
		for order in $(orders_of $lower); do
			echo "unload-$lower-$order client, kofi_rxm, kofi_$lower and device go in this order"
		done
	done
	echo "unload-race clients come while the modules go"
}

[ "$1" != list ] || { list; exit; }
# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh
dbg=/sys/kernel/debug/kofi_pingpong
# Among what is busy a shell and its commands would wait for the only processor
renice -n -20 $$ >/dev/null

# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh

# within COMMAND: until it succeeds, ten seconds at most
within()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || return 1
		usleep 20000
	done
}

# place: of the messages of both roles
place()
{
	while read -r line; do
		line=${line#*, message }
		echo "${line% of *}"
	done <$dbg/progress
}

# went_on: both roles are at other messages than in $before
went_on()
{
	# shellcheck disable=SC2046,SC2086 # words
	set -- $before $(place)
	[ $# -eq 4 ] && [ "$3" -gt "$1" ] && [ "$4" -gt "$2" ]
}

# go_on: messages go on
go_on()
{
	before=$(place)
	within went_on || fail "no message any more, $1: $(cat $dbg/progress)"
}

# begins: both roles have sent some
begins()
{
	before='9 9'
	went_on
}

# start LOWER SIZE
start()
{
	address=10.77.0.1
	[ "$1" = verbs ] || address=127.0.0.1
	modprobe kofi_pingpong role=both ep=rdm addr=$address prov="$1;ofi_rxm" check=1 sizes="$2" \
		iters=2147483647 2>/tmp/why || fail "kofi_pingpong: $(cat /tmp/why)"
	within begins || fail "no message: $(cat $dbg/progress)"
}

# module LETTER LOWER: its name
module()
{
	case $1 in
	c) echo kofi_pingpong ;;
	u) echo kofi_rxm ;;
	l) echo "kofi_$2" ;;
	esac
}

# remove MODULE: by the kernel, which kmod's rmmod does not ask if the module is in use
remove()
{
	busybox rmmod "$1" 2>/tmp/why
}

# ended: the client has ended by itself
ended()
{
	timeout 5 cat "$dbg/wait" >/tmp/wait && grep -q ^error /tmp/wait
}

# is_busy: the client has objects open
is_busy()
{
	[ -e $dbg ] && [ -e /sys/class/infiniband/rxe0 ]
}

# goes LETTER LOWER: one step of an order; what is refused is in $left
goes()
{
	if [ "$1" = d ]; then
		rdma link delete rxe0 || fail "rxe0 cannot be deleted"
		[ ! -e $dbg ] || within ended || fail "the client does not end: $(cat /tmp/wait)"
		return
	fi
	name=$(module "$1" "$2")
	if [ "$1" = c ] || ! is_busy; then
		remove "$name" || fail "$name cannot be unloaded: $(cat /tmp/why)"
	else
		! remove "$name" || fail "$name was unloaded under load"
		left="$left $name"
		go_on "as the kernel refused to unload $name"
	fi
}

# go LOWER ORDER SIZE
go()
{
	left=''
	start "$1" "$3"
	! remove kofi || fail "kofi was unloaded"
	rest=$2
	while [ -n "$rest" ]; do
		goes "${rest%"${rest#?}"}" "$1"
		rest=${rest#?}
	done
	for name in $left; do
		remove "$name" || fail "$name cannot be unloaded at the end: $(cat /tmp/why)"
	done
	for name in kofi_pingpong kofi_rxm "kofi_$1"; do
		[ ! -e "/sys/module/$name" ] || { fail "$name is still loaded"; rmmod "$name"; }
	done
	[ -e /sys/class/infiniband/rxe0 ] || /kofi/guest/rxe.sh || fail "rxe0 does not come back"
	verdict "unload-$1-$2"
}

# clients: they come, some before and some after the modules have gone, and go in the middle
clients()
{
	for i in 1 2 3 4; do
		for lower in tcp verbs; do
			address=10.77.0.1
			modprobe kofi_pingpong role=both ep=rdm addr=$address prov="$lower;ofi_rxm" \
				sizes=200000 iters=2147483647 || return
			usleep "${i}00000"
			rmmod kofi_pingpong || return
		done
	done 2>/tmp/clients
	: >/tmp/clients.end
}

# Modules go whenever the kernel lets them, and come again because a client names them
race()
{
	gone=0 stayed=0
	rm -f /tmp/clients.end
	clients &
	while kill -0 $! 2>/dev/null; do
		for name in kofi_rxm kofi_tcp kofi_verbs; do
			if remove $name; then
				gone=$((gone + 1))
			else
				stayed=$((stayed + 1))
			fi
			usleep 30000
		done
	done
	[ -e /tmp/clients.end ] || fail "a client: $(cat /tmp/clients)"
	echo "modules were unloaded $gone times, and refused, or not there, $stayed times"
	start tcp 64
	remove kofi_pingpong || fail "kofi_pingpong: $(cat /tmp/why)"
	for name in kofi_rxm kofi_tcp kofi_verbs kofi; do
		[ ! -e /sys/module/$name ] || remove $name || fail "$name: $(cat /tmp/why)"
	done
	verdict unload-race
}

# A packet, segments, a message on offer
sizes='64 20000 200000'
plan "$(list | wc -l)"
for lower in loop tcp verbs; do
	for order in $(orders_of $lower); do
		size=${sizes%% *} sizes="${sizes#* } ${sizes%% *}"
		go $lower "$order" "$size"
	done
done
race
if leaks_watched && leaks_found; then
	echo "memory was lost; see above"
	failed=1
fi
exit $failed
