# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The newest kernel of sid as User-mode Linux, built with this system's compiler: "newest" at native
# speed, "parallel" for two CPUs, and "debug" with the sanitizers. An item has
#   release   the kernel's release
#   kdir      the build folder, for make -C … ARCH=um
#   vmlinux   the kernel, a program
#   modules   lib/modules/RELEASE

um_recipe="$repo/scripts/lib/kernel-um.sh"
um_files=$repo/tests/vm/uml

# The metapackage linux-source depends on linux-source-N.M and has the same version.
um_source_item()
{
	local version
	version=$(apt_version sid linux-source)
	echo "$cache/linux-source-$version-$(recipe_hash "$um_files"/*.patch)"
}

um_kernel_item() # newest|parallel|debug
{
	local version hash
	version=$(apt_version sid linux-source)
	hash=$(recipe_hash "$um_recipe" "$um_files"/*.patch "$um_files/newest.config" "$um_files/$1.config")
	echo "$cache/kernel-$1-$version-$hash"
}

make_um_source() # DIR
{
	local dir=$1 package patch
	package=$(apt_resolve sid linux-source)
	apt_unpack sid "$dir/package" "$package"
	tar -xf "$dir/package/usr/src/$package.tar.xz" -C "$dir" --strip-components 1
	rm -rf "$dir/package"
	for patch in "$um_files"/*.patch; do
		patch -p1 -d "$dir" <"$patch"
	done
}

make_um_kernel() # newest|parallel|debug DIR
{
	local name=$1 dir=$2 source
	source=$(um_source_item)
	mkdir "$dir/kdir"
	um_configure "$source" "$dir/kdir" "$name"
	um_make "$source" "$dir/kdir" -j2 vmlinux modules
	um_make "$source" "$dir/kdir" INSTALL_MOD_PATH="$dir/modules" modules_install
	um_make "$source" "$dir/kdir" -s kernelrelease >"$dir/release"
	rm -f "$dir/modules/lib/modules"/*/{build,source}
	ln "$dir/kdir/vmlinux" "$dir/vmlinux"
	# The build folder contains its own path.
	grep -rlF "$dir" "$dir/kdir" --include=Makefile --include='*.cmd' | xargs -r sed -i "s,$dir,$final,g"
}

um_make() # SOURCE OUTPUT ARGUMENT...
{
	nice make -C "$1" O="$2" ARCH=um KBUILD_BUILD_TIMESTAMP=@0 "${@:3}"
}

# Every line of the fragments must survive olddefconfig, which silently drops options whose
# dependencies are missing.
um_configure() # SOURCE OUTPUT NAME
{
	local source=$1 output=$2 fragments=("$um_files/newest.config") line lost=
	[[ $3 == newest ]] || fragments+=("$um_files/$3.config")
	um_make "$source" "$output" x86_64_defconfig
	grep -hv '^#' "${fragments[@]}" >>"$output/.config"
	um_make "$source" "$output" olddefconfig
	while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%=n}=" "$output/.config" || lost+=" $line" ;;
		*=*) grep -qxF "$line" "$output/.config" || lost+=" $line" ;;
		esac
	done < <(cat "${fragments[@]}" | tac | grep -v '^#' | awk -F= '!seen[$1]++')
	[[ ! $lost ]] || die "the kernel configuration lost$lost"
}
