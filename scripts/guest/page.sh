#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run the commands of a page of Documentation, as a reader would type them: each section on
# its own, in a guest where no module of kOFI is loaded. The page's "code-block:: sh" are the
# commands; a "code-block:: text" is what the commands before it print. Each of its lines has to
# be in that output, where numbers and pointers may differ. Blocks before the first section
# belong to every section.
#
# usage: page.sh PAGE
#        page.sh --list PAGE	names the cases, one for each section with commands
# Prints KTAP; exits 1 if a case failed. Commands are shown, indented, with the last lines of what
# they print.

# shellcheck source=scripts/guest/cases.sh
. "${0%/*}/cases.sh"

list=0
[ "$1" != --list ] || { list=1; shift; }
page=$1
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# split: $parts/SECTION-BLOCK.sh and .text, and a line "SECTION NAME TITLE" for each section
# that has commands. Section 0 is what comes before the first; blocks are numbered through.
split()
{
	awk -v dir="$parts" '
		function begin_section(title, name) {
			name = tolower(title)
			gsub(/\(\)|\?/, "", name)
			gsub(/[^a-z0-9]+/, "-", name)
			section++
			heading = section " " name " " title
		}
		/^\.\. code-block:: / { kind = $3; inside = 0; next }
		kind != "" && /^\t/ {
			if (!inside && kind == "sh") {
				block++
				if (heading != "" && section > 0)
					print heading
				heading = ""
			}
			inside = 1
			print substr($0, 2) >(dir "/" section "-" block "." kind)
			next
		}
		/^[^\t]/ { kind = "" }
		# The first line of this kind is below the title of the page
		/^===+$/ && last ~ /^[A-Z]/ {
			if (titles++)
				begin_section(last)
		}
		{ last = $0 }
		BEGIN { section = 0 }' "$page"
}

# alike: lines without what differs from run to run
alike()
{
	sed -E 's/0x[0-9a-f]+|[0-9a-f]{8,}/P/g; s/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/^ //' "$@"
}

# blocks SECTION: numbers of its blocks and of those that belong to every section, in order
blocks()
{
	for file in "$parts"/0-*.sh "$parts/$1"-*.sh; do
		[ ! -e "$file" ] || echo "$file"
	done | sed 's/.*-\([0-9]*\)\.sh/\1/' | sort -n
}

# script SECTION: what the reader types. The output of block N goes to out.N.
script()
{
	echo "set -e"
	for n in $(blocks "$1"); do
		echo "{"
		cat "$parts"/*-"$n".sh
		echo "} >$parts/out.$n 2>&1"
	done
}

# compare: why is a line of a text block not in the output of its commands?
compare()
{
	for file in "$parts/$1"-*.text; do
		[ -e "$file" ] || continue
		n=${file##*-}
		alike "$parts/out.${n%.text}" >"$parts/printed"
		alike "$file" >"$parts/wanted"
		while IFS= read -r line; do
			grep -qF -e "$line" "$parts/printed" || echo "nothing like \"$line\" is printed"
		done <"$parts/wanted"
	done
}

# reset: as after boot. Why not?
reset()
{
	for file in /sys/kernel/tracing/events/kofi*/enable; do
		[ ! -e "$file" ] || echo 0 >"$file"
	done
	echo >/sys/kernel/tracing/trace
	tries=0
	while names=$(sed -n 's/^\(kofi[a-z_]*\) .*/\1/p' /proc/modules); do
		[ -n "$names" ] || return
		[ "$tries" -lt 5 ] || break
		tries=$((tries + 1))
		for m in $names; do
			rmmod "$m" 2>/dev/null
		done
	done
	echo "modules stay loaded: $(grep ^kofi /proc/modules | tr '\n' ' ')"
}

split >"$parts/sections"
if [ $list -eq 1 ]; then
	sed 's/^[0-9]* //' "$parts/sections"
	exit
fi
plan "$(wc -l <"$parts/sections")"
while read -r section name title; do
	[ ! -d /sys/module/kofi ] || fail "kofi is loaded before the first command"
	script "$section" >"$parts/script"
	echo "    # $title"
	sh "$parts/script" </dev/null || fail "exit $?"
	for n in $(blocks "$section"); do
		sed 's/^/    $ /' "$parts"/*-"$n".sh
		[ ! -e "$parts/out.$n" ] || tail -n 8 "$parts/out.$n" | sed 's/^/    /'
	done
	for reason in "$(compare "$section" | head -n 1)" "$(reset)"; do
		[ -z "$reason" ] || fail "$reason"
	done
	[ -z "$why" ] || why="$why: $(cat "$parts"/out.* 2>/dev/null | tail -n 3)"
	verdict "$name"
	rm -f "$parts"/out.*
done <"$parts/sections"
[ -s "$parts/sections" ] || { echo "there are no commands in $page"; failed=1; }
exit $failed
