#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Give the guest a soft RDMA device over a network interface with two addresses.
#
# usage: rxe.sh [rxe|siw NETDEV IPV4 IPV6]
# Default: rxe0 over dummy0, which is made, with 10.77.0.1/24 and fd77::1/64.
# Returns when the device can be used for connections over both addresses; for
# rxe that is when both stand in the GID table.

type=${1:-rxe} netdev=${2:-dummy0} v4=${3:-10.77.0.1} v6=${4:-fd77::1}

fail()
{
	echo "$type: $*" >&2
	exit 1
}

# gid IPV4 or IPV6 (PREFIX::N): the address as it stands at the end of a GID
gid()
{
	case $1 in
	*:*) printf '%04x:0000:0000:0000:0000:0000:0000:%04x' "0x${1%%::*}" "0x${1##*::}" ;;
	*) echo "$1" | awk -F . '{ printf "ffff:%02x%02x:%02x%02x", $1, $2, $3, $4 }' ;;
	esac
}

# ready: can connections use the device?
ready()
{
	if [ "$type" = siw ]; then
		grep -q ACTIVE "$port/state"
		return
	fi
	# The table has a thousand places; they are filled from the front.
	cat "$port"/gids/? >/tmp/gids 2>/dev/null
	grep -q "$(gid "$v4")" /tmp/gids && grep -q "$(gid "$v6")" /tmp/gids
}

# rxe asks the crypto core for "crc32"; on stock kernels that is a module
# which depmod does not know as a dependency.
modprobe -q crc32_generic
modprobe -q dummy numdummies=0
link=$type
[ "$type" = siw ] || link=rdma_$type
for m in $link rdma_cm rdma_ucm; do
	modprobe -q "$m" || grep -q "/$m.ko" "/lib/modules/$(uname -r)/modules.builtin" ||
		fail "cannot load $m; see the console"
done
if [ "$netdev" = dummy0 ] && ! ip link show dummy0 >/dev/null 2>&1; then
	ip link add dummy0 type dummy || fail "cannot add dummy0"
fi
# rdma_cm takes ports at random. Where hundreds of connections come and go within a
# minute, one would hit a port that TCP keeps in TIME_WAIT, and fail.
[ "$type" != siw ] || echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets
ip link set "$netdev" up || fail "cannot bring $netdev up"
ip addr replace "$v4/24" dev "$netdev"
ip -6 addr replace "$v6/64" dev "$netdev" nodad
rdma link add "${type}0" type "$type" netdev "$netdev" ||
	fail "cannot add ${type}0 over $netdev; see the console"

port=/sys/class/infiniband/${type}0/ports/1
tries=0
until ready; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "${type}0 does not come up with the addresses of $netdev"
	usleep 100000
done
