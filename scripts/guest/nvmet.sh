# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The stock target of NVMe over Fabrics, nvmet_rdma, for the guest's scripts (sourced):
# subsystems, called $nqn, whose namespaces are RAM disks (the kernel's brd), at rxe0.

nqn=nqn.2026-01.org.example:kofi
addr=10.77.0.1
cfg=/sys/kernel/config/nvmet
hostid=6f1cd8a2-47ee-4d38-9c0b-0d7c8b5f2a10
# shellcheck disable=SC2034  # for the others
hostnqn=nqn.2014-08.org.nvmexpress:uuid:$hostid

# port_up NUMBER ADDRESS [PORT]
port_up()
{
	mkdir -p "$cfg/ports/$1"
	echo "$2" >"$cfg/ports/$1/addr_traddr"
	echo rdma >"$cfg/ports/$1/addr_trtype"
	echo "${3:-4420}" >"$cfg/ports/$1/addr_trsvcid"
	echo ipv4 >"$cfg/ports/$1/addr_adrfam"
	ln -s "$cfg/subsystems/$nqn" "$cfg/ports/$1/subsystems/$nqn"
}

port_down()
{
	rm -f "$cfg/ports/$1/subsystems/$nqn"
	rmdir "$cfg/ports/$1" 2>/dev/null
}

# namespace_up NUMBER
namespace_up()
{
	mkdir "$cfg/subsystems/$nqn/namespaces/$1"
	printf /dev/ram%d $(($1 - 1)) >"$cfg/subsystems/$nqn/namespaces/$1/device_path"
	echo 1 >"$cfg/subsystems/$nqn/namespaces/$1/enable"
}

subsystem_up()
{
	modprobe -qa brd nvmet nvmet_rdma
	[ -d "$cfg" ] || mount -t configfs config /sys/kernel/config
	mkdir "$cfg/subsystems/$nqn" || return
	echo 1 >"$cfg/subsystems/$nqn/attr_allow_any_host"
	namespace_up 1
}

target_up()
{
	subsystem_up && port_up 1 "$addr"
}

target_down()
{
	for n in "$cfg"/ports/*; do
		[ -e "$n" ] && port_down "${n##*/}"
	done
	for n in "$cfg/subsystems/$nqn/namespaces"/*; do
		[ -e "$n" ] && rmdir "$n"
	done
	rmdir "$cfg/subsystems/$nqn"
}

# disk: sets $dev to the block device of the subsystem
disk()
{
	for d in /sys/class/nvme-subsystem/*; do
		[ "$(cat "$d/subsysnqn" 2>/dev/null)" = "$nqn" ] || continue
		# With multipath a subsystem has the disk, without it its controller
		for dev in "$d"/nvme*n1 "$d"/nvme*/nvme*n1; do
			dev=/dev/${dev##*/}
			[ -b "$dev" ] && return 0
		done
	done
	return 1
}
