# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The newest kernel of sid, as kernel-um.sh gets its source, on top of allnoconfig: "smp" for x86-64
# with two CPUs and the sanitizers, and "arm64", which is only prepared for compiling modules. An item
# has
#   kdir      the build folder, for make -C …
# and, unless it is arm64's,
#   release   the kernel's release
#   vmlinux   uncompressed, which QEMU boots directly with PVH
#   modules   lib/modules/RELEASE
source_files=$repo/tests/vm/configs

source_kernel_item() # smp|arm64
{
	local version hash
	version=$(apt_version sid linux-source)
	hash=$(recipe_hash "$repo/scripts/lib/kernel-source.sh" "$source_files/$1.config")
	echo "$cache/kernel-$1-$version-$hash"
}

make_source_kernel() # smp|arm64 DIR
{
	local name=$1 dir=$2
	mkdir "$dir/kdir"
	source_configure "$name" "$dir/kdir"
	if [[ $name == arm64 ]]; then
		source_make "$name" "$dir/kdir" -j2 modules_prepare
	else
		source_make "$name" "$dir/kdir" -j2 vmlinux modules
		source_make "$name" "$dir/kdir" INSTALL_MOD_PATH="$dir/modules" modules_install
		source_make "$name" "$dir/kdir" -s kernelrelease >"$dir/release"
		rm -f "$dir/modules/lib/modules"/*/{build,source}
		ln "$dir/kdir/vmlinux" "$dir/vmlinux"
	fi
	# The build folder contains its own path.
	grep -rlF "$dir" "$dir/kdir" --include=Makefile --include='*.cmd' | xargs -r sed -i "s,$dir,$final,g"
}

source_make() # NAME OUTPUT ARGUMENT...
{
	local architecture=(ARCH=x86_64)
	[[ $1 != arm64 ]] || architecture=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
	nice make -C "$(um_source_item)" O="$2" "${architecture[@]}" KBUILD_BUILD_TIMESTAMP=@0 "${@:3}"
}

# Kconfig silently drops options whose dependencies are missing.
source_configure() # NAME OUTPUT
{
	local name=$1 output=$2 lost
	source_make "$name" "$output" KCONFIG_ALLCONFIG="$source_files/$name.config" allnoconfig
	lost=$(grep -v '^#' "$source_files/$name.config" | grep -vxFf "$output/.config") || true
	[[ ! $lost ]] || die "the kernel configuration lost ${lost//$'\n'/ }"
}
