# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# From an lcov file, the error branches that no test reached, as scripts/coverage
# defines them: "file:first-last: untested: the first line", and "file:line: never
# called: function". The variable top is the prefix of the paths to leave out.

function reset()
{
	split("", count)
	split("", calls)
	split("", start)
	split("", text)
	nlines = nfuncs = 0
}

function read_source(path,	n, l)
{
	n = 0
	while ((getline l < path) > 0)
		text[++n] = l
	close(path)
	nlines = n
}

function trim(s)
{
	sub(/^[ \t]+/, "", s)
	return s
}

# function_of(n): the number of the function around line n, 0 for none.
function function_of(n,	i, best)
{
	best = 0
	for (i = 1; i <= nfuncs; i++)
		if (start[i] <= n && (!best || start[i] > start[best]))
			best = i
	return best
}

# count_inlined: a function that gcc put into its callers was called, too.
function count_inlined(	n, i)
{
	for (n in count) {
		i = function_of(n + 0)
		if (i && count[n] > 0)
			calls[i] = 1
	}
}

# idle(n): is n in a function that was never called?
function idle(n,	i)
{
	i = function_of(n)
	return i && calls[i] == 0
}

# label_above(n): does a goto label stand right before line n?
function label_above(n)
{
	while (--n > 0 && text[n] ~ /^[ \t]*(\/\*.*\*\/)?$/)
		;
	return text[n] ~ /^ ?[a-z_0-9]+:$/
}

# check_above(n): is the last line of code before n an executed condition?
function check_above(n,	depth)
{
	while (--n > 0 && !(n in count))
		if (text[n] ~ /^}/ || text[n] ~ /^\{/)
			return 0
	if (n <= 0 || count[n] == 0)
		return 0
	# a condition may take several lines
	for (depth = 0; depth < 8 && n > 0; depth++) {
		if (text[n] ~ /(^|[^a-z_])(if|else|for|while|switch|case|scoped_guard|list_for_each[a-z_]*|hlist_for_each[a-z_]*)([^a-z_]|$)/)
			return 1
		if (depth && text[n] ~ /[;{}]$/)
			return 0
		n--
	}
	return 0
}

function handles_error(first, last,	n)
{
	for (n = first; n <= last; n++)
		if (text[n] ~ /(^|[^a-z_])goto [a-z_]/ ||
		    text[n] ~ /return;|return (err|error|ret|rc|status|NULL|false|-|PTR_ERR|ERR_PTR|ERR_CAST)/ ||
		    text[n] ~ /-(FI_)?E[A-Z]+|WARN_ON|_err\(|refuse|fail|abort/)
			return 1
	return 0
}

function report(	n, first, last, i)
{
	# what the macros of tracepoints make is not ours
	if (file ~ /\/trace\.h$/)
		return
	count_inlined()
	for (i = 1; i <= nfuncs; i++)
		if (calls[i] == 0)
			printf "%s:%d: never called: %s\n", file, start[i], fname[i]
	for (n = 1; n <= nlines; n++) {
		if (!(n in count) || count[n] > 0 || idle(n))
			continue
		first = last = n
		while (n < nlines && !((n + 1) in count && count[n + 1] > 0) &&
		       text[n + 1] !~ /^}/ && !label_above(n + 1)) {
			n++
			if (n in count)
				last = n
		}
		if (label_above(first) || (check_above(first) && handles_error(first, last)))
			printf "%s:%d-%d: untested: %s\n", file, first, last, trim(text[first])
	}
}

/^SF:/ {
	reset()
	path = substr($0, 4)
	file = (index(path, top) == 1) ? substr(path, length(top) + 1) : path
	read_source(path)
}

/^FN:/ {
	split(substr($0, 4), f, ",")
	nfuncs++
	start[nfuncs] = f[1] + 0
	fname[nfuncs] = f[2]
	index_of[f[2]] = nfuncs
}

/^FNDA:/ {
	split(substr($0, 6), f, ",")
	calls[index_of[f[2]]] = f[1] + 0
}

/^DA:/ {
	split(substr($0, 4), f, ",")
	count[f[1] + 0] = f[2] + 0
}

/^end_of_record/ {
	report()
}
