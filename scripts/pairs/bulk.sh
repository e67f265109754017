# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The cases of scripts/two in which kofi_bulk (clients/bulk) transfers by the kfi_* names
# (sourced by it): tagged reads and writes of kofi_tcp, what refuses them, and what ends them.
#
# kofi_bulk checks all bytes, and counts completions that may not come in the state of their
# transaction, as a second one. A transaction that does not complete keeps its node from being
# closed, so each case has seen that all ended once when it has unloaded kofi_bulk at both ends.
#
# shellcheck disable=SC2154 # $why and most functions are those of scripts/two
#
# BULK_SECONDS: how long the case "loss-1" goes on (default 0: each of its rounds once).

BULK_THREADS=8
# Seconds of a transfer on a busy machine, and of one whose peer has gone
BULK_PATIENCE=300 BULK_GONE=30

# bulk_list: the cases and what they show.
bulk_list()
{
	echo "clean transfers of 1 MiB by two contexts, both ways"
	echo "nets transfers in two nets of an interface"
	echo "refused transfers that the peer refuses, or whose receives are gone, beside others"
	echo "loss-1 transfers of several lengths with one packet of 100 lost each way"
	echo "unload the peer's module goes under transfers, and comes again"
	echo "freeze $BULK_THREADS transfers when the peer freezes: each ends once, and others follow"
	echo "kill $BULK_THREADS transfers when the peer dies: each ends once"
	echo "console-a the survivor's console is clean"
	echo "console-b the console of the guest that was killed is clean"
}

# bulk_peer NAME: the parameter that names a guest's address
bulk_peer()
{
	case $1 in
	a) echo peer=0x0a4e0001 ;;
	b) echo peer=0x0a4e0002 ;;
	esac
}

# bulk_number WORD: from the counters in $counted
bulk_number()
{
	local what=$1

	case $1 in
	bad) what="with wrong bytes" ;;
	broken) what="completions out of place" ;;
	esac
	sed -n "s/^\(.*[^0-9]\)\{0,1\}\([0-9][0-9]*\) $what.*/\2/p" <<<"$counted"
}

# bulk_is WORD NUMBER: in $counted
bulk_is()
{
	[ "$(bulk_number "$1")" = "$2" ] ||
		because "$1: $(bulk_number "$1"), should be $2 ($counted)"
}

# bulk_sane: no byte is wrong, no completion out of place
bulk_sane()
{
	bulk_is bad 0 && bulk_is broken 0
}

# bulk_end NAME: the node of a server is closed, and what it has counted is in $counted
bulk_end()
{
	on "$1" bulk_unload || return
	counted=$GUEST_OUTPUT
	bulk_sane
}

# bulk_some WORD LEAST MOST: in $counted
bulk_some()
{
	local n

	n=$(bulk_number "$1")
	[[ $n -ge $2 && $n -le $3 ]] ||
		because "$1: $n, should be from $2 to $3 ($counted)"
}

# bulk_nth WORD THREADS TRANSFERS PARAMETERS: of how many transfers refuse=N or cancel=N speaks
bulk_nth()
{
	local n

	n=$(tr ' ' '\n' <<<"${*:4}" | sed -n "s/^$1=//p")
	echo $((n ? $2 * ($3 / n) : 0))
}

# bulk_round SERVER CLIENT THREADS TRANSFERS PARAMETERS: each thread makes so many. A transfer
# that is refused fails at both ends; of one that is given up each end may see the success first.
bulk_round()
{
	local server=$1 client=$2 all=$(($3 * $4)) args="${*:5}" words refused given_up

	refused=$(bulk_nth refuse "${@:3}")
	given_up=$(bulk_nth cancel "${@:3}")
	words=$(tr ' ' '\n' <<<"$args" | grep -vE '^(op|size|refuse|cancel)=' | tr '\n' ' ')
	on "$server" bulk_serve "$words" || return
	on "$client" bulk_call "$args" "$(bulk_peer "$server")" parallel="$3" count="$4" timeout=$BULK_PATIENCE || return
	counted=$GUEST_OUTPUT
	bulk_sane && bulk_some failed "$refused" $((refused + given_up)) &&
		bulk_is "done" $((all - $(bulk_number failed))) && bulk_end "$server" &&
		bulk_some served $((all - refused - given_up)) $((all - refused)) || return
	[ "$given_up" -ne 0 ] || bulk_is refused "$refused" || return
	moved=$((moved + all)) ended=$((ended + $(bulk_number refused)))
}

# bulk_ways THREADS TRANSFERS PARAMETERS: each guest is the server once
bulk_ways()
{
	bulk_round b a "$@" && bulk_round a b "$@"
}

case_bulk_clean()
{
	both impair none || return
	bulk_ways $BULK_THREADS 2 op=both size=1048576 contexts=2 && note "$moved transfers of 1 MiB"
}

case_bulk_nets()
{
	both impair none || return
	bulk_ways $BULK_THREADS 4 op=both size=70001 contexts=2 nets=2 && note "$moved transfers"
}

# The peer ends receives with an error, and finds receives gone; the other transfers go on
case_bulk_refused()
{
	both impair delay 1ms || return
	bulk_ways $BULK_THREADS 4 op=both size=65536 contexts=2 refuse=4 || return
	note "$moved transfers, $ended refused"
	moved=0 ended=0
	bulk_ways $BULK_THREADS 8 op=both size=65536 contexts=2 cancel=2 || return
	note "$moved transfers, of which $ended found no receive"
	[ "$ended" -gt 0 ] || because "each receive was there in time, so nothing was shown"
}

# bulk_rounds: THREADS TRANSFERS PARAMETERS of each
bulk_rounds()
{
	cat <<-END
	8 2 op=both size=1048576 contexts=2
	16 4 op=both size=4096 contexts=4
	8 20 op=imm size=4000 contexts=2
	8 2 op=both size=300001 contexts=2 nets=2
	8 6 op=both size=65536 contexts=3 refuse=3
	8 6 op=both size=100000 contexts=2 cancel=3
	END
}

case_bulk_loss_1()
{
	local began=$SECONDS all=0 base words

	{ both impair loss 1% && lost; } || return
	base=$lost
	while [ $all -eq 0 ] || [ $((SECONDS - began)) -lt "${BULK_SECONDS:-0}" ]; do
		while read -r words <&3; do
			# shellcheck disable=SC2086 # words
			bulk_ways $words || return
		done 3< <(bulk_rounds)
		all=$((all + 1))
	done
	lost || return
	repairs || return
	note "$moved transfers in $((SECONDS - began)) s, packets lost: $((lost - base))"
	[ "$lost" -gt "$base" ] || because "netem has lost no packet, so nothing was shown"
}

# bulk_busy: transfers of guest a with b are under way
bulk_busy()
{
	{ both impair none && on b bulk_serve contexts=2; } || return
	on a bulk_start contexts=2 "$(bulk_peer b)" op=both size=1048576 parallel=$BULK_THREADS \
		count=100000 timeout=$BULK_GONE || return
	on b bulk_reached served 10 "$LIMIT"
}

# bulk_over: the transfers of guest a have ended, each thread's last one with an error
bulk_over()
{
	on a bulk_ended "$LIMIT" || return
	counted=$(head -n 1 <<<"$GUEST_OUTPUT")
	note "guest a: $counted"
	bulk_is failed $BULK_THREADS && bulk_sane
}

case_bulk_unload()
{
	for _ in 1 2 3; do
		{ bulk_busy && bulk_end b && bulk_over; } || return
	done
	bulk_round b a 2 2 contexts=2
}

# What waits for the peer is given up after a time of the client's
case_bulk_freeze()
{
	bulk_busy || return
	guest_qmp b '{"execute":"stop"}' || because "QEMU: stop" || return
	bulk_over || true # the peer goes on whatever it says
	guest_qmp b '{"execute":"cont"}' || because "QEMU: cont" || return
	{ [ -z "$why" ] && bulk_end b; } || return
	note "guest b: $counted"
	bulk_round b a 2 2 contexts=2
}

case_bulk_kill()
{
	bulk_busy || return
	guest_kill b
	alive=a
	bulk_over || return
	on a bulk_gone || return
	on a leaks_end || because "the survivor has leaked: $GUEST_OUTPUT"
}

# bulk_tidy: close what a case that failed has left open
bulk_tidy()
{
	local name

	for name in $alive; do
		guest_run "$name" bulk_unload || true
	done
}
