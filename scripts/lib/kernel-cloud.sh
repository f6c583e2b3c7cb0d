# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Debian's kernel for clouds, which has the core of RDMA but neither rdma_rxe nor 9p. An item is as those
# of kernel-debian.sh, but vmlinux is compressed. It has a recipe of its own, so that a change of it makes no other kernel again.

cloud_kernel_item()
{
	local version
	version=$(apt_version system linux-image-cloud-amd64)
	echo "$cache/kernel-cloud-$version-$(recipe_hash "$repo"/scripts/lib/kernel-{cloud,debian}.sh)"
}

make_cloud_kernel() # DIR
{
	# make_debian_kernel calls them. This kernel is compressed with LZ4, for which we have no program. QEMU also
	# boots it as it is.
	# shellcheck disable=SC2317
	debian_metapackage() { echo "linux-$2-cloud-amd64"; }
	# shellcheck disable=SC2317
	extract_vmlinux() { cat "$1"; }
	make_debian_kernel cloud "$1"
}
