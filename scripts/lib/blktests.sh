# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A root for blktests, with Debian 13's nvme-cli, fio and multipath-tools, the modules of kernel 6.12, and
# blktests from the checkout $BLKTESTS, which no package has. An item has
#   bin/blktests.erofs     the root, with blktests in the folder "blktests"
#   bin/blktests.missing   instead, if no checkout is given: what is missing
blktests_packages=(
	nvme-cli fio multipath-tools sg3-utils xfsprogs e2fsprogs dmsetup pciutils bc iproute2 rdma-core srptools
	gawk jq kmod udev procps psmisc lsof uuid-runtime util-linux-extra bsdextrautils keyutils file libstdc++6
)
# Tests look for their modules by name, so only what is large and has nothing to do with them is left out.
blktests_modules="arch block crypto fs lib mm net drivers/block drivers/infiniband drivers/md drivers/nvme drivers/scsi drivers/target
	drivers/net/dummy.ko.xz drivers/net/veth.ko.xz"

blktests_item()
{
	local version content
	if [[ ! ${BLKTESTS:-} ]]; then
		echo "$cache/blktests-none-$(recipe_hash "$repo/scripts/lib/blktests.sh")"
		return
	fi
	[[ -x $BLKTESTS/check && -d $BLKTESTS/tests/nvme ]] || die "BLKTESTS=$BLKTESTS is no checkout of blktests"
	version=$(apt_version system "$(debian_metapackage 6.12 image)")
	content=$(cd "$BLKTESTS" && find check common src tests -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | recipe_hash "$repo/scripts/lib/blktests.sh" -)
	echo "$cache/blktests-$version-$content"
}

make_blktests() # DIR
{
	local dir=$1 packages
	mkdir "$dir/bin"
	if [[ ! ${BLKTESTS:-} ]]; then
		echo "BLKTESTS=FOLDER names no checkout of blktests" >"$dir/bin/blktests.missing"
		return
	fi
	packages=$(IFS=,; echo "${blktests_packages[*]}")
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) trixie main" |
		mmdebstrap --variant=minbase --include="$packages" --aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io \
			--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
			trixie "$dir/root" -
	rm -rf "${dir:?}/root"/{dev/*,var/lib/apt/lists,var/cache/apt}
	mkdir -p "$dir/root/share"
	add_blktests_modules "$dir"
	copy_blktests "$dir/root/blktests"
	mkfs.erofs "$dir/bin/blktests.erofs" "$dir/root"
	rm -rf "$dir/root"
}

add_blktests_modules() # DIR
{
	local dir=$1 image release source target folder
	image=$(apt_resolve system "$(debian_metapackage 6.12 image)")
	release=${image#linux-image-}
	apt_unpack system "$dir/image" "$image"
	source=$dir/image/lib/modules/$release target=$dir/root/usr/lib/modules/$release
	[[ -d $source ]] || source=$dir/image/usr/lib/modules/$release   # since Debian 13
	mkdir -p "$target"
	for folder in $blktests_modules; do
		mkdir -p "$(dirname "$target/kernel/$folder")"
		cp -a "$source/kernel/$folder" "$target/kernel/$folder"
	done
	find "$target" -name '*.ko.xz' -exec xz -d {} +
	cp "$source"/modules.{builtin,builtin.modinfo,order} "$target/"
	depmod -b "$dir/root/usr" "$release"
	cp "$dir/image/boot/config-$release" "$dir/root/boot/"
	rm -rf "$dir/image"
}

copy_blktests() # FOLDER
{
	mkdir "$1"
	cp -a "$BLKTESTS"/{check,common,src,tests} "$1/"
	git -C "$BLKTESTS" rev-parse --short HEAD >"$1/version" 2>/dev/null || echo unknown >"$1/version"
	make -k -C "$1/src" || true   # tests skip if their program is missing
}
