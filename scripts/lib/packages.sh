# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The packages of Debian 12 that building and testing everything needs.
packages=(
	# the module, User-mode Linux
	build-essential bc bison flex libelf-dev libssl-dev kmod cpio rsync xz-utils zstd patch
	# ARM64
	g++-aarch64-linux-gnu gcc-aarch64-linux-gnu
	# the tool, the provider, unit tests, fuzzers
	cmake ninja-build pkg-config libgtest-dev libgmock-dev googletest clang libclang-rt-14-dev
	libibverbs-dev librdmacm-dev libbenchmark-dev valgrind libnl-3-dev libnl-route-3-dev libmnl-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
	# guests
	qemu-system-x86 qemu-user-static busybox-static erofs-utils mmdebstrap iproute2 procps
	# checks
	sparse shellcheck clang-format perl python3 python3-scapy tshark
)

missing_packages()
{
	local installed
	installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null |
		sed -n 's/^ii *//p') || true
	printf '%s\n' "${packages[@]}" | grep -vxF "$installed" || true
}

install_packages()
{
	local missing
	mapfile -t missing < <(missing_packages)
	((${#missing[@]})) || return 0
	((EUID == 0)) || die "these packages are missing, and installing them needs root: ${missing[*]}"
	say "installing ${missing[*]}"
	mkdir -p "$cache"
	apt_refresh
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" \
		</dev/null >"$cache/packages.log" 2>&1 || { tail "$cache/packages.log" >&2; die "apt-get install failed"; }
}
