# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A module that is kept outside this tree (sourced after scripts/lib/lib.sh).

# outside_build DIR HOME MODULES WORK: copy DIR, whose Makefile includes kofi.mk, to the empty
# folder WORK, build it there for the guest's kernel HOME against the headers that "make
# install-dev" installs, and put its .ko beside ours in MODULES, where scripts/build/modules has
# put those. The names of its modules are printed. A warning is an error.
outside_build()
{
	local dir=$1 home=$2 modules=$3 work=$4 ko
	local args=("KDIR=$home/kdir" "KOFI=$work/root/usr/share/kofi"
		"KOFI_SYMVERS=$modules/Module.symvers"
		CONFIG_DEBUG_INFO_BTF_MODULES=)

	[ -e "$dir/Makefile" ] || die "there is no $dir/Makefile; see Documentation/install.rst"
	[ ! -e "$home/kbuild-arch" ] || args+=("ARCH=$(cat "$home/kbuild-arch")")
	[ ! -e "$home/kbuild-args" ] || args+=("$(cat "$home/kbuild-args")")
	step "compiling ${dir##*/} outside the tree"
	mkdir -p "$work/src"
	make -s -C "$KOFI_TOP" install-dev DESTDIR="$work/root" PREFIX=/usr
	cp -r "$dir/." "$work/src/"
	make -C "$work/src" "${args[@]}" clean modules >"$work/outside.log" 2>&1 ||
		{ cat "$work/outside.log" >&2; die "$dir does not build against the installed headers"; }
	! grep -E 'warning:|WARNING:' "$work/outside.log" >&2 || die "$dir gives warnings"
	find "$work/src" -name '*.ko' | while read -r ko; do
		cp "$ko" "$modules/"
		basename "$ko" .ko
	done
}
