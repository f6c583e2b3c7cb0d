# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# "parallel", the User-mode Linux of kernel-um.sh for two CPUs. Its patches are its own, so that a
# change of them makes no other kernel again.

um_parallel_item()
{
	local kernel
	kernel=$(um_kernel_item parallel)
	echo "$kernel-$(recipe_hash "$repo/scripts/lib/kernel-um-parallel.sh" "$um_files"/parallel/*.patch)"
}

# The folder also has
#   source   the patched source; unpatched files are hard links
make_um_parallel() # parallel DIR
{
	local patched=$2/source patch
	cp -al "$(um_source_item)" "$patched"
	for patch in "$um_files"/parallel/*.patch; do
		patch -p1 -d "$patched" <"$patch"
	done
	# make_um_kernel calls it, and has a variable "source" of its own.
	# shellcheck disable=SC2317
	um_source_item() { echo "$patched"; }
	make_um_kernel "$@"
	ln -sfn "$final/source" "$2/kdir/source"
}
