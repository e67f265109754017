#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What fi_getinfo() finds of each provider, for scripts/checks/providers: verbs on RoCE and on
# iWARP, tcp, and loop.
#
# usage: providers.sh CAPABILITY[+CAPABILITY]...
# Leaves /host/COLUMN-ARGUMENT.json for each.

# ask COLUMN PROVIDER CAPABILITY...
ask()
{
	column=$1 prov=$2
	shift 2
	for cap; do
		kofi-info --json -p "$prov" -c "$(echo "$cap" | tr + '|')" >"/host/$column-$cap.json" 2>/dev/null
		[ -s "/host/$column-$cap.json" ] || { echo "kofi-info says nothing of $prov"; exit 1; }
	done
}

modprobe -a kofi_verbs kofi_tcp kofi_loop || exit
ask tcp tcp "$@"
ask loop loop "$@"
for type in rxe siw; do
	/kofi/guest/rxe.sh $type || exit
	ask $type verbs "$@"
	rdma link delete ${type}0
done
