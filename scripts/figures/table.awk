# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The table of scripts/bench, from its targets and its figures (bench.awk):
#
#	awk -f table.awk targets bench.tsv
#
# extra is kOFI less the baseline. A target whose case is missing is not met.

function verdict(key, kofi, raw, ratio)
{
	if (figure[key] == "extra")
		return kofi - raw <= limit[key]
	if (figure[key] == "rate")
		return ratio >= limit[key]
	return ratio <= limit[key]
}

function wanted(key)
{
	if (figure[key] == "extra")
		return "extra <= " limit[key]
	return "ratio " (figure[key] == "rate" ? ">= " : "<= ") limit[key]
}

/^#/ || NF == 0 { next }

FNR == NR {
	keys[++nr_keys] = $1
	figure[$1] = $2
	limit[$1] = $3
	next
}

$1 == "case" {
	printf "%-27s %9s %9s %8s %7s %-6s %4s %7s  %s\n", "case", "kofi", "baseline",
		"extra", "ratio", "unit", "n", "spread", "target"
	next
}

{
	text = ""
	if ($1 in figure) {
		ok = verdict($1, $2, $3, $4)
		met += ok
		found[$1] = 1
		text = wanted($1) (ok ? ": met" : ": MISSED")
	}
	extra = sprintf($5 == "B" ? "%d" : "%.4g", $2 - $3)
	printf "%-27s %9s %9s %8s %7s %-6s %4s %7s  %s\n", $1, $2, $3, extra, $4, $5, $6, $7, text
}

END {
	for (i = 1; i <= nr_keys; i++)
		if (!(keys[i] in found))
			print "target " keys[i] ": not measured"
	printf "%d of %d targets met\n", met, nr_keys
}
