# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Results of the gate's stages (sourced). One stage collects its results in
# build/test/STAGE.results, one line each: verdict, name, text, with tabs
# between; the same as KTAP goes to build/test/STAGE.ktap. The names of the logs
# that explain a failure, a guest's console first, go to build/test/STAGE.logs;
# without any, build/STAGE/*/console.log are taken.

# results_begin STAGE [LOG]...
results_begin()
{
	results_more "$1"
	: >"$KOFI_RESULTS"
	rm -f "${KOFI_RESULTS%.results}.again"
	shift
	printf '%s\n' "$@" >"${KOFI_RESULTS%.results}.logs"
}

# results_again COMMAND [ALONE]: what runs a failed case alone; "%s" stands for its name, as
# scripts/lib/failures.awk has it. ALONE is for a result that is no case. Without a call it
# is the stage.
results_again()
{
	printf '%s\n' "$@" >"${KOFI_RESULTS%.results}.again"
}

# results_brief STAGE LINES: what failed, for the end of the output, in so many lines.
results_brief()
{
	local again=("make test STAGE=$1") file=$KOFI_BUILD/test/$1

	[ ! -e "$file.again" ] || mapfile -t again <"$file.again"
	awk -v stage="$1" -v again="${again[0]}" -v alone="${again[1]:-}" -v most="$2" \
		-f "$KOFI_TOP/scripts/lib/failures.awk" "$file.results"
}

# results_more STAGE: go on where another process began.
results_more()
{
	KOFI_STAGE=$1
	KOFI_RESULTS=$KOFI_BUILD/test/$1.results
	mkdir -p "$KOFI_BUILD/test"
}

# result pass|fail|skip NAME [TEXT]: record one and show it. The character 037
# in TEXT stands for the end of a line.
result()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >>"$KOFI_RESULTS"
	result_show "$@"
}

# results_of_cases LOG [PREFIX]: of each case of the list on stdin, "NAME" or "NAME WHAT IT SHOWS",
# the result in LOG, which is KTAP. One that was never reached has none there.
results_of_cases()
{
	local verdict name text

	while IFS=$'\t' read -r verdict name text; do
		result "$verdict" "$name" "$text"
	done < <(awk -v see="; see $1" -v prefix="${2:-}" '
		!list {
			split($0, field, "\t")
			if (verdict[field[2]] != "fail") {
				verdict[field[2]] = field[1]
				sub(/^[^\t]*\t[^\t]*\t/, "")
				text[field[2]] = $0
			}
			next
		}
		{
			name = $1
			if (!(name in verdict)) {
				verdict[name] = "fail"
				text[name] = "was not run"
			}
			sub(/ /, ": ")
			printf "%s\t%s\t%s\n", verdict[name], prefix $0,
				verdict[name] == "pass" ? "" : text[name] see
		}' <(awk -f "$KOFI_TOP/scripts/lib/ktap.awk" "$1") list=1 -)
}

result_show()
{
	local text=${3:-}

	printf '%-4s  %s: %s\n' "$1" "$KOFI_STAGE" "$2"
	text=${text//$'\037'/$'\n'}
	[ -z "$text" ] || printf '      %s\n' "${text//$'\n'/$'\n'      }"
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

# results_failed STAGE: what failed, the first with their text.
results_failed()
{
	local verdict name text n=0

	results_more "$1"
	while IFS=$'\t' read -r verdict name text; do
		[ "$verdict" != pass ] || continue
		n=$((n + 1))
		[ $n -le 3 ] || text=''
		result_show "$verdict" "$name" \
			"$(printf %s "$text" | tr '\037' '\n' | head -n 30)"
	done <"$KOFI_RESULTS"
}

# stage_logs STAGE
stage_logs()
{
	grep . "$KOFI_BUILD/test/$1.logs" 2>/dev/null ||
		compgen -G "$KOFI_BUILD/$1/*/console.log" || true
}

# results_reports STAGE: the first kernel report of each guest, in a line.
results_reports()
{
	local log

	while read -r log; do
		[[ $log = *console.log && -s $log ]] || continue
		"$KOFI_TOP/scripts/lib/check-console" --brief "$log" |
			sed "s/^/fail: $1: /" || true
	done < <(stage_logs "$1")
}

# results_excerpt STAGE: thirty lines of each guest's console: from the first
# kernel report, else at the first failed case, else the last; without a guest,
# the end of what the stage said. Then where the rest is.
results_excerpt()
{
	local log logs=() consoles=0

	mapfile -t logs < <(stage_logs "$1")
	for log in "${logs[@]}"; do
		[[ $log = *console.log && -s $log ]] || continue
		consoles=1
		console_excerpt "$log"
	done
	if [ $consoles -eq 0 ] && [ -s "$KOFI_BUILD/test/$1.out" ]; then
		echo "the last lines of stage $1:"
		tail -n 30 "$KOFI_BUILD/test/$1.out" | sed 's/^/  | /'
	fi
	echo "whole logs of stage $1:"
	printf '  %s\n' "$KOFI_BUILD/test/$1.out" "${logs[@]}"
}

# console_excerpt LOG
console_excerpt()
{
	local report bad last

	if ! report=$("$KOFI_TOP/scripts/lib/check-console" "$1"); then
		printf '%s\n' "$report"
		return
	fi
	bad=$(grep -nE -m 1 '^(\[[ 0-9.]+\])? *not ok ' "$1" | cut -d: -f1 || true)
	if [ -n "$bad" ]; then
		echo "no kernel report in ${1#"$KOFI_TOP/"}; where its first case failed:"
		last=$((bad + 4))
	else
		echo "no kernel report in ${1#"$KOFI_TOP/"}; its last lines:"
		last=$(wc -l <"$1")
	fi
	head -n "$last" "$1" | tail -n 30 | tr -d '\r' | sed 's/^/  | /'
}
