# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The newest kernel source that Debian's backports carry (sourced, after lib.sh).

# shellcheck source=scripts/build/suite.sh
. "$KOFI_TOP/scripts/build/suite.sh"

# newest_source: fetch its package, print the path of the .deb. In a subshell, which ends
# with the lock.
newest_source()
(
	suite=trixie-backports
	state=$KOFI_CACHE/apt-newest
	apt_opts=()

	lock "$state.lock"
	suite_lists "$state" $suite
	pkg=$(apt-cache "${apt_opts[@]}" pkgnames linux-source- |
		grep -xE 'linux-source-[0-9]+\.[0-9]+' | sort -V | tail -n 1)
	[ -n "$pkg" ] || die "$suite has no linux-source package"
	fetch_deb "$pkg" "${apt_opts[@]}"
)
