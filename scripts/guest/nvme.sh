#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The host of clients/nvme against the stock target, nvmet-rdma, in one guest: cases by
# name, each of which begins without a controller and ends so.
#
# usage: nvme.sh CASE...; nvme.sh list KERNEL
# Prints KTAP; the first case that fails is the last one, and the exit status 1.
# shellcheck disable=SC2317  # cases are called by name

# shellcheck source=scripts/guest/nvmet.sh
. "${0%/*}/nvmet.sh"
# shellcheck source=scripts/guest/leaks.sh
. "${0%/*}/leaks.sh"
# shellcheck source=scripts/guest/cases.sh
. "${0%/*}/cases.sh"

# How a controller is connected; reconnecting comes fast, so that cases are short.
transport=${KOFI_NVME_TRANSPORT:-kofi}
# KASAN makes I/O ten times slower: a quarter of it
size=16m
case $(uname -r) in
*-debug* | *-uml*) size=4m ;;
esac
dbg_fault=/sys/kernel/debug/kofi_hook_fault
host=(--hostnqn="$hostnqn" --hostid="$hostid" --reconnect-delay=1 --ctrl-loss-tmo=120)

# fail REASON: ends the case
fail()
{
	echo "# $*"
	# What a reader wants to see next
	for c in /sys/class/nvme/nvme*; do
		[ -e "$c/state" ] && echo "    ${c##*/}: $(cat "$c/state")"
	done
	exit 1
}

run()
{
	"$@" >/tmp/out 2>&1 || fail "$* exits with $?: $(tail -n 3 /tmp/out | tr '\n' ' ')"
}

# await SECONDS WHAT CMD...: until CMD succeeds
await()
{
	local limit=$(($1 * 10)) what=$2 n=0

	shift 2
	until "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		[ "$n" -lt "$limit" ] || fail "$what: not within $((limit / 10)) s"
		usleep 100000
	done
}

# connect [options of nvme connect]
connect()
{
	run nvme connect -t "$transport" -a "$addr" -s 4420 -n "$nqn" "${host[@]}" "$@"
	await 10 "the disk appears" disk
}

no_controller()
{
	[ -z "$(ls /sys/class/nvme 2>/dev/null)" ]
}

disconnect()
{
	run nvme disconnect -n "$nqn"
	await 10 "the controller goes" no_controller
}

ctrl_state()
{
	local c

	for c in /sys/class/nvme/nvme*/state; do
		read -r state <"$c" 2>/dev/null && [ "$state" = "$1" ] && return 0
	done
	return 1
}

# verify NAME [options of fio]: written, and read back with checksums
verify()
{
	local name=$1

	shift
	run fio --name="$name" --filename="$dev" --direct=1 --ioengine=libaio \
		--rw=randrw --verify=crc32c --verify_fatal=1 --do_verify=1 \
		--size="$size" --bsrange=512-1m --bs_unaligned=0 --blockalign=512 \
		--output=/tmp/fio.out "$@"
}

# in_background CMD...: its process number is $io
in_background()
{
	"$@" >/tmp/bg.out 2>&1 &
	io=$!
}

# I/O that goes on for $1 seconds and notices what is wrong on the disk
io_for()
{
	in_background fio --name=under --filename="$dev" --direct=1 --ioengine=libaio \
		--iodepth=8 --rw=randwrite --bs=4k --size=8m --time_based --runtime="$1" \
		--verify=crc32c --verify_fatal=1 --verify_backlog=256
	await 10 "fio writes" writes
}

writes()
{
	local f

	read -r -a f <"/sys/block/${dev##*/}/stat"
	[ "${f[4]}" -gt 0 ]
}

io_ends()
{
	wait "$io" || fail "I/O ends with $?: $(tail -n 3 /tmp/bg.out | tr '\n' ' ')"
}

# io_stops: before its time; fio exits with 128 when a signal has stopped it
io_stops()
{
	local status=0

	kill -TERM "$io"
	wait "$io" || status=$?
	if [ "$status" -ne 128 ] || ! grep -q "^under: .*err= 0" /tmp/bg.out; then
		fail "I/O ends with $status: $(tail -n 3 /tmp/bg.out | tr '\n' ' ')"
	fi
}

dmesg_has()
{
	dmesg | grep -q "$1"
}

case_connect()
{
	connect
	[ "$(cat /sys/class/nvme/nvme*/transport)" = "$transport" ] || fail "another transport"
	run nvme id-ctrl "$(echo /dev/nvme[0-9])"
	disconnect
}

case_files()
{
	connect
	run mkfs.ext4 -q -F "$dev"
	mkdir -p /mnt
	run mount -t ext4 "$dev" /mnt
	mkdir /mnt/tree
	run cp -r /kofi /sbin /lib/modules /mnt/tree/
	(cd /mnt/tree && find . -type f | sort | xargs sha256sum) >/tmp/sums
	run umount /mnt
	echo 3 >/proc/sys/vm/drop_caches
	disconnect
	connect
	run mount -t ext4 "$dev" /mnt
	(cd /mnt/tree && run sha256sum -c /tmp/sums)
	files=$(wc -l </tmp/sums)
	echo "    $files files, checksums equal after a new mount"
	run umount /mnt
	disconnect
}

case_verify()
{
	local depth

	connect --nr-io-queues=2
	for depth in 1 8 64; do
		verify "depth$depth" --iodepth="$depth"
	done
	verify threads --numjobs=2 --thread --iodepth=16 --size=$((${size%m} / 2))m \
		--offset_increment=8m
	disconnect
}

case_polled()
{
	connect --nr-io-queues=1 --nr-poll-queues=1
	run fio --name=polled --filename="$dev" --direct=1 --ioengine=pvsync2 --hipri=1 \
		--rw=randrw --bs=4k --size=$((${size%m} / 4))m --verify=crc32c --verify_fatal=1 \
		--output=/tmp/fio.out
	disconnect
}

case_passthru()
{
	local dir=/tmp/pass

	connect
	mkdir -p "$dir"
	dd if=/dev/urandom of="$dir/in" bs=4k count=8 2>/dev/null
	run nvme io-passthru "$dev" --opcode=1 --namespace-id=1 --data-len=32768 --write \
		--cdw10=0 --cdw12=$((32768 / 512 - 1)) --input-file="$dir/in"
	nvme io-passthru "$dev" --opcode=2 --namespace-id=1 --data-len=32768 --read \
		--cdw10=0 --cdw12=$((32768 / 512 - 1)) --raw-binary >"$dir/out" 2>/tmp/out ||
		fail "reading through: $(cat /tmp/out)"
	cmp -s "$dir/in" "$dir/out" || fail "what was read is not what was written"
	nvme admin-passthru "$(echo /dev/nvme[0-9])" --opcode=0xff >/tmp/out 2>&1 &&
		fail "an unknown command succeeded"
	disconnect
}

# Looking for namespaces is what a recovery does, too, but the event of the target is enough
case_rescan()
{
	connect
	dmesg -c >/dev/null
	namespace_up 2
	await 10 "a new namespace appears" test -b "${dev%n1}n2"
	echo 0 >"$cfg/subsystems/$nqn/namespaces/2/enable"
	rmdir "$cfg/subsystems/$nqn/namespaces/2"
	await 10 "a removed namespace goes" test ! -b "${dev%n1}n2"
	! dmesg_has "unexpected response" || fail "the host does not expect the event"
	disconnect
}

case_reset()
{
	local i

	connect
	io_for 12
	for i in 1 2 3 4 5; do
		run nvme reset "$(echo /dev/nvme[0-9])"
		await 20 "reset $i ends" ctrl_state live
	done
	io_ends
	disconnect
}

# The target goes and comes back while I/O waits for it
case_target()
{
	connect
	io_for 12
	port_down 1
	await 20 "the host notices" ctrl_state connecting
	await 20 "an attempt to reconnect fails" dmesg_has "attempt 1 of"
	port_up 1 "$addr"
	await 30 "the host is connected again" ctrl_state live
	io_ends
	disconnect
}

case_device()
{
	connect
	io_for 12
	rdma link delete rxe0 || fail "cannot delete rxe0"
	await 20 "the host notices" ctrl_state connecting
	# The target's listener went with the device
	port_down 1
	/kofi/guest/rxe.sh || fail "no new rxe0"
	port_up 1 "$addr"
	await 30 "the host is connected again" ctrl_state live
	io_ends
	disconnect
}

# Two paths to one disk: each goes while there is I/O
case_paths()
{
	ip addr add 10.77.0.2/24 dev dummy0
	await 10 "rxe0 has the address" \
		grep -q 'ffff:0a4d:0002$' /sys/class/infiniband/rxe0/ports/1/gids/0 \
		/sys/class/infiniband/rxe0/ports/1/gids/{1,2,3,4,5}
	port_up 2 10.77.0.2
	connect
	run nvme connect -t "$transport" -a 10.77.0.2 -s 4420 -n "$nqn" "${host[@]}"
	[ "$(find /sys/class/nvme -type l | wc -l)" -eq 2 ] || fail "no second path"
	io_for 15
	port_down 2
	await 20 "a path is lost" ctrl_state connecting
	port_up 2 10.77.0.2
	await 30 "it comes back" no_path_missing
	port_down 1
	await 20 "the other path is lost" ctrl_state connecting
	port_up 1 "$addr"
	await 30 "it comes back" no_path_missing
	io_ends
	disconnect
	port_down 2
	ip addr del 10.77.0.2/24 dev dummy0
}

no_path_missing()
{
	! ctrl_state connecting
}

# faults RULE [SEED]: from now on this goes wrong
faults()
{
	echo clear >"$dbg_fault/rules"
	echo "$1" >"$dbg_fault/rules"
	echo "${2:-1}" >"$dbg_fault/seed"
}

# fault_fired: how often; it has to be more than never
fault_fired()
{
	sed 's/^/    /' "$dbg_fault/rules"
	! grep -q ': 0 of' "$dbg_fault/rules" || fail "nothing went wrong"
}

# Whatever the provider does, the data are right and I/O goes on: calls that are refused,
# completions that come late, operations that fail, connections that end
case_faults()
{
	modprobe kofi_hook_fault
	echo ofi_hook_fault >/sys/module/kofi/parameters/hooks
	faults "tx,rx again chance=200"
	dmesg -c >/dev/null
	# So few receives that they run out if those that were refused are not posted again
	connect --nr-io-queues=2 --queue-size=16
	for seed in $(seq "${SEEDS:-1}"); do
		faults "tx,rx again chance=200" "$seed"
		verify "again-$seed" --iodepth=16 --bsrange=512-8k --size=$((${size%m} / 4))m
		fault_fired
		! dmesg_has "queue [12]: command .* has timed out" ||
			fail "a queue has no receives any more"
		faults "any delay 5 chance=200" "$seed"
		verify "late-$seed" --iodepth=16 --size=$((${size%m} / 4))m
		fault_fired
	done
	io_for $((300 * ${SEEDS:-1}))
	for seed in $(seq "${SEEDS:-1}"); do
		for rule in "send fail 5 times=2 chance=5" "rx shutdown times=2 chance=3" \
			"send error 5 times=2 chance=5"; do
			faults "$rule" "$seed"
			await 30 "$rule, seed $seed: it happens" fault_over
			await 30 "$rule, seed $seed: the host is connected again" ctrl_state live
			fault_fired
		done
	done
	faults "open error 12 times=3"
	# It waits for an end of the reset, which is a failure at first
	nvme reset "$(echo /dev/nvme[0-9])" >/tmp/out 2>&1
	await 30 "the host is connected again" ctrl_state live
	fault_fired
	echo clear >"$dbg_fault/rules"
	io_stops
	disconnect
	echo >/sys/module/kofi/parameters/hooks
	run rmmod kofi_hook_fault
}

# A rule with times=2 has done what it does
fault_over()
{
	grep -q ': 2 of' "$dbg_fault/rules"
}

# What a user gets wrong is said, and leaves nothing behind
case_refused()
{
	nvme connect -t "$transport" -a "$addr" -s 4420 -n nqn.nobody "${host[@]}" >/tmp/out 2>&1 &&
		fail "a subsystem that is not there"
	nvme connect -t "$transport" -a "$addr" -s 4499 -n "$nqn" "${host[@]}" >/tmp/out 2>&1 &&
		fail "a port that is not there"
	nvme connect -t "$transport" -a 192.0.2.1 -s 4420 -n "$nqn" "${host[@]}" >/tmp/out 2>&1 &&
		fail "an address without a device"
	echo "transport=$transport,traddr=nowhere,nqn=$nqn" >/dev/nvme-fabrics 2>/dev/null &&
		fail "an address that is none"
	no_controller || fail "a controller is left"
	connect
	nvme connect -t "$transport" -a "$addr" -s 4420 -n "$nqn" "${host[@]}" >/tmp/out 2>&1 &&
		fail "the same controller twice"
	disconnect
}

# Unloading deletes the controllers
case_unload()
{
	connect
	run rmmod kofi_nvme
	no_controller || fail "a controller is left"
	run modprobe kofi_nvme
	connect
	disconnect
}

# A target that breaks the standard, at port 4430, with one I/O queue
hostile_up()
{
	: >/tmp/target.out
	/kofi/files/nvme-target "$addr" 4430 "$1" >/tmp/target.out 2>&1 &
	hostile=$!
	await 10 "the target listens" grep -q listening /tmp/target.out
	dmesg -c >/dev/null
}

hostile_connect()
{
	timeout 60 nvme connect -t "$transport" -a "$addr" -s 4430 -n "$nqn" "${host[@]}" \
		--nr-io-queues=1 "$@" >/tmp/out 2>&1
}

hostile_down()
{
	kill "$hostile"
	wait "$hostile" 2>/dev/null
}

# Each has to keep the controller from coming up, and nothing may be left.  By itself rdma_cm would
# try for a minute to connect
case_setups()
{
	local fault status start

	for fault in $(/kofi/files/nvme-target --setups); do
		hostile_up "$fault"
		start=$(uptime_cs)
		hostile_connect
		status=$?
		[ "$status" -eq 1 ] || fail "$fault: nvme connect exits with $status"
		[ "$fault" != no-reply ] || [ $(($(uptime_cs) - start)) -lt 2000 ] ||
			fail "$fault: the attempt took $((($(uptime_cs) - start) / 100)) s"
		no_controller || fail "$fault: a controller is left"
		echo "    $fault: $(tail -n 1 /tmp/out)"
		hostile_down
	done
}

# sane: the target's answer is good, and the data are its own
sane()
{
	nvme admin-passthru "$(echo /dev/nvme[0-9])" --opcode=0xc6 --read --data-len=4096 \
		--raw-binary >/tmp/sane 2>/tmp/out && cmp -s /tmp/sane /tmp/wanted
}

# The controller recovers from each, and can be used again
case_answers()
{
	local fault n=0

	/kofi/files/nvme-target --data >/tmp/wanted
	hostile_up answers
	hostile_connect || fail "$(tail -n 1 /tmp/out)"
	sane || fail "no good answer at first"
	for fault in $(/kofi/files/nvme-target --answers); do
		dmesg -c >/dev/null
		nvme admin-passthru "$(echo /dev/nvme[0-9])" --opcode=0xc2 --read --cdw10="$n" \
			--data-len=4096 --timeout=2000 >/tmp/ask 2>&1
		await 20 "$fault: the host notices" dmesg_has "starting error recovery"
		await 20 "$fault: the controller is live again" ctrl_state live
		sane || fail "$fault: no good answer afterwards"
		echo "    $fault: $(tail -n 1 /tmp/ask | cut -c1-60)"
		n=$((n + 1))
	done
	[ "$n" -gt 10 ] || fail "hardly any fault"
	disconnect
	hostile_down
}

# A status that says so ends the attempts to connect again, another one does not
case_status()
{
	hostile_up busy
	hostile_connect --keep-alive-tmo=2 --reconnect-delay=1 || fail "$(tail -n 1 /tmp/out)"
	await 30 "the host tries again" dmesg_has "attempt 1 of .* has failed"
	await 30 "the second attempt is good" dmesg_has "reconnected, attempt 2"
	disconnect
	hostile_down
	hostile_up final
	hostile_connect --keep-alive-tmo=2 --reconnect-delay=1 || fail "$(tail -n 1 /tmp/out)"
	await 30 "the host gives up" dmesg_has "no more attempts to reconnect"
	await 30 "the controller goes" no_controller
	! dmesg_has "attempt 2 of" || fail "the host has tried again"
	hostile_down
}

# memory_pass FIRST: of case_memory(), which has the variables: failures from this number on
memory_pass()
{
	local nth=$(($1 - stride)) left=0

	until [ "$left" -gt 0 ]; do
		nth=$((nth + stride * (nth < 100 ? 1 : 23)))
		left=$(bash -c 'exec 7</proc/self/fail-nth 8>/proc/self/fail-nth 9<>/dev/nvme-fabrics
			echo "$1" >&8
			echo "$2" >&9
			status=$?
			read -r left <&7
			echo 0 >&8
			echo "$left"
			exit $status' memory "$nth" "$opts" 2>/tmp/out) && {
			worked=$((worked + 1))
			await 30 "after failure $nth: the disk" disk
			run dd if="$dev" of=/dev/null bs=64k count=1
			disconnect
			continue
		}
		refused=$((refused + 1))
		no_controller || fail "a controller is left after failure $nth"
	done
}

# Each allocation that connecting makes in the caller's context fails once: an error, or a
# controller that works.  Points are tried one by one at first; later ones mostly repeat
# for one more region or tag, and every 23rd is tried.  With STRIDE=n every nth of
# these is tried, beginning with one of the first n, another one each time; and from the next one on,
# too, until enough have been refused, or all have been tried.
case_memory()
{
	local stride=${STRIDE:-1} refused=0 worked=0 opts what first pass=0

	first=$((RANDOM % stride))
	echo "    one of $stride failures, from number $((first + 1)) on"

	opts="transport=$transport,traddr=$addr,trsvcid=4420,nqn=$nqn,nr_io_queues=1"
	opts+=",queue_size=16,hostnqn=$hostnqn,hostid=$hostid"
	for what in failslab fail_page_alloc; do
		echo N >"/sys/kernel/debug/$what/ignore-gfp-wait"
		echo 0 >"/sys/kernel/debug/$what/verbose"
	done
	while [ "$refused" -le $((50 / stride)) ] && [ "$pass" -lt "$stride" ]; do
		memory_pass $(((first + pass) % stride + 1))
		pass=$((pass + 1))
	done
	echo "    $refused times refused, $worked times it worked, in $pass of $stride passes"
	[ "$refused" -gt $((50 / stride)) ] || fail "hardly any failure was injected"
}

# A target that does not answer keep-alives is given up, and connected to again
case_keepalive()
{
	hostile_up no-answer-to-keep-alive
	hostile_connect --keep-alive-tmo=2 || fail "$(tail -n 1 /tmp/out)"
	await 20 "the host notices" dmesg_has "starting error recovery"
	await 20 "the controller is live again" ctrl_state live
	disconnect
	hostile_down
}

# The last case: our modules have gone, and what they have lost is found
case_leaks()
{
	leaks_watched || fail "this kernel does not watch for leaks"
	leaks_names
	run rmmod kofi_nvme kofi_verbs kofi
	! leaks_found || fail "memory is lost; see above"
}

cases="connect files verify polled passthru rescan refused reset target device paths"
cases+=" faults setups answers keepalive status unload"
# What goes wrong is also for the kernel that looks for faults, which takes minutes for
# each, so those that mostly wait come first. What injects failures of memory, and what finds
# lost memory, is in no other.
case $2 in
debug | uml) cases="answers status unload setups verify reset device faults memory leaks" ;;
esac
if [ "$1" = list ]; then
	tr ' ' '\n' <<<"$cases"
	exit 0
fi
# Where memory fails on purpose, the kernel's own accounts of memory would warn, too
case " $* " in
*" memory "*) echo 0 >/proc/sys/vm/mem_profiling ;;
esac
modprobe -qa nvme_fabrics kofi_verbs ib_uverbs rdma_ucm || exit 1
# What the target leaves unanswered need not take a minute
echo 5 >/sys/module/nvme_core/parameters/admin_timeout
modprobe kofi_nvme || { echo "kofi_nvme cannot be loaded; see the console"; exit 1; }
plan $#
for case in "$@"; do
	(
		target_up || fail "no target: is nvmet_rdma there?"
		"case_$case"
		[ $? -ne 127 ] || fail "case_$case, or its last command, is missing"
		target_down
		exit 0
	)
	verdict "$case" $? || break
done
[ ! -d /sys/module/kofi_nvme ] || [ "$failed" -eq 1 ] || rmmod kofi_nvme ||
	{ echo "kofi_nvme stays in use"; failed=1; }
exit "$failed"
