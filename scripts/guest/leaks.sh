# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kmemleak, for the guest's scripts (sourced). leaks_begin forgets what the
# kernel itself lost before our first module came; leaks_found prints the
# leaks since then and succeeds when there are some.

leaks=/sys/kernel/debug/kmemleak

# An object counts as leaked only when it is older than kmemleak's minimum age
# of five seconds and two scans found no pointer to it.
leaks_scan()
{
	echo scan >$leaks
	sleep 6
	echo scan >$leaks
}

leaks_begin()
{
	leaks_scan
	echo clear >$leaks
}

leaks_found()
{
	leaks_scan
	cat $leaks
	leaks_status=0
	grep -q . $leaks || leaks_status=1
	echo clear >$leaks
	return $leaks_status
}
