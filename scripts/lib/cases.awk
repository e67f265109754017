# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The KUnit cases of source files, as "folder suite case". A file with several suites gives
# each of its cases for each of them, so that there are too many rather than too few. With
# -v words="..." only those that a word fits, as scripts/guest/kunit.sh has it: in the name
# of the suite or the case or in suite.case, * and ? standing for other characters.

function fits(name,	i)
{
	for (i in regex)
		if (name ~ regex[i])
			return 1
	return nwords == 0
}

function end_file(	s, c)
{
	for (s in suites)
		for (c in cases)
			if (fits(s) || fits(c) || fits(s "." c))
				print folder, s, c
	delete suites
	delete cases
}

BEGIN {
	nwords = split(words, word, " ")
	for (i = 1; i <= nwords; i++) {
		gsub(/\./, "\\.", word[i])
		gsub(/\*/, ".*", word[i])
		gsub(/\?/, ".", word[i])
		regex[i] = word[i]
	}
}

FNR == 1 {
	end_file()
	split(FILENAME, path, "/")
	folder = path[1] "/" path[2]
}

/\.name[ \t]*= "kofi_/ {
	match($0, /"[^"]*"/)
	suites[substr($0, RSTART + 1, RLENGTH - 2)]
}

/KUNIT_CASE[A-Z_]*\(/ {
	name = $0
	sub(/.*KUNIT_CASE[A-Z_]*\(/, "", name)
	sub(/[,)].*/, "", name)
	cases[name]
}

END {
	end_file()
}
