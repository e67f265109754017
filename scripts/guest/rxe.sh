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

# gid IPV4 or IPV6 (PREFIX::N): the address as it stands at the end of a GID; in a
# subshell
gid()
{
	case $1 in
	*:*) printf '%04x:0000:0000:0000:0000:0000:0000:%04x' "0x${1%%::*}" "0x${1##*::}" ;;
	*)
		IFS=.
		# shellcheck disable=SC2086 # four words
		printf 'ffff:%02x%02x:%02x%02x' $1
		;;
	esac
}

# has_gid END: is there one in the table? It has a thousand places, which are filled
# from the front; free ones cannot be read.
has_gid()
{
	for place in "$port"/gids/?; do
		read -r found 2>/dev/null <"$place" || continue
		case $found in
		*"$1") return 0 ;;
		esac
	done
	return 1
}

# ready: can connections use the device?
ready()
{
	if [ "$type" = siw ]; then
		read -r state <"$port/state"
		[ "${state#*ACTIVE}" != "$state" ]
	else
		has_gid "$gid4" && has_gid "$gid6"
	fi
}

# rxe asks the crypto core for "crc32"; on stock kernels that is a module
# which depmod does not know as a dependency.
link=$type
[ "$type" = siw ] || link=rdma_$type
modprobe -qa crc32_generic dummy "$link" rdma_cm rdma_ucm ||
	for m in "$link" rdma_cm rdma_ucm; do
		modprobe -q "$m" || grep -q "/$m.ko" "/lib/modules/$(uname -r)/modules.builtin" ||
			fail "cannot load $m; see the console"
	done
if [ "$netdev" = dummy0 ] && [ ! -e /sys/class/net/dummy0 ]; then
	ip link add dummy0 type dummy || fail "cannot add dummy0"
fi
# rdma_cm takes ports at random. Where hundreds of connections come and go within a
# minute, one would hit a port that TCP keeps in TIME_WAIT, and fail.
[ "$type" != siw ] || echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets
ip -batch - <<END || fail "cannot bring $netdev up with its addresses"
link set $netdev up
addr replace $v4/24 dev $netdev
addr replace $v6/64 dev $netdev nodad
END
rdma link add "${type}0" type "$type" netdev "$netdev" ||
	fail "cannot add ${type}0 over $netdev; see the console"

port=/sys/class/infiniband/${type}0/ports/1
gid4=$(gid "$v4")
gid6=$(gid "$v6")
tries=0
until ready; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "${type}0 does not come up with the addresses of $netdev"
	usleep 100000
done
