#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Commands from the second serial port, one after the other (scripts/vm --serve).
#
#	host -> guest	load FILE	functions that commands may call from now on
#			run ID COMMAND LINE
#			exit STATUS
#	guest -> host	| text		a line of what the command printed, at once
#			= ID STATUS	it has ended
#
# The first line is "= boot 0": from then on the guest listens. A command is run by a
# shell of its own, which has the functions but takes no program to start: starting one
# takes a tenth of a second under emulation. So is everything that the commands print
# passed on by this script alone, which tells its own lines by a mark.

mark=$(printf '\001')

answer()
{
	while IFS= read -r line; do
		case $line in
		"$mark"*) echo "${line#"$mark"}" ;;
		# What was printed did not end its line
		*"$mark"*) printf '| %s\n%s\n' "${line%%"$mark"*}" "${line#*"$mark"}" ;;
		*) printf '| %s\n' "$line" ;;
		esac
	done
}

serve()
{
	while IFS= read -r line <&3; do
		case $line in
		"exit "*)
			return "${line#exit }"
			;;
		"load "*)
			# shellcheck disable=SC1090 # any file
			. "${line#load }"
			;;
		"run "*)
			line=${line#run }
			( eval "${line#* }" ) </dev/null >&4 2>&1 3<&- 4>&-
			echo "$mark= ${line%% *} $?" >&4
			;;
		*)
			echo "serve: cannot understand: $line" >&4
			;;
		esac
	done
	echo "serve: the serial port was closed" >&4
	return 1
}

exec 3</dev/ttyS1
mkfifo /tmp/serve
answer </tmp/serve &
exec 4>/tmp/serve
echo "= boot 0"
serve
status=$?
exec 4>&-
wait
exit $status
