# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The seccomp filter of Podman's containers, for tests/vm/in_container_filter. An item has
#   profile.json   the system calls that it allows
#   python         the Python module that loads it, of this system
container_filter_item() { echo "$cache/container-filter-$(apt_version system golang-github-containers-common)-$(apt_version system python3-seccomp)-$(recipe_hash "$repo/scripts/lib/container-filter.sh")"; }

make_container_filter() # DIR
{
	local dir=$1
	apt_unpack system "$dir/unpacked" golang-github-containers-common python3-seccomp
	mv "$dir/unpacked/usr/share/containers/seccomp.json" "$dir/profile.json"
	mv "$dir/unpacked/usr/lib/python3/dist-packages" "$dir/python"
	rm -rf "$dir/unpacked"
}
