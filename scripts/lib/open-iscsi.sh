# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# This system's open-iscsi, unpacked but not installed. The guests' userland has its other libraries. An item has
#   bin   iscsid, iscsiadm, and the libraries that only they use
open_iscsi_item() { echo "$cache/open-iscsi-$(apt_version system open-iscsi)-$(recipe_hash "$repo/scripts/lib/open-iscsi.sh")"; }

make_open_iscsi() # DIR
{
	local dir=$1 libraries
	libraries=$(apt-cache depends open-iscsi | awk '$1 == "Depends:" && $2 ~ /^lib(isns|openiscsiusr)/ { print $2 }')
	# shellcheck disable=SC2086
	apt_unpack system "$dir/root" open-iscsi $libraries
	mkdir "$dir/bin"
	# A library's soname may be a link.
	find "$dir/root" ! -type d \( -path '*/sbin/iscsid' -o -path '*/sbin/iscsiadm' -o -name 'lib*.so.*' \) -exec cp -L -t "$dir/bin" {} +
	rm -r "$dir/root"
}
