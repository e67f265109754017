# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The parts of "make check" (sourced, after lib.sh). A part is a test module, with another
# device or provider behind a dash, or "demo": kofi_verbs_test, kofi_verbs_test-siw,
# kofi_conformance_test-loop, "kofi_conformance_test-loop;ofi_hook_trace". Each runs in a
# guest of its own.

# part_run PART DIR LIMIT REMOVALS WORDS APPEND THEN [OPTION...]: run it in DIR with the
# guest that "scripts/uml --prepare" has packed in DIR/../guest. The output goes to DIR/log
# and DIR/err, the status is that of scripts/uml. LIMIT is in seconds. WORDS are the ONLY of
# scripts/guest/kunit.sh, APPEND is for the kernel's command line, THEN is a command to run
# behind, and an OPTION is one of scripts/uml.
part_run()
{
	local part=$1 dir=$2 limit=$3 append=$6 then=$7
	local cmd="SUITES='${part%-*}' ONLY='$5' REMOVALS=$4 /kofi/guest/kunit.sh"
	local rxe=()

	shift 7
	case $part in
	demo) cmd="/kofi/guest/demo.sh" ;;
	kofi_tcp_test) cmd="PROV=tcp $cmd" rxe=(--no-rxe) ;;
	*-siw) cmd="DEVICE=siw $cmd" rxe=(--no-rxe) ;;
	*-verbs*) cmd="PROV='${part#*-}' $cmd" ;;
	*-*) cmd="PROV='${part#*-}' $cmd" rxe=(--no-rxe) ;;
	esac
	rm -rf "${dir:?}"
	mkdir -p "$dir"
	"$KOFI_TOP/scripts/uml" --prepared "${dir%/*}/guest" --dir "$dir" "${rxe[@]}" "$@" \
		--timeout "$limit" --append "$append" \
		--run "$cmd; rc=\$?$then; exit \$rc" >"$dir/log" 2>"$dir/err"
}

# part_last_case DIR: how far its console shows that it came.
part_last_case()
{
	sed 's/^\[ *[0-9.]*\] //' "$1/console.log" | awk '
		/^    # Subtest: / { suite = $3; done = "before its first case ended" }
		/^ +(not )?ok [0-9]+ / { sub(/^ *(not )?ok [0-9]+ /, ""); done = "after " $1 }
		END { if (suite != "") print "it was in " suite ", " done }'
}

# part_results PART DIR STATUS: "verdict <TAB> name <TAB> text" of all it did.
part_results()
{
	case $1 in
	demo) part_demo_results "$2/log" ;;
	*-*) awk -f "$KOFI_TOP/scripts/lib/ktap.awk" "$2/log" |
		sed "s/\t\([a-z0-9_]*\)\./\t\1-${1#*-}./; t; s/\t\([^\t]*\)/\t\1 (${1#*-})/" ;;
	*) awk -f "$KOFI_TOP/scripts/lib/ktap.awk" "$2/log" ;;
	esac
	case $3 in
	0) printf 'pass\t%s: the console shows no kernel report\t\n' "$1" ;;
	122) printf 'fail\t%s: the console shows no kernel report\t' "$1" ;;
	121) printf 'fail\t%s: the kernel ran to its end\t' "$1" ;;
	*) printf 'fail\t%s: exits with %s, see %s\t' "$1" "$3" "$2/log" ;;
	esac
	[ "$3" != 121 ] || part_last_case "$2" | tr '\n' '\037'
	[ "$3" = 0 ] || { tr '\n' '\037' <"$2/err"; echo; }
}

# part_demo_results LOG: the verdicts of scripts/guest/demo.sh.
part_demo_results()
{
	awk '/^run [0-9]: (ok|FAILED)/ {
			text = $0
			sub(/^run [0-9]: (ok|FAILED: )/, "", text)
			printf "%s\tdemo.run_%d\t%s\n", $3 == "ok" ? "pass" : "fail", $2, text
			runs++
		}
		END { if (runs != 7) print "fail\tdemo.runs\tgave " runs + 0 " results of 7" }' "$1"
}
