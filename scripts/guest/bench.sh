#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The measurements of scripts/bench, inside the guest.
#
# usage: bench.sh PART GUEST        bench.sh count PART
#        bench.sh disk up           bench.sh disk SIDE RW COUNT, for scripts/profile
#
# PART is insn, goal, rxe, tcp, nvme, uml or short, GUEST the number of this one among those that
# measure it.
# Prints a line "sample CASE SIDE UNIT ROUND VALUE OPERATIONS" for each run of each
# side, "case CASE" before each case, and exits 0 only when all cases were
# measured. "count" prints how many cases there are, and measures nothing. ROWS: only cases with
# such a name, patterns of the shell.
#
# Each case is a line of cases_PART: what kofi_perf takes (clients/perf/command.c), or
# the name of a function below and its arguments. "-" is no case.

perf=/sys/kernel/debug/kofi_perf
insn=/sys/kernel/debug/kofi_insn
pp=/sys/kernel/debug/kofi_pingpong
NODE=10.77.0.1
PORT=47592
LIMIT=${LIMIT:-120}
failed=0

# Few rounds do where time is a count of instructions.
cases_insn()
{
	sock="prov=tcp base=sock"
	rdm="prov=tcp ep=rdm base=msg ctx=process"
	rxm="prov=verbs;ofi_rxm ep=rdm base=msg"
	loop="prov=loop base=tcp ctx=process"
	cat <<-END
	insn.all insn_all
	insn.hook insn_hooked ofi_hook_count
	insn.hook_trace insn_hooked ofi_hook_trace
	insn.rxe.lat.64 pingpong size=64 count=50 rounds=25
	insn.rxe.rate.64.d128 stream depth=128 count=512 rounds=11
	insn.rxe.rate.64.d128.more stream op=more depth=128 count=512 rounds=51
	insn.rxe.perio perio depth=1 count=50 rounds=101
	insn.rxe.connect setup count=10 rounds=101
	insn.rxe.lat.64.inline pingpong size=64 count=50 rounds=25 base=inline
	insn.rxe.rate.64.d128.inline stream depth=128 count=512 rounds=11 base=inline
	insn.rxe.rate.64.d128.more.inline stream op=more depth=128 count=512 rounds=11 base=inline
	insn.rxe.perio.inline perio depth=1 count=50 rounds=25 base=inline
	insn.tcp.lat.64 pingpong size=64 count=50 rounds=25 ctx=process $sock
	insn.tcp.lat.64.worker pingpong size=64 count=50 rounds=25 $sock
	insn.tcp.rate.64.d128 stream depth=128 count=512 rounds=11 ctx=process $sock
	insn.tcp.rate.64.d128.worker stream depth=128 count=512 rounds=11 $sock
	insn.rdm.lat.64 pingpong size=64 count=50 rounds=25 $rdm
	insn.rdm.rate.64.d128 stream depth=128 count=512 rounds=11 $rdm
	insn.rxm.lat.64 pingpong size=64 count=50 rounds=25 $rxm
	insn.rxm.rate.64.d128 stream depth=128 count=512 rounds=11 $rxm
	insn.rxm.bw.1m stream size=1048576 depth=4 count=8 rounds=5 $rxm
	insn.loop.lat.64 pingpong size=64 count=50 rounds=25 $loop
	insn.loop.rate.64.d128 stream depth=128 count=512 rounds=11 $loop
	insn.kfi.tcp insn_kfi tcp
	insn.kfi.loop insn_kfi loop
	insn.nvme.4k.r disk_io randread 4k 1 200 25
	END
}

# One processor: what is compared is work, and not who finds the other processor
# awake. Short runs, as what disturbs the emulator then meets few of them. What has run
# before matters, too; so every second guest has them the other way round.
cases_goal()
{
	echo "- cpus 1"
	if [ $((guest % 2)) -eq 1 ]; then
		cat
	else
		tac
	fi <<-END
	lat.64 again 10 pingpong size=64 count=20 rounds=80
	rate.64.d128 again 2 stream depth=128 count=256 rounds=100
	rate.64.d128.more again 2 stream op=more depth=128 count=256 rounds=100
	perio again 2 perio depth=1 count=20 rounds=100
	END
}

# Memory first, as what else has run leaves holes that objects may fit into; and of many
# objects, as allocators take several pages at a time.
cases_rxe()
{
	rxm="prov=verbs;ofi_rxm ep=rdm"
	cat <<-END
	- cpus 1
	mem.ep memory ep 1200 128
	mem.ep.rma memory ep-rma 100 128
	mem.cq memory cq 200 128
	mem.mr memory mr 2000 1
	mem.rxm.ep memory_of ep nothing 100 16 $rxm
	mem.rxm.conn memory_of met ep 100 16 $rxm
	lat.64.inline again 4 pingpong size=64 count=20 rounds=80 base=inline
	rate.64.d128.inline again 2 stream depth=128 count=256 rounds=100 base=inline
	rate.64.d128.more.inline again 2 stream op=more depth=128 count=256 rounds=100 base=inline
	perio.inline again 2 perio depth=1 count=20 rounds=100 base=inline
	lat.1 pingpong size=1 count=20 rounds=60
	lat.1k pingpong size=1024 count=20 rounds=60
	lat.4k pingpong size=4096 count=10 rounds=60
	lat.16k pingpong size=16384 count=10 rounds=40
	lat.64k pingpong size=65536 count=4 rounds=30
	lat.256k pingpong size=262144 count=2 rounds=20
	lat.1m pingpong size=1048576 count=1 rounds=15
	rate.64.d1 stream depth=1 count=50 rounds=60
	rate.64.d16 stream depth=16 count=100 rounds=100
	rate.64.d1.c4 stream depth=1 links=4 count=100 rounds=60
	rate.64.d16.c4 stream depth=16 links=4 count=200 rounds=60
	rate.64.d128.c4 stream depth=128 links=4 count=1024 rounds=60
	rate.4k.d16 stream size=4096 depth=16 count=50 rounds=40
	write.64.d1 stream op=write depth=1 count=50 rounds=60
	write.64.d16 stream op=write depth=16 count=100 rounds=60
	write.64.d128 stream op=write depth=128 count=256 rounds=40
	write.64.d1.c4 stream op=write depth=1 links=4 count=100 rounds=40
	write.64.d16.c4 stream op=write depth=16 links=4 count=200 rounds=60
	write.64.d128.c4 stream op=write depth=128 links=4 count=1024 rounds=60
	write.4k.d16 stream op=write size=4096 depth=16 count=50 rounds=40
	read.64.d1 stream op=read depth=1 count=50 rounds=60
	read.64.d16 stream op=read depth=16 count=100 rounds=60
	read.64.d128 stream op=read depth=128 count=256 rounds=40
	read.64.d1.c4 stream op=read depth=1 links=4 count=100 rounds=40
	read.64.d16.c4 stream op=read depth=16 links=4 count=200 rounds=60
	read.64.d128.c4 stream op=read depth=128 links=4 count=1024 rounds=60
	read.4k.d16 stream op=read size=4096 depth=16 count=50 rounds=40
	perio.d16 perio depth=16 count=64 rounds=60
	shared.1 stream depth=4 links=1 count=200 rounds=40
	shared.64 stream depth=4 links=64 count=512 rounds=20
	shared.1024 stream depth=4 links=1024 count=4096 rounds=20
	connect setup count=10 rounds=30
	rxm.lat.64 again 4 pingpong size=64 count=20 rounds=80 $rxm base=msg
	rxm.rate.64.d128 again 2 stream depth=128 count=256 rounds=100 $rxm base=msg
	rxm.bw.1m again 2 stream size=1048576 depth=4 count=16 rounds=20 $rxm base=msg
	rxm.match.100 beside match depth=100 match depth=1 count=500 rounds=20 $rxm
	rxm.match.10k beside match depth=10000 match depth=1 count=500 rounds=20 $rxm
	rxm.meet.500 meets 500 1 map $rxm
	- cpus 2
	lat.64.smp pingpong size=64 count=20 rounds=200
	rate.64.d128.smp stream depth=128 count=256 rounds=100
	lat.64.user user 64 1000 15
	lat.64.user.poll user_poll 64 1000 7
	rxm.lat.64.user user_rxm 64 1000 15
	END
}

# The baseline is kernel sockets with a head in front of each message, or kOFI with
# connections for endpoints without, or a process.
cases_tcp()
{
	sock="prov=tcp base=sock"
	rdm="prov=tcp ep=rdm base=msg"
	cat <<-END
	- cpus 1
	mem.tcp.conn memory conn 400 16 $sock
	mem.rdm.ep memory_of ep nothing 400 16 prov=tcp ep=rdm
	mem.rdm.known memory_of peer nothing 5000 1 prov=tcp ep=rdm
	mem.rdm.conn memory_of met ep 1000 16 prov=tcp ep=rdm
	mem.kfi.ctx memory_kfi tcp
	tcp.lat.64 again 4 pingpong size=64 count=20 rounds=80 ctx=process $sock
	tcp.lat.64.worker again 4 pingpong size=64 count=20 rounds=80 $sock
	tcp.rate.64.d128 again 2 stream depth=128 count=512 rounds=40 ctx=process $sock
	tcp.rate.64.d128.worker again 2 stream depth=128 count=512 rounds=40 $sock
	tcp.bw.1m again 2 stream size=1048576 depth=4 count=16 rounds=20 ctx=process $sock
	tcp.shared.1 stream depth=4 links=1 count=200 rounds=40 $sock
	tcp.shared.64 stream depth=4 links=64 count=512 rounds=20 $sock
	tcp.shared.1024 stream depth=4 links=1024 count=4096 rounds=20 $sock
	rdm.lat.64 again 4 pingpong size=64 count=20 rounds=80 ctx=process $rdm
	rdm.rate.64.d128 again 2 stream depth=128 count=512 rounds=40 ctx=process $rdm
	rdm.bw.1m again 2 stream size=1048576 depth=4 count=16 rounds=20 ctx=process $rdm
	rdm.match.100 beside match depth=100 match depth=1 count=500 rounds=20 prov=tcp ep=rdm
	rdm.match.10k beside match depth=10000 match depth=1 count=500 rounds=20 prov=tcp ep=rdm
	rdm.meet.2k meets 2000 5 sock prov=tcp ep=rdm
	- cpus 2
	tcp.lat.64.user user_tcp 64 1000 15
	tcp.lat.1m.user user_tcp 1048576 50 9
	rdm.lat.64.user user_rdm 64 1000 15
	END
}

# The baseline is the kernel's own host, nvme_rdma.
cases_nvme()
{
	cat <<-END
	- cpus 1
	nvme.lat.4k.r disk_io randread 4k 1 800 15
	nvme.lat.4k.w disk_io randwrite 4k 1 800 15
	nvme.iops.4k.r disk_io randread 4k 32 2000 15
	nvme.iops.4k.w disk_io randwrite 4k 32 2000 15
	nvme.bw.1m.r disk_io read 1m 4 100 15
	nvme.bw.1m.w disk_io write 1m 4 100 15
	END
}

cases_uml()
{
	cat <<-END
	uml.lat.64 pingpong size=64 count=50 rounds=400
	uml.lat.4k pingpong size=4096 count=50 rounds=100
	uml.lat.64k pingpong size=65536 count=10 rounds=60
	uml.rate.64.d16 stream depth=16 count=400 rounds=200
	uml.rate.64.d128 stream depth=128 count=512 rounds=300
	uml.rate.64.d128.more stream op=more depth=128 count=512 rounds=300
	uml.write.64.d16 stream op=write depth=16 count=400 rounds=100
	uml.read.64.d16 stream op=read depth=16 count=400 rounds=100
	uml.perio perio depth=1 count=50 rounds=200
	END
}

# Not for figures: each test by each way and beside each baseline, as few operations as show that it
# measures, and what kofi_perf has to refuse. Depths and lengths are such that queues of a peer and
# buffers of sockets are full at times.
cases_short()
{
	sock="prov=tcp base=sock"
	rdm="prov=tcp ep=rdm base=msg"
	rxm="prov=verbs;ofi_rxm ep=rdm base=msg"
	loop="prov=loop base=tcp ctx=process"
	cat <<-END
	short.lat exactly 6 pingpong count=20 rounds=3
	short.lat.inline exactly 6 pingpong count=20 rounds=3 base=inline
	short.lat.sock exactly 6 pingpong count=20 rounds=3 $sock
	short.lat.sock.1m exactly 4 pingpong size=1048576 count=2 rounds=2 ctx=process $sock
	short.lat.rdm exactly 4 pingpong count=20 rounds=2 $rdm
	short.lat.rxm exactly 4 pingpong count=20 rounds=2 $rxm
	short.lat.loop exactly 4 pingpong count=20 rounds=2 $loop
	short.rate exactly 6 stream depth=16 links=2 count=100 rounds=3
	short.rate.more exactly 6 stream op=more depth=16 count=128 rounds=3
	short.rate.more.inline exactly 4 stream op=more depth=16 count=128 rounds=2 base=inline
	short.rate.write exactly 4 stream op=write depth=4 count=20 rounds=2
	short.rate.read exactly 4 stream op=read depth=4 count=20 rounds=2
	short.rate.sock exactly 4 stream depth=16 links=2 count=100 rounds=2 $sock
	short.rate.sock.more exactly 4 stream op=more depth=16 count=128 rounds=2 $sock
	short.rate.rdm exactly 4 stream depth=16 count=100 rounds=2 $rdm
	short.rate.rxm exactly 4 stream depth=16 count=100 rounds=2 $rxm
	short.bw.sock exactly 4 stream size=1048576 depth=4 count=8 rounds=2 ctx=process $sock
	short.perio exactly 4 perio depth=4 count=20 rounds=2
	short.perio.inline exactly 4 perio depth=4 count=20 rounds=2 base=inline
	short.connect exactly 4 setup count=4 rounds=2
	short.connect.sock exactly 4 setup count=4 rounds=2 $sock
	short.match exactly 2 match side=kofi depth=100 count=200 rounds=2 prov=tcp ep=rdm
	short.meet exactly 2 meet side=kofi count=20 rounds=2 prov=tcp ep=rdm
	short.mem.ep held kofi ep
	short.mem.ep.raw held raw ep
	short.mem.ep.rma held kofi ep-rma
	short.mem.cq held kofi cq
	short.mem.cq.raw held raw cq
	short.mem.mr held kofi mr
	short.mem.mr.raw held raw mr
	short.mem.conn held kofi conn $sock
	short.mem.conn.sock held raw conn $sock
	short.mem.peer held kofi peer prov=tcp ep=rdm
	short.mem.met held kofi met prov=tcp ep=rdm
	short.refused.test refused nothing
	short.refused.word refused pingpong size
	short.refused.name refused pingpong nothing=1
	short.refused.size refused pingpong size=0
	short.refused.more refused pingpong rounds=401
	short.refused.op refused stream op=nothing
	short.refused.rate refused stream op=ep
	short.refused.side refused pingpong side=both
	short.refused.ep refused pingpong ep=dgram
	short.refused.ctx refused pingpong ctx=none
	short.refused.prov refused pingpong prov=a_name_that_is_too_long
	short.refused.provider refused pingpong prov=nothing
	short.refused.node refused pingpong node=192.0.2.1
	short.refused.depth refused stream depth=16 count=15
	short.refused.chain refused stream op=more depth=12 count=24
	short.refused.inline refused pingpong size=4096 base=inline
	short.refused.perio refused perio depth=16 count=15
	short.refused.perio.sock refused perio depth=4 count=20 side=raw base=sock
	short.refused.write.sock refused stream op=write depth=4 count=20 side=raw base=sock
	short.refused.match refused match depth=100 count=200 prov=tcp ep=rdm
	short.refused.meet refused meet side=kofi count=20 prov=tcp
	short.refused.hold refused hold op=ep count=1
	short.refused.kind refused hold side=kofi op=nothing count=1
	short.refused.held refused hold side=kofi op=send count=1
	END
}

# trouble CASE WORD...: this case has not been measured
trouble()
{
	echo "trouble $*"
	dmesg | tail -n 5 | sed 's/^/    | /'
	failed=$((failed + 1))
}

# as_measured: rounds count on from $before, so that no two of a case have one number;
# where time is a count of instructions, nanoseconds are those
as_measured()
{
	awk -v part="$part" -v before="$before" '
		part == "insn" && ($3 == "ns" || $3 == "rate") { $3 = "insn" }
		{ $4 += before; print "sample", $0 }'
}

# perf_case CASE TEST WORD...
perf_case()
{
	if timeout "$LIMIT" sh -c "echo '$* node=$NODE' >$perf/run"; then
		as_measured <$perf/samples
	else
		trouble "$1" "kofi_perf refuses or fails"
	fi
}

# again CASE COUNT TEST WORD...: so many times, each on connections of its own, as it
# matters where their memory lies
again()
{
	key=$1
	times=$2
	shift 2
	while [ "$times" -gt 0 ]; do
		perf_case "$key" "$@"
		before=$((before + 1000))
		times=$((times - 1))
	done
}

# exactly CASE SAMPLES TEST WORD...: so many samples, each with a value
exactly()
{
	key=$1 samples=$2
	shift 2
	perf_case "$key" "$@"
	awk -v key="$key" -v n="$samples" '$1 == key && $5 > 0 && $6 > 0 { n-- } END { exit n != 0 }' \
		$perf/samples || trouble "$key" "wanted: $samples samples; there are: $(cat $perf/samples)"
}

# refused CASE TEST WORD...: with an error, and nothing is measured
refused()
{
	case " $* " in
	*" node="*) node= ;;
	*) node=" node=$NODE" ;;
	esac
	if timeout "$LIMIT" sh -c "echo '$*$node' >$perf/run" 2>/dev/null; then
		trouble "$1" "kofi_perf takes it"
	elif [ -s $perf/samples ]; then
		trouble "$1" "something is measured: $(cat $perf/samples)"
	fi
}

# held CASE SIDE KIND [WORD...]: twice three objects, and no more; then they are given back
held()
{
	key=$1
	shift
	echo release release >$perf/run
	for round in 1 2; do
		hold "$1" "$2" 3 16 "$3" "$4" || trouble "$key" "cannot open, round $round"
	done
	! hold "$1" "$2" 3 16 "$3" "$4" 2>/dev/null || trouble "$key" "there is room for more"
	echo release release >$perf/run || trouble "$key" "cannot give back"
}

# insn_all CASE: the fake HCA; the module works while it is loaded
insn_all()
{
	if modprobe kofi_insn; then
		sed 's/^/sample /' $insn/samples
		rmmod kofi_insn
	else
		trouble "$1" "kofi_insn does not load"
	fi
}

# insn_hooked CASE HOOK: the same with a hook on the provider, which has nothing to do. The
# baseline stays ib_core, so what the hook takes is the difference to the rows without.
insn_hooked()
{
	modprobe kofi
	echo "$2" >/sys/module/kofi/parameters/hooks
	insn_all "$1" >/tmp/hooked
	sed -n "s/ insn\.\(post\.send64\|post\.write64\|cq_read\|done\) / $1.\1 /p
		/^trouble/p" /tmp/hooked
	echo >/sys/module/kofi/parameters/hooks
}

# insn_kfi CASE PROVIDER: tagged reads and writes by the kfi_* names beside those by kOFI's
insn_kfi()
{
	modprobe kofi_kfi && echo "$2" >/sys/module/kofi_kfi/parameters/provider
	if modprobe kofi_insn_kfi prov="$2"; then
		sed 's/^/sample /' /sys/kernel/debug/kofi_insn_kfi/samples
		rmmod kofi_insn_kfi
	else
		trouble "$1" "kofi_insn_kfi does not load"
	fi
	rmmod kofi_bulk kofi_kfi
}

# free_pages: all that are free, also those that a processor keeps for itself
free_pages()
{
	cat /proc/sys/vm/stat_refresh
	awk '$1 == "pages" && $2 == "free" { n += $3 }
		$1 == "count:" { n += $2 }
		END { print n }' /proc/zoneinfo
}

# cpus - COUNT: of the two processors
cpus()
{
	echo $(($2 - 1)) >/sys/devices/system/cpu/cpu1/online ||
		trouble cpus "cannot switch a processor on or off"
}

# hold SIDE KIND COUNT DEPTH [WORD...]: open so many objects, and keep them. No program does that,
# as the memory of one that has ended is on its way back when pages are counted.
hold()
{
	side=$1 kind=$2 objects=$3 depth=$4
	shift 4
	echo "hold hold side=$side op=$kind count=$objects depth=$depth node=$NODE $*" >$perf/run || return
	# A connection that has sent is idle a second later, and keeps no page to copy messages into
	[ "$kind" != met ] || sleep 2
}

# memory_sample KEY WHO SIDE KIND COUNT DEPTH [WORD...]: the pages that are gone when as many
# objects have been opened once more; the first ones have used up what allocators had left over.
memory_sample()
{
	key=$1 who=$2
	shift 2
	hold "$@" || { trouble "$key" "cannot open"; return 1; }
	free=$(free_pages)
	hold "$@" || { trouble "$key" "cannot open"; return 1; }
	left=$(free_pages)
	echo release release >$perf/run
	[ "$round" -eq 1 ] ||
		echo "sample $key $who bytes $round $(((free - left) * 4096)) $3"
}

# memory CASE KIND COUNT DEPTH [WORD...]
memory()
{
	key=$1
	shift
	for round in 1 2 3 4 5 6; do
		for who in kofi raw; do
			memory_sample "$key" $who $who "$@" || return
		done
	done
}

# memory_of CASE KIND BASE COUNT DEPTH [WORD...]: kOFI's objects of one kind beside others of it
memory_of()
{
	key=$1 what=$2 base=$3
	shift 3
	for round in 1 2 3 4 5 6; do
		memory_sample "$key" kofi kofi "$what" "$@" || return
		if [ "$base" != nothing ]; then
			memory_sample "$key" raw kofi "$base" "$@" || return
		elif [ $round -gt 1 ]; then
			echo "sample $key raw bytes $round 0 $1"
		fi
	done
}

# kfi_held SIDE CONTEXTS PROVIDER: the free pages when so many are open
kfi_held()
{
	modprobe kofi_insn_kfi hold="$2" side="$1" prov="$3" || return
	free_pages
	rmmod kofi_insn_kfi
}

# memory_kfi CASE PROVIDER: a context of each direction, with a queue each, by the kfi_* names
memory_kfi()
{
	modprobe kofi_kfi && echo "$2" >/sys/module/kofi_kfi/parameters/provider
	for round in 1 2 3 4 5 6; do
		for who in kofi raw; do
			if ! free=$(kfi_held $who 1 "$2") || ! left=$(kfi_held $who 16 "$2"); then
				trouble "$1" "kofi_insn_kfi does not load"
				return
			fi
			[ "$round" -eq 1 ] ||
				echo "sample $1 $who bytes $round $(((free - left) * 4096)) 15"
		done
	done
	rmmod kofi_bulk kofi_kfi
}

# beside CASE TEST WORD BASE WORD [WORD...]: kOFI with one word beside kOFI with another
beside()
{
	key=$1 test=$2 word=$3 base=$4 base_word=$5
	shift 5
	perf_case "$key" "$test" "$word" side=kofi "$@"
	perf_case "$key" "$base" "$base_word" side=kofi "$@" >/tmp/beside
	sed 's/ kofi / raw /' /tmp/beside
}

# meets CASE COUNT ROUNDS BASE WORD...: so many peers are connected at once, beside as many
# connections of a baseline one by one
meets()
{
	key=$1 count=$2 rounds=$3 base=$4
	shift 4
	perf_case "$key" meet side=kofi count="$count" rounds="$rounds" "$@"
	perf_case "$key" setup side=raw count="$count" rounds="$rounds" base="$base"
}

# user_listens PID: wait until a process that must stay alive listens.
user_listens()
{
	hex=$(printf '%04X' $PORT)
	while kill -0 "$1" 2>/dev/null; do
		cat /proc/net/tcp /proc/net/tcp6 |
			awk -v p=":$hex" '$4 == "0A" && substr($2, length($2) - 4) == p { found = 1 }
				END { exit !found }' && return 0
		usleep 20000
	done
	return 1
}

# The column usec/xfer of the row of this size, in nanoseconds
xfer_ns()
{
	awk -v size="$1" '
		BEGIN {
			name = size % 1048576 == 0 ? size / 1048576 "m" :
			       size % 1024 == 0 ? size / 1024 "k" : size
		}
		($1 == size || $1 == name) && NF == 8 { v = $7 }
		END { if (!v) exit 1; print v * 1000 }'
}

# user_run SIZE COUNT: fi_pingpong with itself, with -p $user_prov -e $user_ep; both ends poll,
# as they always do. FI_PROVIDER names what is below, and leaves layers in
user_run()
{
	FI_PROVIDER=${user_prov%%;*} timeout "$LIMIT" fi_pingpong -p $user_prov -e $user_ep -I "$2" -S "$1" >/tmp/server 2>&1 &
	server=$!
	user_listens $server || return
	FI_PROVIDER=${user_prov%%;*} timeout "$LIMIT" fi_pingpong -p $user_prov -e $user_ep -I "$2" -S "$1" $NODE >/tmp/client 2>&1 ||
		{ kill $server; return 1; }
	wait $server && xfer_ns "$1" </tmp/client
}

# poll_run SIZE COUNT: kofi_pingpong with itself; both ends poll, too
poll_run()
{
	modprobe kofi_pingpong role=both cq=poll check=0 sizes="$1" iters="$2" addr=$NODE port=$PORT || return
	[ "$(timeout "$LIMIT" cat $pp/wait)" = ok ]
	status=$?
	cat $pp/results >/tmp/kernel
	rmmod kofi_pingpong && [ $status -eq 0 ] && xfer_ns "$1" </tmp/kernel
}

# callback_run SIZE COUNT: the ping-pong of lat.*, kOFI's side alone
callback_run()
{
	echo "user pingpong size=$1 count=$2 rounds=1 side=kofi node=$NODE $user_way" >$perf/run &&
		awk '{ print $5 / $6 }' $perf/samples
}

# against_user CASE SIZE COUNT ROUNDS FUNCTION
against_user()
{
	round=0
	while [ $round -lt "$4" ]; do
		round=$((round + 1))
		kernel=$($5 "$2" "$3") || { trouble "$1" "the kernel's ping-pong"; return; }
		process=$(user_run "$2" "$3") || { trouble "$1" "fi_pingpong: $(cat /tmp/client)"; return; }
		echo "sample $1 kofi ns $round $kernel 1"
		echo "sample $1 raw ns $round $process 1"
	done
}

user()
{
	against_user "$@" callback_run
}

# libfabric 1.17 has endpoints without connections as the provider net
user_tcp()
{
	user_prov=tcp
	user_way="prov=tcp ctx=process base=sock"
	user "$@"
}

user_rdm()
{
	user_prov=net user_ep=rdm
	user_way="prov=tcp ep=rdm ctx=process base=msg"
	user "$@"
}

# As many peers as rxe's queues have room for
user_rxm()
{
	export FI_UNIVERSE_SIZE=32
	user_prov="verbs;ofi_rxm" user_ep=rdm
	user_way="prov=verbs;ofi_rxm ep=rdm base=msg"
	user "$@"
}

user_poll()
{
	against_user "$@" poll_run
}

# disks_up: two subsystems with one RAM disk, one by each host; once
disks_up()
{
	[ -z "$disks" ] || return 0
	modprobe -a nvme_fabrics nvme_rdma kofi_nvme || return
	for host in kofi rdma; do
		nqn=nqn.2026-01.org.example:$host
		subsystem_up || return
		if [ $host = kofi ]; then
			port_up 1 "$addr"
		else
			ln -s "$cfg/subsystems/$nqn" "$cfg/ports/1/subsystems/"
		fi
		nvme connect -t $host -a "$addr" -s 4420 -n "$nqn" --hostnqn="$hostnqn" \
			--hostid="$hostid" --nr-io-queues=1 || return
		tries=0
		until disk; do
			tries=$((tries + 1))
			[ $tries -lt 100 ] || return
			usleep 100000
		done
		disks="$disks $host=$dev"
	done
}

disks_down()
{
	nvme disconnect-all && rmmod kofi_nvme
}

# fio_ns RW BS DEPTH COUNT: nanoseconds of $dev, for COUNT operations in all
fio_ns()
{
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --rw="$1" --bs="$2" \
		--iodepth="$3" --number_ios="$4" --size=48m --io_size=1g --randrepeat=1 \
		--output-format=terse --terse-version=3 >/tmp/fio || return
	# Terse: completed KiB and mean latency in us, reads from column 6, writes from 47
	awk -F ';' -v depth="$3" -v count="$4" '
		{ at = $6 > 0 ? 40 : 81; n++; ns = $at * 1000 * count / depth }
		END { if (n != 1 || ns <= 0) exit 1; printf "%.0f\n", ns }' /tmp/fio
}

# disk_io CASE RW BS DEPTH COUNT ROUNDS: the hosts take turns. With DEPTH in flight all the
# time an operation begins when one ends, so the time of all is their latencies' sum over
# DEPTH; fio's own is in milliseconds.
disk_io()
{
	disks_up >/tmp/out 2>&1 || { trouble "$1" "no disks: $(tail -n 1 /tmp/out)"; return; }
	unit=ns
	[ "$4" -eq 1 ] || unit=rate
	round=0
	: >/tmp/lines
	while [ $round -lt "$6" ]; do
		round=$((round + 1))
		for side in $disks; do
			dev=${side#*=}
			ns=$(fio_ns "$2" "$3" "$4" "$5") ||
				{ trouble "$1" "fio: $(tail -n 1 /tmp/fio)"; return; }
			side=${side%=*}
			[ "$side" = kofi ] || side=raw
			echo "$1 $side $unit $round $ns $5" >>/tmp/lines
		done
	done
	as_measured </tmp/lines
}

# cases PART: those of ROWS
cases()
(
	set -f
	"cases_$1" | while read -r key words; do
		for row in ${ROWS:-*} -; do
			# shellcheck disable=SC2254 # a pattern
			case $key in
			$row) echo "$key $words"; break ;;
			esac
		done
	done
)

# run_cases: those on stdin
run_cases()
{
	while read -r key test words; do
		[ "$key" = - ] || echo "case $key"
		# shellcheck disable=SC2086 # a list of words
		case $test in
		again | beside | cpus | disk_io | exactly | held | insn_all | insn_hooked | insn_kfi | meets | memory | \
			memory_kfi | memory_of | refused | user | user_poll | user_rdm | user_rxm | user_tcp) $test "$key" $words ;;
		*) perf_case "$key" "$test" $words ;;
		esac
	done
}

# shellcheck source=scripts/guest/nvmet.sh
. "${0%/*}/nvmet.sh"

part=$1
guest=1
disks=
if [ "$part" = disk ] && [ "$2" = up ]; then
	modprobe -a kofi kofi_verbs && disks_up >/tmp/out 2>&1 && echo "$disks" >/tmp/disks
	exit
fi
if [ "$part" = disk ]; then
	[ "$2" = kofi ] && side=kofi || side=rdma
	dev=$(sed -n "s/.*$side=\([^ ]*\).*/\1/p" /tmp/disks)
	fio_ns "$3" 4k 1 "$4" >/dev/null
	exit
fi
user_prov=verbs
user_ep=msg
user_way=
if [ "$part" = count ]; then
	cases "$2" | grep -vc '^-'
	exit
fi
guest=$2
before=$((guest * 100000))
modprobe -a kofi kofi_verbs kofi_tcp kofi_loop kofi_rxm kofi_perf || exit
# A file, as the loop's end in a pipe would be a process of its own.
cases "$part" >/tmp/cases
run_cases </tmp/cases
{ [ -z "$disks" ] || disks_down; } && rmmod kofi_perf && rmmod kofi_rxm kofi_verbs kofi_tcp kofi_loop || failed=$((failed + 1))
[ $failed -eq 0 ]
