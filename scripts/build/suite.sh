# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Packages of another Debian suite than this machine's (sourced, after lib.sh). Its
# package lists are kept in the cache, apart from this machine's own; the mirror is the
# one this machine is configured for.

# suite_lists STATE SUITE [ARCHITECTURE]: after this the array apt_opts makes apt use the
# lists of SUITE, which are in the folder STATE and refreshed once a day. A failure to
# refresh them is fatal only without earlier ones.
suite_lists()
{
	local state=$1 suite=$2 arch=${3:-} mirror
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	apt_opts=(-o "Dir::Etc::sourcelist=$state/sources.list"
		-o Dir::Etc::sourceparts=- -o "Dir::State::lists=$state/lists"
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
		-o APT::Sandbox::User=root -o Acquire::Languages=none)
	[ -z "$arch" ] || apt_opts+=(-o "APT::Architecture=$arch" -o "APT::Architectures=$arch")
	[ -z "$(find "$state/updated" -mtime -1 2>/dev/null)" ] || return 0
	[ -e $keyring ] || die "no $keyring; install debian-archive-keyring"
	# shellcheck disable=SC2016 # apt's own format language
	mirror=$(apt-get indextargets --format '$(SITE)' \
		'Created-By: Packages' 'Label: Debian' | sed -n 1p)
	[ -n "$mirror" ] || die "apt has no lists of a Debian mirror; run apt-get update"
	mkdir -p "$state/lists/partial"
	echo "deb [signed-by=$keyring] $mirror $suite main" >"$state/sources.list"
	step "reading the package lists of $suite"
	if apt-get -qq "${apt_opts[@]}" -o Acquire::Retries=3 update >"$state/log" 2>&1 </dev/null; then
		touch "$state/updated"
	elif [ -e "$state/updated" ]; then
		say "    $suite cannot be reached; using what was found earlier"
	else
		cat "$state/log" >&2
		die "cannot read the package lists of $suite"
	fi
}
