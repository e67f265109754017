#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Load modules, unload them, and show what the kernel's log has got meanwhile. A module without
# a way out stays. The providers are loaded before.
#
# usage: load.sh MODULE...
# Exits 0 if each could be loaded and, if it has a way out, unloaded.

modprobe -aq kofi_verbs kofi_tcp kofi_loop
status=0
before=$(dmesg | wc -l)
for m; do
	if modprobe "$m"; then
		echo "$m: loaded"
	else
		echo "$m: does not load"
		status=1
	fi
done
for m; do
	[ -d "/sys/module/$m" ] || continue
	case $(sed -n "s/^$m .* \(\[permanent\]\).*/\1/p" /proc/modules) in
	?*) echo "$m: has no way out"; continue ;;
	esac
	if rmmod "$m"; then
		echo "$m: unloaded"
	else
		status=1
	fi
done
dmesg | tail -n "+$((before + 1))"
exit $status
