# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Shared by the scripts of this folder (sourced, never run).
#
# Gives: KOFI_TOP (the source tree), KOFI_CACHE (everything that is downloaded
# or built for a guest), messages on stderr, a lock, a progress line.
# A script whose result is a path prints only that path on stdout.

KOFI_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
KOFI_CACHE=${KOFI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kofi}
KOFI_BUILD=$KOFI_TOP/build
KOFI_PARTS_ALL="kofi providers/verbs providers/loop providers/tcp providers/rxm providers/hook compat/kfi clients/pingpong clients/fabtests clients/sample clients/perf clients/nvme clients/pmemlog clients/bulk kunit"
# Of the tests, those for which the emulated kernel is there: two processors, or its devices.
# scripts/stages/kunit builds another suite for it when asked for that.
KOFI_PARTS_DEBUG="${KOFI_PARTS_ALL% kunit} kunit/lib kunit/mock kunit/fakehca kunit/interop kunit/conformance kunit/verbs_hca kunit/stress kunit/longrun kunit/hostile kunit/p2p kunit/pmem"
export KOFI_TOP KOFI_CACHE KOFI_BUILD KOFI_PARTS_ALL KOFI_PARTS_DEBUG

# A make above us must not steer the makes below us, and messages that are
# searched for must come in English.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES W C M KDIR ARCH CROSS_COMPILE
export LC_ALL=C

say()
{
	printf '%s\n' "$*" >&2
}

step()
{
	printf '==> %s\n' "$*" >&2
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# lock FILE: hold an exclusive lock on FILE until this process ends. The
# descriptor is inherited by children on purpose: an orphaned make keeps it.
lock()
{
	mkdir -p "$(dirname "$1")"
	exec {KOFI_LOCK_FD}>"$1"
	if ! flock -n "$KOFI_LOCK_FD"; then
		say "    waiting for another run that holds ${1##*/}"
		flock "$KOFI_LOCK_FD"
	fi
}

unlock()
{
	exec {KOFI_LOCK_FD}>&-
}

# progress LABEL LOG COUNTER CMD...: run CMD with its output in LOG and say
# every few seconds how far it is. COUNTER is a shell expression whose output
# describes the progress. Returns the status of CMD.
progress()
{
	local label=$1 log=$2 counter=$3 pid start=$SECONDS shown=$SECONDS
	local every=15

	shift 3
	[ -t 2 ] && every=2
	mkdir -p "${log%/*}"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
		if [ $((SECONDS - shown)) -ge $every ]; then
			shown=$SECONDS
			progress_line "    $label: $(eval "$counter"), $((SECONDS - start)) s"
		fi
	done
	[ -t 2 ] && printf '\r\033[K' >&2
	wait "$pid"
}

progress_line()
{
	if [ -t 2 ]; then
		printf '\r\033[K%s' "$1" >&2
	else
		printf '%s\n' "$1" >&2
	fi
}

# as_root CMD...: run CMD as root, directly or with sudo.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "root is needed for: $*
    Run this as root, or install sudo, or run that command yourself first."
	fi
}

# apt_memo NAME CMD...: the output of CMD, which asks apt something, remembered
# as NAME until apt's lists or settings change (apt is slow to ask).
apt_memo()
{
	local memo=$KOFI_CACHE/apt-memo/$1 out

	shift
	if [ -s "$memo" ] && [ "$memo" -nt /var/lib/apt/lists ] &&
		[ "$memo" -nt /etc/apt ] && [ "$memo" -nt /etc/apt/sources.list.d ]; then
		cat "$memo"
		return
	fi
	out=$("$@" 2>/dev/null) || true
	[ -n "$out" ] || return 0
	mkdir -p "${memo%/*}"
	printf '%s\n' "$out" >"$memo.$$"
	mv "$memo.$$" "$memo"
	printf '%s\n' "$out"
}

# candidate PACKAGE: the version apt would install, empty when there is none.
candidate()
{
	apt_memo "candidate-$1" apt-cache policy "$1" |
		awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

# fetch_deb PACKAGE[:ARCHITECTURE] [APT OPTIONS]: download PACKAGE into the cache unless it is
# there; print the path of the .deb. In a subshell, which ends with the lock.
fetch_deb()
(
	pkg=$1

	shift
	version=$(apt-cache "$@" policy "$pkg" 2>/dev/null |
		awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }')
	[ -n "$version" ] || die "apt knows no package $pkg; run apt-get update, and check that /etc/apt names Debian 12 and its security archive"
	lock "$KOFI_CACHE/deb/$pkg.lock"
	deb=$(deb_path "$pkg" "$version")
	if [ -z "$deb" ]; then
		step "downloading $pkg $version"
		progress "downloading" "$KOFI_CACHE/deb/$pkg.log" \
			"du -hc '$KOFI_CACHE/deb/$pkg'_* 2>/dev/null | tail -n 1 | cut -f1" \
			download_deb "$pkg=$version" "$@" || {
			cat "$KOFI_CACHE/deb/$pkg.log" >&2
			die "cannot download $pkg $version; run apt-get update and try again"
		}
		deb=$(deb_path "$pkg" "$version")
	fi
	[ -n "$deb" ] || die "apt-get download gave no file for $pkg $version"
	printf '%s\n' "$deb"
)

# download_deb PACKAGE=VERSION [APT OPTIONS]
download_deb()
{
	local what=$1

	shift
	cd "$KOFI_CACHE/deb" || return
	apt-get "$@" -qq -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$what"
}

# deb_path PACKAGE[:ARCHITECTURE] VERSION: the downloaded file, if any. apt writes the colon
# of an epoch as %3a.
deb_path()
{
	local f arch

	arch=$(dpkg --print-architecture)
	[[ $1 != *:* ]] || arch=${1#*:}
	for f in "$KOFI_CACHE/deb/${1%%:*}_${2//:/%3a}_"{"$arch",all}.deb; do
		[ -e "$f" ] && printf '%s\n' "$f"
	done
	return 0
}

# unpack_source DEB: unpack a linux-source package; print the tree's path. In a
# subshell, which ends with the lock.
unpack_source()
(
	deb=$1
	name=$(basename "$deb" _all.deb)
	dest=$KOFI_CACHE/src/$name
	lock "$dest.lock"
	if [ ! -d "$dest" ]; then
		step "unpacking ${name%%_*}"
		rm -rf "$dest.tmp"
		mkdir -p "$dest.tmp"
		progress "unpacking" "$dest.log" \
			"echo \"\$(find '$dest.tmp' | wc -l) files\"" \
			unpack_tarball "$deb" "./usr/src/${name%%_*}.tar.xz" "$dest.tmp" ||
			{ cat "$dest.log" >&2; die "cannot unpack $deb"; }
		mv "$dest.tmp" "$dest"
	fi
	printf '%s\n' "$dest"
)

# unpack_tarball DEB MEMBER DIR
unpack_tarball()
{
	dpkg --fsys-tarfile "$1" | tar -xO "$2" |
		tar -xJ --strip-components=1 -C "$3"
}
