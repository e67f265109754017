# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The table of scripts/profile, from the functions of both sides (profile.awk):
#
#	awk -v shown=ROWS -v all=FILE -f profile-table.awk KOFI RAW
#
# FILE gets a row for each function. Exits 1 when a side has none.

function row(name, kofi, raw)
{
	return sprintf("%-40s %10.1f %10.1f %10.1f", name, kofi, raw, kofi - raw)
}

function heading(what)
{
	return sprintf("%-40s %10s %10s %10s", what, "kofi", "baseline", "extra")
}

function sum(what, column)
{
	printf "%s  ratio %.3f\n", row(what, total["kofi", column], total["raw", column]),
		total["kofi", column] / total["raw", column]
}

# module: of a function, whose name has it in brackets
function module(name)
{
	return sub(/^.*\[/, "", name) ? substr(name, 1, length(name) - 1) : "kernel"
}

# ranked: the rows of one kind, largest difference first
function ranked(cost, names, command,	name, extra)
{
	for (name in names) {
		extra = cost["kofi", name] - cost["raw", name]
		print (extra < 0 ? -extra : extra), row(name, cost["kofi", name], cost["raw", name]) | command
	}
	close(command)
}

{
	side = FNR == NR ? "kofi" : "raw"
	names[$1] = 1
	cost[side, $1] = $2
	modules[module($1)] = 1
	module_cost[side, module($1)] += $2
	for (i = 2; i <= 4; i++)
		total[side, i] += $i
}

END {
	if (!total["kofi", 2] || !total["raw", 2]) {
		print "profile: a side has executed nothing" >"/dev/stderr"
		exit 1
	}
	sorted = "LC_ALL=C sort -k1,1nr -k2 | cut -d' ' -f2-"
	print heading("of one operation")
	sum("instructions", 2)
	sum("touches of memory", 3)
	sum("instructions executed often", 4)
	print "\n" heading("instructions of a module")
	fflush()
	ranked(module_cost, modules, sorted)
	print "\n" heading("instructions of a function")
	fflush()
	print heading("function") >all
	close(all)
	ranked(cost, names, sorted " >>'" all "'")
	system("tail -n +2 '" all "' | head -n " shown)
}
