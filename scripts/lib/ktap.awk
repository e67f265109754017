# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Turn the output of scripts/guest/kunit.sh into results, one per KUnit case
# and one per "#check" line: "pass|fail|skip <TAB> name <TAB> text".
# A suite that stops short of its plan is a failure of the case that ran, if one of that
# case's expectations had failed, else of its own; a module without a suite is one, too.

function emit(verdict, name, text)
{
	printf "%s\t%s\t%s\n", verdict, name, text
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

/^#module / {
	end_module()
	module = $2
	suites = 0
	next
}

/^#check / {
	verdict = ($2 == "ok") ? "pass" : "fail"
	sub(/^#check (not )?ok /, "")
	emit(verdict, $0, verdict == "fail" ? words : "")
	words = ""
	nwords = 0
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
	verdict = "pass"
	if ($1 == "not") {
		verdict = "fail"
		failed++
	} else if (/ # SKIP/) {
		verdict = "skip"
		text = $0
		sub(/.* # SKIP */, "", text)
	}
	emit(verdict, suite "." case_name($0), verdict == "pass" ? "" : text)
	text = ""
	next
}

/^(not )?ok [0-9]+ / {
	if ($1 == "not" && failed == 0)
		emit("fail", case_name($0), "the suite failed outside its cases")
	end_suite()
	words = ""
	nwords = 0
	next
}

# What stands between two results belongs to the second one. A console has much more.
suite != "" && !/KTAP version|# Subtest:|: pass:[0-9]+ fail:/ && length(text) < 8000 {
	line = $0
	sub(/^ */, "", line)
	text = text (text == "" ? "" : "\037") line
}

# What stands before a check, outside the suites, belongs to it: the leak
# report. Its beginning is enough.
suite == "" && !/^KTAP version|^1\.\./ && nwords < 40 {
	words = words (nwords++ ? "\037" : "") $0
}

END {
	end_module()
}
