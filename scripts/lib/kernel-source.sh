# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The newest kernel of sid, as kernel-um.sh gets its source, on top of allnoconfig: for x86-64 with two
# CPUs "smp" with the sanitizers and "kcsan" with KCSAN, and "arm64", which is only prepared for
# compiling modules. An item has
#   kdir      the build folder, for make -C …
# and, unless it is arm64's,
#   release   the kernel's release
#   vmlinux   uncompressed, which QEMU boots directly with PVH
#   modules   lib/modules/RELEASE
source_files=$repo/tests/vm/configs

source_kernel_item() # smp|kcsan|arm64
{
	local version hash configs
	version=$(apt_version sid linux-source)
	mapfile -t configs < <(source_configs "$1")
	hash=$(recipe_hash "$repo/scripts/lib/kernel-source.sh" "${configs[@]}")
	echo "$cache/kernel-$1-$version-$hash"
}

source_configs() # NAME
{
	[[ $1 == arm64 ]] || echo "$source_files/x86-64.config"
	echo "$source_files/$1.config"
}

# KCSAN only needs to find the races of sroce, which is built later, and it slows down what it checks.
make_source_kernel() # smp|kcsan|arm64 DIR
{
	local name=$1 dir=$2 unchecked=()
	[[ $name != kcsan ]] || unchecked=(KCSAN_SANITIZE=n)
	mkdir "$dir/kdir"
	source_configure "$name" "$dir/kdir"
	if [[ $name == arm64 ]]; then
		source_make "$name" "$dir/kdir" -j2 modules_prepare
	else
		source_make "$name" "$dir/kdir" -j2 "${unchecked[@]}" vmlinux modules
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
	local name=$1 output=$2 wanted=$2/wanted.config lost
	source_configs "$name" | xargs cat >"$wanted"
	source_make "$name" "$output" KCONFIG_ALLCONFIG="$wanted" allnoconfig
	lost=$(grep -v '^#' "$wanted" | grep -vxFf "$output/.config") || true
	[[ ! $lost ]] || die "the kernel configuration lost ${lost//$'\n'/ }"
}
