# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UEFI firmware with Secure Boot, and Debian's kernel 6.12 for it. Debian's package of the firmware has
# a key for tests, which the firmware trusts. An item has
#   code.fd, vars.fd   the firmware and its variables
#   microsoft.fd       variables with Microsoft's keys, as PCs ship with them
#   EFI                the folder of a boot disk: Debian's shim, MokManager and GRUB, signed for such PCs
#   vmlinuz            the kernel, signed with that key
#   bin                trusted.key and trusted.der, the key and its certificate; other.key and other.der,
#                      which the firmware does not know; sign-file of the kernel's headers
secure_boot_item()
{
	local version
	version=$(apt_version system "$(debian_metapackage 6.12 image)")
	echo "$cache/secure-boot-$version-$(apt_version system ovmf)-$(recipe_hash "$repo/scripts/lib/secure-boot.sh")"
}

make_secure_boot() # DIR
{
	local dir=$1 image firmware=$1/unpacked/usr/share
	image=$(apt_resolve system "$(debian_metapackage 6.12 image)")
	mkdir -p "$dir/bin"
	apt_unpack system "$dir/unpacked" "$image" ovmf sbsigntool shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed
	cp "$firmware/OVMF/OVMF_CODE_4M.secboot.fd" "$dir/code.fd"
	cp "$firmware/OVMF/OVMF_VARS_4M.snakeoil.fd" "$dir/vars.fd"
	cp "$firmware/OVMF/OVMF_VARS_4M.ms.fd" "$dir/microsoft.fd"
	mkdir -p "$dir/EFI/BOOT" "$dir/EFI/debian"
	cp "$dir/unpacked/usr/lib/shim/shimx64.efi.signed" "$dir/EFI/BOOT/BOOTX64.EFI"
	cp "$dir/unpacked/usr/lib/shim/mmx64.efi.signed" "$dir/EFI/BOOT/mmx64.efi"
	cp "$dir/unpacked/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" "$dir/EFI/BOOT/grubx64.efi"
	openssl rsa -passin pass:snakeoil -in "$firmware/ovmf/PkKek-1-snakeoil.key" -out "$dir/bin/trusted.key"
	openssl x509 -in "$firmware/ovmf/PkKek-1-snakeoil.pem" -outform DER -out "$dir/bin/trusted.der"
	openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=a key that nobody knows" -keyout "$dir/bin/other.key" -outform DER -out "$dir/bin/other.der"
	"$dir/unpacked/usr/bin/sbsign" --key "$dir/bin/trusted.key" --cert "$firmware/ovmf/PkKek-1-snakeoil.pem" \
		--output "$dir/vmlinuz" "$dir/unpacked/boot/vmlinuz-${image#linux-image-}"
	cp "$("$repo/scripts/setup" --path kernel-6.12)"/headers/usr/lib/linux-kbuild-*/scripts/sign-file "$dir/bin/"
	rm -rf "$dir/unpacked"
}
