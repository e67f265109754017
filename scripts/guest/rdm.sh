# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What scripts/pairs/rdm has done in one of its guests: functions for
# scripts/guest/serve.sh, beside those of two.sh.

ft=/sys/kernel/debug/kofi_fabtests

# fabtests PARAMETERS
fabtests()
{
	modprobe kofi_fabtests prov=tcp verify=1 "$@" ||
		{ dmesg | grep 'kofi_fabtests: error' | tail -n 1; return 1; }
}

# fabtests_serve PARAMETERS: returns when a client can come
fabtests_serve()
{
	fabtests background=1 "$@"
}

# fabtests_ended: of either end; says what it has measured and checked
fabtests_ended()
{
	timeout 300 cat $ft/result >/tmp/result
	rmmod kofi_fabtests || return
	cat /tmp/result
	grep -q '^ok$' /tmp/result
}

# fabtests_call PARAMETERS: a client, from begin to end
fabtests_call()
{
	fabtests "$@" && fabtests_ended
}
