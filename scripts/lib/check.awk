# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Report the results of scripts/check, which are lines of "verdict <TAB> name
# <TAB> text" in the order of the run: a line per suite, below it what failed.
# Exits with 1 when something failed or was skipped, or when there is nothing.

function end_suite()
{
	if (suite == "")
		return
	printf "%-4s  %-32s %4d %s%s\n", bad ? "FAIL" : "ok", suite, cases,
		cases == 1 ? "case" : "cases", bad ? ", " bad " failed" : ""
	printf "%s", details
	suite = details = ""
	cases = bad = 0
}

function detail(verdict, name, text)
{
	gsub(/\037/, "\n        ", text)
	return "    " verdict " " name (text == "" ? "" : "\n        " text) "\n"
}

BEGIN {
	FS = "\t"
}

{
	dot = index($2, ".")
	name = ($2 ~ /^[a-z0-9_]+(-siw)?\.[^ ]+$/) ? substr($2, 1, dot - 1) : "frame"
	count[$1]++
	if (name == "frame") {
		frame++
		if ($1 != "pass")
			frame_details = frame_details detail($1, $2, $3)
		next
	}
	if (name != suite)
		end_suite()
	suite = name
	cases++
	if ($1 != "pass") {
		bad++
		details = details detail($1, substr($2, dot + 1), $3)
	}
}

END {
	end_suite()
	printf "%-4s  %-32s %4d checks\n", frame_details == "" ? "ok" : "FAIL",
		"loading, unloading, leaks, console", frame
	printf "%s", frame_details
	failed = count["fail"] + count["skip"]
	if (count["skip"])
		print count["skip"] " skipped cases count as failed"
	printf "%d passed, %d failed, %d s\n", count["pass"], failed, seconds
	exit !(count["pass"] > 0 && failed == 0)
}
