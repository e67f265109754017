# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Results of cases as KTAP (sourced by scripts of guests and of the host). The lines that begin with
# "# ", in front of a result, say why a case failed; other lines are for the reader. The host takes
# results by scripts/lib/ktap.awk. A script that has a list of cases prints it by list(), a case a
# line, behind whose name stands what it shows.

tried=0 failed=0 why=

# plan [NUMBER]: begin, with so many results
plan()
{
	tried=0 failed=0 why=
	echo "KTAP version 1"
	[ $# -eq 0 ] || echo "1..$1"
}

# fail REASON: the case has failed; the first reason counts
fail()
{
	why=${why:-${*:-no reason given}}
}

# verdict NAME [STATUS [REASON]]: the result of a case, which is this status too. Without STATUS the
# case is ok unless fail() was called.
verdict()
{
	tried=$((tried + 1))
	set -- "$1" "${2:-${#why}}" "${3:-$why}"
	why=
	if [ "$2" -eq 0 ]; then
		echo "ok $tried $1"
		return
	fi
	failed=1
	[ -z "$3" ] || printf '# %s\n' "$(printf %s "$3" | tr '\n' ' ')"
	echo "not ok $tried $1"
	return 1
}

# run_cases [NAME...]: case_NAME for each, default all of list(); the status is 1 if one failed
run_cases()
{
	# shellcheck disable=SC2046 # words
	[ $# -gt 0 ] || set -- $(list | sed 's/ .*//')
	plan $#
	for case; do
		"case_$case"
		[ $? -ne 127 ] || fail "case_$case, or its last command, is missing"
		verdict "$case"
	done
	return $failed
}
