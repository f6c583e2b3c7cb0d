# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packages of this system's own suite, and of others through a private apt configuration that leaves
# the system's lists alone. The mirror is always the one that this system already uses.

# Run COMMAND against SUITE: "system", or a name such as "sid".
apt_in()
{
	local suite=$1
	shift
	if [[ $suite == system ]]; then
		"$@"
	else
		apt_private "$suite"
		APT_CONFIG=$cache/apt-$suite/apt.conf "$@"
	fi
}

# shellcheck disable=SC1091,SC2016
mirror()
{
	(. /etc/os-release && apt-get indextargets --format '$(REPO_URI)' \
		'Created-By: Packages' "Codename: $VERSION_CODENAME" | sed -n 1p)
}

# With DIR/apt.conf apt reads the package lists of one suite, which are in DIR.
apt_configure() # DIR deb|deb-src SUITE
{
	local dir=$1
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $3 main" \
		>"$dir/sources.list"
	# A mirror frozen at some date will do, because the signature still proves where packages
	# come from.
	cat >"$dir/apt.conf" <<-EOF
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State::lists "$dir/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$dir/cache";
		APT::Sandbox::User "root";
		Acquire::Check-Valid-Until "false";
	EOF
}

apt_private()
{
	local suite=$1 dir=$cache/apt-$1
	[[ -e $dir/ready ]] && return
	say "reading the package lists of $suite"
	apt_configure "$dir" deb "$suite"
	APT_CONFIG=$dir/apt.conf apt-get update -qq
	touch "$dir/ready"
}

# Refresh the package lists, which may be empty or old on a fresh machine. Once per run is enough.
apt_refresh()
{
	[[ ${apt_refreshed:-} ]] && return
	say "reading this system's package lists"
	apt-get update -qq
	apt_refreshed=yes
}

# The version of PACKAGE in SUITE. apt-cache takes half a second, so the result is cached until the
# package lists change.
apt_version() # SUITE PACKAGE
{
	local lists=/var/lib/apt/lists memo=$cache/version-$1-$2
	[[ $1 == system ]] || lists=$cache/apt-$1/ready
	if [[ ! -s $memo || $lists -nt $memo ]]; then
		mkdir -p "$cache"
		if ! apt_candidate "$@" >"$memo.$$"; then
			[[ $1 != system ]] || apt_refresh
			apt_candidate "$@" >"$memo.$$" || die "no package $2 in the lists of $1"
		fi
		mv "$memo.$$" "$memo"
	fi
	cat "$memo"
}

apt_candidate() { apt_in "$1" apt-cache policy "$2" | sed -n 's/^  Candidate: //p' | grep -vxF '(none)'; }

# The package that a metapackage depends on, such as linux-image-6.1.0-NN-amd64 for
# linux-image-amd64.
apt_resolve() # SUITE METAPACKAGE
{
	apt_in "$1" apt-cache depends "$2" | awk '$1 == "Depends:" && !n++ { print $2 }'
}

# Unpack packages into a folder without installing them.
apt_unpack() # SUITE DIR PACKAGE...
{
	local suite=$1 dir=$2 deb
	shift 2
	mkdir -p "$dir" "$dir.debs"
	(cd "$dir.debs" && apt_in "$suite" apt-get -o APT::Sandbox::User=root download -q "$@")
	for deb in "$dir.debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$dir.debs"
}

# Unpack the upstream tarball of a source package, which apt verifies, with package lists of its own.
apt_source() # SUITE SOURCE_PACKAGE DIR
{
	local suite=$1 package=$2 dir=$3 apt
	apt=$(mktemp -d)
	mkdir -p "$dir"
	apt_configure "$apt" deb-src "$suite"
	(
		cd "$apt"
		export APT_CONFIG=$apt/apt.conf
		apt-get update -qq && apt-get source --download-only --tar-only -qq "$package" &&
			tar -xf "$package"_*.orig.tar.* -C "$dir" --strip-components 1
	) || { rm -rf "$apt"; return 1; }
	rm -rf "$apt"
}
