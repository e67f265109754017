# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What failed, for the end of a long output: of each failure its name, the first lines of its
# text, which have file and line, and the command that runs it alone; 36 lines at most, so
# that they and a verdict are among the last 40. Input: "verdict <TAB> name <TAB> text".
#
# -v again="COMMAND %s"   %s stands for suite.case, without the device or provider behind
#                         the suite, or for the first word of another name
# -v alone="COMMAND"      for what is no KUnit case or suite; default: again
# -v stage=STAGE          said in front of each name
# -v most=N               lines, default 36

function command(name,	case_name, s)
{
	s = again
	case_name = name
	if (name ~ /^[a-z0-9_]+(-[a-z0-9_;]+)?(\.[^ ]+)?$/ && name !~ /_test$/)
		sub(/-[^.]*/, "", case_name)
	else if (alone != "")
		return alone
	else
		sub(/[: ].*/, "", case_name)
	sub(/%s/, case_name, s)
	return s
}

BEGIN {
	FS = "\t"
	if (!most)
		most = 36
}

$1 == "pass" || NF < 2 {
	next
}

lines + 3 > most {
	more++
	next
}

{
	print (stage == "" ? "" : stage ": ") $1 ": " $2
	n = split($3, text, "\037")
	for (i = 1; i <= n && i <= 8 && lines + 3 < most; i++) {
		print "    " substr(text[i], 1, 200)
		lines++
	}
	print "    again: " command($2)
	lines += 2
}

END {
	if (more)
		print "and " more " more"
}
