#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Commands from the second serial port, one after the other (scripts/vm --serve).
#
#	host -> guest	run ID COMMAND LINE
#			exit STATUS
#	guest -> host	| text		a line of what the command printed
#			= ID STATUS	it has ended
#
# The first line is "= boot 0": from then on the guest listens. A command that
# leaves something running in the background sends its output elsewhere, else the
# command ends when that does.

exec 3</dev/ttyS1
echo "= boot 0"
while IFS= read -r line <&3; do
	case $line in
	"exit "*)
		exit "${line#exit }"
		;;
	"run "*)
		line=${line#run }
		id=${line%% *}
		{ sh -c "${line#* }" 3<&- </dev/null 2>&1
		  echo $? >/tmp/serve.status; } | awk '{ print "| " $0; fflush() }'
		echo "= $id $(cat /tmp/serve.status)"
		;;
	*)
		echo "| serve: cannot understand: $line"
		;;
	esac
done
echo "| serve: the serial port was closed"
exit 1
