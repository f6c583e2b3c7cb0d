# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A Debian system with systemd and a kernel of its own, for tests/systemd/. It has all that sroce's
# packages depend on. An item has
#   root.ext4   the disk; nothing configures its interfaces but lo
#   upgrade     the packages of another kernel, with its headers
systemd_packages=(
	systemd-sysv udev dbus ifupdown network-manager iproute2 iputils-ping kmod procps zstd
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils libmnl0 libstdc++6
	dkms openssl mokutil linux-image-amd64 linux-headers-amd64
)

systemd_suite() { if [[ $1 == 12 ]]; then echo bookworm; else echo trixie; fi; } # 12|13

# Where the system has this suite, its own lists have the version.
systemd_lists() { if [[ $(codename) == "$(systemd_suite "$1")" ]]; then echo system; else systemd_suite "$1"; fi; } # 12|13

systemd_item() # 12|13
{
	local version
	version=$(apt_version "$(systemd_lists "$1")" linux-image-amd64)
	echo "$cache/systemd-$1-$version-$(recipe_hash "$repo/scripts/lib/systemd.sh")"
}

# The other kernel: Debian 12 has 6.12, too; that of 13 is for clouds.
systemd_upgrade() # 12|13
{
	case $1 in
	12) echo linux-{image,headers}-6.12-amd64 ;;
	13) echo linux-{image,headers}-cloud-amd64 ;;
	esac
}

systemd_sources() # 12|13
{
	if [[ $(systemd_lists "$1") == system ]]; then
		system_sources
	else
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $(systemd_suite "$1") main"
	fi
}

make_systemd() # 12|13 DIR
{
	local dir=$2 packages upgrade
	packages=$(IFS=,; echo "${systemd_packages[*]}")
	upgrade=$(systemd_upgrade "$1")
	systemd_sources "$1" | mmdebstrap --variant=minbase --include="$packages" \
		--aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--customize-hook="chroot \"\$1\" apt-get clean" \
		--customize-hook="chroot \"\$1\" apt-get install -y --no-install-recommends --download-only $upgrade" \
		--customize-hook="mkdir '$dir/upgrade' && mv \"\$1\"/var/cache/apt/archives/*.deb '$dir/upgrade/'" \
		"$(systemd_suite "$1")" "$dir/root" -
	rm -rf "$dir/root/dev"/* "$dir/root/var/lib/apt/lists" "$dir/root/etc/apt"/{sources.list,apt.conf}* "$dir"/root/etc/dpkg/dpkg.cfg.d/*
	configure_systemd "$dir/root"
	truncate -s 8G "$dir/root.ext4"
	mkfs.ext4 -q -L root -d "$dir/root" "$dir/root.ext4"
	rm -rf "$dir/root"
}

configure_systemd() # ROOT
{
	local root=$1
	echo guest >"$root/etc/hostname"
	printf '127.0.0.1 localhost\n127.0.1.1 guest\n' >"$root/etc/hosts"
	echo '/dev/vda / ext4 defaults 0 0' >"$root/etc/fstab"
	printf '%s\n' 'auto lo' 'iface lo inet loopback' >"$root/etc/network/interfaces"
	chroot "$root" systemctl disable NetworkManager NetworkManager-wait-online networking systemd-networkd apt-daily.timer apt-daily-upgrade.timer
	# Without one, the first boot would enable what is disabled here.
	chroot "$root" systemd-machine-id-setup
}
