# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Turn KTAP into results, "pass|fail|skip <TAB> name <TAB> text": one per case of a KUnit suite, whose
# name is suite.case, and one per result that is not nested (scripts/guest/cases.sh). One KTAP output may
# stand behind another.
# What stands in front of a result belongs to it. Where that is not nested, it is the lines that begin
# with "# " or, if there are none, all.
# A suite that stops short of its plan is a failure of the case that ran, if one of that
# case's expectations had failed, else of its own; a module ("# module NAME", of
# scripts/guest/kunit.sh) without a suite is one, too.

function emit(verdict, name, text)
{
	printf "%s\t%s\t%s\n", verdict, name, text
}

# take NAME TEXT: the result that this line is
function take(name, text)
{
	if ($1 == "not")
		emit("fail", name, text)
	else if (sub(/.* # SKIP */, ""))
		emit("skip", name, $0)
	else
		emit("pass", name)
}

function end_suite()
{
	if (suite == "")
		return
	if (cases != plan)
		cut_off()
	suite = ""
}

# cut_off: the suite stopped short of its plan. What stands behind its last result is of the
# case that was running; KUnit names it in front of a failed expectation.
function cut_off(	name)
{
	name = suite
	if (match(text, /# [a-z0-9_]+: (EXPECTATION|ASSERTION) FAILED/)) {
		name = substr(text, RSTART + 2)
		sub(/:.*/, "", name)
		name = suite "." name
	}
	emit("fail", name, text (text == "" ? "" : "\037") \
		"the suite gave " cases " results of " plan " (crash or hang?)")
}

function end_module()
{
	end_suite()
	if (module != "" && suites == 0)
		emit("fail", module, "gave no KUnit result (crash?)")
	module = ""
}

# case_name LINE: what follows "ok N ", without the directive.
function case_name(s)
{
	sub(/^ *(not )?ok [0-9]+ /, "", s)
	sub(/ # .*/, "", s)
	return s
}

/^# module / {
	end_module()
	module = $3
	suites = 0
	next
}

/^    # Subtest: / {
	end_suite()
	suite = $3
	suites++
	cases = plan = failed = 0
	text = ""
	next
}

suite != "" && /^    1\.\.[0-9]+/ {
	sub(/^    1\.\./, "")
	plan = $0 + 0
	next
}

suite != "" && /^    (not )?ok [0-9]+/ {
	cases++
	failed += $1 == "not"
	take(suite "." case_name($0), text)
	text = ""
	next
}

/^(not )?ok [0-9]+ / {
	name = case_name($0)
	ends_suite = name == suite
	end_suite()
	if (!ends_suite)
		take(name, why == "" ? words : why)
	else if ($1 == "not" && failed == 0)
		emit("fail", name, "the suite failed outside its cases")
	why = words = ""
	nwords = 0
	next
}

# A console has much more than what belongs to a case.
suite != "" && !/KTAP version|# Subtest:|: pass:[0-9]+ fail:/ && length(text) < 8000 {
	line = $0
	sub(/^ */, "", line)
	text = text (text == "" ? "" : "\037") line
}

suite == "" && /^# / && length(why) < 8000 {
	why = why (why == "" ? "" : "\037") substr($0, 3)
}

# The beginning of a leak report is enough.
suite == "" && !/^KTAP version|^1\.\.|^# / && nwords < 40 {
	words = words (nwords++ ? "\037" : "") $0
}

END {
	end_module()
}
