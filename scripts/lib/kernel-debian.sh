# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Debian's kernels 6.1 and 6.12, unpacked but not installed. An item has
#   release   the kernel's release, as uname -r prints it
#   kdir      link to the headers, for make -C
#   vmlinux   uncompressed, so that QEMU can boot it directly with PVH, which saves three seconds
#   modules   lib/modules/RELEASE with only the modules that tests need, uncompressed
debian_modules="virtio_pci virtio_net virtio_console 9pnet_virtio 9p erofs overlay loop virtio_blk veth dummy bridge 8021q macvlan tun
	vrf wireguard vxlan sch_netem sch_tbf sch_fq sch_fq_codel sch_red sch_prio sch_ingress cls_matchall cls_u32 cls_flower
	act_mirred act_gact act_pedit act_csum crc32c_generic crc32c-intel rdma_rxe rdma_ucm ib_umad ib_ipoib ip_gre ip6_gre ipip ip6_tunnel af_packet libcrc32c crc32_pclmul
	ipv6 xt_u32 nf_tables nft_chain_nat nft_nat nft_masq nft_redir
	nd_e820 nd_pmem device_dax dax_pmem
	nvme_rdma nvmet_rdma rpcrdma nfsd nfsv3 nfsv4 smc smc_diag rds_rdma ib_srp ib_srpt ib_iser ib_isert target_core_file sd_mod"

# Debian 12 has both kernels, Debian 13 has 6.12.
debian_suite() # 6.1|6.12
{
	[[ $1 == 6.1 && $(codename) != bookworm ]] && echo bookworm || echo system
}

debian_metapackage() # 6.1|6.12, image|headers
{
	[[ $1 == 6.12 && $(codename) == bookworm ]] && echo "linux-$2-6.12-amd64" || echo "linux-$2-amd64"
}

debian_kernel_item() # 6.1|6.12
{
	local version
	version=$(apt_version "$(debian_suite "$1")" "$(debian_metapackage "$1" image)")
	echo "$cache/kernel-$1-$version-$(recipe_hash "$repo/scripts/lib/kernel-debian.sh")"
}

make_debian_kernel() # 6.1|6.12 DIR
{
	local name=$1 dir=$2 suite image headers release
	suite=$(debian_suite "$name")
	image=$(apt_resolve "$suite" "$(debian_metapackage "$name" image)")
	headers=$(apt_resolve "$suite" "$(debian_metapackage "$name" headers)")
	release=${image#linux-image-}
	echo "$release" >"$dir/release"

	unpack_headers "$suite" "$headers" "$dir"
	apt_unpack "$suite" "$dir/image" "$image"
	[[ -e $dir/image/lib ]] || ln -s usr/lib "$dir/image/lib"   # since Debian 13
	extract_vmlinux "$dir/image/boot/vmlinuz-$release" >"$dir/vmlinux"
	pick_modules "$dir/image" "$release" "$dir/modules"
	rm -rf "$dir/image"
}

unpack_headers() # SUITE PACKAGE DIR
{
	local suite=$1 headers=$2 dir=$3 others
	others=$(apt_in "$suite" apt-cache depends "$headers" |
		awk '$1 == "Depends:" && $2 ~ /^linux-(headers-.*-common|kbuild-)/ { print $2 }')
	# shellcheck disable=SC2086
	apt_unpack "$suite" "$dir/headers" "$headers" $others
	sed -i "s,/usr/src,$final/headers/usr/src," "$dir/headers/usr/src/$headers/Makefile"
	# 6.12's headers include a vmlinux for the BTF of modules, for which make would need pahole.
	rm -f "$dir/headers/usr/src/$headers/vmlinux"
	ln -s "headers/usr/src/$headers" "$dir/kdir"
}

# The setup header of a bzImage gives the offset of the compressed vmlinux. Its last four bytes are
# the uncompressed size, which xz and zstd would reject.
extract_vmlinux() # VMLINUZ
{
	local setup_sects offset length payload
	setup_sects=$(od -An -tu1 -j497 -N1 "$1")
	read -r offset length < <(od -An -tu4 -j584 -N8 "$1")
	payload=$(mktemp)
	tail -c +$(((setup_sects + 1) * 512 + offset + 1)) "$1" | head -c $((length - 4)) >"$payload" || true
	case $(od -An -tx1 -N4 "$payload") in
	*fd\ 37\ 7a\ 58*) xz -dc "$payload" ;;
	*28\ b5\ 2f\ fd*) zstd -dcq "$payload" ;;
	*) die "$1: unknown compression" ;;
	esac
	rm "$payload"
}

# Copy the wanted modules and their dependencies, uncompressed, and index them.
pick_modules() # ROOT RELEASE DESTINATION
{
	local root=$1 release=$2 destination=$3 module file relative
	depmod -b "$root" "$release"
	for module in $debian_modules; do
		modprobe -d "$root" -S "$release" --show-depends "$module" 2>/dev/null || true
	done | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r file; do
		relative=${file#"$root"}
		install -D -m 644 "$file" "$destination$relative"
		[[ $file != *.xz ]] || xz -d "$destination$relative"
	done
	cp "$root/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} "$destination/lib/modules/$release/"
	depmod -b "$destination" "$release"
}
