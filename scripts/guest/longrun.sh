# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What scripts/pairs/longrun has done in one of its guests: functions for
# scripts/guest/serve.sh, beside those of two.sh.

lr=/sys/kernel/debug/kofi_longrun

# begin PARAMETERS: of kofi_longrun
begin()
{
	modprobe kofi_longrun "$@"
}

# rxm: load kofi_rxm, so that long messages take several segments, and the longest are offered
rxm()
{
	modprobe kofi_rxm eager_limit=1024
}

# listen, pause: have the server's endpoint that hears of clients opened, or closed
listen()
{
	echo listen >$lr/command
}

pause()
{
	echo pause >$lr/command
}

# run CONNECTS SECONDS: begin with that; returns at once
run()
{
	echo "run $1 $2" >$lr/command
}

report()
{
	cat $lr/report
}

# stuck rxe|tcp: what the device or the provider has to say
stuck()
{
	if [ "$1" = tcp ]; then
		cat /sys/kernel/debug/kofi_tcp/connections
	else
		rdma resource show qp
		grep . /sys/class/infiniband/rxe0/ports/1/hw_counters/*
	fi
}

# slab: memory of the kernel in slabs that it cannot take back, in KiB. First empty
# slabs and what KASAN keeps back are given up, so that only what is in use counts.
slab()
{
	for f in /sys/kernel/slab/*/shrink; do
		echo 1 >"$f"
	done 2>/dev/null
	awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo
}

# settled: slab, when it does not get less any more. The connection manager keeps what
# belongs to a connection for some seconds after its end.
settled()
{
	now=$(slab)
	tries=0
	while [ $tries -lt 12 ]; do
		tries=$((tries + 1))
		sleep 5 # nothing tells when it is over
		last=$now
		now=$(slab)
		[ "$now" -lt $((last - last / 500)) ] || break
	done
	echo "$now"
}

# memory NAME: "slab_kib N" and, of what the modules of kOFI have allocated,
# "kofi_bytes N", "kofi_objects N". All allocations are kept under that name.
memory()
{
	echo "slab_kib $(settled)"
	cat /proc/allocinfo >"/tmp/alloc.$1"
	awk '$4 ~ /^\[kofi(_verbs|_tcp|_rxm)?\]$/ { bytes += $1; calls += $2 }
		END { print "kofi_bytes", bytes + 0; print "kofi_objects", calls + 0 }' \
		"/tmp/alloc.$1"
}

# grown NAME NAME: the lines of code whose allocations have grown most, in bytes
grown()
{
	awk 'FNR == NR { old[$3 $NF] = $1; next }
		$1 > old[$3 $NF] + 4096 { print $1 - old[$3 $NF], $3, $4, $5 }' \
		"/tmp/alloc.$1" "/tmp/alloc.$2" | sort -rn | head -n 5
}

# end: unload
end()
{
	rmmod kofi_longrun && { [ ! -d /sys/module/kofi_rxm ] || rmmod kofi_rxm; }
}
