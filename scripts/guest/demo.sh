#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The ping-pong runs: five over an RDMA device, three without; and, as "demo.sh storage", a
# file system over NVMe over Fabrics. Each prints its table; results are KTAP. Exit status 0 only when
# all are ok. The data of every message is checked by its receiver in all of them, those of files by
# their checksums.

V4=10.77.0.1
V6=fd77::1
modules=

say()
{
	printf '%s\n' "$*"
}

# begin N WHAT: say what this run is; $name is that of its result
begin()
{
	say "run $1: $2"
	name="run $1, $2"
}

# end STATUS: of a run, whose result has been given
end()
{
	if [ "$1" -ne 0 ]; then
		say "    dmesg, last lines:"
		dmesg | tail -n 15 | sed 's/^/    | /'
	fi
	say ""
}

# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh
# shellcheck source=scripts/guest/pingpong.sh
. /kofi/guest/pingpong.sh

# rows: the sizes in the table that was shown last.
rows()
{
	awk '$3 ~ /^=/ && !seen[$1]++ { printf "%s%s", n++ ? "," : "", $1 }' /tmp/kernel
}

# both N ADDRESS PROVIDER CQ [SIZES ROWS]: in each of these runs the client waits in another
# way. ROWS is how the table names SIZES.
both()
{
	begin "$1" "kernel client <-> kernel server over kOFI, $2, provider $3, cq=$4, ep=${EP:-msg}"
	kernel_both "$@"
	end $?
}

kernel_both()
{
	pingpong_start role=both addr="$2" prov="$3" cq="$4" sizes="${5:-default}" ||
		{ verdict "$name" 1 "kofi_pingpong did not load"; return; }
	pingpong_wait
	status=$?
	if [ $status -eq 0 ] && [ -n "${6:-}" ] && [ "$(rows)" != "$6" ]; then
		status=1
		outcome="the table has messages of $(rows)"
	fi
	pingpong_stop || { status=1; outcome="kofi_pingpong cannot be unloaded"; }
	verdict "$name" $status "$outcome"
}

# from_user N ADDRESS PROVIDER [every]
from_user()
{
	begin "$1" "kernel kOFI server <-> fi_pingpong client, $2, provider $3"
	kernel_server "$name" "$2" "$3" "${4:-}"
	end $?
}

# to_user N ADDRESS PROVIDER
to_user()
{
	begin "$1" "fi_pingpong server <-> kernel kOFI client, $2, provider $3"
	kernel_client "$name" "$2" "$3"
	end $?
}

# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh

runs=8
[ "$1" != storage ] || runs=9
plan $runs
say "kernel $(uname -r), $(rdma link show rxe0/1)"
say ""
modprobe -a kofi kofi_verbs || { say "kofi.ko or kofi_verbs.ko did not load"; exit 1; }
both 1 $V4 verbs sleep
from_user 2 $V4 verbs every
to_user 3 $V4 verbs
both 4 $V6 verbs callback
modprobe kofi_rxm || { say "kofi_rxm.ko did not load"; failed=1; }
EP=rdm
both 5 $V4 "verbs;ofi_rxm" sleep
EP=msg
rmmod kofi_rxm || { say "kofi_rxm cannot be unloaded"; failed=1; }
rmmod kofi_verbs || { say "kofi_verbs cannot be unloaded"; failed=1; }
modprobe -a kofi_loop kofi_tcp || { say "kofi_loop.ko or kofi_tcp.ko did not load"; exit 1; }
EP=rdm
both 6 127.0.0.1 loop poll 0,100,6291456 0,100,6m
EP=msg
# The file system of run 9 needs the device
if [ "$1" != storage ]; then
	rdma link delete rxe0 || { say "rxe0 cannot be deleted"; failed=1; }
	say "RDMA devices from here on: $(rdma link show | wc -l)"
	say ""
fi
from_user 7 127.0.0.1 tcp
to_user 8 127.0.0.1 tcp
if [ "$1" = storage ]; then
	begin 9 "files on ext4 <-> NVMe over Fabrics over kOFI <-> the kernel's target nvmet"
	/kofi/guest/nvme.sh files >/tmp/files
	status=$?
	sed 's/^/    /' /tmp/files
	verdict "$name" $status "what failed is named above"
	end $?
fi
leaks_names
! [ "$1" = storage ] || modules=kofi_verbs
for m in $modules kofi_tcp kofi_loop kofi; do
	rmmod "$m" || { say "$m cannot be unloaded"; failed=1; }
done
if leaks_watched && leaks_found; then
	say "the runs leaked memory; see above"
	failed=1
fi
exit $failed
