# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A picture of build/bench.tsv: a bar for each case from 1, what the baseline takes
# or does, to kOFI's ratio, on a logarithmic scale from 1/4 to 16. Targets are marks.
#
#	awk -f svg.awk targets bench.tsv

function x(ratio)
{
	ratio = ratio < 0.25 ? 0.25 : ratio > 16 ? 16 : ratio
	return left + (log(ratio) / log(2) + 2) / 6 * width
}

function text(at, y, anchor, s)
{
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	return sprintf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, y, anchor, s)
}

# better: more of a rate, less of anything else
function better(unit, ratio)
{
	return unit == "kop/s" ? ratio >= 1 : ratio <= 1
}

BEGIN {
	left = 230
	width = 520
	height = 17
	top = 56
}

/^#/ || NF == 0 || $1 == "case" { next }

FNR == NR {
	if ($2 != "extra")
		limit[$1] = $3
	next
}

{
	y = top + height * nr++
	from = x(1)
	to = x($4)
	if (to < from) {
		t = from
		from = to
		to = t
	}
	body = body text(left - 8, y + 12, "end", $1)
	body = body sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
		from, y + 3, to - from + 1, height - 6, better($5, $4) ? "#3a7d44" : "#c0503a")
	if ($1 in limit)
		body = body sprintf("<path d=\"M%.1f %dv%d\" stroke=\"#000\" stroke-width=\"2\"/>\n",
			x(limit[$1]), y + 1, height - 2)
	body = body text(left + width + 10, y + 12, "start", $4 " (" $2 " : " $3 " " $5 ")")
}

END {
	total = top + height * nr + 20
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", total
	printf "<rect width=\"1000\" height=\"%d\" fill=\"#fff\"/>\n", total
	printf "%s", text(left, 18, "start", "kOFI / baseline; green: as good or better, red: worse, | target (ratios)")
	for (i = -2; i <= 4; i++) {
		printf "<path d=\"M%.1f %dV%d\" stroke=\"%s\"/>\n", x(2 ^ i), top - 6, total - 14, i ? "#ddd" : "#666"
		printf "%s", text(x(2 ^ i), top - 12, "middle", 2 ^ i)
	}
	printf "%s</svg>\n", body
}
