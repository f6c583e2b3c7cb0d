# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The packages that building and testing everything needs, as Debian 12 names them
debian_12_packages=(
	# the module, User-mode Linux
	build-essential bc bison flex libelf-dev libssl-dev kmod cpio rsync xz-utils zstd patch openssl
	# ARM64
	g++-aarch64-linux-gnu gcc-aarch64-linux-gnu
	# the tool, the provider, unit tests, fuzzers
	ccache cmake ninja-build pkg-config libgtest-dev libgmock-dev googletest clang libclang-rt-14-dev
	libibverbs-dev librdmacm-dev libbenchmark-dev valgrind libnl-3-dev libnl-route-3-dev libmnl-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
	# guests
	qemu-system-x86 qemu-user-static busybox-static erofs-utils mmdebstrap iproute2 procps
	# checks
	sparse shellcheck clang-format perl python3 python3-jsonschema python3-scapy tshark zsh fish nftables iptables
)

# Their names in other suites: lines of SUITE NAME OTHER_NAME...
debian_names='
trixie build-essential build-essential gcc-12
* libclang-rt-14-dev libclang-rt-dev
trixie,forky,sid qemu-user-static qemu-user
noble libclang-rt-14-dev libclang-rt-18-dev
jammy libclang-rt-14-dev libclang-common-14-dev
'

# Their names in Fedora: lines of NAME OTHER_NAME..., or of a name only if there is nothing to install
fedora_names='
build-essential gcc gcc-c++ make
libelf-dev elfutils-libelf-devel
libssl-dev openssl-devel
xz-utils xz
g++-aarch64-linux-gnu gcc-c++-aarch64-linux-gnu
pkg-config pkgconf-pkg-config
libgtest-dev gtest-devel
libgmock-dev gmock-devel
googletest
libclang-rt-14-dev compiler-rt
libibverbs-dev rdma-core-devel
librdmacm-dev
libbenchmark-dev google-benchmark-devel
valgrind valgrind-devel
libnl-3-dev libnl3-devel
libnl-route-3-dev
libmnl-dev libmnl-devel
libcli11-dev cli11-devel
nlohmann-json3-dev json-devel
zlib1g-dev zlib-devel
qemu-system-x86 qemu-system-x86-core
qemu-user-static qemu-user-static-aarch64
busybox-static busybox
iproute2 iproute
iptables iptables-nft
procps procps-ng
shellcheck ShellCheck
clang-format clang-tools-extra
tshark wireshark-cli
'

# The packages as this distribution names them, one a line
packages_here()
{
	local suite names=$fedora_names
	if [[ $(distribution) != fedora ]]; then
		suite=$(codename)
		# The last line that fits counts.
		names=$(awk -v suite="$suite" '$1 == "*" && suite != "bookworm" || index("," $1 ",", "," suite ",") { $1 = ""; print }' <<<"$debian_names")
	fi
	rename_packages "$names"
}

rename_packages() # NAMES
{
	printf '%s\n' "${debian_12_packages[@]}" | awk -v names="$1" '
		BEGIN {
			for (count = split(names, lines, "\n"); count; count--) {
				split(lines[count], words)
				if (!(words[1] in others)) {
					others[words[1]] = lines[count]
					sub(/^ *[^ ]+ */, "", others[words[1]])
				}
			}
		}
		$1 in others { $0 = others[$1]; gsub(/ /, "\n") }
		$0'
}

missing_packages()
{
	local wanted installed name
	wanted=$(packages_here)
	# shellcheck disable=SC2086
	case $(distribution) in
	debian | ubuntu) installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' $wanted 2>/dev/null | sed -n 's/^ii *//p') || true ;;
	fedora) installed=$(for name in $wanted; do ! rpm -q --quiet --whatprovides "$name" || echo "$name"; done) ;;
	*) die "this distribution is not known here; scripts/setup needs Debian 12 or 13" ;;
	esac
	grep -vxF -- "$installed" <<<"$wanted" || true
}

# Install what is missing, after saying so: with --yes, or in a CI system, at once; on a terminal if
# the user agrees.
install_packages()
{
	local missing command answer
	missing=$(missing_packages | xargs)
	[[ $missing ]] || return 0
	# shellcheck disable=SC2086
	command=$(install_command $missing)
	[[ $(distribution) == debian && $EUID == 0 ]] || die "packages are missing; as root: $command"
	if [[ ! ${SROCE_YES:-} && ${CI:-} != true ]]; then
		[[ -t 0 && -t 2 ]] || die "packages are missing; to install them, add --yes, or: $command"
		say "these packages are missing: $missing"
		read -rp "sroce: install them? [Y/n] " answer || answer=n
		[[ ${answer:-y} == [Yy]* ]] || die "packages are missing; to install them: $command"
	fi
	say "installing $missing"
	mkdir -p "$cache"
	apt_refresh
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing \
		</dev/null >"$cache/packages.log" 2>&1 || { tail "$cache/packages.log" >&2; die "apt-get install failed"; }
}
