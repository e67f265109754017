# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What the cases "bulk" of scripts/two have done in one of their guests: functions for
# scripts/guest/serve.sh, beside those of two.sh.

bk=/sys/kernel/debug/kofi_bulk

# bulk_serve PARAMETERS: returns when peers can come
bulk_serve()
{
	modprobe kofi_bulk iface=eth0 "$@" || { dmesg | grep kofi_bulk | tail -n 3; return 1; }
}

# bulk_unload: close a node that is open; prints what it has counted as a server
bulk_unload()
{
	[ -e $bk ] || return 0
	rmmod kofi_bulk || return
	dmesg | sed -n 's/.*kofi_bulk: \([0-9]* served, .*\)/\1/p' | tail -n 1
	! dmesg | grep 'kofi_bulk: a close failed'
}

# bulk_call PARAMETERS: a client, from begin to end; prints the line of its counters. Fails if
# transfers do.
bulk_call()
{
	dmesg -c >/dev/null
	status=0
	modprobe kofi_bulk iface=eth0 "$@" 2>/tmp/bulk.err || status=$?
	dmesg | sed -n 's/.*kofi_bulk: \([0-9]* done, .*\)/\1/p'
	[ $status -eq 0 ] || { dmesg | grep kofi_bulk | tail -n 4 >&2; return $status; }
	rmmod kofi_bulk
}

# bulk_start PARAMETERS: a client in the background; bulk_ended SECONDS waits for its end, says
# what bulk_call says, and fails if it does not end in time.
bulk_start()
{
	rm -f /tmp/bulk
	mkfifo /tmp/bulk || return
	{ bulk_call "$@" >/tmp/bulk.out 2>&1; echo $? >/tmp/bulk; } >/dev/null 2>&1 &
}

bulk_ended()
{
	status=$(timeout "$1" cat /tmp/bulk) ||
		{ echo "no end within $1 s"; cat $bk/stats; return 1; }
	head -n 1 /tmp/bulk.out
	echo "status $status"
}

# bulk_reached WHAT N SECONDS: wait until that counter is at N
bulk_reached()
{
	timeout "$3" sh -c "until awk -v w=$1 -v n=$2 '\$1 == w && \$2 >= n { ok = 1 }
		END { exit !ok }' $bk/stats 2>/dev/null; do usleep 20000; done" ||
		{ cat $bk/stats; return 1; }
}

# bulk_gone: unload all of ours
bulk_gone()
{
	leaks_names
	for m in kofi_bulk kofi_kfi kofi_tcp kofi; do
		[ ! -e /sys/module/$m ] || rmmod $m || { echo "$m cannot be unloaded"; return 1; }
	done
}
