#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What a user without any capability can make the kernel do: Documentation/security.rst has the
# list, and each case here tries a line of it as nobody.
#
# usage: nobody.sh; nobody.sh list
#        nobody.sh ipv6off; nobody.sh list ipv6off    in a guest booted with ipv6.disable=1
# Prints KTAP; exits 1 if a case failed. An oops is in the console.
# shellcheck disable=SC2317  # cases are called by name

list()
{
	[ $where = everywhere ] || { list_ipv6off; return; }
	cat <<-END
	family a question for the family loads kofi.ko and nothing else
	absent a provider, or one below a layer, that is not there is not loaded
	sysfs all of /sys/class/kofi can be read, and nothing is loaded for hooks=
	questions questions of every kind are answered, for every provider
	shut debugfs, parameters and addresses of objects are not for nobody
	strangers connections that keep silent, stop half-way or send rubbish keep no module loaded
	END
}

list_ipv6off()
{
	cat <<-END
	ipv6off an IPv6 address gives no result where the machine was booted without IPv6
	ipv6left IPv4 and the rest go on there
	END
}

where=everywhere
case " $* " in
*" ipv6off "*) where=ipv6off ;;
esac
[ "$1" != list ] || { list; exit; }
# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh

info=/bin/kofi-info

# as_nobody COMMAND: its output, and what it says, are in /tmp/ours
as_nobody()
{
	su -s /bin/sh nobody -c "$*" >/tmp/ours 2>&1
}

loaded()
{
	grep -q "^$1 " /proc/modules
}

case_family()
{
	! loaded kofi || rmmod kofi || fail "kofi was loaded"
	as_nobody "$info" -l || fail "exit $?: $(cat /tmp/ours)"
	loaded kofi || fail "kofi is not loaded"
	! loaded kofi_loop || fail "kofi_loop is loaded"
	! loaded kofi_tcp || fail "kofi_tcp is loaded"
}

case_absent()
{
	! as_nobody "$info" --why -p loop || fail "loop is there"
	grep -q 'there is no provider loop' /tmp/ours || fail "$(cat /tmp/ours)"
	modprobe kofi_hook_trace
	! as_nobody "$info --why -p 'loop;ofi_hook_trace'" || fail "loop is there"
	grep -q 'there is no provider loop' /tmp/ours || fail "$(cat /tmp/ours)"
	! loaded kofi_loop || fail "kofi_loop is loaded"
	rmmod kofi_hook_trace
}

case_sysfs()
{
	modprobe kofi_loop
	modprobe kofi_tcp
	echo ofi_hook_trace >/sys/module/kofi/parameters/hooks || fail "hooks="
	rmmod kofi_hook_trace || fail "kofi_hook_trace was not loaded by the write"
	for file in /sys/class/kofi/*/* /sys/class/kofi/*/limits/*; do
		[ ! -f "$file" ] || as_nobody cat "$file" || fail "$file: exit $?"
	done
	as_nobody cat /sys/class/kofi/loop/domains
	grep -q '^loop$' /tmp/ours || fail "domains: $(cat /tmp/ours)"
	as_nobody "$info" -p loop || fail "exit $?"
	! loaded kofi_hook_trace || fail "kofi_hook_trace is loaded"
	echo >/sys/module/kofi/parameters/hooks
}

case_questions()
{
	modprobe kofi_verbs
	for arguments in '-v' '-l -v' '-o' '-s 127.0.0.1' '-n 127.0.0.1' '-s ::1' '-n ::1' \
		'-s fe80::1%lo' '-n fe80::1%lo' '-s fd77::1' '-n fd77::1' '-n 192.0.2.1' '-s 192.0.2.1' \
		'-s 0.0.0.0' '-n 0.0.0.0' '-s ::' '-n ::' '-n 255.255.255.255' '-n ff02::1%lo'; do
		for prov in loop tcp verbs; do
			as_nobody timeout 60 "$info" "$arguments" -p "$prov"
			code=$?
			[ $code -lt 124 ] || fail "$arguments -p $prov: exit $code"
		done
	done
	! as_nobody unshare -n "$info" -v || fail "nobody may have a network"
	as_nobody unshare -Urn true || fail "nobody has no user namespace"
	as_nobody unshare -Urn "$info" -v
	code=$?
	[ $code -lt 124 ] || fail "in a user namespace: exit $code"
	rmmod kofi_verbs || fail "something is still open"
}

case_shut()
{
	! as_nobody cat /sys/kernel/debug/kofi/objects || fail "debugfs can be read"
	! as_nobody 'echo ofi_hook_trace >/sys/module/kofi/parameters/hooks' || fail "hooks= can be set"
	! as_nobody modprobe kofi_verbs || fail "a module can be loaded"
	! as_nobody rmmod kofi_tcp || fail "a module can be unloaded"
	as_nobody "$info" -o || fail "exit $?"
	! grep -q '^    address:' /tmp/ours || fail "addresses of objects can be read"
}

# strangers: how many of their connections the kernel's end has
strangers()
{
	awk '$2 ~ /:240C$/ && $4 == "01"' /proc/net/tcp | wc -l
}

case_strangers()
{
	modprobe kofi_tcp
	echo 128 >/sys/module/kofi_tcp/parameters/greetings_max || fail "greetings_max"
	modprobe kofi_fabtests background=1 prov=tcp src=127.0.0.1 port=9228 ||
		fail "kofi_fabtests: exit $?"
	as_nobody /kofi/files/strangers 127.0.0.1 9228 &
	n=0
	until [ "$(strangers)" -eq 120 ] || [ "$n" -eq 100 ]; do
		usleep 100000
		n=$((n + 1))
	done
	[ "$(strangers)" -eq 120 ] || fail "$(strangers) connections of 120 wait: $(cat /tmp/ours)"
	read -r began _ </proc/uptime
	rmmod kofi_fabtests || fail "kofi_fabtests: exit $?"
	rmmod kofi_tcp || fail "kofi_tcp: exit $?"
	read -r ended _ </proc/uptime
	[ $((${ended%.*} - ${began%.*})) -lt 5 ] || fail "unloaded from $began to $ended"
	[ "$(strangers)" -eq 0 ] || fail "$(strangers) connections stay"
	killall strangers
	modprobe kofi_tcp || fail "kofi_tcp again: exit $?"
}

case_ipv6off()
{
	modprobe kofi_loop
	modprobe kofi_tcp
	modprobe kofi_verbs
	for prov in loop tcp verbs; do
		for address in ::1 fd77::1 fe80::1%lo ::; do
			for option in -s -n; do
				! as_nobody "$info" --why -p "$prov" "$option" "$address" ||
					fail "$option $address -p $prov: something is found"
				grep -q 'booted without IPv6' /tmp/ours ||
					fail "$option $address -p $prov: $(cat /tmp/ours)"
			done
		done
		as_nobody "$info" -p "$prov" -a FI_SOCKADDR_IN6
		! grep -q '^provider' /tmp/ours || fail "-a FI_SOCKADDR_IN6 -p $prov: something is found"
	done
}

case_ipv6left()
{
	for prov in loop tcp; do
		for option in -s -n; do
			as_nobody "$info" -p "$prov" "$option" 127.0.0.1 || fail "$option -p $prov: exit $?"
		done
		as_nobody "cat /sys/class/kofi/$prov/domains" || fail "$prov: domains"
		[ -s /tmp/ours ] || fail "$prov: domains is empty"
	done
	ip link add kofi8 type dummy || fail "no dummy"
	ip link del kofi8 || fail "the dummy stays"
}

echo nobody:x:65534:65534:nobody:/:/bin/sh >>/etc/passwd
echo nogroup:x:65534: >>/etc/group
run_cases
