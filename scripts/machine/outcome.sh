# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What has become of a guest (sourced by scripts/vm and scripts/uml, after
# lib.sh). Its second serial port carries the output of its command and two lines
# for us, "#kofi taint N" and "#kofi exit N" (scripts/guest/init).

# watch RUNDIR: pass the command's output on as it comes, keep the lines for us.
watch()
{
	local l

	: >"$1/status"
	while IFS= read -r l; do
		case $l in
		"#kofi "*) printf '%s\n' "$l" >>"$1/status" ;;
		*) printf '%s\n' "$l" ;;
		esac
	done
}

# outcome NAME RUNDIR STATUS TIMEOUT: exit as the guest's command did, but with
# 121 if it did not end and with 122 if the console shows a kernel report. STATUS
# is that of the guest's process under timeout. NAME is said before each message.
outcome()
{
	local name=$1 run=$2 rc taint

	rc=$(awk '$2 == "exit" { print $3 }' "$run/status")
	taint=$(awk '$2 == "taint" { print $3 }' "$run/status")
	if [ -z "$rc" ]; then
		rc=121
		case $3 in
		124 | 137) say "$name: the guest did not end within $4 s and was killed" ;;
		*) say "$name: the guest ended before its command did (a crash?)" ;;
		esac
		[ ! -e "$run/qemu.log" ] || cat "$run/qemu.log" >&2
	fi
	if ! "$KOFI_TOP/scripts/lib/check-console" "$run/console.log" "${taint:-0}" >&2; then
		[ "$rc" -ne 0 ] || rc=122
	elif [ "$rc" -eq 121 ]; then
		say "$name: the console's last lines:"
		tail -n 30 "$run/console.log" | tr -d '\r' | sed 's/^/  | /' >&2
	fi
	say "$name: exit $rc, console: $run/console.log"
	exit "$rc"
}
