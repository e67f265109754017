#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kofi_fabtests.ko against /kofi/files/fabtests, which speaks the script of fabtests with the
# libfabric of this guest, or that of /kofi/files/libfabric; and against itself over loop.
#
# usage: fabtests.sh; fabtests.sh list; RUNS="RUN..." has these runs alone, and loop
# Prints KTAP; exits 1 if a case failed. A case is ok when both ends end well and each has checked as
# many contents as it has to.

A=10.77.0.1
LIMIT=${LIMIT:-45}
dbg=/sys/kernel/debug/kofi_fabtests
# Of most tests; how much is checked follows from it
COUNTS="sizes=1024 iterations=100 window=16 verify=1"

# Each line: a name, how many contents the server and the client check, and the parameters of the
# module, from which peer_args() makes the program's options. "-" is for the version to say.
messages()
{
	cat <<-END
	msg 1 0 test=msg
	msg_pingpong 100 100 test=msg_pingpong $COUNTS
	msg_pingpong-empty 0 0 test=msg_pingpong sizes=0 iterations=20
	msg_pingpong-long 10 10 test=msg_pingpong sizes=300000 iterations=10 verify=1
	msg_bw 110 7 test=msg_bw $COUNTS
	msg_bw-windows 26 3 test=msg_bw sizes=5000 iterations=16 window=13 verify=1
	cq_data-msg 1 0 test=cq_data ep=msg
	rma_bw-msg-write - - test=rma_bw ep=msg $COUNTS op=write
	rma_bw-msg-read - - test=rma_bw ep=msg $COUNTS op=read
	rma_bw-msg-writedata - - test=rma_bw ep=msg $COUNTS op=writedata
	END
}

# without connections
datagrams()
{
	cat <<-END
	rdm 1 0 test=rdm
	rdm_pingpong 100 100 test=rdm_pingpong $COUNTS
	rdm_pingpong-names 50 50 test=rdm_pingpong sizes=100 iterations=50 verify=1 oob=addr
	rdm_tagged_pingpong 100 100 test=rdm_tagged_pingpong $COUNTS
	rdm_tagged_pingpong-sync 50 50 test=rdm_tagged_pingpong sizes=100 iterations=50 verify=1 oob=sync
	rdm_tagged_bw 110 7 test=rdm_tagged_bw $COUNTS
	rma_bw-rdm-write - - test=rma_bw $COUNTS op=write
	rma_bw-rdm-read - - test=rma_bw $COUNTS op=read
	rma_bw-rdm-writedata - - test=rma_bw $COUNTS op=writedata
	cq_data-rdm 1 0 test=cq_data
	unexpected_msg 80 80 test=unexpected_msg sizes=128 iterations=20 verify=1 oob=sync
	END
}

connection_data()
{
	echo "cm_data $1 $2 test=cm_data"
}

# only NAME...: of the lines on stdin, those with these names
only()
{
	awk -v names=" $* " 'index(names, " " $1 " ")'
}

# cases RUN: the lines of a run, whose name is PROVIDER-VERSION, or rxm_LOWER-VERSION. 2.1 and loop have
# all; a program takes a second to start, so 1.17 has a test of each kind, and 2.6 what has changed
# since 2.4
cases()
{
	case $1 in
	tcp-1.17)
		messages | only msg_pingpong msg_bw cq_data-msg rma_bw-msg-read
		datagrams | only rdm_pingpong-names rdm_tagged_pingpong rdm_tagged_bw \
			rma_bw-rdm-write rma_bw-rdm-writedata unexpected_msg
		connection_data 36 27
		;;
	tcp-2.6)
		messages | only rma_bw-msg-writedata
		datagrams | only rma_bw-rdm-write rdm_tagged_pingpong-sync
		;;
	rxm_*)
		datagrams | only rdm_pingpong-names rdm_tagged_pingpong rdm_tagged_bw \
			rma_bw-rdm-write rma_bw-rdm-read rma_bw-rdm-writedata unexpected_msg
		;;
	verbs-*)
		messages | only msg_pingpong msg_bw cq_data-msg rma_bw-msg-write rma_bw-msg-read \
			rma_bw-msg-writedata
		connection_data 24 18
		;;
	*)
		messages
		datagrams
		connection_data 36 27
		;;
	esac
}

runs=${RUNS:-tcp-1.17 tcp-2.1 tcp-2.6 verbs-1.17 rxm_tcp-1.17 rxm_tcp-2.1 rxm_verbs-1.17}

list()
{
	for run in $runs; do
		for role in server client; do
			cases "$run" | awk -v run="$run" -v role="$role" '{
				name = $1; sub(/[^ ]+ [^ ]+ [^ ]+ /, "")
				printf "%s/%s-kernel-%s %s\n", run, name, role, $0 }'
		done
	done
	cases loop | awk '{ name = $1; sub(/[^ ]+ [^ ]+ [^ ]+ /, ""); printf "loop/%s both ends in the kernel, %s\n", name, $0 }'
	echo "unload the modules can be removed"
}

[ "$1" != list ] || { list; exit; }
# shellcheck source=scripts/guest/cases.sh
. /kofi/guest/cases.sh

# peer_args WORD...: parameters of the module as options of the program
peer_args()
{
	for word; do
		value=${word#*=}
		case $word in
		test=*) printf '%s ' "$value" ;;
		sizes=*) printf '%s ' "-S $value" ;;
		iterations=*) printf '%s ' "-I $value" ;;
		window=*) printf '%s ' "-W $value" ;;
		op=*) printf '%s ' "-o $value" ;;
		ep=*) printf '%s ' "-e $value" ;;
		verify=1) printf '%s ' -v ;;
		oob=addr) printf '%s ' -E ;;
		oob=sync) printf '%s ' -b ;;
		*) echo "no option for $word" >&2 ;;
		esac
	done
}

# peer ARGUMENTS: the program, with the provider that this kind of endpoint has in $version
peer()
{
	provider=$prov
	case $run,$words in
	*ep=msg* | *test=msg* | *test=cm_data*) ;;
	tcp-1.17,*) provider=net ;;
	esac
	# shellcheck disable=SC2086 # command lines
	FI_PROVIDER=${provider%%;*} timeout "$LIMIT" $loader /kofi/files/fabtests $args -p $provider \
		-V "$version" "$@"
}

# kernel_load PARAMETERS
kernel_load()
{
	# shellcheck disable=SC2086 # several words
	timeout "$LIMIT" modprobe kofi_fabtests prov=$prov script="$version" $words "$@" 2>/tmp/load ||
		{ fail "the kernel: $(cat /tmp/load) $(dmesg | grep 'kofi_fabtests: error' | tail -n 1)"; return 1; }
}

# kernel_checked END NUMBER: the result is ok, and that end has checked so many contents
kernel_checked()
{
	timeout "$LIMIT" cat $dbg/result >/tmp/kernel || fail "the kernel does not end"
	[ "$(head -n 1 /tmp/kernel)" = ok ] || fail "the kernel: $(head -n 1 /tmp/kernel)"
	grep -q "^$1: .*, $2 contents checked$" /tmp/kernel ||
		fail "the kernel: $(grep "^$1" /tmp/kernel) instead of $2"
}

# peer_checked STATUS NUMBER
peer_checked()
{
	[ "$1" -eq 0 ] || fail "the program: exit $1, $(cat /tmp/user.err)"
	grep -q "^libfabric $libfabric$" /tmp/user || fail "the program: $(head -n 1 /tmp/user)"
	grep -q "^$2 contents checked$" /tmp/user ||
		fail "the program: $(tail -n 1 /tmp/user) instead of $2"
}

# kernel_server NAME CHECKS PEER_CHECKS
kernel_server()
{
	kernel_load background=1 src=$A || return
	peer $A >/tmp/user 2>/tmp/user.err
	peer_checked $? "$3"
	kernel_checked server "$2"
	rmmod kofi_fabtests || fail "it cannot be unloaded"
}

# kernel_client NAME CHECKS PEER_CHECKS
kernel_client()
{
	rm -f /tmp/says
	mkfifo /tmp/says
	peer -s $A >/tmp/says 2>/tmp/user.err &
	pid=$!
	exec 3</tmp/says
	: >/tmp/user
	while read -r line <&3; do
		echo "$line" >>/tmp/user
		[ "$line" != listening ] || break
	done
	if [ "$line" = listening ] && kernel_load node=$A; then
		kernel_checked client "$2"
		rmmod kofi_fabtests || fail "it cannot be unloaded"
	else
		fail "the program does not listen: $(cat /tmp/user.err)"
		kill $pid 2>/dev/null
	fi
	cat <&3 >>/tmp/user
	exec 3<&-
	wait $pid
	peer_checked $? "$3"
}

# both_ends: over loop, where both are the kernel's
both_ends()
{
	kernel_load both=1 node=$A || return
	kernel_checked server "$1"
	kernel_checked client "$2"
	rmmod kofi_fabtests || fail "it cannot be unloaded"
}

# rma_checks NUMBER ROLE: the windows of rma_bw, of which 1.17 checks those of writedata only, and
# the acknowledgments of writedata, of which the one after the warm-up is not checked
rma_checks()
{
	case $1,$2,$version,$words in
	-,*,1.17,*op=writedata | -,client,*,*op=writedata) echo 7 ;;
	-,*,1.17,*) echo 0 ;;
	-,*,2.6,*) echo 8 ;;
	-,*) echo 7 ;;
	*) echo "$1" ;;
	esac
}

# one RUN ROLE: all cases of a run, the kernel being in that role
one()
{
	cases "$1" >/tmp/cases
	while read -r name server client words <&4; do
		# shellcheck disable=SC2086 # several words
		args=$(peer_args $words)
		server=$(rma_checks "$server" server) client=$(rma_checks "$client" client)
		case $2 in
		server) kernel_server "$1" "$server" "$client" ;;
		client) kernel_client "$1" "$client" "$server" ;;
		both) both_ends "$server" "$client" ;;
		esac
		case $2 in
		both) verdict "$1/$name" ;;
		*) verdict "$1/$name-kernel-$2" ;;
		esac
	done 4</tmp/cases
}

echo "kernel $(uname -r), $(fi_info --version | tr '\n' ' ')"
modprobe -a kofi kofi_tcp kofi_verbs kofi_loop || { echo "the modules did not load"; exit 1; }
plan "$(list | wc -l)"
# Of libfabric's ofi_rxm: as many peers as rxe's queues have room for, memory of this guest's size, and
# tagged messages in packets of its own with 1.17
export FI_UNIVERSE_SIZE=32 FI_OFI_RXM_MSG_RX_SIZE=128 FI_OFI_RXM_ENABLE_DYN_RBUF=0
for run in $runs; do
	prov=${run%-*} version=${run#*-} loader='' libfabric=1.17
	[ "$prov" = "${prov#rxm_}" ] || prov="${prov#rxm_};ofi_rxm"
	if [ "$version" != 1.17 ]; then
		libfabric=2.1
		loader="/kofi/files/libfabric/ld.so --inhibit-cache --library-path /kofi/files/libfabric"
	fi
	one "$run" server
	one "$run" client
done
prov=loop version=2.6
one loop both
rmmod kofi_rxm && rmmod kofi_loop && rmmod kofi_tcp && rmmod kofi_verbs && rmmod kofi
verdict unload $? "see above"
exit $failed
