# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kofi_pingpong against fi_pingpong, one end each (sourced). Whoever sources this has a
# function "verdict NAME STATUS REASON". Settings, of which each may be left out:
#
#	ITER		messages of each size
#	LIMIT		seconds that a run may take
#	SIZES		default or all; the same in both programs
#	PINGPONG	how fi_pingpong is started
#	EP		msg or rdm, for both programs
#	USER_PROV	what libfabric calls the provider, if it is another name

PORT=47592
ITER=${ITER:-20}
LIMIT=${LIMIT:-60}
SIZES=${SIZES:-default}
EP=${EP:-msg}
USER_PROV=${USER_PROV:-}
PINGPONG=${PINGPONG:-fi_pingpong}
dbg_pingpong=/sys/kernel/debug/kofi_pingpong

# pingpong_start PARAMETERS: load the kernel's ping-pong with them.
pingpong_start()
{
	modprobe kofi_pingpong iters="$ITER" sizes="$SIZES" check=1 port=$PORT ep="$EP" "$@"
}

# pingpong_wait: wait for the end of the kernel's run, show its table. The
# module says "ok" or "error -N text"; each role counts its messages.
pingpong_wait()
{
	outcome=$(timeout "$LIMIT" cat $dbg_pingpong/wait 2>&1) ||
		outcome="no end within $LIMIT s ($outcome)"
	cat $dbg_pingpong/results | tee /tmp/kernel
	[ "$outcome" = ok ] || return
	awk '/ messages intact/ { roles++; bad += ($1 != $3 || $1 == 0) }
		END { exit !(roles > 0 && bad == 0) }' /tmp/kernel && return
	outcome="not every message arrived intact"
	return 1
}

pingpong_stop()
{
	rmmod kofi_pingpong
}

# user_pingpong PROVIDER [ADDRESS]: the stock program, with data check.
user_pingpong()
{
	provider=${USER_PROV:-$1}
	shift
	set -- -p "$provider" -e "$EP" -c -I "$ITER" "$@"
	[ "$SIZES" = default ] || set -- -S "$SIZES" "$@"
	# shellcheck disable=SC2086 # PINGPONG is a command line
	timeout "$LIMIT" $PINGPONG "$@"
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

# kernel_server NAME ADDRESS PROVIDER [every]: it listens there, or on every address.
kernel_server()
{
	listen=addr=$2
	[ "${4:-}" != every ] || listen=
	# shellcheck disable=SC2086 # nothing, if it is empty
	pingpong_start role=server $listen prov="$3" ||
		{ verdict "$1" 1 "kofi_pingpong did not load"; return; }
	if ! timeout "$LIMIT" cat $dbg_pingpong/listening >/dev/null; then
		pingpong_stop
		verdict "$1" 1 "the kernel server did not listen within $LIMIT s"
		return
	fi
	if [ "${4:-}" = every ] && ! dmesg | grep -q 'server: listening on \[::\]:'; then
		pingpong_stop
		verdict "$1" 1 "the kernel server does not say that it listens on every address"
		return
	fi
	user_pingpong "$3" "$2" >/tmp/user 2>&1
	status=$?
	cat /tmp/user
	if ! user_ok /tmp/user $status; then
		pingpong_stop
		verdict "$1" 1 "fi_pingpong exited with $status (124: no end within $LIMIT s)"
		return
	fi
	pingpong_wait >/dev/null
	status=$?
	sed -n 's/.* messages intact/kernel server: &/p' /tmp/kernel
	pingpong_stop || { status=1; outcome="kofi_pingpong cannot be unloaded"; }
	verdict "$1" $status "kernel server: $outcome"
}

# kernel_client NAME ADDRESS PROVIDER
kernel_client()
{
	user_pingpong "$3" >/tmp/user 2>&1 &
	server=$!
	if ! user_listens $server; then
		wait $server
		status=$?
		cat /tmp/user
		verdict "$1" 1 "the fi_pingpong server ended with $status before it listened"
		return
	fi
	if ! pingpong_start role=client addr="$2" prov="$3"; then
		kill $server
		wait $server
		verdict "$1" 1 "kofi_pingpong did not load"
		return
	fi
	pingpong_wait
	status=$?
	[ $status -eq 0 ] || kill $server
	wait $server
	user=$?
	pingpong_stop || { status=1; outcome="kofi_pingpong cannot be unloaded"; }
	if [ $status -eq 0 ] && ! user_ok /tmp/user $user; then
		status=1
		outcome="the fi_pingpong server exited with $user"
		cat /tmp/user
	fi
	verdict "$1" $status "$outcome"
}
