# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Several guests at a time, driven from one script (sourced, after lib.sh).
#
# A guest is a scripts/vm that serves commands (scripts/guest/serve.sh says what
# goes over the line) and has a QMP monitor on a pair of named pipes. Two guests
# are joined by datagrams between two Unix sockets: nothing is lost on the way,
# no privilege is needed, and one end may vanish and come back.
#
# Everything of guest NAME is in $GUESTS_DIR/NAME: console.log, vm.log (what
# scripts/vm said), commands.log (all commands and answers). Pipes and sockets
# are in a folder of their own, since the path of a socket must be short.
#
# guest_run and friends return the status of the command; 125 means that the
# guest did not answer, with the reason in GUEST_WHY.

declare -A GUEST_VM GUEST_IN GUEST_OUT GUEST_QMP_IN GUEST_QMP_OUT GUEST_ID
GUEST_OUTPUT='' GUEST_WHY=''
# Seconds in which a guest has to answer. Those do not count in which it could not run, as
# the machine was busy with something else.
GUEST_PATIENCE=180

# guests_begin KERNEL DIR: build and pack, once for all guests. GUESTS_ONLY names the
# folders to build (scripts/vm --only); all without it, as the gate has them.
guests_begin()
{
	GUESTS_KERNEL=$1 GUESTS_DIR=$2
	mkdir -p "$GUESTS_DIR"
	lock "$GUESTS_DIR/guests.lock"
	GUESTS_PIPES=$(mktemp -d /tmp/kofi-two.XXXXXX)
	trap guests_abandon EXIT
	"$KOFI_TOP/scripts/vm" --kernel "$1" --strict --serve --no-rxe --prepare \
		--dir "$GUESTS_DIR" ${GUESTS_ONLY:+--only "$GUESTS_ONLY"}
}

# guests_abandon: whatever is left is killed; nothing is left after guest_end.
guests_abandon()
{
	local name

	for name in "${!GUEST_VM[@]}"; do
		kill -9 "$(cat "$GUESTS_DIR/$name/qemu.pid")" 2>/dev/null || true
		kill "${GUEST_VM[$name]}" 2>/dev/null || true
	done
	wait
	rm -rf "$GUESTS_PIPES" "$GUESTS_DIR/initrd"
}

# guest_boot NAME PEER SECONDS [KERNEL ARGS]: start a guest that is killed when
# it still runs after that time. Then guest_up waits until it takes commands. GUESTS_CARD
# is its network card (scripts/vm --card).
guest_boot()
{
	local name=$1 peer=$2 p=$GUESTS_PIPES dir=$GUESTS_DIR/$1 fd

	mkdir -p "$dir"
	rm -f "$dir"/{qemu.pid,commands.log,qmp.log,qmp.in,qmp.out}
	mkfifo "$p/$name".{in,out,qmp.in,qmp.out}
	ln -s "$p/$name.qmp.in" "$dir/qmp.in"
	ln -s "$p/$name.qmp.out" "$dir/qmp.out"
	setpriv --pdeathsig TERM "$KOFI_TOP/scripts/vm" --kernel "$GUESTS_KERNEL" --serve \
		--prepared "$GUESTS_DIR" --dir "$dir" --name "$name" --timeout "$3" \
		--append "${4:-}" --card "${GUESTS_CARD:-virtio-net-pci}" \
		--net "dgram,local.type=unix,local.path=$p/$name.net,remote.type=unix,remote.path=$p/$peer.net" \
		<"$p/$name.in" >"$p/$name.out" 2>"$dir/vm.log" &
	GUEST_VM[$name]=$!
	# Opened for both directions, a pipe neither blocks nor ends.
	exec {fd}<>"$p/$name.in"
	GUEST_IN[$name]=$fd
	exec {fd}<"$p/$name.out"
	GUEST_OUT[$name]=$fd
	exec {fd}<>"$p/$name.qmp.in"
	GUEST_QMP_IN[$name]=$fd
	exec {fd}<>"$p/$name.qmp.out"
	GUEST_QMP_OUT[$name]=$fd
	GUEST_ID[$name]=boot
}

guest_up()
{
	guest_await "$1" || { say "$GUEST_WHY"; return 1; }
	guest_qmp "$1" '{"execute":"qmp_capabilities"}'
}

# guest_load NAME FILE: the functions of this file, which the guest has, are commands
# from now on.
guest_load()
{
	printf '$ load %s\n' "$2" >>"$GUESTS_DIR/$1/commands.log"
	printf 'load %s\n' "$2" >&"${GUEST_IN[$1]}"
}

# guest_start NAME COMMAND: let it run, do not wait. One at a time and guest.
guest_start()
{
	local id=$((RANDOM * 32768 + RANDOM))

	GUEST_ID[$1]=$id
	printf '$ %s\n' "$2" >>"$GUESTS_DIR/$1/commands.log"
	printf 'run %s %s\n' "$id" "$2" >&"${GUEST_IN[$1]}"
}

# guest_starved NAME: for how many seconds one of the threads of its QEMU has been ready to run
# without a processor; the longest of them.
guest_starved()
{
	local pid

	pid=$(cat "$GUESTS_DIR/$1/qemu.pid" 2>/dev/null) || { echo 0; return; }
	cat "/proc/$pid/task/"*/schedstat 2>/dev/null |
		awk '$2 > most { most = $2 } END { printf "%d\n", most / 1e9 }'
}

# guest_await NAME: wait for the end of the command; its output is in
# GUEST_OUTPUT.
guest_await()
{
	local name=$1 line part='' rc end left

	end=$((SECONDS + GUEST_PATIENCE - $(guest_starved "$name")))
	left=$GUEST_PATIENCE
	GUEST_OUTPUT='' GUEST_WHY=''
	while :; do
		rc=0
		IFS= read -r -t $((left > 0 ? left : 1)) -u "${GUEST_OUT[$name]}" line || rc=$?
		left=$((end - SECONDS))
		if [ $rc -gt 128 ]; then
			left=$((left + $(guest_starved "$name")))
			# What has come of a line is not read again
			part+=$line
			[ $left -le 0 ] || continue
			GUEST_WHY="guest $name did not answer within $GUEST_PATIENCE s"
			return 125
		elif [ $rc -ne 0 ]; then
			GUEST_WHY="guest $name ended; see $GUESTS_DIR/$name/vm.log"
			return 125
		fi
		line=$part$line part=''
		printf '%s\n' "$line" >>"$GUESTS_DIR/$name/commands.log"
		case $line in
		"| "*) GUEST_OUTPUT+="${GUEST_OUTPUT:+$'\n'}${line#| }" ;;
		"= ${GUEST_ID[$name]} "*) return "${line##* }" ;;
		esac
	done
}

# guest_run NAME COMMAND: both.
guest_run()
{
	guest_start "$1" "$2"
	guest_await "$1"
}

# guest_qmp NAME JSON: give an order to QEMU, wait until it is carried out.
guest_qmp()
{
	local line

	printf '%s\n' "$2" >&"${GUEST_QMP_IN[$1]}"
	while IFS= read -r -t 30 -u "${GUEST_QMP_OUT[$1]}" line; do
		printf '%s\n' "$line" >>"$GUESTS_DIR/$1/qmp.log"
		case $line in
		'{"return"'*) return 0 ;;
		'{"error"'*) break ;;
		esac
	done
	say "QEMU of guest $1 did not do $2: ${line:-no answer}"
	return 1
}

# guest_cable NAME true|false: plug the guest's network cable in or out.
guest_cable()
{
	guest_qmp "$1" '{"execute":"set_link","arguments":{"name":"net0","up":'"$2"'}}'
}

# guest_kill NAME: end the guest as a power failure does.
guest_kill()
{
	kill -9 "$(cat "$GUESTS_DIR/$1/qemu.pid")"
	wait "${GUEST_VM[$1]}" || true
	guest_forget "$1"
}

# guest_end NAME: power the guest off; returns what scripts/vm does: 0, 122 after
# a kernel report, 121 when it crashed.
guest_end()
{
	local status=0

	printf 'exit 0\n' >&"${GUEST_IN[$1]}"
	cat <&"${GUEST_OUT[$1]}" >>"$GUESTS_DIR/$1/commands.log"
	wait "${GUEST_VM[$1]}" || status=$?
	guest_forget "$1"
	return $status
}

guest_forget()
{
	local fd

	for fd in "${GUEST_IN[$1]}" "${GUEST_OUT[$1]}" "${GUEST_QMP_IN[$1]}" \
		"${GUEST_QMP_OUT[$1]}"; do
		exec {fd}>&-
	done
	unset "GUEST_VM[$1]" "GUEST_IN[$1]" "GUEST_OUT[$1]" "GUEST_QMP_IN[$1]" \
		"GUEST_QMP_OUT[$1]"
	rm -f "$GUESTS_PIPES/$1".* "$GUESTS_DIR/$1"/qmp.{in,out}
}
