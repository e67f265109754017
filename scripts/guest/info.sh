#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kofi-info against fi_info, whose options and form of output it has, and what only kofi-info
# can: reasons, objects, JSON.
#
# usage: info.sh; info.sh list
# Prints KTAP; exits 1 if a case failed. JSON is left in /host, where there is a program that can
# check it.
# shellcheck disable=SC2317  # cases are called by name

list()
{
	cat <<-END
	usage fi_info's options are there
	short the short form is fi_info's
	verbose what fi_info -v prints of libfabric 1.17 is there, in its order
	providers -l lists providers as fi_info does
	interfaces addresses and interfaces are told apart, and -d and -f find them
	hints each hint excludes what it should
	refused wrong arguments are refused as fi_info refuses them
	load the module of a provider that -p names is loaded
	why --why names the hint that excludes everything
	busy -o and debugfs show what a client at work has open: owner, state, peer, counts
	parameters -e prints parameters of modules
	json --json prints what -v, -l, -o and --why do
	END
}

[ "$1" != list ] || { list; exit; }
# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh
# shellcheck source=scripts/guest/pingpong.sh
. /kofi/guest/pingpong.sh

info=kofi-info

# expect FILE PATTERN...: each is in a line of the file
expect()
{
	file=$1
	shift
	for pattern; do
		grep -qE -e "$pattern" "$file" || fail "no \"$pattern\" in: $(head -c 300 "$file")"
	done
}

# keys FILE: names of the lines of its first block, with what they are indented by
keys()
{
	awk '/^---$/ { next }
		{ sub(/:.*/, "") }
		n && $0 == first { exit }
		!n++ { first = $0 }
		{ print }' "$1"
}

case_usage()
{
	fi_info --help >/tmp/theirs
	$info --help >/tmp/ours || fail "exit $?"
	sed -n 's/^ *\(-., \)\{0,1\}--\([a-z_]*\).*/--\2/p' /tmp/theirs | while read -r option; do
		grep -q -e "${option}[= ]" /tmp/ours || echo "$option"
	done >/tmp/missing
	[ -s /tmp/theirs ] || fail "fi_info prints nothing"
	[ ! -s /tmp/missing ] || fail "missing: $(cat /tmp/missing)"
}

case_short()
{
	fi_info -p tcp -t FI_EP_MSG >/tmp/theirs || fail "fi_info: exit $?"
	$info -p tcp -t FI_EP_MSG >/tmp/ours || fail "exit $?"
	keys /tmp/theirs >/tmp/their_keys
	# Ours has the address, too
	keys /tmp/ours | grep -v '^    src_addr$' >/tmp/our_keys
	cmp -s /tmp/their_keys /tmp/our_keys || fail "keys: $(cat /tmp/our_keys)"
	expect /tmp/ours '^provider: tcp$' '^    type: FI_EP_MSG$' \
		'^    version: [0-9]+\.[0-9]+$' '^    protocol: FI_PROTO_SOCK_TCP$'
}

case_verbose()
{
	fi_info -v -p tcp -t FI_EP_MSG >/tmp/theirs || fail "fi_info: exit $?"
	$info -v -p tcp -t FI_EP_MSG >/tmp/ours || fail "exit $?"
	[ "$(head -n 2 /tmp/ours | tr '\n' ' ')" = '--- fi_info: ' ] || fail "$(head -n 2 /tmp/ours)"
	keys /tmp/theirs >/tmp/their_keys
	keys /tmp/ours >/tmp/our_keys
	# Ours may have more in between; nic is a block or a value
	awk 'NR == FNR { key[FNR] = $0; n = FNR; next }
		{ for (at++; at <= n && key[at] != $0; at++); if (at > n) { print; exit } }' \
		/tmp/our_keys /tmp/their_keys | grep -v '^    nic$' >/tmp/missing
	[ ! -s /tmp/missing ] || fail "missing or elsewhere: $(cat /tmp/missing)"
	[ "$(wc -l </tmp/their_keys)" -gt 60 ] || fail "fi_info prints little: $(cat /tmp/their_keys)"
}

case_providers()
{
	$info -l >/tmp/ours || fail "exit $?"
	expect /tmp/ours '^tcp:$' '^loop:$' '^    version: [0-9]+\.[0-9]+$'
	$info -l -v >/tmp/ours || fail "exit $?"
	expect /tmp/ours '^    module: kofi_loop$' '^    references: 1$'
}

# What it prints of two addresses of an interface, and of another one, differs
case_interfaces()
{
	for interface in kofi3 kofi4; do
		ip link add "$interface" type dummy
		ip link set "$interface" up
	done
	ip addr add 10.54.1.1/24 dev kofi3
	ip addr add 10.54.1.2/24 dev kofi3
	ip addr add 10.54.2.1/24 dev kofi4
	$info -p tcp -t FI_EP_MSG >/tmp/ours || fail "exit $?"
	# One line for each result
	awk '/^provider/ && line { print line; line = "" } { line = line " " $0 } END { print line }' \
		/tmp/ours >/tmp/lines
	[ "$(wc -l </tmp/lines)" -ge 4 ] || fail "too few: $(cat /tmp/lines)"
	[ -z "$(sort /tmp/lines | uniq -d)" ] || fail "alike: $(sort /tmp/lines | uniq -d)"
	expect /tmp/lines 'fabric: 10.54.1.0/24 .*domain: kofi3 .*src_addr: 10.54.1.1:' \
		'fabric: 10.54.1.0/24 .*domain: kofi3 .*src_addr: 10.54.1.2:' \
		'fabric: 10.54.2.0/24 .*domain: kofi4 .*src_addr: 10.54.2.1:' \
		'fabric: 127.0.0.0/8 .*domain: lo .*src_addr: 127.0.0.1:'
	$info -p tcp -t FI_EP_MSG -d kofi3 | grep '^    domain' | sort -u >/tmp/ours
	[ "$(cat /tmp/ours)" = '    domain: kofi3' ] || fail "-d kofi3: $(cat /tmp/ours)"
	$info -p tcp -t FI_EP_MSG -d tcp -f tcp | grep '^    [df]' | sort -u >/tmp/ours
	[ "$(tr -d '\n' </tmp/ours)" = '    domain: tcp    fabric: tcp' ] ||
		fail "-d tcp -f tcp: $(cat /tmp/ours)"
	ip link del kofi3
	ip link del kofi4
}

case_hints()
{
	for hint in '-p loop' '-d tcp' '-t FI_EP_RDM' '-a FI_SOCKADDR_IN' '-c FI_MSG|FI_RMA' '-n 127.0.0.1' \
		'-s 127.0.0.1 -P 7471'; do
		# shellcheck disable=SC2086 # several words
		$info $hint >/tmp/ours || fail "$hint: exit $?"
		grep -q '^provider' /tmp/ours || fail "$hint: nothing"
	done
	! $info -p loop | grep '^provider: tcp' || fail "-p loop lists tcp"
	! $info -t FI_EP_RDM | grep 'FI_EP_MSG' || fail "-t FI_EP_RDM lists FI_EP_MSG"
	fabric=$($info -p tcp | sed -n 's/^    fabric: //p' | head -n 1)
	$info -p tcp -f "$fabric" | grep -q "^    fabric: $fabric$" || fail "-f $fabric: nothing"
	$info -i FI_PROTO_SOCK_TCP | grep -q 'prov_name: tcp$' || fail "-i: nothing"
	! $info -i no_such_text | grep . || fail "-i no_such_text: something"
}

case_refused()
{
	for arguments in '-c FI_BOGUS' '-p no_such_provider'; do
		# shellcheck disable=SC2086 # several words
		fi_info $arguments >/tmp/all 2>&1
		theirs=$?
		# psm3 complains of a processor that was busy elsewhere
		grep -v 'CPU time base' /tmp/all >/tmp/theirs
		# shellcheck disable=SC2086 # several words
		$info $arguments >/tmp/ours 2>&1
		[ $? -eq "$theirs" ] || fail "$arguments: not $theirs"
		expect /tmp/ours "^$(head -n 1 /tmp/theirs)"
	done
	! $info -P 70000 2>/dev/null || fail "-P 70000 is taken"
	! $info -m FI_BOGUS 2>/dev/null || fail "-m FI_BOGUS is taken"
	! $info -n 127.0.0.1 -s 127.0.0.1 2>/dev/null || fail "-n with -s is taken"
	! $info spare 2>/dev/null || fail "an argument too many is taken"
}

case_load()
{
	rmmod kofi_loop
	$info -p loop >/tmp/ours || fail "exit $?"
	expect /tmp/ours '^provider: loop$'
}

case_why()
{
	! $info --why -p tcp -c 'FI_MSG|FI_COLLECTIVE' >/tmp/ours 2>&1 || fail "something is found"
	expect /tmp/ours '^why: tcp lo: caps: FI_COLLECTIVE wanted' '^fi_getinfo: -61'
	! $info --why -p no_such_provider >/tmp/ours 2>&1 || fail "something is found"
	expect /tmp/ours '^why: .*there is no provider no_such_provider'
	! $info --why -n name.example >/tmp/ours 2>&1 || fail "a name is found"
	expect /tmp/ours '^why: node: name.example is no numeric' '^fi_getinfo: -22'
}

# at_work: has an endpoint a connection, and has an operation completed?
at_work()
{
	tries=0
	until $info -o >/tmp/ours && grep -q '^    state: connected$' /tmp/ours &&
		grep -q '^    completed: [1-9]' /tmp/ours; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || return
		usleep 10000
	done
}

case_busy()
{
	ITER=1000000 pingpong_start role=both addr=127.0.0.1 prov=tcp ||
		{ fail "kofi_pingpong does not load"; return; }
	at_work || fail "nothing is connected: $(grep state /tmp/ours)"
	cat /sys/kernel/debug/kofi/objects >/tmp/debugfs
	expect /tmp/ours '^object: [0-9]+$' '^    class: fabric$' '^    class: passive endpoint$' \
		'^    provider: tcp$' '^    owner: kofi_pingpong$' '^    parent: [0-9]+$' \
		'^    state: listening$' '^    src_addr: 127\.0\.0\.1:[0-9]+$' '^    backlog: [0-9]+$' \
		'^    hash: [0-9a-f]+$' '^    address: 0x[0-9a-f]+$'
	expect /tmp/ours '^    dest_addr: 127\.0\.0\.1:[0-9]+$' '^    bound: [0-9]+ flags' \
		'^    completed: [1-9][0-9]*$' '^    failed: 0$' '^    tx_again: [0-9]+$'
	expect /tmp/debugfs 'endpoint, provider tcp, .* client kofi_pingpong.* state connected, address 127\.0\.0\.1:[0-9]+, peer 127' \
		'completion queue, .* completed [1-9]'
	$info --json -o >/host/objects.json || fail "--json: exit $?"
	cp /tmp/ours /host/objects
	cp /tmp/debugfs /host/debugfs
	unshare -n "$info" -o >/tmp/other || fail "in another namespace: exit $?"
	[ ! -s /tmp/other ] || fail "in another namespace: $(cat /tmp/other)"
	pingpong_stop || fail "kofi_pingpong cannot be unloaded"
	$info -o >/tmp/ours || fail "exit $?"
	[ ! -s /tmp/ours ] || fail "still open: $(cat /tmp/ours)"
}

case_parameters()
{
	modprobe kofi_loop
	$info -e >/tmp/ours || fail "exit $?"
	expect /tmp/ours '^kofi\.hooks='
	! $info -g no_such_parameter | grep . || fail "-g finds what is not there"
}

case_json()
{
	$info --json -p tcp >/host/results.json || fail "results: exit $?"
	$info --json -l >/host/providers.json || fail "providers: exit $?"
	! $info --json --why -c FI_COLLECTIVE >/host/why.json 2>/dev/null || fail "something is found"
	for file in results providers why; do
		[ -s "/host/$file.json" ] || fail "$file: no output"
	done
}

modprobe kofi_loop
modprobe kofi_tcp
run_cases
