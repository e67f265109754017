# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# From samples to figures: "sample CASE SIDE UNIT ROUND VALUE OPERATIONS" becomes a
# line of tab separated columns for each case, in the order in which they come:
#
#	case kofi baseline ratio unit n spread
#
# kofi and baseline are the medians of their rounds. ratio is the median of the
# ratios of each round, whose two runs have followed each other; spread is half of
# what lies between their quartiles, in percent of the median. n counts rounds.
#
#	UNIT of a sample	becomes
#	insn		insn	instructions of an operation
#	ns		us	microseconds of an operation
#	rate		kop/s	thousand operations a second; VALUE is nanoseconds
#	bytes		B	bytes of an object
#
# A case of which one side or a round is missing is an error: exit status 1.

# value: what a sample says of one operation
function value(unit, v, ops)
{
	if (unit == "rate")
		return v > 0 ? ops * 1e6 / v : 0
	if (unit == "ns")
		return v / ops / 1000
	return v / ops
}

# sort: a[1] to a[n], ascending
function sort(a, n,	i, j, t)
{
	for (i = 2; i <= n; i++) {
		t = a[i]
		for (j = i - 1; j >= 1 && a[j] > t; j--)
			a[j + 1] = a[j]
		a[j + 1] = t
	}
}

# quantile: of a sorted list, between the two places that q falls between
function quantile(a, n, q,	at, low)
{
	at = 1 + q * (n - 1)
	low = int(at)
	if (low >= n)
		return a[n]
	return a[low] + (at - low) * (a[low + 1] - a[low])
}

$1 == "sample" && NF == 7 && $7 > 0 {
	if (!($2 in unit)) {
		keys[++nr_keys] = $2
		unit[$2] = $4
	}
	key = $2 SUBSEP $6
	at = $2 SUBSEP $5
	if ($4 != unit[$2] || ($3 != "kofi" && $3 != "raw") || ($3, at) in v) {
		print "bench: bad sample: " $0 >"/dev/stderr"
		bad = 1
		next
	}
	v[$3, at] = value($4, $6, $7)
	if (!(at in seen)) {
		seen[at] = 1
		round[$2, ++rounds[$2]] = $5
	}
}

function figures(key,	i, n, at, k, r, q, median, value_format)
{
	n = rounds[key]
	for (i = 1; i <= n; i++) {
		at = key SUBSEP round[key, i]
		if (!(("kofi", at) in v) || !(("raw", at) in v)) {
			print "bench: " key " has only one side of round " round[key, i] >"/dev/stderr"
			bad = 1
			return
		}
		k[i] = v["kofi", at]
		r[i] = v["raw", at]
		q[i] = r[i] > 0 ? k[i] / r[i] : 0
	}
	sort(k, n)
	sort(r, n)
	sort(q, n)
	median = quantile(q, n, 0.5)
	# A target may be a difference of a tenth
	value_format = unit[key] == "bytes" ? "%.0f" : "%.4g"
	printf "%s\t" value_format "\t" value_format "\t%.3f\t%s\t%d\t%.1f%%\n", key,
		quantile(k, n, 0.5) + 0, quantile(r, n, 0.5) + 0, median,
		shown[unit[key]], n,
		(median > 0 ? 50 * (quantile(q, n, 0.75) - quantile(q, n, 0.25)) / median : 0)
}

BEGIN {
	shown["insn"] = "insn"
	shown["ns"] = "us"
	shown["rate"] = "kop/s"
	shown["bytes"] = "B"
	print "case\tkofi\tbaseline\tratio\tunit\tn\tspread"
}

END {
	for (i = 1; i <= nr_keys; i++)
		figures(keys[i])
	exit bad
}
