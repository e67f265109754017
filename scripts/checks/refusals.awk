# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Functions that control calls reach, and the errnos in them that have no reason.
#
# usage: awk -v known="FUNCTION..." -f refusals.awk FILE.c FILE.h...
# known: functions that are not looked at, nor what they call
#
# Roots are the functions that are exported as fi_*, and those in the tables of control calls:
# "struct fi_ops_cm" and the like, and the tables that kofi/util calls for a control call.  A
# function that is only passed on as a pointer runs at another time, so it is not reached.
#
# An errno is a constant that is returned or assigned.  It has a reason if the statement calls
# kofi_refuse(), or a function whose name ends like that.  Some errnos need none: the allocator logs
# ENOMEM, the core itself says what ENODEV and ENOPROTOOPT mean (kofi_call()), FI_ETOOSMALL comes
# with the size that is needed, and EAGAIN refuses nothing.

# Text of a line without comments and strings
function strip(line)
{
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	gsub(/'([^'\\]|\\.)*'/, "0", line)
	if (in_comment) {
		if (!match(line, /\*\//))
			return ""
		line = substr(line, RSTART + 2)
		in_comment = 0
	}
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
	if (match(line, /\/\*/)) {
		line = substr(line, 1, RSTART - 1)
		in_comment = 1
	}
	return line
}

# Name of the function that a definition's head defines
function defines(head,  name)
{
	gsub(/__[a-z_]+\([^()]*\)/, "", head)
	if (!match(head, /[A-Za-z_0-9]+\(/))
		return ""
	name = substr(head, RSTART, RLENGTH - 1)
	return name
}

function end_statement()
{
	if (statement ~ /[^A-Za-z_]-(FI_)?E[A-Z0-9][A-Z0-9]+/ && !(statement ~ /[a-z]_refuse(_[a-z]+)?\(/)) {
		sub(/^[ \t]+/, "", statement)
		gsub(/[ \t]+/, " ", statement)
		said = statement
		gsub(/[=!]= *-(FI_)?E[A-Z0-9]+/, "", said)
		gsub(/case *-(FI_)?E[A-Z0-9]+/, "", said)
		gsub(/-(FI_)?E(NOMEM|AGAIN|NODEV|NOPROTOOPT|TOOSMALL)/, "", said)
		if (said ~ /[^A-Za-z_]-(FI_)?E[A-Z0-9][A-Z0-9]+/)
			found[key] = found[key] FILENAME ":" begin ": " fn ": " statement "\n"
	}
	statement = ""
}

BEGIN {
	nr_known = split(known, names, /[ \t\n]+/)
	for (i = 1; i <= nr_known; i++)
		stop[names[i]] = 1
}

FNR == 1 {
	in_comment = 0
	fn = ""
	head = ""
	table = ""
	statement = ""
}

{
	text = strip($0)
	if (text ~ /^[ \t]*#/)
		next
}

# Inside of a function
fn != "" {
	if (text ~ /^}/) {
		end_statement()
		fn = ""
		head = ""
		next
	}
	rest = text
	while (match(rest, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
		calls[key] = calls[key] " " substr(rest, RSTART, RLENGTH - 1)
		rest = substr(rest, RSTART + RLENGTH)
	}
	while (match(text, /[;{}]/)) {
		if (statement == "")
			begin = FNR
		statement = statement " " substr(text, 1, RSTART - 1)
		end_statement()
		text = substr(text, RSTART + 1)
	}
	if (text ~ /[^ \t]/) {
		if (statement == "")
			begin = FNR
		statement = statement " " text
	}
	next
}

# Inside of a table
table != "" {
	if (text ~ /^}/)
		table = ""
	while (match(text, /\.[a-z_0-9.]+[ \t]*=[ \t]*[A-Za-z_][A-Za-z_0-9]*/)) {
		entry = substr(text, RSTART + 1, RLENGTH - 1)
		text = substr(text, RSTART + RLENGTH)
		slot = entry
		sub(/[ \t]*=.*/, "", slot)
		sub(/.*\./, "", slot)
		sub(/.*=[ \t]*/, "", entry)
		if (control(table, slot))
			roots[FILENAME SUBSEP entry] = 1
	}
	next
}

text ~ /^(static |const )*struct (fi_ops|kofi_soft_type|kofi_pep_type|kofi_provider|kofi_mr_ops|kofi_cq_ops)[a-z_]* [a-z_0-9]+ = \{/ {
	match(text, /struct [a-z_]+/)
	table = substr(text, RSTART + 7, RLENGTH - 7)
	head = ""
	next
}

/^EXPORT_SYMBOL_GPL\((__)?fi_/ {
	match(text, /\(.*\)/)
	name = substr(text, RSTART + 1, RLENGTH - 2)
	# fi_getinfo() has reasons of its own, fi_getinfo_why()
	if (FILENAME !~ /\/(ops|ops_data|getinfo)\.c$/)
		roots[FILENAME SUBSEP name] = 1
	next
}

text ~ /^{/ {
	fn = defines(head)
	if (fn == "" || head ~ /=[ \t]*$/) {
		fn = ""
		head = ""
		next
	}
	key = FILENAME SUBSEP fn
	defined[key] = 1
	anywhere[fn] = key
	head = ""
	statement = ""
	next
}

text ~ /^[A-Za-z_]/ { head = "" }
{ head = head " " text }
text ~ /;[ \t]*$/ { head = "" }

function control(table, slot)
{
	if (table == "fi_ops_xfer")
		return slot == "atomicvalid"
	if (table ~ /^fi_ops_(eq|cq|cntr)$/)
		return 0
	if (table == "kofi_provider")
		return slot == "fabric"
	if (table == "kofi_soft_type")
		return slot ~ /^(open|enable|join|claim|connect|accept|reserve)/
	return 1
}

function reach(key,  file, n, i, names, to)
{
	split(key, parts, SUBSEP)
	if (reached[key] || !defined[key] || (parts[2] in stop))
		return
	reached[key] = 1
	file = parts[1]
	n = split(calls[key], names, " ")
	for (i = 1; i <= n; i++) {
		to = file SUBSEP names[i]
		if (!defined[to])
			to = anywhere[names[i]]
		if (to != "")
			reach(to)
	}
}

END {
	for (root in roots) {
		split(root, parts, SUBSEP)
		if (defined[root])
			reach(root)
		else if (parts[2] in anywhere)
			reach(anywhere[parts[2]])
	}
	for (key in reached)
		if (reached[key]) {
			printf "%s", found[key]
		}
}
