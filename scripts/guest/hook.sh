#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Hooks under a client: kofi_pingpong over kofi_loop. What traces show (page.sh runs the
# commands of Documentation/tracing.rst); what becomes of the client when the provider refuses, fails,
# delays and breaks off, by seeds.
#
# usage: hook.sh [SEEDS]; hook.sh list
# Prints KTAP; exits 1 if a case failed.
# shellcheck disable=SC2317  # cases are called by name

list()
{
	printf '%s\n' post trace getinfo refusal again delay errors failures unload
}

[ "$1" != list ] || { list; exit; }
# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh
# shellcheck source=scripts/guest/pingpong.sh
. /kofi/guest/pingpong.sh

tracing=/sys/kernel/tracing
rules=/sys/kernel/debug/kofi_hook_fault

# run_both HOOKS: client and server over loop with these hooks; $outcome says how it ended
run_both()
{
	outcome="kofi_pingpong did not load"
	pingpong_start role=both addr=127.0.0.1 prov="loop;$1" cq="${2:-sleep}" || return
	pingpong_wait >/dev/null
	status=$?
	pingpong_stop || { outcome="kofi_pingpong cannot be unloaded"; status=1; }
	return "$status"
}

# Without a hook: the events of kofi alone
case_post()
{
	echo 1 >"$tracing/events/kofi/kofi_post/enable"
	echo 1 >"$tracing/events/kofi/kofi_done/enable"
	echo >"$tracing/trace"
	run_both "" || fail "$outcome"
	echo 0 >"$tracing/events/kofi/enable"
	messages=$(awk '/ messages intact/ { n += $1 } END { print n + 0 }' /tmp/kernel)
	joined
}

# joined: each completion in the trace has its call, and each of $messages its receive
joined()
{
	kofi-join "$tracing/trace" | tee /tmp/joined | sed 's/^/    /'
	awk -v n="$messages" '$1 == "recv" { ok = n > 0 && $2 >= n }
		END { exit !(ok && / 0 completions without a call/) }' /tmp/joined ||
		fail "posts and completions do not join: $(cat /tmp/joined)"
}

# Each message is sent, or injected, and received; either side says how many were intact
case_trace()
{
	echo 1 >"$tracing/events/kofi_hook/enable"
	echo >"$tracing/trace"
	run_both ofi_hook_trace || fail "$outcome"
	echo 0 >"$tracing/events/kofi_hook/enable"
	grep -c 'kofi_hook_call: .*op=\(send\|inject\) .* ret=0 ns=[0-9]' "$tracing/trace" >/tmp/sends
	grep -c 'kofi_hook_call: .*op=recv .* ret=0' "$tracing/trace" >/tmp/recvs
	grep -c 'kofi_hook_done: .* err=0' "$tracing/trace" >/tmp/done
	read -r sends </tmp/sends
	read -r recvs </tmp/recvs
	read -r ended </tmp/done
	echo "    traced: $sends sends, $recvs receives, $ended completions without an error"
	messages=$(awk '/ messages intact/ { n += $1 } END { print n + 0 }' /tmp/kernel)
	{ [ "$sends" -ge "$messages" ] && [ "$recvs" -ge "$messages" ] &&
		[ "$messages" -gt 0 ] && [ "$ended" -ge "$messages" ]; } ||
		fail "$messages messages are not all in the trace"
	joined
}

# What fi_getinfo() leaves out, and why
case_getinfo()
{
	echo 1 >"$tracing/events/kofi/kofi_getinfo/enable"
	echo >"$tracing/trace"
	if pingpong_start role=server addr=192.0.2.1 prov=loop 2>/dev/null; then
		pingpong_wait >/dev/null
		pingpong_stop
	fi
	echo 0 >"$tracing/events/kofi/kofi_getinfo/enable"
	grep 'kofi_getinfo: ' "$tracing/trace" | tail -n 1 >/tmp/getinfo
	sed 's/^/    /' /tmp/getinfo
	grep -q 'prov=loop .* ret=-61 left out: loop loop 192\.0\.2\.1: not an address of this network' \
		/tmp/getinfo || fail "the trace does not name the reason: $(cat /tmp/getinfo)"
}

# Which call of a client is refused
case_refusal()
{
	echo 'ret < 0' >"$tracing/events/kofi/filter"
	echo 1 >"$tracing/events/kofi/enable"
	echo >"$tracing/trace"
	echo clear >"$rules/rules"
	echo "open error 12 times=1 after=3" >"$rules/rules"
	run_both ofi_hook_fault
	echo 0 >"$tracing/events/kofi/enable"
	echo 0 >"$tracing/events/kofi/filter"
	echo clear >"$rules/rules"
	grep -v '^#' "$tracing/trace" >/tmp/refused
	sed 's/^/    /' /tmp/refused
	grep -q 'kofi_open: prov=ofi_hook_fault class=[a-z]* fid=.* ret=-12' /tmp/refused ||
		fail "the trace has no refused call"
}

# fired: did any rule?
fired()
{
	grep -qv ': 0 of' "$rules/rules"
}

# survives CQ RULE: for each seed the client does not notice
survives()
{
	seed=0
	hits=0
	while [ "$seed" -lt "$seeds" ]; do
		seed=$((seed + 1))
		echo clear >"$rules/rules"
		echo "$2" >"$rules/rules"
		echo "$seed" >"$rules/seed"
		run_both ofi_hook_fault "$1" || { fail "seed $seed, rule $2: $outcome"; return; }
		fired && hits=$((hits + 1))
	done
	echo "    $2: $hits of $seeds seeds had something go wrong"
	[ "$hits" -gt 0 ] || fail "rule $2 never fired"
}

# notices RULE...: one thing goes wrong, later each time; the client says so, and ends.
# A connection that ends behind the last operation is no loss to anybody, and so may be
# unnoticed, but not each time.
notices()
{
	for rule; do
		after=0
		hits=0
		while [ "$after" -lt $((seeds * 3)) ]; do
			echo clear >"$rules/rules"
			if [ "$after" -eq 0 ]; then
				echo "$rule times=1" >"$rules/rules"
			else
				echo "$rule times=1 after=$after" >"$rules/rules"
			fi
			after=$((after + 1))
			run_both ofi_hook_fault
			ended=$?
			case $outcome in
			"no end"* | *"cannot be unloaded" | *"did not load")
				fail "rule $rule, after $after: $outcome"
				return ;;
			esac
			fired || break # there is no later place
			[ "$ended" -ne 0 ] && { hits=$((hits + 1)); continue; }
			case $rule in
			*shutdown*) continue ;;
			esac
			fail "rule $rule, after $after: nobody noticed"
			return
		done
		echo "    $rule: noticed $hits times"
		[ "$hits" -gt 0 ] || { fail "rule $rule was never noticed"; return; }
	done
}

case_again()
{
	survives poll "any again chance=200"
}

case_delay()
{
	survives callback "any delay 5 chance=50"
}

case_errors()
{
	notices "tx error 5" "rx error 12" "open error 12" "connect error 101" \
		"accept error 12"
}

case_failures()
{
	notices "tx fail 5" "any shutdown"
}

# The last case: what failed half way has left no reference
case_unload()
{
	for m in kofi_hook_trace kofi_hook_fault kofi_loop kofi; do
		rmmod "$m" || fail "$m is still in use"
	done
}

seeds=${1:-3}
ITER=5
LIMIT=60
modprobe -a kofi_loop kofi_hook_trace kofi_hook_fault || exit 1
run_cases
