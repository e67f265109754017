# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build a kernel from Debian's linux-source-6.12, or from another source (sourced, after
# lib.sh). The result is cached under the version of the source and a hash of the
# configuration and the patches, if there are any, so it is built once.

# config NAME: the file with its options
config()
{
	local file=$KOFI_TOP/scripts/configs/$1

	if [ -e "$file.config" ]; then
		echo "$file.config"
	else
		echo "$file-6.12.config"
	fi
}

# check_config NAME HOME: every option of HOME/fragment must have survived Kconfig.
check_config()
{
	local line bad=0

	while read -r line; do
		case $line in
		CONFIG_*=n) grep -q "^${line%=n}=" "$2/.config" || continue ;;
		CONFIG_*) ! grep -qxF "$line" "$2/.config" || continue ;;
		*) continue ;;
		esac
		say "    $line did not survive Kconfig"
		bad=1
	done <"$2/fragment"
	[ $bad -eq 0 ] || die "fix $(config "$1"): a dependency is missing"
}

# patches NAME: those of a kernel, and those of all.
patches()
{
	find "$KOFI_TOP/scripts/configs" -name "all-6.12-*.patch" -o \
		-name "$1-6.12-*.patch" | sort
}

# patch_source SRC PATCH: unless that has been done. All kernels are built from the
# same tree, so a patch must be for the files of one architecture only, or be called
# all-*, and two for one file must be for places far apart. In a subshell, which ends
# with the lock.
patch_source()
(
	lock "$1.lock"
	patch -d "$1" -p1 -R --dry-run -sf <"$2" >/dev/null ||
		patch -d "$1" -p1 -sN <"$2" >&2 ||
		die "${2#"$KOFI_TOP/"} does not fit ${1##*/}: the source has changed; make the patch anew, or remove it if the fault has been fixed there"
)

# fragment NAME: the options of a kernel. A file with a line "# base: OTHER" only has
# what is different from that other one.
fragment()
{
	local file base

	file=$(config "$1")
	base=$(sed -n 's/^# base: //p' "$file")
	[ -z "$base" ] ||
		awk -F = 'FNR == NR { mine[$1]; next }
			!/^CONFIG_/ || !($1 in mine)' \
			"$file" "$(config "$base")"
	cat "$file"
}

# build_kernel NAME ARCH IMAGE TARGET OBJECTS TIME [DEB]: make it ready and print its
# home (see scripts/build/kernel); the build log is build.log in it. IMAGE is what
# boots, inside the build folder; TARGET makes it. OBJECTS, the number of object
# files of a finished build, and TIME are shown only. DEB is another source than that of
# 6.12, and is built without patches.
build_kernel()
{
	local name=$1 arch=$2 image=$3 target=$4 objects=$5 time=$6 deb=${7:-} patches=''
	local patch version home src make inputs

	if [ -n "$deb" ]; then
		version=$(basename "$deb" _all.deb)
	else
		[ -n "$(candidate linux-source-6.12)" ] || "$KOFI_TOP/scripts/deps" update
		version=$(candidate linux-source-6.12)
		patches=$(patches "$name")
	fi
	inputs=$({ fragment "$name"; xargs -r cat <<<"$patches"; } | sha256sum | cut -c1-8)
	home=$KOFI_CACHE/kernel/$name-$version-$inputs
	lock "$home.lock"
	if [ ! -e "$home/release" ]; then
		src=$(unpack_source "${deb:-$(fetch_deb linux-source-6.12)}")
		for patch in $patches; do
			patch_source "$src" "$patch"
		done
		mkdir -p "$home"
		fragment "$name" >"$home/fragment"
		make=(make -C "$src" O="$home" ARCH="$arch" LOCALVERSION=-kofi-"$name")
		step "building the $name kernel $version (once; $time on 2 cores)"
		"${make[@]}" -s KCONFIG_ALLCONFIG="$home/fragment" allnoconfig >&2
		check_config "$name" "$home"
		progress "$name kernel" "$home/build.log" \
			"echo \"\$(find '$home' -name '*.o' | wc -l)/~$objects objects\"" \
			"${make[@]}" -j"$(nproc)" "$target" modules ||
			{ tail -n 30 "$home/build.log" >&2
			  die "the $name kernel did not build; whole log: $home/build.log"; }
		"${make[@]}" -s INSTALL_MOD_PATH="$home/root" modules_install >&2
		ln -sfn "$image" "$home/vmlinuz"
		ln -sfn . "$home/kdir"
		echo "$arch" >"$home/kbuild-arch"
		cp "$home/include/config/kernel.release" "$home/release"
	fi
	printf '%s\n' "$home"
}
