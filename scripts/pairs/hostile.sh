# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The cases of scripts/two in which a peer lies or dies (sourced by it). Guest b is the
# bad peer, and runs a good client beside it; guest a is the victim. Both have
# kofi_hostile.ko; the top of kunit/hostile/main.c says what its steps are.
#
# shellcheck disable=SC2154 # $device, $why and most functions are those of scripts/two
#
# FROZEN: seconds for which the peer is frozen in the case "frozen", if that is longer
# than it takes all operations to end (default 0).

A=10.78.0.1
SERVER=0 OTHER=1 PEER=2
WAITING=256 REQUESTS=512

# hostile_list DEVICE: the cases and what they show.
hostile_list()
{
	echo "private a request with any private data is answered, and a good client is served"
	echo "answers an answer with any private data ends the attempt with an error that says why"
	echo "access reads and writes beyond what was granted are refused, and hurt nobody else"
	echo "sizes messages of no bytes arrive, of too many are refused, both ways"
	if [ "$1" = rxe ]; then
		echo "rnr sends to a peer that posts no receive end: by fi_shutdown, with the connection, or with FI_ENORX"
		echo "half a peer that never confirms, never answers, or accepts and dies is given up in time"
	else
		echo "rnr a message to a peer that posts no receive ends the connection"
		echo "silent TCP connections that say nothing, or nonsense, keep no good client waiting"
	fi
	echo "flood $REQUESTS requests that are never accepted: memory is bounded, others are served"
	echo "frozen 64 operations in flight when the peer freezes: each ends once, with an error"
	echo "unload modules and devices go, and no memory is lost"
	echo "console-a the victim's console is clean"
	echo "console-b the bad peer's console is clean"
}

# act NAME STEP...: what kofi_hostile has to say of a step is in $said.
act()
{
	local name=$1

	shift
	said=''
	guest_run "$name" "hostile $*" ||
		because "guest $name: $*: ${GUEST_WHY:-${GUEST_OUTPUT//$'\n'/; }}" || return
	said=$GUEST_OUTPUT
}

# said_is TEXT: that and nothing else was said.
said_is()
{
	[ "$said" = "$1" ] && return
	because "said: $(diff <(echo "$1") <(echo "$said") | grep '^[<>]' | tr '\n' ' ')"
}

# says PATTERN: one line of what was said matches.
says()
{
	grep -qE "$1" <<<"$said" || because "no \"$1\" in: ${said//$'\n'/; }"
}

# number WORD: the number behind it in what was said.
number()
{
	awk -v w="$1" '$1 == w { print $2 }' <<<"$said"
}

# loaded: kofi_hostile is there in both guests.
loaded()
{
	local name

	[ -z "${hostile_loaded:-}" ] || return 0
	for name in a b; do
		guest_run $name "modprobe kofi_hostile node=$A peer=$B" ||
			because "guest $name: kofi_hostile: ${GUEST_WHY:-$GUEST_OUTPUT}" || return
	done
	hostile_loaded=1
}

# good OFFSET: a client of kOFI connects from guest b, and its messages come back.
good()
{
	act b connect "$1" && says '^connected' && act b ping 3
}

# good_still: it is connected still.
good_still()
{
	act b ping 3 && act b close
}

# served_all [CLOSED]: all connections of the server have ended.
served_all()
{
	act a settle $SERVER 0 && act a served $SERVER && note "server: ${said//$'\n'/; }" &&
		says '^region intact'
}

# tidy: close whatever a case has left open; its outcome is known.
tidy()
{
	local name

	for name in a b; do
		guest_run $name "hostile_tidy" || true
	done
}

private_want()
{
	local short=established beyond="cannot be sent"

	# InfiniBand delivers the whole field whatever was sent, iWARP what was sent.
	[ "$device" = rxe ] || short=rejected beyond=rejected
	cat <<-END
	none: established
	empty: established
	right: established
	trailing: established
	longest: established
	short: $short
	lie-56: rejected
	lie-255: rejected
	garbage: rejected
	beyond: $beyond
	END
}

case_private()
{
	local lengths="lengths 0 0 0 2 2 55"

	[ "$device" = siw ] || lengths+=" 5"
	{ loaded && act a serve $SERVER accept && good $SERVER &&
		act b requests $SERVER; } || return
	note "${said//$'\n'/, }"
	said_is "$(private_want)" || return
	good_still && good $SERVER && act b close && act a settle $SERVER 0 &&
		act a served $SERVER && note "server: ${said//$'\n'/; }" &&
		says "^$lengths 0\$"
}

# answered MODE KIND WANT: what a client of kOFI makes of such an answer.
answered()
{
	act b answer "$1" "$2" 0 -1 7 && act a connect $PEER || return
	note "$1 with $2: $said"
	says "$3" && act a close && act b leave
}

case_answers()
{
	loaded && answered accept none '^connected, 0 bytes' &&
		answered accept right '^connected, 2 bytes' &&
		answered accept lie-56 '^error: .*\(71\)' &&
		answered accept lie-255 '^error: .*\(71\)' &&
		answered accept garbage '^error: .*\(71\)' &&
		answered reject right '^error: .*\(111\).* 2 bytes' &&
		answered reject lie-255 '^error: .*\(111\).* 0 bytes' &&
		answered reject garbage '^error: .*\(111\).* 0 bytes'
}

access_want()
{
	local no="remote access error" what

	[ "$device" = rxe ] || no=disconnected
	echo "read inside: success"
	for what in "read before" "read beyond" "read with a wrong key" "read with a stale key" \
		"write beyond" "write with a wrong key" "write with a stale key" \
		"write what is for reading"; do
		echo "$what: $no"
	done
}

# told WHAT PATTERN: a client of kOFI posts one operation, and how it ends.
told()
{
	act b answer accept right 1 1024 7 && act a connect $PEER && says '^connected' &&
		act a post "$1" 64 1 && act a ended || return
	note "$1 with a key that is none: $(sed -n '/^[0-9] /p' <<<"$said")"
	[ "$device" = siw ] || says "$2" || return
	act a event && says '^FI_SHUTDOWN' && act a close && act b leave
}

case_access()
{
	loaded && act a serve $SERVER accept && good $SERVER && act b access $SERVER || return
	note "${said//$'\n'/, }"
	said_is "$(access_want)" && good_still && served_all || return
	told read '^1 read: .*\(13\), remote access error' &&
		told write '^1 write: .*\(13\), remote access error'
}

# sent BYTES RECEIVE: a client of kOFI sends that to a receive of so many bytes.
sent()
{
	act b answer accept right 1 "$2" 7 && act a connect $PEER && says '^connected' &&
		act a post send "$1" 1 && act a ended || return
	note "$1 bytes to a receive of $2: $(grep -E '^(ok|[0-9])' <<<"$said" | tr '\n' ' ')"
}

case_sizes()
{
	local refused="(remote invalid request error|remote operation error|WR flushed)"

	loaded && act a serve $SERVER accept && good $SERVER && act b sizes $SERVER || return
	note "${said//$'\n'/, }"
	# The end of the connection may be faster than the refusal. Over iWARP the message
	# is sent, and nobody says what became of it.
	[ "$device" = rxe ] || refused="(success|WR flushed)"
	says '^0 bytes: success, 0 bytes back' && says '^1024 bytes: success, 1024 bytes back' &&
		says "^1025 bytes: $refused, nothing back" && good_still && served_all &&
		says '^1 receive: .*\(265\)' || return
	sent 0 64 && says '^ok 1' && act b seen && says '^receive: success, 0 bytes' &&
		act a close && act b leave || return
	sent 65 64 || return
	[ "$device" = siw ] || says '^1 send: .*\(121\)' || return
	act a event && says '^FI_SHUTDOWN' && act b seen && note "the peer: ${said##*$'\n'}" &&
		act a close && act b leave
}

# unreceived RNR: eight sends to a peer that posts no receive.
unreceived()
{
	act b answer accept right 1 -1 "$1" && act a connect $PEER && says '^connected' &&
		act a post send 64 8
}

# rnr_ended WHAT PATTERN: what became of them.
rnr_ended()
{
	act a ended && note "$1: $(grep -E '^(first|[0-9])' <<<"$said" | tr '\n' ' ')" &&
		says '^errors 8' && says "$2"
}

rnr_rxe()
{
	unreceived 7 || return
	sleep 1 # it takes time to see that nothing happens
	act a ended 0 && says '^outstanding 8' && says '^errors 0' &&
		act a shutdown && rnr_ended "fi_shutdown() after a second" '^8 send: .*\(125\)' &&
		act a close && act b leave || return
	unreceived 7 && act b leave && rnr_ended "the peer hangs up" '\(125\)' &&
		act a event && says '^FI_SHUTDOWN' && act a close || return
	unreceived 2 && rnr_ended "the peer wants two tries" '^1 send: .*\(269\)' &&
		act a event && says '^FI_SHUTDOWN' && act a close && act b leave
}

case_rnr()
{
	loaded || return
	if [ "$device" = rxe ]; then
		rnr_rxe
		return
	fi
	unreceived 7 && act a ended && note "${said//$'\n'/; }" && act a event &&
		says '^FI_SHUTDOWN' && act a close && act b leave
}

# closed NAME STEP...: what closes something says how long that took: seconds at most.
closed()
{
	act "$@" || return
	note "closed in $(number ms) ms"
	[ "$(number ms)" -lt 5000 ] || because "a close took $(number ms) ms"
}

half_passive()
{
	act a serve $SERVER accept 0 2000 && good $SERVER && act b half $SERVER &&
		act a settle $SERVER 1 && note "never confirmed: given up after $(number ms) ms more" &&
		act a served $SERVER && note "server: ${said//$'\n'/; }" &&
		says '^1 connection: .*\(110\)' && says '^4 receive: .*\(125\)' &&
		good_still && act b leave || return
	# With a minute to go.
	act a serve $OTHER accept && act b half $OTHER && closed a stop $OTHER && act b leave
}

half_active()
{
	act b answer hold none 0 -1 7 && act a connect $PEER 2000 &&
		note "never answered: $said" && says '^error: .*\(110\)' && closed a close &&
		act b leave || return
	# A queue pair that is not there answers as a dead peer does.
	act b answer accept right 0 -1 7 && act a connect $PEER && says '^connected' &&
		act a post send 64 4 && act a ended &&
		note "accepted and dead: ${said//$'\n'/; }" && says '^errors 4' &&
		says '^1 send: .*\(110\)' && act a event && says '^FI_SHUTDOWN' &&
		closed a close && act b leave
}

case_half()
{
	loaded && half_passive && half_active
}

case_silent()
{
	loaded && act a serve $SERVER accept && act b silent $SERVER 16 0 &&
		act b silent $SERVER 16 64 && good $SERVER && note "good client: ${said//$'\n'/; }" &&
		good_still && act b flood-leave && served_all
}

# memory WHEN: bytes of kOFI and of the RDMA core in guest a, in $kofi and $core.
memory()
{
	on a memory || return
	kofi=$(awk '$1 == "kofi" { print $2 }' <<<"$GUEST_OUTPUT")
	core=$(awk '$1 == "core" { print $2 }' <<<"$GUEST_OUTPUT")
	note "memory $1: kOFI $kofi bytes, RDMA core and device $core bytes"
}

# flood: 64 requests at a time. All of them take a slow machine longer than a guest has
# to answer.
flood()
{
	local n

	for ((n = 64; n <= REQUESTS; n += 64)); do
		act b flood $SERVER $n $WAITING || return
		step "$n of $REQUESTS requests"
	done
}

case_flood()
{
	local kofi core before bound=$((WAITING * 8192)) start

	loaded && act a serve $SERVER ignore $WAITING && act a serve $OTHER accept &&
		memory before || return
	before=$kofi
	flood && note "${said//$'\n'/, }" &&
		says "^rejected $((REQUESTS - WAITING))\$" && memory "during the flood" || return
	[ $((kofi - before)) -le $bound ] ||
		because "kOFI took $((kofi - before)) bytes for $WAITING requests" || return
	note "kOFI: $(((kofi - before) / WAITING)) bytes for each of the $WAITING that wait"
	start=$SECONDS
	good $OTHER && good_still && note "another listener served within $((SECONDS - start + 1)) s" &&
		act b connect $SERVER && says '^error: .*\(111\)' && act b close &&
		act b flood-leave && note "the flood gave up in $(number ms) ms" &&
		act a refuse $SERVER && note "${said//$'\n'/, }" || return
	[ $(($(number rejected) + $(number gone))) -eq $WAITING ] ||
		because "${said//$'\n'/, }, should be $WAITING" || return
	good $SERVER && good_still && act a settle $SERVER 0 && act a settle $OTHER 0 &&
		memory afterwards || return
	[ "$kofi" -eq "$before" ] || because "kOFI holds $((kofi - before)) bytes more than before"
}

# frozen_check NAME: each of the 64 operations has ended once, with an error.
frozen_check()
{
	on "$1" inflight_report || return
	report=$GUEST_OUTPUT
	note "guest $1: $(figure posted) posted, $(figure ok) ended well, $(figure errors) with" \
		"an error, $(figure over) were not posted anew, first after $(figure first_error_ms) ms, last after" \
		"$(figure last_error_ms) ms: $(sed -n 's/^error //p' <<<"$report")"
	kill_check
}

# QEMU keeps frames for a guest that stands still, and then those of the other guest
# stay in its network card. rxe waits as long for them to leave, whereas a real network
# drops what nobody takes, so what guest a sends is lost then. siw has TCP, whose
# retransmissions are for the peer to answer with news when it goes on.
case_frozen()
{
	local start rest name both=0

	[ "$device" = siw ] || both=1
	inflight_begin both=$both || return
	[ "$device" = siw ] || on a impair loss 100% || return
	start=$SECONDS
	guest_qmp b '{"execute":"stop"}' || because "QEMU: stop" || return
	on a inflight_flowed "$LIMIT" || true
	rest=$((${FROZEN:-0} - SECONDS + start))
	[ $rest -le 0 ] || sleep $rest # as long as was asked for
	note "the peer was frozen for $((SECONDS - start)) s"
	guest_qmp b '{"execute":"cont"}' || because "QEMU: cont" || return
	{ on a impair none && [ -z "$why" ] && frozen_check a && on a inflight_step close &&
		on b inflight_flowed "$LIMIT" && frozen_check b && on b inflight_step close; } ||
		return
	for name in a b; do
		guest_run $name "rmmod kofi_inflight" ||
			because "guest $name: kofi_inflight cannot be unloaded" || return
	done
	pingpong_begin 5 64,4096 && pingpong_end
}

case_unload()
{
	local name

	for name in a b; do
		guest_run $name "hostile_unload" ||
			because "guest $name: ${GUEST_WHY:-$GUEST_OUTPUT}" || return
		on $name unload "$device" || return
	done
	for name in a b; do
		on $name leaks_end || because "guest $name has leaked: ${GUEST_OUTPUT:0:600}" || return
	done
}
