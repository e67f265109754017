#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Interoperation of kofi_interop.ko with /kofi/files/interop, which uses the
# libfabric of this guest, or that of /kofi/files/libfabric, or with MACHINE=s390x that alone,
# which is then for such a machine and has an emulator: for each plan
# (kunit/interop/plan.c) first the kernel connects, then the process does. Prints a
# table for each, its cases as KTAP, and what both ends had to say. Exits 0 only when all is well.
#
# The ends count for themselves; a case is ok when both have counted the same and
# neither has found anything wrong. If one end gives up, the other one does, too,
# when nothing has come for a minute.

V4=10.77.0.1
SERVICE=7473
LIMIT=${LIMIT:-400}
# Of fi_pingpong; sourced below
ITER=2
SIZES=all
dbg=/sys/kernel/debug/kofi_interop

# kernel STEP
kernel()
{
	timeout "$LIMIT" sh -c "echo '$1' >$dbg/step" 2>/tmp/kernel.err
}

# process ARGUMENTS
process()
{
	# shellcheck disable=SC2086 # a command line, or nothing
	timeout "$LIMIT" $loader /kofi/files/interop "$@" 2>/tmp/user.err
}

# join_reports RUN CONNECTS LISTENS LENGTHS CASES: the table and the cases, from
# /tmp/kernel and /tmp/user. Each of so many lengths of connection data comes once in
# each kind, in a request twice, as each is both rejected and accepted; none come if LENGTHS
# is 0.
join_reports()
{
	awk -v run="$1" -v connects="$2" -v listens="$3" -v lengths="$4" -v cases="$5" '
	$1 == "libfabric" { next }
	{
		why = ""
		for (i = 6; i <= NF; i++)
			why = why (i > 6 ? " " : "") $i
		key = $1 " " $2
		n[FILENAME, key] = $3
		bytes[FILENAME, key] = $4
		bad[FILENAME, key] = $5 ? why : ""
	}
	function judge(key, want,	k, u) {
		k = "/tmp/kernel" SUBSEP key
		u = "/tmp/user" SUBSEP key
		if (bad[k] && bad[u]) return "the kernel: " bad[k] "; the process: " bad[u]
		if (bad[k]) return "the kernel: " bad[k]
		if (bad[u]) return "the process: " bad[u]
		if (!n[k] || !n[u]) return "was not done"
		if (n[k] != n[u] || bytes[k] != bytes[u])
			return "the kernel counts " n[k] " and " bytes[k] " bytes, the process " n[u] " and " bytes[u]
		if (want && n[k] != want) return n[k] " times instead of " want
		return ""
	}
	function row(by, what, want,	text) {
		text = judge(by " " what, want)
		printf "%-8s %-14s %6d %10d %10d\n", by, what,
			n["/tmp/kernel", by " " what], bytes["/tmp/kernel", by " " what], bytes["/tmp/user", by " " what]
		print run "/" what "-by-" by, text >"/tmp/verdicts"
	}
	END {
		printf "%-8s %-14s %6s %10s %10s\n", "by", "what", "times", "kernel B", "process B"
		if (lengths) {
			row(connects, "request", 2 * lengths)
			row(listens, "accept", lengths)
			row(listens, "reject", lengths)
		}
		split(connects " " listens, by)
		last = split(cases, what)
		for (i = 1; i <= 2; i++)
			for (j = 1; j <= last; j++)
				row(by[i], what[j], 0)
	}' /tmp/kernel /tmp/user
	while read -r name why; do
		verdict "$name"
	done </tmp/verdicts
}

# ended RUN CONNECTS KERNEL_STATUS USER_STATUS: both ends have come to their end.
ended()
{
	cat $dbg/report >/tmp/kernel
	sed 's/^/    process: /' /tmp/user.err
	case $plan in
	verbs) set -- "$@" 56 "write read writedata fetch-add compare-swap" ;;
	rdm-pairs | rxm-pairs) set -- "$@" 0 "meet av" ;;
	rxm-dyn) set -- "$@" 0 "senddata message tagged late tagged-late cancel" ;;
	rxm-write) set -- "$@" 0 "senddata message tagged late tagged-late cancel cut" ;;
	rxm-iwarp) set -- "$@" 0 "write read fetch-add compare-swap message tagged late tagged-late cancel cut" ;;
	rxm-tcp | rxm-verbs) set -- "$@" 0 "write read writedata fetch-add compare-swap senddata message tagged late tagged-late cancel cut" ;;
	rdm | rdm-contexts) set -- "$@" 0 "write read writedata senddata delivery message tagged late tagged-late cancel" ;;
	tcp-brief) set -- "$@" 9 "write read writedata senddata delivery commit" ;;
	*) set -- "$@" 257 "write read writedata senddata delivery commit" ;;
	esac
	case $2 in
	kernel) join_reports "$1" kernel user "$5" "$6" ;;
	*) join_reports "$1" user kernel "$5" "$6" ;;
	esac
	[ "$3" -eq 0 ] && [ "$4" -eq 0 ] && grep -qx "libfabric $version" /tmp/user
	verdict "$1/ends" $? "the kernel: $3 $(cat /tmp/kernel.err), the process: $4, $(grep ^libfabric /tmp/user)"
	echo
}

# kernel_connects RUN: as $plan says
kernel_connects()
{
	rm -f /tmp/says
	mkfifo /tmp/says
	process listen "$plan" $V4 $SERVICE >/tmp/says &
	pid=$!
	exec 3</tmp/says
	read -r line <&3 && echo "$line" >/tmp/user
	if read -r line <&3 && [ "$line" = listening ]; then
		kernel "connect $plan"
		status=$?
	else
		status=1
		echo "the process does not listen" >/tmp/kernel.err
	fi
	cat <&3 >>/tmp/user
	wait $pid
	ended "$1" kernel $status $?
}

# user_connects RUN: as $plan says
user_connects()
{
	if ! kernel "listen $plan"; then
		verdict "$1/ends" 1 "the kernel does not listen: $(cat /tmp/kernel.err)"
		return
	fi
	kernel serve &
	pid=$!
	process connect "$plan" $V4 $SERVICE >/tmp/user
	status=$?
	wait $pid
	ended "$1" user $? $status
}

# captured NAME FUNCTION: a run of which all segments go to scripts/interop, whose case
# it is to look into them.
captured()
{
	capture_begin $V4 $SERVICE || { verdict "$1/capture" 1 "tcpdump does not start"; return; }
	$2 "$1"
	if capture_end; then
		capture_print "$1" /tmp/kernel
	else
		verdict "$1/capture" 1 "tcpdump gave not all"
	fi
}

# captured_pingpong FUNCTION NAME PROVIDER: as captured, of a ping-pong, whose endpoints have any ports
captured_pingpong()
{
	capture_begin $V4 1024 65534 || { verdict "$2/capture" 1 "tcpdump does not start"; return; }
	$1 "$2" $V4 "$3"
	if capture_end; then
		echo "libfabric $version" >/tmp/kernel
		capture_print "$2" /tmp/kernel
	else
		verdict "$2/capture" 1 "tcpdump gave not all"
	fi
}

# pairs NAME PLAN: many pairs of endpoints, both of which dial. Their ports come behind those of the
# two that are there before. Each has a domain, for which libfabric 2.1 takes 16 MiB if it may.
pairs()
{
	capture_begin $V4 $((SERVICE + 2)) $((SERVICE + 65)) ||
		{ verdict "$1/attempts" 1 "tcpdump does not start"; return; }
	plan=$2 dialled=''
	export FI_TCP_MAX_RX_SIZE=512
	kernel_connects "$1"
	unset FI_TCP_MAX_RX_SIZE
	capture_end && dialled=$(capture_dialled)
	[ "$dialled" = 64 ]
	verdict "$1/attempts" $? "of 64 ends ${dialled:-an unknown number} were dialled"
}

# rxm_dyn: 1.17 as it is by default, with dynamic receive buffers: its tagged messages have no header
# of ofi_rxm. Then it counts nothing that does not fit, so there is no case for that.
rxm_dyn()
{
	plan=rxm-dyn
	unset FI_OFI_RXM_ENABLE_DYN_RBUF
	kernel_connects rxm-$version-dyn/kernel-connects
	user_connects rxm-$version-dyn/user-connects
	export FI_OFI_RXM_ENABLE_DYN_RBUF=0
}

# rxm_write: libfabric and kofi_rxm have messages on offer written by their sender
rxm_write()
{
	plan=rxm-write
	export FI_OFI_RXM_USE_RNDV_WRITE=1
	echo 1 >/sys/module/kofi_rxm/parameters/use_rndv_write
	kernel_connects rxm-$version-write/kernel-connects
	user_connects rxm-$version-write/user-connects
	sizes=$SIZES SIZES=200000
	captured_pingpong kernel_server rxm-$version-write/pingpong-user-sends "tcp;ofi_rxm"
	captured_pingpong kernel_client rxm-$version-write/pingpong-kernel-sends "tcp;ofi_rxm"
	SIZES=$sizes
	echo 0 >/sys/module/kofi_rxm/parameters/use_rndv_write
	unset FI_OFI_RXM_USE_RNDV_WRITE
}

# rxm_pairs NAME: the same by ofi_rxm, of which each endpoint of libfabric has some thousand buffers
# of the eager limit
rxm_pairs()
{
	if ! { rmmod kofi_rxm && modprobe kofi_rxm eager_limit=1024; }; then
		verdict "$1/ends" 1 "kofi_rxm does not load"
		return
	fi
	export FI_OFI_RXM_BUFFER_SIZE=1024
	pairs "$1" rxm-pairs
	unset FI_OFI_RXM_BUFFER_SIZE
	rmmod kofi_rxm
}

# plans_over_tcp PEER: all plans over tcp, with libfabric $version
plans_over_tcp()
{
	FI_PROVIDER=tcp
	plan=tcp-virtual
	kernel_connects "tcp-$1-virtual/kernel-connects"
	plan=tcp-offset
	user_connects "tcp-$1-offset/user-connects"
	plan=tcp-brief
	captured "tcp-$1-brief/kernel-connects" kernel_connects
	captured "tcp-$1-brief/user-connects" user_connects
}

# over_tcp: all there is over tcp, with libfabric $version
over_tcp()
{
	plans_over_tcp $version
	kernel_server tcp-$version/pingpong-user-connects $V4 tcp
	kernel_client tcp-$version/pingpong-kernel-connects $V4 tcp
	over_rdm
}

# rdm_refused NAME: the client has -e rdm and the server has not: both end soon, and the server
# says what is wrong
rdm_refused()
{
	pingpong_start role=server addr=$V4 prov=tcp ep=msg ||
		{ verdict "$1" 1 "kofi_pingpong did not load"; return; }
	timeout "$LIMIT" cat $dbg_pingpong/listening >/dev/null
	read -r begun rest </proc/uptime
	user_pingpong tcp $V4 >/tmp/user 2>&1
	status=$?
	read -r ended rest </proc/uptime
	pingpong_wait >/dev/null
	pingpong_stop
	echo "kernel server: $outcome; fi_pingpong: exit $status after $begun to $ended"
	[ $status -ne 0 ] && awk "BEGIN { exit !($ended - $begun < 10) }" &&
		case $outcome in
		*"start fi_pingpong with -e msg"*) true ;;
		*) false ;;
		esac
	verdict "$1" $? "kernel server: $outcome; fi_pingpong: exit $status, $begun to $ended"
}

# over_rdm: endpoints without connections, which libfabric 1.17 has under another name
over_rdm()
{
	EP=rdm
	if [ $version = 1.17 ]; then
		FI_PROVIDER=net USER_PROV=net
	fi
	kernel_server tcp-$version/rdm-pingpong-user-sends $V4 tcp
	kernel_client tcp-$version/rdm-pingpong-kernel-sends $V4 tcp
	rdm_refused tcp-$version/rdm-pingpong-refused
	plan=rdm
	kernel_connects tcp-$version-rdm/kernel-connects
	user_connects tcp-$version-rdm/user-connects
	plan=rdm-contexts
	kernel_connects tcp-$version-contexts/kernel-connects
	user_connects tcp-$version-contexts/user-connects
	pairs tcp-$version-pairs/kernel-connects rdm-pairs
	EP=msg USER_PROV=
}

# over_rxm_plans LOWER
over_rxm_plans()
{
	plan=rxm-$1
	kernel_connects "rxm-$version-$1/kernel-connects"
	user_connects "rxm-$version-$1/user-connects"
}

# over_rxm: endpoints without connections over those with. FI_PROVIDER names what is below; it leaves
# layers in. Stock sizes its completion queue for as many peers as FI_UNIVERSE_SIZE says, and
# rxe does not have that for 1024. Over tcp it has 4096 receives of 16 KiB, which 2.1 touches one by
# one before it says a word: User-Mode Linux takes longer for that than a peer waits.
over_rxm()
{
	export FI_PROVIDER=tcp FI_UNIVERSE_SIZE=32 FI_OFI_RXM_MSG_RX_SIZE=128 FI_OFI_RXM_ENABLE_DYN_RBUF=0
	EP=rdm USER_PROV=
	kernel_server rxm-$version/tcp-user-sends $V4 "tcp;ofi_rxm"
	kernel_client rxm-$version/tcp-kernel-sends $V4 "tcp;ofi_rxm"
	over_rxm_plans tcp
	[ $version != 1.17 ] || rxm_dyn
	rxm_write
	rxm_pairs rxm-$version-pairs/kernel-connects
	FI_PROVIDER=verbs
	# A megabyte takes long here over rxe
	sizes=$SIZES iter=$ITER SIZES=default ITER=5
	kernel_server rxm-$version/verbs-user-sends $V4 "verbs;ofi_rxm"
	kernel_client rxm-$version/verbs-kernel-sends $V4 "verbs;ofi_rxm"
	over_rxm_plans verbs
	SIZES=$sizes ITER=$iter
	unset FI_UNIVERSE_SIZE FI_OFI_RXM_MSG_RX_SIZE FI_OFI_RXM_ENABLE_DYN_RBUF
	EP=msg
}

# over_iwarp: endpoints without connections over siw, where each end counts what the other one
# takes. 2.1 says that it does not when it dials, and is refused. fi_pingpong of 1.17 may crash at
# the end of a run in which it dials (Documentation/interop.rst).
over_iwarp()
{
	export FI_PROVIDER=verbs FI_UNIVERSE_SIZE=32 FI_OFI_RXM_MSG_RX_SIZE=128
	EP=rdm USER_PROV='' SIZES=default ITER=5 plan=rxm-iwarp
	kernel_client rxm-$version/iwarp-kernel-sends $V4 "verbs;ofi_rxm"
	kernel_connects "rxm-$version-iwarp/kernel-connects"
	[ $version = 1.17 ] || return 0
	user_connects "rxm-$version-iwarp/user-connects"
}

# tagged_rma: kOFI's tagged reads and writes with itself, refused ones among them: cases of
# kofi_kfi_test on a kernel with KUnit, by the ports of the nets 1 and 2
tagged_rma()
{
	kunit=/sys/module/kunit/parameters/filter_glob
	capture_begin 127.0.0.1 20001 20002 ||
		{ verdict tagged-rma/capture 1 "tcpdump does not start"; return; }
	printf 'kofi_kfi_tags.*' >$kunit
	modprobe kofi_kfi_test
	results=$(grep -c '^  *ok .* tcp$' /sys/kernel/debug/kunit/kofi_kfi_tags/results)
	printf '*.*' >$kunit
	rmmod kofi_kfi_test kofi_client kofi_bulk kofi_kfi kofi_loop
	if capture_end; then
		echo "kernel cases $results" >/tmp/kernel
		capture_print tagged-rma /tmp/kernel
	else
		verdict tagged-rma/capture 1 "tcpdump gave not all"
	fi
}

# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh
# shellcheck source=scripts/guest/pingpong.sh
. /kofi/guest/pingpong.sh
# shellcheck source=scripts/guest/capture.sh
. /kofi/guest/capture.sh
# shellcheck source=scripts/guest/leaks.sh
. /kofi/guest/leaks.sh

# Other providers have nothing to do here, and psm3 talks while it looks around.
export FI_PROVIDER=verbs

# The packets of RoCE then have up to 4096 bytes, and there are a quarter as many.
ip link set dummy0 mtu 9000
echo "kernel $(uname -r), $(fi_info --version | tr '\n' ' ')"
modprobe -a kofi kofi_verbs kofi_tcp kofi_interop ||
	{ echo "the modules did not load"; exit 1; }
plan
read -r from rest </proc/uptime
libfabric=/kofi/files/libfabric
loader="$libfabric/ld.so --inhibit-cache --library-path $libfabric"
version=1.17
device=rxe0
if [ "${MACHINE:-}" = s390x ]; then
	loader="$libfabric/emulator $loader"
	plans_over_tcp s390x
else
	other=$loader
	loader='' plan=verbs
	kernel_connects kernel-connects
	user_connects user-connects
	over_tcp
	over_rxm
	loader=$other
	PINGPONG="$loader $libfabric/fi_pingpong"
	version=2.1
	over_tcp
	over_rxm
	[ ! -e /kofi/kofi_kfi_test.ko ] || tagged_rma
	# siw of other kernels sends wrong bytes. libfabric takes the first device that it finds
	case $(uname -r) in
	*-kofi-*)
		rdma link delete rxe0 && /kofi/guest/rxe.sh siw && device=siw0
		over_iwarp
		loader='' PINGPONG=fi_pingpong version=1.17
		over_iwarp
		;;
	esac
fi
read -r to rest </proc/uptime
awk "BEGIN { printf \"all took %.1f s\n\n\", $to - $from }"
leaks_names
rmmod kofi_interop && { [ ! -d /sys/module/kofi_rxm ] || rmmod kofi_rxm; } && rmmod kofi_tcp && rmmod kofi_verbs && rmmod kofi && rdma link delete $device
verdict unload $? "what could not be removed is named above"
if leaks_watched; then
	! leaks_found
	verdict leaks $? "see above"
fi
exit $failed
