# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The libraries of this suite for ARM64 that the tool and the provider link. An item has
#   usr, lib   what their packages have
arm64_packages=(libibverbs-dev libibverbs1 libmnl-dev libmnl0)

arm64_item()
{
	local version
	version=$(apt_version system rdma-core)
	echo "$cache/arm64-$version-$(recipe_hash "$repo/scripts/lib/arm64.sh")"
}

make_arm64() # DIR
{
	local dir=$1 apt
	apt=$(mktemp -d)
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	system_sources >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-END
		APT::Architecture "arm64";
		APT::Architectures "arm64";
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State::lists "$apt/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "root";
	END
	APT_CONFIG=$apt/apt.conf apt-get update -qq
	APT_CONFIG=$apt/apt.conf apt_unpack system "$dir" "${arm64_packages[@]}"
	rm -rf "$apt" "$dir/usr/share/doc"
}
