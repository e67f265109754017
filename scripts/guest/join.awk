# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Joins posts with their completions, in the trace events of kofi (kofi_post and kofi_done) or of
# ofi_hook_trace (kofi_hook_call and kofi_hook_done): how long did each kind of operation take,
# from the call to its completion?
#
# usage: awk -f join.awk /sys/kernel/tracing/trace
#
# An operation's two events have the same context and kind; among those that have, the first
# call is the first to complete. The event of a call is written when the provider has
# answered, which may be after the completion; the hook's has the time in between, ns. Of operations that failed nothing is averaged. What stays open is counted: receives
# that nothing has come for, and injects, which do not complete.

function value(name,	i)
{
	for (i = 1; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

function join(op, took)
{
	joined[op]++
	if (value("err") + 0)
		return
	ok[op]++
	sum[op] += took
	if (took > most[op])
		most[op] = took
}

{
	at = 0
	for (i = 2; i <= NF && !at; i++)
		if ($i ~ /^kofi_(post|done|hook_call|hook_done):$/)
			at = i
	if (!at)
		next
	time = $(at - 1) + 0
	op = value("op")
	sub(/^t(send|recv)$/, substr(op, 2), op)
	key = ($at ~ /hook/) " " op " " value("context")
}

$at == "kofi_post:" || $at == "kofi_hook_call:" && value("ret") == "0" && op !~ /^t?inject/ {
	begin = time - value("ns") / 1e9
	if (first_done[key] < last_done[key])
		join(op, done[key, first_done[key]++] - begin)
	else
		call[key, last_call[key]++] = begin
}

$at ~ /^kofi_(hook_)?done:$/ {
	if (first_call[key] < last_call[key])
		join(op, time - call[key, first_call[key]++])
	else
		done[key, last_done[key]++] = time
}

END {
	for (op in joined)
		printf "%-16s %7d joined, %9.1f us on average, %9.1f us at most\n", op, joined[op],
			ok[op] ? 1e6 * sum[op] / ok[op] : 0, 1e6 * most[op]
	for (key in last_call)
		open += last_call[key] - first_call[key]
	for (key in last_done)
		orphans += last_done[key] - first_done[key]
	printf "%d calls without a completion, %d completions without a call\n", open, orphans
}
