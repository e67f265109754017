#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Was a kernel built from these sources of drivers/nvme/host?
#
# modpost takes the CRC of a symbol from Module.symvers and does not notice a header that
# is another one.  So a stub exports some of the symbols as the headers declare them, and
# genksyms must get the CRCs that the kernel has.
#
# usage: guard.sh HOST KDIR DIR
#   HOST   the folder drivers/nvme/host
#   KDIR   what modules of the kernel are built against
#   DIR    where to compile, with an absolute path or in the current folder; it is made
# Exit status 0: it was; 1: it was not, or the headers do not compile, which is said.
set -e

host=$(cd "$1" && pwd) kdir=$2
rm -rf "$3"
mkdir -p "$3"
dir=$(cd "$3" && pwd)

core="nvme_init_ctrl nvme_add_ctrl nvme_complete_rq nvme_setup_cmd"
fabrics="nvmf_register_transport nvmf_ip_options_match"

# stub FILE SYMBOL...: what a file includes decides what genksyms sees of the types.
stub()
{
	sed -n '/^#include /p; /^#define CREATE_TRACE_POINTS/p' "$host/$1.c"
	shift
	printf 'EXPORT_SYMBOL_GPL(%s);\n' "$@"
}

# shellcheck disable=SC2086 # lists of names
stub core $core >"$dir/core.c"
# shellcheck disable=SC2086 # lists of names
stub fabrics $fabrics >"$dir/fabrics.c"
printf 'obj-m := core.o fabrics.o\nccflags-y := -I%s\n' "$host" >"$dir/Kbuild"
make -C "$kdir" M="$dir" core.o fabrics.o >"$dir/build.log" 2>&1 || {
	echo "the headers of $host do not compile for $kdir; see $dir/build.log" >&2
	exit 1
}
for symbol in $core $fabrics; do
	want=$(awk -v s="$symbol" '$2 == s { print $1 }' "$kdir/Module.symvers")
	got=$(awk -v s="$symbol" '$1 == "#SYMVER" && $2 == s { print $3 }' \
		"$dir"/.core.o.cmd "$dir"/.fabrics.o.cmd)
	[ "${want:-none}" = "$got" ] || {
		echo "$symbol has the CRC ${want:-none} in $kdir, by the headers of $host ${got:-none}" >&2
		exit 1
	}
done
