# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Results of the gate's stages (sourced). One stage collects its results in
# build/test/STAGE.results, one line each: verdict, name, text, with tabs
# between; the same as KTAP goes to build/test/STAGE.ktap.

# results_begin STAGE
results_begin()
{
	KOFI_STAGE=$1
	KOFI_RESULTS=$KOFI_BUILD/test/$1.results
	mkdir -p "$KOFI_BUILD/test"
	: >"$KOFI_RESULTS"
}

# result pass|fail|skip NAME [TEXT]: record one and show it. The character 037
# in TEXT stands for the end of a line.
result()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >>"$KOFI_RESULTS"
	printf '%-4s  %s: %s\n' "$1" "$KOFI_STAGE" "$2"
	[ -z "${3:-}" ] || printf '      %s\n' "${3//$'\037'/$'\n'      }"
}

# results_end: write the KTAP file.
results_end()
{
	awk -F '\t' '
		{ line[NR] = ($1 == "fail" ? "not ok " : "ok ") NR " " $2 \
			($1 == "skip" ? " # SKIP " $3 : "")
		  diag[NR] = ($1 == "fail" && $3 != "") ? "# " $3 : ""
		  gsub(/\037/, "\n# ", diag[NR]) }
		END { print "KTAP version 1"; print "1.." NR
		      for (i = 1; i <= NR; i++) {
				if (diag[i] != "") print diag[i]
				print line[i] } }' "$KOFI_RESULTS" >"${KOFI_RESULTS%.results}.ktap"
}
