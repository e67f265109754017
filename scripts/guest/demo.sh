#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The ping-pong runs: four over an RDMA device, three without; and, as "demo.sh storage", a
# file system over NVMe over Fabrics. Each prints its table and then "run N: ok" or
# "run N: FAILED: reason". Exit status 0 only when all are ok. The data of every message is
# checked by its receiver in all of them, those of files by their checksums.

V4=10.77.0.1
V6=fd77::1
PORT=47592
ITER=${ITER:-20}
LIMIT=${LIMIT:-60}
dbg=/sys/kernel/debug/kofi_pingpong
failed=0
modules=

say()
{
	printf '%s\n' "$*"
}

# verdict N STATUS REASON
verdict()
{
	if [ "$2" -eq 0 ]; then
		say "run $1: ok"
	else
		say "run $1: FAILED: $3"
		say "    dmesg, last lines:"
		dmesg | tail -n 15 | sed 's/^/    | /'
		failed=$((failed + 1))
	fi
	say ""
}

# kernel_start PARAMETERS: load the kernel's ping-pong with them.
kernel_start()
{
	modprobe kofi_pingpong iters="$ITER" check=1 port=$PORT "$@"
}

# kernel_wait: wait for the end of the kernel's run, show its table. The
# module says "ok" or "error -N text"; each role counts its messages.
kernel_wait()
{
	outcome=$(timeout "$LIMIT" cat $dbg/wait 2>&1) ||
		outcome="no end within $LIMIT s ($outcome)"
	cat $dbg/results | tee /tmp/kernel
	[ "$outcome" = ok ] || return
	awk '/ messages intact/ { roles++; bad += ($1 != $3 || $1 == 0) }
		END { exit !(roles > 0 && bad == 0) }' /tmp/kernel && return
	outcome="not every message arrived intact"
	return 1
}

kernel_stop()
{
	rmmod kofi_pingpong
}

# user_ok FILE STATUS: fi_pingpong ended well and acknowledged all it sent.
user_ok()
{
	[ "$2" -eq 0 ] || return 1
	awk -v n="$ITER" '$3 ~ /^=/ { rows++; bad += ($2 != n || $3 != "=" n) }
		END { exit !(rows > 0 && bad == 0) }' "$1"
}

# user_listens PID: wait until a process that must stay alive listens.
user_listens()
{
	hex=$(printf '%04X' $PORT)
	while kill -0 "$1" 2>/dev/null; do
		cat /proc/net/tcp /proc/net/tcp6 |
			awk -v p=":$hex" '$4 == "0A" && substr($2, length($2) - 4) == p { found = 1 }
				END { exit !found }' && return 0
		usleep 50000
	done
	return 1
}

# both N ADDRESS PROVIDER
both()
{
	say "run $1: kernel client <-> kernel server over kOFI, $2, provider $3"
	kernel_start role=both addr="$2" prov="$3" ||
		{ verdict "$1" 1 "kofi_pingpong did not load"; return; }
	kernel_wait
	status=$?
	kernel_stop || { status=1; outcome="kofi_pingpong cannot be unloaded"; }
	verdict "$1" $status "$outcome"
}

# kernel_server N ADDRESS PROVIDER
kernel_server()
{
	say "run $1: kernel kOFI server <-> fi_pingpong client, $2, provider $3"
	kernel_start role=server addr="$2" prov="$3" ||
		{ verdict "$1" 1 "kofi_pingpong did not load"; return; }
	if ! timeout "$LIMIT" cat $dbg/listening >/dev/null; then
		kernel_stop
		verdict "$1" 1 "the kernel server did not listen within $LIMIT s"
		return
	fi
	timeout "$LIMIT" fi_pingpong -p "$3" -e msg -c -I "$ITER" "$2" >/tmp/user 2>&1
	status=$?
	cat /tmp/user
	if ! user_ok /tmp/user $status; then
		kernel_stop
		verdict "$1" 1 "fi_pingpong exited with $status (124: no end within $LIMIT s)"
		return
	fi
	kernel_wait >/dev/null
	status=$?
	kernel_stop || { status=1; outcome="kofi_pingpong cannot be unloaded"; }
	verdict "$1" $status "kernel server: $outcome"
}

# kernel_client N ADDRESS PROVIDER
kernel_client()
{
	say "run $1: fi_pingpong server <-> kernel kOFI client, $2, provider $3"
	timeout "$LIMIT" fi_pingpong -p "$3" -e msg -c -I "$ITER" >/tmp/user 2>&1 &
	server=$!
	if ! user_listens $server; then
		wait $server
		status=$?
		cat /tmp/user
		verdict "$1" 1 "the fi_pingpong server ended with $status before it listened"
		return
	fi
	if ! kernel_start role=client addr="$2" prov="$3"; then
		kill $server
		wait $server
		verdict "$1" 1 "kofi_pingpong did not load"
		return
	fi
	kernel_wait
	status=$?
	[ $status -eq 0 ] || kill $server
	wait $server
	user=$?
	kernel_stop || { status=1; outcome="kofi_pingpong cannot be unloaded"; }
	if [ $status -eq 0 ] && ! user_ok /tmp/user $user; then
		status=1
		outcome="the fi_pingpong server exited with $user"
		cat /tmp/user
	fi
	verdict "$1" $status "$outcome"
}

# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh

say "kernel $(uname -r), $(rdma link show rxe0/1)"
say ""
modprobe -a kofi kofi_verbs || { say "kofi.ko or kofi_verbs.ko did not load"; exit 1; }
both 1 $V4 verbs
kernel_server 2 $V4 verbs
kernel_client 3 $V4 verbs
both 4 $V6 verbs
rmmod kofi_verbs || { say "kofi_verbs cannot be unloaded"; failed=$((failed + 1)); }
modprobe -a kofi_loop kofi_tcp || { say "kofi_loop.ko or kofi_tcp.ko did not load"; exit 1; }
both 5 127.0.0.1 loop
kernel_server 6 127.0.0.1 tcp
kernel_client 7 127.0.0.1 tcp
if [ "$1" = storage ]; then
	say "run 8: files on ext4 <-> NVMe over Fabrics over kOFI <-> the kernel's target nvmet"
	/kofi/guest/nvme.sh files
	verdict 8 $? "what failed is named above"
fi
leaks_names
! [ "$1" = storage ] || modules=kofi_verbs
for m in $modules kofi_tcp kofi_loop kofi; do
	rmmod "$m" || { say "$m cannot be unloaded"; failed=$((failed + 1)); }
done
if leaks_watched && leaks_found; then
	say "the runs leaked memory; see above"
	failed=$((failed + 1))
fi
[ $failed -eq 0 ]
