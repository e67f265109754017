# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The parts of "make check" (sourced, after lib.sh). A part is a test module, with another
# device or provider behind a dash, or a script of scripts/guest: kofi_verbs_test, kofi_verbs_test-siw,
# kofi_conformance_test-loop, "kofi_conformance_test-loop;ofi_hook_trace",
# "kofi_conformance_test-siw;ofi_rxm", which is "verbs;ofi_rxm" on that device. Each runs in a
# guest of its own.

# Parts without suites
parts_scripts=(insmod faults demo)

# parts_all: of the whole tree, those that take longest first. Where a suite needs an RDMA
# device, it runs on rxe0 and, in a kernel of its own, on siw0 (iWARP); the suites that any
# provider has to pass also run on kofi_loop and on kofi_tcp, without a device, and on kofi_rxm
# over kofi_loop, kofi_tcp, rxe0 and siw0; calls at random are made over the latter three, too.
# kofi_rxm_test needs siw0.
parts_all()
{
	echo kofi_verbs_test
	echo kofi_verbs_test-siw
	printf 'kofi_conformance_test-%s\n' siw loop tcp 'loop;ofi_rxm' 'tcp;ofi_rxm' 'verbs;ofi_rxm' \
		'siw;ofi_rxm'
	printf 'kofi_stress_test-%s\n' 'tcp;ofi_rxm' 'verbs;ofi_rxm' 'siw;ofi_rxm'
	# User-Mode Linux has no PCI devices
	sed -n 's/^obj-m += \(kofi_.*_test\)\.o$/\1/p' "$KOFI_TOP"/kunit/*/Kbuild |
		grep -vxE 'kofi_(verbs|p2p)_test'
	printf '%s\n' "${parts_scripts[@]}"
}

# parts_of WORDS: those with a suite or a case that has one of the words in its name, and those
# without suites that a word begins with.
parts_of()
{
	local folder part parts

	parts=$(parts_all)
	for part in "${parts_scripts[@]}"; do
		[[ " $1" != *" $part"* ]] || echo "$part"
	done
	for folder in $(cases_of "$1" | cut -d' ' -f1 | sort -u); do
		grep -E "^$(part_module "$folder")(-|\$)" <<<"$parts" || true
	done
}

# cases_of WORDS: "folder suite case" of all that has one of the words in its name; of all
# without a word.
cases_of()
{
	(cd "$KOFI_TOP" &&
		find kunit -name '*.c' -exec awk -v words="$1" -f scripts/lib/cases.awk {} +)
}

# part_module FOLDER: the test module that is made there
part_module()
{
	sed -n 's/^obj-m += \(kofi_.*_test\)\.o$/\1/p' "$KOFI_TOP/$1/Kbuild"
}

# part_folder PART: where its module is made
part_folder()
{
	local kbuild

	kbuild=$(grep -l "^obj-m += ${1%%-*}\.o\$" "$KOFI_TOP"/kunit/*/Kbuild)
	kbuild=${kbuild%/Kbuild}
	echo "${kbuild#"$KOFI_TOP/"}"
}

# part_needs PART: the folders whose modules it needs.
part_needs()
{
	local folder

	folder=$(part_folder "$1")
	echo "kofi kunit/lib $folder"
	awk -v folder="$folder" '$1 == folder { $1 = ""; print }' "$KOFI_TOP/kunit/needs"
	case $1 in
	*ofi_rxm*) echo providers/rxm ;;
	esac
	case $1 in
	*-loop*) echo providers/loop ;;
	*-tcp* | kofi_tcp_test) echo providers/tcp ;;
	*) echo providers/verbs ;;
	esac
}

# parts_needs PART...: those of several, in the order in which they are built.
parts_needs()
{
	local p folder needs

	needs=$(for p; do part_needs "$p"; done | xargs -n 1 | sort -u)
	for folder in kofi $(grep '^providers' <<<"$needs") $(grep -v '^providers\|^kofi$' <<<"$needs"); do
		echo "$folder"
	done | xargs
}

part_is_script()
{
	[[ " ${parts_scripts[*]} " = *" $1 "* ]]
}

# part_cases PART WORDS: its cases, one a line. A case with parameters is one.
part_cases()
{
	local folder

	! part_is_script "$1" || return 0
	folder=$(part_folder "$1")
	cases_of "$2" | awk -v folder="$folder" '$1 == folder'
}

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
	insmod | faults) cmd="/kofi/guest/$part.sh" rxe=(--no-rxe) ;;
	kofi_tcp_test) cmd="PROV=tcp $cmd" rxe=(--no-rxe) ;;
	kofi_rxm_test | *-siw) cmd="DEVICE=siw $cmd" rxe=(--no-rxe) ;;
	*-siw\;*) cmd="DEVICE=siw PROV='verbs;${part#*;}' $cmd" rxe=(--no-rxe) ;;
	*-verbs*) cmd="PROV='${part#*-}' $cmd" ;;
	*-*) cmd="PROV='${part#*-}' $cmd" rxe=(--no-rxe) ;;
	esac
	rm -rf "${dir:?}"
	mkdir -p "$dir"
	KOFI_REPORTS=$(part_reports "$part") "$KOFI_TOP/scripts/uml" --prepared "${dir%/*}/guest" \
		--dir "$dir" "${rxe[@]}" "$@" --timeout "$limit" --append "$append" \
		--run "$cmd; rc=\$?$then; exit \$rc" >"$dir/log" 2>"$dir/err"
}

# part_reports PART: which reports of its kernel are of others, see scripts/lib/check-console
part_reports()
{
	[ "$1" != insmod ] && echo "${KOFI_REPORTS:-}" || echo memory
}

# part_last_case DIR: how far its console shows that it came.
part_last_case()
{
	sed 's/^\[ *[0-9.]*\] //' "$1/console.log" | awk '
		/^    # Subtest: / { suite = $3; done = "before its first case ended" }
		/^ +(not )?ok [0-9]+ / { sub(/^ *(not )?ok [0-9]+ /, ""); done = "after " $1 }
		END { if (suite != "") print "it was in " suite ", " done }'
}

# guest_ktap LOG CONSOLE STATUS: the KTAP of a guest, whose output is in LOG. The results of a
# guest that did not end (121) never came out, or not all, so they are taken from its console.
guest_ktap()
{
	if [ "$3" != 121 ]; then
		cat "$1"
	else
		# A suite's result has no more than its name
		grep -E '^# module |^(not )?ok [0-9]+ [^ ]+ [^ #]' "$1" || true
		tr -d '\r' <"$2" | sed -E 's/^\[ *[0-9.]*\] //' |
			awk '/^kofi: these cases run$/ { n = 0 }
				/^ *KTAP version|^ *# |^ *(not )?ok [0-9]|^ *1\.\.[0-9]|^        [A-Z(&]/ { line[++n] = $0 }
				END { for (i = 1; i <= n; i++) print line[i] }'
	fi
}

# part_results PART DIR STATUS: "verdict <TAB> name <TAB> text" of all it did.
part_results()
{
	local behind=''

	[[ $1 != *-* ]] || behind=${1#*-}
	if [ "$1" = demo ]; then
		awk -f "$KOFI_TOP/scripts/lib/ktap.awk" "$2/log" | awk '
			{ sub(/\trun /, "\tdemo.run_"); sub(/, [^\t]*/, ""); print }
			END { if (NR != 8) print "fail\tdemo.runs\tgave " NR " results of 8" }'
	elif part_is_script "$1"; then
		awk -f "$KOFI_TOP/scripts/lib/ktap.awk" "$2/log" | sed "s/\t/&$1./" |
			awk -v part="$1" -v most="$("$KOFI_TOP/scripts/guest/$1.sh" list | wc -l)" '
				{ print }
				END { if (NR < most) print "fail\t" part ".cases\tgave " NR " results of " most }'
	else
		guest_ktap "$2/log" "$2/console.log" "$3" | awk -f "$KOFI_TOP/scripts/lib/ktap.awk" |
			sed "${behind:+s/\t\([a-z0-9_]*\)\./\t\1-$behind./; t; s/\t\([^\t]*\)/\t\1 ($behind)/}"
	fi
	case $3 in
	0) printf 'pass\t%s: the console shows no kernel report\t\n' "$1" ;;
	122) printf 'fail\t%s: the console shows no kernel report\t' "$1" ;;
	121) printf 'fail\t%s: the kernel ran to its end\t' "$1" ;;
	*) printf 'fail\t%s: exits with %s, see %s\t' "$1" "$3" "$2/log" ;;
	esac
	[ "$3" != 121 ] || part_last_case "$2" | tr '\n' '\037'
	[ "$3" = 0 ] || { tr '\n' '\037' <"$2/err"; echo; }
}
